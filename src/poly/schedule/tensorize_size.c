/* SPDX-License-Identifier: MIT */
/* tensorize_size.c - sizes of a call that come into question; see tensorize.h.
 */
#include "poly/loops/affine.h"
#include "poly/loops/bounds.h"
#include "poly/schedule/tensorize.h"
#include <assert.h>

static void
add_size(po_tensorizing *t, int64_t size) {
  for (uint32_t k = 0; k < t->n_sizes; k++)
    if (t->sizes[k] == size)
      return;
  if (size >= 1 && t->n_sizes < PO_MOST_SIZES)
    t->sizes[t->n_sizes++] = size;
}

/* How many places an access has along each dimension of its array, in one
 * iteration of the loops around. */
static void
add_reach(po_tensorizing *t, const po_form_stmt *s, const po_form_access *a) {
  if (a->array == PO_NO_NODE)
    return;
  isl_set *box = isl_set_flatten(isl_set_product(
      isl_set_copy(t->nest.outer), po_box(t->p->isl, s->extent, s->n)));
  isl_map *all = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(a->index));
  all = isl_map_intersect_domain(all, box);
  all = isl_map_project_out(all, isl_dim_in, t->nest.n_outer, s->n);
  for (uint32_t d = 0; d < t->p->arrays.data[a->array].rank; d++) {
    isl_pw_aff *hi = isl_map_dim_max(isl_map_copy(all), (int)d);
    isl_pw_aff *lo = isl_map_dim_min(isl_map_copy(all), (int)d);
    int64_t least, most;
    if (po_bounds_of_values(isl_pw_aff_sub(hi, lo), &least, &most))
      add_size(t, most + 1);
  }
  isl_map_free(all);
}

void
po_find_sizes(po_tensorizing *t) {
  for (uint32_t k = 0; k < t->nest.n; k++)
    for (uint32_t d = 0; d < t->nest.stmts[k].n; d++)
      add_size(t, t->nest.stmts[k].extent[d]);
  add_size(t, 1);
  for (uint32_t k = 0; k < t->nest.n; k++) {
    const po_form_stmt *s = &t->nest.stmts[k];
    for (uint32_t j = 0; j <= t->p->stmts.data[s->stmt].n_exprs; j++)
      add_reach(t, s, &s->access[j]);
  }
  for (int64_t n = 2; n <= 4; n++)
    add_size(t, n);
}

static bool
is_given(const po_tensorizing *t, uint32_t var) {
  const po_arg *given = &t->call->args[2];
  return given->kind == PO_ARG_INTS && var < given->n &&
         given->numbers[var] >= 0;
}

static bool
is_open(const po_tensorizing *t, uint32_t var) {
  assert(var < t->instr->scope.vars.len);
  return t->instr->scope.vars.data[var].sort == GS_SORT_INT &&
         !is_given(t, var);
}

int64_t
po_chosen_size(const po_tensorizing *t, uint32_t var) {
  assert(var < GS_MAX_INSTR_VARS);
  return is_given(t, var) ? t->call->args[2].numbers[var]
                          : t->sizes[t->choice[var]];
}

/* The next choice, as an odometer. */
bool
po_next_sizes(po_tensorizing *t) {
  for (uint32_t k = 0; k < t->instr->scope.vars.len; k++) {
    if (!is_open(t, k))
      continue;
    if (++t->choice[k] < t->n_sizes)
      return true;
    t->choice[k] = 0;
  }
  return false;
}

static bool
find_types(po_tensorizing *t) {
  bs_values *values = t->p->ctx.values;
  const gs_instr *instr = t->instr;
  for (uint32_t k = 0; k < instr->scope.vars.len; k++)
    t->slots[k] = instr->scope.vars.data[k].sort == GS_SORT_INT
                      ? bs_int(values, po_chosen_size(t, k)).i
                      : UINT32_MAX;
  gs_env env = {
      .values = values, .slots = t->slots, .n_slots = instr->scope.vars.len};
  for (uint32_t k = 0; k < instr->n_operands; k++) {
    const gs_operand *o = &instr->operands[k];
    t->types[k] = (gs_type){o->access, o->rank, o->dtype, {0}};
    for (uint32_t d = 0; d < o->rank; d++) {
      bs_value v;
      if (!gs_expr_eval(o->dims[d], &env, &v) || bs_as_int(values, v) < 1 ||
          bs_as_int(values, v) > GS_MAX_ELEMENTS)
        return false;
      t->types[k].dim[d] = bs_as_int(values, v);
    }
  }
  return true;
}

/* The instruction admits the choice. */
static bool
is_admitted(po_tensorizing *t) {
  bs_values *values = t->p->ctx.values;
  const gs_instr *instr = t->instr;
  bs_value items[1 + GS_MAX_INSTR_VARS];
  const gs_type *kids[PO_MOST_OPERANDS];
  gs_fault fault = {0};
  if (!find_types(t))
    return false;
  items[0] = bs_sym(values, instr->name);
  for (uint32_t k = 0; k < instr->n_params; k++)
    items[k + 1] = (bs_value){t->slots[k]};
  t->attr = bs_list(values, items, instr->n_params + 1);
  for (uint32_t k = 0; k < instr->n_operands; k++)
    kids[k] = &t->types[k];
  return gs_instr_bind(values, instr, t->attr, kids, instr->n_operands,
                       t->slots, &t->types[instr->n_operands], &fault);
}

/* Some statement runs as often as the result has elements. */
static bool
has_result_size(const po_tensorizing *t) {
  int64_t size = gs_elements(&t->types[t->instr->n_operands]);
  for (uint32_t k = 0; k < t->nest.n; k++) {
    int64_t n = 1;
    for (uint32_t d = 0; d < t->nest.stmts[k].n; d++)
      if (__builtin_mul_overflow(n, t->nest.stmts[k].extent[d], &n))
        n = -1;
    if (n == size)
      return true;
  }
  return false;
}

bool
po_admits_sizes(po_tensorizing *t) {
  return is_admitted(t) && has_result_size(t);
}
