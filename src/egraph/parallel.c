/* parallel.c - rules searched ahead on several threads.
 *
 * The roots of the rules still to be searched are cut into jobs, in the order
 * of the sequential search: rule by rule, newest classes first.  A window of
 * them is searched side by side while nothing changes the graph; then their
 * matches are handed on in that order, as if one thread had just found them,
 * and applied on the way, before the next window is searched.  What a search
 * may read is frozen while rules are applied, so the matches, their order, and
 * all that follows from them are the same whatever the number of threads.
 *
 * The matches of a window share so many chunks of memory.  A job that finds
 * none left stops where it is, and goes on when it is handed over, without a
 * buffer. */
#include "egraph/parallel.h"
#include "base/file.h"
#include "egraph/jobs.h"
#include "egraph/worth.h"
#include <stdatomic.h>
#include <string.h>

enum {
  WORTH = 1 << 12,   /* fewer roots are not worth waking threads */
  SHORTEST = 1 << 8, /* roots of a job; it begins with USUAL at most */
  USUAL = 1 << 12,
  LONGEST = 1 << 16,
  JOBS = 32,            /* a thread and window */
  ENOUGH = 1 << 14,     /* matches, as far as is known: the same */
  WORDS_MOST = 1 << 20, /* a thread and window */
  LAST = 4 /* jobs of a window to hand on when helpers are told of the next */
};

/* --- windows ----------------------------------------------------------- */

/* What this file holds is none of the graph's, so that limits are met in the
 * same place whatever the number of threads. */
static void
account(eg_ahead *a) {
  if (a->r->o.bytes)
    a->r->g->limit = a->r->o.bytes + a->r->extra + eg_crew_held(a->crew);
}

static void
drop_jobs(eg_ahead *a) {
  for (uint32_t i = 0; i < a->n_jobs; i++) {
    eg_chunks_give(&a->chunks, a->jobs[i].first);
    bs_heap_done(&a->jobs[i].heap);
  }
  a->n_jobs = a->at = 0;
  account(a);
}

/* How many roots have so many matches, as far as is known. */
static uint32_t
roots_of(const eg_ahead *a, uint32_t rule, uint32_t matches) {
  double n = matches / a->r->states[rule].rate;
  return n > LONGEST ? LONGEST : n < SHORTEST / 4 ? SHORTEST / 4 : (uint32_t)n;
}

static void
add_job(eg_ahead *a, uint32_t plan) {
  eg_plan *p = &a->plans[plan];
  eg_job *j = &a->jobs[a->n_jobs++];
  uint32_t left = p->left - p->from;
  uint32_t n = roots_of(a, p->rule, ENOUGH / (JOBS / 4));
  n = n < p->length ? n : p->length;
  *j = (eg_job){.plan = plan, .to = p->left};
  eg_crew_heap_init(a->crew, &j->heap);
  p->left -= left < n ? left : n;
  j->from = p->left;
  j->sink.stride = a->r->states[p->rule].stride;
}

static void
open_plan(eg_ahead *a, eg_plan *p) {
  uint32_t parts = 16 * eg_crew_size(a->crew);
  p->whole =
      eg_matcher_new(&a->heap, a->r->g, a->r->rules[p->rule].pattern, &p->how);
  p->left = eg_matcher_roots(p->whole, &p->from);
  p->length = (p->left - p->from) / parts + 1;
  if (p->length < USUAL / 4)
    p->length = USUAL / 4;
  if (p->length > USUAL)
    p->length = USUAL;
}

/* Jobs become shorter where the chunks did not do, else longer. */
static void
adapt(eg_plan *p) {
  if (p->open && p->length > SHORTEST)
    p->length /= 4;
  else if (!p->open && p->length < LONGEST)
    p->length *= 4;
}

static void
fill(void *arg) {
  eg_ahead *a = arg;
  uint64_t roots = 0, most = (uint64_t)LONGEST * 4 * eg_crew_size(a->crew);
  uint32_t plan = a->plan;
  double found = 0, enough = (double)ENOUGH * eg_crew_size(a->crew);
  drop_jobs(a);
  while (plan < a->n_plans && a->n_jobs < a->most_jobs && roots < most &&
         found < enough) {
    eg_plan *p = &a->plans[plan];
    if (!p->whole)
      open_plan(a, p);
    if (p->left == p->from) {
      plan++;
      continue;
    }
    add_job(a, plan);
    const eg_job *j = &a->jobs[a->n_jobs - 1];
    roots += j->to - j->from;
    found += (j->to - j->from) * a->r->states[p->rule].rate;
  }
}

