// SPDX-License-Identifier: MIT
// The scopes of words, as VS Code finds them: textmate.js GRAMMAR FILE...
// prints a line `WORD SCOPE` for each token that has a scope of its own.
const fs = require("fs");
const path = require("path");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

async function main([grammarPath, ...files]) {
  const wasm = path.join(path.dirname(require.resolve("vscode-oniguruma")), "onig.wasm");
  await oniguruma.loadWASM(fs.readFileSync(wasm).buffer);
  const text = fs.readFileSync(grammarPath, "utf8");
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (s) => new oniguruma.OnigString(s),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(text, grammarPath),
  });
  const grammar = await registry.loadGrammar(JSON.parse(text).scopeName);
  for (const file of files) {
    let stack = textmate.INITIAL;
    for (const line of fs.readFileSync(file, "utf8").split("\n")) {
      const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
      stack = ruleStack;
      for (const { startIndex, endIndex, scopes } of tokens)
        if (scopes.length > 1)
          console.log(`${line.slice(startIndex, endIndex)} ${scopes[scopes.length - 1]}`);
    }
  }
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
