#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels chosen by `contract`: what is printed leads to the same bytes, what is
edited is right or refused.

usage: contracts.py GLEN [COUNT [SEED]]

The programs are the examples and those of contractions.py. Of each, the script
that glen prints must name every kernel of the C, and the sums that are none, and
lead to the same C again.
Each sum of products of an example has one line there as long as its loops are
as they are written, also where it is in parts; is a kernel where a script asks
for one, or is refused with a reason; in each line, another number
of rows and another depth make other C, and too many rows are refused.  Of the
programs of contractions.py, lines of `contract` are made at random: each is
refused with a reason, or its kernel is compiled with sanitizers and compared
with the interpreter. Each of the kinds of answer must come about.
"""
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

import contractions as programs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
MODES = ["direct", "block", "whole", "windows"]
SIZES = {"rows": [1, 2, 3, 4, 6, 7, 14, 15], "vectors": [1, 2, 3, 4, 5],
         "depth": [1, 2, 3, 5, 16, 64, 1000], "tile_rows": [1, 5, 8, 30, 500],
         "tile_columns": [1, 8, 24, 100], "block_rows": [1, 6, 20, 300]}


def script_of(r, name):
    words = ["contract", name]
    if r.random() < 0.06:
        return " ".join(words + ["as=loops"]) + "\n"
    for option, values in SIZES.items():
        if r.random() < 0.4:
            words.append(f"{option}={r.choice(values)}")
    for option in "xy":
        if r.random() < 0.3:
            words.append(f"{option}={r.choice(MODES)}")
    if r.random() < 0.4:
        words.append("swap=" + r.choice(["true", "false"]))
    return " ".join(words) + "\n"


class Case:
    def __init__(self, glen, folder, source, options):
        self.glen, self.folder = glen, folder
        self.source, self.options = source, options
        self.script = os.path.join(folder, "case.sched")

    def call(self, command, *more):
        return subprocess.run(
            [self.glen, command, self.source, *self.options, *more],
            stdin=subprocess.DEVNULL, text=True, capture_output=True,
            timeout=300, cwd=self.folder)

    def emitted(self, kind, *more):
        done = self.call("compile", "--emit", kind, *more)
        return done.stdout if done.returncode == 0 else None

    def scheduled(self, script):
        with open(self.script, "w", encoding="utf-8") as f:
            f.write(script)
        return ["--schedule", self.script]


def kernels_of(c):
    """Kernels of sums of products: each has a function that is called for a
    panel."""
    return len(re.findall(r"^\w+_panel\(", c, re.M))


def is_kernel(line):
    return " as=" not in line


def without_remark(c):
    """The C says where glen chose to schedule; a script is the user's."""
    return c and re.sub(r"/\* Large enough to be scheduled.*?\*/\n", "", c,
                        flags=re.S)


def replayed(case, *options):
    """The printed line of each sum of products, and what is wrong with the
    script."""
    plain, script = (case.emitted(k, *options) for k in ("c", "sched"))
    if plain is None or script is None:
        return {}, "not compiled"
    lines = {line.split()[1]: line for line in script.splitlines()
             if line.startswith("contract ")}
    functions = kernels_of(plain)  # sums that are alike share one
    named = sum(is_kernel(line) for line in lines.values())
    if named < functions or bool(named) != bool(functions):
        return lines, "a kernel is not named:\n" + script
    again = case.emitted("c", *case.scheduled(script))
    return lines, None if without_remark(again) == without_remark(
        plain) else "other C by " + script


def edited(case, r, name, seen):
    script = script_of(r, name)
    done = case.call("run", "--check", "--sanitize", *case.scheduled(script))
    refused = "[no-kernel]" in done.stderr and done.returncode == 1
    seen["refused" if refused else "run"] += 1
    if refused or done.returncode == 0:
        return None
    return f"{script}{done.stdout[-500:]}{done.stderr[-1500:]}"


def random_case(glen, folder, r, k):
    make = [programs.matmul, programs.conv_nchw, programs.conv_nhwc,
            programs.conv_any_rank][k % 4]
    dtype = r.choice(["f32", "f64", "i32"])
    shape, text = make(r, dtype)
    text += programs.consumed(r, shape, dtype)
    files = {"own.target": programs.TARGET % (*r.choice(programs.VECTORS), ""),
             "case.glen": text}
    for name, content in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(content)
    return Case(glen, folder, os.path.join(folder, "case.glen"),
                ["--target", "own.target", "--fuse", "min", "--quiet"])


def check_random(glen, folder, k, seen):
    r = random.Random(k)
    case = random_case(glen, folder, r, k)
    lines, fault = replayed(case)
    for _ in range(3 if lines and not fault else 0):
        fault = fault or edited(case, r, r.choice(list(lines)), seen)
    if fault:
        with open(case.source, encoding="utf-8") as f:
            fault += f.read()
    return fault


def is_refused(case, script):
    """Whether a script is refused because no such kernel can be."""
    done = case.call("compile", "--emit", "c", *case.scheduled(script))
    return done.returncode == 1 and re.search(
        r"error: contract: .+ \[no-kernel\]", done.stderr)


def changed(case, line):
    """What is wrong with other numbers in a printed line."""
    plain = case.emitted("c", *case.scheduled(line))
    for option, value in re.findall(r" (rows|depth)=(\d+)", line):
        other = re.sub(rf" {option}=\d+", f" {option}={int(value) - 1 or 2}",
                       line)
        c = case.emitted("c", *case.scheduled(other))
        if c is None or c == plain:
            return f"refused, or the same C, by {other}"
    if not is_refused(case, re.sub(r" rows=\d+", " rows=99", line)):
        return "99 rows are not refused in " + line
    return None


def answered(case, name, seen):
    """What is wrong where a script asks for a kernel that glen did not choose:
    it is made, or refused with a reason."""
    script = f"contract {name}\n"
    c = case.emitted("c", *case.scheduled(script))
    refused = is_refused(case, script)
    seen["refused" if refused else "run"] += 1
    if refused or c and kernels_of(c) > kernels_of(case.emitted("c")):
        return None
    return f"neither a kernel nor a reason: {script}"


def check_example(glen, folder, path, seen):
    case = Case(glen, folder, path, ["--quiet", "--dispatch", "none"])
    lines, fault = replayed(case)
    seen["kernels of examples"] += len(lines)
    loops = case.emitted("loops", "--fuse", "none")
    products = dict(re.findall(r"(\w+): (\w+)\[.* \+= .* \* ", loops or ""))
    as_written, wrong = replayed(case, "--fuse", "none")
    fault = fault or wrong
    for array in sorted(set(products.values())):
        parts = {name for name, of in products.items() if of == array}
        seen["sums in parts"] += len(parts) > 1
        if len(parts & set(as_written)) != 1:
            fault = fault or f"not one line for {array}"
    for name in sorted(products):
        fault = fault or (changed(case, lines[name] + "\n")
                          if is_kernel(lines.get(name, " as=loops"))
                          else answered(case, name, seen))
    return fault


def main():
    glen = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    seen = {"refused": 0, "run": 0, "kernels of examples": 0,
            "sums in parts": 0}
    faults = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(glob.glob(os.path.join(ROOT, "examples/*.glen"))):
            faults[path] = check_example(glen, folder, path, seen)
        for k in range(seed, seed + count):
            faults[f"seed {k}"] = check_random(glen, folder, k, seen)
    for kind, n in seen.items():
        faults[kind] = None if n else "was not seen"
    failed = 0
    for name, fault in faults.items():
        if fault:
            print(f"contracts: {name}: {fault}")
            failed += 1
    print(f"{len(faults) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
