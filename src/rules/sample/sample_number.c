/* SPDX-License-Identifier: MIT */
/* sample_number.c - the numbers that a rule may tell apart.
 *
 * A rule that goes wrong from some size on, or at one value, has a number for
 * it: written, or computed of what is written, as 14 and 14 are for 196, 8 and
 * 1 for 0.125, and 16 for the 4 whose square it is.  So the rule's literals,
 * what two of them give, and their roots are tried, and what lies on both sides
 * of each. */
#include "rules/sample/sample.h"
#include <math.h>

#define LARGEST ((int64_t)1 << 38) /* a term has at most 2^40 elements */

static void
add_int(rl_numbers *out, double x) {
  int64_t n = fabs(x) <= (double)LARGEST ? (int64_t)fabs(x) : 0;
  if (n < 2 || out->n_ints == RL_SAMPLE_NUMBERS)
    return;
  for (uint32_t k = 0; k < out->n_ints; k++)
    if (out->ints[k] == n)
      return;
  out->ints[out->n_ints++] = n;
}

/* Few bits, so that products and sums of some of them are exact. */
static bool
has_few_bits(double x) {
  return fabs(x) < 0x1p24 &&
         (x == floor(x) || (fabs(x) < 1024 && x * 1024 == floor(x * 1024)));
}

static void
add_real(rl_numbers *out, double x) {
  if (!isfinite(x) || !has_few_bits(x) || out->n_reals == RL_SAMPLE_NUMBERS)
    return;
  for (uint32_t k = 0; k < out->n_reals; k++)
    if (out->reals[k] == x)
      return;
  out->reals[out->n_reals++] = x + 0.0;
}

static void
add(rl_numbers *out, double x) {
  add_int(out, x);
  add_real(out, x);
}

static void
add_roots(rl_numbers *out, double x) {
  x = fabs(x);
  add(out, floor(sqrt(x)));
  add(out, floor(cbrt(x)));
  add_real(out, -sqrt(x));
  if (x != 0)
    add_real(out, 1 / x);
}

static void
add_pair(rl_numbers *out, double x, double y) {
  add(out, x * y);
  if (y != 0) {
    add(out, x / y);
    add_real(out, -x / y);
  }
  add(out, x + y);
  add(out, x - y);
}

/* The numbers near those of a rule; numbers that are written stand first. */
void
rl_numbers_of(const bs_values *values, const rl_parts *parts, rl_numbers *out) {
  double x[RL_NUMBERS];
  uint32_t n = parts->n_literals;
  *out = (rl_numbers){0};
  for (uint32_t k = 0; k < n; k++)
    add(out, x[k] = bs_as_real(values, parts->literals[k]));
  out->n_written = out->n_ints;
  for (uint32_t k = 0; k < n; k++)
    add_roots(out, x[k]);
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < n; i++)
      add_pair(out, x[k], x[i]);
}

/* The focus, what lies beside it, or a part of it, so that a product of sizes
 * comes near. */
int64_t
rl_draw_near_focus(rl_sampler *s) {
  int64_t f = s->focus;
  switch (rl_draw(s, 8)) {
  case 0:
    return f > 1 ? f - 1 : 1;
  case 1:
  case 2:
    return f;
  case 3:
  case 4:
    return f + 1;
  case 5:
    return f + 2 + (int64_t)rl_draw(s, 4);
  case 6:
    return (int64_t)sqrt((double)f) + (int64_t)rl_draw(s, 3);
  default:
    f /= 2 + (int64_t)rl_draw(s, 2);
    return f + (int64_t)rl_draw(s, 2);
  }
}
