/* SPDX-License-Identifier: MIT */
/* naive.h - the engine that egraph_oracle.c compares with. */
#ifndef TESTS_PROPERTY_ORACLE_NAIVE_H
#define TESTS_PROPERTY_ORACLE_NAIVE_H

#include "tests/property/oracle/case.h"

typedef struct naive_node {
  uint32_t op, n, kid[3], cls;
  bs_value attr;
} naive_node;

typedef struct naive {
  bs_values *values;
  naive_node nodes[MAX_NODES];
  uint32_t n, up[MAX_NODES], n_classes;
} naive;

uint32_t naive_find(const naive *o, uint32_t c);

/* Returns the class. */
uint32_t naive_add(naive *o, naive_node n);

void naive_unite(naive *o, uint32_t a, uint32_t b);

/* Restores congruence. */
void naive_close(naive *o);

uint32_t naive_classes(const naive *o);

/* One iteration; false when it would leave the oracle's bounds. */
bool naive_iterate(naive *o, test_case *c, uint64_t *n_matches);

#endif
