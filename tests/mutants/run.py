#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants small faults, one at a time, and sees whether the tests notice.

usage: run.py BUILD [--folder NAME]... [--only ID]... [--missed] [--within SECONDS]
              [--spend SECONDS] [--minutes N] [--jobs N] [--survey WORD]...
              [--every N] [--anew] [--lists GLOB] [--results FILE] [--table] [--fresh]

The faults are the patches of tests/mutants/*.patch, each behind a line `# ID`,
or `# ID equivalent: REASON` for one that changes nothing that can be seen.
BUILD is a build folder with the tests, up to date.

All of src/ is compiled into one shared library (whole.py); a fault is its file
compiled anew, which is loaded in its place.  First each test runs once with a
library that notes which blocks of the sources are run; tests that take more than
--within seconds of processor (30) are left out, and --survey looks only at those
whose name holds a word, --every at one test in N besides.  What is known of a test is kept until the test changes;
--anew looks at all of them again, which is due when the sources have moved far.
Then the tests that run a block of the line of a fault
are asked until one fails, the cheapest of each kind first.  One that fails is
asked again without the fault: what fails then, too, says nothing.  A test that
takes four times what it takes otherwise, and three seconds, has failed; --spend
bounds what a fault may take in all (40), and what was not asked then is asked by
a later --missed, as are tests that are new or were changed since.

--jobs faults (2) are asked side by side.  The folders are gone through side by
side, and sample.py draws in random order: wherever a run is stopped (--minutes
stops it), what was asked is an even random sample of each.  What was found goes
to tests/mutants/results.json, and a later run goes on there; --fresh begins anew.
--lists names other lists than tests/mutants/*.patch, and --results where what
becomes of them is kept.  The table by folder is printed at the end, and --table
prints nothing else.
"""
import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import time

import suites
import whole
from faults import faults

SHORT = os.path.join(whole.HERE, "results.json")
ASKED = os.path.join(whole.HOME, "asked")


def order(tests, fault, lines):
    """The tests to ask, in the order in which they are asked: those that run the
    line before those that run what is beside it, the nearest and cheapest first,
    but no kind of test long before the others."""
    exact, beside, around = blocks_of(fault, lines)
    if not any(t.blocks & (exact | beside) for t in tests.values()):
        beside = around
    ranks, found = {}, []
    # Among those that take the same, in an order that says nothing.
    for test in sorted(tests.values(), key=lambda t: (round(
            t.seconds or 0, 2), hashlib.sha256(t.name.encode()).digest())):
        if test.seconds is None or not test.blocks & (exact | beside):
            continue
        rank = ranks[test.group] = ranks.get(test.group, -1) + 1
        price = (test.seconds + 0.02) * (1 + rank / 8)
        price *= 1 if test.near(fault.folder) else 3
        found.append((price * (1 if test.blocks & exact else 4), test.name))
    return [tests[name] for _, name in sorted(found)]


def blocks_of(fault, lines):
    """Three sets of blocks, a bit each: those of the line that a fault changes, or
    of the nearest above where no statement begins there; those of its context;
    those of its function.  Not every block is counted: clang leaves out those that
    others tell of, so that a line behind an assertion seems to be its failure."""
    first, line, last = fault.lines(os.path.join(whole.COUNTED, "tree"))
    counts = lines.get(fault.path, {})
    above = [n for n in counts if line and n <= line]
    exact = sum(1 << b for b in counts[max(above)]) if above else 0
    beside = 0
    for n in counts:
        if line and first <= n <= last:
            beside |= sum(1 << b for b in counts[n])
    begin, end = fault.function(os.path.join(whole.COUNTED, "tree"))
    around = sum(1 << b for b in {b for n in counts if begin <= n <= end
                                  for b in counts[n]})
    return exact, beside, around


def judge(fault, tests, lines, args):
    """What became of a fault: a word, the test that noticed it, and the seconds of
    processor that it took."""
    result = {"word": "stale", "by": "", "spent": 0, "patch": fault.digest}
    path = os.path.join(whole.ROOT, fault.path)
    text = None
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            text = fault.planted(f.read())
    if text is None:
        return result
    begin = os.times()
    folder = os.path.join(whole.FAULTY, str(os.getpid()))
    os.environ["LD_LIBRARY_PATH"] = whole.libraries(folder)
    if not whole.place(args.build, fault.path, text, folder):
        result["word"] = "does not compile"
        return result
    hunt(fault, order(tests, fault, lines), args, begin,
         folder, result)
    return result


def spent(begin):
    now = os.times()
    return sum(now[:4]) - sum(begin[:4])


def hunt(fault, able, args, begin, folder, result):
    """Asks one test after the other until one fails."""
    path = os.path.join(ASKED, fault.digest + ".json")
    asked = set()
    if args.missed and os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            asked = set(json.load(f))
    result["word"] = "not noticed" if able else "not reached"
    for test in able:
        mark = hashlib.sha256((test.name + test.digest).encode()).hexdigest()[:8]
        if mark in asked:
            continue
        if spent(begin) + test.seconds > args.spend:
            result["word"] = "not noticed so far"
            continue
        bound = 4 * test.seconds + 3
        if test.run(bound) is False:
            os.environ["LD_LIBRARY_PATH"] = whole.libraries(whole.WHOLE)
            sound = test.run(2 * bound)
            os.environ["LD_LIBRARY_PATH"] = whole.libraries(folder)
            if sound:
                result["word"], result["by"] = "noticed", test.name
                break
            print(f"fails without a fault: {test.name}", flush=True)
        asked.add(mark)
    result["spent"] = round(spent(begin), 1)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(sorted(asked), f)


def table(listed, results):
    rows = {}
    for fault in listed:
        word = results.get(fault.id, {"word": "not asked"})["word"]
        rows.setdefault(fault.folder, []).append(
            "equivalent" if fault.equivalent else word)
    print("| folder | faults | equivalent | asked | noticed | share |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: |")
    for folder, words in [*sorted(rows.items()),
                          ("all", sum(rows.values(), []))]:
        noticed = words.count("noticed")
        asked = noticed + sum(w.startswith("not ") and w != "not asked"
                              for w in words)
        share = f"{100 * noticed // asked} %" if asked else ""
        print(f"| `{folder}` | {len(words)} | {words.count('equivalent')} | "
              f"{asked} | {noticed} | {share} |")
    for word in ("not reached", "not noticed", "not noticed so far", "stale",
                 "does not compile"):
        ids = [f.id for f in listed if not f.equivalent and
               results.get(f.id, {}).get("word") == word]
        if ids:
            print(f"{word}: {' '.join(ids)}")


def even(listed):
    """The faults of all folders side by side, each folder's in its order."""
    folders = {}
    for fault in listed:
        folders.setdefault(fault.folder, []).append(fault)
    return [fault for _, _, fault in sorted(
        (((k + 0.5) / len(group), name, fault)
         for name, group in folders.items() for k, fault in enumerate(group)),
        key=lambda place: place[:2])]


def read_results(args, listed):
    """What is known so far; of a fault whose patch was changed, nothing."""
    if args.fresh or not os.path.exists(args.results):
        return {}
    with open(args.results, encoding="utf-8") as f:
        results = json.load(f)
    return {f.id: results[f.id] for f in listed
            if results.get(f.id, {}).get("patch") == f.digest}


def write_results(results, args):
    with open(args.results + ".new", "w", encoding="utf-8") as f:
        f.write("{\n" + ",\n".join(
            f"{json.dumps(k)}: {json.dumps(v, sort_keys=True)}"
            for k, v in sorted(results.items())) + "\n}\n")
    os.replace(args.results + ".new", args.results)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", metavar="BUILD")
    parser.add_argument("--folder", action="append", default=[])
    parser.add_argument("--only", action="append", default=[], metavar="ID")
    parser.add_argument("--survey", action="append", default=[], metavar="WORD")
    parser.add_argument("--every", type=int, default=0, metavar="N")
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--within", type=float, default=30, metavar="SECONDS")
    parser.add_argument("--spend", type=float, default=40, metavar="SECONDS")
    parser.add_argument("--minutes", type=float, default=1e6, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--lists", metavar="GLOB")
    parser.add_argument("--results", default=SHORT, metavar="FILE")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    return parser.parse_args()


def wanted(fault, results, args):
    word = results.get(fault.id, {"word": "not asked"})["word"]
    return not fault.equivalent and (
        args.missed and word.startswith("not ") or
        word in ("not asked", "stale", "does not compile"))


def ask(fault):
    """In a process of its own for each of --jobs, which has what it needs from
    its parent."""
    return fault, judge(fault, *ask.needs)


def main():
    args = arguments()
    end = time.monotonic() + 60 * args.minutes
    every = list(faults(args.lists))
    listed = [f for f in every
              if (not args.folder or f.folder in args.folder) and
              (not args.only or f.id in args.only)]
    results = read_results(args, every)
    if args.table:
        return table(listed, results)
    args.build = whole.Build(args.build)
    wrong = whole.prepare(args.build, args.anew)
    if wrong:
        sys.exit(wrong)
    if args.anew and os.path.exists(suites.SURVEY):
        os.remove(suites.SURVEY)
    os.makedirs(ASKED, exist_ok=True)
    tests = suites.listed(args.build)
    suites.survey(tests, args)
    ask.needs = tests, suites.blocks_of_lines(), args
    todo = [f for f in even(listed) if wanted(f, results, args)]
    with multiprocessing.Pool(args.jobs) as pool:
        for k, (fault, result) in enumerate(pool.imap_unordered(ask, todo)):
            results[fault.id] = result
            write_results(results, args)
            print(f"{len(todo) - k - 1} left: {fault.id} {fault.path}: "
                  f"{result['word']} {result['by']} ({result['spent']} s)",
                  flush=True)
            if time.monotonic() > end:
                pool.terminate()
                break
    table(listed, results)


if __name__ == "__main__":
    main()
