# SPDX-License-Identifier: MIT
"""Models of functions that are made of others, of the order of elements, of
losses and of recurrent layers; see cases.py."""
import math

import nd
from cases import add, ints, scalar, sigmoid, x
from encode import BOOL, DOUBLE, FLOAT, INT32, INT64, INT8, UINT16, UINT8
from nd import A


def functions():
    inner, wide = x(2, 9, low=-0.95, high=0.95), x(2, 9)
    beyond = x(2, 9, low=1.0, high=5.0)
    for op, f, some in [("Tan", math.tan, inner), ("Asin", math.asin, inner),
                        ("Acos", math.acos, inner), ("Atan", math.atan, wide),
                        ("Sinh", math.sinh, wide), ("Cosh", math.cosh, wide),
                        ("Asinh", math.asinh, wide),
                        ("Acosh", math.acosh, beyond),
                        ("Atanh", math.atanh, inner)]:
        add(op, [some], nd.unary(f)(some))
    add("Asin", [A((2,), [1.0, -1.0])], A((2,), [math.pi / 2, -math.pi / 2]))
    add("Celu", [wide], nd.unary(
        lambda v: max(v, 0) + min(2 * math.expm1(v / 2), 0))(wide), alpha=2.0)
    add("Shrink", [wide], nd.unary(
        lambda v: v + 0.25 if v < -1 else v - 0.25 if v > 1 else 0.0)(wide),
        bias=0.25, lambd=1.0)
    add("Shrink", [wide], nd.unary(
        lambda v: v + 0.25 if v < 0.5 else v - 0.25)(wide),
        bias=0.25, lambd=-0.5)
    add("Round", [A((6,), [0.5, 1.5, -0.5, -2.5, 2.4, -7.6])],
        A((6,), [0.0, 2.0, 0.0, -2.0, 2.0, -8.0]))
    add("CastLike", [wide, (DOUBLE, A((1,), [0.0]))], (DOUBLE, wide))
    add("Dropout", [wide], [wide, (BOOL, A(wide.shape, [1] * 18))])
    add("CastLike", [wide, (BOOL, A((1,), [0]))],
        (BOOL, nd.unary(lambda v: int(v != 0))(wide)))


def pairs():
    a, b = x(2, 5), A((5,), [3.0, -3.0, 0.75, 1.5, -0.25])
    add("Mod", [a, b], nd.binary(lambda p, q: p % q)(a, b))
    add("Mod", [a, b], nd.binary(math.fmod)(a, b), fmod=1)
    p = A((6,), [2 ** 31 - 1, -2 ** 31, 7, -7, 7, -7])
    q = A((6,), [10, 3, 3, 3, -3, -3])
    add("Mod", [(INT32, p), (INT32, q)],
        (INT32, nd.binary(lambda v, w: v % w)(p, q)))
    base = A((8,), [2.0, 0.5, -2.0, -2.0, 0.0, 3.0, -1.5, 9.0])
    power = A((8,), [0.5, -1.25, 3.0, 2.0, 2.0, 0.0, -1.0, 0.5])
    add("Pow", [base, power],
        nd.binary(lambda v, w: v ** w)(base, power))
    add("Pow", [(INT32, A((4,), [2, 3, -3, 10])),
                (INT32, A((4,), [10, 5, 3, 0]))],
        (INT32, A((4,), [1024, 243, -27, 1])))
    above = x(2, 5, low=0.5, high=3.0)
    add("Pow", [above, scalar(0.3)], nd.unary(lambda v: v ** 0.3)(above),
        known=[1])


def running(a, axis, exclusive, reverse):
    """Sums of what stands before along an axis, or behind."""
    out = A(a.shape, a.data)
    step = math.prod(a.shape[axis + 1:])
    run = step * a.shape[axis]
    for start in range(len(a.data)):
        if start % run >= step:
            continue
        line = range(start, start + run, step)
        total = 0
        for k in reversed(line) if reverse else line:
            out.data[k] = total if exclusive else total + a.data[k]
            total += a.data[k]
    return out


