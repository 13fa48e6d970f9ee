# SPDX-License-Identifier: MIT
"""Models at the ends of what numbers can be: infinities, NaN, what an element
type cannot hold, kinds of attributes; see cases.py.  The results are those of
ONNX Runtime, or of the C library's functions that it calls."""
import math
import struct

import nd
from cases import add, ints
from encode import (BOOL, DOUBLE, FLOAT, FLOAT16, INT32, INT64, INT8,
                    UINT8)
from nd import A

INF, NAN = math.inf, math.nan


def reals(*v):
    return A((len(v),), list(v))


def one(dtype, v):
    return dtype, A((), [v])


def bounds():
    wide = (DOUBLE, reals(1e40, 5e38, -1e40, 0.0))
    low, high = one(DOUBLE, -1e39), one(DOUBLE, 1e39)
    add("Clip", [wide, None, high], (DOUBLE, reals(1e39, 5e38, -1e40, 0.0)),
        known=[2])
    add("Clip", [wide, low], (DOUBLE, reals(1e40, 5e38, -1e39, 0.0)),
        known=[1])
    add("Clip", [wide, low, high], (DOUBLE, reals(1e39, 5e38, -1e39, 0.0)),
        known=[1, 2])
    add("Clip", [reals(2.0, -INF), one(FLOAT, INF)], reals(INF, INF),
        known=[1])
    some = (INT64, reals(-5, 7, 1 << 53))
    # No element is beyond these.
    add("Clip", [some, one(INT64, -(1 << 63)), one(INT64, (1 << 63) - 1)],
        some, known=[1, 2])
    add("Clip", [some, one(INT64, 0), one(INT64, 1 << 60)],
        (INT64, reals(0, 7, 1 << 53)), known=[1, 2])


def std_pow(v, w):
    try:
        return math.pow(v, w)
    except ValueError:  # 0 to a negative power, or a root of a negative one
        if v == 0:
            return math.copysign(INF, v if w % 2 == 1 else 1)
        return NAN


def powers():
    base = [1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 0.0, -0.0, INF, -INF, NAN]
    to = [0.0, NAN, INF, -INF, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 1.5]
    wanted = A((11, 13), [std_pow(v, w) for v in base for w in to])
    add("Pow", [A((11, 1), base), A((13,), to)], wanted)
    add("Pow", [A((11, 1), base), A((13,), to)], wanted, known=[0, 1])
    whole = (INT32, A((2,), [2, 3]))
    add("Pow", [whole, one(FLOAT, 2.5)], (INT32, A((2,), [5, 15])),
        known=[0, 1])
    add("Pow", [whole, one(FLOAT, 3.0)], (INT32, A((2,), [8, 27])), known=[1])
    add("Pow", [whole, one(FLOAT, 3.0)], (INT32, A((2,), [8, 27])),
        known=[0, 1])


def functions():
    add("Acosh", [reals(-2.0, 0.5, 1.0, 1e20, 3e38, INF, NAN)],
        reals(NAN, NAN, 0.0, math.acosh(1e20), math.acosh(3e38), INF, NAN))
    add("Asinh", [reals(1e20, -1e20, 3e38, -INF, INF, NAN, -0.0, 0.25)],
        reals(*map(math.asinh, (1e20, -1e20, 3e38, -INF, INF, NAN, -0.0,
                                0.25))))
    rows = A((5, 2), [-INF, -INF, INF, INF, -INF, 1.0, INF, -INF, NAN, 1.0])
    sums = reals(-INF, INF, 1.0, INF, NAN)
    for known in [], [0]:
        add("ReduceLogSumExp", [rows, ints(1)], sums, known=[1, *known],
            opset=18, keepdims=0)
    add("ReduceLogSumExp", [(DOUBLE, rows), ints(1)], (DOUBLE, sums),
        known=[1], opset=18, keepdims=0)
    add("Sign", [reals(NAN, INF, -INF, 0.0)], reals(NAN, 1.0, -1.0, 0.0))
    add("ThresholdedRelu", [reals(-INF, 0.5, 1.5, INF)],
        reals(0.0, 0.0, 1.5, INF), alpha=1.0)


