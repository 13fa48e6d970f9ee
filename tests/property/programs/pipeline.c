/* SPDX-License-Identifier: MIT */
/* pipeline.c - plans: any programs, and stages over an image. */
#include "tests/property/programs/plan.h"
#include <string.h>

/* ---- pipelines of images ---- */

static bool
is_image(const gs_type *t) {
  return t->rank == 2 && t->access == 2 && t->dim[0] >= 4 && t->dim[1] >= 32;
}

/* The last stage, or any. */
static uint32_t
some_image(const plan *p) {
  uint32_t images[MAX_STEPS], n = 0;
  for (uint32_t k = 0; k < p->n; k++)
    if (is_image(&p->steps[k].type))
      images[n++] = k;
  return images[chance(60) ? n - 1 : (uint32_t)pick(0, n - 1)];
}

static bool
try_filter(plan *p, uint32_t k) {
  const int64_t size[] = {pick(1, 3), pick(1, 3)};
  const int64_t stride[] = {chance(90) ? 1 : 2, chance(90) ? 1 : 2};
  const int64_t dilation[] = {1, 1};
  for (int64_t d = 0; d < 2; d++)
    if (chance(40)) {
      if (!add_view(p, GS_PAD,
                    ATTR(word(chance(50) ? "zero" : "edge"), number(d),
                         number(pick(0, 2)), number(pick(0, 2))),
                    k))
        return false;
      k = p->n - 1;
    }
  if (!add_view(p, GS_ACCESS, attr1(number(0)), k) ||
      !add_view(p, GS_WINDOWS,
                ATTR(ints(2, size), ints(2, stride), ints(2, dilation)),
                p->n - 1))
    return false;
  bool sum = chance(70);
  return add_compute(p, word(sum ? "reduceSum" : "reduceMax"), p->n - 1, !sum,
                     1);
}

/* What both images have, point by point. */
static bool
try_meet(plan *p, uint32_t a, uint32_t b) {
  for (uint32_t d = 0; d < 2; d++) {
    uint32_t *const of[] = {&a, &b};
    int64_t n = p->steps[a].type.dim[d];
    if (p->steps[b].type.dim[d] < n)
      n = p->steps[b].type.dim[d];
    for (uint32_t j = 0; j < 2; j++) {
      int64_t more = p->steps[*of[j]].type.dim[d] - n, lo = pick(0, more);
      if (more &&
          !add_view(p, GS_SLICE, ATTR(number(d), number(lo), number(lo + n)),
                    *of[j]))
        return false;
      if (more)
        *of[j] = p->n - 1;
    }
  }
  return add_two(p, GS_PAIR, attr_of(0, NULL), a, b) && try_fold(p, p->n - 1);
}

static bool
add_stage(plan *p) {
  uint32_t k = some_image(p);
  switch (pick(0, 5)) {
  case 0:
    return try_with_literal(p, k);
  case 1:
    return try_elementwise(p, k);
  case 2:
    return try_meet(p, k, some_image(p));
  default:
    return try_filter(p, k);
  }
}

void
make_pipeline(plan *p) {
  gs_type image = {.dtype = chance(80) ? GS_F32 : GS_I32,
                   .rank = 2,
                   .access = 2,
                   .dim = {pick(8, MANY_ROWS), pick(64, LONG_ROW)}};
  int stages = (int)pick(2, 6);
  add_input(p, image);
  for (uint32_t tries = 0; tries < 60 && stages; tries++)
    stages -= add_stage(p);
  p->n_outputs = chance(20) ? 2 : 1;
  p->outputs[0] = p->n - 1;
  p->outputs[1] = some_image(p);
  if (chance(75)) {
    p->way = PO_FUSE_POST_TILE + 1;
    p->n_tiles = 0;
  }
}

void
make_plan(plan *p, uint64_t seed) {
  static const uint32_t pieces[] = {1, 2, 6, 64};
  seed_choices(seed * 0x2545f4914f6cdd1du);
  *p = (plan){.seed = seed};
  p->strict_fp = chance(20);
  p->max_pieces = pieces[pick(0, 3)];
  p->max_operations = chance(15) ? 100000 : 0;
  p->machine = (uint32_t)pick(0, n_machines - 1);
  p->way = chance(50) ? (uint32_t)pick(1, PO_FUSE_POST_TILE + 1) : 0;
  p->n_tiles = (uint32_t)pick(0, 2);
  for (uint32_t k = 0; k < p->n_tiles; k++)
    p->tiles[k] = pick(1, 9);
  p->pipeline = chance(20);
  if (p->pipeline) {
    make_pipeline(p);
    return;
  }
  uint32_t steps = (uint32_t)pick(3, MAX_STEPS - 8);
  gs_dtype dtype = (gs_dtype)pick(0, GS_DTYPE_COUNT - 1);
  add_input(p, random_type(dtype));
  for (uint32_t tries = 0; tries < 300 && p->n < steps; tries++)
    grow(p);
  p->n_outputs = (uint32_t)pick(1, MAX_OUTPUTS);
  p->outputs[0] = p->n - 1;
  for (uint32_t k = 1; k < p->n_outputs; k++)
    p->outputs[k] = some_step(p);
}
