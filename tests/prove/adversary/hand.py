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


def table(right, condition="(= ?n (dim ?t ?d))"):
    """A table ?t of ?n items and indices ?i into it."""
    return (f"(and (= ?d (access-rank ?t)) {condition})",
            "(compute (lookup ?n) (concat ?t ?i ?d))", right)


# Wrong at indices beyond the table, between two items, or below the first; for
# tables that are not of one length; where an item has no value; at one size.
WRONG_TABLES = {
    "table-twice": table(
        "(compute (lookup (* 2 ?n)) (concat (concat ?t ?t ?d) ?i ?d))"),
    "table-without-last": table(
        "(compute (lookup (- ?n 1)) (concat (slice ?t ?d 0 (- (dim ?t ?d) 1))"
        " ?i ?d))", "(= ?n (dim ?t ?d)) (> ?n 1)"),
    "table-begins-later": table(
        "(compute (lookup ?n) (concat ?t (compute (offset -1) ?i) ?d))"),
    "table-turned": table(
        "(compute (lookup ?n) (concat (concat (slice ?t ?d 1 (dim ?t ?d))"
        " (slice ?t ?d 0 1) ?d) ?i ?d))", "(= ?n (dim ?t ?d)) (> ?n 1)"),
    "table-padded-before": table(
        "(compute (lookup (+ ?n 1)) (concat (pad ?t edge ?d 1 0) ?i ?d))"),
    "table-padded-with-zeros": table(
        "(compute (lookup (+ ?n 1)) (concat (pad ?t zero ?d 0 1) ?i ?d))"),
    "table-of-others": table(
        "(compute (lookup ?n) (concat ?i ?t ?d))",
        "(= ?n (dim ?t ?d)) (= ?n (dim ?i ?d))"),
    "table-longer-than-its-part": (
        "(and (= ?d (access-rank ?t)) (= ?e ?d) (= ?n (+ (dim ?t ?d) (dim ?u"
        " ?d))))", "(compute (lookup ?n) (concat (concat ?t ?u ?e) ?i ?d))",
        "(compute (lookup (dim ?t ?d)) (concat ?t ?i ?d))"),
    "table-index-magnitude": table(
        "(compute (lookup ?n) (concat ?t (compute abs ?i) ?d))"),
    "table-index-rounded-up": table(
        "(compute (lookup ?n) (concat ?t (compute (offset 0.5) ?i) ?d))",
        "(= ?n (dim ?t ?d)) (= (dtype ?t) f32)"),
    "table-index-held-too-low": table(
        "(compute (lookup ?n) (concat ?t (compute (clip 0 (- ?n 2)) ?i) ?d))",
        "(= ?n (dim ?t ?d)) (> ?n 1)"),
    "table-index-narrowed": table(
        "(compute (lookup ?n) (concat ?t (compute (cast i32) (compute (cast u8)"
        " ?i)) ?d))", "(= ?n (dim ?t ?d)) (= (dtype ?t) i32)"),
    "table-magnitudes": (
        "(and)", "(compute abs (compute (lookup ?n) ?a))",
        "(compute (lookup ?n) (compute abs ?a))"),
    "table-scaled": ("(and)", "(compute (scale ?n) (compute (lookup ?n) ?a))",
                     "(compute (lookup ?n) (compute (scale ?n) ?a))"),
    "table-offset": ("(and)", "(compute (offset ?n) (compute (lookup ?n) ?a))",
                     "(compute (lookup ?n) (compute (offset ?n) ?a))"),
    "table-sum": (
        "(and)", "(compute add (pair (compute (lookup ?n) ?a) (compute (lookup"
        " ?n) ?b)))", "(compute (lookup ?n) (compute add (pair ?a ?b)))"),
    "tables-that-differ": (
        "(and)", "(compute sub (pair (compute (lookup ?n) ?a) (compute (lookup"
        " ?n) ?b)))", "(compute (scale 0) (compute (lookup ?n) ?a))"),
    "tables-of-other-lengths": (
        "(= ?d (access-rank ?a))",
        "(compute sub (pair (compute (lookup ?n) (slice ?a ?d ?l ?h)) (compute"
        " (lookup ?m) (slice ?a ?d ?l ?i))))",
        "(compute (scale 0) (compute (lookup ?n) (slice ?a ?d ?l ?h)))"),
    "table-without-value": (
        "(and)", "(compute sub (pair (compute (lookup ?n) (compute log (compute"
        " (offset 54321) ?a))) (compute (lookup ?n) (compute log (compute"
        " (offset 54321) ?a)))))", "(compute (scale 0) (compute (lookup ?n)"
        " ?a))"),
    "table-dead": ("(and)", "(compute (scale 0) (compute (lookup ?n) (compute"
                   " recip (compute (offset 7777.25) ?a))))",
                   "(compute (scale 0) (compute (lookup ?n) ?a))"),
    "table-dead-beside": (
        "(and)", "(compute add (pair (compute (lookup ?n) ?b) (compute (scale"
        " 0) (compute (lookup ?n) (compute sqrt (compute (offset 33333)"
        " ?a))))))", "(compute (lookup ?n) ?b)"),
    "table-shifted-at-one-size": (
        "(and (> ?lo 0) (= ?x (if (= (elements ?a) 12347) 1 0)))",
        "(compute (lookup 3) (slice ?a ?d ?lo ?hi))",
        "(compute (lookup 3) (slice ?a ?d (- ?lo ?x) (- ?hi ?x)))"),
    "table-of-one-item-at-one-number": (
        "(= ?m (if (= ?n 4099) 4098 ?n))", "(compute (lookup ?n) ?a)",
        "(compute (offset (- ?n ?m)) (compute (lookup ?n) ?a))"),
    "table-items-repeated": (
        "(= ?d (access-rank ?a))",
        "(repeat (compute (lookup ?n) ?a) ?d ?f)",
        "(compute (lookup (* ?f ?n)) (repeat ?a ?d ?f))"),
    "table-read-from-a-part": (
        "(= ?d (access-rank ?a))",
        "(slice (compute (lookup 3) ?a) ?d ?lo ?hi)",
        "(compute (lookup 3) (slice ?a ?d ?lo (+ 3 ?hi)))"),
    "table-of-one-is-its-index": (
        "(= ?d (access-rank ?a))", "(compute (lookup 1) ?a)",
        "(slice ?a ?d 1 (dim ?a ?d))"),
    "table-gathered-from-a-part": table(
        "(compute gather (pair (slice ?t ?d 0 (dim ?i ?d)) ?i))",
        "(= ?n (dim ?t ?d)) (< (dim ?i ?d) ?n)"),
    "table-by-any-operator": (
        "(and (= (op-kind ?op) lookup) (= ?b ?d))",
        "(compute ?op (concat (concat ?t ?i ?d) ?j ?b))",
        "(concat (compute ?op (concat ?t ?j ?d)) (compute ?op (concat ?t ?i ?d))"
        " ?d)"),
    "table-of-any-dtype": (
        "(= ?t (dtype ?a))", "(compute (cast u8) (compute (lookup ?n) ?a))",
        "(compute (lookup ?n) (compute (cast u8) ?a))"),
}

