/* SPDX-License-Identifier: MIT */
/* lower_order.c - the original order of a term's statements as a nest.
 *
 *   loops over the outer indices { for each statement: loops over the rest }
 *
 * Times are the indices themselves.  Where there is work enough, the outermost
 * loop over which no two instances touch the same element with a write among
 * them is marked parallel, and the ones right below it while it is short. */
#include "glenside/target/tuned.h"
#include "poly/loops/affine.h"
#include "poly/loops/bounds.h"
#include "poly/lower/again.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>

/* Statements whose accesses are compared with each other. */
enum { FEW = 64 };

/* ---- the tree ---- */

static uint32_t
add_loop(po_lowering *low, uint32_t parent, uint32_t depth) {
  po_program *out = low->out;
  uint32_t n = low->n_loops[depth]++;
  const char *name = n ? bs_arena_printf(&out->arena, "i%u_%u", depth, n)
                       : bs_arena_printf(&out->arena, "i%u", depth);
  return po_nest_add_loop(out, parent, PO_NO_NODE, name);
}

/* How many statements from k on share their loops: updates of one local,
 * where their order matters. */
static uint32_t
run_length(const po_stmt *stmts, uint32_t k, uint32_t n, bool ordered) {
  uint32_t end = k + 1;
  while (ordered && end < n && stmts[k].kind == PO_UPDATE &&
         stmts[end].kind == PO_UPDATE && stmts[end].array == stmts[k].array)
    end++;
  return end - k;
}

static void
add_run(po_lowering *low, uint32_t parent, uint32_t first, uint32_t n,
        uint32_t n_outer) {
  assert(first < low->out->stmts.len);
  uint32_t n_iters = low->out->stmts.data[first].n_iters;
  for (uint32_t d = n_outer; d < n_iters; d++)
    parent = add_loop(low, parent, d);
  for (uint32_t k = first; k < first + n; k++)
    po_nest_add_leaf(low->out, parent, PO_NO_NODE, k);
}

/* Loops d, d + 1, ..., n - 1 below a node; the innermost one. */
static uint32_t
add_loops(po_lowering *low, uint32_t parent, uint32_t d, uint32_t n) {
  for (; d < n; d++)
    parent = add_loop(low, parent, d);
  return parent;
}

/* The leaf of a statement below loops of its own from d on. */
static void
add_leaf(po_lowering *low, uint32_t parent, uint32_t d, uint32_t stmt) {
  assert(stmt < low->out->stmts.len);
  uint32_t n = low->out->stmts.data[stmt].n_iters;
  po_nest_add_leaf(low->out, add_loops(low, parent, d, n), PO_NO_NODE, stmt);
}

void
po_add_shared_nest(po_lowering *low, uint32_t first, uint32_t n) {
  assert(first < low->out->stmts.len);
  uint32_t inner = add_loops(low, 0, 0, n);
  for (uint32_t k = first; k < low->out->stmts.len; k++)
    add_leaf(low, inner, n, k);
}

/* ---- parallel loops ---- */

/* The extent of the box around a domain. */
static int64_t
extent(const po_stmt *stmt, uint32_t d) {
  int64_t lo, hi;
  return po_bounds(stmt->domain, d, &lo, &hi) ? hi - lo + 1 : 1;
}

static bool
threads_are_profitable(const po_stmt *stmts, uint32_t n) {
  int64_t work = 0;
  for (uint32_t k = 0; k < n && work < GS_THREAD_INSTANCES; k++) {
    int64_t count = 1;
    for (uint32_t d = 0; d < stmts[k].n_iters; d++)
      if (__builtin_mul_overflow(count, extent(&stmts[k], d), &count))
        return true;
    if (__builtin_add_overflow(work, count, &work))
      return true;
  }
  return work >= GS_THREAD_INSTANCES;
}

/* { S[i] -> [i_0, ..., i_(n - 1)] } */
static __isl_give isl_union_map *
outer_times(const po_stmt *stmts, uint32_t n, uint32_t n_outer) {
  isl_union_map *all = NULL;
  for (uint32_t k = 0; k < n; k++) {
    isl_multi_aff *time = isl_multi_aff_copy(stmts[k].time);
    time = isl_multi_aff_drop_dims(time, isl_dim_out, n_outer,
                                   stmts[k].n_iters - n_outer);
    isl_union_map *one = isl_union_map_from_map(isl_map_from_multi_aff(time));
    all = all ? isl_union_map_union(all, one) : one;
  }
  return all;
}

static __isl_give isl_union_map *
add_access(__isl_take isl_union_map *all, const po_stmt *stmt,
           __isl_keep isl_pw_multi_aff *access) {
  isl_map *map = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(access));
  map = isl_map_intersect_domain(map, isl_set_copy(stmt->domain));
  return isl_union_map_union(all, isl_union_map_from_map(map));
}

