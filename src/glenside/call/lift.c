/* SPDX-License-Identifier: MIT */
/* lift.c - a term for each index of further dimensions.
 *
 * A term works on each item alike, so what it says of one item it says of many:
 * the further dimensions stand before all others, in the access shape, and
 * attributes that count dimensions count from behind them.  Only cartProd pairs
 * what it should not then, items of different indices; its operands are spread
 * and paired item by item instead. */
#include "glenside/call/over.h"
#include <assert.h>
#include <string.h>

typedef struct lifting {
  const gs_program *from;
  gs_program *to;
  const int64_t *lead;
  uint32_t n;
  gs_term *made;
  gs_fault *fault;
} lifting;

static gs_term
add(const lifting *l, gs_op op, const bs_value *items, uint32_t n,
    const gs_term *kids, uint32_t n_kids) {
  return gs_add(l->to, op, bs_list(l->to->ctx.values, items, n), kids, n_kids,
                BS_NOWHERE, l->fault);
}

/* The further sizes, then some others. */
static bs_value
sizes(const lifting *l, const int64_t *dim, uint32_t n) {
  int64_t all[2 * GS_MAX_RANK];
  memcpy(all, l->lead, l->n * sizeof *all);
  if (n)
    memcpy(all + l->n, dim, n * sizeof *all);
  return bs_ints(l->to->ctx.values, all, l->n + n);
}

/* (transpose a (list 0 .. n-1, p + n)) */
static bs_value
permutation(const lifting *l, bs_value list) {
  const bs_values *values = l->from->ctx.values;
  int64_t all[2 * GS_MAX_RANK];
  uint32_t n = bs_len(values, list);
  for (uint32_t k = 0; k < l->n; k++)
    all[k] = k;
  for (uint32_t k = 0; k < n && k < GS_MAX_RANK; k++)
    all[l->n + k] = bs_as_int(values, bs_item(values, list, k)) + l->n;
  return bs_ints(l->to->ctx.values, all, l->n + n);
}

static bs_value
longer(const lifting *l, bs_value list) {
  int64_t dim[GS_MAX_RANK];
  uint32_t n = 0;
  bs_to_ints(l->from->ctx.values, list, dim, GS_MAX_RANK, &n);
  return sizes(l, dim, n);
}

/* An operand of cartProd with `n` dimensions of the other one inserted at
 * `at`. */
static gs_term
spread(const lifting *l, gs_term t, uint32_t at, const int64_t *dim,
       uint32_t n) {
  bs_values *values = l->to->ctx.values;
  gs_type type;
  bs_value item = bs_int(values, at);
  for (uint32_t k = 0; k < n && gs_term_ok(t); k++)
    t = add(l, GS_INSERT_AXIS, &item, 1, &t, 1);
  if (!gs_term_ok(t) || !n)
    return t;
  gs_type_at(l->to, t, &type);
  memcpy(type.dim + at, dim, n * sizeof *dim);
  item = bs_ints(values, type.dim, type.rank);
  return add(l, GS_BROADCAST, &item, 1, &t, 1);
}

static gs_term
lift_product(const lifting *l, const gs_node *node) {
  gs_type a, b;
  gs_type_at(l->from, node->kids[0], &a);
  gs_type_at(l->from, node->kids[1], &b);
  gs_term kids[2] = {
      spread(l, l->made[node->kids[0].i], l->n + a.access, b.dim, b.access),
      spread(l, l->made[node->kids[1].i], l->n, a.dim, a.access)};
  if (!gs_term_ok(kids[0]) || !gs_term_ok(kids[1]))
    return GS_NO_TERM;
  return add(l, GS_PAIR, NULL, 0, kids, 2);
}

/* A flatten keeps the further dimensions apart. */
static gs_term
lift_flatten(const lifting *l, gs_term t, const gs_term *kid) {
  gs_type type;
  gs_type_at(l->from, t, &type);
  bs_value items[2] = {sizes(l, type.dim, type.access),
                       bs_ints(l->to->ctx.values, type.dim + type.access,
                               type.rank - type.access)};
  return add(l, GS_RESHAPE, items, 2, kid, 1);
}

static gs_term
lift_node(const lifting *l, gs_term t) {
  const gs_node *node = gs_at(l->from, t);
  const bs_values *values = l->from->ctx.values;
  const char *letters = gs_op_table[node->op].attrs;
  bs_value items[8];
  gs_term kids[2];
  uint32_t n = (uint32_t)strlen(letters);
  if (node->op == GS_CARTPROD)
    return lift_product(l, node);
  for (uint32_t k = 0; k < node->n_kids && k < 2; k++)
    kids[k] = l->made[node->kids[k].i];
  if (node->op == GS_FLATTEN)
    return lift_flatten(l, t, kids);
  for (uint32_t k = 0; k < n; k++) {
    bs_value v = items[k] = bs_item(values, node->attr, k);
    if (letters[k] == 'd' || letters[k] == 'g')
      items[k] = bs_int(l->to->ctx.values, bs_as_int(values, v) + l->n);
  }
  if (node->op == GS_TRANSPOSE)
    items[0] = permutation(l, items[0]);
  if (node->op == GS_BROADCAST || node->op == GS_RESHAPE)
    items[0] = longer(l, items[0]);
  return add(l, node->op, items, n, kids, node->n_kids);
}

static gs_term
input_of(const lifting *l, gs_term t, const gs_term *inputs) {
  for (uint32_t k = 0; k < l->from->inputs.len; k++)
    if (l->from->inputs.data[k].term.i == t.i)
      return inputs[k];
  return GS_NO_TERM;
}

gs_term
gs_lift(const gs_program *from, gs_term root, const int64_t *lead,
        uint32_t n_lead, gs_program *to, const gs_term *inputs,
        gs_fault *fault) {
  assert(root.i < from->nodes.len && from != to);
  lifting l = {from, to, lead, n_lead, NULL, fault};
  l.made = BS_NEWS(to->ctx.arena, gs_term, root.i + (size_t)1);
  for (uint32_t k = 0; k <= root.i; k++) {
    gs_term t = {k};
    gs_op op = gs_at(from, t)->op;
    if (op == GS_CALL || op == GS_CONST) {
      gs_fail(fault, "bad-over", -1, -1,
              "a call over further dimensions cannot be written as a term");
      return GS_NO_TERM;
    }
    l.made[k] = op == GS_TENSOR ? input_of(&l, t, inputs) : lift_node(&l, t);
    if (!gs_term_ok(l.made[k]))
      return GS_NO_TERM;
  }
  return l.made[root.i];
}