/* What a job has found out about the matches of its rule. */
static void
learn(eg_ahead *a, const eg_job *j) {
  eg_rule_state *s = &a->r->states[a->plans[j->plan].rule];
  uint64_t found = 0;
  if (!j->through)
    return;
  for (const eg_chunk *c = j->first; c; c = c->next)
    found += c->n;
  s->rate += ((double)found / (j->to - j->from) - s->rate) / 4;
  if (s->rate < 0.01)
    s->rate = 0.01;
}

static void
run_window(eg_ahead *a) {
  double begun = bs_now(), sum = 0;
  bool failed = false;
  eg_crew_run(a->crew, eg_job_run, a, a->n_jobs - a->at);
  for (uint32_t i = a->at; i < a->n_jobs; i++) {
    eg_job *j = &a->jobs[i];
    eg_plan *p = &a->plans[j->plan];
    sum += j->seconds;
    failed |= j->failed;
    learn(a, j);
    if (i == a->at || j->plan != j[-1].plan)
      p->open = false;
    p->open |= !j->through;
    if (i + 1 == a->n_jobs || j->plan != j[1].plan)
      adapt(p);
  }
  a->ratio = sum > 0 ? (bs_now() - begun) / sum : 0;
  account(a);
  if (failed)
    bs_out_of_memory(a->r->heap);
  if (atomic_load(&a->tired))
    eg_cut(a->r, EG_STOP_WORK);
  if (atomic_load(&a->stop))
    eg_within_limits(a->r);
}

/* The jobs of the window run when they are handed on. */
static void
wait_for_turn(eg_ahead *a) {
  for (uint32_t i = a->at; i < a->n_jobs; i++)
    a->plans[a->jobs[i].plan].open = true;
  a->ratio = 0;
}

/* --- handing on -------------------------------------------------------- */

typedef struct eg_rest {
  eg_ahead *a;
  eg_plan *plan;
  eg_job *j;
  eg_sink *sink;
  uint64_t count; /* of its matches, up to where it was stopped */
  bool ok;
} eg_rest;

typedef struct eg_recount {
  uint32_t left, *match;
  eg_sink sink;
} eg_recount;

static bool
count_down(void *ctx) {
  eg_recount *c = ctx;
  c->sink.at = c->match;
  return --c->left;
}

/* What had been counted when buffered match n was found. */
static uint64_t
recount(eg_rest *r, uint32_t n) {
  eg_job *j = r->j;
  uint32_t words = j->sink.stride + EG_SINK_SLACK;
  eg_recount c = {n,
                  bs_alloc(&j->heap, words * sizeof(uint32_t)),
                  {.stride = j->sink.stride, .full = count_down, .ctx = &c}};
  eg_matcher *m = eg_matcher_part(&j->heap, r->plan->whole, j->from, j->to);
  eg_sink_set(&c.sink, c.match, words);
  eg_matcher_go(m, &c.sink);
  return eg_matcher_count(m);
}

/* Hands buffered matches on, as many at a time as there is room for; how many
 * were when it was stopped, or all. */
static uint32_t
pour_chunk(const eg_chunk *c, eg_sink *to, bool *ok) {
  uint32_t stride = to->stride, at = 0;
  while (at < c->n && *ok) {
    uint32_t room = (uint32_t)(to->last - to->at) / stride + 1;
    uint32_t some = c->n - at < room ? c->n - at : room;
    memcpy(to->at, c->words + (size_t)at * stride,
           (size_t)some * stride * sizeof *to->at);
    at += some;
    to->at += (size_t)(some - 1) * stride;
    *ok = eg_sink_next(to);
  }
  return at;
}

static uint32_t
pour(eg_rest *rest, const eg_job *j) {
  uint32_t n = 0;
  rest->ok = true;
  for (const eg_chunk *c = j->first; c && rest->ok; c = c->next)
    n += pour_chunk(c, rest->sink, &rest->ok);
  return n;
}

