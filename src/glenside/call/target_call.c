/* SPDX-License-Identifier: MIT */
/* target_call.c - the type of a call, from its instruction's declaration.
 *
 * Types are below targets: inference calls this through the target. */
#include "glenside/infer/infer.h"
#include "glenside/call/over.h"
#include "glenside/target/target_parse.h"
#include <string.h>

/* More variables than any sensible declaration has, and little stack. */
#define MAX_SLOTS 1024

/* A call that names an instruction to go on with can go on with it. */
static bool
accumulates(const infer *x, const gs_instr *instr) {
  gs_over over;
  gs_accumulation into;
  uint32_t slots[GS_MAX_INSTR_VARS];
  if (!gs_over_read(x->values, instr, x->attr, &over, x->fault))
    return false;
  return !over.into || gs_over_bind_into(x->values, x->target, instr, x->attr,
                                         x->kids, &into, slots, x->fault);
}

bool
target_type_of_call(infer *x) {
  uint32_t slots[MAX_SLOTS];
  const char *name = bs_as_sym(x->values, bs_item(x->values, x->attr, 0));
  const gs_instr *instr = gs_find_instr(x->target, name);
  if (!instr)
    return gs_fail(x->fault, "unknown-instruction", -1, 0,
                   "no target declares the instruction %s", name);
  if (instr->scope.vars.len > MAX_SLOTS)
    return gs_fail(x->fault, "too-large", -1, 0,
                   "the instruction %s has more than %d variables", instr->name,
                   MAX_SLOTS);
  memset(slots, 0, instr->scope.vars.len * sizeof *slots);
  return gs_instr_bind(x->values, instr, x->attr, x->kids, x->n_kids, slots,
                       &x->made, x->fault) &&
         accumulates(x, instr);
}
