/* SPDX-License-Identifier: MIT */
/* bits.c - circuits of integers as bit-vectors, decided by Z3.
 *
 * A gate of a dtype is a vector of the dtype's width, since integers wrap; the
 * operators are those of interpret_compute.c, one by one.  The question is
 * whether both sides can differ.  Z3's work is bounded by its own count of
 * steps (rlimit), so that an answer is the same on every machine, and by time
 * only where the command has a limit of it.  What goes wrong within Z3 leaves
 * the question open.
 *
 * Z3 has its own memory, which a bound of steps bounds, too; a context is made
 * anew after some questions. */
#include "glen-features.h"
#include "prove/integer/decide.h"
#include <assert.h>

#if GLEN_HAVE_Z3

#include "base/governor.h"
#include "glenside/interpret/interpret_state.h"
#include <math.h>
#include "base/library.h"
#include <pthread.h>
#include <z3.h>

/* clang-format off */
#define Z3_FUNCTIONS(X) \
  X(del_config) X(del_context) X(get_error_code) X(get_numeral_uint64) \
  X(mk_bv_sort) X(mk_bvadd) X(mk_bvmul) X(mk_bvneg) X(mk_bvsdiv) \
  X(mk_bvsle) X(mk_bvslt) X(mk_bvsub) X(mk_bvudiv) X(mk_bvult) \
  X(mk_config) X(mk_const) X(mk_context) X(mk_eq) X(mk_extract) \
  X(mk_int64) X(mk_int_symbol) X(mk_ite) X(mk_not) X(mk_params) \
  X(mk_sign_ext) X(mk_solver_for_logic) X(mk_string_symbol) X(mk_zero_ext) \
  X(model_dec_ref) X(model_eval) X(model_inc_ref) X(params_dec_ref) \
  X(params_inc_ref) X(params_set_uint) X(set_error_handler) \
  X(solver_assert) X(solver_check) X(solver_dec_ref) X(solver_get_model) \
  X(solver_inc_ref) X(solver_pop) X(solver_push) X(solver_set_params)
/* clang-format on */

/* Z3's functions.  It is twenty megabytes, so that it is loaded when a question
 * is first asked. */
#define FIELD(name) __typeof__(&Z3_##name) name;
#define NAME(name)  "Z3_" #name " "
static union {
  struct {
    Z3_FUNCTIONS(FIELD)
  };
  void *addresses[sizeof(struct {Z3_FUNCTIONS(FIELD)}) / sizeof(void *)];
} z3;

#define STEPS     3000000u /* of a question */
#define QUESTIONS 64       /* of a context */
#define LONGEST   1000000. /* seconds */

struct pv_bits {
  bs_heap *heap;
  Z3_context z3;
  Z3_solver solver;
  Z3_ast *of; /* by gate */
  uint32_t asked;
};

static bool z3_there;

static void
load_z3(void) {
  z3_there =
      bs_library_load(GLEN_Z3_LIBRARIES, Z3_FUNCTIONS(NAME), z3.addresses);
}

bool
pv_bits_is_there(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_z3);
  return z3_there;
}

static void
close_context(void *arg) {
  pv_bits *b = arg;
  if (!b->z3)
    return;
  z3.solver_dec_ref(b->z3, b->solver);
  z3.del_context(b->z3);
  b->z3 = NULL;
}

pv_bits *
pv_bits_new(bs_heap *heap) {
  pv_bits *b = bs_calloc(heap, 1, sizeof *b);
  b->heap = heap;
  bs_defer(heap, close_context, b);
  return b;
}

/* Errors are asked for; without a handler Z3 would end the process. */
static void
on_error(Z3_context c, Z3_error_code code) {
  (void)c;
  (void)code;
}

static void
bound_work(const pv_bits *b, double seconds) {
  Z3_params params = z3.mk_params(b->z3);
  z3.params_inc_ref(b->z3, params);
  z3.params_set_uint(b->z3, params, z3.mk_string_symbol(b->z3, "rlimit"),
                     STEPS);
  if (isfinite(seconds))
    z3.params_set_uint(b->z3, params, z3.mk_string_symbol(b->z3, "timeout"),
                       (unsigned)(fmin(seconds, LONGEST) * 1000) + 1);
  z3.solver_set_params(b->z3, b->solver, params);
  z3.params_dec_ref(b->z3, params);
}

