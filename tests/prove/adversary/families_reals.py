# SPDX-License-Identifier: MIT
"""Families of wrong rules about numbers that a run computes with in f64, though
they are whole: their quotients are not rounded down, what is large is rounded,
and a rank may be told by one that lies beside it.

Each family is a function that gives (name, left, right, clauses); its first
line says where the rules are wrong.  None may be proved.  `right_rules` are
their near misses, none of which may be refuted."""

CUT = "(slice ?a ?d ?l ?h)"
# (what is cut, its name for the number ?x, and what says that it is a size)
WHOLE = {
    "product": (CUT, "(= ?x (* (* 2 0.5) ?l))", ""),
    "sum": (CUT, "(= ?x (+ (- 0.5 0.5) ?l))", ""),
    "difference": (CUT, "(= ?x (- ?l (- 1.5 1.5)))", ""),
    "quotient": (CUT, "(= ?x (* ?l (/ 3 3.0)))", ""),
    "greatest": (CUT, "(= ?x (max ?l (- 0.5 0.5)))", ""),
    "choice": (CUT, "(= ?x (if (>= ?l 0) (* (* 2 0.5) ?l) 0.5))", ""),
    "named": (CUT, "(= ?y (* (* 4 0.25) ?l)) (= ?x (+ ?y 0))", ""),
    "table": ("(slice (compute (lookup ?x) ?a) ?d ?l ?h)", "(= ?l ?x)", ""),
    "literal": ("(slice (compute (scale ?v) ?a) ?d ?l ?h)",
                "(= ?x (- (+ ?v ?l) ?v))", "(= (dtype ?a) i32) "),
}
# ?k is 0 as long as quotients of ?x are those of the integer ?l.
DIVIDED = {
    "half": "(= ?m (/ ?l 2)) (= ?k (if (= (/ ?x 2) ?m) 0 1))",
    "differs": "(= ?m (/ ?l 3)) (= ?k (if (!= (/ ?x 3) ?m) 1 0))",
    "at-most": "(= ?m (/ ?l 5)) (= ?k (if (<= (/ ?x 5) ?m) 0 1))",
    "remainder": "(= ?k (if (<= (* 2 (/ ?x 2)) (- ?l (mod ?l 2))) 0 1))",
    "of-sum": "(= ?k (if (= (/ (+ ?x 1) 2) (/ (+ ?l 1) 2)) 0 1))",
    "by-it": "(> ?l 0) (= ?k (if (= (/ ?h ?x) (/ ?h ?l)) 0 1))",
    "far": "(= ?m (/ ?l 2)) (= ?k (if (and (> ?l 1000003) (!= (/ ?x 2) ?m))"
           " 1 0))",
    "never": "(= ?m (/ ?l 2)) (> (/ ?x 2) ?m) (= ?k 1)",
}
# ?k is 0 as long as f64 holds what is computed of ?x.
LARGE = {
    "square": "(= ?k (if (= (+ (* ?x ?x) 1) (* ?x ?x)) 1 0))",
    "cube": "(= ?k (if (= (- (+ (* ?x ?x ?l) ?l) ?l) (* ?x ?x ?l)) 0 1))",
    "order": "(= ?k (if (< (* ?x ?x) (+ (* ?x ?x) 1)) 0 1))",
    "beside": "(= ?k (if (= (+ ?x (* ?h ?h) (- 0 (* ?h ?h))) ?x) 0 1))",
}
# Numbers without a bound beside the literal ?x of an integer dtype.
BESIDE = {
    "stride": ("(windows {0} (shape ?w) (stride ?s))", ""),
    "dilation": ("(windows {0} (shape ?w) (stride 1) (dilation ?s))", ""),
    "quotient": ("{0}", "(= ?s (/ (* ?h ?h ?h) 7)) "),
    "distance": ("{0}", "(= ?s (abs (* -1152921504606846976 ?l))) "),
    "divisor": ("{0}", "(= ?s (gcd (* 1152921504606846977 ?l) 0)) "),
    "product": ("{0}", "(= ?s (* 1152921504606846977 ?l)) "),
}


