/* SPDX-License-Identifier: MIT */
/* run.c - iterations, schedulers, limits.
 *
 * In an iteration each rule is searched on the index of the rebuilt graph, and
 * its matches are applied while the search goes on: applying changes neither
 * the index nor the rows it names, so all rules see the graph as it was, as if
 * all had been collected first, and the matches waiting stay few.  Rules whose
 * guards look at the unfinished graph come first, then congruence may be
 * restored while the others are applied.
 *
 * Back-off (as egg defines it): a rule with more than `backoff_matches` <<
 * times-banned matches is banned for `backoff_ban` << times-banned iterations
 * and its matches are dropped; when an iteration changed nothing while rules
 * are banned, all bans move so that the first one ends. */
#include "base/file.h"
#include "base/governor.h"
#include "egraph/match_buffer.h"
#include <assert.h>

const char *
eg_stop_name(eg_stop s) {
  static const char *const names[] = {
      "saturated",    "iteration limit", "node limit",
      "memory limit", "time limit",      "interrupted",
      "work limit",   "client stop",     "fault"};
  return s <= EG_STOP_FAULT ? names[s] : "unknown";
}

void
eg_run_defaults(eg_run_options *o) {
  *o = (eg_run_options){.iterations = 30,
                        .nodes = 1000000,
                        .seconds = 60,
                        .work = (uint64_t)1 << 29,
                        .scheduler = EG_SIMPLE,
                        .backoff_matches = 1000,
                        .backoff_ban = 5};
}

eg_runner *
eg_runner_new(bs_heap *heap, eg_graph *g, const eg_rule *rules,
              uint32_t n_rules, const eg_run_options *options) {
  assert(g && (rules || !n_rules));
  eg_runner *r = bs_calloc(heap, 1, sizeof *r);
  r->heap = heap;
  r->g = g;
  r->rules = rules;
  r->n_rules = n_rules;
  if (options)
    r->o = *options;
  else
    eg_run_defaults(&r->o);
  r->states = bs_calloc(heap, n_rules + 1, sizeof *r->states);
  r->stats = bs_calloc(heap, n_rules + 1, sizeof *r->stats);
  r->due = bs_calloc(heap, n_rules + 1, sizeof *r->due);
  r->fault_rule = EG_BY_CLIENT;
  r->governor = bs_governor_of(heap);
  eg_apply_init(r);
  return r;
}

void
eg_runner_free(eg_runner *r) {
  if (!r)
    return;
  eg_apply_done(r);
  bs_free(r->heap, r->due);
  bs_vec_done(r->heap, &r->iterations);
  bs_vec_done(r->heap, &r->matches);
  bs_free(r->heap, r->states);
  bs_free(r->heap, r->stats);
  bs_free(r->heap, r);
}

const eg_rule_stats *
eg_runner_stats(const eg_runner *r) {
  return r->stats;
}

void
eg_runner_credit(eg_runner *r, const eg_runner *other) {
  for (uint32_t k = 0; k < r->n_rules && k < other->n_rules; k++) {
    eg_rule_stats *sum = &r->stats[k];
    const eg_rule_stats *one = &other->stats[k];
    sum->searches += one->searches;
    sum->matches += one->matches;
    sum->applied += one->applied;
    sum->refused += one->refused;
    sum->nodes += one->nodes;
    sum->unions += one->unions;
    sum->banned += one->banned;
    sum->search_s += one->search_s;
    sum->apply_s += one->apply_s;
  }
}

const eg_iteration *
eg_runner_iterations(const eg_runner *r, uint32_t *n) {
  *n = r->iterations.len;
  return r->iterations.data;
}

void
eg_runner_limit(eg_runner *r, uint32_t iterations, uint32_t nodes, size_t bytes,
                double seconds) {
  r->o.iterations = iterations;
  r->o.nodes = nodes;
  r->o.bytes = bytes;
  r->o.seconds = seconds;
}

double
eg_runner_seconds(const eg_runner *r) {
  return r->spent;
}

uint32_t
eg_runner_fault_rule(const eg_runner *r) {
  return r->fault_rule;
}

/* --- limits ------------------------------------------------------------ */

void
eg_cut(eg_runner *r, eg_stop why) {
  assert(why <= EG_STOP_FAULT);
  if (r->cut)
    return;
  r->cut = true;
  r->why = why;
}

