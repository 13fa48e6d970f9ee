# SPDX-License-Identifier: MIT
"""One small model or more for each operator of the importer, with what it is
to give: (operator, inputs, results, which inputs are known, attributes)."""
import math
import random

import nd
from encode import (BOOL, DOUBLE, FLOAT, FLOAT16, INT16, INT32, INT64,
                    UINT16)
from nd import A

RANDOM = random.Random(1)
CASES = []


class Case:
    def __init__(self, op, inputs, wanted, known, opset, attributes):
        self.op, self.inputs, self.wanted = op, inputs, wanted
        self.known, self.opset, self.attributes = known, opset, attributes


def add(op, inputs, wanted, known=(), opset=17, **attributes):
    """An input is an array of floats, (dtype, array), or None where it is left
    out."""
    typed = [i if i is None or isinstance(i, tuple) else (FLOAT, i)
             for i in inputs]
    wanted = wanted if isinstance(wanted, list) else [wanted]
    CASES.append(Case(op, typed, wanted, known, opset, attributes))


def x(*shape, low=-2.0, high=2.0):
    return A(shape, [low + (high - low) * RANDOM.randrange(256) / 256
                     for _ in range(math.prod(shape))])


def ints(*v):
    return INT64, A((len(v),), v)


def scalar(v):
    return A((), [v])


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


def elementwise():
    some = x(2, 3, 5)
    above = x(2, 3, 5, low=0.25, high=4.0)
    for op, f in {"Abs": abs, "Ceil": math.ceil, "Cos": math.cos,
                  "Erf": math.erf, "Exp": math.exp, "Floor": math.floor,
                  "Neg": lambda v: -v, "Relu": lambda v: max(v, 0),
                  "Sigmoid": sigmoid, "Sin": math.sin, "Tanh": math.tanh,
                  "Identity": lambda v: v, "Dropout": lambda v: v,
                  "HardSwish": lambda v: v * min(max(v / 6 + 0.5, 0), 1),
                  "Softplus": lambda v: math.log1p(math.exp(v)),
                  "Softsign": lambda v: v / (1 + abs(v))}.items():
        add(op, [some], nd.unary(f)(some))
        add(op, [some], nd.unary(f)(some), known=[0])
    for op, f in {"Log": math.log, "Sqrt": math.sqrt,
                  "Reciprocal": lambda v: 1 / v}.items():
        add(op, [above], nd.unary(f)(above))
        add(op, [above], nd.unary(f)(above), known=[0])
    add("Round", [some], nd.unary(round)(some), known=[0])
    for op, f, more in [
            ("Elu", lambda v: v if v > 0 else 1.5 * math.expm1(v),
             {"alpha": 1.5}),
            ("HardSigmoid", lambda v: min(max(0.3 * v + 0.4, 0), 1),
             {"alpha": 0.3, "beta": 0.4}),
            ("LeakyRelu", lambda v: v if v > 0 else 0.2 * v, {"alpha": 0.2}),
            ("ThresholdedRelu", lambda v: v if v > 0.7 else 0.0,
             {"alpha": 0.7}),
            ("Selu", lambda v: 2.0 * (v if v > 0 else 1.5 * math.expm1(v)),
             {"alpha": 1.5, "gamma": 2.0})]:
        add(op, [some], nd.unary(f)(some), **more)
    add("Mish", [some], nd.unary(
        lambda v: v * math.tanh(math.log1p(math.exp(v))))(some), opset=18)
    add("Gelu", [some], nd.unary(
        lambda v: v * (1 + math.erf(v / math.sqrt(2))) / 2)(some), opset=20)
    add("Gelu", [some], nd.unary(
        lambda v: v / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) *
                                         (v + 0.044715 * v ** 3))))(some),
        opset=20, approximate="tanh")
    slope = x(3, 1)
    add("PRelu", [some, slope],
        nd.binary(lambda v, s: v if v > 0 else v * s)(some, slope), known=[1])


