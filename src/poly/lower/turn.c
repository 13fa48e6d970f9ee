/* SPDX-License-Identifier: MIT */
/* turn.c - arrays of sums that lie as those who read them walk.
 *
 * A convolution of an image by channels has its results by pixels, as its term
 * says; what adds them to an image again would read one element of each line.
 * The kernel of sums of products stores in any order (contraction.h), so the
 * array takes that of what its pointwise readers write, if they agree. */
#include "poly/lower/lower.h"
#include "poly/loops/loops_sizes.h"
#include "poly/loops/uses.h"
#include <assert.h>

/* Dimension d of the turned array is dimension of[d] of the old one. */
typedef struct turn {
  uint32_t n, of[GS_MAX_RANK];
} turn;

static bool
turns_agree(const turn *a, const turn *b) {
  for (uint32_t d = 0; d < a->n; d++)
    if (a->of[d] != b->of[d])
      return false;
  return true;
}

static bool
is_turned(const turn *t) {
  for (uint32_t d = 0; d < t->n; d++)
    if (t->of[d] != d)
      return true;
  return false;
}

/* The address that the statement writes, by its loops. */
static bool
find_strides(const po_program *p, const po_stmt *s, int64_t *stride) {
  int64_t base;
  isl_pw_aff *address = po_linear_pw(s->write, p->arrays.data[s->array].dim);
  bool linear = isl_pw_aff_isa_aff(address) == isl_bool_true;
  isl_aff *aff = linear ? isl_pw_aff_as_aff(address) : NULL;
  if (!linear)
    isl_pw_aff_free(address);
  linear = linear && po_affine_terms(aff, &base, stride);
  isl_aff_free(aff);
  return linear;
}

/* The one loop that an index is, but for a number that is added where a part of
 * a larger array is made, or UINT32_MAX where it is a number; false: it is
 * neither. */
static bool
find_loop(const po_stmt *s, __isl_keep isl_multi_aff *index, uint32_t d,
          uint32_t *loop) {
  int64_t base, factor[PO_MAX_DEPTH];
  isl_aff *aff = isl_multi_aff_get_aff(index, (int)d);
  bool ok = po_affine_terms(aff, &base, factor);
  isl_aff_free(aff);
  *loop = UINT32_MAX;
  for (uint32_t k = 0; ok && k < s->n_iters; k++) {
    if (!factor[k])
      continue;
    ok = factor[k] == 1 && *loop == UINT32_MAX;
    *loop = k;
  }
  return ok;
}

/* Dimensions by falling strides; those of one element stay in front of what
 * they stood in front of. */
static void
sort(turn *t, const int64_t *key) {
  for (uint32_t k = 1; k < t->n; k++)
    for (uint32_t j = k; j && key[t->of[j - 1]] < key[t->of[j]]; j--) {
      uint32_t d = t->of[j];
      t->of[j] = t->of[j - 1];
      t->of[j - 1] = d;
    }
}

/* The order in which the statement walks the array that it reads at `index`. */
static bool
find_turn(const po_program *p, const po_stmt *s, const po_array *array,
          __isl_keep isl_pw_multi_aff *index, turn *out) {
  int64_t stride[PO_MAX_DEPTH], key[GS_MAX_RANK];
  if (isl_pw_multi_aff_isa_multi_aff(index) != isl_bool_true ||
      !find_strides(p, s, stride))
    return false;
  isl_multi_aff *map =
      isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(index));
  bool ok = true;
  out->n = array->rank;
  for (uint32_t d = 0; ok && d < array->rank; d++) {
    uint32_t loop;
    ok = find_loop(s, map, d, &loop) &&
         (loop != UINT32_MAX || array->dim[d] == 1);
    key[d] = ok && loop != UINT32_MAX ? stride[loop] : INT64_MAX;
    out->of[d] = d;
  }
  isl_multi_aff_free(map);
  if (ok)
    sort(out, key);
  return ok;
}

