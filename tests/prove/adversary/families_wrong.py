# SPDX-License-Identifier: MIT
"""Families of wrong rules, by what a prover for all sizes could overlook.

Each family is a function that gives (name, left, right, clauses); its first
line says where the rules are wrong.  None may be proved."""
import itertools

import families_listed
import families_ranks
from families_ranks import BACK, S, where


def overflows():
    """Where both amounts are 0, and numbers that are multiplied with each
    other leave 64 bits for others."""
    for power in (52, 53, 54):
        big, times_ = 2 ** power, 2 ** (64 - power)
        for name, extra in (
                ("at-least", f"(>= (* {times_} ?z) 1)"),
                ("more", f"(> (* {times_} ?z) 0)"),
                ("below", f"(<= 1 (* {times_} ?z))"),
                ("negative", f"(< (* -{times_} ?z) 0)"),
                ("sum", f"(>= (+ (* {times_} ?z) (* {times_} ?z)) 1)"),
                ("equal", f"(= (* {times_} ?z) (* {times_} ?n))")):
            yield (f"overflow-{name}-{power}",
                   "(slice (slice ?a ?d ?q ?n) ?d ?r ?z)",
                   "(slice (reverse ?a ?d) ?d 0 ?z)",
                   where(f"(= ?z (+ (* {big} (- ?q ?r)) ?n))", extra))
            yield (f"overflow-pad-{name}-{power}",
                   "(slice (pad ?a zero ?d ?q ?r) ?d 0 ?z)",
                   "(slice (reverse ?a ?d) ?d 0 ?z)",
                   where("(= ?n (dim ?a ?d))", f"(= ?z (+ (* {big} (- ?q"
                         " ?r)) ?n))", "(= ?q 0)", extra))


def columns():
    """At one size, in a condition with more products than are looked at."""
    sizes = [f"?{x}" for x in "bcefijkmn"]
    for n in (5, 6, 7, 8):
        some = sizes[:n]
        pads = "?a"
        for k, x in enumerate(some[1:]):
            pads = f"(pad {pads} zero ?d {x} {some[k]})"
        pairs = [f"(* {x} {y})" for x, y in itertools.combinations(some, 2)]
        products = f"(+ {' '.join(pairs[::2])}) (+ {' '.join(pairs[1::2])})"
        yield (f"columns-{n}", f"(slice {pads} ?d ?l ?h)",
               f"(slice {pads} ?d (- ?l ?x) (- ?h ?x))",
               where(f"(= ?x (if (>= (+ {products} {' '.join(some)}) 1000003)"
                     " ?l 0))"))
        yield (f"columns-or-{n}", f"(slice {pads} ?d ?l ?h)",
               f"(slice {pads} ?d (- ?l ?x) (- ?h ?x))",
               where("(= ?x ?l)", "(or (= ?l 0)"
                     f" (>= (+ {products} {' '.join(some)}) 1000003))"))


def floors():
    """Where a division leaves something, or what is divided is below 0."""
    n = "(dim ?a ?d)"
    wrong = {
        "half-twice": f"(* 2 (/ {n} 2))", "third-thrice": f"(* 3 (/ {n} 3))",
        "up-and-down": f"(- (* 2 {n}) (round-up {n} 4))",
        "halves": f"(+ (/ {n} 2) (/ {n} 2))",
        "half-below": f"(- 0 (* 2 (/ (- 0 {n}) 2)))",
        "ceiling": f"(* 5 (ceil-div {n} 5))",
        "rounded": f"(round-down {n} 7)", "rounded-up": f"(round-up {n} 6)",
        "remainders": f"(+ {n} (- (mod {n} 4) (mod {n} 2)))",
        "of-sums": f"(+ (/ (+ {n} 1) 2) (/ (+ {n} 0) 2) (- 0 (mod {n} 3)))",
        "nested": f"(* 6 (/ (/ {n} 2) 3))",
        "by-itself": f"(* {n} (/ (+ {n} 1) {n}))",
        "squares": f"(* (/ (* {n} {n}) {n}) (- 2 (/ 2 {n})))",
        "far": f"(- {n} (/ {n} 1000003))",
        "of-product": f"(/ (* {n} 7) (+ 6 (min 1 (/ {n} 12345))))"}
    for name, size in wrong.items():
        yield (f"floor-{name}", "?a", f"(slice (pad ?a edge ?d 0 {n}) ?d 0"
               " ?m)", f":for (?d (axes ?a))\n  " +
               where(f"(= ?m (max 1 {size}))"))
    places = {"mod-of-negative": "(mod (- 0 ?l) 3)",
              "mod-of-sum": "(- (mod (+ ?l ?h) 2) (mod (- ?h ?l) 2) -1"
                            " (mod ?l 2))",
              "halves-differ": "(- (/ (+ ?l 1) 2) (/ ?l 2))",
              "down-not-to-0": "(+ 1 (/ (- 0 ?h) ?h) (/ (- ?l ?h) ?h) 1)"}
    for name, x in places.items():
        yield (f"floor-{name}", S, BACK, where(f"(= ?x (min ?l (abs {x})))"))


