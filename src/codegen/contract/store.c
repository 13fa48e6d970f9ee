/* SPDX-License-Identifier: MIT */
/* store.c - a kernel's sums on their way to memory.
 *
 * A vector holds neighbours along n.  Where those lie side by side in c it is
 * stored as it is; where neighbours along m do, the vectors of a panel are
 * turned over first; else their elements go one by one.  Vectors that go to
 * memory become values of the formula just before, so that what it reads may
 * lie where c does. */
#include "codegen/contract/contract.h"
#include <assert.h>

/* From row to row of c, and from column to column. */
static gs_number
row_stride(const cg_contract *x) {
  return cg_last_stride(&x->c->dims[PO_DIM_M], CG_OF_C);
}

static gs_number
column_stride(const cg_contract *x) {
  return cg_last_stride(&x->c->dims[PO_DIM_N], CG_OF_C);
}

bool
cg_stores_turned(const cg_contract *x) {
  return row_stride(x) == 1 && column_stride(x) != 1 &&
         cg_can_turn(x->c->lanes);
}

static const char *
place_of(const cg_contract *x, int64_t row, int64_t column) {
  return cg_place_text(x, row, row_stride(x), column, column_stride(x));
}

/* ---- vectors ---- */

static void
put_vector(const cg_contract *x, const char *sum, const char *place,
           cg_transfer way, int64_t width) {
  const char *to = bs_arena_printf(&x->e->arena, "c + %s", place);
  if (width < x->c->lanes)
    cg_put_part(x, sum, to, way, width);
  else if (way == CG_SUMS_LOAD)
    cg_write(x->w, "%s = *(%s_v *)(%s);", sum, x->name, to);
  else
    cg_write(x->w, "*(%s_v *)(%s) %s %s;", x->name, to,
             way == CG_SUMS_ADD ? "+=" : "=", sum);
}

/* ---- the ways ---- */

/* Lanes of vector v that are columns of the panel. */
static int64_t
width_of(const cg_contract *x, cg_panel panel, int64_t v) {
  assert(v >= 0 && v * x->c->lanes < panel.columns);
  int64_t width = panel.columns - v * x->c->lanes;
  return width < x->c->lanes ? width : x->c->lanes;
}

static int64_t
vectors_of(const cg_contract *x, cg_panel panel) {
  return (panel.columns + x->c->lanes - 1) / x->c->lanes;
}

/* It may have fewer lanes than it seems. */
static bool
is_ragged(const cg_contract *x, cg_panel panel, int64_t v) {
  return panel.ragged && v + 1 == vectors_of(x, panel);
}

static const char *
sum_name(const cg_contract *x, int64_t r, int64_t v) {
  assert(r >= 0 && v >= 0);
  return bs_arena_printf(&x->e->arena, "s%lld_%lld", (long long)r,
                         (long long)v);
}

static void
put_along_columns(const cg_contract *x, cg_panel panel, cg_transfer way) {
  for (int64_t r = 0; r < panel.rows; r++)
    for (int64_t v = 0; v < vectors_of(x, panel); v++) {
      int64_t column = v * x->c->lanes;
      const char *sum = sum_name(x, r, v), *place = place_of(x, r, column);
      cg_sums at = {r, column, width_of(x, panel, v), false,
                    is_ragged(x, panel, v)};
      if (way == CG_SUMS_FINISH)
        cg_put_finish(x, sum, &at);
      if (at.ragged)
        cg_put_ragged(x, sum, place, way);
      else
        put_vector(x, sum, place, way, at.width);
    }
}

/* What vector v has for one column. */
static void
put_turned_vector(const cg_contract *x, cg_panel panel, int64_t v, cg_sums at,
                  cg_transfer way) {
  const char *name = bs_arena_printf(&x->e->arena, "t%lld",
                                     (long long)(at.column % x->c->lanes));
  if (at.column >= panel.columns) {
    cg_write(x->w, "(void)%s;", name);
    return;
  }
  bool ragged = is_ragged(x, panel, v);
  if (ragged)
    cg_write(x->w, "if (n > %lld) {", (long long)at.column);
  if (way == CG_SUMS_FINISH)
    cg_put_finish(x, name, &at);
  put_vector(x, name, place_of(x, at.row, at.column), way, at.width);
  if (ragged)
    cg_write(x->w, "}");
}

/* Rows first .. of vector v. */
static void
put_turned(const cg_contract *x, cg_panel panel, int64_t v, int64_t first,
           cg_transfer way) {
  assert(first >= 0 && first < panel.rows);
  int64_t lanes = x->c->lanes, rows = panel.rows - first;
  rows = rows < lanes ? rows : lanes;
  cg_write(x->w, "{");
  for (int64_t r = 0; r < lanes; r++)
    cg_write(x->w, "%s_v t%lld = %s;", x->name, (long long)r,
             r < rows ? sum_name(x, first + r, v) : "{0}");
  cg_put_turn(x);
  for (int64_t j = 0; j < lanes; j++) {
    cg_sums at = {first, v * lanes + j, rows, true, false};
    put_turned_vector(x, panel, v, at, way);
  }
  cg_write(x->w, "}");
}

