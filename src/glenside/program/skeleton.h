/* SPDX-License-Identifier: MIT */
/* skeleton.h - terms with holes: rule sides and instruction semantics.
 *
 * The surface is that of a program's terms, where a variable may stand for a
 * term or for an attribute, and an attribute may be an expression.  On a left
 * side attributes are literals or plain variables; `gs_skeleton_is_pattern`
 * checks that. */
#ifndef GLENSIDE_SKELETON_H
#define GLENSIDE_SKELETON_H

#include "glenside/expr/expr.h"
#include "glenside/program/program.h"

typedef struct gs_sk_node {
  bool hole;
  uint32_t slot; /* hole: the class variable */
  gs_op op;
  bs_span span;
  uint32_t n_kids, n_attrs;
  const uint32_t *kids; /* indices of earlier nodes */
  /* One expression an attribute item, in the order of op.h.  An `o` item with
   * parameters is a call of function "list" headed by the operator's symbol.
   * A `windows` written without a dilation has NULL as third item: on the
   * left any dilation of ones, on the right ones. */
  const gs_expr *const *attrs;
} gs_sk_node;

typedef struct gs_skeleton {
  const gs_sk_node *nodes; /* children first; the last is the root */
  uint32_t n;
} gs_skeleton;

/* Parses a term with holes.  Names of instructions of `target` may head a
 * call.  Holes become GS_SORT_CLASS variables of the scope. NULL + diags. */
const gs_skeleton *gs_skeleton_parse(const gs_context *,
                                     const struct gs_target *target,
                                     const bs_sexps *, uint32_t node,
                                     gs_scope *);
bool gs_skeleton_is_pattern(const gs_context *, const gs_skeleton *);
/* That of windows which are written without one: ones, as many as the kernel
 * has dimensions; BS_NIL of what is no kernel. */
bs_value gs_default_dilation(bs_values *, bs_value kernel);
/* The attribute list a node gets under env; false when one is undefined. */
bool gs_skeleton_attr(const gs_sk_node *, const gs_env *, bs_value *out);
/* Builds the term in a program; holes[slot] is the term a hole stands for. */
gs_term gs_skeleton_build(const gs_skeleton *, gs_program *, const gs_env *env,
                          const gs_term *holes, gs_fault *);
void gs_put_skeleton(bs_text *, const bs_values *, const gs_scope *,
                     const gs_skeleton *);

#endif
