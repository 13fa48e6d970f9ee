/* SPDX-License-Identifier: MIT */
/* fold_storage.c - a dimension kept in fewer places, by its index modulo their
 * number.
 *
 * Elements x and y must not share a place where y is written between the first
 * write and the last read of x.  Times are those of the loops around all
 * accesses and the place below the innermost of them: within one of these, all
 * counts as at once.  The least N is that of which no multiple is a distance
 * between two such elements, the other indices in one place.  Whether an N
 * that was given does is asked by the gate. */
#include "poly/loops/affine.h"
#include "poly/schedule/schedule_edit.h"
#include "poly/schedule/schedule_layout.h"
#include <isl/ilp.h>
#include <isl/val.h>

/* ---- times ---- */

typedef struct use {
  const po_program *p;
  uint32_t array, top, n_loops; /* the innermost node around all accesses */
} use;

static void
find_top(use *u) {
  const po_program *p = u->p;
  u->top = PO_NO_NODE;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    if (po_stmt_accesses(s, u->array))
      u->top = u->top == PO_NO_NODE ? po_node(p, s->leaf)->parent
                                    : po_nest_common(p, u->top, s->leaf);
  }
  uint32_t loops[PO_MAX_DEPTH];
  u->n_loops = u->top == PO_NO_NODE ? 0
                                    : po_nest_loops(p, u->top, loops) +
                                          (po_node(p, u->top)->kind == PO_LOOP);
}

/* The number of the child of `top` that a leaf is below or is. */
static int64_t
place_below(const use *u, uint32_t leaf) {
  int64_t n = 0;
  while (po_node(u->p, leaf)->parent != u->top)
    leaf = po_node(u->p, leaf)->parent;
  while ((leaf = po_node(u->p, leaf)->prev) != PO_NO_NODE)
    n++;
  return n;
}

/* { S[i] -> [loops, place] } of all that use the array. */
static __isl_give isl_union_map *
times_of(const use *u) {
  isl_union_map *all =
      isl_union_map_empty(isl_space_params_alloc(u->p->isl, 0));
  for (uint32_t k = 0; k < u->p->stmts.len; k++) {
    const po_stmt *s = &u->p->stmts.data[k];
    if (!po_stmt_accesses(s, u->array))
      continue;
    isl_map *time = isl_map_from_multi_aff(po_outer_time(s, u->n_loops));
    time = isl_map_insert_dims(time, isl_dim_out, u->n_loops, 1);
    time = isl_map_fix_val(
        time, isl_dim_out, u->n_loops,
        isl_val_int_from_si(u->p->isl, place_below(u, s->leaf)));
    time = isl_map_intersect_domain(time, isl_set_copy(s->domain));
    all = isl_union_map_add_map(all, time);
  }
  return all;
}

/* { A[x] -> [time] } of accesses, which are taken. */
static __isl_give isl_map *
when_used(__isl_take isl_union_map *accesses, __isl_keep isl_union_map *times) {
  isl_union_map *when = isl_union_map_apply_range(
      isl_union_map_reverse(accesses), isl_union_map_copy(times));
  if (isl_union_map_is_empty(when) != isl_bool_false) {
    isl_union_map_free(when);
    return NULL;
  }
  return isl_map_coalesce(isl_map_from_union_map(when));
}

/* ---- distances ---- */

/* { A[x] -> A[y] } whose index k is kept in one place, in the spaces of pairs.
 */
