/* SPDX-License-Identifier: MIT */
/* compute.c - the statements of a compute, by the kind of its operator.
 *
 * Elementwise operators, short folds and select are one expression of the
 * operands in every region; a reduction is lower_reduce.c's. */
#include "poly/lower/lower.h"
#include <assert.h>

typedef struct computing {
  po_lowering *low;
  gs_term term;
  gs_compute op;
  bs_value o; /* the operator with its parameters */
  const po_view *view;
  gs_type type;   /* of the operand */
  gs_dtype dtype; /* of the result */
  po_target placement;
  po_reads items[PO_MAX_TUPLE];
  uint32_t n_items;
} computing;

static void
read_items(computing *c) {
  uint32_t n = po_tuple_items(c->low, c->term);
  for (uint32_t k = 0; k < n; k++)
    c->items[c->n_items++] = po_reads_item(c->low, c->view, &c->type, k);
  if (!n)
    c->items[c->n_items++] = po_reads_all(c->low, c->view, &c->type);
}

static void
items_done(computing *c) {
  for (uint32_t k = 0; k < c->n_items; k++)
    po_reads_done(c->low, &c->items[k]);
}

/* ---- one expression a region ---- */

uint32_t
po_put_pointwise(po_body *body, bs_value o, gs_dtype dtype,
                 const uint32_t *values, uint32_t n) {
  assert(values && n);
  gs_compute op = GS_C_ADD;
  gs_compute_of(body->low->source->ctx.values, o, &op);
  gs_compute_kind kind = gs_compute_table[op].kind;
  if (kind == GS_FOLD) {
    uint32_t root = values[0];
    for (uint32_t k = 1; k < n; k++)
      root = po_put_binary(body, op, dtype, root, values[k]);
    return root;
  }
  if (kind == GS_SELECT) {
    po_expr *e = po_put_expr(body, PO_SELECT, dtype);
    for (uint32_t k = 0; k < 3; k++)
      e->kids[e->n_kids++] = values[k];
    return body->exprs.len - 1;
  }
  uint32_t root = po_put_unary(body, op, dtype, values[0]);
  bs_last(&body->exprs).param = o;
  return root;
}

static void
put_value(const computing *c, po_body *body, const po_region *region) {
  uint32_t values[PO_MAX_TUPLE];
  for (uint32_t k = 0; k < c->n_items; k++)
    values[k] =
        po_put_operand(body, c->type.dtype, region->read[k], c->items[0].dim);
  po_put_pointwise(body, c->o, c->dtype, values, c->n_items);
}

static void
squeeze(computing *c) {
  bool unit[GS_MAX_RANK];
  uint32_t rank = c->items[0].rank;
  if (po_find_units(c->items[0].dim, rank, unit) == rank)
    return;
  po_squeeze_target(c->low, unit, rank, &c->placement);
  for (uint32_t k = 0; k < c->n_items; k++)
    po_squeeze_reads(c->low, unit, &c->items[k]);
}

static void
emit_pointwise(computing *c) {
  po_lowering *low = c->low;
  read_items(c);
  squeeze(c);
  for (uint32_t k = 0; k < c->n_items; k++)
    po_split_chained(low, &c->items[k]);
  po_regions regions = po_refine(low, c->items, c->n_items);
  for (uint32_t k = 0; k < regions.list.len; k++) {
    const po_region *region = &regions.list.data[k];
    uint32_t first = low->out->stmts.len, rank = c->items[0].rank;
    po_body body = {.low = low};
    put_value(c, &body, region);
    po_add_stmt(&body, PO_ASSIGN, 0, region->set, rank, &c->placement, c->term);
    po_add_nest(low, first, rank, false);
  }
  po_regions_done(low, &regions);
  items_done(c);
}

/* ---- reductions ---- */

static void
emit_reduce(computing *c) {
  po_reads all = po_reads_all(c->low, c->view, &c->type);
  po_emit_reduction(c->low, c->term, c->op, &all, 1, c->type.access, c->dtype,
                    &c->placement);
}

/* An array of these dimensions, read at every index. */
static po_reads
reads_of_array(po_lowering *low, uint32_t array, const int64_t *dim) {
  assert(array < low->out->arrays.len);
  const po_array *a = &low->out->arrays.data[array];
  po_reads reads = {.dtype = a->dtype, .rank = a->rank};
  for (uint32_t d = 0; d < a->rank; d++)
    reads.dim[d] = dim[d];
  po_pool_reserve(&low->scratch, 2);
  po_read read = {.array = array};
  read.set =
      po_keep_set(&low->scratch, isl_set_universe(po_space(low->isl, a->rank)));
  read.map = po_keep_multi_aff(&low->scratch, po_identity(low->isl, a->rank));
  bs_push(low->heap, &reads.list, read);
  return reads;
}

/* A dot product of many items: their products first, then the sum. */
static void
emit_long_dot(computing *c) {
  po_lowering *low = c->low;
  int64_t dim[GS_MAX_RANK];
  uint32_t rank = 0;
  for (uint32_t d = 0; d < c->type.rank; d++)
    if (d != c->type.access)
      dim[rank++] = c->type.dim[d];
  uint32_t array =
      po_new_temporary(low, PO_WORKSPACE, c->dtype, dim, rank, GS_NO_TERM);
  po_reads products = reads_of_array(low, array, dim);
  po_target target = {array, products.list.data[0].map};
  po_emit_long_fold(low, c->term, GS_C_MUL, c->view, &c->type, c->dtype,
                    &target);
  po_emit_reduction(low, c->term, GS_C_REDUCE_SUM, &products, 1, c->type.access,
                    c->dtype, &c->placement);
}

static void
emit_dot(computing *c) {
  if (!po_tuple_items(c->low, c->term)) {
    emit_long_dot(c);
    return;
  }
  read_items(c);
  po_emit_reduction(c->low, c->term, c->op, c->items, c->n_items,
                    c->type.access, c->dtype, &c->placement);
}

static void
emit_fold(computing *c) {
  if (po_tuple_items(c->low, c->term))
    emit_pointwise(c);
  else
    po_emit_long_fold(c->low, c->term, c->op, c->view, &c->type, c->dtype,
                      &c->placement);
}

void
po_emit_compute(po_lowering *low, gs_term term) {
  assert(gs_at(low->source, term)->op == GS_COMPUTE);
  const bs_values *values = low->source->ctx.values;
  const gs_node *node = gs_at(low->source, term);
  const po_placement *placement = po_placement_of(low, term);
  gs_type result;
  gs_type_at(low->source, term, &result);
  computing c = {.low = low,
                 .term = term,
                 .o = bs_item(values, node->attr, 0),
                 .view = &low->views.of[node->kids[0].i],
                 .dtype = result.dtype,
                 .placement = {placement->array, placement->map}};
  gs_type_at(low->source, node->kids[0], &c.type);
  gs_compute_of(values, c.o, &c.op);
  switch (gs_compute_table[c.op].kind) {
  case GS_REDUCE:
    emit_reduce(&c);
    break;
  case GS_DOT:
    emit_dot(&c);
    break;
  case GS_FOLD:
    emit_fold(&c);
    break;
  case GS_ELEMENTWISE:
  case GS_CAST:
  case GS_SELECT:
    emit_pointwise(&c);
    break;
  case GS_SOFTMAX:
    po_emit_softmax(low, term);
    break;
  case GS_GATHER:
  case GS_LOOKUP:
    po_emit_gather(low, term);
    break;
  }
}
