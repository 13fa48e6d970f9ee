#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All checks of the project, counted; some side by side (lanes.py).

usage: check.py [--record] [--allow-skip NAME]... [STEP...]

STEP is one of STEPS below, none means all of them; the builds that a step needs
run before it.  Each step is held against tests/manifest.json: it fails when it
passes fewer checks than stand there, or skips what is not allowed there or by
--allow-skip.  --record writes the counts of the steps that passed into that
file.

LANES sets how many steps run at a time.  Each fuzz target runs as many inputs
as FUZZ_RUNS says (10,000), drawn by FUZZ_SEED (1): the same each time, so that a failure
belongs to the change at hand.  FUZZ_SECONDS runs each for that long instead, to
search further with other seeds.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import lanes
import manifest
from lanes import Step

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RELEASE, SANITIZED, FUZZED = "build", "build-sanitized", "build-fuzz"
THREADED = "build-threads"
GLEN = os.path.join(ROOT, RELEASE, "src/cli/glen")
GLEN_SANITIZED = os.path.join(ROOT, SANITIZED, "src/cli/glen")


SKIPPED = []  # (name, reason) of what this step left out


def skip(name, reason):
    """Tells that something was left out; the manifest decides if it may."""
    SKIPPED.append((name, reason))
    print(f"  skipped {name}: {reason}")


def call(command, **more):
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", **more)
    for name, reason in manifest.skips(done.stdout):
        skip(name, reason)
    return done


def counted(done):
    """(passed, failed) of a tool whose last line is `N passed, N failed`."""
    found = re.findall(r"^(\d+) passed, (\d+) failed", done.stdout, re.M)
    passed, failed = map(int, found[-1]) if found else (0, 1)
    if done.returncode and not failed:
        failed = 1
    if failed:
        print(done.stdout[-6000:])
    return passed, failed


def one(done):
    if done.returncode:
        print(done.stdout[-6000:])
    return (0, 1) if done.returncode else (1, 0)


def other_options(folder, options):
    """Those of `options` (-Dname=value) that a build folder does not have.  It
    may have been made without them, before a package was installed."""
    path = os.path.join(ROOT, folder, "meson-info", "intro-buildoptions.json")
    with open(path, encoding="utf-8") as f:
        has = {o["name"]: o["value"] for o in json.load(f)}

    def holds(option):
        name, _, value = option[2:].partition("=")
        return text_of(has.get(name)) == value
    return [option for option in options if not holds(option)]


