/* SPDX-License-Identifier: MIT */
/* rules.h - rule files: parsed, checked, compiled onto the e-graph engine. */
#ifndef RULES_RULES_H
#define RULES_RULES_H

#include "egraph/run.h"
#include "glenside/program/program.h"
#include "glenside/program/skeleton.h"
#include "glenside/target/target.h"

typedef enum rl_kind {
  RL_EXPLORATORY,
  RL_COMPOSITION,
  RL_CLEANUP,
  RL_LOWERING,
  RL_ALGEBRA
} rl_kind;

typedef struct rl_rule {
  const char *name;
  const char *intent;
  bs_span span;
  rl_kind kind;
  gs_scope scope;
  const gs_skeleton *left;
  const gs_skeleton *const *right; /* one or more */
  uint32_t n_right;
  struct rl_condition *condition; /* compiled :for and :where; may be NULL */
  bool both_ways;                 /* written <=>; the reverse is NAME~rev */
  struct rl_set *set;             /* the ruleset it stands in, or NULL */
} rl_rule;

typedef struct rl_rules rl_rules;

/* An empty collection over a target (its instructions are names of terms, its
 * settings override `param`s; the lowering rules derived from its instructions
 * are added).  NULL target: the default one. */
rl_rules *rl_new(const gs_context *, const gs_target *);
/* Adds a file, or every *.rules of a directory in byte order. A directory
 * without rule files is an error.  False with diagnostics. */
bool rl_load(rl_rules *, const char *path);
bool rl_load_source(rl_rules *, uint32_t source);
/* --param NAME=VALUE, before or after loading; false when no such param. */
bool rl_set_param(rl_rules *, const char *name, bs_value);
/* Says that there is no such param, and which there are; false. */
bool rl_no_param(const rl_rules *, const char *name);
/* After the last load: resolves names, compiles.  False with diagnostics. */
bool rl_finish(rl_rules *);

uint32_t rl_count(const rl_rules *);
const rl_rule *rl_at(const rl_rules *, uint32_t index);
const rl_rule *rl_find(const rl_rules *, const char *name);
/* rule_exact.c: whether the rule is seen to leave every float as it is, to the
 * last bit, and how many are not. */
bool rl_is_exact(const rl_rules *, uint32_t rule);
uint32_t rl_count_inexact(const rl_rules *);
bool rl_has_floats(const gs_program *);

#endif
