#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stencils that are iterated over time, in slanted tiles and as written.

    bench/fusion/sweeps.py [--sweeps NAME,...] [options of never_slower.py]
    bench/fusion/sweeps.py --print heat-3d          # the program

After the stencils of PolyBench: jacobi-1d, jacobi-2d, seidel-2d, heat-3d and
fdtd-2d, and jacobi-1d with borders that follow their neighbours.  Arrays are
larger than the last cache together, so that each step of the loops as written
goes to memory.  Measured by never_slower.py: two functions in one process, by
turns.
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def copies(names, extents):
    """Each array gets its input's elements."""
    for name in names:
        loops = [f"{name.lower()}{d}" for d in range(len(extents))]
        head = " ".join(f"for {i} in 0..{n} {{" for i, n in zip(loops, extents))
        at = ", ".join(loops)
        yield f"{head} I{name}: {name}[{at}] = X[{at}]" + " }" * len(extents)


def arrays(names, extents, outputs=1):
    shape = ", ".join(map(str, extents))
    yield f"input X: f32[{shape}]"
    for k, name in enumerate(names):
        role = "output" if k < outputs else "workspace"
        yield f"{role} {name}: f32[{shape}]"
    yield from copies(names, extents)


def inner(label, extents, text, names):
    """A statement at all points but those of the border."""
    head = " ".join(f"for {i} in 1..{n - 1} {{" for i, n in zip(names, extents))
    return f"{head} {label}: {text}" + " }" * len(extents)


def jacobi_1d(steps=64, n=8 << 20):
    yield from arrays("AB", [n])
    yield f"for t in 0..{steps} {{"
    yield inner("S", [n], "B[i] = (A[i - 1] + A[i] + A[i + 1]) * 0.33333", "i")
    yield inner("R", [n], "A[j] = (B[j - 1] + B[j] + B[j + 1]) * 0.33333", "j")
    yield "}"


def cross(name, i, j):
    return (f"({name}[{i}, {j}] + {name}[{i}, {j} - 1] + {name}[{i}, {j} + 1]"
            f" + {name}[{i} + 1, {j}] + {name}[{i} - 1, {j}]) * 0.2")


def jacobi_2d(steps=32, n=4096):
    yield from arrays("AB", [n, n])
    yield f"for t in 0..{steps} {{"
    yield inner("S", [n, n], "B[i, j] = " + cross("A", "i", "j"), "ij")
    yield inner("R", [n, n], "A[k, l] = " + cross("B", "k", "l"), "kl")
    yield "}"


def seidel_2d(steps=32, n=4096):
    terms = " + ".join(f"A[i{di}, j{dj}]" for di in (" - 1", "", " + 1")
                       for dj in (" - 1", "", " + 1"))
    yield from arrays("A", [n, n])
    yield f"for t in 0..{steps} {{"
    yield inner("S", [n, n], f"A[i, j] = ({terms}) * 0.1111", "ij")
    yield "}"


def heat(name, i, j, k):
    at = [i, j, k]
    terms = []
    for d in range(3):
        sides = [", ".join(x + (side if e == d else "")
                           for e, x in enumerate(at))
                 for side in (" + 1", " - 1")]
        terms.append(f"0.125 * ({name}[{sides[0]}] - 2 * {name}[{', '.join(at)}]"
                     f" + {name}[{sides[1]}])")
    return " + ".join(terms) + f" + {name}[{', '.join(at)}]"


def heat_3d(steps=16, n=256):
    yield from arrays("AB", [n, n, n])
    yield f"for t in 0..{steps} {{"
    yield inner("S", [n, n, n], "B[i, j, k] = " + heat("A", *"ijk"), "ijk")
    yield inner("R", [n, n, n], "A[l, m, n] = " + heat("B", *"lmn"), "lmn")
    yield "}"


def fdtd_2d(steps=32, n=3072):
    yield f"input F: f32[{steps}]"
    yield from arrays(["Y", "Z", "H"], [n, n], outputs=3)
    yield f"for t in 0..{steps} {{"
    yield f"for y in 0..{n} {{ S0: Y[0, y] = F[t] }}"
    yield (f"for i in 1..{n} {{ for j in 0..{n} {{ S1: Y[i, j] = Y[i, j]"
           " - 0.5 * (H[i, j] - H[i - 1, j]) } }")
    yield (f"for k in 0..{n} {{ for l in 1..{n} {{ S2: Z[k, l] = Z[k, l]"
           " - 0.5 * (H[k, l] - H[k, l - 1]) } }")
    yield (f"for m in 0..{n - 1} {{ for n in 0..{n - 1} {{ S3: H[m, n] = "
           "H[m, n] - 0.7 * (Z[m, n + 1] - Z[m, n] + Y[m + 1, n] - Y[m, n])"
           " } }")
    yield "}"


def bordered_1d(steps=64, n=8 << 20):
    yield from arrays("AB", [n])
    for name, other, a, b, i in (("S", "AB", 0, n - 1, "i"),
                                 ("R", "BA", 0, n - 1, "j")):
        if name == "S":
            yield f"for t in 0..{steps} {{"
        x, y = other
        yield f"{name}l: {y}[{a}] = {x}[{a + 1}]"
        yield f"{name}r: {y}[{b}] = {x}[{b - 1}]"
        yield inner(name, [n], f"{y}[{i}] = ({x}[{i} - 1] + {x}[{i}] + "
                    f"{x}[{i} + 1]) * 0.33333", i)
    yield "}"


SWEEPS = {"jacobi-1d": jacobi_1d, "jacobi-2d": jacobi_2d,
          "seidel-2d": seidel_2d, "heat-3d": heat_3d, "fdtd-2d": fdtd_2d,
          "bordered-1d": bordered_1d}

# Sizes at which the interpreter takes part: (steps, n).
SMALL = {"jacobi-1d": (12, 3000), "jacobi-2d": (12, 70), "seidel-2d": (12, 70),
         "heat-3d": (10, 20), "fdtd-2d": (12, 61), "bordered-1d": (12, 3000)}


def text(name, small=False):
    return "\n".join(SWEEPS[name](*SMALL[name] if small else ())) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sweeps", default=",".join(SWEEPS))
    parser.add_argument("--print", dest="shown", choices=sorted(SWEEPS))
    args, others = parser.parse_known_args()
    if args.shown:
        print(text(args.shown), end="")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name in args.sweeps.split(","):
            paths.append(os.path.join(folder, name + ".loops"))
            with open(paths[-1], "w", encoding="utf-8") as f:
                f.write(text(name))
        ran = subprocess.run([
            sys.executable, os.path.join(HERE, "never_slower.py"),
            "--way=--fuse=post-tile", "--turns", "3", "--seconds", "0",
            *others, *paths], check=False)
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
