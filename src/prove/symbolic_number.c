/* symbolic_number.c - numbers linear in the parameters, and what is known.
 *
 * What is known is a conjunction of rows; a question is whether the rows and
 * the opposite of what is asked have no common point. */
#include "prove/form.h"
#include <isl/aff.h>
#include <isl/constraint.h>

static fm_number
put(fm_form *f, const fm_linear *l) {
  if (f->n_numbers == FM_NUMBERS) {
    f->failed = true;
    return 0;
  }
  f->number[f->n_numbers] = *l;
  return (fm_number)f->n_numbers++;
}

fm_number
fm_constant(fm_form *f, int64_t c) {
  return put(f, &(fm_linear){.constant = c});
}

fm_number
fm_parameter(fm_form *f) {
  fm_linear l = {0};
  if (f->n_params == FM_PARAMS) {
    f->failed = true;
    return 0;
  }
  l.of[f->n_params++] = 1;
  return put(f, &l);
}

static bool
combine(int64_t a, int64_t x, int64_t b, int64_t y, int64_t c, int64_t *out) {
  int64_t ax, by, sum;
  return !__builtin_mul_overflow(a, x, &ax) &&
         !__builtin_mul_overflow(b, y, &by) &&
         !__builtin_add_overflow(ax, by, &sum) &&
         !__builtin_add_overflow(sum, c, out) && *out > -(INT64_MAX >> 8) &&
         *out < INT64_MAX >> 8;
}

fm_number
fm_combine(fm_form *f, int64_t a, fm_number x, int64_t b, fm_number y,
           int64_t c) {
  fm_linear l = {0};
  const fm_linear *p = &f->number[x], *q = &f->number[y];
  bool ok = combine(a, p->constant, b, q->constant, c, &l.constant);
  for (uint32_t k = 0; k < f->n_params; k++)
    ok = ok && combine(a, p->of[k], b, q->of[k], 0, &l.of[k]);
  f->failed |= !ok;
  return put(f, &l);
}

bool
fm_is_constant(const fm_form *f, fm_number x, int64_t *out) {
  for (uint32_t k = 0; k < f->n_params; k++)
    if (f->number[x].of[k])
      return false;
  *out = f->number[x].constant;
  return true;
}

fm_number
fm_product(fm_form *f, fm_number x, fm_number y, bool *ok) {
  int64_t c;
  *ok = true;
  if (fm_is_constant(f, x, &c))
    return fm_combine(f, c, y, 0, y, 0);
  if (fm_is_constant(f, y, &c))
    return fm_combine(f, c, x, 0, x, 0);
  *ok = false;
  return x;
}

fm_number
fm_quotient(fm_form *f, fm_number x, int64_t by) {
  int64_t c;
  if (by == 1)
    return x;
  if (fm_is_constant(f, x, &c))
    return fm_constant(f, c >= 0 ? c / by : -((-c + by - 1) / by));
  fm_number q = fm_parameter(f);
  fm_assume(f, fm_combine(f, 1, x, -by, q, 0), false);
  fm_assume(f, fm_combine(f, -1, x, by, q, by - 1), false);
  return q;
}

void
fm_assume(fm_form *f, fm_number x, bool zero) {
  if (f->n_rows == FM_ROWS) {
    f->failed = true;
    return;
  }
  f->row[f->n_rows].number = x;
  f->row[f->n_rows++].zero = zero;
}

/* --- questions ------------------------------------------------------------ */

static isl_basic_set *
add_row(fm_form *f, isl_basic_set *set, const fm_linear *l, bool zero) {
  isl_local_space *space =
      isl_local_space_from_space(isl_basic_set_get_space(set));
  isl_constraint *c = zero ? isl_constraint_alloc_equality(space)
                           : isl_constraint_alloc_inequality(space);
  c = isl_constraint_set_constant_val(
      c, isl_val_int_from_si(f->isl, (long)l->constant));
  for (uint32_t k = 0; k < f->n_params; k++)
    if (l->of[k])
      c = isl_constraint_set_coefficient_val(
          c, isl_dim_param, (int)k,
          isl_val_int_from_si(f->isl, (long)l->of[k]));
  return isl_basic_set_add_constraint(set, c);
}

static isl_basic_set *
known(fm_form *f) {
  isl_basic_set *set =
      isl_basic_set_universe(isl_space_params_alloc(f->isl, f->n_params));
  for (uint32_t k = 0; k < f->n_rows; k++)
    set = add_row(f, set, &f->number[f->row[k].number], f->row[k].zero);
  return set;
}

isl_set *
fm_context(fm_form *f) {
  return isl_set_from_basic_set(known(f));
}

/* No point has a * x - 1 >= 0. */
static bool
never_positive(fm_form *f, int64_t a, fm_number x) {
  fm_number beyond = fm_combine(f, a, x, 0, x, -1);
  isl_basic_set *set = add_row(f, known(f), &f->number[beyond], false);
  isl_bool empty = isl_basic_set_is_empty(set);
  isl_basic_set_free(set);
  f->failed |= empty == isl_bool_error;
  return empty == isl_bool_true;
}

bool
fm_implied(fm_form *f, fm_number x, bool zero) {
  int64_t c;
  if (f->failed)
    return false;
  if (fm_is_constant(f, x, &c) && (zero ? c == 0 : c >= 0))
    return true;
  return never_positive(f, -1, x) && (!zero || never_positive(f, 1, x));
}

bool
fm_is_equal(fm_form *f, fm_number x, fm_number y) {
  return fm_implied(f, fm_combine(f, 1, x, -1, y, 0), true);
}

bool
fm_is_one(fm_form *f, fm_number x) {
  return fm_implied(f, fm_combine(f, 1, x, 0, x, -1), true);
}

void
fm_need(fm_form *f, fm_number x, bool zero) {
  if (!f->right)
    fm_assume(f, x, zero);
  else if (!fm_implied(f, x, zero))
    f->failed = true;
}

void
fm_need_equal(fm_form *f, fm_number x, fm_number y) {
  fm_need(f, fm_combine(f, 1, x, -1, y, 0), true);
}

void
fm_need_at_least(fm_form *f, fm_number x, int64_t least) {
  fm_need(f, fm_combine(f, 1, x, 0, x, -least), false);
}

bool
fm_choose(fm_form *f) {
  if (f->n_choices == FM_CHOICES) {
    f->failed = true;
    return false;
  }
  return f->choices >> f->n_choices++ & 1;
}
