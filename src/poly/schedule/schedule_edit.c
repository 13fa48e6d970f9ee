/* SPDX-License-Identifier: MIT */
/* schedule_edit.c - changes of statements. */
#include "poly/loops/affine.h"
#include "poly/loops/loops_sizes.h"
#include "poly/schedule/schedule_edit.h"
#include <assert.h>
#include <string.h>
#include <isl/val.h>

/* ---- names ---- */

static bool
is_array_name(const po_program *p, const char *name) {
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (!strcmp(p->arrays.data[k].name, name))
      return true;
  return false;
}

const char *
po_fresh_array_name(po_program *p, const char *wish) {
  assert(wish && *wish);
  const char *name = bs_arena_strdup(&p->arena, wish);
  for (uint32_t k = 1; is_array_name(p, name); k++)
    name = bs_arena_printf(&p->arena, "%s_%u", wish, k);
  return name;
}

const char *
po_fresh_stmt_name(po_program *p, const char *wish) {
  assert(wish && *wish);
  const char *name = bs_arena_strdup(&p->arena, wish);
  for (uint32_t k = 1; po_stmt_named(p, name) < p->stmts.len; k++)
    name = bs_arena_printf(&p->arena, "%s_%u", wish, k);
  return name;
}

/* ---- the list of statements ---- */

void
po_take_leaf(po_program *p, uint32_t stmt) {
  assert(stmt < p->stmts.len);
  uint32_t leaf = p->stmts.data[stmt].leaf;
  uint32_t parent = po_node(p, leaf)->parent;
  po_nest_remove(p, leaf);
  if (parent != PO_NO_NODE)
    po_nest_prune(p, parent);
  p->stmts.data[stmt].leaf = PO_NO_NODE;
}

void
po_remove_stmt(po_program *p, uint32_t stmt) {
  assert(stmt < p->stmts.len);
  if (p->stmts.data[stmt].leaf != PO_NO_NODE)
    po_take_leaf(p, stmt);
  for (uint32_t k = stmt; k + 1 < p->stmts.len; k++) {
    p->stmts.data[k] = p->stmts.data[k + 1];
    if (p->stmts.data[k].leaf != PO_NO_NODE)
      po_node(p, p->stmts.data[k].leaf)->stmt = k;
  }
  p->stmts.len--;
}

/* ---- instances ---- */

static isl_pw_multi_aff *
pulled(po_program *p, isl_pw_multi_aff *index, __isl_keep isl_multi_aff *back) {
  if (!index)
    return NULL;
  return po_keep_pw_multi_aff(
      &p->pool, isl_pw_multi_aff_pullback_multi_aff(
                    isl_pw_multi_aff_copy(index), isl_multi_aff_copy(back)));
}

void
po_set_instances(po_program *p, uint32_t k, isl_set *domain,
                 isl_multi_aff *back) {
  assert(k < p->stmts.len && domain);
  po_stmt *stmt = &p->stmts.data[k];
  uint32_t n_operands = stmt->instr ? stmt->instr->n_operands + 1 : 0;
  po_pool_reserve(&p->pool, stmt->n_exprs + n_operands + 3);
  stmt->domain = po_keep_set(&p->pool, domain);
  back = po_keep_multi_aff(&p->pool, back);
  stmt->write = pulled(p, stmt->write, back);
  po_operand *operands =
      bs_arena_copy(&p->arena, stmt->operands, n_operands * sizeof *operands);
  for (uint32_t j = 0; j < n_operands; j++)
    operands[j].base = pulled(p, operands[j].base, back);
  stmt->operands = operands;
  po_expr *exprs =
      bs_arena_copy(&p->arena, stmt->exprs, stmt->n_exprs * sizeof *exprs);
  for (uint32_t j = 0; j < stmt->n_exprs; j++)
    if (exprs[j].index)
      exprs[j].index = pulled(p, exprs[j].index, back);
  stmt->exprs = exprs;
}

void
po_set_time(po_program *p, uint32_t stmt, isl_multi_aff *time) {
  assert(stmt < p->stmts.len);
  p->stmts.data[stmt].time = po_keep_multi_aff(
      &p->pool, isl_multi_aff_reset_tuple_id(time, isl_dim_out));
}

