/* SPDX-License-Identifier: MIT */
/* pad_array.c - arrays of pad_einsum; see pad.h. */
#include "poly/loops/affine.h"
#include "poly/schedule/pad.h"
#include <assert.h>
#include <isl/ilp.h>
#include <string.h>
#include <isl/val.h>

/* ---- arrays ---- */

po_padded *
po_padded_of(po_padding *x, uint32_t array) {
  assert(array < x->p->arrays.len);
  for (uint32_t k = 0; k < x->n_arrays; k++)
    if (x->arrays[k].array == array)
      return &x->arrays[k];
  return NULL;
}

/* The elements that a part uses, of instances as they were or are now. */
static __isl_give isl_set *
used_by(const po_padding *x, uint32_t array, bool now, isl_set *all) {
  for (uint32_t k = 0; k < x->n; k++) {
    const po_stmt *s = po_pad_part(x, k);
    isl_set *runs = now ? x->now[k] : x->was[k];
    if (s->array == array)
      all = isl_set_union(
          all, isl_set_apply(isl_set_copy(runs), po_pad_access(s->write)));
    for (uint32_t j = 0; j < s->n_exprs; j++)
      if (s->exprs[j].kind == PO_READ && s->exprs[j].array == array)
        all =
            isl_set_union(all, isl_set_apply(isl_set_copy(runs),
                                             po_pad_access(s->exprs[j].index)));
  }
  return isl_set_coalesce(all);
}

static __isl_give isl_set *
no_elements(const po_padding *x, uint32_t array) {
  assert(array < x->p->arrays.len);
  const po_array *a = &x->p->arrays.data[array];
  isl_space *space = isl_space_set_alloc(x->p->isl, 0, a->rank);
  space = isl_space_set_tuple_id(space, isl_dim_set,
                                 isl_id_alloc(x->p->isl, a->name, NULL));
  return isl_set_empty(space);
}

/* The box around all elements, old and new; false where it is too large. */
static bool
find_box(const po_padding *x, uint32_t array, int64_t *lo, int64_t *dim) {
  assert(array < x->p->arrays.len);
  const po_array *a = &x->p->arrays.data[array];
  isl_set *all = used_by(x, array, true, no_elements(x, array));
  int64_t elements = 1;
  bool ok = true;
  for (uint32_t d = 0; d < a->rank && ok; d++) {
    isl_val *first = isl_set_dim_min_val(isl_set_copy(all), (int)d);
    isl_val *last = isl_set_dim_max_val(isl_set_copy(all), (int)d);
    ok = first && last && isl_val_is_int(first) == isl_bool_true &&
         isl_val_is_int(last) == isl_bool_true;
    lo[d] = ok ? isl_val_get_num_si(first) : 0;
    lo[d] = lo[d] < 0 ? lo[d] : 0;
    dim[d] = ok ? isl_val_get_num_si(last) + 1 : 0;
    dim[d] = (dim[d] < a->dim[d] ? a->dim[d] : dim[d]) - lo[d];
    ok = ok && !__builtin_mul_overflow(elements, dim[d], &elements) &&
         elements <= INT64_C(1) << 40;
    isl_val_free(first);
    isl_val_free(last);
  }
  isl_set_free(all);
  return ok || po_refuse(x->p, x->call, "too-large", "%s would be too large",
                         a->name);
}

/* Whether elements are used now that there are not. */
static bool
goes_beyond(const po_padding *x, uint32_t array) {
  const po_array *a = &x->p->arrays.data[array];
  isl_set *was = used_by(x, array, false, no_elements(x, array));
  isl_set *now = used_by(x, array, true, no_elements(x, array));
  bool same = isl_set_is_equal(was, now) == isl_bool_true;
  isl_set_free(was);
  isl_set_free(now);
  (void)a;
  return !same;
}

/* A copy in the workspace, of these dimensions. */
static uint32_t
add_larger(po_program *p, po_array a) {
  a.name = po_fresh_array_name(p, bs_arena_printf(&p->arena, "%s_pad", a.name));
  a.role = PO_WORKSPACE;
  a.term = GS_NO_TERM;
  a.data = NULL;
  a.number = 0;
  a.offset = 0;
  memset(a.fold, 0, sizeof a.fold);
  memset(a.pad, 0, sizeof a.pad);
  bs_push(p->ctx.heap, &p->arrays, a);
  return p->arrays.len - 1;
}

