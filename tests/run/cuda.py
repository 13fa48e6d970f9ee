#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CUDA output against the interpreter.

usage: cuda.py GLEN [--quick | PART-OF-A-NAME]
       cuda.py GLEN --compile F.glen...

Programs under schedules that bind loops, and under those that glen chooses,
become .cu files; a schedule that was chosen gives the same file again.  Where nvcc is found
they are built with it and must at least compile; on the CPU they run through
cuda_shim.h, with sanitizers, on small whole numbers, so that every order of
summation gives the same.  --compile: only that nvcc takes what glen makes of
these programs.

nvcc is the one of the PATH, or of the packages in cuda-requirements.txt when
python has them; all its warnings are errors.
"""
import glob
import importlib.util
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REQUIREMENTS = os.path.join(HERE, "cuda-requirements.txt")
FORMAT = {"f32": ("f", "<f4"), "f64": ("d", "<f8"), "i32": ("i", "<i4")}

MATMUL = """(tensor a (shape 48 24) f32)
(tensor b (shape 24 32) f32)
(let c (compute dotProd (cartProd (access a 1)
  (transpose (access b 1) (list 1 0)))))
(output c)
"""
MATMUL_LOOPS = """input a: f32[48, 24]
input b: f32[24, 32]
output c: f32[48, 32]

for i in 0..48 {
  for j in 0..32 {
    I: c[i, j] = 0.0
    for k in 0..24 {
      U: c[i, j] += a[i, k] * b[k, j]
    }
  }
}
"""
# Loads take fewer threads than the products do, or more.
TILED = """decompose_reduction c i
i0, j0, i1, j1 = tile U [i, j] [16, 16]
k0, k1 = split k [-1, %d]
reorder [i0, j0, k0, i1, j1, k1]
cache_read U a shared at k0
cache_read U b shared at k0
bind i0 blockIdx.y; bind j0 blockIdx.x
bind i1 threadIdx.y; bind j1 threadIdx.x
bind i_1 blockIdx.x; bind j_1 threadIdx.x
bind ax0 threadIdx.y; bind ax1 threadIdx.x
bind ax0_1 threadIdx.y; bind ax1_1 threadIdx.x
sync_threads ax0 after=true
sync_threads i1 after=true
"""
STENCIL = """(tensor x (shape 70) f32)
(let y (compute reduceSum (windows (access x 0) (shape 5) (stride 1))))
(output y)
"""
STAGED = """t, i = split i0 [-1, 22]
cache_read S1 x shared at t
bind t blockIdx.x; bind i threadIdx.x; bind ax0 threadIdx.x
sync_threads ax0 after=true
"""
ADD = """(tensor x (shape 33 50) %s)
(tensor y (shape 33 50) %s)
(let z (compute add (pair (access x 2) (access y 2))))
(output z)
"""
BOUND = "bind i0 blockIdx.x; bind i1 threadIdx.x\n"
BLOCKED = "j, t = split i1 [-1, 25]; bind i0 blockIdx.y; bind j blockIdx.x\n" \
          "bind t threadIdx.z\n"

POOL = """(tensor x (shape 3 3 19 45) f32)
(let y (compute reduceMax (windows (access x 2) (shape 3 3) (stride 2 1))))
(let z (compute relu (access y 4)))
(output z)
"""
BLUR = """(tensor x (shape 41 70) f32)
(let s (compute reduceSum (windows (access x 0) (shape 3 3) (stride 1 1))))
(let t (compute mul (pair (access s 2) (access s 2))))
(let u (compute reduceSum (windows (access t 0) (shape 1 3) (stride 1 1))))
(output u)
"""

CASES = [
    ("matmul 8", MATMUL, MATMUL_LOOPS, TILED % 8),
    ("matmul 12", MATMUL, MATMUL_LOOPS, TILED % 12),
    ("matmul 24", MATMUL, MATMUL_LOOPS, TILED % 24),
    ("matmul by elements", MATMUL, None, "serial i0; serial i1\n" + BOUND),
    ("stencil staged", STENCIL, None, STAGED),
    ("stencil", STENCIL, None, "bind i0 threadIdx.x\n"),
    ("unbound", STENCIL, None, ""),
    ("add i32", ADD % ("i32", "i32"), None, BOUND),
    ("add f64", ADD % ("f64", "f64"), None, BLOCKED),
    # Chosen: options of `glen compile` instead of a script.
    ("chosen matmul", MATMUL, None, []),
    ("chosen stencil", STENCIL, None, []),
    ("chosen add", ADD % ("i32", "i32"), None, []),
    ("chosen pool", POOL, None, []),
    ("chosen blur", BLUR, None, []),
    ("chosen tiles", BLUR, None, ["--fuse", "post-tile", "--tile", "16,32"]),
    ("chosen lines", BLUR, None, ["--fuse", "post-tile", "--tile", "5,24"]),
]


def launches(text):
    """KERNEL<<<grid, block, 0, stream>>>(...) as the shim has it."""
    return re.sub(r"(\w+)<<<(dim3\([^)]*\)), (dim3\([^)]*\)), 0, stream>>>\(",
                  r"GLEN_LAUNCH(\1, \2, \3, stream)(", text)


def count(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def write_npy(path, item, values):
    shape = ", ".join(map(str, item["shape"])) + ","
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        FORMAT[item["dtype"]][1], shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)))
        f.write(head.encode() + values)


def read_npy(path):
    with open(path, "rb") as f:
        data = f.read()
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


def driver(manifest):
    """Reads inputs from a file, writes outputs to one."""
    items = manifest["inputs"] + manifest["outputs"]
    lines = ['#include "shim_kernel.cu"', "int main(int, char **argv) {",
             '  FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");',
             "  if (!in || !out) return 2;",
             "  std::vector<char> work(kernel_workspace_size() + 1);"]
    for k, item in enumerate(items):
        lines.append(f"  std::vector<{item['c_type']}> v{k}"
                     f"({count(item['shape'])});")
        if k < len(manifest["inputs"]):
            lines.append(f"  if (fread(v{k}.data(), sizeof v{k}[0], v{k}.size()"
                         f", in) != v{k}.size()) return 2;")
    call = ", ".join(f"v{k}.data()" for k in range(len(items)))
    lines.append(f"  if (kernel({call}, work.data())) return 3;")
    for k in range(len(manifest["inputs"]), len(items)):
        lines.append(f"  fwrite(v{k}.data(), sizeof v{k}[0], v{k}.size(), out);")
    return "\n".join(lines + ["  fclose(in); fclose(out);", "  return 0;", "}"])


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(" ".join(command) + "\n" + done.stdout + done.stderr)
    return done.stdout


def choose(glen, path, options):
    """The script of glen's own choice, which must bind some loop."""
    run(glen, "compile", path("p.glen"), "--name", "kernel", "--emit",
        "cuda,sched", "-o", path("chosen.cu"), *options)
    with open(path("chosen.sched")) as f:
        script = f.read()
    if "threadIdx" not in script:
        sys.exit("nothing is bound:\n" + script)
    return script


