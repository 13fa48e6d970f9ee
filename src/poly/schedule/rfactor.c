/* SPDX-License-Identifier: MIT */
/* rfactor.c - partial results of a reduction, which are then added up.
 *
 * rfactor at loop k of a reduction A[w] op= body: partial results R[k, w] are
 * computed first, in a nest of their own with k outside of what else is
 * reduced over; then the old nest only adds up A[w] op= R[k, w].  k may be any
 * loop, a part of one that was split too: partial results are told apart by
 * its value.  Within the outermost loop that holds nothing but what computes A
 * all of the reduction's instances are done in any order, which is all that is
 * used. */
#include "poly/loops/affine.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>
#include <isl/val.h>

typedef struct factoring {
  po_program *p;
  po_step_call *call;
  uint32_t update, array, loop;  /* the reduction; what; k */
  uint32_t way[PO_MAX_DEPTH], n; /* loops around the update */
  uint32_t top;                  /* depth of the outermost of our own */
  uint32_t at;                   /* depth of k */
  uint32_t spatial[PO_MAX_DEPTH], n_spatial; /* depths >= top */
  uint32_t rest[PO_MAX_DEPTH], n_rest;       /* reduced over, apart from k */
  int64_t axis, min, count;
  uint32_t partial; /* the array of partial results */
} factoring;

static bool
find_update(factoring *f) {
  po_program *p = f->p;
  uint32_t found = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    if (!po_nest_is_below(p, p->stmts.data[k].leaf, f->loop))
      continue;
    f->update = k;
    found++;
  }
  const char *name = po_node(p, f->loop)->name;
  if (found != 1)
    return po_refuse(p, f->call, "several",
                     "%u statements stand inside loop %s, not one", found,
                     name);
  const po_stmt *stmt = &p->stmts.data[f->update];
  f->array = stmt->array;
  if (stmt->kind != PO_UPDATE)
    return po_refuse(p, f->call, "no-reduction", "%s is not a reduction",
                     stmt->name);
  if (!po_reorder_class(p, stmt))
    return po_refuse(p, f->call, "no-reduction",
                     "the order of %s's updates may not be changed",
                     stmt->name);
  if (po_stmt_reads(stmt, f->array) || po_is_rigid(p, f->array))
    return po_refuse(p, f->call, "no-reduction",
                     "%s is used by a body or a call in between",
                     p->arrays.data[f->array].name);
  return true;
}

/* { S[i] -> the value of the loop of that depth } */
static isl_map *
value_of_loop(const factoring *f, uint32_t depth) {
  isl_map *way = po_prefix(&f->p->stmts.data[f->update], depth + 1);
  return isl_map_project_out(way, isl_dim_out, 0, depth);
}

/* Whether a loop's value is a function of the element and of k's value. */
static bool
is_spatial(const factoring *f, uint32_t depth, bool with_k) {
  const po_stmt *stmt = &f->p->stmts.data[f->update];
  isl_map *to = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(stmt->write));
  to = isl_map_intersect_domain(to, isl_set_copy(stmt->domain));
  to = isl_map_reset_tuple_id(to, isl_dim_out);
  to = isl_map_flat_range_product(to, po_prefix(stmt, f->top));
  if (with_k)
    to = isl_map_flat_range_product(to, value_of_loop(f, f->at));
  isl_map *of =
      isl_map_apply_range(isl_map_reverse(to), value_of_loop(f, depth));
  bool fixed = isl_map_is_single_valued(of) == isl_bool_true;
  isl_map_free(of);
  return fixed;
}

static bool
find_loops(factoring *f) {
  po_program *p = f->p;
  po_block all = {.n = 0};
  const po_stmt *stmt = &p->stmts.data[f->update];
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (p->stmts.data[k].array == f->array && all.n < 64)
      all.stmts[all.n++] = k;
  f->n = po_nest_loops(p, stmt->leaf, f->way);
  f->at = po_nest_depth(p, f->loop);
  f->top = f->at;
  while (f->top > 0 && po_foreign(p, &all, f->way[f->top - 1]) == PO_NO_NODE)
    f->top--;
  if (is_spatial(f, f->at, false))
    return po_refuse(p, f->call, "not-reduced",
                     "%s is not reduced over loop %s: its value follows from "
                     "the element",
                     p->arrays.data[f->array].name, po_node(p, f->loop)->name);
  for (uint32_t d = f->top; d < f->n; d++) {
    if (d == f->at)
      continue;
    if (is_spatial(f, d, true))
      f->spatial[f->n_spatial++] = d;
    else
      f->rest[f->n_rest++] = d;
  }
  return true;
}

