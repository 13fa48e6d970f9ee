#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How time and memory grow with the graph.

    bench/egraph/growth.py BUILD_DIR [--most N] [--rounds N]
                           [--json FILE] [--table FILE] [--svg FILE]

Saturates math_micro up to 10^4 ... 5*10^7 e-nodes (--most cuts that short) and
prints processor seconds, time a node and bytes a node; medians of the rounds.
The exponent is the slope of log seconds over log nodes: 1 is linear.
"""
import json
import math
import statistics
import subprocess
import sys

import machine
import outcome
import plot

SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000,
         20_000_000, 50_000_000]


def run(program, nodes):
    line = [program, "run", "--json", "--nodes", str(nodes),
            outcome.workload("math_micro")]
    return json.loads(subprocess.run(line, check=True,
                                     stdout=subprocess.PIPE).stdout)


def slope(points):
    xs = [math.log(x) for x, _ in points]
    ys = [math.log(y) for _, y in points]
    return statistics.linear_regression(xs, ys).slope if len(xs) > 1 else 0


def main():
    options = outcome.options(__doc__)
    options.add_argument("--most", type=int, default=SIZES[-1])
    options.add_argument("--svg")
    a = options.parse_args()
    program = outcome.program(a.build)
    sizes = [n for n in SIZES if n <= a.most]
    before = machine.describe()
    got = outcome.by_turns(a.rounds, sizes,
                           lambda n: run(program, n))
    lines = [*outcome.heading(a, before),
             f"{'nodes':>10} {'classes':>10} {'cpu s':>9} {'wall s':>9} "
             f"{'ns/node':>8} {'B/node':>7} {'search/apply/rebuild %':>23}"]
    rows = []
    for n in sizes:
        one = outcome.middle(got[n], ("cpu_s", "total_s", "search_s",
                                      "apply_s", "rebuild_s"))
        split = outcome.shares(one, "total_s")
        lines.append(f"{one['nodes']:>10} {one['classes']:>10} "
                     f"{one['cpu_s']:9.4f} {one['total_s']:9.4f} "
                     f"{1e9 * one['cpu_s'] / one['nodes']:8.0f} "
                     f"{one['bytes_per_node']:7.1f} {split:>23}")
        rows.append(one)
    points = [(r["nodes"], r["cpu_s"]) for r in rows]
    exponent = slope(points)
    lines.append(f"seconds grow as nodes^{exponent:.2f}")
    outcome.finish(a, before, lines, rows, exponent=exponent)
    if a.svg:
        outcome.save(a.svg, plot.log_log(
            "math_micro: processor seconds over e-nodes",
            machine.line(before), "e-nodes",
            "seconds", [(f"nodes^{exponent:.2f}", points)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