static bool
open_context(pv_bits *b) {
  if (b->asked++ % QUESTIONS == 0)
    close_context(b);
  double seconds = bs_stage_seconds(bs_governor_of(b->heap));
  if (b->z3) {
    if (isfinite(seconds))
      bound_work(b, seconds);
    return true;
  }
  Z3_config config = z3.mk_config();
  b->z3 = z3.mk_context(config);
  z3.del_config(config);
  if (!b->z3)
    return false;
  z3.set_error_handler(b->z3, on_error);
  b->solver =
      z3.mk_solver_for_logic(b->z3, z3.mk_string_symbol(b->z3, "QF_BV"));
  z3.solver_inc_ref(b->z3, b->solver);
  bound_work(b, seconds);
  return z3.get_error_code(b->z3) == Z3_OK;
}

/* --- terms ---------------------------------------------------------------- */

static unsigned
width(gs_dtype d) {
  assert(d < GS_DTYPE_COUNT);
  return 8u * gs_dtype_table[d].bytes;
}

static Z3_ast
literal(const pv_bits *b, int64_t v, unsigned bits) {
  return z3.mk_int64(b->z3, v, z3.mk_bv_sort(b->z3, bits));
}

/* The value of a vector of `from` in `bits`, which may be fewer. */
static Z3_ast
resized(const pv_bits *b, Z3_ast x, gs_dtype from, unsigned bits) {
  unsigned have = width(from);
  if (have == bits)
    return x;
  if (have > bits)
    return z3.mk_extract(b->z3, bits - 1, 0, x);
  return gs_dtype_table[from].is_signed ? z3.mk_sign_ext(b->z3, bits - have, x)
                                        : z3.mk_zero_ext(b->z3, bits - have, x);
}

/* 1 where any bit is set. */
static Z3_ast
truth(const pv_bits *b, Z3_ast x, unsigned have) {
  unsigned bits = width(GS_BOOL);
  return z3.mk_ite(b->z3, z3.mk_eq(b->z3, x, literal(b, 0, have)),
                   literal(b, 0, bits), literal(b, 1, bits));
}

static Z3_ast
cast(const pv_bits *b, Z3_ast x, gs_dtype from, gs_dtype to) {
  return to == GS_BOOL ? truth(b, x, width(from))
                       : resized(b, x, from, width(to));
}

static Z3_ast
less(const pv_bits *b, gs_dtype d, Z3_ast x, Z3_ast y) {
  assert(d < GS_DTYPE_COUNT);
  return gs_dtype_table[d].is_signed ? z3.mk_bvslt(b->z3, x, y)
                                     : z3.mk_bvult(b->z3, x, y);
}

static Z3_ast
larger(const pv_bits *b, gs_dtype d, Z3_ast x, Z3_ast y) {
  return z3.mk_ite(b->z3, less(b, d, y, x), x, y);
}

static Z3_ast
smaller(const pv_bits *b, gs_dtype d, Z3_ast x, Z3_ast y) {
  return z3.mk_ite(b->z3, less(b, d, x, y), x, y);
}

/* Cut toward zero; 0 where the divisor is. */
static Z3_ast
quotient(const pv_bits *b, gs_dtype d, Z3_ast x, Z3_ast y) {
  Z3_ast zero = literal(b, 0, width(d));
  Z3_ast q = gs_dtype_table[d].is_signed ? z3.mk_bvsdiv(b->z3, x, y)
                                         : z3.mk_bvudiv(b->z3, x, y);
  return z3.mk_ite(b->z3, z3.mk_eq(b->z3, y, zero), zero, q);
}

