#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times of the layouts that `glen layout` chooses beside four fixed ones.

    bench/layout/times.py [--glen GLEN] [--sizes 256,512,1024] [--rounds N]
                          [--cc GCC] [--json F]

The program is that of programs.py, as loops i, j, k run it: compiled with -O2,
without vectors, so that the loops are those that the costs speak of.  `chosen`
is what --layout-cost=lines finds for this machine with --keep-order, `with
order` the same without.  All run by turns; seconds are of the processor, the medians of the
rounds, the copy included.  Asked for: chosen <= 1.05 times the least of the
four.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import programs

SLACK = 1.05
FLAGS = ["-O2", "-march=native", "-fno-tree-vectorize", "-fno-tree-slp-vectorize"]

DRIVER = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int kernel(const float *, const float *, float *, void *);
size_t kernel_workspace_size(void);

static float *
numbers(size_t n, unsigned by) {
  float *p = aligned_alloc(4096, (n * 4 | 4095) + 1);
  for (size_t k = 0; p && k < n; k++)
    p[k] = (float)(k % by) - 3;
  return p;
}

/* Seconds of the processor a call, and a sum over the results. */
int
main(void) {
  float *a = numbers(N * N, 7), *b = numbers(N * N, 5), *c = numbers(N * N, 3);
  size_t room = (kernel_workspace_size() | 4095) + 1;
  void *workspace = aligned_alloc(4096, room);
  struct timespec t[2];
  double sum = 0;
  if (!a || !b || !c || !workspace)
    return 2;
  memset(workspace, 0, room);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, t);
  if (kernel(a, b, c, workspace))
    return 2;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, t + 1);
  for (size_t k = 0; k < (size_t)N * N; k++)
    sum += (double)c[k] * (double)(k % 11);
  printf("%.9f %.6g\\n", (double)(t[1].tv_sec - t[0].tv_sec) +
         1e-9 * (double)(t[1].tv_nsec - t[0].tv_nsec), sum);
  return 0;
}
"""


def found(glen, folder, n, *options):
    """The script of a search and, in short, what it says."""
    source = programs.save(os.path.join(folder, "p.loops"), programs.loops(n))
    text = programs.run(glen, "layout", source, "--layout-cost=lines",
                        "--target", "native", *options)
    commands = [line for line in text.splitlines() if line[:1] not in "#"]
    return "\n".join(commands) + "\n"


def build(args, folder, n, script):
    c = programs.emit(args.glen, folder, n, script)
    driver = programs.save(os.path.join(folder, "main.c"), DRIVER)
    program = os.path.join(folder, "program")
    programs.run(args.cc, *FLAGS, "-w", f"-DN={n}", c, driver, "-o", program,
                 "-lm")
    return program


def measure(args, n, folder):
    scripts = {name: programs.script(name) for name in programs.LAYOUTS}
    scripts["chosen"] = found(args.glen, folder, n, "--keep-order")
    scripts["with order"] = found(args.glen, folder, n)
    built = {name: build(args, os.path.join(folder, str(k)), n, script)
             for k, (name, script) in enumerate(scripts.items())}
    times, sums = {name: [] for name in built}, set()
    for _ in range(args.rounds):
        for name, program in built.items():
            seconds, total = subprocess.run(
                [program], check=True, capture_output=True,
                text=True).stdout.split()
            times[name].append(float(seconds))
            sums.add(total)
    if len(sums) != 1:
        raise SystemExit(f"n = {n}: results differ: {sums}")
    return scripts, {k: statistics.median(v) for k, v in times.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--glen", default=os.path.join(
        programs.ROOT, "build/src/cli/glen"))
    parser.add_argument("--sizes", default="256,512,1024")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--json")
    args = parser.parse_args()
    args.glen, rows, slow = os.path.abspath(args.glen), [], 0
    for n in map(int, args.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            scripts, seconds = measure(args, n, folder)
        least = min(seconds[name] for name in programs.LAYOUTS)
        slow += seconds["chosen"] > SLACK * least
        print(f"n = {n}: chosen / least of four "
              f"{seconds['chosen'] / least:.2f}")
        for name, s in seconds.items():
            commands = "; ".join(scripts[name].split("\n")[:-1]) \
                if name not in programs.LAYOUTS else ""
            print(f"  {name:14} {1e3 * s:10.2f} ms {s / least:6.2f}  "
                  f"{commands}", flush=True)
        rows.append({"n": n, "seconds": seconds, "scripts": scripts})
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"schema": 1, "rounds": args.rounds, "sizes": rows}, f,
                      indent=1)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
