/* SPDX-License-Identifier: MIT */
/* run.h - equality saturation: rules, schedulers, limits.
 *
 * One iteration: search every rule on the same rebuilt graph, apply all
 * matches, rebuild.  Conditions are tested when a match is applied, before any
 * node is built.  Results do not depend on the order of rules. */
#ifndef EGRAPH_RUN_H
#define EGRAPH_RUN_H

#include "egraph/pattern.h"

typedef enum eg_guard_result {
  EG_GUARD_SKIP, /* this alternative does not hold; go on with the next */
  EG_GUARD_EMIT, /* build the right sides under the slots; go on */
  EG_GUARD_END   /* no further alternative */
} eg_guard_result;

/* Tests a match and fills computed slots.  Called with alternative 0, 1, ...
 * until EG_GUARD_END when the rule has `alternatives`, else once with 0. */
typedef eg_guard_result (*eg_guard)(void *ctx, eg_graph *, uint32_t *slots,
                                    uint32_t alternative);

/* One right side: built and united with the root of part 0, or with the class
 * in `slot`. */
typedef struct eg_result {
  eg_term term;
  uint32_t slot; /* UINT32_MAX: the root */
} eg_result;

typedef struct eg_rule {
  const char *name;
  uint32_t id; /* reported in origins, reasons and statistics */
  eg_pattern *pattern;
  uint32_t n_slots; /* bound by the pattern, or computed by the guard */
  eg_guard guard;   /* may be NULL */
  void *guard_ctx;
  /* The guard says of a match what it said before, as long as the match has
   * not changed: it asks nothing of analysis data that may change. */
  bool steady;
  bool alternatives;
  const eg_result *results;
  uint32_t n_results;
  uint64_t match_limit; /* applied matches in a run; 0 = none */
} eg_rule;

typedef enum eg_scheduler { EG_SIMPLE, EG_BACKOFF } eg_scheduler;

typedef enum eg_stop {
  EG_STOP_SATURATED,
  EG_STOP_ITERATIONS,
  EG_STOP_NODES,
  EG_STOP_BYTES,
  EG_STOP_TIME,
  EG_STOP_INTERRUPT,
  EG_STOP_WORK,   /* of one rule in one iteration */
  EG_STOP_CLIENT, /* the progress callback said so */
  EG_STOP_FAULT   /* eg_fault tells: an unsound or ill-typed rule */
} eg_stop;

const char *eg_stop_name(eg_stop); /* "saturated", "iteration limit", ... */

typedef struct eg_rule_stats {
  uint64_t searches, matches, applied, refused; /* refused: by the guard */
  uint64_t nodes, unions;                       /* new ones it made */
  uint64_t banned;                              /* iterations it sat out */
  double search_s, apply_s;
} eg_rule_stats;

typedef struct eg_iteration {
  uint32_t index; /* 0-based */
  uint32_t nodes, classes;
  uint64_t matches, applied;
  uint32_t unions;
  double search_s, apply_s, rebuild_s;
} eg_iteration;

typedef struct eg_run_options {
  uint32_t iterations; /* 0: no limit, likewise below */
  uint32_t nodes;
  size_t bytes;
  double seconds;
  /* Steps that a rule's search may take in an iteration, each word of a match
   * counting for four, and 2^-18 of this more for each e-node: a pattern of
   * many parts that share nothing has as many matches as all of theirs
   * multiplied. */
  uint64_t work;
  eg_scheduler scheduler;
  uint32_t backoff_matches; /* 1000 */
  uint32_t backoff_ban;     /* 5 */
  /* Matches of a rule that are built before the classes they make equal are
   * united, 256 to 4096; 0: by the size of the graph.  Of the same counts after
   * an iteration, but other numbers of nodes and classes. */
  uint32_t group;
  /* Apply every match of every iteration anew.  Else a match that was applied
   * and has not changed since is counted but not applied again, which gives the
   * same graph; rules with a guard that is not steady are always applied in
   * full. */
  bool full_search;
  const volatile int *interrupt; /* stop when it becomes non-zero */
  /* After each iteration; false stops the run. */
  bool (*progress)(void *ctx, const eg_graph *, const eg_iteration *);
  void *progress_ctx;
} eg_run_options;

void eg_run_defaults(eg_run_options *);

/* Scheduler state and statistics that live across calls of eg_run_some. */
typedef struct eg_runner eg_runner;

eg_runner *eg_runner_new(bs_heap *, eg_graph *, const eg_rule *rules,
                         uint32_t n_rules, const eg_run_options *);
void eg_runner_free(eg_runner *);
/* Runs the rules whose enabled[k] is set (NULL: all) for at most `iterations`
 * (0: until a limit).  Limits of the options hold over all calls. */
eg_stop eg_run_some(eg_runner *, const uint8_t *enabled, uint32_t iterations);
/* Other limits over all calls, from the next one on; 0: none. */
void eg_runner_limit(eg_runner *, uint32_t iterations, uint32_t nodes,
                     size_t bytes, double seconds);
double eg_runner_seconds(const eg_runner *); /* spent so far */
const eg_rule_stats *eg_runner_stats(const eg_runner *);
/* Adds to the statistics of each rule what another run of the same rules did.
 */
void eg_runner_credit(eg_runner *, const eg_runner *other);
const eg_iteration *eg_runner_iterations(const eg_runner *, uint32_t *n);
/* The rule that was being applied when the run stopped with EG_STOP_FAULT; that
 * was searched when it did with EG_STOP_WORK. */
uint32_t eg_runner_fault_rule(const eg_runner *);

#endif
