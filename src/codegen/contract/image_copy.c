/* SPDX-License-Identifier: MIT */
/* image_copy.c - the copy of an image, with its padding.
 *
 * Row by row, and in a row phase by phase of the innermost steps: zeros, what
 * lies inside of the padding, zeros. */
#include "codegen/contract/image.h"
#include "base/whole.h"
#include <assert.h>

/* Loops over k that no axis has. */
static void
put_plane_loops(const cg_image *i) {
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
put_row_loops(const cg_image *i) {
  const char *index = i->x->e->index;
  for (uint32_t a = 0; a < i->last; a++) {
    const po_caxis *axis = &i->c->axes[a];
    if (a)
      cg_write(i->x->w, "for (%s p%u = 0; p%u < %s; p%u++)", index, a, a,
               cg_image_text(i, cg_image_positions(i, a)), a);
    else
      cg_write(i->x->w,
               "for (%s p0 = %lld * first; p0 < %lld * last + %lld; p0++)",
               index, (long long)axis->s, (long long)axis->s,
               (long long)(axis->window - axis->s));
  }
}

/* A row of the copy, and the one of the image that it is of. */
static void
put_row_pointers(const cg_image *i) {
  cg_add(i->x->w, "%s *const line = to + (0", i->x->type);
  for (uint32_t j = 0; j < i->k->n; j++)
    if (i->at.k[j])
      cg_add(i->x->w, j ? " + %lld * k%u" : " + %lld * (k%u - k_lo)",
             (long long)i->at.k[j], j);
  for (uint32_t a = 0; a < i->last; a++) {
    cg_add(i->x->w, " + %s * ", cg_image_text(i, i->at.n[a]));
    if (a)
      cg_add(i->x->w, "p%u", a);
    else
      cg_add(i->x->w, "(p0 - %lld * first)", (long long)i->c->axes[0].s);
  }
  cg_write(i->x->w, ");");
}

/* The positions that some n and k have within the guards. */
static const char *
low_of(const cg_image *i, uint32_t a) {
  return i->x->over ? bs_arena_printf(&i->x->e->arena, "low%u", a)
                    : cg_image_text(i, i->c->axes[a].lo);
}

static const char *
high_of(const cg_image *i, uint32_t a) {
  return i->x->over ? bs_arena_printf(&i->x->e->arena, "high%u", a)
                    : cg_image_text(i, i->c->axes[a].hi);
}

/* lowN and highN as the plan has them where sizes are integers. */
static void
put_ends(const cg_image *i, uint32_t a) {
  assert(a < i->n->n);
  const cg_contract *x = i->x;
  const po_caxis *axis = &i->c->axes[a];
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  const char *lo = cg_image_text(i, axis->lo), *hi = cg_image_text(i, axis->hi);
  const char *max = cg_helper_names[CG_MAX_INDEX];
  long long s = axis->s, d = axis->d, points = (axis->window - 1) / (d ? d : 1);
  cg_write(x->w, "%s low%u = %s, high%u = -1;", index, a,
           cg_image_text(i, cg_image_positions(i, a)), a);
  cg_write(x->w, "for (%s at = 0; at <= %lld; at += %lld) {", index, points * d,
           d ? d : 1);
  cg_write(x->w, "const %s begin = %s > at ? (%s - at + %lld) / %lld : 0;",
           index, lo, lo, s - 1, s);
  cg_write(x->w, "const %s end = %s < at ? -1 : %s((%s - at) / %lld, %s - 1);",
           index, hi, min, hi, s, cg_image_text(i, i->n->d[a].extent));
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
put_outside(const cg_image *i) {
  const char * or = "";
  if (!i->last)
    return;
  cg_add(i->x->w, "if (");
  for (uint32_t a = 0; a < i->last; a++, or = " || ")
    cg_add(i->x->w, "%sp%u < %s || p%u > %s", or, a, low_of(i, a), a,
           high_of(i, a));
  cg_write(i->x->w, ") {");
  if (i->x->over)
    put_zeros(i->x, "line", "0", cg_image_text(i, cg_image_phases(i)));
  else
    cg_write(i->x->w, "memset(line, 0, sizeof *line * %s);",
             cg_image_text(i, cg_image_phases(i)));
  cg_write(i->x->w, "continue;");
  cg_write(i->x->w, "}");
}

static void
put_row(const cg_image *i) {
  cg_add(i->x->w, "const %s *const row = from + (0", i->x->type);
  for (uint32_t j = 0; j < i->k->n; j++)
    if (i->at.k[j])
      cg_add(i->x->w, " + %s * k%u",
             cg_image_text(i, i->of_x ? i->k->d[j].x : i->k->d[j].y), j);
  for (uint32_t a = 0; a < i->last; a++)
    cg_add(i->x->w, " + %s * p%u", cg_image_text(i, i->c->axes[a].unit), a);
  cg_write(i->x->w, ");");
}

/* What of a row lies inside the padding, from the ends that the call found. */
static void
put_inside_ends(const cg_image *i, int64_t phase) {
  const cg_contract *x = i->x;
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  const char *max = cg_helper_names[CG_MAX_INDEX];
  const char *low = low_of(i, i->last), *high = high_of(i, i->last);
  const char *shift = i->last ? "" : " - first";
  const char *columns = cg_image_text(i, i->at.columns);
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
put_inside(const cg_image *i, int64_t phase) {
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
put_elements(const cg_image *i, int64_t phase) {
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
put_phase(const cg_image *i, int64_t phase) {
  assert(phase >= 0);
  const cg_contract *x = i->x;
  const char *index = x->e->index, *columns = cg_image_text(i, i->at.columns);
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

void
cg_put_image_copy(const cg_image *i) {
  const cg_contract *x = i->x;
  const char *index = x->e->index;
  cg_add(x->w,
         "static void\n%s_pad(const %s *restrict from, %s *restrict to,\n"
         "    %s k_lo, %s k_hi, %s first, %s last",
         x->name, x->type, x->type, index, index, index, index);
  cg_open_image_function(i);
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
