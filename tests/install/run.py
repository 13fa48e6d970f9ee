#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs a build into a prefix, moves it, and uses it from a folder that has
none of the sources.

usage: run.py BUILD [--only NAME] [--bless]
       run.py --prefix PREFIX [--python PYTHON] [--only NAME]

With --prefix, glen is installed there already and stays in its place; PYTHON is
an interpreter that has the wheel.
"""
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import builds
import called
import completions
import cross
import embed
import files
import layout
import mistakes
import names
import newcomer
from harness import Installed

SUITES = {"files": files.check, "called": called.check,
          "layout": layout.check, "completions": completions.check,
          "names": names.check, "embed": embed.check, "builds": builds.check,
          "mistakes": mistakes.check, "cross": cross.check,
          "bazel": builds.check_bazel, "newcomer": newcomer.check}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", nargs="?")
    parser.add_argument("--prefix")
    parser.add_argument("--python")
    parser.add_argument("--only", choices=list(SUITES))
    parser.add_argument("--bless", action="store_true",
                        help="record the names that the library exports, and the "
                        "layouts of its structs")
    args = parser.parse_args()
    if bool(args.build) == bool(args.prefix):
        parser.error("name either a build folder or a prefix")
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed(args.build and os.path.abspath(args.build),
                              folder)
        if args.prefix:
            installed.prefix = os.path.abspath(args.prefix)
        installed.python = args.python
        if args.bless:
            files.record(installed)
            layout.record(installed)
        for name, check in SUITES.items():
            if args.only in (None, name):
                check(installed)
    print(f"{installed.passed} passed, {installed.failed} failed")
    sys.exit(1 if installed.failed else 0)


if __name__ == "__main__":
    main()
