/* SPDX-License-Identifier: MIT */
/* print_affine.c - quasi-affine functions and sets as text.
 *
 * Quotients are floors, `(2 * i + 1) / 4`; where a remainder is shorter, it is
 * written so: i - 4 * (i / 4) is i % 4.  Conditions are sorted by their text,
 * so that equal sets print alike more often than isl would have them. */
#include "poly/text/poly_text.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A row of q being written; of its quotients, those in `rest` are not. */
typedef struct sum {
  bs_text *out;
  const po_quasi *q;
  const char *const *names;
  bool some;
} sum;

static void put_row(bs_text *, const po_quasi *, const char *const *names,
                    const int64_t *row, int64_t *room);

static uint32_t
count_terms(const po_quasi *q, const int64_t *row) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < po_quasi_width(q); k++)
    n += row[k] != 0;
  return n;
}

/* The sign of a term and, unless it is one, its factor. */
static void
put_factor(sum *s, int64_t factor, const char *times) {
  if (s->some)
    bs_put(s->out, factor < 0 ? " - " : " + ");
  else if (factor < 0)
    bs_putc(s->out, '-');
  s->some = true;
  long long size = factor < 0 ? -(long long)factor : (long long)factor;
  if (size != 1 || !*times)
    bs_putf(s->out, "%lld%s", size, times);
}

/* A sign at the start binds more tightly than a quotient. */
static bool
needs_parens(const sum *s, int64_t factor) {
  return factor != 1 && (factor != -1 || !s->some);
}

/* One index alone, or a number. */
static bool
is_simple(const po_quasi *q, const int64_t *row) {
  uint32_t n = count_terms(q, row);
  for (uint32_t k = 1; k <= q->n; k++)
    if (row[k] == 1)
      return n == 1;
  return false;
}

/* (what quotient k divides) / below */
static void
put_quotient(sum *s, uint32_t k, char op, bool parens, int64_t *room) {
  assert(k < s->q->m);
  const int64_t *row = po_quasi_row(s->q, k);
  bool simple = is_simple(s->q, row);
  bs_put(s->out, parens ? "(" : "");
  bs_put(s->out, simple ? "" : "(");
  put_row(s->out, s->q, s->names, row, room);
  bs_put(s->out, simple ? "" : ")");
  bs_putf(s->out, " %c %lld%s", op, (long long)s->q->below[k],
          parens ? ")" : "");
}

/* row = factor * (what k divides % below) + a row with fewer terms than this
 * one has beside the quotient: then it becomes that row. */
static bool
take_remainder(const po_quasi *q, int64_t *row, uint32_t k, int64_t *factor) {
  assert(k < q->m);
  uint32_t at = 1 + q->n + k, width = po_quasi_width(q), before, after = 0;
  const int64_t *above = po_quasi_row(q, k);
  if (!row[at] || row[at] % q->below[k])
    return false;
  *factor = -row[at] / q->below[k];
  before = count_terms(q, row) - 1;
  for (uint32_t j = 0; j < width; j++) {
    int64_t product, rest;
    if (__builtin_mul_overflow(*factor, above[j], &product) ||
        __builtin_sub_overflow(j == at ? 0 : row[j], product, &rest))
      return false;
    after += rest != 0;
  }
  if (after >= before)
    return false;
  row[at] = 0;
  for (uint32_t j = 0; j < width; j++)
    row[j] -= *factor * above[j];
  return true;
}

