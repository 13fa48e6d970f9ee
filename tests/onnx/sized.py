# SPDX-License-Identifier: MIT
"""Models with dimensions that stay open: imported once for all sizes, they give
what the same model gives that was imported for one, by the interpreter and by
the code that takes the sizes."""
import os
import subprocess
import tempfile

import encode
import npy
import texts
from encode import FLOAT, INT64, node, tensor, value

FAR = (1 << 63) - 1


def numbers(n, scale, seed=1):
    return [scale * ((k * 37 + seed * 11) % 23 - 11) for k in range(n)]


class Model:
    """Nodes, and constants by their names."""

    def __init__(self):
        self.nodes, self.known, self.made = [], [], 0

    def weight(self, *shape, scale=0.02):
        n = 1
        for d in shape:
            n *= d
        return self.keep(FLOAT, shape, numbers(n, scale, len(self.known)))

    def ints(self, *values):
        return self.keep(INT64, (len(values),), values)

    def whole(self, v):
        return self.keep(INT64, (), [v])

    def keep(self, dtype, shape, values):
        name = f"c{len(self.known)}"
        self.known.append(tensor(name, dtype, shape, list(values)))
        return name

    def add(self, op, *inputs, to=None, **attributes):
        self.made += 1
        out = to or f"v{self.made}"
        self.nodes.append(node(op, list(inputs), [out], out, **attributes))
        return out

    def size(self, x, d):
        """Dimension d of x, as a list of one."""
        one = self.add("Gather", self.add("Shape", x), self.whole(d))
        return self.add("Unsqueeze", one, self.ints(0))

    def bytes(self, inputs, outputs):
        return encode.model(self.nodes, [value(*i) for i in inputs],
                            [value(*o) for o in outputs], self.known, 18)


