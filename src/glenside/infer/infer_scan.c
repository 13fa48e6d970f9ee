/* SPDX-License-Identifier: MIT */
/* infer_scan.c - the type of a scan, from what its step says. */
#include "glenside/infer/infer.h"
#include "glenside/program/scan.h"
#include <assert.h>
#include <string.h>

static bool
fail_in_step(gs_fault *fault, const gs_fault *of) {
  gs_fail(fault, of->code, -1, 0, "in the step: %.200s", of->message);
  if (fault)
    memcpy(fault->hint, of->hint, sizeof fault->hint);
  return false;
}

static bool
find_params(bs_values *values, const gs_step *step, const gs_type *const *kids,
            bs_value *types, gs_fault *fault) {
  for (uint32_t k = 0; k < step->n_params; k++) {
    gs_type type;
    if (!gs_step_param(step, k, kids[k], &type))
      return gs_fail(fault, "type-mismatch", (int)k, -1,
                     "a sequence has a dimension of steps, which is its first");
    types[k] = gs_type_intern(values, &type);
  }
  return true;
}

static bool
find_node(bs_values *values, bs_value attr, const gs_step *step, uint32_t k,
          bs_value *types, gs_fault *fault) {
  gs_step_node node;
  gs_type kids[2], made;
  const gs_type *at[2] = {&kids[0], &kids[1]};
  gs_fault inner = {0};
  if (!gs_step_node_at(values, attr, step, k, &node))
    return gs_fail(fault, "bad-attribute", -1, 0, "a scan needs a step");
  for (uint32_t i = 0; i < node.n_kids; i++)
    gs_type_read(values, types[node.kids[i]], &kids[i]);
  if (!gs_infer(values, NULL, node.op, node.attr, at, node.n_kids, &made,
                &inner))
    return fail_in_step(fault, &inner);
  types[step->n_params + k] = gs_type_intern(values, &made);
  return true;
}

bool
gs_step_types(bs_values *values, bs_value attr, const gs_step *step,
              const gs_type *const *kids, bs_value *types, gs_fault *fault) {
  assert(step->n_nodes <= GS_MAX_STEP && step->n_params);
  if (!find_params(values, step, kids, types, fault))
    return false;
  for (uint32_t k = 0; k < step->n_nodes; k++)
    if (!find_node(values, attr, step, k, types, fault))
      return false;
  return true;
}

/* The first dimension of all sequences. */
static bool
count_steps(infer *x, const gs_step *step, gs_number *out) {
  if (!step->n_each)
    return gs_fail(x->fault, "wrong-arity", -1, 0,
                   "a scan needs at least one sequence");
  *out = x->kids[1]->dim[0];
  for (uint32_t k = 2; k <= step->n_each; k++)
    if (x->kids[k]->dim[0] != *out)
      return gs_fail(x->fault, "type-mismatch", (int)k, -1,
                     "sequences need the same number of steps, but these have "
                     "%lld and %lld",
                     (long long)*out, (long long)x->kids[k]->dim[0]);
  return true;
}

static bool
same_shape(const gs_type *a, const gs_type *b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         (!a->rank || !memcmp(a->dim, b->dim, a->rank * sizeof *a->dim));
}

bool
infer_scan(infer *x) {
  bs_value types[GS_MAX_STEP];
  gs_step step;
  gs_type state, next;
  gs_number n;
  if (!gs_step_read(x->values, x->attr, &step))
    return gs_fail(x->fault, "bad-attribute", -1, 0, "a scan needs a step");
  if (x->n_kids != step.n_params)
    return gs_fail(
        x->fault, "wrong-arity", -1, -1, "the step has %u %s, scan has %u %s",
        BS_COUNTED(step.n_params, "parameter"), BS_COUNTED(x->n_kids, "term"));
  if (!gs_step_types(x->values, x->attr, &step, x->kids, types, x->fault) ||
      !count_steps(x, &step, &n))
    return false;
  gs_type_read(x->values, types[0], &state);
  gs_type_read(x->values, types[step.result], &next);
  if (!same_shape(&state, &next))
    return gs_fail(x->fault, "type-mismatch", -1, 0,
                   "the step gives %s, but its state is %s",
                   infer_show_type(x, &next).s, infer_show_type(x, &state).s);
  x->made.dtype = state.dtype;
  if (!infer_push(x, &n, 1) || !infer_push(x, state.dim, state.rank))
    return false;
  x->made.access = x->made.rank;
  return true;
}
