/* SPDX-License-Identifier: MIT */
/* contract_window.c - an image copied once for all windows that a tile reads.
 *
 *   NAME_pad      copies what the tile needs of the image, with its padding
 *                 (image_copy.c)
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
#include "codegen/contract/image.h"
#include "poly/loops/affine.h"
#include "base/whole.h"
#include <assert.h>

cg_image
cg_image_of(const cg_contract *x) {
  cg_image i = {.x = x,
                .c = x->c,
                .of_x = po_image_of_x(x->c),
                .k = &x->c->dims[PO_DIM_K]};
  i.n = &x->c->dims[i.of_x ? PO_DIM_M : PO_DIM_N];
  i.last = i.n->n - 1;
  po_layout_image(x->over, x->c, &i.at);
  return i;
}

const char *
cg_image_text(const cg_image *i, gs_number v) {
  return cg_number_text(i->x, v);
}

/* Elements from a column of axis a to the next. */
static gs_number
column_step(const cg_image *i, uint32_t a) {
  assert(a < i->n->n);
  int64_t s = a < i->last ? i->c->axes[a].s : 1;
  return gs_combine(i->x->over, s, i->at.n[a], 0, s, 0);
}

gs_number
cg_image_window_step(const cg_image *i, uint32_t a) {
  assert(a < i->n->n);
  int64_t d = i->c->axes[a].d;
  return gs_combine(i->x->over, d, i->at.n[a], 0, d, 0);
}

gs_number
cg_image_positions(const cg_image *i, uint32_t a) {
  assert(a < i->n->n);
  const po_caxis *axis = &i->c->axes[a];
  gs_number n = i->n->d[a].extent;
  return gs_combine(i->x->over, axis->s, n, 0, n, axis->window - axis->s);
}

gs_number
cg_image_phases(const cg_image *i) {
  gs_number phase = i->at.phase;
  return gs_combine(i->x->over, i->at.phases, phase, 0, phase, 0);
}

uint32_t
cg_window_numbers(const cg_contract *x, gs_number out[CG_MOST_WINDOW_NUMBERS]) {
  cg_image i = cg_image_of(x);
  uint32_t n = 0;
  for (uint32_t a = 0; a <= i.last; a++) {
    const po_caxis *axis = &i.c->axes[a];
    const gs_number of[] = {i.at.n[a],
                            axis->unit,
                            axis->lo,
                            axis->hi,
                            column_step(&i, a),
                            cg_image_window_step(&i, a),
                            cg_image_positions(&i, a)};
    for (uint32_t k = 0; k < sizeof of / sizeof *of; k++)
      out[n++] = of[k];
  }
  out[n++] = i.at.columns;
  out[n++] = i.at.phase;
  out[n++] = cg_image_phases(&i);
  return n;
}

int64_t
cg_window_stride(const cg_contract *x) {
  po_dim_role role = po_image_of_x(x->c) ? PO_DIM_M : PO_DIM_N;
  return x->c->axes[x->c->dims[role].n - 1].s;
}

/* The columns of one step of the outermost loop of n. */
static const char *
inner_columns(const cg_image *i) {
  return cg_image_text(i, po_cdims_product(i->x->over, i->n, 1));
}

void
cg_open_image_function(const cg_image *i) {
  cg_put_number_parameters(i->x);
  cg_write(i->x->w, ") {");
  cg_put_number_uses(i->x);
}

/* ---- places ---- */

static void
put_offset_of_axis(const cg_image *i, uint32_t a) {
  assert(a < i->n->n);
  const po_caxis *axis = &i->c->axes[a];
  if (a < i->last)
    cg_add(i->x->w, " + %s * k%u", cg_image_text(i, cg_image_window_step(i, a)),
           axis->k);
  else if (axis->s == 1)
    cg_add(i->x->w, " + %lld * k%u", (long long)axis->d, axis->k);
  else
    cg_add(i->x->w, " + %s * (%lld * k%u %% %lld) + %lld * k%u / %lld",
           cg_image_text(i, i->at.phase), (long long)axis->d, axis->k,
           (long long)axis->s, (long long)axis->d, axis->k, (long long)axis->s);
}

/* Points of k in a block. */
static int64_t
depth_of(const cg_image *i) {
  return i->c->kc * i->x->inner; /* of which blocks are cut: an integer */
}

