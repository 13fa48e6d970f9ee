/* SPDX-License-Identifier: MIT */
/* sample_up.c - attributes that suit a child of a given type. */
#include "rules/sample/sample.h"
#include <assert.h>

typedef bool (*up)(rl_attr *, const gs_type *);

const char *
rl_draw_pad_kind(rl_sampler *s) {
  return gs_padding_names[rl_draw(s, GS_PADDING_COUNT)];
}

static bool
up_transpose(rl_attr *a, const gs_type *t) {
  int64_t p[GS_MAX_RANK];
  rl_draw_permutation(a->s, t->access, t->rank, p);
  rl_attr_set_ints(a, 0, p, t->rank);
  return true;
}

/* A kernel, and a dilation that lets it fit. */
static bool
up_windows(rl_attr *a, const gs_type *t) {
  int64_t k[GS_MAX_RANK], s[GS_MAX_RANK], d[GS_MAX_RANK];
  uint32_t n = (uint32_t)t->rank - t->access;
  bool dilated = !rl_attr_left_out(a, 2) && rl_draw_one_in(a->s, 2);
  for (uint32_t i = 0; i < n; i++) {
    int64_t size = t->dim[t->access + i];
    k[i] = 1 + (int64_t)rl_draw(a->s, (uint64_t)size);
    s[i] = rl_draw_amount(a->s, 1 + (int64_t)rl_draw(a->s, 4));
    d[i] = dilated ? 1 + (int64_t)rl_draw(a->s, 3) : 1;
    if (dilated)
      d[i] = rl_draw_amount(a->s, d[i]);
    if (d[i] * (k[i] - 1) < size)
      continue;
    if (d[i] < size && rl_draw_one_in(a->s, 2))
      k[i] = 1 + (size - 1) / d[i];
    else
      d[i] = 1;
  }
  rl_attr_set_ints(a, 0, k, n);
  rl_attr_set_ints(a, 1, s, n);
  rl_attr_set_ints(a, 2, d, n);
  return n > 0;
}

static bool
pick_axis(rl_attr *a, uint32_t item, const gs_type *t, uint32_t *axis) {
  assert(item < a->n);
  if (!t->rank)
    return false;
  rl_attr_set_int(a, item, (int64_t)rl_draw(a->s, t->rank));
  int64_t d = rl_attr_int(a, item);
  *axis = (uint32_t)d;
  return d >= 0 && d < t->rank;
}

static bool
up_slice(rl_attr *a, const gs_type *t) {
  uint32_t d;
  if (!pick_axis(a, 0, t, &d))
    return false;
  int64_t n = t->dim[d], lo = 0, hi = n;
  if (!rl_draw_one_in(a->s, 3))
    lo = rl_draw_amount(a->s, (int64_t)rl_draw(a->s, (uint64_t)n));
  lo = lo < n ? lo : n - 1;
  if (!rl_draw_one_in(a->s, 3))
    hi = lo + 1 + (int64_t)rl_draw(a->s, (uint64_t)(n - lo));
  int64_t near = rl_draw_amount(a->s, hi);
  if (a->s->focus && near > lo && near <= n)
    hi = near;
  rl_attr_set_int(a, 1, lo);
  rl_attr_set_int(a, 2, hi);
  return true;
}

static bool
up_pad(rl_attr *a, const gs_type *t) {
  uint32_t d;
  rl_attr_set(a, 0, bs_sym(a->s->ctx.values, rl_draw_pad_kind(a->s)));
  if (!pick_axis(a, 1, t, &d))
    return false;
  for (uint32_t k = 2; k < 4; k++)
    rl_attr_set_int(a, k, rl_draw_amount(a->s, (int64_t)rl_draw(a->s, 3)));
  return true;
}

static bool
up_squeeze(rl_attr *a, const gs_type *t) {
  uint32_t first = t->rank ? (uint32_t)rl_draw(a->s, t->rank) : 0;
  for (uint32_t k = 0; k < t->rank; k++) {
    uint32_t d = (first + k) % t->rank;
    if (t->dim[d] != 1)
      continue;
    rl_attr_set_int(a, 0, d);
    return true;
  }
  return a->fixed[0];
}

static bool
up_broadcast(rl_attr *a, const gs_type *t) {
  int64_t dim[GS_MAX_RANK];
  for (uint32_t d = 0; d < t->rank; d++)
    dim[d] = t->dim[d] == 1 ? rl_draw_dim(a->s) : t->dim[d];
  rl_attr_set_ints(a, 0, dim, t->rank);
  return true;
}

/* One side of a reshape; often left as it is. */
static bool
reshape_side(rl_attr *a, uint32_t item, const int64_t *dim, uint32_t n) {
  int64_t out[GS_MAX_RANK];
  uint32_t count;
  int32_t wanted = rl_attr_length(a, item);
  if (wanted < 0 && rl_draw_one_in(a->s, 3)) {
    rl_attr_set_ints(a, item, dim, n);
    return true;
  }
  if (!rl_draw_factors(a->s, gs_prod(dim, n), wanted, out, &count))
    return false;
  rl_attr_set_ints(a, item, out, count);
  return true;
}

static bool
up_reshape(rl_attr *a, const gs_type *t) {
  return reshape_side(a, 0, t->dim, t->access) &&
         reshape_side(a, 1, t->dim + t->access, (uint32_t)t->rank - t->access);
}

static bool
up_repeat(rl_attr *a, const gs_type *t) {
  uint32_t d;
  if (!pick_axis(a, 0, t, &d))
    return false;
  rl_attr_set_int(a, 1, rl_draw_amount(a->s, 1 + (int64_t)rl_draw(a->s, 3)));
  return true;
}

static bool
up_compute(rl_attr *a, const gs_type *t) {
  return rl_draw_operator(a, t->dtype);
}

/* Items that are fine by themselves, by their letters. */
static bool
up_letters(rl_attr *a, const gs_type *t) {
  const char *letters = gs_op_table[a->node->op].attrs;
  bool ok = true;
  uint32_t d;
  for (uint32_t k = 0; letters[k] && ok; k++)
    if (letters[k] == 'd')
      ok = pick_axis(a, k, t, &d);
    else if (letters[k] == 'g')
      rl_attr_set_int(a, k, (int64_t)rl_draw(a->s, t->rank + 1u));
  return ok;
}

bool
rl_sample_up(rl_attr *a, const gs_type *child) {
  static const up table[GS_OP_COUNT] = {
      [GS_TRANSPOSE] = up_transpose, [GS_WINDOWS] = up_windows,
      [GS_SLICE] = up_slice,         [GS_PAD] = up_pad,
      [GS_SQUEEZE] = up_squeeze,     [GS_BROADCAST] = up_broadcast,
      [GS_RESHAPE] = up_reshape,     [GS_REPEAT] = up_repeat,
      [GS_COMPUTE] = up_compute,
  };
  up f = table[a->node->op];
  return f                               ? f(a, child)
         : gs_op_table[a->node->op].view ? up_letters(a, child)
                                         : true;
}
