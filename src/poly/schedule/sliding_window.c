/* SPDX-License-Identifier: MIT */
/* sliding_window.c - sliding windows: in which iteration an element is made
 * that several iterations of a loop need.
 *
 * By the lexicographically first of them, f(x).  Where windows slide, f is a
 * function t(x) such as x - 2 but for the first iteration, which needs a whole
 * window and would make the rows of it at once: max(0, x - 2).  With t(x)
 * itself those rows are made by iterations before the first, one by one, and
 * all iterations are alike.  t is a piece of f, extended, that nowhere comes
 * too late: t(x) <= f(x) for all x; of those, the one that f is most often. */
#include "poly/loops/affine.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>
#include <isl/ilp.h>

/* { [o, t] -> A[x] } to { [o, x] -> [t] }. */
static __isl_give isl_map *
when_needed(__isl_keep isl_map *needed, uint32_t n) {
  isl_size rank = isl_map_dim(needed, isl_dim_out);
  isl_map *when = isl_map_reset_tuple_id(isl_map_copy(needed), isl_dim_out);
  when = isl_map_move_dims(when, isl_dim_out, 0, isl_dim_in, n - 1, 1);
  return isl_map_move_dims(when, isl_dim_in, n - 1, isl_dim_out, 1,
                           rank < 0 ? 0 : (unsigned)rank);
}

/* The opposite of when_needed, for the array that `like` relates to. */
static __isl_give isl_map *
made_in(__isl_take isl_map *when, uint32_t n, __isl_keep isl_map *like) {
  isl_size rank = isl_map_dim(like, isl_dim_out);
  isl_map *made = isl_map_move_dims(when, isl_dim_out, 1, isl_dim_in, n - 1,
                                    rank < 0 ? 0 : (unsigned)rank);
  made = isl_map_move_dims(made, isl_dim_in, n - 1, isl_dim_out, 0, 1);
  made = isl_map_set_tuple_id(made, isl_dim_out,
                              isl_map_get_tuple_id(like, isl_dim_out));
  return isl_map_coalesce(made);
}

/* ---- the function for all iterations alike ---- */

typedef struct search {
  isl_pw_aff *first; /* { [o, x] -> [f] } */
  isl_set *all;      /* its domain */
  uint32_t n_outer;
  isl_aff *best;
  int64_t met; /* elements for which the best is f */
} search;

static bool
depends_on_element(const search *s, __isl_keep isl_aff *t) {
  isl_size n = isl_aff_dim(t, isl_dim_in);
  return n > (isl_size)s->n_outer &&
         isl_aff_involves_dims(t, isl_dim_in, s->n_outer,
                               (unsigned)n - s->n_outer) == isl_bool_true;
}

/* Elements for which t is f; -1 where t comes too late for some. */
static int64_t
count_met(const search *s, __isl_keep isl_aff *t) {
  isl_pw_aff *f = isl_pw_aff_from_aff(isl_aff_copy(t));
  isl_set *early =
      isl_pw_aff_le_set(isl_pw_aff_copy(f), isl_pw_aff_copy(s->first));
  bool ok = isl_set_is_subset(s->all, early) == isl_bool_true;
  isl_set_free(early);
  if (!ok) {
    isl_pw_aff_free(f);
    return -1;
  }
  isl_set *met = isl_pw_aff_eq_set(f, isl_pw_aff_copy(s->first));
  int64_t n = po_count_points(isl_set_coalesce(met));
  return n < 0 ? 0 : n;
}

static isl_stat
try_piece(__isl_take isl_set *set, __isl_take isl_aff *t, void *user) {
  search *s = user;
  int64_t met = depends_on_element(s, t) ? count_met(s, t) : -1;
  if (met > s->met) {
    isl_aff_free(s->best);
    s->best = isl_aff_copy(t);
    s->met = met;
  }
  isl_set_free(set);
  isl_aff_free(t);
  return isl_stat_ok;
}

/* { [o, x] -> [t] }, on the domain of `when` (taken); NULL: there is none. */
static __isl_give isl_map *
alike(__isl_take isl_map *when, uint32_t n) {
  search s = {.n_outer = n - 1, .met = -1};
  s.all = isl_map_domain(isl_map_copy(when));
  s.first = isl_pw_aff_coalesce(isl_map_dim_min(when, 0));
  if (s.first)
    isl_pw_aff_foreach_piece(s.first, try_piece, &s);
  isl_pw_aff_free(s.first);
  if (!s.best) {
    isl_set_free(s.all);
    return NULL;
  }
  return isl_map_intersect_domain(isl_map_from_aff(s.best), s.all);
}

/* What is in parts for the sake of those who need it, as one where it is. */
static __isl_give isl_map *
in_one_piece(__isl_take isl_map *map) {
  if (isl_map_n_basic_map(map) < 2)
    return map;
  isl_set *set = isl_map_wrap(map);
  isl_set *hull =
      isl_set_from_basic_set(isl_set_simple_hull(isl_set_copy(set)));
  hull = po_within_box(hull, set);
  bool same = isl_set_is_equal(hull, set) == isl_bool_true;
  isl_set_free(same ? set : hull);
  return isl_set_unwrap(same ? hull : set);
}

/* Reads that overlap in a shape of several pieces make rows of different
 * lengths: they are filled up, as they are in tiles, where each element is
 * still made once. */
static __isl_give isl_map *
fill_up_once(__isl_take isl_map *once, uint32_t n) {
  isl_map *filled = po_fill_up(isl_map_copy(once));
  isl_map *when = filled ? when_needed(filled, n) : NULL;
  bool same = isl_map_is_single_valued(when) == isl_bool_true;
  isl_map_free(when);
  isl_map_free(same ? once : filled);
  return same ? filled : once;
}

isl_map *
po_each_once(isl_map *needed, uint32_t n, po_window_fill fill) {
  assert(fill != PO_FILL_ALL);
  isl_map *when = when_needed(needed, n);
  when = fill == PO_FILL_FIRST ? isl_map_lexmin(when) : alike(when, n);
  isl_map *once = when ? in_one_piece(made_in(when, n, needed)) : NULL;
  return once ? fill_up_once(once, n) : NULL;
}
