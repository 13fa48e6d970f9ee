/* SPDX-License-Identifier: MIT */
/* vectors.c - a formula of elements as arithmetic of whole vectors. */
#include "codegen/contract/vectors.h"
#include "base/vec.h"
#include "codegen/above/above.h"
#include <assert.h>

/* What a formula calls, as macros of whole vectors. */
static const struct extreme {
  cg_helper function;
  const char *macro;
} extremes[] = {{CG_MAX_F32, "GLEN_LARGER"},
                {CG_MAX_F64, "GLEN_LARGER"},
                {CG_MIN_F32, "GLEN_SMALLER"},
                {CG_MIN_F64, "GLEN_SMALLER"}};

static const char *
macro_of(const cg_expr *e) {
  cg_helper called = cg_helper_named(e->text);
  for (size_t k = 0; k < sizeof extremes / sizeof *extremes; k++)
    if (extremes[k].function == called)
      return extremes[k].macro;
  return NULL;
}

/* The formula and all that it is made of, operands first, in their order. */
typedef BS_VEC(const cg_expr *) parts;

static parts
parts_of(bs_heap *heap, const cg_expr *formula) {
  parts out = {0}, open = {0};
  bs_push(heap, &open, formula);
  while (open.len) {
    const cg_expr *e = bs_pop(&open);
    bs_push(heap, &out, e);
    for (uint32_t k = 0; k < e->n; k++)
      bs_push(heap, &open, e->args[k]);
  }
  for (uint32_t k = 0; k < out.len / 2; k++) {
    const cg_expr *e = out.data[k];
    out.data[k] = out.data[out.len - 1 - k];
    out.data[out.len - 1 - k] = e;
  }
  bs_vec_done(heap, &open);
  return out;
}

static bool
is_of_vectors(const cg_expr *e) {
  switch (e->kind) {
  case CG_NAME:
  case CG_LITERAL:
  case CG_PAREN:
    return true;
  case CG_PREFIX:
    return e->op == CG_OP_NEGATE;
  case CG_INFIX:
    return cg_level(e) == CG_LEVEL_ADD || cg_level(e) == CG_LEVEL_MUL;
  case CG_CALLED:
    return macro_of(e);
  case CG_NUMBER:
  case CG_CAST:
  case CG_ELEMENT:
  case CG_CHOICE:
  case CG_POSTFIX:
  case CG_BRACES:
  case CG_BROKEN:
    break;
  }
  return false;
}

bool
cg_is_of_vectors(cg_emitter *e, gs_dtype dtype, const cg_expr *formula) {
  assert(dtype < GS_DTYPE_COUNT);
  parts of = parts_of(e->heap, formula);
  bool all = dtype == GS_F32 || dtype == GS_F64;
  for (uint32_t k = 0; k < of.len; k++)
    all &= is_of_vectors(of.data[k]);
  bs_vec_done(e->heap, &of);
  return all;
}

void
cg_put_not_called(const cg_vectors *v, const cg_expr *formula) {
  parts of = parts_of(v->e->heap, formula);
  for (size_t k = 0; k < sizeof extremes / sizeof *extremes; k++)
    for (uint32_t i = 0; i < of.len; i++)
      if (of.data[i]->kind == CG_CALLED &&
          cg_helper_named(of.data[i]->text) == extremes[k].function) {
        cg_write(v->w, "(void)%s;", cg_helper_names[extremes[k].function]);
        break;
      }
  bs_vec_done(v->e->heap, &of);
}

/* ---- its steps ---- */

/* The names of operands to come. */
typedef BS_VEC(const char *) names;

static void
put_named(cg_vectors *v, names *values, const char *value) {
  const char *name = bs_arena_printf(&v->e->arena, "f%u", v->n++);
  cg_write(v->w, "const %s_v %s = %s;", v->name, name, value);
  bs_push(v->e->heap, values, name);
}

static void
put_infix(cg_vectors *v, names *values, const cg_expr *e) {
  bs_arena *arena = &v->e->arena;
  values->len -= e->n;
  const char *const *operands = values->data + values->len;
  const char *value = operands[0];
  for (uint32_t k = 1; k < e->n; k++)
    value =
        bs_arena_printf(arena, "%s %s %s", value, cg_sign(e->op), operands[k]);
  put_named(v, values, value);
}

static void
put_extreme(cg_vectors *v, names *values, const cg_expr *e) {
  bool eight = v->lanes == 8 && v->dtype == GS_F32;
  const char *b = bs_pop(values), *a = bs_pop(values);
  put_named(v, values,
            bs_arena_printf(&v->e->arena, "%s%s(%s_v, %s, %s)", macro_of(e),
                            eight ? "8" : "", v->name, a, b));
}

/* Declares what the part is, of the operands before it. */
static void
put_step(cg_vectors *v, names *values, const cg_expr *e) {
  bs_arena *arena = &v->e->arena;
  switch (e->kind) {
  case CG_NAME:
    bs_push(v->e->heap, values, e->text);
    break;
  case CG_LITERAL:
    /* Less zero, which keeps the sign of a zero. */
    put_named(v, values,
              bs_arena_printf(arena, "%s - (%s_v){0}", e->text, v->name));
    break;
  case CG_PREFIX:
    put_named(v, values, bs_arena_printf(arena, "-%s", bs_pop(values)));
    break;
  case CG_INFIX:
    put_infix(v, values, e);
    break;
  case CG_CALLED:
    put_extreme(v, values, e);
    break;
  case CG_PAREN: /* is what is in it */
  case CG_NUMBER:
  case CG_CAST:
  case CG_ELEMENT:
  case CG_CHOICE:
  case CG_POSTFIX:
  case CG_BRACES:
  case CG_BROKEN:
    break;
  }
}

const char *
cg_put_of_vectors(cg_vectors *v, const cg_expr *formula) {
  names values = {0};
  parts of = parts_of(v->e->heap, formula);
  for (uint32_t k = 0; k < of.len; k++)
    put_step(v, &values, of.data[k]);
  const char *last = bs_pop(&values);
  bs_vec_done(v->e->heap, &values);
  bs_vec_done(v->e->heap, &of);
  return last;
}
