#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules that attack the prover, written anew from a seed, and by hand.

usage: run.py GLEN [--seed N] [--every N] [--most-shapes N] [--keep FILE]

None of the wrong rules may be proved, none of the right ones refuted.  Three
kinds, beside those of hand.py:

- a rewrite with a fault ?x behind a condition that few shapes, ranks, literals
  or parameters meet; where ?x is multiplied by 0, it is right;
- terms of a random element, and the same changed by identities (right) or by
  one fault (wrong), on each dtype;
- the latter as programs, for `glen check`.

The judge of what is wrong is the interpreter, on constants that show it: a
fault that shows nothing is left out, and so is a hidden one whose witness does
not meet its condition.  --every N asks about each N-th rule of each kind.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import hand

counts = [0, 0]
tally = {}


def note(passed, what):
    counts[not passed] += 1
    if not passed:
        print("FAIL " + what)


def glen(*args):
    return subprocess.run([GLEN, *args], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=3000)


def rule(name, where, left, right, params=""):
    return (f'{params}(rule {name} "An attack."\n  {left}\n  => {right}\n'
            f'  :where {where})\n')


# --- faults behind conditions ------------------------------------------------

# (name, left, right, condition): wrong where ?x is 1.
CARRIERS = [
    ("slice", "(slice ?a ?d ?lo ?hi)", "(slice ?a ?d (- ?lo ?x) (- ?hi ?x))",
     "(> ?lo 0)"),
    ("pad", "(pad ?a zero ?d ?b ?e)", "(pad ?a zero ?d (+ ?b ?x) (- ?e ?x))",
     "(> ?e 0)"),
    ("relu", "(compute relu ?a)", "(compute (offset ?x) (compute relu ?a))",
     "(and)"),
    ("repeat", "(repeat (repeat ?a ?d ?f) ?d ?g)",
     "(compute (offset ?x) (repeat ?a ?d (* ?f ?g)))",
     "(not (member (list bool u32 i64) (dtype ?a)))"),
    ("squeeze", "(squeeze (insertAxis ?a ?d) ?d)",
     "(compute (offset ?x) (materialize ?a))", "(not (member (list bool u32 i64) (dtype ?a)))"),
]


def hidden(r):
    """A condition that is seldom met, and a witness: sizes and the condition
    there, for Python."""
    n = r.choice([r.randint(20, 400), r.randint(1000, 10**5),
                  r.randint(10**6, 2**35)])
    m = r.choice([7, 11, 13, 97, 101, 251, 9973])
    k = r.randrange(m)
    e = f"(elements ?a)"
    choices = [
        ("size", f"(>= {e} {n})", [n], n >= n),
        ("size-by-half", f"(> (/ {e} 2) {n})", [2 * n + 2], True),
        ("exact", f"(= {e} {n})", [n], True),
        ("square", f"(> (* {e} {e}) {n * n})", [n + 1], n < 2**31),
        ("residue", f"(= (mod {e} {m}) {k})", [k + m], (k + m) % m == k),
        ("beyond-and-residue", f"(and (> {e} {n}) (= (mod {e} {m}) {k}))",
         [n - n % m + m + k], (n - n % m + m + k) % m == k),
        ("gcd", f"(= (gcd {e} {m * 30}) {m * 30})", [m * 30], True),
        ("sum", f"(and (= (rank ?a) 3) (= (sum (shape ?a)) {n}))",
         [1, 1, n - 2], True),
        ("round-up", f"(> (- (round-up {e} {m}) {e}) {m - 2})", [m + 1], True),
        ("last", f"(and (> (rank ?a) 1) (= (last (shape ?a)) {n}))", [2, n],
         True),
        ("shape", f"(= (shape ?a) (list {m} 1 {k + 1}))", [m, 1, k + 1], True),
        ("rank-and-dtype", f"(and (= (rank ?a) {5 + k % 15}) (= (dtype ?a) "
         f"{r.choice(['i8', 'bf16', 'f64', 'u8'])}))", [1] * (5 + k % 15),
         True),
        ("rank-by-fill", f"(= (len (fill {5 + k % 15} 1)) (rank ?a))",
         [1] * (5 + k % 15), True),
        ("rank-by-sums", "(= (rank ?a) (+ " + " 1" * (5 + k % 15) + "))",
         [1] * (5 + k % 15), True),
        ("rank-by-range", f"(= (len (range 0 {9 + k % 12} 1)) (rank ?a))",
         [1] * (9 + k % 12), True),
        ("parameter", f"(> (+ {e} $quantum) {n + 10**6})", [n + 10**6], True),
        ("parameter-times", f"(= (* $odd {e}) {m * m})", [m * m], True),
        ("dim-of-last-axis", f"(and (> (rank ?a) 2) (> (dim ?a 2) {n}))",
         [1, 1, n + 1], True),
        ("ceil", f"(= (ceil-div {e} {m}) {k + 3})", [m * (k + 3)], True),
        ("xor", f"(if (> {e} {n}) (< {e} {n + 3}) (= 1 2))", [n + 1], True),
    ]
    return r.choice(choices)