RIGHT_TABLES = {
    "table-named-by-its-length": (
        "(and (= ?d (access-rank ?t)) (= ?m (dim ?t ?d)) (= ?n ?m) (= (dtype"
        " ?t) f32))",
        "(compute (lookup ?n) (concat ?t ?i ?d))",
        "(compute (lookup ?m) (concat ?t ?i ?d))"),
    "table-part-of-indices": table(
        "(concat (compute (lookup ?n) (concat ?t (slice ?i ?d 0 1) ?d))"
        " (compute (lookup ?n) (concat ?t (slice ?i ?d 1 (dim ?i ?d)) ?d)) ?d)",
        "(= ?n (dim ?t ?d)) (> (dim ?i ?d) 1)"),
    "table-gathered": table(
        "(compute gather (pair ?t ?i))", "(= ?n (dim ?t ?d)) (= (dim ?i ?d)"
        " (dim ?t ?d))"),
    "table-index-rectified": table(
        "(compute (lookup ?n) (concat ?t (compute relu ?i) ?d))",
        "(= ?n (dim ?t ?d)) (!= (dtype ?t) bool)"),
    "table-of-zeros": (
        "(and (< ?d (access-rank ?a)) (= ?k zero))",
        "(compute (lookup ?n) (pad ?a ?k ?d ?b ?e))",
        "(pad (compute (lookup ?n) ?a) zero ?d ?b ?e)"),
    "table-padded-behind": table(
        "(compute (lookup (+ ?n 1)) (concat (pad ?t edge ?d 0 1) ?i ?d))"),
}

WRONG = {
    **WRONG_TABLES,
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
    **RIGHT_TABLES,
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
