/* SPDX-License-Identifier: MIT */
/* at.c - compute_at, roll and reverse_compute_at: statements moved below loops
 * of those that use, or made, their values.
 *
 * compute_at: { [o] -> P[j] }, the instances of the producers that one
 * iteration o of the loops down to the chosen one needs: reads of the consumers
 * below, through the inverse of the producers' writes.  It is exact, but for
 * reads that overlap in a shape of several pieces or are found by divisions,
 * which is filled up.  The
 * pairs (o, j) are the new instances.  The array becomes a local of the
 * footprint of one iteration, so that iterations do not depend on each other
 * through it, however much is computed again.
 *
 * roll: of these instances, each iteration computes those that no other
 * iteration of the chosen loop does (sliding_window.c says which one does). The
 * array is a local of the footprint of all iterations of that loop.
 *
 * The producers' own loops are kept below the new place as far as they have
 * more than one value there. */
#include "poly/loops/affine.h"
#include "poly/schedule/schedule_edit.h"
#include "poly/schedule/moving.h"
#include <assert.h>
#include <string.h>

/* ---- a block's own loops, built anew elsewhere ---- */

/* What stands around a block's statements, taken down before it is moved. */
typedef struct way {
  uint32_t stmt, n, loops[PO_MAX_DEPTH];
} way;

typedef struct ways {
  way list[64];
  uint32_t n, nodes; /* nodes: of the nest then */
  po_nest_node *was; /* loops as they were */
} ways;

/* In the order of the tree. */
static ways *
take_down(po_program *p, const po_block *b) {
  ways *w = BS_NEW(&p->arena, ways);
  w->nodes = p->nest.nodes.len;
  w->was =
      bs_arena_copy(&p->arena, p->nest.nodes.data, w->nodes * sizeof *w->was);
  for (uint32_t k = po_nest_next(p, 0, 0); k != PO_NO_NODE;
       k = po_nest_next(p, k, 0)) {
    if (po_node(p, k)->kind != PO_LEAF || !po_in_block(b, po_node(p, k)->stmt))
      continue;
    way *one = &w->list[w->n++];
    one->stmt = po_node(p, k)->stmt;
    one->n = po_nest_loops(p, k, one->loops);
  }
  for (uint32_t k = 0; k < b->n; k++)
    po_take_leaf(p, b->stmts[k]);
  return w;
}

static uint32_t
add_loop_like(po_program *p, uint32_t parent, uint32_t before,
              const po_nest_node *was) {
  uint32_t made =
      po_nest_add_loop(p, parent, before, po_nest_fresh(p, was->name));
  po_nest_node *now = po_node(p, made);
  now->mark = was->mark == PO_BIND ? PO_SERIAL : was->mark;
  now->lanes = was->lanes;
  now->tail = was->tail;
  now->separate = was->separate;
  return made;
}

/* Puts copies of the loops below `parent`, before a child of it; the first new
 * node. */
static uint32_t
put_up(po_program *p, const ways *w, uint32_t parent, uint32_t before) {
  uint32_t first = p->nest.nodes.len;
  uint32_t *made = bs_arena_calloc(&p->arena, w->nodes, sizeof *made);
  for (uint32_t k = 0; k < w->n; k++) {
    uint32_t at = parent;
    for (uint32_t d = 0; d < w->list[k].n; d++) {
      uint32_t loop = w->list[k].loops[d];
      if (!made[loop])
        made[loop] = add_loop_like(p, at, at == parent ? before : PO_NO_NODE,
                                   &w->was[loop]);
      at = made[loop];
    }
    po_nest_add_leaf(p, at, at == parent ? before : PO_NO_NODE,
                     w->list[k].stmt);
  }
  return first;
}

/* ---- compute_at ---- */

