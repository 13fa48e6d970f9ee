#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--tune: its files, what it goes on with, and what may go wrong.

usage: tune.py GLEN

Compilers of its own stand between glen and cc: one counts, one gives a
candidate another result, one never ends, one fails, and one makes a program
that does.  No test looks at a time.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = """(tensor a (shape 20 33) f32)
(let s (compute reduceSum (windows (access a 0) (shape 3 3) (stride 1 1))))
(let t (compute mul (pair (access s 2) (access s 2))))
(output t)
"""

# argv: ... -o PROGRAM main.c kernel.c ...; --version goes to cc.
COMPILER = """#!/usr/bin/env python3
import os, re, subprocess, sys, time
args = sys.argv[1:]
if "--version" in args:
    print("test compiler 1")
    sys.exit(0)
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "count"), "a+") as f:
    f.write("x")
    f.flush()
    number = os.path.getsize(f.name)
%s
sys.exit(subprocess.call(["cc"] + args))
"""
NOTHING = ""
# The second candidate's output is off.
WRONG = """
if number == 2:
    path = [a for a in args if a.endswith("kernel.c")][0]
    text = open(path).read()
    text, n = re.subn(r"([a-z_0-9]+)(\\[[^;=]*\\]) = ([^;]*);",
                      r"\\1\\2 = 3 + (\\3);", text)
    assert n, text
    open(path, "w").write(text)
"""
ENDLESS = """
if number == 2:
    open(os.path.join(here, "waiting"), "w").close()
    time.sleep(1000)
"""
# The second candidate is refused, and again as it is tried once more.
REFUSING = """
if number in (2, 3):
    sys.exit("no such register")
"""
# The second candidate's program ends as soon as it starts.
CRASHING = """
if number == 2:
    path = [a for a in args if a.endswith("kernel.c")][0]
    with open(path, "a") as f:
        f.write("void abort(void);\\n__attribute__((constructor)) "
                "static void at_once(void) { abort(); }\\n")
"""


