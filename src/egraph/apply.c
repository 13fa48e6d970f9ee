/* SPDX-License-Identifier: MIT */
/* apply.c - matches applied: guard, right sides, union.
 *
 * Matches are built in batches (batch.c).  A match whose guard may change its
 * mind is built before the next one is asked. */
#include "base/file.h"
#include "egraph/runner.h"
#include <assert.h>
#include <string.h>

/* --- right sides prepared ---------------------------------------------- */

static eg_step
step_of(eg_runner *r, const eg_term *t, const eg_term_node *n,
        const uint32_t *step_at) {
  bool fixed = !n->is_slot &&
               (n->attr.kind == EG_ATTR_VALUE || n->attr.kind == EG_ATTR_ANY);
  bs_value v = n->attr.kind == EG_ATTR_VALUE ? n->attr.value : BS_NIL;
  eg_step s = {.node = n, .head = EG_NONE};
  if (fixed)
    s.head = eg_head_intern(r->g, n->op, v, n->n_kids);
  for (uint32_t k = 0; !n->is_slot && k < n->n_kids && k < 2; k++) {
    const eg_term_node *kid = &t->nodes[n->kids[k]];
    s.from[k].is_word = kid->is_slot;
    s.from[k].at =
        kid->is_slot ? EG_MATCH_HEAD + kid->slot : step_at[n->kids[k]];
  }
  return s;
}

/* Where all nodes are plain, variables are read from the match and are no
 * steps, but where the right side is one. */
static void
code_init(eg_runner *r, const eg_result *result, eg_code *c) {
  const eg_term *t = &result->term;
  uint32_t *step_at = bs_calloc(r->heap, t->n, sizeof *step_at), n_slots = 0;
  c->slot = result->slot;
  c->plain = true;
  for (uint32_t i = 0; i < t->n; i++) {
    eg_step s = step_of(r, t, &t->nodes[i], step_at);
    c->plain = c->plain && (s.node->is_slot || eg_step_is_plain(&s));
    n_slots += s.node->is_slot && i + 1 < t->n;
  }
  c->steps =
      bs_calloc(r->heap, t->n - (c->plain ? n_slots : 0), sizeof *c->steps);
  for (uint32_t i = 0; i < t->n; i++) {
    bool left_out = c->plain && t->nodes[i].is_slot && i + 1 < t->n;
    step_at[i] = c->n;
    if (!left_out)
      c->steps[c->n++] = step_of(r, t, &t->nodes[i], step_at);
  }
  bs_free(r->heap, step_at);
}

/* Counts what a right side adds at most; the most children of a node so far. */
static uint32_t
count_made(eg_rule_state *s, const eg_code *c, uint32_t kids) {
  for (uint32_t i = 0; i < c->n; i++) {
    const eg_term_node *node = c->steps[i].node;
    if (node->is_slot)
      continue;
    s->most_nodes++;
    s->most_classes += i + 1 < c->n;
    kids = node->n_kids > kids ? node->n_kids : kids;
  }
  return kids;
}

static uint32_t *
guarded_room(eg_runner *r, uint32_t *had, uint32_t matches) {
  size_t words = (size_t)matches * (EG_MATCH_HEAD + r->most_slots);
  return bs_realloc(r->heap, had, words * sizeof *had);
}

void
eg_apply_init(eg_runner *r) {
  uint32_t slots = 1, nodes = 1, kids = 1;
  uint32_t batch = 1; /* of guarded matches */
  for (uint32_t k = 0; k < r->n_rules; k++) {
    const eg_rule *rule = &r->rules[k];
    eg_rule_state *s = &r->states[k];
    s->stride = EG_MATCH_HEAD + rule->pattern->n_slots;
    if (rule->guard && rule->steady)
      batch = EG_BATCH;
    s->rate = 1;
    if (rule->n_slots > slots)
      slots = rule->n_slots;
    if (rule->pattern->n_slots > slots)
      slots = rule->pattern->n_slots;
    if (rule->pattern->grounds.len)
      s->grounds =
          bs_calloc(r->heap, rule->pattern->grounds.len, sizeof *s->grounds);
    if (rule->n_results)
      s->codes = bs_calloc(r->heap, rule->n_results, sizeof *s->codes);
    for (uint32_t i = 0; i < rule->n_results; i++) {
      code_init(r, &rule->results[i], &s->codes[i]);
      if (s->codes[i].n > nodes)
        nodes = s->codes[i].n;
      kids = count_made(s, &s->codes[i], kids);
    }
  }
  r->most_slots = slots;
  r->guarded = guarded_room(r, NULL, batch);
  r->slots = bs_calloc(r->heap, slots, sizeof *r->slots);
  r->given = bs_calloc(r->heap, slots, sizeof *r->given);
  r->most_steps = nodes;
  r->kids = bs_calloc(r->heap, kids, sizeof *r->kids);
}

