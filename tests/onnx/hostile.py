# SPDX-License-Identifier: MIT
"""Models that are to be refused: exit code 1, what is wrong said, nothing
written, nothing crashed."""
import math
import os
import subprocess
import tempfile

import encode
import texts
from encode import (BOOL, DOUBLE, FLOAT, FLOAT16, INT32, INT64, INT8, UINT64,
                    UINT8, node, tensor, value)

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
    """Of x, of known values, and of u, a row of x."""
    more = [value("u", FLOAT, (1, 3))] if "u" in inputs else []
    return encode.model([node(name, list(inputs), ["y"], "here",
                              **attributes)], [X, *more], [Y], known)


def typed(name, *types, opset=17, **attributes):
    """A node with an input of each of these element types, none of it known."""
    names = [f"i{k}" for k in range(len(types))]
    return encode.model(
        [node(name, names, ["y"], "here", **attributes)],
        [value(n, t, (1, 2, 3)) for n, t in zip(names, types)],
        [value("y", types[0], (1, 2, 3))], opset=opset)


def list_of(name, *v):
    return tensor(name, INT64, (len(v),), v)


def clip(dtype, low, high):
    """Of a value that is not known, with bounds that are, or none."""
    given = [(n, v) for n, v in (("low", low), ("high", high)) if v]
    names = ["v", *("" if v is None else n for n, v in (("low", low),
                                                        ("high", high)))]
    return encode.model([node("Clip", names, ["y"], "here")],
                        [value("v", dtype, (2,))], [value("y", dtype, (2,))],
                        [tensor(n, t, (), [v]) for n, (t, v) in given])


def pow_of(base, power):
    return encode.model([node("Pow", ["b", "p"], ["y"], "here")],
                        [value("b", base, (2,)), value("p", power, (2,))],
                        [value("y", base, (2,))])


def shifted(zero, *more):
    """A product of bytes, with a zero point of the left one."""
    return encode.model(
        [node("MatMulInteger", ["a", "b", "z", *more], ["y"], "here")],
        [value("a", INT8, (2, 2)), value("b", INT8, (2, 2))],
        [value("y", INT32, (2, 2))], [zero])


def of_image(*shape):
    zero = tensor("z", INT8, shape, [0] * math.prod(shape))
    return encode.model(
        [node("ConvInteger", ["a", "b", "z"], ["y"], "here")],
        [value("a", INT8, (1, 1, 2, 2)), value("b", INT8, (1, 1, 2, 2))],
        [value("y", INT32, (1, 1, 1, 1))], [zero])


def bare(*fields):
    """ReduceMax with an attribute of these fields."""
    data = b"".join(encode.block(1, i) for i in ("x",))
    data += encode.block(2, "y") + encode.block(3, "here")
    data += encode.block(4, "ReduceMax")
    data += b"".join(encode.block(5, f) for f in fields)
    return encode.model([data], [X], [Y])


def scattered(*at):
    """Rows of an array of two rows, all of it known, at these indices."""
    n = len(at)
    return encode.model(
        [node("ScatterND", ["a", "i", "u"], ["y"], "here")], [],
        [value("y", INT64, (2, 3))],
        [tensor("a", INT64, (2, 3), range(6)), tensor("i", INT64, (n, 1), at),
         tensor("u", INT64, (n, 3), range(3 * n))])


def defaulted(*inputs):
    """A weight that is an input, too."""
    return encode.model([node("Add", ["x", "w"], ["y"], "sum")], [X, *inputs],
                        [Y], [tensor("w", FLOAT, (3,), [1.0, 2.0, 3.0])])


def stored_as(*fields, dtype=FLOAT):
    """A weight of three elements, stored by these fields."""
    w = encode.number(1, 3) + encode.number(2, dtype) + encode.block(8, "w")
    return encode.model([node("Where", ["c", "w", "w"], ["y"], "here")],
                        [value("c", BOOL, (3,))], [value("y", dtype, (3,))],
                        [w + b"".join(fields)])


