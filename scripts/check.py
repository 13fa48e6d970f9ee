#!/usr/bin/env python3
"""All checks of the project, one step after the other, counted.

usage: check.py [STEP...]     steps: see STEPS below; none: all of them
FUZZ_SECONDS sets the time of each fuzz target (30), FUZZ_SEED what it draws
(1): the same each time, so that a failure belongs to the change at hand; search
further with other seeds.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

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


def build(folder, *options, env=None):
    if not os.path.exists(os.path.join(ROOT, folder, "build.ninja")):
        done = call(["meson", "setup", folder, *options],
                    env=dict(os.environ, **(env or {})))
        if done.returncode:
            return one(done)
    return one(call(["ninja", "-C", folder]))


def step_release():
    return build(RELEASE, "-Dbuildtype=release", "-Dwerror=true")


def step_sanitized():
    return build(SANITIZED, "-Dbuildtype=debugoptimized", "-Db_ndebug=false",
                 "-Db_sanitize=address,undefined", "-Db_lundef=false")


def meson_tests(folder):
    done = call(["meson", "test", "-C", folder, "--print-errorlogs",
                 "--no-rebuild", "--timeout-multiplier", "4"])
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
    """The kernel benchmark at tiny sizes: its parts run and results agree."""
    with tempfile.TemporaryDirectory() as folder:
        return one(call([sys.executable, "bench/kernels/run.py", "--smoke",
                         "--glen", GLEN, "--peers", "gcc", "--cache",
                         folder]))


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
    if not os.path.exists(os.path.join(ROOT, THREADS, "build.ninja")):
        done = call(["meson", "setup", THREADS, "-Dbuildtype=debugoptimized",
                     "-Db_ndebug=true", "-Db_sanitize=thread",
                     "-Db_lundef=false"])
        if done.returncode:
            return one(done)
    test = "tests/property/egraph_threads"
    done = call(["ninja", "-C", THREADS, test])
    if done.returncode:
        return one(done)
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


def step_fuzz():
    if not shutil.which("clang"):
        print("clang is missing: no fuzzing")
        return 0, 1
    passed, failed = build(FUZZED, "-Dfuzz=true", "-Dtests=disabled",
                           "-Dbuildtype=debugoptimized",
                           "-Db_sanitize=address,undefined",
                           "-Db_lundef=false", env={"CC": "clang"})
    seconds = os.environ.get("FUZZ_SECONDS", "30")
    targets = sorted(t for t in glob.glob(os.path.join(
        ROOT, FUZZED, "tests/fuzz/fuzz_*")) if os.access(t, os.X_OK)
        and os.path.isfile(t)
        # The lint is no parser and slow on hostile rules: run it by hand.
        and os.path.basename(t) != "fuzz_lint")
    running = []
    for target in targets:
        corpus = os.path.join(ROOT, FUZZED, "corpus-" +
                              os.path.basename(target))
        os.makedirs(corpus, exist_ok=True)
        seeds = os.path.join(ROOT, "tests/fuzz/seeds",
                             os.path.basename(target))
        command = [target, "-max_total_time=" + seconds, "-timeout=20",
                   "-seed=" + os.environ.get("FUZZ_SEED", "1"),
                   "-rss_limit_mb=3000", "-max_len=20000", "-print_final_stats=1",
                   corpus] + ([seeds] if os.path.isdir(seeds) else [])
        log = open(corpus + ".log", "w+", encoding="utf-8", errors="replace")
        running.append((target, log, subprocess.Popen(
            command, cwd=corpus, stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT)))
        if len(running) >= 2:
            passed, failed = reap(running.pop(0), passed, failed)
    for entry in running:
        passed, failed = reap(entry, passed, failed)
    return passed, failed


def reap(entry, passed, failed):
    target, log, process = entry
    code = process.wait()
    log.seek(0)
    text = log.read()
    log.close()
    runs = re.search(r"number_of_executed_units: (\d+)", text)
    print(f"  {os.path.basename(target)}: "
          f"{runs[1] if runs else '?'} inputs, exit {code}")
    if code:
        print(text[-4000:])
    return (passed, failed + 1) if code else (passed + 1, failed)


STEPS = {
    "release": step_release,
    "unit": step_unit,
    "rules": step_rules,
    "prove": step_prove,
    "examples": step_examples,
    "contractions": step_contractions,
    "fused": step_fused,
    "tune": step_tune,
    "cuda": step_cuda,
    "layout": step_layout,
    "programs": step_programs,
    "threads": step_threads,
    "bench": step_bench,
    "console": step_console,
    "sanitized": step_sanitized,
    "unit-sanitized": step_unit_sanitized,
    "search": step_search,
    "fail": step_fail,
    "format": step_format,
    "folders": step_folders,
    "fuzz": step_fuzz,
}


def main():
    passed = failed = 0
    for name in sys.argv[1:] or STEPS:
        if name not in STEPS:
            sys.exit(__doc__)
        start = time.monotonic()
        p, f = STEPS[name]()
        passed, failed = passed + p, failed + f
        print(f"{name}: {p} passed, {f} failed "
              f"({time.monotonic() - start:.0f} s)", flush=True)
        if f and name in ("release", "sanitized"):
            break
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
