# SPDX-License-Identifier: MIT
"""What the benchmarks of the engine have in common: their options, rounds by
turns, medians, and the result as text and as JSON.

A result is a list of lines, whose first say on what and how it was measured,
and a list of rows, dictionaries that go into the JSON file as `runs`.
"""
import argparse
import json
import os
import statistics

import machine

HERE = os.path.dirname(os.path.abspath(__file__))


def options(text):
    """A parser with what every benchmark takes; text: its documentation."""
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--table", metavar="FILE")
    return parser


def program(build):
    return os.path.join(build, "bench", "egraph", "bench_egraph")


def workload(name):
    return os.path.join(HERE, "workloads", name + ".txt")


def by_turns(rounds, keys, run):
    """key -> what run(key) gave in each round; a round runs all of them once,
    so that load on the machine falls on all."""
    got = {key: [] for key in keys}
    for _ in range(rounds):
        for key in keys:
            got[key].append(run(key))
    return got


def middle(runs, keys):
    """The first run, with the medians of all for these keys."""
    return runs[0] | {key: statistics.median(r[key] for r in runs)
                      for key in keys}


def shares(run, of):
    """Percentages of searching, applying and rebuilding in run[of]."""
    return "/".join(f"{100 * run[k] / run[of]:.0f}"
                    for k in ("search_s", "apply_s", "rebuild_s"))


def heading(args, before, what=""):
    return [machine.line(before), f"medians of {args.rounds} rounds{what}", ""]


def save(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def finish(args, before, lines, rows, **more):
    """Prints the lines; writes the files that were asked for."""
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if args.table:
        save(args.table, text)
    if args.json:
        data = {"schema": 1, "machine": before, "rounds": args.rounds, **more,
                "runs": rows}
        save(args.json, json.dumps(data, indent=1))
