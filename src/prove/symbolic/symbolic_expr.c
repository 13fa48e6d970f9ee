/* SPDX-License-Identifier: MIT */
/* symbolic_expr.c - expressions of a rule over parameters.
 *
 * What depends on ranks, axes and operators alone is evaluated as in a run.
 * The rest is arithmetic and lists; where a value is not understood it is
 * unknown, which drops a clause of the condition and ends a right side. */
#include "prove/symbolic/symbolic_form.h"
#include <assert.h>
#include <string.h>

/* --- fixed expressions ---------------------------------------------------- */

/* What the operator alone says, whatever its parameters. */
static bool
is_operator_fact(const fm_form *f, const gs_expr *e) {
  static const char *const names[] = {"op-kind", "op-name", "is-associative"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (gs_expr_is_call(e, names[k]))
      return e->n_args == 1 && e->args[0]->kind == GS_X_VAR &&
             e->args[0]->slot < FM_SLOTS && f->operator[e->args[0]->slot];
  return false;
}

/* How long a list is, is told by the form. */
static bool
is_length(const fm_form *f, const gs_expr *e) {
  return (gs_expr_is_call(e, "rank") || gs_expr_is_call(e, "len")) &&
         e->n_args == 1 && e->args[0]->kind == GS_X_VAR &&
         e->args[0]->sort != GS_SORT_CLASS &&
         e->args[0]->slot < f->of->rule->scope.vars.len &&
         bs_kind_of(f->values, (bs_value){f->of->slots[e->args[0]->slot]}) ==
             BS_KIND_LIST;
}

/* Facts of a term that its form says; its dtype only where forms are told
 * apart by dtypes. */
static bool
is_fixed_fact(const fm_form *f, const gs_expr *e) {
  static const char *const names[] = {"rank", "access-rank", "compute-rank",
                                      "dtype", "axes"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (gs_expr_is_call(e, names[k]))
      return e->n_args == 1 && fm_is_class(e->args[0]) &&
             (f->asks_dtype || strcmp(names[k], "dtype"));
  return false;
}

bool
fm_is_fixed(const fm_form *f, const gs_expr *e) {
  if (e->settable)
    return false;
  if (e->kind == GS_X_LITERAL)
    return true;
  if (e->kind == GS_X_VAR)
    return e->sort != GS_SORT_CLASS && e->slot < FM_SLOTS && f->fixed[e->slot];
  if (is_fixed_fact(f, e) || is_operator_fact(f, e) || is_length(f, e))
    return true;
  for (uint32_t k = 0; k < e->n_args; k++)
    if (!fm_is_fixed(f, e->args[k]))
      return false;
  return true;
}

static bs_value
type_of(void *facts, uint32_t term) {
  const fm_form *f = facts;
  gs_type type;
  if (term >= f->of->p->nodes.len)
    return BS_NIL;
  gs_type_at(f->of->p, (gs_term){term}, &type);
  return gs_type_intern(f->values, &type);
}

bool
fm_fixed_value(fm_form *f, const gs_expr *e, bs_value *out) {
  gs_env env = {.values = f->values,
                .slots = f->of->slots,
                .n_slots = f->of->rule ? f->of->rule->scope.vars.len : 0,
                .facts = f,
                .type_of = type_of};
  return gs_expr_eval(e, &env, out);
}

static const fm_value unknown = {.kind = FM_UNKNOWN};

/* --- values --------------------------------------------------------------- */

static fm_value
of_datum(fm_form *f, bs_value v) {
  fm_value out = {.kind = FM_DATUM, .datum = v};
  int64_t item[GS_MAX_RANK];
  if (bs_kind_of(f->values, v) == BS_KIND_INT)
    return fm_of_number(fm_of_int(f, bs_as_int(f->values, v)));
  if (bs_kind_of(f->values, v) != BS_KIND_LIST ||
      !bs_to_ints(f->values, v, item, GS_MAX_RANK, &out.n))
    return out;
  out.kind = FM_LIST;
  for (uint32_t k = 0; k < out.n; k++)
    out.at[k] = fm_of_int(f, item[k]);
  return out;
}

const fm_type *
fm_type_of(fm_form *f, uint32_t slot) {
  gs_type sample;
  fm_type *t = slot < FM_SLOTS ? &f->type[slot] : NULL;
  if (!t || f->of->slots[slot] >= f->of->p->nodes.len) {
    fm_fail(f, "a term that nothing matches");
    return &f->type[0];
  }
  if (f->typed[slot])
    return t;
  f->typed[slot] = 1;
  gs_type_at(f->of->p, (gs_term){f->of->slots[slot]}, &sample);
  t->access = sample.access;
  t->rank = sample.rank;
  t->dtype = sample.dtype;
  for (uint32_t k = 0; k < t->rank; k++) {
    t->dim[k] = f->of->open ? fm_of_int(f, sample.dim[k]) : fm_dimension(f);
    fm_assume(f, fm_combine(f, 1, t->dim[k], 0, t->dim[k], -1), false);
  }
  return t;
}

static fm_value
dims(const fm_type *t, uint32_t from, uint32_t to) {
  assert(from <= to && to <= t->rank);
  fm_value out = {.kind = FM_LIST, .n = to - from};
  for (uint32_t k = from; k < to; k++)
    out.at[k - from] = t->dim[k];
  return out;
}

/* --- evaluation ----------------------------------------------------------- */

static fm_value
eval_fact(fm_form *f, const gs_expr *e) {
  const fm_type *t = fm_type_of(f, e->args[0]->slot);
  if (f->why)
    return unknown;
  if (gs_expr_is_call(e, "shape"))
    return dims(t, 0, t->rank);
  if (gs_expr_is_call(e, "access-shape"))
    return dims(t, 0, t->access);
  if (gs_expr_is_call(e, "compute-shape"))
    return dims(t, t->access, t->rank);
  if (gs_expr_is_call(e, "elements"))
    return fm_product_of(f, t->dim, t->rank);
  if (!gs_expr_is_call(e, "dim"))
    return unknown;
  fm_value axis = fm_eval(f, e->args[1]);
  int64_t d;
  if (axis.kind != FM_INT || !fm_is_constant(f, axis.at[0], &d) || d < 0 ||
      d >= t->rank)
    return unknown;
  return fm_of_number(t->dim[d]);
}

static fm_value
eval(fm_form *f, const gs_expr *e) {
  bs_value v;
  if (f->why)
    return unknown;
  if (fm_is_fixed(f, e))
    return fm_fixed_value(f, e, &v) ? of_datum(f, v) : unknown;
  if (e->settable)
    return unknown; /* of a parameter of the rules, which may be any */
  if (e->kind == GS_X_VAR)
    return e->sort != GS_SORT_CLASS && e->slot < FM_SLOTS ? f->value[e->slot]
                                                          : unknown;
  if (e->n_args && fm_is_class(e->args[0]))
    return eval_fact(f, e);
  if (gs_expr_is_call(e, "if")) {
    int holds = fm_truth(f, e->args[0]);
    return holds < 0 ? unknown : fm_eval(f, e->args[holds ? 1 : 2]);
  }
  return fm_call(f, e);
}

/* Nesting is at most GS_MAX_NESTING.  What has the sort of real numbers is one,
 * be it whole. */
fm_value
fm_eval(fm_form *f, const gs_expr *e) {
  fm_value v = eval(f, e);
  v.real |= v.kind == FM_INT && e->sort == GS_SORT_REAL;
  return v;
}

/* --- operators ------------------------------------------------------------ */

static bool
read_parameter(fm_form *f, const gs_expr *e, fm_operator *o, uint32_t k) {
  assert(k < 2);
  fm_value v = fm_eval(f, e);
  gs_dtype dtype;
  if (v.kind == FM_INT) {
    o->param[k].number = v.at[0];
    /* what integers are to take must not have been rounded, and is no -0 */
    return (v.rounding != FM_ROUNDED_SUM && !v.minus_zero) ||
           fm_has_float(f, v.at[0]);
  }
  if (v.kind != FM_DATUM)
    return false;
  o->param[k].written = true;
  if (bs_kind_of(f->values, v.datum) == BS_KIND_REAL)
    o->param[k].real = bs_as_real(f->values, v.datum);
  else if (bs_kind_of(f->values, v.datum) == BS_KIND_SYM &&
           gs_dtype_find(bs_as_sym(f->values, v.datum), &dtype))
    o->param[k].real = dtype;
  else
    return false;
  return true;
}

/* A number of an operator that may be any: the size of a table, or a
 * literal. */
fm_number
fm_any_number(fm_form *f, gs_compute op, uint32_t key) {
  assert(op < GS_COMPUTE_COUNT);
  bool size = op == GS_C_LOOKUP;
  return fm_of_variable(
      f,
      fm_variable(f, (fm_var){.kind = size ? FM_V_SIZE : FM_V_LITERAL,
                              .bounded = size,
                              .key = (uint16_t)(size ? FM_VARS + key : key)}));
}

/* That of a variable, whose parameters may be any. */
static bool
operator_of_slot(fm_form *f, uint32_t slot, fm_operator *o) {
  assert(slot < FM_SLOTS);
  bs_value now = {f->of->slots[slot]}, p;
  gs_dtype dtype;
  if (!gs_compute_of(f->values, now, &o->op))
    return false;
  o->slot = slot;
  o->n = (uint32_t)strlen(gs_compute_table[o->op].params);
  for (uint32_t k = 0; k < o->n && k < 2; k++) {
    p = gs_compute_param(f->values, now, k);
    if (gs_compute_table[o->op].params[k] == 'r') {
      o->param[k].number = fm_any_number(f, o->op, FM_SLOTS + 2 * slot + k);
    } else if (bs_kind_of(f->values, p) == BS_KIND_SYM &&
               gs_dtype_find(bs_as_sym(f->values, p), &dtype)) {
      o->param[k].written = true;
      o->param[k].real = dtype;
    } else {
      return false;
    }
  }
  return true;
}

/* Literals all through. */
static bool
operator_of_value(fm_form *f, bs_value v, fm_operator *o) {
  if (!gs_compute_of(f->values, v, &o->op))
    return false;
  o->n = (uint32_t)strlen(gs_compute_table[o->op].params);
  for (uint32_t k = 0; k < o->n; k++) {
    bs_value p = gs_compute_param(f->values, v, k);
    bs_kind kind = bs_kind_of(f->values, p);
    gs_dtype dtype;
    o->param[k].written = o->op != GS_C_LOOKUP || kind != BS_KIND_INT;
    if (!o->param[k].written)
      o->param[k].number = fm_constant(f, bs_as_int(f->values, p));
    else if (kind == BS_KIND_INT || kind == BS_KIND_REAL)
      o->param[k].real = bs_as_real(f->values, p);
    else if (kind == BS_KIND_SYM &&
             gs_dtype_find(bs_as_sym(f->values, p), &dtype))
      o->param[k].real = dtype;
    else
      return false;
  }
  return true;
}

bool
fm_operator_of(fm_form *f, const gs_expr *e, fm_operator *out) {
  bs_value name;
  memset(out, 0, sizeof *out);
  out->slot = UINT32_MAX;
  if (e->kind == GS_X_VAR && e->slot < FM_SLOTS && f->of->any >> e->slot & 1) {
    bs_value now = {f->of->slots[e->slot]};
    out->slot = e->slot;
    out->any = true;
    return gs_compute_of(f->values, now, &out->op) &&
           (out->op != GS_C_CAST || operator_of_value(f, now, out));
  }
  if (fm_is_fixed(f, e))
    return fm_fixed_value(f, e, &name) && operator_of_value(f, name, out);
  if (e->kind == GS_X_VAR && e->slot < FM_SLOTS && f->operator[e->slot])
    return operator_of_slot(f, e->slot, out);
  if (!gs_expr_is_call(e, "list") || !e->n_args ||
      !fm_is_fixed(f, e->args[0]) || !fm_fixed_value(f, e->args[0], &name) ||
      !gs_compute_of(f->values, name, &out->op))
    return false;
  out->n = e->n_args - 1;
  if (out->n != strlen(gs_compute_table[out->op].params) || out->n > 2)
    return false;
  for (uint32_t k = 0; k < out->n; k++)
    if (!read_parameter(f, e->args[k + 1], out, k))
      return false;
  return true;
}
