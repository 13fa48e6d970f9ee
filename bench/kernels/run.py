#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Glen's kernels beside those of other compilers and libraries.

    bench/kernels/run.py [--only TEXT,...] [--peers NAME,...]
                         [--threads 1,2] [--repeats N] [--json F] [--svg F]

All implementations of a problem run side by side, one process each, and take
turns; a figure is the median over the turns (at least 5) of the fastest call of
a turn.  Their results are compared with those of the naive loops.  A peer that
is missing, fails or takes too long is left out, and it is said why.  --json
writes the file after each problem; with --resume what it has is not measured
again.  See README.md.
"""
import argparse
import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import machine
import peers
import problems
import report
import roofline
import workers

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = machine.ROOT
REFERENCE = "gcc"  # the peer whose results the others must have
SLACK = 1.25       # slower settings of a peer than this drop out
ROUNDS_FOR_ALL = 2  # before any drops out
TOLERANCE = 2e-4   # of the largest magnitude: sums are reassociated


def say(text, end="\n"):
    print(text, end=end, file=sys.stderr, flush=True)


def most_settings(args, peer):
    """How many settings of a peer are tried; None for all."""
    if args.smoke:
        return 1
    return args.settings if peer.name.startswith("glen") else None


def start(args, builder, problem, threads, missing, broken):
    """Workers of all peers for this problem; the reference is among them.
    missing, broken: lists of (peer, why there is none)."""
    out = []
    for peer in args.peer_list:
        try:
            for c in itertools.islice(
                    peer.candidates(builder, problem, threads),
                    most_settings(args, peer)):
                try:
                    out.append(workers.Worker(
                        peer.name, c.setting, c.command, threads, problem,
                        c.variant, c.env, args.longest))
                except workers.Failed as reason:
                    missing.append((peer.name, f"{c.setting}: {reason}"))
        except peers.Missing as reason:
            missing.append((peer.name, str(reason)))
        except peers.Broken as reason:
            broken.append((peer.name, str(reason)))
    return out


def reference_results(args, builder, problem, path):
    """The naive loops' results in a file; glen's own where nobody wrote any,
    so that its variants are compared."""
    naive = peers.Naive(REFERENCE, "gcc", [])
    peer = naive if naive.knows(problem) else args.peer_list[0]
    try:
        candidate = next(peer.candidates(builder, problem, 1))
        worker = workers.Worker(REFERENCE, "", candidate.command, 1, problem,
                                longest=args.longest)
        worker.ask(f"write {path}")
        worker.close()
    except (workers.Failed, peers.Missing) as reason:
        raise peers.Broken(f"no results to compare with: {reason}") from reason


def check(running, path, problem):
    """Drops workers whose results are wrong; returns what to say of them."""
    wrong = []
    for worker in running:
        try:
            error = worker.ask(f"check {path}")[0]
            worker.difference = error
            if not error <= (0 if "i8" in problem.types else TOLERANCE):
                worker.error = f"differs by {error:.3g}"
        except workers.Failed as reason:
            worker.error = str(reason)
        if worker.error:
            wrong.append(f"{worker.peer} ({worker.setting}): {worker.error}")
            worker.close()
    return wrong


def drop_slow(args, active):
    """Closes the settings that are far from their peer's best by the fastest
    turns so far: a machine may slow down for a turn, but not speed up."""
    least = {w: report.least(w.turns, args.clock) for w in active}
    best = {}
    for worker, seconds in least.items():
        best[worker.peer] = min(seconds, best.get(worker.peer, seconds))
    for worker, seconds in least.items():
        if seconds > SLACK * best[worker.peer]:
            active.remove(worker)
            worker.turns = []
            worker.close()


def take_turns(args, running):
    active = [w for w in running if not w.error]
    for round_ in range(args.repeats):
        for worker in list(active):
            try:
                worker.turn(args.seconds)
            except workers.Failed as reason:
                worker.error = str(reason)
                active.remove(worker)
        if round_ == ROUNDS_FOR_ALL - 1:
            drop_slow(args, active)


def compile_seconds(args, problem):
    """What glen took from .glen to .c, by peer; `PEER saturated` where rules
    changed the program, with what that took."""
    out = {}
    for peer in args.peer_list:
        for suffix, known in (("", "seconds"),
                              (" saturated", "seconds_saturated")):
            seconds = getattr(peer, known, {}).get(problem.name)
            if seconds is not None:
                out[peer.name + suffix] = seconds
    return out


def measure(args, builder, problem, threads):
    running, wrong, missing, broken = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "expected")
        try:
            reference_results(args, builder, problem, path)
            running = start(args, builder, problem, threads, missing, broken)
            wrong = check(running, path, problem)
            os.remove(path)
            take_turns(args, running)
        except peers.Broken as reason:
            broken.append((REFERENCE, str(reason)))
        finally:
            for worker in running:
                worker.close()
    best = report.best(running, args.clock)
    return {
        "problem": problem.name, "kind": problem.kind, "group": problem.group,
        "sizes": problem.sizes, "threads": threads, "times": problem.times,
        "flops": problem.flops, "bytes": problems.bytes_of(problem),
        "best_turns": {peer: w.turns for peer, (_, w) in best.items()},
        "settings": {peer: w.setting for peer, (_, w) in best.items()},
        "differences": {peer: w.difference for peer, (_, w) in best.items()},
        "turns": {f"{w.peer} {w.setting}": w.turns for w in running if w.turns},
        "compile_s": compile_seconds(args, problem),
        "wrong": wrong, "missing": missing, "broken": broken,
    }


def roofs(builder, threads):
    """threads -> (GFLOP/s, GB/s), measured."""
    program = builder.build("gcc", ["-O3", "-march=native", "-fopenmp"],
                            [os.path.join(HERE, "peers/peaks.c")], [])
    out = {}
    for t in threads:
        cpus = workers.cpus_for(t)
        done = subprocess.run(
            [program, str(t)], capture_output=True, text=True, check=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        out[t] = tuple(map(float, done.stdout.split()))
    return out


def chosen(args):
    every = (problems.smoke() if args.smoke
             else problems.standard() + problems.narrow() + problems.light())
    wanted = [w for w in args.only.split(",") if w]
    return [p for p in every
            if not wanted or any(w in p.name or w == p.group for w in wanted)]


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--only", default="", help="problems or groups with such names")
    add("--peers", default="", help="only these (glen is always there)")
    add("--threads", default="1,2")
    add("--repeats", type=int, default=5, help="turns of each process")
    add("--seconds", type=float, default=0.1, help="length of a turn")
    add("--clock", choices=("wall", "cpu"), default="wall",
        help="cpu: for one thread on a busy machine")
    add("--longest", type=float, default=workers.LONGEST, metavar="SECONDS",
        help="that a peer may take to start, or for an answer")
    add("--json"), add("--svg")
    add("--resume", action="store_true",
        help="goes on with the --json file of a run that was cut off")
    add("--show", metavar="F", help="a JSON file once more; measures nothing")
    add("--glen", default=os.path.join(ROOT, "build/src/cli/glen"))
    add("--schedule", help="a schedule script for glen")
    add("--glen-options", default="--target native --fuse post-tile",
        help="of `glen compile`")
    add("--glen-variant", action="append", default=[],
        metavar="LABEL=OPTIONS", help="one more glen, with other options")
    add("--settings", type=int, metavar="N",
        help="the first N settings of glen only")
    add("--onednn3", action="append", default=[], metavar="LABEL=FOLDER",
        help="a oneDNN 3.x in that folder, a peer of its own")
    add("--openblas", action="append", default=[], metavar="LABEL=FOLDER",
        help="an OpenBLAS in that folder, a peer of its own")
    add("--no-prepack", action="store_true",
        help="glen packs the weights of convolutions inside of the time")
    add("--install", action="store_true",
        help="installs the peers' Debian packages first")
    add("--smoke", action="store_true",
        help="tiny sizes, one turn: does everything run?")
    add("--list", action="store_true", help="the problems")
    add("--cache", default=os.path.join(
        os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")),
        "glen-bench"), help="where workers are built")
    args = parser.parse_args()
    args.thread_list = [int(t) for t in args.threads.split(",")]
    if args.smoke:
        args.repeats, args.seconds, args.thread_list = 1, 0.001, [1]
    most = len(os.sched_getaffinity(0))
    if max(args.thread_list) > most:
        parser.error(f"there are {most} CPUs")
    options = shlex.split(args.glen_options)
    if args.schedule:
        options += ["--schedule", args.schedule]
    wanted = args.peers.split(",") if args.peers else None
    args.peer_list = [
        p for p in peers.all_peers(args.glen, options, args.glen_variant,
                                  not args.no_prepack, args.onednn3,
                                  args.openblas)
        if wanted is None or p.name in wanted or p.name.startswith("glen")]
    if args.resume and not args.json:
        parser.error("--resume needs --json")
    if not (args.show or args.list) and not os.path.exists(args.glen):
        parser.error(f"{args.glen} is not there: build it, or give --glen")
    return args


def print_report(data, args):
    results = data["results"]
    about = data["machine"]
    for r in results:
        r["seconds"] = {peer: report.seconds_of(turns, args.clock)
                        for peer, turns in r["best_turns"].items()}
        r["least"] = report.least_of(r, args.clock)
    names = [n for n in data["peers"]
             if any(n in r["seconds"] for r in results)]
    print(f"{about['cpu']}, load {about['load_before']:.1f} before, "
          f"{about.get('load_after', 0):.1f} after; {args.clock} time, "
          f"{data['repeats']} turns")
    for t, (flops, bandwidth) in data["roofs"].items():
        print(f"roof with {t} threads: {flops} GFLOP/s, {bandwidth} GB/s")
    print(report.table(results, names))
    print()
    print(report.ratios(results, names))
    print()
    for text in report.saturated(results, peers.SATURATED):
        print(text)
    for text in report.left_out(results, "missing"):
        print("left out:", text)
    wrong = [f"{r['problem']}, {r['threads']} threads: {w}"
             for r in results for w in r["wrong"]]
    for text in wrong:
        print("WRONG", text)
    broken = report.left_out(results, "broken")
    for text in broken:
        print("BROKEN", text)
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as f:
            f.write(roofline.svg(results, data["roofs"], names))
    return wrong + broken


def save(data, path):
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8") as f:
        json.dump(data, f, indent=1)
        f.write("\n")
    os.replace(part, path)


def begin(args, builder):
    """What a run starts from: nothing, or a file that it goes on with."""
    if args.resume and os.path.exists(args.json):
        with open(args.json, encoding="utf-8") as f:
            data = json.load(f)
        data["peers"] += [p.name for p in args.peer_list
                          if p.name not in data["peers"]]
        return data
    data = {"schema": 2, "machine": machine.describe(), "roofs": {},
            "peers": [p.name for p in args.peer_list],
            "repeats": args.repeats, "results": []}
    if not args.smoke:
        data["roofs"] = {str(t): roof for t, roof in
                         roofs(builder, args.thread_list).items()}
    return data


def measure_all(args, todo):
    builder = peers.Builder(args.cache)
    data = begin(args, builder)
    done = {(r["problem"], r["threads"]) for r in data["results"]}
    left = [(p, t) for p in todo for t in args.thread_list
            if (p.name, t) not in done]
    started = time.monotonic()
    try:
        for k, (problem, threads) in enumerate(left):
            say(f"{k + 1}/{len(left)} {problem.name}, {threads} threads, "
                f"{time.monotonic() - started:.0f} s")
            data["results"].append(measure(args, builder, problem, threads))
            data["machine"]["load_after"] = os.getloadavg()[0]
            if args.json:
                save(data, args.json)
    except KeyboardInterrupt:
        say("interrupted: what was measured so far")
    return data


def main():
    args = parse()
    # As for Ctrl-C: what was measured is reported, the workers are ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if args.install:
        subprocess.run([os.path.join(ROOT, "scripts/install-packages"),
                        "--bench"], check=True)
    if args.show:
        with open(args.show, encoding="utf-8") as f:
            return 1 if print_report(json.load(f), args) else 0
    todo = chosen(args)
    if args.list:
        for p in todo:
            print(p.name, *(f"{k}={v}" for k, v in p.sizes.items()))
        return 0
    data = measure_all(args, todo)
    wrong = print_report(data, args)
    return 1 if wrong or not data["results"] else 0


if __name__ == "__main__":
    sys.exit(main())
