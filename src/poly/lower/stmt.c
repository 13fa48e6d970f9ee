/* SPDX-License-Identifier: MIT */
/* stmt.c - statements and their bodies.
 *
 * While a body is built, its index maps are anonymous; po_add_stmt names the
 * instances and the arrays, and hands everything to the program's pool. */
#include "poly/lower/again.h"
#include <assert.h>
#include <string.h>

/* ---- bodies ---- */

po_expr *
po_put_expr(po_body *body, po_expr_kind kind, gs_dtype dtype) {
  assert(kind <= PO_GATHER && dtype < GS_DTYPE_COUNT);
  bs_heap *heap = body->low->heap;
  bs_push(heap, &body->maps, NULL);
  bs_push(heap, &body->exprs, (po_expr){.kind = kind, .dtype = dtype});
  return &bs_last(&body->exprs);
}

static uint32_t
last_of(const po_body *body) {
  assert(body->exprs.len && body->maps.len == body->exprs.len);
  return body->exprs.len - 1;
}

uint32_t
po_put_literal(po_body *body, gs_dtype dtype, double literal) {
  po_put_expr(body, PO_LITERAL, dtype)->literal = literal;
  return last_of(body);
}

uint32_t
po_put_read(po_body *body, gs_dtype dtype, const po_read *read) {
  assert(read->constant || read->array < body->low->out->arrays.len);
  if (read->constant)
    return po_put_literal(body, dtype, read->literal);
  po_put_expr(body, PO_READ, dtype)->array = read->array;
  bs_last(&body->maps) = read->map;
  return last_of(body);
}

uint32_t
po_put_unary(po_body *body, gs_compute op, gs_dtype dtype, uint32_t kid) {
  assert(kid < body->exprs.len && op < GS_COMPUTE_COUNT);
  po_expr *e = po_put_expr(body, PO_UNARY, dtype);
  e->op = op;
  e->kids[e->n_kids++] = kid;
  return last_of(body);
}

uint32_t
po_put_binary(po_body *body, gs_compute op, gs_dtype dtype, uint32_t a,
              uint32_t b) {
  assert(a < body->exprs.len && b < body->exprs.len);
  assert(op < GS_COMPUTE_COUNT);
  po_expr *e = po_put_expr(body, PO_BINARY, dtype);
  e->op = op;
  e->kids[e->n_kids++] = a;
  e->kids[e->n_kids++] = b;
  return last_of(body);
}

po_target
po_local_at(po_lowering *low, uint32_t array, uint32_t n) {
  assert(array < low->out->arrays.len);
  uint32_t rank = low->out->arrays.data[array].rank;
  isl_multi_aff *map = isl_multi_aff_zero(po_map_space(low->isl, n, rank));
  for (uint32_t d = 0; d < rank; d++)
    map = isl_multi_aff_set_aff(map, (int)d, po_index(low->isl, n, d, 1, 0));
  return (po_target){array, po_keep_multi_aff(&low->scratch, map)};
}

uint32_t
po_put_local(po_body *body, uint32_t array, uint32_t n) {
  assert(array < body->low->out->arrays.len);
  const po_array *local = &body->low->out->arrays.data[array];
  po_expr *e = po_put_expr(body, PO_READ, local->dtype);
  e->array = array;
  bs_last(&body->maps) = po_local_at(body->low, array, n).map;
  return last_of(body);
}

/* ---- statements ---- */

static const char *const *
iterators(bs_arena *arena, uint32_t n) {
  const char **names = BS_NEWS(arena, const char *, n);
  for (uint32_t k = 0; k < n; k++)
    names[k] = bs_arena_printf(arena, "i%u", k);
  return names;
}

/* The relation from named instances to elements of a named array. */
static isl_pw_multi_aff *
name_access(po_program *out, const char *stmt, uint32_t array,
            __isl_take isl_pw_multi_aff *index) {
  assert(array < out->arrays.len);
  isl_ctx *isl = out->isl;
  const char *name = out->arrays.data[array].name;
  index = isl_pw_multi_aff_set_tuple_id(index, isl_dim_in,
                                        isl_id_alloc(isl, stmt, NULL));
  index = isl_pw_multi_aff_set_tuple_id(index, isl_dim_out,
                                        isl_id_alloc(isl, name, NULL));
  return po_keep_pw_multi_aff(&out->pool, index);
}

static isl_pw_multi_aff *
named_access(po_program *out, const char *stmt, uint32_t array,
             __isl_keep isl_multi_aff *map) {
  return name_access(out, stmt, array,
                     isl_pw_multi_aff_from_multi_aff(isl_multi_aff_copy(map)));
}

static po_stmt *
push_stmt(po_lowering *low, const po_stmt *stmt) {
  po_program *out = low->out;
  bs_push(low->heap, &out->stmts, *stmt);
  po_stmt *added = &bs_last(&out->stmts);
  added->name = bs_arena_printf(&out->arena, "S%u", out->stmts.len - 1);
  added->span = gs_at(low->source, added->term)->span;
  added->iters = iterators(&out->arena, added->n_iters);
  return added;
}

