#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proofs with one field changed: the checker accepts none that is wrong.

Proofs are made of programs here, then mutated: numbers, names, lists and lines
are changed, dropped, doubled and exchanged, at every place by turns.  What is
accepted must still lead from the program to an equal one: with the result
beside it the outputs are the same terms; without it, a changed program must not
be refuted by `glen check`.  A mutation of what is cited or claimed may be
accepted only where it says the same.  Besides, claims are forged that are true,
but not of the program, and proofs are checked under other parameters, and with
numbers that are written in other ways.

usage: tamper.py GLEN GLEN-CHECK-PROOF [MUTATIONS-A-PROOF] [SEED]
"""
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
GLEN, CHECKER = (os.path.abspath(path) for path in sys.argv[1:3])
MUTATIONS = int(sys.argv[3]) if len(sys.argv) > 3 else 60
RANDOM = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
TOKEN = re.compile(r"[()]|[^\s()]+|\s+")

ZEROS = """(rule nothing "Zero times x." (compute mul (pair ?a ?b)) => ?a
  :where (is-zero ?a))
(rule cancel "x - x." (compute sub (pair ?a ?a))
  => (slice (pad ?a zero 0 0 4) 0 4 8) :where (and (and)))
(rule part "Zeros cut away." (slice (pad ?a zero ?d ?b ?f) ?d ?lo ?hi) => ?a
  :where (and (= ?lo ?b) (= ?hi (+ ?b (dim ?a ?d)))))"""
PARTS = """(rule turn "Twice." (compute sqrt ?a) => (transpose (transpose
  (compute sqrt ?a) (list 1 0)) (list 1 0)) :match-limit 1)
(rule known "Two forms." (compute relu ?x) => ?x
  :with (?x (transpose ?a ?p)) :with (?x (compute sqrt ?b)))"""
LETS = """(rule factor "One product in place of two."
  (compute add (pair (compute mul (pair ?a ?b)) (compute mul (pair ?a ?c))))
  => (transpose ?m (list 1 0))
  :let (?s (transpose (compute add (pair ?b ?c)) (list 1 0)))
  :let (?m (compute mul (pair (transpose ?a (list 1 0)) ?s)))
  :match-limit 1)"""
# Name, program, rules (text or path), target.
CASES = [
    ("zeros", """(tensor a (shape 4) f32)(tensor b (shape 4) f32)
(let z (compute sub (pair a a)))(let m (compute mul (pair z b)))(output m)""",
     ZEROS, None),
    ("parts", """(tensor a (shape 3 4) f32)
(let s (compute sqrt a))(let x (compute relu s))(output x)""", PARTS, None),
    ("lets", """(tensor a (shape 3 4) i32)(tensor b (shape 3 4) i32)
