/* SPDX-License-Identifier: MIT */
/* window.c - an image copied once for all windows that a tile reads.
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
  po_layout_image(x->c, &i.at);
  return i;
}

int64_t
cg_window_stride(const cg_contract *x) {
  po_dim_role role = po_image_of_x(x->c) ? PO_DIM_M : PO_DIM_N;
  return x->c->axes[x->c->dims[role].n - 1].s;
}

/* The columns of one step of the outermost loop of n. */
static int64_t
inner_columns(const image *i) {
  return po_cdims_size(i->n) / i->n->d[0].extent;
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
      cg_write(i->x->w, "for (%s p%u = 0; p%u < %lld; p%u++)", index, a, a,
               (long long)(axis->s * (i->n->d[a].extent - 1) + axis->window),
               a);
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
    cg_add(i->x->w, " + %lld * ", (long long)i->at.n[a]);
    if (a)
      cg_add(i->x->w, "p%u", a);
    else
      cg_add(i->x->w, "(p0 - %lld * first)", (long long)i->c->axes[0].s);
  }
  cg_write(i->x->w, ");");
}

static void
put_outside(const image *i) {
  const char * or = "";
  if (!i->last)
    return;
  cg_add(i->x->w, "if (");
  for (uint32_t a = 0; a < i->last; a++, or = " || ")
    cg_add(i->x->w, "%sp%u < %lld || p%u > %lld", or, a,
           (long long)i->c->axes[a].lo, a, (long long)i->c->axes[a].hi);
  cg_write(i->x->w, ") {");
  cg_write(i->x->w, "memset(line, 0, sizeof *line * %lld);",
           (long long)(i->at.phases * i->at.phase));
  cg_write(i->x->w, "continue;");
  cg_write(i->x->w, "}");
}

static void
put_row(const image *i) {
  cg_add(i->x->w, "const %s *const row = from + (0", i->x->type);
  for (uint32_t j = 0; j < i->k->n; j++)
    if (i->at.k[j])
      cg_add(i->x->w, " + %lld * k%u",
             (long long)(i->of_x ? i->k->d[j].x : i->k->d[j].y), j);
  for (uint32_t a = 0; a < i->last; a++)
    cg_add(i->x->w, " + %lld * p%u", (long long)i->c->axes[a].unit, a);
  cg_write(i->x->w, ");");
}

/* Columns lo .. hi of a phase are inside; the only loop of n, too, starts at
 * column `first`. */