/* A barrier belongs to all iterations that it stands in: it cannot go with the
 * partial results, nor stay with the sum. */
static bool
check_barriers(const factoring *f) {
  const po_program *p = f->p;
  assert(f->top <= f->at && f->at < f->n);
  for (uint32_t d = f->top; d < f->n; d++) {
    uint32_t loop = f->way[d];
    bool reduced = d == f->at;
    for (uint32_t k = 0; k < f->n_rest; k++)
      reduced |= f->rest[k] == d;
    for (uint32_t k = loop; reduced && k != PO_NO_NODE;
         k = po_nest_next(p, k, loop))
      if (po_node(p, k)->kind == PO_SYNC)
        return po_refuse(p, f->call, "inside-reduction",
                         "a barrier stands inside loop %s, which is reduced "
                         "over",
                         po_node(p, loop)->name);
  }
  return true;
}

static bool
is_outside(const factoring *f, const po_stmt *stmt) {
  const po_program *p = f->p;
  uint32_t shared =
      po_nest_common(p, stmt->leaf, p->stmts.data[f->update].leaf);
  uint32_t depth = po_nest_depth(p, shared) + (shared != 0);
  for (uint32_t d = 0; d < f->n_rest; d++)
    if (f->rest[d] < depth)
      return po_refuse(p, f->call, "inside-reduction",
                       "%s stands inside loop %s, which is reduced over",
                       stmt->name, po_node(p, f->way[f->rest[d]])->name);
  return f->at >= depth || po_refuse(p, f->call, "inside-reduction",
                                     "%s stands inside loop %s, too",
                                     stmt->name, po_node(p, f->loop)->name);
}

/* What else writes the array must not stand inside a loop reduced over, and
 * other updates must be of the same kind. */
static bool
check_others(const factoring *f) {
  const po_program *p = f->p;
  const po_stmt *mine = &p->stmts.data[f->update];
  uint32_t class = po_reorder_class(p, mine);
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *stmt = &p->stmts.data[k];
    if (k == f->update || stmt->array != f->array ||
        (f->top < f->n && !po_nest_is_below(p, stmt->leaf, f->way[f->top])))
      continue;
    if (!is_outside(f, stmt))
      return false;
    if (stmt->kind == PO_UPDATE && po_reorder_class(p, stmt) != class)
      return po_refuse(p, f->call, "no-reduction",
                       "%s updates %s in another way", stmt->name,
                       p->arrays.data[f->array].name);
  }
  return true;
}

/* ---- partial results ---- */

/* The value of the update's loops at these depths, in order:
 * { S[i] -> [...] }. */
static __isl_give isl_multi_aff *
values_at(const factoring *f, const uint32_t *depth, uint32_t n) {
  const po_stmt *stmt = &f->p->stmts.data[f->update];
  assert(n <= PO_MAX_DEPTH);
  isl_space *space = isl_space_from_domain(isl_set_get_space(stmt->domain));
  isl_multi_aff *out =
      isl_multi_aff_zero(isl_space_add_dims(space, isl_dim_out, n));
  for (uint32_t k = 0; k < n; k++)
    out = isl_multi_aff_set_aff(
        out, (int)k, isl_multi_aff_get_aff(stmt->time, (int)depth[k]));
  return out;
}

/* Among which dimensions that of the loop stands. */
static bool
choose_axis(factoring *f) {
  const po_array *old = &f->p->arrays.data[f->array];
  const po_arg *given = &f->call->args[1];
  int64_t axis = given->kind == PO_ARG_END ? 0 : given->number;
  if (axis < 0)
    axis += old->rank + 1;
  if (axis < 0 || axis > old->rank)
    return po_refuse(f->p, f->call, "axis",
                     "%lld is not a place among the %u %s of %s",
                     (long long)given->number,
                     BS_COUNTED(old->rank, "dimension"), old->name);
  f->axis = axis;
  return old->rank + 1 + f->top <= GS_MAX_RANK ||
         po_refuse(f->p, f->call, "too-deep", "%s has too many dimensions",
                   old->name);
}

