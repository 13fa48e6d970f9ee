/* SPDX-License-Identifier: MIT */
/* auto_lines.c - the cache lines that an access costs.
 *
 * After Carr, McKinley and Tseng, "Compiler optimizations for improving data
 * locality" (1994): were a loop innermost, each access would cost an iteration
 * nothing (its address stays), part of a cache line (it moves by less than
 * one), or a line. */
#include "glenside/target/machine.h"
#include "poly/loops/affine.h"
#include "poly/search/chooser.h"
#include <assert.h>
#include <isl/val.h>
#include <string.h>

/* { [loops around the statement] -> [address] }; NULL where it is no function.
 */
static __isl_give isl_pw_aff *
address_of(const po_program *p, const po_stmt *s,
           __isl_keep isl_pw_multi_aff *index, uint32_t array) {
  assert(array < p->arrays.len);
  isl_map *time = isl_map_from_multi_aff(isl_multi_aff_copy(s->time));
  time = isl_map_intersect_domain(time, isl_set_copy(s->domain));
  isl_map *address =
      isl_map_from_pw_aff(po_linear_pw(index, p->arrays.data[array].dim));
  address = isl_map_reset_tuple_id(address, isl_dim_in);
  time = isl_map_reset_tuple_id(time, isl_dim_in);
  address = isl_map_apply_domain(address, time);
  isl_set *on = isl_map_domain(isl_map_copy(address));
  isl_pw_multi_aff *value =
      isl_map_is_single_valued(address) == isl_bool_true
          ? isl_pw_multi_aff_from_map(isl_map_copy(address))
          : NULL;
  isl_map_free(address);
  value = isl_pw_multi_aff_gist(value, on);
  isl_pw_aff *all = isl_pw_multi_aff_get_pw_aff(value, 0);
  isl_pw_multi_aff_free(value);
  return all;
}

bool
po_strides_of(const po_program *p, const po_stmt *s,
              __isl_keep isl_pw_multi_aff *index, uint32_t array,
              int64_t *stride) {
  int64_t constant;
  isl_pw_aff *all = address_of(p, s, index, array);
  isl_aff *one = isl_pw_aff_n_piece(all) == 1
                     ? isl_pw_aff_as_aff(isl_pw_aff_copy(all))
                     : NULL;
  isl_pw_aff_free(all);
  bool ok = one && po_affine_terms(one, &constant, stride);
  isl_aff_free(one);
  return ok;
}

/* ---- likely strides ---- */

typedef struct likely {
  uint32_t n, moves; /* loops; those that move the piece that was taken */
  double *average, *near;
} likely;

static double
taken(__isl_take isl_val *v) {
  double d = v ? isl_val_get_d(v) : 0;
  isl_val_free(v);
  return d;
}

/* What a step of loop k adds on the average: a quotient rounded down counts as
 * one that is not, and those within quotients as nothing. */
static double
average_step(__isl_keep isl_aff *f, uint32_t k) {
  isl_val *sum = isl_aff_get_coefficient_val(f, isl_dim_in, (int)k);
  isl_size n = isl_aff_dim(f, isl_dim_div);
  for (isl_size d = 0; d < n; d++) {
    isl_aff *quotient = isl_aff_get_div(f, d);
    isl_val *step = isl_aff_get_coefficient_val(quotient, isl_dim_in, (int)k);
    isl_aff_free(quotient);
    sum = isl_val_add(
        sum, isl_val_mul(step, isl_aff_get_coefficient_val(f, isl_dim_div, d)));
  }
  return taken(sum);
}

static isl_stat
take_piece(__isl_take isl_set *on, __isl_take isl_aff *f, void *user) {
  likely *l = user;
  double average[PO_MAX_DEPTH], near[PO_MAX_DEPTH];
  uint32_t moves = 0;
  for (uint32_t k = 0; k < l->n; k++) {
    average[k] = average_step(f, k);
    near[k] = taken(isl_aff_get_coefficient_val(f, isl_dim_in, (int)k));
    moves += average[k] != 0 || near[k] != 0;
  }
  if (moves > l->moves) {
    l->moves = moves;
    memcpy(l->average, average, l->n * sizeof *average);
    memcpy(l->near, near, l->n * sizeof *near);
  }
  isl_set_free(on);
  isl_aff_free(f);
  return isl_stat_ok;
}

bool
po_likely_strides(const po_program *p, const po_stmt *s,
                  __isl_keep isl_pw_multi_aff *index, uint32_t array,
                  double average[PO_MAX_DEPTH], double near[PO_MAX_DEPTH]) {
  isl_pw_aff *all = address_of(p, s, index, array);
  isl_size n = isl_pw_aff_dim(all, isl_dim_in);
  likely l = {.n = n > 0 ? (uint32_t)n : 0, .average = average, .near = near};
  assert(l.n <= PO_MAX_DEPTH);
  memset(average, 0, PO_MAX_DEPTH * sizeof *average);
  memset(near, 0, PO_MAX_DEPTH * sizeof *near);
  bool ok = isl_pw_aff_foreach_piece(all, take_piece, &l) == isl_stat_ok;
  isl_pw_aff_free(all);
  return ok;
}

/* ---- lines ---- */

static double
lines_of(const po_program *p, int64_t stride, int64_t bytes) {
  assert(bytes > 0);
  int64_t line = gs_first_cache(p->target).line;
  int64_t apart = (stride < 0 ? -stride : stride);
  return apart >= line / bytes ? 1 : (double)(apart * bytes) / (double)line;
}

bool
po_access_lines(const po_program *p, const po_stmt *s, uint32_t k, uint32_t n,
                double *lines) {
  assert(k <= s->n_exprs);
  bool written = k == s->n_exprs;
  if (!written && s->exprs[k].kind != PO_READ)
    return false;
  uint32_t array = written ? s->array : s->exprs[k].array;
  int64_t stride[PO_MAX_DEPTH];
  bool known = po_strides_of(p, s, written ? s->write : s->exprs[k].index,
                             array, stride);
  int64_t bytes = gs_dtype_table[p->arrays.data[array].dtype].bytes;
  double times = written && s->kind == PO_UPDATE ? 2 : 1;
  for (uint32_t d = 0; d < n; d++)
    lines[d] = times * (known ? lines_of(p, stride[d], bytes) : 1);
  return true;
}