static void
hand_on(void *arg) {
  eg_rest *c = arg;
  eg_job *j = c->j;
  uint32_t n = pour(c, j);
  if (!c->ok) {
    c->count = recount(c, n);
    return;
  }
  eg_chunks_give(&c->a->chunks, j->first);
  j->first = j->last = NULL;
  if (!j->through && !j->m)
    j->m = eg_matcher_part(&j->heap, c->plan->whole, j->from, j->to);
  c->ok = j->through || eg_matcher_go(j->m, c->sink);
  c->count = j->through ? j->count : eg_matcher_count(j->m);
  atomic_fetch_add(&c->plan->count, c->count - j->count);
}

/* No chunks were left before some jobs had begun, this one first: now those
 * handed on are theirs. */
static void
run_rest(eg_ahead *a, double *skew) {
  const eg_job *j = &a->jobs[a->at];
  const eg_plan *p = &a->plans[j->plan];
  if (a->waiting || j->through || j->first || eg_plan_over(p) ||
      a->at + 1 == a->n_jobs)
    return;
  double begun = bs_now();
  for (uint32_t i = 0; i < a->at; i++) {
    eg_chunks_give(&a->chunks, a->jobs[i].first);
    a->jobs[i].first = a->jobs[i].last = NULL;
  }
  run_window(a);
  *skew -= bs_now() - begun;
}

static void
tell_helpers(eg_ahead *a, uint32_t plan) {
  const eg_plan *p = &a->plans[plan];
  bool more = p->left > p->from || plan + 1 < a->n_plans;
  uint32_t last = a->waiting ? 1 : LAST;
  if (a->n_jobs - a->at == last && more && eg_worth_ahead_next(a))
    eg_crew_alert(a->crew);
}

/* The matches of a plan's jobs in the window, up to its limit. */
static bool
hand_on_plan(eg_ahead *a, uint32_t plan, eg_sink *sink, uint64_t *count,
             double *skew) {
  while (a->at < a->n_jobs && a->jobs[a->at].plan <= plan) {
    if (a->jobs[a->at].plan < plan) {
      a->at++; /* it had enough */
      continue;
    }
    run_rest(a, skew);
    tell_helpers(a, plan);
    eg_job *j = &a->jobs[a->at++];
    eg_rest rest = {a, &a->plans[plan], j, sink, 0, false};
    *skew += j->seconds * a->ratio;
    if (!bs_protect(&j->heap, hand_on, &rest))
      bs_out_of_memory(a->r->heap);
    *count += rest.count;
    account(a);
    if (!rest.ok ||
        (a->plans[plan].how.limit && *count > a->plans[plan].how.limit))
      return false;
  }
  return true;
}

uint64_t
eg_ahead_search(eg_runner *r, uint32_t rule, const eg_search_options *how,
                eg_sink *sink, double *skew) {
  eg_ahead *a = r->ahead;
  uint32_t plan = a && a->n_plans ? a->plan_of[rule] : EG_NONE;
  uint64_t count = 0;
  *skew = 0;
  if (plan == EG_NONE)
    return eg_search_with(r->g, r->rules[rule].pattern, how, sink, NULL);
  eg_plan *p = &a->plans[plan];
  while (hand_on_plan(a, plan, sink, &count, skew)) {
    if (a->at < a->n_jobs || (p->whole && p->left == p->from) || r->cut)
      break;
    double begun = bs_now();
    a->plan = plan;
    a->waiting = eg_worth_waiting(a);
    if (!bs_protect(&a->heap, fill, a))
      bs_out_of_memory(r->heap);
    if (a->waiting)
      wait_for_turn(a);
    else
      run_window(a);
    *skew -= bs_now() - begun;
  }
  p->left = p->from;
  return count;
}

bool
eg_ahead_knows(const eg_runner *r, uint32_t rule, uint64_t *count) {
  const eg_ahead *a = r->ahead;
  uint32_t plan = a && a->n_plans ? a->plan_of[rule] : EG_NONE;
  if (plan == EG_NONE)
    return false;
  const eg_plan *p = &a->plans[plan];
  *count = atomic_load(&p->count);
  return eg_plan_over(p) || (p->whole && p->left == p->from && !p->open);
}

/* --- iterations -------------------------------------------------------- */

static uint32_t
most_chunks(const eg_runner *r, const eg_crew *crew) {
  uint64_t words = (uint64_t)WORDS_MOST * eg_crew_size(crew);
  if (r->o.bytes && r->o.bytes / 128 < words)
    words = r->o.bytes / 128;
  return (uint32_t)(words / EG_CHUNK_WORDS) + 1;
}