def text_of(value):
    """A build option's value as the command line writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(value) if isinstance(value, list) else str(value)


# What is optional for users is not for the tests: a build without it has fewer
# of them.
WHOLE = ["-Dtests=enabled", "-Djansson=enabled", "-Dcbc=enabled",
         "-Donnx=enabled"]


def build(folder, *options, targets=(), env=None):
    chosen = {o.partition("=")[0]: o for o in [*WHOLE, *options]}.values()
    if not os.path.exists(os.path.join(ROOT, folder, "build.ninja")):
        done = call(["meson", "setup", folder, *chosen],
                    env=dict(os.environ, **(env or {})))
        if done.returncode:
            return one(done)
    others = other_options(folder, chosen)
    if others:
        done = call(["meson", "configure", folder, *others])
        if done.returncode:
            return one(done)
    return one(call(["ninja", "-C", folder, *targets]))


# Sanitizers tell lines with -g1; with -Og they compile in a third of the time of
# -O2, and the programs under test wait for other things.  Accesses by
# null and beyond what is allocated are seen by the address sanitizer as well, so
# that those checks are left out: code is compiled and runs in less time.  A
# program ends at its first fault; code that goes on behind a check takes a fifth
# more time to compile.
CHECKED = ["-Dbuildtype=debugoptimized", "-Doptimization=g",
           "-Dc_args=-g1 -fno-sanitize=null,object-size "
           "-fno-sanitize-recover=all",
           "-Db_lundef=false"]


def step_release():
    return build(RELEASE, "-Dbuildtype=release", "-Dwerror=true")


def step_sanitized():
    # What a test is linked with is large here, and gold links it in less time.
    gold = {"CC_LD": "gold"} if shutil.which("ld.gold") else {}
    return build(SANITIZED, *CHECKED, "-Db_ndebug=false",
                 "-Db_sanitize=address,undefined", env=gold)


def cases_of(test):
    """How many checks a test that passed has counted: a Criterion suite its
    cases, another program one."""
    found = re.search(r"Tested: *\D*\d+\D* \| Passing: *\D*(\d+)",
                      test.get("stderr", "") + test.get("stdout", ""))
    return int(found[1]) if found else 1


def meson_tests(folder):
    done = call(["meson", "test", "-C", folder, "--print-errorlogs",
                 "--no-rebuild", "--timeout-multiplier", "10"])
    log = os.path.join(ROOT, folder, "meson-logs", "testlog.json")
    with open(log, encoding="utf-8", errors="replace") as f:
        tests = [json.loads(line) for line in f]
    passed = failed = 0
    for test in tests:
        told = manifest.skips(test.get("stdout", ""))
        if test["result"] == "SKIP" and not told:
            told = [(test["name"], "the test says no more")]
        for name, reason in told:
            skip(name, reason)
        if test["result"] in ("OK", "SKIP"):
            passed += cases_of(test) if test["result"] == "OK" else 0
        else:
            failed += 1
    if done.returncode:
        print(done.stdout[-8000:])
        failed = max(failed, 1)
    return passed, failed


def step_unit():
    return meson_tests(RELEASE)


def step_unit_sanitized():
    return meson_tests(SANITIZED)


def step_rules():
    passed, failed = counted(call([GLEN, "rules", "test", "rules",
                                   "tests/rules"]))
    # Planted rules are wrong on purpose.
    files = [f for f in sorted(glob.glob(os.path.join(ROOT, "tests/rules/*")))
             if f.endswith(".rules") and "unsound" not in f]
    p, f = one(call([GLEN, "rules", "check", "rules", *files]))
    return passed + p, failed + f


def step_rows():
    """A new row of a table of operators does not compile until it is whole."""
    return counted(call([sys.executable, "tests/rows/run.py", RELEASE]))


def step_harness():
    return counted(call([sys.executable, "tests/harness/run.py", GLEN]))


def step_verdicts():
    """What is wrong is told by each command's exit code and message."""
    return counted(call([sys.executable, "tests/verdicts/run.py", GLEN]))


def step_prove():
    checker = os.path.join(os.path.dirname(os.path.dirname(GLEN)), "check",
                           "glen-check-proof")
    # The large collections whole by hand: a third of them shows what is broken.
    passed, failed = counted(call([sys.executable, "tests/prove/run.py", GLEN,
                                   "--every", "3"]))
    more, wrong = counted(call([sys.executable, "tests/prove/tamper.py", GLEN,
                                checker]))
    return passed + more, failed + wrong


def step_examples():
    return counted(call([sys.executable, "tests/run/examples.py", GLEN]))


def step_contractions():
    passed, failed = counted(
        call([sys.executable, "tests/run/contractions.py", GLEN]))
    for name in ("contracts", "windows", "functions", "scans", "ends",
                 "row_sums"):
        more, wrong = counted(
            call([sys.executable, f"tests/run/{name}.py", GLEN]))
        passed, failed = passed + more, failed + wrong
    return passed, failed


def step_sizes():
    """Loops for all sizes in their bounds, against those with numbers."""
    return counted(call([sys.executable, "tests/run/sizes.py", GLEN]))


def step_isa():
    """Instructions that targets declare; those of other processors by qemu;
    random machines, with memories and without."""
    passed = failed = 0
    for words in (["isa.py", GLEN], ["cross.py", GLEN, "--quick"],
                  ["machines.py", GLEN], ["rooms.py", GLEN],
                  ["extremes.py", GLEN]):
        more, wrong = counted(call([sys.executable, "tests/run/" + words[0],
                                    *words[1:]]))
        passed, failed = passed + more, failed + wrong
    return passed, failed


