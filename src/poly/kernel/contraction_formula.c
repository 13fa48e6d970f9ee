/* SPDX-License-Identifier: MIT */
/* contraction_formula.c - the one consumer of a contraction's sums, and where
 * its results may lie.
 *
 * A statement that makes one element from each sum, and is the only one to read
 * them, can be computed where a sum is stored.  Its instances are a bijection
 * of those that write the sums: the inverse of its read, after their write. */
#include "poly/kernel/contraction.h"
#include "poly/loops/functions.h"
#include "poly/loops/loops_sizes.h"
#include "poly/loops/storage.h"
#include "poly/loops/uses.h"
#include <assert.h>
#include <isl/map.h>

/* The index at which the formula reads the array: one for all reads. */
static const po_expr *
only_read(const po_stmt *formula, uint32_t array) {
  const po_expr *found = NULL;
  for (uint32_t k = 0; k < formula->n_exprs; k++) {
    const po_expr *e = &formula->exprs[k];
    if (e->kind == PO_GATHER)
      return NULL;
    if (e->kind != PO_READ || e->array != array)
      continue;
    if (found && isl_pw_multi_aff_plain_is_equal(found->index, e->index) !=
                     isl_bool_true)
      return NULL;
    found = e;
  }
  return found;
}

/* The array is named by the two statements and by those of the nest that the
 * first is in alone. */
static bool
are_theirs(const po_program *p, const po_uses *uses, uint32_t array,
           uint32_t last, uint32_t formula) {
  assert(last < p->stmts.len);
  uint32_t root = po_nest_root(p, p->stmts.data[last].leaf);
  for (uint32_t k = uses->from[array]; k < uses->from[array + 1]; k++)
    if (uses->stmts[k] != formula &&
        po_nest_root(p, p->stmts.data[uses->stmts[k]].leaf) != root)
      return false;
  return true;
}

static bool
is_theirs(const po_program *p, uint32_t array, uint32_t last,
          uint32_t formula) {
  assert(array < p->arrays.len);
  if (p->uses)
    return are_theirs(p, p->uses, array, last, formula);
  po_uses uses;
  po_find_uses(p, &uses);
  bool theirs = are_theirs(p, &uses, array, last, formula);
  po_uses_done(p, &uses);
  return theirs;
}

static bool
is_bijection(__isl_keep isl_map *map, __isl_keep isl_set *from,
             __isl_keep isl_set *to) {
  isl_set *domain = isl_map_domain(isl_map_copy(map));
  isl_set *range = isl_map_range(isl_map_copy(map));
  bool ok = isl_map_is_bijective(map) == isl_bool_true &&
            isl_set_is_equal(domain, from) == isl_bool_true &&
            isl_set_is_equal(range, to) == isl_bool_true;
  isl_set_free(domain);
  isl_set_free(range);
  return ok;
}

/* Where it reads the sums, in one place and alone; NULL: it is none. */
static const po_expr *
read_of(const po_program *p, uint32_t last, uint32_t formula) {
  assert(last < p->stmts.len && formula < p->stmts.len);
  const po_stmt *from = &p->stmts.data[last], *to = &p->stmts.data[formula];
  if (to->kind != PO_ASSIGN || to->n_iters != to->n_outer ||
      p->arrays.data[from->array].role != PO_WORKSPACE ||
      p->arrays.data[to->array].role == PO_LOCAL || to->array == from->array)
    return NULL;
  const po_expr *read = only_read(to, from->array);
  return read && is_theirs(p, from->array, last, formula) ? read : NULL;
}

bool
po_may_be_formula(const po_program *p, uint32_t last, uint32_t formula) {
  assert(last < p->stmts.len);
  return read_of(p, last, formula);
}

isl_pw_multi_aff *
po_formula_instances(const po_reduction *l, uint32_t last, uint32_t formula) {
  const po_program *p = l->p;
  assert(last < p->stmts.len && formula < p->stmts.len);
  const po_stmt *from = &p->stmts.data[last], *to = &p->stmts.data[formula];
  const po_expr *read = read_of(p, last, formula);
  if (!read || !po_may_be_linear(l, from, to, read))
    return NULL;
  isl_map *write =
      isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(from->write));
  isl_map *back = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(read->index));
  write = isl_map_intersect_domain(write, isl_set_copy(from->domain));
  back = isl_map_intersect_domain(back, isl_set_copy(to->domain));
  isl_map *map = isl_map_apply_range(write, isl_map_reverse(back));
  isl_pw_multi_aff *out = NULL;
  if (is_bijection(map, from->domain, to->domain))
    out = isl_pw_multi_aff_gist(isl_pw_multi_aff_from_map(isl_map_copy(map)),
                                isl_set_copy(from->domain));
  isl_map_free(map);
  return out;
}

/* ---- in place ---- */

/* Vectors compute it as well as scalars do. */
static bool
calls_nothing(const po_stmt *formula, gs_dtype dtype) {
  for (uint32_t k = 0; k < formula->n_exprs; k++) {
    const po_expr *e = &formula->exprs[k];
    bool arithmetic = e->kind == PO_READ || e->kind == PO_LITERAL ||
                      e->kind == PO_BINARY ||
                      (e->kind == PO_UNARY && !po_function_of(e->op));
    if (!arithmetic || e->dtype != dtype)
      return false;
  }
  return true;
}

/* Its elements are read where those of c of the same address are made. */
static bool
lies_as_c(const po_contraction *c, uint32_t extra) {
  assert(extra < c->n_extras);
  if (c->extras[extra].base != c->c.base)
    return false;
  for (uint32_t role = 0; role < 4; role++)
    for (uint32_t k = 0; role != PO_DIM_K && k < c->dims[role].n; k++)
      if (c->dims[role].d[k].extra[extra] != c->dims[role].d[k].c)
        return false;
  return true;
}

static bool
is_read_as_c_alone(const po_contraction *c, uint32_t array) {
  bool all = array != c->x.array && array != c->y.array;
  for (uint32_t k = 0; k < c->n_extras; k++)
    all &= c->extras[k].array != array || lies_as_c(c, k);
  return all;
}

static bool
is_as_large(const po_array *a, const po_array *b) {
  return a->role == PO_WORKSPACE && b->role == PO_WORKSPACE &&
         a->dtype == b->dtype && a->before == b->before &&
         po_bytes(a) == po_bytes(b);
}

/* Nothing is in c before the formula's values are. */
static bool
stores_values_alone(const po_contraction *c) {
  return c->formula != UINT32_MAX && !c->mac.mac && !c->adds &&
         (c->waits || c->kc >= c->dims[PO_DIM_K].d[0].extent);
}

uint32_t
po_may_lie_over(const po_program *p, const po_contraction *c) {
  const po_array *arrays = p->arrays.data;
  if (po_has_sizes(p) || !stores_values_alone(c) ||
      !calls_nothing(&p->stmts.data[c->formula], c->dtype))
    return UINT32_MAX;
  for (uint32_t k = 0; k < c->n_extras; k++) {
    uint32_t array = c->extras[k].array;
    if (is_as_large(&arrays[array], &arrays[c->c.array]) &&
        is_read_as_c_alone(c, array))
      return array;
  }
  return UINT32_MAX;
}

bool
po_lies_over(const po_program *p, const po_contraction *c) {
  uint32_t over = po_may_lie_over(p, c);
  return over != UINT32_MAX &&
         p->arrays.data[over].offset == p->arrays.data[c->c.array].offset;
}
