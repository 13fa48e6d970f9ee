/* SPDX-License-Identifier: MIT */
/* partial.c - which terms may be no numbers, though their inputs are.
 *
 * A logarithm, a root, a quotient and a reciprocal have no value for some
 * operands, padding with the least value is minus infinity, and constants may
 * hold anything.  What such a term is, is told from the operators and from the
 * signs of what they read, once a term: what is not known is taken for partial,
 * and so is all that reads it. */
#include "glenside/array/tensor.h"
#include "glenside/program/skeleton.h"
#include "glenside/target/target.h"
#include "prove/session/session.h"
#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct looker {
  const gs_program *p;
  uint8_t *facts;
} looker;

/* For operands of these facts, whatever reads them. */
static bool
leaves_domain(gs_compute op, uint8_t facts) {
  assert(op < GS_COMPUTE_COUNT);
  switch (gs_compute_table[op].domain) {
  case GS_DOMAIN_NONNEGATIVE:
    return !(facts & PV_NONNEGATIVE);
  case GS_DOMAIN_POSITIVE:
  case GS_DOMAIN_NONZERO:
    return !(facts & PV_POSITIVE);
  case GS_DOMAIN_REALS:
    break;
  }
  return op == GS_C_DIV && !(facts & PV_POSITIVE);
}

/* --- constants and views -------------------------------------------------- */

static uint8_t
of_constant(const gs_program *p, const gs_node *n) {
  const char *name =
      bs_as_sym(p->ctx.values, bs_item(p->ctx.values, n->attr, 0));
  const gs_constant *c = gs_find_constant(p, name);
  uint8_t facts = PV_NONNEGATIVE | PV_POSITIVE;
  if (!c)
    return PV_PARTIAL;
  gs_tensor data = gs_tensor_of(c);
  for (int64_t k = 0; k < data.elements; k++) {
    double x = gs_tensor_get(&data, k);
    if (!isfinite(x))
      return PV_PARTIAL;
    facts &= x > 0 ? PV_NONNEGATIVE | PV_POSITIVE : x == 0 ? PV_NONNEGATIVE : 0;
  }
  return facts;
}

/* What padding adds: zeros, minus infinity, or nothing new. */
static uint8_t
of_padding(const bs_values *values, bs_value kind, uint8_t facts) {
  gs_padding known;
  if (!gs_padding_of(values, kind, &known))
    return PV_PARTIAL;
  switch (known) {
  case GS_PADDING_EDGE:
    return facts;
  case GS_PADDING_ZERO:
    return (uint8_t)(facts & ~PV_POSITIVE);
  case GS_PADDING_MIN:
  case GS_PADDING_COUNT:
    break;
  }
  return PV_PARTIAL;
}

/* --- operators ------------------------------------------------------------ */

/* What is known of a literal by its sign.  What is smaller than any number of
 * the dtype is 0 there. */
static uint8_t
of_literal(gs_dtype d, double literal) {
  double p = gs_convert(d, literal);
  return p > 0 ? PV_NONNEGATIVE | PV_POSITIVE : p == 0 ? PV_NONNEGATIVE : 0;
}

static uint8_t
of_sign(gs_sign sign, uint8_t facts) {
  switch (sign) {
  case GS_SIGN_KEEPS_NONNEGATIVE:
    return facts & PV_NONNEGATIVE;
  case GS_SIGN_KEEPS_POSITIVE:
    return facts;
  case GS_SIGN_POSITIVE_ALONE:
    return facts & PV_POSITIVE ? facts : 0;
  case GS_SIGN_NONNEGATIVE:
    return PV_NONNEGATIVE;
  case GS_SIGN_POSITIVE:
    return PV_NONNEGATIVE | PV_POSITIVE;
  case GS_SIGN_ANY:
    break;
  }
  return 0;
}

/* Does a number above 0 stay above 0 when it is made one of the dtype?  Floats
 * with few exponents have nothing but 0 for what is small, and f32 for some
 * numbers of f64. */
static bool
stays_positive(gs_dtype to, gs_dtype from) {
  return to == from || to == GS_F64 ||
         (!gs_has_few_exponents(to) && from != GS_F64);
}

/* The sign of what an elementwise operator makes. */
static uint8_t
of_elementwise(const bs_values *values, bs_value o, gs_compute op, gs_dtype d,
               uint8_t facts) {
  assert(op < GS_COMPUTE_COUNT);
  gs_form form = gs_compute_table[op].form;
  double p = gs_parameter_value(values, o, 0, d);
  uint8_t like = of_literal(d, p);
  if (form == GS_FORM_CLIP)
    return like;
  if (form == GS_FORM_SCALE && p > 0)
    return gs_has_few_exponents(d) && p < 1 ? facts & PV_NONNEGATIVE : facts;
  if (form == GS_FORM_SCALE)
    return like;
  if (form == GS_FORM_OFFSET)
    return facts & like & PV_NONNEGATIVE ? (uint8_t)(facts | like) : 0;
  return of_sign(gs_compute_table[op].sign, facts);
}

static uint8_t
of_cast(const bs_values *values, bs_value o, gs_dtype from, uint8_t facts) {
  gs_dtype to;
  bs_value name = gs_compute_param(values, o, 0);
  if (bs_kind_of(values, name) != BS_KIND_SYM ||
      !gs_dtype_find(bs_as_sym(values, name), &to))
    return 0;
  return stays_positive(to, from) ? facts : facts & PV_NONNEGATIVE;
}

