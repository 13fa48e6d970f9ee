#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""OpenCL output against the interpreter.

usage: opencl.py GLEN [--quick | --random FIRST-LAST | PART-OF-A-NAME...]

Programs under schedules that bind loops, and under those that glen chooses,
become kernels and a C file for the host, which is built with a program that runs
them on the first device there is (pocl runs them on the CPU: Debian's
pocl-opencl-icd and ocl-icd-opencl-dev).  What comes out is compared with the
interpreter's: the cases of cuda.py, the examples, and random pipelines
(bench/fusion/pipelines.py, made small).  --quick: some of each kind.
"""
import argparse
import glob
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import cuda

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "bench", "fusion"))
import pipelines                                               # noqa: E402

cuda.FORMAT.update({"i8": ("b", "|i1"), "u8": ("B", "|u1"), "i16": ("h", "<i2"),
                    "u16": ("H", "<u2"), "f16": ("e", "<f2"),
                    "bool": ("?", "|b1")})
TILED = ["--fuse", "post-tile", "--tile", "8,16"]
# Words of OpenCL and of its host as names of arrays; a constant like a function.
NAMES = """(tensor global (shape 6 70) f32)
(tensor float4 (shape 6 70) f32)
(const dot (shape 70) f32 %s)
(let cl_mem (compute max (pair global float4)))
(let image
  (compute mul (pair cl_mem (broadcast (insertAxis dot 0) (shape 6 70)))))