# At a rank of 11 or more, or an axis, alone.
PLACES = {
    "equal": "(= (+ (rank ?a) 0.5) 13.5)", "above": "(> (rank ?a) 10.5)",
    "whole": "(> (rank ?a) 10.0)", "split": "(> (access-rank ?a) 10.25)",
    "behind": "(> (compute-rank ?a) 10.25)", "axis": "(> ?d 9.5)",
    "member": "(member (list 11.5 12.5) (+ ?d 0.5))",
    "greatest": "(> (max (rank ?a) 12.5) 12.75)",
    "least": "(= (min (rank ?a) 11.5) 11.5)",
    "difference": "(> (- (rank ?a) 10.5) 0)",
    "distance": "(= (abs (- (rank ?a) 11.5)) 0.5)",
    "root": "(> (rank ?a) (sqrt 115))",
    "length": "(> (len (shape ?a)) 10.5)",
    "between": "(< 10.5 (rank ?a) 11.5)",
    "last-axis": "(> (last (axes ?a)) 9.75)",
    "item": "(> (nth (axes ?a) (- (rank ?a) 1)) 9.75)",
    "beside": "(> (+ (rank ?a) 4503599627370486.5) 4503599627370496.75)",
    "sum": "(> (+ ?d (access-rank ?a) 0.5) 17.75)",
    "in-a-list": "(= (list (rank ?a) 0.5) (list 11.0 0.5))",
}


def moved(left):
    return left.replace("?l ?h", "(- ?l ?k) (- ?h ?k)")


def divided():
    """Where a quotient leaves something: a real one is not rounded down."""
    for name, (left, defines, extra) in WHOLE.items():
        for how, clause in DIVIDED.items():
            yield (f"reals-{name}-{how}", left, moved(left),
                   f":where (and {extra}{defines} {clause})")


def large():
    """At sizes whose squares f64 does not hold."""
    for name, (left, defines, extra) in WHOLE.items():
        for how, clause in LARGE.items():
            yield (f"reals-{name}-{how}", left, moved(left),
                   f":where (and {extra}{defines} {clause})")


def beside():
    """Where a number is so large that f64 has none beside it."""
    for name, (around, defines) in BESIDE.items():
        left = ("(slice " + around.format("(compute (offset ?x) ?a)") +
                " ?d ?l ?h)")
        right = left.replace("?l ?h", "?k (+ ?k (- ?h ?l))")
        for how, test in (("back", "(= (- (+ ?x ?s) ?s) ?x)"),
                          ("above", "(> (+ ?x ?s 1) (+ ?x ?s))"),
                          ("forth", "(= (+ (- ?x ?s) ?s) ?x)")):
            yield (f"reals-beside-{name}-{how}", left, right,
                   f":where (and (= (dtype ?a) i32) {defines}(= ?k (if {test}"
                   " ?l 0)))")


def places():
    """At ranks and axes that a number between two of them tells."""
    for name, test in PLACES.items():
        for how, clause in (("at-once", f"(= ?k (if {test} 1 0))"),
                            ("said", f"{test} (= ?k 1)")):
            yield (f"reals-place-{name}-{how}", CUT, moved(CUT),
                   f":where (and (> ?l 0) {clause})")


def rules():
    for family in (divided, large, beside, places):
        for name, left, right, clauses in family():
            yield (family.__name__, name, left, right, clauses)


def right_rules():
    for name, (left, defines, extra) in WHOLE.items():
        for how, clause in (
                ("same", "(= ?k (if (= ?x ?l) 0 1))"),
                ("half", "(= ?k (if (= (* 2 (/ ?x 2)) ?l) 0 1))"),
                ("order", "(= ?k (if (< ?x (+ ?l 0.5)) 0 1))"),
                ("even", "(= (mod ?l 2) 0) (= ?k (if (= (/ ?x 2) (/ ?l 2)) 0"
                         " 1))")):
            yield ("whole", f"reals-right-{name}-{how}", left, moved(left),
                   f":where (and {extra}{defines} {clause})")
