#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do commands say and write the same, byte for byte, as was recorded?

usage: run.py GLEN [GROUP]... [--bless] [--only WORD] [--keep DIR] [--first]

Documents and other tests look at what matters of an output; this looks at all
of many outputs: reports, chains, maps, loops after each schedule, layouts,
traces, findings, formatted files, verdicts, proofs and what glen-check-proof,
which is beside GLEN, says of them as they are and altered.  The hash of each is held against
recorded.json beside this file, which --bless writes anew.  A change that means
to change an output shows which ones it changes: --keep leaves the texts in a
folder, so that those of two builds can be compared by diff.  --first stops at
the first one.

What glen-check-proof says is held against its exit code, too: it accepts each
proof that is as glen wrote it, and of those that are altered it ends with 0, 1
or 4 as it accepts, cannot read or rejects them.

The commands are the products of small tables, in groups (cases.py); no GROUP
means all.  The last line is `N passed, N failed`.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RECORDED = os.path.join(HERE, "recorded.json")
sys.path.insert(0, HERE)
from cases import DAMAGED, FILES, GROUPS, altered, cases, damaged

# What differs from build to build, or from run to run: a line of the manual, and
# values by the names of their fields, as a report may have all of its data in
# one line.  Of bytes, only those that an e-graph takes.
VAGUE_LINE = re.compile(r'^.*"glen manual".*\n', re.M)
VAGUE = re.compile(r'(^  "bytes": |"(?:version|glen|\w*seconds|\w*_s)": ?)'
                   r'(?:"[^"]*"|[-+.\w]+)', re.M)
SECONDS = re.compile(r"\(\d+\.\d\d s\)$", re.M)

# Of rules and targets that come with glen: where they lie.
FOLDER = re.compile(r'(?<![\w.])/[^\s":]*/(?=(?:rules|targets)/)')


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("glen")
    parser.add_argument("groups", nargs="*", metavar="GROUP")
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--keep", metavar="DIR")
    return parser.parse_args()


def folder_for(place):
    """A folder in which the commands find what they name."""
    for name in ("examples", "rules", "targets", "tests", "docs"):
        os.symlink(os.path.join(ROOT, name), os.path.join(place, name))
    for name, text in {**FILES, **DAMAGED}.items():
        with open(os.path.join(place, name), "w", encoding="utf-8") as f:
            f.write(text)


def written(folder, stem):
    """The files that a command wrote, one after another."""
    texts = []
    for name in sorted(os.listdir(folder)):
        if name.startswith(stem + "."):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as f:
                texts.append(f"-- {name.removeprefix(stem)}\n{f.read()}")
            os.remove(path)
    return "".join(texts)


def said(glen, words, folder, number, bound=None, timeout=60):
    """All that a command says and writes.  OUT among its words is a file, and
    OWN.NAME a copy of NAME that it has for itself; `<` and a path stand last
    where it reads that; bound is called in its process."""
    stem = f"out{number:04}"
    if words[:1] == ["CHECKED"]:
        return of_proof(glen, words, folder, stem, bound, timeout)
    if words[:1] == ["BOTH"]:
        return of_both(glen, words, folder, number, bound, timeout)
    for name in {w.partition("OWN.")[2] for w in words if "OWN." in w}:
        shutil.copy(os.path.join(folder, name),
                    os.path.join(folder, f"{stem}.{name}"))
    words = [w.replace("OUT", stem).replace("OWN", stem) for w in words]
    given = ""
    if "<" in words:
        words, path = words[:-2], os.path.join(folder, words[-1])
        with open(path, encoding="utf-8") as f:
            given = f.read()
    text = call([glen, *words], folder, given, bound, timeout)
    # To list the folder takes longer than most commands, which name no file of
    # their own.
    if any(stem in word for word in words):
        text += written(folder, stem)
    text = text.replace(stem, "OUT").replace(stem.upper(), "OUT")
    text = text.replace(ROOT + os.sep, "").replace(ROOT, "")
    return known(text)


def known(text):
    """A text without what differs from build to build."""
    return FOLDER.sub("", SECONDS.sub("(*)", VAGUE.sub(
        r"\1*", VAGUE_LINE.sub("", text))))


def call(command, folder, given, bound, timeout):
    done = subprocess.run(command, cwd=folder, capture_output=True,
                          input=given, text=True, timeout=timeout,
                          preexec_fn=bound,
                          env=dict(os.environ, LC_ALL="C", COLUMNS="80",
                                   GLEN_NO_NATIVE="1"))
    return f"{done.stdout}{done.stderr}exit {done.returncode}\n"


