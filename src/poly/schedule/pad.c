/* SPDX-License-Identifier: MIT */
/* pad.c - pad_einsum: the extents of a reduction rounded up.
 *
 * The update, what starts it, and where it goes to a local what takes it from
 * there, run for the rounded extents.  What they read comes from arrays that
 * hold, beside the elements that were read before, a value for which the
 * update changes nothing; what they write of an output goes through an array
 * with room for the rest, of which the right part is copied out.
 *
 * Instances that were added are neutral: those that update an element which
 * was computed before read nothing but the neutral value (of integers, one
 * factor is enough), the others make elements that nothing else reads. */
#include "poly/loops/affine.h"
#include "poly/schedule/pad.h"
#include <assert.h>
#include <isl/ilp.h>
#include <math.h>
#include <string.h>
#include <isl/val.h>

enum { MOST_VALUES = 512 };

/* ---- the update ---- */

static bool
find_update(po_padding *x) {
  po_program *p = x->p;
  const po_arg *arg = &x->call->args[0];
  uint32_t found = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if ((arg->array == PO_NO_NODE ? k == arg->stmt
                                  : p->stmts.data[k].array == arg->array) &&
        p->stmts.data[k].kind == PO_UPDATE) {
      x->update = k;
      found++;
    }
  return found == 1 || po_refuse(p, x->call, "no-reduction",
                                 "%u updates have this name, not one", found);
}

/* The box that the update's instances are, with extents rounded up. */
static bool
find_extents(po_padding *x) {
  po_program *p = x->p;
  const po_stmt *u = &p->stmts.data[x->update];
  const po_arg *by = &x->call->args[1];
  if (by->n != u->n_iters)
    return po_refuse(p, x->call, "factors", "%s has %u %s, not %u", u->name,
                     BS_COUNTED_AS(u->n_iters, "index", "indices"), by->n);
  po_pool_reserve(&p->pool, 2);
  isl_set *box = isl_set_universe(isl_set_get_space(u->domain));
  isl_set *more = isl_set_copy(box);
  bool ok = true;
  for (uint32_t d = 0; ok && d < u->n_iters; d++) {
    isl_val *a = isl_set_dim_min_val(isl_set_copy(u->domain), (int)d);
    isl_val *b = isl_set_dim_max_val(isl_set_copy(u->domain), (int)d);
    int64_t lo = a ? isl_val_get_num_si(a) : 0;
    int64_t hi = b ? isl_val_get_num_si(b) : 0, f = by->numbers[d], end;
    isl_val_free(a);
    isl_val_free(b);
    int64_t most = INT64_C(1) << 40;
    ok = f >= 1 && f < most && lo > -most && hi < most;
    if (!ok)
      break;
    end = lo + (hi - lo + f) / f * f - 1;
    box = isl_set_lower_bound_val(box, isl_dim_set, d,
                                  isl_val_int_from_si(p->isl, lo));
    box = isl_set_upper_bound_val(box, isl_dim_set, d,
                                  isl_val_int_from_si(p->isl, hi));
    more = isl_set_lower_bound_val(more, isl_dim_set, d,
                                   isl_val_int_from_si(p->isl, lo));
    more = isl_set_upper_bound_val(more, isl_dim_set, d,
                                   isl_val_int_from_si(p->isl, end));
  }
  x->was[0] = u->domain;
  x->now[0] = po_keep_set(&p->pool, more);
  bool whole = isl_set_is_equal(box, u->domain) == isl_bool_true;
  isl_set_free(box);
  if (!ok)
    return po_refuse(p, x->call, "factors",
                     "a factor is not positive, or too "
                     "large");
  return whole ||
         po_refuse(p, x->call, "extent",
                   "the bounds of %s's indices depend on each other", u->name);
}

/* ---- the neutral value ---- */

/* The least and greatest value of integers stand for infinities. */
static double
limited(gs_dtype dtype, double v) {
  assert(dtype < GS_DTYPE_COUNT);
  if (!gs_dtype_table[dtype].integer || !isinf(v))
    return v;
  return (double)(v < 0 ? gs_dtype_least(dtype) : gs_dtype_most(dtype));
}

