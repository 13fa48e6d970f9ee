/* SPDX-License-Identifier: MIT */
/* mac_pack.c - operands copied into panels of fragments.
 *
 * Row r of a panel has element t of k at
 *
 *   t / K * width * K        groups of what an instruction takes
 *   + r / M * M * K          fragments side by side
 *   + t % K / q * M * q      blocks of q elements of each row
 *   + r % M * q + t % q
 *
 * or, of fragments of one row, at r * row + t: rows stay as they lie, each at a
 * distance from the next.
 *
 * Points where a guard does not hold, and what fills groups and panels, are
 * zeros, with the offset that all elements get. */
#include "codegen/contract/contract_mac.h"
#include <assert.h>

#define K(s) ((long long)(s)->mac->k)
#define Q(s) ((long long)(s)->operand->interleave)

/* ---- elements ---- */

/* The element that is `value` in memory. */
static const char *
element(const cg_mac_side *s, const char *value) {
  bs_arena *arena = &s->side.x->e->arena;
  if (s->offset)
    return bs_arena_printf(arena, "(%s)(%s + (%lld))", s->lane, value,
                           (long long)s->offset);
  return bs_arena_printf(arena, "%s", value);
}

/* Elements in memory are what registers hold. */
static bool
copies_bits(const cg_mac_side *s) {
  return gs_dtype_table[s->dtype].bytes ==
         gs_lane_table[s->operand->lane].bytes;
}

/* Where row `row` begins in a group; both are expressions. */
static const char *
row_place(const cg_mac_side *s, const char *row) {
  bs_arena *arena = &s->side.x->e->arena;
  long long q = Q(s), rows = s->rows;
  if (s->row)
    return bs_arena_printf(arena, "%lld * (%s)", (long long)s->row, row);
  if (q == K(s))
    return bs_arena_printf(arena, "%lld * (%s)", q, row);
  return bs_arena_printf(arena, "(%s) / %lld * %lld + (%s) %% %lld * %lld", row,
                         rows, rows * K(s), row, rows, q);
}

/* How far element t of a group lies behind its first one. */
static int64_t
step_place(const cg_mac_side *s, int64_t t) {
  return t / Q(s) * s->rows * Q(s) + t % Q(s);
}

/* Where element `t` of k is from there on, an expression. */
static const char *
any_place(const cg_mac_side *s, const char *t) {
  bs_arena *arena = &s->side.x->e->arena;
  long long q = Q(s), group = s->side.width * K(s);
  if (s->row)
    return t;
  if (q == K(s))
    return bs_arena_printf(arena, "%s / %lld * %lld + %s %% %lld", t, K(s),
                           group, t, q);
  return bs_arena_printf(
      arena, "%s / %lld * %lld + %s %% %lld / %lld * %lld + %s %% %lld", t,
      K(s), group, t, K(s), q, (long long)s->rows * q, t, q);
}

/* ---- loops ---- */

static const po_cdims *
dims_of_k(const cg_mac_side *s) {
  return &s->side.x->c->dims[PO_DIM_K];
}

static uint32_t
outer_k(const cg_mac_side *s) {
  return cg_all_but_last(dims_of_k(s));
}

/* block: the part of the panel that the outer loops of k stand at. */
static void
put_block_pointer(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  const po_cdims *k = dims_of_k(s);
  int64_t size = s->inner * (s->row ? 1 : s->side.width);
  cg_add(x->w, "%s *const block = panel", s->lane);
  for (uint32_t d = k->n - 1; d-- > 0;) {
    cg_add(x->w, " + %lld * k%u", (long long)size, d);
    size *= k->d[d].extent;
  }
  cg_write(x->w, ";");
}

static void
put_filled(const cg_mac_side *s) {
  cg_write(s->side.x->w, "for (%s t = 0; t < %lld; t++)", s->side.x->e->index,
           (long long)(s->inner * s->side.width));
  cg_write(s->side.x->w, "block[t] = %lld;", (long long)s->offset);
}

static int64_t
last_extent(const cg_mac_side *s) {
  return dims_of_k(s)->d[dims_of_k(s)->n - 1].extent;
}

static int64_t
last_step(const cg_mac_side *s) {
  return cg_side_stride(&s->side, &dims_of_k(s)->d[dims_of_k(s)->n - 1]);
}

