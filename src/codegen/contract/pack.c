/* SPDX-License-Identifier: MIT */
/* pack.c - operands copied into the order the kernel reads them in.
 *
 * An operand becomes panels of some width (mr rows of x, nv vectors of y), one
 * after the other; a panel holds, k by k, its elements side by side.  Points
 * where a guard does not hold become zeros, and so may what fills the last
 * panel.
 *
 *   runs   where the operand lies along its rows: for given indices of k, the
 *          elements of a panel are a few runs in memory.  They are found once
 *          for all k that no guard names, for some panels together, so that
 *          memory is read along its lines.
 *   vectors  the same of y, where each of its rows is one run whose length the
 *          call alone knows: panels are whole vectors but for the last one.
 *   else   where it lies along k, see contract_rows.c. */
#include "glenside/target/tuned.h"
#include "codegen/contract/side.h"
#include <stdlib.h>

/* ---- runs ---- */

static bool
has_copy_function(const cg_side *s) {
  return cg_side_last_stride(s) == 1 || cg_side_last_stride(s) == 2;
}

/* From and to: C expressions of pointers. */
static void
put_copy(const cg_side *s, const char *from, const char *to, const char *n) {
  const cg_contract *x = s->x;
  const char *stride = cg_number_text(x, cg_side_last_stride(s));
  if (has_copy_function(s)) {
    cg_write(x->w, "%s_copy%s(%s, %s, %s);", x->name, stride, from, to, n);
    return;
  }
  cg_write(x->w, "for (%s t = 0; t < %s; t++)", x->e->index, n);
  cg_write(x->w, "(%s)[t] = (%s)[%s * t];", to, from, stride);
}

/* Where the innermost k goes from line to line of memory, which hardware does
 * not foresee across pages. */
static void
put_ahead(const cg_side *s, const char *place) {
  const cg_contract *x = s->x;
  const po_cdims *k = &x->c->dims[PO_DIM_K];
  int64_t bytes = gs_dtype_table[x->c->dtype].bytes;
  gs_number step = cg_side_stride(s, &k->d[k->n - 1]);
  int64_t line = x->c->cache_line;
  if (cg_side_last_stride(s) != 1 ||
      llabs(gs_most_of(x->sizes, step)) * bytes < line)
    return;
  for (int64_t at = 0; at < s->width * bytes; at += line)
    cg_write(x->w, "GLEN_AHEAD(from + (at + %s), %s);", place,
             cg_place_text(x, GS_AHEAD_ROWS * bytes, step, at, 1));
}

/* A run ends with its panel and where the innermost loop begins anew; before
 * and behind it guards may leave holes. */
static void
put_run(const cg_side *s, uint32_t guarded) {
  const cg_contract *x = s->x;
  cg_write(x->w, "const %s place = panel + i - p - begin;", x->e->index);
  if (s->operand->n_guards) {
    cg_write(x->w, "if (begin < lo) {");
    cg_write(x->w, "hole[holes] = place + begin;");
    cg_write(x->w, "hole_length[holes++] = lo - begin;");
    cg_write(x->w, "}");
    cg_write(x->w, "if (hi < end) {");
    cg_write(x->w, "hole[holes] = place + hi;");
    cg_write(x->w, "hole_length[holes++] = end - hi;");
    cg_write(x->w, "}");
  }
  cg_write(x->w, "if (lo < hi) {");
  cg_write(x->w, "run[runs] = place + lo;");
  cg_write(x->w, "length[runs] = hi - lo;");
  cg_add(x->w, "offset[runs++] = ");
  cg_put_address(s, s->role, cg_all_but_last(cg_side_dims(s)));
  cg_add(x->w, " + ");
  cg_put_address(s, PO_DIM_K, guarded);
  cg_write(x->w, " + %s * lo;", cg_number_text(x, cg_side_last_stride(s)));
  cg_write(x->w, "}");
}

