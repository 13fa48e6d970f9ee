#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""egglog on a workload, where that translates.

    peer.py FILE [--iterations N] [--program]

Workloads with an analysis or with conditions are no plain rewriting and are
refused (exit 3).  Prints one JSON object, or with --program the translation.
Only the package's compiled part is loaded: its front end is not needed.
"""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import resource
import sys
import time


def bindings():
    place = importlib.util.find_spec("egglog").submodule_search_locations[0]
    for name in sorted(os.listdir(place)):
        if name.startswith("bindings.") and name.endswith(".so"):
            path = os.path.join(place, name)
            loader = importlib.machinery.ExtensionFileLoader("bindings", path)
            spec = importlib.util.spec_from_loader("bindings", loader)
            module = importlib.util.module_from_spec(spec)
            loader.exec_module(module)
            return module
    sys.exit("egglog has no compiled part here")


def read(text):
    """Nested lists of atoms."""
    text = "\n".join(line.split(";")[0] for line in text.splitlines())
    stack = [[]]
    for token in text.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0]


class Translation:
    def __init__(self):
        self.ops = {}

    def term(self, t):
        if isinstance(t, list):
            name = self.ops.setdefault((t[0], len(t) - 1),
                                       f"Op{len(self.ops)}")
            return f"({name} {' '.join(self.term(x) for x in t[1:])})"
        if t.startswith("?"):
            return "v" + t[1:]
        try:
            return f"(Const {int(t)})"
        except ValueError:
            return f'(Symbol "{t}")'

    def program(self, forms):
        lines = []
        for form in forms:
            if form[0] == "rule":
                if len(form) > 4:
                    return None
                left, right = self.term(form[2]), self.term(form[3])
                lines.append(f"(rewrite {left} {right})")
            elif form[0] == "start":
                lines.append(self.term(form[1]))
            elif form != ["analysis", "none"]:
                return None
        sorts = "".join(f" ({name} {' '.join(['Term'] * arity)})"
                        for (_, arity), name in self.ops.items())
        return [f"(datatype Term (Const i64) (Symbol String){sorts})", *lines]


def count(egraph, names):
    total = 0
    for name in names:
        for out in egraph.run_program(
                *egraph.parse_program(f"(print-size {name})")):
            digits = [w for w in str(out).replace(")", " ").split()
                      if w.isdigit()]
            total += int(digits[-1])
    return total


def main():
    options = argparse.ArgumentParser()
    options.add_argument("file")
    options.add_argument("--iterations", type=int, default=0)
    options.add_argument("--match-limit", type=int)
    options.add_argument("--program", action="store_true")
    a = options.parse_args()
    with open(a.file, encoding="utf-8") as f:
        forms = read(f.read())
    translation = Translation()
    lines = translation.program(forms)
    if lines is None:
        print("no plain rewriting", file=sys.stderr)
        return 3
    run = f"(run {a.iterations or 1000000})"
    if a.program:
        print("\n".join([*lines, run]))
        return 0
    egraph = bindings().EGraph()
    egraph.run_program(*egraph.parse_program("\n".join(lines)))
    before = resource.getrusage(resource.RUSAGE_SELF)
    begun = time.perf_counter()
    egraph.run_program(*egraph.parse_program(run))
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_SELF)
    nodes = count(egraph, ["Const", "Symbol", *translation.ops.values()])
    peak = (after.ru_maxrss - before.ru_maxrss) * 1024
    cpu = (after.ru_utime + after.ru_stime - before.ru_utime -
           before.ru_stime)
    print(json.dumps({
        "workload": os.path.basename(a.file), "engine": "egglog",
        "iterations": a.iterations, "nodes": nodes, "total_s": seconds,
        "cpu_s": cpu, "nodes_per_s": nodes / seconds, "peak_bytes": peak,
        "bytes_per_node": peak / nodes}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
