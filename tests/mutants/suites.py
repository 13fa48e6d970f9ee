# SPDX-License-Identifier: MIT
"""The tests that faults are asked of: the suites of meson and the programs that
are none; how long each takes, and which faults' lines each reaches."""
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from faults import HOME, ROOT

GLEN = "{build}/src/cli/glen"
CHECKER = "{build}/src/check/glen-check-proof"
SURVEY = os.path.join(HOME, "survey.json")
SURVEY_NEAR = os.path.join(HOME, "survey-near.json")
SURVEY_SANITIZED = os.path.join(HOME, "survey-sanitized.json")


def groups(path):
    """The parts of a program that runs them by name."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        listed = re.search(r"(?:^GROUPS =|for group in) [\[({]([^\])}]*)[\])}]",
                           f.read(), re.M)[1]
    return re.findall(r"\w+(?=\":)", listed) or re.findall(r"\w+", listed)


def files(*patterns):
    return [os.path.relpath(p, ROOT) for pattern in patterns
            for p in sorted(glob.glob(os.path.join(ROOT, pattern)))]


CONSOLE = [p for p in files("tests/cli/*.md", "README.md", "docs/*.md")
           if "```console" in open(os.path.join(ROOT, p),
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
    "fused": ["tests/run/fused.py", GLEN],
    "threads": ["tests/run/threads.py", GLEN],
    **{"prove/" + group: ["tests/prove/run.py", GLEN, group]
       for group in groups("tests/prove/run.py") if group != "shipped"},
    **{"shipped/" + stem(path): ["tests/prove/run.py", GLEN, "shipped", path]
       for path in files("rules/*.rules")},
    "tamper": ["tests/prove/tamper.py", GLEN, CHECKER, "60"],
    "tune": ["tests/run/tune.py", GLEN],
    "names": ["tests/run/names.py", GLEN],
    "files": ["tests/run/files.py", GLEN],
    "onnx/words": ["tests/onnx/run.py", GLEN, "--words"],
    "onnx": ["tests/onnx/run.py", GLEN],
    "cuda": ["tests/run/cuda.py", GLEN, "--quick"],
    "layout": ["bench/layout/misses.py", "--glen", GLEN, "--sizes", "32,64"],
    "programs": ["bench/kernels/programs.py", "--check", GLEN],
    "schemas": ["tests/schemas/run.py", GLEN],
    **{"recorded/" + group: ["tests/recorded/run.py", GLEN, group, "--first"]
       for group in groups("tests/recorded/cases.py")},
    "generated": ["tests/generated/run.py", "{build}", "--every", "8"],
    "generated/some": ["tests/generated/run.py", "{build}", "--every", "40"],
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
             "damage"],
    "egraph": ["egraph", "explain", "EGRAPH", "whole", "saturation", "pairs"],
    "glenside": ["glenside", "fail", "definitions", "whole", "machines",
                 "pairs", "saturation", "damage"],
    "rules": ["rules", "fail", "lint", "templates", "RULES", "whole",
              "saturation", "pairs", "damage"],
    "extract": ["extract", "COST", "limits", "whole", "saturation", "damage"],
    "poly": ["poly", "generated", "fused", "whole", "loops", "damage"],
    "codegen": ["codegen", "generated", "contractions", "loops",
                "dispatch", "whole", "mac"],
    "check": ["check", "tamper", "PROOFS", "proofs"], "edit": ["edit", "lsp"],
    "prove": ["prove", "shipped", "verify", "PROVER", "pairs"],
    "lsp": ["lsp", "edit"], "tune": ["tune", "TUNING", "verdicts"],
    "api": ["api", "schemas", "whole", "verdicts", "verify", "work", "reports",
            "regions", "layout", "require", "input", "LAYOUT", "EXPLAIN",
            "report", "saturation", "pairs", "loops"],
    "limbs": ["limbs"], "onnx": ["onnx", "import", "ONNX"],
    "cli": ["schemas", "whole", "verdicts", "usage", "input", "work",
            "limits", "CLI", "loops", "axes", "layout", "files", "chains",
            "require", "report", "memories", "saturation", "shells", "pairs"],
    "region": ["region", "regions", "saturation"],
}


class Test:
    def __init__(self, name, words, reads, command):
        self.name, self.words, self.command = name, words, command
        digest = hashlib.sha256(" ".join(command).encode())
        for path in sorted(set(reads)):
            if os.path.isfile(os.path.join(ROOT, path)):
                with open(os.path.join(ROOT, path), "rb") as f:
                    digest.update(f.read())
        self.digest = digest.hexdigest()[:16]
        self.seconds, self.covers, self.known = None, set(), set()
        self.anywhere = False

    def reaches(self, fault):
        """Whether the test runs the fault's line, as far as is known."""
        return fault.id in self.covers or fault.id not in self.known

    def price(self):
        """Seconds, with those of linking a suite; what is recorded of many
        outputs notices most, and is asked early."""
        if self.name.startswith(("step:recorded/", "step:generated/")):
            return self.seconds / 4
        return self.seconds + (2 if self.name.startswith("test:") else 0.3)

    def near(self, folder):
        return any(word in NEAR.get(folder, []) for word in self.words)

    def targets(self, copy):
        own = [w.removeprefix("{build}/") for w in self.command
               if w.startswith("{build}/")]
        if self.name.startswith("step:generated"):
            own.append("tests/property/pipeline_programs")
        whole = self.name.startswith("test:") and "lsp" not in self.words and \
            "report" not in self.words
        return own if whole else [
            "src/cli/glen", "src/check/glen-check-proof", *own]


