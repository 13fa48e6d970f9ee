#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Weights by reference: read by programs from files of every form, made ready
once by NAME_init of generated code, refused where they contradict.

usage: run.py GLEN

The last line is `N passed, N failed`.
"""
import array
import json
import os
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import files
import refused

HERE = os.path.dirname(os.path.abspath(__file__))
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow",
            "-Wcast-qual", "-Wmissing-prototypes", "-Werror"]
SANITIZED = ["-O1", "-g", "-fsanitize=address,undefined",
             "-fno-sanitize-recover=all"]

# A batch of two; a convolution and a product, both by weights that are computed
# from others, and a table that is read as it is.
NET = """
(tensor x (shape 2 3 8 8) f32)
(tensor kernel (shape 4 3 3 3) f32 :data {kernel})
(tensor scale (shape 4) f32 :data {scale})
(tensor matrix (shape 5 144) f32 :data {matrix})
(tensor bias (shape 5) f32 :data {bias})
(let scaled (compute mul (pair (access kernel 4) (access
  (broadcast (reshape (access scale 1) (shape 4 1 1 1) (shape))
    (shape 4 3 3 3)) 4))))
(let conv (transpose (squeeze (compute dotProd (cartProd
  (windows (access x 1) (shape 3 3 3) (stride 1 1 1)) (access scaled 1))) 1)
  (list 0 3 1 2)))
(let flat (access (reshape (access (compute relu (access conv 4)) 4)
  (shape 2 144) (shape)) 1))
(let turned (compute mul (pair (access matrix 2) (access
  (broadcast (insertAxis bias 1) (shape 5 144)) 2))))
(let product (compute dotProd (cartProd flat (access turned 1))))
(let y (compute add (pair (access product 2)
  (access (broadcast (insertAxis bias 0) (shape 2 5)) 2))))