(tensor c (shape 3 4) i32)(let x (compute mul (pair a b)))
(let y (compute mul (pair a c)))(let z (compute add (pair x y)))(output z)""",
     LETS, None),
    ("layers", None, "rules", "targets/systolic16.target"),
    ("mapped", "examples/matmul.glen", "rules", "targets/systolic.target"),
    ("conv", "examples/conv.glen", "rules", "targets/systolic16.target"),
    # Operands that are filled up, and results that are cut.
    ("padded", "examples/conv-i8.glen", "rules", "targets/systolic16.target"),
    ("cut", "examples/mlp.glen", "rules", "targets/systolic16.target"),
    ("each", "examples/depthwise.glen", "rules",
     "targets/systolic16.target"),
]


def run(*args):
    return subprocess.run(args, cwd=ROOT, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def prepare(folder, case):
    """The paths of a program, its rules and options, its result, its proof."""
    name, program, rules, target = case
    if program is None:
        program = run(sys.executable, "tests/prove/layers.py", "1").stdout
    if not program.endswith(".glen"):
        program = write(folder, name + ".glen", program)
    if rules != "rules":
        rules = write(folder, name + ".rules", rules)
    options = ["--rules", rules, *(["--target", target] if target else [])]
    result = os.path.join(folder, name + ".result.glen")
    proof = os.path.join(folder, name + ".proof")
    for emit, path in (("glen", result), ("proof", proof)):
        done = run(GLEN, "saturate", program, *options, "--emit", emit, "-o",
                   path)
        assert done.returncode == 0, done.stderr
    with open(proof, encoding="utf-8") as f:
        return program, options, target, result, f.read()


def other_number(token):
    n = int(token)
    return str(RANDOM.choice([n + 1, n - 1, -n, 0, 2 * n + 1,
                              RANDOM.randrange(1, 200)]))


def mutated(text):
    """The text with one thing changed, or None when that changes nothing."""
    if RANDOM.random() < 0.2:
        lines = text.split("\n")
        at, to = (RANDOM.randrange(len(lines)) for _ in range(2))
        kind = RANDOM.randrange(3)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(to, lines[at])
        else:
            lines[at], lines[to] = lines[to], lines[at]
        return "\n".join(lines)
    tokens = TOKEN.findall(text)
    words = [k for k, t in enumerate(tokens) if not t.isspace()]
    # Half of them in the lemmas, whatever else there is.
    first = tokens.index("proof")
    lemmas = [k for k in words if k > first]
    at = RANDOM.choice(lemmas if RANDOM.random() < 0.7 else words)
    token = tokens[at]
    if token in "()":
        tokens[at] = RANDOM.choice(["", "(", ")", token + token])
    elif re.fullmatch(r"-?\d+", token):
        tokens[at] = other_number(token)
    else:
        kind = RANDOM.randrange(4)
        like = [k for k in words if tokens[k][0] == token[0]]
        tokens[at] = ("" if kind == 0 else token + " " + token if kind == 1
                      else tokens[RANDOM.choice(like)] if kind == 2
                      else tokens[RANDOM.choice(words)])
    return "".join(tokens)


def program_of(text):
    return text.split("\n(proof")[0]


def judge(folder, case, program, options, target, result, text):
    """Is a changed proof refused, or right?"""
    proof = write(folder, "mutated.proof", text)
    with_result = run(CHECKER, program, proof, result, "-q", *options)
    alone = run(CHECKER, program, proof, "-q", *options)
    if {with_result.returncode, alone.returncode} - {0, 1, 4}:
        return f"{case[0]}: exit {alone.returncode}: {alone.stderr[-400:]}"
    if with_result.returncode == 0 and alone.returncode != 0:
        return f"{case[0]}: accepted with the result only"
    if alone.returncode != 0:
        return None
    if with_result.returncode == 0:
        return "accepted"
    changed = write(folder, "mutated.glen", program_of(text))
    done = run(GLEN, "check", program, changed, "--quiet",
               *(["--target", target] if target else []))
    if done.returncode not in (0, 3):
        return f"{case[0]}: accepted, and wrong: {done.stdout[-300:]}"
    return "accepted"


UNARY = ["neg", "relu", "exp"]
SPARE = len(UNARY)  # a term that is no output


def written(outputs, claims=None):
    """A program, or with claims a proof, whose k-th output is the term of that
    number."""
    terms = "".join(f"(let t{k} (compute {op} a))\n"
                    for k, op in enumerate([*UNARY, "sqrt"]))
    named = "".join(f"(let o{k} t{t})(output o{k})\n"
                    for k, t in enumerate(outputs))
    lines = "".join(f"  (claim {name} t{of} t{to} 0)\n"
                    for name, of, to in claims or [])
    return (f"(tensor a (shape 4) f32)\n{terms}{named}" +
            ("" if claims is None else f"(proof\n{lines})\n"))


def forgeries(n):
    """What is wrong, outputs of the proof, its claims, outputs of the result:
    each lemma is true, and one output is not shown."""
    right = [(f"o{k}", k, k) for k in range(n)]
    same = list(range(n))
    yield None, same, right, same
    for k in range(n):
        def but(value):
            return [*right[:k], *value, *right[k + 1:]]
        others = [SPARE if t == k else t for t in same]
        yield f"{k} is not claimed", same, but([]), same
        yield f"{k} is claimed twice", same, but([right[k]] * 2), same
        yield f"{k} has another name", same, but([("x", k, k)]), same
        yield (f"{k} is another term", same, but([(f"o{k}", SPARE, SPARE)]),
               same)
        yield (f"{k} is of another program", others,
               but([(f"o{k}", SPARE, SPARE)]), others)
        yield f"{k} is another one in the result", same, right, others
        yield f"{k} is another one in the proof", others, right, others
    for k in range(n - 1):
        turned = [right[k + 1][1:], right[k][1:]]
        claims = [*right[:k], *((f"o{k + i}", *t) for i, t in
                                enumerate(turned)), *right[k + 2:]]
        yield f"{k} is the next one", same, claims, same


def forge(folder, counts):
    """Claims that are not about the outputs of the program."""
    for n in range(1, len(UNARY) + 1):
        program = write(folder, "forged.glen", written(range(n)))
        for what, outputs, claims, result in forgeries(n):
            done = run(CHECKER, program,
                       write(folder, "forged.proof", written(outputs, claims)),
                       write(folder, "forged-result.glen", written(result)),
                       "-q")
            good = done.returncode == (4 if what else 0)
            counts["refused" if good else "wrong"] += 1
            if not good:
                print(f"FAIL of {n} outputs, {what or 'as it is'}: exit "
                      f"{done.returncode}: {done.stdout}{done.stderr}")


PARAM = """(param to 3 "where the part ends that is written")
(rule first-part "A part of all." (slice (compute add (pair ?a ?a)) 0 0 $to)
  => (compute add (pair (slice ?a 0 0 $to) (slice ?a 0 0 $to))))"""


def under_parameters(folder, counts):
    """A proof holds under the parameters that it was made under, alone."""
    rules = write(folder, "param.rules", PARAM)
    ends = [1, 2, 3, 5]
    for end in ends:
        program = write(folder, "param.glen", "(tensor a (shape 8) i32)(let n "
                        f"(slice (compute add (pair a a)) 0 0 {end}))"
                        "(output n)")
        proof = os.path.join(folder, "param.proof")
        made = run(GLEN, "saturate", program, "-r", rules, "-p", f"to={end}",
                   "--emit", "proof", "-o", proof)
        assert made.returncode == 0, made.stderr
        for given in [None, *ends]:
            more = [] if given is None else ["-p", f"to={given}"]
            done = run(CHECKER, program, proof, "-q", "-r", rules, *more)
            good = done.returncode == (0 if (given or 3) == end else 4)
            counts["refused" if good else "wrong"] += 1
            if not good:
                print(f"FAIL of a part of {end}, to is {given}: exit "
                      f"{done.returncode}: {done.stdout}{done.stderr}")


# Right of real numbers and of integers; what a step makes of the numbers that
# it is given, and whether that is what the rule says.
DIVIDES = """(rule quarters "Four times a quarter."
  (compute (scale ?x) ?a)
  => (compute (scale 4) (compute (scale (/ ?x 4)) ?a)))
