# SPDX-License-Identifier: MIT
"""Every function of the public headers is called by a test in C.

Comments and strings do not count, nor does a macro of a function's name where
the function itself is meant: `(glen_tune_defaults)(&options)` calls it."""
import os
import re

from harness import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = ["tests/unit", "tests/run", "tests/install", "examples/embed"]
LITERALS = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"", re.S)


def sources():
    for folder in FOLDERS:
        for at, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".c", ".h", ".cc")):
                    with open(os.path.join(at, name), encoding="utf-8") as f:
                        yield LITERALS.sub(" ", f.read())


def macros(installed):
    """Names of functions that are macros, too."""
    return set(re.findall(r"#define (glen_\w+)\(", installed.headers()))


def uncalled(names, text, hidden):
    """Those of the names that nothing in the text calls."""
    called = set(re.findall(r"\b(glen_\w+)\s*\(", text)) - hidden
    called |= {name + "_of" for name in
               set(re.findall(r"\b(glen_\w+)\s*\(", text)) & hidden}
    called |= set(re.findall(r"\((glen_\w+)\)\s*\(", text))
    return [name for name in names if name not in called]


def check(installed):
    with open(os.path.join(HERE, "exported.txt"), encoding="utf-8") as f:
        names = f.read().split()
    hidden = macros(installed)
    missing = uncalled(names, "\n".join(sources()), hidden)
    installed.expect("every public function is called by a test", not missing,
                     " ".join(missing))
    # That one is noticed which is spoken of and not called.
    spoken = LITERALS.sub(" ", '/* glen_a(x) */ puts("glen_b(x)"); glen_c(x);'
                          " glen_d(x);")
    seen = uncalled(["glen_a", "glen_b", "glen_c", "glen_d", "glen_d_of"],
                    spoken, {"glen_d"})
    installed.expect("what is only spoken of is not called",
                     seen == ["glen_a", "glen_b", "glen_d"], seen)
