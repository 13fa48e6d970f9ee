# SPDX-License-Identifier: MIT
"""Families of right rules: none may be refuted.

Each family is a function that gives (name, left, right, clauses)."""

FLOATS = ("f32", "f64")
INTEGERS = ("i8", "u8", "i16", "u16", "i32")
ELEMENTWISE = ("neg", "abs", "square", "relu", "floor", "sqrt", "rsqrt",
               "recip", "exp", "log", "tanh", "erf", "sin", "cos", "atan",
               "round", "sigmoid", "(scale 3)", "(offset -2)", "(clip -1 1)")
REDUCTIONS = ("reduceSum", "reduceMean", "reduceMax", "reduceMin",
              "reduceProd")


def where(*clauses):
    return f":where (and {' '.join(clauses)})" if any(clauses) else ""


def un(op, x):
    return f"(compute {op} {x})"


def bi(op, x, y):
    return f"(compute {op} (pair {x} {y}))"


A, B, C = "?a", "?b", "?c"


def rings():
    """Sums and products, of numbers that wrap and of real ones."""
    two = un("(scale 2)", A)
    rules = {
        "sum-turned": (bi("add", A, B), bi("add", B, A)),
        "sum-regrouped": (bi("add", A, bi("add", B, C)),
                          bi("add", bi("add", A, B), C)),
        "product-turned": (bi("mul", A, B), bi("mul", B, A)),
        "product-regrouped": (bi("mul", A, bi("mul", B, C)),
                              bi("mul", bi("mul", A, B), C)),
        "distributes": (bi("mul", A, bi("add", B, C)),
                        bi("add", bi("mul", A, B), bi("mul", A, C))),
        "taken-out": (bi("sub", bi("mul", A, B), bi("mul", C, B)),
                      bi("mul", bi("sub", A, C), B)),
        "difference": (bi("sub", A, B), bi("add", A, un("neg", B))),
        "difference-turned": (bi("sub", A, B), un("neg", bi("sub", B, A))),
        "cancels": (bi("sub", bi("add", A, B), B), A),
        "twice": (bi("add", A, A), two),
        "square": (bi("mul", A, A), un("square", A)),
        "square-of-sum": (un("square", bi("add", A, B)),
                          bi("add", bi("add", un("square", A),
                                       un("(scale 2)", bi("mul", A, B))),
                             un("square", B))),
        "squares-apart": (bi("sub", un("square", A), un("square", B)),
                          bi("mul", bi("sub", A, B), bi("add", A, B))),
        "scales": (un("(scale 3)", un("(scale 5)", A)), un("(scale 15)", A)),
        "offsets": (un("(offset 3)", un("(offset -5)", A)),
                    un("(offset -2)", A)),
        "scaled-offset": (un("(scale 3)", un("(offset 5)", A)),
                          un("(offset 15)", un("(scale 3)", A))),
        "dead": (un("(scale 0)", bi("add", A, B)), un("(scale 0)", A)),
        "abs-of-neg": (un("abs", un("neg", A)), un("abs", A)),
        "abs-squared": (un("square", un("abs", A)), un("square", A)),
        "cube": (bi("mul", A, un("square", A)), bi("mul", un("square", A), A)),
        "sum-of-both": (bi("add", bi("add", A, B), bi("sub", A, B)), two)}
    for d in INTEGERS + FLOATS:
        for name, (left, right) in rules.items():
            if name == "abs-of-neg" and d[0] == "u":
                continue  # -1 is the greatest
            yield f"ring-{name}-{d}", left, right, where(f"(= (dtype ?a) {d})")


def lattices():
    """Extrema of any numbers."""
    rules = {
        "turned": (bi("max", A, B), bi("max", B, A)),
        "regrouped": (bi("min", A, bi("min", B, C)),
                      bi("min", bi("min", A, B), C)),
        "absorbed": (bi("max", A, bi("min", A, B)), A),
        "distributes": (bi("max", A, bi("min", B, C)),
                        bi("min", bi("max", A, B), bi("max", A, C))),
        "median": (bi("max", bi("min", A, B), bi("min", bi("max", A, B), C)),
                   bi("min", bi("max", A, B), bi("max", bi("min", A, B), C))),
        "of-one": (bi("max", A, A), A)}
    for d in INTEGERS + FLOATS + ("bf16", "bool", "u32"):
        for name, (left, right) in rules.items():
            yield (f"lattice-{name}-{d}", left, right,
                   where(f"(= (dtype ?a) {d})"))


