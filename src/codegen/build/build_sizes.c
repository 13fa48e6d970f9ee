/* SPDX-License-Identifier: MIT */
/* build_sizes.c - what code says of sizes: they are the first parameters of the
 * function, and of each of its kernels.
 *
 * The element that an access names is (i * n + j) * m + k, of extents that are
 * expressions of sizes: no affine function, so that isl simplifies the indices
 * one by one, and the products are put around them here. */
#include "codegen/build/build.h"
#include "poly/loops/affine.h"
#include "poly/loops/loops_sizes.h"
#include "base/whole.h"
#include <assert.h>
#include <isl/val.h>

/* ---- extents ---- */

static __isl_give isl_ast_expr *
extent_of(const cg_emitter *e, __isl_keep isl_ast_build *build,
          const po_array *array, uint32_t d) {
  int64_t place[GS_MAX_RANK];
  if (!array->extent[d] || array->fold[d]) {
    po_places(array, place);
    return isl_ast_expr_from_val(isl_val_int_from_si(e->p->isl, place[d]));
  }
  isl_pw_aff *extent = isl_pw_aff_from_aff(isl_aff_copy(array->extent[d]));
  extent = isl_pw_aff_add_constant_val(
      extent, isl_val_int_from_si(e->p->isl, array->pad[d]));
  return isl_ast_build_expr_from_pw_aff(
      build, isl_pw_aff_project_domain_on_params(extent));
}

void
cg_find_extents(cg_emitter *e) {
  const po_program *p = e->p;
  if (!po_has_sizes(p))
    return;
  e->extents = BS_NEWS(&e->arena, isl_ast_expr *, p->arrays.len * GS_MAX_RANK);
  po_pool_reserve(&e->pool, 1 + p->arrays.len * GS_MAX_RANK);
  isl_ast_build *build = po_keep_ast_build(
      &e->pool,
      isl_ast_build_from_context(isl_set_params(isl_set_copy(p->at_sizes))));
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *array = &p->arrays.data[k];
    for (uint32_t d = 0; d < array->rank && po_lies_by_sizes(array); d++)
      e->extents[k * GS_MAX_RANK + d] =
          po_keep_ast_expr(&e->pool, extent_of(e, build, array, d));
  }
}

static bool
is_zero(__isl_keep isl_ast_expr *expr) {
  if (isl_ast_expr_get_type(expr) != isl_ast_expr_int)
    return false;
  isl_val *val = isl_ast_expr_get_val(expr);
  bool is = isl_val_is_zero(val) == isl_bool_true;
  isl_val_free(val);
  return is;
}

isl_ast_expr *
cg_sized_address(const cg_emitter *e, uint32_t k,
                 __isl_keep isl_ast_build *build,
                 __isl_keep isl_pw_multi_aff *index) {
  assert(k < e->p->arrays.len && e->extents);
  const po_array *array = &e->p->arrays.data[k];
  isl_ast_expr *sum = NULL;
  for (uint32_t d = 0; d < array->rank; d++) {
    if (array->fold[d] == 1)
      continue;
    if (sum && !is_zero(sum))
      sum = isl_ast_expr_mul(
          sum, isl_ast_expr_copy(e->extents[k * GS_MAX_RANK + d]));
    isl_ast_expr *at =
        isl_ast_build_expr_from_pw_aff(build, po_place_along(array, d, index));
    if (sum && is_zero(at)) {
      isl_ast_expr_free(at);
      continue;
    }
    bool first = !sum || is_zero(sum);
    if (first)
      isl_ast_expr_free(sum);
    sum = first ? at : isl_ast_expr_add(sum, at);
  }
  return sum ? sum : isl_ast_expr_from_val(isl_val_int_from_si(e->p->isl, 0));
}

const cg_expr *
cg_make_number(cg_emitter *e, isl_aff *number) {
  assert(po_has_sizes(e->p));
  isl_ast_build *build =
      isl_ast_build_from_context(isl_set_params(isl_set_copy(e->p->at_sizes)));
  isl_pw_aff *aff = isl_pw_aff_from_aff(isl_aff_copy(number));
  isl_ast_expr *expr = isl_ast_build_expr_from_pw_aff(
      build, isl_pw_aff_project_domain_on_params(aff));
  const cg_expr *made = cg_make_index(e, expr);
  isl_ast_expr_free(expr);
  isl_ast_build_free(build);
  return made;
}

/* A size divided by its multiple, or a quotient. C's is rounded down, as its
 * dividend is not negative, or is made so. */
static const cg_expr *
make_atom(bs_arena *a, const gs_sizes *s, uint32_t number, const char *type) {
  gs_atom atom = gs_atom_of(s, number);
  if (atom.size < GS_MOST_SIZES) {
    const gs_size *size = &s->list[atom.size];
    const cg_expr *name = cg_name(a, size->name);
    if (size->multiple > 1)
      name = cg_paren(
          a, cg_infix(a, CG_OP_DIVIDE, name, cg_number(a, size->multiple)));
    return cg_cast(a, type, name);
  }
  int64_t least = gs_least_of(s, atom.of);
  int64_t up = least < 0 ? bs_ceil_div(-least, atom.by) : 0;
  const cg_expr *of = cg_make_polynomial(a, s, atom.of, "int64_t");
  of = up ? cg_infix(a, CG_OP_ADD, cg_number(a, up * atom.by), of) : of;
  of = cg_infix(a, CG_OP_DIVIDE, cg_paren(a, of), cg_number(a, atom.by));
  of = up ? cg_infix(a, CG_OP_SUBTRACT, of, cg_number(a, up)) : of;
  return cg_cast(a, type, cg_paren(a, of));
}

static const cg_expr *
make_term(bs_arena *a, const gs_sizes *s, const gs_size_term *t,
          const char *type) {
  const cg_expr *out = t->by == 1 && t->n ? NULL : cg_number(a, t->by);
  for (uint32_t k = 0; k < t->n; k++) {
    const cg_expr *atom = make_atom(a, s, t->atom[k], type);
    out = out ? cg_infix(a, CG_OP_MULTIPLY, out, atom) : atom;
  }
  return out;
}

/* Quotients stand in one another three deep at most. */
const cg_expr *
cg_make_polynomial(bs_arena *a, const gs_sizes *s, gs_number x,
                   const char *type) {
  gs_polynomial p;
  const cg_expr *sum = NULL;
  gs_polynomial_of(s, x, &p);
  for (uint32_t k = 0; k < p.n; k++) {
    const cg_expr *term = make_term(a, s, &p.term[k], type);
    sum = sum ? cg_infix(a, CG_OP_ADD, sum, term) : term;
  }
  return sum ? sum : cg_number(a, 0);
}

const cg_expr *
cg_make_bytes(cg_emitter *e, uint32_t k) {
  assert(k < e->p->arrays.len && e->extents);
  bs_arena *arena = &e->arena;
  const po_array *array = &e->p->arrays.data[k];
  const cg_expr *factors[GS_MAX_RANK + 1];
  factors[0] = cg_number(arena, gs_dtype_table[array->dtype].bytes);
  for (uint32_t d = 0; d < array->rank; d++) {
    const cg_expr *x = cg_make_index(e, e->extents[k * GS_MAX_RANK + d]);
    factors[d + 1] = cg_cast(
        arena, "size_t", cg_level(x) < CG_LEVEL_UNARY ? cg_paren(arena, x) : x);
  }
  return array->rank
             ? cg_infix_of(arena, CG_OP_MULTIPLY, array->rank + 1, factors)
             : factors[0];
}
