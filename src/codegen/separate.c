/* separate.c - what the marks of loops ask of isl's code generator.
 *
 * An unrolled loop is written out where it has few values.  A loop whose full
 * tiles are wanted apart gets an `isolate` option: its iterations in which the
 * loops below run over all the values that they ever take.  Loops below whose
 * ranges are nowhere full are not considered, so that a triangular loop below
 * a tile loop does not spoil it. */
#include "codegen/emit.h"
#include <isl/ilp.h>
#include <isl/schedule_node.h>

/* Values that a loop may have to be written out. */
#define MAX_UNROLLED 256

uint32_t
cg_loop_of(isl_id *mark) {
  return (uint32_t)(uintptr_t)isl_id_get_user(mark) - 1;
}

static bool
is_short(const po_program *p, uint32_t loop) {
  isl_set *range = po_nest_range(p, loop);
  isl_val *hi = isl_set_dim_max_val(isl_set_copy(range), 0);
  isl_val *lo = isl_set_dim_min_val(range, 0);
  isl_val *size = isl_val_sub(hi, lo);
  bool is = isl_val_is_int(size) == isl_bool_true &&
            isl_val_cmp_si(size, MAX_UNROLLED) < 0;
  isl_val_free(size);
  return is;
}

/* { [outer..., t] } */
static __isl_give isl_set *
iterations(const po_program *p, uint32_t loop) {
  return isl_set_flatten(isl_map_wrap(po_nest_range_in(p, loop)));
}

/* The iterations of `loop` in all of which the loop `below` has all of its
 * values. */
static __isl_give isl_set *
full_iterations(const po_program *p, uint32_t loop, uint32_t below) {
  uint32_t n = po_nest_depth(p, loop) + 1;
  isl_map *in = po_nest_range_in(p, below);
  isl_map *all = isl_map_from_domain_and_range(isl_map_domain(isl_map_copy(in)),
                                               isl_map_range(isl_map_copy(in)));
  isl_set *bad = isl_map_domain(isl_map_subtract(all, in));
  isl_size dim = isl_set_dim(bad, isl_dim_set);
  bad =
      isl_set_project_out(bad, isl_dim_set, n, dim < 0 ? 0 : (unsigned)dim - n);
  return isl_set_coalesce(isl_set_subtract(iterations(p, loop), bad));
}

/* NULL when no loop below is full in some iterations only. */
static __isl_give isl_set *
full_part(const po_program *p, uint32_t loop) {
  isl_set *all = iterations(p, loop), *full = isl_set_copy(all);
  for (uint32_t k = po_nest_next(p, loop, loop); k != PO_NO_NODE;
       k = po_nest_next(p, k, loop)) {
    if (p->nest.nodes.data[k].kind != PO_LOOP)
      continue;
    isl_set *here = full_iterations(p, loop, k);
    if (isl_set_is_disjoint(here, full) == isl_bool_false)
      full = isl_set_intersect(full, here);
    else
      isl_set_free(here);
  }
  bool some = isl_set_is_equal(all, full) == isl_bool_false;
  isl_set_free(all);
  return some ? full : isl_set_free(full);
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

static isl_schedule_node *
ask(__isl_take isl_schedule_node *node, void *user) {
  const po_program *p = user;
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
  return isl_schedule_map_schedule_node_bottom_up(schedule, ask, (void *)p);
}