def order():
    a = x(2, 7, 3)
    a.data[3] = a.data[9] = 3.0
    for largest in (0, 1):
        def ranked(i, largest=largest):
            line = [(a[(i[0], k, i[2])], k) for k in range(7)]
            line.sort(key=lambda v: (-v[0] if largest else v[0], v[1]))
            return line[i[1]]
        add("TopK", [a, ints(4)],
            [nd.build((2, 4, 3), lambda i: ranked(i)[0]),
             (INT64, nd.build((2, 4, 3), lambda i: ranked(i)[1]))], known=[1],
            axis=1, largest=largest)
    far = A((5,), [2 ** 31 - 1, -2 ** 31, 5, 2 ** 31 - 1, 0])
    add("TopK", [(INT32, far), ints(3)],
        [(INT32, A((3,), [2 ** 31 - 1, 2 ** 31 - 1, 5])),
         (INT64, A((3,), [0, 3, 2]))], known=[1])
    # Of a long axis, sums of blocks are added up, and of a longer one sums
    # of these sums.
    for shape, axis in ((2, 7, 3), -2), ((2, 300, 1), 1), ((4500,), 0):
        b = a if shape == a.shape else A(
            shape, [k * k % 97 / 16 - 3 for k in range(math.prod(shape))])
        for exclusive in (0, 1):
            for reverse in (0, 1):
                add("CumSum", [b, (INT32, A((), [axis]))],
                    running(b, axis % len(shape), exclusive, reverse),
                    known=[1], exclusive=exclusive, reverse=reverse)
    add("CumSum", [(INT32, A((3,), [1, -5, 2 ** 30])), (INT32, A((), [0]))],
        (INT32, A((3,), [1, -4, 2 ** 30 - 4])), known=[1])
    best = nd.reduce(a, [1], True, max)
    seen = set()

    def hard(i):
        hit = a[i] == best[(i[0], 0, i[2])] and (i[0], i[2]) not in seen
        if hit:
            seen.add((i[0], i[2]))
        return float(hit)
    add("Hardmax", [a], nd.build((2, 7, 3), hard), axis=1)


def marks():
    at = A((2, 3), [0, 3, -1, 2, -4, 1])
    values = A((2,), [0.25, 5.0])
    for axis, where in ((-1, 2), (0, 0), (1, 1)):
        def mark(i, where=where):
            rest = (*i[:where], *i[where + 1:])
            return values.data[int(at[rest] % 4 == i[where])]
        shape = [2, 3]
        shape.insert(where, 4)
        add("OneHot", [(INT64, at), (INT64, A((1,), [4])), values],
            nd.build(tuple(shape), mark), known=[1], axis=axis)
    a = x(2, 4, 5)
    for upper in (0, 1):
        for k in (-2, 0, 1):
            def kept(i, upper=upper, k=k):
                inside = i[2] - i[1] >= k if upper else i[2] - i[1] <= k
                return a[i] if inside else 0.0
            add("Trilu", [a, (INT64, A((), [k]))], nd.build(a.shape, kept),
                known=[1], upper=upper)
    add("EyeLike", [x(3, 4)],
        nd.build((3, 4), lambda i: float(i[1] - i[0] == 1)), k=1)
    add("EyeLike", [x(3, 2)], (INT32, nd.build((3, 2), lambda i: int(
        i[0] == i[1]))), dtype=INT32)


def losses():
    score, target = x(2, 4, 3), A((2, 3), [0, 3, 1, 2, 2, 0])
    weight = A((4,), [0.5, 1.0, 2.0, 0.25])
    total = nd.reduce(nd.unary(math.exp)(score), [1], True, sum)
    logs = nd.build((2, 4, 3), lambda i: score[i] - math.log(
        total[(i[0], 0, i[2])]))
    for op, of in (("NegativeLogLikelihoodLoss", score),
                   ("SoftmaxCrossEntropyLoss", logs)):
        for ignored in (None, 2):
            def factor(i, ignored=ignored):
                c = target[i]
                return 0.0 if c == ignored else weight.data[c]
            each = nd.build((2, 3), lambda i, of=of: -factor(i) * of[
                (i[0], target[i], i[1])])
            sums = sum(each.data), sum(factor(i) for i in nd.each((2, 3)))
            more = {} if ignored is None else {"ignore_index": ignored}
            given = [score, (INT64, target), weight]
            add(op, given, each, reduction="none", **more)
            add(op, given, scalar(sums[0]), reduction="sum", **more)
            add(op, given, scalar(sums[0] / sums[1]), **more)
    add("SoftmaxCrossEntropyLoss", [score, (INT64, target)],
        [scalar(sum(-logs[(i[0], target[i], i[1])]
                    for i in nd.each((2, 3))) / 6), logs])
    sums = nd.reduce(nd.unary(math.exp)(score), [1], False,
                     sum)
    add("ReduceLogSumExp", [score, ints(1)], nd.unary(math.log)(sums),
        known=[1], opset=18, keepdims=0)
    add("ReduceLogSumExp", [nd.unary(lambda v: v + 1000)(score), ints(1)],
        nd.unary(lambda v: math.log(v) + 1000)(
            nd.reshape(sums, (2, 1, 3))), known=[1], opset=18)