typedef struct only_piece {
  isl_aff *aff;
  uint32_t n;
} only_piece;

static isl_stat
take_piece(__isl_take isl_set *set, __isl_take isl_aff *aff, void *user) {
  only_piece *o = user;
  isl_set_free(set);
  o->n++;
  isl_aff_free(o->aff);
  o->aff = aff;
  return isl_stat_ok;
}

isl_aff *
po_single(isl_pw_aff *f) {
  only_piece o = {NULL, 0};
  f = isl_pw_aff_coalesce(f);
  if (f)
    isl_pw_aff_foreach_piece(f, take_piece, &o);
  isl_pw_aff_free(f);
  if (o.n != 1)
    o.aff = isl_aff_free(o.aff);
  return o.aff;
}

static bool
is_whole(__isl_keep isl_aff *aff) {
  isl_val *below = isl_aff_get_denominator_val(aff);
  bool one = isl_val_is_one(below) == isl_bool_true;
  isl_val_free(below);
  return one;
}

/* isl divides by what equalities of the domain divide evenly; such functions
 * have no floors, but factors that are no integers. */
isl_multi_aff *
po_simplify_on(isl_multi_aff *f, isl_set *domain) {
  isl_size n = isl_multi_aff_dim(f, isl_dim_out);
  for (isl_size d = 0; d < n; d++) {
    isl_aff *aff = isl_multi_aff_get_aff(f, d);
    aff = isl_aff_gist(aff, isl_set_copy(domain));
    if (is_whole(aff))
      f = isl_multi_aff_set_aff(f, d, aff);
    else
      isl_aff_free(aff);
  }
  return f;
}

/* The one piece of a function, where its coefficients are integers; takes it.
 */
static isl_multi_aff *
whole_piece(__isl_take isl_pw_multi_aff *f) {
  isl_size n = isl_pw_multi_aff_dim(f, isl_dim_out);
  isl_multi_aff *out = isl_multi_aff_zero(isl_pw_multi_aff_get_space(f));
  bool whole = true;
  for (isl_size d = 0; d < n; d++) {
    isl_aff *aff = po_single(isl_pw_multi_aff_get_pw_aff(f, d));
    whole = whole && aff && is_whole(aff);
    out = isl_multi_aff_set_aff(out, d, aff);
  }
  isl_pw_multi_aff_free(f);
  return whole ? out : isl_multi_aff_free(out);
}

isl_multi_aff *
po_one_piece(isl_map *map, isl_set *domain) {
  if (isl_map_is_single_valued(map) != isl_bool_true) {
    isl_map_free(map);
    return NULL;
  }
  isl_set *covered = isl_map_domain(isl_map_copy(map));
  bool total = isl_set_is_subset(domain, covered) == isl_bool_true;
  isl_set_free(covered);
  isl_pw_multi_aff *f = isl_pw_multi_aff_from_map(isl_map_coalesce(map));
  f = isl_pw_multi_aff_coalesce(f);
  if (!total || isl_pw_multi_aff_n_piece(f) != 1) {
    isl_pw_multi_aff_free(f);
    return NULL;
  }
  isl_multi_aff *out = whole_piece(f);
  return out ? po_simplify_on(out, domain) : NULL;
}

isl_map *
po_prefix(const po_stmt *stmt, uint32_t n) {
  isl_multi_aff *time = isl_multi_aff_copy(stmt->time);
  isl_size all = isl_multi_aff_dim(time, isl_dim_out);
  if (all < (isl_size)n) {
    isl_multi_aff_free(time);
    return NULL;
  }
  time = isl_multi_aff_drop_dims(time, isl_dim_out, n, (unsigned)all - n);
  isl_map *map = isl_map_from_multi_aff(time);
  return isl_map_intersect_domain(map, isl_set_copy(stmt->domain));
}

isl_union_map *
po_reads_of(const po_program *p, uint32_t k, uint32_t array) {
  assert(k < p->stmts.len && array < p->arrays.len);
  const po_stmt *stmt = &p->stmts.data[k];
  isl_union_map *all = isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t j = 0; j < stmt->n_exprs; j++) {
    const po_expr *e = &stmt->exprs[j];
    if (e->kind != PO_READ || e->array != array)
      continue;
    isl_map *map = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(e->index));
    map = isl_map_intersect_domain(map, isl_set_copy(stmt->domain));
    all = isl_union_map_union(all, isl_union_map_from_map(map));
  }
  return all;
}

