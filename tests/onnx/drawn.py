# SPDX-License-Identifier: MIT
"""Models with attributes drawn at random, where corners are met that nobody
thinks of: windows that just reach the end, images of one element, places from
behind and beyond.  The same ones each time; see cases.py."""
import math
import random

import nd
from cases import add, ints, x
from encode import BOOL, FLOAT16, INT32, INT64, INT8
from nd import A

DICE = random.Random(17)


def some(n, low, high):
    return [DICE.randint(low, high) for _ in range(n)]


# ---- windows over images ----

def holds_something(size, kernel, stride, before, dilation, out):
    """Each window has an element of the image in it."""
    return all(any(0 <= o * stride + k * dilation - before < size
                   for k in range(kernel)) for o in range(out))


def drawn_window(n):
    """Of n dimensions, with no window that is of padding alone."""
    while True:
        w = {"size": some(n, 3, 8), "kernel_shape": some(n, 1, 3),
             "strides": some(n, 1, 4), "dilations": [1] * n,
             "ceil_mode": DICE.randint(0, 1)}
        w["pads"] = [DICE.randint(0, w["kernel_shape"][k % n] - 1)
                     for k in range(2 * n)]
        image = x(1, 2, *w["size"])
        try:
            out = nd.windows(image, *[w[name] for name in (
                "kernel_shape", "strides", "pads", "dilations", "ceil_mode")],
                             lambda v, padded: len(v))
        except AssertionError:
            continue
        if all(o > 0 for o in out.shape) and min(out.data, default=0) > 0:
            return image, w


def pools():
    for k in range(36):
        image, w = drawn_window(2 - (k % 6 == 0))
        del w["size"]
        if k % 3 == 0:
            w["dilations"] = some(len(w["strides"]), 1, 2)
            span = [(a - 1) * d + 1 for a, d in zip(w["kernel_shape"],
                                                    w["dilations"])]
            if any(a > s for a, s in zip(span, image.shape[2:])):
                w["dilations"] = [1] * len(span)
        order = [w[name] for name in ("kernel_shape", "strides", "pads",
                                      "dilations", "ceil_mode")]
        if min(nd.windows(image, *order, lambda v, n: len(v)).data) == 0:
            continue
        if k % 3 == 0:
            add("MaxPool", [image], nd.windows(image, *order,
                                               lambda v, n: max(v)), **w)
            continue
        del w["dilations"]
        include = k % 2
        add("AveragePool", [image], nd.windows(
            image, *order,
            lambda v, n: sum(v) / (n if include else len(v))),
            count_include_pad=include, **w)


def convolutions():
    for k in range(16):
        n = 2 - (k % 5 == 0)
        group, each = DICE.choice([(1, 2), (2, 1), (2, 2), (3, 1)])
        image = x(DICE.randint(1, 2), group * each, *some(n, 4, 7))
        w = x(group * DICE.randint(1, 2), each, *some(n, 1, 3))
        strides, dilations = some(n, 1, 3), some(n, 1, 2)
        pads = some(2 * n, 0, 3)
        if any((w.shape[2 + d] - 1) * dilations[d] >= image.shape[2 + d] +
               pads[d] + pads[d + n] for d in range(n)):
            continue
        add("Conv", [image, w], nd.conv(image, w, None, strides, pads,
                                        dilations, group),
            known=[1], strides=strides, pads=pads, dilations=dilations,
            group=group)


# ---- sizes of images ----

PLACES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
          "half_pixel_symmetric")
NEAREST = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")


def resizes():
    for k in range(40):
        image = x(1, 2, *some(2, 1, 5))
        to = some(2, 1, 7) if k % 4 else [1, DICE.randint(1, 4)]
        mode = ("nearest", "linear", "cubic")[k % 3]
        places, nearest = PLACES[k % 5], DICE.choice(NEAREST)
        out = image
        for d in range(2):
            out = nd.resize_axis(out, 2 + d, to[d], to[d] / image.shape[2 + d],
                                 mode, places, nearest)
        add("Resize", [image, None, None, ints(1, 2, *to)], out, known=[3],
            opset=19, mode=mode, coordinate_transformation_mode=places,
            nearest_mode=nearest)


# ---- parts and places ----

