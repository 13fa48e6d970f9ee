#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks every question of the language server at every place of the documents in
places/, which hold forms and names of each kind, right ones and faulty ones.

What holds of the answers wherever they are asked for is checked: a range lies
around its place; all uses of a name know the same uses, and a highlight is a use
in this document; a definition is one of them; names that can be changed are, all
of them, and changed back the texts and findings are what they were; a completion
replaces what stands before the place.  What the answers say is held against
places.json, a hash for each line of a document and each question.  Questions
that make no sense are refused, each by the code of the protocol.

usage: places.py GLEN [--bless] [--show DOCUMENT:LINE]

--show prints the answers of one line.  The last line is `N passed, N failed`.
"""
import functools
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "places")
ROOT = os.path.dirname(os.path.dirname(HERE))
RECORDED = os.path.join(HERE, "places.json")
WORD = re.compile(r'[^\s()"]+|[()"]')
AT_PLACES = ("hover", "definition", "references", "documentHighlight",
             "prepareRename", "rename", "completion")
OF_DOCUMENTS = ("documentSymbol", "formatting", "codeAction")
INVALID_PARAMS, FAILED = -32602, -32803
NEW_NAME = "renamed-here"


class Server:
    """Requests are written side by side with the reading of answers, which come
    in their order."""

    def __init__(self, glen):
        self.process = subprocess.Popen(
            [glen, "lsp"], cwd=FOLDER, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self.number = 0
        self.findings = {}

    def write(self, messages):
        data = []
        for message in messages:
            body = json.dumps({"jsonrpc": "2.0", **message}).encode()
            data.append(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.write(b"".join(data))
        self.process.stdin.flush()

    def receive(self):
        header = self.process.stdout.readline()
        self.process.stdout.readline()
        length = re.match(rb"Content-Length: (\d+)", header)
        if not length:
            raise SystemExit("the server is gone")
        return json.loads(self.process.stdout.read(int(length[1])))

    def ask(self, questions):
        """The answers to [(method, params)], each a result or an error."""
        first = self.number + 1
        self.number += len(questions)
        thread = threading.Thread(target=self.write, args=([
            {"id": first + k, "method": method, "params": params}
            for k, (method, params) in enumerate(questions)],))
        thread.start()
        answers = []
        while len(answers) < len(questions):
            message = self.receive()
            if "id" in message:
                assert message["id"] == first + len(answers), message
                answers.append(message.get("result", message.get("error")))
            else:
                params = message["params"]
                self.findings[params["uri"]] = params["diagnostics"]
        thread.join()
        return answers

    def settle(self):
        """What was told of all documents so far, after all is read."""
        self.ask([("textDocument/hover", at(next(iter(self.findings), ""), 0, 0))])
        return self.findings


def uri_of(path):
    return "file://" + path


def at(uri, line, character):
    return {"textDocument": {"uri": uri},
            "position": {"line": line, "character": character},
            "newName": NEW_NAME, "context": {"includeDeclaration": True}}


def whole(uri):
    everything = {"start": {"line": 0, "character": 0},
                  "end": {"line": 9999, "character": 0}}
    return {"textDocument": {"uri": uri}, "range": everything,
            "options": {"tabSize": 2, "insertSpaces": True},
            "context": {"diagnostics": []}}


def units(text):
    """How many units of 16 bits a text takes: what columns count."""
    return len(text.encode("utf-16-le")) // 2


def places(text):
    """(line, character), whether a word ends there: both ends of each word and
    its second character; beyond the end of each line, too."""
    for number, line in enumerate(text.split("\n")):
        found = {units(line) + 3: False}
        for word in WORD.finditer(line):
            for k, ends in ((word.start(), False), (word.start() + 1, False),
                            (word.end(), True)):
                found[units(line[:k])] = ends
        for character in sorted(found):
            yield (number, character), found[character]


@functools.lru_cache(64)
def lines_of(text):
    """Each line, with the number of characters before it."""
    begin, out = 0, []
    for line in text.split("\n"):
        out.append((begin, line))
        begin += len(line) + 1
    return out


def offset(text, position):
    begin, line = lines_of(text)[position["line"]]
    before = line.encode("utf-16-le")[:2 * position["character"]]
    return begin + len(before.decode("utf-16-le"))


def cut(text, span):
    return text[offset(text, span["start"]):offset(text, span["end"])]


def edited(texts, changes):
    """The texts after edits, which must not overlap."""
    after = dict(texts)
    for uri, edits in changes.items():
        text = after[uri]
        ends = len(text) + 1
        for edit in sorted(edits, key=lambda e: -offset(text, e["range"]["start"])):
            lo, hi = (offset(text, edit["range"][k]) for k in ("start", "end"))
            assert lo <= hi <= ends, "edits overlap"
            after[uri] = after[uri][:lo] + edit["newText"] + after[uri][hi:]
            ends = lo
    return after


def key(position):
    return position["line"], position["character"]


def around(span, place):
    return key(span["start"]) <= place <= key(span["end"])


class Checks:
    def __init__(self):
        self.passed, self.failed = 0, 0

    def hold(self, good, what):
        self.passed += bool(good)
        self.failed += not good
        if not good and self.failed <= 30:
            print("failed:", what)


def spans(locations):
    return sorted((x["uri"], key(x["range"]["start"]), key(x["range"]["end"]))
                  for x in locations)


def hold_laws(checks, texts, uri, place, answers):
    """What is true of the answers at one place, whatever stands there."""
    where = f"{os.path.basename(uri)}:{place[0] + 1}:{place[1]}"
    text = texts[uri]
    end = (place[0], units(text.split("\n")[place[0]]))
    place = min(place, end)
    if answers["hover"]:
        checks.hold(around(answers["hover"]["range"], place),
                    f"{where}: a hover lies elsewhere")
    uses = spans(answers["references"] or [])
    own = sorted(u[1:] for u in uses if u[0] == uri)
    marks = sorted((key(m["range"]["start"]), key(m["range"]["end"]))
                   for m in answers["documentHighlight"] or [])
    checks.hold(own == marks or not marks, f"{where}: highlights are no uses")
    checks.hold(len(set(uses)) == len(uses), f"{where}: a use is told twice")
    if marks:
        checks.hold(any(lo <= place <= hi for lo, hi in marks),
                    f"{where}: the place is no use of its own")
    hold_law_of_names(checks, texts, uri, place, answers, where)
    for item in answers.get("completion", {"items": []})["items"]:
        span = item["textEdit"]["range"]
        if not (around(span, place) and item["label"] and
                len(cut(text, span).split()) <= 1):
            checks.hold(False, f"{where}: {item['label']} replaces {span}")


def hold_law_of_names(checks, texts, uri, place, answers, where):
    ready, change = answers["prepareRename"], answers["rename"]
    named = bool(ready) and "range" in ready
    if named:
        # A use may have marks beside the name: ?x, n:int, rule~rev.
        checks.hold(any(around(m["range"], place) and
                        around(m["range"], key(ready["range"]["start"])) and
                        around(m["range"], key(ready["range"]["end"]))
                        for m in answers["documentHighlight"]) and
                    cut(texts[uri], ready["range"]) == ready["placeholder"],
                    f"{where}: the name stands elsewhere")
    # Of a document whose parentheses do not match, not all uses can be seen.
    checks.hold(not named or "changes" in change or "/cut." in uri,
                f"{where}: a name that can be changed is not")
    if named and "changes" in change:
        edits = [(u, e) for u, list_ in change["changes"].items() for e in list_]
        checks.hold(len(edits) == len(answers["references"]) and all(
            cut(texts[u], e["range"]) == ready["placeholder"] and
            e["newText"] == NEW_NAME for u, e in edits),
            f"{where}: what is renamed are not the uses")


def ask_all(server, uri, text):
    """{place: {question: answer}}; what may stand there where a word ends only,
    as that is long."""
    every = {place: AT_PLACES if ends else AT_PLACES[:-1]
             for place, ends in places(text)}
    answers = iter(server.ask([
        ("textDocument/" + name, at(uri, *place))
        for place, names in every.items() for name in names]))
    return {place: {name: next(answers) for name in names}
            for place, names in every.items()}


def hashes(answers, documents):
    """{question: a hash for each line}."""
    def hashed(value):
        text = json.dumps(value, sort_keys=True).replace(ROOT, "ROOT")
        return hashlib.sha256(text.encode()).hexdigest()[:6]
    out = {name: hashed(value) for name, value in documents.items()}
    for name in AT_PLACES:
        lines = {}
        for place, told in answers.items():
            lines.setdefault(place[0], []).append(told.get(name))
        out[name] = " ".join(hashed(lines[k]) for k in sorted(lines))
    return out


def same_uses(checks, texts, every):
    """Each use of a name knows the same uses."""
    for uri, answers in every.items():
        for place, told in answers.items():
            for use in told["references"] or []:
                other = every.get(use["uri"], {}).get(key(use["range"]["start"]))
                if other:
                    checks.hold(spans(other["references"] or []) ==
                                spans(told["references"]),
                                f"{os.path.basename(uri)}:{place}: another use "
                                "knows other uses")


def tell(server, texts, version):
    server.write([{"method": "textDocument/didChange", "params": {
        "textDocument": {"uri": uri, "version": version},
        "contentChanges": [{"text": text}]}} for uri, text in texts.items()])


def found(findings):
    return {uri: sorted((f.get("code"), f["range"]["start"]["line"])
                        for f in list_) for uri, list_ in findings.items()}


def rename_and_back(server, checks, texts, every):
    """Each name once, at its first place."""
    before = found(server.settle())
    done, version = set(), 1
    for uri, answers in every.items():
        for place, told in answers.items():
            changes = told["rename"].get("changes")
            name = json.dumps(changes, sort_keys=True)
            if not changes or name in done:
                continue
            done.add(name)
            where = f"{os.path.basename(uri)}:{place}"
            after = edited(texts, changes)
            changed = {u: after[u] for u in texts if after[u] != texts[u]}
            version += 2
            tell(server, changed, version)
            checks.hold(found(server.settle()) == before,
                        f"{where}: other findings under another name")
            back = at(uri, *key(min((e["range"]["start"] for e in changes[uri]),
                                    key=key)))
            back["newName"] = told["prepareRename"]["placeholder"]
            answer = server.ask([("textDocument/rename", back)])[0]
            checks.hold("changes" in answer and
                        edited(after, answer["changes"]) == texts,
                        f"{where}: renamed back, the text is another")
            tell(server, {u: texts[u] for u in changed}, version + 1)
    checks.hold(found(server.settle()) == before, "findings are not as before")


def nonsense(uri):
    """Params of places that make no sense."""
    right = at(uri, 0, 0)
    for line, character in ((-1, 0), (0, -1), ("0", 0), (0, "0"), (0.5, 0),
                            (0, 0.5), (None, 0), (0, None), (True, 0), (0, [])):
        yield {**right, "position": {"line": line, "character": character}}
    for position in (None, [], {}, 0, "0:0", {"line": 0}, {"character": 0}):
        yield {**right, "position": position}
    yield {k: v for k, v in right.items() if k != "position"}
    for document in (None, [], {}, "x", {"uri": None}, {"uri": 0},
                     {"uri": uri + "x"}, {"uri": ""}):
        yield {**right, "textDocument": document}


def refuse(server, checks, uri):
    cases = [(name, params) for name in AT_PLACES for params in nonsense(uri)]
    cases += [(name, {**whole(uri), "textDocument": d}) for name in OF_DOCUMENTS
              for d in (None, {}, {"uri": uri + "x"})]
    answers = server.ask([("textDocument/" + n, p) for n, p in cases])
    for (name, params), answer in zip(cases, answers):
        checks.hold(isinstance(answer, dict) and
                    answer.get("code") == INVALID_PARAMS,
                    f"{name} of {params}: {str(answer)[:80]}")
    far = server.ask([("textDocument/" + n, at(uri, *p)) for n in AT_PLACES
                      for p in ((9999, 0), (2 ** 31, 5), (2 ** 40, 2 ** 40),
                                (0, 2 ** 32))])
    for answer in far:
        checks.hold(not answer or isinstance(answer, dict) and
                    (answer.get("code") == FAILED or answer.get("items") == []),
                    f"a place beyond the end: {answer}")


def run(glen, bless, show):
    texts = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.*"))):
        with open(path, encoding="utf-8") as f:
            texts[uri_of(path)] = f.read()
    checks, server = Checks(), Server(glen)
    server.ask([("initialize", {"processId": None, "capabilities": {},
                                "rootUri": uri_of(FOLDER)})])
    server.write([{"method": "initialized", "params": {}}])
    server.write([{"method": "textDocument/didOpen", "params": {"textDocument": {
        "uri": uri, "languageId": "glen", "version": 1, "text": text}}}
        for uri, text in texts.items()])
    recorded = {}
    if os.path.exists(RECORDED):
        with open(RECORDED, encoding="utf-8") as f:
            recorded = json.load(f)
    every, now = {}, {}
    for uri, text in texts.items():
        every[uri] = ask_all(server, uri, text)
        told = dict(zip(OF_DOCUMENTS, server.ask(
            [("textDocument/" + n, whole(uri)) for n in OF_DOCUMENTS])))
        told["findings"] = server.settle()[uri]
        now[os.path.basename(uri)] = hashes(every[uri], told)
        for place, answers in every[uri].items():
            if show == f"{os.path.basename(uri)}:{place[0] + 1}":
                print(place, json.dumps(answers, sort_keys=True))
            hold_laws(checks, texts, uri, place, answers)
    same_uses(checks, texts, every)
    rename_and_back(server, checks, texts, every)
    refuse(server, checks, next(iter(texts)))
    compare(checks, recorded, now)
    if bless:
        with open(RECORDED, "w", encoding="utf-8") as f:
            json.dump(now, f, indent=1, sort_keys=True)
            f.write("\n")
    server.process.stdin.close()
    checks.hold(server.process.wait(60) in (0, 1), "the server did not end")
    return checks


def compare(checks, recorded, now):
    for document in sorted(now.keys() | recorded.keys()):
        old, new = recorded.get(document, {}), now.get(document, {})
        for question in sorted(old.keys() | new.keys()):
            was, says = (x.get(question, "").split() for x in (old, new))
            lines = [str(k + 1) for k in range(max(len(was), len(says)))
                     if was[k:k + 1] != says[k:k + 1]]
            checks.hold(not lines, f"{document}: {question} is another in line "
                        + ", ".join(lines[:9]))


def main():
    words = sys.argv[1:]
    show = words.pop(words.index("--show") + 1) if "--show" in words else None
    bless = "--bless" in words
    words = [w for w in words if not w.startswith("--")]
    if len(words) != 1:
        sys.exit(__doc__)
    checks = run(os.path.abspath(words[0]), bless, show)
    print(f"{checks.passed} passed, {checks.failed} failed")
    sys.exit(0 if bless or not checks.failed else 1)


if __name__ == "__main__":
    main()
