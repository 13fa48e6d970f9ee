/* SPDX-License-Identifier: MIT */
/* zeros.c - where the elements of a term are known to be zero.
 *
 * A question about a range of one axis is led down to the operands; what
 * nothing is said of is not known.  Values are taken as finite: 0 * x is 0.
 * Recursion ends at MOST_DEPTH: what is deeper is not known. */
#include "check/check.h"
#include "glenside/tensor.h"
#include <string.h>

enum { MOST_DEPTH = 200, MOST_QUESTIONS = 100000, MOST_DATA = 1 << 24 };

typedef struct asking {
  const ck_env *e;
  uint32_t depth, asked;
} asking;

static bool zero(asking *, gs_term, uint32_t d, int64_t lo, int64_t hi);

static gs_type
type_of(const asking *a, gs_term t) {
  gs_type type;
  gs_type_at(a->e->p, t, &type);
  return type;
}

static int64_t
item(const asking *a, const gs_node *n, uint32_t k) {
  const bs_values *values = a->e->ctx->values;
  return bs_as_int(values, bs_item(values, n->attr, k));
}

/* Zero along the whole of some axis; of a scalar nothing is known. */
static bool
all_zero(asking *a, gs_term t) {
  gs_type type = type_of(a, t);
  for (uint32_t d = 0; d < type.rank; d++)
    if (zero(a, t, d, 0, type.dim[d]))
      return true;
  return false;
}

/* ---- views ---- */

static bool
zero_pad(asking *a, const gs_node *n, uint32_t d, int64_t lo, int64_t hi) {
  const bs_values *values = a->e->ctx->values;
  bool zeros = !strcmp(bs_as_sym(values, bs_item(values, n->attr, 0)), "zero");
  int64_t before = item(a, n, 2);
  gs_type type = type_of(a, n->kids[0]);
  if (d != item(a, n, 1))
    return zeros && zero(a, n->kids[0], d, lo, hi);
  int64_t end = before + type.dim[d];
  if (!zeros && (lo < before || hi > end))
    return false;
  lo = lo < before ? before : lo;
  hi = hi > end ? end : hi;
  return lo >= hi || zero(a, n->kids[0], d, lo - before, hi - before);
}

static bool
zero_concat(asking *a, const gs_node *n, uint32_t d, int64_t lo, int64_t hi) {
  int64_t cut = type_of(a, n->kids[0]).dim[d];
  if (d != item(a, n, 0))
    return zero(a, n->kids[0], d, lo, hi) && zero(a, n->kids[1], d, lo, hi);
  return (lo >= cut || zero(a, n->kids[0], d, lo, hi < cut ? hi : cut)) &&
         (hi <= cut ||
          zero(a, n->kids[1], d, lo > cut ? lo - cut : 0, hi - cut));
}

/* A dimension of a reshaped array is one of the other's, when as many elements
 * stand before it and it has the same size. */
static bool
zero_reshape(asking *a, const gs_node *n, const gs_type *type, uint32_t d,
             int64_t lo, int64_t hi) {
  gs_type from = type_of(a, n->kids[0]);
  int64_t before = gs_prod(type->dim, d);
  for (uint32_t k = 0; k < from.rank; k++)
    if (from.dim[k] == type->dim[d] && gs_prod(from.dim, k) == before &&
        zero(a, n->kids[0], k, lo, hi))
      return true;
  return all_zero(a, n->kids[0]);
}

/* ---- pairs ---- */

/* The k-th item of each pair of a term. */
static bool
zero_item(asking *a, gs_term t, uint32_t k, uint32_t d, int64_t lo,
          int64_t hi) {
  const gs_node *n = gs_at(a->e->p, t);
  if (n->op != GS_PAIR && n->op != GS_CARTPROD)
    return false;
  gs_type one = type_of(a, n->kids[k]), whole = type_of(a, t);
  uint32_t split = whole.access, first = type_of(a, n->kids[0]).access;
  if (d > split)
    d = d - split - 1 + one.access;
  else if (n->op == GS_CARTPROD && k == 0 && d >= first)
    return all_zero(a, n->kids[0]);
  else if (n->op == GS_CARTPROD && k == 1)
    return d < first ? all_zero(a, n->kids[1])
                     : zero(a, n->kids[1], d - first, lo, hi);
  return zero(a, n->kids[k], d, lo, hi);
}

