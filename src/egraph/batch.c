/* batch.c - the right sides of a batch of matches, built.
 *
 * The last node of a right side is added straight into the class it shall be
 * equal to: where it is new, that needs neither a class nor a union.  A batch
 * goes step by step through the right side, so that the cache misses of a step
 * overlap. */
#include "egraph/hashcons.h"
#include "egraph/journal.h"
#include "egraph/runner.h"
#include <string.h>

static const uint32_t *
ready_at(const eg_runner *r, uint32_t i) {
  return r->ready + (size_t)i * r->stride;
}

static uint32_t *
made_at(const eg_runner *r, uint32_t step) {
  return r->made + (size_t)step * EG_BATCH;
}

/* The class that the last node of match i shall be in. */
static uint32_t
target(const eg_runner *r, const eg_code *c, uint32_t i) {
  const uint32_t *m = ready_at(r, i);
  return eg_root(r->g, c->slot == EG_NONE ? m[0] : m[EG_MATCH_HEAD + c->slot]);
}

static void
build_slots(eg_runner *r, const eg_code *c, uint32_t step, eg_reason why) {
  uint32_t slot = c->steps[step].node->slot;
  uint32_t *made = made_at(r, step);
  for (uint32_t i = 0; i < r->n_ready; i++) {
    made[i] = eg_root(r->g, ready_at(r, i)[EG_MATCH_HEAD + slot]);
    if (step + 1 < c->n)
      continue;
    why.match = i;
    if (r->g->journal)
      r->g->journal->row = EG_NONE;
    if (!eg_unite(r->g, target(r, c, i), made[i], why) && r->g->journal)
      eg_journal_again(r->g, why);
  }
}

/* Any node: with a computed attribute, or with many children. */
static bool
build_any(eg_runner *r, const eg_code *c, uint32_t step, eg_reason why) {
  eg_graph *g = r->g;
  const eg_term_node *n = c->steps[step].node;
  uint32_t *made = made_at(r, step), head = c->steps[step].head;
  for (uint32_t i = 0; i < r->n_ready; i++) {
    const uint32_t *m = ready_at(r, i);
    uint32_t into = step + 1 == c->n ? target(r, c, i) : EG_NONE;
    if (c->steps[step].head == EG_NONE) {
      bs_value v = eg_attr_build(g->values, &n->attr, m + EG_MATCH_HEAD);
      head = eg_head_intern(g, n->op, v, n->n_kids);
    }
    for (uint32_t k = 0; k < n->n_kids; k++)
      r->kids[k].i = eg_root(g, made_at(r, n->kids[k])[i]);
    g->now.root.i = m[1];
    why.match = i;
    made[i] = eg_add_head(g, head, r->kids, n->n_kids, into, why);
    if (made[i] == EG_NONE)
      return false;
  }
  return true;
}

/* --- plain nodes: at most two children and a fixed attribute ----------- */

/* What a step shall add for each match of the batch. */
typedef struct eg_wanted {
  uint32_t kids[2][EG_BATCH]; /* canonical; EG_NONE: no such child */
  uint64_t hashes[EG_BATCH];
  uint32_t likely[EG_BATCH]; /* a node that may be it, or EG_NONE */
  uint32_t todo[EG_BATCH];   /* matches that change something, in order */
} eg_wanted;

/* Canonical children, which come from the matches or from an earlier step. */
static void
take_kids(const eg_runner *r, const eg_step *s, uint32_t k, uint32_t *out) {
  const eg_class_row *classes = r->g->classes;
  uint32_t n = r->n_ready;
  bool none = k >= s->node->n_kids, word = !none && s->from[k].is_word;
  const uint32_t *at = none   ? NULL
                       : word ? r->ready + s->from[k].at
                              : made_at(r, s->from[k].at);
  size_t stride = word ? r->stride : 1;
  if (none) {
    memset(out, 0xff, n * sizeof *out);
    return;
  }
  for (uint32_t i = 0; i < n; i++, at += stride) {
    uint32_t c = *at;
    out[i] = classes[c].up == c ? c : eg_root(r->g, c);
  }
}

/* The buckets are fetched. */
static void
take_hashes(const eg_graph *g, uint32_t head, uint32_t n, eg_wanted *w) {
  const eg_bucket *buckets = g->buckets;
  uint64_t n_buckets = g->n_buckets, by_head = eg_head_mix(head);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t hash = eg_pair_hash(w->kids[0][i], w->kids[1][i], by_head);
    w->hashes[i] = hash;
    __builtin_prefetch(&buckets[((hash & UINT32_MAX) * n_buckets) >> 32]);
  }
}

/* The first node whose tag agrees is mostly it; it is fetched. */
static void
find_likely(const eg_graph *g, uint32_t n, eg_wanted *w) {
  const eg_bucket *buckets = g->buckets;
  const eg_row *rows = g->rows;
  uint64_t n_buckets = g->n_buckets;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t hash = w->hashes[i];
    const eg_bucket *b = &buckets[((hash & UINT32_MAX) * n_buckets) >> 32];
    uint32_t m = eg_tags_equal(b, eg_tag_of(hash));
    uint32_t node = m ? b->node[__builtin_ctz(m)] : EG_NONE;
    w->likely[i] = node;
    if (m)
      __builtin_prefetch(&rows[node]);
  }
}

static void
want(const eg_runner *r, const eg_step *s, eg_wanted *w) {
  take_kids(r, s, 0, w->kids[0]);
  take_kids(r, s, 1, w->kids[1]);
  take_hashes(r->g, s->head, r->n_ready, w);
  find_likely(r->g, r->n_ready, w);
}

