#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Text files as C strings: embed.py OUT NAME=FILE..."""
import sys


def literal(text):
    """Lines as adjacent string literals."""
    escapes = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "?": "\\?"}
    for line in text.split("\n"):
        body = "".join(escapes.get(c) or (c if " " <= c <= "~" else "".join(
            f"\\{b:03o}" for b in c.encode())) for c in line)
        yield f'    "{body}\\n"'


def main():
    out, *files = sys.argv[1:]
    with open(out, "w", encoding="ascii") as f:
        f.write("/* Made from text files by src/report/embed.py. */\n")
        for item in files:
            name, _, path = item.partition("=")
            with open(path, encoding="utf-8") as source:
                text = source.read().rstrip("\n")
            if name != "report_html" and "</s" in text.lower():
                sys.exit(f"{path}: would end its element")
            f.write(f"static const char {name}[] =\n")
            f.write("\n".join(literal(text)) + ";\n")


if __name__ == "__main__":
    main()
