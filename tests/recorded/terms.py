# SPDX-License-Identifier: MIT
"""Programs of one kind of term each, in pairs: two ways to write the same, or what
is only nearly the same.  x and z are (6 4), v is (2 5 6)."""

X, Z, V = "(access x 2)", "(access z 2)", "(access v 3)"


def unary(op, a=X):
    return f"(compute {op} {a})"


def both(op, a=X, b=Z):
    return f"(compute {op} (pair {a} {b}))"


def rows(op, a="x", at=1):
    return f"(compute {op} (access {a} {at}))"


def turned(a, *order):
    return f"(transpose {a} (list {' '.join(map(str, order))}))"


def dots(a="x", b="z"):
    return f"(compute dotProd (cartProd (access {a} 1) (access {b} 1)))"


def windows(a, k, s, more=""):
    return f"(windows {a} (shape {k}) (stride {s}){more})"


# Name: one term, another; `~` stands in names of pairs that differ somewhere.
TERMS = {
    "square": (unary("square"), both("mul", X, X)),
    "abs": (unary("abs"), both("max", X, unary("neg"))),
    "relu~": (unary("relu"), unary("abs")),
    "relu-twice": (unary("relu", unary("relu")), unary("relu")),
    "clip": (unary("(clip -2 3)"), unary("(clip -2 9)", unary("(clip -7 3)"))),
    "clip~": (unary("(clip -2 3)"), unary("(clip -2 4)")),
    "scale": (unary("(scale 3)"), both("add", X, both("add", X, X))),
    "offset": (unary("(offset 2)", unary("(offset 5)")), unary("(offset 7)")),
    "offset~": (unary("(offset 2)", unary("(offset 5)")), unary("(offset 8)")),
    "floor": (unary("floor", unary("floor")), unary("floor")),
    "add-three": (both("add", both("add"), X), both("add", X, both("add"))),
    "sub~": (both("sub"), both("sub", Z, X)),
    "max-min": (both("max"), unary("neg", both("min", unary("neg"),
                                               unary("neg", Z)))),
    "min-of-max": (both("min", X, both("max")), X),
    "distribute": (both("mul", X, both("add")),
                   both("add", both("mul", X, X), both("mul"))),
    "div~": (both("div"), both("div", Z, X)),
    "cast-i16": (unary("(cast i16)"), unary("(cast i16)", unary("(cast i32)"))),
    "cast-u8~": (unary("(cast i32)", unary("(cast u8)")), unary("(cast i32)")),
    "cast-f64": (unary("(cast f64)"), unary("(cast f64)", unary("(offset 0)"))),
    "cast-bool": (unary("(cast bool)"), unary("(cast bool)", unary("abs"))),
    "sum": (rows("reduceSum"), rows("reduceSum", turned("x", 0, 1))),
    "sum-order": (rows("reduceSum", at=0),
                  f"(compute reduceSum {turned('(access x 0)', 1, 0)})"),
    "sum-parts": (rows("reduceSum", at=0),
                  "(compute reduceSum (access (compute reduceSum "
                  "(access x 1)) 0))"),
    "sum~": (rows("reduceSum"), rows("reduceSum", "z")),
    "mean": (rows("reduceMean"), rows("reduceMean", turned("x", 0, 1))),
    "mean~": (rows("reduceMean"), unary("(scale 4)", rows("reduceMean"))),
    "most": (rows("reduceMax"), unary("neg", f"(compute reduceMin (access "
                                      f"{unary('neg')} 1))")),
    "least": (rows("reduceMin", at=0),
              "(compute reduceMin (access (compute reduceMin "
              "(access x 1)) 0))"),
    "product": (rows("reduceProd"), f"(compute reduceProd {turned('(access x 1)', 0, 1)})"),
    "dots": (dots(), turned(dots("z", "x"), 1, 0)),
    "dots~": (dots(), dots("z", "x")),
    "dots-rows": ("(compute dotProd (pair (access x 1) (access z 1)))",
                  "(compute reduceSum (compute mul (pair (access x 1) "
                  "(access z 1))))"),
    "dots-cut": (dots(), "(compute add (pair (compute dotProd (cartProd "
                 "(slice (access x 1) 1 0 3) (slice (access z 1) 1 0 3))) "
                 "(compute dotProd (cartProd (slice (access x 1) 1 3 4) "
                 "(slice (access z 1) 1 3 4)))))"),
    "turn": (turned(turned(X, 1, 0), 1, 0), X),
    "turn-three": (turned(turned(V, 1, 2, 0), 1, 2, 0), turned(V, 2, 0, 1)),
    "turn~": (turned(V, 1, 2, 0), turned(turned(V, 1, 2, 0), 0, 1, 2)),
    "slice": (f"(slice (slice {X} 0 1 6) 0 2 4)", f"(slice {X} 0 3 5)"),
    "slice~": (f"(slice (slice {X} 0 1 6) 0 2 4)", f"(slice {X} 0 2 4)"),
    "slice-concat": (f"(slice (concat {X} {Z} 0) 0 6 12)", Z),
    "concat": (f"(concat {X} {Z} 1)",
               turned(f"(concat {turned(X, 1, 0)} {turned(Z, 1, 0)} 0)", 1, 0)),
    "concat-halves": (f"(concat (slice {X} 0 0 2) (slice {X} 0 2 6) 0)", X),
    "pad": (f"(slice (pad {X} zero 1 2 3) 1 2 6)", X),
    "pad-twice": (f"(pad (pad {X} zero 0 1 1) zero 0 2 0)",
                  f"(pad {X} zero 0 3 1)"),
    "pad-edge": (f"(pad {X} edge 1 1 2)", f"(pad (pad {X} edge 1 1 1) edge 1 0 1)"),
    "pad-min": (f"(pad (pad {X} min 1 1 1) min 0 1 2)",
                f"(pad (pad {X} min 0 1 2) min 1 1 1)"),
    "pad~": (f"(pad {X} zero 1 1 2)", f"(pad {X} edge 1 1 2)"),
    "pad-relu": (unary("relu", f"(pad {X} zero 0 1 1)"),
                 f"(pad {unary('relu')} zero 0 1 1)"),
    "windows": (f"(compute reduceSum {windows('(access v 1)', '2 3', '1 1')})",
                f"(compute reduceSum {turned(windows('(access v 1)', '2 3', '1 1'), 0, 1, 2, 4, 3)})"),
    "windows-dilated": (f"(compute reduceMax {windows('(access v 1)', '2 2', '2 1', ' (dilation 2 3)')})",
                        f"(compute reduceMax (slice (windows (access v 1) (shape 2 2) (stride 1 1) (dilation 2 3)) 1 0 2))"),
    "windows-one": (f"(squeeze (squeeze {windows('(access v 1)', '1 1', '1 1')} 3) 3)",
                    V),
    "squeeze": (f"(squeeze (insertAxis {X} 1) 1)", X),
    "broadcast": (f"(broadcast (insertAxis {X} 0) (shape 3 6 4))",
                  f"(insertAxis (broadcast {X} (shape 6 4)) 0)"),
    "broadcast-turned": (f"(broadcast (insertAxis {X} 0) (shape 3 6 4))",
                         turned(f"(broadcast (insertAxis {turned(X, 1, 0)} 0) "
                                "(shape 3 4 6))", 0, 2, 1)),
    "broadcast-sum": ("(compute reduceSum (access (broadcast (insertAxis "
                      f"{X} 2) (shape 6 4 3)) 2))", unary("(scale 3)")),
    "flatten": ("(flatten (access v 1))", "(reshape (access v 1) (shape 2) (shape 30))"),
    "reshape": (f"(reshape (reshape {V} (shape 10 6) (shape)) (shape 60) (shape))",
                f"(reshape {V} (shape 60) (shape))"),
    "reshape~": (f"(reshape {X} (shape 4 6) (shape))", turned(X, 1, 0)),
    "repeat": (f"(repeat {X} 0 3)", f"(concat {X} {X} {X} 0)"),
    "reverse": (f"(reverse (reverse {X} 0) 0)", X),
    "reverse~": (f"(reverse {X} 0)", f"(reverse {X} 1)"),
    "reverse-cut": (f"(slice (reverse {X} 0) 0 1 3)", f"(reverse (slice {X} 0 3 5) 0)"),
    "select": ("(compute select (concat (pair (access x 2) (access x 2)) "
               "(access (insertAxis (access z 2) 2) 2) 2))", both("max")),
    "gather": ("(compute gather (pair (access x 0) (access z 0)))",
               "(compute gather (pair (access x 0) (access z 0)))"),
    "gather~": ("(compute gather (pair (access x 0) (access z 0)))",
                "(compute gather (pair (access z 0) (access x 0)))"),
    "materialize": (f"(materialize {both('add')})", both("add", Z, X)),
    "equal": ("(equal x z)", "(equal z x)"),
    "less~": ("(less x z)", "(lessEqual x z)"),
    "where": ("(where (less x z) x z)", "(min x z)"),
    "mod": ("(mod x z)", "(mod x z)"),
    "rem~": ("(mod x z)", "(sub x (mul z (div x z)))"),
    "power": ("(power x 3)", "(mul x (mul x x))"),
    "reflect": ("(padReflect x 0 2 1)", "(reverse (padReflect (reverse x 0) 0 1 2) 0)"),
    "value": ("(padValue x 1 1 2 5)", "(padValue (padValue x 1 0 2 5) 1 1 0 5)"),
    "matmul": ("(matmul x (turned z))", "(rowsByRows x z)"),
    "conv": ("(conv1d (whole v) (slice (whole v) 2 0 3))",
             "(conv1d (whole v) (slice (whole v) 2 0 3) :stride 1)"),
}
FLOATS = {
    "sqrt": (unary("sqrt", unary("square")), unary("abs")),
    "rsqrt": (unary("rsqrt", unary("square")), unary("recip", unary("abs"))),
    "exp": (unary("log", unary("exp")), X),
    "exp-sum": (unary("exp", both("add")), both("mul", unary("exp"),
                                                unary("exp", Z))),
    "tanh": (unary("tanh", unary("neg")), unary("neg", unary("tanh"))),
    "sigmoid": (unary("sigmoid"), unary("recip", unary("(offset 1)", unary(
        "exp", unary("neg"))))),
    "erf": (unary("erf", unary("neg")), unary("neg", unary("erf"))),
    "sin~": (unary("sin"), unary("cos")),
    "atan": (unary("atan"), unary("neg", unary("atan", unary("neg")))),
    "round~": (unary("round"), unary("floor", unary("(offset 0.5)"))),
    "soft": ("(compute softmax (access x 1))",
             "(compute softmax (access (compute (offset 4) (access x 2)) 1))"),
    "soft-whole~": ("(compute softmax (access x 0))",
                    "(compute softmax (access x 1))"),
    "scale-half": (unary("(scale 0.25)"), unary("(scale 0.5)", unary("(scale 0.5)"))),
    "scale~": (unary("(scale 1.00001)"), X),
    "norm": ("(layerNorm x (slice (reshape (access z 2) (shape 24) (shape)) 0 0 4) "
             "(slice (reshape (access z 2) (shape 24) (shape)) 0 4 8) 1 0.001)",) * 2,
    "gelu": ("(gelu x)", "(gelu (neg (neg x)))"),
    "attention": ("(attention x z z)", "(attention x z z :scale 0.5)"),
}
DTYPES = ["f32", "i8", "u16", "f64", "i32", "f16", "u8", "bf16", "i16"]
FLOAT_DTYPES = ["f32", "f64", "bf16", "f16"]
TEXT = "(tensor x (shape 6 4) {t})\n(tensor z (shape 6 4) {t})\n" \
    "(tensor v (shape 2 5 6) {t})\n(let y {y})\n(output y)\n"