/* Sums, products and extrema of numbers of one sign have it. */
static uint8_t
of_operator(const bs_values *values, bs_value o, gs_compute op, gs_dtype from,
            uint8_t facts) {
  switch (gs_compute_table[op].kind) {
  case GS_ELEMENTWISE:
    return of_elementwise(values, o, op, from, facts);
  case GS_SOFTMAX:
    return PV_NONNEGATIVE | PV_POSITIVE;
  case GS_FOLD:
  case GS_REDUCE:
  case GS_DOT:
    if (gs_compute_table[op].fold == GS_FOLD_DIV)
      return facts & PV_POSITIVE ? facts : 0;
    return gs_compute_table[op].fold == GS_FOLD_SUB ? 0 : facts;
  case GS_CAST:
    return of_cast(values, o, from, facts);
  case GS_SELECT:
  case GS_GATHER:
  case GS_LOOKUP:
    break;
  }
  return 0;
}

/* The facts of the divisors of a quotient, which are the later items. */
static uint8_t
of_divisors(const looker *x, gs_term tuple) {
  const gs_node *n = gs_at(x->p, tuple);
  bool two = n->op == GS_PAIR || n->op == GS_CARTPROD;
  return x->facts[two ? n->kids[1].i : tuple.i];
}

/* --- calls ---------------------------------------------------------------- */

/* An attribute as it is written; BS_NIL where it is computed. */
static bs_value
written(const gs_sk_node *n) {
  const gs_expr *e = n->n_attrs ? n->attrs[0] : NULL;
  return e && e->kind == GS_X_LITERAL ? e->literal : BS_NIL;
}

static bool
node_is_partial(const bs_values *values, const gs_sk_node *n) {
  gs_compute op;
  if (n->op == GS_PAD)
    return of_padding(values, written(n), 0) & PV_PARTIAL;
  if (n->op != GS_COMPUTE)
    return n->op == GS_CALL || n->op == GS_SCAN;
  return !gs_compute_of(values, written(n), &op) || leaves_domain(op, 0);
}

/* Nothing is known of the operands of the operators within. */
static uint8_t
of_call(const looker *x, const gs_node *n) {
  const bs_values *values = x->p->ctx.values;
  const char *name = bs_as_sym(values, bs_item(values, n->attr, 0));
  const gs_instr *instr = gs_find_instr(x->p->target, name);
  for (uint32_t k = 0; instr && k < instr->semantics->n; k++)
    if (node_is_partial(values, &instr->semantics->nodes[k]))
      return PV_PARTIAL;
  return instr ? 0 : PV_PARTIAL;
}

/* --- all terms ------------------------------------------------------------ */

uint8_t
pv_operator_facts(const bs_values *values, bs_value o, gs_dtype from,
                  uint8_t all, uint8_t divisor) {
  assert(from < GS_DTYPE_COUNT);
  gs_compute op;
  if (!gs_compute_of(values, o, &op))
    return PV_PARTIAL;
  uint8_t read = op == GS_C_DIV ? divisor : all;
  return (uint8_t)(of_operator(values, o, op, from, all) |
                   (leaves_domain(op, read) ? PV_PARTIAL : 0));
}

static uint8_t
of_compute(const looker *x, const gs_node *n, uint8_t facts) {
  const bs_values *values = x->p->ctx.values;
  gs_type from;
  gs_type_at(x->p, n->kids[0], &from);
  return pv_operator_facts(values, bs_item(values, n->attr, 0), from.dtype,
                           facts, of_divisors(x, n->kids[0]));
}

static uint8_t
of_node(const looker *x, const gs_node *n) {
  uint8_t facts = PV_NONNEGATIVE | PV_POSITIVE, partial = 0;
  for (uint32_t k = 0; k < n->n_kids; k++) {
    facts &= x->facts[n->kids[k].i];
    partial |= x->facts[n->kids[k].i] & PV_PARTIAL;
  }
  if (n->op == GS_COMPUTE)
    facts = of_compute(x, n, facts);
  else if (n->op == GS_CALL)
    facts = of_call(x, n);
  else if (n->op == GS_SCAN)
    facts = PV_PARTIAL;
  else if (n->op == GS_PAD)
    facts = of_padding(x->p->ctx.values, bs_item(x->p->ctx.values, n->attr, 0),
                       facts);
  return facts | partial;
}

/* Integers are numbers, whatever they were cast from. */
static bool
is_whole(const gs_program *p, gs_term t) {
  gs_type type;
  gs_type_at(p, t, &type);
  return gs_dtype_table[type.dtype].integer;
}

static bool
stands_for_partial_scan(const char *input) {
  return !strncmp(input, PV_PARTIAL_SCAN " ", strlen(PV_PARTIAL_SCAN " "));
}

static uint8_t
of_input(const char *name, bool (*is_partial)(const char *input)) {
  return (is_partial && is_partial(name)) || stands_for_partial_scan(name)
             ? PV_PARTIAL
             : 0;
}

void
pv_partial_terms(const gs_program *p, bool (*is_partial)(const char *input),
                 uint8_t *facts) {
  looker x = {p, facts};
  const bs_values *values = p->ctx.values;
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    const gs_node *n = &p->nodes.data[k];
    if (n->op == GS_TENSOR)
      facts[k] =
          of_input(bs_as_sym(values, bs_item(values, n->attr, 0)), is_partial);
    else if (n->op == GS_CONST)
      facts[k] = of_constant(p, n);
    else
      facts[k] = of_node(&x, n);
    if (is_whole(p, (gs_term){k}))
      facts[k] = 0;
  }
}
