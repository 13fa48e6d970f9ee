#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests of the standard's own backends, one node each.

usage: backend.py GLEN [--data FOLDER] [--sample N] [--only TEXT] [--markdown]

FOLDER is that of Debian's libonnx-testdata, unless another one is given.  A
test counts where its inputs and outputs are dense tensors of numbers and it is
no training.  Its model is imported and run by the interpreter; every tenth is
compiled as well.  Where glen says that an input must be known, as shapes and
axes must, the inputs behind the first are made part of the model, at last all
of them.  An element passes within 1e-3 of itself and 1e-5 of the largest one.

A test is refused where glen says what is not supported: exit code 1 and an
error that names a node or an input; all else is a failure.  --sample runs each
N-th test.  --markdown prints the table of the docs.  The last line is `N
passed, N failed`; a folder that is absent counts as skipped.
"""
import argparse
import collections
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

import decode
import npy
from models import plain

DATA = "/usr/share/libonnx-testdata/data/node"
# Of the format's element types: the .npy file that glen reads and writes.
FILES = {1: "<f4", 2: "|u1", 3: "|i1", 4: "<u2", 5: "<i2", 6: "<i4",
         7: "<i8", 9: "|b1", 10: "<f2", 11: "<f8", 12: "<u4", 16: "<V2"}
STRING = 8
# What this version of the tests wants otherwise than the standard.
OTHERWISE = {
    # Cut off, where the standard rounds to the nearest.
    "test_cast_FLOAT_to_BFLOAT16", "test_castlike_FLOAT_to_BFLOAT16",
    "test_castlike_FLOAT_to_BFLOAT16_expanded",
    # Corners of a size that is no whole number.
    "test_resize_downsample_scales_cubic_align_corners",
    "test_resize_downsample_scales_linear_align_corners"}
TRAINING = ("momentum", "adagrad", "adam", "nesterov", "training_dropout",
            "gradient", "training")


def call(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          errors="replace", timeout=300)
    return done.returncode, done.stderr


def read(path):
    with open(path, "rb") as f:
        return f.read()


def is_counted(folder, model):
    """Inference on dense tensors of numbers."""
    graph = decode.graph_of(model)
    kinds = [t for field in (11, 12) for _, t in decode.values(graph, field)]
    return (all(t and t != STRING for t in kinds) and
            not any(t in os.path.basename(folder) for t in TRAINING))


def widened(pattern):
    """The f32 whose upper half is that of a bf16."""
    return struct.unpack("<f", struct.pack("<I", pattern << 16))[0]


def half(pattern):
    """The number that 16 bits are as an IEEE 754 half."""
    return struct.unpack("<e", struct.pack("<H", pattern))[0]


def held(data, dtype):
    """A tensor; elements of bf16 are stored as integers of 16 bits, and those
    of f16 may be."""
    name, stored, shape, elements = decode.tensor(data)
    if stored == 10 and elements and isinstance(elements[0], int):
        elements = [*map(half, elements)]
    return name, 16 if dtype == 16 and stored == 4 else stored, shape, elements


def close(have, want, top):
    if math.isnan(want) or math.isnan(have):
        return math.isnan(want) and math.isnan(have)
    if math.isinf(want) or math.isinf(have):
        return have == want
    return abs(have - want) <= 1e-3 * abs(want) + 1e-5 * top


def wrong(work, names, expected):
    for name, (_, dtype, shape, elements) in zip(names, expected):
        path = os.path.join(work, f"y.{plain(name)}.npy")
        if not os.path.exists(path):
            path = os.path.join(work, "y.npy")
        code, has, have = npy.load(path)
        if code != FILES.get(dtype) or list(has) != shape:
            return f"{name} is {code} {list(has)}, not type {dtype} {shape}"
        if dtype == 16:
            have, elements = map(widened, have), [*map(widened, elements)]
        top = max((abs(v) for v in elements if math.isfinite(v)), default=0)
        for k, (p, q) in enumerate(zip(have, elements)):
            if not close(p, float(q), max(top, 1e-30)):
                return f"element {k} of {name} is {p}, not {q}"
    return None


class Test:
    def __init__(self, glen, folder, number):
        self.glen, self.folder, self.number = glen, folder, number
        self.model = read(os.path.join(folder, "model.onnx"))
        graph = decode.graph_of(self.model)
        data = os.path.join(folder, "test_data_set_0")
        stored = {decode.first(t, 8, b"").decode()
                  for t in decode.several(graph, 5)}
        self.types = dict(decode.values(graph, 11) +
                          decode.values(graph, 12))
        self.inputs = [n for n, _ in decode.values(graph, 11)
                       if n not in stored]
        self.outputs = [n for n, _ in decode.values(graph, 12)]
        self.given = [read(os.path.join(data, f"input_{k}.pb"))
                      for k in range(len(self.inputs))]
        self.wanted = [read(os.path.join(data, f"output_{k}.pb"))
                       for k in range(len(self.outputs))]

    def once(self, work, known):
        """With inputs from `known` on as parts of the model: (verdict, why)."""
        pairs = list(zip(self.inputs, self.given))
        with open(os.path.join(work, "m.onnx"), "wb") as f:
            f.write(decode.with_known(self.model, pairs[known:]))
        code, said = call([self.glen, "import", "m.onnx"], work)
        if code:
            clean = code == 1 and re.search(r"error: .*\[onnx-", said)
            return "refused" if clean else "failed", said
        command = [self.glen, "run", "m.glen", "--quiet", "--output", "y.npy"]
        for k, (name, data) in enumerate(pairs[:known]):
            _, dtype, shape, elements = held(data, self.types[name])
            if dtype not in FILES:
                return "failed", f"{name} is imported, of type {dtype}"
            npy.save(os.path.join(work, f"x{k}.npy"), FILES[dtype], shape,
                     elements)
            command += ["--input", f"{plain(name)}=x{k}.npy"]
        expected = [held(data, self.types[n])
                    for n, data in zip(self.outputs, self.wanted)]
        for way in [["--interpret"]] + [[]] * (self.number % 10 == 0):
            code, said = call(command + way, work)
            if "[type-mismatch]" in said:  # not of the shape that is declared
                return "refused", said
            fault = said if code else wrong(work, self.outputs, expected)
            if fault:
                return "failed", fault
        return "passed", ""

    def verdict(self):
        tries = sorted({len(self.inputs), min(1, len(self.inputs)), 0},
                       reverse=True)
        for known in tries:
            with tempfile.TemporaryDirectory() as work:
                verdict, why = self.once(work, known)
            if verdict != "refused":
                break
        return verdict, why


def operator_of(folder):
    graph = decode.graph_of(read(os.path.join(folder, "model.onnx")))
    names = {decode.first(n, 4, b"").decode()
             for n in decode.several(graph, 1)}
    return names.pop() if len(names) == 1 else "several"


def table(results):
    """A row for each operator of which not all pass."""
    rows = collections.defaultdict(collections.Counter)
    for folder, (verdict, _) in results.items():
        rows[operator_of(folder)][verdict] += 1
    yield "| operator | passed | refused | failed |"
    yield "|---|---|---|---|"
    whole = sorted(n for n, r in rows.items() if r["passed"] == r.total())
    for name in sorted(set(rows) - set(whole)):
        r = rows[name]
        yield (f"| {name} | {r['passed']} | {r['refused']} | "
               f"{r['failed']} |")
    all_of = collections.Counter(v for v, _ in results.values())
    yield (f"| all {len(rows)} | {all_of['passed']} | {all_of['refused']} | "
           f"{all_of['failed']} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("glen")
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    glen = os.path.abspath(options.glen)
    if not os.path.isdir(options.data):
        print(f"skipped backend: {options.data} is absent")
        print("0 passed, 0 failed")
        return 0
    folders = sorted(os.path.join(options.data, n)
                     for n in os.listdir(options.data) if options.only in n)
    counted = [f for f in folders
               if is_counted(f, read(os.path.join(f, "model.onnx")))]
    results = {}
    for number, folder in enumerate(counted):
        if number % options.sample:
            continue
        verdict, why = Test(glen, folder, number).verdict()
        results[folder] = verdict, why
        if verdict != "passed" and not options.markdown:
            lines = [v for v in why.splitlines() if "error" in v] or [why]
            print(f"{verdict} {os.path.basename(folder)}: {lines[0][:160]}",
                  flush=True)
    if options.markdown:
        print("\n".join(table(results)))
        return 0
    tally = collections.Counter(
        v for f, (v, _) in results.items()
        if v != "failed" or os.path.basename(f) not in OTHERWISE)
    print(f"{len(folders) - len(counted)} tests are training, sequences or "
          f"strings; {tally['refused']} of {len(results)} are refused")
    print(f"{tally['passed']} passed, {tally['failed']} failed")
    return 1 if tally["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
