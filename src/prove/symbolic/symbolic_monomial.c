/* SPDX-License-Identifier: MIT */
/* symbolic_monomial.c - products of variables, interned. */
#include "prove/symbolic/symbolic_form.h"
#include "base/hash.h"
#include <assert.h>

uint16_t
fm_intern_mono(fm_form *f, const fm_mono *m) {
  uint64_t hash = bs_hash(m, sizeof *m);
  uint32_t at = (uint32_t)hash & (FM_MONO_HASH - 1);
  for (; f->mono_at[at]; at = (at + 1) & (FM_MONO_HASH - 1))
    if (!memcmp(&f->mono[f->mono_at[at] - 1], m, sizeof *m))
      return (uint16_t)(f->mono_at[at] - 1);
  if (f->n_monos == FM_MONOS) {
    fm_lose(f, "too many products of sizes");
    return 0;
  }
  f->mono[f->n_monos] = *m;
  f->settled_at[f->n_monos] = 0;
  f->mono_at[at] = (uint16_t)(f->n_monos + 1);
  return (uint16_t)f->n_monos++;
}

/* The frame of a monomial, and what is in it. */
void
fm_describe(const fm_form *f, fm_mono *m) {
  assert(m->n <= FM_DEGREE);
  m->frame = 0;
  m->real = m->quotient = false;
  for (uint32_t k = 0; k < m->n; k++) {
    const fm_var *v = &f->var[m->var[k]];
    m->frame = v->frame > m->frame ? v->frame : m->frame;
    m->real |= v->kind == FM_V_LITERAL;
    m->quotient |= v->kind == FM_V_QUOTIENT;
  }
}

uint16_t
fm_times_mono(fm_form *f, uint16_t x, uint16_t y) {
  assert(f->why || (x < f->n_monos && y < f->n_monos));
  const fm_mono *a = &f->mono[x], *b = &f->mono[y];
  fm_mono m;
  memset(&m, 0, sizeof m);
  if (a->n + b->n > FM_DEGREE) {
    fm_lose(f, "a product of many sizes");
    return 0;
  }
  for (uint32_t i = 0, j = 0; i < a->n || j < b->n;)
    m.var[m.n++] = j == b->n || (i < a->n && a->var[i] <= b->var[j])
                       ? a->var[i++]
                       : b->var[j++];
  fm_describe(f, &m);
  return fm_intern_mono(f, &m);
}

/* x / y where y divides x. */
bool
fm_over_mono(fm_form *f, uint16_t x, uint16_t y, uint16_t *out) {
  assert(f->why || (x < f->n_monos && y < f->n_monos));
  const fm_mono *a = &f->mono[x], *b = &f->mono[y];
  fm_mono m;
  uint32_t j = 0;
  memset(&m, 0, sizeof m);
  for (uint32_t i = 0; i < a->n; i++)
    if (j < b->n && a->var[i] == b->var[j])
      j++;
    else
      m.var[m.n++] = a->var[i];
  if (j < b->n)
    return false;
  fm_describe(f, &m);
  *out = fm_intern_mono(f, &m);
  return true;
}

int
fm_compare_monos(const fm_form *f, uint16_t x, uint16_t y) {
  assert(x < f->n_monos && y < f->n_monos);
  const fm_mono *a = &f->mono[x], *b = &f->mono[y];
  if (a->n != b->n)
    return a->n < b->n ? -1 : 1;
  for (uint32_t k = a->n; k-- > 0;)
    if (a->var[k] != b->var[k])
      return a->var[k] < b->var[k] ? -1 : 1;
  return 0;
}

uint16_t
fm_common_mono(fm_form *f, uint16_t x, uint16_t y) {
  assert(f->why || (x < f->n_monos && y < f->n_monos));
  const fm_mono *a = &f->mono[x], *b = &f->mono[y];
  fm_mono m;
  memset(&m, 0, sizeof m);
  for (uint32_t i = 0, j = 0; i < a->n && j < b->n;)
    if (a->var[i] == b->var[j]) {
      m.var[m.n++] = a->var[i++];
      j++;
    } else if (a->var[i] < b->var[j]) {
      i++;
    } else {
      j++;
    }
  fm_describe(f, &m);
  return fm_intern_mono(f, &m);
}
