/* SPDX-License-Identifier: MIT */
/* placement.c - the array every base is computed into.
 *
 * A base that an output (or a materialize) shows once, whole and without
 * repetition is computed straight into that array: no copy.  Otherwise it has
 * an array of its own in the workspace.  Consumers are visited before what
 * they read, so that placements chain: a sum shown by a materialize that is an
 * output is computed into the output.
 *
 * Invariant: a placement's map is a bijection from the base's box to the
 * elements that show it, which no other base writes. */
#include "poly/loops/loops_sizes.h"
#include "poly/lower/call.h"
#include <assert.h>
#include <string.h>

bool
po_strided(isl_multi_aff *map, const po_array *array, int64_t *offset,
           int64_t *stride) {
  for (uint32_t d = 1; d < array->rank; d++)
    if (array->extent[d]) /* a product of sizes */
      return false;
  isl_aff *address = po_linear(map, array->dim);
  bool affine = po_affine_terms(address, offset, stride);
  isl_aff_free(address);
  return affine;
}

/* Whether strides are those of a dense row-major array. */
static bool
is_dense(const int64_t *stride, const int64_t *dim, uint32_t rank) {
  int64_t dense[GS_MAX_RANK];
  po_strides(dim, rank, dense);
  for (uint32_t d = 0; d < rank; d++)
    if (dim[d] > 1 && stride[d] != dense[d])
      return false;
  return true;
}

/* map is the identity on `set` (box included). */
static bool
is_identity_on(po_lowering *low, __isl_take isl_multi_aff *map,
               __isl_keep isl_set *set) {
  isl_size n = isl_multi_aff_dim(map, isl_dim_out);
  isl_multi_aff *identity = po_identity(low->isl, n < 0 ? 0 : (uint32_t)n);
  bool same = isl_multi_aff_plain_is_equal(map, identity) == isl_bool_true;
  if (!same) {
    isl_map *graph = isl_map_from_multi_aff(isl_multi_aff_copy(map));
    isl_map *wanted = isl_map_from_multi_aff(isl_multi_aff_copy(identity));
    graph = isl_map_intersect_domain(graph, isl_set_copy(set));
    same = isl_map_is_subset(graph, wanted) == isl_bool_true;
    isl_map_free(graph);
    isl_map_free(wanted);
  }
  isl_multi_aff_free(identity);
  isl_multi_aff_free(map);
  return same;
}

static __isl_give isl_multi_aff *
compose(__isl_keep isl_multi_aff *outer, __isl_keep isl_multi_aff *inner,
        const int64_t *dim) {
  return po_simplify_multi(
      isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(outer),
                                       isl_multi_aff_copy(inner)),
      dim);
}

/* The piece shows each element of its base once. */
static bool
shows_whole(po_lowering *low, const po_piece *piece, const gs_type *base,
            const gs_type *type) {
  isl_multi_aff *there = compose(piece->map, piece->inverse, base->dim);
  isl_multi_aff *back = compose(piece->inverse, piece->map, type->dim);
  isl_set *all = po_box(low->isl, base->dim, base->rank);
  isl_set *shown = isl_set_intersect(isl_set_copy(piece->set),
                                     po_box(low->isl, type->dim, type->rank));
  isl_set *reached = isl_set_preimage_multi_aff(
      isl_set_copy(shown), isl_multi_aff_copy(piece->inverse));
  bool whole = isl_set_is_subset(all, reached) == isl_bool_true;
  whole = is_identity_on(low, there, all) && whole;
  whole = is_identity_on(low, back, shown) && whole;
  isl_set_free(all);
  isl_set_free(shown);
  isl_set_free(reached);
  return whole;
}

bool
po_shows_whole(po_lowering *low, const po_piece *piece, gs_term base,
               gs_term shown) {
  gs_type from, type;
  gs_type_at(low->source, base, &from);
  gs_type_at(low->source, shown, &type);
  return shows_whole(low, piece, &from, &type);
}

/* Its elements lie where those of the array do, in their order. */
static bool
is_itself(po_lowering *low, __isl_keep isl_multi_aff *map,
          const po_array *array) {
  isl_multi_aff *same = po_view_identity(&low->views, array->rank);
  return isl_multi_aff_plain_is_equal(map, same) == isl_bool_true;
}

/* A materialize promises the order of its indices; a call writes with strides
 * only if its template says so. */
static bool
may_live_at(po_lowering *low, gs_term t, const gs_type *type,
            __isl_keep isl_multi_aff *map, const po_array *array) {
  int64_t offset, stride[GS_MAX_RANK];
  if (gs_at(low->source, t)->op == GS_COMPUTE && !low->cut[t.i].made)
    return true;
  if (po_is_sized(array) && gs_at(low->source, t)->op != GS_CALL)
    return is_itself(low, map, array);
  if (!po_strided(map, array, &offset, stride))
    return false;
  if (gs_at(low->source, t)->op == GS_CALL)
    return po_call_result_fits(low, t, stride, type);
  return is_dense(stride, type->dim, type->rank);
}

static bool
has_own_array(const po_lowering *low, gs_term t) {
  gs_op op = gs_at(low->source, t)->op;
  return op == GS_TENSOR || op == GS_CONST;
}

static void
claim_piece(po_lowering *low, const po_piece *piece, const gs_type *type,
            const po_placement *at) {
  gs_type base;
  gs_type_at(low->source, piece->term, &base);
  if (!piece->inverse || !shows_whole(low, piece, &base, type))
    return;
  uint32_t mark = po_pool_mark(&low->views.pool);
  po_pool_reserve(&low->views.pool, 1);
  isl_multi_aff *map = po_keep_multi_aff(
      &low->views.pool, compose(at->map, piece->inverse, base.dim));
  if (may_live_at(low, piece->term, &base, map,
                  &low->out->arrays.data[at->array]))
    low->placements[piece->term.i] = (po_placement){true, at->array, map};
  else
    po_pool_release(&low->views.pool, mark);
}

