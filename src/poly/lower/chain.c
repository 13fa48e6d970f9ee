/* SPDX-License-Identifier: MIT */
/* chain.c - pointwise results that are parts of one later expression alone.
 *
 * Each compute is a statement of its own, and a schedule puts a producer into
 * its consumer's loops.  A program that is too large to be scheduled keeps a
 * pass over memory for every bias, residual and activation.  There such a
 * result is no array: the consumer's expression holds its expression, so that a
 * whole chain is one statement, which may then be computed where a contraction
 * stores its sums.  Several terms may read it, as a value times its sigmoid
 * does, where all of them are parts of the same expression and read one place:
 * a compiler computes once what is written twice.
 *
 * An operand of several arrays, as a concat is, cuts the expression's loops
 * into those of its parts, each with the whole chain.
 *
 * What a reduction reads once is a part of what it adds up, too.  What comes
 * right from a contraction is not, as it is computed where that stores. */
#include "poly/lower/lower.h"
#include "poly/loops/functions.h"
#include <assert.h>
#include <math.h>

/* Operators of one expression, and how deep they may be nested. */
enum { MOST_OPERATORS = 12, MOST_NESTED = 6 };

#define NO_ARRAY 0x80000000u

/* A term as a part of the expression of the statement `root`. */
typedef struct link {
  uint32_t reads;  /* how often it is read */
  bool barred;     /* it has to be an array */
  uint32_t root;   /* whose expression all its readers are parts of */
  uint32_t copies; /* how often it would be written there, and how deep */
  uint32_t depth;
  isl_multi_aff *place; /* the root's index -> where it is read */
  uint32_t size;        /* of a root: operators of its expression */
} link;

static gs_compute
operator_of(const po_lowering *low, gs_term t) {
  assert(gs_at(low->source, t)->op == GS_COMPUTE);
  gs_compute op = GS_C_ADD;
  const bs_values *values = low->source->ctx.values;
  gs_compute_of(values, bs_item(values, gs_at(low->source, t)->attr, 0), &op);
  return op;
}

