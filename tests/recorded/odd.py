# SPDX-License-Identifier: MIT
"""What commands make of words that they do not expect, of files of another kind,
of random e-graphs and networks, and what code the options of code give."""
import itertools
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


class Dice:
    """The same numbers in every Python."""

    def __init__(self, seed):
        self.state = (seed + 1) * 0x9e3779b97f4a7c15 % 2 ** 64

    def below(self, n):
        self.state = (self.state * 6364136223846793005 +
                      1442695040888963407) % 2 ** 64
        return (self.state >> 33) % n

    def one(self, items):
        return items[self.below(len(items))]


# ---- options ----

def table():
    """(name, letter, argument, kind, commands, choices, preset) of each row of the
    table of options, with the commands as their names."""
    folder = os.path.join(ROOT, "src", "cli")
    with open(os.path.join(folder, "options_table.h"), encoding="utf-8") as f:
        masks = re.search(r"enum \{ /\* bits.*?\n(.*?)\};", f.read(), re.S)[1]
    bits = {}
    for name, value in re.findall(r"(\w+)\s*=\s*([^,]*)", masks):
        bits[name] = eval(" ".join(value.split()), {}, bits)
    # A name for another one's bit is no command.
    own = {b: n for n, b in reversed(bits.items())}
    with open(os.path.join(folder, "cli_emit.h"), encoding="utf-8") as f:
        forms = " ".join(re.findall(r'X\(\w+, "([\w-]+)"', f.read()))
    with open(os.path.join(folder, "options_table.c"), encoding="utf-8") as f:
        text = f.read().replace(" FORMS,", f' "{forms}",')
        rows = re.findall(r'\{("[^}]*)\}', text, re.S)
    for row in rows:
        name, letter, argument, kind, _, mask, preset, choices = re.match(
            r"""\s*"(.*?)",\s*('.'|0),\s*("[^"]*"|NULL),\s*(\w+),\s*AT\((\w+)\),
            \s*([^,]*),\s*((?:"[^"]*"\s*)+|NULL),\s*((?:"[^"]*"\s*)+|NULL),""",
            row, re.X).groups()
        commands = [n.lower().replace("_", " ") for n, b in bits.items()
                    if b > 0 and b & (b - 1) == 0 and own[b] == n and
                    b & eval(" ".join(mask.split()), {}, bits)]
        choices, preset = ("" if text == "NULL" else "".join(
            re.findall(r'"([^"]*)"', text)) for text in (choices, preset))
        yield (name, letter.strip("'"), argument.strip('"'), kind, commands,
               choices.split(), preset)


# Of each command, a call of it that takes little.
CALLS = {
    "saturate": "soft.glen", "compile": "i8.glen -o OUT.c",
    "run": "u8.glen --interpret", "check": "once-i8.glen twice-i8.glen",
    "schedule": "i8.glen", "layout": "i8.glen",
    "explain": "sum-i8.glen mus-i8.glen", "map": "chain.glen",
    "rules test": "messy.rules", "rules check": "messy.rules",
    "rules prove": "messy.rules -j 1", "rules fmt": "messy.rules --check",
    "rules ablate": "once-i8.glen --filter transpose-of-t",
    "target test": "targets/pool.target", "target": "targets/pool.target",
    "extract": "graph.json", "import": "--list-operators", "lsp": "",
    "completions": "bash", "fmt": "views.glen --check",
    "simulate": "i8.glen --target pool", "tiling": "i8.glen",
}
VALUES = {
    "COUNT": ["0", "1", "2", "-1", "", "1x", "0x10", "1.5", " 3",
              "18446744073709551616"],
    "FROM_1": ["0", "1", "2", "-1", "", "1x", "0x10", "1.5", " 3",
               "18446744073709551616"],
    "UP_TO": ["0", "1", "16", "17", "-1", "", "1x", "0x10", " 3", "4294967297"],
    "SECONDS": ["0", "1e9", "", "x", "-1", "-0", "nan", "inf", "1e400", "5s"],
    "BYTES": ["64G", "0", "", "K", "1X", "-1", "1.5G", "16777215T",
              "16777216T", "18446744073709551616", "000000000000000000000064G"],
    "LIST": ["", "=", "a", "a=", "=1", "a=1", "a=1x", "a=0", "a=-1",
             "a=9223372036854775808", "no/such"],
    "TEXT": ["", "x", "no/such/file", ".", "/dev/null", "4,8", "4,", "-3",
             "1,2,3,4,5,6,7,8,9"],
}
# Those that write where they are told, or tell of the machine, the version or
# the time.
LEFT_OUT = {"version", "detect", "timings", "dump-phases", "keep", "tune-file",
            "flame", "verbose", "stamp", "depfile", "output"}