/* A local has a dimension for each loop around it, folded to one place. */
static bool
size_outer(const factoring *f, po_array *a) {
  for (uint32_t d = 0; d < f->top; d++) {
    int64_t min;
    if (!po_value_range(f->p, f->way[d], &min, &a->dim[d]) || min < 0)
      return po_refuse(f->p, f->call, "extent",
                       "the values of loop %s have no constant bounds above 0",
                       po_node(f->p, f->way[d])->name);
    a->dim[d] += min;
    a->fold[d] = 1;
    a->pad[d] = 0;
  }
  return true;
}

/* Sizes the dimensions of the array behind those of the loops around, with one
 * for the loop that is factored out among them. */
static bool
size_inner(const factoring *f, po_array *a) {
  const po_array *old = &f->p->arrays.data[f->array];
  int64_t all = 1;
  for (uint32_t d = 0; d <= old->rank; d++) {
    uint32_t to = f->top + d;
    a->dim[to] = d < f->axis    ? old->dim[d]
                 : d == f->axis ? f->count
                                : old->dim[d - 1];
    a->fold[to] = a->pad[to] = 0;
  }
  for (uint32_t d = 0; d < a->rank; d++)
    if (__builtin_mul_overflow(all, a->dim[d], &all) || all > INT64_C(1) << 40)
      return po_refuse(f->p, f->call, "too-large", "%s would be too large",
                       a->name);
  return true;
}

/* The array of partial results: one for each value of the loop. */
static bool
add_partial(factoring *f) {
  po_program *p = f->p;
  po_array a = p->arrays.data[f->array];
  if (!po_value_range(p, f->loop, &f->min, &f->count))
    return po_refuse(p, f->call, "extent",
                     "the values of loop %s have no constant bounds",
                     po_node(p, f->loop)->name);
  if (!choose_axis(f))
    return false;
  a.name = po_fresh_array_name(p, bs_arena_printf(&p->arena, "rf_%s", a.name));
  a.role = f->top ? PO_LOCAL : PO_WORKSPACE;
  a.scope = PO_STACK;
  a.term = GS_NO_TERM;
  a.rank += f->top + 1;
  if (!size_outer(f, &a) || !size_inner(f, &a))
    return false;
  bs_push(p->ctx.heap, &p->arrays, a);
  f->partial = p->arrays.len - 1;
  return true;
}

/* { S -> R[outer, x with k] } from { S -> [outer] }, k and { S -> A[x] }. */
static isl_pw_multi_aff *
partial_at(const factoring *f, __isl_take isl_multi_aff *outer,
           __isl_take isl_aff *k, __isl_take isl_pw_multi_aff *x) {
  po_program *p = f->p;
  uint32_t rank = p->arrays.data[f->array].rank;
  assert(f->axis >= 0 && f->axis <= rank);
  k = isl_aff_add_constant_val(
      k, isl_val_neg(isl_val_int_from_si(p->isl, f->min)));
  x = isl_pw_multi_aff_reset_tuple_id(x, isl_dim_out);
  isl_pw_multi_aff *head = isl_pw_multi_aff_copy(x), *tail = x;
  head = isl_pw_multi_aff_drop_dims(head, isl_dim_out, (unsigned)f->axis,
                                    rank - (unsigned)f->axis);
  tail = isl_pw_multi_aff_drop_dims(tail, isl_dim_out, 0, (unsigned)f->axis);
  isl_pw_multi_aff *out = isl_pw_multi_aff_from_multi_aff(outer);
  out = isl_pw_multi_aff_flat_range_product(out, head);
  out = isl_pw_multi_aff_flat_range_product(
      out, isl_pw_multi_aff_from_multi_aff(isl_multi_aff_from_aff(k)));
  out = isl_pw_multi_aff_flat_range_product(out, tail);
  out = isl_pw_multi_aff_set_tuple_id(
      out, isl_dim_out,
      isl_id_alloc(p->isl, p->arrays.data[f->partial].name, NULL));
  return po_keep_pw_multi_aff(&p->pool, out);
}