static bool
check_array(const po_program *p, const po_step_call *call, uint32_t array) {
  assert(array < p->arrays.len);
  const po_array *a = &p->arrays.data[array];
  if (a->role == PO_OUTPUT)
    return po_refuse(p, call, "output", "%s is an output", a->name);
  if (po_is_rigid(p, array))
    return po_refuse(p, call, "rigid",
                     "%s is used by a call or a look-up, which need it whole",
                     a->name);
  return true;
}

/* All who read the array but do not compute it stand below the loop. */
static bool
check_consumers(const po_program *p, const po_step_call *call,
                const po_block *b, uint32_t array, uint32_t loop) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *stmt = &p->stmts.data[k];
    if (po_in_block(b, k) || !po_stmt_reads(stmt, array))
      continue;
    if (!po_nest_is_below(p, stmt->leaf, loop))
      return po_refuse(p, call, "consumer-outside",
                       "%s reads %s outside loop %s", stmt->name,
                       p->arrays.data[array].name, po_node(p, loop)->name);
    n++;
  }
  if (n)
    return true;
  po_refuse(p, call, "no-consumer", "nothing inside loop %s reads %s",
            po_node(p, loop)->name, p->arrays.data[array].name);
  bs_hint(p->ctx.diags, "simple_compute_at moves statements that are "
                        "unrelated");
  return false;
}

/* { [o] -> A[x] }: what iterations of the first n loops read, by statements
 * that do not write it. */
static __isl_give isl_map *
needed(const po_program *p, const po_block *b, uint32_t array, uint32_t n) {
  isl_map *all = NULL;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    if (po_in_block(b, k) || !po_stmt_reads(&p->stmts.data[k], array))
      continue;
    isl_map *one = po_reads_in(p, k, array, n);
    all = all ? isl_map_union(all, one) : one;
  }
  return isl_map_coalesce(all);
}

/* { [o] -> P[j] }: the producers' instances that are needed. */
static __isl_give isl_map *
producing(const po_stmt *stmt, __isl_keep isl_map *elements) {
  isl_map *write =
      isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(stmt->write));
  write = isl_map_intersect_domain(write, isl_set_copy(stmt->domain));
  return isl_map_coalesce(
      isl_map_apply_range(isl_map_copy(elements), isl_map_reverse(write)));
}

static const char *const *
names_before(po_program *p, const po_stmt *stmt, const uint32_t *loops,
             uint32_t n) {
  const char **names = BS_NEWS(&p->arena, const char *, n + stmt->n_iters + 1);
  for (uint32_t k = 0; k < n; k++)
    names[k] = bs_arena_strdup(&p->arena, po_node(p, loops[k])->name);
  for (uint32_t k = 0; k < stmt->n_iters; k++)
    names[n + k] = stmt->iters[k];
  return names;
}

/* Puts o in front of a producer's instances; adds { new -> old } to origin. */
static bool
add_outer(po_program *p, uint32_t k, __isl_keep isl_map *elements, uint32_t n,
          const uint32_t *loops, isl_union_map **origin) {
  assert(k < p->stmts.len);
  po_stmt *stmt = &p->stmts.data[k];
  isl_ctx *isl = p->isl;
  isl_id *id = isl_set_get_tuple_id(stmt->domain);
  isl_set *old = isl_set_copy(stmt->domain);
  isl_set *domain = isl_set_flatten(isl_map_wrap(producing(stmt, elements)));
  domain = isl_set_set_tuple_id(domain, isl_id_copy(id));
  uint32_t all = n + stmt->n_iters;
  isl_multi_aff *back = po_part(isl, all, n, stmt->n_iters);
  isl_multi_aff *outer = po_part(isl, all, 0, n);
  back = isl_multi_aff_set_tuple_id(back, isl_dim_in, isl_id_copy(id));
  back = isl_multi_aff_set_tuple_id(back, isl_dim_out, isl_id_copy(id));
  outer = isl_multi_aff_set_tuple_id(outer, isl_dim_in, id);
  isl_multi_aff *inner = isl_multi_aff_pullback_multi_aff(
      isl_multi_aff_copy(stmt->time), isl_multi_aff_copy(back));
  outer = isl_multi_aff_flat_range_product(outer, inner);
  isl_map *from = isl_map_from_multi_aff(isl_multi_aff_copy(back));
  from = isl_map_intersect_domain(from, isl_set_copy(domain));
  from = isl_map_intersect_range(from, old);
  *origin = isl_union_map_union(*origin, isl_union_map_from_map(from));
  po_pool_reserve(&p->pool, stmt->n_exprs + 8);
  po_set_instances(p, k, domain, back);
  po_set_time(p, k, outer);
  stmt->iters = names_before(p, stmt, loops, n);
  stmt->n_iters = all;
  stmt->n_outer += n;
  return isl_set_is_empty(p->stmts.data[k].domain) == isl_bool_false;
}

