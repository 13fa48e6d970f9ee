/* SPDX-License-Identifier: MIT */
/* access.c - accesses of one array, and the flow of values through it.
 *
 * Flow is asked of isl with the nest's times as the order.  An update whose
 * place among its like is free does not hide what was written before it: it
 * is a source that may be overwritten, and every one since the last write of
 * fixed order is a source of what is read then. */
#include "poly/loops/access.h"
#include "poly/loops/affine.h"
#include "poly/loops/memo.h"
#include "poly/loops/operand.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>
#include <isl/flow.h>
#include <isl/options.h>
#include <string.h>
#include <isl/val.h>

static __isl_give isl_union_map *
none(const po_program *p) {
  return isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
}

static __isl_give isl_union_map *
add(__isl_take isl_union_map *all, __isl_take isl_map *one) {
  return isl_union_map_union(all, isl_union_map_from_map(one));
}

/* ---- accesses ---- */

uint32_t
po_reorder_class(const po_program *p, const po_stmt *stmt) {
  if (stmt->kind != PO_UPDATE)
    return 0;
  assert(stmt->array < p->arrays.len && stmt->op < GS_COMPUTE_COUNT);
  gs_dtype dtype = p->arrays.data[stmt->array].dtype;
  if (p->strict_fp && !gs_dtype_table[dtype].integer)
    return 0;
  switch (gs_compute_table[stmt->op].fold) {
  case GS_FOLD_ADD:
  case GS_FOLD_SUB: /* minus each body: the order is as free as that of sums */
    return PO_ORDER_SUM;
  case GS_FOLD_MUL:
    return PO_ORDER_PRODUCT;
  case GS_FOLD_MAX:
    return PO_ORDER_MAX;
  case GS_FOLD_MIN:
    return PO_ORDER_MIN;
  case GS_FOLD_DIV:
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  return 0;
}

bool
po_stmt_reads(const po_stmt *stmt, uint32_t array) {
  assert(array != PO_NO_NODE);
  assert(!stmt->instr || stmt->operands);
  for (uint32_t k = 0; k < stmt->n_exprs; k++) {
    const po_expr *e = &stmt->exprs[k];
    if ((e->kind == PO_READ || e->kind == PO_GATHER) && e->array == array)
      return true;
  }
  for (uint32_t k = 0; stmt->instr && k < stmt->instr->n_operands; k++)
    if (stmt->operands[k].array == array)
      return true;
  return false;
}

bool
po_stmt_accesses(const po_stmt *stmt, uint32_t array) {
  return stmt->array == array || po_stmt_reads(stmt, array);
}

uint32_t
po_stmt_named(const po_program *p, const char *name) {
  uint32_t k = 0;
  while (k < p->stmts.len && strcmp(p->stmts.data[k].name, name) != 0)
    k++;
  return k;
}

static __isl_give isl_set *
all_elements(const po_program *p, const po_array *array) {
  isl_set *box = po_elements_of(p, array);
  return isl_set_set_tuple_id(box, isl_id_alloc(p->isl, array->name, NULL));
}

static __isl_give isl_map *
access_map(const po_stmt *stmt, __isl_keep isl_pw_multi_aff *index) {
  isl_map *map = isl_map_from_pw_multi_aff(isl_pw_multi_aff_copy(index));
  return isl_map_intersect_domain(map, isl_set_copy(stmt->domain));
}

/* A look-up reads any element of its table. */
static __isl_give isl_map *
read_map(const po_program *p, const po_stmt *stmt, const po_expr *e) {
  if (e->kind == PO_READ)
    return access_map(stmt, e->index);
  return isl_map_from_domain_and_range(
      isl_set_copy(stmt->domain), all_elements(p, &p->arrays.data[e->array]));
}

static __isl_give isl_union_map *
add_reads(const po_program *p, const po_stmt *stmt, uint32_t array,
          __isl_take isl_union_map *all) {
  for (uint32_t k = 0; k < stmt->n_exprs; k++) {
    const po_expr *e = &stmt->exprs[k];
    if ((e->kind == PO_READ || e->kind == PO_GATHER) && e->array == array)
      all = add(all, read_map(p, stmt, e));
  }
  for (uint32_t k = 0; stmt->instr && k < stmt->instr->n_operands; k++)
    if (stmt->operands[k].array == array)
      all = add(all, po_operand_map(p, stmt, &stmt->operands[k]));
  return all;
}

po_accesses
po_accesses_of(const po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  po_accesses a = {none(p), none(p), none(p)};
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *stmt = &p->stmts.data[k];
    a.reads = add_reads(p, stmt, array, a.reads);
    if (stmt->array != array)
      continue;
    if (stmt->kind == PO_CALL) {
      a.writes = add(
          a.writes,
          po_operand_map(p, stmt, &stmt->operands[stmt->instr->n_operands]));
    } else if (po_reorder_class(p, stmt)) {
      a.updates = add(a.updates, access_map(stmt, stmt->write));
    } else {
      a.writes = add(a.writes, access_map(stmt, stmt->write));
      if (stmt->kind == PO_UPDATE)
        a.reads = add(a.reads, access_map(stmt, stmt->write));
    }
  }
  return a;
}