def listed(copy):
    """All tests, by name; what they read is known from the build folder."""
    def ask(what):
        return json.loads(subprocess.run(
            ["meson", "introspect", copy.build, what], capture_output=True,
            text=True, check=True).stdout)
    sources = {os.path.realpath(t["filename"][0]):
               [os.path.relpath(s, copy.tree) for part in t["target_sources"]
                for s in part.get("sources", [])]
               for t in ask("--targets") if t["type"] == "executable"}
    tests = {}
    for t in ask("--tests"):
        command = [os.path.normpath(w) if "/" in w else w for w in t["cmd"]]
        command = [w.replace(copy.build + "/", "{build}/").replace(
            copy.tree + "/", "{tree}/") for w in command]
        command[1:] = FEWER.get(t["name"], command[1:])
        reads = sources.get(os.path.realpath(t["cmd"][0]), [])
        if reads:
            at = os.path.dirname(reads[0])
            reads = reads + files(at + "/*.h", at + "/*.rules")
        words = [s.split(":")[-1] for s in t["suite"]]
        name = "test:" + words[-1] + "/" + t["name"]
        tests[name] = Test(name, words, reads + [
            w.removeprefix("{tree}/") for w in command if "." in w], command)
    for name, command in STEPS.items():
        more = files("tests/fail/*", "tests/fail/rules/*") if name == "fail" \
            else files("tests/onnx/*") if name.startswith("onnx") \
            else files("tests/recorded/*") if name.startswith("recorded") \
            else []
        if name.startswith("prove/"):
            more = files("tests/prove/*.rules")
        tests["step:" + name] = Test("step:" + name, name.split("/"), [
            w for w in command if "." in w] + more, command)
    return tests


class Run:
    """What became of a command: its exit code (None where only the clock
    stopped it, which tells of a busy machine), seconds of processor, output."""

    def __init__(self, test, copy, processor, more=None):
        command = [w.replace("{build}", copy.build).replace("{tree}", copy.tree)
                   for w in test.command]
        # Meson runs its tests in the build folder.
        cwd = copy.build if test.name.startswith("test:") else copy.tree
        if command[0].endswith(".py"):
            command.insert(0, sys.executable)
        place = tempfile.mkdtemp(prefix="tmp-", dir=HOME)
        limit = int(processor) + 1

        def bound():
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
            # A fault that takes all memory is to be what ends.
            with open("/proc/self/oom_score_adj", "w", encoding="utf-8") as f:
                f.write("1000")
        with open(os.path.join(place, "said"), "wb") as said:
            process = subprocess.Popen(
                command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=said,
                stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=bound, env=dict(
                    os.environ, TMPDIR=place, CRITERION_FAIL_FAST="1",
                    CRITERION_JOBS="1", **(more or {})))
            self.late = False
            clock = threading.Timer(20 * processor + 60, self.stop, [process])
            clock.start()
            _, status, used = os.wait4(process.pid, 0)
            clock.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        try:  # what it has left running
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.code = None if self.late else process.returncode
        self.good = None if self.late else self.code in (0, 77)
        self.seconds = used.ru_utime + used.ru_stime
        with open(os.path.join(place, "said"), "rb") as f:
            self.out = f.read()[-3000:].decode(errors="replace")
        shutil.rmtree(place, ignore_errors=True)

    def stop(self, process):
        self.late = True
        os.killpg(process.pid, signal.SIGKILL)


