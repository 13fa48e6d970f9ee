# SPDX-License-Identifier: MIT
"""Families of wrong rules about what a rule does not name: axes beside those
that it names, items that a sum does not read, and numbers that no literal says.

Each family is a function that gives (name, left, right, clauses); its first
line says where the rules are wrong.  None may be proved.  `right_rules` are
their near misses: the fault is where nothing is, so none may be refuted."""

N = "(dim ?a ?d)"
BEFORE = "(prod (take (shape ?a) ?d))"
BEHIND = f"(/ (prod (drop (shape ?a) ?d)) {N})"
WHOLE = "(prod (shape ?a))"
S, C = "(prod (access-shape ?a))", "(prod (compute-shape ?a))"

# What holds somewhere, where ?l is at least 1.
FAULTS = {
    "around": f"(and (> {BEFORE} 1) (> {BEHIND} 1))",
    "both-sides": f"(and (> {S} {N}) (> {C} 1) (< ?d (access-rank ?a)))",
    "all-around": f"(and (> {BEFORE} 1) (> {BEHIND} {C}) (> {C} 1))",
    "sum-of-products": f"(< (+ {BEFORE} {BEHIND}) (* {BEFORE} {BEHIND}))",
    "not-their-sum": f"(= (* {BEFORE} {BEHIND}) (+ {BEFORE} {BEHIND} 3))",
    "square": f"(= (* {N} {N}) {WHOLE})",
    "cube": f"(= (* {N} {N} {N}) (* 4 {WHOLE}))",
    "last-is-first": f"(and (> ?d 0) (= (dim ?a 0) (last (shape ?a))))",
    "odd": "(= (mod (+ ?l ?h) 2) 1)",
    "both-odd": "(and (= (mod ?l 2) 1) (= (mod ?h 2) 1))",
    "residues": f"(and (= (mod ?l 3) 2) (= (mod ?l 5) 4) (= (mod {N} 7) 6))",
    "below-zero": "(= (/ (- ?l ?h) 2) (- 0 (ceil-div (- ?h ?l) 2)))",
    "toward-zero": "(!= (/ (- 0 ?l) 2) (- 0 (/ ?l 2)))",
    "mod-below-zero": "(> (mod (- 0 ?l) 5) 3)",
    "ceil-of-ceil": f"(!= (ceil-div (ceil-div {N} 2) 3) (/ {N} 6))",
    "div-of-mul": f"(!= (/ (* 3 {N}) 2) (* 3 (/ {N} 2)))",
    "halves-of-sum": "(!= (/ (+ ?l ?h) 2) (+ (/ ?l 2) (/ ?h 2)))",
    "by-a-size": f"(= (/ ?h ?l) (/ {N} ?l))",
    "mod-a-size": f"(= (mod {N} ?l) (- ?l 1))",
    "up-beyond": f"(> (round-up {N} ?l) {N})",
    "down-below": f"(< (round-down {N} ?l) {N})",
    "gcd": f"(> (gcd ?l {N}) 1)",
    "divides": f"(and (divides ?l {N}) (not (divides ?h {N})))",
    "no-divisor": f"(not (divides ?l {N}))",
    "greatest": "(= (max (* 2 ?l) ?h) ?h)",
    "least": f"(= (min (* ?l ?l) {N}) {N})",
    "far": "(= (abs (- ?l (* 2 (- ?h ?l)))) 7)",
    "square-between": f"(and (<= (* ?l ?l) ?h) (<= ?h (* 2 ?l ?l)))",
    "pell": "(= (* ?h ?h) (+ (* 2 ?l ?l) 1))",
    "pythagoras": f"(= (+ (* ?l ?l) (* ?h ?h)) (* {N} {N}))",
    "markov": f"(= (+ (* ?l ?l) (* ?h ?h) (* {N} {N})) (* 3 ?l ?h {N}))",
    "cubic": f"(= (* ?h ?h) (+ (* ?l ?l ?l) 1))",
    "powers": f"(and (divides ?l 1024) (divides ?h 243) (> ?l 1))",
    "chain": f"(< ?l (- ?h ?l) (- {N} ?h))",
    "chain-of-four": f"(< ?l (/ ?h 2) (/ {N} 3) (* 2 ?l))",
    "none-left": f"(and (= ?h {N}) (= (* 2 ?l) ?h))",
    "if-in-if": f"(if (> ?l 3) (if (< ?h 9) (= {N} 8) (= ?l 5)) (= ?h 11))",
    "or-of-ands": f"(or (and (= ?l 3) (= ?h 7)) (and (= ?l 17) (= {N} 19)))",
    "not-or": "(not (or (< ?l 2) (> ?h 5)))",
    "not-and": f"(not (and (< ?l 3) (< {N} 6)))",
    "member-of-range": "(member (range 2 ?h 3) ?l)",
    "member-of-list": "(member (list 5 11 23) ?l)",
    "item": f"(= (nth (list ?h ?l {N}) 1) (- ?h 4))",
    "index-of": f"(= (index-of (list 1 2 3 4 5) ?l) 3)",
    "prod-of-list": f"(= (prod (list ?l ?l ?h)) 12)",
    "sum-of-list": f"(= (sum (list ?l ?h {N})) 21)",
    "equal-items": f"(all-equal (list ?l (- ?h ?l) (- {N} ?h)))",
    "set-item": f"(= (set-nth (list ?l ?h) 0 4) (list ?l (+ ?l 3)))",
    "reversed-list": f"(= (reverse (list ?l ?h)) (list {N} (/ {N} 2)))",
    "joined": f"(= (append (list ?l) (list ?h)) (list 2 {N}))",
    "cut-list": f"(= (take (list ?l ?h {N}) 2) (drop (list 1 3 4) 1))",
    "by-items": f"(= (mul-lists (list ?l ?h) (list ?h ?l)) (list 6 6))",
    "divided-items": f"(= (div-lists (list ?h {N}) (list ?l ?l)) (list 3 4))",
    "mod-items": f"(= (mod-lists (list ?l ?h) (list 4 4)) (list 3 1))",
    "halving": f"(= (halvings {N} ?l) (list ?l))",
    "cut": f"(= (cuts {N} ?l) (list (* 2 ?l)))",
    "filled": "(= (fill 2 ?l) (list 3 (- ?h 2)))",
    "permuted": f"(= (permute (list ?l ?h) (list 1 0)) (list {N} 2))",
    "two-of-three": f"(and (or (= ?l 2) (= ?h 3)) (or (= ?h 3) (= {N} 4))"
                    f" (or (= {N} 4) (= ?l 2)))",
    "middle": f"(= (- {N} ?h) ?l)",
    "twice-the-whole": f"(= {WHOLE} (* 2 {N}))",
    "elements": f"(and (> (elements ?a) {N}) (< (elements ?a) (* 2 {N})))"
                .replace("<", "<="),
    "rank-three": "(and (> (rank ?a) 2) (= ?d 1))",
    "last-axis": "(and (= (+ ?d 1) (rank ?a)) (> (access-rank ?a) 2))",
    "split-here": "(and (= ?d (access-rank ?a)) (> ?d 1))",
    "far-axis": "(and (> ?d 3) (< ?d (- (rank ?a) 2)))",
    "list-of-ones": f"(and (> (rank ?a) 2) (all-ones (drop (shape ?a) 1)))",
    "same-sizes": "(and (> (rank ?a) 1) (all-equal (shape ?a)))",
    "S-is-C": "(and (> (rank ?a) 1) (= (access-shape ?a) (compute-shape ?a)))",
    "backwards": "(and (> (rank ?a) 1) (= (shape ?a) (reverse (shape ?a))))",
    "real": "(> (* 0.5 ?l) 3)",
    "root": "(= (sqrt ?l) 3)",
    "huge": "(> (* ?l ?h) 1000000000000)",
    "huge-alone": "(= ?l 123456789)",
}

