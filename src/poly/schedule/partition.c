/* SPDX-License-Identifier: MIT */
/* partition.c - partition and peel: a loop cut into ones that run over parts
 * of its values.
 *
 * What is below is copied; each copy's statements have those instances for
 * which the loop's value is in its part.  Instances and their order stay the
 * same, so that there is nothing to check. */
#include "poly/loops/affine.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>
#include <string.h>
#include <isl/val.h>

/* Instances for which the outermost n loops have these values. */
static __isl_give isl_set *
part_of(const po_stmt *stmt, uint32_t n, __isl_keep isl_set *values) {
  isl_map *time = po_prefix(stmt, n);
  time = isl_map_intersect_range(time, isl_set_copy(values));
  return isl_set_coalesce(isl_map_domain(time));
}

static isl_pw_multi_aff *
renamed(po_program *p, isl_pw_multi_aff *index, const char *name) {
  if (!index)
    return NULL;
  return po_keep_pw_multi_aff(
      &p->pool,
      isl_pw_multi_aff_set_tuple_id(isl_pw_multi_aff_copy(index), isl_dim_in,
                                    isl_id_alloc(p->isl, name, NULL)));
}

uint32_t
po_copy_stmt(po_program *p, uint32_t from, __isl_take isl_set *domain) {
  assert(from < p->stmts.len && domain);
  po_stmt s = p->stmts.data[from];
  po_pool_reserve(&p->pool, s.n_exprs + 4);
  domain = po_keep_set(&p->pool, domain);
  s.name = po_fresh_stmt_name(p, s.name);
  isl_id *id = isl_id_alloc(p->isl, s.name, NULL);
  s.domain =
      po_keep_set(&p->pool, isl_set_set_tuple_id(isl_set_copy(domain), id));
  s.time = po_keep_multi_aff(
      &p->pool,
      isl_multi_aff_set_tuple_id(isl_multi_aff_copy(s.time), isl_dim_in,
                                 isl_id_alloc(p->isl, s.name, NULL)));
  s.write = renamed(p, s.write, s.name);
  po_expr *exprs = bs_arena_copy(&p->arena, s.exprs, s.n_exprs * sizeof *exprs);
  for (uint32_t k = 0; k < s.n_exprs; k++)
    exprs[k].index = renamed(p, exprs[k].index, s.name);
  s.exprs = exprs;
  bs_push(p->ctx.heap, &p->stmts, s);
  return p->stmts.len - 1;
}

static void
copy_leaf(po_program *p, uint32_t stmt, uint32_t parent, uint32_t before,
          uint32_t n, __isl_keep isl_set *values) {
  assert(stmt < p->stmts.len);
  isl_set *part = part_of(&p->stmts.data[stmt], n, values);
  if (isl_set_is_empty(part) == isl_bool_true)
    isl_set_free(part);
  else
    po_nest_add_leaf(p, parent, before, po_copy_stmt(p, stmt, part));
}

static uint32_t
copy_loop(po_program *p, const po_nest_node *was, uint32_t parent,
          uint32_t before, const char *name) {
  uint32_t made = po_nest_add_loop(p, parent, before, name);
  po_nest_node *now = po_node(p, made);
  now->mark = was->mark;
  now->lanes = was->lanes;
  now->tail = was->tail;
  now->bind = was->bind;
  now->separate = was->separate;
  return made;
}

bool
po_may_copy(const po_program *p, const po_step_call *call, uint32_t node) {
  assert(node < p->nest.nodes.len);
  for (uint32_t k = node; k != PO_NO_NODE; k = po_nest_next(p, k, node))
    if (po_node(p, k)->kind == PO_LEAF &&
        p->stmts.data[po_node(p, k)->stmt].kind == PO_CALL)
      return po_node(p, node)->kind == PO_LOOP
                 ? po_refuse(p, call, "rigid", "there is a call inside loop %s",
                             po_node(p, node)->name)
                 : po_refuse(p, call, "rigid", "it is a call");
  return true;
}

uint32_t
po_copy_part(po_program *p, uint32_t node, uint32_t next, const char *name,
             uint32_t n, __isl_keep isl_set *values) {
  assert(node < p->nest.nodes.len && node != 0 && values);
  uint32_t old = p->nest.nodes.len;
  uint32_t *made = bs_arena_calloc(&p->arena, old, sizeof *made);
  for (uint32_t k = node; k != PO_NO_NODE; k = po_nest_next(p, k, node)) {
    po_nest_node was = *po_node(p, k);
    uint32_t at = k == node ? was.parent : made[was.parent];
    uint32_t before = k == node ? next : PO_NO_NODE;
    if (was.kind == PO_SYNC)
      po_nest_add_sync(p, at, before);
    else if (was.kind == PO_LEAF)
      copy_leaf(p, was.stmt, at, before, n, values);
    else
      made[k] = copy_loop(p, &was, at, before,
                          k == node ? name : po_nest_fresh(p, was.name));
  }
  for (uint32_t k = old; k < p->nest.nodes.len; k++)
    if (po_node(p, k)->kind == PO_LOOP)
      po_nest_prune(p, k);
  return made[node];
}

