#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules that are wrong under a hidden condition, and right ones beside them.

usage: attack.py GLEN [--every N] [--shapes N]

A condition that few shapes meet is hidden in each of some rules of one kind:
where it holds, the wrong rule says something else.  A right rule mentions the
same condition to no effect.  `glen rules prove` is asked about all of them: no
wrong rule may be proved, no right one refuted.  --every N asks about each N-th.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

# (when, an expression that is 0, or at least 1 where it hides a fault)
HIDDEN = [
    ("elements 5000", "(/ (elements ?a) 5000)"),
    ("elements 70 thousand", "(/ (elements ?a) 70001)"),
    ("elements a million", "(/ (elements ?a) 1048577)"),
    ("elements a hundred million", "(/ (elements ?a) 123456789)"),
    ("squared elements", "(/ (* (elements ?a) (elements ?a)) 40000001)"),
    ("cubed elements",
     "(/ (* (elements ?a) (elements ?a) (elements ?a)) 1000000000001)"),
    ("twice three times elements", "(/ (* 2 (* 3 (elements ?a))) 54321)"),
    ("a remainder of 9973", "(if (= (mod (elements ?a) 9973) 9972) 1 0)"),
    ("a remainder beyond 4000",
     "(if (and (> (elements ?a) 4000) (= (mod (elements ?a) 97) 13)) 1 0)"),
    ("the sum of sizes", "(/ (sum (shape ?a)) 3001)"),
    ("a table of twelve",
     "(nth (list 0 0 0 0 0 0 0 0 0 0 0 1) (min 11 (/ (elements ?a) 1000)))"),
    ("a fill by rank", "(/ (prod (fill (rank ?a) 3)) 2187)"),
    ("the sum of an iota", "(/ (sum (iota (rank ?a))) 45)"),
    ("rank 9", "(/ (rank ?a) 9)"),
    ("rank 13", "(if (= (rank ?a) 13) 1 0)"),
    ("squared rank", "(/ (* (rank ?a) (rank ?a)) 122)"),
    ("rank 20 by thirds", "(/ (* 3 (rank ?a)) 58)"),
    ("access rank 7", "(/ (access-rank ?a) 7)"),
    ("access rank 4 of 6",
     "(if (and (= (rank ?a) 6) (= (access-rank ?a) 4)) 1 0)"),
    ("bf16 beyond 5000",
     "(if (and (= (dtype ?a) bf16) (> (elements ?a) 5000)) 1 0)"),
    ("u8 at rank 5", "(if (and (= (dtype ?a) u8) (= (rank ?a) 5)) 1 0)"),
    ("f64 at access rank 3",
     "(if (and (= (dtype ?a) f64) (= (access-rank ?a) 3) (= (rank ?a)"
     " 3)) 1 0)"),
    ("multiples of 30030", "(if (= (gcd (elements ?a) 30030) 30030) 1 0)"),
    ("sevens at rank 3",
     "(if (and (= (rank ?a) 3) (all-equal (shape ?a) 7)) 1 0)"),
    ("a last size of 4099",
     "(if (and (> (rank ?a) 0) (= (last (shape ?a)) 4099)) 1 0)"),
    ("sizes 3 then 1 then 5", "(if (= (shape ?a) (list 3 1 5)) 1 0)"),
    ("sizes 17 and 19", "(if (= (shape ?a) (list 17 19)) 1 0)"),
    ("sizes reversed alike beyond 2000",
     "(if (and (= (shape ?a) (reverse (shape ?a))) (> (elements ?a)"
     " 2000)) 1 0)"),
    ("two items of 11",
     "(if (and (>= (rank ?a) 2) (= (nth (shape ?a) 0) 11) (= (nth"
     " (shape ?a) 1) 11)) 1 0)"),
    ("bytes beyond 40000",
     "(/ (* (dtype-bytes (dtype ?a)) (elements ?a)) 40000)"),
    ("rounded up size", "(if (= (round-up (elements ?a) 1000) 7000) 1 0)"),
    ("quotients that differ", "(if (= (/ (elements ?a) 777) 5) 1 0)"),
    ("a parameter of 7", "(/ $quantum 7)"),
    ("a parameter of 19", "(if (= $quantum 19) 1 0)"),
    ("a negative parameter", "(if (< $quantum -3) 1 0)"),
    ("a parameter and a size", "(if (= (* $quantum 5) (elements ?a)) 1 0)"),
    ("a squared parameter", "(/ (* $quantum $quantum) 1000)"),
    ("a prime size", "(if (member (list 101 211 307 401) (elements ?a)) 1 0)"),
    ("a range of sizes",
     "(if (member (range 3000 4000 500) (elements ?a)) 1 0)"),
    ("minimum of two", "(min 1 (/ (max 0 (- (elements ?a) 6000)) 2))"),
    ("absolute distance", "(if (<= (abs (- (elements ?a) 9001)) 4) 1 0)"),
    ("ceilings", "(if (= (ceil-div (elements ?a) 512) 33) 1 0)"),
    ("items by lists", "(/ (sum (mul-lists (shape ?a) (shape ?a))) 5000)"),
]

