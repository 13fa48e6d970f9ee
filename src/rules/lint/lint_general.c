/* SPDX-License-Identifier: MIT */
/* lint_general.c - see lint_general.h.
 *
 * A term is flattened in preorder, each word with the place behind its subtree.
 * Looking for what matches it, a place of the tree is left by the edge of the
 * term's word, and by that of a variable, which passes over the subtree; what
 * is still to be looked at stands on a stack. */
#include "rules/lint/lint_general.h"
#include <stdlib.h>

enum { DEEPEST = 400 };

typedef struct word {
  uint64_t is;
  uint32_t end; /* behind its subtree */
} word;

typedef struct flat {
  bs_heap *heap;
  bs_values *values;
  bool pattern; /* variables are all one word */
  BS_VEC(word) words;
} flat;

/* Words: lists by their length, values by their ids, variables of patterns. */
static const uint64_t LIST = (uint64_t)1 << 33, VARIABLE = (uint64_t)1 << 34;

static void
flatten(flat *f, bs_value v, int depth) {
  uint32_t at = f->words.len;
  bool list = bs_kind_of(f->values, v) == BS_KIND_LIST && depth < DEEPEST;
  uint32_t n = list ? bs_len(f->values, v) : 0;
  bool variable = f->pattern && rl_canon_number(f->values, v) >= 0;
  uint64_t is = variable ? VARIABLE : list ? LIST | n : v.i;
  bs_push(f->heap, &f->words, (word){is, 0});
  for (uint32_t k = 0; k < n && !variable; k++)
    flatten(f, bs_item(f->values, v, k), depth + 1);
  f->words.data[at].end = f->words.len;
}

/* --- the tree ------------------------------------------------------------- */

void
rl_tree_init(rl_tree *t, bs_heap *heap, bs_values *values) {
  *t = (rl_tree){.heap = heap, .values = values, .places = 1};
  bs_push(heap, &t->last, 0);
}

void
rl_tree_done(rl_tree *t) {
  bs_map_done(t->heap, &t->edges);
  bs_vec_done(t->heap, &t->last);
  bs_vec_done(t->heap, &t->next);
}

/* Words have 35 bits, places the 29 above. */
static uint64_t
edge(uint32_t place, uint64_t is) {
  return (uint64_t)place << 35 | is;
}

static uint32_t
step(const rl_tree *t, uint32_t place, uint64_t is) {
  return bs_map_get(&t->edges, edge(place, is));
}

static uint32_t
make_step(rl_tree *t, uint32_t place, uint64_t is) {
  uint32_t to = step(t, place, is);
  if (to != BS_NO_ENTRY)
    return to;
  if (t->places >> 29)
    bs_out_of_memory(t->heap);
  bs_map_put(t->heap, &t->edges, edge(place, is), t->places);
  bs_push(t->heap, &t->last, 0);
  return t->places++;
}

void
rl_tree_add(rl_tree *t, bs_value left) {
  flat f = {.heap = t->heap, .values = t->values, .pattern = true};
  uint32_t place = 0;
  flatten(&f, left, 0);
  for (uint32_t k = 0; k < f.words.len; k++)
    place = make_step(t, place, f.words.data[k].is);
  bs_push(t->heap, &t->next, t->last.data[place]);
  t->last.data[place] = t->next.len;
  bs_vec_done(t->heap, &f.words);
}

/* --- what matches --------------------------------------------------------- */

typedef struct visit {
  uint32_t place, at;
} visit;

typedef BS_VEC(visit) visits;

static void
push_step(const rl_tree *t, visits *stack, uint32_t place, uint64_t is,
          uint32_t at) {
  uint32_t to = step(t, place, is);
  if (to != BS_NO_ENTRY)
    bs_push(t->heap, stack, (visit){to, at});
}

static int
by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

void
rl_tree_find(const rl_tree *t, bs_value left, uint32_t most,
             rl_tree_found *out) {
  flat f = {.heap = t->heap, .values = t->values};
  visits stack = {0};
  flatten(&f, left, 0);
  bs_clear(out);
  bs_push(t->heap, &stack, (visit){0, 0});
  while (stack.len && out->len < most) {
    visit v = bs_pop(&stack);
    if (v.at < f.words.len) {
      const word *w = &f.words.data[v.at];
      push_step(t, &stack, v.place, w->is, v.at + 1);
      push_step(t, &stack, v.place, VARIABLE, w->end);
      continue;
    }
    for (uint32_t k = t->last.data[v.place]; k && out->len < most;
         k = t->next.data[k - 1])
      bs_push(t->heap, out, k - 1);
  }
  if (out->len)
    qsort(out->data, out->len, sizeof *out->data, by_number);
  bs_vec_done(t->heap, &stack);
  bs_vec_done(t->heap, &f.words);
}
