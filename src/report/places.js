// SPDX-License-Identifier: MIT
// Where the cards of the picture of an e-graph stand.  A graph is given by its
// roots, the classes that are shown, and links(id): the cards below a card.
"use strict";
const places = (function () {
  // Distance from the roots: the longest path where it goes down only. A few
  // rounds are enough for a picture.
  function depths(graph) {
    const depth = new Map(), order = [];
    for (const start of [...graph.roots, ...graph.shown]) {
      if (!graph.shown.has(start) || depth.has(start)) continue;
      depth.set(start, 0);
      const queue = [start];
      for (let i = 0; i < queue.length; i++) {
        order.push(queue[i]);
        for (const { to } of graph.links(queue[i]))
          if (!depth.has(to)) { depth.set(to, depth.get(queue[i]) + 1); queue.push(to); }
      }
    }
    for (let round = 0, moved = true; moved && round < 40; round++) {
      moved = false;
      for (const id of order)
        for (const { to } of graph.links(id))
          if (depth.get(to) <= depth.get(id) && to !== id && depth.get(id) < 60) { depth.set(to, depth.get(id) + 1); moved = true; }
    }
    return { depth, order };
  }

  // Rows by depth; within one, below the mean of the parents.
  function inRows(graph, card) {
    const { depth, order } = depths(graph), rows = [];
    for (const id of order) (rows[depth.get(id)] = rows[depth.get(id)] || []).push(id);
    const place = new Map(), pulls = new Map();
    rows.forEach((row, d) => {
      const want = row.map((id, i) => { const p = pulls.get(id); return [p ? p.sum / p.n : i * card.dx, i, id]; });
      want.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      const mean = want.reduce((a, w) => a + w[0], 0) / want.length;
      want.forEach(([, , id], i) => {
        const x = mean + (i - (want.length - 1) / 2) * card.dx;
        place.set(id, { x, y: d * card.dy });
        graph.links(id).forEach(({ to }, k, all) => {
          const p = pulls.get(to) || { sum: 0, n: 0 };
          p.sum += x + (k - (all.length - 1) / 2) * card.dx; p.n++; pulls.set(to, p);
        });
      });
    });
    return place;
  }

  // One card below the other, as in the table of contents of a book: an only child
  // stands straight below its parent, others are moved in. A card that has a place
  // already keeps it.
  const INDENT = 16, DEEPEST = 8;
  function inOutline(graph, card) {
    const place = new Map(), stack = [...graph.shown, ...[...graph.roots].reverse()].map((id) => ({ id, depth: 0 }));
    while (stack.length) {
      const { id, depth, below } = stack.pop();
      if (place.has(id) || !graph.shown.has(id)) continue;
      place.set(id, { x: card.w / 2 + INDENT * Math.min(depth, DEEPEST), y: place.size * card.dy, below });
      const kids = graph.links(id).filter(({ to }) => !place.has(to));
      for (const { to } of kids.reverse())
        stack.push({ id: to, depth: depth + (kids.length > 1 ? 1 : 0), below: id });
    }
    return place;
  }

  // The line from a card to one below it, by the middles of both.
  function curve(a, b, card) {
    const y1 = a.y + card.h / 2, y2 = b.y - card.h / 2, bend = Math.max(18, Math.abs(y2 - y1) / 2);
    return `M${a.x},${y1}C${a.x},${y1 + bend} ${b.x},${y2 - bend} ${b.x},${y2}`;
  }

  // In an outline, lines run at the left edge; one to a card that stands
  // elsewhere leaves on the right.
  function bracket(a, b, card, own) {
    const left = a.x - card.w / 2 + 8, right = Math.max(a.x, b.x) + card.w / 2;
    if (!own) return `M${a.x + card.w / 2},${a.y}C${right + 24},${a.y} ${right + 24},${b.y} ${b.x + card.w / 2},${b.y}`;
    const down = `M${left},${a.y + card.h / 2}`;
    return a.x === b.x ? `${down}V${b.y - card.h / 2}` : `${down}V${b.y}H${b.x - card.w / 2}`;
  }

  return { inRows, inOutline, curve, bracket };
})();
