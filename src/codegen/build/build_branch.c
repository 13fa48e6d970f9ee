/* SPDX-License-Identifier: MIT */
/* build_branch.c - expressions that C computes by a branch or a call: no
 * lanes. */
#include "codegen/build/build.h"
#include <string.h>

bool
cg_has_branch_or_call(const cg_emitter *e, const po_stmt *stmt,
                      const po_expr *x) {
  bool integer = gs_dtype_table[x->dtype].integer;
  switch (x->kind) {
  case PO_LITERAL:
    return false;
  case PO_READ:
    return gs_is_half(e->p->arrays.data[x->array].dtype);
  case PO_GATHER:
  case PO_SELECT:
    return true;
  case PO_BINARY:
    return x->op == GS_C_DIV && integer;
  case PO_UNARY:
    break;
  }
  const char *call = gs_compute_table[x->op].c;
  cg_helper helper;
  call = call ? strchr(call, '@') : NULL;
  if (call && cg_is_written(e, call + 1, x->dtype, &helper))
    return false;
  gs_lanes lanes = gs_compute_table[x->op].lanes;
  if (lanes != GS_LANES_BY_DTYPE)
    return lanes == GS_LANES_CALLS;
  if (x->op != GS_C_CAST)
    return integer;
  return gs_is_half(x->dtype) ||
         (integer && x->dtype != GS_BOOL &&
          !gs_dtype_table[stmt->exprs[x->kids[0]].dtype].integer);
}