def of_lengths(*lengths):
    """A recurrent layer of three steps and one sequence."""
    return encode.model(
        [node("RNN", ["a", "w", "r", "", "n"], ["y"], "here", hidden_size=1)],
        [value("a", FLOAT, (3, 1, 1))], [value("y", FLOAT, (3, 1, 1, 1))],
        [tensor("w", FLOAT, (1, 1, 1), [0.5]),
         tensor("r", FLOAT, (1, 1, 1), [0.5]),
         tensor("n", INT32, (len(lengths),), lengths)])


def turned(nodes, outputs, inputs=("n", "on", "s"), known=True, more=(),
           op="Loop", **attributes):
    """A Loop of three turns, or a Scan, with this graph."""
    types = {"n": (INT64, ()), "on": (BOOL, ()), "still": (BOOL, ())}
    held = encode.graph(
        nodes, [value(i, *types.get(i, (FLOAT, (2, 3)))) for i in inputs],
        [value(o, *types.get(o, (FLOAT, None))) for o in outputs])
    turns = tensor("t", INT64, (), [3])
    given = ["t", "", "x", *more] if op == "Loop" else ["x", *more]
    return encode.model(
        [node(op, given, ["y"], "flow", body=held, **attributes)],
        [X] if known else [X, value("t", INT64, ())], [value("y", FLOAT, None)],
        [turns] if known else [])


def branched(then, condition=1, known=True):
    held = then if isinstance(then, encode.Graph) else encode.graph(
        then, [], [value("r", FLOAT, (2, 3))])
    other = encode.graph([], [], [value("x", FLOAT, (2, 3))])
    return encode.model(
        [node("If", ["c"], ["y"], "flow", then_branch=held, else_branch=other)],
        [X] if known else [X, value("c", BOOL, ())], [Y],
        [tensor("c", BOOL, (), [condition])] if known else [])


def nested(depth):
    """Branches in branches."""
    leaf = encode.graph([relu("x", "r")], [], [value("r", FLOAT, (2, 3))])
    held = leaf
    for k in range(depth):
        held = encode.graph(
            [node("If", ["c"], [f"q{k + 1}"], f"if{k}", then_branch=held,
                  else_branch=leaf)], [], [value(f"q{k + 1}", FLOAT, (2, 3))])
    return branched(held)


NEG = node("Neg", ["s"], ["next"], "neg")
FLOWS = [
    ("node flow (If; then_branch = ..., else_branch = ...): input 0 is not "
     "known", branched([relu("x", "r")], known=False)),
    ("then_branch is not a graph", encode.model(
        [node("If", ["c"], ["y"], "flow", then_branch=1)], [X], [Y],
        [tensor("c", BOOL, (), [1])])),
    ("else_branch is missing", encode.model(
        [node("If", ["c"], ["y"], "flow")], [X], [Y],
        [tensor("c", BOOL, (), [0])])),
    ("then_branch is missing, is no graph, or is nested", branched(
        encode.Graph(b"\x0a\xff\xff\xff\x0f"))),
    ("node here (NonZero): this operator", branched(
        [node("NonZero", ["x"], ["r"], "here")])),
    ("nothing in its graph gives the output r", branched([])),
    ("has 0 outputs, not 1", branched(encode.graph([], [], []))),
    ("its branch has inputs", branched(encode.graph([], [X], [X]))),
    ("another node or an input has the name x", branched(
        [relu("x", "x"), relu("x", "r")])),
    ("has a cycle", branched([relu("r", "r")])),
    ("(6), but it has (2, 3)", branched(encode.graph(
        [relu("x", "r")], [], [value("r", FLOAT, (6,))]))),
    ("more than 16 deep", nested(20)),
    ("input 0 is not known while importing", turned(
        [NEG], ["on", "next"], known=False)),
    ("whether it goes on is not known", turned(
        [NEG, node("ReduceSum", ["s"], ["sum"], "sum", keepdims=0),
         node("Cast", ["sum"], ["still"], "cast", to=9)], ["still", "next"])),
    ("its graph has 2 inputs, not 3", turned([NEG], ["on", "next"],
                                             ("n", "on"))),
    ("which is too few", turned([NEG], ["on"])),
    ("another value has the name x", turned([NEG], ["on", "next"],
                                            ("n", "on", "x"))),
    ("node neg (Neg; a = 1)", turned(
        [node("Neg", ["s"], ["next"], "neg", a=1)], ["on", "next"])),
    ("more than 65536 nodes", encode.model(
        [node("Loop", ["", "c", "x"], ["y"], "flow", body=encode.graph(
            [NEG], [value("n", INT64, ()), value("on", BOOL, ()),
                    value("s", FLOAT, (2, 3))],
            [value("on", BOOL, ()), value("next", FLOAT, (2, 3))]))],
        [X], [Y], [tensor("c", BOOL, (), [1])])),
    ("num_scan_inputs is not from 1", turned(
        [NEG], ["next"], ("s",), op="Scan", num_scan_inputs=2)),
    ("num_scan_inputs is not from 1", turned(
        [NEG], ["next"], ("s",), op="Scan", num_scan_inputs=-1)),
    ("different numbers of items", turned(
        [NEG], ["next"], ("s", "r"), op="Scan", num_scan_inputs=2,
        more=["x"], scan_input_axes=[0, 1])),
    ("there is no axis 2 of 2", turned(
        [NEG], ["next"], ("s",), op="Scan", num_scan_inputs=1,
        scan_input_axes=[2])),
    ("there is no axis 9", turned(
        [NEG], ["next"], ("s",), op="Scan", num_scan_inputs=1,
        scan_output_axes=[9])),
    ("from version 9", encode.model(
        [node("Scan", ["x"], ["y"], "flow", num_scan_inputs=1)], [X], [Y],
        opset=8)),
]


