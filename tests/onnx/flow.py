# SPDX-License-Identifier: MIT
"""Models of nodes that hold graphs: branches of a known condition, and turns of
a known number; see cases.py."""
import nd
from cases import CASES, add, ints, x
from encode import BOOL, FLOAT, INT64, graph, node, tensor, value
from nd import A

NUMBER, GOES_ON = value("turn", INT64, ()), value("on", BOOL, ())
YES = BOOL, A((), [1])


def add_reading(n, op, *given, **more):
    """A node that reads the first n inputs; its graphs read the others."""
    add(op, *given, **more)
    CASES[-1].reads = n


def number(v):
    return INT64, A((), [v])


def some(name, *shape):
    return value(name, FLOAT, shape)


def go_on(to="still"):
    return node("Identity", ["on"], [to], "goes on")


def body(nodes, states, outputs, initializers=()):
    """The graph of a Loop that is not ended by a condition."""
    return graph([*nodes, go_on()], [NUMBER, GOES_ON, *states],
                 [value("still", BOOL, ()), *outputs], initializers)


def sums(*arrays):
    out = arrays[0]
    for a in arrays[1:]:
        out = nd.binary(lambda p, q: p + q)(out, a)
    return out


def negated(a):
    return nd.unary(lambda v: -v)(a)


def branches():
    a = x(2, 3)
    then = graph([node("Relu", ["x1"], ["r"], "then")], [], [some("r", 2, 3)])
    other = graph([node("Add", ["x1", "w"], ["r"], "else")], [],
                  [some("r", 2, 3)],
                  [tensor("w", FLOAT, (3,), [1.0, 2.0, 4.0])])
    both = {"then_branch": then, "else_branch": other}
    add_reading(1, "If", [YES, a], nd.unary(lambda v: max(v, 0.0))(a),
                known=[0], **{"If": both})
    add_reading(1, "If", [(BOOL, A((1,), [0])), a], sums(a, nd.build(
        (2, 3), lambda i: 2.0 ** i[1])), known=[0], **{"If": both})
    # A branch in a branch, and one that gives a value from outside.
    inner = graph([node("If", ["x0"], ["q"], "inner", then_branch=graph(
        [node("Neg", ["x1"], ["n"], "deepest")], [], [some("n", 2, 3)]),
        else_branch=then)], [], [some("q", 2, 3)])
    add_reading(1, "If", [YES, a], negated(a), known=[0],
        **{"If": {"then_branch": inner, "else_branch": other}})
    outside = graph([], [], [some("x1", 2, 3)])
    add_reading(1, "If", [YES, a], a, known=[0],
        **{"If": {"then_branch": outside, "else_branch": other}})


