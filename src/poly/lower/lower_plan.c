/* SPDX-License-Identifier: MIT */
/* lower_plan.c - views of all live terms, cuts, and the order of the bases.
 *
 * A compute whose operands fall into too many pieces would be cut into as many
 * statements.  Then a view on the way to the pieces is cut: it becomes a base,
 * written piece by piece into an array, as if it had been materialized.  The
 * smallest term that still has all the pieces is chosen: a padded image, not
 * its windows.  So is a view of many pieces that several terms look through.
 *
 * Bases are ordered by a depth-first walk from the outputs, so that a result
 * is used soon after it was computed and what no output reads is left out. */
#include "poly/lower/lower.h"
#include <assert.h>
#include <string.h>

/* A view of more pieces that is used twice is cut; and where pieces of a copy
 * end at so many quotients, what the pieces come from is. */
enum { MANY_PIECES = 64, MANY_QUOTIENTS = 3 };

static gs_compute
op_of(const po_lowering *low, gs_term compute) {
  const bs_values *values = low->source->ctx.values;
  gs_compute op = GS_C_ADD;
  gs_compute_of(values, bs_item(values, gs_at(low->source, compute)->attr, 0),
                &op);
  return op;
}

uint32_t
po_tuple_items(const po_lowering *low, gs_term compute) {
  assert(gs_at(low->source, compute)->op == GS_COMPUTE);
  gs_type type;
  gs_type_at(low->source, gs_at(low->source, compute)->kids[0], &type);
  int64_t items = type.rank > type.access ? type.dim[type.access] : 0;
  switch (gs_compute_table[op_of(low, compute)].kind) {
  case GS_SELECT:
  case GS_GATHER:
    return (uint32_t)items;
  case GS_DOT:
  case GS_FOLD:
    return items <= PO_MAX_TUPLE ? (uint32_t)items : 0;
  case GS_REDUCE:
  case GS_ELEMENTWISE:
  case GS_CAST:
  case GS_SOFTMAX:
  case GS_LOOKUP:
  default:
    return 0;
  }
}

/* ---- cuts ---- */

/* Pieces with a place where the tuple index is `item`. */
static uint32_t
count_pieces(po_lowering *low, const po_view *view, const gs_type *type,
             uint32_t item) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < view->pieces.len; k++) {
    isl_set *here = isl_set_intersect(isl_set_copy(view->pieces.data[k].set),
                                      po_box(low->isl, type->dim, type->rank));
    here = isl_set_intersect(
        here, po_slab(low->isl, type->rank, type->access, item, item));
    n += isl_set_is_empty(here) == isl_bool_false;
    isl_set_free(here);
  }
  return n;
}

/* Whether the regions of a compute may be more than allowed. */
static bool
too_many_regions(po_lowering *low, gs_term compute) {
  gs_term operand = gs_at(low->source, compute)->kids[0];
  const po_view *view = &low->views.of[operand.i];
  uint32_t items = po_tuple_items(low, compute), n = view->pieces.len;
  if (items <= 1)
    return n > low->max_pieces;
  gs_type type;
  gs_type_at(low->source, operand, &type);
  uint64_t regions = 1;
  for (uint32_t k = 0; k < items && regions <= low->max_pieces; k++)
    regions *= n <= items ? 1 : count_pieces(low, view, &type, k);
  return regions > low->max_pieces;
}

/* The place on the path to cut: below the tuples, the smallest term with as
 * many pieces as the first one there. */
static uint32_t
choose_cut(const po_lowering *low, const po_path *path) {
  uint32_t start = 0;
  for (uint32_t k = 0; k + 1 < path->len; k++)
    if (po_is_tuple(gs_at(low->source, path->data[k])->op) &&
        low->views.of[path->data[k + 1].i].pieces.len > 1)
      start = k + 1;
  uint32_t best = start;
  uint32_t n = low->views.of[path->data[start].i].pieces.len;
  for (uint32_t k = start + 1; k < path->len; k++) {
    if (low->views.of[path->data[k].i].pieces.len < n)
      break;
    if (gs_elements_at(low->source, path->data[k]) <
        gs_elements_at(low->source, path->data[best]))
      best = k;
  }
  return best;
}

