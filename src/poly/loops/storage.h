/* SPDX-License-Identifier: MIT */
/* storage.h - how arrays lie in memory.
 *
 * Row-major, a dimension in as many places as it is folded to, padded.  A
 * local is declared in the innermost loop around all its uses in whose
 * iterations different elements are used: on the stack,
 * unless it is large; a large one has its place in the workspace, one for each
 * thread where a parallel loop is around it. */
#ifndef POLY_STORAGE_H
#define POLY_STORAGE_H

#include "glenside/target/tuned.h"
#include "poly/loops/loops.h"

/* Threads that a parallel loop around a large local has at most. */
#define PO_MAX_TEAM 64

/* Places in memory, a dimension, at the most that it can be; all of them
 * together (checked: INT64_MAX where they are too many). */
void po_places(const po_array *, int64_t *place);
int64_t po_elements(const po_array *);
int64_t po_bytes(const po_array *);
/* Dimension d of the index that an access names, as it is kept. */
__isl_give isl_pw_aff *po_place_along(const po_array *, uint32_t d,
                                      __isl_keep isl_pw_multi_aff *index);
/* The element that `index` names, in elements from the array's start; NULL
 * where that is no affine function, since extents depend on sizes. */
__isl_give isl_pw_aff *po_address(const po_array *,
                                  __isl_keep isl_pw_multi_aff *index);

/* node[array]: the innermost loop (or the root) that holds all uses of a
 * local and does not carry its values from one iteration to another;
 * PO_NO_NODE for other arrays and unused ones. */
void po_find_local_nodes(const po_program *, uint32_t *node);
/* The innermost loop that holds all uses of each local, whether or not it
 * carries its values. */
void po_find_common_nodes(const po_program *, uint32_t *node);
/* What po_find_local_nodes finds for one array, from its common node. */
uint32_t po_local_node(const po_program *, uint32_t array, uint32_t node);
/* Whether this loop, which has a mark, or one around it hands on values of a
 * local used below it from one of its iterations to another. */
bool po_is_handed_on(const po_program *, uint32_t array, uint32_t loop);
static inline bool
po_is_folded(const po_array *array) {
  for (uint32_t d = 0; d < array->rank; d++)
    if (array->fold[d])
      return true;
  return false;
}
/* It is kept in one place, and is no more than a variable. */
static inline bool
po_is_variable(const po_array *array) {
  return array->role == PO_LOCAL && po_elements(array) <= 1;
}
static inline bool
po_is_large(const po_array *array) {
  return array->role == PO_LOCAL && array->scope != PO_SHARED &&
         po_bytes(array) > GS_LOCAL_BYTES;
}
/* Whether threads run the iterations of this loop or of one around it. */
bool po_is_in_parallel(const po_program *, uint32_t loop);

#endif
