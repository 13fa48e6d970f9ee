/* SPDX-License-Identifier: MIT */
/* tree_check.h - whether a code tree is one that a printer can write. */
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
 *
 *  1. A node has what its kind needs, and no more; a switch has cases alone,
 *     compiled always or where a condition holds.
 *  2. Of a complete tree, each name is declared before it is used; none is
 *     declared twice in a list.
 *  3. A loop's condition names its iterator, which goes up: by a step, or in
 *     the body.
 *  4. A team shares loops that stand one right in the other.
 *  5. Loops in lanes go one by one; what they reduce is a variable around them.
 *  6. A body without braces is one statement, and declares nothing.
 *  7. Operands bind tighter than their operator.
 *  8. What is joined to a line of the preprocessor is all that is done
 *     otherwise.
 *
 * It is asked of each function that is written, so that none is C that does not
 * compile; in builds with assertions after each pass, too (pass/pass_run.c).
 * It takes time in proportion to the tree. */
const char *cg_check_tree(const cg_asked *, const cg_node *body);

#endif
