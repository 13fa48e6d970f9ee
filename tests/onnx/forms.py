# SPDX-License-Identifier: MIT
"""Models of operators in forms that few models have: sequences that end early,
padding by a word, factors by groups, scales by blocks; see cases.py."""
import nd
from cases import add, scalar, x
from encode import INT16, INT32, INT8, UINT16
from functions import gru_cell, lstm_cell, rnn_cell, unrolled
from nd import A

CELLS = (("LSTM", 4, lstm_cell), ("GRU", 3, gru_cell), ("RNN", 1, rnn_cell))
WAYS = (("forward", [0]), ("reverse", [1]), ("bidirectional", [0, 1]))


def of_lengths(op, gates, cell, direction, ways, steps, lengths, known):
    """A recurrent layer of sequences that may end before the last step."""
    d, batch, size, n = len(ways), len(lengths), 2, 3

    def small(*shape):
        return x(*shape, low=-0.5, high=0.5)
    xs, w = small(steps, batch, size), small(d, gates * n, size)
    r, b = small(d, gates * n, n), small(d, 2 * gates * n)
    h0, c0 = small(d, batch, n), small(d, batch, n)
    none = A((d, 3 * n), [0.0] * (3 * d * n))
    given = [xs, w, r, b, (INT32, A((batch,), lengths)), h0]
    given += [c0] if op == "LSTM" else []
    wanted = unrolled(cell, xs, w, r, b, none, 0, h0, c0, ways, lengths)
    add(op, given, list(wanted[:3 if op == "LSTM" else 2]), known=known,
        hidden_size=n, direction=direction)


def lengths():
    for op, gates, cell in CELLS:
        for direction, ways in WAYS:
            of_lengths(op, gates, cell, direction, ways, 4, [4, 1, 3],
                       [4] if direction == "reverse" else [])
        of_lengths(op, gates, cell, *WAYS[2], 1100, [700, 1100], [1, 2])


def padding():
    a, w = x(1, 2, 3, 3), x(2, 2, 4, 3)
    for word, pad in (("SAME_UPPER", (1, 0, 1, 1)),
                      ("SAME_LOWER", (1, 1, 1, 0))):
        add("ConvTranspose", [a, w], nd.conv_transpose(
            a, w, None, (2, 2), pad, (0, 0), (1, 1), 1), known=[1],
            strides=[2, 2], auto_pad=word)


def norms():
    image, factor, summand = x(2, 4, 3, 3), x(2), x(2)
    groups = nd.reshape(nd.normalize(nd.reshape(image, (2, 2, 18)), [2], 1e-5),
                        image.shape)
    add("GroupNormalization", [image, factor, summand], nd.build(
        image.shape, lambda i: groups[i] * factor.data[i[1] // 2] +
        summand.data[i[1] // 2]), known=[1], opset=18, num_groups=2)
    rows = A((2, 3), [3.0, -4.0, 0.0, 0.0, 0.0, 0.0])
    add("LpNormalization", [rows], A((2, 3), [0.6, -0.8, 0, 0, 0, 0]))
    add("LpNormalization", [rows], A((2, 3), [3 / 7, -4 / 7, 0, 0, 0, 0]), p=1)
    add("LpNormalization", [rows], A((2, 3), [1.0, -1.0, 0, 0, 0, 0]), axis=0,
        p=1)


def quantized():
    a = x(2, 3, 4, low=-30.0, high=30.0)
    for dtype, zero, low in ((UINT16, 30000, 0), (INT16, -7, -32768)):
        add("QuantizeLinear", [a, scalar(2.0 ** -11), (dtype, scalar(zero))],
            (dtype, nd.unary(lambda v, zero=zero, low=low: min(max(
                round(v / 2.0 ** -11) + zero, low), low + 65535))(a)), opset=21)
    add("QuantizeLinear", [a, scalar(0.5)], (INT8, nd.unary(
        lambda v: min(max(round(v / 0.5), -128), 127))(a)), opset=21,
        output_dtype=3)
    # Blocks of three along an axis of four: the last one ends earlier.
    each = A((2, 3, 2), [2.0 ** (k % 5) for k in range(12)])
    places = A((2, 3, 2), [k % 7 for k in range(12)])
    in_blocks = nd.build(a.shape, lambda i: min(max(round(
        a[i] / each[i[:2] + (i[2] // 3,)]) + places[i[:2] + (i[2] // 3,)],
        -128), 127))
    add("QuantizeLinear", [a, each, (INT8, places)], (INT8, in_blocks),
        opset=21, axis=-1, block_size=3)
    add("DequantizeLinear", [(INT8, in_blocks), each, (INT8, places)],
        nd.build(a.shape, lambda i: (
            in_blocks[i] - places[i[:2] + (i[2] // 3,)]) *
            each[i[:2] + (i[2] // 3,)]), opset=21, axis=2, block_size=3)


for each_part in (lengths, padding, norms, quantized):
    each_part()
