/* SPDX-License-Identifier: MIT */
/* fit_over.c - an iteration space as the attribute of a call. */
#include "rules/instr/fit.h"

static bs_value
dimension(bs_values *values, const gs_instr *instr, const gs_over *over,
          uint32_t d) {
  bs_value items[2 + FIT_OPERANDS];
  uint32_t n = 0;
  items[n++] = bs_sym(values, over->sum[d] ? "sum" : "each");
  items[n++] = bs_int(values, over->size[d]);
  for (uint32_t k = 0; k < instr->n_operands; k++)
    if (over->has[d] >> k & 1)
      items[n++] = bs_sym(values, instr->operands[k].name);
  return bs_list(values, items, n);
}

uint32_t
fit_sums_over(const fit_instr *f, const gs_instr *into) {
  if (into == f->instr)
    return f->begun;
  return into || !f->staged ? f->sum : f->staged;
}

bool
fit_is_staged(const fit_instr *f, const fit_atom *a) {
  return f->staged && a->group == f->staged;
}

bs_value
fit_over_value(bs_values *values, const gs_instr *instr, const gs_over *over,
               const gs_instr *into) {
  bs_value items[GS_MAX_RANK + 1];
  uint32_t n = 0;
  for (; n < over->n; n++)
    items[n] = dimension(values, instr, over, n);
  if (into) {
    bs_value pair[2] = {bs_sym(values, "into"), bs_sym(values, into->name)};
    items[n++] = bs_list(values, pair, 2);
  }
  return bs_list(values, items, n);
}