def moved():
    """Operators on one element go over views."""
    views = {
        "transpose": ("(transpose {} ?p)", ""), "slice": ("(slice {} ?d ?l ?h)",
                                                          ""),
        "reverse": ("(reverse {} ?d)", ""), "repeat": ("(repeat {} ?d ?f)", ""),
        "reshape": ("(reshape {} ?s ?c)", ""), "flatten": ("(flatten {})", ""),
        "edge": ("(pad {} edge ?d ?l ?h)", "")}
    for op in ELEMENTWISE:
        for name, (view, _) in views.items():
            yield (f"moved-{op.strip('(').split()[0]}-{name}",
                   un(op, view.format(A)), view.format(un(op, A)),
                   where("(= (dtype ?a) f32)"))


def reduced():
    """Reductions over items in another order, or in stages."""
    for op in REDUCTIONS:
        inside = "(>= ?d (access-rank ?a))"
        yield (f"reduced-{op}-reverse", un(op, "(reverse ?a ?d)"), un(op, A),
               where(inside, "(= (dtype ?a) f32)"))
        yield (f"reduced-{op}-flatten", un(op, "(flatten (access ?a 0))"),
               un(op, "(access ?a 0)"), where("(> (rank ?a) 0)",
                                              "(= (dtype ?a) i32)"))
        yield (f"reduced-{op}-outside", un(op, "(slice ?a ?d ?l ?h)"),
               f"(slice {un(op, A)} ?d ?l ?h)",
               where("(< ?d (access-rank ?a))"))
        yield (f"reduced-{op}-stages",
               un(op, f"(access {un(op, '(access ?a 1)')} 0)"),
               un(op, "(access ?a 0)"),
               where("(> (rank ?a) 1)", "(= (dtype ?a) f32)"))
        yield (f"reduced-{op}-repeated-outside", un(op, "(repeat ?a ?d ?f)"),
               f"(repeat {un(op, A)} ?d ?f)", where("(< ?d (access-rank"
                                                    " ?a))"))
    for op, fold in (("reduceSum", "add"), ("reduceMax", "max"),
                     ("reduceMin", "min"), ("reduceProd", "mul")):
        for d in ("f32", "i32"):
            yield (f"parts-{op}-{d}", un(op, "(concat ?a ?b ?d)"),
                   bi(fold, un(op, A), un(op, B)),
                   where("(>= ?d (access-rank ?a))", f"(= (dtype ?a) {d})"))
            yield (f"halves-{op}-{d}", un(op, A),
                   bi(fold, un(op, "(slice ?a ?d 0 ?m)"),
                      un(op, "(slice ?a ?d ?m ?n)")),
                   ":for (?d (axes ?a))\n  " +
                   where("(>= ?d (access-rank ?a))", "(= ?n (dim ?a ?d))",
                         "(= ?m (/ ?n 2))", "(> ?n 1)", f"(= (dtype ?a) {d})"))
    for d in ("f32", "i32", "i8"):
        is_d = f"(= (dtype ?a) {d})"
        inside = "(>= ?d (access-rank ?a))"
        yield (f"sum-of-sums-{d}", un("reduceSum", bi("add", A, B)),
               bi("add", un("reduceSum", A), un("reduceSum", B)),
               where(is_d if d != "i8" else "(= (dtype ?a) f64)"))
        yield (f"sum-scaled-{d}", un("reduceSum", un("(scale 7)", A)),
               un("(scale 7)", un("reduceSum", A)),
               where(is_d if d != "i8" else "(= (dtype ?a) f64)"))
        yield (f"sum-padded-{d}", un("reduceSum", "(pad ?a zero ?d ?l ?h)"),
               un("reduceSum", A), where(inside, is_d))
        yield (f"max-padded-{d}", un("reduceMax", "(pad ?a min ?d ?l ?h)"),
               un("reduceMax", A), where(inside, is_d))
        yield (f"max-edge-{d}", un("reduceMax", "(pad ?a edge ?d ?l ?h)"),
               un("reduceMax", A), where(inside, is_d))
        yield (f"min-repeated-{d}", un("reduceMin", "(repeat ?a ?d ?f)"),
               un("reduceMin", A), where(inside, is_d))
        yield (f"sum-repeated-{d}", un("reduceSum", "(repeat ?a ?d 4)"),
               un("(scale 4)", un("reduceSum", A)), where(inside, is_d))
        yield (f"dot-turned-{d}", un("dotProd", "(pair ?a ?b)"),
               un("dotProd", "(pair ?b ?a)"), where(is_d))
        yield (f"dot-of-sum-{d}",
               un("dotProd", f"(pair {bi('add', A, B)} ?c)"),
               bi("add", un("dotProd", "(pair ?a ?c)"),
                  un("dotProd", "(pair ?b ?c)")),
               where(is_d if d != "i8" else "(= (dtype ?a) f64)"))
        yield (f"dot-sliced-{d}",
               un("dotProd", "(cartProd (slice ?a ?d ?l ?h) ?b)"),
               f"(slice {un('dotProd', '(cartProd ?a ?b)')} ?d ?l ?h)",
               where("(< ?d (access-rank ?a))", is_d))
        yield (f"dot-scaled-{d}",
               un("dotProd", f"(cartProd {un('(scale 3)', A)} ?b)"),
               un("(scale 3)", un("dotProd", "(cartProd ?a ?b)")),
               where(is_d if d != "i8" else "(= (dtype ?a) f64)"))


