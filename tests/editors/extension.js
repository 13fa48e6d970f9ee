// SPDX-License-Identifier: MIT
// The extension in a VS Code that is not there: what it starts, when, and what
// it does when that fails.  extension.js FILE prints `fine`.
const assert = require("assert");
const Module = require("module");

const settings = { path: "/opt/glen", target: "mine.target" };
const warnings = [];
const clients = [];
let changed;
let broken = false;

const vscode = {
  window: { showWarningMessage: (text) => warnings.push(text) },
  workspace: {
    getConfiguration: (section) => {
      assert.strictEqual(section, "glen");
      return { get: (name) => settings[name] };
    },
    createFileSystemWatcher: (pattern) => pattern,
    onDidChangeConfiguration: (callback) => {
      changed = callback;
      return { dispose() {} };
    },
  },
};

class LanguageClient {
  constructor(id, name, server, options) {
    Object.assign(this, { server, options, running: false });
    clients.push(this);
  }
  async start() {
    if (broken)
      throw new Error("no such file");
    this.running = true;
  }
  async stop() { this.running = false; }
}

const load = Module._load;
Module._load = (name, ...more) =>
  name === "vscode" ? vscode
    : name === "vscode-languageclient/node" ? { LanguageClient }
    : load(name, ...more);

async function main([file]) {
  const extension = require(require("path").resolve(file));
  await extension.activate({ subscriptions: [] });
  assert.strictEqual(clients.length, 1);
  assert.deepStrictEqual(clients[0].server, { command: "/opt/glen", args: ["lsp"] });
  assert.deepStrictEqual(clients[0].options.initializationOptions, { target: "mine.target" });
  assert(clients[0].options.documentSelector.some((s) => s.language === "glen-rules"));
  await changed({ affectsConfiguration: (name) => name === "glen.target" });
  assert.strictEqual(clients.length, 1);
  broken = true;
  await changed({ affectsConfiguration: (name) => name === "glen.path" });
  assert(!clients[0].running && clients.length === 2);
  assert.match(warnings[0], /no such file.*glen\.path/);
  await extension.deactivate();
  console.log("fine");
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