(rule halves "All of a part from half of it on."
  (slice ?a 0 ?l ?h) => (slice (slice ?a 0 (/ ?l 2) ?h) 0 ?m ?n)
  :where (and (= ?m (- ?l (/ ?l 2))) (= ?n (- ?h (/ ?l 2)))))"""
QUOTIENTS = [
    ("(compute (scale 2) a)", "(compute (scale 0.5) a)",
     "(compute (scale 4) s)", "quarters 0 (?x 2) (?a a)", True),
    ("(compute (scale 2) a)", "(compute (scale 0.5) a)",
     "(compute (scale 4) s)", "quarters 0 (?x 2.0) (?a a)", True),
    ("(compute (scale 2) a)", "(compute (scale 0) a)",
     "(compute (scale 4) s)", "quarters 0 (?x 2) (?a a)", False),
    ("(compute (scale 7) a)", "(compute (scale 1) a)",
     "(compute (scale 4) s)", "quarters 0 (?x 7) (?a a)", False),
    ("(slice a 0 3 4)", "(slice a 0 1 4)", "(slice s 0 2 3)",
     "halves 0 (?a a) (?l 3) (?h 4) (?m 2) (?n 3)", True),
    ("(slice a 0 3 4)", "(slice a 0 1 4)", "(slice s 0 2 3)",
     "halves 0 (?a a) (?l 3.0) (?h 4.0) (?m 2) (?n 3)", True),
    ("(slice a 0 3 4)", "(slice a 0 1 4)", "(slice s 0 1 2)",
     "halves 0 (?a a) (?l 3.0) (?h 4) (?m 1.5) (?n 2.5)", False),
]


def of_quotients(folder, counts):
    """Real numbers are divided as such, be they whole, and integers rounded
    down, however a proof writes them."""
    rules = write(folder, "quotients.rules", DIVIDES)
    for term, inner, outer, step, right in QUOTIENTS:
        array = "(tensor a (shape 4) f32)"
        program = write(folder, "quotient.glen",
                        f"{array}(let o {term})(output o)")
        proof = write(folder, "quotient.proof", (
            f"{array}(let t {term})(let s {inner})(let o {outer})(output o)"
            f"(proof (rule t o {step}) (claim o t o 1))"))
        done = run(CHECKER, program, proof, "-q", "-r", rules)
        good = done.returncode == (0 if right else 4)
        counts["refused" if good else "wrong"] += 1
        if not good:
            print(f"FAIL {term} by {step} with {inner}: exit "
                  f"{done.returncode}: {done.stdout}{done.stderr}")


def main():
    counts = {"refused": 0, "accepted": 0, "wrong": 0}
    with tempfile.TemporaryDirectory() as folder:
        forge(folder, counts)
        under_parameters(folder, counts)
        of_quotients(folder, counts)
        for case in CASES:
            program, options, target, result, text = prepare(folder, case)
            whole = judge(folder, case, program, options, target, result, text)
            if whole != "accepted":
                print(f"FAIL {case[0]}: as it is: {whole}")
                counts["wrong"] += 1
            for _ in range(MUTATIONS):
                other = mutated(text)
                if other == text:
                    continue
                said = judge(folder, case, program, options, target, result,
                             other)
                kind = ("refused" if said is None else
                        "accepted" if said == "accepted" else "wrong")
                counts[kind] += 1
                if kind == "wrong":
                    print("FAIL " + said)
    print(f"{counts['refused'] + counts['accepted']} passed, "
          f"{counts['wrong']} failed ({counts['accepted']} say the same)")
    return 1 if counts["wrong"] else 0


sys.exit(main())
