/* SPDX-License-Identifier: MIT */
/* once.c - what is paid once for all calls of a program. */
#include "extract/once.h"
#include "glenside/type/type.h"
#include "glenside/type/op.h"
#include <math.h>
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

/* ---- what is read of it ---- */

static double
bytes_of(const gs_type *type) {
  return (double)gs_elements(type) * gs_dtype_table[type->dtype].bytes;
}

double *
ex_resident_terms(bs_heap *heap, const gs_program *p, const uint8_t *once) {
  if (!once)
    return NULL;
  double *kept = bs_calloc(heap, p->nodes.len + (size_t)1, sizeof *kept);
  for (uint32_t i = 0; i < p->nodes.len; i++) { /* children come first */
    const gs_node *node = &p->nodes.data[i];
    gs_type type;
    if (gs_op_table[node->op].view) {
      for (uint32_t k = 0; k < node->n_kids; k++)
        kept[i] += kept[node->kids[k].i];
    } else if (once[i]) {
      gs_type_at(p, (gs_term){i}, &type);
      kept[i] = bytes_of(&type);
    }
  }
  return kept;
}

typedef struct keeper {
  bs_values *values;
  const eg_graph *graph;
  const uint8_t *once;
  ex_type_fn *type_of;
  void *ctx;
  double *kept; /* by class id */
} keeper;

static double
kept_of_node(const keeper *x, eg_class c, eg_node node) {
  uint32_t n;
  double sum = 0;
  gs_type type;
  const eg_class *kids = eg_kids(x->graph, node, &n);
  if (gs_op_table[eg_op(x->graph, node)].view) {
    for (uint32_t k = 0; k < n; k++)
      sum += x->kept[eg_find(x->graph, kids[k]).i];
    return sum;
  }
  if (!x->once[c.i])
    return 0;
  gs_type_read(x->values, x->type_of(x->ctx, x->graph, c), &type);
  return bytes_of(&type);
}

static double
kept_of_class(const keeper *x, eg_class c) {
  uint32_t n;
  const eg_node *nodes = eg_class_nodes(x->graph, c, &n);
  double least = INFINITY;
  for (uint32_t i = 0; i < n; i++)
    least = fmin(least, kept_of_node(x, c, nodes[i]));
  return least;
}

/* The greatest fixed point, in passes over the classes. */
double *
ex_resident_classes(bs_heap *heap, bs_values *values, const eg_graph *g,
                    const uint8_t *once, ex_type_fn *type_of, void *ctx) {
  uint32_t n = 0;
  bool changed = true;
  if (!once)
    return NULL;
  for (eg_class c = eg_first_class(g); c.i != EG_NO_CLASS.i;
       c = eg_next_class(g, c))
    n = c.i + 1;
  keeper x = {values,  g,   once,
              type_of, ctx, bs_calloc(heap, n + (size_t)1, sizeof *x.kept)};
  for (uint32_t k = 0; k < n; k++)
    x.kept[k] = INFINITY;
  while (changed) {
    changed = false;
    for (eg_class c = eg_first_class(g); c.i != EG_NO_CLASS.i;
         c = eg_next_class(g, c)) {
      double kept = kept_of_class(&x, c);
      changed |= kept < x.kept[c.i];
      x.kept[c.i] = kept;
    }
  }
  return x.kept;
}
