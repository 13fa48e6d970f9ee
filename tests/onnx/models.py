#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole models: imported, run as they are, and compared with recorded outputs.

usage: models.py BUILD FOLDER [NAME...] [--all] [--threads N] [--sanitize]

FOLDER holds NAME.onnx with what it refers to, and expected/NAME.npz: arrays
`in:INPUT` and, of each output, `out:OUTPUT`, every `step:OUTPUT`-th element of
it.  The C must compile as C99 without a warning.  An output passes where no
element differs by more than 1e-3 of the largest, and whole numbers where they
are equal.  A model that is absent is told and counts as skipped; --all are
those that the folder has (bench/models/export.py makes some).  --sanitize
builds with the address and undefined-behaviour sanitizers.  The last line is
`N passed, N failed`.
"""
import argparse
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
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror"]


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
    if want[0] in ("<i4", "<i8", "|b1", "|u1"):
        return 0 if list(elements) == list(want[2]) else float("inf")
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
                   *(f"--cc-flag={f}" for f in STRICT), *options]
        for k, v in expected.items():
            if k.startswith("in:"):
                npy.save(os.path.join(work, f"in{len(command)}.npy"), *v)
                command += ["--input",
                            f"{plain(k[3:])}=in{len(command)}.npy"]
        call(command, work)
        ran = time.time() - began - imported
        have = outputs(work, wanted)
        worst = max(difference(have[n], expected["out:" + n],
                               int(expected["step:" + n][2][0]))
                    for n in wanted)
    return worst, imported, ran


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sanitize", action="store_true")
    return parser.parse_intermixed_args()


def absent(folder, name):
    """What of a model is not there; one without external data has no .bin."""
    parts = [f"{name}.onnx", f"expected/{name}.npz"]
    return [p for p in parts if not os.path.exists(os.path.join(folder, p))]


def tried(glen, folder, name, options):
    try:
        worst, imported, ran = check(glen, folder, name, options)
    except (RuntimeError, OSError, ValueError, KeyError,
            subprocess.TimeoutExpired) as error:
        print(f"FAILED {name}: {error}", flush=True)
        return False
    fine = worst <= TOLERANCE
    print(f"{'ok' if fine else 'FAILED'} {name}: largest difference "
          f"{worst:.2g} of the largest output; imported in "
          f"{imported:.2f} s, compiled and run in {ran:.1f} s", flush=True)
    return fine


def main():
    a = arguments()
    glen = os.path.abspath(os.path.join(a.build, "src/cli/glen"))
    folder = os.path.abspath(a.folder)
    options = [f"--omp-threads={a.threads}"]
    options += ["--sanitize"] if a.sanitize else []
    names = a.names or NAMES
    if a.all:
        names = sorted(os.path.basename(f)[:-5]
                       for f in glob.glob(os.path.join(folder, "*.onnx")))
    verdicts = []
    for name in names:
        lacks = absent(folder, name)
        if lacks:
            print(f"skipped model:{name}: {folder} lacks {', '.join(lacks)}",
                  flush=True)
        else:
            verdicts.append(tried(glen, folder, name, options))
    print(f"{sum(verdicts)} passed, {verdicts.count(False)} failed")
    sys.exit(not all(verdicts))


if __name__ == "__main__":
    main()
