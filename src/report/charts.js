// SPDX-License-Identifier: MIT
// The two charts of the report.  Each is drawn anew for the width that it gets, so
// that its letters have one size on a phone and on a desk.
"use strict";
const charts = (function () {
  const { make, section, number, colour, swatch } = elements;
  const NARROW = 600;

  // A chart in a box: draw(width) makes what is in it.
  function chart(most, draw) {
    const box = make("div", { class: "box" });
    let drawn = 0;
    const fill = () => {
      const style = getComputedStyle(box);
      const room = box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      const width = Math.max(240, Math.min(most, Math.floor(room)));
      if (width !== drawn) box.replaceChildren(...draw(width));
      drawn = width;
    };
    new ResizeObserver(fill).observe(box);
    return box;
  }

  function frame(W, H, label) {
    return make("svg", { viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img", "aria-label": label });
  }

  const rule = (x1, x2, y1, y2) => make("line", { class: "grid", x1, x2, y1, y2 });
  const label = (x, y, anchor, text) => make("text", { x, y, "text-anchor": anchor }, text);

  // --- the roofline ------------------------------------------------------------

  // Both axes are logarithmic; what is drawn on them, and the decades around it.
  function scalesOf(r, points, area) {
    const ridge = r.peak / r.bandwidth, xs = [...points.map((p) => p.x), ridge], ys = [...points.map((p) => p.y), r.peak];
    const x0 = Math.floor(Math.log10(Math.min(...xs) / 4)), x1 = Math.ceil(Math.log10(Math.max(...xs) * 4));
    const y0 = Math.floor(Math.log10(Math.min(...ys) / 4)), y1 = Math.ceil(Math.log10(Math.max(...ys) * 1.5));
    return { ridge, x0, x1, y0, y1,
      px: (v) => area.left + (Math.log10(v) - x0) / (x1 - x0) * (area.right - area.left),
      py: (v) => area.bottom - (Math.log10(v) - y0) / (y1 - y0) * (area.bottom - area.top) };
  }

  function decades(svg, s, area) {
    for (let d = s.x0; d <= s.x1; d++)
      svg.append(rule(s.px(10 ** d), s.px(10 ** d), area.top, area.bottom),
        label(s.px(10 ** d), area.bottom + 16, "middle", number(10 ** d)));
    for (let d = s.y0; d <= s.y1; d++)
      svg.append(rule(area.left, area.right, s.py(10 ** d), s.py(10 ** d)),
        label(area.left - 8, s.py(10 ** d) + 4, "end", number(10 ** d)));
  }

  function drawRoofline(r, points, W) {
    const H = W < NARROW ? 260 : 320, narrow = W < NARROW;
    const area = { left: narrow ? 44 : 60, right: W - 24, top: 22, bottom: H - 40 };
    const s = scalesOf(r, points, area), svg = frame(W, H, "Roofline");
    decades(svg, s, area);
    const floor = Math.max(10 ** s.y0, r.bandwidth * 10 ** s.x0);
    svg.append(make("path", { fill: "none", stroke: "var(--soft)", "stroke-width": 1.8,
      d: `M${s.px(floor / r.bandwidth)},${s.py(floor)}L${s.px(s.ridge)},${s.py(r.peak)}L${area.right},${s.py(r.peak)}` }),
      label(area.right, s.py(r.peak) - 7, "end", "one host core: " + number(r.peak) + " a cycle"),
      label((area.left + area.right) / 2, H - 6, "middle", "operations a byte of input and output"));
    points.forEach((p, k) => {
      const end = s.px(p.x) > W / 2;
      svg.append(make("circle", { cx: s.px(p.x), cy: s.py(p.y), r: 6, fill: colour(k ? 0 : 1) }));
      if (!narrow)
        svg.append(label(s.px(p.x) + (end ? -10 : 10), s.py(p.y) + (k ? -8 : 18), end ? "end" : "start", p.text));
    });
    return [svg, narrow ? make("div", { class: "legend" }, points.map((p, k) => swatch(k ? 0 : 1, p.text))) : ""];
  }

  function roofline(r, summary) {
    const { cost_before: before, cost_after: after } = summary;
    if (!(r.operations > 0 && r.bytes > 0 && after > 0 && before > 0)) return;
    const points = [["as written", before], ["chosen", after]].map(([name, cost]) => {
      const y = r.operations / cost;
      return { x: r.operations / r.bytes, y, text: `${name}: ${number(y)} a cycle, ${number(y * r.ghz * 1e9)}op/s` };
    });
    section("roofline", "Roofline",
      `By the cost model, not measured, for the target ${r.target}: ${number(r.operations)} operations that the program as written asks for, ` +
      `${number(r.bytes)} bytes of inputs and outputs, both axes logarithmic.` +
      (r.accelerator ? " Its instructions may pass the roof of the host." : ""),
      chart(900, (W) => drawRoofline(r, points, W)));
  }

  // --- growth --------------------------------------------------------------------

  function sums(rows) {
    const all = new Map();
    for (const row of rows)
      for (const [name, n] of Object.entries(row.made)) all.set(name, (all.get(name) || 0) + n);
    return [...all].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  }

  // Iterations in at most `most` columns.
  function columns(rows, most) {
    const step = Math.max(1, Math.ceil(rows.length / most)), out = [];
    for (let k = 0; k < rows.length; k += step) {
      const part = rows.slice(k, k + step), made = Object.fromEntries(sums(part));
      const last = part[part.length - 1];
      const total = Object.values(made).reduce((a, b) => a + b, 0);
      const name = part.length === 1 ? "iteration " + (k + 1) : `iterations ${k + 1} to ${k + part.length}`;
      out.push({ name, to: k + part.length, made, total, nodes: last.nodes });
    }
    return out;
  }

  // What each rule made in an iteration, one above the other.
  function column(svg, c, named, x, width, py) {
    const parts = named.map((name, k) => [name, c.made[name] || 0, k]);
    parts.push(["other rules", c.total - parts.reduce((a, p) => a + p[1], 0), 7]);
    let base = 0;
    for (const [name, n, k] of parts.filter((p) => p[1] > 0)) {
      svg.append(make("rect", { x: x + 1, width: Math.max(1, width - 2), y: py(base + n),
        height: Math.max(0.5, py(base) - py(base + n)), fill: colour(k) },
      make("title", {}, `${c.name}: ${name} made ${n} e-nodes`)));
      base += n;
    }
  }

  function drawGrowth(rows, named, W) {
    const H = W < NARROW ? 220 : 280, left = 50, bottom = H - 34, top = 12;
    const cols = columns(rows, Math.min(72, Math.floor(W / 12))), width = (W - left) / cols.length;
    const most = Math.max(1, ...cols.map((c) => Math.max(c.nodes, c.total)));
    const py = (v) => bottom - v / most * (bottom - top), svg = frame(W, H, "E-nodes by iteration and rule");
    for (let k = 0; k <= 4; k++)
      svg.append(rule(left, W, py(most * k / 4), py(most * k / 4)),
        label(left - 8, py(most * k / 4) + 4, "end", number(Math.round(most * k / 4))));
    const middle = (i) => left + (i + 0.5) * width, every = Math.ceil(cols.length / Math.min(12, W / 50));
    cols.forEach((c, i) => {
      column(svg, c, named, left + i * width, width, py);
      if (i % every === 0) svg.append(label(middle(i), bottom + 16, "middle", String(c.to)));
    });
    const line = cols.map((c, i) => `${i ? "L" : "M"}${middle(i)},${py(c.nodes)}`).join("");
    svg.append(make("path", { d: line, fill: "none", stroke: "var(--ink)", "stroke-width": 1.8, "stroke-linejoin": "round" }),
      label(W, H - 4, "end", "iteration"));
    return svg;
  }

  function growth(rows) {
    if (!rows.length) return;
    const ranked = sums(rows), named = ranked.slice(0, 7).map((r) => r[0]);
    section("growth", "Growth", "Columns: e-nodes made in an iteration, by rule. Line: e-nodes in the graph.",
      chart(1120, (W) => [drawGrowth(rows, named, W),
        make("div", { class: "legend" }, named.map((name, k) => swatch(k, `${name} ${number(ranked[k][1])}`)),
          ranked.length > 7 ? swatch(7, `${ranked.length - 7} other rules`) : null)]));
  }

  return { roofline, growth };
})();
