/* SPDX-License-Identifier: MIT */
/* walk.h - runs a loop program by walking over its instances in the order of
 * its nest: what the order and the places in memory mean, and nothing else.
 * Parallel loops run backwards; arrays of the program's own start as rubbish.
 */
#ifndef TESTS_POLY_WALK_H
#define TESTS_POLY_WALK_H

#include "byhand.h"
#include "poly/loops/storage.h"
#include <math.h>
#include <stdlib.h>

enum { WALK_DIMS = 120 };

typedef struct instance {
  uint32_t stmt;
  int64_t at[WALK_DIMS]; /* time, then elements accessed */
} instance;

typedef struct walk {
  const po_program *p;
  BS_VEC(instance) list;
  uint32_t stmt, skip, n_time;
  int64_t *memory[64];
} walk;

static inline isl_stat
add_instance(isl_point *point, void *user) {
  walk *w = user;
  instance x = {.stmt = w->stmt};
  isl_space *space = isl_point_get_space(point);
  isl_size n = isl_space_dim(space, isl_dim_set);
  isl_space_free(space);
  for (isl_size d = (isl_size)w->skip; d < n; d++) {
    isl_val *val = isl_point_get_coordinate_val(point, isl_dim_set, d);
    cr_assert(d - (isl_size)w->skip < WALK_DIMS);
    x.at[d - (isl_size)w->skip] = isl_val_get_num_si(val);
    isl_val_free(val);
  }
  isl_point_free(point);
  uint32_t loops[PO_MAX_DEPTH];
  uint32_t n_loops = po_nest_loops(w->p, w->p->stmts.data[w->stmt].leaf, loops);
  for (uint32_t d = 0; d < n_loops; d++) {
    po_mark mark = w->p->nest.nodes.data[loops[d]].mark;
    if (mark == PO_PARALLEL || mark == PO_BIND)
      x.at[2 * d + 1] = -x.at[2 * d + 1];
  }
  bs_push(&heap, &w->list, x);
  return isl_stat_ok;
}

static inline isl_map *
and_access(isl_map *all, isl_pw_multi_aff *index) {
  isl_map *map = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(index));
  return isl_map_flat_range_product(all,
                                    isl_map_reset_tuple_id(map, isl_dim_out));
}

static inline void
add_stmt_instances(walk *w, isl_union_map *times, uint32_t k) {
  const po_stmt *s = &w->p->stmts.data[k];
  isl_union_map *mine = isl_union_map_intersect_domain(
      isl_union_map_copy(times),
      isl_union_set_from_set(isl_set_copy(s->domain)));
  if (isl_union_map_is_empty(mine)) {
    isl_union_map_free(mine);
    return;
  }
  isl_map *all = isl_map_from_union_map(mine);
  w->n_time = (uint32_t)isl_map_dim(all, isl_dim_out);
  w->skip = s->n_iters;
  w->stmt = k;
  all = and_access(all, s->write);
  for (uint32_t j = 0; j < s->n_exprs; j++)
    if (s->exprs[j].kind == PO_READ)
      all = and_access(all, s->exprs[j].index);
  isl_set *points = isl_set_flatten(isl_map_wrap(all));
  cr_assert_eq(isl_set_foreach_point(points, add_instance, w), isl_stat_ok);
  isl_set_free(points);
}

static uint32_t walk_n_time;

static inline int
by_time(const void *a, const void *b) {
  const instance *x = a, *y = b;
  for (uint32_t d = 0; d < walk_n_time; d++)
    if (x->at[d] != y->at[d])
      return x->at[d] < y->at[d] ? -1 : 1;
  return 0;
}

static inline int64_t *
place_of(walk *w, uint32_t array, const int64_t *index) {
  const po_array *a = &w->p->arrays.data[array];
  int64_t at = 0;
  for (uint32_t d = 0; d < a->rank; d++) {
    int64_t places = a->fold[d] ? a->fold[d] : a->dim[d];
    cr_assert(index[d] >= 0 && index[d] < a->dim[d], "%s: index %u is %lld",
              a->name, d, (long long)index[d]);
    at = at * (places + a->pad[d]) +
         (a->fold[d] ? index[d] % a->fold[d] : index[d]);
  }
  return &w->memory[array][at];
}

