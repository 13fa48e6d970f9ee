/* SPDX-License-Identifier: MIT */
/* fit_same.c - one operand that was met as two arrays.
 *
 * Where the meaning of an instruction has an operand twice, the two ways down
 * may end in different classes: an array, and the same one with dimensions of
 * one more, or in another shape, which something computes, too.  Both have the
 * same elements, so that one of them is a view of the other. */
#include "glenside/array/inspect.h"
#include "rules/instr/fit.h"
#include <assert.h>

enum { MOST_CLASSES = 64 };

typedef struct search {
  uint32_t n;
  eg_class cls[MOST_CLASSES];
  eg_node node[MOST_CLASSES]; /* that leads there, from `from` */
  uint32_t from[MOST_CLASSES];
} search;

/* Of such a view each element is one of what it shows. */
static bool
is_one_to_one(uint32_t op) {
  return op == GS_TRANSPOSE || gs_keeps_order((gs_op)op);
}

static void
meet(search *s, eg_class c, eg_node node, uint32_t from) {
  for (uint32_t k = 0; k < s->n; k++)
    if (s->cls[k].i == c.i)
      return;
  if (s->n == MOST_CLASSES)
    return;
  s->cls[s->n] = c;
  s->node[s->n] = node;
  s->from[s->n++] = from;
}

/* The place of `goal` among what such views of `c` lead to; 0: nowhere. */
static uint32_t
find(const fit_match *m, search *s, eg_class c, eg_class goal) {
  uint32_t n, n_kids;
  s->n = 0;
  meet(s, c, (eg_node){0}, 0);
  for (uint32_t at = 0; at < s->n; at++) {
    if (s->cls[at].i == goal.i)
      return at;
    const eg_node *nodes = eg_class_nodes(m->graph, s->cls[at], &n);
    for (uint32_t k = 0; k < n; k++)
      if (is_one_to_one(eg_op(m->graph, nodes[k])))
        meet(s, eg_find(m->graph, eg_kids(m->graph, nodes[k], &n_kids)[0]),
             nodes[k], at);
  }
  return 0;
}

/* Its elements, and not what it is cast from, through these views. */
static bool
bring(fit_match *m, uint32_t k, eg_class goal) {
  assert(k < FIT_OPERANDS);
  search s;
  uint32_t path[MOST_CLASSES], n = 0;
  eg_class c = m->leaf[k];
  rl_index x = m->index[k];
  if (m->uncast[k].n)
    return false;
  for (uint32_t at = find(m, &s, c, goal); at; at = s.from[at])
    path[n++] = at;
  if (!n)
    return false;
  while (n)
    if (!fit_go_through(m, s.node[path[--n]], &c, &x))
      return false;
  m->leaf[k] = c;
  m->index[k] = x;
  return true;
}

/* No place before k sees the same operand. */
static bool
is_first(const fit_match *m, uint32_t k) {
  assert(k < m->f->n_seen);
  for (uint32_t j = 0; j < k; j++)
    if (j != m->f->seen_as[k] && m->f->seen_as[j] == m->f->seen_as[k])
      return false;
  return true;
}

bool
fit_is_same(fit_match *m, uint32_t k) {
  assert(k < m->f->n_seen && m->f->seen_as[k] <= k);
  uint32_t as = m->f->seen_as[k];
  if (m->leaf[k].i == m->leaf[as].i)
    return true;
  return bring(m, k, m->leaf[as]) ||
         (is_first(m, k) && bring(m, as, m->leaf[k]));
}
