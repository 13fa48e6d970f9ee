/* SPDX-License-Identifier: MIT */
/* alike.c - shapes of views, and what was worked out for each. */
#include "poly/lower/alike.h"
#include "poly/lower/lower_view.h"

#include <assert.h>
#include <string.h>

enum { MOST_BASES = 64, MOST_PIECES = 256 }; /* of a view that is kept */

/* ---- values by keys ---- */

uint32_t
po_known_number(bs_heap *heap, po_known *known, bs_key *key) {
  uint32_t n = bs_keys_number(heap, &known->keys, key);
  if (n == known->values.len)
    bs_push(heap, &known->values, NULL);
  return n;
}

void
po_known_done(bs_heap *heap, po_known *known) {
  bs_keys_done(heap, &known->keys);
  bs_vec_done(heap, &known->values);
}

/* ---- shapes ---- */

/* Pieces whose terms are places in a list of bases. */
typedef struct kept {
  po_piece *pieces;
  uint32_t n;
} kept;

void
po_shapes_init(bs_heap *heap, po_shapes *s, uint32_t terms) {
  size_t bytes = (terms + (size_t)1) * sizeof *s->of;
  *s = (po_shapes){.of = bs_alloc(heap, bytes)};
  memset(s->of, 0xff, bytes);
}

void
po_shapes_done(bs_heap *heap, po_shapes *s) {
  for (uint32_t k = 0; k < s->known.values.len; k++) {
    kept *of = s->known.values.data[k];
    if (of)
      bs_free(heap, of->pieces);
    bs_free(heap, of);
  }
  po_known_done(heap, &s->known);
  bs_vec_done(heap, &s->bases);
  bs_free(heap, s->of);
}

/* The place of a base in the list from `first` on, where it is put if it is not
 * there. */
static uint32_t
place_of(bs_heap *heap, po_shapes *s, uint32_t first, gs_term base) {
  assert(first <= s->bases.len);
  uint32_t k = first;
  while (k < s->bases.len && s->bases.data[k].i != base.i)
    k++;
  if (k == s->bases.len)
    bs_push(heap, &s->bases, base);
  return k - first;
}

/* What a child's bases are to its parent; false: the child has no shape. */
static bool
put_child(po_views *views, gs_term kid, uint32_t first, bs_key *key) {
  assert(kid.i < views->n);
  po_shapes *s = &views->shapes;
  po_shape shape = s->of[kid.i];
  if (shape.number == PO_NO_SHAPE)
    return false;
  bs_push(views->heap, &key->words, shape.number);
  for (uint32_t k = 0; k < shape.n; k++)
    bs_push(views->heap, &key->words,
            place_of(views->heap, s, first, s->bases.data[shape.first + k]));
  return s->bases.len - first <= MOST_BASES;
}

static bool
put_operator(po_views *views, gs_term t, uint32_t first, bs_key *key) {
  bs_heap *heap = views->heap;
  const gs_node *n = gs_at(views->source, t);
  bool ok = true;
  bs_push(heap, &key->words, n->type.i);
  if (views->base[t.i]) {
    place_of(heap, &views->shapes, first, t);
    return true;
  }
  bs_push(heap, &key->words, n->op);
  bs_push(heap, &key->words, n->attr.i);
  bs_push(heap, &key->words, views->inside[t.i]);
  for (uint32_t k = 0; k < n->n_kids && ok; k++)
    ok = put_child(views, n->kids[k], first, key);
  return ok;
}

void
po_find_shape(po_views *views, gs_term t) {
  assert(t.i < views->n);
  po_shapes *s = &views->shapes;
  bs_key key = {0};
  uint32_t first = s->bases.len;
  s->of[t.i] = (po_shape){PO_NO_SHAPE, 0, 0};
  if (put_operator(views, t, first, &key)) {
    uint32_t number = po_known_number(views->heap, &s->known, &key);
    s->of[t.i] = (po_shape){number, first, s->bases.len - first};
    return;
  }
  s->bases.len = first;
  bs_vec_done(views->heap, &key.words);
}

/* ---- views ---- */

bool
po_view_take(po_views *views, gs_term t) {
  assert(t.i < views->n);
  const po_shapes *s = &views->shapes;
  po_shape shape = s->of[t.i];
  const kept *of =
      shape.number == PO_NO_SHAPE ? NULL : s->known.values.data[shape.number];
  po_view *view = &views->of[t.i];
  for (uint32_t k = 0; of && k < of->n; k++) {
    po_piece piece = of->pieces[k];
    if (piece.from == PO_FROM_TERM)
      piece.term = s->bases.data[shape.first + piece.term.i];
    bs_push(views->heap, &view->pieces, piece);
  }
  return of != NULL;
}

void
po_view_note(po_views *views, gs_term t) {
  assert(t.i < views->n);
  po_shapes *s = &views->shapes;
  po_shape shape = s->of[t.i];
  const po_view *view = &views->of[t.i];
  uint32_t n = view->pieces.len;
  if (shape.number == PO_NO_SHAPE || n > MOST_PIECES || views->too_many)
    return;
  kept *of = bs_calloc(views->heap, 1, sizeof *of);
  s->known.values.data[shape.number] = of;
  of->pieces = bs_alloc(views->heap, (n + (size_t)1) * sizeof *of->pieces);
  of->n = n;
  for (uint32_t k = 0; k < n; k++) {
    of->pieces[k] = view->pieces.data[k];
    if (of->pieces[k].from == PO_FROM_TERM)
      of->pieces[k].term.i =
          place_of(views->heap, s, shape.first, of->pieces[k].term);
  }
}
