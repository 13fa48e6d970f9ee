#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call of a kernel from Python costs, and how soon there is a result.

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
"""
import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import timeit

import glen
import numpy

CALLS = 10000
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


def calls(folder, rounds):
    kernel = glen.compile(PROGRAM, cache=folder)
    x, y, z = (numpy.ones(8, "f4") for _ in range(3))
    given = [OnlyDLPack(a) for a in (x, y, z)]
    wide = numpy.ones(16, "f4")[::2]
    ready, taken = by_ctypes(kernel, (x, y, z))
    return {name: microseconds(call, rounds) for name, call in {
        "ctypes": ready, "ctypes+": taken,
        "out": lambda: kernel(x, y, out=z), "new": lambda: kernel(x, y),
        "dlpack": lambda: kernel(given[0], given[1], out=given[2]),
        "strided": lambda: kernel(wide, y, out=z)}.items()}


def first_result(folder, rounds):
    """Seconds from the start of an interpreter to the end of a first call of a
    kernel that is in the cache."""
    command = [sys.executable, "-c", START, PROGRAM, folder]
    return min(timeit.repeat(lambda: subprocess.run(command, check=True),
                             number=1, repeat=rounds))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        found = calls(folder, rounds)
        for name, time in found.items():
            print(f"{name:8} {time:6.2f} us")
        print(f"beyond ctypes: {found['out'] - found['ctypes']:.2f} us")
        print(f"first result of a new process: "
              f"{first_result(folder, rounds):.2f} s")


if __name__ == "__main__":
    main()
