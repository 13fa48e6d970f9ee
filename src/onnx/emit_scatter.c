/* SPDX-License-Identifier: MIT */
/* emit_scatter.c - elements that tuples of indices choose, and scatters, which
 * are looked at from their result: what, if anything, was written there. */
#include "onnx/onnx_import.h"
#include <assert.h>

#include <math.h>
#include <string.h>

/* ---- tuples of indices ---- */

/* What the indices of GatherND and ScatterND are about: `batch` dimensions
 * that are shared, `depth` that an index chooses in, and the rest. */
typedef struct tuples {
  gs_type data, at;
  uint32_t batch, depth, rest;
  int64_t table, n; /* elements to choose from; indices of a batch */
} tuples;

static bool
find_tuples(on_import *im, int64_t batch, tuples *u) {
  if (!on_shape_in(im, 0, &u->data) || !on_shape_in(im, 1, &u->at))
    return false;
  int64_t depth = u->at.rank ? u->at.dim[u->at.rank - 1] : 0;
  if (batch < 0 || batch >= u->at.rank || batch >= u->data.rank || depth < 1 ||
      depth > u->data.rank - batch)
    return on_fail(im, "the shape of its indices does not match that of its "
                       "data");
  for (int64_t k = 0; k < batch; k++)
    if (u->at.dim[k] != u->data.dim[k])
      return on_fail(im, "the shape of its indices does not match that of "
                         "its data");
  u->batch = (uint32_t)batch;
  u->depth = (uint32_t)depth;
  u->rest = u->data.rank - u->batch - u->depth;
  u->table = gs_prod(u->data.dim + batch, u->depth);
  u->n = gs_prod(u->at.dim + batch, u->at.rank - 1 - u->batch);
  if (!on_check_places(im, 1, u->data.dim + batch, u->depth))
    return false;
  return u->table <= INT32_MAX || on_fail(im, "it chooses from too many "
                                              "elements");
}

/* One number instead of a tuple: (batch..., n). */
static gs_term
flat_indices(on_import *im, const tuples *u, gs_term at) {
  gs_term sum = GS_NO_TERM;
  uint32_t last = u->at.rank - 1u;
  int64_t dim[GS_MAX_RANK + 1];
  for (uint32_t k = 0; k < u->depth; k++) {
    const int64_t *size = u->data.dim + u->batch + k;
    gs_term one = t_squeeze(im, t_slice(im, at, last, k, k + 1), last);
    one = t_scale(im, (double)gs_prod(size + 1, u->depth - k - 1),
                  t_from_end(im, one, *size));
    sum = k ? t_fold(im, "add", sum, one) : one;
  }
  memcpy(dim, u->at.dim, u->batch * sizeof *dim);
  dim[u->batch] = u->n;
  return t_reshape(im, sum, dim, u->batch + 1, NULL, 0);
}

/* (batch..., table, rest...), and the table last: ((batch..., rest...),
 * (table)). */
static gs_term
as_table(on_import *im, const tuples *u, gs_term x, int64_t size) {
  int64_t dim[GS_MAX_RANK + 1];
  memcpy(dim, u->data.dim, u->batch * sizeof *dim);
  dim[u->batch] = size;
  memcpy(dim + u->batch + 1, u->data.dim + u->batch + u->depth,
         u->rest * sizeof *dim);
  x = t_reshape(im, x, dim, u->batch + 1 + u->rest, NULL, 0);
  return t_axis_last(im, x, u->batch);
}

/* (batch..., n) as ((batch..., rest...), (n)), the same for all of the rest. */
static gs_term
for_the_rest(on_import *im, const tuples *u, gs_term at) {
  gs_type t;
  if (!t_type(im, at, &t))
    return GS_NO_TERM;
  int64_t n = t.dim[u->batch];
  for (uint32_t k = 0; k < u->rest; k++) {
    at = t_insert(im, at, u->batch);
    t.dim[u->batch + k] = u->data.dim[u->batch + u->depth + k];
  }
  t.dim[u->batch + u->rest] = n;
  at = t_broadcast(im, at, t.dim, u->batch + u->rest + 1);
  return t_access(im, at, u->batch + u->rest);
}

