#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The prover as a tool: the shipped rules, planted ones, and results.

- every rule of rules/ is proved or checked, or tested for a reason that stands
  here;
- the planted rules are refuted, on shapes of at most a few elements;
- of rules that attack the prover none that is wrong is proved, and none that is
  right refuted;
- rules whose fault shows at few places only are not proved, and mostly refuted;
- what the examples are mapped to is proved equal to them;
- a wrong rule makes --verify fail with exit code 4;
- a result that no single question decides is decided by its steps, and a wrong
  one names its rule;
- of programs that are not equal, for powers that no number of the prover holds or
  for states of scans that are no numbers, none is proved so;
- of each of these rules the verdict, its sentence, and how much each part of the
  prover did for it are as recorded in answers.txt.

usage: run.py GLEN [--every N] [--bless] [WORD [FILE.rules...]]
       WORD: only the groups whose name holds it; the files stand for rules/
       --every N: of the large collections of wrong rules each N-th rule alone
       --bless: writes what is answered to answers.txt; read the difference
"""
import argparse
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))

parser = argparse.ArgumentParser()
parser.add_argument("glen")
parser.add_argument("--every", type=int, default=1)
parser.add_argument("--bless", action="store_true")
parser.add_argument("word", nargs="?", default="")
parser.add_argument("files", nargs="*")
ARGS = parser.parse_intermixed_args()
GLEN = os.path.abspath(ARGS.glen)
counts = [0, 0]

# Why these are not proved: the mean divides, the scale multiplies by the
# nearest double of the inverse; a quotient of infinite exponentials; the sum of
# two offsets that are no whole numbers is rounded.
TESTED = {"mean-is-scaled-sum", "softmax-is-exp-over-sum", "offset-twice"}
# Where an input of the examples is mapped, and what must be there to do so.
TARGETS = [None, "targets/cpu.target", "targets/systolic.target",
           "targets/systolic16.target"]
SMALL = 8  # elements of an input of a minimal counterexample


def note(passed, what):
    counts[not passed] += 1
    if not passed:
        print("FAIL " + what)


ANSWERS = os.path.join(ROOT, "tests/prove/answers.txt")


def read_answers():
    with open(ANSWERS, encoding="utf-8") as f:
        return dict(line.rstrip("\n").split(": ", 1) for line in f)


def answer_of(rule):
    """One line: what is said, and a digest of all that was looked at for it."""
    keys = ("verdict", "reason", "not_for_all_sizes", "shapes", "forms", "work")
    told = {k: rule[k] for k in keys if k in rule}
    told["on"] = [rule.get("decided_by", {}).get(k)
                  for k in ("variables", "left", "right", "reason")]
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    work = ", ".join(f"{n} {k}" for k, n in rule["work"].items() if n)
    return (f"{rule['verdict']}, {rule['reason']}; {work}; "
            f"{digest.hexdigest()[:12]}")


def hold(group, rules):
    """A group's rules against what is recorded of them: the same on each
    machine, as bounds are of work."""
    now = {f"{group} {rule['rule']}": answer_of(rule) for rule in rules}
    if ARGS.bless:
        kept = read_answers() if os.path.exists(ANSWERS) else {}
        with open(ANSWERS, "w", encoding="utf-8") as f:
            f.writelines(f"{k}: {v}\n" for k, v in sorted((kept | now).items()))
        return
    recorded = read_answers()
    for name, answer in now.items():
        note(answer == recorded.get(name), f"{name}: {answer}\n"
             f"  recorded: {recorded.get(name)}")


def glen(*args):
    return subprocess.run([GLEN, *args], cwd=ROOT, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=900)


def prove(*args):
    done = glen("rules", "prove", "--json", "--quiet", *args)
    return json.loads(done.stdout)["rules"], done.returncode


def prove_some(path):
    """Of a collection each N-th rule, with all of its parameters."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        forms = re.split(r"^(?=\()", f.read(), flags=re.M)
    rules = [form for form in forms if form.startswith("(rule ")]
    others = [form for form in forms if not form.startswith("(rule ")]
    with tempfile.NamedTemporaryFile("w", suffix=".rules",
                                     encoding="utf-8") as f:
        f.write("".join(others + rules[::ARGS.every]))
        f.flush()
        return prove(f.name, "--shapes", "60")


def shipped():
    rules, code = prove(*(ARGS.files or ["rules"]))
    note(code == 0 and rules, f"rules prove: exit {code}, {len(rules)} rules")
    hold("shipped", rules)
    for rule in rules:
        allowed = rule["verdict"] in ("proved", "checked") or (
            rule["verdict"] == "tested" and rule["rule"] in TESTED)
        note(allowed, f"{rule['rule']}: {rule['verdict']}, {rule['reason']}")


def planted():
    rules, code = prove("tests/prove/planted.rules")
    note(code == 4, f"planted rules: exit {code}")
    hold("planted", rules)
    for rule in rules:
        shape = rule.get("decided_by", {})
        sizes = [len(i["values"]) for i in shape.get("inputs", [])]
        note(rule["verdict"] == "refuted" and "variables" in shape and
             max(sizes, default=0) <= SMALL,
             f"{rule['rule']}: {rule['verdict']} on {shape}")


def held_out():
    """Right rules of which none is refuted, wrong ones of which all are."""
    rules, code = prove("tests/prove/sound.rules", "--shapes", "60")
    note(code == 0, f"right rules: exit {code}")
    hold("right", rules)
    for rule in rules:
        note(rule["verdict"] in ("proved", "checked", "tested"),
             f"{rule['rule']}: {rule['verdict']}, {rule['reason']}")
    rules, _ = prove("tests/prove/unsound.rules")
    hold("wrong", rules)
    for rule in rules:
        note(rule["verdict"] == "refuted",
             f"{rule['rule']}: {rule['verdict']}, {rule['reason']}")


def attacks():
    """Wrong rules, none of which is proved.  The right ones beside them, in
    attack-sound.rules, take seconds each and are asked about by hand."""
    rules, _ = prove_some("tests/prove/attack-unsound.rules")
    note(len(rules) * ARGS.every > 100, f"attacks: {len(rules)}")
    hold("attack", rules)
    for rule in rules:
        note(rule["verdict"] != "proved",
             f"{rule['rule']}: {rule['verdict']}, {rule['reason']}")


def hidden():
    """Wrong rules whose fault shows at few places: none is proved; and right
    ones that leave these places out: none is refuted."""
    rules, _ = prove_some("tests/prove/hidden.rules")
    note(len(rules) * ARGS.every >= 120,
         f"{len(rules)} rules with a hidden fault")
    found = sum(rule["verdict"] == "refuted" for rule in rules)
    print(f"{found} of {len(rules)} hidden faults refuted")
    note(found * 10 >= len(rules) * 8, f"{found} hidden faults refuted")
    for rule in rules:
        note(rule["verdict"] != "proved" and not rule["all_sizes"],
             f"{rule['rule']}: {rule['verdict']}, {rule['reason']}")
    hold("hidden", rules)
    rules, code = prove_some("tests/prove/guarded.rules")
    hold("guarded", rules)
    note(code == 0 and len(rules) * ARGS.every >= 120,
         f"guarded rules: exit {code}")
    for rule in rules:
        note(rule["verdict"] in ("proved", "checked", "tested"),
             f"{rule['rule']}: {rule['verdict']}, {rule['reason']}")


def adversary():
    """A small part of adversary/run.py, which is run whole by hand."""
    done = subprocess.run([sys.executable, os.path.join(
        ROOT, "tests/prove/adversary/run.py"), GLEN, "--every", "120",
        "--most-shapes", "8"], capture_output=True, text=True, timeout=900)
    print(done.stdout[-2000:])
    note(done.returncode == 0, f"adversary: {done.stderr[-400:]}")


def pairs():
    """A small part of adversary/pairs.py, likewise."""
    done = subprocess.run([sys.executable, os.path.join(
        ROOT, "tests/prove/adversary/pairs.py"), GLEN, "--pairs", "16",
        "--verify", "8"], capture_output=True, text=True, timeout=900)
    print(done.stdout[-2000:])
    note(done.returncode == 0, f"pairs: {done.stderr[-400:]}")


def examples():
    for path in sorted(glob.glob(os.path.join(ROOT, "examples/*.glen"))):
        for target in TARGETS:
            done = glen("saturate", path, "--rules", "rules", "--verify",
                        "--json", "--quiet", "--node-limit", "5000",
                        *(["--target", target] if target else []))
            found = json.loads(done.stdout)["verify"] if done.stdout else {}
            note(done.returncode == 0 and found.get("verdict") == "proved",
                 f"{os.path.basename(path)} on {target}: exit "
                 f"{done.returncode}, {found} {done.stderr[:300]}")


WRONG = """(rule wrong "x" (compute sub (pair ?a ?b)) => (compute neg ?a))"""
PROGRAM = """(tensor a (shape 4) f32) (tensor b (shape 4) f32)
(let y (compute sub (pair a b))) (output y)"""


def wrong_rule():
    with tempfile.TemporaryDirectory() as folder:
        rules = os.path.join(folder, "wrong.rules")
        program = os.path.join(folder, "p.glen")
        code = os.path.join(folder, "p.c")
        with open(rules, "w", encoding="utf-8") as f:
            f.write(WRONG)
        with open(program, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        done = glen("saturate", program, "--rules", rules, "--verify")
        note(done.returncode == 4 and "refuted" in done.stdout,
             f"saturate --verify: exit {done.returncode} {done.stdout}")
        done = glen("compile", program, "--rules", rules, "--verify", "-o",
                    code)
        note(done.returncode == 4 and not os.path.exists(code),
             f"compile --verify: exit {done.returncode}")


LARGE = """(tensor a (shape 2000 1000) f32) (tensor b (shape 2000 1000) f32)
(tensor c (shape 2000 1000) f32)
(let x (compute sub (pair a b)))
(let y (compute dotProd (cartProd (access (compute relu x) 1) (access c 1))))
(output y)"""
MATMUL = """(tensor a (shape 256 256) f32) (tensor b (shape 256 256) f32)
(let y (compute dotProd (cartProd (access a 1)
  (access (transpose b (list 1 0)) 1))))
(output y)"""


# Too large to run; each rule is wrong at every size.
GIANT = """(tensor x (shape 2048 4096) f32) (tensor w (shape 8192 4096) f32)
(let p (compute relu (compute dotProd (cartProd (access x 1) (access w 1)))))
(output p)"""
WRONG_AT_ANY_SIZE = [
    """(rule lost "A relu is lost."
  (compute relu (compute dotProd ?a)) => (compute dotProd ?a))""",
    """(rule swapped "Halves in the wrong order."
  (compute relu (compute dotProd (cartProd ?a ?b))) => (compute dotProd
    (cartProd (concat (slice ?a 0 ?m ?n) (slice ?a 0 0 ?m) 0) ?b))
  :where (and (= ?n (dim ?a 0)) (= ?m (/ ?n 2))))"""]


def verified(text, rules, *args):
    """The object `verify` for a program, and the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "p.glen")
        with open(program, "w", encoding="utf-8") as f:
            f.write(text)
        if rules is None:
            rules = os.path.join(folder, "wrong.rules")
            with open(rules, "w", encoding="utf-8") as f:
                f.write("\n\n" + WRONG)
        if rules.startswith("("):
            path = os.path.join(folder, "given.rules")
            with open(path, "w", encoding="utf-8") as f:
                f.write(rules)
            rules = path
        done = glen("saturate", program, "--rules", rules, *args, "--verify",
                    "--json", "--quiet")
        found = json.loads(done.stdout)["verify"] if done.stdout else {}
        return found, done.returncode


def large():
    found, code = verified(LARGE, None)
    steps = found.get("steps", {})
    note(code == 4 and found.get("verdict") == "refuted" and
         steps.get("rule") == "wrong" and
         steps.get("place", "").endswith("wrong.rules:3") and
         found.get("by") == "steps" and found.get("inputs"),
         f"a wrong rule in a large program: exit {code}, {str(found)[:400]}")
    found, code = verified(MATMUL, "rules", "--target",
                           "targets/systolic16.target", "--param",
                           "tile-rows=16", "--param", "tile-pieces=16384",
                           "--disable-rule", "systolicArray.fit")
    note(code == 0 and found.get("verdict") == "proved" and
         found.get("steps", {}).get("count", 0) > 4096,
         f"a product of 256 in 4096 blocks: exit {code}, {found}")


def giant():
    """A step too large to run is refuted at a smaller size."""
    for rules in WRONG_AT_ANY_SIZE:
        found, code = verified(GIANT, rules)
        note(code == 4 and found.get("verdict") == "refuted" and
             "at a smaller size" in found.get("reason", ""),
             f"a step too large to run: exit {code}, {str(found)[:400]}")


def layers():
    """Steps grow with the layers, and not with the places of what is shared."""
    steps = {}
    for n in (6, 12):
        made = subprocess.run([sys.executable, "tests/prove/layers.py", str(n)],
                              cwd=ROOT, capture_output=True, text=True,
                              check=True).stdout
        found, code = verified(made, "rules", "--target",
                               "targets/systolic16.target")
        note(code == 0 and found.get("verdict") == "proved",
             f"{n} layers: exit {code}, {str(found)[:400]}")
        steps[n] = found.get("steps", {}).get("count", 0)
    note(0 < steps[6] <= steps[12] <= 2.2 * steps[6], f"steps: {steps}")


def readers():
    """A part of adversary/readers.py, likewise: each rule of its share is asked
    about for all sizes, and each right one on shapes."""
    done = subprocess.run([sys.executable, os.path.join(
        ROOT, "tests/prove/adversary/readers.py"), GLEN, "--every", "4"],
        capture_output=True, text=True, timeout=900)
    print(done.stdout[-2000:])
    note(done.returncode == 0, f"readers: {done.stderr[-400:]}")


def undefined():
    """A part of adversary/undefined.py: nothing wrong of infinities is proved,
    be the programs too large to run."""
    done = subprocess.run([sys.executable, os.path.join(
        ROOT, "tests/prove/adversary/undefined.py"), GLEN, "--every", "9"],
        capture_output=True, text=True, timeout=900)
    print(done.stdout[-2000:])
    note(done.returncode == 0, f"undefined: {done.stderr[-400:]}")


def families():
    """Of adversary/families.py all wrong rules, and a part of the right ones."""
    done = subprocess.run([sys.executable, os.path.join(
        ROOT, "tests/prove/adversary/families.py"), GLEN, "--every", "16"],
        capture_output=True, text=True, timeout=1800)
    print(done.stdout[-3000:])
    note(done.returncode == 0, f"families: {done.stderr[-400:]}")


def powers(n):
    """x, squared n times, times x."""
    return ("(tensor x (shape 4) f32)(let t0 x)" + "".join(
        f"(let t{k + 1} (square t{k}))" for k in range(n)) +
        f"(let y (mul x t{n}))(output y)")


def scanned(steps, init, term, of="(scale s 1)"):
    return (f"(tensor s0 (shape 2) f32)(tensor w (shape {steps} 2) f32)"
            f"(let s (scan {init} w (step s (each x) {term})))"
            f"(let y {of})(output y)")


# Powers that 32 bits do not hold; states that are no numbers, of scans that are
# written out and of those that are too long for that.
WRONG_PROGRAMS = [(powers(32), powers(0)), (powers(33), powers(32)),
                  (powers(40), "(tensor x (shape 4) f32)(let y (scale x 1))"
                               "(output y)")]
# Of 1 / 0 and 1 / -0 numbers are made that differ.
for n, size in ((1, ""), (8, ""), (90, ""), ("n", "(size n 1 100000)")):
    WRONG_PROGRAMS += [tuple(
        f"{size}(tensor x (shape {n}) f32)(let y {term})(output y)"
        for term in pair) for pair in (
            ("(exp (recip (offset x 0)))", "(exp (recip x))"),
            ("(clip (recip (sub (scale x 2) x)) -1 2)",
             "(clip (recip x) -1 2)"),
            ("(tanh (sqrt (recip (add x (sub x x)))))",
             "(tanh (sqrt (recip x)))"))]
for long in (3, 5000):
    WRONG_PROGRAMS += [
        (scanned(long, "s0", "(add (add (recip s) x) (sub s s))"),
         scanned(long, "s0", "(add (recip s) x)")),
        (scanned(long, "s0", "(add (add (recip s) x) (scale s 0))"),
         scanned(long, "s0", "(add (recip s) x)")),
        (scanned(long, "(log s0)", "(add x (sub s s))"),
         scanned(long, "(log s0)", "x")),
        (scanned(long, "s0", "(add (log s) x)", "(add (relu s) (sub s s))"),
         scanned(long, "s0", "(add (log s) x)", "(relu s)")),
        (scanned(long, "(recip s0)", "(tanh (add s x))",
                 "(sub (add s s) s)"),
         scanned(long, "(recip s0)", "(tanh (add s x))"))]
RIGHT_PROGRAMS = [(powers(9), powers(9)), (
    scanned(5000, "s0", "(tanh (add (scale (add s x) 2) (sub s s)))"),
    scanned(5000, "s0", "(tanh (add (scale x 2) (scale s 2)))")), (
    scanned(5000, "s0", "(tanh (add s x))", "(add (relu s) (sub s s))"),
    scanned(5000, "s0", "(tanh (add s x))", "(relu s)")), (
    scanned(5000, "(log s0)", "(add (log (add x s)) x)"),
    scanned(5000, "(log s0)", "(add x (log (add s x)))"))]


def whole_programs():
    """Programs that are not equal, of which none is proved so; and equal
    ones."""
    for pairs, right in ((WRONG_PROGRAMS, False), (RIGHT_PROGRAMS, True)):
        for k, pair in enumerate(pairs):
            with tempfile.TemporaryDirectory() as folder:
                paths = [os.path.join(folder, name) for name in "ab"]
                for path, text in zip(paths, pair):
                    with open(path, "w", encoding="utf-8") as f:
                        f.write(text)
                done = glen("check", "--json", *paths)
            found = json.loads(done.stdout)["answer"] if done.stdout else ""
            note((found == "proved") == right and found,
                 f"pair {k} that is {right}: {found} {done.stderr[:300]}")


def shared_infinity():
    """What both sides of a step share is no number: a run sees that."""
    rule = ("(rule hides (compute add (pair (compute relu (compute log ?a))"
            " (compute sub (pair (compute log ?a) (compute log ?a)))))"
            " => (compute relu (compute log ?a)))")
    program = ("(tensor x (shape 8) f32)(let y (add (relu (log x)) (sub (log x)"
               " (log x))))(output y)")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("a.rules", rule), ("a.glen", program)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        done = glen("saturate", os.path.join(folder, "a.glen"), "--rules",
                    os.path.join(folder, "a.rules"), "--verify")
    note(done.returncode == 4, f"a hidden infinity: exit {done.returncode}")


def main():
    for group in (shipped, planted, held_out, attacks, hidden, adversary, pairs,
                  readers, undefined, families, whole_programs,
                  shared_infinity, examples, wrong_rule, large, giant, layers):
        if ARGS.word in group.__name__:
            group()
    print(f"{counts[0]} passed, {counts[1]} failed")
    sys.exit(1 if counts[1] else 0)


if __name__ == "__main__":
    main()
