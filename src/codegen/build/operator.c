/* SPDX-License-Identifier: MIT */
/* operator.c - operators and literals as expressions.
 *
 * A value of a dtype is computed in a C type of its own: f32 and floats of 16
 * bits in float, f64 in double, wide integers in int64_t, others in int32_t or,
 * wrapped after every operator, in their own type.  No expression has undefined
 * behaviour: 32-bit arithmetic is unsigned inside helpers. */
#include "codegen/build/body.h"
#include <assert.h>
#include <math.h>

/* float, double or int32_t */
static const char *
compute_type(gs_dtype dtype) {
  assert(dtype < GS_DTYPE_COUNT);
  return dtype == GS_F64                        ? "double"
         : dtype == GS_F32 || gs_is_half(dtype) ? "float"
         : gs_is_wide(dtype)                    ? "int64_t"
                                                : "int32_t";
}

/* ---- literals ---- */

static void
put_integer(bs_text *out, gs_dtype dtype, double x) {
  if (isinf(x))
    x = (double)(x < 0 ? gs_dtype_least(dtype) : gs_dtype_most(dtype));
  if (x == -2147483648.0)
    bs_put(out, "(-2147483647 - 1)");
  else
    bs_putf(out, "%.0f", x);
}

void
cg_put_literal(bs_text *out, gs_dtype dtype, double x) {
  assert(dtype < GS_DTYPE_COUNT);
  if (cg_is_integer(dtype)) {
    put_integer(out, dtype, x);
    return;
  }
  if (isinf(x) || isnan(x)) {
    bs_put(out, isnan(x) ? "NAN" : x < 0 ? "-INFINITY" : "INFINITY");
    return;
  }
  bs_put_real(out, x);
  bs_put(out, cg_is_double(dtype) ? "" : "f");
}

const cg_expr *
cg_make_literal(cg_emitter *e, gs_dtype dtype, double x) {
  assert(dtype < GS_DTYPE_COUNT);
  bs_text text;
  bs_text_init(&text, e->heap);
  cg_put_literal(&text, dtype, x);
  const char *out = bs_arena_strdup(&e->arena, bs_text_str(&text));
  bs_text_done(&text);
  return cg_literal(&e->arena, out);
}

/* ---- operators ---- */

static const cg_expr *
make_call(const cg_body *b, cg_helper helper, uint32_t kid) {
  return cg_make_helper(b, helper, cg_make_value(b, kid), NULL);
}

/* Narrow integers: whatever was computed in int, wrapped. */
static const cg_expr *
wrapped(const cg_body *b, gs_dtype dtype, const cg_expr *value) {
  if (!gs_is_narrow(dtype) || dtype == GS_BOOL)
    return value;
  return cg_cast(&b->e->arena, gs_dtype_table[dtype].c_type,
                 cg_paren(&b->e->arena, value));
}

cg_op
cg_infix_of_compute(gs_compute op) {
  assert(op < GS_COMPUTE_COUNT);
  switch (gs_compute_table[op].fold) {
  case GS_FOLD_ADD:
    return CG_OP_ADD;
  case GS_FOLD_SUB:
    return CG_OP_SUBTRACT;
  case GS_FOLD_MUL:
    return CG_OP_MULTIPLY;
  case GS_FOLD_DIV:
    return CG_OP_DIVIDE;
  case GS_FOLD_MAX:
  case GS_FOLD_MIN:
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  return CG_OP_NONE;
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
    return gs_is_wide(dtype)      ? CG_MAX_I64
           : cg_is_integer(dtype) ? CG_MAX_I32
           : cg_is_double(dtype)  ? CG_MAX_F64
                                  : CG_MAX_F32;
  case GS_FOLD_MIN:
    return gs_is_wide(dtype)      ? CG_MIN_I64
           : cg_is_integer(dtype) ? CG_MIN_I32
           : cg_is_double(dtype)  ? CG_MIN_F64
                                  : CG_MIN_F32;
  case GS_FOLD_NONE:
  case GS_FOLD_COUNT:
    break;
  }
  assert(!"an operator that folds");
  return CG_ADD_I32;
}

/* Products and sums of two narrow integers stay within int, but for products of
 * u16; a quotient by zero needs its helper. */
static bool
needs_helper(gs_compute op, gs_dtype dtype) {
  if (op == GS_C_MAX || op == GS_C_MIN)
    return true;
  return dtype == GS_I32 || (cg_is_integer(dtype) && op == GS_C_DIV) ||
         (dtype == GS_U16 && op == GS_C_MUL);
}

static const cg_expr *
make_side(const cg_body *b, gs_dtype dtype, cg_side s, bool bare) {
  if (s.kind == SIDE_LITERAL)
    return cg_make_literal(b->e, dtype, s.literal);
  if (s.kind == SIDE_TARGET)
    return cg_make_target_value(b);
  return bare ? cg_make_value(b, s.expr) : cg_make_kid(b, s.expr);
}

