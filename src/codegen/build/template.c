/* SPDX-License-Identifier: MIT */
/* template.c - instruction calls, made from their templates. */
#include "codegen/build/build.h"
#include <assert.h>

typedef struct calling {
  cg_emitter *e;
  const cg_scope *scope;
  const cg_origin *origin;
  const po_stmt *stmt;
  BS_VEC(const cg_expr *) parts;
} calling;

/* to + x.  A sum is taken apart, so that no operand binds looser than `+`. */
static const cg_expr *
moved_by(bs_arena *arena, const cg_expr *to, const cg_expr *x) {
  if (x->kind == CG_INFIX && cg_level(x) == CG_LEVEL_ADD) {
    const cg_expr **args = bs_arena_copy(arena, x->args, x->n * sizeof *args);
    args[0] = moved_by(arena, to, args[0]);
    return cg_infix_of(arena, x->op, x->n, args);
  }
  bool loose = cg_level(x) <= CG_LEVEL_ADD;
  return cg_infix(arena, CG_OP_ADD, to, loose ? cg_paren(arena, x) : x);
}

/* (A + 64 * i); a local of one element is no array in C. */
static const cg_expr *
make_pointer(const calling *c, uint32_t k) {
  cg_emitter *e = c->e;
  bs_arena *arena = &e->arena;
  const po_operand *operand = &c->stmt->operands[k];
  cg_mention(e, operand->array);
  const cg_expr *name =
      cg_name(arena, c->scope ? cg_array_name(e, c->scope, operand->array)
                              : e->p->arrays.data[operand->array].name);
  const cg_expr *start = operand->base && c->origin
                             ? c->origin->index[c->stmt->n_exprs + 1 + k]
                             : NULL;
  if (!cg_is_indexed(e, operand->array))
    return cg_prefix(arena, CG_OP_ADDRESS, name);
  if (!start && operand->offset)
    start = cg_number(arena, operand->offset);
  return start ? cg_paren(arena, moved_by(arena, name, start)) : name;
}

/* Where an operand in a memory begins there: in bytes, or in rows. */
static const cg_expr *
make_address(const calling *c, uint32_t k, bool in_rows) {
  bs_arena *arena = &c->e->arena;
  const po_operand *operand = &c->stmt->operands[k];
  const po_array *array = &c->e->p->arrays.data[operand->array];
  const gs_memory *m = gs_memory_at(c->e->p->target, array->memory);
  int64_t bytes = gs_dtype_table[array->dtype].bytes;
  const cg_expr *start = operand->base && c->origin
                             ? c->origin->index[c->stmt->n_exprs + 1 + k]
                             : cg_number(arena, operand->offset);
  const cg_expr *at = start;
  if (bytes > 1)
    at = cg_infix(arena, CG_OP_MULTIPLY, cg_number(arena, bytes),
                  cg_paren(arena, start));
  if (array->offset)
    at = moved_by(arena, cg_number(arena, array->offset), at);
  if (in_rows && m->row > 1)
    at = cg_infix(arena, CG_OP_DIVIDE, cg_paren(arena, at),
                  cg_number(arena, m->row));
  return cg_paren(arena, at);
}

/* A parameter that may be any number has a decimal point, in C a double. */
static const char *
text_of_slot(const calling *c, uint32_t slot) {
  const bs_values *values = c->e->p->ctx.values;
  bs_value value = {c->stmt->slots[slot]};
  bs_text text;
  bs_text_init(&text, c->e->heap);
  if (c->stmt->instr->scope.vars.data[slot].sort == GS_SORT_REAL)
    bs_put_real(&text, bs_as_real(values, value));
  else
    bs_put_value(&text, values, value);
  const char *out = bs_arena_strdup(&c->e->arena, bs_text_str(&text));
  bs_text_done(&text);
  return out;
}

static const cg_expr *
make_part(const calling *c, const gs_emit_piece *piece) {
  bs_arena *arena = &c->e->arena;
  const po_stmt *stmt = c->stmt;
  switch (piece->kind) {
  case GS_EMIT_TEXT:
    return cg_literal(
        arena, bs_arena_printf(arena, "%.*s", (int)piece->len, piece->text));
  case GS_EMIT_VALUE:
    return cg_literal(arena, text_of_slot(c, piece->slot));
  case GS_EMIT_POINTER:
    return make_pointer(c, piece->operand);
  case GS_EMIT_STRIDE:
    return cg_number(arena, stmt->operands[piece->operand].stride[piece->dim]);
  case GS_EMIT_DIM:
    return cg_number(arena, stmt->operands[piece->operand].dim[piece->dim]);
  case GS_EMIT_ADDRESS:
  case GS_EMIT_ROW:
    return make_address(c, piece->operand, piece->kind == GS_EMIT_ROW);
  case GS_EMIT_BAD:
    break;
  }
  c->e->failed = true;
  return cg_literal(arena, "");
}

/* Declarations of a template stay its own. */
static bool
needs_braces(const gs_instr *instr) {
  uint32_t statements = 0;
  gs_emit_piece piece;
  for (const char *at = instr->emit; gs_emit_next(instr, &at, &piece);)
    for (size_t k = 0; piece.kind == GS_EMIT_TEXT && k < piece.len; k++)
      statements += piece.text[k] == ';' || piece.text[k] == '}';
  return statements != 1;
}

cg_node *
cg_make_template(cg_emitter *e, const cg_scope *scope, const cg_origin *origin,
                 const po_stmt *stmt) {
  calling c = {.e = e, .scope = scope, .origin = origin, .stmt = stmt};
  const gs_instr *instr = stmt->instr;
  cg_node *n = cg_node_new(&e->arena, CG_TEMPLATE);
  assert(stmt->kind == PO_CALL && instr && instr->emit);
  gs_emit_piece piece;
  for (const char *at = instr->emit; gs_emit_next(instr, &at, &piece);)
    bs_push(e->heap, &c.parts, make_part(&c, &piece));
  n->origin = origin;
  n->text =
      (cg_template){.n = c.parts.len,
                    .parts = bs_arena_copy(&e->arena, c.parts.data,
                                           c.parts.len * sizeof *c.parts.data),
                    .braces = needs_braces(instr)};
  bs_vec_done(e->heap, &c.parts);
  return n;
}