def step_fused():
    """Pipelines under the schedules of --fuse, against the interpreter."""
    return counted(call([sys.executable, "tests/run/fused.py", GLEN]))


def step_threads():
    """Generated code with two threads under the thread sanitizer."""
    return counted(call([sys.executable, "tests/run/threads.py", GLEN]))


def step_contexts():
    """Contexts in threads: the library alone, under the thread sanitizer."""
    passed, failed = build(THREADED, *CHECKED, "-Db_sanitize=thread",
                           "-Dtests=disabled",
                           targets=["src/api/libglen.so.1.0.0"])
    if failed:
        return passed, failed
    return counted(call([sys.executable, "tests/run/contexts.py", THREADED]))


def step_tune():
    return counted(call([sys.executable, "tests/run/tune.py", GLEN]))


def step_names():
    """Hostile names of tensors and functions, in C, in C++ and in CUDA."""
    return counted(call([sys.executable, "tests/run/names.py", GLEN]))


# Programs that were lowered wrongly once, and are not among the first.
FOUND_SEEDS = ["800781-800781", "820097-820097"]


def step_pipeline():
    """Random programs through rules, extraction, schedule and C."""
    passed = failed = 0
    for seeds in [os.environ.get("PIPELINE_SEEDS", "1-120"), *FOUND_SEEDS]:
        done = call([os.path.join(ROOT, RELEASE,
                                  "tests/property/pipeline_programs"),
                     "--rules", "rules", "--targets", "targets", "--seeds",
                     seeds, "--batch", "40"])
        found = re.search(r"(\d+) programs, .* (\d+) failed", done.stdout)
        print(done.stdout[-20000:])
        passed += int(found[1]) if found else 0
        failed += int(found[2]) if found else 1
    return passed, failed


def step_faults():
    """Memory, writes, renames and children that fail, call by call."""
    passed, failed = counted(call([sys.executable, "tests/faults/run.py", GLEN,
                                   "--most", "4"]))
    p, f = counted(call([sys.executable, "tests/faults/run.py", GLEN_SANITIZED,
                         "--sanitized", "--most", "2"]))
    return passed + p, failed + f


def step_files():
    """What is read and written: no files, links, signals, full devices."""
    return counted(call([sys.executable, "tests/run/files.py", GLEN]))


def python_with_nvcc():
    """An interpreter that has nvcc's packages; this one where they cannot be
    had, or nvcc is there already."""
    if shutil.which("nvcc"):
        return sys.executable
    folder = os.path.join(ROOT, RELEASE, "nvcc")
    python = os.path.join(folder, "bin/python")
    ready = os.path.exists(os.path.join(folder, "ready"))
    if not ready and not call([sys.executable, "-m", "venv",
                               folder]).returncode:
        done = call([python, "-m", "pip", "install", "--quiet",
                     "--disable-pip-version-check", "--no-deps", "-r",
                     "tests/run/cuda-requirements.txt"])
        if not done.returncode:
            ready = True
            with open(os.path.join(folder, "ready"), "w", encoding="utf-8"):
                pass
    if not ready:
        skip("nvcc", "its packages cannot be had here, so CUDA is not compiled "
             "for a device")
    return python if ready else sys.executable


def step_cuda():
    """CUDA through a shim on the CPU, and nvcc; tests/run/cuda.py alone runs
    all."""
    return counted(call([python_with_nvcc(), "tests/run/cuda.py", GLEN,
                         "--quick"]))


def step_opencl():
    """OpenCL on the first device there is; tests/run/opencl.py alone runs
    all."""
    return counted(call([sys.executable, "tests/run/opencl.py", GLEN,
                         "--quick"]))


