/* SPDX-License-Identifier: MIT */
/* sibling.c - compute_with: one nest of two that stand in the same loop.
 *
 *   for i { for j { A } }  for k { for l { B } }
 *   for i { for j { A  B } }
 *
 * Both are run by the loops of the first one, level by level, iteration by
 * iteration of equal values; where only one of them has an iteration, it runs
 * alone.  What the second one did after the whole first one it now does after
 * its part in each iteration; whether it may is asked by the gate afterwards.
 */
#include "poly/loops/affine.h"
#include "poly/schedule/change.h"

/* Some iteration of the loops around has values that both take. */
static bool
meet(const po_program *p, uint32_t a, uint32_t b) {
  isl_map *x = po_nest_range_in(p, a), *y = po_nest_range_in(p, b);
  isl_map *both = isl_map_intersect(x, y);
  bool none = isl_map_is_empty(both) != isl_bool_false;
  isl_map_free(both);
  return !none;
}

static bool
check_pair(const po_program *p, const po_step_call *call, uint32_t a,
           uint32_t b) {
  const char *x = po_node(p, a)->name, *y = po_node(p, b)->name;
  if (a == b)
    return po_refuse(p, call, "duplicate", "loop %s is listed twice", x);
  if (po_node(p, a)->parent != po_node(p, b)->parent)
    return po_refuse(p, call, "not-siblings",
                     "loops %s and %s are not inside the same loop", x, y);
  return meet(p, a, b) ||
         po_refuse(p, call, "extents-differ",
                   "loops %s and %s have no value in common", x, y);
}

/* The loop that is all there is inside one; PO_NO_NODE. */
static uint32_t
loop_inside(const po_program *p, uint32_t loop) {
  uint32_t inside = po_only_child(p, loop);
  return inside != PO_NO_NODE && po_node(p, inside)->kind == PO_LOOP
             ? inside
             : PO_NO_NODE;
}

bool
po_apply_compute_with(po_program *p, po_step_call *call) {
  uint32_t a = call->args[0].node, b = call->args[1].node;
  bool all = call->args[2].kind == PO_ARG_END;
  int64_t levels = all ? PO_MAX_RESULTS : call->args[2].number;
  if (levels < 1 || levels > PO_MAX_RESULTS)
    return po_refuse(p, call, "levels", "1 to %d loops can be joined",
                     PO_MAX_RESULTS);
  if (!check_pair(p, call, a, b))
    return false;
  for (uint32_t k = 0; k < (uint32_t)levels; k++) {
    uint32_t in_a = loop_inside(p, a), in_b = loop_inside(p, b);
    if (!po_join_loops(p, call, k, a, b))
      return false;
    if (in_a == PO_NO_NODE || in_b == PO_NO_NODE || !meet(p, in_a, in_b))
      return all || k + 1 == (uint32_t)levels ||
             po_refuse(p, call, "levels", "%u %s can be joined",
                       BS_COUNTED(k + 1, "loop"));
    a = in_a;
    b = in_b;
  }
  return true;
}
