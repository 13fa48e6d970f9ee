/* SPDX-License-Identifier: MIT */
/* tree_expr.c - see tree_expr.h.  Expressions nest as deep as those of the
 * language and of isl, which limits of their own keep shallow: functions here
 * recurse. */
#include "codegen/tree/tree_expr.h"
#include <assert.h>
#include <string.h>

/* ---- making ---- */

static cg_expr *
make(bs_arena *arena, cg_expr_kind kind, const char *text) {
  cg_expr *x = BS_NEW(arena, cg_expr);
  x->kind = kind;
  x->text = text;
  return x;
}

static cg_expr *
make_of(bs_arena *arena, cg_expr_kind kind, const char *text, uint32_t n,
        const cg_expr *const *args) {
  cg_expr *x = make(arena, kind, text);
  x->n = n;
  x->args = bs_arena_copy(arena, args, n * sizeof *args);
  return x;
}

static const cg_expr *
make_operation(bs_arena *arena, cg_expr_kind kind, cg_op op, uint32_t n,
               const cg_expr *const *args) {
  cg_expr *x = make_of(arena, kind, NULL, n, args);
  x->op = op;
  return x;
}

const cg_expr *
cg_number(bs_arena *arena, int64_t number) {
  cg_expr *x = make(arena, CG_NUMBER, NULL);
  x->number = number;
  return x;
}

const cg_expr *
cg_literal(bs_arena *arena, const char *text) {
  assert(text && *text);
  return make(arena, CG_LITERAL, text);
}

const cg_expr *
cg_name(bs_arena *arena, const char *name) {
  assert(name && *name);
  return make(arena, CG_NAME, name);
}

const cg_expr *
cg_prefix(bs_arena *arena, cg_op op, const cg_expr *of) {
  assert(cg_is_prefix(op));
  return make_operation(arena, CG_PREFIX, op, 1, &of);
}

const cg_expr *
cg_postfix(bs_arena *arena, cg_op op, const cg_expr *of) {
  assert(op == CG_OP_INCREMENT);
  return make_operation(arena, CG_POSTFIX, op, 1, &of);
}

const cg_expr *
cg_braces(bs_arena *arena, const char *type, uint32_t n,
          const cg_expr *const *args) {
  assert(n);
  return make_of(arena, CG_BRACES, type, n, args);
}

const cg_expr *
cg_broken(bs_arena *arena, const cg_expr *of) {
  assert(of);
  return make_of(arena, CG_BROKEN, NULL, 1, &of);
}

const cg_expr *
cg_cast(bs_arena *arena, const char *type, const cg_expr *of) {
  assert(type && *type && of);
  return make_of(arena, CG_CAST, type, 1, &of);
}

const cg_expr *
cg_paren(bs_arena *arena, const cg_expr *of) {
  assert(of);
  return make_of(arena, CG_PAREN, NULL, 1, &of);
}

const cg_expr *
cg_element(bs_arena *arena, const cg_expr *array, const cg_expr *index) {
  assert(array && index);
  return make_of(arena, CG_ELEMENT, NULL, 2,
                 (const cg_expr *const[]){array, index});
}

const cg_expr *
cg_choice(bs_arena *arena, const cg_expr *condition, const cg_expr *then,
          const cg_expr *otherwise) {
  assert(condition && then && otherwise);
  return make_of(arena, CG_CHOICE, NULL, 3,
                 (const cg_expr *const[]){condition, then, otherwise});
}

const cg_expr *
cg_infix(bs_arena *arena, cg_op op, const cg_expr *a, const cg_expr *b) {
  return cg_infix_of(arena, op, 2, (const cg_expr *const[]){a, b});
}

const cg_expr *
cg_scaled(bs_arena *arena, int64_t factor, const char *name) {
  return cg_infix(arena, CG_OP_MULTIPLY, cg_number(arena, factor),
                  cg_name(arena, name));
}

const cg_expr *
cg_infix_of(bs_arena *arena, cg_op op, uint32_t n, const cg_expr *const *args) {
  assert(cg_is_infix(op) && n >= 2);
  return make_operation(arena, CG_INFIX, op, n, args);
}

const cg_expr *
cg_called(bs_arena *arena, const char *function, uint32_t n,
          const cg_expr *const *args) {
  assert(function && *function);
  return make_of(arena, CG_CALLED, function, n, args);
}

/* ---- what it is ---- */

