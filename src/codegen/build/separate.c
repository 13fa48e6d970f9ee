/* SPDX-License-Identifier: MIT */
/* separate.c - what the marks of loops ask of isl's code generator.
 *
 * An unrolled loop is written out where it has few values.  A loop whose full
 * tiles are wanted apart gets an `isolate` option: its iterations in which
 * each of the loops below runs over all the values that it ever takes, or,
 * where that is of a border, not at all.  Loops below that are so in a small
 * share of the iterations only are not considered: a triangular loop below a
 * tile loop does not spoil it.  Where all iterations are alike, but a loop's
 * statements do not all run in the same iterations of the loops around, there
 * is a loop of its own for each set of statements, and no test in it. */
#include "codegen/build/build.h"
#include "poly/loops/access.h"
#include "poly/loops/affine.h"
#include <isl/ilp.h>
#include <isl/schedule_node.h>
#include <isl/val.h>

/* Values that a loop may have to be written out. */
#define MAX_UNROLLED 256

uint32_t
cg_loop_of(isl_id *mark) {
  return (uint32_t)(uintptr_t)isl_id_get_user(mark) - 1;
}

static bool
is_short(const po_program *p, uint32_t loop) {
  int64_t n = cg_range_size(p, loop);
  return n > 0 && n <= MAX_UNROLLED;
}

/* { [outer..., t] } */
static __isl_give isl_set *
iterations(const po_program *p, uint32_t loop) {
  return isl_set_flatten(isl_map_wrap(po_nest_range_in(p, loop)));
}

/* Elements of `set` without its dimensions from `n` on. */
static __isl_give isl_set *
first_dims(__isl_take isl_set *set, uint32_t n) {
  isl_size dim = isl_set_dim(set, isl_dim_set);
  return isl_set_project_out(set, isl_dim_set, n,
                             dim < 0 ? 0 : (unsigned)dim - n);
}

/* The iterations of `loop` in all of which the loop `below` has all of its
 * values, wherever it runs at all. */
static __isl_give isl_set *
full_iterations(const po_program *p, uint32_t loop, uint32_t below) {
  isl_map *in = po_nest_range_in(p, below);
  isl_map *all = isl_map_from_domain_and_range(isl_map_domain(isl_map_copy(in)),
                                               isl_map_range(isl_map_copy(in)));
  uint32_t n = po_nest_depth(p, loop) + 1;
  isl_set *run = first_dims(isl_map_domain(isl_map_copy(in)), n);
  isl_set *bad = first_dims(isl_map_domain(isl_map_subtract(all, in)), n);
  return isl_set_coalesce(isl_set_subtract(run, bad));
}

/* The iterations in which `below`, such as the code of a border, does not
 * run. */
static __isl_give isl_set *
empty_iterations(const po_program *p, uint32_t loop, uint32_t below) {
  isl_set *run = first_dims(isl_map_domain(po_nest_range_in(p, below)),
                            po_nest_depth(p, loop) + 1);
  return isl_set_coalesce(isl_set_subtract(iterations(p, loop), run));
}

/* How large the box around a set is; 0: empty. */
static double
volume_of(__isl_keep isl_set *set) {
  isl_size n = isl_set_dim(set, isl_dim_set);
  double volume = 1;
  if (n < 0 || isl_set_is_empty(set) != isl_bool_false)
    return 0;
  for (int k = 0; k < n; k++) {
    isl_val *hi = isl_set_dim_max_val(isl_set_copy(set), k);
    isl_val *lo = isl_set_dim_min_val(isl_set_copy(set), k);
    isl_val *size = isl_val_sub(hi, lo);
    volume *= isl_val_is_int(size) == isl_bool_true ? isl_val_get_d(size) + 1
                                                    : 1e18; /* without limits */
    isl_val_free(size);
  }
  return volume;
}

/* Whether `some` leaves out all iterations of the loop or none, for each of
 * the values of the loops around: the loop itself has nothing to divide. */
static bool
is_of_outer(__isl_keep isl_set *some, __isl_keep isl_set *part, uint32_t n) {
  isl_set *around = first_dims(isl_set_copy(some), n - 1);
  around = isl_set_insert_dims(around, isl_dim_set, n - 1, 1);
  around = isl_set_intersect(around, isl_set_copy(part));
  bool is = isl_set_is_subset(around, some) == isl_bool_true;
  isl_set_free(around);
  return is;
}

/* Of `part`, where `below` always runs over all of its values or never runs,
 * whichever is more; `part` as it is where either is but a small share. */
