/* SPDX-License-Identifier: MIT */
/* symbolic_rename.c - the variables that numbers are made of, replaced. */
#include "prove/symbolic/symbolic_form.h"
#include <assert.h>

/* Quotients are of numbers that were there before: nesting is bounded. */
bool
fm_depends(const fm_form *f, fm_number x, uint8_t var) {
  assert(var < f->n_vars);
  const fm_poly *p = &f->number[x];
  for (uint32_t k = 0; k < p->n; k++) {
    const fm_mono *m = &f->mono[f->term[p->at + k].mono];
    for (uint32_t i = 0; i < m->n; i++) {
      const fm_var *v = &f->var[m->var[i]];
      if (m->var[i] == var ||
          (v->kind == FM_V_QUOTIENT &&
           (fm_depends(f, v->of, var) || fm_depends(f, v->by, var))))
        return true;
    }
  }
  return false;
}

bool
fm_has_float(const fm_form *f, fm_number x) {
  assert(x < f->n_numbers);
  const fm_poly *p = &f->number[x];
  for (uint32_t k = 0; k < p->n && p->real; k++) {
    const fm_mono *m = &f->mono[f->term[p->at + k].mono];
    for (uint32_t i = 0; i < m->n; i++)
      if (f->var[m->var[i]].kind == FM_V_LITERAL && !f->var[m->var[i]].whole)
        return true;
  }
  return false;
}

static fm_number
rename_variable(fm_form *f, const fm_renaming *r, uint8_t var) {
  assert(var < f->n_vars);
  fm_var v = f->var[var];
  for (uint32_t k = 0; k < r->n; k++)
    if (r->var[k] == var)
      return r->by[k];
  if (v.kind != FM_V_QUOTIENT)
    return fm_of_variable(f, var);
  fm_number of = fm_rename(f, r, v.of), by = fm_rename(f, r, v.by);
  return of == v.of && by == v.by ? fm_of_variable(f, var)
                                  : fm_quotient(f, of, by);
}

/* Where a rule says what a quotient is of by that quotient, it is made again
 * within itself: each path has a bound for all of this together. */
fm_number
fm_rename(fm_form *f, const fm_renaming *r, fm_number x) {
  assert(f->why || x < f->n_numbers);
  assert(r->n <= GS_MAX_RANK);
  if (f->renamed++ == FM_RENAMED) {
    fm_lose(f, "quotients that are made again and again");
    return x;
  }
  fm_poly p = f->number[x];
  fm_number out = fm_constant(f, 0);
  for (uint32_t k = 0; k < p.n && !f->why; k++) {
    fm_term t = f->term[p.at + k];
    fm_mono m = f->mono[t.mono];
    fm_number product = fm_constant(f, t.times);
    for (uint32_t i = 0; i < m.n; i++)
      product = fm_product(f, product, rename_variable(f, r, m.var[i]));
    out = fm_combine(f, 1, out, 1, product, 0);
  }
  return out;
}
