// SPDX-License-Identifier: MIT
// The picture of the e-graph, and the panel beside it that opens its classes.
"use strict";
const explorer = function (egraph) {
  const { byId, make, section, number } = elements;
  const NARROW = 600;                // pixels; below, the picture is an outline that is scrolled
  const MANY = 24;                   // chosen classes; above, what costs nothing is folded into lines
  const classes = new Map(egraph.classes.map((c) => [c.id, c]));
  const shown = new Set();           // class ids in the picture
  const folds = new Set();           // chosen classes that are no card, but part of a line
  const picked = new Map();          // class id -> index of the node whose children are drawn
  let open = null;                   // the class in the panel
  let view = { x: 0, y: 0, scale: 1 };
  let card = { w: 206, h: 46, dx: 226, dy: 84 };
  let place = new Map();
  let narrow = false;

  // --- what is shown -----------------------------------------------------------------

  function kidsOf(id) {
    const c = classes.get(id), node = c && c.nodes[picked.get(id) || 0];
    return node && node.kids ? node.kids : [];
  }

  function reveal(id) {
    if (!classes.has(id)) return;
    shown.add(id);
    folds.delete(id);
    if (!picked.has(id)) picked.set(id, 0);
  }

  // The cards below a card, each with the folded classes that the line to it passes.
  function links(id, all) {
    const out = [], stack = kidsOf(id).map((kid) => ({ to: kid, via: [] })).reverse();
    const seen = new Set();
    while (stack.length) {
      const { to, via } = stack.pop();
      if (seen.has(to)) continue;
      seen.add(to);
      if (folds.has(to)) stack.push(...kidsOf(to).map((kid) => ({ to: kid, via: [...via, to] })).reverse());
      else if (all ? classes.has(to) : shown.has(to)) out.push({ to, via });
    }
    return out;
  }

  const isFree = (node) => node.cost < 1 && node.kids && node.kids.length > 0 && !/^(call|compute) /.test(node.label);

  function fold() {
    const chosen = egraph.classes.filter((c) => c.chosen), roots = new Set(egraph.roots);
    folds.clear();
    if (chosen.length <= MANY) return;
    for (const c of chosen)
      if (!roots.has(c.id) && isFree(c.nodes[0]) && c.nodes[0].kids.every((kid) => classes.has(kid))) folds.add(c.id);
  }

  // The chosen program, nearest to the outputs first.
  function revealChosen(most) {
    const front = [...egraph.roots];
    for (const id of front) reveal(id);
    for (let i = 0; i < front.length && shown.size < most; i++)
      for (const { to } of links(front[i], true))
        if (!shown.has(to) && shown.size < most) { reveal(to); front.push(to); }
  }

  const graph = { roots: egraph.roots, shown, links };
  const nodeOf = (id) => classes.get(id).nodes[picked.get(id) || 0];

  // --- drawing -----------------------------------------------------------------------

  const cut = (text, n) => (text.length > n ? text.slice(0, n - 1) + "\u2026" : text);
  const LETTER = 7.3, SMALL = 6.4;   // the widths of letters in a card

  // Cards have room for the types that they show.
  function measure() {
    const longest = Math.max(0, ...[...shown].map((id) => classes.get(id).type.length));
    const w = Math.round(Math.min(290, Math.max(206, 56 + SMALL * longest)));
    card = narrow ? { w: Math.min(w, 270), h: 46, dx: 0, dy: 66 } : { w, h: 46, dx: w + 20, dy: 84 };
  }

  function drawLink(g, id, { to, via }) {
    const a = place.get(id), b = place.get(to), own = b.below === id;
    const chosen = classes.get(id).chosen && classes.get(to).chosen && !picked.get(id);
    g.append(make("path", { class: "edge" + (chosen ? " chosen" : "") + (narrow && !own ? " far" : ""),
      d: narrow ? places.bracket(a, b, card, own) : places.curve(a, b, card) }));
    if (!via.length || (narrow && !own)) return;
    const text = `${via.length} view${via.length > 1 ? "s" : ""}`, names = via.map((v) => nodeOf(v).label).join(", ");
    const left = !narrow && a.x > b.x;   // where the line comes from the right
    const x = narrow ? b.x - card.w / 2 + 14 : b.x + (left ? -6 : 6), y = b.y - card.h / 2 - 7;
    g.append(make("g", { class: "fold", tabindex: 0, role: "button", "aria-label": "show " + names, ...activated(() => unfold(via)) },
      make("title", {}, names), make("text", { x, y, class: "small", "text-anchor": left ? "end" : "start" }, text)));
  }

  function activated(f) {
    return { onclick: f, onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); f(); } } };
  }

  function unfold(via) {
    via.forEach(reveal);
    draw();
  }

  function drawCard(g, id, most) {
    const c = classes.get(id), p = place.get(id), node = nodeOf(id);
    const name = `class ${id}: ${node ? node.label : ""} : ${c.type}`, room = card.w - 20;
    const share = node && node.cost > 0 ? node.cost / most : 0;
    g.append(make("g", { class: "card" + (c.chosen ? " chosen" : "") + (id === open ? " open" : ""),
      transform: `translate(${p.x - card.w / 2},${p.y - card.h / 2})`, tabindex: 0, role: "button",
      "aria-label": name, "data-class": id, ...activated(() => show(id)) },
    make("title", {}, name + (node && node.cost >= 1 ? `, ${number(node.cost)} cycles` : "")),
    make("rect", { class: "back", width: card.w, height: card.h, rx: 8 }),
    share > 0.02 ? make("rect", { class: "share", x: 8, y: card.h - 5, height: 3, rx: 1.5, width: Math.max(3, share * (card.w - 16)) }) : null,
    make("text", { x: 10, y: 19 }, cut(node ? node.label : "", Math.floor(room / LETTER))),
    make("text", { x: 10, y: 35, class: "small" }, cut(c.type, Math.floor((room - (c.size > 1 ? 26 : 0)) / SMALL))),
    make("text", { x: card.w - 8, y: 35, class: "small", "text-anchor": "end" }, c.size > 1 ? "+" + (c.size - 1) : "")));
  }

  function draw() {
    const g = byId("scene"), costs = egraph.classes.filter((c) => c.chosen).map((c) => c.nodes[0].cost || 0);
    measure();
    place = narrow ? places.inOutline(graph, card) : places.inRows(graph, card);
    g.replaceChildren();
    for (const id of shown) for (const link of links(id)) drawLink(g, id, link);
    for (const id of shown) drawCard(g, id, Math.max(1, ...costs));
    byId("count").textContent = `${shown.size} of ${egraph.classes_in_all} classes shown`;
    applyView();
  }

  // --- the part that is seen ---------------------------------------------------------

  function extent() {
    const all = [...place.values()], xs = all.map((p) => p.x), ys = all.map((p) => p.y);
    return { x0: Math.min(...xs) - card.w / 2, x1: Math.max(...xs) + card.w / 2,
      y0: Math.min(...ys) - card.h / 2, y1: Math.max(...ys) + card.h / 2 };
  }

  // An outline is as large as what is in it, and the browser scrolls it.
  function applyView() {
    const svg = byId("graph");
    if (narrow && place.size) {
      const e = extent(), s = view.scale;
      view.x = 12 - s * e.x0;
      view.y = 24 - s * e.y0;
      svg.style.width = Math.ceil(s * (e.x1 - e.x0) + 44) + "px";
      svg.style.height = Math.ceil(s * (e.y1 - e.y0) + 36) + "px";
    } else svg.style.width = svg.style.height = "";
    byId("scene").setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.scale})`);
  }

  function fit() {
    const box = byId("frame").getBoundingClientRect();
    if (!place.size || !box.width) return;
    const { x0, x1, y0, y1 } = extent();
    const room = narrow ? (box.width - 46) / (x1 - x0) : Math.min((box.width - 40) / (x1 - x0), (box.height - 40) / (y1 - y0));
    view.scale = Math.min(1.1, Math.max(0.35, room));
    view.x = box.width / 2 - view.scale * (x0 + x1) / 2;
    view.y = Math.max(20 - view.scale * y0, box.height / 2 - view.scale * (y0 + y1) / 2);
    if (view.scale * (y1 - y0) > box.height - 40) view.y = 20 - view.scale * y0;
    applyView();
  }

  // Letters of this size are read; a picture that is larger begins at its top.
  const READABLE = 0.96;

  function begin() {
    const was = narrow, width = byId("frame").getBoundingClientRect().width;
    if (!width) return;
    narrow = width < NARROW;
    if (was !== narrow || !place.size) draw();
    fit();
    if (view.scale >= READABLE) return;
    const top = [...place.values()].reduce((a, b) => (b.y < a.y ? b : a));
    view.scale = READABLE;
    view.x = width / 2 - READABLE * top.x;
    view.y = 20 - READABLE * (top.y - card.h / 2);
    applyView();
  }

  function zoom(factor, cx, cy) {
    const box = byId("frame").getBoundingClientRect();
    const x = cx === undefined ? box.width / 2 : cx - box.left, y = cy === undefined ? box.height / 2 : cy - box.top;
    const scale = Math.min(4, Math.max(0.05, view.scale * factor)), k = scale / view.scale;
    view = { scale, x: x - (x - view.x) * k, y: y - (y - view.y) * k };
    applyView();
  }

  function centre(id) {
    const frame = byId("frame"), box = frame.getBoundingClientRect(), p = place.get(id);
    if (!p) return;
    view.scale = Math.max(view.scale, 0.8);
    if (narrow) {
      applyView();
      frame.scrollTo(view.x + view.scale * (p.x - card.w / 2) - 12, view.y + view.scale * p.y - box.height / 2);
      return;
    }
    view.x = box.width / 2 - view.scale * p.x;
    view.y = box.height / 2 - view.scale * p.y;
    applyView();
  }

  function inView(id) {
    const frame = byId("frame"), box = frame.getBoundingClientRect(), p = place.get(id);
    const x = view.x + view.scale * p.x - frame.scrollLeft, y = view.y + view.scale * p.y - frame.scrollTop;
    return x > 60 && y > 30 && x < box.width - 60 && y < box.height - 30;
  }

  // --- the panel ---------------------------------------------------------------------

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

  function nodeItem(c, node, k) {
    const about = [c.chosen && k === 0 ? "chosen" : null, node.cost >= 1 ? number(node.cost) + " cycles" : null,
      node.rule ? "made by " + node.rule : "as written"];
    const draws = k !== (picked.get(c.id) || 0) && node.kids;
    return make("li", { class: c.chosen && k === 0 ? "chosen" : "" },
      make("code", {}, node.label), make("div", { class: "muted" }, about.filter((x) => x).join(", ")),
      make("div", { class: "kids" }, (node.kids || []).map(kidButton),
        draws ? make("button", { type: "button", onclick: () => pickNode(c, k) }, "draw") : null));
  }

  function panel(c) {
    const left = c.size - c.nodes.length;
    byId("panel").replaceChildren(
      make("h3", { id: "panel-title" }, `Class ${c.id}: ${c.size} node${c.size === 1 ? "" : "s"}`),
      make("p", {}, make("code", {}, c.type)),
      c.constant !== undefined ? make("p", { class: "muted" }, "every element is " + c.constant) : "",
      make("ul", {}, c.nodes.map((node, k) => nodeItem(c, node, k))),
      left > 0 ? make("p", { class: "muted" }, `${left} more nodes are left out of this page`) : "");
  }

  // Buttons that open classes, by one of their nodes.
  function results(found) {
    return make("ul", { class: "results" }, found.map(([c, node, text]) => make("li", {},
      make("button", { type: "button", onclick: () => { show(c.id); centre(c.id); } },
        make("mark", {}, text || "class " + c.id), " " + node.label, make("br"), make("span", { class: "muted" }, c.type)))));
  }

  function search(text) {
    const words = text.toLowerCase().split(/\s+/).filter((w) => w);
    if (!words.length) { if (open === null) hint(); else panel(classes.get(open)); return; }
    const found = [];
    for (const c of classes.values()) {
      const node = c.nodes.find((n) => {
        const all = `class ${c.id} ${n.label} ${c.type} ${n.rule || ""}`.toLowerCase();
        return words.every((w) => all.includes(w));
      });
      if (node) found.push([c, node]);
    }
    byId("panel").replaceChildren(make("h3", { id: "panel-title" }, `${found.length} classes found`),
      results(found.slice(0, 100)),
      found.length > 100 ? make("p", { class: "muted" }, "the first 100 are listed") : "");
  }

  // Where the cycles of the chosen program are spent.
  function costliest(most) {
    return egraph.classes.filter((c) => c.chosen && c.nodes[0].cost >= 1)
      .sort((a, b) => b.nodes[0].cost - a.nodes[0].cost || a.id - b.id).slice(0, most)
      .map((c) => [c, c.nodes[0], number(c.nodes[0].cost) + " cycles"]);
  }

  function hint() {
    const found = costliest(5);
    byId("panel").replaceChildren(make("h3", {}, found.length ? "Where the cycles go" : "Classes"), found.length ? results(found) : "",
      make("p", {}, "The picture starts with the chosen program. Open a class to see all its nodes, and its children to go on; " +
        "a number at a card's corner counts the other ways to write that class, and a bar shows what it costs."),
      folds.size ? make("p", {}, "Views, which cost nothing, are folded into the lines; open a number of views to see them.") : "",
      make("p", { class: "muted" }, narrow ? "Scroll the picture, and zoom by the buttons." : "Drag to move, pinch or Ctrl and wheel to zoom."));
  }

  // --- pointers ----------------------------------------------------------------------

  function pointers(svg) {
    const down = new Map();
    let moved = 0;
    svg.addEventListener("pointerdown", (e) => { if (!narrow) down.set(e.pointerId, e); moved = 0; });
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

  // --- the section -------------------------------------------------------------------

  function tools() {
    const button = (text, label, f) => make("button", { type: "button", "aria-label": label, onclick: f }, text);
    return make("div", { class: "tools" },
      make("input", { id: "search", type: "search", placeholder: "Search operators, types, rules, class 12",
        "aria-label": "Search classes", oninput: (e) => search(e.target.value) }),
      make("span", { class: "buttons" },
        button("+", "Zoom in", () => zoom(1.3)), button("\u2212", "Zoom out", () => zoom(1 / 1.3)),
        button("Fit", "Fit the picture", fit),
        button("Start over", "Show the chosen program only", () => { restart(); hint(); })),
      make("span", { class: "muted", id: "count" }));
  }

  function restart() {
    shown.clear(); picked.clear(); open = null;
    fold();
    revealChosen(60);
    draw();
    begin();
  }

  // folded: whether the section begins with the picture folded away.
  return function (folded) {
    const away = egraph.classes_in_all - egraph.classes.length;
    const cutNodes = egraph.classes.reduce((a, c) => a + (c.size - c.nodes.length), 0);
    const svg = make("svg", { id: "graph", "aria-label": "E-graph" }, make("g", { id: "scene" }));
    const frame = make("div", { id: "frame" }, svg);
    section("egraph", "E-graph", away > 0 || cutNodes > 0
      ? `This page holds the ${egraph.classes.length} classes nearest to the chosen program, with at most ${egraph.most_nodes} nodes each; ` +
        `left out are ${away} classes${cutNodes ? ` and ${cutNodes} nodes of those here` : ""}.`
      : `All ${egraph.classes_in_all} classes and ${egraph.nodes_in_all} nodes are here.`,
    tools(),
    make("details", { id: "explore", open: folded && away > 0 ? false : "" }, make("summary", {}, "The picture"),
      make("div", { class: "explorer" }, frame, make("div", { id: "panel", class: "box", "aria-live": "polite" }))));
    pointers(svg);
    restart();
    hint();
    new ResizeObserver(begin).observe(frame);
  };
};