def fits(shape):
    n = 1
    for d in shape:
        n *= d
    return len(shape) <= 24 and n <= 2**40


def hidden_rules(r, n):
    """(text, wrong) pairs: a wrong rule and the right one beside it."""
    params = '(param quantum 0 "any")\n(param odd 1 "any")\n'
    out = [params]
    names = []
    while len(names) < 2 * n:
        kind, where, shape, holds = hidden(r)
        name, left, right, needs = r.choice(CARRIERS)
        if not holds or not fits(shape) or (name in ("slice", "pad") and
                                            max(shape, default=1) < 2):
            continue
        for wrong in (True, False):
            x = f"(= ?x (if {where} 1 0))" if wrong else \
                f"(= ?x (* 0 (if {where} 1 0)))"
            names.append(f"{'wrong' if wrong else 'right'}-{name}-{kind}-"
                         f"{len(names)}")
            out.append(rule(names[-1], f"(and {needs} {x})", left, right))
    return "".join(out)


def judge_carriers():
    """With ?x of 1 each carrier differs."""
    a = "(tensor a (shape 4) i32)\n"
    pairs = [("(slice a 0 1 3)", "(slice a 0 0 2)"),
             ("(pad a zero 0 1 1)", "(pad a zero 0 2 0)"),
             ("(compute relu a)", "(compute (offset 1) (compute relu a))"),
             ("(repeat (repeat a 0 2) 0 2)",
              "(compute (offset 1) (repeat a 0 4))"),
             ("(squeeze (insertAxis a 0) 0)",
              "(compute (offset 1) (materialize a))")]
    for left, right in pairs:
        values = interpret(a, [left, right])
        note(values[0] != values[1], f"no fault shows in {left}")


# --- terms of one element ----------------------------------------------------

VALUES = {"i8": [0, 1, -1, 127, -128, 5, -7, 64],
          "u8": [0, 1, 255, 128, 127, 5, 7, 64],
          "i32": [0, 1, -1, 2147483647, -2147483648, 5, -77, 65536],
          "f32": [0, 1, -1, 2.5, -3, 100, 0.25, -0.5]}


def un(op, x):
    return f"(compute {op} {x})"


def bi(op, x, y):
    return f"(compute {op} (pair {x} {y}))"


def term(r, d, depth):
    if not depth or r.random() < 0.15:
        return r.choice(["?a", "?b"])
    ops = ["neg", "abs", "relu", f"(offset {r.randint(1, 9)})",
           f"(scale {r.randint(2, 9)})", "square",
           f"(clip {r.randint(0, 3)} {r.randint(4, 100)})"]
    if r.random() < 0.5:
        return un(r.choice(ops), term(r, d, depth - 1))
    return bi(r.choice(["add", "sub", "mul", "max", "min"]),
              term(r, d, depth - 1), term(r, d, depth - 1))


def same(r, x, y, d):
    """(left, right) of x and y that are equal for all numbers, and as integers
    wrap."""
    k, m = r.randint(1, 9), r.randint(2, 9)
    pairs = [
        (bi("add", x, y), bi("add", y, x)),
        (bi("mul", x, y), bi("mul", y, x)),
        (bi("max", x, y), bi("max", y, x)),
        (bi("sub", x, y), bi("add", x, un("neg", y))),
        (un("neg", bi("sub", x, y)), bi("sub", y, x)),
        (un(f"(scale {m})", bi("add", x, y)),
         bi("add", un(f"(scale {m})", x), un(f"(scale {m})", y))),
        (bi("mul", x, bi("add", y, x)), bi("add", bi("mul", x, y),
                                          un("square", x))),
        (un(f"(offset {k})", un(f"(offset {m})", x)), un(f"(offset {k + m})",
                                                         x)),
        (un("square", un("neg", x)), un("square", x)),
        (un("abs", un("neg", x)), un("abs", x)) if d != "u8" else
        (un("abs", x), un("relu", x)),
        (un("relu", un("relu", x)), un("relu", x)),
        (bi("max", x, bi("min", x, y)), bi("max", x, x)),
        (bi("min", bi("max", x, y), x), bi("min", x, x)),
        (bi("sub", un(f"(scale {m})", x), x), un(f"(scale {m - 1})", x)),
        (un("square", bi("sub", x, y)), un("square", bi("sub", y, x))),
    ]
    return r.choice(pairs)