static inline int64_t
apply_op(gs_compute op, int64_t a, int64_t b) {
  switch ((int)op) {
  case GS_C_ADD:
    return (int32_t)(uint32_t)((uint64_t)a + (uint64_t)b);
  case GS_C_SUB:
    return (int32_t)(uint32_t)((uint64_t)a - (uint64_t)b);
  case GS_C_MUL:
    return (int32_t)(uint32_t)((uint64_t)a * (uint64_t)b);
  case GS_C_MAX:
    return a > b ? a : b;
  case GS_C_MIN:
    return a < b ? a : b;
  default:
    cr_assert_fail("operator");
    return 0;
  }
}

static inline int64_t
literal_of(double x) {
  return isinf(x) ? (x < 0 ? INT32_MIN : INT32_MAX) : (int64_t)x;
}

static inline void
run_instance(walk *w, const instance *x) {
  const po_stmt *s = &w->p->stmts.data[x->stmt];
  const int64_t *at = x->at + walk_n_time;
  int64_t value[256];
  int64_t *to = place_of(w, s->array, at);
  at += w->p->arrays.data[s->array].rank;
  cr_assert(s->n_exprs <= 256);
  for (uint32_t j = 0; j < s->n_exprs; j++) {
    const po_expr *e = &s->exprs[j];
    if (e->kind == PO_LITERAL) {
      value[j] = literal_of(e->literal);
    } else if (e->kind == PO_READ) {
      value[j] = *place_of(w, e->array, at);
      at += w->p->arrays.data[e->array].rank;
    } else {
      cr_assert_eq(e->kind, PO_BINARY);
      value[j] = apply_op(e->op, value[e->kids[0]], value[e->kids[1]]);
    }
  }
  int64_t result = value[s->n_exprs - 1];
  *to = s->kind == PO_UPDATE ? apply_op(s->op, *to, result) : result;
}

/* A hash of all outputs after the program has run. */
static inline uint64_t
run_program(const po_program *p) {
  walk w = {.p = p};
  isl_union_map *times = po_time_around(p, PO_NO_NODE);
  walk_n_time = 1;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    add_stmt_instances(&w, times, k);
    if (w.n_time)
      walk_n_time = w.n_time;
  }
  isl_union_map_free(times);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *a = &p->arrays.data[k];
    int64_t n = 1;
    for (uint32_t d = 0; d < a->rank; d++)
      n *= (a->fold[d] ? a->fold[d] : a->dim[d]) + a->pad[d];
    w.memory[k] = bs_calloc(&heap, (size_t)n, sizeof(int64_t));
    for (int64_t j = 0; j < n; j++)
      w.memory[k][j] = a->role == PO_INPUT    ? (j * 7919 + k * 13) % 1009 - 300
                       : a->role == PO_OUTPUT ? 5
                                              : 987654321 + j;
  }
  if (w.list.len)
    qsort(w.list.data, w.list.len, sizeof *w.list.data, by_time);
  for (uint32_t k = 0; k < w.list.len; k++)
    run_instance(&w, &w.list.data[k]);
  uint64_t hash = 1469598103934665603u;
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *a = &p->arrays.data[k];
    int64_t n = 1;
    for (uint32_t d = 0; d < a->rank; d++)
      n *= a->dim[d];
    for (int64_t j = 0; a->role == PO_OUTPUT && j < n; j++)
      hash = (hash ^ (uint64_t)w.memory[k][j]) * 1099511628211u;
    bs_free(&heap, w.memory[k]);
  }
  bs_vec_done(&heap, &w.list);
  return hash;
}

/* The script is accepted and outputs stay what they were. */
#define KEPT(text)                                                             \
  do {                                                                         \
    uint64_t before_ = run_program(hand);                                      \
    scheduled(text);                                                           \
    cr_assert_eq(run_program(hand), before_, "%s changes outputs", text);      \
  } while (0)
#define FORM(text, loops)                                                      \
  do {                                                                         \
    KEPT(text);                                                                \
    LOOPS(loops);                                                              \
  } while (0)

#endif
