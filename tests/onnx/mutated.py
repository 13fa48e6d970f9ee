#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutations of the small models of every operator, held against ONNX Runtime.

usage: mutated.py GLEN [--seed N] [--seconds N] [--count N] [--only OP]
                  [--keep FOLDER] [--first N]

Draws a model of cases.py, changes one to three things of it (an attribute, a
shape, an element type, known elements, an input, the version of the operators),
imports it, runs it by the interpreter, and compares with what ONNX Runtime
computes.  Run it by hand, after a change of the importer; it needs the packages
onnx, numpy and onnxruntime.  What it draws depends on the seed and the number
of the model alone: `--seed N --first K --count 1` draws the K-th one again.

Each finding is a line, and its model is left in FOLDER:
  crash       an exit code that stands for no diagnostic
  hang        no answer within the limit
  no form     a refusal that does not name file or node, or gives no advice
  run fails   the program is imported but not run
  no output   a result was not written
  difference  another shape, element type or element than ONNX Runtime has
A model that ONNX Runtime does not take says nothing about elements.  Where the
standard leaves a result open, as for a label below 0 or a negative number that
becomes unsigned, a difference is none of the importer's faults: judge each.
The last line is `N passed, N failed`; a finding makes the exit code 1.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import itertools
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time

import run
import texts
from cases import CASES
from models import plain

try:
    import numpy
    import onnx
    import onnxruntime
    from onnx import helper, numpy_helper
except ImportError as missing:
    print(f"skipped mutated: {missing}; it needs onnx, numpy and onnxruntime")
    print("0 passed, 0 failed")
    sys.exit(0)

LIMIT = 60  # seconds of a command; a sanitized build needs more than others
TYPES = [onnx.TensorProto.DataType.Value(n) for n in
         "FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 BOOL FLOAT16 DOUBLE UINT32 "
         "UINT64".split()]
OPSETS = [11, 13, 14, 15, 16, 18, 19, 20, 21]
WORDS = [b"", b"SAME_UPPER", b"SAME_LOWER", b"VALID", b"reflect", b"edge",
         b"wrap", b"constant", b"linear", b"nearest", b"cubic", b"reverse",
         b"bidirectional", b"forward", b"mul", b"add", b"max", b"min", b"none",
         b"sum", b"mean", b"DCR", b"CRD", b"tanh", b"asymmetric",
         b"align_corners", b"half_pixel", b"floor", b"ceil"]
# Values of attributes that nodes may get.
ATTRIBUTES = {
    "allowzero": [1], "alpha": [0.5, -0.5], "approximate": ["tanh"],
    "auto_pad": ["SAME_UPPER", "SAME_LOWER", "VALID"],
    "axes": [[0], [1], [-1], [0, 1]], "axis": [0, 1, -1, -2, 2],
    "batch_dims": [1], "beta": [0.25], "blocksize": [2], "ceil_mode": [1],
    "clip": [0.5], "count_include_pad": [1],
    "coordinate_transformation_mode": ["asymmetric", "align_corners",
                                       "pytorch_half_pixel"],
    "detect_negative": [0], "dilations": [[2, 2]],
    "direction": ["reverse", "bidirectional"], "end": [2, -1],
    "epsilon": [0.1], "exclusive": [1], "fmod": [1], "group": [2],
    "ignore_index": [1], "k": [1, -1], "keepdims": [0, 1], "largest": [0],
    "layout": [1], "linear_before_reset": [1],
    "mode": ["reflect", "linear", "cubic"], "noop_with_empty_axes": [1],
    "num_outputs": [2, 3], "output_padding": [[1, 1]],
    "pads": [[1, 1, 1, 1], [0, 1, 0, 1]], "periodic": [0],
    "reduction": ["add", "mul", "max", "min", "sum", "none"], "reverse": [1],
    "select_last_index": [1], "sorted": [0], "start": [1, -1],
    "strides": [[2, 2], [1, 2]], "to": [1, 6, 7, 9, 11], "transA": [1],
    "transB": [1], "upper": [0]}


class Nothing(Exception):
    """A mutation that this model has no place for."""


def one_of(draw, things):
    things = list(things)
    if not things:
        raise Nothing
    return draw.choice(things)


