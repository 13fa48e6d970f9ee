# SPDX-License-Identifier: MIT
"""Programs of kinds that the other tables leave out: open sizes, sweeps, scans,
deep networks, random nests and large e-graphs.  Each is drawn by a number."""
import os
import re

import odd
import terms

# ---- open sizes ----

SIZED = [("(size n 1 9)\n", "n 4", "2 n 6"), ("(size n 2 12)\n(size m 1 7)\n", "n m", "2 n m"),
         ("(size n 4 40 4)\n", "6 n", "n 5 6"), ("(size n 8 8)\n", "n 4", "2 5 n")]


def sized(y, dtype, k):
    """A term over matrices with sizes, where it names those of 6 by 4."""
    sizes, two, three = SIZED[k % len(SIZED)]
    y = re.sub(r"\b6 4\b", two, y)
    return (f"{sizes}(tensor x (shape {two}) {dtype})\n"
            f"(tensor z (shape {two}) {dtype})\n"
            f"(tensor v (shape {three}) {dtype})\n(let y {y})\n(output y)\n")


def sized_files():
    for k, (name, pair) in enumerate({**terms.TERMS, **terms.FLOATS}.items()):
        dtype = ["f32", "i16", "f64"][k % 3 if name in terms.TERMS else 0]
        for letter, y in zip("ab", pair):
            yield f"size-{letter}-{name}.glen", sized(y, dtype, k // 3)


# ---- loops ----

def read_of(dice, array, names, wide):
    """A read near the place, within borders of two."""
    return f"{array}[" + ", ".join(
        name + dice.one([""] + ([" - 1", " + 1", " + 2"] if wide else []))
        for name in names) + "]"


def sweep(seed):
    """Steps of a stencil: in place, or from one array to another and back, over
    one or two dimensions, some with their borders or with open sizes."""
    dice = Dice(3000 + seed)
    rank, n = 1 + dice.below(2), dice.one(["12", "70", "400", "n"])
    size = "size n: 8 to 90\n" if n == "n" else ""
    names = ["j", "k"][:rank]
    box = ", ".join([n] * rank)
    nests = [("A", "A")] if dice.below(2) else [("A", "B"), ("B", "A")]
    text = f"{size}input C: f32[{box}]\noutput A: f32[{box}]\n"
    text += f"workspace B: f32[{box}]\n" if len(nests) > 1 else ""
    fills = "AB"[:len(nests)]
    for array in fills:
        inner = [f"{array.lower()}{x}" for x in names]
        text += "".join(f"{'  ' * d}for {x} in 0..{n} {{\n"
                        for d, x in enumerate(inner))
        place = ", ".join(inner)
        text += f"I{array}: {array}[{place}] = C[{place}]\n" + "}\n" * rank
    text += f"for t in 0..{dice.one(['3', '17', '40'])} {{\n"
    for i, (source, target) in enumerate(nests):
        inner = [x + "xy"[i] for x in names]
        text += "".join(f"for {x} in 1..{n} - 2 {{\n" for x in inner)
        reads = [read_of(dice, source, inner, True)
                 for _ in range(2 + dice.below(3))]
        text += f"S{i}: {target}[{', '.join(inner)}] = ({' + '.join(reads)}) * " \
            "0.25\n" + "}\n" * rank
        if dice.below(4) == 0 and rank == 1:
            text += f"R{i}: {target}[0] = {source}[1]\n"
    return text + "}\n"


def nest(seed):
    """Two or three nests that read what those before them wrote, with sums,
    shifts, halves and updates."""
    dice = Dice(4000 + seed)
    n, m = dice.one([8, 13, 24, 33]), dice.one([6, 9, 16])
    dtype = dice.one(["f32", "f32", "i32", "f64", "i8"])
    text = f"input A: {dtype}[{n}, {m}]\ninput W: {dtype}[{m}, {m}]\n"
    body, arrays, out = "", ["A"], dice.below(2) + 1
    for k in range(out + 1):
        name = f"{'XYZ'[k]}"
        text += f"{'output' if k == out else 'workspace'} {name}: {dtype}[{n}, {m}]\n"
        i, j, source = f"i{k}", f"j{k}", dice.one(arrays)
        turned = dice.below(3) == 0
        body += f"for {j} in 0..{m} {{\nfor {i} in 0..{n} {{\n" if turned else \
            f"for {i} in 0..{n} {{\nfor {j} in 0..{m} {{\n"
        at = f"{name}[{i}, {j}]"
        body += dice.one([
            f"F{k}: {at} = 0\nfor l{k} in 0..{m} {{\n"
            f"U{k}: {at} += {source}[{i}, l{k}] * W[l{k}, {j}]\n}}\n",
            f"F{k}: {at} = {source}[{i}, {j}]\nfor l{k} in 0..min(3, {m} - {j}) {{\n"
            f"U{k}: {at} max= {source}[{i}, {j} + l{k}]\n}}\n",
            f"S{k}: {at} = {source}[{n - 1} - {i}, {j}] * 2\n",
            f"S{k}: {at} = {source}[{i}, {j} / 2] + {source}[{i}, {j} % 3]\n",
            f"S{k}: {at} = {source}[{i}, {j}] - {dice.one(arrays)}[{i} - 1, {j}] "
            f"where {i} > 0\nT{k}: {at} = clip({source}[0, {j}], -3, 3) where {i} = 0\n",
            f"S{k}: {at} = max({source}[{i}, {j}], W[{j}, {j}])\n"
            f"T{k}: {at} = {name}[{i}, {j}] + {source}[{i}, 0]\n",
            f"S{k}: {at} = select({source}[{i}, {j}], W[0, {j}], {source}[{i}, 0]) "
            f"where {j} % 2 = 0 or {i} < 3\nT{k}: {at} = 1 "
            f"where {j} % 2 = 1 and {i} >= 3\n",
            f"F{k}: {at} = {source}[{i}, {j}]\nfor l{k} in max({j} - 2, 0)..{j} {{\n"
            f"U{k}: {at} {dice.one(['+=', 'min=', '*='])} {source}[{i}, l{k}]\n}}\n",
        ])
        body += "}\n}\n"
        arrays.append(name)
    return text + "\n" + body


def script(seed, text):
    """Commands at random places of a nest: what each is about exists at first."""
    dice = Dice(8000 + seed)
    loops = re.findall(r"for (\w+) in", text)
    statements = re.findall(r"^ *(\w+): ", text, re.M)
    arrays = re.findall(r"(?:input|output|workspace) (\w+):", text)
    commands = [c.strip() for c in re.split(r"[|\n]", odd.COMMANDS)]
    return "".join(odd.filled(dice.one(commands), dice, loops, statements,
                              arrays) + "\n" for _ in range(1 + dice.below(3)))


# ---- scans ----

def scan(seed):
    """A scan of a random step, and what reads its states."""
    dice = Dice(5000 + seed)
    dtype = dice.one(["f32", "f32", "f64", "i32", "i8"])
    steps, m = dice.one([1, 3, 8, 40]), dice.one([1, 4, 8])
    items = ["x0", "x1"][:1 + dice.below(2)]

    def term(depth):
        if not depth:
            return dice.one(["s", "s"] + items)
        a, b = term(depth - 1), dice.one(["s"] + items)
        return dice.one([
            f"(compute {dice.one(['add', 'sub', 'max', 'min', 'mul'])} (pair {a} {b}))",
            f"(reverse {a} 0)", f"(compute (clip -9 9) {a})",
            f"(slice (pad {a} zero 0 1 0) 0 0 {m})",
            f"(slice (concat {a} {b} 0) 0 {m // 2} {m + m // 2})",
            f"(compute dotProd (cartProd (access {a} 0) (access m 1)))"
            if dtype in ("f32", "f64", "i32") else f"(compute relu {a})"])
    body = term(1 + dice.below(3))
    fixed = " m" if "access m" in body else ""
    head = "".join(f"(tensor {x} (shape {steps} {m}) {dtype})\n" for x in items)
    head += f"(tensor w (shape {m} {m}) {dtype})\n" if fixed else ""
    head += f"(tensor s0 (shape {m}) {dtype})\n"
    text = f"{head}(let a (scan s0 {' '.join(items)}{' w' if fixed else ''} (step s " \
        f"(each {' '.join(items)}){' (with m)' if fixed else ''} {body})))\n"
    after = dice.one(["a", f"(squeeze (slice a 0 {steps - 1} {steps}) 0)",
                      "(compute neg (reverse a 0))",
                      "(compute reduceSum (access a 1))"])
    return text + f"(let b {after})\n(output b)\n"


# ---- deep networks, e-graphs ----

def deep(seed):
    """Layers of products with biases, activations and residuals, more than are
    scheduled together."""
    dice = Dice(6000 + seed)
    text = "(tensor x (shape 4 4) f32)\n(tensor b (shape 4) f32)\n" + "".join(
        f"(tensor w{k} (shape 4 4) f32)\n" for k in range(3))
    name, layers = "x", dice.one([60, 90])
    for k in range(layers):
        product = f"(compute dotProd (cartProd (access {name} 1) (access w{k % 3} 1)))"
        biased = f"(compute add (pair {product} (broadcast (insertAxis b 0) (shape 4 4))))"
        text += f"(let y{k} " + dice.one([
            f"(compute relu {biased})", f"(compute add (pair {biased} (access {name} 2)))",
            f"(compute mul (pair (access {name} 2) (compute sigmoid (access {name} 2))))",
            f"(compute softmax (access {biased} 1))",
            f"(concat (slice (access {name} 2) 0 0 2) (slice {biased} 0 1 3) 0)",
            f"(compute tanh (transpose {biased} (list 1 0)))"]) + ")\n"
        name = f"y{k}"
    return text + f"(output {name})\n"


def knot(seed, classes=None, circles=3):
    """An e-graph of which little can be left out: many circles, classes of two or
    three nodes, and children that many share."""
    dice = Dice(7000 + seed)
    classes = classes or 14 + dice.below(16)
    lines, first = [], {}
    nodes = [(c, [dice.below(classes) if dice.below(circles) == 0 else
                  min(c + 1 + dice.below(4), classes - 1)
                  for _ in range(2 if c < classes - 3 else 0)], 1 + dice.below(9))
             for c in range(classes) for _ in range(2 + dice.below(2))]
    for k, (c, _, _) in enumerate(nodes):
        first.setdefault(c, k)
    for k, (c, kids, cost) in enumerate(nodes):
        names = ", ".join(f'"n{first[x]}"' for x in kids if x != c)
        lines.append(f'"n{k}": {{"op": "f", "children": [{names}], '
                     f'"eclass": "c{c}", "cost": {cost}}}')
    return '{"nodes": {\n' + ",\n".join(lines) + '},\n"root_eclasses": ["c0", "c1"]}\n'


Dice = odd.Dice
NESTS = {f"nest-{k}.loops": nest(k) for k in range(40)}
FILES = {**NESTS, **{f"{name[:-6]}-{k}.sched": script(10 * i + k, text)
                     for i, (name, text) in enumerate(NESTS.items())
                     for k in range(8)},
         **dict(sized_files()),
         **{f"sweep-{k}.loops": sweep(k) for k in range(40)},
         **{f"scan-{k}.glen": scan(k) for k in range(40)},
         **{f"deep-{k}.glen": deep(k) for k in range(4)},
         **{f"knot-{k}.json": knot(k) for k in range(30)},
         **{f"large-knot-{k}.json": knot(100 + k, 40 + 4 * k, 7) for k in range(12)}}
REACHED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reached.txt")


# ---- what is asked of them ----

def of_sizes():
    names = [n[7:] for n in FILES if n.startswith("size-a-")]
    for k, name in enumerate(names):
        yield ["check", f"size-a-{name}", f"size-b-{name}", "--json"]
        if k % 3 == 0:
            yield ["compile", f"size-b-{name}", "--emit",
                   ["c,h", "loops,c", "c,manifest"][k // 3 % 3], "-o", "OUT.c"]


def of_nests():
    for k, name in enumerate(NESTS):
        for i in range(2):
            script = f"{name[:-6]}-{(k + i) % 8}.sched"
            yield ["schedule", name, "--sched", script,
                   *[["--explain", "--print", "loops,deps"], ["-o", "OUT.c"]][i]]
        if k % 4 == 0:
            yield ["schedule", name, "--fuse", ["smart", "post-tile", "max"][k // 4 % 3],
                   "--print", "loops,script"]
    for k in range(0, 40, 3):
        yield ["schedule", f"sweep-{k}.loops", "--fuse", ["smart", "max"][k % 2],
               "--print", "loops,script"]


def of_scans():
    for k in range(0, 40, 2):
        yield ["compile", f"scan-{k}.glen", "--emit", ["c,loops", "loops", "c,h"][k % 3],
               "-o", "OUT.c"]
        yield ["run", f"scan-{k + 1}.glen", "--interpret", "--print", "16"]


def of_knots():
    for k in range(0, 30, 2):
        yield ["extract", f"knot-{k}.json", "--extractor", ["exact", "ilp"][k // 2 % 2]]
    for k in range(12):
        yield ["extract", f"large-knot-{k}.json", "--extractor", "exact", "--json"]


def of_reached():
    """Commands that were drawn at random from options, files and targets: each
    ran code that no command before it ran."""
    with open(REACHED, encoding="utf-8") as f:
        yield from (line.split() for line in f)


GROUPS = {"sizes": of_sizes, "nests": of_nests, "scans": of_scans,
          "knots": of_knots, "reached": of_reached}
