/* SPDX-License-Identifier: MIT */
/* decompose.c - decompose_reduction: what a reduction begins with is set before
 * a loop, and no longer inside it. */
#include "poly/schedule/schedule_edit.h"

bool
po_apply_decompose_reduction(po_program *p, po_step_call *call) {
  uint32_t loop = call->args[1].node;
  uint32_t array = p->stmts.data[call->args[0].stmt].array;
  uint32_t update = PO_NO_NODE, init = PO_NO_NODE;
  const char *name = p->arrays.data[array].name;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *stmt = &p->stmts.data[k];
    if (stmt->array != array || !po_nest_is_below(p, stmt->leaf, loop))
      continue;
    if (stmt->kind == PO_UPDATE && update == PO_NO_NODE)
      update = k;
    if (stmt->kind == PO_ASSIGN && update == PO_NO_NODE)
      init = k;
  }
  if (update == PO_NO_NODE)
    return po_refuse(p, call, "no-reduction",
                     "no reduction of %s stands inside loop %s", name,
                     po_node(p, loop)->name);
  if (init == PO_NO_NODE)
    return po_refuse(p, call, "no-init",
                     "%s is not set inside loop %s before it is updated: the "
                     "loop is one that is reduced over, or its setting stands "
                     "outside already",
                     name, po_node(p, loop)->name);
  uint32_t a = p->stmts.data[init].leaf, b = p->stmts.data[update].leaf;
  uint32_t top = po_nest_common(p, a, b), child = b;
  while (po_node(p, child)->parent != top)
    child = po_node(p, child)->parent;
  po_isolate(p, child, loop);
  return true;
}
