# SPDX-License-Identifier: MIT
"""What commands say when all is well, in a form that programs rely on: reports
as JSON, help, progress on a terminal, files of several forms.  Each group takes
a folder with glen in it (Folder of run.py) and a function note(holds, what).
"""
import json
import os
import pty
import re
import subprocess

RULES = """(rule two-signs "Two signs cancel."
  (compute neg (compute neg ?a)) => ?a)
(rule itself "Nothing minus itself."
  (compute sub (pair ?a ?a)) => (compute mul (pair ?a (compute sub
    (pair ?a ?a)))))
(rule wrong "A sign is lost." (compute neg (access ?a 1)) => ?a)
"""
SIGNS = """(tensor a (shape 4 5) f32)
(let t (compute neg (compute neg (compute neg a))))
(output t)
"""
NOTHING = """(tensor a (shape 4 5) f32)
(output a)
"""


def loaded(note, folder, *command):
    """The object that a command prints; empty where it prints none."""
    done = folder.glen(*command)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        found = {}
    note(found.get("schema") == 1, f"{' '.join(command)} prints no object of "
         f"schema 1: {done.stdout[:300]} {done.stderr[:300]}")
    return found


def reports(folder, note):
    """Reports as JSON say the same as those to read, and all of it."""
    folder.write("r.rules", RULES)
    folder.write("s.glen", SIGNS)
    folder.write("n.glen", NOTHING)
    ran = loaded(note, folder, "run", "p.glen", "--interpret", "--json")
    note([o["name"] for o in ran.get("outputs", [])] == ["s", "t"] and
         all(re.fullmatch("[0-9a-f]{16}", o["hash"]) for o in ran["outputs"])
         and "seconds" not in ran, f"run --json: {ran}")
    timed = loaded(note, folder, "run", "p.glen", "--json", "--repeat", "3")
    note(timed.get("outputs") == ran.get("outputs") and
         0 < timed.get("seconds", 0) < 10, f"run --json --repeat: {timed}")
    proofs = loaded(note, folder, "rules", "prove", "r.rules", "--json")
    verdicts = [r["verdict"] for r in proofs.get("rules", [])]
    note([r["rule"] for r in proofs.get("rules", [])] ==
         ["two-signs", "itself", "wrong"] and verdicts[2] == "refuted" and
         all(proofs[word] == verdicts.count(word) for word in (
             "proved", "checked", "tested", "refuted", "unknown")),
         f"rules prove --json: {str(proofs)[:600]}")
    table = folder.glen("rules", "prove", "r.rules").stdout
    note(re.search(r"^refuted +wrong ", table, re.M) and
         "r.rules:6" in table and re.search(r"^3 rules: .*1 refuted", table,
                                            re.M),
         f"rules prove: {table}")
    saturated = loaded(note, folder, "saturate", "s.glen", "--rules", "r.rules",
                       "--json", "--disable-rule", "wrong")
    note(saturated.get("saturated") is True and
         saturated["cost_after"] < saturated["cost_before"] and
         saturated["rules_enabled"] == 2, f"saturate --json: {saturated}")
    ablation(folder, note)


def ablation(folder, note):
    """What each rule is worth: a table and an object of the same rows."""
    rows = folder.glen("rules", "ablate", "s.glen", "--rules", "r.rules",
                       "--disable-rule", "wrong").stdout.split("\n")[1:]
    found = loaded(note, folder, "rules", "ablate", "s.glen", "--rules",
                   "r.rules", "--disable-rule", "wrong", "--json")
    without = found.get("without", [])
    note([w["rule"] for w in without] == ["two-signs"] and
         without[0]["run"]["cost"] > found["all"]["cost"],
         f"rules ablate --json: {found}")
    for row, run in zip(rows, [found.get("all", {})] + [
            w["run"] for w in without]):
        words = row.removeprefix("(all rules)").split()
        words = words if row.startswith("(") else words[1:]
        note(f"{run.get('cost', -1):.6g}" == words[0] and
             str(run.get("nodes")) == words[2] and
             str(run.get("iterations")) == words[4],
             f"rules ablate: {row} is not {run}")
    note(rows[0].split()[3] == "=" and rows[0].split()[5] == "=" and
         re.match(r"\+\d+\.\d\d%$", rows[1].split()[2]),
         f"rules ablate: changes of {rows}")
    free = folder.glen("rules", "ablate", "n.glen", "--rules", "r.rules").stdout
    note(free.split("\n")[1].split()[2:4] == ["0", "-"],
         f"rules ablate: a share of nothing: {free}")


