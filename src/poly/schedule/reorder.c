/* SPDX-License-Identifier: MIT */
/* reorder.c - reorder, fission, merge, put_after, simple_compute_at, shift:
 * loops changed against each other.  Whether the order of instances allows it
 * is asked by the gate afterwards.
 *
 * Reorder permutes the loops listed among the places that they occupy; loops
 * in between stay.  Where other statements stand between the first and the
 * last of these places, they get loops of their own. */
#include "poly/loops/affine.h"
#include "poly/schedule/loop_axes.h"
#include "poly/schedule/change.h"
#include <assert.h>

/* ---- reorder ---- */

static void
sort_by_depth(const po_program *p, const uint32_t *loops, uint32_t n,
              uint32_t *places) {
  for (uint32_t k = 0; k < n; k++) {
    uint32_t at = k;
    uint32_t depth = po_nest_depth(p, loops[k]);
    for (; at > 0 && po_nest_depth(p, places[at - 1]) > depth; at--)
      places[at] = places[at - 1];
    places[at] = loops[k];
  }
}

/* Loops by place, outermost first; false when they are no chain. */
static bool
by_place(const po_program *p, const po_step_call *call, const uint32_t *loops,
         uint32_t n, uint32_t *places) {
  sort_by_depth(p, loops, n, places);
  for (uint32_t k = 0; k + 1 < n; k++) {
    const char *a = po_node(p, places[k])->name;
    const char *b = po_node(p, places[k + 1])->name;
    if (places[k] == places[k + 1])
      return po_refuse(p, call, "duplicate", "loop %s is listed twice", a);
    if (!po_nest_is_below(p, places[k + 1], places[k])) {
      po_refuse(p, call, "not-nested",
                "loops %s and %s are not around each "
                "other",
                a, b);
      bs_hint(p->ctx.diags,
              "only loops on one path from the root can be reordered");
      return false;
    }
  }
  return true;
}

/* What a loop is, apart from where it stands. */
static void
swap_in(po_nest_node *to, const po_nest_node *from) {
  to->name = from->name;
  po_run_as(to, from);
}

/* { [t] -> [t permuted] } over the loops from the first place to the last. */
static __isl_give isl_multi_aff *
permutation(isl_ctx *isl, const uint32_t *from, uint32_t n) {
  isl_multi_aff *map = isl_multi_aff_zero(po_map_space(isl, n, n));
  for (uint32_t k = 0; k < n; k++)
    map = isl_multi_aff_set_aff(map, (int)k, po_index(isl, n, from[k], 1, 0));
  return map;
}

bool
po_reorder_loops(po_program *p, po_step_call *call, const uint32_t *loops,
                 uint32_t n) {
  uint32_t places[PO_MAX_DEPTH], from[PO_MAX_DEPTH];
  po_nest_node old[PO_MAX_DEPTH];
  if (n > PO_MAX_DEPTH)
    return po_refuse(p, call, "loops", "too many loops");
  if (!by_place(p, call, loops, n, places))
    return false;
  if (n < 2)
    return true;
  uint32_t first = po_nest_depth(p, places[0]);
  uint32_t span = po_nest_depth(p, places[n - 1]) + 1 - first;
  po_isolate(p, places[n - 1], places[0]);
  for (uint32_t k = 0; k < span; k++)
    from[k] = k;
  for (uint32_t k = 0; k < n; k++) {
    from[po_nest_depth(p, places[k]) - first] =
        po_nest_depth(p, loops[k]) - first;
    old[k] = *po_node(p, loops[k]);
  }
  for (uint32_t k = 0; k < n; k++)
    swap_in(po_node(p, places[k]), &old[k]);
  po_nest_retime(p, places[0], first, span, permutation(p->isl, from, span));
  return true;
}

bool
po_apply_reorder(po_program *p, po_step_call *call) {
  assert(call->args[0].kind == PO_ARG_LOOPS);
  const po_arg *loops = &call->args[0];
  uint32_t was[PO_MAX_DEPTH], is[PO_MAX_DEPTH];
  uint32_t last = loops->n ? loops->nodes[0] : PO_NO_NODE;
  for (uint32_t k = 1; k < loops->n; k++)
    if (po_nest_depth(p, loops->nodes[k]) > po_nest_depth(p, last))
      last = loops->nodes[k];
  uint32_t n = loops->n ? po_axes_way(p, last, was) : 0;
  if (!po_reorder_loops(p, call, loops->nodes, loops->n))
    return false;
  if (n && po_axes_way(p, last, is) == n)
    po_axes_reorder(p, was, is, n);
  return true;
}

