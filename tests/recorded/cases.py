# SPDX-License-Identifier: MIT
"""The commands whose outputs are recorded: products of tables, thinned so that
each value of a table stands beside several of the others."""
import glob
import os
import re

import kinds
import needs
import odd
import terms
import words

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def paths(*patterns):
    return [os.path.relpath(p, ROOT) for pattern in patterns
            for p in sorted(glob.glob(os.path.join(ROOT, pattern)))]


def product_of(dtype, wide):
    return (f"(tensor a (shape 4 8) {dtype})\n(tensor b (shape 8 6) {dtype})\n"
            f"(let c (compute dotProd (cartProd\n"
            f"  (compute (cast {wide}) (access a 1))\n"
            f"  (compute (cast {wide}) (access (transpose b (list 1 0)) 1)))))\n"
            f"(let d (compute relu c))\n(output d)\n")


# Small programs, each with other kinds of terms.
PROGRAMS = {
    "views.glen": """(tensor x (shape 6 5) f32)
(let p (pad (access x 0) zero 0 1 2))
(let s (slice p 0 1 7))
(let c (concat s (slice (pad s edge 1 1 1) 1 0 5) 1))
(let t (transpose c (list 1 0)))
(let r (reshape (access t 2) (shape 4 15) (shape)))
(let y (compute reduceSum (access r 1)))
(output y)
(output t)
""",
    "windows.glen": """(tensor x (shape 2 9 8) f32)
(tensor w (shape 3 2 3 2) f32)
(let v (windows (access x 0) (shape 2 3 2) (stride 1 2 2)))
(let y (compute dotProd (cartProd (access w 1) (squeeze v 0))))
(let m (compute reduceMax (windows (access x 1) (shape 2 2) (stride 2 2))))
(output y)
(output m)
""",
    "shared.glen": """(tensor x (shape 8 4) f32)
(tensor y (shape 8 4) f32)
(let d (compute sub (pair (access x 2) (access y 2))))
(let q (compute mul (pair (access d 2) (access d 2))))
(let m (materialize q))
(let s (compute reduceSum (access m 1)))
(let e (compute exp (compute neg (compute neg (access m 2)))))
(output s)
(output e)
""",
    "soft.glen": """(tensor x (shape 3 7) f32)
(let s (compute softmax (access x 1)))
(let t (compute tanh (compute neg (access s 2))))
(let u (compute max (pair (access t 2) (access x 2))))
(output u)
""",
    "i8.glen": product_of("i8", "i32"), "f64.glen": product_of("f64", "f64"),
    "u8.glen": product_of("u8", "i32"), "f16.glen": product_of("f16", "f32"),
    "chain.glen": """(tensor x (shape 8 8) f32)
(tensor v (shape 8 8) f32)
(tensor w (shape 8 8) f32)
(let a (compute relu (compute dotProd (cartProd (access x 1) (access v 1)))))
(let b (compute relu (compute dotProd (cartProd (access a 1) (access w 1)))))
(output b)
""",
}
SCRIPTS = {
    "tile.sched": "i, j = split i0 [-1, 4]\nk, l = split i1 [-1, 2]\n"
                  "reorder [i, k, j, l]\n",
    "order.sched": "reorder [i1, i0]\nparallel i1\nunroll i0\n",
    "wrong.sched": "i, j = split nowhere [-1, 4]\n",
}
MESSY = """(rule   b-a "twice"   (compute neg
 (compute neg ?a)) => ?a   ; behind

   :where (and (= (rank ?a) 1) (= (dtype ?a)   f32)))
; a comment


(test t (program (tensor x (shape 4) f32) (let y (compute neg (compute neg x)))
(output y)) (finds x))
"""
# The same again, another way, and what is not the same.
PAIR = "(tensor x (shape 6 4) {t})\n(tensor z (shape 6 4) {t})\n" \
    "(let y {y})\n(output y)\n"
OTHERS = {
    "twice": "(compute neg (compute neg (access x 2)))",
    "once": "(transpose (transpose (access x 2) (list 1 0)) (list 1 0))",
    "sum": "(compute add (pair (access x 2) (access z 2)))",
    "mus": "(compute add (pair (access z 2) (access x 2)))",
    "less": "(compute sub (pair (access z 2) (access x 2)))",
    "of-sum": "(compute reduceSum (compute add (pair (access x 1) "
              "(access z 1))))",
    "sum-of": "(compute add (pair (compute reduceSum (access x 1)) "
              "(compute reduceSum (access z 1))))",
}
PAIRS = {f"{name}-{t}.glen": PAIR.format(t=t, y=y)
         for name, y in OTHERS.items() for t in ("f32", "i8", "u16")}