/* Elements first .. of a group, from `from` on, of row `to`; `at`: an
 * expression that is added to each index. */
static void
put_group(const cg_mac_side *s, int64_t n, const char *at) {
  assert(n <= s->mac->k);
  const cg_contract *x = s->side.x;
  for (int64_t t = 0; t < n; t++)
    cg_write(
        x->w, "to_row[%lld] = %s;", (long long)step_place(s, t),
        element(s, bs_arena_printf(&x->e->arena, "run[%lld * (g + %lld)%s]",
                                   (long long)last_step(s), (long long)t, at)));
}

/* Full groups of k and the one that is not, for `body` n elements at a time. */
static void
put_groups(const cg_mac_side *s, void (*body)(const cg_mac_side *, int64_t n)) {
  const cg_contract *x = s->side.x;
  int64_t extent = last_extent(s), rest = extent % K(s);
  if (extent >= K(s)) {
    cg_write(x->w, "for (%s g = 0; g < %lld; g += %lld) {", x->e->index,
             (long long)(extent - rest), K(s));
    body(s, K(s));
    cg_write(x->w, "}");
  }
  if (rest) {
    cg_write(x->w, "{");
    cg_write(x->w, "const %s g = %lld;", x->e->index,
             (long long)(extent - rest));
    body(s, rest);
    cg_write(x->w, "}");
  }
}

/* ---- runs: rows that lie side by side ---- */

static void
put_run_group(const cg_mac_side *s, int64_t n) {
  assert(n >= 1);
  const cg_contract *x = s->side.x;
  const char *at = bs_arena_printf(&x->e->arena, " + %lld * r",
                                   (long long)cg_side_last_stride(&s->side));
  cg_write(x->w, "for (%s r = 0; r < hi - lo; r++) {", x->e->index);
  cg_write(x->w, "%s *const to_row = block + g * %lld + (%s);", s->lane,
           (long long)s->side.width, row_place(s, "first_row + r"));
  put_group(s, n, at);
  cg_write(x->w, "}");
}

static void
put_run(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  const po_cdims *own = cg_side_dims(&s->side);
  cg_write(x->w, "const %s first_row = i - p + lo - begin;", x->e->index);
  cg_add(x->w, "const %s *const run = from + (", cg_mac_type(s));
  cg_put_address(&s->side, s->side.role, own->n ? cg_all_but_last(own) : 0);
  cg_add(x->w, " + ");
  cg_put_address(&s->side, PO_DIM_K, outer_k(s));
  cg_write(x->w, " + %lld * lo);", (long long)cg_side_last_stride(&s->side));
  put_groups(s, put_run_group);
}

static void
put_runs(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  const po_cdims *own = cg_side_dims(&s->side);
  const char *index = x->e->index, *min = cg_helper_names[CG_MIN_INDEX];
  cg_put_k_loops(&s->side, outer_k(s));
  uint32_t last = own->n - 1;
  bool always = s->side.operand->n_guards || last_extent(s) % K(s);
  cg_write(x->w, "{");
  put_block_pointer(s);
  if (!always)
    cg_write(x->w, "if (end_p < p + %lld)", (long long)s->side.width);
  put_filled(s);
  cg_write(x->w, "for (%s i = p; i < end_p;) {", index);
  cg_put_split(&s->side, "i", false);
  if (last)
    cg_write(x->w, "const %s begin = i %% %lld;", index,
             (long long)own->d[last].extent);
  else
    cg_write(x->w, "const %s begin = i;", index);
  cg_write(x->w, "const %s end = %s(%lld, begin + end_p - i);", index, min,
           (long long)own->d[last].extent);
  cg_write(x->w, "%s lo = begin, hi = end;", index);
  cg_put_interval(&s->side, s->side.role, last);
  cg_write(x->w, "if (lo < hi) {");
  put_run(s);
  cg_write(x->w, "}");
  cg_write(x->w, "i += end - begin;");
  cg_write(x->w, "}");
  cg_write(x->w, "}");
}

/* ---- rows that lie along k ---- */

