// The report of a saturation, drawn from the JSON in #data.  Whatever comes
// from there is put into the page as text, never as markup.
"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);

  // --- building elements ---------------------------------------------------

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

  // Comments at the ends of lines, as near as they can stand in one column.
  function align(text) {
    const lines = text.split("\n").map((line) => /^(.*\S)?\s*(; \(\(.*)$/.exec(line) || [line, line, null]);
    const width = Math.min(44, Math.max(0, ...lines.map((l) => (l[2] && l[1] ? l[1].length : 0))));
    return lines.map((l) => (l[2] && l[1] ? l[1].padEnd(width + 2) + l[2] : l[0])).join("\n");
  }

  // Comments dim, heads of lists in colour.
  const GLEN = /(;[^\n]*|\([^\s()";]+)/, LOOPS = /(#[^\n]*)/;
  function code(text, words) {
    const out = make("pre", { tabindex: 0 });
    for (const part of align(text.trimEnd()).split(words || GLEN)) {
      if (words ? part.startsWith("#") : part.startsWith(";")) out.append(make("span", { class: "comment" }, part));
      else if (!words && part.startsWith("(")) out.append("(", make("span", { class: "head" }, part.slice(1)));
      else out.append(part);
    }
    return out;
  }

  function times(x) {
    return (x >= 100 ? Math.round(x).toLocaleString("en") : x.toPrecision(3)) + "\u00d7";
  }

  const colour = (k) => "var(--c" + k + ")";
  const swatch = (k, text) => make("span", {}, make("i", { style: "background:" + colour(k) }), text);

  // --- summary ---------------------------------------------------------------

  function tile(value, what, lead) {
    return make("div", { class: lead ? "tile lead" : "tile" }, make("b", {}, value), make("span", {}, what));
  }

  function summary() {
    const s = data.summary;
    // A path breaks behind its slashes, and within a word only where it must.
    for (const part of data.title.split(/(?<=[\/])/))
      byId("title").append(part, make("wbr"));
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

  function costTable(title, side, most) {
    const table = make("table", { class: "responsive" });
    for (const line of side.lines) {
      const total = line.arithmetic + line.memory + line.call;
      table.append(make("tr", {},
        make("td", { width: "70%" }, make("code", {}, line.label), line.count > 1 ? " \u00d7 " + line.count : null,
          make("br"), make("code", { class: "muted" }, line.type), bar(line, most)),
        make("td", { class: "number" }, number(total))));
    }
    if (side.rest > 1)
      table.append(make("tr", {}, make("td", { class: "muted" }, "all else"),
        make("td", { class: "number" }, number(side.rest))));
    return make("div", { class: "box" }, make("h3", {}, title + ": " + number(side.total) + " cycles"), table);
  }

  function costs() {
    const { before, after } = data.costs;
    const most = Math.max(1, ...[...before.lines, ...after.lines].map((l) => l.arithmetic + l.memory + l.call));
    section("cost", "Cost", "Estimated cycles of one core of the target, by term; views are free.",
      make("div", { class: "two" }, costTable("As written", before, most), costTable("Chosen", after, most)),
      make("div", { class: "legend" }, PARTS.map(([part, c]) => swatch(c, part === "call" ? "instruction" : part))));
  }

  // --- the roofline ------------------------------------------------------------

  function roofline() {
    const r = data.roofline, s = data.summary;
    if (!(r.operations > 0 && r.bytes > 0 && s.cost_after > 0 && s.cost_before > 0)) return;
    const W = 900, H = 320, left = 60, bottom = 40, top = 22, right = 24;
    const x = r.operations / r.bytes;
    const ys = [r.operations / s.cost_before, r.operations / s.cost_after];
    const ridge = r.peak / r.bandwidth;
    const lo = Math.floor(Math.log10(Math.min(x, ridge) / 4)), hi = Math.ceil(Math.log10(Math.max(x, ridge) * 4));
    const bot = Math.floor(Math.log10(Math.min(...ys, r.peak) / 4)), up = Math.ceil(Math.log10(Math.max(...ys, r.peak) * 1.5));
    const px = (v) => left + (Math.log10(v) - lo) / (hi - lo) * (W - left - right);
    const py = (v) => H - bottom - (Math.log10(v) - bot) / (up - bot) * (H - bottom - top);
    const svg = make("svg", { viewBox: `0 0 ${W} ${H}`, width: W, role: "img", "aria-label": "Roofline" });
    for (let d = lo; d <= hi; d++)
      svg.append(make("line", { class: "grid", x1: px(10 ** d), x2: px(10 ** d), y1: top, y2: H - bottom }),
        make("text", { x: px(10 ** d), y: H - bottom + 16, "text-anchor": "middle" }, number(10 ** d)));
    for (let d = bot; d <= up; d++)
      svg.append(make("line", { class: "grid", x1: left, x2: W - right, y1: py(10 ** d), y2: py(10 ** d) }),
        make("text", { x: left - 8, y: py(10 ** d) + 4, "text-anchor": "end" }, number(10 ** d)));
    const floor = Math.max(10 ** bot, r.bandwidth * 10 ** lo);
    svg.append(make("path", { fill: "none", stroke: "var(--soft)", "stroke-width": 1.8,
      d: `M${px(floor / r.bandwidth)},${py(floor)}L${px(ridge)},${py(r.peak)}L${W - right},${py(r.peak)}` }),
      make("text", { x: W - right, y: py(r.peak) - 7, "text-anchor": "end" }, "one host core: " + number(r.peak) + " a cycle"),
      make("text", { x: (left + W - right) / 2, y: H - 6, "text-anchor": "middle" }, "operations a byte of input and output"));
    ["as written", "chosen"].forEach((name, k) => {
      const end = px(x) > W / 2;
      svg.append(make("circle", { cx: px(x), cy: py(ys[k]), r: 6, fill: colour(k ? 0 : 1) }),
        make("text", { x: px(x) + (end ? -10 : 10), y: py(ys[k]) + (k ? -8 : 18), "text-anchor": end ? "end" : "start" },
          `${name}: ${number(ys[k])} a cycle, ${number(ys[k] * r.ghz * 1e9)}op/s`));
    });
    section("roofline", "Roofline",
      `By the cost model, not measured, for the target ${r.target}: ${number(r.operations)} operations that the program as written asks for, ` +
      `${number(r.bytes)} bytes of inputs and outputs, both axes logarithmic.` +
      (r.accelerator ? " Its instructions may pass the roof of the host." : ""),
      make("div", { class: "box scroll" }, svg));
  }

  // --- growth --------------------------------------------------------------------

  function sums(rows) {
    const all = new Map();
    for (const row of rows)
      for (const [rule, n] of Object.entries(row.made)) all.set(rule, (all.get(rule) || 0) + n);
    return [...all].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  }

  // Iterations in at most `most` columns.
  function columns(most) {
    const step = Math.max(1, Math.ceil(data.growth.length / most)), out = [];
    for (let k = 0; k < data.growth.length; k += step) {
      const part = data.growth.slice(k, k + step), made = Object.fromEntries(sums(part));
      const last = part[part.length - 1];
      out.push({ from: k + 1, to: k + part.length, made, nodes: last.nodes, classes: last.classes });
    }
    return out;
  }

  function growth() {
    if (!data.growth.length) return;
    const ranked = sums(data.growth), named = ranked.slice(0, 7).map((r) => r[0]);
    const cols = columns(72);
    const W = 1120, H = 280, left = 58, bottom = 34, top = 12;
    const total = (c) => Object.values(c.made).reduce((a, b) => a + b, 0);
    const most = Math.max(1, ...cols.map((c) => Math.max(c.nodes, total(c))));
    const py = (v) => H - bottom - v / most * (H - bottom - top);
    const width = (W - left) / cols.length;
    const svg = make("svg", { viewBox: `0 0 ${W} ${H}`, width: W, role: "img", "aria-label": "E-nodes by iteration and rule" });
    for (let k = 0; k <= 4; k++)
      svg.append(make("line", { class: "grid", x1: left, x2: W, y1: py(most * k / 4), y2: py(most * k / 4) }),
        make("text", { x: left - 8, y: py(most * k / 4) + 4, "text-anchor": "end" }, number(Math.round(most * k / 4))));
    let line = "";
    cols.forEach((c, i) => {
      const parts = named.map((rule, k) => [rule, c.made[rule] || 0, k]);
      parts.push(["other rules", total(c) - parts.reduce((a, p) => a + p[1], 0), 7]);
      const name = c.from === c.to ? "iteration " + c.from : `iterations ${c.from} to ${c.to}`;
      let base = 0;
      for (const [rule, n, k] of parts)
        if (n > 0) {
          svg.append(make("rect", { x: left + i * width + 1, width: Math.max(1, width - 2), y: py(base + n),
            height: Math.max(0.5, py(base) - py(base + n)), fill: colour(k) },
          make("title", {}, `${name}: ${rule} made ${n} e-nodes`)));
          base += n;
        }
      line += `${i ? "L" : "M"}${left + (i + 0.5) * width},${py(c.nodes)}`;
      if (i % Math.ceil(cols.length / 12) === 0)
        svg.append(make("text", { x: left + (i + 0.5) * width, y: H - bottom + 16, "text-anchor": "middle" }, String(c.to)));
    });
    svg.append(make("path", { d: line, fill: "none", stroke: "var(--ink)", "stroke-width": 1.8, "stroke-linejoin": "round" }),
      make("text", { x: W, y: H - 4, "text-anchor": "end" }, "iteration"));
    section("growth", "Growth", "Columns: e-nodes made in an iteration, by rule. Line: e-nodes in the graph.",
      make("div", { class: "box scroll" }, svg,
        make("div", { class: "legend" }, named.map((rule, k) => swatch(k, `${rule} ${number(ranked[k][1])}`)),
          ranked.length > 7 ? swatch(7, `${ranked.length - 7} other rules`) : null)));
  }

  // --- rules and the chain ---------------------------------------------------------

  // A table that is folded away: [name, text] pairs.
  function folded(title, rows) {
    return rows.length ? make("details", {}, make("summary", {}, title),
      make("table", {}, rows.map(([name, text]) => make("tr", {},
        make("td", {}, make("code", {}, name)), make("td", {}, make("code", {}, String(text))))))) : null;
  }

  // A term whose parts that stay as they are have names.
  function changed(parts) {
    return make("code", {}, parts.map((p) => (p.name ? make("i", { title: p.text }, p.name) : p)));
  }

  function step(link, k) {
    const terms = sharedParts(link.before, link.after);
    return make("div", { class: "step" }, make("span", {}, String(k + 1)),
      make("div", {},
        make("b", {}, link.rule), make("span", { class: "muted place" },
          `  ${link.file ? link.file + ":" + link.line : ""}${link.direction === "right-to-left" ? ", backwards" : ""}`),
        make("div", { class: "change" }, changed(terms.before), changed(terms.after)),
        folded("what stays", [...terms.names].map(([text, name]) => [name, text])),
        folded("bindings", Object.entries(link.bindings || {}))));
  }

  function chain() {
    const table = make("table", { class: "stacked" }, data.rules.map((r) => make("tr", {},
      make("td", {}, make("b", {}, r.name), make("br"), make("span", { class: "muted place" }, r.place)),
      make("td", {}, r.intent))));
    section("rules", "Rules that led to this program", data.rules.length ? null : "None: the program was best as written.",
      data.rules.length ? make("div", { class: "box scroll" }, table) : null);
    if (data.explained === undefined) return;
    const outputs = JSON.parse(data.explained).outputs || [];
    section("chain", "Chain", "From the program as written to the chosen one, one rule at a time. A number in a circle is a part that both sides have.",
      outputs.map((o) => make("div", { class: "box", style: "margin-bottom:16px" },
        make("h3", {}, o.output + (o.equal ? `: ${o.steps.length + (o.left_out || 0)} steps` : ": no chain was found")),
        (o.steps || []).map(step),
        o.left_out ? make("p", { class: "muted" }, `${o.left_out} more steps are left out of this page; glen explain prints them`) : null)));
  }

  // --- the e-graph -------------------------------------------------------------------

  const classes = new Map(data.egraph.classes.map((c) => [c.id, c]));
  const shown = new Set();           // class ids in the picture
  const picked = new Map();          // class id -> index of the node whose children are drawn
  let open = null;                   // the class in the panel
  let view = { x: 0, y: 0, scale: 1 };
  const CARD = { w: 206, h: 46, dx: 226, dy: 84 };

  function reveal(id) {
    if (!classes.has(id)) return;
    shown.add(id);
    if (!picked.has(id)) picked.set(id, 0);
  }

  // The chosen program, nearest to the outputs first.
  function revealChosen(most) {
    let front = [...data.egraph.roots];
    for (const id of front) reveal(id);
    for (let i = 0; i < front.length && shown.size < most; i++)
      for (const kid of kidsOf(front[i]))
        if (!shown.has(kid) && classes.has(kid) && shown.size < most) { reveal(kid); front.push(kid); }
  }

  function kidsOf(id) {
    const c = classes.get(id), node = c && c.nodes[picked.get(id) || 0];
    return node && node.kids ? node.kids : [];
  }

  // Layers by distance from the outputs; within one, below the mean of the parents.
  function layout() {
    const depth = new Map(), order = [];
    const starts = [...data.egraph.roots, ...shown];
    for (const start of starts) {
      if (!shown.has(start) || depth.has(start)) continue;
      depth.set(start, 0);
      const queue = [start];
      for (let i = 0; i < queue.length; i++) {
        order.push(queue[i]);
        for (const kid of kidsOf(queue[i]))
          if (shown.has(kid) && !depth.has(kid)) { depth.set(kid, depth.get(queue[i]) + 1); queue.push(kid); }
      }
    }
    // Longest path where it goes down only: a few rounds are enough for a picture.
    for (let round = 0; round < 40; round++) {
      let moved = false;
      for (const id of order)
        for (const kid of kidsOf(id))
          if (depth.get(kid) <= depth.get(id) && kid !== id && depth.get(id) < 60) { depth.set(kid, depth.get(id) + 1); moved = true; }
      if (!moved) break;
    }
    const layers = [];
    for (const id of order) (layers[depth.get(id)] = layers[depth.get(id)] || []).push(id);
    const place = new Map(), pulls = new Map();
    layers.forEach((layer, d) => {
      const want = layer.map((id, i) => { const p = pulls.get(id); return [p ? p.sum / p.n : i * CARD.dx, i, id]; });
      want.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      const mean = want.reduce((a, w) => a + w[0], 0) / want.length;
      want.forEach(([, , id], i) => {
        const x = mean + (i - (want.length - 1) / 2) * CARD.dx;
        place.set(id, { x, y: d * CARD.dy });
        kidsOf(id).forEach((kid, k, all) => {
          const p = pulls.get(kid) || { sum: 0, n: 0 };
          p.sum += x + (k - (all.length - 1) / 2) * CARD.dx; p.n++; pulls.set(kid, p);
        });
      });
    });
    return place;
  }

  const cut = (text, n) => (text.length > n ? text.slice(0, n - 1) + "\u2026" : text);
  let place = new Map();

  function draw() {
    const g = byId("scene");
    place = layout();
    g.replaceChildren();
    for (const id of shown)
      for (const kid of kidsOf(id)) {
        const a = place.get(id), b = place.get(kid);
        if (!a || !b || !shown.has(kid)) continue;
        const y1 = a.y + CARD.h / 2, y2 = b.y - CARD.h / 2, bend = Math.max(18, Math.abs(y2 - y1) / 2);
        const chosen = classes.get(id).chosen && classes.get(kid).chosen && !picked.get(id);
        g.append(make("path", { class: "edge" + (chosen ? " chosen" : ""),
          d: `M${a.x},${y1}C${a.x},${y1 + bend} ${b.x},${y2 - bend} ${b.x},${y2}` }));
      }
    for (const id of shown) {
      const c = classes.get(id), p = place.get(id), node = c.nodes[picked.get(id) || 0];
      const name = `class ${id}: ${node ? node.label : ""} : ${c.type}`;
      g.append(make("g", { class: "card" + (c.chosen ? " chosen" : "") + (id === open ? " open" : ""),
        transform: `translate(${p.x - CARD.w / 2},${p.y - CARD.h / 2})`, tabindex: 0, role: "button",
        "aria-label": name, "data-class": id, onclick: () => show(id),
        onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); show(id); } } },
      make("title", {}, name),
      make("rect", { width: CARD.w, height: CARD.h, rx: 8 }),
      make("text", { x: 10, y: 19 }, cut(node ? node.label : "", 26)),
      make("text", { x: 10, y: 36, class: "small" }, cut(c.type, c.size > 1 ? 25 : 29)),
      make("text", { x: CARD.w - 8, y: 36, class: "small", "text-anchor": "end" }, c.size > 1 ? "+" + (c.size - 1) : "")));
    }
    byId("count").textContent = `${shown.size} of ${data.egraph.classes_in_all} classes shown`;
  }

  function applyView() {
    byId("scene").setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.scale})`);
  }

  function fit() {
    const box = byId("graph").getBoundingClientRect(), all = [...place.values()];
    if (!all.length || !box.width) return;
    const xs = all.map((p) => p.x), ys = all.map((p) => p.y);
    const x0 = Math.min(...xs) - CARD.w / 2, x1 = Math.max(...xs) + CARD.w / 2;
    const y0 = Math.min(...ys) - CARD.h / 2, y1 = Math.max(...ys) + CARD.h / 2;
    view.scale = Math.min(1.1, Math.max(0.35, Math.min((box.width - 40) / (x1 - x0), (box.height - 40) / (y1 - y0))));
    view.x = box.width / 2 - view.scale * (x0 + x1) / 2;
    view.y = Math.max(20 - view.scale * y0, box.height / 2 - view.scale * (y0 + y1) / 2);
    if (view.scale * (y1 - y0) > box.height - 40) view.y = 20 - view.scale * y0;
    applyView();
  }

  // Letters of this size are read; a picture that is larger begins at its top.
  const READABLE = 0.85;

  function begin() {
    fit();
    if (view.scale >= READABLE) return;
    const box = byId("graph").getBoundingClientRect();
    const top = [...place.values()].reduce((a, b) => (b.y < a.y ? b : a));
    view.scale = READABLE;
    view.x = box.width / 2 - READABLE * top.x;
    view.y = 20 - READABLE * (top.y - CARD.h / 2);
    applyView();
  }

  function zoom(factor, cx, cy) {
    const box = byId("graph").getBoundingClientRect();
    const x = cx === undefined ? box.width / 2 : cx - box.left, y = cy === undefined ? box.height / 2 : cy - box.top;
    const scale = Math.min(4, Math.max(0.05, view.scale * factor)), k = scale / view.scale;
    view = { scale, x: x - (x - view.x) * k, y: y - (y - view.y) * k };
    applyView();
  }

  function centre(id) {
    const box = byId("graph").getBoundingClientRect(), p = place.get(id);
    if (!p) return;
    view.scale = Math.max(view.scale, 0.8);
    view.x = box.width / 2 - view.scale * p.x;
    view.y = box.height / 2 - view.scale * p.y;
    applyView();
  }

  function inView(id) {
    const box = byId("graph").getBoundingClientRect(), p = place.get(id);
    const x = view.x + view.scale * p.x, y = view.y + view.scale * p.y;
    return x > 60 && y > 30 && x < box.width - 60 && y < box.height - 30;
  }

  function show(id) {
    if (!classes.has(id)) return;
    reveal(id);
    open = id;
    draw();
    panel(classes.get(id));
    if (!inView(id)) centre(id);
  }

  function kidButton(kid) {
    const c = classes.get(kid);
    if (!c) return make("button", { class: "absent", type: "button", disabled: "", title: "not on this page" }, "class " + kid);
    return make("button", { type: "button", title: c.nodes.length ? c.nodes[0].label + " : " + c.type : c.type,
      onclick: () => show(kid) }, "class " + kid);
  }

  function pickNode(c, k) {
    picked.set(c.id, k);
    for (const kid of c.nodes[k].kids || []) reveal(kid);
    show(c.id);
  }

  function panel(c) {
    const list = c.nodes.map((node, k) => make("li", { class: c.chosen && k === 0 ? "chosen" : "" },
      make("code", {}, node.label),
      make("div", { class: "muted" }, [c.chosen && k === 0 ? "chosen" : null,
        node.cost >= 1 ? number(node.cost) + " cycles" : null, node.rule ? "made by " + node.rule : "as written"]
        .filter((x) => x).join(", ")),
      make("div", { class: "kids" }, (node.kids || []).map(kidButton),
        k !== (picked.get(c.id) || 0) && node.kids ? make("button", { type: "button", onclick: () => pickNode(c, k) }, "draw") : null)));
    const left = c.size - c.nodes.length;
    byId("panel").replaceChildren(
      make("h3", { id: "panel-title" }, `Class ${c.id}: ${c.size} node${c.size === 1 ? "" : "s"}`),
      make("p", {}, make("code", {}, c.type)),
      c.constant !== undefined ? make("p", { class: "muted" }, "every element is " + c.constant) : "",
      make("ul", {}, list),
      left > 0 ? make("p", { class: "muted" }, `${left} more nodes are left out of this page`) : "");
  }

  function search(text) {
    const words = text.toLowerCase().split(/\s+/).filter((w) => w);
    if (!words.length) { if (open === null) hint(); else panel(classes.get(open)); return; }
    const found = [];
    for (const c of classes.values())
      for (const node of c.nodes) {
        const all = `class ${c.id} ${node.label} ${c.type} ${node.rule || ""}`.toLowerCase();
        if (words.every((w) => all.includes(w))) { found.push([c, node]); break; }
      }
    byId("panel").replaceChildren(make("h3", { id: "panel-title" }, `${found.length} classes found`),
      make("ul", { class: "results" }, found.slice(0, 100).map(([c, node]) => make("li", {},
        make("button", { type: "button", onclick: () => { show(c.id); centre(c.id); } },
          make("mark", {}, "class " + c.id), " " + node.label, make("br"), make("span", { class: "muted" }, c.type))))),
      found.length > 100 ? make("p", { class: "muted" }, "the first 100 are listed") : "");
  }

  function hint() {
    byId("panel").replaceChildren(make("h3", {}, "Classes"),
      make("p", {}, "The picture starts with the chosen program. Open a class to see all its nodes, and its children to go on; " +
        "a number at a card's corner counts the other ways to write that class."),
      make("p", { class: "muted" }, "Drag to move, pinch or Ctrl and wheel to zoom."));
  }

  function pointers(svg) {
    const down = new Map();
    let moved = 0;
    svg.addEventListener("pointerdown", (e) => { down.set(e.pointerId, e); moved = 0; });
    svg.addEventListener("pointermove", (e) => {
      const last = down.get(e.pointerId);
      if (!last) return;
      const dx = e.clientX - last.clientX, dy = e.clientY - last.clientY;
      moved += Math.abs(dx) + Math.abs(dy);
      if (moved > 4 && !svg.classList.contains("dragging")) { svg.classList.add("dragging"); svg.setPointerCapture(e.pointerId); }
      if (down.size === 2) {
        const other = [...down.values()].find((p) => p.pointerId !== e.pointerId);
        const far = (p) => Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY);
        zoom(far(e) / Math.max(1, far(last)), other.clientX, other.clientY);
      } else if (moved > 4) { view.x += dx; view.y += dy; applyView(); }
      down.set(e.pointerId, e);
    });
    const up = (e) => { down.delete(e.pointerId); svg.classList.remove("dragging"); };
    svg.addEventListener("pointerup", up);
    svg.addEventListener("pointercancel", up);
    svg.addEventListener("click", (e) => { if (moved > 4) { e.stopPropagation(); e.preventDefault(); } }, true);
    svg.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      zoom(Math.exp(-e.deltaY / 300), e.clientX, e.clientY);
    }, { passive: false });
  }

  function egraph() {
    const g = data.egraph, away = g.classes_in_all - g.classes.length;
    const cutNodes = g.classes.reduce((a, c) => a + (c.size - c.nodes.length), 0);
    const svg = make("svg", { id: "graph", "aria-label": "E-graph" }, make("g", { id: "scene" }));
    const button = (text, label, f) => make("button", { type: "button", "aria-label": label, onclick: f }, text);
    const about = away > 0 || cutNodes > 0
      ? `This page holds the ${g.classes.length} classes nearest to the chosen program, with at most ${g.most_nodes} nodes each; ` +
        `left out are ${away} classes${cutNodes ? ` and ${cutNodes} nodes of those here` : ""}.`
      : `All ${g.classes_in_all} classes and ${g.nodes_in_all} nodes are here.`;
    section("egraph", "E-graph", about,
      make("div", { class: "tools" },
        make("input", { id: "search", type: "search", placeholder: "Search operators, types, rules, class 12",
          "aria-label": "Search classes", oninput: (e) => search(e.target.value) }),
        button("+", "Zoom in", () => zoom(1.3)), button("\u2212", "Zoom out", () => zoom(1 / 1.3)),
        button("Fit", "Fit the picture", fit),
        button("Start over", "Show the chosen program only", () => { restart(); hint(); }),
        make("span", { class: "muted", id: "count" })),
      make("details", { id: "explore", open: away > 0 && data.layers.length >= FEW_LAYERS ? false : "" },
        make("summary", {}, "The picture"),
        make("div", { class: "explorer" }, svg, make("div", { id: "panel", class: "box", "aria-live": "polite" }))));
    pointers(svg);
    restart();
    hint();
    new ResizeObserver(begin).observe(svg);
  }

  function restart() {
    shown.clear(); picked.clear(); open = null;
    revealChosen(60);
    draw();
    begin();
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
  egraph();
  growth();
  chain();
  if (data.loops !== undefined)
    section("loops", "Loop nest", "The loops of the chosen program, in the order in which glen compile writes them.",
      make("div", { class: "box" }, code(data.loops, LOOPS)));
  roofline();
})();
