#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Contexts in threads, under the thread sanitizer (contexts.c).

The library of BUILD has been compiled with -fsanitize=thread; what it links to
has not.  The sanitizer sees what such libraries allocate, free, copy and lock,
and not what they load and store: their own states are for their own tests.
That it finds a race at all is tried first, by a program that has one.

usage: contexts.py BUILD
"""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RACE = 66  # the exit code of a program in which one was found
RACY = """#include <pthread.h>
static int shared;
static void *
add(void *arg) {
  (void)arg;
  for (int k = 0; k < 100000; k++)
    shared++;
  return 0;
}
int
main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, add, 0);
  pthread_create(&two, 0, add, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
"""


def run(*command):
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=900, env=dict(os.environ, TSAN_OPTIONS=f"exitcode={RACE}"))


def compiled(source, program, *more):
    done = run("cc", "-O1", "-g", "-Wall", "-Werror", "-fsanitize=thread",
               source, "-o", program, *more, "-lpthread")
    if done.returncode:
        sys.exit(f"{done.stderr}\n0 passed, 1 failed")
    return program


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    library = os.path.join(build, "src/api")
    passed = failed = 0

    def expect(what, done, code, text=""):
        nonlocal passed, failed
        if done.returncode == code and text in done.stdout:
            passed += 1
        else:
            failed += 1
            print(f"FAIL {what}: exit {done.returncode}\n{done.stdout}"
                  f"{done.stderr[-6000:]}")

    with tempfile.TemporaryDirectory() as folder:
        racy = os.path.join(folder, "racy.c")
        with open(racy, "w", encoding="utf-8") as f:
            f.write(RACY)
        expect("a race is found", run(compiled(racy, racy[:-2])), RACE)
        program = compiled(
            os.path.join(HERE, "contexts.c"), os.path.join(folder, "contexts"),
            "-I" + os.path.join(ROOT, "include"),
            "-I" + os.path.join(build, "include"), "-L" + library, "-lglen",
            "-Wl,-rpath," + library)
        scratch = os.path.join(folder, "contexts.out")
        os.mkdir(scratch)
        expect("4 threads", run(program, ROOT, scratch, "4"), 0,
               "8 contexts, 8 equal")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
