/* SPDX-License-Identifier: MIT */
/* session_landmark.c - values at which a program may change its mind.
 *
 * Each operator has values of its operand where it bends: the bounds of a clip,
 * 0 of a relu, the ends of what a cast holds, what a scale makes overflow; and
 * elements of constants.  Such a value is led back to the inputs through the
 * operators in between, each inverted, so that 123457 below an offset and an
 * absolute value is found.  Through a view or a tuple it goes to all operands.
 * The walk is bounded; what it misses is left to the other inputs. */
#include "prove/session/session_landmark.h"
#include <assert.h>
#include <math.h>

#define MOST_STEPS 6000

typedef struct wish {
  gs_term term;
  double value;
} wish;

typedef struct finder {
  pv_landmarks *out;
  const gs_program *p;
  BS_VEC(wish) stack; /* also what was on it, up to `done` */
  uint32_t done;
} finder;

static void
want(finder *f, gs_term t, double v) {
  if (!isfinite(v) || f->stack.len >= MOST_STEPS)
    return;
  for (uint32_t k = f->stack.len; k-- > 0 && k + 64 > f->stack.len;)
    if (f->stack.data[k].term.i == t.i && f->stack.data[k].value == v)
      return;
  bs_push(f->p->ctx.heap, &f->stack, ((wish){t, v}));
}

static void
emit(finder *f, double v) {
  for (uint32_t k = 0; k < f->out->at.len; k++)
    if (f->out->at.data[k] == v)
      return;
  if (f->out->at.len < PV_MOST_LANDMARKS)
    bs_push(f->p->ctx.heap, &f->out->at, v);
}

/* --- where operators bend ------------------------------------------------- */

/* The ends of what an integer dtype holds, divided by what multiplies them. */
static void
want_ends(finder *f, gs_term t, gs_dtype d, double by) {
  assert(d < GS_DTYPE_COUNT);
  if (!gs_dtype_table[d].integer || by == 0)
    return;
  want(f, t, trunc((double)gs_dtype_most(d) / by));
  want(f, t, trunc((double)gs_dtype_least(d) / by));
}

static double
parameter(const finder *f, const gs_node *n, uint32_t k) {
  const bs_values *values = f->p->ctx.values;
  bs_value o = bs_item(values, n->attr, 0);
  return bs_as_real(values, gs_compute_param(values, o, k));
}

static void
want_of_cast(finder *f, gs_term kid, gs_dtype from, gs_dtype to) {
  assert(from < GS_DTYPE_COUNT && to < GS_DTYPE_COUNT);
  if (gs_dtype_table[to].bytes <= gs_dtype_table[from].bytes ||
      !gs_dtype_table[from].integer)
    want_ends(f, kid, to, 1);
  if (gs_dtype_table[from].integer && gs_dtype_table[to].integer &&
      gs_dtype_table[to].bytes < gs_dtype_table[from].bytes)
    want(f, kid, ldexp(1, 8 * gs_dtype_table[to].bytes) - 1);
  if (to == GS_F32)
    want(f, kid, 0x1p24);
}

static void
bend(finder *f, const gs_node *n, gs_compute op, gs_dtype to) {
  assert(op < GS_COMPUTE_COUNT);
  gs_term kid = n->kids[0];
  gs_type from;
  gs_type_at(f->p, kid, &from);
  switch (gs_compute_table[op].bends) {
  case GS_BEND_BOUNDS:
    want(f, kid, parameter(f, n, 0));
    want(f, kid, parameter(f, n, 1));
    return;
  case GS_BEND_SHIFT:
    want(f, kid, -parameter(f, n, 0));
    want(f, kid, parameter(f, n, 0));
    want_ends(f, kid, to, 1);
    return;
  case GS_BEND_FACTOR:
    want(f, kid, parameter(f, n, 0));
    want_ends(f, kid, to, parameter(f, n, 0));
    return;
  case GS_BEND_CAST:
    want_of_cast(f, kid, from.dtype, to);
    return;
  case GS_BEND_ROOT:
    want(f, kid,
         gs_dtype_table[to].integer ? floor(sqrt((double)gs_dtype_most(to)))
                                    : 1);
    return;
  case GS_BEND_ENDS:
    want_ends(f, kid, to, 1);
    want_ends(f, kid, to, 2);
    want(f, kid, 0);
    return;
  case GS_BEND_HALF:
    want(f, kid, 0.5);
    return;
  case GS_BEND_ZERO:
    want(f, kid, 0);
    return;
  }
}