/* Matches of a group: more in a large graph, so that room and limits are asked
 * for less often.  Classes are united after a group, so what its matches add
 * twice is repaired; where a union has more to it, groups are small. */
static uint32_t
group_size(const eg_runner *r) {
  const eg_analysis *a = &r->g->analysis;
  uint32_t n = r->g->live_nodes / 64;
  if (a->make || a->size || a->modify)
    n = EG_BATCH;
  if (r->o.group)
    n = r->o.group;
  n = n < EG_GROUP_MOST ? n - n % EG_BATCH : EG_GROUP_MOST;
  return n < EG_BATCH ? EG_BATCH : n;
}

void
eg_apply_begin(eg_runner *r) {
  r->group = group_size(r);
  assert(r->group >= EG_BATCH && r->group <= EG_GROUP_MOST);
  r->n_ready = 0; /* memory may have run out in the middle of a group */
  bs_clear(&r->equal);
  bs_reserve(r->heap, &r->made, (uint64_t)r->most_steps * r->group);
}

void
eg_apply_done(eg_runner *r) {
  for (uint32_t k = 0; k < r->n_rules; k++) {
    for (uint32_t i = 0; i < r->rules[k].n_results; i++)
      bs_free(r->heap, r->states[k].codes[i].steps);
    bs_free(r->heap, r->states[k].codes);
    bs_free(r->heap, r->states[k].grounds);
  }
  bs_free(r->heap, r->guarded);
  bs_free(r->heap, r->slots);
  bs_free(r->heap, r->given);
  bs_vec_done(r->heap, &r->made);
  bs_vec_done(r->heap, &r->equal);
  bs_free(r->heap, r->kids);
}

/* --- matches made ready ------------------------------------------------ */

/* How many matches may be built at once: all of them see the same state of the
 * limits, so near one they go one by one. */
static uint32_t
batch_size(const eg_runner *r, uint32_t k) {
  const eg_rule *rule = &r->rules[k];
  uint64_t n = r->group;
  if (rule->guard)
    n = rule->steady ? EG_BATCH : 1;
  if (r->o.nodes) {
    uint64_t live = r->g->live_nodes;
    uint64_t room = r->o.nodes > live ? r->o.nodes - live : 0;
    uint64_t most = room / (r->states[k].most_nodes + 1);
    n = most < n ? most : n;
  }
  return n ? (uint32_t)n : 1;
}

static void
make_ready(eg_runner *r, const eg_rule *rule, const uint32_t *match,
           const uint32_t *slots) {
  assert(r->n_ready < EG_BATCH && rule->n_slots <= r->most_slots);
  uint32_t *to = r->guarded + (size_t)r->n_ready++ * r->stride;
  memcpy(to, match, EG_MATCH_HEAD * sizeof *to);
  memcpy(to + EG_MATCH_HEAD, slots, rule->n_slots * sizeof *to);
}

static void
look_at_nodes(eg_runner *r) {
  if (!r->o.nodes || r->g->live_nodes <= r->o.nodes)
    return;
  r->cut_nodes = true;
  eg_cut(r, EG_STOP_NODES);
}

static void
take_slots(eg_runner *r, const eg_rule *rule, const uint32_t *match) {
  const eg_pattern *p = rule->pattern;
  assert(p->n_slots <= rule->n_slots && rule->n_slots <= r->most_slots);
  for (uint32_t i = 0; i < rule->n_slots; i++) {
    uint32_t v = i < p->n_slots ? match[EG_MATCH_HEAD + i] : EG_NONE;
    bool is_class = i < p->n_slots && p->class_slot[i] && v != EG_NONE;
    r->given[i] = is_class ? eg_root(r->g, v) : v;
  }
}

static void
stop_unsound(eg_runner *r, uint32_t k) {
  r->fault_rule = r->rules[k].id;
  eg_cut(r, EG_STOP_FAULT);
}

static void
build_when_due(eg_runner *r, uint32_t k) {
  assert(r->n_ready <= EG_BATCH && r->ready == r->guarded);
  if (r->n_ready < batch_size(r, k))
    return;
  if (!eg_build_ready(r, k))
    stop_unsound(r, k);
  r->n_ready = 0;
  look_at_nodes(r);
}

