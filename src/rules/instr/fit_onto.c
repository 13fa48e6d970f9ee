/* SPDX-License-Identifier: MIT */
/* fit_onto.c - the call of a part that goes on with the sums of another one.
 *
 * Its operands are those of the plain instruction, in the order in which the
 * one that goes on has them, and the sums, put back into tiles. */
#include "rules/instr/fit_build.h"

/* Sums stay in their memory only if the operands of both parts have room beside
 * each other, which is not known yet: else they have to come back to it. */
bool
fit_goes_on(const fit_match *m, const gs_instr *into, gs_accumulation *out) {
  if (!into || !gs_accumulates(m->session->ctx.values, m->f->instr, into, out))
    return false;
  const gs_operand *sums = &into->operands[out->onto];
  return !sums->memory ||
         gs_hops(m->session->target, sums->dtype, 0, sums->memory);
}

gs_type
fit_type_of_part(const fit_match *m, const fit_space *part) {
  gs_type type = {.dtype = m->f->instr->result.dtype,
                  .rank = (uint8_t)part->result.n,
                  .access = (uint8_t)part->result.n};
  for (uint32_t k = 0; k < part->result.n; k++)
    type.dim[k] = part->atom[part->result.atom[k]].size;
  return type;
}

/* The dimensions of the calls, with the operands of the instruction. */
static gs_over
over_of(const building *b, const gs_accumulation *by) {
  gs_over over = b->over;
  for (uint32_t d = 0; d < over.n; d++) {
    over.has[d] = over.sum[d] ? 0 : 1u << by->onto;
    for (uint32_t k = 0; k < by->instr->n_operands; k++)
      if (k != by->onto)
        over.has[d] |= (b->over.has[d] >> by->operand[k] & 1) << k;
  }
  return over;
}

/* What is iterated of a sum is added by the same instruction. */
static bs_value
attr_of(building *b, const gs_accumulation *by) {
  gs_over over = over_of(b, by);
  return fit_call_attr(b, by->instr, by->slot, &over,
                       fit_has_sums(&over) ? by->instr : NULL);
}

/* The sums, one dimension for each digit, as the calls take them. */
static void
build_begun(building *b, const fit_onto *onto) {
  parts from, to;
  uint32_t leads = 0;
  b->cls = onto->cls;
  b->type = onto->type;
  for (uint32_t d = 0; d < b->over.n; d++)
    leads += !b->over.sum[d];
  fit_list_of_atoms(b, &b->s->result, &from);
  fit_list_of_call(b, &b->m->f->result, UINT32_MAX, &to);
  b->failed |=
      to.failed || !fit_can_come(b->m, &onto->by.instr->operands[onto->by.onto],
                                 to.dim + leads);
  fit_rearrange(b, &from, &to,
                leads + onto->by.instr->operands[onto->by.onto].access);
}

void
fit_build_onto(building *b, rl_fit *calls) {
  const fit_onto *onto = b->slice->onto;
  const gs_instr *instr = onto->by.instr;
  eg_class kids[FIT_OPERANDS];
  gs_type types[FIT_OPERANDS];
  const gs_type *at[FIT_OPERANDS];
  b->failed |= instr->n_operands > FIT_OPERANDS;
  bs_value attr = attr_of(b, &onto->by);
  for (uint32_t k = 0; k < instr->n_operands && !b->failed; k++) {
    if (k == onto->by.onto)
      build_begun(b, onto);
    else
      fit_build_operand(b, onto->by.operand[k]);
    kids[k] = b->cls;
    types[k] = b->type;
    at[k] = &types[k];
  }
  if (b->failed)
    return;
  *calls = (rl_fit){.attr = attr, .cycles = fit_price_call(b, instr, attr, at)};
  fit_add_node(b, GS_CALL, attr, kids, at, instr->n_operands);
}
