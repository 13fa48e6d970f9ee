/* SPDX-License-Identifier: MIT */
/* contraction_alike.c - see contraction_alike.h. */
#include "poly/kernel/contraction_alike.h"
#include <assert.h>
#include <isl/map.h>
#include <isl/set.h>
#include <string.h>

typedef struct comparing {
  const po_program *p;
  po_sum_arrays *arrays;
} comparing;

/* ---- arrays ---- */

static bool
are_of_one_kind(const po_array *a, const po_array *b) {
  bool same = a->role == b->role && a->dtype == b->dtype &&
              a->rank == b->rank && a->scope == b->scope &&
              a->memory == b->memory && a->prepack == b->prepack &&
              a->before == b->before && a->packed == b->packed;
  for (uint32_t d = 0; same && d < a->rank; d++)
    same = a->dim[d] == b->dim[d] && a->fold[d] == b->fold[d] &&
           a->pad[d] == b->pad[d] && !a->extent[d] && !b->extent[d];
  return same;
}

/* An array of one sum stands for the same array of the other wherever either is
 * met. */
static bool
pair(const comparing *c, uint32_t from, uint32_t to) {
  po_sum_arrays *known = c->arrays;
  for (uint32_t k = 0; k < known->n; k++)
    if (known->from[k] == from || known->to[k] == to)
      return known->from[k] == from && known->to[k] == to;
  const po_array *arrays = c->p->arrays.data;
  if (known->n == PO_MOST_ALIKE || !are_of_one_kind(&arrays[from], &arrays[to]))
    return false;
  known->from[known->n] = from;
  known->to[known->n++] = to;
  return true;
}

/* ---- what isl holds, but for the names of statements and arrays ---- */

static bool
same_sets(__isl_keep isl_set *a, __isl_keep isl_set *b) {
  isl_set *x = isl_set_reset_tuple_id(isl_set_copy(a));
  isl_set *y = isl_set_reset_tuple_id(isl_set_copy(b));
  bool same = isl_set_plain_is_equal(x, y) == isl_bool_true;
  isl_set_free(x);
  isl_set_free(y);
  return same;
}

static __isl_give isl_pw_multi_aff *
without_names(__isl_keep isl_pw_multi_aff *f) {
  f = isl_pw_multi_aff_reset_tuple_id(isl_pw_multi_aff_copy(f), isl_dim_in);
  return isl_pw_multi_aff_reset_tuple_id(f, isl_dim_out);
}

static bool
same_functions(__isl_keep isl_pw_multi_aff *a, __isl_keep isl_pw_multi_aff *b) {
  isl_pw_multi_aff *x = without_names(a), *y = without_names(b);
  bool same = isl_pw_multi_aff_plain_is_equal(x, y) == isl_bool_true;
  isl_pw_multi_aff_free(x);
  isl_pw_multi_aff_free(y);
  return same;
}

/* ---- statements ---- */

static bool
same_nodes(const po_expr *a, const po_expr *b) {
  return a->kind == b->kind && a->dtype == b->dtype && a->op == b->op &&
         !memcmp(&a->literal, &b->literal, sizeof a->literal) && !a->by &&
         !b->by && bs_same(a->param, b->param) && a->stride == b->stride &&
         a->count == b->count && a->n_kids == b->n_kids &&
         !memcmp(a->kids, b->kids, a->n_kids * sizeof *a->kids) &&
         !a->index == !b->index;
}

static bool
same_expr(const comparing *c, const po_expr *a, const po_expr *b) {
  return same_nodes(a, b) && (!a->index || pair(c, a->array, b->array));
}

/* Without asking isl. */
static bool
look_alike(const comparing *c, const po_stmt *a, const po_stmt *b) {
  bool same = a->kind == b->kind && a->op == b->op &&
              a->n_iters == b->n_iters && a->n_outer == b->n_outer &&
              a->n_exprs == b->n_exprs && !a->instr && !b->instr &&
              !a->contract && !b->contract && pair(c, a->array, b->array);
  for (uint32_t k = 0; same && k < a->n_exprs; k++)
    same = same_expr(c, &a->exprs[k], &b->exprs[k]);
  return same;
}

static bool
access_alike(const po_stmt *a, const po_stmt *b) {
  if (po_is_as_made(a) && po_is_as_made(b) && a->like == b->like)
    return true;
  bool same =
      same_sets(a->domain, b->domain) && same_functions(a->write, b->write);
  for (uint32_t k = 0; same && k < a->n_exprs; k++)
    same = !a->exprs[k].index ||
           same_functions(a->exprs[k].index, b->exprs[k].index);
  return same;
}

/* ---- sums ---- */

enum { STMTS = 4 };

static void
list(const po_sum *sum, uint32_t out[STMTS]) {
  out[0] = sum->parts.init;
  out[1] = sum->parts.update;
  out[2] = sum->parts.store;
  out[3] = sum->formula;
}

bool
po_sums_are_alike(const po_program *p, const po_sum *from, const po_sum *to,
                  po_sum_arrays *out) {
  comparing c = {p, out};
  const po_stmt *stmts = p->stmts.data;
  uint32_t a[STMTS], b[STMTS];
  list(from, a);
  list(to, b);
  out->n = 0;
  for (uint32_t k = 0; k < STMTS; k++)
    if ((a[k] == PO_NO_STMT) != (b[k] == PO_NO_STMT) ||
        (a[k] != PO_NO_STMT && !look_alike(&c, &stmts[a[k]], &stmts[b[k]])))
      return false;
  for (uint32_t k = 0; k < STMTS; k++)
    if (a[k] != PO_NO_STMT && !access_alike(&stmts[a[k]], &stmts[b[k]]))
      return false;
  return true;
}

static void
rename_array(const po_sum_arrays *arrays, uint32_t *array) {
  uint32_t k = 0;
  while (k < arrays->n && arrays->from[k] != *array)
    k++;
  assert(k < arrays->n);
  *array = arrays->to[k];
}

void
po_plan_is_of(po_contraction *plan, const po_sum *sum) {
  assert(sum->parts.update != PO_NO_STMT);
  plan->init = sum->parts.init;
  plan->update = sum->parts.update;
  plan->store = sum->parts.store;
  if (plan->formula != PO_NO_STMT)
    plan->formula = sum->formula;
}

void
po_plan_becomes(po_contraction *plan, const po_sum *to,
                const po_sum_arrays *arrays) {
  po_plan_is_of(plan, to);
  rename_array(arrays, &plan->sums);
  rename_array(arrays, &plan->x.array);
  rename_array(arrays, &plan->y.array);
  rename_array(arrays, &plan->c.array);
  for (uint32_t k = 0; k < plan->n_extras; k++)
    rename_array(arrays, &plan->extras[k].array);
}
