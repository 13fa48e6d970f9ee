/* count.c - how many matches a rule has, counted by all threads.
 *
 * Counting writes nothing and asks for no order, so parts of the roots are
 * counted as threads come to them, until all are or there are too many.  A
 * limit of bytes counts what a search holds: then one thread does it. */
#include "egraph/jobs.h"
#include "egraph/parallel.h"

enum {
  WORTH = 1 << 12, /* fewer roots are not worth waking threads */
  PARTS = 16,      /* a thread, at most */
  LEAST = 1 << 8   /* roots of a part */
};

typedef struct eg_tally {
  eg_ahead *a;
  uint32_t rule;
  eg_search_options how;
  eg_matcher *whole;
  uint32_t from, to, parts;
  atomic_ullong count;
  atomic_bool failed;
} eg_tally;

typedef struct eg_part {
  eg_tally *t;
  bs_heap heap;
  uint32_t from, to;
} eg_part;

static bool
is_over(const eg_tally *t) {
  return t->how.limit && atomic_load(&t->count) > t->how.limit;
}

static void
count_part(void *arg) {
  eg_part *p = arg;
  eg_matcher *m = eg_matcher_part(&p->heap, p->t->whole, p->from, p->to);
  eg_matcher_go(m, NULL);
  atomic_fetch_add(&p->t->count, eg_matcher_count(m));
}

static void
run_part(void *arg, uint32_t i) {
  eg_tally *t = arg;
  uint64_t n = t->to - t->from;
  eg_part p = {.t = t,
               .from = t->from + (uint32_t)(n * i / t->parts),
               .to = t->from + (uint32_t)(n * (i + 1) / t->parts)};
  if (is_over(t) || !eg_job_tick(t->a, 0))
    return;
  eg_crew_heap_init(t->a->crew, &p.heap);
  if (!bs_protect(&p.heap, count_part, &p))
    atomic_store(&t->failed, true);
  bs_heap_done(&p.heap);
}

static void
open_whole(void *arg) {
  eg_tally *t = arg;
  eg_runner *r = t->a->r;
  t->whole =
      eg_matcher_new(&t->a->heap, r->g, r->rules[t->rule].pattern, &t->how);
  t->to = eg_matcher_roots(t->whole, &t->from);
  uint32_t most = (t->to - t->from) / LEAST + 1;
  t->parts = PARTS * eg_crew_size(t->a->crew);
  t->parts = t->parts < most ? t->parts : most;
}

/* By all threads. */
static uint64_t
count_shared(eg_ahead *a, uint32_t rule, const eg_search_options *how) {
  eg_tally t = {.a = a, .rule = rule, .how = *how};
  t.how.tick = eg_job_tick;
  t.how.tick_ctx = a;
  if (!bs_protect(&a->heap, open_whole, &t))
    bs_out_of_memory(a->r->heap);
  eg_crew_run(a->crew, run_part, &t, t.parts);
  eg_matcher_free(t.whole);
  if (atomic_load(&t.failed))
    bs_out_of_memory(a->r->heap);
  if (atomic_load(&a->stop))
    eg_within_limits(a->r);
  return atomic_load(&t.count);
}

uint64_t
eg_ahead_count(eg_runner *r, uint32_t rule, const eg_search_options *how) {
  eg_ahead *a = r->ahead;
  const eg_pattern *p = r->rules[rule].pattern;
  uint64_t n;
  if (eg_ahead_knows(r, rule, &n))
    return n;
  if (a && !r->o.bytes && eg_crew_parts(a->crew) > 1 &&
      eg_count_roots(r->g, p) >= WORTH)
    return count_shared(a, rule, how);
  return eg_search_with(r->g, p, how, NULL, NULL);
}
