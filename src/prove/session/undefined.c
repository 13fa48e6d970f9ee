/* SPDX-License-Identifier: MIT */
/* undefined.c - NaN or an infinity where the other side has a number.
 *
 * Over the real numbers a term is undefined where an operator has no value: the
 * logarithm or the root of what is negative, a quotient by 0.  There the sides
 * differ in meaning.  A result that only leaves the range of f64 is a number
 * all the same: it says nothing of what is equal.
 *
 * So both sides are evaluated in f64 with rounding bounds, and each compute
 * term is looked at where its value first is no number.  What its operand,
 * within its bounds, does not have is undefined for certain; what was finite
 * and became infinite, or was not 0 and became 0, has left the range; where
 * the bounds reach into both, nothing is sure.  One place that has left the
 * range or is not sure excuses the whole input.  Infinities that no operator
 * made, of padding and of constants, are values like others.
 *
 * What reads an infinity may make a number of it: 1 / 0, held below 1, is 1,
 * and -1 / 0 may be -1.  Where an operator is undefined for certain, such
 * numbers differ as they are, whatever rounding made of their operands. */
#include "glenside/array/tensor.h"
#include "prove/session/undefined.h"
#include <assert.h>
#include <math.h>

/* What a compute term does to the elements of one item. */
typedef struct place {
  gs_compute op;
  bool annuls; /* scale by 0 */
  const double *in, *bound, *out;
  int64_t n, items, made; /* elements, tuple size, result elements */
} place;

typedef enum { AS_IT_IS, UNDEFINED, UNSURE } state;

struct pv_undefined {
  pv_precise watched; /* outputs: left, right, operands and results in turn */
  bool failed;
  uint64_t inputs; /* those that `worst` is of; 0: none */
  state worst;
};

/* --- one element ---------------------------------------------------------- */

/* Of an operator without a value below 0, or at 0, too. */
static state
of_domain(double x, double bound, bool at_zero) {
  if (x + bound < 0 || (at_zero && x == 0 && bound == 0))
    return UNDEFINED;
  return bound > 0 && x - bound <= 0 ? UNSURE : AS_IT_IS;
}

static state
of_divisor(double x, double bound) {
  if (x == 0 && bound == 0)
    return UNDEFINED;
  return fabs(x) <= bound ? UNSURE : AS_IT_IS;
}

/* Finite operands, but the result is infinite; or 0, though no operand is. */
static state
of_range(bool any_zero, double result) {
  return !isfinite(result) || (result == 0 && !any_zero) ? UNSURE : AS_IT_IS;
}

static state
of_element(const place *p, double x, double bound, double result) {
  const gs_compute_info *info = &gs_compute_table[p->op];
  state s = AS_IT_IS;
  if (!isfinite(x))
    return AS_IT_IS;
  switch (info->domain) {
  case GS_DOMAIN_POSITIVE:
    s = of_domain(x, bound, true);
    break;
  case GS_DOMAIN_NONNEGATIVE:
    s = of_domain(x, bound, false);
    break;
  case GS_DOMAIN_NONZERO:
    s = of_divisor(x, bound);
    break;
  case GS_DOMAIN_REALS:
    break;
  }
  bool any_zero = p->annuls || info->vanishes_elsewhere || x == 0;
  return s == AS_IT_IS ? of_range(any_zero, result) : s;
}

/* --- one item ------------------------------------------------------------- */

static state
worse(state a, state b) {
  return a > b ? a : b;
}

static state
of_elements(const place *p) {
  state s = AS_IT_IS;
  for (int64_t k = 0; k < p->n; k++)
    s = worse(s, of_element(p, p->in[k], p->bound[k], p->out[k]));
  return s;
}

/* Lane k of a tuple: in[k], in[m + k] ... */
static state
of_lane(const place *p, int64_t m, int64_t k) {
  bool product = p->op == GS_C_MUL || p->op == GS_C_DIV, zero = !product;
  state s = AS_IT_IS;
  for (int64_t j = 0; j < p->items; j++) {
    double x = p->in[j * m + k];
    if (!isfinite(x))
      return s;
    zero |= x == 0;
    if (p->op == GS_C_DIV && j > 0)
      s = worse(s, of_divisor(x, p->bound[j * m + k]));
  }
  return s == AS_IT_IS ? of_range(zero, p->out[k]) : s;
}

static state
of_fold(const place *p) {
  int64_t m = p->n / p->items;
  state s = AS_IT_IS;
  for (int64_t k = 0; k < m; k++)
    s = worse(s, of_lane(p, m, k));
  return s;
}

/* Does a product of a tuple vanish, none of whose factors is 0? */
static bool
product_vanishes(const place *p) {
  int64_t m = p->n / p->items;
  bool vanishes = false;
  for (int64_t k = 0; k < m && p->op == GS_C_DOT_PROD; k++) {
    double product = 1;
    bool zero = false;
    for (int64_t j = 0; j < p->items; j++) {
      product *= p->in[j * m + k];
      zero |= p->in[j * m + k] == 0;
    }
    vanishes |= product == 0 && !zero;
  }
  return vanishes;
}