/* Reads and writes of the array where it lies now. */
static void
lay_accesses(po_program *p, const po_block *b, uint32_t array, uint32_t loop,
             const po_footprint *f) {
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    po_stmt *stmt = &p->stmts.data[k];
    if (!po_in_block(b, k) && !po_nest_is_below(p, stmt->leaf, loop))
      continue;
    if (stmt->array == array)
      stmt->write = po_lay_in_footprint(p, k, stmt->write, array, f);
    if (!po_stmt_reads(stmt, array))
      continue;
    po_expr *exprs =
        bs_arena_copy(&p->arena, stmt->exprs, stmt->n_exprs * sizeof *exprs);
    for (uint32_t j = 0; j < stmt->n_exprs; j++)
      if (exprs[j].kind == PO_READ && exprs[j].array == array)
        exprs[j].index = po_lay_in_footprint(p, k, exprs[j].index, array, f);
    stmt->exprs = exprs;
  }
}

static void
make_local(po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  po_array *a = &p->arrays.data[array];
  if (a->role == PO_WORKSPACE) {
    a->role = PO_LOCAL;
    a->scope = PO_STACK;
  }
}

/* What iterations of the loops down to the chosen one compute of array k of
 * those that move.  n_kept: loops in whose iterations it is made anew. */
static isl_map *
find_elements(po_program *p, const po_step_call *call, const po_moving *m,
              uint32_t k, uint32_t n, const uint32_t *loops,
              po_window_fill fill, uint32_t *n_kept) {
  po_pool_reserve(&p->pool, 2);
  isl_map *all = needed(p, &m->writers[k], m->arrays[k], n);
  if (fill == PO_FILL_ALL)
    all = po_drop_divisions(po_fill_up(all));
  all = po_keep_map(&p->pool, all);
  *n_kept = n;
  if (fill == PO_FILL_ALL || k || !all)
    return all;
  *n_kept = n - 1;
  isl_map *once = po_each_once(all, n, fill);
  if (once || isl_ctx_last_error(p->isl) != isl_error_none)
    return po_keep_map(&p->pool, once);
  po_refuse(p, call, "no-order",
            "the elements of %s are not needed in an order in which iterations "
            "of loop %s, and some before them, could make them",
            p->arrays.data[m->arrays[k]].name, po_node(p, loops[n - 1])->name);
  bs_hint(p->ctx.diags, "fill=first makes them where they are needed first");
  return NULL;
}

/* { [o] -> A[x] } over the first n_kept of n loops. */
static isl_map *
over_loops(po_program *p, __isl_keep isl_map *elements, uint32_t n_kept,
           uint32_t n) {
  po_pool_reserve(&p->pool, 1);
  isl_map *all = isl_map_project_out(isl_map_copy(elements), isl_dim_in, n_kept,
                                     n - n_kept);
  return po_keep_map(&p->pool, isl_map_coalesce(all));
}

