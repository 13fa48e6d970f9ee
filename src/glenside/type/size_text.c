/* SPDX-License-Identifier: MIT */
/* size_text.c - numbers of sizes as people and files write them. */
#include "glenside/type/sizes.h"
#include <assert.h>

/* What stands around a quotient of another one is put in parts: at most three
 * stand in one another. */
static void put_sum(bs_text *, const gs_sizes *, const gs_polynomial *,
                    bool term);

static void
put_quotient(bs_text *out, const gs_sizes *s, const gs_atom *atom, bool term) {
  gs_polynomial of;
  gs_polynomial_of(s, atom->of, &of);
  bs_put(out, term ? "(/ " : of.n > 1 ? "(" : "");
  put_sum(out, s, &of, term);
  if (term)
    bs_putf(out, " %lld)", (long long)atom->by);
  else
    bs_putf(out, "%s / %lld", of.n > 1 ? ")" : "", (long long)atom->by);
}

/* A size by its multiple, or a quotient. */
static void
put_atom(bs_text *out, const gs_sizes *s, const gs_atom *atom, bool term) {
  if (atom->size == GS_MOST_SIZES) {
    bs_put(out, term ? "" : "(");
    put_quotient(out, s, atom, term);
    bs_put(out, term ? "" : ")");
    return;
  }
  const gs_size *size = &s->list[atom->size];
  bs_putf(out, term ? "(/ %s %lld)" : "(%s / %lld)", size->name,
          (long long)size->multiple);
}

/* Where the factor has the multiple of a size, the size is whole. */
static int64_t
whole_sizes(const gs_sizes *s, const gs_size_term *t, int64_t by,
            const char **name) {
  for (uint32_t k = 0; k < t->n; k++) {
    name[k] = NULL;
    if (t->atom[k] >= GS_MOST_SIZES || by % s->list[t->atom[k]].multiple != 0)
      continue;
    name[k] = s->list[t->atom[k]].name;
    by /= s->list[t->atom[k]].multiple;
  }
  return by;
}

/* by: the factor without its sign. */
static void
put_product(bs_text *out, const gs_sizes *s, const gs_size_term *t, int64_t by,
            bool term) {
  const char *name[GS_MOST_DEGREE];
  by = whole_sizes(s, t, by, name);
  uint32_t factors = t->n + (by != 1 || !t->n);
  const char *between = term ? " " : "*";
  bs_put(out, term && factors > 1 ? "(* " : "");
  if (by != 1 || !t->n)
    bs_putf(out, "%lld%s", (long long)by, t->n ? between : "");
  for (uint32_t k = 0; k < t->n; k++) {
    gs_atom atom = gs_atom_of(s, t->atom[k]);
    if (name[k])
      bs_put(out, name[k]);
    else
      put_atom(out, s, &atom, term);
    bs_put(out, k + 1 < t->n ? between : "");
  }
  bs_put(out, term && factors > 1 ? ")" : "");
}

/* The constant, which comes first, is put last. */
static void
put_sum(bs_text *out, const gs_sizes *s, const gs_polynomial *p, bool term) {
  bool many = term && p->n > 1;
  bs_put(out, many ? "(+ " : "");
  for (uint32_t k = 0; k < p->n; k++) {
    const gs_size_term *t = &p->term[(k + !p->term[0].n) % p->n];
    int64_t by = t->by;
    if (term)
      bs_put(out, k ? " " : "");
    else if (k || by < 0)
      bs_put(out, k ? by < 0 ? " - " : " + " : "-");
    put_product(out, s, t, !term && by < 0 ? -by : by, term);
  }
  bs_put(out, many ? ")" : p->n ? "" : "0");
}

static void
put_number(bs_text *out, const gs_sizes *s, gs_number x, bool term) {
  gs_polynomial p;
  if (!s || !gs_is_sized(x)) {
    bs_putf(out, "%lld", (long long)x);
    return;
  }
  gs_polynomial_of(s, x, &p);
  put_sum(out, s, &p, term);
}

void
gs_put_number(bs_text *out, const gs_sizes *s, gs_number x) {
  put_number(out, s, x, false);
}

void
gs_put_number_term(bs_text *out, const gs_sizes *s, gs_number x) {
  put_number(out, s, x, true);
}

void
gs_put_bounds(bs_text *out, const gs_size *list, uint32_t n) {
  assert(list || !n);
  for (uint32_t k = 0; k < n; k++) {
    const gs_size *s = &list[k];
    bs_putf(out, "%s%s", k ? ", " : "", s->name);
    if (s->least == s->most)
      bs_putf(out, " = %lld", (long long)s->least);
    else
      bs_putf(out, " from %lld to %lld", (long long)s->least,
              (long long)s->most);
    if (s->least < s->most && s->multiple > 1)
      bs_putf(out, ", a multiple of %lld", (long long)s->multiple);
  }
}

void
gs_put_sizes_at(bs_text *out, const gs_sizes *s, const int64_t *at) {
  for (uint32_t k = 0; k < s->n; k++)
    bs_putf(out, "%s%s = %lld", k ? ", " : "", s->list[k].name,
            (long long)at[k]);
}

static void
put_dims(bs_text *out, const gs_sizes *s, const int64_t *dims, uint32_t n) {
  bs_putc(out, '(');
  for (uint32_t k = 0; k < n; k++) {
    bs_put(out, k ? ", " : "");
    gs_put_number(out, s, dims[k]);
  }
  bs_putc(out, ')');
}

void
gs_put_type_of(bs_text *out, const gs_sizes *s, const gs_type *t) {
  bs_putc(out, '(');
  put_dims(out, s, t->dim, t->access);
  bs_put(out, ", ");
  put_dims(out, s, t->dim + t->access, t->rank - t->access);
  bs_putf(out, ") %s", gs_dtype_table[t->dtype].name);
}
