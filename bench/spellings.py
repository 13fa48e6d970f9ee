#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do equal programs map alike, however they are spelled?

usage: spellings.py GLEN [--count N] [--family NAME] [--seed N] [--show]
                    [--target NAME]

Makes N spellings of random products, convolutions, pools, attention and
elementwise chains: views that undo each other, pairs with repeated operands or
cartProd, access inside or outside, sums of products instead of dot products,
operands that change places, casts, sums in stages, windows of ones.  For each,
glen check must prove it equal to the plain spelling of its computation, and
glen saturate with bench/spellings.target must leave none of its products,
maxima or chains to the host, at the price of the plain spelling.

--target names one that comes with glen.  Of those with memories, products and
convolutions end in the store that scales sums to bytes, and there is a family
whose stores are transposed.  What the unit has no instruction for stays on the
host there; only the prices are held against each other.

The last line is `N passed, N failed`; --show prints the spellings that failed.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(HERE, "spellings.target")


def ints(*xs):
    return " ".join(str(x) for x in xs)


class Text:
    """A program that is written one let after another."""

    def __init__(self, inputs):
        self.lines = [f"(tensor {n} (shape {ints(*d)}) {t})"
                      for n, d, t in inputs]
        self.n = 0

    def let(self, term):
        self.n += 1
        self.lines.append(f"(let v{self.n} {term})")
        return f"v{self.n}"

    def end(self, term):
        return "\n".join(self.lines + [f"(let out {term})", "(output out)"]) + "\n"


def factors(n):
    return [d for d in range(2, n) if n % d == 0]