WRITTEN = ["", ".", "no/such/OUT.x", "OUT.x", "/dev/full", "soft.glen/OUT.x"]


# Of counts that take no time, the largest.
LARGE = ["4294967295", "4294967296", "9223372036854775808",
         "18446744073709551615"]


def values(name, kind, choices):
    """How an option is written, behind its name."""
    if kind == "FLAG":
        return ["", "=1", "="]
    if kind == "MAYBE":
        return ["", "=", "=x", *("=" + c for c in choices), "=" + choices[0][:2]]
    if kind == "WORDS":
        listed = [*choices, ",".join(choices[::-1]), choices[0] + ",", ",", "",
                  choices[0] + "," + choices[0], choices[0] + ",x",
                  choices[0][:-1], choices[0] + "s"]
    elif choices:
        listed = [*choices, "", "x", choices[0] + "x", choices[0][:-1],
                  " ".join(choices[:2])]
    else:
        listed = VALUES[kind]
        if kind == "COUNT" and re.search("limit|seed|max|print", name):
            listed = listed + LARGE
    return ["=" + v for v in listed]


def of_options():
    for k, (name, letter, argument, kind, commands, choices, _) in enumerate(
            table()):
        if name in LEFT_OUT:
            continue
        for i, value in enumerate(values(name, kind, choices)):
            command = commands[(k + i) % len(commands)]
            yield [*command.split(), *CALLS[command].split(),
                   f"--{name}{value}"]
        command = commands[k % len(commands)]
        others = [c for c in CALLS if c not in commands]
        if others:
            other = others[k % len(others)]
            yield [*other.split(), *CALLS[other].split(), f"--{name}"]
        if argument != "NULL":  # the argument is missing, or is an option
            yield [*command.split(), f"--{name}"]
            yield [*command.split(), f"--{name}", "--json"]
        if letter != "0":
            yield [*command.split(), *CALLS[command].split(), f"-{letter}x"]
        yield [*command.split(), *CALLS[command].split(), f"--{name[:-1]}"]


def of_outputs():
    """OWN.NAME is a copy of a file, which the command must not have changed."""
    for command in ("saturate", "compile", "schedule", "layout", "map"):
        path = "OWN." + CALLS[command].split()[0]
        for out in WRITTEN:
            for option in ("-o", "--depfile", "--stamp"):
                yield [command, path, option, out]
        for option in ("-o", "--depfile", "--stamp"):
            yield [command, path, option, path]
            yield [command, path, option, "./" + path]
        for option in ("--depfile", "--stamp"):
            yield [command, path, "-o", "OUT.x", option, "OUT.x"]
        for form in ("make", "ninja"):
            yield [command, path, "-o", "OUT.x", "--depfile", "OUT.d",
                   "--depfile-format", form, "--stamp", "OUT.s"]
    for option, path in (("--target", "OWN.pool.target"),
                         ("--rules", "OWN.messy.rules"),
                         ("--schedule", "OWN.tile.sched"),
                         ("--sched", "OWN.tile.sched")):
        for command in ("compile", "schedule", "map", "saturate"):
            for way in ("-o", "--depfile", "--stamp"):
                yield [command, "i8.glen", option, path, way, path]
            yield [command, "i8.glen", option, path, "-o", "OUT.x"]


# ---- completions ----

def of_completions():
    """What may stand next, behind each option and in the middle of its words."""
    head = ["completions", "words", "--"]
    for k, (name, letter, argument, kind, commands, choices, _) in enumerate(
            table()):
        if name == "version":
            continue
        command = commands[k % len(commands)].split()
        path = CALLS[" ".join(command)].split()[:1]
        yield [*head, *command, f"--{name[:1 + k % len(name)]}"]
        yield [*head, *command, *path, f"--{name}", ""]
        if argument == "NULL" and kind == "FLAG":
            continue
        yield [*head, *command, f"--{name}="]
        yield [*head, *command, f"--{name}", "=", ""]
        for word in (choices or ["x", "ta", "/"])[:4]:
            yield [*head, *command, f"--{name}", "=", word[:2]]
            yield [*head, *command, *path, f"--{name}={word[:1]}"]
            if kind == "WORDS":
                yield [*head, *command, f"--{name}={word},{word[:1]}"]
        if letter != "0":
            yield [*head, *command, f"-{letter}", "x"]
    for words in ("", "s", "ru", "rules", "rules ", "rules p", "target ", "x ",
                  "target t", "saturate ", "saturate a.glen ", "check a.glen ",
                  "completions ", "completions b", "completions man ",
                  "completions man r", "rules test -- ", "fmt - "):
        yield [*head, *words.split(" ")]
    yield head
    yield head[:2]
    for command in CALLS:
        yield ["completions", "man", *command.split()]
    for words in ("man", "man x", "man rules", "targets", "rules", "targets x",
                  "x", "bash x", "words"):
        yield ["completions", *words.split()]


