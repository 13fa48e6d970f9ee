#!/usr/bin/env python3
"""All checks of the project, counted; some side by side (lanes.py).

usage: check.py [STEP...]     steps: see STEPS below; none: all of them
LANES sets how many steps run at a time, FUZZ_SECONDS the time of each fuzz
target (10), FUZZ_SEED what it draws (1): the same each time, so that a failure
belongs to the change at hand; search further with other seeds.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import lanes
from lanes import Step

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RELEASE, SANITIZED, FUZZED = "build", "build-sanitized", "build-fuzz"
THREADS = "build-threads"
GLEN = os.path.join(ROOT, RELEASE, "src/cli/glen")
GLEN_SANITIZED = os.path.join(ROOT, SANITIZED, "src/cli/glen")


def call(command, **more):
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", **more)


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


def build(folder, *options, targets=(), env=None):
    if not os.path.exists(os.path.join(ROOT, folder, "build.ninja")):
        done = call(["meson", "setup", folder, *options],
                    env=dict(os.environ, **(env or {})))
        if done.returncode:
            return one(done)
    return one(call(["ninja", "-C", folder, *targets]))


# Sanitizers tell lines with -g1; at -O1 they compile in half the time of -O2,
# and the programs under test wait for other things.
CHECKED = ["-Dbuildtype=debugoptimized", "-Doptimization=1", "-Dc_args=-g1",
           "-Db_lundef=false"]


def step_release():
    return build(RELEASE, "-Dbuildtype=release", "-Dwerror=true")


def step_sanitized():
    return build(SANITIZED, *CHECKED, "-Db_ndebug=false",
                 "-Db_sanitize=address,undefined")


def meson_tests(folder):
    done = call(["meson", "test", "-C", folder, "--print-errorlogs",
                 "--no-rebuild", "--timeout-multiplier", "10"])
    log = os.path.join(ROOT, folder, "meson-logs", "testlog.txt")
    with open(log, encoding="utf-8", errors="replace") as f:
        text = f.read()
    cases = re.findall(r"Tested: *\D*(\d+)\D* \| Passing: *\D*(\d+)", text)
    summary = dict(re.findall(r"^(Ok|Fail|Timeout|Unexpected Pass): +(\d+)",
                              done.stdout, re.M))
    failed = sum(int(summary.get(k, 0))
                 for k in ("Fail", "Timeout", "Unexpected Pass"))
    # Programs that are no Criterion suites count as one each.
    passed = (sum(int(p) for _, p in cases) +
              max(0, int(summary.get("Ok", 0)) - len(cases)))
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


def step_prove():
    return counted(call([sys.executable, "tests/prove/run.py", GLEN]))


def step_examples():
    return counted(call([sys.executable, "tests/run/examples.py", GLEN]))


def step_contractions():
    return counted(call([sys.executable, "tests/run/contractions.py", GLEN]))


def step_fused():
    """Pipelines under the schedules of --fuse, against the interpreter."""
    return counted(call([sys.executable, "tests/run/fused.py", GLEN]))


def step_threads():
    """Generated code with two threads under the thread sanitizer."""
    return counted(call([sys.executable, "tests/run/threads.py", GLEN]))


def step_tune():
    return counted(call([sys.executable, "tests/run/tune.py", GLEN]))


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
        print("no nvcc here: CUDA is not compiled for a device")
    return python if ready else sys.executable


def step_cuda():
    """CUDA through a shim on the CPU, and nvcc; tests/run/cuda.py alone runs
    all."""
    return counted(call([python_with_nvcc(), "tests/run/cuda.py", GLEN,
                         "--quick"]))


def step_layout():
    """The misses that layouts are priced by, beside cachegrind's."""
    return counted(call([sys.executable, "bench/layout/misses.py", "--glen",
                         GLEN, "--sizes", "32,64,100,128"]))


def step_programs():
    """The examples that a script writes are as it writes them."""
    return one(call([sys.executable, "bench/kernels/programs.py", "--check",
                     GLEN]))


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


def step_console():
    files = sorted(glob.glob(os.path.join(ROOT, "tests/cli/*.md")))
    files += [os.path.join(ROOT, "README.md")]
    files += sorted(glob.glob(os.path.join(ROOT, "docs/*.md")))
    return counted(call([sys.executable, "tests/console.py", GLEN, *files]))