GRAPH = """{"nodes": {
  "a": {"op": "f", "children": ["b", "c"], "eclass": "1", "cost": 1},
  "d": {"op": "g", "children": ["c"], "eclass": "1", "cost": 4.5},
  "b": {"op": "h", "children": ["c", "c"], "eclass": "2", "cost": 2},
  "c": {"op": "x", "children": [], "eclass": "3", "cost": 3}},
 "root_eclasses": ["1"]}
"""
FILES_TO_ESCAPE = {"a & b.glen": PROGRAMS["soft.glen"],
                   "\"<b>'.glen": PROGRAMS["chain.glen"]}
OWN_FILES = {**PROGRAMS, **PAIRS, **SCRIPTS, "messy.rules": MESSY,
             "graph.json": GRAPH}
FILES = {**OWN_FILES, **FILES_TO_ESCAPE, **terms.FILES, **odd.FILES,
         **kinds.FILES, **words.files(OWN_FILES), **needs.FILES}
OWN = sorted(PROGRAMS)
EXAMPLES = paths("examples/*.glen")
# Of a large e-graph the first part says as much.
BOUND = ["--node-limit", "2000"]
TARGETS = ["systolic16", "systolic", "pool", "gemmini", "act-qkv", "x86-vnni",
           "arm-sve", "power-mma", "x86-amx", "cpu"]
PROGRAM_FORMS = "glen,egraph-json,dot,html"
LOOP_FORMS = "loops,sched,tree,implgraph,implgraph-json,manifest"
SATURATIONS = [["--extractor", "tree"], ["--extractor", "exact"],
               ["--extractor", "ilp"], ["--scheduler", "backoff"],
               ["--strategy", "everything", "--node-limit", "300"],
               ["--iter-limit", "2"], ["--match-limit", "3"],
               ["--work-limit", "500"], ["--regions", "layers"],
               ["--regions", "whole"], ["--disable-rule", "algebra"],
               ["--verify=tested"], ["--require-saturation"]]
PAGES = [[], ["--strategy", "everything"], ["--regions", "layers"],
         ["--extractor", "tree"], ["--verify=tested"], ["--iter-limit", "3"],
         ["--rules", "none"], ["--disable-rule", "algebra"]]
LOWERINGS = [["--fuse", "none"], ["--fuse", "min"], ["--fuse", "smart"],
             ["--fuse", "max"], ["--fuse", "post-tile"], ["--choose", "4"],
             ["--fuse", "post-tile", "--tile", "4,8"], ["--layout", "doc"],
             ["--layout", "autokernel"], ["--layout", "lines"],
             ["--strict-fp"], ["--sched", "tile.sched"],
             ["--sched", "order.sched"], ["--sched", "wrong.sched"]]
# Those of scripts and searches; what is slow stands beside few of them.
PRINTS = ["loops,script", "tree,program", "loops,axes", "script,deps",
          "loops,results"]
NAMES = ["access-of-transpose", "access-of-pair", "transpose-of-cart",
         "flatten-trivial", "elementwise-of-concat", "no-such-rule",
         "squeeze-of-reshape"]


# ---- texts that are damaged ----

# By how a name ends, what reads such a file; X stands for it.
READERS = {
    ".glen": "saturate X --rules none", ".rules": "rules check X --verbose",
    ".target": "target X", ".loops": "schedule X --print loops",
    ".sched": "schedule examples/matmul.glen --sched X --explain --dry-run",
    ".json": "extract X --json",
}
DAMAGES = 20
TOKEN = re.compile(r'"[^"\n]*"|[\w.?-]+|\s+|.')
BEYOND = ["0", "-1", "1", "7", "99999999999", "0.5", "f32", "x", "(", ")", "[",
          "]", "\"", ";", ":where", "()"]