bool
eg_within_limits(eg_runner *r) {
  const eg_run_options *o = &r->o;
  if (o->interrupt && *o->interrupt)
    eg_cut(r, EG_STOP_INTERRUPT);
  else if (o->seconds > 0 && r->spent + bs_now() - r->begun > o->seconds)
    eg_cut(r, EG_STOP_TIME);
  else if (o->bytes && r->g->heap->used > r->g->limit)
    eg_cut(r, EG_STOP_BYTES);
  else if (bs_stage_over(r->governor))
    eg_cut(r, r->governor->stage.over == BS_OUT_OF_TIME ? EG_STOP_TIME
                                                        : EG_STOP_BYTES);
  return !r->cut;
}

static bool
tick(void *ctx, uint64_t steps) {
  eg_runner *r = ctx;
  if (steps > r->work)
    eg_cut(r, EG_STOP_WORK);
  return eg_within_limits(r);
}

/* --- searching a rule -------------------------------------------------- */

static uint64_t
threshold(const eg_runner *r, const eg_rule_state *s) {
  uint32_t shift = s->times_banned < 40 ? s->times_banned : 40;
  return (uint64_t)r->o.backoff_matches << shift;
}

eg_search_options
eg_search_how(eg_runner *r, uint32_t k) {
  assert(k < r->n_rules);
  const eg_rule *rule = &r->rules[k];
  const eg_rule_state *s = &r->states[k];
  eg_search_options how = {.only_class = EG_NONE, .tick = tick, .tick_ctx = r};
  if ((!rule->guard || rule->steady) && !r->o.full_search)
    how.since = s->since;
  if (r->o.scheduler == EG_BACKOFF)
    how.limit = threshold(r, s);
  how.grounds = s->grounds;
  how.grounds_newest = s->grounds_newest;
  return how;
}

/* Has nothing changed that its pattern looks at since the rule was searched?
 * Then nothing is fresh to it, and its matches are as many as they were. */
static bool
is_unchanged(eg_runner *r, uint32_t k) {
  assert(k < r->n_rules);
  const eg_pattern *p = r->rules[k].pattern;
  const eg_rule_state *s = &r->states[k];
  const eg_index *x = &r->g->index;
  uint32_t since = eg_since(r->g, eg_search_how(r, k).since);
  if (!since || s->grounds_missing || s->grounds_newest >= since)
    return false;
  for (uint32_t i = 0; i < p->atoms.len; i++) {
    const eg_atom *a = &p->atoms.data[i];
    if (a->kind == EG_ATOM_CLASSES)
      return false;
    if (a->kind == EG_ATOM_SAME)
      continue;
    uint32_t symbol = eg_symbol_find(r->g, a->op, a->arity);
    if (symbol < x->symbols && x->uses.data[symbol].epoch >= since)
      return false;
  }
  return true;
}

static void
ban(eg_runner *r, uint32_t k, uint32_t iteration) {
  eg_rule_state *s = &r->states[k];
  uint32_t shift = s->times_banned < 40 ? s->times_banned : 40;
  s->banned_until = iteration + ((uint64_t)r->o.backoff_ban << shift);
  s->times_banned++;
}

static bool
exhausted(const eg_runner *r, uint32_t k) {
  uint64_t limit = r->rules[k].match_limit;
  return limit && r->states[k].emitted >= limit;
}

/* Searches a rule and applies what it found. */
static void
run_rule(eg_runner *r, uint32_t k, eg_iteration *it) {
  eg_rule_state *s = &r->states[k];
  bool backoff = r->o.scheduler == EG_BACKOFF;
  eg_match_buffer c;
  eg_search_options how = eg_search_how(r, k);
  uint64_t applied = r->stats[k].applied;
  uint32_t epoch = eg_now(r->g);
  double t = bs_now();
  uint64_t n = 0;
  eg_match_buffer_open(&c, r, k, backoff);
  if (is_unchanged(r, k))
    n = s->count;
  else if (!s->grounds_missing)
    n = eg_search_with(r->g, r->rules[k].pattern, &how, &c.sink, NULL);
  if (backoff && !r->cut && (c.banned || n > how.limit)) {
    ban(r, k, it->index);
    c.sink.at = r->matches.data;
    n = 0;
  }
  eg_match_buffer_flush(&c);
  if (r->cut && r->why == EG_STOP_WORK)
    r->fault_rule = r->rules[k].id;
  double all = bs_now() - t - c.restore_s;
  if (!r->cut && (!backoff || s->banned_until <= it->index)) {
    s->since = epoch;
    s->count = n;
  }
  r->stats[k].searches++;
  r->stats[k].matches += n;
  r->stats[k].apply_s += c.apply_s;
  r->stats[k].search_s += all - c.apply_s;
  it->matches += n;
  it->applied += r->stats[k].applied - applied;
  it->apply_s += c.apply_s;
  it->rebuild_s += c.restore_s;
  it->search_s += all - c.apply_s;
}

