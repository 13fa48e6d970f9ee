#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs under the schedules that `--fuse` chooses, against the interpreter.

Every pipeline under every mode, and sweeps over time; with post-tile also sizes that no tile divides
and tiles from 8 to 512, on one thread and on two; some under the address and
undefined-behaviour sanitizers.  --all takes every example, mode and size of
tile.

usage: fused.py GLEN [--all] [FILE.glen...]
"""
import concurrent.futures
import glob
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench/kernels"))
sys.path.insert(0, os.path.join(ROOT, "bench/fusion"))
import programs  # noqa: E402
import sweeps  # noqa: E402

MODES = ["none", "min", "smart", "max", "post-tile"]
TILES = [None, "1,8", "5,7", "8,512", "64,3"]
# What a short run takes beside all pipelines under smart and post-tile:
# (program, sizes or none, mode, tile, sanitize).
ODD = {"H": 71, "W": 533}  # of pipelines that take any size
SELECTION = [
    ("blur", ODD, "post-tile", "5,7", True),
    ("blur", ODD, "post-tile", "8,512", False),
    ("blur", ODD, "max", None, False),
    ("harris", ODD, "post-tile", None, False),
    ("harris", ODD, "post-tile", "8,256", False),
    ("harris", None, "post-tile", "5,7", True),
    ("harris", None, "max", None, False),
    ("harris", None, "min", None, False),
    ("unsharp", ODD, "post-tile", "16,512", False),
    ("unsharp", {"H": 139, "W": 205}, "smart", None, False),  # gray near 0
    ("unsharp", None, "post-tile", "5,7", True),
    # b is larger than the second cache: who reads it computes it again.
    ("gemver", {"N": 613}, "post-tile", None, True),
    ("unsharp", ODD, "post-tile", "64,128", False),
    ("unsharp", None, "max", None, False),
    ("interpolate", None, "max", None, False),
    ("pyramid-blend", None, "post-tile", "8,512", False),
    ("2mm", None, "post-tile", None, False),
    ("covariance", None, "post-tile", None, False),
    ("gemver", None, "post-tile", "64,3", False),
    # Reductions long enough for their loops to be exchanged.
    ("gemver", {"N": 190}, "smart", None, True),
    ("gemver", {"N": 1500}, "post-tile", None, False),
    ("covariance", {"N": 150, "M": 141}, "smart", None, True),
    ("covariance", {"N": 150, "M": 141}, "post-tile", None, True),
    ("jacobi-2d", None, "post-tile", "5,7", False),
    ("jacobi-2d", None, "smart", None, False),
]


def check(glen, path, mode, tile, sanitize, threads):
    command = [glen, "run", path, "--check", "--quiet", "--fuse", mode]
    if tile:
        command += ["--tile", tile]
    if sanitize:
        command += ["--sanitize"]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, OMP_NUM_THREADS=str(threads)),
                          capture_output=True, text=True, timeout=900)
    if done.returncode:
        print(f"FAIL exit {done.returncode}: {' '.join(command)}\n"
              f"{done.stderr[-3000:]}", flush=True)
    return done.returncode == 0


def path_of(name, sizes, folder):
    """The example, or the program with these sizes written to the folder."""
    if not sizes:
        return f"examples/{programs.PROGRAMS[name].folder}/{name}.glen"
    kind = "-".join([name, *map(str, sizes.values())])
    path = os.path.join(folder, kind + ".glen")
    if not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as f:
            f.write(programs.text(name, **sizes))
    return path


def slanted(folder):
    """Sweeps over time, in tiles of the program's own choice and in small
    ones."""
    for name, tile in zip(sweeps.SWEEPS, ["8,512", "4,8,16", "4,8,16",
                                          "3,4,5,8", "5,16,16", None]):
        path = os.path.join(folder, name + ".loops")
        with open(path, "w", encoding="utf-8") as f:
            f.write(sweeps.text(name, small=True))
        yield path, "post-tile", tile, name == "seidel-2d"


def short_run(folder):
    yield from slanted(folder)
    yield from ((path_of(name, sizes, folder), *rest)
                for name, sizes, *rest in SELECTION)
    for path in sorted(glob.glob("examples/pipelines/*.glen", root_dir=ROOT)):
        for mode in ("smart", "post-tile"):
            yield path, mode, None, False


def long_run(paths):
    if not paths:
        for folder in ("pipelines", "polybench", "sparse", "."):
            paths += sorted(glob.glob(f"examples/{folder}/*.glen",
                                      root_dir=ROOT))
    for path in paths:
        for mode in MODES:
            for tile in TILES if mode == "post-tile" else [None]:
                yield path, mode, tile, tile == "5,7"


def main():
    glen = os.path.abspath(sys.argv[1])
    paths = [a for a in sys.argv[2:] if not a.startswith("--")]
    with tempfile.TemporaryDirectory() as folder:
        every = "--all" in sys.argv or paths
        cases = list(long_run(paths) if every else short_run(folder))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(
                lambda k: check(glen, *cases[k], 1 + k % 2),
                range(len(cases))))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
