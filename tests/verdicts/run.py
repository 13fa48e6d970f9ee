#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What every command says, and with which exit code, when something is wrong.

usage: run.py GLEN [WORD]      WORD: only the groups whose name holds it

All other suites rest on these exit codes.  A kernel that computes something
else, a rule that does not hold, a test that fails, a result that cannot be
written: each is brought about here, in a way that no other part of glen has a
hand in, and must be told by code and message, with no output left that looks
right.
"""
import os
import re
import subprocess
import sys
import tempfile

import said

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
GLEN = os.path.abspath(sys.argv[1])
counts = [0, 0]

PROGRAM = """(tensor a (shape 4 5) f32)
(let s (compute reduceSum (access a 1)))
(let t (compute neg a))
(output s)
(output t)
"""
INTEGERS = """(tensor a (shape 3 7) i8)
(let t (compute neg a))
(output t)
"""
LOOPS_SCRIPT = "split U.i0 2\n"

# The compiler that glen is given appends this to the kernel that it compiles:
# the right kernel under another name, and one in its place that does more.
COMPILER = """#!/usr/bin/env python3
import os, subprocess, sys
args = sys.argv[1:]
for path in args:
    if path.endswith("kernel.c") and "--version" not in args:
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write("#define kernel right\\n#define kernel_workspace_size "
                    "right_size\\n#include \\"kernel.h\\"\\n" + text +
                    "\\n#undef kernel\\n#undef kernel_workspace_size\\n" +
                    {body!r})
sys.exit(subprocess.call(["cc", "-Wno-error"] + args))
"""
BODY = """
#include <math.h>
#include <stdlib.h>
size_t kernel_workspace_size(void) {{ return right_size(); }}
int kernel(const {a} *a, {outs}, void *workspace) {{
  int code = right(a, {names}, workspace);
  {fault}
  return code;
}}
"""
FLOATS = {"a": "float", "outs": "float *s, float *t", "names": "s, t"}
BYTES = {"a": "signed char", "outs": "signed char *t", "names": "t"}


class Folder:
    """A scratch folder, its files, and glen in it."""

    def __init__(self, path):
        self.path, self.program, self.root = path, GLEN, ROOT
        self.write("p.glen", PROGRAM)
        self.write("i.glen", INTEGERS)

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.path, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def compiler(self, fault, types):
        body = BODY.format(fault=fault, **types)
        return self.write("cc.py", COMPILER.format(body=body), 0o755)

    def glen(self, *args, **more):
        env = dict(os.environ, NO_COLOR="1", LC_ALL="C.UTF-8")
        return subprocess.run([GLEN, *args], cwd=self.path, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=600, **more)

    def files(self):
        return set(os.listdir(self.path))


def note(holds, what):
    counts[not holds] += 1
    if not holds:
        print("FAIL " + what)


def expect(folder, command, code, message, absent=()):
    """Runs glen; its exit code, a pattern in what it prints, and files that it
    must not have written."""
    done = folder.glen(*command)
    said = done.stdout + done.stderr
    note(done.returncode == code and re.search(message, said),
         f"{' '.join(command)}: exit {done.returncode}, not {code}; or no "
         f"/{message}/ in\n{said[-1500:]}")
    for name in absent:
        note(name not in folder.files(), f"{' '.join(command)} left {name}")
        if name in folder.files():
            os.unlink(os.path.join(folder.path, name))


# (fault, which kernel, exit code, message)
KERNELS = [
    ("", FLOATS, 0, "equal to the interpreter"),
    ("s[1] *= 1.000001f;", FLOATS, 0, "equal to the interpreter"),
    ("s[0] += 1;", FLOATS, 4, "mismatch: element 0 of s"),
    ("s[3] += 1;", FLOATS, 4, "mismatch: element 3 of s"),
    ("t[19] += 1;", FLOATS, 4, r"mismatch: element 19 of t .*\(1 element differs"),
    ("t[0] *= 1.001f;", FLOATS, 4, "mismatch: element 0 of t"),
    ("t[5] = NAN;", FLOATS, 4, "mismatch: element 5 of t"),
    ("t[6] = INFINITY;", FLOATS, 4, "mismatch: element 6 of t"),
    ("for (int k = 0; k < 20; k++) t[k] = 0;", FLOATS, 4, "20 elements|19 ele"),
    ("code = 1;", FLOATS, None, "kernel"),
    ("abort();", FLOATS, None, "kernel|program"),
    ("", BYTES, 0, "equal to the interpreter"),
    ("t[20] ^= 1;", BYTES, 4, "mismatch: element 20 of t"),
]


def wrong_kernels(folder):
    for fault, types, code, message in KERNELS:
        cc = folder.compiler(fault, types)
        name = "p.glen" if types is FLOATS else "i.glen"
        for more in ([], ["--quiet"], ["--print", "0"], ["--json"]):
            done = folder.glen("run", name, "--check", "--cc", cc, "--output",
                               "out.npy", *more)
            said = done.stderr
            good = done.returncode == code if code is not None else \
                done.returncode not in (0, 4)
            note(good and (re.search(message, said) or
                           (code == 0 and "--quiet" in more)),
                 f"run --check, {fault!r} {more}: exit {done.returncode}\n"
                 f"{said}")
            written = {f for f in folder.files() if f.endswith(".npy")}
            note(bool(written) == (code == 0),
                 f"run --check, {fault!r}: wrote {written}")
            for f in written:
                os.unlink(os.path.join(folder.path, f))


UNSOUND = '(rule wrong "it is not" (compute neg ?a) => ?a)\n'
OTHER_TYPE = '(rule wrong "it is not" (compute reduceSum ?a) => ?a)\n'
RIGHT = '(rule right "it is" (compute neg (compute neg ?a)) => ?a)\n'
# Equal but for a rounding that no argument of the prover covers.
OPEN = """(rule open "Two tenths are a hundredth."
  (compute (scale 0.1) (compute (scale 0.1) ?a)) => (compute (scale 0.01) ?a))
