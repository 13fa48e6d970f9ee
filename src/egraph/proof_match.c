/* SPDX-License-Identifier: MIT */
/* proof_match.c - sides of rules under the substitution of a match.
 *
 * The journal has the classes of a match's variables, not the rows of its inner
 * nodes: these are found again as rows of the same key, the ones that were
 * equal first, so that what they rest on is older than the match. */
#include "egraph/proof.h"
#include <assert.h>
#include <string.h>

enum { MOST_ROWS = 32, MOST_KIDS = 64 };

uint32_t
eg_rule_of(const eg_explainer *x, const eg_instance *i) {
  const eg_event *e = &x->h.j->events.data[i->event];
  return eg_match_at(&x->h, e->why)[EG_M_RULE];
}

const eg_shape *
eg_shape_of(const eg_explainer *x, const eg_instance *i) {
  assert(eg_rule_of(x, i) < x->h.n_shapes);
  return &x->h.shapes[eg_rule_of(x, i)];
}

const uint32_t *
eg_slots_of(const eg_explainer *x, const eg_instance *i) {
  const eg_event *e = &x->h.j->events.data[i->event];
  return eg_match_at(&x->h, e->why) + EG_M_HEAD;
}

const eg_term *
eg_side_of(const eg_explainer *x, const eg_instance *i, uint32_t side) {
  assert(side < eg_shape_of(x, i)->n_parts + eg_shape_of(x, i)->n_results);
  const eg_shape *s = eg_shape_of(x, i);
  return side < s->n_parts ? &s->parts[side]
                           : &s->results[side - s->n_parts].term;
}

uint32_t
eg_instance_new(eg_explainer *x, uint32_t event) {
  assert(event < x->h.j->events.len);
  const eg_event *e = &x->h.j->events.data[event];
  uint32_t n = eg_match_at(&x->h, e->why)[EG_M_SLOTS];
  eg_instance i = {event, x->bound.len, n, 0};
  for (uint32_t k = 0; k < n; k++)
    bs_push(x->heap, &x->bound, EG_NO_TERM);
  bs_push(x->heap, &x->instances, i);
  return x->instances.len - 1;
}

/* The head of a node of a side, EG_NO_TERM when the graph has none. */
static uint32_t
side_head(const eg_explainer *x, const eg_instance *i, const eg_term_node *n) {
  bs_value attr = eg_attr_build(x->g->values, &n->attr, eg_slots_of(x, i));
  uint32_t head = eg_head_find(x->g, n->op, attr, n->n_kids);
  return head == EG_NONE ? EG_NONE : head & EG_HEAD_MASK;
}

/* --- rows --------------------------------------------------------------- */

/* The class of a variable; EG_NONE where nothing that is reached binds it. */
static uint32_t
slot_class(const eg_explainer *x, const eg_instance *i, uint32_t slot) {
  uint32_t c = eg_slots_of(x, i)[slot];
  return c == EG_NONE ? EG_NONE : eg_root(x->g, c);
}

uint32_t
eg_slot_row(const eg_explainer *x, const eg_instance *i, uint32_t slot) {
  assert(slot < i->n_slots);
  return x->h.first[eg_slots_of(x, i)[slot]];
}

/* The rows that a node of a side may have stood for, and the event after which
 * each did. */
typedef struct candidates {
  uint32_t n;
  uint32_t cls; /* EG_NONE: the graph has no such node */
  uint32_t row[MOST_ROWS], since[MOST_ROWS];
} candidates;