def quantized():
    a = x(2, 3, 4, low=-30.0, high=30.0)
    for dtype, zero, low in ((UINT8, 100, 0), (INT8, -5, -128)):
        wanted = nd.unary(lambda v, zero=zero, low=low: min(max(
            round(v / 0.25) + zero, low), low + 255))(a)
        add("QuantizeLinear", [a, scalar(0.25), (dtype, scalar(zero))],
            (dtype, wanted))
    scales = A((3,), [0.5, 2.0, 4.0])
    add("QuantizeLinear", [a, scales],
        (UINT8, nd.build(a.shape, lambda i: min(max(round(
            a[i] / scales.data[i[1]]), 0), 255))), axis=1)
    q = A((2, 3), [-128, 127, 0, 5, -5, 99])
    zeros = A((3,), [1, -2, 3])
    add("DequantizeLinear", [(INT8, q), scales, (INT8, zeros)],
        nd.build((2, 3), lambda i: (q[i] - zeros.data[i[1]]) *
                 scales.data[i[1]]))
    image = x(2, 5, 3)

    def normalized(i):
        near = range(max(i[1] - 1, 0), min(i[1] + 2, 5))
        total = sum(image[(i[0], k, i[2])] ** 2 for k in near)
        return image[i] / (2 + 0.5 / 3 * total) ** 0.75
    add("LRN", [image], nd.build(image.shape, normalized), size=3, alpha=0.5,
        bias=2.0)


# ---- recurrent layers ----

def line(m, row):
    return m.data[row * m.shape[1]:(row + 1) * m.shape[1]]


def dot(m, row, v):
    return sum(p * q for p, q in zip(line(m, row), v))


def lstm_cell(w, r, b, p, before, now, h, c):
    n = len(h)
    raw = [dot(w, k, now) + dot(r, k, h) + b[k] + b[4 * n + k]
           for k in range(4 * n)]
    i = [sigmoid(raw[k] + p[k] * c[k]) for k in range(n)]
    f = [sigmoid(raw[2 * n + k] + p[2 * n + k] * c[k]) for k in range(n)]
    c = [f[k] * c[k] + i[k] * math.tanh(raw[3 * n + k]) for k in range(n)]
    o = [sigmoid(raw[n + k] + p[n + k] * c[k]) for k in range(n)]
    return [o[k] * math.tanh(c[k]) for k in range(n)], c


def gru_cell(w, r, b, p, before, now, h, c):
    n = len(h)
    z, g = ([sigmoid(dot(w, k + s * n, now) + dot(r, k + s * n, h) +
                     b[k + s * n] + b[k + (3 + s) * n]) for k in range(n)]
            for s in (0, 1))
    if before:
        fresh = [g[k] * (dot(r, 2 * n + k, h) + b[5 * n + k])
                 for k in range(n)]
    else:
        scaled = [g[k] * h[k] for k in range(n)]
        fresh = [dot(r, 2 * n + k, scaled) + b[5 * n + k] for k in range(n)]
    fresh = [math.tanh(dot(w, 2 * n + k, now) + b[2 * n + k] + fresh[k])
             for k in range(n)]
    return [(1 - z[k]) * fresh[k] + z[k] * h[k] for k in range(n)], c


def rnn_cell(w, r, b, p, before, now, h, c):
    n = len(h)
    return [math.tanh(dot(w, k, now) + dot(r, k, h) + b[k] + b[n + k])
            for k in range(n)], c


def part(a, d):
    size = len(a.data) // a.shape[0]
    return A(a.shape[1:], a.data[d * size:(d + 1) * size])


def unrolled(cell, xs, w, r, b, p, before, h0, c0, ways, lengths=None):
    """Y, Y_h and Y_c as ONNX has them; Y is 0 behind the end of a sequence."""
    steps, batch, _ = xs.shape
    lengths = lengths or [steps] * batch
    n = r.shape[2]
    y = A((steps, len(ways), batch, n), [0.0] * (steps * len(ways) * batch * n))
    last = A((len(ways), batch, n), [0.0] * (len(ways) * batch * n))
    cells = A(last.shape, list(last.data))
    for d, backward in enumerate(ways):
        for k in range(batch):
            h, c = line(part(h0, d), k), line(part(c0, d), k)
            for t in range(lengths[k])[::-1 if backward else 1]:
                h, c = cell(part(w, d), part(r, d), line(b, d), line(p, d),
                            before, line(part(xs, t), k), h, c)
                at = ((t * len(ways) + d) * batch + k) * n
                y.data[at:at + n] = h
            at = (d * batch + k) * n
            last.data[at:at + n] = h
            cells.data[at:at + n] = c
    return y, last, cells


