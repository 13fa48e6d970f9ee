/* SPDX-License-Identifier: MIT */
/* tree_expr.h - expressions of the code tree.
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

/* Operators: how they are written, and how tightly they bind. */
#define CG_OPERATORS(X)                                                        \
  /* Between operands. */                                                      \
  X(COMMA, ",", COMMA)                                                         \
  X(SET, "=", ASSIGN)                                                          \
  X(OR, "||", OR)                                                              \
  X(AND, "&&", AND)                                                            \
  X(BIT_OR, "|", BIT_OR)                                                       \
  X(BIT_XOR, "^", BIT_XOR)                                                     \
  X(BIT_AND, "&", BIT_AND)                                                     \
  X(EQUAL, "==", EQUAL)                                                        \
  X(NOT_EQUAL, "!=", EQUAL)                                                    \
  X(LESS, "<", COMPARE)                                                        \
  X(AT_MOST, "<=", COMPARE)                                                    \
  X(GREATER, ">", COMPARE)                                                     \
  X(AT_LEAST, ">=", COMPARE)                                                   \
  X(SHIFT_UP, "<<", SHIFT)                                                     \
  X(SHIFT_DOWN, ">>", SHIFT)                                                   \
  X(ADD, "+", ADD)                                                             \
  X(SUBTRACT, "-", ADD)                                                        \
  X(MULTIPLY, "*", MUL)                                                        \
  X(DIVIDE, "/", MUL)                                                          \
  X(REMAINDER, "%", MUL)                                                       \
  /* Before one. */                                                            \
  X(NEGATE, "-", UNARY)                                                        \
  X(DEREFERENCE, "*", UNARY)                                                   \
  X(ADDRESS, "&", UNARY)                                                       \
  X(NOT, "!", UNARY)                                                           \
  X(SIZEOF, "sizeof ", UNARY)                                                  \
  /* Behind one. */                                                            \
  X(INCREMENT, "++", PRIMARY)

typedef enum cg_op {
  CG_OP_NONE,
#define CG_OPERATOR(name, sign, level) CG_OP_##name,
  CG_OPERATORS(CG_OPERATOR)
#undef CG_OPERATOR
      CG_OP_COUNT
} cg_op;

/* The position in which an operator stands. */
static inline bool
cg_is_infix(cg_op op) {
  return op >= CG_OP_COMMA && op <= CG_OP_REMAINDER;
}
static inline bool
cg_is_prefix(cg_op op) {
  return op >= CG_OP_NEGATE && op <= CG_OP_SIZEOF;
}

typedef struct cg_expr {
  cg_expr_kind kind;
  cg_op op;   /* of the kinds that have operators */
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
const cg_expr *cg_prefix(bs_arena *, cg_op, const cg_expr *);
const cg_expr *cg_postfix(bs_arena *, cg_op, const cg_expr *);
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
const cg_expr *cg_infix(bs_arena *, cg_op, const cg_expr *a, const cg_expr *b);
/* factor * name */
const cg_expr *cg_scaled(bs_arena *, int64_t factor, const char *name);
const cg_expr *cg_infix_of(bs_arena *, cg_op, uint32_t n,
                           const cg_expr *const *args);
const cg_expr *cg_called(bs_arena *, const char *function, uint32_t n,
                         const cg_expr *const *args);

/* How an operator is written in C. */
const char *cg_sign(cg_op);
/* The level of an operator; of an expression. */
int cg_level_of_operator(cg_op);
int cg_level(const cg_expr *);
/* Without the parentheses around it, on whatever line. */
const cg_expr *cg_bare(const cg_expr *);
/* Whether it is a number, in parentheses or not. */
bool cg_is_number(const cg_expr *, int64_t *out);
bool cg_is_name(const cg_expr *, const char *name);
/* Whether it, or an operand at any depth, is that name. */
bool cg_names(const cg_expr *, const char *name);
/* Whether both are equal but for parentheses. */
bool cg_equal(const cg_expr *, const cg_expr *);
/* With another expression in place of a name. */
const cg_expr *cg_substitute(bs_arena *, const cg_expr *, const char *name,
                             const cg_expr *by);
/* How far it goes when the name goes one on; false where that is not the same
 * everywhere. */
bool cg_coefficient(const cg_expr *, const char *name, int64_t *out);

#endif
