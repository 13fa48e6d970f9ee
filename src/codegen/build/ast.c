/* SPDX-License-Identifier: MIT */
/* ast.c - the isl AST of a group, its nodes carrying what C needs.
 *
 * Bands of the schedule have one member each and stand below marks named after
 * their loops; the marks around the place where isl is at work are kept in a
 * list, so that each `for` knows its loop, however isl cuts it into parts.
 * At each statement the accesses are pulled back through the inverse of the
 * schedule and given to isl as one address, so that isl simplifies it with
 * what it knows about the loops around.  isl calls back here from deep inside
 * itself: nothing on a heap that unwinds is touched in a callback; notes are
 * libc memory that the node owns. */
#include "codegen/build/build.h"
#include "poly/loops/limit.h"
#include "poly/loops/affine.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>
#include <isl/ilp.h>
#include <isl/space.h>
#include <stdlib.h>
#include <string.h>
#include <isl/val.h>

/* isl operations that one group's AST may take, where the program's weight is
 * 1: with loops cut and written out, fewer for each group that took too many
 * before, so that all of them take not much longer than one; and as the nest
 * stands where that took too many. */
#define MAX_CUT_OPERATIONS 8000000ul
#define MAX_OPERATIONS     20000000ul

typedef struct walk {
  const cg_emitter *e;
  const po_group *group;
  isl_id **names;       /* of the group's statements */
  isl_set **boxes;      /* around their domains */
  isl_pw_aff **address; /* statement by statement: its accesses */
  uint32_t *array;      /* as `address` */
  /* As `address`; where a dimension is folded to several places, the index
   * and what the address starts from: remainders are taken of indices that
   * isl has simplified. */
  isl_pw_multi_aff **index;
  int64_t *base;
  uint32_t *first; /* by statement of the group: into `address` */
  uint32_t loops[PO_MAX_DEPTH], n_loops; /* around */
} walk;

typedef struct for_note {
  uint32_t loop; /* its node in the nest */
} for_note;

/* ---- notes ---- */

static void
free_user_note(void *user) {
  cg_user_note *note = user;
  for (uint32_t k = 0; k < note->n; k++)
    isl_ast_expr_free(note->index[k]);
  free(note);
}

static __isl_give isl_id *
note_id(isl_ctx *isl, void *note, void (*release)(void *)) {
  isl_id *id = note ? isl_id_alloc(isl, "note", note) : NULL;
  if (!id) {
    if (note)
      release(note);
    return NULL;
  }
  return isl_id_set_free_user(id, release);
}

const cg_user_note *
cg_note_of_user(isl_ast_node *node) {
  isl_id *id = isl_ast_node_get_annotation(node);
  const cg_user_note *note = id ? isl_id_get_user(id) : NULL;
  isl_id_free(id);
  return note;
}

uint32_t
cg_loop_of_for(isl_ast_node *node) {
  isl_id *id = isl_ast_node_get_annotation(node);
  const for_note *note = id ? isl_id_get_user(id) : NULL;
  isl_id_free(id);
  return note ? note->loop : PO_NO_NODE;
}

/* ---- callbacks ---- */

/* The statement of the group that a node runs; group->n: none. */
static uint32_t
stmt_of(const walk *w, __isl_keep isl_ast_node *node) {
  isl_ast_expr *call = isl_ast_node_user_get_expr(node);
  isl_ast_expr *name = isl_ast_expr_get_op_arg(call, 0);
  isl_id *id = isl_ast_expr_get_id(name);
  uint32_t k = 0;
  while (k < w->group->n && w->names[k] != id)
    k++;
  isl_id_free(id);
  isl_ast_expr_free(name);
  isl_ast_expr_free(call);
  return k;
}

/* Loops -> the instance they run.  isl drops bounds that follow from others;
 * with those of the box an index that was fused with another is found as a
 * quotient of the loop, and not as what is left of a sum with all the rest. */
static __isl_give isl_pw_multi_aff *
instance_of(__isl_take isl_map *schedule, __isl_keep isl_set *box) {
  schedule = isl_map_intersect_domain(schedule, isl_set_copy(box));
  return isl_pw_multi_aff_from_map(isl_map_reverse(schedule));
}

