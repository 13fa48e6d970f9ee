#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random scans against the interpreter.

usage: scans.py GLEN [COUNT [SEED]]

Steps of random operators over a state, items of sequences and what is the same
always: products with the state, softmax, reductions, windows, selections and
look-ups, moves of its elements, one state or several side by side, of six dtypes
and of 1 to 2,000 steps; what is around them reads states, the last one, or all
backwards.  Some are fused, some run with two threads or under sanitizers.  A case
that fails is printed with its seed.
"""
import os
import random
import sys
import tempfile

import contractions

FLOATS = ("f32", "f64")


def text(numbers):
    return " ".join(map(str, numbers))


class Step:
    """Terms of the shape of the state, each bounded where it would grow."""

    def __init__(self, r, dtype, shape, items, same):
        self.r, self.dtype, self.shape = r, dtype, shape
        self.leaves = ["s", "s"] + items + same
        self.n_lets, self.lets, self.matrix = 0, "", None

    def let(self, term):
        self.n_lets += 1
        self.lets += f" (let v{self.n_lets} {term})"
        return f"v{self.n_lets}"

    def small(self, term):
        if self.dtype in FLOATS:
            return f"(compute tanh {term})"
        return f"(compute (clip -9 9) {term})" if self.dtype[0] == "i" else term

    def product(self, term):
        n = self.shape[-1]
        rank = len(self.shape)
        self.matrix = n
        term = (f"(compute dotProd (cartProd (access {term} {rank - 1}) "
                f"(access m 1)))")
        if self.dtype in ("i8", "bf16", "f16"):
            term = f"(compute (cast {self.dtype}) {term})"
        return self.small(term)

    def moved(self, term):
        rank, d = len(self.shape), self.r.randrange(len(self.shape))
        n = self.shape[d]
        kind = self.r.choice(["reverse", "pad", "turn"])
        if kind == "reverse":
            return f"(reverse {term} {d})"
        if kind == "pad" and n > 1:
            return f"(pad (slice {term} {d} 1 {n}) zero {d} 0 1)"
        if n > 1:
            return (f"(concat (slice {term} {d} {n - 1} {n}) "
                    f"(slice {term} {d} 0 {n - 1}) {d})")
        return f"(access {term} {rank})"

    def normal(self, term):
        """A softmax, or the sum of neighbours along the last dimension."""
        rank, n = len(self.shape), self.shape[-1]
        if self.dtype in FLOATS and self.r.random() < 0.5:
            return (f"(access (compute softmax (access {term} {rank - 1})) "
                    f"{rank})")
        term = (f"(compute reduceMax (windows (access (pad {term} zero "
                f"{rank - 1} 1 1) {rank - 1}) (shape 3) (stride 1)))")
        return f"(slice {term} {rank - 1} 0 {n})"

    def looked_up(self, a, b):
        rank, n = len(self.shape), self.shape[-1]
        return (f"(access (compute (lookup {n}) (access (concat {a} {b} "
                f"{rank - 1}) {rank - 1})) {rank})")

    def pair(self, a, b):
        op = self.r.choice(["add", "sub", "mul", "max", "min"])
        return self.small(f"(compute {op} (pair {a} {b}))")

    def selected(self, a, b):
        rank = len(self.shape)
        third = f"(access (insertAxis {a} {rank}) {rank})"
        return f"(compute select (concat (pair {a} {b}) {third} {rank}))"

    def term(self, depth):
        r = self.r
        if not depth:
            return r.choice(self.leaves)
        a = self.let(self.term(depth - 1)) if r.random() < 0.3 \
            else self.term(depth - 1)
        kind = r.choice(["pair"] * 4 + ["product", "moved", "moved", "normal",
                                        "lookup", "select"])
        if kind == "product":
            return self.product(a)
        if kind == "moved":
            return self.moved(a)
        if kind == "normal":
            return self.normal(a)
        b = r.choice(self.leaves)
        if kind == "lookup":
            return self.looked_up(a, b)
        return self.selected(a, b) if kind == "select" else self.pair(a, b)


def scan(r, name, dtype, steps, shape):
    items = [f"x{k}" for k in range(r.choice([1, 1, 2]))]
    same = [f"w{k}" for k in range(r.choice([0, 0, 1]))]
    step = Step(r, dtype, shape, items, same)
    term = step.term(r.randint(1, 4))
    if r.random() < 0.3 and shape[0] > 1:
        cut = r.randrange(1, shape[0])
        other = step.term(r.randint(1, 3))
        term = (f"(concat (slice {term} 0 0 {cut}) "
                f"(slice {other} 0 {cut} {shape[0]}) 0)")
    out, operands = "", []
    for x in items:
        out += f"(tensor {name}.{x} (shape {text([steps] + shape)}) {dtype})\n"
        operands.append(f"(reverse {name}.{x} 0)" if r.random() < 0.2
                        else f"{name}.{x}")
    for w in same:
        out += f"(tensor {name}.{w} (shape {text(shape)}) {dtype})\n"
        operands.append(f"{name}.{w}")
    if step.matrix:
        out += f"(tensor {name}.m (shape {step.matrix} {step.matrix}) {dtype})\n"
        same.append("m")
        operands.append(f"{name}.m")
    fixed = f" (with {text(same)})" if same else ""
    out += f"(tensor {name}.s (shape {text(shape)}) {dtype})\n"
    out += (f"(let {name} (scan {name}.s {text(operands)} (step s "
            f"(each {text(items)}){fixed}{step.lets} {term})))\n")
    return out


def case(r):
    dtype = r.choice(["f32", "f32", "f32", "f64", "i32", "i8", "bf16"])
    shape = [r.choice([1, 2, 3, 5]) for _ in range(r.choice([0, 0, 1]))]
    shape.append(r.choice([1, 3, 4, 8, 17]))
    steps = r.choice([1, 2, 3, 4, 7, 16, 33, 100, 2000])
    if r.random() < 0.15:  # work enough for threads and kernels of products
        shape, steps = [r.choice([16, 40]), r.choice([48, 64])], min(steps, 16)
    out = scan(r, "a", dtype, steps, shape)
    outputs = ["a"]
    if r.random() < 0.3:
        last = f"(squeeze (slice a 0 {steps - 1} {steps}) 0)"
        out += f"(let last {last})\n"
        outputs = r.choice([["last"], ["a", "last"]])
    elif r.random() < 0.3:  # another one over the states of the first
        out += f"(tensor start (shape {text(shape)}) {dtype})\n"
        out += ("(let b (scan start (reverse a 0) (step s (each x) "
                "(compute max (pair (reverse s 0) x)))))\n")
        outputs.append("b")
    elif r.random() < 0.3:
        out += "(let twice (compute neg (reverse a 0)))\n"
        outputs = ["twice"]
    return out + "".join(f"(output {o})\n" for o in outputs)


def main():
    glen = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        targets = []
        for k, machine in enumerate(contractions.VECTORS):
            targets.append(os.path.join(folder, f"{k}.target"))
            with open(targets[-1], "w", encoding="utf-8") as f:
                f.write(contractions.TARGET % (*machine, ""))
        for k in range(seed, seed + count):
            r = random.Random(k)
            text_of_case = case(r)
            done = contractions.check(
                glen, folder, text_of_case, r.choice(targets),
                r.random() < 0.25, r.random() < 0.5,
                ["--fuse", r.choice(["none", "none", "post-tile"])])
            passed += done.returncode == 0
            failed += done.returncode != 0
            if done.returncode:
                print(f"seed {k}:\n{text_of_case}{done.stderr[-2000:]}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
