/* codegen_programs.c - generated C equals the interpreter on random programs.
 *
 *   codegen_programs [first-seed [programs [batch [sanitize]]]]
 *
 * Programs are well-typed by construction: random operators are tried until
 * one has a type, for machines of several vector widths, their loops as written
 * or scheduled in any of the automatic ways; one in five is a pipeline of
 * stages over an image, long enough for rows in turn.  They are kept as a list
 * of steps, so that a failing one is shrunk: the schedule goes, outputs are
 * dropped, steps become inputs, outputs move to their operands, as long as it
 * still fails. Many programs are compiled together.
 *
 * Integers must agree exactly.  For floats the tolerance is relative to the
 * largest value anywhere in the program; operators that are not continuous, or
 * steep, are applied only to values that both sides have exactly. */
#include "codegen/build.h"
#include "glenside/interpret.h"
#include "poly/schedule/auto.h"
#include "tests/unit/sanitized.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_STEPS = 40,
  MAX_OUTPUTS = 4,
  MAX_DIM = 5,
  LONG_DIM = 37, /* of a dimension now and then: vectors with tails */
  MAX_SIZE = 4000,
  LONG_ROW = 150, /* of an image, which has at most so many rows, ... */
  MANY_ROWS = 40,
  MAX_WINDOWS = 12 * MANY_ROWS * LONG_ROW, /* ... and all of its windows */
  MACHINES = 3,
  ENOUGH = 60 /* programs, so that some have each feature */
};

typedef struct step {
  gs_op op;
  bs_value attr;
  uint32_t n_kids, kids[3];
  gs_type type;
  bool exact;     /* both sides have the same bits */
  uint32_t depth; /* inexact operators below */
} step;

typedef struct plan {
  uint64_t seed;
  uint32_t n, n_outputs;
  step steps[MAX_STEPS];
  uint32_t outputs[MAX_OUTPUTS];
  bool strict_fp, pipeline;
  uint32_t max_pieces;
  unsigned long max_operations;
  uint32_t machine;
  uint32_t way; /* 0: loops as written, else po_fuse + 1 */
  uint32_t n_tiles;
  int64_t tiles[2];
} plan;

static bs_heap heap;
static bs_arena arena;
static bs_diags diags;
static gs_context ctx;
static gs_target *targets[MACHINES];
static uint64_t state;

/* ---- random choices ---- */

static uint64_t
random64(void) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int64_t
pick(int64_t lo, int64_t hi) {
  return lo + (int64_t)(random64() % (uint64_t)(hi - lo + 1));
}

static bool
chance(int percent) {
  return pick(1, 100) <= percent;
}

/* ---- attributes ---- */

static bs_value
ints(uint32_t n, const int64_t *items) {
  return bs_ints(ctx.values, items, n);
}

static bs_value
number(int64_t n) {
  return bs_int(ctx.values, n);
}

static bs_value
word(const char *s) {
  return bs_sym(ctx.values, s);
}

static bs_value
attr1(bs_value a) {
  return bs_list(ctx.values, &a, 1);
}

static bs_value
attr_of(uint32_t n, const bs_value *items) {
  return bs_list(ctx.values, items, n);
}

#define ATTR(...)                                                              \
  attr_of(sizeof((bs_value[]){__VA_ARGS__}) / sizeof(bs_value),                \
          (bs_value[]){__VA_ARGS__})

/* ---- steps ---- */

/* Adds the step when it has a type of a reasonable size. */
static bool
add(plan *p, step s) {
  const gs_type *kids[3];
  gs_fault fault = {0};
  if (p->n == MAX_STEPS)
    return false;
  for (uint32_t k = 0; k < s.n_kids; k++)
    kids[k] = &p->steps[s.kids[k]].type;
  if (!gs_infer(ctx.values, targets[p->machine], s.op, s.attr, kids, s.n_kids,
                &s.type, &fault) ||
      gs_elements(&s.type) > (p->pipeline ? MAX_WINDOWS : MAX_SIZE) ||
      s.type.rank > 7)
    return false;
  p->steps[p->n++] = s;
  return true;
}

static bool
add_view(plan *p, gs_op op, bs_value attr, uint32_t kid) {
  step s = {.op = op, .attr = attr, .n_kids = 1, .kids = {kid}};
  s.exact = p->steps[kid].exact;
  s.depth = p->steps[kid].depth;
  return add(p, s);
}

static bool
add_two(plan *p, gs_op op, bs_value attr, uint32_t a, uint32_t b) {
  step s = {.op = op, .attr = attr, .n_kids = 2, .kids = {a, b}};
  const step *x = &p->steps[a], *y = &p->steps[b];
  s.exact = x->exact && y->exact;
  s.depth = x->depth > y->depth ? x->depth : y->depth;
  return add(p, s);
}

/* An input; with a compute side it is seen through an access. */
static bool
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

static gs_type
random_type(gs_dtype dtype) {
  gs_type t = {.dtype = dtype};
  t.rank = (uint8_t)(chance(95) ? pick(1, 4) : 0);
  t.access = (uint8_t)pick(0, t.rank);
  for (uint32_t d = 0; d < t.rank; d++)
    t.dim[d] = pick(1, chance(15) ? LONG_DIM : MAX_DIM);
  return t;
}

