/* SPDX-License-Identifier: MIT */
/* lint_internal.h - the checks of rl_lint; private to lint*.c. */
#ifndef RULES_LINT_INTERNAL_H
#define RULES_LINT_INTERNAL_H

#include "rules/rule/rule_internal.h"
#include "rules/lint/lint.h"
#include "rules/sample/sample.h"
#include <assert.h>

typedef BS_VEC(uint32_t) rl_nodes;

/* A rule as it is written: nodes of its file. */
typedef struct rl_written {
  const rl_form *form;
  const rl_file *file;
  /* Forward, then for <=> from right to left; NULL: could not be read. */
  rl_compiled *compiled[2];
  uint32_t index; /* of the first among the compiled rules */
  uint32_t left, right;
  bool has_limit;
  rl_nodes with, lets, also, fors;
  rl_nodes conjuncts; /* of all :where, their `and` undone */
} rl_written;

/* The rules are tried as they are, and those with parameters under other values
 * of these, too, since the defaults often switch them off. */
enum { RL_VARIANTS = 3 };

typedef struct rl_linter {
  const gs_context *ctx;
  const rl_rules *rules;
  bool remarks;
  BS_VEC(rl_written) list;
  gs_context quiet; /* of the variants, whose diagnostics nobody sees */
  bs_heap own;
  bs_arena arena;
  bs_diags quiet_diags;
  const rl_rules *variants[RL_VARIANTS];
  rl_lint_counts counts;
} rl_linter;

static inline const bs_sx *
rl_at_node(const rl_written *w, uint32_t node) {
  assert(node);
  return rl_sx(w->file, node);
}

/* The name of a ?variable at the node, or NULL. */
const char *rl_variable_at(const rl_linter *, const rl_file *, uint32_t node);
/* One direction of a rule under a variant of the parameters; NULL when there is
 * none, or the rule is the same in it. */
rl_compiled *rl_variant_of(const rl_linter *, const rl_written *, int variant,
                           int way);
/* A note with a code; only with remarks. */
void rl_remark(const rl_linter *, bs_span, const char *code, const char *format,
               ...) __attribute__((format(printf, 4, 5)));

/* One test of a condition, in canonical form (lint_canon.c). */
typedef struct rl_condition_test {
  bs_value value;
  uint32_t node; /* where it is written */
} rl_condition_test;

/* One direction of a rule up to names and order: variables are ?0, ?1, ... in
 * the order in which the left side has them, definitions are put in where they
 * are used, the tests are sorted.  Equal values mean the same. */
typedef struct rl_canon {
  const rl_written *rule;
  bool reverse;
  bool never; /* the condition cannot hold */
  bs_value left, with, fors, right, also;
  BS_VEC(rl_condition_test) tests;
  bs_value key;      /* of all */
  uint32_t n_vars;   /* of the left side and :with */
  rl_nodes naturals; /* variables that are 0 or more, by number */
  rl_nodes idle;     /* parts of the condition that always hold */
} rl_canon;

void rl_canon_of(const rl_linter *, const rl_written *, bool reverse,
                 rl_canon *out);
void rl_canon_done(const rl_linter *, rl_canon *);
/* The canonical form of head(items): sorted where the order does not matter,
 * > turned to <. */
bs_value rl_normal(bs_values *, bs_value list);
/* "?12" -> 12; -1 for anything else */
int rl_canon_number(const bs_values *, bs_value);
const char *rl_head_of(const bs_values *, bs_value); /* NULL: no such list */

/* Some of the sizes beyond 1 that a left side names (lint_sizes.c). */
enum { RL_NAMED_SIZES = 8 };

typedef struct rl_named_sizes {
  uint32_t n;
  int64_t size[RL_NAMED_SIZES];
} rl_named_sizes;

void rl_lint_sizes(const bs_values *, const rl_compiled *, rl_named_sizes *out);

/* Types of a left side that is grown so that its parts fit (lint_grow.c). */
typedef struct rl_grown {
  const gs_context *ctx;
  const rl_rules *rules;
  const rl_compiled *rule;
  rl_parts parts;
  rl_numbers numbers;
  uint32_t *slots; /* as those of a match: a class is its own slot */
  gs_type *types;  /* by slot */
} rl_grown;

/* n_slots slots and types, which each attempt fills. */
void rl_lint_grow_init(const gs_context *, const rl_rules *,
                       const rl_compiled *, uint32_t *slots, gs_type *types,
                       rl_grown *);
/* False where this attempt found no types.  Most variables are of the dtype. */
bool rl_lint_grow(const rl_grown *, uint64_t *random, gs_dtype, gs_type *root);

void rl_lint_names(rl_linter *);
void rl_lint_same(rl_linter *, const rl_canon *, uint32_t n);
void rl_lint_conditions(rl_linter *, rl_canon *);
/* What always holds: in all directions of a rule, which stand side by side. */
void rl_lint_idle(rl_linter *, const rl_canon *, uint32_t n);
/* Whether the condition of a rule implies the test. */
bool rl_implied(const rl_linter *, const rl_canon *, bs_value test);
void rl_lint_types(rl_linter *);
void rl_lint_growth(rl_linter *);

#endif
