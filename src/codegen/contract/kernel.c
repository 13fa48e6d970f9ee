/* SPDX-License-Identifier: MIT */
/* kernel.c - mr rows times nv vectors of sums, each a named local.
 *
 * Compilers keep named locals in registers; an array of sums would stay in
 * memory.  The loop over k loads nv vectors of y and multiplies them with one
 * element of x at a time.  The sums of a block of k are added to c at the end,
 * or where that is no matter of vectors wait for the last block in an array of
 * their own; under --strict-fp they begin with what is there, so that their
 * order is that of k.  Rows and columns that do not fill a kernel get variants
 * of their own; a vector that is not full is computed whole and stored in
 * part. */
#include "glenside/target/tuned.h"
#include "base/whole.h"
#include "codegen/contract/contract.h"
#include <assert.h>

#define LOOP_INSTRUCTIONS 3

/* Rows, or columns of whole vectors, from the least that are left, where that
 * is known, in steps, to those that are full. */
static int64_t
least_left(gs_number all, int64_t full, int64_t step) {
  assert(full >= 1 && step >= 1);
  if (gs_is_sized(all))
    return step;
  return all % full == 0 ? full : all % full;
}

/* All that may be left of what is not known, each row of a kernel by itself;
 * the full one last. */
static uint32_t
any_panels(const cg_contract *x, cg_panel panels[CG_MOST_PANELS]) {
  const po_contraction *c = x->c;
  bool m = gs_is_sized(c->line), n = gs_is_sized(x->n);
  int64_t lanes = n ? c->lanes : x->columns;
  int64_t rows = least_left(c->line, c->mr, 1), at = 0;
  int64_t first = least_left(x->n, x->columns, lanes);
  int64_t last = n || x->n >= x->columns ? x->columns : first;
  for (int64_t columns = first; columns <= last;) {
    for (int64_t r = rows; r <= c->mr;) {
      assert(at < CG_MOST_PANELS);
      panels[at++] = (cg_panel){r, columns, c->ragged[PO_DIM_N], false};
      r = m || r == c->mr ? r + 1 : c->mr;
    }
    columns = n || columns == x->columns ? columns + lanes : x->columns;
  }
  return (uint32_t)at;
}

static uint32_t
contract_panels(const cg_contract *x, cg_panel panels[CG_MOST_PANELS]) {
  if (cg_has_any_panel(x))
    return any_panels(x, panels);
  int64_t line = x->c->line;
  int64_t rows[] = {line % x->c->mr, line >= x->c->mr ? x->c->mr : 0};
  int64_t columns[] = {x->n % x->columns, x->n >= x->columns ? x->columns : 0};
  assert(x->c->mr > 0 && x->columns > 0);
  uint32_t n = 0;
  for (uint32_t k = 0; k < 4; k++) {
    cg_panel panel = {rows[k & 1], columns[k >> 1], false, false};
    if (panel.rows && panel.columns)
      panels[n++] = panel;
  }
  return n;
}

static void
put_sums(const cg_contract *x, cg_panel panel, int64_t vectors) {
  assert(panel.rows > 0 && vectors > 0);
  for (int64_t r = 0; r < panel.rows; r++) {
    cg_add(x->w, "%s_v ", x->name);
    for (int64_t v = 0; v < vectors; v++)
      cg_add(x->w, "s%lld_%lld = {0}%s", (long long)r, (long long)v,
             v + 1 < vectors ? ", " : "");
    cg_write(x->w, ";");
  }
}

/* Elements of y from one k to the next, of x, and of x from row to row. */
typedef struct steps {
  gs_number y, x, row; /* where that is known */
} steps;

/* So many times a step, as C. */
static const char *
times_step(const cg_contract *x, int64_t by, const char *name, bool open,
           gs_number step) {
  return open ? bs_arena_printf(&x->e->arena, "%lld * %s", (long long)by, name)
              : cg_times_text(x, by, step);
}

