/* SPDX-License-Identifier: MIT */
/* loops_number.c - see loops_number.h. */
#include "poly/loops/loops_number.h"
#include "poly/loops/affine.h"
#include "poly/loops/loops_sizes.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <isl/ilp.h>
#include <isl/val.h>

/* Floors in one another. */
enum { MOST_DEPTH = 4 };

gs_sizes *
po_numbers_of(const po_program *p, bs_arena *arena) {
  if (!po_has_sizes(p))
    return NULL;
  gs_sizes *s = BS_NEWS(arena, gs_sizes, 1);
  *s = (gs_sizes){0};
  gs_sizes_init(s, p->ctx.heap, p->ctx.values);
  for (uint32_t k = 0; k < p->sizes.len; k++) {
    const po_size *size = &p->sizes.data[k];
    gs_add_size(s, &(gs_size){.name = size->name,
                              .least = size->least,
                              .most = size->most,
                              .multiple = size->multiple});
  }
  return s;
}

/* ---- functions as numbers ---- */

static gs_number
number_of_size(gs_sizes *s, uint32_t k) {
  const gs_size *size = &s->list[k];
  gs_polynomial p = {.n = 1, .term = {{.by = size->multiple, .n = 1}}};
  p.term[0].atom[0] = k;
  return size->least == size->most ? size->least : gs_number_of(s, &p);
}

/* by * x is added; false: `by` is no integer. */
static bool
add(gs_sizes *s, __isl_take isl_val *by, gs_number x, gs_number *sum) {
  int64_t factor;
  if (!po_int(by, &factor))
    return false;
  *sum = gs_combine(&s->over, 1, *sum, factor, x, 0);
  return true;
}

static bool number_of(gs_sizes *, __isl_keep isl_aff *, uint32_t depth,
                      gs_number *out);

static bool
add_floor(gs_sizes *s, __isl_keep isl_aff *aff, int k, uint32_t depth,
          gs_number *sum) {
  isl_val *by = isl_aff_get_coefficient_val(aff, isl_dim_div, k);
  if (isl_val_is_zero(by) == isl_bool_true) {
    isl_val_free(by);
    return true;
  }
  isl_aff *floor = isl_aff_get_div(aff, k);
  gs_number x = 0;
  bool ok = isl_aff_involves_dims(floor, isl_dim_in, 0,
                                  (unsigned)isl_aff_dim(floor, isl_dim_in)) ==
                isl_bool_false &&
            number_of(s, floor, depth + 1, &x);
  isl_aff_free(floor);
  if (ok)
    return add(s, by, x, sum);
  isl_val_free(by);
  return false;
}

/* The sum of what is not an index, which has integers for coefficients. */
static bool
add_terms(gs_sizes *s, __isl_keep isl_aff *aff, uint32_t depth,
          gs_number *sum) {
  bool ok = add(s, isl_aff_get_constant_val(aff), 1, sum);
  for (uint32_t k = 0; k < s->n && ok; k++)
    ok = add(s, isl_aff_get_coefficient_val(aff, isl_dim_param, (int)k),
             number_of_size(s, k), sum);
  for (int k = 0; k < isl_aff_dim(aff, isl_dim_div) && ok; k++)
    ok = add_floor(s, aff, k, depth, sum);
  return ok;
}

/* Rounded down, as isl has floors. Depth is limited. */
static bool
number_of(gs_sizes *s, __isl_keep isl_aff *aff, uint32_t depth,
          gs_number *out) {
  int64_t by;
  isl_val *denominator = isl_aff_get_denominator_val(aff);
  isl_aff *whole =
      isl_aff_scale_val(isl_aff_copy(aff), isl_val_copy(denominator));
  gs_number sum = 0;
  bool ok = po_int(denominator, &by) && whole && depth < MOST_DEPTH &&
            add_terms(s, whole, depth, &sum);
  isl_aff_free(whole);
  *out = ok ? gs_quotient(&s->over, sum, by) : 0;
  return ok &&
         (gs_is_sized(*out) || (*out > -GS_MOST_PLAIN && *out < GS_MOST_PLAIN));
}

bool
po_number_of(const po_program *p, gs_sizes *s, isl_aff *aff, gs_number *out) {
  isl_aff *aligned = po_aff_with_sizes(p, isl_aff_copy(aff));
  bool ok = aligned && number_of(s, aligned, 0, out);
  isl_aff_free(aligned);
  return ok;
}

bool
po_split_affine(const po_program *p, gs_sizes *s, isl_aff *aff, gs_number *rest,
                int64_t *coefficient) {
  assert(po_has_sizes(p) && coefficient);
  isl_size n = isl_aff_dim(aff, isl_dim_in);
  isl_aff *left = isl_aff_copy(aff);
  bool ok = n >= 0;
  for (int k = 0; k < n && ok; k++) {
    ok = po_int(isl_aff_get_coefficient_val(aff, isl_dim_in, k),
                &coefficient[k]);
    left = isl_aff_set_coefficient_si(left, isl_dim_in, k, 0);
  }
  ok = ok && left && po_number_of(p, s, left, rest);
  isl_aff_free(left);
  return ok;
}

bool
po_extent_number(const po_program *p, gs_sizes *s, const po_array *array,
                 uint32_t d, gs_number *out) {
  assert(d < array->rank);
  int64_t place[GS_MAX_RANK];
  if (array->fold[d] || !array->extent[d]) {
    po_places(array, place);
    *out = place[d];
    return true;
  }
  if (!po_number_of(p, s, array->extent[d], out))
    return false;
  *out = gs_plus(&s->over, *out, array->pad[d]);
  return true;
}

