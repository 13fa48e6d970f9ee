#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Misses of the first cache that `glen layout` predicts, and those that
cachegrind counts in the code that glen makes.

    bench/layout/misses.py [--glen GLEN] [--sizes 32,64,128,256]
                           [--tolerance 0.01]

For four layouts of the operand that is read down its columns, `lines` gives
the misses of the whole program, the copy included.  The generated C runs once
under cachegrind with the cache of the target file, from a cache that holds
other things; what counts are misses inside the kernel's functions.  Exit code
1 when a prediction is off by more than the tolerance.
"""
import argparse
import os
import re
import shutil
import sys
import tempfile

import programs

TARGET = """\
(target small
  (cores 1) (vector-bytes 32) (vector-registers 16)
  (cache 1 (bytes 32768) (line 64) (ways 8) (bytes-per-cycle 64))
  (cache 2 (bytes 1048576) (line 64) (ways 16) (bytes-per-cycle 32)))
"""
CACHES = ["--cache-sim=yes", "--D1=32768,8,64", "--LL=1048576,16,64"]

DRIVER = """\
#include <stdlib.h>

int kernel(const float *, const float *, float *, void *);
size_t kernel_workspace_size(void);

static float a[N * N] ALIGNED, b[N * N] ALIGNED, c[N * N] ALIGNED;
static volatile char other[4 << 20];

int
main(void) {
  void *workspace = aligned_alloc(4096, (kernel_workspace_size() | 4095) + 1);
  unsigned sum = 0;
  if (!workspace)
    return 2;
  for (int k = 0; k < N * N; k++)
    a[k] = (float)(k % 7), b[k] = (float)(k % 5);
  for (size_t k = 0; k < sizeof other; k += 64)
    sum += (unsigned)other[k];
  return kernel(a, b, c, workspace) + (int)sum;
}
"""


def predicted(glen, folder, n):
    """layout -> misses, from the trace of the search."""
    source = programs.save(os.path.join(folder, "p.loops"), programs.loops(n))
    target = programs.save(os.path.join(folder, "p.target"), TARGET)
    text = programs.run(glen, "layout", source, "--layout-cost=lines",
                        "--keep-order", "--widths=8", "--target", target)
    out = {"original": float(re.search(r"as it is: (\S+)", text)[1])}
    for name, cost in re.findall(r"^#   (\S+) B: ([\d.e+]+)", text, re.M):
        out.setdefault(name, float(cost))
    return out


def counted(glen, folder, n, layout):
    """Misses of reads and writes in the functions of the kernel."""
    out = programs.emit(glen, folder, n, programs.script(layout))
    driver = programs.save(os.path.join(folder, "main.c"), DRIVER)
    program = os.path.join(folder, "program")
    programs.run("gcc", "-O1", "-fno-tree-vectorize", "-static", "-w",
                 f"-DN={n}", "-DALIGNED=__attribute__((aligned(4096)))",
                 out, driver, "-o", program, "-lm")
    profile = os.path.join(folder, "profile")
    programs.run("valgrind", "--tool=cachegrind", *CACHES,
                 f"--cachegrind-out-file={profile}", program)
    events, inside, misses = [], False, 0
    with open(profile, encoding="utf-8") as f:
        for line in f:
            if line.startswith("events:"):
                events = line.split()[1:]
            elif line.startswith("fn="):
                inside = line[3:].startswith("kernel")
            elif inside and line[0].isdigit():
                row = dict(zip(events, map(int, line.split()[1:])))
                misses += row["D1mr"] + row["D1mw"]
    return misses


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--glen", default=os.path.join(
        programs.ROOT, "build/src/cli/glen"))
    parser.add_argument("--sizes", default="32,64,128,256")
    parser.add_argument("--tolerance", type=float, default=0.01)
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped valgrind: it is not here, so nothing is counted\n"
              "0 passed, 0 failed")
        return 0
    glen, failed, passed = os.path.abspath(args.glen), 0, 0
    print(f"{'n':>5} {'layout':14} {'predicted':>12} {'counted':>12} "
          f"{'off by':>8}")
    for n in map(int, args.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            wanted = predicted(glen, folder, n)
            for layout in programs.LAYOUTS:
                got = counted(glen, os.path.join(folder, "k"), n, layout)
                off = wanted[layout] / got - 1
                bad = abs(off) > args.tolerance
                failed, passed = failed + bad, passed + (not bad)
                print(f"{n:5} {layout:14} {wanted[layout]:12.0f} {got:12} "
                      f"{100 * off:7.2f} %{' !' if bad else ''}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
