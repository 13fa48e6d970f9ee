/* SPDX-License-Identifier: MIT */
/* symbolic_size.c - sizes that a program leaves open, as numbers of a form.
 *
 * A size is a parameter within its bounds, divided by its multiple, and what is
 * computed from sizes is computed from these parameters. */
#include "prove/symbolic/symbolic_form.h"
#include <assert.h>

void
fm_free_open_sizes(fm_form *f) {
  assert(f->of->p->sizes && f->of->p->sizes->n <= GS_MOST_SIZES);
  const gs_sizes *s = f->of->p->sizes;
  for (uint32_t k = 0; k < s->n; k++) {
    const gs_size *size = &s->list[k];
    fm_number x = f->open_size[k] = fm_parameter(f);
    fm_assume(f, fm_combine(f, 1, x, 0, x, -(size->least / size->multiple)),
              false);
    fm_assume(f, fm_combine(f, -1, x, 0, x, size->most / size->multiple),
              false);
  }
}

/* Quotients are no deeper in one another than atoms are. */
static fm_number
of_atom(fm_form *f, uint32_t atom) {
  gs_atom a = gs_atom_of(f->of->p->sizes, atom);
  if (a.size < GS_MOST_SIZES)
    return f->open_size[a.size];
  return fm_quotient(f, fm_of_int(f, a.of), fm_constant(f, a.by));
}

fm_number
fm_of_int(fm_form *f, int64_t x) {
  gs_polynomial p;
  if (!f->of->open || !gs_is_sized(x))
    return fm_constant(f, x);
  fm_number sum = fm_constant(f, 0);
  gs_polynomial_of(f->of->p->sizes, x, &p);
  if (p.bad)
    fm_fail(f, "a number that is too large");
  for (uint32_t k = 0; k < p.n && !f->why; k++) {
    fm_number product = fm_constant(f, p.term[k].by);
    for (uint32_t j = 0; j < p.term[k].n; j++)
      product = fm_product(f, product, of_atom(f, p.term[k].atom[j]));
    sum = fm_combine(f, 1, sum, 1, product, 0);
  }
  return sum;
}
