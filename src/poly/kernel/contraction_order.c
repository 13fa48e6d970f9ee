/* SPDX-License-Identifier: MIT */
/* contraction_order.c - sums by what they read and write, whatever the order of
 * their loops and statements.
 *
 * A loop that the element of the sum does not move with is one of its sum.
 * Lowering puts such loops inside all others; loops that were written by hand
 * may have them anywhere. */
#include "poly/kernel/contraction.h"
#include "poly/loops/access.h"
#include "poly/loops/affine.h"
#include <assert.h>
#include <isl/val.h>

/* ---- statements ---- */

/* The one update of a list; PO_NO_STMT: there is none, or there are several. */
static uint32_t
only_update(const po_program *p, const uint32_t *stmts, uint32_t n) {
  uint32_t found = PO_NO_STMT, many = 0;
  for (uint32_t k = 0; k < n; k++)
    if (p->stmts.data[stmts[k]].kind == PO_UPDATE) {
      found = stmts[k];
      many++;
    }
  return many == 1 ? found : PO_NO_STMT;
}

bool
po_find_parts(const po_program *p, const uint32_t *stmts, uint32_t n,
              po_sum_parts *out) {
  assert(stmts || !n);
  *out = (po_sum_parts){PO_NO_STMT, only_update(p, stmts, n), PO_NO_STMT};
  if (out->update == PO_NO_STMT)
    return false;
  uint32_t sums = p->stmts.data[out->update].array;
  bool before = true;
  for (uint32_t k = 0; k < n; k++) {
    const po_stmt *s = &p->stmts.data[stmts[k]];
    uint32_t *part = before ? &out->init : &out->store;
    if (stmts[k] == out->update)
      before = false;
    else if (*part != PO_NO_STMT ||
             !(before ? s->array == sums
                      : (s->kind != PO_CALL && po_stmt_reads(s, sums))))
      return false;
    else
      *part = stmts[k];
  }
  return true;
}

/* ---- loops ---- */

/* A loop of one iteration stays where it is. */
static bool
is_single(const po_stmt *s, uint32_t loop) {
  assert(loop < s->n_iters);
  isl_val *value = isl_set_plain_get_val_if_fixed(s->domain, isl_dim_set, loop);
  bool single = isl_val_is_int(value) == isl_bool_true;
  isl_val_free(value);
  return single;
}

static bool
is_moved(const po_stmt *s, uint32_t loop) {
  assert(loop < s->n_iters);
  return isl_pw_multi_aff_involves_dims(s->write, isl_dim_in, loop, 1) !=
             isl_bool_false ||
         (loop < s->n_outer && is_single(s, loop));
}

/* place[loop]: where it stands once those of the element come first, in their
 * order; their number. */
static uint32_t
places_of(const po_stmt *s, uint32_t *place) {
  uint32_t n = 0, outer;
  for (uint32_t k = 0; k < s->n_iters; k++)
    if (is_moved(s, k))
      place[k] = n++;
  outer = n;
  for (uint32_t k = 0; k < s->n_iters; k++)
    if (!is_moved(s, k))
      place[k] = n++;
  return outer;
}

static bool
is_in_place(const po_stmt *s, const uint32_t *place) {
  for (uint32_t k = 0; k < s->n_iters; k++)
    if (place[k] != k)
      return false;
  return true;
}

/* Instances with their loops in the new order -> the same in the old one. */
static __isl_give isl_multi_aff *
old_order(const po_stmt *s, const uint32_t *place) {
  isl_space *space = isl_space_map_from_set(isl_set_get_space(s->domain));
  isl_multi_aff *same = isl_multi_aff_identity(space);
  isl_multi_aff *out = isl_multi_aff_copy(same);
  for (uint32_t k = 0; k < s->n_iters; k++)
    out = isl_multi_aff_set_aff(out, (int)k,
                                isl_multi_aff_get_aff(same, (int)place[k]));
  isl_multi_aff_free(same);
  return out;
}

static __isl_give isl_pw_multi_aff *
reordered(po_program *p, __isl_keep isl_pw_multi_aff *index,
          __isl_keep isl_multi_aff *order) {
  po_pool_reserve(&p->pool, 1);
  return po_keep_pw_multi_aff(
      &p->pool, isl_pw_multi_aff_pullback_multi_aff(
                    isl_pw_multi_aff_copy(index), isl_multi_aff_copy(order)));
}

const po_stmt *
po_with_sum_inside(po_program *p, const po_stmt *s) {
  uint32_t place[PO_MAX_DEPTH], outer = places_of(s, place);
  if (s->n_iters > PO_MAX_DEPTH || is_in_place(s, place))
    return s;
  po_pool_reserve(&p->pool, 2);
  isl_multi_aff *order = po_keep_multi_aff(&p->pool, old_order(s, place));
  po_stmt *out = bs_arena_copy(&p->arena, s, sizeof *s);
  po_expr *exprs =
      bs_arena_copy(&p->arena, s->exprs, s->n_exprs * sizeof *exprs);
  out->n_outer = outer;
  out->domain = po_keep_set(
      &p->pool, isl_set_preimage_multi_aff(isl_set_copy(s->domain),
                                           isl_multi_aff_copy(order)));
  out->write = reordered(p, s->write, order);
  for (uint32_t k = 0; k < s->n_exprs; k++)
    if (exprs[k].index)
      exprs[k].index = reordered(p, exprs[k].index, order);
  out->exprs = exprs;
  return out;
}
