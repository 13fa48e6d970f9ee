#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random pipelines as `.glen` text, large enough to be fused by themselves.

usage: pipelines.py SEED          print a program

A program has one or two inputs of a few hundred thousand elements and three to
nine stages: formulas of a point, sums of shifted slices, stencils as reductions
over windows, reductions of rows that are broadcast again, strides, and values
that several stages read.  What nobody reads is an output.
"""
import random
import sys

UNARY = ("exp", "relu", "square", "sqrt-abs", "(scale 0.5)", "(offset 0.25)",
         "neg", "tanh")
BINARY = ("add", "sub", "mul", "max", "min")


class Pipeline:
    """stages: lines of text; shapes: of every name; read: names with readers."""

    def __init__(self, seed, part):
        self.part = part
        self.random = random.Random(seed)
        self.lines, self.shapes, self.read = [], {}, set()

    def choose(self):
        """A value; the latest ones more often."""
        names = list(self.shapes)
        k = min(int(self.random.expovariate(0.7)), len(names) - 1)
        self.read.add(names[-1 - k])
        return names[-1 - k]

    def put(self, term, shape):
        name = f"v{len(self.shapes)}"
        self.lines.append(f"(let {name} {term})")
        self.shapes[name] = shape

    def cut(self, name, shape, at):
        """The part of an array of this shape that begins at these indices."""
        term = name
        for axis, (extent, first) in enumerate(zip(shape, at)):
            if (first, extent) != (0, self.shapes[name][axis]):
                term = f"(slice {term} {axis} {first} {first + extent})"
        return term

    # ---- stages ----

    def point(self):
        name, how = self.choose(), self.random.choice(UNARY)
        term = f"(compute {how} {name})"
        if how == "sqrt-abs":
            term = f"(compute sqrt (compute abs {name}))"
        self.put(term, self.shapes[name])

    def pair(self):
        """Two values, or one twice, cut to what both have, shifted."""
        a, b = self.choose(), self.choose()
        both = [min(x, y) for x, y in zip(self.shapes[a], self.shapes[b])]
        reach = [min(self.random.choice((0, 0, 1, 2, 4)), n // 4)
                 for n in both]
        shape = tuple(n - r for n, r in zip(both, reach))
        first = self.cut(a, shape, (0, 0))
        self.put(f"(compute {self.random.choice(BINARY)} "
                 f"(pair {first} {self.cut(b, shape, reach)}))", shape)

    def window(self):
        name = self.choose()
        size = [self.random.choice((1, 2, 3, 3, 5)) for _ in range(2)]
        step = [self.random.choice((1, 1, 1, 1, 2)) for _ in range(2)]
        shape = tuple((n - w) // s + 1
                      for n, w, s in zip(self.shapes[name], size, step))
        how = self.random.choice(("reduceSum", "reduceSum", "reduceMax"))
        self.put(f"(compute {how} (windows (access {name} 0) "
                 f"(shape {size[0]} {size[1]}) "
                 f"(stride {step[0]} {step[1]})))", shape)

    def row(self):
        """Each row less, or times, something of the whole row."""
        name = self.choose()
        shape = self.shapes[name]
        how = self.random.choice(("reduceMax", "reduceMean"))
        self.put(f"(compute {self.random.choice(('sub', 'mul'))} (pair {name} "
                 f"(broadcast (insertAxis (compute {how} (access {name} 1)) 1)"
                 f" (shape {shape[0]} {shape[1]}))))", shape)

    def text(self):
        draw = self.random
        inputs = draw.choice((1, 1, 2))
        shape = (draw.randint(400, 1700) // self.part,
                 draw.randint(260, 1100) // self.part)
        for k in range(inputs):
            self.shapes[f"v{k}"] = shape
            self.lines.append(f"(tensor v{k} (shape {shape[0]} {shape[1]}) f32)")
        kinds = [self.point, self.pair, self.pair, self.window, self.window,
                 self.row]
        for _ in range(draw.randint(3, 9)):
            draw.choice(kinds)()
        for name in list(self.shapes)[inputs:]:
            if name not in self.read:
                self.lines.append(f"(output {name})")
        return "\n".join(self.lines) + "\n"


def text(seed, part=1):
    """part: of what a pipeline's extents are otherwise."""
    return Pipeline(seed, part).text()


if __name__ == "__main__":
    print(text(int(sys.argv[1])), end="")