/* As the answer for the first operand that was looked at alike. */
static bool
are_too_many(po_lowering *low, gs_term compute) {
  gs_term operand = gs_at(low->source, compute)->kids[0];
  po_shape shape = low->views.shapes.of[operand.i];
  if (shape.number == PO_NO_SHAPE)
    return too_many_regions(low, compute);
  bs_key key = {0};
  bs_key_number(low->heap, &key, shape.number);
  bs_key_number(low->heap, &key, po_tuple_items(low, compute));
  uint32_t number = po_known_number(low->heap, &low->cuts, &key);
  static char no, yes;
  void **known = &low->cuts.values.data[number];
  if (!*known)
    *known = too_many_regions(low, compute) ? &yes : &no;
  return *known == &yes;
}

static void
limit_regions(po_lowering *low, gs_term compute) {
  gs_term operand = gs_at(low->source, compute)->kids[0];
  while (!low->views.base[operand.i] && !po_has_failed(low) &&
         are_too_many(low, compute)) {
    po_path path = {0};
    po_descend(low, operand, &path);
    po_cut(low, &path, choose_cut(low, &path));
    bs_vec_done(low->heap, &path);
  }
}

/* ---- copies ---- */

static isl_stat
count_quotients(isl_basic_set *part, void *most) {
  isl_size n = isl_basic_set_dim(part, isl_dim_div);
  *(isl_size *)most = n > *(isl_size *)most ? n : *(isl_size *)most;
  isl_basic_set_free(part);
  return n < 0 ? isl_stat_error : isl_stat_ok;
}

/* A reshape of what several pieces make up, as an image between zeros is, tells
 * them apart by quotients of its indices: loops over these are found slowly, or
 * not at all. */
static bool
is_knotted(const po_view *view) {
  isl_size most = 0;
  for (uint32_t k = 0; k < view->pieces.len && view->pieces.len > 1; k++)
    if (isl_set_foreach_basic_set(view->pieces.data[k].set, count_quotients,
                                  &most) < 0)
      return false;
  return most >= MANY_QUOTIENTS;
}

static isl_size
count_parts(const po_view *view) {
  isl_size n = 0;
  for (uint32_t k = 0; k < view->pieces.len; k++)
    n += isl_set_n_basic_set(view->pieces.data[k].set);
  return n;
}

/* Below the knot the smallest term that has all parts of its pieces: an image
 * with all of its borders. */
static uint32_t
choose_straight(const po_lowering *low, const po_path *path) {
  const po_view *views = low->views.of;
  uint32_t k = 0;
  while (k + 1 < path->len && is_knotted(&views[path->data[k].i]))
    k++;
  isl_size n = count_parts(&views[path->data[k].i]);
  uint32_t best = k;
  for (; k < path->len && count_parts(&views[path->data[k].i]) >= n; k++)
    if (gs_elements_at(low->source, path->data[k]) <
        gs_elements_at(low->source, path->data[best]))
      best = k;
  return best;
}

/* What is copied, or computed with, reads an array of all pieces. */
static void
unknot(po_lowering *low, gs_term operand) {
  po_path path = {0};
  if (low->views.base[operand.i] || !is_knotted(&low->views.of[operand.i]))
    return;
  po_descend(low, operand, &path);
  po_cut(low, &path, choose_straight(low, &path));
  bs_vec_done(low->heap, &path);
}

/* ---- order ---- */

const po_view *
po_operand_view(const po_lowering *low, gs_term t, uint32_t k) {
  assert(t.i < low->source->nodes.len);
  if (low->cut[t.i].made)
    return k ? NULL : &low->cut[t.i];
  const gs_node *node = gs_at(low->source, t);
  return k < node->n_kids ? &low->views.of[node->kids[k].i] : NULL;
}

typedef struct visit {
  gs_term term;
  uint32_t operand, piece;
} visit;

