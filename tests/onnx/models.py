#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole models: imported, run as they are, and compared with recorded outputs.

usage: models.py BUILD FOLDER [NAME...]

FOLDER holds NAME.onnx with what it refers to, and expected/NAME.npz: arrays
`in:INPUT` and, of each output, `out:OUTPUT`, every `step:OUTPUT`-th element of
it.  An output passes where no element differs by more than 1e-3 of the largest.
A model that is absent is told and counts as skipped.  The last line is
`N passed, N failed`.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

import npy

NAMES = ["resnet50", "mobilenet_v2", "squeezenet1_1", "densenet121",
         "efficientnet_b0", "vit_tiny", "unet", "bert_base", "gpt2_2l",
         "lstm", "yolo_like"]
TOLERANCE = 1e-3


def plain(name):
    """A name as the importer writes it."""
    name = name.lstrip("/.")
    if not re.match("[A-Za-z_]", name):
        name = "n" + name
    return re.sub("[^A-Za-z0-9_.-]", "_", name.replace("/", "."))[:181]


def call(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          timeout=1200)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:2])}: exit code "
                           f"{done.returncode}: {done.stderr[:2000]}")
    return done.stdout


def outputs(folder, names):
    if len(names) == 1:
        return {names[0]: npy.load(os.path.join(folder, "y.npy"))}
    return {n: npy.load(os.path.join(folder, f"y.{plain(n)}.npy"))
            for n in names}


def difference(have, want, step):
    """The largest difference as a part of the largest element."""
    elements = have[2][::step]
    if len(elements) != len(want[2]):
        raise RuntimeError(f"{len(elements)} elements, not {len(want[2])}")
    top = max(abs(v) for v in want[2]) or 1
    worst = 0
    for a, b in zip(elements, want[2]):
        if not abs(a - b) <= worst:
            worst = abs(a - b)
    return worst / top


def check(glen, folder, name, options):
    expected = npy.load_all(os.path.join(folder, "expected", name + ".npz"))
    wanted = [k[4:] for k in expected if k.startswith("out:")]
    with tempfile.TemporaryDirectory() as work:
        began = time.time()
        call([glen, "import", os.path.join(folder, name + ".onnx"), "-o",
              "net.glen"], work)
        imported = time.time() - began
        command = [glen, "run", os.path.join(folder, name + ".onnx"),
                   "--output", "y.npy", "--target", "native", "--quiet",
                   *options]
        for k, v in expected.items():
            if k.startswith("in:"):
                dtype = "<i4" if v[0] == "<i8" else v[0]
                npy.save(os.path.join(work, f"in{len(command)}.npy"), dtype,
                         v[1], v[2])
                command += ["--input",
                            f"{plain(k[3:])}=in{len(command)}.npy"]
        call(command, work)
        ran = time.time() - began - imported
        have = outputs(work, wanted)
        worst = max(difference(have[n], expected["out:" + n],
                               int(expected["step:" + n][2][0]))
                    for n in wanted)
    return worst, imported, ran


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    glen = os.path.abspath(os.path.join(sys.argv[1], "src/cli/glen"))
    folder = os.path.abspath(sys.argv[2])
    passed = failed = 0
    for name in sys.argv[3:] or NAMES:
        parts = [f"{name}.onnx", f"{name}.bin", f"expected/{name}.npz"]
        absent = [p for p in parts
                  if not glob.glob(os.path.join(folder, p))]
        if absent:
            print(f"skipped model:{name}: {folder} lacks {', '.join(absent)}",
                  flush=True)
            continue
        try:
            worst, imported, ran = check(glen, folder, name, [])
            fine = worst <= TOLERANCE
            print(f"{'ok' if fine else 'FAILED'} {name}: largest difference "
                  f"{worst:.2g} of the largest output; imported in "
                  f"{imported:.2f} s, compiled and run in {ran:.1f} s",
                  flush=True)
        except (RuntimeError, OSError, ValueError, KeyError,
                subprocess.TimeoutExpired) as error:
            fine = False
            print(f"FAILED {name}: {error}", flush=True)
        passed += fine
        failed += not fine
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
