#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How time grows with the size of an input: each case at doubled sizes, the
processor's seconds of the command, and the exponent between the last two.

usage: scale.py GLEN [--most N] [CASE...]
"""
import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile

OPS = ["add", "mul", "max", "min", "sub"]


def rules(n):
    return "".join(
        f'(rule r{k} "rule {k}" (compute {OPS[k % 5]} (pair ?a (compute (clip '
        f'0 {k + 1}) ?b))) => (compute {OPS[k % 5]} (pair (compute (clip 0 '
        f'{k + 1}) ?b) ?a)))\n' for k in range(n))


def tensors(n):
    return "".join(f"(tensor x{k} (shape 4) f32)\n"
                   for k in range(n)) + "(output x0)\n"


def lets(n):
    body = "".join(f"(let l{k + 1} (compute exp l{k}))\n" for k in range(n))
    return f"(tensor l0 (shape 4) f32)\n{body}(output l{n})\n"


def one_line(n):
    return lets(n).replace("\n", " ")


def outputs(n):
    body = "".join(f"(let l{k} (compute (clip 0 {k + 1}) x))(output l{k})\n"
                   for k in range(n))
    return f"(tensor x (shape 4) f32)\n{body}"


def concats(n):
    body = "".join(f"(let t{k + 1} (concat t{k} t{k} 0))\n" for k in range(n))
    return f"(tensor t0 (shape 2) f32)\n{body}(output t{n})\n"


SMALL = "(tensor x (shape 4) f32)(output x)\n"

# case: what makes the text, its suffix, the command, the first size
CASES = {
    "rules-check": (rules, ".rules", ["rules", "check", "IN"], 2500),
    "rules-saturate": (rules, ".rules",
                       ["saturate", "SMALL", "--rules", "IN"], 2500),
    "rules-fmt": (rules, ".rules", ["rules", "fmt", "--check", "IN"], 2500),
    "tensors": (tensors, ".glen", ["compile", "IN", "--emit", "glen"], 5000),
    "lets": (lets, ".glen", ["compile", "IN", "--emit", "glen"], 5000),
    "one-line": (one_line, ".glen", ["compile", "IN", "--emit", "glen"], 5000),
    "outputs": (outputs, ".glen", ["compile", "IN", "--emit", "glen"], 5000),
    "lets-to-c": (lets, ".glen", ["compile", "IN"], 50),
    "outputs-to-c": (outputs, ".glen", ["compile", "IN"], 50),
    "concats": (concats, ".glen", ["compile", "IN"], 5),
}


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = subprocess.run(command, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime -
            before.ru_stime), code


def run(glen, name, folder, most):
    make, suffix, command, n = CASES[name]
    path = os.path.join(folder, "in" + suffix)
    small = os.path.join(folder, "small.glen")
    with open(small, "w", encoding="utf-8") as f:
        f.write(SMALL)
    last = None
    while True:
        with open(path, "w", encoding="utf-8") as f:
            f.write(make(n))
        words = [{"IN": path, "SMALL": small}.get(w, w) for w in command]
        s, code = seconds([glen] + words)
        grown = math.log2(s / last) if last else float("nan")
        print(f"{name:16} {n:8} {s:8.2f} s  exponent {grown:5.2f}  "
              f"exit {code}", flush=True)
        if s > most or n > 1 << 20:
            return
        last, n = s, 2 * n


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("glen")
    parser.add_argument("--most", type=float, default=2,
                        help="seconds after which a case ends")
    parser.add_argument("cases", nargs="*")
    a = parser.parse_args()
    unknown = [c for c in a.cases if c not in CASES]
    if unknown:
        sys.exit(f"no such case: {', '.join(unknown)}; there are "
                 f"{', '.join(CASES)}")
    with tempfile.TemporaryDirectory() as folder:
        for name in a.cases or CASES:
            run(os.path.abspath(a.glen), name, folder, a.most)


if __name__ == "__main__":
    main()