static void
take_body(po_body *body, po_stmt *stmt) {
  assert(body->maps.len == body->exprs.len);
  po_program *out = body->low->out;
  po_expr *exprs = bs_arena_copy(&out->arena, body->exprs.data,
                                 body->exprs.len * sizeof *exprs);
  for (uint32_t k = 0; k < body->exprs.len; k++)
    if (body->maps.data[k])
      exprs[k].index =
          named_access(out, stmt->name, exprs[k].array, body->maps.data[k]);
  stmt->exprs = exprs;
  stmt->n_exprs = body->exprs.len;
  bs_vec_done(body->low->heap, &body->exprs);
  bs_vec_done(body->low->heap, &body->maps);
}

static isl_set *
named_domain(po_program *out, const char *name, __isl_keep isl_set *domain) {
  domain = isl_set_set_tuple_id(isl_set_copy(domain),
                                isl_id_alloc(out->isl, name, NULL));
  return po_keep_set(&out->pool, domain);
}

/* An instance's indices, as its time. */
static isl_multi_aff *
identity_time(po_program *out, const po_stmt *stmt) {
  isl_multi_aff *time = po_identity(out->isl, stmt->n_iters);
  time = isl_multi_aff_set_tuple_id(time, isl_dim_in,
                                    isl_set_get_tuple_id(stmt->domain));
  return po_keep_multi_aff(&out->pool, time);
}

void
po_add_stmt(po_body *body, po_stmt_kind kind, gs_compute op, isl_set *domain,
            uint32_t n_outer, const po_target *target, gs_term term) {
  assert(body->exprs.len && target->array < body->low->out->arrays.len);
  assert(n_outer <= (uint32_t)isl_set_dim(domain, isl_dim_set) || !domain);
  po_lowering *low = body->low;
  po_program *out = low->out;
  isl_size n = isl_set_dim(domain, isl_dim_set);
  po_stmt *stmt = push_stmt(low, &(po_stmt){.kind = kind,
                                            .op = op,
                                            .n_iters = n < 0 ? 0 : (uint32_t)n,
                                            .n_outer = n_outer,
                                            .array = target->array,
                                            .term = term});
  take_body(body, stmt);
  po_pool_reserve(&out->pool, 3);
  stmt->domain = named_domain(out, stmt->name, domain);
  stmt->time = identity_time(out, stmt);
  stmt->write = named_access(out, stmt->name, target->array, target->map);
  po_note_made(stmt, out->stmts.len);
}

bool
po_renamed(const po_renaming *r, uint32_t array, uint32_t *out) {
  assert(r->own <= r->now_own);
  for (uint32_t k = 0; k < r->n; k++)
    if (r->from[k] == array) {
      *out = r->to[k];
      return true;
    }
  *out = r->now_own + (array - r->own);
  return array >= r->own && array - r->own < r->n_own;
}

static void
take_body_of(po_program *out, po_stmt *stmt, const po_stmt *like,
             const po_renaming *r) {
  po_expr *exprs =
      bs_arena_copy(&out->arena, like->exprs, like->n_exprs * sizeof *exprs);
  for (uint32_t k = 0; k < like->n_exprs; k++) {
    if (!exprs[k].index)
      continue;
    po_pool_reserve(&out->pool, 1);
    po_renamed(r, like->exprs[k].array, &exprs[k].array);
    exprs[k].index = name_access(out, stmt->name, exprs[k].array,
                                 isl_pw_multi_aff_copy(like->exprs[k].index));
  }
  stmt->exprs = exprs;
}

void
po_add_stmt_again(po_lowering *low, uint32_t like, const po_renaming *r,
                  gs_term term) {
  assert(like < low->out->stmts.len);
  po_program *out = low->out;
  const po_stmt of = out->stmts.data[like];
  po_stmt copy = {.kind = of.kind,
                  .op = of.op,
                  .n_iters = of.n_iters,
                  .n_outer = of.n_outer,
                  .n_exprs = of.n_exprs,
                  .term = term};
  po_renamed(r, of.array, &copy.array);
  po_stmt *stmt = push_stmt(low, &copy);
  take_body_of(out, stmt, &of, r);
  po_pool_reserve(&out->pool, 3);
  stmt->domain = named_domain(out, stmt->name, of.domain);
  stmt->time = identity_time(out, stmt);
  stmt->write = name_access(out, stmt->name, stmt->array,
                            isl_pw_multi_aff_copy(of.write));
  po_note_made(stmt, po_is_as_made(&of) ? of.like : out->stmts.len);
}

/* The first elements of operands, as functions of the named instance. */
static void
name_starts(po_program *out, po_stmt *stmt, isl_multi_aff *const *starts) {
  uint32_t n = stmt->instr->n_operands;
  po_operand *operands =
      bs_arena_copy(&out->arena, stmt->operands, (n + 1) * sizeof *operands);
  for (uint32_t k = 0; k <= n; k++) {
    po_pool_reserve(&out->pool, 1);
    operands[k].base =
        named_access(out, stmt->name, operands[k].array, starts[k]);
  }
  stmt->operands = operands;
}

void
po_add_call(po_lowering *low, const po_stmt *like, isl_set *domain,
            isl_multi_aff *const *starts) {
  po_program *out = low->out;
  po_stmt *stmt = push_stmt(low, like);
  po_pool_reserve(&out->pool, 2);
  if (!domain) {
    po_pool_reserve(&low->scratch, 1);
    domain =
        po_keep_set(&low->scratch, isl_set_universe(po_space(low->isl, 0)));
  }
  stmt->domain = named_domain(out, stmt->name, domain);
  stmt->time = identity_time(out, stmt);
  if (starts)
    name_starts(out, stmt, starts);
}
