#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What glen reads and writes: every command, on inputs that are no files, with
a stdout that takes nothing, over its inputs, when a signal ends it, and where
nothing may be executed.

usage: files.py GLEN
"""
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, "examples/matmul.glen")
LOOPS = os.path.join(ROOT, "examples/schedules/copy.loops")
RULES = os.path.join(ROOT, "rules")
TARGET = os.path.join(ROOT, "targets/pool.target")
# A hang is a failure, too.
SECONDS = 60

# Commands that read X, with the suffix that it must have.
READERS = [
    (".glen", ["compile", "X"]),
    (".glen", ["run", "X", "--interpret"]),
    (".glen", ["saturate", "X", "--rules", RULES]),
    (".glen", ["explain", PROGRAM, "X", "--rules", RULES]),
    (".glen", ["map", "X", "--rules", RULES]),
    (".glen", ["check", PROGRAM, "X"]),
    (".glen", ["layout", "X"]),
    (".glen", ["rules", "ablate", "X", "--rules", RULES]),
    (".glen", ["rules", "fmt", "X"]),
    (".loops", ["schedule", "X"]),
    (".loops", ["run", "X", "--interpret"]),
    (".sched", ["schedule", LOOPS, "--sched", "X"]),
    (".sched", ["compile", PROGRAM, "--schedule", "X"]),
    (".rules", ["saturate", PROGRAM, "--rules", "X"]),
    (".rules", ["rules", "check", "X"]),
    (".rules", ["rules", "prove", "X"]),
    (".rules", ["rules", "test", "X"]),
    (".target", ["target", "X"]),
    (".target", ["compile", PROGRAM, "--target", "X"]),
    (".npy", ["run", PROGRAM, "--interpret", "--input", "a=X"]),
    (".json", ["extract", "X"]),
    (".json", ["compile", PROGRAM, "-o", "out.c", "--tune", "1",
               "--tune-file", "X"]),
]
# Commands that print.
PRINTERS = [
    ["--help"], ["--version"], ["--version", "--verbose"], ["help"],
    ["saturate", "--help"], ["lsp", "--help"], ["completions", "bash"],
    ["completions", "zsh"], ["completions", "fish"], ["completions", "man"],
    ["compile", PROGRAM], ["compile", PROGRAM, "-o", "-"],
    ["compile", PROGRAM, "--emit", "h,loops,manifest"],
    ["saturate", PROGRAM, "--rules", RULES, "--iter-limit", "3"],
    ["saturate", PROGRAM, "--rules", RULES, "--iter-limit", "3", "--json"],
    ["saturate", PROGRAM, "--rules", RULES, "--iter-limit", "3", "--emit",
     "html"],
    ["saturate", PROGRAM, "--rules", RULES, "--iter-limit", "3", "-o", "-"],
    ["run", PROGRAM, "--interpret"],
    ["run", PROGRAM, "--interpret", "--json"],
    ["run", PROGRAM, "--interpret", "--output", "/dev/stdout", "--print", "0"],
    ["check", PROGRAM, PROGRAM], ["schedule", LOOPS], ["schedule", "--list"],
    ["layout", PROGRAM], ["target"], ["rules", "check", "--list"],
    ["rules", "check", RULES, "--verbose"],
    ["rules", "test", RULES, "--filter", "im2col", "--verbose"],
    ["rules", "prove", RULES, "--filter", "transpose-", "--verbose"],
    ["explain", PROGRAM, PROGRAM, "--rules", RULES],
    ["map", PROGRAM, "--rules", RULES, "--iter-limit", "3"],
    ["rules", "ablate", PROGRAM, "--rules", RULES, "--iter-limit", "2",
     "--filter", "concat"],
    ["extract", "graph.json"],
]
GRAPH = ('{"nodes": {"a": {"op": "x", "children": [], "eclass": "0", '
         '"cost": 1}}, "root_eclasses": ["0"]}')


class Bench:
    def __init__(self, glen, folder):
        self.glen, self.folder = glen, folder
        self.passed = self.failed = 0

    def expect(self, ok, what, detail=""):
        self.passed += ok
        self.failed += not ok
        if not ok:
            print(f"{what}\n{detail[-600:]}")

    def call(self, *words, **more):
        more = {"stdout": subprocess.PIPE, "stdin": subprocess.DEVNULL, **more}
        try:
            return subprocess.run([self.glen, *words], cwd=self.folder,
                                  stderr=subprocess.PIPE, text=True,
                                  errors="replace", timeout=SECONDS, **more)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, -99, "", "it hangs")


def make_others(folder, suffix):
    """What is no file, of that suffix."""
    os.mkfifo(os.path.join(folder, "fifo" + suffix))
    os.mkdir(os.path.join(folder, "folder" + suffix))
    s = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(folder)
    s.bind("socket" + suffix)
    os.chdir(here)
    s.close()
    for name in ("zero", "urandom"):
        os.symlink("/dev/" + name, os.path.join(folder, name + suffix))
    return [name + suffix
            for name in ("fifo", "folder", "socket", "zero", "urandom")]


def read_others(bench):
    """A FIFO or a device is refused at once; a folder of rules is none."""
    others = {s: make_others(bench.folder, s)
              for s in dict.fromkeys(s for s, _ in READERS)}
    for suffix, words in READERS:
        for name in others[suffix]:
            folder_of_rules = name == "folder" + suffix and (
                suffix == ".rules" or words[:2] == ["rules", "fmt"])
            if folder_of_rules:
                continue
            done = bench.call(*[name if w == "X" else
                                w.replace("=X", "=" + name) for w in words])
            text = done.stderr + (done.stdout or "")
            bench.expect(done.returncode == 1 and "it is a" in text,
                         f"exit {done.returncode} of {words} with {name}", text)


def read_pipes(bench):
    """Pipes that are open already are read, up to a bound."""
    with open(PROGRAM, encoding="utf-8") as f:
        text = f.read()
    expected = bench.call("compile", PROGRAM, "--name", "k", "--emit",
                          "h").stdout
    for path in ("-", "/dev/stdin"):
        done = bench.call("compile", path, "--name", "k", "--emit", "h",
                          stdin=None, input=text)
        bench.expect(done.stdout == expected, f"a program by {path}",
                     done.stderr)
    with open("/dev/zero", encoding="utf-8") as zero:
        done = bench.call("compile", "-", stdin=zero)
    bench.expect(done.returncode == 1 and "it is a device" in done.stderr,
                 "a device as stdin", done.stderr)
    endless = subprocess.Popen(["yes"], stdout=subprocess.PIPE)
    done = bench.call("compile", "-", stdin=endless.stdout)
    endless.kill()
    endless.wait()
    bench.expect(done.returncode == 1 and "256 MiB" in done.stderr,
                 "a pipe without end", done.stderr)


def print_to_full(bench):
    with open(os.path.join(bench.folder, "graph.json"), "w",
              encoding="utf-8") as f:
        f.write(GRAPH)
    for words in PRINTERS:
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = bench.call(*words, stdout=full)
        bench.expect(done.returncode == 1 and "cannot write" in done.stderr,
                     f"exit {done.returncode} of {words} on a full device",
                     done.stderr)
        done = bench.call(*words)
        bench.expect(done.returncode == 0, f"exit {done.returncode} of {words}",
                     done.stderr)
    # The first file opened does not become stdout.
    done = bench.call("compile", PROGRAM, "--emit", "h", stdout=None,
                      preexec_fn=lambda: os.close(1))
    bench.expect(done.returncode == 1 and "cannot write" in done.stderr,
                 "a closed stdout", done.stderr)


def overwrite(bench):
    """Outputs that are inputs, or each other, are refused before any work."""
    here = lambda name: os.path.join(bench.folder, name)
    with open(PROGRAM, encoding="utf-8") as f:
        text = f.read()
    with open(here("p.glen"), "w", encoding="utf-8") as f:
        f.write(text)
    os.link(here("p.glen"), here("hard.glen"))
    os.symlink("p.glen", here("soft.glen"))
    os.symlink("later.c", here("dangling.c"))
    os.mkdir(here("mine"))
    with open(here("mine/a.rules"), "w", encoding="utf-8") as f:
        f.write("")
    for words in [
            ["compile", "p.glen", "--emit", "c", "-o", "p.glen"],
            ["compile", "p.glen", "--emit", "c", "-o", "./p.glen"],
            ["compile", "p.glen", "--emit", "c", "-o", "mine/../hard.glen"],
            ["compile", "p.glen", "--emit", "c", "-o", "soft.glen"],
            ["compile", "p.glen", "-o", "x.c", "--depfile", "p.glen"],
            ["compile", "p.glen", "-o", "x.c", "--depfile", "./x.h"],
            ["compile", "p.glen", "-o", "later.c", "--depfile", "dangling.c"],
            ["compile", "p.glen", "-o", "d/6.c", "--dump-phases", "./d//"],
            ["compile", "p.glen", "-o", "x.c", "--emit", "c,c"],
            ["compile", "p.glen", "-o", "x.c", "--tune", "1", "--tune-file",
             "x.h"],
            ["saturate", "p.glen", "--rules", "mine", "-o", "mine/a.rules"],
            ["layout", "p.glen", "-o", "p.glen"],
            ["run", "p.glen", "--interpret", "--input", "a=i.npy", "-o",
             "i.npy"]]:
        before = sorted(os.listdir(bench.folder))
        done = bench.call(*words)
        with open(here("p.glen"), encoding="utf-8") as f:
            same = f.read() == text
        bench.expect(done.returncode == 2 and "the output" in done.stderr and
                     same and sorted(os.listdir(bench.folder)) == before,
                     f"exit {done.returncode} of {words}", done.stderr)


# Each option that names a file which is read, with that file behind it.
OVERWRITERS = {
    "q.glen": [["compile"], ["saturate"], ["run", "--interpret"],
               ["schedule"]],
    "q.loops": [["compile"], ["schedule"]],
    "q.rules": [[c, "p.glen", "--rules"] for c in ("compile", "saturate")],
    "q.target": [[c, "p.glen", "--target"]
                 for c in ("compile", "saturate", "schedule")],
    "q.sched": [["schedule", "p.glen", "--sched"],
                ["compile", "p.glen", "--schedule"]],
    "q.npy": [["run", "p.glen", "--interpret", "--input"]],
}


def overwrite_what_is_read(bench):
    """Of each option, under each spelling; the file stays as it is."""
    here = lambda name: os.path.join(bench.folder, name)
    for name, commands in OVERWRITERS.items():
        with open(here(name), "w", encoding="utf-8") as f:
            f.write("; kept\n")
        os.link(here(name), here("hard-" + name))
        os.symlink(name, here("soft-" + name))
        for words in commands:
            for output in (name, "./" + name, "mine/../" + name,
                           "hard-" + name, "soft-" + name, here(name)):
                done = bench.call(*words, name, "-o", output)
                with open(here(name), encoding="utf-8") as f:
                    same = f.read() == "; kept\n"
                bench.expect(done.returncode == 2 and same and
                             "would overwrite the input" in done.stderr,
                             f"exit {done.returncode} of {words} {name} -o "
                             f"{output}", done.stderr)


def overwrite_weights(bench):
    """Those that a program names are read by its code, if not before."""
    here = lambda name: os.path.join(bench.folder, name)
    weights = bytes(range(16))
    for name, output in (("w.c", "w.c"), ("w.h", "w.c"), ("w.c", "./w.c")):
        with open(here("w.glen"), "w", encoding="utf-8") as f:
            f.write(f'(tensor w (shape 4) f32 :data "{name}" 0)\n'
                    "(let y (relu w))\n(output y)\n")
        with open(here(name), "wb") as f:
            f.write(weights)
        done = bench.call("compile", "w.glen", "-o", output)
        with open(here(name), "rb") as f:
            same = f.read() == weights
        bench.expect(done.returncode != 0 and same and
                     "would overwrite the input" in done.stderr,
                     f"exit {done.returncode} of {output} over the weights "
                     f"{name}", done.stderr)
        os.remove(here(name))


def kill_at_random(bench):
    """A signal leaves all outputs, or none, and nothing temporary."""
    rng = random.Random(1)
    tmp = os.path.join(bench.folder, "tmp")
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        for k in range(12):
            out = os.path.join(bench.folder, f"out{number}-{k}")
            os.mkdir(out)
            os.makedirs(tmp, exist_ok=True)
            words = ["run", PROGRAM, "-o", out + "/r.npy", "--dump-phases",
                     out] if k % 2 else [
                         "compile", PROGRAM, "-o", out + "/r.c", "--depfile",
                         out + "/r.d", "--dump-phases", out]
            child = subprocess.Popen([bench.glen, *words],
                                     stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL,
                                     env=dict(os.environ, TMPDIR=tmp))
            time.sleep(rng.random() * (0.4 if k % 2 else 0.03))
            child.send_signal(number)
            child.wait(timeout=SECONDS)
            left = sorted(os.listdir(out))
            whole = len(left) in (0, 2 if k % 2 else 8)
            bench.expect(whole and not [n for n in left if n[0] == "."] and
                         not [n for n in os.listdir(tmp) if "glen" in n],
                         f"{words[0]} and signal {number} left {left}, "
                         f"{os.listdir(tmp)}")


def kill_a_test(bench):
    """What tests a target writes nothing, and leaves nothing temporary."""
    tmp = os.path.join(bench.folder, "tests")
    os.mkdir(tmp)
    for k, number in enumerate([signal.SIGTERM, signal.SIGHUP] * 3):
        child = subprocess.Popen(
            [bench.glen, "target", "test", TARGET], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=tmp))
        time.sleep(0.15 * (k + 1))
        child.send_signal(number)
        child.wait(timeout=SECONDS)
        left = [n for n in os.listdir(tmp) if "glen" in n]
        bench.expect(not left, f"target test and signal {number} left {left}")


def forbid_native(bench):
    here = os.path.join(bench.folder, "native.c")
    ran = [["run", PROGRAM], ["run", LOOPS], ["run", PROGRAM, "--check"],
           ["compile", PROGRAM, "-o", here, "--tune", "1"],
           ["schedule", LOOPS, "--tune", "1", "-o", here],
           ["run", PROGRAM, "--interpret", "--tune", "1"],
           ["target", "test", TARGET]]
    for words in ran:
        done = bench.call(*words, "--no-native")
        bench.expect(done.returncode == 2 and "--no-native" in done.stderr and
                     not os.path.exists(here),
                     f"exit {done.returncode} of {words}", done.stderr)
        done = bench.call(*words, env=dict(os.environ, GLEN_NO_NATIVE="1"))
        bench.expect(done.returncode == 2, f"{words}", done.stderr)
    # CC would leave a trace.
    trace = os.path.join(bench.folder, "called")
    for words in PRINTERS:
        if words[0] in ("run", "completions", "help") or words[0][0] == "-":
            continue
        done = bench.call(*words, "--no-native",
                          env=dict(os.environ, CC=f"touch {trace}"))
        bench.expect(done.returncode == 0 and not os.path.exists(trace),
                     f"exit {done.returncode} of {words} --no-native",
                     done.stderr)


def main():
    glen = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(glen, folder)
        read_others(bench)
        read_pipes(bench)
        print_to_full(bench)
        overwrite(bench)
        overwrite_what_is_read(bench)
        overwrite_weights(bench)
        kill_at_random(bench)
        kill_a_test(bench)
        forbid_native(bench)
    print(f"{bench.passed} passed, {bench.failed} failed")
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
