# SPDX-License-Identifier: MIT
"""What someone does who has just installed glen, with the time of each step: a
convolution of one's own from C and from Python, a rule proved, an instruction
mapped.  Then documents line by line.  The sources are out of reach, where the
system lets a process hide a folder."""
import os
import shutil
import sys
import time

from harness import ROOT

sys.path.insert(0, os.path.join(ROOT, "python/tests"))
import run as wheel  # noqa: E402

CONV = """; 4 filters of 3x3 over an image of 2 channels.
(tensor image (shape 2 10 10) f32)
(tensor weights (shape 4 2 3 3) f32)
(let sums
  (compute dotProd
    (cartProd
      (windows (access image 0) (shape 2 3 3) (stride 1 1 1))
      (access weights 1))))
(let result (transpose (squeeze sums 0) (list 2 0 1)))
(output result)
"""
# Against loops as one would write them.
MAIN = """#include "conv.h"
#include <stdio.h>
#include <stdlib.h>

int
main(void) {
  static float image[2][10][10], weights[4][2][3][3], result[4][8][8];
  for (int k = 0; k < 200; k++)
    (&image[0][0][0])[k] = (float)(k % 7) - 3;
  for (int k = 0; k < 72; k++)
    (&weights[0][0][0][0])[k] = (float)(k % 5) - 2;
  size_t size = CONV_WORKSPACE_BYTES + CONV_ALIGNMENT;
  void *workspace = aligned_alloc(CONV_ALIGNMENT, size - size % CONV_ALIGNMENT);
  if (!workspace || conv(&image[0][0][0], &weights[0][0][0][0],
                         &result[0][0][0], workspace))
    return 1;
  free(workspace);
  int wrong = 0;
  for (int o = 0; o < 4; o++)
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < 8; x++) {
        float sum = 0;
        for (int c = 0; c < 2; c++)
          for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
              sum += image[c][y + i][x + j] * weights[o][c][i][j];
        wrong += sum != result[o][y][x];
      }
  printf("%d wrong\\n", wrong);
  return wrong != 0;
}
"""
PYTHON = """import glen
import numpy as np

image = (np.arange(200) % 7 - 3).astype(np.float32).reshape(2, 10, 10)
weights = (np.arange(72) % 5 - 2).astype(np.float32).reshape(4, 2, 3, 3)
result = glen.compile(glen.parse(open("conv.glen").read()))(image, weights)
windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (1, 2))
print("equal", np.array_equal(result, np.einsum(
    "cyxij,ocij->oyx", windows, weights)))
"""
RULES = """(rule relu-twice "The relu of a relu is a relu."
  (compute relu (compute relu ?a)) => (compute relu ?a))
"""
WRONG = """(rule no-relu "A relu does nothing." (compute relu ?a) => ?a)
"""
TWICE = """(tensor x (shape 8) f32)
(let y (compute relu (compute relu (access x 0))))
(output y)
"""
# Rows of products of a length that the call names.
TARGET = """(target mine (cores 1) (host (flops-per-cycle 1)))
(instr rowsOfProducts
  "Each row of a with each row of b."
  (params length)
  (operands (a ((rows) (length)) f32) (b ((columns) (length)) f32))
  (result ((rows columns) ()) f32)
  (semantics (compute dotProd (cartProd a b)))
  (cost (cycles (+ rows columns)))
  (emit
    "for (int i = 0; i < {rows}; i++)"
    "  for (int j = 0; j < {columns}; j++) {"
    "    float s = 0;"
    "    for (int k = 0; k < {length}; k++)"
    "      s += {a}[i * {a.stride.0} + k * {a.stride.1}] *"
    "           {b}[j * {b.stride.0} + k * {b.stride.1}];"
    "    {result}[i * {result.stride.0} + j * {result.stride.1}] = s;"
    "  }"))
"""
# Those that name nothing but examples, and what comes with glen.
DOCUMENTS = ["GETTING-STARTED.md", "LANGUAGE.md", "tutorial-rules.md", "COST.md",
             "LOOPS.md", "LAYOUT.md", "ONNX.md", "BUILD-SYSTEMS.md"]


