/* worth.c - whether searching ahead on several threads is worth it.
 *
 * Two threads may share one processor, wait for others that the machine runs,
 * or wake up late: then what they do together takes longer than one of them
 * would.  So now and then one job of a window is run before the others, by one
 * thread, and what it takes for its matches is compared with what those of the
 * same rule take.  Where several threads gain too little, jobs are run when
 * their turn comes, each as one thread does it, for some windows.  The outcome
 * is the same; only under a limit of bytes, which counts what a search holds,
 * all are run ahead. */
#include "egraph/worth.h"
#include "base/file.h"

enum {
  OFTEN = 4,   /* windows run ahead, before one is measured */
  SELDOM = 16, /* windows that wait, before one is run ahead and measured */
  FEWEST = 8   /* jobs of a rule that one is compared with */
};

/* Looking up ahead and waiting as records takes more than applying at once: the
 * matches pass through more memory, some of it last written by another. */
static const double least_gain = 1.4;

void
eg_worth_init(eg_ahead *a) {
  a->gain = 1.5;
}

bool
eg_worth_waiting(eg_ahead *a) {
  bool worth = a->gain >= least_gain || a->r->o.bytes;
  eg_crew_useful(a->crew, worth);
  a->measured = !a->left;
  if (!a->measured)
    a->left--;
  else if (!worth)
    a->left = SELDOM;
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

/* The middle one of the jobs of the rule that has most; or NULL. */
static eg_job *
choose(eg_ahead *a) {
  eg_job *chosen = NULL;
  uint32_t most = FEWEST;
  for (uint32_t i = a->at, end; i < a->n_jobs; i = end) {
    for (end = i + 1; end < a->n_jobs; end++)
      if (a->jobs[end].plan != a->jobs[i].plan)
        break;
    if (end - i < most)
      continue;
    most = end - i;
    chosen = &a->jobs[i + most / 2];
  }
  return chosen && !chosen->through && !chosen->first ? chosen : NULL;
}

/* What several threads gain: how many worked at a time, by how much longer each
 * job took than the one that ran alone. */
static void
compare(eg_ahead *a, const eg_job *one, double seconds) {
  double work = 0, of_these = 0, of_all = 0, own = work_of(one);
  for (const eg_job *j = &a->jobs[a->at]; j < &a->jobs[a->n_jobs]; j++) {
    if (j == one)
      continue;
    of_all += j->seconds;
    if (j->plan != one->plan || !j->through || !j->batch != !one->batch)
      continue;
    of_these += j->seconds;
    work += work_of(j);
  }
  if (!one->through || one->seconds <= 0 || of_these <= 0)
    return;
  double alone = one->seconds * work / own;
  double gain = of_all / seconds * alone / of_these;
  double most = eg_crew_size(a->crew);
  a->gain += ((gain < most ? gain : most) - a->gain) / 4;
}

void
eg_worth_run(eg_ahead *a, double *sum) {
  eg_job *one = a->measured ? choose(a) : NULL;
  if (one)
    eg_job_run(a, (uint32_t)(one - &a->jobs[a->at]));
  double begun = bs_now();
  eg_crew_run(a->crew, eg_job_run, a, a->n_jobs - a->at);
  if (one) {
    compare(a, one, bs_now() - begun);
    a->left = a->gain < least_gain ? SELDOM : OFTEN;
  }
  a->measured = false;
  for (uint32_t i = a->at; i < a->n_jobs; i++)
    *sum += a->jobs[i].seconds;
}
