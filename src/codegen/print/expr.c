/* SPDX-License-Identifier: MIT */
/* expr.c - expressions of the code tree as C, which CUDA shares. */
#include "codegen/print/print.h"

static void
print_infix(bs_text *out, const cg_expr *x) {
  for (uint32_t k = 0; k < x->n; k++) {
    if (k)
      bs_putf(out, " %s ", x->text);
    cg_print_expr(out, x->args[k]);
  }
}

static void
print_call(bs_text *out, const cg_expr *x) {
  bs_putf(out, "%s(", x->text);
  for (uint32_t k = 0; k < x->n; k++) {
    bs_put(out, k ? ", " : "");
    cg_print_expr(out, x->args[k]);
  }
  bs_putc(out, ')');
}

static void
print_choice(bs_text *out, const cg_expr *x) {
  cg_print_expr(out, x->args[0]);
  bs_put(out, " ? ");
  cg_print_expr(out, x->args[1]);
  bs_put(out, " : ");
  cg_print_expr(out, x->args[2]);
}

static void
print_around(bs_text *out, const char *before, const cg_expr *x,
             const char *after) {
  bs_put(out, before);
  cg_print_expr(out, x);
  bs_put(out, after);
}

void
cg_print_expr(bs_text *out, const cg_expr *x) {
  switch (x->kind) {
  case CG_NUMBER:
    bs_putf(out, "%lld", (long long)x->number);
    break;
  case CG_LITERAL:
  case CG_NAME:
    bs_put(out, x->text);
    break;
  case CG_INFIX:
    print_infix(out, x);
    break;
  case CG_PREFIX:
    print_around(out, x->text, x->args[0], "");
    break;
  case CG_CAST:
    bs_putf(out, "(%s)", x->text);
    cg_print_expr(out, x->args[0]);
    break;
  case CG_CALLED:
    print_call(out, x);
    break;
  case CG_ELEMENT:
    cg_print_expr(out, x->args[0]);
    print_around(out, "[", x->args[1], "]");
    break;
  case CG_CHOICE:
    print_choice(out, x);
    break;
  case CG_PAREN:
    print_around(out, "(", x->args[0], ")");
    break;
  }
}
