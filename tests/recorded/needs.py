# SPDX-License-Identifier: MIT
"""What --why-not says that a rule needs: each form of a condition over sizes on
both sides of its numbers, rules that nearly match, and instructions whose tiles
are too large for a memory; and lists of files read whose names a tool has to
escape; each option at each command that takes it; options that contradict each
other; and instructions that see one operand at several places."""
from odd import CALLS, LEFT_OUT, table

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


# ---- options ----

# A value of each kind; by name where one of another form is needed.
VALUES = {"COUNT": "2", "FROM_1": "2", "UP_TO": "1", "SECONDS": "60",
          "BYTES": "2G", "LIST": "a=1", "TEXT": "x"}
NAMED = {"target": "pool", "rules": "messy.rules", "schedule": "tile.sched",
         "sched": "tile.sched", "input": "a=no.npy", "param": "x=2", "widths": "4",
         "tile": "2,4", "jobs": "1", "emit": "loops", "prepack": "b",
         "disable-rule": "b-a", "filter": "b", "require": "nothing"}


def written(name, kind, choices):
    """An option with a value that is not its default, where it has choices."""
    if kind == "FLAG" or (kind == "MAYBE" and not choices):
        return f"--{name}"
    if name in NAMED:
        return f"--{name}={NAMED[name]}"
    return f"--{name}={choices[-1] if choices else VALUES[kind]}"


def of_each():
    for name, _, _, kind, commands, choices, _ in table():
        for command in commands if name not in LEFT_OUT | {"help", "jobs"} else []:
            yield [*command.split(), *CALLS[command].split(),
                   written(name, kind, choices)]
    for command in CALLS:
        if command not in ("completions", "lsp"):
            yield [*command.split(), *CALLS[command].split(), "--json"]
    yield ["import", "--list-operators", "--json"]


# Two options, or one, that do not go together or with a program of some kind.
TOGETHER = """--tune=2 --choose=2|--tune=2 --schedule=tile.sched|--tune=2 --fuse=smart
--tune=2 --dispatch=avx2|--choose=2 --schedule=tile.sched|--choose=2 --fuse=smart
--choose=2 --layout=doc|--choose=2 --tune-rounds=2|--tile=2,4|--tile=2,4 --fuse=max
--tile=2,4 --fuse=post-tile|--tile=0 --fuse=post-tile|--recompute=0.5|--recompute=1
--recompute=3 --fuse=none|--dispatch=|--dispatch=avx2|--dispatch=none
--dispatch=avx2 --target=pool|--dispatch=avx2 --choose=2|--size=n=4|--size=n
--size=n=4 --size=n=5|--dim=n=4|--flame=OUT.svg|--profile --check
--profile --interpret|--profile --flame=OUT.svg --interpret|--profile --size=n=4
--interpret --check|--interpret --cc=cc|--interpret --keep=OUT|--no-native --check
--no-native --interpret|--no-native --tune=2|--rules=none --rules=messy.rules
--rules=none --rules=none|--rules=none --disable-rule=b|--rules=none --strategy=default
--rules=none --emit=glen|--rules=none --emit=html|--rules=none --emit=proof
--json -o -|--json --emit=glen|--json --emit=c|-o - --emit=c,h|-o - --emit=c
-o OUT.h|-o OUT.o|-o OUT.so|-o OUT|-o OUT.glen|-o OUT.loops|-o OUT.cu|-o OUT.cl
-o OUT.cu --emit=c|-o OUT.c --emit=cuda|-o OUT.c --emit=glen|-o OUT.glen --emit=c
-o OUT.html --emit=dot|-o OUT.sched --emit=loops|--regions=whole --emit=proof
--verify --rules=none|--verify=tested --json|--verify --iter-limit=0
--extractor=ilp --extract-time=0|--extractor=tree --emit=proof|--stats --json
--require=a --all|--all --why-not=b-a|--why-not=b-a --why-not=c --json
--why-not=b-a --disable-rule=b-a|--quiet --verbose|--explain --dry-run
--dry-run -o OUT.c|--print=loops --json|--print=fused --fuse=none|--name=f --name=g
--name=f -o OUT.c|--prepack=a --prepack=a|--prepack=a --weights=inputs
--weights=inputs|--keys=2 --all|--max-steps=0|--match-limit=0 --scheduler=simple
--scheduler=backoff --match-limit=0|--target=pool --target=cpu
--param=a=1 --param=a=2|--node-limit=0|--iter-limit=0|--work-limit=0""".replace(
    "\n", "|").split("|")