void
po_keep_part(po_program *p, uint32_t node, uint32_t n,
             __isl_keep isl_set *values) {
  assert(node < p->nest.nodes.len && values);
  for (uint32_t k = 0; k < p->stmts.len;) {
    po_stmt *stmt = &p->stmts.data[k];
    if (!po_nest_is_below(p, stmt->leaf, node)) {
      k++;
      continue;
    }
    po_pool_reserve(&p->pool, 1);
    stmt->domain = po_keep_set(&p->pool, part_of(stmt, n, values));
    if (isl_set_is_empty(stmt->domain) == isl_bool_true)
      po_remove_stmt(p, k);
    else
      k++;
  }
}

/* The loop keeps what is before the first cut; parts from each cut on follow
 * it. */
static void
part_at(po_program *p, po_step_call *call, uint32_t loop, const int64_t *at,
        uint32_t n, const char *const *names) {
  uint32_t depth = po_nest_depth(p, loop), before = po_node(p, loop)->next;
  for (uint32_t k = 1; k + 1 < n; k++) {
    isl_set *values = po_slab(p->isl, depth + 1, depth, at[k], at[k + 1] - 1);
    po_made(call, po_copy_part(p, loop, before, names[k], depth + 1, values));
    isl_set_free(values);
  }
  isl_set *first = po_slab(p->isl, depth + 1, depth, at[0], at[1] - 1);
  po_keep_part(p, loop, depth + 1, first);
  isl_set_free(first);
}

/* Cuts before each of these values; of some iterations of the loops around, all
 * values may be on one side. */
static bool
cut(po_program *p, po_step_call *call, uint32_t loop, const int64_t *at,
    uint32_t n) {
  int64_t min, count;
  const char *name = po_node(p, loop)->name;
  if (!po_value_range(p, loop, &min, &count))
    return po_refuse(p, call, "extent", "loop %s has no bounds", name);
  if (n == 0 || n >= PO_MAX_RESULTS)
    return po_refuse(p, call, "cuts", "1 to %d cuts can be made",
                     PO_MAX_RESULTS - 1);
  for (uint32_t k = 0; k < n; k++)
    if (at[k] <= (k ? at[k - 1] : min) || at[k] >= min + count)
      return po_refuse(p, call, "cuts",
                       "a cut before %lld leaves nothing on a side: loop %s "
                       "runs over %lld..%lld",
                       (long long)at[k], name, (long long)min,
                       (long long)(min + count - 1));
  if (!po_may_copy(p, call, loop))
    return false;
  po_give_up_name(p, loop);
  const char *names[PO_MAX_RESULTS];
  for (uint32_t k = 0; k <= n; k++) {
    const char *wish = k ? bs_arena_printf(&p->arena, "%s_%u", name, k) : name;
    names[k] = po_result_name(p, call, k, wish);
    for (uint32_t j = 0; names[k] && j < k; j++)
      if (!strcmp(names[j], names[k]))
        return po_refuse(p, call, "name-taken", "%s is named twice", names[k]);
    if (!names[k])
      return false;
  }
  po_made(call, loop);
  po_name_loop(p, loop, names[0]);
  int64_t ends[PO_MAX_RESULTS + 1] = {min};
  memcpy(ends + 1, at, n * sizeof *at);
  ends[n + 1] = min + count;
  part_at(p, call, loop, ends, n + 2, names);
  po_forget_dependences(p);
  return true;
}

bool
po_apply_partition(po_program *p, po_step_call *call) {
  return cut(p, call, call->args[0].node, call->args[1].numbers,
             call->args[1].n);
}

/* Whatever the loops around do, the loop has this value. */
static bool
always_has(const po_program *p, uint32_t loop, int64_t value) {
  isl_map *in = po_nest_range_in(p, loop);
  isl_set *outer = isl_map_domain(isl_map_copy(in));
  isl_set *where = isl_map_domain(
      isl_map_fix_val(in, isl_dim_out, 0, isl_val_int_from_si(p->isl, value)));
  bool always = isl_set_is_subset(outer, where) == isl_bool_true;
  isl_set_free(outer);
  isl_set_free(where);
  return always;
}

bool
po_apply_peel(po_program *p, po_step_call *call) {
  assert(call->args[0].kind == PO_ARG_LOOP);
  uint32_t loop = call->args[0].node;
  int64_t n = call->args[1].number, min, count;
  if (!po_value_range(p, loop, &min, &count) ||
      !always_has(p, loop, n >= 0 ? min : min + count - 1))
    return po_refuse(p, call, "extent",
                     "where loop %s %s depends on other loops",
                     po_node(p, loop)->name, n >= 0 ? "starts" : "ends");
  int64_t at = n >= 0 ? min + (n < count ? n : count)
                      : min + count + (n > -count ? n : -count);
  return cut(p, call, loop, &at, 1);
}
