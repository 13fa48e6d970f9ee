#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole models: compiled by glen beside ONNX Runtime, in one process, by turns.

usage: run.py FOLDER [NAME...] [option...]

FOLDER holds NAME.onnx with what it refers to; inputs are taken from
expected/NAME.npz where it has them (`in:INPUT`), and are random otherwise.
A model whose outputs differ by more than 1e-3 of the largest has no figure, and
the exit code is 1.
"""
import argparse
import ctypes
import glob
import json
import os
import statistics
import sys
import tempfile
import time

import numpy
import onnxruntime

import net as compiled

TOLERANCE = 1e-3
HERE = os.path.dirname(os.path.abspath(__file__))
GLEN = os.path.join(HERE, "..", "..", "build", "src", "cli", "glen")


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("folder")
    p.add_argument("names", nargs="*", metavar="NAME")
    p.add_argument("--glen", default=GLEN, help="the program")
    p.add_argument("--glen-option", action="append", default=[],
                   help="of `glen compile`; default: --target native")
    p.add_argument("--cc", default="gcc")
    # Sums in lanes, as docs/CLI.md says; threads add -fopenmp.
    p.add_argument("--cc-flags", default="-O3 -march=native -fopenmp-simd "
                   "-DGLEN_SIMD -w")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=9, help="turns of each")
    p.add_argument("--seconds", type=float, default=0.15, help="of a turn")
    p.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE")
    p.add_argument("--no-prepack", action="store_true")
    p.add_argument("--profile", type=int, metavar="N", default=0,
                   help="the N steps that take the longest, of both")
    p.add_argument("--json", metavar="FILE")
    return p.parse_intermixed_args()


def session(path, a, prefix=None):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = a.threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if prefix:
        options.enable_profiling = True
        options.profile_file_prefix = prefix
    return onnxruntime.InferenceSession(path, options,
                                        providers=["CPUExecutionProvider"])


def values(peer, folder, name, dims):
    """An array for each input of the model."""
    sizes = dict(d.split("=", 1) for d in dims)
    path = os.path.join(folder, "expected", name + ".npz")
    known = numpy.load(path) if os.path.exists(path) else {}
    rng = numpy.random.default_rng(1)
    out = {}
    for row in peer.get_inputs():
        if f"in:{row.name}" in known:
            out[row.name] = known[f"in:{row.name}"]
            continue
        shape = [int(sizes.get(d, 1)) if isinstance(d, str) else d
                 for d in row.shape]
        integers = "int" in row.type
        out[row.name] = (numpy.ones(shape, row.type[7:-1]) if integers else
                         rng.standard_normal(shape).astype(numpy.float32))
    return out


def difference(have, want):
    """The largest difference, as a part of the largest element."""
    top = max(float(numpy.abs(want).max(initial=0)), 1e-30)
    return float(numpy.abs(have.reshape(want.shape).astype(numpy.float64)
                           - want).max(initial=0)) / top


def turn(run, seconds):
    """(wall, processor) seconds of the calls of a turn; the first warms up."""
    run()
    out, end = [], time.perf_counter() + seconds
    while not out or time.perf_counter() < end:
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        out.append((time.perf_counter() - wall, time.process_time() - cpu))
    return out


def measure(runs, a):
    """By turns: of each, all calls' times."""
    times = [[] for _ in runs]
    for _ in range(a.rounds):
        for k, run in enumerate(runs):
            times[k].append(turn(run, a.seconds))
    return times


def summary(turns, clock):
    calls = [c[clock] for t in turns for c in t]
    return {"median": statistics.median(calls), "min": min(calls),
            "turns": [statistics.median(c[clock] for c in t) for t in turns]}


def figures(glen_turns, peer_turns):
    out = {}
    for clock, name in ((0, "wall"), (1, "cpu")):
        g, p = summary(glen_turns, clock), summary(peer_turns, clock)
        pairs = sorted(y / x for x, y in zip(g["turns"], p["turns"]))
        out[name] = {"glen": g, "onnxruntime": p,
                     "ratio": p["median"] / g["median"],
                     "ratio_of_min": p["min"] / g["min"],
                     "ratio_of_turns": [pairs[0], statistics.median(pairs),
                                        pairs[-1]]}
    return out