class Case:
    def __init__(self, glen, folder, behaviour=NOTHING):
        self.glen, self.folder = glen, folder
        self.cc = os.path.join(folder, "compiler")
        with open(os.path.join(folder, "p.glen"), "w") as f:
            f.write(PROGRAM)
        self.behave(behaviour)

    def path(self, name):
        return os.path.join(self.folder, name)

    def behave(self, behaviour):
        with open(self.cc, "w") as f:
            f.write(COMPILER % behaviour)
        os.chmod(self.cc, 0o755)

    def command(self, *more):
        return [self.glen, "compile", self.path("p.glen"), "-o",
                self.path("p.c"), "--tune", "3", "--tune-rounds", "2", "--cc",
                self.cc, *more]

    def run(self, *more):
        return subprocess.run(self.command(*more), text=True,
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def compiled(self):
        path = self.path("count")
        return os.path.getsize(path) if os.path.exists(path) else 0

    def record(self):
        with open(self.path("p.tune.json")) as f:
            return json.load(f)


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def candidates(case):
    entries = case.record()["entries"]
    expect(len(entries) == 1, entries)
    return {c["name"]: c for c in entries[0]["candidates"]}


def writes_what_replays(case):
    done = case.run("--json")
    expect(done.returncode == 0, done.stderr)
    report = json.loads(done.stdout)
    names = [c["name"] for c in report["candidates"]]
    expect(len(names) == 3 and len(set(names)) == 3, names)
    expect(all(c["status"] == "ok" and c["rounds"] == 2 and c["seconds"] > 0
               for c in report["candidates"]), report)
    best = min(report["candidates"], key=lambda c: c["seconds"])
    chosen = [c for c in report["candidates"] if c["name"] == report["chosen"]]
    expect(chosen[0]["seconds"] == best["seconds"], report)
    with open(case.path("p.sched")) as f:
        expect(f.read() == chosen[0]["script"], "script")
    with open(case.path("p.c")) as f:
        code = f.read()
    for c in report["candidates"]:
        script = case.path("c.sched")
        with open(script, "w") as f:
            f.write(c["script"])
        os.makedirs(case.path("again"), exist_ok=True)
        subprocess.run(
            [case.glen, "compile", case.path("p.glen"), "-o",
             case.path("again/p.c"), "--schedule", script, "--name", "p"],
            check=True)
        with open(case.path("again/p.c")) as f:
            again = f.read()
        if c["name"] == report["chosen"]:
            expect(again == code,
                   "the script gives other code")


def goes_on(case):
    expect(case.run().returncode == 0, "first run")
    count, first = case.compiled(), candidates(case)
    done = case.run()
    expect(done.returncode == 0, done.stderr)
    expect(case.compiled() == count, "something was compiled again")
    expect("3 known from" in done.stderr, done.stderr)
    expect(candidates(case) == first, "known results changed")
    # One round more: all are built again, but go on from their times.
    done = case.run("--tune-rounds", "3")
    again = candidates(case)
    expect(all(again[n]["rounds"] >= 3 and
               again[n]["seconds"] <= first[n]["seconds"] for n in again),
           again)
    # Another seed is another key, and does not touch the first.
    done = case.run("--seed", "2")
    expect(len(case.record()["entries"]) == 2, "entries")


def goes_on_after_an_interrupt(case):
    case.behave(ENDLESS)
    process = subprocess.Popen(case.command(), text=True,
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not os.path.exists(case.path("waiting")):
        expect(process.poll() is None, "it ended too early")
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=600)[1]
    expect(process.returncode == 0, errors)
    expect("stopped: the best so far was taken" in errors, errors)
    expect(os.path.exists(case.path("p.c")) and
           os.path.exists(case.path("p.sched")), "no output")
    known = candidates(case)
    expect([c["status"] for c in known.values()] == ["ok", "new", "new"],
           known)
    case.behave(NOTHING)
    done = case.run()
    expect(done.returncode == 0 and "1 known from" in done.stderr, done.stderr)
    expect(all(c["status"] == "ok" for c in candidates(case).values()),
           "not all were measured")


def tells_a_wrong_result(case):
    case.behave(WRONG)
    done = case.run("--json")
    report = json.loads(done.stdout)
    expect(done.returncode == 4, done.returncode)
    expect("[tune-mismatch]" in done.stderr, done.stderr)
    expect([c["status"] for c in report["candidates"]].count("mismatch") == 1,
           report)
    wrong = [c for c in report["candidates"] if c["status"] == "mismatch"][0]
    expect(report["chosen"] != wrong["name"] and wrong["seconds"] is None,
           report)
    # It is known the next time, too.
    done = case.run()
    expect(done.returncode == 4 and "[tune-mismatch]" in done.stderr,
           done.stderr)


def ends_what_is_slow(case):
    case.behave(ENDLESS)
    done = case.run("--json", "--tune-time", "10")
    report = json.loads(done.stdout)
    expect(done.returncode == 0, done.stderr)
    expect([c["status"] for c in report["candidates"]].count("slow") == 1,
           report)
    expect(report["chosen"] != [c for c in report["candidates"]
                                if c["status"] == "slow"][0]["name"], report)


def tells_what_fails(case):
    for behaviour in (REFUSING, CRASHING):
        for name in ("count", "p.tune.json"):
            if os.path.exists(case.path(name)):
                os.remove(case.path(name))
        case.behave(behaviour)
        done = case.run("--json")
        report = json.loads(done.stdout)
        expect(done.returncode == 0, done.stderr)
        expect(sorted(c["status"] for c in report["candidates"]) ==
               ["failed", "ok", "ok"], report)
        expect(report["chosen"] != [c for c in report["candidates"]
                                    if c["status"] == "failed"][0]["name"],
               report)


def refuses_other_files(case):
    broken = {
        "{": "line 1",
        "[1, 2]": "not a file of tuning results",
        '{"kind": "other"}': "not a file of tuning results",
        '{"schema": 2, "kind": "glen-tune", "entries": []}': "schema",
        '{"schema": 1, "kind": "glen-tune", "entries": 3}': "is not a list",
        '{"schema": 1, "kind": "glen-tune", "entries": [{"key": "a"}]}':
            "entry 1",
        '{"schema": 1, "kind": "glen-tune", "entries": [{"key": "a", '
        '"candidates": [{"name": "none", "code": "0", "status": "ok", '
        '"rounds": 1, "seconds": -1}]}]}': "entry 1",
    }
    for text, message in broken.items():
        with open(case.path("p.tune.json"), "w") as f:
            f.write(text)
        done = case.run()
        expect(done.returncode == 1 and "[tune-file]" in done.stderr and
               message in done.stderr, (text, done.stderr))
        with open(case.path("p.tune.json")) as f:
            expect(f.read() == text, "the file was touched")
    expect(case.compiled() == 0, "something was compiled")


def tells_that_nothing_runs(case):
    done = case.run("--cc-flag=-fno-such-flag")
    expect(done.returncode == 1 and "does not run" in done.stderr,
           (done.returncode, done.stderr))


def goes_alone(case):
    for more in (["--fuse", "smart"], ["--tile", "8"],
                 ["--schedule", "x.sched"]):
        done = case.run(*more)
        expect(done.returncode != 0 and "--tune chooses" in done.stderr, more)


TESTS = [writes_what_replays, goes_on, goes_on_after_an_interrupt,
         tells_a_wrong_result, ends_what_is_slow, tells_what_fails,
         refuses_other_files, tells_that_nothing_runs, goes_alone]


def main():
    passed = failed = 0
    glen = os.path.abspath(sys.argv[1])
    for test in TESTS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Case(glen, folder))
                passed += 1
            except (AssertionError, ValueError, KeyError,
                    subprocess.SubprocessError) as e:
                failed += 1
                print(f"{test.__name__}: {e}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
