#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replays recorded sessions with the language server.

A session (*.json) is a list of steps: `send` a message, or `raw` bytes of any
kind, and `expect` what the server says to it, in order.  After each step a
request that does not exist is sent; its answer tells that the step is done.  A
last step may say `exit`: the exit code.  In strings ROOT is the source tree.
@FILE as a text is the text of that file.  <any> in an expected string stands for
any text.

usage: replay.py GLEN SESSION.json... [--bless]
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def swap(value, old, new):
    """The value with `old` replaced in all its strings, and in keys."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [swap(v, old, new) for v in value]
    if isinstance(value, dict):
        return {swap(k, old, new): swap(v, old, new)
                for k, v in value.items()}
    return value


def fits(expected, said):
    if isinstance(expected, str) and isinstance(said, str):
        parts = map(re.escape, expected.split("<any>"))
        return re.fullmatch(".*?".join(parts), said, re.S) is not None
    if isinstance(expected, list) and isinstance(said, list):
        return (len(expected) == len(said) and
                all(map(fits, expected, said)))
    if isinstance(expected, dict) and isinstance(said, dict):
        return (expected.keys() == said.keys() and
                all(fits(v, said[k]) for k, v in expected.items()))
    return expected == said


def texts(value):
    if isinstance(value, str) and value.startswith("@"):
        with open(os.path.join(ROOT, value[1:]), encoding="utf-8") as f:
            return f.read()
    if isinstance(value, list):
        return [texts(v) for v in value]
    if isinstance(value, dict):
        return {k: texts(v) for k, v in value.items()}
    return value


class Server:
    def __init__(self, glen, arguments):
        self.process = subprocess.Popen(
            [glen, "lsp", *arguments], cwd=ROOT, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.markers = 0

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps(message).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def receive(self):
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                return None
            if line == b"\r\n":
                break
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def settle(self):
        """What the server says until it has done all that was asked."""
        self.markers += 1
        marker = f"marker-{self.markers}"
        self.send({"jsonrpc": "2.0", "id": marker, "method": "$/marker"})
        said = []
        while True:
            message = self.receive()
            if message is None:
                return said + ["the server is gone"]
            if message.get("id") == marker:
                return said
            said.append(message)


def play(glen, path, bless):
    with open(path, encoding="utf-8") as f:
        session = json.load(f)
    server = Server(glen, session.get("arguments", []))
    faults = []
    for number, step in enumerate(session["steps"], 1):
        if "exit" in step:
            server.send({"jsonrpc": "2.0", "method": "exit"})
            server.process.stdin.close()
            said = server.process.wait(timeout=600)
        else:
            if "raw" in step:
                server.write(step["raw"].encode("utf-8", "surrogateescape"))
            else:
                server.send(texts(swap(step["send"], "ROOT", ROOT)))
            said = swap(server.settle(), ROOT, "ROOT")
        key = "exit" if "exit" in step else "expect"
        if not fits(step.get(key, []), said):
            faults.append((number, step.get(key, []), said))
            step[key] = said
    server.process.stdin.close()
    server.process.wait(timeout=600)
    if bless and faults:
        with open(path, "w", encoding="utf-8") as f:
            json.dump(session, f, indent=1)
            f.write("\n")
    for number, expected, said in faults if not bless else []:
        print(f"{path}: step {number}\n"
              f"  expected {json.dumps(expected)[:3000]}\n"
              f"  said     {json.dumps(said)[:3000]}")
    return not faults or bless


def main():
    arguments = [a for a in sys.argv[1:] if a != "--bless"]
    bless = len(arguments) < len(sys.argv) - 1
    if len(arguments) < 2:
        sys.exit(__doc__)
    glen = os.path.abspath(arguments[0])
    done = [play(glen, path, bless) for path in arguments[1:]]
    print(f"{sum(done)} passed, {len(done) - sum(done)} failed")
    sys.exit(0 if all(done) else 1)


if __name__ == "__main__":
    main()