static steps
steps_of(const cg_contract *x) {
  const po_contraction *c = x->c;
  const po_cdims *m = &c->dims[PO_DIM_M], *k = &c->dims[PO_DIM_K];
  steps s = {x->columns, c->mr, 1};
  if (c->x_mode == PO_DIRECT) {
    s.x = k->d[0].x;
    s.row = m->n ? m->d[0].x : 0;
  }
  if (c->y_mode == PO_DIRECT)
    s.y = k->d[0].y;
  return s;
}

/* The lines of an image's first and last row of a panel; its windows jump. */
static void
put_image_ahead(const cg_contract *x, cg_panel panel) {
  long long bytes = gs_dtype_table[x->c->dtype].bytes;
  long long last = cg_window_row(x, panel.rows - 1);
  cg_write(x->w, "GLEN_AHEAD(x + at[k + %d], 0);", GS_AHEAD_WINDOW);
  if (last)
    cg_write(x->w, "GLEN_AHEAD(x + at[k + %d], %lld);", GS_AHEAD_WINDOW,
             last * bytes);
}

/* A line of y, so many bytes into its row. */
static void
put_y_ahead(const cg_contract *x, const cg_point *point, int64_t at) {
  int64_t ahead = GS_AHEAD_Y * gs_dtype_table[x->c->dtype].bytes;
  if (x->c->y_may_lie)
    cg_write(x->w, "GLEN_AHEAD(y + %s, %lld * %s + %lld);", point->y,
             (long long)ahead, CG_STEP_OF_Y, (long long)at);
  else
    cg_write(x->w, "GLEN_AHEAD(y + %s, %s);", point->y,
             cg_place_text(x, ahead, steps_of(x).y, at, 1));
}

/* The next panel of y is on its way from beyond the second cache, whatever
 * instructions that takes: waiting for it takes longer.  Where the call says
 * how much of it each panel of x asks for, that is more than a line only if
 * there is one of them, of few rows. */
static void
put_later(const cg_contract *x, cg_panel panel, const cg_point *point) {
  int64_t later = x->c->later, line = x->c->cache_line;
  if (cg_shares_later(x))
    later = panel.rows < x->c->mr ? cg_bytes_of_panel(x) : 1;
  for (int64_t at = 0; x->c->later && at < later; at += line)
    cg_write(x->w, "GLEN_LATER(y, later + %s * %s%s);", cg_later_text(x),
             point->k,
             at ? bs_arena_printf(&x->e->arena, " + %lld", (long long)at) : "");
}

/* Operands are asked for some iterations ahead, where the processor has room
 * for that beside the products: 4 instructions a cycle, 2 products.  Rows of y
 * that are read where they lie are the more in need of it, for each is on a
 * page of its own, which no processor goes on to by itself. */
static void
put_ahead(const cg_contract *x, cg_panel panel, int64_t vectors,
          const cg_point *point) {
  assert(vectors > 0);
  int64_t line = x->c->cache_line / gs_dtype_table[x->c->dtype].bytes;
  int64_t lines = (vectors * x->c->lanes + line - 1) / line;
  int64_t products = panel.rows * vectors;
  int64_t bytes = gs_dtype_table[x->c->dtype].bytes;
  bool image = po_image_of_x(x->c);
  int64_t others =
      panel.rows + vectors + lines + (image ? 3 : 1) + LOOP_INSTRUCTIONS;
  steps step = steps_of(x);
  if (others > products)
    return;
  bool near = x->c->y_mode == PO_DIRECT &&
              gs_most_of(x->sizes, step.y) * bytes <= GS_AHEAD_NEAR;
  if (x->c->y_mode != PO_WINDOWS && !near)
    for (int64_t k = 0; k < lines; k++)
      put_y_ahead(x, point, k * line * bytes);
  if (image && !cg_leaves_out(x))
    put_image_ahead(x, panel);
  else if (!image && x->c->x_mode != PO_DIRECT && !x->c->x_may_lie)
    cg_write(x->w, "GLEN_AHEAD(x + %s * k, %s);", cg_number_text(x, step.x),
             cg_times_text(x, GS_AHEAD_X * bytes, step.x));
}

