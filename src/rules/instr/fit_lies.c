/* SPDX-License-Identifier: MIT */
/* fit_lies.c - how far apart the elements of operands lie.
 *
 * A call may be given a part of an array where it lies if neighbours along each
 * of its dimensions are one distance apart.  What does not lie so is copied by
 * the host before, or behind, all calls; an assignment without such copies is
 * worth much.  So the views below an operand are followed to the array that
 * they show; those above a result are in fit_above.c. */
#include "rules/instr/fit.h"
#include "glenside/type/view.h"
#include <assert.h>
#include <string.h>

enum { MOST_VIEWS = FIT_VIEWS };

void
fit_lie_with(const gs_type *t, uint32_t last, fit_lie *out) {
  assert(last < t->rank || !t->rank);
  int64_t n = 1;
  *out = (fit_lie){.known = true, .shape = *t};
  for (uint32_t k = 0; k < t->rank; k++) {
    uint32_t d = !k ? last : t->rank - k - (t->rank - k <= last);
    out->stride[d] = n;
    n *= t->dim[d];
  }
}

void
fit_lie_dense(const gs_type *t, fit_lie *out) {
  fit_lie_with(t, t->rank ? t->rank - 1u : 0, out);
}

/* The dimensions, from the last one on, that are one row of elements at one
 * distance: from, how many elements of the array's order lie below it. */
typedef struct run {
  int64_t below, size, stride;
} run;

static bool
next_run(const fit_lie *lie, uint32_t *d, run *r) {
  r->below *= r->size;
  r->size = 1;
  for (; *d > 0; --*d) {
    int64_t dim = lie->shape.dim[*d - 1], stride = lie->stride[*d - 1];
    if (dim == 1)
      continue;
    if (r->size > 1 && stride != r->stride * r->size)
      break;
    r->stride = r->size > 1 ? r->stride : stride;
    r->size *= dim;
  }
  return r->size > 1;
}

int64_t
fit_flat_stride(const fit_lie *lie, int64_t low, int64_t size) {
  assert(low >= 1 && size >= 1);
  run r = {.below = 1, .size = 1};
  uint32_t d = lie->known ? lie->shape.rank : 0;
  while (next_run(lie, &d, &r))
    if (r.below * r.size > low)
      return low % r.below == 0 && r.below * r.size % (low * size) == 0
                 ? r.stride * (low / r.below)
                 : 0;
  return 0;
}

/* ---- below an operand ---- */

bool
fit_find_chain(const fit_match *m, uint32_t operand, fit_chain *out) {
  assert(operand < FIT_OPERANDS);
  eg_class c = m->leaf[operand];
  *out = m->uncast[operand];
  if (out->n)
    c = out->cls[out->n];
  for (;; out->n++) {
    uint32_t n_kids;
    fit_ways ways;
    c = eg_find(m->graph, c);
    out->cls[out->n] = c;
    if (fit_is_array(m, c))
      return true;
    fit_find_ways(m, c, &ways);
    if (!ways.n || eg_op(m->graph, ways.node[0]) == GS_MATERIALIZE)
      return ways.n;
    if (out->n == MOST_VIEWS)
      return false;
    out->node[out->n] = ways.node[0];
    const eg_class *kids = eg_kids(m->graph, ways.node[0], &n_kids);
    if (n_kids != 1)
      return false;
    c = kids[0];
  }
}

/* Other shapes of the same elements in their order. */
static void
reshaped(const gs_type *to, fit_lie *lie) {
  fit_lie was = *lie;
  int64_t low = 1;
  for (uint32_t d = to->rank; d-- > 0; low *= to->dim[d]) {
    lie->stride[d] =
        to->dim[d] == 1 ? 1 : fit_flat_stride(&was, low, to->dim[d]);
    lie->known &= lie->stride[d] != 0;
  }
  lie->shape = *to;
}

static void
through(const fit_match *m, eg_node node, const gs_type *kid,
        const gs_type *type, fit_lie *lie) {
  gs_viewed of = {.values = m->session->ctx.values,
                  .op = (gs_op)eg_op(m->graph, node),
                  .attr = eg_attr(m->graph, node),
                  .kids = &kid,
                  .type = type};
  fit_lie was = *lie;
  gs_view view;
  gs_view_of(&of, &view);
  if (view.keeps_order) {
    reshaped(type, lie);
    return;
  }
  lie->shape = *type;
  memset(lie->stride, 0, sizeof lie->stride);
  lie->known &= view.n == 1 && view.part[0].source == GS_VIEW_CHILD;
  for (uint32_t k = 0; k < kid->rank && lie->known; k++) {
    const gs_view_row *row = &view.part[0].row[k];
    lie->known = !row->divided || kid->dim[k] == 1;
    for (uint32_t i = 0; i < row->n; i++)
      lie->stride[row->term[i].of] += row->term[i].times * was.stride[k];
  }
}

void
fit_lie_up(const fit_match *m, const fit_chain *k, uint32_t level,
           fit_lie *lie) {
  assert(level <= k->n);
  for (; lie->known && level > 0; level--)
    through(m, k->node[level - 1], fit_class_type(m, k->cls[level]),
            fit_class_type(m, k->cls[level - 1]), lie);
}

void
fit_lie_below(const fit_match *m, uint32_t operand, fit_lie *out) {
  assert(operand < FIT_OPERANDS);
  fit_chain k;
  *out = (fit_lie){0};
  if (!fit_find_chain(m, operand, &k))
    return;
  fit_lie_dense(fit_class_type(m, k.cls[k.n]), out);
  fit_lie_up(m, &k, k.n, out);
}