static void
put_inside(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  cg_add(x->w, "if (p + r < last");
  for (uint32_t g = 0; g < s->side.operand->n_guards; g++) {
    cg_add(x->w, " && ");
    cg_put_linear(x, &s->side.operand->guards[g], 4, 0);
    cg_add(x->w, " >= 0");
  }
  cg_write(x->w, ") {");
}

static void
put_row_group(const cg_mac_side *s, int64_t n) {
  cg_write(s->side.x->w, "%s *const to_row = at + g * %lld;", s->lane,
           (long long)s->side.width);
  put_group(s, n, "");
  for (int64_t t = n; t < s->mac->k; t++)
    cg_write(s->side.x->w, "to_row[%lld] = %lld;", (long long)step_place(s, t),
             (long long)s->offset);
}

static void
put_empty_row(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  cg_write(x->w, "for (%s g = 0; g < %lld; g += %lld) {", x->e->index,
           (long long)s->inner, K(s));
  for (int64_t t = 0; t < s->mac->k; t++)
    cg_write(x->w, "at[g * %lld + %lld] = %lld;", (long long)s->side.width,
             (long long)step_place(s, t), (long long)s->offset);
  cg_write(x->w, "}");
}

/* What fills a row from `first` on. */
static void
put_filled_row(const cg_mac_side *s, int64_t first) {
  assert(first >= 0);
  if (first < s->inner)
    cg_write(s->side.x->w, "memset(at + %lld, %lld, %lld);", (long long)first,
             (long long)s->offset,
             (long long)((s->inner - first) *
                         gs_lane_table[s->operand->lane].bytes));
}

/* The elements stay as they are, one behind the other. */
static bool
keeps_bytes(const cg_mac_side *s) {
  return last_step(s) == 1 && !s->offset && copies_bits(s);
}

/* Elements of a row that keeps its order. */
static void
put_copied_row(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  const char *from =
      bs_arena_printf(&x->e->arena, "run[%lld * t]", (long long)last_step(s));
  if (keeps_bytes(s)) {
    cg_write(
        x->w, "memcpy(at, run, %lld);",
        (long long)(last_extent(s) * gs_lane_table[s->operand->lane].bytes));
  } else {
    cg_write(x->w, "for (%s t = 0; t < %lld; t++)", x->e->index,
             (long long)last_extent(s));
    cg_write(x->w, "at[t] = %s;", element(s, from));
  }
  put_filled_row(s, last_extent(s));
}

static void
put_rows(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  cg_put_k_loops(&s->side, outer_k(s));
  cg_write(x->w, "{");
  put_block_pointer(s);
  cg_write(x->w, "for (%s r = 0; r < %lld; r++) {", x->e->index,
           (long long)s->side.width);
  cg_write(x->w, "%s *const at = block + (%s);", s->lane, row_place(s, "r"));
  cg_write(x->w, "const %s i = %s(p + r, last - 1);", x->e->index,
           cg_helper_names[CG_MIN_INDEX]);
  cg_write(x->w, "(void)i;");
  cg_put_split(&s->side, "i", true);
  put_inside(s);
  cg_add(x->w, "const %s *const run = from + (", cg_mac_type(s));
  cg_put_address(&s->side, s->side.role, cg_all_of(cg_side_dims(&s->side)));
  cg_add(x->w, " + ");
  cg_put_address(&s->side, PO_DIM_K, outer_k(s));
  cg_write(x->w, ");");
  if (s->row)
    put_copied_row(s);
  else
    put_groups(s, put_row_group);
  cg_write(x->w, "} else {");
  if (s->row)
    put_filled_row(s, 0);
  else
    put_empty_row(s);
  cg_write(x->w, "}");
  cg_write(x->w, "}");
  cg_write(x->w, "}");
}

/* ---- element by element ---- */

