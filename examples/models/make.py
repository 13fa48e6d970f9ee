#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the model of this folder: make.py [--check]

digits.onnx reads images of 28 x 28 pixels, in batches of any size, and gives
ten scores for each: two convolutions with ReLU and pooling, and a dense layer.
Its weights are a fixed sequence and were never trained.  --check compares the
file with what would be written instead.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tests/onnx"))

from encode import FLOAT, INT64, model, node, tensor, value  # noqa: E402


def weights(name, shape, scale):
    """Multiples of 1/64 of the scale, which every float holds exactly."""
    count = 1
    for d in shape:
        count *= d
    values = [((k * 37 + count) % 129 - 64) / 64 * scale for k in range(count)]
    return tensor(name, FLOAT, shape, values)


def digits():
    nodes = [
        node("Conv", ["image", "w1", "b1"], ["c1"], "/features/conv1"),
        node("Relu", ["c1"], ["r1"], "/features/relu1"),
        node("MaxPool", ["r1"], ["p1"], "/features/pool1",
             kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p1", "w2", "b2"], ["c2"], "/features/conv2"),
        node("Relu", ["c2"], ["r2"], "/features/relu2"),
        node("MaxPool", ["r2"], ["p2"], "/features/pool2",
             kernel_shape=[2, 2], strides=[2, 2]),
        node("Reshape", ["p2", "flat"], ["f"], "/flatten"),
        node("Gemm", ["f", "w3", "b3"], ["scores"], "/classifier", transB=1)]
    parameters = [
        weights("w1", (4, 1, 5, 5), 0.25), weights("b1", (4,), 0.125),
        weights("w2", (8, 4, 5, 5), 0.125), weights("b2", (8,), 0.125),
        weights("w3", (10, 128), 0.125), weights("b3", (10,), 0.125),
        tensor("flat", INT64, (2,), [0, -1])]
    return model(nodes, [value("image", FLOAT, ("batch", 1, 28, 28))],
                 [value("scores", FLOAT, ("batch", 10))], parameters)


def main():
    path = os.path.join(HERE, "digits.onnx")
    if sys.argv[1:] == ["--check"]:
        with open(path, "rb") as f:
            same = f.read() == digits()
        print("1 passed, 0 failed" if same else
              f"{path}: differs from what make.py writes\n0 passed, 1 failed")
        return not same
    with open(path, "wb") as f:
        f.write(digits())
    return 0


if __name__ == "__main__":
    sys.exit(main())
