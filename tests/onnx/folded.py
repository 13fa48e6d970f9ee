# SPDX-License-Identifier: MIT
"""Every elementwise operator on every type that it takes, where all inputs are
known while importing: one model a type, each of whose outputs is one operator
on all pairs of that type's values, the least and the greatest among them.  What
the importer folds is held against Python: integers wrap, floats are rounded
once."""
import math
import operator
import os
import struct
import tempfile

import npy
import stored
from encode import (BOOL, DOUBLE, FLOAT, FLOAT16, INT16, INT32, INT64, INT8,
                    UINT16, UINT32, UINT8, model, node, tensor, value)

REALS = {FLOAT: "f", DOUBLE: "d", FLOAT16: "e"}
# Bits and sign of the integers; a bool is a number of one bit that is no number.
WHOLE = {INT8: (8, 1), INT16: (16, 1), INT32: (32, 1), INT64: (64, 1),
         UINT8: (8, 0), UINT16: (16, 0), UINT32: (32, 0)}
ALL = [*REALS, *WHOLE, BOOL]
NUMBERS = [*REALS, *WHOLE]
INDEX = [INT32, INT64]


def values_of(dtype):
    if dtype in REALS:
        return [-2.5, -1.0, 0.0, 0.5, 1.5, 3.0, 7.25]
    if dtype == BOOL:
        return [False, True]
    bits, signed = WHOLE[dtype]
    # An int64 that is not folded any further ends at 2^53, and so do products.
    top = 2 ** (26 if bits == 64 else bits - signed) - 1
    return ([-top - 1, -top, -7, -1] if signed else []) + [0, 1, 2, 5, top]


def rounded(dtype, v):
    """A number as its type has it."""
    if dtype in REALS:
        try:
            return struct.unpack(REALS[dtype], struct.pack(REALS[dtype], float(v)))[0]
        except OverflowError:
            return math.copysign(math.inf, v)
    if dtype == BOOL:
        return bool(v)
    bits, signed = WHOLE[dtype]
    v &= 2 ** bits - 1
    return v - 2 ** bits if signed and v >> bits - 1 else v


def quotient(a, b):
    """Of integers, towards zero."""
    if isinstance(a, float):
        return a / b
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    """Of integers, with the sign of the divisor."""
    return a % b


def like_fmod(a, b):
    return math.fmod(a, b) if isinstance(a, float) else \
        a - b * quotient(a, b)


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


# Name, attributes, function, types; operands that are left out; a result that
# is a bool.
ARITHMETIC = [*REALS, *WHOLE]
BINARY = [
    ("Add", {}, operator.add, ARITHMETIC),
    ("Sub", {}, operator.sub, ARITHMETIC),
    ("Mul", {}, operator.mul, ARITHMETIC),
    ("Div", {}, quotient, ARITHMETIC),
    ("Mod", {}, remainder, [*WHOLE]),
    ("Mod", {"fmod": 1}, like_fmod, NUMBERS),
    ("Min", {}, min, NUMBERS), ("Max", {}, max, NUMBERS),
    ("Sum", {}, operator.add, [*REALS]),
    ("Pow", {}, operator.pow, [*REALS, *INDEX]),
]
TESTS = [
    ("Equal", operator.eq, ALL), ("Less", operator.lt, NUMBERS),
    ("Greater", operator.gt, NUMBERS), ("LessOrEqual", operator.le, NUMBERS),
    ("GreaterOrEqual", operator.ge, NUMBERS),
    ("And", lambda a, b: a and b, [BOOL]), ("Or", lambda a, b: a or b, [BOOL]),
    ("Xor", operator.ne, [BOOL]),
]
SIGNED = [d for d in WHOLE if WHOLE[d][1]]
UNARY = [
    ("Abs", abs, NUMBERS), ("Neg", operator.neg, [*REALS, *SIGNED]),
    ("Relu", lambda v: max(v, type(v)(0)), [*REALS, *SIGNED]),
    ("Not", operator.not_, [BOOL]), ("Identity", lambda v: v, ALL),
    *[(name, f, [*REALS]) for name, f in (
        ("Ceil", lambda v: float(math.ceil(v))),
        ("Floor", lambda v: float(math.floor(v))),
        ("Round", lambda v: float(round(v))), ("Exp", math.exp),
        ("Tanh", math.tanh), ("Erf", math.erf), ("Sin", math.sin),
        ("Cos", math.cos), ("Sigmoid", sigmoid))],
    *[(name, f, [*REALS]) for name, f in (
        ("Sqrt", math.sqrt), ("Log", math.log), ("Reciprocal", lambda v: 1 / v))],
]
ABOVE = {"Sqrt", "Log", "Reciprocal"}  # of what is above 0 alone
OVER = {"Div", "Mod"}  # by what is not 0


