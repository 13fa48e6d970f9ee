# SPDX-License-Identifier: MIT
"""Models of what compares, chooses and looks up while it runs; see cases.py."""
import itertools
import math

import nd
from cases import add, ints, x
from encode import BOOL, FLOAT, INT32, INT64, UINT32
from nd import A

EXTREME = [2 ** 31 - 1, -2 ** 31, 0, 1, -1, 2 ** 31 - 1]


def comparisons():
    a, b = x(2, 3, 4), x(3, 1)
    b.data[0] = a[(0, 0, 1)]
    whole = A((6,), EXTREME), A((6,), EXTREME[1:] + EXTREME[:1])
    odd = (A((5,), [math.nan, math.inf, -math.inf, 1.0, math.inf]),
           A((5,), [math.nan, math.inf, 1.0, math.nan, -math.inf]))
    for op, f in {"Equal": lambda p, q: p == q, "Less": lambda p, q: p < q,
                  "Greater": lambda p, q: p > q,
                  "LessOrEqual": lambda p, q: p <= q,
                  "GreaterOrEqual": lambda p, q: p >= q}.items():
        test = nd.binary(lambda p, q, f=f: int(f(p, q)))
        add(op, [a, b], (BOOL, test(a, b)))
        add(op, [b, a], (BOOL, test(b, a)))
        add(op, [(INT32, whole[0]), (INT32, whole[1])], (BOOL, test(*whole)))
        add(op, [*odd], (BOOL, test(*odd)))
        add(op, [a, b], (BOOL, test(a, b)), known=[0, 1])
    p, q = A((2, 2), [0, 0, 1, 1]), A((2,), [0, 1])
    for op, f in {"And": lambda v, w: v & w, "Or": lambda v, w: v | w,
                  "Xor": lambda v, w: v ^ w}.items():
        add(op, [(BOOL, p), (BOOL, q)], (BOOL, nd.binary(f)(p, q)))
        add(op, [(BOOL, p), (BOOL, q)], (BOOL, nd.binary(f)(p, q)),
            known=[0, 1])
    add("Not", [(BOOL, p)], (BOOL, nd.unary(lambda v: 1 - v)(p)))
    odd = A((5,), [math.nan, math.inf, -math.inf, 0.0, -2.5])
    add("IsNaN", [odd], (BOOL, A((5,), [1, 0, 0, 0, 0])))
    add("IsInf", [odd], (BOOL, A((5,), [0, 1, 1, 0, 0])))
    add("IsInf", [odd], (BOOL, A((5,), [0, 1, 0, 0, 0])), detect_negative=0)
    add("IsInf", [odd], (BOOL, A((5,), [0, 0, 1, 0, 0])), detect_positive=0)
    add("Sign", [A((3,), [2.5, 0.0, -1e-30])], A((3,), [1.0, 0.0, -1.0]))
    add("Sign", [(INT32, A((6,), EXTREME))],
        (INT32, A((6,), [1, -1, 0, 1, -1, 1])))
    add("Cast", [odd], (BOOL, A((5,), [1, 1, 1, 0, 1])), to=BOOL)
    add("Cast", [(INT32, A((6,), EXTREME))],
        (BOOL, A((6,), [1, 1, 0, 1, 1, 1])), to=BOOL)


def choices():
    a, c = x(2, 3, 4), x(4)
    test = A((3, 1), [1, 0, 1])
    chosen = nd.build((2, 3, 4), lambda i: a[i] if i[1] != 1 else c[i[2:]])
    add("Where", [(BOOL, test), a, c], chosen)
    add("Where", [(BOOL, test), (INT32, A((1,), [7])), (INT32, A((), [-9]))],
        (INT32, A((3, 1), [7, -9, 7])))


def gathers():
    a, at = x(2, 6, 4), A((2, 2), [5, 0, -1, -6])
    rows = nd.reshape(nd.take(a, 1, [5, 0, 5, 0]), (2, 2, 2, 4))
    add("Gather", [a, (INT64, at)], rows, axis=1)
    add("Gather", [a, (INT64, A((), [-2]))], nd.reshape(nd.take(a, 0, [0]),
                                                       (6, 4)))
    add("Gather", [(INT32, A((4,), EXTREME[:4])), (INT64, A((3,), [1, 0, -2]))],
        (INT32, A((3,), [EXTREME[1], EXTREME[0], EXTREME[2]])))
    many = [k * 7 % 150 for k in range(200)]
    table = x(150, 3)
    add("Gather", [table, (INT64, A((200,), many))], nd.take(table, 0, many),
        known=[1])
    picks = A((2, 3, 4), [k * 5 % 11 - 5 for k in range(24)])
    add("GatherElements", [a, (INT64, picks)],
        nd.build((2, 3, 4), lambda i: a[(i[0], picks[i] % 6, i[2])]), axis=1)
    add("GatherElements", [a, (INT64, A((1, 2, 1), [-1, 1]))],
        A((1, 2, 1), [a[(0, 0, 3)], a[(0, 1, 1)]]), axis=-1)
    pairs = A((3, 2), [0, 5, 1, -1, -1, 0])
    add("GatherND", [a, (INT64, pairs)],
        nd.build((3, 4), lambda i: a[(pairs[(i[0], 0)] % 2,
                                      pairs[(i[0], 1)] % 6, i[1])]))
    places = A((2, 3, 1), [0, 5, -1, 2, 2, -6])
    add("GatherND", [a, (INT64, places)],
        nd.build((2, 3, 4), lambda i: a[(i[0], places[(*i[:2], 0)] % 6,
                                         i[2])]), batch_dims=1)


