/* SPDX-License-Identifier: MIT */
/* view.h - which element of which child each element of a view is.
 *
 * A view is cut along one of its dimensions into parts, side by side.  A part
 * takes its elements from one child, or is one number throughout.  A row says
 * for one dimension of the child what the index there is: a sum of indices of
 * the view, each times a number, and an offset; or that sum divided by a
 * number, rounded down.  Where a view only changes the shapes of S and of C,
 * it has no rows, and elements stay in their row-major order on either side.
 *
 * The rows are evaluated over integers (prover, zero regions, proof checker),
 * in isl (lowering) and over the sizes of a rule (prover).  The interpreter
 * does not read them: it is what they are tested against. */
#ifndef GLENSIDE_VIEW_H
#define GLENSIDE_VIEW_H

#include "glenside/type/numbers.h"
#include "glenside/type/type.h"

enum { GS_ROW_TERMS = 2, GS_VIEW_PARTS = 3 };

typedef struct gs_view_row {
  uint32_t n; /* terms of the sum */
  struct {
    uint32_t of; /* a dimension of the view */
    gs_number times;
  } term[GS_ROW_TERMS];
  gs_number offset;
  bool divided;
  gs_number by; /* divided: at least 1 */
} gs_view_row;

typedef enum gs_view_source {
  GS_VIEW_CHILD,
  GS_VIEW_ZERO,
  GS_VIEW_LOWEST /* of the dtype */
} gs_view_source;

typedef struct gs_view_part {
  gs_number from, to; /* the indices from <= i < to along the axis */
  gs_view_source source;
  uint32_t kid;
  bool repeated; /* these elements stand in another part, too */
  gs_view_row row[GS_MAX_RANK];
} gs_view_part;

typedef struct gs_view {
  uint32_t axis; /* of no meaning where there is one part */
  uint32_t n;
  bool keeps_order; /* S and C have other shapes: there are no rows */
  gs_view_part part[GS_VIEW_PARTS];
} gs_view;

/* The view op(attr) of that type over these children; sizes in the types, and
 * what the attribute holds, are numbers of `over` (NULL: integers).  It has a
 * type. */
typedef struct gs_viewed {
  const gs_numbers *over;
  const bs_values *values;
  gs_op op;
  bs_value attr;
  const gs_type *const *kids;
  const gs_type *type;
} gs_viewed;

void gs_view_of(const gs_viewed *, gs_view *out);

/* The type of the view over such numbers; false where the numbers refused what
 * is needed for one. */
bool gs_infer_over(const gs_numbers *over, gs_op, const gs_type *const *kids,
                   gs_type *out);

/* The one-child views of the child's own shape whose every element is the
 * child's at the same index. */
bool gs_view_is_identity(const gs_view *, const gs_type *of,
                         const gs_type *type);

#endif