# What holds nowhere.
NEVER = {
    "empty": "(>= ?l ?h)", "beyond": f"(> ?h {N})", "no-size": f"(< {N} 1)",
    "no-product": f"(< (* {BEFORE} {BEHIND}) 1)", "below": "(< ?l 0)",
    "half": "(and (= (mod ?l 2) 0) (!= (* 2 (/ ?l 2)) ?l))",
    "remainder": "(>= (mod ?h 3) 3)", "no-remainder": "(< (mod (- 0 ?h) 4) 0)",
    "up": f"(< (round-up {N} 4) {N})", "down": f"(> (round-down {N} 4) {N})",
    "ceil": f"(< (ceil-div {N} 3) (/ {N} 3))",
    "nested": f"(!= (/ (/ {N} 2) 3) (/ {N} 6))",
    "contrary": "(and (> ?l 4) (< ?l 3))", "odd-twice": "(= (mod (* 2 ?l) 2) 1)",
    "square": "(< (* ?l ?l) ?l)", "order": f"(> (+ ?l 1) {N})",
    "product": f"(!= {WHOLE} (* {BEFORE} {N} {BEHIND}))",
    "sides": f"(!= (* {S} {C}) (elements ?a))", "axis": "(>= ?d (rank ?a))",
    "axis-below": "(< ?d 0)", "split": "(> (access-rank ?a) (rank ?a))",
    "parts": "(!= (+ (access-rank ?a) (compute-rank ?a)) (rank ?a))",
    "joined": "(!= (append (access-shape ?a) (compute-shape ?a)) (shape ?a))",
    "twice": "(!= (reverse (reverse (shape ?a))) (shape ?a))",
    "greatest": "(> ?l (max ?l ?h))", "least": "(< ?l (min ?l ?h))",
    "far": "(< (abs (- ?l ?h)) 1)", "member": "(member (list 1 2) (+ ?h 2))",
    "index": "(= (index-of (list 1 2 3) ?l) 3)", "gcd": "(> (gcd ?l ?h) ?h)",
}

