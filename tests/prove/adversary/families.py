#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Families of wrong and right rules, asked about for all sizes and on shapes.

usage: families.py GLEN [--every N] [--shapes N]

No wrong rule (families_wrong.py, _beside.py, _reals.py, _hidden.py) may be
proved for all sizes, where nothing but the argument can go wrong.  No right one
(families_right.py and near misses of the wrong ones) may be refuted: of these
each N-th is asked about, on shapes, too.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

import families_beside
import families_hidden
import families_reals
import families_right
import families_wrong


def ask(glen, rules, shapes):
    """(family, name, verdict, reason) of each."""
    text = "".join(f'(rule {name} "{family}"\n  {left}\n  => {right}\n'
                   f"  {clauses})\n"
                   for family, name, left, right, clauses in rules)
    with tempfile.NamedTemporaryFile("w", suffix=".rules") as f:
        f.write(text)
        f.flush()
        done = subprocess.run([glen, "rules", "prove", "--json", "--quiet",
                               "--shapes", str(shapes), f.name],
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=3000)
    if not done.stdout:
        sys.exit(f"no answer: {done.stderr[:2000]}")
    answers = {a["rule"]: a for a in json.loads(done.stdout)["rules"]}
    return [(rule[0], rule[1], answers[rule[1]]["verdict"],
             answers[rule[1]]["reason"]) for rule in rules]


def judge(asked, bad, what):
    """Prints the verdicts of each family; how many are as they should be."""
    table = collections.defaultdict(collections.Counter)
    failed = 0
    for family, name, verdict, reason in asked:
        table[family][verdict] += 1
        failed += verdict == bad
        if verdict == bad:
            print(f"FAIL {what} {family} {name}: {verdict} {reason}")
    for family, verdicts in table.items():
        print(f"{what} {family}: " + ", ".join(
            f"{n} {verdict}" for verdict, n in sorted(verdicts.items())))
    return len(asked) - failed, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("glen")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--shapes", type=int, default=2)
    options = parser.parse_args()
    glen = os.path.abspath(options.glen)
    wrong = [*families_wrong.rules(), *families_beside.rules(),
             *families_reals.rules(), *families_hidden.rules()]
    right = [*families_right.rules(), *families_beside.right_rules(),
             *families_reals.right_rules(),
             *families_hidden.right_rules()][::options.every]
    passed, failed = judge(ask(glen, wrong, 0), "proved", "wrong")
    more, others = judge(ask(glen, right, options.shapes), "refuted", "right")
    print(f"{passed + more} passed, {failed + others} failed")
    return failed + others > 0


if __name__ == "__main__":
    sys.exit(main())