"""
COMMANDS = [["saturate"], ["compile", "-o", "out.c"], ["run", "--output",
            "out.npy"], ["explain"], ["map"]]


def wrong_rules(folder):
    folder.write("unsound.rules", UNSOUND)
    folder.write("type.rules", OTHER_TYPE)
    folder.write("right.rules", RIGHT)
    for command in COMMANDS:
        expect(folder, [*command, "p.glen", "--rules", "type.rules"], 4,
               r"type.rules:1:7: error: rule wrong equated .*unsound-rule",
               ("out.c", "out.h", "out.npy"))
    for command in (["saturate"], ["compile", "-o", "out.c"]):
        expect(folder, [*command, "p.glen", "--rules", "unsound.rules",
                        "--verify"], 4, "refuted|do not compute the same",
               ("out.c", "out.h"))
    expect(folder, ["run", "p.glen", "--rules", "unsound.rules", "--check"], 4,
           "mismatch: element 0 of t")
    expect(folder, ["rules", "prove", "unsound.rules"], 4, "refuted +wrong")
    expect(folder, ["rules", "prove", "type.rules"], 4, "refuted +wrong")
    expect(folder, ["rules", "prove", "right.rules"], 0, "proved")
    expect(folder, ["rules", "test", "unsound.rules", "--random", "20"], 4,
           "wrong")
    expect(folder, ["rules", "check", "type.rules"], 1, "type.rules:1:")


# (rules, the program's term, option, exit code)
VERIFIED = [
    (RIGHT, "(compute neg (compute neg a))", "--verify", 0),
    (RIGHT, "(compute neg (compute neg a))", "--verify=tested", 0),
    (OPEN, "(compute (scale 0.1) (compute (scale 0.1) a))", "--verify", 3),
    (OPEN, "(compute (scale 0.1) (compute (scale 0.1) a))", "--verify=proved",
     3),
    (OPEN, "(compute (scale 0.1) (compute (scale 0.1) a))", "--verify=tested",
     0),
    (UNSOUND, "(compute neg a)", "--verify", 4),
    (UNSOUND, "(compute neg a)", "--verify=tested", 4),
]


def verified(folder):
    """--verify: 0 for a proof only, and no code for what is refuted."""
    for rules, term, option, code in VERIFIED:
        folder.write("v.rules", rules)
        folder.write("v.glen", f"(tensor a (shape 3) f32)(let t {term})"
                     "(output t)")
        for command in (["saturate"], ["compile", "-o", "out.c"]):
            expect(folder, [*command, "v.glen", "--rules", "v.rules", option],
                   code, "", ("out.c", "out.h") if code == 4 else ())
        for name in {"out.c", "out.h"} & folder.files():
            os.unlink(os.path.join(folder.path, name))


TESTS = RIGHT + """(test it :rules (right)
  (program (tensor x (shape 3) f32)
    (let y (compute neg (compute neg x)))
    (output y))
  {clause})
