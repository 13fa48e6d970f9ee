#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the wheel, installs it into a fresh environment, and runs its tests
there, where nothing of the sources can be imported.

usage: run.py BUILD [PYTEST OPTION]...

Packages of the environment are had by pip once and kept in BUILD/python.
"""
import fcntl
import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NEEDED = os.path.join(HERE, "requirements.txt")


def run(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", **more)


def wanted():
    with open(NEEDED, encoding="utf-8") as f:
        return f"{sys.version}\n{f.read()}"


def environment(folder):
    """As made_environment, one at a time: another step may want it, too."""
    with open(folder + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return made_environment(folder)


def made_environment(folder):
    """The interpreter of an environment that has what the tests need; None
    where that cannot be had."""
    python = os.path.join(folder, "bin", "python")
    ready = os.path.join(folder, "ready")
    if os.path.exists(ready):
        with open(ready, encoding="utf-8") as f:
            if f.read() == wanted():
                return python
    shutil.rmtree(folder, ignore_errors=True)
    for command in ([sys.executable, "-m", "venv", folder],
                    [python, "-m", "pip", "install", "--quiet",
                     "--disable-pip-version-check", "-r", NEEDED]):
        done = run(command)
        if done.returncode:
            print(done.stdout[-2000:])
            return None
    with open(ready, "w", encoding="utf-8") as f:
        f.write(wanted())
    return python


def install(build, python, wheels):
    """The wheel, by a folder of its own, into the environment; what was said
    where that failed."""
    done = run([os.path.join(ROOT, "scripts", "build-wheel"), build, wheels],
               env=dict(os.environ, PYTHON=python))
    if done.returncode:
        return done.stdout
    print(done.stdout.strip().splitlines()[-1])
    done = run([python, "-m", "pip", "install", "--quiet", "--no-deps",
                "--force-reinstall", "--disable-pip-version-check",
                *glob.glob(os.path.join(wheels, "glen-*.whl"))])
    return done.stdout if done.returncode else None


def tell_skips(text):
    """What was left out as lines that check.py reads."""
    for module in re.findall(r"SKIPPED .*could not import '(\w+)'", text):
        print(f"skipped {module}: its package is not among those of the tests")


def with_torch():
    """An interpreter beside this one that has PyTorch, as that of Debian has
    with the package python3-torch; or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and not run(
                [python, "-c", "import torch, numpy"]).returncode:
            return python
    return None


def check_torch(build, wheels):
    """The tests of arrays of other libraries, where PyTorch is one of them."""
    python, folder = with_torch(), os.path.join(build, "python-torch")
    if python is None:
        print("skipped torch: PyTorch is not installed here")
        return 0, 0
    shutil.rmtree(folder, ignore_errors=True)
    done = run([python, "-m", "venv", "--system-site-packages", folder])
    python = os.path.join(folder, "bin", "python")
    for what in (["pytest"], ["--no-deps", *glob.glob(
            os.path.join(wheels, "glen-*.whl"))]):
        done = done if done.returncode else run(
            [python, "-m", "pip", "install", "--quiet",
             "--disable-pip-version-check", *what])
    if done.returncode:
        print(f"skipped torch: {done.stdout.strip().splitlines()[-1]}")
        return 0, 0
    done = run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k",
                "torch or dlpack", os.path.join(HERE, "test_kernel.py")],
               cwd=wheels)
    failed = count(done.stdout.strip(), "failed")
    if done.returncode:
        print(done.stdout)
    return (count(done.stdout.strip(), "passed"),
            failed or (1 if done.returncode else 0))


def count(text, word):
    found = re.findall(rf"(\d+) {word}", text.splitlines()[-1] if text else "")
    return int(found[0]) if found else 0


def main():
    build = os.path.abspath(sys.argv[1])
    python = environment(os.path.join(build, "python"))
    if python is None:
        print("skipped python-packages: numpy and pytest cannot be had here")
        print("0 passed, 0 failed")
        return 0
    wrong = install(build, python, os.path.join(build, "wheels"))
    if wrong:
        print(f"{wrong}\n0 passed, 1 failed")
        return 1
    done = run([python, "-m", "pytest", "-q", "-rs", "-p",
                "no:cacheprovider", HERE,
                *sys.argv[2:]], cwd=os.path.join(build, "wheels"))
    text = done.stdout.strip()
    print(text)
    more, wrong = (0, 0)
    if "could not import 'torch'" in text:
        more, wrong = check_torch(build, os.path.join(build, "wheels"))
        text = text.replace("could not import 'torch'", "")
    tell_skips(text)
    failed = count(text, "failed") + count(text, "error")
    failed = wrong + (failed or (1 if done.returncode else 0))
    print(f"{count(text, 'passed') + more} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
