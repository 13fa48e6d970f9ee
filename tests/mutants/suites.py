# SPDX-License-Identifier: MIT
"""The tests that faults are asked of: commands that are recorded, cases of unit
suites, and programs of many checks; how long each takes, and which blocks of the
sources each runs."""
import atexit
import base64
import bisect
import functools
import glob
import hashlib
import importlib.util
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib

import whole

sys.path[:0] = [os.path.join(whole.ROOT, "tests", name)
                for name in ("recorded", "onnx")]
import run as recorded
import texts as imported


def module(name, path):
    """A module of a name of its own, as several files are called run.py."""
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(whole.ROOT, path))
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


generated = module("generated", "tests/generated/run.py")

GLEN = os.path.join(whole.WHOLE, "src/cli/glen")
CHECKER = os.path.join(whole.WHOLE, "src/check/glen-check-proof")

def groups(path):
    """The parts of a program that runs them by name."""
    with open(os.path.join(whole.ROOT, path), encoding="utf-8") as f:
        listed = re.search(r"(?:^GROUPS =|for group in) [\[({]([^\])}]*)[\])}]",
                           f.read(), re.M)[1]
    return re.findall(r"\w+(?=\":)", listed) or re.findall(r"\w+", listed)


def files(*patterns):
    return [os.path.relpath(p, whole.ROOT) for pattern in patterns
            for p in sorted(glob.glob(os.path.join(whole.ROOT, pattern)))]


CONSOLE = [p for p in files("tests/cli/*.md", "README.md", "docs/*.md")
           if "```console" in open(os.path.join(whole.ROOT, p),
                                   encoding="utf-8").read()]


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


# Programs that are no tests of meson, each with what it reads.  Where one has
# parts that can be asked for, each part is a step of its own, PROGRAM/PART.
STEPS = {
    **{"verdicts/" + group: ["tests/verdicts/run.py", GLEN, group]
       for group in groups("tests/verdicts/run.py")},
    "fail": ["tests/fail/run.py", GLEN],
    "rules": [GLEN, "rules", "test", "rules", "tests/rules"],
    "rules-check": [GLEN, "rules", "check", "rules"],
    **{"console/" + stem(path): ["tests/console.py", GLEN, path]
       for path in CONSOLE},
    **{"examples/" + stem(path): ["tests/run/examples.py", GLEN, path]
       for path in files("examples/*.glen")},
    "contractions": ["tests/run/contractions.py", GLEN, "12"],
    **{name: [f"tests/run/{name}.py", GLEN, "8"]
       for name in ("windows", "scans", "ends", "contracts")},
    "functions": ["tests/run/functions.py", GLEN],
    "fused": ["tests/run/fused.py", GLEN],
    "threads": ["tests/run/threads.py", GLEN],
    "machines": ["tests/run/machines.py", GLEN, "12"],
    **{"prove/" + group: ["tests/prove/run.py", GLEN, "--every", "3", group]
       for group in groups("tests/prove/run.py") if group != "shipped"},
    **{"shipped/" + stem(path): ["tests/prove/run.py", GLEN, "shipped", path]
       for path in files("rules/*.rules")},
    "tamper": ["tests/prove/tamper.py", GLEN, CHECKER, "60"],
    "tune": ["tests/run/tune.py", GLEN],
    "names": ["tests/run/names.py", GLEN],
    "files": ["tests/run/files.py", GLEN],
    "onnx/words": ["tests/onnx/run.py", GLEN, "--words"],
    "onnx": ["tests/onnx/run.py", GLEN],
    **{"onnx/" + part: ["tests/onnx/run.py", GLEN, "--part", part]
       for part in ("hostile", "stored", "direct", "sized", "folded")},
    "weights": ["tests/weights/run.py", GLEN],
    "rooms": ["tests/run/rooms.py", GLEN, "4"],
    "sizes": ["tests/run/sizes.py", GLEN, "3"],
    "isa": ["tests/run/isa.py", GLEN, "6"],
    "faults": ["tests/faults/run.py", GLEN, "--most", "2"],
    "cuda": ["tests/run/cuda.py", GLEN, "--quick"],
    "layout": ["bench/layout/misses.py", "--glen", GLEN, "--sizes", "32,64"],
    "programs": ["bench/kernels/programs.py", "--check", GLEN],
    "schemas": ["tests/schemas/run.py", GLEN],
    "pipeline": ["{build}/tests/property/pipeline_programs", "--rules", "rules",
                 "--targets", "targets", "--seeds", "1-12", "--batch", "12"],
}

