# SPDX-License-Identifier: MIT
"""A model is run, compiled and mapped as it is, without a program beside it:
by `glen run MODEL.onnx`, and by NAME_init of the C of `glen compile`."""
import os
import subprocess
import tempfile

import encode
import npy
from encode import FLOAT, INT64, node, tensor, value

MAIN = """
#include "net.h"
#include <stdio.h>
#include <stdlib.h>
int
main(void) {
  static float x[NET_ELEMENTS_x], y[NET_ELEMENTS_y];
  void *weights = NULL, *workspace = NULL;
  for (int k = 0; k < NET_ELEMENTS_x; k++)
    x[k] = (float)(k % 7) - 3;
  if (posix_memalign(&workspace, 64, NET_WORKSPACE_BYTES + 1) ||
      net_init("out", &weights) || net(x, y, weights, workspace))
    return 1;
  for (int k = 0; k < NET_ELEMENTS_y; k++)
    printf("%.9g\\n", y[k]);
  net_free(weights);
  free(workspace);
  return 0;
}
"""


def numbers(n, scale):
    return [scale * (k % 5 - 2) for k in range(n)]


def layered():
    """Two images with a convolution, a product of all of it, a residual."""
    kernel = tensor("stem.weight", FLOAT, (4, 2, 3, 3), numbers(72, 0.25))
    matrix = tensor("head.weight", FLOAT, (144, 6), numbers(864, 0.125))
    shape = tensor("shape", INT64, (2,), [-1, 144])
    nodes = [node("Conv", ["x", "stem.weight"], ["a"], "/stem/Conv",
                  pads=[1, 1, 1, 1]),
             node("Relu", ["a"], ["b"], "/stem/Relu"),
             node("Add", ["a", "b"], ["c"], "/stem/Add"),
             node("Reshape", ["c", "shape"], ["d"], "/head/Reshape"),
             node("MatMul", ["d", "head.weight"], ["y"], "/head/MatMul")]
    return encode.model(nodes, [value("x", FLOAT, ("batch", 2, 6, 6))],
                        [value("y", FLOAT, ("batch", 6))],
                        [kernel, matrix, shape])


def call(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          timeout=300)
    if done.returncode:
        raise RuntimeError(f"{command}: exit code {done.returncode}: "
                           f"{done.stderr[-3000:]}")
    return done.stdout


def write(folder, batch):
    with open(os.path.join(folder, "m.onnx"), "wb") as f:
        f.write(layered())
    n = batch * 72
    npy.save(os.path.join(folder, "x.npy"), "<f4", (batch, 2, 6, 6),
             [k % 7 - 3 for k in range(n)])
    os.mkdir(os.path.join(folder, "out"))


def run(glen, folder, batch, *options):
    """Nothing but the output is written."""
    before = set(os.listdir(folder))
    call([glen, "run", "m.onnx", "--dim", f"batch={batch}", "--input",
          "x=x.npy", "--output", "y.npy", *options], folder)
    left = set(os.listdir(folder)) - before - {"y.npy"}
    if left:
        raise RuntimeError(f"it wrote {left}")
    return npy.load(os.path.join(folder, "y.npy"))


def near(a, b):
    return len(a) == len(b) and all(
        abs(p - q) <= 1e-5 * max(map(abs, b)) for p, q in zip(a, b))


def check_run(glen, folder, batch):
    wanted = run(glen, folder, batch, "--interpret")
    for way in ([], ["--target", "native"], ["--weights", "inputs"],
                ["--omp-threads", "2"]):
        have = run(glen, folder, batch, *way)
        if have[:2] != wanted[:2] or not near(have[2], wanted[2]):
            raise RuntimeError(f"{way} differs from the interpreter")


def check_compile(glen, folder, batch):
    wanted = run(glen, folder, batch, "--interpret")
    call([glen, "compile", "m.onnx", "--dim", f"batch={batch}", "-o",
          "out/net.c"], folder)
    made = sorted(os.listdir(os.path.join(folder, "out")))
    if made != ["m.weights", "net.c", "net.h"]:
        raise RuntimeError(f"it wrote {made}")
    with open(os.path.join(folder, "out/main.c"), "w", encoding="utf-8") as f:
        f.write(MAIN)
    call(["cc", "-O1", "-Iout", "-D_POSIX_C_SOURCE=200809L", "out/main.c",
          "out/net.c", "-o", "program", "-lm"], folder)
    have = [float(line) for line in call(["./program"], folder).split()]
    if not near(have, wanted[2]):
        raise RuntimeError("the program differs from the interpreter")


def check_names(glen, folder, batch):
    """Layers have their names in comments and in a profile."""
    text = call([glen, "compile", "m.onnx", "--dim", f"batch={batch}", "-o",
                 "-"], folder)
    told = call([glen, "run", "m.onnx", "--dim", f"batch={batch}",
                 "--profile", "--print", "0"], folder)
    for name in ("stem.", "head.MatMul"):
        if f"/* {name}" not in text or name not in told:
            raise RuntimeError(f"{name} is nowhere: {told}")


CHECKS = [check_run, check_compile, check_names]


def check(glen):
    passed = failed = 0
    for batch in (1, 2):
        for one in CHECKS:
            with tempfile.TemporaryDirectory() as folder:
                write(folder, batch)
                try:
                    one(glen, folder, batch)
                    passed += 1
                except (RuntimeError, OSError, ValueError) as fault:
                    failed += 1
                    print(f"FAILED {one.__name__}, batch {batch}: {fault}")
    return passed, failed
