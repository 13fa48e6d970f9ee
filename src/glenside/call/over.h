/* SPDX-License-Identifier: MIT */
/* over.h - calls over further dimensions.
 *
 *   (call gemm (over (each 4 a) (each 8 b) (sum 3 a b) (into gemmAdd)) A B)
 *
 * is for every index of the iteration space one call, on the part of each
 * operand that the index says.  A dimension names the operands that have it, in
 * which it stands before all dimensions of the instruction, in the order of
 * the list; for the others the same part serves all of its indices.  The result
 * has the dimensions marked `each`, and is the sum over those marked `sum`.
 * `into` names an instruction that adds what the first one computes to an
 * operand more: all calls of a sum but its first are of that one.  It may be
 * the instruction itself where that adds to an operand: a sum begins with it.
 *
 * In a call's attribute the list is the last item, its items lists that begin
 * with their word. */
#ifndef GLENSIDE_OVER_H
#define GLENSIDE_OVER_H

#include "glenside/target/target.h"

typedef struct gs_over {
  uint32_t n;
  int64_t size[GS_MAX_RANK];
  bool sum[GS_MAX_RANK];
  uint32_t has[GS_MAX_RANK]; /* bit k: operand k has the dimension */
  const char *into;          /* NULL: partial sums are added by the host */
} gs_over;

/* How an instruction that accumulates is found in another one's terms. */
typedef struct gs_accumulation {
  const gs_instr *instr;
  uint32_t onto;                       /* the operand that is added to */
  uint32_t added;                      /* the node of what is added to it */
  uint32_t side;                       /* of the pair that is added: c's */
  uint32_t operand[GS_MAX_INSTR_VARS]; /* by operand: that of the other one */
  uint32_t slot[GS_MAX_INSTR_VARS];    /* by slot: that of the other one */
} gs_accumulation;

/* The last item of a call's attribute where it is such a list, else BS_NIL. */
bs_value gs_over_item(const bs_values *, bs_value attr);
/* n is 0 where there is none. */
bool gs_over_read(const bs_values *, const gs_instr *, bs_value attr,
                  gs_over *out, gs_fault *);
/* What one call sees of operand k; false where the operand lacks dimensions. */
bool gs_over_tile(const gs_over *, uint32_t k, const gs_type *whole,
                  gs_type *tile, gs_fault *);
/* The result of all calls from that of one. */
bool gs_over_whole(const gs_over *, const gs_type *tile, gs_type *whole,
                   gs_fault *);
/* Calls in all, and those that begin a sum. */
double gs_over_calls(const gs_over *);
double gs_over_sums(const gs_over *);
/* Whether `more` adds what `plain` computes to one of its operands, or, where
 * both are one, what is added there can be added to a result as well. */
bool gs_accumulates(const bs_values *, const gs_instr *plain,
                    const gs_instr *more, gs_accumulation *out);
/* Binds the accumulating instruction of a call that names one: slots has room
 * for GS_MAX_INSTR_VARS. */
bool gs_over_bind_into(bs_values *, const gs_target *, const gs_instr *,
                       bs_value attr, const gs_type *const *kids,
                       gs_accumulation *out, uint32_t *slots, gs_fault *);
/* lift.c: a term, over the tensors that a program declares, for each index of
 * further dimensions that stand before all others; inputs[k] stands for tensor
 * k and has them. */
gs_term gs_lift(const gs_program *from, gs_term, const int64_t *lead,
                uint32_t n_lead, gs_program *to, const gs_term *inputs,
                gs_fault *);
/* The operand with all dimensions of the iteration space in front. */
gs_term gs_over_spread(const gs_over *, uint32_t k, gs_program *, gs_term,
                       gs_fault *);
/* Of a term with all of them in front, the sum over those that are summed. */
gs_term gs_over_reduce(const gs_over *, gs_program *, gs_term, gs_fault *);

#endif