/* room: a row for each quotient and one more, two numbers a quotient. */
static void
put_row(bs_text *out, const po_quasi *q, const char *const *names,
        const int64_t *from, int64_t *room) {
  uint32_t width = po_quasi_width(q);
  int64_t *row = room, *factor = room + width;
  sum s = {out, q, names, false};
  room += width + q->m;
  memcpy(row, from, width * sizeof *row);
  memset(factor, 0, q->m * sizeof *factor);
  for (uint32_t k = q->m; k-- > 0;)
    if (!take_remainder(q, row, k, &factor[k]))
      factor[k] = 0;
  for (uint32_t k = 0; k < q->n; k++)
    if (row[1 + k]) {
      put_factor(&s, row[1 + k], " * ");
      bs_put(out, names[k]);
    }
  for (uint32_t k = 0; k < q->m; k++)
    if (row[1 + q->n + k]) {
      int64_t c = row[1 + q->n + k];
      bool parens = needs_parens(&s, c);
      put_factor(&s, c, " * ");
      put_quotient(&s, k, '/', parens, room);
    }
  for (uint32_t k = 0; k < q->m; k++)
    if (factor[k]) {
      bool parens = needs_parens(&s, factor[k]);
      put_factor(&s, factor[k], " * ");
      put_quotient(&s, k, '%', parens, room);
    }
  if (row[0] || !s.some)
    put_factor(&s, row[0], "");
}

void
po_write_quasi(bs_text *out, const po_quasi *q, const char *const *names) {
  size_t level = po_quasi_width(q) + q->m;
  int64_t *room = bs_calloc(out->heap, (q->m + 2) * level, sizeof *room);
  put_row(out, q, names, po_quasi_row(q, q->m), room);
  bs_free(out->heap, room);
}

/* Sizes, then what the indices are named. */
static const char *const *
with_sizes(po_writer *w, const po_quasi *q, __isl_keep isl_aff *aff,
           const char *const *names) {
  if (!q->n_sizes)
    return names;
  const char **all = BS_NEWS(&w->arena, const char *, q->n);
  for (uint32_t k = 0; k < q->n; k++)
    all[k] = k < q->n_sizes ? isl_aff_get_dim_name(aff, isl_dim_param, k)
                            : names[k - q->n_sizes];
  return all;
}

void
po_write_aff(po_writer *w, isl_aff *aff, const char *const *names) {
  po_quasi q;
  if (po_quasi_make(&w->arena, aff, &q))
    po_write_quasi(w->out, &q, with_sizes(w, &q, aff, names));
  else
    w->pool.failed = true;
}

/* ---- sets ---- */

static int
by_text(const void *a, const void *b) {
  const char *x = *(const char *const *)a, *y = *(const char *const *)b;
  size_t m = strlen(x), n = strlen(y);
  return m != n ? (m < n ? -1 : 1) : strcmp(x, y);
}

uint32_t
po_sort_texts(const char **texts, uint32_t n) {
  uint32_t kept = 0;
  if (n)
    qsort(texts, n, sizeof *texts, by_text);
  for (uint32_t k = 0; k < n; k++)
    if (!kept || strcmp(texts[k], texts[kept - 1]))
      texts[kept++] = texts[k];
  return kept;
}

static const char *
join(po_writer *w, const char **texts, uint32_t n, const char *between) {
  bs_text text;
  bs_text_init(&text, w->arena.heap);
  n = po_sort_texts(texts, n);
  for (uint32_t k = 0; k < n; k++)
    bs_putf(&text, "%s%s", k ? between : "", texts[k]);
  const char *made = bs_arena_strdup(&w->arena, bs_text_str(&text));
  bs_text_done(&text);
  return made;
}

/* The terms of one sign, all made positive. */
static void
put_side(bs_text *out, const po_quasi *q, bool negative,
         const char *const *names) {
  uint32_t width = po_quasi_width(q);
  int64_t *row = po_quasi_row(q, q->m);
  int64_t *whole = bs_alloc(out->heap, width * sizeof *whole);
  memcpy(whole, row, width * sizeof *row);
  for (uint32_t k = 0; k < width; k++)
    row[k] = (row[k] < 0) == negative ? llabs(row[k]) : 0;
  po_write_quasi(out, q, names);
  memcpy(row, whole, width * sizeof *row);
  bs_free(out->heap, whole);
}