# Fewer cases of the searches: all of them take minutes.
FEWER = {"schedule_legality": ["1", "12"], "schedule_scripts": ["1", "40"],
         "codegen_programs": ["1", "20", "60"], "egraph_oracle": ["2000"],
         "extract_brute": ["2000"]}

# The suites and steps that are nearest to a folder.
NEAR = {
    "base": ["base", "fail", "limits", "files", "machines", "shells",
             "damage", "faults"],
    "egraph": ["egraph", "explain", "EGRAPH", "whole", "saturation", "pairs"],
    "glenside": ["glenside", "fail", "definitions", "whole", "machines",
                 "pairs", "saturation", "damage", "terms", "weights", "rooms"],
    "rules": ["rules", "fail", "lint", "templates", "RULES", "whole",
              "saturation", "pairs", "damage"],
    "extract": ["extract", "COST", "limits", "whole", "saturation", "damage"],
    "poly": ["poly", "machines", "generated", "fused", "whole", "loops", "damage",
             "sizes", "rooms", "open"],
    "codegen": ["codegen", "generated", "contractions", "loops",
                "dispatch", "whole", "mac", "windows", "scans", "ends", "isa",
                "weights", "sizes", "open"],
    "check": ["check", "tamper", "PROOFS", "proofs"], "edit": ["edit", "lsp"],
    "prove": ["prove", "shipped", "verify", "PROVER", "pairs"],
    "lsp": ["lsp", "edit"], "tune": ["tune", "TUNING", "verdicts"],
    "api": ["api", "schemas", "whole", "verdicts", "verify", "work", "reports",
            "regions", "layout", "require", "input", "LAYOUT", "EXPLAIN",
            "report", "saturation", "pairs", "loops"],
    "limbs": ["limbs"], "onnx": ["onnx", "import", "ONNX", "imported"],
    "cli": ["schemas", "whole", "verdicts", "usage", "input", "work",
            "limits", "CLI", "loops", "axes", "layout", "files", "chains",
            "require", "report", "memories", "saturation", "shells", "pairs"],
    "region": ["region", "regions", "saturation"],
}


class Test:
    """One thing that can be asked: a recorded command, a case of a unit suite, or
    a program that makes many checks."""

    def __init__(self, name, group, words, digest):
        self.name, self.group, self.words = name, group, words
        self.digest = hashlib.sha256(digest).hexdigest()[:12]
        self.seconds, self.blocks = None, 0

    def near(self, folder):
        return any(word in NEAR.get(folder, []) for word in self.words)

    def run(self, processor):
        """Whether it passes, with at most so many seconds of processor; None
        where only the clock stopped it, which tells of a busy machine."""
        raise NotImplementedError


class Recorded(Test):
    """One command of tests/recorded/, as it says and writes it."""
    number = 0

    def __init__(self, group, words, hashed):
        name = " ".join(words)
        super().__init__("recorded " + name, "recorded " + group, [group],
                         (name + hashed).encode())
        self.command, self.hashed = words, hashed

    def run(self, processor):
        Recorded.number += 1
        try:
            text = recorded.said(GLEN, self.command, place_of_recorded(),
                                 Recorded.number, limits(processor),
                                 30 * processor + 60)
        except subprocess.TimeoutExpired:
            return None
        except UnicodeDecodeError:
            return False
        return hashlib.sha256(text.encode()).hexdigest()[:12] == self.hashed


@functools.lru_cache(None)
def place_of_recorded():
    """One folder for each process that asks; outside of the sources, as paths
    that are near are told otherwise."""
    place = tempfile.mkdtemp(prefix="recorded-")
    recorded.folder_for(place)
    atexit.register(shutil.rmtree, place, True)
    return place


