/* SPDX-License-Identifier: MIT */
/* lower_reduce.c - reductions: a local is initialised, updated, then stored.
 *
 *   for outer: { acc = start; for reduced: acc op= term; placement =
 * finish(acc) }
 *
 * The domain of the updates is cut into regions, one statement each, in which
 * every operand is one affine access.  Regions that cannot change the result
 * are left out: zeros of a padded input cost nothing.  Outer indices that no
 * region connects go to groups of their own, so that no loop holds a test. */
#include "poly/lower/lower.h"
#include "poly/loops/open.h"
#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct reduction {
  po_lowering *low;
  gs_term term;
  gs_compute op;     /* reduceSum, ..., dotProd, or a fold */
  gs_compute update; /* the fold operator of the updates */
  gs_dtype acc;      /* of the local */
  bool product;      /* the operands are multiplied first */
  bool ordered;      /* instances keep their order */
  bool from_first;   /* a fold: starts with item 0, updates from item 1 */
  po_target target;  /* over the outer indices */
  uint32_t n_outer, n_operands;
  po_reads operands[PO_MAX_TUPLE];
  po_reads first; /* from_first: item 0 */
  po_regions regions;
  gs_number count; /* of the elements reduced */
} reduction;

/* ---- what each operator does ---- */

static gs_compute
update_of(gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  return gs_fold_operator(gs_compute_table[op].fold);
}

double
po_fold_start(gs_compute update) {
  assert(update < GS_COMPUTE_COUNT);
  return gs_fold_table[gs_compute_table[update].fold].start;
}

/* A chain of floats of 16 bits is rounded once, at its end. */
static gs_dtype
local_dtype(gs_dtype dtype) {
  return gs_is_half(dtype) ? GS_F32 : dtype;
}

/* ---- regions ---- */

static bool
is_literal(const po_read *read, double value) {
  return read->constant && read->literal == value;
}

/* The updates of a region leave every local as it is. */
static bool
is_idle(const reduction *r, const po_region *region) {
  bool strict = r->low->out->strict_fp && !gs_dtype_table[r->acc].integer;
  if (r->product) {
    for (uint32_t k = 0; k < r->n_operands; k++)
      if (is_literal(region->read[k], 0))
        return !strict;
    return false;
  }
  if (r->update == GS_C_MAX)
    return is_literal(region->read[0], -INFINITY);
  return r->update == GS_C_ADD && is_literal(region->read[0], 0);
}

static void
drop_idle_regions(reduction *r) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < r->regions.list.len; k++)
    if (!is_idle(r, &r->regions.list.data[k]))
      r->regions.list.data[n++] = r->regions.list.data[k];
  r->regions.list.len = n;
}

static isl_set *
outer_box(const reduction *r, const int64_t *dim) {
  po_pool_reserve(&r->low->scratch, 1);
  return po_keep_set(&r->low->scratch, po_box(r->low->isl, dim, r->n_outer));
}

static bool
is_whole(const reduction *r, const po_region *region) {
  for (uint32_t k = 0; k < r->n_operands; k++)
    if (isl_set_plain_is_universe(region->read[k]->set) != isl_bool_true)
      return false;
  return true;
}

/* The outer indices that a region has. */
static isl_set *
outer_part(const reduction *r, const po_region *region,
           __isl_keep isl_set *box) {
  isl_size n = isl_set_dim(region->set, isl_dim_set);
  if (is_whole(r, region) || n < 0)
    return box;
  po_pool_reserve(&r->low->scratch, 1);
  isl_set *part = isl_set_project_out(isl_set_copy(region->set), isl_dim_set,
                                      r->n_outer, (unsigned)n - r->n_outer);
  if (isl_set_is_subset(box, part) == isl_bool_true) {
    isl_set_free(part);
    return box;
  }
  return po_keep_set(&r->low->scratch, isl_set_coalesce(part));
}

/* ---- statements ---- */

static void
add_start(reduction *r, uint32_t local, __isl_keep isl_set *outer) {
  po_body body = {.low = r->low};
  po_target target = po_local_at(r->low, local, r->n_outer);
  po_put_literal(&body, r->acc, po_fold_start(r->update));
  po_add_stmt(&body, PO_ASSIGN, 0, outer, r->n_outer, &target, r->term);
}

/* acc = item 0, a statement a piece of it. */
static void
add_first_items(reduction *r, uint32_t local, __isl_keep isl_set *outer) {
  for (uint32_t k = 0; k < r->first.list.len; k++) {
    const po_read *read = &r->first.list.data[k];
    po_body body = {.low = r->low};
    isl_set *where = po_keep_set(
        &r->low->scratch,
        isl_set_intersect(isl_set_copy(outer), isl_set_copy(read->set)));
    if (isl_set_is_empty(where) == isl_bool_true)
      continue;
    po_target target = po_local_at(r->low, local, r->n_outer);
    po_put_read(&body, r->first.dtype, read);
    po_add_stmt(&body, PO_ASSIGN, 0, where, r->n_outer, &target, r->term);
  }
}

