/* jobs.c - parts of searches that run side by side.
 *
 * A job searches some roots of a rule's pattern and keeps what it finds in
 * chunks that all jobs share.  It unwinds to itself when memory runs out, and
 * stops where no chunk is left. */
#include "egraph/jobs.h"
#include "base/file.h"
#include "base/governor.h"

/* The caller finds the reason in the limits. */
bool
eg_job_tick(void *ctx, uint64_t steps) {
  eg_ahead *a = ctx;
  if (steps > a->r->work)
    atomic_store(&a->tired, true);
  const eg_run_options *o = &a->r->o;
  bool late =
      o->seconds > 0 && a->r->spent + bs_now() - a->r->begun > o->seconds;
  late = late || atomic_load(&a->tired);
  if (late || bs_stage_late(a->r->governor) || (o->interrupt && *o->interrupt))
    atomic_store(&a->stop, true);
  return !atomic_load(&a->stop);
}

typedef struct eg_task {
  eg_ahead *a;
  eg_job *j;
} eg_task;

static void
close_chunk(eg_job *j) {
  if (j->last)
    j->last->n = (uint32_t)(j->sink.at - j->last->words) / j->sink.stride;
}

/* Room for one more match is had before it is asked for; false without. */
static bool
keep_room(void *ctx) {
  eg_task *t = ctx;
  eg_job *j = t->j;
  bool refused = false;
  eg_chunk *c = eg_chunks_take(&t->a->chunks, &refused);
  close_chunk(j);
  if (refused)
    bs_out_of_memory(&j->heap);
  if (!c)
    return false;
  *(j->last ? &j->last->next : &j->first) = c;
  j->last = c;
  eg_sink_set(&j->sink, c->words, EG_CHUNK_WORDS);
  return true;
}

bool
eg_plan_over(const eg_plan *p) {
  return p->how.limit && atomic_load(&p->count) > p->how.limit;
}

/* Where no chunk is left the job keeps nothing but its matcher, if it had
 * begun. */
static void
search_job(void *arg) {
  eg_task *t = arg;
  eg_job *j = t->j;
  eg_plan *p = &t->a->plans[j->plan];
  double begun = bs_now();
  j->sink.full = keep_room;
  j->sink.ctx = t;
  if (!eg_plan_over(p) && keep_room(t)) {
    j->m = eg_matcher_part(&j->heap, p->whole, j->from, j->to);
    j->through = eg_matcher_go(j->m, &j->sink);
    close_chunk(j);
    j->count = eg_matcher_count(j->m);
    atomic_fetch_add(&p->count, j->count);
  }
  j->seconds = bs_now() - begun;
}

void
eg_job_run(void *ctx, uint32_t i) {
  eg_ahead *a = ctx;
  eg_task t = {a, &a->jobs[a->at + i]};
  if (t.j->through || t.j->first)
    return;
  if (!bs_protect(&t.j->heap, search_job, &t))
    t.j->failed = true;
  if (t.j->through)
    bs_heap_done(&t.j->heap);
}
