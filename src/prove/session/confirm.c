/* SPDX-License-Identifier: MIT */
/* confirm.c - is a difference of floats one of meaning, or of rounding?
 *
 * Floats are taken as real numbers, so a difference that the interpreter found
 * counts only when it is still there at a higher precision: both terms are
 * evaluated with every float as f64, and with every float as f32.  A cast to a
 * narrower float still rounds, since that is what it means.
 *
 * What the running error bounds of both sides explain is rounding; what shrinks
 * with the precision is, too; and so is what is not well above the change that
 * a little more rounding makes, in every operator that rounds.  A value that is
 * no number beside one that is, see undefined.c.
 * Where an operator jumps (floor, a cast, select, gather) rounding before it
 * may make any difference.  There the difference counts when no operator
 * rounds, or every term is the same in f32 and f64, for then nothing was
 * rounded; or when it stays for inputs that are moved a little, since rounding
 * matters at a jump alone. */
#include "prove/session/undefined.h"
#include <assert.h>
#include <math.h>

#define MOVES  4 /* moved inputs, */
#define MOVED  3 /* of which so many must differ, too */
#define SHRINK 64
#define SHAKES 3
#define ABOVE  8 /* times what shaking changes */
#define COARSE 0x1p-10

typedef struct pv_confirm {
  pv_session *s;
  uint32_t pair;
  bool jumps, has_float_input, failed;
  bool rounds;    /* an operator does */
  bool saturates; /* one may be the same in f32 and f64 and rounded */
  bool narrows;   /* a cast rounds */
  bool fresh;     /* the outputs are those of the inputs */
  pv_precise f64, f32, shaken[SHAKES];
  pv_undefined *undefined; /* made when it is asked for */
  uint64_t evaluated;      /* how often */
} pv_confirm;

static bool
is_float(gs_dtype d) {
  assert(d < GS_DTYPE_COUNT);
  return !gs_dtype_table[d].integer;
}

/* --- judging -------------------------------------------------------------- */

static bool
same_everywhere(const pv_precise *a, const pv_precise *b) {
  for (uint32_t k = 0; k < a->p->outputs.len; k++) {
    const gs_tensor *x = &a->outputs[k], *y = &b->outputs[k];
    for (int64_t e = 0; e < x->elements; e++) {
      double v = gs_tensor_get(x, e), w = gs_tensor_get(y, e);
      if (v != w && !(isnan(v) && isnan(w)))
        return false;
    }
  }
  return true;
}

static double
gap_of(const pv_precise *x, int64_t e) {
  return fabs(gs_tensor_get(&x->outputs[0], e) -
              gs_tensor_get(&x->outputs[1], e));
}

/* What rounding may make of the difference; of casts that round, nothing. */
static double
allowed(const pv_precise *x, int64_t e, double rel) {
  double a = gs_tensor_get(&x->outputs[0], e);
  double b = gs_tensor_get(&x->outputs[1], e);
  if (rel > 0)
    return rel * fmax(fabs(a), fabs(b));
  return gs_tensor_get(&x->bounds[0], e) + gs_tensor_get(&x->bounds[1], e);
}

/* Whether element e, a number on both sides, differs at high precision by more
 * than what is lost there; `low`, when it was run, tells how much rounding
 * does. */
static bool
differs_at(const pv_precise *high, const pv_precise *low, int64_t e,
           double rel) {
  double gap = gap_of(high, e);
  if (!isfinite(gap) || gap == 0)
    return false;
  if (!is_float(high->outputs[0].dtype))
    return true;
  if (low) {
    double rough = gap_of(low, e);
    if (isfinite(rough) && rough > SHRINK * gap)
      return false;
  }
  return gap > allowed(high, e, rel);
}

/* Whether one side is no number, or another infinity. */
static bool
is_apart(const pv_precise *x, int64_t e) {
  double a = gs_tensor_get(&x->outputs[0], e);
  double b = gs_tensor_get(&x->outputs[1], e);
  return a != b && !(isnan(a) && isnan(b)) && !isfinite(a - b);
}

/* How far element e of an output is moved by a little more rounding. */
static double
shift(const pv_precise *a, const pv_precise *b, uint32_t side, int64_t e) {
  double by = fabs(gs_tensor_get(&a->outputs[side], e) -
                   gs_tensor_get(&b->outputs[side], e));
  return isnan(by) ? INFINITY : by;
}

/* Whether the difference is well above what rounding may make. */
static bool
stands_out(const pv_confirm *x, int64_t e) {
  double gap = gap_of(&x->f64, e);
  for (uint32_t k = 0; k < SHAKES && x->rounds && isfinite(gap); k++) {
    const pv_precise *other = &x->shaken[k];
    double most =
        fmax(shift(&x->f64, other, 0, e), shift(&x->f64, other, 1, e));
    if (!other->ran || gap <= ABOVE * most)
      return false;
  }
  return true;
}

static bool
shake(pv_confirm *x, const gs_program *given, const gs_tensor *inputs,
      uint64_t move) {
  bool ok = true;
  for (uint32_t k = 0; k < SHAKES && x->rounds && ok; k++) {
    pv_precise_load(&x->shaken[k], given, inputs, move);
    ok = pv_precise_run(&x->shaken[k]);
  }
  return ok;
}

static bool
differs_anywhere(const pv_confirm *x, double rel) {
  for (int64_t e = 0; e < x->f64.outputs[0].elements; e++)
    if (differs_at(&x->f64, NULL, e, rel) && stands_out(x, e))
      return true;
  return false;
}

