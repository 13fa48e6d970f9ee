# SPDX-License-Identifier: MIT
"""The peers of the kernel benchmark: how each is built and with which settings.

A peer gives for a problem and a number of threads its candidates, one after the
other: programs with a setting each.  All candidates of a peer run; the best counts, and the slow
ones drop out after the first turn (run.py).
"""
import collections
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import time

import machine
import programs

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "peers")
NAIVE = os.path.join(SOURCES, "naive")
LONGEST_COMPILE = 300  # seconds for a command of glen
RULES = os.path.join(machine.ROOT, "rules")
HALIDE_PLUGINS = "/usr/lib/x86_64-linux-gnu/halide14"

# setting: what is reported; command: the worker; variant, env: handed to it
Candidate = collections.namedtuple("Candidate", "setting command variant env",
                                   defaults=("", ()))


class Missing(Exception):
    """The peer is not here, or does not do this problem."""


class Broken(Exception):
    """Something of ours does not build: a row that says so, and exit code 1."""


class Builder:
    """Compiles into a folder outside of the repository; a result is found again
    by what it was made from."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def read(self, path):
        with open(path, "rb") as f:
            return f.read()

    def path(self, key):
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:24]
        return os.path.join(self.folder, digest)

    def run(self, command):
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=600)
        except (OSError, subprocess.TimeoutExpired) as e:
            raise Missing(f"{command[0]}: {e}") from e
        if done.returncode:
            text = (done.stderr or done.stdout).strip()
            raise Missing(f"{os.path.basename(command[0])}: "
                          f"{text.splitlines()[0] if text else 'failed'}")

    def build(self, compiler, flags, sources, libraries, depends=()):
        """A program from sources; depends: further files it is made from."""
        files = [*sources, *depends, os.path.join(SOURCES, "worker.h")]
        key = (compiler, machine.first_line(compiler, "--version"), flags,
               libraries, [self.read(f) for f in files])
        out = self.path(key)
        if not os.path.exists(out):
            part = f"{out}.{os.getpid()}"
            self.run([compiler, *flags, "-I", SOURCES, *sources, "-o", part,
                      *libraries])
            os.replace(part, out)
        return out

    def worker_object(self):
        """worker.c by a C compiler, to be linked with any language."""
        source = os.path.join(SOURCES, "worker.c")
        return self.build("gcc", ["-O2", "-c"], [source], [])


def wide():
    """Vectors of 512 bits where the CPU has them: compilers avoid them."""
    return ["-mprefer-vector-width=512"] if "avx512f" in machine.flags() else []


def flag_sets(base):
    """Plain, with fast arithmetic, and both with the widest vectors."""
    out = [base, base + ["-ffast-math"]]
    return out + [flags + wide() for flags in out if wide()]


# Kinds whose loops are those of another one: of narrow types, products and sums
# of whose values floats hold.
NAIVE_KIND = {"gemm-i8": "gemm", "gemm-bf16": "gemm",
              "conv-i8": "conv-nhwc", "conv-bf16": "conv-nhwc"}


class Naive:
    """Loops as one would write them, by a compiler.

    form: a suffix of the C file's name.  Without one the loops run along the
    rows of matrices, which suits compilers best."""

    def __init__(self, name, compiler, extra, parallel=None, form=""):
        self.name, self.compiler, self.extra = name, compiler, extra
        self.parallel, self.form = parallel, form

    def source(self, problem):
        kind = NAIVE_KIND.get(problem.kind, problem.kind)
        return os.path.join(NAIVE, kind + self.form + ".c")

    def knows(self, problem):
        return os.path.exists(self.source(problem))

    def candidates(self, builder, problem, threads):
        if not shutil.which(self.compiler):
            raise Missing(f"{self.compiler} is not installed")
        if not self.knows(problem):
            raise Missing("nobody wrote the loops")
        if threads > 1 and self.parallel is None:
            raise Missing("has one thread")
        source = self.source(problem)
        sizes = [f"-D{k}={v}" for k, v in problem.sizes.items()]
        more = (self.parallel or []) if threads > 1 else []
        for flags in flag_sets(["-O3", "-march=native", *self.extra]):
            program = builder.build(
                self.compiler, [*flags, *more, *sizes],
                [source, os.path.join(NAIVE, "main.c"),
                 builder.worker_object()],
                ["-lm", "-lpthread"] + (["-lgomp"] if more else []),
                [os.path.join(NAIVE, "naive.h")])
            label = [f for f in flags[2:] if f not in ("-mllvm",)]
            yield Candidate(" ".join(["-O3", *label]), [program])


class OpenBlas:
    """Debian's, or with a label the one of a folder with include/ and lib/, such
    as the package scipy_openblas32 of a virtual environment, whose functions
    have names of their own."""

    kinds = ("gemm", "2mm", "3mm", "gemver", "covariance", "doitgen")
    functions = ("cblas_sgemm", "cblas_sgemv", "cblas_sger", "cblas_ssyrk",
                 "openblas_set_num_threads")

    def __init__(self, label="", prefix=None):
        self.name = "openblas" + (f":{label}" if label else "")
        self.prefix = prefix and os.path.abspath(prefix)

    def core_types(self):
        has = machine.flags()
        out = [""]
        if "avx512f" in has:
            out += ["SkylakeX"]
        if "avx2" in has:
            out += ["Zen", "Haswell"]
        return out

    def found(self):
        """Flags of the compiler, and of the linker."""
        if not self.prefix:
            return [], ["-lopenblas"]
        lib = os.path.join(self.prefix, "lib")
        for name in ("openblas", "scipy_openblas"):
            if os.path.exists(os.path.join(lib, f"lib{name}.so")):
                renamed = ([f"-D{f}=scipy_{f}" for f in self.functions]
                           if name.startswith("scipy") else [])
                return ([f"-I{self.prefix}/include", *renamed],
                        [f"-L{lib}", f"-Wl,-rpath,{lib}", f"-l{name}"])
        raise Missing(f"{lib} has no libopenblas.so")

    def candidates(self, builder, problem, threads):
        if problem.kind not in self.kinds:
            raise Missing("no BLAS routine")
        flags, libraries = self.found()
        program = builder.build(
            "gcc", ["-O3", "-march=native", *flags],
            [os.path.join(SOURCES, "openblas.c"), builder.worker_object()],
            [*libraries, "-lm", "-lpthread"])
        return [Candidate(core or "own choice", [program], "",
                          (("OPENBLAS_CORETYPE", core),) if core else ())
                for core in self.core_types()]


class OneDnn:
    """variants of each kind of problem: see peers/onednn.cpp."""

    def __init__(self, name, **variants):
        self.name, self.variants = name, variants

    def candidates(self, builder, problem, threads):
        if problem.kind not in self.variants:
            raise Missing("no such primitive")
        program = builder.build(
            "g++", ["-O2", "-std=c++17"],
            [os.path.join(SOURCES, "onednn.cpp"), builder.worker_object()],
            ["-ldnnl", "-lm", "-lpthread"])
        return [Candidate(v, [program], v)
                for v in self.variants[problem.kind]]


class OneDnn3:
    """oneDNN 3.x from a folder with include/ and lib/, such as a virtual
    environment that pip installed it into; see peers/onednn3.cpp."""

    images = ["plain", "nhwc", "blocked"]
    variants = {"gemm": ["plain", "any"], "conv": ["plain", "any"],
                "depthwise": [*images, "any"],
                "grouped": [*images, "any"],
                "pool": images, "average": images, "layernorm": ["plain"],
                "softmax": ["plain"], "matvec": ["plain", "any"]}

    def __init__(self, label, prefix):
        self.name, self.prefix = f"onednn3:{label}", os.path.abspath(prefix)

    def settings(self):
        """Where a build for SYCL finds the processor."""
        lib = os.path.join(self.prefix, "lib")
        out = [("LD_LIBRARY_PATH", lib)]
        driver = os.path.join(lib, "libintelocl.so")
        if os.path.exists(driver):
            out += [("OCL_ICD_FILENAMES", driver),
                    ("ONEAPI_DEVICE_SELECTOR", "opencl:cpu")]
        return tuple(out)

    def candidates(self, builder, problem, threads):
        variants = self.variants.get(problem.kind.split("-")[0])
        if not variants:
            raise Missing("no such primitive")
        lib = os.path.join(self.prefix, "lib")
        if not os.path.exists(os.path.join(lib, "libdnnl.so")):
            raise Missing(f"{lib} has no libdnnl.so")
        program = builder.build(
            "g++", ["-O2", "-std=c++17", f"-I{self.prefix}/include"],
            [os.path.join(SOURCES, "onednn3.cpp"), builder.worker_object()],
            [f"-L{lib}", f"-Wl,-rpath-link,{lib}", "-ldnnl", "-lm",
             "-lpthread"])
        for v in variants:
            yield Candidate(v, [program], v, self.settings())


class Halide:
    def __init__(self, name, variants):
        self.name, self.variants = name, variants

    def candidates(self, builder, problem, threads):
        if problem.kind not in self.variants:
            raise Missing("no schedule of this problem")
        program = builder.build(
            "g++", ["-O1", "-std=c++17", "-I/usr/include/halide14",
                    f'-DPLUGINS="{HALIDE_PLUGINS}"'],
            [os.path.join(SOURCES, "halide.cpp"), builder.worker_object()],
            ["-lHalide14", "-ldl", "-lm", "-lpthread"])
        return [Candidate(v, [program], v)
                for v in self.variants[problem.kind]]


MANUAL = {
    "blur": ["manual-8", "manual-32"],
    "harris": ["manual-32", "manual-64"],
    "unsharp": ["manual-32", "manual-64"],
    "gemm": ["manual-4", "manual-6"],
    "conv": ["manual-2", "manual-3", "manual-4"],
}
AUTO = {kind: ["Mullapudi2016", "Adams2019", "Li2018"] for kind in MANUAL}


SATURATED = "saturated:"  # how the settings of such a program begin

# clang's OpenMP library is a package of its own: it has the lanes alone.
OPENMP = {"gcc": ["-fopenmp"], "clang": ["-fopenmp-simd", "-DGLEN_SIMD"]}

# Inputs that are the same for all calls, by kind of problem.
CONSTANT = {"conv": ["weights"], "depthwise": ["weights"],
            "depthwise-nhwc": ["weights"],
            "grouped": ["weights"], "conv-i8": ["weights"],
            "conv-bf16": ["weights"], "gemm-i8": ["b"], "gemm-bf16": ["b"]}


class Glen:
    """The compiler of this repository, with options of its own."""

    def __init__(self, glen, label="", options=(), prepack=True):
        self.name = "glen" + (f":{label}" if label else "")
        self.glen, self.options = glen, list(options)
        self.prepack = prepack
        # problem -> what it took from .glen to .c: as written, and where rules
        # changed the program, saturated
        self.seconds = {}
        self.seconds_saturated = {}

    def prepacked(self, problem):
        constant = CONSTANT.get(problem.kind, []) if self.prepack else []
        return [word for name in constant for word in ("--prepack", name)]

    def options_for(self, problem):
        return self.options + self.prepacked(problem)

    def run(self, problem, command, *arguments):
        """What a command of glen prints."""
        try:
            done = subprocess.run(
                [self.glen, command, *arguments, "--quiet"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=LONGEST_COMPILE)
        except subprocess.TimeoutExpired as e:
            raise Broken(f"glen {command} takes more than {LONGEST_COMPILE} s "
                         f"on {problem.name}") from e
        if done.returncode:
            text = done.stderr.strip() or f"exit code {done.returncode}"
            raise Broken(f"glen {command} failed on {problem.name}: "
                         f"{text.splitlines()[0]}")
        return done.stdout

    def compile(self, problem, source, emitted, file):
        self.run(problem, "compile", source, "--name", "kernel",
                 "--emit", emitted, *self.options_for(problem), "-o", file)

    def target(self):
        """The options of `glen compile` that `glen saturate` needs, too."""
        return [word for k, option in enumerate(self.options)
                if option in ("--target", "-t")
                for word in self.options[k:k + 2]]

    def saturate(self, problem, source, file):
        """Writes the program that the rules lead to; False where that is the
        one that was written."""
        report = json.loads(self.run(
            problem, "saturate", source, "--rules", RULES, *self.target(),
            "--param", "fewer-products=2", *self.prepacked(problem), "--json",
            "-o", file))
        return bool(report["rules"])

    def write(self, problem, folder, text, saturated):
        """kernel.c, kernel.h and glue.c of a program; returns the seconds that
        glen took, None where the rules lead to the program as written."""
        source = os.path.join(folder, "kernel.glen")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        started = time.monotonic()
        if saturated:
            better = os.path.join(folder, "saturated.glen")
            if not self.saturate(problem, source, better):
                return None
            source = better
        self.compile(problem, source, "c,h", os.path.join(folder, "kernel.c"))
        seconds = time.monotonic() - started
        manifest = os.path.join(folder, "kernel.json")
        self.compile(problem, source, "manifest", manifest)
        with open(manifest, encoding="utf-8") as f:
            glue = glue_text(json.load(f))
        with open(os.path.join(folder, "glue.c"), "w", encoding="utf-8") as f:
            f.write(glue)
        return seconds

    def emit(self, builder, problem, saturated=False):
        """A folder with kernel.c, kernel.h and glue.c; None where the rules
        lead to the program as written."""
        if not os.path.exists(self.glen):
            raise Broken(f"{self.glen} is gone")
        text = programs.text(problem.kind, **problem.sizes)
        # Scripts, targets and rules count by what they hold.
        options = self.options_for(problem)
        files = [builder.read(o) for o in options if os.path.isfile(o)]
        if saturated:
            files += [builder.read(os.path.join(RULES, name))
                      for name in sorted(os.listdir(RULES))]
        folder = builder.path(("glen", builder.read(self.glen), text,
                               options, files, saturated))
        took = os.path.join(folder, "seconds")
        if not os.path.exists(took):
            os.makedirs(folder, exist_ok=True)
            seconds = self.write(problem, folder, text, saturated)
            with open(took, "w", encoding="utf-8") as f:
                f.write("" if seconds is None else f"{seconds:.3f}")
        seconds = builder.read(took)
        if not seconds:
            return None
        known = self.seconds_saturated if saturated else self.seconds
        known[problem.name] = float(seconds)
        return folder

    def candidates(self, builder, problem, threads):
        yield from self.built(builder, problem, threads, False)
        # A schedule script is one of the loops of the program as written.
        if "--schedule" not in self.options:
            yield from self.built(builder, problem, threads, True)

    def built(self, builder, problem, threads, saturated):
        folder = self.emit(builder, problem, saturated)
        if not folder:
            return
        kernel = os.path.join(folder, "kernel.c")
        for compiler in ("gcc", "clang"):
            if not shutil.which(compiler):
                continue
            if compiler == "clang" and threads > 1:
                continue
            flags = ["-O3", "-march=native", *wide(), "-ffast-math"]
            for chosen in (flags, [*flags[:-1]]):
                chosen = [*chosen, *OPENMP[compiler]]
                program = builder.build(
                    compiler, [*chosen, "-I", folder],
                    [kernel, os.path.join(folder, "glue.c"),
                     builder.worker_object()],
                    ["-lm", "-lpthread"],
                    [os.path.join(folder, "kernel.h")])
                label = " ".join([SATURATED] * saturated +
                                 [compiler, *chosen])
                yield Candidate(label, [program])


# How an element of an array is made from a worker's f32, and the other way round.
NARROWED = {"f32": "x", "bf16": "upper_half(x)"}
WIDENED = {"f32": "x", "i32": "(float)x", "i8": "(float)x", "u8": "(float)x"}


def narrowed(dtype):
    return NARROWED.get(dtype, "x")


def glue_text(manifest):
    """The worker's three functions around a generated kernel.

    Arrays of other types than f32 are copies, made before the time begins and
    read after it has ended."""
    inputs, outputs = manifest["inputs"], manifest["outputs"]
    names = {False: [], True: []}
    declared, prepare, finish = [], [], []
    for k, one in enumerate(inputs):
        name = f"p->in[{k}]"
        if one["dtype"] != "f32":
            name = f"in{k}"
            declared.append(f"static {one['c_type']} *{name};")
            prepare += [
                f"  {name} = worker_block({one['bytes']});",
                f"  for (size_t k = 0; k < p->in_elements[{k}]; k++) {{",
                f"    const float x = p->in[{k}][k];",
                f"    {name}[k] = ({one['c_type']}){narrowed(one['dtype'])};",
                "  }"]
        names[bool(one.get("prepack"))].append(name)
    arguments = names[False]
    for k, one in enumerate(outputs):
        name = f"p->out[{k}]"
        if one["dtype"] != "f32":
            name = f"out{k}"
            declared.append(f"static {one['c_type']} *{name};")
            prepare.append(f"  {name} = worker_block({one['bytes']});")
            finish += [
                f"  for (size_t k = 0; k < p->out_elements[{k}]; k++) {{",
                f"    const {one['c_type']} x = {name}[k];",
                f"    p->out[{k}][k] = {WIDENED[one['dtype']]};",
                "  }"]
        arguments.append(name)
    if names[True]:
        declared.append("static void *prepacked;")
        prepare += ["  prepacked = worker_block(kernel_prepacked_size());",
                    f"  kernel_prepack({', '.join(names[True])}, prepacked);"]
        arguments.append("prepacked")
    line = "\n"
    return f"""#include "kernel.h"
