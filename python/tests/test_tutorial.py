# SPDX-License-Identifier: MIT
"""The tutorial, cell by cell: what it says is printed is printed."""
import ast
import contextlib
import io
import os
import re

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                    "docs")
CELL = re.compile(r"^```python\n(.*?)^```\n(?:```output\n(.*?)^```\n)?",
                  re.M | re.S)


def cells():
    """(line, code, output or None) of every block."""
    with open(os.path.join(DOCS, "PYTHON.md"), encoding="utf-8") as f:
        text = f.read()
    for found in CELL.finditer(text):
        yield text.count("\n", 0, found.start()) + 2, found[1], found[2]


def run(code, line, names):
    """What the cell prints; a last line that is an expression is shown."""
    parts = ast.parse(code)
    ast.increment_lineno(parts, line - 1)
    last = parts.body.pop() if isinstance(parts.body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(parts, "docs/PYTHON.md", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "docs/PYTHON.md",
                                 "eval"), names)
            if value is not None:
                print(repr(value))
    return said.getvalue()


def test_every_cell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, wrong, count = {}, [], 0
    for line, code, output in cells():
        said = run(code, line, names)
        count += 1
        if said.rstrip() != (output or "").rstrip():
            wrong.append(f"line {line}:\n{said}")
    assert count > 10
    assert not wrong, "\n".join(wrong)