def encoder():
    """Words and their places looked up, attention of two heads, a norm."""
    m, wide = Model(), 12
    words, places = m.weight(30, wide, scale=0.1), m.weight(40, wide)
    batch, seq = m.size("ids", 0), m.size("ids", 1)
    last = m.add("Squeeze", seq, m.ints(0))
    order = m.add("Range", m.whole(0), last, m.whole(1))
    x = m.add("Add", m.add("Gather", words, "ids"),
              m.add("Gather", places, order))
    x = m.add("Add", x, m.add("Slice", places, m.ints(0), seq, m.ints(0)))
    heads = m.add("Concat", batch, seq, m.ints(2), m.ints(wide // 2), axis=0)
    parts = []
    for k, perm in enumerate([[0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]]):
        y = m.add("Add", m.add("MatMul", x, m.weight(wide, wide)),
                  m.weight(wide))
        y = m.add("Reshape", y, heads)
        parts.append(m.add("Transpose", y, perm=perm))
    scores = m.add("Softmax", m.add("MatMul", parts[0], parts[1]), axis=-1)
    y = m.add("Transpose", m.add("MatMul", scores, parts[2]),
              perm=[0, 2, 1, 3])
    back = m.add("Concat", batch, m.ints(-1), m.ints(wide), axis=0)
    y = m.add("Add", m.add("Reshape", y, back), x)
    y = m.add("LayerNormalization", y, m.weight(wide), m.weight(wide), axis=-1,
              to="y")
    m.add("Gather", y, m.whole(-1), axis=1, to="last")
    m.add("ReduceMean", y, m.ints(1), keepdims=0, to="mean")
    return m.bytes([("ids", INT64, ("batch", "seq"))],
                   [("y", FLOAT, ("batch", "seq", wide)),
                    ("last", FLOAT, ("batch", wide)),
                    ("mean", FLOAT, ("batch", wide))])


def images():
    """A batch of images: filters of all kinds, pools, a product."""
    m = Model()
    x = m.add("Conv", "x", m.weight(4, 3, 3, 3), m.weight(4), pads=[1] * 4)
    x = m.add("Relu", x)
    x = m.add("Conv", x, m.weight(4, 1, 3, 3), pads=[1] * 4, group=4)
    x = m.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = m.add("Conv", x, m.weight(6, 2, 1, 1), group=2)
    x = m.add("GlobalAveragePool", x)
    x = m.add("Flatten", x)
    m.add("Gemm", x, m.weight(5, 6), m.weight(5), transB=1, to="y")
    return m.bytes([("x", FLOAT, ("n", 3, 8, 8))], [("y", FLOAT, ("n", 5))])


def moves():
    """Slices that count from the end, shapes that are computed."""
    m = Model()
    n = m.size("x", 0)
    less = m.add("Sub", n, m.ints(3))
    x = m.add("Slice", "x", m.ints(1), m.ints(-1), m.ints(0))
    y = m.add("Slice", "x", m.ints(-2), m.ints(FAR), m.ints(0))
    z = m.add("Slice", "x", m.ints(0), less, m.ints(0))
    m.add("Concat", x, y, z, axis=0, to="parts")
    wanted = m.add("Concat", n, m.ints(4), axis=0)
    asks = m.add("Equal", wanted, m.ints(-1, -1))
    ones = m.add("ConstantOfShape", m.ints(2),
                 value=tensor("", INT64, (1,), [1]))
    wanted = m.add("Where", asks, ones, wanted)
    spread = m.add("Expand", m.weight(1, 4), wanted)
    m.add("Mul", spread, "x", to="spread")
    quarter = m.add("Div", n, m.ints(4))
    blocks = m.add("Concat", quarter, m.ints(16), axis=0)
    m.add("Reshape", "x", blocks, to="blocks")
    zeros = m.add("ConstantOfShape", wanted)
    m.add("Add", zeros, m.add("ReduceMax", "x", m.ints(0), keepdims=1),
          to="most")
    return m.bytes([("x", FLOAT, ("n", 4))],
                   [("parts", FLOAT, ("m", 4)), ("spread", FLOAT, ("n", 4)),
                    ("blocks", FLOAT, ("k", 16)), ("most", FLOAT, ("n", 4))])


def functions():
    """Operators that are made of others, and reductions of all kinds."""
    m = Model()
    sums = [m.add(op, "x") for op in
            ("Mish", "Elu", "Selu", "Softplus", "Softsign", "HardSwish",
             "ThresholdedRelu", "Sinh", "Asinh", "Atan", "Shrink", "Celu",
             "Round", "Gelu")]
    sums += [m.add(op, "x", m.ints(0), keepdims=1) for op in
             ("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp",
              "ReduceMin")]
    above = m.add("Xor", m.add("Greater", "x", m.weight(1)),
                  m.add("LessOrEqual", "x", m.weight(4)))
    sums += [m.add("Where", above, "x", m.weight(4))]
    m.add("Sum", *sums, to="y")
    return m.bytes([("x", FLOAT, ("n", 4))], [("y", FLOAT, ("n", 4))])


def stacks():
    """Weights that are packed once for all sizes: a matrix, and a stack of
    matrices below an outer loop."""
    m = Model()
    rows = m.add("Transpose", m.add("Reshape", "x", m.ints(-1, 3, 80)),
                 perm=[1, 0, 2])
    m.add("MatMul", rows, m.weight(3, 80, 17), to="by_rows")
    flat = m.add("Reshape", "x", m.ints(-1, 240))
    m.add("Gemm", flat, m.weight(33, 240), m.weight(33), transB=1, to="dense")
    return m.bytes([("x", FLOAT, ("n", 3, 4, 20))],
                   [("by_rows", FLOAT, (3, "n", 17)),
                    ("dense", FLOAT, ("n", 33))])


# What makes it, how dimensions stay open, sizes, and the shapes of its inputs.
MODELS = [
    (encoder, {"batch": "1..3", "seq": "2..40"},
     [(1, 2), (3, 17), (2, 40)], "ids", lambda b, s: (b, s), "<i8"),
    (images, {"n": "1..6"}, [(1,), (5,)], "x", lambda n: (n, 3, 8, 8), "<f4"),
    (stacks, {"n": "1..50"}, [(1,), (13,), (50,)], "x",
     lambda n: (n, 3, 4, 20), "<f4"),
    (moves, {"n": "8..64:4"}, [(8,), (20,), (64,)], "x", lambda n: (n, 4),
     "<f4"),
    (functions, {"n": "2..64"}, [(7,)], "x", lambda n: (n, 4), "<f4"),
]


def one_of(op, *inputs, dtype=FLOAT, shape=("n", 8), **attributes):
    m = Model()
    known = [i(m) if callable(i) else i for i in inputs]
    m.add(op, *known, to="y", **attributes)
    return m.bytes([("x", dtype, shape)], [("y", FLOAT, None)])


def as_element():
    m = Model()
    m.add("Mul", m.size("x", 0), "x", to="y")
    return m.bytes([("x", INT64, ("n", 8))], [("y", INT64, ("n", 8))])


def beyond():
    m = Model()
    m.add("Add", "x", m.ints(1 << 60), to="y")
    return m.bytes([("x", INT64, ("n",))], [("y", INT64, ("n",))])


def made():
    """An integer that is computed, as large as what stands for a size."""
    m = Model()
    h = m.add("Neg", m.ints(-(1 << 60) - 10))
    m.add("Expand", m.weight(1, 4), m.add("Concat", h, m.ints(4), axis=0),
          to="y")
    m.add("Relu", "x", to="z")
    return m.bytes([("x", FLOAT, ("n", 4))],
                   [("y", FLOAT, ("k", 4)), ("z", FLOAT, ("n", 4))])


def cast():
    m = Model()
    far = m.keep(encode.DOUBLE, (1,), [float((1 << 60) + 4096)])
    m.nodes.append(node("Cast", [far], ["h"], "h", to=INT64))
    m.add("Expand", m.weight(1), "h", to="y")
    m.add("Relu", "x", to="z")
    return m.bytes([("x", FLOAT, ("n",))],
                   [("y", FLOAT, ("k",)), ("z", FLOAT, ("n",))])


def five():
    """A product of more sizes than is told."""
    m = Model()
    all_five = m.add("Size", "x")
    least = m.add("Unsqueeze", m.add("Min", all_five, m.whole(5)), m.ints(0))
    m.add("Slice", m.weight(8), m.ints(0), least, to="y")
    return m.bytes([("x", FLOAT, tuple("abcde"))], [("y", FLOAT, None)])


def many():
    m = Model()
    shape = tuple(f"d{k}" for k in range(17))
    m.add("Relu", "x", to="y")
    return m.bytes([("x", FLOAT, shape)], [("y", FLOAT, shape)])


def cut(m):
    return m.ints(5)


# A model, what --dim says, and what is said of it.
FAULTS = [
    (lambda: one_of("Relu", "x"), ["n=5..2"],
     "n=5..2 is not a dimension with its size"),
    (lambda: one_of("Relu", "x"), ["n=3..4:8"], "is not a dimension with its size"),
    (lambda: one_of("Relu", "x"), ["n=1.."], "is not a dimension with its size"),
    (lambda: one_of("Relu", "x"), ["n=1..8:"], "is not a dimension with its size"),
    (lambda: one_of("Relu", "x"), ["n=0..8"], "is not a dimension with its size"),
    (lambda: one_of("Relu", "x"), [],
     "--dim n=1, or --dim n=1..512 for code that takes any of these"),
    (lambda: one_of("Relu", "x"), ["n=1..2", "n=3"], "dimension n is given twice"),
    (lambda: one_of("Hardmax", "x"), ["n=1..9"],
     "it is not supported where a dimension is open"),
    (lambda: one_of("Slice", "x", lambda m: m.ints(0), cut,
                    lambda m: m.ints(0)), ["n=1..9"],
     "whether the bound 5 lies within a dimension of n cannot be told"),
    (lambda: one_of("Slice", "x", lambda m: m.ints(0), cut,
                    lambda m: m.ints(0)), ["n=5..9"], None),
    (lambda: one_of("Slice", "x", lambda m: m.ints(3), lambda m: m.ints(-3),
                    lambda m: m.ints(0)), ["n=5..9"],
     "its result has no elements at some sizes"),
    (lambda: one_of("Slice", "x", lambda m: m.ints(0), lambda m: m.ints(FAR),
                    lambda m: m.ints(0), lambda m: m.ints(2)), ["n=5..9"],
     "steps over a dimension that is open are not supported"),
    (lambda: one_of("Reshape", "x", lambda m: m.ints(5, -1)), ["n=5..9"],
     "its shape does not hold 8*n elements"),
    (lambda: one_of("Reshape", "x", lambda m: m.ints(4, -1)), ["n=5..9"], None),
    (lambda: one_of("Split", "x", axis=0, num_outputs=1), ["n=5..9"],
     "its axis has a size that is open"),
    (lambda: one_of("Gather", "x", lambda m: m.ints(7)), ["n=5..9"],
     "an index is out of range"),
    (lambda: one_of("Gather", "x", lambda m: m.ints(-5)), ["n=5..9"], None),
    (lambda: one_of("Conv", "x", lambda m: m.weight(1, 1, 3),
                    shape=(1, 1, "n")), ["n=5..9"],
     "the size of its image is open"),
    (lambda: one_of("MatMul", "x", lambda m: m.weight(8, 2)), ["n=5..9"], None),
    (lambda: one_of("MatMul", lambda m: m.weight(2, 8), "x"), ["n=8..9"],
     "rows of 8 elements do not match columns of n"),
    (lambda: one_of("Add", "x", lambda m: m.weight(9, 8)), ["n=5..9"],
     "shapes that do not fit: sizes"),
    (as_element, ["n=5..9"], "a size that is open is used as an element"),
    (beyond, ["n=5..9"], "an integer is too large where dimensions are open"),
    (made, ["n=5..9"], "an integer is too large where dimensions are open"),
    (cast, ["n=5..9"], "an integer is too large where dimensions are open"),
    (five, [f"{k}=1..4" for k in "abcde"],
     "what it computes of sizes is too large"),
    (lambda: one_of("Squeeze", "x"), ["n=1..9"],
     "whether dimension 0, of n, has size 1 cannot be told"),
    (lambda: one_of("Squeeze", "x"), ["n=2..9"], None),
    (many, [f"d{k}=2..3" for k in range(17)], "more than 16 dimensions"),
]


def call(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          timeout=300)


def must(command, folder):
    done = call(command, folder)
    if done.returncode:
        raise RuntimeError(f"{command}: exit code {done.returncode}: "
                           f"{done.stderr[-3000:]}")


def dims(given):
    return [w for name, size in given.items()
            for w in ("--dim", f"{name}={size}")]


def outputs_of(folder, stem):
    return {f[len(stem):]: npy.load(os.path.join(folder, f))
            for f in os.listdir(folder)
            if f.startswith(stem) and f.endswith(".npy")}


def differ(have, wanted, exactly):
    if not wanted or sorted(have) != sorted(wanted):
        return f"the outputs are {sorted(have)}, not {sorted(wanted)}"
    for name, (code, shape, elements) in wanted.items():
        if have[name][:2] != (code, shape):
            return f"{name} is {have[name][:2]}, not {(code, shape)}"
        top = max(abs(v) for v in elements)
        for k, (p, q) in enumerate(zip(have[name][2], elements)):
            if not (p == q if exactly else abs(p - q) <= 2e-5 * max(top, 1)):
                return f"{name}: element {k} is {p}, not {q}"
    return None


def fault_at(glen, folder, symbols, sizes, source, shape, code):
    dim = dict(zip(symbols, sizes))
    n = 1
    for d in shape:
        n *= d
    elements = ([(k * 7) % 30 for k in range(n)] if code == "<i8" else
                numbers(n, 0.125))
    npy.save(os.path.join(folder, "in.npy"), code, shape, elements)
    given = ["--input", f"{source}=in.npy"]
    size = [w for s, v in dim.items() for w in ("--size", f"{s}={v}")]
    must([glen, "import", "m.onnx", "-o", "one.glen"] + dims(dim), folder)
    must([glen, "run", "one.glen", "--interpret", "--output", "one.npy"] +
         given, folder)
    must([glen, "run", "open.glen", "--interpret", "--output", "said.npy"] +
         given + size, folder)
    must([glen, "run", "open.glen", "--output", "code.npy"] + given + size,
         folder)
    wanted = outputs_of(folder, "one.")
    return (differ(outputs_of(folder, "said."), wanted, True) or
            differ(outputs_of(folder, "code."), wanted, False))


def check(glen):
    passed = failed = 0
    for make, symbols, all_sizes, source, shape, code in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "m.onnx"), "wb") as f:
                f.write(make())
            must([glen, "import", "m.onnx", "-o", "open.glen"] + dims(symbols),
                 folder)
            for sizes in all_sizes:
                fault = fault_at(glen, folder, symbols, sizes, source,
                                 shape(*sizes), code)
                passed += not fault
                failed += bool(fault)
                if fault:
                    print(f"FAILED {make.__name__} at {sizes}: {fault}")
    for number, (make, given, words) in enumerate(FAULTS):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "m.onnx"), "wb") as f:
                f.write(make())
            done = call([glen, "import", "m.onnx"] +
                        [w for g in given for w in ("--dim", g)], folder)
        said = texts.incomplete(done.stderr) or done.stderr
        fine = (words in said and done.returncode == 1 if words
                else not done.returncode)
        passed += fine
        failed += not fine
        if not fine:
            print(f"FAILED fault {number}: not `{words}` but "
                  f"{done.returncode}: {said}")
    return passed, failed


if __name__ == "__main__":
    import sys
    print("%d passed, %d failed" % check(os.path.abspath(sys.argv[1])))