WIDER = {"i8": ("i16", "i32", "i64", "f32", "f64", "bf16", "f16"),
         "u8": ("i16", "u16", "i32", "i64", "u32", "f32", "f64", "bf16",
                "f16"),
         "i16": ("i32", "i64", "f32", "f64"), "u16": ("i32", "i64", "u32",
                                                      "f32", "f64"),
         "i32": ("i64", "f64"), "u32": ("i64", "f64"), "bf16": ("f32", "f64"),
         "f16": ("f32", "f64"), "f32": ("f64",), "bool": ("i8", "i32", "f32")}


def casts():
    """Numbers that the dtype in between holds, and low bits."""
    for d, wide in WIDER.items():
        for e in wide:
            yield (f"cast-{d}-{e}-back", un(f"(cast {d})", un(f"(cast {e})",
                   A)), A, where(f"(= (dtype ?a) {d})"))
    for d in ("i8", "u8", "i16", "u16"):
        for op in ("add", "sub", "mul"):
            yield (f"cast-i32-{d}-{op}", un(f"(cast {d})", bi(op, A, B)),
                   bi(op, un(f"(cast {d})", A), un(f"(cast {d})", B)),
                   where("(= (dtype ?a) i32)"))
        for op in ("max", "min"):
            yield (f"cast-{d}-i32-{op}", un("(cast i32)", bi(op, A, B)),
                   bi(op, un("(cast i32)", A), un("(cast i32)", B)),
                   where(f"(= (dtype ?a) {d})"))
        yield (f"cast-{d}-twice", un(f"(cast {d})", un("(cast i16)", A)),
               un(f"(cast {d})", A), where("(= (dtype ?a) i32)"))
        yield (f"cast-{d}-relu", un("(cast i32)", un("relu", A)),
               un("relu", un("(cast i32)", A)), where(f"(= (dtype ?a) {d})"))


