#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One C file for all sizes beside code for each size alone.

    bench/fusion/open_sizes.py [--glen GLEN] [--only NAME,...] [--sizes N]
        [--turns N] [--seed S] [--way=--fuse=auto] [--target T]

Each program is compiled once for all sizes in its bounds and, at N random sizes of
these, for the size alone, both with the options of --way.  Both functions are in one process, on
one thread, and are called by turns on the same arrays; seconds are of the processor,
the least of the turns of each.  Asked for: at most 1.10 times as long.
"""
import argparse
import ctypes
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import never_slower as beside                                  # noqa: E402
import programs                                                # noqa: E402

SLACK = 1.10
BATCH = 1e-4  # seconds of the calls that are timed together
HARRIS = os.path.join(programs.ROOT, "examples/pipelines/harris.glen")


def harris():
    """The example, for images of any size."""
    with open(HARRIS, encoding="utf-8") as f:
        text = f.read()
    return ("(size h 16 1200)\n(size w 16 1600)\n" +
            text.replace("(shape 3 36 48)", "(shape 3 h w)"))


def rows(body):
    return ("(size n 1 512)\n(size m 1 1024)\n(tensor x (shape n m) f32)\n" +
            body + "(output y)\n")


PROGRAMS = {
    "matmul": """(size n 1 512)\n(size m 1 512)\n(size k 1 512)
(tensor A (shape n k) f32)\n(tensor B (shape k m) f32)
(let y (matmul A B))\n(output y)\n""",
    "conv": """(size h 3 64)\n(size w 3 64)\n(tensor X (shape 1 32 h w) f32)
(tensor K (shape 32 32 3 3) f32)
(let y (relu (conv X K :pad (list 1 1 1 1))))\n(output y)\n""",
    "softmax": rows("(let y (softmax x 1))\n"),
    "layer-norm": rows("""(tensor g (shape m) f32)\n(tensor b (shape m) f32)
(let y (layerNorm x g b 1 0.00001))\n"""),
    "attention": """(size n 1 512)\n(tensor Q (shape n 64) f32)
(tensor K (shape n 64) f32)\n(tensor V (shape n 64) f32)
(let y (matmul (softmax (scale (matmul Q (turned K)) 0.125) 1) V))
(output y)\n""",
    "harris": harris(),
    "gelu": rows("""(tensor b (shape m) f32)\n(let z (add x b))
(let y (mul z (compute sigmoid (compute (scale 1.702) z))))\n"""),
}


# ---- what is measured, in a process of its own ----


def several(lib, arguments, workspace, n):
    """Seconds of a call, of n one after the other."""
    start = time.process_time()
    for _ in range(n):
        lib.kernel(*arguments, workspace)
    return (time.process_time() - start) / n


def measure(paths, sizes, turns, seconds):
    """The least seconds of the code for all sizes, and of that for these."""
    wide, alone = (beside.load(so) for so in paths)
    arrays = alone[1]
    numbers = [ctypes.c_int64(n) for n in sizes]
    wide[0].kernel_workspace_size.argtypes = [ctypes.c_int64] * len(sizes)
    room = max(wide[0].kernel_workspace_size(*sizes),
               alone[0].kernel_workspace_size())
    kept = [beside.numbers(c, n, k) for k, (_, c, n) in enumerate(arrays)]
    space = ctypes.create_string_buffer(room + 8192)
    workspace = ctypes.c_void_p((ctypes.addressof(space) + 4095) // 4096 * 4096)
    pointers = [ctypes.byref(array) for _, array in kept]
    ways = [(wide[0], numbers + pointers), (alone[0], pointers)]
    least = [min(beside.call(lib, a, workspace) for _ in range(2))
             for lib, a in ways]
    together = max(1, int(BATCH / max(max(least), 1e-6)))
    batches = max(10, int(seconds / BATCH))
    for _ in range(turns * min(batches, int(20 / max(least)))):
        for k, (lib, a) in enumerate(ways):
            least[k] = min(least[k],
                           several(lib, a, workspace, together))
    return least


def measured(paths, sizes, args):
    ran = subprocess.run(
        [sys.executable, __file__, "--child",
         json.dumps([paths, sizes, args.turns, args.seconds])],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, text=True, check=False,
        capture_output=True, timeout=600)
    if ran.returncode:
        raise RuntimeError((ran.stderr.splitlines() or ["?"])[-1])
    return json.loads(ran.stdout)


# ---- programs and sizes ----


def choose(text, r):
    """Random sizes within the bounds."""
    bounds = re.findall(r"\(size (\w+) (\d+) (\d+)\)", text)
    return [(n, r.randint(int(lo), int(hi))) for n, lo, hi in bounds]


def compare(args, folder, name, r):
    text = PROGRAMS[name]
    source = beside.save(folder, name + ".glen", text)
    way = args.way.split()
    at = os.path.join(folder, name)
    wide = beside.build(args, beside.compile_c(args, source, at, way)[0])
    ratios = []
    for k in range(args.sizes):
        sizes = choose(text, r)
        given = [w for n, v in sizes for w in ("--size", f"{n}={v}")]
        own = os.path.join(at, str(k))
        alone = beside.build(
            args, beside.compile_c(args, source, own, way + given)[0])
        least = measured([wide, alone], [v for _, v in sizes], args)
        ratios.append(least[0] / least[1])
        where = " ".join(f"{n}={v}" for n, v in sizes)
        print(f"{name:12} {where:24} {1e3 * least[1]:9.4f} ms alone "
              f"{1e3 * least[0]:9.4f} ms for all {ratios[-1]:6.2f}"
              f"{'  SLOWER' if ratios[-1] > SLACK else ''}", flush=True)
    mean = math.exp(sum(math.log(x) for x in ratios) / len(ratios))
    print(f"{name:12} geometric mean {mean:.2f}, {min(ratios):.2f} to "
          f"{max(ratios):.2f}", flush=True)
    return max(ratios) > SLACK


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--glen", default=os.path.join(
        programs.ROOT, "build/src/cli/glen"))
    parser.add_argument("--only", default="")
    parser.add_argument("--sizes", type=int, default=10)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.02,
                        help="of calls in a turn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--way", default="--fuse=auto")
    parser.add_argument("--target", default="native")
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--cc-flags", default="-O3 -march=native")
    return parser.parse_args()


def main():
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(measure(*json.loads(sys.argv[2]))))
        return 0
    args, slow = options(), False
    args.glen = os.path.abspath(args.glen)
    names = args.only.split(",") if args.only else list(PROGRAMS)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            slow |= compare(args, folder, name, random.Random(args.seed))
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
