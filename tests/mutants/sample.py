#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws small faults from the sources, for tests/mutants/*.patch.

usage: sample.py FOLDER COUNT [SEED]     prints a patch list of src/FOLDER

A place is a line of a .c file and an operator that applies to it, drawn at
random; a file gives at most a few.  Each fault is what a slip of the hand would
make: a comparison off by its edge or turned round, `and` for `or`, one too many
or too few, a statement or an early return that is missing.  Whether a fault
compiles is found out by run.py.
"""
import difflib
import glob
import os
import random
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
SWAPS = {" < ": [" <= ", " > "], " <= ": [" < "], " > ": [" >= ", " < "],
         " >= ": [" > "], " == ": [" != "], " != ": [" == "],
         " && ": [" || "], " || ": [" && "], " + 1": ["", " + 2"],
         " - 1": ["", " - 2"], " + ": [" - "], " - ": [" + "], " % ": [" / "],
         "true": ["false"], "false": ["true"], " += ": [" -= "],
         "= 0;": ["= 1;"], "= 1;": ["= 0;"], "break;": ["continue;"]}
STATEMENT = re.compile(r"\s+(?:[\w>.\[\]-]+\(.*\);|[\w>.\[\]()*-]+ [+|&-]?= "
                       r"[^{]*;|if \(.*\) return\b.*;|if \(.*\) continue;)$")
DECLARES = re.compile(r"\s+(?:const |static )?(?:struct )?[a-z]\w* \*?\w+ = ")
MOST_OF_FILE = 4


def code_lines(text):
    """Numbers of the lines that are code within a function: no comments, no
    directives, no strings alone, no tables."""
    inside = comment = False
    for number, line in enumerate(text.split("\n")):
        if "/*" in line:
            comment = True
        if not comment and inside and not line.startswith("#") and \
                not re.match(r'\s*"', line) and "assert(" not in line:
            yield number
        if "*/" in line:
            comment = False
        if line.startswith("{") or re.match(r"[a-z].*\) \{$", line):
            inside = True
        elif line.startswith("}"):
            inside = False


def faults_of(line, before):
    """The lines that may stand in place of one, each with its operator; before
    is the line above it, which tells whether a statement begins here."""
    bare = re.sub(r'"(?:\\.|[^"\\])*"', lambda m: "~" * len(m[0]), line)
    for old, news in SWAPS.items():
        for found in re.finditer(re.escape(old), bare):
            for new in news:
                yield line[:found.start()] + new + line[found.end():]
    if STATEMENT.match(bare) and not DECLARES.match(bare) and \
            re.search(r"(?:[;{}):]|else|\*/|^)$", before):
        yield re.match(r"\s*", line)[0] + ";"


def patch_of(path, lines, number, changed):
    """A unified diff with two lines of context; changed is the new line."""
    after = list(lines)
    after[number] = changed
    return "".join(difflib.unified_diff(
        [x + "\n" for x in lines], [x + "\n" for x in after],
        "a/" + path, "b/" + path, n=2))


def draw(folder, count, seed):
    dice = random.Random(f"{folder} {seed}")
    files = sorted(glob.glob(os.path.join(ROOT, "src", folder, "**", "*.c"),
                             recursive=True))
    texts = {f: open(f, encoding="utf-8").read() for f in files}
    places = [(f, n) for f, text in texts.items() for n in code_lines(text)]
    taken = {}
    while count and places:
        path, number = places.pop(dice.randrange(len(places)))
        lines = texts[path].split("\n")
        choices = list(faults_of(lines[number], lines[number - 1]))
        if not choices or taken.get(path, 0) == MOST_OF_FILE:
            continue
        taken[path] = taken.get(path, 0) + 1
        count -= 1
        yield patch_of(os.path.relpath(path, ROOT), lines, number,
                       dice.choice(choices))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, count = sys.argv[1], int(sys.argv[2])
    seed = sys.argv[3] if len(sys.argv) > 3 else "1"
    for k, patch in enumerate(draw(folder, count, seed)):
        print(f"# {folder}-{seed}-{k + 1:03}\n{patch}", end="")


if __name__ == "__main__":
    main()