/* Matches that wait take a part of the memory that the graph does. */
static uint32_t
chunks_now(const eg_ahead *a) {
  enum { LEAST = 1 << 14 }; /* words, else one a node */
  uint64_t words = a->r->g->live_nodes;
  uint64_t n = (words < LEAST ? LEAST : words) / EG_CHUNK_WORDS + 1;
  uint32_t most = most_chunks(a->r, a->crew);
  return n < most ? (uint32_t)n : most;
}

static eg_ahead *
start(eg_runner *r) {
  size_t used = r->heap->used;
  eg_crew *crew = eg_crew_new(r->heap, r->o.threads);
  eg_ahead *a = bs_try_realloc(r->heap, NULL, sizeof *a);
  if (!a) {
    eg_crew_free(crew);
    bs_out_of_memory(r->heap);
  }
  *a = (eg_ahead){.r = r, .crew = crew};
  r->g->crew = crew;
  a->most_jobs = JOBS * eg_crew_size(crew);
  r->ahead = a;
  eg_worth_init(a);
  eg_crew_heap_init(crew, &a->heap);
  eg_chunks_init(&a->chunks, crew, r->heap, most_chunks(r, crew));
  a->own = r->heap->used - used;
  r->extra += a->own;
  return a;
}

typedef struct eg_beginning {
  eg_ahead *a;
  const uint32_t *rules;
  uint32_t n;
} eg_beginning;

static bool
fits_chunk(const eg_runner *r, uint32_t k) {
  return r->states[k].stride < EG_CHUNK_WORDS - EG_SINK_SLACK;
}

static void
make_plans(void *arg) {
  eg_beginning *b = arg;
  eg_ahead *a = b->a;
  eg_runner *r = a->r;
  a->plans = bs_calloc(&a->heap, b->n, sizeof *a->plans);
  a->plan_of = bs_alloc(&a->heap, (r->n_rules + 1) * sizeof *a->plan_of);
  a->jobs = bs_calloc(&a->heap, a->most_jobs, sizeof *a->jobs);
  for (uint32_t k = 0; k < r->n_rules; k++)
    a->plan_of[k] = EG_NONE;
  for (uint32_t i = 0; i < b->n; i++) {
    uint32_t k = b->rules[i];
    if (!eg_count_roots(r->g, r->rules[k].pattern) || !fits_chunk(r, k) ||
        eg_is_settled(r, k))
      continue;
    eg_plan *p = &a->plans[a->n_plans];
    a->plan_of[k] = a->n_plans++;
    p->rule = k;
    p->how = eg_search_how(r, k);
    p->how.tick = eg_job_tick;
    p->how.tick_ctx = a;
  }
}

void
eg_ahead_begin(eg_runner *r, const uint32_t *rules, uint32_t n) {
  uint64_t roots = 0;
  if (r->o.threads < 2)
    return;
  for (uint32_t i = 0; i < n; i++)
    if (!eg_is_settled(r, rules[i]))
      roots += eg_count_roots(r->g, r->rules[rules[i]].pattern);
  if (roots < WORTH)
    return;
  eg_ahead *a = r->ahead ? r->ahead : start(r);
  eg_beginning b = {a, rules, n};
  eg_chunks_limit(&a->chunks, chunks_now(a));
  if (!bs_protect(&a->heap, make_plans, &b))
    bs_out_of_memory(r->heap);
  account(a);
}

void
eg_ahead_end(eg_runner *r) {
  eg_ahead *a = r->ahead;
  if (!a)
    return;
  drop_jobs(a);
  eg_chunks_drop(&a->chunks);
  bs_heap_done(&a->heap);
  a->plans = NULL;
  a->jobs = NULL;
  a->n_plans = 0;
  atomic_store(&a->stop, false);
  atomic_store(&a->tired, false);
  account(a);
}

void
eg_ahead_done(eg_runner *r) {
  eg_ahead *a = r->ahead;
  if (!a)
    return;
  eg_ahead_end(r);
  eg_chunks_done(&a->chunks, r->heap);
  r->g->crew = NULL;
  eg_crew_free(a->crew);
  r->extra -= a->own;
  bs_free(r->heap, a);
  r->ahead = NULL;
}
