/* SPDX-License-Identifier: MIT */
/* operate_fold.c - folds of a tuple as sums over relations.
 *
 * Items are added, multiplied or gathered in a set; a quotient is a product
 * with reciprocals, of real numbers only. */
#include "prove/relation/operating.h"

void
pv_operating_add_all(pv_relations *r, gs_dtype d, pv_series *to,
                     const pv_series *from) {
  for (uint32_t k = 0; k < from->len; k++)
    pv_series_put(r, d, to, &from->data[k]);
}

static pv_series
add_items(pv_operating *x) {
  pv_relations *r = x->r;
  gs_dtype d = x->to.dtype;
  pv_series out = {0};
  uint32_t n = pv_operating_tuple_size(x);
  r->failed |= n == 0;
  for (uint32_t k = 0; k < n && !r->failed; k++) {
    pv_series item = pv_operating_item_at(x, k);
    if (k && x->op == GS_C_SUB)
      pv_series_times(r, d, &item, pv_number_of_int(d, -1));
    pv_operating_add_all(r, d, &out, &item);
    pv_series_done(r, &item);
  }
  return out;
}

pv_series
pv_operating_recip(pv_operating *x, pv_series *s, const gs_type *over) {
  bs_value name =
      bs_sym(x->r->s->ctx.values, gs_compute_table[GS_C_RECIP].name);
  return pv_operating_apply(x, GS_C_RECIP, name, 0, s, x->to.dtype, over);
}

static pv_series
quotient(pv_operating *x) {
  pv_relations *r = x->r;
  if (!pv_is_real(x->to.dtype))
    return pv_operating_apply_items(x);
  pv_series out = pv_operating_item_at(x, 0);
  uint32_t n = pv_operating_tuple_size(x);
  r->failed |= n == 0;
  for (uint32_t k = 1; k < n && !r->failed; k++) {
    pv_series item = pv_operating_item_at(x, k);
    pv_series inverse = pv_operating_recip(x, &item, &x->item);
    pv_series both = pv_series_product(r, x->to.dtype, &out, &inverse);
    pv_series_done(r, &item);
    pv_series_done(r, &inverse);
    pv_series_done(r, &out);
    out = both;
  }
  return out;
}

static pv_series
extremum_of_items(pv_operating *x) {
  pv_relations *r = x->r;
  pv_series items[PV_MAX_TUPLE] = {0}, out = {0};
  uint32_t n = pv_operating_tuple_size(x);
  r->failed |= n == 0;
  for (uint32_t k = 0; k < n && !r->failed; k++)
    items[k] = pv_operating_item_at(x, k);
  if (!r->failed)
    out = pv_series_extremum(r, x->to.dtype, x->op == GS_C_MAX, items, n,
                             &x->item, x->item.rank);
  for (uint32_t k = 0; k < n; k++)
    pv_series_done(r, &items[k]);
  return out;
}

pv_series
pv_operating_fold(pv_operating *x) {
  switch (gs_compute_table[x->op].fold) {
  case GS_FOLD_ADD:
  case GS_FOLD_SUB:
    return add_items(x);
  case GS_FOLD_MUL:
    pv_operating_solidify_items(x);
    return pv_operating_product_of_items(x, pv_operating_tuple_size(x));
  case GS_FOLD_DIV:
    return quotient(x);
  case GS_FOLD_MAX:
  case GS_FOLD_MIN:
    return extremum_of_items(x);
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  x->r->failed = true;
  return (pv_series){0};
}
