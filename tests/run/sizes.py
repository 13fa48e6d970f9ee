#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs whose sizes are known when they are called, against interpreters.

usage: sizes.py GLEN [COUNT [SEED [FILE...]]]

Each program of tests/sizes (or FILE), of loops and of the language, is compiled once, for
all sizes in its bounds, and called at COUNT of them: both bounds of every size,
then random ones (sizes.c).  What it gives is compared with what the interpreter of its
kind gives for the text with the numbers put in; the bytes behind each array must be as they were, and sizes just
outside of the bounds must be refused.  Code for any x86-64 is called at fewer under the
sanitizers as well, and the code that takes a call is the one that glen tiling says.
Then the same of each program as a script schedules it, one
that lies beside it or one of random commands, those that are refused left out;
and as it is fused in tiles of a few iterations.
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
ROOT = os.path.dirname(os.path.dirname(HERE))

SIZE = re.compile(r"size (\w+): (\d+) to (\d+)(?: multiple (\d+))?$", re.M)
ARRAY = re.compile(r"(?:input|output) \w+: ", re.M)
LOOP = re.compile(r"^( *)(?:(?:parallel|unroll|vectorize\(.*?\)) )?for (\w+) in", re.M)
STMT = re.compile(r"^ *(\w+)(?:\[.*?\])?: ", re.M)
FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
         "-fopenmp", "-shared", "-fPIC"]
# The address sanitizer sees accesses by null and beyond what is allocated, too.
SANITIZE = ["-O0", "-fsanitize=address,undefined",
            "-fno-sanitize=null,object-size", "-fno-sanitize-recover"]
CALLS = 200     # of a program, half as many as it is scheduled, a quarter as it is fused
SANITIZED = 12  # under the sanitizers, and with a script a third of these
TOLD = 20       # of glen tiling
CODE = """#include "{code}"
extern const char *const sizes_names[];
const char *const sizes_names[] = {{{names}, 0}};
size_t sizes_room(const int64_t *sizes);
size_t sizes_room(const int64_t *sizes) {{
  return {name}_workspace_size({sizes});
}}
int sizes_call(const int64_t *sizes, void *const *arrays, void *workspace);
int sizes_call(const int64_t *sizes, void *const *arrays, void *workspace) {{
  return {name}({sizes}, {arrays}, workspace);
}}
"""


def cc(*words):
    subprocess.run([os.environ.get("CC", "cc"), *words], check=True)


class Drivers:
    """sizes.c, plain and under the sanitizers."""

    def __init__(self, glen, folder):
        build = os.path.abspath(os.path.join(os.path.dirname(glen), "../.."))
        library = os.path.join(build, "src/api")
        links = ["-I" + os.path.join(ROOT, "include"),
                 "-I" + os.path.join(build, "include"), "-L" + library,
                 "-lglen", "-Wl,-rpath," + library, "-ldl", "-lm", "-fopenmp"]
        source = os.path.join(HERE, "sizes.c")
        self.plain = os.path.join(folder, "plain")
        self.sanitized = os.path.join(folder, "sanitized")
        cc("-O2", "-Wall", "-Werror", source, "-o", self.plain, *links)
        cc(*SANITIZE, "-DGUARD=0", source, "-o", self.sanitized, *links)


