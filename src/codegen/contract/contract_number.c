/* SPDX-License-Identifier: MIT */
/* contract_number.c - extents and distances that are made of sizes.
 *
 * The kernel's function computes each number that is not known once, under a
 * name of its own, as names of sizes may be those of loops; the functions that
 * it calls are passed all of them.  How large the blocks are follows there, so
 * that they are equal as those of known extents are. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "codegen/build/build.h"
#include "codegen/contract/contract.h"
#include <assert.h>
#include <string.h>

gs_number
cg_last_stride(const po_cdims *dims, uint32_t extra) {
  assert(dims->n <= PO_MAX_DIMS);
  const po_cdim *d = dims->n ? &dims->d[dims->n - 1] : NULL;
  return !d ? 0 : extra == CG_OF_C ? d->c : d->extra[extra];
}

static void
note(cg_contract *x, gs_number v) {
  if (!gs_is_sized(v))
    return;
  for (uint32_t k = 0; k < x->n_numbers; k++)
    if (x->numbers[k] == v)
      return;
  if (x->n_numbers == CG_MOST_NUMBERS)
    x->e->failed = true;
  else
    x->numbers[x->n_numbers++] = v;
}

static void
note_dims(cg_contract *x, const po_cdims *dims) {
  for (uint32_t k = 0; k < dims->n; k++) {
    const po_cdim *d = &dims->d[k];
    const gs_number of[] = {d->extent, d->x, d->y, d->c,
                            po_cdims_product(x->over, dims, k)};
    for (uint32_t j = 0; j < sizeof of / sizeof *of; j++)
      note(x, of[j]);
    for (uint32_t e = 0; e < x->c->n_extras; e++)
      note(x, d->extra[e]);
  }
}

static void
note_operand(cg_contract *x, const po_coperand *operand) {
  note(x, operand->base);
  for (uint32_t g = 0; g < operand->n_guards; g++)
    note(x, operand->guards[g].constant);
}

/* Elements of an operand's panels for one step of the outermost k. */
static gs_number
panels_step(const cg_contract *x, bool of_x) {
  int64_t width = of_x ? x->c->mr : x->columns;
  return gs_product(x->over, po_rounded_rows(x->over, x->c, of_x, width),
                    x->inner);
}

static void
note_window(cg_contract *x) {
  gs_number of[CG_MOST_WINDOW_NUMBERS];
  uint32_t n = cg_has_windows(x) ? cg_window_numbers(x, of) : 0;
  for (uint32_t k = 0; k < n; k++)
    note(x, of[k]);
}

void
cg_find_numbers(cg_contract *x) {
  if (!x->sizes)
    return;
  for (uint32_t role = 0; role < 4; role++)
    note_dims(x, &x->c->dims[role]);
  note_operand(x, &x->c->x);
  note_operand(x, &x->c->y);
  note_operand(x, &x->c->c);
  for (uint32_t k = 0; k < x->c->n_extras; k++)
    note(x, x->c->extras[k].base);
  note(x, x->inner);
  note(x, x->c->line);
  note_window(x);
  for (uint32_t k = 0; k < 2; k++)
    if (po_is_packed_whole(k ? x->c->x_mode : x->c->y_mode))
      note(x, panels_step(x, k));
}

/* ---- as C ---- */

const char *
cg_number_text(const cg_contract *x, gs_number v) {
  assert(x->n_numbers <= CG_MOST_NUMBERS);
  for (uint32_t k = 0; k < x->n_numbers; k++)
    if (x->numbers[k] == v)
      return bs_arena_printf(&x->e->arena, "glen_n%u", k);
  if (gs_is_sized(v))
    x->e->failed = true;
  return bs_arena_printf(&x->e->arena, "%lld", (long long)v);
}

const char *
cg_panels_step(const cg_contract *x, bool of_x) {
  return cg_number_text(x, panels_step(x, of_x));
}

const char *
cg_times_text(const cg_contract *x, int64_t by, gs_number v) {
  assert(by >= 0);
  if (!gs_is_sized(v))
    return cg_number_text(x, gs_product(NULL, by, v));
  return bs_arena_printf(&x->e->arena, "%lld * %s", (long long)by,
                         cg_number_text(x, v));
}

const char *
cg_place_text(const cg_contract *x, int64_t row, gs_number row_stride,
              int64_t column, gs_number column_stride) {
  if (!gs_is_sized(row_stride) && !gs_is_sized(column_stride))
    return cg_number_text(x, row * row_stride + column * column_stride);
  return bs_arena_printf(&x->e->arena, "(%s + %s)",
                         cg_times_text(x, row, row_stride),
                         cg_times_text(x, column, column_stride));
}

/* ---- in functions ---- */

/* What the functions are passed: the numbers, and how far elements are apart
 * where the call decides whether operands are packed. */
