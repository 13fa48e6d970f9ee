#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the ```console blocks of Markdown files and compares what they print.

A block holds commands (`$ command`, with the text that `<<'END'` gives it), each
followed by what it prints: stdout, then stderr, then `[exit N]` unless N is 0.  A line that is `...` stands for any
lines, `...` inside a line for any text.  Commands run in a scratch folder in
which examples/, rules/, targets/, tests/ and docs/ are those of the source
tree, with `glen` on the PATH.  A block opened as ```console needs cpu:FLAG runs
only on a processor whose /proc/cpuinfo has that flag, and is told as skipped on
others.

usage: console.py GLEN FILE.md... [--bless]
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINKS = ["examples", "rules", "targets", "tests", "docs", "bench"]


def pattern_of(expected):
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(".*?".join(map(re.escape, line.split("..."))) + "\n")
    return re.compile("".join(parts))


def folders_of(glen):
    """The folders of glen and of the checker of proofs that is built with it."""
    here = os.path.dirname(glen)
    return here + ":" + os.path.join(os.path.dirname(here), "check")


def run(command, folder, glen):
    env = dict(os.environ, PATH=folders_of(glen) + ":" + os.environ["PATH"],
               NO_COLOR="1", LC_ALL="C.UTF-8")
    env.pop("CLICOLOR_FORCE", None)
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=env,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=600)
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    if text and not text.endswith("\n"):
        text += "\n"
    if done.returncode:
        text += f"[exit {done.returncode}]\n"
    return text


def has(need):
    """Whether this machine has what a block asks for."""
    kind, _, flag = need.partition(":")
    if kind != "cpu":
        sys.exit(f"a block needs {need}; known is cpu:FLAG")
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return flag in f.read().split()


def is_run(line):
    """Whether a line opens a block of commands that can run here."""
    opening = re.fullmatch(r"```console(?: needs (\S+))?", line.rstrip())
    if not opening or not opening[1] or has(opening[1]):
        return bool(opening)
    print(f"skipped {opening[1]}: this machine does not have it")
    return False


def blocks(lines):
    """Yields (first, last) line numbers of the commands and their output."""
    inside, start = False, None
    for number, line in enumerate(lines):
        if not inside and is_run(line):
            inside = True
        elif inside and (line.startswith("$ ") or line.rstrip() == "```"):
            if start is not None:
                yield start, number
            start = number if line.startswith("$ ") else None
            inside = line.rstrip() != "```"


def command_at(lines, first, last):
    """The lines of a command, with those that it continues on and what it has
    as a text of its own (<<'END'); where its output begins."""
    command, body = [lines[first][2:]], first + 1
    end = re.search(r"<<'(\w+)'", command[0])
    while body < last and (command[-1] != end[1] if end else
                           command[-1].endswith("\\")):
        command.append(lines[body])
        body += 1
    return command, body


def check_file(path, glen, bless):
    passed = failed = 0
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    replaced = []
    with tempfile.TemporaryDirectory() as folder:
        for name in LINKS:
            if os.path.exists(os.path.join(ROOT, name)):
                os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
        for first, last in blocks(lines):
            command, body = command_at(lines, first, last)
            expected = lines[body:last]
            actual = run("\n".join(command), folder, glen)
            if pattern_of(expected).fullmatch(actual):
                passed += 1
            elif bless:
                replaced.append((body, last, actual.split("\n")[:-1]))
            else:
                failed += 1
                print(f"FAIL {os.path.relpath(path, ROOT)}:{first + 1}: "
                      f"{command[0]}")
                print("  expected:\n    " + "\n    ".join(expected))
                print("  actual:\n    " + actual.replace("\n", "\n    "))
    for body, last, text in reversed(replaced):
        lines[body:last] = text
    if replaced:
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
        print(f"blessed {len(replaced)} outputs of {path}")
    return passed, failed


def main():
    arguments = [a for a in sys.argv[1:] if a != "--bless"]
    if len(arguments) < 2:
        sys.exit(__doc__)
    glen, passed, failed = os.path.abspath(arguments[0]), 0, 0
    for path in arguments[1:]:
        p, f = check_file(path, glen, "--bless" in sys.argv)
        passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