CARRIERS = {
    "slice-if": ("(slice ?a ?d ?l ?h)", "(slice ?a ?d (- ?l ?x) (- ?h ?x))",
                 "(= ?x (if {0} ?l 0))"),
    "slice-or": ("(slice ?a ?d ?l ?h)", "(slice ?a ?d (- ?l ?x) (- ?h ?x))",
                 "(= ?x ?l) (or (= ?l 0) {0})"),
    "reversed": ("(reverse (slice ?a ?d ?l ?h) ?d)",
                 "(slice (reverse ?a ?d) ?d ?y (+ ?y (- ?h ?l)))",
                 "(= ?y (if {0} 0 (- (dim ?a ?d) ?h))) (or (= ?h (dim ?a ?d))"
                 " (> ?h 0))"),
    "doubled": ("(concat (slice ?a ?d ?l ?h) (slice ?a ?d ?l ?h) ?d)",
                "(concat (slice ?a ?d ?l ?h) (slice ?a ?d (- ?l ?x) (- ?h ?x))"
                " ?d)", "(= ?x (if {0} ?l 0))"),
    "materialized": ("(materialize (slice ?a ?d ?l ?h))",
                     "(slice (materialize ?a) ?d (- ?l ?x) (- ?h ?x))",
                     "(= ?x (if {0} ?l 0))"),
}


def carried(faults, carriers):
    for name, fault in faults.items():
        for kind in carriers:
            left, right, clause = CARRIERS[kind]
            yield (f"beside-{name}-{kind}", left, right,
                   f":where (and {clause.format(fault)})")


def hidden():
    """Where a fault that sizes, lists and axes say in turn is."""
    # at the end of the axis the reversed slice is where it should be
    apart = {k: v for k, v in FAULTS.items() if k not in ("none-left",
             "reversed-list", "joined", "permuted")}
    yield from carried(FAULTS, ("slice-if", "slice-or", "doubled",
                                "materialized"))
    yield from carried(apart, ("reversed",))