/* Along the innermost loop of k, within what guards admit. */
static void
put_single_line(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  uint32_t last = dims_of_k(s)->n - 1;
  cg_write(x->w, "const %s begin = 0, end = %lld;", x->e->index,
           (long long)last_extent(s));
  cg_write(x->w, "%s lo = begin, hi = end;", x->e->index);
  cg_put_interval(&s->side, PO_DIM_K, last);
  cg_write(x->w, "hi = p + r < last ? hi : lo;");
  cg_put_declared_address(&s->side, "row", s->side.role,
                          cg_all_of(cg_side_dims(&s->side)));
  cg_put_declared_address(&s->side, "line", PO_DIM_K, outer_k(s));
  cg_write(x->w, "for (%s t = begin; t < end; t++, kk++)", x->e->index);
  cg_write(
      x->w, "at[%s] = t < lo || t >= hi ? %lld : %s;", any_place(s, "kk"),
      (long long)s->offset,
      element(s, bs_arena_printf(&x->e->arena, "from[row + line + %lld * t]",
                                 (long long)last_step(s))));
  if (s->side.x->c->mac.flat)
    return;
  cg_write(x->w, "for (; kk %% %lld; kk++)", K(s));
  cg_write(x->w, "at[%s] = %lld;", any_place(s, "kk"), (long long)s->offset);
}

/* A whole line: a copy of known length, which compilers make a few moves. */
static void
put_whole_line(const cg_mac_side *s, long long length, const char *value) {
  cg_writer *w = s->side.x->w;
  if (keeps_bytes(s)) {
    cg_write(w, "memcpy(at + kk, from + row + line, %lld);",
             length * gs_lane_table[s->operand->lane].bytes);
    return;
  }
  cg_write(w, "for (%s t = 0; t < %lld; t++)", s->side.x->e->index, length);
  cg_write(w, "at[kk + t] = %s;", value);
}

/* Elements lo .. hi, of `inner` each, of a line of a row that keeps its order;
 * most lines are whole. */
static void
put_line_elements(const cg_mac_side *s, int64_t extent, int64_t inner) {
  cg_writer *w = s->side.x->w;
  const char *index = s->side.x->e->index;
  const char *value = element(s, bs_arena_printf(&s->side.x->e->arena,
                                                 "from[row + line + %lld * t]",
                                                 (long long)last_step(s)));
  long long length = extent * inner, each = inner, fill = s->offset;
  cg_write(w, "if (lo == begin && hi == end) {");
  put_whole_line(s, length, value);
  cg_write(w, "} else {");
  cg_write(w, "for (%s t = 0; t < %lld * lo; t++)", index, each);
  cg_write(w, "at[kk + t] = %lld;", fill);
  cg_write(w, "for (%s t = %lld * lo; t < %lld * hi; t++)", index, each, each);
  cg_write(w, "at[kk + t] = %s;", value);
  cg_write(w, "for (%s t = %lld * hi; t < %lld; t++)", index, each, length);
  cg_write(w, "at[kk + t] = %lld;", fill);
  cg_write(w, "}");
  cg_write(w, "kk += %lld;", length);
}

/* Along the loops of k from `first` on, which are one run in memory. */
static void
put_line(const cg_mac_side *s, uint32_t first) {
  const cg_contract *x = s->side.x;
  const po_cdims *k = dims_of_k(s);
  int64_t inner = 1;
  for (uint32_t d = first + 1; d < k->n; d++)
    inner *= k->d[d].extent;
  cg_write(x->w, "const %s begin = 0, end = %lld;", x->e->index,
           (long long)k->d[first].extent);
  cg_write(x->w, "%s lo = begin, hi = end;", x->e->index);
  cg_put_interval(&s->side, PO_DIM_K, first);
  cg_write(x->w, "hi = p + r < last ? hi : lo;");
  cg_put_declared_address(&s->side, "row", s->side.role,
                          cg_all_of(cg_side_dims(&s->side)));
  cg_put_declared_address(&s->side, "line", PO_DIM_K, (1u << first) - 1);
  put_line_elements(s, k->d[first].extent, inner);
}

static void
put_singly(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  cg_write(x->w, "for (%s r = 0; r < %lld; r++) {", x->e->index,
           (long long)s->side.width);
  cg_write(x->w, "%s *const at = panel + (%s);", s->lane, row_place(s, "r"));
  cg_write(x->w, "const %s i = %s(p + r, last - 1);", x->e->index,
           cg_helper_names[CG_MIN_INDEX]);
  cg_write(x->w, "(void)i;");
  cg_put_split(&s->side, "i", true);
  cg_write(x->w, "%s kk = 0;", x->e->index);
  uint32_t first = s->row ? po_mac_line_of(x->c) : dims_of_k(s)->n - 1;
  cg_put_k_loops(&s->side, (1u << first) - 1);
  cg_write(x->w, "{");
  if (s->row)
    put_line(s, first);
  else
    put_single_line(s);
  cg_write(x->w, "}");
  cg_write(x->w, "for (; kk < %lld; kk++)", (long long)s->depth);
  cg_write(x->w, "at[%s] = %lld;", any_place(s, "kk"), (long long)s->offset);
  cg_write(x->w, "}");
}