def damaged(text, seed):
    """A text with one of its words missing, doubled, moved or another."""
    words = TOKEN.findall(text)
    solid = [k for k, w in enumerate(words) if not w.isspace()]
    state = seed * 2654435761 + len(text)

    def below(n):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return (state >> 33) % n
    k, other = solid[below(len(solid))], solid[below(len(solid))]
    numbers = [n for n in solid if words[n].isdigit()]
    how = below(7 if numbers else 4)
    if how == 0:
        words[k] = ""
    elif how == 1:
        words[k] += " " + words[k]
    elif how == 2:
        words[k], words[other] = words[other], words[k]
    elif how == 3:
        words[k] = BEYOND[below(len(BEYOND))]
    elif how == 4:
        del words[k:]
    else:
        k = numbers[below(len(numbers))]
        words[k] = str(max(int(words[k]) + [1, -1][how - 5], 0))
    return "".join(words)


def altered(text, seed):
    """A proof with a number, a name or a line that is another one of its own:
    what can be read, and is mostly wrong."""
    state = seed * 2654435761 + len(text)

    def below(n):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return (state >> 33) % n
    lines = text.split("\n")
    if seed % 4 == 0:
        k, other = below(len(lines)), below(len(lines))
        lines[k], lines[other] = lines[other], lines[k]
        return "\n".join(lines)
    words = re.findall(r"\s+|[()]|[^\s()]+", text)
    kinds = {}
    for k, w in enumerate(words):
        kind = ("number" if re.fullmatch(r"-?\d+", w) else "term"
                if re.fullmatch(r"t\d+", w) else "name" if w[0].isalpha() or
                w[0] == "?" else "")
        kinds.setdefault(kind, []).append(k)
    kinds.pop("", None)
    kind = sorted(kinds)[below(len(kinds))]
    k = kinds[kind][below(len(kinds[kind]))]
    if kind == "number" and seed % 2:
        words[k] = str(int(words[k]) + [1, -1][below(2)])
    else:
        words[k] = words[kinds[kind][below(len(kinds[kind]))]]
    return "".join(words)


def damages():
    """(name, text) of each; what is damaged comes from all kinds of files."""
    for path in paths("examples/schedules/*.loops", "examples/schedules/*.sched",
                      "targets/*.target", "rules/[a-f]*.rules",
                      "tests/rules/[c-m]*.rules"):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            yield path, f.read()
    yield from OWN_FILES.items()


DAMAGED = {f"damaged-{k}-{os.path.basename(name)}": damaged(text, k)
           for name, text in damages() if len(text) < 20000
           for k in range(DAMAGES if "-" not in name else 3)}


def of_damaged_texts():
    for name in DAMAGED:
        how = READERS[os.path.splitext(name)[1]]
        yield [name if w == "X" else w for w in how.split()]


# ---- what is asked of sound ones ----

def turn(table, k, many=1):
    return [table[(k + i) % len(table)] for i in range(many)]


def of_saturation():
    for k, path in enumerate(EXAMPLES + OWN):
        yield ["saturate", path, "--json", "--stats"]
        yield ["saturate", path, "--emit", PROGRAM_FORMS.split(",")[k % 4],
               *BOUND]
        for t in turn(TARGETS, k, 2):
            yield ["saturate", path, "--target", t, *BOUND]
            yield ["map", path, "--target", t, "--all", "--json", *BOUND]
        yield ["explain", path, "--target", *turn(TARGETS, k), "--json",
               *BOUND]
        yield ["map", path, "--target", *turn(TARGETS, k + 1), "--why-not",
               *turn(NAMES, k), *BOUND]
    for k, path in enumerate(OWN):
        for way in turn(SATURATIONS, 4 * k, 7):
            yield ["saturate", path, "--stats", "--json", *way]


def of_reports():
    """The page for a browser with all of its data, each program under some of
    the options that give it other parts; of a file whose name it has to escape,
    too."""
    for k, path in enumerate([*EXAMPLES, *OWN, *FILES_TO_ESCAPE]):
        for i, way in enumerate(turn(PAGES, 2 * k, 2)):
            yield ["saturate", path, "--emit", "html", "--target",
                   *turn(TARGETS, k + i), *BOUND, *way]
        yield ["compile", path, "--emit", "egraph-json,dot,html", "-o", "OUT.x",
               *BOUND]


