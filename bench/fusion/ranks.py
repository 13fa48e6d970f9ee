#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the predicted cost rank schedules as their measured times do?

    bench/fusion/ranks.py [--glen GLEN] [--only NAME,...] [--candidates N]
        [--rounds N] [--random N] [--target T] [--threads N] [--json FILE]
        [--read FILE]

Each program is compiled with `--tune N`, which builds whole schedules of it and
measures them by turns.  Programs are layers of networks, pipelines, kernels
after PolyBench and random pipelines.  Printed are, for each program, how many
schedules there are, Spearman's rank correlation of predicted cost and time among
them, and the time of the schedule that `--choose N` takes beside the best one; at
the end the rank correlation over the schedules of all programs together, and in
how many programs the choice takes at most 1.05 times the least time.  Schedules
whose code is the same count once.  The target is taken to have as many cores as
there are threads.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "kernels"))
import pipelines                                               # noqa: E402
import programs                                                # noqa: E402

SLACK = 1.05
# Name, kind of program, sizes.
PROGRAMS = [
    ("product", "gemm", dict(M=197, N=384, K=192)),
    ("thin-product", "gemm", dict(M=5, N=700, K=900)),
    ("conv-3x3", "conv", dict(C=48, H=20, W=20, O=80, K=3, STRIDE=1, PAD=1)),
    ("conv-1x1", "conv", dict(C=120, H=20, W=20, O=56, K=1, STRIDE=1, PAD=0)),
    ("conv-stride-2", "conv", dict(C=24, H=56, W=56, O=40, K=3, STRIDE=2,
                                   PAD=1)),
    ("depthwise", "depthwise", dict(C=72, H=40, W=40, K=5, STRIDE=1)),
    ("depthwise-nhwc", "depthwise-nhwc", dict(C=72, H=40, W=40, K=3, STRIDE=2)),
    ("grouped", "grouped", dict(C=96, H=20, W=20, O=96, K=3, GROUPS=8)),
    ("max-pool", "pool", dict(C=48, H=55, W=55, K=3, STRIDE=2, PAD=0)),
    ("layer-norm", "layernorm", dict(R=100, N=312)),
    ("softmax", "softmax", dict(R=700, N=90)),
    ("matrix-vector", "matvec", dict(M=700, K=900)),
    ("blur", "blur", dict(H=600, W=800)),
    ("harris", "harris", dict(H=400, W=600)),
    ("unsharp", "unsharp", dict(H=300, W=500)),
    ("pyramid-blend", "pyramid-blend", dict(H=256, W=320)),
    ("bilateral-grid", "bilateral-grid", dict(H=320, W=240, S=8, Z=12)),
    ("2mm", "2mm", dict(I=180, J=190, K=210, L=220)),
    ("gemver", "gemver", dict(N=700)),
    ("covariance", "covariance", dict(N=260, M=240)),
    ("doitgen", "doitgen", dict(R=50, Q=40, P=60)),
    ("jacobi-2d", "jacobi-2d", dict(N=400, T=6)),
]


def sources(args):
    found = [(name, programs.text(kind, **sizes))
             for name, kind, sizes in PROGRAMS]
    found += [(f"random-{k}", pipelines.text(k)) for k in range(args.random)]
    only = args.only.split(",") if args.only else [""]
    return [(n, text) for n, text in found if any(o in n for o in only)]


def machine(args, folder):
    """The target with as many cores as there are threads."""
    text = subprocess.run([args.glen, "target", "--target", args.target],
                          check=True, capture_output=True, text=True).stdout
    path = os.path.join(folder, "machine.target")
    text, found = re.subn(r"\(cores \d+\)", f"(cores {args.threads})", text)
    if found != 1:
        raise SystemExit(f"{args.target}: it does not say how many cores")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def tuned(args, target, folder, name, text):
    """The candidates that ran: their predicted costs and least seconds."""
    path = os.path.join(folder, name + ".glen")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    done = subprocess.run(
        [args.glen, "compile", path, "--target", target, "--quiet",
         "--tune", str(args.candidates), "--tune-rounds", str(args.rounds),
         "--omp-threads", str(args.threads), "--json", "-o",
         os.path.join(folder, name + ".c")],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    found = json.loads(done.stdout)
    once = {}
    for c in found["candidates"]:
        if c["status"] == "ok" and (c["code"] not in once or
                                    c["cost"] < once[c["code"]]["cost"]):
            once[c["code"]] = {k: c[k] for k in ("name", "cost", "seconds")}
    return list(once.values())


# ---- what is made of it ----


def ranks(values):
    """The rank of each value; equal ones share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    out, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for k in order[at:end]:
            out[k] = (at + end - 1) / 2
        at = end
    return out


def spearman(candidates):
    costs, times = (ranks([c[k] for c in candidates])
                    for k in ("cost", "seconds"))
    if len(set(costs)) < 2 or len(set(times)) < 2:
        return None
    return statistics.correlation(costs, times)


def chosen(candidates):
    """The first of the cheapest, as `--choose` takes it."""
    return min(candidates, key=lambda c: c["cost"])


def show(results):
    print(f"{'program':20} {'n':>3} {'ranks':>6} {'chosen/best':>11}  chosen, best")
    within, good, every = [], 0, []
    for name, candidates in results.items():
        best = min(candidates, key=lambda c: c["seconds"])
        took = chosen(candidates)
        ratio = took["seconds"] / best["seconds"]
        r = spearman(candidates) if len(candidates) > 4 else None
        within += [r] if r is not None else []
        good += ratio <= SLACK
        every += candidates
        print(f"{name:20} {len(candidates):3} "
              f"{'' if r is None else f'{r:6.2f}':>6} {ratio:11.2f}  "
              f"{took['name']}; {best['name']}")
    together = spearman(every)
    print(f"{len(every)} candidates" +
          ("" if together is None else
           f", rank correlation {together:.3f} together") +
          (f", {statistics.mean(within):.2f} within a program "
           f"(mean of {len(within)} with five or more)" if within else ""))
    print(f"chosen within {SLACK} of the best in {good} of {len(results)}")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("--glen", default=os.path.join(programs.ROOT,
                                                  "build/src/cli/glen"))
    p.add_argument("--only", help="words of names, by commas")
    p.add_argument("--candidates", type=int, default=12)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--random", type=int, default=6, help="random pipelines")
    p.add_argument("--target", default="native")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--json", metavar="FILE", help="what was measured")
    p.add_argument("--read", metavar="FILE", help="show an earlier --json")
    args = p.parse_args()
    if args.read:
        with open(args.read, encoding="utf-8") as f:
            show(json.load(f))
        return
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        target = machine(args, folder)
        for name, text in sources(args):
            found = tuned(args, target, folder, name, text)
            if found:
                results[name] = found
            print(f"{name}: {len(found)}", file=sys.stderr)
            if args.json:
                with open(args.json, "w", encoding="utf-8") as f:
                    json.dump(results, f, indent=1)
    show(results)


if __name__ == "__main__":
    main()