def wrong_int(draw, a):
    a.i = draw.choice([a.i + 1, a.i - 1, -a.i, 0, 1, 2, -1, 7, -2 ** 31,
                       2 ** 62])


def wrong_float(draw, a):
    a.f = draw.choice([0.0, -a.f, 2 * a.f, 1e30, float("nan"), 1.0, -1.0])


def wrong_word(draw, a):
    a.s = draw.choice(WORDS)


def wrong_list(draw, a):
    values = list(a.ints)
    k = one_of(draw, range(len(values)))
    values = draw.choice([
        [*values[:k], values[k] + draw.choice([1, -1, 2, -3]),
         *values[k + 1:]],
        [*values[:k], draw.choice([0, 1, -1, 2, 3, 5, 2 ** 31, 2 ** 40]),
         *values[k + 1:]],
        [*values, draw.choice([0, 1, 2])],
        values[:-1]])
    del a.ints[:]
    a.ints.extend(values)


OTHER_VALUE = {onnx.AttributeProto.INT: wrong_int,
               onnx.AttributeProto.FLOAT: wrong_float,
               onnx.AttributeProto.STRING: wrong_word,
               onnx.AttributeProto.INTS: wrong_list}


def attribute(draw, model):
    """Another value of an attribute, or none where it has no other kind."""
    node = model.graph.node[-1]
    a = one_of(draw, node.attribute)
    if a.type in OTHER_VALUE:
        OTHER_VALUE[a.type](draw, a)
    else:
        node.attribute.remove(a)


def new_attribute(draw, model):
    """An attribute that the operator knows, in place of what it had."""
    node = model.graph.node[-1]
    known = onnx.defs.get_schema(node.op_type).attributes
    name = one_of(draw, [n for n in ATTRIBUTES if n in known])
    rest = [a for a in node.attribute if a.name != name]
    value = draw.choice(ATTRIBUTES[name])
    del node.attribute[:]
    node.attribute.extend([*rest, helper.make_attribute(name, value)])


def sizes_of(value):
    return [d.dim_value for d in value.type.tensor_type.shape.dim]


def shape(draw, model):
    value = one_of(draw, model.graph.input)
    sizes = sizes_of(value)
    k = draw.randrange(len(sizes)) if sizes else 0
    sizes = draw.choice([
        [*sizes[:k], draw.choice([1, 1, 2, 3, 4, 5, 7, 8]), *sizes[k + 1:]],
        [draw.choice([1, 2]), *sizes], sizes[:-1]])
    kind = value.type.tensor_type.elem_type
    value.CopyFrom(helper.make_tensor_value_info(value.name, kind, sizes))


def one_type(draw, model):
    one_of(draw, model.graph.input).type.tensor_type.elem_type = \
        draw.choice(TYPES)


def all_types(draw, model):
    """Another type of all inputs and weights that have the first input's."""
    new = draw.choice(TYPES)
    old = one_of(draw, model.graph.input[:1]).type.tensor_type.elem_type
    for value in model.graph.input:
        if value.type.tensor_type.elem_type == old:
            value.type.tensor_type.elem_type = new
    for tensor in model.graph.initializer:
        if tensor.data_type == old:
            elements = numpy_helper.to_array(tensor)
            put(tensor, elements.astype(helper.tensor_dtype_to_np_dtype(new)))


def put(tensor, elements):
    tensor.CopyFrom(numpy_helper.from_array(elements, tensor.name))


def weight_element(draw, model):
    tensor = one_of(draw, model.graph.initializer)
    elements = numpy_helper.to_array(tensor).copy()
    k = one_of(draw, range(elements.size))
    elements.flat[k] = draw.choice([0, 1, 2, 3, 5, -1, -2, -3, 100])
    put(tensor, elements)


def weight_shape(draw, model):
    tensor = one_of(draw, model.graph.initializer)
    elements = numpy_helper.to_array(tensor)
    flat = elements.reshape(-1)
    put(tensor, draw.choice([flat[:max(flat.size - 1, 0)], elements[None],
                             flat[0] if flat.size else flat]))


def left_out(draw, model):
    names = model.graph.node[-1].input
    names[one_of(draw, range(len(names)))] = ""