def calls(*functions, inputs=("x",), outputs=("y",), op="F", domain="own",
          **attributes):
    """A node that calls one of these functions."""
    return encode.model(
        [node(op, list(inputs), list(outputs), "call", domain, **attributes)],
        [X], [value(outputs[0], FLOAT, None)], functions=functions)


def called(*nodes, inputs=("a",), outputs=("b",), name="F", **more):
    return encode.function(name, inputs, outputs, nodes, **more)


def doubled(depth):
    """Each function calls the one below it twice."""
    return [called(relu("a", "b"), name="F0")] + [
        called(node(f"F{k - 1}", ["a"], ["m"], "one", "own"),
               node(f"F{k - 1}", ["m"], ["b"], "two", "own"), name=f"F{k}")
        for k in range(1, depth + 1)]


def deep(depth):
    return [called(relu("a", "b"), name="F0")] + [
        called(node(f"F{k - 1}", ["a"], ["b"], "down", "own"), name=f"F{k}")
        for k in range(1, depth + 1)]


GRAPH = encode.graph([relu("x", "r")], [], [value("r", FLOAT, (2, 3))])
FUNCTIONS = [
    ("the function F calls itself", calls(called(
        node("F", ["a"], ["b"], "again", "own")))),
    ("the function F calls itself", calls(
        called(node("G", ["a"], ["b"], "there", "own")),
        called(node("F", ["a"], ["b"], "back", "own"), name="G"))),
    ("more than 65536 nodes", calls(*doubled(40), op="F40")),
    ("more than 64 deep", calls(*deep(70), op="F70")),
    ("node call/part (Banana): this operator is not supported", calls(
         called(node("Banana", ["a"], ["b"], "part"), attributes=["alpha"]),
         alpha=0.5)),
    ("operators of the domain other", calls(called(relu("a", "b")),
                                            domain="other")),
    ("operators of the domain own", calls(called(relu("a", "b"),
                                                 overload="1"))),
    ("two functions are called F", calls(*[called(relu("a", "b"))] * 2)),
    ("has 1 input and 1 output, not 2 and 1", calls(
        called(relu("a", "b")), inputs=("x", "x"))),
    ("has 1 input and 1 output, not 1 and 2", calls(
        called(relu("a", "b")), outputs=("y", "z"))),
    ("nothing in its graph gives the output b", calls(called())),
    ("the function has no attribute beta", calls(
        called(relu("a", "b"), attributes=["alpha"]), beta=1)),
    ("a graph as an attribute of a function", calls(
        called(relu("a", "b"), attributes=["alpha"]), alpha=GRAPH)),
    ("the attribute alpha is that of a function, in which the node", encode.model(
        [node("Elu", ["x"], ["y"], "here",
              alpha=encode.Reference("alpha", 1))], [X], [Y])),
    ("the attribute alpha is not a real number", calls(
        called(node("Elu", ["a"], ["b"], "elu",
                    alpha=encode.Reference("s", 1)), attributes=["s"]), s=2)),
    # It sees what it is given, and not what is around the call.
    ("no node before it computes its input x", calls(called(relu("x", "b")))),
    ("another node or an input has the name a", calls(called(
        relu("a", "a"), relu("a", "b")))),
    ("another value has the name a", calls(called(
        relu("a", "b"), inputs=("a", "a")), inputs=("x", "x"))),
    ("has a cycle", calls(called(relu("c", "b"), relu("b", "c")))),
    ("has a cycle", calls(called(relu("a", "b")), inputs=("gone",))),
    ("input 1 is missing", calls(
        called(node("Add", ["a", "o"], ["b"], "sum"), inputs=("a", "o")))),
    ("version 22 of the operators", calls(called(relu("a", "b"), opset=22))),
    ("and the standard an operator", calls(
        called(relu("a", "b"), name="Relu", domain=""), op="Relu", domain="")),
    ("not an ONNX model", calls()[:-2] + encode.block(25, b"\x0a\xff")),
]
KEEP = encode.block(1, "keepdims")
FAR = (1 << 53) + 1
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
    ("input x: dimension 0 has a size below 0, -1", encode.model(
        [relu()], [value("x", FLOAT, (-1, 3))], [Y])),
    ("input x: dimension 1 has size 0, and arrays without elements are not "
     "supported", encode.model([relu()], [value("x", FLOAT, (2, 0))], [Y])),
    ("input x: the size of dimension 0, batch is not known", encode.model(
        [relu()], [value("x", FLOAT, ("batch", 3))], [Y])),
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
    ("it has 8 bytes, and elements of its shape and type take ",
     outside(("location", "m.onnx"), ("length", "8"))),
    ("a link leads out", outside(("location", "link"))),
    ("one with a zero byte", outside(("location", "m.onnx\0x"))),
    ("one with a zero byte", outside(("location\0x", "m.onnx"))),
    ("it has 8 bytes, and elements of its shape and type take 12",
     wrong_size((3,), 2)),
    ("type take 4194304", wrong_size((1 << 20,), 2)),
    ("they may be of another type, one of 8 bytes", wrong_size((1,), 2)),
    ("they may be of another type, one of 1 byte", wrong_size((8,), 2)),
    ("more than 1073741824 elements", wrong_size((1 << 62, 1 << 62), 2)),
    # Beside a size of 0 no product of the others may overflow.
    *[("more than 1073741824 elements", encode.model(
        [node(name, ["w", *more], ["y"], "here", **attributes)], [],
        [value("y", FLOAT, None)],
        [tensor("w", FLOAT, (0, 1 << 62, 1 << 62), []), list_of("s", 0),
         list_of("e", 1)]))
      for name, more, attributes in (
          ("Transpose", (), {}), ("ReduceSum", (), {}), ("Size", (), {}),
          ("Slice", ("s", "e"), {}), ("Gather", ("s",), {}))],
    ("more than 268435456 elements", op("ConstantOfShape", ["s"], [
        list_of("s", 0, 1 << 31, 1 << 31)])),
    ("size below 0", op("HannWindow", ["s"], [
        tensor("s", INT64, (), [-1 << 63])], periodic=0)),
    ("more than 268435456 elements", op("ConstantOfShape", ["s"], [
        list_of("s", 1000, 1000, 1000)])),
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
    ("not known", typed("Pad", FLOAT, INT64)),
    ("two pads for each", op("Pad", ["x", "s"], [list_of("s", 1)])),
    ("known while importing", op("Range", ["x", "x", "x"])),
    ("differ in rank", op("GatherElements", ["x", "s"], [list_of("s", 0)])),
    ("node here (Range): the integer -9007199254740993 of here", encode.model(
        [node("Range", ["a", "b", "c"], ["y"], "here")], [],
        [value("y", INT64, (2,))],
        [tensor(n, INT64, (), [v]) for n, v in
         (("a", -(1 << 53) - 1), ("b", -(1 << 53) + 1), ("c", 1))])),
    ("input 2 has elements of type float, not of int64", encode.model(
        [node("Range", ["a", "b", "c"], ["y"], "here")], [],
        [value("y", INT64, (2,))],
        [tensor("a", INT64, (), [0]), tensor("b", INT64, (), [2]),
         tensor("c", FLOAT, (), [0.5])])),
    # 3^40 is not held exactly, and its remainder would be another one.
    ("node here (ReduceProd): integers of 2^53 and more", encode.model(
        [node("ReduceProd", ["a"], ["p"], "here"),
         node("Mod", ["p", "b"], ["y"], "rest")], [],
        [value("y", INT64, (1,))],
        [list_of("a", 3 ** 20, 3 ** 20), list_of("b", 10)])),
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
    ("the bound 9223372036854775807 is beyond 2^53", clip(
        INT64, (INT64, (1 << 63) - 1), None)),
    ("the bound -9223372036854775808 is beyond 2^53", clip(
        INT64, None, (INT64, -(1 << 63)))),
    ("type double, not of float as its input 0", clip(FLOAT, None, (DOUBLE, 1e39))),
    ("type float, not of int8 as its input 0", clip(INT8, (FLOAT, 0.5), None)),
    ("a bound is NaN", clip(FLOAT, (FLOAT, math.nan), None)),
    ("keepdims is not an integer", op("ReduceMax", keepdims=0.0)),
    ("keepdims is not an integer", op("ReduceMax", keepdims=[0])),
    ("axis is not an integer", op("Softmax", axis=0.0)),
    ("alpha is not a real number", op("LeakyRelu", alpha=1)),
    ("mode is not a text", op("Pad", ["x", "s"], [list_of("s", 1, 1, 1, 1)],
                              mode=1)),
    ("perm is not a list of integers", op("Transpose", perm=[1.0, 0.0])),
    ("perm is not a list of integers", op("Transpose", perm=1)),
    ("perm is not a list of integers", op("Transpose", perm=["a"])),
    ("keepdims is not an integer", bare(KEEP)),
    ("keepdims is not an integer", bare(
        KEEP + encode.real(2, 1.0) + encode.number(20, 2))),
    ("keepdims is that of a function", bare(
        KEEP + encode.number(20, 2) + encode.block(21, "outer"))),
    ("keepdims is given twice", bare(KEEP + encode.number(3, 0),
                                     KEEP + encode.number(3, 1))),
    ("mode has an unknown value", op("Pad", ["x", "s"],
                                     [list_of("s", 1, 1, 1, 1)],
                                     mode="constant edge")),
    ("mode has an unknown value", op("Pad", ["x", "s"],
                                     [list_of("s", 1, 1, 1, 1)],
                                     mode="edge\0xyz")),
    ("mode has an unknown value", op("Pad", ["x", "s"],
                                     [list_of("s", 1, 1, 1, 1)], mode="")),
    ("attribute ceil_mode count_include_pad is not", op(
        "AveragePool", **{"ceil_mode count_include_pad": 1})),
    ("raised to integers only", pow_of(INT32, FLOAT)),
    ("is not an integer of its type", encode.model(
        [node("Pow", ["b", "p"], ["y"], "here")], [],
        [value("y", INT32, (2,))], [tensor("b", INT32, (2,), [2, -2]),
                                    tensor("p", FLOAT, (), [2.5])])),
    ("type float, not of int8", shifted(tensor("z", FLOAT, (), [0.5]))),
    ("type int32, not of int8", shifted(tensor("z", INT32, (), [256]))),
    ("type int32, not of int8", shifted(tensor("z", INT32, (), [0]))),
    ("do not fit the shape", shifted(tensor("z", INT8, (7,), [0] * 7))),
    ("do not fit the shape", shifted(tensor("z", INT8, (2, 2, 1), [0] * 4))),
    ("do not fit the shape", shifted(tensor("z", INT8, (1, 2), [0] * 2))),
    ("do not fit the shape", of_image(2)),
    ("input 2 has elements of type int32, not of int8", encode.model(
        [node("DequantizeLinear", ["b", "s", "z"], ["y"], "here")],
        [value("b", INT8, (2, 3))], [Y],
        [tensor("s", FLOAT, (), [2.0]), tensor("z", INT32, (), [256])])),
    ("of b is beyond 2^53", encode.model(
        [], [], [value(n, INT64, (20,)) for n in "ab"],
        [tensor(n, INT64, (20,), [FAR, *range(19)]) for n in "ab"])),
    ("of a is beyond 2^53", encode.model(
        [], [], [value(n, INT64, (20,)) for n in "ab"],
        [tensor(n, INT64, (20,), [FAR, *range(19)]) for n in "ab"])),
    ("type float16, not of float as its input 0", encode.model(
        [node("Add", ["x", "h"], ["y"], "here")],
        [X, value("h", FLOAT16, (2, 3))], [Y])),
    ("half floats are not supported", encode.model(
        [node("RNN", ["x", "w", "r"], ["y"], "here", hidden_size=2)],
        [value("x", FLOAT16, (3, 1, 4)), value("w", FLOAT16, (1, 2, 4)),
         value("r", FLOAT16, (1, 2, 2))], [value("y", FLOAT16, (3, 1, 1, 2))])),
    ("limits of Resize: not antialias", op(
        "Resize", ["x", "", "", "s"], [list_of("s", 4, 3)], antialias=1)),
    *[("one weight for each class", encode.model(
        [node(name, ["x", "t", "w"], ["y"], "here")],
        [X, value("t", INT64, (2,))], [value("y", FLOAT, ())],
        [tensor("w", FLOAT, shape, [1.0] * math.prod(shape))]))
      for name in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
      for shape in ((2,), (4,), (1, 3), ())],
    *[("is not agreed on", encode.model(
        [node(name, ["i"], ["y"], "here", auto_pad="SAME_UPPER", **more)],
        [value("i", FLOAT, (1, 1, 8))], [value("y", FLOAT, None)]))
      for name, more in (
          ("MaxPool", {"kernel_shape": [2], "dilations": [2]}),
          ("MaxPool", {"kernel_shape": [1], "strides": [4]}),
          ("AveragePool", {"kernel_shape": [1], "strides": [4]}))],
    ("its kernel is smaller than its stride", encode.model(
        [node("ConvTranspose", ["i", "w"], ["y"], "here", strides=[3],
              auto_pad="SAME_UPPER")], [value("i", FLOAT, (1, 1, 4))],
        [value("y", FLOAT, (1, 1, 12))],
        [tensor("w", FLOAT, (1, 1, 2), [1.0, 2.0])])),
    ("a sequence has the length 4, not 1 to 3", of_lengths(4)),
    ("a sequence has the length 0, not 1 to 3", of_lengths(0)),
    ("one length for each sequence", of_lengths(3, 3)),
    ("output_dtype is not the type of its zero point", encode.model(
        [node("QuantizeLinear", ["x", "s", "z"], ["y"], "here",
              output_dtype=2)], [X], [value("y", INT8, (2, 3))],
        [tensor("s", FLOAT, (), [2.0]), tensor("z", INT8, (), [1])],
        opset=21)),
    ("8 and 16 bits", encode.model(
        [node("QuantizeLinear", ["x", "s"], ["y"], "here", output_dtype=6)],
        [X], [value("y", INT32, (2, 3))], [tensor("s", FLOAT, (), [2.0])],
        opset=21)),
    *[("one number for each block", encode.model(
        [node("QuantizeLinear", ["x", "s"], ["y"], "here", block_size=block)],
        [X], [value("y", UINT8, (2, 3))],
        [tensor("s", FLOAT, (2, 1), [2.0, 1.0])], opset=21))
      for block in (-1, 1, 4, 1 << 62)],
    ("one number for each block", encode.model(
        [node("QuantizeLinear", ["d", "s"], ["y"], "here", block_size=1)],
        [value("d", FLOAT, (1,) * 24)], [value("y", UINT8, (1,) * 24)],
        [tensor("s", FLOAT, (1,) * 24, [2.0])], opset=21)),
    ("p is neither 1 nor 2", op("LpNormalization", p=3)),
    *[(said, encode.model(
        [node("GridSample", ["i", "g"], ["y"], "here", **attributes)],
        [value("i", FLOAT, image), value("g", FLOAT, grid)],
        [value("y", FLOAT, None)]))
      for said, image, grid, attributes in (
          ("cubic interpolation is not supported", (1, 1, 2, 2), (1, 1, 1, 2),
           {"mode": "bicubic"}),
          ("images of two dimensions alone", (1, 1, 2, 2, 2), (1, 1, 1, 1, 3),
           {}),
          ("two coordinates for each image", (1, 1, 2, 2), (2, 1, 1, 2), {}),
          ("two coordinates for each image", (1, 1, 2, 2), (1, 1, 1, 3), {}),
          ("padding_mode has an unknown value", (1, 1, 2, 2), (1, 1, 1, 2),
           {"padding_mode": "edge"}))],
    *FLOWS,
    *FUNCTIONS,
    ("neither LEFT nor RIGHT", typed("BitShift", UINT8, UINT8)),
    # An f64 does not hold what these may come to.
    ("(Mul): its result may be beyond 2^53", encode.model(
        [node("Mul", ["i", "i"], ["s"], "first"),
         node("Mul", ["s", "i"], ["y"], "here")],
        [value("i", INT64, (2, 3))], [value("y", INT64, (2, 3))])),
    ("(Pow): its result may be beyond 2^53", typed("Pow", INT64, INT64)),
    ("(MatMul): its result may be beyond 2^53", encode.model(
        [node("MatMul", ["i", "j"], ["y"], "here")],
        [value("i", INT64, (1, 16384)), value("j", INT64, (16384, 1))],
        [value("y", INT64, (1, 1))])),
    ("such as int16 or bool", typed("ReduceProd", INT64)),
    # What other programs refuse, or read otherwise.
    ("(BitShift; direction = RIGHT): its input 0 has elements of type int8",
     typed("BitShift", INT8, INT8, direction="RIGHT")),
    ("(ReverseSequence): its input 1 has elements of type int32",
     typed("ReverseSequence", FLOAT, INT32)),
    ("(LpPool; kernel_shape = 1): its input 0 has elements of type int32",
     typed("LpPool", INT32, kernel_shape=[1])),
    ("(Concat; axis = 0): its input 3 has elements of type int64, not of int32",
     typed("Concat", INT32, INT32, INT32, INT64, axis=0)),
    ("(Where): its input 2 has elements of type int8, not of float as its "
     "input 1", typed("Where", BOOL, FLOAT, INT8)),
    ("version 13 of the operators has there: float double float16 int32 int64 "
     "uint32; a Cast converts it", typed("Add", INT8, INT8, opset=13)),
    ("Where takes both of one type", typed("Where", BOOL, FLOAT, INT8)),
    ("a length is below 0 or above", op("ReverseSequence", ["x", "s"],
                                        [list_of("s", 1, 3, 0)])),
    ("or leaves nothing", op("Compress", ["x", "s"], [
        tensor("s", BOOL, (2,), [0, 0])], axis=0)),
    ("input 1 has elements of type int64", op(
        "Compress", ["x", "s"], [list_of("s", 1, 0)], axis=0)),
    ("no list up to", op("Compress", ["x", "s"], [
        tensor("s", BOOL, (3,), [1, 0, 1])], axis=0)),
    ("an axis is named twice", op("Resize", ["x", "", "", "s"],
                                  [list_of("s", 4, 3)], axes=[0, -2])),
    ("p is not above 0", encode.model(
        [node("LpPool", ["i"], ["y"], "here", p=0, kernel_shape=[2])],
        [value("i", FLOAT, (1, 2, 3))], [value("y", FLOAT, (1, 2, 2))])),
    ("differ in shape", op("ScatterElements", ["x", "s", "x"],
                           [list_of("s", 0)])),
    *[(f"dimension {d % 2} does not have size 1", op(
        "Squeeze", ["x", "s"], [list_of("s", d)])) for d in range(-2, 2)],
    *[("an index is out of range", scattered(*at))
      for at in ((-3,), (2,), (0, 2), (-3, 1))],
    # How attributes of each kind are told.
    *[(f"node here (Relu; colour = {said}): the attribute colour",
       op("Relu", colour=v)) for said, v in
      (("7", 7), ("0.5", 0.5), ("red", "red"), ("2 -3", [2, -3]),
       ("0.5 -2", [0.5, -2.0]), ("...", ["red"]),
       ("0 1 2 3 4 5 6 7 8 9 10 11", list(range(12))),
       ("0 1 2 3 4 5 6 7 8 9 10 11 ...", list(range(13))))],
    *[("an index is out of range", op(
        name, ["x", "s", *more], [tensor("s", INT64, (1, k), [at] * k)]))
      for name, k, more in (("GatherElements", 3, ()), ("GatherND", 1, ()),
                            ("ScatterElements", 3, ("u",)),
                            ("ScatterND", 1, ("u",)))
      for at in (2, -3)],
    ("an axis is named twice", op("Slice", ["x", "s", "e", "a"], [
        list_of("s", 0, 1), list_of("e", 1, 2), list_of("a", 0, -2)])),
    ("its axis is missing", op("Concat", ["x", "x"])),
    # What the model declares contradicts what there is.
    ("output y is declared with the shape (3, 2), but it has (2, 3)",
     encode.model([relu()], [X], [value("y", FLOAT, (3, 2))])),
    ("output y is declared with the shape (6), but it has (2, 3)",
     encode.model([relu()], [X], [value("y", FLOAT, (6,))])),
    ("output y is declared with the shape (n, 4), but it has (2, 3)",
     encode.model([relu()], [X], [value("y", FLOAT, ("n", 4))])),
    ("output y is declared with elements of type int32, but it has float",
     encode.model([relu()], [X], [value("y", INT32, (2, 3))])),
    ("value t is declared with the shape (2, 9), but it has (2, 3)",
     encode.model([relu("x", "t"), relu("t", "y")], [X], [Y],
                  between=[value("t", FLOAT, (2, 9))])),
    ("value t is declared with elements of type double, but it has float",
     encode.model([relu("x", "t"), relu("t", "y")], [X], [Y],
                  between=[value("t", DOUBLE, (2, 3))])),
    ("input w is declared with the shape (4), but it has (3)",
     defaulted(value("w", FLOAT, (4,)))),
    ("input w is declared with elements of type double, but it has float",
     defaulted(value("w", DOUBLE, (3,)))),
    ("two inputs are called w", defaulted(*[value("w", FLOAT, (3,))] * 2)),
    ("two inputs are called x", encode.model([relu()], [X, X], [Y])),
    ("written for versions 17 and 13", GOOD + encode.block(
        8, encode.block(1, "ai.onnx") + encode.number(2, 13))),
    ("its elements are given in several ways", stored_as(
        encode.block(9, bytes(12)), encode.block(4, bytes(12)))),
    ("its elements are given in several ways", stored_as(
        encode.block(9, bytes(12)), encode.number(14, 1),
        encode.block(13, encode.block(1, "location") +
                     encode.block(2, "m.onnx")))),
    ("segment of another one", stored_as(
        encode.block(3, b""), encode.block(9, bytes(12)))),
    *[("an element is not one of its type", stored_as(
        *[encode.number(5, v) for v in (0, 1, wrong)], dtype=dtype))
      for dtype, wrong in ((INT8, 128), (UINT8, 256), (BOOL, 2),
                           (FLOAT16, 1 << 16))],
    *[("its offset is not a number", outside(("location", "m.onnx"),
                                             ("offset", v)))
      for v in (" 4", "+4", "")],
    ("two outputs are called a.b", encode.model(
        [relu("x", "a/b"), relu("x", "a.b")], [X],
        [value(n, FLOAT, (2, 3)) for n in ("a/b", "a.b")])),
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
