# SPDX-License-Identifier: MIT
"""What each step of check.py must count, and what it may leave out.

tests/manifest.json holds, for each step, the least number of checks that it
passes, and the names of the skips that are allowed, each with its reason.  A
step that passes fewer, or that skips what is not named there, has failed: a
check that is silently not run looks like one that passes.

A test says what it leaves out in a line of its own, `skipped NAME: REASON`.
"""
import json
import os
import re

PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                    "tests", "manifest.json")
SKIP = re.compile(r"^\s*skipped (\S+): (.+)$", re.M)


def load():
    with open(PATH, encoding="utf-8") as f:
        return json.load(f)


def skips(text):
    """The (name, reason) of every skip that a test's output tells."""
    return list(dict.fromkeys(SKIP.findall(text)))


def complaints(step, passed, skipped, allowed=()):
    """What is wrong with a step that passed `passed` checks, as lines.

    `skipped` holds the step's skips, `allowed` names that are allowed for this
    run alone."""
    manifest = load()
    may = manifest["skips"]
    found = [f"{step} skipped {name}: {reason}; the manifest does not allow it"
             for name, reason in skipped
             if name not in may and name not in allowed]
    if step not in manifest["steps"]:
        return found + [f"{step} is not in the manifest: see --record"]
    least = manifest["steps"][step]
    # How many a skip that is for one run alone takes away is not known.
    if not any(name in allowed for name, _ in skipped):
        least -= sum(may.get(name, {}).get("checks", 0) for name, _ in skipped)
        if passed < least:
            found.append(f"{step} passed {passed} checks; the manifest expects "
                         f"{least}")
    return found


def record(counts):
    """Writes the counts of the steps that passed into the manifest."""
    manifest = load()
    manifest["steps"].update(counts)
    with open(PATH, "w", encoding="utf-8") as f:
        json.dump(manifest, f, indent=2)
        f.write("\n")
