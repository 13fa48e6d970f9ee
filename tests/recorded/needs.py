# SPDX-License-Identifier: MIT
"""What --why-not says that a rule needs: each form of a condition over sizes on
both sides of its numbers, rules that nearly match, and instructions whose tiles
are too large for a memory; and lists of files read whose names a tool has to
escape."""

# ---- conditions ----

ROWS, COLUMNS = "(dim ?a 0)", "(dim ?a 1)"
# By a name the condition of a rule on a matrix; hints are given for most.
CONDITIONS = {
    "modulo": f"(= (mod {ROWS} 16) 0)", "turned": f"(= 0 (mod {ROWS} 16))",
    "modulo-one": f"(= (mod {ROWS} 16) 1)", "divides": f"(divides 16 {ROWS})",
    "most": f"(<= {ROWS} 16)", "most-turned": f"(>= 16 {ROWS})",
    "below": f"(< {ROWS} 16)", "below-turned": f"(> 16 {ROWS})",
    "least": f"(>= {ROWS} 64)", "least-turned": f"(<= 64 {ROWS})",
    "above": f"(> {ROWS} 64)", "above-turned": f"(< 64 {ROWS})",
    "exact": f"(= {ROWS} 16)", "exact-turned": f"(= 16 {ROWS})",
    "equal": f"(= {ROWS} {COLUMNS})", "other": f"(!= {ROWS} {ROWS})",
    "rank": "(= (rank ?a) 3)", "dtype": "(= (dtype ?a) i8)",
    "product": f"(<= (* {ROWS} {COLUMNS}) 64)",
    "sum": f"(< (+ {ROWS} {COLUMNS}) 20)",
    "named": f"(and (= ?n {ROWS}) (<= (* ?n 4) 64))",
    "two-named": f"(and (= ?n {ROWS}) (= ?m {COLUMNS}) (<= (* ?n (+ ?m 3)) 99))",
    "named-modulo": f"(and (= ?n {ROWS}) (= (mod ?n 12) 0))",
    "half": f"(and (= ?n (/ {ROWS} 2)) (<= ?n 7))",
    "quotient": f"(<= (/ 60 (- {ROWS} 8)) 3)",
    "either": f"(or (= {ROWS} 16) (= {COLUMNS} 16))",
    "neither": f"(not (or (= {ROWS} 30) (>= {COLUMNS} 4)))",
    "both": f"(and (>= {ROWS} 8) (= (mod {COLUMNS} 8) 0))",
    "zero": "(is-zero ?a)", "list": f"(= (shape ?a) (list 16 16))",
    "length": "(= (len (shape ?a)) 3)",
}
SIZES = [8, 16, 17, 30, 64, 256]
RULES = "".join(f"(rule {name} (compute relu ?a) => (compute max (pair ?a ?a))"
                f" :where {condition})\n"
                for name, condition in CONDITIONS.items())
# Patterns that match a part of (compute relu (compute add (pair x y))), or all.
PATTERNS = {
    "whole": "(compute relu (compute add (pair ?a ?b)))",
    "turned-kids": "(compute relu (compute add (pair ?b (compute neg ?a))))",
    "other-op": "(compute relu (compute mul (pair ?a ?b)))",
    "other-top": "(compute abs (compute add (pair ?a ?b)))",
    "twice": "(compute relu (compute add (pair ?a ?a)))",
    "deeper": "(compute relu (compute add (pair (compute relu ?a) ?b)))",
    "view": "(compute relu (transpose ?a ?p))",
    "attr": "(compute (clip 0 ?n) (compute add (pair ?a ?b)))",
    "attr-one": "(compute (clip 0 6) ?a)", "scale": "(compute (scale ?s) ?a)",
    "with": "(compute relu ?a) => ?a :with (?a (compute mul (pair ?b ?c)))",
    "with-add": "(compute relu ?a) => ?a :with (?a (compute add (pair ?b ?c)))"
                " :where (= (dim ?b 0) 7)",
    "for": "(compute relu ?a) => ?a :for (?d (axes ?a)) :where (= (dim ?a ?d) 5)",
}
NEARLY = "".join(f"(rule {name} {p if '=>' in p else p + ' => ?a'})\n"
                 for name, p in PATTERNS.items())