def executed(copy, where, paths):
    """{path: {line: count}} of the source files among paths that a run reached;
    where holds the counters that it wrote."""
    found = []
    for at, _, names in os.walk(where):
        for name in names:
            if name.endswith(".gcda"):
                own = os.path.relpath(os.path.join(at, name), where)
                notes = os.path.join(copy.build, own[:-5] + ".gcno")
                if any(own.replace("_", "/").endswith(
                        "/".join(p.split("/")[2:]).replace("_", "/") + ".gcda")
                       for p in paths) and os.path.exists(notes):
                    shutil.copyfile(notes, os.path.join(where, own[:-5] +
                                                        ".gcno"))
                    found.append(own)
    lines = {}
    if found:
        done = subprocess.run(["gcov", "--json-format", "--stdout", *found],
                              cwd=where, capture_output=True, text=True)
        for text in filter(None, done.stdout.split("\n")):
            for part in json.loads(text)["files"]:
                path = os.path.relpath(os.path.normpath(os.path.join(
                    copy.build, part["file"])), copy.tree)
                counts = lines.setdefault(path, {})
                for line in part["lines"]:
                    n = line["line_number"]
                    counts[n] = counts.get(n, 0) + line["count"]
    return lines


def reached(listed_faults, lines):
    """The faults whose statement was run: counters stand at the line where a
    statement begins, so the nearest one above counts too."""
    ids = set()
    for fault in listed_faults:
        counts, line = lines.get(fault.path, {}), fault.line()
        above = [n for n in counts if line and n <= line]
        if above and (counts[max(above)] or counts.get(line, 0)):
            ids.add(fault.id)
    return ids


def look(test, copy, listed_faults, within):
    """What one run on the copy that counts lines tells of a test."""
    where = tempfile.mkdtemp(prefix="counters-", dir=HOME)
    run = Run(test, copy, within, {
        "GCOV_PREFIX": where, "GCOV_PREFIX_STRIP": str(copy.build.count("/"))})
    lines = executed(copy, where, {f.path for f in listed_faults})
    shutil.rmtree(where, ignore_errors=True)
    found = {"digest": test.digest, "seconds": run.seconds, "good": run.good,
             "known": sorted(f.id for f in listed_faults),
             "covers": sorted(reached(listed_faults, lines))}
    print(f"survey: {test.name} {run.seconds:.1f} s, reaches "
          f"{len(found['covers'])} faults" + ("" if run.good else
          f"; LEFT OUT, as it fails or takes too long: {run.out[-500:]}"),
          flush=True)
    return found


def survey(tests, copy, listed_faults, args):
    """Looks at each test that is new or was changed, and remembers it."""
    kept = {}
    path = (SURVEY_SANITIZED if args.sanitized else
            SURVEY_NEAR if args.near else SURVEY)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            kept = json.load(f)
    todo = [test for name, test in sorted(tests.items(), reverse=True)
            if kept.get(name, {}).get("digest") != test.digest and
            (not args.survey or any(word in name for word in args.survey))]
    if todo:
        copy.ninja(*sorted({path for test in todo
                            for path in test.targets(copy)}))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for test, found in zip(todo, pool.map(
                lambda test: look(test, copy, listed_faults, args.within),
                todo)):
            kept[test.name] = found
            with open(path + ".new", "w", encoding="utf-8") as f:
                json.dump(kept, f)
            os.replace(path + ".new", path)
    for name, old in kept.items():
        if name in tests and old["good"]:
            tests[name].seconds = old["seconds"]
            tests[name].covers = set(old["covers"])
            tests[name].known = set(old["known"])
            tests[name].anywhere = args.near and not args.wide
