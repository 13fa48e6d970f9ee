#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants small faults, one at a time, and sees whether the tests notice.

usage: run.py [--folder NAME]... [--only ID]... [--missed] [--build] [--near [--wide]]
              [--sanitized] [--within SECONDS] [--spend SECONDS] [--minutes N]
              [--jobs N]
              [--survey WORD]... [--lists GLOB] [--table] [--fresh]

The faults are the patches of tests/mutants/*.patch, each behind a line `# ID`,
or `# ID equivalent: REASON` for one that changes nothing that can be seen.

First each test runs once on a build that counts which lines are run: what it
takes and which faults' lines it reaches.  Tests that take more than --within
seconds of processor (30) are left out; --survey looks only at those whose name
holds a word, and the rest stays as it was.  Then each fault is planted in a
copy of the tree, and the tests that reach its line are asked, those of its own
folder first and the shortest first, until one fails.  Only what a test needs is
built, when it is its turn.  A test that takes three times what it takes
otherwise, and five seconds, has failed; --spend bounds what a fault may take in
all (120), what is built for it included, and what was not asked then is asked by a later --missed.

--jobs copies (2) are used side by side.  The folders are gone through side by
side, and sample.py draws in random order: wherever a run is stopped (--minutes
stops it), what was asked is an even random sample of each.  What was found goes
to build-mutants/results.json after each fault, and in short, without what each
test took, to tests/mutants/results.json, which is kept with the sources: a later
run goes on there, and --fresh begins anew.  --missed asks what was not noticed
again, of the tests that are new or were changed since; a test that was asked and
passed is not repeated.

--near spares the build that counts lines: faults are asked of the tests of their
own folders alone (the table NEAR of suites.py), whether those reach them or not;
with --wide then of all others, too, of which --near knows what they take.
--sanitized plants them in a copy that has the address sanitizer and that of
undefined behaviour: with --near --missed, for what was not noticed without.
--lists names other lists than tests/mutants/*.patch, as of faults drawn to see
how many of new ones are noticed; what becomes of them is not kept in short.
--build only says which faults compile and change the object code, with --missed
those alone that were not noticed.  The table by folder is printed at the
end, and --table prints nothing else.
"""
import argparse
import json
import os
import queue
import sys
import threading
import time

import suites
from faults import HERE, HOME, Copy, faults

RESULTS = os.path.join(HOME, "results.json")
RESULTS_OF_LISTS = os.path.join(HOME, "results-of-lists.json")
SHORT = os.path.join(HERE, "results.json")
lock = threading.Lock()


def order(tests, fault):
    """The tests to ask, in the order in which they are asked."""
    able = [t for t in tests.values()
            if t.seconds is not None and t.reaches(fault) and
            (t.near(fault.folder) or not t.anywhere)]
    return sorted(able, key=lambda t: ((1 if t.near(fault.folder) else 3) *
                                       t.price(), t.name))


def judge(fault, tests, copy, args, before):
    """What became of a fault: a word, the test that noticed it, the tests that
    did not, with their digests, and the seconds of processor that they took."""
    path = os.path.join(copy.tree, fault.path)
    result = {"word": "stale", "by": "", "spent": 0, "patch": fault.digest,
              "asked": dict(before.get("asked", {}))}
    if not os.path.exists(path):
        return result
    with open(path, encoding="utf-8") as f:
        text = f.read()
    planted = fault.planted(text)
    if planted is None:
        return result
    clean = copy.objects(fault.path) if args.build else None
    try:
        with open(path, "w", encoding="utf-8") as f:
            f.write(planted)
        if args.build:
            faulty = copy.objects(fault.path)
            result["word"] = ("does not compile" if faulty is None else
                              "same code" if faulty == clean else "compiles")
        else:
            hunt(fault, tests, copy, args, result)
    finally:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    return result


def hunt(fault, tests, copy, args, result):
    """Asks one test after the other until one fails."""
    result["word"] = "not noticed"
    for test in order(tests, fault):
        name = ("sanitized " if args.sanitized else "") + test.name
        if result["asked"].get(name) == test.digest:
            continue
        if result["spent"] + test.seconds > args.spend:
            result["word"] = "not noticed so far"
            continue
        before = os.times()
        code, out = copy.ninja(*test.targets(copy))
        after = os.times()
        result["spent"] += sum(after[2:4]) - sum(before[2:4])
        if code:
            result["word"], result["by"] = "does not compile", out[-300:]
            return
        run = suites.Run(test, copy, 3 * test.seconds + 5)
        result["spent"] = round(result["spent"] + run.seconds, 2)
        if run.good is False:
            result["word"], result["by"] = "noticed", name
            return
        if run.good:
            result["asked"][name] = test.digest


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
        asked = noticed + sum(w.startswith("not noticed") for w in words)
        share = f"{100 * noticed // asked} %" if asked else ""
        print(f"| `{folder}` | {len(words)} | {words.count('equivalent')} | "
              f"{asked} | {noticed} | {share} |")
    for word in ("not noticed", "not noticed so far", "stale",
                 "does not compile", "same code"):
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
    results = {}
    kept = (RESULTS_OF_LISTS,) if args.lists else (SHORT, RESULTS)
    for path in () if args.fresh else kept:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                results.update(json.load(f))
    return {f.id: results[f.id] for f in listed
            if results.get(f.id, {}).get("patch") == f.digest}


def write(path, results):
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write("{\n" + ",\n".join(
            f"{json.dumps(k)}: {json.dumps(v, sort_keys=True)}"
            for k, v in sorted(results.items())) + "\n}\n")
    os.replace(path + ".new", path)


def write_results(results, args):
    write(RESULTS_OF_LISTS if args.lists else RESULTS, results)
    if not args.lists:
        write(SHORT, {k: {n: r[n] for n in ("patch", "word", "by")}
                      for k, r in results.items()})


def work(todo, tests, copy, args, results, end):
    """Takes faults from the queue until it is empty or the time is up."""
    while time.monotonic() < end:
        try:
            fault = todo.get_nowait()
        except queue.Empty:
            return
        result = judge(fault, tests, copy, args, results.get(fault.id, {}))
        with lock:
            if not args.build:
                results[fault.id] = result
                write_results(results, args)
            print(f"{todo.qsize()} left: {fault.id} {fault.path}: "
                  f"{result['word']} {result['by'][-300:]} "
                  f"({result['spent']:.1f} s)", flush=True)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", action="append", default=[])
    parser.add_argument("--only", action="append", default=[], metavar="ID")
    parser.add_argument("--survey", action="append", default=[], metavar="WORD")
    for flag in ("--build", "--fresh", "--missed", "--near", "--wide",
                 "--sanitized", "--table"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--within", type=float, default=30, metavar="SECONDS")
    parser.add_argument("--spend", type=float, default=120, metavar="SECONDS")
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--lists", metavar="GLOB")
    return parser.parse_args()


def wanted(fault, results, args):
    word = results.get(fault.id, {}).get("word", "")
    if args.build:
        return not args.missed or word.startswith("not noticed")
    return not fault.equivalent and (
        not word or fault.id in args.only or word == "stale" or
        word == "does not compile" or
        args.missed and word.startswith("not noticed"))


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
    more = ["-Db_sanitize=address,undefined"] if args.sanitized else []
    copies = [Copy("sanitized-" * args.sanitized + chr(ord("a") + k), *more)
              for k in range(args.jobs)]
    counting = Copy("survey", "-Db_coverage=true")
    for copy in copies + [counting] * (not args.build and not args.near):
        wrong = copy.prepare(not args.near)
        if wrong:
            sys.exit(wrong)
    tests = suites.listed(copies[0])
    if args.near:
        folders = {f.folder for f in listed if wanted(f, results, args)}
        chosen = {n: t for n, t in tests.items()
                  if args.wide or any(map(t.near, folders))}
        suites.survey(chosen, copies[0], [], args)
    elif not args.build:
        suites.survey(tests, counting, [f for f in every if f.line()],
                      args)
    todo = queue.SimpleQueue()
    for fault in even(listed):
        if wanted(fault, results, args):
            todo.put(fault)
    threads = [threading.Thread(target=work, args=(todo, tests, copy, args,
                                                   results, end))
               for copy in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    table(listed, results)


if __name__ == "__main__":
    main()