/* Row r of x, broadcast. */
static void
put_element(const cg_contract *x, const cg_point *point, int64_t r) {
  assert(r >= 0);
  bool ints = x->c->dtype == GS_I32;
  cg_add(x->w, "const %s x%lld = %s%s + ", ints ? "unsigned" : x->type,
         (long long)r, ints ? "(unsigned)" : "", point->x);
  if (po_image_of_x(x->c))
    cg_write(x->w, "%lld];", (long long)cg_window_row(x, r));
  else
    cg_write(x->w, "%s];",
             times_step(x, r, CG_ROW_OF_X, x->c->x_may_lie, steps_of(x).row));
}

/* Instructions that count iterations are few beside those of an iteration, but
 * where two threads share a core, each has half of its instructions. */
static bool
unrolling_is_profitable(int64_t iterations) {
  return iterations >= GS_KERNEL_LONG * GS_KERNEL_UNROLLED;
}

void
cg_put_unrolled(const cg_contract *x, int64_t iterations) {
  if (unrolling_is_profitable(iterations))
    cg_write_unrolled(x->w, GS_KERNEL_UNROLLED);
}

/* The tap of a point is in the padding for row r of whole rows of pixels. */
static bool
is_padding(const cg_contract *x, const cg_point *point, int64_t r) {
  const po_cdims *m = &x->c->dims[PO_DIM_M];
  return point->axis &&
         !po_is_inside(point->axis, r % m->d[m->n - 1].extent, point->tap);
}

void
cg_put_point(const cg_contract *x, cg_panel panel, const cg_point *point) {
  assert(panel.rows > 0 && panel.columns > 0);
  int64_t vectors = (panel.columns + x->c->lanes - 1) / x->c->lanes;
  for (int64_t v = 0; v < vectors; v++)
    if (panel.blended)
      cg_put_blended(x, point, v);
    else
      cg_write(x->w, "%s_v y%lld = *(const %s_v *)(y + %s + %lld);", x->name,
               (long long)v, x->name, point->y, (long long)(v * x->c->lanes));
  for (int64_t v = 0; v < vectors && cg_fits_register(x); v++)
    cg_write(x->w, "GLEN_HOLD(y%lld);", (long long)v);
  put_later(x, panel, point);
  put_ahead(x, panel, vectors, point);
  for (int64_t r = 0; r < panel.rows; r++) {
    if (is_padding(x, point, r))
      continue;
    put_element(x, point, r);
    for (int64_t v = 0; v < vectors; v++)
      cg_write(x->w, "s%lld_%lld += x%lld * y%lld;", (long long)r, (long long)v,
               (long long)r, (long long)v);
  }
}

/* A step for each k, or where the table of offsets says. */
static const char *
step_text(const cg_contract *x, bool windows, const char *open,
          gs_number step) {
  return windows ? "at[k]"
                 : bs_arena_printf(&x->e->arena, "%s * k",
                                   open ? open : cg_number_text(x, step));
}

static void
put_products(const cg_contract *x, cg_panel panel) {
  const po_contraction *c = x->c;
  steps step = steps_of(x);
  cg_point point = {
      .k = "k",
      .x = bs_arena_printf(&x->e->arena, "x[%s",
                           step_text(x, c->x_mode == PO_WINDOWS,
                                     c->x_may_lie ? CG_STEP_OF_X : NULL,
                                     step.x)),
      .y = step_text(x, c->y_mode == PO_WINDOWS,
                     c->y_may_lie ? CG_STEP_OF_Y : NULL, step.y),
  };
  cg_put_unrolled(x, po_cdims_size(&c->dims[PO_DIM_K]));
  cg_write(x->w, "for (%s k = 0; k < kc; k++) {", x->e->index);
  cg_put_point(x, panel, &point);
  cg_write(x->w, "}");
}

