/* SPDX-License-Identifier: MIT */
/* sample_attr.c - the attribute of a node of a pattern: what the pattern says,
 * what its variables hold, and what is free. */
#include "rules/sample/sample.h"
#include <assert.h>

static bool
is_free(const rl_sampler *s, uint32_t slot) {
  return s->slots[slot] == UINT32_MAX;
}

/* The value of a pattern all of whose variables are bound.  Patterns nest no
 * deeper than expressions do. */
static bool
value_of(const rl_sampler *s, const eg_attr_pattern *a, bs_value *out) {
  bs_value items[GS_MAX_NESTING];
  switch (a->kind) {
  case EG_ATTR_VALUE:
    *out = a->value;
    return true;
  case EG_ATTR_SLOT:
    *out = (bs_value){s->slots[a->slot]};
    return !is_free(s, a->slot);
  case EG_ATTR_LIST:
    if (a->n > GS_MAX_NESTING)
      return false;
    for (uint32_t k = 0; k < a->n; k++)
      if (!value_of(s, &a->items[k], &items[k]))
        return false;
    *out = bs_list(s->ctx.values, items, a->n);
    return true;
  case EG_ATTR_ANY:
  default:
    return false;
  }
}

/* The value with the parts that the pattern knows put into it. */
static bs_value
impose(const rl_sampler *s, const eg_attr_pattern *a, bs_value v) {
  bs_value items[GS_MAX_NESTING], known;
  if (value_of(s, a, &known))
    return known;
  if (a->kind != EG_ATTR_LIST || a->n > GS_MAX_NESTING ||
      bs_kind_of(s->ctx.values, v) != BS_KIND_LIST ||
      bs_len(s->ctx.values, v) != a->n)
    return v;
  for (uint32_t k = 0; k < a->n; k++)
    items[k] = impose(s, &a->items[k], bs_item(s->ctx.values, v, k));
  return bs_list(s->ctx.values, items, a->n);
}

static bool
unify(rl_sampler *s, const eg_attr_pattern *a, bs_value v) {
  switch (a->kind) {
  case EG_ATTR_VALUE:
    return bs_same(a->value, v);
  case EG_ATTR_SLOT:
    if (is_free(s, a->slot))
      s->slots[a->slot] = v.i;
    return s->slots[a->slot] == v.i;
  case EG_ATTR_LIST:
    if (bs_kind_of(s->ctx.values, v) != BS_KIND_LIST ||
        bs_len(s->ctx.values, v) != a->n)
      return false;
    for (uint32_t k = 0; k < a->n; k++)
      if (!unify(s, &a->items[k], bs_item(s->ctx.values, v, k)))
        return false;
    return true;
  case EG_ATTR_ANY:
  default:
    return true;
  }
}

/* The pattern of one item, or NULL. */
static const eg_attr_pattern *
item_pattern(const eg_term_node *n, uint32_t item) {
  return n->attr.kind == EG_ATTR_LIST && item < n->attr.n ? &n->attr.items[item]
                                                          : NULL;
}

void
rl_attr_open(rl_sampler *s, const eg_term_node *node, rl_attr *a) {
  bs_value whole;
  *a = (rl_attr){.s = s, .node = node};
  while (gs_op_table[node->op].attrs[a->n] && a->n < 4 && node->op != GS_CALL)
    a->n++;
  bool known = value_of(s, &node->attr, &whole);
  for (uint32_t k = 0; k < a->n; k++) {
    const eg_attr_pattern *p = item_pattern(node, k);
    if (known)
      a->item[k] = bs_item(s->ctx.values, whole, k);
    a->fixed[k] = known || (p && value_of(s, p, &a->item[k]));
  }
}

void
rl_attr_set(rl_attr *a, uint32_t item, bs_value v) {
  assert(item < a->n);
  const eg_attr_pattern *p = item_pattern(a->node, item);
  if (!a->fixed[item])
    a->item[item] = p ? impose(a->s, p, v) : v;
}

void
rl_attr_set_int(rl_attr *a, uint32_t item, int64_t v) {
  assert(item < a->n);
  rl_attr_set(a, item, bs_int(a->s->ctx.values, v));
}

void
rl_attr_set_ints(rl_attr *a, uint32_t item, const int64_t *v, uint32_t n) {
  assert(n <= GS_MAX_RANK);
  rl_attr_set(a, item, bs_ints(a->s->ctx.values, v, n));
}

int64_t
rl_attr_int(const rl_attr *a, uint32_t item) {
  assert(item < a->n);
  return bs_as_int(a->s->ctx.values, a->item[item]);
}

uint32_t
rl_attr_ints(const rl_attr *a, uint32_t item, int64_t *out) {
  assert(item < a->n);
  uint32_t n = 0;
  bs_to_ints(a->s->ctx.values, a->item[item], out, GS_MAX_RANK, &n);
  return n;
}

int32_t
rl_attr_length(const rl_attr *a, uint32_t item) {
  assert(item < a->n);
  const eg_attr_pattern *p = item_pattern(a->node, item);
  if (a->fixed[item])
    return (int32_t)bs_len(a->s->ctx.values, a->item[item]);
  return p && p->kind == EG_ATTR_LIST ? (int32_t)p->n : -1;
}

bool
rl_attr_left_out(const rl_attr *a, uint32_t item) {
  const eg_attr_pattern *p = item_pattern(a->node, item);
  return p && p->kind == EG_ATTR_SLOT &&
         a->s->parts->scope->vars.data[p->slot].name[0] == '(';
}

bool
rl_attr_close(rl_attr *a, bs_value *out) {
  *out = bs_list(a->s->ctx.values, a->item, a->n);
  *out = gs_canonical_attr(a->s->ctx.values, a->node->op, *out);
  return unify(a->s, &a->node->attr, *out);
}