/* ---- the new statements ---- */

/* Depths of the loops of a partial result: outer ones, spatial ones with k
 * among them at the axis. */
static uint32_t
partial_loops(const factoring *f, uint32_t *depth, uint32_t *k_at) {
  uint32_t n = 0, spatial = 0;
  int64_t axis = f->axis > f->n_spatial ? f->n_spatial : f->axis;
  assert(f->n_spatial + f->n_rest + 1 == f->n - f->top);
  for (uint32_t d = 0; d < f->top; d++)
    depth[n++] = d;
  for (; spatial < axis; spatial++)
    depth[n++] = f->spatial[spatial];
  *k_at = n;
  depth[n++] = f->at;
  for (; spatial < f->n_spatial; spatial++)
    depth[n++] = f->spatial[spatial];
  return n;
}

/* The identity of index dimensions at depths [0, n) of `from`. */
static __isl_give isl_multi_aff *
pick(isl_ctx *isl, const char *stmt, uint32_t n_in, const uint32_t *from,
     uint32_t n) {
  isl_multi_aff *map = isl_multi_aff_zero(po_map_space(isl, n_in, n));
  for (uint32_t k = 0; k < n; k++)
    map =
        isl_multi_aff_set_aff(map, (int)k, po_index(isl, n_in, from[k], 1, 0));
  return isl_multi_aff_set_tuple_id(map, isl_dim_in,
                                    isl_id_alloc(isl, stmt, NULL));
}

static const char *const *
loop_names(const factoring *f, const uint32_t *depth, uint32_t n) {
  po_program *p = f->p;
  const char **names = BS_NEWS(&p->arena, const char *, n + 1);
  for (uint32_t k = 0; k < n; k++)
    names[k] = bs_arena_strdup(&p->arena, po_node(p, f->way[depth[k]])->name);
  return names;
}

/* { N[values] -> A[x] }, N's instances being values of these loops. */
static bool
element_of(const factoring *f, const char *name, const uint32_t *depth,
           uint32_t n, isl_set **domain, isl_multi_aff **element) {
  const po_stmt *stmt = &f->p->stmts.data[f->update];
  isl_map *values = isl_map_from_multi_aff(values_at(f, depth, n));
  values = isl_map_intersect_domain(values, isl_set_copy(stmt->domain));
  values = isl_map_set_tuple_id(values, isl_dim_out,
                                isl_id_alloc(f->p->isl, name, NULL));
  *domain = isl_set_coalesce(isl_map_range(isl_map_copy(values)));
  isl_map *write =
      isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(stmt->write));
  isl_map *map = isl_map_apply_range(isl_map_reverse(values), write);
  *element = po_one_piece(map, *domain);
  *domain = po_keep_set(&f->p->pool, *domain);
  *element = *element ? po_keep_multi_aff(&f->p->pool, *element) : NULL;
  return *domain && *element;
}

/* The loops of a statement over the partial results, outermost first; those of
 * the sum have the loop of these results innermost. */
static uint32_t
loops_of(const factoring *f, bool init, uint32_t *depth, uint32_t *k_at) {
  uint32_t n = partial_loops(f, depth, k_at);
  if (init)
    return n;
  for (uint32_t d = *k_at; d + 1 < n; d++)
    depth[d] = depth[d + 1];
  depth[n - 1] = f->at;
  *k_at = n - 1;
  return n;
}

/* Its one expression: what a sum begins with, or a partial result. */
static po_expr *
value_of(const factoring *f, bool init, isl_pw_multi_aff *part) {
  po_program *p = f->p;
  po_expr *e = BS_NEW(&p->arena, po_expr);
  e->kind = init ? PO_LITERAL : PO_READ;
  e->dtype = p->arrays.data[f->array].dtype;
  e->literal = po_fold_start(p->stmts.data[f->update].op);
  e->array = f->partial;
  e->index = init ? NULL : part;
  return e;
}

/* Its time, and what it writes and reads: the element that the array has there,
 * and the partial result. */
