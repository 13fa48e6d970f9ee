/* SPDX-License-Identifier: MIT */
/* order.c - loop orders and layouts that together cost least.
 *
 * What layout is best follows from the order of the loops, and the other way
 * round.  Nest by nest, every loop around the statement that is furthest in is
 * tried as the innermost one, by the command `reorder`, which refuses what the
 * dependences forbid; for each order the layouts are searched anew.  An order
 * is kept when it lowers the cost with its layouts; the first of equals, which
 * is the one that the program has. */
#include "poly/kernel/contraction.h"
#include "poly/datalayout/datalayout.h"
#include "poly/search/chooser.h"
#include <assert.h>

/* Nests looked at, and loops of one. */
enum { MOST_NESTS = 16, MOST_LOOPS = 6 };

typedef struct ordering {
  po_program **program;
  po_layout_cost cost;
  const int64_t *widths;
  uint32_t n_widths;
  bs_text *out;
  double best;
} ordering;

/* What the program costs with the best layouts; < 0 where isl gives up. */
static double
price(const ordering *o, const po_program *p) {
  bs_heap *heap = p->ctx.heap;
  po_layout_model m;
  double best = -1;
  po_layout_model_init(&m, heap, p->isl);
  if (po_layout_model_of(p, &m)) {
    po_layout_search found;
    po_layout_find(&m, o->cost, o->widths, o->n_widths, &found);
    best = found.best;
    po_layout_search_done(&m, &found);
  }
  po_layout_model_done(&m);
  return best;
}

/* The statement of a nest with the most loops, the last of equals. */
static uint32_t
furthest_in(const po_program *p, uint32_t root) {
  uint32_t found = PO_NO_NODE, most = 1;
  for (uint32_t k = root; k != PO_NO_NODE; k = po_nest_next(p, k, root)) {
    if (po_node(p, k)->kind != PO_LEAF)
      continue;
    uint32_t depth = po_nest_depth(p, k);
    if (depth > most || (depth == most && most > 1)) {
      most = depth;
      found = po_node(p, k)->stmt;
    }
  }
  return found;
}

static void
put_order(const ordering *o, const po_program *p, const char *stmt,
          const uint32_t *order, uint32_t n, double cost) {
  bs_putf(o->out, "# order %s [", stmt);
  for (uint32_t k = 0; k < n; k++)
    bs_putf(o->out, "%s%s", k ? ", " : "", po_node(p, order[k])->name);
  if (cost < 0)
    bs_put(o->out, "]: refused\n");
  else
    bs_putf(o->out, "]: %.12g\n", cost);
}

/* The program with these loops in this order; NULL where that is refused. */
static po_program *
reordered(const po_program *p, const uint32_t *order, uint32_t n) {
  po_program *made = po_copy(p);
  po_chooser c = {.program = &made, .isl = p->isl};
  po_step_call call = po_step("reorder");
  call.args[0] = (po_arg){.kind = PO_ARG_LOOPS, .nodes = order, .n = n};
  if (!po_attempt(&c, &call, NULL)) {
    po_free(made);
    return NULL;
  }
  po_lay_out(made);
  return made;
}

/* loops[d] goes innermost. */
static void
try_loop(ordering *o, uint32_t stmt, const uint32_t *loops, uint32_t n,
         uint32_t d, po_program **best) {
  const po_program *p = *o->program;
  uint32_t order[PO_MAX_DEPTH];
  for (uint32_t k = 0; k < n; k++)
    order[k] = k < d ? loops[k] : k + 1 < n ? loops[k + 1] : loops[d];
  po_program *made = reordered(p, order + d, n - d);
  double cost = made ? price(o, made) : -1;
  put_order(o, p, p->stmts.data[stmt].name, order, n, cost);
  if (made && cost >= 0 && cost < o->best) {
    po_program *old = *best;
    *best = made;
    made = old;
    o->best = cost;
  }
  if (made)
    po_free(made);
}

static void
order_nest(ordering *o, uint32_t root) {
  const po_program *p = *o->program;
  uint32_t stmt = furthest_in(p, root), loops[PO_MAX_DEPTH];
  if (stmt == PO_NO_NODE || !po_may_change(p, root))
    return;
  uint32_t n = po_nest_loops(p, p->stmts.data[stmt].leaf, loops);
  po_program *best = NULL;
  for (uint32_t d = n - 1; d-- > 0 && n - d <= MOST_LOOPS;)
    try_loop(o, stmt, loops, n, d, &best);
  if (best) {
    po_free(*o->program);
    *o->program = best;
  }
}

void
po_layout_order_loops(po_program **program, po_layout_cost cost,
                      const int64_t *widths, uint32_t n_widths, bs_text *out) {
  assert(widths || !n_widths);
  ordering o = {program, cost, widths, n_widths, out, -1};
  uint32_t nests = 0, root, next;
  o.best = price(&o, *program);
  if (o.best < 0)
    return;
  bs_putf(out, "# order as it is: %.12g\n", o.best);
  for (root = po_node(*program, 0)->first;
       root != PO_NO_NODE && nests < MOST_NESTS; root = next, nests++) {
    next = po_node(*program, root)->next;
    order_nest(&o, root);
  }
}
