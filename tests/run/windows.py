#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random reductions over windows against the interpreter.

usage: windows.py GLEN [COUNT [SEED]]

Depthwise convolutions and pools, with channels in front or behind, of one to
three axes with strides, dilations and padding of their own on each side, of three
dtypes and three vector lengths, batches, consumers of the results, results beside
the image in one array, with and without sanitizers: rows around the length of a vector, so that every kind of border and of
tail is met.  A case that fails is printed with its seed.
"""
import os
import random
import sys
import tempfile

import contractions


def text(numbers):
    return " ".join(map(str, numbers))


def axes(r):
    """Of each axis: size, window, stride, dilation, padding before and after,
    and the size of the result."""
    out = []
    for last in [False] * r.choice([0, 1, 1, 1, 2]) + [True]:
        n = r.choice([5, 7, 8, 9, 14, 17, 28, 33, 66, 99] if last
                     else [3, 5, 7, 9, 14])
        k, s, d = r.choice([1, 2, 3, 3, 5]), r.choice([1, 1, 2, 3]), \
            r.choice([1, 1, 1, 2])
        reach = (k - 1) * d + 1
        before, after = r.randint(0, reach - 1), r.randint(0, reach - 1)
        how = r.random()
        if how < 0.3:
            before = after = 0
        elif how < 0.5:  # as many results as elements
            s, after = 1, reach - 1 - before
        if n + before + after < reach:
            k, reach = 1, 1
        out.append((n, k, s, d, before, after,
                    (n + before + after - reach) // s + 1))
    return out


def plane(r):
    """Two axes of one plane that is large enough for tiles of its own, whose
    rows threads share."""
    out = []
    for _ in range(2):
        n, k, d = r.randint(215, 250), r.choice([5, 5, 6]), r.choice([1, 1, 2])
        before, after = r.randint(0, 2), r.randint(0, 2)
        out.append((n, k, 1, d, before, after,
                    n + before + after - (k - 1) * d))
    return out


def windows(r, kind, dtype):
    """An image seen as windows: its shape, the term, the shape of the results
    and that of a window; n images of c channels, in front."""
    every = axes(r)
    n, c = r.choice([1, 1, 2, 3]), r.choice([1, 3, 8, 17, 32])
    if r.random() < 0.1:
        every, n, c = plane(r), 1, r.choice([1, 1, 2])
    shape, term, behind = [n, c] + [a[0] for a in every], "x", False
    order = list(range(len(shape)))
    if r.random() < 0.5:
        behind = True
        shape = [n] + shape[2:] + [c]
        term = f"(transpose x (list 0 {len(order) - 1} {text(range(1, len(order) - 1))}))"
    filler = "min" if kind == "max" else "zero"
    for k, a in enumerate(every):
        term = f"(pad {term} {filler} {k + 2} {a[4]} {a[5]})"
    window = [a[1] for a in every]
    dilation = ""
    if any(a[3] > 1 for a in every):
        dilation = f" (dilation {text(a[3] for a in every)})"
    term = (f"(windows (access {term} 2) (shape {text(window)}) "
            f"(stride {text(a[2] for a in every)}){dilation})")
    return (shape, term,
            [n, c] + [a[6] for a in every], window, behind)


def depthwise(r, term, shape, window, behind, dtype):
    ones = " ".join("1" for _ in shape[2:])
    declared = window + [shape[1]] if behind else [shape[1]] + window
    w = "w"
    if behind:
        w = f"(transpose w (list {len(window)} {text(range(len(window)))}))"
    spread = (f"(broadcast (reshape (access {w} 1) (shape 1 {shape[1]} {ones}) "
              f"(shape {text(window)})) (shape {text(shape + window)}))")
    return (f"(tensor w (shape {text(declared)}) {dtype})\n",
            f"(compute dotProd (pair {term} {spread}))")


def beside(r, image, shape):
    """Puts the image and the results into one array, side by side; None if they
    do not fit together, or where they are left alone."""
    other = [k for k in range(len(shape)) if image[k] != shape[k]]
    if len(image) != len(shape) or len(other) > 1 or r.random() < 0.3:
        return None
    axis = (other or r.sample(range(len(shape)), 1))[0]
    return f"(let d (concat {r.choice(['x c', 'c x'])} {axis}))\n(output d)\n"


def case(r):
    kind = r.choice(["dw", "dw", "dw", "sum", "mean", "max", "min"])
    dtype = r.choice(["f32", "f32", "f32", "f64", "i32"])
    image, term, shape, window, behind = windows(r, kind, dtype)
    weights = ""
    if kind == "dw":
        weights, term = depthwise(r, term, shape, window, behind, dtype)
    else:
        term = f"(compute reduce{kind.capitalize()} {term})"
    if behind:
        term = f"(transpose {term} (list 0 {text(range(2, len(shape)))} 1))"
        shape = [shape[0]] + shape[2:] + [shape[1]]
    made = f"{weights}(let c {term})\n"
    both = beside(r, image, shape)
    if both:
        return (f"(tensor y (shape {text(image)}) {dtype})\n"
                f"(let x (compute relu y))\n{made}{both}")
    return f"(tensor x (shape {text(image)}) {dtype})\n{made}" + \
        contractions.consumed(r, shape, dtype)


def main():
    glen = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        targets = []
        for k, machine in enumerate(contractions.VECTORS):
            for own in ("", '\n  (march "native")'):
                targets.append(os.path.join(folder, f"{len(targets)}.target"))
                with open(targets[-1], "w", encoding="utf-8") as f:
                    f.write(contractions.TARGET % (*machine, own))
        for k in range(seed, seed + count):
            r = random.Random(k)
            text_of_case = case(r)
            done = contractions.check(
                glen, folder, text_of_case, r.choice(targets),
                r.random() < 0.25, r.random() < 0.5,
                ["--fuse", r.choice(["none", "none", "none", "post-tile"])])
            passed += done.returncode == 0
            failed += done.returncode != 0
            if done.returncode:
                print(f"seed {k}:\n{text_of_case}{done.stderr[-2000:]}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
