/* SPDX-License-Identifier: MIT */
/* once.c - what is paid once for all calls of a program. */
#include "extract/once.h"
#include "glenside/type/op.h"
#include <string.h>

static bool
is_named(const bs_values *values, const ex_names *names, bs_value name) {
  for (uint32_t k = 0; k < names->n; k++)
    if (!strcmp(names->name[k], bs_as_sym(values, name)))
      return true;
  return false;
}

/* The operator, of operands that are the same for all calls, makes something
 * that is. */
static bool
keeps(const bs_values *values, const ex_names *names, gs_op op, bs_value attr) {
  gs_compute compute;
  if (op == GS_TENSOR)
    return is_named(values, names, bs_item(values, attr, 0));
  if (op == GS_COMPUTE)
    return gs_compute_of(values, bs_item(values, attr, 0), &compute) &&
           gs_compute_table[compute].kind != GS_DOT;
  return op != GS_CALL;
}

uint8_t *
ex_once_terms(bs_heap *heap, const gs_program *p, const ex_names *names) {
  if (!names->n)
    return NULL;
  uint8_t *once = bs_calloc(heap, p->nodes.len + (size_t)1, 1);
  for (uint32_t i = 0; i < p->nodes.len; i++) { /* children come first */
    const gs_node *node = &p->nodes.data[i];
    once[i] = keeps(p->ctx.values, names, node->op, node->attr);
    for (uint32_t k = 0; k < node->n_kids; k++)
      once[i] &= once[node->kids[k].i];
  }
  return once;
}

static bool
node_keeps(bs_values *values, const eg_graph *g, const ex_names *names,
           const uint8_t *once, eg_node node) {
  uint32_t n;
  const eg_class *kids = eg_kids(g, node, &n);
  for (uint32_t k = 0; k < n; k++)
    if (!once[eg_find(g, kids[k]).i])
      return false;
  return keeps(values, names, (gs_op)eg_op(g, node), eg_attr(g, node));
}

static bool
class_keeps(bs_values *values, const eg_graph *g, const ex_names *names,
            const uint8_t *once, eg_class c) {
  uint32_t n;
  const eg_node *nodes = eg_class_nodes(g, c, &n);
  for (uint32_t i = 0; i < n; i++)
    if (node_keeps(values, g, names, once, nodes[i]))
      return true;
  return false;
}

/* The least fixed point, in passes over the classes. */
uint8_t *
ex_once_classes(bs_heap *heap, bs_values *values, const eg_graph *g,
                const ex_names *names) {
  uint32_t n = 0;
  bool changed = true;
  if (!names->n)
    return NULL;
  for (eg_class c = eg_first_class(g); c.i != EG_NO_CLASS.i;
       c = eg_next_class(g, c))
    n = c.i + 1;
  uint8_t *once = bs_calloc(heap, n + (size_t)1, 1);
  while (changed) {
    changed = false;
    for (eg_class c = eg_first_class(g); c.i != EG_NO_CLASS.i;
         c = eg_next_class(g, c))
      if (!once[c.i] && class_keeps(values, g, names, once, c)) {
        once[c.i] = true;
        changed = true;
      }
  }
  return once;
}
