/* SPDX-License-Identifier: MIT */
/* expr.h - expressions of the code tree.
 *
 * They are values: made once on an arena, never changed, shared freely.
 * Parentheses are nodes, so that a printer writes operands as they come; the
 * checker holds that an operand binds tighter than its operator. */
#ifndef CODEGEN_TREE_EXPR_H
#define CODEGEN_TREE_EXPR_H

#include "base/arena.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum cg_expr_kind {
  CG_NUMBER,
  CG_LITERAL, /* as it is written: 1.5f, or text of an instruction's template */
  CG_NAME,
  CG_INFIX,   /* operands with the operator between them */
  CG_PREFIX,  /* an operator before its operand: - * & ! sizeof */
  CG_POSTFIX, /* behind it: ++ */
  CG_CAST,    /* to the type in `text` */
  CG_CALLED,  /* the function in `text` */
  CG_ELEMENT, /* args[0][args[1]] */
  CG_CHOICE,  /* args[0] ? args[1] : args[2] */
  CG_PAREN,
  CG_BRACES, /* {args}, of the type in `text` or of what is declared */
  CG_BROKEN  /* as args[0], on a new line where it is one operand of several */
} cg_expr_kind;

typedef struct cg_expr {
  cg_expr_kind kind;
  uint32_t n; /* operands */
  int64_t number;
  const char *text;
  const struct cg_expr *const *args;
} cg_expr;

/* How tightly an expression binds, from a list to what is one operand. */
enum {
  CG_LEVEL_COMMA,
  CG_LEVEL_ASSIGN,
  CG_LEVEL_CHOICE,
  CG_LEVEL_OR,
  CG_LEVEL_AND,
  CG_LEVEL_BIT_OR,
  CG_LEVEL_BIT_XOR,
  CG_LEVEL_BIT_AND,
  CG_LEVEL_EQUAL,
  CG_LEVEL_COMPARE,
  CG_LEVEL_SHIFT,
  CG_LEVEL_ADD,
  CG_LEVEL_MUL,
  CG_LEVEL_UNARY,
  CG_LEVEL_PRIMARY
};

/* Texts are kept as they are: the caller's have to live as long. */
const cg_expr *cg_number(bs_arena *, int64_t);
const cg_expr *cg_literal(bs_arena *, const char *text);
const cg_expr *cg_name(bs_arena *, const char *name);
const cg_expr *cg_prefix(bs_arena *, const char *op, const cg_expr *);
const cg_expr *cg_postfix(bs_arena *, const char *op, const cg_expr *);
const cg_expr *cg_braces(bs_arena *, const char *type, uint32_t n,
                         const cg_expr *const *args);
const cg_expr *cg_broken(bs_arena *, const cg_expr *);
const cg_expr *cg_cast(bs_arena *, const char *type, const cg_expr *);
const cg_expr *cg_paren(bs_arena *, const cg_expr *);
const cg_expr *cg_element(bs_arena *, const cg_expr *array,
                          const cg_expr *index);
const cg_expr *cg_choice(bs_arena *, const cg_expr *condition,
                         const cg_expr *then, const cg_expr *otherwise);
/* a op b */
const cg_expr *cg_infix(bs_arena *, const char *op, const cg_expr *a,
                        const cg_expr *b);
/* factor * name */
const cg_expr *cg_scaled(bs_arena *, int64_t factor, const char *name);
const cg_expr *cg_infix_of(bs_arena *, const char *op, uint32_t n,
                           const cg_expr *const *args);
const cg_expr *cg_called(bs_arena *, const char *function, uint32_t n,
                         const cg_expr *const *args);

/* The level of an operator between operands; of an expression. */
int cg_level_of_operator(const char *op);
int cg_level(const cg_expr *);
/* Without the parentheses around it, on whatever line. */
const cg_expr *cg_bare(const cg_expr *);
/* Whether it is a number, in parentheses or not. */
bool cg_is_number(const cg_expr *, int64_t *out);
bool cg_is_name(const cg_expr *, const char *name);
/* Whether both are equal but for parentheses. */
bool cg_equal(const cg_expr *, const cg_expr *);
/* With another expression in place of a name. */
const cg_expr *cg_substitute(bs_arena *, const cg_expr *, const char *name,
                             const cg_expr *by);
/* How far it goes when the name goes one on; false where that is not the same
 * everywhere. */
bool cg_coefficient(const cg_expr *, const char *name, int64_t *out);

#endif
