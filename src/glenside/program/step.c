/* SPDX-License-Identifier: MIT */
/* step.c - what a step says as a value. */
#include "glenside/program/scan.h"
#include <assert.h>
#include <string.h>

static bool
read_count(const bs_values *values, bs_value list, uint32_t k, uint32_t most,
           uint32_t *out) {
  bs_value item = bs_item(values, list, k);
  int64_t n = bs_as_int(values, item);
  *out = (uint32_t)n;
  return bs_kind_of(values, item) == BS_KIND_INT && n >= 0 && n <= most;
}

bool
gs_step_read(const bs_values *values, bs_value attr, gs_step *out) {
  bs_value list = bs_item(values, attr, 0);
  uint32_t n = bs_len(values, list);
  *out = (gs_step){0};
  if (bs_kind_of(values, list) != BS_KIND_LIST || n < GS_STEP_HEAD ||
      !read_count(values, list, 0, GS_MAX_STEP, &out->n_each) ||
      !read_count(values, list, 1, GS_MAX_STEP, &out->n_with) ||
      !read_count(values, list, 2, GS_MAX_STEP, &out->result))
    return false;
  out->n_params = 1 + out->n_each + out->n_with;
  out->n_nodes = n - GS_STEP_HEAD;
  return out->n_params + out->n_nodes <= GS_MAX_STEP &&
         out->result < out->n_params + out->n_nodes;
}

bool
gs_may_stand_in_step(gs_op op) {
  assert(op < GS_OP_COUNT);
  return gs_op_table[op].kids == 1 || gs_op_table[op].kids == 2;
}

bool
gs_step_node_at(const bs_values *values, bs_value attr, const gs_step *step,
                uint32_t k, gs_step_node *out) {
  assert(k < step->n_nodes);
  bs_value node = bs_item(values, bs_item(values, attr, 0), GS_STEP_HEAD + k);
  *out = (gs_step_node){.attr = bs_item(values, node, 1)};
  if (bs_kind_of(values, node) != BS_KIND_LIST || bs_len(values, node) < 3 ||
      !gs_op_find(bs_as_sym(values, bs_item(values, node, 0)), &out->op) ||
      !gs_may_stand_in_step(out->op))
    return false;
  out->n_kids = bs_len(values, node) - 2;
  if (out->n_kids != (uint32_t)gs_op_table[out->op].kids)
    return false;
  for (uint32_t i = 0; i < out->n_kids; i++)
    if (!read_count(values, node, 2 + i, step->n_params + k - 1, &out->kids[i]))
      return false;
  return true;
}

bool
gs_step_param(const gs_step *step, uint32_t k, const gs_type *operand,
              gs_type *out) {
  assert(gs_is_type(operand));
  bool item = k > 0 && k <= step->n_each;
  *out = *operand;
  if (item && !operand->rank)
    return false;
  if (item) {
    out->rank--;
    memmove(out->dim, operand->dim + 1, out->rank * sizeof *out->dim);
  }
  out->access = out->rank;
  return true;
}
