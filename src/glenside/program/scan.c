/* SPDX-License-Identifier: MIT */
/* scan.c - steps as values, and as programs. */
#include "glenside/program/scan.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- from a program ---- */

typedef struct encoder {
  const gs_program *p;
  bs_values *values;
  uint32_t *place; /* by term: 1 more than its place; 0: none yet */
  BS_VEC(bs_value) items;
  BS_VEC(gs_term) stack;
  uint32_t n; /* places that are taken */
} encoder;

static bool
refuse(gs_op op, gs_fault *fault) {
  gs_fail(fault, "bad-step", -1, -1, "%s cannot stand in a step",
          op == GS_SCAN    ? "a scan"
          : op == GS_CALL  ? "a call of an instruction"
          : op == GS_CONST ? "a constant"
                           : gs_op_table[op].name);
  if (op == GS_CONST && fault)
    snprintf(fault->hint, sizeof fault->hint,
             "name it outside, and hand it in by (with ...)");
  return false;
}

static void
put_node(encoder *e, gs_term t) {
  const gs_node *node = gs_at(e->p, t);
  bs_value items[4] = {bs_sym(e->values, gs_op_table[node->op].name),
                       node->attr};
  for (uint32_t k = 0; k < node->n_kids; k++)
    items[2 + k] = bs_int(e->values, e->place[node->kids[k].i] - 1);
  bs_push(e->p->ctx.heap, &e->items,
          bs_list(e->values, items, 2 + node->n_kids));
  e->place[t.i] = ++e->n;
}

/* Leaves what the result needs, each after what it reads. */
static bool
walk(encoder *e, gs_term result, gs_fault *fault) {
  bs_push(e->p->ctx.heap, &e->stack, result);
  while (e->stack.len) {
    gs_term t = bs_last(&e->stack);
    const gs_node *node = gs_at(e->p, t);
    uint32_t k = 0;
    if (!e->place[t.i] && !gs_may_stand_in_step(node->op))
      return refuse(node->op, fault);
    while (!e->place[t.i] && k < node->n_kids && e->place[node->kids[k].i])
      k++;
    if (!e->place[t.i] && k < node->n_kids) {
      bs_push(e->p->ctx.heap, &e->stack, node->kids[k]);
      continue;
    }
    if (!e->place[t.i])
      put_node(e, t);
    (void)bs_pop(&e->stack);
  }
  return e->n <= GS_MAX_STEP ||
         gs_fail(fault, "bad-step", -1, -1,
                 "a step has at most %d parameters and terms", GS_MAX_STEP);
}

bool
gs_step_encode(const gs_program *p, gs_term result, uint32_t n_each,
               bs_value *attr, gs_fault *fault) {
  assert(result.i < p->nodes.len && n_each < p->inputs.len);
  bs_heap *heap = p->ctx.heap;
  bs_values *values = p->ctx.values;
  encoder e = {.p = p, .values = values};
  e.place = bs_calloc(heap, p->nodes.len, sizeof *e.place);
  for (uint32_t k = 0; k < p->inputs.len; k++)
    e.place[p->inputs.data[k].term.i] = ++e.n;
  for (uint32_t k = 0; k < GS_STEP_HEAD; k++)
    bs_push(heap, &e.items, BS_NIL);
  bool fine = walk(&e, result, fault);
  if (fine) {
    e.items.data[0] = bs_int(values, n_each);
    e.items.data[1] = bs_int(values, p->inputs.len - 1 - (int64_t)n_each);
    e.items.data[2] = bs_int(values, e.place[result.i] - 1);
    bs_value step = bs_list(values, e.items.data, e.items.len);
    *attr = bs_list(values, &step, 1);
  }
  bs_vec_done(heap, &e.stack);
  bs_vec_done(heap, &e.items);
  bs_free(heap, e.place);
  return fine;
}

/* ---- to a program ---- */

gs_term
gs_step_add(gs_program *to, bs_value attr, const gs_term *params,
            gs_fault *fault) {
  gs_step step;
  gs_step_node node;
  if (!gs_step_read(to->ctx.values, attr, &step))
    return GS_NO_TERM;
  gs_term *at =
      BS_NEWS(to->ctx.arena, gs_term, step.n_params + (size_t)step.n_nodes);
  memcpy(at, params, step.n_params * sizeof *at);
  for (uint32_t k = 0; k < step.n_nodes; k++) {
    if (!gs_step_node_at(to->ctx.values, attr, &step, k, &node))
      return GS_NO_TERM;
    gs_term kids[2] = {at[node.kids[0]], at[node.kids[1]]};
    gs_term t =
        gs_add(to, node.op, node.attr, kids, node.n_kids, BS_NOWHERE, fault);
    if (!gs_term_ok(t))
      return t;
    at[step.n_params + k] = t;
  }
  return at[step.result];
}

static gs_program *
make_step(const gs_program *p, gs_term scan, gs_fault *fault) {
  const gs_node *node = gs_at(p, scan);
  gs_program *to = gs_program_new(&p->ctx, NULL);
  gs_term *params = BS_NEWS(p->ctx.arena, gs_term, node->n_kids + (size_t)1);
  gs_step step;
  if (!gs_step_read(p->ctx.values, node->attr, &step))
    return NULL;
  for (uint32_t k = 0; k < step.n_params; k++) {
    gs_type operand, type;
    char name[16];
    snprintf(name, sizeof name, "p%u", k);
    gs_type_at(p, node->kids[k], &operand);
    gs_step_param(&step, k, &operand, &type);
    params[k] = gs_add_tensor(to, name, &type, BS_NOWHERE);
  }
  gs_term result = gs_step_add(to, node->attr, params, fault);
  if (!gs_term_ok(result))
    return NULL;
  gs_add_output(to, "next", result, BS_NOWHERE);
  return to;
}

const gs_program *
gs_step_program(const gs_program *p, gs_term scan, gs_fault *fault) {
  assert(gs_at(p, scan)->op == GS_SCAN);
  const gs_program *made = *gs_derived(p, scan.i);
  if (!made)
    made = *gs_derived(p, scan.i) = make_step(p, scan, fault);
  return made;
}