static bool
fits_dtype(gs_dtype dtype, double v) {
  assert(dtype < GS_DTYPE_COUNT);
  return !gs_dtype_table[dtype].integer ||
         (v >= limited(dtype, -INFINITY) && v <= limited(dtype, INFINITY));
}

/* A quotient of integers is cut, so nothing is said of quotients. */
static double
apply_fold(gs_compute op, double a, double b) {
  assert(op < GS_COMPUTE_COUNT);
  gs_fold fold = gs_compute_table[op].fold;
  return fold == GS_FOLD_DIV ? NAN : gs_fold_real(fold, a, b);
}

/* What the body is where everything it reads is v; NaN: not known. */
static double
body_of(const po_program *p, const po_stmt *u, double v) {
  double value[MOST_VALUES];
  if (u->n_exprs > MOST_VALUES)
    return NAN;
  for (uint32_t k = 0; k < u->n_exprs; k++) {
    const po_expr *e = &u->exprs[k];
    if (e->kind == PO_LITERAL)
      value[k] = limited(e->dtype, e->literal);
    else if (e->kind == PO_READ)
      value[k] = limited(p->arrays.data[e->array].dtype, v);
    else if (e->kind == PO_BINARY)
      value[k] = apply_fold(e->op, value[e->kids[0]], value[e->kids[1]]);
    else
      return NAN;
    if (!fits_dtype(e->dtype, value[k]))
      return NAN;
  }
  return value[u->n_exprs - 1];
}

static bool
find_neutral(po_padding *x) {
  static const double tries[] = {0, 1, -INFINITY, INFINITY};
  const po_stmt *u = &x->p->stmts.data[x->update];
  gs_dtype dtype = u->exprs[u->n_exprs - 1].dtype;
  double wanted = limited(dtype, po_fold_start(u->op));
  for (uint32_t k = 0; k < sizeof tries / sizeof *tries; k++)
    if (body_of(x->p, u, tries[k]) == wanted) {
      x->neutral = tries[k];
      return true;
    }
  return po_refuse(x->p, x->call, "no-neutral",
                   "there is no value for which %s's body leaves %s as it is",
                   u->name, x->p->arrays.data[u->array].name);
}

/* ---- what grows ---- */

/* The update's elements with all extents rounded up. */
static __isl_give isl_set *
elements_now(const po_padding *x) {
  return isl_set_apply(isl_set_copy(x->now[0]),
                       po_pad_access(po_pad_part(x, 0)->write));
}

/* A statement that meets the update in its array, by this access, runs for
 * the elements that are new, too. */
static bool
grow(po_padding *x, uint32_t stmt, isl_pw_multi_aff *index) {
  po_program *p = x->p;
  const po_stmt *s = &p->stmts.data[stmt];
  if (x->n == PO_PAD_PARTS)
    return po_refuse(p, x->call, "too-large", "too many statements use %s",
                     p->arrays.data[po_pad_part(x, 0)->array].name);
  po_pool_reserve(&p->pool, 1);
  isl_map *back = isl_map_reverse(po_pad_access(index));
  isl_set *now = isl_set_apply(elements_now(x), back);
  bool ok = isl_set_is_bounded(now) == isl_bool_true;
  now = isl_set_coalesce(isl_set_union(now, isl_set_copy(s->domain)));
  x->parts[x->n] = stmt;
  x->was[x->n] = s->domain;
  x->now[x->n] = po_keep_set(&p->pool, now);
  x->n++;
  return ok ||
         po_refuse(p, x->call, "no-inverse",
                   "which instances of %s would belong to new elements "
                   "of %s is not bounded",
                   s->name, p->arrays.data[po_pad_part(x, 0)->array].name);
}

