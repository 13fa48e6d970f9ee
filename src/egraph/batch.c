/* SPDX-License-Identifier: MIT */
/* batch.c - the right sides of a group of matches, built.
 *
 * A group goes step by step through the right side: a step's nodes are all
 * there before the next is begun, and classes are united after the last.  So
 * nothing that a step looks up depends on the order of its matches.
 *
 * The last node of a right side is added straight into the class it shall be
 * equal to: where it is new, that needs neither a class nor a union.  */
#include "egraph/add.h"
#include "egraph/journal.h"
#include "egraph/lookup.h"
#include <assert.h>

static void
build_slots(eg_runner *r, const eg_batch *b, const eg_code *c, uint32_t step,
            eg_reason why) {
  uint32_t slot = c->steps[step].node->slot;
  assert(c->steps[step].node->is_slot && slot < r->most_slots);
  uint32_t *made = eg_made_at(b, step);
  for (uint32_t i = 0; i < b->n; i++) {
    made[i] = eg_root(r->g, eg_match_at(b, i)[EG_MATCH_HEAD + slot]);
    if (step + 1 < c->n)
      continue;
    why.match = i;
    if (r->g->journal)
      r->g->journal->row = EG_NONE;
    if (!eg_unite(r->g, eg_target(b, c, i), made[i], why) && r->g->journal)
      eg_journal_again(r->g, why);
  }
}

/* Any node: with a computed attribute, or with many children. */
static bool
build_any(eg_runner *r, const eg_batch *b, const eg_code *c, uint32_t step,
          eg_reason why) {
  eg_graph *g = r->g;
  const eg_term_node *n = c->steps[step].node;
  assert(step < c->n && !n->is_slot);
  uint32_t *made = eg_made_at(b, step), head = c->steps[step].head;
  for (uint32_t i = 0; i < b->n; i++) {
    const uint32_t *m = eg_match_at(b, i);
    uint32_t into = step + 1 == c->n ? eg_target(b, c, i) : EG_NONE;
    if (c->steps[step].head == EG_NONE) {
      bs_value v = eg_attr_build(g->values, &n->attr, m + EG_MATCH_HEAD);
      head = eg_head_intern(g, n->op, v, n->n_kids);
    }
    for (uint32_t k = 0; k < n->n_kids; k++)
      r->kids[k].i = eg_root(g, eg_made_at(b, n->kids[k])[i]);
    g->now.root.i = m[1];
    why.match = i;
    made[i] = eg_add_head(g, head, r->kids, n->n_kids, into, why);
    if (made[i] == EG_NONE)
      return false;
  }
  return true;
}

/* --- plain nodes: at most two children and a fixed attribute ----------- */

static uint32_t
find_wanted(const eg_graph *g, const eg_step *s, const eg_wanted *w,
            uint32_t i) {
  eg_key key = eg_wanted_key(s, w, i);
  return eg_table_find(g, &key, w->hashes[i], EG_NONE, NULL);
}

/* Children that lost a union since they were taken are taken again; the node
 * that is there under them. */
static uint32_t
find_with_retaken(const eg_graph *g, const eg_step *s, eg_wanted *w,
                  uint32_t i) {
  eg_class *kids = w->kids[i];
  bool lost = false;
  for (uint32_t k = 0; k < s->node->n_kids; k++) {
    uint32_t c = kids[k].i;
    kids[k].i = eg_root(g, c);
    lost = lost || kids[k].i != c;
  }
  if (!lost)
    return EG_NONE;
  w->hashes[i] = eg_pair_hash(kids[0].i, kids[1].i, eg_head_mix(s->head));
  return find_wanted(g, s, w, i);
}

static __attribute__((noinline)) uint32_t
find_slowly(eg_graph *g, const eg_step *s, eg_wanted *w, uint32_t i,
            bool lacks) {
  uint32_t have = lacks ? EG_NONE : find_wanted(g, s, w, i);
  if (have == EG_NONE && g->unions != w->unions)
    have = find_with_retaken(g, s, w, i);
  if (have == EG_NONE)
    return EG_NONE;
  if (g->journal)
    g->journal->row = have;
  return g->rows[have].cls;
}

