/* SPDX-License-Identifier: MIT */
/* taps.c - the products of a panel without those with the padding.
 *
 *   for each loop of k     of one along an outer axis, the taps between from1
 *                          and to1: the others are in the padding for all rows
 *     tap 0                of the innermost axis, written out: its rows in the
 *       the loops inside   array
 *     tap 1 ..
 *
 * What a tap is, and which are left out: see contraction_taps.c. */
#include "codegen/contract/image.h"
#include <assert.h>

/* A part of its taps is in the array, as the panel says. */
static bool
has_range(const cg_image *i, uint32_t loop) {
  return po_axis_along(i->c, loop) < i->last;
}

/* Iterations of k in one of that loop. */
static int64_t
points_within(const cg_image *i, uint32_t loop) {
  return po_cdims_product(NULL, i->k, loop + 1);
}

/* Elements of the image from a step of that loop to the next. */
static gs_number
step_of(const cg_image *i, uint32_t loop) {
  uint32_t axis = po_axis_along(i->c, loop);
  return axis == UINT32_MAX ? i->at.k[loop] : cg_image_window_step(i, axis);
}

/* ---- the taps that a panel has ---- */

void
cg_put_range_parameters(const cg_contract *x) {
  cg_image i = cg_image_of(x);
  for (uint32_t k = 0; k < i.k->n; k++)
    if (has_range(&i, k))
      cg_add(x->w, "%s from%u, %s to%u, ", x->e->index, k, x->e->index, k);
}

const char *
cg_range_arguments(const cg_contract *x) {
  cg_image i = cg_image_of(x);
  const char *text = "";
  for (uint32_t k = 0; k < i.k->n; k++)
    if (has_range(&i, k))
      text = bs_arena_printf(&x->e->arena, "%sfrom%u, to%u, ", text, k, k);
  return text;
}

/* Of the outermost loop, those in the block, counted from its first. */
static void
put_range_in_block(const cg_contract *x, const char *from, const char *to) {
  const char *index = x->e->index;
  cg_write(x->w, "const %s from0 = %s(%s, k_lo) - k_lo;", index,
           cg_helper_names[CG_MAX_INDEX], from);
  cg_write(x->w, "const %s to0 = %s(%s, k_hi) - k_lo;", index,
           cg_helper_names[CG_MIN_INDEX], to);
}

/* A position less that of an index, as C; the same in taps. */
static const char *
less_position(const cg_image *i, uint32_t axis, int64_t from,
              const char *index) {
  long long s = i->c->axes[axis].s, at = from;
  return s == 1 ? bs_arena_printf(&i->x->e->arena, "%lld - %s", at, index)
                : bs_arena_printf(&i->x->e->arena, "%lld - %lld * (%s)", at, s,
                                  index);
}

static const char *
divided(const cg_image *i, uint32_t axis) {
  long long d = i->c->axes[axis].d;
  return d == 1 ? "" : bs_arena_printf(&i->x->e->arena, " / %lld", d);
}

/* Taps that the last row of a panel has not yet come to, and those that its
 * first row has left behind, are in the padding for all of them. */
static void
put_range(const cg_image *i, uint32_t loop) {
  const cg_contract *x = i->x;
  bs_arena *arena = &x->e->arena;
  const char *min = cg_helper_names[CG_MIN_INDEX];
  uint32_t a = po_axis_along(i->c, loop);
  assert(a < i->last);
  const po_caxis *axis = &i->c->axes[a];
  int64_t extent = i->n->d[a].extent, taps = i->k->d[loop].extent;
  const char *first =
      bs_arena_printf(arena, "m / %s %% %lld",
                      cg_image_text(i, po_cdims_product(x->over, i->n, a + 1)),
                      (long long)extent);
  assert(axis->s >= 1 && axis->d >= 1);
  long long span = po_span_of(i->c, a, i->c->mr);
  const char *last =
      span == 1 ? first
                : bs_arena_printf(arena, "%s(%s + %lld, %lld)", min, first,
                                  span - 1, (long long)(extent - 1));
  const char *from = bs_arena_printf(
      arena, "%s(%s, 0)%s", cg_helper_names[CG_MAX_INDEX],
      less_position(i, a, axis->lo + axis->d - 1, last), divided(i, a));
  const char *to = bs_arena_printf(arena, "%s((%s)%s + 1, %lld)", min,
                                   less_position(i, a, axis->hi, first),
                                   divided(i, a), (long long)taps);
  if (!loop) {
    put_range_in_block(x, from, to);
    return;
  }
  cg_write(x->w, "const %s from%u = %s;", x->e->index, loop, from);
  cg_write(x->w, "const %s to%u = %s;", x->e->index, loop, to);
}