static Z3_ast
step(const pv_bits *b, gs_fold fold, gs_dtype d, Z3_ast x, Z3_ast y) {
  switch (fold) {
  case GS_FOLD_ADD:
    return z3.mk_bvadd(b->z3, x, y);
  case GS_FOLD_SUB:
    return z3.mk_bvsub(b->z3, x, y);
  case GS_FOLD_MUL:
    return z3.mk_bvmul(b->z3, x, y);
  case GS_FOLD_DIV:
    return quotient(b, d, x, y);
  case GS_FOLD_MAX:
    return larger(b, d, x, y);
  case GS_FOLD_MIN:
    return smaller(b, d, x, y);
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  return x; /* circuits hold no such gate */
}

/* Bounds may lie outside of the dtype: they are compared in 64 bits, and the
 * result wraps. */
static Z3_ast
clip(const pv_bits *b, const in_operator *o, Z3_ast x) {
  Z3_ast wide = resized(b, x, o->dtype, 64);
  Z3_ast lo = literal(b, (int64_t)o->a, 64), hi = literal(b, (int64_t)o->b, 64);
  Z3_ast high = z3.mk_ite(b->z3, z3.mk_bvslt(b->z3, hi, wide), hi, wide);
  Z3_ast made = z3.mk_ite(b->z3, z3.mk_bvslt(b->z3, wide, lo), lo, high);
  return z3.mk_extract(b->z3, width(o->dtype) - 1, 0, made);
}

static Z3_ast
elementwise(const pv_bits *b, const in_operator *o, Z3_ast x) {
  unsigned bits = width(o->dtype);
  Z3_ast zero = literal(b, 0, bits);
  bool sign = gs_dtype_table[o->dtype].is_signed;
  switch (gs_compute_table[o->op].form) {
  case GS_FORM_NEGATE:
    return z3.mk_bvneg(b->z3, x);
  case GS_FORM_ABS:
    return sign ? z3.mk_ite(b->z3, less(b, o->dtype, x, zero),
                            z3.mk_bvneg(b->z3, x), x)
                : x;
  case GS_FORM_RELU:
    return larger(b, o->dtype, x, zero);
  case GS_FORM_SQUARE:
    return z3.mk_bvmul(b->z3, x, x);
  case GS_FORM_CLIP:
    return clip(b, o, x);
  case GS_FORM_SCALE:
    return z3.mk_bvmul(b->z3, x, literal(b, (int64_t)o->a, bits));
  case GS_FORM_OFFSET:
    return z3.mk_bvadd(b->z3, x, literal(b, (int64_t)o->a, bits));
  case GS_FORM_FLOOR:
  case GS_FORM_NONE:
  case GS_FORM_FUNCTION: /* of floats alone, which circuits do not hold */
    break;
  }
  return x;
}

/* --- gates ---------------------------------------------------------------- */

static const uint32_t *
args_of(const pv_circuit *c, const pv_gate *g) {
  return c->args.data + g->at;
}

/* In the result's dtype, from the first on. */
static Z3_ast
chain(const pv_bits *b, const pv_circuit *c, const pv_gate *g) {
  const uint32_t *args = args_of(c, g);
  unsigned bits = width(g->dtype);
  Z3_ast made = resized(b, b->of[args[0]], g->from, bits);
  for (uint32_t k = 1; k < g->n; k++)
    made = step(b, gs_compute_table[g->op].fold, g->dtype, made,
                resized(b, b->of[args[k]], g->from, bits));
  return g->op == GS_C_REDUCE_MEAN
             ? quotient(b, g->dtype, made, literal(b, g->n, bits))
             : made;
}

static Z3_ast
dot(const pv_bits *b, const pv_circuit *c, const pv_gate *g) {
  const uint32_t *args = args_of(c, g);
  unsigned bits = width(g->dtype);
  uint32_t m = g->n / g->tuple;
  Z3_ast sum = literal(b, 0, bits);
  for (uint32_t k = 0; k < m; k++) {
    Z3_ast product = resized(b, b->of[args[k]], g->from, bits);
    for (uint32_t j = 1; j < g->tuple; j++)
      product = z3.mk_bvmul(b->z3, product,
                            resized(b, b->of[args[j * m + k]], g->from, bits));
    sum = z3.mk_bvadd(b->z3, sum, product);
  }
  return sum;
}

static Z3_ast
choice(const pv_bits *b, const pv_circuit *c, const pv_gate *g) {
  const uint32_t *args = args_of(c, g);
  Z3_ast zero = literal(b, 0, width(g->from));
  return z3.mk_ite(b->z3, less(b, g->from, zero, b->of[args[0]]),
                   b->of[args[1]], b->of[args[2]]);
}

/* The index is held within the table: element k where the index is at most k,
 * looked at from the first on. */
static Z3_ast
gather(const pv_bits *b, const pv_circuit *c, const pv_gate *g) {
  const uint32_t *args = args_of(c, g);
  uint32_t m = g->n - 1;
  Z3_ast at = resized(b, b->of[args[m]], g->from, 64);
  Z3_ast made = b->of[args[m - 1]];
  for (uint32_t k = m - 1; k-- > 0;)
    made = z3.mk_ite(b->z3, z3.mk_bvsle(b->z3, at, literal(b, k, 64)),
                     b->of[args[k]], made);
  return made;
}

static Z3_ast
apply(const pv_bits *b, const pv_circuit *c, const pv_gate *g,
      const bs_values *values) {
  in_operator o = in_prepare(values, g->o, g->from, g->dtype);
  const uint32_t *args = args_of(c, g);
  switch (gs_compute_table[g->op].kind) {
  case GS_ELEMENTWISE:
    return elementwise(b, &o, b->of[args[0]]);
  case GS_CAST:
    return cast(b, b->of[args[0]], g->from, g->dtype);
  case GS_REDUCE:
  case GS_FOLD:
    return chain(b, c, g);
  case GS_DOT:
    return dot(b, c, g);
  case GS_SELECT:
    return choice(b, c, g);
  case GS_GATHER:
  case GS_LOOKUP:
    return gather(b, c, g);
  case GS_SOFTMAX:
  default:
    return NULL;
  }
}

/* Itself if it lies within the bounds of an i64, else 0. */
static Z3_ast
in_bounds(const pv_bits *b, Z3_ast x, unsigned bits) {
  Z3_ast least = literal(b, gs_dtype_least(GS_I64), bits);
  Z3_ast most = literal(b, gs_dtype_most(GS_I64), bits);
  Z3_ast zero = literal(b, 0, bits);
  x = z3.mk_ite(b->z3, z3.mk_bvslt(b->z3, x, least), zero, x);
  return z3.mk_ite(b->z3, z3.mk_bvslt(b->z3, most, x), zero, x);
}

/* A value of the dtype for each pattern, of which a bool and an i64 have fewer.
 */
static Z3_ast
leaf(const pv_bits *b, const pv_gate *g) {
  unsigned bits = width(g->dtype);
  Z3_ast x = z3.mk_const(b->z3, z3.mk_int_symbol(b->z3, (int)g->n),
                         z3.mk_bv_sort(b->z3, bits));
  return g->dtype == GS_BOOL  ? truth(b, x, bits)
         : g->dtype == GS_I64 ? in_bounds(b, x, bits)
                              : x;
}

static bool
translate(const pv_bits *b, const pv_circuit *c, const bs_values *values) {
  for (uint32_t k = 0; k < c->gates.len; k++) {
    const pv_gate *g = &c->gates.data[k];
    if (g->kind == PV_GATE_LEAF)
      b->of[k] = leaf(b, g);
    else if (g->kind == PV_GATE_NUMBER)
      b->of[k] = literal(b, (int64_t)g->number, width(g->dtype));
    else
      b->of[k] = apply(b, c, g, values);
    if (!b->of[k] || z3.get_error_code(b->z3) != Z3_OK)
      return false;
  }
  return true;
}

/* --- the question --------------------------------------------------------- */

static bool
read_model(const pv_bits *b, const pv_circuit *c, double *values) {
  Z3_model model = z3.solver_get_model(b->z3, b->solver);
  if (!model)
    return false;
  z3.model_inc_ref(b->z3, model);
  bool ok = true;
  for (uint32_t k = 0; k < c->gates.len && ok; k++) {
    const pv_gate *g = &c->gates.data[k];
    uint64_t bits = 0;
    Z3_ast found;
    if (g->kind != PV_GATE_LEAF)
      continue;
    ok = z3.model_eval(b->z3, model, b->of[k], true, &found) &&
         z3.get_numeral_uint64(b->z3, found, &bits);
    values[g->n] = (double)gs_wrap(g->dtype, (int64_t)bits);
  }
  z3.model_dec_ref(b->z3, model);
  return ok;
}

static pv_outcome
ask(pv_bits *b, const pv_circuit *c, const bs_values *values, double *out) {
  if (!translate(b, c, values))
    return PV_OPEN;
  Z3_ast same = z3.mk_eq(b->z3, b->of[c->left], b->of[c->right]);
  z3.solver_assert(b->z3, b->solver, z3.mk_not(b->z3, same));
  Z3_lbool may_differ = z3.solver_check(b->z3, b->solver);
  if (z3.get_error_code(b->z3) != Z3_OK)
    return PV_OPEN;
  if (may_differ == Z3_L_FALSE)
    return PV_SAME_BY_BITS;
  return may_differ == Z3_L_TRUE && read_model(b, c, out) ? PV_DIFFERENT
                                                          : PV_OPEN;
}

pv_outcome
pv_bits_decide(pv_bits *b, const pv_circuit *c, const bs_values *values,
               double *out) {
  if (!c->integers || c->wires.len > PV_MOST_LEAVES || !pv_bits_is_there() ||
      !open_context(b))
    return PV_OPEN;
  b->of = bs_calloc(c->heap, c->gates.len + (size_t)1, sizeof *b->of);
  z3.solver_push(b->z3, b->solver);
  pv_outcome found = ask(b, c, values, out);
  z3.solver_pop(b->z3, b->solver, 1);
  bs_free(c->heap, b->of);
  if (z3.get_error_code(b->z3) == Z3_OK)
    return found;
  close_context(b);
  return PV_OPEN;
}

#else

struct pv_bits {
  int unused;
};

bool
pv_bits_is_there(void) {
  return false;
}

pv_bits *
pv_bits_new(bs_heap *heap) {
  return bs_calloc(heap, 1, sizeof(pv_bits));
}

pv_outcome
pv_bits_decide(pv_bits *b, const pv_circuit *c, const bs_values *values,
               double *out) {
  (void)b;
  (void)c;
  (void)values;
  (void)out;
  return PV_OPEN;
}

#endif
