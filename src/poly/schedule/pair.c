/* SPDX-License-Identifier: MIT */
/* pair.c - see pair.h. */
#include "poly/schedule/pair.h"
#include <assert.h>

static bool
is_commutative(gs_compute op) {
  return op == GS_C_ADD || op == GS_C_MUL || op == GS_C_MAX || op == GS_C_MIN;
}

static bool
same_param(const po_expr *a, const po_expr *b) {
  return a->param.i == b->param.i || (!a->param.i && b->n_kids == 1) ||
         (!b->param.i && a->n_kids == 1);
}

static bool
same_count(const po_expr *a, const po_expr *b) {
  if (!a->by || !b->by)
    return a->by == b->by;
  return isl_aff_plain_is_equal(a->by, b->by) == isl_bool_true;
}

static bool
same_node(const po_expr *a, const po_expr *b) {
  if (a->kind != b->kind || a->dtype != b->dtype || a->n_kids != b->n_kids)
    return false;
  switch (a->kind) {
  case PO_LITERAL:
    return a->literal == b->literal;
  case PO_READ:
  case PO_SELECT:
    return true;
  case PO_UNARY:
    return a->op == b->op && a->literal == b->literal && same_param(a, b) &&
           same_count(a, b);
  case PO_BINARY:
    return a->op == b->op;
  case PO_GATHER:
    break;
  }
  return false;
}

bool
po_pair_bodies(const po_stmt *a, const po_stmt *b, uint32_t flips,
               po_pair *pairs, uint32_t *n, uint32_t *n_flips) {
  assert(a->n_exprs && b->n_exprs);
  po_pair stack[4 * PO_MOST_PAIRS];
  uint32_t depth = 0, met = 0;
  *n = 0;
  stack[depth++] = (po_pair){a->n_exprs - 1, b->n_exprs - 1};
  while (depth) {
    po_pair at = stack[--depth];
    const po_expr *x = &a->exprs[at.pattern], *y = &b->exprs[at.nest];
    if (!same_node(x, y) || depth + 3 > 4 * PO_MOST_PAIRS ||
        *n + 1 >= PO_MOST_PAIRS)
      return false;
    if (x->kind == PO_READ)
      pairs[(*n)++] = at;
    bool flip = x->kind == PO_BINARY && is_commutative(x->op) &&
                met < PO_MOST_FLIPS && flips >> met++ & 1;
    for (uint32_t k = x->n_kids; k-- > 0;)
      stack[depth++] =
          (po_pair){x->kids[k], y->kids[flip ? x->n_kids - 1 - k : k]};
  }
  pairs[(*n)++] = (po_pair){a->n_exprs, b->n_exprs};
  *n_flips = met;
  return true;
}
