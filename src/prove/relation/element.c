/* SPDX-License-Identifier: MIT */
/* element.c - small terms evaluated element by element, in order of the terms.
 *
 * What is equal here is equal for every input of these shapes: values are in
 * normal form over all elements of all inputs. */
#include "prove/relation/element.h"
#include "prove/session/session_prove.h"
#include "glenside/array/tensor.h"
#include <assert.h>

int64_t
pv_count_elements(const gs_program *p, const uint8_t *wanted, int64_t max) {
  assert(max >= 0);
  int64_t sum = 0;
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    gs_type type;
    if (!wanted[k])
      continue;
    gs_type_at(p, (gs_term){k}, &type);
    sum += gs_elements(&type);
    if (sum > max)
      return -1;
  }
  return sum;
}

static void
leaves(pv_elements *e, gs_term t, const gs_type *type, pv_value *out) {
  int64_t n = gs_elements(type);
  for (int64_t k = 0; k < n; k++)
    out[k] = pv_leaf(e->values, type->dtype, t.i, k,
                     e->facts && e->facts[t.i] & PV_PARTIAL);
}

static void
constant(pv_elements *e, gs_term t, const gs_type *type, pv_value *out) {
  const gs_constant *c = gs_constant_of(e->p, gs_at(e->p, t)->attr);
  if (!c) {
    leaves(e, t, type, out);
    return;
  }
  gs_tensor data = gs_tensor_of(c);
  for (int64_t k = 0; k < data.elements; k++)
    out[k] = pv_real_value(e->values, type->dtype, gs_tensor_get(&data, k));
}

static void
compute(pv_elements *e, gs_term t, const gs_type *type, pv_value *out) {
  const gs_node *node = gs_at(e->p, t);
  gs_type from;
  gs_type_at(e->p, node->kids[0], &from);
  pv_compute c = {.values = e->p->ctx.values,
                  .o = bs_item(e->p->ctx.values, node->attr, 0),
                  .from = from.dtype,
                  .dtype = type->dtype,
                  .tuple = 1};
  gs_compute_of(c.values, c.o, &c.op);
  gs_compute_kind kind = gs_compute_table[c.op].kind;
  if (from.rank > from.access && kind != GS_REDUCE && kind != GS_ELEMENTWISE &&
      kind != GS_CAST && kind != GS_SOFTMAX && kind != GS_LOOKUP)
    c.tuple = (uint32_t)from.dim[from.access];
  int64_t outer = gs_prod(from.dim, from.access);
  int64_t n = gs_elements(&from) / outer, made = gs_elements(type) / outer;
  const pv_value *in = e->of[node->kids[0].i];
  void (*item)(pv_values *, const pv_compute *, const pv_value *, uint32_t,
               pv_value *) = e->item ? e->item : pv_compute_item;
  for (int64_t k = 0; k < outer && !e->values->failed; k++)
    item(e->values, &c, in + k * n, (uint32_t)n, out + k * made);
}

bool
pv_evaluate(pv_elements *e, const uint8_t *wanted) {
  for (uint32_t k = 0; k < e->p->nodes.len && !e->values->failed; k++) {
    gs_term t = {k};
    gs_op op = gs_at(e->p, t)->op;
    gs_type type;
    if (!wanted[k])
      continue;
    gs_type_at(e->p, t, &type);
    int64_t n = gs_elements(&type);
    if (!pv_spend(e->values, (uint64_t)n))
      break;
    e->of[k] = bs_calloc(e->values->heap, (size_t)n, sizeof **e->of);
    if (op == GS_TENSOR)
      leaves(e, t, &type, e->of[k]);
    else if (op == GS_CONST)
      constant(e, t, &type, e->of[k]);
    else if (op == GS_COMPUTE)
      compute(e, t, &type, e->of[k]);
    else
      pv_evaluate_view(e, t, &type, e->of[k]);
  }
  return !e->values->failed;
}
