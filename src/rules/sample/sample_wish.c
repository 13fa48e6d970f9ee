/* SPDX-License-Identifier: MIT */
/* sample_wish.c - types that the equations of a condition ask for.
 *
 * Sides of equations are joined into groups; a group with a literal has its
 * value, any other gets one when it is first asked.  So `(= ?r (dim ?a 1))`,
 * `(= ?r (dim ?b 0))` and `(= ?r 16)` make both sizes 16.  What the equations
 * leave open is random.  Wishes only guide: the condition itself decides. */
#include "rules/sample/sample.h"
#include <string.h>

#define MAX_SIDES 128

typedef struct wishes {
  rl_sampler *s;
  rl_side side[MAX_SIDES];
  uint32_t group[MAX_SIDES]; /* union-find */
  bs_value value[MAX_SIDES]; /* by group */
  uint32_t n;
} wishes;

static bool
same_side(const rl_side *a, const rl_side *b) {
  return a->kind == b->kind && a->slot == b->slot && a->axis == b->axis &&
         bs_same(a->value, b->value);
}

static uint32_t
find(const wishes *w, const rl_side *x) {
  for (uint32_t k = 0; k < w->n; k++)
    if (same_side(&w->side[k], x)) {
      while (w->group[k] != k)
        k = w->group[k];
      return k;
    }
  return UINT32_MAX;
}

static uint32_t
add(wishes *w, const rl_side *x) {
  uint32_t have = find(w, x);
  if (have != UINT32_MAX || w->n == MAX_SIDES)
    return have;
  w->side[w->n] = *x;
  w->group[w->n] = w->n;
  w->value[w->n] = x->kind == RL_SIDE_VALUE ? x->value : BS_NIL;
  if (x->kind == RL_SIDE_VARIABLE && w->s->slots[x->slot] != UINT32_MAX)
    w->value[w->n] = (bs_value){w->s->slots[x->slot]};
  return w->n++;
}

static void
join(wishes *w, const rl_equality *e) {
  uint32_t a = add(w, &e->a), b = add(w, &e->b);
  if (a == UINT32_MAX || b == UINT32_MAX || a == b)
    return;
  w->group[b] = a;
  if (!w->value[a].i)
    w->value[a] = w->value[b];
}

/* The value of a side, or nil. */
static bs_value *
value_of(wishes *w, rl_side_kind kind, uint32_t slot, int64_t axis) {
  rl_side x = {.kind = kind, .slot = slot, .axis = axis};
  uint32_t g = find(w, &x);
  return g == UINT32_MAX ? NULL : &w->value[g];
}

static bool
wished_rank(wishes *w, rl_side_kind kind, uint32_t slot, int64_t *out) {
  bs_value *v = value_of(w, kind, slot, 0);
  if (!v || bs_kind_of(w->s->ctx.values, *v) != BS_KIND_INT)
    return false;
  *out = bs_as_int(w->s->ctx.values, *v);
  return *out >= 0 && *out <= 8;
}

/* Ranks that are asked for; the sizes stay random. */
static void
set_ranks(wishes *w, uint32_t slot, gs_type *t) {
  int64_t s, c, n;
  bool has_s = wished_rank(w, RL_SIDE_ACCESS_RANK, slot, &s);
  bool has_c = wished_rank(w, RL_SIDE_COMPUTE_RANK, slot, &c);
  bool has_n = wished_rank(w, RL_SIDE_RANK, slot, &n);
  if (has_n && !has_s && !has_c)
    s = t->access <= n ? t->access : n;
  else if (!has_s)
    s = has_n && has_c ? n - c : t->access;
  if (!has_c)
    c = has_n ? n - s : t->rank - t->access;
  if (s < 0 || c < 0 || s + c > GS_MAX_RANK)
    return;
  for (int64_t d = t->rank; d < s + c; d++)
    t->dim[d] = rl_draw_dim(w->s);
  t->access = (uint8_t)s;
  t->rank = (uint8_t)(s + c);
}

