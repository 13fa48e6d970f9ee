/* SPDX-License-Identifier: MIT */
/* contract_window.c - an image copied once for all windows that a tile reads.
 *
 *   NAME_pad      copies what the tile needs of the image, with its padding
 *   NAME_offsets  where each point of k is, from where the panel is; and, for
 *                 panels that are packed, the same there
 *   NAME_place    where a column is
 *   NAME_within   all columns of a panel are side by side in the copy
 *   NAME_gather   packs the panels that are not
 *
 * An image of x needs no more than the first three: a kernel knows how far the
 * rows of its panel are apart.
 *
 * Vectors are copied whole: what is written beyond a run is written once more
 * by the next, and blocks have room for one vector behind their last element.
 * See contraction_window.c for the layout. */
#include "glenside/target/tuned.h"
#include "codegen/contract/contract.h"
#include "poly/loops/affine.h"
#include "base/whole.h"
#include <assert.h>

typedef struct image {
  const cg_contract *x;
  const po_contraction *c;
  bool of_x;
  const po_cdims *n, *k; /* n: of m, where it is an image of x */
  uint32_t last;         /* loop of n */
  po_cimage at;
} image;

static image
image_of(const cg_contract *x) {
  image i = {.x = x,
             .c = x->c,
             .of_x = po_image_of_x(x->c),
             .k = &x->c->dims[PO_DIM_K]};
  i.n = &x->c->dims[i.of_x ? PO_DIM_M : PO_DIM_N];
  i.last = i.n->n - 1;
  po_layout_image(x->over, x->c, &i.at);
  return i;
}

static const char *
text_of(const image *i, gs_number v) {
  return cg_number_text(i->x, v);
}

/* Elements from a column of axis a to the next. */
static gs_number
column_step(const image *i, uint32_t a) {
  assert(a < i->n->n);
  int64_t s = a < i->last ? i->c->axes[a].s : 1;
  return gs_combine(i->x->over, s, i->at.n[a], 0, s, 0);
}

/* Elements from a step of the loop of k along axis a to the next, but on the
 * innermost, which has phases. */
static gs_number
window_step(const image *i, uint32_t a) {
  assert(a < i->n->n);
  int64_t d = i->c->axes[a].d;
  return gs_combine(i->x->over, d, i->at.n[a], 0, d, 0);
}

/* Positions of an axis that is not cut. */
static gs_number
positions_of(const image *i, uint32_t a) {
  assert(a < i->n->n);
  const po_caxis *axis = &i->c->axes[a];
  gs_number n = i->n->d[a].extent;
  return gs_combine(i->x->over, axis->s, n, 0, n, axis->window - axis->s);
}

static gs_number
phases_step(const image *i) {
  gs_number phase = i->at.phase;
  return gs_combine(i->x->over, i->at.phases, phase, 0, phase, 0);
}

uint32_t
cg_window_numbers(const cg_contract *x, gs_number out[CG_MOST_WINDOW_NUMBERS]) {
  image i = image_of(x);
  uint32_t n = 0;
  for (uint32_t a = 0; a <= i.last; a++) {
    const po_caxis *axis = &i.c->axes[a];
    const gs_number of[] = {
        i.at.n[a],          axis->unit,         axis->lo,           axis->hi,
        column_step(&i, a), window_step(&i, a), positions_of(&i, a)};
    for (uint32_t k = 0; k < sizeof of / sizeof *of; k++)
      out[n++] = of[k];
  }
  out[n++] = i.at.columns;
  out[n++] = i.at.phase;
  out[n++] = phases_step(&i);
  return n;
}

int64_t
cg_window_stride(const cg_contract *x) {
  po_dim_role role = po_image_of_x(x->c) ? PO_DIM_M : PO_DIM_N;
  return x->c->axes[x->c->dims[role].n - 1].s;
}

/* The columns of one step of the outermost loop of n. */
static const char *
inner_columns(const image *i) {
  return text_of(i, po_cdims_product(i->x->over, i->n, 1));
}

/* ---- the copy ---- */

/* Loops over k that no axis has. */
static void
put_plane_loops(const image *i) {
  const char *index = i->x->e->index;
  for (uint32_t j = 0; j < i->k->n; j++) {
    if (!i->at.k[j])
      continue;
    if (j)
      cg_write(i->x->w, "for (%s k%u = 0; k%u < %lld; k%u++)", index, j, j,
               (long long)i->k->d[j].extent, j);
    else
      cg_write(i->x->w, "for (%s k0 = k_lo; k0 < k_hi; k0++)", index);
  }
}