def windows():
    """Strides beyond kernels, dilations and ends that windows miss."""
    w = "(windows ?a ?s ?t ?u)"
    one = "(= (compute-rank ?a) 1)"
    s, t = "(nth ?s 0)", "(nth ?t 0)"
    pairs = {
        "dilation-lost": (w, "(windows ?a ?s ?t (fill (len ?u) 1))",
                          f"(<= {s} 2)"),
        "stride-for-dilation": (w, "(windows ?a ?s ?u ?t)", "(all-ones ?s)"),
        "reversed": ("(windows (reverse ?a ?d) ?s ?t)",
                     "(reverse (windows ?a ?s ?t) ?d)",
                     "(= ?d (access-rank ?a))"),
        "reversed-both": (
            "(windows (reverse ?a ?d) ?s ?t)",
            "(reverse (reverse (windows ?a ?s ?t) ?d) ?e)",
            f"(= ?d (access-rank ?a)) (= ?e (+ ?d 1)) (or (= {t} 1) (> {t}"
            " 3))"),
        "strides-added": (
            "(slice (windows ?a ?s ?t) ?d ?l ?h)",
            "(windows (slice ?a ?d ?l (+ ?l (* (- ?h ?l 1) (nth ?t 0)) (nth ?s"
            " 0))) ?s ?t)", "(= ?d (access-rank ?a)) (= (mod ?l 2) 0)"),
        "end-too-far": (
            "(slice (windows ?a ?s ?t) ?d 0 ?h)",
            "(windows (slice ?a ?d 0 (* ?h (nth ?t 0))) ?s ?t)",
            f"(= ?d (access-rank ?a)) (<= (+ {s} 1) (* 2 {t}))"),
        "sum-is-whole": (
            "(compute reduceSum (access (compute reduceSum (windows ?a ?s ?t))"
            " 0))", "(compute reduceSum ?a)",
            f"(= {s} {t}) (= (access-rank ?a) 0)"),
        "max-is-whole": (
            "(compute reduceMax (access (compute reduceMax (windows ?a ?s ?t))"
            " 0))", "(compute reduceMax ?a)",
            f"(<= {t} {s}) (= (access-rank ?a) 0)"),
        "padded-max": (
            "(compute reduceMax (windows (pad ?a zero ?d ?l ?h) ?s ?t))",
            "(compute reduceMax (windows (pad ?a min ?d ?l ?h) ?s ?t))",
            "(= ?d (access-rank ?a)) (= (dtype ?a) f32)"),
        "padded-mean": (
            "(compute reduceMean (windows (pad ?a zero ?d ?l 0) ?s ?t))",
            "(pad (compute reduceMean (windows ?a ?s ?t)) zero ?d ?l 0)",
            f"(= ?d (access-rank ?a)) (= {t} 1)"),
        "tile": ("(windows ?a ?s ?t)",
                 "(reshape ?a (append (access-shape ?a) (list ?n)) ?s)",
                 f"(= ?n (/ (dim ?a (access-rank ?a)) {s})) (= {s} {t})"),
        "of-windows": (
            "(compute reduceMax (windows (compute reduceMax (windows ?a ?s ?t))"
            " ?q ?r))", "(compute reduceMax (windows ?a (mul-lists ?s ?q)"
            " (mul-lists ?t ?r)))", "(= (access-rank ?a) 0)"),
        "sums-of-windows": (
            "(compute reduceSum (access (windows ?a ?s ?t) 0))",
            f"(compute (scale {s}) (compute reduceSum ?a))",
            f"(= {t} 1) (= (dtype ?a) f32) (= (access-rank ?a) 0)"),
        "kernel-of-one": ("(windows ?a ?s ?t)",
                          "(access (windows ?a ?t ?s) (rank ?a))",
                          f"(<= {s} 2) (<= {t} 2)"),
        "short-by-one": (
            "(windows ?a ?s ?t)",
            "(windows (slice ?a ?d 0 (- (dim ?a ?d) 1)) ?s ?t)",
            f"(= ?d (access-rank ?a)) (> (dim ?a ?d) {s}) (>= {t} 2)")}
    for name, (left, right, clause) in pairs.items():
        yield (f"windows-{name}", left, right, where(one, clause))
        if "?u" not in left:
            yield (f"windows-{name}-two", left, right, where(
                one.replace("1)", "2)"), clause.replace("?d (access-rank ?a)",
                                                       "?d (+ 1 (access-rank"
                                                       " ?a))")))


FLOATS = ("f32", "f64")
HALVES = ("bf16", "f16")
INTEGERS = ("i8", "u8", "i16", "u16", "i32")


def un(op, x):
    return f"(compute {op} {x})"


def bi(op, x, y):
    return f"(compute {op} (pair {x} {y}))"