/* One array and its writers below the loops; they are out of the tree. */
static bool
move_array(po_program *p, const po_step_call *call, const po_moving *m,
           uint32_t k, uint32_t n, const uint32_t *loops, po_window_fill fill,
           isl_union_map **origin) {
  const po_block *writers = &m->writers[k];
  uint32_t array = m->arrays[k];
  int64_t fold[GS_MAX_RANK];
  uint32_t rank = p->arrays.data[array].rank;
  bool was_local = p->arrays.data[array].role == PO_LOCAL;
  uint32_t n_kept, errors = p->ctx.diags->errors;
  isl_map *elements = find_elements(p, call, m, k, n, loops, fill, &n_kept);
  if (!elements && p->ctx.diags->errors > errors)
    return false;
  po_footprint *f = BS_NEW(&p->arena, po_footprint);
  if (!elements ||
      !po_find_footprint(p, over_loops(p, elements, n_kept, n), n_kept, f))
    return po_refuse(p, call, "footprint",
                     "what an iteration of loop %s needs of %s has no bounds",
                     po_node(p, loops[n - 1])->name,
                     p->arrays.data[array].name);
  for (uint32_t d = 0; d < rank; d++)
    fold[d] = p->arrays.data[array].fold[d];
  po_pool_reserve(&p->pool, writers->n);
  for (uint32_t j = 0; j < writers->n; j++) {
    isl_union_map *more = isl_union_map_copy(*origin);
    add_outer(p, writers->stmts[j], elements, n, loops, &more);
    *origin = po_keep_union_map(&p->pool, more);
  }
  lay_accesses(p, &m->all, array, loops[n - 1], f);
  make_local(p, array);
  if (!po_shape_by_footprint(p, call, array, f))
    return false;
  /* What had one place an iteration of its own loops still has. */
  po_array *a = &p->arrays.data[array];
  for (uint32_t d = 0; was_local && d < rank; d++)
    a->fold[n_kept + d] = po_places_for(a, n_kept + d, fold[d]);
  return true;
}

/* On true *origin is the caller's. */
static bool
move_arrays(po_program *p, const po_step_call *call, const po_moving *m,
            uint32_t n, const uint32_t *loops, po_window_fill fill,
            isl_union_map **origin) {
  uint32_t loop = loops[n - 1];
  ways *w = take_down(p, &m->all);
  po_pool_reserve(&p->pool, 1);
  isl_union_map *all = po_keep_union_map(
      &p->pool, isl_union_map_empty(isl_space_params_alloc(p->isl, 0)));
  for (uint32_t k = 0; k < m->n; k++)
    if (!move_array(p, call, m, k, n, loops, fill, &all))
      return false;
  uint32_t first = put_up(p, w, loop, po_node(p, loop)->first);
  po_tidy_loops(p, loop, first);
  po_forget_dependences(p);
  *origin = isl_union_map_copy(all);
  return true;
}

static bool
compute_in(po_program *p, po_step_call *call, po_window_fill fill) {
  po_block block;
  po_arg what = call->args[0];
  uint32_t loop = call->args[1].node, loops[PO_MAX_DEPTH];
  what.array = p->stmts.data[what.stmt].array;
  uint32_t array = what.array;
  if (!check_array(p, call, array) || !po_block_of(p, call, &what, &block))
    return false;
  if (po_nest_is_below(p, po_block_node(p, &block), loop))
    return po_refuse(p, call, "inside", "%s is inside loop %s already",
                     p->arrays.data[array].name, po_node(p, loop)->name);
  if (!check_consumers(p, call, &block, array, loop))
    return false;
  po_moving *m = BS_NEW(&p->arena, po_moving);
  if (!po_find_moving(p, array, &block, m))
    return po_refuse(p, call, "too-large", "%s is made by too many statements",
                     p->arrays.data[array].name);
  uint32_t n = po_nest_loops(p, loop, loops) + 1;
  loops[n - 1] = loop;
  po_program *before = po_copy(p);
  po_change change = {.origin = NULL};
  bool ok = move_arrays(p, call, m, n, loops, fill, &change.origin);
  if (ok)
    ok = po_values_are_preserved(before, p, call, &change);
  else
    isl_union_map_free(change.origin);
  po_free(before);
  return ok;
}

