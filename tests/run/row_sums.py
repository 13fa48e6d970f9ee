#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random sums along rows, and what is done with them, held against the interpreter.

usage: row_sums.py GLEN [COUNT [SEED]]

There are as many rows, of as many elements, as threads are worth, so that several
rows are added up at a time; and any number of them is left over.  Of a third of them
rows and elements are sizes that are known at run time.  The last line is `N passed, N
failed`.
"""
import os
import random
import sys
import tempfile

import contractions

SUMS = ["(compute dotProd (cartProd (access a {0}) (access x 0)))",
        "(compute reduceSum (access a {0}))",
        "(compute reduceMax (access a {0}))",
        "(compute reduceMean (compute square (access a {0})))"]
ENDS = ["(let y s)", "(let y (relu s))",
        "(let y (relu (compute add (pair s b))))",
        "(let t (compute (offset 1) s))\n"
        "(let y (compute mul (pair (compute square t) (compute (scale 3) t))))",
        "(let t (compute tanh s))\n(let y (compute mul (pair t t)))",
        "(let y (compute div (pair b (compute (offset 2) "
        "(compute square s)))))"]


def case(r):
    """A program of random sizes, and what the command line says of these."""
    rows = r.choice([8, 9, 64, 129, 130, 131, 256, 323])
    shape = [*r.choice([[], [], [2], [3]]), rows]
    length = r.choice([33, 100, 300, 512, 1025])
    dtype = r.choice(["f32", "f32", "f64"])
    sizes, options = "", []
    if r.random() < 0.33:
        rows, length = r.choice([1, 9, 64, 130]), r.randint(1, 1200)
        sizes = "(size n 1 200)\n(size m 1 1200)\n"
        options = ["--size", f"n={rows}", "--size", f"m={length}",
                   "--keys", "0"]
        shape[-1], length = "n", "m"
    dims = " ".join(map(str, shape))
    both = "(output s)\n" if r.random() < 0.3 else ""
    return (f"{sizes}(tensor a (shape {dims} {length}) {dtype})\n"
            f"(tensor x (shape {length}) {dtype})\n"
            f"(tensor b (shape {dims}) {dtype})\n"
            f"(let s {r.choice(SUMS).format(len(shape))})\n"
            f"{r.choice(ENDS)}\n(output y)\n{both}"), options


def main():
    glen = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for k in range(seed, seed + count):
            r = random.Random(k)
            text, options = case(r)
            done = contractions.check(
                glen, folder, text, r.choice(["cpu", "native"]),
                r.random() < 0.2, r.random() < 0.25,
                ["--fuse", r.choice(["none", "none", "post-tile"]), *options])
            passed += done.returncode == 0
            failed += done.returncode != 0
            if done.returncode:
                print(f"seed {k} {options}:\n{text}{done.stderr[-2000:]}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
