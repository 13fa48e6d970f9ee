/* SPDX-License-Identifier: MIT */
/* auto_worth.c - is a program worth the time that a schedule takes?
 *
 * Scheduling takes time by the statements of a program, whatever their
 * domains are; what it gains is a part of each run.  So what a run does is
 * counted, by the boxes around domains, and compared with the number of
 * statements.  Sums that run as kernels take as long either way and count for
 * nothing.  Nothing here depends on time. */
#include "glenside/target/tuned.h"
#include "poly/kernel/contraction.h"
#include "poly/search/auto.h"

/* Statements up to which a program is fused: scheduling takes some 10 ms for
 * each. */
enum { MOST_STMTS = 200 };

static bool
is_in_kernel(const po_program *p, uint32_t stmt) {
  for (uint32_t k = 0; k < p->contractions.len; k++)
    if (p->contractions.data[k]->update == stmt)
      return true;
  return false;
}

/* Of one instance; what moves data counts as one. */
static double
operations_of(const po_stmt *s) {
  double sum = s->kind == PO_UPDATE;
  for (uint32_t k = 0; k < s->n_exprs; k++)
    sum += s->exprs[k].kind != PO_READ && s->exprs[k].kind != PO_LITERAL;
  return sum > 0 ? sum : 1;
}

bool
po_is_too_large(const po_program *p) {
  return p->stmts.len > MOST_STMTS;
}

bool
po_is_worth_fusing(const po_program *p) {
  double sum = 0;
  if (p->chains || po_is_too_large(p))
    return false;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (!is_in_kernel(p, k))
      sum += po_estimate_instances(p, k) * operations_of(&p->stmts.data[k]);
  return sum > 0 && sum >= (double)GS_FUSE_OPERATIONS * p->stmts.len;
}
