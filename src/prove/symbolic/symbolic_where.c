/* SPDX-License-Identifier: MIT */
/* symbolic_where.c - conditions over parameters: what holds where they do.
 *
 * A clause that is not understood is dropped, so more is proved than is asked.
 * A condition inside an expression must be understood, or the value is not. */
#include "prove/symbolic/symbolic_form.h"

/* --- truth ---------------------------------------------------------------- */

/* a + least <= b */
static int
is_ordered(fm_form *f, const fm_value *a, const fm_value *b, int64_t least) {
  if (a->kind != FM_INT || b->kind != FM_INT || a->rounding || b->rounding)
    return -1;
  fm_number x = fm_combine(f, 1, b->at[0], -1, a->at[0], -least);
  if (f->number[x].real || f->why)
    return -1;
  return fm_decide(f, x);
}

static int
are_same(fm_form *f, const fm_value *a, const fm_value *b) {
  int all = 1;
  if (a->kind == FM_DATUM && b->kind == FM_DATUM)
    return bs_same(a->datum, b->datum);
  if (a->kind != b->kind || (a->kind != FM_INT && a->kind != FM_LIST))
    return -1;
  if (a->n != b->n)
    return 0;
  if (a->rounding || b->rounding)
    return -1;
  for (uint32_t k = 0; k < a->n && all == 1; k++) {
    fm_value x = fm_of_number(a->at[k]), y = fm_of_number(b->at[k]);
    all = is_ordered(f, &x, &y, 0);
    if (all == 1)
      all = is_ordered(f, &y, &x, 0);
  }
  return all;
}

static int
truth_of_chain(fm_form *f, const gs_expr *e) {
  const char *name = gs_function_name(e->function);
  fm_value a, b;
  if (e->n_args != 2 || fm_is_class(e->args[0]) || fm_is_class(e->args[1]))
    return -1;
  a = fm_eval(f, e->args[0]);
  b = fm_eval(f, e->args[1]);
  switch (name[0]) {
  case '=':
    return are_same(f, &a, &b);
  case '!': {
    int same = are_same(f, &a, &b);
    return same < 0 ? -1 : !same;
  }
  case '<':
    return is_ordered(f, &a, &b, name[1] ? 0 : 1);
  default:
    return is_ordered(f, &b, &a, name[1] ? 0 : 1);
  }
}

int
fm_truth(fm_form *f, const gs_expr *e) {
  static const char *const chains[] = {"=", "!=", "<", "<=", ">", ">="};
  bs_value v;
  if (fm_is_fixed(f, e))
    return fm_fixed_value(f, e, &v) && bs_kind_of(f->values, v) == BS_KIND_BOOL
               ? bs_as_bool(f->values, v)
               : -1;
  if (e->settable)
    return -1;
  bool every = gs_expr_is_call(e, "and");
  if (every || gs_expr_is_call(e, "or")) {
    for (uint32_t k = 0; k < e->n_args; k++) {
      int one = fm_truth(f, e->args[k]);
      if (one < 0 || one != every)
        return one;
    }
    return every;
  }
  for (size_t k = 0; k < sizeof chains / sizeof *chains; k++)
    if (gs_expr_is_call(e, chains[k]))
      return truth_of_chain(f, e);
  return -1;
}

/* --- conditions ----------------------------------------------------------- */

static bool
is_literal(const fm_form *f, const fm_value *v) {
  const fm_poly *p = &f->number[v->at[0]];
  return p->n == 1 && f->mono[f->term[p->at].mono].n == 1 &&
         f->var[f->mono[f->term[p->at].mono].var[0]].kind == FM_V_LITERAL &&
         f->term[p->at].times == 1;
}

/* What was rounded, of literals that integers take exactly, tells nothing. */
static bool
is_blurred(const fm_form *f, const fm_value *v) {
  return v->rounding && !fm_has_float(f, v->at[0]);
}

