#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rewrites of programs that are right of numbers, and wrong of what is none.

usage: undefined.py GLEN [--every N] [--only WORD]

A rule that holds of finite values is applied to a term that is an infinity or
NaN for some input, below an operator that makes a number of it again.  The
programs are too large to run, or their sizes are open, so that only an argument
can prove them.  Neither `glen check` nor `saturate --verify` may say proved of
one that is wrong.

The judge is the interpreter, on the same program of four elements: a pair that
does not differ there, with a number on one side, is left out, and there must be
many that do.
"""
import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile

LARGE = "8192 8192"
OPEN = "n m"
SMALL = "2 2"
# ?u is no number for some x; ?b and ?c are inputs.
SOURCES = {
    "log": "(compute log x)",
    "minus-log": "(compute neg (compute log x))",
    "recip": "(compute recip x)",
    "log-of-square": "(compute log (compute square x))",
    "rsqrt": "(compute rsqrt x)",
    "share": "(compute div (pair b x))",
    "exp-of-recip": "(compute exp (compute neg (compute recip (compute square x))))",
    "of-padding": "(slice (pad x min 0 1 1) 0 0 {n})",
    "of-a-table": "(slice (concat (compute log x) x 0) 0 0 {n})",
    "of-extrema": "(compute max (pair (compute log x) (compute log b)))",
}
HIDES = {
    "relu": "(compute relu {0})",
    "clip": "(compute (clip -1 1) {0})",
    "tanh": "(compute tanh {0})",
    "recip": "(compute recip {0})",
    "exp": "(compute exp {0})",
    "least": "(compute min (pair {0} b))",
    "sigmoid": "(compute sigmoid (compute neg {0}))",
    "cast": "(compute (cast f32) (compute (cast i8) {0}))",
}


def two(op, a, b):
    return f"(compute {op} (pair {a} {b}))"


# (left, right): right of all numbers.
REWRITES = {
    "minus-itself": (two("add", "?b", two("sub", "?u", "?u")), "?b"),
    "hidden-minus": (two("add", "?u", two("sub", "?u", "?u")), "?u"),
    "times-0": (two("add", "?b", "(compute (scale 0) ?u)"), "?b"),
    "plus-and-minus": (two("sub", two("add", "?b", "?u"), "?u"), "?b"),
    "twice-less-once": (two("sub", "(compute (scale 2) ?u)", "?u"), "?u"),
    "half-of-three": (two("sub", "(compute (scale 3) ?u)",
                          "(compute (scale 2) ?u)"), "?u"),
    "distributed": (two("add", two("mul", "?u", "?b"), two("mul", "?u", "?c")),
                    two("mul", "?u", two("add", "?b", "?c"))),
    "scaled-sum": (two("sub", "(compute (scale 2) (compute relu ?u))",
                       "(compute relu ?u)"), "(compute relu ?u)"),
    "absorbed": (two("max", "?b", two("min", "?b", "?u")), "?b"),
    "absorbed-below": (two("min", "?b", two("max", "?b", "?u")), "?b"),
    "through-exp": (two("mul", "?b", two(
        "mul", "(compute exp ?u)", "(compute exp (compute neg ?u))")), "?b"),
    "power-of-exp": (two("mul", "(compute exp (compute (scale 2) ?u))",
                         "(compute exp (compute neg ?u))"),
                     "(compute exp ?u)"),
    "below-a-fraction": (two("add", "(compute exp (compute neg ?u))", two(
        "sub", "(compute exp ?u)", "(compute exp ?u)")),
        "(compute exp (compute neg ?u))"),
    "powers-below": (two("mul", "(compute exp (compute neg ?u))", two(
        "mul", "(compute exp ?u)", "(compute exp (compute neg ?u))")),
        "(compute exp (compute neg ?u))"),
    "least-plus": ("(slice " + two("add", "(pad ?b min 0 1 0)",
                                   "(pad ?u edge 0 1 0)") + " 0 0 {n})",
                   "(slice (pad " + two("add", "?b", "?u")
                   + " min 0 1 0) 0 0 {n})"),
    "root-of-recip": ("(compute sqrt (compute recip ?u))",
                      "(compute rsqrt ?u)"),
    "recip-twice-of-exp": (two("mul", "(compute exp ?u)", two(
        "mul", "(compute exp ?u)", "(compute recip (compute exp ?u))")),
        "(compute exp ?u)"),
    "square-of-sum": (two("sub", two("sub", "(compute square " + two(
        "add", "?u", "?b") + ")", "(compute square ?u)"),
        "(compute (scale 2) " + two("mul", "?u", "?b") + ")"),
        "(compute square ?b)"),
    "difference-of-squares": (two("mul", two("sub", "?u", "?b"),
                                  two("add", "?u", "?b")),
                              two("sub", "(compute square ?u)",
                                  "(compute square ?b)")),
    "sum-less-itself": (two("add", "?b", two(
        "sub", "(compute (offset 1) ?u)", "?u")), "(compute (offset 1) ?b)"),
    "softmax-apart": ("(access (compute softmax (access ?u 1)) 2)",
                      "(compute div (pair (access (compute exp ?u) 2) (access"
                      " (transpose (repeat (insertAxis (compute reduceSum"
                      " (access (compute exp ?u) 1)) 0) 0 {m}) (list 1 0))"
                      " 2)))"),
}
INPUTS = {"x": [0, 1, -0.0, -1], "b": [2, 2, 2, 0.5], "c": [-1, 1, 0, -2]}
tally = {}
failed = 0


def glen(*args):
    return subprocess.run([GLEN, *args], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=900)


def filled(term, source, sizes):
    n, m = sizes.split()
    for name in "bc":
        term = term.replace("?" + name, name)
    return term.replace("?u", source).replace("{n}", n).replace("{m}", m)


def program(terms, sizes, given):
    form = "const" if given else "tensor"
    text = "".join(f"(size {name} 1000 8192)\n" for name in sizes.split()
                   if name.isalpha())
    text += "".join(f"({form} {name} (shape {sizes}) f32"
                   + (" " + " ".join(str(v) for v in values) if given else "")
                   + ")\n" for name, values in INPUTS.items())
    for k, term in enumerate(terms):
        text += f"(let y{k} (access {term} 2))(output y{k})\n"
    return text + "(let o (access c 2))(output o)(let p (access b 2))(output p)"


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def differ(folder, pairs):
    """Which pairs have a number on one side alone, by the interpreter."""
    terms = [t for p in pairs for t in p]
    done = glen("run", "--interpret", write(
        os.path.join(folder, "small.glen"), program(terms, SMALL, True)))
    if done.returncode:
        sys.exit(f"the judge: {done.stderr[:1000]}")
    rows = [[float(v) for v in line.split()[3:]]
            for line in done.stdout.splitlines() if line.startswith("y")]
    told = []
    for left, right in zip(rows[::2], rows[1::2]):
        told.append(any(math.isfinite(a) != math.isfinite(b)
                        for a, b in zip(left, right)))
    return told


def note(what, verdict, wrong):
    global failed
    key = f"{what.split()[0]} {'wrong' if wrong else 'not shown to be wrong'}"
    tally.setdefault(key, []).append(verdict)
    if wrong and verdict == "proved":
        failed += 1
        print(f"FAIL {what}: proved")


def ask_check(folder, name, sizes, sides, wrong):
    paths = [write(os.path.join(folder, f"{side}.glen"),
                   program([term], sizes, False))
             for side, term in zip("lr", sides)]
    # what is not proved does not fit, so that it is not run
    done = glen("check", "--json", "--memory-limit", "200M", *paths)
    if "memory-limit" in done.stderr:
        verdict = "unknown"
    else:
        verdict = json.loads(done.stdout)["answer"]
    note(("open " if sizes == OPEN else "check ") + name, verdict, wrong)


def ask_verify(folder, name, term, rewrite, wrong):
    rule = write(os.path.join(folder, "r.rules"), (
        f'(rule attack "Right of numbers."\n  {rewrite[0]}\n  =>'
        f' {rewrite[1]})\n').replace("{n}", LARGE.split()[0]).replace(
            "{m}", LARGE.split()[1]))
    source = write(os.path.join(folder, "v.glen"), program([term], LARGE, False))
    done = glen("saturate", source, "--rules", rule, "--verify", "--json")
    try:
        report = json.loads(done.stdout)
        verdict = report["verify"]["verdict"]
    except (ValueError, KeyError):
        sys.exit(f"verify {name}: {done.stdout[:300]} {done.stderr[:300]}")
    used = "the same term" not in report["verify"]["reason"]
    note(f"verify {name}", verdict if used else "not used", wrong)
    if used and (done.returncode == 0) != (verdict == "proved"):
        sys.exit(f"{name}: {verdict}, exit {done.returncode}")


def main():
    cases = [(f"{r} of {s} below {h}", REWRITES[r], SOURCES[s], HIDES[h])
             for r, s, h in itertools.product(REWRITES, SOURCES, HIDES)]
    cases = [c for c in cases if OPTIONS.only in c[0]]
    pairs = [tuple(hide.format(filled(side, source, SMALL)) for side in rewrite)
             for _, rewrite, source, hide in cases]
    with tempfile.TemporaryDirectory() as folder:
        told = differ(folder, pairs)
        wrong = [c for c, t in zip(cases, told) if t][::OPTIONS.every]
        right = [c for c, t in zip(cases, told) if not t][::4 * OPTIONS.every]
        for is_wrong, some in ((True, wrong), (False, right)):
            for name, rewrite, source, hide in some:
                for sizes in (OPEN, LARGE):
                    sides = [hide.format(filled(side, source, sizes))
                             for side in rewrite]
                    ask_check(folder, name, sizes, sides, is_wrong)
                ask_verify(folder, name, sides[0], rewrite, is_wrong)
    for what, verdicts in sorted(tally.items()):
        print(f"{what}: " + ", ".join(f"{verdicts.count(v)} {v}" for v in
                                      sorted(set(verdicts))))
    print(f"{sum(map(len, tally.values())) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("glen")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    OPTIONS = parser.parse_args()
    GLEN = os.path.abspath(OPTIONS.glen)
    sys.exit(main())
