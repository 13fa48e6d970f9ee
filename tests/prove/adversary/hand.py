# SPDX-License-Identifier: MIT
"""Rules by hand: (name, condition, left, right) that are wrong, and right ones.

Each wrong one says in a word where; none may be proved."""

# Chains of definitions: a number that no literal of the rule shows.
EIGHT = "(= ?t (+ 1 1)) (= ?f (+ ?t ?t)) (= ?e (+ ?f ?f))"
LONG = "(= ?l (list 0 0)) (= ?m (append ?l ?l))"
SLICE = ("(slice ?a ?d ?lo ?hi)", "(slice ?a ?d (- ?lo ?x) (- ?hi ?x))")
TURNED = " ".join(
    f"(= ?p{k} (append (drop ?{f'p{k - 1}' if k > 1 else 'p'} ?i) "
    f"(take ?{f'p{k - 1}' if k > 1 else 'p'} ?i)))" for k in range(1, 13))


def hidden_rank(define, rank):
    return ("(and (> ?lo 0) " + define +
            f" (= ?x (if (= (rank ?a) {rank}) 1 0)))", *SLICE)


def dead(partial):
    """0 times what has no value for some operands."""
    return ("(and)", f"(compute (scale 0) {partial})", "(compute (scale 0) ?a)")