/* A sum that was rounded tells of a literal that it is as good as that sum
 * (fm_round_literals), and nothing of what it is a sum of: where x + 1 is 1, x
 * need not be 0. */
static bool
tells_nothing(const fm_form *f, const fm_value *a, const fm_value *b) {
  return is_blurred(f, a) || is_blurred(f, b) ||
         (a->rounding == FM_ROUNDED_SUM && !is_literal(f, b)) ||
         (b->rounding == FM_ROUNDED_SUM && !is_literal(f, a));
}

static void
assume_equal(fm_form *f, const fm_value *a, const fm_value *b) {
  if (a->kind != b->kind || (a->kind != FM_INT && a->kind != FM_LIST) ||
      (a->kind == FM_INT && tells_nothing(f, a, b)))
    return;
  f->nothing |= a->n != b->n; /* such lists are never equal */
  for (uint32_t k = 0; k < a->n && a->n == b->n; k++)
    fm_assume(f, fm_combine(f, 1, a->at[k], -1, b->at[k], 0), true);
}

/* lo + least <= hi */
static void
assume_order(fm_form *f, const fm_value *lo, const fm_value *hi,
             int64_t least) {
  if (lo->kind == FM_INT && hi->kind == FM_INT && !lo->rounding &&
      !hi->rounding)
    fm_assume(f, fm_combine(f, 1, hi->at[0], -1, lo->at[0], -least), false);
}

static void
assume_chain(fm_form *f, const gs_expr *e) {
  const char *name = gs_function_name(e->function);
  fm_value a = fm_eval(f, e->args[0]);
  for (uint32_t k = 1; k < e->n_args; k++) {
    fm_value b = fm_eval(f, e->args[k]);
    if (name[0] == '=')
      assume_equal(f, &a, &b);
    else if (name[0] == '<')
      assume_order(f, &a, &b, name[1] ? 0 : 1);
    else
      assume_order(f, &b, &a, name[1] ? 0 : 1);
    a = name[0] == '=' && a.kind != FM_UNKNOWN ? a : b;
  }
}

/* (<= (abs x) c) */
static void
assume_bound(fm_form *f, const gs_expr *e) {
  int64_t most;
  for (uint32_t k = 0; k + 1 < e->n_args; k++) {
    if (!gs_expr_is_call(e->args[k], "abs"))
      continue;
    fm_value x = fm_eval(f, e->args[k]->args[0]);
    fm_value c = fm_eval(f, e->args[k + 1]);
    if (x.kind == FM_INT && c.kind == FM_INT && f->n_bounds < FM_BOUNDS &&
        x.rounding != FM_ROUNDED_SUM && fm_is_constant(f, c.at[0], &most))
      f->bound[f->n_bounds++] = (fm_bound){fm_normal(f, x.at[0]), most};
  }
}

static void
assume_divides(fm_form *f, const gs_expr *e) {
  fm_value a = fm_eval(f, e->args[0]), b = fm_eval(f, e->args[1]);
  if (a.kind != FM_INT || b.kind != FM_INT || f->number[a.at[0]].real ||
      f->number[b.at[0]].real)
    return;
  fm_number q = fm_parameter(f);
  fm_number product = fm_product(f, a.at[0], q);
  if (fm_at_least(f, a.at[0], 1) && fm_at_least(f, b.at[0], 0))
    fm_assume(f, q, false);
  fm_assume(f, fm_combine(f, 1, b.at[0], -1, product, 0), true);
}

static void
assume_ones(fm_form *f, const gs_expr *e) {
  fm_value a = fm_eval(f, e->args[0]);
  for (uint32_t k = 0; k < a.n && a.kind == FM_LIST; k++)
    fm_assume(f, fm_combine(f, 1, a.at[k], 0, a.at[k], -1), true);
}