static uint32_t
some_step(const plan *p) {
  uint32_t recent = p->n > 4 && chance(60) ? p->n - 4 : 0;
  uint32_t last = p->n - 1;
  while (last && !p->steps[last].n_kids)
    last--;
  return chance(60) ? last : (uint32_t)pick(recent, p->n - 1);
}

static bool
is_float(gs_dtype dtype) {
  return !gs_dtype_table[dtype].integer;
}

/* ---- views ---- */

static uint32_t
some_dim(const gs_type *t) {
  return (uint32_t)pick(0, t->rank ? t->rank - 1 : 0);
}

static bool
try_transpose(plan *p, uint32_t k) {
  const gs_type *t = &p->steps[k].type;
  int64_t perm[GS_MAX_RANK];
  for (uint32_t d = 0; d < t->rank; d++) {
    uint32_t other = (uint32_t)pick(0, d);
    perm[d] = perm[other];
    perm[other] = d;
    if (other == d)
      perm[d] = d;
  }
  return add_view(p, GS_TRANSPOSE, attr1(ints(t->rank, perm)), k);
}

static bool
try_windows(plan *p, uint32_t k) {
  const gs_type *t = &p->steps[k].type;
  int64_t size[GS_MAX_RANK], stride[GS_MAX_RANK], dilation[GS_MAX_RANK];
  uint32_t n = t->rank - t->access;
  for (uint32_t d = 0; d < n; d++) {
    size[d] = pick(1, t->dim[t->access + d] < 3 ? t->dim[t->access + d] : 3);
    stride[d] = pick(1, 3);
    dilation[d] = chance(75) ? 1 : pick(1, 2);
  }
  return add_view(p, GS_WINDOWS,
                  ATTR(ints(n, size), ints(n, stride), ints(n, dilation)), k);
}

static bool
try_slice(plan *p, uint32_t k) {
  const gs_type *t = &p->steps[k].type;
  uint32_t d = some_dim(t);
  if (!t->rank)
    return false;
  int64_t lo = pick(0, t->dim[d] - 1), hi = pick(lo + 1, t->dim[d]);
  return add_view(p, GS_SLICE, ATTR(number(d), number(lo), number(hi)), k);
}

static bool
try_concat(plan *p, uint32_t k) {
  gs_type t = p->steps[k].type;
  uint32_t d = some_dim(&t), other = some_step(p);
  if (!t.rank)
    return false;
  if (chance(40)) {
    t.dim[d] = pick(1, 3);
    if (!add_input(p, t))
      return false;
    other = p->n - 1;
  }
  return add_two(p, GS_CONCAT, attr1(number(d)), k, other);
}

static bool
try_pad(plan *p, uint32_t k) {
  static const char *const kinds[] = {"zero", "min", "edge"};
  const gs_type *t = &p->steps[k].type;
  /* Infinities spoil tolerances: `min` only where it is exact. */
  int kind = (int)pick(0, 2);
  if (kind == 1 && is_float(t->dtype) && chance(80))
    kind = 0;
  return add_view(p, GS_PAD,
                  ATTR(word(kinds[kind]), number(some_dim(t)),
                       number(pick(0, 2)), number(pick(0, 2))),
                  k);
}

static bool
try_broadcast(plan *p, uint32_t k) {
  const gs_type *t = &p->steps[k].type;
  int64_t dim[GS_MAX_RANK];
  for (uint32_t d = 0; d < t->rank; d++)
    dim[d] = t->dim[d] == 1 && chance(70) ? pick(1, 4) : t->dim[d];
  return add_view(p, GS_BROADCAST, attr1(ints(t->rank, dim)), k);
}

/* Other sizes of the same product: dimensions are merged, then split. */
static uint32_t
refactor(const int64_t *dim, uint32_t n, int64_t *out) {
  uint32_t count = 0;
  int64_t merged = 1;
  for (uint32_t d = 0; d < n; d++) {
    merged *= dim[d];
    if (d + 1 < n && chance(60))
      continue;
    for (int64_t f = 2; f < merged && count < 5; f++)
      if (merged % f == 0 && chance(50)) {
        out[count++] = f;
        merged /= f;
        break;
      }
    out[count++] = merged;
    merged = 1;
  }
  return count;
}

static bool
try_reshape(plan *p, uint32_t k) {
  const gs_type *t = &p->steps[k].type;
  int64_t s[GS_MAX_RANK], c[GS_MAX_RANK];
  uint32_t n = refactor(t->dim, t->access, s);
  uint32_t m = refactor(t->dim + t->access, t->rank - t->access, c);
  return add_view(p, GS_RESHAPE, ATTR(ints(n, s), ints(m, c)), k);
}

