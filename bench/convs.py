#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The 53 convolutions of ResNet-50, one after another, as a program.

Those of a block stand in the order they are computed in, that of its shortcut
behind them; where the channels of what comes before do not fit, they are cut or
repeated, and where the size does not, it is cut.  So each layer reads the one
before it, and each has the shape that it has in the network.

usage: convs.py [LAYERS] > convs.glen
"""
import sys

# Blocks, channels inside, channels outside, size of what the first one reads.
STAGES = [(3, 64, 256, 56), (4, 128, 512, 56), (6, 256, 1024, 28),
          (3, 512, 2048, 14)]


def layers():
    """Channels in and out, kernel, stride, padding, size of the input."""
    yield 3, 64, 7, 2, 3, 224
    have = 64
    for k, (blocks, inside, outside, size) in enumerate(STAGES):
        for block in range(blocks):
            stride = 2 if k and not block else 1
            yield have, inside, 1, 1, 0, size
            yield inside, inside, 3, stride, 1, size
            size_out = size // stride
            yield inside, outside, 1, 1, 0, size_out
            if not block:
                yield have, outside, 1, stride, 0, size
            have, size = outside, size_out


def fit(name, channels, size, want, want_size, lines, k):
    """The term that brings an array to the shape that a layer reads."""
    if size < want_size:
        more = want_size - size
        name = f"(pad (pad {name} zero 2 0 {more}) zero 3 0 {more})"
    elif size > want_size:
        name = f"(slice (slice {name} 2 0 {want_size}) 3 0 {want_size})"
    if channels < want:
        name = f"(pad {name} zero 1 0 {want - channels})"
    elif channels > want:
        name = f"(slice {name} 1 0 {want})"
    if name.startswith("("):
        lines.append(f"(let f{k} {name})")
        name = f"f{k}"
    return name


def program(n):
    lines, name, channels, size = [], "x", 3, 224
    lines.append("(tensor x (shape 1 3 224 224) f32)")
    shapes = list(layers())[:n]
    for k, (cin, cout, kernel, *_) in enumerate(shapes):
        lines.append(f"(tensor w{k} (shape {cout} {cin} {kernel} {kernel}) f32)")
    for k, (cin, cout, kernel, stride, pad, want) in enumerate(shapes):
        name = fit(name, channels, size, cin, want, lines, k)
        if pad:
            name = (f"(pad (pad {name} zero 2 {pad} {pad}) "
                    f"zero 3 {pad} {pad})")
        size = (want + 2 * pad - kernel) // stride + 1
        lines.append(
            f"(let c{k} (compute relu (transpose (squeeze (compute dotProd "
            f"(cartProd\n  (windows (access {name} 1) "
            f"(shape {cin} {kernel} {kernel}) (stride 1 {stride} {stride}))\n"
            f"  (access w{k} 1))) 1) (list 0 3 1 2))))")
        name, channels = f"c{k}", cout
    lines.append(f"(output {name})")
    return "\n".join(lines)


print(program(int(sys.argv[1]) if len(sys.argv) > 1 else 53))