def operands():
    a, b, c = x(2, 3, 4), x(3, 1, low=0.5), x(4)
    for op, f in {"Add": lambda p, q: p + q, "Sub": lambda p, q: p - q,
                  "Mul": lambda p, q: p * q, "Div": lambda p, q: p / q}.items():
        for known in ([], [1], [0], [0, 1]):
            add(op, [a, b], nd.binary(f)(a, b), known=known)
        for v in (scalar(0.5), scalar(3.0)):
            add(op, [a, v], nd.binary(f)(a, v), known=[1])
        add(op, [scalar(2.5), b], nd.binary(f)(scalar(2.5), b), known=[0])
    for op, f in {"Sum": lambda p, q: p + q, "Max": max, "Min": min}.items():
        all_three = nd.binary(f)(nd.binary(f)(a, b), c)
        add(op, [a, b, c], all_three)
        add(op, [a, b, c], all_three, known=[0, 1, 2])
        add(op, [a], a)
    add("Mean", [a, b, c], nd.unary(lambda v: v / 3)(
        nd.binary(lambda p, q: p + q)(nd.binary(lambda p, q: p + q)(a, b), c)))
    above = x(2, 3, low=0.5, high=2.0)
    for e in (2.0, 3.0, 0.5, -0.5, -1.0, 5.0, 1.0):
        add("Pow", [above, scalar(e)], nd.unary(lambda v, e=e: v ** e)(above),
            known=[1])
    add("Clip", [a, scalar(-0.5), scalar(1.0)],
        nd.unary(lambda v: min(max(v, -0.5), 1))(a), known=[1, 2])
    add("Clip", [a, scalar(0.25)], nd.unary(lambda v: max(v, 0.25))(a),
        known=[1])
    add("Clip", [a, None, scalar(0.25)], nd.unary(lambda v: min(v, 0.25))(a),
        known=[2])
    add("Clip", [a], a)
    test = A((3, 1), [1, 0, 1])
    chosen = nd.build((2, 3, 4), lambda i: a[i] if i[1] != 1 else c[i[2:]])
    add("Where", [(BOOL, test), a, c], chosen, known=[0])
    add("Where", [(BOOL, test), a, c], chosen, known=[0, 1, 2])
    add("Where", [(BOOL, scalar(1)), a, c], a, known=[0])
    add("Cast", [nd.unary(lambda v: v * 10)(a)],
        (INT32, nd.unary(lambda v: int(v * 10))(a)), to=INT32)
    add("Cast", [(INT32, A((3,), [1, -2, 3]))], A((3,), [1.0, -2.0, 3.0]),
        to=FLOAT)
    add("Cast", [a], (DOUBLE, a), to=DOUBLE)
    add("Cast", [(FLOAT16, A((4,), [1.5, -0.25, 60000, 6e-8]))],
        A((4,), [1.5, -0.25, 60000, 2.0 ** -24]), to=FLOAT)
    add("Cast", [A((4,), [1 + 2.0 ** -11, 1 + 3 * 2.0 ** -11, -0.1, 7])],
        (FLOAT16, A((4,), [1, 1 + 2.0 ** -9, -0.0999755859375, 7])),
        to=FLOAT16)
    add("Cast", [A((4,), [0.0, 0.5, -3.0, 1.0])], (BOOL, A((4,), [0, 1, 1, 1])),
        to=BOOL)
    half = (FLOAT16, A((2, 3), [1, 2, 3, -4, 0.5, 0.25]))
    add("Mul", [half, half], (FLOAT16, A((2, 3), [1, 4, 9, 16, 0.25, 0.0625])))
    for dtype, top in (INT16, 30000), (UINT16, 60000):
        b = (dtype, A((3,), [top, 300, 7]))
        add("Add", [b, (dtype, A((3,), [1, 2, 3]))],
            (dtype, A((3,), [top + 1, 302, 10])))
        add("Max", [b, (dtype, A((3,), [5, 400, 9]))],
            (dtype, A((3,), [top, 400, 9])))
        add("Gather", [b, (INT64, A((2,), [2, 0]))],
            (dtype, A((2,), [7, top])))
    add("Where", [(BOOL, A((3,), [1, 0, 1])), (BOOL, A((3,), [0, 1, 1])),
                  (BOOL, A((3,), [1, 1, 0]))], (BOOL, A((3,), [0, 1, 1])))
    for op, f in {"And": min, "Or": max, "Xor": lambda p, q: p ^ q}.items():
        p, q = A((4,), [0, 0, 1, 1]), A((4,), [0, 1, 0, 1])
        add(op, [(BOOL, p), (BOOL, q)], (BOOL, nd.binary(f)(p, q)))
    add("Not", [(BOOL, A((2,), [0, 1]))], (BOOL, A((2,), [1, 0])))