def wraps():
    """At the ends of the range of an integer dtype."""
    a, b = "?a", "?b"
    for d in INTEGERS:
        signed = d[0] == "i"
        most = {"i8": 127, "u8": 255, "i16": 32767, "u16": 65535,
                "i32": 2147483647}[d]
        rules = {
            "max-plus": (bi("max", un("(offset 1)", a), a),
                         un("(offset 1)", a)),
            "relu-of-difference": (un("relu", bi("sub", a, b)),
                                   bi("sub", bi("max", a, b), b)),
            "twice-halved": (bi("div", un("(scale 2)", a),
                                un("(offset 2)", un("(scale 0)", a))), a),
            "max-of-scaled": (bi("max", un("(scale 3)", a),
                                 un("(scale 3)", b)),
                              un("(scale 3)", bi("max", a, b))),
            "clip-of-sum": (un(f"(clip 0 {most})", un("(offset 1)", a)),
                            un("(offset 1)", un(f"(clip 0 {most - 1})", a))),
            "sum-of-max": (bi("add", bi("max", a, b), bi("min", a, b)),
                           bi("add", bi("max", a, b), bi("max", a, b))),
            "square-order": (bi("max", un("square", a), a),
                             un("square", a)),
            "least-of-square": (un("relu", un("square", a)),
                                un("square", a)) if signed else
                               (un("(clip 0 %d)" % (most - 1), a), a),
            "difference-of-extrema": (
                bi("sub", bi("max", a, b), bi("min", a, b)),
                un("abs", bi("sub", a, b)))}
        if signed:
            rules["abs-is-relu"] = (un("abs", a), un("relu", un("abs", a)))
            rules["neg-of-min"] = (un("neg", bi("min", a, b)),
                                   bi("max", un("neg", a), un("neg", b)))
        if d == "i32":
            del rules["clip-of-sum"]
        for name, (left, right) in rules.items():
            yield (f"wraps-{name}-{d}", left, right,
                   where(f"(= (dtype ?a) {d})"))


def casts():
    """For numbers that a dtype in between does not hold."""
    order = {"i8": (-128, 127), "u8": (0, 255), "i16": (-2**15, 2**15 - 1),
             "u16": (0, 2**16 - 1), "i32": (-2**31, 2**31 - 1),
             "i64": (-2**53, 2**53), "u32": (0, 2**32 - 1)}
    for d, (lo, hi) in order.items():
        for e, (low, high) in order.items():
            if low <= lo and hi <= high:
                continue
            yield (f"cast-{d}-by-{e}", un("(cast f64)", un(f"(cast {e})",
                   "?a")), un("(cast f64)", "?a"),
                   where(f"(= (dtype ?a) {d})"))
    for d, e in (("i32", "f32"), ("u32", "f32"), ("i16", "bf16"),
                 ("u16", "f16"), ("i16", "f16"), ("i64", "f32"),
                 ("u16", "bf16")):
        yield (f"cast-{d}-{e}", un(f"(cast {d})", un(f"(cast {e})", "?a")),
               "?a", where(f"(= (dtype ?a) {d})"))
    for d in ("i8", "u8", "i16", "u16", "i32"):
        lo, hi = order[d]
        for f in ("f32", "f64", "bf16", "f16"):
            yield (f"cast-{f}-{d}-cut", un(f"(cast {f})", un(f"(cast {d})",
                   "?a")), un("floor", "?a"), where(f"(= (dtype ?a) {f})"))
        yield (f"cast-{d}-saturates", un(f"(cast {d})", un("(cast i64)",
               "?a")), un(f"(cast {d})", "?a"), where("(= (dtype ?a) f64)"))
        yield (f"cast-{d}-bool", un(f"(cast {d})", un("(cast bool)", "?a")),
               un("(clip 0 1)", "?a"), where(f"(= (dtype ?a) {d})"))
        yield (f"cast-{d}-sum", un(f"(cast i32)", bi("add", "?a", "?b")),
               bi("add", un("(cast i32)", "?a"), un("(cast i32)", "?b")),
               where(f"(= (dtype ?a) {d})")) if d != "i32" else \
              ("cast-i32-sum-f64", un("(cast f64)", bi("add", "?a", "?b")),
               bi("add", un("(cast f64)", "?a"), un("(cast f64)", "?b")),
               where("(= (dtype ?a) i32)"))