/* Which element of a local in registers is accessed. */
static void
note_element(cg_elements *x, __isl_keep isl_ast_expr *index, bool written) {
  if (!x->by_name)
    return;
  x->by_name = isl_ast_expr_get_type(index) == isl_ast_expr_int;
  if (!x->by_name)
    return;
  isl_val *val = isl_ast_expr_get_val(index);
  long k = isl_val_get_num_si(val);
  isl_val_free(val);
  if (k < 0 || k >= 64)
    x->by_name = false;
  else if (written)
    x->written |= UINT64_C(1) << k;
  else
    x->read |= UINT64_C(1) << k;
}

/* { loops -> address } of an access of a statement's instance. */
static __isl_give isl_pw_aff *
address_at(const walk *w, uint32_t k, __isl_keep isl_pw_multi_aff *instance,
           __isl_keep isl_set *loops) {
  assert(w->address[k] || w->index[k]);
  if (!w->index[k])
    return isl_pw_aff_pullback_pw_multi_aff(isl_pw_aff_copy(w->address[k]),
                                            isl_pw_multi_aff_copy(instance));
  isl_pw_multi_aff *index = isl_pw_multi_aff_pullback_pw_multi_aff(
      isl_pw_multi_aff_copy(w->index[k]), isl_pw_multi_aff_copy(instance));
  index = isl_pw_multi_aff_gist(index, isl_set_copy(loops));
  isl_pw_aff *address = po_address(&w->e->p->arrays.data[w->array[k]], index);
  isl_pw_multi_aff_free(index);
  return isl_pw_aff_add_constant_val(
      address, isl_val_int_from_si(w->e->p->isl, -w->base[k]));
}

/* An access of a statement's instance as an expression; NULL where isl
 * fails. */
static __isl_give isl_ast_expr *
expr_of(const walk *w, uint32_t k, __isl_keep isl_pw_multi_aff *instance,
        __isl_keep isl_set *loops, __isl_keep isl_ast_build *build) {
  if (w->address[k])
    return isl_ast_build_expr_from_pw_aff(build,
                                          address_at(w, k, instance, loops));
  isl_pw_multi_aff *index = isl_pw_multi_aff_pullback_pw_multi_aff(
      isl_pw_multi_aff_copy(w->index[k]), isl_pw_multi_aff_copy(instance));
  index = isl_pw_multi_aff_gist(index, isl_set_copy(loops));
  isl_ast_expr *expr = cg_sized_address(w->e, w->array[k], build, index);
  isl_pw_multi_aff_free(index);
  return expr;
}

static isl_ast_node *
note_stmt(__isl_take isl_ast_node *node, __isl_keep isl_ast_build *build,
          void *user) {
  walk *w = user;
  uint32_t local = stmt_of(w, node);
  if (local >= w->group->n)
    return isl_ast_node_free(node);
  uint32_t n = w->first[local + 1] - w->first[local];
  cg_user_note *note = calloc(1, sizeof *note + n * sizeof *note->index);
  if (!note)
    return isl_ast_node_free(node);
  note->stmt = w->e->groups.stmts.data[w->group->first + local];
  note->n = n;
  isl_map *schedule = isl_map_from_union_map(isl_ast_build_get_schedule(build));
  isl_pw_multi_aff *instance =
      instance_of(isl_map_copy(schedule), w->boxes[local]);
  isl_set *loops = isl_map_range(schedule);
  bool ok = instance;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t at = w->first[local] + k;
    if (!w->address[at] && !w->index[at])
      continue;
    note->index[k] = expr_of(w, at, instance, loops, build);
    ok = ok && note->index[k];
    if (note->index[k])
      note_element(&w->e->elements[w->array[w->first[local] + k]],
                   note->index[k], k == n - 1);
  }
  isl_pw_multi_aff_free(instance);
  isl_set_free(loops);
  isl_ctx *isl = isl_ast_node_get_ctx(node);
  isl_id *id = note_id(isl, note, free_user_note);
  if (!ok || !id) {
    isl_id_free(id);
    return isl_ast_node_free(node);
  }
  return isl_ast_node_set_annotation(node, id);
}

/* The loop that is being made is the one of the innermost mark. */
static isl_id *
note_for(__isl_keep isl_ast_build *build, void *user) {
  walk *w = user;
  for_note *note = calloc(1, sizeof *note);
  if (note)
    note->loop = w->n_loops ? w->loops[w->n_loops - 1] : PO_NO_NODE;
  return note_id(isl_ast_build_get_ctx(build), note, free);
}

