/* SPDX-License-Identifier: MIT */
/* schedule_pattern.c - an instruction's semantics as a pattern; see unify.h.
 *
 * Every access of an operand gets a point at which it starts and, for each
 * dimension along which it moves, one that lies further there: from what lies
 * at these points in the nest, strides follow. */
#include "poly/schedule/unify.h"
#include "poly/loops/affine.h"
#include <assert.h>
#include <isl/val.h>

/* The lexicographically least point of a set of n numbers; NULL. */
int64_t *
po_least_point(bs_arena *arena, __isl_take isl_set *set, uint32_t n) {
  int64_t at[2 * PO_MAX_DEPTH + 1] = {0};
  isl_point *point = isl_set_sample_point(isl_set_lexmin(set));
  bool ok = point && n <= 2 * PO_MAX_DEPTH &&
            isl_point_is_void(point) == isl_bool_false;
  for (uint32_t k = 0; ok && k < n; k++) {
    isl_val *val = isl_point_get_coordinate_val(point, isl_dim_set, (int)k);
    at[k] = isl_val_get_num_si(val);
    isl_val_free(val);
  }
  isl_point_free(point);
  return ok ? bs_arena_copy(arena, at, (n + 1) * sizeof *at) : NULL;
}

static __isl_give isl_set *
at_values(__isl_take isl_set *set, const int64_t *at, uint32_t n,
          uint32_t but) {
  isl_ctx *isl = isl_set_get_ctx(set);
  for (uint32_t k = 0; k < n; k++)
    if (k != but)
      set = isl_set_fix_val(set, isl_dim_set, k,
                            isl_val_int_from_si(isl, (long)at[k]));
  return set;
}

/* A point r of an access whose y is this. */
static int64_t *
point_with(const po_form *f, __isl_keep isl_map *graph, const int64_t *y,
           uint32_t rank, uint32_t n) {
  isl_set *to = isl_set_universe(isl_space_range(isl_map_get_space(graph)));
  to = at_values(to, y, rank, UINT32_MAX);
  isl_set *from =
      isl_map_domain(isl_map_intersect_range(isl_map_copy(graph), to));
  return po_least_point(&f->p->arena, from, n);
}

/* Points of an access, from which strides follow. */
static bool
find_points(const po_form *f, const po_form_stmt *s, po_pattern_access *a,
            uint32_t rank) {
  bs_arena *arena = &f->p->arena;
  isl_map *graph = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(a->y));
  graph = isl_map_intersect_domain(graph, po_box(f->p->isl, s->extent, s->n));
  graph = po_keep_map(&f->p->pool, graph);
  isl_set *range = po_keep_set(&f->p->pool, isl_map_range(isl_map_copy(graph)));
  a->from = po_least_point(arena, isl_set_copy(range), rank);
  a->at = a->from ? point_with(f, graph, a->from, rank, s->n) : NULL;
  for (uint32_t d = 0; a->at && d < rank; d++) {
    isl_set *line = at_values(isl_set_copy(range), a->from, rank, d);
    line = isl_set_lower_bound_val(
        line, isl_dim_set, d,
        isl_val_int_from_si(f->p->isl, (long)a->from[d] + 1));
    int64_t *next = po_least_point(arena, line, rank);
    if (!next)
      continue;
    a->step[d] = next[d] - a->from[d];
    a->point[d] = point_with(f, graph, next, rank, s->n);
  }
  return a->at != NULL;
}

/* The place of an array of the pattern's program. */
static uint32_t
place_of(po_pattern *out, const po_program *q, uint32_t array,
         uint32_t *locals) {
  assert(array < q->arrays.len);
  const po_array *a = &q->arrays.data[array];
  if (a->role == PO_INPUT)
    return a->number;
  if (a->role == PO_OUTPUT)
    return out->instr->n_operands;
  uint32_t first = out->instr->n_operands + 1, k = first;
  while (k < out->n_places && locals[k] != array)
    k++;
  if (k == PO_UNIFY_ARRAYS)
    return k;
  if (k == out->n_places) {
    locals[k] = array;
    out->rank[k] = a->rank;
    out->dim[k] = a->dim;
    out->n_places++;
  }
  return k;
}

static bool
add_access(po_pattern *out, const po_form_stmt *s, const po_form_access *from,
           isl_multi_aff *const *layout, uint32_t *locals,
           po_pattern_access *a) {
  po_form *f = &out->form;
  *a = (po_pattern_access){.place = PO_NO_NODE};
  if (from->array == PO_NO_NODE)
    return true;
  a->place = place_of(out, f->p, from->array, locals);
  if (a->place == PO_UNIFY_ARRAYS)
    return false;
  po_pool_reserve(&f->p->pool, 3);
  isl_pw_multi_aff *y = isl_pw_multi_aff_reset_tuple_id(
      isl_pw_multi_aff_copy(from->index), isl_dim_out);
  if (a->place < out->instr->n_operands && layout[a->place])
    y = isl_pw_multi_aff_pullback_pw_multi_aff(
        isl_pw_multi_aff_from_multi_aff(isl_multi_aff_copy(layout[a->place])),
        y);
  a->y = po_keep_pw_multi_aff(&f->p->pool, y);
  return a->y && find_points(f, s, a, out->rank[a->place]);
}

static void
take_shapes(po_pattern *out, const gs_type *shapes) {
  out->n_places = out->instr->n_operands + 1;
  for (uint32_t k = 0; k < out->n_places; k++) {
    out->rank[k] = shapes[k].rank;
    out->dim[k] = shapes[k].dim;
  }
}

bool
po_make_pattern(po_form *form, const gs_instr *instr,
                isl_multi_aff *const *layout, const gs_type *shapes,
                po_pattern *out, po_reason *why) {
  uint32_t locals[PO_UNIFY_ARRAYS];
  *out = (po_pattern){.instr = instr, .form = *form};
  take_shapes(out, shapes);
  for (uint32_t k = 0; k < form->n; k++) {
    const po_form_stmt *s = &form->stmts[k];
    uint32_t n = form->p->stmts.data[s->stmt].n_exprs + 1;
    out->access[k] = BS_NEWS(&form->p->arena, po_pattern_access, n);
    for (uint32_t j = 0; j < n; j++)
      if (!add_access(out, s, &s->access[j], layout, locals,
                      &out->access[k][j]))
        return po_because(why, 0,
                          "the semantics of %s are too intricate to be "
                          "compared with loops",
                          instr->name);
  }
  return true;
}
