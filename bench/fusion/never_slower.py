#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is what glen chooses by itself ever slower than the loops as written?

    bench/fusion/never_slower.py [--glen GLEN] [--only NAME,...] [--random N]
        [--first SEED] [--turns N] [--way=--fuse=auto] [--target T] [--json F]
        [FILE...]

Programs are those of `examples/`, the pipelines and the kernels after PolyBench
of `bench/kernels` at the sizes of that benchmark, random pipelines
(pipelines.py), and files that are named.  Each is compiled as written and by
--way, both functions are loaded into one process on one thread and called by
turns on the same arrays.  Seconds are of the processor, the least of the turns
of each.  Programs whose C is the same either way count as equal, unmeasured.
Asked for: chosen <= 1.05 times as written, for each; what is beyond it in a
first measurement is measured again, with three times the turns.
"""
import argparse
import concurrent.futures
import ctypes
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "kernels"))
import pipelines                                               # noqa: E402
import problems                                                # noqa: E402
import programs                                                # noqa: E402

SLACK, LONGEST = 1.05, 120
C_TYPES = {"f32": ctypes.c_float, "f64": ctypes.c_double,
           "i8": ctypes.c_int8, "u8": ctypes.c_uint8, "i16": ctypes.c_int16,
           "u16": ctypes.c_uint16, "i32": ctypes.c_int32, "u32": ctypes.c_uint32}


# ---- what is compiled ----


def sources(args, folder):
    """Names and files."""
    found = {}
    for path in args.files:
        found[os.path.basename(path)] = os.path.abspath(path)
    if not args.files:
        for path in sorted(glob.glob(os.path.join(programs.ROOT, "examples",
                                                  "*.glen"))):
            found["examples/" + os.path.basename(path)] = path
        for name, text in bench_programs():
            found["bench/" + name] = save(folder, name + ".glen", text)
        for k in range(args.first, args.first + args.random):
            found[f"random-{k}"] = save(folder, f"random-{k}.glen",
                                        pipelines.text(k))
    only = args.only.split(",") if args.only else [""]
    return {n: f for n, f in found.items() if any(o in n for o in only)}


def bench_programs():
    for p in problems.standard():
        if p.kind in programs.PROGRAMS and p.kind not in ("gemm", "conv"):
            yield p.name, programs.text(p.kind, **p.sizes)
    yield "camera", programs.text("camera", H=1024, W=1536)


def save(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def compile_c(args, source, folder, options):
    """The path of a C file, or an error's first line."""
    c = os.path.join(folder, "kernel.c")
    os.makedirs(folder, exist_ok=True)
    target = ["--target", args.target] if args.target else []
    command = ["compile", source, "-o", c, "--name", "kernel", *target,
               *options]
    ran = subprocess.run([args.glen, *command], text=True, check=False,
                         capture_output=True)
    if ran.returncode:
        raise RuntimeError((ran.stderr.splitlines() or ["?"])[0])
    with open(c, encoding="utf-8") as f:
        text = f.read()
    return c, re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def build(args, c):
    so = c[:-1] + "so"
    subprocess.run([args.cc, *args.cc_flags.split(), "-w", "-fPIC", "-shared",
                    "-fopenmp", c, "-o", so, "-lm"], check=True)
    return so


# ---- what is measured, in a process of its own ----


def arrays_of(header):
    """[(is an input, C type, elements)] of the function's parameters."""
    found = []
    for way, dtype, shape in re.findall(
            r"^ \*   \S+\s+(in|out) +(\w+)\(([\d, ]*)\)", header, re.M):
        n = math.prod(int(x) for x in shape.replace(",", " ").split())
        found.append((way == "in", C_TYPES[dtype], n))
    return found


def load(so):
    with open(so[:-2] + "h", encoding="utf-8") as f:
        header = f.read()
    lib = ctypes.CDLL(so)
    lib.kernel_workspace_size.restype = ctypes.c_size_t
    return lib, arrays_of(header)


def numbers(ctype, n, k):
    """Elements between 0 and 4, in whole pages."""
    size = ctypes.sizeof(ctype) * n
    raw = ctypes.create_string_buffer(size + 4096)
    at = (ctypes.addressof(raw) + 4095) // 4096 * 4096
    array = (ctype * n).from_address(at)
    pattern = [ctype((7 * i + k) % 13 * 0.25
                     if ctype in (ctypes.c_float, ctypes.c_double)
                     else (7 * i + k) % 5).value for i in range(min(n, 8191))]
    for at in range(0, n, len(pattern) or 1):
        part = min(len(pattern), n - at)
        array[at:at + part] = pattern[:part]
    return raw, array