def axes():
    """Where there is an axis beside those that are named."""
    names = "degjkm"
    for n in range(1, 7):
        some = [f"?{x}" for x in names[:n]]
        order = f"(< {' '.join(some)})" if n > 1 else "(= 1 1)"
        cut = "?a"
        for x in some:
            cut = f"(slice {cut} {x} 0 1)"
        yield (f"axes-{n}", f"(flatten {cut})", "(slice (flatten ?a) 0 0 1)",
               f":where (and (= (compute-rank ?a) 0) {order})")
        yield (f"axes-C-{n}", f"(flatten {cut})", "(slice (flatten ?a) 0 0 1)",
               f":where (and (= (access-rank ?a) 0) {order})")
        parts, before = [], None
        for x in some:
            taken = f"(prod (take (shape ?a) {x}))"
            parts.append(taken if before is None else
                         f"(/ {taken} (* {before} 1))")
            before = f"(* {taken} (dim ?a {x}))"
        parts.append(f"(/ (prod (shape ?a)) {before})")
        if len(parts) < 4:
            less = " ".join(f"(- {p} 1)" for p in parts)
            whole = " ".join(parts)
            yield (f"segments-{n}", f"(flatten {cut})",
                   f"(slice (flatten {cut}) 0 0 ?z)",
                   f":where (and (= (compute-rank ?a) 0) {order}"
                   f" (= ?z (- (* {whole}) (* {less}))))")


def unread():
    """Where what a sum does not read, or reads no time, has no value."""
    def total(x):
        return f"(compute reduceSum (access {x} 0))"

    def two(op, x, y):
        return f"(compute {op} (pair {x} {y}))"
    for op in ("log", "recip", "rsqrt", "sqrt"):
        for d in ("f32", "f64"):
            v, w = f"(compute {op} ?a)", f"(compute {op} ?b)"
            low, part = f"(slice {v} 0 0 ?l)", f"(slice {v} 0 ?l ?h)"
            one = f"(= (rank ?a) 1) (= (dtype ?a) {d})"
            tag = f"{op}-{d}"
            yield (f"unread-difference-{tag}", two("sub", total(
                f"(slice {v} 0 0 ?h)"), total(low)), total(part),
                f":where (and {one} (> ?h ?l))")
            yield (f"unread-zero-{tag}", total(part), two("add", total(part),
                   two("sub", total(low), total(low))),
                   f":where (and {one} (> ?l 0))")
            yield (f"unread-dead-{tag}", total(part), two("add", total(part),
                   f"(compute (scale 0) {total(low)})"),
                   f":where (and {one} (> ?l 0))")
            yield (f"no-items-{tag}", total(
                f"(slice (pad (pad {v} edge 0 ?n 0) zero 0 1 0) 0 0 ?h)"),
                f"(compute (scale ?n) {total(f'(slice {v} 0 0 1)')})",
                f":where (and {one} (= ?h (+ ?n 1)))")
            yield (f"no-items-behind-{tag}", total(
                f"(slice (pad (pad {v} edge 0 0 ?n) zero 0 0 1) 0 ?m ?h)"),
                f"(compute (scale ?n) {total(f'(slice {v} 0 ?k ?m)')})",
                f":where (and {one} (= ?m (dim ?a 0)) (= ?k (- ?m 1))"
                " (= ?h (+ ?m ?n 1)))")
            yield (f"cancels-{tag}", two("sub", total(f"(concat {v} ?b 0)"),
                   total(v)), total("?b"),
                   f":where (and {one} (= (rank ?b) 1))")
            e = f"(compute exp {v})"
            yield (f"softmax-quotient-{tag}",
                   f"(access (compute softmax (access {v} 0)) 1)",
                   two("div", e, f"(broadcast (insertAxis {total(e)} 0)"
                       " (list ?n))"),
                   f":where (and {one} (= (access-rank ?a) 1)"
                   " (= ?n (dim ?a 0)))")
            both = two("add", total("(compute exp ?b)"), total(e))
            yield (f"softmax-part-{tag}",
                   "(slice (access (compute softmax (access (concat ?b"
                   f" {v} 0) 0)) 1) 0 0 ?n)",
                   two("div", "(compute exp ?b)",
                       f"(broadcast (insertAxis {both} 0) (list ?n))"),
                   f":where (and {one} (= (access-rank ?b) 1) (= (access-rank"
                   " ?a) 1) (= (rank ?b) 1) (= ?n (dim ?b 0)))")


def rules():
    for family in (hidden, axes, unread):
        for name, left, right, clauses in family():
            yield (family.__name__, name, left, right, clauses)


def right_rules():
    for name, left, right, clauses in carried(NEVER, CARRIERS):
        yield ("never", "never-" + name, left, right, clauses)
