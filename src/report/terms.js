// SPDX-License-Identifier: MIT
// Two terms of which one became the other: what both have is named once, so that
// the difference is seen.
"use strict";
const sharedParts = (function () {
  const LEAST = 24; // letters of a part that is worth a name

  // The tokens of a term, and the end of the list that begins at each "(".
  function lists(text) {
    const tokens = text.match(/"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+/g) || [];
    const open = [], ends = new Map();
    tokens.forEach((token, i) => {
      if (token === "(") open.push(i);
      else if (token === ")" && open.length) ends.set(open.pop(), i);
    });
    return { tokens, ends };
  }

  const written = (tokens) => tokens.join(" ").replace(/\( /g, "(").replace(/ \)/g, ")");

  function partsOf({ tokens, ends }) {
    const texts = new Map();
    for (const [i, end] of ends) texts.set(i, written(tokens.slice(i, end + 1)));
    return texts;
  }

  // The term with its shared parts by their names: texts and {name}s by turns.
  function cut({ tokens, ends }, texts, others, names) {
    const out = [];
    let plain = [];
    for (let i = 0; i < tokens.length; i++) {
      const text = texts.get(i);
      if (!text || text.length < LEAST || !others.has(text)) { plain.push(tokens[i]); continue; }
      if (!names.has(text)) names.set(text, "\u2460\u2461\u2462\u2463\u2464\u2465\u2466\u2467\u2468"[names.size] || "#" + (names.size + 1));
      out.push(plain, { name: names.get(text), text });
      plain = [];
      i = ends.get(i);
    }
    return [...out, plain];
  }

  // Each side as a list of texts and {name, text}; spaces as in a term.
  function spaced(parts) {
    const marks = parts.filter((p) => p.name);
    const line = written(parts.flatMap((p) => (p.name ? ["\0"] : p)));
    return line.split("\0").flatMap((text, k) => (marks[k] ? [text, marks[k]] : [text]));
  }

  return function (before, after) {
    const a = lists(before), b = lists(after), names = new Map();
    const inA = partsOf(a), inB = partsOf(b);
    const left = cut(a, inA, new Set(inB.values()), names);
    const right = cut(b, inB, new Set(inA.values()), names);
    return { before: spaced(left), after: spaced(right), names };
  };
})();
