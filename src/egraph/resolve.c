/* resolve.c - right sides looked up ahead of their turn.
 *
 * A batch of matches goes step by step through the right side, as when they
 * are built (batch.c), but nothing is added: a match whose node is not there,
 * or whose last node is in another class, is not known. */
#include "egraph/resolve.h"
#include "egraph/lookup.h"
#include <string.h>

enum { SOME = 16 }; /* fewer than one in so many: they are not worth it */

/* --- rules ------------------------------------------------------------- */

/* Nodes of a right side but the last. */
static uint32_t
count_inner(const eg_code *c) {
  uint32_t n = 0;
  for (uint32_t k = 0; k + 1 < c->n; k++)
    n += !c->steps[k].node->is_slot;
  return n;
}

static void
add_named(eg_rule_state *s, uint32_t word) {
  for (uint32_t i = 0; i < s->n_named; i++)
    if (s->named[i] == word)
      return;
  s->named[s->n_named++] = word;
}

/* The words of a match that its right sides name children by. */
static void
name_words(eg_rule_state *s, const eg_code *c) {
  for (uint32_t k = 0; k < c->n; k++) {
    const eg_step *step = &c->steps[k];
    for (uint32_t j = 0; !step->node->is_slot && j < step->node->n_kids; j++)
      if (step->from[j].is_word)
        add_named(s, step->from[j].at);
  }
}

/* Between the look at a group's matches and their last step nothing may be
 * united, or a match that was known could have become another: so there is one
 * right side, and `modify` has no node to be called for before that step. */
static bool
may_resolve(const eg_graph *g, const eg_rule *rule, const eg_code *c) {
  bool one = !rule->guard && rule->n_results == 1 && c->plain;
  return one && (!g->analysis.modify || !count_inner(c));
}

void
eg_resolve_init(eg_runner *r) {
  bool asked = r->g->origins || r->g->journal;
  for (uint32_t k = 0; k < r->n_rules && !asked; k++) {
    eg_rule_state *s = &r->states[k];
    s->resolves = may_resolve(r->g, &r->rules[k], s->codes);
    if (!s->resolves)
      continue;
    s->named = bs_calloc(r->heap, s->stride, sizeof *s->named);
    s->n_inner = count_inner(s->codes);
    s->rate = 4;
    name_words(s, s->codes);
  }
}

void
eg_resolve_done(eg_runner *r) {
  for (uint32_t k = 0; k < r->n_rules; k++)
    bs_free(r->heap, r->states[k].named);
}

size_t
eg_resolve_scratch(const eg_runner *r, uint32_t k) {
  return (size_t)r->states[k].codes->n * EG_BATCH;
}

size_t
eg_resolve_room(const eg_runner *r, uint32_t k, uint32_t n) {
  const eg_rule_state *s = &r->states[k];
  return EG_RECORD_HEAD + (size_t)n * (s->stride + s->n_inner) + EG_SINK_SLACK;
}

/* --- looking up -------------------------------------------------------- */

static inline uint32_t
root(const eg_graph *g, uint32_t c) {
  return eg_leads(g, c) ? c : eg_root_frozen(g, c);
}

/* The class that holds what a step of match i wants, which the likely node is
 * not; EG_NONE: there is none. */
static uint32_t
unlikely_class(const eg_graph *g, const eg_step *s, const eg_wanted *w,
               uint32_t i) {
  eg_key key = eg_wanted_key(s, w, i);
  uint32_t node = eg_table_find(g, &key, w->hashes[i], EG_NONE, NULL);
  return node == EG_NONE ? EG_NONE : g->rows[node].cls;
}

/* The nodes of a step that is not the last.  Matches whose node is not there go
 * on with any class; returns how many others there are. */
static uint32_t
look_up(const eg_batch *b, const eg_step *s, uint32_t *made, uint8_t *known) {
  uint32_t left = 0;
  eg_wanted w;
  eg_want(b, s, &w);
  for (uint32_t i = 0; i < b->n; i++) {
    uint32_t cls = eg_likely_class(b->g, s, &w, i);
    if (cls == EG_NONE && known[i])
      cls = unlikely_class(b->g, s, &w, i);
    known[i] &= cls != EG_NONE;
    made[i] = cls == EG_NONE ? 0 : root(b->g, cls);
    left += known[i];
  }
  return left;
}

/* The nodes of the last step: where they are in the classes wanted. */
static uint32_t
look_last_up(const eg_batch *b, const eg_step *s, const uint32_t *into,
             uint8_t *known) {
  uint32_t left = 0;
  eg_wanted w;
  eg_want(b, s, &w);
  for (uint32_t i = 0; i < b->n; i++, into += b->stride) {
    uint32_t cls = eg_likely_class(b->g, s, &w, i);
    if (cls == EG_NONE && known[i])
      cls = unlikely_class(b->g, s, &w, i);
    known[i] &= cls == *into ||
                (cls != EG_NONE && root(b->g, cls) == root(b->g, *into));
    left += known[i];
  }
  return left;
}

/* A right side that is a variable alone. */
static uint32_t
compare(const eg_batch *b, const uint32_t *is, const uint32_t *into,
        uint8_t *known) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < b->n; i++, is += b->stride, into += b->stride) {
    known[i] &= root(b->g, *is) == root(b->g, *into);
    left += known[i];
  }
  return left;
}

/* How many of a batch are known. */
static uint32_t
look_all_up(const eg_batch *b, const eg_code *c, uint8_t *known) {
  const eg_step *last = &c->steps[c->n - 1];
  uint32_t *slots = b->matches + EG_MATCH_HEAD;
  const uint32_t *into = c->slot == EG_NONE ? b->matches : slots + c->slot;
  uint32_t left = b->n, few = b->n / SOME;
  memset(known, 1, b->n);
  for (uint32_t k = 0; k + 1 < c->n && left > few; k++)
    if (!c->steps[k].node->is_slot)
      left = look_up(b, &c->steps[k], eg_made_at(b, k), known);
  if (left <= few)
    left = 0;
  else if (last->node->is_slot)
    left = compare(b, slots + last->node->slot, into, known);
  else
    left = look_last_up(b, last, into, known);
  if (!left)
    memset(known, 0, b->n);
  return left;
}

/* --- records ----------------------------------------------------------- */

void
eg_resolve(const eg_runner *r, uint32_t k, uint32_t *scratch, eg_record *out) {
  const eg_rule_state *s = &r->states[k];
  const eg_code *c = s->codes;
  eg_batch b = {r->g, out->words, s->stride, out->n, scratch, true};
  uint32_t *to = out->words + (size_t)out->n * s->stride;
  out->unions = r->g->unions;
  out->n_known = look_all_up(&b, c, out->known);
  for (uint32_t i = 0; i + 1 < c->n; i++)
    if (!c->steps[i].node->is_slot) {
      memcpy(to, eg_made_at(&b, i), out->n * sizeof *to);
      to += out->n;
    }
  out->length = EG_RECORD_HEAD + (uint32_t)(to - out->words);
  out->length += out->length % 2;
}
