# SPDX-License-Identifier: MIT
"""Models that are to be refused: exit code 1, what is wrong said, nothing
written, nothing crashed."""
import os
import subprocess
import tempfile

import encode
import texts
from encode import FLOAT, INT8, UINT64, INT64, node, tensor, value

X = value("x", FLOAT, (2, 3))
Y = value("y", FLOAT, (2, 3))


def relu(x="x", y="y"):
    return node("Relu", [x], [y], "relu")


def with_weight(**more):
    w = tensor("w", FLOAT, (3,), [1.0, 2.0, 3.0], **more)
    return encode.model([node("Add", ["x", "w"], ["y"], "sum")], [X], [Y], [w])


def outside(*pairs):
    return with_weight(external=pairs)


def wrong_size(dims, count):
    w = tensor("w", FLOAT, dims, [1.0] * count)
    return encode.model([node("Add", ["x", "w"], ["y"], "sum")], [X], [Y], [w])


def op(name, inputs=("x",), known=(), **attributes):
    return encode.model([node(name, list(inputs), ["y"], "here",
                              **attributes)], [X], [Y], known)


def list_of(name, *v):
    return tensor(name, INT64, (len(v),), v)


GOOD = with_weight()
# What is said, and the bytes.
MODELS = [
    ("not an ONNX model", b""),
    ("not an ONNX model", b"not a model at all"),
    ("not an ONNX model", b"\x3a\xff\xff\xff\xff\x0f"),
    *[("", GOOD[:n]) for n in range(1, len(GOOD) - 10, 7)],
    ("version 0", encode.model([relu()], [X], [Y], opset=0)),
    ("version 22", encode.model([relu()], [X], [Y], opset=22)),
    ("has a cycle", encode.model([relu("b", "a"), relu("a", "b"),
                                  relu("a", "y")], [X], [Y])),
    ("has a cycle", encode.model([relu("y", "y")], [X], [Y])),
    ("has a cycle", encode.model([relu("gone", "y")], [X], [Y])),
    ("another node or an input has the name", encode.model(
        [relu("x", "y"), relu("x", "y"), relu("y", "z")], [X],
        [value("z", FLOAT, (2, 3)), Y])),
    ("no node gives the output", encode.model([relu()], [X],
                                              [value("q", FLOAT, (2, 3))])),
    ("no output", encode.model([relu()], [X], [])),
    ("--dim batch=1", encode.model([relu()], [value("x", FLOAT, ("batch", 3))],
                                   [Y])),
    ("size of dimension 0", encode.model([relu()],
                                         [value("x", FLOAT, (-1, 3))], [Y])),
    ("elements of type uint64", encode.model(
        [relu()], [value("x", UINT64, (2, 3))], [Y])),
    ("too large", encode.model([relu()], [value("x", FLOAT, (1 << 40, 1 << 40))],
                               [Y])),
    ("No such file", outside(("location", "gone.bin"))),
    ("is absolute", outside(("location", "/etc/passwd"))),
    ("leaves the folder", outside(("location", "../secret"))),
    ("leaves the folder", outside(("location", "a/../../secret"))),
    ("not said where", outside(("offset", "0"))),
    ("too short", outside(("location", "m.onnx"), ("offset", "1000000"))),
    ("too short", outside(("location", "m.onnx"),
                          ("offset", "9223372036854775807"))),
    ("is not a number", outside(("location", "m.onnx"), ("offset", "-4"))),
    ("is not a number", outside(("location", "m.onnx"), ("length", "x"))),
    ("not that of its shape", outside(("location", "m.onnx"),
                                      ("length", "8"))),
    ("a link leads out", outside(("location", "link"))),
    ("more or fewer bytes", wrong_size((3,), 2)),
    ("more or fewer bytes", wrong_size((1 << 20,), 2)),
    ("too large", wrong_size((1 << 62, 1 << 62), 2)),
    ("size below 0", wrong_size((-3,), 2)),
    ("do not fit", encode.model([node("Add", ["x", "w"], ["y"], "sum")], [X],
                                [Y], [tensor("w", FLOAT, (5,), [0.5] * 5)])),
    ("this operator is not supported", op("Banana")),
    ("operators of the domain com.x", op("Relu", domain="com.x")),
    ("the attribute colour", op("Relu", colour=1)),
    ("the attribute without a name", op("Relu", **{"": 1})),
    ("too few", op("Add")),
    ("input 1 is missing", op("Gather", ["x", ""])),
    ("too many", op("Relu", ["x", "x"])),
    ("does not hold 6 elements", op("Reshape", ["x", "s"],
                                    [list_of("s", 4, 2)])),
    ("not valid", op("Reshape", ["x", "s"], [list_of("s", -1, -1)])),
    ("at most 24 integers", op("Reshape", ["x", "s"],
                               [list_of("s", *[1] * 30)])),
    ("no axis", op("Softmax", axis=7)),
    ("not an order", op("Transpose", perm=[0, 0])),
    ("perm has", op("Transpose", perm=[0, 1, 2])),
    ("steps differ", op("Slice", ["x", "s", "e"], [list_of("s", 0),
                                                   list_of("e", 1, 2)])),
    ("no elements", op("Slice", ["x", "s", "e"], [list_of("s", 1),
                                                  list_of("e", 1)])),
    ("not a batch of images", op("Conv", ["x", "x"])),
    ("out of range", op("Gather", ["x", "s"], [list_of("s", 2)])),
    ("not known", op("Pad", ["x", "x"])),
    ("two pads for each", op("Pad", ["x", "s"], [list_of("s", 1)])),
    ("known while importing", op("Range", ["x", "x", "x"])),
    ("differ in rank", op("GatherElements", ["x", "s"], [list_of("s", 0)])),
    ("node here (Range): the integer -9007199254740993 of here", encode.model(
        [node("Range", ["a", "b", "c"], ["y"], "here")], [],
        [value("y", INT64, (2,))],
        [tensor(n, INT64, (), [v]) for n, v in
         (("a", -(1 << 53) - 1), ("b", -(1 << 53) + 1), ("c", 1))])),
    ("node add (Add): the integer 9007199254740993 of w", encode.model(
        [node("Add", ["v", "w"], ["y"], "add")], [value("v", INT64, (20,))],
        [value("y", INT64, (20,))],
        [tensor("w", INT64, (20,), [(1 << 53) + 1, *range(19)])])),
    ("9007199254740993 of w", encode.model(
        [], [], [value("w", INT64, (20,))],
        [tensor("w", INT64, (20,), [(1 << 53) + 1, *range(19)])])),
    ("array without elements, w,", encode.model(
        [], [], [value("w", FLOAT, (0,))], [tensor("w", FLOAT, (0,), [])])),
    ("keepdims is neither 0 nor 1", op("ReduceMax", keepdims=2)),
    ("reduction has an unknown value", op("ScatterND", ["x", "s", "x"],
                                          [list_of("s", 0)], reduction="sum")),
    ("one of constant edge", op("Pad", ["x", "s"], [list_of("s", 1, 1, 1, 1)],
                                mode="mirror")),
    ("integers are not interpolated", encode.model(
        [node("Resize", ["b", "", "", "s"], ["y"], "here", mode="linear")],
        [value("b", INT8, (2, 3))], [value("y", INT8, (4, 3))],
        [list_of("s", 4, 3)], opset=19)),
    ("is not agreed on", op("ReduceL1", noop_with_empty_axes=1)),
    ("differ in shape", op("ScatterElements", ["x", "s", "x"],
                           [list_of("s", 0)])),
]


def check_one(glen, said, data):
    """What is wrong with how it is refused, or None."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "m.onnx"), "wb") as f:
            f.write(data)
        os.symlink("/etc/hostname", os.path.join(folder, "link"))
        done = subprocess.run([glen, "import", "m.onnx"], cwd=folder,
                              capture_output=True, text=True, timeout=60,
                              errors="replace")
        left = sorted(os.listdir(folder))
    if done.returncode != 1:
        return f"exit code {done.returncode}: {done.stderr}"
    if left != ["link", "m.onnx"]:
        return f"it wrote {left}"
    if said not in done.stderr or "error: " not in done.stderr:
        return f"not said: {done.stderr}"
    return texts.incomplete(done.stderr)


def check(glen):
    passed = failed = 0
    for said, data in MODELS:
        fault = check_one(glen, said, data)
        passed += not fault
        failed += bool(fault)
        if fault:
            print(f"FAILED, to say {said!r}: {fault}")
    return passed, failed