def step_layout():
    """The misses that layouts are priced by, beside cachegrind's."""
    return counted(call([sys.executable, "bench/layout/misses.py", "--glen",
                         GLEN, "--sizes", "32,64,100,128"]))


def step_programs():
    """The examples that scripts write are as they write them."""
    counts = [one(call([sys.executable, "bench/kernels/programs.py", "--check",
                        GLEN])),
              counted(call([sys.executable, "examples/models/make.py",
                            "--check"]))]
    return tuple(map(sum, zip(*counts)))


def step_bench():
    """The benchmarks at tiny sizes: their parts run and results agree."""
    folder = tempfile.mkdtemp()
    runs = [["bench/kernels/run.py", "--smoke", "--glen", GLEN, "--peers",
             "gcc", "--cache", folder],
            ["bench/egraph/growth.py", RELEASE, "--most", "30000", "--rounds",
             "1"],
            ["bench/egraph/cases.py", RELEASE, "--only", "items", "--rounds",
             "1"]]
    counts = [one(call([sys.executable, *run])) for run in runs]
    shutil.rmtree(folder)
    return tuple(map(sum, zip(*counts)))


def step_fail():
    passed, failed = 0, 0
    for glen in (GLEN, GLEN_SANITIZED):
        p, f = counted(call([sys.executable, "tests/fail/run.py", glen]))
        passed, failed = passed + p, failed + f
    return passed, failed


def step_onnx():
    """Small models of every operator that is imported, and hostile ones; some
    of the tests of the standard's own backends."""
    passed, failed = counted(call([sys.executable, "tests/onnx/run.py", GLEN]))
    more = counted(call([sys.executable, "tests/onnx/backend.py", GLEN,
                         "--sample", "20"]))
    return passed + more[0], failed + more[1]


def step_models():
    """Whole models against recorded outputs, where they are at hand."""
    folder = os.environ.get("GLEN_MODELS", "")
    if not os.path.isdir(folder):
        skip("models", "GLEN_MODELS names no folder of whole models")
        return 0, 0
    return counted(call([sys.executable, "tests/onnx/models.py", RELEASE,
                         folder]))


def step_weights():
    """Weights in files, from programs to NAME_init of generated code."""
    return counted(call([sys.executable, "tests/weights/run.py", GLEN]))


def step_install():
    """What is installed, moved, and used from elsewhere."""
    return counted(call([sys.executable, "tests/install/run.py", RELEASE]))


def step_python():
    """The wheel in a fresh environment."""
    return counted(call([sys.executable, "python/tests/run.py", RELEASE]))


def step_editors():
    """Grammars, the extension for VS Code, Neovim."""
    return counted(call([sys.executable, "tests/editors/run.py", RELEASE]))


def step_recorded():
    """What commands say and write, byte for byte."""
    return counted(call([sys.executable, "tests/recorded/run.py", GLEN]))


def step_generated():
    """The code of examples, benchmarks and random programs, byte for byte."""
    return counted(call([sys.executable, "tests/generated/run.py", RELEASE]))


def step_schemas():
    """What commands print by --json, against docs/schemas."""
    return counted(call([sys.executable, "tests/schemas/run.py", GLEN]))


def step_console():
    files = sorted(glob.glob(os.path.join(ROOT, "tests/cli/*.md")))
    files += [os.path.join(ROOT, "README.md")]
    files += sorted(glob.glob(os.path.join(ROOT, "docs/*.md")))
    return counted(call([sys.executable, "tests/console.py", GLEN, *files]))


