/* SPDX-License-Identifier: MIT */
/* case.h - a case of egraph_oracle.c: actions on a graph, then rules that run.
 */
#ifndef TESTS_PROPERTY_ORACLE_CASE_H
#define TESTS_PROPERTY_ORACLE_CASE_H

#include "egraph/run.h"

enum {
  MAX_ACTIONS = 40,
  MAX_RULES = 4,
  MAX_TERM = 6,
  MAX_NODES = 4096,
  CLASS_SLOTS = 3,
  SLOTS = 5, /* 3 and 4 hold attributes */
  MAX_MATCHES = 4000,
  NODE_CAP = 150,
  MAX_CHAINS = 60, /* explained a case */
  OPS = 6
};

extern const uint32_t arity_of[OPS];

typedef enum { ADD, UNITE, REBUILD } action_kind;

typedef struct action {
  action_kind kind;
  uint32_t op, attr, a, b, c; /* a, b, c: earlier adds, modulo their number */
} action;

typedef struct term {
  uint32_t n;
  eg_term_node node[MAX_TERM];
  uint32_t kids[MAX_TERM][3];
  eg_attr_pattern items[MAX_TERM][2];
} term;

typedef struct rule {
  term left, more, right; /* more: a second part, when root_slot is one */
  uint32_t root_slot;
  bool into_slot; /* the right side is united with slot 0 */
} rule;

typedef struct test_case {
  uint32_t n_actions, n_rules, iterations;
  action actions[MAX_ACTIONS];
  rule rules[MAX_RULES];
} test_case;

/* Attribute k: 0 none, 1..3 integers, above: a list of two. */
bs_value attr_value(bs_values *v, uint32_t k);

/* The case of a seed. */
void roll_case(bs_values *v, test_case *c, uint64_t seed);

/* A term's arrays are addressed only when used, so that cases can be copied. */
eg_term term_of(term *t);

#endif
