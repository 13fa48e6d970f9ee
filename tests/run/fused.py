#!/usr/bin/env python3
"""Programs under the schedules that `--fuse` chooses, against the interpreter.

Every mode, with the sizes of tiles that are chosen and with odd ones that cut
rows and borders; some under the address and undefined-behaviour sanitizers.
--all takes every example, mode and size.

usage: fused.py GLEN [--all] [FILE.glen...]
"""
import glob
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench/kernels"))
import programs  # noqa: E402

MODES = ["min", "smart", "max", "post-tile"]
TILES = [None, "1,8", "5,7", "8,512", "64,3"]
# What a short run takes: (program, mode, tile, sanitize).
SELECTION = [
    ("pipelines/blur", "post-tile", "5,7", True),
    ("pipelines/blur", "smart", None, False),
    ("pipelines/harris", "post-tile", "5,7", False),
    ("pipelines/harris", "max", None, False),
    ("pipelines/unsharp", "post-tile", None, True),
    ("pipelines/unsharp", "post-tile", "5,7", True),
    ("pipelines/unsharp", "smart", None, False),
    ("pipelines/pyramid-blend", "post-tile", "8,512", False),
    ("polybench/jacobi-2d", "post-tile", "5,7", True),
    ("polybench/covariance", "post-tile", None, False),
    ("polybench/gemver", "post-tile", "64,3", False),
]
# Reductions whose loops are exchanged are long ones: (program, sizes, mode).
LONG = [
    ("gemver", dict(N=190), "smart"),
    ("gemver", dict(N=1500), "post-tile"),
    ("covariance", dict(N=150, M=141), "post-tile"),
    ("covariance", dict(N=150, M=141), "smart"),
]


def check(glen, path, mode, tile, sanitize):
    command = [glen, "run", path, "--check", "--quiet", "--fuse", mode]
    if tile:
        command += ["--tile", tile]
    if sanitize:
        command += ["--sanitize"]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=900)
    if done.returncode:
        print(f"FAIL exit {done.returncode}: {' '.join(command)}\n"
              f"{done.stderr[-3000:]}", flush=True)
    return done.returncode == 0


def cases(arguments):
    paths = [a for a in arguments if not a.startswith("--")]
    if "--all" not in arguments and not paths:
        return [(f"examples/{p}.glen", *rest) for p, *rest in SELECTION]
    if not paths:
        for folder in ("pipelines", "polybench", "."):
            paths += sorted(glob.glob(f"examples/{folder}/*.glen",
                                      root_dir=ROOT))
    return [(p, mode, tile, tile == "5,7") for p in paths for mode in MODES
            for tile in (TILES if mode == "post-tile" else [None])]


def check_long(glen, name, sizes, mode):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"{name}.glen")
        with open(path, "w", encoding="utf-8") as f:
            f.write(programs.text(name, **sizes))
        return check(glen, path, mode, None, True)


def main():
    glen = os.path.abspath(sys.argv[1])
    results = [check(glen, *case) for case in cases(sys.argv[2:])]
    if not [a for a in sys.argv[2:] if not a.startswith("--")]:
        results += [check_long(glen, *case) for case in LONG]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
