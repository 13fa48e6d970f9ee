# SPDX-License-Identifier: MIT
"""Arrays as a shape and a flat list: the reference of the importer's tests.

Each operator is written as its definition says, one element at a time, and
shares nothing with the importer, which builds them of other operators."""
import itertools
import math


class A:
    def __init__(self, shape, data):
        self.shape, self.data = tuple(shape), list(data)
        assert len(self.data) == math.prod(self.shape)

    def __getitem__(self, index):
        at = 0
        for i, d in zip(index, self.shape):
            assert 0 <= i < d
            at = at * d + i
        return self.data[at]


def each(shape):
    return itertools.product(*(range(d) for d in shape))


def build(shape, f):
    return A(shape, [f(i) for i in each(shape)])


def unary(f):
    return lambda a: A(a.shape, map(f, a.data))


def common(*shapes):
    rank = max(map(len, shapes))
    full = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    return tuple(max(d) for d in zip(*full))


def at(a, index):
    """Of an array that is broadcast."""
    index = index[len(index) - len(a.shape):]
    return a[[0 if d == 1 else i for i, d in zip(index, a.shape)]]


def binary(f):
    return lambda a, b: build(common(a.shape, b.shape),
                              lambda i: f(at(a, i), at(b, i)))


def reshape(a, shape):
    return A(shape, a.data)


def transpose(a, perm):
    def source(i):
        out = [0] * len(perm)
        for k, p in enumerate(perm):
            out[p] = i[k]
        return a[out]
    return build([a.shape[p] for p in perm], source)


def concat(parts, axis):
    rows = [(p, k) for p in parts for k in range(p.shape[axis])]
    shape = list(parts[0].shape)
    shape[axis] = len(rows)

    def source(i):
        p, k = rows[i[axis]]
        return p[i[:axis] + (k,) + i[axis + 1:]]
    return build(shape, source)


def take(a, axis, places):
    shape = list(a.shape)
    shape[axis] = len(places)
    return build(shape, lambda i: a[i[:axis] + (places[i[axis]],) +
                                    i[axis + 1:]])


def matmul(a, b):
    row, column = len(a.shape) == 1, len(b.shape) == 1
    a = reshape(a, (1,) + a.shape) if row else a
    b = reshape(b, b.shape + (1,)) if column else b
    batch = common(a.shape[:-2], b.shape[:-2])
    n = a.shape[-1]

    def source(i):
        i, m, k = i[:-2], i[-2], i[-1]
        x = [0 if d == 1 else j for j, d in
             zip(i[len(i) - len(a.shape) + 2:], a.shape)]
        y = [0 if d == 1 else j for j, d in
             zip(i[len(i) - len(b.shape) + 2:], b.shape)]
        return sum(a[x + [m, r]] * b[y + [r, k]] for r in range(n))
    out = build(batch + (a.shape[-2], b.shape[-1]), source)
    shape = batch + (() if row else (a.shape[-2],))
    return reshape(out, shape + (() if column else (b.shape[-1],)))


def reduce(a, axes, keep, f):
    axes = [x % len(a.shape) for x in axes]
    kept = [1 if k in axes else d for k, d in enumerate(a.shape)]
    out = build(kept, lambda i: f([a[[j if k in axes else v for k, (v, j) in
                                     enumerate(zip(i, n))]]
                                  for n in each([d if k in axes else 1 for
                                                 k, d in enumerate(a.shape)])]))
    return out if keep else reshape(out, [d for k, d in enumerate(a.shape)
                                          if k not in axes])


def windows(a, kernel, strides, pads, dilations, ceil, f):
    """f of the elements in a window that are of the image, and of how many of
    the window's places lie in the image or its padding."""
    n = len(kernel)
    out = []
    for k in range(n):
        room = (a.shape[k + 2] + pads[k] + pads[k + n] -
                (kernel[k] - 1) * dilations[k] - 1)
        size = room // strides[k] + 1
        if ceil and room % strides[k]:
            size += size * strides[k] < a.shape[k + 2] + pads[k]
        out.append(size)

    def source(i):
        inside, padded = [], 0
        for w in each(kernel):
            p = [i[2 + k] * strides[k] + w[k] * dilations[k] - pads[k]
                 for k in range(n)]
            if all(0 <= p[k] < a.shape[k + 2] for k in range(n)):
                inside.append(a[i[:2] + tuple(p)])
            padded += all(p[k] < a.shape[k + 2] + pads[k + n]
                          for k in range(n))
        return f(inside, padded)
    return build(a.shape[:2] + tuple(out), source)