def narrow_floats():
    """Where 16 bits round."""
    a, b, c = "?a", "?b", "?c"
    rules = {
        "distributes": (bi("mul", a, bi("add", b, c)),
                        bi("add", bi("mul", a, b), bi("mul", a, c))),
        "cancels": (bi("sub", bi("add", a, b), b), a),
        "scaled-sum": (un("(scale 3)", bi("add", a, b)),
                       bi("add", un("(scale 3)", a), un("(scale 3)", b))),
        "offsets": (un("(offset 256)", un("(offset 1)", a)),
                    un("(offset 257)", a)),
        "thirds": (un("(scale 0.375)", un("(scale 3)", a)),
                   un("(scale 1.125)", a)),
        "square-of-sum": (un("square", bi("add", a, b)),
                          bi("add", bi("add", un("square", a),
                                       un("(scale 2)", bi("mul", a, b))),
                             un("square", b))),
        "wide-product": (un("(cast f32)", bi("mul", a, b)),
                         bi("mul", un("(cast f32)", a),
                            un("(cast f32)", b))),
        "wide-sum": (un("(cast f32)", bi("add", a, b)),
                     bi("add", un("(cast f32)", a), un("(cast f32)", b))),
        "sum-of-rounded": (un("reduceSum", un("(scale 3)", a)),
                           un("(scale 3)", un("reduceSum", a))),
        "five-times": (bi("add", bi("add", bi("add", a, a), bi("add", a, a)),
                          bi("add", a, b)),
                       bi("add", un("(scale 5)", a), b)),
        "reciprocals": (bi("div", a, b), bi("mul", a, un("recip", b)))}
    for d in HALVES:
        for name, (left, right) in rules.items():
            if (name, d) == ("offsets", "f16"):
                continue  # f16 has 257
            yield (f"rounds-{name}-{d}", left, right,
                   where(f"(= (dtype ?a) {d})"))


def no_value():
    """Where a logarithm, a root or a quotient has no value."""
    a, b = "?a", "?b"
    partial = {"log": un("log", a), "sqrt": un("sqrt", a),
               "recip": un("recip", a), "rsqrt": un("rsqrt", a),
               "quotient": bi("div", b, a),
               "log-sum": un("log", un("reduceSum", a)),
               "max-of-log": bi("max", un("log", a), un("log", b))}
    for name, p in partial.items():
        more = "" if "?b" in p else b
        rules = {
            "cancels": (bi("add", un("atan", p), bi("sub", p, p)),
                        un("atan", p)),
            "behind-exp": (bi("add", un("exp", un("neg", un("square", p))),
                              bi("sub", p, p)),
                           un("exp", un("neg", un("square", p)))),
            "inverse": (bi("mul", p, un("recip", p)),
                        un("(offset 1)", un("(scale 0)", p))),
            "dead": (un("tanh", bi("add", p, un("(scale 0)", p))),
                     un("tanh", p)),
            "in-a-sum": (un("atan", bi("sub", un("(scale 2)", p), p)),
                         un("atan", p)),
            "absorbed": (bi("max", un("atan", p), bi("min", un("atan", p),
                                                    un("square", p))),
                         un("atan", p))}
        for kind, (left, right) in rules.items():
            yield (f"no-value-{kind}-{name}", left, right,
                   where("(= (dtype ?a) f32)"))


def any_operator():
    """For one operator of those that the condition lets through."""
    kind = "(= (op-kind ?op) elementwise)"
    red = "(= (op-kind ?op) reduce)"
    fold = "(= (op-kind ?op) fold)"
    rules = {
        "idempotent": ("(compute ?op (compute ?op ?a))", "(compute ?op ?a)",
                       kind),
        "commutes": ("(compute ?op (compute ?q ?a))",
                     "(compute ?q (compute ?op ?a))",
                     kind + " (= (op-kind ?q) elementwise)"),
        "odd": ("(compute ?op (compute neg ?a))",
                "(compute neg (compute ?op ?a))", kind),
        "even": ("(compute ?op (compute neg ?a))", "(compute ?op ?a)", kind),
        "over-zeros": ("(compute ?op (pad ?a zero ?d ?l ?h))",
                       "(pad (compute ?op ?a) zero ?d ?l ?h)", kind),
        "over-lowest": ("(compute ?op (pad ?a min ?d ?l ?h))",
                        "(pad (compute ?op ?a) min ?d ?l ?h)",
                        kind + " (is-monotone ?op)"),
        "over-max": ("(compute ?op (compute reduceMax ?a))",
                     "(compute reduceMax (compute ?op ?a))", kind),
        "over-sum": ("(compute ?op (compute reduceSum ?a))",
                     "(compute reduceSum (compute ?op ?a))",
                     kind + " (maps-zero ?op)"),
        "repeats": ("(compute ?op (repeat ?a ?d ?f))", "(compute ?op ?a)",
                    red + " (>= ?d (access-rank ?a))"),
        "edges": ("(compute ?op (pad ?a edge ?d ?l ?h))", "(compute ?op ?a)",
                  red + " (>= ?d (access-rank ?a)) (is-associative ?op)"),
        "stages": ("(compute ?op (access (compute ?op (access ?a 1)) 0))",
                   "(compute ?op (access ?a 0))", red + " (> (rank ?a) 0)"),
        "halves": ("(compute ?op (concat ?a ?b ?d))", "(compute ?op ?a)",
                   red + " (>= ?d (access-rank ?a))"),
        "turned": ("(compute ?op (pair ?a ?b))", "(compute ?op (pair ?b ?a))",
                   fold),
        "regrouped": ("(compute ?op (pair ?a (compute ?op (pair ?b ?c))))",
                      "(compute ?op (pair (compute ?op (pair ?a ?b)) ?c))",
                      fold),
        "with-itself": ("(compute ?op (pair ?a ?a))", "?a", fold),
        "reversed": ("(compute ?op (reverse ?a ?d))", "(compute ?op ?a)",
                     fold),
        "of-both": ("(compute ?op (pair (compute ?q (pair ?a ?b)) ?c))",
                    "(compute ?q (pair (compute ?op (pair ?a ?c)) (compute ?op"
                    " (pair ?b ?c))))", fold + " (= (op-kind ?q) fold)"),
        "softmax": ("(compute ?op (reverse ?a ?d))",
                    "(compute ?op ?a)", "(= (op-kind ?op) softmax)"),
        "fold-of-reduce": ("(compute ?op (concat ?a ?b ?d))",
                           "(compute (fold-of ?op) (pair (compute ?op ?a)"
                           " (compute ?op ?b)))",
                           red + " (>= ?d (access-rank ?a))")}
    for name, (left, right, clause) in rules.items():
        yield (f"any-{name}", left, right, where(clause))
        if name != "stages":  # equal parts have the mean of all
            yield (f"any-{name}-f32", left, right,
                   where(clause, "(= (dtype ?a) f32)"))