static __isl_give isl_map *
same_place(const po_array *a, uint32_t k, __isl_keep isl_map *pairs) {
  isl_ctx *isl = isl_map_get_ctx(pairs);
  isl_space *space = isl_space_reset_tuple_id(
      isl_space_range(isl_map_get_space(pairs)), isl_dim_set);
  isl_aff *index =
      isl_aff_var_on_domain(isl_local_space_from_space(space), isl_dim_set, k);
  index = isl_aff_mod_val(index, isl_val_int_from_si(isl, a->fold[k]));
  isl_map *place = isl_map_from_aff(index);
  isl_map *same = isl_map_apply_range(isl_map_copy(place),
                                      isl_map_reverse(isl_map_copy(place)));
  isl_map_free(place);
  same = isl_map_set_tuple_id(same, isl_dim_in,
                              isl_map_get_tuple_id(pairs, isl_dim_in));
  return isl_map_set_tuple_id(same, isl_dim_out,
                              isl_map_get_tuple_id(pairs, isl_dim_out));
}

/* { A[x] -> A[y] } whose indices but d are kept in one place. */
static __isl_give isl_map *
neighbours(const po_array *a, uint32_t d, __isl_take isl_map *pairs) {
  for (uint32_t k = 0; k < a->rank; k++) {
    if (k == d || a->fold[k] == 1)
      continue;
    if (!a->fold[k]) {
      pairs = isl_map_equate(pairs, isl_dim_in, (int)k, isl_dim_out, (int)k);
      continue;
    }
    isl_map *same = same_place(a, k, pairs);
    pairs = isl_map_intersect(pairs, same);
  }
  return pairs;
}

/* { [y_d - x_d] } of elements of which the second is written while the first
 * is alive; NULL where nothing is read or isl gave up. */
static __isl_give isl_set *
distances(const use *u, uint32_t d) {
  const po_array *a = &u->p->arrays.data[u->array];
  po_accesses acc = po_accesses_of(u->p, u->array);
  isl_union_map *times = times_of(u);
  isl_map *written =
      when_used(isl_union_map_union(isl_union_map_copy(acc.writes),
                                    isl_union_map_copy(acc.updates)),
                times);
  isl_map *read =
      when_used(isl_union_map_union(isl_union_map_copy(acc.reads),
                                    isl_union_map_copy(acc.updates)),
                times);
  po_accesses_free(&acc);
  isl_union_map_free(times);
  if (!written || !read) {
    isl_map_free(written);
    isl_map_free(read);
    return NULL;
  }
  isl_space *space = po_space(u->p->isl, u->n_loops + 1);
  isl_map *after = isl_map_apply_range(isl_map_lexmin(isl_map_copy(written)),
                                       isl_map_lex_le(isl_space_copy(space)));
  isl_map *until =
      isl_map_apply_range(isl_map_lexmax(read), isl_map_lex_ge(space));
  isl_map *alive = isl_map_coalesce(isl_map_intersect(after, until));
  isl_map *pairs = isl_map_apply_range(alive, isl_map_reverse(written));
  isl_set *apart = isl_map_deltas(neighbours(a, d, pairs));
  apart = isl_set_project_out(apart, isl_dim_set, d + 1, a->rank - d - 1);
  apart = isl_set_project_out(apart, isl_dim_set, 0, d);
  return isl_set_coalesce(isl_set_reset_tuple_id(apart));
}

/* ---- the least number of places ---- */

/* Numbers that are tried one by one; then all distances are kept apart. */
enum { MOST_TRIED = 256 };

/* Some distance is a multiple of n other than 0. */
static bool
meets(__isl_keep isl_set *apart, int64_t n) {
  isl_ctx *isl = isl_set_get_ctx(apart);
  isl_aff *rest =
      isl_aff_mod_val(po_index(isl, 1, 0, 1, 0), isl_val_int_from_si(isl, n));
  isl_set *met = isl_set_from_basic_set(isl_aff_zero_basic_set(rest));
  met = isl_set_subtract(met, po_slab(isl, 1, 0, 0, 0));
  met = isl_set_intersect(met, isl_set_copy(apart));
  bool none = isl_set_is_empty(met) == isl_bool_true;
  isl_set_free(met);
  return !none;
}

