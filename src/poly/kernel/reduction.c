/* SPDX-License-Identifier: MIT */
/* reduction.c - see reduction.h. */
#include "poly/kernel/reduction.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/affine.h"
#include "poly/loops/bounds.h"
#include <assert.h>
#include <isl/constraint.h>
#include <isl/ilp.h>
#include <stdlib.h>
#include <string.h>

/* ---- the box and the addresses ---- */

static bool
small_int(__isl_take isl_val *val, int64_t *out) {
  bool ok = po_int(val, out) && *out <= INT32_MAX && *out >= -INT32_MAX;
  *out = ok ? *out : 0;
  return ok;
}

static bool
find_extent(po_reduction *l, uint32_t k, const po_stmt *s) {
  assert(k < PO_MAX_DIMS);
  int64_t lo, hi;
  if (l->sizes)
    return po_find_sized_extent(l, k, s);
  if (!po_bounds(s->domain, k, &lo, &hi) || lo < -INT32_MAX || hi > INT32_MAX)
    return false;
  l->lo[k] = lo;
  l->extent[k] = hi - lo + 1;
  return l->extent[k] >= 1;
}

/* The elements that the sums are of: those that start, or that anything is
 * added to. */
static __isl_give isl_set *
elements_of(const po_reduction *l, const po_stmt *init) {
  isl_set *set = isl_set_copy(init ? init->domain : l->update->domain);
  isl_size n = isl_set_dim(set, isl_dim_set);
  set = isl_set_reset_tuple_id(set);
  return n > (isl_size)l->n_outer
             ? isl_set_project_out(set, isl_dim_set, l->n_outer,
                                   (unsigned)n - l->n_outer)
             : set;
}

bool
po_find_box(po_reduction *l, const po_stmt *init) {
  for (uint32_t k = 0; k < l->n; k++)
    if (!find_extent(l, k, init && k < l->n_outer ? init : l->update))
      return false;
  for (uint32_t k = 0; k < l->n_outer; k++)
    if (l->lo[k]) /* shifted boxes do not come from lowering */
      return false;
  if (l->sizes)
    return po_fills_sized_box(l, init);
  isl_set *box = po_box(l->p->isl, l->extent, l->n_outer);
  isl_set *domain = elements_of(l, init);
  bool full = isl_set_is_equal(domain, box) == isl_bool_true;
  isl_set_free(domain);
  isl_set_free(box);
  return full;
}

/* From the box's origin on; a loop of one iteration moves nothing. */
static void
move_to_origin(const po_reduction *l, po_walk *at) {
  for (uint32_t k = 0; k < l->n; k++) {
    at->base =
        gs_combine(po_over(l->sizes), 1, at->base, l->lo[k], at->factor[k], 0);
    if (l->extent[k] == 1)
      at->factor[k] = 0;
  }
}

static bool
find_integers(const po_reduction *l, uint32_t array,
              __isl_keep isl_pw_multi_aff *index, uint32_t n, po_walk *out) {
  assert(array < l->p->arrays.len);
  const po_array *a = &l->p->arrays.data[array];
  isl_pw_aff *address = po_linear_pw(index, a->dim);
  isl_aff *aff = NULL;
  *out = (po_walk){0};
  if (isl_pw_aff_isa_aff(address) == isl_bool_true)
    aff = isl_pw_aff_as_aff(isl_pw_aff_copy(address));
  isl_pw_aff_free(address);
  bool ok = aff && isl_aff_dim(aff, isl_dim_in) == (isl_size)n &&
            po_affine_terms(aff, &out->base, out->factor);
  isl_aff_free(aff);
  return ok;
}

bool
po_find_address(const po_reduction *l, uint32_t array,
                __isl_keep isl_pw_multi_aff *index, uint32_t n, po_walk *out) {
  assert(array < l->p->arrays.len && n <= PO_MAX_DIMS);
  bool ok = l->sizes ? po_find_sized_address(l, array, index, n, out)
                     : find_integers(l, array, index, n, out);
  if (ok)
    move_to_origin(l, out);
  return ok;
}

static bool
is_same(const po_walk *a, const po_walk *b, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (a->factor[k] != b->factor[k])
      return false;
  return a->base == b->base;
}

/* The access of another statement names the element that the sum at the same
 * place of the loops is of. */
static bool
names_sum(const po_reduction *l, __isl_keep isl_pw_multi_aff *index,
          const po_walk *sum) {
  po_walk at;
  return po_find_address(l, l->update->array, index, l->n_outer, &at) &&
         is_same(&at, sum, l->n_outer);
}

bool
po_sums_agree(const po_reduction *l, const po_stmt *init,
              const po_stmt *store) {
  const po_stmt *sum = l->update;
  po_walk at;
  if (!po_find_address(l, sum->array, sum->write, sum->n_iters, &at) ||
      (init && !names_sum(l, init->write, &at)))
    return false;
  for (uint32_t k = 0; store && k < store->n_exprs; k++)
    if (store->exprs[k].kind == PO_READ &&
        store->exprs[k].array == sum->array &&
        !names_sum(l, store->exprs[k].index, &at))
      return false;
  return true;
}

/* ---- the formula ---- */

/* The address of an access of the formula, over the loops of the sums. */
static bool
find_formula_address(const po_reduction *l, uint32_t array,
                     __isl_keep isl_pw_multi_aff *index,
                     __isl_keep isl_pw_multi_aff *instances, po_walk *out) {
  isl_pw_multi_aff *pulled = isl_pw_multi_aff_pullback_pw_multi_aff(
      isl_pw_multi_aff_copy(index), isl_pw_multi_aff_copy(instances));
  bool ok = pulled && po_find_address(l, array, pulled, l->n_outer, out);
  isl_pw_multi_aff_free(pulled);
  return ok;
}