/* A look-up reads any element of its table. */
static __isl_give isl_union_map *
add_table(__isl_take isl_union_map *all, const po_program *p,
          const po_stmt *stmt, const po_expr *e) {
  const po_array *array = &p->arrays.data[e->array];
  isl_set *box = po_elements_of(p, array);
  box = isl_set_set_tuple_id(box, isl_id_alloc(p->isl, array->name, NULL));
  isl_map *map = isl_map_from_domain_and_range(isl_set_copy(stmt->domain), box);
  return isl_union_map_union(all, isl_union_map_from_map(map));
}

static void
accesses_of(const po_program *p, const po_stmt *stmts, uint32_t n,
            __isl_give isl_union_map **writes,
            __isl_give isl_union_map **reads) {
  *writes = isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
  *reads = isl_union_map_copy(*writes);
  for (uint32_t k = 0; k < n; k++) {
    *writes = add_access(*writes, &stmts[k], stmts[k].write);
    for (uint32_t j = 0; j < stmts[k].n_exprs; j++) {
      const po_expr *e = &stmts[k].exprs[j];
      if (e->kind == PO_READ)
        *reads = add_access(*reads, &stmts[k], e->index);
      else if (e->kind == PO_GATHER)
        *reads = add_table(*reads, p, &stmts[k], e);
    }
  }
}

/* Distances, in the outer loops, between instances that touch the same
 * element, one of them writing it. */
static __isl_give isl_set *
conflict_distances(const po_program *p, const po_stmt *stmts, uint32_t n,
                   uint32_t n_outer) {
  isl_union_map *writes, *reads;
  accesses_of(p, stmts, n, &writes, &reads);
  reads = isl_union_map_union(reads, isl_union_map_copy(writes));
  isl_union_map *pairs =
      isl_union_map_apply_range(writes, isl_union_map_reverse(reads));
  isl_union_map *outer = outer_times(stmts, n, n_outer);
  pairs = isl_union_map_apply_domain(pairs, isl_union_map_copy(outer));
  pairs = isl_union_map_apply_range(pairs, outer);
  isl_union_set *deltas = isl_union_map_deltas(pairs);
  isl_set *set = isl_union_set_extract_set(deltas, po_space(p->isl, n_outer));
  isl_union_set_free(deltas);
  return set;
}

/* ---- instances that are plainly apart ---- */

/* An index of an array that is an outer index plus a number. */
typedef struct pinned {
  bool is;
  uint32_t d;
  int64_t add;
} pinned;

/* The access by each index of its array; false where it is in pieces. */
static bool
read_pins(__isl_keep isl_pw_multi_aff *access, uint32_t n_iters, pinned *out,
          uint32_t rank) {
  int64_t by[GS_MAX_RANK + 1];
  if (isl_pw_multi_aff_n_piece(access) != 1 || n_iters > GS_MAX_RANK)
    return false;
  isl_multi_aff *map =
      isl_pw_multi_aff_as_multi_aff(isl_pw_multi_aff_copy(access));
  for (uint32_t k = 0; k < rank; k++) {
    isl_aff *index = isl_multi_aff_get_aff(map, (int)k);
    uint32_t terms = 0;
    out[k].is = po_affine_terms(index, &out[k].add, by);
    for (uint32_t d = 0; out[k].is && d < n_iters; d++) {
      terms += by[d] != 0;
      if (by[d])
        out[k].d = d;
    }
    out[k].is = out[k].is && terms == 1 && by[out[k].d] == 1;
    isl_aff_free(index);
  }
  isl_multi_aff_free(map);
  return true;
}

/* What all accesses to one array have in common. */
typedef struct common {
  pinned pin[GS_MAX_RANK];
  uint32_t rank;
  bool met;
} common;

static bool
meet(common *c, __isl_keep isl_pw_multi_aff *access, uint32_t n_iters) {
  pinned own[GS_MAX_RANK];
  if (!read_pins(access, n_iters, own, c->rank))
    return false;
  for (uint32_t k = 0; k < c->rank; k++) {
    if (!c->met)
      c->pin[k] = own[k];
    c->pin[k].is = c->pin[k].is && own[k].is && c->pin[k].d == own[k].d &&
                   c->pin[k].add == own[k].add;
  }
  c->met = true;
  return true;
}

static bool
pins_all(const common *c, uint32_t n_outer) {
  for (uint32_t d = 0; d < n_outer; d++) {
    bool found = false;
    for (uint32_t k = 0; k < c->rank; k++)
      found |= c->pin[k].is && c->pin[k].d == d;
    if (!found)
      return false;
  }
  return true;
}

