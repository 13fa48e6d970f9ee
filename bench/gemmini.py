#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much of an array of 16 x 16 the convolutions of two networks use.

usage: gemmini.py GLEN [--net resnet50|mobilenetv2] [--size N] [--layers A-B]
                       [--batch N] [--bias] [--depthwise] [--verify]
                       [--target vta]

Each convolution is a program of its own: bytes with channels last, borders that
stand in the input already, sums that are scaled, rounded and saturated to bytes
again.  It is mapped onto targets/gemmini.target, its loops and addresses are
found, and the simulator runs it call by call, with faults for whatever was not
there, and compares every byte with the interpreter.  Layers of one shape are
run once and counted as often as they stand in the network.

Utilisation is what 256 products a cycle would take, of the cycles that the
simulator counts.  --size N makes results at most N x N, so that a run takes
seconds; --bias adds a number of 32 bits a channel to the sums of dense layers;
--verify has each mapping proved.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCALED = ("(compute (cast i8) (compute (clip -128 127) (compute (cast i32)"
          " (compute floor (compute (scale 0.0078125)"
          " (compute (cast FLOAT) {}))))))")
FLOATS = {"gemmini": "f32", "vta": "f64"}  # in which a target scales
MACS_A_CYCLE = 256


def resnet50():
    """Channels in and out, kernel, stride, size of the result, groups."""
    yield 3, 64, 7, 2, 112, 1
    have, before = 64, 56
    for k, (blocks, inside, size) in enumerate(
            [(3, 64, 56), (4, 128, 28), (6, 256, 14), (3, 512, 7)]):
        for block in range(blocks):
            stride = 2 if k and not block else 1
            yield have, inside, 1, 1, before, 1
            yield inside, inside, 3, stride, size, 1
            yield inside, 4 * inside, 1, 1, size, 1
            if not block:
                yield have, 4 * inside, 1, stride, size, 1
            have, before = 4 * inside, size


def mobilenetv2():
    yield 3, 32, 3, 2, 112, 1
    have, size = 32, 112
    for t, out, n, s in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                         (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                         (6, 320, 1, 1)]:
        for k in range(n):
            stride = s if not k else 1
            if t > 1:
                yield have, have * t, 1, 1, size, 1
            size //= stride
            yield have * t, have * t, 3, stride, size, have * t
            yield have * t, out, 1, 1, size, 1
            have = out
    yield 320, 1280, 1, 1, size, 1


def dense(batch, cin, cout, kernel, stride, size, bias):
    reads = (size - 1) * stride + kernel
    sums = (f"(squeeze (compute dotProd (cartProd (windows"
            f" (access x 1) (shape {kernel} {kernel} {cin})"
            f" (stride {stride} {stride} 1)) (access w 1))) 3)")
    if bias:
        sums = (f"(compute add (pair {sums} (broadcast (reshape (access b 1)"
                f" (shape 1 1 1 {cout}) (shape))"
                f" (shape {batch} {size} {size} {cout}))))")
    return (f"(tensor x (shape {batch} {reads} {reads} {cin}) i8)\n"
            f"(tensor w (shape {cout} {kernel} {kernel} {cin}) i8)\n"
            + f"(tensor b (shape {cout}) i32)\n" * bias +
            f"(let y {SCALED.format(f'(compute relu {sums})')})\n(output y)\n")


def depthwise(channels, kernel, stride, size):
    reads = (size - 1) * stride + kernel
    taps = (f"(access (squeeze (transpose (windows (access x 0)"
            f" (shape {kernel} {kernel} 1) (stride {stride} {stride} 1))"
            f" (list 2 0 1 3 4 5)) 5) 3)")
    weights = (f"(access (broadcast (insertAxis (insertAxis w 1) 1)"
               f" (shape {channels} {size} {size} {kernel} {kernel})) 3)")
    sums = (f"(compute relu (transpose (compute dotProd (pair {taps}"
            f" {weights})) (list 1 2 0)))")
    return (f"(tensor x (shape {reads} {reads} {channels}) i8)\n"
            f"(tensor w (shape {channels} {kernel} {kernel}) i8)\n"
            f"(let y {SCALED.format(sums)})\n(output y)\n")


