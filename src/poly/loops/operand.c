/* SPDX-License-Identifier: MIT */
/* operand.c - see operand.h.
 *
 * Which element lies a stride behind another follows from the row-major order.
 * Where the stride is one of the array's own, or a sum of them, and no row is
 * left on the way, the operand moves by so many elements along each dimension
 * of the array; else addresses are divided up again.  Folded dimensions stand
 * before the others (loops around a local, turns of a buffer): an operand does
 * not move along them. */
#include "poly/loops/operand.h"
#include "poly/loops/affine.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <isl/val.h>

/* ---- strides ---- */

uint32_t
po_mentioned_strides(const gs_instr *instr, uint32_t k) {
  assert(k <= instr->n_operands && instr->emit);
  uint32_t mask = 0;
  gs_emit_piece piece;
  for (const char *at = instr->emit; gs_emit_next(instr, &at, &piece);)
    if (piece.kind == GS_EMIT_STRIDE && piece.operand == k)
      mask |= 1u << piece.dim;
  return mask;
}

uint32_t
po_stray_dimension(uint32_t mentioned, const int64_t *stride,
                   const int64_t *dim, uint32_t rank) {
  assert(rank <= GS_MAX_RANK);
  int64_t dense[GS_MAX_RANK];
  po_strides(dim, rank, dense);
  for (uint32_t d = 0; d < rank; d++)
    if (dim[d] > 1 && !(mentioned >> d & 1) && stride[d] != dense[d])
      return d;
  return rank;
}

/* ---- elements ---- */

isl_set *
po_operand_elements(const po_program *program, const po_operand *operand) {
  assert(operand->array < program->arrays.len && operand->rank <= GS_MAX_RANK);
  isl_ctx *isl = program->isl;
  const po_array *array = &program->arrays.data[operand->array];
  uint32_t n = operand->rank;
  isl_aff *address = po_index(isl, n, n, 0, operand->offset);
  for (uint32_t d = 0; d < n; d++)
    address = isl_aff_add(address, po_index(isl, n, d, operand->stride[d], 0));
  int64_t size = gs_prod(array->dim, array->rank);
  isl_multi_aff *element = po_reshape(isl, &size, 1, array->dim, array->rank);
  element = isl_multi_aff_pullback_multi_aff(element,
                                             isl_multi_aff_from_aff(address));
  element = isl_multi_aff_set_tuple_id(element, isl_dim_out,
                                       isl_id_alloc(isl, array->name, NULL));
  return isl_set_apply(po_box(isl, operand->dim, n),
                       isl_map_from_multi_aff(element));
}

/* An operand with base: x = base(i) + what j[d] adds. */
typedef struct walk {
  const po_program *p;
  const po_array *array;
  const po_operand *o;
  uint32_t n;                  /* indices of the instance */
  uint32_t moving;             /* the first dimension that is not folded */
  int64_t place[GS_MAX_RANK];  /* in memory, a dimension of the array */
  int64_t stride[GS_MAX_RANK]; /* of the array */
} walk;

static void
begin(walk *w, const po_program *p, const po_stmt *stmt, const po_operand *o) {
  *w = (walk){p, &p->arrays.data[o->array], o, stmt->n_iters, 0, {0}, {0}};
  po_places(w->array, w->place);
  po_strides(w->place, w->array->rank, w->stride);
  for (uint32_t r = 0; r < w->array->rank; r++)
    if (w->array->fold[r])
      w->moving = r + 1;
}

/* Element r of base(i), over [i, j]. */
static __isl_give isl_aff *
start_at(const walk *w, uint32_t r) {
  isl_multi_aff *base =
      isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(w->o->base));
  base = isl_multi_aff_reset_tuple_id(base, isl_dim_in);
  isl_aff *aff = isl_multi_aff_get_aff(base, (int)r);
  isl_multi_aff_free(base);
  return isl_aff_add_dims(aff, isl_dim_in, w->o->rank);
}

static __isl_give isl_aff *
moved(const walk *w, __isl_take isl_aff *aff, uint32_t d, int64_t by) {
  uint32_t all = w->n + w->o->rank;
  return isl_aff_add(aff, po_index(w->p->isl, all, w->n + d, by, 0));
}

/* By so many elements along each dimension of the array; NULL where a stride
 * is no sum of the array's. */