static void
put_find_runs(const cg_side *s, uint32_t guarded) {
  const cg_contract *x = s->x;
  const po_cdims *dims = cg_side_dims(s);
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  uint32_t last = dims->n - 1;
  const char *extent = cg_number_text(x, dims->d[last].extent);
  long long width = s->width,
            least = gs_least_of(x->sizes, dims->d[last].extent);
  long long most = GS_PACK_STRIP * (width / (least > 0 ? least : 1) + 2);
  cg_write(x->w, "%s run[%lld], length[%lld], offset[%lld];", index, most, most,
           most);
  cg_write(x->w, "%s hole[%lld], hole_length[%lld];", index, 2 * most + 1,
           2 * most + 1);
  cg_write(x->w, "%s runs = 0, holes = 0;", index);
  cg_write(x->w, "for (%s p = strip; p < end_strip; p += %lld) {", index,
           width);
  cg_write(x->w, "const %s end_p = %s(p + %lld, last);", index, min, width);
  cg_write(x->w, "const %s panel = kc * (p - first);", index);
  cg_write(x->w, "for (%s i = p; i < end_p;) {", index);
  cg_put_split(s, "i", false);
  if (last)
    cg_write(x->w, "const %s begin = i %% %s;", index, extent);
  else
    cg_write(x->w, "const %s begin = i;", index);
  cg_write(x->w, "const %s end = %s(%s, begin + end_p - i);", index, min,
           extent);
  cg_write(x->w, "%s lo = begin, hi = end;", index);
  cg_put_interval(s, s->role, last);
  put_run(s, guarded);
  cg_write(x->w, "i += end - begin;");
  cg_write(x->w, "}");
  cg_write(x->w, "if (end_p < p + %lld) {", width);
  cg_write(x->w, "hole[holes] = panel + end_p - p;");
  cg_write(x->w, "hole_length[holes++] = p + %lld - end_p;", width);
  cg_write(x->w, "}");
  cg_write(x->w, "}");
}

static void
put_strips(const cg_side *s) {
  const cg_contract *x = s->x;
  const char *index = x->e->index;
  long long strip = GS_PACK_STRIP * s->width;
  cg_write(x->w, "for (%s strip = first; strip < last; strip += %lld) {", index,
           strip);
  cg_write(x->w, "const %s end_strip = %s(strip + %lld, last);", index,
           cg_helper_names[CG_MIN_INDEX], strip);
}

/* Where the first panel has the elements of this k. */
static void
put_row(const cg_side *s) {
  const cg_contract *x = s->x;
  cg_add(x->w, "%s *const row = to + %lld * (", x->type, (long long)s->width);
  cg_put_flat_k(s, cg_all_of(&x->c->dims[PO_DIM_K]));
  cg_write(x->w, ");");
}

static void
put_pack_runs(const cg_side *s) {
  const cg_contract *x = s->x;
  const char *index = x->e->index;
  uint32_t guarded = cg_guarded_k(s), every = cg_all_of(&x->c->dims[PO_DIM_K]);
  cg_put_pack_head(s);
  put_strips(s);
  cg_put_k_loops(s, guarded);
  cg_write(x->w, "{");
  put_find_runs(s, guarded);
  cg_put_k_loops(s, every & ~guarded);
  cg_write(x->w, "{");
  put_row(s);
  cg_put_declared_address(s, "at", PO_DIM_K, every & ~guarded);
  cg_write(x->w, "for (%s r = 0; r < holes; r++)", index);
  cg_write(x->w, "for (%s t = 0; t < hole_length[r]; t++)", index);
  cg_write(x->w, "row[hole[r] + t] = 0;");
  cg_write(x->w, "for (%s r = 0; r < runs; r++) {", index);
  put_ahead(s, "offset[r]");
  put_copy(s, "from + (at + offset[r])", "row + run[r]", "length[r]");
  cg_write(x->w, "}");
  cg_write(x->w, "}");
  cg_write(x->w, "}");
  cg_write(x->w, "}");
  cg_close_function(x->e, x->w);
}

/* ---- vectors ---- */

/* A panel that may have any number of columns; lanes beyond them are zero. */
static void
put_last_panel(const cg_side *s) {
  const cg_contract *x = s->x;
  const char *index = x->e->index;
  uint32_t lanes = x->c->lanes;
  cg_write(x->w, "for (%s t = p; t < end_strip; t += %u) {", index, lanes);
  if (x->c->ragged[s->role])
    cg_write(x->w, "const %s " CG_LEFT " = %s(end_strip - t, %u);", index,
             cg_helper_names[CG_MIN_INDEX], lanes);
  if (x->c->ragged[s->role])
    cg_put_get(x, "part", "from + (at + t)");
  else
    cg_write(x->w, "const %s_v part = *(const %s_v *)(from + (at + t));",
             x->name, x->name);
  cg_write(x->w, "*(%s_v *)(row + (kc * (p - first) + t - p)) = part;",
           x->name);
  cg_write(x->w, "}");
}