/* (is-zero a) or (is-zero a axis low high) */
static void
assume_zeros(fm_form *f, const gs_expr *e) {
  fm_zeros z = {.slot = e->args[0]->slot, .axis = -1};
  int64_t axis = -1;
  if (!fm_is_class(e->args[0]) || z.slot >= FM_SLOTS)
    return;
  if (e->n_args == 4) {
    fm_value v[3];
    for (uint32_t k = 0; k < 3; k++)
      v[k] = fm_eval(f, e->args[k + 1]);
    if (v[0].kind != FM_INT || v[1].kind != FM_INT || v[2].kind != FM_INT ||
        !fm_is_constant(f, v[0].at[0], &axis) || axis < 0 ||
        axis >= fm_type_of(f, z.slot)->rank)
      return;
    z.axis = (int32_t)axis;
    z.low = v[1].at[0];
    z.high = v[2].at[0];
  }
  if ((e->n_args == 1 || z.axis >= 0) && f->n_zeros < FM_ZEROS)
    f->zeros[f->n_zeros++] = z;
}

static void
assume_maps_zero(fm_form *f, const gs_expr *e) {
  if (e->args[0]->kind == GS_X_VAR && e->args[0]->slot < FM_SLOTS)
    f->maps_zero[e->args[0]->slot] = 1;
}

/* One of the parts holds: each is looked at in turn. */
static void
assume_some(fm_form *f, const gs_expr *e) {
  uint32_t k = 0;
  bs_value v;
  while (k + 1 < e->n_args && fm_choose(f))
    k++;
  if (fm_is_fixed(f, e->args[k]) && fm_fixed_value(f, e->args[k], &v) &&
      bs_kind_of(f->values, v) == BS_KIND_BOOL && !bs_as_bool(f->values, v))
    f->nothing = true; /* not this one */
  fm_assume_expr(f, e->args[k]);
}

/* A literal of a float that the condition equals to anything is only as near to
 * it as a product is. */
void
fm_round_literals(fm_form *f, const gs_expr *e) {
  for (uint32_t k = 0; k < e->n_args; k++) {
    const gs_expr *x = e->args[k];
    if (gs_expr_is_call(e, "=") && x->kind == GS_X_VAR && x->slot < FM_SLOTS &&
        f->value[x->slot].kind == FM_INT &&
        fm_has_float(f, f->value[x->slot].at[0]))
      f->value[x->slot].rounding = FM_ROUNDED_PRODUCT;
    fm_round_literals(f, x);
  }
}

/* What holds when e does, as far as it is said plainly. */
void
fm_assume_expr(fm_form *f, const gs_expr *e) {
  static const char *const chains[] = {"=", "<", "<=", ">", ">="};
  static const struct {
    const char *name;
    void (*assume)(fm_form *, const gs_expr *);
  } facts[] = {{"divides", assume_divides}, {"all-ones", assume_ones},
               {"is-zero", assume_zeros},   {"maps-zero", assume_maps_zero},
               {"<=", assume_bound},        {"<=", fm_assume_floors},
               {"<", fm_assume_floors},     {">=", fm_assume_floors},
               {">", fm_assume_floors},     {"or", assume_some}};
  if (f->why || e->kind != GS_X_CALL ||
      (e->settable && !gs_expr_is_call(e, "and")))
    return;
  for (size_t k = 0; k < sizeof facts / sizeof *facts; k++)
    if (gs_expr_is_call(e, facts[k].name) &&
        (facts[k].assume == assume_maps_zero || !fm_is_fixed(f, e)))
      facts[k].assume(f, e);
  if (fm_is_fixed(f, e))
    return;
  if (gs_expr_is_call(e, "and"))
    for (uint32_t k = 0; k < e->n_args; k++)
      fm_assume_expr(f, e->args[k]);
  for (size_t k = 0; k < sizeof chains / sizeof *chains; k++)
    if (gs_expr_is_call(e, chains[k]) && !fm_is_class(e->args[0]))
      assume_chain(f, e);
}