/* All that reads it is one element after the other, in the same order. */
static bool
joins(const po_program *p, const po_stmt *s, uint32_t array, turn *all,
      bool *any) {
  for (uint32_t k = 0; k < s->n_exprs; k++) {
    const po_expr *e = &s->exprs[k];
    turn one;
    if ((e->kind != PO_READ && e->kind != PO_GATHER) || e->array != array)
      continue;
    if (e->kind == PO_GATHER || s->kind != PO_ASSIGN ||
        s->n_iters != s->n_outer ||
        !find_turn(p, s, &p->arrays.data[array], e->index, &one) ||
        (*any && !turns_agree(all, &one)))
      return false;
    *all = one;
    *any = true;
  }
  return true;
}

/* It stores a finished sum and nothing else. */
static bool
stores_sum(const po_program *p, const po_stmt *s) {
  return s->kind == PO_ASSIGN && s->n_exprs == 1 &&
         s->exprs[0].kind == PO_READ &&
         p->arrays.data[s->exprs[0].array].role == PO_LOCAL &&
         isl_pw_multi_aff_isa_multi_aff(s->write) == isl_bool_true;
}

static bool
find_turn_of_all(const po_program *p, const po_uses *uses, uint32_t array,
                 turn *out) {
  assert(array < p->arrays.len);
  const po_array *a = &p->arrays.data[array];
  bool any = false;
  if (a->role != PO_WORKSPACE || a->rank < 2)
    return false;
  for (uint32_t k = uses->from[array]; k < uses->from[array + 1]; k++) {
    const po_stmt *s = &p->stmts.data[uses->stmts[k]];
    if (s->kind == PO_CALL || (s->array == array && !stores_sum(p, s)) ||
        (s->array != array && !joins(p, s, array, out, &any)))
      return false;
  }
  return any && is_turned(out);
}

static isl_pw_multi_aff *
turned(po_program *p, isl_pw_multi_aff *old, const turn *t) {
  isl_multi_aff *from =
      isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(old));
  isl_multi_aff *to = isl_multi_aff_copy(from);
  for (uint32_t d = 0; d < t->n; d++)
    to = isl_multi_aff_set_aff(to, (int)d,
                               isl_multi_aff_get_aff(from, (int)t->of[d]));
  isl_multi_aff_free(from);
  return po_keep_pw_multi_aff(&p->pool, isl_pw_multi_aff_from_multi_aff(to));
}

static void
turn_accesses(po_program *p, po_stmt *s, uint32_t array, const turn *t) {
  po_pool_reserve(&p->pool, s->n_exprs + 1);
  if (s->array == array) {
    s->write = turned(p, s->write, t);
    return;
  }
  po_expr *exprs = bs_arena_alloc(&p->arena, s->n_exprs * sizeof *exprs);
  for (uint32_t k = 0; k < s->n_exprs; k++) {
    exprs[k] = s->exprs[k];
    if (exprs[k].kind == PO_READ && exprs[k].array == array)
      exprs[k].index = turned(p, exprs[k].index, t);
  }
  s->exprs = exprs;
}

static void
turn_array(po_program *p, const po_uses *uses, uint32_t array, const turn *t) {
  assert(array < p->arrays.len);
  po_array *a = &p->arrays.data[array];
  const po_array old = *a;
  for (uint32_t d = 0; d < t->n; d++)
    a->dim[d] = old.dim[t->of[d]];
  a->term = GS_NO_TERM;
  for (uint32_t k = uses->from[array]; k < uses->from[array + 1]; k++)
    turn_accesses(p, &p->stmts.data[uses->stmts[k]], array, t);
}

/* Arrays of readers stand before those that they read, so a reader is turned
 * before what it reads is asked about. */
void
po_turn_sums(po_program *p) {
  po_uses uses;
  if (po_has_sizes(p))
    return;
  po_find_uses(p, &uses);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    turn t;
    if (find_turn_of_all(p, &uses, k, &t))
      turn_array(p, &uses, k, &t);
  }
  po_uses_done(p, &uses);
}
