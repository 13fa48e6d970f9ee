/* SPDX-License-Identifier: MIT */
/* extremum.c - max and min in conjunctive form: a min of clauses, each a max
 * of factors and at most one number.
 *
 * max and min distribute over each other, so every nest of them has such a
 * form; without clauses that another one makes superfluous it is unique.  A
 * form that would grow too large keeps a min inside as one factor: equal
 * values may then look different, never the other way round. */
#include "prove/relation/relation_value.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CLAUSES 128

typedef struct clause {
  uint32_t at, n; /* literals, sorted; none and no number: minus infinity */
  bool has_number;
  pv_number number;
} clause;

typedef struct form {
  pv_values *v;
  gs_dtype dtype;
  BS_VEC(uint32_t) literals;
  BS_VEC(clause) clauses;
} form;

static void
form_done(form *f) {
  bs_vec_done(f->v->heap, &f->literals);
  bs_vec_done(f->v->heap, &f->clauses);
}

static const uint32_t *
literals_of(const form *f, const clause *c) {
  return f->literals.data + c->at;
}

/* --- clauses -------------------------------------------------------------- */

static bool
has_nonnegative(const form *f, const clause *c) {
  for (uint32_t k = 0; k < c->n; k++)
    if (pv_at(f->v, literals_of(f, c)[k])->nonnegative)
      return true;
  return false;
}

static void
take_number(clause *c, pv_number number) {
  if (!c->has_number || pv_number_compare(number, c->number) > 0)
    c->number = number;
  c->has_number = true;
}

/* Drops a number that cannot be the greatest, or all that cannot be. */
static void
simplify(const form *f, clause *c) {
  if (!c->has_number || !c->n)
    return;
  if (gs_dtype_table[f->dtype].integer) {
    if (pv_number_same(c->number, pv_number_least(f->dtype)))
      c->has_number = false;
    else if (pv_number_same(c->number, pv_number_greatest(f->dtype)))
      c->n = 0;
  } else if (pv_number_compare(c->number, PV_ZERO) <= 0 &&
             has_nonnegative(f, c)) {
    c->has_number = false;
  }
}

static void
push_clause(form *f, clause c) {
  simplify(f, &c);
  bs_push(f->v->heap, &f->clauses, c);
}

/* The clause that an argument of a min, or a lone value, is. */
static void
add_clause_of(form *f, pv_value x) {
  const pv_node *node = pv_at(f->v, x);
  clause c = {.at = f->literals.len};
  if (pv_is_number(f->v, x, &c.number)) {
    c.has_number = true;
  } else if (node->kind == PV_MAX && node->dtype == f->dtype) {
    uint32_t n = node->n;
    for (uint32_t k = 0; k < n; k++) {
      pv_value arg = pv_words(f->v, x)[k];
      pv_number number;
      if (pv_is_number(f->v, arg, &number))
        take_number(&c, number);
      else
        bs_push(f->v->heap, &f->literals, arg);
    }
  } else if (node->kind != PV_LOWEST) {
    bs_push(f->v->heap, &f->literals, x);
  }
  c.n = f->literals.len - c.at;
  push_clause(f, c);
}

static void
add_value(form *f, pv_value x) {
  const pv_node *node = pv_at(f->v, x);
  uint32_t n = node->n;
  if (node->kind != PV_MIN || node->dtype != f->dtype) {
    add_clause_of(f, x);
    return;
  }
  for (uint32_t k = 0; k < n; k++)
    add_clause_of(f, pv_words(f->v, x)[k]);
}

/* --- superfluous clauses -------------------------------------------------- */

static bool
subset(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < n; i++, k++) {
    while (k < m && b[k] < a[i])
      k++;
    if (k == m || b[k] != a[i])
      return false;
  }
  return true;
}

/* Whether the number of a is never above b. */
static bool
number_below(const form *f, const clause *a, const clause *b) {
  if (!a->has_number ||
      (b->has_number && pv_number_compare(a->number, b->number) <= 0))
    return true;
  if (gs_dtype_table[f->dtype].integer)
    return pv_number_same(a->number, pv_number_least(f->dtype));
  return pv_number_compare(a->number, PV_ZERO) <= 0 && has_nonnegative(f, b);
}

/* a is never above b */
static bool
below(const form *f, const clause *a, const clause *b) {
  bool top = b->has_number && !b->n && gs_dtype_table[f->dtype].integer &&
             pv_number_same(b->number, pv_number_greatest(f->dtype));
  return top || (number_below(f, a, b) &&
                 subset(literals_of(f, a), a->n, literals_of(f, b), b->n));
}

