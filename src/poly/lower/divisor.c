/* SPDX-License-Identifier: MIT */
/* divisor.c - arrays of square roots that many values are divided by.
 *
 * A vector of quotients takes as long as a dozen products.  Where all that is
 * read from an array of roots divides, and each element divides several, the
 * array holds their reciprocals, and products take the place of quotients.  Of
 * a root neither is out of range unless the other one is, so infinities and NaN
 * are what they would be; the last digit may differ, as that of a sum. */
#include "poly/lower/lower.h"
#include "poly/loops/uses.h"
#include <assert.h>

/* Quotients by one element that are worth it. */
enum { FEWEST_QUOTIENTS = 4 };

static bool
is_root(const po_stmt *s, gs_dtype dtype) {
  const po_expr *root = s->n_exprs ? &s->exprs[s->n_exprs - 1] : NULL;
  return s->kind == PO_ASSIGN && root && root->kind == PO_UNARY &&
         root->op == GS_C_SQRT && root->dtype == dtype;
}

static bool
divides(const po_stmt *s, uint32_t read) {
  for (uint32_t k = read + 1; k < s->n_exprs; k++)
    if (s->exprs[k].kind == PO_BINARY && s->exprs[k].op == GS_C_DIV &&
        s->exprs[k].kids[1] == read)
      return s->exprs[k].dtype == s->exprs[read].dtype;
  return false;
}

/* Reads of the array in the statement; -1: one of them does not divide. */
static double
quotients_of(const po_stmt *s, uint32_t array) {
  double n = 0;
  for (uint32_t k = 0; k < s->n_exprs; k++) {
    if ((s->exprs[k].kind != PO_READ && s->exprs[k].kind != PO_GATHER) ||
        s->exprs[k].array != array)
      continue;
    if (s->exprs[k].kind == PO_GATHER || !divides(s, k))
      return -1;
    n++;
  }
  return n;
}

static bool
is_divisor(const po_program *p, const po_uses *uses, uint32_t array) {
  assert(array < p->arrays.len);
  const po_array *a = &p->arrays.data[array];
  double roots = 0, quotients = 0;
  if (a->role != PO_WORKSPACE || (a->dtype != GS_F32 && a->dtype != GS_F64))
    return false;
  for (uint32_t k = uses->from[array]; k < uses->from[array + 1]; k++) {
    uint32_t stmt = uses->stmts[k];
    const po_stmt *s = &p->stmts.data[stmt];
    double n = quotients_of(s, array);
    if (s->kind == PO_CALL || n < 0 ||
        (s->array == array && (n > 0 || !is_root(s, a->dtype))))
      return false;
    *(s->array == array ? &roots : &quotients) +=
        po_estimate_instances(p, stmt) * (s->array == array ? 1 : n);
  }
  return quotients >= FEWEST_QUOTIENTS * roots;
}

static void
take_reciprocal(po_program *p, po_stmt *s, uint32_t array) {
  po_expr *exprs =
      bs_arena_copy(&p->arena, s->exprs, s->n_exprs * sizeof *exprs);
  if (s->array == array)
    exprs[s->n_exprs - 1].op = GS_C_RSQRT;
  for (uint32_t k = 0; k < s->n_exprs; k++) {
    const po_expr *e = &exprs[k];
    if (s->array != array && e->kind == PO_BINARY && e->op == GS_C_DIV &&
        exprs[e->kids[1]].kind == PO_READ && exprs[e->kids[1]].array == array)
      exprs[k].op = GS_C_MUL;
  }
  s->exprs = exprs;
}

void
po_turn_divisors(po_program *p) {
  po_uses uses;
  if (p->strict_fp)
    return;
  po_find_uses(p, &uses);
  for (uint32_t array = 0; array < p->arrays.len; array++) {
    if (!is_divisor(p, &uses, array))
      continue;
    p->arrays.data[array].term = GS_NO_TERM;
    for (uint32_t k = uses.from[array]; k < uses.from[array + 1]; k++)
      take_reciprocal(p, &p->stmts.data[uses.stmts[k]], array);
  }
  po_uses_done(p, &uses);
}
