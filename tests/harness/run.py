#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The judges, judged: each runner of tests is given something that is wrong.

usage: run.py GLEN

A runner that passes whatever it is given makes all that it runs worthless.  So
each is run on an input, or with a program in place of glen, of which it must
say that it fails; and on one that is right, of which it must not.
"""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import lanes  # noqa: E402
import manifest  # noqa: E402

GLEN = os.path.abspath(sys.argv[1])
EXAMPLE = os.path.join(ROOT, "examples/matmul.glen")
counts = [0, 0]


def note(holds, what):
    counts[not holds] += 1
    if not holds:
        print("FAIL " + what)


def run(script, *args):
    done = subprocess.run([sys.executable, os.path.join(ROOT, script), *args],
                          cwd=ROOT, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=900)
    return done.returncode, done.stdout + done.stderr


def write(folder, name, text, mode=0o644):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


# Programs that stand in for glen: it, but for one thing.
LIARS = {
    "refuses run": 'case "$1" in run) exit 4;; esac',
    "crashes in compile": 'case "$1" in compile) kill -SEGV $$;; esac',
    "prints another program": 'case "$*" in *--emit=glen*) echo "x$RANDOM";'
                              ' exit 0;; esac',
    "writes C that does not compile":
        'case "$*" in *"-o "*) for p; do :; done; echo "int" > "$p"; exit 0;;'
        ' esac',
}


def liar(folder, name, body):
    return write(folder, name.replace(" ", "-"),
                 f'#!/usr/bin/env bash\n{body}\nexec "{GLEN}" "$@"\n', 0o755)


def examples(folder):
    code, text = run("tests/run/examples.py", GLEN, EXAMPLE)
    note(code == 0, f"examples.py passes what is right: {text}")
    for name, body in LIARS.items():
        code, text = run("tests/run/examples.py", liar(folder, name, body),
                         EXAMPLE)
        note(code == 1 and "FAIL" in text, f"examples.py, glen {name}: {text}")


CONSOLE = """```console
$ echo one; echo two >&2; exit 3
{0}
```
"""


def console(folder):
    rows = {"one\ntwo\n[exit 3]": 0, "...\n[exit 3]": 0, "one\n[exit 3]": 1,
            "one\ntwo": 1, "one\ntwo\n[exit 4]": 1, "": 1,
            "one\ntwo\nthree\n[exit 3]": 1}
    for expected, wanted in rows.items():
        path = write(folder, "page.md", CONSOLE.format(expected))
        code, text = run("tests/console.py", GLEN, path)
        note(code == wanted, f"console.py on {expected!r}: {text}")
    path = write(folder, "page.md", "```console needs cpu:none-such\n$ false\n"
                 "```\n")
    code, text = run("tests/console.py", GLEN, path)
    note(code == 0 and manifest.skips(text), f"console.py tells skips: {text}")


def ill_formed(folder):
    fail = os.path.join(ROOT, "tests/fail/run.py")
    case = "access-range.glen"
    code, text = run(fail, GLEN, case)
    note(code == 0, f"fail/run.py passes what is right: {text}")
    bodies = {"accepts everything": "exit 0", "says nothing": "exit 1",
              "crashes": "kill -SEGV $$",
              "says it on stdout": f'"{GLEN}" "$@" 2>&1; exit 1'}
    for name, body in bodies.items():
        code, text = run(fail, liar(folder, name, body), case)
        note(code == 1, f"fail/run.py, glen {name}: {text}")


def counting():
    """The manifest: fewer checks and unknown skips are failures."""
    least = manifest.load()["steps"]["unit"]
    allowed = next(iter(manifest.load()["skips"]))
    rows = [("unit", least, [], (), 0), ("unit", least + 5, [], (), 0),
            ("unit", least - 1, [], (), 1), ("unit", 0, [], (), 1),
            ("unheard-of", 9, [], (), 1),
            ("unit", least, [("unheard-of", "why")], (), 1),
            ("unit", least - 9, [("unheard-of", "why")], ("unheard-of",), 0),
            ("unit", least, [(allowed, "why")], (), 0),
            ("unit", 0, [(allowed, "why")], (), 1)]
    for step, passed, skipped, more, wanted in rows:
        found = manifest.complaints(step, passed, skipped, more)
        note(bool(found) == bool(wanted),
             f"complaints({step}, {passed}, {skipped}, {more}): {found}")
    note(manifest.skips("skipped a: b\nskipped a: b\n  skipped c: d e\n") ==
         [("a", "b"), ("c", "d e")], "skips are told once each")


def steps(folder):
    """Steps that fail, crash, print no count, or stand on one that failed."""
    script = write(folder, "step.py", "import os, sys\n"
                   "exec({'good': 'print(\"3 passed, 0 failed\")',\n"
                   "'bad': 'print(\"2 passed, 1 failed\"); sys.exit(1)',\n"
                   "'liar': 'print(\"2 passed, 0 failed\"); sys.exit(1)',\n"
                   "'mute': 'pass', 'crash': 'os.abort()'}[sys.argv[1]])\n")
    table = {name: lanes.Step(None) for name in
             ("good", "bad", "liar", "mute", "crash")}
    table["after"] = lanes.Step(None, ["bad"])
    done = lanes.run(table, list(table), [sys.executable, script], 2)
    wanted = {"good": (3, 0), "bad": (2, 1), "liar": (2, 1), "mute": (0, 1),
              "crash": (0, 1), "after": (0, 1)}
    note(done == wanted, f"lanes.run: {done}")


METHODS = [
    ("| `loops/nest.h`, `PO_LOOP` | `nest/*` |", 0),
    ("| `loops/no-nest.h` | `nest/*` |", 1),
    ("| `loops/nest.h`, `no_such_function` | `nest/*` |", 1),
    ("| `loops/nest.h`, `--no-such-option` | `nest/*` |", 1),
    ("| `loops/nest.h` | `nest/no_such_test` |", 1),
    ("| `loops/nest.h` | some test |", 1),
    ("| `loops/nest.h` |", 1),
]


def methods(folder):
    """Rows that name what is not there, or too little."""
    for row, wanted in METHODS:
        path = write(folder, "methods.md", "| idea | lives in | shown by |\n"
                     f"|---|---|---|\n| it {row}\n")
        code, text = run("scripts/check-methods", path)
        note(code == wanted, f"check-methods of {row}: {text}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        examples(folder)
        console(folder)
        ill_formed(folder)
        counting()
        steps(folder)
        methods(folder)
    print(f"{counts[0]} passed, {counts[1]} failed")
    sys.exit(1 if counts[1] else 0)


if __name__ == "__main__":
    main()
