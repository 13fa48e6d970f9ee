/* SPDX-License-Identifier: MIT */
/* case.c - random actions and rules. */
#include "tests/property/oracle/case.h"
#include <string.h>

const uint32_t arity_of[OPS] = {0, 0, 1, 2, 2, 3};

static uint64_t random_state;

static uint32_t
roll(uint32_t n) {
  uint64_t z = random_state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (uint32_t)((z ^ z >> 31) % n);
}

/* Attribute k: 0 none, 1..3 integers, above: a list of two. */
bs_value
attr_value(bs_values *v, uint32_t k) {
  int64_t two[2] = {k / 2, k % 2};
  if (!k)
    return BS_NIL;
  return k < 4 ? bs_int(v, k) : bs_ints(v, two, 2);
}

static eg_attr_pattern
roll_attr(bs_values *v, term *t, uint32_t bound, bool left) {
  eg_attr_pattern a = {.kind = EG_ATTR_VALUE};
  uint32_t slot = 3 + roll(2);
  a.value = attr_value(v, roll(3) ? 0 : roll(8));
  if (roll(3))
    return a;
  if (left && roll(3) == 0) {
    a.kind = EG_ATTR_LIST;
    a.n = 2;
    a.items = t->items[t->n];
    for (uint32_t i = 0; i < 2; i++) {
      eg_attr_pattern item = {.kind = EG_ATTR_SLOT, .slot = 3 + roll(2)};
      if (roll(2)) {
        item.kind = EG_ATTR_VALUE;
        item.value = bs_int(v, roll(3));
      }
      t->items[t->n][i] = item;
    }
  } else if (left || bound & 1u << slot) {
    a.kind = EG_ATTR_SLOT;
    a.slot = slot;
  }
  return a;
}

/* The slots that the nodes below the root bind. */
static uint32_t
bound_by(const term *t, uint32_t bound) {
  bool reached[MAX_TERM] = {false};
  reached[t->n - 1] = true;
  for (uint32_t i = t->n; i-- > 0;) {
    const eg_term_node *n = &t->node[i];
    if (!reached[i])
      continue;
    for (uint32_t k = 0; !n->is_slot && k < n->n_kids; k++)
      reached[t->kids[i][k]] = true;
    if (n->is_slot)
      bound |= 1u << n->slot;
    else if (n->attr.kind == EG_ATTR_SLOT)
      bound |= 1u << n->attr.slot;
    for (uint32_t k = 0; !n->is_slot && k < n->attr.n; k++)
      if (n->attr.items[k].kind == EG_ATTR_SLOT)
        bound |= 1u << n->attr.items[k].slot;
  }
  return bound;
}

/* Builds a random term bottom-up; on the right only bound variables. */
static void
roll_term(bs_values *v, term *t, uint32_t want, uint32_t bound, bool left) {
  t->n = 0;
  while (t->n < want) {
    eg_term_node n = {0};
    uint32_t slot = roll(CLASS_SLOTS);
    bool root = t->n + 1 == want;
    if ((left || bound & 1u << slot) && roll(2) && (!root || !left)) {
      n.is_slot = true;
      n.slot = slot;
    } else {
      n.op = t->n ? roll(OPS) : roll(2);
      n.attr = roll_attr(v, t, bound, left);
      n.n_kids = arity_of[n.op];
      for (uint32_t k = 0; k < n.n_kids; k++)
        t->kids[t->n][k] = k || !root ? roll(t->n) : t->n - 1;
    }
    t->node[t->n++] = n;
  }
}

static void
roll_rule(bs_values *v, rule *r) {
  memset(r, 0, sizeof *r);
  roll_term(v, &r->left, 1 + roll(MAX_TERM - 1), 0, true);
  uint32_t bound = bound_by(&r->left, 0);
  r->root_slot = roll(CLASS_SLOTS);
  if (roll(4) || !(bound & 1u << r->root_slot))
    r->root_slot = UINT32_MAX;
  else
    roll_term(v, &r->more, 1 + roll(3), 0, true);
  if (r->root_slot != UINT32_MAX)
    bound = bound_by(&r->more, bound);
  roll_term(v, &r->right, 1 + roll(4), bound, false);
  r->into_slot = bound & 1 && roll(4) == 0;
}

void
roll_case(bs_values *v, test_case *c, uint64_t seed) {
  random_state = seed;
  c->n_actions = 1 + roll(MAX_ACTIONS);
  for (uint32_t i = 0; i < c->n_actions; i++) {
    uint32_t k = roll(10);
    c->actions[i] = (action){.kind = k < 6   ? ADD
                                     : k < 9 ? UNITE
                                             : REBUILD,
                             .op = roll(OPS),
                             .attr = roll(3) ? 0 : roll(8),
                             .a = roll(1000),
                             .b = roll(1000),
                             .c = roll(1000)};
  }
  c->n_rules = roll(MAX_RULES + 1);
  c->iterations = roll(5);
  for (uint32_t i = 0; i < c->n_rules; i++)
    roll_rule(v, &c->rules[i]);
}

/* A term's arrays are addressed only when used, so that cases can be copied. */
eg_term
term_of(term *t) {
  for (uint32_t i = 0; i < t->n; i++) {
    t->node[i].kids = t->kids[i];
    if (t->node[i].attr.kind == EG_ATTR_LIST)
      t->node[i].attr.items = t->items[i];
  }
  return (eg_term){t->node, t->n};
}
