#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a small model for the console tests: make.py KIND FILE

  net      a convolution with weights, a bias, relu; symbolic batch
  missing  three nodes, of which two are not supported
  outside  a weight in a file beside the model, which is too short
"""
import sys

from encode import FLOAT, model, node, tensor, value


def net():
    weights = tensor("conv.weight", FLOAT, (4, 2, 3, 3),
                     [(k % 7 - 3) / 8 for k in range(72)])
    bias = tensor("conv.bias", FLOAT, (4,), [0.5, 0.25, -0.5, 0.0])
    return model([node("Conv", ["image", "conv.weight", "conv.bias"], ["c"],
                       "/layer1/Conv", pads=[1, 1, 1, 1]),
                  node("Relu", ["c"], ["out"], "/layer1/Relu")],
                 [value("image", FLOAT, ("batch", 2, 5, 5))],
                 [value("out", FLOAT, ("batch", 4, 5, 5))], [weights, bias])


def missing():
    return model([node("Relu", ["x"], ["a"], "/first"),
                  node("Conjure", ["a"], ["b"], "/second", depth=3),
                  node("Relu", ["b"], ["c"], "/third"),
                  node("Softmax", ["a"], ["d"], "/fourth", axis=9)],
                 [value("x", FLOAT, (2, 3))],
                 [value("c", FLOAT, (2, 3)), value("d", FLOAT, (2, 3))])


def outside():
    w = tensor("w", FLOAT, (64,), [], [("location", "w.bin"), ("offset", "8")])
    return model([node("Add", ["x", "w"], ["y"], "/sum")],
                 [value("x", FLOAT, (2, 64))], [value("y", FLOAT, (2, 64))],
                 [w])


if __name__ == "__main__":
    kinds = {"net": net, "missing": missing, "outside": outside}
    with open(sys.argv[2], "wb") as f:
        f.write(kinds[sys.argv[1]]())
