// SPDX-License-Identifier: MIT
// The client of `glen lsp`.  Colours do not need it.
const { window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["glen", "glen-rules", "glen-target", "glen-sched"];
let client;

async function start() {
  const settings = workspace.getConfiguration("glen");
  const made = new LanguageClient("glen", "glen",
    { command: settings.get("path"), args: ["lsp"] },
    {
      documentSelector: LANGUAGES.map((language) => ({ language })),
      initializationOptions: { target: settings.get("target") },
      synchronize: {
        configurationSection: "glen",
        fileEvents: workspace.createFileSystemWatcher("**/*.{glen,rules,target,sched}"),
      },
    });
  try {
    await made.start();
    client = made;
  } catch (error) {
    window.showWarningMessage(
      `glen does not start (${error.message}); its path is the setting glen.path`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

exports.activate = async (context) => {
  context.subscriptions.push(workspace.onDidChangeConfiguration(async (change) => {
    if (!change.affectsConfiguration("glen.path"))
      return;
    await stop();
    await start();
  }));
  await start();
};
exports.deactivate = stop;
