# SPDX-License-Identifier: MIT
"""Mistakes of newcomers in build files, and what they are told: that the build
stops, at which place, and a message that says what to write."""
import os
import shutil

PROGRAM = ("(tensor x (shape 4 8) f32)\n(let y (compute relu x))\n"
           "(output y)\n")
RULES = ('(rule twice "why" (compute relu (compute relu ?a)) => '
         "(compute relu ?a))\n")
CMAKE = """cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C)
find_package(glen REQUIRED)
%s
"""
NINJA = """rule glen
  command = glen compile $in $flags -o $stem.c --depfile $stem.d %s
  depfile = $stem.d
build net.c net.h: glen %s
  stem = net
  flags = %s
"""
MESON = """project('app', 'c', meson_version: '>=0.61')
glen = find_program('glen', native: true)
net = custom_target('net', input: '%s', output: ['net.c', 'net.h'],
  depfile: 'net.d', command: [glen, 'compile', '@INPUT@', %s
  '-o', '@OUTPUT0@', '--depfile', '@DEPFILE@', '--depfile-format', 'ninja'])
static_library('kernels', net)
"""
MAKE = """net.c: %s
\tglen compile $< %s -o $@ --touch --depfile net.d
"""

# What stands in CMakeLists.txt, and what CMake says at its line 4.
CONFIGURED = [
    ("glen_add_kernel(net)", ["Function invoked with incorrect arguments"]),
    ("glen_add_kernel(net nett.glen)",
     ["glen_add_kernel(net): there is no program", "/nett.glen"]),
    ("glen_add_kernel(net.glen net)",
     ["there is no program", "glen_add_kernel(dense dense.glen)"]),
    ("glen_add_kernel(net net.glen RULE rules)",
     ["the argument 'RULE;rules' is not known here", "RULES PATH..."]),
    ("glen_add_kernel(net net.glen FUNCTION)", ["'FUNCTION' has no value"]),
    ("glen_add_kernel(net net.glen RULES ./no/rules)",
     ["there are no rules at", "/no/rules"]),
    ("glen_add_kernel(net net.glen TARGET boards/npu.target)",
     ["there is no target at", "/boards/npu.target"]),
    ("glen_add_kernel(net .)", ["there is no program"]),
]
# What stands behind glen_add_kernel(net net.glen, and what glen says when the
# kernel is made.
BUILT = [
    ("TARGET sistolic", ["did you mean systolic?"]),
    ("RULES winogard", ["did you mean winograd?"]),
    ("RULES none.rules", ["cannot read 'none.rules'"]),
    ("OPTIONS --fuse-loops", ["--fuse-loops", "glen compile --help"]),
]
# Files of Ninja, Meson and Make: what they hold, and what is said.
OTHERS = [
    ("ninja", NINJA % ("--depfile-format Ninja", "net.glen", ""),
     ["--depfile-format takes one of: make ninja, not Ninja"]),
    ("ninja", NINJA % ("--depfile-format ninja", "net.glen",
                       "--target sistolic"), ["did you mean systolic?"]),
    ("ninja", NINJA % ("--depfile-format ninja", "nett.glen", ""),
     ["nett.glen"]),
    ("meson", MESON % ("net.glen", "'--target', 'sistolic',"),
     ["did you mean systolic?"]),
    ("meson", MESON % ("nett.glen", ""), ["meson.build:3", "nett.glen"]),
    ("meson", MESON % ("net.glen", "'--rules rules',"),
     ["unknown option", "--rules rules"]),
    ("make", MAKE % ("net.glen", "--rules winogard"),
     ["did you mean winograd?"]),
    ("make", MAKE % ("nett.glen", ""), ["nett.glen"]),
    ("make", MAKE % ("bad.glen", ""),
     ["bad.glen:2:17: error: unknown compute operator `rely`",
      "did you mean `relu`?"]),
]
FILES = {"ninja": "build.ninja", "meson": "meson.build", "make": "Makefile"}


def folder(installed, number):
    name = f"mistake{number}"
    installed.write(name + "/net.glen", PROGRAM)
    installed.write(name + "/bad.glen", PROGRAM.replace("relu", "rely"))
    installed.write(name + "/rules/twice.rules", RULES)
    return name, os.path.join(installed.scratch, name)


def expect(installed, what, done, texts):
    """The command failed, and its output has each text, however it is wrapped."""
    code, out, err = done
    said = " ".join((out + err).split())
    missing = [t for t in texts if t not in said]
    installed.expect(what, code != 0 and not missing,
                     f"exit {code}, without {missing}\n{(out + err)[-2500:]}")


def check_cmake(installed, at, text, texts, build):
    name, there = folder(installed, at)
    installed.write(name + "/CMakeLists.txt", CMAKE % text)
    done = installed.run(["cmake", "-S", ".", "-B", "out", "-G", "Ninja"],
                         there)
    if build:
        installed.expect(f"cmake: {text}: configured", done[0] == 0, done[2])
        done = installed.run(["cmake", "--build", "out"], there)
    else:
        texts = ["CMakeLists.txt:4"] + texts
    expect(installed, f"cmake: {text}", done, texts)


def check_other(installed, at, system, text, texts):
    name, there = folder(installed, at)
    installed.write(os.path.join(name, FILES[system]), text)
    command = {"ninja": "ninja", "make": "make",
               "meson": "meson setup out && ninja -C out"}[system]
    expect(installed, f"{system}: {text}", installed.run(command, there), texts)


def check(installed):
    cases = [(*case, False) for case in CONFIGURED] + [
        (f"glen_add_kernel(net net.glen {words})", texts, True)
        for words, texts in BUILT]
    for k, (text, texts, build) in enumerate(cases):
        check_cmake(installed, k, text, texts, build)
    for k, (system, text, texts) in enumerate(OTHERS):
        if shutil.which(system):
            check_other(installed, len(cases) + k, system, text, texts)
    # A folder that was moved away, which GLEN_PATH still names.
    code, out, err = installed.run(
        ["glen", "target", "board77"], GLEN_PATH="/gone/glen")
    expect(installed, "GLEN_PATH of a folder that is gone", (code, out, err),
           ["GLEN_PATH names /gone/glen, where no folder is"])
