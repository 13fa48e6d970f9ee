#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A chain of residual layers, each relu(conv(x) * g + b) + x, as a program.

Each layer reads the one before it twice, so a term written out has 2 to the
number of layers places of the first one.

usage: layers.py LAYERS > layers.glen
"""
import sys

C, H = 16, 14
LAYER = """(let c{i} (transpose (squeeze (compute dotProd (cartProd
  (windows (access (pad (pad {x} zero 2 1 1) zero 3 1 1) 1)
    (shape {C} 3 3) (stride 1 1 1))
  (access w{i} 1))) 1) (list 0 3 1 2)))
(let m{i} (compute mul (pair c{i}
  (broadcast (reshape g{i} (shape 1 {C} 1 1) (shape)) (shape 1 {C} {H} {H})))))
(let a{i} (compute add (pair m{i}
  (broadcast (reshape b{i} (shape 1 {C} 1 1) (shape)) (shape 1 {C} {H} {H})))))
(let y{i} (compute add (pair (compute relu a{i}) {x})))"""

n = int(sys.argv[1])
print(f"(tensor x (shape 1 {C} {H} {H}) f32)")
for i in range(n):
    print(f"(tensor w{i} (shape {C} {C} 3 3) f32)"
          f"(tensor g{i} (shape {C}) f32)(tensor b{i} (shape {C}) f32)")
for i in range(n):
    print(LAYER.format(i=i, C=C, H=H, x=f"y{i - 1}" if i else "x"))
print(f"(output y{n - 1})")
