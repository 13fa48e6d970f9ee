/* SPDX-License-Identifier: MIT */
/* lower_view.c - views made bottom up, one loop over the terms.
 *
 * A part of a view (glenside/type/view.h) takes its child's pieces through its
 * step: the index maps are composed, the sets pulled back.  A tower of concats
 * that nothing else looks into is taken as one operator of many parts, so that
 * n blocks cost n steps and not n^2.  Floors are simplified on the box of the
 * term. */
#include "poly/lower/lower_view.h"
#include "poly/loops/open.h"
#include <assert.h>
#include <string.h>

static void
done_pools(void *arg) {
  po_views *views = arg;
  po_pool_done(&views->scratch);
  po_pool_done(&views->pool);
}

static void
count_use(po_views *views, gs_term t) {
  views->uses[t.i]++;
}

/* A concat that one other concat alone refers to is looked through. */
static void
mark_inside(po_views *views, const gs_node *node) {
  for (uint32_t k = 0; node->op == GS_CONCAT && k < node->n_kids; k++) {
    gs_term kid = node->kids[k];
    if (gs_at(views->source, kid)->op == GS_CONCAT && views->uses[kid.i] == 1)
      views->inside[kid.i] = 1;
  }
}

void
po_views_init(po_views *views, const gs_program *source, isl_ctx *isl,
              bs_heap *heap, const uint8_t *live) {
  uint32_t n = source->nodes.len;
  *views = (po_views){.source = source, .isl = isl, .heap = heap, .n = n};
  po_pool_init(&views->pool, heap);
  po_pool_init(&views->scratch, heap);
  views->of = bs_calloc(heap, n, sizeof *views->of);
  views->uses = bs_calloc(heap, n, sizeof *views->uses);
  views->base = bs_calloc(heap, n, sizeof *views->base);
  views->inside = bs_calloc(heap, n, sizeof *views->inside);
  po_shapes_init(heap, &views->shapes, n);
  for (uint32_t i = 0; i < n; i++) {
    const gs_node *node = &source->nodes.data[i];
    views->base[i] = !gs_op_table[node->op].view;
    for (uint32_t k = 0; live[i] && k < node->n_kids; k++)
      count_use(views, node->kids[k]);
  }
  for (uint32_t i = 0; i < source->outputs.len; i++)
    count_use(views, source->outputs.data[i].term);
  for (uint32_t i = 0; i < n; i++)
    if (live[i])
      mark_inside(views, &source->nodes.data[i]);
}

void
po_views_done(po_views *views) {
  for (uint32_t i = 0; i < views->n; i++)
    bs_vec_done(views->heap, &views->of[i].pieces);
  bs_free(views->heap, views->of);
  bs_free(views->heap, views->uses);
  bs_free(views->heap, views->base);
  bs_free(views->heap, views->inside);
  po_shapes_done(views->heap, &views->shapes);
  done_pools(views);
  views->n = 0;
}

/* Piece `from` of a child, seen through a step. */
static void
add_stepped(po_views *views, po_view *view, const gs_type *type,
            const gs_type *child, const po_step *step, const po_piece *from) {
  po_pool *pool = &views->pool;
  po_piece piece = *from;
  po_pool_reserve(pool, 4);
  if (from->map)
    piece.map = po_keep_multi_aff(
        pool, po_simplify_multi(isl_multi_aff_pullback_multi_aff(
                                    isl_multi_aff_copy(from->map),
                                    isl_multi_aff_copy(step->map)),
                                type->dim));
  if (from->inverse && step->inverse)
    piece.inverse = po_keep_multi_aff(
        pool,
        isl_multi_aff_pullback_multi_aff(isl_multi_aff_copy(step->inverse),
                                         isl_multi_aff_copy(from->inverse)));
  else
    piece.inverse = NULL;
  if (isl_set_plain_is_universe(from->set) == isl_bool_true) {
    piece.set = step->guard
                    ? isl_set_copy(step->guard)
                    : isl_set_universe(po_space(views->isl, type->rank));
    piece.set = po_keep_set(pool, piece.set);
    po_add_simple_piece(views, view, type, &piece);
    return;
  }
  isl_set *set = isl_set_preimage_multi_aff(
      isl_set_intersect(isl_set_copy(from->set),
                        po_box(views->isl, child->dim, child->rank)),
      isl_multi_aff_copy(step->map));
  if (step->guard)
    set = isl_set_intersect(set, isl_set_copy(step->guard));
  po_add_piece(views, view, type, set, &piece);
}

static void
add_child(po_views *views, po_view *view, const gs_type *type, gs_term child,
          const po_step *step) {
  gs_type child_type;
  gs_type_at(views->source, child, &child_type);
  const po_view *below = &views->of[child.i];
  for (uint32_t k = 0; k < below->pieces.len; k++) {
    if (step->identity)
      bs_push(views->heap, &view->pieces, below->pieces.data[k]);
    else
      add_stepped(views, view, type, &child_type, step, &below->pieces.data[k]);
  }
}

isl_multi_aff *
po_view_identity(po_views *views, uint32_t n) {
  assert(n <= GS_MAX_RANK);
  if (!views->identity[n]) {
    po_pool_reserve(&views->pool, 1);
    views->identity[n] =
        po_keep_multi_aff(&views->pool, po_identity(views->isl, n));
  }
  return views->identity[n];
}

static void
make_base(po_views *views, po_view *view, gs_term t, const gs_type *type) {
  isl_multi_aff *map = po_view_identity(views, type->rank);
  po_pool_reserve(&views->pool, 1);
  isl_set *all = po_keep_set(
      &views->pool, isl_set_universe(po_space(views->isl, type->rank)));
  bs_push(views->heap, &view->pieces,
          (po_piece){all, PO_FROM_TERM, t, map, map});
}