class Imported(Test):
    """The models of one case of tests/onnx/, and the words of their import."""

    def __init__(self, name, models, digests):
        super().__init__("imported " + name, "imported", ["imported"],
                         (name + digests).encode())
        self.models, self.digests = models, digests.split()

    def run(self, processor):
        try:
            return all(imported.digest_of(imported.words_of(
                GLEN, base64.b64decode(model), limits(processor))) == digest
                       for model, digest in zip(self.models, self.digests))
        except (subprocess.TimeoutExpired, UnicodeDecodeError):
            return False


class Generated(Test):
    """The code of one example in one way, or of one random program, which
    make(folder, limits) writes into a folder."""

    def __init__(self, name, make, digest):
        super().__init__("generated " + name, "generated", ["generated"],
                         (name + digest).encode())
        self.make, self.hashed = make, digest

    def run(self, processor):
        with tempfile.TemporaryDirectory(dir=whole.HOME) as folder:
            try:
                paths = self.make(folder, {"bound": limits(processor),
                                           "timeout": 30 * processor + 60})
                return [generated.hash_of(p) for p in paths] == [self.hashed]
            except (subprocess.TimeoutExpired, UnicodeDecodeError):
                return False


class Program(Test):
    """A program whose exit code says whether its checks hold."""

    def __init__(self, name, group, words, command, cwd, reads):
        contents = [" ".join(command).encode()]
        for path in sorted({os.path.join(whole.ROOT, r) for r in reads}):
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    contents.append(f.read())
        super().__init__(name, group, words, b"".join(contents))
        self.command, self.cwd = command, cwd
        if command[0].endswith(".py"):
            self.command = [sys.executable, *command]

    def run(self, processor):
        place = tempfile.mkdtemp(prefix="tmp-", dir=whole.HOME)
        process = subprocess.Popen(
            self.command, cwd=self.cwd, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=limits(processor), env=dict(
                os.environ, TMPDIR=place, CRITERION_FAIL_FAST="1",
                CRITERION_JOBS="1"))
        try:
            code = process.wait(30 * processor + 60)
        except subprocess.TimeoutExpired:
            code = None
        try:  # what it has left running
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        shutil.rmtree(place, ignore_errors=True)
        return None if code is None else code in (0, 77)


def limits(processor):
    """What a process sets for itself before it runs a test."""
    seconds = int(processor) + 1

    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        # A fault that takes all memory is to be what ends.
        with open("/proc/self/oom_score_adj", "w", encoding="utf-8") as f:
            f.write("1000")
    return bound


def recorded_commands():
    hashes = recorded.read_recorded()
    for group in recorded.GROUPS:
        for words in recorded.cases([group]):
            if " ".join(words) in hashes:
                yield Recorded(group, words, hashes[" ".join(words)])


MODELS = os.path.join(whole.HOME, "models.json")


def imports():
    """The models take seconds to make, and are kept until their cases change."""
    recorded_words = imported.read_recorded()
    if not os.path.exists(MODELS) or os.path.getmtime(MODELS) < max(
            os.path.getmtime(os.path.join(whole.ROOT, path))
            for path in files("tests/onnx/*.py")):
        subprocess.run([sys.executable, os.path.join(
            whole.ROOT, "tests/onnx/run.py"), GLEN, "--models", MODELS],
                       check=True)
    with open(MODELS, encoding="utf-8") as f:
        for name, models in json.load(f).items():
            if name in recorded_words:
                yield Imported(name, models, recorded_words[name])


def example_in_a_way(words, folder, more):
    return [generated.compiled(GLEN, *words, folder, **more)]


def random_program(seed, folder, more):
    return generated.random_programs(whole.WHOLE, folder, seed, seed, **more)


def texts_of_code():
    """What tests/generated/ makes, a test each."""
    hashes = generated.read_recorded()
    sources = os.path.join(whole.HOME, "sources")
    os.makedirs(sources, exist_ok=True)
    makers = {os.path.basename(generated.path_of(name, way, "")):
              functools.partial(example_in_a_way, (source, name, way))
              for source, name, way in [*generated.examples(),
                                        *generated.benched(sources)]}
    makers |= {f"{seed}.c": functools.partial(random_program, seed)
               for seed in range(1, generated.SEEDS + 1)}
    for name, make in makers.items():
        if name in hashes:
            yield Generated(name, make, hashes[name])


