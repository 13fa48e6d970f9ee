/* SPDX-License-Identifier: MIT */
/* plan.c - random choices, and steps that are added when they have a type. */
#include "tests/property/programs/plan.h"
#include <string.h>

bs_heap heap;
bs_arena arena;
bs_diags diags;
gs_context ctx;
gs_target *targets[MOST_MACHINES];
uint32_t n_machines = MACHINES;
static uint64_t state;

/* ---- random choices ---- */

uint64_t
random64(void) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int64_t
pick(int64_t lo, int64_t hi) {
  return lo + (int64_t)(random64() % (uint64_t)(hi - lo + 1));
}

bool
chance(int percent) {
  return pick(1, 100) <= percent;
}

void
seed_choices(uint64_t seed) {
  state = seed;
}

uint64_t
random_of(uint64_t seed) {
  uint64_t saved = state;
  state = seed;
  uint64_t bits = random64();
  state = saved;
  return bits;
}

/* ---- attributes ---- */

bs_value
ints(uint32_t n, const int64_t *items) {
  return bs_ints(ctx.values, items, n);
}

bs_value
number(int64_t n) {
  return bs_int(ctx.values, n);
}

bs_value
word(const char *s) {
  return bs_sym(ctx.values, s);
}

bs_value
attr1(bs_value a) {
  return bs_list(ctx.values, &a, 1);
}

bs_value
attr_of(uint32_t n, const bs_value *items) {
  return bs_list(ctx.values, items, n);
}

/* ---- steps ---- */

/* Adds the step when it has a type of a reasonable size. */
bool
add(plan *p, step s) {
  const gs_type *kids[3];
  gs_fault fault = {0};
  if (p->n == MAX_STEPS)
    return false;
  for (uint32_t k = 0; k < s.n_kids; k++)
    kids[k] = &p->steps[s.kids[k]].type;
  if (!gs_infer(ctx.values, targets[p->machine], s.op, s.attr, kids, s.n_kids,
                &s.type, &fault) ||
      gs_elements(&s.type) > (p->pipeline   ? MAX_WINDOWS
                              : p->products ? MANY_PRODUCTS
                                            : MAX_SIZE) ||
      s.type.rank > 7)
    return false;
  p->steps[p->n++] = s;
  return true;
}

bool
add_view(plan *p, gs_op op, bs_value attr, uint32_t kid) {
  step s = {.op = op, .attr = attr, .n_kids = 1, .kids = {kid}};
  s.exact = p->steps[kid].exact;
  s.depth = p->steps[kid].depth;
  return add(p, s);
}

bool
add_two(plan *p, gs_op op, bs_value attr, uint32_t a, uint32_t b) {
  step s = {.op = op, .attr = attr, .n_kids = 2, .kids = {a, b}};
  const step *x = &p->steps[a], *y = &p->steps[b];
  s.exact = x->exact && y->exact;
  s.depth = x->depth > y->depth ? x->depth : y->depth;
  return add(p, s);
}

/* An input; with a compute side it is seen through an access. */
bool
add_input(plan *p, gs_type type) {
  if (p->n + 2 > MAX_STEPS)
    return false;
  step s = {.op = chance(85) ? GS_TENSOR : GS_CONST, .type = type};
  s.exact = true;
  uint8_t access = type.access;
  s.type.access = type.rank;
  p->steps[p->n++] = s;
  if (access == type.rank)
    return true;
  return add_view(p, GS_ACCESS, attr1(number(access)), p->n - 1);
}

gs_type
random_type(gs_dtype dtype) {
  gs_type t = {.dtype = dtype};
  t.rank = (uint8_t)(chance(95) ? pick(1, 4) : 0);
  t.access = (uint8_t)pick(0, t.rank);
  for (uint32_t d = 0; d < t.rank; d++)
    t.dim[d] = pick(1, chance(15) ? LONG_DIM : MAX_DIM);
  return t;
}

uint32_t
some_step(const plan *p) {
  uint32_t recent = p->n > 4 && chance(60) ? p->n - 4 : 0;
  uint32_t last = p->n - 1;
  while (last && !p->steps[last].n_kids)
    last--;
  return chance(60) ? last : (uint32_t)pick(recent, p->n - 1);
}

bool
is_float(gs_dtype dtype) {
  return !gs_dtype_table[dtype].integer;
}
