# SPDX-License-Identifier: MIT
"""Documents cell by cell: what they say is printed is printed."""
import ast
import contextlib
import io
import os
import re

import pytest

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                    "docs")
CELL = re.compile(r"^```python\n(.*?)^```\n(?:```output\n(.*?)^```\n)?",
                  re.M | re.S)


SAVED = re.compile(r"^\$ cat > (\S+) <<'END'\n(.*?)^END\n", re.M | re.S)


def text_of(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as f:
        return f.read()


def save_first(text, folder):
    """The first file that a document tells its reader to save, if any."""
    for name, content in SAVED.findall(text)[:1]:
        (folder / name).write_text(content)


def cells(text):
    """(line, code, output or None) of every block."""
    for found in CELL.finditer(text):
        yield text.count("\n", 0, found.start()) + 2, found[1], found[2]


def run(name, code, line, names):
    """What the cell prints; a last line that is an expression is shown."""
    parts = ast.parse(code)
    ast.increment_lineno(parts, line - 1)
    last = parts.body.pop() if isinstance(parts.body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(parts, "docs/" + name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "docs/" + name,
                                 "eval"), names)
            if value is not None:
                print(repr(value))
    return said.getvalue()


@pytest.mark.parametrize("name, most", [("PYTHON.md", 10),
                                        ("GETTING-STARTED.md", 1)])
def test_every_cell(name, most, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = text_of(name)
    save_first(text, tmp_path)
    names, wrong, count = {}, [], 0
    for line, code, output in cells(text):
        said = run(name, code, line, names)
        count += 1
        if said.rstrip() != (output or "").rstrip():
            wrong.append(f"line {line}:\n{said}")
    assert count > most
    assert not wrong, "\n".join(wrong)
