#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants small faults, one at a time, and sees whether the tests notice.

usage: run.py [--folder NAME]... [--only ID]... [--missed] [--own]
              [--near] [--within SECONDS] [--build] [--fresh] [--jobs N]

The faults are the patches of tests/mutants/*.patch, each behind a line `# ID`,
or `# ID equivalent: REASON` for one that changes nothing that can be seen.  A
copy of the working tree in build-mutants/ is changed and built incrementally;
then the suites run, those of the fault's own folder first, until one fails.

--own stops after the first suite that stands beside the folder in NEAR, --near
after all of them; --within leaves out the tests that take longer when nothing
is wrong.  They only ask less: a fault that is still not noticed counts as such, and
--missed asks those again.  The folders are gone through side by side, and
sample.py draws in random order: wherever a run is stopped, what was asked is an
even random sample.  --build only says which faults compile and change the
object code.  What was found goes to build-mutants/results.json; a later run
goes on there, and --fresh begins anew.
The table by folder is printed at the end.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests", "mutants")
HOME = os.path.join(ROOT, "build-mutants")
TREE = os.path.join(HOME, "tree")
BUILD = os.path.join(TREE, "build")
GLEN = os.path.join(BUILD, "src/cli/glen")
RESULTS = os.path.join(HOME, "results.json")
CHECKER = os.path.join(BUILD, "src/check/glen-check-proof")
CONSOLE = [os.path.relpath(p, ROOT) for pattern in
           ("tests/cli/*.md", "README.md", "docs/*.md")
           for p in sorted(glob.glob(os.path.join(ROOT, pattern)))
           if "```console" in open(p, encoding="utf-8").read()]


def groups(path):
    """The parts of a program that runs them by name."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        listed = re.search(r"(?:^GROUPS =|for group in) [\[(]([^\])]*)[\])]",
                           f.read(), re.M)[1]
    return re.findall(r"\w+", listed)


# Programs that are no tests of meson.  Where a program has parts that can be
# asked for, each part is a step of its own, named PROGRAM/PART.
STEPS = {
    **{"verdicts/" + group:
       [sys.executable, "tests/verdicts/run.py", GLEN, group]
       for group in groups("tests/verdicts/run.py")},
    "fail": [sys.executable, "tests/fail/run.py", GLEN],
    "rules": [GLEN, "rules", "test", "rules", "tests/rules"],
    **{"console/" + os.path.basename(path):
       [sys.executable, "tests/console.py", GLEN, path] for path in CONSOLE},
    "examples": [sys.executable, "tests/run/examples.py", GLEN],
    "contractions": [sys.executable, "tests/run/contractions.py", GLEN],
    "fused": [sys.executable, "tests/run/fused.py", GLEN],
    "threads": [sys.executable, "tests/run/threads.py", GLEN],
    **{"prove/" + group:
       [sys.executable, "tests/prove/run.py", GLEN, group]
       for group in groups("tests/prove/run.py")},
    "tamper": [sys.executable, "tests/prove/tamper.py", GLEN, CHECKER],
    "tune": [sys.executable, "tests/run/tune.py", GLEN],
    "cuda": [sys.executable, "tests/run/cuda.py", GLEN, "--quick"],
    "layout": [sys.executable, "bench/layout/misses.py", "--glen", GLEN,
               "--sizes", "32,64"],
    "programs": [sys.executable, "bench/kernels/programs.py", "--check", GLEN],
}

# Meson's suites and the steps that are nearest to a folder, in this order.
NEAR = {
    "base": ["base", "glenside", "rules", "lsp", "fail", "verdicts", "console"],
    "egraph": ["egraph", "rules", "console"],
    "glenside": ["glenside", "fail", "rules", "codegen", "verdicts", "console"],
    "rules": ["rules", "prove", "console"],
    "extract": ["extract", "rules", "console"],
    "poly": ["poly", "codegen", "console", "layout", "fused", "cuda"],
    "codegen": ["codegen", "poly", "contractions", "fused", "console", "cuda"],
    "check": ["tamper", "prove/layers", "console"],
    "prove": ["prove", "verdicts", "step:prove", "console"],
    "edit": ["edit", "lsp", "console"],
    "lsp": ["lsp", "console"],
    "tune": ["tune", "verdicts", "console"],
    "api": ["api", "verdicts", "console", "report", "fail", "step:prove", "tune"],
    "cli": ["verdicts", "console", "fail", "tune", "examples"],
    "limbs": ["limbs", "poly"],
    "report": ["report"],
}


class Fault:
    def __init__(self, head, patch):
        self.id, _, why = head.partition(" equivalent: ")
        self.equivalent, self.patch = why.strip(), patch
        self.path = re.search(r"^\+\+\+ b/(\S+)", patch, re.M)[1]
        self.folder = self.path.split("/")[1]


def faults():
    for path in sorted(glob.glob(os.path.join(HERE, "*.patch"))):
        with open(path, encoding="utf-8") as f:
            parts = re.split(r"^# (.*)\n", f.read(), flags=re.M)[1:]
        for head, patch in zip(parts[::2], parts[1::2]):
            yield Fault(head, patch)


def call(command, timeout=600, cwd=TREE, processor=None):
    """(exit code, output); None for the code where the time is up.  processor
    bounds the seconds of processor time of each process, which do not grow
    with what else runs on the machine."""
    def bound():
        if processor:
            resource.setrlimit(resource.RLIMIT_CPU, (processor, processor))
    process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.STDOUT, errors="replace",
                               start_new_session=True, preexec_fn=bound)
    try:
        out, _ = process.communicate(timeout=timeout)
        return process.returncode, out
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, ""


def synchronise():
    """Brings the copy to the state of the working tree; unchanged files keep
    their times, so that little is built."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"],
                           cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.split("\n")
    for name in filter(None, names):
        source, copy = os.path.join(ROOT, name), os.path.join(TREE, name)
        if not os.path.isfile(source):
            continue
        with open(source, "rb") as f:
            content = f.read()
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        if not os.path.exists(copy) or open(copy, "rb").read() != content:
            shutil.copyfile(source, copy)
            shutil.copymode(source, copy)


def built(targets=()):
    return call(["ninja", "-C", BUILD, *targets], 1800)


class Tests:
    """The tests of meson and the steps: a name for each, what it builds, how
    long it takes when nothing is wrong."""

    def __init__(self):
        listed = json.loads(call(["meson", "introspect", BUILD, "--tests"])[1])
        self.suites, self.command, self.usual = {}, {}, {}
        for test in listed:
            name = "test:" + "+".join(
                s.split(":")[1] for s in test["suite"]) + "/" + test["name"]
            self.command[name] = test["cmd"]
            for suite in test["suite"]:
                self.suites.setdefault(suite.split(":")[1], []).append(name)
        for name, command in STEPS.items():
            if os.path.exists(os.path.join(TREE, command[1])) or \
                    command[0] == GLEN:
                self.command["step:" + name] = command

    def order(self, folder, args):
        """The tests in the order in which they are asked."""
        names = []
        for key in NEAR.get(folder, [])[:1 if args.own else None]:
            names += sorted(self.suites.get(key, []), key=self.usual.get)
            # A suite and a step of one name: the suite, unless it says step.
            if key not in self.suites:
                names += self.steps("step:" + key.removeprefix("step:"))
        if not args.near and not args.own:
            names += sorted(self.command, key=self.usual.get)
        return list(dict.fromkeys(names))

    def steps(self, name):
        """A step, or all of its parts."""
        return sorted((n for n in self.command
                       if n == name or n.startswith(name + "/")),
                      key=self.usual.get)

    def targets(self, names):
        own = {os.path.relpath(word, BUILD) for name in names
               for word in self.command[name] if word.startswith(BUILD + "/")}
        if any(name.startswith("step:") for name in names):
            own |= {"src/cli/glen", "src/check/glen-check-proof"}
        return sorted(own)

    def run(self, name, within=900):
        """Whether a test passes, in how many seconds, and what it said.  One
        that was never run is stopped after `within`; later, what loops is
        stopped by its processor time.  None where the clock alone stopped it,
        which says nothing of the fault: the machine may have been busy."""
        begun = time.monotonic()
        usual = self.usual.get(name)
        known = usual is not None
        # Meson runs its tests in the build folder.
        code, out = call(self.command[name],
                         10 * usual + 300 if known else within,
                         BUILD if name.startswith("test:") else TREE,
                         int(5 * usual + 20) if known else None)
        good = None if code is None else code in (0, 77)
        return good, time.monotonic() - begun, out


def measure(tests, names, args):
    """How long each test takes on the copy as it is; what fails is left out."""
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, (good, seconds, out) in zip(names, pool.map(
                lambda name: tests.run(name, args.within), names)):
            tests.usual[name] = seconds
            if not good:
                why = ("takes too long" if seconds >= args.within else
                       "fails without a fault")
                print(f"left out, as it {why}: {name}\n{out[-600:]}",
                      flush=True)
                del tests.command[name]
                for listed in tests.suites.values():
                    if name in listed:
                        listed.remove(name)


def object_code(path):
    """The bytes of the object files that a source file became."""
    stem = os.path.basename(path) + ".o"
    found = sorted(glob.glob(os.path.join(BUILD, "**", "*" + stem),
                             recursive=True))
    return [open(p, "rb").read() for p in found
            if p.endswith("_" + stem) or p.endswith("/" + stem)]


def judge(fault, tests, args):
    """One word for what became of a fault, and the test that noticed it."""
    path = os.path.join(TREE, fault.path)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    before = object_code(fault.path)
    done = subprocess.run(["patch", "-p1", "-s", "-F2", "--no-backup-if-mismatch"],
                          cwd=TREE, input=fault.patch, text=True,
                          capture_output=True)
    try:
        if done.returncode:
            return "stale", done.stdout.strip()
        names = tests.order(fault.folder, args)
        code, out = built(["src/cli/glen", "src/check/glen-check-proof"])
        if code:
            return "does not compile", out[-300:]
        if object_code(fault.path) == before:
            return "same code", ""
        return ("compiles", "") if args.build else hunt(tests, names, args.jobs)
    finally:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def hunt(tests, names, jobs):
    """The first test that fails; a few are asked at a time."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for k in range(0, len(names), jobs):
            part = names[k:k + jobs]
            built(tests.targets(part))
            for name, (good, _, _) in zip(part, pool.map(tests.run, part)):
                if good is False:
                    return "noticed", name
    return "not noticed", ""


def table(listed, results):
    rows = {}
    for fault in listed:
        word = results.get(fault.id, ["not run"])[0]
        if fault.equivalent:
            word = "equivalent"
        rows.setdefault(fault.folder, []).append(word)
    print(f"{'folder':10} {'faults':>7} {'noticed':>8} {'not':>5} "
          f"{'equivalent':>11} {'share':>7}")
    for folder, words in [*sorted(rows.items()),
                          ("all", sum(rows.values(), []))]:
        noticed, missed = words.count("noticed"), words.count("not noticed")
        asked = noticed + missed
        share = f"{100 * noticed / asked:.0f} %" if asked else "-"
        print(f"{folder:10} {len(words):7} {noticed:8} {missed:5} "
              f"{words.count('equivalent'):11} {share:>7}")
    return [f.id for f in listed if not f.equivalent and
            results.get(f.id, [""])[0] == "not noticed"]


def even(listed):
    """The faults of all folders side by side, each folder's in its order."""
    folders = {}
    for fault in listed:
        folders.setdefault(fault.folder, []).append(fault)
    return [fault for _, _, fault in sorted(
        (((k + 0.5) / len(group), name, fault)
         for name, group in folders.items() for k, fault in enumerate(group)),
        key=lambda place: place[:2])]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", action="append", default=[])
    parser.add_argument("--only", action="append", default=[], metavar="ID")
    for flag in ("--own", "--near", "--build", "--fresh", "--missed"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--within", type=float, default=900, metavar="SECONDS")
    parser.add_argument("--jobs", type=int,
                        default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    listed = [f for f in faults()
              if (not args.folder or f.folder in args.folder) and
              (not args.only or f.id in args.only)]
    os.makedirs(TREE, exist_ok=True)
    synchronise()
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        code, out = call(["meson", "setup", BUILD, TREE, "-Dtests=enabled",
                          "-Doptimization=1", "-Ddebug=false",
                          "-Db_ndebug=false"])
        if code:
            sys.exit(out)
    code, out = built()
    if code:
        sys.exit(out[-3000:])
    results = {}
    if os.path.exists(RESULTS) and not args.fresh:
        with open(RESULTS, encoding="utf-8") as f:
            results = json.load(f)
    todo = [f for f in even(listed) if not f.equivalent and
            (f.id not in results or f.id in args.only or
             (args.missed and results[f.id][0] == "not noticed"))]
    tests = Tests()
    if not args.build:
        every = {f.folder for f in todo}
        tests.usual = dict.fromkeys(tests.command, 0)
        names = sorted({n for folder in every
                        for n in tests.order(folder, args)})
        tests.usual = {}
        measure(tests, names, args)
    tests.usual = {n: tests.usual.get(n, 0) for n in tests.command}
    for k, fault in enumerate(todo):
        results[fault.id] = judge(fault, tests, args)
        print(f"{k + 1}/{len(todo)} {fault.id} {fault.path}: "
              f"{' by '.join(filter(None, results[fault.id]))[:160]}",
              flush=True)
        with open(RESULTS + ".new", "w", encoding="utf-8") as f:
            json.dump(results, f, indent=1)
        os.replace(RESULTS + ".new", RESULTS)
    built()
    missed = table(listed, results)
    if missed:
        print("not noticed: " + " ".join(missed))


if __name__ == "__main__":
    main()
