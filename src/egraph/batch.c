/* batch.c - the right sides of a batch of matches, built.
 *
 * The last node of a right side is added straight into the class it shall be
 * equal to: where it is new, that needs neither a class nor a union.  */
#include "egraph/journal.h"
#include "egraph/lookup.h"

/* The class that the last node of match i shall be in. */
static uint32_t
target(const eg_batch *b, const eg_code *c, uint32_t i) {
  const uint32_t *m = eg_match_at(b, i);
  return eg_root(b->g, c->slot == EG_NONE ? m[0] : m[EG_MATCH_HEAD + c->slot]);
}

static void
build_slots(eg_runner *r, const eg_batch *b, const eg_code *c, uint32_t step,
            eg_reason why) {
  uint32_t slot = c->steps[step].node->slot;
  uint32_t *made = eg_made_at(b, step);
  for (uint32_t i = 0; i < b->n; i++) {
    made[i] = eg_root(r->g, eg_match_at(b, i)[EG_MATCH_HEAD + slot]);
    if (step + 1 < c->n)
      continue;
    why.match = i;
    if (r->g->journal)
      r->g->journal->row = EG_NONE;
    if (!eg_unite(r->g, target(b, c, i), made[i], why) && r->g->journal)
      eg_journal_again(r->g, why);
  }
}

/* Any node: with a computed attribute, or with many children. */
static bool
build_any(eg_runner *r, const eg_batch *b, const eg_code *c, uint32_t step,
          eg_reason why) {
  eg_graph *g = r->g;
  const eg_term_node *n = c->steps[step].node;
  uint32_t *made = eg_made_at(b, step), head = c->steps[step].head;
  for (uint32_t i = 0; i < b->n; i++) {
    const uint32_t *m = eg_match_at(b, i);
    uint32_t into = step + 1 == c->n ? target(b, c, i) : EG_NONE;
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

/* The node of match i, which the likely one is not; its class.  What was there
 * when its children were taken does, though one has lost a union since. */
static uint32_t
add_unlikely(eg_runner *r, const eg_batch *b, const eg_step *s, eg_wanted *w,
             uint32_t i, uint32_t into) {
  eg_graph *g = r->g;
  uint32_t have = EG_NONE;
  if (!eg_table_lacks(g, w->hashes[i]))
    have = find_wanted(g, s, w, i);
  if (have == EG_NONE && g->unions != w->unions)
    have = find_with_retaken(g, s, w, i);
  if (have != EG_NONE) {
    if (g->journal)
      g->journal->row = have;
    return g->rows[have].cls;
  }
  eg_reason why = {g->now.rule, i};
  g->now.root.i = eg_match_at(b, i)[1];
  return eg_add_plain(g, s->head, w->kids[i], w->hashes[i], into, why);
}

/* What is there is taken first, then the nodes that are not are added.  It
 * stays there meanwhile, for no row changes. */
static bool
build_plain(eg_runner *r, const eg_batch *b, const eg_code *c, uint32_t step) {
  const eg_step *s = &c->steps[step];
  uint32_t *made = eg_made_at(b, step), todo[EG_BATCH], n_todo = 0;
  eg_wanted w;
  eg_want(b, s, &w);
  for (uint32_t i = 0; i < b->n; i++) {
    made[i] = eg_likely_class(b->g, s, &w, i);
    todo[n_todo] = i;
    n_todo += made[i] == EG_NONE;
  }
  for (uint32_t k = 0; k < n_todo; k++) {
    made[todo[k]] = add_unlikely(r, b, s, &w, todo[k], EG_NONE);
    if (made[todo[k]] == EG_NONE)
      return false;
  }
  return true;
}

/* Lists the matches whose last node is not where it shall be; with a journal
 * all, for it takes note of each. */
static uint32_t
list_todo(eg_runner *r, const eg_batch *b, const eg_step *s,
          const uint32_t *into, const eg_wanted *w, uint32_t *made,
          uint32_t *todo) {
  eg_graph *g = r->g;
  uint32_t n_todo = 0;
  bool all = g->journal;
  for (uint32_t i = 0; i < b->n; i++, into += b->stride) {
    uint32_t cls = made[i] = eg_likely_class(g, s, w, i);
    bool same = cls == *into;
    if (!same && cls != EG_NONE)
      same = eg_root(g, cls) == eg_root(g, *into);
    todo[n_todo] = i;
    n_todo += !same || all;
  }
  return n_todo;
}

/* The last step, whose nodes join the classes that the rule names. */
static bool
build_plain_last(eg_runner *r, const eg_batch *b, const eg_code *c,
                 uint32_t step) {
  eg_graph *g = r->g;
  const eg_step *s = &c->steps[step];
  uint32_t *made = eg_made_at(b, step), todo[EG_BATCH];
  const uint32_t *at =
      b->matches + (c->slot == EG_NONE ? 0 : EG_MATCH_HEAD + c->slot);
  eg_wanted w;
  eg_want(b, s, &w);
  uint32_t n_todo = list_todo(r, b, s, at, &w, made, todo);
  for (uint32_t k = 0; k < n_todo; k++) {
    uint32_t i = todo[k], cls = made[i];
    uint32_t into = eg_root(g, at[(size_t)i * b->stride]);
    if (cls == EG_NONE)
      cls = add_unlikely(r, b, s, &w, i, into);
    else if (g->journal)
      g->journal->row = w.likely[i];
    if (cls == EG_NONE)
      return false;
    eg_reason why = {g->now.rule, i};
    if ((cls == into || !eg_unite(g, into, cls, why)) && g->journal)
      eg_journal_again(g, why);
  }
  return true;
}

static bool
build_step(eg_runner *r, const eg_batch *b, const eg_code *c, uint32_t step,
           eg_reason why) {
  const eg_step *s = &c->steps[step];
  bool last = step + 1 == c->n;
  if (s->node->is_slot) {
    if (last || !c->plain)
      build_slots(r, b, c, step, why);
    return true;
  }
  if (!eg_step_is_plain(s))
    return build_any(r, b, c, step, why);
  return last ? build_plain_last(r, b, c, step) : build_plain(r, b, c, step);
}

bool
eg_build_ready(eg_runner *r, uint32_t k) {
  const eg_rule *rule = &r->rules[k];
  eg_reason why = {rule->id, 0};
  eg_batch b = {r->g, (uint32_t *)r->ready, r->stride, r->n_ready, r->made,
                false};
  r->g->now.rule = rule->id;
  eg_table_reserve(r->g, (uint64_t)r->n_ready * r->states[k].most_nodes);
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
