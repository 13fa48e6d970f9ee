#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Extraction on e-graphs that are hard on an extractor.

    hostile.py --driver BUILD/bench/extract/bench_extract [--nodes 1000000]
               [--seconds 1] [--only TEXT] [--json OUT] [--keep DIR]

Makes egraph-serialize JSON of shapes that break recursion, arithmetic or
patience (chains as deep as they have nodes, wide nodes and classes, cycles
everywhere, costs that are zero, negative, huge, roots that cannot be had), and
runs every extractor on it.  Exits 1 when one crashes, takes much longer than
its limit, or contradicts another: exact above dag, a bound above a cost, a
choice that is not valid where there is one.
"""
import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile


class Graph:
    def __init__(self):
        self.nodes, self.roots, self.first = {}, [], {}

    def add(self, cls, kids=(), cost=1.0):
        """Children are classes; the format names a node of each."""
        name = f"n{len(self.nodes)}"
        self.nodes[name] = {"op": "f", "children": list(kids),
                            "eclass": str(cls), "cost": cost}
        self.first.setdefault(cls, name)

    def write(self, f):
        for node in self.nodes.values():
            node["children"] = [self.first[k] for k in node["children"]]
        json.dump({"nodes": self.nodes,
                   "root_eclasses": [str(r) for r in self.roots]}, f)


def chain(n, rng):
    g = Graph()
    for i in range(n):
        g.add(i, [i + 1] if i + 1 < n else [])
    g.roots = [0]
    return g


def chain_with_choices(n, rng):
    g = Graph()
    for i in range(n // 2):
        last = i + 1 >= n // 2
        g.add(i, [] if last else [i + 1], 1)
        g.add(i, [] if last else [i + 1, min(i + 7, n // 2 - 1)],
              rng.randrange(3))
    g.roots = [0]
    return g


def ladder(n, rng):
    """Tree costs double at every step."""
    g = Graph()
    for i in range(n):
        g.add(i, [i + 1, i + 1] if i + 1 < n else [])
    g.roots = [0]
    return g


def wide_node(n, rng):
    g = Graph()
    g.add("root", range(n))
    for i in range(n):
        g.add(i)
    g.roots = ["root"]
    return g


def wide_class(n, rng):
    g = Graph()
    for i in range(1000):
        g.add(i, [], 1 + i % 7)
    for i in range(n):
        g.add("root", [rng.randrange(1000), rng.randrange(1000)],
              rng.randrange(5))
    g.roots = ["root"]
    return g


def ring(n, rng):
    """Every class leads round a circle, one has a way out."""
    g = Graph()
    for i in range(n - 1):
        g.add(i, [(i + 1) % (n - 1)])
    g.add(n // 2, [], 5)
    g.roots = [0]
    return g


def rings(n, rng):
    """Circles of ten that share their ways out."""
    g = Graph()
    for i in range(n // 12 * 10):
        first = i // 10 * 10
        g.add(i, [first + (i + 1) % 10], 1)
        if i % 10 == 3:
            g.add(i, [f"leaf{i % 997}", f"leaf{i * 7 % 997}"], 2)
    for i in range(997):
        g.add(f"leaf{i}", [], i % 13)
    g.add("root", range(0, n // 12 * 10, 10))
    g.roots = ["root"]
    return g


def tangle(n, rng):
    """Random, so mostly cycles."""
    g = Graph()
    classes = max(2, n // 5)
    for i in range(classes):
        for _ in range(4):
            g.add(i, [rng.randrange(classes) for _ in range(rng.randrange(4))],
                  rng.randrange(10))
        if rng.randrange(20) == 0:
            g.add(i, [], 30)
    g.roots = [0, 1, classes // 2]
    return g


def dag(n, rng):
    """Random, children below, with sharing."""
    g = Graph()
    classes = max(2, n // 4)
    for i in range(classes):
        for _ in range(4):
            kids = [rng.randrange(i + 1, classes)
                    for _ in range(rng.randrange(3))] if i + 1 < classes else []
            g.add(i, kids, rng.randrange(1, 10))
    g.roots = [0]
    return g


def covers(n, rng):
    """Set cover: the hard part of DAG cost."""
    g = Graph()
    sets, items = 400, 400
    for s in range(sets):
        g.add(f"s{s}", [], 10 + rng.randrange(3))
    for i in range(items):
        for s in rng.sample(range(sets), 6):
            g.add(f"i{i}", [f"s{s}"], 0)
    g.add("root", [f"i{i}" for i in range(items)], 0)
    g.roots = ["root"]
    return g


def with_costs(shape, cost):
    def make(n, rng):
        g = shape(n, rng)
        for i, node in enumerate(g.nodes.values()):
            node["cost"] = cost(i, rng)
        return g
    return make


def no_way(n, rng):
    g = Graph()
    for i in range(100):
        g.add(i, [(i + 1) % 100])
    g.add("ok")
    g.roots = ["ok", 0]
    return g


def many_roots(n, rng):
    g = dag(n, rng)
    g.roots = list(range(0, n // 4, 3)) + [0, 0]
    return g


def all_same(n, rng):
    """One class, one node over and over."""
    g = Graph()
    for _ in range(n):
        g.add(0, [], 1)
    g.roots = [0]
    return g


def self_loops(n, rng):
    g = Graph()
    for i in range(n // 3):
        g.add(i, [i, i + 1] if i + 1 < n // 3 else [i], 0)
        g.add(i, [i], 0)
        g.add(i, [i + 1] if i + 1 < n // 3 else [], 1)
    g.roots = [0]
    return g


# name, shape, part of the nodes, whether there is an answer
SHAPES = [
    ("chain", chain, 1, True),
    ("chain with choices", chain_with_choices, 1, True),
    ("ladder", ladder, .1, True),
    ("wide node", wide_node, 1, True),
    ("wide class", wide_class, 1, True),
    ("one class", all_same, 1, True),
    ("ring", ring, .3, True),
    ("rings", rings, .3, True),
    ("tangle", tangle, .3, True),
    ("dag", dag, 1, True),
    ("small tangle", tangle, .002, True),
    ("small dag", dag, .002, True),
    ("covers", covers, 1, True),
    ("self loops", self_loops, .3, True),
    ("many roots", many_roots, .1, True),
    ("no way", no_way, 1, False),
    ("zeros in a tangle", with_costs(tangle, lambda i, r: 0), .1, True),
    ("zeros in rings", with_costs(rings, lambda i, r: 0), .1, True),
    ("tiny and huge", with_costs(
        dag, lambda i, r: r.choice([1e-300, 1e300, 1, 0])), .01, True),
    ("near the largest", with_costs(dag, lambda i, r: 1e308), .01, True),
    ("negative", with_costs(dag, lambda i, r: r.randrange(-5, 6)), .01, None),
    ("negative in a tangle", with_costs(
        tangle, lambda i, r: r.randrange(-5, 6)), .01, None),
]


def check(result, answer, limit, cpu):
    """What is wrong, in words; `cpu` is what all of it took, with reading."""
    bad = []
    most = 20 + 6 * limit + result["nodes"] / 20_000
    if cpu > most:
        bad.append(f"{cpu:.1f} s of the processor, more than {most:.0f}")
    slack = lambda x: 1e-6 * max(1.0, abs(x))
    for name in ("tree", "dag", "exact"):
        r = result[name]
        if answer is not None and r["feasible"] != answer:
            bad.append(f"{name}: feasible is {r['feasible']}")
        if r["feasible"] and not r["valid"]:
            bad.append(f"{name}: the choice is not valid")
        cost, bound = r["tree" if name == "tree" else "dag"], r["bound"]
        if r["feasible"] and None not in (cost, bound):
            if bound > cost + slack(cost):
                bad.append(f"{name}: bound {bound} above cost {cost}")
    costs = [result[m]["dag"] for m in ("exact", "dag", "tree")]
    if answer and None not in costs:
        if costs[0] > costs[1] + slack(costs[1]):
            bad.append(f"exact {costs[0]} above dag {costs[1]}")
        if costs[0] > costs[2] + slack(costs[2]):
            bad.append(f"exact {costs[0]} above tree {costs[2]}")
    return bad


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--driver", required=True)
    options.add_argument("--nodes", type=int, default=1_000_000)
    options.add_argument("--seconds", type=float, default=1)
    options.add_argument("--only", default="")
    options.add_argument("--json")
    options.add_argument("--keep", help="keep the e-graphs in this folder")
    a = options.parse_args()
    rows, wrong = [], 0
    print(f"{'shape':22} {'nodes':>8} {'classes':>8} {'tree s':>8} "
          f"{'dag s':>8} {'exact s':>8} {'dag':>12} {'exact':>12} "
          f"{'bound':>12} optimal")
    for name, shape, part, answer in SHAPES:
        if a.only not in name:
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".json",
                                         delete=False) as f:
            shape(max(20, int(a.nodes * part)), random.Random(7)).write(f)
        cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = cpu.ru_utime + cpu.ru_stime
        try:
            done = subprocess.run(
                [a.driver, "--seconds", str(a.seconds), f.name],
                capture_output=True, text=True,
                timeout=600 + 20 * a.seconds)
            code, text = done.returncode, done.stdout
            note = done.stderr.strip()[:200]
        except subprocess.TimeoutExpired:
            code, text, note = 124, "", "it hangs"
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - cpu
        if a.keep:
            os.makedirs(a.keep, exist_ok=True)
            os.replace(f.name, os.path.join(a.keep, name + ".json"))
        else:
            os.unlink(f.name)
        refused = code == 1 and not text and answer is None
        if code and not refused:
            print(f"{name:22} exit {code}: {note}")
            wrong += 1
            continue
        if refused:
            print(f"{name:22} refused: {note.splitlines()[0]}")
            continue
        r = json.loads(text)
        bad = check(r, answer, a.seconds, cpu)
        number = lambda x: "-" if x is None else f"{x:.6g}"
        print(f"{name:22} {r['nodes']:8} {r['classes']:8} "
              f"{r['tree']['seconds']:8.3f} {r['dag']['seconds']:8.3f} "
              f"{r['exact']['seconds']:8.3f} {number(r['dag']['dag']):>12} "
              f"{number(r['exact']['dag']):>12} "
              f"{number(r['exact']['bound']):>12} "
              f"{'yes' if r['exact']['proved'] else 'no'}"
              f"  ({cpu:.1f} s cpu)", flush=True)
        for b in bad:
            print(f"    {b}")
        wrong += bool(bad)
        rows.append({"shape": name, **r, "wrong": bad})
    if a.json:
        with open(a.json, "w", encoding="utf-8") as f:
            json.dump({"schema": 1, "nodes": a.nodes, "shapes": rows}, f,
                      indent=1)
    print(f"{wrong} shapes go wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