void
po_accesses_free(po_accesses *a) {
  isl_union_map_free(a->reads);
  isl_union_map_free(a->updates);
  isl_union_map_free(a->writes);
}

/* ---- flow ---- */

/* { A[x] -> A[x modulo the folds] } */
static __isl_give isl_union_map *
folding(const po_program *p, const po_array *array) {
  isl_multi_aff *map = po_identity(p->isl, array->rank);
  for (uint32_t d = 0; d < array->rank; d++) {
    if (!array->fold[d])
      continue;
    isl_aff *aff = isl_multi_aff_get_aff(map, (int)d);
    aff = isl_aff_mod_val(aff, isl_val_int_from_si(p->isl, array->fold[d]));
    map = isl_multi_aff_set_aff(map, (int)d, aff);
  }
  for (int side = 0; side < 2; side++)
    map = isl_multi_aff_set_tuple_id(map, side ? isl_dim_out : isl_dim_in,
                                     isl_id_alloc(p->isl, array->name, NULL));
  return isl_union_map_from_map(isl_map_from_multi_aff(map));
}

isl_union_map *
po_to_places(const po_program *p, uint32_t array, isl_union_map *map) {
  assert(array < p->arrays.len);
  return isl_union_map_apply_range(map, folding(p, &p->arrays.data[array]));
}

/* { OUT_A[x] -> A[x] } */
static __isl_give isl_map *
read_after_all(const po_program *p, const po_array *array) {
  isl_map *map = isl_set_identity(all_elements(p, array));
  char name[300];
  snprintf(name, sizeof name, "OUT_%.256s", array->name);
  return isl_map_set_tuple_id(map, isl_dim_in,
                              isl_id_alloc(p->isl, name, NULL));
}

/* The times of what uses the array, and those of the caller's reads. */
static __isl_give isl_union_map *
times(const po_program *p, uint32_t array, __isl_keep isl_map *after) {
  isl_union_map *time = po_time_around(p, array);
  if (!after)
    return time;
  isl_union_set *some = isl_union_map_range(isl_union_map_copy(time));
  isl_set_list *list = isl_union_set_get_set_list(some);
  isl_size n = isl_set_list_n_set(list), dim = 1;
  if (n > 0) {
    isl_set *set = isl_set_list_get_set(list, 0);
    dim = isl_set_dim(set, isl_dim_set);
    isl_set_free(set);
  }
  isl_set_list_free(list);
  isl_union_set_free(some);
  isl_set *late = isl_set_universe(
      isl_space_set_alloc(p->isl, 0, (unsigned)(dim < 1 ? 1 : dim)));
  for (isl_size d = 0; d < dim; d++)
    late = isl_set_fix_si(late, isl_dim_set, (unsigned)d,
                          d ? 0 : (int)p->nest.nodes.len);
  isl_set *who = isl_map_domain(isl_map_copy(after));
  return add(time, isl_map_from_domain_and_range(who, late));
}