static void
put_along_rows(const cg_contract *x, cg_panel panel, cg_transfer way) {
  for (int64_t v = 0; v < vectors_of(x, panel); v++)
    for (int64_t r = 0; r < panel.rows; r += x->c->lanes)
      put_turned(x, panel, v, r, way);
}

/* Lane t of a vector of sums on its way. */
static void
put_lane(const cg_contract *x, const char *sums, cg_transfer way) {
  bs_arena *arena = &x->e->arena;
  const cg_expr *sum =
      cg_element(arena, cg_name(arena, sums), cg_name(arena, "t"));
  bool ints = x->c->dtype == GS_I32;
  const char *wrap = ints ? "(unsigned)" : "";
  if (way == CG_SUMS_LOAD)
    cg_write(x->w, "%s[t] = %s*at;", sums, wrap);
  else if (way == CG_SUMS_FINISH)
    cg_write_store(x->w, "*at", cg_formula_value(x, sum));
  else
    cg_write(x->w, "*at = %s(%s%s%s[t]);", ints ? "(int32_t)" : "",
             way == CG_SUMS_ADD ? wrap : "", way == CG_SUMS_ADD ? "*at + " : "",
             sums);
}

/* Lane by lane. */
static void
put_lanes(const cg_contract *x, int64_t r, int64_t v, cg_transfer way,
          const char *width) {
  const char *place = place_of(x, r, v * x->c->lanes);
  const char *step = cg_number_text(x, column_stride(x));
  const char *index = x->e->index;
  cg_write(x->w, "for (int t = 0; t < %s; t++) {", width);
  cg_write(x->w, "%s *const at = c + %s + %s * t;", x->type, place, step);
  if (way == CG_SUMS_FINISH)
    cg_write(x->w, "const %s row = %lld, column = %lld + t;", index,
             (long long)r, (long long)(v * x->c->lanes));
  if (way == CG_SUMS_FINISH)
    cg_write(x->w, "(void)row; (void)column;");
  put_lane(x, sum_name(x, r, v), way);
  cg_write(x->w, "}");
}

/* What is left, where that may be less than a vector. */
static const char *
width_text(const cg_contract *x, cg_panel panel, int64_t v) {
  long long column = v * x->c->lanes;
  if (!is_ragged(x, panel, v))
    return bs_arena_printf(&x->e->arena, "%lld",
                           (long long)width_of(x, panel, v));
  return bs_arena_printf(&x->e->arena, "(n < %lld ? n - %lld : %u)",
                         column + x->c->lanes, column, x->c->lanes);
}

static void
put_one_by_one(const cg_contract *x, cg_panel panel, cg_transfer way) {
  for (int64_t r = 0; r < panel.rows; r++)
    for (int64_t v = 0; v < vectors_of(x, panel); v++)
      put_lanes(x, r, v, way, width_text(x, panel, v));
}

/* Sums become values of the formula lane by lane. */
static bool
finishes_lanes(const cg_contract *x, cg_transfer way) {
  return way == CG_SUMS_FINISH && !cg_finishes_in_registers(x);
}

void
cg_put_transfer(const cg_contract *x, cg_panel panel, cg_transfer way) {
  assert(panel.rows > 0 && way <= CG_SUMS_FINISH);
  bool lanes = finishes_lanes(x, way);
  bool turns =
      cg_stores_turned(x) && way != CG_SUMS_LOAD && panel.rows > 1 && !lanes;
  if (column_stride(x) == 1 && !lanes) {
    put_along_columns(x, panel, way);
    return;
  }
  if (turns) {
    cg_write(x->w, "#ifdef GLEN_TURNS");
    put_along_rows(x, panel, way);
    if (way == CG_SUMS_FINISH)
      cg_put_not_finished(x);
    cg_write(x->w, "#else");
  }
  put_one_by_one(x, panel, way);
  if (turns)
    cg_write(x->w, "#endif");
}

void
cg_put_prefetches(const cg_contract *x, cg_panel panel) {
  assert(panel.rows > 0 && panel.columns > 0);
  bool across = column_stride(x) == 1;
  if (panel.ragged) /* of its last vector one column is there for sure */
    panel.columns -= x->c->lanes - 1;
  int64_t lines = across ? panel.rows : panel.columns;
  int64_t length = across ? panel.columns : panel.rows;
  int64_t line = x->c->cache_line / gs_dtype_table[x->c->dtype].bytes;
  for (int64_t k = 0; k < lines; k++)
    for (int64_t at = 0; at < length; at += line)
      cg_write(x->w, "GLEN_PREFETCH(c + %s);",
               across ? place_of(x, k, at) : place_of(x, at, k));
}
