#!/usr/bin/env python3
"""What more threads give on the large workloads.

    bench/egraph/threads.py BUILD_DIR [--threads 1,2] [--rounds N]
                            [--json FILE] [--table FILE]

The numbers of threads run by turns; reported are medians of the rounds.  Beside
the seconds by the clock stand the processor seconds of the calling thread: on a
machine that does other things, too, they say better what is left for it to do.
Its share of searching, and what limits the gain, is in the seconds of search,
applying and rebuilding.  What the machine itself gives is told by as many runs
of one thread side by side, which share nothing: their gain is in work done, by
the slower of them.  Different counts are an error.
"""
import json
import subprocess
import sys

import machine
import outcome

# workload, options
CASES = [
    ("math_micro", ["--iterations", "11"]),
    ("math_micro", ["--iterations", "12"]),
    ("ac_10", []),
    ("ac_11", []),
    ("ac_12", []),
    ("math_integ_part1", ["--iterations", "8"]),
    ("math_micro", ["--iterations", "30", "--backoff", "--match-limit",
                    "10000"]),
    ("math_bench7", ["--iterations", "30", "--backoff", "--match-limit",
                     "10000"]),
]
SAME = ("nodes", "classes", "matches", "applied", "iterations", "stop")
TIMES = ("total_s", "own_s", "cpu_s", "search_s", "apply_s", "rebuild_s",
         "peak_bytes")


def start(program, case, threads):
    name, options = case
    return subprocess.Popen(
        [program, "run", "--json", "--threads", str(threads), *options,
         outcome.workload(name)], stdout=subprocess.PIPE)


def result(process):
    text, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return json.loads(text)


def run(program, case, threads, copies):
    """The slowest of so many runs side by side, and how many counts differ from
    its own."""
    running = [start(program, case, threads) for _ in range(copies)]
    try:
        runs = [result(p) for p in running]
    finally:
        for p in running:
            p.kill()
            p.wait()
    last = max(runs, key=lambda r: r["total_s"])
    return last | {"differ": sum(r[k] != last[k] for r in runs for k in SAME)}


def title(case):
    words = [w.strip("-") for w in case[1] if w not in
             ("--iterations", "--match-limit")]
    return " ".join([case[0], *words])


def main():
    options = outcome.options(__doc__)
    options.add_argument("--threads", default="1,2")
    a = options.parse_args()
    program = outcome.program(a.build)
    counts = [int(t) for t in a.threads.split(",")]
    # Numbers of threads, and of runs side by side.
    ways = [(t, 1) for t in counts]
    if max(counts) > 1:
        ways.append((1, max(counts)))
    before = machine.describe()
    got = outcome.by_turns(
        a.rounds, [(c, *way) for c in range(len(CASES)) for way in ways],
        lambda key: run(program, CASES[key[0]], *key[1:]))
    lines = [*outcome.heading(a, before),
             f"{'workload':32} {'threads':>7} {'seconds':>8} {'search':>7} "
             f"{'apply':>7} {'rebuild':>7} {'own cpu':>8} {'all cpu':>8} "
             f"{'B/node':>7} {'gain':>5} {'own':>5}"]
    rows, wrong = [], 0
    for c, case in enumerate(CASES):
        first = None
        for t, copies in ways:
            runs = got[c, t, copies]
            one = outcome.middle(runs, TIMES)
            first = first or one
            wrong += any(r["differ"] or r[k] != first[k]
                         for r in runs for k in SAME)
            way = str(t) if copies == 1 else f"{copies} runs"
            lines.append(
                f"{title(case):32} {way:>7} {one['total_s']:8.3f} "
                f"{one['search_s']:7.3f} {one['apply_s']:7.3f} "
                f"{one['rebuild_s']:7.3f} {one['own_s']:8.3f} "
                f"{one['cpu_s']:8.3f} "
                f"{one['peak_bytes'] / one['nodes']:7.1f} "
                f"{copies * first['total_s'] / one['total_s']:5.2f} "
                f"{copies * first['own_s'] / one['own_s']:5.2f}")
            rows.append(one | {"threads": t, "copies": copies})
    outcome.finish(a, before, lines, rows)
    if wrong:
        print(f"{wrong} runs differ in their counts", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
