/* SPDX-License-Identifier: MIT */
/* analysis.c - constant folding over reals, with and without pruning, and the
 * conditions that look at it. */
#include "workload.h"
#include "egraph/egraph_testing.h"
#include <math.h>
#include <string.h>

static const wl_facts *
facts(const eg_graph *g, eg_class c) {
  return eg_data(g, c);
}

static bool
is_known(const wl_facts *f) {
  return f->value != BS_NIL.i;
}

static bs_value
value_of(const wl_facts *f) {
  return (bs_value){f->value};
}

static double
number(const wl_workload *w, const wl_facts *f) {
  return bs_as_real(w->values, value_of(f));
}

/* Not a number: unknown. */
static double
fold(char op, double a, double b) {
  switch (op) {
  case '+':
    return a + b;
  case '-':
    return a - b;
  case '*':
    return a * b;
  case '/':
    return b != 0 ? a / b : NAN;
  default:
    return NAN;
  }
}

static bool
make(void *ctx, eg_graph *g, uint32_t op, bs_value attr, const eg_class *kids,
     uint32_t n, void *data) {
  const wl_workload *w = ctx;
  wl_facts *f = data;
  if (op == WL_CONST) {
    f->value = attr.i;
    f->constant = true;
  } else if (op == WL_SYM) {
    f->symbol = true;
  } else if (n == 2) {
    const wl_facts *a = facts(g, kids[0]), *b;
    if (!is_known(a) || !is_known(b = facts(g, kids[1])))
      return true;
    const char *name = bs_as_sym(w->values, w->ops.data[op]);
    double v = name[1] ? NAN : fold(name[0], number(w, a), number(w, b));
    if (v == v)
      f->value = bs_real(w->values, v == 0 ? 0 : v).i; /* no negative zero */
  }
  return true;
}

static uint32_t
merge(void *ctx, eg_graph *g, void *into, const void *from) {
  (void)ctx;
  (void)g;
  wl_facts *a = into;
  const wl_facts *b = from;
  uint32_t bits = 0;
  if (is_known(a) && is_known(b) && a->value != b->value)
    return EG_MERGE_CONFLICT;
  if (!is_known(a) && is_known(b)) {
    a->value = b->value;
    bits |= 1;
  } else if (is_known(a) && !is_known(b)) {
    bits |= 2;
  }
  bits |= !a->symbol && b->symbol ? 1 : 0;
  bits |= a->symbol && !b->symbol ? 2 : 0;
  a->symbol |= b->symbol;
  a->constant |= b->constant;
  return bits;
}

static bool
is_leaf(void *ctx, uint32_t op, uint32_t n_kids) {
  (void)ctx;
  (void)op;
  return !n_kids;
}

static void
modify(void *ctx, eg_graph *g, eg_class c) {
  const wl_workload *w = ctx;
  wl_facts *f = eg_data(g, c);
  if (!is_known(f))
    return;
  if (!f->constant) {
    f->constant = true;
    eg_class k = eg_add(g, WL_CONST, value_of(f), NULL, 0);
    eg_union(g, c, k, (eg_reason){EG_BY_CLIENT, 0});
  }
  if (w->prune)
    eg_prune(g, c, is_leaf, NULL);
}

eg_analysis
wl_analysis(wl_workload *w) {
  if (!w->fold)
    return (eg_analysis){0};
  return (eg_analysis){w, sizeof(wl_facts), make, merge, modify, true};
}

static bool
holds(eg_graph *g, const bs_values *values, const wl_condition *c,
      const uint32_t *slots) {
  eg_class a = {slots[c->a]};
  const wl_facts *f = facts(g, a);
  switch (c->kind) {
  case WL_NOT_ZERO:
    return !is_known(f) || bs_as_real(values, value_of(f)) != 0;
  case WL_IS_SYM:
    return f->symbol;
  case WL_IS_CONST:
    return is_known(f);
  case WL_CONST_OR_OTHER:
    return eg_find(g, a).i != eg_find(g, (eg_class){slots[c->b]}).i &&
           (is_known(f) || f->symbol);
  }
  return false;
}

eg_guard_result
wl_guard(void *ctx, eg_graph *g, uint32_t *slots, uint32_t alternative) {
  const wl_conditions *all = ctx;
  (void)alternative;
  for (uint32_t i = 0; i < all->n; i++)
    if (!holds(g, all->values, &all->list[i], slots))
      return EG_GUARD_SKIP;
  return EG_GUARD_EMIT;
}
