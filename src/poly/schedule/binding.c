/* SPDX-License-Identifier: MIT */
/* binding.c - whether loops may run on the cores, blocks and threads that they
 * are marked for.
 *
 * On a way down each axis is one loop's, and no block is inside a thread.  A
 * child of the root is a kernel, whose block is as wide along an axis as the
 * longest loop bound to it anywhere below: the product of these widths is
 * limited, whether the loops stand inside each other or not.  Any step may
 * change this, so that it is asked after each of the kernels that changed, and
 * of one loop where that is marked.  That cores are spread over once on a way
 * down is asked then only: more is a waste, which a script may pass through. */
#include "poly/schedule/change.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>

static const int64_t most_of[] = {
    [PO_BLOCK_X] = INT32_MAX, [PO_BLOCK_Y] = 65535, [PO_BLOCK_Z] = 65535,
    [PO_THREAD_X] = 1024,     [PO_THREAD_Y] = 1024, [PO_THREAD_Z] = 64};

enum { MOST_THREADS = 1024 };

static bool
is_bound(const po_nest_node *n, bool threads) {
  return n->kind == PO_LOOP && n->mark == PO_BIND &&
         (n->bind >= PO_THREAD_X) == threads;
}

/* Rule R2: one block-outer axis on a way down.  The dimensions of a grid are
 * one. */
static bool
are_both_outer(const po_nest_node *a, const po_nest_node *b) {
  bool one = a->mark == PO_PARALLEL, other = b->mark == PO_PARALLEL;
  return (one && other) || (one && is_bound(b, false)) ||
         (other && is_bound(a, false));
}

static bool
is_only_outer(po_program *p, const po_step_call *call, uint32_t loop,
              uint32_t other) {
  const po_nest_node *l = po_node(p, loop), *n = po_node(p, other);
  if (!are_both_outer(l, n))
    return true;
  po_refuse(p, call, "R2",
            "loop %s, %s loop %s, is spread over cores already (rule R2: one "
            "block-outer axis)",
            n->name, po_nest_is_below(p, loop, other) ? "around" : "inside",
            l->name);
  bs_hint(p->ctx.diags, "`serial %s` removes the mark", n->name);
  return false;
}

/* Two loops with marks, the other one around the loop or inside it. */
static bool
may_be_nested(po_program *p, const po_step_call *call, uint32_t loop,
              uint32_t other) {
  const po_nest_node *l = po_node(p, loop), *n = po_node(p, other);
  bool above = po_nest_is_below(p, loop, other);
  const char *where = above ? "around" : "inside";
  if (l->mark != PO_BIND || n->mark != PO_BIND)
    return true;
  if (n->bind == l->bind)
    return po_refuse(p, call, "axis-taken",
                     "%s is loop %s's already, %s loop %s",
                     po_bind_names[l->bind], n->name, where, l->name);
  bool inside = above ? n->bind >= PO_THREAD_X && l->bind < PO_THREAD_X
                      : n->bind < PO_THREAD_X && l->bind >= PO_THREAD_X;
  return !inside ||
         po_refuse(p, call, "block-in-thread",
                   "a loop over blocks would be inside one over threads");
}

/* The most threads that a kernel's blocks have along an axis; 1: none. */
static int64_t
width(const po_program *p, uint32_t kernel, po_bind_axis axis) {
  int64_t most = 1, min, count;
  for (uint32_t k = kernel; k != PO_NO_NODE; k = po_nest_next(p, k, kernel))
    if (is_bound(po_node(p, k), true) && po_node(p, k)->bind == axis &&
        po_value_range(p, k, &min, &count) && count > most)
      most = count;
  return most;
}

static bool
has_room(po_program *p, const po_step_call *call, uint32_t loop) {
  const po_nest_node *l = po_node(p, loop);
  int64_t min, count, threads = 1;
  if (l->mark != PO_BIND || !po_value_range(p, loop, &min, &count))
    return true;
  if (count > most_of[l->bind])
    return po_refuse(p, call, "too-large",
                     "loop %s has %lld iterations, but %s at most %lld",
                     l->name, (long long)count, po_bind_names[l->bind],
                     (long long)most_of[l->bind]);
  if (l->bind < PO_THREAD_X)
    return true;
  /* None is longer than 1024. */
  for (uint32_t axis = PO_THREAD_X; axis <= PO_THREAD_Z; axis++)
    threads *= width(p, po_nest_root(p, loop), (po_bind_axis)axis);
  return threads <= MOST_THREADS ||
         po_refuse(p, call, "too-large",
                   "a block would have more than %d threads", MOST_THREADS);
}

typedef bool may_stand_fn(po_program *, const po_step_call *, uint32_t loop,
                          uint32_t other);

/* With all loops around the loop, then with all inside it. */
static bool
with_all(po_program *p, const po_step_call *call, uint32_t loop,
         may_stand_fn *may) {
  uint32_t around[PO_MAX_DEPTH], n = po_nest_loops(p, loop, around);
  for (uint32_t k = 0; k < n; k++)
    if (!may(p, call, loop, around[k]))
      return false;
  for (uint32_t k = po_nest_next(p, loop, loop); k != PO_NO_NODE;
       k = po_nest_next(p, k, loop))
    if (po_node(p, k)->kind == PO_LOOP && !may(p, call, loop, k))
      return false;
  return true;
}

bool
po_binding_holds(po_program *p, const po_step_call *call, uint32_t loop) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  return with_all(p, call, loop, is_only_outer) &&
         with_all(p, call, loop, may_be_nested) && has_room(p, call, loop);
}

/* The loops of a kernel are marked, and run, as they did before. */
static bool
is_as_before(const po_program *before, const po_program *after,
             uint32_t kernel) {
  for (uint32_t k = kernel; k != PO_NO_NODE;
       k = po_nest_next(after, k, kernel)) {
    if (k >= before->nest.nodes.len)
      return false;
    const po_nest_node *was = po_node(before, k), *n = po_node(after, k);
    if (was->kind != n->kind || was->parent != n->parent ||
        (n->kind == PO_LOOP &&
         (was->mark != n->mark || was->bind != n->bind)) ||
        (n->kind == PO_LEAF && !po_is_untouched(before, after, n->stmt)))
      return false;
  }
  return true;
}

static bool
kernel_holds(po_program *p, const po_step_call *call, uint32_t kernel) {
  for (uint32_t k = kernel; k != PO_NO_NODE; k = po_nest_next(p, k, kernel))
    if (po_node(p, k)->kind == PO_LOOP && po_node(p, k)->mark == PO_BIND &&
        !(with_all(p, call, k, may_be_nested) && has_room(p, call, k)))
      return false;
  return true;
}

bool
po_bindings_hold(const po_program *before, po_program *after,
                 const po_step_call *call) {
  for (uint32_t k = po_node(after, 0)->first; k != PO_NO_NODE;
       k = po_node(after, k)->next)
    if (!is_as_before(before, after, k) && !kernel_holds(after, call, k))
      return false;
  return true;
}
