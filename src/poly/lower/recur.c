/* SPDX-License-Identifier: MIT */
/* recur.c - states that depend on themselves: loops over time.
 *
 * A recurrence (glenside/call/unscan.c) is a materialize and a tensor that
 * stands for what it holds.  All bases on the way from the one to the other are
 * computed step by step, in the order that they have anyway: each of their
 * statements has the step as its first index, and lowering gives each a loop
 * over it, which are made one.  An element of the states is written once, and
 * read in later steps alone, so that nothing else has to hold. */
#include "poly/lower/lower.h"
#include <assert.h>
#include <string.h>

static const gs_recurrence *
recurrence(const po_lowering *low, uint32_t r) {
  assert(r < low->source->recurrences.len);
  return &low->source->recurrences.data[r];
}

bool
po_find_states(const po_lowering *low, gs_term tensor, gs_term *result) {
  for (uint32_t r = 0; r < low->source->recurrences.len; r++)
    if (recurrence(low, r)->states.i == tensor.i) {
      *result = recurrence(low, r)->result;
      return true;
    }
  return false;
}

/* 1 + the number of the recurrence whose step a base that reads the term is
 * in; 0: of none. */
static uint32_t
step_through(const po_lowering *low, gs_term read) {
  for (uint32_t r = 0; r < low->source->recurrences.len; r++) {
    if (recurrence(low, r)->states.i == read.i)
      return r + 1;
    if (recurrence(low, r)->result.i == read.i)
      return 0; /* all of it is there */
  }
  return low->recurs[read.i];
}

static uint32_t
step_of(const po_lowering *low, gs_term base) {
  uint32_t step = 0;
  const po_view *view;
  for (uint32_t k = 0; !step && (view = po_operand_view(low, base, k)); k++)
    for (uint32_t j = 0; !step && j < view->pieces.len; j++)
      if (view->pieces.data[j].from == PO_FROM_TERM)
        step = step_through(low, view->pieces.data[j].term);
  return step;
}

/* The bases of a step stand together, where the last of them stood. */
void
po_order_steps(po_lowering *low) {
  uint32_t n = low->source->recurrences.len, all = low->order.len, to = 0;
  if (!n)
    return;
  low->recurs =
      bs_calloc(low->heap, low->source->nodes.len, sizeof *low->recurs);
  gs_term *old = bs_alloc(low->heap, (all + (size_t)1) * sizeof *old);
  if (all)
    memcpy(old, low->order.data, all * sizeof *old);
  for (uint32_t k = 0; k < all; k++)
    low->recurs[old[k].i] = step_of(low, old[k]);
  for (uint32_t k = 0; k < all; k++) {
    uint32_t step = low->recurs[old[k].i];
    bool last = step && recurrence(low, step - 1)->result.i == old[k].i;
    for (uint32_t j = 0; last && j < k; j++)
      if (low->recurs[old[j].i] == step)
        low->order.data[to++] = old[j];
    if (!step || last)
      low->order.data[to++] = old[k];
  }
  bs_free(low->heap, old);
}

/* ---- one loop ---- */

static void
run_in_order(po_program *p, uint32_t loop) {
  for (uint32_t k = loop; k != PO_NO_NODE; k = po_nest_next(p, k, loop))
    if (p->nest.nodes.data[k].kind == PO_LOOP)
      p->nest.nodes.data[k].mark = PO_SERIAL;
}

/* The children of the root behind `before`, or all, have their outermost loop
 * in common. */
void
po_join_steps(po_lowering *low, uint32_t before) {
  po_program *p = low->out;
  po_nest_node *nodes = p->nest.nodes.data;
  uint32_t loop = before == PO_NO_NODE ? nodes[0].first : nodes[before].next;
  if (loop == PO_NO_NODE || po_has_failed(low))
    return;
  for (uint32_t next = nodes[loop].next, after; next != PO_NO_NODE;
       next = after) {
    after = nodes[next].next;
    for (uint32_t kid; (kid = nodes[next].first) != PO_NO_NODE;) {
      po_nest_detach(p, kid);
      po_nest_attach(p, kid, loop, PO_NO_NODE);
    }
    po_nest_detach(p, next);
    po_nest_remove(p, next);
  }
  run_in_order(p, loop);
}
