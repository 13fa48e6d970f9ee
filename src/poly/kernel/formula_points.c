/* SPDX-License-Identifier: MIT */
/* formula_points.c - may what a formula writes be linear in the loops of sums?
 *
 * The exact answer inverts the function by which the formula reads the sums.
 * With quotients in it, as of windows that are put together to an image, that
 * takes a tenth of a second, and most of the time the answer is no.  A linear
 * function is known from the origin and one step along each loop, so one more
 * point where the address is another one refutes it. */
#include "poly/kernel/reduction.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/affine.h"
#include <assert.h>

typedef struct formula {
  const po_reduction *l;
  const po_stmt *last;
  isl_map *reads;      /* from its instances to the sums */
  isl_pw_aff *address; /* of what it writes */
} formula;

static isl_stat
look_for_quotients(__isl_take isl_set *set, __isl_take isl_multi_aff *map,
                   void *user) {
  bool *found = user;
  isl_size n = isl_multi_aff_dim(map, isl_dim_out);
  for (isl_size d = 0; d < n; d++) {
    isl_aff *aff = isl_multi_aff_get_at(map, d);
    *found |= isl_aff_dim(aff, isl_dim_div) > 0;
    isl_aff_free(aff);
  }
  isl_set_free(set);
  isl_multi_aff_free(map);
  return isl_stat_ok;
}

static bool
has_quotients(__isl_keep isl_pw_multi_aff *map) {
  bool found = false;
  isl_pw_multi_aff_foreach_piece(map, look_for_quotients, &found);
  return found;
}

static bool
value_at(__isl_take isl_pw_aff *function, __isl_keep isl_point *at,
         int64_t *out) {
  return po_int(isl_pw_aff_eval(function, isl_point_copy(at)), out);
}

/* The elements that this instance stores, read by an instance of the formula;
 * NULL: by none. */
static __isl_give isl_point *
reader_of(const formula *f, __isl_keep isl_point *stored) {
  isl_map *reads = isl_map_copy(f->reads);
  isl_size n = isl_map_dim(reads, isl_dim_out);
  bool ok = n >= 0;
  for (isl_size d = 0; d < n && ok; d++) {
    int64_t element;
    ok = value_at(isl_pw_multi_aff_get_at(f->last->write, (int)d), stored,
                  &element);
    if (ok)
      reads = isl_map_fix_val(reads, isl_dim_out, (unsigned)d,
                              isl_val_int_from_si(f->l->p->isl, (long)element));
  }
  isl_point *at = isl_set_sample_point(isl_map_domain(reads));
  if (ok && isl_point_is_void(at) == isl_bool_false)
    return at;
  isl_point_free(at);
  return NULL;
}

/* What is written of the sums at a point of their loops. */
static bool
address_at(const formula *f, const int64_t *loops, int64_t *out) {
  isl_point *stored = isl_point_zero(isl_set_get_space(f->last->domain));
  for (uint32_t d = 0; d < f->l->n_outer; d++)
    stored = isl_point_set_coordinate_val(
        stored, isl_dim_set, (int)d,
        isl_val_int_from_si(f->l->p->isl, (long)loops[d]));
  isl_point *reader = reader_of(f, stored);
  bool ok = reader && value_at(isl_pw_aff_copy(f->address), reader, out);
  isl_point_free(reader);
  isl_point_free(stored);
  return ok;
}

/* Whether the last point of the loops, and one amid them, have the addresses
 * that follow from one step along each. */
static bool
agrees(const formula *f) {
  const po_reduction *l = f->l;
  int64_t at[PO_MAX_DIMS] = {0}, middle[PO_MAX_DIMS] = {0};
  int64_t base, stepped, last, amid;
  if (!address_at(f, at, &base))
    return false;
  int64_t meant_last = base, meant_amid = base;
  for (uint32_t d = 0; d < l->n_outer; d++) {
    if (l->extent[d] == 1)
      continue;
    at[d] = 1;
    if (!address_at(f, at, &stepped))
      return false;
    at[d] = 0;
    middle[d] = l->extent[d] / 2;
    meant_last += (l->extent[d] - 1) * (stepped - base);
    meant_amid += middle[d] * (stepped - base);
  }
  for (uint32_t d = 0; d < l->n_outer; d++)
    at[d] = l->extent[d] - 1;
  return address_at(f, at, &last) && last == meant_last &&
         address_at(f, middle, &amid) && amid == meant_amid;
}

bool
po_may_be_linear(const po_reduction *l, const po_stmt *last, const po_stmt *to,
                 const po_expr *read) {
  assert(read->array == last->array);
  if (l->sizes || last->n_iters != l->n_outer || !has_quotients(read->index))
    return true;
  formula f = {.l = l, .last = last};
  f.reads = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(read->index));
  f.reads = isl_map_intersect_domain(f.reads, isl_set_copy(to->domain));
  f.address = po_linear_pw(to->write, l->p->arrays.data[to->array].dim);
  bool ok = agrees(&f);
  isl_map_free(f.reads);
  isl_pw_aff_free(f.address);
  return ok;
}
