/* SPDX-License-Identifier: MIT */
/* operator.c - operators and literals in C.
 *
 * A value of a dtype is computed in a C type of its own: f32 and bf16 in
 * float, f64 in double, integers in int32_t or, wrapped after every operator,
 * in their own type.  No expression has undefined behaviour: 32-bit
 * arithmetic is unsigned inside helpers. */
#include "codegen/body.h"
#include "poly/loops/infix.h"
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

const char *
cg_compute_type(gs_dtype dtype) {
  return dtype == GS_F64                       ? "double"
         : dtype == GS_F32 || dtype == GS_BF16 ? "float"
                                               : "int32_t";
}

/* ---- literals ---- */

static double
lowest_of(gs_dtype dtype) {
  return dtype == GS_I8 ? -128 : dtype == GS_U8 ? 0 : -2147483648.0;
}

static double
highest_of(gs_dtype dtype) {
  return dtype == GS_I8 ? 127 : dtype == GS_U8 ? 255 : 2147483647.0;
}

static void
put_integer(bs_text *out, gs_dtype dtype, double x) {
  if (isinf(x))
    x = x < 0 ? lowest_of(dtype) : highest_of(dtype);
  if (x == -2147483648.0)
    bs_put(out, "(-2147483647 - 1)");
  else
    bs_putf(out, "%.0f", x);
}

void
cg_put_literal(cg_emitter *e, gs_dtype dtype, double x) {
  if (cg_is_integer(dtype)) {
    put_integer(&e->body, dtype, x);
    return;
  }
  if (isinf(x) || isnan(x)) {
    e->uses_math = true;
    bs_put(&e->body, isnan(x) ? "NAN" : x < 0 ? "-INFINITY" : "INFINITY");
    return;
  }
  bs_put_real(&e->body, x);
  bs_put(&e->body, cg_is_double(dtype) ? "" : "f");
}

/* ---- operators ---- */

static void
put_call(const cg_body *b, const char *function, uint32_t n,
         const uint32_t *kids) {
  bs_putf(b->out, "%s(", function);
  for (uint32_t k = 0; k < n; k++) {
    bs_put(b->out, k ? ", " : "");
    cg_put_bare(b, kids[k]);
  }
  bs_putc(b->out, ')');
}

/* Narrow integers: whatever was computed in int, wrapped. */
static void
begin_wrap(const cg_body *b, gs_dtype dtype) {
  if (dtype == GS_I8 || dtype == GS_U8)
    bs_putf(b->out, "(%s)(", gs_dtype_table[dtype].c_type);
}

static void
end_wrap(const cg_body *b, gs_dtype dtype) {
  if (dtype == GS_I8 || dtype == GS_U8)
    bs_putc(b->out, ')');
}

