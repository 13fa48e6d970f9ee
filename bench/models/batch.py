#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models of one image or one sequence, written again for several at once.

usage: batch.py N MODELS OUT [NAME...]

Inputs whose first size is 1 get N there, and so do the constant shapes of
Reshape and Expand: exporters write the batch into them.  What else a file says
of shapes is left out.  A model that ONNX Runtime does not run afterwards is
named and not written; weights beside a model are linked where that is possible.
"""
import glob
import os
import shutil
import sys

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper


def shapes_asked(graph):
    """The names of what Reshape and Expand take as their shape."""
    return {node.input[1] for node in graph.node
            if node.op_type in ("Reshape", "Expand") and len(node.input) > 1}


def constants(graph):
    for tensor in graph.initializer:
        yield tensor.name, tensor
    for node in graph.node:
        if node.op_type == "Constant":
            for a in node.attribute:
                if a.name == "value":
                    yield node.output[0], a.t


def rebatch(model, n):
    graph = model.graph
    given = {t.name for t in graph.initializer}
    for value in graph.input:
        sizes = value.type.tensor_type.shape.dim
        if value.name not in given and sizes and sizes[0].dim_value == 1:
            sizes[0].dim_value = n
    del graph.value_info[:]
    for value in graph.output:
        value.type.tensor_type.ClearField("shape")
    wanted = shapes_asked(graph)
    for name, tensor in constants(graph):
        if name in wanted and not tensor.external_data:
            shape = numpy_helper.to_array(tensor).copy()
            if shape.size > 1 and shape[0] == 1:
                shape[0] = n
                tensor.CopyFrom(numpy_helper.from_array(shape, tensor.name))


def runs(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    peer = onnxruntime.InferenceSession(path, options,
                                        providers=["CPUExecutionProvider"])
    feed = {i.name: numpy.ones(i.shape, numpy.int64 if "int64" in i.type
                               else numpy.float32) for i in peer.get_inputs()}
    peer.run(None, feed)


def beside(path, link):
    """The weights under a second name: a symbolic link would lead out of the
    model's folder, which is refused."""
    try:
        os.link(path, link)
    except OSError:
        shutil.copyfile(path, link)


def main():
    n, models, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    names = sys.argv[4:] or sorted(os.path.basename(p)[:-5] for p in
                                   glob.glob(os.path.join(models, "*.onnx")))
    os.makedirs(out, exist_ok=True)
    for path in glob.glob(os.path.join(models, "*.bin")):
        link = os.path.join(out, os.path.basename(path))
        if not os.path.exists(link):
            beside(path, link)
    failed = 0
    for name in names:
        model = onnx.load(os.path.join(models, name + ".onnx"),
                          load_external_data=False)
        rebatch(model, n)
        path = os.path.join(out, name + ".onnx")
        onnx.save(model, path)
        try:
            runs(path)
            print(f"{name}: {n} at once")
        except Exception as e:  # of ONNX Runtime, whose classes have no base
            os.remove(path)
            failed = 1
            print(f"{name}: not written: {str(e)[:200]}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