/* ---- loops ---- */

isl_aff *
po_only_piece(const po_program *p, isl_pw_aff *pw) {
  isl_aff *aff = NULL;
  /* isl 0.24 fails at a gist by parameters of a function of indices. */
  isl_set *all = isl_set_universe(isl_pw_aff_get_domain_space(pw));
  pw = isl_pw_aff_gist(pw, po_within_sizes(p, all));
  pw = isl_pw_aff_coalesce(pw);
  if (pw && isl_pw_aff_isa_aff(pw) == isl_bool_true)
    aff = isl_pw_aff_as_aff(isl_pw_aff_copy(pw));
  isl_pw_aff_free(pw);
  return aff;
}

bool
po_last_number(const po_program *p, gs_sizes *s, const po_stmt *stmt,
               uint32_t k, gs_number *out) {
  assert(k < stmt->n_iters);
  isl_pw_aff *last = isl_set_dim_max(isl_set_copy(stmt->domain), (int)k);
  isl_aff *aff = last ? po_only_piece(p, last) : NULL;
  bool ok = aff && po_number_of(p, s, aff, out);
  isl_aff_free(aff);
  return ok;
}

/* From the first to the last index k. */
static gs_number
range_number(const po_program *p, gs_sizes *s, const po_stmt *stmt,
             uint32_t k) {
  int64_t lo = 0, hi = 0;
  gs_number last;
  po_int(isl_set_dim_min_val(isl_set_copy(stmt->domain), (int)k), &lo);
  if (!po_last_number(p, s, stmt, k, &last)) {
    po_int(isl_set_dim_max_val(isl_set_copy(stmt->domain), (int)k), &hi);
    last = hi;
  }
  return gs_plus(&s->over, last, 1 - lo);
}

/* The index takes no more than two values where the others are known, as that
 * of the tile does which an iteration is in. */
static bool
follows(__isl_keep isl_set *set, uint32_t k) {
  isl_size n = isl_set_dim(set, isl_dim_set);
  if (n < 0 || k >= (uint32_t)n)
    return false;
  isl_map *in = isl_map_from_range(isl_set_copy(set));
  in = isl_map_move_dims(in, isl_dim_in, 0, isl_dim_out, k + 1,
                         (unsigned)n - k - 1);
  in = isl_map_move_dims(in, isl_dim_in, 0, isl_dim_out, 0, k);
  isl_map *pairs = isl_map_apply_range(isl_map_reverse(isl_map_copy(in)), in);
  int64_t apart;
  return po_int(isl_set_dim_max_val(isl_map_deltas(pairs), 0), &apart) &&
         apart < 2;
}

gs_number
po_box_number(const po_program *p, gs_sizes *s, const po_stmt *stmt) {
  assert(po_has_sizes(p));
  isl_set *rest = isl_set_reset_tuple_id(isl_set_copy(stmt->domain));
  gs_number all = 1;
  for (uint32_t k = 0, left = 0; k < stmt->n_iters; k++) {
    gs_number range = range_number(p, s, stmt, k);
    if (gs_is_sized(range) && follows(rest, left))
      rest = isl_set_project_out(rest, isl_dim_set, left, 1);
    else {
      all = gs_product(&s->over, all, range);
      left++;
    }
  }
  isl_set_free(rest);
  return all;
}

/* ---- numbers as functions ---- */

static __isl_give isl_aff *
divided(__isl_take isl_aff *aff, int64_t by) {
  isl_ctx *isl = isl_aff_get_ctx(aff);
  return by == 1 ? aff
                 : isl_aff_floor(isl_aff_scale_down_val(
                       aff, isl_val_int_from_si(isl, by)));
}

static __isl_give isl_aff *
constant(const po_program *p, uint32_t n, int64_t c) {
  return po_aff_with_sizes(p, po_index(p->isl, n, n, 0, c));
}

/* A size divided by its multiple, times `by`; a quotient, times `by`. */
static __isl_give isl_aff *
term_aff(const po_program *p, const gs_sizes *s, uint32_t n,
         const gs_size_term *t) {
  gs_atom atom = gs_atom_of(s, t->atom[0]);
  int64_t by = t->by;
  isl_aff *aff;
  if (atom.size == GS_MOST_SIZES) {
    aff = divided(po_aff_of_number(p, s, n, atom.of), atom.by);
  } else {
    int64_t multiple = s->list[atom.size].multiple;
    bool whole = by % multiple == 0;
    by = whole ? by / multiple : by;
    aff = divided(po_size_aff(p, atom.size, n), whole ? 1 : multiple);
  }
  return isl_aff_scale_val(aff, isl_val_int_from_si(p->isl, by));
}

/* Quotients stand in one another three deep at most. */
isl_aff *
po_aff_of_number(const po_program *p, const gs_sizes *s, uint32_t n,
                 gs_number x) {
  assert(s || !gs_is_sized(x));
  gs_polynomial sum;
  if (!gs_is_sized(x))
    return constant(p, n, x);
  gs_polynomial_of(s, x, &sum);
  isl_aff *out = constant(p, n, 0);
  for (uint32_t k = 0; k < sum.n; k++)
    out = isl_aff_add(out, sum.term[k].n ? term_aff(p, s, n, &sum.term[k])
                                         : constant(p, n, sum.term[k].by));
  return out;
}