def casts():
    """What the type has not: the nearest one, known while importing or not."""
    far = reals(300.75, -3.5, NAN, INF, -INF, 254.75)
    for to, wanted in ((UINT8, (255, 0, 0, 255, 0, 254)),
                       (INT8, (127, -3, 0, 127, -128, 127)),
                       (INT32, (300, -3, 0, 2 ** 31 - 1, -2 ** 31, 254))):
        for known in [], [0]:
            add("Cast", [far], (to, reals(*wanted)), known=known, to=to)


def zero_points():
    a, b = A((2, 2), [1, 2, 3, 4]), A((2, 2), [5, 6, 7, 8])
    add("MatMulInteger", [(INT8, a), (UINT8, b), (INT8, reals(0, 0)),
                          (UINT8, reals(0, 0))],
        (INT32, A((2, 2), [19, 22, 43, 50])), known=[2, 3])
    add("MatMulInteger", [(INT8, a), (UINT8, b), (INT8, reals(1, 0)),
                          (UINT8, A((1, 2), [5, 6]))],
        (INT32, A((2, 2), [2, 2, 8, 8])), known=[2, 3])


def halves():
    """Sums of half floats are f32, and so is what they are combined with."""
    a = A((1, 2, 2, 2), [0.5, 1.0, -1.5, 2.0, 3.0, -0.25, 1.25, 0.75])
    rows = [a.data[k:k + 2] for k in range(0, 8, 2)]
    channels = [a.data[:4], a.data[4:]]

    def log_sum(v):
        return math.log(sum(map(math.exp, v)))

    def even(v, epsilon):
        mean = sum(v) / len(v)
        root = math.sqrt(sum((p - mean) ** 2 for p in v) / len(v) + epsilon)
        return [(p - mean) / root for p in v]

    def half(shape, v):
        return FLOAT16, A(shape, [struct.unpack("e", struct.pack("e", p))[0]
                                  for p in v])
    x, shape = half(a.shape, a.data), a.shape
    logs = [p - log_sum(row) for row in rows for p in row]
    add("LogSoftmax", [x], half(shape, logs))
    add("ReduceLogSumExp", [x, ints(3)], half((1, 2, 2), map(log_sum, rows)),
        known=[1], opset=18, keepdims=0)
    add("Hardmax", [x], half(shape, [p == max(v) for v in rows for p in v]))
    add("ArgMax", [x], (INT64, A((1, 2, 2, 1), [v.index(max(v))
                                                for v in rows])), axis=3)
    ones, zeros = half((2,), [1, 1]), half((2,), [0, 0])
    add("InstanceNormalization", [x, ones, zeros],
        half(shape, [p for v in channels for p in even(v, 1e-5)]))
    add("LayerNormalization", [x, ones, zeros],
        half(shape, [p for v in rows for p in even(v, 1e-5)]))
    add("Gemm", [half((2, 2), [1, 2, 3, 4]), half((2, 2), [5, 6, 7, 8]),
                 half((2,), [0.5, -0.5])],
        half((2, 2), [19.5, 21.5, 43.5, 49.5]))
    add("Conv", [x, half((1, 2, 1, 1), [1, 2]), half((1,), [0.25])],
        half((1, 1, 2, 2), [p + 2 * q + 0.25 for p, q in zip(*channels)]))


def far_remainders():
    """Of numbers near 2^53, of which a multiple of the divisor lies beyond."""
    a = A((4,), [-2 ** 53, 2 ** 53, 2 ** 53 - 1, -2 ** 53 + 1])
    b = A((4,), [7, -7, 2 ** 53, -2 ** 53])
    add("Mod", [(INT64, a), (INT64, b)],
        (INT64, nd.binary(lambda v, w: v % w)(a, b)))
    add("Mod", [(INT64, a), (INT64, b)],
        (INT64, nd.binary(lambda v, w: int(math.fmod(v, w)))(a, b)), fmod=1)