def shapes():
    image = x(2, 3, 1, 4)
    for start in (None, -5, -3, 0, 2, 4):
        for end in (None, -4, -1, 1, 3, 6):
            own = {n: v for n, v in (("start", start), ("end", end))
                   if v is not None}
            wanted = list(image.shape[start:end])
            if wanted:
                add("Shape", [image], (INT64, A((len(wanted),), wanted)),
                    opset=19, **own)


def slices():
    for _ in range(40):
        image = x(*some(3, 2, 6))
        axis = DICE.randint(-3, 2)
        step = DICE.choice([-3, -2, -1, 1, 2, 3])
        start, end = sorted(some(2, -8, 8), reverse=step < 0)
        places = list(range(image.shape[axis]))[start:end:step]
        if not places:
            continue
        add("Slice", [image, ints(start), ints(end), ints(axis), ints(step)],
            nd.take(image, axis % 3, places), known=[1, 2, 3, 4])


def padded(image, pads, place):
    """place: an index of the padded dimension, from its image's first element
    on, to one of the image or None."""
    n = len(image.shape)
    shape = [pads[d] + image.shape[d] + pads[d + n] for d in range(n)]

    def element(i):
        at = [place(v - pads[d], image.shape[d]) for d, v in enumerate(i)]
        return 0.75 if None in at else image[at]
    return nd.build(shape, element)


def reflected(v, size):
    v %= max(2 * size - 2, 1)
    return v if v < size else 2 * size - 2 - v


def pads():
    ways = {"constant": lambda v, n: v if 0 <= v < n else None,
            "edge": lambda v, n: min(max(v, 0), n - 1), "reflect": reflected}
    for k in range(18):
        image = x(*some(2, 3, 5))
        mode = list(ways)[k % 3]
        by = some(4, 0, 2)
        value = [A((), [0.75])] if mode == "constant" else []
        add("Pad", [image, ints(*by), *value], padded(image, by, ways[mode]),
            known=range(1, 2 + len(value)), opset=19, mode=mode)


def repeats():
    for _ in range(8):
        image, by = x(*some(3, 1, 3)), some(3, 1, 3)
        shape = [a * b for a, b in zip(image.shape, by)]
        add("Tile", [image, ints(*by)], nd.build(shape, lambda i: image[
            [v % d for v, d in zip(i, image.shape)]]), known=[1])
    for _ in range(8):
        shape = some(DICE.randint(1, 3), 1, 3)
        own = x(*[DICE.choice([1, d]) for d in shape[DICE.randint(0, 1):]])
        add("Expand", [own, ints(*shape)], nd.build(
            nd.common(own.shape, shape), lambda i: nd.at(own, i)), known=[1])


def reductions():
    ways = {"ReduceSum": sum, "ReduceMax": max, "ReduceMin": min,
            "ReduceMean": lambda v: sum(v) / len(v)}
    for k in range(16):
        image = x(*some(3, 1, 4))
        axes = DICE.sample([-3, -2, -1], DICE.randint(1, 3))
        axes = [a if DICE.randint(0, 1) else a + 3 for a in axes]
        op = list(ways)[k % 4]
        keep = DICE.randint(0, 1)
        add(op, [image, ints(*axes)],
            nd.reduce(image, axes, keep, ways[op]), known=[1], opset=18,
            keepdims=keep)


def by_the_batch():
    """A batch norm in training, which standardizes weights, too."""
    image, scale, shift, mean = x(2, 4, 3, 3), x(4), x(4), x(4)
    var, axes = x(4, low=0.5), [0, 2, 3]

    def of(v, i):
        return v.data[i[1]]
    each = nd.normalize(image, axes, 1e-3)
    means = nd.reduce(image, axes, False, lambda v: sum(v) / 18)
    squares = nd.reduce(nd.build(image.shape, lambda i: (
        image[i] - of(means, i)) ** 2), axes, False, lambda v: sum(v) / 18)
    moved = nd.binary(lambda u, v: 0.75 * u + 0.25 * v)
    add("BatchNormalization", [image, scale, shift, mean, var], [nd.build(
        image.shape, lambda i: each[i] * of(scale, i) + of(shift, i)),
        moved(mean, means), moved(var, squares)],
        epsilon=1e-3, training_mode=1, momentum=0.75)


