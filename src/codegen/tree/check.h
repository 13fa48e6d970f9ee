/* SPDX-License-Identifier: MIT */
/* check.h - whether a code tree is one that a printer can write. */
#ifndef CODEGEN_TREE_CHECK_H
#define CODEGEN_TREE_CHECK_H

#include "codegen/tree/tree.h"

/* What is asked.  A tree is complete once locals are declared: no mark is left
 * in it, and every name that it uses is declared before, or known. */
typedef struct cg_asked {
  bs_arena *arena;
  bool complete;
  bool (*is_known)(const char *name, void *arg);
  void *arg;
} cg_asked;

/* NULL, or what is wrong, in the arena:
 *   kinds     a node has what its kind needs, and no more
 *   names     each is declared before it is used, once in a list
 *   bounds    a loop's condition names its iterator, which goes up
 *   teams     a team shares loops that stand one right in the other
 *   lanes     loops go one by one; what is reduced is a variable around
 *   bare      a body without braces is one statement, and declares nothing
 *   operands  they bind tighter than their operator */
const char *cg_check_tree(const cg_asked *, const cg_node *body);

#endif