const cg_expr *
cg_make_binary(const cg_body *b, gs_compute op, gs_dtype dtype, cg_side first,
               cg_side second) {
  assert(op < GS_COMPUTE_COUNT && dtype < GS_DTYPE_COUNT);
  bool helper = needs_helper(op, dtype);
  const cg_expr *x = make_side(b, dtype, first, helper);
  const cg_expr *y = make_side(b, dtype, second, helper);
  return wrapped(b, dtype,
                 helper
                     ? cg_make_helper(b, helper_of(op, dtype), x, y)
                     : cg_infix(&b->e->arena, cg_infix_of_compute(op), x, y));
}

static const cg_expr *
make_math(const cg_body *b, const po_expr *x, const char *function) {
  const cg_expr *arg = cg_make_value(b, x->kids[0]);
  const char *name = bs_arena_printf(&b->e->arena, "%s%s", function,
                                     cg_is_double(x->dtype) ? "" : "f");
  return cg_called(&b->e->arena, name, 1, &arg);
}

/* op(kid, literal) with the literal in the dtype of the node. */
static const cg_expr *
make_with_literal(const cg_body *b, const po_expr *x, gs_compute op,
                  double literal) {
  return cg_make_binary(b, op, x->dtype, (cg_side){.expr = x->kids[0]},
                        (cg_side){.kind = SIDE_LITERAL, .literal = literal});
}

static double
parameter(const cg_body *b, const po_expr *x, uint32_t k) {
  const bs_values *values = b->e->p->ctx.values;
  return bs_as_real(values, gs_compute_param(values, x->param, k));
}

/* Wraps to 32 bits what need not fit the narrow dtype before it is applied. */
static const cg_expr *
make_scale(const cg_body *b, const po_expr *x, gs_compute op) {
  po_expr wide = *x;
  double v = parameter(b, x, 0);
  if (!cg_is_integer(x->dtype) || x->dtype == GS_I32)
    return make_with_literal(b, x, op, v);
  wide.dtype = GS_I32;
  return wrapped(b, x->dtype, make_with_literal(b, &wide, op, v));
}

static const cg_expr *
make_clip(const cg_body *b, const po_expr *x) {
  gs_dtype dtype = x->dtype;
  return cg_make_helper(b, helper_of(GS_C_MIN, dtype),
                        make_with_literal(b, x, GS_C_MAX, parameter(b, x, 0)),
                        cg_make_literal(b->e, dtype, parameter(b, x, 1)));
}

static const cg_expr *
make_negated(const cg_body *b, const po_expr *x) {
  bs_arena *arena = &b->e->arena;
  if (x->dtype == GS_I32)
    return cg_make_helper(b, CG_SUB_I32, cg_number(arena, 0),
                          cg_make_value(b, x->kids[0]));
  return wrapped(b, x->dtype,
                 cg_prefix(arena, CG_OP_NEGATE, cg_make_kid(b, x->kids[0])));
}

static const cg_expr *
make_abs(const cg_body *b, const po_expr *x) {
  if (!cg_is_integer(x->dtype))
    return make_math(b, x, "fabs");
  return wrapped(b, x->dtype, make_call(b, CG_ABS_I32, x->kids[0]));
}

static const cg_expr *
make_square(const cg_body *b, const po_expr *x) {
  cg_helper helper = cg_is_integer(x->dtype)  ? CG_SQUARE_I32
                     : cg_is_double(x->dtype) ? CG_SQUARE_F64
                                              : CG_SQUARE_F32;
  return wrapped(b, x->dtype, make_call(b, helper, x->kids[0]));
}

static const cg_expr *
make_mean_of_sizes(const cg_body *b, const po_expr *x, const cg_expr *sum) {
  bs_arena *arena = &b->e->arena;
  bool whole = cg_is_integer(x->dtype);
  const char *type = whole                    ? "int64_t"
                     : cg_is_double(x->dtype) ? "double"
                                              : "float";
  const cg_expr *count =
      cg_cast(arena, type, cg_paren(arena, cg_make_number(b->e, x->by)));
  if (!whole)
    return cg_infix(arena, CG_OP_DIVIDE, sum, count);
  const cg_expr *mean =
      cg_infix(arena, CG_OP_DIVIDE, cg_cast(arena, type, sum), count);
  return cg_cast(arena, "int32_t", cg_paren(arena, mean));
}

/* Sums are divided in 64 bits: the count need not fit in 32. */
static const cg_expr *
make_mean(const cg_body *b, const po_expr *x) {
  bs_arena *arena = &b->e->arena;
  const cg_expr *sum = cg_make_kid(b, x->kids[0]);
  if (x->by)
    return make_mean_of_sizes(b, x, sum);
  if (!cg_is_integer(x->dtype))
    return cg_infix(arena, CG_OP_DIVIDE, sum,
                    cg_make_literal(b->e, x->dtype, x->literal));
  const char *count = bs_arena_printf(arena, "INT64_C(%.0f)", x->literal);
  const cg_expr *mean =
      cg_infix(arena, CG_OP_DIVIDE, cg_cast(arena, "int64_t", sum),
               cg_literal(arena, count));
  return cg_cast(arena, "int32_t", cg_paren(arena, mean));
}