static bool
try_view(plan *p, uint32_t k) {
  const gs_type *t = &p->steps[k].type;
  switch (pick(0, 12)) {
  case 0:
    return add_view(p, GS_ACCESS, attr1(number(pick(0, t->rank))), k);
  case 1:
    return t->rank > t->access
               ? try_windows(p, k)
               : add_view(p, GS_ACCESS, attr1(number(pick(0, t->rank))), k);
  case 2:
    return try_transpose(p, k);
  case 3:
    return try_windows(p, k);
  case 4:
    return try_slice(p, k);
  case 5:
    return try_concat(p, k);
  case 6:
    return try_pad(p, k);
  case 7:
    return add_view(p, GS_SQUEEZE, attr1(number(some_dim(t))), k);
  case 8:
    return add_view(p, GS_INSERT_AXIS, attr1(number(pick(0, t->rank))), k);
  case 9:
    return try_broadcast(p, k);
  case 10:
    return add_view(p, GS_FLATTEN, attr_of(0, NULL), k);
  case 11:
    return try_reshape(p, k);
  default:
    return add_view(p, GS_REPEAT, ATTR(number(some_dim(t)), number(pick(1, 3))),
                    k);
  }
}

/* ---- tuples ---- */

static bool
try_pair(plan *p, uint32_t k, uint32_t *out) {
  gs_type t = p->steps[k].type;
  uint32_t other = k;
  if (chance(60)) {
    if (!add_input(p, t))
      return false;
    other = p->n - 1;
  }
  bool ok = chance(50) ? add_two(p, GS_PAIR, attr_of(0, NULL), k, other)
                       : add_two(p, GS_PAIR, attr_of(0, NULL), other, k);
  *out = p->n - 1;
  return ok;
}

static bool
try_cartprod(plan *p, uint32_t k) {
  gs_type t = p->steps[k].type;
  uint32_t other = some_step(p), c = t.rank - t.access;
  if (chance(70)) {
    gs_type fresh = {.dtype = t.dtype, .access = (uint8_t)pick(0, 2)};
    for (uint32_t d = 0; d < fresh.access; d++)
      fresh.dim[d] = pick(1, 4);
    memcpy(fresh.dim + fresh.access, t.dim + t.access, c * sizeof *t.dim);
    fresh.rank = (uint8_t)(fresh.access + c);
    if (!add_input(p, fresh))
      return false;
    other = p->n - 1;
  }
  return add_two(p, GS_CARTPROD, attr_of(0, NULL), k, other);
}

/* ---- computations ---- */

static bool
add_compute(plan *p, bs_value o, uint32_t k, bool exact, uint32_t deeper) {
  step s = {.op = GS_COMPUTE, .attr = attr1(o), .n_kids = 1, .kids = {k}};
  const step *kid = &p->steps[k];
  s.exact = !is_float(kid->type.dtype) || (exact && kid->exact);
  s.depth = s.exact ? 0 : kid->depth + deeper;
  return s.depth <= (kid->type.dtype == GS_BF16 ? 2u : 5u) && add(p, s);
}

static bool
try_reduce(plan *p, uint32_t k) {
  static const char *const names[] = {"reduceSum", "reduceMean", "reduceProd",
                                      "dotProd",   "reduceMax",  "reduceMin"};
  int i = (int)pick(0, 5);
  return add_compute(p, word(names[i]), k, i >= 4, 1);
}

static bool
try_fold(plan *p, uint32_t k) {
  static const char *const names[] = {"add", "sub", "mul", "max", "min", "div"};
  int i = (int)pick(0, 5);
  if (i == 5 && is_float(p->steps[k].type.dtype) && !p->steps[k].exact)
    i = 0;
  return add_compute(p, word(names[i]), k, i == 3 || i == 4, 1);
}

/* Steep where a small error would grow. */
static bool
try_elementwise(plan *p, uint32_t k) {
  static const char *const tame[] = {"neg",  "abs",     "relu",
                                     "tanh", "sigmoid", "square"};
  static const char *const steep[] = {"floor", "exp",   "sqrt", "log",
                                      "recip", "rsqrt", "erf"};
  bool flat = !p->steps[k].exact || chance(50);
  int i = (int)pick(0, flat ? 5 : 6);
  return add_compute(p, word(flat ? tame[i] : steep[i]), k, flat && i < 3, 1);
}

static bool
try_with_literal(plan *p, uint32_t k) {
  bool whole = !is_float(p->steps[k].type.dtype);
  int64_t lo = pick(-4, 4);
  switch (pick(0, 2)) {
  case 0:
    return add_compute(
        p,
        ATTR(word("clip"),
             number(lo < 0 && p->steps[k].type.dtype == GS_U8 ? 0 : lo),
             number(lo + pick(4, 8))),
        k, true, 1);
  case 1:
    return add_compute(p,
                       ATTR(word("scale"), whole || chance(50)
                                               ? number(pick(-300, 300))
                                               : bs_real(ctx.values, 0.3)),
                       k, false, 1);
  default:
    return add_compute(p,
                       ATTR(word("offset"), whole || chance(50)
                                                ? number(pick(-300, 300))
                                                : bs_real(ctx.values, -1.7)),
                       k, false, 1);
  }
}