def without_last(draw, model):
    names = model.graph.node[-1].input
    del names[one_of(draw, range(len(names))[-1:])]


def made_known(draw, model):
    value = one_of(draw, model.graph.input)
    model.graph.initializer.append(
        numpy_helper.from_array(elements_for(draw, value), value.name))
    model.graph.input.remove(value)


def opset(draw, model):
    model.opset_import[0].version = draw.choice(OPSETS)


# How often each is drawn, compared with the others.
MUTATIONS = {attribute: 4, new_attribute: 2, shape: 2, all_types: 2,
             one_type: 1, weight_element: 2, weight_shape: 2, left_out: 1,
             without_last: 1, made_known: 2, opset: 2}


def elements_for(draw, value):
    """Elements of an input: few, so that they meet, and exact in each type."""
    sizes = sizes_of(value)
    dtype = numpy.dtype(helper.tensor_dtype_to_np_dtype(
        value.type.tensor_type.elem_type))
    source = numpy.random.default_rng(draw.randrange(1 << 30))
    if dtype.kind == "b":
        return numpy.asarray(source.integers(0, 2, sizes)).astype(dtype)
    if dtype.kind in "iu":
        low = 0 if dtype.kind == "u" else -3
        top = draw.choice([4, 4, 120])
        return numpy.asarray(source.integers(low, top, sizes)).astype(dtype)
    return numpy.asarray(source.integers(-16, 17, sizes) / 8).astype(dtype)


def with_types_inferred(model):
    """Outputs without shapes, of the types that ONNX infers."""
    blank = onnx.ModelProto()
    blank.CopyFrom(model)
    del blank.graph.output[:]
    try:
        inferred = onnx.shape_inference.infer_shapes(blank).graph.value_info
    except onnx.shape_inference.InferenceError:
        inferred = []
    kinds = {v.name: v.type.tensor_type.elem_type for v in inferred}
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
        if value.name in kinds:
            value.type.tensor_type.elem_type = kinds[value.name]
    return model


def mutated(draw, cases):
    """A model, and what was changed; some change fits, since opset always
    does."""
    case = draw.choice(cases)
    model = onnx.load_model_from_string(run.model_of(case))
    wanted, names = draw.choice([1, 1, 2, 3]), []
    while len(names) < wanted:
        change = draw.choices(list(MUTATIONS), MUTATIONS.values())[0]
        with contextlib.suppress(Nothing, OverflowError, ValueError,
                                 onnx.defs.SchemaError):
            change(draw, model)
            names.append(change.__name__)
    return with_types_inferred(model), f"{case.op}: {', '.join(names)}"


def reference(data, given):
    """What ONNX Runtime computes, or in a text why it does not."""
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(
            data, options, providers=["CPUExecutionProvider"])
        return session.run(None, given)
    except Exception as error:  # its classes have no other base
        return str(error)


class Reference:
    """ONNX Runtime in a process of its own, since models can end it.  This
    process makes no session, thus has none of its threads when it forks."""

    def __init__(self):
        self.pool = None

    def outputs(self, data, given):
        self.pool = self.pool or concurrent.futures.ProcessPoolExecutor(
            1, multiprocessing.get_context("fork"))
        try:
            return self.pool.submit(reference, data, given).result()
        except concurrent.futures.process.BrokenProcessPool:
            self.pool = None
            return "it ended"


def left_open(have, want):
    """Where an integer has no room for the result: a program has an end of its
    range, which of an int64 is 2^53, and ONNX Runtime what the processor makes
    of it."""
    if have.dtype.kind not in "iu":
        return numpy.zeros(have.shape, bool)
    ends = numpy.iinfo(have.dtype)
    most = 2 ** 53 if have.dtype == numpy.int64 else ends.max
    least = -most if have.dtype == numpy.int64 else ends.min
    signed = have.dtype.kind == "i"
    return (have == most) | (signed & ((have == least) | (want == ends.min)))


