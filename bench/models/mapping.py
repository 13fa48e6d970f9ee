#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many sums of products of whole models become calls of an instruction.

usage: mapping.py FOLDER [NAME...] [--target TARGET]... [--glen GLEN] [--left]

Each NAME.onnx of FOLDER is mapped within glen's own limits.  A sum of products
is mapped where the result has calls for it, and left to the host where that
computes a dotProd, or a scan, whose step may hold some.  Units that multiply bytes,
gemmini and vta, are given the layers one by one, as programs of bytes
(offloads.py, which needs the packages onnx and onnxruntime); --left lists those
that stay on the host.  A model or a package that is absent is told and counts as
skipped.  The tables of
bench/RESULTS.md and docs/ONNX.md are what this prints; times are of the
processor, of glen alone.
"""
import argparse
import collections
import json
import os
import subprocess
import sys

import works

HERE = os.path.dirname(os.path.abspath(__file__))
GLEN = os.path.join(HERE, "..", "..", "build", "src", "cli", "glen")
BYTES = ("gemmini", "vta")
NAMES = ["resnet50", "mobilenet_v2", "efficientnet_b0", "bert_base",
         "vit_tiny"]


def of_whole(glen, path, target):
    """(mapped, left to the host, calls made in a run, what is left)."""
    done = subprocess.run([glen, "map", path, "--target", target, "--json",
                           "--quiet"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[:500])
    report = json.loads(done.stdout)
    count = collections.Counter()
    left = []
    for part in report["parts"]:
        if part["call"]:
            count["mapped"] += part["times"]
        elif works.is_sum(part["work"]):
            count["host"] += part["times"]
            left.append((part["times"], part["work"]))
    calls = sum(i["calls"] for i in report["instructions"])
    return count["mapped"], count["host"], calls, left


def mapped(glen, path, target):
    """The same, and seconds."""
    before = os.times()
    if target in BYTES:
        import offloads
        found = offloads.count(glen, path, target)
    else:
        found = of_whole(glen, path, target)
    after = os.times()
    return *found, sum(after[2:4]) - sum(before[2:4])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--target", action="append")
    parser.add_argument("--glen", default=GLEN)
    parser.add_argument("--left", action="store_true")
    a = parser.parse_intermixed_args()
    print("| model | target | mapped | left to the host | calls in a run | "
          "seconds |")
    print("|---|---|---|---|---|---|")
    failed = skipped = 0
    for name in a.names or NAMES:
        for target in a.target or ["systolic", "systolic16", *BYTES]:
            path = os.path.join(a.folder, name + ".onnx")
            if not os.path.exists(path):
                print(f"| {name} | {target} | skipped: no {path} | | | |")
                skipped += 1
                continue
            try:
                done, host, calls, left, seconds = mapped(
                    a.glen, path, target)
            except ImportError as error:
                print(f"| {name} | {target} | skipped: {error} | | | |")
                skipped += 1
                continue
            except (RuntimeError, ValueError) as error:
                print(f"| {name} | {target} | failed: {error} | | | |")
                failed += 1
                continue
            print(f"| {name} | {target} | {done} | {host} | {calls:,} | "
                  f"{seconds:.1f} |", flush=True)
            for times, what in left if a.left else []:
                print(f"  left {times} x {what}")
    if skipped or failed:
        print(f"{skipped} skipped, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