def of_proof(glen, words, folder, stem, bound, timeout):
    """A proof by glen, and what the checker says of it: of number 0 as it is, of
    others with one of its words damaged."""
    number, path, options = int(words[1]), words[2], words[3:]
    proof = os.path.join(folder, stem + ".proof")
    text = call([glen, "saturate", path, *options, "--emit", "proof", "-o",
                 stem + ".proof"], folder, "", bound, timeout)
    own = written_by_glen = None
    if os.path.exists(proof):
        with open(proof, encoding="utf-8") as f:
            own = written_by_glen = f.read()
        program, _, lemmas = own.rpartition("\n(proof")
        if number % 8:
            own = f"{program}\n(proof{altered(lemmas, number)}"
        elif number:
            own = f"{damaged(program, number)}\n(proof{lemmas}"
        with open(proof, "w", encoding="utf-8") as f:
            f.write(own)
        text += own
    checker = os.path.join(os.path.dirname(os.path.dirname(glen)), "check",
                           "glen-check-proof")
    verdict = call([checker, path, stem + ".proof", *options], folder, "", bound, timeout)
    check_verdict(" ".join(words), verdict, whole=own == written_by_glen)
    return known((text + verdict).replace(stem, "OUT"))


# What an exit code goes with, at the beginning of a line.
SAYS = {0: "accepted: ", 1: r".*\berror: ", 4: "rejected: "}
WRONG_CODES = []


def check_verdict(name, verdict, whole):
    """Does the checker's exit code fit what it says, and the proof?"""
    code = int(verdict.rsplit("exit ", 1)[1])
    says = [k for k, beginning in SAYS.items()
            if re.search("^" + beginning, verdict, re.M)]
    if says != [code]:
        WRONG_CODES.append(f"exit code {code} beside what is said: {name}")
    elif whole and code:
        WRONG_CODES.append(f"a proof as glen wrote it has {code}: {name}")


def of_both(glen, words, folder, number, bound, timeout):
    """What is said without the last word, and with it where that differs."""
    without, given = (said(glen, w, folder, number, bound, timeout)
                      for w in (words[1:-1], words[1:]))
    return without + ("" if given == without else f"-- {words[-1]}\n{given}")


def file_of(name):
    return re.sub(r"[^\w.=-]+", "_", name)[:150] or "glen"


def read_recorded():
    if not os.path.exists(RECORDED):
        return {}
    with open(RECORDED, encoding="utf-8") as f:
        return json.load(f)


def keep(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, file_of(name)), "w",
              encoding="utf-8") as f:
        f.write(text)


def digests(glen, listed, recorded, folder, args):
    """The hash of what each command says and writes, by the command."""
    found = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = pool.map(
            lambda k: said(glen, listed[k], folder, k), range(len(listed)))
        for words, text in zip(listed, texts):
            name = " ".join(words)
            found[name] = hashlib.sha256(text.encode()).hexdigest()[:12]
            if args.keep:
                keep(args.keep, name, text)
            if args.first and recorded.get(name) != found[name]:
                pool.shutdown(cancel_futures=True)
                break
    return found


def main():
    args = options()
    glen = os.path.abspath(args.glen)
    if set(args.groups) - set(GROUPS):
        sys.exit(f"the groups are {', '.join(GROUPS)}")
    listed = [words for words in cases(args.groups)
              if args.only in " ".join(words)]
    recorded = read_recorded()
    with tempfile.TemporaryDirectory() as folder:
        folder_for(folder)
        found = digests(glen, listed, recorded, folder, args)
    if args.bless:
        recorded = {**(recorded if args.only or args.groups else {}), **found}
        with open(RECORDED, "w", encoding="utf-8") as f:
            json.dump(recorded, f, indent=0, sort_keys=True)
            f.write("\n")
    wrong = [n for n, digest in found.items() if recorded.get(n) != digest]
    part = args.only or args.groups or args.first
    lost = [] if part else sorted(set(recorded) - set(found))
    for name in wrong:
        print(f"not as recorded: glen {name}")
    for name in lost:
        print(f"recorded, but not asked any more: glen {name}")
    for what in WRONG_CODES:
        print(what)
    failed = len(wrong) + len(lost) + len(WRONG_CODES)
    print(f"{len(found) - len(wrong)} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