/* The next base that a visited one reads; false when there is none left. */
static bool
next_read(const po_lowering *low, visit *v, gs_term *out) {
  for (const po_view *view; (view = po_operand_view(low, v->term, v->operand));
       v->operand++, v->piece = 0)
    while (v->piece < view->pieces.len) {
      const po_piece *piece = &view->pieces.data[v->piece++];
      if (piece->from == PO_FROM_TERM) {
        *out = piece->term;
        return true;
      }
    }
  return false;
}

static void
order_from(po_lowering *low, gs_term root, uint8_t *seen) {
  BS_VEC(visit) stack = {0};
  if (!seen[root.i])
    bs_push(low->heap, &stack, (visit){root, 0, 0});
  seen[root.i] = 1;
  while (stack.len) {
    gs_term next;
    if (!next_read(low, &bs_last(&stack), &next)) {
      gs_op op = gs_at(low->source, bs_last(&stack).term)->op;
      if (op != GS_TENSOR && op != GS_CONST)
        bs_push(low->heap, &low->order, bs_last(&stack).term);
      (void)bs_pop(&stack);
    } else if (!seen[next.i]) {
      seen[next.i] = 1;
      bs_push(low->heap, &stack, (visit){next, 0, 0});
    }
  }
  bs_vec_done(low->heap, &stack);
}

static void
order_bases(po_lowering *low) {
  uint8_t *seen = bs_calloc(low->heap, low->source->nodes.len, 1);
  for (uint32_t k = 0; k < low->source->outputs.len; k++) {
    gs_term t = low->source->outputs.data[k].term;
    const po_view *view = &low->views.of[t.i];
    for (uint32_t j = 0; j < view->pieces.len; j++)
      if (view->pieces.data[j].from == PO_FROM_TERM)
        order_from(low, view->pieces.data[j].term, seen);
  }
  bs_free(low->heap, seen);
}

/* Views whose maps or sets grow when they are composed. */
static bool
is_intricate(gs_op op) {
  return gs_op_is(op, GS_INTRICATE);
}

/* Whether a view would be copied into several others that then have many times
 * its pieces: a chain of n concats of a term with itself has 2^n. */
static bool
would_multiply(const po_lowering *low, gs_term t) {
  return !low->views.base[t.i] && low->views.uses[t.i] > 1 &&
         low->views.of[t.i].pieces.len > MANY_PIECES;
}

/* Of two factors. */
static bool
is_product(const po_lowering *low, gs_term compute) {
  return gs_compute_table[op_of(low, compute)].kind == GS_DOT &&
         po_tuple_items(low, compute) == 2;
}

static void
make_view(po_lowering *low, gs_term t) {
  const gs_node *node = gs_at(low->source, t);
  isl_ctx_reset_operations(low->isl);
  if (node->op == GS_COMPUTE) {
    limit_regions(low, t);
    if (is_product(low, t) && !low->cautious)
      po_straighten_factors(low, t);
  }
  for (uint32_t k = 0; k < node->n_kids && !gs_op_table[node->op].view; k++)
    unknot(low, node->kids[k]);
  po_view_make(&low->views, t);
  bool grows = low->cautious && is_intricate(node->op);
  if (low->views.inside[t.i] || (!grows && !would_multiply(low, t)))
    return;
  po_path path = {0};
  bs_push(low->heap, &path, t);
  po_cut(low, &path, 0);
  bs_vec_done(low->heap, &path);
}

bool
po_plan(po_lowering *low) {
  const gs_program *source = low->source;
  uint8_t *live = bs_calloc(low->heap, source->nodes.len, 1);
  gs_mark_live(source, live);
  po_views_init(&low->views, source, low->isl, low->heap, live);
  for (uint32_t i = 0; i < source->nodes.len && !low->views.too_many; i++)
    if (live[i] && !po_has_failed(low))
      make_view(low, (gs_term){i});
  for (uint32_t k = 0; k < source->outputs.len && !po_has_failed(low); k++)
    unknot(low, source->outputs.data[k].term);
  bs_free(low->heap, live);
  if (low->views.too_many)
    return bs_error(source->ctx.diags, BS_NOWHERE, "too-complex",
                    "a view falls into more than %d pieces", PO_MAX_VIEW);
  order_bases(low);
  po_order_steps(low);
  return true;
}