static void
put_full_panel(const cg_side *s) {
  const cg_contract *x = s->x;
  cg_write(x->w, "%s *const panel = row + kc * (p - first);", x->type);
  put_ahead(s, "p");
  for (int64_t t = 0; t < s->width; t += x->c->lanes) {
    cg_write(x->w, "%s_v v%lld = *(const %s_v *)(from + (at + p + %lld));",
             x->name, (long long)t, x->name, (long long)t);
    cg_write(x->w, "GLEN_HOLD(v%lld);", (long long)t);
    cg_write(x->w, "*(%s_v *)(panel + %lld) = v%lld;", x->name, (long long)t,
             (long long)t);
  }
}

static void
put_pack_vectors(const cg_side *s) {
  const cg_contract *x = s->x;
  uint32_t every = cg_all_of(&x->c->dims[PO_DIM_K]);
  long long width = s->width;
  cg_put_pack_head(s);
  put_strips(s);
  cg_put_k_loops(s, every);
  cg_write(x->w, "{");
  put_row(s);
  cg_put_declared_address(s, "at", PO_DIM_K, every);
  cg_write(x->w, "%s p = strip;", x->e->index);
  cg_write(x->w, "for (; p + %lld <= end_strip; p += %lld) {", width, width);
  put_full_panel(s);
  cg_write(x->w, "}");
  put_last_panel(s);
  cg_write(x->w, "}");
  cg_write(x->w, "}");
  cg_close_function(x->e, x->w);
}

/* Runs of known lengths are vectors for the C compiler already. */
static bool
is_of_vectors(const cg_side *s) {
  const po_cdims *own = cg_side_dims(s);
  return !s->of_x && own->n == 1 && gs_is_sized(own->d[0].extent) &&
         !s->operand->n_guards && cg_side_last_stride(s) == 1 &&
         cg_fits_register(s->x);
}

/* Whether elements lie closer along k than along the operand's own loops. A few
 * taps of a window with a stride are no run beside a row of its pixels, which
 * is copied by vectors. */
static bool
lies_along_k(const cg_side *s) {
  const po_cdims *k = &s->x->c->dims[PO_DIM_K], *own = cg_side_dims(s);
  const gs_sizes *sizes = s->x->sizes;
  const po_cdim *tap = &k->d[k->n - 1];
  if (has_copy_function(s) && gs_most_of(sizes, tap->extent) <
                                  gs_least_of(sizes, own->d[own->n - 1].extent))
    return false;
  return llabs(gs_most_of(sizes, cg_side_stride(s, tap))) <
         llabs(gs_most_of(sizes, cg_side_last_stride(s)));
}

static void
put_pack(const cg_side *s) {
  uint32_t last = s->x->c->dims[PO_DIM_K].n - 1;
  if (is_of_vectors(s))
    put_pack_vectors(s);
  else if (!lies_along_k(s))
    put_pack_runs(s);
  else if (!(cg_guarded_k(s) >> last & 1))
    cg_put_pack_rows(s);
  else
    cg_put_pack_lines(s);
}

static bool
is_packed(const cg_side *s) {
  return s->x->packs[s->of_x];
}

void
cg_put_contract_packs(const cg_contract *x) {
  cg_side sides[] = {cg_side_of(x, true), cg_side_of(x, false)};
  bool copies[3] = {false};
  for (uint32_t k = 0; k < 2; k++)
    if (is_packed(&sides[k]) && !lies_along_k(&sides[k]) &&
        !is_of_vectors(&sides[k]) && has_copy_function(&sides[k]))
      copies[cg_side_last_stride(&sides[k])] = true;
  if (cg_has_windows(x) && cg_window_stride(x) <= 2)
    copies[cg_window_stride(x)] = true;
  for (int64_t stride = 1; stride <= 2; stride++)
    if (copies[stride])
      cg_put_copy_function(x, stride);
  for (uint32_t k = 0; k < 2; k++)
    if (is_packed(&sides[k]))
      put_pack(&sides[k]);
}
