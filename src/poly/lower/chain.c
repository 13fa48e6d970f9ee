/* SPDX-License-Identifier: MIT */
/* chain.c - pointwise results that one pointwise consumer alone reads.
 *
 * Each compute is a statement of its own, and a schedule puts a producer into
 * its consumer's loops.  A program that is too large to be scheduled keeps a
 * pass over memory for every bias, residual and activation.  There such a
 * result is no array: the consumer's expression holds its expression, so that a
 * whole chain is one statement, which may then be computed where a contraction
 * stores its sums. */
#include "poly/lower/lower.h"
#include <math.h>

/* Operators of one expression, and how deep they may be nested. */
enum { MOST_OPERATORS = 12, MOST_NESTED = 6 };

#define NO_ARRAY 0x80000000u

typedef struct link {
  uint32_t reads;  /* how often it is read, by whom */
  uint32_t reader; /* the last one */
  uint32_t size, depth;
} link;

static gs_compute_kind
kind_of(const po_lowering *low, gs_term t) {
  gs_compute op = GS_C_ADD;
  const bs_values *values = low->source->ctx.values;
  gs_compute_of(values, bs_item(values, gs_at(low->source, t)->attr, 0), &op);
  return gs_compute_table[op].kind;
}

/* One expression of its operands for each element. */
static bool
is_pointwise(const po_lowering *low, gs_term t) {
  if (gs_at(low->source, t)->op != GS_COMPUTE || low->cut[t.i].made)
    return false;
  gs_compute_kind kind = kind_of(low, t);
  return kind == GS_ELEMENTWISE || kind == GS_CAST || kind == GS_SELECT ||
         (kind == GS_FOLD && po_tuple_items(low, t));
}

static const po_view *
operand_of(const po_lowering *low, gs_term t) {
  return &low->views.of[gs_at(low->source, t)->kids[0].i];
}

static bool
is_seen(po_lowering *low, const po_piece *piece, const gs_type *type,
        uint32_t item) {
  if (isl_set_plain_is_universe(piece->set) == isl_bool_true)
    return true;
  isl_set *here = isl_set_intersect(
      isl_set_copy(piece->set),
      po_slab_in(low->isl, type->dim, type->rank, type->access, item, item));
  bool seen = isl_set_is_empty(here) == isl_bool_false;
  isl_set_free(here);
  return seen;
}

/* The piece that is all of an item, or of the operand where that has none; NULL
 * where there are several. */
static const po_piece *
only_piece(po_lowering *low, gs_term t, uint32_t item) {
  const po_view *view = operand_of(low, t);
  const po_piece *found = NULL;
  gs_type type;
  gs_type_at(low->source, gs_at(low->source, t)->kids[0], &type);
  bool items = po_tuple_items(low, t) > 0;
  for (uint32_t k = 0; k < view->pieces.len; k++) {
    const po_piece *piece = &view->pieces.data[k];
    if (items && !is_seen(low, piece, &type, item))
      continue;
    if (found)
      return NULL;
    found = piece;
  }
  return found;
}

static uint32_t
items_of(const po_lowering *low, gs_term t) {
  uint32_t n = po_tuple_items(low, t);
  return n ? n : 1;
}

/* ---- who reads what ---- */

static void
count_view(link *links, const po_view *view, gs_term reader, uint32_t times) {
  for (uint32_t k = 0; k < view->pieces.len; k++)
    if (view->pieces.data[k].from == PO_FROM_TERM) {
      link *l = &links[view->pieces.data[k].term.i];
      l->reads += times;
      l->reader = reader.i;
    }
}

/* Of others than pointwise computes each read counts as several: they read
 * arrays. A piece that several items share is read by each. */
static void
count_reads(const po_lowering *low, gs_term t, link *links) {
  const gs_node *node = gs_at(low->source, t);
  if (low->cut[t.i].made) {
    count_view(links, &low->cut[t.i], t, 2);
    return;
  }
  for (uint32_t k = 0; k < node->n_kids; k++) {
    const po_view *view = &low->views.of[node->kids[k].i];
    bool alone = is_pointwise(low, t) &&
                 (!po_tuple_items(low, t) || view->pieces.len > 1);
    count_view(links, view, t, alone ? 1 : 2);
  }
}

/* Rounded as the array would be. */
static bool
is_exact(const po_lowering *low, gs_term t) {
  gs_type type;
  gs_type_at(low->source, t, &type);
  return type.dtype == GS_F32 || type.dtype == GS_F64 || type.dtype == GS_I32;
}

