/* SPDX-License-Identifier: MIT */
/* between.c - in which shape a result lies that other calls read.
 *
 * A call cuts its result into tiles, and the call that reads it cuts it into
 * others: laid out by the tiles of one, the other finds none of its own where
 * they are one distance apart, and the host would copy it.  So it lies by the
 * shape of a term between the two in which both find their tiles. */
#include "poly/lower/lower.h"
#include "poly/loops/affine.h"
#include <assert.h>
#include <string.h>

/* The one piece of a view that shows the whole of a call's result. */
static const po_piece *
piece_of(const po_lowering *low, gs_term v, gs_term call) {
  const po_view *view = &low->views.of[v.i];
  if (!view->made || view->pieces.len != 1)
    return NULL;
  const po_piece *piece = &view->pieces.data[0];
  return piece->from == PO_FROM_TERM && piece->term.i == call.i ? piece : NULL;
}

static bool
is_strided(const po_lowering *low, __isl_keep isl_multi_aff *there,
           __isl_keep isl_multi_aff *to, gs_term of, gs_term shape,
           int64_t *stride) {
  gs_type type, index;
  po_array array = {0};
  int64_t offset;
  gs_type_at(low->source, shape, &type);
  gs_type_at(low->source, of, &index);
  array.rank = type.rank;
  memcpy(array.dim, type.dim, sizeof array.dim);
  isl_multi_aff *map =
      po_simplify_multi(isl_multi_aff_pullback_multi_aff(
                            isl_multi_aff_copy(to), isl_multi_aff_copy(there)),
                        index.dim);
  bool strided = po_strided(map, &array, &offset, stride);
  isl_multi_aff_free(map);
  return strided;
}

/* Calls that read it find their operands as they want them; *any: there are
 * some. */
static bool
readers_find(const po_lowering *low, gs_term call, const po_piece *shape,
             gs_term at, bool *any) {
  const gs_program *p = low->source;
  int64_t stride[GS_MAX_RANK];
  bool fine = true;
  for (uint32_t k = 0; k < low->order.len && fine; k++) {
    const gs_node *n = gs_at(p, low->order.data[k]);
    for (uint32_t j = 0; n->op == GS_CALL && j < n->n_kids && fine; j++) {
      const po_piece *read = piece_of(low, n->kids[j], call);
      if (!read)
        continue;
      *any = true;
      fine = is_strided(low, read->map, shape->inverse, n->kids[j], at, stride);
    }
  }
  return fine;
}

static bool
writer_finds(const po_lowering *low, gs_term call, const po_piece *shape,
             gs_term at) {
  gs_type type;
  int64_t stride[GS_MAX_RANK];
  gs_type_at(low->source, call, &type);
  isl_multi_aff *self = po_identity(low->isl, type.rank);
  bool fine = is_strided(low, self, shape->inverse, call, at, stride);
  isl_multi_aff_free(self);
  return fine && po_call_result_fits(low, call, stride, &type);
}

gs_term
po_shape_between(po_lowering *low, gs_term call, isl_multi_aff **map) {
  assert(gs_at(low->source, call)->op == GS_CALL);
  bool any = false;
  for (uint32_t v = call.i; v < low->source->nodes.len; v++) {
    const po_piece *piece = piece_of(low, (gs_term){v}, call);
    if (!piece || !piece->inverse ||
        !po_shows_whole(low, piece, call, (gs_term){v}))
      continue;
    bool fine = readers_find(low, call, piece, (gs_term){v}, &any);
    if (!any)
      return call;
    if (fine && writer_finds(low, call, piece, (gs_term){v})) {
      *map = piece->inverse;
      return (gs_term){v};
    }
  }
  return call;
}