/* ---- sums of rows ---- */

/* Behind the panel: what the offset of the other operand adds to each row's
 * sums.  Of elements of this one, its own offset is taken back where it is the
 * columns', so that what both add is counted once. */
static void
put_row_sums(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  int64_t other = x->c->mac.offset[s->side.of_x];
  int64_t own = s->side.of_x ? 0 : s->offset;
  long long width = s->side.width;
  bool begins = !s->side.of_x && po_mac_begins_with_sums(x->c);
  if (!po_mac_sums_rows(x->c, s->side.of_x))
    return;
  cg_write(x->w, "int32_t row_sums[%lld] = {0};", width);
  cg_write(x->w, "for (%s g = 0; g < %lld; g++)", x->e->index,
           (long long)(s->depth / s->mac->k));
  cg_write(x->w, "for (%s r = 0; r < %lld; r++) {", x->e->index, width);
  cg_write(x->w, "const %s *const of = panel + g * %lld + (%s);", s->lane,
           (s->row ? 1 : width) * K(s), row_place(s, "r"));
  cg_write(x->w, "for (int t = 0; t < %lld; t++)", K(s));
  cg_write(x->w, "row_sums[r] += of[%s] - (%lld);",
           Q(s) == K(s)
               ? "t"
               : bs_arena_printf(&x->e->arena, "t / %lld * %lld + t %% %lld",
                                 Q(s), (long long)s->rows * Q(s), Q(s)),
           (long long)own);
  cg_write(x->w, "}");
  cg_write(x->w, "for (%s r = 0; r < %lld; r++)", x->e->index, width);
  cg_write(x->w, "row_sums[r] = (int32_t)((unsigned)row_sums[r] * %lldu);",
           (long long)(uint32_t)(int32_t)(begins ? -other : other));
  cg_write(x->w, "memcpy(panel + %lld, row_sums, sizeof row_sums);",
           (long long)s->sums);
}

/* ---- the function ---- */

static void
put_head(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  const po_cdims *o = &x->c->dims[PO_DIM_O];
  const char *index = x->e->index;
  cg_add(x->w,
         "GLEN_PACK static void\n%s_pack_%c(const %s *restrict from, "
         "%s *restrict to,\n    %s first, %s last",
         x->name, s->side.of_x ? 'x' : 'y', cg_mac_type(s), s->lane, index,
         index);
  for (uint32_t d = 0; d < o->n; d++)
    if (cg_names_outer(s->side.operand, d))
      cg_add(x->w, ", %s o%u", index, d);
  cg_write(x->w, ") {");
  if (dims_of_k(s)->n > 1 &&
      !(s->row && x->c->mac.flat && !po_mac_line_of(x->c)))
    cg_write(x->w, "const %s k_lo = 0, k_hi = %lld;", index,
             (long long)dims_of_k(s)->d[0].extent);
}

void
cg_put_mac_pack(const cg_mac_side *s) {
  const cg_contract *x = s->side.x;
  put_head(s);
  cg_write(x->w, "for (%s p = first; p < last; p += %lld) {", x->e->index,
           (long long)s->side.width);
  cg_write(x->w, "%s *const panel = to + (p - first) / %lld * %lld;", s->lane,
           (long long)s->side.width, (long long)s->panel);
  switch (s->way) {
  case PO_MAC_RUNS:
    cg_write(x->w, "const %s end_p = %s(p + %lld, last);", x->e->index,
             cg_helper_names[CG_MIN_INDEX], (long long)s->side.width);
    put_runs(s);
    break;
  case PO_MAC_ROWS:
    put_rows(s);
    break;
  case PO_MAC_SINGLE:
    put_singly(s);
    break;
  }
  put_row_sums(s);
  cg_write(x->w, "}");
  cg_close_function(x->e, x->w);
}