static bool
all_single(const form *f) {
  for (uint32_t k = 0; k < f->clauses.len; k++)
    if (f->clauses.data[k].n > 1 ||
        (f->clauses.data[k].n && f->clauses.data[k].has_number))
      return false;
  return true;
}

/* Of the numbers alone only the least can matter. */
static void
keep_least_number(form *f) {
  uint32_t kept = 0, least = UINT32_MAX;
  for (uint32_t k = 0; k < f->clauses.len; k++) {
    clause c = f->clauses.data[k];
    if (c.n || !c.has_number) {
      f->clauses.data[kept++] = c;
    } else if (least == UINT32_MAX) {
      least = kept;
      f->clauses.data[kept++] = c;
    } else if (pv_number_compare(c.number, f->clauses.data[least].number) < 0) {
      f->clauses.data[least] = c;
    }
  }
  f->clauses.len = kept;
}

/* `b` goes, since `a` is never above it. */
static void
drop_clause(const form *f, const clause *a, const clause *b) {
  for (uint32_t k = 0; k < b->n; k++)
    if (!subset(literals_of(f, b) + k, 1, literals_of(f, a), a->n))
      pv_drop(f->v, literals_of(f, b)[k]);
}

/* Equal clauses go when the node is made; here those that are above others. */
static void
absorb(form *f) {
  uint32_t n = f->clauses.len, kept = 0;
  keep_least_number(f);
  n = f->clauses.len;
  if (all_single(f) && n > MAX_CLAUSES)
    return;
  if (!pv_spend(f->v, (uint64_t)n * n))
    return;
  for (uint32_t i = 0; i < n; i++) {
    bool needed = true;
    for (uint32_t k = 0; needed && k < n; k++) {
      const clause *a = &f->clauses.data[k], *b = &f->clauses.data[i];
      if (k != i && below(f, a, b))
        needed = !(k < kept || k > i) || (k > i && below(f, b, a));
      if (!needed)
        drop_clause(f, a, b);
    }
    if (needed)
      f->clauses.data[kept++] = f->clauses.data[i];
  }
  f->clauses.len = kept;
}

/* --- max ------------------------------------------------------------------ */

static clause
merge(form *f, const form *g, const clause *a, const clause *b) {
  clause c = *a;
  const uint32_t *y = literals_of(g, b);
  uint32_t i = 0, j = 0;
  c.at = f->literals.len;
  bs_reserve(f->v->heap, &f->literals, (uint64_t)f->literals.len + a->n + b->n);
  const uint32_t *x = literals_of(f, a);
  while (i < a->n || j < b->n) {
    bool first = j == b->n || (i < a->n && x[i] <= y[j]);
    uint32_t id = first ? x[i] : y[j];
    i += i < a->n && x[i] == id;
    j += j < b->n && y[j] == id;
    f->literals.data[f->literals.len++] = id;
  }
  c.n = f->literals.len - c.at;
  if (b->has_number)
    take_number(&c, b->number);
  return c;
}

/* f := max(f, g): every clause with every clause. */
static void
multiply(form *f, const form *g) {
  uint32_t n = f->clauses.len, m = g->clauses.len;
  if (!pv_spend(f->v, (uint64_t)n * m))
    return;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < m; k++) {
      clause a = f->clauses.data[i];
      push_clause(f, merge(f, g, &a, &g->clauses.data[k]));
    }
  memmove(f->clauses.data, f->clauses.data + n,
          (f->clauses.len - n) * sizeof(clause));
  f->clauses.len -= n;
  absorb(f);
}

/* One clause of all arguments that are single; the usual case. */
static void
add_plain_arguments(form *f, const pv_value *args, uint32_t n) {
  clause c = {0};
  pv_number number;
  for (uint32_t k = 0; k < n; k++) {
    const pv_node *node = pv_at(f->v, args[k]);
    uint32_t count = node->n;
    bool own = node->dtype == f->dtype;
    if (node->kind == PV_LOWEST || (own && node->kind == PV_MIN))
      continue;
    if (pv_is_number(f->v, args[k], &number)) {
      take_number(&c, number);
    } else if (!own || node->kind != PV_MAX) {
      bs_push(f->v->heap, &f->literals, args[k]);
    } else {
      for (uint32_t i = 0; i < count; i++) {
        pv_value arg = pv_words(f->v, args[k])[i];
        if (pv_is_number(f->v, arg, &number))
          take_number(&c, number);
        else
          bs_push(f->v->heap, &f->literals, arg);
      }
    }
  }
  c.n = f->literals.len;
  bs_push(f->v->heap, &f->clauses, c);
}

