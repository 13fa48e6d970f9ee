# SPDX-License-Identifier: MIT
"""Models of sums of products that are written as equations or quantized, and
of what is scaled by moments; see cases.py."""
import itertools
import math

import nd
from cases import add, ints, x
from encode import DOUBLE, INT32, INT64, UINT8
from nd import A


def einsum(equation, *arrays):
    """As it is defined: a sum over all values of all letters."""
    left, right = equation.replace(" ", "").split("->")
    parts = left.split(",")
    sizes = {c: d for p, a in zip(parts, arrays)
             for c, d in zip(p, a.shape) if d > 1}
    rest = sorted(set("".join(parts)) - set(right))

    def total(index):
        out = 0
        for more in itertools.product(*(range(sizes.get(c, 1))
                                        for c in rest)):
            at = dict(zip(list(right) + rest, [*index, *more]))
            out += math.prod(nd.at(a, tuple(at[c] for c in p))
                             for p, a in zip(parts, arrays))
        return out
    return nd.build(tuple(sizes.get(c, 1) for c in right), total)


def equations():
    a, b, c = x(2, 3, 4), x(2, 4, 5), x(2, 3, 5)
    square = x(4, 4)
    for equation, *arrays in [
            ("bij,bjk->bik", a, b), ("bij,bkl->bilk", a, b),
            ("bij,bjk,bik->b", a, b, c), ("ij->ji", square),
            ("ij->i", square), ("ii->i", square), ("iij->ji", x(3, 3, 2)),
            ("i,j->ij", x(3), x(4)), ("i,i->", x(6), x(6)),
            ("bij,cij->bc", a, x(3, 3, 4)), ("abc,acd->abd", x(2, 1, 4), b),
            ("bij,k->bk", a, x(2))]:
        add("Einsum", arrays, einsum(equation, *arrays), equation=equation)
    add("Einsum", [a, b], einsum("bij,bjk->bik", a, b),
        equation="...ij, ...jk")
    add("Einsum", [a], nd.transpose(a, [1, 0, 2]), equation="b...j->...bj")
    whole = A((3,), [2 ** 30, -7, 5]), A((3,), [1, 3, -2])
    add("Einsum", [(INT32, whole[0]), (INT32, whole[1])],
        (INT32, A((), [2 ** 30 - 21 - 10])), equation="k,k->")


def bytes_of(*shape):
    return nd.unary(lambda v: int(v) % 256)(x(*shape, low=0, high=4096.0))


def even(v):
    """To the nearest, halves to even."""
    return float(round(v))


def requantized(v, low=0, high=255):
    return int(min(max(v, low), high))


