#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sums over rows of which data tells the length, against the interpreter.

usage: ends.py GLEN [COUNT [SEED]]

Random loop programs whose updates count as nothing beyond an end that an array
tells (docs/LOOPS.md): sums, products and extrema, one or several in a loop, with
loops in them, of three dtypes, as they are and under schedules that split,
exchange and distribute their loops.  Ends are usual ones, negative, beyond the
row, fractions, infinite, no number, and such whose differences wrap.  Results
are those of the interpreter, bit by bit but for the sign of zero.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

import cuda

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
FUSED = ("none", "smart", "max", "post-tile")
UPDATES = {"+=": "0", "*=": "1", "max=": "lowest", "min=": "highest"}
ODD = {"f32": [float("nan"), float("inf"), float("-inf"), -3e38, 1e-30, 2.5,
               0.99999994, 7.0000005],
       "f64": [float("nan"), float("inf"), float("-inf"), -1e300, 1e-300, 2.5,
               0.9999999999999999, 7.000000000000001],
       "i32": [-2**31, -2**31 + 3, -2**31 + 40, 2**31 - 1, -1]}


class Case:
    def __init__(self, r):
        self.r, self.dtype = r, r.choice(("f32", "f64", "i32"))
        self.rows, self.longest = r.randint(1, 9), r.randint(2, 40)
        self.first = r.choice((0, 0, 0, 1, 5, -2))
        self.inner = r.choice((0, 0, 3))
        self.update = r.choice(("+=", "+=", "+=", *UPDATES))
        self.several = not self.inner and r.random() < 0.3

    def statement(self, name, array, factor):
        at = "i, j" if self.inner else "i"
        x = f"X[i, k{', j' if self.inner else ''}]"
        return (f"{name}: {array}[{at}] {self.update} select(E[i] - T[k], "
                f"{x} * {factor}, {UPDATES[self.update]})")

    def text(self):
        d, n, m = self.dtype, self.rows, self.longest
        tail = f", {self.inner}" if self.inner else ""
        arrays = ["Y", "Z"] if self.several else ["Y"]
        counts = ", ".join(str(self.first + k) for k in range(m))
        lines = [f"input E: {d}[{n}]", f"input X: {d}[{n}, {m}{tail}]"]
        lines += [f"output {a}: {d}[{n}{tail}]" for a in arrays]
        lines += [f"constant T: {d}[{m}] = {{{counts}}}", f"for i in 0..{n} {{"]
        at = "i, j" if self.inner else "i"
        for a in arrays:
            start = f"I{a}: {a}[{at}] = {UPDATES[self.update]}"
            start = start.replace("[i, j]", "[i, l]")
            lines.append(f"for l in 0..{self.inner} {{ {start} }}" if self.inner
                         else start)
        body = "\n".join(self.statement(f"U{a}", a, f"{k + 2}")
                         for k, a in enumerate(arrays))
        if self.inner:
            body = f"for j in 0..{self.inner} {{ {body} }}"
        return "\n".join(lines) + f"\nfor k in 0..{m} {{\n{body}\n}}\n}}\n"

    def scripts(self):
        yield ""
        size = self.r.randint(2, min(7, self.longest))
        yield f"k0, k1 = split UY.k [-1, {size}]"
        yield "parallel UY.i"
        if not self.several and not self.inner:
            yield f"decompose_reduction Y i; k0, k1 = split UY.k [-1, {size}]; " \
                  "reorder UY [k0, i, k1]"

    def ends(self):
        for _ in range(self.rows):
            kind = self.r.random()
            if kind < 0.4:
                yield self.r.choice(ODD[self.dtype])
            elif kind < 0.5:
                yield self.longest + self.first + self.r.randint(-1, 3)
            else:
                yield self.r.randint(-1, self.longest + 2)


def same(a, b):
    return a == b or (a != a and b != b)


