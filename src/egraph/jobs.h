/* jobs.h - parts of searches that run side by side; private to this folder. */
#ifndef EGRAPH_JOBS_H
#define EGRAPH_JOBS_H

#include "egraph/chunks.h"
#include "egraph/runner.h"
#include <stdatomic.h>

typedef struct eg_plan {
  uint32_t rule;
  eg_search_options how;
  eg_matcher *whole;   /* NULL before its first job */
  uint32_t from, left; /* roots not yet in a job */
  uint32_t length;     /* of its jobs */
  atomic_ullong count; /* of matches, in jobs */
  bool open;           /* a job is not through */
} eg_plan;

typedef struct eg_job {
  bs_heap heap;
  uint32_t plan, from, to;
  eg_matcher *m;
  eg_chunk *first, *last; /* matches as they wait to be applied */
  eg_sink sink;           /* into the last */
  uint64_t count;         /* of its matches that are in its plan's */
  bool through, failed;
  double seconds;
} eg_job;

struct eg_ahead {
  eg_runner *r;
  eg_crew *crew;
  bs_heap heap;
  eg_plan *plans;
  uint32_t n_plans, plan; /* plan: the one being searched */
  uint32_t *plan_of;      /* a rule's; EG_NONE: it is searched alone */
  eg_job *jobs;
  uint32_t n_jobs, at, most_jobs;
  eg_chunks chunks; /* of jobs and, among them, free */
  size_t own;       /* bytes of the run's heap that its jobs do not hold */
  atomic_bool stop, tired; /* tired: a search took too many steps */
  double ratio;            /* seconds of a window to the sum of its jobs' */
  bool waiting;            /* jobs of this window run when it is their turn */
  /* Whether they do (worth.c): */
  double gain;   /* what running ahead saves, of the sum of both, lately */
  uint32_t left; /* windows before the next that goes the other way */
  double begun;  /* this window, and how many matches were done then */
  uint64_t done;
  double price; /* of the window before; 0: unknown */
  bool waited;  /* ... it */
};

/* Job i from `at` on, where it is not done yet. */
void eg_job_run(void *ahead, uint32_t i);
/* False stops a search; the reason is found in the limits. */
bool eg_job_tick(void *ahead, uint64_t steps);
/* Have more matches of a plan been counted than its limit? */
bool eg_plan_over(const eg_plan *);

#endif
