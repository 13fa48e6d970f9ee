#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random sums of products against the interpreter.

usage: contractions.py GLEN [COUNT [SEED]]

Matrix products in all layouts, chains of them with residuals, convolutions with strides and padding in NCHW
and NHWC and grouped ones and of any rank, of five dtypes, of arrays in parts, for three vector
lengths (the longest with the instructions of this machine, too) and two that
no machine has, with and without sanitizers, with operands packed beforehand or not, with consumers of
the sums, and the same as loops written by hand: sizes around those of the register-tiled kernel, so that every kind
of tail is met, and sums long enough for several blocks of them. A case that
fails is printed with its seed.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

TARGET = """(target wide (cores 2) (frequency-ghz 3.0) (vector-bytes %d)
  (vector-registers %d)
  (cache 1 (bytes 32768) (line 64) (ways 8) (bytes-per-cycle 64))
  (cache 2 (bytes %d) (line 64) (ways 8) (bytes-per-cycle 32))
  (memory (bytes-per-cycle 5))
  (host (flops-per-cycle 32) (scalar-ops-per-cycle 2))%s)
"""
SHORT_WEIGHTS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "../../examples/pipelines/bilateral-grid.glen")
SUM = {"i8": "i32", "bf16": "f32"}  # what products add up to, if wider
VECTORS = [(16, 16, 524288), (32, 16, 262144), (64, 32, 65536)]


def matmul(r, dtype):
    m, k, n = (r.choice([2, 7, 16, 17, 33, 64, 65, 100]) for _ in range(3))
    if r.random() < 0.2:
        k = r.choice([300, 700, 1500])
    across, down = r.random() < 0.3, r.random() < 0.5
    a = "(transpose (access a 1) (list 1 0))" if across else "(access a 1)"
    b = "(transpose (access b 1) (list 1 0))" if down else "(access b 1)"
    term = f"(compute dotProd (cartProd {a} {b}))"
    shape = [m, n]
    if r.random() < 0.3:
        term = f"(transpose {term} (list 1 0))"
        shape = [n, m]
    return shape, (f"(tensor a (shape {k if across else m} {m if across else k}) "
            f"{dtype})\n(tensor b (shape {k if down else n} "
            f"{n if down else k}) {dtype})\n(let c {term})\n")


def sizes(r):
    kernel = [r.randint(1, 4), r.randint(1, 4)]
    image = [r.randint(6, 20), r.choice([r.randint(6, 20), 32, 49, 64])]
    return image, kernel, [r.randint(1, 3), r.randint(1, 3)], r.randint(0, 2)