static isl_stat
enter_mark(__isl_keep isl_id *mark, __isl_keep isl_ast_build *build,
           void *user) {
  walk *w = user;
  (void)build;
  if (w->n_loops == PO_MAX_DEPTH)
    return isl_stat_error;
  w->loops[w->n_loops++] = cg_loop_of(mark);
  return isl_stat_ok;
}

static isl_ast_node *
leave_mark(__isl_take isl_ast_node *node, __isl_keep isl_ast_build *build,
           void *user) {
  walk *w = user;
  (void)build;
  assert(w->n_loops);
  w->n_loops--;
  return node;
}

/* ---- building ---- */

static bool
has_remainders(const po_array *a) {
  for (uint32_t d = 0; d < a->rank; d++)
    if (a->fold[d] > 1 && a->fold[d] < a->dim[d])
      return true;
  return false;
}

/* Access n: its address, and what else is kept of it. */
static void
note_address(cg_emitter *e, const cg_use *use, walk *w, uint32_t n,
             isl_pw_multi_aff *index) {
  uint32_t array = w->array[n];
  assert(array < e->p->arrays.len);
  int64_t base = 0;
  if (po_lies_by_sizes(&e->p->arrays.data[array])) {
    w->index[n] = index;
    return;
  }
  for (uint32_t k = 0; k < use->n_slots; k++)
    if (use->slots[k].array == array)
      base = use->slots[k].base;
  po_pool_reserve(&e->pool, 1);
  isl_pw_aff *address = po_address(&e->p->arrays.data[array], index);
  isl_val *less = isl_val_int_from_si(e->p->isl, -base);
  w->address[n] =
      po_keep_pw_aff(&e->pool, isl_pw_aff_add_constant_val(address, less));
  w->base[n] = base;
  w->index[n] = has_remainders(&e->p->arrays.data[array]) ? index : NULL;
}

static const po_stmt *
slim_stmt(const walk *w, uint32_t k) {
  assert(w->e->slim && k < w->group->n);
  return &w->e->slim->stmts.data[w->e->groups.stmts.data[w->group->first + k]];
}

static void
find_slim(cg_emitter *e, const po_group *group) {
  uint32_t n = e->p->stmts.len;
  if (!e->slim) {
    e->slim = bs_arena_copy(&e->arena, e->p, sizeof *e->p);
    e->slim->stmts.data = bs_arena_copy(&e->arena, e->p->stmts.data,
                                        n * sizeof *e->p->stmts.data);
  }
  for (uint32_t k = 0; k < group->n; k++)
    cg_slim(e, &e->slim->stmts.data[e->groups.stmts.data[group->first + k]]);
}

static uint32_t
count_accesses(const cg_emitter *e, const po_group *group) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < group->n; k++)
    n += cg_stmt(e, group, k)->n_exprs + 1 +
         cg_count_operands(cg_stmt(e, group, k));
  return n;
}

static void
find_addresses(cg_emitter *e, const cg_use *use, walk *w) {
  uint32_t n = 0;
  w->address = BS_NEWS(&e->arena, isl_pw_aff *, count_accesses(e, w->group));
  w->array = BS_NEWS(&e->arena, uint32_t, count_accesses(e, w->group));
  w->index =
      BS_NEWS(&e->arena, isl_pw_multi_aff *, count_accesses(e, w->group));
  w->base = BS_NEWS(&e->arena, int64_t, count_accesses(e, w->group));
  w->first = BS_NEWS(&e->arena, uint32_t, w->group->n + 1);
  for (uint32_t k = 0; k < w->group->n; k++) {
    const po_stmt *stmt = slim_stmt(w, k);
    w->first[k] = n;
    for (uint32_t j = 0; j < stmt->n_exprs; j++, n++) {
      w->array[n] = stmt->exprs[j].array;
      if (stmt->exprs[j].index && cg_is_indexed(e, stmt->exprs[j].array))
        note_address(e, use, w, n, stmt->exprs[j].index);
    }
    w->array[n] = stmt->array;
    if (stmt->write && cg_is_indexed(e, stmt->array))
      note_address(e, use, w, n, stmt->write);
    n++;
    for (uint32_t j = 0; j < cg_count_operands(stmt); j++, n++) {
      const po_operand *o = &stmt->operands[j];
      w->array[n] = o->array;
      if (o->base && cg_is_indexed(e, o->array))
        note_address(e, use, w, n, o->base);
    }
  }
  w->first[w->group->n] = n;
}

