/* SPDX-License-Identifier: MIT */
/* finish.c - the formula, of sums that are still in registers.
 *
 * A formula of sums, products, quotients and extremes is arithmetic of whole
 * vectors: each of its steps is a named vector, made of the ones before.  Sums
 * that go to memory first and come back for the formula cost as much as a
 * short product does.  What calls a function, and what else reads elements that
 * are neither one for all columns nor side by side, is left to formula.c. */
#include "base/vec.h"
#include "codegen/build/build.h"
#include "codegen/contract/contract.h"

/* What the formula calls, as macros of whole vectors. */
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

/* ---- the formula with vectors in the place of elements ---- */

static const cg_expr *
formula_of(const cg_contract *x) {
  bs_arena *arena = &x->e->arena;
  const po_stmt *s = &x->e->p->stmts.data[x->c->formula];
  const cg_expr **places = cg_places(x->e, s, cg_name(arena, "s"));
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    places[x->c->extras[k].expr] =
        cg_name(arena, bs_arena_printf(arena, "e_%u", k));
  return cg_make_formula(x->e, s, places);
}

/* The formula and all that it is made of, operands first, in their order. */
typedef BS_VEC(const cg_expr *) parts;

static parts
parts_of(const cg_contract *x) {
  bs_heap *heap = x->e->heap;
  parts out = {0}, open = {0};
  bs_push(heap, &open, formula_of(x));
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

static bool
formula_is_of_vectors(const cg_contract *x) {
  parts of = parts_of(x);
  bool all = true;
  for (uint32_t k = 0; k < of.len; k++)
    all &= is_of_vectors(of.data[k]);
  bs_vec_done(x->e->heap, &of);
  return all;
}

/* From lane to lane of a vector of sums. */
static gs_number
lane_stride(const cg_contract *x, uint32_t extra, bool down) {
  return cg_last_stride(&x->c->dims[down ? PO_DIM_M : PO_DIM_N], extra);
}

static bool
can_load_extras(const cg_contract *x) {
  for (uint32_t k = 0; k < x->c->n_extras; k++) {
    gs_number step = lane_stride(x, k, cg_stores_turned(x));
    const po_array *a = &x->e->p->arrays.data[x->c->extras[k].array];
    if (a->dtype != x->c->dtype || (step != 0 && step != 1))
      return false;
  }
  return true;
}

bool
cg_finishes_in_registers(const cg_contract *x) {
  return cg_has_formula(x) && !x->e->p->strict_fp && cg_fits_register(x) &&
         (x->c->dtype == GS_F32 || x->c->dtype == GS_F64) &&
         can_load_extras(x) && formula_is_of_vectors(x);
}

/* A compiler may warn of functions that none of what it sees calls. */
void
cg_put_not_called(const cg_contract *x) {
  parts of = parts_of(x);
  for (size_t k = 0; k < sizeof extremes / sizeof *extremes; k++)
    for (uint32_t i = 0; i < of.len; i++)
      if (of.data[i]->kind == CG_CALLED &&
          cg_helper_named(of.data[i]->text) == extremes[k].function) {
        cg_write(x->w, "(void)%s;", cg_helper_names[extremes[k].function]);
        break;
      }
  bs_vec_done(x->e->heap, &of);
}

/* ---- its steps ---- */

typedef struct steps {
  const cg_contract *x;
  uint32_t n;
  BS_VEC(const char *) values; /* the names of operands to come */
} steps;

static void
put_named(steps *s, const char *value) {
  bs_arena *arena = &s->x->e->arena;
  const char *name = bs_arena_printf(arena, "f%u", s->n++);
  cg_write(s->x->w, "const %s_v %s = %s;", s->x->name, name, value);
  bs_push(s->x->e->heap, &s->values, name);
}

static void
put_infix(steps *s, const cg_expr *e) {
  bs_arena *arena = &s->x->e->arena;
  s->values.len -= e->n;
  const char *const *operands = s->values.data + s->values.len;
  const char *value = operands[0];
  for (uint32_t k = 1; k < e->n; k++)
    value =
        bs_arena_printf(arena, "%s %s %s", value, cg_sign(e->op), operands[k]);
  put_named(s, value);
}

static void
put_extreme(steps *s, const cg_expr *e) {
  const cg_contract *x = s->x;
  bool eight = x->c->lanes == 8 && x->c->dtype == GS_F32;
  const char *b = bs_pop(&s->values), *a = bs_pop(&s->values);
  put_named(s, bs_arena_printf(&x->e->arena, "%s%s(%s_v, %s, %s)", macro_of(e),
                               eight ? "8" : "", x->name, a, b));
}

/* Declares what the part is, of the operands before it. */
static void
put_step(steps *s, const cg_expr *e) {
  bs_arena *arena = &s->x->e->arena;
  switch (e->kind) {
  case CG_NAME:
    bs_push(s->x->e->heap, &s->values, e->text);
    break;
  case CG_LITERAL:
    put_named(s, bs_arena_printf(arena, "(%s_v){0} + %s", s->x->name, e->text));
    break;
  case CG_PREFIX:
    put_named(s, bs_arena_printf(arena, "-%s", bs_pop(&s->values)));
    break;
  case CG_INFIX:
    put_infix(s, e);
    break;
  case CG_CALLED:
    put_extreme(s, e);
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

/* What else the formula reads beside the sums `at`; one for all lanes is that
 * less zero, which compilers know to be the same. */
static void
put_extra(const cg_contract *x, uint32_t k, const cg_sums *at) {
  gs_number along = lane_stride(x, k, at->down);
  const char *name = bs_arena_printf(&x->e->arena, "e_%u", k);
  const char *place = bs_arena_printf(
      &x->e->arena, "e%u + %s", k,
      cg_place_text(x, at->row, cg_last_stride(&x->c->dims[PO_DIM_M], k),
                    at->column, cg_last_stride(&x->c->dims[PO_DIM_N], k)));
  if (!along) {
    cg_write(x->w, "const %s_v %s = *(%s) - (%s_v){0};", x->name, name, place,
             x->name);
  } else if (at->ragged) {
    cg_put_get(x, name, place);
  } else if (at->width < x->c->lanes) {
    cg_write(x->w, "%s_v %s = {0};", x->name, name);
    cg_put_part(x, name, place, CG_SUMS_LOAD, at->width);
  } else {
    cg_write(x->w, "const %s_v %s = *(const %s_v *)(%s);", x->name, name,
             x->name, place);
  }
}

void
cg_put_finish(const cg_contract *x, const char *sums, const cg_sums *at) {
  steps s = {.x = x};
  parts of = parts_of(x);
  cg_write(x->w, "{");
  cg_write(x->w, "const %s_v s = %s;", x->name, sums);
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    put_extra(x, k, at);
  for (uint32_t k = 0; k < of.len; k++)
    put_step(&s, of.data[k]);
  cg_write(x->w, "%s = %s;", sums, bs_pop(&s.values));
  cg_write(x->w, "}");
  bs_vec_done(x->e->heap, &s.values);
  bs_vec_done(x->e->heap, &of);
}

/* Lines along which it has an element for each sum: the products take long
 * enough for them to come from a far cache. */
static void
put_extra_prefetches(const cg_contract *x, uint32_t k, cg_panel panel) {
  gs_number row = cg_last_stride(&x->c->dims[PO_DIM_M], k);
  gs_number column = cg_last_stride(&x->c->dims[PO_DIM_N], k);
  int64_t line = x->c->cache_line / gs_dtype_table[x->c->dtype].bytes;
  bool down = cg_stores_turned(x);
  if (!row || !column || lane_stride(x, k, down) != 1)
    return;
  int64_t down_by = down ? line : 1, across_by = down ? 1 : line;
  for (int64_t r = 0; r < panel.rows; r += down_by)
    for (int64_t at = 0; at < panel.columns; at += across_by)
      cg_write(x->w, "GLEN_AHEAD(e%u + %s, 0);", k,
               cg_place_text(x, r, row, at, column));
}

void
cg_put_extra_prefetches(const cg_contract *x, cg_panel panel) {
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    put_extra_prefetches(x, k, panel);
}
