/* SPDX-License-Identifier: MIT */
/* unscan.c - scans as terms for all of their steps at once, or step by step.
 *
 * The step is lifted over time: of each term in it there is one for each step,
 * as lift.c has it.  What the state was before each step is the initial state
 * and then the states themselves but for the last, so that the states are
 * defined by themselves; a tensor that is no input stands for them there.  The
 * materialize of the lifted result holds them. */
#include "glenside/call/over.h"
#include "glenside/program/scan.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

typedef struct unscanning {
  const gs_program *from;
  gs_program *to;
  gs_term *made; /* by term of `from` */
  gs_fault *fault;
} unscanning;

/* No term where an operand is none: the first fault is the one that is told. */
static gs_term
add(const unscanning *u, gs_op op, const bs_value *items, uint32_t n,
    const gs_term *kids, uint32_t n_kids) {
  for (uint32_t k = 0; k < n_kids; k++)
    if (!gs_term_ok(kids[k]))
      return GS_NO_TERM;
  return gs_add(u->to, op, bs_list(u->to->ctx.values, items, n), kids, n_kids,
                BS_NOWHERE, u->fault);
}

/* With all dimensions in S. */
static gs_term
whole(const unscanning *u, gs_term t) {
  gs_type type;
  if (!gs_term_ok(t))
    return t;
  gs_type_at(u->to, t, &type);
  bs_value rank = bs_int(u->to->ctx.values, type.rank);
  return type.access == type.rank ? t : add(u, GS_ACCESS, &rank, 1, &t, 1);
}

static gs_term
with_first(const unscanning *u, gs_term t) {
  bs_value first = bs_int(u->to->ctx.values, 0);
  t = whole(u, t);
  return add(u, GS_INSERT_AXIS, &first, 1, &t, 1);
}

/* For each of n steps the same. */
static gs_term
repeated(const unscanning *u, gs_term t, int64_t n) {
  gs_type type;
  t = with_first(u, t);
  if (!gs_term_ok(t))
    return t;
  gs_type_at(u->to, t, &type);
  type.dim[0] = n;
  bs_value shape = bs_ints(u->to->ctx.values, type.dim, type.rank);
  return add(u, GS_BROADCAST, &shape, 1, &t, 1);
}

/* The tensor that stands for all states.  No input is called so. */
static gs_term
states_of(const unscanning *u, const gs_type *type, gs_term scan) {
  bs_values *values = u->to->ctx.values;
  char name[32];
  snprintf(name, sizeof name, "states %u", scan.i);
  bs_value items[3] = {bs_sym(values, name),
                       bs_ints(values, type->dim, type->rank),
                       bs_sym(values, gs_dtype_table[type->dtype].name)};
  return add(u, GS_TENSOR, items, 3, NULL, 0);
}

/* The state before each step. */
static gs_term
state_before(const unscanning *u, gs_term init, gs_term states, int64_t n) {
  bs_values *values = u->to->ctx.values;
  bs_value cut[3] = {bs_int(values, 0), bs_int(values, 0),
                     bs_int(values, n - 1)};
  gs_term two[2] = {with_first(u, init), states};
  if (n == 1)
    return two[0];
  two[1] = add(u, GS_SLICE, cut, 3, &two[1], 1);
  return add(u, GS_CONCAT, cut, 1, two, 2);
}

static gs_term
unscan(unscanning *u, gs_term scan) {
  const gs_node *node = gs_at(u->from, scan);
  bs_arena *arena = u->to->ctx.arena;
  gs_type type;
  gs_step step;
  const gs_program *body = gs_step_program(u->from, scan, u->fault);
  if (!body || !gs_step_read(u->to->ctx.values, node->attr, &step))
    return GS_NO_TERM;
  gs_type_at(u->from, scan, &type);
  int64_t n = type.dim[0];
  gs_term states = n > 1 ? states_of(u, &type, scan) : GS_NO_TERM;
  gs_term *params = BS_NEWS(arena, gs_term, step.n_params);
  for (uint32_t k = 0; k < step.n_params; k++) {
    gs_term operand = u->made[node->kids[k].i];
    params[k] = !k                 ? state_before(u, operand, states, n)
                : k <= step.n_each ? whole(u, operand)
                                   : repeated(u, operand, n);
    if (!gs_term_ok(params[k]))
      return GS_NO_TERM;
  }
  gs_term result =
      gs_lift(body, body->outputs.data[0].term, &n, 1, u->to, params, u->fault);
  result = whole(u, result);
  result = add(u, GS_MATERIALIZE, NULL, 0, &result, 1);
  if (n > 1 && gs_term_ok(result))
    bs_push(u->to->ctx.heap, &u->to->recurrences,
            (gs_recurrence){states, result});
  return result;
}

/* ---- step by step ---- */

