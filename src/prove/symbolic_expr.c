/* symbolic_expr.c - expressions of a rule over parameters.
 *
 * What depends on ranks, axes and operators alone is evaluated as in a run.
 * The rest is arithmetic and lists; where a value is not understood it is
 * unknown, which drops a clause of the condition and ends a right side. */
#include "prove/form.h"
#include <string.h>

/* --- fixed expressions ---------------------------------------------------- */

static bool
is_named(const gs_expr *e, const char *name) {
  return e->kind == GS_X_CALL && !strcmp(gs_function_name(e->function), name);
}

static bool
is_class_var(const gs_expr *e) {
  return e->kind == GS_X_VAR && e->sort == GS_SORT_CLASS;
}

/* Facts of a term that its form says. */
static bool
is_fixed_fact(const gs_expr *e) {
  static const char *const names[] = {"rank", "access-rank", "compute-rank",
                                      "dtype", "axes"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (is_named(e, names[k]))
      return e->n_args == 1 && is_class_var(e->args[0]);
  return false;
}

bool
fm_is_fixed(const fm_form *f, const gs_expr *e) {
  if (e->kind == GS_X_LITERAL)
    return true;
  if (e->kind == GS_X_VAR)
    return e->sort != GS_SORT_CLASS && e->slot < FM_SLOTS && f->fixed[e->slot];
  if (is_fixed_fact(e))
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

static bool
eval_fixed(fm_form *f, const gs_expr *e, bs_value *out) {
  gs_env env = {.values = f->values,
                .slots = f->of->slots,
                .n_slots = f->of->rule->scope.vars.len,
                .facts = f,
                .type_of = type_of};
  return gs_expr_eval(e, &env, out);
}

/* --- values --------------------------------------------------------------- */

static fm_value
of_number(fm_number x) {
  return (fm_value){.kind = FM_INT, .n = 1, .at = {x}};
}

static const fm_value unknown = {.kind = FM_UNKNOWN};

fm_value
fm_of_datum(fm_form *f, bs_value v) {
  fm_value out = {.kind = FM_DATUM, .datum = v};
  int64_t item[GS_MAX_RANK];
  if (bs_kind_of(f->values, v) == BS_KIND_INT)
    return of_number(fm_constant(f, bs_as_int(f->values, v)));
  if (bs_kind_of(f->values, v) != BS_KIND_LIST ||
      !bs_to_ints(f->values, v, item, GS_MAX_RANK, &out.n))
    return out;
  out.kind = FM_LIST;
  for (uint32_t k = 0; k < out.n; k++)
    out.at[k] = fm_constant(f, item[k]);
  return out;
}

const fm_type *
fm_type_of(fm_form *f, uint32_t slot) {
  gs_type sample;
  fm_type *t = slot < FM_SLOTS ? &f->type[slot] : NULL;
  if (!t || f->of->slots[slot] >= f->of->p->nodes.len) {
    f->failed = true;
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
    t->dim[k] = fm_parameter(f);
    fm_assume(f, fm_combine(f, 1, t->dim[k], 0, t->dim[k], -1), false);
  }
  return t;
}

static fm_value
dims(const fm_type *t, uint32_t from, uint32_t to) {
  fm_value out = {.kind = FM_LIST, .n = to - from};
  for (uint32_t k = from; k < to; k++)
    out.at[k - from] = t->dim[k];
  return out;
}

/* --- functions ------------------------------------------------------------ */

typedef struct call {
  fm_form *f;
  const gs_expr *e;
  fm_value a[4];
  uint32_t n;
} call;

/* A constant argument from `least` to `most`. */
static bool
constant_at(const call *c, uint32_t k, int64_t least, int64_t most,
            uint32_t *out) {
  int64_t v;
  if (k >= c->n || c->a[k].kind != FM_INT ||
      !fm_is_constant(c->f, c->a[k].at[0], &v) || v < least || v > most)
    return false;
  *out = (uint32_t)v;
  return true;
}

static fm_value
sum_of(const call *c, int64_t sign) {
  for (uint32_t k = 0; k < c->n; k++)
    if (c->a[k].kind != FM_INT)
      return unknown;
  fm_number x = c->a[0].at[0];
  if (c->n == 1)
    return of_number(fm_combine(c->f, sign, x, 0, x, 0));
  for (uint32_t k = 1; k < c->n; k++)
    x = fm_combine(c->f, 1, x, sign, c->a[k].at[0], 0);
  return of_number(x);
}

static fm_value
fn_add(const call *c) {
  return sum_of(c, 1);
}

static fm_value
fn_sub(const call *c) {
  return sum_of(c, -1);
}

static fm_value
product_of(fm_form *f, const fm_number *at, uint32_t n) {
  fm_number x = fm_constant(f, 1);
  bool ok = true;
  for (uint32_t k = 0; k < n && ok; k++)
    x = fm_product(f, x, at[k], &ok);
  return ok ? of_number(x) : unknown;
}

static fm_value
fn_mul(const call *c) {
  fm_number at[4];
  for (uint32_t k = 0; k < c->n; k++) {
    if (c->a[k].kind != FM_INT)
      return unknown;
    at[k] = c->a[k].at[0];
  }
  return product_of(c->f, at, c->n);
}

static fm_value
fn_prod(const call *c) {
  return c->a[0].kind == FM_LIST ? product_of(c->f, c->a[0].at, c->a[0].n)
                                 : unknown;
}

static fm_value
fn_sum(const call *c) {
  fm_number x = fm_constant(c->f, 0);
  if (c->a[0].kind != FM_LIST)
    return unknown;
  for (uint32_t k = 0; k < c->a[0].n; k++)
    x = fm_combine(c->f, 1, x, 1, c->a[0].at[k], 0);
  return of_number(x);
}

static fm_value
fn_div(const call *c) {
  uint32_t by;
  if (c->a[0].kind != FM_INT || !constant_at(c, 1, 1, 1 << 30, &by))
    return unknown;
  return of_number(fm_quotient(c->f, c->a[0].at[0], by));
}

static fm_value
fn_mod(const call *c) {
  uint32_t by;
  if (c->a[0].kind != FM_INT || !constant_at(c, 1, 1, 1 << 30, &by))
    return unknown;
  fm_number x = c->a[0].at[0], q = fm_quotient(c->f, x, by);
  return of_number(fm_combine(c->f, 1, x, -(int64_t)by, q, 0));
}

static fm_value
by_items(const call *c, char what) {
  fm_value out = c->a[0];
  if (out.kind != FM_LIST || c->a[1].kind != FM_LIST || out.n != c->a[1].n)
    return unknown;
  for (uint32_t k = 0; k < out.n; k++) {
    call item = {.f = c->f, .n = 2};
    item.a[0] = of_number(c->a[0].at[k]);
    item.a[1] = of_number(c->a[1].at[k]);
    fm_value v = what == '+'   ? fn_add(&item)
                 : what == '-' ? fn_sub(&item)
                 : what == '*' ? fn_mul(&item)
                 : what == '/' ? fn_div(&item)
                               : fn_mod(&item);
    if (v.kind != FM_INT)
      return unknown;
    out.at[k] = v.at[0];
  }
  return out;
}

static fm_value
fn_add_lists(const call *c) {
  return by_items(c, '+');
}

static fm_value
fn_sub_lists(const call *c) {
  return by_items(c, '-');
}

static fm_value
fn_mul_lists(const call *c) {
  return by_items(c, '*');
}

static fm_value
fn_div_lists(const call *c) {
  return by_items(c, '/');
}

static fm_value
fn_mod_lists(const call *c) {
  return by_items(c, '%');
}

/* Items and lists one after another. */
static fm_value
joined(const call *c, bool items, bool lists) {
  fm_value out = {.kind = FM_LIST};
  for (uint32_t k = 0; k < c->n; k++) {
    const fm_value *a = &c->a[k];
    if (!((a->kind == FM_INT && items) || (a->kind == FM_LIST && lists)) ||
        out.n + a->n > GS_MAX_RANK)
      return unknown;
    for (uint32_t i = 0; i < a->n; i++)
      out.at[out.n++] = a->at[i];
  }
  return out;
}

static fm_value
fn_list(const call *c) {
  return joined(c, true, false);
}

static fm_value
fn_append(const call *c) {
  return joined(c, false, true);
}

static fm_value
fn_cons(const call *c) {
  if (c->a[0].kind != FM_INT || c->a[1].kind != FM_LIST)
    return unknown;
  return joined(c, true, true);
}

static fm_value
cut(const fm_value *a, uint32_t from, uint32_t to) {
  fm_value out = {.kind = FM_LIST, .n = to - from};
  for (uint32_t k = from; k < to; k++)
    out.at[k - from] = a->at[k];
  return out;
}

static fm_value
fn_take(const call *c) {
  uint32_t k;
  if (c->a[0].kind != FM_LIST || !constant_at(c, 1, 0, c->a[0].n, &k))
    return unknown;
  return cut(&c->a[0], 0, k);
}

static fm_value
fn_drop(const call *c) {
  uint32_t k;
  if (c->a[0].kind != FM_LIST || !constant_at(c, 1, 0, c->a[0].n, &k))
    return unknown;
  return cut(&c->a[0], k, c->a[0].n);
}

static fm_value
fn_slice_list(const call *c) {
  uint32_t lo, hi;
  if (c->a[0].kind != FM_LIST || !constant_at(c, 2, 0, c->a[0].n, &hi) ||
      !constant_at(c, 1, 0, hi, &lo))
    return unknown;
  return cut(&c->a[0], lo, hi);
}

static fm_value
fn_nth(const call *c) {
  uint32_t k;
  if (c->a[0].kind != FM_LIST ||
      !constant_at(c, 1, 0, (int64_t)c->a[0].n - 1, &k))
    return unknown;
  return of_number(c->a[0].at[k]);
}

static fm_value
fn_last(const call *c) {
  if (c->a[0].kind != FM_LIST || !c->a[0].n)
    return unknown;
  return of_number(c->a[0].at[c->a[0].n - 1]);
}

static fm_value
fn_set_nth(const call *c) {
  fm_value out = c->a[0];
  uint32_t k;
  if (out.kind != FM_LIST || c->a[2].kind != FM_INT ||
      !constant_at(c, 1, 0, (int64_t)out.n - 1, &k))
    return unknown;
  out.at[k] = c->a[2].at[0];
  return out;
}

static fm_value
fn_insert_nth(const call *c) {
  fm_value out = c->a[0];
  uint32_t k;
  if (out.kind != FM_LIST || c->a[2].kind != FM_INT || out.n == GS_MAX_RANK ||
      !constant_at(c, 1, 0, out.n, &k))
    return unknown;
  for (uint32_t i = out.n++; i > k; i--)
    out.at[i] = out.at[i - 1];
  out.at[k] = c->a[2].at[0];
  return out;
}

static fm_value
fn_remove_nth(const call *c) {
  fm_value out = c->a[0];
  uint32_t k;
  if (out.kind != FM_LIST || !constant_at(c, 1, 0, (int64_t)out.n - 1, &k))
    return unknown;
  for (out.n--; k < out.n; k++)
    out.at[k] = out.at[k + 1];
  return out;
}

static fm_value
fn_reverse(const call *c) {
  fm_value out = c->a[0];
  if (out.kind != FM_LIST)
    return unknown;
  for (uint32_t k = 0; k < out.n; k++)
    out.at[k] = c->a[0].at[out.n - 1 - k];
  return out;
}

static fm_value
fn_len(const call *c) {
  return c->a[0].kind == FM_LIST ? of_number(fm_constant(c->f, c->a[0].n))
                                 : unknown;
}

static fm_value
fn_fill(const call *c) {
  fm_value out = {.kind = FM_LIST};
  if (c->a[1].kind != FM_INT || !constant_at(c, 0, 0, GS_MAX_RANK, &out.n))
    return unknown;
  for (uint32_t k = 0; k < out.n; k++)
    out.at[k] = c->a[1].at[0];
  return out;
}

/* Item b[i] of a. */
static fm_value
fn_permute(const call *c) {
  fm_value out = c->a[1];
  int64_t at;
  if (out.kind != FM_LIST || c->a[0].kind != FM_LIST)
    return unknown;
  for (uint32_t k = 0; k < out.n; k++) {
    if (!fm_is_constant(c->f, c->a[1].at[k], &at) || at < 0 || at >= c->a[0].n)
      return unknown;
    out.at[k] = c->a[0].at[at];
  }
  return out;
}

static const struct {
  const char *name;
  fm_value (*eval)(const call *);
} functions[] = {
    {"+", fn_add},
    {"-", fn_sub},
    {"*", fn_mul},
    {"/", fn_div},
    {"mod", fn_mod},
    {"prod", fn_prod},
    {"sum", fn_sum},
    {"len", fn_len},
    {"rank", fn_len},
    {"list", fn_list},
    {"append", fn_append},
    {"cons", fn_cons},
    {"take", fn_take},
    {"drop", fn_drop},
    {"slice-list", fn_slice_list},
    {"nth", fn_nth},
    {"last", fn_last},
    {"set-nth", fn_set_nth},
    {"insert-nth", fn_insert_nth},
    {"remove-nth", fn_remove_nth},
    {"reverse", fn_reverse},
    {"fill", fn_fill},
    {"permute", fn_permute},
    {"add-lists", fn_add_lists},
    {"sub-lists", fn_sub_lists},
    {"mul-lists", fn_mul_lists},
    {"div-lists", fn_div_lists},
    {"mod-lists", fn_mod_lists},
};

/* --- evaluation ----------------------------------------------------------- */

static fm_value
eval_fact(fm_form *f, const gs_expr *e) {
  const fm_type *t = fm_type_of(f, e->args[0]->slot);
  if (f->failed)
    return unknown;
  if (is_named(e, "shape"))
    return dims(t, 0, t->rank);
  if (is_named(e, "access-shape"))
    return dims(t, 0, t->access);
  if (is_named(e, "compute-shape"))
    return dims(t, t->access, t->rank);
  if (is_named(e, "elements"))
    return product_of(f, t->dim, t->rank);
  if (!is_named(e, "dim"))
    return unknown;
  fm_value axis = fm_eval(f, e->args[1]);
  int64_t d;
  if (axis.kind != FM_INT || !fm_is_constant(f, axis.at[0], &d) || d < 0 ||
      d >= t->rank)
    return unknown;
  return of_number(t->dim[d]);
}

/* Nesting is at most GS_MAX_NESTING. */
fm_value
fm_eval(fm_form *f, const gs_expr *e) {
  bs_value v;
  if (f->failed)
    return unknown;
  if (fm_is_fixed(f, e))
    return eval_fixed(f, e, &v) ? fm_of_datum(f, v) : unknown;
  if (e->kind == GS_X_VAR)
    return e->sort != GS_SORT_CLASS && e->slot < FM_SLOTS ? f->value[e->slot]
                                                          : unknown;
  if (e->n_args && is_class_var(e->args[0]))
    return eval_fact(f, e);
  if (is_named(e, "if")) {
    if (!fm_is_fixed(f, e->args[0]) || !eval_fixed(f, e->args[0], &v) ||
        bs_kind_of(f->values, v) != BS_KIND_BOOL)
      return unknown;
    return fm_eval(f, e->args[bs_as_bool(f->values, v) ? 1 : 2]);
  }
  call c = {.f = f, .e = e, .n = e->n_args};
  if (c.n > 4 || !c.n)
    return unknown;
  for (uint32_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
    if (!is_named(e, functions[k].name))
      continue;
    for (uint32_t i = 0; i < c.n; i++)
      c.a[i] = fm_eval(f, e->args[i]);
    return functions[k].eval(&c);
  }
  return unknown;
}

/* --- conditions ----------------------------------------------------------- */

static void
assume_equal(fm_form *f, const fm_value *a, const fm_value *b) {
  if (a->kind != b->kind || (a->kind != FM_INT && a->kind != FM_LIST) ||
      a->n != b->n)
    return;
  for (uint32_t k = 0; k < a->n; k++)
    fm_assume(f, fm_combine(f, 1, a->at[k], -1, b->at[k], 0), true);
}

/* lo + least <= hi */
static void
assume_order(fm_form *f, const fm_value *lo, const fm_value *hi,
             int64_t least) {
  if (lo->kind == FM_INT && hi->kind == FM_INT)
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

static void
assume_divides(fm_form *f, const gs_expr *e) {
  fm_value a = fm_eval(f, e->args[0]), b = fm_eval(f, e->args[1]);
  int64_t by;
  if (a.kind != FM_INT || b.kind != FM_INT ||
      !fm_is_constant(f, a.at[0], &by) || by < 1)
    return;
  fm_number q = fm_parameter(f);
  fm_assume(f, fm_combine(f, 1, b.at[0], -by, q, 0), true);
}

/* What holds when e does, as far as it is affine. */
void
fm_assume_expr(fm_form *f, const gs_expr *e) {
  static const char *const chains[] = {"=", "<", "<=", ">", ">="};
  if (f->failed || e->kind != GS_X_CALL || fm_is_fixed(f, e))
    return;
  if (is_named(e, "and"))
    for (uint32_t k = 0; k < e->n_args; k++)
      fm_assume_expr(f, e->args[k]);
  if (is_named(e, "divides"))
    assume_divides(f, e);
  for (size_t k = 0; k < sizeof chains / sizeof *chains; k++)
    if (is_named(e, chains[k]) && !is_class_var(e->args[0]))
      assume_chain(f, e);
}