static bool
try_cast(plan *p, uint32_t k) {
  gs_dtype to = (gs_dtype)pick(0, GS_DTYPE_COUNT - 1);
  gs_dtype from = p->steps[k].type.dtype;
  if (!is_float(to) && is_float(from) && !p->steps[k].exact)
    return false;
  if (is_float(from) && to == GS_BF16 && !p->steps[k].exact)
    return false;
  if (!add_compute(p, ATTR(word("cast"), word(gs_dtype_table[to].name)), k,
                   true, 0))
    return false;
  p->steps[p->n - 1].exact = !is_float(to) || p->steps[k].exact;
  return true;
}

/* [condition, a, b] along a new first compute dimension. */
static bool
try_select(plan *p, uint32_t k) {
  uint32_t tuple, rank = p->steps[k].type.access;
  gs_type t = p->steps[k].type;
  if (!p->steps[k].exact || !try_pair(p, k, &tuple) || !add_input(p, t))
    return false;
  uint32_t third = p->n - 1;
  if (!add_view(p, GS_INSERT_AXIS, attr1(number(rank)), third) ||
      !add_view(p, GS_ACCESS, attr1(number(rank)), p->n - 1) ||
      !add_two(p, GS_CONCAT, attr1(number(rank)), tuple, p->n - 1))
    return false;
  return add_compute(p, word("select"), p->n - 1, true, 1);
}

static bool
try_gather(plan *p, uint32_t k) {
  uint32_t tuple;
  if (!p->steps[k].exact || !try_pair(p, k, &tuple))
    return false;
  return add_compute(p, word("gather"), tuple, true, 1);
}

static bool
try_softmax(plan *p, uint32_t k) {
  return p->steps[k].exact && add_compute(p, word("softmax"), k, false, 1);
}

/* A call with operands made to fit: rows is k seen as a matrix. */
static bool
try_call(plan *p, uint32_t k) {
  static const char *const names[] = {"mma", "mmaDense", "mmaTiled"};
  gs_type t = p->steps[k].type;
  if (t.rank != 2 || (t.dtype != GS_F32 && t.dtype != GS_I8))
    return false;
  if (!add_view(p, GS_ACCESS, attr1(number(1)), k))
    return false;
  uint32_t rows = p->n - 1;
  gs_type w = {.dtype = t.dtype, .rank = 2, .dim = {t.dim[1], pick(1, 4)}};
  if (!add_input(p, w))
    return false;
  step s = {.op = GS_CALL, .n_kids = 2, .kids = {rows, p->n - 1}};
  const char *name = t.dtype == GS_I8 ? "mmaI8" : names[pick(0, 2)];
  s.attr = ATTR(word(name), number(w.dim[0]), number(w.dim[1]));
  s.exact = t.dtype == GS_I8;
  s.depth = s.exact ? 0 : p->steps[k].depth + 1;
  return s.depth <= 5 && add(p, s);
}

static void
grow(plan *p) {
  uint32_t k = some_step(p), tuple;
  switch (pick(0, 24)) {
  case 0:
    add_input(p, random_type((gs_dtype)pick(0, GS_DTYPE_COUNT - 1)));
    break;
  case 1:
  case 2:
    if (try_pair(p, k, &tuple))
      try_fold(p, tuple);
    break;
  case 3:
  case 4:
    if (try_cartprod(p, k))
      (void)(chance(60) ? try_reduce(p, p->n - 1) : try_fold(p, p->n - 1));
    break;
  case 5:
  case 6:
    try_reduce(p, k);
    break;
  case 7:
    try_fold(p, k);
    break;
  case 8:
    try_elementwise(p, k);
    break;
  case 9:
    try_with_literal(p, k);
    break;
  case 10:
    try_cast(p, k);
    break;
  case 11:
    (void)(chance(50) ? try_select(p, k) : try_gather(p, k));
    break;
  case 12:
    (void)(chance(50) ? try_softmax(p, k) : try_call(p, k));
    break;
  case 13:
    add_view(p, GS_MATERIALIZE, attr_of(0, NULL), k);
    break;
  default:
    for (int views = (int)pick(1, 3); views > 0; views--)
      if (try_view(p, k))
        k = p->n - 1;
  }
}

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

static void
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