def views():
    """Views of views."""
    n = "(dim ?a ?d)"
    rules = {
        "slice-twice": ("(slice (slice ?a ?d ?l ?h) ?d ?m ?n)",
                        "(slice ?a ?d (+ ?l ?m) (+ ?l ?n))", ""),
        "slices-turned": ("(slice (slice ?a ?d ?l ?h) ?g ?m ?n)",
                          "(slice (slice ?a ?g ?m ?n) ?d ?l ?h)",
                          "(!= ?d ?g)"),
        "pads-turned": ("(pad (pad ?a zero ?d ?l ?h) zero ?g ?m ?n)",
                        "(pad (pad ?a zero ?g ?m ?n) zero ?d ?l ?h)", ""),
        "pad-twice": ("(pad (pad ?a ?k ?d ?l ?h) ?k ?d ?m ?n)",
                      "(pad ?a ?k ?d (+ ?l ?m) (+ ?h ?n))", ""),
        "pad-kinds": ("(pad (pad ?a ?k ?d ?l 0) ?j ?d 0 ?h)",
                      "(pad (pad ?a ?j ?d 0 ?h) ?k ?d ?l 0)", ""),
        "pad-cut": ("(slice (pad ?a ?k ?d ?l ?h) ?d ?l ?m)", "?a",
                    f"(= ?m (+ ?l {n}))"),
        "reverse-twice": ("(reverse (reverse ?a ?d) ?d)", A, ""),
        "reverse-slice": ("(reverse (slice ?a ?d ?l ?h) ?d)",
                          f"(slice (reverse ?a ?d) ?d (- {n} ?h) (- {n} ?l))",
                          ""),
        "reverse-pad": ("(reverse (pad ?a ?k ?d ?l ?h) ?d)",
                        "(pad (reverse ?a ?d) ?k ?d ?h ?l)", ""),
        "reverse-concat": ("(reverse (concat ?a ?b ?d) ?d)",
                           "(concat (reverse ?b ?d) (reverse ?a ?d) ?d)", ""),
        "reverse-repeat": ("(reverse (repeat ?a ?d ?f) ?d)",
                           "(repeat (reverse ?a ?d) ?d ?f)", ""),
        "repeat-twice": ("(repeat (repeat ?a ?d ?f) ?d ?g)",
                         "(repeat ?a ?d (* ?f ?g))", ""),
        "repeat-concat": ("(repeat (concat ?a ?b ?d) ?d ?f)",
                          "(concat (repeat ?a ?d ?f) (repeat ?b ?d ?f) ?d)",
                          ""),
        "repeat-one": ("(repeat ?a ?d 1)", A, ""),
        "repeat-slice": ("(slice (repeat ?a ?d ?f) ?d (* ?f ?l) (* ?f ?h))",
                         "(repeat (slice ?a ?d ?l ?h) ?d ?f)", None),
        "concat-regrouped": ("(concat (concat ?a ?b ?d) ?c ?d)",
                             "(concat ?a (concat ?b ?c ?d) ?d)", ""),
        "concat-first": ("(slice (concat ?a ?b ?d) ?d ?l ?h)",
                         "(slice ?a ?d ?l ?h)", f"(<= ?h {n})"),
        "concat-second": ("(slice (concat ?a ?b ?d) ?d ?l ?h)",
                          f"(slice ?b ?d (- ?l {n}) (- ?h {n}))",
                          f"(>= ?l {n})"),
        "concat-of-slices": ("(concat (slice ?a ?d ?l ?h) (slice ?a ?d ?h ?m)"
                             " ?d)", "(slice ?a ?d ?l ?m)", ""),
        "concat-axes": ("(slice (concat ?a ?b ?d) ?g ?l ?h)",
                        "(concat (slice ?a ?g ?l ?h) (slice ?b ?g ?l ?h) ?d)",
                        "(!= ?d ?g)"),
        "transposes": ("(transpose (transpose ?a ?p) ?q)",
                       "(transpose ?a (compose ?p ?q))", ""),
        "transpose-back": ("(transpose (transpose ?a ?p) ?q)", A,
                           "(= ?q (invert ?p))"),
        "transpose-slice": ("(slice (transpose ?a ?p) ?d ?l ?h)",
                            "(transpose (slice ?a (nth ?p ?d) ?l ?h) ?p)", ""),
        "transpose-reverse": ("(reverse (transpose ?a ?p) ?d)",
                              "(transpose (reverse ?a (nth ?p ?d)) ?p)", ""),
        "transpose-pad": ("(pad (transpose ?a ?p) ?k ?d ?l ?h)",
                          "(transpose (pad ?a ?k (nth ?p ?d) ?l ?h) ?p)", ""),
        "transpose-repeat": ("(repeat (transpose ?a ?p) ?d ?f)",
                             "(transpose (repeat ?a (nth ?p ?d) ?f) ?p)", ""),
        "transpose-concat": ("(concat (transpose ?a ?p) (transpose ?b ?p) ?d)",
                             "(transpose (concat ?a ?b (nth ?p ?d)) ?p)", ""),
        "axis-back": ("(squeeze (insertAxis ?a ?d) ?d)", A, ""),
        "axis-forth": ("(insertAxis (squeeze ?a ?d) ?d)", A,
                       "(!= ?d (access-rank ?a)) (!= (+ ?d 1) (access-rank"
                       " ?a))"),
        "axis-slice": ("(slice (insertAxis ?a ?g) ?d ?l ?h)",
                       "(insertAxis (slice ?a ?d ?l ?h) ?g)", "(< ?d ?g)"),
        "reshape-twice": ("(reshape (reshape ?a ?s ?c) ?t ?e)",
                          "(reshape ?a ?t ?e)", ""),
        "reshape-back": ("(reshape (reshape ?a ?s ?c) ?t ?e)", A,
                         "(= ?t (access-shape ?a)) (= ?e (compute-shape"
                         " ?a))"),
        "flatten-twice": ("(flatten (flatten ?a))", "(flatten ?a)", ""),
        "flatten-reshape": ("(flatten (reshape ?a ?s ?c))", "(flatten ?a)",
                            "(> (rank ?s) 0) (> (rank ?c) 0) (> (access-rank"
                            " ?a) 0) (> (compute-rank ?a) 0)"),
        "access-twice": ("(access (access ?a ?k) ?j)", "(access ?a ?j)", ""),
        "access-slice": ("(access (slice ?a ?d ?l ?h) ?k)",
                         "(slice (access ?a ?k) ?d ?l ?h)", ""),
        "broadcast-twice": ("(broadcast (broadcast ?a ?s) ?t)",
                            "(broadcast ?a ?t)", ""),
        "broadcast-reverse": ("(reverse (broadcast ?a ?s) ?d)",
                              "(broadcast ?a ?s)", f"(= {n} 1)"),
        "pair-slice": ("(pair (slice ?a ?d ?l ?h) (slice ?b ?d ?l ?h))",
                       "(slice (pair ?a ?b) ?d ?l ?h)",
                       "(< ?d (access-rank ?a)) (= (shape ?a) (shape ?b))"),
        "product-slice": ("(slice (cartProd ?a ?b) ?d ?l ?h)",
                          "(cartProd (slice ?a ?d ?l ?h) ?b)",
                          "(< ?d (access-rank ?a))"),
        "product-second": (
            "(slice (cartProd ?a ?b) ?d ?l ?h)",
            "(cartProd ?a (slice ?b (- ?d (access-rank ?a)) ?l ?h))",
            "(>= ?d (access-rank ?a)) (< ?d (+ (access-rank ?a) (access-rank"
            " ?b)))"),
        "reflected": ("(slice ?a ?d ?l ?h)", "(slice ?a (nth (reverse (reverse"
                      " (axes ?a))) ?d) ?l ?h)", ""),
        "powers": ("(transpose (transpose (transpose ?a ?p) ?p) ?p)",
                   "(transpose ?a (compose (compose ?p ?p) ?p))", "")}
    for name, (left, right, clause) in rules.items():
        if clause is None:
            left, right = right, left
        yield f"view-{name}", left, right, where(clause)


