# SPDX-License-Identifier: MIT
"""The dense layers and products of a model as programs of bytes.

Units that multiply bytes take nothing of a model in f32.  So each Conv of one
group, Gemm and MatMul of it becomes a model of its own with its shapes, strides
and pads: bytes by bytes, summed as int32, and scaled, rounded and saturated to
bytes again, as a network of bytes goes on.  Images have their channels last, and
weights lie output by output, as networks for such units keep them; they are
inputs.  Sizes that are open or not inferred are 1.  Layers of one shape are mapped
once and counted as often as they stand in the model.
"""
import collections
import json
import math
import os
import subprocess
import tempfile

import onnx
import onnxruntime
from onnx import TensorProto, helper, shape_inference

import works

FLOATS = {"gemmini": TensorProto.FLOAT, "vta": TensorProto.DOUBLE}
KEPT = ("pads", "strides", "dilations", "auto_pad", "kernel_shape")


def folded(path, folder):
    """The model in a file of that folder, with shapes that depend on no input
    computed: the inference of shapes does not see through them."""
    out = os.path.join(folder, "folded.onnx")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = \
        onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = out
    options.log_severity_level = 3
    onnxruntime.InferenceSession(path, options,
                                 providers=["CPUExecutionProvider"])
    return onnx.load(out, load_external_data=False)


def shapes_of(path):
    """The graph, and the shape of each value that has one."""
    with tempfile.TemporaryDirectory() as folder:
        model = folded(path, folder)
    for value in [*model.graph.input, *model.graph.output]:
        for d in value.type.tensor_type.shape.dim:
            if not d.dim_value:
                d.dim_value = 1
    del model.graph.value_info[:]
    model = shape_inference.infer_shapes(model, data_prop=True)
    graph = model.graph
    shapes = {t.name: tuple(t.dims) for t in graph.initializer}
    for v in [*graph.input, *graph.value_info, *graph.output]:
        shapes[v.name] = tuple(d.dim_value or 1
                               for d in v.type.tensor_type.shape.dim)
    return graph, shapes


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def layers(path):
    """How often each layer stands there: (operator, shapes, attributes, whether
    its second operand is stored in the model)."""
    graph, shapes = shapes_of(path)
    known = {t.name for t in graph.initializer}
    found, grouped = collections.Counter(), 0
    for node in graph.node:
        own = attributes(node)
        if node.op_type == "Conv" and own.get("group", 1) > 1:
            grouped += 1
        elif node.op_type in ("Conv", "Gemm", "MatMul"):
            keep = {k: tuple(v) if isinstance(v, list) else v
                    for k, v in own.items()
                    if k in KEPT or k in ("transA", "transB")}
            found[node.op_type, *[shapes[n] for n in [*node.input[:2],
                                                      node.output[0]]],
                  tuple(sorted(keep.items())), node.input[1] in known] += 1
    return found, grouped


def moved(nodes, name, order):
    """The name of that value with its dimensions in this order."""
    if order:
        nodes.append(helper.make_node("Transpose", [name], [name + "t"],
                                      perm=order))
    return name + "t" if order else name


def stored(shape, order):
    """What has that shape once its dimensions stand in this order."""
    return [shape[order.index(k)] for k in range(len(shape))] if order else shape


def weights(shape):
    """Bytes for an array of that shape, of which none is 0."""
    return bytes(k % 251 + 1 for k in range(math.prod(shape)))


def program(layer, target):
    """The bytes of a model that is this layer alone."""
    op, x, w, y, own, stored_there = layer
    own, real, nodes = dict(own), FLOATS[target], []
    first, second, last = None, None, None
    if op == "Conv":
        n = len(x)
        first = second = [0, n - 1, *range(1, n - 1)]
        last = [0, *range(2, n), 1]
    elif len(w) == 2:
        first = [1, 0] if own.pop("transA", 0) else None
        second = [1, 0]
        if own.pop("transB", 0):
            w = w[::-1]
    x, w, y = stored(x, first), stored(w, second), [y[k] for k in last or
                                                    range(len(y))]
    a, b = moved(nodes, "x", first), moved(nodes, "w", second)
    sums = "ConvInteger" if op == "Conv" else "MatMulInteger"
    nodes.append(helper.make_node(sums, [a, b], ["sums"], **own))
    nodes += [helper.make_node("Cast", [moved(nodes, "sums", last)], ["real"],
                               to=real),
              helper.make_node("Mul", ["real", "by"], ["scaled"]),
              helper.make_node("Floor", ["scaled"], ["round"]),
              helper.make_node("Cast", ["round"], ["int"],
                               to=TensorProto.INT32),
              helper.make_node("Clip", ["int", "low", "high"], ["cut"]),
              helper.make_node("Cast", ["cut"], ["y"], to=TensorProto.INT8)]
    known = [helper.make_tensor("by", real, (), [0.0078125]),
             helper.make_tensor("low", TensorProto.INT32, (), [-128]),
             helper.make_tensor("high", TensorProto.INT32, (), [127])]

    def value(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.INT8, shape)
    inputs = [value("x", x), value("w", w)]
    if stored_there:
        inputs.pop()
        known.append(helper.make_tensor("w", TensorProto.INT8, w,
                                        weights(w), raw=True))
    graph = helper.make_graph(nodes, "layer", inputs, [value("y", y)], known)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()


def is_mapped(glen, layer, target):
    """Calls, where the host is left no sum of products; else 0."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "layer.onnx")
        with open(path, "wb") as f:
            f.write(program(layer, target))
        done = subprocess.run([glen, "map", path, "--target", target, "--json",
                               "--quiet"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[:500])
    report = json.loads(done.stdout)
    host = any(not p["call"] and works.is_sum(p["work"])
               for p in report["parts"])
    return 0 if host else sum(i["calls"] for i in report["instructions"])


def told(layer):
    op, x, w, _, own, _ = layer
    kept = [f"{k} {' '.join(map(str, v))}" for k, v in own
            if k in ("pads", "strides")]
    return f"{op} {'x'.join(map(str, x))} by {'x'.join(map(str, w))} " + \
        ", ".join(kept)


def count(glen, path, target):
    """(mapped, left to the host, calls, the layers that are left)."""
    found, grouped = layers(path)
    mapped = calls = 0
    left = [(grouped, "Conv in groups")] if grouped else []
    for layer, times in found.items():
        own = is_mapped(glen, layer, target)
        calls += own * times
        if own:
            mapped += times
        else:
            left.append((times, told(layer)))
    return mapped, sum(n for n, _ in left), calls, left