/* ---- fission ---- */

bool
po_apply_fission(po_program *p, po_step_call *call) {
  uint32_t loop = call->args[0].node, node = call->args[1].node;
  if (node == loop || !po_nest_is_below(p, node, loop))
    return po_refuse(p, call, "not-nested",
                     "what to part it at is not inside "
                     "loop %s",
                     po_node(p, loop)->name);
  uint32_t before = po_node(p, loop)->prev, after = po_node(p, loop)->next;
  po_isolate(p, node, loop);
  if (po_node(p, loop)->prev == before && po_node(p, loop)->next == after) {
    po_refuse(p, call, "nothing-to-do",
              "it is all that is inside loop %s already",
              po_node(p, loop)->name);
    return false;
  }
  if (po_node(p, loop)->prev != before)
    po_made(call, po_node(p, loop)->prev);
  po_made(call, loop);
  if (po_node(p, loop)->next != after)
    po_made(call, po_node(p, loop)->next);
  for (uint32_t k = 0; k < call->n_made && k < call->n_results; k++) {
    uint32_t made = call->made[k];
    const char *old = po_node(p, made)->name;
    po_give_up_name(p, made);
    const char *name = po_result_name(p, call, k, old);
    if (!name)
      return false;
    po_name_loop(p, made, *call->results[k] ? name : old);
  }
  return true;
}

/* ---- merge ---- */

/* Whether two loops take the same values, whatever those around them are. */
static bool
same_range(const po_program *p, uint32_t a, uint32_t b) {
  isl_map *x = po_nest_range_in(p, a), *y = po_nest_range_in(p, b);
  bool same = isl_map_is_equal(x, y) == isl_bool_true;
  isl_map_free(x);
  isl_map_free(y);
  return same;
}

/* Whether two loops have the same range where both run. */
static bool
same_range_together(const po_program *p, uint32_t a, uint32_t b) {
  isl_map *x = po_nest_range_in(p, a), *y = po_nest_range_in(p, b);
  isl_set *both = isl_set_intersect(isl_map_domain(isl_map_copy(x)),
                                    isl_map_domain(isl_map_copy(y)));
  bool none = isl_set_is_empty(both) != isl_bool_false;
  x = isl_map_intersect_domain(x, isl_set_copy(both));
  y = isl_map_intersect_domain(y, both);
  bool same = !none && isl_map_is_equal(x, y) == isl_bool_true;
  isl_map_free(x);
  isl_map_free(y);
  return same;
}

static bool
refuse_ranges(const po_program *p, const po_step_call *call, uint32_t a,
              uint32_t b) {
  const char *x = po_node(p, a)->name, *y = po_node(p, b)->name;
  int64_t lo_a, n_a, lo_b, n_b;
  if (po_constant_range(p, a, &lo_a, &n_a) &&
      po_constant_range(p, b, &lo_b, &n_b))
    return po_refuse(p, call, "extents-differ",
                     "loop %s runs over %lld..%lld, loop %s over %lld..%lld", x,
                     (long long)lo_a, (long long)(lo_a + n_a - 1), y,
                     (long long)lo_b, (long long)(lo_b + n_b - 1));
  return po_refuse(p, call, "extents-differ",
                   "loops %s and %s do not run over the same values", x, y);
}

bool
po_join_loops(po_program *p, po_step_call *call, uint32_t k, uint32_t a,
              uint32_t b) {
  assert(a != b);
  if (po_node(p, a)->mark != po_node(p, b)->mark &&
      (!po_needs_serial(p, call, a) || !po_needs_serial(p, call, b)))
    return false;
  po_move_children(p, b, a, PO_NO_NODE);
  po_nest_remove(p, b);
  const char *name = po_node(p, a)->name;
  po_give_up_name(p, a);
  name = po_result_name(p, call, k, name);
  if (!name)
    return false;
  po_name_loop(p, a, name);
  po_made(call, a);
  return true;
}

bool
po_apply_merge(po_program *p, po_step_call *call) {
  uint32_t a = call->args[0].node, b = call->args[1].node;
  const char *x = po_node(p, a)->name, *y = po_node(p, b)->name;
  if (a == b)
    return po_refuse(p, call, "duplicate", "loop %s is listed twice", x);
  if (po_node(p, a)->parent != po_node(p, b)->parent)
    return po_refuse(p, call, "not-siblings",
                     "loops %s and %s are not inside the same loop", x, y);
  if (po_node(p, a)->next != b)
    return po_refuse(p, call, "not-neighbours",
                     "loop %s does not stand right after loop %s", y, x);
  if (!same_range_together(p, a, b))
    return refuse_ranges(p, call, a, b);
  return po_join_loops(p, call, 0, a, b);
}