def conv_nchw(r, dtype):
    (h, w), (kh, kw), (sh, sw), pad = sizes(r)
    c, o, n = r.choice([1, 3, 8, 16]), r.choice([5, 8, 16, 20]), r.choice([1, 2])
    if r.random() < 0.3:
        c, o, n = r.choice([65, 130]), r.choice([33, 70]), 1
    x = f"(pad (pad x zero 2 {pad} {pad}) zero 3 {pad} 0)"
    shape = [n, o, (h + 2 * pad - kh) // sh + 1, (w + pad - kw) // sw + 1]
    return shape, (f"(tensor x (shape {n} {c} {h} {w}) {dtype})\n"
            f"(tensor w (shape {o} {c} {kh} {kw}) {dtype})\n"
            f"(let c (transpose (squeeze (compute dotProd (cartProd\n"
            f"  (windows (access {x} 1) (shape {c} {kh} {kw}) "
            f"(stride 1 {sh} {sw}))\n  (access w 1))) 1) (list 0 3 1 2)))\n"
            f"(output c)\n")


def conv_any_rank(r, dtype):
    """Lines and volumes: one or three axes, each with its own stride and
    padding on both sides."""
    rank = r.choice([1, 1, 3])
    image = [r.randint(4, 9) for _ in range(rank - 1)]
    image.append(r.choice([9, 17, 40, 300] if rank == 3 else [100, 700]))
    kernel = [r.randint(1, 3) for _ in range(rank)]
    strides = [r.randint(1, 3) for _ in range(rank)]
    pads = [(r.randint(0, 2), r.randint(0, 2)) for _ in range(rank)]
    c, o = r.choice([1, 3, 20]), r.choice([6, 17, 40])
    x = "x"
    for k, (before, after) in enumerate(pads):
        x = f"(pad {x} zero {k + 2} {before} {after})"
    shape = [1, o] + [(n + sum(p) - k) // s + 1
                      for n, p, k, s in zip(image, pads, kernel, strides)]
    order = [0, rank + 1, *range(1, rank + 1)]

    def text(numbers):
        return " ".join(map(str, numbers))
    return shape, (f"(tensor x (shape 1 {c} {text(image)}) {dtype})\n"
            f"(tensor w (shape {o} {c} {text(kernel)}) {dtype})\n"
            f"(let c (transpose (squeeze (compute dotProd (cartProd\n"
            f"  (windows (access {x} 1) (shape {c} {text(kernel)}) "
            f"(stride 1 {text(strides)}))\n  (access w 1))) 1) "
            f"(list {text(order)})))\n(output c)\n")


def conv_nhwc(r, dtype):
    (h, w), (kh, kw), (sh, sw), pad = sizes(r)
    c, o = r.choice([1, 3, 8, 16, 70]), r.choice([5, 8, 16, 20])
    x = f"(pad (pad x zero 1 {pad} {pad}) zero 2 0 {pad})"
    shape = [1, (h + 2 * pad - kh) // sh + 1, (w + pad - kw) // sw + 1, o]
    return shape, (f"(tensor x (shape 1 {h} {w} {c}) {dtype})\n"
            f"(tensor w (shape {o} {kh} {kw} {c}) {dtype})\n"
            f"(let c (squeeze (compute dotProd (cartProd\n"
            f"  (windows (access {x} 1) (shape {kh} {kw} {c}) "
            f"(stride {sh} {sw} 1))\n  (access w 1))) 3))\n")


def conv_of_small_images(r, dtype):
    """Images of which the padding is a large part: windows with dilations and
    strides, padding on each side up to a whole window, channels in front or
    behind."""
    rank = r.choice([1, 2, 2, 2, 3])
    image, kernel, pads = [], [], []
    strides = [r.choice([1, 1, 1, 2, 3]) for _ in range(rank)]
    dilations = [r.choice([1, 1, 1, 2]) for _ in range(rank)]
    for axis in range(rank):
        k = r.choice([1, 2, 3, 3, 3, 5])
        reach = (k - 1) * dilations[axis] + 1
        sides = (r.randint(0, reach - 1), r.randint(0, reach - 1))
        n = r.choice([1, 3, 5, 7, 7, 8, 14, 14, 16, 28])
        image.append(max(n, reach - sum(sides)))
        kernel.append(k)
        pads.append(sides)
    c, o = r.choice([1, 3, 8, 24, 40]), r.choice([8, 16, 32, 33, 48])
    results = [(n + sum(p) - (k - 1) * d - 1) // s + 1 for n, p, k, d, s in
               zip(image, pads, kernel, dilations, strides)]
    behind = r.random() < 0.4

    def text(numbers, channels):
        numbers = [*numbers, channels] if behind else [channels, *numbers]
        return " ".join(map(str, numbers))
    x, first = "x", 1 if behind else 2
    for axis, sides in enumerate(pads):
        x = f"(pad {x} zero {first + axis} {sides[0]} {sides[1]})"
    term = (f"(squeeze (compute dotProd (cartProd\n"
            f"  (windows (access {x} 1) (shape {text(kernel, c)}) "
            f"(stride {text(strides, 1)}) (dilation {text(dilations, 1)}))\n"
            f"  (access w 1))) {1 + rank if behind else 1})")
    if not behind:
        order = " ".join(map(str, [0, rank + 1, *range(1, rank + 1)]))
        term = f"(transpose {term} (list {order}))"
    return [1, *results, o] if behind else [1, o, *results], (
        f"(tensor x (shape 1 {text(image, c)}) {dtype})\n"
        f"(tensor w (shape {o} {text(kernel, c)}) {dtype})\n"
        f"(let c {term})\n(output c)\n")


# A tap of the last axis has no element for the rest of a row of which another
# tap is in the padding.
PADDED_CORNER = """(tensor x (shape 1 4 5 9 7) f32)
(tensor w (shape 8 4 3 3 5) f32)
(let c (transpose (squeeze (compute dotProd (cartProd
  (windows (access (pad (pad (pad x zero 2 1 2) zero 3 2 1) zero 4 5 6) 1)
    (shape 4 3 3 5) (stride 1 3 1 1) (dilation 1 1 1 2))
  (access w 1))) 1) (list 0 4 1 2 3)))
(output c)
"""

# Elements wider than the vectors of the machine, in arrays between nests.
WIDE_ELEMENTS = """(tensor x (shape 1 6 64 70) f64)
(tensor w (shape 16 2 4 70) f64)
(let c (squeeze (compute dotProd (cartProd
  (windows (access (pad (pad x zero 1 2 2) zero 2 0 2) 1) (shape 2 4 70)
    (stride 3 1 1))
  (access w 1))) 3))
(let y (compute mul (pair c c)))
(output y)
"""


def conv_of_parts(r, dtype):
    """A convolution of several arrays behind each other, one or none of which
    was computed, with padding around."""
    h, w, o, k = r.randint(5, 14), r.choice([9, 16, 30]), r.choice([9, 16, 33]), \
        r.randint(1, 3)
    parts = [r.choice([1, 4, 8, 19]) for _ in range(r.randint(2, 4))]
    lines, names = [], []
    for j, c in enumerate(parts):
        lines.append(f"(tensor p{j} (shape 1 {c} {h} {w}) {dtype})\n")
        names.append(f"(compute relu p{j})" if r.random() < 0.6 else f"p{j}")
    term = names[0]
    for name in names[1:]:
        term = f"(concat {term} {name} 1)"
    c = sum(parts)
    return [1, o, h + 3 - k, w + 1 - k], (
        "".join(lines) + f"(tensor w (shape {o} {c} {k} {k}) {dtype})\n"
        f"(let x {term})\n"
        f"(let c (transpose (squeeze (compute dotProd (cartProd\n"
        f"  (windows (access (pad x zero 2 1 1) 1) (shape {c} {k} {k}) "
        f"(stride 1 1 1))\n  (access w 1))) 1) (list 0 3 1 2)))\n"
        f"(output c)\n")


def matmul_of_heads(r, dtype):
    """A product whose sum runs over two dimensions that do not lie behind each
    other, computed or not, as what attention hands on."""
    heads, rows, d, n = (r.choice([2, 3, 5, 8]), r.choice([9, 17, 40]),
                         r.choice([8, 16, 20]), r.choice([9, 16, 48]))
    x = r.choice(["x", "(compute neg x)"])
    return [rows, n], (
        f"(tensor x (shape {heads} {rows} {d}) {dtype})\n"
        f"(tensor w (shape {heads * d} {n}) {dtype})\n"
        f"(let y (reshape (transpose {x} (list 1 0 2)) "
        f"(shape {rows} {heads * d}) (shape)))\n"
        f"(let c (compute dotProd (cartProd (access y 1) "
        f"(transpose (access w 1) (list 1 0)))))\n(output c)\n")


def product(x, w):
    return f"(compute dotProd (cartProd (access {x} 1) (access {w} 1)))"


def residual(r, dtype):
    """Three products, the last one's sums added to what the first one made and
    nobody else needs any more: they may be written over it. Then one more. Of
    one row, or with the same weights twice."""
    m, n, k = (r.choice([1, 2, 7, 14, 17, 33]), r.choice([16, 17, 33, 48, 70]),
               r.choice([16, 40, 300, 700]))
    dtype = SUM.get(dtype, dtype)
    turned = r.random() < 0.5
    turn = "(transpose {} (list 1 0))" if turned else "{}"
    value = r.choice(["(compute add (pair g h))",
                      "(compute max (pair h (compute sub (pair g h))))"])
    middle = product(turn.format("h"), "w1")
    third = r.choice(["w0", "w2"])
    widths = [(n, k), (k, n), (n, k), (9, n)]
    return [9, m] if turned else [m, 9], (
        f"(tensor x (shape {m} {k}) {dtype})\n" +
        "".join(f"(tensor w{j} (shape {rows} {columns}) {dtype})\n"
                for j, (rows, columns) in enumerate(widths)
                if j != 2 or third == "w2") +
        f"(let h {turn.format(product('x', 'w0'))})\n"
        f"(let g {turn.format(product(middle, third))})\n"
        f"(let y (compute relu {value}))\n"
        f"(let c {turn.format(product(turn.format('y'), 'w3'))})\n(output c)\n")


def consumed(r, shape, dtype):
    """Definitions that make the output of c: a bias along some dimension, other
    arrays added in this or another order of dimensions, an operator."""
    out, term, rank = [], "c", len(shape)
    sizes = " ".join(map(str, shape))
    for k in range(r.choice([0, 0, 1, 2, 3])):
        kind = r.choice(["bias", "same", "turned", "relu", "twice"])
        name = f"t{k}"
        if kind == "bias":
            d = r.randrange(rank)
            other = name
            for j in range(rank):
                other = other if j == d else f"(insertAxis {other} {j})"
            other = f"(broadcast {other} (shape {sizes}))"
            out.append(f"(tensor {name} (shape {shape[d]}) {dtype})")
        elif kind == "same":
            other = name
            out.append(f"(tensor {name} (shape {sizes}) {dtype})")
        elif kind == "turned":
            order = r.sample(range(rank), rank)
            turned = [0] * rank
            for j, d in enumerate(order):
                turned[d] = shape[j]
            other = f"(transpose {name} (list {' '.join(map(str, order))}))"
            out.append(f"(tensor {name} (shape {' '.join(map(str, turned))}) "
                       f"{dtype})")
        elif kind == "twice":
            out.append(f"(let {name} (compute mul (pair {term} {term})))")
            term = name
            continue
        else:
            term = f"(compute relu {term})"
            continue
        operator = r.choice(["add", "mul", "max"])
        term = f"(compute {operator} (pair {term} {other}))"
    out.append(f"(let out {term})\n(output out)")
    return "\n".join(out) + "\n"


def nest(names, extents, body):
    """Loops around a statement, the first one outside."""
    lines = ["  " * d + f"for {name} in 0..{extents[d]} {{"
             for d, name in enumerate(names)]
    lines.append("  " * len(names) + body)
    lines += ["  " * d + "}" for d in reversed(range(len(names)))]
    return "\n".join(lines) + "\n"


def by_hand(r):
    """A loop program: sums start at zero, or at a row, in a nest of their own;
    products are added by loops in any order, once or twice; and they are
    stored as they are, turned over, or were summed up in place."""
    m, n, ks = r.choice([7, 33, 64]), r.choice([16, 33, 64]), [48, 130]
    dtype = r.choice(["f32", "f64", "i32"])
    turned = m == n and r.random() < 0.5
    apart = r.random() < 0.5
    sums = "acc" if apart else "c"
    zero = "0" if dtype == "i32" else "0.0"
    text = f"input bias: {dtype}[{n}]\n"
    start = r.choice([zero, zero, "bias[j0]"])
    body = nest(["i0", "j0"], [m, n], f"S0: {sums}[i0, j0] = {start}")
    for t in range(r.choice([1, 1, 2])):
        text += (f"input a{t}: {dtype}[{m}, {ks[t]}]\n"
                 f"input b{t}: {dtype}[{ks[t]}, {n}]\n")
        names, extents = ["p", "q", "r"], [m, n, ks[t]]
        i, j, k = (f"{name}{t}" for name in names)
        order = r.sample(range(3), 3)
        body += nest([[i, j, k][d] for d in order], [extents[d] for d in order],
                     f"T{t}: {sums}[{i}, {j}] += a{t}[{i}, {k}] * b{t}[{k}, {j}]")
    text += f"output c: {dtype}[{m}, {n}]\n"
    if apart:
        text += f"local acc: {dtype}[{m}, {n}]\n"
        at = "v, u" if turned else "u, v"
        body += nest(["u", "v"], [m, n], f"S1: c[u, v] = acc[{at}]")
    return text + "\n" + body


def prepacked(r, text):
    """Options that say which inputs are constant: none, some or all."""
    names = re.findall(r"^\(tensor (\S+)", text, re.M)
    chosen = [n for n in names if r.random() < 0.5] if r.random() < 0.5 else []
    return [word for name in chosen for word in ("--prepack", name)]


def check(glen, folder, text, target, strict, sanitize, more, optimize=None):
    loops = text.startswith("input")
    source = os.path.join(folder, "case.loops" if loops else "case.glen")
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    command = [glen, "run", "--check", source, "--target", target, "--quiet"]
    # What is looked at are the results: to compile it takes nearly all of the
    # time, and less with fewer optimizations.
    optimize = optimize or ("-O0" if sanitize else "-O1")
    command += more + [f"--cc-flag={optimize}"]
    command += ["--strict-fp"] if strict else []
    command += ["--sanitize"] if sanitize else []
    return subprocess.run(command, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=300)


def main():
    glen = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        targets = []
        for k, machine in enumerate(VECTORS):
            targets.append(os.path.join(folder, f"{k}.target"))
            with open(targets[-1], "w", encoding="utf-8") as f:
                f.write(TARGET % (*machine, ""))
        # ... and with the instructions of this machine, masks among them.
        own = os.path.join(folder, "own.target")
        with open(own, "w", encoding="utf-8") as f:
            f.write(TARGET % (*VECTORS[2], '\n  (march "native")'))
        # One lane, and vectors that no register holds.
        strange = []
        for size in (4, 256):
            strange.append(os.path.join(folder, f"strange{size}.target"))
            with open(strange[-1], "w", encoding="utf-8") as f:
                f.write(TARGET % (size, 16, 65536, '\n  (march "native")'))
        # One core runs no threads, so that compilers see more of a kernel at
        # once, such as that weights have fewer elements than a vector.
        single = os.path.join(folder, "single.target")
        with open(own, encoding="utf-8") as f, \
                open(single, "w", encoding="utf-8") as g:
            g.write(f.read().replace("(cores 2)", "(cores 1)"))
        with open(SHORT_WEIGHTS, encoding="utf-8") as f:
            short_weights = f.read()
        once = [(PADDED_CORNER, target, True, "none", None)
                for target in targets]
        once.append((WIDE_ELEMENTS, strange[0], True, "post-tile", None))
        once.append((short_weights, single, False, "none", "-O2"))
        for text, target, sanitize, fuse, optimize in once:
            done = check(glen, folder, text, target, False, sanitize,
                         ["--fuse", fuse], optimize)
            passed += done.returncode == 0
            failed += done.returncode != 0
            if done.returncode:
                print(f"{text}{done.stderr[-2000:]}")
        for k in range(seed, seed + count):
            r = random.Random(k)
            make = [matmul, conv_nchw, conv_nhwc, conv_any_rank][k % 4]
            if k % 6 == 3:
                make = conv_of_small_images
            if k % 5 == 4:
                make = [conv_of_parts, matmul_of_heads, residual][k // 5 % 3]
            dtype = r.choice(["f32", "f32", "f64", "i32", "i8", "bf16"])
            shape, text = make(r, dtype)
            text += consumed(r, shape, SUM.get(dtype, dtype))
            if k % 7 == 5:
                text = by_hand(r)
            target = r.choice(targets)
            if target == targets[2] and k % 3:
                target = own
            if k % 8 == 6:
                target = strange[k // 8 % 2]
            more = (["--fuse", "none"] if text.startswith("input") else
                    prepacked(r, text) +
                    ["--fuse", r.choice(["none", "post-tile"])])
            done = check(glen, folder, text, target,
                         r.random() < 0.25, r.random() < 0.4, more)
            passed += done.returncode == 0
            failed += done.returncode != 0
            if done.returncode:
                print(f"seed {k}:\n{text}{done.stderr[-2000:]}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
