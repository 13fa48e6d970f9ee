/* SPDX-License-Identifier: MIT */
/* incremental.c - the legality of a step, asked of what it changed.
 *
 * What a program was before the step was legal.  Two statements with the times
 * that they had, with as many loops around both and in the same order below
 * them, run in the order that they ran in.  So do all accesses of an array by
 * such statements: its dependences are as they were, and the places of its
 * elements hold as they did.  A mark holds where the loop has the same
 * statements, on such arrays, below it. */
#include "poly/loops/access.h"
#include "poly/schedule/schedule_edit.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <string.h>

typedef struct preserved {
  const po_program *before;
  po_program *p;
  uint32_t *was; /* by statement that is as it was: its number; PO_NO_NODE */
  const uint32_t
      *placed; /* by statement: its instances and times are preserved */
  const po_untouched *arrays;
  bool *array; /* accessed in the order that it was */
} preserved;

/* ---- pairs ---- */

static uint32_t
leaf_of(const po_program *p, uint32_t stmt) {
  assert(stmt < p->stmts.len);
  return p->stmts.data[stmt].leaf;
}

static bool
is_pair_preserved(const void *data, uint32_t source, uint32_t sink) {
  const preserved *c = data;
  uint32_t s = c->placed[source], t = c->placed[sink];
  bool ties, tied;
  if (s == PO_NO_NODE || t == PO_NO_NODE)
    return false;
  uint32_t n =
      po_common_loops(c->p, leaf_of(c->p, source), leaf_of(c->p, sink), &ties);
  return po_common_loops(c->before, leaf_of(c->before, s),
                         leaf_of(c->before, t), &tied) == n &&
         ties == tied;
}

/* ---- arrays ---- */

/* An array is preserved where the same statements access it, one after the
 * other, with the same loops in common. */
static bool
is_array_preserved(const preserved *c, uint32_t array) {
  const po_users *was = &c->arrays->was, *is = &c->arrays->is;
  if (!po_array_is_untouched(c->arrays, array))
    return false;
  const uint32_t *before = was->stmts + was->first[array];
  const uint32_t *now = is->stmts + is->first[array];
  uint32_t n = is->first[array + 1] - is->first[array];
  for (uint32_t k = 0; k < n; k++)
    if (c->placed[now[k]] != before[k] ||
        (k && !is_pair_preserved(c, now[k - 1], now[k])))
      return false;
  return true;
}

static void
find_preserved(preserved *c) {
  po_program *p = c->p;
  c->was = BS_NEWS(&p->arena, uint32_t, p->stmts.len + 1);
  c->array = BS_NEWS(&p->arena, bool, p->arrays.len + 1);
  c->arrays = po_find_untouched(c->before, p);
  c->placed = c->arrays->placed;
  for (uint32_t k = 0; k < p->stmts.len; k++)
    c->was[k] = po_is_untouched(c->before, p, k) ? c->placed[k] : PO_NO_NODE;
  for (uint32_t a = 0; a < p->arrays.len; a++) {
    c->array[a] = is_array_preserved(c, a);
    if (c->array[a] && (a >= p->deps.len || !p->deps.data[a]))
      po_take_dependences(p, c->before, a);
  }
}

/* ---- marks ---- */

/* What a mark asks of an array is as it was: where the step changed nothing but
 * the order, dependences of statements below the loop are, whatever was done to
 * others; only places are shared with those. */
static bool
is_preserved_for_marks(const preserved *c, uint32_t array) {
  return c->array[array] ||
         (c->p->order_of && !po_is_folded(&c->p->arrays.data[array]));
}

static bool
has_preserved_arrays(const preserved *c, uint32_t stmt) {
  for (uint32_t a = 0; a < c->p->arrays.len; a++)
    if (!is_preserved_for_marks(c, a) &&
        po_stmt_accesses(&c->p->stmts.data[stmt], a))
      return false;
  return true;
}

/* The loop around a leaf that has so many around it; PO_NO_NODE. */
static uint32_t
loop_at(const po_program *p, uint32_t leaf, uint32_t depth) {
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, leaf, loops);
  return depth < n ? loops[depth] : PO_NO_NODE;
}

static bool
is_same_mark(const po_nest_node *a, const po_nest_node *b) {
  return a->mark == b->mark && a->bind == b->bind && a->lanes == b->lanes;
}

static bool
is_mark_preserved(const preserved *c, uint32_t loop) {
  uint32_t leaf = po_nest_first_leaf(c->p, loop);
  uint32_t was = leaf == PO_NO_NODE ? leaf : c->was[po_node(c->p, leaf)->stmt];
  if (was == PO_NO_NODE)
    return false;
  uint32_t old = leaf_of(c->before, was);
  uint32_t top = loop_at(c->before, old, po_nest_depth(c->p, loop));
  if (top == PO_NO_NODE ||
      !is_same_mark(po_node(c->before, top), po_node(c->p, loop)) ||
      po_nest_first_leaf(c->before, top) != old)
    return false;
  while (leaf != PO_NO_NODE && old != PO_NO_NODE) {
    if (c->was[po_node(c->p, leaf)->stmt] != po_node(c->before, old)->stmt ||
        !has_preserved_arrays(c, po_node(c->p, leaf)->stmt))
      return false;
    leaf = po_nest_next_leaf(c->p, leaf, loop);
    old = po_nest_next_leaf(c->before, old, top);
  }
  return leaf == old;
}

/* ---- all ---- */

bool
po_step_is_legal(const po_program *before, po_program *p, bool keeps_values,
                 po_violation *v) {
  assert(before != p);
  preserved c = {.before = before, .p = p};
  find_preserved(&c);
  po_known_order known = {c.array, is_pair_preserved, &c};
  /* Where it is the program's own order that is preserved, there is nothing to
   * ask. */
  if (!keeps_values && p->order_of && !po_rest_is_in_order(p, &known, v))
    return false;
  for (uint32_t k = 0; k != PO_NO_NODE; k = po_nest_next(p, k, 0))
    if (po_node(p, k)->kind == PO_LOOP && po_node(p, k)->mark != PO_SERIAL &&
        po_node(p, k)->mark != PO_UNROLL && !is_mark_preserved(&c, k) &&
        !po_mark_is_legal(p, k, v)) {
      v->loop = po_node(p, k)->name;
      return false;
    }
  for (uint32_t a = 0; a < p->arrays.len; a++)
    if (!c.array[a] && !po_folds_are_legal(p, a, v))
      return false;
  return true;
}
