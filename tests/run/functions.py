#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions of one number, as generated code computes them, against C's own.

usage: functions.py GLEN

Floats of all magnitudes, those around which the code changes its way, subnormal
numbers, infinities and NaN: what is not NaN is within the units in the last place
that src/codegen/print/helpers.c promises, and with --strict-fp, by the C library, within two and a half.
"""
import array
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

# Units in the last place; with what the C compiler leaves unfused.
BOUNDS = {"exp": 1.25, "erf": 2.0, "tanh": 1.5, "sigmoid": 2.5}
EDGES = [0.0, -0.0, math.inf, -math.inf, math.nan, 0.625, 0.94, 4.0, 10.0, 1e-45,
         1.2e-38, 88.72, 88.73, 89.0, 87.33, 103.9, 104.1, 1e30, 3.4e38]


def as_float(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def values():
    r = random.Random(1)
    out = [s * e for e in EDGES for s in (1, -1)]
    for e in EDGES[5:]:
        near = struct.unpack("<I", struct.pack("<f", e))[0]
        out += [s * as_float(near + k) for k in range(-3, 4) for s in (1, -1)
                if near + k >= 0]
    out += [as_float(r.getrandbits(32)) for _ in range(2000)]
    out += [r.uniform(-20, 20) for _ in range(2000)]
    out += [r.uniform(-110, 95) for _ in range(2000)]
    return array.array("f", out)


def reference(name, x):
    try:
        if name == "sigmoid":  # the divisor is no float beyond this
            return 1 / (1 + math.exp(-x)) if x > -88.722 else 0.0
        return getattr(math, name)(x)
    except OverflowError:
        return 0.0 if name == "sigmoid" else math.inf


def units(have, want):
    """How far `have` is from `want`, in units in the last place of a float."""
    if math.isnan(have) or math.isinf(have):
        return 0 if have == want or abs(want) > 3.4028236e38 else math.inf
    exponent = max(math.frexp(want)[1] - 24, -149)
    return abs(have - want) / math.ldexp(1, exponent)


def write_npy(path, data):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(data)
    head = head.ljust(117) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) +
                head.encode() + data.tobytes())


def read_npy(path):
    with open(path, "rb") as f:
        data = f.read()
    (size,) = struct.unpack_from("<H", data, 8)
    return array.array("f", data[10 + size:])


def check(glen, folder, name, options, bound):
    x = values()
    files = {k: os.path.join(folder, k) for k in ("f.glen", "x.npy", "y.npy")}
    write_npy(files["x.npy"], x)
    with open(files["f.glen"], "w", encoding="utf-8") as f:
        f.write(f"(tensor x (shape {len(x)}) f32)\n(let y (compute {name} x))\n(output y)\n")
    done = subprocess.run(
        [glen, "run", files["f.glen"], "--input", f"x={files['x.npy']}",
         "--output", files["y.npy"], "--quiet", "--sanitize", *options],
        stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=300)
    if done.returncode:
        return done.stderr
    for a, have in zip(x, read_npy(files["y.npy"])):
        if math.isnan(a):
            wrong = not math.isnan(have)
        else:
            wrong = not units(have, reference(name, a)) <= bound
        if wrong:
            return f"{name}({a!r}) is {have!r}, not {reference(name, a)!r}\n"
    return None


def main():
    glen = os.path.abspath(sys.argv[1])
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, bound in BOUNDS.items():
            for options, most in (([], bound), (["--target", "native"], bound),
                                  (["--strict-fp"], 2.5)):
                fault = check(glen, folder, name, options, most)
                passed += not fault
                failed += bool(fault)
                if fault:
                    print(f"{' '.join(options)}: {fault}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
