#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random sums of products on declared multiply-accumulate instructions.

usage: isa.py GLEN [COUNT [SEED]]

The products and convolutions of contractions.py, of bytes and of floats, on
instructions of many shapes: those that targets/ declares for this kind of
processor, and made-up ones that no processor has, which run as the plain C that
their declaration means.  So panels, tails, offsets of bytes, what is packed
beforehand and what consumers make of sums are held against the interpreter
whatever this machine is.  A case that fails is printed with its seed.
"""
import os
import random
import sys
import tempfile

import contractions

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TARGET = contractions.TARGET % (32, 16, 262144, '\n  (march "native")')

# What registers hold of x and y, the sums, and the dtypes that are multiplied.
LANES = [("i8", "i8", "i32", ["i8", "u8"]), ("u8", "i8", "i32", ["i8", "u8"]),
         ("i8", "u8", "i32", ["i8", "u8"]), ("u8", "u8", "i32", ["i8", "u8"]),
         ("i16", "i16", "i32", ["i8", "u8"]), ("i32", "i32", "i32", ["i32"]),
         ("bf16", "bf16", "f32", ["bf16"]), ("f32", "f32", "f32", ["f32"]),
         ("f64", "f64", "f64", ["f64"])]


def made_up(r):
    """A target of one instruction, and a dtype that it multiplies."""
    x, y, total, dtypes = r.choice(LANES)
    k = r.choice([1, 2, 4, 8, 64])
    parts = [q for q in (1, 2, 4, 8, 64) if k % q == 0]
    m, n = r.choice([1, 1, 2, 4, 16, 3]), r.choice([2, 4, 8, 16, 5])
    load = r.choice(["", " (load \"\")"])
    text = (f"(mac made-up (shape {m} {n} {k})\n"
            f"  (x {x} (interleave {r.choice(parts)}))\n"
            f"  (y {y} (interleave {r.choice(parts)}) (held {r.choice([1, 4])}))\n"
            f"  (sum {total}) (accumulators {r.choice([1, 4, 12])})\n"
            f"  (when \"0\") (zero \"\"){load} (load-x \"\") (load-y \"\")\n"
            f"  (accumulate \"\") (store \"\"))\n")
    return TARGET + text, r.choice(dtypes)


def shipped(r):
    """Those of this kind of processor; where it lacks one, the plain C."""
    name, dtypes = r.choice([("x86_avx2_dot", ["i8", "u8"]),
                             ("x86_vnni_dot", ["i8", "u8"]),
                             ("x86_bf16_dot", ["bf16"])])
    with open(os.path.join(ROOT, "targets", name + ".target"),
              encoding="utf-8") as f:
        return TARGET + f.read(), r.choice(dtypes)


def main():
    glen = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    passed = failed = 0
    kinds = [contractions.matmul, contractions.conv_nchw,
             contractions.conv_nhwc, contractions.conv_any_rank,
             contractions.conv_of_parts, contractions.matmul_of_heads]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "case.target")
        for k in range(seed, seed + count):
            r = random.Random(k)
            target, dtype = (shipped if k % 4 == 3 else made_up)(r)
            with open(path, "w", encoding="utf-8") as f:
                f.write(target)
            shape, text = kinds[k % len(kinds)](r, dtype)
            text += contractions.consumed(
                r, shape, {"u8": "i32"}.get(dtype, contractions.SUM.get(dtype,
                                                                      dtype)))
            done = contractions.check(
                glen, folder, text, path, False, r.random() < 0.4,
                contractions.prepacked(r, text) +
                ["--fuse", r.choice(["none", "post-tile"])])
            passed += done.returncode == 0
            failed += done.returncode != 0
            if done.returncode:
                print(f"seed {k}:\n{text}{target}{done.stderr[-2000:]}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
