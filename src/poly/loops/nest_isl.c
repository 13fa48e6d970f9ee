/* SPDX-License-Identifier: MIT */
/* nest_isl.c - the nest as isl objects: times, ranges, schedule trees.
 *
 * All of them are made from the domains and times of statements on demand.
 * isl reports failure by NULL, which its functions pass on, so that only the
 * result needs a look. */
#include "poly/loops/access.h"
#include "poly/loops/affine.h"
#include "poly/loops/loops.h"
#include "poly/loops/memo.h"
#include <assert.h>
#include <isl/ilp.h>
#include <isl/schedule_node.h>
#include <isl/val.h>

static const po_stmt *
stmt_at(const po_program *p, uint32_t node) {
  return &p->stmts.data[po_node(p, node)->stmt];
}

/* ---- time ---- */

/* A node's number among its siblings, for all of a tree at once. */
static uint32_t *
places(const po_program *p) {
  uint32_t *place = bs_calloc(p->ctx.heap, p->nest.nodes.len, sizeof *place);
  for (uint32_t k = 0; k < p->nest.nodes.len; k++) {
    uint32_t n = 0;
    for (uint32_t kid = po_node(p, k)->first; kid != PO_NO_NODE;
         kid = po_node(p, kid)->next)
      place[kid] = n++;
  }
  return place;
}

static __isl_give isl_aff *
constant_on(__isl_keep isl_set *domain, int64_t value) {
  isl_ctx *isl = isl_set_get_ctx(domain);
  return isl_aff_val_on_domain(
      isl_local_space_from_space(isl_set_get_space(domain)),
      isl_val_int_from_si(isl, value));
}

/* [place, t0, place, t1, ..., place, 0...] with 2 * depth + 1 entries. */
static __isl_give isl_multi_aff *
full_time(const po_program *p, uint32_t leaf, const uint32_t *place,
          uint32_t depth) {
  const po_stmt *stmt = stmt_at(p, leaf);
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, leaf, loops);
  isl_space *space = isl_space_from_domain(isl_set_get_space(stmt->domain));
  space = isl_space_add_dims(space, isl_dim_out, 2 * depth + 1);
  isl_multi_aff *time = isl_multi_aff_zero(space);
  for (uint32_t k = 0; k <= n; k++) {
    uint32_t node = k < n ? loops[k] : leaf;
    isl_aff *where = constant_on(stmt->domain, place[node]);
    time = isl_multi_aff_set_aff(time, 2 * (int)k, where);
    if (k < n)
      time = isl_multi_aff_set_aff(time, 2 * (int)k + 1,
                                   isl_multi_aff_get_aff(stmt->time, (int)k));
  }
  return time;
}

/* PO_NO_NODE stands for any array. */
static bool
uses(const po_stmt *stmt, uint32_t array) {
  return array == PO_NO_NODE || po_stmt_accesses(stmt, array);
}

isl_union_map *
po_time_around(const po_program *p, uint32_t array) {
  assert(array == PO_NO_NODE || array < p->arrays.len);
  uint32_t depth = 0, *place = places(p);
  for (uint32_t k = po_nest_first_leaf(p, 0); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, 0))
    if (uses(stmt_at(p, k), array) && po_nest_depth(p, k) > depth)
      depth = po_nest_depth(p, k);
  isl_union_map *all = isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t k = po_nest_first_leaf(p, 0); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, 0)) {
    if (!uses(stmt_at(p, k), array))
      continue;
    isl_map *one = isl_map_from_multi_aff(full_time(p, k, place, depth));
    one = isl_map_intersect_domain(one, isl_set_copy(stmt_at(p, k)->domain));
    all = isl_union_map_add_map(all, one);
  }
  bs_free(p->ctx.heap, place);
  return all;
}

/* ---- ranges ---- */

static __isl_give isl_set *
find_values(const po_program *p, uint32_t top, uint32_t n) {
  isl_set *all = isl_set_empty(po_space(p->isl, n));
  for (uint32_t k = po_nest_first_leaf(p, top); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, top)) {
    const po_stmt *stmt = stmt_at(p, k);
    isl_multi_aff *time = isl_multi_aff_copy(stmt->time);
    isl_size dim = isl_multi_aff_dim(time, isl_dim_out);
    if (dim > (isl_size)n)
      time = isl_multi_aff_drop_dims(time, isl_dim_out, n, (unsigned)dim - n);
    isl_set *some =
        isl_set_apply(isl_set_copy(stmt->domain), isl_map_from_multi_aff(time));
    all = isl_set_union(all, some);
  }
  /* Quotients that times are made of become what they are equal to. */
  return isl_set_coalesce(isl_set_detect_equalities(all));
}

