/* worth.c - whether searching ahead on several threads is worth it.
 *
 * Two threads may share one processor, wait for others that the machine runs,
 * or wake up late: then what they do together takes longer than one of them
 * would.  So now and then the last job of a window is run when the others are
 * through, and what it takes for its matches is compared with what they took.
 * Where several threads gain too little, jobs are run when their turn comes,
 * each as one thread does it, for some windows.  The outcome is the same; only
 * under a limit of bytes, which counts what a search holds, all are run ahead.
 */
#include "egraph/worth.h"
#include "base/file.h"

enum {
  OFTEN = 4, /* of so many windows run ahead one is measured */
  SELDOM =
      16,    /* of so many windows one is run ahead where it is not worth it */
  FEWEST = 8 /* jobs of a window that is measured */
};

/* Looking up ahead and waiting as records takes more than applying at once. */
static const double least_gain = 1.2;

void
eg_worth_init(eg_ahead *a) {
  a->gain = 1.5;
}

bool
eg_worth_waiting(eg_ahead *a) {
  bool worth = a->gain >= least_gain || a->r->o.bytes;
  eg_crew_useful(a->crew, worth);
  a->measured = a->windows % (worth ? OFTEN : SELDOM) == 0;
  a->windows++;
  return !worth && !a->measured;
}

/* In matches: a root without any is a sixteenth. */
static double
work_of(const eg_job *j) {
  uint64_t found = j->looked_up;
  for (const eg_chunk *c = j->first; c && !j->batch; c = c->next)
    found += c->n;
  return (double)found + (j->to - j->from) / 16.0;
}

static bool
is_like(const eg_job *j, const eg_job *last) {
  return j->plan == last->plan && j->through && !j->batch == !last->batch;
}

/* What the jobs from `at` to the last would have taken one thread, to what they
 * took. */
static void
compare(eg_ahead *a, double seconds) {
  const eg_job *last = &a->jobs[a->n_jobs - 1];
  double work = 0, of_these = 0, of_all = 0;
  if (!last->through || last->seconds <= 0)
    return;
  for (const eg_job *j = &a->jobs[a->at]; j < last; j++) {
    of_all += j->seconds;
    if (!is_like(j, last))
      continue;
    of_these += j->seconds;
    work += work_of(j);
  }
  double own = work_of(last);
  if (own * FEWEST * 8 < work || of_these * 2 < of_all)
    return;
  double alone = work * last->seconds / own;
  double gain = alone * of_all / (seconds * of_these);
  double most = 2 * eg_crew_size(a->crew);
  a->gain += ((gain < most ? gain : most) - a->gain) / 4;
}

void
eg_worth_run(eg_ahead *a, double *sum) {
  uint32_t n = a->n_jobs - a->at;
  double begun = bs_now();
  if (a->measured && n >= FEWEST) {
    eg_crew_run(a->crew, eg_job_run, a, n - 1);
    double seconds = bs_now() - begun;
    eg_job_run(a, n - 1);
    compare(a, seconds);
  } else {
    eg_crew_run(a->crew, eg_job_run, a, n);
  }
  a->measured = false;
  for (uint32_t i = a->at; i < a->n_jobs; i++)
    *sum += a->jobs[i].seconds;
}
