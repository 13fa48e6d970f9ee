/* SPDX-License-Identifier: MIT */
/* auto_parts.c - formulas of arrays that are computed in parts.
 *
 * A stencil whose borders read something else than its inside is computed by a
 * statement a part.  What reads its array point by point would be a pass over
 * memory of its own, since no loop has all the parts in it; so its formula
 * goes into the statement of each part (`reverse_compute_inline`), and the
 * array is gone.  Nothing is computed twice, and borders are no tests in the
 * loops of the inside. */
#include "poly/search/chooser.h"
#include <assert.h>

bool
po_is_in_parts(const po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  uint32_t parts = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    parts +=
        p->stmts.data[k].array == array && p->stmts.data[k].kind == PO_ASSIGN;
  return parts > 1;
}

/* All that writes the array are assignments of nests that may change. */
static bool
may_take_formulas(const po_program *p, uint32_t array) {
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].array == array &&
        (p->stmts.data[k].kind != PO_ASSIGN ||
         !po_may_change(p, po_root_of(p, k))))
      return false;
  return p->arrays.data[array].role == PO_WORKSPACE && po_is_in_parts(p, array);
}

/* The statement reads an array of that kind. */
static bool
reads_parts(const po_program *p, uint32_t stmt) {
  assert(stmt < p->stmts.len);
  const po_stmt *s = &p->stmts.data[stmt];
  if (s->kind != PO_ASSIGN || !po_may_change(p, po_root_of(p, stmt)))
    return false;
  for (uint32_t j = 0; j < s->n_exprs; j++)
    if (s->exprs[j].kind == PO_READ && may_take_formulas(p, s->exprs[j].array))
      return true;
  return false;
}

/* Marks of the nests that share an array with one that changes would have to
 * be asked for again after each step. */
static void
make_serial(po_chooser *c) {
  for (uint32_t k = 0; k < po_now(c)->stmts.len && !c->stopped; k++)
    if (po_may_change(po_now(c), po_root_of(po_now(c), k)))
      po_make_serial(c, po_root_of(po_now(c), k));
}

void
po_join_parts(po_chooser *c) {
  bool serial = false;
  for (uint32_t k = 0; k < po_now(c)->stmts.len && !c->stopped;) {
    if (!reads_parts(po_now(c), k)) {
      k++;
      continue;
    }
    if (!serial)
      make_serial(c);
    serial = true;
    po_step_call call = po_step("reverse_compute_inline");
    call.args[0] =
        (po_arg){.kind = PO_ARG_STMT, .stmt = k, .array = PO_NO_NODE};
    if (po_attempt(c, &call, NULL))
      po_lay_out_now(c);
    else
      k++;
  }
}
