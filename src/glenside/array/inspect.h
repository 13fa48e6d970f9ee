/* SPDX-License-Identifier: MIT */
/* inspect.h - questions about views and constants that those ask who check what
 * terms compute: the prover, and the checker of proofs. */
#ifndef GLENSIDE_INSPECT_H
#define GLENSIDE_INSPECT_H

#include "glenside/array/tensor.h"
#include "glenside/program/program.h"
#include "glenside/type/view.h"

/* Does such a view have the elements of its child, in their order? */
bool gs_keeps_order(gs_op);

/* Is the view one in which nothing moves: an index in a child is one of the
 * view's, as it is, or there is one element?  Where sizes differ, zeros stand
 * behind the child, or the view ends before it does.  Of a program without open
 * sizes. */
bool gs_is_aligned(const gs_program *, gs_term view);

/* The least and the most index that a row gives in its dimension of the child,
 * for all indices of a view of that type that are in lo <= i < hi along the
 * axis; integers.  False where a row of terms does not depend on the axis. */
bool gs_row_range(const gs_view_row *, const gs_type *type, uint32_t axis,
                  int64_t lo, int64_t hi, int64_t *least, int64_t *most);

/* Of one type, and bit for bit of one content; NULL is the same as none. */
bool gs_same_constant(const gs_constant *, const gs_constant *);

/* Are all elements equal, and what are they?  A NaN is not equal to itself. */
bool gs_has_one_value(const gs_tensor *, double *out);

#endif