static cg_helper
helper_of(gs_compute op, gs_dtype dtype) {
  switch (gs_compute_table[op].fold) {
  case GS_FOLD_ADD:
    return CG_ADD_I32;
  case GS_FOLD_SUB:
    return CG_SUB_I32;
  case GS_FOLD_MUL:
    return CG_MUL_I32;
  case GS_FOLD_DIV:
    return CG_DIV_I32;
  case GS_FOLD_MAX:
    return cg_is_integer(dtype)  ? CG_MAX_I32
           : cg_is_double(dtype) ? CG_MAX_F64
                                 : CG_MAX_F32;
  case GS_FOLD_MIN:
    return cg_is_integer(dtype)  ? CG_MIN_I32
           : cg_is_double(dtype) ? CG_MIN_F64
                                 : CG_MIN_F32;
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  assert(!"an operator that folds");
  return CG_ADD_I32;
}

/* Products and sums of two narrow integers stay within int; a quotient by
 * zero needs its helper. */
static bool
needs_helper(gs_compute op, gs_dtype dtype) {
  if (op == GS_C_MAX || op == GS_C_MIN)
    return true;
  return dtype == GS_I32 || (cg_is_integer(dtype) && op == GS_C_DIV);
}

static void
put_side(const cg_body *b, gs_dtype dtype, cg_side s, bool bare) {
  if (s.kind == SIDE_LITERAL)
    cg_put_literal(b->e, dtype, s.literal);
  else if (s.kind == SIDE_TARGET)
    cg_put_target_value(b);
  else if (bare)
    cg_put_bare(b, s.expr);
  else
    cg_put_kid(b, s.expr);
}

void
cg_put_binary(const cg_body *b, gs_compute op, gs_dtype dtype, cg_side first,
              cg_side second) {
  begin_wrap(b, dtype);
  if (needs_helper(op, dtype)) {
    bs_putf(b->out, "%s(", cg_helper_used(b->e, helper_of(op, dtype)));
    put_side(b, dtype, first, true);
    bs_put(b->out, ", ");
    put_side(b, dtype, second, true);
    bs_putc(b->out, ')');
  } else {
    put_side(b, dtype, first, false);
    bs_putf(b->out, " %s ", po_infix_of(op));
    put_side(b, dtype, second, false);
  }
  end_wrap(b, dtype);
}

static void
put_math(const cg_body *b, const po_expr *x, const char *function) {
  b->e->uses_math = true;
  bs_putf(b->out, "%s%s(", function, cg_is_double(x->dtype) ? "" : "f");
  cg_put_bare(b, x->kids[0]);
  bs_putc(b->out, ')');
}

/* The text of ops.def, with `$` for the operand, bare where parentheses stand
 * around it already. */
static void
put_text(const cg_body *b, const po_expr *x) {
  const char *suffix = cg_is_double(x->dtype) ? "" : "f";
  const char *text = gs_compute_table[x->op].c;
  for (const char *at = text; *at; at++) {
    if (*at == '$' && at > text && at[-1] == '(' && at[1] == ')') {
      cg_put_bare(b, x->kids[0]);
    } else if (*at == '$') {
      cg_put_kid(b, x->kids[0]);
    } else if (isdigit((unsigned char)*at)) {
      cg_put_literal(b->e, x->dtype, *at - '0');
    } else if (*at == '@') {
      int n = (int)strcspn(++at, "(");
      b->e->uses_math = true;
      bs_putf(b->out, "%.*s%s", n, at, suffix);
      at += n - 1;
    } else {
      bs_putc(b->out, *at);
    }
  }
}

/* op(kid, literal) with the literal in the dtype of the node. */
static void
put_with_literal(const cg_body *b, const po_expr *x, gs_compute op,
                 double literal) {
  cg_put_binary(b, op, x->dtype, (cg_side){.expr = x->kids[0]},
                (cg_side){.kind = SIDE_LITERAL, .literal = literal});
}

static double
parameter(const cg_body *b, const po_expr *x, uint32_t k) {
  const bs_values *values = b->e->p->ctx.values;
  return bs_as_real(values, gs_compute_param(values, x->param, k));
}

/* Wraps to 32 bits what need not fit the narrow dtype before it is applied. */
static void
put_scale(const cg_body *b, const po_expr *x, gs_compute op) {
  po_expr wide = *x;
  double v = parameter(b, x, 0);
  if (!cg_is_integer(x->dtype) || x->dtype == GS_I32) {
    put_with_literal(b, x, op, v);
    return;
  }
  begin_wrap(b, x->dtype);
  wide.dtype = GS_I32;
  put_with_literal(b, &wide, op, v);
  end_wrap(b, x->dtype);
}

static void
put_clip(const cg_body *b, const po_expr *x) {
  gs_dtype dtype = x->dtype;
  bs_putf(b->out, "%s(", cg_helper_used(b->e, helper_of(GS_C_MIN, dtype)));
  put_with_literal(b, x, GS_C_MAX, parameter(b, x, 0));
  bs_put(b->out, ", ");
  cg_put_literal(b->e, dtype, parameter(b, x, 1));
  bs_putc(b->out, ')');
}

static void
put_negated(const cg_body *b, const po_expr *x) {
  if (x->dtype == GS_I32) {
    bs_putf(b->out, "%s(0, ", cg_helper_used(b->e, CG_SUB_I32));
    cg_put_bare(b, x->kids[0]);
    bs_putc(b->out, ')');
    return;
  }
  begin_wrap(b, x->dtype);
  bs_putc(b->out, '-');
  cg_put_kid(b, x->kids[0]);
  end_wrap(b, x->dtype);
}

static void
put_abs(const cg_body *b, const po_expr *x) {
  if (!cg_is_integer(x->dtype)) {
    put_math(b, x, "fabs");
    return;
  }
  begin_wrap(b, x->dtype);
  bs_putf(b->out, "%s(", cg_helper_used(b->e, CG_ABS_I32));
  cg_put_bare(b, x->kids[0]);
  bs_putc(b->out, ')');
  end_wrap(b, x->dtype);
}

static void
put_square(const cg_body *b, const po_expr *x) {
  cg_helper helper = cg_is_integer(x->dtype)  ? CG_SQUARE_I32
                     : cg_is_double(x->dtype) ? CG_SQUARE_F64
                                              : CG_SQUARE_F32;
  begin_wrap(b, x->dtype);
  put_call(b, cg_helper_used(b->e, helper), 1, x->kids);
  end_wrap(b, x->dtype);
}

/* Sums are divided in 64 bits: the count need not fit in 32. */
static void
put_mean(const cg_body *b, const po_expr *x) {
  if (!cg_is_integer(x->dtype)) {
    cg_put_kid(b, x->kids[0]);
    bs_put(b->out, " / ");
    cg_put_literal(b->e, x->dtype, x->literal);
    return;
  }
  bs_put(b->out, "(int32_t)((int64_t)");
  cg_put_kid(b, x->kids[0]);
  bs_putf(b->out, " / INT64_C(%.0f))", x->literal);
}

/* ---- casts ---- */

gs_dtype
cg_dtype_of(const cg_body *b, uint32_t kid) {
  return b->stmt->exprs[kid].dtype;
}

static void
put_saturating(const cg_body *b, const po_expr *x) {
  cg_helper helper = x->dtype == GS_I8   ? CG_F64_TO_I8
                     : x->dtype == GS_U8 ? CG_F64_TO_U8
                                         : CG_F64_TO_I32;
  put_call(b, cg_helper_used(b->e, helper), 1, x->kids);
}

/* Bits of a bf16, rounded once from the value of this expression. */
void
cg_put_rounded(const cg_body *b, uint32_t k) {
  const po_expr *x = &b->stmt->exprs[k];
  bool cast = x->kind == PO_UNARY && x->op == GS_C_CAST;
  uint32_t value = cast ? x->kids[0] : k;
  gs_dtype from = cg_dtype_of(b, value);
  bool wide = from == GS_F64 || from == GS_I32;
  bs_putf(b->out, "%s(",
          cg_helper_used(b->e, wide ? CG_F64_TO_BF16 : CG_F32_TO_BF16));
  cg_put_bare(b, value);
  bs_putc(b->out, ')');
}

static void
put_cast(const cg_body *b, const po_expr *x) {
  gs_dtype from = cg_dtype_of(b, x->kids[0]);
  if (cg_is_integer(x->dtype) && !cg_is_integer(from)) {
    put_saturating(b, x);
    return;
  }
  if (x->dtype == GS_BF16) {
    bs_putf(b->out, "%s(", cg_helper_used(b->e, CG_BF16_TO_F32));
    cg_put_rounded(b, (uint32_t)(x - b->stmt->exprs));
    bs_putc(b->out, ')');
    return;
  }
  bs_putf(b->out, "(%s)",
          cg_is_integer(x->dtype) ? gs_dtype_table[x->dtype].c_type
                                  : cg_compute_type(x->dtype));
  cg_put_kid(b, x->kids[0]);
}

static void
put_floor(const cg_body *b, const po_expr *x) {
  if (cg_is_integer(x->dtype))
    cg_put_kid(b, x->kids[0]);
  else
    put_math(b, x, "floor");
}

void
cg_put_unary(const cg_body *b, const po_expr *x) {
  switch (gs_compute_table[x->op].form) {
  case GS_FORM_NEGATE:
    put_negated(b, x);
    return;
  case GS_FORM_ABS:
    put_abs(b, x);
    return;
  case GS_FORM_RELU:
    put_with_literal(b, x, GS_C_MAX, 0);
    return;
  case GS_FORM_FLOOR:
    put_floor(b, x);
    return;
  case GS_FORM_SQUARE:
    put_square(b, x);
    return;
  case GS_FORM_CLIP:
    put_clip(b, x);
    return;
  case GS_FORM_SCALE:
    put_scale(b, x, GS_C_MUL);
    return;
  case GS_FORM_OFFSET:
    put_scale(b, x, GS_C_ADD);
    return;
  case GS_FORM_FUNCTION:
    put_text(b, x);
    return;
  case GS_FORM_NONE:
    break;
  }
  if (x->op == GS_C_CAST)
    put_cast(b, x);
  else
    put_mean(b, x);
}