(output y)
"""
SIZES = {"kernel": (4, 3, 3, 3), "scale": (4,), "matrix": (5, 144),
         "bias": (5,)}


def elements(name, shape):
    r = random.Random(name)
    n = 1
    for size in shape:
        n *= size
    return files.floats([r.uniform(-1, 1) for _ in range(n)])


DATA = {n: elements(n, s) for n, s in SIZES.items()}
ARRAYS = [(n, "F32", SIZES[n], DATA[n]) for n in SIZES]


def raw(skip, names):
    """One file, from a byte on that suits the elements or does not."""
    places, data = {}, b"!" * skip
    for n in names:
        places[n] = f'"net.weights" {len(data)}'
        data += DATA[n]
    return places, {"net.weights": data}


def in_safetensors(blanks, arrays=ARRAYS):
    names = {n: f'"part/m.safetensors" "{n}"' for n in SIZES}
    more = {"__metadata__": {"a \\ \"q\" \u00e9": "\u20ac"}}
    return names, {"part/m.safetensors":
                   files.safetensors(arrays, blanks, more)}


def in_npy():
    return ({n: f'"{n}.npy"' for n in SIZES},
            {f"{n}.npy": files.npy("<f4", SIZES[n], DATA[n]) for n in SIZES})


def mixed():
    places, named = in_npy()
    # What is used stands last, so that the file is short without its last byte.
    more, others = in_safetensors(1, ARRAYS[::-1])
    named.pop("kernel.npy")
    return {**places, "kernel": more["kernel"]}, {**named, **others}


FORMS = {"raw": raw(0, SIZES),
         "raw, not aligned, from the last on": raw(3, reversed(SIZES)),
         "npy": in_npy(),
         "safetensors": in_safetensors(0),
         "safetensors, not aligned": in_safetensors(1), "mixed": mixed()}


def call(command, folder, code=0):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          timeout=300)
    if done.returncode != code:
        raise RuntimeError(f"{command}: exit code {done.returncode}: "
                           f"{done.stdout[-1000:]}{done.stderr[-3000:]}")
    return done.stdout


def write(folder, named):
    for name, data in named.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)


def floats_of(data):
    out = array.array("f")
    out.frombytes(data)
    return out


def equal(a, b):
    top = max(map(abs, b))
    return len(a) == len(b) and all(
        abs(p - q) <= 1e-4 * top for p, q in zip(a, b))


def load(folder, name, skip=0):
    with open(os.path.join(folder, name), "rb") as f:
        return floats_of(f.read()[skip:])


class Net:
    """The program in a folder, with its files, and what it computes."""

    def __init__(self, glen, folder, places, named):
        self.glen, self.folder, self.named = glen, folder, named
        x = elements("x", (2, 3, 8, 8))
        write(folder, {**named, "net.glen": NET.format(**places).encode(),
                       "x.bin": x, "x.npy": files.npy("<f4", (2, 3, 8, 8), x)})
        self.wanted = self.run("--interpret")

    def run(self, *options):
        call([self.glen, "run", "net.glen", "--input", "x=x.npy", "-o",
              "y.npy", *options], self.folder)
        return load(self.folder, "y.npy", 128)

    def build(self, cc, *options):
        call([self.glen, "compile", "net.glen", "-o", "net.c", *options],
             self.folder)
        call([cc, *WARNINGS, *SANITIZED, "-c", "net.c"], self.folder)
        call([cc, "-D_POSIX_C_SOURCE=200809L", *SANITIZED, "-I.",
              os.path.join(HERE, "life.c"), "net.o", "-o", "life", "-pthread",
              "-lm"], self.folder)

    def start(self, error=0):
        call([os.path.join(self.folder, "life"), self.folder, str(error),
              "x.bin", "y.bin"], self.folder)
        return load(self.folder, "y.bin")


def check_run(net):
    for way in ([], ["--weights", "inputs"], ["--prepack", "matrix"],
                ["--rules", "none"]):
        if not equal(net.run(*way), net.wanted):
            raise RuntimeError(f"run {way} differs from the interpreter")


def check_init(net):
    """Files that are gone, short, or others.  Both compilers where there are
    files of several forms."""
    for cc in ("gcc", "clang") if len(net.named) == 4 else ("gcc",):
        net.build(cc)
        if not equal(net.start(), net.wanted):
            raise RuntimeError("the net differs from the interpreter")
    for name, data in net.named.items():
        os.remove(os.path.join(net.folder, name))
        net.start(1)
        for kept in (data[:100], data[:-1]):
            write(net.folder, {name: kept})
            net.start(2)
        if name != "net.weights":
            write(net.folder, {name: data[:20] + b"?" + data[21:]})
            net.start(3)
        write(net.folder, {name: data})
    net.start()


def check_variants(net):
    net.build("gcc", "--target", "native")
    if not equal(net.start(), net.wanted):
        raise RuntimeError("the net differs from the interpreter")


def check_text(net):
    """What is printed is read again, and means the same."""
    text = call([net.glen, "saturate", "net.glen", "--rules", "none"],
                net.folder)
    write(net.folder, {"net.glen": text.encode()})
    if not equal(net.run(), net.wanted):
        raise RuntimeError("the printed program differs")


def check_without(net):
    """Nothing of it where weights are inputs, or not all stand in files."""
    for way in (["--weights", "inputs"], ["--prepack", "x"],
                ["--prepack", "x", "--prepack", "bias"]):
        call([net.glen, "compile", "net.glen", "-o", "net.c", *way],
             net.folder)
        with open(os.path.join(net.folder, "net.h"), encoding="utf-8") as f:
            if "net_init" in f.read():
                raise RuntimeError(f"net_init by {way}")
    call([net.glen, "compile", "net.glen", "-o", "net.cu", "--emit", "cuda"],
         net.folder)


def check_profile(net):
    """Every step is told with its layer, as text, JSON and a chart; the outputs
    are those without it, and code that is not profiled reads no clock."""
    told = json.loads(call([net.glen, "run", "net.glen", "--profile", "--json",
                            "--flame", "f.svg", "--input", "x=x.npy", "-o",
                            "y.npy", "--target", "native", "--repeat", "2"],
                           net.folder))
    if not equal(load(net.folder, "y.npy", 128), net.wanted):
        raise RuntimeError("the profiled run differs from the interpreter")
    steps = told["profile"]
    layers = {s["layer"] for s in steps}
    if not {"conv", "y"} & layers or not layers <= {
            "scaled", "conv", "flat", "product", "y"}:
        raise RuntimeError(f"the layers are {layers}")
    if not {s["kind"] for s in steps} <= {"contraction", "loops"}:
        raise RuntimeError(f"kinds of steps: {steps}")
    if not all(s["seconds"] >= 0 and s["bytes"] > 0 and s["operations"] > 0
               for s in steps):
        raise RuntimeError(f"figures are missing: {steps}")
    # A product of 2 x 144 by 144 x 5 at least.
    if sum(s["operations"] for s in steps) < 2 * 2 * 144 * 5:
        raise RuntimeError("operations are missing")
    titles = [t.text.split(":")[0] for t in xml.etree.ElementTree.parse(
        os.path.join(net.folder, "f.svg")).iter(
            "{http://www.w3.org/2000/svg}title")]
    if titles[0] != "all" or not {s["kernel"] for s in steps} | layers <= set(
            titles):
        raise RuntimeError(f"the chart has {titles}")
    table = call([net.glen, "run", "net.glen", "--profile", "--print", "0"],
                 net.folder).splitlines()
    if len(table) != 3 + len(steps) or "%roof" not in table[2]:
        raise RuntimeError(f"the table is {table}")
    for more in (["--interpret"], ["--dispatch", "avx2"]):
        call([net.glen, "run", "net.glen", "--profile", *more], net.folder, 2)
    call([net.glen, "run", "net.glen", "--flame", "f.svg"], net.folder, 2)
    call([net.glen, "compile", "net.glen", "-o", "net.c"], net.folder)
    with open(os.path.join(net.folder, "net.c"), encoding="utf-8") as f:
        if "_profile" in f.read():
            raise RuntimeError("code that is not profiled has a clock")


CHECKS = [check_profile, check_run, check_init, check_variants, check_text, check_without]


def main():
    glen = os.path.abspath(sys.argv[1])
    passed, failed = refused.check(glen)
    for form, (places, named) in FORMS.items():
        for check in CHECKS:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    check(Net(glen, folder, places, named))
                    passed += 1
                except (RuntimeError, OSError) as error:
                    failed += 1
                    print(f"FAILED {form}, {check.__name__}: {error}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
