/* SPDX-License-Identifier: MIT */
/* auto_blocks.c - blocks of what is read and written along different loops.
 *
 * A transposition reads along one loop and writes along another: whichever is
 * innermost, one of the two arrays costs a cache line an iteration, which has
 * left the cache when its next element is wanted.  In blocks of both loops
 * each line is used up while it is there:
 *
 *   for i { for j { y[i, j] = x[j, i] } }
 *   for io { for jo { for ii { for ji { y[...] = x[...] } } } }
 *
 * Statements that are alone in their nests are looked at, and assign: sums
 * along the other loop are for auto_order.c. */
#include "glenside/target/tuned.h"
#include "poly/search/chooser.h"
#include <assert.h>

/* The loops around a statement that is alone below them and assigns; 0. */
static uint32_t
loops_alone(const po_program *p, uint32_t stmt, uint32_t *loops) {
  assert(stmt < p->stmts.len);
  const po_stmt *s = &p->stmts.data[stmt];
  uint32_t n = po_nest_loops(p, s->leaf, loops), node = s->leaf;
  if (s->kind != PO_ASSIGN || n != s->n_iters || n != s->n_outer ||
      !po_may_change(p, po_root_of(p, stmt)))
    return 0;
  for (uint32_t d = n; d-- > 0; node = loops[d])
    if (po_only_child(p, loops[d]) != node || !po_is_plain(p, loops[d]) ||
        po_extent_of(p, loops[d]) < 1)
      return 0;
  return n;
}

/* The depth of the loop that is worth blocks together with the innermost one;
 * n - 1 where none is. */
static uint32_t
other_depth(const po_program *p, const po_stmt *s, const uint32_t *loops,
            uint32_t n) {
  assert(n >= 2);
  double cost[PO_MAX_DEPTH] = {0};
  uint32_t best = n - 1;
  for (uint32_t k = 0; k <= s->n_exprs; k++) {
    double lines[PO_MAX_DEPTH];
    if (!po_access_lines(p, s, k, n, lines))
      continue;
    bool far = lines[n - 1] >= 1;
    for (uint32_t d = 0; d < n; d++)
      cost[d] += far && lines[d] < 1 ? lines[d] : lines[n - 1];
  }
  for (uint32_t d = 0; d + 1 < n; d++)
    if (po_extent_of(p, loops[d]) > 1 && cost[d] < cost[best])
      best = d;
  return cost[best] * GS_ORDER_GAIN < cost[n - 1] ? best : n - 1;
}

/* loops[d] goes next to the innermost one, and both into blocks. */
static bool
block(po_chooser *c, uint32_t root, uint32_t *loops, uint32_t n, uint32_t d) {
  assert(d + 1 < n);
  uint32_t moved = loops[d];
  po_make_serial(c, root);
  for (uint32_t k = d; k + 2 < n; k++)
    loops[k] = loops[k + 1];
  loops[n - 2] = moved;
  po_step_call order = po_step("reorder");
  order.args[0] = po_loops_arg(loops, n);
  if (d != n - 2 && !po_attempt(c, &order, NULL))
    return false;
  int64_t size[2];
  uint32_t around[PO_MAX_DEPTH], stmt = po_node(po_now(c), loops[n - 1])->first;
  po_nest_loops(po_now(c), stmt, around);
  for (uint32_t k = 0; k < 2; k++) {
    int64_t extent = po_extent_of(po_now(c), around[n - 2 + k]);
    size[k] = extent < GS_ORDER_BLOCK ? extent : GS_ORDER_BLOCK;
  }
  po_step_call tile = po_step("tile");
  tile.args[0] = po_loops_arg(around + n - 2, 2);
  tile.args[1] = (po_arg){.kind = PO_ARG_INTS, .numbers = size, .n = 2};
  return po_attempt(c, &tile, NULL);
}

static void
block_around(po_chooser *c, uint32_t stmt) {
  const po_program *p = po_now(c);
  uint32_t loops[PO_MAX_DEPTH], n = loops_alone(p, stmt, loops);
  if (n < 2 || po_extent_of(p, loops[n - 1]) <= GS_ORDER_LINES ||
      po_instances_of(p, p->stmts.data[stmt].array) < GS_ORDER_INSTANCES)
    return;
  uint32_t d = other_depth(p, &p->stmts.data[stmt], loops, n);
  if (d == n - 1)
    return;
  po_program *old = po_copy(p);
  if (block(c, po_root_of(p, stmt), loops, n, d)) {
    po_free(old);
  } else {
    po_restore(c, old);
  }
  po_lay_out_now(c);
}

void
po_block_loops(po_chooser *c) {
  for (uint32_t k = 0; k < po_now(c)->stmts.len && !c->stopped; k++)
    block_around(c, k);
}