static const struct {
  const char *sign;
  int level;
} operators[CG_OP_COUNT] = {
#define CG_OPERATOR(name, sign, level)                                         \
  [CG_OP_##name] = {sign, CG_LEVEL_##level},
    CG_OPERATORS(CG_OPERATOR)
#undef CG_OPERATOR
};

const char *
cg_sign(cg_op op) {
  assert(op < CG_OP_COUNT);
  return operators[op].sign;
}

int
cg_level_of_operator(cg_op op) {
  assert(op < CG_OP_COUNT);
  return operators[op].level;
}

int
cg_level(const cg_expr *x) {
  switch (x->kind) {
  case CG_NUMBER:
    return x->number < 0 ? CG_LEVEL_UNARY : CG_LEVEL_PRIMARY;
  case CG_LITERAL:
    return *x->text == '-' ? CG_LEVEL_UNARY : CG_LEVEL_PRIMARY;
  case CG_NAME:
  case CG_CALLED:
  case CG_ELEMENT:
  case CG_PAREN:
  case CG_POSTFIX:
  case CG_BRACES:
    return CG_LEVEL_PRIMARY;
  case CG_INFIX:
    return cg_level_of_operator(x->op);
  case CG_PREFIX:
  case CG_CAST:
    return CG_LEVEL_UNARY;
  case CG_CHOICE:
    return CG_LEVEL_CHOICE;
  case CG_BROKEN:
    return cg_level(x->args[0]);
  }
  return -1;
}

const cg_expr *
cg_bare(const cg_expr *x) {
  while (x->kind == CG_PAREN || x->kind == CG_BROKEN)
    x = x->args[0];
  return x;
}

bool
cg_is_number(const cg_expr *x, int64_t *out) {
  x = cg_bare(x);
  if (x->kind == CG_NUMBER)
    *out = x->number;
  return x->kind == CG_NUMBER;
}

bool
cg_is_name(const cg_expr *x, const char *name) {
  return x->kind == CG_NAME && !strcmp(x->text, name);
}

bool
cg_names(const cg_expr *x, const char *name) {
  if (cg_is_name(x, name))
    return true;
  for (uint32_t k = 0; k < x->n; k++)
    if (cg_names(x->args[k], name))
      return true;
  return false;
}

bool
cg_equal(const cg_expr *a, const cg_expr *b) {
  a = cg_bare(a);
  b = cg_bare(b);
  if (a == b)
    return true;
  if (a->kind != b->kind || a->op != b->op || a->n != b->n ||
      a->number != b->number || !a->text != !b->text ||
      (a->text && strcmp(a->text, b->text)))
    return false;
  for (uint32_t k = 0; k < a->n; k++)
    if (!cg_equal(a->args[k], b->args[k]))
      return false;
  return true;
}

const cg_expr *
cg_substitute(bs_arena *arena, const cg_expr *x, const char *name,
              const cg_expr *by) {
  assert(*name && by);
  if (cg_is_name(x, name))
    return by;
  if (!x->n)
    return x;
  const cg_expr **args = BS_NEWS(arena, const cg_expr *, x->n);
  for (uint32_t k = 0; k < x->n; k++)
    args[k] = cg_substitute(arena, x->args[k], name, by);
  cg_expr *out = BS_NEW(arena, cg_expr);
  *out = *x;
  out->args = args;
  return out;
}

/* ---- coefficients ---- */

/* Of an operation, from what its first operand goes and all others together. */
static bool
combine(const cg_expr *x, const int64_t arg[2], int64_t *out) {
  int64_t factor;
  if (x->op == CG_OP_NEGATE)
    return !__builtin_sub_overflow(0, arg[0], out);
  if (x->op == CG_OP_ADD)
    return !__builtin_add_overflow(arg[0], arg[1], out);
  if (x->op == CG_OP_SUBTRACT)
    return !__builtin_sub_overflow(arg[0], arg[1], out);
  return x->op == CG_OP_MULTIPLY && x->n == 2 &&
         (cg_is_number(x->args[0], &factor) ||
          cg_is_number(x->args[1], &factor)) &&
         !__builtin_mul_overflow(arg[0] ? arg[0] : arg[1], factor, out);
}

bool
cg_coefficient(const cg_expr *x, const char *name, int64_t *out) {
  assert(*name);
  int64_t arg[2] = {0, 0}, at;
  x = cg_bare(x);
  *out = cg_is_name(x, name);
  if (x->kind == CG_LITERAL)
    return false;
  if (!x->n)
    return true;
  for (uint32_t k = 0; k < x->n; k++) {
    if (!cg_coefficient(x->args[k], name, &at) ||
        __builtin_add_overflow(arg[k > 0], at, &arg[k > 0]))
      return false;
  }
  return (!arg[0] && !arg[1]) || combine(x, arg, out);
}
