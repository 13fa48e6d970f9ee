/* SPDX-License-Identifier: MIT */
/* print_expr.c - expressions of the code tree as C, which CUDA and OpenCL C
 * share. */
#include "codegen/print/print.h"

/* Of a statement that is indented so far. */
static void print(bs_text *out, const cg_expr *x, uint32_t indent);

/* Its text begins on a new line. */
static bool
begins_broken(const cg_expr *x) {
  while (x->kind == CG_INFIX || x->kind == CG_CHOICE || x->kind == CG_ELEMENT)
    x = x->args[0];
  return x->kind == CG_BROKEN;
}

/* A sign and the operand behind it, which may stand on a new line. */
static void
print_next(bs_text *out, const char *sign, const cg_expr *x, uint32_t indent) {
  bs_put(out, sign);
  if (!begins_broken(x))
    bs_putc(out, ' ');
  print(out, x, indent);
}

static void
print_infix(bs_text *out, const cg_expr *x, uint32_t indent) {
  bool comma = x->op == CG_OP_COMMA;
  print(out, x->args[0], indent);
  for (uint32_t k = 1; k < x->n; k++) {
    bs_put(out, comma ? "" : " ");
    print_next(out, cg_sign(x->op), x->args[k], indent);
  }
}

static void
print_list(bs_text *out, const cg_expr *x, uint32_t indent) {
  for (uint32_t k = 0; k < x->n; k++)
    if (k)
      print_next(out, ",", x->args[k], indent);
    else
      print(out, x->args[k], indent);
}

static void
print_call(bs_text *out, const cg_expr *x, uint32_t indent) {
  bs_putf(out, "%s(", x->text);
  print_list(out, x, indent);
  bs_putc(out, ')');
}

static void
print_braces(bs_text *out, const cg_expr *x, uint32_t indent) {
  if (x->text)
    bs_putf(out, "(%s)", x->text);
  bs_putc(out, '{');
  print_list(out, x, indent);
  bs_putc(out, '}');
}

static void
print_break(bs_text *out, uint32_t indent) {
  bs_putc(out, '\n');
  cg_indent(out, indent + 2);
}

/* The sign goes to the new line with its branch. */
static void
print_branch(bs_text *out, char sign, const cg_expr *x, uint32_t indent) {
  bool broken = x->kind == CG_BROKEN;
  if (broken)
    print_break(out, indent);
  bs_putf(out, "%s%c ", broken ? "" : " ", sign);
  print(out, broken ? x->args[0] : x, indent);
}

static void
print_choice(bs_text *out, const cg_expr *x, uint32_t indent) {
  print(out, x->args[0], indent);
  print_branch(out, '?', x->args[1], indent);
  print_branch(out, ':', x->args[2], indent);
}

static void
print_around(bs_text *out, const char *before, const cg_expr *x,
             const char *after, uint32_t indent) {
  bs_put(out, before);
  print(out, x, indent);
  bs_put(out, after);
}

static void
print(bs_text *out, const cg_expr *x, uint32_t indent) {
  switch (x->kind) {
  case CG_NUMBER:
    bs_putf(out, "%lld", (long long)x->number);
    break;
  case CG_LITERAL:
  case CG_NAME:
    bs_put(out, x->text);
    break;
  case CG_INFIX:
    print_infix(out, x, indent);
    break;
  case CG_PREFIX:
    print_around(out, cg_sign(x->op), x->args[0], "", indent);
    break;
  case CG_POSTFIX:
    print_around(out, "", x->args[0], cg_sign(x->op), indent);
    break;
  case CG_CAST:
    bs_putf(out, "(%s)", x->text);
    print(out, x->args[0], indent);
    break;
  case CG_CALLED:
    print_call(out, x, indent);
    break;
  case CG_ELEMENT:
    print(out, x->args[0], indent);
    print_around(out, "[", x->args[1], "]", indent);
    break;
  case CG_CHOICE:
    print_choice(out, x, indent);
    break;
  case CG_PAREN:
    print_around(out, "(", x->args[0], ")", indent);
    break;
  case CG_BRACES:
    print_braces(out, x, indent);
    break;
  case CG_BROKEN:
    print_break(out, indent);
    print(out, x->args[0], indent);
    break;
  }
}

void
cg_print_expr(bs_text *out, const cg_expr *x) {
  print(out, x, 0);
}

void
cg_print_expr_at(bs_text *out, const cg_expr *x, uint32_t indent) {
  print(out, x, indent);
}

void
cg_print_value(bs_text *out, const char *before, const cg_expr *x,
               uint32_t indent) {
  print_next(out, before, x, indent);
}