class Program:
    """A text, and the libraries made of it."""

    def __init__(self, glen, path, folder, schedule):
        self.glen, self.path, self.folder = glen, path, folder
        self.schedule = schedule
        text = loops_of(glen, path)
        stem = os.path.splitext(os.path.basename(path))[0]
        self.name = re.sub(r"\W", "_", stem)
        self.sizes = [(m[0], int(m[1]), int(m[2]), int(m[3] or 1))
                      for m in SIZE.findall(text)]
        self.arrays = len(ARRAY.findall(text))
        # Parts of many sizes are many, and tried by programs of fewer; and so
        # are those of what is fused.
        fewest = 2 if "--fuse" in schedule else 3
        self.keys = ["--keys", "0"] if len(self.sizes) > fewest else []

    def library(self, name, *options, flags=()):
        """The code and functions that take its sizes and arrays in arrays."""
        code, out = (os.path.join(self.folder, name + end)
                     for end in (".c", ".so"))
        if not os.path.exists(code):
            subprocess.run([self.glen, "compile", "-q", self.path, *options,
                            *self.schedule, *self.keys, "--name", self.name, "-o", code],
                           check=True)
        numbers = ", ".join(f"sizes[{k}]" for k in range(len(self.sizes)))
        arrays = ", ".join(f"arrays[{k}]" for k in range(self.arrays))
        called = os.path.join(self.folder, name + ".call.c")
        with open(called, "w") as f:
            f.write(CODE.format(
                code=code, name=self.name, sizes=numbers, arrays=arrays,
                names=", ".join(f'"{n}"' for n, *_ in self.sizes)))
        cc(*FLAGS, *flags, called, "-o", out, "-lm")
        return out

    def numbers(self, at):
        return (ctypes.c_int64 * len(self.sizes))(
            *[at[name] for name, *_ in self.sizes])

    def choose(self, r, k):
        """Call k: the least, the greatest, then any sizes."""
        if k < 2:
            return {n: hi - hi % m if k else lo + -lo % m
                    for n, lo, hi, m in self.sizes}
        return {n: r.randrange(lo + -lo % m, hi + 1, m)
                for n, lo, hi, m in self.sizes}

    def refuses(self, library):
        """Each size one beyond its bounds, or between multiples."""
        code = load(library)
        null = (ctypes.c_void_p * self.arrays)()
        inside = {n: hi - hi % m for n, lo, hi, m in self.sizes}
        for name, lo, hi, m in self.sizes:
            for wrong in {lo - 1, hi + 1, hi + m, -hi, 2 ** 40}:
                at = self.numbers({**inside, name: wrong})
                if code.sizes_call(at, null, None) != 1 or code.sizes_room(at):
                    return False
        return True

    def answers(self, driver, library, calls):
        """What the driver says of each call."""
        lines = "".join(" ".join(str(at[n]) for n, *_ in self.sizes) + "\n"
                        for at in calls)
        done = subprocess.run(
            [driver, library, self.path], input=lines, text=True,
            stdout=subprocess.PIPE,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
        said = done.stdout.split("\n")[:-1]
        return said + ["it ends with an error"] * (len(calls) - len(said))

    def tried(self, driver, library, calls):
        """How many calls are right, and how many are not."""
        passed = 0
        for at, said in zip(calls, self.answers(driver, library, calls)):
            passed += said == "ok"
            if said != "ok":
                print(f"FAIL {self.path} at {at}: {said}")
        return passed, len(calls) - passed


def load(library):
    code = ctypes.CDLL(library)
    code.sizes_room.restype = ctypes.c_size_t
    return code


def tiles(program, library, r):
    """Keys and workspaces of the code for one target, by C and by glen."""
    code = load(library)
    calls = [program.choose(r, k) for k in range(TOLD)]
    command = [program.glen, "tiling", "--json", program.path,
               *program.keys]
    for name, *_ in program.sizes:
        command += ["--size", name + "=" + ",".join(str(at[name]) for at in calls)]
    said = json.loads(subprocess.run(command, check=True, text=True,
                                     stdout=subprocess.PIPE).stdout)
    key_of = getattr(code, program.name + "_tiling", lambda *at: 0)
    same = 0
    for at, call in zip(calls, said):
        numbers = program.numbers(at)
        ok = (call["at"] == [{"name": n, "value": at[n]}
                             for n, *_ in program.sizes]
              and call["key"] == key_of(*numbers)
              and call["workspace"] == code.sizes_room(numbers))
        same += ok
        if not ok:
            print(f"FAIL {program.path}: tiling at {at}")
    return same, TOLD - same


@functools.cache
def loops_of(glen, path):
    """The text, or the loops that the program is lowered to."""
    if path.endswith(".loops"):
        return open(path).read()
    return subprocess.run([glen, "compile", "-q", path, "--keys", "0", "--emit", "loops"],
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


def check(program, drivers, calls, sanitized, r):
    """A program's counts of what is right, and of what is not."""
    is_term = not program.path.endswith(".loops")
    # A schedule is the same for each variant; as written, all of them are tried.
    some = ["--dispatch", "avx2"] if program.schedule and is_term else []
    library = program.library("all", *some)
    counts = [program.tried(drivers.plain, library,
                            [program.choose(r, k) for k in range(calls)])]
    refused = program.refuses(library)
    counts.append((refused, not refused))
    if not refused:
        print(f"FAIL {program.path}: sizes beyond its bounds are taken")
    options = ["--dispatch", "none"] if is_term else []
    if not program.schedule and options:
        counts.append(tiles(program, program.library("one", *options), r))
    library = program.library("one", *options, flags=SANITIZE)
    counts.append(program.tried(drivers.sanitized, library,
                                [program.choose(r, k) for k in range(sanitized)]))
    return [sum(c) for c in zip(*counts)]


def fusion_of(r):
    """Tiles that most sizes cut."""
    if r.random() < 0.3:
        return ["--fuse", r.choice(["smart", "max", "post-tile"])]
    return ["--fuse", "post-tile", "--recompute", r.choice(["1.5", "9"]),
            "--tile", f"{r.choice([1, 2, 3, 8])},{r.choice([3, 4, 7, 16])}"]


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
    calls = int(sys.argv[2]) if len(sys.argv) > 2 else CALLS
    r = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    passed = failed = 0
    here = os.path.join(HERE, "..", "sizes", "*.")
    with tempfile.TemporaryDirectory() as shared:
        drivers = Drivers(glen, shared)
        for path in sys.argv[4:] or sorted(glob.glob(here + "loops")
                                           + glob.glob(here + "glen")):
            for way in ("written", "scheduled", "fused"):
                with tempfile.TemporaryDirectory() as folder:
                    schedule = []
                    if way == "scheduled":
                        schedule = ["--schedule", script_of(glen, path, folder, r)]
                    elif way == "fused":
                        schedule = fusion_of(r)
                    program = Program(glen, path, folder, schedule)
                    part = {"written": 1, "scheduled": 2, "fused": 4}[way]
                    right, wrong = check(
                        program, drivers, calls // part,
                        SANITIZED // 3 if schedule else SANITIZED, r)
                    if wrong:
                        print(" ".join(schedule))
                    if wrong and way == "scheduled":
                        print(open(schedule[1]).read())
                passed, failed = passed + right, failed + wrong
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