static state
of_reduction(const place *p) {
  bool zero = p->op != GS_C_REDUCE_PROD;
  if (product_vanishes(p))
    return UNSURE;
  for (int64_t k = 0; k < p->n; k++) {
    if (!isfinite(p->in[k]))
      return AS_IT_IS;
    zero |= p->in[k] == 0;
  }
  state s = AS_IT_IS;
  for (int64_t k = 0; k < p->made; k++)
    s = worse(s, of_range(zero, p->out[k]));
  return s;
}

static state
of_item(const place *p) {
  switch (gs_compute_table[p->op].kind) {
  case GS_ELEMENTWISE:
    return of_elements(p);
  case GS_FOLD:
    return of_fold(p);
  case GS_REDUCE:
  case GS_DOT:
  case GS_SOFTMAX:
    return of_reduction(p);
  case GS_CAST:
  case GS_SELECT:
  case GS_GATHER:
  case GS_LOOKUP:
  default: /* casts round as they say; the others hand on */
    return AS_IT_IS;
  }
}

/* --- a term --------------------------------------------------------------- */

static double *
all_of(const pv_precise *x, const gs_tensor *t) {
  double *out = bs_calloc(x->p->ctx.heap, (size_t)t->elements + 1, sizeof *out);
  gs_tensor_get_many(t, 0, t->elements, out);
  return out;
}

/* `at`: the output that is the operand; the result follows. */
static state
of_compute(const pv_precise *x, gs_term t, uint32_t at) {
  const gs_node *node = gs_at(x->p, t);
  bs_heap *heap = x->p->ctx.heap;
  place p = {.op = GS_C_ADD};
  gs_type type;
  gs_type_at(x->p, node->kids[0], &type);
  bs_values *values = x->p->ctx.values;
  bs_value o = bs_item(values, node->attr, 0);
  gs_compute_of(values, o, &p.op);
  p.annuls =
      p.op == GS_C_SCALE && gs_parameter_value(values, o, 0, type.dtype) == 0;
  int64_t outer = gs_prod(type.dim, type.access);
  p.n = x->outputs[at].elements / outer;
  p.made = x->outputs[at + 1].elements / outer;
  p.items = type.rank > type.access ? type.dim[type.access] : 1;
  double *in = all_of(x, &x->outputs[at]), *bound = all_of(x, &x->bounds[at]);
  double *out = all_of(x, &x->outputs[at + 1]);
  state s = AS_IT_IS;
  for (int64_t k = 0; k < outer && s != UNSURE; k++) {
    p.in = in + k * p.n;
    p.bound = bound + k * p.n;
    p.out = out + k * p.made;
    s = worse(s, of_item(&p));
  }
  bs_free(heap, in);
  bs_free(heap, bound);
  bs_free(heap, out);
  return s;
}

static bool
is_real(const pv_precise *x, gs_term t) {
  gs_type type;
  gs_type_at(x->p, t, &type);
  return !gs_dtype_table[type.dtype].integer;
}

static state
of_all(const pv_precise *x) {
  state s = AS_IT_IS;
  uint32_t at = 2;
  for (uint32_t k = 0; k < x->p->nodes.len && s != UNSURE; k++) {
    if (x->p->nodes.data[k].op != GS_COMPUTE)
      continue;
    if (is_real(x, (gs_term){k}))
      s = worse(s, of_compute(x, (gs_term){k}, at));
    at += 2;
  }
  return s;
}

/* --- the question --------------------------------------------------------- */

pv_undefined *
pv_undefined_make(pv_session *s, uint32_t pair) {
  assert(pair < s->n_pairs);
  pv_undefined *u = BS_NEW(s->ctx.arena, pv_undefined);
  pv_precision as = {GS_F64, 0};
  *u = (pv_undefined){0};
  u->failed = !pv_precise_make(s, pair, as, false, &u->watched);
  if (u->failed)
    return u;
  pv_precise_watch(s, &u->watched);
  pv_precise_bound(&u->watched);
  return u;
}

bool
pv_undefined_is_meant(pv_undefined *u, const pv_doubt *d,
                      const pv_precise *high, uint64_t inputs) {
  assert(d->element >= 0 && d->element < high->outputs[0].elements);
  if (u->failed)
    return false;
  if (u->inputs != inputs) {
    pv_precise_load(&u->watched, d->p, d->inputs, 0);
    u->worst = pv_precise_run(&u->watched) ? of_all(&u->watched) : UNSURE;
    u->inputs = inputs;
  }
  state s = u->worst;
  bool left = isfinite(gs_tensor_get(&high->outputs[0], d->element));
  bool right = isfinite(gs_tensor_get(&high->outputs[1], d->element));
  return s == UNDEFINED ? left || right : s == AS_IT_IS && !(left && right);
}