#define MOST_OF_A_CONSTANT 8

static void
bend_at_constant(finder *f, const gs_node *n) {
  const gs_constant *c = gs_constant_of(f->p, n->attr);
  if (!c)
    return;
  gs_tensor t = gs_tensor_of(c);
  for (int64_t k = 0; k < t.elements && k < MOST_OF_A_CONSTANT; k++)
    if (isfinite(gs_tensor_get(&t, k)))
      emit(f, gs_tensor_get(&t, k));
}

/* --- back to the inputs --------------------------------------------------- */

/* What the operand is where the result is v; NaN: nowhere. */
static double
inverse(const finder *f, const gs_node *n, gs_compute op, double v) {
  assert(op < GS_COMPUTE_COUNT);
  bool asks = gs_compute_table[op].params[0] == 'r';
  return gs_compute_table[op].inverse(v, asks ? parameter(f, n, 0) : 0);
}

static void
lead_back(finder *f, const gs_node *n, double v) {
  gs_compute op = GS_C_ADD;
  gs_type to;
  bs_value o = bs_item(f->p->ctx.values, n->attr, 0);
  if (n->op == GS_COMPUTE)
    gs_compute_of(f->p->ctx.values, o, &op);
  for (uint32_t k = 0; k < n->n_kids; k++) {
    gs_type_at(f->p, n->kids[k], &to);
    bool whole = gs_dtype_table[to.dtype].integer;
    double x = n->op == GS_COMPUTE ? inverse(f, n, op, v) : v;
    want(f, n->kids[k], whole ? floor(x) : x);
    if (whole && x != floor(x))
      want(f, n->kids[k], ceil(x));
    if (n->op == GS_COMPUTE && gs_compute_table[op].mirrored)
      want(f, n->kids[k], -(whole ? floor(x) : x));
  }
}

static void
walk(finder *f) {
  while (f->done < f->stack.len) {
    wish w = f->stack.data[f->done++];
    const gs_node *n = gs_at(f->p, w.term);
    if (n->op == GS_TENSOR)
      emit(f, w.value);
    else
      lead_back(f, n, w.value);
  }
}

void
pv_landmarks_find(pv_landmarks *out, const gs_program *p) {
  finder f = {.out = out, .p = p};
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    const gs_node *n = &p->nodes.data[k];
    gs_compute op;
    gs_type type;
    if (n->op == GS_CONST)
      bend_at_constant(&f, n);
    if (n->op != GS_COMPUTE ||
        !gs_compute_of(p->ctx.values, bs_item(p->ctx.values, n->attr, 0), &op))
      continue;
    gs_type_at(p, (gs_term){k}, &type);
    bend(&f, n, op, type.dtype);
    walk(&f);
  }
  bs_vec_done(p->ctx.heap, &f.stack);
}

/* --- near them ------------------------------------------------------------ */

static const double beside[] = {0, 1, -1, 2, -2, 0x1p-6, -0x1p-6};
#define BESIDE (sizeof beside / sizeof beside[0])

uint32_t
pv_landmarks_count(const pv_landmarks *l) {
  return l->at.len * 2 * BESIDE;
}

/* Of floats the last two are shares of the value itself. */
double
pv_landmark_near(const pv_landmarks *l, gs_dtype d, uint32_t k) {
  assert(k < pv_landmarks_count(l));
  double v = l->at.data[k / (2 * BESIDE)];
  uint32_t which = k / 2 % BESIDE;
  bool share = beside[which] && fabs(beside[which]) < 1;
  if (!gs_dtype_table[d].integer)
    v += share ? beside[which] * v : beside[which];
  else
    v = floor(v) + (share ? 3 * copysign(1, beside[which]) : beside[which]);
  return k % 2 ? -v : v;
}