def integers():
    a, b = bytes_of(3, 4), bytes_of(4, 2)
    za, zb = A((1,), [12]), A((2,), [130, 0])

    def sums(i):
        return sum((a[(i[0], k)] - 12) * (b[(k, i[1])] - zb[(i[1],)])
                   for k in range(4))
    exact = nd.build((3, 2), sums)
    add("MatMulInteger", [(UINT8, a), (UINT8, b), (UINT8, za), (UINT8, zb)],
        (INT32, exact))
    rows = nd.build((3, 2), lambda i: sum(
        (a[(i[0], k)] - 100 * i[0]) * b[(k, i[1])] for k in range(4)))
    add("MatMulInteger", [(UINT8, a), (UINT8, b),
                          (UINT8, A((3,), [0, 100, 200]))], (INT32, rows))
    sa, sb, sy = A((), [0.02]), A((2,), [0.01, 0.03]), A((), [0.11])
    add("QLinearMatMul",
        [(UINT8, a), sa, (UINT8, A((), [12])), (UINT8, b), sb, (UINT8, zb), sy,
         (UINT8, A((), [90]))],
        (UINT8, nd.build((3, 2), lambda i: requantized(
            even(exact[i] * 0.02 * sb[(i[1],)] / 0.11) + 90))))
    image, filters = bytes_of(1, 2, 4, 4), bytes_of(3, 2, 2, 2)
    zero = A((3,), [0, 128, 255])

    def window(i, pad):
        total = 0
        for c, p, q in nd.each((2, 2, 2)):
            at = (0, c, i[2] + p - pad, i[3] + q - pad)
            if 0 <= at[2] < 4 and 0 <= at[3] < 4:
                total += (image[at] - 9) * (filters[(i[1], c, p, q)] -
                                            zero[(i[1],)])
        return total
    both = [(UINT8, image), (UINT8, filters), (UINT8, A((), [9])),
            (UINT8, zero)]
    add("ConvInteger", both, (INT32, nd.build((1, 3, 3, 3),
                                              lambda i: window(i, 0))))
    add("ConvInteger", both, (INT32, nd.build(
        (1, 3, 5, 5), lambda i: window(i, 1))), pads=[1, 1, 1, 1])
    bias = A((3,), [100, -5000, 0])
    scales = A((3,), [0.5, 0.25, 0.125])
    add("QLinearConv",
        [(UINT8, image), A((), [0.03]), (UINT8, A((), [9])), (UINT8, filters),
         scales, (UINT8, zero), A((), [17.7]), (UINT8, A((), [128])),
         (INT32, bias)],
        (UINT8, nd.build((1, 3, 3, 3), lambda i: requantized(even(
            (window(i, 0) + bias[(i[1],)]) * 0.03 * scales[(i[1],)] / 17.7)
            + 128))))
    some = A((6,), [0.0, 2.0, -3.0, -2.4, 1.34, 0.5])
    scale = 5.0 / 255
    add("DynamicQuantizeLinear", [some], [
        (UINT8, nd.unary(lambda v: requantized(even(v / scale) + 153))(some)),
        A((), [scale]), (UINT8, A((), [153]))])


def moments():
    a = x(2, 3, 5)
    weight = x(5)
    mean = nd.build((2, 3, 1), lambda i: sum(
        a[(*i[:2], k)] for k in range(5)) / 5)
    by = nd.build((2, 3, 1), lambda i: (1e-3 + sum(
        (a[(*i[:2], k)] - mean[i]) ** 2 for k in range(5)) / 5) ** -0.5)
    add("LayerNormalization", [a, weight], [
        nd.build(a.shape, lambda i: (a[i] - nd.at(mean, (*i[:2], 0))) *
                 by[(*i[:2], 0)] * weight[i[2:]]), mean, by], epsilon=1e-3)
    image = x(2, 3, 2, 2)
    places = [(n, h, w) for n, h, w in nd.each((2, 2, 2))]

    def of_channel(c):
        return [image[(n, c, h, w)] for n, h, w in places]

    def standard(i):
        own = of_channel(i[1])
        middle = sum(own) / 8
        return (image[i] - middle) / math.sqrt(
            sum((v - middle) ** 2 for v in own) / 8)
    add("MeanVarianceNormalization", [image], nd.build(image.shape, standard))
    table, at, new = x(4, 3), A((2, 3), [1, 0, 2, 3, 2, 0]), x(2, 3)
    out = A(table.shape, table.data)
    for i in nd.each(at.shape):
        out.data[at[i] * 3 + i[1]] = new[i]
    add("Scatter", [table, (INT64, at), new], out, opset=10)


def windows():
    def cosines(n, period, *c):
        return A((n,), [sum(f * math.cos(2 * math.pi * k * i / period)
                            for k, f in enumerate(c)) for i in range(n)])
    for op, c in {"HannWindow": (0.5, -0.5),
                  "HammingWindow": (25 / 46, -21 / 46),
                  "BlackmanWindow": (0.42, -0.5, 0.08)}.items():
        add(op, [ints(9)], cosines(9, 9, *c), known=[0])
        add(op, [(INT64, A((), [7]))], (DOUBLE, cosines(7, 6, *c)), known=[0],
            periodic=0, output_datatype=DOUBLE)


equations()
integers()
moments()
windows()
