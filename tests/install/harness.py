# SPDX-License-Identifier: MIT
"""What the tests of an installation share: a prefix, a scratch folder that has
no way back to the sources, and counted expectations."""
import os
import shutil
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


class Installed:
    """A prefix, moved from where it was configured to be, and a scratch
    folder beside it in which commands run.  Without a build folder the caller
    sets a prefix that is there already."""

    def __init__(self, build, folder):
        self.passed = self.failed = 0
        self.build, self.prefix = build, None
        began = time.monotonic()
        self.scratch = os.path.join(folder, "scratch")
        os.mkdir(self.scratch)
        if build is not None:
            self.install(folder)
        self.seconds = time.monotonic() - began

    def install(self, folder):
        there = os.path.join(folder, "there")
        done = subprocess.run(
            ["meson", "install", "-C", self.build, "--no-rebuild",
             "--destdir", there], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        # Where it was configured to be, below the folder.
        top = [at for at, folders, _ in os.walk(there) if "bin" in folders][0]
        self.prefix = os.path.join(folder, "prefix")
        os.rename(top, self.prefix)
        shutil.rmtree(there)

    def file(self, *names):
        return os.path.join(self.prefix, *names)

    def find(self, name):
        """The path of a file below the prefix, or None."""
        for at, _, names in os.walk(self.prefix):
            if name in names:
                return os.path.join(at, name)
        return None

    def headers(self):
        """The text of all public headers."""
        folder = self.file("include/glen")
        text = ""
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                text += f.read()
        return text

    def environment(self, **more):
        return dict({
            "PATH": self.file("bin") + ":/usr/local/bin:/usr/bin:/bin",
            "HOME": self.scratch, "LC_ALL": "C.UTF-8", "NO_COLOR": "1",
        }, **self.places(), **more)

    def places(self):
        """Where to look for libraries, which tools know of a prefix that is
        not moved."""
        if self.build is None:
            return {}
        libraries = os.path.dirname(self.find("libglen.so"))
        return {"LD_LIBRARY_PATH": libraries,
                "PKG_CONFIG_PATH": os.path.join(libraries, "pkgconfig"),
                "CMAKE_PREFIX_PATH": self.prefix}

    def run(self, command, at=None, **environment):
        """(exit code, stdout, stderr) of a list of words, or of a text for the
        shell."""
        done = subprocess.run(
            command, shell=isinstance(command, str), executable=None,
            cwd=at or self.scratch, env=self.environment(**environment),
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=300)
        return done.returncode, done.stdout, done.stderr

    def expect(self, what, holds, seen=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {what}\n  {seen}")
        return holds

    def says(self, command, code=0, out="", err="", at=None, **environment):
        """The command ends with the code, and what it prints has the texts."""
        seen = self.run(command, at, **environment)
        self.expect(command if isinstance(command, str) else " ".join(command),
                    seen[0] == code and out in seen[1] and err in seen[2],
                    f"exit {seen[0]}\n{seen[1][-1500:]}{seen[2][-1500:]}")
        return seen[1]

    def copy(self, *path):
        """A file of the sources, copied out; its name."""
        shutil.copy(os.path.join(ROOT, *path), self.scratch)
        return path[-1]

    def write(self, name, text):
        path = os.path.join(self.scratch, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path