def loops():
    a, step = x(2, 3), x(3)
    add_step = node("Add", ["s", "x3"], ["next"], "step")
    each = body([add_step], [some("s", 2, 3)],
                [some("next", 2, 3), some("next", 2, 3)])
    turns = [sums(a, *[step] * k) for k in (1, 2, 3)]
    all_turns = A((3, 2, 3), sum((t.data for t in turns), []))
    for given in ([number(3), YES], [number(3), None]):
        add_reading(3, "Loop", [*given, a, step], [turns[-1], all_turns],
            known=[0, 1] if given[1] else [0], **{"Loop": {"body": each}})
    # Two states that change places, and the number of the turn.
    places = body([node("Gather", ["x4", "turn"], ["row"], "row", axis=0),
                   node("Add", ["p", "row"], ["more"], "more")],
                  [some("p", 2), some("q", 2)],
                  [some("q", 2), some("more", 2), value("turn", INT64, ())])
    p, q, rows = x(2), x(2), x(4, 2)
    line = [A((2,), rows.data[2 * k:2 * k + 2]) for k in range(4)]
    add_reading(4, "Loop", [number(4), YES, p, q, rows],
        [sums(p, line[0], line[2]), sums(q, line[1], line[3]),
         ints(0, 1, 2, 3)], known=[0, 1],
        **{"Loop": {"body": places}})
    # Until its own condition ends it; a shape that grows.
    double = graph([node("Concat", ["s", "s"], ["twice"], "twice", axis=0),
                    node("Less", ["turn", "end"], ["more"], "more")],
                   [NUMBER, GOES_ON, value("s", FLOAT, None)],
                   [value("more", BOOL, ()), value("twice", FLOAT, None)],
                   [tensor("end", INT64, (), [2])])
    add("Loop", [None, YES, step], A((24,), step.data * 8), known=[1],
        **{"Loop": {"body": double}})
    add("Loop", [number(0), None, step], step, known=[0],
        **{"Loop": {"body": double}})
    # A loop in a loop, and a branch by the number of the turn.
    inner = graph([node("Add", ["v", "x3"], ["u"], "inner"),
                   node("Identity", ["also"], ["goes"], "on")],
                  [value("count", INT64, ()), value("also", BOOL, ()),
                   some("v", 2, 3)], [value("goes", BOOL, ()), some("u", 2, 3)])
    turned = graph([node("Neg", ["s"], ["t"], "turned")], [], [some("t", 2, 3)])
    same = graph([node("Identity", ["s"], ["t"], "same")], [],
                 [some("t", 2, 3)])
    outer = graph(
        [node("Equal", ["turn", "one"], ["odd"], "odd"),
         node("If", ["odd"], ["w"], "if", then_branch=turned, else_branch=same),
         node("Loop", ["two", "", "w"], ["z"], "loop", body=inner),
         node("Identity", ["going"], ["still_going"], "on")],
        [value("turn", INT64, ()), value("going", BOOL, ()), some("s", 2, 3)],
        [value("still_going", BOOL, ()), some("z", 2, 3)],
        [tensor("one", INT64, (), [1]), tensor("two", INT64, (), [2])])
    add_reading(3, "Loop", [number(2), None, a, step],
        sums(negated(sums(a, step, step)), step, step), known=[0],
        **{"Loop": {"body": outer}})


def scans():
    rows, start = x(4, 3), x(3)
    each = graph([node("Add", ["s", "row"], ["next"], "next"),
                  node("Neg", ["next"], ["out"], "out")],
                 [some("s", 3), some("row", 3)],
                 [some("next", 3), some("out", 3)])
    line = [A((3,), rows.data[3 * k:3 * k + 3]) for k in range(4)]
    so_far = [sums(start, *line[:k + 1]) for k in range(4)]
    add("Scan", [start, rows], [so_far[-1], A((4, 3), sum(
        (negated(s).data for s in so_far), []))],
        **{"Scan": {"body": each, "num_scan_inputs": 1}})
    # Columns, from the last one on; what they make along the last axis.
    columns = nd.transpose(rows, (1, 0))
    back = [sums(start, *line[k:]) for k in range(4)]
    add("Scan", [start, columns], [back[0], nd.build(
        (3, 4), lambda i: -back[3 - i[1]].data[i[0]])],
        **{"Scan": {"body": each, "num_scan_inputs": 1,
                    "scan_input_axes": [-1], "scan_input_directions": [1],
                    "scan_output_axes": [1]}})
    add("Scan", [start, columns], [back[0], nd.build(
        (4, 3), lambda i: -back[i[0]].data[i[1]])],
        **{"Scan": {"body": each, "num_scan_inputs": 1, "scan_input_axes": [1],
                    "scan_input_directions": [1],
                    "scan_output_directions": [1]}})
    two = graph([node("Mul", ["a", "b"], ["c"], "product")],
                [some("a", 3), value("b", FLOAT, ())], [some("c", 3)])
    by = x(4)
    add("Scan", [rows, by], nd.build((4, 3), lambda i: rows[i] * by.data[i[0]]),
        known=[1], **{"Scan": {"body": two, "num_scan_inputs": 2}})


for each_part in (branches, loops, scans):
    each_part()