static void
give_accesses(const factoring *f, bool init, po_stmt *s, uint32_t k_at,
              __isl_keep isl_multi_aff *element) {
  po_program *p = f->p;
  uint32_t all[PO_MAX_DEPTH], n = s->n_iters;
  for (uint32_t d = 0; d < n; d++)
    all[d] = d;
  s->time = po_keep_multi_aff(&p->pool, pick(p->isl, s->name, n, all, n));
  isl_multi_aff *k = pick(p->isl, s->name, n, &k_at, 1);
  isl_pw_multi_aff *whole = po_keep_pw_multi_aff(
      &p->pool, isl_pw_multi_aff_from_multi_aff(isl_multi_aff_copy(element)));
  isl_pw_multi_aff *part =
      partial_at(f, pick(p->isl, s->name, n, all, f->top),
                 isl_multi_aff_get_aff(k, 0), isl_pw_multi_aff_copy(whole));
  isl_multi_aff_free(k);
  s->exprs = value_of(f, init, part);
  s->n_exprs = 1;
  s->array = init ? f->partial : f->array;
  s->write = init ? part : whole;
}

/* init: R = identity; else A op= R.  Returns its number. */
static bool
add_stmt(factoring *f, bool init, uint32_t *out) {
  po_program *p = f->p;
  const po_stmt *like = &p->stmts.data[f->update];
  po_stmt s = {.kind = init ? PO_ASSIGN : PO_UPDATE,
               .op = like->op,
               .term = like->term,
               .span = like->span,
               .leaf = PO_NO_NODE};
  uint32_t depth[PO_MAX_DEPTH], k_at;
  isl_multi_aff *element;
  s.n_iters = loops_of(f, init, depth, &k_at);
  s.n_outer = init ? s.n_iters : s.n_iters - 1;
  s.name = po_fresh_stmt_name(
      p, bs_arena_printf(&p->arena, init ? "%s_init" : "%s_sum", like->name));
  s.iters = loop_names(f, depth, s.n_iters);
  po_pool_reserve(&p->pool, 12);
  if (!element_of(f, s.name, depth, s.n_iters, &s.domain, &element))
    return po_refuse(
        p, f->call, "no-inverse",
        "the element of %s is not a function of the loops that are "
        "not reduced over",
        p->arrays.data[f->array].name);
  give_accesses(f, init, &s, k_at, element);
  bs_push(p->ctx.heap, &p->stmts, s);
  *out = p->stmts.len - 1;
  return true;
}

/* ---- the tree ---- */

static const char *
rf_name(po_program *p, uint32_t loop) {
  return po_nest_fresh(
      p, bs_arena_printf(&p->arena, "rf_%s", po_node(p, loop)->name));
}

static void
like_loop(po_program *p, uint32_t made, uint32_t loop) {
  if (po_node(p, loop)->mark == PO_PARALLEL)
    po_node(p, made)->mark = PO_PARALLEL;
}

/* The nest of partial results, before what is at depth `top` now. */
static void
build_partial(factoring *f, uint32_t init) {
  po_program *p = f->p;
  assert(init < p->stmts.len);
  uint32_t top = f->way[f->top], parent = po_node(p, top)->parent;
  uint32_t depth[PO_MAX_DEPTH], all[PO_MAX_DEPTH], k_at, at = parent;
  uint32_t n = partial_loops(f, depth, &k_at), total = n;
  for (uint32_t d = f->top; d < n; d++) {
    uint32_t loop = f->way[depth[d]];
    const char *name =
        d == k_at ? rf_name(p, loop) : po_nest_fresh(p, po_node(p, loop)->name);
    at = po_nest_add_loop(p, at, d == f->top ? top : PO_NO_NODE, name);
    if (d == k_at)
      po_made(f->call, at);
    else
      like_loop(p, at, loop);
  }
  po_nest_add_leaf(p, at, PO_NO_NODE, init);
  for (uint32_t d = 0; d < n; d++)
    all[d] = depth[d];
  for (uint32_t d = 0; d < f->n_rest; d++) {
    uint32_t loop = f->way[f->rest[d]];
    at = po_nest_add_loop(p, at, PO_NO_NODE,
                          po_nest_fresh(p, po_node(p, loop)->name));
    all[total++] = f->rest[d];
  }
  isl_multi_aff *time = values_at(f, all, total);
  po_nest_remove(p, p->stmts.data[f->update].leaf);
  po_nest_add_leaf(p, at, PO_NO_NODE, f->update);
  po_set_time(p, f->update, time);
}

