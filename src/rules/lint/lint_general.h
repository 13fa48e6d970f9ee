/* SPDX-License-Identifier: MIT */
/* lint_general.h - the left sides that may match another one. */
#ifndef RULES_LINT_GENERAL_H
#define RULES_LINT_GENERAL_H

#include "base/map.h"
#include "base/vec.h"
#include "rules/lint/lint_internal.h"

/* A discrimination tree: left sides as words of their nodes, those that begin
 * alike share their beginning; any variable is one word. */
typedef struct rl_tree {
  bs_heap *heap;
  bs_values *values;
  bs_map edges;          /* from a place and a word to a place */
  uint32_t places;       /* how many there are; 0 is the root */
  BS_VEC(uint32_t) last; /* by place: the last form that ends there, + 1 */
  BS_VEC(uint32_t) next; /* by form: the one before it there, + 1 */
} rl_tree;

typedef BS_VEC(uint32_t) rl_tree_found;

void rl_tree_init(rl_tree *, bs_heap *, bs_values *);
/* Forms are added in the order of their numbers. */
void rl_tree_add(rl_tree *, bs_value left);
/* The numbers of all forms whose left side matches, and perhaps of some that do
 * not as a variable stands for two things; ascending.  At most `most`. */
void rl_tree_find(const rl_tree *, bs_value left, uint32_t most,
                  rl_tree_found *);
void rl_tree_done(rl_tree *);

#endif