/* Gives the bases that a view shows a placement where the view is stored. */
static void
claim(po_lowering *low, const po_view *view, const gs_type *type,
      const po_placement *at, uint32_t *times) {
  for (uint32_t k = 0; k < view->pieces.len; k++)
    if (view->pieces.data[k].from == PO_FROM_TERM)
      times[view->pieces.data[k].term.i]++;
  for (uint32_t k = 0; k < view->pieces.len; k++) {
    const po_piece *piece = &view->pieces.data[k];
    if (piece->from == PO_FROM_TERM && times[piece->term.i] == 1 &&
        !low->placements[piece->term.i].set && !has_own_array(low, piece->term))
      claim_piece(low, piece, type, at);
  }
  for (uint32_t k = 0; k < view->pieces.len; k++)
    if (view->pieces.data[k].from == PO_FROM_TERM)
      times[view->pieces.data[k].term.i] = 0;
}

/* The array as the placement of a term of its shape. */
static po_placement
whole_array(po_lowering *low, uint32_t array) {
  assert(array < low->out->arrays.len);
  const po_array *a = &low->out->arrays.data[array];
  return (po_placement){true, array, po_view_identity(&low->views, a->rank)};
}

static void
give_own_array(po_lowering *low, gs_term t) {
  isl_multi_aff *map = NULL;
  gs_term shape =
      gs_at(low->source, t)->op == GS_CALL ? po_shape_between(low, t, &map) : t;
  gs_type type;
  gs_type_at(low->source, shape, &type);
  uint32_t array = po_new_temporary(low, PO_WORKSPACE, type.dtype, type.dim,
                                    type.rank, shape);
  low->placements[t.i] =
      map ? (po_placement){true, array, map} : whole_array(low, array);
}

/* ---- operands that several calls make ---- */

/* Parts that stand side by side, and none of which has a placement. */
static bool
are_parts(const po_lowering *low, const po_view *view) {
  bool any = view->made && view->pieces.len > 1;
  for (uint32_t k = 0; any && k < view->pieces.len; k++) {
    const po_piece *piece = &view->pieces.data[k];
    any = piece->from == PO_FROM_TERM &&
          gs_at(low->source, piece->term)->op == GS_CALL &&
          !low->placements[piece->term.i].set;
  }
  return any;
}

/* An operand of parts would be packed: they are computed where it is. */
static void
claim_operand(po_lowering *low, gs_term kid, uint32_t *times) {
  const po_view *view = &low->views.of[kid.i];
  gs_type type;
  if (!are_parts(low, view))
    return;
  gs_type_at(low->source, kid, &type);
  uint32_t array =
      po_new_temporary(low, PO_WORKSPACE, type.dtype, type.dim, type.rank, kid);
  po_placement placement = whole_array(low, array);
  claim(low, view, &type, &placement, times);
}

static void
claim_operands(po_lowering *low, gs_term call, uint32_t *times) {
  const gs_node *node = gs_at(low->source, call);
  const gs_instr *instr = po_instr_of(low, call);
  for (uint32_t k = 0; k < node->n_kids; k++)
    if (!instr->operands[k].layout)
      claim_operand(low, node->kids[k], times);
}

void
po_find_placements(po_lowering *low) {
  const gs_program *source = low->source;
  gs_type type;
  uint32_t *times = bs_calloc(low->heap, source->nodes.len, sizeof *times);
  for (uint32_t k = 0; k < source->outputs.len; k++) {
    gs_term t = source->outputs.data[k].term;
    po_placement placement = whole_array(low, source->inputs.len + k);
    gs_type_at(source, t, &type);
    claim(low, &low->views.of[t.i], &type, &placement, times);
  }
  for (uint32_t k = low->order.len; k-- > 0;) {
    gs_term t = low->order.data[k];
    if (!low->placements[t.i].set)
      give_own_array(low, t);
    if (gs_at(source, t)->op == GS_CALL)
      claim_operands(low, t, times);
    if (gs_at(source, t)->op != GS_MATERIALIZE && !low->cut[t.i].made)
      continue;
    gs_type_at(source, t, &type);
    claim(low, po_stored(low, t), &type, &low->placements[t.i], times);
  }
  bs_free(low->heap, times);
}

static uint32_t
constant_array(po_lowering *low, gs_term t, const gs_type *type) {
  const bs_values *values = low->source->ctx.values;
  const char *name =
      bs_as_sym(values, bs_item(values, gs_at(low->source, t)->attr, 0));
  const gs_constant *constant = gs_find_constant(low->source, name);
  uint32_t array =
      po_new_array(low, PO_CONSTANT, po_fresh_name(low, "c_", name),
                   type->dtype, type->dim, type->rank, t);
  low->out->arrays.data[array].data = constant->data;
  return array;
}

static uint32_t
input_array(const po_lowering *low, gs_term t) {
  uint32_t k = 0;
  while (low->source->inputs.data[k].term.i != t.i)
    k++;
  return k;
}

const po_placement *
po_placement_of(po_lowering *low, gs_term t) {
  assert(t.i < low->source->nodes.len);
  po_placement *placement = &low->placements[t.i];
  if (placement->set)
    return placement;
  gs_type type;
  gs_term result;
  if (po_find_states(low, t, &result)) {
    *placement = *po_placement_of(low, result);
    return placement;
  }
  gs_type_at(low->source, t, &type);
  uint32_t array = gs_at(low->source, t)->op == GS_CONST
                       ? constant_array(low, t, &type)
                       : input_array(low, t);
  *placement = whole_array(low, array);
  return placement;
}