def reductions():
    """Sums over other items, and numbers of items."""
    n = "(elements ?a)"
    rules = {
        "pad-edge": ("(compute reduceSum (pad ?a edge ?d ?l ?h))",
                     "(compute reduceSum ?a)", "(>= ?d (access-rank ?a))"),
        "product-of-zeros": ("(compute reduceProd (pad ?a zero ?d ?l ?h))",
                             "(compute reduceProd ?a)",
                             "(>= ?d (access-rank ?a))"),
        "mean-of-parts": (
            "(compute reduceMean (concat ?a ?b ?d))",
            "(compute (scale 0.5) (compute add (pair (compute reduceMean ?a)"
            " (compute reduceMean ?b))))", "(>= ?d (access-rank ?a))"),
        "sum-repeats": ("(compute reduceSum (repeat ?a ?d ?f))",
                        "(compute (scale ?f) (compute reduceSum ?a))",
                        "(<= ?d (access-rank ?a)) (= (access-rank ?a) 0)"
                        " (= (dtype ?a) i8)"),
        "prod-repeats": ("(compute reduceProd (repeat ?a ?d ?f))",
                         "(compute reduceProd (compute square ?a))",
                         "(>= ?d (access-rank ?a)) (= (mod ?f 2) 0)"),
        "max-to-sum": ("(compute reduceMax (pad ?a zero ?d ?l 0))",
                       "(compute relu (compute reduceMax ?a))",
                       "(>= ?d (access-rank ?a))"),
        "dot-of-pads": (
            "(compute dotProd (pair (pad ?a zero ?d ?l ?h) ?b))",
            "(compute dotProd (pair ?a (slice ?b ?d 0 ?n)))",
            "(>= ?d (access-rank ?a)) (= ?n (dim ?a ?d))"),
        "sum-of-product": (
            "(compute reduceSum (compute mul (pair ?a ?b)))",
            "(compute mul (pair (compute reduceSum ?a) (compute reduceSum"
            " ?b)))", "(= (dtype ?a) f32) (< (elements ?a) 50)"),
        "softmax-parts": (
            "(compute softmax (concat ?a ?b ?d))",
            "(concat (compute softmax ?a) (compute softmax ?b) ?d)",
            "(>= ?d (access-rank ?a))"),
        "softmax-shifts": ("(compute softmax (compute (scale ?v) ?a))",
                           "(compute softmax ?a)", "(= (dtype ?a) f32)"),
        "softmax-slices": ("(slice (compute softmax ?a) ?d ?l ?h)",
                           "(compute softmax (slice ?a ?d ?l ?h))",
                           "(>= ?d (access-rank ?a))"),
        "mean-scaled": (
            "(compute (scale ?v) (compute reduceSum ?a))",
            "(compute reduceMean ?a)",
            f"(= (* ?v {n}) 1) (= (access-rank ?a) 1) (= (dtype ?a) f64)"),
        "min-is-neg-max": ("(compute reduceMin ?a)",
                           "(compute neg (compute reduceMax (compute neg"
                           " ?a)))", "(= (dtype ?a) i8)"),
        "sum-then-square": ("(compute square (compute reduceSum ?a))",
                            "(compute reduceSum (compute square ?a))", ""),
        "div-fold": ("(compute div (concat ?a ?b ?d))",
                     "(compute div (concat ?b ?a ?d))",
                     "(= ?d (access-rank ?a))"),
        "sub-fold": ("(compute sub (concat ?a ?b ?d))",
                     "(compute sub (pair (compute sub ?a) (compute sub ?b)))",
                     "(= ?d (access-rank ?a))"),
        "sub-reversed": ("(compute sub (reverse ?a ?d))",
                         "(compute neg (compute sub ?a))",
                         "(= ?d (access-rank ?a))"),
        "gather-turned": ("(compute gather (pair (reverse ?a ?d) ?b))",
                          "(reverse (compute gather (pair ?a ?b)) ?d)",
                          "(>= ?d (access-rank ?a))"),
        "gather-sliced": (
            "(compute gather (pair (slice ?a ?d ?l ?h) (slice ?b ?d ?l ?h)))",
            "(slice (compute gather (pair ?a ?b)) ?d ?l ?h)",
            "(>= ?d (access-rank ?a))"),
        "gather-flat": ("(compute gather (pair (transpose ?a ?p) (transpose ?b"
                        " ?p)))", "(transpose (compute gather (pair ?a ?b))"
                        " ?p)", "(= (access-rank ?a) 0)")}
    for name, (left, right, clause) in rules.items():
        yield (f"reduce-{name}", left, right, where(clause))