def windows():
    """Windows of views, and views of windows."""
    one = "(= (compute-rank ?a) 1)"
    first = "(= ?d (access-rank ?a))"
    s, t = "(nth ?s 0)", "(nth ?t 0)"
    rules = {
        "outside": ("(slice (windows ?a ?s ?t) ?d ?l ?h)",
                    "(windows (slice ?a ?d ?l ?h) ?s ?t)",
                    "(< ?d (access-rank ?a))"),
        "reversed-outside": ("(reverse (windows ?a ?s ?t) ?d)",
                             "(windows (reverse ?a ?d) ?s ?t)",
                             "(< ?d (access-rank ?a))"),
        "first-of-them": (
            "(slice (windows ?a ?s ?t) ?d 0 ?h)",
            f"(windows (slice ?a ?d 0 (+ (* (- ?h 1) {t}) {s})) ?s ?t)",
            f"{one} {first}"),
        "some-of-them": (
            "(slice (windows ?a ?s ?t) ?d ?l ?h)",
            f"(windows (slice ?a ?d (* ?l {t}) (+ (* (- ?h 1) {t}) {s})) ?s"
            " ?t)", f"{one} {first}"),
        "of-one": ("(windows ?a ?s ?t)",
                   "(access (insertAxis ?a (rank ?a)) (rank ?a))",
                   "(all-ones ?s) (all-ones ?t) (= (compute-rank ?a) 1)"),
        "dilation-of-one": ("(windows ?a ?s ?t ?u)", "(windows ?a ?s ?t)",
                            "(all-ones ?u)"),
        "whole": ("(compute reduceMax (windows ?a ?s ?t))",
                  "(insertAxis (compute reduceMax ?a) ?d)",
                  f"{one} {first} (= {s} (dim ?a ?d))"),
        "padded-max": ("(compute reduceMax (windows (pad ?a min ?d ?l 0) ?s"
                       " ?t))", "(compute reduceMax (windows (pad ?a min ?d ?l"
                       " 0) ?s ?t (fill (len ?s) 1)))", first),
        "scaled": ("(compute (scale 2) (windows ?a ?s ?t))",
                   "(windows (compute (scale 2) ?a) ?s ?t)",
                   "(= (dtype ?a) f32)"),
        "sum": ("(compute reduceSum (windows (compute add (pair ?a ?b)) ?s"
                " ?t))", "(compute add (pair (compute reduceSum (windows ?a ?s"
                " ?t)) (compute reduceSum (windows ?b ?s ?t))))",
                "(= (dtype ?a) f32)")}
    for name, (left, right, clause) in rules.items():
        yield f"window-{name}", left, right, where(clause)


