/* SPDX-License-Identifier: MIT */
/* products.c - random programs of contractions and windows among chains of
 * quasi-affine views.
 *
 * Data of two or three dimensions goes through reshapes, strided windows,
 * repetitions, pads, slices and concats, is multiplied with weights that went
 * through some of these, summed up, and goes on so. */
#include "tests/property/programs/plan.h"

/* A reasonable size for sums: long now and then, so that kernels have blocks
 * and rests. */
static int64_t
some_size(void) {
  return chance(10) ? pick(16, LONG_DIM) : pick(2, 9);
}

/* Views on top of a step; the last one. */
static uint32_t
put_views(plan *p, uint32_t k, int most) {
  for (int n = (int)pick(0, most); n > 0; n--)
    if (try_view(p, k))
      k = p->n - 1;
  return k;
}

/* The compute side begins at dimension `access`. */
static bool
put_access(plan *p, uint32_t *k, int64_t access) {
  if (!add_view(p, GS_ACCESS, attr1(number(access)), *k))
    return false;
  *k = p->n - 1;
  return true;
}

/* Weights of the same compute side, seen through views that keep it. */
static bool
put_weights(plan *p, const gs_type *data, uint32_t *out) {
  uint32_t c = data->rank - data->access;
  gs_type t = {.dtype = data->dtype, .access = (uint8_t)pick(0, 2)};
  for (uint32_t d = 0; d < t.access; d++)
    t.dim[d] = some_size();
  for (uint32_t d = 0; d < c; d++)
    t.dim[t.access + d] = data->dim[data->access + d];
  t.rank = (uint8_t)(t.access + c);
  bool turned = t.rank == 2 && t.access == 1 && chance(50);
  if (turned) { /* the columns of a matrix */
    int64_t rows = t.dim[0];
    t.dim[0] = t.dim[1];
    t.dim[1] = rows;
    t.access = 2;
  }
  if (!add_input(p, t))
    return false;
  *out = p->n - 1;
  static const int64_t swap[] = {1, 0};
  if (turned && !add_view(p, GS_TRANSPOSE, attr1(ints(2, swap)), *out))
    return false;
  if (turned)
    *out = p->n - 1;
  return !turned || put_access(p, out, 1);
}

static bool
put_sum(plan *p, uint32_t data) {
  const gs_type t = p->steps[data].type;
  uint32_t weights = data;
  if (t.access == t.rank)
    return false;
  if (chance(85) && !put_weights(p, &t, &weights))
    return false;
  bool first = chance(50);
  if (!add_two(p, GS_CARTPROD, attr_of(0, NULL), first ? data : weights,
               first ? weights : data))
    return false;
  return add_compute(p, word("dotProd"), p->n - 1, false, 1);
}

/* Windows of the last dimensions, strided, of all the ones before. */
static bool
put_windows(plan *p, uint32_t *k) {
  const gs_type *t = &p->steps[*k].type;
  int64_t size[GS_MAX_RANK], stride[GS_MAX_RANK], dilation[GS_MAX_RANK];
  uint32_t n = t->rank - t->access;
  for (uint32_t d = 0; d < n; d++) {
    int64_t dim = t->dim[t->access + d];
    size[d] = dim > 3 && d ? pick(1, 3) : pick(1, dim < 3 ? dim : 3);
    stride[d] = pick(1, 2);
    dilation[d] = chance(80) ? 1 : 2;
  }
  if (!n ||
      !add_view(p, GS_WINDOWS,
                ATTR(ints(n, size), ints(n, stride), ints(n, dilation)), *k))
    return false;
  *k = p->n - 1;
  return true;
}

/* Views, a place between the sides, perhaps windows; then a sum. */
static bool
put_stage(plan *p) {
  uint32_t k = put_views(p, chance(80) ? p->n - 1 : some_step(p), 3);
  int64_t rank = p->steps[k].type.rank;
  if (!rank || !put_access(p, &k, pick(0, rank - 1)))
    return false;
  if (chance(40) && !put_windows(p, &k))
    return false;
  return put_sum(p, put_views(p, k, 1));
}

/* What may follow a sum element by element. */
static void
put_rest(plan *p) {
  uint32_t k = p->n - 1;
  switch (pick(0, 5)) {
  case 0:
    try_with_literal(p, k);
    break;
  case 1:
    try_elementwise(p, k);
    break;
  case 2:
    add_view(p, GS_MATERIALIZE, attr_of(0, NULL), k);
    break;
  case 3:
    grow(p);
    break;
  default:
    break;
  }
}

void
make_products(plan *p, uint64_t seed) {
  static const gs_dtype dtypes[] = {GS_F32, GS_F32, GS_F32,
                                    GS_I32, GS_I8,  GS_F64};
  make_plan(p, seed);
  p->n = p->n_outputs = 0;
  p->pipeline = false;
  p->products = true;
  seed_choices(seed * 0x2545f4914f6cdd1du + 1);
  gs_type t = {.dtype = dtypes[pick(0, 5)], .rank = (uint8_t)pick(2, 3)};
  t.access = t.rank;
  for (uint32_t d = 0; d < t.rank; d++)
    t.dim[d] = some_size();
  add_input(p, t);
  int stages = (int)pick(1, 3);
  for (uint32_t tries = 0; tries < 40 && stages; tries++)
    if (put_stage(p)) {
      stages--;
      put_rest(p);
    }
  p->n_outputs = chance(25) ? 2 : 1;
  p->outputs[0] = p->n - 1;
  p->outputs[1] = some_step(p);
}
