#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every example, all the way: parsed, printed, interpreted, compiled, run.

All are in the one form of `glen rules fmt`.  For each program: printing it and
reading it back gives the same text; the
compiled kernel equals the interpreter, as written under the address and
undefined-behaviour sanitizers and without them after the shipped rules; with
-Wall -Wextra -Werror.

usage: examples.py GLEN [FILE.glen...]
"""
import glob
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def run(*command):
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=900)


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def expect(self, what, done):
        if done.returncode == 0:
            self.passed += 1
            return True
        self.failed += 1
        print(f"FAIL {what}: exit {done.returncode}\n"
              f"  {' '.join(done.args)}\n{done.stderr[-3000:]}")
        return False


def check_round_trip(checks, glen, path, folder):
    once = os.path.join(folder, "once.glen")
    with open(once, "w", encoding="utf-8") as f:
        f.write(run(glen, "compile", "--emit=glen", path).stdout)
    first = run(glen, "compile", "--emit=glen", once)
    with open(once, encoding="utf-8") as f:
        same = f.read() == first.stdout and first.stdout
    if same:
        checks.passed += 1
    else:
        checks.failed += 1
        print(f"FAIL {path}: printing does not read back\n{first.stderr}")


def check_program(checks, glen, path):
    name = os.path.relpath(path, ROOT)
    rules = ["--rules", "rules/"]
    with tempfile.TemporaryDirectory() as folder:
        check_round_trip(checks, glen, name, folder)
        checks.expect(f"{name} as written",
                      run(glen, "run", name, "--check", "--sanitize",
                          "--cc-flag=-O0", "--quiet"))
        checks.expect(f"{name} after the rules",
                      run(glen, "run", name, "--check", "--quiet",
                          "--cc-flag=-O1", *rules))
        c = os.path.join(folder, "kernel.c")
        if checks.expect(f"{name} compiles",
                         run(glen, "compile", name, *rules, "-o", c)):
            for cc in ("cc", "clang"):
                checks.expect(
                    f"{name} with {cc}",
                    run(cc, "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror",
                        "-fsyntax-only", c))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    glen = os.path.abspath(sys.argv[1])
    paths = sys.argv[2:] or sorted(glob.glob(
        os.path.join(ROOT, "examples", "**", "*.glen"), recursive=True))
    checks = Checks()
    checks.expect("the form of glen rules fmt",
                  run(glen, "rules", "fmt", "--check", *paths))
    for path in paths:
        check_program(checks, glen, os.path.abspath(path))
    print(f"{checks.passed} passed, {checks.failed} failed")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
