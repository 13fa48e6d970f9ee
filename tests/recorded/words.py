# SPDX-License-Identifier: MIT
"""The words of a command line themselves: what the help of each command says,
names of commands that are nearly right, numbers as long as the buffers that hold
them, defaults that are given, files whose name is nothing but its ending, outputs
that are open already; and instructions of few operands and of many."""
from odd import CALLS, LEFT_OUT, VALUES, table

# Asked for its defaults only where no other command has them.
SLOW = {"layout", "rules prove", "completions", "lsp"}
MORE_CALLS = ["rules", "target", "help", "completions man", "completions words"]
# A name that is its ending alone, or has two, and what is written there.
SCRIPT = "reorder [i1, i0]\n"
NAMED = {".glen": "views.glen", "x.loops.glen": "views.glen",
         ".rules": "messy.rules", "x.glen.rules": "messy.rules",
         ".json": "graph.json", "x.sched.json": "graph.json",
         ".sched": SCRIPT, "x.loops.sched": SCRIPT}
NEST = """output A: f32[8]
for i in 0..8 {
S: A[i] = 1
}
"""
# Commands that a file is given to.
TAKEN = ["saturate", "compile", "schedule", "layout", "run", "rules check",
         "rules test", "target", "extract", "fmt", "tiling"]


def files(known):
    own = {name: known.get(text, text) for name, text in NAMED.items()}
    return {**own, ".loops": NEST, "x.glen.loops": NEST, "glen": known["views.glen"],
            "loops": NEST, **MACHINES, **SUMS}


def of_help():
    for name in [*CALLS, *MORE_CALLS]:
        yield [*name.split(), "--help"]
        yield ["help", *name.split()]
    yield ["--help"]
    yield ["help"]
    yield []


def near(name):
    """Names of commands that are nearly this one."""
    yield name + "s"
    yield name[:-1]
    yield name[1:]
    yield name.upper()
    yield name + " " + name.split()[-1]
    if " " in name:
        first, second = name.split()
        yield second
        yield f"{second} {first}"
        yield f"{first}s {second}"
        yield f"{first} {second}s"
        yield f"{first} {second[:-1]}"
        yield first + "-" + second


def of_near_names():
    for name in CALLS:
        for words in near(name):
            yield [*words.split(), "x"]
            yield ["help", *words.split()]


def of_long_numbers():
    """With zeros before it a number may be of any length."""
    seen = set()
    for k, (name, _, argument, kind, commands, choices, _) in enumerate(table()):
        if kind not in VALUES or choices or kind in seen or name in LEFT_OUT or \
                kind not in ("COUNT", "UP_TO", "SECONDS", "BYTES"):
            continue
        command = next(c for c in commands if c not in SLOW)
        unit = "G" if kind == "BYTES" else ""
        for length in (7, 8, 15, 16, *range(29, 35), 63, 64, 65, 127, 128, 129):
            number = "64".rjust(length - len(unit), "0") + unit
            yield [*command.split(), *CALLS[command].split(),
                   f"--{name}={number}"]
        if kind != "BYTES":
            seen.add(kind)


def of_presets():
    """BOTH: the same without the last word, which says what is so anyway."""
    for k, (name, _, _, _, commands, _, preset) in enumerate(table()):
        if not preset or name in LEFT_OUT:
            continue
        quick = [c for c in commands if c not in SLOW] or commands
        for command in {quick[(k + i) % len(quick)]: 1 for i in range(4)}:
            yield ["BOTH", *command.split(), *CALLS[command].split(),
                   f"--{name}={preset}"]
    # What is chosen of itself where a run is long enough to pay for it.
    for command in ("compile", "schedule"):
        yield ["BOTH", command, "examples/mlp.glen",
               *(["-o", "OUT.c"] if command == "compile" else []),
               "--fuse=" + ("auto" if command == "compile" else "none")]


def of_named():
    for k, name in enumerate([*NAMED, ".loops", "x.glen.loops", "glen", "loops"]):
        for command in TAKEN:
            more = {"compile": ["-o", "OUT.c"], "run": ["--interpret"],
                    "fmt": ["--check"]}.get(command, [])
            yield [*command.split(), name, *more]
        for option in ("--rules", "--target", "--schedule"):
            if k % 2 == 0:
                yield ["compile", "i8.glen", option, name, "-o", "OUT.c"]


