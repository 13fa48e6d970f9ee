#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each command prints by --json is what its schema in docs/schemas says,
and nothing that does not stand there.

usage: run.py GLEN
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
from cases import CASES, CODES, FILES, MODEL

SCHEMAS = os.path.join(ROOT, "docs/schemas")


def folder_of_files(folder):
    for name in ("examples", "rules", "targets", "tests"):
        os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    for name, text in FILES.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    with open(os.path.join(folder, "relu.onnx"), "wb") as f:
        f.write(MODEL)


def vague(schema, where):
    """Places of a schema that leave something open: a property without a
    description, an array without items, an object without properties."""
    if schema.get("type") == "array" and not schema.get("items"):
        yield where + ": items"
    if schema.get("type") == "object" and \
            "additionalProperties" not in schema:
        yield where + ": additionalProperties"
    for name, inner in schema.get("properties", {}).items():
        if not inner.get("description"):
            yield f"{where}/{name}: description"
        yield from vague(inner, f"{where}/{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from vague(schema[key], f"{where}/{key}")


def output_of(glen, command, folder):
    """What the command prints, as JSON; an exception where it is none."""
    done = subprocess.run([glen, *command.split(), "--json"], cwd=folder,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=300)
    wanted = CODES.get(command, 0)
    if done.returncode != wanted:
        raise ValueError(f"exit code {done.returncode}, not {wanted}: "
                         f"{done.stderr[-500:]}")
    return json.loads(done.stdout)


# What they print is a protocol, and text for a shell.
WITHOUT_JSON = {"lsp", "completions"}


def commands(glen):
    """The commands that the help lists, each with its own help."""
    text = subprocess.run([glen, "--help"], capture_output=True, text=True,
                          check=True).stdout
    for line in text.split("\n"):
        name = line[2:16].strip()
        if line[:2] != "  " or line[2:3] == "g" or not name[:1].islower():
            continue
        about = subprocess.run([glen, *name.split(), "--help"],
                               capture_output=True, text=True).stdout
        yield name, about


def main():
    try:
        import jsonschema
    except ImportError:
        print("skipped jsonschema: its package for Python is not here")
        print("0 passed, 0 failed")
        return
    glen, passed, failed = os.path.abspath(sys.argv[1]), 0, 0

    def tell(what, wrong):
        nonlocal passed, failed
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"FAIL {what}\n  {wrong}")

    for name, about in commands(glen):
        tell(f"glen {name} --json", (" --json " in about) ==
             (name in WITHOUT_JSON) and "it has no such option, or should not")
        known = name.replace(" ", "-") in CASES or name in WITHOUT_JSON
        tell(f"glen {name} has a schema", "" if known else "it has none")
        wide = [line for line in about.split("\n") if len(line) > 79]
        tell(f"the help of glen {name} fits 80 columns", "\n  ".join(wide))
    unused = {name[:-5] for name in os.listdir(SCHEMAS)} - set(CASES)
    tell("each schema is tried", ", ".join(sorted(unused)))
    with tempfile.TemporaryDirectory() as folder:
        folder_of_files(folder)
        for name, lines in CASES.items():
            with open(os.path.join(SCHEMAS, name + ".json"),
                      encoding="utf-8") as f:
                schema = json.load(f)
            check = jsonschema.Draft7Validator(schema)
            jsonschema.Draft7Validator.check_schema(schema)
            open_places = list(vague(schema, ""))
            tell(f"{name}.json leaves nothing open",
                 ", ".join(open_places[:5]))
            for line in lines:
                try:
                    errors = list(check.iter_errors(
                        output_of(glen, line, folder)))
                    tell(line, "; ".join(
                        f"{'/'.join(map(str, e.path))}: {e.message[:200]}"
                        for e in errors[:3]))
                except ValueError as error:
                    tell(line, str(error))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