def difference(have, want):
    """Where two arrays differ, or None."""
    if have.shape != want.shape or have.dtype != want.dtype:
        return (f"it is {have.dtype}{have.shape}, not "
                f"{want.dtype}{want.shape}")
    if have.dtype.kind != "f":
        bad = (have != want) & ~left_open(have, want)
    else:
        top = max([1.0, *abs(want[numpy.isfinite(want)].astype(float))])
        near = (3e-2 if have.dtype == numpy.float16 else 2e-5) * top
        with numpy.errstate(invalid="ignore", over="ignore"):
            off = abs(have.astype(float) - want.astype(float))
        nans = numpy.isnan(have) & numpy.isnan(want)
        bad = ~((off <= near) | (have == want) | nans)
    if not bad.any():
        return None
    k = tuple(map(int, numpy.argwhere(bad)[0]))
    return (f"element {list(k)} is {have[k]}, not {want[k]}; {bad.sum()} of "
            f"{bad.size} differ")


def call(command, folder):
    """(exit code, or None where it takes too long; what it says)."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True,
                              text=True, errors="replace", timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stderr[-2000:]


def bad_end(code, said):
    """A verdict where the command was not ended by itself, or None."""
    if code is None:
        return "hang", f"{LIMIT} s"
    if code not in (0, 1):
        return "crash", f"exit code {code}: {said}"
    return None


def imported(glen, folder):
    """(verdict, why), or None where there is a program to run."""
    code, said = call([glen, "import", "m.onnx"], folder)
    if code == 1:
        unsaid = texts.incomplete(said)
        return ("no form", unsaid) if unsaid else ("refused", "")
    return bad_end(code, said)


def interpreted(glen, folder, given):
    command = [glen, "run", "m.glen", "--interpret", "--quiet", "--output",
               "y.npy"]
    for name, elements in given.items():
        numpy.save(os.path.join(folder, f"{name}.npy"), elements)
        command += ["--input", f"{name}={name}.npy"]
    return call(command, folder)


def compared(folder, names, wanted):
    for name, want in zip(names, wanted):
        path = os.path.join(folder, "y.npy" if len(names) == 1 else
                            f"y.{plain(name)}.npy")
        if not os.path.exists(path):
            return "no output", name
        fault = difference(numpy.load(path), numpy.asarray(want))
        if fault:
            return "difference", f"{name}: {fault}"
    return "same", ""


def verdict_of(glen, model, given, runtime):
    data = model.SerializeToString()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "m.onnx"), "wb") as f:
            f.write(data)
        early = imported(glen, folder)
        if early:
            return early
        code, said = interpreted(glen, folder, given)
        if bad_end(code, said):
            return bad_end(code, said)
        wanted = runtime.outputs(data, given)
        if isinstance(wanted, str):
            return "no reference", wanted
        if code:
            return "run fails", said
        return compared(folder, [v.name for v in model.graph.output], wanted)


FINE = {"same", "refused", "no reference"}


def tried(options, number, runtime):
    """The verdict of one model, which is kept where it is a finding."""
    draw = random.Random(f"{options.seed} {number}")
    model, what = mutated(draw, options.cases)
    known = {t.name for t in model.graph.initializer}
    given = {v.name: elements_for(draw, v) for v in model.graph.input
             if v.name not in known}
    verdict, why = verdict_of(options.glen, model, given, runtime)
    if verdict not in FINE:
        os.makedirs(options.keep, exist_ok=True)
        stem = os.path.join(options.keep, f"{options.seed}-{number}")
        onnx.save(model, f"{stem}.onnx")
        numpy.savez(f"{stem}.npz", **given)
        print(f"FAILED {stem}.onnx: {verdict}: {what}: {why}", flush=True)
    return verdict


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("glen", type=os.path.abspath)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", metavar="FOLDER", default="mutated")
    options = parser.parse_args()
    options.cases = [c for c in CASES if options.only in str(c.op)]
    if not options.cases:
        parser.error(f"no operator has {options.only} in its name")
    return options


def main():
    options = arguments()
    until = time.monotonic() + options.seconds
    runtime, tally = Reference(), collections.Counter()
    for number in itertools.islice(itertools.count(options.first),
                                   options.count):
        if time.monotonic() > until:
            break
        tally[tried(options, number, runtime)] += 1
    failed = sum(n for verdict, n in tally.items() if verdict not in FINE)
    print(", ".join(f"{n} {verdict}" for verdict, n in tally.most_common()))
    print(f"{tally['same'] + tally['refused']} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
