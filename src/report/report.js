// SPDX-License-Identifier: MIT
// The report of a saturation, drawn from the JSON in #data.  Whatever comes
// from there is put into the page as text, never as markup.
"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { byId, make, section, number, path, code, colour, swatch } = elements;

  function times(x) {
    return (x >= 100 ? Math.round(x).toLocaleString("en") : x.toPrecision(3)) + "\u00d7";
  }

  // --- summary ---------------------------------------------------------------

  function tile(value, what, lead) {
    return make("div", { class: lead ? "tile lead" : "tile" }, make("b", {}, value), make("span", {}, what));
  }

  function summary() {
    const s = data.summary;
    byId("title").append(...path(data.title));
    byId("subtitle").append("Stopped: " + s.stop + (s.optimal ? "; proved cheapest in this e\u2011graph" : ""));
    byId("footer").append("glen " + data.version + ". This page loads nothing and sends nothing.");
    const gain = s.cost_before !== null && s.cost_after > 0 ? s.cost_before / s.cost_after : null;
    byId("main").append(make("div", { class: "tiles" },
      tile(gain === null ? number(s.cost_after) : times(gain),
        gain === null ? "cycles" : "cheaper by the cost model", true),
      tile(number(s.cost_after), "cycles, was " + number(s.cost_before)),
      tile(number(s.nodes), "e-nodes in " + number(s.classes) + " classes"),
      tile(String(s.iterations), "iterations"),
      tile(String(data.rules.length), "rules led to it")));
  }

  // --- layers ------------------------------------------------------------------

  const FEW_LAYERS = 2;

  function became(layer) {
    const list = (kinds) => kinds.map((k) => k.name + (k.count > 1 ? " \u00d7 " + k.count : "")).join(", ");
    const host = list(layer.host) + (layer.more ? ", and " + layer.more + " more" : "");
    return [layer.calls.length ? make("b", {}, list(layer.calls)) : null,
      host ? make("span", { class: "muted" }, (layer.calls.length ? "; host: " : "host: ") + host) : null];
  }

  function layers() {
    if (data.layers.length < FEW_LAYERS) return;
    const total = data.layers.reduce((sum, l) => sum + l.cost, 0) || 1;
    const most = Math.max(...data.layers.map((l) => l.cost)) || 1;
    const table = make("table", { class: "stacked", id: "layer-table" }, make("tr", {},
      ...["Layer", "Became", "Type", "Cycles"].map((t) => make("th", {}, t))));
    for (const l of data.layers)
      table.append(make("tr", {},
        make("td", { class: "name" }, make("code", {}, l.name), bar({ arithmetic: l.cost, memory: 0, call: 0 }, most)),
        make("td", {}, ...became(l)), make("td", {}, make("code", { class: "muted" }, l.type)),
        make("td", { class: "number" }, number(l.cost) + " (" + (100 * l.cost / total).toFixed(1) + " %)")));
    section("layers", "Layers", "What each named part of the program became, in its order." +
      (data.layers_left ? ` ${data.layers_left} more are left out.` : ""),
      make("div", { class: "box scroll" }, table));
  }

  function programs() {
    section("program", "Program", null, make("div", { class: "two" },
      make("div", { class: "box" }, make("h3", {}, "As written"), code(data.before)),
      make("div", { class: "box" }, make("h3", {}, "Chosen"), code(data.after))));
  }

  // --- costs -------------------------------------------------------------------

  const PARTS = [["arithmetic", 0], ["memory", 2], ["call", 1]];

  function bar(line, most) {
    const e = make("div", { class: "bar", role: "presentation" });
    for (const [part, c] of PARTS)
      if (line[part] > 0)
        e.append(make("i", { style: `width:${100 * line[part] / most}%;background:${colour(c)}` }));
    return e;
  }

  function costLine(line, most) {
    return make("div", { class: "cost" },
      make("span", {}, make("code", {}, line.label), line.count > 1 ? " \u00d7 " + line.count : null),
      make("span", { class: "number" }, number(line.arithmetic + line.memory + line.call)),
      make("code", { class: "muted" }, line.type), bar(line, most));
  }

  function costTable(title, side, most) {
    return make("div", { class: "box" }, make("h3", {}, title + ": " + number(side.total) + " cycles"),
      side.lines.map((line) => costLine(line, most)),
      side.rest > 1 ? make("div", { class: "cost" }, make("span", { class: "muted" }, "all else"),
        make("span", { class: "number" }, number(side.rest))) : null);
  }

  function costs() {
    const { before, after } = data.costs;
    const most = Math.max(1, ...[...before.lines, ...after.lines].map((l) => l.arithmetic + l.memory + l.call));
    section("cost", "Cost", "Estimated cycles of one core of the target, by term; views are free.",
      make("div", { class: "two" }, costTable("As written", before, most), costTable("Chosen", after, most)),
      make("div", { class: "legend" }, PARTS.map(([part, c]) => swatch(c, part === "call" ? "instruction" : part))));
  }

  // --- rules and the chain ---------------------------------------------------------

  // A table that is folded away: [name, text] pairs.
  function folded(title, rows) {
    return rows.length ? make("details", {}, make("summary", {}, title),
      make("table", {}, rows.map(([name, text]) => make("tr", {},
        make("td", {}, make("code", {}, name)), make("td", {}, make("code", {}, String(text))))))) : null;
  }

  // A term: parts that stay as they are have names, and what is new is marked.
  function changed(parts) {
    const piece = (p) => (p.name ? make("i", { title: p.text, class: p.changed ? "new" : "" }, p.name)
      : p.changed ? make("b", { class: "new" }, p.text) : p.text);
    return make("code", {}, parts.map(piece));
  }

  function step(link, k) {
    const terms = sharedParts(link.before, link.after);
    const at = link.file ? path(link.file + ":" + link.line) : [];
    return make("div", { class: "step" }, make("span", {}, String(k + 1)),
      make("div", {},
        make("b", {}, link.rule), " ", make("span", { class: "muted place" }, ...at,
          link.direction === "right-to-left" ? ", backwards" : ""),
        make("div", { class: "change" }, changed(terms.before), changed(terms.after)),
        folded("what stays", [...terms.names].map(([text, name]) => [name, text])),
        folded("bindings", Object.entries(link.bindings || {}))));
  }

  function chain() {
    const table = make("table", { class: "stacked" }, data.rules.map((r) => make("tr", {},
      make("td", {}, make("b", {}, r.name), make("br"), make("span", { class: "muted place" }, ...path(r.place))),
      make("td", {}, r.intent))));
    section("rules", "Rules that led to this program", data.rules.length ? null : "None: the program was best as written.",
      data.rules.length ? make("div", { class: "box scroll" }, table) : null);
    if (data.explained === undefined) return;
    const outputs = JSON.parse(data.explained).outputs || [];
    section("chain", "Chain", "From the program as written to the chosen one, one rule at a time. A number in a circle is a part that both sides have, and what only one side has is marked.",
      outputs.map((o) => make("div", { class: "box", style: "margin-bottom:16px" },
        make("h3", {}, o.output + (o.equal ? `: ${o.steps.length + (o.left_out || 0)} steps` : ": no chain was found")),
        (o.steps || []).map(step),
        o.left_out ? make("p", { class: "muted" }, `${o.left_out} more steps are left out of this page; glen explain prints them`) : null)));
  }

  // --- all of it ---------------------------------------------------------------------

  function theme() {
    const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
    const set = (on) => root.classList.toggle("dark", on);
    set(dark.matches);
    dark.addEventListener("change", (e) => set(e.matches));
    byId("theme").addEventListener("click", () => set(!root.classList.contains("dark")));
  }

  theme();
  summary();
  layers();
  programs();
  costs();
  explorer(data.egraph)(data.layers.length >= FEW_LAYERS);
  charts.growth(data.growth);
  chain();
  if (data.loops !== undefined)
    section("loops", "Loop nest", "The loops of the chosen program, in the order in which glen compile writes them.",
      make("div", { class: "box" }, code(data.loops, true)));
  charts.roofline(data.roofline, data.summary);
})();