/* Loops over the positions of all axes but the innermost. */
static void
put_row_loops(const image *i) {
  const char *index = i->x->e->index;
  for (uint32_t a = 0; a < i->last; a++) {
    const po_caxis *axis = &i->c->axes[a];
    if (a)
      cg_write(i->x->w, "for (%s p%u = 0; p%u < %s; p%u++)", index, a, a,
               text_of(i, positions_of(i, a)), a);
    else
      cg_write(i->x->w,
               "for (%s p0 = %lld * first; p0 < %lld * last + %lld; p0++)",
               index, (long long)axis->s, (long long)axis->s,
               (long long)(axis->window - axis->s));
  }
}

/* A row of the copy, and the one of the image that it is of. */
static void
put_row_pointers(const image *i) {
  cg_add(i->x->w, "%s *const line = to + (0", i->x->type);
  for (uint32_t j = 0; j < i->k->n; j++)
    if (i->at.k[j])
      cg_add(i->x->w, j ? " + %lld * k%u" : " + %lld * (k%u - k_lo)",
             (long long)i->at.k[j], j);
  for (uint32_t a = 0; a < i->last; a++) {
    cg_add(i->x->w, " + %s * ", text_of(i, i->at.n[a]));
    if (a)
      cg_add(i->x->w, "p%u", a);
    else
      cg_add(i->x->w, "(p0 - %lld * first)", (long long)i->c->axes[0].s);
  }
  cg_write(i->x->w, ");");
}

/* The positions that some n and k have within the guards. */
static const char *
low_of(const image *i, uint32_t a) {
  return i->x->over ? bs_arena_printf(&i->x->e->arena, "low%u", a)
                    : text_of(i, i->c->axes[a].lo);
}

static const char *
high_of(const image *i, uint32_t a) {
  return i->x->over ? bs_arena_printf(&i->x->e->arena, "high%u", a)
                    : text_of(i, i->c->axes[a].hi);
}

/* lowN and highN as the plan has them where sizes are integers. */
static void
put_ends(const image *i, uint32_t a) {
  assert(a < i->n->n);
  const cg_contract *x = i->x;
  const po_caxis *axis = &i->c->axes[a];
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  const char *lo = text_of(i, axis->lo), *hi = text_of(i, axis->hi);
  const char *max = cg_helper_names[CG_MAX_INDEX];
  long long s = axis->s, d = axis->d, points = (axis->window - 1) / (d ? d : 1);
  cg_write(x->w, "%s low%u = %s, high%u = -1;", index, a,
           text_of(i, positions_of(i, a)), a);
  cg_write(x->w, "for (%s at = 0; at <= %lld; at += %lld) {", index, points * d,
           d ? d : 1);
  cg_write(x->w, "const %s begin = %s > at ? (%s - at + %lld) / %lld : 0;",
           index, lo, lo, s - 1, s);
  cg_write(x->w, "const %s end = %s < at ? -1 : %s((%s - at) / %lld, %s - 1);",
           index, hi, min, hi, s, text_of(i, i->n->d[a].extent));
  cg_write(x->w, "if (begin > end)");
  cg_write(x->w, "continue;");
  cg_write(x->w, "low%u = %s(low%u, %lld * begin + at);", a, min, a, s);
  cg_write(x->w, "high%u = %s(high%u, %lld * end + at);", a, max, a, s);
  cg_write(x->w, "}");
}

/* Vectors of zeros that hold elements first .. end, where the call knows how
 * many: a loop over elements, or memset, would take longer than what is copied
 * between two of them. */
static void
put_zeros(const cg_contract *x, const char *to, const char *first,
          const char *end) {
  unsigned lanes = x->c->lanes;
  cg_write(x->w, "for (%s t = %s; t < %s; t += %u) {", x->e->index, first, end,
           lanes);
  cg_write(x->w, "%s_v zeros = {0};", x->name);
  if (cg_fits_register(x))
    cg_write(x->w, "GLEN_HOLD(zeros);");
  cg_write(x->w, "*(%s_v *)(%s + t) = zeros;", x->name, to);
  cg_write(x->w, "}");
}

