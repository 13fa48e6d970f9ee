/* SPDX-License-Identifier: MIT */
/* digits.c - see digits.h. */
#include "rules/instr/digits.h"
#include <assert.h>
#include <string.h>

void
rl_digits_clear(rl_digits *d) {
  d->n = 1;
  d->failed = false;
}

static uint16_t
new_digit(rl_digits *d, int64_t size, uint32_t group) {
  assert(size >= 1);
  if (d->n == RL_DIGITS) {
    d->failed = true;
    return 0;
  }
  d->digit[d->n] = (rl_digit){.size = size, .group = (uint16_t)group};
  return (uint16_t)d->n++;
}

static void
push(rl_digits *d, rl_row *to, uint16_t digit) {
  assert(digit < d->n);
  if (to->n == RL_ROW)
    d->failed = true;
  else
    to->digit[to->n++] = digit;
}

/* A dimension of its own; of size 1 it has no digit. */
static void
digits_add(rl_digits *d, int64_t size, uint32_t group, rl_row *out) {
  assert(size >= 1);
  out->n = 0;
  out->item = 0;
  if (size > 1)
    push(d, out, new_digit(d, size, group));
}

void
rl_digits_push(rl_digits *d, const gs_type *type, uint32_t from, uint32_t to,
               uint32_t group, rl_index *x) {
  assert(from <= to && to <= type->rank);
  for (uint32_t k = from; k < to && !d->failed; k++) {
    if (x->rank == GS_MAX_RANK)
      d->failed = true;
    else
      digits_add(d, type->dim[k], group, &x->at[x->rank++]);
  }
}

void
rl_index_insert(rl_index *x, uint32_t at, const rl_row *row) {
  assert(x->rank < GS_MAX_RANK && at <= x->rank);
  memmove(&x->at[at + 1], &x->at[at], (x->rank - at) * sizeof x->at[0]);
  x->at[at] = *row;
  x->rank++;
}

static void
index_remove(rl_index *x, uint32_t at) {
  assert(at < x->rank);
  memmove(&x->at[at], &x->at[at + 1], (x->rank - at - 1) * sizeof x->at[0]);
  x->rank--;
}

/* ---- split digits ---- */

static bool
split(rl_digits *d, uint16_t k, int64_t low) {
  assert(k < d->n && low >= 1);
  uint32_t group = d->digit[k].group;
  uint16_t a = new_digit(d, d->digit[k].size / low, group);
  uint16_t b = new_digit(d, low, group);
  if (d->failed)
    return false;
  d->digit[k].high = a;
  d->digit[k].low = b;
  return true;
}

/* A digit takes the place of at most RL_DIGITS others. */
static void
put_settled(rl_digits *d, uint16_t digit, rl_row *to) {
  assert(digit < d->n);
  uint16_t stack[RL_DIGITS];
  uint32_t n = 0;
  stack[n++] = digit;
  while (n && !d->failed) {
    uint16_t k = stack[--n];
    if (!d->digit[k].low) {
      push(d, to, k);
      continue;
    }
    stack[n++] = d->digit[k].low;
    stack[n++] = d->digit[k].high;
  }
}

void
rl_row_normalise(rl_digits *d, rl_row *row) {
  rl_row old = *row;
  row->n = 0;
  for (uint32_t k = 0; k < old.n; k++)
    put_settled(d, old.digit[k], row);
}

void
rl_index_normalise(rl_digits *d, rl_index *x) {
  for (uint32_t k = 0; k < x->rank; k++)
    rl_row_normalise(d, &x->at[k]);
}

/* What is `want` large, from the lower end of the row; false: the sizes do not
 * go into each other. */
static bool
take(rl_digits *d, rl_row *row, int64_t want, rl_row *out) {
  uint16_t taken[RL_ROW];
  uint32_t n = 0;
  while (want > 1) {
    if (!row->n || n == RL_ROW)
      return false;
    uint16_t k = row->digit[--row->n];
    int64_t size = d->digit[k].size;
    if (want % size == 0) {
      taken[n++] = k;
      want /= size;
      continue;
    }
    if (size % want || !split(d, k, want))
      return false;
    push(d, row, d->digit[k].high);
    taken[n++] = d->digit[k].low;
    want = 1;
  }
  *out = (rl_row){0};
  while (n)
    push(d, out, taken[--n]);
  return true;
}

/* ---- views ---- */

/* All dimensions in one row. */
static bool
gather(rl_digits *d, const rl_index *x, rl_row *row) {
  *row = (rl_row){0};
  for (uint32_t k = 0; k < x->rank; k++) {
    if (x->at[k].item)
      return false;
    for (uint32_t i = 0; i < x->at[k].n; i++)
      put_settled(d, x->at[k].digit[i], row);
  }
  return !d->failed;
}

static bool
down_reshape(rl_digits *d, const gs_type *kid, rl_index *x) {
  rl_row all;
  rl_index made = {.rank = kid->rank};
  if (!gather(d, x, &all))
    return false;
  for (uint32_t k = kid->rank; k-- > 0;)
    if (!take(d, &all, kid->dim[k], &made.at[k]))
      return false;
  if (all.n || d->failed)
    return false;
  *x = made;
  return true;
}

