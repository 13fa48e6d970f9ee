#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/CROSS-BUILDING.md, line by line: kernels for 64-bit Arm, by each of the
build systems, run under an emulator.

As a suite of run.py, the kernels are built against the installed prefix.  By
itself, it builds glen for 64-bit Arm as the page says, which takes a system that
has the libraries of that processor, and half an hour:

usage: MIRROR=URL cross.py FOLDER [--suite SUITE]
"""
import argparse
import os
import re
import shutil
import sys

from harness import ROOT

PAGE = os.path.join(ROOT, "docs/CROSS-BUILDING.md")
NEEDS = ["aarch64-linux-gnu-gcc", "qemu-aarch64", "cmake", "meson", "ninja",
         "make"]
PRINTED = "0\n6\n12\n18\n"


def sections():
    """(heading, commands) of the page: its indented lines, as one script."""
    with open(PAGE, encoding="utf-8") as f:
        parts = re.split(r"^##+ ", f.read(), flags=re.M)[1:]
    for part in parts:
        heading, _, text = part.partition("\n")
        lines = [line[4:] for line in text.split("\n")
                 if line.startswith("    ")]
        if lines:
            yield heading, "\n".join(lines) + "\n"


def check(installed):
    missing = [tool for tool in NEEDS if not shutil.which(tool)]
    if missing:
        print(f"skipped cross-aarch64: {', '.join(missing)} not installed here")
        return
    package = os.path.dirname(installed.find("glenConfig.cmake"))
    for heading, script in sections():
        if heading in ("The tools", "glen itself"):
            continue
        folder = os.path.join(installed.scratch, "cross-" + heading)
        shutil.copytree(os.path.join(ROOT, "examples/build"), folder)
        script = re.sub(r"glen_DIR=\S+", f"glen_DIR='{package}'", script)
        code, out, err = installed.run(["bash", "-e", "-c", script], folder)
        installed.expect(f"CROSS-BUILDING.md, {heading}",
                         code == 0 and out.endswith(PRINTED),
                         f"exit {code}\n{out[-1500:]}{err[-1500:]}")


def main():
    from fresh import Fresh, bootstrap, clone, CLONE
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--suite", default="bookworm")
    args = parser.parse_args()
    folder = os.path.abspath(args.folder)
    os.makedirs(folder, exist_ok=True)
    bootstrap(folder, args.suite, "main")
    clone(folder)
    fresh = Fresh(folder)
    scripts = dict(sections())
    fresh.step("the tools", "apt-get update -qq\n" + scripts["The tools"].replace(
        "install", "install -y -qq"))
    said = fresh.step("glen itself", scripts["glen itself"].replace(
        "apt-get install", "apt-get install -y -qq"), CLONE)
    print(said[-2000:])


if __name__ == "__main__":
    sys.exit(main())