def literals():
    """For literals of another sign, or far apart."""
    f = "(= (dtype ?a) f32)"
    i = "(= (dtype ?a) i32)"
    rules = {
        "max-scale": ("(compute reduceMax (compute (scale ?x) ?a))",
                      "(compute (scale ?x) (compute reduceMax ?a))",
                      f"{f} (> (* ?x ?x) ?x)"),
        "relu-scale": ("(compute relu (compute (scale ?x) ?a))",
                       "(compute (scale ?x) (compute relu ?a))",
                       f"{f} (!= ?x -1)"),
        "abs-scale": ("(compute abs (compute (scale ?x) ?a))",
                      "(compute (scale ?x) (compute abs ?a))", f),
        "clips": ("(compute (clip ?x ?y) (compute (clip ?u ?v) ?a))",
                  "(compute (clip ?x ?y) ?a)", f"{f} (<= ?u ?x)"),
        "clips-apart": ("(compute (clip ?x ?y) (compute (clip ?u ?v) ?a))",
                        "(compute (clip ?u ?v) (compute (clip ?x ?y) ?a))", f),
        "clip-offset": ("(compute (offset ?z) (compute (clip ?x ?y) ?a))",
                        "(compute (clip ?x ?y) (compute (offset ?z) ?a))",
                        f"{f} (< (abs ?z) 1e-6)"),
        "clip-scale": ("(compute (scale ?z) (compute (clip -1 1) ?a))",
                       "(compute (clip -1 1) (compute (scale ?z) ?a))",
                       f"{f} (<= ?z 1)"),
        "offset-scale": ("(compute (scale ?x) (compute (offset ?y) ?a))",
                         "(compute (offset ?y) (compute (scale ?x) ?a))",
                         f"{f} (or (= ?x 1) (= (* ?y ?y) ?y))"),
        "scales-of-nothing": ("(compute (scale ?x) (compute (scale ?y) ?a))",
                              "(compute (scale ?z) ?a)",
                              f"{f} (= ?z (* ?x ?y))"),
        "squared": ("(compute square (compute (scale ?x) ?a))",
                    "(compute (scale (* ?x ?x)) (compute square ?a))", f),
        "offset-squared": ("(compute square (compute (offset ?x) ?a))",
                           "(compute (offset (* ?x ?x)) (compute square ?a))",
                           f"{f} (<= (abs ?x) 1e-9)"),
        "relu-clip": ("(compute relu (compute (clip ?x ?y) ?a))",
                      "(compute (clip 0 ?y) ?a)", f"{f} (<= ?x 0)"),
        "wrapped-offset": ("(compute (offset ?x) (compute (offset ?y) ?a))",
                           "(compute (offset (+ ?x ?y)) ?a)", i),
        "wrapped-scale": ("(compute (scale ?x) (compute (scale ?y) ?a))",
                          "(compute (scale (* ?x ?y)) ?a)", i),
        "integer-clip-offset": (
            "(compute (offset ?z) (compute (clip ?x ?y) ?a))",
            "(compute (clip (+ ?x ?z) (+ ?y ?z)) (compute (offset ?z) ?a))", i),
        "integer-relu-scale": ("(compute relu (compute (scale ?x) ?a))",
                               "(compute (scale ?x) (compute relu ?a))",
                               f"{i} (> ?x 0)"),
        "least-scale": ("(compute min (pair (compute (scale ?x) ?a) (compute"
                        " (scale ?y) ?a)))", "(compute (scale ?x) ?a)",
                        f"{f} (<= ?x ?y)"),
        "sigmoid-scale": ("(compute sigmoid (compute (scale ?x) ?a))",
                          "(compute sigmoid ?a)", f"{f} (> ?x 0)"),
        "exp-offset": ("(compute exp (compute (offset ?x) ?a))",
                       "(compute (scale ?x) (compute exp ?a))", f),
        "log-scale": ("(compute log (compute (scale ?x) ?a))",
                      "(compute log ?a)", f"{f} (> ?x 0)")}
    for name, (left, right, clause) in rules.items():
        yield (f"literal-{name}", left, right, where(clause))