static __isl_give isl_set *
even_part(const po_program *p, uint32_t loop, uint32_t below,
          __isl_take isl_set *part) {
  isl_set *full =
      isl_set_intersect(full_iterations(p, loop, below), isl_set_copy(part));
  isl_set *none =
      isl_set_intersect(empty_iterations(p, loop, below), isl_set_copy(part));
  double f = volume_of(full), e = volume_of(none), all = volume_of(part);
  isl_set *more = isl_set_copy(f >= e ? full : none);
  isl_set_free(full);
  isl_set_free(none);
  if (2 * (f > e ? f : e) < all ||
      is_of_outer(more, part, po_nest_depth(p, loop) + 1)) {
    isl_set_free(more);
    return part;
  }
  isl_set_free(part);
  return isl_set_coalesce(more);
}

/* One piece where that is the same: isl isolates no other sets well. */
static __isl_give isl_set *
in_one_piece(__isl_take isl_set *set) {
  enum { MOST_PIECES = 8 };
  isl_size n = isl_set_n_basic_set(set);
  if (n < 2 || n > MOST_PIECES)
    return set;
  isl_set *hull =
      isl_set_from_basic_set(isl_set_convex_hull(isl_set_copy(set)));
  bool same = isl_set_is_subset(hull, set) == isl_bool_true;
  isl_set_free(same ? set : hull);
  return same ? hull : set;
}

/* NULL when all iterations are alike, or none of them. */
static __isl_give isl_set *
full_part(const po_program *p, uint32_t loop) {
  isl_set *all = iterations(p, loop), *full = isl_set_copy(all);
  for (uint32_t k = po_nest_next(p, loop, loop); k != PO_NO_NODE;
       k = po_nest_next(p, k, loop))
    if (p->nest.nodes.data[k].kind == PO_LOOP)
      full = even_part(p, loop, k, full);
  bool some = isl_set_is_equal(all, full) == isl_bool_false;
  isl_set_free(all);
  return some ? in_one_piece(full) : isl_set_free(full);
}

/* isolate[[outer] -> [t]] */
static __isl_give isl_union_set *
isolate(const po_program *p, uint32_t loop, __isl_take isl_set *full) {
  isl_map *map = isl_map_from_range(full);
  map = isl_map_move_dims(map, isl_dim_in, 0, isl_dim_out, 0,
                          po_nest_depth(p, loop));
  isl_set *option = isl_map_wrap(isl_map_coalesce(map));
  return isl_union_set_from_set(isl_set_set_tuple_name(option, "isolate"));
}

/* Statements of the loop do not all run in the same iterations of those around
 * it. */
static bool
has_guests(const po_program *p, uint32_t loop) {
  isl_set *first = NULL;
  bool same = true;
  uint32_t n = po_nest_depth(p, loop);
  for (uint32_t k = po_nest_next(p, loop, loop); k != PO_NO_NODE && same;
       k = po_nest_next(p, k, loop)) {
    if (p->nest.nodes.data[k].kind != PO_LEAF)
      continue;
    const po_stmt *s = &p->stmts.data[p->nest.nodes.data[k].stmt];
    isl_set *here = isl_set_apply(isl_set_copy(s->domain),
                                  isl_map_from_multi_aff(po_outer_time(s, n)));
    here = isl_set_reset_tuple_id(here);
    if (first)
      same = isl_set_is_equal(first, here) == isl_bool_true;
    isl_set_free(first ? here : NULL);
    first = first ? first : here;
  }
  isl_set_free(first);
  return !same;
}

static isl_schedule_node *
ask(__isl_take isl_schedule_node *node, void *user) {
  const po_program *const *of = user, *p = *of;
  if (isl_schedule_node_get_type(node) != isl_schedule_node_mark)
    return node;
  isl_id *id = isl_schedule_node_mark_get_id(node);
  uint32_t loop = cg_loop_of(id);
  isl_id_free(id);
  const po_nest_node *n = &p->nest.nodes.data[loop];
  if (!n->separate && n->mark != PO_UNROLL)
    return node;
  node = isl_schedule_node_child(node, 0);
  isl_set *full = n->separate ? full_part(p, loop) : NULL;
  if (full)
    node = isl_schedule_node_band_set_ast_build_options(node,
                                                        isolate(p, loop, full));
  if (n->separate && !full && n->mark == PO_SERIAL && has_guests(p, loop))
    node = isl_schedule_node_band_member_set_ast_loop_type(
        node, 0, isl_ast_loop_separate);
  if (n->mark == PO_UNROLL && is_short(p, loop)) {
    node = isl_schedule_node_band_member_set_ast_loop_type(node, 0,
                                                           isl_ast_loop_unroll);
    if (full)
      node = isl_schedule_node_band_member_set_isolate_ast_loop_type(
          node, 0, isl_ast_loop_unroll);
  }
  return isl_schedule_node_parent(node);
}

isl_schedule *
cg_ask_for_code(const po_program *p, isl_schedule *schedule) {
  return isl_schedule_map_schedule_node_bottom_up(schedule, ask, &p);
}