/* --- an iteration ------------------------------------------------------ */

/* True when no rule is banned; else the bans move. */
static bool
bans_over(eg_runner *r, uint32_t iteration) {
  uint64_t first = UINT64_MAX;
  for (uint32_t k = 0; k < r->n_rules; k++) {
    uint64_t until = r->states[k].banned_until;
    if (until > iteration && until < first)
      first = until;
  }
  if (first == UINT64_MAX)
    return true;
  for (uint32_t k = 0; k < r->n_rules; k++)
    if (r->states[k].banned_until > iteration)
      r->states[k].banned_until -= first - iteration;
  return false;
}

/* Before anything is applied. */
static void
find_all_grounds(eg_runner *r, const uint8_t *enabled) {
  for (uint32_t k = 0; k < r->n_rules; k++) {
    eg_rule_state *s = &r->states[k];
    if (!enabled || enabled[k])
      s->grounds_missing = !eg_find_grounds(r->g, r->rules[k].pattern,
                                            s->grounds, &s->grounds_newest);
  }
}

static bool
is_watching(const eg_rule *rule) {
  return rule->guard && !rule->steady;
}

/* Lists the rules whose guards look at the unfinished graph, or all others. */
static uint32_t
list_due(eg_runner *r, const uint8_t *enabled, const eg_iteration *it,
         bool watching, uint32_t n) {
  for (uint32_t k = 0; k < r->n_rules; k++) {
    if (is_watching(&r->rules[k]) != watching)
      continue;
    if ((enabled && !enabled[k]) || exhausted(r, k))
      continue;
    if (r->states[k].banned_until > it->index)
      r->stats[k].banned++;
    else
      r->due[n++] = k;
  }
  return n;
}

static void
run_due(eg_runner *r, uint32_t from, uint32_t to, eg_iteration *it) {
  for (uint32_t i = from; i < to && !r->cut; i++) {
    run_rule(r, r->due[i], it);
    eg_within_limits(r);
  }
}

/* How many nodes the next iteration adds, where growth has slowed down over the
 * last two: by the factor that it fell by; else many. */
static uint64_t
expect_few(const eg_runner *r) {
  uint32_t n = r->iterations.len;
  const eg_iteration *it = r->iterations.data;
  if (n < 3)
    return UINT64_MAX;
  int64_t last = (int64_t)it[n - 1].nodes - it[n - 2].nodes;
  int64_t before = (int64_t)it[n - 2].nodes - it[n - 3].nodes;
  if (last <= 0)
    return 0;
  return last < before ? (uint64_t)(last * last / before) : UINT64_MAX;
}

static void
run_rules(eg_runner *r, const uint8_t *enabled, eg_iteration *it) {
  double t = bs_now();
  uint64_t work = r->o.work;
  r->work = work ? work + (work >> 18) * r->g->live_nodes : UINT64_MAX;
  r->g->now = (eg_origin){EG_BY_CLIENT, EG_NO_NODE};
  if (!r->g->index.valid) {
    bs_vec_done(r->heap, &r->matches);
    eg_compact(r->g, expect_few(r));
  }
  eg_index_of(r->g);
  find_all_grounds(r, enabled);
  r->g->pins++;
  uint32_t watching = list_due(r, enabled, it, true, 0);
  uint32_t n = list_due(r, enabled, it, false, watching);
  eg_apply_begin(r);
  it->search_s += bs_now() - t;
  r->unwatched = false;
  run_due(r, 0, watching, it);
  r->unwatched = true;
  run_due(r, watching, n, it);
  r->g->pins--;
}

static void
rebuild(eg_runner *r, eg_iteration *it) {
  double t = bs_now();
  eg_index_give_back(r->g);
  eg_rebuild(r->g);
  it->rebuild_s += bs_now() - t;
  it->nodes = r->g->live_nodes;
  it->classes = r->g->live_classes;
  if (r->g->fault) {
    r->cut = true;
    r->why = EG_STOP_FAULT;
  }
}

/* The nodes counted while applying include equal ones: when a rebuild brings
 * them well below the limit, the run may go on. */
