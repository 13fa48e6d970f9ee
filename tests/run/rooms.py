#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Machines that take any size that their memories have room for, as drawn.

usage: rooms.py GLEN [COUNT [FIRST]]

Memories have random sizes, rows, alignments and banks; some sizes are bounded, the
others are not.  The templates are C that keeps rows where rows of the memory begin.
Each product has to be mapped, right on the simulator, and right when it runs.
"""
import os
import random
import subprocess
import sys
import tempfile

GLEN = os.path.abspath(sys.argv[1])
TARGET = """(target m (host (flops-per-cycle 0.01) (scalar-ops-per-cycle 0.01))
  (memory pad {pad}) (memory acc {acc}) (prelude-file "m.h"))
(instr load (operands (a ((r) (c)) i8)) (result ((r) (c)) i8 (in pad))
  (semantics a) (cost (cycles (+ 2 r))) (queue l)
  (emit "m_load({{r}}, {{c}}, {{a}}, {{a.stride.0}}, {{result.address}});"))
(instr begin
  (operands (a ((m) (k)) i8 (in pad)) (b ((n) (k)) i8 (in pad)))
  (result ((m n) ()) i32 (in acc)) (semantics (compute dotProd (cartProd a b)))
  {where} (cost (cycles (+ m n k))) (queue c)
  (emit "m_mm(0, {{m}}, {{n}}, {{k}}, {{a.address}}, {{b.address}}, {{result.address}});"))
(instr more
  (operands (s ((m n) ()) i32 (in acc)) (a ((m) (k)) i8 (in pad))
    (b ((n) (k)) i8 (in pad)))
  (result ((m n) ()) i32 (in acc) (onto s))
  (semantics (compute add (pair s (compute dotProd (cartProd a b)))))
  {where} (cost (cycles (+ m n k))) (queue c)
  (emit "m_mm(1, {{m}}, {{n}}, {{k}}, {{a.address}}, {{b.address}}, {{result.address}});"))
(instr store (operands (a ((r) (c)) i32 (in acc))) (result ((r) (c)) i32)
  (semantics a) (cost (cycles (+ 2 r))) (queue s)
  (emit "m_store({{r}}, {{c}}, {{a.address}}, {{result}}, {{result.stride.0}});"))
"""
MODEL = """#include <stdint.h>
#include <string.h>
static int8_t m_pad[{pad}];
static int32_t m_acc[{acc} / 4];
#define M_PITCH(c, row) (((c) + (row) - 1) / (row) * (row))
static inline void
m_load(long r, long c, const int8_t *a, long stride, long at) {{
  for (long i = 0; i < r; i++)
    memcpy(m_pad + at + i * M_PITCH(c, {row}), a + i * stride, (size_t)c);
}}
static inline void
m_mm(int on, long m, long n, long k, long a, long b, long to) {{
  for (long i = 0; i < m; i++)
    for (long j = 0; j < n; j++) {{
      int32_t *s = m_acc + to / 4 + i * M_PITCH(n, {sums}) + j, sum = on ? *s : 0;
      for (long l = 0; l < k; l++)
        sum += m_pad[a + i * M_PITCH(k, {row}) + l] *
               m_pad[b + j * M_PITCH(k, {row}) + l];
      *s = sum;
    }}
}}
static inline void
m_store(long r, long c, long at, int32_t *to, long stride) {{
  for (long i = 0; i < r; i++)
    memcpy(to + i * stride, m_acc + at / 4 + i * M_PITCH(c, {sums}), (size_t)c * 4);
}}
"""
PROGRAM = """(tensor x (shape {m} {k}) i8)
(tensor y (shape {n} {k}) i8)
(let z (compute dotProd (cartProd (access x 1) (access y 1))))
(output z)
"""


def machine(seed):
    """The texts of a target, its model and a program."""
    dice = random.Random(seed)
    row, banks = dice.choice([1, 4, 16]), dice.choice([1, 1, 2, 4])
    sums = dice.choice([1, 4, 16])
    # Each bank has room for one row, and for an alignment before it.
    pad = row * banks * dice.randrange(2 + 16 // row, 200)
    acc = 4 * sums * dice.randrange(2, 64)
    bounds = [f"(<= {v} {b})" for v in "mnk"
              for b in [dice.choice([None, None, 4, 16, 64])] if b]
    where = f"(where (and {' '.join(bounds)}))" if bounds else ""
    target = TARGET.format(
        pad=f"(bytes {pad}) (row {row}) (banks {banks}) "
            f"(align {dice.choice([1, 1, 8])})",
        acc=f"(bytes {acc}) (row {4 * sums})", where=where)
    sizes = {v: dice.choice([1, 3, 8, 16, 17, 24, 49, 64]) for v in "mnk"}
    return (target, MODEL.format(pad=pad, acc=acc, row=row, sums=sums),
            PROGRAM.format(**sizes))


def call(folder, *words):
    return subprocess.run([GLEN, *words], cwd=folder, text=True,
                          capture_output=True, timeout=120)


def wrong(seed, folder):
    """What is wrong, and whether the machine was used."""
    for name, text in zip(("m.target", "m.h", "p.glen"), machine(seed)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    done = call(folder, "simulate", "p.glen", "--target", "m.target")
    if "[too-small]" in done.stderr:
        return None, False
    if done.returncode or "equal to the interpreter" not in done.stderr:
        return f"simulated: {done.stderr}", True
    used = "begin" in done.stdout
    done = call(folder, "run", "p.glen", "--target", "m.target", "--check")
    if done.returncode or "equal to the interpreter" not in done.stderr:
        return f"run: {done.stderr}", used
    return None, used


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    failed = used = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            fault, uses = wrong(seed, folder)
            used += uses
            if fault:
                failed += 1
                print(f"FAILED machine {seed}: {fault}")
    if used < count * 3 // 4:
        failed += 1
        print(f"FAILED: only {used} of {count} machines were used")
    print(f"{count - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
