#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every example with two threads under the thread sanitizer.

The kernel is called with one thread and with two, on the same inputs: the
sanitizer must find no race and the results must agree.  Programs that a script
writes (bench/kernels/programs.py) are taken larger than in examples/, so that
their loops are worth a team.  The OpenMP run-time library is team.c.

usage: threads.py GLEN [FILE.glen...]
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "bench/kernels"))
import programs  # noqa: E402

SIZES = {
    "blur": dict(H=120, W=200),
    "harris": dict(H=124, W=168),
    "unsharp": dict(H=90, W=140),
    "pyramid-blend": dict(H=128, W=192),
    "interpolate": dict(H=64, W=128),
    "local-laplacian": dict(H=64, W=96),
    "bilateral-grid": dict(H=64, W=96),
    "2mm": dict(I=34, J=38, K=40, L=42),
    "3mm": dict(I=34, J=38, K=40, L=42, M=36),
    "gemver": dict(N=190),
    "covariance": dict(N=60, M=40),
    "doitgen": dict(R=12, Q=14, P=20),
    "jacobi-2d": dict(N=190, T=2),
}

DRIVER_HEAD = """#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel.h"

void team_set(int threads);
unsigned long team_regions(void);

static uint32_t state = 1;

static void *
block(size_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 64, bytes ? (bytes + 63) / 64 * 64 : 64))
    exit(3);
  return memset(memory, 0x5a, bytes);
}

static double
number(void) {
  state = state * 1664525u + 1013904223u;
  return (double)(int32_t)(state >> 20) / 512 - 4;
}

#define FILL(type, p, n) \\
  for (size_t i = 0; i < (n); i++) ((type *)(p))[i] = (type)number()
#define SAME(type, p, q, n) \\
  for (size_t i = 0; i < (n); i++) { \\
    double a = (double)((type *)(p))[i], b = (double)((type *)(q))[i]; \\
    if (!(a == b || (a != a && b != b) || \\
          fabs(a - b) <= 1e-4 * fmax(1, fmax(fabs(a), fabs(b))))) { \\
      fprintf(stderr, "element %zu: %g and %g\\n", i, a, b); \\
      return 4; \\
    } \\
  }

int
main(void) {
"""


def elements(array):
    n = 1
    for size in array["shape"]:
        n *= size
    return n


def driver(manifest):
    """C that calls the kernel with one and with two threads."""
    lines, one, two = [], [], []
    for k, array in enumerate(manifest["inputs"]):
        lines += [f"void *i{k} = block({array['bytes']});",
                  f"FILL({array['c_type']}, i{k}, {elements(array)}u);"]
        one.append(f"i{k}")
        two.append(f"i{k}")
    for k, array in enumerate(manifest["outputs"]):
        lines += [f"void *a{k} = block({array['bytes']});",
                  f"void *b{k} = block({array['bytes']});"]
        one.append(f"a{k}")
        two.append(f"b{k}")
    lines.append("void *workspace = block(kernel_workspace_size());")
    for threads, arguments in ((1, one), (2, two)):
        lines += [f"team_set({threads});",
                  f"if (kernel({', '.join(arguments)}, workspace)) return 5;"]
    for k, array in enumerate(manifest["outputs"]):
        lines.append(
            f"SAME({array['c_type']}, a{k}, b{k}, {elements(array)}u);")
    lines += ['printf("%lu\\n", team_regions());']
    lines += [f"free({name});" for name in
              dict.fromkeys(one + two + ["workspace"])]
    lines.append("return 0;")
    return DRIVER_HEAD + "".join(f"  {line}\n" for line in lines) + "}\n"


def run(*command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=900, **more)


def compile_object(file, folder, *flags):
    """(the object file, what became of the compiler)"""
    out = os.path.join(folder, os.path.basename(file) + ".o")
    return out, run("cc", "-O1", "-g", "-fsanitize=thread", *flags, "-c", file,
                    "-o", out, cwd=folder)


def check(glen, path, team, folder):
    """(the command that failed or None, regions with a team)"""
    source = path
    name = os.path.splitext(os.path.basename(path))[0]
    if name in SIZES and path == programs.example_path(name):
        source = os.path.join(folder, name + ".glen")
        with open(source, "w", encoding="utf-8") as f:
            f.write(programs.text(name, **SIZES[name]))
    c = os.path.join(folder, "kernel.c")
    done = run(glen, "compile", source, "--name", "kernel", "--quiet",
               "--emit", "c,h,manifest", "-o", c)
    if done.returncode:
        return done, 0
    with open(os.path.join(folder, "kernel.manifest.json"),
              encoding="utf-8") as f:
        text = driver(json.load(f))
    main = os.path.join(folder, "main.c")
    with open(main, "w", encoding="utf-8") as f:
        f.write(text)
    program = os.path.join(folder, "main")
    # The two files of ours are linked without libgomp, which -fopenmp would
    # bring along.
    objects = [team]
    for file, flags in ((c, ["-fopenmp"]), (main, [])):
        made, done = compile_object(file, folder, *flags)
        objects.append(made)
        if done.returncode:
            return done, 0
    done = run("cc", "-fsanitize=thread", *objects, "-o", program, "-lm",
               "-lpthread")
    if done.returncode:
        return done, 0
    done = run(program, env=dict(os.environ, TSAN_OPTIONS="exitcode=66"))
    if done.returncode:
        return done, 0
    return None, int(done.stdout)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    glen = os.path.abspath(sys.argv[1])
    paths = sys.argv[2:] or sorted(glob.glob(
        os.path.join(ROOT, "examples", "**", "*.glen"), recursive=True))
    passed = failed = regions = 0
    place = tempfile.TemporaryDirectory()
    team, made = compile_object(os.path.join(HERE, "team.c"), place.name)
    if made.returncode:
        sys.exit(f"{made.stderr}\n0 passed, 1 failed")
    for path in map(os.path.abspath, paths):
        with tempfile.TemporaryDirectory() as folder:
            fault, teams = check(glen, path, team, folder)
        regions += teams
        if fault is None:
            passed += 1
            continue
        failed += 1
        print(f"FAIL {os.path.relpath(path, ROOT)}: exit {fault.returncode}\n"
              f"  {' '.join(fault.args)}\n{fault.stderr[-3000:]}")
    print(f"{regions} regions were run by two threads")
    if not sys.argv[2:] and not regions:
        failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
