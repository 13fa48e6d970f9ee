/* SPDX-License-Identifier: MIT */
/* proof_terms.c - the terms of an explainer, hash-consed, and paths into them.
 *
 * A row as it was added is a term; so are the sides of rules under a match.
 * Each term knows a row of its key, which the graph has: what an explanation
 * passes through was built, or is congruent to what was. */
#include "egraph/proof.h"
#include "base/hash.h"
#include <assert.h>
#include <string.h>

enum { FEW = 8 };

static uint32_t
hash_of(uint32_t head, const uint32_t *kids, uint32_t n) {
  uint64_t h = n ? bs_hash(kids, n * sizeof *kids) : 0;
  uint32_t word[3] = {head, (uint32_t)h, (uint32_t)(h >> 32)};
  return (uint32_t)bs_hash(word, sizeof word);
}

static bool
same_kids(const uint32_t *a, const uint32_t *b, uint32_t n) {
  return !n || !memcmp(a, b, n * sizeof *a);
}

/* The place of a term in the table, or where it would be. */
static eg_xplace *
place(const eg_explainer *x, uint32_t hash, uint32_t head, const uint32_t *kids,
      uint32_t n) {
  uint32_t mask = x->table.cap - 1, at = hash & mask;
  for (; x->table.data[at].term; at = (at + 1) & mask) {
    if (x->table.data[at].hash != hash)
      continue;
    const eg_xnode *e = &x->nodes.data[x->table.data[at].term - 1];
    if (e->head == head && same_kids(x->kids.data + e->kids, kids, n))
      break;
  }
  return &x->table.data[at];
}

static void
make_room(eg_explainer *x) {
  if (x->nodes.len * 2 + 2 < x->table.cap)
    return;
  uint32_t cap = x->table.cap, size = cap ? cap * 2 : 256;
  eg_xplace *old = x->table.data, *made = bs_calloc(x->heap, size, sizeof *old);
  for (uint32_t k = 0; k < cap; k++) {
    uint32_t at = old[k].hash & (size - 1);
    if (!old[k].term)
      continue;
    while (made[at].term)
      at = (at + 1) & (size - 1);
    made[at] = old[k];
  }
  x->table.data = made;
  x->table.cap = size;
  bs_free(x->heap, old);
}

/* `row` EG_NONE: any of its key. */
static uint32_t
intern(eg_explainer *x, uint32_t head, const uint32_t *kids, uint32_t n,
       uint32_t row) {
  head &= EG_HEAD_MASK;
  make_room(x);
  uint32_t hash = hash_of(head, kids, n);
  eg_xplace *at = place(x, hash, head, kids, n);
  if (at->term) {
    uint32_t term = at->term - 1;
    if (row != EG_NONE)
      x->nodes.data[term].row = row;
    return term;
  }
  uint32_t few[FEW], *classes = few;
  if (row == EG_NONE) {
    if (n > FEW)
      classes = bs_arena_alloc(&x->arena, n * sizeof *classes);
    for (uint32_t k = 0; k < n; k++)
      classes[k] = eg_xterm_class(x, kids[k]);
    row = eg_history_find(&x->h, head, classes, n);
    if (row == EG_NONE)
      return EG_NO_TERM;
  }
  bs_reserve(x->heap, &x->kids, (uint64_t)x->kids.len + n);
  bs_push(x->heap, &x->nodes, (eg_xnode){head, x->kids.len, row});
  if (n)
    memcpy(x->kids.data + x->kids.len, kids, n * sizeof *kids);
  x->kids.len += n;
  *at = (eg_xplace){x->nodes.len, hash};
  return x->nodes.len - 1;
}

uint32_t
eg_xterm(eg_explainer *x, uint32_t head, const uint32_t *kids, uint32_t n) {
  assert((head & EG_HEAD_MASK) < x->g->heads.len && (kids || !n));
  return intern(x, head, kids, n, EG_NONE);
}

uint32_t
eg_xterm_class(const eg_explainer *x, uint32_t term) {
  assert(term < x->nodes.len);
  return eg_history_class(&x->h, x->nodes.data[term].row);
}

/* The children that are no terms yet go on the stack. */
static bool
kids_ready(eg_explainer *x, uint32_t row) {
  bool ready = true;
  for (uint32_t k = 0, n = eg_history_arity(&x->h, row); k < n; k++) {
    uint32_t kid = eg_history_kid(&x->h, row, k);
    if (x->of_row[kid])
      continue;
    bs_push(x->heap, &x->stack, kid);
    ready = false;
  }
  return ready;
}

static void
make_of_row(eg_explainer *x, uint32_t row) {
  uint32_t n = eg_history_arity(&x->h, row), few[FEW], *kids = few;
  if (n > FEW)
    kids = bs_arena_alloc(&x->arena, n * sizeof *kids);
  for (uint32_t k = 0; k < n; k++)
    kids[k] = x->of_row[eg_history_kid(&x->h, row, k)] - 1;
  x->of_row[row] = intern(x, x->g->rows[row].head, kids, n, row) + 1;
}

uint32_t
eg_xterm_of_row(eg_explainer *x, uint32_t row) {
  assert(row < x->g->n_rows);
  bs_push(x->heap, &x->stack, row);
  while (x->stack.len) {
    uint32_t top = bs_last(&x->stack);
    if (x->of_row[top] || kids_ready(x, top)) {
      x->stack.len--;
      if (!x->of_row[top])
        make_of_row(x, top);
    }
  }
  assert(x->of_row[row]);
  return x->of_row[row] - 1;
}

/* --- paths -------------------------------------------------------------- */

/* The child numbers of a path from the root, in the scratch. */
static const uint32_t *
unroll(eg_explainer *x, uint32_t path, uint32_t *n) {
  bs_clear(&x->scratch);
  for (; path; path = x->paths.data[path].up)
    bs_push(x->heap, &x->scratch, x->paths.data[path].kid);
  *n = x->scratch.len;
  for (uint32_t i = 0, k = *n; i < k; i++) {
    uint32_t t = x->scratch.data[i];
    x->scratch.data[i] = x->scratch.data[--k];
    x->scratch.data[k] = t;
  }
  return x->scratch.data;
}

uint32_t
eg_subterm(eg_explainer *x, uint32_t whole, uint32_t path) {
  uint32_t n;
  const uint32_t *kid = unroll(x, path, &n);
  for (uint32_t i = 0; i < n; i++) {
    assert(kid[i] < eg_xarity(x, whole));
    whole = eg_xkids(x, whole)[kid[i]];
  }
  return whole;
}

uint32_t
eg_replaced(eg_explainer *x, uint32_t whole, uint32_t path, uint32_t by) {
  uint32_t n;
  unroll(x, path, &n);
  bs_reserve(x->heap, &x->scratch, 2 * (uint64_t)n + 1);
  uint32_t *kid = x->scratch.data, *term = kid + n;
  for (uint32_t i = 0; i < n; i++) {
    assert(kid[i] < eg_xarity(x, whole));
    term[i] = whole;
    whole = eg_xkids(x, whole)[kid[i]];
  }
  for (uint32_t i = n; i-- > 0 && by != EG_NO_TERM;) {
    uint32_t arity = eg_xarity(x, term[i]), few[FEW], *kids = few;
    if (arity > FEW)
      kids = bs_arena_alloc(&x->arena, arity * sizeof *kids);
    memcpy(kids, eg_xkids(x, term[i]), arity * sizeof *kids);
    kids[kid[i]] = by;
    by = eg_xterm(x, x->nodes.data[term[i]].head, kids, arity);
  }
  return by;
}