static void
make_plan(plan *p, uint64_t seed) {
  static const uint32_t pieces[] = {1, 2, 6, 64};
  state = seed * 0x2545f4914f6cdd1du;
  *p = (plan){.seed = seed};
  p->strict_fp = chance(20);
  p->max_pieces = pieces[pick(0, 3)];
  p->max_operations = chance(15) ? 100000 : 0;
  p->machine = (uint32_t)pick(0, MACHINES - 1);
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

/* ---- programs and data ---- */

static uint64_t
bits_of(const plan *p, uint32_t k, int64_t i) {
  uint64_t saved = state;
  state = p->seed * 77 + k * 1000003 + (uint64_t)i * 31;
  uint64_t bits = random64();
  state = saved;
  return bits;
}

/* Quarters within +-32 are exact in every float dtype; integers use all of
 * their range in every other input. */
static void
fill(const plan *p, uint32_t k, gs_tensor *t) {
  bool wild = bits_of(p, k, -1) & 1;
  for (int64_t i = 0; i < t->elements; i++) {
    uint64_t bits = bits_of(p, k, i);
    double small = (double)(bits >> 8 & 255) - 128;
    if (is_float(t->dtype))
      gs_tensor_set(t, i, wild ? small / 4 : small / 128);
    else if (wild)
      gs_tensor_set(t, i, (double)(int32_t)bits);
    else
      gs_tensor_set(t, i, (double)(bits >> 8 & 15) - 4);
  }
}

static const char *
input_name(const plan *p, uint32_t k) {
  static const char *const odd[] = {"int",  "x-y",  "acc0", "a.b",
                                    "M_PI", "expf", "t1",   "class"};
  uint64_t bits = bits_of(p, k, -2);
  static const char *const joints[] = {"", "-", "_", "."};
  if (bits % 4)
    return bs_arena_printf(&arena, "in%u", k);
  if (!k)
    return odd[bits / 4 % 8];
  return bs_arena_printf(&arena, "%s%s%u", odd[bits / 4 % 8],
                         joints[bits / 32 % 4], k);
}

static gs_term
add_constant(const plan *p, uint32_t k, gs_program *program) {
  gs_tensor t;
  gs_tensor_init(&heap, &t, &p->steps[k].type);
  fill(p, k, &t);
  gs_term term = gs_add_constant(program, bs_arena_printf(&arena, "const%u", k),
                                 &p->steps[k].type, t.data, BS_NOWHERE);
  gs_tensor_done(&heap, &t);
  return term;
}

/* all: every step but inputs is an output. */
static gs_program *
build(const plan *p, bool all) {
  gs_program *program = gs_program_new(&ctx, targets[p->machine]);
  gs_term terms[MAX_STEPS], kids[3];
  bool live[MAX_STEPS] = {false};
  gs_fault fault = {0};
  for (uint32_t k = 0; k < p->n_outputs; k++)
    live[p->outputs[k]] = true;
  for (uint32_t k = p->n; k-- > 0;)
    for (uint32_t j = 0; live[k] && j < p->steps[k].n_kids; j++)
      live[p->steps[k].kids[j]] = true;
  for (uint32_t k = 0; k < p->n; k++) {
    const step *s = &p->steps[k];
    if (!live[k])
      continue;
    for (uint32_t j = 0; j < s->n_kids; j++)
      kids[j] = terms[s->kids[j]];
    if (s->op == GS_CONST)
      terms[k] = add_constant(p, k, program);
    else if (s->op == GS_TENSOR)
      terms[k] = gs_add_tensor(program, input_name(p, k), &s->type, BS_NOWHERE);
    else
      terms[k] =
          gs_add(program, s->op, s->attr, kids, s->n_kids, BS_NOWHERE, &fault);
    if (all && s->op != GS_TENSOR && s->op != GS_CONST)
      gs_add_output(program, bs_arena_printf(&arena, "s%u", k), terms[k],
                    BS_NOWHERE);
  }
  for (uint32_t k = 0; !all && k < p->n_outputs; k++)
    gs_add_output(program, bs_arena_printf(&arena, "out%u", k),
                  terms[p->outputs[k]], BS_NOWHERE);
  return program;
}

static gs_tensor *
inputs_of(const plan *p, const gs_program *program) {
  gs_tensor *in = BS_NEWS(&arena, gs_tensor, program->inputs.len + 1);
  uint32_t next = 0;
  bool live[MAX_STEPS] = {false};
  for (uint32_t k = 0; k < p->n_outputs; k++)
    live[p->outputs[k]] = true;
  for (uint32_t k = p->n; k-- > 0;)
    for (uint32_t j = 0; live[k] && j < p->steps[k].n_kids; j++)
      live[p->steps[k].kids[j]] = true;
  for (uint32_t k = 0; k < p->n; k++)
    if (live[k] && p->steps[k].op == GS_TENSOR) {
      gs_tensor_init(&heap, &in[next], &p->steps[k].type);
      fill(p, k, &in[next++]);
    }
  return in;
}

/* ---- checking ---- */

static void
show_faults(void) {
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &out);
  fputs(bs_text_str(&out), stderr);
  bs_text_done(&out);
  bs_clear(&diags.list);
  diags.errors = 0;
}

/* The largest finite value of a float array; NaN when there is a NaN. */
static double
largest(const gs_tensor *t) {
  double most = 0;
  for (int64_t i = 0; is_float(t->dtype) && i < t->elements; i++) {
    double x = fabs(gs_tensor_get(t, i));
    if (isnan(x) || (isfinite(x) && x > most))
      most = x;
  }
  return most;
}

/* Some of the factors of a product may pass the largest float though the
 * product is zero: the interpreter, that computes with doubles, tells nothing
 * then. */
