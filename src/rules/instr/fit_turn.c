/* SPDX-License-Identifier: MIT */
/* fit_turn.c - arrays that the host copies for calls below the views of an
 * operand.
 *
 * A call takes rows of elements that lie side by side.  Windows of an image
 * whose channels lie far apart have none, and a copy of all windows holds each
 * pixel many times.  One of the image, or of the image between zeros, with its
 * channels innermost is smaller, and the windows of that one lie well. */
#include "rules/instr/fit_build.h"
#include "base/whole.h"
#include <assert.h>

typedef struct turn {
  uint32_t level; /* in the chain: what is copied */
  uint32_t last;  /* its innermost dimension */
  int64_t elements;
} turn;

static bool
lies_well(const building *b, const fit_chain *chain, const turn *t, uint32_t k,
          const parts *from) {
  const fit_match *m = b->m;
  fit_lie lie;
  fit_lie_with(fit_class_type(m, chain->cls[t->level]), t->last, &lie);
  fit_lie_up(m, chain, t->level, &lie);
  return fit_lies_well(b, &m->f->operand[k], k, from, &lie);
}

/* The least copy of fewer elements than `below`. */
static bool
find_turn(const building *b, const fit_chain *chain, uint32_t k,
          const parts *from, int64_t below, turn *out) {
  bool any = false;
  *out = (turn){.elements = below};
  for (uint32_t level = chain->n + 1; level-- > 0;) {
    const gs_type *t = fit_class_type(b->m, chain->cls[level]);
    int64_t elements = gs_elements(t);
    for (uint32_t d = t->rank; d-- > 0 && elements < out->elements;) {
      turn try = {level, d, elements};
      if (lies_well(b, chain, &try, k, from)) {
        *out = try;
        any = true;
      }
    }
  }
  return any;
}

/* The dimension becomes the innermost one; back: that undone. */
static void
transpose(building *b, uint32_t last, bool back) {
  assert(last < b->type.rank);
  bs_values *values = b->m->session->ctx.values;
  int64_t order[GS_MAX_RANK];
  uint32_t n = b->type.rank;
  for (uint32_t d = 0; d + 1 < n; d++)
    order[back ? d + (d >= last) : d] = back ? d : d + (d >= last);
  order[back ? last : n - 1] = back ? n - 1 : last;
  bs_value item = bs_ints(values, order, n);
  fit_add_view(b, GS_TRANSPOSE, &item, 1);
}

/* The copy, and the views above it. */
static void
build(building *b, const fit_chain *chain, const turn *t) {
  b->cls = chain->cls[t->level];
  b->type = *fit_class_type(b->m, b->cls);
  bool turns = t->last + 1 < b->type.rank;
  if (turns)
    transpose(b, t->last, false);
  fit_copy(b);
  if (turns)
    transpose(b, t->last, true);
  for (uint32_t k = t->level; k-- > 0;) {
    gs_type type = b->type;
    const gs_type *types[1] = {&type};
    eg_class kid = b->cls;
    fit_add_node(b, (gs_op)eg_op(b->m->graph, chain->node[k]),
                 eg_attr(b->m->graph, chain->node[k]), &kid, types, 1);
  }
}

bool
fit_turn(building *b, uint32_t k, const parts *from, const parts *to) {
  assert(k < FIT_OPERANDS);
  fit_chain chain;
  turn t;
  int64_t whole = gs_prod(to->dim, to->n_dims);
  if (!fit_find_chain(b->m, k, &chain) ||
      !find_turn(b, &chain, k, from, whole, &t))
    return false;
  build(b, &chain, &t);
  return true;
}
