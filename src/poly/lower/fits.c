/* SPDX-License-Identifier: MIT */
/* fits.c - may an instruction take an operand, or leave its result, as it lies?
 * Where arrays are given their places this is asked before calls are lowered.
 */
#include "poly/lower/call.h"
#include "poly/loops/operand.h"
#include "poly/memory/memory.h"
#include <assert.h>

const gs_instr *
po_instr_of(const po_lowering *low, gs_term call) {
  assert(gs_at(low->source, call)->op == GS_CALL);
  const bs_values *values = low->source->ctx.values;
  bs_value name = bs_item(values, gs_at(low->source, call)->attr, 0);
  const gs_target *target = low->source->target;
  return gs_find_instr(target ? target : low->out->target,
                       bs_as_sym(values, name));
}

/* Of what lies in a memory, those that bring it there decide. */
bool
po_call_fits(const po_lowering *low, const gs_instr *instr, uint32_t k,
             const int64_t *stride, const int64_t *dim, uint32_t rank) {
  assert(k < instr->n_operands + 1 && rank <= GS_MAX_RANK);
  const gs_operand *o =
      k < instr->n_operands ? &instr->operands[k] : &instr->result;
  if (o->memory)
    return po_can_bring(&low->out->ctx, low->out->target, instr, k, stride, dim,
                        rank);
  return po_stray_dimension(po_mentioned_strides(instr, k), stride, dim,
                            rank) == rank;
}

uint32_t
po_overwritten(const gs_instr *instr) {
  return instr->onto && !instr->result.memory ? instr->onto - 1
                                              : instr->n_operands;
}

static uint32_t
result_leads(const gs_over *over) {
  uint32_t n = 0;
  for (uint32_t d = 0; d < over->n; d++)
    n += !over->sum[d];
  return n;
}

/* An instruction that goes on with sums reads the result, too. */
static bool
fits_into(const po_lowering *low, const gs_instr *instr, const gs_over *over,
          const int64_t *stride, const int64_t *dim, uint32_t rank) {
  gs_accumulation into;
  const gs_target *target = low->source->target;
  const gs_instr *more =
      gs_find_instr(target ? target : low->out->target, over->into);
  return more && gs_accumulates(low->source->ctx.values, instr, more, &into) &&
         po_call_fits(low, more, more->n_operands, stride, dim, rank) &&
         (more->onto == into.onto + 1 ||
          po_call_fits(low, more, into.onto, stride, dim, rank));
}

bool
po_call_result_fits(const po_lowering *low, gs_term call, const int64_t *stride,
                    const gs_type *type) {
  const gs_instr *instr = po_instr_of(low, call);
  gs_over over;
  gs_fault fault;
  if (!gs_over_read(low->source->ctx.values, instr,
                    gs_at(low->source, call)->attr, &over, &fault))
    return false;
  uint32_t n = result_leads(&over), rank = type->rank - n;
  return po_call_fits(low, instr, instr->n_operands, stride + n, type->dim + n,
                      rank) &&
         po_call_fits(low, instr, po_overwritten(instr), stride + n,
                      type->dim + n, rank) &&
         (!over.into ||
          fits_into(low, instr, &over, stride + n, type->dim + n, rank));
}
