/* SPDX-License-Identifier: MIT */
/* test.h - the tests that stand beside the rules: (test NAME ...).
 *
 * docs/RULES.md tells the clauses.  A test runs on memory of its own, which is
 * given back when it is over. */
#ifndef RULES_TEST_H
#define RULES_TEST_H

#include "rules/rule/saturate.h"

typedef enum rl_clause_kind {
  RL_FINDS,
  RL_NEVER,
  RL_EQUAL,
  RL_DISTINCT,
  RL_STOPS,
  RL_COST,
  RL_REFUSED
} rl_clause_kind;

/* One assertion; nodes of the test's file. */
typedef struct rl_clause {
  rl_clause_kind kind;
  bs_span span;
  uint32_t node;
  uint32_t term, where; /* finds, never: the pattern; equal: the first term */
  const char *in;       /* NULL: the outputs */
  int64_t matches;      /* -1: at least one */
  const char *word;     /* stops: the reason; cost: the comparison; refused */
  double number;        /* cost */
} rl_clause;

typedef struct rl_test {
  const char *name;
  bs_span span;
  uint32_t file, node;
  /* Nodes of the option values; 0 = not given. */
  uint32_t program, rules, limits, params;
  const char *target, *strategy;
  rl_clause *clauses;
  uint32_t n_clauses;
} rl_test;

typedef struct rl_test_result {
  bool passed;
  const char *message; /* why it failed; NULL when it passed */
  bs_span span;        /* of the clause or form at fault */
  eg_stop stop;
  uint32_t iterations, nodes, classes;
  double seconds;
} rl_test_result;

/* What the caller knows and this folder does not. */
typedef struct rl_test_hooks {
  void *ctx;
  /* The cost of the best program of a run, for (cost ..).  False with a
   * diagnostic when there is none. */
  bool (*cost)(void *ctx, const gs_context *, const gs_target *,
               const gs_program *original, const rl_run *, double *out);
} rl_test_hooks;

uint32_t rl_count_tests(const rl_rules *);
const rl_test *rl_test_at(const rl_rules *, uint32_t index);
/* Runs one test under the loaded rules; rl_finish must have succeeded.  True
 * when it passed.  Diagnostics of the run become the message.  hooks may be
 * NULL: then a (cost ..) clause fails.  The message lives in ctx->arena. */
bool rl_run_test(const gs_context *, const rl_rules *, const rl_test *,
                 const rl_test_hooks *, rl_test_result *out);

#endif
