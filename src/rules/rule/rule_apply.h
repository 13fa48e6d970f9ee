/* SPDX-License-Identifier: MIT */
/* rule_apply.h - one rule applied to terms of a program, for those who check
 * rules.
 *
 * Patterns, conditions and facts are those of a run, on an e-graph that holds
 * just the program. */
#ifndef RULES_APPLY_H
#define RULES_APPLY_H

#include "rules/rule/saturate.h"

/* A side of an equation of the condition. */
typedef enum rl_side_kind {
  RL_SIDE_VARIABLE, /* of an attribute */
  RL_SIDE_MULTIPLE, /* of a variable, by `axis` */
  RL_SIDE_VALUE,    /* a literal */
  RL_SIDE_DIM,      /* (dim ?slot axis) */
  RL_SIDE_RANK,
  RL_SIDE_ACCESS_RANK,
  RL_SIDE_COMPUTE_RANK,
  RL_SIDE_DTYPE,
  RL_SIDE_SHAPE,
  RL_SIDE_ACCESS_SHAPE,
  RL_SIDE_COMPUTE_SHAPE
} rl_side_kind;

typedef struct rl_side {
  rl_side_kind kind;
  uint32_t slot;
  int64_t axis;
  bs_value value;
} rl_side;

typedef struct rl_equality {
  rl_side a, b;
} rl_equality;

#define RL_NUMBERS    24
#define RL_EQUALITIES 64
#define RL_MAX_NUMBER 1024

/* The right side is not written: the rule makes it for what it finds. */
bool rl_makes_right_side(const rl_rule *);

/* The calls that such a rule finds for the compute nodes of a class, those of a
 * node that take least first, however many the rule adds; their number. */
typedef struct rl_fit {
  bs_value attr; /* of the call */
  /* Of further ones, where dimensions are cut. */
  uint32_t n_also;
  bs_value also[7];
  double cycles; /* of all calls together, and of copies that the host makes */
} rl_fit;
uint32_t rl_list_fits(const rl_run *, uint32_t rule, eg_class, rl_fit *out,
                      uint32_t most);

/* What the left side asks for: part 0 is the pattern of the root, the others
 * those of :with, each of the class in its root slot. */
typedef struct rl_parts {
  const eg_term *parts;
  const uint32_t *root_slots; /* UINT32_MAX: the root of the match */
  uint32_t n_parts;
  uint32_t n_slots;
  const gs_scope
      *scope;       /* the slots; those that no author names begin with ( */
  bool asks_values; /* the condition asks about zeros or constants */
  bool asks_params; /* a parameter $NAME stands in the rule */
  /* Whole numbers of the condition and of what the right side computes, from 2
   * to RL_MAX_NUMBER. */
  uint32_t n_numbers;
  int64_t numbers[RL_NUMBERS];
  /* Their numbers of any kind and size, as they are written, and those beside
   * a parameter, which its value may have decided. */
  uint32_t n_literals;
  bs_value literals[RL_NUMBERS];
  /* What the condition sets equal, as far as it is said plainly. */
  uint32_t n_equal;
  rl_equality equal[RL_EQUALITIES];
} rl_parts;

void rl_parts_of(const rl_rules *, const rl_rule *, rl_parts *out);
/* The clauses of the condition in the order they are asked in. */
typedef struct rl_asked {
  enum {
    RL_ASKS_TEST,   /* expr holds */
    RL_ASKS_DEFINE, /* slot is expr */
    RL_ASKS_FOR,    /* slot is an item of expr */
    RL_ASKS_OTHER
  } kind;
  uint32_t slot;
  const gs_expr *expr;
} rl_asked;

uint32_t rl_asked_count(const rl_rule *);
rl_asked rl_asked_at(const rl_rule *, uint32_t);
/* The target that the rules were loaded for. */
const gs_target *rl_target(const rl_rules *);
/* The rule alone, with every whole number among its parameters set to a value.
 * NULL when it has none, or cannot be read so. */
rl_rules *rl_under(const gs_context *, const rl_rules *, const rl_rule *,
                   int64_t value);

/* What an application says: `left` equals `right`. */
typedef struct rl_equation {
  gs_term left;
  gs_term right; /* GS_NO_TERM: it has no type, see fault */
  gs_fault fault;
} rl_equation;

/* What one call below looks at: nodes for the patterns, and steps of the
 * condition for its values of :for. */
#define RL_MOST_CHOICES ((uint64_t)1 << 20)

/* Calls `found` for each way in which the rule applies at `root`; `slots` by
 * variable of the rule's scope: a term of the program or a value.  Right sides
 * become terms of the program.  Stops when it returns false.  The result is
 * false when there were more choices than RL_MOST_CHOICES, and those behind
 * them were left out; where a limit of the command is met, control unwinds
 * (base/heap.h). */
typedef bool (*rl_found)(void *ctx, const rl_equation *, uint32_t n,
                         const uint32_t *slots);
bool rl_each_application(const gs_context *, const rl_rules *, const rl_rule *,
                         gs_program *, gs_term root, rl_found, void *ctx);

#endif