def cases_of(path):
    """The cases of a Criterion suite, as suite/case."""
    done = subprocess.run([path, "--list"], capture_output=True, text=True)
    suite = ""
    for line in done.stdout.split("\n"):
        named = re.match(r"(\w+): \d+ tests?$", line)
        suite = named[1] if named else suite
        case = re.search(r"── (\w+)", line)
        if case:
            yield suite + "/" + case[1]


def programs_of(build):
    """The tests that meson knows, those of Criterion by case."""
    def moved(word):
        word = os.path.normpath(word) if "/" in word else word
        return word.replace(build.folder + "/", whole.WHOLE + "/")
    objects = {os.path.join(build.folder, name): paths
               for name, paths, _ in build.programs()}
    sources = {os.path.realpath(t["filename"][0]):
               [s for part in t["target_sources"]
                for s in part.get("sources", [])] for t in build.targets}
    for t in build.tests:
        words = [s.split(":")[-1] for s in t["suite"]]
        command = [moved(w) for w in t["cmd"]]
        command[1:] = FEWER.get(t["name"], command[1:])
        name = words[-1] + "/" + t["name"]
        reads = sources.get(os.path.realpath(t["cmd"][0]), [])
        if reads:
            reads = reads + files(os.path.dirname(reads[0]) + "/*.h",
                                  os.path.dirname(reads[0]) + "/*.rules")
        reads = reads + [w for w in command[1:] if "." in w]
        if "unit" in words and os.path.normpath(t["cmd"][0]) in objects:
            cases = list(cases_of(command[0]))
            if not cases:
                sys.exit(f"{command[0]} has no cases: it does not run its tests")
            for case in cases:
                yield Program("case " + name + " " + case, name, words,
                              [command[0], "--filter", case, "-j1"],
                              build.folder, reads)
        else:
            # Meson names the programs as from the build folder.
            yield Program("test " + name, name, words, command, whole.WHOLE,
                          reads)


def steps():
    for name, command in STEPS.items():
        command = [w.replace("{build}", whole.WHOLE) for w in command]
        more = files("tests/fail/*", "tests/fail/rules/*") if name == "fail" \
            else files("tests/onnx/*") if name.startswith("onnx") \
            else files("tests/weights/*") if name == "weights" \
            else files("tests/sizes/*", "tests/run/sizes.c") if name == "sizes" \
            else files("tests/prove/*.rules") if name.startswith("prove/") \
            else []
        yield Program("step " + name, "step " + name, name.split("/"), command,
                      whole.ROOT, [w for w in command if "." in w] + more)


def listed(build):
    """All tests, by name."""
    return {t.name: t for part in (
        recorded_commands(), imports(), texts_of_code(), programs_of(build),
        steps()) for t in part}


# ---- which blocks a test runs ----

SURVEY = os.path.join(whole.HOME, "survey.json")
LINES = os.path.join(whole.COUNTED, "lines.json")
BLOCKS = os.path.join(whole.COUNTED, "blocks")


def blocks_of_lines():
    """{file: {line: [block]}}: a row of the table of lines belongs to the block
    that begins nearest before its address, as blocks lie in order at -O0."""
    library = os.path.join(whole.libraries(whole.COUNTED), "libwhole.so")
    if os.path.exists(LINES) and \
            os.path.getmtime(LINES) > os.path.getmtime(library):
        with open(LINES, encoding="utf-8") as f:
            return {path: {int(n): b for n, b in lines.items()}
                    for path, lines in json.load(f).items()}
    subprocess.run([os.path.join(whole.WHOLE, "src/cli/glen"), "--version"],
                   stdout=subprocess.DEVNULL, check=True,
                   env=dict(os.environ, GLEN_BLOCKS=BLOCKS, LD_LIBRARY_PATH=
                            whole.libraries(whole.COUNTED)))
    with open(BLOCKS, encoding="utf-8") as f:
        begins = [int(line, 16) for line in f]
    number = {address: k + 1 for k, address in enumerate(begins)}
    begins.sort()
    lines = {}
    for path, line, address in rows_of(library):
        k = bisect.bisect_right(begins, address)
        if k:
            own = lines.setdefault(path, {}).setdefault(line, [])
            block = number[begins[k - 1]]
            if block not in own:
                own.append(block)
    with open(LINES, "w", encoding="utf-8") as f:
        json.dump(lines, f)
    return lines