static gs_compute_kind
kind_of(const po_lowering *low, gs_term t) {
  return gs_compute_table[operator_of(low, t)].kind;
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

/* A reduction of one operand, whose elements it adds up one by one. */
static bool
is_reduction(const po_lowering *low, gs_term t) {
  return gs_at(low->source, t)->op == GS_COMPUTE && !low->cut[t.i].made &&
         kind_of(low, t) == GS_REDUCE;
}

static const po_view *
operand_of(const po_lowering *low, gs_term t) {
  assert(gs_at(low->source, t)->n_kids);
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

/* ---- who reads what ---- */

static void
bar_view(link *links, const po_view *view) {
  for (uint32_t k = 0; k < view->pieces.len; k++)
    if (view->pieces.data[k].from == PO_FROM_TERM)
      links[view->pieces.data[k].term.i].barred = true;
}

/* Of others than pointwise computes, which read arrays. */
static void
bar_operands(const po_lowering *low, gs_term t, link *links) {
  const gs_node *node = gs_at(low->source, t);
  if (low->cut[t.i].made)
    bar_view(links, &low->cut[t.i]);
  for (uint32_t k = 0; k < node->n_kids; k++)
    bar_view(links, &low->views.of[node->kids[k].i]);
}

/* The term over whose index the expression of a statement is: a reduction's is
 * that of what it reduces. */
static gs_term
indexed_by(const po_lowering *low, gs_term t) {
  return is_reduction(low, t) ? gs_at(low->source, t)->kids[0] : t;
}

/* Index of the reader's root -> the place where it reads its item. */
static isl_multi_aff *
place_of(po_lowering *low, gs_term reader, uint32_t item, const po_piece *piece,
         const link *links) {
  assert(piece->from == PO_FROM_TERM);
  gs_type type;
  gs_type_at(low->source, indexed_by(low, reader), &type);
  const link *own = &links[reader.i];
  isl_multi_aff *at = low->chained[reader.i] ? isl_multi_aff_copy(own->place)
                                             : po_identity(low->isl, type.rank);
  isl_multi_aff *map = isl_multi_aff_pullback_multi_aff(
      isl_multi_aff_copy(piece->map), into_operand(low, reader, item, at));
  isl_multi_aff_free(at);
  po_pool_reserve(&low->scratch, 1);
  return po_keep_multi_aff(&low->scratch, map);
}

/* One more read of a term by a pointwise one. Readers of another root, or at
 * another place, leave it an array: it would be computed again for each. */
static void
note_read(po_lowering *low, gs_term reader, uint32_t item,
          const po_piece *piece, link *links) {
  assert(piece->from == PO_FROM_TERM);
  link *l = &links[piece->term.i], *own = &links[reader.i];
  bool inner = low->chained[reader.i];
  uint32_t root = inner ? own->root : reader.i;
  isl_multi_aff *place = place_of(low, reader, item, piece, links);
  if (l->reads++ && (l->root != root || isl_multi_aff_plain_is_equal(
                                            l->place, place) != isl_bool_true))
    l->barred = true;
  if (gs_elements_at(low->source, indexed_by(low, reader)) >
      gs_elements_at(low->source, piece->term))
    l->barred = true;
  uint32_t depth = inner ? own->depth + 1 : 1;
  l->root = root;
  l->place = place;
  l->copies += inner ? own->copies : 1;
  l->depth = depth > l->depth ? depth : l->depth;
}

/* Of an operand in several pieces each is read in a part of the result. */
static void
note_parts(po_lowering *low, gs_term t, uint32_t item, link *links) {
  const po_view *view = operand_of(low, t);
  for (uint32_t k = 0; k < view->pieces.len; k++) {
    const po_piece *piece = &view->pieces.data[k];
    if (piece->from != PO_FROM_TERM)
      continue;
    if (po_tuple_items(low, t) && links[piece->term.i].reads)
      links[piece->term.i].barred = true;
    else
      note_read(low, t, item, piece, links);
  }
}

/* Rounded as the array would be. */
static bool
is_exact(const po_lowering *low, gs_term t) {
  gs_type type;
  gs_type_at(low->source, t, &type);
  return type.dtype == GS_F32 || type.dtype == GS_F64 || type.dtype == GS_I32;
}

static bool
is_whole(po_lowering *low, gs_term t) {
  for (uint32_t k = 0; k < items_of(low, t); k++)
    if (!only_piece(low, t, k))
      return false;
  return true;
}

/* It reads what a contraction stores. */
static bool
follows_products(const po_lowering *low, gs_term t) {
  const po_view *view = operand_of(low, t);
  for (uint32_t k = 0; k < view->pieces.len; k++) {
    const po_piece *piece = &view->pieces.data[k];
    if (piece->from == PO_FROM_TERM &&
        gs_at(low->source, piece->term)->op == GS_COMPUTE &&
        kind_of(low, piece->term) == GS_DOT)
      return true;
  }
  return false;
}

/* Whether it becomes a part of its root's expression, which is computed part by
 * part where it reads several arrays. All of its readers were asked before.
 * What is costly is computed once, whatever a compiler sees of copies. */
static bool
is_link(po_lowering *low, gs_term t, link *links) {
  const link *own = &links[t.i];
  if (!own->reads || own->barred || !is_pointwise(low, t) ||
      !is_exact(low, t) ||
      (own->copies > 1 && po_is_costly(operator_of(low, t))))
    return false;
  if (is_reduction(low, (gs_term){own->root}) && follows_products(low, t))
    return false;
  return own->depth < MOST_NESTED &&
         links[own->root].size + own->copies < MOST_OPERATORS &&
         (is_pointwise(low, (gs_term){own->root}) || is_whole(low, t));
}

static void
note_operands(po_lowering *low, gs_term t, link *links) {
  bool sums = is_reduction(low, t) && only_piece(low, t, 0);
  if (!is_pointwise(low, t) && !sums) {
    bar_operands(low, t, links);
    return;
  }
  for (uint32_t k = 0; k < items_of(low, t); k++) {
    const po_piece *piece = only_piece(low, t, k);
    if (!piece)
      note_parts(low, t, k, links);
    else if (piece->from == PO_FROM_TERM)
      note_read(low, t, k, piece, links);
  }
}

static void
leave_out(po_lowering *low, gs_term t) {
  gs_type type;
  gs_type_at(low->source, t, &type);
  low->chained[t.i] = 1;
  po_pool_reserve(&low->views.pool, 1);
  isl_multi_aff *map =
      po_keep_multi_aff(&low->views.pool, po_identity(low->isl, type.rank));
  low->placements[t.i] = (po_placement){true, NO_ARRAY + t.i, map};
}

static void
drop_chained(po_lowering *low) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < low->order.len; k++)
    if (!low->chained[low->order.data[k].i])
      low->order.data[n++] = low->order.data[k];
  low->order.len = n;
}

/* From the outputs up: a term is asked once all that read it are decided. */
void
po_find_chains(po_lowering *low) {
  const gs_program *source = low->source;
  link *links = bs_calloc(low->heap, source->nodes.len, sizeof *links);
  low->chained = bs_calloc(low->heap, source->nodes.len, 1);
  uint32_t mark = po_pool_mark(&low->scratch);
  for (uint32_t k = 0; k < source->outputs.len; k++)
    bar_view(links, &low->views.of[source->outputs.data[k].term.i]);
  for (uint32_t k = low->order.len; k-- && !po_has_failed(low);) {
    gs_term t = low->order.data[k];
    if (is_link(low, t, links)) {
      links[links[t.i].root].size += links[t.i].copies;
      leave_out(low, t);
    }
    note_operands(low, t, links);
  }
  if (!po_has_failed(low))
    drop_chained(low);
  po_pool_release(&low->scratch, mark);
  bs_free(low->heap, links);
}

/* ---- expressions ---- */

static bool
is_chained(const po_read *read) {
  return !read->constant && read->array >= NO_ARRAY;
}