/* A product is zero where one factor is. */
static bool
zero_product(asking *a, gs_term pair, uint32_t d, int64_t lo, int64_t hi) {
  return zero_item(a, pair, 0, d, lo, hi) || zero_item(a, pair, 1, d, lo, hi);
}

static bool
zero_pair(asking *a, gs_term t, uint32_t d, int64_t lo, int64_t hi) {
  uint32_t split = type_of(a, t).access;
  const gs_node *n = gs_at(a->e->p, t);
  if (d != split)
    return zero_item(a, t, 0, d, lo, hi) && zero_item(a, t, 1, d, lo, hi);
  return (lo > 0 || all_zero(a, n->kids[0])) &&
         (hi < 2 || all_zero(a, n->kids[1]));
}

/* ---- compute ---- */

static bool
zero_compute(asking *a, const gs_node *n, uint32_t d, int64_t lo, int64_t hi) {
  const bs_values *values = a->e->ctx->values;
  bs_value o = bs_item(values, n->attr, 0);
  gs_compute op;
  gs_term x = n->kids[0];
  if (!gs_compute_of(values, o, &op) || !gs_compute_keeps_zero(values, o, op))
    return false;
  bool folds = gs_compute_table[op].kind == GS_FOLD ||
               gs_compute_table[op].kind == GS_SELECT;
  if (folds && d >= type_of(a, x).access)
    d++;
  if ((op == GS_C_MUL || op == GS_C_DOT_PROD) && zero_product(a, x, d, lo, hi))
    return true;
  return zero(a, x, d, lo, hi);
}

/* ---- constants ---- */

static const gs_constant *
constant_of(const asking *a, const gs_node *n) {
  const bs_values *values = a->e->ctx->values;
  const char *name = bs_as_sym(values, bs_item(values, n->attr, 0));
  return gs_find_constant(a->e->p, name);
}

static gs_tensor
data_of(const gs_constant *c) {
  return (gs_tensor){.dtype = c->type.dtype,
                     .elements = gs_elements(&c->type),
                     .data = (void *)(uintptr_t)c->data};
}

static bool
zero_data(const asking *a, const gs_node *n, uint32_t d, int64_t lo,
          int64_t hi) {
  const gs_constant *c = constant_of(a, n);
  if (!c || gs_elements(&c->type) > MOST_DATA)
    return false;
  gs_tensor data = data_of(c);
  int64_t inner = gs_prod(c->type.dim + d + 1, c->type.rank - d - 1);
  for (int64_t i = 0; i < data.elements; i++) {
    int64_t at = i / inner % c->type.dim[d];
    if (at >= lo && at < hi && gs_tensor_get(&data, i) != 0)
      return false;
  }
  return true;
}

/* ---- all operators ---- */

static bool
zero_node(asking *a, gs_term t, uint32_t d, int64_t lo, int64_t hi) {
  const gs_node *n = gs_at(a->e->p, t);
  const bs_values *values = a->e->ctx->values;
  gs_type type = type_of(a, t);
  switch (n->op) {
  case GS_CONST:
    return zero_data(a, n, d, lo, hi);
  case GS_ACCESS:
  case GS_MATERIALIZE:
    return zero(a, n->kids[0], d, lo, hi);
  case GS_TRANSPOSE:
    return zero(a, n->kids[0],
                (uint32_t)bs_as_int(
                    values, bs_item(values, bs_item(values, n->attr, 0), d)),
                lo, hi);
  case GS_SLICE:
    if (d != item(a, n, 0))
      return zero(a, n->kids[0], d, lo, hi);
    return zero(a, n->kids[0], d, lo + item(a, n, 1), hi + item(a, n, 1));
  case GS_SQUEEZE:
    return zero(a, n->kids[0], d + (d >= item(a, n, 0)), lo, hi);
  case GS_INSERT_AXIS:
    return d == item(a, n, 0)
               ? all_zero(a, n->kids[0])
               : zero(a, n->kids[0], d - (d > item(a, n, 0)), lo, hi);
  case GS_PAD:
    return zero_pad(a, n, d, lo, hi);
  case GS_CONCAT:
    return zero_concat(a, n, d, lo, hi);
  case GS_RESHAPE:
  case GS_FLATTEN:
    return zero_reshape(a, n, &type, d, lo, hi);
  case GS_BROADCAST:
  case GS_REPEAT:
  case GS_WINDOWS:
    return all_zero(a, n->kids[0]);
  case GS_PAIR:
  case GS_CARTPROD:
    return zero_pair(a, t, d, lo, hi);
  case GS_COMPUTE:
    return zero_compute(a, n, d, lo, hi);
  case GS_TENSOR:
  case GS_CALL:
  case GS_OP_COUNT:
  default:
    return false;
  }
}