def scattered(a, at, updates, axis, f):
    out = A(a.shape, list(a.data))
    for i in nd.each(at.shape):
        to = (*i[:axis], at[i] % a.shape[axis], *i[axis + 1:])
        flat = 0
        for size, k in zip(a.shape, to):
            flat = flat * size + k
        out.data[flat] = f(out.data[flat], updates[i])
    return out


JOININGS = {"none": lambda p, q: q, "add": lambda p, q: p + q,
            "mul": lambda p, q: p * q, "max": max, "min": min}


def scatters():
    a, at = x(3, 6, 2), A((2, 4, 2), [k * 5 % 11 - 5 for k in range(16)])
    updates = x(2, 4, 2)
    for name, f in JOININGS.items():
        add("ScatterElements", [a, (INT64, at), updates],
            scattered(a, at, updates, 1, f), opset=18, axis=1, reduction=name)
    whole, few = A((5,), [9, 8, 7, 6, 5]), A((3,), [1, -4, 4])
    new = A((3,), [3, 100, -2])
    for name, f in JOININGS.items():
        add("ScatterElements", [(INT32, whole), (INT64, few), (INT32, new)],
            (INT32, scattered(whole, few, new, 0, f)), opset=18,
            reduction=name)
    table, rows = x(5, 3), A((3, 1), [4, 1, -1])
    lines = x(3, 3)
    for name, f in JOININGS.items():
        wanted = A((5, 3), list(table.data))
        for k, row in enumerate((4, 1, 4)):
            for c in range(3):
                wanted.data[3 * row + c] = f(wanted.data[3 * row + c],
                                             lines[(k, c)])
        add("ScatterND", [table, (INT64, rows), lines], wanted, opset=18,
            reduction=name)


def places():
    a = x(3, 7, 2)
    a.data[4] = a.data[10] = 3.0
    a.data[2] = a.data[8] = -3.0
    for most, last, keep in itertools.product((0, 1), repeat=3):
        best = max if most else min

        def place(i, best=best, last=last):
            line = [a[(i[0], k, i[-1])] for k in range(7)]
            hits = [k for k, v in enumerate(line) if v == best(line)]
            return hits[-last]
        wanted = nd.build((3, 1, 2) if keep else (3, 2), place)
        add("ArgMax" if most else "ArgMin", [a], (INT64, wanted), axis=1,
            select_last_index=last, keepdims=keep)
    add("ArgMax", [(INT32, A((6,), EXTREME))], (INT64, A((1,), [0])))
    add("ArgMin", [(INT32, A((6,), EXTREME))], (INT64, A((1,), [1])))


FAR = [2 ** 53, -2 ** 53, 2 ** 53 - 1, 2 ** 31, -2 ** 31 - 1, 5]


def wide_integers():
    p, q = A((6,), FAR), A((6,), FAR[2:] + FAR[:2])
    for op, f in {"Max": max, "Min": min}.items():
        add(op, [(INT64, p), (INT64, q)], (INT64, nd.binary(f)(p, q)))
        many = A((3,), [2 ** 32 - 1, 0, 7]), A((3,), [1, 2 ** 31, 8])
        add(op, [(UINT32, many[0]), (UINT32, many[1])],
            (UINT32, nd.binary(f)(*many)))
    for op, f in {"Equal": lambda v, w: v == w, "Less": lambda v, w: v < w,
                  "GreaterOrEqual": lambda v, w: v >= w}.items():
        add(op, [(INT64, p), (INT64, q)],
            (BOOL, nd.binary(lambda v, w, f=f: int(f(v, w)))(p, q)))
    test = A((6,), [1, 0, 1, 0, 0, 1])
    add("Where", [(BOOL, test), (INT64, p), (INT64, q)],
        (INT64, A((6,), [v if t else w for t, v, w in
                         zip(test.data, p.data, q.data)])))
    add("Cast", [(INT64, A((4,), [2 ** 32 + 5, -1, 2 ** 31, 7]))],
        (INT32, A((4,), [5, -1, -2 ** 31, 7])), to=INT32)
    add("Cast", [(INT32, A((3,), [-1, 5, -2 ** 31]))],
        (INT64, A((3,), [-1, 5, -2 ** 31])), to=INT64)
    few, more = A((4,), [2 ** 40, -9, 7, 3]), A((4,), [2 ** 35, 2, -2, 10])
    for op, f in {"Add": lambda v, w: v + w, "Sub": lambda v, w: v - w,
                  "Div": lambda v, w: int(v / w)}.items():
        add(op, [(INT64, few), (INT64, more)], (INT64, nd.binary(f)(few, more)))
    add("Mul", [(INT64, A((3,), [2 ** 30, -3, 2 ** 31 + 1])),
                (INT64, A((3,), [2 ** 22, 2 ** 21, 5]))],
        (INT64, A((3,), [2 ** 52, -3 * 2 ** 21, 5 * 2 ** 31 + 5])), known=[1])
    add("Neg", [(INT64, few)], (INT64, nd.unary(lambda v: -v)(few)))
    add("ReduceSum", [(INT64, few)], (INT64, A((1,), [2 ** 40 + 1])))
    add("ReduceMax", [(INT64, few)], (INT64, A((1,), [2 ** 40])))
    add("Gather", [(INT64, p), (INT64, A((3,), [4, -6, 2]))],
        (INT64, A((3,), [FAR[4], FAR[0], FAR[2]])))
    add("Concat", [(INT64, few), (INT64, more)],
        (INT64, A((8,), [*few.data, *more.data])), axis=0)


for part in (comparisons, choices, gathers, scatters, places, wide_integers):
    part()