def conv(x, w, b, strides, pads, dilations, group):
    n = len(strides)
    each_in, each_out = w.shape[1], w.shape[0] // group
    out = [(x.shape[k + 2] + pads[k] + pads[k + n] -
            (w.shape[k + 2] - 1) * dilations[k] - 1) // strides[k] + 1
           for k in range(n)]

    def source(i):
        total = b.data[i[1]] if b else 0
        first = i[1] // each_out * each_in
        for j in each(w.shape[1:]):
            p = [i[2 + k] * strides[k] + j[1 + k] * dilations[k] - pads[k]
                 for k in range(n)]
            if all(0 <= p[k] < x.shape[k + 2] for k in range(n)):
                total += x[(i[0], first + j[0]) + tuple(p)] * w[(i[1],) + j]
        return total
    return build((x.shape[0], w.shape[0]) + tuple(out), source)


def conv_transpose(x, w, b, strides, pads, more, dilations, group):
    n = len(strides)
    each_in, each_out = w.shape[0] // group, w.shape[1]
    out = [(x.shape[k + 2] - 1) * strides[k] + (w.shape[k + 2] - 1) *
           dilations[k] + 1 - pads[k] - pads[k + n] + more[k]
           for k in range(n)]
    shape = (x.shape[0], group * each_out) + tuple(out)
    sums = {i: b.data[i[1]] if b else 0 for i in each(shape)}
    for i in each(x.shape):
        g = i[1] // each_in
        for o in range(each_out):
            for j in each(w.shape[2:]):
                p = tuple(i[2 + k] * strides[k] + j[k] * dilations[k] - pads[k]
                          for k in range(n))
                to = (i[0], g * each_out + o) + p
                if to in sums:
                    sums[to] += x[i] * w[(i[1], o) + j]
    return A(shape, [sums[i] for i in each(shape)])


def normalize(x, axes, epsilon, centred=True):
    mean = reduce(x, axes, True, lambda v: sum(v) / len(v) if centred else 0)
    d = binary(lambda a, b: a - b)(x, mean)
    var = reduce(d, axes, True, lambda v: sum(e * e for e in v) / len(v))
    return binary(lambda a, v: a / math.sqrt(v + epsilon))(d, var)


def cubic(a, t):
    t = abs(t)
    if t <= 1:
        return (a + 2) * t ** 3 - (a + 3) * t ** 2 + 1
    return a * t ** 3 - 5 * a * t ** 2 + 8 * a * t - 4 * a if t < 2 else 0


def resize_axis(x, axis, to, scale, mode, coordinates, nearest, within=False):
    size = x.shape[axis]

    def weights(i):
        p = {"half_pixel": (i + 0.5) / scale - 0.5,
             "asymmetric": i / scale,
             "align_corners": i * (size - 1) / max(to - 1, 1),
             "pytorch_half_pixel":
                 (i + 0.5) / scale - 0.5 if to > 1 else 0,
             "tf_half_pixel_for_nn": (i + 0.5) / scale,
             "half_pixel_symmetric": size / 2 * (1 - to / (scale * size)) +
                 (i + 0.5) / scale - 0.5}[coordinates]
        if mode == "nearest":
            return [(int({"floor": math.floor(p), "ceil": math.ceil(p),
                          "round_prefer_floor": math.ceil(p - 0.5),
                          "round_prefer_ceil":
                              math.floor(p + 0.5)}[nearest]), 1)]
        f = math.floor(p)
        if mode == "linear":
            return [(f, 1 - p + f), (f + 1, p - f)]
        four = [(f + k, cubic(-0.75, p - f - k)) for k in (-1, 0, 1, 2)]
        if not within:
            return four
        four = [(j, w) for j, w in four if 0 <= j < size]
        return [(j, w / sum(w for _, w in four)) for j, w in four]

    def source(i):
        return sum(w * x[i[:axis] + (min(max(j, 0), size - 1),) + i[axis + 1:]]
                   for j, w in weights(i[axis]))
    return build(x.shape[:axis] + (to,) + x.shape[axis + 1:], source)