/* A list of sizes that several terms share. */
static void
set_list(wishes *w, rl_side_kind kind, uint32_t slot, gs_type *t) {
  bs_value *v = value_of(w, kind, slot, 0);
  int64_t list[GS_MAX_RANK];
  uint32_t n, at = kind == RL_SIDE_COMPUTE_SHAPE ? t->access : 0;
  uint32_t count =
      kind == RL_SIDE_ACCESS_SHAPE ? t->access : (uint32_t)t->rank - at;
  if (!v)
    return;
  if (!v->i)
    *v = bs_ints(w->s->ctx.values, t->dim + at, count);
  if (!bs_to_ints(w->s->ctx.values, *v, list, 8, &n))
    return;
  uint32_t rest = kind == RL_SIDE_ACCESS_SHAPE ? t->rank - count : 0;
  if (at + n + rest > GS_MAX_RANK)
    return;
  memmove(t->dim + at + n, t->dim + at + count, rest * sizeof *t->dim);
  memcpy(t->dim + at, list, n * sizeof *list);
  t->rank = (uint8_t)(at + n + rest);
  if (kind == RL_SIDE_ACCESS_SHAPE)
    t->access = (uint8_t)n;
  if (t->access > t->rank)
    t->access = t->rank;
}

/* What a size that nothing else tells may be: one that an equation wants to be
 * a multiple, a small one. */
static int64_t
any_size(const wishes *w, rl_side_kind kind, uint32_t slot, int64_t axis,
         int64_t otherwise) {
  rl_side x = {.kind = kind, .slot = slot, .axis = axis};
  uint32_t g = find(w, &x);
  for (uint32_t k = 0; k < w->n; k++)
    if (w->side[k].kind == RL_SIDE_MULTIPLE && find(w, &w->side[k]) == g &&
        w->side[k].axis <= RL_MAX_NUMBER)
      return w->side[k].axis * (1 + (int64_t)rl_draw(w->s, 3));
  return otherwise;
}

static void
set_dims(wishes *w, uint32_t slot, gs_type *t) {
  for (uint32_t d = 0; d < t->rank; d++) {
    bs_value *v = value_of(w, RL_SIDE_DIM, slot, d);
    if (!v)
      continue;
    if (!v->i)
      *v = bs_int(w->s->ctx.values,
                  any_size(w, RL_SIDE_DIM, slot, d, t->dim[d]));
    int64_t size = bs_as_int(w->s->ctx.values, *v);
    if (bs_kind_of(w->s->ctx.values, *v) == BS_KIND_INT && size > 0 &&
        size <= RL_MAX_NUMBER)
      t->dim[d] = size;
  }
}

static void
set_dtype(wishes *w, uint32_t slot, gs_type *t) {
  const bs_values *values = w->s->ctx.values;
  bs_value *v = value_of(w, RL_SIDE_DTYPE, slot, 0);
  if (v && bs_kind_of(values, *v) == BS_KIND_SYM)
    gs_dtype_find(bs_as_sym(values, *v), &t->dtype);
}

static bool
is_mentioned(const wishes *w, uint32_t slot) {
  for (uint32_t k = 0; k < w->n; k++)
    if (w->side[k].kind > RL_SIDE_VALUE && w->side[k].slot == slot)
      return true;
  return false;
}

/* A slot that is the root of a :with pattern is grown from it. */
static bool
is_leaf(const rl_sampler *s, uint32_t slot) {
  for (uint32_t k = 0; k < s->parts->n_parts; k++)
    if (s->parts->root_slots[k] == slot)
      return false;
  return true;
}

static void
grant(wishes *w, uint32_t slot) {
  rl_sampler *s = w->s;
  gs_type t;
  if (s->slots[slot] != UINT32_MAX || !is_leaf(s, slot) ||
      !is_mentioned(w, slot))
    return;
  rl_draw_type(s, s->dtype, &t);
  set_ranks(w, slot, &t);
  set_list(w, RL_SIDE_SHAPE, slot, &t);
  set_list(w, RL_SIDE_ACCESS_SHAPE, slot, &t);
  set_list(w, RL_SIDE_COMPUTE_SHAPE, slot, &t);
  set_dims(w, slot, &t);
  set_dtype(w, slot, &t);
  if (gs_elements(&t) <= s->sizes.max_elements)
    s->slots[slot] = rl_draw_leaf(s, &t).i;
}

void
rl_grant_wishes(rl_sampler *s) {
  wishes w = {.s = s};
  for (uint32_t k = 0; k < s->parts->n_equal; k++)
    join(&w, &s->parts->equal[k]);
  for (uint32_t p = 0; p < s->parts->n_parts; p++)
    for (uint32_t k = 0; k < s->parts->parts[p].n; k++)
      if (s->parts->parts[p].nodes[k].is_slot)
        grant(&w, s->parts->parts[p].nodes[k].slot);
}