/* The values of the first n functions of the times below a node. */
static __isl_give isl_set *
values_of(const po_program *p, uint32_t top, uint32_t n) {
  po_memo_key key;
  po_memo_ask(&key, PO_MEMO_VALUES, n);
  for (uint32_t k = po_nest_first_leaf(p, top); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, top))
    po_memo_of(&key, stmt_at(p, k)->domain, stmt_at(p, k)->time, NULL, 0);
  const po_memo_answer *known = po_memo_find(p->memo, &key);
  if (known)
    return isl_set_copy(known->set);
  isl_set *values = find_values(p, top, n);
  if (values)
    po_memo_put(p->memo, &key, (po_memo_answer){.set = values});
  return values;
}

isl_map *
po_nest_range_in(const po_program *p, uint32_t loop) {
  assert(p->nest.nodes.data[loop].kind == PO_LOOP);
  uint32_t n = po_nest_depth(p, loop);
  isl_map *all = isl_map_from_range(values_of(p, loop, n + 1));
  return isl_map_move_dims(all, isl_dim_in, 0, isl_dim_out, 0, n);
}

isl_set *
po_nest_range(const po_program *p, uint32_t loop) {
  assert(p->nest.nodes.data[loop].kind == PO_LOOP);
  uint32_t n = po_nest_depth(p, loop);
  isl_set *all = values_of(p, loop, n + 1);
  all = isl_set_project_out(all, isl_dim_set, 0, n);
  return isl_set_coalesce(all);
}

int64_t
po_nest_extent(const po_program *p, uint32_t loop) {
  assert(p->nest.nodes.data[loop].kind == PO_LOOP);
  isl_map *in = po_nest_range_in(p, loop);
  isl_set *range = isl_map_range(isl_map_copy(in));
  int64_t lo = po_int_or(isl_set_dim_min_val(isl_set_copy(range), 0), -1);
  int64_t hi = po_int_or(isl_set_dim_max_val(isl_set_copy(range), 0), -1);
  bool whole = lo == 0 && hi >= 0;
  if (whole) {
    isl_set *full = po_slab(p->isl, 1, 0, 0, hi);
    isl_map *all =
        isl_map_from_domain_and_range(isl_map_domain(isl_map_copy(in)), full);
    whole = isl_map_is_subset(all, in) == isl_bool_true;
    isl_map_free(all);
  }
  isl_set_free(range);
  isl_map_free(in);
  return whole ? hi + 1 : -1;
}

/* ---- schedule trees ---- */

/* { S[i] -> [t] } for the statements below a loop, t its function. */
static __isl_give isl_multi_union_pw_aff *
band_of(const po_program *p, uint32_t loop) {
  uint32_t depth = po_nest_depth(p, loop);
  isl_union_pw_multi_aff *all =
      isl_union_pw_multi_aff_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t k = po_nest_first_leaf(p, loop); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, loop)) {
    isl_multi_aff *one = isl_multi_aff_from_aff(
        isl_multi_aff_get_aff(stmt_at(p, k)->time, (int)depth));
    all = isl_union_pw_multi_aff_add_pw_multi_aff(
        all, isl_pw_multi_aff_from_multi_aff(one));
  }
  return isl_multi_union_pw_aff_from_union_pw_multi_aff(all);
}

/* The loop as a band above `inner`, under a mark with its name. */
static __isl_give isl_schedule *
loop_above(const po_program *p, uint32_t loop, __isl_take isl_schedule *inner) {
  inner = isl_schedule_insert_partial_schedule(inner, band_of(p, loop));
  isl_schedule_node *root = isl_schedule_get_root(inner);
  isl_schedule_free(inner);
  isl_schedule_node *node = isl_schedule_node_child(root, 0);
  if (po_node(p, loop)->mark == PO_PARALLEL)
    node = isl_schedule_node_band_member_set_coincident(node, 0, 1);
  node = isl_schedule_node_insert_mark(
      node, isl_id_alloc(p->isl, po_node(p, loop)->name,
                         (void *)(uintptr_t)(loop + 1)));
  inner = isl_schedule_node_get_schedule(node);
  isl_schedule_node_free(node);
  return inner;
}

/* Pairs are joined first, then pairs of pairs, so that no long sequence is
 * copied more often than the logarithm of its length. */
static __isl_give isl_schedule *
sequence_of(isl_schedule **parts, uint32_t n) {
  for (; n > 1; n = (n + 1) / 2)
    for (uint32_t k = 0; k < (n + 1) / 2; k++)
      parts[k] = 2 * k + 1 < n
                     ? isl_schedule_sequence(parts[2 * k], parts[2 * k + 1])
                     : parts[2 * k];
  return parts[0];
}