static int
by_id(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static uint32_t
sort_unique(uint32_t *ids, uint32_t n) {
  uint32_t kept = 0;
  if (n)
    qsort(ids, n, sizeof *ids, by_id);
  for (uint32_t k = 0; k < n; k++)
    if (!kept || ids[kept - 1] != ids[k])
      ids[kept++] = ids[k];
  return kept;
}

/* Of the clauses times n; those of a single one are no more than there were. */
static bool
grows_too_large(const form *f, uint32_t n) {
  uint64_t clauses = f->clauses.len, size = 1 + (uint64_t)f->clauses.data[0].n;
  if (clauses == 1 && n <= 4 * MAX_CLAUSES)
    return n * size > 64 * MAX_CLAUSES;
  return n * clauses > MAX_CLAUSES;
}

static void
max_form(form *f, const pv_value *args, uint32_t n) {
  add_plain_arguments(f, args, n);
  clause *c = &f->clauses.data[0];
  c->n = sort_unique(f->literals.data, f->literals.len);
  f->literals.len = c->n;
  simplify(f, c);
  for (uint32_t k = 0; k < n && !f->v->failed; k++) {
    form g = {.v = f->v, .dtype = f->dtype};
    const pv_node *node = pv_at(f->v, args[k]);
    if (node->kind != PV_MIN || node->dtype != f->dtype)
      continue;
    if (grows_too_large(f, node->n)) {
      bs_push(f->v->heap, &g.literals, args[k]);
      bs_push(f->v->heap, &g.clauses, (clause){.n = 1});
    } else {
      add_value(&g, args[k]);
    }
    multiply(f, &g);
    form_done(&g);
  }
}

static void
min_form(form *f, const pv_value *args, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    add_value(f, args[k]);
  if (f->clauses.len <= 4 * MAX_CLAUSES || all_single(f))
    absorb(f);
}

/* --- nodes ---------------------------------------------------------------- */

static pv_value
node_of(form *f, pv_kind kind, uint32_t *ids, uint32_t n) {
  assert(kind == PV_MAX || kind == PV_MIN);
  bool all = true, any = false, all_above = true, any_above = false;
  n = sort_unique(ids, n);
  for (uint32_t k = 0; k < n; k++) {
    all_above &= pv_at(f->v, ids[k])->positive;
    any_above |= pv_at(f->v, ids[k])->positive;
    all &= pv_at(f->v, ids[k])->nonnegative;
    any |= pv_at(f->v, ids[k])->nonnegative;
  }
  if (n == 1)
    return ids[0];
  pv_node node = {.kind = kind,
                  .dtype = f->dtype,
                  .positive = kind == PV_MAX ? any_above : all_above,
                  .nonnegative = kind == PV_MAX ? any : all};
  return pv_intern(f->v, node, ids, n);
}

static pv_value
value_of_clause(form *f, const clause *c) {
  if (!c->n && !c->has_number)
    return pv_lowest(f->v, f->dtype);
  uint32_t *ids = bs_alloc(f->v->heap, (c->n + 1) * sizeof *ids);
  uint32_t n = c->n;
  if (n)
    memcpy(ids, literals_of(f, c), n * sizeof *ids);
  if (c->has_number)
    ids[n++] = pv_number_value(f->v, f->dtype, c->number);
  pv_value made = f->v->failed ? 0 : node_of(f, PV_MAX, ids, n);
  bs_free(f->v->heap, ids);
  return made;
}

static pv_value
value_of(form *f) {
  uint32_t n = f->clauses.len;
  pv_value made = 0;
  pv_value *ids = bs_alloc(f->v->heap, (n + (size_t)1) * sizeof *ids);
  for (uint32_t k = 0; k < n && !f->v->failed; k++)
    ids[k] = value_of_clause(f, &f->clauses.data[k]);
  if (!f->v->failed)
    made = node_of(f, PV_MIN, ids, n);
  bs_free(f->v->heap, ids);
  return made;
}

pv_value
pv_extremum(pv_values *v, gs_dtype d, bool max, const pv_value *args,
            uint32_t n) {
  assert(d < GS_DTYPE_COUNT && (args || !n));
  form f = {.v = v, .dtype = d};
  pv_value made = 0;
  for (uint32_t k = 0; k < n; k++)
    v->failed |= !args[k];
  if (pv_spend(v, n)) {
    if (max)
      max_form(&f, args, n);
    else
      min_form(&f, args, n);
    made = v->failed ? 0 : value_of(&f);
  }
  form_done(&f);
  return made;
}