void
cg_put_ranges(const cg_contract *x) {
  cg_image i = cg_image_of(x);
  for (uint32_t k = 0; k < i.k->n; k++)
    if (has_range(&i, k))
      put_range(&i, k);
}

void
cg_put_block_of_taps(const cg_contract *x) {
  cg_image i = cg_image_of(x);
  if (has_range(&i, 0))
    cg_add(x->w, " + %s * k_lo", cg_image_text(&i, step_of(&i, 0)));
}

/* ---- the products ---- */

/* Elements of the image from the first tap of the innermost axis to another. */
static int64_t
place_of_tap(const cg_image *i, int64_t tap) {
  const po_caxis *axis = &i->c->axes[i->last];
  int64_t at = axis->d * tap;
  return i->at.phase * (at % axis->s) + at / axis->s;
}

/* The products of a point of the loops around it.  Its pointer is hidden: kept
 * in registers until the next tap, which reads them again, its elements would
 * drive sums out of them. */
static void
put_point(const cg_image *i, cg_panel panel, uint32_t written, int64_t tap) {
  const cg_contract *x = i->x;
  bs_arena *arena = &x->e->arena;
  bool whole = panel.rows >= i->n->d[i->last].extent;
  cg_point point = {.tap = tap, .x = "tap[0"};
  bool is_written = written != UINT32_MAX;
  if (is_written && whole)
    point.axis = &i->c->axes[i->last];
  point.k = bs_arena_printf(
      arena, "%lld",
      is_written ? (long long)points_within(i, written) * tap : 0);
  cg_add(x->w, "const %s *tap = x + %lld", x->type,
         is_written ? (long long)place_of_tap(i, tap) : 0);
  for (uint32_t k = 0; k < i->k->n; k++) {
    if (k == written)
      continue;
    cg_add(x->w, " + %s * k%u", cg_image_text(i, step_of(i, k)), k);
    point.k = bs_arena_printf(arena, "%s + %lld * k%u", point.k,
                              (long long)points_within(i, k), k);
  }
  cg_write(x->w, ";");
  cg_write(x->w, "GLEN_HIDE(tap);");
  point.k = bs_arena_printf(arena, "(%s)", point.k);
  point.y = bs_arena_printf(arena, "%lld * %s", (long long)x->columns, point.k);
  cg_put_point(x, panel, &point);
}

/* Opens the loops of k from one on up to another; how many. */
static uint32_t
open_loops(const cg_image *i, uint32_t from, uint32_t to) {
  const cg_contract *x = i->x;
  for (uint32_t k = from; k < to; k++) {
    long long extent = i->k->d[k].extent;
    if (k && k + 1 == i->k->n)
      cg_put_unrolled(x, extent);
    if (has_range(i, k))
      cg_write(x->w, "for (%s k%u = from%u; k%u < to%u; k%u++) {", x->e->index,
               k, k, k, k, k);
    else if (k)
      cg_write(x->w, "for (%s k%u = 0; k%u < %lld; k%u++) {", x->e->index, k, k,
               extent, k);
    else
      cg_write(x->w, "for (%s k0 = 0; k0 < kc / %lld; k0++) {", x->e->index,
               (long long)points_within(i, 0));
  }
  return to - from;
}

static void
close_loops(const cg_contract *x, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    cg_write(x->w, "}");
}

/* One tap after the other, each in a scope of its own. */
static void
put_written(const cg_image *i, cg_panel panel, uint32_t written) {
  const cg_contract *x = i->x;
  assert(written < i->k->n);
  for (int64_t tap = 0; tap < i->k->d[written].extent; tap++) {
    cg_write(x->w, "{");
    uint32_t loops = open_loops(i, written + 1, i->k->n);
    put_point(i, panel, written, tap);
    close_loops(x, loops + 1);
  }
}

void
cg_put_taps(const cg_contract *x, cg_panel panel) {
  cg_image i = cg_image_of(x);
  uint32_t written = po_written_taps(x->c);
  uint32_t around = written == UINT32_MAX ? i.k->n : written;
  if (has_range(&i, 0))
    cg_write(x->w, "(void)kc;");
  uint32_t loops = open_loops(&i, 0, around);
  if (written == UINT32_MAX)
    put_point(&i, panel, written, 0);
  else
    put_written(&i, panel, written);
  close_loops(x, loops);
}