def signed_bytes():
    """Bytes with a sign, without zero points, or with ones that are known to be
    0: they are multiplied as they are."""
    image, filters = A((1, 4, 5, 5), some(100, -128, 127)), \
        A((6, 2, 3, 3), some(108, -128, 127))
    args = [2, 1], [1, 0, 1, 1], [1, 1], 2
    exact = nd.conv(image, filters, None, *args)
    own = dict(zip(("strides", "pads", "dilations", "group"), args))
    both = [(INT8, image), (INT8, filters)]
    zeros = INT8, A((6,), [0] * 6)
    add("ConvInteger", both, (INT32, exact), **own)
    add("ConvInteger", [*both, None, zeros], (INT32, exact), known=[1, 3], **own)
    one = INT8, A((), [0])
    add("QLinearConv",
        [both[0], A((), [0.03125]), one, both[1], A((), [0.0625]), zeros,
         A((), [2.0]), one],
        (INT8, nd.unary(lambda v: min(max(round(v / 1024), -128), 127))(exact)),
        known=[1, 2, 4, 5, 6, 7], **own)
    a, b = A((3, 70), some(210, -128, 127)), A((70, 4), [-128] * 280)
    wanted = nd.matmul(a, b)
    both = [(INT8, a), (INT8, b)]
    add("MatMulInteger", both, (INT32, wanted))
    add("MatMulInteger", [*both, one, one], (INT32, wanted), known=[1, 2, 3])
    add("QLinearMatMul",
        [both[0], A((), [0.125]), one, both[1], A((), [0.5]), one, A((), [64.0]),
         one], (INT8, nd.unary(
             lambda v: min(max(round(v / 1024), -128), 127))(wanted)),
        known=[2, 5, 7])


def mutants():
    """What altered models were found to give otherwise than ONNX Runtime."""
    a = A((5,), [-2.0, -0.625, 0.5, -8.0, -2.0])
    b = A((5,), [3.0, 2.0, 1.5, 3.0, -2.0])
    add("Pow", [a, b], nd.build((5,), lambda i: a[i] ** b[i]))
    add(["Pow", "IsNaN"], [a, A((1,), [1.5])], (BOOL, A((5,), [
        1, 1, 0, 1, 1])))
    values = x(2, 3)
    add("ReduceMax", [values], values, known=[0], opset=18, noop_with_empty_axes=1)
    pixels = A((1, 1, 3, 4), some(12, -128, 127))
    near = pixels
    for d, n in ((2, 5), (3, 3)):
        near = nd.resize_axis(near, d, n, n / pixels.shape[d], "nearest",
                              "half_pixel", "floor")
    add("Resize", [(INT8, pixels), None, None, ints(1, 1, 5, 3)],
        (INT8, nd.unary(int)(near)), known=[3], opset=19, mode="nearest",
        nearest_mode="floor")
    halves = A((1, 1, 2, 4), [0.5 * v for v in range(8)])
    add("AveragePool", [(FLOAT16, halves)], (FLOAT16, A((1, 1, 1, 2), [1.25, 2.25])),
        kernel_shape=[2, 2], strides=[2, 2])
    add("ReduceL1", [(FLOAT16, halves), ints(3)],
        (FLOAT16, A((1, 1, 2, 1), [3.0, 11.0])), known=[1], opset=18)


def known():
    """What is computed while importing."""
    a = x(2, 3)
    add("Clip", [a, A((), [0.5]), A((), [-0.25])],
        nd.unary(lambda v: -0.25)(a), known=[0, 1, 2])
    add("Clip", [a, None, A((), [0.25])],
        nd.unary(lambda v: min(v, 0.25))(a), known=[0, 2])
    add("ReduceLogSumExp", [nd.unary(lambda v: v + 1000)(a), ints(1)],
        nd.unary(lambda v: math.log(v) + 1000)(nd.reduce(
            nd.unary(math.exp)(a), [1], True, sum)), known=[0, 1], opset=18)


for part in (pools, convolutions, resizes, shapes, slices, pads, repeats,
             reductions, by_the_batch, known, signed_bytes,
             mutants):
    part()