static void
forgive(eg_runner *r) {
  uint32_t limit = r->o.nodes;
  if (r->cut && r->cut_nodes && r->why == EG_STOP_NODES && !r->g->fault &&
      r->g->live_nodes <= limit - limit / 16)
    r->cut = false;
}

/* The nodes after this iteration, where growth has not slowed down: what was
 * added grows by the factor it grew by and, where no rule is banned now and
 * then, that factor as it did, if not by more than 8/5.  Then the hashcons is
 * filled anew once, and not at many small steps.  0: unknown. */
static uint64_t
expect(const eg_runner *r) {
  enum { SEEN = 4, MOST = 16 };
  bool bans = r->o.scheduler == EG_BACKOFF;
  double more[SEEN] = {0}, most = bans ? 1 : 1.6;
  uint32_t n = r->iterations.len;
  if (n < SEEN)
    return EG_EARLY;
  const eg_iteration *it = &r->iterations.data[n - SEEN];
  for (uint32_t i = 1; i < SEEN; i++) {
    if (it[i].nodes <= it[i - 1].nodes)
      return 0;
    more[i] = (double)it[i].nodes - it[i - 1].nodes;
  }
  double factor = more[3] / more[2], faster = factor * more[1] / more[2];
  if (faster < 1)
    return 0;
  factor *= faster < most ? faster : most;
  double all = it[3].nodes + more[3] * (factor < MOST ? factor : MOST);
  all += all / (bans ? 4 : 3);
  return r->o.nodes && all > r->o.nodes ? r->o.nodes : (uint64_t)all;
}

static bool
run_iteration(eg_runner *r, const uint8_t *enabled) {
  eg_graph *g = r->g;
  eg_iteration it = {.index = r->iterations.len};
  uint64_t made = g->n_made;
  uint64_t unions = g->unions;
  bs_reserve(r->heap, &r->iterations, (uint64_t)it.index + 1);
  r->cut_nodes = false;
  g->expected = expect(r);
  if (!eg_fits(g, 0))
    eg_cut(r, EG_STOP_BYTES);
  else
    run_rules(r, enabled, &it);
  bool changed = g->n_made != made || g->unions != unions || r->cut;
  rebuild(r, &it);
  g->expected = 0;
  it.unions = (uint32_t)(g->unions - unions);
  bs_push(r->heap, &r->iterations, it);
  forgive(r);
  const eg_iteration *last = &bs_last(&r->iterations);
  if (!changed && bans_over(r, it.index))
    eg_cut(r, EG_STOP_SATURATED);
  if (r->o.nodes && g->live_nodes > r->o.nodes)
    eg_cut(r, EG_STOP_NODES);
  if (r->o.progress && !r->o.progress(r->o.progress_ctx, g, last))
    eg_cut(r, EG_STOP_CLIENT);
  eg_within_limits(r);
  return !r->cut;
}

typedef struct eg_call {
  eg_runner *r;
  const uint8_t *enabled;
  uint32_t iterations;
} eg_call;

static void
run_call(void *arg) {
  eg_call *c = arg;
  eg_runner *r = c->r;
  eg_rebuild(r->g);
  if (r->g->fault)
    eg_cut(r, EG_STOP_FAULT);
  for (uint32_t i = 0; !r->cut; i++) {
    uint32_t done = r->iterations.len;
    if ((c->iterations && i >= c->iterations) ||
        (r->o.iterations && done >= r->o.iterations) || done == UINT32_MAX)
      eg_cut(r, EG_STOP_ITERATIONS);
    else
      run_iteration(r, c->enabled);
  }
}

static void
tidy(void *arg) {
  eg_runner *r = arg;
  r->g->pins = 0;
  bs_vec_done(r->heap, &r->matches);
  eg_rebuild(r->g);
}

/* When memory runs out, what was built so far is put in order, for which the
 * waiting matches are given back. */
eg_stop
eg_run_some(eg_runner *r, const uint8_t *enabled, uint32_t iterations) {
  assert(!r->g->pins);
  eg_call call = {r, enabled, iterations};
  r->begun = bs_now();
  r->cut = false;
  r->g->limit = r->o.bytes;
  if (!bs_protect(r->heap, run_call, &call)) {
    bool late = bs_stage_late(r->governor);
    r->why = late ? EG_STOP_TIME : EG_STOP_BYTES;
    tidy(r);
  }
  r->g->limit = r->g->expected = 0;
  r->spent += bs_now() - r->begun;
  return r->why;
}
