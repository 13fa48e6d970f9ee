# SPDX-License-Identifier: MIT
"""What is installed: each file, the names that the library exports and takes from
isl, a manual page a command."""
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
EXPORTED = os.path.join(HERE, "exported.txt")
# The functions of the oldest isl that glen is built with, Ubuntu 22.04's: those
# of its headers (but for the deprecated ones) that its library has.
OLDEST_ISL = os.path.join(HERE, "isl-0.24.txt")
# Ends of paths below the prefix, as the folder of libraries differs.
EXPECTED = [
    "bin/glen", "bin/glen-check-proof", "/libglen.so", "/libglen.so.1",
    "/libglen.a", "/pkgconfig/glen.pc", "/cmake/glen/glenConfig.cmake",
    "/cmake/glen/glenConfigVersion.cmake",
    "/cmake/glen/glenKernel.cmake", "include/glen/glen.h",
    "include/glen/editor.h", "include/glen/version.h",
    "share/glen/rules/default.rules", "share/glen/definitions.glen", "share/glen/targets/systolic16.target",
    "share/glen/targets/systolic_array.h", "share/man/man1/glen.1",
    "share/man/man1/glen-check-proof.1",
    "share/bash-completion/completions/glen",
    "share/zsh/site-functions/_glen",
    "share/fish/vendor_completions.d/glen.fish",
]


def defined(path, *options):
    done = subprocess.run(["nm", *options, "--defined-only", path],
                          capture_output=True, text=True, check=True)
    found = re.findall(r"^[0-9a-f]+ [A-Z] (\S+)$", done.stdout, re.M)
    return sorted(name.split("@")[0] for name in found)


def record(installed):
    with open(EXPORTED, "w", encoding="utf-8") as f:
        f.write("\n".join(defined(installed.find("libglen.so"), "-D")) + "\n")


def check_symbols(installed):
    """Names of the library are public for ever: none goes unnoticed, and none
    of another prefix can meet those of a program."""
    with open(EXPORTED, encoding="utf-8") as f:
        recorded = f.read().split()
    shared = defined(installed.find("libglen.so"), "-D")
    static = defined(installed.find("libglen.a"), "-g")
    for kind, names in (("shared", shared), ("static", static)):
        others = [name for name in names if not name.startswith("glen_")]
        installed.expect(f"{kind}: only glen_ names", not others, others[:9])
    gone = sorted(set(recorded) - set(shared))
    new = sorted(set(shared) - set(recorded))
    installed.expect("no name has gone (tests/install/exported.txt)", not gone,
                     gone)
    installed.expect("new names are recorded (run.py BUILD --bless)", not new,
                     new)
    installed.expect("both libraries have the same names", shared == static,
                     sorted(set(shared) ^ set(static)))
    declared = set(re.findall(r"\b(glen_\w+)\(", installed.headers()))
    silent = [name for name in shared if name not in declared]
    installed.expect("what is exported is declared", not silent, silent)
    soname = subprocess.run(["objdump", "-p", installed.find("libglen.so")],
                            capture_output=True, text=True).stdout
    installed.expect("soname", "SONAME               libglen.so.1\n" in soname)


def newer(used, known):
    """Functions of isl that the oldest one does not have."""
    return sorted({name for name in used if name.startswith("isl_")} -
                  set(known))


def check_isl(installed):
    with open(OLDEST_ISL, encoding="utf-8") as f:
        known = f.read().split()
    for path in (installed.find("libglen.so"), installed.file("bin/glen")):
        name = os.path.basename(path)
        done = subprocess.run(["nm", "-D", "--undefined-only", path],
                              capture_output=True, text=True, check=True)
        used = re.findall(r"\b(isl_\w+)", done.stdout)
        installed.expect(f"{name} calls isl", len(used) > 100, len(used))
        found = newer(used, known)
        installed.expect(f"{name} calls nothing newer than isl 0.24",
                         not found, found)
    found = newer(["isl_set_copy", "isl_set_of_tomorrow", "malloc"], known)
    installed.expect("a newer function of isl is noticed",
                     found == ["isl_set_of_tomorrow"], found)


def commands(installed):
    text = installed.run(["glen", "--help"])[1]
    return [name.strip() for name in
            re.findall(r"^  ([a-z]+(?: [a-z]+)?) {2,}", text, re.M)]


def check_pages(installed):
    found = commands(installed)
    installed.expect("commands are listed", len(found) >= 15, found)
    for name in found:
        path = installed.file("share/man/man1",
                              f"glen-{name.replace(' ', '-')}.1")
        if not installed.expect(f"a page of glen {name}", os.path.exists(path)):
            continue
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", path],
                              capture_output=True, text=True)
        installed.expect(f"the page of glen {name} has no faults",
                         not done.stderr and "Defaults are" in done.stdout,
                         done.stderr[:500])


def check_help(installed):
    """Each command's help fits a terminal of 80 columns."""
    for words in ["", *commands(installed)]:
        code, out, err = installed.run(["glen", *words.split(), "--help"])
        wide = [line for line in out.splitlines() if len(line) > 80]
        installed.expect(f"glen {words} --help fits 80 columns",
                         (code, err, wide) == (0, "", []) and out, wide or err)


def check(installed):
    there = [os.path.relpath(os.path.join(at, name), installed.prefix)
             for at, _, names in os.walk(installed.prefix) for name in names]
    for end in EXPECTED:
        installed.expect(f"{end} is installed", any(
            path == end or (end[0] == "/" and path.endswith(end))
            for path in there))
    check_symbols(installed)
    check_isl(installed)
    check_pages(installed)
    check_help(installed)