/* Where, of what is read of t, an operand is of that piece; NULL: nowhere. */
static isl_set *
part_of(po_lowering *low, gs_term t, uint32_t item, const po_piece *piece,
        const po_read *at, const int64_t *dim) {
  isl_set *part = isl_set_preimage_multi_aff(
      isl_set_copy(piece->set), into_operand(low, t, item, at->map));
  part = isl_set_intersect(part, isl_set_copy(at->set));
  isl_size rank = isl_set_dim(part, isl_dim_set);
  part = isl_set_intersect(part, po_box(low->isl, dim, (uint32_t)rank));
  if (isl_set_is_empty(part) == isl_bool_false)
    return part;
  isl_set_free(part);
  return NULL;
}

/* The piece that is the operand everywhere in what is read of t. */
static const po_piece *
piece_at(po_lowering *low, gs_term t, uint32_t item, const po_read *at,
         const int64_t *dim) {
  const po_piece *found = only_piece(low, t, item);
  const po_view *view = operand_of(low, t);
  for (uint32_t k = 0; k < view->pieces.len && !found; k++) {
    isl_set *part = part_of(low, t, item, &view->pieces.data[k], at, dim);
    found = part ? &view->pieces.data[k] : NULL;
    isl_set_free(part);
  }
  return found;
}

/* What operand `item` of t is where the consumer's index leads to. */
static po_read
read_operand(po_lowering *low, gs_term t, uint32_t item, const po_piece *piece,
             const po_read *at, const int64_t *dim) {
  po_read out = {.set = at->set, .constant = piece->from != PO_FROM_TERM};
  out.literal = piece->from == PO_FROM_LOWEST ? -INFINITY : 0;
  if (out.constant)
    return out;
  const po_placement *placement = po_placement_of(low, piece->term);
  isl_multi_aff *map = isl_multi_aff_pullback_multi_aff(
      isl_multi_aff_copy(piece->map), into_operand(low, t, item, at->map));
  map =
      isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(placement->map), map);
  po_pool_reserve(&low->scratch, 1);
  out.map = po_keep_multi_aff(&low->scratch, po_simplify_multi(map, dim));
  out.array = placement->array;
  return out;
}

/* A chained term's operand as it is read there. */
static po_read
read_item(po_lowering *low, const po_read *at, uint32_t item,
          const int64_t *dim) {
  gs_term t = {at->array - NO_ARRAY};
  const po_piece *piece = piece_at(low, t, item, at, dim);
  if (!piece) { /* isl has failed */
    po_read none = {.set = at->set, .constant = true};
    return none;
  }
  return read_operand(low, t, item, piece, at, dim);
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
    po_read read = read_item(low, at, k, dim);
    values[k] = po_put_operand(body, operand.dtype, &read, dim);
  }
  bs_value o = bs_item(low->source->ctx.values, node->attr, 0);
  return po_put_pointwise(body, o, result.dtype, values, n);
}

uint32_t
po_put_operand(po_body *body, gs_dtype dtype, const po_read *read,
               const int64_t *dim) {
  assert(dtype < GS_DTYPE_COUNT);
  return is_chained(read) ? put_term(body, read, dim)
                          : po_put_read(body, dtype, read);
}

/* ---- in parts ---- */

/* Reads of the parts in which an operand of a chained term is one piece each;
 * how many. */
static uint32_t
add_parts(po_lowering *low, const po_read *at, const po_read *of, uint32_t item,
          po_reads *reads) {
  gs_term t = {of->array - NO_ARRAY};
  const po_view *view = operand_of(low, t);
  uint32_t n = 0;
  for (uint32_t k = 0; k < view->pieces.len; k++) {
    isl_set *part =
        part_of(low, t, item, &view->pieces.data[k], of, reads->dim);
    if (!part)
      continue;
    po_read read = *at;
    po_pool_reserve(&low->scratch, 1);
    read.set = po_keep_set(&low->scratch, isl_set_coalesce(part));
    read.lasts = false;
    bs_push(low->heap, &reads->list, read);
    n++;
  }
  return n;
}

/* Adds the parts of a read by the first operand that has several, `of` being a
 * term of its expression: false where none has.  Nested MOST_NESTED deep. */
static bool
split_by(po_lowering *low, const po_read *at, const po_read *of,
         po_reads *reads) {
  gs_term t = {of->array - NO_ARRAY};
  for (uint32_t k = 0; k < items_of(low, t); k++) {
    if (!only_piece(low, t, k)) {
      uint32_t before = reads->list.len;
      if (add_parts(low, at, of, k, reads) > 1)
        return true;
      reads->list.len = before;
    }
    po_read item = read_item(low, of, k, reads->dim);
    if (is_chained(&item) && split_by(low, at, &item, reads))
      return true;
  }
  return false;
}

void
po_split_chained(po_lowering *low, po_reads *reads) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < reads->list.len && !po_has_failed(low); k++) {
    po_read at = reads->list.data[k];
    if (!is_chained(&at) || !split_by(low, &at, &at, reads))
      reads->list.data[n++] = at;
  }
  reads->list.len = n;
}
