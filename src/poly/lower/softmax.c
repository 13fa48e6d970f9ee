/* SPDX-License-Identifier: MIT */
/* softmax.c - softmax as three loops over the elements it normalises.
 *
 *   for outer: { top = lowest; total = 0;
 *                for c: top = max(top, x); for c: total += e = exp(x - top);
 *                share = 1 / total;
 *                for c: placement = e * share }
 *
 * e is kept in the placement where its dtype keeps the precision of the
 * computation, and computed again otherwise.  total is at least one, as the
 * exponential of the largest element is, so its reciprocal is in range; where
 * floats are strict, elements are divided. */
#include "poly/lower/lower.h"
#include <assert.h>
#include <math.h>

typedef struct softmax {
  po_lowering *low;
  gs_term term;
  gs_dtype dtype, acc;
  uint32_t n_outer, rank, top, total;
  uint32_t share; /* as total; equal to it where elements are divided */
  po_target placement;
  po_reads reads;
  po_regions regions;
} softmax;

/* One statement a region, its body made by `put`. */
static void
for_regions(softmax *s, po_stmt_kind kind, gs_compute op, const po_target *at,
            void (*put)(softmax *, po_body *, const po_read *)) {
  for (uint32_t k = 0; k < s->regions.list.len; k++) {
    const po_region *region = &s->regions.list.data[k];
    po_body body = {.low = s->low};
    put(s, &body, region->read[0]);
    po_add_stmt(&body, kind, op, region->set, s->n_outer, at, s->term);
  }
}

static void
start(softmax *s, uint32_t local, double value, __isl_keep isl_set *outer) {
  po_body body = {.low = s->low};
  po_target at = po_local_at(s->low, local, s->n_outer);
  po_put_literal(&body, s->acc, value);
  po_add_stmt(&body, PO_ASSIGN, 0, outer, s->n_outer, &at, s->term);
}

static void
put_element(softmax *s, po_body *body, const po_read *read) {
  po_put_read(body, s->dtype, read);
}

static void
put_exp(softmax *s, po_body *body, const po_read *read) {
  uint32_t x = po_put_read(body, s->dtype, read);
  uint32_t top = po_put_local(body, s->top, s->rank);
  uint32_t below = po_put_binary(body, GS_C_SUB, s->acc, x, top);
  po_put_unary(body, GS_C_EXP, s->acc, below);
}

static void
put_kept(softmax *s, po_body *body, const po_read *read) {
  (void)read;
  po_read kept = {.array = s->placement.array, .map = s->placement.map};
  po_put_read(body, s->dtype, &kept);
}

static void
invert(softmax *s, __isl_keep isl_set *outer) {
  po_body body = {.low = s->low};
  po_target at = po_local_at(s->low, s->share, s->n_outer);
  uint32_t total = po_put_local(&body, s->total, s->n_outer);
  po_put_unary(&body, GS_C_RECIP, s->acc, total);
  po_add_stmt(&body, PO_ASSIGN, 0, outer, s->n_outer, &at, s->term);
}

static void
put_share(softmax *s, po_body *body, const po_read *read) {
  if (s->acc == s->dtype)
    put_kept(s, body, read);
  else
    put_exp(s, body, read);
  uint32_t e = body->exprs.len - 1;
  uint32_t share = po_put_local(body, s->share, s->rank);
  po_put_binary(body, s->share == s->total ? GS_C_DIV : GS_C_MUL, s->acc, e,
                share);
}

static void
emit(softmax *s, const gs_type *type) {
  po_lowering *low = s->low;
  po_pool_reserve(&low->scratch, 1);
  isl_set *outer =
      po_keep_set(&low->scratch, po_box(low->isl, type->dim, s->n_outer));
  uint32_t first = low->out->stmts.len;
  po_target top = po_local_at(low, s->top, s->rank);
  po_target total = po_local_at(low, s->total, s->rank);
  bool keeps = s->acc == s->dtype;
  start(s, s->top, -INFINITY, outer);
  for_regions(s, PO_UPDATE, GS_C_MAX, &top, put_element);
  start(s, s->total, 0, outer);
  if (keeps)
    for_regions(s, PO_ASSIGN, 0, &s->placement, put_exp);
  for_regions(s, PO_UPDATE, GS_C_ADD, &total, keeps ? put_kept : put_exp);
  if (s->share != s->total)
    invert(s, outer);
  for_regions(s, PO_ASSIGN, 0, &s->placement, put_share);
  po_add_nest(low, first, s->n_outer, low->out->strict_fp);
}

void
po_emit_softmax(po_lowering *low, gs_term term) {
  assert(gs_at(low->source, term)->op == GS_COMPUTE);
  gs_term operand = gs_at(low->source, term)->kids[0];
  const po_placement *placement = po_placement_of(low, term);
  gs_type type;
  gs_type_at(low->source, operand, &type);
  softmax s = {.low = low,
               .term = term,
               .dtype = type.dtype,
               .acc = gs_is_half(type.dtype) ? GS_F32 : type.dtype,
               .n_outer = type.access,
               .rank = type.rank,
               .placement = {placement->array, placement->map}};
  s.top =
      po_new_temporary(low, PO_LOCAL, s.acc, type.dim, s.n_outer, GS_NO_TERM);
  s.total =
      po_new_temporary(low, PO_LOCAL, s.acc, type.dim, s.n_outer, GS_NO_TERM);
  s.share = low->out->strict_fp
                ? s.total
                : po_new_temporary(low, PO_LOCAL, s.acc, type.dim, s.n_outer,
                                   GS_NO_TERM);
  s.reads = po_reads_all(low, &low->views.of[operand.i], &type);
  s.regions = po_refine(low, &s.reads, 1);
  emit(&s, &type);
  po_regions_done(low, &s.regions);
  po_reads_done(low, &s.reads);
}
