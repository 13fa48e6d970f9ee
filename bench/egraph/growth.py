#!/usr/bin/env python3
"""How time and memory grow with the graph.

    bench/egraph/growth.py BUILD_DIR [--most N] [--rounds N] [--threads N]
                           [--json FILE] [--table FILE] [--svg FILE]

Saturates math_micro up to 10^4 ... 5*10^7 e-nodes (--most cuts that short) and
prints processor seconds, time a node and bytes a node; medians of the rounds.
The exponent is the slope of log seconds over log nodes: 1 is linear.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys

import machine
import plot

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000,
         20_000_000, 50_000_000]


def run(program, nodes, threads):
    line = [program, "run", "--json", "--nodes", str(nodes), "--threads",
            str(threads), os.path.join(HERE, "workloads", "math_micro.txt")]
    return json.loads(subprocess.run(line, check=True,
                                     stdout=subprocess.PIPE).stdout)


def slope(points):
    xs = [math.log(x) for x, _ in points]
    ys = [math.log(y) for _, y in points]
    return statistics.linear_regression(xs, ys).slope if len(xs) > 1 else 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("build")
    options.add_argument("--most", type=int, default=SIZES[-1])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--json")
    options.add_argument("--table")
    options.add_argument("--svg")
    a = options.parse_args()
    program = os.path.join(a.build, "bench", "egraph", "bench_egraph")
    sizes = [n for n in SIZES if n <= a.most]
    before = machine.describe()
    got = {n: [] for n in sizes}
    for _ in range(a.rounds):
        for n in sizes:
            got[n].append(run(program, n, a.threads))
    lines = [machine.line(before), f"medians of {a.rounds} rounds", "",
             f"{'nodes':>10} {'classes':>10} {'cpu s':>9} {'wall s':>9} "
             f"{'ns/node':>8} {'B/node':>7} {'search/apply/rebuild %':>23}"]
    rows = []
    for n in sizes:
        one = dict(got[n][0])
        for key in ("cpu_s", "total_s", "search_s", "apply_s", "rebuild_s"):
            one[key] = statistics.median(r[key] for r in got[n])
        split = "/".join(f"{100 * one[k] / one['total_s']:.0f}"
                         for k in ("search_s", "apply_s", "rebuild_s"))
        lines.append(f"{one['nodes']:>10} {one['classes']:>10} "
                     f"{one['cpu_s']:9.4f} {one['total_s']:9.4f} "
                     f"{1e9 * one['cpu_s'] / one['nodes']:8.0f} "
                     f"{one['bytes_per_node']:7.1f} {split:>23}")
        rows.append(one)
    points = [(r["nodes"], r["cpu_s"]) for r in rows]
    exponent = slope(points)
    lines.append(f"seconds grow as nodes^{exponent:.2f}")
    print("\n".join(lines))
    if a.table:
        with open(a.table, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
    if a.json:
        with open(a.json, "w", encoding="utf-8") as f:
            json.dump({"schema": 1, "machine": before, "rounds": a.rounds,
                       "threads": a.threads, "exponent": exponent,
                       "runs": rows}, f, indent=1)
    if a.svg:
        with open(a.svg, "w", encoding="utf-8") as f:
            f.write(plot.log_log(
                "math_micro: processor seconds over e-nodes",
                machine.line(before), "e-nodes",
                "seconds", [(f"nodes^{exponent:.2f}", points)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