WRONG = {
    "rank-11": hidden_rank(EIGHT + " (= ?g (+ ?e ?t 1))", "?g"),
    "rank-13": hidden_rank(EIGHT + " (= ?g (+ ?e ?f 1))", "?g"),
    "rank-14": hidden_rank(EIGHT + " (= ?g (+ ?e ?f ?t))", "?g"),
    "rank-18": hidden_rank(EIGHT + " (= ?g (+ ?e ?e ?t))", "?g"),
    "rank-11-by-lists": hidden_rank(
        LONG + " (= ?n (append ?m ?m ?l (list 0)))", "(len ?n)"),
    "rank-13-by-lists": hidden_rank(
        LONG + " (= ?n (append ?m ?m ?m (list 0)))", "(len ?n)"),
    "rank-15-by-lists": hidden_rank(
        LONG + " (= ?n (append ?m ?m ?m ?l (list 0)))", "(len ?n)"),
    "turned-twelve-times": ("(and (= ?i 1) " + TURNED + ")",
                            "(transpose ?a ?p)", "(transpose ?a ?p12)"),
    "no-value-on-padding": (
        "(= (dtype ?a) f32)",
        "(compute div (pair (compute exp (pad ?a min ?d ?l ?h))"
        " (compute exp (pad ?a min ?d ?l ?h))))",
        "(compute (offset 1) (compute (scale 0) (pad ?a zero ?d ?l ?h)))"),
    "literal-lost-in-1": ("(= (+ ?x 1) 1)", "(compute (scale ?x) ?a)",
                          "(compute (scale 0) ?a)"),
    "literal-swallows-1": ("(and (= (dtype ?a) f64) (or (= ?x 3) (= (+ ?x 1)"
                           " ?x)))", "(compute (scale ?x) ?a)",
                           "(compute (scale 3) ?a)"),
    "literal-below-itself": ("(and (= (dtype ?a) f64) (or (= ?x 3) (<= (+ ?x 1)"
                             " ?x)))", "(compute (scale ?x) ?a)",
                             "(compute (scale 3) ?a)"),
    "literal-if-swallowed": (
        "(= (dtype ?a) f64)", "(compute (scale ?x) ?a)",
        "(compute (scale (if (= (+ ?x 1) ?x) 3 ?x)) ?a)"),
    "literal-added-and-taken": (
        "(= (dtype ?a) f64)", "(compute (scale ?y) (compute (offset ?x) ?a))",
        "(compute (scale (- (+ ?y ?x) ?x)) (compute (offset ?x) ?a))"),
    "literal-sum-tested": (
        "(and (= (dtype ?a) f64) (= ?z (+ ?x ?y)))",
        "(compute (scale ?z) (compute (offset ?x) (compute (scale ?y) ?a)))",
        "(compute (scale (+ ?x ?y)) (compute (offset (- ?z ?y))"
        " (compute (scale (- ?z ?x)) ?a)))"),
    "literal-three-added": (
        "(= (dtype ?a) f64)", "(compute (scale ?y) (compute (offset ?x) ?a))",
        "(compute (scale (+ ?x ?y (- ?x))) (compute (offset ?x) ?a))"),
    "literal-product-vanishes": (
        "(= (* ?x ?y) 0)", "(compute (scale ?x) (compute (offset 1) (compute"
        " (scale ?y) ?a)))", "(compute (scale 0) ?a)"),
    "rounded-129-times": (
        "(= (dtype ?a) bf16)", "(compute sub (pair (compute (scale 129) ?a)"
        " (compute (scale 128) ?a)))", "(compute (offset 0) ?a)"),
    "rounded-quarter": (
        "(= (dtype ?a) bf16)",
        "(compute sub (pair (compute (scale 1.25) ?a) ?a))",
        "(compute (scale 0.25) ?a)"),
    "rounded-parts": (
        "(= (dtype ?a) bf16)", "(compute add (pair (compute (scale 0.375) ?a)"
        " (compute (scale 7.5) ?a)))", "(compute (scale 7.875) ?a)"),
    "dead-root": dead("(compute sqrt ?a)"),
    "dead-quotient": dead("(compute div (pair ?a (compute (offset 7777.25)"
                          " ?a)))"),
    "dead-reciprocal": dead("(compute recip (compute (offset -7777.25)"
                            " (compute abs ?a)))"),
    "dead-logarithm": dead("(compute log (compute (offset 70000)"
                           " (compute neg (compute abs ?a))))"),
    "dead-below-tanh": dead("(compute recip (compute (offset -0.5)"
                            " (compute tanh ?a)))"),
    "dead-sum": ("(and)", "(compute (scale 0) (compute log (compute (offset 100)"
                 " (compute reduceSum (compute tanh ?a)))))",
                 "(compute (scale 0) (compute reduceSum ?a))"),
    "cancelled-logarithm": (
        "(and)", "(compute sub (pair (compute log (compute (offset 123456789)"
        " ?a)) (compute log (compute (offset 123456789) ?a))))",
        "(compute (scale 0) ?a)"),
    "cancelled-power": (
        "(and)", "(compute mul (pair (compute exp (compute log (compute (offset"
        " 54321) ?a))) (compute exp (compute neg (compute log (compute (offset"
        " 54321) ?a))))))", "(compute (offset 1) (compute (scale 0) ?a))"),
    "absorbed-root": (
        "(and)", "(compute min (pair (compute max (pair ?a (compute sqrt"
        " (compute (offset 33333) ?a)))) ?a))", "(compute (scale 1) ?a)"),
}

RIGHT = {
    "product-of-literals": (
        "(!= (dtype ?a) bf16)", "(compute (scale ?x) (compute (scale ?y) ?a))",
        "(compute (scale ?y) (compute (scale ?x) ?a))"),
    "sum-of-literals": (
        "(and (= ?z (+ ?x ?y)) (= (dtype ?a) f64) (<= (abs ?z) 1e37))",
        "(compute (offset ?x) (compute (offset ?y) ?a))",
        "(compute (offset ?z) ?a)"),
    "logarithms-of-parts": (
        "(>= ?d (access-rank ?a))",
        "(compute reduceSum (compute log (concat ?a ?b ?d)))",
        "(compute add (pair (compute reduceSum (compute log ?a))"
        " (compute reduceSum (compute log ?b))))"),
    "doubled-in-bf16": ("(= (dtype ?a) bf16)", "(compute add (pair ?a ?a))",
                        "(compute (scale 2) ?a)"),
}
