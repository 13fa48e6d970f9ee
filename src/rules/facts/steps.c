/* SPDX-License-Identifier: MIT */
/* steps.c - the steps of a condition: tests, definitions, and loops.
 *
 * The loops are an odometer, whose places in their lists live between the
 * alternatives of one match. */
#include "rules/rule/rule_internal.h"
#include <assert.h>

void
rl_steps_init(rl_steps *s, bs_heap *heap, bs_values *values,
              const rl_condition *c, uint32_t *slots) {
  size_t n = (c ? c->n : 0) + (size_t)1;
  *s = (rl_steps){.values = values, .condition = c, .slots = slots};
  s->items = bs_calloc(heap, n, sizeof *s->items);
  s->at = bs_calloc(heap, n, sizeof *s->at);
}

void
rl_steps_done(rl_steps *s, bs_heap *heap) {
  bs_free(heap, s->items);
  bs_free(heap, s->at);
}

static bool
are_ones(const bs_values *values, bs_value v) {
  uint32_t n = bs_kind_of(values, v) == BS_KIND_LIST ? bs_len(values, v) : 0;
  for (uint32_t k = 0; k < n; k++) {
    bs_value item = bs_item(values, v, k);
    if (bs_kind_of(values, item) != BS_KIND_INT || bs_as_int(values, item) != 1)
      return false;
  }
  return bs_kind_of(values, v) == BS_KIND_LIST;
}

/* The next item of a loop; false when there is none. */
static bool
advance(rl_steps *s, uint32_t k) {
  bs_value list = {s->items[k]};
  if (s->at[k] >= bs_len(s->values, list))
    return false;
  s->slots[s->condition->steps[k].slot] =
      bs_item(s->values, list, s->at[k]++).i;
  return true;
}

bool
rl_steps_take(rl_steps *all, const gs_env *env, uint32_t k) {
  assert(k < all->condition->n);
  const rl_step *s = &all->condition->steps[k];
  bs_value v;
  switch (s->kind) {
  case RL_TEST:
    return gs_expr_test(s->expr, env);
  case RL_ONES:
    return are_ones(env->values, (bs_value){all->slots[s->slot]});
  case RL_DEFINE:
    if (!gs_expr_eval(s->expr, env, &v))
      return false;
    break;
  case RL_ATTR:
    if (!gs_skeleton_attr(s->node, env, &v))
      return false;
    v = gs_canonical_attr(env->values, s->node->op, v);
    break;
  case RL_FOR:
    if (!gs_expr_eval(s->expr, env, &v))
      return false;
    all->items[k] = v.i;
    all->at[k] = 0;
    return advance(all, k);
  }
  all->slots[s->slot] = v.i;
  return true;
}

bool
rl_steps_back(rl_steps *s, uint32_t *k) {
  assert(!*k || (s->condition && *k <= s->condition->n));
  while ((*k)-- > 0)
    if (s->condition->steps[*k].kind == RL_FOR && advance(s, *k)) {
      (*k)++;
      return true;
    }
  return false;
}