static bool
zero(asking *a, gs_term t, uint32_t d, int64_t lo, int64_t hi) {
  if (lo >= hi)
    return true;
  if (a->depth == MOST_DEPTH || ++a->asked > MOST_QUESTIONS)
    return false;
  a->depth++;
  bool known = zero_node(a, t, d, lo, hi);
  a->depth--;
  return known;
}

bool
ck_is_zero(const ck_env *e, gs_term t, uint32_t axis, int64_t lo, int64_t hi) {
  asking a = {.e = e};
  bool known = zero(&a, t, axis, lo, hi);
  for (uint32_t k = 0; k < e->n_facts && !known; k++)
    known =
        e->facts[k].term.i == t.i && zero(&a, e->facts[k].shows, axis, lo, hi);
  return known;
}

bool
ck_all_zero(const ck_env *e, gs_term t) {
  asking a = {.e = e};
  bool known = all_zero(&a, t);
  bs_value one = ck_constant(e, t);
  known |= one.i && bs_as_real(e->ctx->values, one) == 0;
  for (uint32_t k = 0; k < e->n_facts && !known; k++)
    known = e->facts[k].term.i == t.i && all_zero(&a, e->facts[k].shows);
  return known;
}

/* ---- one value ---- */

static bs_value
one_value(const asking *a, const gs_constant *c) {
  gs_tensor data = data_of(c);
  double first = gs_tensor_get(&data, 0);
  if (data.elements > MOST_DATA)
    return BS_NIL;
  for (int64_t i = 1; i < data.elements; i++)
    if (gs_tensor_get(&data, i) != first)
      return BS_NIL;
  bs_values *values = a->e->ctx->values;
  bool whole = first == (double)(int64_t)first && first < 1e15 && first > -1e15;
  return whole ? bs_int(values, (int64_t)first) : bs_real(values, first);
}

/* Views that take their elements from one operand alone. */
static bool
keeps_values(gs_op op) {
  return op == GS_ACCESS || op == GS_MATERIALIZE || op == GS_TRANSPOSE ||
         op == GS_SLICE || op == GS_SQUEEZE || op == GS_INSERT_AXIS ||
         op == GS_RESHAPE || op == GS_FLATTEN || op == GS_BROADCAST ||
         op == GS_REPEAT || op == GS_WINDOWS;
}

static bs_value
constant(const asking *a, gs_term t) {
  const gs_node *n = gs_at(a->e->p, t);
  for (uint32_t k = 0; k < MOST_DEPTH && keeps_values(n->op); k++)
    n = gs_at(a->e->p, n->kids[0]);
  const gs_constant *c = n->op == GS_CONST ? constant_of(a, n) : NULL;
  return c ? one_value(a, c) : BS_NIL;
}

bs_value
ck_constant(const ck_env *e, gs_term t) {
  asking a = {.e = e};
  bs_value known = constant(&a, t);
  for (uint32_t k = 0; k < e->n_facts && !known.i; k++)
    if (e->facts[k].term.i == t.i)
      known = constant(&a, e->facts[k].shows);
  if (!known.i && all_zero(&a, t))
    known = bs_int(e->ctx->values, 0);
  return known;
}
