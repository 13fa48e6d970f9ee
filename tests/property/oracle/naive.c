/* SPDX-License-Identifier: MIT */
/* naive.c - congruence closure and matching, as simple as can be: all pairs of
 * nodes are compared, every node is tried for every node of a pattern. */
#include "tests/property/oracle/naive.h"
#include <string.h>

uint32_t
naive_find(const naive *o, uint32_t c) {
  while (o->up[c] != c)
    c = o->up[c];
  return c;
}

static bool
naive_equal(const naive *o, const naive_node *a, const naive_node *b) {
  if (a->op != b->op || a->n != b->n || a->attr.i != b->attr.i)
    return false;
  for (uint32_t k = 0; k < a->n; k++)
    if (naive_find(o, a->kid[k]) != naive_find(o, b->kid[k]))
      return false;
  return true;
}

uint32_t
naive_add(naive *o, naive_node n) {
  for (uint32_t i = 0; i < o->n; i++)
    if (naive_equal(o, &o->nodes[i], &n))
      return naive_find(o, o->nodes[i].cls);
  n.cls = o->n_classes;
  o->up[o->n_classes] = o->n_classes;
  o->n_classes++;
  o->nodes[o->n++] = n;
  return n.cls;
}

void
naive_unite(naive *o, uint32_t a, uint32_t b) {
  o->up[naive_find(o, a)] = naive_find(o, b);
}

void
naive_close(naive *o) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < o->n; i++)
      for (uint32_t j = i + 1; j < o->n;) {
        if (!naive_equal(o, &o->nodes[i], &o->nodes[j])) {
          j++;
          continue;
        }
        naive_unite(o, o->nodes[i].cls, o->nodes[j].cls);
        o->nodes[j] = o->nodes[--o->n];
        changed = true;
      }
  }
}

uint32_t
naive_classes(const naive *o) {
  uint32_t n = 0;
  for (uint32_t c = 0; c < o->n_classes; c++)
    n += o->up[c] == c;
  return n;
}

typedef struct match {
  uint32_t slots[SLOTS], root;
} match;

typedef struct matches {
  match list[MAX_MATCHES];
  uint32_t n;
} matches;

/* A partial match: slots, and the nodes of the pattern still to be matched. */
typedef struct partial {
  uint32_t slots[SLOTS], root;
  uint32_t todo[MAX_TERM * 4], want[MAX_TERM * 4], n;
} partial;

static bool
naive_attr(naive *o, const eg_attr_pattern *a, bs_value v, uint32_t *slots) {
  if (a->kind == EG_ATTR_VALUE)
    return a->value.i == v.i;
  if (a->kind == EG_ATTR_SLOT) {
    if (slots[a->slot] == UINT32_MAX)
      slots[a->slot] = v.i;
    return slots[a->slot] == v.i;
  }
  if (bs_kind_of(o->values, v) != BS_KIND_LIST || bs_len(o->values, v) != a->n)
    return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!naive_attr(o, &a->items[i], bs_item(o->values, v, i), slots))
      return false;
  return true;
}

static void naive_match(naive *, const rule *, const term *, partial,
                        matches *);

static void
naive_done(naive *o, const rule *r, const term *t, partial p, matches *out) {
  if (t == &r->left && r->root_slot != UINT32_MAX) {
    p.todo[0] = r->more.n - 1;
    p.want[0] = p.slots[r->root_slot];
    p.n = 1;
    naive_match(o, r, &r->more, p, out);
  } else if (out->n < MAX_MATCHES) {
    match *m = &out->list[out->n++];
    memcpy(m->slots, p.slots, sizeof p.slots);
    m->root = p.root;
  }
}

static void
naive_match(naive *o, const rule *r, const term *t, partial p, matches *out) {
  if (!p.n) {
    naive_done(o, r, t, p, out);
    return;
  }
  const eg_term_node *n = &t->node[p.todo[--p.n]];
  uint32_t cls = p.want[p.n];
  if (n->is_slot) {
    if (p.slots[n->slot] == UINT32_MAX)
      p.slots[n->slot] = cls;
    if (p.slots[n->slot] == cls)
      naive_match(o, r, t, p, out);
    return;
  }
  for (uint32_t i = 0; i < o->n; i++) {
    const naive_node *x = &o->nodes[i];
    partial q = p;
    if (x->op != n->op || naive_find(o, x->cls) != cls ||
        !naive_attr(o, &n->attr, x->attr, q.slots))
      continue;
    for (uint32_t k = 0; k < x->n; k++) {
      q.todo[q.n] = n->kids[k];
      q.want[q.n++] = naive_find(o, x->kid[k]);
    }
    naive_match(o, r, t, q, out);
  }
}

static void
naive_search(naive *o, rule *r, matches *out) {
  out->n = 0;
  term_of(&r->left);
  term_of(&r->more);
  for (uint32_t c = 0; c < o->n_classes; c++) {
    if (o->up[c] != c)
      continue;
    partial p = {.root = c, .n = 1};
    memset(p.slots, 0xff, sizeof p.slots);
    p.todo[0] = r->left.n - 1;
    p.want[0] = c;
    naive_match(o, r, &r->left, p, out);
  }
}

static void
naive_apply(naive *o, rule *r, const match *m) {
  eg_term t = term_of(&r->right);
  uint32_t made[MAX_TERM];
  for (uint32_t i = 0; i < t.n; i++) {
    const eg_term_node *n = &t.nodes[i];
    if (n->is_slot) {
      made[i] = m->slots[n->slot];
      continue;
    }
    naive_node x = {.op = n->op, .n = n->n_kids};
    x.attr = n->attr.kind == EG_ATTR_SLOT ? (bs_value){m->slots[n->attr.slot]}
                                          : n->attr.value;
    for (uint32_t k = 0; k < x.n; k++)
      x.kid[k] = made[n->kids[k]];
    made[i] = naive_add(o, x);
  }
  naive_unite(o, made[t.n - 1], r->into_slot ? m->slots[0] : m->root);
}

/* One iteration; false when it would leave the oracle's bounds. */
bool
naive_iterate(naive *o, test_case *c, uint64_t *n_matches) {
  static matches found[MAX_RULES];
  uint64_t total = 0;
  for (uint32_t i = 0; i < c->n_rules; i++) {
    naive_search(o, &c->rules[i], &found[i]);
    total += found[i].n;
    if (found[i].n == MAX_MATCHES)
      return false;
  }
  if (o->n + total * MAX_TERM > MAX_NODES ||
      o->n_classes + total * MAX_TERM > MAX_NODES)
    return false;
  for (uint32_t i = 0; i < c->n_rules; i++)
    for (uint32_t k = 0; k < found[i].n; k++)
      naive_apply(o, &c->rules[i], &found[i].list[k]);
  naive_close(o);
  *n_matches = total;
  return true;
}