def of_descriptors():
    """Outputs that are open already, or are not."""
    for k, path in enumerate((
            "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/dev/fd/01",
            "/proc/self/fd/1", "/dev/fd/99", "/dev/fd/-1", "/dev/fd/1x",
            "/dev/fd/", "/dev/fd/4294967297", "/dev/stdout/")):
        for command in ("saturate", "compile", "schedule", "map")[k % 2::2]:
            yield [command, "i8.glen", "-o", path]


def row_sum(terms):
    """A sum of rows, one after another."""
    out = terms[0]
    for term in terms[1:]:
        out = f"(compute add (pair {out} {term}))"
    return out


# An instruction with each number of operands, and what it stands for.
MANY = [1, 2, 3, 7, 8, 9, 10, 15, 16, 17]
MACHINES = {f"sum{n}.target": (
    f'(target sum{n} (include "cpu.target"))\n(instr sum{n}\n  (params)\n'
    f'  (operands {" ".join(f"(a{k} ((n) ()) f32)" for k in range(n))})\n'
    f'  (result ((n) ()) f32)\n'
    f'  (semantics (compute relu {row_sum([f"a{k}" for k in range(n)])}))\n'
    f'  (cost (cycles 1))\n  (emit "sum{n}({{result}}, {{a0}});"))\n')
    for n in MANY}
SUMS = {f"sum{n}.glen": "".join(f"(tensor x{k} (shape 8) f32)\n"
                               for k in range(n)) +
        f"(let y (compute relu {row_sum([f'(access x{k} 1)' for k in range(n)])}))"
        "\n(output y)\n" for n in MANY}


def padded(x, words):
    """With zeros before it and behind, as many times as there are two words."""
    for k in range(0, len(words), 2):
        x = f"(pad {x} zero 0 {words[k]} {words[k + 1]})"
    return x


# The same of parameters, which are the numbers of a call.
NUMBERS = [2, 6, 8, 10, 16]
for n in NUMBERS:
    params, ones = [f"p{k}" for k in range(n)], [str(k % 3) for k in range(n)]
    size = "n"
    for name in params:
        size = f"(+ {size} {name})"
    MACHINES[f"pads{n}.target"] = (
        f'(target pads{n} (include "cpu.target"))\n(instr pads{n}\n'
        f"  (params {' '.join(params)})\n  (operands (a ((n) ()) f32))\n"
        f"  (result (({size}) ()) f32)\n  (semantics {padded('a', params)})\n"
        f'  (cost (cycles 1))\n  (emit "pads{n}({{result}}, {{a}}, {{p0}});"))\n')
    for kind, term in (("plain", padded("x", ones)),
                       ("called", f"(pads{n} {' '.join(ones)} x)")):
        SUMS[f"{kind}{n}.glen"] = (f"(tensor x (shape 8) f32)\n(let y {term})\n"
                                   "(output y)\n")


def of_operands():
    for n in NUMBERS:
        for kind in ("plain", "called"):
            with_own = [f"{kind}{n}.glen", "--target", f"pads{n}.target",
                        "--rules", "none"]
            yield ["saturate", *with_own, "--verify"]
            yield ["map", *with_own, "--all"]
            yield ["run", *with_own, "--interpret", "--print", "40"]
    for n in MANY:
        with_own = [f"sum{n}.glen", "--target", f"sum{n}.target", "--rules",
                    "none"]
        yield ["saturate", *with_own]
        yield ["saturate", *with_own, "--verify"]
        yield ["map", *with_own, "--all", "--json"]
        yield ["explain", *with_own]
        yield ["compile", *with_own, "-o", "OUT.c"]
        for damage in ("0", str(n)):
            yield ["CHECKED", damage, f"sum{n}.glen", "--rules", "messy.rules",
                   "--target", f"sum{n}.target"]


GROUPS = {"help": of_help, "descriptors": of_descriptors, "operands": of_operands, "near-names": of_near_names,
          "long-numbers": of_long_numbers, "presets": of_presets,
          "named": of_named}