/* The node of match i, which the likely one is not; its class, or EG_NONE: it
 * is not there.  `modify` may have united classes since the children were
 * taken. */
static inline uint32_t
find_unlikely(eg_graph *g, const eg_step *s, eg_wanted *w, uint32_t i) {
  bool lacks = eg_table_lacks(g, w->hashes[i]);
  return lacks && g->unions == w->unions ? EG_NONE
                                         : find_slowly(g, s, w, i, lacks);
}

static uint32_t
add(eg_runner *r, const eg_batch *b, const eg_step *s, const eg_wanted *w,
    uint32_t i, uint32_t match, uint32_t into) {
  eg_graph *g = r->g;
  eg_reason why = {g->now.rule, match};
  g->now.root.i = eg_match_at(b, i)[1];
  return eg_add_plain(g, s->head, w->kids[i], s->node->n_kids, w->hashes[i],
                      into, why);
}

/* What is there is taken first, then the nodes that are not are added.  It
 * stays there meanwhile, for no row changes. */
static bool
build_plain(eg_runner *r, const eg_batch *b, const eg_code *c, uint32_t step,
            uint32_t first) {
  eg_graph *g = r->g;
  const eg_step *s = &c->steps[step];
  assert(eg_step_is_plain(s) && b->n <= EG_BATCH);
  uint32_t *made = eg_made_at(b, step), todo[EG_BATCH], n_todo = 0;
  eg_wanted w;
  eg_want(b, s, &w);
  const eg_row *rows = g->rows;
  for (uint32_t i = 0, n = b->n, head = s->head; i < n; i++) {
    uint32_t cls = made[i] = eg_likely_in(rows, head, &w, i);
    todo[n_todo] = i;
    n_todo += cls == EG_NONE;
  }
  for (uint32_t k = 0; k < n_todo; k++) {
    uint32_t i = todo[k];
    made[i] = find_unlikely(g, s, &w, i);
    if (made[i] == EG_NONE)
      made[i] = add(r, b, s, &w, i, first + i, EG_NONE);
    if (made[i] == EG_NONE)
      return false;
  }
  return true;
}

/* Lists the matches whose last node is not where it shall be; with a journal
 * all, for it takes note of each. */
static uint32_t
list_todo(eg_runner *r, const eg_batch *b, const eg_code *c, uint32_t step,
          const eg_wanted *w, uint32_t *todo) {
  const eg_graph *g = r->g;
  const uint32_t *into = eg_targets(b, c);
  uint32_t n_todo = 0, *made = eg_made_at(b, step);
  uint32_t n = b->n, stride = b->stride, head = c->steps[step].head;
  const eg_row *rows = g->rows;
  bool all = g->journal;
  for (uint32_t i = 0; i < n; i++, into += stride) {
    uint32_t cls = made[i] = eg_likely_in(rows, head, w, i);
    if (cls == *into && !all)
      continue;
    todo[n_todo] = i;
    n_todo += !eg_is_same(g, cls, *into) || all;
  }
  return n_todo;
}

/* The last step, whose nodes join the classes that the rule names. */
static bool
build_plain_last(eg_runner *r, const eg_batch *b, const eg_code *c,
                 uint32_t step, uint32_t first) {
  eg_graph *g = r->g;
  const eg_step *s = &c->steps[step];
  const uint32_t *at = eg_targets(b, c);
  uint32_t *made = eg_made_at(b, step), todo[EG_BATCH];
  eg_wanted w;
  eg_want(b, s, &w);
  uint32_t n_todo = list_todo(r, b, c, step, &w, todo);
  for (uint32_t k = 0; k < n_todo; k++) {
    uint32_t i = todo[k], row = w.likely[i];
    if (made[i] == EG_NONE) {
      made[i] = find_unlikely(g, s, &w, i);
      row = g->journal ? g->journal->row : EG_NONE;
    }
    if (made[i] == EG_NONE) {
      uint32_t into = eg_target(b, c, i);
      if (add(r, b, s, &w, i, first + i, into) == EG_NONE)
        return false;
    } else if (g->journal ||
               !eg_is_same(g, made[i], at[(size_t)i * b->stride])) {
      r->equal.data[r->equal.len++] = (eg_equal){first + i, made[i], row};
    }
  }
  return true;
}