def step_search():
    """The engine's threads under the thread sanitizer."""
    test = "tests/property/egraph_threads"
    passed, failed = build(THREADS, *CHECKED, "-Db_ndebug=true",
                           "-Db_sanitize=thread", targets=[test])
    if failed:
        return passed, failed
    # The sanitizer wants its own part of the address space free.
    fixed = ["setarch", "-R"] if shutil.which("setarch") else []
    return one(call([*fixed, os.path.join(ROOT, THREADS, test), "4"]))


def step_format():
    version = call(["clang-format", "--version"]).stdout
    if " 14." not in version:
        print("clang-format 14 is what the sources are formatted with; this is "
              + version.strip())
        return 0, 0
    files = call(["git", "ls-files", "*.c", "*.h"]).stdout.split()
    return one(call(["clang-format", "--dry-run", "-Werror", *files]))


def step_folders():
    return one(call([sys.executable, "scripts/check-folders"]))


FUZZ_TARGETS = sorted(os.path.splitext(os.path.basename(path))[0] for path in
                      glob.glob(os.path.join(ROOT, "tests/fuzz/fuzz_*.c")))


def step_fuzz_build():
    if not shutil.which("clang"):
        print("clang is missing: no fuzzing")
        return 0, 1
    return build(FUZZED, "-Dfuzz=true", "-Dtests=disabled", *CHECKED,
                 "-Db_sanitize=address,undefined", env={"CC": "clang"},
                 targets=["tests/fuzz/" + name for name in FUZZ_TARGETS])


def fuzz(name):
    """The exit code of one target, and what it says."""
    corpus = os.path.join(ROOT, FUZZED, "corpus-" + name)
    os.makedirs(corpus, exist_ok=True)
    seeds = os.path.join(ROOT, "tests/fuzz/seeds", name)
    # The same inputs each time: more seconds find only what a change made wrong
    # further on in the same order.
    # An input that takes longer than -timeout is a failure: far longer than
    # any takes, as it counts the time of a machine that may be slow or busy.
    done = subprocess.run(
        [os.path.join(ROOT, FUZZED, "tests/fuzz", name),
         "-max_total_time=" + os.environ.get("FUZZ_SECONDS", "10"),
         "-seed=" + os.environ.get("FUZZ_SEED", "1"), "-timeout=200",
         "-rss_limit_mb=3000", "-max_len=20000", "-print_final_stats=1",
         corpus, *([seeds] if os.path.isdir(seeds) else [])], cwd=corpus,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace")
    return done.returncode, done.stdout


def step_fuzz():
    passed = failed = 0
    # The lint is no parser and slow on hostile rules: run it by hand.
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
    "rules": Step(step_rules, ["release"]),
    "prove": Step(step_prove, ["release"]),
    "examples": Step(step_examples, ["release"]),
    "console": Step(step_console, ["release"]),
    "cuda": Step(step_cuda, ["release"]),
    "contractions": Step(step_contractions, ["release"]),
    "threads": Step(step_threads, ["release"]),
    "tune": Step(step_tune, ["release"]),
    "layout": Step(step_layout, ["release"]),
    "programs": Step(step_programs, ["release"]),
    "bench": Step(step_bench, ["release"]),
    "search": Step(step_search),
    "fuzz-build": Step(step_fuzz_build),
    "fail": Step(step_fail, ["release", "sanitized"]),
    "fused": Step(step_fused, ["release"]),
    "unit": Step(step_unit, ["release"]),
    "unit-sanitized": Step(step_unit_sanitized, ["sanitized"]),
    # For a time that the clock tells: nothing else takes it.
    "fuzz": Step(step_fuzz, ["fuzz-build"], alone=True),
}


def main():
    if sys.argv[1:2] == ["--step"]:
        passed, failed = STEPS[sys.argv[2]].function()
    else:
        names = sys.argv[1:] or list(STEPS)
        if not set(names) <= set(STEPS):
            sys.exit(__doc__)
        passed, failed = lanes.run(
            STEPS, names, [sys.executable, os.path.abspath(__file__), "--step"],
            int(os.environ.get("LANES", lanes.count())))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