/* A part of a tower of concats: where its first element stands. */
typedef struct place {
  gs_term term;
  int64_t offset[GS_MAX_RANK];
} place;

static po_step
part_step(po_views *views, const place *p, const gs_type *child,
          const gs_type *type) {
  const gs_numbers *over = po_numbers_in(views->isl);
  uint32_t n = type->rank;
  po_pool_reserve(&views->scratch, 3);
  isl_multi_aff *down = po_identity(views->isl, n);
  isl_multi_aff *up = po_identity(views->isl, n);
  isl_set *guard = isl_set_universe(po_space(views->isl, n));
  for (uint32_t d = 0; d < n; d++) {
    gs_number lo = p->offset[d], to = gs_sum(over, lo, child->dim[d]);
    if (lo) {
      isl_aff *below =
          po_index(views->isl, n, d, 1, gs_combine(over, -1, lo, 0, 0, 0));
      isl_aff *above = po_index(views->isl, n, d, 1, lo);
      down = isl_multi_aff_set_aff(down, (int)d, below);
      up = isl_multi_aff_set_aff(up, (int)d, above);
    }
    if (child->dim[d] != type->dim[d])
      guard = isl_set_intersect(
          guard, po_range_in(views->isl, type->dim, n, d, lo, to));
  }
  return (po_step){.map = po_keep_multi_aff(&views->scratch, down),
                   .inverse = po_keep_multi_aff(&views->scratch, up),
                   .guard = po_keep_set(&views->scratch, guard)};
}

static void
make_concat(po_views *views, po_view *view, gs_term t, const gs_type *type) {
  BS_VEC(place) stack = {0};
  bs_push(views->heap, &stack, (place){.term = t});
  while (stack.len) {
    place p = bs_pop(&stack);
    const gs_node *node = gs_at(views->source, p.term);
    gs_type whole;
    gs_view of;
    gs_type_at(views->source, p.term, &whole);
    if (p.term.i != t.i && !views->inside[p.term.i]) {
      uint32_t mark = po_pool_mark(&views->scratch);
      po_step step = part_step(views, &p, &whole, type);
      add_child(views, view, type, p.term, &step);
      po_pool_release(&views->scratch, mark);
      continue;
    }
    gs_view_at(views->source, p.term, &of);
    place second = p;
    second.term = node->kids[1];
    second.offset[of.axis] = gs_sum(po_numbers_in(views->isl),
                                    second.offset[of.axis], of.part[1].from);
    bs_push(views->heap, &stack, second);
    p.term = node->kids[0];
    bs_push(views->heap, &stack, p);
  }
  bs_vec_done(views->heap, &stack);
}

/* What no child stands for is one number. */
static void
add_number(po_views *views, po_view *view, const gs_type *type, isl_set *rest,
           po_source from) {
  po_pool_reserve(&views->pool, 2);
  po_piece border = {.from = from, .term = GS_NO_TERM};
  po_add_piece(views, view, type, isl_set_copy(rest), &border);
}

/* What is left where a child is not looked at; NULL: everything. */
static isl_set *
without(po_views *views, isl_set *rest, const po_step *step) {
  if (!step->guard)
    return rest;
  po_pool_reserve(&views->scratch, 1);
  isl_set *outside = isl_set_complement(isl_set_copy(step->guard));
  if (rest)
    outside = isl_set_intersect(isl_set_copy(rest), outside);
  return po_keep_set(&views->scratch, outside);
}

/* Where sizes are open a part may have no element at some of them. */
static bool
has_elements(const gs_view_part *part) {
  if (gs_is_sized(part->from) || gs_is_sized(part->to))
    return part->from != part->to;
  return part->from < part->to;
}

static void
make_parts(po_views *views, po_view *view, gs_term t, const gs_type *type) {
  const gs_node *node = gs_at(views->source, t);
  po_source number = PO_FROM_TERM;
  isl_set *rest = NULL;
  gs_type child[2];
  gs_view of;
  for (uint32_t k = 0; k < node->n_kids; k++)
    gs_type_at(views->source, node->kids[k], &child[k]);
  gs_view_at(views->source, t, &of);
  for (uint32_t k = 0; k < of.n; k++) {
    const gs_view_part *part = &of.part[k];
    if (of.n > 1 && !has_elements(part))
      continue;
    if (part->source != GS_VIEW_CHILD) {
      number = part->source == GS_VIEW_ZERO ? PO_FROM_ZERO : PO_FROM_LOWEST;
      continue;
    }
    po_step step = po_step_of(&views->scratch, views->isl, &of, part,
                              &child[part->kid], type);
    add_child(views, view, type, node->kids[part->kid], &step);
    rest = without(views, rest, &step);
  }
  if (number != PO_FROM_TERM && rest)
    add_number(views, view, type, rest, number);
}

void
po_view_make(po_views *views, gs_term t) {
  assert(t.i < views->n);
  po_find_shape(views, t);
  if (views->inside[t.i] && !views->base[t.i])
    return;
  po_view *view = &views->of[t.i];
  const gs_node *node = gs_at(views->source, t);
  gs_type type;
  gs_type_at(views->source, t, &type);
  bs_clear(&view->pieces);
  view->made = true;
  if (po_view_take(views, t))
    return;
  uint32_t mark = po_pool_mark(&views->scratch);
  if (views->base[t.i])
    make_base(views, view, t, &type);
  else if (node->op == GS_CONCAT)
    make_concat(views, view, t, &type);
  else
    make_parts(views, view, t, &type);
  po_pool_release(&views->scratch, mark);
  po_view_note(views, t);
}