PRINTED = {"loops": "for i0<4", "program": "input a: f32", "tree": "domain: ",
           "axes": "i0: serial, 0..4", "deps": "flow: ", "results":
           r"\* result \d", "fused": "domain: ", "script": ""}


def forms(folder, note):
    """Each form that can be asked for is given, alone and beside others."""
    for word, begin in PRINTED.items():
        done = folder.glen("schedule", "p.glen", "--print", word)
        note(done.returncode == 0 and re.search(begin, done.stdout),
             f"--print {word}: exit {done.returncode} {done.stdout[:200]}")
        for wrong in (word[:-1], word + "x", "x" + word[1:]):
            done = folder.glen("schedule", "p.glen", "--print", wrong)
            note(done.returncode == 2 and f'"{wrong}"' in done.stderr and
                 not done.stdout, f"--print {wrong}: exit {done.returncode}")
    both = folder.glen("schedule", "p.glen", "--print", "program,loops").stdout
    apart = "".join(folder.glen("schedule", "p.glen", "--print", w).stdout
                    for w in ("program", "loops"))
    note(both.split() == apart.split(), f"--print program,loops: {both}")
    done = folder.glen("compile", "p.glen", "--emit", "c,h,loops,manifest",
                       "-o", "many.c")
    made = {f for f in folder.files() if f.startswith("many")}
    note(done.returncode == 0 and len(made) == 4 and {"many.c", "many.h"} <=
         made, f"compile to four forms made {made}")
    os.makedirs(os.path.join(folder.path, "a folder"), exist_ok=True)
    folder.write("a folder/$x #1.glen", SIGNS)
    folder.write("a folder/one.rules", RULES)
    done = folder.glen("compile", "a folder/$x #1.glen", "--rules",
                       "a folder/one.rules", "--disable-rule", "wrong",
                       "--depfile", "made.d", "-o", "made.c")
    rule = open(os.path.join(folder.path, "made.d"), encoding="utf-8").read() \
        if done.returncode == 0 else done.stderr
    note(rule.startswith("made.c:") and r"a\ folder/$$x\ \#1.glen" in rule and
         r"a\ folder/one.rules" in rule, f"--depfile: {rule}")
    doc = folder.glen("layout", "p.glen", "--keep-order").stdout
    lines = folder.glen("layout", "p.glen", "--keep-order", "--layout-cost",
                        "lines").stdout
    for text, cost, widths in ((doc, "doc", {"8"}),
                               (lines, "lines", {"4", "8", "16", "32"})):
        tried = set(re.findall(r"(?:INTERLEAVE|SPLIT\w*)\((\d+)\)", text))
        note(text.startswith(f"# cost {cost}, as it is: ") and
             tried == widths, f"glen layout tries {tried}: {text[:300]}")


def long_lists(folder, note):
    """A list of files that were read is whole, however long it is."""
    many, name = 1500, "r" * 100
    os.makedirs(os.path.join(folder.path, "many"), exist_ok=True)
    for k in range(many):
        folder.write(f"many/{name}{k}.rules", "; nothing\n")
    folder.write("many/one.rules", RULES)
    done = folder.glen("compile", "p.glen", "--rules", "many",
                       "--disable-rule", "wrong", "--depfile", "long.d", "-o",
                       "long.c")
    path = os.path.join(folder.path, "long.d")
    rule = open(path, encoding="utf-8").read() if done.returncode == 0 else ""
    note(len(rule) > 1 << 18, f"--depfile with {many} files: {len(rule)} bytes")
    lines = rule.split("\n")
    for k in range(many):
        file = f"many/{name}{k}.rules"
        if f"  {file} \\" not in lines or f"{file}:" not in lines:
            note(False, f"--depfile with {many} files: {file} is not twice there")
            return
    note(True, "")