static bool
may_grow(const po_padding *x, uint32_t array) {
  if (po_is_rigid(x->p, array))
    return po_refuse(x->p, x->call, "rigid",
                     "%s is used by a call or a look-up, which need it whole",
                     x->p->arrays.data[array].name);
  return x->n_arrays < PO_PAD_ARRAYS ||
         po_refuse(x->p, x->call, "too-large", "more than %d arrays would grow",
                   PO_PAD_ARRAYS);
}

static bool
grows_downwards(const po_padding *x, const po_array *a, const int64_t *lo) {
  for (uint32_t d = 0; d < a->rank; d++)
    if (lo[d])
      return !po_refuse(x->p, x->call, "extent", "%s would grow downwards",
                        a->name);
  return false;
}

/* An array of the program's own grows where it is; others get a larger one
 * beside them. */
static bool
widen(po_padding *x, uint32_t array, bool written) {
  po_program *p = x->p;
  int64_t lo[GS_MAX_RANK], dim[GS_MAX_RANK];
  if (po_padded_of(x, array) || !goes_beyond(x, array))
    return true;
  if (!may_grow(x, array) || !find_box(x, array, lo, dim))
    return false;
  po_padded *made = &x->arrays[x->n_arrays++];
  *made = (po_padded){.array = array, .copy = array, .written = written};
  memcpy(made->lo, lo, sizeof lo);
  po_pool_reserve(&p->pool, 1);
  made->used =
      po_keep_set(&p->pool, used_by(x, array, false, no_elements(x, array)));
  po_array a = p->arrays.data[array];
  memcpy(a.dim, dim, sizeof a.dim);
  if (written && a.role != PO_OUTPUT) {
    if (grows_downwards(x, &a, lo))
      return false;
    p->arrays.data[array] = a;
    return true;
  }
  made->copy = add_larger(p, a);
  return true;
}

bool
po_pad_arrays(po_padding *x) {
  uint32_t own = po_pad_part(x, 0)->array;
  for (uint32_t k = 0; k < x->n; k++)
    if (!widen(x, po_pad_part(x, k)->array, true))
      return false;
  for (uint32_t k = 0; k < x->n; k++)
    for (uint32_t j = 0; j < po_pad_part(x, k)->n_exprs; j++)
      if (po_pad_part(x, k)->exprs[j].kind == PO_READ &&
          po_pad_part(x, k)->exprs[j].array != own &&
          !widen(x, po_pad_part(x, k)->exprs[j].array, false))
        return false;
  return true;
}

/* ---- copies ---- */

/* The first or the last child of the root with a part. */
static uint32_t
end_of_parts(const po_padding *x, bool last) {
  const po_program *p = x->p;
  uint32_t found = PO_NO_NODE;
  for (uint32_t n = po_node(p, 0)->first; n != PO_NO_NODE;
       n = po_node(p, n)->next)
    for (uint32_t k = 0; k < x->n; k++)
      if (po_nest_root(p, p->stmts.data[x->parts[k]].leaf) == n &&
          (last || found == PO_NO_NODE))
        found = n;
  return found;
}

/* { K[x] -> A[x - lo] } */
static isl_pw_multi_aff *
at_place(po_padding *x, const char *stmt, uint32_t array, const int64_t *lo) {
  po_program *p = x->p;
  const po_array *a = &p->arrays.data[array];
  isl_multi_aff *map = po_identity(p->isl, a->rank);
  for (uint32_t d = 0; lo && d < a->rank; d++)
    map = isl_multi_aff_set_aff(map, (int)d,
                                po_index(p->isl, a->rank, d, 1, -lo[d]));
  map = isl_multi_aff_set_tuple_id(map, isl_dim_in,
                                   isl_id_alloc(p->isl, stmt, NULL));
  map = isl_multi_aff_set_tuple_id(map, isl_dim_out,
                                   isl_id_alloc(p->isl, a->name, NULL));
  po_pool_reserve(&p->pool, 1);
  return po_keep_pw_multi_aff(&p->pool, isl_pw_multi_aff_from_multi_aff(map));
}

enum { COPY_IN, COPY_OUT, FILL };

