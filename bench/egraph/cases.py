#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tensor programs that make an e-graph explode: time, rebuild, memory.

    bench/egraph/cases.py BUILD_DIR [--before BUILD_DIR] [--rounds N]
                          [--only PART-OF-A-NAME] [--json FILE]
                          [--table FILE]

Runs `glen saturate` on the programs of cases/ by the strategy that ships, and
with every rule at once up to 500,000 e-nodes or 60 s, which are the limits of
the Glenside run named beside it.  Seconds are medians of the rounds; memory is
the peak of the process.  Rebuild includes the congruence restored between
batches of matches.  With --before an older build runs by turns.
"""
import json
import os
import subprocess
import sys
import tempfile

import machine
import outcome

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIMITS = ["--node-limit", "500000", "--time-limit", "60"]

TIMES = ("total", "search", "apply", "rebuild", "extract", "cpu", "peak")

# name, program, target, options, what Glenside is known to need
CASES = [
    ("conv to 64x64, every rule", "conv-padded-to-64", "systolic64",
     ["--strategy", "everything", "-p", "pad-multiple=64", "-p",
      "split-into=64"],
     "Glenside: 61 s (time limit), 278,240 nodes, 76 % rebuild"),
    ("conv to 64x64", "conv-padded-to-64", "systolic64", [], ""),
    ("matmul 256, halves, every rule", "matmul-256", "systolic16",
     ["--strategy", "everything", "-p", "split-min=16"], ""),
    ("matmul 256, columns and items", "matmul-256", "systolic16", [], ""),
    ("matmul 256, cubes of 16", "matmul-256", "systolic16",
     ["-p", "tile-rows=16"], ""),
]


def run(build, case):
    _, program, target, options, _ = case
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            [os.path.join(build, "src", "cli", "glen"), "saturate", "--rules",
             os.path.join(ROOT, "rules"), "--target",
             os.path.join(ROOT, "targets", target + ".target"),
             *LIMITS, *options, "--json",
             "--timings", "-o", os.devnull,
             os.path.join(HERE, "cases", program + ".glen")],
            stdin=subprocess.DEVNULL, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{case[0]}: exit {process.returncode}")
        out.seek(0)
        report = json.load(out)
    keep = {k: report[k] for k in ("stop", "iterations", "nodes", "classes",
                                   "bytes", "cost_before", "cost_after")}
    return keep | report["seconds"] | {
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024}


def row(name, one, note):
    saturation = one["search"] + one["apply"] + one["rebuild"]
    share = 100 * one["rebuild"] / saturation if saturation else 0
    return (f"{name:34} {one['nodes']:>8} {one['classes']:>8} "
            f"{one['iterations']:>4} {saturation:9.3f} {share:9.1f} "
            f"{one['extract']:9.3f} {one['cpu']:8.3f} "
            f"{one['peak'] / 2 ** 20:8.1f} "
            f"{one['cost_before'] / one['cost_after']:8.1f}  {one['stop']}"
            + (f"\n    {note}" if note else ""))


def main():
    options = outcome.options(__doc__)
    options.add_argument("--before")
    options.add_argument("--only", default="")
    a = options.parse_args()
    builds = [a.build] + ([a.before] if a.before else [])
    before = machine.describe()
    cases = [c for c in CASES if a.only in c[0]]
    by_name = {c[0]: c for c in cases}
    got = outcome.by_turns(
        a.rounds, [(b, c[0]) for c in cases for b in builds],
        lambda key: run(key[0], by_name[key[1]]))
    lines = [*outcome.heading(a, before),
             f"{'case':34} {'nodes':>8} {'classes':>8} {'it':>4} "
             f"{'saturate':>9} {'rebuild %':>9} {'extract s':>9} "
             f"{'all cpu':>8} {'peak MB':>8} {'cheaper':>8}  stop"]
    rows = []
    for c in cases:
        for b in builds:
            one = outcome.middle(got[b, c[0]], TIMES)
            name = c[0] if b == a.build else "  before"
            lines.append(row(name, one, c[4] if b == a.build else ""))
            rows.append(one | {"case": c[0], "build": b})
    outcome.finish(a, before, lines, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
