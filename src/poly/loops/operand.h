/* SPDX-License-Identifier: MIT */
/* operand.h - operands of instruction calls: parts of arrays, with dimensions
 * of their own.
 *
 * Neighbours along dimension d of an operand lie stride[d] elements apart in
 * memory.  A call outside of loops names its first element by its distance
 * from the array's start; one in loops by the element, a function of the
 * instance (po_operand.base), so that arrays may be folded and padded. */
#ifndef POLY_OPERAND_H
#define POLY_OPERAND_H

#include "poly/loops/loops.h"

/* Bit d: the template mentions stride d of operand k; k = n_operands: of the
 * result. */
uint32_t po_mentioned_strides(const gs_instr *, uint32_t k);
/* The first dimension that neither is mentioned nor lies as in a dense array;
 * rank where there is none. */
uint32_t po_stray_dimension(uint32_t mentioned, const int64_t *stride,
                            const int64_t *dim, uint32_t rank);
/* The elements of its array that an operand without base covers. */
__isl_give isl_set *po_operand_elements(const po_program *, const po_operand *);
/* { S[i] -> A[x] }: those that an operand of a call covers; NULL where isl
 * gives up. */
__isl_give isl_map *po_operand_map(const po_program *, const po_stmt *,
                                   const po_operand *);
/* Whether they all are elements of the array. */
bool po_operand_is_inside(const po_program *, const po_stmt *,
                          const po_operand *);

#endif