/* The whole on one side reads better where a remainder is in it: i % 4 = 0. */
static bool
has_remainder(po_writer *w, const po_quasi *q) {
  uint32_t width = po_quasi_width(q);
  int64_t factor, *row = BS_NEWS(&w->arena, int64_t, width);
  for (uint32_t k = 0; k < q->m; k++) {
    memcpy(row, po_quasi_row(q, q->m), width * sizeof *row);
    if (take_remainder(q, row, k, &factor))
      return true;
  }
  return false;
}

static void
negate(const po_quasi *q) {
  int64_t *row = po_quasi_row(q, q->m);
  for (uint32_t k = 0; k < po_quasi_width(q); k++)
    row[k] = -row[k];
}

static bool
starts_negative(const po_quasi *q) {
  const int64_t *row = po_quasi_row(q, q->m);
  for (uint32_t k = 1; k < po_quasi_width(q); k++)
    if (row[k])
      return row[k] < 0;
  return false;
}

static const char *
condition(po_writer *w, __isl_keep isl_aff *aff, bool equal,
          const char *const *names) {
  po_quasi q;
  bs_text text;
  if (!po_quasi_make(&w->arena, aff, &q)) {
    w->pool.failed = true;
    return "";
  }
  names = with_sizes(w, &q, aff, names);
  bs_text_init(&text, w->arena.heap);
  if (equal && starts_negative(&q))
    negate(&q);
  if (has_remainder(w, &q)) {
    po_write_quasi(&text, &q, names);
    bs_put(&text, equal ? " = 0" : " >= 0");
  } else {
    put_side(&text, &q, false, names);
    bs_put(&text, equal ? " = " : " >= ");
    put_side(&text, &q, true, names);
  }
  const char *made = bs_arena_strdup(&w->arena, bs_text_str(&text));
  bs_text_done(&text);
  return made;
}

/* The conditions of a convex part. */
static const char *
conjunction(po_writer *w, __isl_keep isl_basic_set *part,
            const char *const *names) {
  po_pool_reserve(&w->pool, 2);
  isl_constraint_list *list = po_keep_constraint_list(
      &w->pool, isl_basic_set_get_constraint_list(part));
  isl_size n = list ? isl_constraint_list_n_constraint(list) : 0;
  const char **texts = BS_NEWS(&w->arena, const char *, n);
  for (isl_size k = 0; k < n; k++) {
    po_pool_reserve(&w->pool, 1);
    isl_constraint *c = isl_constraint_list_get_constraint(list, (int)k);
    bool equal = isl_constraint_is_equality(c) == isl_bool_true;
    isl_aff *aff = po_keep_aff(&w->pool, isl_constraint_get_aff(c));
    isl_constraint_free(c);
    texts[k] = condition(w, aff, equal, names);
  }
  return n ? join(w, texts, (uint32_t)n, " and ") : "0 = 0";
}

void
po_write_set(po_writer *w, isl_set *set, const char *const *names) {
  uint32_t mark = po_pool_mark(&w->pool);
  po_pool_reserve(&w->pool, 2);
  set = po_keep_set(&w->pool, isl_set_compute_divs(isl_set_copy(set)));
  isl_basic_set_list *list =
      po_keep_basic_set_list(&w->pool, isl_set_get_basic_set_list(set));
  isl_size n = list ? isl_basic_set_list_n_basic_set(list) : 0;
  const char **texts = BS_NEWS(&w->arena, const char *, n);
  for (isl_size k = 0; k < n; k++) {
    po_pool_reserve(&w->pool, 1);
    isl_basic_set *part = po_keep_basic_set(
        &w->pool, isl_basic_set_list_get_basic_set(list, (int)k));
    texts[k] = conjunction(w, part, names);
  }
  bs_put(w->out, n > 0 ? join(w, texts, (uint32_t)n, " or ") : "1 = 0");
  po_pool_release(&w->pool, mark);
}
