#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of programs in the code that is made of them.

Tensors, and functions, are called like keywords of C, C++ and CUDA, like macros
and functions of the headers around, like whatever stands in generated code,
like each other but for what C does not allow, and at random.  Kernels over them
are built and compared with the interpreter; their headers are compiled together
behind all the standard ones, as C and as C++; CUDA through cuda_shim.h.

usage: names.py GLEN [--all] [--seed N]      --all: every name in every form
"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
KEYWORDS = """
_Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn
_Static_assert _Thread_local alignas alignof and and_eq asm auto bitand bitor
bool break case catch char char16_t char32_t char8_t class co_await co_return
co_yield compl concept const const_cast consteval constexpr constinit continue
decltype default delete do double dynamic_cast else enum explicit export extern
false final float for friend goto if import inline int long module mutable
namespace new noexcept not not_eq nullptr operator or or_eq override private
protected public register reinterpret_cast requires restrict return short signed
sizeof static static_assert static_cast struct switch template this thread_local
throw true try typedef typeid typename typeof typeof_unqual union unsigned using
virtual void volatile wchar_t while xor xor_eq __asm__ __attribute__ __restrict
__inline __global__ __device__ __shared__ blockIdx threadIdx blockDim gridDim
warpSize dim3 cudaStream_t cudaGetLastError cudaMalloc float4 half stream
SIZE FP M I INT UINT HUGE MATH WCHAR glen GLEN omp kernel names NAMES main linux
unix i386 errno EOF NULL workspace prepacked size_t int32_t uint8_t t t0 t1 acc
acc0 i i0 i1 i_1 S0 k0 p0 x y z a b c v v_ v_v v_int p_1 x_ x__ _x __x _
""".split()
HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale
math setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib
stdnoreturn string tgmath threads time uchar wchar wctype""".split()
# Of a C++ compiler's, those that stand beside C's own.
NOT_IN_CPP = {"stdatomic", "threads", "complex", "tgmath", "stdnoreturn",
              "iso646"}
DERIVED = """K_workspace_size K_prepack K_prepacked_size K_on_stream K_variant
K_base K_avx2 K_avx512 K_k0 K_k1 K_p0 K_k0_panel K_k0_v K_k0_pack_x K_avx2_k0
K_ALIGNMENT K_WORKSPACE_BYTES K_ELEMENTS_x K_PREPACKED_BYTES K_H GLEN_K_H K K_
k_workspace_size kernel_workspace_size KERNEL_ALIGNMENT kernel_k0
kernel_k0_panel""".split()
COLLIDING = ["a.b", "a-b", "a_b", "a_b_2", "a_b_3", "a.b_2", "a..b", "a-.b",
             "x-2", "x.2", "x_2", "int.", "int-", "int_", "v_int", "v_int_2",
             "SIZE_2", "SIZE_MAX", "SIZE-MAX", "v_SIZE_2", "M_PI", "M.PI",
             "A", "a", "N" * 200, "N" * 199 + "M", "n" + "-" * 199,
             "n" + "_" * 199, "n" + "." * 199]

STANDARD, SHIM = "standard.h", "shim.h"
# Those that precompile() compiles a header with: the same options, but the last.
CPP = ["c++", "-std=c++20", "-Wall", "-Werror", "-fsyntax-only"]
CUDA = ["c++", "-std=c++17", "-w", "-fsyntax-only"]


def glen_names(words):
    """Those of the words that a program may use, once each, in order."""
    plain = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,199}")
    return [w for w in dict.fromkeys(words)
            if plain.fullmatch(w) and w not in ("true", "false")]


def random_names(random_, n):
    first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
    rest = first + "0123456789-."
    return ["".join([random_.choice(first)] +
                    [random_.choice(rest)
                     for _ in range(random_.choice([0, 1, 2, 3, 8]))])
            for _ in range(n)]


def macros():
    """Macros of the headers that generated code, or its users, include."""
    text = "".join(f"#include <{h}.h>\n" for h in HEADERS)
    text += "#if defined(__SSE2__)\n#include <immintrin.h>\n#endif\n"
    text += "#ifdef _OPENMP\n#include <omp.h>\n#endif\n"
    done = subprocess.run(["cc", "-fopenmp", "-dM", "-E", "-x", "c", "-"],
                          input=text, capture_output=True, text=True,
                          check=True)
    return re.findall(r"^#define (\w+)(?!\()\b", done.stdout, re.M)


def contraction(x, y, out, size):
    return (f"(tensor {x} (shape {size} {size}) f32)\n"
            f"(tensor {y} (shape {size} {size}) f32)\n"
            f"(let {out} (compute dotProd (cartProd (access {x} 1)\n"
            f"  (transpose (access {y} 1) (list 1 0)))))\n(output {out})\n")


def elementwise(x, out, op):
    return (f"(tensor {x} (shape 3 5) f32)\n"
            f"(let {out} (compute {op} (access {x} 1)))\n(output {out})\n")


def program(names, size):
    """A program of all these names; the first are of a contraction."""
    text, names = "", list(names)
    ops = ["relu", "softmax", "exp", "abs"]
    if size and len(names) >= 3:
        text += contraction(*names[:3], size)
        names = names[3:]
    for k in range(0, len(names) - 1, 2):
        text += elementwise(names[k], names[k + 1], ops[k // 2 % len(ops)])
    if len(names) % 2:
        text += f"(tensor {names[-1]} (shape 4) f32)\n(output {names[-1]})\n"
    return text


class Bench:
    def __init__(self, glen, folder):
        self.glen, self.folder = glen, folder
        self.passed = self.failed = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def call(self, what, command):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=300)
        if done.returncode:
            self.failed += 1
            print(f"{what}: exit {done.returncode}: {' '.join(command)}\n"
                  f"{done.stdout[-1500:]}")
        else:
            self.passed += 1
        return None if done.returncode else done.stdout

    def precompile(self):
        """What each C++ text begins with; parsing it takes most of the time."""
        self.write(STANDARD, "".join(f"#include <{h}.h>\n" for h in HEADERS
                                     if h not in NOT_IN_CPP))
        self.write(SHIM, f'#include "{os.path.join(HERE, "cuda_shim.h")}"\n')
        for compiler, header in ((CPP, STANDARD), (CUDA, SHIM)):
            self.call(header, [*compiler[:-1], "-x", "c++-header",
                               self.path(header)])

    def identifiers(self):
        """What generated code and its headers call things."""
        found = set()
        forms = [(["--emit", "c"], 64), (["--emit", "h"], 8),
                 (["--emit", "c", "--dispatch", "avx2,avx512"], 64),
                 (["--emit", "c", "--prepack", "right"], 64),
                 (["--emit", "cuda"], 16), (["--emit", "c"], 1200)]
        for k, (options, size) in enumerate(forms):
            path = self.write(f"plain{k}.glen", program(
                ["left", "right", "made", "in1", "out1", "in2", "out2"], size))
            text = self.call("plain", [self.glen, "compile", path, "--name",
                                       "K", *options])
            found |= set(IDENTIFIER.findall(text or ""))
        return sorted(found)

    def run(self, k, names, size):
        path = self.write(f"run{k}.glen", program(names, size))
        self.call(f"run {names[:3]}", [self.glen, "run", path, "--check",
                                       "--quiet", "--print", "0",
                                       "--cc-flag=-O1"])

    def emit(self, k, names, size, *options):
        """Strictly compiled C; the header is kept for headers()."""
        path = self.write(f"emit{k}.glen", program(names, size))
        self.call(f"emit {names[:3]}",
                  [self.glen, "compile", path, "--name", "K", "-o",
                   self.path(f"emit{k}.c"), *options])
        self.call(f"C {names[:3]}",
                  ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror",
                   "-Wno-unknown-pragmas", "-fsyntax-only",
                   self.path(f"emit{k}.c")])
        self.write(f"emit{k}.cpp",
                   f'#include "{STANDARD}"\n#include "emit{k}.h"\n')
        self.call(f"C++ {names[:3]}", [*CPP, self.path(f"emit{k}.cpp")])

    def cuda(self, k, names, size):
        path = self.write(f"cuda{k}.glen", program(names, size))
        text = self.call(f"cuda {names[:3]}", [
            self.glen, "compile", path, "--name", "K", "--emit", "cuda"])
        if not text:
            return
        # The launch is no C++.
        text = re.sub(r"<<<.*?>>>", "", text.replace(
            "#include <cuda_runtime.h>", ""), flags=re.S)
        self.write(f"cuda{k}.cpp", f'#include "{SHIM}"\n' + text)
        self.call(f"cuda {names[:3]}", [*CUDA, self.path(f"cuda{k}.cpp")])

    def function(self, name):
        """The header of a kernel of that name, or None."""
        return self.call(f"function {name}", [
            self.glen, "compile", "--quiet", self.path("one.glen"), "--name", name,
            "--emit", "h"])

    def functions(self, names, pool):
        """Kernels of all these names, declared beside all of the library."""
        self.write("one.glen", program(["in", "out"], 0))
        seen, c, cpp = set(), "", ""
        for header in pool.map(self.function, names):
            guard = header and re.search(r"#ifndef (\w+)", header).group(1)
            if header and guard not in seen:
                seen.add(guard)
                c += header
        include = "".join(f"#include <{h}.h>\n" for h in HEADERS)
        posix = "".join(f"#include <{h}.h>\n" for h in
                        ["dirent", "fcntl", "poll", "sys/mman", "sys/socket",
                         "sys/stat", "unistd"])
        cpp = "".join(f"#include <{h}.h>\n" for h in HEADERS
                      if h not in NOT_IN_CPP)
        self.write("functions.c", "#define _GNU_SOURCE\n" + include + posix + c)
        self.write("functions.cpp", cpp + posix + c)
        self.call("functions in C", ["cc", "-Wall", "-Werror", "-fsyntax-only",
                                     self.path("functions.c")])
        self.call("functions in C++", ["c++", "-Wall", "-Werror",
                                       "-fsyntax-only",
                                       self.path("functions.cpp")])


def parts(names, n):
    return [names[k:k + n] for k in range(0, len(names), n)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("glen")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bench = Bench(os.path.abspath(options.glen), folder)
        bench.precompile()
        own = bench.identifiers()
        common = glen_names(KEYWORDS + DERIVED + COLLIDING + own)
        names = glen_names(common + macros() +
                           random_names(rng, 4000 if options.all else 1000))
        rng.shuffle(common)
        jobs = []
        for k, some in enumerate(parts(common, 40)):
            jobs.append((bench.run, k, some, 64 if k % 2 else 7))
            jobs.append((bench.emit, k, some, 64, "--prepack", some[1]))
            jobs.append((bench.cuda, k, some, 16))
            jobs.append((bench.emit, k + 10000, some[::-1], 64, "--dispatch",
                         "avx2,avx512"))
        for k, some in enumerate(parts(names, 300)):
            if options.all:
                jobs.append((bench.run, k + 20000, some, 0))
            jobs.append((bench.emit, k + 20000, some, 0))
            jobs.append((bench.cuda, k + 20000, some, 0))
        list(pool.map(lambda job: job[0](*job[1:]), jobs))
        bench.functions(common if options.all else
                        sorted(set(KEYWORDS) | set(rng.sample(names, 300))),
                        pool)
        print(f"{len(names)} names")
        print(f"{bench.passed} passed, {bench.failed} failed")
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
