/* SPDX-License-Identifier: MIT */
/* contract_rows.c - operands that lie along k, packed.
 *
 *   rows   blocks are turned over in registers;
 *   lines  where a guard names the innermost k: one element at a time. */
#include "codegen/contract/side.h"

/* ---- rows ---- */

/* Pointers to the rows of the panel; those that a guard excludes point to one
 * that it does not, and are listed. */
static void
put_find_rows(const cg_side *s, uint32_t guarded) {
  const cg_contract *x = s->x;
  const char *index = x->e->index;
  long long width = s->width;
  bool guards = s->operand->n_guards;
  cg_write(x->w, "const %s *row[%lld];", x->type, width);
  if (guards) {
    cg_write(x->w, "const %s *inside = NULL;", x->type);
    cg_write(x->w, "%s outside[%lld], n_outside = 0;", index, width);
  }
  cg_write(x->w, "for (%s r = 0; r < %lld; r++) {", index, width);
  cg_write(x->w, "const %s i = %s(p + r, last - 1);", index,
           cg_helper_names[CG_MIN_INDEX]);
  cg_put_split(s, "i", true);
  for (uint32_t g = 0; g < s->operand->n_guards; g++) {
    cg_add(x->w, "%s", g ? "ok = ok && " : "int ok = ");
    cg_put_linear(x, &s->operand->guards[g], 4, 0);
    cg_write(x->w, " >= 0;");
  }
  if (guards) {
    cg_write(x->w, "if (!ok) {");
    cg_write(x->w, "outside[n_outside++] = r;");
    cg_write(x->w, "continue;");
    cg_write(x->w, "}");
  }
  cg_add(x->w, "%srow[r] = from + (", guards ? "inside = " : "");
  cg_put_address(s, s->role, cg_all_of(cg_side_dims(s)));
  cg_add(x->w, " + ");
  cg_put_address(s, PO_DIM_K, guarded);
  cg_write(x->w, ");");
  cg_write(x->w, "}");
  if (guards) {
    cg_write(x->w, "for (%s r = 0; r < n_outside; r++)", index);
    cg_write(x->w, "row[outside[r]] = inside;");
  }
}

/* The rows of the next panel, a line of each at a time. */
static void
put_rows_ahead(const cg_side *s) {
  const cg_contract *x = s->x;
  int64_t bytes = gs_dtype_table[x->c->dtype].bytes;
  int64_t line = x->c->cache_line / bytes;
  if (line > x->c->lanes)
    cg_write(x->w, "if (t %% %lld == 0)", (long long)line);
  cg_write(x->w, "for (int r = 0; r < %lld; r++)", (long long)s->width);
  cg_write(x->w, "GLEN_AHEAD(row[r] + (at + begin + t), %s);",
           cg_times_text(x, s->width * bytes, cg_side_last_stride(s)));
}

/* Along the innermost k, from begin to end. */
static void
put_turned_line(const cg_side *s) {
  const cg_contract *x = s->x;
  const po_cdims *k = &x->c->dims[PO_DIM_K];
  const char *index = x->e->index;
  gs_number step = cg_side_stride(s, &k->d[k->n - 1]);
  long long width = s->width;
  uint32_t lanes = x->c->lanes;
  cg_write(x->w, "const %s n = end - begin;", index);
  cg_write(x->w, "%s t = 0;", index);
  if (step == 1 && cg_can_turn(lanes)) {
    cg_write(x->w, "for (; t < n / %u * %u; t += %u) {", lanes, lanes, lanes);
    put_rows_ahead(s);
    cg_write(x->w, "%s_turn_%c(row, at + begin + t, line + %lld * t);", x->name,
             s->of_x ? 'x' : 'y', width);
    cg_write(x->w, "}");
  }
  cg_write(x->w, "for (; t < n; t++)");
  cg_write(x->w, "for (int r = 0; r < %lld; r++)", width);
  cg_write(x->w, "line[%lld * t + r] = row[r][at + %s * (begin + t)];", width,
           cg_number_text(x, step));
}