/* ---- casts ---- */

gs_dtype
cg_dtype_of(const cg_body *b, uint32_t kid) {
  assert(kid < b->stmt->n_exprs);
  return b->stmt->exprs[kid].dtype;
}

static const cg_expr *
make_saturating(const cg_body *b, const po_expr *x) {
  static const cg_helper helpers[GS_DTYPE_COUNT] = {
      [GS_I8] = CG_F64_TO_I8,   [GS_U8] = CG_F64_TO_U8,
      [GS_I16] = CG_F64_TO_I16, [GS_U16] = CG_F64_TO_U16,
      [GS_I32] = CG_F64_TO_I32, [GS_I64] = CG_F64_TO_I64,
      [GS_U32] = CG_F64_TO_U32};
  return make_call(b, helpers[x->dtype], x->kids[0]);
}

/* The helpers of generated C for floats that are kept as their bits. */
static const struct {
  cg_helper widen, round, round_wide;
} halves[GS_DTYPE_COUNT] = {
#define FULL(id)
#define HALF(id) [GS_##id] = {CG_##id##_TO_F32, CG_F32_TO_##id, CG_F64_TO_##id},
#define X(id, name, bytes, ctype, integer, sign, digits, exponent, storage,    \
          ...)                                                                 \
  storage(id)
    GS_DTYPES(X)
#undef X
#undef HALF
#undef FULL
};

cg_helper
cg_widening(gs_dtype half) {
  assert(gs_is_half(half));
  return halves[half].widen;
}

cg_helper
cg_rounding(gs_dtype half, bool wide) {
  assert(gs_is_half(half));
  return wide ? halves[half].round_wide : halves[half].round;
}

/* Bits of a float of 16 bits, rounded once from the value of this expression.
 */
const cg_expr *
cg_make_rounded(const cg_body *b, uint32_t k, gs_dtype to) {
  assert(k < b->stmt->n_exprs && gs_is_half(to));
  const po_expr *x = &b->stmt->exprs[k];
  bool cast = x->kind == PO_UNARY && x->op == GS_C_CAST;
  uint32_t value = cast ? x->kids[0] : k;
  gs_dtype from = cg_dtype_of(b, value);
  bool wide = from == GS_F64 || from == GS_I32 || gs_is_wide(from);
  return make_call(b, cg_rounding(to, wide), value);
}

/* Anything but 0, a NaN as well. */
static const cg_expr *
make_truth(const cg_body *b, const po_expr *x) {
  bs_arena *arena = &b->e->arena;
  const cg_expr *is = cg_infix(arena, CG_OP_NOT_EQUAL,
                               cg_make_kid(b, x->kids[0]), cg_number(arena, 0));
  return cg_cast(arena, "int32_t", cg_paren(arena, is));
}

static const cg_expr *
make_cast(const cg_body *b, const po_expr *x) {
  gs_dtype from = cg_dtype_of(b, x->kids[0]);
  if (x->dtype == GS_BOOL)
    return make_truth(b, x);
  if (cg_is_integer(x->dtype) && !cg_is_integer(from))
    return make_saturating(b, x);
  if (gs_is_half(x->dtype))
    return cg_make_helper(
        b, cg_widening(x->dtype),
        cg_make_rounded(b, (uint32_t)(x - b->stmt->exprs), x->dtype), NULL);
  return cg_cast(&b->e->arena,
                 cg_is_integer(x->dtype) ? gs_dtype_table[x->dtype].c_type
                                         : compute_type(x->dtype),
                 cg_make_kid(b, x->kids[0]));
}

static const cg_expr *
make_floor(const cg_body *b, const po_expr *x) {
  return cg_is_integer(x->dtype) ? cg_make_kid(b, x->kids[0])
                                 : make_math(b, x, "floor");
}

const cg_expr *
cg_make_unary(const cg_body *b, const po_expr *x) {
  assert(x->kind == PO_UNARY && x->op < GS_COMPUTE_COUNT);
  switch (gs_compute_table[x->op].form) {
  case GS_FORM_NEGATE:
    return make_negated(b, x);
  case GS_FORM_ABS:
    return make_abs(b, x);
  case GS_FORM_RELU:
    return make_with_literal(b, x, GS_C_MAX, 0);
  case GS_FORM_FLOOR:
    return make_floor(b, x);
  case GS_FORM_SQUARE:
    return make_square(b, x);
  case GS_FORM_CLIP:
    return make_clip(b, x);
  case GS_FORM_SCALE:
    return make_scale(b, x, GS_C_MUL);
  case GS_FORM_OFFSET:
    return make_scale(b, x, GS_C_ADD);
  case GS_FORM_FUNCTION:
    return cg_make_pattern(b, gs_compute_table[x->op].c, x->dtype, x->kids[0]);
  case GS_FORM_NONE:
    break;
  }
  return x->op == GS_C_CAST ? make_cast(b, x) : make_mean(b, x);
}