static bool
may_overflow(const plan *p, const step *s, const double *most) {
  bool all = bs_same(s->attr, attr1(word("reduceProd")));
  bool some = bs_same(s->attr, attr1(word("dotProd")));
  if (s->op != GS_COMPUTE || !(all || some) || !is_float(s->type.dtype))
    return false;
  const gs_type *t = &p->steps[s->kids[0]].type;
  double factors = 1;
  for (uint32_t d = t->access; d < (all ? t->rank : t->access + 1u); d++)
    factors *= (double)t->dim[d];
  return factors * log2(fmax(most[s->kids[0]], 1)) > 126;
}

/* The largest finite value of any float in the program; NaN when there is a
 * NaN anywhere; infinity when nothing can be told. */
static double
magnitude(const plan *p) {
  gs_program *program = build(p, true);
  gs_tensor *in = inputs_of(p, program);
  gs_tensor *out = BS_NEWS(&arena, gs_tensor, program->outputs.len + 1);
  double most = 32, of[MAX_STEPS];
  bool overflow = false;
  if (!program->outputs.len || !gs_interpret(program, in, out))
    return most;
  for (uint32_t k = 0; k < p->n; k++)
    of[k] = most;
  for (uint32_t k = 0; k < program->outputs.len; k++) {
    uint32_t at = (uint32_t)atoi(program->outputs.data[k].name + 1);
    of[at] = largest(&out[k]);
    overflow |= may_overflow(p, &p->steps[at], of);
    if (isnan(of[at]) || of[at] > most)
      most = of[at];
    gs_tensor_done(&heap, &out[k]);
  }
  for (uint32_t k = 0; k < program->inputs.len; k++)
    gs_tensor_done(&heap, &in[k]);
  return overflow ? INFINITY : most;
}

static double
tolerance(const plan *p) {
  double worst = 1e-9;
  for (uint32_t k = 0; k < p->n; k++) {
    if (p->steps[k].type.dtype == GS_F32 && worst < 1e-4)
      worst = 1e-4;
    if (p->steps[k].type.dtype == GS_BF16)
      worst = 0.05;
  }
  return worst;
}

typedef struct trial {
  plan plan;
  gs_program *program;
  po_program *loops;
  gs_tensor *in, *expected, *found;
} trial;

/* Programs of which a schedule keeps some rows of an array. */
static uint32_t n_folded;

static void
note_folded(const po_program *p) {
  for (uint32_t k = 0; k < p->arrays.len; k++)
    for (uint32_t d = 0; d < p->arrays.data[k].rank; d++)
      if (p->arrays.data[k].fold[d] > 1 &&
          p->arrays.data[k].fold[d] < p->arrays.data[k].dim[d]) {
        n_folded++;
        return;
      }
}

static void
schedule(trial *t) {
  const plan *p = &t->plan;
  po_auto_options options = {.fuse = (po_fuse)(p->way - 1),
                             .n_tiles = p->n_tiles};
  for (uint32_t k = 0; k < p->n_tiles; k++)
    options.tiles[k] = p->tiles[k];
  po_schedule_automatically(&t->loops, &options);
  note_folded(t->loops);
}

static bool
prepare(trial *t) {
  t->program = build(&t->plan, false);
  t->in = inputs_of(&t->plan, t->program);
  t->expected = BS_NEWS(&arena, gs_tensor, t->program->outputs.len);
  t->found = BS_NEWS(&arena, gs_tensor, t->program->outputs.len);
  po_options options = {.strict_fp = t->plan.strict_fp,
                        .max_pieces = t->plan.max_pieces,
                        .max_operations = t->plan.max_operations};
  if (!gs_interpret(t->program, t->in, t->expected))
    return false;
  const gs_target *target = targets[t->plan.machine];
  t->loops = po_lower(t->program, target, &options);
  if (!t->loops && options.max_operations) {
    /* Not even the cautious way was simple enough. */
    bs_clear(&diags.list);
    options.max_operations = 0;
    t->loops = po_lower(t->program, target, &options);
  }
  if (t->loops && t->plan.way)
    schedule(t);
  return t->loops;
}

static bool
agrees(trial *t, bool show) {
  double most = magnitude(&t->plan);
  /* Comparisons with NaN are unspecified, and so is what follows. */
  if (isinf(most) || (isnan(most) && !t->plan.strict_fp))
    return true;
  double rel = tolerance(&t->plan);
  double abs = rel * (isnan(most) ? 1e3 : most);
  for (uint32_t k = 0; k < t->program->outputs.len; k++) {
    gs_difference d;
    if (gs_tensor_compare(&t->expected[k], &t->found[k], rel, abs, &d))
      continue;
    if (show)
      fprintf(stderr, "output %u: %lld differ, the first at %lld: %g, not %g\n",
              k, (long long)d.count, (long long)d.first, d.b, d.a);
    return false;
  }
  return true;
}

static void
finish(trial *t) {
  po_free(t->loops);
}

static bool sanitize = true;

/* The generated code is the same in all builds: where glen itself runs under
 * the sanitizers it is made, and the release build compiles and runs it. */