# (name, left side, right side, condition): {Q} is the expression, {T} whether
# it is more than 0.
RULES = [
    ("slice-slice", "(slice (slice ?a ?d ?l ?h) ?d ?m ?n)",
     "(slice ?a ?d (+ ?l ?m {Q}) (+ ?l ?n {Q}))",
     ""),
    ("slice-back", "(slice ?a ?d ?l ?h)",
     "(slice ?a ?d (- ?l (min ?l {Q})) (- ?h (min ?l {Q})))",
     ""),
    ("pad-pad", "(pad (pad ?a ?k ?d ?l ?h) ?k ?d ?m ?n)",
     "(pad ?a ?k ?d (+ ?l ?m {Q}) (+ ?h ?n))",
     ""),
    ("transposes", "(transpose (transpose ?a ?p) ?q)",
     "(transpose ?a (if {T} ?p (compose ?p ?q)))",
     ""),
    ("accesses", "(access (access ?a ?k) ?j)",
     "(access ?a (if {T} ?k ?j))",
     ""),
    ("offset", "(compute (offset ?x) ?a)",
     "(compute (offset (+ ?x {Q})) ?a)",
     "(= (dtype ?a) i32)"),
    ("pad-kind", "(pad ?a ?k ?d ?l ?h)",
     "(pad ?a zero ?d ?l ?h)",
     "(or (= ?k zero) {T})"),
    ("sum-of-pad", "(compute reduceSum (pad ?a zero ?d ?l ?h))",
     "(compute reduceSum (pad ?a (if {T} edge zero) ?d ?l ?h))",
     ""),
    ("repeats", "(repeat (repeat ?a ?d ?f) ?d ?g)",
     "(repeat ?a ?d (+ (* ?f ?g) {Q}))",
     ""),
    ("clips", "(compute (clip ?x ?y) (compute (clip ?x ?y) ?a))",
     "(compute (clip ?x (+ ?y {Q})) ?a)",
     "(= (dtype ?a) f32)"),
    ("windows", "(windows ?a ?s ?t)",
     "(windows ?a ?s (add-lists ?t (fill (len ?t) {Q})))",
     ""),
    ("elementwise", "(compute ?op (transpose ?a ?p))",
     "(transpose (compute ?op ?a) (if {T} (invert ?p) ?p))",
     "(= (op-kind ?op) elementwise)"),
]
PARAMETER = '(param quantum 4 "a number that may be any")\n'
AT_A_TIME = 50


def rule(name, intent, left, right, where):
    clause = f"\n  :where {where}" if where else ""
    return f'(rule {name} "{intent}"\n  {left}\n  => {right}{clause})\n'


def filled(text, expression, test):
    return text.replace("{Q}", expression).replace("{T}", test)


def wrong(name, when, hidden, shape):
    _, left, right, where = shape
    test = f"(> {hidden} 0)"
    return rule(name, f"Wrong for {when}.", left, filled(right, hidden, test),
                filled(where, hidden, test))


def right(name, when, hidden, shape, way):
    """The expression less itself; or a condition beside a rule that is right
    with or without it."""
    _, left, side, where = shape
    intent = f"Right, whatever {when} says."
    if way == 0:
        nothing = f"(- {hidden} {hidden})"
        test = f"(> {nothing} 0)"
        return rule(name, intent, left, filled(side, nothing, test),
                    filled(where, nothing, test))
    also = f"(> {hidden} 0)"
    if way == 2 or "dtype ?a" in where:
        also = f"(not {also})"
    where = filled(where, "0", "(> 0 1)")
    return rule(name, intent, left, filled(side, "0", "(> 0 1)"),
                f"(and {where} {also})" if where else also)


def all_rules():
    """The wrong rules and the right ones."""
    bad, good = [], []
    for i, (when, hidden) in enumerate(HIDDEN):
        for k, shape in enumerate(RULES):
            name = f"{shape[0]}-{len(bad):03}"
            bad.append(wrong(name, when, hidden, shape))
            good.append(right(name, when, hidden, shape, (i + k) % 3))
    return bad, good


def asked(glen, rules, shapes):
    """The verdicts, each with the names of its rules."""
    verdicts = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "attack.rules")
        for k in range(0, len(rules), AT_A_TIME):
            with open(path, "w", encoding="utf-8") as f:
                f.write(PARAMETER + "".join(rules[k:k + AT_A_TIME]))
            done = subprocess.run(
                [glen, "rules", "prove", path, "--json", "--quiet",
                 "--shapes", str(shapes)], stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=3600)
            if done.returncode not in (0, 4):
                sys.exit(done.stderr)
            for answer in json.loads(done.stdout)["rules"]:
                verdicts[answer["verdict"]].append(answer["rule"])
    return verdicts


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("glen")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--shapes", type=int, default=60)
    args = parser.parse_args()
    failed = total = 0
    for kind, rules, never in zip(("wrong", "right"), all_rules(),
                                  ("proved", "refuted")):
        verdicts = asked(args.glen, rules[::args.every], args.shapes)
        total += sum(map(len, verdicts.values()))
        failed += len(verdicts[never])
        print(f"{kind}: " + ", ".join(
            f"{len(names)} {word}" for word, names in sorted(verdicts.items())))
        for name in verdicts[never]:
            print(f"FAIL {name} is {kind} and {never}")
    print(f"{total - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
