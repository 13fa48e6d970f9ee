/* SPDX-License-Identifier: MIT */
/* symbolic_value.c - values of elements whose indices are polynomials.
 *
 * They are the values of value.h.  A leaf is an element of a variable's term
 * at a tuple of indices, a size or literal as a number, or what a reduction
 * comes to.  Leaves are equal when their tuples are: normal forms of numbers
 * that are equal on this path may differ, numbers that differ never meet. */
#include "prove/symbolic/symbolic_form.h"
#include <assert.h>
#include <string.h>

enum { MAX_DEPTH = 40 };

static pv_value
leaf(fm_form *f, gs_dtype d, uint32_t source, uint32_t what, bool positive,
     bool partial) {
  assert(d < GS_DTYPE_COUNT);
  uint32_t words[3] = {source, what, 0};
  pv_node node = {.kind = PV_LEAF,
                  .dtype = (uint8_t)d,
                  .positive = positive,
                  .nonnegative = positive,
                  .partial = partial,
                  .formal = source == FM_LEAF_REDUCTION};
  return pv_intern(&f->elements, node, words, 3);
}

/* --- numbers -------------------------------------------------------------- */

static pv_value
value_of_term(fm_form *f, gs_dtype d, fm_term t) {
  pv_values *v = &f->elements;
  fm_mono m = f->mono[t.mono];
  pv_number n = pv_number_of_int(d, t.times);
  if (!pv_is_integer(d) && !pv_number_of_real(d, (double)t.times, &n))
    fm_fail(f, "a number that is not a fraction");
  if (t.times > INT64_C(1) << 50 || t.times < -(INT64_C(1) << 50))
    fm_fail(f, "a number that is not a fraction");
  pv_value made = pv_number_value(v, d, n);
  for (uint32_t k = 0; k < m.n && made; k++)
    made = pv_multiply(v, d, made,
                       leaf(f, d, FM_LEAF_NUMBER, m.var[k],
                            !pv_is_integer(d) && f->var[m.var[k]].positive,
                            false));
  return made;
}

pv_value
fm_value_of(fm_form *f, gs_dtype d, fm_number x) {
  assert(d < GS_DTYPE_COUNT && (f->why || x < f->n_numbers));
  pv_values *v = &f->elements;
  fm_poly p = f->number[fm_normal(f, x)];
  uint32_t mark = pv_sum_open(v);
  for (uint32_t k = 0; k < p.n && !f->why; k++)
    pv_sum_add(v, d, PV_ONE, value_of_term(f, d, f->term[p.at + k]));
  return pv_sum_close(v, d, mark);
}

/* --- elements ------------------------------------------------------------- */

/* Other normal forms of the same indices? */
static bool
is_same(fm_form *f, const fm_tuple *a, const fm_tuple *b) {
  if (a->slot != b->slot || a->n != b->n)
    return false;
  for (uint32_t k = 0; k < a->n; k++)
    if (f->number[a->at[k]].frame || f->number[b->at[k]].frame)
      return false;
  for (uint32_t k = 0; k < a->n; k++)
    if (!fm_is_equal(f, a->at[k], b->at[k]))
      return false;
  return true;
}

static uint32_t
tuple_of(fm_form *f, const fm_tuple *t) {
  for (uint32_t k = 0; k < f->n_tuples; k++)
    if (!memcmp(&f->tuple[k], t, sizeof *t))
      return k;
  for (uint32_t k = 0; k < f->n_tuples && f->careful && !f->frames; k++)
    if (is_same(f, &f->tuple[k], t))
      return k;
  if (f->n_tuples == FM_TUPLES) {
    fm_fail(f, "too many elements");
    return 0;
  }
  f->tuple[f->n_tuples] = *t;
  return f->n_tuples++;
}

static pv_value
leaf_of_tuple(fm_form *f, gs_dtype d, const fm_tuple *t) {
  return leaf(f, d, t->slot, tuple_of(f, t), false, false);
}

/* Is the element in a region that is known to be zeros? */
static bool
is_zero(fm_form *f, uint32_t slot, const fm_number *index) {
  for (uint32_t k = 0; k < f->n_zeros; k++) {
    const fm_zeros *z = &f->zeros[k];
    if (z->slot != slot)
      continue;
    if (z->axis < 0)
      return true;
    fm_number at = index[z->axis], low = z->low, high = z->high;
    if (fm_decide(f, fm_combine(f, 1, at, -1, low, 0)) &&
        fm_decide(f, fm_combine(f, 1, high, -1, at, -1)))
      return true;
  }
  return false;
}

pv_value
fm_leaf(fm_form *f, uint32_t slot, gs_dtype d, const fm_type *type,
        const fm_number *index) {
  assert(type->rank <= GS_MAX_RANK);
  fm_tuple t;
  memset(&t, 0, sizeof t);
  t.slot = (uint16_t)slot;
  t.n = (uint16_t)type->rank;
  for (uint32_t k = 0; k < type->rank; k++)
    t.at[k] =
        fm_is_one(f, type->dim[k]) ? fm_constant(f, 0) : fm_normal(f, index[k]);
  if (is_zero(f, slot, t.at))
    return pv_number_value(&f->elements, d, PV_ZERO);
  return leaf_of_tuple(f, d, &t);
}