FAULTS = [("add", "sub"), ("max", "min"), ("abs", "neg"), ("mul", "add"),
          ("relu", "abs"), ("square", "abs"), ("neg", "abs"), ("sub", "max"),
          ("min", "add"), ("(offset 1)", "(offset 2)"), ("relu", "square")]


def faulty(r, text):
    """One operator of it is another one; None where there is none."""
    a, b = r.choice(FAULTS)
    at = [k for k in range(len(text)) if text.startswith(a, k)]
    if not at:
        return None
    k = r.choice(at)
    return text[:k] + b + text[k + len(a):]


def subtle(r, d, x):
    """Wrong at the edge of a dtype alone."""
    wide = "i32" if d != "i32" else "f64"
    return r.choice([
        (un("abs", un("abs", x)), un("relu", un("abs", x))),
        (un(f"(cast {wide})", un("neg", x)), un("neg", un(f"(cast {wide})", x))),
        (un(f"(cast {wide})", un("abs", x)), un("abs", un(f"(cast {wide})", x))),
        (un("relu", un("neg", un("relu", x))), un("(scale 0)", x)),
        (un("relu", bi("sub", un("relu", x), x)), un("relu", un("neg", x))),
        (un("(cast i8)", un("relu", x)), un("relu", un("(cast i8)", x))),
        (un("(cast u8)", un("abs", x)), un("abs", un("(cast u8)", x))),
        (bi("max", un("(offset 1)", x), x), un("(offset 1)", x)),
        (un("(scale 2)", un("relu", x)), un("relu", un("(scale 2)", x))),
        (bi("div", un("(scale 3)", x), un("(offset 3)", un("(scale 0)", x))),
         un("(offset 0)", x)),
        (un(f"(cast {d})", un("(cast u8)", x)), un("(offset 0)", x)),
        (bi("sub", bi("max", x, "?b"), bi("min", x, "?b")),
         un("abs", bi("sub", x, "?b"))),
    ])


def closed(text):
    return text.replace("?a", "a").replace("?b", "b")


def interpret(head, terms):
    """What the terms are, as words."""
    lets = "".join(f"(let y{k} {t})\n" for k, t in enumerate(terms))
    outs = "".join(f"(output y{k})\n" for k in range(len(terms)))
    with tempfile.NamedTemporaryFile("w", suffix=".glen") as f:
        f.write(head + lets + outs)
        f.flush()
        done = glen("run", "--interpret", f.name)
    found = {line.split(":")[0]: line.split()[1:]
             for line in done.stdout.splitlines() if line.startswith("y")}
    return [found.get(f"y{k}") for k in range(len(terms))]


def consts(r, d):
    a = VALUES[d]
    rows = [(x, y) for x in a for y in a]
    r.shuffle(rows)
    return [f"(const a (shape 4) {d} {' '.join(str(x) for x, _ in rows[k:k + 4])})\n"
            f"(const b (shape 4) {d} {' '.join(str(y) for _, y in rows[k:k + 4])})\n"
            for k in range(0, 64, 4)]


def far(x, y):
    if x == y:
        return False
    if x is None or y is None or x[0] != y[0]:
        return True
    for u, v in zip(x[1:], y[1:]):
        p, q = float(u), float(v)
        if p != p or q != q or abs(p) == float("inf") or abs(q) == float("inf"):
            continue
        if abs(p - q) > 1e-3 * max(1, abs(p), abs(q)):
            return True
    return False


def element_pairs(r, n):
    """(dtype, wrong, left, right), judged by runs."""
    tried = []
    for _ in range(4 * n):
        d = r.choice(list(VALUES))
        x, y = term(r, d, 2), term(r, d, r.choice([0, 1]))
        left, right = same(r, x, y, d)
        if r.random() < 0.5:
            tried.append((d, False, left, right))
        elif r.random() < 0.4:
            tried.append((d, True, *subtle(r, d, r.choice(["?a", x]))))
        else:
            wrong = faulty(r, right)
            tried.append((d, True, left, wrong or right))
    shown = [False] * len(tried)
    for d in VALUES:
        mine = [k for k, t in enumerate(tried) if t[0] == d]
        terms = [closed(t) for k in mine for t in tried[k][2:]]
        for head in consts(r, d):
            got = interpret(head, terms)
            for i, k in enumerate(mine):
                shown[k] |= far(got[2 * i], got[2 * i + 1])
    out = []
    for k, t in enumerate(tried):
        if not t[1]:
            note(not shown[k], f"an identity that is none: {t[2]} {t[3]}")
        unbound = any(v in t[3] and v not in t[2] for v in ("?a", "?b"))
        if t[2] != t[3] and t[1] == shown[k] and not unbound:
            out.append(t)
    wrong = [t for t in out if t[1]][:n]
    return wrong + [t for t in out if not t[1]][:n]