def peer_profile(path, a, feed, work):
    """Milliseconds of each node, as ONNX Runtime's own profile has them."""
    peer = session(path, a, os.path.join(work, "peer"))
    runs = 5
    for _ in range(runs + 1):
        peer.run(None, feed)
    with open(peer.end_profiling()) as f:
        events = json.load(f)
    sums, seen = {}, {}
    for e in events:
        if e.get("cat") != "Node" or "kernel_time" not in e["name"]:
            continue
        name = f"{e['args']['op_name']} {e['name'][:-12]}"
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            sums[name] = sums.get(name, 0) + 1e-3 * e["dur"] / runs
    return [(ms, name) for name, ms in sums.items()]


def show_profile(title, rows, n):
    total = sum(ms for ms, _ in rows)
    print(f"  {title}: {len(rows)} steps, {total:.3f} ms")
    for ms, name in sorted(rows, reverse=True)[:n]:
        print(f"    {ms:8.3f} ms {100 * ms / total:5.1f} %  {name}")


def one(name, a):
    path = os.path.abspath(os.path.join(a.folder, name + ".onnx"))
    peer = session(path, a)
    feed = values(peer, a.folder, name, a.dim)
    options = a.glen_option or ["--target=native"]
    flags = a.cc_flags.split() + (["-fopenmp"] if a.threads > 1 else [])
    glen = os.path.abspath(a.glen)
    with tempfile.TemporaryDirectory() as work:
        net = compiled.Net(glen, path, work, options, a.cc.split(), flags,
                           not a.no_prepack, a.dim)
        net.set(feed.values())
        net.run()
        want = peer.run(None, feed)
        worst = max(difference(net.arrays[o], w)
                    for o, w in zip(net.outputs, want))
        if not worst <= TOLERANCE:
            raise compiled.Failed(f"outputs differ by {worst:.1e}")
        turns = measure([net.run, lambda: peer.run(None, feed)], a)
        row = {"model": name, "difference": worst, "compile_s": net.compile_s,
               "cc_s": net.cc_s, "c_bytes": net.c_bytes, **figures(*turns)}
        if a.profile:
            net = compiled.Net(glen, path, work, options, a.cc.split(), flags,
                               not a.no_prepack, a.dim, True)
            net.set(feed.values())
            row["steps"] = net.profile(a.seconds * 4)
            row["peer_steps"] = peer_profile(path, a, feed, work)
    return row


def show(row, a):
    c = row["cpu"]
    low, middle, high = c["ratio_of_turns"]
    print(f"{row['model']:20} {1e3 * c['glen']['median']:9.2f} "
          f"{1e3 * c['onnxruntime']['median']:9.2f} {c['ratio']:7.2f} "
          f"{c['ratio_of_min']:7.2f}  {low:.2f}..{high:.2f} "
          f"{row['wall']['ratio']:7.2f} {row['compile_s']:8.1f} "
          f"{row['cc_s']:6.1f}", flush=True)
    if a.profile:
        show_profile("glen", row["steps"], a.profile)
        show_profile("onnxruntime", row["peer_steps"], a.profile)


def processor():
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown"


def main():
    a = arguments()
    if a.threads == 1:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    os.environ["OMP_NUM_THREADS"] = str(a.threads)
    names = a.names or sorted(os.path.basename(p)[:-5] for p in
                              glob.glob(os.path.join(a.folder, "*.onnx")))
    rows, failed = [], []
    print(f"{processor()}, {a.threads} thread(s), load "
          f"{os.getloadavg()[0]:.1f}, onnxruntime {onnxruntime.__version__}; "
          "processor time, ms; ratios above 1: glen is faster\n"
          f"{'model':20} {'glen':>9} {'ort':>9} {'ratio':>7} {'of min':>7}  "
          f"{'of turns':10} {'wall':>7} {'compile':>8} {'cc, s':>6}")
    for name in names:
        try:
            rows.append(one(name, a))
            show(rows[-1], a)
        except compiled.Failed as e:
            failed.append(name)
            print(f"{name:20} {e}", flush=True)
    mean = (statistics.geometric_mean(r["cpu"]["ratio"] for r in rows)
            if rows else None)
    if rows:
        print(f"geometric mean of {len(rows)}: {mean:.2f}")
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"processor": processor(), "threads": a.threads,
                       "load": os.getloadavg(), "options": a.glen_option,
                       "cc_flags": a.cc_flags, "prepack": not a.no_prepack,
                       "onnxruntime": onnxruntime.__version__,
                       "geometric_mean": mean, "failed": failed,
                       "models": rows}, f, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