/* A statement over elements of an array, in a nest of its own. */
static void
add_stmt(po_padding *x, const po_padded *a, int what, isl_set *elements,
         uint32_t before) {
  static const char *const ends[] = {"in", "out", "fill"};
  po_program *p = x->p;
  const po_array *copy = &p->arrays.data[a->copy];
  po_stmt s = {.kind = PO_ASSIGN, .term = p->arrays.data[a->array].term};
  s.name = po_fresh_stmt_name(
      p, bs_arena_printf(&p->arena, "%s_%s", copy->name, ends[what]));
  s.n_iters = s.n_outer = copy->rank;
  const char **names = BS_NEWS(&p->arena, const char *, s.n_iters + 1);
  for (uint32_t d = 0; d < s.n_iters; d++)
    names[d] = bs_arena_printf(&p->arena, "ax%u", d);
  s.iters = names;
  s.leaf = PO_NO_NODE;
  s.span = x->call->span;
  s.span.file = 0;
  isl_id *id = isl_id_alloc(p->isl, s.name, NULL);
  po_pool_reserve(&p->pool, 2);
  s.domain = po_keep_set(
      &p->pool, isl_set_set_tuple_id(isl_set_copy(elements), isl_id_copy(id)));
  s.time = po_keep_multi_aff(
      &p->pool, isl_multi_aff_set_tuple_id(po_identity(p->isl, s.n_iters),
                                           isl_dim_in, id));
  po_expr *e = BS_NEW(&p->arena, po_expr);
  *e = (po_expr){.kind = what == FILL ? PO_LITERAL : PO_READ,
                 .dtype = copy->dtype,
                 .literal = x->neutral,
                 .array = what == COPY_OUT ? a->copy : a->array};
  if (what != FILL)
    e->index = at_place(x, s.name, e->array, what == COPY_OUT ? a->lo : NULL);
  s.exprs = e;
  s.n_exprs = 1;
  s.array = what == COPY_OUT ? a->array : a->copy;
  s.write = at_place(x, s.name, s.array, what == COPY_OUT ? NULL : a->lo);
  bs_push(p->ctx.heap, &p->stmts, s);
  po_nest_alone(p, p->stmts.len - 1, 0, before, 0);
  if (what == FILL)
    x->fills[x->n_fills++] = s.name;
  else
    x->copies[x->n_copies++] = s.name;
}

/* The places of the copy that hold no element that was read. */
static __isl_give isl_set *
rest_of(const po_padding *x, const po_padded *a) {
  const po_array *copy = &x->p->arrays.data[a->copy];
  isl_set *box = po_box(x->p->isl, copy->dim, copy->rank);
  isl_multi_aff *shift = po_identity(x->p->isl, copy->rank);
  for (uint32_t d = 0; d < copy->rank; d++)
    shift = isl_multi_aff_set_aff(
        shift, (int)d, po_index(x->p->isl, copy->rank, d, 1, a->lo[d]));
  box = isl_set_apply(box, isl_map_from_multi_aff(shift));
  return isl_set_coalesce(
      isl_set_subtract(box, isl_set_reset_tuple_id(isl_set_copy(a->used))));
}

void
po_pad_copies(po_padding *x) {
  uint32_t first = end_of_parts(x, false);
  uint32_t next = po_node(x->p, end_of_parts(x, true))->next;
  for (uint32_t k = 0; k < x->n_arrays; k++) {
    po_padded *a = &x->arrays[k];
    if (a->copy == a->array)
      continue;
    po_pool_reserve(&x->p->pool, 2);
    isl_set *used =
        po_keep_set(&x->p->pool, isl_set_reset_tuple_id(isl_set_copy(a->used)));
    isl_set *rest = a->written ? NULL : po_keep_set(&x->p->pool, rest_of(x, a));
    if (a->written) {
      add_stmt(x, a, COPY_OUT, used, next);
      continue;
    }
    add_stmt(x, a, COPY_IN, used, first);
    add_stmt(x, a, FILL, rest, first);
  }
}

isl_pw_multi_aff *
po_pad_place(po_padding *x, const po_padded *a, isl_pw_multi_aff *index) {
  assert(a->array < x->p->arrays.len);
  po_program *p = x->p;
  isl_pw_multi_aff *to = isl_pw_multi_aff_copy(
      at_place(x, p->arrays.data[a->array].name, a->copy, a->lo));
  po_pool_reserve(&p->pool, 1);
  return po_keep_pw_multi_aff(&p->pool, isl_pw_multi_aff_pullback_pw_multi_aff(
                                            to, isl_pw_multi_aff_copy(index)));
}