static bool
build_alone(eg_runner *r, const eg_batch *b, const eg_code *c, uint32_t step) {
  bool last = step + 1 == c->n, ok = true;
  for (uint32_t at = 0; at < b->n && ok; at += EG_BATCH) {
    eg_batch part = eg_batch_part(b, at, b->n);
    ok = last ? build_plain_last(r, &part, c, step, at)
              : build_plain(r, &part, c, step, at);
  }
  return ok;
}

static void
unite_equal(eg_runner *r, const eg_batch *b, const eg_code *c) {
  eg_graph *g = r->g;
  for (uint32_t k = 0; k < r->equal.len && g->fault != EG_FAULT_MERGE; k++) {
    const eg_equal *e = &r->equal.data[k];
    eg_reason why = {g->now.rule, e->match};
    if (g->journal)
      g->journal->row = e->row;
    if (!eg_unite(g, eg_target(b, c, e->match), e->cls, why) && g->journal)
      eg_journal_again(g, why);
  }
  bs_clear(&r->equal);
}

static bool
build_plain_step(eg_runner *r, const eg_batch *b, const eg_code *c,
                 uint32_t step) {
  bs_reserve(r->heap, &r->equal, b->n);
  bool ok = true;
  ok = build_alone(r, b, c, step);
  unite_equal(r, b, c);
  return ok;
}

static bool
build_step(eg_runner *r, const eg_batch *b, const eg_code *c, uint32_t step,
           eg_reason why) {
  const eg_step *s = &c->steps[step];
  if (s->node->is_slot) {
    if (step + 1 == c->n || !c->plain)
      build_slots(r, b, c, step, why);
    return true;
  }
  return eg_step_is_plain(s) ? build_plain_step(r, b, c, step)
                             : build_any(r, b, c, step, why);
}

/* Room for all that a group adds.  In small groups classes have theirs when
 * they are made. */
static void
make_room(eg_runner *r, uint32_t k) {
  uint64_t nodes = (uint64_t)r->n_ready * r->states[k].most_nodes;
  if (r->group == EG_BATCH) {
    eg_table_reserve(r->g, nodes);
    return;
  }
  eg_reserve(r->g, nodes, 0);
  eg_reserve_classes(r->g, (uint64_t)r->n_ready * r->states[k].most_classes);
}

bool
eg_build_ready(eg_runner *r, uint32_t k) {
  assert(k < r->n_rules);
  const eg_rule *rule = &r->rules[k];
  eg_reason why = {rule->id, 0};
  eg_batch b = {r->g, r->ready, r->stride, r->n_ready, r->group, r->made.data};
  r->g->now.rule = rule->id;
  make_room(r, k);
  if (r->g->journal)
    eg_journal_batch(r->g, rule->id, r->ready, r->stride,
                     rule->guard ? rule->n_slots : rule->pattern->n_slots,
                     r->n_ready);
  for (uint32_t i = 0; i < rule->n_results; i++) {
    const eg_code *c = &r->states[k].codes[i];
    if (r->g->journal)
      r->g->journal->result = i;
    for (uint32_t step = 0; step < c->n; step++)
      if (!build_step(r, &b, c, step, why))
        return false;
  }
  if (r->g->journal)
    eg_journal_batch_over(r->g);
  return !r->g->fault;
}