def lines_at_the_edge(text):
    """Lines of generated code that stand within braces and begin at the left
    edge, where only what ends a block and the preprocessor do."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text,
                  flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif", "", text, flags=re.S)
    depth, goes_on = 0, False
    for line in text.split("\n"):
        if line.startswith("#") or goes_on:
            goes_on = line.endswith("\\")
            continue
        if depth > 0 and re.match(r"[^\s}]", line):
            yield line
        depth += line.count("{") - line.count("}")
    if depth:
        yield f"{depth} blocks are not closed"


def indented(folder, note):
    """Generated code reads as if written by hand: nothing in a block begins at
    the left edge, and no line ends in spaces."""
    examples = os.path.join(folder.root, "examples")
    for name in sorted(f for f in os.listdir(examples) if f.endswith(".glen")):
        for more in ([], ["--fuse", "auto", "--emit", "c,h"],
                     ["--emit", "cuda"], ["--emit", "manifest,sched,tree"]):
            done = folder.glen("compile", os.path.join(examples, name), *more)
            edge = list(lines_at_the_edge(done.stdout)) \
                if "manifest" not in str(more) else []
            note(done.returncode == 0 and done.stdout and not edge,
                 f"compile {name} {more}: exit {done.returncode}, {edge[:3]}")
            ends = re.findall(r"^.*[ \t]$", done.stdout, re.M)
            note(not ends, f"compile {name} {more} ends in spaces: {ends[:3]}")


def helped(folder, note):
    """Each command's help: what it is for, and all options in one column."""
    def offered(*before):
        lines = folder.glen("completions", "words", "--", *before).stdout
        return [line.split("\t") for line in lines.splitlines()]

    def words(*before):
        return [fields[0] for fields in offered(*before)]

    commands = [command for command in words("")
                if "--quiet" in words(command, "--")]
    # Names that come with glen are operands beside a group's commands.
    commands += [f"{group} {fields[0]}" for group in ("rules", "target")
                 for fields in offered(group, "")
                 if fields[0].isalpha() and "comes with glen" not in fields]
    note(len(commands) > 21, f"completions of {commands}")
    for command in commands:
        options = words(*command.split(), "--")
        text = folder.glen(*command.split(), "--help").stdout
        place = text.find("options (with")
        note(text.startswith(f"glen {command} - ") and place > 0,
             f"{command} --help: {text[:100]}")
        lines = text[place:].split("\n")[1:]
        heads = [i for i, line in enumerate(lines) if re.match("  .{4}--",
                                                               line)]
        found = [re.match(r"  .{4}(--[\w-]+)", lines[i])[1] for i in heads]
        note(sorted(found) == sorted(options),
             f"{command} --help has {found}, its completions {options}")
        for i in heads:
            line = lines[i]
            beside = len(line) > 30 and line[29] == " " and line[30] != " "
            under = lines[i + 1].startswith(30 * " ") and \
                lines[i + 1][30:31].strip()
            note(beside or (len(line) >= 30 and under),
                 f"{command} --help: {line!r}")
        wide = [x for x in lines if len(x.rstrip()) > 80 and
                " " in x[30:].strip()]
        note(not wide, f"{command} --help is too wide: {wide}")


def on_terminal(folder, *command):
    """The exit code, and what a command writes to a terminal as stderr."""
    outer, inner = pty.openpty()
    process = subprocess.Popen([folder.program, *command], cwd=folder.path,
                               stdin=subprocess.DEVNULL, stderr=inner,
                               stdout=subprocess.DEVNULL)
    os.close(inner)
    said = b""
    while True:
        try:
            part = os.read(outer, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    os.close(outer)
    return process.wait(), said.decode(errors="replace")


def terminal(folder, note):
    """Progress is shown on a terminal and nowhere else, and ends cleared."""
    folder.write("r.rules", RULES)
    folder.write("s.glen", SIGNS)
    commands = {
        ("rules", "prove", "r.rules"): (4, r"\d+ of 3|/3"),
        ("rules", "ablate", "s.glen", "--rules", "r.rules"): (0,
                                                              r"without .*1 of"),
    }
    for command, (code, shown) in commands.items():
        got, said = on_terminal(folder, *command)
        note(got == code and re.search(shown, said) and
             said.rstrip("\r\n").endswith("\r\x1b[K"),
             f"{' '.join(command)} on a terminal: exit {got}, {said!r}")
        got, said = on_terminal(folder, *command, "--quiet")
        note(got == code and "\x1b" not in said,
             f"{' '.join(command)} --quiet on a terminal: {said!r}")
        done = folder.glen(*command)
        note(done.returncode == code and "\x1b" not in done.stderr and
             "\r" not in done.stderr,
             f"{' '.join(command)}, no terminal: {done.stderr!r}")


def descriptors(folder, note):
    """With any of stdin, stdout and stderr closed, files get what is theirs."""
    for closed in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-",
                   "<&- >&- 2>&-"):
        path = os.path.join(folder.path, "closed.c")
        done = subprocess.run(
            ["bash", "-c", f'exec {closed}; exec "$0" compile i.glen -o '
             "closed.c --quiet", folder.program], cwd=folder.path,
            capture_output=True, text=True)
        made = os.path.exists(path) and open(path, encoding="utf-8").read()
        note(done.returncode == 0 and made and "closed(" in made,
             f"compile with {closed}: exit {done.returncode} {done.stderr}")
        if made:
            os.unlink(path)