def of_loops():
    for k, path in enumerate(EXAMPLES + OWN):
        yield ["compile", path, "--emit", LOOP_FORMS, "-o", "OUT.c"]
        yield ["compile", path, "--target", *turn(TARGETS, k), *BOUND,
               "--emit", "c,h,manifest", "-o", "OUT.c"]
    for k, path in enumerate(OWN):
        for i, way in enumerate(turn(LOWERINGS, 5 * k, 7)):
            yield ["schedule", path, "--explain", "--print",
                   *turn(PRINTS, i + k), *way]
        yield ["compile", path, "--emit", "cuda", "-o", "OUT.cu"]
        yield ["layout", path, "--layout-cost",
               *turn(["doc", "autokernel", "lines"], k)]
        yield ["layout", path, "--json", "--keep-order", "--widths", "2,4"]
        yield ["run", path, "--interpret", "--print", "9", "--seed", str(k)]
        yield ["simulate", path, "--target", *turn(TARGETS, k), "--trace",
               *BOUND]
    for path in paths("examples/schedules/*.loops"):
        yield ["schedule", path, "--print", "loops,program,tree,axes,deps,script,results"]
        yield ["schedule", path, "--print", "fused", "--fuse", "smart"]


def of_open():
    """Code for all sizes: of products, windows and nests, on several machines."""
    for path in paths("tests/sizes/*.glen", "tests/sizes/*.loops"):
        for more in ([], ["--target", "targets/x86-amx.target"],
                     ["--target", "targets/arm-sve.target"]):
            yield ["compile", path, "--keys", "0", *more, "--emit", "c,h",
                   "-o", "OUT.c"]


def of_pairs():
    for k, path in enumerate(OWN):
        yield ["check", path, path, "--json"]
        yield ["check", path, *turn(OWN, k + 1)]
    for t in ("f32", "i8", "u16"):
        for k, name in enumerate(OTHERS):
            for other in turn(list(OTHERS), k + 1, 2):
                a, b = f"{name}-{t}.glen", f"{other}-{t}.glen"
                yield ["check", a, b, "--json", "--seed", str(k)]
                yield ["explain", a, b, *BOUND]


def of_rules():
    for path in paths("rules/*.rules"):
        yield ["rules", "check", path, "--verbose", "--json"]
        yield ["fmt", "-", "<", path]
    for path in paths("tests/fail/rules/*.rules", "tests/fail/*.rules"):
        yield ["rules", "check", path, "--verbose"]
    for path in paths("rules/[c-p]*.rules")[::3]:
        yield ["rules", "test", path, "--verbose"]
    yield ["fmt", "-", "<", "messy.rules"]
    yield ["rules", "check", "messy.rules", "--verbose"]
    yield ["rules", "check", "--list"]


def of_proofs():
    """CHECKED: a proof as it is, or damaged, and what glen-check-proof says."""
    small = [*OWN, "examples/matmul.glen", "examples/conv1x1.glen",
             "examples/mlp.glen", "examples/conv1d.glen"]
    for k, path in enumerate(small):
        for i, t in enumerate(turn(TARGETS, k, 2)):
            for n in range(12):
                yield ["CHECKED", str(n and n + 12 * i), path, "--rules",
                       "rules", "--target", f"targets/{t}.target"]


def of_verdicts():
    """Each rule by itself: what was looked at, and what was found."""
    for path in paths("rules/[mpst]*.rules", "tests/prove/hidden.rules",
                      "tests/prove/planted.rules",
                      "tests/unit/prove/near-sizes.rules"):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            names = re.findall(r"^\(rule\s+(\S+)", f.read(), re.M)
        for k, name in enumerate(names[::5]):
            yield ["rules", "prove", path, "--filter", name, "-j", "1",
                   "--verbose", "--shapes", str(3 + k % 3),
                   *(["--json"] if k % 3 == 0 else [])]


def of_machines():
    for path in paths("targets/*.target"):
        yield ["target", path]
        yield ["target", path, "--json"]
        yield ["fmt", "-", "<", path]
    for path in EXAMPLES[::3]:
        yield ["fmt", "--expand", path]


def of_shells():
    for shell in ("bash", "zsh", "fish"):
        yield ["completions", shell]
    yield ["schedule", "--list"]


GROUPS = {"saturation": of_saturation, "reports": of_reports,
          "loops": of_loops, "open": of_open, "pairs": of_pairs, "rules": of_rules,
          "machines": of_machines, "shells": of_shells, "damage": of_damaged_texts, "terms": terms.of_terms,
          "proofs": of_proofs, "verdicts": of_verdicts, **odd.GROUPS,
          **kinds.GROUPS, **words.GROUPS, **needs.GROUPS}


def cases(groups):
    for group in groups or GROUPS:
        yield from GROUPS[group]()