def recurrent():
    steps, batch, size, n = 3, 2, 4, 3
    for op, gates, cell in (("LSTM", 4, lstm_cell), ("GRU", 3, gru_cell),
                            ("RNN", 1, rnn_cell)):
        for direction, ways in (("forward", [0]), ("reverse", [1]),
                                ("bidirectional", [0, 1])):
            d = len(ways)
            xs, w = x(steps, batch, size), x(d, gates * n, size)
            r, b = x(d, gates * n, n), x(d, 2 * gates * n)
            h0, c0, p = x(d, batch, n), x(d, batch, n), x(d, 3 * n)
            before = int(direction == "reverse")
            more = {"linear_before_reset": before} if op == "GRU" else {}
            given = [xs, w, r, b, None, h0]
            if op == "LSTM":
                given += [c0, p]
            wanted = unrolled(cell, xs, w, r, b, p, before, h0, c0, ways)
            add(op, given, list(wanted[:3 if op == "LSTM" else 2]),
                hidden_size=n, direction=direction, **more)
        zero = A((1, batch, n), [0.0] * (batch * n))
        none = A((1, 8 * n), [0.0] * (8 * n))
        w, r = x(1, gates * n, size), x(1, gates * n, n)
        y, last, _ = unrolled(cell, xs, w, r, none, none, 0, zero, zero, [0])
        add(op, [nd.transpose(xs, (1, 0, 2)), w, r],
            [nd.transpose(y, (2, 0, 1, 3)), nd.transpose(last, (1, 0, 2))],
            known=[1, 2], hidden_size=n, layout=1)


def chosen():
    """What a known value of the model chooses, or how far it shifts."""
    a = x(3, 5, 2)
    add("Compress", [a, (BOOL, A((5,), [1, 0, 1, 1, 0]))],
        nd.take(a, 1, [0, 2, 3]), known=[1], axis=-2)
    add("Compress", [a, (BOOL, A((2,), [0, 1]))], nd.take(a, 0, [1]),
        known=[1], axis=0)
    add("Compress", [a, (BOOL, A((9,), [0, 1, 1, 0, 0, 1, 0, 0, 1]))],
        A((4,), [a.data[k] for k in (1, 2, 5, 8)]), known=[1])
    wide = x(2, 200)
    add("Compress", [wide, (BOOL, A((200,), [1, 0] * 100))],
        nd.take(wide, 1, list(range(0, 200, 2))), known=[1], axis=1)

    def backward(length, i, time):
        t = i[time]
        return i[:time] + (length - 1 - t if t < length else t,) + i[time + 1:]
    add("ReverseSequence", [a, ints(1, 3, 0, 2, 1)], nd.build(
        a.shape, lambda i: a[backward([1, 3, 0, 2, 1][i[1]], i, 0)]),
        known=[1])
    add("ReverseSequence", [a, ints(5, 2, 4)], nd.build(
        a.shape, lambda i: a[backward([5, 2, 4][i[0]], i, 1)]),
        known=[1], batch_axis=0, time_axis=1)
    for dtype, bits in [(UINT8, 8), (UINT16, 16)]:
        v = A((2, 4), [2 ** bits - 1, 1, 77, 2 ** (bits - 1), 0, 3, 9, 200])
        by = A((4,), [0, 3, 1, bits - 1])
        add("BitShift", [(dtype, v), (dtype, by)], (dtype, nd.binary(
            lambda p, q, n=bits: p << q & 2 ** n - 1)(v, by)), known=[1],
            direction="LEFT")
        add("BitShift", [(dtype, v), (dtype, by)], (dtype, nd.binary(
            lambda p, q: p >> q)(v, by)), known=[1], direction="RIGHT")


def recurrent_for_long():
    """More steps than are written out; weights by which no state runs away."""
    steps, batch, size, n = 1100, 2, 3, 4

    def small(*shape):
        return x(*shape, low=-0.5, high=0.5)
    for op, gates, cell, direction, ways in (
            ("LSTM", 4, lstm_cell, "bidirectional", [0, 1]),
            ("LSTM", 4, lstm_cell, "forward", [0]),
            ("GRU", 3, gru_cell, "bidirectional", [0, 1]),
            ("GRU", 3, gru_cell, "reverse", [1]),
            ("RNN", 1, rnn_cell, "reverse", [1])):
        d = len(ways)
        xs, w = small(steps, batch, size), small(d, gates * n, size)
        r, b = small(d, gates * n, n), small(d, 2 * gates * n)
        h0, c0, p = small(d, batch, n), small(d, batch, n), small(d, 3 * n)
        before = int(op == "GRU" and direction == "reverse")
        more = {"linear_before_reset": before} if op == "GRU" else {}
        given = [xs, w, r, b, None, h0]
        if op == "LSTM" and d == 2:
            given += [c0, p]
        elif op == "LSTM":
            c0, p = A(c0.shape, [0.0] * len(c0.data)), A(p.shape,
                                                         [0.0] * len(p.data))
        wanted = unrolled(cell, xs, w, r, b, p, before, h0, c0, ways)
        add(op, given, list(wanted[:3 if op == "LSTM" else 2]), known=[1, 2],
            hidden_size=n, direction=direction, **more)


for each_part in (functions, pairs, order, marks, losses, quantized,
                  chosen, recurrent, recurrent_for_long):
    each_part()