PROGRAMS = {"i8.glen": 2, "later.loops": 1, "size-a-sum.glen": 1, "x.sched.json": 0}
TAKE_A_PROGRAM = ["compile", "run", "schedule", "saturate", "map", "explain",
                  "simulate", "layout", "tiling"]


def of_together():
    rows = {name: (letter, commands) for name, letter, _, _, commands, _, _ in table()}
    for k, words in enumerate(TOGETHER):
        words = words.split()
        names = [next((n for n, (letter, _) in rows.items() if w[1] == letter), w)
                 if w[1] != "-" else w[2:].partition("=")[0]
                 for w in words if w[0] == "-" and w != "-"]
        able = [c for c in TAKE_A_PROGRAM if all(c in rows[n][1] for n in names)]
        for i, command in enumerate(able):
            path = list(PROGRAMS)[(k + i) % len(PROGRAMS)]
            for program in dict.fromkeys(["i8.glen", path]):
                yield [command, program, *words]


# ---- an operand that is seen at several places ----

SEEN = {
    "square": ("(a ((n) ()) f32)", "(n)", "(compute mul (pair a a))"),
    "turned": ("(a ((n n) ()) f32)", "(n n)",
               "(compute add (pair a (transpose a (list 1 0))))"),
    "rows": ("(a ((n) (k)) f32)", "(n n)", "(compute dotProd (cartProd a a))"),
    "ends": ("(a ((2 n) ()) f32)", "(1 n)", "(compute sub (pair (slice a 0 0 1) "
             "(slice a 0 1 2)))"),
    "thrice": ("(a ((n) ()) f32) (b ((n) ()) f32)", "(n)",
               "(compute add (pair (compute mul (pair a b)) (compute mul (pair a a))))"),
}
SEEN_MACHINES = {f"seen-{name}.target": (
    f'(target seen-{name} (include "cpu.target"))\n(instr seen\n  (operands {operands})\n'
    f"  (result ({result} ()) f32)\n  (semantics {term})\n  (cost (cycles 1))\n"
    '  (emit "seen({result}, {a});"))\n')
    for name, (operands, result, term) in SEEN.items()}
X, Z = "(access x 2)", "(access z 2)"
T = "(transpose {} (list 1 0))"
SEEING = [
    f"(compute mul (pair {X} {X}))", f"(compute mul (pair {X} {Z}))",
    f"(compute mul (pair {X} {T.format(X)}))",
    f"(compute mul (pair (slice {X} 0 0 4) (slice {X} 0 4 8)))",
    f"(compute add (pair {X} {T.format(X)}))", f"(compute add (pair {T.format(X)} {X}))",
    f"(compute add (pair {X} {T.format(Z)}))", f"(compute add (pair {X} {X}))",
    "(compute dotProd (cartProd (access x 1) (access x 1)))",
    "(compute dotProd (cartProd (access x 1) (access z 1)))",
    f"(compute dotProd (cartProd (access x 1) {T.format('(access x 1)')}))",
    "(compute dotProd (cartProd (slice (access x 1) 0 0 4) (slice (access x 1) 0 4 8)))",
    f"(compute sub (pair (slice {X} 0 0 4) (slice {X} 0 4 8)))",
    f"(compute sub (pair (slice {X} 0 4 8) (slice {X} 0 0 4)))",
    f"(compute sub (pair (slice {X} 0 0 4) (slice {Z} 0 4 8)))",
    f"(compute sub (pair (slice {X} 0 3 4) (slice {X} 0 4 5)))",
    f"(compute sub (pair (slice {X} 0 4 5) (slice {X} 0 3 4)))",
    f"(compute sub (pair (slice {X} 0 3 4) (slice {Z} 0 4 5)))",
    f"(compute add (pair (compute mul (pair {X} {Z})) (compute mul (pair {X} {X}))))",
    f"(compute add (pair (compute mul (pair {X} {Z})) (compute mul (pair {Z} {Z}))))",
    f"(compute add (pair (compute mul (pair {X} {Z})) (compute mul (pair {X} "
    f"{T.format(X)}))))",
]
SEEING = {f"seeing-{k}.glen": f"(tensor x (shape 8 8) f32)\n(tensor z (shape 8 8) f32)\n"
          f"(let y {term})\n(output y)\n" for k, term in enumerate(SEEING)}
FILES |= {**SEEN_MACHINES, **SEEING}


def of_seen():
    for target in SEEN_MACHINES:
        for path in SEEING:
            yield ["map", path, "--target", target, "--all", "--rules", "none"]
            yield ["saturate", path, "--target", target, "--verify", "--json"]


GROUPS = {"needs": of_needs, "escapes": of_escapes, "each": of_each,
          "together": of_together, "seen": of_seen}