/* The class of the likely node of match i, or EG_NONE when it is another. */
static inline uint32_t
likely_class(const eg_row *rows, uint32_t head, const eg_wanted *w,
             uint32_t i) {
  uint32_t node = w->likely[i];
  if (node == EG_NONE)
    return EG_NONE;
  const eg_row *row = &rows[node];
  bool is = row->head == head && row->kid[0].i == w->kids[0][i] &&
            row->kid[1].i == w->kids[1][i];
  return is ? row->cls : EG_NONE;
}

/* The node of match i, which the likely one is not; its class. */
static uint32_t
add_unlikely(eg_runner *r, const eg_step *s, const eg_wanted *w, uint32_t i,
             uint32_t into) {
  eg_graph *g = r->g;
  eg_class kids[2] = {{w->kids[0][i]}, {w->kids[1][i]}};
  eg_key key = {s->head, kids[0].i, kids[1].i, NULL, 0};
  uint32_t have = eg_table_find(g, &key, w->hashes[i], EG_NONE, NULL);
  if (have != EG_NONE) {
    if (g->journal)
      g->journal->row = have;
    return g->rows[have].cls;
  }
  eg_reason why = {g->now.rule, i};
  g->now.root.i = ready_at(r, i)[1];
  return eg_add_new(g, &key, w->hashes[i], kids, s->node->n_kids, into, why);
}

/* All hashes first, then all candidates are fetched, then compared, and then
 * the nodes that are not there are added: so the cache misses of a batch
 * overlap.  What is there stays there meanwhile: no row changes. */
static bool
build_plain(eg_runner *r, const eg_code *c, uint32_t step) {
  const eg_step *s = &c->steps[step];
  const eg_row *rows = r->g->rows;
  uint32_t *made = made_at(r, step), n = r->n_ready, n_todo = 0;
  eg_wanted w;
  want(r, s, &w);
  for (uint32_t i = 0; i < n; i++) {
    made[i] = likely_class(rows, s->head, &w, i);
    w.todo[n_todo] = i;
    n_todo += made[i] == EG_NONE;
  }
  for (uint32_t k = 0; k < n_todo; k++) {
    uint32_t i = w.todo[k];
    made[i] = add_unlikely(r, s, &w, i, EG_NONE);
    if (made[i] == EG_NONE)
      return false;
  }
  return true;
}

/* Lists the matches whose last node is not where it shall be; with a journal
 * all, for it takes note of each. */
static uint32_t
list_todo(eg_runner *r, const eg_step *s, const uint32_t *into, uint32_t *made,
          eg_wanted *w) {
  eg_graph *g = r->g;
  const eg_row *rows = g->rows;
  const eg_class_row *classes = g->classes;
  uint32_t n = r->n_ready, n_todo = 0;
  bool all = g->journal;
  for (uint32_t i = 0; i < n; i++, into += r->stride) {
    uint32_t cls = made[i] = likely_class(rows, s->head, w, i), to = *into;
    w->todo[n_todo] = i;
    if (cls != EG_NONE && cls != to) {
      cls = classes[cls].up == cls ? cls : eg_root(g, cls);
      to = classes[to].up == to ? to : eg_root(g, to);
    }
    n_todo += cls != to || all;
  }
  return n_todo;
}

/* The last step, whose nodes join the classes that the rule names. */
static bool
build_plain_last(eg_runner *r, const eg_code *c, uint32_t step) {
  eg_graph *g = r->g;
  const eg_step *s = &c->steps[step];
  uint32_t *made = made_at(r, step);
  const uint32_t *at =
      r->ready + (c->slot == EG_NONE ? 0 : EG_MATCH_HEAD + c->slot);
  eg_wanted w;
  want(r, s, &w);
  uint32_t n_todo = list_todo(r, s, at, made, &w);
  for (uint32_t k = 0; k < n_todo; k++) {
    uint32_t i = w.todo[k], cls = made[i];
    uint32_t into = eg_root(g, at[(size_t)i * r->stride]);
    if (cls == EG_NONE)
      cls = add_unlikely(r, s, &w, i, into);
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
build_step(eg_runner *r, const eg_code *c, uint32_t step, eg_reason why) {
  const eg_step *s = &c->steps[step];
  bool last = step + 1 == c->n;
  if (s->node->is_slot) {
    if (last || !c->plain)
      build_slots(r, c, step, why);
    return true;
  }
  if (!eg_step_is_plain(s))
    return build_any(r, c, step, why);
  return last ? build_plain_last(r, c, step) : build_plain(r, c, step);
}

/* Builds what is ready; false when a node or a union was refused. */
bool
eg_build_ready(eg_runner *r, uint32_t k) {
  const eg_rule *rule = &r->rules[k];
  eg_reason why = {rule->id, 0};
  r->g->now.rule = rule->id;
  eg_reserve(r->g, (uint64_t)r->n_ready * r->states[k].most_nodes, 0);
  if (r->g->journal)
    eg_journal_batch(r->g, rule->id, r->ready, r->stride,
                     rule->guard ? rule->n_slots : rule->pattern->n_slots,
                     r->n_ready);
  for (uint32_t i = 0; i < rule->n_results; i++) {
    const eg_code *c = &r->states[k].codes[i];
    if (r->g->journal)
      r->g->journal->result = i;
    for (uint32_t step = 0; step < c->n; step++)
      if (!build_step(r, c, step, why))
        return false;
  }
  if (r->g->journal)
    eg_journal_batch_over(r->g);
  return !r->g->fault;
}
