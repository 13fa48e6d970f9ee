#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Encoder blocks of a transformer: attention of several heads and two dense
layers, each with what it began with added and normalized.

usage: encoder.py BLOCKS [WIDTH TOKENS] > encoder.glen
"""
import sys

HEAD = 64  # columns of a head
LITERALS = {"eighth": 0.125, "tiny": 1e-12, "half": 0.5, "root": 0.70710678,
            "one": 1}


class Encoder:
    def __init__(self, width, tokens):
        self.width, self.tokens = width, tokens
        self.tensors, self.terms = [], []

    def tensor(self, name, *shape):
        self.tensors.append(f"(tensor {name} (shape "
                            f"{' '.join(map(str, shape))}) f32)")
        return name

    def let(self, name, term):
        self.terms.append(f"(let {name} {term})")
        return name

    def spread(self, name, ones, columns):
        return (f"(broadcast (reshape {name} (shape {ones}) (shape)) "
                f"(shape {self.tokens} {columns}))")

    def literal(self, name, columns):
        return f"(broadcast {name} (shape {self.tokens} {columns}))"

    def dense(self, name, x, wide, deep):
        w = self.tensor(f"{name}.w", wide, deep)
        b = self.tensor(f"{name}.b", wide)
        return self.let(name, f"(compute add (pair (compute dotProd (cartProd "
                              f"(access {x} 1) (access {w} 1))) "
                              f"{self.spread(b, f'1 {wide}', wide)}))")

    def norm(self, name, x):
        n, column = self.width, f"{self.tokens} 1"
        factor = self.tensor(f"{name}.factor", n)
        offset = self.tensor(f"{name}.offset", n)
        self.let(f"{name}.mean", f"(compute reduceMean (access {x} 1))")
        self.let(f"{name}.from", f"(compute sub (pair {x} "
                 f"{self.spread(name + '.mean', column, n)}))")
        self.let(f"{name}.var", f"(compute reduceMean (access (compute mul "
                 f"(pair {name}.from {name}.from)) 1))")
        self.let(f"{name}.dev", f"(compute sqrt (compute add (pair {name}.var "
                 f"(broadcast (reshape tiny (shape 1) (shape)) "
                 f"(shape {self.tokens})))))")
        self.let(f"{name}.unit", f"(compute div (pair {name}.from "
                 f"{self.spread(name + '.dev', column, n)}))")
        return self.let(name, f"(compute add (pair (compute mul (pair "
                        f"{name}.unit {self.spread(factor, f'1 {n}', n)})) "
                        f"{self.spread(offset, f'1 {n}', n)}))")

    def head(self, k, h):
        t, lo = self.tokens, h * HEAD
        def part(of):
            return f"(slice {of}{k} 1 {lo} {lo + HEAD})"
        self.let(f"score{k}.{h}", f"(compute dotProd (cartProd "
                 f"(access {part('query')} 1) (access {part('key')} 1)))")
        self.let(f"share{k}.{h}", f"(compute softmax (access (compute mul "
                 f"(pair score{k}.{h} {self.literal('eighth', t)})) 1))")
        return self.let(f"head{k}.{h}", f"(compute dotProd (cartProd (access "
                        f"share{k}.{h} 1) (access (transpose {part('value')} "
                        f"(list 1 0)) 1)))")

    def gelu(self, name, x, n):
        erf = (f"(compute erf (compute mul (pair {x} "
               f"{self.literal('root', n)})))")
        return self.let(name, f"(compute mul (pair (compute mul (pair {x} "
                        f"{self.literal('half', n)})) (compute add (pair "
                        f"{erf} {self.literal('one', n)}))))")

    def block(self, k, x):
        n = self.width
        for name in ("query", "key", "value"):
            self.dense(f"{name}{k}", x, n, n)
        heads = [self.head(k, h) for h in range(n // HEAD)]
        self.let(f"heads{k}", heads[0] if len(heads) == 1 else
                 f"(concat {' '.join(heads)} 1)")
        self.dense(f"mixed{k}", f"heads{k}", n, n)
        self.let(f"sum{k}", f"(compute add (pair mixed{k} {x}))")
        self.norm(f"middle{k}", f"sum{k}")
        self.dense(f"wide{k}", f"middle{k}", 4 * n, n)
        self.gelu(f"gelu{k}", f"wide{k}", 4 * n)
        self.dense(f"narrow{k}", f"gelu{k}", n, 4 * n)
        self.let(f"total{k}", f"(compute add (pair narrow{k} middle{k}))")
        return self.norm(f"block{k}", f"total{k}")


def main(blocks, width=768, tokens=128):
    e = Encoder(width, tokens)
    x = e.tensor("x", tokens, width)
    for name, value in LITERALS.items():
        e.tensors.append(f"(const {name} "
                         f"(shape {'1' if name == 'tiny' else '1 1'}) f32 "
                         f"{value})")
    for k in range(blocks):
        x = e.block(k, x)
    print("\n".join(e.tensors + e.terms + [f"(output {x})"]))


main(*map(int, sys.argv[1:]))