static uint32_t
later(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

/* The candidate of a node that was equal to a row first. */
static uint32_t
best(const eg_explainer *x, const candidates *c, uint32_t row,
     uint32_t *since) {
  uint32_t found = EG_NONE;
  *since = EG_NONE;
  for (uint32_t k = 0; k < c->n; k++) {
    uint32_t t = later(c->since[k], eg_history_since(&x->h, c->row[k], row));
    if (t >= *since)
      continue;
    *since = t;
    found = c->row[k];
  }
  return found;
}

static uint32_t
since_of(const eg_explainer *x, const eg_instance *i, const eg_term *t,
         const candidates *all, uint32_t at, uint32_t row) {
  const eg_term_node *n = &t->nodes[at];
  uint32_t since = 0, when;
  for (uint32_t k = 0; k < n->n_kids; k++) {
    const eg_term_node *kid = &t->nodes[n->kids[k]];
    uint32_t have = eg_history_kid(&x->h, row, k);
    if (kid->is_slot)
      when = eg_history_since(&x->h, have, eg_slot_row(x, i, kid->slot));
    else
      best(x, &all[n->kids[k]], have, &when);
    since = later(since, when);
  }
  return since;
}

static void
find_candidates(const eg_explainer *x, const eg_instance *i, const eg_term *t,
                candidates *all, uint32_t at) {
  const eg_term_node *n = &t->nodes[at];
  candidates *c = &all[at];
  uint32_t classes[MOST_KIDS];
  c->n = 0;
  c->cls = EG_NONE;
  if (n->is_slot) {
    c->cls = slot_class(x, i, n->slot);
    return;
  }
  if (n->n_kids > MOST_KIDS)
    return;
  for (uint32_t k = 0; k < n->n_kids; k++) {
    classes[k] = all[n->kids[k]].cls;
    if (classes[k] == EG_NONE)
      return;
  }
  uint32_t head = side_head(x, i, n);
  if (head == EG_NONE)
    return;
  uint32_t row = eg_history_find(&x->h, head, classes, n->n_kids);
  if (row != EG_NONE)
    c->cls = eg_history_class(&x->h, row);
  for (; row != EG_NONE && c->n < MOST_ROWS;
       row = eg_history_next(&x->h, row)) {
    c->row[c->n] = row;
    c->since[c->n++] = since_of(x, i, t, all, at, row);
  }
}

uint32_t
eg_side_row(eg_explainer *x, const eg_instance *i, uint32_t side, uint32_t at,
            uint32_t row) {
  assert(at < eg_side_of(x, i, side)->n);
  const eg_term *t = eg_side_of(x, i, side);
  candidates *all = bs_alloc(x->heap, (at + (size_t)1) * sizeof *all);
  uint32_t since, found;
  for (uint32_t k = 0; k <= at; k++)
    find_candidates(x, i, t, all, k);
  found = best(x, &all[at], row, &since);
  bs_free(x->heap, all);
  return found;
}

/* --- terms -------------------------------------------------------------- */

/* The class of each node up to `at`; EG_NONE where the graph has none. */
static uint32_t *
classes_of(const eg_explainer *x, const eg_instance *i, const eg_term *t,
           uint32_t at) {
  uint32_t *cls = bs_alloc(x->heap, (at + (size_t)1) * sizeof *cls);
  for (uint32_t k = 0; k <= at; k++) {
    const eg_term_node *n = &t->nodes[k];
    uint32_t few[MOST_KIDS], head, row = EG_NONE;
    cls[k] = EG_NONE;
    if (n->is_slot) {
      cls[k] = slot_class(x, i, n->slot);
      continue;
    }
    for (uint32_t j = 0; j < n->n_kids && j < MOST_KIDS; j++)
      few[j] = cls[n->kids[j]];
    head = side_head(x, i, n);
    if (head != EG_NONE && n->n_kids <= MOST_KIDS)
      row = eg_history_find(&x->h, head, few, n->n_kids);
    if (row != EG_NONE)
      cls[k] = eg_history_class(&x->h, row);
  }
  return cls;
}

bool
eg_side_fits(eg_explainer *x, const eg_instance *i, uint32_t side, uint32_t at,
             uint32_t term) {
  assert(term < x->nodes.len);
  const eg_term *t = eg_side_of(x, i, side);
  const eg_term_node *n = &t->nodes[at];
  if (x->nodes.data[term].head != side_head(x, i, n))
    return false;
  uint32_t *cls = classes_of(x, i, t, at);
  bool fits = true;
  for (uint32_t k = 0; k < n->n_kids && fits; k++)
    fits = cls[n->kids[k]] == eg_xterm_class(x, eg_xkids(x, term)[k]);
  bs_free(x->heap, cls);
  return fits;
}

static uint32_t *
sigma(const eg_explainer *x, const eg_instance *i, uint32_t slot) {
  return &x->bound.data[i->sigma + slot];
}

/* What a variable stands for when nothing else says so. */
static uint32_t
bind(eg_explainer *x, const eg_instance *i, uint32_t slot) {
  if (*sigma(x, i, slot) == EG_NO_TERM) {
    uint32_t term = eg_xterm_of_row(x, eg_slot_row(x, i, slot));
    *sigma(x, i, slot) = term;
  }
  return *sigma(x, i, slot);
}

static uint32_t
build_node(eg_explainer *x, const eg_instance *i, const eg_term_node *n,
           const uint32_t *made) {
  uint32_t kids[MOST_KIDS];
  if (n->is_slot)
    return slot_class(x, i, n->slot) == EG_NONE ? EG_NO_TERM
                                                : bind(x, i, n->slot);
  uint32_t head = side_head(x, i, n);
  if (head == EG_NONE || n->n_kids > MOST_KIDS)
    return EG_NO_TERM;
  for (uint32_t j = 0; j < n->n_kids; j++) {
    kids[j] = made[n->kids[j]];
    if (kids[j] == EG_NO_TERM)
      return EG_NO_TERM;
  }
  return eg_xterm(x, head, kids, n->n_kids);
}

/* Nodes that the root does not reach may have no term. */
static uint32_t
build_to(eg_explainer *x, const eg_instance *i, const eg_term *t, uint32_t at) {
  uint32_t *made = bs_alloc(x->heap, t->n * sizeof *made);
  for (uint32_t k = 0; k <= at; k++)
    made[k] = build_node(x, i, &t->nodes[k], made);
  uint32_t out = made[at];
  bs_free(x->heap, made);
  return out;
}

static uint32_t
build(eg_explainer *x, const eg_instance *i, const eg_term *t) {
  return build_to(x, i, t, t->n - 1);
}

/* Variables of parts stand for instances of their parts; a part's variable is
 * bound by an earlier part. */
static void
bind_parts(eg_explainer *x, const eg_instance *i) {
  const eg_shape *s = eg_shape_of(x, i);
  for (uint32_t p = s->n_parts; p-- > 1;) {
    uint32_t slot = s->part_roots[p];
    if (slot == EG_NONE || *sigma(x, i, slot) != EG_NO_TERM)
      continue;
    uint32_t term = build(x, i, &s->parts[p]);
    *sigma(x, i, slot) = term;
  }
}

uint32_t
eg_side_term(eg_explainer *x, uint32_t instance, uint32_t side) {
  assert(instance < x->instances.len);
  const eg_instance i = x->instances.data[instance];
  bind_parts(x, &i);
  return build(x, &i, eg_side_of(x, &i, side));
}

uint32_t
eg_slot_term(eg_explainer *x, uint32_t instance, uint32_t slot) {
  assert(instance < x->instances.len &&
         slot < x->instances.data[instance].n_slots);
  const eg_instance i = x->instances.data[instance];
  bind_parts(x, &i);
  return bind(x, &i, slot);
}

uint32_t
eg_side_instance(eg_explainer *x, uint32_t instance, uint32_t side,
                 uint32_t at) {
  assert(instance < x->instances.len);
  const eg_instance i = x->instances.data[instance];
  return build_to(x, &i, eg_side_of(x, &i, side), at);
}

static void
mark_classes(const eg_term *t, uint8_t *is_class, uint32_t n) {
  for (uint32_t k = 0; k < t->n; k++)
    if (t->nodes[k].is_slot && t->nodes[k].slot < n)
      is_class[t->nodes[k].slot] = 1;
}

const uint8_t *
eg_class_slots(eg_explainer *x, const eg_instance *i) {
  const eg_shape *s = eg_shape_of(x, i);
  uint8_t *is_class = BS_NEWS(&x->arena, uint8_t, i->n_slots + 1);
  for (uint32_t p = 0; p < s->n_parts; p++) {
    mark_classes(&s->parts[p], is_class, i->n_slots);
    if (p && s->part_roots[p] != EG_NONE)
      is_class[s->part_roots[p]] = 1;
  }
  for (uint32_t r = 0; r < s->n_results; r++)
    mark_classes(&s->results[r].term, is_class, i->n_slots);
  return is_class;
}
