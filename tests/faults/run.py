#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls of the C library fail under glen, one after the other.

    run.py GLEN [--sanitized] [--most N] [--only TEXT] [--allow TEXT]

Each command is run once without a fault, which counts its calls (fault.c);
then once for each call of each function, at most N of a function, evenly
spread, with that call failing, and with all later ones failing as well.  A run
may succeed, and then its outputs are those of the run without a fault; or it
ends with an exit code of the documented ones and says why.  Output files are
then as they were before or complete, all of one command alike, and nothing
else is left in the folder or among temporary files.  --sanitized: glen is
built with sanitizers, whose complaints fail, leaks among them; memory is not
made to fail there, as the sanitizers have allocators of their own.

Where memory fails once inside the integer set library, what it would have
simplified stays as it was, and a proof is unknown: such a run may end well with
another, complete answer.  These are counted apart, as are complaints that hold
a TEXT that is allowed."""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
OLD = b"what was here before\n"

PROGRAM = """(tensor x (shape 3 8) f32)
(tensor w (shape 5 8) f32)
(let y (compute relu (compute dotProd (cartProd (access x 1) (access w 1)))))
(output y)
"""
OTHER = PROGRAM
LOOPS = """input A: f32[8, 8]
output B: f32[8, 8]
for i in 0..8 {
  for j in 0..8 {
    S: B[i, j] = A[i, j] * 2
  }
}
"""
RULES = """(rule relu-twice "Once is enough."
  (compute relu (compute relu ?a)) => (compute relu ?a))
