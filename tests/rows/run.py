#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A new row of the tables of operators is refused until all of it is there.

usage: run.py BUILD

A row is added to a copy of ops.def (a compute operator), or of op.h (a view).
Sources that read the table are then compiled with the options of BUILD: they
must be refused for each column that is left out or empty, and, with a message
that names it, for each function or case that a whole row needs elsewhere.  The
table compiles with a whole row, and with an operator's so does its function.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
OPS_DEF, OP_H = "glenside/type/ops.def", "glenside/type/op.h"
COMPUTE = "glenside/interpret/interpret_compute.c"
counts = [0, 0]


def note(holds, what):
    counts[not holds] += 1
    if not holds:
        print("FAIL " + what)


def source(path):
    with open(os.path.join(ROOT, "src", path), encoding="utf-8") as f:
        return f.read()


class Tree:
    """The sources, some of them changed in a folder that is searched first."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        with open(os.path.join(build, "compile_commands.json"),
                  encoding="utf-8") as f:
            self.commands = {os.path.relpath(
                os.path.join(c["directory"], c["file"]),
                os.path.join(ROOT, "src")): c for c in json.load(f)}

    def put(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def compile(self, path, *more):
        """What the compiler says of a file; nothing where it takes it."""
        command = self.commands[path]
        words = shlex.split(command["command"])
        words = [w for w in words[:words.index("-MD")] if w != "ccache"]
        changed = os.path.join(self.folder, path)
        file = changed if os.path.exists(changed) else command["file"]
        done = subprocess.run(
            [words[0], "-I" + self.folder, *words[1:], "-Werror", "-O0",
             "-fdiagnostics-color=never", *(more or ["-fsyntax-only"]), file],
            cwd=command["directory"], capture_output=True, text=True)
        return done.stderr if done.returncode else ""

    def needs(self, path, symbol):
        """Whether the object of a file refers to a symbol that it lacks."""
        object_file = os.path.join(self.folder, "a.o")
        if self.compile(path, "-c", "-o", object_file):
            return False
        done = subprocess.run(["nm", "-u", object_file], capture_output=True,
                              text=True)
        return symbol in done.stdout.split()


def try_columns(tree, name, columns, write, readers):
    """Each column once left out and once empty; `write` puts the row in."""
    for k, column in enumerate(columns):
        for how, row in (("left out", columns[:k] + columns[k + 1:]),
                         ("empty", columns[:k] + [""] + columns[k + 1:])):
            write(row)
            note(any(tree.compile(path) for path in readers),
                 f"{name}: compiles with {column} {how}")
    write(columns)


# A new operator is a copy of one that is there, with names of its own.
def try_operator(tree):
    text = source(OPS_DEF)
    row = re.search(r"^COMPUTE\(ROUND, .*\)$", text, re.M)[0]
    columns = [c.strip() for c in row[len("COMPUTE("):-1].split(",")]
    columns[:2] = ["NEWEST", '"newest"']

    def write(columns):
        new = f"COMPUTE({', '.join(columns)})"
        tree.put(OPS_DEF, text.replace(row, row + "\n" + new))

    write(columns)
    note("real_NEWEST" in tree.compile(COMPUTE),
         "operator: its function is not missed")
    tree.put(COMPUTE, source(COMPUTE).replace(
        "REAL(ROUND)", "REAL(NEWEST) {\n  UNUSED;\n  return x;\n}\n\n"
        "REAL(ROUND)"))
    try_columns(tree, "operator", columns, write, ["glenside/type/op.c",
                                                   COMPUTE])
    for path in ("glenside/type/op.c", COMPUTE):
        said = tree.compile(path)
        note(not said, f"operator: a whole row does not compile: {said}")
    text = source(OPS_DEF)
    tree.put(OPS_DEF, text.replace(
        row, row + "\n" + row.replace("ROUND", "NEWEST").replace(
            "FLOATS", "ALL")))
    note("whole_NEWEST" in tree.compile(COMPUTE),
         "operator: its function on integers is not missed")
    os.remove(os.path.join(tree.folder, OPS_DEF))
    os.remove(os.path.join(tree.folder, COMPUTE))


INTERPRETER = "glenside/interpret/interpret_view.c"
# What these ask of a view, the traits of its row say.
VIEW_READERS = ["rules/instr/derive_dims.c", "prove/symbolic/spread_rule.c"]


def try_view(tree):
    text = source(OP_H)
    row = re.search(r"^  X\(REVERSE, .*\\$", text, re.M)[0]
    columns = [c.strip() for c in
               row.strip(" \\")[len("X("):-1].split(",")]
    columns[:2] = ["NEWEST", '"newest"']

    def write(columns):
        new = f"  X({', '.join(columns)}) \\"
        tree.put(OP_H, text.replace(row, new + "\n" + row))

    try_columns(tree, "view", columns, write, ["glenside/type/op.c",
                                               "glenside/type/view.c"])
    said = tree.compile("glenside/type/op.c")
    note(not said, f"view: a whole row does not compile: {said}")
    note("view_NEWEST" in tree.compile("glenside/type/view.c"),
         "view: its rows are not missed")
    note(tree.needs("glenside/infer/infer.c", "infer_NEWEST"),
         "view: its type is not missed")
    note("GS_NEWEST" in tree.compile(INTERPRETER),
         "view: what the interpreter computes is not missed")
    for path in VIEW_READERS:
        said = tree.compile(path)
        note(not said, f"view: {path} asks for more than its row: {said}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(os.path.abspath(sys.argv[1]), folder)
        try_operator(tree)
        try_view(tree)
    print(f"{counts[0]} passed, {counts[1]} failed")
    return counts[1] > 0


if __name__ == "__main__":
    sys.exit(main())