def turns(table, k, many):
    return [table[(k * many + i) % len(table)] for i in range(many)]


def forms():
    """(name, one, another) of each pair, in dtypes by turns."""
    for k, (name, pair) in enumerate(TERMS.items()):
        for t in turns(DTYPES, k, 3):
            yield f"{name}-{t}", *(TEXT.format(t=t, y=y) for y in pair)
    for k, (name, pair) in enumerate(FLOATS.items()):
        for t in turns(FLOAT_DTYPES, k, 2):
            yield f"{name}-{t}", *(TEXT.format(t=t, y=y) for y in pair)


FORMS = {name: texts for name, *texts in forms()}
FILES = {f"{letter}-{name}.glen": text for name, texts in FORMS.items()
         for letter, text in zip("ab", texts)}


def of_terms():
    """What the prover says of a pair, the interpreter of one of it, and what
    code it becomes."""
    for k, name in enumerate(FORMS):
        a, b = f"a-{name}.glen", f"b-{name}.glen"
        yield ["check", a, b, "--json", "--seed", str(k)]
        yield ["run", b, "--interpret", "--print", "99", "--seed", str(k)]
        if k % 2:
            yield ["saturate", a, "--stats", "--node-limit", "400"]
        else:
            yield ["compile", a, "--emit", ["c,loops", "c,h,sched", "cuda"][
                k // 2 % 3], "-o", ["OUT.c", "OUT.c", "OUT.cu"][k // 2 % 3]]
