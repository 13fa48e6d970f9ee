#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the code that is generated the same, byte for byte, as it was recorded?

usage: run.py BUILD [--record | --every N] [--keep DIR]

A change of structure must not change the code.  This makes C for the examples
in many ways, for the programs of the kernel benchmark and for random programs,
and holds the hash of each text against recorded.json beside this file.  --record
writes that file anew; --every N makes a part of them, each N-th, and --keep leaves the texts in a folder, so that those of two
builds can be compared by diff.

BUILD is a build folder with glen and tests/property/pipeline_programs.  The last
line is `N passed, N failed`.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RECORDED = os.path.join(HERE, "recorded.json")
SEEDS = 500

# Ways of compiling an example: a name and options. What is not about variants
# has none, so that each says one thing.
ONE = ["--dispatch", "none"]
WAYS = {
    "plain": [],
    "one": ONE,
    "rules": ["--rules", "rules", *ONE],
    "none": ["--fuse", "none", *ONE],
    "smart": ["--fuse", "smart", *ONE],
    "max": ["--fuse", "max", *ONE],
    "post-tile": ["--fuse", "post-tile", *ONE],
    "chosen": ["--choose", "6", *ONE],
    "dispatch": ["--dispatch", "avx2,avx512"],
    "strict": ["--strict-fp", *ONE],
    "systolic": ["--rules", "rules", "--target", "targets/systolic.target"],
    "pool": ["--rules", "rules", "--target", "targets/pool.target"],
    "cuda": ["--emit", "cuda,h"],
    "loops": ["--emit", "loops"],
    "tree": ["--emit", "tree"],
}
# What is large is compiled in the ways that are not slow for it.
BENCHED = ["one", "dispatch", "none"]


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--keep", metavar="DIR")
    return parser.parse_args()


def run(command, bound=None, timeout=900):
    """bound is called in the process of the command."""
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=timeout,
                          preexec_fn=bound)


def path_of(name, way, folder):
    return os.path.join(folder, f"{name}.{way}.c".replace("/", "-"))


def compiled(glen, source, name, way, folder, **limits):
    """The texts that one command writes, one after another, or its error."""
    out = path_of(name, way, folder)
    done = run([glen, "compile", source, *WAYS[way], "--name", "f", "-o", out],
               **limits)
    written = sorted(glob.glob(os.path.splitext(out)[0] + ".*"))
    texts = [open(p, encoding="utf-8").read() for p in written]
    for path in written:
        os.remove(path)
    # A program that is refused is refused in the same words.
    text = "".join(texts) + f"exit {done.returncode}\n"
    text += done.stderr if done.returncode else ""
    # Where the files lie is no part of the code.
    for place in (os.path.dirname(source) + "/", folder + "/"):
        text = text.replace(place, "")
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)
    return out


def examples():
    """(source, name, way) of each example in each way."""
    pattern = os.path.join(ROOT, "examples/**/*.glen")
    for source in sorted(glob.glob(pattern, recursive=True)):
        name = os.path.relpath(source, os.path.join(ROOT, "examples"))
        for way in WAYS:
            yield source, name, way


def benched(folder):
    """The programs of the kernel benchmark at its own sizes."""
    sys.path.insert(0, os.path.join(ROOT, "bench/kernels"))
    import problems
    import programs
    for p in problems.standard():
        source = os.path.join(folder, p.name.replace("/", "-") + ".glen")
        with open(source, "w", encoding="utf-8") as f:
            f.write(programs.text(p.kind, **p.sizes))
        for way in BENCHED:
            yield source, "bench/" + p.name, way


def random_programs(build, folder, first, last, **limits):
    """Code of the random programs from one seed to another, SEED.c each; some
    seeds have none."""
    done = run([os.path.join(build, "tests/property/pipeline_programs"),
                "--rules", "rules", "--targets", "targets", "--seeds",
                f"{first}-{last}", "--write", folder], **limits)
    if done.returncode:
        print(done.stdout + done.stderr)
    random = [os.path.join(folder, f"{k}.c") for k in range(first, last + 1)]
    return [p for p in random if os.path.exists(p)]


def make_all(build, folder, every):
    """The paths of all texts, or of each N-th."""
    seeds = SEEDS // every
    glen = os.path.join(build, "src/cli/glen")
    random = random_programs(build, folder, 1, seeds)
    with tempfile.TemporaryDirectory() as sources, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(compiled, glen, source, name, way, folder)
                for source, name, way in
                [*examples(), *benched(sources)][::every]]
        paths = [job.result() for job in jobs]
    return paths + random


def hash_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()[:16]


def read_recorded():
    with open(RECORDED, encoding="utf-8") as f:
        return json.load(f)


def compare(found, recorded):
    """(passed, failed): what differs, is missing or is new fails."""
    wrong = [name for name in sorted({*found, *recorded})
             if found.get(name) != recorded.get(name)]
    for name in wrong:
        what = ("not made" if name not in found else
                "not recorded" if name not in recorded else "differs")
        print(f"FAIL {name}: {what}")
    return len(found) - len([n for n in wrong if n in found]), len(wrong)


def main():
    args = options()
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.abspath(args.keep) if args.keep else scratch
        os.makedirs(folder, exist_ok=True)
        paths = make_all(os.path.abspath(args.build), folder, args.every)
        found = {os.path.basename(p): hash_of(p) for p in paths}
    if args.record:
        with open(RECORDED, "w", encoding="utf-8") as f:
            json.dump(found, f, indent=0, sort_keys=True)
            f.write("\n")
    recorded = read_recorded()
    if args.every > 1:  # what was not made is not missed
        recorded = {k: v for k, v in recorded.items() if k in found}
    passed, failed = compare(found, recorded)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
