/* SPDX-License-Identifier: MIT */
/* slide_lane.c - functions of vectors, whole or lane by lane.
 *
 * A formula of arithmetic that vectors have is written as that.  Of all else
 * compilers make one instruction of a loop over all lanes of an array that lies
 * where a vector does, so what is done to an element is written as it is
 * everywhere else.  It is a union of the two: a copy by memcpy may go through
 * memory in halves, which a load of the whole then waits for.  Vectors are
 * passed by their addresses: by value, those that the processor has no
 * registers for are passed otherwise by each compiler. */
#include "codegen/build/build.h"
#include "codegen/contract/contract.h"
#include "codegen/slide/slide.h"
#include <assert.h>
#include <math.h>

static const po_stmt *
stmt_of(const cg_slide *x, uint32_t k) {
  assert(k < x->e->p->stmts.len);
  return &x->e->p->stmts.data[k];
}

static double
start_of(const cg_slide *x) {
  return stmt_of(x, x->c->init)->exprs[0].literal;
}

bool
cg_has_start(const cg_slide *x) {
  return start_of(x) != 0 || signbit(start_of(x));
}

static bool
has_store(const cg_slide *x) {
  return x->c->store != UINT32_MAX && stmt_of(x, x->c->store)->n_exprs > 1;
}

bool
cg_has_value(const cg_slide *x) {
  return has_store(x) ||
         (x->c->formula != UINT32_MAX && !cg_is_finished_later(x));
}

/* The array `array` of a vector's lanes. */
static void
put_lanes(const cg_slide *x, const char *array, const char *vector) {
  bs_arena *arena = &x->e->arena;
  const char *type = bs_arena_printf(arena, "union { %s_v v; %s t[%u]; }",
                                     x->name, x->type, x->c->lanes);
  const char *name = bs_arena_printf(arena, "%s_lanes", array);
  cg_write_nodes(x->w, cg_make_let(arena, type, name, NULL));
  cg_write(x->w, "%s *const %s = %s_lanes.t;", x->type, array, array);
  if (vector)
    cg_write(x->w, "%s_lanes.v = *%s;", array, vector);
}

static void
put_loop(const cg_slide *x, int64_t width) {
  assert(width >= 1);
  cg_write(x->w, "for (int t = 0; t < %lld; t++) {", (long long)width);
}

static void
put_value(const cg_slide *x, const char *to, const cg_expr *value) {
  cg_write_store(x->w, to, value);
}

static void
put_end(const cg_slide *x) {
  cg_write(x->w, "}");
  cg_write(x->w, "*s = a_lanes.v;");
  cg_close_function(x->e, x->w);
}

static void
put_start(const cg_slide *x) {
  cg_write(x->w, "static inline void\n%s_start(%s_v *s) {", x->name, x->name);
  put_lanes(x, "a", NULL);
  put_loop(x, x->c->lanes);
  put_value(x, "a[t]", cg_make_literal(x->e, x->c->dtype, start_of(x)));
  put_end(x);
}

/* ---- the body ---- */

static bool
is_x(const cg_slide *x, const po_expr *e) {
  return e->array == x->c->x.array &&
         isl_pw_multi_aff_plain_is_equal(e->index, x->c->x.index) ==
             isl_bool_true;
}

/* The update as one expression: what it reads, what it updates. */
static const cg_expr *
fold_of(const cg_slide *x) {
  bs_arena *arena = &x->e->arena;
  const po_stmt *s = stmt_of(x, x->c->update);
  po_stmt whole = *s;
  po_expr *exprs = BS_NEWS(arena, po_expr, s->n_exprs + 2);
  const cg_expr **places = BS_NEWS(arena, const cg_expr *, s->n_exprs + 2);
  for (uint32_t k = 0; k < s->n_exprs; k++) {
    exprs[k] = s->exprs[k];
    bool is_weight = s->exprs[k].kind == PO_READ && !is_x(x, &s->exprs[k]);
    places[k] = cg_quote(arena, is_weight ? "w[t]" : "b[t]");
  }
  uint32_t n = s->n_exprs;
  exprs[n] =
      (po_expr){.kind = PO_READ, .dtype = x->c->dtype, .array = s->array};
  places[n] = cg_quote(arena, "a[t]");
  exprs[n + 1] = (po_expr){.kind = PO_BINARY,
                           .dtype = x->c->dtype,
                           .op = s->op,
                           .n_kids = 2,
                           .kids = {n, n - 1}};
  whole.exprs = exprs;
  whole.n_exprs = n + 2;
  return cg_make_formula(x->e, &whole, places);
}

static void
put_fold(const cg_slide *x) {
  bool weights = cg_has_weights(x);
  cg_write(x->w, "static inline void\n%s_fold(%s_v *s, const %s_v *p%s%s%s) {",
           x->name, x->name, x->name, weights ? ", const " : "",
           weights ? x->name : "", weights ? "_v *q" : "");
  put_lanes(x, "a", "s");
  put_lanes(x, "b", "p");
  if (weights)
    put_lanes(x, "w", "q");
  put_loop(x, x->c->lanes);
  put_value(x, "a[t]", fold_of(x));
  put_end(x);
}

/* ---- the formula ---- */

static const cg_expr *const *
places_of(const cg_slide *x, const po_stmt *s) {
  bs_arena *arena = &x->e->arena;
  const po_slide *c = x->c;
  const cg_expr **out = cg_places(x->e, s, cg_quote(arena, "a[t]"));
  if (s != stmt_of(x, c->store == UINT32_MAX ? c->update : c->store))
    for (uint32_t k = 0; k < c->n_extras; k++)
      out[c->extras[k].expr] = cg_extra(
          x->e, k, cg_scaled(arena, c->extra[k].factor[c->along], "t"));
  return out;
}

