/* SPDX-License-Identifier: MIT */
/* datalayout_search.c - the greedy search for layouts.
 *
 * A round tries every transform on every movable array on top of what was
 * chosen before, and takes the cheapest when it is strictly cheaper than what
 * there is.  A step that leaves elements in the order that they have, or gives
 * them the original one again, is priced and shown but not chosen: no copy can
 * be worth it.  The number of steps of an array is bounded, and the cost falls
 * in each round. */
#include "base/governor.h"
#include "poly/datalayout/datalayout.h"
#include <assert.h>

typedef struct search {
  po_layout_model *m;
  po_layout_search *out;
  const int64_t *widths;
  uint32_t n_widths;
  po_layout_round round;
  po_layout best;
  const po_layout *plain;
} search;

static void
consider(search *s, uint32_t array, po_layout_step step) {
  po_layout old = s->out->layouts[array], made;
  s->out->stopped |= s->m->most && s->m->priced >= s->m->most;
  s->out->stopped |= bs_stage_over(bs_governor_of(s->m->heap));
  if (s->out->stopped || !po_layout_apply(s->m, &old, step, &made))
    return;
  po_layout_candidate c = {.array = array, .step = step};
  s->out->layouts[array] = made;
  po_layout_forget(s->m, array);
  c.cost = po_layout_price(s->m, s->out->cost, s->out->layouts);
  s->out->layouts[array] = old;
  po_layout_forget(s->m, array);
  const po_layout_array *a = &s->m->arrays.data[array];
  c.kept =
      po_layout_same_order(s->m, a, &made, &old) ||
      (old.n_steps && po_layout_same_order(s->m, a, &made, &s->plain[array]));
  if (!c.kept && c.cost < s->out->best) {
    s->out->best = c.cost;
    s->best = made;
    s->round.chosen = s->round.candidates.len;
  }
  bs_push(s->m->heap, &s->round.candidates, c);
}

static void
consider_op(search *s, po_layout_op op) {
  uint32_t n = op == PO_REORDER ? 1 : s->n_widths;
  for (uint32_t a = 0; a < s->m->arrays.len; a++)
    for (uint32_t k = 0; s->m->arrays.data[a].movable && k < n; k++)
      consider(s, a, (po_layout_step){op, op == PO_REORDER ? 1 : s->widths[k]});
}

static bool
run_round(search *s) {
  static const po_layout_op order[] = {PO_INTERLEAVE, PO_REORDER, PO_SPLITY};
  s->round = (po_layout_round){.chosen = UINT32_MAX};
  for (uint32_t k = 0; k < 3; k++)
    consider_op(s, order[k]);
  uint32_t n = s->round.candidates.len;
  bool found = s->round.chosen < n;
  if (found) {
    uint32_t array = s->round.candidates.data[s->round.chosen].array;
    s->out->layouts[array] = s->best;
    po_layout_forget(s->m, array);
  } else {
    s->round.chosen = n;
  }
  bs_push(s->m->heap, &s->out->rounds, s->round);
  return found;
}

void
po_layout_find(po_layout_model *m, po_layout_cost cost, const int64_t *widths,
               uint32_t n_widths, po_layout_search *out) {
  assert(widths || !n_widths);
  *out = (po_layout_search){.cost = cost};
  out->layouts = BS_NEWS(&m->arena, po_layout, m->arrays.len + 1);
  po_layout *plain = BS_NEWS(&m->arena, po_layout, m->arrays.len + 1);
  for (uint32_t k = 0; k < m->arrays.len; k++)
    plain[k] = out->layouts[k] = po_layout_plain(m, &m->arrays.data[k]);
  m->remembers = true;
  out->start = out->best = po_layout_price(m, cost, out->layouts);
  search s = {.m = m,
              .out = out,
              .widths = widths,
              .n_widths = n_widths,
              .plain = plain};
  while (run_round(&s))
    ;
  m->remembers = false;
}

void
po_layout_search_done(po_layout_model *m, po_layout_search *s) {
  for (uint32_t k = 0; k < s->rounds.len; k++)
    bs_vec_done(m->heap, &s->rounds.data[k].candidates);
  bs_vec_done(m->heap, &s->rounds);
}
