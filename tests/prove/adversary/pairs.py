#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pairs of programs that attack `glen check`, and `saturate --verify`.

usage: pairs.py GLEN [--seed N] [--pairs N] [--verify N]

A random term of views, elementwise operators, reductions and products is
written in two ways that are equal; mostly, one number or operator of one of
them is then another one.  `glen check` must not prove what the interpreter
tells apart on constants, nor refute what is equal as written.  With the pair as
a rule, `saturate --verify` must not pass with an output that differs.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

INPUTS = {"a": (2, 3), "b": (4,), "c": (2, 2, 3)}
RANGES = {"i8": (-128, 127), "u8": (0, 255), "i16": (-2**15, 2**15 - 1),
          "u16": (0, 2**16 - 1), "i32": (-2**31, 2**31 - 1)}
HALVES = ["bf16", "f16"]
DTYPES = ["f32", "f64", *HALVES, *RANGES]
UNARY = ["relu", "abs", "neg", "square", "(offset 3)", "(scale 2)",
         "(clip 0 5)"]
FAULTS = {"reduceSum": ["reduceMax"], "reduceMax": ["reduceMin", "reduceSum"],
          "reduceMin": ["reduceMax"], "add": ["sub", "max"], "sub": ["add"],
          "max": ["min", "add"], "min": ["max"], "mul": ["add"],
          "relu": ["abs", "neg"], "abs": ["relu", "square"], "neg": ["abs"],
          "square": ["abs"], "i16": ["u16"], "u16": ["i16"], "bool": ["i8"],
          "i8": ["bool", "u8"], "zero": ["edge"], "edge": ["zero"], "a": ["b"]}
RUNS = 6
tally = {}
wrong = 0


def note(kind, verdict, bad, what):
    global wrong
    key = f"{kind}: {verdict}"
    tally[key] = tally.get(key, 0) + 1
    if bad:
        wrong += 1
        print(f"FAIL {kind} {verdict}: {what}")


def glen(*args):
    return subprocess.run([GLEN, *args], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=600)


def product(sizes):
    p = 1
    for size in sizes:
        p *= size
    return p


def words(numbers):
    return " ".join(str(n) for n in numbers)


# --- terms: (text, sizes) ----------------------------------------------------

def with_size(s, d, size):
    return s[:d] + (size,) + s[d + 1:]


