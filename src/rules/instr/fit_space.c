/* SPDX-License-Identifier: MIT */
/* fit_space.c - the iteration space of a computation: its digits, those that
 * stand together wherever they stand as one. */
#include "rules/instr/fit.h"
#include <assert.h>
#include <string.h>

/* An array as a row of digits, and the dimension that each is of. */
typedef struct row {
  uint32_t n;
  uint16_t digit[FIT_ATOMS];
  uint8_t dim[FIT_ATOMS];
  int64_t stride[FIT_ATOMS]; /* where it lies; 0: there is no single one */
} row;

typedef struct joining {
  const fit_match *m;
  fit_joins joins;
  uint32_t n_rows; /* operands, then the result */
  row rows[FIT_OPERANDS + 1];
  int64_t size[RL_DIGITS]; /* of digits that are left; 0: it is none */
} joining;

/* False where the index does not go over all elements. */
static bool
put_row(const rl_digits *d, const rl_index *x, const gs_type *type, row *out) {
  out->n = 0;
  for (uint32_t k = 0; k < x->rank; k++) {
    int64_t all = 1;
    for (uint32_t i = 0; i < x->at[k].n; i++) {
      if (out->n == FIT_ATOMS)
        return false;
      uint16_t digit = x->at[k].digit[i];
      out->dim[out->n] = (uint8_t)k;
      out->digit[out->n++] = digit;
      all *= d->digit[digit].size;
    }
    if (all != type->dim[k] || x->at[k].item)
      return false;
  }
  return true;
}

/* How far apart the values of each digit lie. */
static void
put_strides(const joining *j, const fit_lie *lie, row *r) {
  int64_t low = 1;
  for (uint32_t k = r->n; k-- > 0; low *= j->size[r->digit[k]])
    r->stride[k] = fit_flat_stride(lie, low, j->size[r->digit[k]]);
}

static bool
put_rows(joining *j) {
  const fit_match *m = j->m;
  uint32_t n = m->f->n_seen;
  j->n_rows = n + 1;
  for (uint32_t k = 1; k < m->digits.n; k++)
    j->size[k] = m->digits.digit[k].low ? 0 : m->digits.digit[k].size;
  for (uint32_t k = 0; k <= n; k++) {
    const gs_type *type =
        k == n
            ? &m->type
            : rl_type_of(m->session, rl_facts_of(m->graph, m->leaf[k])->type);
    if (!put_row(&m->digits, k == n ? &m->result : &m->index[k], type,
                 &j->rows[k]))
      return false;
    if (j->joins == FIT_JOIN_LYING)
      put_strides(j, &m->lie[k == n ? FIT_OPERANDS : k], &j->rows[k]);
  }
  return true;
}

static uint32_t
find(const row *r, uint32_t digit) {
  uint32_t k = 0;
  while (k < r->n && r->digit[k] != digit)
    k++;
  return k;
}

/* The two of a row can be one. */
static bool
may_join(const joining *j, const row *r, uint32_t a, uint32_t b) {
  switch (j->joins) {
  case FIT_JOIN_WITHIN:
    return r->dim[a] == r->dim[b];
  case FIT_JOIN_LYING:
    return r->stride[b] && r->stride[a] == r->stride[b] * j->size[r->digit[b]];
  case FIT_JOIN_ACROSS:
    break;
  }
  return true;
}

/* In every row with one of them the other stands behind it, at least in one. */
static bool
stand_together(const joining *j, uint32_t high, uint32_t low) {
  bool any = false;
  for (uint32_t k = 0; k < j->n_rows; k++) {
    const row *r = &j->rows[k];
    uint32_t a = find(r, high), b = find(r, low);
    if (a == r->n && b == r->n)
      continue;
    if (a == r->n || b != a + 1 || b == r->n || !may_join(j, r, a, b))
      return false;
    any = true;
  }
  return any && j->m->digits.digit[high].group == j->m->digits.digit[low].group;
}

static void
join_two(joining *j, uint32_t high, uint32_t low) {
  assert(high != low);
  j->size[low] *= j->size[high];
  j->size[high] = 0;
  for (uint32_t k = 0; k < j->n_rows; k++) {
    row *r = &j->rows[k];
    uint32_t at = find(r, high);
    if (at == r->n)
      continue;
    r->n--;
    memmove(r->digit + at, r->digit + at + 1, (r->n - at) * sizeof r->digit[0]);
    memmove(r->dim + at, r->dim + at + 1, r->n - at);
    memmove(r->stride + at, r->stride + at + 1,
            (r->n - at) * sizeof r->stride[0]);
  }
}

/* The digit before `low` in a row that it could be joined with. */
static void
join_all(joining *j) {
  for (uint32_t k = 0; k < j->n_rows; k++)
    for (uint32_t i = 1; i < j->rows[k].n;) {
      uint32_t high = j->rows[k].digit[i - 1], low = j->rows[k].digit[i];
      if (stand_together(j, high, low))
        join_two(j, high, low);
      else
        i++;
    }
}

static void
put_list(const row *r, const uint8_t *atom_of, fit_list *out) {
  out->n = r->n;
  for (uint32_t k = 0; k < r->n; k++)
    out->atom[k] = atom_of[r->digit[k]];
}

static bool
put_atoms(const joining *j, fit_space *out) {
  uint8_t atom_of[RL_DIGITS] = {0};
  out->n = 0;
  for (uint32_t k = 1; k < j->m->digits.n; k++) {
    if (j->size[k] < 2)
      continue;
    if (out->n == FIT_ATOMS)
      return false;
    atom_of[k] = (uint8_t)out->n;
    out->atom[out->n++] =
        (fit_atom){.size = j->size[k], .group = j->m->digits.digit[k].group};
  }
  for (uint32_t k = 0; k + 1 < j->n_rows; k++) {
    put_list(&j->rows[k], atom_of, &out->operand[k]);
    for (uint32_t i = 0; i < out->operand[k].n; i++)
      out->atom[out->operand[k].atom[i]].operands |= 1u << k;
  }
  put_list(&j->rows[j->n_rows - 1], atom_of, &out->result);
  return true;
}

bool
fit_space_of(fit_match *m, fit_joins joins, fit_space *out) {
  assert(joins <= FIT_JOIN_LYING);
  joining *j = bs_calloc(m->session->ctx.heap, 1, sizeof *j);
  j->m = m;
  j->joins = joins;
  bool ok = put_rows(j);
  if (ok) {
    join_all(j);
    ok = put_atoms(j, out);
  }
  bs_free(m->session->ctx.heap, j);
  return ok;
}
