/* SPDX-License-Identifier: MIT */
/* pass_local.c - declarations of locals, and what is not used.
 *
 * Locals are declared where an iteration of their loop begins; where isl has
 * put the iteration in the place of the loop, in a block around it.  No mark is
 * left.  Where loops were cut into parts, or stages vanished, not every part
 * uses all that stands before it: compilers are kept quiet of what none does.
 *
 * A local is declared in the body of the innermost loop that holds all of its
 * uses: a scalar with a value, since compilers cannot see that it is set
 * before it is read; an array on the stack without one; a large array as a
 * pointer into the workspace, where each thread has its part.  An array in
 * registers whose indices are all constants is a scalar for each element. */
#include "codegen/pass/pass.h"
#include <assert.h>
#include <string.h>

/* ---- declarations ---- */

typedef struct locals {
  cg_emitter *e;
  const cg_scope *scope;
} locals;

static const char *
slot_name(const cg_scope *scope, uint32_t array) {
  uint32_t k = 0;
  while (scope->use->slots[k].array != array)
    k++;
  return scope->slot_names[k];
}

/* A large array that all threads share is declared with the workspace. */
static bool
is_declared(const cg_emitter *e, uint32_t array) {
  assert(array < e->p->arrays.len);
  if (po_is_large(&e->p->arrays.data[array]))
    return po_is_in_parallel(e->p, e->local_node[array]);
  return !cg_is_by_name(e, array) || e->elements[array].read;
}

static const char *
element_name(cg_emitter *e, uint32_t array, uint32_t k) {
  assert(array < e->p->arrays.len);
  return bs_arena_printf(&e->arena, "%s_%u", e->p->arrays.data[array].name, k);
}

static void
declare_elements(cg_emitter *e, uint32_t array, cg_list *to) {
  assert(array < e->p->arrays.len);
  uint64_t rest = e->elements[array].read;
  const char *type = gs_dtype_table[e->p->arrays.data[array].dtype].c_type;
  bool joins = false;
  for (uint32_t k = 0; rest; k++, rest >>= 1) {
    if (!(rest & 1))
      continue;
    cg_node *let = cg_make_let(&e->arena, type, element_name(e, array, k),
                               cg_number(&e->arena, 0));
    let->let.joins = joins;
    joins = true;
    cg_append(to, let);
  }
}

/* The thread's part of the workspace. */
static cg_node *
declare_part(const locals *x, uint32_t array) {
  assert(array < x->e->p->arrays.len);
  bs_arena *arena = &x->e->arena;
  const po_array *local = &x->e->p->arrays.data[array];
  const gs_dtype_info *dtype = &gs_dtype_table[local->dtype];
  int64_t elements = (po_bytes(local) + 63) / 64 * 64 / dtype->bytes;
  const cg_expr *thread =
      cg_cast(arena, "size_t", cg_name(arena, "GLEN_THREAD"));
  const cg_expr *at =
      cg_infix(arena, CG_OP_MULTIPLY, thread, cg_number(arena, elements));
  const cg_expr *slot = cg_name(arena, slot_name(x->scope, array));
  return cg_make_let(arena, bs_arena_printf(arena, "%s *", dtype->c_type),
                     local->name, cg_infix(arena, CG_OP_ADD, slot, at));
}

static void
declare(const locals *x, uint32_t array, cg_list *to) {
  assert(array < x->e->p->arrays.len);
  cg_emitter *e = x->e;
  const po_array *local = &e->p->arrays.data[array];
  const char *type = gs_dtype_table[local->dtype].c_type;
  bool indexed = cg_is_indexed(e, array);
  if (!is_declared(e, array))
    return;
  if (po_is_large(local)) {
    cg_append(to, declare_part(x, array));
    return;
  }
  if (cg_is_by_name(e, array)) {
    declare_elements(e, array, to);
    return;
  }
  cg_node *let = cg_make_let(&e->arena, type, local->name,
                             indexed ? NULL : cg_number(&e->arena, 0));
  let->let.elements = indexed ? po_elements(local) : 0;
  let->let.attribute = indexed ? "GLEN_ALIGNED" : NULL;
  cg_append(to, let);
}

/* ---- what a part of the code does not need ---- */

/* Compilers warn of a variable that is only assigned to, not of a pointer that
 * is only stored through. */
static void
quiet(cg_emitter *e, const cg_node *body, const char *name, bool pointer,
      cg_list *to) {
  if (!(pointer ? cg_mentions : cg_reads)(body, name))
    cg_append(to, cg_make_void(&e->arena, name));
}

static void
quiet_locals(const locals *x, uint32_t loop, const cg_node *body, cg_list *to) {
  cg_emitter *e = x->e;
  cg_list after;
  cg_list_init(&after);
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *local = &e->p->arrays.data[k];
    if (!cg_is_local_of(e, x->scope->group, loop, k) || !is_declared(e, k))
      continue;
    if (!cg_is_by_name(e, k))
      quiet(e, body, local->name, po_is_large(local), &after);
    else
      for (uint32_t j = 0; j < 64; j++)
        if (e->elements[k].read >> j & 1)
          quiet(e, body, element_name(e, k, j), false, &after);
  }
  cg_append(to, after.first);
}

/* ---- where they are ---- */

static cg_node *walk(const locals *, cg_node *chain, uint32_t pending);