void
cg_put_pack_rows(const cg_side *s) {
  const cg_contract *x = s->x;
  const po_cdims *k = &x->c->dims[PO_DIM_K];
  const char *index = x->e->index;
  uint32_t guarded = cg_guarded_k(s), every = cg_all_of(k), last = k->n - 1;
  long long width = s->width;
  bool guards = s->operand->n_guards;
  if (cg_side_stride(s, &k->d[last]) == 1 && cg_can_turn(x->c->lanes))
    cg_put_turn_function(x, s->of_x ? 'x' : 'y', width);
  cg_put_pack_head(s);
  cg_put_panel_loop(s);
  cg_put_k_loops(s, guarded);
  cg_write(x->w, "{");
  put_find_rows(s, guarded);
  cg_put_k_loops(s, every & ~guarded & ~(1u << last));
  cg_write(x->w, "{");
  cg_put_row_pointer(s, "line", every & ~(1u << last));
  cg_put_declared_address(s, "at", PO_DIM_K, every & ~guarded & ~(1u << last));
  if (last)
    cg_write(x->w, "const %s begin = 0, end = %s;", index,
             cg_number_text(x, k->d[last].extent));
  else
    cg_write(x->w, "const %s begin = k_lo, end = k_hi;", index);
  if (guards) {
    cg_write(x->w, "if (!inside) {");
    cg_write(x->w,
             "memset(line, 0, sizeof *line * %lld * "
             "(size_t)(end - begin));",
             width);
    cg_write(x->w, "continue;");
    cg_write(x->w, "}");
  }
  put_turned_line(s);
  if (guards) {
    cg_write(x->w, "for (%s r = 0; r < n_outside; r++)", index);
    cg_write(x->w, "for (t = 0; t < n; t++)");
    cg_write(x->w, "line[%lld * t + outside[r]] = 0;", width);
  }
  cg_write(x->w, "}");
  cg_write(x->w, "}");
  cg_write(x->w, "}");
  cg_close_function(x->e, x->w);
}

/* ---- lines ---- */

void
cg_put_pack_lines(const cg_side *s) {
  const cg_contract *x = s->x;
  const po_cdims *k = &x->c->dims[PO_DIM_K];
  const char *index = x->e->index;
  uint32_t every = cg_all_of(k), last = k->n - 1;
  const char *step = cg_number_text(x, cg_side_stride(s, &k->d[last]));
  long long width = s->width;
  cg_put_pack_head(s);
  cg_put_panel_loop(s);
  cg_write(x->w, "for (%s r = 0; r < %lld; r++) {", index, width);
  cg_write(x->w, "const %s i = %s(p + r, last - 1);", index,
           cg_helper_names[CG_MIN_INDEX]);
  cg_put_split(s, "i", true);
  cg_put_k_loops(s, every & ~(1u << last));
  cg_write(x->w, "{");
  if (last)
    cg_write(x->w, "const %s begin = 0, end = %s;", index,
             cg_number_text(x, k->d[last].extent));
  else
    cg_write(x->w, "const %s begin = k_lo, end = k_hi;", index);
  cg_write(x->w, "%s lo = begin, hi = end;", index);
  cg_put_interval(s, PO_DIM_K, last);
  cg_put_row_pointer(s, "line", every & ~(1u << last));
  cg_put_declared_address(s, "row", s->role, cg_all_of(cg_side_dims(s)));
  cg_put_declared_address(s, "at", PO_DIM_K, every & ~(1u << last));
  cg_write(x->w, "for (%s t = begin; t < end; t++)", index);
  cg_add(x->w, "line[%lld * (t - begin) + r] = t < lo || t >= hi\n", width);
  cg_write(x->w, "? 0 : from[row + at + %s * t];", step);
  cg_write(x->w, "}");
  cg_write(x->w, "}");
  cg_write(x->w, "}");
  cg_close_function(x->e, x->w);
}