isl_map *
po_accessed_in(const po_stmt *stmt, uint32_t n, isl_map *map) {
  return isl_map_apply_range(isl_map_reverse(po_prefix(stmt, n)), map);
}

isl_map *
po_reads_in(const po_program *p, uint32_t k, uint32_t array, uint32_t n) {
  assert(k < p->stmts.len);
  return po_accessed_in(&p->stmts.data[k], n,
                        isl_map_from_union_map(po_reads_of(p, k, array)));
}

bool
po_is_rigid(const po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *stmt = &p->stmts.data[k];
    if (stmt->kind == PO_CALL) {
      for (uint32_t j = 0; j <= stmt->instr->n_operands; j++)
        if (stmt->operands[j].array == array)
          return true;
    }
    for (uint32_t j = 0; j < stmt->n_exprs; j++)
      if (stmt->exprs[j].kind == PO_GATHER && stmt->exprs[j].array == array)
        return true;
  }
  return false;
}

/* ---- loops of new statements ---- */

/* { [t0..td] -> [t0.., td - first(t0..)] } */
static __isl_give isl_multi_aff *
started_at(const po_program *p, uint32_t depth, __isl_take isl_aff *first) {
  isl_multi_aff *map = po_identity(p->isl, depth + 1);
  isl_aff *value = po_index(p->isl, depth + 1, depth, 1, 0);
  first = po_aff_with_sizes(p, isl_aff_add_dims(first, isl_dim_in, 1));
  return isl_multi_aff_set_aff(map, (int)depth,
                               isl_aff_sub(po_aff_with_sizes(p, value), first));
}

/* Puts the children of a loop in its place; its function goes. */
static void
dissolve(po_program *p, uint32_t loop) {
  uint32_t depth = po_nest_depth(p, loop), kid;
  isl_multi_aff *nothing = isl_multi_aff_zero(po_map_space(p->isl, 1, 0));
  po_nest_retime(p, loop, depth, 1, nothing);
  while ((kid = po_node(p, loop)->first) != PO_NO_NODE) {
    po_nest_detach(p, kid);
    po_nest_attach(p, kid, po_node(p, loop)->parent, loop);
  }
  po_nest_remove(p, loop);
}

static void
tidy(po_program *p, uint32_t loop) {
  uint32_t depth = po_nest_depth(p, loop);
  isl_map *in = po_nest_range_in(p, loop);
  bool fixed = isl_map_is_single_valued(in) == isl_bool_true;
  isl_aff *first =
      fixed ? NULL : po_single(isl_map_dim_min(isl_map_copy(in), 0));
  isl_map_free(in);
  if (fixed) {
    dissolve(p, loop);
    return;
  }
  if (!first)
    return;
  po_nest_retime(p, loop, 0, depth + 1, started_at(p, depth, first));
}

void
po_nest_alone(po_program *p, uint32_t stmt, uint32_t parent, uint32_t before,
              uint32_t n_outer) {
  assert(stmt < p->stmts.len && n_outer <= p->stmts.data[stmt].n_iters);
  uint32_t at = parent, first = p->nest.nodes.len;
  for (uint32_t d = n_outer; d < p->stmts.data[stmt].n_iters; d++)
    at = po_nest_add_loop(p, at, d > n_outer ? PO_NO_NODE : before,
                          po_nest_fresh(p, p->stmts.data[stmt].iters[d]));
  po_nest_add_leaf(p, at, at == parent ? before : PO_NO_NODE, stmt);
  po_tidy_loops(p, parent, first);
}

void
po_tidy_loops(po_program *p, uint32_t top, uint32_t from_node) {
  assert(top < p->nest.nodes.len);
  for (uint32_t k = from_node; k < p->nest.nodes.len; k++)
    if (po_node(p, k)->kind == PO_LOOP && po_nest_is_below(p, k, top))
      tidy(p, k);
}