#include "worker.h"
#include <stdint.h>
#include <string.h>

static void *workspace;
{line.join(declared)}

static inline uint16_t
upper_half(float x) {{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (uint16_t)(bits >> 16);
}}

const char *
peer_prepare(problem *p) {{
  (void)p;
  workspace = worker_block(kernel_workspace_size());
{line.join(prepare)}
  return NULL;
}}

void
peer_run(problem *p) {{
  (void)p;
  kernel({', '.join(arguments)}, workspace);
}}

void
peer_finish(problem *p) {{
  (void)p;
{line.join(finish)}
}}
"""


def all_peers(glen, glen_options, glen_variants, prepack, onednn3, openblas):
    """glen_variants: LABEL=OPTIONS, each a peer of its own; onednn3, openblas:
    LABEL=FOLDER, too."""
    out = [Glen(glen, "", glen_options, prepack)]
    for text in openblas:
        label, _, prefix = text.partition("=")
        out.append(OpenBlas(label, prefix))
    for text in onednn3:
        label, _, prefix = text.partition("=")
        out.append(OneDnn3(label, prefix))
    polly, parallel = ["-mllvm", "-polly"], ["-mllvm", "-polly-parallel"]
    for text in glen_variants:
        label, _, options = text.partition("=")
        out.append(Glen(glen, label, shlex.split(options), prepack))
    out += [
        Naive("gcc", "gcc", []),
        Naive("clang", "clang", []),
        Naive("polly", "clang-14", polly, parallel),
        Naive("gcc-polybench", "gcc", [], None, "-polybench"),
        Naive("polly-polybench", "clang-14", polly, parallel, "-polybench"),
        OpenBlas(),
        OneDnn("onednn-plain", pool=["plain"], gemm=["plain"],
               conv=["plain-direct", "packed-direct", "plain-auto",
                     "packed-auto"]),
        OneDnn("onednn-blocked", pool=["blocked-8", "blocked-16"],
               conv=["blocked-direct", "blocked-auto"]),
        Halide("halide", MANUAL),
        Halide("halide-auto", AUTO),
    ]
    return out