/* The product of the operands. */
static void
put_item(const reduction *r, const po_region *region, po_body *body) {
  uint32_t root = 0;
  for (uint32_t k = 0; k < r->n_operands; k++) {
    gs_dtype dtype = r->operands[k].dtype;
    uint32_t next =
        po_put_operand(body, dtype, region->read[k], r->operands[k].dim);
    root = k ? po_put_binary(body, GS_C_MUL, r->acc, root, next) : next;
  }
}

static void
add_update(reduction *r, uint32_t local, const po_region *region,
           __isl_keep isl_set *domain) {
  po_body body = {.low = r->low};
  put_item(r, region, &body);
  po_target target = po_local_at(r->low, local, r->operands[0].rank);
  po_add_stmt(&body, PO_UPDATE, r->update, domain, r->n_outer, &target,
              r->term);
}

static void
put_count(const reduction *r, po_expr *mean) {
  po_program *out = r->low->out;
  if (!gs_is_sized(r->count)) {
    mean->literal = (double)r->count;
    return;
  }
  po_pool_reserve(&out->pool, 1);
  mean->by = po_keep_aff(&out->pool, po_open_aff(out->isl, 0, r->count));
}

static void
add_finish(reduction *r, uint32_t local, __isl_keep isl_set *outer) {
  po_body body = {.low = r->low};
  uint32_t root = po_put_local(&body, local, r->n_outer);
  if (r->op == GS_C_REDUCE_MEAN) {
    root = po_put_unary(&body, GS_C_REDUCE_MEAN, r->acc, root);
    put_count(r, &bs_last(&body.exprs));
  }
  po_add_stmt(&body, PO_ASSIGN, 0, outer, r->n_outer, &r->target, r->term);
}

/* ---- groups ---- */

/* A group over these outer indices, with the regions marked in `here`. */
static void
add_group(reduction *r, __isl_keep isl_set *outer, const uint8_t *here) {
  po_lowering *low = r->low;
  uint32_t first = low->out->stmts.len;
  uint32_t local = po_new_temporary(low, PO_LOCAL, r->acc, r->operands[0].dim,
                                    r->n_outer, GS_NO_TERM);
  if (r->from_first)
    add_first_items(r, local, outer);
  else
    add_start(r, local, outer);
  for (uint32_t k = 0; k < r->regions.list.len; k++)
    if (here[k])
      add_update(r, local, &r->regions.list.data[k],
                 r->regions.list.data[k].set);
  add_finish(r, local, outer);
  po_add_nest(low, first, r->n_outer, r->ordered);
}

/* Joins the outer parts that overlap, from region k on, into one set; marks
 * its regions. */
static isl_set *
connected(reduction *r, isl_set *const *parts, uint32_t k, uint8_t *used,
          uint8_t *here) {
  po_pool *pool = &r->low->scratch;
  isl_set *joined = parts[k];
  memset(here, 0, r->regions.list.len);
  used[k] = here[k] = 1;
  for (bool grown = true; grown;) {
    grown = false;
    for (uint32_t j = k + 1; j < r->regions.list.len; j++) {
      if (used[j] || isl_set_is_disjoint(joined, parts[j]) != isl_bool_false)
        continue;
      po_pool_reserve(pool, 1);
      joined =
          po_keep_set(pool, isl_set_coalesce(isl_set_union(
                                isl_set_copy(joined), isl_set_copy(parts[j]))));
      used[j] = here[j] = 1;
      grown = true;
    }
  }
  return joined;
}

static void
add_groups(reduction *r) {
  po_lowering *low = r->low;
  uint32_t n = r->regions.list.len;
  isl_set **parts = bs_calloc(low->heap, n + 1, sizeof(isl_set *));
  uint8_t *used = bs_calloc(low->heap, n + 1, 1);
  uint8_t *here = bs_calloc(low->heap, n + 1, 1);
  isl_set *box = outer_box(r, r->operands[0].dim), *rest = box;
  for (uint32_t k = 0; k < n; k++)
    parts[k] = outer_part(r, &r->regions.list.data[k], box);
  for (uint32_t k = 0; k < n; k++) {
    if (used[k])
      continue;
    isl_set *outer = connected(r, parts, k, used, here);
    add_group(r, outer, here);
    po_pool_reserve(&low->scratch, 1);
    rest = po_keep_set(&low->scratch, isl_set_subtract(isl_set_copy(rest),
                                                       isl_set_copy(outer)));
  }
  memset(here, 0, n);
  if (isl_set_is_empty(rest) == isl_bool_false)
    add_group(r, rest, here);
  bs_free(low->heap, parts);
  bs_free(low->heap, used);
  bs_free(low->heap, here);
}

/* ---- one item ---- */

/* Of so little the item is the result: a sum of one, as the dot products of
 * an outer product.  Strictly, 0 + x is not x where that is -0. */
static bool
is_one_item(const reduction *r) {
  bool strict = r->low->out->strict_fp && !gs_dtype_table[r->acc].integer;
  return r->count == 1 && !strict &&
         (r->n_operands > 1 || r->operands[0].dtype == r->acc);
}

