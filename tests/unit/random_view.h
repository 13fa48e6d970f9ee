/* SPDX-License-Identifier: MIT */
/* random_view.h - attributes of views that mostly fit, and programs of them. */
#ifndef TESTS_RANDOM_VIEW_H
#define TESTS_RANDOM_VIEW_H

#include "context.h"

static uint64_t state;

/* A generator that is the same everywhere (splitmix64). */
static inline int64_t
below(int64_t n) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return n > 0 ? (int64_t)((z ^ (z >> 31)) % (uint64_t)n) : 0;
}

static inline bs_value
list_of(char letter, const gs_type *t) {
  uint32_t n = letter == 'C' ? (uint32_t)(t->rank - t->access) : t->rank;
  int64_t out[GS_MAX_RANK];
  for (uint32_t k = 0; k < n; k++) {
    int64_t at = below(k + 1);
    out[k] = letter == 'P' ? (int64_t)k : 1 + below(2);
    if (letter == 'R')
      out[k] = t->dim[k] == 1 ? 1 + below(3) : t->dim[k];
    if (letter == 'P') {
      out[k] = out[at];
      out[at] = k;
    }
  }
  return bs_ints(ctx.values, out, n);
}

/* The factors of a product, dealt to dimensions. */
static inline bs_value
dealt(const int64_t *dims, uint32_t n) {
  int64_t out[3] = {1, 1, 1}, rest = gs_prod(dims, n);
  uint32_t rank = n ? 1 + (uint32_t)below(3) : 0;
  for (int64_t f = 2; rank && rest > 1; rest % f ? f++ : (rest /= f))
    if (rest % f == 0)
      out[below(rank)] *= f;
  return bs_ints(ctx.values, out, rank);
}

static inline bs_value
item_of(char letter, uint32_t k, const gs_type *t) {
  static const char *const kinds[] = {"zero", "min", "edge"};
  if (letter == 'd' || letter == 'g')
    return bs_int(ctx.values, below(t->rank + (letter == 'g')));
  if (letter == 'k')
    return bs_sym(ctx.values, kinds[below(3)]);
  if (letter == 'L')
    return k ? dealt(t->dim + t->access, t->rank - t->access)
             : dealt(t->dim, t->access);
  if (gs_letter_is_list(letter))
    return list_of(letter, t);
  return bs_int(ctx.values, below(4) + (letter == 'f'));
}

/* Of a view of a term of that type. */
static inline bs_value
attribute_of(gs_op op, const gs_type *t) {
  const char *letters = gs_op_table[op].attrs;
  bs_value items[4];
  uint32_t n = 0;
  for (; letters[n]; n++)
    items[n] = item_of(letters[n], n, t);
  return bs_list(ctx.values, items, n);
}

/* One more view, or a computation on it, of terms of the program; nothing
 * where it has no type or is large. */
static inline void
add_random_view(gs_program *p, int64_t max_elements) {
  static const char *const computes[] = {"mul", "add", "relu", "reduceSum"};
  gs_op op = (gs_op)below(GS_OP_COUNT);
  gs_term kids[2];
  gs_fault fault;
  gs_type type;
  int32_t n = gs_op_table[op].kids;
  bool computes_it = op == GS_COMPUTE || op == GS_MATERIALIZE;
  if (n < 1 || (!gs_op_table[op].view && !computes_it))
    return;
  for (int k = 0; k < 2; k++)
    kids[k] = (gs_term){(uint32_t)below(p->nodes.len)};
  gs_type_at(p, kids[0], &type);
  bs_value compute = bs_sym(ctx.values, computes[below(4)]);
  bs_value attr = op == GS_COMPUTE ? bs_list(ctx.values, &compute, 1)
                                   : attribute_of(op, &type);
  gs_type_at(p, kids[1], &type);
  if (gs_elements(&type) > max_elements)
    return;
  gs_add(p, op, attr, kids, (uint32_t)n, BS_NOWHERE, &fault);
}

/* Arrays of which rows and columns are zero, and views of them. */
static inline gs_program *
random_zeros(uint32_t tries) {
  static const double data[12] = {0, 0, 0, 0, 0, 3, 0, 2, 0, 5, 0, 4};
  static const double none[4] = {0};
  gs_program *p = gs_program_new(&ctx, NULL);
  gs_type in = {.access = 2, .rank = 2, .dtype = GS_F64, .dim = {3, 4}};
  gs_type scalar = {.dtype = GS_F64}, four = in;
  four.rank = four.access = 1;
  four.dim[0] = 4;
  gs_add_tensor(p, "a", &in, BS_NOWHERE);
  gs_add_tensor(p, "s", &scalar, BS_NOWHERE);
  gs_add_constant(p, "z", &in, data, BS_NOWHERE);
  gs_add_constant(p, "none", &four, none, BS_NOWHERE);
  for (uint32_t k = 0; k < tries; k++)
    add_random_view(p, 2000);
  return p;
}

#endif
