/* SPDX-License-Identifier: MIT */
/* near.h - why a rule did not apply: its nearest misses in a run's e-graph. */
#ifndef RULES_NEAR_H
#define RULES_NEAR_H

#include "rules/rule/saturate.h"

#define RL_NEEDS 4

/* A condition that does not hold, in words. */
typedef struct rl_need {
  bs_span span;
  const char *wanted; /* "?c % 16 = 0" */
  const char *have;   /* "?c is 3" */
  const char *hint;   /* what to do, or NULL */
} rl_need;

typedef struct rl_near {
  const rl_rule *rule;
  eg_class at;
  bool given;              /* a term of the program is in that class */
  bs_span span;            /* where that is written */
  const char *text;        /* a term of the class, in brief */
  uint32_t matched, total; /* operators and attributes of the pattern */
  uint32_t n_steps;        /* of the condition */
  bool applies;            /* all of it holds: no miss */
  rl_need needs[RL_NEEDS]; /* when the whole pattern matched */
  uint32_t n_needs, n_hints;
  const char *expected, *found; /* else: the first part that is missing */
} rl_near;

typedef struct rl_nearness {
  uint64_t matches, applying; /* of the whole pattern; with the condition */
  rl_near *list;              /* nearest first */
  uint32_t n;
} rl_nearness;

/* At most `max` different misses.  The texts live in the context's arena. */
void rl_nearest(const gs_context *, const rl_run *, const rl_rule *,
                uint32_t max, rl_nearness *out);
/* Misses of a rule in the classes that `within` marks by their index; NULL: in
 * all. */
void rl_nearest_within(const gs_context *, const rl_run *, const rl_rule *,
                       const uint8_t *within, uint32_t max, rl_nearness *out);
/* The rules whose right side calls an instruction, or whose name it is; at
 * most `max` of them. */
uint32_t rl_rules_for(const rl_rules *, const char *name, const rl_rule **out,
                      uint32_t max);

#endif