class Newcomer:
    def __init__(self, installed):
        self.installed = installed
        self.at = os.path.join(installed.scratch, "newcomer")
        os.mkdir(self.at)
        self.before = []
        if not installed.build:  # whoever installed it has removed the sources
            return
        hide = ["unshare", "-rm", "sh", "-c",
                f"mount -t tmpfs none '{ROOT}' && exec \"$@\"", "sh"]
        if installed.run([*hide, "true"])[0] == 0:
            self.before = hide
        else:
            print("skipped hidden-sources: a process may not hide a folder "
                  "here")

    def write(self, name, text):
        self.installed.write(os.path.join("newcomer", name), text)

    def step(self, what, *commands):
        """Commands with the code they end with and what they print."""
        began = time.monotonic()
        for command, code, text in commands:
            done, out, err = self.installed.run([*self.before, *command],
                                                self.at)
            self.installed.expect(
                f"newcomer: {what}: {' '.join(command)[:100]}",
                done == code and text in out + err,
                f"exit {done}\n{out[-1500:]}{err[-1500:]}")
        print(f"  {what}: {time.monotonic() - began:.1f} s")


def check_c(n):
    n.write("conv.glen", CONV)
    n.write("main.c", MAIN)
    n.step("a convolution from C",
           (["glen", "run", "conv.glen", "--check"], 0, "equal to"),
           (["glen", "compile", "conv.glen", "-o", "conv.c"], 0, ""),
           (["cc", "-O2", "-Wall", "-Werror", "main.c", "conv.c", "-o", "main",
             "-lm"], 0, ""),
           (["./main"], 0, "0 wrong"))


def check_python(n, build):
    python = n.installed.python or wheel_installed(n, build)
    if python:
        n.write("conv.py", PYTHON)
        n.step("a convolution from Python",
               ([python, "conv.py"], 0, "equal True"))


def wheel_installed(n, build):
    """The interpreter of an environment that has the wheel, or None."""
    if build is None:
        print("skipped wheel: no interpreter that has it is named")
        return None
    began = time.monotonic()
    python = wheel.environment(os.path.join(build, "python"))
    if python is None:
        print("skipped python-packages: numpy cannot be had here")
        return None
    # A copy, as the build folder is hidden with the sources.
    shutil.copytree(os.path.join(build, "python"), os.path.join(n.at, "venv"),
                    symlinks=True)
    python = os.path.join(n.at, "venv/bin/python")
    wrong = wheel.install(build, python, os.path.join(n.at, "wheels"))
    if not n.installed.expect("newcomer: the wheel", not wrong, wrong):
        return None
    print(f"  a wheel, installed: {time.monotonic() - began:.1f} s")
    return python


def check_rule(n):
    n.write("mine.rules", RULES)
    n.write("wrong.rules", WRONG)
    n.write("twice.glen", TWICE)
    n.step("a rule, checked and proved",
           (["glen", "rules", "check", "mine.rules"], 0, ""),
           (["glen", "rules", "prove", "mine.rules", "--verbose"], 0,
            "1 proved for all sizes"),
           (["glen", "rules", "prove", "wrong.rules"], 4, "refuted"),
           (["glen", "saturate", "twice.glen", "--rules", "mine.rules",
             "--verify"], 0, "verify   proved"))


def check_instruction(n):
    n.write("mine.target", TARGET)
    n.step("an instruction, tested and mapped",
           (["glen", "target", "test", "mine.target"], 0, "tested"),
           (["glen", "map", "conv.glen", "--target", "mine.target",
             "--require", "sums"], 0, "rowsOfProducts: used"),
           (["glen", "compile", "conv.glen", "--target", "mine.target",
             "--verify", "-o", "conv.c"], 0, "proved"),
           (["cc", "-O2", "main.c", "conv.c", "-o", "mapped", "-lm"], 0, ""),
           (["./mapped"], 0, "0 wrong"))


def check_documents(n):
    """Each command of a document gives what stands below it."""
    place = os.path.join(n.at, "documents/tests")
    os.makedirs(place)
    shutil.copy(os.path.join(ROOT, "tests/console.py"), place)
    # What documents name by its path.
    shutil.copytree(os.path.join(ROOT, "examples"),
                    os.path.join(n.at, "documents/examples"))
    shutil.copytree(os.path.join(ROOT, "docs/tutorial"),
                    os.path.join(n.at, "documents/docs/tutorial"))
    for name in DOCUMENTS:
        shutil.copy(os.path.join(ROOT, "docs", name), place)
        n.step(f"{name}, line by line",
               ([sys.executable, os.path.join(place, "console.py"),
                 n.installed.file("bin/glen"), os.path.join(place, name)], 0,
                " 0 failed"))


def check(installed):
    n = Newcomer(installed)
    if installed.build:
        print(f"  an installation to a prefix: {installed.seconds:.1f} s")
    check_c(n)
    check_python(n, installed.build)
    check_rule(n)
    check_instruction(n)
    check_documents(n)