void
emit_gather_nd(on_import *im) {
  tuples u;
  gs_term x = on_term_in(im, 0), at = on_term_in(im, 1);
  if (!find_tuples(im, on_attr_int(im, "batch_dims", 0), &u))
    return;
  uint32_t outer = u.at.rank - 1u;
  int64_t dim[2 * GS_MAX_RANK];
  if (outer + u.rest > GS_MAX_RANK) {
    on_fail(im, "it has too many dimensions");
    return;
  }
  x = t_look_up(im, as_table(im, &u, x, u.table),
                for_the_rest(im, &u, flat_indices(im, &u, at)));
  memcpy(dim, u.at.dim, outer * sizeof *dim);
  memcpy(dim + outer, u.data.dim + u.batch + u.depth, u.rest * sizeof *dim);
  x = t_reshape(im, t_axis_back(im, x, u.batch), dim, outer + u.rest, NULL, 0);
  on_out(im, 0, x, on_type_in(im, 0));
}

/* ---- scatter ---- */

enum { MOST_TESTS = 1 << 28 };

/* Indices ((s...), (n)) against 0 .. size - 1: (s..., size, n), of i32, 1
 * where index j is i.  Neither is below 0, so a difference does not wrap. */
static gs_term
hits(on_import *im, gs_term at, int64_t size) {
  gs_type t;
  if (!t_type(im, at, &t))
    return GS_NO_TERM;
  uint32_t s = t.access;
  int64_t n = t.dim[s];
  if (gs_elements(&t) > MOST_TESTS / size || s + 2 > GS_MAX_RANK) {
    on_fail(im, "its result is too large to ask, for each element, which "
                "update wrote it");
    return GS_NO_TERM;
  }
  t.dim[s] = size;
  t.dim[s + 1] = n;
  gs_term place = t_insert(im, t_iota(im, GS_I32, size), 1);
  place = t_fit(im, place, t.dim, s + 2);
  at = t_broadcast(im, t_insert(im, t_whole(im, at), s), t.dim, s + 2);
  return t_same_index(im, at, place);
}

typedef struct scatter {
  gs_term data, updates; /* ((s...), (size)) and ((s...), (n)) */
  gs_term hits;          /* (s..., size, n) */
  gs_type at;            /* the type of `hits` */
} scatter;

/* Of the updates of an element the last one counts. */
static gs_term
overwritten(on_import *im, const scatter *x, gs_term last) {
  gs_type t;
  if (!t_type(im, x->data, &t))
    return GS_NO_TERM;
  gs_term found = t_access(im, t_compute(im, "relu", last), t.access);
  found = t_whole(im, t_look_up(im, x->updates, found));
  gs_term is = t_clip(im, 0, 1, t_offset(im, 1, last));
  return t_select(im, t_cast(im, t.dtype, is), found, t_whole(im, x->data));
}

/* The place of the last hit, or -1: (s..., size). */
static gs_term
last_hit(on_import *im, gs_term hit) {
  gs_type t;
  if (!t_type(im, hit, &t))
    return GS_NO_TERM;
  gs_term none = t_value(im, GS_I32, -1, t.dim, t.rank);
  gs_term place = t_iota(im, GS_I32, t.dim[t.rank - 1]);
  gs_term last = t_select(im, hit, t_fit(im, place, t.dim, t.rank), none);
  return t_compute(im, "reduceMax", t_access(im, last, t.rank - 1));
}

static const struct joining {
  const char *name, *reduce, *op;
  double start; /* infinite: the largest or smallest of the dtype */
} joinings[] = {{"add", "reduceSum", "add", 0},
                {"mul", "reduceProd", "mul", 1},
                {"max", "reduceMax", "max", -INFINITY},
                {"min", "reduceMin", "min", INFINITY}};

static double
start_of(const struct joining *j, gs_dtype d) {
  assert(d < GS_DTYPE_COUNT);
  if (!gs_dtype_table[d].integer || isfinite(j->start))
    return j->start;
  return (double)(j->start > 0 ? gs_dtype_most(d) : gs_dtype_least(d));
}

