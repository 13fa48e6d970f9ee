#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole models: imported, run as they are, and compared with recorded outputs.

usage: models.py BUILD FOLDER [NAME...] [--all] [--threads N] [--sanitize]
                 [--cc COMMAND]... [--ways]

FOLDER holds NAME.onnx with what it refers to, and expected/NAME.npz: arrays
`in:INPUT` and, of each output, `out:OUTPUT`, every `step:OUTPUT`-th element of
it.  The C must compile as C99 without a warning.  An output passes where no
element differs by more than 1e-3 of the largest, and whole numbers where they
are equal.  A model that is absent is told and counts as skipped; --all are
those that the folder has (bench/models/export.py makes some).  --sanitize
builds with the address and undefined-behaviour sanitizers, at -O1.  --ways
tries every model in every way: by gcc and by clang, or by each COMMAND, on one
and on two threads, with and without sanitizers, and what `glen compile` writes
must compile without a warning, too.  One program runs on either number of
threads, so it is built once (once.py).  A compiler that is absent, or that lacks
OpenMP, is told.  The last line is `N passed, N failed`.
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


def feeds(work, expected):
    """Options that name the inputs, written as files."""
    command = []
    for k, v in expected.items():
        if k.startswith("in:"):
            npy.save(os.path.join(work, f"in{len(command)}.npy"), *v)
            command += ["--input", f"{plain(k[3:])}=in{len(command)}.npy"]
    return command


def run(glen, model, expected, work, options):
    """The largest difference of all outputs."""
    wanted = [k[4:] for k in expected if k.startswith("out:")]
    call([glen, "run", model, "--output", "y.npy", "--target", "native",
          "--quiet", *(f"--cc-flag={f}" for f in STRICT), *options,
          *feeds(work, expected)], work)
    have = outputs(work, wanted)
    return max(difference(have[n], expected["out:" + n],
                          int(expected["step:" + n][2][0])) for n in wanted)


def compiled(glen, model, work, cc):
    """What a user does with a model: C of all variants, without a warning."""
    call([glen, "compile", model, "-o", "net.c", "--quiet"], work)
    call([*cc.split(), *STRICT, "-O2", "-fopenmp", "-c", "net.c"], work)


def ways_of(a, store):
    """(name, what tries it) of each way in which a model is compiled; what is
    built for several ways is kept in the folder store."""
    if not a.ways:
        for cc in a.cc or [None]:
            yield cc or "", options_of(cc, a.threads, a.sanitize)
        return
    for cc in usable(a.cc or ["gcc", "clang"]):
        yield f"{cc}: C of glen compile", cc
        for threads in (1, 2) if has_openmp(cc) else (1,):
            for checked in (False, True):
                yield (f"{cc}, {threads} thread(s)"
                       f"{', sanitized' if checked else ''}",
                       options_of(once(cc, store), threads, checked))


def once(cc, store):
    """The compiler cc, which builds the same program once."""
    here = os.path.dirname(os.path.abspath(__file__))
    return f"{sys.executable} {os.path.join(here, 'once.py')} {store} {cc}"


def options_of(cc, threads, sanitize):
    return ([f"--omp-threads={threads}"] + ([f"--cc={cc}"] if cc else []) +
            (["--sanitize", "--cc-flag=-O1"] if sanitize else []))


def builds(cc, *flags):
    """Whether a compiler makes a program of an empty main."""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "main.c")
        with open(path, "w", encoding="utf-8") as f:
            f.write("int main(void) { return 0; }\n")
        try:
            return not subprocess.run(
                [*cc.split(), *flags, path, "-o", path[:-2]],
                capture_output=True).returncode
        except OSError:
            return False


def usable(compilers):
    for cc in compilers:
        if builds(cc):
            yield cc
        else:
            print(f"skipped compiler {cc}: it compiles nothing here",
                  flush=True)


def has_openmp(cc):
    if builds(cc, "-fopenmp"):
        return True
    print(f"skipped {cc} on two threads: it has no OpenMP here", flush=True)
    return False


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--cc", action="append", metavar="COMMAND")
    parser.add_argument("--ways", action="store_true")
    return parser.parse_intermixed_args()


def parts_of(name):
    return [f"{name}.onnx", f"expected/{name}.npz"]


def absent(folder, name):
    """What of a model is not there; one without external data has no .bin."""
    return [p for p in parts_of(name)
            if not os.path.exists(os.path.join(folder, p))]


def attempt(glen, model, npz, how):
    """Whether a model passes in a way, and what there is to say of it."""
    began = time.time()
    try:
        with tempfile.TemporaryDirectory() as work:
            if isinstance(how, str):
                compiled(glen, model, work, how)
                return True, f"no warning, in {time.time() - began:.1f} s"
            worst = run(glen, model, npy.load_all(npz), work, how)
    except (RuntimeError, OSError, ValueError, KeyError,
            subprocess.TimeoutExpired) as error:
        return False, str(error)
    return worst <= TOLERANCE, (f"largest difference {worst:.2g} of the "
                                f"largest output, in "
                                f"{time.time() - began:.1f} s")


def tried(glen, folder, name, ways):
    """Of each way, whether a model passes."""
    files = [os.path.join(folder, f) for f in parts_of(name)]
    for way, how in ways:
        fine, words = attempt(glen, *files, how)
        print(f"{'ok' if fine else 'FAILED'} {name}{', ' * bool(way)}{way}: "
              f"{words}", flush=True)
        yield fine


def all_tried(glen, folder, names, ways):
    verdicts = []
    for name in names:
        lacks = absent(folder, name)
        if lacks:
            print(f"skipped model:{name}: {folder} lacks {', '.join(lacks)}",
                  flush=True)
        else:
            verdicts += tried(glen, folder, name, ways)
    return verdicts


def main():
    a = arguments()
    glen = os.path.abspath(os.path.join(a.build, "src/cli/glen"))
    folder = os.path.abspath(a.folder)
    names = a.names or NAMES
    if a.all:
        names = sorted(os.path.basename(f)[:-5]
                       for f in glob.glob(os.path.join(folder, "*.onnx")))
    with tempfile.TemporaryDirectory() as store:
        verdicts = all_tried(glen, folder, names, list(ways_of(a, store)))
    print(f"{sum(verdicts)} passed, {verdicts.count(False)} failed")
    sys.exit(not all(verdicts))


if __name__ == "__main__":
    main()