bool
po_apply_compute_at(po_program *p, po_step_call *call) {
  return compute_in(p, call, PO_FILL_ALL);
}

bool
po_apply_roll(po_program *p, po_step_call *call) {
  assert(call->args[1].kind == PO_ARG_LOOP);
  const char *fill = call->options[0] ? call->options[0] : "before";
  bool first = !strcmp(fill, "first");
  if (!first && strcmp(fill, "before"))
    return po_refuse(p, call, "option", "fill must be before or first, not %s",
                     fill);
  return po_needs_serial(p, call, call->args[1].node) &&
         compute_in(p, call, first ? PO_FILL_FIRST : PO_FILL_BEFORE);
}

/* ---- reverse_compute_at ---- */

/* { element -> instance that writes it } */
static __isl_give isl_map *
makers_of(const po_stmt *from) {
  isl_map *write =
      isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(from->write));
  return isl_map_reverse(
      isl_map_intersect_domain(write, isl_set_copy(from->domain)));
}

/* { C[i] -> [o] }: the last iteration of the first n loops that makes
 * something for each instance. */
static __isl_give isl_map *
last_source(const po_program *p, uint32_t consumer, uint32_t loop, uint32_t n) {
  isl_map *all = NULL;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *from = &p->stmts.data[k];
    if (!po_nest_is_below(p, from->leaf, loop) ||
        !po_stmt_reads(&p->stmts.data[consumer], from->array) ||
        from->kind == PO_CALL)
      continue;
    isl_union_map *reads = po_reads_of(p, consumer, from->array);
    if (isl_union_map_is_empty(reads) != isl_bool_false) {
      isl_union_map_free(reads);
      continue;
    }
    isl_map *one =
        isl_map_apply_range(isl_map_from_union_map(reads), makers_of(from));
    one = isl_map_apply_range(one, po_prefix(from, n));
    all = all ? isl_map_union(all, one) : one;
  }
  return all ? isl_map_lexmax(isl_map_coalesce(all)) : NULL;
}

bool
po_apply_reverse_compute_at(po_program *p, po_step_call *call) {
  po_block block;
  uint32_t loop = call->args[1].node, loops[PO_MAX_DEPTH];
  if (!po_block_of(p, call, &call->args[0], &block))
    return false;
  uint32_t k = block.stmts[0];
  const po_stmt *stmt = &p->stmts.data[k];
  const char *name = stmt->name;
  if (block.n != 1)
    return po_refuse(p, call, "several",
                     "%s is computed by %u statements; name one",
                     p->arrays.data[stmt->array].name, block.n);
  if (po_nest_is_below(p, stmt->leaf, loop))
    return po_refuse(p, call, "inside", "%s is inside loop %s already", name,
                     po_node(p, loop)->name);
  uint32_t n = po_nest_loops(p, loop, loops) + 1;
  po_pool_reserve(&p->pool, 2);
  isl_map *when = last_source(p, k, loop, n);
  if (!when)
    return po_refuse(p, call, "no-producer",
                     "%s reads nothing that is made inside loop %s", name,
                     po_node(p, loop)->name);
  isl_multi_aff *outer = po_one_piece(when, stmt->domain);
  if (!outer) {
    po_refuse(p, call, "not-covered",
              "not every instance of %s has one iteration of loop %s that "
              "makes what it reads last",
              name, po_node(p, loop)->name);
    return false;
  }
  outer = po_keep_multi_aff(&p->pool, outer);
  ways *w = take_down(p, &block);
  isl_multi_aff *time = isl_multi_aff_flat_range_product(
      isl_multi_aff_copy(outer), isl_multi_aff_copy(stmt->time));
  po_set_time(p, k, time);
  uint32_t first = put_up(p, w, loop, PO_NO_NODE);
  po_tidy_loops(p, loop, first);
  return true;
}
