// SPDX-License-Identifier: MIT
// A grammar without tree-sitter: grammar.js FILE prints its name, then its rules
// in order, and fails where one is named that does not exist or a pattern does
// not read.
const path = require("path");

const named = new Set();
const node = (...parts) => ({ parts });
Object.assign(global, {
  seq: node, choice: node, repeat: node, optional: node, blank: node,
  field: (name, part) => node(part),
  prec: (level, part) => node(part),
  token: Object.assign((part) => node(part), { immediate: (part) => node(part) }),
  grammar: (made) => made,
});

function walk(part) {
  if (part === undefined)
    throw new Error("a rule has an undefined part");
  if (part instanceof RegExp || typeof part === "string")
    return;
  if (part.symbol)
    named.add(part.symbol);
  (part.parts || []).forEach(walk);
}

const symbols = new Proxy({}, { get: (_, symbol) => ({ symbol }) });
const made = require(path.resolve(process.argv[2]));
const rules = Object.keys(made.rules);
for (const rule of Object.values(made.rules))
  walk(rule(symbols));
made.extras(symbols).forEach(walk);
const missing = [...named].filter((name) => !rules.includes(name));
if (missing.length)
  throw new Error(`no rule ${missing.join(", ")}`);
console.log([made.name, ...rules].join("\n"));