/* Sums that wait, one panel after the other. */
static void
put_waiting(const cg_contract *x, cg_panel panel, int64_t vectors, bool load) {
  assert(panel.rows > 0 && vectors > 0);
  for (int64_t r = 0; r < panel.rows; r++)
    for (int64_t v = 0; v < vectors; v++) {
      long long row = r, vector = v, at = (r * x->c->nv + v) * x->c->lanes;
      if (load)
        cg_write(x->w, "s%lld_%lld += *(%s_v *)(sums + %lld);", row, vector,
                 x->name, at);
      else
        cg_write(x->w, "*(%s_v *)(sums + %lld) = s%lld_%lld;", x->name, at, row,
                 vector);
    }
}

/* What was summed up so far. */
static void
put_start(const cg_contract *x, cg_panel panel, int64_t vectors) {
  cg_write(x->w, "if (!first) {");
  if (x->c->waits)
    put_waiting(x, panel, vectors, true);
  else
    cg_put_transfer(x, panel, CG_SUMS_LOAD);
  cg_write(x->w, "}");
}

/* All of k is one block: what is summed up is complete. */
static bool
is_one_block(const cg_contract *x) {
  return x->c->kc >= gs_most_of(x->sizes, x->c->dims[PO_DIM_K].d[0].extent);
}

bool
cg_finishes(const cg_contract *x) {
  return cg_finishes_in_registers(x) || po_lies_over(x->e->p, x->c);
}

/* Sums of one block of k become values of the formula in registers; those that
 * are added to c do so there, by NAME_formula. */
static void
put_finished(const cg_contract *x, cg_panel panel) {
  bool one = is_one_block(x);
  if (one)
    cg_write(x->w, "(void)first;");
  else
    cg_write(x->w, "if (first && last) {");
  cg_put_transfer(x, panel, CG_SUMS_FINISH);
  if (one)
    return;
  cg_write(x->w, "return;");
  cg_write(x->w, "}");
}

static void
put_end(const cg_contract *x, cg_panel panel, int64_t vectors) {
  bool strict = x->e->p->strict_fp;
  bool finishes = cg_finishes(x);
  if (x->c->waits) {
    if (!strict)
      put_start(x, panel, vectors);
    cg_write(x->w, "if (!last) {");
    put_waiting(x, panel, vectors, false);
    cg_write(x->w, "return;");
    cg_write(x->w, "}");
  }
  if (x->c->waits || strict) {
    cg_put_transfer(x, panel, finishes ? CG_SUMS_FINISH : CG_SUMS_STORE);
    return;
  }
  if (finishes)
    put_finished(x, panel);
  if (finishes && is_one_block(x))
    return;
  cg_write(x->w, "if (first) {");
  cg_put_transfer(x, panel, CG_SUMS_STORE);
  cg_write(x->w, "} else {");
  cg_put_transfer(x, panel, CG_SUMS_ADD);
  cg_write(x->w, "}");
}

/* Of a panel's kernel, and the same handed on; parts: with those of vectors of
 * two rows. */
static void
put_parameters(const cg_contract *x, bool parts) {
  cg_add(x->w, "(const %s *restrict x, const %s *restrict y,\n    %s *%s c, ",
         x->type, x->type, x->type, cg_restrict(x));
  if (cg_leaves_out(x))
    cg_put_range_parameters(x);
  else if (cg_has_windows(x))
    cg_add(x->w, "const %s *restrict at, ", x->e->index);
  if (parts)
    cg_add(x->w, "const %s *const *restrict part, const %s *restrict left, ",
           x->type, x->e->index);
  if (x->c->waits)
    cg_add(x->w, "%s *restrict sums, int last, ", x->type);
  if (x->c->later)
    cg_add(x->w, "%s later, ", x->e->index);
  if (cg_shares_later(x))
    cg_add(x->w, "%s " CG_LATER ", ", x->e->index);
  cg_add(x->w, "%s kc, int first", x->e->index);
  cg_put_number_parameters(x);
}