def rows_of(library):
    """(file, line, address) of each row of a library's table of lines."""
    dump = subprocess.Popen(["llvm-dwarfdump", "--debug-line", library],
                            stdout=subprocess.PIPE, text=True)
    folders, names, at = {}, {}, None
    for text in dump.stdout:
        if text.startswith("0x"):
            address, line, _, file = text.split()[:4]
            if names.get(file, "").startswith("src/"):
                yield names[file], int(line), int(address, 16)
        elif text.startswith("debug_line["):
            folders, names = {}, {}
        elif text.startswith("include_directories["):
            number, _, path = text[20:].partition("] = ")
            folders[number.strip()] = path.strip().strip('"')
        elif text.startswith("file_names["):
            at = text[11:].partition("]")[0].strip()
        elif text.startswith("           name: "):
            names[at] = text.partition(": ")[2].strip().strip('"')
        elif text.startswith("      dir_index: "):
            folder = folders.get(text.partition(": ")[2].strip(), "")
            names[at] = os.path.relpath(os.path.normpath(os.path.join(
                folders.get("0", ""), folder, names[at])), whole.ROOT)
    dump.wait()


def look(test, within):
    """What one run on the library that counts tells of a test."""
    counts = tempfile.mktemp(prefix="counts-", dir=whole.HOME)
    os.environ["LD_LIBRARY_PATH"] = whole.libraries(whole.COUNTED)
    os.environ["GLEN_COUNTS"] = counts
    before = os.times()
    good = test.run(within)
    if not good:  # where it is slow there, or reads how it was compiled
        os.environ["LD_LIBRARY_PATH"] = whole.libraries(whole.WHOLE)
        before = os.times()
        good = test.run(within)
    after = os.times()
    bits = 0
    if os.path.exists(counts):
        with open(counts, "rb") as f:
            # A byte a block, from block 0, becomes a bit a block.
            bits = int(f.read()[::-1].translate(BINARY) or b"0", 2)
        os.remove(counts)
    packed = base64.b85encode(zlib.compress(
        bits.to_bytes(bits.bit_length() // 8 + 1, "little"))).decode()
    return test.name, {
        "digest": test.digest, "good": good, "blocks": packed, "seconds":
        round(sum(after[2:4]) - sum(before[2:4]), 3)}


BINARY = bytes([48] + [49] * 255)


def is_looked_at(name, args):
    """All tests, those whose name holds a word, or besides one in so many."""
    number = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
    if any(word in name for word in args.survey):
        return True
    return number % args.every == 0 if args.every else not args.survey


def survey(tests, args):
    """Looks at each test that is new or was changed, and remembers it."""
    kept = {}
    if os.path.exists(SURVEY):
        with open(SURVEY, encoding="utf-8") as f:
            kept = json.load(f)
    todo = sorted((t for n, t in tests.items()
                   if kept.get(n, {}).get("digest") != t.digest and
                   is_looked_at(n, args)),
                  key=lambda t: (isinstance(t, Program), t.name))
    with multiprocessing.Pool(args.jobs) as pool:
        calls = functools.partial(look, within=args.within)
        for k, (name, found) in enumerate(pool.imap_unordered(calls, todo)):
            kept[name] = found
            if not found["good"]:
                print(f"left out, as it fails or takes too long: {name}",
                      flush=True)
            if k % 50 == 49 or k + 1 == len(todo):
                print(f"survey: {k + 1} of {len(todo)}", flush=True)
                with open(SURVEY + ".new", "w", encoding="utf-8") as f:
                    json.dump(kept, f)
                os.replace(SURVEY + ".new", SURVEY)
    for name, test in tests.items():
        if kept.get(name, {}).get("good"):
            test.seconds = kept[name]["seconds"]
            test.blocks = int.from_bytes(zlib.decompress(
                base64.b85decode(kept[name]["blocks"])), "little")