static void
put_inside(const image *i, int64_t phase) {
  const cg_contract *x = i->x;
  const po_caxis *axis = &i->c->axes[i->last];
  const char *index = x->e->index;
  int64_t columns = i->at.columns;
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

/* Positions with the same remainder: zeros, elements, zeros. */
static void
put_phase(const image *i, int64_t phase) {
  const cg_contract *x = i->x;
  const char *index = x->e->index, *shift = i->last ? "" : " + first";
  long long s = i->c->axes[i->last].s, rest = phase;
  cg_write(x->w, "{");
  cg_write(x->w, "%s *const part = line + %lld;", x->type,
           (long long)(phase * i->at.phase));
  put_inside(i, phase);
  cg_write(x->w, "for (%s t = 0; t < lo; t++)", index);
  cg_write(x->w, "part[t] = 0;");
  if (s <= 2) {
    cg_write(x->w,
             "%s_copy%lld(row + (%lld * (lo%s) + %lld), part + lo, hi - lo);",
             x->name, s, s, shift, rest);
  } else {
    cg_write(x->w, "for (%s t = lo; t < hi; t++)", index);
    cg_write(x->w, "part[t] = row[%lld * (t%s) + %lld];", s, shift, rest);
  }
  cg_write(x->w, "for (%s t = hi; t < %lld; t++)", index,
           (long long)i->at.columns);
  cg_write(x->w, "part[t] = 0;");
  cg_write(x->w, "}");
}

/* NAME_pad(from, to, k_lo, k_hi, first, last): those of the outermost loop of
 * n. */
static void
put_pad(const image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index;
  cg_write(x->w,
           "static void\n%s_pad(const %s *restrict from, %s *restrict to,\n"
           "    %s k_lo, %s k_hi, %s first, %s last) {",
           x->name, x->type, x->type, index, index, index, index);
  cg_write(x->w, "(void)k_lo, (void)k_hi, (void)first, (void)last;");
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
  const po_caxis *axis = &i->c->axes[a];
  if (a < i->last)
    cg_add(i->x->w, " + %lld * k%u", (long long)(axis->d * i->at.n[a]),
           axis->k);
  else if (axis->s == 1)
    cg_add(i->x->w, " + %lld * k%u", (long long)axis->d, axis->k);
  else
    cg_add(i->x->w, " + %lld * (%lld * k%u %% %lld) + %lld * k%u / %lld",
           (long long)i->at.phase, (long long)axis->d, axis->k,
           (long long)axis->s, (long long)axis->d, axis->k, (long long)axis->s);
}

/* Points of k in a block. */
static int64_t
depth_of(const image *i) {
  return i->c->kc * i->x->inner;
}

static void
put_offsets(const image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index;
  cg_write(x->w, "static void\n%s_offsets(%s *at, %s k_lo, %s k_hi) {", x->name,
           index, index, index);
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
  long long inner = inner_columns(i);
  cg_write(x->w, "static inline %s\n%s_place(%s n, %s first) {", index, x->name,
           index, index);
  cg_add(x->w, "return %lld * (n / %lld - first)",
         (long long)(i->at.n[0] * (i->last ? i->c->axes[0].s : 1)), inner);
  for (uint32_t a = 1; a <= i->last; a++) {
    int64_t extent = i->n->d[a].extent;
    inner /= extent;
    cg_add(x->w, " + %lld * (n / %lld %% %lld)",
           (long long)(i->at.n[a] * (a < i->last ? i->c->axes[a].s : 1)), inner,
           (long long)extent);
  }
  cg_write(x->w, ";");
  cg_close_function(x->e, x->w);
}

/* NAME_within(n, n_hi). */
static void
put_within(const image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index;
  long long row = i->n->d[i->last].extent;
  cg_write(x->w, "static inline int\n%s_within(%s n, %s n_hi) {", x->name,
           index, index);
  cg_write(x->w, "return n %% %lld + %s(n_hi - n, %lld) <= %lld;", row,
           cg_helper_names[CG_MIN_INDEX], (long long)x->columns, row);
  cg_close_function(x->e, x->w);
}

/* ---- panels ---- */

int64_t
cg_window_row(const cg_contract *x, int64_t row) {
  image i = image_of(x);
  int64_t place = 0;
  for (uint32_t a = i.last + 1; a-- > 0;) {
    int64_t extent = i.n->d[a].extent;
    place += row % extent * i.at.n[a] * (a < i.last ? i.c->axes[a].s : 1);
    row /= extent;
  }
  return place;
}

/* No panel has columns of two rows. */
static bool
never_gathers(const image *i) {
  return i->of_x || i->n->d[i->last].extent % i->x->columns == 0 || !i->last;
}

static void
put_gather(const image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  long long row = i->n->d[i->last].extent, columns = x->columns;
  long long most = i->c->nv + columns / row + 2;
  cg_write(i->x->w,
           "static void\n%s_gather(const %s *restrict image, "
           "const %s *restrict at,\n    %s *restrict to, %s kc, %s first, "
           "%s n_lo, %s n_hi) {",
           x->name, x->type, index, x->type, index, index, index, index);
  cg_write(x->w, "for (%s p = n_lo; p < n_hi; p += %lld) {", index, columns);
  cg_write(x->w, "const %s end = %s(p + %lld, n_hi);", index, min, columns);
  cg_write(x->w, "%s from[%lld], place[%lld], copies = 0;", index, most, most);
  cg_write(x->w, "if (%s_within(p, n_hi))", x->name);
  cg_write(x->w, "continue;");
  cg_write(x->w, "for (%s i = p; i < end;) {", index);
  cg_write(x->w, "const %s n = %s(%lld - i %% %lld, end - i);", index, min, row,
           row);
  cg_write(x->w, "for (%s t = 0; t < n; t += %u) {", index, x->c->lanes);
  cg_write(x->w, "from[copies] = %s_place(i, first) + t;", x->name);
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
  cg_write(x->w, "const %s row = n_lo / %lld;", x->e->index,
           (long long)inner_columns(&i));
}

void
cg_put_window_calls(const cg_contract *x) {
  image i = image_of(x);
  if (!i.of_x)
    cg_write(x->w,
             "%s_pad(y, y_image, k_lo, k_hi, row, (n_hi - 1) / %lld + 1);",
             x->name, (long long)inner_columns(&i));
  cg_write(x->w, "%s_offsets(offsets, k_lo, k_hi);", x->name);
  if (!never_gathers(&i))
    cg_write(x->w, "%s_gather(y_image, offsets, y_block, kc, row, n_lo, n_hi);",
             x->name);
}

void
cg_put_window_rows(const cg_contract *x) {
  image i = image_of(x);
  long long inner = inner_columns(&i);
  if (!i.of_x)
    return;
  cg_write(x->w, "const %s row = m_lo / %lld;", x->e->index, inner);
  cg_write(x->w, "%s_pad(x, x_image, k_lo, k_hi, row, (m_hi - 1) / %lld + 1);",
           x->name, inner);
}

void
cg_put_window_panel(const cg_contract *x) {
  image i = image_of(x);
  const char *index = x->e->index;
  if (i.of_x)
    return;
  if (never_gathers(&i)) {
    cg_write(x->w, "const %s *const panel = y_image + %s_place(n, row);",
             x->type, x->name);
    cg_write(x->w, "const %s *const at = offsets;", index);
    return;
  }
  cg_write(x->w, "const int within = %s_within(n, n_hi);", x->name);
  cg_add(x->w, "const %s *const panel = within ? y_image + %s_place(n, row)\n",
         x->type, x->name);
  cg_write(x->w, ": y_block + kc * (n - n_lo);");
  cg_write(x->w, "const %s *const at = within ? offsets : offsets + %lld;",
           index, (long long)depth_of(&i));
}
