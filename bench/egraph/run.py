#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The engine beside egg and egglog on the same workloads, interleaved.

    bench/egraph/run.py BUILD_DIR [--rounds N] [--quick | --long] [--only TEXT] [--cold]
                        [--json FILE] [--table FILE]

BUILD_DIR holds bench/egraph/bench_egraph.  egg is built with cargo into
BUILD_DIR/egg-peer, egglog installed with pip into BUILD_DIR/egglog-peer, both
at fixed versions; a peer that cannot be had is left out, and it is said.
egglog runs what is plain rewriting under the simple scheduler.  Each round runs
every engine on each workload, so that load on the machine falls on all: once to
warm up and once for the figure (--cold: only that).  Without the first the
figure of one engine depends on how much memory the one before it gave back, for
the host of a virtual machine takes free pages away and backs them anew.
Times and ratios are of processor seconds, which other processes disturb least.
Reported: the median and the least of the rounds.  A difference in e-nodes or
e-classes is an error.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys

import machine
import outcome

HERE = os.path.dirname(os.path.abspath(__file__))

# workload, iterations (0: until saturated), back-off, match limit
CASES = [
    ("math_micro", 10, False, 1000),
    ("math_micro", 11, False, 1000),
    ("math_bench7", 7, False, 1000),
    ("math_bench7_noprune", 4, False, 1000),
    ("math_diff_power_harder", 14, False, 1000),
    ("math_integ_part1", 8, False, 1000),
    ("math_integ_part2", 8, False, 1000),
    ("ac_9", 0, False, 1000),
    ("ac_10", 0, False, 1000),
    ("ac_11", 0, False, 1000),
    ("ac_12", 0, False, 1000),
    ("math_micro", 12, False, 1000),
    ("math_micro", 30, True, 1000),
    ("math_bench7", 30, True, 1000),
    ("math_diff_power_harder", 30, True, 1000),
    ("math_integ_part1", 30, True, 1000),
    ("math_integ_part2", 30, True, 1000),
    ("ac_9", 0, True, 1000),
    ("math_micro", 30, True, 10000),
    ("math_bench7", 30, True, 10000),
]
LARGE = {("ac_11", 0, False, 1000), ("ac_12", 0, False, 1000),
         ("math_micro", 30, True, 10000), ("math_bench7", 30, True, 10000)}
WARM_S = 4
LONG = {("math_micro", 12, False, 1000)}


def build_peer(build):
    cargo = shutil.which("cargo")
    if not cargo:
        print("no cargo here: the peer is left out", file=sys.stderr)
        return None
    target = os.path.join(build, "egg-peer")
    done = subprocess.run(
        [cargo, "build", "--release", "--locked", "--quiet", "--manifest-path",
         os.path.join(HERE, "egg-peer", "Cargo.toml"), "--target-dir", target])
    if done.returncode:
        print("the peer does not build here: left out", file=sys.stderr)
        return None
    return os.path.join(target, "release", "egg-peer")