static __isl_give isl_multi_aff *
by_steps(const walk *w) {
  uint32_t rank = w->array->rank, all = w->n + w->o->rank;
  int64_t left[GS_MAX_RANK] = {0};
  isl_multi_aff *x = isl_multi_aff_zero(po_map_space(w->p->isl, all, rank));
  for (uint32_t d = 0; d < w->o->rank; d++)
    left[d] = w->o->dim[d] > 1 ? w->o->stride[d] : 0;
  for (uint32_t r = 0; r < rank; r++) {
    isl_aff *aff = start_at(w, r);
    for (uint32_t d = 0; r >= w->moving && d < w->o->rank; d++) {
      if (w->place[r] > 1)
        aff = moved(w, aff, d, left[d] / w->stride[r]);
      left[d] = w->place[r] > 1 ? left[d] % w->stride[r] : left[d];
    }
    x = isl_multi_aff_set_aff(x, (int)r, aff);
  }
  for (uint32_t d = 0; d < w->o->rank; d++)
    if (left[d])
      return isl_multi_aff_free(x);
  return x;
}

/* From the address, divided up. */
static __isl_give isl_multi_aff *
by_address(const walk *w) {
  uint32_t rank = w->array->rank, all = w->n + w->o->rank, k = w->moving;
  isl_ctx *isl = w->p->isl;
  isl_aff *address = po_index(isl, all, all, 0, 0);
  isl_multi_aff *x = isl_multi_aff_zero(po_map_space(isl, all, rank));
  for (uint32_t r = 0; r < k; r++)
    x = isl_multi_aff_set_aff(x, (int)r, start_at(w, r));
  for (uint32_t r = k; r < rank; r++)
    address = isl_aff_add(
        address, isl_aff_scale_val(start_at(w, r),
                                   isl_val_int_from_si(isl, w->stride[r])));
  for (uint32_t d = 0; d < w->o->rank; d++)
    address = moved(w, address, d, w->o->dim[d] > 1 ? w->o->stride[d] : 0);
  int64_t size = gs_prod(w->place + k, rank - k);
  isl_multi_aff *rest = po_reshape(isl, &size, 1, w->place + k, rank - k);
  rest =
      isl_multi_aff_pullback_multi_aff(rest, isl_multi_aff_from_aff(address));
  for (uint32_t r = k; r < rank; r++)
    x = isl_multi_aff_set_aff(x, (int)r,
                              isl_multi_aff_get_aff(rest, (int)(r - k)));
  isl_multi_aff_free(rest);
  return x;
}

/* { [i, j] -> [x] } as x says, for the instances of the statement. */
static __isl_give isl_map *
covered(const walk *w, const po_stmt *stmt, __isl_take isl_multi_aff *x) {
  isl_set *domain = isl_set_reset_tuple_id(isl_set_copy(stmt->domain));
  isl_set *box = po_box(w->p->isl, w->o->dim, w->o->rank);
  isl_set *both = isl_set_flatten(isl_set_product(domain, box));
  return isl_map_intersect_domain(isl_map_from_multi_aff(x), both);
}

static bool
is_inside(const walk *w, __isl_keep isl_map *map) {
  isl_set *range = isl_map_range(isl_map_copy(map));
  isl_set *all = po_box(w->p->isl, w->array->dim, w->array->rank);
  bool inside = isl_set_is_subset(range, all) == isl_bool_true;
  isl_set_free(range);
  isl_set_free(all);
  return inside;
}

/* { [i, j] -> [x] } */
static __isl_give isl_map *
elements(const walk *w, const po_stmt *stmt) {
  isl_multi_aff *steps = by_steps(w);
  isl_map *map = steps ? covered(w, stmt, steps) : NULL;
  if (map && is_inside(w, map))
    return map;
  isl_map_free(map);
  return covered(w, stmt, by_address(w));
}

isl_map *
po_operand_map(const po_program *p, const po_stmt *stmt, const po_operand *o) {
  if (!o->base)
    return isl_map_from_domain_and_range(isl_set_copy(stmt->domain),
                                         po_operand_elements(p, o));
  walk w;
  begin(&w, p, stmt, o);
  isl_map *map = elements(&w, stmt);
  map = isl_map_project_out(map, isl_dim_in, w.n, o->rank);
  map =
      isl_map_set_tuple_id(map, isl_dim_in, isl_set_get_tuple_id(stmt->domain));
  return isl_map_set_tuple_id(map, isl_dim_out,
                              isl_id_alloc(p->isl, w.array->name, NULL));
}

bool
po_operand_is_inside(const po_program *p, const po_stmt *stmt,
                     const po_operand *o) {
  assert(o->base);
  walk w;
  begin(&w, p, stmt, o);
  isl_map *map = elements(&w, stmt);
  bool inside = is_inside(&w, map);
  isl_map_free(map);
  return inside;
}