/* Reads over the outer indices alone; those of the one item are 0. */
static void
drop_item_dims(const reduction *r, po_reads *reads) {
  isl_ctx *isl = r->low->isl;
  uint32_t n = r->n_outer;
  isl_multi_aff *at = isl_multi_aff_zero(po_map_space(isl, n, reads->rank));
  for (uint32_t d = 0; d < n; d++)
    at = isl_multi_aff_set_aff(at, (int)d, po_index(isl, n, d, 1, 0));
  po_pool_reserve(&r->low->scratch, 2 * reads->list.len + 1);
  at = po_keep_multi_aff(&r->low->scratch, at);
  for (uint32_t k = 0; k < reads->list.len; k++) {
    po_read *read = &reads->list.data[k];
    read->set = po_keep_set(&r->low->scratch,
                            isl_set_preimage_multi_aff(isl_set_copy(read->set),
                                                       isl_multi_aff_copy(at)));
    if (!read->constant)
      read->map = po_keep_multi_aff(
          &r->low->scratch,
          isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(read->map),
                                           isl_multi_aff_copy(at)));
  }
  reads->rank = n;
}

static void
emit_one_item(reduction *r) {
  po_lowering *low = r->low;
  for (uint32_t k = 0; k < r->n_operands; k++)
    drop_item_dims(r, &r->operands[k]);
  r->regions = po_refine(low, r->operands, r->n_operands);
  for (uint32_t k = 0; k < r->regions.list.len; k++) {
    const po_region *region = &r->regions.list.data[k];
    uint32_t first = low->out->stmts.len;
    po_body body = {.low = low};
    put_item(r, region, &body);
    po_add_stmt(&body, PO_ASSIGN, 0, region->set, r->n_outer, &r->target,
                r->term);
    po_add_nest(low, first, r->n_outer, false);
  }
}

/* ---- entries ---- */

/* Indices within one item, too; where there are such, one stays. */
static void
squeeze(reduction *r) {
  bool unit[GS_MAX_RANK];
  uint32_t rank = r->operands[0].rank, n = r->n_outer;
  uint32_t outer = po_find_units(r->operands[0].dim, n, unit);
  uint32_t inner = po_find_units(r->operands[0].dim + n, rank - n, unit + n);
  if (outer + inner == rank)
    return;
  po_squeeze_target(r->low, unit, n, &r->target);
  if (r->from_first)
    po_squeeze_reads(r->low, unit, &r->first);
  for (uint32_t k = 0; k < r->n_operands; k++)
    po_squeeze_reads(r->low, unit, &r->operands[k]);
  r->n_outer = outer;
}

static void
emit(reduction *r) {
  squeeze(r);
  if (!r->from_first && is_one_item(r)) {
    emit_one_item(r);
  } else {
    r->regions = po_refine(r->low, r->operands, r->n_operands);
    drop_idle_regions(r);
    add_groups(r);
  }
  po_regions_done(r->low, &r->regions);
  po_reads_done(r->low, &r->first);
  for (uint32_t k = 0; k < r->n_operands; k++)
    po_reads_done(r->low, &r->operands[k]);
}

static reduction
begin(po_lowering *low, gs_term term, gs_compute op, gs_dtype dtype,
      const po_target *target) {
  reduction r = {.low = low, .term = term, .op = op, .target = *target};
  r.update = update_of(op);
  r.acc = local_dtype(dtype);
  r.ordered = low->out->strict_fp || r.update == GS_C_DIV;
  return r;
}

static gs_number
elements(const po_lowering *low, const po_reads *reads, uint32_t from) {
  const gs_numbers *over = po_numbers_in(low->isl);
  gs_number product = 1;
  for (uint32_t d = from; d < reads->rank; d++)
    product = gs_product(over, product, reads->dim[d]);
  return product;
}

void
po_emit_reduction(po_lowering *low, gs_term term, gs_compute op,
                  const po_reads *operands, uint32_t n, uint32_t n_outer,
                  gs_dtype dtype, const po_target *target) {
  assert(n >= 1 && op < GS_COMPUTE_COUNT);
  reduction r = begin(low, term, op, dtype, target);
  r.product = n > 1;
  r.n_outer = n_outer;
  r.n_operands = n;
  memcpy(r.operands, operands, n * sizeof *operands);
  r.count = elements(low, &operands[0], n_outer);
  if (r.product)
    po_widen_operands(low, r.operands, n, r.acc, elements(low, &operands[0], 0),
                      term);
  emit(&r);
}

void
po_emit_long_fold(po_lowering *low, gs_term term, gs_compute op,
                  const po_view *view, const gs_type *type, gs_dtype dtype,
                  const po_target *target) {
  assert(type->rank > 0);
  reduction r = begin(low, term, op, dtype, target);
  r.from_first = true;
  r.n_outer = type->rank - 1u;
  r.first = po_reads_item(low, view, type, 0);
  r.operands[r.n_operands++] = po_reads_after_first(low, view, type);
  emit(&r);
}