static void
put_outside(const image *i) {
  const char * or = "";
  if (!i->last)
    return;
  cg_add(i->x->w, "if (");
  for (uint32_t a = 0; a < i->last; a++, or = " || ")
    cg_add(i->x->w, "%sp%u < %s || p%u > %s", or, a, low_of(i, a), a,
           high_of(i, a));
  cg_write(i->x->w, ") {");
  if (i->x->over)
    put_zeros(i->x, "line", "0", text_of(i, phases_step(i)));
  else
    cg_write(i->x->w, "memset(line, 0, sizeof *line * %s);",
             text_of(i, phases_step(i)));
  cg_write(i->x->w, "continue;");
  cg_write(i->x->w, "}");
}

static void
put_row(const image *i) {
  cg_add(i->x->w, "const %s *const row = from + (0", i->x->type);
  for (uint32_t j = 0; j < i->k->n; j++)
    if (i->at.k[j])
      cg_add(i->x->w, " + %s * k%u",
             text_of(i, i->of_x ? i->k->d[j].x : i->k->d[j].y), j);
  for (uint32_t a = 0; a < i->last; a++)
    cg_add(i->x->w, " + %s * p%u", text_of(i, i->c->axes[a].unit), a);
  cg_write(i->x->w, ");");
}

/* What of a row lies inside the padding, from the ends that the call found. */
static void
put_inside_ends(const image *i, int64_t phase) {
  const cg_contract *x = i->x;
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  const char *max = cg_helper_names[CG_MAX_INDEX];
  const char *low = low_of(i, i->last), *high = high_of(i, i->last);
  const char *shift = i->last ? "" : " - first";
  const char *columns = text_of(i, i->at.columns);
  long long s = i->c->axes[i->last].s, p = phase;
  cg_add(x->w, "const %s lo = %s(%s((%s > %lld ? (%s - %lld) / %lld : 0)%s, 0)",
         index, min, max, low, p, low, p - (s - 1), s, shift);
  cg_write(x->w, ", %s);", columns);
  cg_add(x->w, "const %s hi = %s(%s((%s < %lld ? 0 : (%s - %lld) / %lld + 1)%s",
         index, min, max, high, p, high, p, s, shift);
  cg_write(x->w, ", lo), %s);", columns);
}

/* Columns lo .. hi of a phase are inside; the only loop of n, too, starts at
 * column `first`. */
static void
put_inside(const image *i, int64_t phase) {
  assert(i->last < i->n->n);
  const cg_contract *x = i->x;
  const po_caxis *axis = &i->c->axes[i->last];
  const char *index = x->e->index;
  int64_t columns = i->at.columns;
  if (x->over) {
    put_inside_ends(i, phase);
    return;
  }
  int64_t lo = -bs_floor_div(phase - axis->lo, axis->s);
  int64_t hi = bs_floor_div(axis->hi - phase, axis->s) + 1;
  lo = lo > 0 ? lo : 0;
  hi = hi > lo ? hi : lo;
  if (i->last) {
    lo = lo < columns ? lo : columns;
    hi = hi < columns ? hi : columns;
    cg_write(x->w, "const %s lo = %lld, hi = %lld;", index, (long long)lo,
             (long long)hi);
    return;
  }
  const char *min = cg_helper_names[CG_MIN_INDEX];
  const char *max = cg_helper_names[CG_MAX_INDEX];
  cg_write(x->w, "const %s lo = %s(%s(%lld - first, 0), %lld);", index, min,
           max, (long long)lo, (long long)columns);
  cg_write(x->w, "const %s hi = %s(%s(%lld - first, lo), %lld);", index, min,
           max, (long long)hi, (long long)columns);
}

static void
put_elements(const image *i, int64_t phase) {
  const cg_contract *x = i->x;
  const char *index = x->e->index, *shift = i->last ? "" : " + first";
  long long s = i->c->axes[i->last].s, rest = phase;
  if (s <= 2) {
    cg_write(x->w,
             "%s_copy%lld(row + (%lld * (lo%s) + %lld), part + lo, hi - lo);",
             x->name, s, s, shift, rest);
    return;
  }
  cg_write(x->w, "for (%s t = lo; t < hi; t++)", index);
  cg_write(x->w, "part[t] = row[%lld * (t%s) + %lld];", s, shift, rest);
}

/* Vectors with what lies beyond the elements, which are written next. */
static void
put_open_padding(const cg_contract *x, const char *columns) {
  unsigned lanes = x->c->lanes;
  put_zeros(x, "part", "0", "lo");
  put_zeros(x, "part",
            bs_arena_printf(&x->e->arena, "hi / %u * %u", lanes, lanes),
            columns);
}