def far_range():
    """The end is beyond 2^53, and no element is."""
    add("Range", [one(INT64, v) for v in (2 ** 53 - 1, 2 ** 53 + 1, 1)],
        (INT64, reals(2 ** 53 - 1, 2 ** 53)), known=[0, 1, 2])


def nearest_f32(v):
    return struct.unpack("f", struct.pack("f", v))[0]


def resizes():
    a = A((1, 2, 4, 5), [v * v % 23 / 8 for v in range(40)])
    # Of f32, 2.6 is a little less, and 5 times that is 13 nevertheless.
    out = nd.resize_axis(a, 3, 13, nearest_f32(2.6), "linear", "half_pixel",
                         "")
    add("Resize", [a, None, A((1,), [2.6])], out, known=[2], opset=18,
        mode="linear", axes=[3])
    # From half a row before the image on, and from its end to its middle.
    line, back = A((1, 4), [0.0, 1.0, 2.0, 3.0]), A((2,), [-0.5, 1.0])
    add("Resize", [line, back, None, ints(4)], A((1, 4), [7.0, 0.0, 1.5, 3.0]),
        known=[1, 3], opset=18, axes=[1], mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=7.0)
    add("Resize", [line, A((4,), [0.0, 1.0, 1.0, 0.5]), None, ints(1, 3)],
        A((1, 3), [3.0, 2.25, 1.5]), known=[1, 3], opset=11, mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize")
    add("Resize", [(INT32, A((2, 2), [1, 2, 3, 4])),
                   A((4,), [0.0, 0.0, 2.0, 1.0]), None, ints(3, 2)],
        (INT32, A((3, 2), [1, 2, 3, 4, -1, -1])), known=[1, 3], opset=11,
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=-1.0)
    # In f32, (9 + 0.5) / 1.9 is 5: the place is between two elements.
    add("Resize", [reals(*map(float, range(6))), None, reals(1.9)],
        reals(0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0),
        known=[2], opset=13)


def ranges():
    """Of int64, within 2^53 for all inputs; in a chain, of int32."""
    rows = (INT32, A((2, 2), [2 ** 31 - 1, -2 ** 31, 5, 2 ** 31 - 1]))
    add(["Cast", "ReduceSum"], [rows], (INT64, A((1, 1), [2 ** 31 + 3])),
        Cast={"to": INT64}, ReduceSum={})
    some = (INT64, reals(2 ** 53, -2 ** 53, 7))
    add("Div", [some, (INT64, reals(2, 3, -2))],
        (INT64, reals(2 ** 52, -(2 ** 53 // 3), -3)))
    add("Pow", [(INT64, reals(3, -4)), (INT64, A((1,), [2]))],
        (INT64, reals(9, 16)), known=[1])
    masks = [(INT64, reals(0, 1, 1)), (INT64, reals(1, 0, 1))]
    add("Mul", masks, (INT64, reals(0, 0, 1)))
    add("QuantizeLinear", [(INT32, reals(10, -7, 300)), A((), [2.0]),
                           (UINT8, A((), [3]))],
        (UINT8, reals(8, 0, 153)), opset=13)


def truths():
    """What is 0 is false, and all else is true, in every type."""
    some = reals(0, 1, 2, -3, 100)
    for dtype in FLOAT, DOUBLE, FLOAT16, INT32, INT64, INT8:
        for known in [], [0]:
            add("Cast", [(dtype, some)], (BOOL, reals(0, 1, 1, 1, 1)),
                known=known, to=BOOL)
    for k in range(-2, 2):
        add("ScatterND", [(INT64, A((2, 2), [1, 2, 3, 4])),
                          (INT64, A((1, 1), [k])),
                          (INT64, A((1, 2), [5, 6]))],
            (INT64, A((2, 2), [1, 2, 5, 6] if k % 2 else [5, 6, 3, 4])),
            known=[0, 1, 2])


for each_part in (halves, bounds, powers, functions, zero_points, casts,
                  far_remainders, far_range, resizes,
                  ranges, truths):
    each_part()