/* Where the update stood, loop k alone with the statement that sums up: below
 * the loops shared with other statements of the array. */
static void
build_sum(factoring *f, uint32_t sum, uint32_t slot, uint32_t below) {
  po_program *p = f->p;
  assert(sum < p->stmts.len);
  uint32_t at = below;
  uint32_t shared =
      po_nest_depth(p, below) + (po_node(p, below)->kind == PO_LOOP);
  bool first = true;
  for (uint32_t d = 0; d < f->n_spatial; d++) {
    if (f->spatial[d] < shared)
      continue;
    uint32_t loop = f->way[f->spatial[d]];
    const char *name = bs_arena_strdup(&p->arena, po_node(p, loop)->name);
    po_give_up_name(p, loop);
    at = po_nest_add_loop(p, at, first ? slot : PO_NO_NODE,
                          po_nest_fresh(p, name));
    like_loop(p, at, loop);
    first = false;
  }
  const char *name = bs_arena_strdup(&p->arena, po_node(p, f->loop)->name);
  po_give_up_name(p, f->loop);
  at = po_nest_add_loop(p, at, first ? slot : PO_NO_NODE,
                        po_nest_fresh(p, name));
  po_nest_add_leaf(p, at, PO_NO_NODE, sum);
  po_made(f->call, at);
}

/* The innermost loop around the update that other statements are under, too;
 * at most the one around our own. */
static uint32_t
shared_loop(const factoring *f) {
  const po_program *p = f->p;
  for (uint32_t d = f->n; d-- > f->top;)
    if (po_only_child(p, f->way[d]) == PO_NO_NODE)
      return d;
  return PO_NO_NODE;
}

/* { instance of the update -> partial result } */
static isl_pw_multi_aff *
write_of_partial(const factoring *f) {
  const po_stmt *stmt = &f->p->stmts.data[f->update];
  uint32_t outer[PO_MAX_DEPTH];
  for (uint32_t k = 0; k < f->top; k++)
    outer[k] = k;
  return partial_at(f, values_at(f, outer, f->top),
                    isl_multi_aff_get_aff(stmt->time, (int)f->at),
                    isl_pw_multi_aff_copy(stmt->write));
}

static bool
name_results(po_program *p, po_step_call *call) {
  for (uint32_t k = 0; k < call->n_made && k < call->n_results; k++) {
    po_give_up_name(p, call->made[k]);
    const char *name = po_result_name(p, call, k, "rf");
    if (!name)
      return false;
    po_name_loop(p, call->made[k], name);
  }
  return true;
}

/* The update, by now of partial results, and the sum of them below the loop
 * that both share. */
static void
factor(factoring *f, uint32_t init, uint32_t sum) {
  po_program *p = f->p;
  uint32_t d = shared_loop(f);
  uint32_t below =
      d == PO_NO_NODE ? po_node(p, f->way[f->top])->parent : f->way[d];
  uint32_t branch = d == PO_NO_NODE ? f->way[f->top]
                    : d + 1 < f->n  ? f->way[d + 1]
                                    : p->stmts.data[f->update].leaf;
  po_stmt *stmt = &p->stmts.data[f->update];
  po_pool_reserve(&p->pool, 8);
  isl_pw_multi_aff *write = write_of_partial(f);
  build_partial(f, init);
  stmt->write = write;
  stmt->array = f->partial;
  if (stmt->op == GS_C_SUB)
    stmt->op = GS_C_ADD;
  build_sum(f, sum, branch, below);
  if (po_node(p, branch)->kind == PO_LOOP)
    po_nest_remove(p, branch);
}

bool
po_apply_rfactor(po_program *p, po_step_call *call) {
  factoring f = {.p = p, .call = call, .loop = call->args[0].node};
  uint32_t init, sum;
  if (!po_needs_serial(p, call, f.loop) || !find_update(&f) ||
      !find_loops(&f) || !check_others(&f) || !check_barriers(&f) ||
      !add_partial(&f) || !add_stmt(&f, true, &init) ||
      !add_stmt(&f, false, &sum))
    return false;
  factor(&f, init, sum);
  po_forget_dependences(p);
  return name_results(p, call);
}