static uint32_t
list_names(const cg_contract *x, const char *names[CG_MOST_NUMBERS + 3]) {
  uint32_t n = 0;
  for (; n < x->n_numbers; n++)
    names[n] = bs_arena_printf(&x->e->arena, "glen_n%u", n);
  if (x->c->x_may_lie) {
    names[n++] = CG_STEP_OF_X;
    names[n++] = CG_ROW_OF_X;
  }
  if (x->c->y_may_lie)
    names[n++] = CG_STEP_OF_Y;
  return n;
}

static void
put_names(const cg_contract *x, const char *before) {
  const char *names[CG_MOST_NUMBERS + 3];
  uint32_t n = list_names(x, names);
  for (uint32_t k = 0; k < n; k++)
    cg_add(x->w, "%s%s", before, names[k]);
}

void
cg_put_number_parameters(const cg_contract *x) {
  put_names(x, bs_arena_printf(&x->e->arena, ", %s ", x->e->index));
}

void
cg_put_number_arguments(const cg_contract *x) {
  put_names(x, ", ");
}

const char *
cg_number_arguments(const cg_contract *x) {
  const char *names[CG_MOST_NUMBERS + 3], *out = "";
  uint32_t n = list_names(x, names);
  for (uint32_t k = 0; k < n; k++)
    out = bs_arena_printf(&x->e->arena, "%s, %s", out, names[k]);
  return out;
}

void
cg_put_number_uses(const cg_contract *x) {
  const char *names[CG_MOST_NUMBERS + 3];
  uint32_t n = list_names(x, names);
  for (uint32_t k = 0; k < n; k++)
    cg_write(x->w, "(void)%s;", names[k]);
}

bool
cg_is_told_sizes(const cg_contract *x, bool of_x) {
  return (of_x ? x->c->x_mode : x->c->y_mode) != PO_BEFORE;
}

void
cg_put_side_number_parameters(const cg_contract *x, bool of_x) {
  if (cg_is_told_sizes(x, of_x))
    cg_put_number_parameters(x);
}

const char *
cg_side_number_arguments(const cg_contract *x, bool of_x) {
  return cg_is_told_sizes(x, of_x) ? cg_number_arguments(x) : "";
}

void
cg_put_side_number_uses(const cg_contract *x, bool of_x) {
  if (cg_is_told_sizes(x, of_x))
    cg_put_number_uses(x);
}

static const char *
extent_of_k(const cg_contract *x) {
  return cg_number_text(x, x->c->dims[PO_DIM_K].d[0].extent);
}

/* ---- operands that may be read where they lie ---- */

static void
put_lying_x(const cg_contract *x) {
  const po_cdims *m = &x->c->dims[PO_DIM_M];
  const char *row = cg_number_text(x, m->n ? m->d[0].x : 0);
  int64_t bytes = gs_dtype_table[x->c->dtype].bytes;
  cg_write(x->w, "const int glen_x_lies = %s %% %lld != 0 || %s <= %d;", row,
           (long long)(GS_ALIASING_BYTES / bytes), cg_number_text(x, x->n),
           GS_ALIASING_COLUMNS);
  cg_write(x->w, "const %s %s = glen_x_lies ? 1 : %u;", x->e->index,
           CG_STEP_OF_X, x->c->mr);
  cg_write(x->w, "const %s %s = glen_x_lies ? %s : 1;", x->e->index,
           CG_ROW_OF_X, row);
}

/* Whole vectors, which the first cache holds for all rows of x, or which but a
 * panel of these reads. */
static void
put_lying_y(const cg_contract *x) {
  const po_cdims *k = &x->c->dims[PO_DIM_K];
  const gs_target *t = x->e->p->target;
  const char *row = cg_number_text(x, k->d[0].y);
  int64_t bytes = gs_dtype_table[x->c->dtype].bytes;
  int64_t first = gs_cache_bytes(t, 1);
  cg_add(x->w, "const int glen_y_lies = %s %% %u == 0 &&\n",
         cg_number_text(x, x->n), x->c->lanes);
  cg_write(x->w, "((%s <= %lld && (int64_t)%s * %s <= %lld) || %s <= %u);", row,
           (long long)(GS_AHEAD_NEAR / bytes), row, extent_of_k(x),
           (long long)(2 * first / bytes), cg_number_text(x, x->m), x->c->mr);
  cg_write(x->w, "const %s %s = glen_y_lies ? %s : %lld;", x->e->index,
           CG_STEP_OF_Y, row, (long long)x->columns);
}

/* Equal parts, each of at most so many; one is not divided for, as that takes
 * as long as a small product. */
static void
put_parts(const cg_contract *x, const char *name, const char *whole,
          const char *most, const char *unit) {
  assert(*unit);
  const char *index = x->e->index;
  const char *part = bs_arena_printf(
      &x->e->arena, "(glen_%ss > 1 ? (%s - 1) / glen_%ss : %s - 1)", name,
      whole, name, whole);
  cg_write(x->w, "const %s glen_%ss = (%s - 1) / %s + 1;", index, name, whole,
           most);
  if (strcmp(unit, "1"))
    cg_write(x->w, "const %s glen_%s = (%s / %s + 1) * %s;", index, name, part,
             unit, unit);
  else
    cg_write(x->w, "const %s glen_%s = %s + 1;", index, name, part);
}