static bool
emit(trial *trials, uint32_t n) {
  bool ok = true;
  for (uint32_t k = 0; k < n && ok; k++) {
    bs_text c, h;
    bs_text_init(&c, &heap);
    bs_text_init(&h, &heap);
    cg_options options = {.name = "f", .openmp = true};
    ok = cg_emit_c(trials[k].loops, &options, &c, &h);
    for (uint32_t j = 0; j < trials[k].program->outputs.len; j++)
      trials[k].found[j] = trials[k].expected[j];
    bs_text_done(&h);
    bs_text_done(&c);
  }
  return ok;
}

static bool
run(trial *trials, uint32_t n) {
  if (SANITIZED)
    return emit(trials, n);
  cg_job *jobs = BS_NEWS(&arena, cg_job, n);
  cg_build_options options = {
      .sanitize = sanitize, .optimize = "-O1", .time_limit = 300, .threads = 2};
  for (uint32_t k = 0; k < n; k++)
    jobs[k] = (cg_job){.program = trials[k].loops,
                       .inputs = trials[k].in,
                       .outputs = trials[k].found};
  return cg_build_and_run_all(jobs, n, &options, 1);
}

static bool
passes(const plan *p, bool show) {
  trial t = {.plan = *p};
  bool ok = prepare(&t) && run(&t, 1) && agrees(&t, show);
  if (show)
    show_faults();
  finish(&t);
  bs_clear(&diags.list);
  return ok;
}

/* ---- shrinking ---- */

static bool
drop_output(plan *p, uint32_t k) {
  if (p->n_outputs < 2 || k >= p->n_outputs)
    return false;
  memmove(&p->outputs[k], &p->outputs[k + 1],
          (p->n_outputs - k - 1) * sizeof *p->outputs);
  p->n_outputs--;
  return true;
}

static bool
lower_output(plan *p, uint32_t k) {
  const step *s = &p->steps[p->outputs[k]];
  if (!s->n_kids)
    return false;
  p->outputs[k] = s->kids[s->n_kids - 1];
  return true;
}

/* The step becomes an input (where it has no compute side). */
static bool
make_input(plan *p, uint32_t k) {
  step *s = &p->steps[k];
  if (!s->n_kids || s->type.access != s->type.rank)
    return false;
  s->op = GS_TENSOR;
  s->n_kids = 0;
  return true;
}

static bool
drop_schedule(plan *p) {
  if (!p->way)
    return false;
  p->way = 0;
  return true;
}

static bool
shrink_once(plan *p) {
  plan unscheduled = *p;
  if (drop_schedule(&unscheduled) && !passes(&unscheduled, false)) {
    *p = unscheduled;
    return true;
  }
  for (uint32_t k = 0; k < 2 * MAX_OUTPUTS + MAX_STEPS; k++) {
    plan smaller = *p;
    bool made = k < MAX_OUTPUTS ? drop_output(&smaller, k)
                : k < 2 * MAX_OUTPUTS
                    ? k - MAX_OUTPUTS < p->n_outputs &&
                          lower_output(&smaller, k - MAX_OUTPUTS)
                    : k - 2 * MAX_OUTPUTS < p->n &&
                          make_input(&smaller, k - 2 * MAX_OUTPUTS);
    if (made && !passes(&smaller, false)) {
      *p = smaller;
      return true;
    }
  }
  return false;
}

static void
show_plan(const plan *p) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_print(build(p, false), true, &out);
  fprintf(
      stderr,
      "seed %llu, strict %d, pieces %u, operations %lu, machine %u, fuse %s, "
      "tiles %lld %lld:\n%s\n",
      (unsigned long long)p->seed, p->strict_fp, p->max_pieces,
      p->max_operations, p->machine,
      p->way ? po_fuse_names[p->way - 1] : "none",
      (long long)(p->n_tiles > 0 ? p->tiles[0] : 0),
      (long long)(p->n_tiles > 1 ? p->tiles[1] : 0), bs_text_str(&out));
  bs_text_done(&out);
}

static int
fail(const plan *p) {
  plan smallest = *p;
  if (passes(p, true))
    fprintf(stderr, "seed %llu fails only together with others\n",
            (unsigned long long)p->seed);
  for (int k = 0; k < 100 && shrink_once(&smallest); k++)
    continue;
  show_plan(&smallest);
  passes(&smallest, true);
  return 1;
}

/* ---- main ---- */

/* Small caches, so that loops are blocked; the last one stores slowly past
 * them. */
static const char *const machine_texts[MACHINES] = {
    "(target test)\n",
    "(target test (vector-bytes 32) (vector-registers 16)\n"
    "  (cache 1 (bytes 1024)) (cache 2 (bytes 8192)))\n",
    "(target test (vector-bytes 64) (vector-registers 32)\n"
    "  (cache 1 (bytes 2048)) (cache 2 (bytes 16384))\n"
    "  (memory (stored-bytes-per-cycle 2)))\n"};