po_flow
po_flow_through(const po_program *p, uint32_t array, bool folded) {
  assert(array < p->arrays.len);
  const po_array *a = &p->arrays.data[array];
  po_accesses x = po_accesses_of(p, array);
  isl_map *after = a->role == PO_OUTPUT ? read_after_all(p, a) : NULL;
  isl_union_map *time = times(p, array, after);
  isl_union_map *sinks =
      isl_union_map_union(x.reads, isl_union_map_copy(x.updates));
  if (after)
    sinks = add(sinks, after);
  if (folded) {
    sinks = po_to_places(p, array, sinks);
    x.updates = po_to_places(p, array, x.updates);
    x.writes = po_to_places(p, array, x.writes);
  }
  isl_union_access_info *info = isl_union_access_info_from_sink(sinks);
  info = isl_union_access_info_set_must_source(info, x.writes);
  info = isl_union_access_info_set_may_source(info, x.updates);
  info = isl_union_access_info_set_schedule_map(info, time);
  isl_union_flow *flow = isl_union_access_info_compute_flow(info);
  po_flow out = {isl_union_flow_get_may_dependence(flow),
                 isl_union_flow_get_may_no_source(flow)};
  isl_union_flow_free(flow);
  return out;
}

/* ---- flow without what is hidden ---- */

typedef struct filter {
  const po_program *p;
  isl_union_map *kept;
} filter;

static uint32_t
class_of(const po_program *p, const char *name, uint32_t *array) {
  uint32_t k = name ? po_stmt_named(p, name) : p->stmts.len;
  *array = k < p->stmts.len ? p->stmts.data[k].array : PO_NO_NODE;
  return k < p->stmts.len ? po_reorder_class(p, &p->stmts.data[k]) : 0;
}

/* Drops what goes from update to update of one array. */
static isl_stat
keep_map(__isl_take isl_map *map, void *user) {
  filter *f = user;
  uint32_t a, b;
  uint32_t x = class_of(f->p, isl_map_get_tuple_name(map, isl_dim_in), &a);
  uint32_t y = class_of(f->p, isl_map_get_tuple_name(map, isl_dim_out), &b);
  if (x && x == y && a == b)
    isl_map_free(map);
  else
    f->kept = isl_union_map_add_map(f->kept, map);
  return isl_stat_ok;
}

static __isl_give isl_union_map *
without_free_order(const po_program *p, __isl_take isl_union_map *from) {
  filter f = {p, none(p)};
  if (!from || isl_union_map_foreach_map(from, keep_map, &f) < 0)
    f.kept = isl_union_map_free(f.kept);
  isl_union_map_free(from);
  return f.kept;
}

/* All updates of an array may change places with each other. */
static bool
has_one_class(const po_program *p, uint32_t array) {
  uint32_t found = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    uint32_t class = po_reorder_class(p, &p->stmts.data[k]);
    if (p->stmts.data[k].array != array || !class)
      continue;
    if (found && class != found)
      return false;
    found = class;
  }
  return true;
}

bool
po_is_written_once(const po_program *p, uint32_t array, const po_accesses *x) {
  assert(array < p->arrays.len);
  /* Nothing is known of accesses where isl gave up. */
  if (!x->writes || !x->updates || !has_one_class(p, array) ||
      isl_union_map_is_injective(x->writes) != isl_bool_true)
    return false;
  isl_union_map *late = po_earlier(p, x->updates, x->writes);
  bool none_late = isl_union_map_is_empty(late) == isl_bool_true;
  isl_union_map_free(late);
  return none_late;
}

/* { read -> A[x] } of the sinks that no write preceded.  from: { write ->
 * sink } */
static __isl_give isl_union_map *
unwritten(const po_accesses *x, __isl_take isl_union_map *sinks,
          __isl_keep isl_union_map *from) {
  isl_union_map *written =
      isl_union_map_apply_range(isl_union_map_reverse(isl_union_map_copy(from)),
                                isl_union_map_copy(x->writes));
  return isl_union_map_subtract(sinks, written);
}