/* Lanes behind the end of a row are computed with the others, as loops over all
 * lanes are one instruction of each operation, and those over 7 of 8 are not:
 * if nothing beside them is read, and no value of theirs can do harm. */
static bool
may_fill_lanes(const cg_slide *x) {
  for (uint32_t k = 0; k < cg_extras_of_tile(x); k++)
    if (x->c->extra[k].factor[x->c->along])
      return false;
  return x->c->dtype != GS_I32;
}

bool
cg_counts_lanes(const cg_slide *x) {
  return x->uneven && !may_fill_lanes(x);
}

/* ---- the formula of whole vectors ---- */

/* The two steps of a formula, in their order; UINT32_MAX: there is none. */
static void
find_steps(const cg_slide *x, uint32_t steps[2]) {
  steps[0] = has_store(x) ? x->c->store : UINT32_MAX;
  steps[1] = cg_is_finished_later(x) ? UINT32_MAX : x->c->formula;
}

/* A step, of the vector `own`. */
static const cg_expr *
step_of(const cg_slide *x, uint32_t step, const char *own) {
  bs_arena *arena = &x->e->arena;
  const po_slide *c = x->c;
  const po_stmt *s = stmt_of(x, step);
  const cg_expr **out = cg_places(x->e, s, cg_name(arena, own));
  if (step == c->formula)
    for (uint32_t k = 0; k < c->n_extras; k++)
      out[c->extras[k].expr] =
          cg_name(arena, bs_arena_printf(arena, "e_%u", k));
  return cg_make_formula(x->e, s, out);
}

/* One element for all lanes, or one for each of a vector that is full. */
static bool
can_load_extras(const cg_slide *x) {
  for (uint32_t k = 0; k < cg_extras_of_tile(x); k++) {
    int64_t along = x->c->extra[k].factor[x->c->along];
    const po_array *a = &x->e->p->arrays.data[x->c->extras[k].array];
    bool full = !x->uneven && x->width == x->c->lanes;
    if (a->dtype != x->c->dtype || (along != 0 && (along != 1 || !full)))
      return false;
  }
  return true;
}

static bool
is_of_vectors(const cg_slide *x) {
  uint32_t steps[2];
  find_steps(x, steps);
  bool all = !x->e->p->strict_fp && can_load_extras(x) &&
             cg_is_register(x->c->lanes, x->c->dtype);
  for (uint32_t k = 0; k < 2 && all; k++)
    all = steps[k] == UINT32_MAX ||
          cg_is_of_vectors(x->e, x->c->dtype, step_of(x, steps[k], "s"));
  return all;
}

static void
put_vectors(const cg_slide *x) {
  uint32_t steps[2];
  cg_vectors v = {.e = x->e,
                  .w = x->w,
                  .name = x->name,
                  .dtype = x->c->dtype,
                  .lanes = x->c->lanes};
  const char *own = "r";
  find_steps(x, steps);
  cg_write(x->w, "const %s_v r = *s;", x->name);
  for (uint32_t k = 0; k < cg_extras_of_tile(x); k++)
    if (x->c->extra[k].factor[x->c->along])
      cg_write(x->w, "const %s_v e_%u = *(const %s_v *)e%u;", x->name, k,
               x->name, k);
    else
      cg_write(x->w, "const %s_v e_%u = *e%u - (%s_v){0};", x->name, k, k,
               x->name);
  for (uint32_t k = 0; k < 2; k++)
    if (steps[k] != UINT32_MAX)
      own = cg_put_of_vectors(&v, step_of(x, steps[k], own));
  cg_write(x->w, "*s = %s;", own);
}

/* ---- the formula, lane by lane ---- */

static void
put_lane_by_lane(const cg_slide *x) {
  uint32_t steps[2];
  find_steps(x, steps);
  put_lanes(x, "a", "s");
  if (may_fill_lanes(x))
    put_loop(x, x->c->lanes);
  else if (cg_counts_lanes(x))
    cg_write(x->w, "for (int t = 0; t < n; t++) {");
  else
    put_loop(x, x->width);
  for (uint32_t k = 0; k < 2; k++)
    if (steps[k] != UINT32_MAX) {
      const po_stmt *s = stmt_of(x, steps[k]);
      put_value(x, "a[t]", cg_make_formula(x->e, s, places_of(x, s)));
    }
  cg_write(x->w, "}");
  cg_write(x->w, "*s = a_lanes.v;");
}

static void
put_formula(const cg_slide *x) {
  cg_add(x->w, "static inline void\n%s_value(%s_v *s%s", x->name, x->name,
         cg_counts_lanes(x) ? ", int n" : "");
  for (uint32_t k = 0; k < cg_extras_of_tile(x); k++)
    cg_add(x->w, ", const %s *restrict e%u", cg_extra_type(x, k), k);
  cg_write(x->w, ") {");
  if (is_of_vectors(x))
    put_vectors(x);
  else
    put_lane_by_lane(x);
  cg_close_function(x->e, x->w);
}

void
cg_put_lane_functions(const cg_slide *x) {
  if (cg_has_start(x))
    put_start(x);
  if (x->c->body == PO_SLIDE_OTHER)
    put_fold(x);
  if (cg_has_value(x))
    put_formula(x);
}