def known_values():
    b = A((2, 3), [5, -7, 0, 2, 9, -3])
    a = (INT64, A((3,), [2, -2, 3]))
    for op, f in {"Equal": lambda p, q: p == q, "Less": lambda p, q: p < q,
                  "Greater": lambda p, q: p > q,
                  "LessOrEqual": lambda p, q: p <= q,
                  "GreaterOrEqual": lambda p, q: p >= q}.items():
        CASES.append(Case([op, "Cast"], [(INT64, b), a],
                          [(INT32, nd.binary(lambda p, q: int(f(p, q)))(
                              b, a[1]))], [0, 1], 17, {"to": INT32}))
    for op, f in {"And": lambda p, q: p and q, "Or": lambda p, q: p or q,
                  "Xor": lambda p, q: p != q}.items():
        p, q = A((4,), [0, 0, 1, 1]), A((4,), [0, 1, 0, 1])
        CASES.append(Case([op, "Cast"], [(BOOL, p), (BOOL, q)],
                          [(INT32, nd.binary(lambda u, v: int(f(u, v)))(p, q))],
                          [0, 1], 17, {"to": INT32}))
    CASES.append(Case(["Not", "Cast"], [(BOOL, A((2,), [0, 1]))],
                      [(INT32, A((2,), [1, 0]))], [0], 17, {"to": INT32}))
    add("Mod", [(INT64, b), a], (INT64, nd.binary(lambda p, q: p % q)(b, a[1])),
        known=[0, 1])
    for op, f in {"Add": lambda p, q: p + q, "Mul": lambda p, q: p * q,
                  "Div": lambda p, q: int(p / q)}.items():
        add(op, [(INT64, b), a], (INT64, nd.binary(f)(b, a[1])), known=[0, 1])
    add("Range", [(INT64, scalar(2)), (INT64, scalar(11)), (INT64, scalar(4))],
        (INT64, A((3,), [2, 6, 10])), known=[0, 1, 2])
    add("ConstantOfShape", [ints(2, 3)], A((2, 3), [0.0] * 6), known=[0])
    add("Shape", [x(2, 5, 3)], (INT64, A((3,), [2, 5, 3])))
    add("Shape", [x(2, 5, 3)], (INT64, A((2,), [5, 3])), start=-2)
    add("Size", [x(2, 5, 3)], (INT64, scalar(30)))
    add("ScatterND", [(INT64, b), (INT64, A((2, 1), [1, 0])),
                      (INT64, A((2, 3), [1, 2, 3, 4, 5, 6]))],
        (INT64, A((2, 3), [4, 5, 6, 1, 2, 3])), known=[0, 1, 2])
    CASES.append(Case(["Constant", "Cast"], [], [A((3,), [4.0, 5.0, 7.0])], [],
                      17, {"Constant": {"value_ints": [4, 5, 7]},
                           "to": FLOAT}))