/* Of a sum of what is above 0, over some items at least. */
static bool
is_positive(const fm_form *f, const fm_reduction *r) {
  const pv_node *body = pv_at(&f->elements, r->body);
  if (r->kind != GS_C_REDUCE_SUM || r->n_guards || !body->positive)
    return false;
  for (uint32_t k = 0; k < r->n; k++) {
    const fm_poly *p = &f->number[r->high[k]];
    if (!p->n)
      return false;
    for (uint32_t t = 0; t < p->n; t++) {
      const fm_mono *m = &f->mono[f->term[p->at + t].mono];
      if (f->term[p->at + t].times < 0)
        return false;
      for (uint32_t i = 0; i < m->n; i++)
        if (!f->var[m->var[i]].positive)
          return false;
    }
  }
  return true;
}

pv_value
fm_leaf_of_reduction(fm_form *f, gs_dtype d, const fm_reduction *r) {
  assert(r->n <= GS_MAX_RANK && f->n_reductions <= FM_REDUCTIONS);
  bool partial =
      r->kind >= GS_COMPUTE_COUNT || pv_at(&f->elements, r->body)->partial;
  for (uint32_t k = 0; k < f->n_reductions; k++)
    if (!memcmp(&f->reduction[k], r, sizeof *r))
      return leaf(f, d, FM_LEAF_REDUCTION, k, is_positive(f, r), partial);
  if (f->n_reductions == FM_REDUCTIONS) {
    fm_fail(f, "too many reductions");
    return 0;
  }
  f->reduction[f->n_reductions] = *r;
  return leaf(f, d, FM_LEAF_REDUCTION, f->n_reductions++, is_positive(f, r),
              partial);
}

/* --- renaming ------------------------------------------------------------- */

typedef struct renamer {
  fm_form *f;
  const fm_renaming *r;
  uint32_t depth;
} renamer;

static pv_value rename_value(renamer *, pv_value);

static pv_value
rename_leaf(renamer *x, pv_value value) {
  fm_form *f = x->f;
  const pv_node *node = pv_at(&f->elements, value);
  const uint32_t *w = pv_words(&f->elements, value);
  gs_dtype d = (gs_dtype)node->dtype;
  uint32_t source = w[0], what = w[1];
  if (node->n != 3)
    return value; /* a literal by its bits */
  if (source == FM_LEAF_NUMBER)
    return fm_value_of(f, d,
                       fm_rename(f, x->r, fm_of_variable(f, (uint8_t)what)));
  if (source != FM_LEAF_REDUCTION) {
    fm_tuple t = f->tuple[what];
    for (uint32_t k = 0; k < t.n; k++)
      t.at[k] = fm_normal(f, fm_rename(f, x->r, t.at[k]));
    return leaf_of_tuple(f, d, &t);
  }
  fm_reduction r = f->reduction[what];
  for (uint32_t k = 0; k < r.n; k++) {
    r.low[k] = fm_normal(f, fm_rename(f, x->r, r.low[k]));
    r.high[k] = fm_normal(f, fm_rename(f, x->r, r.high[k]));
  }
  for (uint32_t k = 0; k < r.n_guards; k++)
    r.guard[k] = fm_normal(f, fm_rename(f, x->r, r.guard[k]));
  r.body = rename_value(x, r.body);
  return fm_leaf_of_reduction(f, d, &r);
}

static pv_value
rename_factor(renamer *x, gs_dtype d, pv_value factor, int32_t power) {
  pv_values *v = &x->f->elements;
  pv_value made = rename_value(x, factor), all;
  if (made == factor || power < 0) {
    if (made && power < 0 &&
        (pv_at(v, made)->kind == PV_SUM || pv_at(v, made)->kind == PV_NUMBER))
      fm_fail(x->f, "a quotient by a sum");
    return made ? pv_power(v, d, made, power) : 0;
  }
  all = pv_number_value(v, d, PV_ONE);
  for (int32_t k = 0; k < power && all; k++)
    all = pv_multiply(v, d, all, made);
  return all;
}

static pv_value
rename_sum(renamer *x, pv_value value) {
  pv_values *v = &x->f->elements;
  gs_dtype d = (gs_dtype)pv_at(v, value)->dtype;
  uint32_t n = pv_n_parts(v, value), mark = pv_sum_open(v);
  for (uint32_t k = 0; k < n && !v->failed && !x->f->why; k++) {
    pv_part part = pv_part_at(v, value, k);
    pv_value made = pv_number_value(v, d, PV_ONE);
    uint32_t words = pv_at(v, part.product)->n;
    for (uint32_t i = 0; i < words && made; i += 2) {
      const uint32_t *w = pv_words(v, part.product) + i;
      uint32_t factor = w[0], power = w[1];
      made =
          pv_multiply(v, d, made, rename_factor(x, d, factor, (int32_t)power));
    }
    pv_sum_add(v, d, part.times, made);
  }
  return pv_sum_close(v, d, mark);
}