def check(glen, r, number):
    case = Case(r)
    letter = cuda.FORMAT[case.dtype][0]
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        with open(path("p.loops"), "w") as f:
            f.write(case.text())
        shapes = {"E": [case.rows],
                  "X": [case.rows, case.longest] + [case.inner] * bool(case.inner)}
        inputs = []
        for name, shape in shapes.items():
            n = cuda.count(shape)
            values = list(case.ends()) if name == "E" else [
                r.randint(1, 2) if case.update == "*=" else r.randint(-9, 9)
                for _ in range(n)]
            cuda.write_npy(path(name + ".npy"), {"dtype": case.dtype,
                           "shape": shape}, struct.pack(f"<{n}{letter}", *values))
            inputs += ["--input", f"{name}={path(name)}.npy"]
        def result(*options):
            out = path("out.npy")
            cuda.run(glen, "run", path("p.loops"), *inputs, "--output", out,
                     *options)
            names = ["out.Y.npy", "out.Z.npy"] if case.several else ["out.npy"]
            raw = b"".join(cuda.read_npy(path(n)) for n in names)
            return struct.unpack(f"<{len(raw) // struct.calcsize(letter)}"
                                 f"{letter}", raw)
        want = result("--interpret")
        for script in case.scripts():
            with open(path("s.sched"), "w") as f:
                f.write(script + "\n")
            got = result("--schedule", path("s.sched"))
            if not all(map(same, got, want)):
                sys.exit(f"{number}: {script}\n{case.text()}\n{got}\n{want}")
            c = cuda.run(glen, "schedule", path("p.loops"), "--sched",
                         path("s.sched"), "-o", path("p.c")) or ""
            with open(path("p.c")) as f:
                c = f.read()
            if "glen_reach(" not in c:
                sys.exit(f"{number}: {script}: no loop ends by data\n"
                         f"{case.text()}\n{c}")


# Statements of a loop that must not end: the mask is none, its end is not the
# same all the time, or others do something beyond it.
WHOLE = {
    "one is added": ("Y[i] += select(E[i] - T[k], X[i, k], 1)", ""),
    "another update": ("Y[i] max= select(E[i] - T[k], X[i, k], 0)", ""),
    "steps of two": ("Y[i] += select(E[i] - W[k], X[i, k], 0)", ""),
    "turned over": ("Y[i] += select(T[k] - E[i], X[i, k], 0)", ""),
    "an end for each": ("Y[i] += select(X[i, k] - T[k], X[i, k], 0)", ""),
    "the end moves": ("Y[i] += select(Z[i] - T[k], X[i, k], 0)",
                      "Z[i] = Z[i] - 1"),
    "what the mask adds moves it": (
        "Y[i] += select(Z[i] - T[k], X[i, k], 0)",
        "Z[i] += select(Z[i] - T[k], T[k], 0)"),
    "its own sum is the end": ("Y[i] += select(Y[i] - T[k] + 2, T[k], 0)", ""),
    "more is done": ("Y[i] += select(E[i] - T[k], X[i, k], 0)",
                     "Z[i] += X[i, k]"),
    "two ends": ("Y[i] += select(E[i] - T[k], X[i, k], 0)",
                 "Z[i] += select(X[i, 0] - T[k], X[i, k], 0)"),
    "strict": ("Y[i] += select(E[i] - T[k], X[i, k], 0)", ""),
}


def check_whole(glen, name):
    first, second = WHOLE[name]
    head = "strict\n" if name == "strict" else ""
    text = head + """input E: f32[5]
input X: f32[5, 9]
output Y: f32[5]
output Z: f32[5]
constant T: f32[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8}
constant W: f32[9] = {0, 2, 4, 6, 8, 10, 12, 14, 16}
for i in 0..5 { A: Y[i] = 0
B: Z[i] = E[i]
for k in 0..9 { S: %s
%s } }
""" % (first, "V: " + second if second else "")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.loops")
        with open(path, "w") as f:
            f.write(text)
        cuda.run(glen, "run", path, "--check")
        cuda.run(glen, "compile", path, "--emit", "c", "-o", path + ".c")
        with open(path + ".c") as f:
            ended = "glen_reach(" in f.read()
        if ended:
            sys.exit(f"{name}: it ends by data")


def check_example(glen, fuse):
    """A sparse product: fused, its rows end where the data says."""
    path = os.path.join(ROOT, "examples", "sparse", "product.glen")
    cuda.run(glen, "run", path, "--fuse", fuse, "--check")
    with tempfile.TemporaryDirectory() as folder:
        c = os.path.join(folder, "p.c")
        cuda.run(glen, "compile", path, "--fuse", fuse, "--emit", "c", "-o", c)
        with open(c) as f:
            if ("glen_reach(" in f.read()) != (fuse != "none"):
                sys.exit(f"{path}: --fuse {fuse}: whether it ends by data")


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    for k in range(seed, seed + count):
        check(sys.argv[1], random.Random(k), k)
    for name in WHOLE:
        check_whole(sys.argv[1], name)
    for fuse in FUSED:
        check_example(sys.argv[1], fuse)
    print(f"{count + len(WHOLE) + len(FUSED)} passed, 0 failed")


if __name__ == "__main__":
    main()