/* What the children of a node that are done make together; NULL: nothing. */
static __isl_give isl_schedule *
join_children(const po_program *p, uint32_t node, isl_schedule **done,
              isl_schedule **parts) {
  uint32_t n = 0;
  for (uint32_t k = po_node(p, node)->first; k != PO_NO_NODE;
       k = po_node(p, k)->next) {
    if (done[k])
      parts[n++] = done[k];
    done[k] = NULL;
  }
  return n ? sequence_of(parts, n) : NULL;
}

/* The node after `node` in post-order below top. */
static uint32_t
post_next(const po_program *p, uint32_t node, uint32_t top) {
  if (node == top)
    return PO_NO_NODE;
  if (po_node(p, node)->next == PO_NO_NODE)
    return po_node(p, node)->parent;
  for (node = po_node(p, node)->next; po_node(p, node)->first != PO_NO_NODE;)
    node = po_node(p, node)->first;
  return node;
}

/* done: two entries a node, all NULL before and after. */
static __isl_give isl_schedule *
schedule_of(const po_program *p, uint32_t top, isl_schedule **done) {
  uint32_t n = p->nest.nodes.len, k = top;
  while (po_node(p, k)->first != PO_NO_NODE)
    k = po_node(p, k)->first;
  for (; k != PO_NO_NODE; k = post_next(p, k, top)) {
    if (po_node(p, k)->kind == PO_LEAF)
      done[k] = isl_schedule_from_domain(
          isl_union_set_from_set(isl_set_copy(stmt_at(p, k)->domain)));
    else if (po_node(p, k)->first != PO_NO_NODE)
      done[k] = join_children(p, k, done, done + n);
    if (done[k] && po_node(p, k)->kind == PO_LOOP)
      done[k] = loop_above(p, k, done[k]);
  }
  isl_schedule *schedule = done[top];
  done[top] = NULL;
  return schedule;
}

static isl_schedule **
room_for_schedules(const po_program *p) {
  return bs_calloc(p->ctx.heap, 2 * (size_t)p->nest.nodes.len,
                   sizeof(isl_schedule *));
}

isl_schedule *
po_nest_schedule(const po_program *p, uint32_t top) {
  assert(top < p->nest.nodes.len);
  isl_schedule **done = room_for_schedules(p);
  isl_schedule *schedule = schedule_of(p, top, done);
  bs_free(p->ctx.heap, done);
  return schedule;
}

isl_schedule *
po_group_schedule(const po_program *p, const po_group *group) {
  isl_schedule **done = room_for_schedules(p), *all = NULL;
  for (uint32_t k = group->node;; k = po_node(p, k)->next) {
    isl_schedule *one = schedule_of(p, k, done);
    all = all && one ? isl_schedule_sequence(all, one) : one ? one : all;
    if (k == group->last)
      break;
  }
  bs_free(p->ctx.heap, done);
  return all;
}

bool
po_nest_is_idle(const po_program *p, uint32_t node) {
  assert(node < p->nest.nodes.len);
  const po_nest_node *n = po_node(p, node);
  if (n->kind == PO_SYNC)
    return false;
  isl_set *values = n->kind == PO_LEAF
                        ? isl_set_copy(p->stmts.data[n->stmt].domain)
                        : po_nest_range(p, node);
  bool idle = isl_set_is_empty(values) == isl_bool_true;
  isl_set_free(values);
  return idle;
}

/* ---- gaps ---- */

/* More than one piece, or a remainder. */
static bool
may_have_gaps(__isl_keep isl_map *range) {
  isl_set *set = isl_set_coalesce(isl_map_wrap(isl_map_copy(range)));
  isl_basic_set_list *list = isl_set_get_basic_set_list(set);
  bool convex = isl_basic_set_list_n_basic_set(list) == 1;
  if (convex) {
    isl_basic_set *one = isl_basic_set_list_get_basic_set(list, 0);
    convex = isl_basic_set_dim(one, isl_dim_div) == 0;
    isl_basic_set_free(one);
  }
  isl_basic_set_list_free(list);
  isl_set_free(set);
  return !convex;
}

isl_map *
po_without_gaps(isl_map *range) {
  if (!range || !may_have_gaps(range))
    return range;
  isl_space *line = isl_space_range(isl_map_get_space(range));
  isl_map *above = isl_map_apply_range(isl_map_copy(range),
                                       isl_map_lex_le(isl_space_copy(line)));
  isl_map *below =
      isl_map_apply_range(isl_map_copy(range), isl_map_lex_ge(line));
  isl_map *filled = isl_map_coalesce(isl_map_intersect(above, below));
  bool same = isl_map_is_equal(filled, range) == isl_bool_true;
  isl_map_free(same ? filled : range);
  return same ? range : filled;
}