/* ---- put_after ---- */

bool
po_apply_put_after(po_program *p, po_step_call *call) {
  assert(call->args[0].kind == PO_ARG_NODE);
  assert(call->args[1].kind == PO_ARG_NODE);
  uint32_t node = call->args[0].node, other = call->args[1].node;
  uint32_t parent = po_node(p, other)->parent;
  if (node == other || po_node(p, node)->parent != parent)
    return po_refuse(
        p, call, "not-beside",
        "the two do not stand in the same loop, beside each other");
  uint32_t before = po_node(p, other)->next;
  if (before == node)
    return po_refuse(p, call, "nothing-to-do", "it is there already");
  po_nest_detach(p, node);
  po_nest_attach(p, node, parent, before);
  return true;
}

/* ---- simple_compute_at ---- */

/* The loops of a block that are to be run by those down to `loop`. */
static bool
match_loops(po_program *p, po_step_call *call, const uint32_t *mine,
            const uint32_t *theirs, uint32_t shared, uint32_t n) {
  for (uint32_t k = shared; k < n; k++)
    if (!same_range(p, mine[k], theirs[k]))
      return refuse_ranges(p, call, mine[k], theirs[k]);
  return true;
}

bool
po_apply_simple_compute_at(po_program *p, po_step_call *call) {
  po_block block;
  uint32_t loop = call->args[1].node, mine[PO_MAX_DEPTH], theirs[PO_MAX_DEPTH],
           shared = 0;
  if (!po_block_of(p, call, &call->args[0], &block))
    return false;
  const char *name = p->stmts.data[block.stmts[0]].name;
  uint32_t node = po_block_node(p, &block);
  uint32_t depth = po_nest_loops(p, node, mine);
  uint32_t n = po_nest_loops(p, loop, theirs) + 1;
  theirs[n - 1] = loop;
  if (po_node(p, node)->kind == PO_LOOP)
    mine[depth++] = node;
  if (po_nest_is_below(p, node, loop))
    return po_refuse(p, call, "inside", "%s is inside loop %s already", name,
                     po_node(p, loop)->name);
  if (n > depth)
    return po_refuse(p, call, "too-deep",
                     "loop %s is number %u from the outside, %s has %u %s "
                     "around it",
                     po_node(p, loop)->name, n, name,
                     BS_COUNTED(depth, "loop"));
  while (shared < n && mine[shared] == theirs[shared])
    shared++;
  if (!match_loops(p, call, mine, theirs, shared, n))
    return false;
  if (node != mine[shared])
    po_isolate(p, node, mine[shared]);
  uint32_t other = po_foreign(p, &block, mine[shared]);
  if (other != PO_NO_NODE)
    return po_refuse(p, call, "not-alone", "%s shares loops with %s", name,
                     p->stmts.data[other].name);
  po_move_children(p, mine[n - 1], loop, po_node(p, loop)->first);
  uint32_t top = mine[shared];
  po_nest_remove(p, top);
  return true;
}

/* ---- shift ---- */

static __isl_give isl_multi_aff *
later(const po_stmt *stmt, uint32_t depth, int64_t by) {
  isl_aff *aff = isl_multi_aff_get_aff(stmt->time, (int)depth);
  aff = isl_aff_add_constant_si(aff, (int)by);
  return isl_multi_aff_set_aff(isl_multi_aff_copy(stmt->time), (int)depth, aff);
}

bool
po_apply_shift(po_program *p, po_step_call *call) {
  uint32_t loop = call->args[1].node, loops[PO_MAX_DEPTH];
  int64_t by = call->args[2].number;
  po_block block;
  if (!po_block_of(p, call, &call->args[0], &block))
    return false;
  if (by < -(1 << 20) || by > 1 << 20)
    return po_refuse(p, call, "distance", "shifts are at most 2^20 iterations");
  po_pool_reserve(&p->pool, block.n);
  for (uint32_t k = 0; k < block.n; k++) {
    po_stmt *stmt = &p->stmts.data[block.stmts[k]];
    uint32_t depth = po_nest_depth(p, loop);
    if (po_nest_loops(p, stmt->leaf, loops) <= depth || loops[depth] != loop)
      return po_refuse(p, call, "not-nested", "%s is not inside loop %s",
                       stmt->name, po_node(p, loop)->name);
    stmt->time = po_keep_multi_aff(&p->pool, later(stmt, depth, by));
  }
  return true;
}
