/* SPDX-License-Identifier: MIT */
/* body.c - statement bodies as expressions: reads, writes, statements.
 *
 * bf16 is rounded where it is stored and where it is cast to. */
#include "glenside/target/tuned.h"
#include "codegen/build/body.h"
#include <assert.h>
#include <math.h>

/* ---- memory ---- */

/* The element that access k of the statement names. */
static const cg_expr *
make_element(const cg_body *b, uint32_t array, uint32_t k) {
  bs_arena *arena = &b->e->arena;
  int64_t at;
  if (b->places)
    return b->places[k];
  const char *name = cg_array_name(b->e, b->scope, array);
  const cg_expr *index = b->origin->index[k];
  if (!index)
    return cg_name(arena, name);
  if (cg_is_by_name(b->e, array) && cg_is_number(index, &at))
    return cg_name(arena,
                   bs_arena_printf(arena, "%s_%lld", name, (long long)at));
  return cg_element(arena, cg_name(arena, name), index);
}

static gs_dtype
array_dtype(const cg_body *b, uint32_t array) {
  return b->e->p->arrays.data[array].dtype;
}

const cg_expr *
cg_make_helper(const cg_body *b, cg_helper helper, const cg_expr *first,
               const cg_expr *second) {
  assert(helper != CG_NO_HELPER && helper < CG_HELPER_COUNT && first);
  return cg_called(&b->e->arena, cg_helper_names[helper], second ? 2 : 1,
                   (const cg_expr *const[]){first, second});
}

/* An element of this array as the float that it is. */
static const cg_expr *
widened(const cg_body *b, uint32_t array, const cg_expr *element) {
  gs_dtype dtype = array_dtype(b, array);
  return gs_is_half(dtype)
             ? cg_make_helper(b, cg_widening(dtype), element, NULL)
             : element;
}

static const cg_expr *
make_read(const cg_body *b, const po_expr *x, uint32_t k) {
  double value;
  if (cg_known_value(b, k, &value))
    return cg_make_literal(b->e, x->dtype, value);
  return widened(b, x->array, make_element(b, x->array, k));
}

static const cg_expr *
make_gather(const cg_body *b, const po_expr *x, uint32_t k) {
  bs_arena *arena = &b->e->arena;
  gs_dtype by = cg_dtype_of(b, x->kids[0]);
  cg_helper clamp =
      cg_is_integer(by) && !gs_is_wide(by) ? CG_CLAMP_INDEX : CG_CLAMP_REAL;
  const cg_expr *at = cg_make_helper(b, clamp, cg_make_value(b, x->kids[0]),
                                     cg_number(arena, x->count));
  if (x->stride != 1)
    at = cg_infix(arena, CG_OP_MULTIPLY, cg_number(arena, x->stride), at);
  at = cg_infix(arena, CG_OP_ADD, b->origin->index[k], at);
  const char *name = cg_array_name(b->e, b->scope, x->array);
  return widened(b, x->array, cg_element(arena, cg_name(arena, name), at));
}

/* Of two floats one is picked by bits, which is no branch. */
static bool
is_pick(const cg_body *b, const po_expr *x) {
  return x->kind == PO_SELECT && x->dtype == GS_F32 &&
         cg_dtype_of(b, x->kids[0]) == GS_F32;
}

/* No call, no branch and few operators below. */
static bool
is_cheap(const cg_body *b, uint32_t k, uint32_t *operators) {
  const po_expr *x = &b->stmt->exprs[k];
  if (x->kind == PO_LITERAL || x->kind == PO_READ)
    return true;
  if ((cg_has_branch_or_call(b->e, b->stmt, x) && !is_pick(b, x)) ||
      !(*operators)--)
    return false;
  for (uint32_t j = 0; j < x->n_kids; j++)
    if (!is_cheap(b, x->kids[j], operators))
      return false;
  return true;
}

/* Values that cost little are computed whatever the condition is: elements
 * read in a branch alone would be read under a mask where loops become
 * vectors, which is slower, and which gcc 12 gets wrong at -O3 where it also
 * writes a short loop out. */
static const cg_expr *
make_select(const cg_body *b, const po_expr *x) {
  uint32_t operators = GS_BRANCH_OPERATORS;
  bs_arena *arena = &b->e->arena;
  const cg_expr *arg[3];
  if (cg_dtype_of(b, x->kids[0]) == x->dtype &&
      is_cheap(b, x->kids[1], &operators) &&
      is_cheap(b, x->kids[2], &operators)) {
    cg_helper helper = gs_is_wide(x->dtype)      ? CG_SELECT_I64
                       : cg_is_integer(x->dtype) ? CG_SELECT_I32
                       : cg_is_double(x->dtype)  ? CG_SELECT_F64
                                                 : CG_SELECT_F32;
    for (uint32_t j = 0; j < 3; j++)
      arg[j] = cg_make_value(b, x->kids[j]);
    return cg_called(arena, cg_helper_names[helper], 3, arg);
  }
  for (uint32_t j = 0; j < 3; j++)
    arg[j] = cg_make_kid(b, x->kids[j]);
  const cg_expr *zero =
      cg_literal(arena, cg_is_integer(x->dtype) ? "0" : "0.0f");
  return cg_choice(arena, cg_infix(arena, CG_OP_GREATER, arg[0], zero), arg[1],
                   arg[2]);
}