static pv_value
rename_args(renamer *x, pv_value value) {
  pv_values *v = &x->f->elements;
  pv_node node = *pv_at(v, value);
  pv_value *args = bs_calloc(v->heap, node.n + (size_t)1, sizeof *args);
  bool same = true;
  for (uint32_t k = 0; k < node.n && !x->f->why; k++) {
    pv_value arg = pv_words(v, value)[k];
    args[k] = rename_value(x, arg);
    same &= args[k] == arg;
  }
  pv_value made = value;
  pv_compute c = {.op = (gs_compute)node.op,
                  .from = (gs_dtype)node.dtype,
                  .dtype = (gs_dtype)node.dtype,
                  .tuple = 1};
  if (same || x->f->why)
    ;
  else if (node.kind != PV_APPLY)
    made =
        pv_extremum(v, (gs_dtype)node.dtype, node.kind == PV_MAX, args, node.n);
  else if (node.op == GS_C_ABS)
    made = pv_elementwise(v, &c, args[0]);
  else
    made = pv_apply_op(v, (gs_dtype)node.dtype, (gs_compute)node.op, node.param,
                       node.nonnegative, args, node.n);
  bs_free(v->heap, args);
  return made;
}

/* As deep as the values are, which is bounded. */
static pv_value
rename_value(renamer *x, pv_value value) {
  pv_value made = value;
  if (!value || x->f->why)
    return 0;
  if (++x->depth > MAX_DEPTH)
    fm_fail(x->f, "operators nested deeply");
  switch ((pv_kind)pv_at(&x->f->elements, value)->kind) {
  case PV_LEAF:
    made = rename_leaf(x, value);
    break;
  case PV_SUM:
    made = rename_sum(x, value);
    break;
  case PV_MAX:
  case PV_MIN:
  case PV_APPLY:
    made = rename_args(x, value);
    break;
  case PV_NUMBER:
  case PV_LOWEST:
  case PV_PRODUCT:
    break;
  }
  x->depth--;
  return made;
}

pv_value
fm_rename_value(fm_form *f, const fm_renaming *r, pv_value value) {
  renamer x = {f, r, 0};
  return rename_value(&x, value);
}

/* --- what a value is made of ---------------------------------------------- */

static bool
leaf_depends(fm_form *f, const pv_node *node, const uint32_t *w, uint8_t var) {
  if (node->n != 3)
    return false;
  if (w[0] == FM_LEAF_NUMBER)
    return fm_depends(f, fm_of_variable(f, (uint8_t)w[1]), var);
  if (w[0] != FM_LEAF_REDUCTION) {
    const fm_tuple *t = &f->tuple[w[1]];
    for (uint32_t k = 0; k < t->n; k++)
      if (fm_depends(f, t->at[k], var))
        return true;
    return false;
  }
  const fm_reduction *r = &f->reduction[w[1]];
  for (uint32_t k = 0; k < r->n; k++)
    if (fm_depends(f, r->low[k], var) || fm_depends(f, r->high[k], var))
      return true;
  for (uint32_t k = 0; k < r->n_guards; k++)
    if (fm_depends(f, r->guard[k], var))
      return true;
  return fm_value_depends(f, r->body, var);
}

bool
fm_value_depends(fm_form *f, pv_value value, uint8_t var) {
  assert(var < f->n_vars);
  const pv_values *v = &f->elements;
  const pv_node *node = pv_at(v, value);
  uint32_t n = node->kind == PV_SUM ? pv_n_parts(v, value) : node->n;
  if (f->why || node->kind == PV_NUMBER || node->kind == PV_LOWEST)
    return false;
  if (node->kind == PV_LEAF)
    return leaf_depends(f, node, pv_words(v, value), var);
  for (uint32_t k = 0; k < n; k++) {
    pv_value below = node->kind == PV_SUM ? pv_part_at(v, value, k).product
                                          : pv_words(v, value)[k];
    if (node->kind == PV_PRODUCT && k % 2)
      continue; /* a power */
    if (fm_value_depends(f, below, var))
      return true;
  }
  return false;
}

uint32_t
fm_height(fm_form *f, pv_value value) {
  const pv_values *v = &f->elements;
  const pv_node *node = pv_at(v, value);
  uint32_t n = node->kind == PV_SUM ? pv_n_parts(v, value) : node->n, most = 0;
  if (node->kind == PV_NUMBER || node->kind == PV_LOWEST)
    return 0;
  if (node->kind == PV_LEAF)
    return node->n == 3 && pv_words(v, value)[0] == FM_LEAF_REDUCTION
               ? f->reduction[pv_words(v, value)[1]].height
               : 0;
  for (uint32_t k = 0; k < n; k++) {
    pv_value below = node->kind == PV_SUM ? pv_part_at(v, value, k).product
                                          : pv_words(v, value)[k];
    if (node->kind == PV_PRODUCT && k % 2)
      continue;
    uint32_t h = fm_height(f, below);
    most = h > most ? h : most;
  }
  return most;
}
