# SPDX-License-Identifier: MIT
"""The planted faults: their lists, where each one lies, and copies of the tree
in which one is planted at a time."""
import glob
import hashlib
import os
import re
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests", "mutants")
HOME = os.path.join(ROOT, "build-mutants")
OPTIONS = ["-Dtests=enabled", "-Djansson=enabled", "-Dcbc=enabled",
           "-Donnx=enabled", "-Doptimization=1", "-Ddebug=false",
           "-Db_ndebug=false"]


class Fault:
    """One entry of a list: a line `# ID` or `# ID equivalent: REASON`, then a
    patch of one hunk."""

    def __init__(self, head, patch):
        self.id, _, why = head.partition(" equivalent: ")
        self.equivalent = why.strip()
        self.digest = hashlib.sha256(patch.encode()).hexdigest()[:8]
        self.path = re.search(r"^\+\+\+ b/(\S+)", patch, re.M)[1]
        self.folder = self.path.split("/")[1]
        begin, body = re.search(r"^@@ -(\d+)[^\n]*@@[^\n]*\n(.*)", patch,
                                re.M | re.S).groups()
        lines = body.removesuffix("\n").split("\n")
        self.begin = int(begin) - 1
        self.old = [x[1:] for x in lines if not x.startswith("+")]
        self.new = [x[1:] for x in lines if not x.startswith("-")]
        self.skip = next(k for k, x in enumerate(lines) if x[:1] in ("+", "-"))

    def place(self, text):
        """The number of the first line that the fault's context matches, the
        nearest to where it was drawn; None where it matches nowhere."""
        lines = text.split("\n")
        found = [k for k in range(len(lines) - len(self.old) + 1)
                 if lines[k:k + len(self.old)] == self.old]
        return min(found, key=lambda k: abs(k - self.begin), default=None)

    def planted(self, text):
        """The text with the fault; None where the fault does not apply."""
        k = self.place(text)
        if k is None:
            return None
        lines = text.split("\n")
        return "\n".join(lines[:k] + self.new + lines[k + len(self.old):])

    def line(self):
        """The number of the line that is changed, from 1; None if stale."""
        path = os.path.join(ROOT, self.path)
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as f:
            k = self.place(f.read())
        return None if k is None else k + self.skip + 1


def faults(lists=None):
    for path in sorted(glob.glob(lists or os.path.join(HERE, "*.patch"))):
        with open(path, encoding="utf-8") as f:
            parts = re.split(r"^# (.*)\n", f.read(), flags=re.M)[1:]
        for head, patch in zip(parts[::2], parts[1::2]):
            yield Fault(head, patch)


class Copy:
    """A copy of the working tree below build-mutants/, with its build folder."""

    def __init__(self, name, *options):
        self.tree = os.path.join(HOME, name)
        self.build = os.path.join(self.tree, "build")
        self.options = [*OPTIONS, *options]

    def synchronise(self):
        """Brings the copy to the state of the working tree; unchanged files
        keep their times, so that little is built."""
        names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"],
                               cwd=ROOT, capture_output=True, text=True,
                               check=True).stdout.split("\n")
        wanted = {name for name in names if name and
                  os.path.isfile(os.path.join(ROOT, name))}
        for name in wanted:
            source, copy = (os.path.join(d, name) for d in (ROOT, self.tree))
            with open(source, "rb") as f:
                content = f.read()
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if not os.path.exists(copy) or open(copy, "rb").read() != content:
                shutil.copyfile(source, copy)
                shutil.copymode(source, copy)
        for folder in ("src", "tests"):  # what the tree has no longer
            for at, _, files in os.walk(os.path.join(self.tree, folder)):
                for name in files:
                    path = os.path.relpath(os.path.join(at, name), self.tree)
                    if path not in wanted and "__pycache__" not in path:
                        os.remove(os.path.join(self.tree, path))

    def ninja(self, *targets):
        """Builds the targets, all if none is given: (exit code, output)."""
        done = subprocess.run(
            ["ninja", "-C", self.build, *targets], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", env=dict(os.environ, CCACHE_BASEDIR=HOME))
        return done.returncode, done.stdout

    def prepare(self, build=True):
        """Makes and builds the copy; what is wrong with it, or None."""
        os.makedirs(self.tree, exist_ok=True)
        self.synchronise()
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            done = subprocess.run(
                ["meson", "setup", self.build, self.tree, *self.options],
                stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode:
                return done.stdout + done.stderr
        code, out = self.ninja() if build else (0, "")
        return out[-3000:] if code else None

    def objects(self, path):
        """The object files that a source file becomes, and their bytes; they
        are built if need be."""
        stem = "_".join(path.split("/")[2:])
        at = os.path.join(self.build, "src", path.split("/")[1])
        found = []
        for folder, _, files in os.walk(at):
            for name in files:
                if name.endswith(".c.o") and name[:-2].replace(".._", "") in (
                        stem, os.path.basename(path)):
                    found.append(os.path.join(folder, name))
        code, _ = self.ninja(*(os.path.relpath(p, self.build) for p in found))
        return None if code else [open(p, "rb").read() for p in sorted(found)]
