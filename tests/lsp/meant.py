#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each finding that asks "did you mean" has a code action that does what it says.

Every refused file of tests/fail is opened, and the misspelt targets and scripts
below.  What a finding offers is put in the place that the action names; then
the finding must be gone.

usage: meant.py GLEN
"""
import os
import re
import sys

from replay import ROOT, Server

LANGUAGES = {".glen": "glen", ".rules": "glen-rules", ".target": "glen-target"}
MEANT = re.compile(r"did you mean [`']?([^`'? ]+)")
TARGETS = {
    "memories.target": """(target near (memory pad (bytes 4096) (row 16)))
(instr load "Into the pad." (params n)
  (operands (a ((n) ()) f32)) (result ((n) ()) f32 (in pda))
  (semantics a) (emit "x();"))
""",
    "mac.target": """(mac dot "Products of bytes." (shape 1 16 4)
  (x u8) (y i8 (hold 4)) (sum i32) (acumulators 24))
""",
    "parts.target": """(target parts (frequency-gz 1.5) (cors 2))
(instr sq "why" (parms n) (operands (a ((n) ()) f32)) (result ((n) ()) f32)
  (semantics (compute relu a)) (emit "x();"))
""",
}


def files():
    for at, _, names in os.walk(os.path.join(ROOT, "tests/fail")):
        for name in sorted(names):
            if os.path.splitext(name)[1] in LANGUAGES:
                with open(os.path.join(at, name), "rb") as f:
                    yield name, f.read().decode("utf-8", "replace")
    yield from TARGETS.items()


class Session:
    def __init__(self, glen):
        self.server, self.asked = Server(glen, []), 0
        self.ask("initialize", {"processId": None, "rootUri": None,
                                "capabilities": {}})

    def ask(self, method, params):
        self.asked += 1
        self.server.send({"jsonrpc": "2.0", "id": self.asked, "method": method,
                          "params": params})
        return [m for m in self.server.settle() if "result" in m][0]["result"]

    def findings(self, name, text):
        self.server.send({
            "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {
                "textDocument": {
                    "uri": "file:///elsewhere/" + name, "version": 1,
                    "languageId": LANGUAGES[os.path.splitext(name)[1]],
                    "text": text}}})
        return [d for m in self.server.settle()
                for d in m.get("params", {}).get("diagnostics", [])]

    def actions(self, name):
        return self.ask("textDocument/codeAction", {
            "textDocument": {"uri": "file:///elsewhere/" + name},
            "range": {"start": {"line": 0, "character": 0},
                      "end": {"line": 9999, "character": 0}},
            "context": {"diagnostics": []}})


def edited(text, edit):
    lines = text.splitlines(keepends=True)
    first, last = edit["range"]["start"], edit["range"]["end"]
    line = lines[first["line"]]
    lines[first["line"]] = (line[:first["character"]] + edit["newText"] +
                            line[last["character"]:])
    return "".join(lines)


def check(session, name, text):
    """The findings that ask, and what is wrong with their actions."""
    asks = [d for d in session.findings(name, text)
            if MEANT.search(d["message"])]
    faults = []
    actions = session.actions(name) if asks else []
    for finding in asks:
        word = MEANT.search(finding["message"])[1]
        edits = [edit for a in actions if finding in a["diagnostics"]
                 for edit in a["edit"]["changes"]["file:///elsewhere/" + name]]
        if [edit["newText"] for edit in edits] != [word]:
            faults.append((name, finding["message"], edits))
        elif finding["message"] in [d["message"] for d in session.findings(
                name, edited(text, edits[0]))]:
            faults.append((name, finding["message"], "is still there"))
    return len(asks), faults


def main():
    session = Session(os.path.abspath(sys.argv[1]))
    found = [check(session, name, text) for name, text in files()]
    asked, faults = sum(n for n, _ in found), sum((f for _, f in found), [])
    for fault in faults:
        print("failed:", *fault)
    if asked < 20:
        faults.append("too few findings ask")
    print(f"{asked - len(faults)} passed, {len(faults)} failed")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
