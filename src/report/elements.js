// SPDX-License-Identifier: MIT
// What the sections of the report are built from: elements, numbers, and text as
// a program or a file name is shown.
"use strict";
const elements = (function () {
  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);

  function make(name, attributes, ...children) {
    const svg = /^(svg|g|rect|path|text|line|circle|title)$/.test(name);
    const e = svg ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
      else if (value !== null && value !== false) e.setAttribute(key, value);
    }
    for (const child of children.flat()) if (child !== null) e.append(child);
    return e;
  }

  function section(id, title, about, ...children) {
    const e = make("section", { id, "aria-labelledby": id + "-title" },
      make("h2", { id: id + "-title" }, title),
      about ? make("p", { class: "muted" }, about) : null, ...children);
    byId("main").append(e);
    byId("nav").append(make("a", { href: "#" + id }, title));
    return e;
  }

  function number(x) {
    if (x === null) return "unbounded";
    if (x >= 1e15) return x.toExponential(2);
    const units = [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e4, " k"], [0, ""]];
    const unit = units.find(([least]) => x >= least) || [0, ""];
    const y = unit[1] === " k" ? x / 1e3 : unit[0] ? x / unit[0] : x;
    return (y >= 100 ? Math.round(y) : Number(y.toPrecision(3))) + unit[1];
  }

  // A path breaks behind its slashes, and within a word only where it must.
  const path = (text) => text.split(/(?<=[\/])/).flatMap((part) => [part, make("wbr")]);

  // Comments dim, heads of lists in colour.
  const GLEN = /(;[^\n]*|\([^\s()";]+)/, LOOPS = /(#[^\n]*)/;
  function coloured(text, loops) {
    const mark = (part) => {
      if (part.startsWith(loops ? "#" : ";")) return make("span", { class: "comment" }, part);
      if (loops || !part.startsWith("(") || part === "(") return part;
      return [make("span", {}, "("), make("span", { class: "head" }, part.slice(1))];
    };
    return text.split(loops ? LOOPS : GLEN).filter((part) => part).map(mark);
  }

  // A type at the end of a line stands in one column with the others if there is
  // room, and otherwise below what it belongs to.
  function codeLine([text, comment], loops) {
    const indent = /^ */.exec(text)[0].length;
    return make("div", { class: "line", style: `--indent:${indent}` },
      make("span", { class: "text" }, make("span", { class: "indent" }, text.slice(0, indent)),
        ...coloured(text.slice(indent), loops)),
      comment ? make("span", { class: "comment" }, comment) : null, "\n");
  }

  function code(text, loops) {
    const lines = text.trimEnd().split("\n").map((line) => {
      const parts = loops ? null : /^(.*\S)\s*(; \(\(.*)$/.exec(line);
      return parts ? [parts[1], parts[2]] : [line, null];
    });
    const longest = (k) => Math.max(0, ...lines.map((l) => (l[1] ? l[k].length : 0)));
    const type = longest(1), column = Math.min(44, longest(0)) + 2;
    return make("div", { class: type ? "code typed" : "code", tabindex: 0, style: `--column:${column};--type:${type}` },
      lines.map((line) => codeLine(line, loops)));
  }

  const colour = (k) => "var(--c" + k + ")";
  const swatch = (k, text) => make("span", {}, make("i", { style: "background:" + colour(k) }), text);

  return { byId, make, section, number, path, code, colour, swatch };
})();