def layouts():
    """Where two sizes differ, or one is more than 1."""
    n = "(dim ?a ?d)"
    rules = {
        "flatten-turned": ("(flatten (transpose ?a ?p))", "(flatten ?a)",
                           "(= (access-rank ?a) 0) (= ?p (list 1 0))"),
        "flatten-square": ("(flatten (transpose ?a ?p))", "(flatten ?a)",
                           "(= (access-rank ?a) 2) (= ?p (list 1 0)) (= (dim"
                           " ?a 0) (dim ?a 1))"),
        "reshape-reversed": ("(flatten (reverse ?a ?d))",
                             "(reverse (flatten ?a) 0)",
                             "(= (access-rank ?a) (rank ?a)) (> (rank ?a) 0)"),
        "repeat-tile": ("(repeat ?a ?d 2)", "(concat ?a ?a ?d)", ""),
        "repeat-turned": ("(repeat (repeat ?a ?d ?f) ?g ?h)",
                          "(repeat (repeat ?a ?g ?f) ?d ?h)",
                          "(= (dim ?a ?d) (dim ?a ?g))"),
        "repeat-slice": ("(slice (repeat ?a ?d ?f) ?d ?l ?h)",
                         "(repeat (slice ?a ?d (/ ?l ?f) (/ ?h ?f)) ?d ?f)",
                         "(= (mod (- ?h ?l) ?f) 0)"),
        "repeat-reverse": ("(reverse (repeat ?a ?d ?f) ?d)",
                           "(repeat ?a ?d ?f)", "(< (dim ?a ?d) 3)"),
        "concat-turned": ("(reverse (concat ?a ?b ?d) ?d)",
                          "(concat (reverse ?a ?d) (reverse ?b ?d) ?d)",
                          "(= (dim ?a ?d) (dim ?b ?d))"),
        "concat-axes": ("(concat (concat ?a ?b ?d) (concat ?c ?e ?d) ?g)",
                        "(concat (concat ?a ?b ?g) (concat ?c ?e ?g) ?d)",
                        "(!= ?d ?g)"),
        "concat-slice": ("(slice (concat ?a ?b ?d) ?d ?l ?h)",
                         "(slice ?a ?d ?l ?h)",
                         f"(<= ?l {n}) (<= ?h (+ {n} 1)) (> {n} ?l)"),
        "concat-slice-second": (
            "(slice (concat ?a ?b ?d) ?d ?l ?h)",
            f"(slice ?b ?d (- ?l {n}) (- ?h {n}))", f"(>= (+ ?l 1) {n})"),
        "pad-slice": ("(slice (pad ?a zero ?d ?l ?h) ?d ?m ?n)",
                      "(slice ?a ?d (- ?m ?l) (- ?n ?l))", "(>= ?m ?l)"),
        "pad-edge-twice": ("(pad (pad ?a zero ?d ?l ?h) edge ?d ?m ?n)",
                           "(pad ?a zero ?d (+ ?l ?m) (+ ?h ?n))",
                           "(> ?l 0)"),
        "pad-kinds": ("(pad (pad ?a ?k ?d ?l 0) ?j ?d ?h 0)",
                      "(pad (pad ?a ?j ?d ?h 0) ?k ?d ?l 0)", "(> ?l 0)"),
        "pad-min": ("(compute relu (pad ?a min ?d ?l ?h))",
                    "(pad (compute relu ?a) min ?d ?l ?h)", ""),
        "broadcast-lost": ("(compute reduceSum (broadcast ?a ?s))",
                           "(compute reduceSum ?a)", "(= (access-rank ?a) 0)"),
        "broadcast-one": ("(slice (broadcast ?a ?s) ?d ?l ?h)",
                          "(broadcast (slice ?a ?d ?l ?h) ?s)", ""),
        "squeezed": ("(insertAxis (squeeze ?a ?d) ?g)", "?a",
                     "(= (rank ?a) 2)"),
        "axes-put-in": ("(insertAxis (insertAxis ?a ?d) ?g)",
                        "(insertAxis (insertAxis ?a ?g) ?d)", "(< ?d ?g)"),
        "transposes-turned": ("(transpose (transpose ?a ?p) ?q)",
                              "(transpose ?a (compose ?q ?p))",
                              "(= (rank ?a) 3)"),
        "transpose-slices": ("(transpose (slice ?a ?d ?l ?h) ?p)",
                             "(slice (transpose ?a ?p) (nth ?p ?d) ?l ?h)",
                             ""),
        "access-far": ("(access (transpose ?a ?p) ?k)",
                       "(transpose (access ?a ?k) (invert ?p))",
                       "(<= (rank ?a) 3)"),
        "product-turned": ("(cartProd ?a ?b)", "(cartProd ?b ?a)",
                           "(= (access-shape ?a) (access-shape ?b))"),
        "product-sliced": ("(slice (cartProd ?a ?b) ?d ?l ?h)",
                           "(cartProd (slice ?a ?d ?l ?h) ?b)",
                           "(<= ?d (access-rank ?a)) (< ?d (+ (access-rank ?a)"
                           " (access-rank ?b))) (< ?d (rank ?a))"),
        "reshape-cut": (
            "(reshape (slice ?a 0 ?l ?h) ?s ?c)",
            "(slice (reshape ?a ?r ?c) 0 (/ ?l ?k) (/ ?h ?k))",
            "(= (rank ?a) 1) (= (access-rank ?a) 1) (= (rank ?s) 2) (= ?k (nth"
            " ?s 1)) (divides ?k (dim ?a 0)) (= ?r (list (/ (dim ?a 0) ?k)"
            " ?k)) (= ?c (list))")}
    for name, (left, right, clause) in rules.items():
        yield (f"layout-{name}", left, right, where(clause))


