#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One archive of several, with one object, of which only what is visible in a
shared library can be seen.

usage: archive.py OBJCOPY AR OUTPUT.a INPUT.a... -- COMPILER...

The compiler links, as it knows the linker of the machine that is built for.
"""
import os
import subprocess
import sys


def main():
    objcopy, ar, output, *inputs = sys.argv[1:]
    at = inputs.index("--")
    inputs, compiler = inputs[:at], inputs[at + 1:]
    whole = output + ".o"
    if os.path.exists(output):
        os.remove(output)
    subprocess.run([*compiler, "-r", "-nostdlib", "-o", whole,
                    "-Wl,--whole-archive", *inputs], check=True)
    subprocess.run([objcopy, "--localize-hidden", whole], check=True)
    # The name of the object is a part of the archive: the same everywhere.
    member = os.path.join(os.path.dirname(output) or ".", "libglen.o")
    os.replace(whole, member)
    subprocess.run([ar, "rcsD", output, member], check=True)
    os.remove(member)


if __name__ == "__main__":
    main()