/* Its operands' sizes, with those that are chained. */
static bool
measure(po_lowering *low, gs_term t, link *links) {
  link *own = &links[t.i];
  own->size = own->depth = 1;
  for (uint32_t k = 0; k < items_of(low, t); k++) {
    const po_piece *piece = only_piece(low, t, k);
    if (!piece)
      return false;
    if (piece->from != PO_FROM_TERM || !low->chained[piece->term.i])
      continue;
    const link *l = &links[piece->term.i];
    own->size += l->size;
    own->depth = l->depth >= own->depth ? l->depth + 1 : own->depth;
  }
  return own->size <= MOST_OPERATORS && own->depth <= MOST_NESTED;
}

static bool
is_link(po_lowering *low, gs_term t, link *links) {
  gs_term reader = {links[t.i].reader};
  return is_pointwise(low, t) && measure(low, t, links) &&
         links[t.i].reads == 1 && is_exact(low, t) &&
         is_pointwise(low, reader) &&
         gs_elements_at(low->source, reader) <= gs_elements_at(low->source, t);
}

static void
leave_out(po_lowering *low, gs_term t) {
  gs_type type;
  gs_type_at(low->source, t, &type);
  low->chained[t.i] = 1;
  po_pool_reserve(&low->views.pool, 1);
  isl_multi_aff *map =
      po_keep_multi_aff(&low->views.pool, po_identity(low->isl, type.rank));
  low->homes[t.i] = (po_home){true, NO_ARRAY + t.i, map};
}

void
po_find_chains(po_lowering *low) {
  const gs_program *source = low->source;
  link *links = bs_calloc(low->heap, source->nodes.len, sizeof *links);
  low->chained = bs_calloc(low->heap, source->nodes.len, 1);
  for (uint32_t k = 0; k < low->order.len; k++)
    count_reads(low, low->order.data[k], links);
  for (uint32_t k = 0; k < source->outputs.len; k++) {
    gs_term t = source->outputs.data[k].term;
    count_view(links, &low->views.of[t.i], t, 2);
  }
  uint32_t n = 0;
  for (uint32_t k = 0; k < low->order.len && !po_has_failed(low); k++) {
    gs_term t = low->order.data[k];
    if (is_link(low, t, links))
      leave_out(low, t);
    else
      low->order.data[n++] = t;
  }
  low->order.len = po_has_failed(low) ? low->order.len : n;
  bs_free(low->heap, links);
}

/* ---- expressions ---- */

static bool
is_chained(const po_read *read) {
  return !read->constant && read->array >= NO_ARRAY;
}

/* Index of the consumer -> index of the operand of t, for an item. */
static isl_multi_aff *
into_operand(po_lowering *low, gs_term t, uint32_t item,
             __isl_keep isl_multi_aff *at) {
  gs_type type;
  gs_type_at(low->source, gs_at(low->source, t)->kids[0], &type);
  if (!po_tuple_items(low, t))
    return isl_multi_aff_copy(at);
  return isl_multi_aff_pullback_multi_aff(
      isl_multi_aff_copy(
          po_into_tuple(low, &type, type.rank - 1, type.rank - 1, item)),
      isl_multi_aff_copy(at));
}

/* What operand `item` of t is where the consumer's index leads to. */
static po_read
read_operand(po_lowering *low, gs_term t, uint32_t item, const po_read *at,
             const int64_t *dim) {
  const po_piece *piece = only_piece(low, t, item);
  po_read out = {.set = at->set, .constant = piece->from != PO_FROM_TERM};
  out.literal = piece->from == PO_FROM_LOWEST ? -INFINITY : 0;
  if (out.constant)
    return out;
  const po_home *home = po_home_of(low, piece->term);
  isl_multi_aff *map = isl_multi_aff_pullback_multi_aff(
      isl_multi_aff_copy(piece->map), into_operand(low, t, item, at->map));
  map = isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(home->map), map);
  po_pool_reserve(&low->scratch, 1);
  out.map = po_keep_multi_aff(&low->scratch, po_simplify_multi(map, dim));
  out.array = home->array;
  return out;
}

/* The value of a chained term. It is nested MOST_NESTED deep at most. */
static uint32_t
put_term(po_body *body, const po_read *at, const int64_t *dim) {
  po_lowering *low = body->low;
  gs_term t = {at->array - NO_ARRAY};
  const gs_node *node = gs_at(low->source, t);
  gs_type operand, result;
  gs_type_at(low->source, node->kids[0], &operand);
  gs_type_at(low->source, t, &result);
  uint32_t values[PO_MAX_TUPLE], n = items_of(low, t);
  for (uint32_t k = 0; k < n; k++) {
    po_read read = read_operand(low, t, k, at, dim);
    values[k] = po_put_operand(body, operand.dtype, &read, dim);
  }
  bs_value o = bs_item(low->source->ctx.values, node->attr, 0);
  return po_put_pointwise(body, o, result.dtype, values, n);
}

uint32_t
po_put_operand(po_body *body, gs_dtype dtype, const po_read *read,
               const int64_t *dim) {
  return is_chained(read) ? put_term(body, read, dim)
                          : po_put_read(body, dtype, read);
}
