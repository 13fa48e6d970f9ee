/* SPDX-License-Identifier: MIT */
/* fit_uncast.c - views of a cast as views of what is cast.
 *
 * Products are exact in the dtype of their sum, whatever dtype the factors
 * have, so that an operand is read as it was before a cast to it.  Where digits
 * tell no more what lies below a view, as for windows that overlap, the cast is
 * looked for below, and the same views are made of what it is given: they move
 * elements and put zeros beside them. */
#include "rules/instr/fit.h"
#include <assert.h>

/* Between the dtypes, so that a cast there and one from there are one cast. */
static bool
is_between(gs_dtype x, gs_dtype from, gs_dtype to) {
  return x != to && gs_dtype_holds(to, x) && gs_dtype_holds(x, from);
}

/* A cast of what has that dtype or, where there is none, of what has one
 * between; EG_NO_CLASS: none. */
eg_class
fit_uncast_once(const fit_match *m, eg_class c, gs_dtype dtype) {
  assert(dtype < GS_DTYPE_COUNT);
  uint32_t n, n_kids;
  bs_value spec;
  eg_class between = EG_NO_CLASS;
  gs_dtype to = fit_class_type(m, c)->dtype;
  const eg_node *nodes = eg_class_nodes(m->graph, c, &n);
  for (uint32_t k = 0; k < n; k++) {
    if (!fit_computes(m, nodes[k], GS_C_CAST, &spec))
      continue;
    eg_class kid = eg_find(m->graph, eg_kids(m->graph, nodes[k], &n_kids)[0]);
    gs_dtype from = fit_class_type(m, kid)->dtype;
    if (from == dtype)
      return kid;
    if (between.i == EG_NO_CLASS.i && is_between(from, dtype, to))
      between = kid;
  }
  return between;
}

/* What stands beside its elements, if anything does, is the same before and
 * after a cast. */
static bool
is_above_casts(const fit_match *m, eg_node node) {
  const bs_values *values = m->session->ctx.values;
  gs_op op = (gs_op)eg_op(m->graph, node);
  gs_padding kind;
  if (!gs_op_table[op].view || gs_op_table[op].kids != 1)
    return false;
  return op != GS_PAD ||
         (gs_padding_of(values, bs_item(values, eg_attr(m->graph, node), 0),
                        &kind) &&
          kind != GS_PADDING_MIN);
}

/* Casts change the dtype each time, so that there are few in a row. */
static bool
find_views(const fit_match *m, eg_class c, gs_dtype dtype, fit_chain *out) {
  uint32_t n_kids;
  fit_ways ways;
  for (out->n = 0;;) {
    eg_class kid = fit_uncast_once(m, c, dtype);
    if (kid.i != EG_NO_CLASS.i) {
      out->cls[out->n] = c = kid;
      if (fit_class_type(m, c)->dtype == dtype)
        return true;
      continue;
    }
    fit_find_ways(m, c, &ways);
    if (out->n == FIT_VIEWS || !ways.n || !is_above_casts(m, ways.node[0]))
      return false;
    out->node[out->n++] = ways.node[0];
    c = eg_find(m->graph, eg_kids(m->graph, ways.node[0], &n_kids)[0]);
  }
}

bool
fit_uncast(const fit_match *m, gs_dtype dtype, eg_class *c, fit_chain *out) {
  assert(dtype < GS_DTYPE_COUNT);
  if (!find_views(m, *c, dtype, out))
    return false;
  for (uint32_t k = out->n; k-- > 0;) {
    uint32_t op = eg_op(m->graph, out->node[k]);
    bs_value attr = eg_attr(m->graph, out->node[k]);
    out->cls[k] = m->adds ? eg_add(m->graph, op, attr, &out->cls[k + 1], 1)
                          : eg_lookup(m->graph, op, attr, &out->cls[k + 1], 1);
    if (out->cls[k].i == EG_NO_CLASS.i)
      return false;
  }
  *c = out->cls[0];
  return true;
}