# ---- files of another kind ----

KINDS = ["views.glen", "messy.rules", "graph.json", "tile.sched",
         "examples/schedules/skew.loops", "targets/pool.target",
         "rules", "no-such.glen", "no-such", "/dev/null", ""]


def of_kinds():
    for command in CALLS:
        if command == "completions":
            continue
        for path in KINDS:
            more = {"check": ["views.glen"], "rules fmt": ["--check"],
                    "fmt": ["--check"], "rules prove": ["-j", "1"],
                    "rules ablate": ["--filter", "x"]}.get(command, [])
            if command in ("rules test", "rules prove") and path == "rules":
                continue
            if command == "compile":
                more = ["-o", "OUT.c"]
            yield [*command.split(), path, *more]
    for option in ("--rules", "--target", "--schedule"):
        for path in KINDS:
            yield ["compile", "i8.glen", option, path, "--emit", "loops", "-o",
                   "OUT.loops", "--node-limit", "300"]
    for given in ("shared.glen", "messy.rules", "graph.json", "/dev/null"):
        for command in ("saturate - --rules none", "schedule - --print loops",
                        "extract -", "fmt -", "target -", "rules check -",
                        "run - --interpret"):
            yield [*command.split(), "<", given]


# ---- e-graphs ----

COSTS = ["1", "2", "0", "7", "0.5", "-1", "1e300", "1e-300", "3", "3", "1"]


def graph(seed):
    """An e-graph of random shape: with circles, classes without a term, several
    roots, children twice, costs of each kind."""
    dice = Dice(seed)
    classes = 2 + dice.below(14)
    usual = ["1", "2", "3", "5"] if seed % 3 else COSTS
    nodes = []
    for c in range(classes):
        for _ in range(1 + dice.below(4)):
            upwards = dice.below(5) == 0
            kids = [dice.below(classes) if upwards else
                    c + 1 + dice.below(max(classes - c - 1, 1))
                    for _ in range(dice.below(4))]
            nodes.append((c, [x for x in kids if x < classes],
                          dice.one(usual)))
    first = {}
    for k, (c, _, _) in enumerate(nodes):
        if c not in first or dice.below(3) == 0:
            first[c] = k
    lines = []
    for k, (c, kids, cost) in enumerate(nodes):
        names = ", ".join(f'"n{first[x]}"' for x in kids)
        lines.append(f'"n{k}": {{"op": "f{k % 5}", "children": [{names}], '
                     f'"eclass": "c{c}", "cost": {cost}}}')
    roots = ", ".join(f'"c{dice.below(min(classes, 4))}"'
                      for _ in range(1 + dice.below(3)))
    return '{"nodes": {\n' + ",\n".join(lines) + \
        f'}},\n"root_eclasses": [{roots}]}}\n'


GRAPHS = {f"graph-{k}.json": graph(k) for k in range(60)}


def of_graphs():
    for k, name in enumerate(GRAPHS):
        for how in ("tree", "dag", "exact", "ilp"):
            yield ["extract", name, "--extractor", how,
                   *(["--json"] if k % 2 else [])]


# ---- networks ----

HEAD = "".join(f"(tensor w{k} (shape 4 4) f32)\n" for k in range(3)) + \
    "(tensor x (shape 4 4) f32)\n(const c (shape 1 1) f32 0.5)\n"


