/* SPDX-License-Identifier: MIT */
/* exhaust.c - all values of the leaves of a circuit, tried.
 *
 * Values are numbered: number v gives each leaf some of v's bits.  They are
 * evaluated by the interpreter's own definitions of the operators, many at a
 * time, gate by gate.  Floats in between prove nothing once one was rounded,
 * since a program compiled may round another way. */
#include "prove/integer/decide.h"
#include "glenside/interpret/interpret_state.h"
#include "prove/session/precise.h"
#include <assert.h>
#include <math.h>

#define LANES 256

typedef struct exhaust {
  const pv_circuit *c;
  const bs_values *values;
  bs_heap *heap;
  double (*of)[LANES]; /* by gate */
  in_operator *operators;
  double *item, *made; /* of the widest gate */
  uint32_t *shift;     /* by leaf */
  bool rounded;
} exhaust;

/* --- one gate ------------------------------------------------------------- */

static double
leaf_value(const exhaust *x, const pv_gate *g, uint64_t number) {
  return (double)gs_wrap(g->dtype, (int64_t)(number >> x->shift[g->n]));
}

/* Is the result, before it is stored, exactly that of the real numbers? */
static bool
is_exact(const in_operator *o, const double *in, uint32_t n, double result) {
  double a = in[0], b = n > 1 ? in[1] : o->a;
  if (!pv_rounds(o->op, o->dtype))
    return true;
  if (!isfinite(result) || n > 2)
    return false;
  if (o->op == GS_C_SQUARE)
    return fma(a, a, -result) == 0;
  if (o->op == GS_C_SCALE || o->op == GS_C_MUL)
    return fma(a, b, -result) == 0;
  if (o->op == GS_C_SUB)
    return result + b == a && a - result == b;
  return (o->op == GS_C_OFFSET || o->op == GS_C_ADD) && result - a == b &&
         result - b == a;
}

static gs_type
item_type(const pv_gate *g) {
  gs_type t = {.dtype = g->from, .access = 0, .rank = 2, .dim = {g->n, 1}};
  if (g->op == GS_C_GATHER)
    t.dim[0] = 2, t.dim[1] = g->n - 1;
  else if (g->op == GS_C_LOOKUP)
    t.rank = 1;
  else if (g->op == GS_C_DOT_PROD)
    t.dim[0] = g->tuple, t.dim[1] = g->n / g->tuple;
  return t;
}

static double
apply(exhaust *x, const pv_gate *g, const in_operator *o, uint32_t lane) {
  const uint32_t *args = x->c->args.data + g->at;
  gs_compute_kind kind = gs_compute_table[g->op].kind;
  gs_type type = item_type(g);
  uint32_t n = g->n;
  for (uint32_t k = 0; k < n; k++)
    x->item[k] = x->of[args[k]][lane];
  for (; g->op == GS_C_GATHER && n < 2 * (g->n - 1); n++)
    x->item[n] = x->item[g->n - 1];
  if (kind == GS_ELEMENTWISE)
    x->made[0] = in_element(o, x->item[0]);
  else
    in_compute(o, &type, x->item, x->made);
  double stored = gs_convert(g->dtype, x->made[0]);
  if (!gs_dtype_table[g->dtype].integer)
    x->rounded |=
        stored != x->made[0] || !is_exact(o, x->item, g->n, x->made[0]);
  return stored;
}

/* A cast to a narrower float rounds because it says so, but bounds nothing
 * here: it counts as rounding, too. */
static void
evaluate(exhaust *x, uint64_t first, uint32_t lanes) {
  for (uint32_t k = 0; k < x->c->gates.len; k++) {
    const pv_gate *g = &x->c->gates.data[k];
    for (uint32_t i = 0; i < lanes; i++)
      x->of[k][i] = g->kind == PV_GATE_NUMBER ? g->number
                    : g->kind == PV_GATE_LEAF
                        ? leaf_value(x, g, first + i)
                        : apply(x, g, &x->operators[k], i);
  }
}

/* --- all ------------------------------------------------------------------ */

static void
open_all(exhaust *x) {
  const pv_circuit *c = x->c;
  uint32_t widest = 1, at = 0;
  x->of = bs_alloc(x->heap, c->gates.len * sizeof *x->of);
  x->operators = bs_calloc(x->heap, c->gates.len, sizeof *x->operators);
  x->shift = bs_calloc(x->heap, c->wires.len + (size_t)1, sizeof *x->shift);
  for (uint32_t k = 0; k < c->gates.len; k++) {
    const pv_gate *g = &c->gates.data[k];
    if (g->kind == PV_GATE_LEAF) {
      x->shift[g->n] = at;
      at += 8u * gs_dtype_table[g->dtype].bytes;
    }
    if (g->kind != PV_GATE_APPLY)
      continue;
    x->operators[k] = in_prepare(x->values, g->o, g->from, g->dtype);
    widest = g->n > widest ? g->n : widest;
  }
  x->item = bs_calloc(x->heap, 2 * (size_t)widest, sizeof *x->item);
  x->made = bs_calloc(x->heap, 2 * (size_t)widest, sizeof *x->made);
}

static void
close_all(exhaust *x) {
  bs_free(x->heap, x->made);
  bs_free(x->heap, x->item);
  bs_free(x->heap, x->shift);
  bs_free(x->heap, x->operators);
  bs_free(x->heap, x->of);
}

static bool
may_be_tried(const pv_circuit *c) {
  for (uint32_t k = 0; k < c->gates.len; k++)
    if (c->gates.data[k].kind == PV_GATE_LEAF &&
        !gs_dtype_table[c->gates.data[k].dtype].integer)
      return false;
  return c->bits <= PV_MOST_BITS && c->wires.len <= PV_MOST_LEAVES &&
         c->gates.len <= PV_MOST_VISITS >> c->bits;
}

static bool
differ(double a, double b) {
  return a != b && !(isnan(a) && isnan(b));
}

static bool
find(exhaust *x, uint64_t count, double *values) {
  const pv_circuit *c = x->c;
  for (uint64_t at = 0; at < count; at += LANES) {
    bs_stage_check(x->heap);
    uint32_t lanes = count - at < LANES ? (uint32_t)(count - at) : LANES;
    evaluate(x, at, lanes);
    for (uint32_t i = 0; i < lanes; i++) {
      if (!differ(x->of[c->left][i], x->of[c->right][i]))
        continue;
      for (uint32_t k = 0; k < c->gates.len; k++)
        if (c->gates.data[k].kind == PV_GATE_LEAF)
          values[c->gates.data[k].n] = x->of[k][i];
      return true;
    }
  }
  return false;
}

pv_outcome
pv_exhaust(const pv_circuit *c, const bs_values *values, double *out) {
  exhaust x = {.c = c, .values = values, .heap = c->heap};
  if (!may_be_tried(c))
    return PV_OPEN;
  /* The number of inputs is a number. */
  assert(c->bits < 64);
  open_all(&x);
  bool different = find(&x, (uint64_t)1 << c->bits, out);
  close_all(&x);
  return different ? PV_DIFFERENT : x.rounded ? PV_OPEN : PV_SAME_BY_VALUES;
}