/* Positions with the same remainder: zeros, elements, zeros. */
static void
put_phase(const image *i, int64_t phase) {
  assert(phase >= 0);
  const cg_contract *x = i->x;
  const char *index = x->e->index, *columns = text_of(i, i->at.columns);
  cg_write(x->w, "{");
  cg_write(x->w, "%s *const part = line + %s;", x->type,
           cg_times_text(x, phase, i->at.phase));
  put_inside(i, phase);
  if (x->over) {
    put_open_padding(x, columns);
    put_elements(i, phase);
    cg_write(x->w, "}");
    return;
  }
  cg_write(x->w, "for (%s t = 0; t < lo; t++)", index);
  cg_write(x->w, "part[t] = 0;");
  put_elements(i, phase);
  cg_write(x->w, "for (%s t = hi; t < %s; t++)", index, columns);
  cg_write(x->w, "part[t] = 0;");
  cg_write(x->w, "}");
}

/* The end of its parameters. */
static void
open_function(const image *i) {
  cg_put_number_parameters(i->x);
  cg_write(i->x->w, ") {");
  cg_put_number_uses(i->x);
}

/* NAME_pad(from, to, k_lo, k_hi, first, last): those of the outermost loop of
 * n. */
static void
put_pad(const image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index;
  cg_add(x->w,
         "static void\n%s_pad(const %s *restrict from, %s *restrict to,\n"
         "    %s k_lo, %s k_hi, %s first, %s last",
         x->name, x->type, x->type, index, index, index, index);
  open_function(i);
  cg_write(x->w, "(void)k_lo, (void)k_hi, (void)first, (void)last;");
  for (uint32_t a = 0; x->over && a <= i->last; a++)
    put_ends(i, a);
  put_plane_loops(i);
  put_row_loops(i);
  cg_write(x->w, "{");
  put_row_pointers(i);
  put_outside(i);
  put_row(i);
  for (int64_t phase = 0; phase < i->at.phases; phase++)
    put_phase(i, phase);
  cg_write(x->w, "}");
  cg_close_function(x->e, x->w);
}

/* ---- places ---- */

static void
put_offset_of_axis(const image *i, uint32_t a) {
  assert(a < i->n->n);
  const po_caxis *axis = &i->c->axes[a];
  if (a < i->last)
    cg_add(i->x->w, " + %s * k%u", text_of(i, window_step(i, a)), axis->k);
  else if (axis->s == 1)
    cg_add(i->x->w, " + %lld * k%u", (long long)axis->d, axis->k);
  else
    cg_add(i->x->w, " + %s * (%lld * k%u %% %lld) + %lld * k%u / %lld",
           text_of(i, i->at.phase), (long long)axis->d, axis->k,
           (long long)axis->s, (long long)axis->d, axis->k, (long long)axis->s);
}

/* Points of k in a block. */
static int64_t
depth_of(const image *i) {
  return i->c->kc * i->x->inner; /* of which blocks are cut: an integer */
}

static void
put_offsets(const image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index;
  cg_add(x->w, "static void\n%s_offsets(%s *at, %s k_lo, %s k_hi", x->name,
         index, index, index);
  open_function(i);
  cg_write(x->w, "%s t = 0;", index);
  for (uint32_t j = 0; j < i->k->n; j++)
    if (j)
      cg_add(x->w, "for (%s k%u = 0; k%u < %lld; k%u++)", index, j, j,
             (long long)i->k->d[j].extent, j);
    else
      cg_add(x->w, "for (%s k0 = k_lo; k0 < k_hi; k0++)", index);
  cg_write(x->w, i->k->n > 1 ? "\n{" : " {");
  cg_add(x->w, "at[t] = 0");
  for (uint32_t j = 0; j < i->k->n; j++)
    if (i->at.k[j])
      cg_add(i->x->w, j ? " + %lld * k%u" : " + %lld * (k%u - k_lo)",
             (long long)i->at.k[j], j);
  for (uint32_t a = 0; a <= i->last; a++)
    if (i->c->axes[a].k != UINT32_MAX)
      put_offset_of_axis(i, a);
  cg_write(x->w, ";");
  if (!i->of_x)
    cg_write(x->w, "at[%lld + t] = %lld * t;", (long long)depth_of(i),
             (long long)x->columns);
  cg_write(x->w, "t++;");
  cg_write(x->w, "}");
  if (i->of_x)
    cg_write(x->w, "for (int j = 0; j < %d; j++)\n    at[t + j] = at[t - 1];",
             GS_AHEAD_WINDOW);
  cg_close_function(x->e, x->w);
}

