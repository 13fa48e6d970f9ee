/* SPDX-License-Identifier: MIT */
/* quasi.c - see quasi.h. */
#include "poly/loops/affine.h"
#include "poly/loops/quasi.h"
#include "base/whole.h"
#include <isl/val.h>

#define MAX_NUMBER (INT64_C(1) << 62)

static bool
number(__isl_take isl_val *val, int64_t *out) {
  bool is = po_int(val, out) && *out <= MAX_NUMBER && *out >= -MAX_NUMBER;
  *out = is ? *out : 0;
  return is;
}

/* Number k of a row. */
static __isl_give isl_val *
number_of(const po_quasi *q, __isl_keep isl_aff *aff, uint32_t k) {
  if (!k)
    return isl_aff_get_constant_val(aff);
  enum isl_dim_type type = k <= q->n_sizes ? isl_dim_param
                           : k <= q->n     ? isl_dim_in
                                           : isl_dim_div;
  uint32_t first = k <= q->n_sizes ? 1 : k <= q->n ? 1 + q->n_sizes : 1 + q->n;
  return isl_aff_get_coefficient_val(aff, type, (int)(k - first));
}

/* The numbers of an aff times `scale`. */
static bool
fill_row(const po_quasi *q, __isl_keep isl_aff *aff, int64_t scale,
         int64_t *row) {
  isl_ctx *isl = isl_aff_get_ctx(aff);
  bool ok = true;
  for (uint32_t k = 0; k < po_quasi_width(q); k++) {
    isl_val *val = number_of(q, aff, k);
    ok = number(isl_val_mul(val, isl_val_int_from_si(isl, scale)), &row[k]) &&
         ok;
  }
  return ok;
}

bool
po_quasi_make(bs_arena *arena, isl_aff *aff, po_quasi *out) {
  isl_size sizes = isl_aff_dim(aff, isl_dim_param);
  isl_size n = isl_aff_dim(aff, isl_dim_in), m = isl_aff_dim(aff, isl_dim_div);
  if (sizes < 0 || n < 0 || m < 0)
    return false;
  n += sizes;
  *out = (po_quasi){
      .n = (uint32_t)n, .m = (uint32_t)m, .n_sizes = (uint32_t)sizes};
  out->below = BS_NEWS(arena, int64_t, m);
  out->rows = BS_NEWS(arena, int64_t, (size_t)(m + 1) * (size_t)(1 + n + m));
  bool ok = true;
  for (uint32_t k = 0; k < out->m; k++) {
    isl_aff *div = isl_aff_get_div(aff, (int)k);
    ok = number(isl_aff_get_denominator_val(div), &out->below[k]) && ok &&
         fill_row(out, div, out->below[k], po_quasi_row(out, k));
    isl_aff_free(div);
  }
  return ok && fill_row(out, aff, 1, po_quasi_row(out, out->m));
}

int64_t
po_quasi_at(const po_quasi *q, const int64_t *index, int64_t *room) {
  for (uint32_t k = 0;; k++) {
    const int64_t *row = po_quasi_row(q, k);
    uint64_t sum = (uint64_t)row[0];
    for (uint32_t j = 0; j < q->n; j++)
      sum += (uint64_t)row[1 + j] * (uint64_t)index[j];
    for (uint32_t j = 0; j < k && j < q->m; j++)
      sum += (uint64_t)row[1 + q->n + j] * (uint64_t)room[j];
    if (k == q->m)
      return (int64_t)sum;
    room[k] = bs_floor_div((int64_t)sum, q->below[k]);
  }
}