"""
FILES = {"p.glen": PROGRAM, "q.glen": OTHER, "l.loops": LOOPS,
         "r.rules": RULES, "s.sched": "a, b = split j [-1, 4]; vectorize b 4\n"}

# Name, arguments, output files.
COMMANDS = [
    ("compile", ["compile", "p.glen", "-o", "o.c"], ["o.c", "o.h"]),
    ("compile-rules", ["compile", "p.glen", "--rules", "r.rules", "-o", "o.c",
                       "--depfile", "o.d"], ["o.c", "o.h", "o.d"]),
    ("emit", ["compile", "p.glen", "--emit", "loops", "-o", "o.loops"],
     ["o.loops"]),
    ("saturate", ["saturate", "p.glen", "--rules", "r.rules"], []),
    ("saturate-html", ["saturate", "p.glen", "--rules", "r.rules", "--emit",
                       "html", "-o", "o.html"], ["o.html"]),
    ("schedule", ["schedule", "l.loops", "--sched", "s.sched", "-o", "o.c"],
     ["o.c", "o.h"]),
    ("run", ["run", "p.glen", "--check"], []),
    ("run-loops", ["run", "l.loops", "--interpret"], []),
    ("check", ["check", "p.glen", "q.glen"], []),
    ("explain", ["explain", "p.glen", "--rules", "r.rules"], []),
    ("map", ["map", "p.glen", "--target",
             os.path.join(ROOT, "targets/systolic.target")], []),
    ("layout", ["layout", "l.loops"], []),
    ("rules-check", ["rules", "check", "r.rules"], []),
    ("rules-prove", ["rules", "prove", "r.rules"], []),
    ("rules-fmt", ["rules", "fmt", "r.rules"], ["r.rules"]),
]
FUNCTIONS = ["malloc", "write", "rename", "close", "open", "read", "fork",
             "exec", "mkdir", "chmod"]
CODES = {0, 1, 2, 3, 4, 70}


def build_library(folder, sanitized):
    out = os.path.join(folder, "fault.so")
    subprocess.run([os.environ.get("CC", "cc").split()[-1], "-shared", "-fPIC",
                    "-O1", "-Wall", *(["-DNO_MALLOC"] if sanitized else []),
                    "-o", out, os.path.join(HERE, "fault.c"), "-ldl"],
                   check=True)
    return out


class Trial:
    """One command in a folder of its own."""

    def __init__(self, options, command):
        self.options = options
        self.name, self.arguments, self.outputs = command
        self.weaker = 0

    def run(self, fault, existing):
        with tempfile.TemporaryDirectory(dir=self.options.folder) as folder:
            work = os.path.join(folder, "work")
            other = os.path.join(folder, "tmp")
            os.mkdir(work)
            os.mkdir(other)
            for name, text in FILES.items():
                with open(os.path.join(work, name), "w") as out:
                    out.write(text)
            for name in self.outputs if existing else []:
                if name not in FILES:
                    with open(os.path.join(work, name), "wb") as out:
                        out.write(OLD)
            count = os.path.join(folder, "count")
            preload = [self.options.library]
            if self.options.sanitized:
                preload.insert(0, self.options.asan)
            env = dict(os.environ, LD_PRELOAD=" ".join(preload), TMPDIR=other,
                       FAULT_COUNT=count, NO_COLOR="1", LC_ALL="C",
                       OMP_NUM_THREADS="1")
            env.pop("FAULT", None)
            if fault:
                env["FAULT"] = fault
            try:
                done = subprocess.run([self.options.glen, *self.arguments],
                                      cwd=work, env=env, timeout=300,
                                      stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
            except subprocess.TimeoutExpired:
                return None
            return (done, self.read_all(work), sorted(os.listdir(other)),
                    self.read_counts(count))

    @staticmethod
    def read_all(folder):
        files = {}
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as out:
                files[name] = out.read()
        return files

    @staticmethod
    def read_counts(path):
        if not os.path.exists(path):
            return {}
        with open(path) as lines:
            return {name: int(n) for name, n in map(str.split, lines)}


def complaint(trial, clean, fault, existing):
    """What is wrong with a run under a fault; None: nothing."""
    answer = trial.run(fault, existing)
    if not answer:
        return "it does not end"
    done, files, temporary, _ = answer
    good, good_files, _, _ = clean
    stderr = done.stderr.decode(errors="replace")
    said = stderr + done.stdout.decode(errors="replace")
    weaker = fault.startswith("malloc") and done.returncode == 0
    if done.returncode not in CODES:
        return f"exit code {done.returncode}: {stderr[-500:]}"
    if any(word in stderr for word in ("Sanitizer", "runtime error")):
        return stderr[-1500:]
    if temporary:
        return f"left among temporary files: {temporary}"
    before = {n: t.encode() for n, t in FILES.items()}
    if existing:
        before.update({n: OLD for n in trial.outputs if n not in FILES})
    others = {n for n in files if n not in before} - set(trial.outputs)
    if others:
        return f"left in the folder: {sorted(others)}"
    changed = [n for n in sorted({*before, *good_files})
               if files.get(n) != before.get(n)]
    for name in changed:
        new = files.get(name)
        good_end = good_files.get(name, b"")[-3:]
        if weaker and new and new[-3:] == good_end:
            continue
        if new != good_files.get(name):
            return f"{name} is neither the old nor the new one"
    wanted = [n for n in good_files if good_files[n] != before.get(n)]
    if changed and len(changed) < len(wanted):
        return f"of {wanted} only {changed} changed"
    if done.returncode == good.returncode:
        if done.stdout != good.stdout and not weaker:
            return "it ends well, and its output is another"
        if done.stdout != good.stdout:
            trial.weaker += 1
        return None if len(changed) == len(wanted) \
            else "it ends well, and outputs are missing"
    if done.returncode == 0:
        return "it ends well, and should not"
    return None if any(word in said for word in ("error", "memory")) \
        else "it does not say why"


def numbers(n, most):
    if n <= most:
        return range(1, n + 1)
    return sorted({1 + k * (n - 1) // (most - 1) for k in range(most)})


def faults_of(trial, counts, options):
    for name in FUNCTIONS:
        if name == "malloc" and options.sanitized:
            continue
        for n in numbers(counts.get(name, 0), options.most):
            for more in ("", "+"):
                yield f"{name}:{n}{more}"


def check(options, command, pool):
    trial = Trial(options, command)
    clean = trial.run(None, True)
    if not clean or clean[0].returncode:
        print(f"{trial.name}: fails without a fault:\n"
              f"{clean and clean[0].stderr.decode()}")
        return 0, 1
    faults = list(faults_of(trial, clean[3], options))
    passed = failed = 0
    found = pool.map(lambda f: complaint(trial, clean, f, True), faults)
    allowed = 0
    for fault, wrong in zip(faults, found):
        if wrong and any(text in wrong for text in options.allow):
            allowed += 1
            continue
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"{trial.name}: {fault}: {wrong}")
    if allowed:
        print(f"  {trial.name}: {allowed} complaints that are allowed")
    if trial.weaker:
        print(f"  {trial.name}: {trial.weaker} answers weaker for want of memory")
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("glen")
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--most", type=int, default=12)
    parser.add_argument("--only", default="")
    parser.add_argument("--allow", action="append", default=[])
    parser.add_argument("--lanes", type=int, default=2)
    options = parser.parse_args()
    options.glen = os.path.abspath(options.glen)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(options.lanes) as pool:
        options.folder = folder
        options.library = build_library(folder, options.sanitized)
        options.asan = subprocess.run(
            ["gcc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE,
            text=True).stdout.strip()
        for command in COMMANDS:
            if options.only in command[0]:
                p, f = check(options, command, pool)
                print(f"  {command[0]}: {p} faults, {f} of them handled wrongly"
                      if f else f"  {command[0]}: {p} faults")
                passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