def layer(dice, name, names):
    """One let of a network, of what is there already."""
    a, b = dice.one(names[-3:]), dice.one(names)
    w = f"w{dice.below(3)}"
    return f"(let {name} " + dice.one([
        f"(compute dotProd (cartProd (access {a} 1) (access {w} 1)))",
        f"(compute relu (access {a} 2))",
        f"(compute add (pair (access {a} 2) (access {b} 2)))",
        f"(compute mul (pair (access {a} 2) (broadcast (access c 2) "
        "(shape 4 4))))",
        f"(compute softmax (access {a} 1))",
        f"(transpose {a} (list 1 0))",
        f"(concat (slice (access {a} 2) 0 0 2) (slice (access {b} 2) 0 1 3) 0)",
        f"(slice (pad (access {a} 2) zero 1 1 1) 1 0 4)",
        f"(reverse (access {a} 2) {dice.below(2)})",
    ]) + ")\n"


def network(seed):
    dice = Dice(1000 + seed)
    names, text = ["x"], HEAD
    for k in range(4 + dice.below(9)):
        text += layer(dice, f"y{k}", names)
        names.append(f"y{k}")
    outputs = {names[-1], *(dice.one(names[1:]) for _ in range(dice.below(3)))}
    return text + "".join(f"(output {n})\n" for n in sorted(outputs))


NETS = {f"net-{k}.glen": network(k) for k in range(24)}


def of_nets():
    for k, name in enumerate(NETS):
        yield ["saturate", name, "--regions", "layers", "--stats",
               "--node-limit", "1500"]
        yield ["saturate", name, "--regions", ["layers", "auto", "whole"][k % 3],
               "--rules", "rules", "--target", ["systolic16", "x86-vnni", "pool",
                                                "cpu"][k % 4], "--node-limit",
               "1500", "--emit", "glen"]
        yield ["compile", name, "--emit", "loops,c,manifest", "-o", "OUT.c",
               "--fuse", ["smart", "max", "post-tile", "none", "min"][k % 5],
               "--rules", "none"]
        yield ["run", name, "--interpret", "--print", "16", "--seed", str(k)]
        yield ["map", name, "--target", ["pool", "systolic16", "gemmini"][k % 3],
               "--node-limit", "1000"]


# ---- code ----

CODE = ["--strict-fp", "--dispatch avx512", "--dispatch avx2,avx512",
        "--dispatch none --target x86-vnni", "--prepack w", "--prepack v",
        "--prepack x", "--name int", "--name a.b", "--weights inputs",
        "--target cpu --fuse max", "--target arm-sve --fuse smart",
        "--target power-mma", "--target x86-amx", "--omp-threads 3",
        "--layout lines", "--layout doc", "--choose 3",
        "--fuse post-tile --tile 2,4", "--fuse post-tile --recompute 9"]


def of_code():
    paths = ["views.glen", "windows.glen", "shared.glen", "soft.glen",
             "i8.glen", "f64.glen", "f16.glen", "chain.glen"]
    for k, way in enumerate(CODE):
        for path in (paths[k % 8], paths[(k * 3 + 1) % 8],
                     paths[(k * 5 + 2) % 8]):
            yield ["compile", path, *way.split(), "--node-limit", "500",
                   "--emit", "c,h,manifest", "-o", "OUT.c"]


# ---- scripts ----

