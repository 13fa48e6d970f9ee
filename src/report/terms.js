// SPDX-License-Identifier: MIT
// Two terms of which one became the other: what both have is named once, so that
// the difference is seen, and what is only in one of them is marked.
"use strict";
const sharedParts = (function () {
  const LEAST = 24; // letters of a part that is worth a name
  const MOST = 1 << 20; // pairs of tokens, beyond which nothing is marked

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

  // The tokens of a term, with {name, text} in place of each shared part.
  function cut({ tokens, ends }, texts, others, names) {
    const out = [];
    for (let i = 0; i < tokens.length; i++) {
      const text = texts.get(i);
      if (!text || text.length < LEAST || !others.has(text)) { out.push(tokens[i]); continue; }
      if (!names.has(text)) names.set(text, "\u2460\u2461\u2462\u2463\u2464\u2465\u2466\u2467\u2468"[names.size] || "#" + (names.size + 1));
      out.push({ name: names.get(text), text });
      i = ends.get(i);
    }
    return out;
  }

  // Numbers and brackets alone are no part that a reader knows again.
  const isSaid = (run) => run.length > 4 || run.some((t) => t.name || /[a-z]{3}/i.test(t));

  // Which tokens of each side are in a longest common subsequence of both.
  function common(a, b) {
    const kept = [new Set(), new Set()];
    if (a.length * b.length > MOST) return kept;
    const key = (token) => token.name || token, width = b.length + 1;
    const longest = new Uint32Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i--)
      for (let j = b.length - 1; j >= 0; j--)
        longest[i * width + j] = key(a[i]) === key(b[j]) ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    for (let i = 0, j = 0; i < a.length && j < b.length;) {
      let n = 0;
      while (i + n < a.length && j + n < b.length && key(a[i + n]) === key(b[j + n])) n++;
      const ends = !(i && j) || (i + n === a.length && j + n === b.length);
      if (n && (ends || isSaid(a.slice(i, i + n))))
        for (let k = 0; k < n; k++) { kept[0].add(i + k); kept[1].add(j + k); }
      if (n) { i += n; j += n; } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i++;
      else j++;
    }
    return kept;
  }

  // A side as {text, changed} and {name, text} by turns; spaces as in a term.
  function spaced(tokens, kept) {
    const out = [];
    tokens.forEach((token, i) => {
      const gap = i > 0 && tokens[i - 1] !== "(" && token !== ")" ? " " : "", changed = !kept.has(i);
      const last = out[out.length - 1];
      if (token.name) { out.push({ text: gap, changed: false }, { ...token, changed }); return; }
      if (last && !last.name && last.changed === changed) { last.text += gap + token; return; }
      if (gap) out.push({ text: gap, changed: false });
      out.push({ text: token, changed });
    });
    return out;
  }

  return function (before, after) {
    const a = lists(before), b = lists(after), names = new Map();
    const inA = partsOf(a), inB = partsOf(b);
    const left = cut(a, inA, new Set(inB.values()), names);
    const right = cut(b, inB, new Set(inA.values()), names);
    const [keptLeft, keptRight] = common(left, right);
    return { before: spaced(left, keptLeft), after: spaced(right, keptRight), names };
  };
})();
