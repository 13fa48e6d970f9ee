/* SPDX-License-Identifier: MIT */
/* symbolic_literal.c - literals that operators on narrow floats take.
 *
 * An operator on a dtype narrower than f64 takes the f32 that is nearest to
 * each literal.  The f32 of a product is as near to the product of two f32 as
 * one rounding is, but only where none of the three lies below what f32 holds
 * with all digits: 1e30 * 1e-60 is 1e-30, and 1e30 * 0 is 0.  The f32 of a sum
 * may be far from the sum of two f32: (1 + 2^-30) - 1 is 2^-30, and 1 - 1 is
 * 0.  So may that of a sum of sizes, which f32 holds exactly up to 2^24 only,
 * and f64 up to 2^53: n * n + 1 is n * n for 4098 rows.  In 16 bits the number
 * in between of two products vanishes or overflows where the number behind both
 * does not. */
#include "prove/symbolic/symbolic_form.h"
#include <float.h>

/* --- what the condition says ---------------------------------------------- */

/* Is it a number, whatever the rule is applied to, that f32 holds with all
 * digits? */
static bool
is_floor(fm_form *f, const gs_expr *e) {
  bs_value v;
  if (!fm_is_fixed(f, e) || !fm_fixed_value(f, e, &v))
    return false;
  bs_kind kind = bs_kind_of(f->values, v);
  return (kind == BS_KIND_INT || kind == BS_KIND_REAL) &&
         bs_as_real(f->values, v) >= FLT_MIN;
}

/* Of a chain of comparisons, each (abs x) that is above a number of f32. */
void
fm_assume_floors(fm_form *f, const gs_expr *e) {
  bool rises = gs_function_name(e->function)[0] == '<';
  for (uint32_t k = 0; k + 1 < e->n_args; k++) {
    const gs_expr *low = e->args[rises ? k : k + 1];
    const gs_expr *high = e->args[rises ? k + 1 : k];
    if (!gs_expr_is_call(high, "abs") || !is_floor(f, low))
      continue;
    fm_value x = fm_eval(f, high->args[0]);
    if (x.kind == FM_INT && f->n_floors < FM_BOUNDS)
      f->floor[f->n_floors++] = x.at[0];
  }
}

/* --- what the operators take ---------------------------------------------- */

static bool
has_floor(fm_form *f, fm_number x) {
  x = fm_normal(f, x);
  fm_number minus = fm_combine(f, -1, x, 0, x, 0);
  for (uint32_t k = 0; k < f->n_floors; k++) {
    fm_number known = fm_normal(f, f->floor[k]);
    if (known == x || known == minus)
      return true;
  }
  return false;
}

/* A literal of the left side, or its negative: both sides take the same. */
static bool
is_literal(const fm_form *f, const fm_poly *p) {
  fm_term t = f->term[p->at];
  return p->n == 1 && (t.times == 1 || t.times == -1) && f->mono[t.mono].n == 1;
}

/* Is the number that an operator takes as near to the real one as a product of
 * rounded numbers is?  Real numbers of f64 are as they are computed. */
static bool
is_near(fm_form *f, fm_number x, gs_dtype dtype) {
  x = fm_normal(f, x);
  fm_poly p = f->number[x];
  if (!p.real)
    return p.n <= 1;
  if (dtype == GS_F64 || is_literal(f, &p))
    return true;
  if (p.n != 1 || !has_floor(f, x))
    return false;
  fm_mono m = f->mono[f->term[p.at].mono];
  for (uint32_t k = 0; k < m.n; k++)
    if (f->var[m.var[k]].kind == FM_V_LITERAL &&
        !has_floor(f, fm_of_variable(f, m.var[k])))
      return false;
  return true;
}

/* Is the number, of sizes alone, one that literals of the dtype hold, whatever
 * the sizes are?  f32 has no 2^24 + 1, and a sum may be of so many. */
static bool
is_held(fm_form *f, fm_number x, gs_dtype dtype) {
  int64_t c, most = INT64_C(1)
                    << gs_float_digits(dtype == GS_F64 ? dtype : GS_F32);
  if (fm_is_constant(f, x, &c))
    return true;
  fm_term t = f->term[f->number[x].at];
  bool dimension = t.times == 1 && f->mono[t.mono].n == 1 &&
                   f->var[f->mono[t.mono].var[0]].bounded;
  fm_number minus = fm_combine(f, -1, x, 0, x, 0);
  return (dtype == GS_F64 && dimension) ||
         (fm_at_least(f, x, -most) && fm_at_least(f, minus, -most));
}

/* Is it a number, other than a literal of the left side, that is perhaps only
 * near to the real one? */
static bool
is_rounded(fm_form *f, fm_number x, gs_dtype dtype) {
  x = fm_normal(f, x);
  fm_poly p = f->number[x];
  return p.real ? p.n && !is_literal(f, &p) : !is_held(f, x, dtype);
}

/* The dtype of what an operator with numbers is given, where it is a float.
 * The size of a table is no number that it computes with. */
static bool
takes_numbers(const fm_side *side, const fm_node *n, gs_dtype *dtype) {
  if (n->sk->hole || n->sk->op != GS_COMPUTE || n->o.any || !n->o.n ||
      n->o.op == GS_C_LOOKUP)
    return false;
  *dtype = side->node[n->sk->kids[0]].type.dtype;
  return !gs_dtype_table[*dtype].integer;
}

/* A number that is multiplied, or added, in 16 bits. */
static bool
is_narrow(const fm_node *n, gs_dtype dtype) {
  bool computed = false;
  for (uint32_t i = 0; i < n->o.n; i++)
    computed |= !n->o.param[i].written;
  return computed && gs_dtype_table[dtype].bytes == 2 && n->o.op != GS_C_CLIP;
}

/* Kids stand before their parents. */
static uint32_t
most_below(const fm_node *n, const uint32_t *narrow) {
  uint32_t most = 0;
  for (uint32_t k = 0; !n->sk->hole && k < n->sk->n_kids; k++)
    most = narrow[n->sk->kids[k]] > most ? narrow[n->sk->kids[k]] : most;
  return most;
}

void
fm_check_literals(fm_form *f, const fm_side *side) {
  uint32_t narrow[FM_NODES]; /* such numbers one above another */
  for (uint32_t k = 0; k < side->skeleton->n && !f->why; k++) {
    const fm_node *n = &side->node[k];
    gs_dtype dtype;
    narrow[k] = most_below(n, narrow);
    if (!takes_numbers(side, n, &dtype))
      continue;
    for (uint32_t i = 0; i < n->o.n; i++) {
      if (n->o.param[i].written)
        continue;
      if (!is_near(f, n->o.param[i].number, dtype))
        fm_fail(f, "a literal is computed, and rounded once more");
      f->rounded |= is_rounded(f, n->o.param[i].number, dtype);
    }
    narrow[k] += is_narrow(n, dtype);
    if (narrow[k] > 1)
      fm_fail(f, "numbers of 16 bits vanish or overflow between operators");
  }
}
