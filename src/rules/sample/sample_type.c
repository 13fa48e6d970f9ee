/* SPDX-License-Identifier: MIT */
/* sample_type.c - random sizes, types and tensors.
 *
 * Small sizes are likely: what is wrong with a rule shows at 1, 2 and 3, and
 * at sizes that do not divide each other.  So are the numbers that the rule's
 * condition names. */
#include "rules/sample/sample.h"
#include "glenside/array/tensor.h"
#include "base/random.h"
#include <assert.h>
#include <string.h>

#define MAX_NAMED_RANK 8
#define MOST_CONSTANTS 8192 /* elements of one that is written out */

uint64_t
rl_draw(rl_sampler *s, uint64_t n) {
  /* One of none cannot be taken. */
  assert(n);
  return bs_random_next(&s->random) % n;
}

int64_t
rl_draw_dim(rl_sampler *s) {
  static const int64_t likely[] = {1, 1, 2, 2, 2, 3, 3, 4};
  const rl_parts *p = s->parts;
  int64_t d = likely[rl_draw(s, 8)];
  if (s->focus && rl_draw_one_in(s, 2)) {
    d = rl_draw_near_focus(s);
    return d > 0 ? d : 1;
  }
  if (s->rank > 6)
    return 1 + (int64_t)rl_draw_one_in(s, s->rank / 2);
  if (p->n_numbers && rl_draw_one_in(s, 4)) {
    d = p->numbers[rl_draw(s, p->n_numbers)];
    return rl_draw_one_in(s, 3) ? d * 2 : rl_draw_one_in(s, 4) ? d + 1 : d;
  }
  if (rl_draw_one_in(s, 4))
    d = 1 + (int64_t)rl_draw(s, (uint64_t)s->sizes.max_dim);
  return d <= s->sizes.max_dim ? d : s->sizes.max_dim;
}

int64_t
rl_draw_amount(rl_sampler *s, int64_t likely) {
  const rl_parts *p = s->parts;
  if (s->focus && rl_draw_one_in(s, 2))
    return s->focus + (int64_t)rl_draw(s, 3) - 1;
  if (!p->n_numbers || !rl_draw_one_in(s, 3))
    return likely;
  likely = p->numbers[rl_draw(s, p->n_numbers)];
  return rl_draw_one_in(s, 2) ? likely : likely + (int64_t)rl_draw(s, 3) - 1;
}

/* Of many dimensions only some are more than one. */
static int64_t
random_of_many(rl_sampler *s, uint32_t rank) {
  return rank < 8 || rl_draw_one_in(s, rank / 4) ? 1 + (int64_t)rl_draw(s, 2)
                                                 : 1;
}

void
rl_draw_type(rl_sampler *s, gs_dtype dtype, gs_type *out) {
  assert(dtype < GS_DTYPE_COUNT);
  static const uint8_t ranks[] = {0, 1, 1, 2, 2, 2, 3, 3, 4};
  int64_t named = rl_draw_amount(s, 0);
  uint32_t rank = ranks[rl_draw(s, sizeof ranks)];
  if (named > 4 && named <= MAX_NAMED_RANK && rl_draw_one_in(s, 2))
    rank = (uint32_t)named;
  *out = (gs_type){.dtype = dtype};
  if (rank != named && rank > s->sizes.max_rank)
    rank = s->sizes.max_rank;
  if (s->rank && !rl_draw_one_in(s, 4))
    rank = s->rank;
  out->rank = (uint8_t)rank;
  out->access = (uint8_t)rl_draw(s, out->rank + 1u);
  for (uint32_t d = 0; d < out->rank; d++)
    out->dim[d] =
        rank > 4 && !s->focus ? random_of_many(s, rank) : rl_draw_dim(s);
  if (rl_draw_one_in(s, s->rank ? 2 : 6))
    for (uint32_t d = 1; d < out->rank; d++)
      out->dim[d] = out->dim[0];
}

bool
rl_draw_factors(rl_sampler *s, int64_t product, int32_t n, int64_t *out,
                uint32_t *n_out) {
  assert(product >= 1);
  uint32_t most = s->rank && rl_draw_one_in(s, 2) ? s->rank + 1 : 4;
  uint32_t count = n >= 0 ? (uint32_t)n : (uint32_t)rl_draw(s, most);
  if (!count && product != 1) {
    if (!n)
      return false;
    count = 1;
  }
  if (count > GS_MAX_RANK)
    return false;
  for (uint32_t k = 0; k < count; k++)
    out[k] = 1;
  for (int64_t f = 2; count && product > 1;) {
    if (product % f) {
      f = f * f > product ? product : f + 1;
      continue;
    }
    out[rl_draw(s, count)] *= f;
    product /= f;
  }
  *n_out = count;
  return true;
}

