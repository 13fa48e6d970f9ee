#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long glen takes from .glen to .c.

    bench/kernels/compile_times.py [--glen GLEN] [--only TEXT,...] [--json F]
        [--rounds N] [--variant LABEL=OPTIONS ...] [--large]

Every program of examples/ is to take less than 5 s, every layer of ResNet-50
less than 2 s, with all options of a variant (default: as written, and as
bench/kernels/run.py compiles).  --large: the programs of the kernel benchmark
at its sizes, too, which no limit is set for.  Seconds are those of the
processor, the least of the rounds; the C compiler's are not in them.  Exit
code 1 when a limit is passed.
"""
import argparse
import glob
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile

import machine
import problems
import programs

EXAMPLE, LAYER = 5.0, 2.0  # seconds
CEILING = 120              # then it is ended
VARIANTS = ["as written=--target native",
            "fused=--target native --fuse post-tile"]


def sources(args, folder):
    """(name, path, limit) of what is to be compiled."""
    for path in sorted(glob.glob(
            os.path.join(machine.ROOT, "examples/**/*.glen"), recursive=True)):
        name = os.path.relpath(path, os.path.join(machine.ROOT, "examples"))
        yield name[:-5], path, EXAMPLE
    for p in problems.standard():
        if p.group != "resnet50" and not args.large:
            continue
        path = os.path.join(folder, p.name + ".glen")
        with open(path, "w", encoding="utf-8") as f:
            f.write(programs.text(p.kind, **p.sizes))
        yield p.name, path, LAYER if p.group == "resnet50" else None


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compile_once(glen, path, options, out):
    """Seconds of the processor; a text where it fails."""
    before = processor_seconds()
    try:
        done = subprocess.run(
            [glen, "compile", path, *options, "--quiet", "-o", out],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=CEILING)
    except subprocess.TimeoutExpired:
        return f"> {CEILING} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[0]
    return processor_seconds() - before


def best_of(args, path, options, out):
    least = None
    for _ in range(args.rounds):
        seconds = compile_once(args.glen, path, options, out)
        if isinstance(seconds, str):
            return seconds
        least = seconds if least is None else min(least, seconds)
        if least > EXAMPLE:
            break
    return least


def cell(seconds, limit):
    if isinstance(seconds, str):
        return seconds[:20]
    over = limit is not None and seconds >= limit
    return f"{seconds:.3f}{' !' if over else ''}"


def is_over(seconds, limit):
    return isinstance(seconds, str) or (limit is not None and seconds >= limit)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--glen", default=os.path.join(machine.ROOT, "build/src/cli/glen"))
    add("--only", default="", help="programs with such names")
    add("--rounds", type=int, default=3)
    add("--variant", action="append", metavar="LABEL=OPTIONS")
    add("--large", action="store_true")
    add("--json")
    args = parser.parse_args()
    args.variants = [(label, shlex.split(options)) for label, _, options in
                     (v.partition("=") for v in args.variant or VARIANTS)]
    args.wanted = [w for w in args.only.split(",") if w]
    return args


def main():
    args, rows, over = parse(), [], 0
    print(f"{'seconds of the processor':28} limit" +
          "".join(f"{label:>22}" for label, _ in args.variants))
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "kernel.c")
        for name, path, limit in sources(args, folder):
            if args.wanted and not any(w in name for w in args.wanted):
                continue
            took = {label: best_of(args, path, options, out)
                    for label, options in args.variants}
            bad = sum(is_over(s, limit) for s in took.values())
            over += bad if limit else 0
            rows.append({"program": name, "limit": limit, "seconds": took})
            print(f"{name:28} {limit or '-':>5}" +
                  "".join(f"{cell(s, limit):>22}" for s in took.values()),
                  flush=True)
    print(f"{over} over their limits")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"schema": 1, "machine": machine.describe(),
                       "rounds": args.rounds, "programs": rows}, f, indent=1)
            f.write("\n")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