def noise(r, t, x, dim):
    """The same array, under views that undo each other; all of it in S."""
    for _ in range(r.choice([0, 0, 1, 1, 2])):
        kind = r.choice(["transpose", "reshape", "axis", "reverse", "flat"])
        k = r.randrange(len(dim))
        if kind == "transpose" and len(dim) > 1:
            order = list(range(len(dim)))
            r.shuffle(order)
            back = [order.index(i) for i in range(len(dim))]
            x = t.let(f"(transpose {x} (list {ints(*order)}))")
            x = t.let(f"(transpose {x} (list {ints(*back)}))")
        elif kind == "reshape" and factors(dim[k]):
            f = r.choice(factors(dim[k]))
            cut = dim[:k] + [f, dim[k] // f] + dim[k + 1:]
            x = t.let(f"(reshape {x} (shape {ints(*cut)}) (shape))")
            x = t.let(f"(reshape {x} (shape {ints(*dim)}) (shape))")
        elif kind == "axis":
            x = t.let(f"(insertAxis {x} {k})")
            x = t.let(f"(squeeze {x} {k})")
        elif kind == "reverse":
            x = t.let(f"(reverse (reverse {x} {k}) {k})")
        elif kind == "flat":
            n = 1
            for d in dim:
                n *= d
            x = t.let(f"(reshape {x} (shape {n}) (shape))")
            x = t.let(f"(reshape {x} (shape {ints(*dim)}) (shape))")
    return x


def spread(r, t, x, dim, at, n):
    """x, of all dimensions but `at`, repeated n times along it."""
    x = t.let(f"(insertAxis {x} {at})")
    if r.random() < 0.5:
        return t.let(f"(repeat {x} {at} {n})")
    return t.let(f"(broadcast {x} (shape {ints(*dim)}))")


def summed(r, t, a, b, dim, wide):
    """Sums of products along the last dimension of two arrays of one shape."""
    s = len(dim) - 1
    a, b = noise(r, t, a, dim), noise(r, t, b, dim)
    if r.random() < 0.3:
        a, b = b, a
    drawn = r.random() if wide else 1
    if wide == "i32" and drawn < 0.08:  # in two steps
        a, b = (t.let(f"(compute (cast i16) {x})") for x in (a, b))
    if drawn < 0.25:
        a, b = (t.let(f"(compute (cast {wide}) {x})") for x in (a, b))
    form = r.choice(["inside", "outside", "tuple", "mul", "stages"])
    stages = factors(dim[-1])
    if form == "outside":
        return t.let(f"(compute dotProd (access (transpose (pair {a} {b})"
                     f" (list {ints(*range(s), s + 1, s)})) {s}))")
    if form == "tuple":
        p = t.let(f"(pair (access {a} {s}) (access {b} {s}))")
        return t.let(f"(compute dotProd {p})")
    if form == "mul" and not wide:
        m = t.let(f"(compute mul (pair {a} {b}))")
        return t.let(f"(compute reduceSum (access {m} {s}))")
    if form == "stages" and stages:
        f = r.choice(stages)
        cut = dim[:-1] + [f, dim[-1] // f]
        a, b = (t.let(f"(reshape {x} (shape {ints(*cut)}) (shape))")
                for x in (a, b))
        p = t.let(f"(compute dotProd (pair (access {a} {s + 1})"
                  f" (access {b} {s + 1})))")
        return t.let(f"(compute reduceSum (access {p} {s}))")
    return t.let(f"(compute dotProd (pair (access {a} {s}) (access {b} {s})))")


def product_of(r, t, a, b, lead, m, n, k, wide):
    """Of a, lead x m x k, and b, lead x n x k: lead x m x n."""
    at = len(lead)
    if not lead and r.random() < 0.4:
        a, b = noise(r, t, a, [m, k]), noise(r, t, b, [n, k])
        if r.random() < 0.4:
            p = t.let(f"(compute dotProd (cartProd (access {b} 1)"
                      f" (access {a} 1)))")
            return t.let(f"(transpose {p} (list 1 0))")
        return t.let(f"(compute dotProd (cartProd (access {a} 1)"
                     f" (access {b} 1)))")
    dim = lead + [m, n, k]
    a = noise(r, t, spread(r, t, a, dim, at + 1, n), dim)
    b = noise(r, t, spread(r, t, b, dim, at, m), dim)
    return summed(r, t, a, b, dim, wide)


class Plain(random.Random):
    """Chooses what comes first, and no noise."""

    def choice(self, seq):
        return seq[0]

    def random(self):
        return 0.99


def products(r, sizes):
    m, n, k, batch = (16 * sizes.randint(1, 3) for _ in range(4))
    lead = sizes.choice([[], [], [sizes.randint(2, 3)]])
    t = Text([("a", lead + [m, k], "i8"), ("b", lead + [n, k], "i8")])
    p = product_of(r, t, "a", "b", lead, m, n, k, "i32")
    return t.end(noise(r, t, p, lead + [m, n]))


def convolutions(r, sizes):
    c, o, w = 16 * sizes.randint(1, 2), 16 * sizes.randint(1, 2), 16
    h, k, s = sizes.randint(2, 4), sizes.choice([1, 3]), sizes.choice([1, 2])
    high, wide = (h - 1) * s + k, (w - 1) * s + k
    t = Text([("x", [high, wide, c], "i8"), ("w", [o, k, k, c], "i8")])
    x, f = noise(r, t, "x", [high, wide, c]), noise(r, t, "w", [o, k, k, c])
    if k == 1 and s == 1 and r.random() < 0.5:
        x = t.let(f"(reshape {x} (shape {h * w} {c}) (shape))")
        f = t.let(f"(reshape {f} (shape {o} {c}) (shape))")
        p = product_of(r, t, x, f, [], h * w, o, c, "i32")
        return t.end(f"(reshape {p} (shape {h} {w} {o}) (shape))")
    view = t.let(f"(squeeze (windows (access {x} 0) (shape {k} {k} {c})"
                 f" (stride {s} {s} 1)) 2)")
    if r.random() < 0.5:
        view = t.let(f"(reshape (access {view} 2) (shape {h} {w}) (shape {k * k * c}))")
        f = t.let(f"(reshape {f} (shape {o} {k * k * c}) (shape))")
        return t.end(f"(compute dotProd (cartProd {view} (access {f} 1)))")
    if r.random() < 0.3:
        p = t.let(f"(compute dotProd (cartProd (access {f} 1) {view}))")
        return t.end(f"(transpose {p} (list 1 2 0))")
    return t.end(f"(compute dotProd (cartProd {view} (access {f} 1)))")


def pools(r, sizes):
    h, w = 2 * sizes.randint(2, 4), 16 * sizes.randint(1, 3)
    t = Text([("x", [2 * h, 2 * w], "i32")])
    x = noise(r, t, "x", [2 * h, 2 * w])
    form = r.choice(["windows", "cut", "stages", "turned"])
    if form == "windows":
        p = t.let(f"(compute reduceMax (windows (access {x} 0) (shape 2 2)"
                  f" (stride 2 2)))")
        return t.end(noise(r, t, p, [h, w]))
    if form == "turned":
        p = t.let(f"(compute reduceMax (windows (access (transpose {x}"
                  f" (list 1 0)) 0) (shape 2 2) (stride 2 2)))")
        return t.end(f"(transpose {p} (list 1 0))")
    x = t.let(f"(reshape {x} (shape {h} 2 {w} 2) (shape))")
    if form == "cut":
        x = t.let(f"(transpose {x} (list 0 2 1 3))")
        p = t.let(f"(compute reduceMax (access {x} 2))")
        return t.end(noise(r, t, p, [h, w]))
    p = t.let(f"(compute reduceMax (access {x} 3))")
    p = t.let(f"(transpose (access {p} 3) (list 0 2 1))")
    return t.end(f"(compute reduceMax (access {p} 2))")


def attention(r, sizes):
    heads = sizes.choice([[], [2], [3]])
    n, d = 16 * sizes.randint(1, 3), 16 * sizes.randint(1, 2)
    s = len(heads)
    t = Text([(x, heads + [n, d], "f32") for x in "qkv"])
    q, k, v = (noise(r, t, x, heads + [n, d]) for x in "qkv")
    p = product_of(r, t, q, k, heads, n, n, d, None)
    p = t.let(f"(compute (scale 0.25) {p})")
    p = t.let(f"(access (compute softmax (access {p} {s + 1})) {s + 2})")
    order = list(range(s)) + [s + 1, s]
    v = t.let(f"(transpose {v} (list {ints(*order)}))")
    o = product_of(r, t, p, v, heads, n, d, n, None)
    return t.end(noise(r, t, o, heads + [n, d]))


def elementwise(r, sizes):
    dim = sizes.choice([[32, 16], [16, 48], [2, 16, 32], [512], [3, 32, 8]])
    t = Text([(x, dim, "i32") for x in "abc"])
    a, b, c = (noise(r, t, x, dim) for x in "abc")
    if r.random() < 0.5:
        a, b = b, a
    s = r.randint(0, len(dim)) if r.random() < 0.9 else len(dim)
    m = t.let(f"(compute mul (pair (access {a} {s}) (access {b} {s})))")
    m = noise(r, t, t.let(f"(access {m} {len(dim)})"), dim)
    first, second = (m, c) if r.random() < 0.5 else (c, m)
    x = t.let(f"(compute add (pair {first} {second}))")
    return t.end(f"(compute relu {noise(r, t, x, dim)})")


def scaled(r, t, x, dim, wide):
    """Sums shifted to bytes as a unit does it while it stores them."""
    for spec in (f"(cast {wide})", "(scale 0.0078125)", "floor", "(cast i32)",
                 "(clip -128 127)", "(cast i8)"):
        x = noise(r, t, x, dim) if r.random() < 0.2 else x
        x = t.let(f"(compute {spec} {x})")
    return x


def stored(family, wide):
    """What a family makes, and then the scaling store of a target."""
    def make(r, sizes):
        text = family(r, sizes).replace("(let out ", "(let sums ")
        return text.replace("(output out)\n", "") + (
            "(let out (compute (cast i8) (compute (clip -128 127)"
            " (compute (cast i32) (compute floor (compute (scale 0.0078125)"
            f" (compute (cast {wide}) sums)))))))\n(output out)\n")
    return make


def transposed(wide):
    """Scaling stores of products whose rows become columns."""
    def make(r, sizes):
        m, n, k = (16 * sizes.randint(1, 3) for _ in range(3))
        t = Text([("a", [m, k], "i8"), ("b", [n, k], "i8")])
        p = product_of(r, t, "a", "b", [], m, n, k, "i32")
        if r.random() < 0.5:
            p = t.let(f"(transpose {p} (list 1 0))")
            return t.end(noise(r, t, scaled(r, t, p, [n, m], wide), [n, m]))
        q = scaled(r, t, p, [m, n], wide)
        return t.end(noise(r, t, t.let(f"(transpose {q} (list 1 0))"), [n, m]))
    return make


def unscaled(r, sizes):
    """Attention of act-qkv: no maximum is taken off, all in bf16."""
    heads = sizes.choice([[], [], [2]])
    s, n, d = len(heads), 64, 64
    q = 64 * sizes.randint(1, 2)
    t = Text([(x, heads + [q if x == "q" else n, d], "bf16") for x in "qkv"])
    a, b, v = (noise(r, t, x, heads + [q if x == "q" else n, d]) for x in "qkv")
    dim = heads + [q, n]
    p = product_of(r, t, a, b, heads, q, n, d, "f32")
    e = t.let(f"(compute (cast bf16) {p})")
    e = t.let(f"(compute exp {noise(r, t, e, dim)})")
    sums = t.let(f"(compute (cast bf16) (compute reduceSum (access {e} {s + 1})))")
    below = spread(r, t, sums, dim, s + 1, n)
    p = t.let(f"(compute div (pair {e} {below}))")
    p = noise(r, t, p, dim)
    order = list(range(s)) + [s + 1, s]
    v = t.let(f"(transpose (access {v} {s + 2}) (list {ints(*order)}))")
    o = product_of(r, t, p, v, heads, q, d, n, "f32")
    o = t.let(f"(compute (cast bf16) {o})")
    return t.end(noise(r, t, o, heads + [q, d]))


FAMILIES = {"products": products, "convolutions": convolutions,
            "pools": pools, "attention": attention, "elementwise": elementwise}


def families_of(target):
    """The families that are tried on a target that comes with glen."""
    wide = {"gemmini": "f32", "vta": "f64"}.get(target)
    if target == "act-qkv":
        return {"attention": unscaled}
    if not wide:
        return FAMILIES
    return {"products": stored(products, wide),
            "convolutions": stored(convolutions, wide),
            "stores": transposed(wide), "pools": pools,
            "elementwise": elementwise}


VIEWS = 0.1  # cycles: what some views add to a price
MAPPED = {"dotProd", "reduceMax", "reduceSum", "mul", "add", "relu"}


def call(glen, *args):
    return subprocess.run([glen, *args], capture_output=True, text=True)


def price(glen, path, target):
    """What the extracted program costs, and what the host computes in it."""
    done = call(glen, "saturate", path, "--target", target, "--json", "--quiet")
    if done.returncode:
        return None, done.stderr or f"ended with {done.returncode}"
    report = json.loads(done.stdout)
    left = sorted(op for op in MAPPED
                  if f"(compute {op} " in report["program"])
    return report["cost_after"], left


def judge(glen, folder, target, family, number, seed):
    """None, or what is wrong; and the spelling."""
    make = families_of(target)[family]
    name = f"{seed}.{family}.{number}"
    plain = make(Plain(name), random.Random(name))
    text = make(random.Random("spelled " + name), random.Random(name))
    paths = []
    for kind, words in (("plain", plain), ("spelled", text)):
        paths.append(os.path.join(folder, f"{kind}.glen"))
        with open(paths[-1], "w", encoding="utf-8") as f:
            f.write(words)
    done = call(glen, "check", *paths)
    if "proved" not in done.stdout:
        return f"not proved: {done.stdout}{done.stderr}", text
    want, plain_left = price(glen, paths[0], target or TARGET)
    have, left = price(glen, paths[1], target or TARGET)
    if want is None or have is None:
        return f"not mapped: {plain_left}, {left}", text
    if (left or plain_left) and not target:
        return f"left to the host: {left}, of the plain one {plain_left}", text
    if abs(have - want) > VIEWS:
        return f"costs {have:g}, the plain one {want:g}", text
    return None, text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("glen")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", default="")
    parser.add_argument("--family", action="append", metavar="NAME")
    parser.add_argument("--show", action="store_true")
    a = parser.parse_args()
    a.glen = os.path.abspath(a.glen)
    known = list(families_of(a.target))
    families = a.family or known
    if set(families) - set(known):
        parser.error(f"the families are {', '.join(known)}")
    good, bad = dict.fromkeys(families, 0), dict.fromkeys(families, 0)
    with tempfile.TemporaryDirectory() as folder:
        for n in range(a.count):
            family = families[n % len(families)]
            wrong, text = judge(a.glen, folder, a.target, family,
                                n // len(families), a.seed)
            good[family] += not wrong
            bad[family] += bool(wrong)
            if wrong:
                print(f"{family} {n // len(families)}: {wrong}", flush=True)
                if a.show:
                    print(text)
    for family in families:
        print(f"{family:13} {good[family]} of {good[family] + bad[family]} "
              f"proved equal, mapped, at one price")
    print(f"{sum(good.values())} passed, {sum(bad.values())} failed")
    sys.exit(any(bad.values()))


if __name__ == "__main__":
    main()
