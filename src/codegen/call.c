/* SPDX-License-Identifier: MIT */
/* call.c - instruction calls, written from their templates. */
#include "codegen/emit.h"

typedef struct calling {
  cg_emitter *e;
  const cg_scope *scope;
  const cg_user_note *note;
  const po_stmt *stmt;
} calling;

/* (A + 64 * i); a local of one element is no array in C. */
static void
put_pointer(const calling *c, uint32_t k) {
  cg_emitter *e = c->e;
  const po_operand *operand = &c->stmt->operands[k];
  cg_mention(e, operand->array);
  const char *name = c->scope ? cg_array_name(e, c->scope, operand->array)
                              : e->p->arrays.data[operand->array].name;
  isl_ast_expr *start = operand->base && c->note
                            ? c->note->index[c->stmt->n_exprs + 1 + k]
                            : NULL;
  if (!cg_is_indexed(e, operand->array)) {
    bs_putf(&e->body, "&%s", name);
  } else if (start) {
    bs_putf(&e->body, "(%s + ", name);
    cg_put_index(e, start);
    bs_putc(&e->body, ')');
  } else if (operand->offset) {
    bs_putf(&e->body, "(%s + %lld)", name, (long long)operand->offset);
  } else {
    bs_put(&e->body, name);
  }
}

static void
put_piece(const calling *c, const gs_emit_piece *piece, uint32_t indent) {
  cg_emitter *e = c->e;
  const po_stmt *stmt = c->stmt;
  switch (piece->kind) {
  case GS_EMIT_TEXT:
    for (size_t k = 0; k < piece->len; k++) {
      bs_putc(&e->body, piece->text[k]);
      if (piece->text[k] == '\n')
        cg_indent(&e->body, indent);
    }
    break;
  case GS_EMIT_VALUE:
    bs_put_value(&e->body, e->p->ctx.values,
                 (bs_value){stmt->slots[piece->slot]});
    break;
  case GS_EMIT_POINTER:
    put_pointer(c, piece->operand);
    break;
  case GS_EMIT_STRIDE:
    bs_putf(&e->body, "%lld",
            (long long)stmt->operands[piece->operand].stride[piece->dim]);
    break;
  case GS_EMIT_DIM:
    bs_putf(&e->body, "%lld",
            (long long)stmt->operands[piece->operand].dim[piece->dim]);
    break;
  case GS_EMIT_BAD:
    e->failed = true;
  }
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

void
cg_put_call(cg_emitter *e, const cg_scope *scope, const cg_user_note *note,
            const po_stmt *stmt, uint32_t indent) {
  const calling c = {e, scope, note, stmt};
  const gs_instr *instr = stmt->instr;
  bool braces = needs_braces(instr);
  gs_emit_piece piece;
  cg_indent(&e->body, indent);
  if (braces) {
    bs_put(&e->body, "{\n");
    cg_indent(&e->body, ++indent);
  }
  for (const char *at = instr->emit; gs_emit_next(instr, &at, &piece);)
    put_piece(&c, &piece, indent);
  bs_putc(&e->body, '\n');
  if (braces) {
    cg_indent(&e->body, --indent);
    bs_put(&e->body, "}\n");
  }
}