/* Guards see the slots afresh at each alternative. */
static void
apply_guarded(eg_runner *r, uint32_t k, const uint32_t *match) {
  const eg_rule *rule = &r->rules[k];
  size_t size = rule->n_slots * sizeof *r->slots;
  bool emitted = false;
  take_slots(r, rule, match);
  for (uint32_t i = 0; !r->cut; i++) {
    memcpy(r->slots, r->given, size);
    r->g->now = (eg_origin){rule->id, {match[1]}};
    eg_guard_result got = rule->guard(rule->guard_ctx, r->g, r->slots, i);
    if (got == EG_GUARD_EMIT) {
      emitted = true;
      make_ready(r, rule, match, r->slots);
      build_when_due(r, k);
    }
    if (got == EG_GUARD_END || !rule->alternatives)
      break;
  }
  r->stats[k].applied += emitted;
  r->stats[k].refused += !emitted;
  r->states[k].emitted += emitted;
}

static uint32_t
within_match_limit(const eg_runner *r, uint32_t k, uint32_t n) {
  uint64_t limit = r->rules[k].match_limit, left;
  if (!limit)
    return n;
  left = limit > r->states[k].emitted ? limit - r->states[k].emitted : 0;
  return left < n ? (uint32_t)left : n;
}

/* Matches of a rule without a guard are built where they stand. */
static void
apply_plain(eg_runner *r, uint32_t k, const uint32_t *match, uint32_t n) {
  assert(!r->rules[k].guard);
  n = within_match_limit(r, k, n);
  r->stride = r->states[k].stride;
  for (uint32_t at = 0; at < n && !r->cut; at += r->n_ready) {
    uint32_t most = batch_size(r, k);
    r->ready = match + (size_t)at * r->stride;
    r->n_ready = n - at < most ? n - at : most;
    r->stats[k].applied += r->n_ready;
    r->states[k].emitted += r->n_ready;
    if (!eg_build_ready(r, k))
      stop_unsound(r, k);
    else
      look_at_nodes(r);
  }
  r->n_ready = 0;
}

static void
apply_all_guarded(eg_runner *r, uint32_t k, const uint32_t *match, uint32_t n) {
  uint32_t stride = r->states[k].stride;
  r->stride = EG_MATCH_HEAD + r->most_slots;
  r->ready = r->guarded;
  for (uint32_t i = 0; i < n && !r->cut; i++)
    if (within_match_limit(r, k, 1))
      apply_guarded(r, k, match + (size_t)i * stride);
  if (r->n_ready && !r->cut && !eg_build_ready(r, k))
    stop_unsound(r, k);
  r->n_ready = 0;
}

/* Once no guard is left that looks at the unfinished graph, congruence is
 * restored as soon as much waits for it: then fewer nodes are built that turn
 * out equal.  A fault found here is no rule's, as in the rebuild. */
static void
restore(eg_runner *r) {
  const eg_graph *g = r->g;
  if (!r->unwatched || r->cut || g->n_pool ||
      g->merged.len <= 32 + g->live_classes / 256)
    return;
  double t = bs_now();
  eg_restore(r->g);
  r->restore_s += bs_now() - t;
  if (g->fault)
    eg_cut(r, EG_STOP_FAULT);
}

static void
apply_some(eg_runner *r, uint32_t k, const uint32_t *match, uint32_t n) {
  if (r->rules[k].guard)
    apply_all_guarded(r, k, match, n);
  else
    apply_plain(r, k, match, n);
  restore(r);
}

static bool
fits(eg_runner *r, uint32_t k, uint32_t n) {
  bool ok = eg_fits(r->g, (uint64_t)n * r->states[k].most_nodes);
  if (!ok)
    eg_cut(r, EG_STOP_BYTES);
  return ok;
}

void
eg_apply_matches(eg_runner *r, uint32_t k) {
  assert(k < r->n_rules && r->matches.len % r->states[k].stride == 0);
  uint32_t stride = r->states[k].stride;
  uint32_t n = r->matches.len / stride;
  uint64_t nodes = r->g->n_made, unions = r->g->unions;
  for (uint32_t at = 0, some; at < n && !r->cut; at += some) {
    some = n - at < r->group ? n - at : r->group;
    if (some > EG_BATCH &&
        !eg_fits(r->g, (uint64_t)some * r->states[k].most_nodes))
      some = EG_BATCH;
    if (!fits(r, k, some))
      break;
    apply_some(r, k, r->matches.data + (size_t)at * stride, some);
    eg_within_limits(r);
  }
  bs_clear(&r->matches);
  r->g->now = (eg_origin){EG_BY_CLIENT, EG_NO_NODE};
  r->stats[k].nodes += r->g->n_made - nodes;
  r->stats[k].unions += r->g->unions - unions;
}
