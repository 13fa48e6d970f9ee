#!/usr/bin/env python3
"""Ill-formed programs through the program `glen`.

usage: run.py GLEN [--bless] [FILE.glen ...]

Each FILE.glen is run with `GLEN run --interpret`; standard error must be
exactly FILE.err, the exit code 1, standard output empty, and no output may be
written.  A first line `; target: NAME` names the target to pass.  --bless
writes the .err files anew.  A few files too large to keep are made here.
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def run_glen(glen, path, outputs, timeout=120):
    command = [glen, "run", "--interpret", path]
    with open(os.path.join(HERE, path), "rb") as f:
        target = re.match(rb"; target: (\S+)", f.readline())
    if target:
        command += ["--target", target.group(1).decode()]
    command += ["--output", os.path.join(outputs, "out.npy")]
    environment = dict(os.environ, NO_COLOR="1", LC_ALL="C")
    return subprocess.run(command, cwd=HERE, env=environment, timeout=timeout,
                          stdin=subprocess.DEVNULL, capture_output=True)


def check(glen, path, bless):
    """The complaints about one file, as a list of strings."""
    complaints = []
    with tempfile.TemporaryDirectory() as outputs:
        done = run_glen(glen, path, outputs)
        if os.listdir(outputs):
            complaints.append("an output was written")
    if done.returncode != 1:
        complaints.append("exit code %d, not 1" % done.returncode)
    if done.stdout:
        complaints.append("something on standard output")
    expected = os.path.join(HERE, path[:-len(".glen")] + ".err")
    if bless:
        with open(expected, "wb") as f:
            f.write(done.stderr)
        return complaints
    with open(expected, "rb") as f:
        wanted = f.read()
    if done.stderr != wanted:
        complaints.append("standard error is\n%s--- expected\n%s" % (
            done.stderr.decode(errors="replace"),
            wanted.decode(errors="replace")))
    return complaints


def large_programs():
    """(name, bytes, a code that the diagnostics hold)."""
    yield "open-parentheses", b"(" * (10 << 20), b"[unclosed-paren]"
    yield "nested-lists", b"(" * (5 << 20) + b")" * (5 << 20), b"[bad-form]"
    yield ("deep-term",
           b"(tensor a (shape 2) f32)(let y " + b"(compute neg " * 200000 +
           b"b" + b")" * 200000 + b")(output y)", b"[unknown-name]")
    yield "no-newline", b"(output x) " * 500000, b"[unknown-name]"
    yield "binary", bytes(range(256)) * 4096, b"[not-text]"
    yield "long-symbol", b"(output " + b"x" * (8 << 20) + b")", b"[unknown-name]"


def check_large(glen, name, data, code):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + ".glen")
        outputs = os.path.join(folder, "outputs")
        os.mkdir(outputs)
        with open(path, "wb") as f:
            f.write(data)
        done = run_glen(glen, path, outputs)
        complaints = []
        if done.returncode != 1:
            complaints.append("exit code %d, not 1" % done.returncode)
        if code not in done.stderr:
            complaints.append("no %s in\n%s" % (
                code.decode(), done.stderr[:2000].decode(errors="replace")))
        if len(done.stderr) > 100000:
            complaints.append("%d bytes on standard error" % len(done.stderr))
        if os.listdir(outputs):
            complaints.append("an output was written")
        return complaints


def main():
    arguments = [a for a in sys.argv[1:] if a != "--bless"]
    bless = "--bless" in sys.argv
    if not arguments:
        sys.exit(__doc__)
    glen = os.path.abspath(arguments[0])
    paths = [os.path.basename(a) for a in arguments[1:]]
    results = {}
    for path in paths or sorted(os.listdir(HERE)):
        if path.endswith(".glen"):
            results[path] = check(glen, path, bless)
    if not paths:
        for name, data, code in large_programs():
            results["(%s)" % name] = check_large(glen, name, data, code)
    for path, complaints in results.items():
        for complaint in complaints:
            print("%s: %s" % (path, complaint))
    bad = sum(1 for c in results.values() if c)
    print("%d passed, %d failed" % (len(results) - bad, bad))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