(output image)
(output cl_mem)
""" % " ".join(str(k) for k in range(70))
CASES = [*cuda.CASES, ("names", NAMES, None, [])]
QUICK = ["names", "matmul 12", "chosen pool", "chosen tiles", "softmax", "conv-i8",
         "random 3", "random 5 tiled"]
RANDOM = (1, 12)

HEAD = r"""
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call) do { cl_int e = (call); if (e) { \
  fprintf(stderr, "%s: error %d\n", #call, e); return 3; } } while (0)

size_t kernel_kernel_count(void);
size_t kernel_workspace_size(void);
cl_int kernel_build(cl_context, cl_device_id, cl_kernel *);
void kernel_release(cl_kernel *);
"""
SET_UP = r"""
  cl_platform_id platform;
  cl_device_id device;
  cl_int e;
  TRY(clGetPlatformIDs(1, &platform, NULL));
  TRY(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
  TRY(e);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &e);
  TRY(e);
  cl_kernel kernels[kernel_kernel_count() + 1];
  TRY(kernel_build(context, device, kernels));
  size_t bytes = kernel_workspace_size();
  cl_mem workspace = bytes ? clCreateBuffer(context, CL_MEM_READ_WRITE, bytes,
                                            NULL, &e) : NULL;
  TRY(e);
"""


def driver(manifest):
    """Reads inputs from a file, writes outputs to one."""
    items = manifest["inputs"] + manifest["outputs"]
    types = ", ".join("cl_mem" for _ in items)
    lines = [HEAD, f"cl_int kernel_on_queue(cl_command_queue, const cl_kernel "
             f"*, {types}, cl_mem);", "int main(int n, char **argv) {",
             "  (void)n;",
             '  FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");',
             "  if (!in || !out) return 2;", SET_UP]
    for k, item in enumerate(items):
        size = f"{cuda.count(item['shape'])} * sizeof({item['c_type']})"
        lines += [f"  const size_t n{k} = {size};", f"  void *v{k} = calloc(1, n{k});"]
        if k < len(manifest["inputs"]):
            lines.append(f"  if (fread(v{k}, 1, n{k}, in) != n{k}) return 2;")
        lines += [f"  cl_mem m{k} = clCreateBuffer(context, CL_MEM_READ_WRITE | "
                  f"CL_MEM_COPY_HOST_PTR, n{k}, v{k}, &e);", "  TRY(e);"]
    call = ", ".join(f"m{k}" for k in range(len(items)))
    lines.append(f"  TRY(kernel_on_queue(queue, kernels, {call}, workspace));")
    for k in range(len(manifest["inputs"]), len(items)):
        lines += [f"  TRY(clEnqueueReadBuffer(queue, m{k}, CL_TRUE, 0, n{k}, "
                  f"v{k}, 0, NULL, NULL));", f"  fwrite(v{k}, 1, n{k}, out);"]
    for k in range(len(items)):
        lines += [f"  clReleaseMemObject(m{k});", f"  free(v{k});"]
    return "\n".join(lines + [
        "  if (workspace) clReleaseMemObject(workspace);",
        "  kernel_release(kernels);", "  clReleaseCommandQueue(queue);",
        "  clReleaseContext(context);", "  fclose(in);",
        "  return fclose(out) != 0;", "}"]).replace(
            "#include <stdlib.h>", "#include <stdint.h>\n#include <stdlib.h>")


def is_close(got, want, dtype):
    if dtype[0] != "f" or not math.isfinite(want):
        return got == want or (math.isnan(want) and math.isnan(got))
    limit = 2e-2 if dtype == "f16" else 2e-3 if dtype == "f32" else 1e-9
    return abs(got - want) <= limit * max(1, abs(want))


def compare(name, manifest, got, path):
    """What was computed, output by output."""
    at = 0
    several = len(manifest["outputs"]) > 1
    for item in manifest["outputs"]:
        letter = cuda.FORMAT[item["dtype"]][0]
        n = cuda.count(item["shape"])
        one = struct.unpack_from(f"<{n}{letter}", got, at)
        at += n * struct.calcsize(letter)
        want = struct.unpack(f"<{n}{letter}", cuda.read_npy(path(
            f"want.{item['name']}.npy" if several else "want.npy")))
        for j, (x, y) in enumerate(zip(one, want)):
            if not is_close(x, y, item["dtype"]):
                sys.exit(f"{name}: {item['name']}, element {j} is {x}, not {y}")


def interpret(glen, manifest, name, path):
    """Small whole numbers as inputs, their bytes; and what the interpreter
    makes of them."""
    r, flags, raw = random.Random(name), [], b""
    for item in manifest["inputs"]:
        n = cuda.count(item["shape"])
        low = 0 if item["dtype"][0] in "ub" else -4
        letter = cuda.FORMAT[item["dtype"]][0]
        values = struct.pack(f"<{n}{letter}", *(
            r.randint(low, 1 if letter == "?" else 4) for _ in range(n)))
        cuda.write_npy(path(item["name"] + ".npy"), item, values)
        flags += ["--input", f"{item['name']}={path(item['name'])}.npy"]
        raw += values
    with open(path("in"), "wb") as f:
        f.write(raw)
    cuda.run(glen, "run", path("p.glen"), "--interpret", *flags, "--output",
             path("want.npy"))


def emit(glen, program, loops, script, path):
    for file, text in (("p.glen", program), ("p.loops", loops)):
        with open(path(file), "w") as f:
            f.write(text or "")
    if isinstance(script, list):
        cuda.run(glen, "compile", path("p.glen"), "--name", "kernel", "--emit",
                 "opencl,opencl-host", "-o", path("k.c"), *script)
        return
    with open(path("p.sched"), "w") as f:
        f.write(script)
    for suffix in (".cl", ".cl.c"):
        cuda.run(glen, "schedule", path("p.loops" if loops else "p.glen"),
                 "--sched", path("p.sched"), "-o", path("k" + suffix))


def check(glen, name, program, loops, script):
    with tempfile.TemporaryDirectory() as folder:
        path = lambda file: os.path.join(folder, file)
        emit(glen, program, loops, script, path)
        manifest = json.loads(cuda.run(glen, "compile", path("p.glen"),
                                       "--emit", "manifest"))
        interpret(glen, manifest, name, path)
        with open(path("main.c"), "w") as f:
            f.write(driver(manifest))
        cuda.run("gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror",
                 "-Wno-deprecated-declarations", "-DCL_TARGET_OPENCL_VERSION=120",
                 path("main.c"), path("k.cl.c"), "-o", path("main"), "-lOpenCL")
        cuda.run(path("main"), path("in"), path("out"))
        with open(path("out"), "rb") as f:
            compare(name, manifest, f.read(), path)
    print(f"{name}: ok", flush=True)


# ---- the programs ----


def small(seed):
    """A random pipeline whose inputs have a sixteenth of their extents."""
    return pipelines.text(seed, 16)


def cases(first, last):
    yield from CASES
    for path in sorted(glob.glob(os.path.join(ROOT, "examples", "*.glen"))):
        with open(path, encoding="utf-8") as f:
            yield os.path.basename(path)[:-5], f.read(), None, []
    for seed in range(first, last + 1):
        yield f"random {seed}", small(seed), None, []
        yield f"random {seed} tiled", small(seed), None, TILED


def is_there():
    """Whether OpenCL has a device here, and a host can be built."""
    with tempfile.TemporaryDirectory() as folder:
        main = os.path.join(folder, "main.c")
        with open(main, "w") as f:
            f.write("#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n"
                    "int main(void) { cl_uint n = 0; cl_platform_id p; return "
                    "clGetPlatformIDs(1, &p, &n) || !n; }\n")
        done = subprocess.run(["gcc", main, "-o", main + ".out", "-lOpenCL"],
                              capture_output=True)
        return not done.returncode and not subprocess.run(
            [main + ".out"], capture_output=True).returncode


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("glen")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--random", metavar="FIRST-LAST")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    first, last = RANDOM
    if args.random:
        first, last = map(int, args.random.split("-"))
        args.names = args.names or ["random"]
    if not is_there():
        print("skipped opencl: there is no device of OpenCL here, or nothing "
              "to build its host with")
        print("0 passed, 0 failed")
        return
    chosen = [c for c in cases(first, last)
              if (not args.quick or c[0] in QUICK)
              and (not args.names or any(n in c[0] for n in args.names))]
    with tempfile.TemporaryDirectory() as cache:
        os.environ["POCL_CACHE_DIR"] = cache
        for case in chosen:
            check(args.glen, *case)
    print(f"{len(chosen)} passed, 0 failed")


if __name__ == "__main__":
    main()
