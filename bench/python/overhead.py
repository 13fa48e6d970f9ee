#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call of a kernel from Python costs, how soon there is a result, what
calls leave behind, and what eight threads do with one kernel.

usage: overhead.py [--rounds N]

Run by an interpreter that has the wheel and numpy.  The kernel is an addition
of eight numbers, so that little but the call is measured.  Each figure is the
least of N rounds (7) of ten thousand calls:

  ctypes      the kernel's own entry point by ctypes, its pointers made before
  ctypes+     the same with the pointers taken from the arrays in each call
  out         glen's callable with out=, every argument checked
  new         glen's callable, which makes the array that it returns
  dlpack      glen's callable on objects that only speak DLPack
  strided     glen's callable on an input that must be copied

Times of calls and of the first result are told by the clock; the first result
also by the processor, which a busy machine changes less.  Growth is of the
process's memory over ten thousand calls of each kind, after as many.
"""
import argparse
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import threading
import timeit

import glen
import numpy

CALLS = 10000
THREADS = 8
PROGRAM = ("(tensor x (shape 8) f32)\n(tensor y (shape 8) f32)\n"
           "(let z (compute add (pair x y)))\n(output z)\n")
START = ("import sys, glen, numpy\n"
         "x = numpy.ones(8, 'f4')\n"
         "kernel = glen.compile(sys.argv[1], cache=sys.argv[2])\n"
         "assert kernel.cached and (kernel(x, x) == 2).all()\n")


class OnlyDLPack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **more):
        return self.array.__dlpack__(**more)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def by_ctypes(kernel, arrays):
    """Calls of the shared object that the kernel was loaded from."""
    entry = ctypes.CDLL(kernel.file).glen_entry
    entry.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data
                                                 for a in arrays))

    def again():
        taken = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data
                                                  for a in arrays))
        entry(taken, None, 0)
    return (lambda: entry(pointers, None, 0)), again


def microseconds(call, rounds):
    return min(timeit.repeat(call, number=CALLS, repeat=rounds)) / CALLS * 1e6


def kinds(folder):
    """The calls that are compared, by name."""
    kernel = glen.compile(PROGRAM, cache=folder)
    x, y, z = (numpy.ones(8, "f4") for _ in range(3))
    given = [OnlyDLPack(a) for a in (x, y, z)]
    wide = numpy.ones(16, "f4")[::2]
    ready, taken = by_ctypes(kernel, (x, y, z))
    return {
        "ctypes": ready, "ctypes+": taken,
        "out": lambda: kernel(x, y, out=z), "new": lambda: kernel(x, y),
        "dlpack": lambda: kernel(given[0], given[1], out=given[2]),
        "strided": lambda: kernel(wide, y, out=z)}


def resident():
    """The bytes of memory that this process has."""
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def growth(call):
    """(bytes before, bytes after) ten thousand calls, after as many."""
    timeit.timeit(call, number=CALLS)
    before = resident()
    timeit.timeit(call, number=CALLS)
    return before, resident()


def wrong_in_threads(folder):
    """How many of the results differ that eight threads get from one kernel,
    each of arrays of its own."""
    kernel = glen.compile(PROGRAM, cache=folder)
    wrong = [0] * THREADS

    def work(k):
        x = numpy.arange(8, dtype="f4") + k
        for _ in range(CALLS):
            wrong[k] += not (kernel(x, x) == 2 * x).all()
    threads = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(wrong)


def first_result(folder, rounds):
    """Seconds from the start of an interpreter to the end of a first call of a
    kernel that is in the cache, by the clock and of the processor."""
    command = [sys.executable, "-c", START, PROGRAM, folder]

    def once():
        was = resource.getrusage(resource.RUSAGE_CHILDREN)
        clock = timeit.timeit(
            lambda: subprocess.run(command, check=True), number=1)
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        return clock, (now.ru_utime + now.ru_stime - was.ru_utime -
                       was.ru_stime)
    return tuple(map(min, zip(*(once() for _ in range(rounds)))))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        by_name = kinds(folder)
        found = {name: microseconds(call, rounds)
                 for name, call in by_name.items()}
        for name, time in found.items():
            before, after = growth(by_name[name])
            print(f"{name:8} {time:6.2f} us, memory {before / 1e6:.2f} MB, "
                  f"then {after / 1e6:.2f} MB")
        print(f"beyond ctypes: {found['out'] - found['ctypes']:.2f} us with "
              f"out=, {found['new'] - found['ctypes']:.2f} us without")
        clock, processor = first_result(folder, rounds)
        print(f"first result of a new process: {clock:.2f} s, "
              f"processor {processor:.2f} s")
        print(f"{THREADS} threads, {CALLS} calls each: "
              f"{wrong_in_threads(folder)} wrong results")


if __name__ == "__main__":
    main()