/* 0 where isl gave up. */
static int64_t
least_places(__isl_keep isl_set *apart) {
  if (isl_set_is_empty(apart) == isl_bool_true)
    return 1;
  int64_t lo =
      po_int_or(isl_set_dim_min_val(isl_set_copy(apart), 0), INT64_MIN);
  int64_t hi =
      po_int_or(isl_set_dim_max_val(isl_set_copy(apart), 0), INT64_MAX);
  if (lo <= -(INT64_C(1) << 40) || hi >= INT64_C(1) << 40)
    return 0;
  int64_t most = (hi > -lo ? hi : -lo) + 1;
  for (int64_t n = 1; n < most && n <= MOST_TRIED; n++)
    if (!meets(apart, n))
      return n;
  return most;
}

static int64_t
find_places(const po_program *p, uint32_t array, uint32_t d) {
  use u = {.p = p, .array = array};
  find_top(&u);
  if (u.top == PO_NO_NODE)
    return 0;
  po_limit limit = po_limit_operations(p, PO_QUESTION);
  isl_set *apart = distances(&u, d);
  int64_t n = apart ? least_places(apart) : 0;
  isl_set_free(apart);
  return po_unlimit(&limit) ? n : 0;
}

/* Marks of loops around: what they share now must not be used at once. */
static bool
marks_allow(po_program *p, const po_step_call *call, uint32_t array) {
  po_violation v;
  for (uint32_t k = po_node(p, 0)->first; k != PO_NO_NODE;
       k = po_node(p, k)->next) {
    bool used = false;
    for (uint32_t leaf = po_nest_first_leaf(p, k); leaf != PO_NO_NODE;
         leaf = po_nest_next_leaf(p, leaf, k))
      used |= po_stmt_accesses(&p->stmts.data[po_node(p, leaf)->stmt], array);
    if (!used || po_marks_are_legal(p, k, &v))
      continue;
    if (!v.source)
      return po_refuse(p, call, "too-complex", "legality could not be decided");
    return po_refuse_violation(p, call, &v);
  }
  return true;
}

/* The least that the extent is at any sizes. */
static int64_t
least_extent(const po_program *p, const po_array *a, uint32_t d) {
  return a->extent[d] ? po_int_or(isl_set_min_val(p->at_sizes, a->extent[d]), 0)
                      : a->dim[d];
}

/* As few places as the elements need; 0 with a diagnostic. */
static int64_t
fewest_places(po_program *p, const po_step_call *call, uint32_t array,
              uint32_t d) {
  const po_array *a = &p->arrays.data[array];
  int64_t n = find_places(p, array, d);
  if (n < 1)
    return po_refuse(p, call, "too-complex",
                     "how long the elements of %s are needed could not be "
                     "decided",
                     a->name);
  if (n >= a->dim[d])
    return po_refuse(p, call, "nothing-to-do",
                     "all %lld elements along dimension %u of %s are "
                     "needed at once",
                     (long long)a->dim[d], d, a->name);
  return n;
}

bool
po_apply_fold_storage(po_program *p, po_step_call *call) {
  uint32_t array = call->args[0].array;
  int64_t d = call->args[1].number, n = call->args[2].number;
  if (!po_layout_is_ours(p, call, array))
    return false;
  po_array *a = &p->arrays.data[array];
  if (d < 0)
    d += a->rank;
  if (d < 0 || d >= a->rank)
    return po_refuse(p, call, "axis", "%s has %u %s, no dimension %lld",
                     a->name, BS_COUNTED(a->rank, "dimension"),
                     (long long)call->args[1].number);
  if (call->args[2].kind == PO_ARG_END &&
      !(n = fewest_places(p, call, array, (uint32_t)d)))
    return false;
  int64_t least = least_extent(p, a, (uint32_t)d);
  if (n < 1 || n > least)
    return po_refuse(p, call, "factors", "%lld places are not within 1..%lld",
                     (long long)n, (long long)least);
  a->fold[d] = n;
  return marks_allow(p, call, array);
}
