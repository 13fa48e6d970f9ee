/* SPDX-License-Identifier: MIT */
/* tried.c - the inputs that a pair of terms is run on.
 *
 * Runs alternate between kinds of inputs: small whole numbers, positive ones,
 * extremes, mostly zeros, the whole range, one number throughout, negative
 * ones, and nothing much but at the ends.  Whole numbers keep sums and products
 * exact.  Before them come values near the program's landmarks: every one of
 * them stands in each input once, in order, so that none is missed by chance.
 */
#include "prove/session/tried.h"
#include "base/random.h"
#include <assert.h>

#include <math.h>

#define KINDS 8 /* of inputs */
#define ENDS  7

static double
extreme(gs_dtype d, uint64_t bits) {
  static const double floats[] = {0, 1, -1, 0.5, -0.5, 100, -100, 3};
  if (!gs_dtype_table[d].integer)
    return floats[bits % 8];
  double least = (double)gs_dtype_least(d), most = (double)gs_dtype_most(d);
  double half = floor(most / 2);
  const double natural[] = {0, 1, most, half + 1, half, 2, 16, most - 1};
  const double whole[] = {0, 1, -1, least, most, 2, half + 1, -2};
  return gs_is_unsigned(d) ? natural[bits % 8] : whole[bits % 8];
}

static double
whole_range(gs_dtype d, uint64_t bits) {
  assert(d < GS_DTYPE_COUNT);
  if (!gs_dtype_table[d].integer)
    return ((double)(bits % 4096) - 2048) / 64;
  return (double)gs_any_whole(d, bits);
}

/* Floats that integers do not hold, or hold in part. */
static double
beyond(uint64_t bits) {
  static const double values[] = {0,    0.5,   -0.5,    -1.75,  127.5, 300,
                                  -300, 65536, -131072, 5e9,    -5e9,  1e12,
                                  2.5,  200,   -200,    -0.0625};
  return values[bits % 16];
}

/* More bits than a narrower float holds. */
static double
long_fraction(uint64_t bits) {
  return (double)((int64_t)(bits % (1ull << 40)) - (1ll << 39)) / 0x1p30;
}

/* Nothing but the first and the last element stands out. */
static double
ends(gs_dtype d, uint32_t run, int64_t i, int64_t n) {
  double high = gs_is_unsigned(d) ? 255 : 100,
         low = gs_is_unsigned(d) ? 0 : -100;
  bool turned = run / KINDS % 2;
  if (i == 0)
    return turned ? high : low;
  return i == n - 1 ? (turned ? low : high) : 2;
}

static double
small(gs_dtype d, uint64_t bits) {
  return gs_is_unsigned(d) ? (double)(bits % 8) : (double)(bits % 9) - 4;
}

/* Ones, or integers that are all at one end: a sum of them is as far from 0 as
 * it can be. */
static double
one_for_all(gs_dtype d, uint32_t which) {
  assert(d < GS_DTYPE_COUNT);
  if (!gs_dtype_table[d].integer || !which)
    return 1;
  return (double)(which == 1 ? gs_dtype_most(d) : gs_dtype_least(d));
}

/* At a parameter of an operator, beside it, and beyond it. */
static double
landmark(const pv_tried *r, gs_dtype d, uint64_t bits) {
  double at = r->landmarks.at.data[bits % r->landmarks.at.len];
  uint64_t way = bits / r->landmarks.at.len % 4;
  if (gs_dtype_table[d].integer)
    return at + (double)way - 1;
  return way == 3 ? at : at * (way == 2 ? -2 : way == 1 ? 2 : 1.0625);
}

static double
value_of(const pv_tried *r, gs_dtype d, uint32_t run, uint64_t bits) {
  switch (run % KINDS) {
  case 1:
    return (double)(bits % 7 + 1);
  case 2:
    if (r->landmarks.at.len && bits >> 32 & 1)
      return landmark(r, d, bits);
    return r->to_whole && !gs_dtype_table[d].integer ? beyond(bits)
                                                     : extreme(d, bits);
  case 3:
    return bits % 4 ? 0 : small(d, bits >> 8);
  case 4:
    return r->narrows && !gs_dtype_table[d].integer ? long_fraction(bits)
                                                    : whole_range(d, bits);
  case 5:
    return one_for_all(d, run / KINDS % 3);
  case 6:
    return gs_is_unsigned(d) ? whole_range(d, bits) : -(double)(bits % 7 + 1);
  default:
    return small(d, bits);
  }
}

/* Inputs are finite: what the dtype does not reach is left out. */
static void
put(gs_tensor *t, int64_t i, double v) {
  gs_tensor_set(t, i, gs_stays_finite(t->dtype, v) ? v : 1);
}

void
pv_tried_fill(const pv_tried *r, uint32_t run, gs_tensor *inputs, uint32_t n) {
  assert(inputs || !n);
  uint64_t at = bs_random_of(r->seed + run);
  for (uint32_t k = 0; k < n; k++) {
    gs_tensor *t = &inputs[k];
    for (int64_t i = 0; i < t->elements; i++)
      put(t, i,
          run % KINDS == ENDS
              ? ends(t->dtype, run, i, t->elements)
              : value_of(r, t->dtype, run, bs_random_of(++at) >> 16));
  }
}

/* --- near landmarks ------------------------------------------------------- */

uint32_t
pv_tried_near(const pv_tried *r, const gs_tensor *inputs, uint32_t n) {
  assert(inputs || !n);
  uint32_t count = pv_landmarks_count(&r->landmarks);
  int64_t least = count;
  for (uint32_t k = 0; k < n; k++)
    least = inputs[k].elements < least ? inputs[k].elements : least;
  return count && n ? (uint32_t)((count + least - 1) / least) : 0;
}

/* Inputs after the first take other values, so that two of them meet in many
 * ways. */
void
pv_tried_fill_near(const pv_tried *r, uint32_t run, gs_tensor *inputs,
                   uint32_t n) {
  assert(inputs || !n);
  assert(pv_landmarks_count(&r->landmarks));
  uint32_t count = pv_landmarks_count(&r->landmarks);
  for (uint32_t k = 0; k < n; k++) {
    gs_tensor *t = &inputs[k];
    uint64_t first = (uint64_t)run * (uint64_t)t->elements;
    if (k)
      first += bs_random_of(r->seed + (uint64_t)run * 64 + k) % count;
    for (int64_t i = 0; i < t->elements; i++)
      put(t, i,
          pv_landmark_near(&r->landmarks, t->dtype,
                           (uint32_t)((first + (uint64_t)i) % count)));
  }
}

/* --- setting up ----------------------------------------------------------- */

void
pv_tried_init(pv_tried *r, const gs_program *p, uint64_t seed) {
  *r = (pv_tried){.seed = seed};
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    const gs_node *n = &p->nodes.data[k];
    gs_compute op;
    gs_type from, to;
    if (n->op != GS_COMPUTE ||
        !gs_compute_of(p->ctx.values, bs_item(p->ctx.values, n->attr, 0), &op))
      continue;
    gs_type_at(p, n->kids[0], &from);
    gs_type_at(p, (gs_term){k}, &to);
    bool cast = op == GS_C_CAST && !gs_dtype_table[from.dtype].integer;
    bool real = !gs_dtype_table[to.dtype].integer;
    r->to_whole |= cast && !real;
    r->narrows |= cast && real && to.dtype != from.dtype;
  }
  pv_landmarks_find(&r->landmarks, p);
}