# --- asking ------------------------------------------------------------------


def ask(text, shapes):
    with tempfile.NamedTemporaryFile("w", suffix=".rules") as f:
        f.write(text)
        f.flush()
        if KEEP:
            with open(KEEP, "a", encoding="utf-8") as keep:
                keep.write(text)
        done = glen("rules", "prove", "--json", "--quiet", "--shapes",
                    str(shapes), f.name)
    if not done.stdout:
        note(False, f"no answer: {done.stderr[:400]}")
        return []
    return json.loads(done.stdout)["rules"]


def hold(verdict, wrong, what):
    tally.setdefault(what.split()[0] + (" wrong" if wrong else " right"),
                     []).append(verdict)
    bad = ("proved",) if wrong else ("refuted",)
    note(verdict not in bad, what + ": " + verdict)


def ask_rules(kind, text, shapes):
    for a in ask(text, shapes):
        wrong = a["rule"].startswith("wrong")
        hold(a["verdict"], wrong, f"{kind} {a['rule']}")
        note(not (wrong and a["all_sizes"]), f"{a['rule']}: for all sizes")


def by_hand(shapes, every):
    for wrong, rules in ((True, hand.WRONG), (False, hand.RIGHT)):
        text = "".join(rule(("wrong-" if wrong else "right-") + name, *parts)
                       for name, parts in list(rules.items())[::every])
        ask_rules("hand", text, shapes)


def ask_elements(pairs, shapes):
    text = "".join(
        rule(f"{'wrong' if wrong else 'right'}-{d}-{k}",
             f"(= (dtype {'?a' if '?a' in left else '?b'}) {d})", left, right)
        for k, (d, wrong, left, right) in enumerate(pairs))
    ask_rules("element", text, shapes)


def ask_programs(pairs, size):
    with tempfile.TemporaryDirectory() as folder:
        for k, (d, wrong, *sides) in enumerate(pairs):
            paths = []
            for side, t in zip("lr", sides):
                paths.append(os.path.join(folder, f"{side}.glen"))
                with open(paths[-1], "w", encoding="utf-8") as f:
                    f.write(f"(tensor a (shape {size}) {d})\n"
                            f"(tensor b (shape {size}) {d})\n"
                            f"(let y {closed(t)})\n(output y)\n"
                            "(let a2 (access a 0))(output a2)"
                            "(let b2 (access b 0))(output b2)\n")
            done = glen("check", "--json", *paths)
            try:
                verdict = json.loads(done.stdout)["answer"]
            except (ValueError, KeyError):
                note(False, f"check: {done.stdout[:200]} {done.stderr[:200]}")
                continue
            hold(verdict, wrong, f"program {d} {sides[0]} {sides[1]}")
            code = {"refuted": 4}.get(verdict, 0)
            note(done.returncode == code or verdict in ("tested", "unknown"),
                 f"check: {verdict}, exit {done.returncode}")


def main():
    r = random.Random(OPTIONS.seed)
    judge_carriers()
    by_hand(OPTIONS.most_shapes, max(1, OPTIONS.every // 8))
    n = 500 // OPTIONS.every
    ask_rules("hidden", hidden_rules(r, n), OPTIONS.most_shapes)
    pairs = element_pairs(r, n)
    ask_elements(pairs, OPTIONS.most_shapes)
    ask_programs(pairs[::5], 3)
    for what, verdicts in sorted(tally.items()):
        print(f"{what}: " + ", ".join(f"{verdicts.count(v)} {v}" for v in
                                      sorted(set(verdicts))))
    print(f"{counts[0]} passed, {counts[1]} failed")
    return counts[1] > 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("glen")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--most-shapes", type=int, default=60)
    parser.add_argument("--keep", default="")
    OPTIONS = parser.parse_args()
    GLEN, KEEP = os.path.abspath(OPTIONS.glen), OPTIONS.keep
    sys.exit(main())
