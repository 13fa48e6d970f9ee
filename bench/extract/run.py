#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Extraction against the public collection of e-graphs.

    run.py --driver BUILD/bench/extract/bench_extract --data DIR
           [--seconds 1] [--methods tree,dag,exact] [--json OUT] [--only TEXT]

DIR holds SET/FILE.json and reference.csv (file, bytes, extractor, tree_cost,
dag_cost, microseconds).  Prints a row a file and counts a set; exits 1 when a
tree cost differs from the reference or a DAG cost is worse than it.
"""
import argparse
import csv
import json
import math
import os
import platform
import subprocess
import sys

GREEDY = "faster-greedy-dag"
ILP = "faster-ilp-cbc-timeout"
ILP_LIMIT = 10_000_000
SLACK = 1e-9


def read_reference(path):
    out = {}
    with open(path, newline="") as lines:
        for row in csv.DictReader(lines):
            try:
                out.setdefault(row["file"], {})[row["extractor"]] = {
                    "tree": float(row["tree_cost"]),
                    "dag": float(row["dag_cost"]),
                    "us": int(row["microseconds"]),
                }
            except ValueError:
                continue  # the extractor failed on this file
    return out


def files_of(data, only):
    for folder, _, names in sorted(os.walk(data)):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), data)
            if name.endswith(".json") and only in path:
                yield path


def solve(args, name):
    run = subprocess.run(
        [args.driver, "--seconds", str(args.seconds), "--methods", args.methods,
         os.path.join(args.data, name)],
        capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{name}: {run.stderr}")
    return json.loads(run.stdout) | {"file": name}


def compare(ours, theirs):
    if theirs is None or ours is None:
        return ""
    if math.isclose(ours, theirs, rel_tol=SLACK, abs_tol=SLACK):
        return "="
    return "<" if ours < theirs else ">"


def verdict(row, reference):
    ilp, greedy = reference.get(ILP), reference.get(GREEDY)
    exact, dag = row.get("exact"), row.get("dag")
    any_tree = [r["tree"] for name, r in reference.items() if name != ILP]
    row["reference"] = {
        "tree": min(any_tree) if any_tree else None,
        "greedy": greedy and greedy["dag"],
        "ilp": ilp and ilp["dag"],
        "ilp_seconds": ilp and ilp["us"] / 1e6,
        "ilp_proved": bool(ilp and ilp["us"] < ILP_LIMIT),
    }
    ref = row["reference"]
    row["tree_vs"] = compare(row["tree"]["tree"], ref["tree"]) \
        if "tree" in row else ""
    row["dag_vs"] = compare(dag["dag"], ref["greedy"]) if dag else ""
    row["exact_vs"] = compare(exact["dag"], ref["ilp"]) if exact else ""
    row["exact_vs_dag"] = compare(exact["dag"], dag["dag"]) \
        if exact and dag else ""


def show(row):
    ref, exact = row["reference"], row.get("exact", {})
    number = lambda x: "-" if x is None else f"{x:.8g}"
    print(f"{row['file'][:52]:52} {row['nodes']:7} {row['classes']:6} "
          f"{number(row.get('tree', {}).get('tree')):>10}{row['tree_vs']:1} "
          f"{number(row.get('dag', {}).get('dag')):>10}{row['dag_vs']:1} "
          f"{number(exact.get('dag')):>10}{row['exact_vs']:1} "
          f"{number(exact.get('bound')):>10} "
          f"{'yes' if exact.get('proved') else 'no':>3} "
          f"{row.get('dag', {}).get('seconds', 0):7.4f} "
          f"{exact.get('seconds', 0):7.4f} "
          f"{exact.get('steps', 0):8} | "
          f"{number(ref['greedy']):>10} {number(ref['ilp']):>10} "
          f"{number(ref['ilp_seconds']):>9}"
          f"{'' if ref['ilp_proved'] else '*'}", flush=True)


def summary(rows):
    sets = {}
    for row in rows:
        count = sets.setdefault(row["file"].split("/")[0], {
            "files": 0, "tree_equal": 0, "dag_better": 0, "dag_worse": 0,
            "exact_equal": 0, "exact_better": 0, "exact_worse": 0,
            "proved": 0, "ilp_proved": 0, "seconds": 0.0, "ilp_seconds": 0.0})
        exact = row.get("exact", {})
        count["files"] += 1
        count["tree_equal"] += row["tree_vs"] == "="
        count["dag_better"] += row["dag_vs"] == "<"
        count["dag_worse"] += row["dag_vs"] == ">"
        count["exact_equal"] += row["exact_vs"] == "="
        count["exact_better"] += row["exact_vs"] == "<"
        count["exact_worse"] += row["exact_vs"] == ">"
        count["proved"] += bool(exact.get("proved"))
        count["ilp_proved"] += row["reference"]["ilp_proved"]
        count["seconds"] += exact.get("seconds", 0)
        count["ilp_seconds"] += row["reference"]["ilp_seconds"] or 0
    return sets


def show_summary(sets):
    print(f"\n{'set':16} files tree=  dag< dag>  exact= exact< exact>  "
          f"proved (ILP)  seconds (ILP)")
    total = {}
    for name, c in sets.items():
        for key, value in c.items():
            total[key] = total.get(key, 0) + value
    for name, c in [*sets.items(), ("all", total)]:
        print(f"{name:16} {c['files']:5} {c['tree_equal']:5} "
              f"{c['dag_better']:5} {c['dag_worse']:4} {c['exact_equal']:7} "
              f"{c['exact_better']:6} {c['exact_worse']:6} {c['proved']:8} "
              f"{c['ilp_proved']:5} {c['seconds']:8.3f} "
              f"{c['ilp_seconds']:7.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--methods", default="tree,dag,exact")
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    args = parser.parse_args()
    csv_path = os.path.join(args.data, "reference.csv")
    reference = read_reference(csv_path) if os.path.exists(csv_path) else {}
    rows = []
    print(f"{'file':52} {'nodes':>7} {'classes':>6} {'tree':>10}  {'dag':>10}  "
          f"{'exact':>10}  {'bound':>10} opt  dag s  exact s    steps | "
          f"{'greedy':>10} {'ILP':>10} {'ILP s':>9}")
    for name in files_of(args.data, args.only):
        row = solve(args, name)
        verdict(row, reference.get(name, {}))
        show(row)
        rows.append(row)
    sets = summary(rows)
    show_summary(sets)
    if args.json:
        with open(args.json, "w") as out:
            json.dump({"schema": 1, "machine": platform.processor() or
                       platform.machine(), "cpus": os.cpu_count(),
                       "seconds": args.seconds, "files": rows, "sets": sets},
                      out, indent=1)
    bad = sum(r["tree_vs"] not in ("", "=") or r["dag_vs"] == ">" or
              r["exact_vs"] == ">" or r["exact_vs_dag"] == ">" for r in rows)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