static const char instructions[] =
    "(instr mma (params r c) (operands (x ((b) (r)) f32) (y ((r c) ()) f32))\n"
    "  (result ((b c) ()) f32)\n"
    "  (semantics (compute dotProd (cartProd x (access (transpose y (list 1 "
    "0)) 1))))\n"
    "  (cost (cycles 1))\n"
    "  (emit \"mma({r}, {c}, {b}, {result}, {result.stride.0}, "
    "{result.stride.1}, {x}, {x.stride.0}, {x.stride.1}, {y}, {y.stride.0}, "
    "{y.stride.1});\"))\n"
    "(instr mmaDense (params r c)\n"
    "  (operands (x ((b) (r)) f32) (y ((r c) ()) f32))\n"
    "  (result ((b c) ()) f32)\n"
    "  (semantics (compute dotProd (cartProd x (access (transpose y (list 1 "
    "0)) 1))))\n"
    "  (cost (cycles 1))\n"
    "  (emit \"mma({r}, {c}, {b}, {result}, {c}, 1, {x}, {x.stride.0}, 1, "
    "{y}, {c}, 1);\"))\n"
    "(instr mmaTiled (params r c)\n"
    "  (operands (x ((b) (r)) f32) (y ((r c) ()) f32))\n"
    "  (result ((b c) ()) f32)\n"
    "  (semantics (compute dotProd (cartProd x (access (transpose y (list 1 "
    "0)) 1))))\n"
    "  (layout y (transpose y (list 1 0)))\n"
    "  (cost (cycles 1))\n"
    "  (emit \"mma({r}, {c}, {b}, {result}, {c}, 1, {x}, {r}, 1, "
    "{y}, 1, {r});\"))\n"
    "(instr mmaI8 (params r c) (operands (x ((b) (r)) i8) (y ((r c) ()) i8))\n"
    "  (result ((b c) ()) i32)\n"
    "  (semantics (compute dotProd (cartProd x (access (transpose y (list 1 "
    "0)) 1))))\n"
    "  (cost (cycles 1))\n"
    "  (emit \"mma_i8({r}, {c}, {b}, {result}, {result.stride.0}, "
    "{result.stride.1}, {x}, {x.stride.0}, {x.stride.1}, {y}, {y.stride.0}, "
    "{y.stride.1});\"))\n";

static const char prelude[] =
    "#define MMA(NAME, T, S) \\\n"
    "  static inline void NAME(long r, long c, long b, S *o, long oi, \\\n"
    "    long oj, const T *x, long xi, long xk, const T *y, long yk, \\\n"
    "    long yj) { \\\n"
    "    for (long i = 0; i < b; i++) \\\n"
    "      for (long j = 0; j < c; j++) { \\\n"
    "        S sum = 0; \\\n"
    "        for (long k = 0; k < r; k++) \\\n"
    "          sum += (S)x[i * xi + k * xk] * (S)y[k * yk + j * yj]; \\\n"
    "        o[i * oi + j * oj] = sum; \\\n"
    "      } \\\n"
    "  }\n"
    "MMA(mma, float, float)\n"
    "MMA(mma_i8, int8_t, int32_t)\n";

static bool
make_targets(void) {
  for (uint32_t k = 0; k < MACHINES; k++) {
    const char *text =
        bs_arena_printf(&arena, "%s%s", machine_texts[k], instructions);
    uint32_t source = bs_source_add(&diags, "test.target", text, strlen(text));
    targets[k] = gs_target_parse(&ctx, source);
    if (!targets[k])
      return false;
    bs_push(&heap, &targets[k]->preludes, prelude);
  }
  return true;
}

static int
run_batch(uint64_t seed, uint32_t n) {
  trial *trials = calloc(n, sizeof *trials);
  bool ok = trials;
  for (uint32_t k = 0; ok && k < n; k++) {
    make_plan(&trials[k].plan, seed + k);
    if (!prepare(&trials[k])) {
      show_plan(&trials[k].plan);
      show_faults();
      ok = false;
    }
  }
  bool ran = ok && run(trials, n);
  if (!ran)
    show_faults();
  int failed = !ok;
  for (uint32_t k = 0; ok && k < n && !failed; k++)
    if (ran ? !agrees(&trials[k], false) : !passes(&trials[k].plan, false))
      failed = fail(&trials[k].plan);
  failed |= !ran;
  for (uint32_t k = 0; ok && k < n; k++)
    finish(&trials[k]);
  free(trials);
  return failed;
}

int
main(int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  uint32_t count = argc > 2 ? (uint32_t)atoi(argv[2]) : 40;
  uint32_t batch = argc > 3 ? (uint32_t)atoi(argv[3]) : 40;
  sanitize = argc <= 4 || atoi(argv[4]);
  int failed = 0;
  for (uint32_t k = 0; k < count && !failed; k += batch) {
    bs_heap_init(&heap, NULL, 0);
    bs_arena_init(&arena, &heap);
    bs_diags_init(&diags, &heap);
    ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
    if (!make_targets()) {
      show_faults();
      return 1;
    }
    failed = run_batch(seed + k, count - k < batch ? count - k : batch);
    bs_heap_done(&heap);
  }
  if (!failed)
    printf("%u programs from seed %llu agree, %u of them with rows in turn\n",
           count, (unsigned long long)seed, n_folded);
  if (!failed && count >= ENOUGH && !n_folded)
    failed = 1; /* what was to be tried did not occur */
  return failed;
}
