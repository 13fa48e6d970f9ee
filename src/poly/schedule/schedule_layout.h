/* SPDX-License-Identifier: MIT */
/* schedule_layout.h - index maps of arrays. */
#ifndef POLY_SCHEDULE_LAYOUT_H
#define POLY_SCHEDULE_LAYOUT_H

#include "poly/schedule/primitive.h"

/* Refuses for arrays of the caller and those that calls and look-ups use. */
bool po_layout_is_ours(const po_program *, const po_step_call *,
                       uint32_t array);
/* Element x of an array lies at text's function of x from now on, as in
 * "[i, j] -> [floor(j / 16), i, j mod 16]"; leading folded dimensions stay and
 * are not part of it.  False with a diagnostic. */
bool po_change_layout(po_program *, const po_step_call *, uint32_t array,
                      const char *text);
/* The one function that a text of n characters is, in isl's notation and
 * without a condition; NULL where it is none. */
__isl_give isl_multi_aff *po_read_map(po_program *, const char *text, size_t n);
/* Index d of an access to an array of this rank, less the value of the loop at
 * this depth around the statement, of all its instances: one value where it
 * follows the loop.  index: { S[i] -> A[x] }. */
__isl_give isl_set *po_index_from_loop(const po_stmt *,
                                       __isl_take isl_map *index, uint32_t rank,
                                       uint32_t d, uint32_t depth);

#endif