def movements():
    a = x(2, 3, 4)
    for known in ([], [0]):
        add("Transpose", [a], nd.transpose(a, (2, 0, 1)), known=known,
            perm=[2, 0, 1])
        add("Transpose", [a], nd.transpose(a, (2, 1, 0)), known=known)
        add("Flatten", [a], nd.reshape(a, (6, 4)), known=known, axis=2)
        add("Flatten", [a], nd.reshape(a, (1, 24)), known=known, axis=0)
        tail = [*known, 1]
        add("Reshape", [a, ints(0, -1, 2)], nd.reshape(a, (2, 6, 2)),
            known=tail)
        ones = x(1, 3, 1, 2)
        add("Squeeze", [ones, ints(0, -2)], nd.reshape(ones, (3, 2)),
            known=tail)
        add("Squeeze", [ones], nd.reshape(ones, (3, 2)), known=known)
        add("Unsqueeze", [a, ints(0, -1)], nd.reshape(a, (1, 2, 3, 4, 1)),
            known=tail)
        thin = x(3, 1)
        add("Expand", [thin, ints(2, 1, 4)],
            nd.build((2, 3, 4), lambda i: thin[(i[1], 0)]), known=tail)
        add("Tile", [thin, ints(2, 3)],
            nd.build((6, 3), lambda i: thin[(i[0] % 3, 0)]), known=tail)
        add("Gather", [a, (INT64, A((2, 2), [3, 0, 1, -1]))],
            nd.reshape(nd.take(a, 2, [3, 0, 1, 3]), (2, 3, 2, 2)), known=tail,
            axis=2)
        add("Gather", [a, (INT64, scalar(1))],
            nd.reshape(nd.take(a, 1, [1]), (2, 4)), known=tail, axis=1)
        wide = x(7, 9)
        add("Slice", [wide, ints(1, -8), ints(6, 100), ints(0, 1), ints(2, 3)],
            nd.take(nd.take(wide, 0, [1, 3, 5]), 1, [1, 4, 7]),
            known=[*known, 1, 2, 3, 4])
        add("Slice", [wide, ints(5, -1), ints(-100, 0), ints(0, 1),
                      ints(-2, -3)],
            nd.take(nd.take(wide, 0, [5, 3, 1]), 1, [8, 5, 2]),
            known=[*known, 1, 2, 3, 4])
        add("Slice", [wide, ints(2), ints(-1)],
            nd.take(wide, 0, [2, 3, 4, 5]), known=[*known, 1, 2])
        add("Split", [wide, ints(2, 4, 3)],
            [nd.take(wide, 1, range(0, 2)), nd.take(wide, 1, range(2, 6)),
             nd.take(wide, 1, range(6, 9))], known=tail, axis=1)
        add("Concat", [a, nd.take(a, 1, [0]), a],
            nd.concat([a, nd.take(a, 1, [0]), a], 1),
            known=[0, 1, 2] if known else [1], axis=1)
    add("Slice", [x(5), ints(-1), ints(-100), ints(0), ints(-1)],
        None, known=[0, 1, 2, 3, 4])
    CASES[-1].wanted = [A((5,), CASES[-1].inputs[0][1].data[::-1])]
    wide = x(2, 6)
    add("Split", [wide], [nd.take(wide, 1, range(3)),
                          nd.take(wide, 1, range(3, 6))], axis=1)
    pads()
    deep = x(1, 8, 2, 3)
    add("DepthToSpace", [deep], nd.build(
        (1, 2, 4, 6), lambda i: deep[(0, (i[2] % 2 * 2 + i[3] % 2) * 2 + i[1],
                                      i[2] // 2, i[3] // 2)]), blocksize=2)
    add("DepthToSpace", [deep], nd.build(
        (1, 2, 4, 6), lambda i: deep[(0, i[1] * 4 + i[2] % 2 * 2 + i[3] % 2,
                                      i[2] // 2, i[3] // 2)]), blocksize=2,
        mode="CRD")
    flat = x(1, 2, 4, 6)
    add("SpaceToDepth", [flat], nd.build(
        (1, 8, 2, 3), lambda i: flat[(0, i[1] % 2, i[2] * 2 + i[1] // 4,
                                      i[3] * 2 + i[1] // 2 % 2)]),
        blocksize=2)


def pads():
    a = x(3, 4)

    def padded(by, inside):
        shape = (3 + by[0] + by[2], 4 + by[1] + by[3])
        return nd.build(shape, lambda i: inside(i[0] - by[0], i[1] - by[1]))

    def value(v):
        return lambda i, j: a[(i, j)] if 0 <= i < 3 and 0 <= j < 4 else v

    def mirror(i, n):
        return abs(i) if i < n else 2 * n - 2 - i
    by = [1, 2, 0, 3]
    add("Pad", [a, ints(*by)], padded(by, value(0)), known=[1])
    add("Pad", [a, ints(*by), scalar(1.5)], padded(by, value(1.5)),
        known=[1, 2])
    add("Pad", [a, ints(*by)], padded(by, lambda i, j: a[
        (min(max(i, 0), 2), min(max(j, 0), 3))]), known=[1], mode="edge")
    add("Pad", [a, ints(*by)], padded(by, lambda i, j: a[
        (mirror(i, 3), mirror(j, 4))]), known=[1], mode="reflect")
    add("Pad", [a, ints(*by)], padded(by, lambda i, j: a[(i % 3, j % 4)]),
        known=[1], opset=19, mode="wrap")
    add("Pad", [a, ints(0, -1, 1, 0)], padded([0, -1, 1, 0], value(0)),
        known=[1])
    add("Pad", [a, ints(1, 1), None, ints(1)], padded([0, 1, 0, 1], value(0)),
        known=[1, 3], opset=18)


def products():
    for s, t in [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)),
                 ((2, 1, 3, 4), (3, 4, 5)), ((4,), (4, 5)), ((3, 4), (4,)),
                 ((4,), (4,)), ((2, 3, 4), (4,)), ((3, 4), (2, 4, 5))]:
        a, b = x(*s), x(*t)
        add("MatMul", [a, b], nd.matmul(a, b))
        add("MatMul", [a, b], nd.matmul(a, b), known=[1])
    a, b, c = x(3, 4), x(4, 5), x(5)
    plain = nd.matmul(a, b)
    add("Gemm", [a, b], plain)
    add("Gemm", [nd.transpose(a, (1, 0)), nd.transpose(b, (1, 0)), c],
        nd.binary(lambda p, q: 0.5 * p + 2 * q)(plain, c), known=[1, 2],
        transA=1, transB=1, alpha=0.5, beta=2.0)
    add("Gemm", [a, b, x(3, 1)], None)
    CASES[-1].wanted = [nd.binary(lambda p, q: p + q)(
        plain, CASES[-1].inputs[2][1])]


def convolutions():
    for shape, kernel, bias, strides, pad, dilations, group in [
            ((1, 3, 6, 7), (4, 3, 3, 3), True, (1, 1), (1, 1, 1, 1), (1, 1), 1),
            ((2, 3, 7, 8), (4, 3, 3, 2), False, (2, 1), (0, 1, 2, 0), (1, 1),
             1),
            ((1, 2, 9, 9), (3, 2, 3, 3), True, (1, 2), (2, 2, 2, 2), (2, 2), 1),
            ((1, 4, 6, 6), (4, 1, 3, 3), True, (1, 1), (1, 1, 1, 1), (1, 1), 4),
            ((1, 4, 6, 6), (8, 1, 3, 3), True, (2, 2), (1, 1, 1, 1), (1, 1), 4),
            ((2, 6, 5, 5), (4, 3, 3, 3), False, (1, 1), (1, 0, 1, 0), (1, 1),
             2),
            ((1, 3, 8), (2, 3, 3), True, (2,), (1, 1), (1,), 1),
            ((1, 2, 4, 4, 4), (3, 2, 2, 2, 2), True, (1, 1, 1), (0,) * 6,
             (1, 1, 1), 1)]:
        a, w = x(*shape), x(*kernel)
        b = x(kernel[0]) if bias else None
        add("Conv", [a, w, b] if b else [a, w],
            nd.conv(a, w, b, strides, pad, dilations, group), known=[1, 2],
            strides=list(strides), pads=list(pad), dilations=list(dilations),
            group=group, kernel_shape=list(kernel[2:]))
    a, w = x(1, 2, 5, 6), x(3, 2, 3, 2)
    add("Conv", [a, w], nd.conv(a, w, None, (2, 1), (1, 0, 1, 1), (1, 1), 1),
        known=[1], strides=[2, 1], auto_pad="SAME_UPPER")
    add("Conv", [a, w], nd.conv(a, w, None, (1, 1), (1, 1, 1, 0), (1, 1), 1),
        auto_pad="SAME_LOWER")
    add("Conv", [a, w], nd.conv(a, w, None, (1, 1), (0,) * 4, (1, 1), 1),
        auto_pad="VALID")
    for shape, kernel, strides, pad, more, dilations, group in [
            ((1, 3, 4, 5), (3, 2, 2, 2), (2, 2), (0,) * 4, (0, 0), (1, 1), 1),
            ((1, 3, 4, 5), (3, 2, 3, 3), (2, 2), (1,) * 4, (1, 1), (1, 1), 1),
            ((2, 4, 3, 3), (4, 2, 3, 2), (1, 2), (0, 1, 1, 0), (0, 0), (2, 1),
             2),
            ((1, 4, 3, 3), (4, 1, 3, 3), (2, 2), (1,) * 4, (0, 0), (1, 1), 4),
            ((1, 2, 5), (2, 3, 4), (3,), (1, 1), (0,), (1,), 1)]:
        a, w = x(*shape), x(*kernel)
        b = x(kernel[1] * group)
        add("ConvTranspose", [a, w, b],
            nd.conv_transpose(a, w, b, strides, pad, more, dilations, group),
            known=[1, 2], strides=list(strides), pads=list(pad),
            output_padding=list(more), dilations=list(dilations), group=group)
    a, w = x(1, 2, 3, 3), x(2, 2, 3, 3)
    add("ConvTranspose", [a, w], nd.conv_transpose(
        a, w, None, (2, 2), (1, 1, 0, 0), (0, 0), (1, 1), 1), known=[1],
        strides=[2, 2], output_shape=[6, 6])


def pools():
    a = x(1, 2, 7, 8)
    for kernel, strides, pad, dilations, ceil in [
            ((2, 2), (2, 2), (0,) * 4, (1, 1), 0),
            ((3, 3), (2, 2), (1,) * 4, (1, 1), 0),
            ((3, 2), (2, 3), (1, 0, 0, 1), (1, 1), 1),
            ((3, 3), (2, 2), (0,) * 4, (1, 1), 1)]:
        common = {"kernel_shape": list(kernel), "strides": list(strides),
                  "pads": list(pad), "ceil_mode": ceil}
        add("MaxPool", [a], nd.windows(a, kernel, strides, pad, dilations, ceil,
                                       lambda v, n: max(v)), **common)
        for include in (0, 1):
            add("AveragePool", [a], nd.windows(
                a, kernel, strides, pad, dilations, ceil,
                lambda v, n: sum(v) / (n if include else len(v))),
                count_include_pad=include, **common)
    add("MaxPool", [a], nd.windows(a, (2, 2), (1, 1), (0,) * 4, (2, 3), 0,
                                   lambda v, n: max(v)),
        kernel_shape=[2, 2], dilations=[2, 3])
    add("AveragePool", [a], nd.windows(
        a, (3, 3), (2, 2), (1, 0, 1, 1), (1, 1), 0,
        lambda v, n: sum(v) / len(v)), kernel_shape=[3, 3], strides=[2, 2],
        auto_pad="SAME_UPPER")
    add("GlobalAveragePool", [a], nd.reduce(a, [2, 3], True,
                                            lambda v: sum(v) / len(v)))
    add("GlobalMaxPool", [a], nd.reduce(a, [2, 3], True, max))
    for p in (1, 2, 3):
        def norm(v, _=0, p=p):
            return sum(abs(e) ** p for e in v) ** (1 / p)
        add("LpPool", [a], nd.windows(a, (3, 2), (2, 3), (1, 0, 0, 1), (1, 1),
                                      1, norm), opset=18, p=p,
            kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 0, 1], ceil_mode=1)
        add("GlobalLpPool", [a], nd.reduce(a, [2, 3], True, norm), p=p)


def reductions():
    a = x(2, 3, 4, low=0.25)
    for op, f in {"ReduceSum": sum, "ReduceMax": max, "ReduceMin": min,
                  "ReduceMean": lambda v: sum(v) / len(v),
                  "ReduceProd": math.prod,
                  "ReduceL1": lambda v: sum(map(abs, v)),
                  "ReduceL2": lambda v: math.sqrt(sum(e * e for e in v)),
                  "ReduceLogSum": lambda v: math.log(sum(v)),
                  "ReduceSumSquare": lambda v: sum(e * e for e in v)}.items():
        for known in ([1], [0, 1]):
            add(op, [a, ints(-1, 0)], nd.reduce(a, [2, 0], True, f),
                known=known, opset=18)
            add(op, [a, ints(1)], nd.reduce(a, [1], False, f), known=known,
                opset=18, keepdims=0)
        add(op, [a], nd.reduce(a, [0, 1, 2], True, f), opset=18)
        if op != "ReduceSum":
            add(op, [a], nd.reduce(a, [1], True, f), opset=13, axes=[1])
    add("ReduceSum", [a], a, opset=18, noop_with_empty_axes=1)


def normalizations():
    a = x(2, 3, 4)

    def soft(log, axis):
        e = nd.unary(math.exp)(a)
        s = nd.reduce(e, [axis], True, sum)
        p = nd.binary(lambda u, v: u / v)(e, s)
        return nd.unary(math.log)(p) if log else p
    for axis in (-1, 0, 1):
        add("Softmax", [a], soft(False, axis), axis=axis)
        add("LogSoftmax", [a], soft(True, axis), axis=axis)
    add("Softmax", [a], soft(False, -1))
    scale, shift = x(4), x(4)
    n = nd.binary(lambda u, v: u * v)(nd.normalize(a, [2], 1e-5), scale)
    add("LayerNormalization", [a, scale, shift],
        nd.binary(lambda u, v: u + v)(n, shift), known=[1, 2])
    add("LayerNormalization", [a, scale], n)
    scale = x(3, 4)
    add("LayerNormalization", [a, scale],
        nd.binary(lambda u, v: u * v)(nd.normalize(a, [1, 2], 0.125), scale),
        axis=1, epsilon=0.125)
    image = x(2, 4, 3, 3)
    scale, shift, mean = x(4), x(4), x(4)
    var = x(4, low=0.5)

    def of(v, i):
        return v.data[i[1]]
    add("BatchNormalization", [image, scale, shift, mean, var], nd.build(
        image.shape, lambda i: (image[i] - of(mean, i)) /
        math.sqrt(of(var, i) + 1e-3) * of(scale, i) + of(shift, i)),
        known=[1, 2, 3, 4], epsilon=1e-3)
    each = nd.normalize(image, [2, 3], 1e-5)
    add("InstanceNormalization", [image, scale, shift], nd.build(
        image.shape, lambda i: each[i] * of(scale, i) + of(shift, i)),
        known=[1, 2])
    groups = nd.reshape(nd.normalize(nd.reshape(image, (2, 2, 18)), [2], 1e-5),
                        image.shape)
    add("GroupNormalization", [image, scale, shift], nd.build(
        image.shape, lambda i: groups[i] * of(scale, i) + of(shift, i)),
        known=[1, 2], opset=21, num_groups=2)


def resizes():
    a = x(1, 2, 4, 5)
    for mode, places, nearest, scale in [
            ("nearest", "asymmetric", "floor", (2.0, 3.0)),
            ("nearest", "half_pixel", "round_prefer_floor", (2.0, 3.0)),
            ("nearest", "asymmetric", "ceil", (2.0, 2.0)),
            ("nearest", "half_pixel", "round_prefer_ceil", (1.5, 0.5)),
            ("linear", "half_pixel", "floor", (2.0, 2.0)),
            ("linear", "asymmetric", "floor", (2.0, 3.0)),
            ("linear", "align_corners", "floor", (2.0, 2.0)),
            ("linear", "pytorch_half_pixel", "floor", (0.75, 1.6)),
            ("cubic", "half_pixel", "floor", (2.0, 3.0)),
            ("cubic", "half_pixel", "floor", (1.5, 0.6))]:
        out = a
        for k in range(2):
            to = math.floor(a.shape[k + 2] * scale[k])
            out = nd.resize_axis(out, k + 2, to, scale[k], mode, places,
                                 nearest)
        add("Resize", [a, None, A((4,), [1.0, 1.0, *scale])], out, known=[2],
            mode=mode, coordinate_transformation_mode=places,
            nearest_mode=nearest)
    out = nd.resize_axis(nd.resize_axis(a, 2, 7, 7 / 4, "linear", "half_pixel",
                                        ""), 3, 10, 2.0, "linear",
                         "half_pixel", "")
    add("Resize", [a, None, None, ints(1, 2, 7, 10)], out, known=[3],
        mode="linear")
    add("Resize", [a, None, None, ints(10, 7)], out, known=[3], opset=18,
        mode="linear", axes=[3, -2])
    for policy, given, scale, to in [("not_larger", (7, 10), 7 / 4, (7, 9)),
                                     ("not_smaller", (6, 9), 9 / 5, (7, 9))]:
        out = a
        for k in range(2):
            out = nd.resize_axis(out, k + 2, to[k], scale, "linear",
                                 "half_pixel", "")
        add("Resize", [a, None, None, ints(*given)], out, known=[3], opset=18,
            mode="linear", axes=[2, 3], keep_aspect_ratio_policy=policy)
    out = nd.resize_axis(a, 3, 10, 2.0, "cubic", "half_pixel", "", True)
    add("Resize", [a, None, A((1,), [2.0])], out, known=[2], opset=18,
        mode="cubic", axes=[3], exclude_outside=1)
    out = nd.resize_axis(a, 3, 8, 1.6, "nearest", "tf_half_pixel_for_nn",
                         "round_prefer_floor")
    add("Resize", [a, None, A((4,), [1.0, 1.0, 1.0, 1.6])], out, known=[2],
        coordinate_transformation_mode="tf_half_pixel_for_nn", opset=11)


for part in (elementwise, operands, known_values, movements, products,
             convolutions, pools, reductions, normalizations, resizes):
    part()
