#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What editors/ has: words that grammars know, against what the program says;
the extension for VS Code; tree-sitter's grammars; Neovim.

usage: run.py BUILD [--only NAME]

What needs npm, tree-sitter or Neovim is left out by that name where it is not
there.  npm fetches what package.json names into the build folder.
"""
import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
EDITORS = os.path.join(ROOT, "editors")
LANGUAGES = {"glen": "examples/**/*.glen", "glen_rules": "rules/*.rules",
             "glen_target": "targets/*.target"}
SUFFIX = {"glen": ".glen", "glen_rules": ".rules", "glen_target": ".target"}
MISTAKE = """(tensor x (shape 4) f32)
(let y (compute relo x))
(output y)
"""


class Tests:
    def __init__(self, build, folder):
        self.build, self.folder = os.path.abspath(build), folder
        self.glen = os.path.join(self.build, "src/cli/glen")
        self.passed = self.failed = 0

    def expect(self, what, holds, seen=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {what}\n  {str(seen)[-3000:]}")
        return holds

    def run(self, command, at=None, **more):
        done = subprocess.run(
            command, cwd=at or ROOT, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", timeout=600, env=dict(os.environ, **more))
        return done.returncode, done.stdout

    def says(self, what, command, text="", at=None, **more):
        code, out = self.run(command, at, **more)
        self.expect(what, code == 0 and text in out, out)
        return out

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path


# ---- words ----

def completions(tests, suffix, text):
    """What the server offers at the end of a text: (label, detail) pairs."""
    uri = "file:///of-an-author/new" + suffix
    line = text.count("\n")
    messages = [
        {"id": 1, "method": "initialize", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": {
            "uri": uri, "languageId": "", "version": 1, "text": text}}},
        {"id": 2, "method": "textDocument/completion", "params": {
            "textDocument": {"uri": uri}, "position": {
                "line": line, "character": len(text.split("\n")[-1])}}},
        {"id": 3, "method": "shutdown"}, {"method": "exit"}]
    data = b""
    for message in messages:
        body = json.dumps(dict(message, jsonrpc="2.0")).encode()
        data += b"Content-Length: %d\r\n\r\n" % len(body) + body
    out = subprocess.run([tests.glen, "lsp"], input=data,
                         stdout=subprocess.PIPE, check=True).stdout.decode()
    for part in re.split(r"Content-Length: \d+\r\n\r\n", out):
        message = json.loads(part) if part else {}
        if message.get("id") == 2:
            return {(item["label"], item.get("detail", ""))
                    for item in message["result"]["items"]}
    return set()


def check_words(tests):
    """A form or dtype that is new has its colour."""
    tests.says("highlights are as the script writes them", [
        os.path.join(ROOT, "scripts/make-highlights"), "--check"])
    with open(os.path.join(EDITORS, "vscode/syntaxes/glen.tmLanguage.json"),
              encoding="utf-8") as f:
        textmate = f.read()
    for language, suffix in SUFFIX.items():
        with open(os.path.join(EDITORS, "tree-sitter", language,
                               "queries/highlights.scm"),
                  encoding="utf-8") as f:
            query = f.read()
        quoted = set(re.findall(r'"([^"\s]+)"', query))
        forms = {label for label, _ in completions(tests, suffix, "(")}
        tests.expect(f"forms of {language} are told", forms)
        tests.expect(f"forms of {language} are keywords of its query",
                     forms <= quoted, forms - quoted)
        known = set(re.findall(r"\w+(?:-\w+)*", textmate))
        tests.expect(f"forms of {language} are keywords in VS Code",
                     forms <= known, forms - known)
        dtypes = {label for label, _ in
                  completions(tests, ".glen", "(tensor x (shape 1) ")}
        tests.expect("dtypes are told", len(dtypes) >= 6, dtypes)
        tests.expect(f"dtypes are types in {language}", dtypes <= quoted,
                     dtypes - quoted)
        with open(os.path.join(EDITORS, "nvim/syntax", language + ".vim"),
                  encoding="utf-8") as f:
            vim = set(re.findall(r"\w+", f.read()))
        tests.expect(f"dtypes are types of {language} in Vim", dtypes <= vim,
                     dtypes - vim)
    tests.expect("dtypes are types in VS Code",
                 dtypes <= set(re.findall(r"\w+", textmate)))


# ---- VS Code ----

def packages(tests):
    """The folder of what npm fetched, or None."""
    with open(os.path.join(HERE, "package.json"), "rb") as f:
        wanted = f.read()
    folder = os.path.join(tests.build, "editors-" +
                          hashlib.sha256(wanted).hexdigest()[:12])
    if os.path.exists(os.path.join(folder, "ready")):
        return folder
    if not shutil.which("npm"):
        return None
    os.makedirs(folder, exist_ok=True)
    shutil.copy(os.path.join(HERE, "package.json"), folder)
    code, _ = tests.run(["npm", "install", "--no-audit", "--no-fund",
                         "--ignore-scripts", "--no-package-lock"], folder)
    if code:
        return None
    with open(os.path.join(folder, "ready"), "w", encoding="utf-8"):
        return folder


def check_textmate(tests, folder):
    def scopes(grammar, file):
        shutil.copy(os.path.join(HERE, "textmate.js"), folder)
        out = tests.says(f"the tokens of {os.path.basename(file)}", [
            "node", os.path.join(folder, "textmate.js"),
            os.path.join(EDITORS, "vscode/syntaxes", grammar), file])
        return set(out.split("\n"))
    program = tests.write("p.glen", "(tensor x (shape 4 -2.5) bf16) ; why\n"
                          "(let y (compute (clip 0 6) \"a;\\\"b\"))\n")
    seen = scopes("glen.tmLanguage.json", program)
    rule = tests.write("r.rules", "(rule a :kind cleanup \"w\" (access ?a $b)\n"
                       "  <=> ?a)\n")
    seen |= scopes("glen.tmLanguage.json", rule)
    for token in ("tensor keyword.control.glen", "x entity.name.type.glen",
                  "bf16 storage.type.dtype.glen", "4 constant.numeric.glen",
                  "-2.5 constant.numeric.glen",
                  "; why comment.line.semicolon.glen",
                  "clip entity.name.function.glen",
                  "\\\" constant.character.escape.glen",
                  "?a variable.parameter.glen", "$b variable.parameter.glen",
                  ":kind storage.modifier.clause.glen",
                  "<=> keyword.operator.arrow.glen"):
        tests.expect(f"VS Code sees {token}", token in seen, sorted(seen))


def check_vscode(tests):
    if not shutil.which("node"):
        print("skipped npm: node is not here, which the extension needs")
        return
    tests.says("the extension starts its server",
               ["node", os.path.join(HERE, "extension.js"),
                os.path.join(EDITORS, "vscode/extension.js")], "fine")
    folder = packages(tests)
    if not folder:
        print("skipped npm: packages cannot be had here")
        return
    check_textmate(tests, folder)
    packed = os.path.join(tests.folder, "glen.vsix")
    tests.says("the extension is packed",
               [os.path.join(ROOT, "scripts/package-vscode"), packed])
    if not tests.expect("the pack is there", os.path.exists(packed)):
        return
    with zipfile.ZipFile(packed) as z:
        names = set(z.namelist())
        manifest = json.loads(z.read("extension/package.json"))
    wanted = [manifest["main"], "./node_modules/vscode-languageclient/node.js"]
    for kind in manifest["contributes"]["grammars"]:
        wanted.append(kind["path"])
    for kind in manifest["contributes"]["languages"]:
        wanted += filter(None, [kind.get("configuration")])
    missing = {w for w in wanted
               if os.path.normpath("extension/" + w) not in names}
    tests.expect("the pack has all that it names", not missing, missing)
    tests.expect("the pack has the licence",
                 any("license" in name.lower() and "node_modules" not in name
                     for name in names))


# ---- tree-sitter ----

def check_grammars(tests, program):
    at = os.path.join(tests.folder, "tree-sitter")
    shutil.copytree(os.path.join(EDITORS, "tree-sitter"), at)
    home = {"HOME": tests.folder, "XDG_CACHE_HOME": tests.folder}
    for language, pattern in LANGUAGES.items():
        folder = os.path.join(at, language)
        tests.says(f"the parser of {language}",
                   [program, "generate", "--abi", "14"], at=folder, **home)
        tests.says(f"its tests", [program, "test"], at=folder, **home)
        files = sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))
        code, out = tests.run([program, "parse", "--quiet", *files], folder,
                              **home)
        tests.expect(f"{len(files)} files of {language} have no errors",
                     files and code == 0 and "ERROR" not in out, out)
        out = tests.says(f"the query of {language}", [
            program, "query", "--captures", "queries/highlights.scm", files[0]],
            at=folder, **home)
        kinds = set(re.findall(r"capture: (?:\d+ - )?`?([\w.]+)", out))
        tests.expect(f"highlights of {language}", {
            "comment", "keyword", "function", "number"} <= kinds, kinds)
    where = os.path.join(tests.folder, "site")
    tests.says("parsers are put where Neovim looks", [
        os.path.join(ROOT, "scripts/install-grammars"), where],
        TREE_SITTER=program, **home)
    return where


def check_rules(tests):
    """Rules name rules that exist, queries nodes that do: needs node alone."""
    if not shutil.which("node"):
        print("skipped npm: node is not here, which grammars are written for")
        return
    for language in LANGUAGES:
        folder = os.path.join(EDITORS, "tree-sitter", language)
        out = tests.says(f"the rules of {language}", [
            "node", os.path.join(HERE, "grammar.js"),
            os.path.join(folder, "grammar.js")])
        name, *rules = out.split()
        tests.expect(f"the name of {language}", name == language, out)
        with open(os.path.join(folder, "queries/highlights.scm"),
                  encoding="utf-8") as f:
            query = re.sub(r'"[^"]*"|;.*|#\S+|@\S+', "", f.read())
        nodes = set(re.findall(r"[(\[ ](\w+)(?=[ )\]])", query))
        tests.expect(f"nodes of the query of {language}",
                     nodes and nodes <= set(rules), nodes - set(rules))


def check_tree_sitter(tests):
    check_rules(tests)
    program = os.environ.get("TREE_SITTER") or shutil.which("tree-sitter")
    if not program:
        print("skipped tree-sitter: the program is not here; TREE_SITTER may "
              "name it")
        return None
    return check_grammars(tests, program)


# ---- Neovim ----

def check_nvim(tests, site):
    if not shutil.which("nvim"):
        print("skipped nvim: Neovim is not installed here")
        return
    tests.write("mistake.glen", MISTAKE)
    paths = [os.path.join(EDITORS, "nvim")] + ([site] if site else [])
    for what, folders in (("as it is", paths[:1]), ("with parsers", paths)):
        if what == "with parsers" and not site:
            continue
        tests.says(f"Neovim, {what}", [
            "nvim", "--clean", "--headless", "-n",
            "--cmd", "set runtimepath^=" + ",".join(folders),
            "--cmd", f"let g:glen_path = '{tests.glen}'",
            "-c", "luafile " + os.path.join(HERE, "nvim.lua")],
            at=tests.folder, HOME=tests.folder, XDG_CONFIG_HOME=tests.folder,
            XDG_DATA_HOME=tests.folder, XDG_STATE_HOME=tests.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--only", choices=["words", "vscode", "nvim"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(args.build, folder)
        if args.only in (None, "words"):
            check_words(tests)
        if args.only in (None, "vscode"):
            check_vscode(tests)
        if args.only in (None, "nvim"):
            check_nvim(tests, check_tree_sitter(tests))
    print(f"{tests.passed} passed, {tests.failed} failed")
    sys.exit(1 if tests.failed else 0)


if __name__ == "__main__":
    main()
