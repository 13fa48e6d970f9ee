/* SPDX-License-Identifier: MIT */
/* limit.h - bounds on what isl may be asked for, so that no input runs away.
 *
 * isl counts its operations: blocks that it allocates and pivots.  How long one
 * takes grows with the columns of the tableau it works on, which integer
 * divisions add to most: an operation on relations with forty divisions takes
 * some 200 times as long as one on relations with none.  So a bound is given
 * for plain accesses and made smaller for a program by its weight.  It depends
 * on the program alone, not on the machine. */
#ifndef POLY_LIMIT_H
#define POLY_LIMIT_H

#include "poly/loops/loops.h"

/* Operations of isl, some 0.5 us each on a machine of 2024 where a program's
 * weight is 1. */
#define PO_COMMAND  40000000ul /* for a command of a script, checks included */
#define PO_QUESTION 20000000ul /* whether something is legal */

/* How much longer operations take on relations with so many divisions. */
unsigned long po_weight(unsigned long divisions);
/* The most that a relation of a program's instances has, by its domains and
 * accesses; times, whose divisions are those of a few tiles, are left out. */
unsigned long po_divisions_of(const po_program *);
/* Their weight. */
unsigned long po_weight_of(const po_program *);
/* `most`, less by the weight of a program. */
unsigned long po_bound(const po_program *, unsigned long most);

/* What isl may do from now on: operations as it counts them, 0: any number, and
 * so many operations on integers for each (limbs/meter.h), as one on a large
 * tableau takes a thousand times as long as another.  Beyond that, or when the
 * stage of the heap's governor is over, it does nothing any more: it fails with
 * isl_error_quota or isl_error_abort.  Counts begin anew; an error stays.  One
 * isl a thread is bound at a time: the one that was named last. */
void po_bind_isl(isl_ctx *, bs_heap *, unsigned long operations);
/* Frees an isl in which nothing lives any more.  It is kept where something
 * does, which is an error of whoever made that: where assertions are on, the
 * end. */
void po_free_isl(isl_ctx *);
/* The last error was that it may do no more. */
bool po_gave_up(isl_ctx *);

/* A limit for a question that must be answered in time; within a limit that
 * holds already, that one holds on for all questions.  po_unlimit gives whether
 * it was kept and no other error arose, which it forgets. */
typedef struct po_limit {
  isl_ctx *isl;
  bs_heap *heap;
  unsigned long before;
} po_limit;

po_limit po_limit_operations(const po_program *, unsigned long most);
/* Limits isl's operations for one of many questions about a program that stays
 * as it is: its weight is looked for once, where it is needed.  *kept begins as
 * 0. */
po_limit po_limit_of_many(const po_program *, unsigned long most,
                          unsigned long *kept);
bool po_unlimit(po_limit *);
/* Nothing can be asked any more within the limit that holds. */
bool po_is_exhausted(isl_ctx *);

#endif