static bool
meet_reads(const po_stmt *stmt, uint32_t array, common *c) {
  for (uint32_t j = 0; j < stmt->n_exprs; j++) {
    const po_expr *e = &stmt->exprs[j];
    bool same = e->array == array;
    if (same && e->kind == PO_GATHER)
      return false;
    if (same && e->kind == PO_READ && !meet(c, e->index, stmt->n_iters))
      return false;
  }
  return true;
}

/* Each array that is written has, for each outer loop, an index that is that
 * loop's in every access: two instances that meet are of the same iteration of
 * all of them.  This is seen without a relation. */
static bool
are_apart(const po_program *p, const po_stmt *stmts, uint32_t n,
          uint32_t n_outer) {
  for (uint32_t k = 0; k < n; k++) {
    uint32_t array = stmts[k].array;
    common c = {.rank = p->arrays.data[array].rank};
    for (uint32_t i = 0; i < n; i++)
      if ((stmts[i].array == array &&
           !meet(&c, stmts[i].write, stmts[i].n_iters)) ||
          !meet_reads(&stmts[i], array, &c))
        return false;
    if (!pins_all(&c, n_outer))
      return false;
  }
  return true;
}

/* loops: the outer ones, one below the other. */
static void
mark_parallel(const po_program *p, const po_stmt *stmts, uint32_t n,
              uint32_t n_outer, uint32_t loop) {
  isl_set *distances = n <= FEW && are_apart(p, stmts, n, n_outer)
                           ? isl_set_empty(po_space(p->isl, n_outer))
                           : conflict_distances(p, stmts, n, n_outer);
  int64_t total = 1;
  for (uint32_t d = 0; d < n_outer && total < GS_THREAD_ITERATIONS;
       d++, loop++) {
    isl_set *zero = po_slab(p->isl, n_outer, d, 0, 0);
    bool free = isl_set_is_subset(distances, zero) == isl_bool_true;
    isl_set_free(zero);
    int64_t trips = extent(&stmts[0], d);
    if (free && trips > 1) {
      p->nest.nodes.data[loop].mark = PO_PARALLEL;
      total *= trips;
    } else if (total > 1) {
      break;
    }
  }
  isl_set_free(distances);
}

/* The first of the loops, or where it would be. */
static uint32_t
add_tree(po_lowering *low, uint32_t first, uint32_t n_outer, bool ordered) {
  po_program *out = low->out;
  uint32_t n = out->stmts.len - first, loop = out->nest.nodes.len;
  uint32_t parent = add_loops(low, 0, 0, n_outer);
  for (uint32_t k = 0, run; k < n; k += run) {
    run = run_length(out->stmts.data + first, k, n, ordered);
    add_run(low, parent, first + k, run, n_outer);
  }
  return loop;
}

uint32_t
po_threads_of(const po_lowering *low, uint32_t loop, uint32_t n_outer) {
  assert(n_outer <= GS_MAX_RANK);
  uint32_t threads = 0;
  for (uint32_t d = 0; d < n_outer; d++)
    if (low->out->nest.nodes.data[loop + d].mark == PO_PARALLEL)
      threads |= 1u << d;
  return threads;
}

void
po_add_nest_like(po_lowering *low, uint32_t first, uint32_t n_outer,
                 uint32_t threads) {
  assert(first < low->out->stmts.len && n_outer <= GS_MAX_RANK);
  uint32_t loop = add_tree(low, first, n_outer, false);
  for (uint32_t d = 0; d < n_outer; d++)
    if (threads >> d & 1)
      low->out->nest.nodes.data[loop + d].mark = PO_PARALLEL;
}

void
po_add_nodes_again(po_lowering *low, uint32_t node, uint32_t n,
                   uint32_t further) {
  assert(node > 0 && node + n <= low->out->nest.nodes.len);
  po_program *out = low->out;
  uint32_t shift = out->nest.nodes.len - node;
  for (uint32_t k = node; k < node + n; k++) {
    const po_nest_node of = out->nest.nodes.data[k];
    uint32_t parent = of.parent ? of.parent + shift : 0;
    if (of.kind == PO_LEAF) {
      po_nest_add_leaf(out, parent, PO_NO_NODE, of.stmt + further);
      continue;
    }
    uint32_t depth = parent ? po_nest_depth(out, parent) + 1 : 0;
    uint32_t loop = add_loop(low, parent, depth);
    out->nest.nodes.data[loop].mark = of.mark;
  }
}

void
po_add_nest(po_lowering *low, uint32_t first, uint32_t n_outer, bool ordered) {
  assert(first <= low->out->stmts.len);
  po_program *out = low->out;
  uint32_t n = out->stmts.len - first;
  uint32_t loop = add_tree(low, first, n_outer, ordered);
  const po_stmt *stmts = out->stmts.data + first;
  if (n_outer && !po_has_failed(low) && threads_are_profitable(stmts, n))
    mark_parallel(out, stmts, n, n_outer, loop);
}
