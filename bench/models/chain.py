#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A chain of residual layers, each a convolution of 3 by 3 with a factor and an
offset a channel, a relu, and what it began with added.

usage: chain.py LAYERS [CHANNELS SIZE] > chain.glen
"""
import sys


def layer(k, before, c, n):
    def channels(name):
        return (f"(broadcast (reshape {name}{k} (shape 1 {c} 1 1) (shape)) "
                f"(shape 1 {c} {n} {n}))")
    return f"""(let conv{k} (transpose (squeeze (compute dotProd (cartProd
  (windows (access (pad (pad {before} zero 2 1 1) zero 3 1 1) 1)
    (shape {c} 3 3) (stride 1 1 1))
  (access kernel{k} 1))) 1) (list 0 3 1 2)))
(let scaled{k} (compute mul (pair conv{k} {channels("factor")})))
(let moved{k} (compute add (pair scaled{k} {channels("offset")})))
(let layer{k} (compute add (pair (compute relu moved{k}) {before})))"""


def main(layers, c=16, n=14):
    print(f"(tensor x (shape 1 {c} {n} {n}) f32)")
    for k in range(layers):
        print(f"(tensor kernel{k} (shape {c} {c} 3 3) f32)")
        print(f"(tensor factor{k} (shape {c}) f32)")
        print(f"(tensor offset{k} (shape {c}) f32)")
    before = "x"
    for k in range(layers):
        print(layer(k, before, c, n))
        before = f"layer{k}"
    print(f"(output {before})")


main(*map(int, sys.argv[1:]))
