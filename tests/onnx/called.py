# SPDX-License-Identifier: MIT
"""Models whose nodes call functions that the model defines; see cases.py."""
import nd
from cases import CASES, add, x
from encode import (BOOL, FLOAT, Reference, attribute, function, graph, node,
                    value)
from nd import A


def add_call(functions, *given, op="F", domain="own", **more):
    add(op, *given, **more)
    CASES[-1].functions, CASES[-1].domain = functions, domain


def leaky(a, by):
    return nd.unary(lambda v: v if v > 0 else by * v)(a)


def plus(a, b):
    return nd.binary(lambda p, q: p + q)(a, b)


LEAK = node("LeakyRelu", ["a"], ["l"], "leak", alpha=Reference("slope", 1))
SUM = node("Add", ["l", "b"], ["c"], "sum")
BLOCK = function("Block", ["a", "b"], ["c"], [LEAK, SUM], ["slope"])


def attributes():
    """Given by the call, by the function, or by neither."""
    a, b = x(2, 3), x(2, 3)
    add_call([BLOCK], [a, b], plus(leaky(a, 0.5), b), op="Block", slope=0.5)
    add_call([BLOCK], [a, b], plus(leaky(a, 0.01), b), op="Block")
    own = function("F", ["a", "b"], ["c"], [LEAK, SUM],
                   defaults=[attribute("slope", 0.25)])
    add_call([own], [a, b], plus(leaky(a, 0.25), b))
    add_call([own], [a, b], plus(leaky(a, 0.75), b), slope=0.75)


def nested():
    """Functions that call others, and hand their attributes on; names that are
    those of the model, but mean something else."""
    a, b = x(2, 3), x(3)
    twice = function("F", ["x0", "x1"], ["y0", "inner"], [
        node("Block", ["x0", "x1"], ["inner"], "first", "own",
             slope=Reference("by", 1)),
        node("Block", ["inner", "x1"], ["y0"], "second", "own", slope=0.5)],
        ["by"])
    once = plus(leaky(a, 0.25), b)
    add_call([twice, BLOCK], [a, b], [plus(leaky(once, 0.5), b), once],
             by=0.25)
    # In a graph of a node of a function.
    chosen = function("F", ["a", "b"], ["c"], [
        node("Constant", [], ["yes"], "yes",
             value_int=Reference("which", 2)),
        node("Cast", ["yes"], ["is"], "is", to=BOOL),
        node("If", ["is"], ["c"], "if", then_branch=graph(
            [LEAK, node("Add", ["l", "b"], ["d"], "sum")], [],
            [value("d", FLOAT, None)]),
            else_branch=graph([], [], [value("b", FLOAT, None)]))],
        ["which", "slope"])
    same = x(2, 3)
    add_call([chosen], [a, same], plus(leaky(a, 0.5), same), which=1, slope=0.5)
    add_call([chosen], [a, same], same, which=0, slope=0.5)


def left_out():
    """An input that the call leaves out is none of the nodes that read it."""
    a = x(2, 3)
    cut = function("F", ["a", "low", "high"], ["c"], [
        node("Clip", ["a", "low", "high"], ["c"], "cut")])
    low, high = A((), [-0.5]), A((), [0.5])
    add_call([cut], [a], a)
    add_call([cut], [a, low], nd.unary(lambda v: max(v, -0.5))(a), known=[1])
    add_call([cut], [a, None, high], nd.unary(lambda v: min(v, 0.5))(a),
             known=[2])


def versions():
    """A function is written for a version of its own: before the 4th a Concat
    had a default.  One of the standard's domain is called there, and an overload
    is another function."""
    a = x(2, 3)
    wide = nd.build((2, 6), lambda i: nd.at(a, (i[0], i[1] % 3)))
    joined = function("F", ["a"], ["c"], [
        node("Concat", ["a", "a"], ["c"], "joined")], opset=3)
    add_call([joined], [a], wide)
    negated = function("Own", ["a"], ["c"], [node("Neg", ["a"], ["c"])],
                       domain="")
    add_call([negated], [a], nd.unary(lambda v: -v)(a), op="Own", domain="")
    other = function("F", ["a"], ["c"], [node("Abs", ["a"], ["c"])],
                     overload="other")
    plain = function("F", ["a"], ["c"], [node("Neg", ["a"], ["c"])])
    add_call([other, plain], [a], nd.unary(lambda v: -v)(a))


attributes()
nested()
left_out()
versions()