static bool
find_extras(const po_reduction *l, const po_stmt *s, uint32_t sums,
            __isl_keep isl_pw_multi_aff *instances, po_walk *at,
            po_cextra *extras, uint32_t *n_extras) {
  for (uint32_t k = 0; k < s->n_exprs; k++) {
    const po_expr *e = &s->exprs[k];
    if (e->kind != PO_READ || e->array == sums)
      continue;
    uint32_t n = *n_extras;
    if (n == PO_MAX_EXTRAS || e->array == s->array ||
        l->p->arrays.data[e->array].role == PO_LOCAL ||
        !find_formula_address(l, e->array, e->index, instances, &at[n]))
      return false;
    extras[n] = (po_cextra){.expr = k, .array = e->array, .base = at[n].base};
    *n_extras = n + 1;
  }
  return true;
}

bool
po_find_formula(const po_reduction *l, uint32_t last, uint32_t formula,
                uint32_t sums, po_walk at[1 + PO_MAX_EXTRAS],
                po_cextra extras[PO_MAX_EXTRAS], uint32_t *n_extras) {
  assert(formula < l->p->stmts.len);
  const po_stmt *s = &l->p->stmts.data[formula];
  isl_pw_multi_aff *instances = po_formula_instances(l, last, formula);
  *n_extras = 0;
  bool ok = instances &&
            find_formula_address(l, s->array, s->write, instances, &at[0]) &&
            find_extras(l, s, sums, instances, at + 1, extras, n_extras);
  isl_pw_multi_aff_free(instances);
  return ok;
}

/* ---- guards ---- */

/* constant + sum of factor * index >= 0 over the box, unless the box says so.
 */
static bool
add_inequality(po_reduction *l, gs_number constant, const int64_t *factor) {
  const gs_numbers *over = po_over(l->sizes);
  gs_number least = constant;
  for (uint32_t k = 0; k < l->n; k++)
    if (factor[k] < 0)
      least = gs_combine(over, 1, least, factor[k], l->extent[k], -factor[k]);
  if (gs_least_of(l->sizes, least) >= 0)
    return true;
  if (l->n_guards == PO_MAX_GUARDS)
    return false;
  l->guards[l->n_guards].constant = constant;
  memcpy(l->guards[l->n_guards].factor, factor, PO_MAX_DIMS * sizeof *factor);
  l->n_guards++;
  return true;
}

/* The constant of a condition, with what sizes add to it. */
static bool
find_constant(po_reduction *l, __isl_keep isl_constraint *c, gs_number *out) {
  if (!l->sizes)
    return small_int(isl_constraint_get_constant_val(c), out);
  int64_t factor[PO_MAX_DIMS];
  isl_aff *aff = isl_constraint_get_aff(c);
  bool ok = aff && po_split_affine(l->p, l->sizes, aff, out, factor);
  isl_aff_free(aff);
  return ok;
}

/* An equality is two inequalities. */
static isl_stat
add_guard(__isl_take isl_constraint *c, void *user) {
  po_reduction *l = user;
  const gs_numbers *over = po_over(l->sizes);
  gs_number constant;
  int64_t factor[PO_MAX_DIMS] = {0}, minus[PO_MAX_DIMS] = {0};
  bool ok = find_constant(l, c, &constant);
  bool equality = isl_constraint_is_equality(c) == isl_bool_true;
  for (uint32_t k = 0; k < l->n; k++) {
    ok = ok &&
         small_int(isl_constraint_get_coefficient_val(c, isl_dim_set, (int)k),
                   &factor[k]);
    if (!ok)
      break;
    constant = gs_plus(over, constant, factor[k] * l->lo[k]);
    factor[k] = l->extent[k] > 1 ? factor[k] : 0;
    minus[k] = -factor[k];
  }
  isl_constraint_free(c);
  ok = ok && add_inequality(l, constant, factor);
  ok =
      ok && (!equality ||
             add_inequality(l, gs_combine(over, -1, constant, 0, 0, 0), minus));
  return ok ? isl_stat_ok : isl_stat_error;
}

static int
compare_guards(const void *a, const void *b) {
  const po_guard *x = a, *y = b;
  for (uint32_t k = 0; k < PO_MAX_DIMS; k++)
    if (x->factor[k] != y->factor[k])
      return x->factor[k] < y->factor[k] ? -1 : 1;
  return x->constant < y->constant ? -1 : x->constant > y->constant;
}

/* In an order of their own: that of isl depends on what it was asked before. */
bool
po_find_guards(po_reduction *l) {
  isl_set *set = isl_set_copy(l->update->domain);
  if (l->sizes)
    set =
        isl_set_gist_params(set, isl_set_params(isl_set_copy(l->p->at_sizes)));
  set = isl_set_coalesce(set);
  isl_basic_set_list *list = isl_set_get_basic_set_list(set);
  isl_set_free(set);
  bool one = isl_basic_set_list_n_basic_set(list) == 1;
  isl_basic_set *basic = one ? isl_basic_set_list_get_at(list, 0) : NULL;
  isl_basic_set_list_free(list);
  bool ok =
      basic && isl_basic_set_dim(basic, isl_dim_div) == 0 &&
      isl_basic_set_foreach_constraint(basic, add_guard, l) == isl_stat_ok;
  isl_basic_set_free(basic);
  qsort(l->guards, l->n_guards, sizeof *l->guards, compare_guards);
  return ok;
}
