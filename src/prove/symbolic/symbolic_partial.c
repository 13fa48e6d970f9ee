/* SPDX-License-Identifier: MIT */
/* symbolic_partial.c - what cancelled, and has no value for some operands.
 *
 * log x - log x is 0 only where x is above 0.  What was dropped on the way to a
 * value is harmless where the value itself holds it: then it is undefined for
 * the same operands.  A formal sum (symbolic_reduce.c) is held by one of the
 * same items that reaches as far, and what its items hold by the sum. */
#include "prove/symbolic/symbolic_form.h"
#include <string.h>

/* The items of `x` are among those of `y`. */
static bool
reaches(fm_form *f, const fm_reduction *x, const fm_reduction *y) {
  if (x->kind != y->kind || x->n != y->n || x->n_guards != y->n_guards ||
      x->body != y->body || memcmp(x->var, y->var, sizeof x->var) != 0 ||
      memcmp(x->guard, y->guard, sizeof x->guard) != 0)
    return false;
  for (uint32_t k = 0; k < x->n; k++)
    if (!fm_implied(f, fm_combine(f, 1, x->low[k], -1, y->low[k], 0), false) ||
        !fm_implied(f, fm_combine(f, 1, y->high[k], -1, x->high[k], 0), false))
      return false;
  return true;
}

static const fm_reduction *
reduction_of(const fm_form *f, pv_value x) {
  const uint32_t *w = pv_words(&f->elements, x);
  const pv_node *node = pv_at(&f->elements, x);
  return node->kind == PV_LEAF && node->n == 3 && w[0] == FM_LEAF_REDUCTION
             ? &f->reduction[w[1]]
             : NULL;
}

/* A part of a value; of a product a factor, which stands below a fraction
 * where its power is negative. */
typedef struct part {
  pv_value value; /* 0: there is none */
  bool below;
} part;

static part
part_of(const pv_values *v, pv_value x, uint32_t k) {
  const pv_node *node = pv_at(v, x);
  const uint32_t *w = pv_words(v, x);
  if (node->kind == PV_SUM)
    return (part){k < pv_n_parts(v, x) ? pv_part_at(v, x, k).product : 0,
                  false};
  if (node->kind == PV_PRODUCT)
    return 2 * k < node->n ? (part){w[2 * k], (int32_t)w[2 * k + 1] < 0}
                           : (part){0};
  if (node->kind == PV_NUMBER || node->kind == PV_LEAF || k >= node->n)
    return (part){0};
  return (part){w[k], false};
}

/* May it have a value where one of its operands has none?  Most operators make
 * a number of an infinity, which the logarithm of 0 and a quotient by 0 are:
 * 1 / oo is 0, and so is max(-oo, 0).  Sums and products do not. */
static bool
hides(const pv_node *x) {
  if (x->kind != PV_APPLY)
    return x->kind == PV_MAX || x->kind == PV_MIN;
  return x->op >= GS_COMPUTE_COUNT ||
         gs_compute_table[x->op].infinite == GS_INFINITE_HIDES;
}

/* Does `whole` hold `x`, or 1 / x where it is `below`?  The one has no value
 * where x is infinite, the other where x is 0, and what is made of either has
 * none there.  As deep as values are. */
static bool
holds(fm_form *f, pv_value whole, pv_value x, bool below) {
  const fm_reduction *a = reduction_of(f, x), *b = reduction_of(f, whole);
  if (whole == x || (a && b && reaches(f, a, b)))
    return !below;
  if (!pv_at(&f->elements, whole)->partial || hides(pv_at(&f->elements, whole)))
    return false;
  if (b && b->kind == GS_C_REDUCE_SUM && !b->n_guards)
    return holds(f, b->body, x, below);
  for (uint32_t k = 0;; k++) {
    part p = part_of(&f->elements, whole, k);
    if (!p.value)
      return false;
    if (p.below ? below && p.value == x : holds(f, p.value, x, below))
      return true;
  }
}

static bool
is_partial_itself(const pv_values *v, pv_value x) {
  pv_kind kind = (pv_kind)pv_at(v, x)->kind;
  return kind == PV_LEAF || kind == PV_APPLY;
}

/* Each factor and argument that is partial; below a fraction a factor is taken
 * as it is. */
static bool
is_held(fm_form *f, pv_value whole, part x) {
  const pv_values *v = &f->elements;
  if (!pv_at(v, x.value)->partial)
    return true;
  if (x.below || is_partial_itself(v, x.value))
    return holds(f, whole, x.value, x.below);
  for (uint32_t k = 0;; k++) {
    part p = part_of(v, x.value, k);
    if (!p.value)
      return true;
    if (!is_held(f, whole, p))
      return false;
  }
}

bool
fm_holds_dropped(fm_form *f, pv_value value) {
  const pv_values *v = &f->elements;
  for (uint32_t k = 0; k < v->dropped.len && !f->why; k++)
    if (!is_held(f, value, (part){v->dropped.data[k], false}))
      return false;
  return true;
}