"""


def failed_tests(folder):
    rows = [("(finds x)", 0, "1 passed, 0 failed"),
            ("(finds (compute relu ?b) :in anywhere)", 4,
             "0 passed, 1 failed"),
            ("(never x)", 4, "0 passed, 1 failed"),
            ("(never (compute relu ?b))", 0, "1 passed, 0 failed")]
    for clause, code, message in rows:
        folder.write("t.rules", TESTS.format(clause=clause))
        expect(folder, ["rules", "test", "t.rules"], code, message)


def two_programs(folder):
    text = "(tensor a (shape 3) {0})(let b {1})(output b)"
    folder.write("neg.glen", text.format("f32", "(compute neg a)"))
    rows = [("f32", "(compute neg a)", 0, "proved"),
            ("f32", "(compute (scale -1) a)", 0, "proved"),
            ("f32", "a", 4, "refuted"),
            ("f32", "(compute (offset 1) (compute neg a))", 4, "refuted"),
            ("f64", "(compute neg a)", 1, "error")]
    for dtype, term, code, message in rows:
        folder.write("other.glen", text.format(dtype, term))
        for more in ([], ["--json"]):
            expect(folder, ["check", "neg.glen", "other.glen", *more], code,
                   message)
    folder.write("two.glen", "(tensor a (shape 3) f32)(let b (compute neg a))"
                 "(let c a)(output b)(output c)")
    expect(folder, ["check", "neg.glen", "two.glen"], 1, "error")
    expect(folder, ["check", "two.glen", "neg.glen"], 1, "error")


def unwritable(folder):
    """Outputs that cannot be written: no command says that all is well."""
    os.mkdir(os.path.join(folder.path, "folder"))
    folder.write("s.sched", "")
    loops = folder.glen("compile", "i.glen", "--emit", "loops").stdout
    folder.write("p.loops", loops)
    rows = [["compile", "p.glen", "-o", "{}"],
            ["compile", "p.glen", "-o", "o.c", "--depfile", "{}"],
            ["compile", "p.glen", "--emit", "loops", "-o", "{}"],
            ["saturate", "p.glen", "--rules", os.path.join(ROOT, "rules"),
             "--emit", "html", "-o", "{}"],
            ["run", "i.glen", "--output", "{}"],
            ["run", "i.glen", "--interpret", "--output", "{}"],
            ["run", "p.loops", "--interpret", "--output", "{}"],
            ["schedule", "p.loops", "--sched", "s.sched", "-o", "{}"],
            ["layout", "p.loops", "-o", "{}"]]
    for row in rows:
        for target in ("none-such/x.c", "folder", "i.glen/x"):
            before = folder.files() - {"o.c", "o.h"}
            command = [w.format(target) for w in row]
            expect(folder, command, 1, "error|cannot|glen:")
            note(folder.files() - {"o.c", "o.h"} == before,
                 f"{' '.join(command)} left files: "
                 f"{folder.files() - before}")
    full = [["--help"], ["--version"], ["completions", "bash"],
            ["saturate", "p.glen", "--rules", os.path.join(ROOT, "rules")],
            ["check", "p.glen", "p.glen"], ["run", "i.glen", "--interpret"],
            ["target", "--detect"], ["compile", "p.glen", "--emit", "c"],
            ["rules", "check", os.path.join(ROOT, "rules")]]
    for command in full:
        with open("/dev/full", "w") as out:
            done = subprocess.run([GLEN, *command], cwd=folder.path,
                                  stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=subprocess.PIPE, text=True)
        note(done.returncode == 1 and "stdout" in done.stderr,
             f"{' '.join(command)} >/dev/full: exit {done.returncode}\n"
             f"{done.stderr}")


def misuse(folder):
    """A wrong command line is no success of any command."""
    for command in ("saturate", "compile", "run", "schedule", "layout",
                    "check", "explain", "map", "extract", "lsp", "target",
                    "completions"):
        expect(folder, [command, "--none-such"], 2, "none-such")
    for command in ("test", "prove", "check", "fmt", "ablate"):
        expect(folder, ["rules", command, "--none-such"], 2, "none-such")
    expect(folder, ["none-such"], 2, "none-such")
    expect(folder, [], 2, "usage")
    expect(folder, ["run", "none-such.glen"], 1, "none-such.glen")
    expect(folder, ["run", "p.glen", "--input", "a=none-such.npy"], 1,
           "none-such.npy")
    # What an option names is not there, whichever options stand beside it.
    beside = {"compile": ["--tune=2", "--choose=2", "--fuse=smart",
                          "--dispatch=none", "--strict-fp", "--quiet"],
              "run": ["--tune=2", "--choose=2", "--fuse=smart", "--strict-fp",
                      "--check"]}
    for command, more in beside.items():
        for options in [[], *([o] for o in more), more[:1] + more[-2:]]:
            for name in ("--prepack", "--target", "--rules"):
                expect(folder, [command, "p.glen", name, "none-such", *options],
                       1, "none-such")


def reports(folder):
    said.reports(folder, note)


def forms(folder):
    said.forms(folder, note)


def long_lists(folder):
    said.long_lists(folder, note)


def indented(folder):
    said.indented(folder, note)


def helped(folder):
    said.helped(folder, note)


def terminal(folder):
    said.terminal(folder, note)


def descriptors(folder):
    said.descriptors(folder, note)


GROUPS = [wrong_kernels, wrong_rules, verified, failed_tests, two_programs, unwritable,
          misuse, reports, forms, long_lists, indented, helped, terminal,
          descriptors]


def main():
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    for group in GROUPS:
        if word in group.__name__:
            with tempfile.TemporaryDirectory() as folder:
                group(Folder(folder))
    print(f"{counts[0]} passed, {counts[1]} failed")
    sys.exit(1 if counts[1] else 0)


if __name__ == "__main__":
    main()