/* A whole division might be one by zero there. */
static bool
is_harmless(const po_padding *x, const po_stmt *s) {
  for (uint32_t k = 0; k < s->n_exprs; k++) {
    const po_expr *e = &s->exprs[k];
    if (e->kind == PO_GATHER || (e->kind == PO_BINARY && e->op == GS_C_DIV &&
                                 gs_dtype_table[e->dtype].integer))
      return po_refuse(x->p, x->call, "no-neutral",
                       "%s divides integers or looks up a table", s->name);
  }
  return true;
}

/* The index of the last read of the array; that of the write where it is not
 * read. */
static isl_pw_multi_aff *
last_read(const po_stmt *s, uint32_t array) {
  isl_pw_multi_aff *index = s->write;
  for (uint32_t j = 0; j < s->n_exprs; j++)
    if (s->exprs[j].kind == PO_READ && s->exprs[j].array == array)
      index = s->exprs[j].index;
  return index;
}

/* Statements that start the update, and of a local those that take it. */
static bool
find_parts(po_padding *x) {
  po_program *p = x->p;
  const po_stmt *u = &p->stmts.data[x->update];
  bool local = p->arrays.data[u->array].role == PO_LOCAL;
  x->parts[x->n++] = x->update;
  if (po_stmt_reads(u, u->array))
    return po_refuse(p, x->call, "no-reduction", "%s reads what it updates",
                     u->name);
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    if (k == x->update || (s->array != u->array && !po_stmt_reads(s, u->array)))
      continue;
    if (s->kind == PO_CALL)
      return po_refuse(p, x->call, "rigid", "%s is a call", s->name);
    bool starts = s->array == u->array && s->kind == PO_ASSIGN &&
                  !po_stmt_reads(s, u->array);
    bool takes = local && s->array != u->array && s->kind == PO_ASSIGN;
    if (!starts && !takes)
      continue;
    if (!is_harmless(x, s) ||
        !grow(x, k, takes ? last_read(s, u->array) : s->write))
      return false;
  }
  return true;
}

/* ---- neutrality ---- */

/* All elements of an array that statements use as they are. */
static __isl_give isl_set *
elements_of(const po_program *p, uint32_t array) {
  po_accesses a = po_accesses_of(p, array);
  isl_union_map *all =
      isl_union_map_union(a.reads, isl_union_map_union(a.updates, a.writes));
  return isl_set_from_union_set(isl_union_map_range(all));
}

/* Instances that are new and update an element which is not. */
static __isl_give isl_set *
joining(const po_padding *x) {
  isl_set *added =
      isl_set_subtract(isl_set_copy(x->now[0]), isl_set_copy(x->was[0]));
  isl_map *write = po_pad_access(po_pad_part(x, 0)->write);
  isl_set *before = elements_of(x->p, po_pad_part(x, 0)->array);
  return isl_set_intersect(added,
                           isl_set_apply(before, isl_map_reverse(write)));
}

/* Whether they read nothing but the neutral value in this place. */
static bool
reads_neutral(po_padding *x, const po_expr *e, __isl_keep isl_set *joins) {
  const po_padded *a = po_padded_of(x, e->array);
  if (!a)
    return false;
  isl_set *there = isl_set_apply(isl_set_copy(joins), po_pad_access(e->index));
  bool apart = isl_set_is_disjoint(there, a->used) == isl_bool_true;
  isl_set_free(there);
  return apart;
}

static bool
is_product(const po_stmt *u) {
  for (uint32_t k = 0; k < u->n_exprs; k++)
    if (u->exprs[k].kind == PO_BINARY && u->exprs[k].op != GS_C_MUL)
      return false;
  return true;
}

/* Reads of the update that instances which join find neutral, of n; one of the
 * others. */
static uint32_t
count_neutral(po_padding *x, __isl_keep isl_set *joins, uint32_t *n,
              const char **real) {
  const po_stmt *u = po_pad_part(x, 0);
  uint32_t neutral = 0;
  for (uint32_t k = 0; k < u->n_exprs; k++) {
    if (u->exprs[k].kind != PO_READ)
      continue;
    ++*n;
    if (reads_neutral(x, &u->exprs[k], joins))
      neutral++;
    else
      *real = x->p->arrays.data[u->exprs[k].array].name;
  }
  return neutral;
}