/* The ids live as long as the domains. */
static void
find_names(cg_emitter *e, walk *w) {
  w->names = BS_NEWS(&e->arena, isl_id *, w->group->n);
  for (uint32_t k = 0; k < w->group->n; k++) {
    w->names[k] = isl_set_get_tuple_id(slim_stmt(w, k)->domain);
    isl_id_free(w->names[k]);
  }
}

static __isl_give isl_set *
box_of(__isl_keep isl_set *domain) {
  isl_set *all = isl_set_universe(isl_set_get_space(domain));
  return po_within_box(all, domain);
}

static void
find_boxes(cg_emitter *e, walk *w) {
  w->boxes = BS_NEWS(&e->arena, isl_set *, w->group->n);
  po_pool_reserve(&e->pool, w->group->n);
  for (uint32_t k = 0; k < w->group->n; k++)
    w->boxes[k] = po_keep_set(&e->pool, box_of(slim_stmt(w, k)->domain));
}

static __isl_give isl_id_list *
iterator_names(isl_ctx *isl) {
  isl_id_list *names = isl_id_list_alloc(isl, PO_MAX_DEPTH);
  for (int k = 0; k < PO_MAX_DEPTH; k++) {
    char name[16] = {'i'};
    if (k > 9)
      name[1] = (char)('0' + k / 10);
    name[k > 9 ? 2 : 1] = (char)('0' + k % 10);
    names = isl_id_list_add(names, isl_id_alloc(isl, name, NULL));
  }
  return names;
}

/* plain: no loop is cut or written out. */
static __isl_give isl_ast_node *
build_ast(walk *w, bool plain, unsigned long most) {
  isl_ctx *isl = w->e->p->isl;
  w->n_loops = 0;
  cg_limit(w->e, most);
  isl_schedule *schedule = po_group_schedule(w->e->slim, w->group);
  if (!plain)
    schedule = cg_ask_for_code(w->e->p, schedule);
  isl_ast_build *build = po_has_sizes(w->e->p)
                             ? isl_ast_build_from_context(isl_set_params(
                                   isl_set_copy(w->e->p->at_sizes)))
                             : isl_ast_build_alloc(isl);
  build = isl_ast_build_set_iterators(build, iterator_names(isl));
  build = isl_ast_build_set_at_each_domain(build, note_stmt, w);
  build = isl_ast_build_set_before_each_for(build, note_for, w);
  build = isl_ast_build_set_before_each_mark(build, enter_mark, w);
  build = isl_ast_build_set_after_each_mark(build, leave_mark, w);
  isl_ast_node *node = isl_ast_build_node_from_schedule(build, schedule);
  isl_ast_build_free(build);
  cg_limit(w->e, CG_OPERATIONS);
  return node;
}

isl_ast_node *
cg_build_ast(cg_emitter *e, uint32_t group) {
  assert(group < e->groups.list.len);
  isl_ctx *isl = e->p->isl;
  walk w = {.e = e, .group = &e->groups.list.data[group]};
  cg_limit(e, CG_OPERATIONS);
  find_slim(e, w.group);
  find_addresses(e, &e->uses[group], &w);
  find_names(e, &w);
  find_boxes(e, &w);
  po_pool_reserve(&e->pool, 1);
  cg_elements *elements = bs_arena_copy(&e->arena, e->elements,
                                        e->p->arrays.len * sizeof *elements);
  isl_ast_node *node =
      build_ast(&w, false, MAX_CUT_OPERATIONS / (1 + 3 * e->n_whole));
  if (!node && po_gave_up(isl)) {
    isl_ctx_reset_error(isl);
    e->n_whole++;
    memcpy(e->elements, elements, e->p->arrays.len * sizeof *elements);
    node = build_ast(&w, true, MAX_OPERATIONS);
    if (node)
      bs_warning(
          e->p->ctx.diags, BS_NOWHERE, "code-limit",
          "loops of %s are too complex to be cut or written out: they "
          "are generated whole",
          e->p->arrays.data[cg_stmt(e, w.group, w.group->n - 1)->array].name);
  }
  return po_keep_ast_node(&e->pool, node);
}