static void
put_offsets(const cg_image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index;
  cg_add(x->w, "static void\n%s_offsets(%s *at, %s k_lo, %s k_hi", x->name,
         index, index, index);
  cg_open_image_function(i);
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
put_place(const cg_image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index;
  cg_add(x->w, "static inline %s\n%s_place(%s n, %s first", index, x->name,
         index, index);
  cg_open_image_function(i);
  cg_add(x->w, "return %s * (n / %s - first)",
         cg_image_text(i, column_step(i, 0)), inner_columns(i));
  for (uint32_t a = 1; a <= i->last; a++)
    cg_add(x->w, " + %s * (n / %s %% %s)", cg_image_text(i, column_step(i, a)),
           cg_image_text(i, po_cdims_product(x->over, i->n, a + 1)),
           cg_image_text(i, i->n->d[a].extent));
  cg_write(x->w, ";");
  cg_close_function(x->e, x->w);
}

/* NAME_within(n, n_hi). */
static void
put_within(const cg_image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index;
  const char *row = cg_image_text(i, i->n->d[i->last].extent);
  cg_add(x->w, "static inline int\n%s_within(%s n, %s n_hi", x->name, index,
         index);
  cg_open_image_function(i);
  cg_write(x->w, "return n %% %s + %s(n_hi - n, %lld) <= %s;", row,
           cg_helper_names[CG_MIN_INDEX], (long long)x->columns, row);
  cg_close_function(x->e, x->w);
}

/* ---- panels ---- */

int64_t
cg_window_row(const cg_contract *x, int64_t row) {
  assert(row >= 0);
  cg_image i = cg_image_of(x);
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

/* No panel has columns of two rows, or those that have are read where they
 * lie. */
static bool
never_gathers(const cg_image *i) {
  gs_number row = i->n->d[i->last].extent;
  return i->of_x || !i->last || cg_blends(i->x) ||
         (!gs_is_sized(row) && row % i->x->columns == 0);
}

static void
put_gather(const cg_image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  const char *numbers = cg_number_arguments(x);
  gs_number extent = i->n->d[i->last].extent;
  const char *row = cg_image_text(i, extent);
  long long columns = x->columns;
  long long least = x->over ? gs_least_of(x->sizes, extent) : extent;
  long long most = i->c->nv + columns / least + 2;
  cg_add(i->x->w,
         "static void\n%s_gather(const %s *restrict image, "
         "const %s *restrict at,\n    %s *restrict to, %s kc, %s first, "
         "%s n_lo, %s n_hi",
         x->name, x->type, index, x->type, index, index, index, index);
  cg_open_image_function(i);
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
  cg_image i = cg_image_of(x);
  cg_put_image_copy(&i);
  if (!cg_leaves_out(x))
    put_offsets(&i);
  put_place(&i);
  if (cg_blends(x))
    put_within(&i);
  if (never_gathers(&i))
    return;
  put_within(&i);
  put_gather(&i);
}

void
cg_put_window_blocks(const cg_contract *x) {
  cg_image i = cg_image_of(x);
  long long depth = depth_of(&i);
  cg_write(x->w, "%s %c_image[%lld] __attribute__((aligned(64)));", x->type,
           i.of_x ? 'x' : 'y', (long long)i.at.size);
  if (!cg_leaves_out(x))
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
  cg_image i = cg_image_of(x);
  const char *numbers = cg_number_arguments(x);
  if (!i.of_x)
    cg_write(x->w,
             "%s_pad(y, y_image, k_lo, k_hi, row, (n_hi - 1) / %s + 1%s);",
             x->name, inner_columns(&i), numbers);
  if (!cg_leaves_out(x))
    cg_write(x->w, "%s_offsets(offsets, k_lo, k_hi%s);", x->name, numbers);
  if (!never_gathers(&i))
    cg_write(x->w,
             "%s_gather(y_image, offsets, y_block, kc, row, n_lo, n_hi%s);",
             x->name, numbers);
}

void
cg_put_window_rows(const cg_contract *x) {
  cg_image i = cg_image_of(x);
  const char *inner = inner_columns(&i);
  if (!i.of_x)
    return;
  cg_write(x->w, "const %s row = m_lo / %s;", x->e->index, inner);
  cg_write(x->w, "%s_pad(x, x_image, k_lo, k_hi, row, (m_hi - 1) / %s + 1%s);",
           x->name, inner, cg_number_arguments(x));
}

void
cg_put_window_panel(const cg_contract *x) {
  cg_image i = cg_image_of(x);
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
  cg_image i = cg_image_of(x);
  const char *index = x->e->index, *inner = inner_columns(&i);
  const po_caxis *axis = &i.c->axes[0];
  long long columns = x->columns, most = x->c->nc;
  cg_write(x->w, "const %s glen_rows = (%lld / %s - %lld) / %lld + 1;", index,
           (long long)x->c->plane, cg_image_text(&i, i.at.n[0]),
           (long long)axis->window, (long long)axis->s);
  cg_write(x->w,
           "const %s glen_room = ((glen_rows - 1) * %s + 1) / %lld * %lld;",
           index, inner, columns, columns);
  cg_write(x->w,
           "const %s glen_widest = glen_rows >= %s || glen_room >= %lld "
           "? %lld : glen_room;",
           index, cg_image_text(&i, i.n->d[0].extent), most, most);
}

void
cg_put_window_height(const cg_contract *x) {
  cg_image i = cg_image_of(x);
  const po_caxis *axis = &i.c->axes[0];
  cg_write(x->w,
           "const %s glen_tallest = ((%lld / %s - %lld) / %lld + 1) * %s;",
           x->e->index, (long long)x->c->plane, cg_image_text(&i, i.at.n[0]),
           (long long)axis->window, (long long)axis->s, inner_columns(&i));
}

const char *
cg_window_inner(const cg_contract *x) {
  cg_image i = cg_image_of(x);
  return inner_columns(&i);
}
