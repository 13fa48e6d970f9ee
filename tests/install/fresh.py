#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A system with nothing on it, and what the documents tell a newcomer to do.

usage: MIRROR=URL fresh.py FOLDER [--suite SUITE] [--components LIST]

Puts a minimal Debian or Ubuntu into FOLDER by debootstrap, or takes a copy of the
one that an earlier run has put there, and clones what is committed into it.
Inside, the commands of GETTING-STARTED.md set glen up, install it and make a
wheel.  Then the clone is removed, and with the prefix alone all
examples are built and all recipes followed: C, C++, Python, Make, Ninja, CMake,
Meson, and the documents line by line.

MIRROR names where packages come from.  For Debian 13, say --suite trixie; for
Ubuntu, --suite jammy or noble, and --components main,universe.  Needs root,
debootstrap, and half an hour, since the whole of glen is built; that is why it is
no step of scripts/check.py.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
CLONE, KEPT = "/home/glen", "/home/kept"
# What pip is told to trust on this machine, where no package puts its own.
TRUSTED = "/etc/trusted-by-pip.crt"
# What a recipe names that is neither glen nor in a minimal system.
TOOLS = ["make", "cmake", "g++", "groff-base", "pkg-config"]
# Mounts end with the process that made them.
INSIDE = """set -e
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
exec chroot "$1" sh -c "$2"
"""


def commands(document, heading):
    """The indented lines below a heading, without what they say behind #."""
    with open(os.path.join(ROOT, document), encoding="utf-8") as f:
        section = re.split(r"^## ", f.read(), flags=re.M)
    [text] = [part for part in section if part.startswith(heading + "\n")]
    lines = re.findall(r"^    (\S.*)$", text, re.M)
    return [re.sub(r"\s+# .*", "", line) for line in lines]


class Fresh:
    def __init__(self, folder):
        self.root = os.path.join(folder, "root")
        self.log = os.path.join(folder, "log")
        open(self.log, "w", encoding="utf-8").close()

    def environment(self):
        """Nothing of this machine but how it reaches the network."""
        kept = {name: value for name, value in os.environ.items()
                if name.lower().endswith("_proxy") or name.startswith("PIP_")}
        if "PIP_CERT" in kept:
            kept["PIP_CERT"] = TRUSTED
        return dict(kept, PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:"
                    "/usr/bin:/sbin:/bin", HOME="/root", LC_ALL="C.UTF-8",
                    DEBIAN_FRONTEND="noninteractive")

    def step(self, what, script, at="/"):
        """Runs a script inside, one line after the other, until one fails."""
        print(f"{what}:", flush=True)
        for line in script.splitlines():
            print("    " + line)
        began = time.monotonic()
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", INSIDE, "sh", self.root,
             f"cd {at} && exec bash -e <<'END'\n{script}\nEND"],
            env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace")
        with open(self.log, "a", encoding="utf-8") as f:
            f.write(f"== {what}\n{done.stdout}\n")
        print(f"  {time.monotonic() - began:.0f} s", flush=True)
        if done.returncode:
            print(done.stdout[-9000:])
            raise SystemExit(f"{what}: exit {done.returncode}")
        return done.stdout


def script_of(suite):
    """What debootstrap goes by for a suite that came after it: all of Ubuntu's
    go by the same."""
    known = "/usr/share/debootstrap/scripts/"
    return [] if os.path.exists(known + suite) else [known + "jammy"]


def bootstrap(folder, suite, components):
    """A copy of the minimal system, so that each run begins with one."""
    base, root = (os.path.join(folder, name) for name in ("base", "root"))
    if not os.path.exists(base):
        mirror = os.environ.get("MIRROR")
        if not mirror:
            raise SystemExit("MIRROR names no mirror of packages")
        subprocess.run(["debootstrap", "--variant=minbase", "--components",
                        components, suite, base + ".part", mirror,
                        *script_of(suite)], check=True,
                       stdout=subprocess.DEVNULL)
        os.rename(base + ".part", base)
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run(["cp", "-a", base, root], check=True)
    shutil.copy("/etc/resolv.conf", os.path.join(root, "etc/resolv.conf"))
    if "PIP_CERT" in os.environ:
        shutil.copy(os.environ["PIP_CERT"], root + TRUSTED)


def clone(folder):
    there = os.path.join(folder, "root") + CLONE
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, there],
                   check=True)
    subprocess.run(["chown", "-R", "root:root", there], check=True)


def follow_documents(fresh):
    """From the clone to a prefix, a wheel, and no clone any more."""
    assert "scripts/setup" in commands("README.md", "Set-up")
    fresh.step("GETTING-STARTED.md", "\n".join(
        commands("docs/GETTING-STARTED.md", "Install glen")), CLONE)
    wheel = commands("docs/GETTING-STARTED.md", "The same convolution from "
                     "Python")
    assert "scripts/build-wheel build" in wheel, wheel
    fresh.step("GETTING-STARTED.md, from Python", "\n".join(wheel), CLONE)
    fresh.step("the sources are removed", f"""mkdir {KEPT}
cp -a {CLONE}/tests {CLONE}/examples {CLONE}/docs {KEPT}
mkdir {KEPT}/python
cp -a {CLONE}/python/tests {KEPT}/python
rm -rf {CLONE}""")
    return next(line.split()[-1] for line in wheel if " -m venv " in line)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--suite", default="bookworm")
    parser.add_argument("--components", default="main")
    args = parser.parse_args()
    folder = os.path.abspath(args.folder)
    os.makedirs(folder, exist_ok=True)
    bootstrap(folder, args.suite, args.components)
    clone(folder)
    fresh = Fresh(folder)
    python = follow_documents(fresh) + "/bin/python"
    fresh.step("tools that recipes name", "apt-get install -y -qq "
               "--no-install-recommends " + " ".join(TOOLS))
    said = fresh.step("the prefix alone", f"python3 {KEPT}/tests/install/run.py"
                      f" --prefix /usr/local --python $(echo {python})")
    print(said)
    tutorial = f"{python} -m pytest -q -p no:cacheprovider {KEPT}/python/tests/"
    print(fresh.step("PYTHON.md, cell by cell", f"{python} -m pip install -q "
                     f"pytest\n{tutorial}test_tutorial.py"))


if __name__ == "__main__":
    sys.exit(main())