/* Item t of a sequence. */
static gs_term
item_at(const unscanning *u, gs_term all, int64_t t) {
  bs_values *values = u->to->ctx.values;
  bs_value cut[3] = {bs_int(values, 0), bs_int(values, t),
                     bs_int(values, t + 1)};
  all = whole(u, all);
  all = add(u, GS_SLICE, cut, 3, &all, 1);
  return add(u, GS_SQUEEZE, cut, 1, &all, 1);
}

/* Operands of step t: the state, items of what is taken by steps, and all of
 * the others. */
static void
operands_of_step(unscanning *u, const gs_step *step, const gs_term *kids,
                 gs_term state, int64_t t, gs_term *params) {
  params[0] = state;
  for (uint32_t k = 1; k < step->n_params; k++)
    params[k] = k <= step->n_each ? item_at(u, kids[k], t) : whole(u, kids[k]);
}

static gs_term
joined(unscanning *u, const gs_term *states, int64_t n) {
  bs_value first = bs_int(u->to->ctx.values, 0);
  gs_term all = states[n - 1];
  for (int64_t t = n - 1; t-- > 0;) {
    gs_term two[2] = {states[t], all};
    all = add(u, GS_CONCAT, &first, 1, two, 2);
  }
  return all;
}

gs_term
gs_unroll_scan(gs_program *to, bs_value attr, int64_t steps,
               const gs_term *kids, gs_fault *fault) {
  assert(steps >= 1);
  unscanning u = {.to = to, .fault = fault};
  gs_step step;
  if (!gs_step_read(to->ctx.values, attr, &step))
    return GS_NO_TERM;
  gs_term *states =
      BS_NEWS(to->ctx.arena, gs_term, (size_t)steps + step.n_params);
  gs_term *params = states + steps, state = whole(&u, kids[0]);
  for (int64_t t = 0; t < steps; t++) {
    operands_of_step(&u, &step, kids, state, t, params);
    state = gs_step_add(to, attr, params, fault);
    if (!gs_term_ok(state))
      return state;
    state = whole(&u, state);
    states[t] = with_first(&u, state);
  }
  return joined(&u, states, steps);
}

/* ---- programs ---- */

static gs_term
copy(unscanning *u, gs_term t) {
  const gs_node *node = gs_at(u->from, t);
  if (node->op == GS_SCAN)
    return unscan(u, t);
  if (node->op == GS_CONST)
    return gs_copy_constant(u->from, node->attr, u->to, node->span);
  return gs_add_like(u->to, node, u->made);
}

static bool
has_scans(const gs_program *p) {
  for (uint32_t k = 0; k < p->nodes.len; k++)
    if (p->nodes.data[k].op == GS_SCAN)
      return true;
  return false;
}

static void
copy_names(unscanning *u) {
  const gs_program *from = u->from;
  for (uint32_t k = 0; k < from->lets.len; k++) {
    gs_named let = from->lets.data[k];
    let.term = u->made[let.term.i];
    bs_push(u->to->ctx.heap, &u->to->lets, let);
  }
  for (uint32_t k = 0; k < from->outputs.len; k++)
    gs_add_output(u->to, from->outputs.data[k].name,
                  u->made[from->outputs.data[k].term.i],
                  from->outputs.data[k].span);
}

/* All steps at once may have more dimensions or elements than a term may. */
static void
tell(const gs_program *from, gs_term scan, const gs_fault *fault) {
  bs_error(
      from->ctx.diags, gs_at(from, scan)->span,
      fault->code ? fault->code : "too-large",
      "no code can be made for this scan: for all of its steps at once, %s",
      *fault->message ? fault->message : "it is too large");
}

static const gs_program *
remove_scans(const gs_program *from) {
  gs_fault fault = {0};
  unscanning u = {from, gs_program_new(&from->ctx, from->target), NULL, &fault};
  u.made = BS_NEWS(from->ctx.arena, gs_term, from->nodes.len);
  for (uint32_t k = 0; k < from->inputs.len; k++) {
    const gs_named *input = &from->inputs.data[k];
    gs_type type;
    gs_type_at(from, input->term, &type);
    gs_add_tensor(u.to, input->name, &type, input->span);
  }
  gs_copy_data(from, u.to);
  for (uint32_t k = 0; k < from->nodes.len; k++) {
    u.made[k] = copy(&u, (gs_term){k});
    if (gs_term_ok(u.made[k]))
      continue;
    tell(from, (gs_term){k}, &fault);
    return NULL;
  }
  copy_names(&u);
  return u.to;
}

const gs_program *
gs_without_scans(const gs_program *from) {
  if (!has_scans(from))
    return from;
  const gs_program *made = *gs_derived(from, GS_WITHOUT_SCANS);
  if (!made)
    made = *gs_derived(from, GS_WITHOUT_SCANS) = remove_scans(from);
  return made;
}
