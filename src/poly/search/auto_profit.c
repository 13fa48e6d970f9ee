/* SPDX-License-Identifier: MIT */
/* auto_profit.c - is a program worth the time that a schedule takes?
 *
 * Scheduling takes time by the statements of a program, whatever their
 * domains are; what it gains is a part of each run.  So what a run does is
 * counted, by the boxes around domains, and compared with the number of
 * statements.  Sums that run as kernels take as long either way and count for
 * nothing.  Nothing here depends on time. */
#include "glenside/target/tuned.h"
#include "poly/kernel/contraction.h"
#include "poly/loops/loops_sizes.h"
#include "poly/search/auto.h"

/* Statements of a program that is tiled if it does a little for each.  In a
 * larger one loops are joined as they are: tiles take two or three times as
 * long to make, and their limits are reached. */
enum { FEW_STMTS = 200 };

/* Of one instance; what moves data counts as one. */
static double
operations_of(const po_stmt *s) {
  double sum = s->kind == PO_UPDATE;
  for (uint32_t k = 0; k < s->n_exprs; k++)
    sum += s->exprs[k].kind != PO_READ && s->exprs[k].kind != PO_LITERAL;
  return sum > 0 ? sum : 1;
}

/* What a run does in kernels of products, and outside of them. */
typedef struct work {
  double in_kernels, others;
} work;

static work
work_of(const po_program *p) {
  work sum = {0, 0};
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    double own = po_estimate_instances(p, k) * operations_of(&p->stmts.data[k]);
    *(po_contraction_of_update(p, k) ? &sum.in_kernels : &sum.others) += own;
  }
  return sum;
}

/* A large program is looked at where what may be fused is most of a run, and
 * long enough for the time.  A large program whose sizes are open is never
 * looked at; in a small one, work is that at the greatest sizes. */
bool
po_is_too_large(const po_program *p) {
  if (p->stmts.len <= FEW_STMTS)
    return false;
  if (p->stmts.len > PO_MOST_SCHEDULED || po_has_sizes(p))
    return true;
  work sum = work_of(p);
  return sum.others < sum.in_kernels ||
         sum.others < (double)GS_FUSE_LARGE * p->stmts.len;
}

po_fuse
po_profitable_fusion(const po_program *p) {
  if (p->chains || po_is_too_large(p))
    return PO_FUSE_MIN;
  double sum = work_of(p).others;
  if (sum <= 0 || sum < (double)GS_FUSE_OPERATIONS * p->stmts.len)
    return PO_FUSE_MIN;
  return p->stmts.len > FEW_STMTS ? PO_FUSE_SMART : PO_FUSE_POST_TILE;
}