def call(lib, arguments, workspace):
    start = time.process_time()
    if lib.kernel(*arguments, workspace):
        raise RuntimeError("the kernel returned an error")
    return time.process_time() - start


def measure(paths, turns, seconds):
    """The least seconds of each path's function; calls by turns."""
    loaded = [load(so) for so in paths]
    kept = [numbers(ctype, n, k)
            for k, (_, ctype, n) in enumerate(loaded[0][1])]
    room = max(lib.kernel_workspace_size() for lib, _ in loaded) + 4096
    space = ctypes.create_string_buffer(room)
    workspace = ctypes.c_void_p((ctypes.addressof(space) + 4095) // 4096 * 4096)
    arguments = [ctypes.byref(array) for _, array in kept]
    least = [min(call(lib, arguments, workspace) for _ in range(2))
             for lib, _ in loaded]
    calls = max(1, min(1000, int(seconds / max(max(least), 1e-6))))
    for _ in range(turns):
        for k, (lib, _) in enumerate(loaded):
            for _ in range(calls):
                least[k] = min(least[k], call(lib, arguments, workspace))
    return least


def measured(paths, turns, seconds):
    """The same, in a child: a wrong kernel ends only that."""
    ran = subprocess.run(
        [sys.executable, __file__, "--child", json.dumps([paths, turns,
                                                          seconds])],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, text=True, check=False,
        capture_output=True, timeout=LONGEST * 10)
    if ran.returncode:
        raise RuntimeError((ran.stderr.splitlines() or ["?"])[-1])
    return json.loads(ran.stdout)


# ---- reports ----


def prepare(args, folder, name, source):
    """Paths of the two libraries; [] where the C is the same."""
    at = os.path.join(folder, re.sub(r"\W", "-", name))
    ways = {"written": ["--fuse=none"], "chosen": args.way.split()}
    made = {way: compile_c(args, source, os.path.join(at, way), options)
            for way, options in ways.items()}
    if made["written"][1] == made["chosen"][1]:
        return []
    return [build(args, c) for c, _ in made.values()]


def compare(args, name, paths):
    if not paths:
        return {"name": name, "ratio": 1.0, "same": True}
    written, chosen = measured(paths, args.turns, args.seconds)
    if chosen > SLACK * written:
        written, chosen = measured(paths, 3 * args.turns, args.seconds)
    return {"name": name, "written": written, "chosen": chosen,
            "ratio": chosen / written}


def show(row):
    if "error" in row:
        print(f"{row['name']:32} {row['error']}", flush=True)
    elif row.get("same"):
        print(f"{row['name']:32} the same C", flush=True)
    else:
        mark = "  SLOWER" if row["ratio"] > SLACK else ""
        print(f"{row['name']:32} {1e3 * row['written']:9.3f} ms "
              f"{1e3 * row['chosen']:9.3f} ms {row['ratio']:6.2f}{mark}",
              flush=True)


def summary(rows):
    good = [r for r in rows if "ratio" in r and not r.get("same")]
    slow = [r["name"] for r in good if r["ratio"] > SLACK]
    print(f"{len(rows)} programs, {len(good)} with other code by themselves, "
          f"{len(slow)} slower: {', '.join(slow) or '-'}")
    if good:
        mean = math.exp(sum(math.log(r["ratio"]) for r in good) / len(good))
        print(f"chosen over as written, geometric mean {mean:.2f}, "
              f"most {max(r['ratio'] for r in good):.2f}")
    return bool(slow) or any("error" in r for r in rows)


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--glen", default=os.path.join(
        programs.ROOT, "build/src/cli/glen"))
    parser.add_argument("--only", default="")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.05,
                        help="of calls in a turn")
    parser.add_argument("--way", default="--fuse=auto")
    parser.add_argument("--target", default="native")
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--cc-flags", default="-O3 -march=native")
    parser.add_argument("--json")
    return parser.parse_args()


def main():
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(measure(*json.loads(sys.argv[2]))))
        return 0
    args, rows = options(), []
    args.glen = os.path.abspath(args.glen)
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(1) as ahead:
        jobs = [(name, ahead.submit(prepare, args, folder, name, source))
                for name, source in sources(args, folder).items()]
        for name, job in jobs:
            try:
                rows.append(compare(args, name, job.result()))
            except (RuntimeError, subprocess.SubprocessError) as e:
                rows.append({"name": name, "error": str(e)})
            show(rows[-1])
    bad = summary(rows)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"schema": 1, "way": args.way, "programs": rows}, f,
                      indent=1)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