/* All iterations of the loop that run in a list are in loops of it. */
static bool
is_all_in_loop(const cg_node *chain, uint32_t loop) {
  for (const cg_node *n = chain; n; n = n->next) {
    bool in = n->kind == CG_IF ? is_all_in_loop(n->first, loop) &&
                                     is_all_in_loop(n->test.otherwise, loop)
                               : n->loop == loop;
    if (!in)
      return false;
  }
  return true;
}

/* The local that a node does nothing but set to a literal; else UINT32_MAX. */
static uint32_t
starts_local(const cg_emitter *e, const cg_node *n) {
  const po_stmt *stmt = n->kind == CG_STORE && n->origin
                            ? &e->p->stmts.data[n->origin->stmt]
                            : NULL;
  bool literal = stmt && stmt->kind == PO_ASSIGN && stmt->n_exprs == 1 &&
                 stmt->exprs[0].kind == PO_LITERAL &&
                 e->p->arrays.data[stmt->array].role == PO_LOCAL &&
                 !cg_is_indexed(e, stmt->array);
  return literal ? stmt->array : UINT32_MAX;
}

/* A body that starts by setting a local of the loop declares it so. */
static cg_node *
started(const locals *x, uint32_t loop, cg_node *body, uint32_t *local) {
  cg_emitter *e = x->e;
  *local = body && body->next ? starts_local(e, body) : UINT32_MAX;
  if (*local == UINT32_MAX || e->local_node[*local] != loop) {
    *local = UINT32_MAX;
    return NULL;
  }
  const po_array *array = &e->p->arrays.data[*local];
  return cg_make_let(&e->arena, gs_dtype_table[array->dtype].c_type,
                     array->name, body->store.value);
}

/* A list that is an iteration of the loop. */
static cg_node *
iteration(const locals *x, uint32_t loop, cg_node *body) {
  cg_emitter *e = x->e;
  uint32_t local;
  cg_list out;
  if (loop == CG_NO_LOOP || !cg_has_locals(e, x->scope->group, loop))
    return walk(x, body, CG_NO_LOOP);
  cg_node *start = started(x, loop, body, &local);
  cg_list_init(&out);
  for (uint32_t k = 0; k < e->p->arrays.len; k++)
    if (k != local && cg_is_local_of(e, x->scope->group, loop, k))
      declare(x, k, &out);
  cg_append(&out, start);
  body = walk(x, start ? body->next : body, CG_NO_LOOP);
  cg_append(&out, body);
  quiet_locals(x, loop, body, &out);
  return out.first;
}

/* What stands for a node: marks vanish. */
static cg_node *
walk_node(const locals *x, cg_node *n, uint32_t pending) {
  uint32_t loop = n->iteration;
  switch (n->kind) {
  case CG_FOR:
    n->bare &=
        loop == CG_NO_LOOP || !cg_has_locals(x->e, x->scope->group, loop);
    n->first = iteration(x, loop, n->first);
    return n;
  case CG_IF:
    n->first = loop == CG_NO_LOOP ? walk(x, n->first, pending)
                                  : iteration(x, loop, n->first);
    n->test.otherwise = walk(x, n->test.otherwise, pending);
    return n;
  case CG_BLOCK:
    n->first = walk(x, n->first, CG_NO_LOOP);
    return n;
  case CG_MARK:
    return walk(x, n->first,
                cg_has_locals(x->e, x->scope->group, n->mark) ? n->mark
                                                              : pending);
  case CG_LET:
  case CG_STORE:
  case CG_DO:
  case CG_TEMPLATE:
  case CG_BARRIER:
  case CG_LAUNCH:
  case CG_RETURN:
  case CG_COMMENT:
  case CG_NOTHING:
  case CG_SWITCH: /* what follows is not made of loops of isl */
  case CG_CASE:
  case CG_WHEN:
  case CG_CONTINUE:
  case CG_ERROR:
    break;
  }
  return n;
}

/* pending: a loop that was replaced by its iterations, or is still to come. */
static cg_node *
walk(const locals *x, cg_node *chain, uint32_t pending) {
  cg_list out;
  cg_list_init(&out);
  bool is_if = cg_is_one(chain) && chain->kind == CG_IF;
  if (pending != CG_NO_LOOP && chain && !is_if &&
      !is_all_in_loop(chain, pending))
    return cg_make_block(&x->e->arena, iteration(x, pending, chain));
  for (cg_node *n = chain, *next; n; n = next) {
    next = n->next;
    n->next = NULL;
    cg_append(&out, walk_node(x, n, pending));
  }
  return out.first;
}

void
cg_declare_locals(cg_pass_state *s) {
  *s->body = iteration(&(locals){s->e, s->scope}, 0, *s->body);
}

void
cg_quiet_parameters(cg_pass_state *s) {
  cg_emitter *e = s->e;
  const cg_scope *scope = s->scope;
  cg_list out, after;
  cg_list_init(&out);
  cg_list_init(&after);
  for (uint32_t k = 0; k < scope->use->n_slots; k++)
    quiet(e, *s->body, scope->slot_names[k], true, &after);
  for (uint32_t k = 0; k < e->p->sizes.len; k++)
    quiet(e, *s->body, e->p->sizes.data[k].name, false, &after);
  cg_append(&out, *s->body);
  cg_append(&out, after.first);
  *s->body = out.first;
}