static const char *
arguments(const cg_contract *x, bool parts) {
  return bs_arena_printf(
      &x->e->arena, "x, y, c, %s%s%s%s%skc, first%s",
      cg_leaves_out(x)    ? cg_range_arguments(x)
      : cg_has_windows(x) ? "at, "
                          : "",
      parts ? "part, left, " : "", x->c->waits ? "sums, last, " : "",
      x->c->later ? "later, " : "", cg_shares_later(x) ? CG_LATER ", " : "",
      cg_number_arguments(x));
}

/* Of c and of what the formula reads beside it, where the sums go there. */
static void
put_prefetches(const cg_contract *x, cg_panel panel) {
  if (x->c->waits)
    cg_write(x->w, "if (last) {");
  cg_put_prefetches(x, panel);
  if (cg_finishes(x))
    cg_put_extra_prefetches(x, panel);
  if (x->c->waits)
    cg_write(x->w, "}");
}

static void
put_kernel(const cg_contract *x, cg_panel panel) {
  int64_t vectors = (panel.columns + x->c->lanes - 1) / x->c->lanes;
  bool strict = x->e->p->strict_fp;
  bool contract = !strict && x->c->dtype != GS_I32;
  bool finishes = cg_finishes(x);
  cg_add(x->w, "%sstatic void\n%s_%lldx%lld%s",
         contract ? "GLEN_CONTRACT " : "", x->name, (long long)panel.rows,
         (long long)panel.columns, panel.blended ? "_two" : "");
  put_parameters(x, panel.blended);
  if (finishes && !x->c->waits)
    cg_add(x->w, ", int last");
  if (finishes)
    cg_put_extra_parameters(x);
  if (panel.ragged)
    cg_add(x->w, ", %s n", x->e->index);
  cg_write(x->w, ") {");
  if (contract)
    cg_write(x->w, "GLEN_CONTRACT_BODY");
  cg_put_number_uses(x);
  if (finishes && is_one_block(x))
    cg_write(x->w, "(void)last;");
  if (x->c->later)
    cg_write(x->w, "(void)later;");
  if (cg_shares_later(x))
    cg_write(x->w, "(void)" CG_LATER ";");
  if (panel.ragged)
    cg_put_left(x, panel.columns);
  if (panel.blended) {
    cg_write(x->w, "(void)y;");
    cg_put_blends(x, vectors);
  }
  put_sums(x, panel, vectors);
  if (strict)
    put_start(x, panel, vectors);
  else
    put_prefetches(x, panel);
  if (cg_leaves_out(x))
    cg_put_taps(x, panel);
  else
    put_products(x, panel);
  put_end(x, panel, vectors);
  cg_close_function(x->e, x->w);
}

/* Sums of the panel are given to NAME_formula where they lie in c. */
static bool
needs_formula(const cg_contract *x) {
  return cg_has_formula(x) &&
         (!cg_finishes(x) || (!x->c->waits && !is_one_block(x)));
}

/* The call for one size, and for the formula. */
static void
put_kernel_call(const cg_contract *x, cg_panel p) {
  bool finishes = cg_finishes(x);
  cg_add(x->w, "%s_%lldx%lld%s(%s%s", x->name, (long long)p.rows,
         (long long)p.columns, p.blended ? "_two" : "", arguments(x, p.blended),
         finishes && !x->c->waits ? ", last" : "");
  if (finishes)
    cg_put_extra_arguments(x);
  cg_write(x->w, p.ragged ? ", n);" : ");");
}