def chosen():
    """What select, gather and lookup do with operands that are alike."""
    three = ("(compute select (concat (pair {} {}) (access (insertAxis {} ?n)"
             " ?n) ?n))")
    here = "(= ?n (rank ?a)) (= (access-rank ?a) (rank ?a))"
    for d in ("f32", "i8", "bf16"):
        is_d = f"(= (dtype ?a) {d})"
        yield (f"select-alike-{d}", three.format(A, B, B), B,
               where(here, is_d))
        yield (f"select-relu-{d}", three.format(un("relu", A), B, C),
               three.format(A, B, C), where(here, is_d))
        yield (f"select-twice-{d}", three.format(A, three.format(A, B, C), C),
               three.format(A, B, C), where(here, is_d))
        yield (f"gather-clipped-{d}", un("gather", "(pair ?a ?b)"),
               un("gather", f"(pair ?a {un('relu', B)})"), where(is_d))
        yield (f"lookup-sliced-{d}",
               un("(lookup 3)", "(slice ?a ?d 0 ?h)"),
               f"(slice {un('(lookup 3)', A)} ?d 0 (- ?h 3))",
               where("(= ?d (access-rank ?a))", is_d))
        yield (f"softmax-turned-{d}" if d != "i8" else "softmax-turned-f64",
               un("softmax", "(reverse ?a ?d)"),
               f"(reverse {un('softmax', A)} ?d)",
               where("(>= ?d (access-rank ?a))",
                     is_d if d != "i8" else "(= (dtype ?a) f64)"))


FAMILIES = (rings, lattices, moved, reduced, casts, views, windows, chosen)


def rules():
    for family in FAMILIES:
        for name, left, right, clauses in family():
            yield family.__name__, name, left, right, clauses
