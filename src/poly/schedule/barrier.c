/* SPDX-License-Identifier: MIT */
/* barrier.c - whether all threads of a block meet at its barriers.
 *
 * A barrier runs in the iterations of the loops around it.  Those of loops
 * bound to threads are its threads; whatever the other loops are at, each
 * thread of the block must be among them: neither may a loop inside have
 * bounds that follow from the thread, nor may a bound loop be shorter than the
 * block, which is as wide as the longest loop on that axis.  A loop that no
 * statement is left in has no iterations: a barrier there would be lost. */
#include "poly/loops/affine.h"
#include "poly/schedule/change.h"

static bool
is_thread(const po_program *p, uint32_t node) {
  return po_node(p, node)->kind == PO_LOOP &&
         po_node(p, node)->mark == PO_BIND &&
         po_node(p, node)->bind >= PO_THREAD_X;
}

/* The child of the root above a node: a kernel of its own. */
static uint32_t
kernel_of(const po_program *p, uint32_t node) {
  while (po_node(p, node)->parent != 0)
    node = po_node(p, node)->parent;
  return node;
}

/* Threads of a block along an axis. */
static int64_t
width(const po_program *p, uint32_t kernel, po_bind_axis axis) {
  int64_t most = 0, min, count;
  for (uint32_t k = kernel; k != PO_NO_NODE; k = po_nest_next(p, k, kernel))
    if (is_thread(p, k) && po_node(p, k)->bind == axis &&
        po_constant_range(p, k, &min, &count) && count > most)
      most = count;
  return most;
}

/* { [o] }: the values of the loops around the barrier for which it runs. */
static __isl_give isl_set *
iterations(const po_program *p, uint32_t innermost) {
  return isl_set_flatten(isl_map_wrap(po_nest_range_in(p, innermost)));
}

/* Every thread is there, whatever the other loops are at. */
static bool
has_all_threads(const po_program *p, const uint32_t *loops, uint32_t n) {
  isl_set *runs = iterations(p, loops[n - 1]), *all = isl_set_copy(runs);
  for (uint32_t k = 0; k < n; k++) {
    int64_t min = 0, count = 0;
    if (!is_thread(p, loops[k]))
      continue;
    po_constant_range(p, loops[k], &min, &count);
    all = isl_set_eliminate(all, isl_dim_set, k, 1);
    all = isl_set_intersect(all, po_slab(p->isl, n, k, min, min + count - 1));
  }
  bool same = isl_set_is_subset(all, runs) == isl_bool_true;
  isl_set_free(all);
  isl_set_free(runs);
  return same;
}

static bool
is_met(const po_program *p, const po_step_call *call, uint32_t sync) {
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, sync, loops);
  uint32_t thread = PO_NO_NODE;
  if (n && po_nest_first_leaf(p, loops[n - 1]) == PO_NO_NODE)
    return po_refuse(p, call, "barrier-alone",
                     "a barrier would be alone in loop %s, which would have no "
                     "iterations",
                     po_node(p, loops[n - 1])->name);
  for (uint32_t k = 0; k < n; k++) {
    int64_t min, count, wide;
    if (!is_thread(p, loops[k]))
      continue;
    thread = loops[k];
    wide = width(p, kernel_of(p, sync), po_node(p, thread)->bind);
    if (po_constant_range(p, thread, &min, &count) && count < wide)
      return po_refuse(p, call, "divergent",
                       "not all threads reach the barrier in loop %s: it has "
                       "%lld of the %lld of %s",
                       po_node(p, thread)->name, (long long)count,
                       (long long)wide,
                       po_bind_names[po_node(p, thread)->bind]);
  }
  return thread == PO_NO_NODE || has_all_threads(p, loops, n) ||
         po_refuse(p, call, "divergent",
                   "not all threads reach the barrier in loop %s equally "
                   "often: that depends on loop %s, which is %s",
                   po_node(p, loops[n - 1])->name, po_node(p, thread)->name,
                   po_bind_names[po_node(p, thread)->bind]);
}

bool
po_barriers_are_met(const po_program *p, const po_step_call *call) {
  for (uint32_t k = po_nest_next(p, 0, 0); k != PO_NO_NODE;
       k = po_nest_next(p, k, 0))
    if (po_node(p, k)->kind == PO_SYNC && !is_met(p, call, k))
      return false;
  return true;
}