const cg_expr *
cg_make_value(const cg_body *b, uint32_t k) {
  assert(k < b->stmt->n_exprs);
  const po_expr *x = &b->stmt->exprs[k];
  switch (x->kind) {
  case PO_LITERAL:
    return cg_make_literal(b->e, x->dtype, x->literal);
  case PO_READ:
    return make_read(b, x, k);
  case PO_UNARY:
    return cg_make_unary(b, x);
  case PO_BINARY:
    if (x->op == GS_C_MUL && !gs_dtype_table[x->dtype].integer) {
      uint32_t one = cg_is_factor(b, x->kids[1], 1);
      if (one || cg_is_factor(b, x->kids[0], 1))
        return cg_make_value(b, x->kids[!one]);
    }
    return cg_make_binary(b, x->op, x->dtype, (cg_side){.expr = x->kids[0]},
                          (cg_side){.expr = x->kids[1]});
  case PO_SELECT:
    return make_select(b, x);
  case PO_GATHER:
    return make_gather(b, x, k);
  }
  return NULL;
}

const cg_expr *
cg_make_part(cg_emitter *e, const cg_scope *scope, const cg_origin *origin,
             uint32_t k) {
  assert(origin->stmt < e->p->stmts.len);
  cg_body b = {.e = e,
               .scope = scope,
               .stmt = &e->p->stmts.data[origin->stmt],
               .origin = origin};
  return cg_make_kid(&b, k);
}

/* Whether an expression is one operand as it stands. */
static bool
is_primary(const cg_body *b, uint32_t k) {
  po_expr_kind kind = b->stmt->exprs[k].kind;
  double value;
  if (cg_known_value(b, k, &value))
    return !signbit(value);
  return kind == PO_READ || kind == PO_GATHER;
}

const cg_expr *
cg_make_kid(const cg_body *b, uint32_t k) {
  assert(k < b->stmt->n_exprs);
  const cg_expr *value = cg_make_value(b, k);
  return is_primary(b, k) ? value : cg_paren(&b->e->arena, value);
}

/* ---- statements ---- */

/* The root as a value of the array's element type; a float of 16 bits that is
 * only copied keeps them. */
static const cg_expr *
make_stored(const cg_body *b, uint32_t root) {
  const po_expr *x = &b->stmt->exprs[root];
  gs_dtype dtype = array_dtype(b, b->stmt->array);
  if (!gs_is_half(dtype))
    return cg_make_value(b, root);
  if (x->kind == PO_READ && array_dtype(b, x->array) == dtype)
    return make_element(b, x->array, root);
  return cg_make_rounded(b, root, dtype);
}

static const cg_expr *
make_target(const cg_body *b) {
  return make_element(b, b->stmt->array, b->origin->n - 1);
}

const cg_expr *
cg_make_target_value(const cg_body *b) {
  return widened(b, b->stmt->array, make_target(b));
}

/* `acc += x` where C's own operator serves. */
static bool
has_compound(gs_compute op, gs_dtype dtype) {
  return cg_infix_of_compute(op) != CG_OP_NONE && !cg_is_integer(dtype) &&
         !gs_is_half(dtype);
}

static const cg_expr *
make_update(const cg_body *b, gs_dtype dtype, uint32_t root) {
  const cg_expr *value =
      cg_make_binary(b, b->stmt->op, dtype, (cg_side){.kind = SIDE_TARGET},
                     (cg_side){.expr = root});
  return gs_is_half(dtype)
             ? cg_make_helper(b, cg_rounding(dtype, false), value, NULL)
             : value;
}

cg_node *
cg_make_store(cg_emitter *e, const cg_scope *scope, const cg_origin *origin) {
  const po_stmt *stmt = &e->p->stmts.data[origin->stmt];
  cg_body b = {e, scope, stmt, origin, NULL};
  assert(stmt->kind != PO_CALL && stmt->n_exprs);
  uint32_t root = stmt->n_exprs - 1;
  gs_dtype dtype = array_dtype(&b, stmt->array);
  cg_node *n = cg_node_new(&e->arena, CG_STORE);
  n->origin = origin;
  n->store.target = make_target(&b);
  n->store.op = CG_OP_SET;
  if (stmt->kind == PO_UPDATE && has_compound(stmt->op, dtype)) {
    n->store.op = cg_infix_of_compute(stmt->op);
    n->store.value = cg_make_value(&b, root);
  } else if (stmt->kind == PO_UPDATE) {
    n->store.value = make_update(&b, dtype, root);
  } else {
    n->store.value = make_stored(&b, root);
  }
  return n;
}

const cg_expr **
cg_places(cg_emitter *e, const po_stmt *stmt, const cg_expr *own) {
  assert(stmt->n_exprs);
  const cg_expr **places = BS_NEWS(&e->arena, const cg_expr *, stmt->n_exprs);
  for (uint32_t k = 0; k < stmt->n_exprs; k++)
    places[k] = own;
  return places;
}

const cg_expr *
cg_extra(cg_emitter *e, uint32_t k, const cg_expr *at) {
  return cg_element(
      &e->arena, cg_name(&e->arena, bs_arena_printf(&e->arena, "e%u", k)), at);
}

const cg_expr *
cg_make_formula(cg_emitter *e, const po_stmt *stmt,
                const cg_expr *const *places) {
  assert(stmt->n_exprs && places);
  cg_body b = {.e = e, .stmt = stmt, .places = places};
  return cg_make_value(&b, stmt->n_exprs - 1);
}

const cg_expr *
cg_make_result(cg_emitter *e, const po_stmt *stmt,
               const cg_expr *const *places) {
  assert(stmt->n_exprs && places);
  cg_body b = {.e = e, .stmt = stmt, .places = places};
  gs_dtype dtype = array_dtype(&b, stmt->array);
  return gs_is_half(dtype) ? cg_make_rounded(&b, stmt->n_exprs - 1, dtype)
                           : cg_make_value(&b, stmt->n_exprs - 1);
}
