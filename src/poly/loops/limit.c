/* SPDX-License-Identifier: MIT */
/* limit.c - see limit.h. */
#include "poly/loops/limit.h"
#include "base/governor.h"
#include "limbs/meter.h"
#include <assert.h>
#include <isl/aff.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>

/* Divisions up to which operations take about as long as without any. */
enum { FEW_DIVISIONS = 6 };

/* The divisions of a domain are in all relations of its statement, as
 * conditions, and weigh so many times. */
enum { DOMAIN = 3 };

static unsigned long
larger(unsigned long a, isl_size b) {
  return b > 0 && (unsigned long)b > a ? (unsigned long)b : a;
}

/* ---- divisions ---- */

static isl_stat
look_at_basic_set(__isl_take isl_basic_set *part, void *user) {
  unsigned long *most = user;
  *most = larger(*most, isl_basic_set_dim(part, isl_dim_div));
  isl_basic_set_free(part);
  return isl_stat_ok;
}

static unsigned long
divisions_of_set(__isl_keep isl_set *set) {
  unsigned long most = 0;
  if (set)
    isl_set_foreach_basic_set(set, look_at_basic_set, &most);
  return most;
}

/* In all functions together: as a relation it has them all. */
static unsigned long
divisions_of_multi_aff(__isl_keep isl_multi_aff *functions) {
  unsigned long sum = 0;
  isl_size n = functions ? isl_multi_aff_dim(functions, isl_dim_out) : 0;
  for (isl_size k = 0; k < n; k++) {
    isl_aff *one = isl_multi_aff_get_aff(functions, k);
    isl_size divs = isl_aff_dim(one, isl_dim_div);
    sum += divs > 0 ? (unsigned long)divs : 0;
    isl_aff_free(one);
  }
  return sum;
}

static isl_stat
look_at_piece(__isl_take isl_set *on, __isl_take isl_multi_aff *functions,
              void *user) {
  unsigned long *most = user;
  unsigned long sum = divisions_of_set(on) + divisions_of_multi_aff(functions);
  *most = sum > *most ? sum : *most;
  isl_set_free(on);
  isl_multi_aff_free(functions);
  return isl_stat_ok;
}

static void
look_at_access(__isl_keep isl_pw_multi_aff *index, unsigned long *most) {
  if (index)
    isl_pw_multi_aff_foreach_piece(index, look_at_piece, most);
}

/* How many divisions a relation of the statement's instances may have. */
static unsigned long
divisions_of(const po_stmt *s) {
  unsigned long most = 0;
  uint32_t n = s->instr ? s->instr->n_operands + 1 : 0;
  look_at_access(s->write, &most);
  for (uint32_t k = 0; k < s->n_exprs; k++)
    look_at_access(s->exprs[k].index, &most);
  for (uint32_t k = 0; s->operands && k < n; k++)
    look_at_access(s->operands[k].base, &most);
  return most + DOMAIN * divisions_of_set(s->domain);
}

unsigned long
po_weight(unsigned long divisions) {
  unsigned long n = divisions < 10000 ? divisions : 10000;
  unsigned long few = FEW_DIVISIONS;
  return n <= few ? 1 : n * n * n / (few * few * few);
}

unsigned long
po_divisions_of(const po_program *p) {
  unsigned long most = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    unsigned long here = divisions_of(&p->stmts.data[k]);
    most = here > most ? here : most;
  }
  return most;
}

unsigned long
po_weight_of(const po_program *p) {
  return po_weight(po_divisions_of(p));
}

unsigned long
po_bound(const po_program *p, unsigned long most) {
  return most / po_weight_of(p) + 1;
}

/* ---- what isl may do ---- */

/* Operations on integers for one of isl's, where there is a limit of these, and
 * between two looks at the governor. */
enum { INTEGERS = 100, SLICE = 1 << 17 };

/* The isl of this thread that is bound. */
static _Thread_local struct {
  isl_ctx *isl;
  bs_governor *governor;
  int64_t left; /* operations on integers, behind the slice that is counted */
} bound;

static void
count_slice(lm_meter *m) {
  m->left = bound.left < SLICE ? bound.left : SLICE;
  bound.left -= m->left;
}

static void
look(void *ctx, lm_meter *m) {
  (void)ctx;
  if (!bound.isl)
    return;
  if (bound.left <= 0 || bs_stage_over(bound.governor))
    isl_ctx_abort(bound.isl);
  else
    count_slice(m);
}

void
po_bind_isl(isl_ctx *isl, bs_heap *heap, unsigned long operations) {
  assert(isl && heap);
  bound.isl = isl;
  bound.governor = bs_governor_of(heap);
  bound.left = INT64_MAX;
  if (operations && operations < INT64_MAX / INTEGERS)
    bound.left = (int64_t)operations * INTEGERS;
  lm_counted.look = look;
  count_slice(&lm_counted);
  isl_ctx_resume(isl);
  isl_ctx_reset_operations(isl);
  isl_ctx_set_max_operations(isl, operations);
}

void
po_free_isl(isl_ctx *isl) {
  if (bound.isl == isl)
    bound.isl = NULL;
#ifndef NDEBUG
  isl_options_set_on_error(isl, ISL_ON_ERROR_ABORT);
#endif
  isl_ctx_free(isl);
}

bool
po_gave_up(isl_ctx *isl) {
  enum isl_error e = isl_ctx_last_error(isl);
  return e == isl_error_quota || e == isl_error_abort || po_is_exhausted(isl);
}

/* ---- limits ---- */

po_limit
po_limit_of_many(const po_program *p, unsigned long most, unsigned long *kept) {
  po_limit limit = {p->isl, p->ctx.heap, isl_ctx_get_max_operations(p->isl)};
  isl_ctx_reset_error(p->isl);
  if (!limit.before) {
    *kept = *kept ? *kept : po_bound(p, most);
    isl_ctx_reset_error(p->isl);
    po_bind_isl(p->isl, p->ctx.heap, *kept);
  }
  return limit;
}

po_limit
po_limit_operations(const po_program *p, unsigned long most) {
  unsigned long kept = 0;
  return po_limit_of_many(p, most, &kept);
}

bool
po_unlimit(po_limit *limit) {
  assert(limit->isl);
  bool ok = isl_ctx_last_error(limit->isl) == isl_error_none;
  isl_ctx_reset_error(limit->isl);
  if (!limit->before)
    po_bind_isl(limit->isl, limit->heap, 0);
  return ok;
}

/* isl counts what it allocates: beyond the limit it refuses anything. */
bool
po_is_exhausted(isl_ctx *isl) {
  isl_space *space = isl_space_set_alloc(isl, 0, 1);
  isl_space_free(space);
  return !space;
}
