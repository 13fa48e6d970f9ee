/* SPDX-License-Identifier: MIT */
/* slim.c - statements without the indices that others determine.
 *
 * What was moved below loops has their indices as well as its own, and where a
 * tile is all there is, they are zeros or the same ones twice.  isl's time for
 * an AST goes by the columns of its matrices: it is given statements whose
 * domains, times and accesses are functions of the rest. */
#include "codegen/build/build.h"
#include <isl/space.h>
#include <isl/val.h>

/* The index as a function of the others, from an equality of the hull in which
 * its factor is 1 or -1 and no quotient occurs; NULL. */
static __isl_give isl_aff *
determined(__isl_keep isl_basic_set *hull, uint32_t index) {
  isl_constraint_list *list = isl_basic_set_get_constraint_list(hull);
  isl_size n = isl_constraint_list_n_constraint(list);
  isl_aff *found = NULL;
  for (int k = 0; k < n && !found; k++) {
    isl_constraint *c = isl_constraint_list_get_constraint(list, k);
    isl_val *factor =
        isl_constraint_is_equality(c) == isl_bool_true
            ? isl_constraint_get_coefficient_val(c, isl_dim_set, (int)index)
            : NULL;
    factor = factor ? isl_val_abs(factor) : NULL;
    if (factor && isl_val_is_one(factor) == isl_bool_true)
      found = isl_constraint_get_bound(c, isl_dim_set, (int)index);
    if (found && isl_aff_dim(found, isl_dim_div) != 0)
      found = isl_aff_free(found);
    isl_val_free(factor);
    isl_constraint_free(c);
  }
  isl_constraint_list_free(list);
  return found;
}

/* { S[those that stay] -> S[all] }; NULL: all stay. */
static __isl_give isl_multi_aff *
embedding(__isl_keep isl_set *domain) {
  isl_space *space = isl_set_get_space(domain);
  isl_size n = isl_set_dim(domain, isl_dim_set);
  isl_id *name = isl_set_get_tuple_id(domain);
  isl_basic_set *hull = isl_set_affine_hull(isl_set_copy(domain));
  isl_multi_aff *all = isl_multi_aff_identity(isl_space_map_from_set(space));
  isl_multi_aff *to = isl_multi_aff_copy(all);
  bool goes[PO_MAX_DEPTH] = {false}, any = false;
  for (isl_size d = n; d-- > 0 && n <= PO_MAX_DEPTH;) {
    isl_aff *as = determined(hull, (uint32_t)d);
    if (!as)
      continue;
    isl_multi_aff *put =
        isl_multi_aff_set_aff(isl_multi_aff_copy(all), (int)d, as);
    hull = isl_basic_set_preimage_multi_aff(hull, isl_multi_aff_copy(put));
    to = isl_multi_aff_pullback_multi_aff(to, put);
    goes[d] = any = true;
  }
  for (isl_size d = n; d-- > 0 && any;)
    if (goes[d])
      to = isl_multi_aff_drop_dims(to, isl_dim_in, (unsigned)d, 1);
  to = isl_multi_aff_set_tuple_id(to, isl_dim_in, name);
  isl_basic_set_free(hull);
  isl_multi_aff_free(all);
  return any ? to : isl_multi_aff_free(to);
}

static isl_pw_multi_aff *
pulled(po_pool *pool, isl_pw_multi_aff *index, __isl_keep isl_multi_aff *to) {
  if (!index)
    return NULL;
  return po_keep_pw_multi_aff(
      pool, isl_pw_multi_aff_pullback_multi_aff(isl_pw_multi_aff_copy(index),
                                                isl_multi_aff_copy(to)));
}

void
cg_slim(cg_emitter *e, po_stmt *stmt) {
  uint32_t n = cg_count_operands(stmt);
  po_pool_reserve(&e->pool, stmt->n_exprs + n + 4);
  isl_multi_aff *to = embedding(stmt->domain);
  if (!to)
    return;
  to = po_keep_multi_aff(&e->pool, to);
  stmt->domain = po_keep_set(
      &e->pool, isl_set_preimage_multi_aff(isl_set_copy(stmt->domain),
                                           isl_multi_aff_copy(to)));
  stmt->time = po_keep_multi_aff(
      &e->pool, isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(stmt->time),
                                                 isl_multi_aff_copy(to)));
  stmt->write = pulled(&e->pool, stmt->write, to);
  po_expr *exprs =
      bs_arena_copy(&e->arena, stmt->exprs, stmt->n_exprs * sizeof *exprs);
  for (uint32_t k = 0; k < stmt->n_exprs; k++)
    exprs[k].index = pulled(&e->pool, exprs[k].index, to);
  stmt->exprs = exprs;
  po_operand *operands =
      bs_arena_copy(&e->arena, stmt->operands, n * sizeof *operands);
  for (uint32_t k = 0; k < n; k++)
    operands[k].base = pulled(&e->pool, operands[k].base, to);
  stmt->operands = operands;
}