# Small programs, each with the names of its loops, statements and arrays.
LOOPS = {
    "place.loops": ("i j", "S T", "A B", """input B: f32[9, 12]
output A: f32[10, 12]

for i in 0..9 {
  for j in 0..12 {
    S: A[i, j] = A[i, j] * B[i, j]
    T: A[i + 1, j] = A[i + 1, j] + 1.0
  }
}
"""),
    "halves.loops": ("i j k x", "I U S", "A B C D", """input A: i32[13, 8]
input B: i32[8, 6]
workspace C: i32[13, 6]
output D: i32[13, 3]

for i in 0..13 {
  for j in 0..6 {
    I: C[i, j] = 0
    for k in 0..8 {
      U: C[i, j] += A[i, k] * B[k, j]
    }
  }
}
for x in 0..13 {
  for y in 0..3 {
    S: D[x, y] = C[x, 2 * y] + C[x, 2 * y + 1]
  }
}
"""),
    "most.loops": ("i k x y", "I U V W", "A M E", """input A: f32[17, 10]
workspace M: f32[17]
output E: f32[17, 10]

for i in 0..17 {
  I: M[i] = A[i, 0]
  for k in 1..10 {
    U: M[i] = max(M[i], A[i, k])
  }
}
for x in 0..17 {
  for y in 0..10 {
    V: E[x, y] = A[x, y] - M[x]
  }
}
"""),
    "later.loops": ("x y i j", "P S R", "A B C", """input A: f32[22, 6]
workspace B: f32[22, 6]
output C: f32[18, 6]

for x in 0..22 {
  for y in 0..6 {
    P: B[x, y] = A[x, y] * 3.0
  }
}
for i in 0..18 {
  for j in 0..6 {
    S: C[i, j] = B[i, j] + B[i + 4, j]
  }
}
"""),
}
# L: a loop, S: a statement, A: an array, N: a number, with others of each.
COMMANDS = """p, q = split L [-1, N] | p, q, r = split L [N, -1, 2] | f = fuse [L, M]
a0, b0, a1, b1 = tile [L, M] [N, O] | reorder [M, L] | reorder [L, M]
p, l, q = fission L S | l = merge L M | a, b = compute_with L M | put_after S T
a, b = compute_with L M 1 | c = interleave [L, M] N | c = interleave [L, M] 2 [0, O]
simple_compute_at S L | shift S L N | l = skew L M 1 | l = skew M L N | unroll L
parallel L | vectorize L 4 | vectorize L 8 tail=mask | vectorize L 4 tail=peel
bind L threadIdx.x | bind L blockIdx.y | sync_threads S | sync_threads L after=true
separate L | a, b = peel L N | a, b = peel L -2 | a, b, c = partition L [N, O]
a, b = specialise S "L >= N" | a, b = specialise L "M mod 2 = 0" | divide A | trim A
compute_inline S | reverse_compute_inline S | compute_at S L | roll S L
roll S L fill=first | reverse_compute_at S L | cache_read S A local | serial L
cache_read S A shared at L | cache_write S local | cache_write S register at L
pack S A "[i, j] -> [j, i]" local | pack S A "[i] -> [floor(i / 4), i mod 4]" global at L
set_buffer A shared | rf, k9 = rfactor L | rf, k9 = rfactor L 0 | rf, k9 = privatise L N
decompose_reduction S L | transform_layout A "[i, j] -> [floor(j / 4), i, j mod 4]"
transform_layout A "[i] -> [floor(i / N), i mod N]" | storage_align A 0 N O
storage_align A 1 8 | fold_storage A 0 | fold_storage A 0 N | fold_storage A 1 N
double_buffer A L | double_buffer A L 3 | pipeline S L | pipeline S L 2
pad_einsum S [4, 4, 4] | pad_einsum S [N] | contract S | contract S as=loops
a, b = enclose S "S[i, j] -> [floor(i / 4), floor(j / N)]" | tensorize L nothing"""
MARKS = ["parallel L", "unroll L", "vectorize L 4", "bind L threadIdx.x",
         "bind L blockIdx.x"]
AXES = ["threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x",
        "blockIdx.y", "blockIdx.z"]
# Loops of one length on each side of a limit.
EDGES = [1, 63, 64, 65, 128, 1023, 1024, 1025, 4096, 4097, 65535, 65536,
         2147483647, 2147483648]
GIVEN = {"blur": ("x i", "SB SC", "A B C"), "matmul": ("i j k", "I U", "A B C"),
         "skew": ("i j", "S", "A"), "sum": ("i j k", "I U", "A B"),
         "two": ("x y z i j k", "SB SC", "A B C")}


def filled(command, dice, loops, statements, arrays):
    """A command with names and numbers in place of its capital letters."""
    names = {"L": dice.one(loops), "M": dice.one(loops),
             "S": dice.one(statements), "T": dice.one(statements),
             "A": dice.one(arrays), "N": dice.one("23457"),
             "O": dice.one("0134")}
    return re.sub(r"\b[LMSTANO]\b", lambda m: names[m[0]], command)


def scripts():
    """(name, text, program): a command, or one after another."""
    commands = [c.strip() for c in re.split(r"[|\n]", COMMANDS)]
    programs = {**{f"examples/schedules/{n}.loops": v
                   for n, v in GIVEN.items()},
                **{n: v[:3] for n, v in LOOPS.items()}}
    for k, (n, command, (path, names)) in enumerate(itertools.product(
            range(2), commands, programs.items())):
        dice = Dice(97 * k + n)
        loops, statements, arrays = (x.split() for x in names)
        text = ""
        if k % 5 == 1:
            loop = dice.one(loops)
            text = f"h, g = split {loop} [-1, 4]\n"
            loops = [x for x in loops if x != loop] + ["g", "h"]
        elif k % 5 == 2:
            text = filled(dice.one(commands), dice, loops, statements,
                          arrays) + "\n"
        elif k % 5 == 3:
            text = filled(dice.one(MARKS), dice, loops, statements,
                          arrays) + "\n"
        text += filled(command, dice, loops, statements, arrays)
        yield f"script-{k}.sched", text + "\n", path