def check(glen, name, program, loops, script):
    r = random.Random(name)
    with tempfile.TemporaryDirectory() as folder:
        path = lambda file: os.path.join(folder, file)
        with open(path("p.glen"), "w") as f:
            f.write(program)
        with open(path("p.loops"), "w") as f:
            f.write(loops or "")
        if isinstance(script, list):
            script = choose(glen, path, script)
            with open(path("chosen.cu")) as f:
                chosen = f.read()
        else:
            chosen = None
        with open(path("p.sched"), "w") as f:
            f.write(script)
        run(glen, "schedule", path("p.loops" if loops else "p.glen"),
            "--sched", path("p.sched"), "-o", path("kernel.cu"))
        with open(path("kernel.cu")) as f:
            if chosen is not None and f.read() != chosen:
                sys.exit(f"{name}: the script gives other code")
        manifest = json.loads(run(glen, "compile", path("p.glen"),
                                  "--emit", "manifest"))
        flags, raw = [], b""
        for item in manifest["inputs"]:
            n = count(item["shape"])
            values = struct.pack(f"<{n}{FORMAT[item['dtype']][0]}",
                                 *(r.randint(-4, 4) for _ in range(n)))
            write_npy(path(item["name"] + ".npy"), item, values)
            flags += ["--input", f"{item['name']}={path(item['name'])}.npy"]
            raw += values
        with open(path("in"), "wb") as f:
            f.write(raw)
        run(glen, "run", path("p.glen"), "--interpret", *flags,
            "--output", path("want.npy"))
        with open(path("kernel.cu")) as f:
            text = f.read()
        with open(path("shim_kernel.cu"), "w") as f:
            f.write('#include "cuda_shim.h"\n' + launches(text).replace(
                "#include <cuda_runtime.h>\n", ""))
        with open(path("main.cc"), "w") as f:
            f.write(driver(manifest))
        run("g++", "-std=c++17", *FLAGS, "-Wall", "-Werror",
            "-Wno-unknown-pragmas", "-I", HERE, "-I", folder, path("main.cc"), "-o", path("main"))
        run(path("main"), path("in"), path("out"))
        build_for_device(path("kernel.cu"))
        with open(path("out"), "rb") as f:
            got = f.read()
        if got != read_npy(path("want.npy")):
            sys.exit(f"{name}: differs from the interpreter")
    print(f"{name}: ok")


# --quick: some of each kind, without sanitizers.
QUICK = ["matmul 12", "chosen pool", "chosen tiles"]
FLAGS = ["-O1", "-g", "-fsanitize=address,undefined",
         "-fno-sanitize-recover=all"]


def find_nvcc():
    """The path of nvcc; None where there is none."""
    found = shutil.which("nvcc")
    spec = None if found else importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations if spec else []:
        for path in sorted(glob.glob(os.path.join(folder, "*/bin/nvcc"))):
            found = found or path
    return found


NVCC = find_nvcc()


def build_for_device(path):
    if NVCC:
        run(NVCC, "-arch=sm_80", "-Werror", "all-warnings", "-Xcompiler",
            "-Wall,-Wno-unknown-pragmas", "-c", path, "-o", path + ".o")


def compile_all(glen, programs):
    if not NVCC:
        sys.exit(f"no nvcc: pip install -r {os.path.relpath(REQUIREMENTS)}")
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            path = os.path.join(folder, "kernel.cu")
            run(glen, "compile", program, "--emit", "cuda", "-o", path)
            build_for_device(path)
            print(f"{program}: ok", flush=True)
    print(f"{len(programs)} passed, 0 failed")


def main():
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    if wanted == "--compile":
        return compile_all(sys.argv[1], sys.argv[3:])
    cases = [c for c in CASES if wanted in c[0]]
    if wanted == "--quick":
        cases = [c for c in CASES if c[0] in QUICK]
        FLAGS[:] = ["-O0"]
    for case in cases:
        check(sys.argv[1], *case)
    print(f"{len(cases)} passed, 0 failed")


if __name__ == "__main__":
    main()