/* NAME_place(n, first): of column n, where the copy begins at `first` of the
 * outermost loop. */
static void
put_place(const image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index;
  cg_add(x->w, "static inline %s\n%s_place(%s n, %s first", index, x->name,
         index, index);
  open_function(i);
  cg_add(x->w, "return %s * (n / %s - first)", text_of(i, column_step(i, 0)),
         inner_columns(i));
  for (uint32_t a = 1; a <= i->last; a++)
    cg_add(x->w, " + %s * (n / %s %% %s)", text_of(i, column_step(i, a)),
           text_of(i, po_cdims_product(x->over, i->n, a + 1)),
           text_of(i, i->n->d[a].extent));
  cg_write(x->w, ";");
  cg_close_function(x->e, x->w);
}

/* NAME_within(n, n_hi). */
static void
put_within(const image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index;
  const char *row = text_of(i, i->n->d[i->last].extent);
  cg_add(x->w, "static inline int\n%s_within(%s n, %s n_hi", x->name, index,
         index);
  open_function(i);
  cg_write(x->w, "return n %% %s + %s(n_hi - n, %lld) <= %s;", row,
           cg_helper_names[CG_MIN_INDEX], (long long)x->columns, row);
  cg_close_function(x->e, x->w);
}

/* ---- panels ---- */

int64_t
cg_window_row(const cg_contract *x, int64_t row) {
  assert(row >= 0);
  image i = image_of(x);
  int64_t place = 0;
  if (po_has_open_lines(x->c))
    return row;
  for (uint32_t a = i.last + 1; row && a-- > 0;) {
    int64_t extent = i.n->d[a].extent;
    place += row % extent * i.at.n[a] * (a < i.last ? i.c->axes[a].s : 1);
    row /= extent;
  }
  return place;
}

/* No panel has columns of two rows. */
static bool
never_gathers(const image *i) {
  gs_number row = i->n->d[i->last].extent;
  return i->of_x || !i->last || (!gs_is_sized(row) && row % i->x->columns == 0);
}

static void
put_gather(const image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  const char *numbers = cg_number_arguments(x);
  gs_number extent = i->n->d[i->last].extent;
  const char *row = text_of(i, extent);
  long long columns = x->columns;
  long long least = x->over ? gs_least_of(x->sizes, extent) : extent;
  long long most = i->c->nv + columns / least + 2;
  cg_add(i->x->w,
         "static void\n%s_gather(const %s *restrict image, "
         "const %s *restrict at,\n    %s *restrict to, %s kc, %s first, "
         "%s n_lo, %s n_hi",
         x->name, x->type, index, x->type, index, index, index, index);
  open_function(i);
  cg_write(x->w, "for (%s p = n_lo; p < n_hi; p += %lld) {", index, columns);
  cg_write(x->w, "const %s end = %s(p + %lld, n_hi);", index, min, columns);
  cg_write(x->w, "%s from[%lld], place[%lld], copies = 0;", index, most, most);
  cg_write(x->w, "if (%s_within(p, n_hi%s))", x->name, numbers);
  cg_write(x->w, "continue;");
  cg_write(x->w, "for (%s i = p; i < end;) {", index);
  cg_write(x->w, "const %s n = %s(%s - i %% %s, end - i);", index, min, row,
           row);
  cg_write(x->w, "for (%s t = 0; t < n; t += %u) {", index, x->c->lanes);
  cg_write(x->w, "from[copies] = %s_place(i, first%s) + t;", x->name, numbers);
  cg_write(x->w, "place[copies++] = kc * (p - n_lo) + i - p + t;");
  cg_write(x->w, "}");
  cg_write(x->w, "i += n;");
  cg_write(x->w, "}");
  cg_write(x->w, "for (%s k = 0; k < kc; k++)", index);
  cg_write(x->w, "for (%s t = 0; t < copies; t++)", index);
  cg_add(x->w, "*(%s_v *)(to + %lld * k + place[t]) =\n", x->name, columns);
  cg_write(x->w, "*(const %s_v *)(image + at[k] + from[t]);", x->name);
  cg_write(x->w, "}");
  cg_close_function(x->e, x->w);
}

