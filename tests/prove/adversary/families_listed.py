# SPDX-License-Identifier: MIT
"""Families of rules that are wrong in few of the forms that are listed.

What a listing leaves out in one go, because a test or a type rules it out, may
hide the form in which a rule is wrong: one dtype of a second term, one operator
of those that a test leaves, a rank between others.  Each family gives (name,
left, right, clauses); none may be proved."""
from families_ranks import BACK, S, where

DTYPES = ("f32", "f64", "bf16", "f16", "i8", "i16", "i32", "u8", "u16", "i64",
          "u32", "bool")
JOINED = "(concat {} ?b ?g)"
BESIDE = "(cartProd {} ?b)"
PAIRED = "(pair {} ?b)"


def faulty(name, fault, form="{}", first=()):
    """?x is ?l where the fault is."""
    yield (name, form.format(S), form.format(BACK),
           where(*first, f"(= ?x (if {fault} ?l 0))"))


def dtypes():
    """One dtype of the second of two terms, which types or a test set equal."""
    for k, t in enumerate(DTYPES):
        form = (JOINED, BESIDE, PAIRED)[k % 3]
        yield from faulty(f"second-{t}", f"(= (dtype ?b) {t})", form)
        yield from faulty(f"equal-{t}", f"(= (dtype ?a) {t})", form,
                          ("(= (dtype ?a) (dtype ?b))",))
        yield from faulty(f"turned-{t}", f"(= (dtype ?a) {t})", form,
                          ("(= (dtype ?b) (dtype ?a))",
                           "(= (access-rank ?b) (access-rank ?b))"))
        yield from faulty(f"defined-{t}", f"(= ?u {t})", form,
                          ("(= ?t (dtype ?b))", "(= ?u ?t)"))
        yield (f"only-{t}", form.format(S), form.format(BACK),
               where("(= ?x ?l)", "(= ?t (dtype ?b))",
                     f"(or (= ?l 0) (= ?t {t}))"))


def dtypes_by_rank():
    """One dtype at one rank: what is impossible at others is so at this one for
    other dtypes alone."""
    for k, t in enumerate(DTYPES[::2]):
        form = (JOINED, BESIDE, PAIRED)[k % 3]
        n = 1 + k % 2
        yield (f"rank-or-{t}", form.format(S), form.format(BACK),
               where("(= ?x ?l)", f"(or (= ?l 0) (and (= (dtype ?b) {t})"
                     f" (= (rank ?b) {n})))"))
        yield (f"rank-if-{t}", form.format(S), form.format(BACK),
               where(f"(= ?t (if (= (rank ?b) {n}) (dtype ?b) (dtype ?a)))",
                     f"(= ?n (if (= ?t {t}) {n} 0))",
                     f"(= ?x (if (= ?n {n}) ?l 0))"))


def named(o):
    return f"(= (op-name ?op) {o})"


def operators():
    """One operator of those that tests of it alone leave."""
    for kind, names in (
            ("elementwise", ("relu", "neg", "exp", "scale", "clip", "floor")),
            ("reduce", ("reduceSum", "reduceMax", "reduceMin", "reduceProd")),
            ("fold", ("add", "sub", "mul", "max", "div")),
            ("softmax", ("softmax",))):
        form = "(compute ?op {})"
        for o in names:
            tests = (f"(= (op-kind ?op) {kind})",)
            yield from faulty(f"kind-{o}", named(o), form, tests)
            yield from faulty(f"named-{o}", "(= 1 1)", form, (named(o),))
            yield from faulty(f"member-{o}", named(o), form,
                              (f"(member (list {names[0]} {o}) (op-name ?op))",
                               ))
    for o in ("add", "mul", "max", "min"):
        yield from faulty(f"associative-{o}", named(o), "(compute ?op {})",
                          ("(is-associative ?op)",))
        yield from faulty(f"alone-{o}", f"(= ?op {o})", "(compute ?op {})",
                          ("(= (op-kind ?op) fold)",))


def two_operators():
    """One pair of operators that a test ties to each other."""
    for o, p in (("reduceSum", "add"), ("reduceMax", "max"),
                 ("reduceMin", "min"), ("reduceProd", "mul")):
        form = "(compute ?op (compute ?f {}))"
        tied = ("(= (op-kind ?op) reduce)", "(= ?f (fold-of ?op))")
        yield from faulty(f"tied-{o}", named(o), form, tied)
        yield from faulty(f"tied-by-{o}", f"(= ?f {p})", form, tied)
        yield from faulty(f"tied-dtype-{o}",
                          f"(and {named(o)} (= (dtype ?a) i8))", form, tied)
    for t in DTYPES[:7]:
        yield from faulty(
            f"cast-{t}", "(= ?t (dtype ?a))", "(compute (cast ?t) {})",
            (f"(= (dtype ?a) {t})",))
        yield from faulty(f"cast-to-{t}", f"(= ?t {t})",
                          "(compute (cast ?t) {})")


