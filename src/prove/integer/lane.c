/* SPDX-License-Identifier: MIT */
/* lane.c - terms of any size, taken as what happens to one element.
 *
 * Elementwise operators, casts, and folds and choices of pairs read the same
 * place of each operand.  So one value stands for all elements of a term, and
 * what is anything else (an input, a view, a reduction) is a leaf of its own.
 * Leaves may be related in ways that are lost here: equal lanes make equal
 * terms, different ones say nothing unless their leaves are inputs. */
#include "prove/integer/circuit.h"
#include <assert.h>

static pv_value
leaf(pv_bare *b, gs_term t, gs_dtype d) {
  return pv_leaf(&b->values, d, t.i, PV_EVERYWHERE, false);
}

static pv_value
constant(pv_bare *b, gs_term t, gs_dtype d) {
  const gs_program *p = b->elements.p;
  const gs_constant *c = gs_constant_of(p, gs_at(p, t)->attr);
  if (!c)
    return leaf(b, t, d);
  gs_tensor data = gs_tensor_of(c);
  double first = gs_tensor_get(&data, 0);
  for (int64_t k = 1; k < data.elements; k++)
    if (gs_tensor_get(&data, k) != first)
      return leaf(b, t, d);
  return pv_real_value(&b->values, d, first);
}

/* The operand's lanes: one, or those of a pair; 0 when they are not apart. */
static uint32_t
operands(const pv_bare *b, gs_compute op, gs_term kid, pv_value *in) {
  assert(op < GS_COMPUTE_COUNT);
  const gs_node *n = gs_at(b->elements.p, kid);
  gs_compute_kind kind = gs_compute_table[op].kind;
  in[0] = b->elements.of[kid.i][0];
  if (kind == GS_ELEMENTWISE || kind == GS_CAST)
    return 1;
  if (kind != GS_FOLD || n->op != GS_PAIR)
    return 0;
  in[0] = b->elements.of[n->kids[0].i][0];
  in[1] = b->elements.of[n->kids[1].i][0];
  return 2;
}

static pv_value
compute(pv_bare *b, gs_term t, gs_dtype d) {
  const gs_program *p = b->elements.p;
  const gs_node *node = gs_at(p, t);
  gs_type from;
  pv_value in[2], out = 0;
  gs_type_at(p, node->kids[0], &from);
  pv_compute c = {.values = p->ctx.values,
                  .o = bs_item(p->ctx.values, node->attr, 0),
                  .from = from.dtype,
                  .dtype = d};
  gs_compute_of(c.values, c.o, &c.op);
  c.tuple = operands(b, c.op, node->kids[0], in);
  if (!c.tuple)
    return leaf(b, t, d);
  b->elements.item(&b->values, &c, in, c.tuple, &out);
  return out;
}

static pv_value
lane(pv_bare *b, gs_term t, gs_dtype d) {
  const gs_node *node = gs_at(b->elements.p, t);
  if (node->op == GS_CONST)
    return constant(b, t, d);
  if (node->op == GS_COMPUTE)
    return compute(b, t, d);
  if (node->op == GS_ACCESS)
    return b->elements.of[node->kids[0].i][0];
  return leaf(b, t, d);
}

bool
pv_bare_lanes(pv_bare *b, const uint8_t *wanted) {
  const gs_program *p = b->elements.p;
  for (uint32_t k = 0; k < p->nodes.len && !b->values.failed; k++) {
    gs_type type;
    if (!wanted[k])
      continue;
    gs_type_at(p, (gs_term){k}, &type);
    b->elements.of[k] = bs_calloc(b->values.heap, 1, sizeof **b->elements.of);
    b->elements.of[k][0] = lane(b, (gs_term){k}, type.dtype);
  }
  return !b->values.failed;
}