def operands(name, dtype):
    """The values of both sides."""
    a = b = values_of(dtype)
    if name in ABOVE:
        a = [v for v in a if v > 0]
    if name in OVER:
        b = [v for v in b if v]
    if name == "Pow":
        a, b = [v for v in a if 0 <= v < 100], [v for v in b if 0 <= v < 100]
    return a, b


class Folded:
    """A model of one type: its nodes, known tensors, and what is wanted."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.nodes, self.known, self.outs, self.wanted = [], [], [], []

    def tensor(self, shape, elements, dtype=None):
        name = f"w{len(self.known)}"
        self.known.append(tensor(name, dtype or self.dtype, shape, elements))
        return name

    def add(self, op, inputs, shape, dtype, wanted, **attributes):
        name = f"y{len(self.outs)}"
        self.nodes.append(node(op, inputs, [name], name, **attributes))
        self.outs.append(value(name, dtype, shape))
        self.wanted.append((f"{op} {attributes} of {self.dtype}", name, dtype,
                            shape, [rounded(dtype, v) for v in wanted]))

    def add_pairs(self, op, f, to, **attributes):
        a, b = operands(op, self.dtype)
        self.add(op, [self.tensor((len(a), 1), a), self.tensor((len(b),), b)],
                 (len(a), len(b)), to, [f(p, q) for p in a for q in b],
                 **attributes)

    def add_all(self):
        for name, attributes, f, types in BINARY:
            if self.dtype in types:
                self.add_pairs(name, f, self.dtype, **attributes)
        for name, f, types in TESTS:
            if self.dtype in types:
                self.add_pairs(name, f, BOOL)
        for name, f, types in UNARY:
            if self.dtype in types:
                a, _ = operands(name, self.dtype)
                self.add(name, [self.tensor((len(a),), a)], (len(a),),
                         self.dtype, [f(v) for v in a])
        self.add_casts()
        self.add_choice()

    def add_casts(self):
        for to in ALL:
            # What a type has not becomes what its machine makes of it.
            a = [v for v in values_of(self.dtype) if to in REALS or to == BOOL
                 or rounded(to, int(v)) == int(v)]
            # Of an integer that a double has not, either neighbour will do.
            a = [v for v in a if to not in REALS or int(float(v)) == int(v)]
            self.add("Cast", [self.tensor((len(a),), a)], (len(a),), to,
                     [v if to in REALS or to == BOOL else int(v) for v in a],
                     to=to)

    def add_choice(self):
        a = values_of(self.dtype)
        which = [k % 3 > 0 for k in range(len(a))]
        self.add("Where", [self.tensor((len(a),), which, BOOL),
                           self.tensor((len(a),), a), self.tensor((1,), a[-1:])],
                 (len(a),), self.dtype,
                 [v if w else a[-1] for w, v in zip(which, a)])


def near(dtype, p, q):
    """The functions of the C library differ in the last digit."""
    return p == q or dtype in REALS and (
        abs(p - q) <= abs(q) * {FLOAT16: 1e-3, FLOAT: 1e-6}.get(dtype, 1e-14))


def check_type(glen, dtype):
    m = Folded(dtype)
    m.add_all()
    with tempfile.TemporaryDirectory() as folder:
        done = stored.run(glen, folder, model(m.nodes, [], m.outs, m.known))
        if done.returncode:
            print(f"FAILED folded elements of {dtype}: {done.stderr[:2000]}")
            return 0, len(m.wanted)
        good = 0
        for what, name, to, shape, wanted in m.wanted:
            code, got, have = npy.load(os.path.join(folder, f"y.{name}.npy"))
            fine = code == stored.NPY[to] and tuple(got) == shape and \
                all(near(to, p, q) for p, q in zip(have, wanted))
            good += fine
            if not fine:
                print(f"FAILED folded {what}: {code} {list(have)}, not {wanted}")
    return good, len(m.wanted) - good


def check(glen):
    return tuple(map(sum, zip(*(check_type(glen, d) for d in ALL))))
