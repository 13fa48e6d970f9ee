#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A shipped target's instructions, run where this machine or an emulator can.

usage: cross.py GLEN [--quick]

For each target of ROWS: its instructions are held against their meaning by `glen
target test`, and a network of ten convolutions of bytes must give the
interpreter's bytes.  Other processors' code is compiled by clang-19 and run by
qemu; a compiler that is given to glen for that is this script itself, which
writes a program that starts the emulator.  What cannot run here is skipped,
with the reason.

--quick: the instructions of one vector length of each set alone, and nothing of
x86 that this processor does not have; that it compiles is seen by the whole
run.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
ARM = "clang-19 --target=aarch64-linux-gnu"
QEMU_ARM = "qemu-aarch64 -cpu max"
RISCV = "qemu-riscv64 -cpu rv64,v=true,vext_spec=v1.0"
# Name, target, a setting or none, compiler, emulator, bytes are multiplied.
# Of SVE and RVV also a length that vectors of the emulator are longer than.
ROWS = [
    ("x86-avx2", "cpu", None, None, None, True),
    ("x86-vnni", "x86-vnni", None, None, None, True),
    ("x86-bf16", "x86-bf16", None, None, None, True),
    ("x86-amx", "x86-amx", None, None, None, True),
    ("arm-neon", "arm-neon", None, ARM, QEMU_ARM, True),
    ("arm-sve-128", "arm-sve", None, ARM, QEMU_ARM + ",sve-max-vq=1", True),
    ("arm-sve-256", "arm-sve", 256, ARM, QEMU_ARM + ",sve-max-vq=4", True),
    ("arm-sme", "arm-sme", 256, ARM, QEMU_ARM + ",sme256=on", False),
    ("riscv-v-128", "riscv-v", None, "clang-19 --target=riscv64-linux-gnu",
     RISCV + ",vlen=128", True),
    ("riscv-v-256", "riscv-v", 256, "clang-19 --target=riscv64-linux-gnu",
     RISCV + ",vlen=512", True),
    ("power-mma", "power-mma", None, "clang-19 --target=powerpc64le-linux-gnu "
     "-mcpu=power10 -fuse-ld=lld", "qemu-ppc64le -cpu power10", True),
]
# What a processor must have for a row of its own, by /proc/cpuinfo.
FLAGS = {"x86-vnni": "avx512_vnni", "x86-bf16": "avx512_bf16",
         "x86-amx": "amx_int8"}
# With --quick these run the network alone.
NETWORK_ALONE = {"arm-neon", "arm-sve-256", "riscv-v-256"}
# Saves the tile array for callers that use it: a run-time library's, which is
# not installed for other processors.  Nobody here uses it.
STUB = ('#if defined(__ARM_FEATURE_SME)\n__asm__(".weak __arm_tpidr2_save\\n'
        '__arm_tpidr2_save:\\n  ret\\n");\n#endif\n')


def compile_for_emulator(arguments):
    """In place of cc: the program is a script that starts the emulator."""
    command = os.environ["GLEN_CROSS"].split()
    arguments = [a for a in arguments
                 if a != "-fopenmp" and not a.startswith(("-fsanitize",
                                                          "-fno-sanitize"))]
    if "-o" not in arguments:
        return subprocess.call(command + arguments)
    at = arguments.index("-o") + 1
    out = arguments[at]
    arguments[at] = out + ".real"
    with open(out + ".stub.c", "w", encoding="utf-8") as f:
        f.write(STUB)
    code = subprocess.call(command + arguments +
                           ["-static", "-Wno-empty-translation-unit",
                            out + ".stub.c"])
    if code == 0:
        with open(out, "w", encoding="utf-8") as f:
            f.write(f'#!/bin/sh\nexec {os.environ["GLEN_EMULATOR"]} '
                    f'"$0.real" "$@"\n')
        os.chmod(out, 0o755)
    return code