class Failed(Exception):
    pass


def simulate(glen, name, text, verify):
    """What the simulator counts."""
    target = os.path.join(ROOT, "targets", name + ".target")
    text = text.replace("FLOAT", FLOATS[name])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "layer.glen")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        if verify:
            run = subprocess.run([glen, "saturate", path, "--target", target,
                                  "--verify"], capture_output=True, text=True)
            if "verify   proved" not in run.stdout:
                raise Failed(run.stdout + run.stderr)
        run = subprocess.run([glen, "simulate", path, "--target", target,
                              "--json"], capture_output=True, text=True)
    if run.returncode or "largest difference 0" not in run.stderr:
        raise Failed(run.stdout + run.stderr)
    return json.loads(run.stdout)["simulation"]


def busy(found, name):
    return sum(q["busy"] for q in found["queues"] if q["queue"] == name)


def line(batch, shape, times, found):
    cin, cout, kernel, stride, size, groups = shape
    macs = batch * size * size * cout * cin // groups * kernel * kernel
    name = f"{kernel}x{kernel}/{stride} {cin}->{cout} at {size}"
    calls = sum(i["calls"] for i in found["instructions"])
    moved = sum(i["bytes"] for i in found["instructions"])
    part = macs / MACS_A_CYCLE / found["cycles"]
    where = "host" if busy(found, "host") else ""
    print(f"{name:28} {times:3} {found['cycles']:11.0f} {calls:9.0f} "
          f"{moved:11.0f} {100 * part:6.1f} % {where}", flush=True)
    return macs * times, found["cycles"] * times


def layers(options):
    nets = {"resnet50": resnet50, "mobilenetv2": mobilenetv2}
    shapes = {}
    all_of_them = list(nets[options.net]())
    first, last = 1, len(all_of_them)
    if options.layers:
        first, last = (int(x) for x in options.layers.split("-"))
    for shape in all_of_them[first - 1:last]:
        size = min(shape[4], options.size)
        shape = shape[:4] + (size,) + shape[5:]
        shapes[shape] = shapes.get(shape, 0) + 1
    return shapes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("glen")
    parser.add_argument("--net", default="resnet50",
                        choices=["resnet50", "mobilenetv2"])
    parser.add_argument("--size", type=int, default=1 << 20)
    parser.add_argument("--layers")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--target", default="gemmini", choices=FLOATS)
    parser.add_argument("--bias", action="store_true")
    parser.add_argument("--depthwise", action="store_true")
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args()
    print(f"{'layer':28} {'x':>3} {'cycles':>11} {'calls':>9} {'bytes':>11}  used")
    macs, cycles, failed, left = 0, 0, 0, 0
    for shape, times in layers(options).items():
        cin, cout, kernel, stride, size, groups = shape
        if groups > 1 and not options.depthwise:
            left += times
            continue
        text = (dense(options.batch, cin, cout, kernel, stride, size,
                      options.bias) if groups == 1 else
                depthwise(cin, kernel, stride, size))
        try:
            found = simulate(os.path.abspath(options.glen), options.target,
                             text, options.verify)
        except Failed as e:
            failed += 1
            print(f"FAILED {shape}:\n{e}\n{text}")
            continue
        more = line(options.batch if groups == 1 else 1, shape, times, found)
        if groups == 1:
            macs, cycles = macs + more[0], cycles + more[1]
    if left:
        print(f"left out: {left} depthwise convolutions (--depthwise)")
    if cycles:
        print(f"dense layers: {100 * macs / MACS_A_CYCLE / cycles:.1f} % of "
              f"256 products a cycle; all bytes equal to the interpreter")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
