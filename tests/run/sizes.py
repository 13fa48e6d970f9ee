#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs whose sizes are known when they are called, against interpreters.

usage: sizes.py GLEN [COUNT [SEED]]

Each program of tests/sizes, of loops and of the language, is compiled once, for
all sizes in its bounds, and called at COUNT of them: both bounds of every size,
then random ones.  What it gives is compared with what the interpreter of its
kind gives for the text with the numbers put in; the bytes behind each array must be as they were, and sizes just
outside of the bounds must be refused.  One of the calls is made under the
sanitizers as well, and the code that takes a call is the one that glen tiling says.
Then the same of each program as a script schedules it, one
that lies beside it or one of random commands, those that are refused left out.
"""
import ctypes
import functools
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "onnx"))
import npy  # noqa: E402

SIZE = re.compile(r"size (\w+): (\d+) to (\d+)(?: multiple (\d+))?$", re.M)
ARRAY = re.compile(r"(input|output) (\w+): (\w+)\[(.*)\]$", re.M)
LOOP = re.compile(r"^( *)(?:(?:parallel|unroll|vectorize\(.*?\)) )?for (\w+) in", re.M)
STMT = re.compile(r"^ *(\w+)(?:\[.*?\])?: ", re.M)
TYPES = {"f32": ("<f4", "f", ctypes.c_float), "i32": ("<i4", "i", ctypes.c_int32)}
GUARD = 64  # elements behind an array that nothing may touch
FLAGS = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
         "-fopenmp", "-shared", "-fPIC"]


class Program:
    """A text, the library made of it, and its parameters."""

    def __init__(self, glen, path, folder, script=None):
        self.glen, self.path, self.folder = glen, path, folder
        self.schedule = ["--schedule", script] if script else []
        self.text = text = loops_of(glen, path)
        stem = os.path.splitext(os.path.basename(path))[0]
        self.name = re.sub(r"\W", "_", stem)
        self.sizes = [(m[0], int(m[1]), int(m[2]), int(m[3] or 1))
                      for m in SIZE.findall(text)]
        self.arrays = [(m[0], m[1], m[2], m[3].replace("/", "//"))
                       for m in ARRAY.findall(text)]
        c, so = os.path.join(folder, self.name + ".c"), self.name + ".so"
        subprocess.run([glen, "compile", "-q", path, *self.schedule, "-o", c],
                       check=True)
        subprocess.run([os.environ.get("CC", "cc"), *FLAGS, c, "-o",
                        os.path.join(folder, so), "-lm"], check=True)
        library = ctypes.CDLL(os.path.join(folder, so))
        self.run = getattr(library, self.name)
        self.bytes = getattr(library, self.name + "_workspace_size")
        self.bytes.restype = ctypes.c_size_t

    def numbers(self, at):
        return [ctypes.c_int64(at[name]) for name, *_ in self.sizes]

    def choose(self, r, k):
        """Call k: the least, the greatest, then any sizes."""
        if k < 2:
            return {n: hi - hi % m if k else lo + -lo % m
                    for n, lo, hi, m in self.sizes}
        return {n: r.randrange(lo + -lo % m, hi + 1, m)
                for n, lo, hi, m in self.sizes}

    def refuses(self):
        """Each size one beyond its bounds, or between multiples."""
        inside = {n: hi - hi % m for n, lo, hi, m in self.sizes}
        for name, lo, hi, m in self.sizes:
            for wrong in {lo - 1, hi + 1, hi + m, -hi, 2 ** 40}:
                at = self.numbers({**inside, name: wrong})
                null = [None] * (len(self.arrays) + 1)
                if self.run(*at, *null) != 1 or self.bytes(*at) != 0:
                    return False
        return True

    def call(self, at, data):
        """The outputs, as flat lists; None where a guard was written."""
        buffers = []
        for (role, name, dtype, _), shape in zip(self.arrays, self.shapes(at)):
            n, kind = count(shape), TYPES[dtype][2]
            b = (kind * (n + GUARD))(*([7] * (n + GUARD)))
            b[:n] = data.get(name, [9] * n)
            buffers.append((role, n, b))
        room = self.bytes(*self.numbers(at))
        workspace = ctypes.create_string_buffer(b"\xa5" * (room + 192))
        start = -ctypes.addressof(workspace) % 64
        status = self.run(*self.numbers(at), *[b for _, _, b in buffers],
                          ctypes.byref(workspace, start))
        clean = all(x == 7 for _, n, b in buffers for x in b[n:])
        clean = clean and set(workspace.raw[start + room:-1]) <= {0xa5}
        if status or not clean:
            return None
        return [list(b[:n]) for role, n, b in buffers if role == "output"]

    def shapes(self, at):
        return [[eval(d, {}, dict(at)) for d in shape.split(",") if d]
                for *_, shape in self.arrays]

    def expected(self, at, data):
        command = [self.glen, "run", "-q", self.path, "--interpret", "--print", "0"]
        for name, n in at.items():
            command += ["--size", f"{name}={n}"]
        outputs = []
        for (role, name, dtype, _), shape in zip(self.arrays, self.shapes(at)):
            file = os.path.join(self.folder, name + ".npy")
            if role == "input":
                npy.save(file, TYPES[dtype][0], shape, data[name])
                command += ["--input", f"{name}={file}"]
            else:
                outputs.append(name)
        out = os.path.join(self.folder, "out.npy")
        subprocess.run([*command, "-o", out], check=True,
                       stdout=subprocess.DEVNULL)
        files = [out if len(outputs) == 1 else f"{out[:-4]}.{name}.npy"
                 for name in outputs]
        return [list(npy.load(f)[2]) for f in files]

    def data(self, r, at):
        return {name: [r.uniform(-1, 1) for _ in range(count(shape))]
                for (role, name, *_), shape in zip(self.arrays, self.shapes(at))
                if role == "input"}

    def sanitized(self, at):
        command = [self.glen, "run", "-q", self.path, "--check",
                   "--sanitize", *self.schedule]
        for name, n in at.items():
            command += ["--size", f"{name}={n}"]
        return subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0


def tiles(program, r, calls=3):
    """Keys and workspaces of the code for one target, by C and by glen."""
    if not program.path.endswith(".glen"):
        return 0, 0
    c = os.path.join(program.folder, "tiling.c")
    so = os.path.join(program.folder, "tiling.so")
    subprocess.run([program.glen, "compile", "-q", program.path, "--dispatch",
                    "none", "--name", "tiling", "-o", c], check=True)
    subprocess.run([os.environ.get("CC", "cc"), *FLAGS, c, "-o", so, "-lm"],
                   check=True)
    library = ctypes.CDLL(so)
    library.tiling_workspace_size.restype = ctypes.c_size_t
    has_keys = hasattr(library, "tiling_tiling")
    same = 0
    for k in range(calls):
        at = program.choose(r, k)
        command = [program.glen, "tiling", "--json", program.path]
        for name, n in at.items():
            command += ["--size", f"{name}={n}"]
        said = json.loads(subprocess.run(command, check=True, text=True,
                                         stdout=subprocess.PIPE).stdout)
        key = library.tiling_tiling(*program.numbers(at)) if has_keys else 0
        ok = (said["key"] == key and said["workspace"]
              == library.tiling_workspace_size(*program.numbers(at)))
        same += ok
        if not ok:
            print(f"FAIL {program.path}: tiling at {at}")
    return same, calls - same


@functools.cache
def loops_of(glen, path):
    """The text, or the loops that the program is lowered to."""
    if path.endswith(".loops"):
        return open(path).read()
    return subprocess.run([glen, "compile", "-q", path, "--emit", "loops"],
                          check=True, stdout=subprocess.PIPE, text=True).stdout


def random_script(text, r):
    """Commands on loops and statements of the text, each tried."""
    loops = [(len(m[0]), m[1]) for m in LOOP.findall(text)]
    names = [name for _, name in loops]
    inside = [(a[1], b[1]) for a, b in zip(loops, loops[1:]) if b[0] > a[0]]
    stmts = STMT.findall(text[text.index("{"):])
    lines = []
    for _ in range(8):
        x, (a, b) = r.choice(names), r.choice(inside)
        lines.append(r.choice([
            f"split {x} [-1, {r.choice([2, 3, 8])}]",
            f"split {x} [-1, 2, {r.choice([2, 5])}]",
            f"tile [{a}, {b}] [{r.choice([2, 4, 7])}, {r.choice([3, 8, 16])}]",
            f"reorder [{b}, {a}]", f"fuse [{a}, {b}]", f"parallel {x}",
            f"vectorize {x} {r.choice([4, 8])}",
            f"vectorize {x} 8 tail=mask", f"separate {x}", f"serial {x}",
            f"fission {a} {b}", f"fission {a} {r.choice(stmts)}",
            f"merge {x} {r.choice(names)}", f"unroll {x}",
            f"shift {r.choice(stmts)} {a} {r.choice([1, 3])}",
            f"skew {b} {a} {r.choice([1, -2])}"]))
    return "".join(f"try {{ {line} }}\n" for line in lines)


def count(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def close(a, b):
    return len(a) == len(b) and all(
        abs(x - y) <= 1e-4 * max(1, abs(x), abs(y)) for x, y in zip(a, b))


def check(program, calls, r):
    passed = failed = 0
    for k in range(calls):
        at = program.choose(r, k)
        data = program.data(r, at)
        got, want = program.call(at, data), program.expected(at, data)
        if got is not None and all(close(g, w) for g, w in zip(got, want)):
            passed += 1
        else:
            failed += 1
            print(f"FAIL {program.path} at {at}"
                  f"{'' if got else ': what lies behind an array was written'}")
    for what, ok in (("refuses", program.refuses()),
                     ("sanitized", program.sanitized(program.choose(r, 2)))):
        passed, failed = passed + ok, failed + (not ok)
        if not ok:
            print(f"FAIL {program.path}: {what}")
    return passed, failed


def script_of(glen, path, folder, r):
    beside = path[:-len(".loops")] + ".sched"
    if path.endswith(".loops") and os.path.exists(beside):
        return beside
    script = os.path.join(folder, "random.sched")
    with open(script, "w") as f:
        f.write(random_script(loops_of(glen, path), r))
    return script


def main():
    glen = sys.argv[1]
    calls = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    r = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    passed = failed = 0
    here = os.path.join(HERE, "..", "sizes", "*.")
    for path in sorted(glob.glob(here + "loops") + glob.glob(here + "glen")):
        for scheduled in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                script = script_of(glen, path, folder, r) if scheduled else None
                program = Program(glen, path, folder, script)
                more, wrong = check(program,
                                    calls // 2 if scheduled else calls, r)
                if not scheduled:
                    same, other = tiles(program, r)
                    more, wrong = more + same, wrong + other
                if wrong and script:
                    print(open(script).read())
            passed, failed = passed + more, failed + wrong
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