def network():
    """Ten convolutions, their sums scaled, rounded and brought back to bytes."""
    layers = [(3, 16, 3), (16, 16, 3), (16, 24, 1), (24, 24, 3), (24, 8, 1),
              (8, 32, 3), (32, 32, 1), (32, 20, 3), (20, 20, 3), (20, 10, 1)]
    lines = ["(tensor x0 (shape 1 3 12 12) i8)"]
    for k, (c, o, taps) in enumerate(layers):
        x = f"x{k}"
        if taps == 3:
            x = f"(pad (pad {x} zero 2 1 1) zero 3 1 1)"
        lines.append(f"""(tensor w{k} (shape {o} {c} {taps} {taps}) i8)
(let s{k} (transpose (squeeze (compute dotProd (cartProd
  (windows (access {x} 1) (shape {c} {taps} {taps}) (stride 1 1 1))
  (access w{k} 1))) 1) (list 0 3 1 2)))
(let x{k + 1} (compute (cast i8) (compute floor (compute (offset 0.5)
  (compute (scale 0.0625) (compute (cast f32) s{k}))))))""")
    return "\n".join(lines + ["(output x10)"]) + "\n"


def has_flag(flag):
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return flag in re.findall(r"\w+", f.read())


def missing(compiler, emulator):
    words = [w.split()[0] for w in (compiler, emulator) if w]
    return [w for w in words if not shutil.which(w)]


class Row:
    def __init__(self, glen, folder, row):
        (self.name, self.target, self.bits, self.compiler, self.emulator,
         self.bytes) = row
        self.glen, self.folder = glen, folder
        self.passed = self.failed = 0

    def call(self, *command):
        env = dict(os.environ)
        if self.compiler:
            env.update(GLEN_CROSS=self.compiler, GLEN_EMULATOR=self.emulator)
            command += ("--cc", os.path.abspath(__file__))
        return subprocess.run([self.glen, *command], env=env, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=600)

    def path(self):
        source = os.path.join(ROOT, "targets", self.target + ".target")
        if not self.bits:
            return source
        path = os.path.join(self.folder, self.name + ".target")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f'(target t (set vector-bits {self.bits}) '
                    f'(include "{source}"))\n')
        return path

    def count(self, good, text):
        self.passed += good
        self.failed += not good
        if not good:
            print(f"{self.name}: {text[-2000:]}")

    def test_instructions(self):
        """True where all of them ran."""
        done = self.call("target", "test", self.path())
        ran = True
        for verdict, name, reason in re.findall(
                r"^(tested|refuted|untested) +(\S+) +(.*)$", done.stdout, re.M):
            if verdict == "untested":
                print(f"skipped isa:{self.name}: {name}: {reason}")
                ran = False
            else:
                self.count(verdict == "tested", done.stdout)
        return ran

    def run_network(self):
        path = os.path.join(self.folder, "network.glen")
        with open(path, "w", encoding="utf-8") as f:
            f.write(network())
        done = self.call("run", path, "--target", self.path(), "--check",
                         "--cc-flag", "-DGLEN_INSTRUCTIONS")
        self.count(done.returncode == 0, done.stderr)

    def run(self, quick):
        absent = missing(self.compiler, self.emulator)
        flag = FLAGS.get(self.name)
        if absent:
            print(f"skipped isa:{self.name}: {', '.join(absent)} not installed")
        elif quick and flag and not has_flag(flag):
            print(f"skipped isa:{self.name}: this processor has no {flag}")
        elif quick and self.name in NETWORK_ALONE:
            self.run_network()
        elif self.test_instructions() and self.bytes:
            self.run_network()


def main():
    if "GLEN_CROSS" in os.environ:
        sys.exit(compile_for_emulator(sys.argv[1:]))
    glen = os.path.abspath(sys.argv[1])
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for row in ROWS:
            one = Row(glen, folder, row)
            one.run("--quick" in sys.argv)
            passed += one.passed
            failed += one.failed
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
