#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many sums of products of whole models become calls of an instruction.

usage: mapping.py FOLDER [NAME...] [--target TARGET]... [--glen GLEN]

Each NAME.onnx of FOLDER is mapped within glen's own limits.  A sum of products
is mapped where the result has calls for it, and left to the host where it
computes a dotProd itself.  The table of docs/ONNX.md is what this prints; times
are of the processor, of the whole command.
"""
import argparse
import collections
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GLEN = os.path.join(HERE, "..", "..", "build", "src", "cli", "glen")
NAMES = ["resnet50", "mobilenet_v2", "efficientnet_b0", "bert_base",
         "vit_tiny"]


def mapped(glen, path, target):
    """(mapped, left to the host, calls made in a run, seconds)."""
    before = os.times()
    done = subprocess.run([glen, "map", path, "--target", target, "--json",
                           "--quiet"], capture_output=True, text=True)
    after = os.times()
    if done.returncode:
        raise RuntimeError(done.stderr[:500])
    report = json.loads(done.stdout)
    count = collections.Counter()
    for part in report["parts"]:
        if part["call"]:
            count["mapped"] += part["times"]
        elif part["work"].split()[:2] == ["compute", "dotProd"]:
            count["host"] += part["times"]
    calls = sum(i["calls"] for i in report["instructions"])
    seconds = sum(after[2:4]) - sum(before[2:4])
    return count["mapped"], count["host"], calls, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--target", action="append")
    parser.add_argument("--glen", default=GLEN)
    a = parser.parse_intermixed_args()
    print("| model | target | mapped | left to the host | calls in a run | "
          "seconds |")
    print("|---|---|---|---|---|---|")
    failed = False
    for name in a.names or NAMES:
        for target in a.target or ["systolic", "systolic16"]:
            try:
                done, host, calls, seconds = mapped(
                    a.glen, os.path.join(a.folder, name + ".onnx"), target)
            except (RuntimeError, ValueError) as error:
                print(f"| {name} | {target} | failed: {error} | | | |")
                failed = True
                continue
            print(f"| {name} | {target} | {done} | {host} | {calls:,} | "
                  f"{seconds:.1f} |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
