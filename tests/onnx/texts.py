# SPDX-License-Identifier: MIT
"""What is imported, word for word: the program of every case, and what is said
of the case with something altered: an input left out, of another rank or known,
an attribute missing or beyond its range.

recorded.txt holds digests, a line a case.  run.py --bless writes it anew; what
differs is to be looked at first: run.py --show TEXT prints the words of the
cases whose name holds TEXT.  Numbers are compared to six digits, those of the
file of weights to four, since the functions of the C library that fold them
differ in the last."""
import copy
import hashlib
import math
import os
import re
import struct
import subprocess
import tempfile

from nd import A

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(HERE, "recorded.txt")
# Of each refusal: the file, the node, if there is one, its operator, advice.
REFUSED = re.compile(r"error: m\.onnx: (node .+ \(.*\): .+ \[onnx-node\]"
                     r"|(?!node ).+ \[onnx-model\])")
DATA = re.compile(r'\(tensor (\S+) \(shape([^)]*)\) (\w+) :data "(.*?)" (\d+)')
STORED = {"f32": "f", "f64": "d", "f16": "e", "bf16": "H", "i64": "q",
          "i32": "i", "u32": "I", "i16": "h", "u16": "H", "i8": "b", "u8": "B", "bool": "B"}
LEAF = re.compile(r"^\((tensor|const) (\S+) \(shape[^)]*\) \w+\s(?!\()", re.M)
SHARED = re.compile(r"t\d+")
WORD = re.compile(r"[^\s()]+")
REAL = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?|-?\d+e[-+]?\d+")


def without_last(case):
    case.inputs = case.inputs[:-1]


def one_rank_more(case):
    dtype, a = case.inputs[0]
    case.inputs[0] = dtype, A((1, *a.shape), a.data)


def flat_last(case):
    if case.inputs[-1]:
        dtype, a = case.inputs[-1]
        case.inputs[-1] = dtype, A((len(a.data),), a.data)


def all_known(case):
    case.known = [k for k, v in enumerate(case.inputs) if v]


def none_known(case):
    case.known = []


def old_operators(case):
    case.opset = 6


def attributes_beyond(case):
    for name, v in case.attributes.items():
        if isinstance(v, list) and v and not isinstance(v[0], str):
            case.attributes[name] = [*v, 99]
        elif isinstance(v, int):
            case.attributes[name] = v + 99


def no_attributes(case):
    case.attributes = {}


def fewer_elements(case):
    dtype, a = case.inputs[-1] or case.inputs[0]
    if a.data:
        case.inputs[-1] = dtype, A((len(a.data) - 1,), a.data[:-1])


def negative(case):
    for k in case.known:
        dtype, a = case.inputs[k]
        case.inputs[k] = dtype, A(a.shape, [-7 * v - 1 for v in a.data])


def input_twice(case):
    case.inputs = [*case.inputs, case.inputs[0]]


ALTERATIONS = [without_last, one_rank_more, flat_last, all_known, none_known,
               old_operators, attributes_beyond, no_attributes, fewer_elements,
               negative, input_twice]


def weights_of(text, folder):
    """The elements that lie beside a program, a line a tensor."""
    for name, shape, dtype, path, at in DATA.findall(text):
        n = math.prod(map(int, shape.split()))
        code = STORED[dtype]
        with open(os.path.join(folder, path), "rb") as f:
            f.seek(int(at))
            v = struct.unpack(f"<{n}{code}", f.read(n * struct.calcsize(code)))
        yield f"{name}: " + " ".join(
            f"{x:.4g}" if code in "fde" else str(x) for x in v) + "\n"