def clang_format():
    """The program that the sources are formatted with, by version, or None."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and " 14." in call([path, "--version"]).stdout:
            return path
    return None


def step_format():
    program = clang_format()
    if not program:
        skip("clang-format", "version 14 is what the sources are formatted "
             "with, and it is not here")
        return 0, 0
    files = call(["git", "ls-files", "*.c", "*.h"]).stdout.split()
    return one(call([program, "--dry-run", "-Werror", *files]))


def step_folders():
    return one(call([sys.executable, "scripts/check-folders"]))


def step_circles():
    """No large group of files calls in a circle."""
    return one(call([sys.executable, "scripts/check-circles", RELEASE]))


def step_clang():
    """What gcc compiles without a warning, clang does, too."""
    if not shutil.which("clang"):
        skip("clang", "there is no clang")
        return 0, 0
    return one(call([sys.executable, "scripts/check-clang", RELEASE]))


def step_methods():
    """What the table of methods names is there."""
    return one(call([sys.executable, "scripts/check-methods"]))


def step_ci():
    """The recipes for CI call what exists."""
    return one(call([sys.executable, "scripts/check-ci"]))


def step_licence():
    """Each source file says its licence."""
    return one(call([sys.executable, "scripts/check-licence"]))


# Inputs of each target where 10,000 take far more or less than six seconds.
FUZZ_RUNS = {"fuzz_format": 70000, "fuzz_loops": 20000, "fuzz_lsp": 100000,
             "fuzz_npy": 300000, "fuzz_onnx": 70000, "fuzz_sched": 300,
             "fuzz_safetensors": 300000, "fuzz_sexp": 50000,
             "fuzz_target": 25000}
FUZZ_TARGETS = sorted(os.path.splitext(os.path.basename(path))[0] for path in
                      glob.glob(os.path.join(ROOT, "tests/fuzz/fuzz_*.c")))


def step_fuzz_build():
    if not shutil.which("clang"):
        print("clang is missing: no fuzzing")
        return 0, 1
    # To compile it with -Og takes longer than what that saves in so few runs.
    return build(FUZZED, "-Dfuzz=true", "-Dtests=disabled", *CHECKED,
                 "-Doptimization=0", "-Db_sanitize=address,undefined",
                 env={"CC": "clang"},
                 targets=["tests/fuzz/" + name for name in FUZZ_TARGETS])


def fuzz_length(name):
    """How long a target runs: by the clock where it is told a time, otherwise
    by its inputs, so that a slow machine tries what a fast one does."""
    seconds = os.environ.get("FUZZ_SECONDS")
    return (f"-max_total_time={seconds}" if seconds
            else f"-runs={FUZZ_RUNS.get(name, 10000)}")


def fuzz(name):
    """The exit code of one target, and what it says."""
    corpus = os.path.join(ROOT, FUZZED, "corpus-" + name)
    if "FUZZ_SECONDS" not in os.environ:
        # What an earlier run found would be counted among the inputs.
        shutil.rmtree(corpus, ignore_errors=True)
    os.makedirs(corpus, exist_ok=True)
    seeds = os.path.join(ROOT, "tests/fuzz/seeds", name)
    # An input that takes longer than -timeout is a failure: far longer than
    # any takes, as it counts the time of a machine that may be slow or busy.
    done = subprocess.run(
        [os.path.join(ROOT, FUZZED, "tests/fuzz", name),
         fuzz_length(name),
         "-seed=" + os.environ.get("FUZZ_SEED", "1"), "-timeout=200",
         "-rss_limit_mb=3000", "-max_len=20000", "-print_final_stats=1",
         corpus, *([seeds] if os.path.isdir(seeds) else [])], cwd=corpus,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode, done.stdout


def step_fuzz():
    passed = failed = 0
    skip("fuzz_lint", "the lint is no parser and slow on hostile rules; run it "
         "by hand")
    names = [name for name in FUZZ_TARGETS if name != "fuzz_lint"]
    with concurrent.futures.ThreadPoolExecutor(max(2, lanes.count())) as pool:
        for name, (code, text) in zip(names, pool.map(fuzz, names)):
            runs = re.search(r"number_of_executed_units: (\d+)", text)
            print(f"  {name}: {runs[1] if runs else '?'} inputs, exit {code}")
            passed, failed = passed + (not code), failed + bool(code)
            if code:
                print(text[-4000:])
    return passed, failed


# The builds first, then what waits for one processor at a time, then what has
# work for all.
STEPS = {
    "release": Step(step_release),
    "sanitized": Step(step_sanitized),
    "format": Step(step_format),
    "folders": Step(step_folders),
    "licence": Step(step_licence),
    "ci": Step(step_ci),
    "methods": Step(step_methods),
    "circles": Step(step_circles, ["release"]),
    "clang": Step(step_clang, ["release"]),
    "rows": Step(step_rows, ["release"]),
    "harness": Step(step_harness, ["release"]),
    "verdicts": Step(step_verdicts, ["release"]),
    "rules": Step(step_rules, ["release"]),
    "prove": Step(step_prove, ["release"]),
    "examples": Step(step_examples, ["release"]),
    "console": Step(step_console, ["release"]),
    "schemas": Step(step_schemas, ["release"]),
    "recorded": Step(step_recorded, ["release"]),
    "generated": Step(step_generated, ["release"]),
    "install": Step(step_install, ["release"]),
    "editors": Step(step_editors, ["release"]),
    "python": Step(step_python, ["release"]),
    "onnx": Step(step_onnx, ["release"]),
    "weights": Step(step_weights, ["release"]),
    "models": Step(step_models, ["release"]),
    "cuda": Step(step_cuda, ["release"]),
    "opencl": Step(step_opencl, ["release"]),
    "contractions": Step(step_contractions, ["release"]),
    "sizes": Step(step_sizes, ["release"]),
    "isa": Step(step_isa, ["release"]),
    "threads": Step(step_threads, ["release"]),
    "contexts": Step(step_contexts),
    "tune": Step(step_tune, ["release"]),
    "names": Step(step_names, ["release"]),
    "files": Step(step_files, ["release"]),
    "layout": Step(step_layout, ["release"]),
    "pipeline": Step(step_pipeline, ["release"]),
    "faults": Step(step_faults, ["release", "sanitized"]),
    "programs": Step(step_programs, ["release"]),
    "bench": Step(step_bench, ["release"]),
    "fuzz-build": Step(step_fuzz_build),
    "fail": Step(step_fail, ["release", "sanitized"]),
    "fused": Step(step_fused, ["release"]),
    "unit": Step(step_unit, ["release"]),
    "unit-sanitized": Step(step_unit_sanitized, ["sanitized"]),
    "fuzz": Step(step_fuzz, ["fuzz-build"]),
}


def with_needs(names):
    """The named steps and those they need, in the order of STEPS."""
    wanted = set(names)
    while True:
        more = {need for name in wanted for need in STEPS[name].needs} - wanted
        if not more:
            return [name for name in STEPS if name in wanted]
        wanted |= more


def run_step(name, args):
    """Runs one step in this process and holds it against the manifest."""
    passed, failed = STEPS[name].function()
    if failed or args.record:
        return passed, failed
    found = manifest.complaints(name, passed, SKIPPED, args.allow_skip)
    for complaint in found:
        print("FAIL " + complaint)
    return passed, failed + len(found)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--allow-skip", action="append", default=[],
                        metavar="NAME")
    parser.add_argument("--step", choices=list(STEPS), help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="STEP")
    args = parser.parse_args()
    unknown = set(args.names) - set(STEPS)
    if unknown:
        parser.error(f"no such step: {' '.join(sorted(unknown))}; the steps "
                     f"are {' '.join(STEPS)}")
    if args.step:
        passed, failed = run_step(args.step, args)
    else:
        again = [sys.executable, os.path.abspath(__file__)]
        again += ["--allow-skip=" + name for name in args.allow_skip]
        again += ["--record"] * args.record + ["--step"]
        done = lanes.run(STEPS, with_needs(args.names or STEPS), again,
                         int(os.environ.get("LANES", lanes.count())))
        if args.record:
            manifest.record({n: p for n, (p, f) in done.items() if not f})
        passed, failed = (sum(c) for c in zip(*done.values()))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