def ranks():
    """One rank, or one split, between those that were listed once."""
    for n in (3, 5, 7, 9):
        yield from faulty(f"rank-{n}", f"(= (rank ?a) {n})")
        yield from faulty(f"split-{n}", f"(= (compute-rank ?a) {n})")
        yield from faulty(f"axis-{n}", f"(= ?d {n - 1})")
        yield (f"rank-or-{n}", S, BACK,
               where("(= ?x ?l)", f"(or (= ?l 0) (= (rank ?a) {n}))"))


def products():
    """Products of sizes, which are at least 1 and may be 1; of amounts, which
    may be 0."""
    five = " ".join(f"(dim ?b {k})" for k in range(5))
    for n, fault in enumerate((f"(= (* {five}) 1)", f"(< (* {five}) 2)",
                               f"(>= (* {five}) 1)", "(= (elements ?b) 1)",
                               "(>= (elements ?b) 1)", "(< (elements ?b) 2)",
                               "(= (prod (shape ?b)) 1)",
                               "(> (prod (shape ?b)) 0)")):
        yield from faulty(f"sizes-{n}", fault, BESIDE,
                          ("(= (rank ?b) 5)",))
    cut = "(slice (slice ?a ?d ?l ?h) ?g ?m ?n)"
    cut_back = "(slice (slice ?a ?d (- ?l ?x) (- ?h ?x)) ?g ?m ?n)"
    for n, fault in enumerate(("(= (* ?l ?m) 0)", "(< (* ?l ?l ?l ?m ?m) 1)",
                               "(= (* ?h ?m ?n ?m ?m) 0)",
                               "(<= (* ?h ?n ?m) (* ?m 0))")):
        yield (f"amounts-{n}", cut, cut_back,
               where(f"(= ?x (if {fault} ?l 0))"))
        yield (f"amounts-or-{n}", cut, cut_back,
               where("(= ?x ?l)", f"(or (= ?l 0) {fault})"))
        yield (f"amounts-some-{n}", cut, cut_back,
               where("(or (>= ?m 1) (= ?m 0))", "(= ?x ?l)",
                     f"(or (= ?l 0) {fault})"))


def shapes():
    """Reductions and reshapes of many axes, with one part forgotten."""
    yield ("flatten-max", "(compute reduceMax ?a)",
           "(reshape (compute reduceMax (flatten (slice ?a ?d 0 ?n))) ?s (list))",
           ":for (?d (axes ?a))\n  "
           + where("(= ?s (access-shape ?a))", "(>= ?d (access-rank ?a))",
                   "(> (rank ?a) 4)", "(> (dim ?a ?d) 1)",
                   "(= ?n (- (dim ?a ?d) 1))"))
    yield ("flatten-sum", "(compute reduceSum ?a)",
           "(reshape (compute (scale 2) (compute reduceSum (flatten ?a))) ?s"
           " (list))", where("(= ?s (access-shape ?a))", "(= (dtype ?a) f32)"))
    yield ("flatten-fold-sub", "(compute sub ?a)",
           "(reshape (compute sub (reshape ?a ?f (append (list ?t) ?r))) ?s"
           " (drop (shape ?a) ?n))",
           where("(= ?s (access-shape ?a))", "(= ?n (access-rank ?a))",
                 "(= ?t (nth (compute-shape ?a) 0))",
                 "(= ?f (if (= ?n 0) (list) (list (prod ?s))))",
                 "(= ?r (drop (compute-shape ?a) 1))"))
    yield ("squeeze-other", "(reshape ?a ?s ?c)", "(squeeze ?a ?e)",
           ":for (?d (axes ?a))\n  :for (?e (axes ?a))\n  "
           + where("(= (dim ?a ?d) 1)", "(= (dim ?a ?e) 1)",
                   "(= (append ?s ?c) (remove-nth (shape ?a) ?d))"))
    yield ("squeeze-split", "(reshape ?a ?s ?c)", "(squeeze ?a ?d)",
           ":for (?d (axes ?a))\n  "
           + where("(= (dim ?a ?d) 1)",
                   "(= (append ?s ?c) (remove-nth (shape ?a) ?d))"))
    yield ("copy-turned", "(compute ?op (transpose ?a ?p))",
           "(compute ?op (materialize (transpose ?a ?q)))",
           where("(= ?q (invert ?p))", "(= (permute (shape ?a) ?q)"
                 " (permute (shape ?a) ?p))"))
    yield ("columns-once", "(compute dotProd (cartProd ?a ?b))",
           "(concat (compute dotProd (cartProd ?a (slice ?b 0 0 ?m)))"
           " (compute dotProd (cartProd ?a (slice ?b 0 0 ?k))) ?d)",
           where("(= ?d (access-rank ?a))", "(= (access-rank ?b) 1)",
                 "(= ?n (dim ?b 0))", "(> ?n 1)", "(= ?m 1)",
                 "(= ?k (- ?n 1))"))
    yield ("distributes-once", "(compute add (pair (compute dotProd"
           " (cartProd ?a ?b)) (compute dotProd (cartProd ?a ?c))))",
           "(compute dotProd (cartProd ?a (compute add (pair ?b ?b))))",
           where("(= (shape ?b) (shape ?c))", "(= (dtype ?b) (dtype ?c))",
                 "(= (dtype ?a) f32)", "(= (access-rank ?b) (access-rank ?c))"))


