# SPDX-License-Identifier: MIT
"""A model as glen compiles it: a shared object, its arrays, and its calls."""
import ctypes
import os
import re
import subprocess
import time

import numpy

DTYPES = {"f64": numpy.float64, "f32": numpy.float32, "f16": numpy.float16,
          "i64": numpy.int64, "i32": numpy.int32, "u32": numpy.uint32,
          "i16": numpy.int16, "u16": numpy.uint16, "i8": numpy.int8,
          "u8": numpy.uint8, "bool": numpy.bool_}
TENSOR = re.compile(r'^\(tensor\s+(\S+)\s+\(shape([\s0-9]*)\)\s+(\w+)'
                    r'(?:\s+:data\s+"([^"]*)"\s+(\d+))?\)', re.M)
ROW = re.compile(r"^ \*   (\w+) +(in|out) +(\w+)\(([0-9, ]*)\)")
SIZE = re.compile(r"^(\w+)_(workspace|prepacked)_size\(void\) \{\n"
                  r"  return (\d+);", re.M)
# A step of the net as it stands in the function's body: where the call of a
# kernel begins.
STEP = re.compile(r"^  (net_k\d+\(.*)$")
NOTE = re.compile(r"^  /\* (.*) \*/$")


class Failed(Exception):
    """A model that glen cannot compile, or the C compiler."""


def call(command, folder):
    began = os.times()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    ended = os.times()
    if done.returncode:
        raise Failed(f"{' '.join(command[:2])}: exit code {done.returncode}: "
                     f"{done.stderr[:500]}")
    return sum(ended[2:4]) - sum(began[2:4])


def c_name(name):
    return re.sub(r"\W", "_", name)


def aligned(bytes_, dtype=numpy.uint8):
    """Memory that begins at a line of the cache."""
    raw = numpy.zeros(bytes_ + 64, numpy.uint8)
    at = -raw.ctypes.data % 64
    return raw[at:at + bytes_].view(dtype)


def timed(text):
    """C that adds up the time of each step, and the steps' names."""
    names, note, out = [], "", []
    for line in text.split("\n"):
        said, step = NOTE.match(line), STEP.match(line)
        note = said[1] if said else note
        if step:
            kernel = step[1].split("(")[0]
            out.append(f"  glen_clock({len(names)}); {step[1]}")
            names.append(f"{kernel}: {note}")
            continue
        if line == "  return 0;":
            out.append(f"  glen_clock({len(names)});")
        out.append(line)
    clock = f"""#include <time.h>
double glen_times[{len(names) + 1}];
static void
glen_clock(int step) {{
  static struct timespec last;
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  if (step)
    glen_times[step - 1] += (double)(now.tv_sec - last.tv_sec) +
        1e-9 * (double)(now.tv_nsec - last.tv_nsec);
  last = now;
}}
"""
    return clock + "\n".join(out), names


class Net:
    """The model of a folder, compiled in another one."""

    def __init__(self, glen, model, work, options, cc, flags, prepack=True,
                 dims=(), profile=False):
        dim = [f"--dim={d}" for d in dims]
        call([glen, "import", model, "-o", "net.glen", "-q", *dim], work)
        weights = self.read_program(work)
        pack = [f"--prepack={w}" for w in weights if prepack]
        self.compile_s = call([glen, "compile", "net.glen", "--name", "net",
                               "-o", "net.c", "-q", *options, *pack], work)
        path = os.path.join(work, "net.c")
        with open(path) as f:
            text = f.read()
        self.c_bytes, self.steps = len(text), []
        if profile:
            text, self.steps = timed(text)
            path = os.path.join(work, "timed.c")
            with open(path, "w") as f:
                f.write(text)
        # A name of its own: an object that is loaded stays loaded.
        self.cc_s = call([*cc, *flags, "-shared", "-fPIC", "-o", path + ".so",
                          path, "-lm"], work)
        self.library = ctypes.CDLL(path + ".so")
        self.bind(work, text, weights if prepack else [])

    def read_program(self, work):
        with open(os.path.join(work, "net.glen")) as f:
            self.tensors = {t[1]: t for t in TENSOR.finditer(f.read())}
        return [name for name, t in self.tensors.items() if t[4]]

    def array(self, work, name):
        """An input of the program: its elements from the file, or zeros."""
        found = self.tensors[name]
        shape = [int(d) for d in found[2].split()]
        dtype = numpy.dtype(DTYPES[found[3]])
        count = int(numpy.prod(shape, dtype=numpy.int64))
        out = aligned(count * dtype.itemsize, dtype).reshape(shape)
        if found[4]:
            out.reshape(-1)[:] = numpy.fromfile(
                os.path.join(work, found[4]), dtype, count, offset=int(found[5]))
        return out

    def bind(self, work, text, packed):
        """Arrays in the order of the C function's parameters."""
        plain = {c_name(n): n for n in self.tensors}
        with open(os.path.join(work, "net.h")) as f:
            header = f.read()
        rows = [ROW.match(line) for line in header.split("\n")]
        self.arrays, self.outputs = {}, []
        for row in filter(None, rows):
            if row[2] == "in":
                self.arrays[row[1]] = self.array(work, plain[row[1]])
                continue
            shape = [int(d) for d in row[4].replace(",", " ").split()]
            dtype = numpy.dtype(DTYPES[row[3]])
            count = int(numpy.prod(shape, dtype=numpy.int64))
            self.arrays[row[1]] = aligned(count * dtype.itemsize,
                                          dtype).reshape(shape)
            self.outputs.append(row[1])
        self.inputs = [n for n in self.arrays if n in plain
                       and not self.tensors[plain[n]][4]]
        hidden = {c_name(n) for n in packed}
        sizes = {m[2]: int(m[3]) for m in SIZE.finditer(text)}
        self.workspace = aligned(max(sizes.get("workspace", 0), 64))
        arguments = [self.pointer(a) for n, a in self.arrays.items()
                     if n not in hidden]
        if hidden:
            self.packed = aligned(max(sizes.get("prepacked", 0), 64))
            self.library.net_prepack(
                *[self.pointer(a) for n, a in self.arrays.items()
                  if n in hidden], self.pointer(self.packed))
            arguments.append(self.pointer(self.packed))
        self.arguments = [*arguments, self.pointer(self.workspace)]

    @staticmethod
    def pointer(array):
        return ctypes.c_void_p(array.ctypes.data)

    def set(self, values):
        """Inputs, in the order of the model."""
        for name, value in zip(self.inputs, values):
            self.arrays[name][...] = value

    def run(self):
        self.library.net(*self.arguments)

    def profile(self, seconds):
        """Milliseconds of processor time of each step, the mean of some runs."""
        times = (ctypes.c_double * (len(self.steps) + 1)).in_dll(
            self.library, "glen_times")
        self.run()
        ctypes.memset(times, 0, ctypes.sizeof(times))
        runs, end = 0, time.monotonic() + seconds
        while time.monotonic() < end or runs < 3:
            self.run()
            runs += 1
        return [(1e3 * t / runs, name)
                for t, name in zip(times, self.steps)]