static po_flow
find_flow_of_values(const po_program *p, uint32_t array) {
  const po_array *a = &p->arrays.data[array];
  po_accesses x = po_accesses_of(p, array);
  if (!po_is_written_once(p, array, &x)) {
    po_accesses_free(&x);
    po_flow slow = po_flow_through(p, array, false);
    slow.from = without_free_order(p, slow.from);
    return slow;
  }
  isl_union_map *reads = isl_union_map_copy(x.reads);
  if (a->role == PO_OUTPUT)
    reads = add(reads, read_after_all(p, a));
  isl_union_map *updated = po_earlier(p, x.updates, reads);
  isl_union_map *sinks =
      isl_union_map_union(reads, isl_union_map_copy(x.updates));
  isl_union_map *written = po_earlier(p, x.writes, sinks);
  po_flow out = {.unwritten = unwritten(&x, sinks, written)};
  out.from = isl_union_map_union(written, updated);
  po_accesses_free(&x);
  return out;
}

/* A statement's accesses of an array; so many loops are around it and the
 * statement before it that has some.  With these of all of them in order, that
 * of any two is known. */
static void
ask_of_accesses(const po_program *p, const po_stmt *s, uint32_t array,
                uint32_t common, po_memo_key *key) {
  enum { READ, LOOKED_UP, WRITTEN, UPDATED, CLASS = 4, COMMON = 16 };
  uint64_t how = (uint64_t)common << COMMON;
  for (uint32_t k = 0; k < s->n_exprs; k++)
    if ((s->exprs[k].kind == PO_READ || s->exprs[k].kind == PO_GATHER) &&
        s->exprs[k].array == array)
      po_memo_of(key, s->domain, s->time, s->exprs[k].index,
                 how | (s->exprs[k].kind == PO_READ ? READ : LOOKED_UP));
  if (s->array == array)
    po_memo_of(key, s->domain, s->time, s->write,
               how | (s->kind == PO_UPDATE ? UPDATED : WRITTEN) |
                   (uint64_t)po_reorder_class(p, s) << CLASS);
}

/* What the flow through an array depends on: its accesses in the order of the
 * nest, and its elements, of which the caller may read all. */
static void
ask_of_flow(const po_program *p, uint32_t array, po_memo_key *key) {
  const po_array *a = &p->arrays.data[array];
  uint32_t last = PO_NO_NODE;
  po_memo_ask(key, PO_MEMO_FLOW, a->role == PO_OUTPUT);
  for (uint32_t d = 0; d < a->rank; d++)
    po_memo_of(key, NULL, NULL, NULL,
               a->extent[d] ? (uintptr_t)a->extent[d] : (uint64_t)a->dim[d]);
  for (uint32_t leaf = po_nest_first_leaf(p, 0); leaf != PO_NO_NODE;
       leaf = po_nest_next_leaf(p, leaf, 0)) {
    const po_stmt *s = &p->stmts.data[p->nest.nodes.data[leaf].stmt];
    bool ties;
    if (!po_stmt_accesses(s, array))
      continue;
    uint32_t common =
        last == PO_NO_NODE ? 0 : po_common_loops(p, last, leaf, &ties);
    key->too_long |= s->kind == PO_CALL;
    ask_of_accesses(p, s, array, common, key);
    last = leaf;
  }
  for (uint32_t k = 0; k < p->stmts.len; k++)
    key->too_long |= p->stmts.data[k].leaf == PO_NO_NODE;
}

po_flow
po_flow_of_values(const po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  po_memo_key key;
  ask_of_flow(p, array, &key);
  const po_memo_answer *known = po_memo_find(p->memo, &key);
  if (known)
    return (po_flow){isl_union_map_copy(known->map[0]),
                     isl_union_map_copy(known->map[1])};
  po_flow flow = find_flow_of_values(p, array);
  if (flow.from && flow.unwritten)
    po_memo_put(p->memo, &key,
                (po_memo_answer){.map = {flow.from, flow.unwritten}});
  return flow;
}

void
po_flow_free(po_flow *flow) {
  isl_union_map_free(flow->from);
  isl_union_map_free(flow->unwritten);
}
