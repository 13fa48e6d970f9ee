#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Machines each of whose numbers may be at an end of its range.

usage: extremes.py GLEN [COUNT [SEED]]

Caches of one byte, lines of one or of a million, vectors of four bytes, three
registers, 65,536 cores: code for random sums of products, and for examples, is
made for such machines in each way of fusing.  glen must write it, or say why not,
and be done within its time limit.  A case that fails is printed with its seed.
"""
import glob
import os
import random
import subprocess
import sys
import tempfile

import contractions

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZES = [1, 7, 64, 1000, 32768, 524288, 10 ** 9]
LINES = [1, 2, 3, 4, 8, 48, 64, 128, 10 ** 6]
WAYS = [1, 2, 3, 8, 16, 10 ** 6]
RATES = ["1e-6", "1", "32", "1e9"]
MAKERS = [contractions.matmul, contractions.conv_nchw, contractions.conv_nhwc,
          contractions.conv_any_rank, contractions.conv_of_small_images,
          contractions.residual]


def machine(r):
    caches = "".join(
        f"\n  (cache {level} (bytes {r.choice(SIZES)}) (line {r.choice(LINES)})"
        f" (ways {r.choice(WAYS)}) (bytes-per-cycle {r.choice(RATES)}))"
        for level in range(1, 1 + r.randint(0, 3)))
    return (f"(target odd (cores {r.choice([1, 2, 3, 64, 65536])})\n"
            f"  (frequency-ghz {r.choice(['0.001', '3', '1000'])})\n"
            f"  (vector-bytes {r.choice([4, 8, 16, 32, 64, 128, 4096])})\n"
            f"  (vector-registers {r.choice([1, 2, 3, 4, 8, 16, 32, 4096])})"
            f"{caches}\n  (memory (bytes-per-cycle {r.choice(RATES)}))\n"
            f"  (host (flops-per-cycle {r.choice(RATES)})\n"
            f"    (scalar-ops-per-cycle {r.choice(RATES)})))\n")


def program(r):
    dtype = r.choice(["f32", "f64", "i32", "i8", "bf16"])
    shape, text = r.choice(MAKERS)(r, dtype)
    return text + contractions.consumed(
        r, shape, contractions.SUM.get(dtype, dtype))


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def main():
    glen = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    examples = sorted(p for p in glob.glob(os.path.join(ROOT, "examples", "*.glen"))
                      if os.path.getsize(p) < 6000)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for k in range(seed, seed + count):
            r = random.Random(k)
            target = write(os.path.join(folder, "odd.target"), machine(r))
            source = (r.choice(examples) if r.random() < 0.4 else
                      write(os.path.join(folder, "case.glen"), program(r)))
            how = r.choice([["--choose", "3"]] +
                           [["--fuse", mode] for mode in
                            ("none", "min", "smart", "max", "post-tile", "auto")])
            done = subprocess.run(
                [glen, "compile", source, "--target", target, *how, "--quiet",
                 "--time-limit", "20", "-o", os.path.join(folder, "case.c")],
                stdin=subprocess.DEVNULL, text=True, capture_output=True,
                timeout=100)
            # 1: there is no code for it, with the reason.
            good = done.returncode == 0 or (done.returncode == 1 and
                                            "error: " in done.stderr)
            passed += good
            failed += not good
            if not good:
                print(f"seed {k}: {done.returncode}, {how}, {source}\n"
                      f"{machine(random.Random(k))}{done.stderr[-1000:]}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