def words_of(glen, data, bound=None):
    """Exit code, program, weights and diagnostics of an import; bound is called
    in its process."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "m.onnx"), "wb") as f:
            f.write(data)
        done = subprocess.run([glen, "import", "m.onnx"], cwd=folder,
                              capture_output=True, text=True, timeout=300,
                              preexec_fn=bound)
        path = os.path.join(folder, "m.glen")
        text = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                text = f.read()
        weights = "".join(weights_of(text, folder))
    words = f"exit code {done.returncode}\n{done.stderr}{text}"
    return REAL.sub(lambda m: f"{float(m[0]):.6g}", words) + weights


def altered(case, number):
    """The case as it is, and with two alterations in turn."""
    yield "as it is", case
    for k in (number % len(ALTERATIONS), (3 * number + 1) % len(ALTERATIONS)):
        other = copy.copy(case)
        other.inputs = list(case.inputs)
        other.attributes = dict(case.attributes)
        other.declares = False  # shapes, which may be others now
        try:
            ALTERATIONS[k](other)
        except (IndexError, TypeError):
            continue
        yield ALTERATIONS[k].__name__, other


def models_of(cases, label, model_of, only=""):
    """The name of each case, and (what it is, model) of each import."""
    seen = {}
    for number, case in enumerate(cases):
        name = re.sub(r"\s+", " ", label(case)).strip()
        seen[name] = seen.get(name, 0) + 1
        if only and only not in name:
            continue
        models = []
        for what, other in altered(case, number):
            try:
                models.append((what, model_of(other)))
            except (IndexError, TypeError, KeyError, struct.error):
                continue
        yield f"{name} #{seen[name]}", models


def incomplete(words):
    """What a refusal leaves unsaid, or None."""
    lines = words.splitlines()
    for line, below in zip(lines, [*lines[1:], ""]):
        if line.startswith("error: ") and not REFUSED.fullmatch(line):
            return f"file or node is not said: {line}"
        if line.startswith("error: ") and not below.startswith("hint: "):
            return f"no advice: {line}"
    return None


def words_read(program):
    """The words of a program in the order in which its lets read them; terms
    that are only shared (t0, t1, ...) are read where the first let does."""
    lets = [WORD.findall(let) for let in re.split(r"^\(let ", program,
                                                  flags=re.M)[1:]]
    shared = {let[0]: let[1:] for let in lets if SHARED.fullmatch(let[0])}
    read = {}
    for let in lets:
        left = [] if SHARED.fullmatch(let[0]) else let[:0:-1]
        while left:
            word = left.pop()
            if word not in read:
                read[word] = len(read)
                left += shared.get(word, [])[::-1]
    return read


def disorder(words):
    """What is said of weights or constants that do not stand in the order in which
    the program reads them, or None."""
    program = words[words.find("\n(") + 1:]
    declared = LEAF.findall(program)
    read = words_read(program)
    for kind in ("tensor", "const"):
        names = [name for k, name in declared if k == kind and name in read]
        if [read[n] for n in names] != sorted(read[n] for n in names):
            return f"the order of {' '.join(names)} is not that of their use"
    return None


def digest_of(words):
    return hashlib.sha256(words.encode()).hexdigest()[:6]


def lines_of(glen, models, shown, faults):
    """A line for each case: its name, and a digest for each import.  What
    refusals leave unsaid is added to `faults`."""
    for name, own in models:
        digests = []
        for what, data in own:
            words = words_of(glen, data)
            if shown:
                print(f"--- {name}, {what}\n{words}")
            digests.append(digest_of(words))
            fault = incomplete(words) or disorder(words)
            if fault:
                faults.append(f"{name}, {what}: {fault}")
        yield name, " ".join(digests)


def read_recorded():
    with open(RECORDED, encoding="utf-8") as f:
        return dict(line.rstrip("\n").rsplit(": ", 1) for line in f)


def check(glen, models, bless):
    faults = []
    now = dict(lines_of(glen, models, False, faults))
    if bless:
        with open(RECORDED, "w", encoding="utf-8") as f:
            f.write("".join(f"{k}: {v}\n" for k, v in sorted(now.items())))
    recorded = read_recorded()
    wrong = sorted(k for k in {*now, *recorded} if
                   now.get(k) != recorded.get(k))
    for name in wrong:
        print(f"FAILED words of {name}: {recorded.get(name)} recorded, "
              f"{now.get(name)} now")
    if wrong:
        print("run.py GLEN --show NAME prints the words, --bless records them")
    for fault in faults:
        print(f"FAILED {fault}")
    return (len(now) - sum(k in now for k in wrong),
            len(wrong) + len(faults))