/* All updates of an element are combined with it. */
static gs_term
joined(on_import *im, const scatter *x, const struct joining *j) {
  gs_type t, u;
  if (!t_type(im, x->data, &t) || !t_type(im, x->updates, &u))
    return GS_NO_TERM;
  gs_term with = t_insert(im, t_whole(im, x->updates), t.access);
  with = t_broadcast(im, with, x->at.dim, x->at.rank);
  gs_term none =
      t_value(im, t.dtype, start_of(j, t.dtype), x->at.dim, x->at.rank);
  with = t_select(im, t_cast(im, t.dtype, x->hits), with, none);
  with = t_compute(im, j->reduce, t_access(im, with, x->at.rank - 1));
  return t_fold(im, j->op, t_whole(im, x->data), t_cast(im, t.dtype, with));
}

static gs_term
scattered(on_import *im, scatter *x) {
  if (!t_type(im, x->hits, &x->at))
    return GS_NO_TERM;
  if (on_attr_is(im, "reduction", "none", "none"))
    return overwritten(im, x, last_hit(im, x->hits));
  for (size_t k = 0; k < sizeof joinings / sizeof *joinings; k++)
    if (on_attr_is(im, "reduction", joinings[k].name, "none"))
      return joined(im, x, &joinings[k]);
  on_fail(im, "its reduction is not known");
  return GS_NO_TERM;
}

/* What lies beyond the indices along other axes stays as it is. */
static gs_term
with_margins(on_import *im, gs_term inner, gs_term x, const gs_type *type,
             const gs_type *part, uint32_t axis) {
  for (uint32_t k = type->rank; k-- > 0;) {
    if (k == axis || part->dim[k] == type->dim[k])
      continue;
    gs_term margin = t_slice(im, x, k, part->dim[k], type->dim[k]);
    for (uint32_t d = 0; d < k; d++)
      if (d != axis)
        margin = t_slice(im, margin, d, 0, part->dim[d]);
    inner = t_concat(im, inner, margin, k);
  }
  return inner;
}

void
emit_scatter_elements(on_import *im) {
  gs_type type, index, update;
  uint32_t axis;
  gs_term x = on_term_in(im, 0), at = on_term_in(im, 1),
          updates = on_term_in(im, 2), part = x;
  if (!t_type(im, x, &type) || !t_type(im, at, &index) ||
      !t_type(im, updates, &update) ||
      !on_axis(im, on_attr_int(im, "axis", 0), type.rank, &axis))
    return;
  if (index.rank != type.rank || update.rank != type.rank ||
      memcmp(index.dim, update.dim, type.rank * sizeof *index.dim)) {
    on_fail(im, "its indices and updates differ in shape, or in rank from "
                "its data");
    return;
  }
  if (!on_check_places(im, 1, type.dim + axis, 1))
    return;
  for (uint32_t k = 0; k < type.rank; k++)
    if (k != axis)
      part = t_slice(im, part, k, 0, index.dim[k]);
  at = t_axis_last(im, t_from_end(im, at, type.dim[axis]), axis);
  scatter s = {.data = t_axis_last(im, part, axis),
               .updates = t_axis_last(im, updates, axis),
               .hits = hits(im, at, type.dim[axis])};
  gs_term out = t_axis_back(im, scattered(im, &s), axis);
  on_out(im, 0, with_margins(im, out, x, &type, &index, axis),
         on_type_in(im, 0));
}

/* Whether an index is hit does not depend on the rest: (size, n) stands for
 * (rest..., size, n). */
void
emit_scatter_nd(on_import *im) {
  tuples u;
  gs_term x = on_term_in(im, 0), at = on_term_in(im, 1),
          updates = on_term_in(im, 2);
  int64_t dim[GS_MAX_RANK + 2];
  if (!find_tuples(im, 0, &u))
    return;
  gs_term hit = hits(im, t_access(im, flat_indices(im, &u, at), 0), u.table);
  memcpy(dim, u.data.dim + u.depth, u.rest * sizeof *dim);
  dim[u.rest] = u.table;
  dim[u.rest + 1] = u.n;
  scatter s = {.data = as_table(im, &u, x, u.table),
               .updates = as_table(im, &u, updates, u.n),
               .hits = t_fit(im, hit, dim, u.rest + 2)};
  gs_term out = t_axis_back(im, scattered(im, &s), 0);
  on_out(im, 0, t_reshape(im, out, u.data.dim, u.data.rank, NULL, 0),
         on_type_in(im, 0));
}
