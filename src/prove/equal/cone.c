/* SPDX-License-Identifier: MIT */
/* cone.c - what two terms are made of, cut out of a program.
 *
 * Terms are met from the roots down and copied in the order of their numbers,
 * children first. */
#include "prove/equal/cone.h"
#include <assert.h>
#include <stdlib.h>

void
pv_cutter_done(pv_cutter *c) {
  bs_heap *heap = c->ctx->heap;
  bs_vec_done(heap, &c->when);
  bs_vec_done(heap, &c->to);
  bs_vec_done(heap, &c->stack);
  bs_vec_done(heap, &c->body);
}

static void
make_room(pv_cutter *c, uint32_t n) {
  while (c->when.len < n)
    bs_push(c->ctx->heap, &c->when, 0);
  while (c->to.len < n)
    bs_push(c->ctx->heap, &c->to, GS_NO_TERM);
}

static void
meet(pv_cutter *c, gs_term t) {
  assert(t.i < c->when.len);
  if (c->when.data[t.i] == c->cut)
    return;
  c->when.data[t.i] = c->cut;
  bs_push(c->ctx->heap, &c->stack, t.i);
}

static void
walk(pv_cutter *c, const gs_program *p) {
  while (c->stack.len) {
    uint32_t at = bs_pop(&c->stack);
    const gs_node *n = &p->nodes.data[at];
    bs_push(c->ctx->heap, &c->body, at);
    for (uint32_t k = 0; k < n->n_kids; k++)
      meet(c, n->kids[k]);
  }
}

static int
by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static const char *
name_of(const gs_program *p, const gs_node *n) {
  const bs_values *values = p->ctx.values;
  return bs_as_sym(values, bs_item(values, n->attr, 0));
}

static gs_term
copy(pv_cutter *c, const gs_program *p, gs_program *out, gs_term t) {
  const gs_node *n = gs_at(p, t);
  gs_type type;
  if (n->op == GS_CONST)
    return gs_copy_constant(p, n->attr, out, n->span);
  if (n->op != GS_TENSOR)
    return gs_add_like(out, n, c->to.data);
  gs_type_at(p, t, &type);
  return gs_add_tensor(out, name_of(p, n), &type, n->span);
}

gs_program *
pv_cut_out(pv_cutter *c, const gs_program *p, gs_term *a, gs_term *b) {
  make_room(c, p->nodes.len);
  c->cut++;
  bs_clear(&c->body);
  meet(c, *a);
  meet(c, *b);
  walk(c, p);
  qsort(c->body.data, c->body.len, sizeof *c->body.data, by_number);
  gs_program *out = gs_program_new(c->ctx, p->target);
  for (uint32_t k = 0; k < c->body.len; k++) {
    gs_term t = {c->body.data[k]};
    c->to.data[t.i] = copy(c, p, out, t);
    if (!gs_term_ok(c->to.data[t.i]))
      return NULL;
  }
  *a = c->to.data[a->i];
  *b = c->to.data[b->i];
  return out;
}