def viewed(r, text, s):
    n = len(s)
    d = r.randrange(n) if n else 0
    way = r.choice(["transpose", "slice", "concat", "pad", "reshape",
                    "insertAxis", "repeat", "squeeze"])
    if way == "transpose" and n > 1:
        p = r.sample(range(n), n)
        return f"(transpose {text} (list {words(p)}))", tuple(s[k] for k in p)
    if way == "slice" and n and s[d] > 1:
        lo = r.randrange(s[d])
        hi = r.randint(lo + 1, s[d])
        return f"(slice {text} {d} {lo} {hi})", with_size(s, d, hi - lo)
    if way == "concat" and n:
        return f"(concat {text} {text} {d})", with_size(s, d, 2 * s[d])
    if way == "pad" and n:
        b, e = r.randint(0, 2), r.randint(0, 2)
        return (f"(pad {text} {r.choice(['zero', 'edge'])} {d} {b} {e})",
                with_size(s, d, s[d] + b + e))
    if way == "reshape" and n and product(s) <= 64:
        x = r.choice([k for k in range(1, product(s) + 1)
                      if product(s) % k == 0])
        to = (x, product(s) // x)
        return f"(reshape {text} (shape {words(to)}) (shape))", to
    if way == "insertAxis" and n < 4:
        d = r.randint(0, n)
        return f"(insertAxis {text} {d})", s[:d] + (1,) + s[d:]
    if way == "repeat" and n and product(s) <= 40:
        f = r.randint(2, 3)
        return f"(repeat {text} {d} {f})", with_size(s, d, f * s[d])
    if way == "squeeze" and 1 in s:
        d = s.index(1)
        return f"(squeeze {text} {d})", s[:d] + s[d + 1:]
    return text, s


def there_and_back(r, dtype, text):
    """Cast to another dtype, and to its own again."""
    other = r.choice([*DTYPES, "bool"])
    return f"(compute (cast {dtype}) (compute (cast {other}) {text}))"


def computed(r, text, s, dtype):
    n, way = len(s), r.random()
    c = r.randint(0, n - 1) if n else 0
    again = f"(compute {r.choice(UNARY)} {text})"
    if way < 0.15:
        return there_and_back(r, dtype, text), s
    if way < 0.45 or not n:
        return again, s
    if way < 0.75:
        op = r.choice(["reduceSum", "reduceMax", "reduceMin"])
        return f"(compute {op} (access {text} {c}))", s[:c]
    if way < 0.9 or n > 3:
        op = r.choice(["add", "sub", "mul", "max", "min"])
        return (f"(compute {op} (pair (access {text} {n}) (access {again} "
                f"{n})))", s)
    return (f"(compute dotProd (cartProd (access {text} {c}) "
            f"(access {again} {c})))", s[:c] * 2)


def term(r, depth, dtype):
    name = r.choice(list(INPUTS))
    t = name, INPUTS[name]
    for _ in range(depth):
        t = viewed(r, *t) if r.random() < 0.55 else computed(r, *t, dtype)
        if product(t[1]) > 150 or len(t[1]) > 5:
            break
    return t


# --- equal ways to write a term ----------------------------------------------

def both_ways(r, dtype, text, s):
    """A pair of terms of one dtype that are equal."""
    n = len(s)
    whole = f"(access {text} {n})"
    pairs = [(f"(compute neg (compute neg {text}))", whole),
             (f"(compute max (pair {whole} {whole}))", whole)]
    if dtype in RANGES:
        pairs.append((f"(compute (cast {dtype}) (compute (cast i32) {text}))",
                      f"(compute (cast {dtype}) {text})"))
    if dtype not in HALVES:
        pairs.append((f"(compute add (pair {whole} {whole}))",
                      f"(compute (scale 2) {text})"))
    if not n:
        return r.choice(pairs)
    d = r.randrange(n)
    b, e, p = r.randint(0, 2), r.randint(1, 2), r.sample(range(n), n)
    back = [p.index(k) for k in range(n)]
    total = f"(compute reduceSum (access {text} 0))"
    pairs += [
        (f"(slice (pad {text} edge {d} {b} {e}) {d} {b} {b + s[d]})", whole),
        (f"(transpose (transpose {text} (list {words(p)})) "
         f"(list {words(back)}))", whole),
        (f"(compute reduceSum (access (reshape {whole} (shape {product(s)}) "
         "(shape)) 0))", total),
        (f"(compute reduceSum (access (pad {text} zero {d} 1 2) 0))", total)]
    if dtype in ("f32", "f64", "i32"):  # sums of others are wider
        pairs.append((f"(compute reduceSum (access (compute (scale 3) {text}) "
                      "0))", f"(compute (scale 3) {total})"))
    if s[d] > 1:
        m = r.randrange(1, s[d])
        low, high = f"(slice {text} {d} 0 {m})", f"(slice {text} {d} {m} {s[d]})"
        pairs.append((f"(concat {low} {high} {d})", whole))
        pairs += [(f"(compute {op} (access {text} 0))",
                   f"(compute {join} (pair (compute {op} (access {low} 0)) "
                   f"(compute {op} (access {high} 0))))")
                  for op, join in (("reduceSum", "add"), ("reduceMax", "max"))]
    return r.choice(pairs)


def faulty(r, text):
    """One number or operator is another one."""
    parts = re.findall(r"[()]|[^\s()]+", text)
    at = [k for k, x in enumerate(parts) if x in FAULTS or x.isdigit()]
    k = r.choice(at)
    parts[k] = (r.choice(FAULTS[parts[k]]) if parts[k] in FAULTS else
                str(max(0, int(parts[k]) + r.choice([-1, 1, 1, -2]))))
    return " ".join(parts)


# --- the judge ---------------------------------------------------------------

def constants(dtype, seed):
    r = random.Random(seed)
    low, high = RANGES.get(dtype, (-9, 9))

    def value():
        if dtype not in RANGES:
            return r.choice([r.randint(-9, 9), r.randint(-9, 9) * 0.5, 0])
        return r.choice([r.randint(low, high), r.randint(0, 9), low, high, 0])

    return "".join(
        f"(const {name} (shape {words(s)}) {dtype} "
        f"{words(value() for _ in range(product(s)))})\n"
        for name, s in INPUTS.items())


def interpreted(text):
    path = os.path.join(FOLDER, "run.glen")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    done = glen("run", "--interpret", path)
    rows = [x for x in done.stdout.splitlines() if x.startswith("y")]
    return rows[0].split()[1:] if rows else None


def far(u, v):
    """Do they differ by more than rounding?  None: one of them has no type."""
    if u is None or v is None:
        return None
    return len(u) != len(v) or any(
        x != y and not abs(float(x) - float(y)) <=
        1e-3 * max(1, abs(float(x)), abs(float(y))) for x, y in zip(u, v))


def differ(dtype, left, right):
    """Of programs that define y."""
    return any(far(interpreted(constants(dtype, k) + left),
                   interpreted(constants(dtype, k) + right))
               for k in range(RUNS))


def program(dtype, text, uses):
    head = "".join(f"(tensor {name} (shape {words(s)}) {dtype})\n"
                   for name, s in INPUTS.items() if uses or
                   re.search(rf"(?<!\w){name}(?!\w)", text))
    tail = "".join(f"(let u{name} (compute (offset 0) {name}))"
                   f"(output u{name})\n" for name in INPUTS) if uses else ""
    return head + f"(let y {text})\n(output y)\n" + tail


def body(text):
    return f"(let y {text})\n(output y)\n"


def write(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


# --- the attacks -------------------------------------------------------------

def attack_check(dtype, left, right, equal):
    done = glen("check", "--json",
                write("left.glen", program(dtype, left, True)),
                write("right.glen", program(dtype, right, True)))
    try:
        verdict = json.loads(done.stdout)["answer"]
    except (ValueError, KeyError):
        verdict = "no type" if done.returncode == 1 else "no answer"
    bad = verdict == "no answer" or (equal and verdict == "refuted") or (
        verdict == "proved" and not equal and
        differ(dtype, body(left), body(right)))
    note("check", verdict, bad, f"{dtype} {left} {right}")


def attack_verify(dtype, left, right):
    pattern = [re.sub(r"(?<![\w?])([abc])(?![\w])", r"?\1", x)
               for x in (left, right)]
    done = glen("saturate", write("in.glen", program(dtype, left, False)),
                "--rules",
                write("r.rules", f'(rule r "x" {pattern[0]} => {pattern[1]})'),
                "--verify")
    found = re.search(r"; verify +(\w+)", done.stdout)
    verdict = found.group(1) if found else "no result"
    result = "".join(x + "\n" for x in done.stdout.splitlines()
                     if not x.startswith((";", "(tensor")))
    bad = done.returncode < 0 or (
        done.returncode == 0 and differ(dtype, body(left), result))
    note("verify", verdict, bad, f"{dtype} {left} {right}")


def main():
    r = random.Random(OPTIONS.seed)
    for k in range(OPTIONS.pairs + OPTIONS.verify):
        dtype = r.choice(DTYPES)
        pair = list(both_ways(r, dtype, *term(r, r.randint(1, 4), dtype)))
        r.shuffle(pair)
        equal = r.random() < 0.35
        if not equal:
            pair[0] = faulty(r, pair[0])
            r.shuffle(pair)
        if k < OPTIONS.pairs:
            attack_check(dtype, *pair, equal)
        else:
            attack_verify(dtype, *pair)
    print(", ".join(f"{v} {k}" for k, v in sorted(tally.items())))
    n = sum(tally.values())
    print(f"{n - wrong} passed, {wrong} failed")
    return wrong > 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("glen")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--verify", type=int, default=100)
    OPTIONS = parser.parse_args()
    GLEN = os.path.abspath(OPTIONS.glen)
    with tempfile.TemporaryDirectory() as FOLDER:
        sys.exit(main())
