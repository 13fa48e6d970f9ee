/* SPDX-License-Identifier: MIT */
/* call.h - what the two kinds of calls share: one call, and calls over further
 * dimensions. */
#ifndef POLY_LOWER_CALL_H
#define POLY_LOWER_CALL_H

#include "glenside/call/over.h"
#include "poly/lower/lower.h"

typedef struct po_calling {
  po_lowering *low;
  gs_term term;
  const gs_node *node;
  const gs_instr *instr;
  uint32_t *slots;
  gs_type *types; /* of the operands, then of the result */
  const gs_type **kids;
  gs_over over;
} po_calling;

/* An operand where it lies, with the function from its index to the element. */
typedef struct po_placed {
  po_operand at;
  isl_multi_aff *map;
} po_placed;

/* fits.c: the instruction that a call names. */
const gs_instr *po_instr_of(const po_lowering *, gs_term call);
/* The operand in dram that the result overwrites; n_operands: none.  In other
 * memories that is arranged where places in them are found. */
uint32_t po_overwritten(const gs_instr *);
/* Whether operand k, or the result, may lie so; the dimensions are those that
 * one call sees. */
bool po_call_fits(const po_lowering *, const gs_instr *, uint32_t k,
                  const int64_t *stride, const int64_t *dim, uint32_t rank);
/* Operand k, in place where an instruction takes its strides, else packed. */
po_placed po_find_operand(const po_calling *, uint32_t k, const gs_instr *also,
                          uint32_t also_k);
/* Where the result lies. */
po_placed po_place_result(const po_calling *);
/* call_over.c: the loops of such a call. */
void po_emit_call_over(const po_calling *);

#endif