static void
put_call(const cg_contract *x, cg_panel p) {
  if (cg_blends(x)) {
    cg_write(x->w, "if (within) {");
    put_kernel_call(x, p);
    cg_write(x->w, "} else {");
    p.blended = true;
    put_kernel_call(x, p);
    cg_write(x->w, "}");
  } else {
    put_kernel_call(x, p);
  }
  if (needs_formula(x))
    cg_put_formula_call(x, p);
}

/* Sizes before it in the list are tried first, so that only what is not full
 * needs a condition. */
static void
put_choice(const cg_contract *x, cg_panel p, bool only) {
  bool rows = p.rows < x->c->mr && !only, columns = p.columns < x->columns;
  columns = columns && !only;
  if (rows || columns) {
    cg_add(x->w, "if (");
    if (rows)
      cg_add(x->w, "m < %u%s", x->c->mr, columns ? " && " : "");
    if (columns)
      cg_add(x->w, "n < %lld", (long long)x->columns);
    cg_write(x->w, ") {");
  }
  put_call(x, p);
  if (rows || columns)
    cg_write(x->w, "return; }");
}

/* A number for the columns of a panel: how many vectors they are, or, where the
 * columns are known, whether it is full. */
static int64_t
kind_of(const cg_contract *x, cg_panel p) {
  return x->c->sized[PO_DIM_N] ? (p.columns + x->c->lanes - 1) / x->c->lanes
                               : p.columns == x->columns;
}

/* By the rows and the vectors that are left. */
static void
put_choices(const cg_contract *x, const cg_panel *panels, uint32_t n) {
  assert(panels && n);
  const char *index = x->e->index;
  cg_write(x->w, "const %s rows = m < %u ? m : %u;", index, x->c->mr, x->c->mr);
  if (x->c->sized[PO_DIM_N])
    cg_write(x->w, "const %s kind = n < %lld ? (n + %u) / %u : %u;", index,
             (long long)x->columns, x->c->lanes - 1, x->c->lanes, x->c->nv);
  else
    cg_write(x->w, "const %s kind = n >= %lld;", index, (long long)x->columns);
  cg_write(x->w, "switch (%u * kind + rows) {", x->c->mr + 1);
  for (uint32_t k = 0; k < n; k++) {
    cg_write(
        x->w, "case %lld:",
        (long long)((x->c->mr + 1) * kind_of(x, panels[k]) + panels[k].rows));
    put_call(x, panels[k]);
    cg_write(x->w, "return;");
  }
  cg_write(x->w, "}");
}

/* NAME_panel: m x n elements of c are left, of which it does one panel. */
static void
put_panel(const cg_contract *x, const cg_panel *panels, uint32_t n) {
  assert(panels && n);
  cg_add(x->w, "static void\n%s_panel", x->name);
  put_parameters(x, cg_blends(x));
  if (cg_blends(x))
    cg_add(x->w, ", int within");
  if (cg_has_formula(x)) {
    cg_add(x->w, "%s", x->c->waits ? "" : ", int last");
    cg_put_extra_parameters(x);
  }
  cg_write(x->w, ", %s m, %s n) {", x->e->index, x->e->index);
  cg_write(x->w, "(void)m;");
  cg_write(x->w, "(void)n;");
  if (x->c->ragged[PO_DIM_N])
    cg_put_ragged_uses(x);
  cg_put_number_uses(x);
  if (cg_has_any_panel(x))
    put_choices(x, panels, n);
  else
    for (uint32_t k = 0; k < n; k++)
      put_choice(x, panels[k], k + 1 == n);
  cg_close_function(x->e, x->w);
}

void
cg_put_contract_kernels(const cg_contract *x) {
  cg_panel panels[CG_MOST_PANELS];
  uint32_t n = contract_panels(x, panels);
  for (uint32_t k = 0; k < n; k++) {
    put_kernel(x, panels[k]);
    panels[k].blended = true;
    if (cg_blends(x))
      put_kernel(x, panels[k]);
    panels[k].blended = false;
  }
  if (needs_formula(x))
    cg_put_formula_function(x);
  put_panel(x, panels, n);
}
