/* SPDX-License-Identifier: MIT */
/* grow.c - random views, tuples and computations. */
#include "tests/property/programs/plan.h"
#include <string.h>

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

bool
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

bool
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

bool
add_compute(plan *p, bs_value o, uint32_t k, bool exact, uint32_t deeper) {
  step s = {.op = GS_COMPUTE, .attr = attr1(o), .n_kids = 1, .kids = {k}};
  const step *kid = &p->steps[k];
  s.exact = !is_float(kid->type.dtype) || (exact && kid->exact);
  s.depth = s.exact ? 0 : kid->depth + deeper;
  return s.depth <= (gs_is_half(kid->type.dtype) ? 2u : 5u) && add(p, s);
}

static bool
try_reduce(plan *p, uint32_t k) {
  static const char *const names[] = {"reduceSum", "reduceMean", "reduceProd",
                                      "dotProd",   "reduceMax",  "reduceMin"};
  int i = (int)pick(0, 5);
  return add_compute(p, word(names[i]), k, i >= 4, 1);
}

bool
try_fold(plan *p, uint32_t k) {
  static const char *const names[] = {"add", "sub", "mul", "max", "min", "div"};
  int i = (int)pick(0, 5);
  if (i == 5 && is_float(p->steps[k].type.dtype) && !p->steps[k].exact)
    i = 0;
  return add_compute(p, word(names[i]), k, i == 3 || i == 4, 1);
}

/* Steep where a small error would grow. */
bool
try_elementwise(plan *p, uint32_t k) {
  static const char *const tame[] = {"neg",  "abs",     "relu",
                                     "tanh", "sigmoid", "square"};
  static const char *const steep[] = {"floor", "exp", "sqrt",  "log", "recip",
                                      "rsqrt", "erf", "round", "atan"};
  bool flat = !p->steps[k].exact || chance(50);
  int i = (int)pick(0, flat ? 5 : 8);
  return add_compute(p, word(flat ? tame[i] : steep[i]), k, flat && i < 3, 1);
}

bool
try_with_literal(plan *p, uint32_t k) {
  bool whole = !is_float(p->steps[k].type.dtype);
  int64_t lo = pick(-4, 4);
  switch (pick(0, 2)) {
  case 0:
    return add_compute(
        p,
        ATTR(word("clip"),
             number(lo < 0 && gs_is_unsigned(p->steps[k].type.dtype) ? 0 : lo),
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
  if (is_float(from) && gs_is_half(to) && !p->steps[k].exact)
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

/* k as a table, and indices of some other step or a new one behind it. */
static bool
try_lookup(plan *p, uint32_t k) {
  gs_type t = p->steps[k].type;
  if (!p->steps[k].exact || !t.rank)
    return false;
  uint32_t last = t.rank - 1u;
  int64_t n = t.dim[last];
  t.dim[last] = pick(1, 3);
  if (!add_view(p, GS_ACCESS, attr1(number(last)), k))
    return false;
  uint32_t table = p->n - 1;
  if (!add_input(p, t) ||
      !add_view(p, GS_ACCESS, attr1(number(last)), p->n - 1) ||
      !add_two(p, GS_CONCAT, attr1(number(last)), table, p->n - 1))
    return false;
  return add_compute(p, ATTR(word("lookup"), number(n)), p->n - 1, true, 1);
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

void
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
    (void)(chance(50)   ? try_select(p, k)
           : chance(50) ? try_gather(p, k)
                        : try_lookup(p, k));
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