void
cg_put_window_functions(const cg_contract *x) {
  image i = image_of(x);
  put_pad(&i);
  put_offsets(&i);
  put_place(&i);
  if (never_gathers(&i))
    return;
  put_within(&i);
  put_gather(&i);
}

void
cg_put_window_blocks(const cg_contract *x) {
  image i = image_of(x);
  long long depth = depth_of(&i);
  cg_write(x->w, "%s %c_image[%lld] __attribute__((aligned(64)));", x->type,
           i.of_x ? 'x' : 'y', (long long)i.at.size);
  cg_write(x->w, "%s offsets[%lld];", x->e->index,
           i.of_x ? depth + GS_AHEAD_WINDOW : 2 * depth);
  if (i.of_x)
    return;
  if (!never_gathers(&i))
    cg_write(x->w, "%s y_block[%lld] __attribute__((aligned(64)));", x->type,
             depth * (long long)x->c->nc + x->c->lanes);
  cg_write(x->w, "const %s row = n_lo / %s;", x->e->index, inner_columns(&i));
}

void
cg_put_window_calls(const cg_contract *x) {
  image i = image_of(x);
  const char *numbers = cg_number_arguments(x);
  if (!i.of_x)
    cg_write(x->w,
             "%s_pad(y, y_image, k_lo, k_hi, row, (n_hi - 1) / %s + 1%s);",
             x->name, inner_columns(&i), numbers);
  cg_write(x->w, "%s_offsets(offsets, k_lo, k_hi%s);", x->name, numbers);
  if (!never_gathers(&i))
    cg_write(x->w,
             "%s_gather(y_image, offsets, y_block, kc, row, n_lo, n_hi%s);",
             x->name, numbers);
}

void
cg_put_window_rows(const cg_contract *x) {
  image i = image_of(x);
  const char *inner = inner_columns(&i);
  if (!i.of_x)
    return;
  cg_write(x->w, "const %s row = m_lo / %s;", x->e->index, inner);
  cg_write(x->w, "%s_pad(x, x_image, k_lo, k_hi, row, (m_hi - 1) / %s + 1%s);",
           x->name, inner, cg_number_arguments(x));
}

void
cg_put_window_panel(const cg_contract *x) {
  image i = image_of(x);
  const char *index = x->e->index, *numbers = cg_number_arguments(x);
  if (i.of_x)
    return;
  if (never_gathers(&i)) {
    cg_write(x->w, "const %s *const panel = y_image + %s_place(n, row%s);",
             x->type, x->name, numbers);
    cg_write(x->w, "const %s *const at = offsets;", index);
    return;
  }
  cg_write(x->w, "const int within = %s_within(n, n_hi%s);", x->name, numbers);
  cg_add(x->w,
         "const %s *const panel = within ? y_image + %s_place(n, row%s)\n",
         x->type, x->name, numbers);
  cg_write(x->w, ": y_block + kc * (n - n_lo);");
  cg_write(x->w, "const %s *const at = within ? offsets : offsets + %lld;",
           index, (long long)depth_of(&i));
}

void
cg_put_window_width(const cg_contract *x) {
  image i = image_of(x);
  const char *index = x->e->index, *inner = inner_columns(&i);
  const po_caxis *axis = &i.c->axes[0];
  long long columns = x->columns, most = x->c->nc;
  cg_write(x->w, "const %s glen_rows = (%lld / %s - %lld) / %lld + 1;", index,
           (long long)x->c->plane, text_of(&i, i.at.n[0]),
           (long long)axis->window, (long long)axis->s);
  cg_write(x->w,
           "const %s glen_room = ((glen_rows - 1) * %s + 1) / %lld * %lld;",
           index, inner, columns, columns);
  cg_write(x->w,
           "const %s glen_widest = glen_rows >= %s || glen_room >= %lld "
           "? %lld : glen_room;",
           index, text_of(&i, i.n->d[0].extent), most, most);
}

void
cg_put_window_height(const cg_contract *x) {
  image i = image_of(x);
  const po_caxis *axis = &i.c->axes[0];
  cg_write(x->w,
           "const %s glen_tallest = ((%lld / %s - %lld) / %lld + 1) * %s;",
           x->e->index, (long long)x->c->plane, text_of(&i, i.at.n[0]),
           (long long)axis->window, (long long)axis->s, inner_columns(&i));
}

const char *
cg_window_inner(const cg_contract *x) {
  image i = image_of(x);
  return inner_columns(&i);
}