def build_egglog(build):
    """The interpreter that has egglog; its own dependencies are not needed."""
    here = os.path.join(HERE, "egglog-peer")
    target = os.path.join(build, "egglog-peer")
    python = os.path.join(target, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", target], check=True)
    done = subprocess.run([python, "-m", "pip", "install", "--quiet",
                           "--no-deps", "--disable-pip-version-check", "-r",
                           os.path.join(here, "requirements.txt")])
    if done.returncode:
        print("egglog cannot be installed here: left out", file=sys.stderr)
        return None
    return [python, os.path.join(here, "peer.py")]


def translates(case):
    name, _, backoff, _ = case
    return not backoff and (name == "math_micro" or name.startswith("ac_"))


def measured(program, case, cold):
    """Long runs warm themselves up."""
    got = run(program, case)
    return got if cold or got["cpu_s"] > WARM_S else run(program, case)


def run(program, case):
    name, iterations, backoff, limit = case
    line = program + [outcome.workload(name), "--match-limit", str(limit)]
    if iterations:
        line += ["--iterations", str(iterations)]
    if backoff:
        line.append("--backoff")
    return json.loads(subprocess.run(line, check=True,
                                     stdout=subprocess.PIPE).stdout)


def summary(runs):
    best = min(runs, key=lambda r: r["cpu_s"])
    times = [r["cpu_s"] for r in runs]
    return dict(best, median_s=statistics.median(times), best_s=min(times),
                rounds=len(times))


def title(case):
    name, iterations, backoff, limit = case
    text = name + (f" {iterations}" if iterations else "")
    if backoff:
        text += " back-off" + (f" {limit}" if limit != 1000 else "")
    return text


def row(case, mine, theirs, third):
    split = outcome.shares(mine, "total_s")
    text = (f"{title(case):34} {mine['nodes']:>9} {mine['classes']:>8} "
            f"{mine['median_s']:9.4f} {split:>9} "
            f"{mine['nodes'] / mine['median_s']:>11.0f} "
            f"{mine['bytes_per_node']:7.1f} "
            f"{mine['resident_per_node']:7.0f}")
    if theirs:
        text += (f" {theirs['median_s']:9.4f} {theirs['bytes_per_node']:7.0f}"
                 f" {theirs['median_s'] / mine['median_s']:6.1f}"
                 f" {theirs['best_s'] / mine['best_s']:6.1f}")
    if third:
        text += ("" if theirs else " " * 32)
        text += (f" {third['median_s']:9.4f} {third['bytes_per_node']:7.0f}"
                 f" {third['median_s'] / mine['median_s']:6.1f}")
    return text


def geomean(values):
    return statistics.geometric_mean(values) if values else 0


def main():
    options = outcome.options(__doc__)
    options.add_argument("--quick", action="store_true",
                         help="leave the workloads of many seconds out")
    options.add_argument("--long", action="store_true",
                         help="with those of minutes and gigabytes")
    options.add_argument("--only", default="", help="cases with this in them")
    options.add_argument("--cold", action="store_true",
                         help="no run to warm up")
    a = options.parse_args()
    mine = [outcome.program(a.build), "run", "--json"]
    peer = build_peer(a.build)
    egglog = build_egglog(a.build)
    cases = [c for c in CASES if a.only in title(c) and
             (not a.quick or c not in LARGE) and (a.long or c not in LONG)]
    got = {c: ([], [], []) for c in cases}
    before = machine.describe()
    for _ in range(a.rounds):
        for c in cases:
            got[c][0].append(measured(mine, c, a.cold))
            if peer:
                got[c][1].append(measured([peer], c, a.cold))
            if egglog and translates(c):
                got[c][2].append(measured(egglog, c, a.cold))
    lines = [*outcome.heading(a, before, ", processor seconds"),
             f"{'workload':34} {'nodes':>9} {'classes':>8} {'median s':>9} "
             f"{'s/a/r %':>9} {'nodes/s':>11} {'B/node':>7} {'RSS/n':>7} "
             f"{'egg s':>9} "
             f"{'B/node':>7} {'ratio':>6} {'best':>6} {'egglog s':>9} "
             f"{'B/node':>7} {'ratio':>6}"]
    out, ratios, thirds, wrong = [], [], [], 0
    for c in cases:
        one, two, three = [summary(r) if r else None for r in got[c]]
        lines.append(row(c, one, two, three))
        out += [r for r in (one, two, three) if r]
        if two:
            ratios.append(two["median_s"] / one["median_s"])
            wrong += (one["nodes"], one["classes"]) != (two["nodes"],
                                                        two["classes"])
        if three:
            thirds.append(three["median_s"] / one["median_s"])
            wrong += one["nodes"] != three["nodes"]
    for name, values in (("egg", ratios), ("egglog", thirds)):
        if values:
            lines.append(f"geometric mean of the ratios to {name}: "
                         f"{geomean(values):.1f}")
    outcome.finish(a, before, lines, out)
    if wrong:
        print(f"{wrong} workloads differ in e-nodes or e-classes",
              file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