static bool
differs_when_moved(pv_confirm *x, const gs_program *given,
                   const gs_tensor *inputs, double rel) {
  uint32_t n = 0;
  for (uint64_t k = 1; k <= MOVES; k++) {
    pv_precise_load(&x->f64, given, inputs, k);
    n += pv_precise_run(&x->f64) && shake(x, given, inputs, k) &&
         differs_anywhere(x, rel);
  }
  return n >= MOVED;
}

/* --- setting up ----------------------------------------------------------- */

static bool
is_exact_when_same(gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  return gs_compute_table[op].digits == GS_DIGITS_RING;
}

static void
look_at_compute(pv_confirm *x, gs_compute op, gs_dtype from, gs_dtype to) {
  bool real = is_float(from);
  x->jumps |= real && gs_compute_table[op].jumps;
  x->rounds |= pv_rounds(op, to);
  x->saturates |= pv_rounds(op, to) && !is_exact_when_same(op);
  x->narrows |= op == GS_C_CAST && real && is_float(to) &&
                gs_dtype_table[to].bytes < gs_dtype_table[from].bytes;
}

static void
look(pv_confirm *x, const gs_program *p, const uint8_t *live) {
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    const gs_node *n = &p->nodes.data[k];
    gs_compute op;
    gs_type from, to;
    if (!live[k])
      continue;
    gs_type_at(p, (gs_term){k}, &to);
    x->has_float_input |= n->op == GS_TENSOR && is_float(to.dtype);
    if (n->op != GS_COMPUTE ||
        !gs_compute_of(p->ctx.values, bs_item(p->ctx.values, n->attr, 0), &op))
      continue;
    gs_type_at(p, n->kids[0], &from);
    look_at_compute(x, op, from.dtype, to.dtype);
  }
}

static bool
make(pv_confirm *x) {
  pv_precision as = {GS_F64, 0};
  if (!pv_precise_make(x->s, x->pair, as, x->jumps, &x->f64))
    return false;
  pv_precise_bound(&x->f64);
  as.wide = GS_F32;
  if (!pv_precise_make(x->s, x->pair, as, x->jumps, &x->f32))
    return false;
  as.wide = GS_F64;
  for (uint32_t k = 0; k < SHAKES && x->rounds; k++) {
    as.shake = k + 1;
    if (!pv_precise_make(x->s, x->pair, as, false, &x->shaken[k]))
      return false;
  }
  return true;
}

static pv_confirm *
confirm_of(pv_session *s, uint32_t pair) {
  pv_confirm *x = s->confirm;
  if (x && x->pair == pair)
    return x;
  x = BS_NEW(s->ctx.arena, pv_confirm);
  *x = (pv_confirm){.s = s, .pair = pair};
  s->confirm = x;
  uint8_t *live = bs_calloc(s->ctx.heap, s->plain->nodes.len + (size_t)1, 1);
  pv_mark(s->plain, &s->pairs[pair], 1, live);
  look(x, s->plain, live);
  bs_free(s->ctx.heap, live);
  return x;
}

static bool
evaluate(pv_confirm *x, const gs_program *given, const gs_tensor *inputs) {
  x->evaluated++;
  pv_precise_load(&x->f64, given, inputs, 0);
  pv_precise_load(&x->f32, given, inputs, 0);
  x->fresh = pv_precise_run(&x->f64) && pv_precise_run(&x->f32) &&
             shake(x, given, inputs, 0);
  return x->fresh;
}

bool
pv_means_rounding(pv_session *s, uint32_t pair) {
  assert(pair < s->n_pairs);
  return confirm_of(s, pair)->narrows;
}

/* Whether no number on one side, or numbers that differ, come of a term that
 * has no value for certain. */
static bool
is_undefined(pv_confirm *x, const pv_doubt *d) {
  if (!x->undefined)
    x->undefined = pv_undefined_make(x->s, d->pair);
  return pv_undefined_is_meant(x->undefined, d, &x->f64, x->evaluated);
}

/* Whether the sides are different numbers, as coarsely in f32 as in f64, that
 * were made of what has no value: 1 / 0 and 1 / -0, held below 1, are 1 and -1.
 * More rounding changes the sign of a 0 as well. */
static bool
is_made_of_nothing(pv_confirm *x, const pv_doubt *d) {
  double gap = gap_of(&x->f64, d->element);
  double rel = isfinite(allowed(&x->f64, d->element, 0)) ? 0 : COARSE;
  return x->s->undefined &&
         fabs(gap - gap_of(&x->f32, d->element)) <= COARSE * gap &&
         differs_at(&x->f64, NULL, d->element, rel) && is_undefined(x, d);
}

bool
pv_is_meant(pv_session *s, const pv_doubt *d, bool again) {
  assert(d->pair < s->n_pairs);
  pv_confirm *x = confirm_of(s, d->pair);
  if (!x->f64.p && !x->failed)
    x->failed = !make(x);
  if (x->failed || !((again && x->fresh) || evaluate(x, d->p, d->inputs)))
    return false;
  if (is_apart(&x->f64, d->element))
    return is_undefined(x, d);
  if (is_made_of_nothing(x, d))
    return true;
  if (!differs_at(&x->f64, &x->f32, d->element, d->rel))
    return false;
  if (!x->jumps)
    return stands_out(x, d->element);
  if (!x->rounds || (!x->saturates && same_everywhere(&x->f64, &x->f32)))
    return true;
  x->fresh = false;
  return x->has_float_input && differs_when_moved(x, d->p, d->inputs, d->rel);
}
