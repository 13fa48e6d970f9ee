# SPDX-License-Identifier: MIT
"""The program whose layouts are measured, and the scripts that give them.

    c[i, j] = max over k of a[i, k] * b[k, j]

reads b like a matrix product, but no kernel for sums of products takes it: its
loops run as they are written, i, j, k from the outside.
"""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))

# The four layouts of b: name -> what `pack` takes; None: as it is
LAYOUTS = {
    "original": None,
    "REORDER": "[i, j] -> [j, i]",
    "INTERLEAVE(8)": "[i, j] -> [floor(j / 8), i, j mod 8]",
    "SPLITY(8)": "[i, j] -> [floor(i / 8), i mod 8, j]",
}


def loops(n, rows=None):
    rows = rows or n
    return f"""\
input A: f32[{rows}, {n}]
input B: f32[{n}, {n}]
output C: f32[{rows}, {n}]

for i in 0..{rows} {{
  for j in 0..{n} {{
    I: C[i, j] = 0.0
    for k in 0..{n} {{
      U: C[i, j] max= A[i, k] * B[k, j]
    }}
  }}
}}
"""


def script(layout):
    use = LAYOUTS[layout]
    return f'pack U B "{use}" global\n' if use else ""


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}:\n{done.stderr.strip()}")
    return done.stdout


def save(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def emit(glen, folder, n, text, target=()):
    """The C file of the program under a script; its function is kernel."""
    os.makedirs(folder, exist_ok=True)
    source = save(os.path.join(folder, "kernel.loops"), loops(n))
    path = save(os.path.join(folder, "kernel.sched"), text)
    out = os.path.join(folder, "kernel.c")
    run(glen, "schedule", source, "--sched", path, "-q", "--name", "kernel", *target,
        "-o", out)
    return out
