#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small models of every operator that is imported, held against a reference,
and models that are to be refused.

usage: run.py GLEN [--only TEXT] [--words | --bless | --show TEXT |
                    --models FILE | --part NAME]

Each model is written, imported, and run by the interpreter; every tenth is
compiled as well; the words of each import, and of each with something altered,
are those of recorded.txt (texts.py); --models writes
these as {name: [model in base64]}; --part runs one of hostile, stored, direct,
sized and folded alone.  An operator of `glen import --list-operators` without a case
is a failure.  A glen without the importer skips all of them, loudly.  The last
line is `N passed, N failed`.
"""
import argparse
import base64
import json
import math
import os
import subprocess
import sys
import tempfile

import choices  # noqa: F401, adds its cases
import direct
import encode
import folded
import functions  # noqa: F401, adds its cases
import hostile
import npy
import products  # noqa: F401, adds its cases
import sized
import stored
import texts
from cases import CASES
import drawn  # noqa: F401, adds its cases behind all others
import edges  # noqa: F401, adds its cases behind those
import forms  # noqa: F401, adds its cases behind those
import flow  # noqa: F401, adds its cases behind those
import called  # noqa: F401, adds its cases behind those
import grids  # noqa: F401, adds its cases behind those
from encode import (BOOL, DOUBLE, FLOAT, FLOAT16, INT16, INT32, INT64, INT8,
                    UINT16, UINT32, UINT8)

FILES = {FLOAT: "<f4", DOUBLE: "<f8", INT32: "<i4", INT64: "<i8", BOOL: "|b1",
         INT8: "|i1", UINT8: "|u1", INT16: "<i2", UINT16: "<u2",
         FLOAT16: "<f2", UINT32: "<u4"}
REALS = {FLOAT, DOUBLE, FLOAT16}
OTHER_NAMES = {"Constant"}
PARTS = {p.__name__: p for p in (hostile, stored, direct, sized, folded)}


def call(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          timeout=300)


def typed(wanted):
    return wanted if isinstance(wanted, tuple) else (FLOAT, wanted)


def model_of(case):
    """One node, or a chain of those whose attributes stand under their name."""
    ops = case.op if isinstance(case.op, list) else [case.op]
    names = ["" if v is None else f"x{k}" for k, v in enumerate(case.inputs)]
    inputs, known, nodes, last = [], [], [], names
    for k, v in enumerate(case.inputs):
        if v is None:
            continue
        dtype, a = v
        if k in case.known:
            known.append(encode.tensor(f"x{k}", dtype, a.shape, a.data))
        else:
            inputs.append(encode.value(f"x{k}", dtype, a.shape))
    outs = [f"y{k}" for k in range(len(case.wanted))]
    for k, op in enumerate(ops):
        own = case.attributes.get(op)
        if own is None:
            own = case.attributes if k + 1 == len(ops) else {}
            own = {n: v for n, v in own.items() if not isinstance(v, dict)}
        to = outs if k + 1 == len(ops) else ["between"]
        read = last[:getattr(case, "reads", None)]
        nodes.append(encode.node(op, read, to, f"{op}.{k}",
                                 getattr(case, "domain", ""), **own))
        last = ["between"]
    says = getattr(case, "declares", True)
    outputs = [encode.value(n, typed(w)[0], typed(w)[1].shape if says else None)
               for n, w in zip(outs, case.wanted)]
    return encode.model(nodes, inputs, outputs, known, case.opset,
                        functions=getattr(case, "functions", ()))


def wrong_element(have, wanted):
    dtype, a = typed(wanted)
    code, shape, elements = have
    if code != FILES[dtype] or tuple(shape) != a.shape:
        return f"it is {code} {shape}, not {FILES[dtype]} {a.shape}"
    top = max([abs(v) for v in a.data if math.isfinite(v)], default=0)
    near = 2e-5 * max(top, 1) if dtype in REALS else 0
    for k, (p, q) in enumerate(zip(elements, a.data)):
        alike = p == q or (math.isnan(p) and math.isnan(q))
        if not alike and not (math.isfinite(q) and abs(p - q) <= near):
            return f"element {k} is {p}, not {q}"
    return None


def fault_of(glen, case, folder, ways):
    with open(os.path.join(folder, "m.onnx"), "wb") as f:
        f.write(model_of(case))
    done = call([glen, "import", "m.onnx"], folder)
    if done.returncode:
        return f"not imported: {done.stderr}"
    command = [glen, "run", "m.glen", "--output", "y.npy"]
    for k, v in enumerate(case.inputs):
        if v is not None and k not in case.known:
            npy.save(os.path.join(folder, f"x{k}.npy"), FILES[v[0]],
                     v[1].shape, v[1].data)
            command += ["--input", f"x{k}=x{k}.npy"]
    for way in ways:
        done = call(command + way, folder)
        if done.returncode:
            return f"not run: {done.stderr}"
        for k, w in enumerate(case.wanted):
            name = "y.npy" if len(case.wanted) == 1 else f"y.y{k}.npy"
            fault = wrong_element(npy.load(os.path.join(folder, name)), w)
            if fault:
                return f"output {k}: {fault}"
    return None


def label(case):
    shapes = ", ".join("-" if v is None else "x".join(map(str, v[1].shape)) +
                       ("*" if k in case.known else "")
                       for k, v in enumerate(case.inputs))
    return f"{case.op} ({shapes}) {case.attributes or ''}"


def check_all(glen, only):
    passed = failed = 0
    for number, case in enumerate(CASES):
        if only not in str(case.op):
            continue
        ways = [["--interpret"]] + ([[]] if number % 10 == 0 else [])
        with tempfile.TemporaryDirectory() as folder:
            fault = fault_of(glen, case, folder, ways)
        passed += not fault
        failed += bool(fault)
        if fault:
            print(f"FAILED {label(case)}: {fault}")
    return passed, failed


def without_case(glen):
    listed = call([glen, "import", "--list-operators"], ".").stdout
    tried = set()
    for case in CASES:
        tried.update(case.op if isinstance(case.op, list) else [case.op])
    names = [line.split()[0] for line in listed.splitlines()]
    for name in names:
        if name not in tried:
            print(f"FAILED {name} has no case")
    return sum(n in tried for n in names), sum(n not in tried for n in names)


def write_models(path):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({name: [base64.b64encode(data).decode() for _, data in own]
                   for name, own in texts.models_of(CASES, label, model_of)},
                  f)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("glen")
    parser.add_argument("--only", default="")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--show", default="")
    parser.add_argument("--models", metavar="FILE")
    parser.add_argument("--part", choices=PARTS)
    o = parser.parse_args()
    glen = os.path.abspath(o.glen)
    if not call([glen, "import", "--list-operators"], ".").stdout:
        print("skipped onnx: this glen was built without protobuf-c")
        print("0 passed, 0 failed")
        return
    if o.models:
        write_models(o.models)
        return
    if o.show:
        list(texts.lines_of(glen, texts.models_of(
            CASES, label, model_of, o.show), True, []))
        return
    parts = [PARTS[o.part].check(glen)] if o.part else []
    if not o.only and not o.part:
        parts += [texts.check(glen, texts.models_of(CASES, label, model_of),
                              o.bless)]
    if not o.words and not o.bless and not o.part:
        parts += [check_all(glen, o.only)]
    if not o.only and not o.bless and not o.part:
        parts += [hostile.check(glen)]
    if not o.only and not o.words and not o.bless and not o.part:
        parts += [without_case(glen), stored.check(glen), direct.check(glen),
                  sized.check(glen), folded.check(glen)]
    passed, failed = map(sum, zip(*parts))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