static bool
down_transpose(const bs_values *values, bs_value order, rl_index *x) {
  rl_index old = *x;
  for (uint32_t k = 0; k < old.rank; k++)
    x->at[bs_as_int(values, bs_item(values, order, k))] = old.at[k];
  return true;
}

static bool
down_broadcast(const gs_type *type, const gs_type *kid, rl_index *x) {
  for (uint32_t k = 0; k < x->rank; k++)
    if (type->dim[k] != kid->dim[k])
      x->at[k] = (rl_row){0};
  return true;
}

/* Which item of a tuple, and what of the index its operand has. */
static bool
down_tuple(gs_op op, const gs_type *type, const gs_type *const *kids,
           rl_index *x, uint32_t *kid) {
  rl_row item = x->at[type->access];
  if (item.n || item.item > 1)
    return false;
  *kid = item.item == 1;
  index_remove(x, type->access);
  if (op != GS_CARTPROD)
    return true;
  uint32_t from = *kid ? 0 : kids[0]->access;
  for (uint32_t k = *kid ? kids[0]->access : kids[1]->access; k; k--)
    index_remove(x, from);
  return true;
}

static int64_t
at_list(const bs_values *values, bs_value attr, uint32_t list, uint32_t k) {
  return bs_as_int(values, bs_item(values, bs_item(values, attr, list), k));
}

/* Windows that lie side by side, and so have each element once, in order. */
static bool
side_by_side(const bs_values *values, bs_value attr, const gs_type *type,
             const gs_type *kid) {
  uint32_t items = kid->rank - (uint32_t)kid->access;
  for (uint32_t k = 0; k < items; k++) {
    int64_t count = type->dim[kid->access + k],
            size = at_list(values, attr, 0, k);
    int64_t dilation = at_list(values, attr, 2, k);
    if (count * size != kid->dim[kid->access + k] ||
        (count > 1 && at_list(values, attr, 1, k) != size) ||
        (size > 1 && dilation != 1))
      return false;
  }
  return true;
}

static bool
down_windows(rl_digits *d, const bs_values *values, bs_value attr,
             const gs_type *type, const gs_type *kid, rl_index *x) {
  uint32_t items = kid->rank - (uint32_t)kid->access;
  if (!side_by_side(values, attr, type, kid))
    return false;
  for (uint32_t k = 0; k < items; k++) {
    const rl_row *inner = &x->at[kid->rank + k];
    for (uint32_t i = 0; i < inner->n; i++)
      push(d, &x->at[kid->access + k], inner->digit[i]);
  }
  x->rank = kid->rank;
  return true;
}

static bool
down_repeat(rl_digits *d, uint32_t axis, int64_t times, rl_index *x) {
  rl_row row = x->at[axis], low;
  rl_row_normalise(d, &row);
  if (row.item || !take(d, &row, times, &low))
    return false;
  x->at[axis] = row;
  return true;
}

static uint32_t
axis_of(const bs_values *values, bs_value attr) {
  return (uint32_t)bs_as_int(values, bs_item(values, attr, 0));
}

void
rl_digits_undo(rl_digits *d, uint32_t n) {
  assert(n <= d->n);
  for (uint32_t k = 1; k < n; k++)
    if (d->digit[k].low >= n)
      d->digit[k].low = d->digit[k].high = 0;
  d->n = n;
}

static bool
down(rl_digits *d, const bs_values *values, gs_op op, bs_value attr,
     const gs_type *type, const gs_type *const *kids, rl_index *x,
     uint32_t *kid) {
  const rl_row none = {0};
  *kid = 0;
  if (op == GS_ACCESS || op == GS_MATERIALIZE)
    return true;
  if (op == GS_PAIR || op == GS_CARTPROD)
    return down_tuple(op, type, kids, x, kid);
  if (op == GS_TRANSPOSE)
    return down_transpose(values, bs_item(values, attr, 0), x);
  if (op == GS_BROADCAST)
    return down_broadcast(type, kids[0], x);
  if (op == GS_FLATTEN || op == GS_RESHAPE)
    return down_reshape(d, kids[0], x);
  if (op == GS_WINDOWS)
    return down_windows(d, values, attr, type, kids[0], x);
  if (op == GS_REPEAT)
    return down_repeat(d, axis_of(values, attr),
                       bs_as_int(values, bs_item(values, attr, 1)), x);
  if (op == GS_SQUEEZE)
    rl_index_insert(x, axis_of(values, attr), &none);
  else if (op == GS_INSERT_AXIS)
    index_remove(x, axis_of(values, attr));
  return op == GS_SQUEEZE || op == GS_INSERT_AXIS;
}

bool
rl_digits_down(rl_digits *d, const bs_values *values, gs_op op, bs_value attr,
               const gs_type *type, const gs_type *const *kids, rl_index *x,
               uint32_t *kid) {
  uint32_t n = d->n;
  rl_index was = *x;
  bool failed = d->failed;
  assert(op < GS_OP_COUNT && x->rank <= GS_MAX_RANK);
  if (down(d, values, op, attr, type, kids, x, kid))
    return true;
  rl_digits_undo(d, n);
  d->failed = failed;
  *x = was;
  return false;
}