/* Columns of a tile at most. */
static const char *
widest_of(const cg_contract *x) {
  if (x->c->y_mode != PO_WINDOWS || x->c->dims[PO_DIM_N].n == 1)
    return cg_number_text(x, x->c->nc);
  cg_put_window_width(x);
  return "glen_widest";
}

/* Tiles of an image are whole steps of its outermost loop, as many as those of
 * the plan have rows; blocks, as many as there is room for. */
static void
put_lines(const cg_contract *x) {
  const char *index = x->e->index, *inner = cg_window_inner(x);
  const char *mc = cg_number_text(x, x->c->mc);
  const char *line = cg_number_text(x, x->c->line);
  cg_put_window_height(x);
  cg_write(x->w, "const %s glen_most = %s / %s * %s;", index, mc, inner, inner);
  put_parts(x, "mc", cg_number_text(x, x->m), "glen_most", inner);
  put_parts(x, "mb", "glen_mc", "glen_tallest", inner);
  if (po_has_open_lines(x->c))
    cg_write(x->w,
             "const %s " CG_ROWS_OF_LINE " = (%s - 1) / ((%s - 1) / %u + 1) + "
             "1;",
             index, line, line, x->c->mr);
}

static void
put_rows(const cg_contract *x) {
  const char *mr = cg_number_text(x, x->c->mr);
  put_parts(x, "mc", cg_number_text(x, x->m), cg_number_text(x, x->c->mc), mr);
  put_parts(x, "mb", "glen_mc", cg_number_text(x, x->c->mb), mr);
}

static void
put_number(const cg_contract *x, uint32_t k) {
  assert(k < x->n_numbers);
  bs_arena *arena = &x->e->arena;
  const cg_expr *value =
      cg_make_polynomial(arena, x->sizes, x->numbers[k], "int64_t");
  cg_write_nodes(
      x->w, cg_make_let(arena, bs_arena_printf(arena, "const %s", x->e->index),
                        bs_arena_printf(arena, "glen_n%u", k),
                        cg_cast(arena, x->e->index, cg_paren(arena, value))));
}

/* Where y lies there is no next panel to ask for. */
static void
put_shared_later(const cg_contract *x) {
  cg_write(x->w, "const %s " CG_LATER " = %s(%lld + glen_mb - 1) / glen_mb;",
           x->e->index, x->c->y_may_lie ? "glen_y_lies ? 0 : " : "",
           (long long)(cg_bytes_of_panel(x) * x->c->mr));
}

void
cg_put_numbers(const cg_contract *x) {
  const po_contraction *c = x->c;
  for (uint32_t k = 0; x->sizes && k < x->sizes->n; k++)
    cg_write(x->w, "(void)%s;", x->sizes->list[k].name);
  for (uint32_t k = 0; k < x->n_numbers; k++)
    put_number(x, k);
  if (x->c->x_may_lie)
    put_lying_x(x);
  if (x->c->y_may_lie)
    put_lying_y(x);
  cg_put_number_uses(x);
  if (cg_has_sized_blocks(x, PO_DIM_K))
    put_parts(x, "kc", extent_of_k(x), cg_number_text(x, c->kc), "1");
  if (cg_has_sized_blocks(x, PO_DIM_N))
    put_parts(x, "nc", cg_number_text(x, x->n), widest_of(x),
              cg_number_text(x, x->columns));
  if (!cg_has_sized_blocks(x, PO_DIM_M))
    return;
  if (cg_has_lines(x))
    put_lines(x);
  else
    put_rows(x);
  if (cg_shares_later(x))
    put_shared_later(x);
}

int64_t
cg_bytes_of_panel(const cg_contract *x) {
  return x->columns * gs_dtype_table[x->c->dtype].bytes;
}

bool
cg_shares_later(const cg_contract *x) {
  return x->c->later && cg_has_sized_blocks(x, PO_DIM_M);
}

const char *
cg_later_text(const cg_contract *x) {
  return cg_shares_later(x) ? CG_LATER : cg_number_text(x, x->c->later);
}

const char *
cg_block_text(const cg_contract *x, const char *name) {
  const po_contraction *c = x->c;
  po_dim_role role = *name == 'k'   ? PO_DIM_K
                     : *name == 'n' ? PO_DIM_N
                                    : PO_DIM_M;
  int64_t size = *name == 'k'     ? c->kc
                 : *name == 'n'   ? c->nc
                 : name[1] == 'c' ? c->mc
                                  : c->mb;
  return cg_has_sized_blocks(x, role)
             ? bs_arena_printf(&x->e->arena, "glen_%s", name)
             : bs_arena_printf(&x->e->arena, "%lld", (long long)size);
}