static bool
check_neutral(po_padding *x) {
  po_program *p = x->p;
  const po_stmt *u = po_pad_part(x, 0);
  isl_set *joins = joining(x);
  uint32_t n = 0, neutral = 0;
  const char *real = NULL;
  bool none = isl_set_is_empty(joins) == isl_bool_true;
  if (!none)
    neutral = count_neutral(x, joins, &n, &real);
  isl_set_free(joins);
  bool zero = gs_dtype_table[u->exprs[u->n_exprs - 1].dtype].integer &&
              x->neutral == 0 && is_product(u) && neutral;
  return none || neutral == n || zero ||
         po_refuse(p, x->call, "not-neutral",
                   "instances that are added to %s would read elements of %s "
                   "that others read",
                   u->name, real);
}

/* ---- the parts as they are now ---- */

static void
redirect(po_padding *x, uint32_t k) {
  po_program *p = x->p;
  po_stmt *s = po_pad_part(x, k);
  po_expr *exprs =
      bs_arena_copy(&p->arena, s->exprs, s->n_exprs * sizeof *exprs);
  for (uint32_t j = 0; j < s->n_exprs; j++) {
    const po_padded *a =
        exprs[j].kind == PO_READ ? po_padded_of(x, exprs[j].array) : NULL;
    if (!a || a->copy == a->array)
      continue;
    exprs[j].index = po_pad_place(x, a, exprs[j].index);
    exprs[j].array = a->copy;
  }
  s->exprs = exprs;
  const po_padded *a = po_padded_of(x, s->array);
  if (a && a->copy != a->array) {
    s->write = po_pad_place(x, a, s->write);
    s->array = a->copy;
  }
  s->domain = x->now[k];
}

/* All that was added and changes nothing. */
static __isl_give isl_union_set *
neutral_instances(const po_padding *x) {
  isl_union_set *all =
      isl_union_set_empty(isl_space_params_alloc(x->p->isl, 0));
  for (uint32_t k = 0; k < x->n; k++)
    all = isl_union_set_union(
        all, isl_union_set_from_set(isl_set_subtract(isl_set_copy(x->now[k]),
                                                     isl_set_copy(x->was[k]))));
  for (uint32_t k = 0; k < x->n_fills; k++) {
    uint32_t s = po_stmt_named(x->p, x->fills[k]);
    all = isl_union_set_union(
        all, isl_union_set_from_set(isl_set_copy(x->p->stmts.data[s].domain)));
  }
  return all;
}

/* The parts are of the arrays that have grown; the copies go around them. */
static bool
use_padded(po_padding *x, po_program *before) {
  po_program *p = x->p;
  for (uint32_t k = 0; k < x->n; k++)
    redirect(x, k);
  po_pad_copies(x);
  po_forget_dependences(p);
  po_pool_reserve(&before->pool, 8);
  po_change change = {
      .origin = isl_union_map_empty(isl_space_params_alloc(p->isl, 0)),
      .n_copies = x->n_copies,
      .neutral = neutral_instances(x)};
  memcpy(change.copies, x->copies, sizeof x->copies);
  return po_values_are_preserved(before, p, x->call, &change);
}

bool
po_apply_pad_einsum(po_program *p, po_step_call *call) {
  po_padding *x = BS_NEW(&p->arena, po_padding);
  *x = (po_padding){.p = p, .call = call};
  if (!find_update(x) || !find_extents(x))
    return false;
  if (isl_set_is_equal(x->was[0], x->now[0]) == isl_bool_true)
    return true;
  if (!find_neutral(x) || !find_parts(x))
    return false;
  po_program *before = po_copy(p);
  bool ok = po_pad_arrays(x) && check_neutral(x) && use_padded(x, before);
  po_free(before);
  return ok;
}
