#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shipped rules with a fault each: none that is wrong may be proved.

usage: shipped.py GLEN [--seed N] [--rules N] [--shapes N]

A part of the condition is lost, a comparison or an operator is another one, a
variable or a number is one off, operands are exchanged, a view is left out.
The judge is the other half of the prover: what the shapes refute must not have
been proved in all forms before.  Rules that no longer have sorts are left out.
"""
import argparse
import collections
import glob
import json
import os
import random
import re
import subprocess
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
TOKEN = re.compile(r'"[^"]*"|;[^\n]*|[()]|[^\s()";]+')
OTHER = {"reduceSum": "reduceMax", "reduceMax": "reduceMin", "add": "sub",
         "relu": "abs", "neg": "abs", "zero": "edge", "edge": "zero",
         "take": "drop", "drop": "take", ">=": ">", ">": ">=", "<": "<=",
         "<=": "<", "=": "<=", "+": "-", "-": "+", "*": "+", "/": "ceil-div",
         "or": "and", "cartProd": "pair", "access-rank": "rank",
         "rank": "access-rank"}
VIEWS = ("slice", "pad", "repeat", "transpose", "reverse", "squeeze",
         "insertAxis", "access", "broadcast")
AT_A_TIME = 40


def parse(text):
    stack = [[]]
    for token in TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        elif not token.startswith(";"):
            stack[-1].append(token)
    return stack[0]


def text_of(x):
    return x if isinstance(x, str) else f"({' '.join(map(text_of, x))})"


def places(x, path=()):
    yield path, x
    if not isinstance(x, str):
        for k, part in enumerate(x):
            yield from places(part, path + (k,))


def put(x, path, value):
    if not path:
        return value
    return [put(part, path[1:], value) if k == path[0] else part
            for k, part in enumerate(x)]


def changed(r, x, variables, is_term):
    """Another expression or term, or None."""
    if isinstance(x, str):
        if x.startswith("?"):
            other = r.choice(variables)
            return r.choice([other, [r.choice("+-"), x, "1"]])
        if re.fullmatch(r"-?\d+", x):
            return str(int(x) + r.choice([1, -1]))
        return OTHER.get(x)
    head = x[0] if x and isinstance(x[0], str) else ""
    if len(x) >= 3 and head in ("concat", "pair", "cartProd", "-", "<", "<="):
        return [head, x[2], x[1], *x[3:]]
    return x[1] if is_term and head in VIEWS else None


def faulty(r, rule):
    """The rule with a fault, or None."""
    right = next(k for k, x in enumerate(rule) if x in ("=>", "<=>")) + 1
    where = rule.index(":where") + 1 if ":where" in rule else right
    part = r.choice([right, where])
    if part != right and rule[part][0] == "and" and r.random() < 0.35:
        lost = r.randrange(1, len(rule[part]))
        return put(rule, (part,), rule[part][:lost] + rule[part][lost + 1:])
    variables = sorted({x for _, x in places(rule)
                        if isinstance(x, str) and x.startswith("?")})
    path, x = r.choice(list(places(rule[part])))
    value = changed(r, x, variables, part == right)
    return None if value is None else put(rule, (part, *path), value)


def read_rules():
    forms = [x for path in sorted(glob.glob(os.path.join(ROOT, "rules/*.rules")))
             for x in parse(open(path, encoding="utf-8").read())]
    return ([x for x in forms if x[0] == "rule" and ":also" not in x],
            [text_of(x) for x in forms if x[0] == "param"])


def ask(path, params, rules):
    """The answers; rules that are no rules are left out."""
    while rules:
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(params + rules) + "\n")
        done = subprocess.run(
            [OPTIONS.glen, "rules", "prove", path, "--json", "--quiet",
             "--shapes", str(OPTIONS.shapes)], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=3600)
        if done.stdout.startswith("{") and '"rules"' in done.stdout:
            return json.loads(done.stdout)["rules"]
        bad = {int(k) - len(params) - 1
               for k in re.findall(r":(\d+):\d+: error", done.stderr)}
        if not bad & set(range(len(rules))):
            raise SystemExit(done.stderr)
        rules = [x for k, x in enumerate(rules) if k not in bad]
    return []


def is_claimed(answer):
    """Were all forms proved, of what some shape then refuted?"""
    forms = answer.get("forms", {})
    return (answer["verdict"] == "refuted" and forms.get("looked_at", 0) > 0 and
            forms["looked_at"] == forms["for_all_sizes"])


def main():
    r = random.Random(OPTIONS.seed)
    rules, params = read_rules()
    made, tally, claimed = [], collections.Counter(), 0
    while len(made) < OPTIONS.rules:
        rule = faulty(r, r.choice(rules))
        if rule:
            rule[1] += f"--{len(made)}"
            made.append(text_of(rule))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "faulty.rules")
        for k in range(0, len(made), AT_A_TIME):
            for answer in ask(path, params, made[k:k + AT_A_TIME]):
                tally[answer["verdict"]] += 1
                if is_claimed(answer):
                    claimed += 1
                    print(f"FAIL {answer['rule']}: {answer['reason']}")
    print(", ".join(f"{n} {word}" for word, n in sorted(tally.items())))
    print(f"{sum(tally.values()) - claimed} passed, {claimed} failed")
    return claimed > 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("glen")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rules", type=int, default=400)
    parser.add_argument("--shapes", type=int, default=60)
    OPTIONS = parser.parse_args()
    OPTIONS.glen = os.path.abspath(OPTIONS.glen)
    raise SystemExit(main())
