#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a limit allows against what is taken: seconds and resident size of
commands on inputs that would take far more.

usage: limits.py GLEN
"""
import os
import subprocess
import sys
import tempfile
import time

N = 14
TENSORS = "".join(f"(tensor x{k} (shape 4) i32)\n" for k in range(N))


def sum_of(k):
    return f"(compute add (pair x{k} {sum_of(k - 1)}))" if k else "x0"


SUM = f"{TENSORS}(let y {sum_of(N - 1)})(output y)\n"
AC = """(rule comm "c" (compute add (pair ?a ?b)) => (compute add (pair ?b ?a)))
(rule assoc "a" (compute add (pair ?a (compute add (pair ?b ?c))))
  => (compute add (pair (compute add (pair ?a ?b)) ?c)))
"""
JOIN = ('(rule j "j" (compute add (pair ?x0 ?y0)) => (compute add (pair ?y0 '
        "?x0))" + "".join(f" :with (?z{k} (compute add (pair ?x{k} ?y{k})))"
                          for k in range(1, 12)) + ")\n")
SHAPES = ["144 35", "70 72", "56 90", "80 63", "42 120"]
RESHAPES = "(tensor l0 (shape 60 84) f32)" + "".join(
    f"(let l{k + 1} (compute exp (transpose (reshape l{k} (shape {s}) (shape))"
    f" (list 1 0))))" for k, s in enumerate(SHAPES)) + "(output l5)\n"

FILES = {"sum.glen": SUM, "ac.rules": AC, "join.rules": JOIN,
         "reshapes.glen": RESHAPES}
FREE = ["--node-limit", "0", "--iter-limit", "0"]
COMMANDS = {
    "saturate": ["saturate", "sum.glen", "--rules", "ac.rules"] + FREE,
    "saturate exact": ["saturate", "sum.glen", "--rules", "ac.rules",
                       "--extractor", "exact"] + FREE,
    "saturate join": ["saturate", "sum.glen", "--rules", "join.rules"] + FREE,
    "compile rules": ["compile", "sum.glen", "--rules", "ac.rules", "-o",
                      "out.c"] + FREE,
    "compile max": ["compile", "reshapes.glen", "--fuse", "max", "-o",
                    "out.c"],
    "explain": ["explain", "sum.glen", "--rules", "ac.rules"] + FREE,
    "map": ["map", "sum.glen", "--rules", "ac.rules"] + FREE,
}


def run(glen, folder, words):
    start = time.monotonic()
    child = subprocess.Popen([glen] + words, cwd=folder,
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
    said = child.stderr.read().decode().strip().split("\n")[-1][:60]
    _, status, usage = os.wait4(child.pid, 0)
    return (time.monotonic() - start, usage.ru_maxrss / 1024,
            os.waitstatus_to_exitcode(status), said)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    glen = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        for name, words in COMMANDS.items():
            for limit in 0.5, 1, 3:
                s, _, code, said = run(glen, folder, words +
                                       ["--time-limit", str(limit)])
                fits = "" if s <= 1.2 * limit + 0.5 else "BEYOND"
                print(f"{name:16} {limit:6} s: {s:6.2f} s   exit {code} "
                      f"{fits} {said}", flush=True)
            for limit in 64, 128:
                _, size, code, said = run(glen, folder, words +
                                          ["--time-limit", "20",
                                           "--memory-limit", f"{limit}M"])
                fits = "" if size <= 1.2 * limit + 12 else "BEYOND"
                print(f"{name:16} {limit:6} M: {size:6.1f} M   exit {code} "
                      f"{fits} {said}", flush=True)


if __name__ == "__main__":
    main()