static void
shuffle(rl_sampler *s, int64_t *p, uint32_t lo, uint32_t hi) {
  assert(lo <= hi);
  for (uint32_t k = hi; k > lo + 1; k--) {
    uint32_t j = lo + (uint32_t)rl_draw(s, k - lo);
    int64_t swap = p[k - 1];
    p[k - 1] = p[j];
    p[j] = swap;
  }
}

/* Often within S and within C only. */
void
rl_draw_permutation(rl_sampler *s, uint32_t split, uint32_t n, int64_t *out) {
  assert(split <= n && n <= GS_MAX_RANK);
  for (uint32_t k = 0; k < n; k++)
    out[k] = k;
  switch (rl_draw(s, 4)) {
  case 0:
    shuffle(s, out, 0, split);
    break;
  case 1:
    shuffle(s, out, split, n);
    break;
  case 2:
    shuffle(s, out, 0, split);
    shuffle(s, out, split, n);
    break;
  default:
    shuffle(s, out, 0, n);
  }
}

/* --- leaves --------------------------------------------------------------- */

static gs_term
tensor(rl_sampler *s, const gs_type *type) {
  gs_type whole = *type;
  gs_fault fault;
  whole.access = whole.rank;
  const char *name = bs_arena_printf(s->ctx.arena, "t%u", s->n_tensors++);
  gs_term t = gs_add_tensor(s->p, name, &whole, BS_NOWHERE);
  if (!gs_term_ok(t) || type->access == type->rank)
    return t;
  bs_value split = bs_int(s->ctx.values, type->access);
  return gs_add(s->p, GS_ACCESS, bs_list(s->ctx.values, &split, 1), &t, 1,
                BS_NOWHERE, &fault);
}

/* Mostly small, now and then so large that sums of it wrap. */
static double
constant_value(rl_sampler *s, gs_dtype d) {
  static const double reals[] = {-1, 0.5, -2, 100};
  if (!rl_draw_one_in(s, 3))
    return (double)rl_draw(s, 3);
  uint64_t k = rl_draw(s, 4);
  if (!gs_dtype_table[d].integer)
    return reals[k];
  int64_t least = gs_dtype_least(d), most = gs_dtype_most(d);
  const int64_t whole[] = {-1, most, least, most / 2 + 1};
  const int64_t natural[] = {3, most, most / 2 + 1, most / 2};
  return (double)(gs_is_unsigned(d) ? natural[k] : whole[k]);
}

/* Every element the same number. */
static gs_term
constant(rl_sampler *s, const gs_type *type) {
  gs_type whole = *type;
  gs_fault fault;
  whole.access = whole.rank;
  int64_t n = gs_elements(type);
  double value = constant_value(s, type->dtype);
  gs_tensor t = {.dtype = type->dtype, .elements = n};
  t.data = bs_arena_calloc(s->ctx.arena, (size_t)n + 1, 8);
  for (int64_t k = 0; k < n; k++)
    gs_tensor_set(&t, k, value);
  const char *name = bs_arena_printf(s->ctx.arena, "c%u", s->n_tensors++);
  gs_term made = gs_add_constant(s->p, name, &whole, t.data, BS_NOWHERE);
  if (!gs_term_ok(made) || type->access == type->rank)
    return made;
  bs_value split = bs_int(s->ctx.values, type->access);
  return gs_add(s->p, GS_ACCESS, bs_list(s->ctx.values, &split, 1), &made, 1,
                BS_NOWHERE, &fault);
}

/* A tensor with a border of zeros along some dimension. */
static gs_term
padded(rl_sampler *s, const gs_type *type) {
  gs_type inner = *type;
  gs_fault fault;
  if (!type->rank)
    return tensor(s, type);
  uint32_t d = (uint32_t)rl_draw(s, type->rank);
  int64_t keep = 1 + (int64_t)rl_draw(s, (uint64_t)type->dim[d]);
  int64_t before = (int64_t)rl_draw(s, (uint64_t)(type->dim[d] - keep) + 1);
  inner.dim[d] = keep;
  gs_term t = tensor(s, &inner);
  bs_value items[4] = {bs_sym(s->ctx.values, "zero"), bs_int(s->ctx.values, d),
                       bs_int(s->ctx.values, before),
                       bs_int(s->ctx.values, type->dim[d] - keep - before)};
  if (!gs_term_ok(t))
    return t;
  return gs_add(s->p, GS_PAD, bs_list(s->ctx.values, items, 4), &t, 1,
                BS_NOWHERE, &fault);
}

gs_term
rl_draw_leaf(rl_sampler *s, const gs_type *type) {
  assert(gs_is_type(type));
  if (s->parts->asks_values && rl_draw_one_in(s, 2))
    return padded(s, type);
  if (s->parts->asks_values && gs_elements(type) <= MOST_CONSTANTS &&
      rl_draw_one_in(s, 3))
    return constant(s, type);
  return tensor(s, type);
}
