/* worth.c - whether searching ahead on several threads is worth it.
 *
 * Two threads may share one processor, wait for others that the machine runs,
 * or wake up late; and matches that wait as records pass through more memory
 * than those applied at once.  So now and then a window goes the other way:
 * where jobs are run ahead, its jobs wait until it is their turn, as on one
 * thread, or the other way round.  All that a window takes, its search and its
 * matches, is compared with what its neighbours took for theirs, where these
 * are of the same rule.  The outcome is the same; only under a limit of bytes,
 * which counts what a search holds, all are run ahead. */
#include "egraph/worth.h"
#include "base/file.h"

enum {
  SELDOM = 16,     /* windows, before one that goes the other way */
  A_MATCH = 16,    /* roots that are as much work as one match */
  FEWEST = 1 << 11 /* matches of a window that is compared */
};

static const double most = 0.25; /* that one comparison tells */

void
eg_worth_init(eg_ahead *a) {
  a->gain = 0.05;
  a->left = 1;
}

static uint64_t
count_done(const eg_ahead *a) {
  const eg_rule_stats *s = &a->r->stats[a->plans[a->plan].rule];
  return s->applied + s->refused;
}

/* Seconds a match of the window that is over; 0: they cannot be compared. */
static double
price(const eg_ahead *a, double now) {
  const eg_job *first = a->jobs, *last = a->jobs + a->n_jobs - 1;
  if (!a->n_jobs || first->plan != a->plan || last->plan != a->plan)
    return 0;
  uint64_t roots = first->to - last->from;
  double work = (double)(count_done(a) - a->done) + (double)roots / A_MATCH;
  return work < FEWEST ? 0 : (now - a->begun) / work;
}

/* Of two windows, one behind the other, one was run ahead. */
static void
learn(eg_ahead *a, double now, double before) {
  double gain = (now - before) / (now + before);
  if (!a->waiting)
    gain = -gain;
  gain = gain > most ? most : gain < -most ? -most : gain;
  a->gain += (gain - a->gain) / 4;
}

bool
eg_worth_waiting(eg_ahead *a) {
  double now = bs_now(), is = price(a, now);
  if (is > 0 && a->price > 0 && a->waiting != a->waited)
    learn(a, is, a->price);
  bool worth = a->gain > 0 || a->r->o.bytes, other = !a->left && is > 0;
  a->price = is;
  a->waited = a->waiting;
  a->begun = now;
  a->done = count_done(a);
  a->left = other ? SELDOM : a->left - (a->left > 0);
  bool waits = worth == other && !a->r->o.bytes;
  eg_crew_useful(a->crew, !waits);
  return waits;
}

bool
eg_worth_ahead_next(const eg_ahead *a) {
  return a->left ? !a->waiting : a->waiting;
}
