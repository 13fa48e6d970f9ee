/* SPDX-License-Identifier: MIT */
/* chains.h - chains of explanations checked without the graph: each link is
 * replayed on the terms alone. */
#ifndef TESTS_PROPERTY_CHAINS_H
#define TESTS_PROPERTY_CHAINS_H

#include "egraph/egraph_explain.h"
#include <stdlib.h>
#include <string.h>

typedef struct chains {
  eg_explainer *x;
  bs_values *values;
  const eg_shape *shapes;
  /* What the client united: pairs of terms. */
  const uint32_t *said;
  uint32_t n_said;
  uint64_t links, unproved; /* links seen; premises too deep to prove */
  const char *why;
} chains;

static inline bool
broken(chains *c, const char *why) {
  c->why = why;
  return false;
}

/* Is `term` the template under the slots of the link? */
static inline bool
is_instance(const chains *c, const eg_link *l, const eg_term *t, uint32_t at,
            uint32_t term) {
  const eg_term_node *n = &t->nodes[at];
  uint32_t arity;
  if (term == EG_NO_TERM)
    return false;
  if (n->is_slot)
    return l->is_class[n->slot] && l->slots[n->slot] == term;
  const uint32_t *kids = eg_term_kids(c->x, term, &arity);
  bs_value attr = eg_attr_build(c->values, &n->attr, l->slots);
  if (eg_term_op(c->x, term) != n->op || arity != n->n_kids ||
      !bs_same(eg_term_attr(c->x, term), attr))
    return false;
  for (uint32_t k = 0; k < arity; k++)
    if (!is_instance(c, l, t, n->kids[k], kids[k]))
      return false;
  return true;
}

/* Does `to` differ from `from` in one place only, as the link says? */
static inline bool
is_replaced(const chains *c, const eg_link *l) {
  uint32_t from = l->whole, to = l->next, n, m;
  for (uint32_t i = 0; i < l->n_path; i++) {
    const uint32_t *a = eg_term_kids(c->x, from, &n);
    const uint32_t *b = eg_term_kids(c->x, to, &m);
    if (eg_term_op(c->x, from) != eg_term_op(c->x, to) || n != m ||
        !bs_same(eg_term_attr(c->x, from), eg_term_attr(c->x, to)) ||
        l->path[i] >= n)
      return false;
    for (uint32_t k = 0; k < n; k++)
      if (k != l->path[i] && a[k] != b[k])
        return false;
    from = a[l->path[i]];
    to = b[l->path[i]];
  }
  return from == l->before && to == l->after;
}

static inline bool check_chain(chains *, const eg_chain *, uint32_t depth);

static inline bool
check_premise(chains *c, const eg_premise *p, uint32_t depth) {
  eg_chain chain;
  if (!depth) {
    c->unproved++;
    return true;
  }
  eg_explained e = eg_explain(c->x, p->from, p->to, 1000, &chain);
  if (e != EG_EXPLAINED)
    return broken(c, "a premise is not explained");
  return check_chain(c, &chain, depth - 1);
}

static inline bool
has_premise(const eg_link *l, uint32_t from, const chains *c,
            const eg_term *part) {
  for (uint32_t k = 0; k < l->n_premises; k++)
    if (l->premises[k].from == from &&
        is_instance(c, l, part, part->n - 1, l->premises[k].to))
      return true;
  return false;
}

static inline bool
check_link(chains *c, const eg_link *l, uint32_t depth) {
  uint32_t left = l->forward ? l->before : l->after;
  uint32_t right = l->forward ? l->after : l->before;
  if (!is_replaced(c, l))
    return broken(c, "a step is not at its path");
  if (l->rule == EG_BY_CLIENT) {
    for (uint32_t k = 0; k < c->n_said; k++)
      if (c->said[2 * k] == left && c->said[2 * k + 1] == right)
        return true;
    return broken(c, "the client did not say so");
  }
  const eg_shape *s = &c->shapes[l->rule];
  const eg_result *r = &s->results[l->result];
  if (!is_instance(c, l, &s->parts[0], s->parts[0].n - 1, l->root))
    return broken(c, "the left side is no instance");
  if (left != (r->slot == UINT32_MAX ? l->root : l->slots[r->slot]))
    return broken(c, "what is replaced is another");
  if (!is_instance(c, l, &r->term, r->term.n - 1, right))
    return broken(c, "the right side is no instance");
  for (uint32_t p = 1; p < s->n_parts; p++) {
    uint32_t term = l->slots[s->part_roots[p]];
    if (!is_instance(c, l, &s->parts[p], s->parts[p].n - 1, term) &&
        !has_premise(l, term, c, &s->parts[p]))
      return broken(c, "a further part is no instance");
  }
  for (uint32_t k = 0; k < l->n_premises; k++)
    if (!check_premise(c, &l->premises[k], depth))
      return false;
  return true;
}

static inline bool
check_chain(chains *c, const eg_chain *chain, uint32_t depth) {
  uint32_t at = chain->from;
  eg_chain own = *chain;
  for (uint32_t i = 0; i < own.n; i++) {
    c->links++;
    if (own.links[i].whole != at)
      return broken(c, "the chain is broken");
    if (!check_link(c, &own.links[i], depth))
      return false;
    at = own.links[i].next;
  }
  return at == own.to || broken(c, "the chain ends elsewhere");
}

#endif