SCRIPTS = list(scripts())


# Commands that are accepted, each with a program.
ACCEPTED = """blur: p, q = split x [-1, 3] | blur: p, q, r = split x [3, -1, 2]
matmul: f = fuse [i, j] | matmul: a0, b0, a1, b1 = tile [i, j] [3, 4]
matmul: p, l, q = fission i I | halves: l = merge i x | most: a, b = compute_with i x
halves: a, b = compute_with i x 1 | halves: c = interleave [i, x] 3
blur: c = interleave [x, i] 2 [0, 4] | matmul: l = skew j i 1 | blur: a, b = peel x 3
blur: a, b, c = partition x [3, 4] | matmul: a, b = specialise j "i mod 2 = 0"
matmul: rf, k9 = rfactor k 0 | matmul: rf, k9 = privatise k 3
matmul: a, b = enclose I "I[i, j] -> [floor(i / 4), floor(j / 3)]\""""


def taken_names():
    """Each with a result called like something else: a loop, a statement, an array,
    a word of C, another result."""
    for k, row in enumerate(re.split(r"[|\n]", ACCEPTED)):
        name, _, command = row.strip().partition(": ")
        results, _, rest = command.partition(" = ")
        results = results.split(", ")
        path, names = (f"examples/schedules/{name}.loops", GIVEN[name]) \
            if name in GIVEN else (f"{name}.loops", LOOPS[f"{name}.loops"])
        loops, statements, arrays = (x.split() for x in names[:3])
        for n, word in enumerate([loops[-1], loops[0], statements[0], arrays[-1],
                                  "int", results[0]]):
            own = list(results)
            own[(k + n) % len(own)] = word
            yield (f"taken-{k}-{n}.sched", f"{', '.join(own)} = {rest}\n", path)


TAKEN = list(taken_names())


def of_scripts():
    for name, _, path in TAKEN:
        yield ["schedule", path, "--sched", name, "--print", "tree"]
    for k, (name, _, path) in enumerate(SCRIPTS):
        if k % 3:
            yield ["schedule", path, "--sched", name, "--explain", "--print",
                   ["loops", "loops,deps", "loops,script", "tree"][k % 4]]
        else:
            yield ["schedule", path, "--sched", name, "-o", "OUT.c"]
    for n in EDGES:
        for command in [*(f"bind i {axis}" for axis in AXES), "unroll i",
                        f"vectorize i {n}", "vectorize i 8 tail=mask",
                        f"a, b = peel i {n - 1}", f"a, b = split i [-1, {n}]"]:
            yield ["schedule", f"edge-{n}.loops", "--sched", f"{command}.edge",
                   "--print", "tree"]


def edges():
    for n in EDGES:
        yield f"edge-{n}.loops", (f"output A: i8[{n}]\n\nfor i in 0..{n} {{\n"
                                  "  S: A[i] = 1\n}\n")
    for words in of_scripts():
        if words[3].endswith(".edge"):
            yield words[3], words[3].removesuffix(".edge") + "\n"


# ---- tests of rules, and what each command says of itself ----

def of_tests():
    for path in ("tests/rules/resnet.rules", "tests/rules/glenside-types.rules",
                 "tests/rules/glenside-unsound.rules", "rules/reverse.rules"):
        yield ["rules", "test", path, "--verbose"]
    for programs in ("1", "3"):
        yield ["rules", "test", "rules/reverse.rules", "--random", programs,
               "--seed", programs, "--verbose"]
    for command in CALLS:
        yield [*command.split(), "--help"]


with open(os.path.join(ROOT, "targets", "pool.target"), encoding="utf-8") as own:
    FILES = {**GRAPHS, **NETS, **{n: v[3] for n, v in LOOPS.items()},
             **{n: text for n, text, _ in SCRIPTS + TAKEN},
             **dict(edges()), "pool.target": own.read()}
GROUPS = {"options": of_options, "outputs": of_outputs, "kinds": of_kinds,
          "graphs": of_graphs, "nets": of_nets, "code": of_code,
          "scripts": of_scripts, "completions": of_completions,
          "tests": of_tests}
