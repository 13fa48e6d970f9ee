# SPDX-License-Identifier: MIT
"""Families of wrong rules about infinities that are hidden again: what cancels
has no value for some operands, and what is left has one.

Each family is a function that gives (name, left, right, clauses); its first
line says where the rules are wrong.  None may be proved.  `right_rules` are
their near misses, of which none may be refuted."""


def one(op, x):
    return f"(compute {op} {x})"


def two(op, x, y):
    return f"(compute {op} (pair {x} {y}))"


# By what is infinite, and by its sign: operators that make a number of it.
POSITIVE = {
    "recip": one("recip", "?a"),
    "rsqrt": one("rsqrt", "?a"),
    "minus-log": one("neg", one("log", "?a")),
    "recip-square": one("recip", one("square", "?a")),
    "quotient": two("div", one("(offset 1)", one("square", "?a")),
                    one("square", "?a")),
}
NEGATIVE = {
    "log": one("log", "?a"),
    "log-relu": one("log", one("relu", "?a")),
}
HIDES = {
    "exp": lambda t: one("exp", t),
    "tanh": lambda t: one("tanh", t),
    "relu": lambda t: one("relu", t),
    "sigmoid": lambda t: one("sigmoid", t),
    "recip-of-exp": lambda t: one("recip", one("exp", one("neg", t))),
    "atan": lambda t: one("atan", t),
    "clip": lambda t: one("(clip -1 1)", t),
}


def terms():
    """(name, an infinity, one that is below 0)"""
    for name, t in POSITIVE.items():
        yield name, t, one("neg", t)
    for name, t in NEGATIVE.items():
        yield name, t, t


def cancels():
    """Where t - t, 0 t, e^t - e^t, e^-t - e^-t and e^t e^-t are NaN."""
    for name, t, below in terms():
        up, down = one("exp", t), one("exp", one("neg", t))
        lost = {
            "difference": ("add", two("sub", t, t)),
            "zero": ("add", one("(scale 0)", t)),
            "powers": ("mul", two("mul", up, down)),
            "exponentials": ("add", two("sub", up, up) if below != t
                             else two("sub", down, down)),
        }
        for hide, f in HIDES.items():
            for what, (op, x) in lost.items():
                for d in ("f32", "f64"):
                    yield (f"{what}-{hide}-{name}-{d}",
                           two(op, f(below), x), f(below),
                           f":where (= (dtype ?a) {d})")


def common():
    """Where a factor that is taken out of a reciprocal is infinite."""
    for name, t in POSITIVE.items():
        e, other = one("exp", t), one("exp", one("log", "?b"))
        yield (f"common-{name}", one("recip", two("add", e, two(
            "mul", e, other))), two("mul", one("exp", one("neg", t)), one(
                "recip", one("(offset 1)", other))),
               ":where (= (dtype ?a) f32)")


def padding():
    """Where infinity is added to padding with the least value."""
    inner = "(slice {} ?d ?l (+ ?l (dim ?a ?d)))"
    for name, t in POSITIVE.items():
        u = t.replace("?a", "?b")
        for hide in ("exp", "relu", "sigmoid"):
            f = HIDES[hide]
            rest = f(two("add", "?a", inner.format(u)))
            yield (f"least-{hide}-{name}",
                   f(two("add", "(pad ?a min ?d ?l ?h)", u)),
                   f"(pad {rest} zero ?d ?l ?h)",
                   ":where (and (= (dtype ?a) f32) (> (+ ?l ?h) 0))")


FAMILIES = (cancels, common, padding)


def rules():
    for family in FAMILIES:
        for name, left, right, clauses in family():
            yield (family.__name__, name, left, right, clauses)


def right_rules():
    """Where nothing is infinite: of what is above 0, and of inputs."""
    for name, left, right, clauses in cancels():
        if name.endswith("-f64"):
            left, right = (side.replace("?a", "(compute exp ?a)")
                           for side in (left, right))
            yield ("numbers", "number-" + name, left, right, clauses)
    for hide, f in HIDES.items():
        if hide in ("exp", "relu"):
            left = f(two("add", "(pad ?a min ?d ?l ?h)", "?b"))
            inner = f(two("add", "?a", "(slice ?b ?d ?l ?m)"))
            yield ("numbers", f"number-least-{hide}", left,
                   f"(pad {inner} zero ?d ?l ?h)",
                   ":where (and (= (dtype ?a) f32) (= ?m (+ ?l (dim ?a ?d))))")
