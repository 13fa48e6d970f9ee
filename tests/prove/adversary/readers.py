#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules by one who has read the prover and aims at what it assumes.

usage: readers.py GLEN [--every N] [--looked N] [--keep FILE] [--family F]

None of the wrong rules may be proved, none of the right ones refuted.  What is
wrong is said by what stands here, never by the prover:

- ranks: a fault at high ranks alone, that no number of the rule tells: lists
  whose items follow from each other, axes in a row, powers of permutations;
- values: what cancels has no value at 0, and what is left hides it;
- integers: every value is tried, with the arithmetic of docs/LANGUAGE.md;
- views: every small size is tried, with lists for arrays.

All are asked about without any shape, where nothing but the argument for all
sizes can go wrong; of the right ones each N-th is looked at on shapes, too
(--looked N, 0 for none).  --every N takes each N-th rule of each family and
kind.
"""
import argparse
import collections
import itertools
import json
import math
import re
import subprocess
import sys
import tempfile


class Rule(collections.namedtuple("Rule", "name why wrong left right where")):
    def text(self):
        where = f"\n  :where {self.where}" if self.where else ""
        return (f'(rule {self.name}\n  "{self.why}"\n  {self.left}\n'
                f"  => {self.right}{where})\n")


# --- ranks -------------------------------------------------------------------

# (left, wrong right, a right one, where the wrong one is right)
CARRIERS = {
    "reverse": ("(reverse ?a ?d)", "?a",
                "(reverse (reverse (reverse ?a ?d) ?d) ?d)",
                "(= (dim ?a ?d) 1)"),
    "repeat": ("(repeat ?a ?d 2)", "(concat ?a ?a ?d)",
               "(reverse (repeat (reverse ?a ?d) ?d 2) ?d)",
               "(= (dim ?a ?d) 1)"),
    "pad": ("(reverse (pad ?a zero ?d ?lo ?hi) ?d)",
            "(pad (reverse ?a ?d) zero ?d ?lo ?hi)",
            "(pad (reverse ?a ?d) zero ?d ?hi ?lo)", "(= ?lo ?hi)"),
}
S = "(shape ?a)"
N = "(rank ?a)"
TWOS = f"(= {S} (fill {N} 2))"
STEP = f"(drop {S} 1)"
BACK = f"(take {S} (- {N} 1))"


def grows(how):
    """Each size follows from the one before."""
    return f"(= {STEP} {how})"


# Each holds at ranks above 4 alone, of an array with more than one element.
HIGH = {
    # all sizes are one number, and their product is a power of it
    "twos-32": f"(and {TWOS} (= (elements ?a) 32))",
    "twos-2048": f"(and {TWOS} (= (elements ?a) 2048))",
    "twos-prod-128": f"(and {TWOS} (= (prod {S}) 128))",
    "threes-243": f"(and (= {S} (fill {N} 3)) (= (elements ?a) 243))",
    "twos-more-than-20": f"(and {TWOS} (> (elements ?a) 20))",
    "twos-square": f"(and {TWOS} (= (* (elements ?a) (elements ?a)) 4096))",
    "square-is-double": f"(and (= (mul-lists {S} {S}) (add-lists {S} {S}))"
                        " (= (elements ?a) 1024))",
    "twice-its-part": f"(and (= {S} (add-lists (div-lists {S} {S}) (div-lists"
                      f" {S} {S}))) (= (prod {S}) 64))",
    "less-one-is-one": f"(and (= (sub-lists {S} (div-lists {S} {S}))"
                       f" (div-lists {S} {S})) (> (elements ?a) 100))",
    "square-is-triple": f"(and (= (mul-lists {S} {S}) (add-lists {S} {S} ))"
                        " (= (elements ?a) 256))",
    "halves-are-one": f"(and (= (div-lists (add-lists {S} {S}) (mul-lists"
                      f" {S} {S})) (div-lists {S} {S})) (= (mod-lists (add-lists"
                      f" {S} {S}) (mul-lists {S} {S})) (sub-lists {S} {S}))"
                      " (= (elements ?a) 512))",
    # a list is itself, moved
    "twos-by-cons": f"(and (= {S} (cons 2 {BACK})) (= (elements ?a) 64))",
    "twos-by-append": f"(and (= {S} (append (list 2) {BACK})) (= (prod {S})"
                      " 64))",
    "twos-from-behind": f"(and (= {S} (append {STEP} (list 2)))"
                        " (= (elements ?a) 256))",
    "twos-inserted": f"(and (= {S} (insert-nth {BACK} 0 2))"
                     " (= (elements ?a) 32))",
    "twos-dropped": f"(and (= {STEP} {BACK}) (= (last {S}) 2)"
                    " (= (elements ?a) 128))",
    "twos-removed": f"(and (= (remove-nth {S} 0) {BACK}) (= (last {S}) 2)"
                    " (= (elements ?a) 128))",
    "twos-sliced": f"(and (= (slice-list {S} 1 {N}) {BACK}) (= (last {S}) 2)"
                   " (= (elements ?a) 128))",
    "twos-through-names": f"(and (= ?s {S}) (= ?m (- {N} 1)) (= ?t (take ?s"
                          " ?m)) (= ?s (cons 2 ?t)) (= (elements ?a) 64))",
    # each size follows from the one before, and the last one is far
    "one-more": f"(and (= (take {S} 1) (list 1)) (= (last {S}) 6) "
                + grows(f"(add-lists {BACK} (fill (- {N} 1) 1))") + ")",
    "twice": f"(and (= (take {S} 1) (list 1)) (= (last {S}) 64) "
             + grows(f"(add-lists {BACK} {BACK})") + ")",
    "squared": f"(and (= (take {S} 1) (list 2)) (= (last {S}) 65536) "
               + grows(f"(mul-lists {BACK} {BACK})") + ")",
    "halved": f"(and (= (last {S}) 1) (= (take {S} 1) (list 32)) "
              + grows(f"(div-lists {BACK} (add-lists (div-lists {BACK} {BACK})"
                      f" (div-lists {BACK} {BACK})))") + ")",
    "one-less": f"(and (= (last {S}) 1) (= (take {S} 1) (list 7)) "
                + grows(f"(sub-lists {BACK} (div-lists {BACK} {BACK}))") + ")",
    # a list of a length that is computed
    "a-range": f"(= {S} (range 1 8))",
    "a-range-by-steps": f"(= {S} (range 1 14 2))",
    "an-iota": f"(= (sub-lists {S} (fill {N} 1)) (iota 7))",
    "a-fill": f"(= {S} (fill 7 2))",
    # the rank is a multiple of what is bounded
    "five-times": "(and (= ?f ?d) (= ?e (+ ?d ?f)) (= ?g (+ ?e ?f)) (= ?h (+"
                  f" ?g ?f)) (= ?i (+ ?h ?f)) (<= ?d 3) (= {N} ?i))",
    "seven-times": "(and (= ?f ?d) (= ?e (+ ?d ?f)) (= ?g (+ ?e ?f)) (= ?h (+"
                   " ?g ?f)) (= ?i (+ ?h ?f)) (= ?j (+ ?i ?f)) (= ?k (+ ?j"
                   f" ?f)) (<= ?d 2) (= {N} ?k))",
}
# With axes ?e ?f ?g ?h ?i that a clause names: they are in a row, or all differ.
AXES = {
    "six-in-a-row": "(< ?d ?e ?f ?g ?h ?i)",
    "six-in-a-row-backwards": "(> ?d ?e ?f ?g ?h ?i)",
    "six-one-by-one": "(and (< ?d ?e) (< ?e ?f) (< ?f ?g) (< ?g ?h) (< ?h ?i))",
    "six-not-the-other-way": "(not (or (>= ?d ?e) (>= ?e ?f) (>= ?f ?g) (>= ?g"
                             " ?h) (>= ?h ?i)))",
    "six-by-if": "(if (>= ?d ?e) false (if (>= ?e ?f) false (if (>= ?f ?g)"
                 " false (if (>= ?g ?h) false (< ?h ?i)))))",
    "six-differ": "(and " + " ".join(
        f"(!= ?{x} ?{y})" for x, y in itertools.combinations("defghi", 2))
    + ")",
    "six-are-not-equal": "(not (or " + " ".join(
        f"(= ?{x} ?{y})" for x, y in itertools.combinations("defghi", 2))
    + "))",
    "six-are-no-members": "(and (!= ?d ?e) " + " ".join(
        f"(not (member (list {' '.join('?' + y for y in 'defghi'[:k])})"
        f" ?{'defghi'[k]}))" for k in range(2, 6)) + ")",
    "six-a-step-each": "(and (= ?e (+ ?d 1)) (= ?f (+ ?e 1)) (= ?g (+ ?f 1))"
                       " (= ?h (+ ?g 1)) (= ?i (+ ?h 1)))",
    "six-at-least": "(and (>= ?e (+ ?d 1)) (>= ?f (+ ?e 1)) (>= ?g (+ ?f 1))"
                    " (>= ?h (+ ?g 1)) (>= ?i (+ ?h 1)))",
    "six-by-differences": "(and (> (- ?e ?d) 0) (> (- ?f ?e) 0) (> (- ?g ?f) 0)"
                          " (> (- ?h ?g) 0) (> (- ?i ?h) 0))",
}
FOR = "".join(f"\n  :for (?{x} (axes ?a))" for x in "efghi")


def ranks():
    for (c, (left, wrong, right, case)), (h, high) in itertools.product(
            CARRIERS.items(), HIGH.items()):
        tops = ""
        if h in ("twos-through-names", "five-times", "seven-times"):
            cut = high.rindex("(= ?s (cons") if h[0] == "t" else high.rindex(
                f"(= {N}")
            tops, high = high[len("(and "):cut], "(and " + high[cut:]
        elif high.startswith("(= "):
            high = f"(and {high})"
        both = f"(and {tops}(or {case} {high}))" if tops else (
            f"(or {case} {high})")
        yield Rule(f"wrong-{c}-{h}", "Wrong at a rank above 4.", True, left,
                   wrong, both)
        yield Rule(f"right-{c}-{h}", "Right, whatever the condition is.", False,
                   left, right, both)
        if "elements" in high and h.startswith("twos-") and "2" in high:
            # all sizes are 1 where they are alike and their product is 1
            one = re.sub(r"\((=|>) \(elements \?a\) \d+\)",
                         "(= (elements ?a) 1)", high)
            if one != high and c != "pad":
                yield Rule(f"right-{c}-{h}-of-one", "All sizes are 1.", False,
                           left, wrong,
                           f"(and {tops}(or {case} {one}))" if tops else
                           f"(or {case} {one})")
    for (c, (left, wrong, right, case)), (h, high) in itertools.product(
            CARRIERS.items(), AXES.items()):
        where = f"(or {case} {high}){FOR}"
        yield Rule(f"wrong-{c}-{h}", "Six axes are there at rank 6.", True,
                   left, wrong, where)
        yield Rule(f"right-{c}-{h}", "Right for all axes.", False, left, right,
                   where)


# A permutation of four, twelve times, is none; of five it is where the number
# is a multiple of 60.
def times(n, one, start):
    for _ in range(n):
        start = one(start)
    return start


def permutations():
    turn = lambda x: f"(transpose {x} ?p)"
    for n in (13, 25):
        yield Rule(f"wrong-transpose-{n}-times", "A cycle of five.", True,
                   turn("?a"), times(n, turn, "?a") if n < 20 else
                   f"(transpose ?a {times(24, lambda q: f'(compose {q} ?p)', '?p')})",
                   "")
    for name, one in (("nth", lambda d: f"(nth ?p {d})"),
                      ("index", lambda d: f"(index-of ?p {d})")):
        for n in (12, 24):
            yield Rule(f"wrong-axis-{name}-{n}-times", "A cycle of five.", True,
                       "(reverse (transpose ?a ?p) ?d)",
                       f"(reverse (transpose ?a ?p) {times(n, one, '?d')})", "")
        back = (lambda d: f"(index-of ?p {d})") if name == "nth" else (
            lambda d: f"(nth ?p {d})")
        for n in (1, 2, 3, 6):
            yield Rule(f"right-axis-{name}-{n}-and-back", "There and back.",
                       False, "(reverse (transpose ?a ?p) ?d)",
                       "(reverse (transpose ?a ?p) "
                       f"{times(n, back, times(n, one, '?d'))})", "")
    for n in (2, 3, 4, 6):
        yield Rule(f"right-transpose-{n}-and-back", "There and back.", False,
                   turn("?a"), times(n, lambda x: f"(transpose {x} (invert ?p))",
                                     times(n, turn, turn("?a"))), "")
    yield Rule("wrong-pairs-commute", "Two of three places.", True,
               "(transpose (transpose ?a ?p) ?q)",
               "(transpose (transpose ?a ?q) ?p)", "")
    yield Rule("wrong-squares-commute", "Squares of four places.", True,
               "(transpose (transpose ?a (compose ?p ?p)) (compose ?q ?q))"
               .replace("(compose ?p ?p)", "?p").replace("(compose ?q ?q)",
                                                         "?q"),
               "(transpose (transpose (transpose (transpose ?a ?q) ?p) ?q)"
               " (compose ?p (compose (invert ?q) (compose (invert ?p) (invert"
               " ?p)))))", "")
    for k, (where, sound) in enumerate([
            ("(= (compose ?p ?q) (compose ?q ?p))", True),
            ("(= ?p ?q)", True), ("(= ?q (invert ?p))", True),
            ("(= ?p (iota (rank ?a)))", True),
            ("(= (compose ?p ?p) (compose ?q ?q))", False),
            ("(= (compose ?p (compose ?p ?p)) (compose ?q (compose ?q ?q)))",
             False),
            ("(= (nth ?p 0) (nth ?q 0))", False),
            ("(= (reverse ?p) (reverse ?q))", True),
            ("(= (invert ?p) ?p)", False),
            ("(and (= (invert ?p) ?p) (= (invert ?q) ?q))", False)]):
        yield Rule(("right" if sound else "wrong") + f"-two-turns-{k}",
                   "Do both permutations commute?", not sound,
                   "(transpose (transpose ?a ?p) ?q)",
                   "(transpose (transpose ?a ?q) ?p)", where)


# --- values ------------------------------------------------------------------

def safe(f):
    def g(*x):
        try:
            return f(*x)
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan
    return g


def recip(x):
    return math.copysign(math.inf, x) if x == 0 else 1 / x


def log(x):
    return -math.inf if x == 0 else math.nan if x < 0 else math.log(x)


def larger(x, y):
    return math.nan if x != x or y != y else max(x, y)


def smaller(x, y):
    return -larger(-x, -y)


def div(x, y):
    return math.nan if x != x or y != y else x * recip(y)


# (term of ?a, value): some have none, or are infinite, at some number.
PARTS = {
    "log": ("(compute log ?a)", log),
    "recip": ("(compute recip ?a)", recip),
    "minus-recip": ("(compute neg (compute recip ?a))", lambda x: -recip(x)),
    "rsqrt": ("(compute rsqrt ?a)",
              lambda x: recip(math.sqrt(x)) if x >= 0 else math.nan),
    "log-of-square": ("(compute log (compute square ?a))",
                      lambda x: log(x * x)),
    "sqrt-of-log": ("(compute sqrt (compute neg (compute log ?a)))",
                    lambda x: math.sqrt(-log(x))),
    "recip-of-relu": ("(compute recip (compute relu ?a))",
                      lambda x: recip(larger(x, 0))),
    "sqrt": ("(compute sqrt ?a)", safe(math.sqrt)),
    "exp": ("(compute exp ?a)", safe(math.exp)),
    "square": ("(compute square ?a)", lambda x: x * x),
    "sqrt-of-square": ("(compute sqrt (compute square ?a))", abs),
    "recip-of-exp": ("(compute recip (compute exp ?a))",
                     lambda x: math.exp(-x)),
    "sin": ("(compute sin ?a)", math.sin),
    "log-of-exp": ("(compute log (compute exp ?a))", lambda x: x),
}
# What is made of it; some have a value where it has none.
HIDES = {
    "relu": ("(compute relu {0})", lambda x: larger(x, 0)),
    "clip": ("(compute (clip -1 1) {0})",
             lambda x: smaller(larger(x, -1), 1)),
    "tanh": ("(compute tanh {0})", math.tanh),
    "erf": ("(compute erf {0})", math.erf),
    "atan": ("(compute atan {0})", math.atan),
    "sigmoid": ("(compute sigmoid {0})",
                safe(lambda x: 1 / (1 + math.exp(-x)))),
    "exp": ("(compute exp {0})", safe(math.exp)),
    "recip": ("(compute recip {0})", recip),
    "share": ("(compute div (pair (compute (clip 3 4) ?a) {0}))",
              lambda x: div(3, x)),
    "most": ("(compute max (pair {0} (compute (clip 0 9) ?a)))",
             lambda x: larger(x, 0)),
    "least": ("(compute min (pair {0} (compute (clip 5 9) ?a)))",
              lambda x: smaller(x, 5)),
    "abs": ("(compute abs {0})", abs),
    "itself": ("{0}", lambda x: x),
    "twice": ("(compute (scale 2) {0})", lambda x: 2 * x),
}
DROPS = {
    "minus": ("(compute sub (pair {0} {0}))", lambda x: x - x),
    "times-0": ("(compute (scale 0) {0})", lambda x: 0 * x),
    "plus-minus": ("(compute add (pair {0} (compute neg {0})))",
                   lambda x: x - x),
}


def values():
    for (p, (part, f)), (h, (hide, g)), (d, (drop, z)) in itertools.product(
            PARTS.items(), HIDES.items(), DROPS.items()):
        left = f"(compute add (pair {hide} {drop}))".format(part)
        told = []
        for x in (-0.0, 0.0, 1.0, -1.0, 2.0, 0.5):
            one = safe(g)(safe(f)(x))
            other = one + safe(z)(safe(f)(x))
            # a number on one side alone
            told.append(math.isfinite(one) != math.isfinite(other))
        differs = any(told[1:])
        if told[0] and not differs:
            continue  # real numbers have one 0, floats have two: neither
        kind = "wrong" if differs else "right"
        yield Rule(f"{kind}-{h}-of-{p}-{d}",
                   "What cancels has no value where the rest has one."
                   if differs else "What cancels has a value wherever the rest"
                   " has one.", differs, left, hide.format(part),
                   "(member (list f32 f64) (dtype ?a))")


# --- integers ----------------------------------------------------------------

BITS = {"i8": (8, True), "u8": (8, False), "i16": (16, True),
        "u16": (16, False), "i32": (32, True)}


def wrap(d, x):
    bits, signed = BITS[d]
    x &= (1 << bits) - 1
    return x - (1 << bits) if signed and x >> (bits - 1) else x


def limits(d):
    bits, signed = BITS[d]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (
        0, (1 << bits) - 1)


OPS = {
    "neg": ("neg", lambda x: -x), "abs": ("abs", abs),
    "relu": ("relu", lambda x: max(x, 0)), "square": ("square", lambda x: x * x),
    "plus-1": ("(offset 1)", lambda x: x + 1),
    "minus-100": ("(offset -100)", lambda x: x - 100),
    "plus-128": ("(offset 128)", lambda x: x + 128),
    "times-2": ("(scale 2)", lambda x: 2 * x),
    "times-3": ("(scale 3)", lambda x: 3 * x),
    "times-128": ("(scale 128)", lambda x: 128 * x),
    "times-0": ("(scale 0)", lambda x: 0),
    "clip-100": ("(clip 0 100)", lambda x: min(max(x, 0), 100)),
    "clip-127": ("(clip 0 127)", lambda x: min(max(x, 0), 127)),
}


def chain(ops, x, d):
    """Operators, and dtypes for casts, one after another."""
    for op in ops:
        if op in BITS:
            d = op
            x = wrap(d, x)
        else:
            x = wrap(d, OPS[op][1](x))
    return x, d


def chain_text(ops):
    term = "?a"
    for op in ops:
        term = f"(compute {f'(cast {op})' if op in BITS else OPS[op][0]} {term})"
    return term


def spans(d):
    low, high = limits(d)
    return range(low, high + 1)


def integer_rule(d, left, right, name):
    wrong = any(chain(left, x, d) != chain(right, x, d) for x in spans(d))
    kind = "wrong" if wrong else "right"
    return Rule(f"{kind}-{name}", "Every value was tried.", wrong,
                chain_text(left), chain_text(right), f"(= (dtype ?a) {d})")


def integers():
    for d, e, f in itertools.product(("i8", "u8"), BITS, BITS):
        if e in (d, f) or d == f:
            continue
        yield integer_rule(d, [e, f], [f], f"cast-{d}-{e}-{f}")
    for d, e, op in itertools.product(("i8", "u8"), ("i8", "u8", "i16", "i32"),
                                      OPS):
        if d == e or (op == "clip-127" and "u8" in (d, e)):
            continue
        yield integer_rule(d, [op, e], [e, op], f"{op}-then-{d}-as-{e}")
    for d, (x, y) in itertools.product(("i8", "u8"),
                                       itertools.combinations(OPS, 2)):
        yield integer_rule(d, [x, y], [y, x], f"{x}-then-{y}-in-{d}")


# --- views -------------------------------------------------------------------

def read(text):
    tokens = re.findall(r"[()]|[^\s()]+", text)
    def form():
        t = tokens.pop(0)
        if t != "(":
            return int(t) if re.fullmatch(r"-?\d+", t) else t
        out = []
        while tokens[0] != ")":
            out.append(form())
        tokens.pop(0)
        return out
    return form()


class Undefined(Exception):
    pass


def number(e, env):
    if isinstance(e, int):
        return e
    if isinstance(e, str):
        return env[e]
    if e[0] == "dim":
        return len(env[e[1]])
    if e[0] == "or":
        return any(number(x, env) for x in e[1:])
    if e[0] == "and":
        return all(number(x, env) for x in e[1:])
    x = [number(a, env) for a in e[1:]]
    if e[0] in ("/", "mod", "ceil-div") and x[1] == 0:
        raise Undefined
    return {"+": lambda: sum(x), "-": lambda: x[0] - x[1],
            "*": lambda: math.prod(x), "/": lambda: x[0] // x[1],
            "mod": lambda: x[0] % x[1], "ceil-div": lambda: -(-x[0] // x[1]),
            "min": lambda: min(x), "max": lambda: max(x),
            "=": lambda: x[0] == x[1], "!=": lambda: x[0] != x[1],
            "<": lambda: x[0] < x[1], "<=": lambda: x[0] <= x[1],
            ">": lambda: x[0] > x[1], ">=": lambda: x[0] >= x[1],
            "divides": lambda: x[0] != 0 and x[1] % x[0] == 0}[e[0]]()


def array(e, env):
    """A view of one dimension as a list; raises where it has no type."""
    if isinstance(e, str):
        return env[e]
    op = e[0]
    a = array(e[1], env)
    if op == "concat":
        return a + array(e[2], env)
    if op == "reverse":
        return a[::-1]
    if op == "slice":
        lo, hi = number(e[3], env), number(e[4], env)
        if not 0 <= lo < hi <= len(a):
            raise Undefined
        return a[lo:hi]
    if op == "repeat":
        f = number(e[3], env)
        if f < 1:
            raise Undefined
        return [x for x in a for _ in range(f)]
    lo, hi = number(e[4], env), number(e[5], env)
    if lo < 0 or hi < 0:
        raise Undefined
    return ([a[0] if e[2] == "edge" else 0] * lo + a
            + [a[-1] if e[2] == "edge" else 0] * hi)


# (left, [right...], [condition...]): all combinations are looked at.
VIEWS = {
    "slice-slice": ("(slice (slice ?a ?d ?l ?h) ?d ?m ?n)", [
        "(slice ?a ?d (+ ?l ?m) (+ ?l ?n))",
        "(slice ?a ?d (+ ?l ?m) (- ?h ?n))",
        "(slice ?a ?d (max ?l ?m) (min ?h (+ ?l ?n)))",
        "(slice (slice ?a ?d ?m ?h) ?d ?l ?n)"],
        ["", "(= ?l 0)", "(= ?m 0)", "(= ?n (- ?h ?l))", "(= ?l ?m)"]),
    "slice-pad": ("(slice (pad ?a zero ?d ?l ?h) ?d ?m ?n)", [
        "(slice ?a ?d (- ?m ?l) (- ?n ?l))",
        "(pad (slice ?a ?d 0 (- ?n ?l)) zero ?d (- ?l ?m) 0)",
        "(pad ?a zero ?d (- ?l ?m) (- ?n (+ ?l (dim ?a ?d))))"],
        ["", "(>= ?m ?l)", "(and (>= ?m ?l) (<= ?n (+ ?l (dim ?a ?d))))",
         "(and (<= ?m ?l) (> ?n ?l) (<= ?n (+ ?l (dim ?a ?d))))",
         "(and (<= ?m ?l) (>= ?n (+ ?l (dim ?a ?d))))", "(<= ?m ?l)"]),
    "slice-edge": ("(slice (pad ?a edge ?d ?l ?h) ?d ?m ?n)", [
        "(slice ?a ?d (- ?m ?l) (- ?n ?l))",
        "(pad ?a edge ?d (- ?l ?m) (- ?n (+ ?l (dim ?a ?d))))",
        "(repeat (slice ?a ?d 0 1) ?d (- ?n ?m))",
        "(pad (slice ?a ?d 0 1) edge ?d (- ?n (+ ?m 1)) 0)"],
        ["", "(<= ?n ?l)", "(<= ?n (+ ?l 1))", "(<= ?n (+ ?l 2))",
         "(and (>= ?m ?l) (<= ?n (+ ?l (dim ?a ?d))))",
         "(and (<= ?m ?l) (>= ?n (+ ?l (dim ?a ?d))))"]),
    "repeat-slice": ("(slice (repeat ?a ?d ?f) ?d ?m ?n)", [
        "(repeat (slice ?a ?d (/ ?m ?f) (/ ?n ?f)) ?d ?f)",
        "(repeat (slice ?a ?d (/ ?m ?f) (ceil-div ?n ?f)) ?d ?f)",
        "(repeat (slice ?a ?d (/ ?m ?f) (+ (/ ?m ?f) 1)) ?d (- ?n ?m))",
        "(slice (repeat (slice ?a ?d (/ ?m ?f) (ceil-div ?n ?f)) ?d ?f) ?d"
        " (mod ?m ?f) (+ (mod ?m ?f) (- ?n ?m)))",
        "(slice (repeat (slice ?a ?d (/ ?m ?f) (dim ?a ?d)) ?d ?f) ?d 0"
        " (- ?n ?m))"],
        ["", "(divides ?f ?m)", "(divides ?f ?n)",
         "(and (divides ?f ?m) (divides ?f ?n))",
         "(= (/ ?m ?f) (/ ?n ?f))", "(= (/ ?m ?f) (/ (- ?n 1) ?f))",
         "(divides ?f (- ?n ?m))", "(= (mod ?m ?f) (mod ?n ?f))"]),
    "reverse-slice": ("(reverse (slice ?a ?d ?l ?h) ?d)", [
        "(slice (reverse ?a ?d) ?d (- (dim ?a ?d) ?h) (- (dim ?a ?d) ?l))",
        "(slice (reverse ?a ?d) ?d ?l ?h)",
        "(slice (reverse ?a ?d) ?d (- (dim ?a ?d) (+ ?h 1)) (- (dim ?a ?d) (+"
        " ?l 1)))", "(slice ?a ?d ?l ?h)"],
        ["", "(= (+ ?l ?h) (dim ?a ?d))", "(= (- ?h ?l) 1)",
         "(= (dim ?a ?d) (* 2 ?l))", "(= ?h (+ ?l 2))"]),
    "pad-pad": ("(pad (pad ?a edge ?d ?l ?h) edge ?d ?m ?n)", [
        "(pad ?a edge ?d (+ ?l ?m) (+ ?h ?n))",
        "(pad ?a edge ?d (+ ?l ?n) (+ ?h ?m))",
        "(pad (pad ?a edge ?d ?m ?n) edge ?d ?l ?h)",
        "(pad (pad ?a edge ?d ?l ?n) edge ?d ?m ?h)"],
        ["", "(= ?m ?n)", "(= ?l ?h)", "(= ?l ?m)"]),
    "pad-kinds": ("(pad (pad ?a edge ?d ?l ?h) zero ?d ?m ?n)", [
        "(pad ?a edge ?d (+ ?l ?m) (+ ?h ?n))",
        "(pad ?a zero ?d (+ ?l ?m) (+ ?h ?n))",
        "(pad (pad ?a zero ?d ?m ?n) edge ?d ?l ?h)"],
        ["", "(= (+ ?m ?n) 0)", "(= (+ ?l ?h) 0)", "(= ?m 0)",
         "(= (* ?m ?l) 0)", "(and (= (* ?m ?l) 0) (= (* ?n ?h) 0))",
         "(and (= (* ?m ?h) 0) (= (* ?n ?l) 0))"]),
    "repeat-repeat": ("(repeat (repeat ?a ?d ?f) ?d ?g)", [
        "(repeat ?a ?d (* ?f ?g))", "(repeat ?a ?d (+ ?f ?g))",
        "(repeat (repeat ?a ?d ?g) ?d ?f)",
        "(repeat ?a ?d (- (* ?f ?g) (/ ?f 3)))"],
        ["", "(= ?f 1)", "(= ?f ?g)", "(and (= ?f 2) (= ?g 2))",
         "(= (* ?f ?g) (+ ?f ?g))", "(< ?f 3)"]),
    "repeat-concat": ("(concat (repeat ?a ?d ?f) (repeat ?b ?d ?g) ?d)", [
        "(repeat (concat ?a ?b ?d) ?d ?f)",
        "(concat (repeat ?b ?d ?f) (repeat ?a ?d ?g) ?d)"],
        ["", "(= ?f ?g)", "(= ?f 1)", "(= (* ?f ?g) 1)"]),
    "pad-concat": ("(concat (pad ?a zero ?d ?l ?h) (pad ?b zero ?d ?m ?n) ?d)", [
        "(pad (concat ?a ?b ?d) zero ?d ?l ?n)",
        "(pad (concat (pad ?a zero ?d 0 (+ ?h ?m)) ?b ?d) zero ?d ?l ?n)",
        "(pad (concat ?a (pad ?b zero ?d (+ ?h ?m) 0) ?d) zero ?d ?l ?n)",
        "(pad (concat (pad ?a zero ?d 0 ?m) (pad ?b zero ?d ?h 0) ?d) zero ?d"
        " ?l ?n)",
        "(pad (concat (pad ?a zero ?d ?m ?h) ?b ?d) zero ?d ?l ?n)"],
        ["", "(= ?h 0)", "(= (+ ?h ?m) 0)", "(= ?m 0)", "(= ?h ?m)"]),
    "slice-concat": ("(slice (concat ?a ?b ?d) ?d ?m ?n)", [
        "(slice ?a ?d ?m ?n)",
        "(slice ?b ?d (- ?m (dim ?a ?d)) (- ?n (dim ?a ?d)))",
        "(concat (slice ?a ?d ?m (dim ?a ?d)) (slice ?b ?d 0 (- ?n (dim ?a"
        " ?d))) ?d)", "(concat ?a (slice ?b ?d 0 (- ?n (dim ?a ?d))) ?d)"],
        ["", "(<= ?n (dim ?a ?d))", "(>= ?m (dim ?a ?d))",
         "(and (< ?m (dim ?a ?d)) (> ?n (dim ?a ?d)))",
         "(and (= ?m 0) (> ?n (dim ?a ?d)))", "(= ?n (dim ?b ?d))",
         "(and (<= ?m (dim ?a ?d)) (> ?n (dim ?a ?d)))"]),
    "reverse-pad": ("(reverse (pad ?a edge ?d ?l ?h) ?d)", [
        "(pad (reverse ?a ?d) edge ?d ?h ?l)",
        "(pad (reverse ?a ?d) edge ?d ?l ?h)", "(pad ?a edge ?d ?h ?l)"],
        ["", "(= ?l ?h)", "(= (dim ?a ?d) 1)", "(= (* ?l ?h) 0)"]),
    "repeat-pad": ("(repeat (pad ?a edge ?d ?l ?h) ?d ?f)", [
        "(pad (repeat ?a ?d ?f) edge ?d (* ?l ?f) (* ?h ?f))",
        "(pad (repeat ?a ?d ?f) edge ?d ?l ?h)",
        "(pad (repeat ?a ?d ?f) edge ?d (+ ?l (* ?l (- ?f 1))) (* ?h ?f))",
        "(pad (repeat ?a ?d ?f) edge ?d (* ?h ?f) (* ?l ?f))",
        "(pad (repeat ?a ?d ?f) zero ?d (* ?l ?f) (* ?h ?f))"],
        ["", "(= ?f 1)", "(= ?l ?h)", "(= (+ ?l ?h) 0)", "(= (dim ?a ?d) 1)"]),
}
SMALL = 4


def cases(text):
    names = sorted(set(re.findall(r"\?[b-z]", text)) - {"?d"})
    spans = [range(1, 4) if n in ("?b", "?f", "?g") else
             range(0, SMALL + 2 if n in ("?h", "?n") else SMALL)
             for n in names]
    for n in range(1, SMALL + 1):
        for x in itertools.product(*spans):
            env = dict(zip(names, x))
            if "?b" in env:
                env["?b"] = [20 + k for k in range(env["?b"])]
            yield dict(env, **{"?a": [10 + k for k in range(n)]})


def view_rules():
    for name, (left, rights, wheres) in VIEWS.items():
        l, seen = read(left), []
        for env in cases(left):
            try:
                seen.append((env, array(l, env)))
            except Undefined:
                pass
        for (i, right), (k, where) in itertools.product(
                enumerate(rights), enumerate(wheres)):
            r, w = read(right), read(where) if where else 1
            met = wrong = 0
            for env, made in seen:
                try:
                    if not number(w, env):
                        continue
                except Undefined:
                    continue
                met += 1
                try:
                    wrong += array(r, env) != made
                except Undefined:
                    wrong += 1
            if met:
                kind = "wrong" if wrong else "right"
                yield Rule(f"{kind}-{name}-{i}-{k}",
                           "All small sizes were tried.", bool(wrong), left,
                           right, where)


# --- all ---------------------------------------------------------------------

FAMILIES = {"ranks": ranks, "permutations": permutations, "values": values,
            "integers": integers, "views": view_rules}
# Of each family and kind at most so many, evenly.
MOST = {"values": 130, "integers": 130, "views": 140}


def thinned(rules, most):
    step = len(rules) / most if most and len(rules) > most else 1
    return [rules[int(k * step)] for k in range(int(len(rules) / step))]


def collect(every, only):
    out = []
    for name, family in FAMILIES.items():
        if only and name != only:
            continue
        rules = list(family())
        for wrong in (True, False):
            kind = [r for r in rules if r.wrong == wrong]
            out += [(name, r) for r in
                    thinned(kind, MOST.get(name))[::every]]
    return out


def ask(glen, rules, shapes):
    text = "".join(r.text() + "\n" for _, r in rules)
    with tempfile.NamedTemporaryFile("w", suffix=".rules",
                                     encoding="utf-8") as f:
        f.write(text)
        f.flush()
        done = subprocess.run(
            [glen, "rules", "prove", "--json", "--quiet", f.name, "--shapes",
             str(shapes)], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=7200)
    if not done.stdout:
        sys.exit(done.stderr[:2000])
    return {r["rule"]: r for r in json.loads(done.stdout)["rules"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("glen")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--looked", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--family", choices=FAMILIES)
    args = parser.parse_args()
    rules = collect(args.every, args.family)
    if args.keep:
        with open(args.keep, "w", encoding="utf-8") as f:
            f.write("".join(r.text() + "\n" for _, r in rules))
    right = [(n, r) for n, r in rules if not r.wrong][::args.looked or None]
    asked = [(rules, ask(args.glen, rules, 0))]
    if args.looked:
        asked.append((right, ask(args.glen, right, 8)))
    tally, failed = collections.Counter(), 0
    for some, answers in asked:
        on = "at no shape" if some is rules else "at shapes"
        for family, rule in some:
            answer = answers[rule.name]
            verdict = answer["verdict"]
            tally[on, family, "wrong" if rule.wrong else "right", verdict] += 1
            if verdict == ("proved" if rule.wrong else "refuted"):
                failed += 1
                print(f"FAIL {rule.name} {on}: {verdict}, {answer['reason']}")
    for key in sorted(tally):
        print(f"{tally[key]:5} {' '.join(key)}", file=sys.stderr)
    for wrong in (True, False):
        n = sum(r.wrong == wrong for _, r in rules)
        print(f"{n} rules that are {'wrong' if wrong else 'right'}",
              file=sys.stderr)
    print(f"{len(rules) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