def written():
    """At a rank that the items of a literal list tell, with numbers beside."""
    n = "(rank ?a)"
    tests = {}
    for by, item in ((5, 10), (4, 4), (3, 9), (8, 8), (2, 15), (1, 11)):
        less, end = f"(- {n} {by})", f"{by}-{item}"
        tests |= {
            f"member-{end}": f"(member (list {item}) {less})",
            f"equal-{end}": f"(= (list {less}) (list {item}))",
            f"nested-{end}": f"(= (list (list {less})) (list (list {item})))",
            f"member-of-lists-{end}":
                f"(member (list (list {item} 1) (list 1 2)) (list {less} 1))",
            f"negative-{end}": f"(member (list -{item}) (- {by} {n}))",
            f"negative-list-{end}": f"(= (list (- {by} {n})) (list -{item}))",
            f"index-{end}": f"(= (index-of (list 1 {item}) {less}) 1)",
            f"lists-{end}": f"(= (sub-lists (list {n}) (list {by}))"
                            f" (list {item}))",
            f"lists-added-{end}": f"(= (add-lists (list {n}) (list -{by}))"
                                  f" (list {item}))",
            f"item-{end}": f"(= {less} (nth (list {item} 0) 0))",
            f"last-{end}": f"(= {less} (last (list 0 {item})))",
            f"cons-{end}": f"(= (cons {less} (list 1)) (list {item} 1))",
            f"appended-{end}":
                f"(= (append (list 1) (list {less})) (list 1 {item}))",
            f"axis-{end}": f"(member (list {item}) (- ?d {by}))"}
    for k, item in enumerate((7, 9, 12)):
        tests |= {f"nested-alone-{k}": f"(= (list (list {n})) (list (list"
                                       f" {item})))",
                  f"minus-alone-{k}": f"(member (list -{item}) (- 0 {n}))",
                  f"minus-split-{k}": f"(member (list -{item}) (- 0"
                                      " (access-rank ?a)))"}
    for name, test in tests.items():
        yield (f"written-{name}", S, BACK,
               where("(> ?l 0)", f"(= ?x (if {test} 1 0))"))
    for k, items in enumerate(("4 4", "3 7", "9 2", "6 6")):
        x, y = items.split()
        both = "(slice (cartProd ?a ?b) ?d ?l ?h)"
        back = "(slice (cartProd ?a ?b) ?d (- ?l ?x) (- ?h ?x))"
        for name, test in (
                ("apart", f"(= (list (- {n} (rank ?b)) (- (rank ?b) {y}))"
                          f" (list {x} {y}))"),
                ("sum", f"(member (list {int(x) + int(y)}) (+ (access-rank ?a)"
                        " (access-rank ?b)))"),
                ("chain", f"(= (list (- {n} (rank ?b)) (- (rank ?b) 2))"
                          f" (list {x} {y}))")):
            yield (f"written-two-{name}-{k}", both, back,
                   where("(> ?l 0)", f"(= ?x (if {test} 1 0))"))


FAMILIES = (dtypes, dtypes_by_rank, operators, two_operators, ranks, products,
            shapes, written)