SUM = """(tensor x (shape 30 4) f32)
(tensor y (shape 30 4) f32)
(let z (compute relu (compute add (pair x y))))
(output z)
"""


# ---- memories ----

def machine(name, memories, of, to):
    """A product of tiles whose sizes are bounded by conditions, and by what the
    memories have room for that operands and results are in."""
    return f"""(target {name} (host (flops-per-cycle 0.5) (scalar-ops-per-cycle 0.5))
  {memories})
(instr tile
  (operands (a ((m) (k)) f32 {of}) (b ((n) (k)) f32 {of}))
  (result ((m n) ()) f32 {to})
  (semantics (compute dotProd (cartProd a b)))
  (where (and (<= m 16) (= (mod n 4) 0) (<= (* m n) 128)))
  (cost (cycles 1)) (emit "tile({{m}}, {{n}}, {{k}}, {{a}}, {{b}}, {{result}});"))
"""


MOVES = """(instr ld (operands (a ((r) (c)) f32)) (result ((r) (c)) f32 (in pad))
  (semantics a) (cost (cycles 2)) (emit "ld({r}, {c}, {a}, {result.address});"))
(instr st (operands (a ((r c) ()) f32 (in sums))) (result ((r c) ()) f32)
  (semantics a) (cost (cycles 2)) (emit "st({r}, {c}, {a.address}, {result});"))
"""
MACHINES = {
    "near-host.target": machine("near-host", "", "", ""),
    "near-pad.target": machine(
        "near-pad", "(memory pad (bytes 512) (row 4) (banks 2)) "
        "(memory sums (bytes 300))", "(in pad)", "(in sums)").replace(
            "{a}, {b}, {result}", "{a.address}, {b.address}, {result.address}")
    + MOVES}
PRODUCTS = [(8, 8, 4), (16, 8, 4), (17, 8, 4), (16, 6, 4), (16, 12, 4), (8, 8, 30),
            (3, 5, 7), (64, 64, 64)]


def product(m, n, k):
    return (f"(tensor a (shape {m} {k}) f32)\n(tensor b (shape {n} {k}) f32)\n"
            "(let c (compute dotProd (cartProd (access a 1) (access b 1))))\n"
            "(output c)\n")


# ---- names that a tool has to escape ----

NAMES = [f"e{c}e.glen" for c in " $#:%*?[]{}~&'\"|<>`^;=!,@+-\t\n()\\"] + [
    "e\\ e.glen", "e\\#e.glen", "e\\\\ e.glen", "e\\:e.glen", "\\e.glen",
    " e.glen", "$e.glen", "%e%.glen", "e$$.glen", "e \\$e.glen"]
SMALL = """(tensor x (shape 8) f32)
(let y (compute relu x))
(output y)
"""
FILES = {**{f"need-{n}.glen": SUM.replace("30", str(n)) for n in SIZES},
         "needs.rules": RULES, "nearly.rules": NEARLY, "nearly.glen": SUM,
         **MACHINES, **{f"product-{m}-{n}-{k}.glen": product(m, n, k)
                        for m, n, k in PRODUCTS},
         **{name: SMALL for name in NAMES}}


def of_needs():
    for k, name in enumerate(CONDITIONS):
        for i, n in enumerate(SIZES):
            yield ["map", f"need-{n}.glen", "--rules", "needs.rules", "--why-not",
                   name, *(["--json"] if (i + k) % 3 == 0 else [])]
    for name in PATTERNS:
        for how in ([], ["--json"]):
            yield ["map", "nearly.glen", "--rules", "nearly.rules", "--why-not",
                   name, *how]
        yield ["explain", "nearly.glen", "--rules", "nearly.rules", "--why-not",
               name]
    for target in MACHINES:
        for m, n, k in PRODUCTS:
            path = f"product-{m}-{n}-{k}.glen"
            yield ["map", path, "--target", target, "--why-not", "tile"]
            yield ["map", path, "--target", target, "--all", "--json",
                   "--node-limit", "900"]


def of_escapes():
    for name in NAMES:
        for form in ("make", "ninja"):
            yield ["compile", name, "-o", "OUT.c", "--depfile", "OUT.d",
                   "--depfile-format", form]


GROUPS = {"needs": of_needs, "escapes": of_escapes}
