/* SPDX-License-Identifier: MIT */
/* run_order.c - which of two instances runs first; see access.h.
 *
 * The order is read off the tree: the loops around both statements, then
 * their places below the innermost of them.  So a question about instances of
 * S and T becomes one about the values of a few loops, and no time longer than
 * that is ever built. */
#include "poly/loops/access.h"
#include "poly/loops/affine.h"
#include <assert.h>

/* The child of `above` on the way to `node`. */
static uint32_t
child_towards(const po_program *p, uint32_t above, uint32_t node) {
  assert(node != above && po_nest_is_below(p, node, above));
  while (po_node(p, node)->parent != above)
    node = po_node(p, node)->parent;
  return node;
}

/* Whether the way to leaf a stands before the one to b; both differ. */
static bool
stands_before(const po_program *p, uint32_t a, uint32_t b) {
  uint32_t top = po_nest_common(p, a, b);
  a = child_towards(p, top, a);
  b = child_towards(p, top, b);
  while (a != PO_NO_NODE && a != b)
    a = po_node(p, a)->next;
  return a == b;
}

isl_multi_aff *
po_outer_time(const po_stmt *stmt, uint32_t n) {
  isl_multi_aff *time = isl_multi_aff_copy(stmt->time);
  isl_size all = isl_multi_aff_dim(time, isl_dim_out);
  if (all < (isl_size)n)
    return isl_multi_aff_free(time);
  time = isl_multi_aff_drop_dims(time, isl_dim_out, n, (unsigned)all - n);
  return isl_multi_aff_reset_tuple_id(time, isl_dim_out);
}

isl_map *
po_related(const po_stmt *source, const po_stmt *sink, uint32_t n,
           __isl_take isl_map *values) {
  values = isl_map_preimage_domain_multi_aff(values, po_outer_time(source, n));
  return isl_map_preimage_range_multi_aff(values, po_outer_time(sink, n));
}

uint32_t
po_common_loops(const po_program *p, uint32_t source, uint32_t sink,
                bool *ties) {
  assert(source < p->nest.nodes.len && sink < p->nest.nodes.len);
  uint32_t top = po_nest_common(p, source, sink);
  *ties = source == sink || !stands_before(p, source, sink);
  return po_nest_depth(p, top) + (po_node(p, top)->kind == PO_LOOP);
}

/* Pairs that run in the order source, sink, or all others. */
static __isl_give isl_map *
ordered(const po_program *p, const po_stmt *source, const po_stmt *sink,
        bool others) {
  bool ties;
  uint32_t n = po_common_loops(p, source->leaf, sink->leaf, &ties);
  isl_space *space = po_space(p->isl, n);
  isl_map *values;
  if (others)
    values = ties ? isl_map_lex_ge(space) : isl_map_lex_gt(space);
  else
    values = ties ? isl_map_lex_lt(space) : isl_map_lex_le(space);
  return po_related(source, sink, n, values);
}

isl_map *
po_not_before(const po_program *p, const po_stmt *source, const po_stmt *sink) {
  return ordered(p, source, sink, true);
}

isl_map *
po_in_order(const po_program *p, const po_stmt *source, const po_stmt *sink) {
  return ordered(p, source, sink, false);
}

/* ---- accesses in order ---- */

/* Pairs of one source and one sink; who is no statement reads after all. */
static __isl_give isl_map *
pairs_of(const po_program *p, __isl_keep isl_map *source,
         __isl_keep isl_map *sink) {
  uint32_t s = po_stmt_named(p, isl_map_get_tuple_name(source, isl_dim_in));
  uint32_t t = po_stmt_named(p, isl_map_get_tuple_name(sink, isl_dim_in));
  isl_map *pairs = isl_map_apply_range(isl_map_copy(source),
                                       isl_map_reverse(isl_map_copy(sink)));
  if (s < p->stmts.len && t < p->stmts.len)
    pairs = isl_map_intersect(
        pairs, po_in_order(p, &p->stmts.data[s], &p->stmts.data[t]));
  return isl_map_coalesce(pairs);
}

isl_union_map *
po_earlier(const po_program *p, isl_union_map *sources, isl_union_map *sinks) {
  isl_union_map *all = isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
  isl_map_list *from = isl_union_map_get_map_list(sources);
  isl_map_list *to = isl_union_map_get_map_list(sinks);
  isl_size n = isl_map_list_n_map(from), m = isl_map_list_n_map(to);
  if (n < 0 || m < 0)
    all = isl_union_map_free(all);
  for (isl_size k = 0; k < n; k++)
    for (isl_size j = 0; j < m; j++) {
      isl_map *source = isl_map_list_get_map(from, k);
      isl_map *sink = isl_map_list_get_map(to, j);
      all = isl_union_map_add_map(all, pairs_of(p, source, sink));
      isl_map_free(source);
      isl_map_free(sink);
    }
  isl_map_list_free(from);
  isl_map_list_free(to);
  return all;
}