def selected():
    """Where what is chosen by is 0, or no truth value."""
    three = "(concat (pair {} {}) (access (insertAxis {} ?n) ?n) ?n)"

    def select(c, x, y):
        return f"(compute select {three.format(c, x, y)})"

    here = "(= ?n (rank ?a)) (= (access-rank ?a) (rank ?a))"
    rules = {
        "swapped": (select("(compute neg ?a)", "?b", "?c"),
                    select("?a", "?c", "?b")),
        "offset": (select("(compute (offset 1) ?a)", "?b", "?c"),
                   select("?a", "?b", "?c")),
        "squared": (select("(compute square ?a)", "?b", "?c"), "?b"),
        "is-max": (select("(compute sub (pair ?a ?b))", "?a", "?c"),
                   "(compute max (pair ?a ?b))"),
        "of-itself": (select("?a", "?a", "?c"), "(compute relu ?a)"),
        "sum": (f"(compute add (pair {select('?a', '?b', '?c')}"
                f" {select('?b', '?b', '?c')}))",
                select("(compute add (pair ?a ?b))",
                       "(compute add (pair ?b ?b))",
                       "(compute add (pair ?c ?c))")),
        "nested": (select("?a", select("?b", "?a", "?c"), "?c"),
                   select("(compute min (pair ?a ?b))", "?a", "?b")),
        "scaled": (select("(compute (scale ?v) ?a)", "?b", "?c"),
                   select("?a", "?b", "?c")),
        "abs": (select("(compute abs ?a)", "?b", "?c"),
                select("?a", "?b", "?c")),
        "floor": (select("(compute floor ?a)", "?b", "?c"),
                  select("?a", "?b", "?c"))}
    alike = (("abs", "u8"), ("floor", "i8"), ("floor", "u8"))
    for name, (left, right) in rules.items():
        for d in ("f32", "i8", "u8"):
            if (name, d) in alike:
                continue
            yield (f"select-{name}-{d}", left, right,
                   where(here, f"(= (dtype ?a) {d})"))


def zeros():
    """Where what is zero is elsewhere."""
    rules = {
        "next-axis": ("(compute reduceSum (slice ?a ?d 0 ?h))",
                      "(compute reduceSum ?a)",
                      "(>= ?d (access-rank ?a)) (is-zero ?a ?d (+ ?h 1) (dim"
                      " ?a ?d))"),
        "before": ("(slice ?a ?d ?l ?h)",
                   "(pad (slice ?a ?d (+ ?l 1) ?h) zero ?d 1 0)",
                   "(< (+ ?l 1) ?h) (is-zero ?a ?d 0 ?l)"),
        "product": ("(compute mul (pair ?a ?b))",
                    "(compute (scale 0) ?a)",
                    "(= ?m (- (dim ?a ?d) 1)) (is-zero ?a ?d 0 ?m) (= (dtype"
                    " ?a) f32)"),
        "max": ("(compute reduceMax (slice ?a ?d 0 ?h))",
                "(compute reduceMax ?a)",
                "(>= ?d (access-rank ?a)) (is-zero ?a ?d ?h (dim ?a ?d))"),
        "mean": ("(compute reduceMean (slice ?a ?d 0 ?h))",
                 "(compute reduceMean ?a)",
                 "(>= ?d (access-rank ?a)) (is-zero ?a ?d ?h (dim ?a ?d))"),
        "other": ("(concat ?a ?b ?d)", "(concat ?b ?a ?d)",
                  "(is-zero ?a) (= (shape ?a) (shape ?b))"),
        "quotient": ("(compute div (pair ?a ?b))", "(compute (scale 0) ?b)",
                     "(is-zero ?a) (= (dtype ?a) f32)")}
    for name, (left, right, clause) in rules.items():
        text = where(clause)
        if "?d" not in left and "?d" in clause:
            text = ":for (?d (axes ?a))\n  " + text
        yield (f"zeros-{name}", left, right, text)


FAMILIES = families_ranks.FAMILIES + families_listed.FAMILIES + (
    overflows, columns, floors, windows, wraps, casts, narrow_floats, no_value,
    any_operator, reductions, literals, layouts, selected, zeros)


def rules():
    for family in FAMILIES:
        for name, left, right, clauses in family():
            yield family.__name__, name, left, right, clauses
