/* contract_pack.c - operands copied into the order the kernel reads them in.
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
 *   rows   where it lies along k: blocks are turned over in registers.
 *   lines  where a guard names the innermost k: one element at a time.
 *
 * A guard is linear, so that along a loop it holds on an interval, whose ends
 * are computed before the loop: inner loops have no conditions. */
#include "codegen/contract.h"
#include <stdlib.h>

static const char letters[] = "omnk";

/* One of the operands. */
typedef struct side {
  const cg_contract *x;
  bool of_x;
  po_dim_role role;
  const po_coperand *operand;
  int64_t width;
} side;

static side
side_of(const cg_contract *x, bool of_x) {
  return of_x ? (side){x, true, PO_DIM_M, &x->c->x, x->c->mr}
              : (side){x, false, PO_DIM_N, &x->c->y, x->columns};
}

static const po_cdims *
dims_of(const side *s) {
  return &s->x->c->dims[s->role];
}

static int64_t
stride_of(const side *s, const po_cdim *d) {
  return s->of_x ? d->x : d->y;
}

/* ---- indices and addresses ---- */

/* Index variables are called o0, m0, n0, k0, k1, ... */
static void
put_linear(const cg_contract *x, const po_cguard *g, uint32_t but_role,
           uint32_t but) {
  bs_putf(x->out, "%lld", (long long)g->constant);
  for (uint32_t role = 0; role < 4; role++)
    for (uint32_t k = 0; k < PO_MAX_DIMS; k++)
      if (g->factor[role][k] && !(role == but_role && k == but))
        bs_putf(x->out, " + %lld * %c%u", (long long)g->factor[role][k],
                letters[role], k);
}

/* Narrows lo .. hi, values of index `dim` of `role`, by the guards. */
static void
put_interval(const side *s, uint32_t role, uint32_t dim, uint32_t indent) {
  const cg_contract *x = s->x;
  for (uint32_t g = 0; g < s->operand->n_guards; g++) {
    const po_cguard *guard = &s->operand->guards[g];
    int64_t f = guard->factor[role][dim];
    cg_indent(x->out, indent);
    if (!f) {
      bs_put(x->out, "hi = ");
      put_linear(x, guard, role, dim);
      bs_put(x->out, " >= 0 ? hi : lo;\n");
    } else if (f > 0) {
      bs_putf(x->out, "lo = %s(lo, ", cg_helper_used(x->e, CG_MAX_INDEX));
      bs_putf(x->out, "-%s(", cg_helper_used(x->e, CG_FLOOR_DIV));
      put_linear(x, guard, role, dim);
      bs_putf(x->out, ", %lld));\n", (long long)f);
    } else {
      bs_putf(x->out, "hi = %s(hi, ", cg_helper_used(x->e, CG_MIN_INDEX));
      bs_putf(x->out, "%s(", cg_helper_used(x->e, CG_FLOOR_DIV));
      put_linear(x, guard, role, dim);
      bs_putf(x->out, ", %lld) + 1);\n", (long long)-f);
    }
  }
  if (s->operand->n_guards) {
    cg_line(x->out, indent, "lo = %s(lo, end);",
            cg_helper_used(x->e, CG_MIN_INDEX));
    cg_line(x->out, indent, "hi = %s(hi, lo);",
            cg_helper_used(x->e, CG_MAX_INDEX));
  }
}

/* Parts of the address by the loops of a role that `which` has a bit of; 0
 * where there are none. */
static void
put_address(const side *s, po_dim_role role, uint32_t which) {
  const po_cdims *dims = &s->x->c->dims[role];
  const char *plus = "";
  for (uint32_t k = 0; k < dims->n; k++) {
    int64_t f = stride_of(s, &dims->d[k]);
    if (!f || !(which >> k & 1))
      continue;
    bs_putf(s->x->out, "%s%lld * %c%u", plus, (long long)f, letters[role], k);
    plus = " + ";
  }
  if (!*plus)
    bs_put(s->x->out, "0");
}

static uint32_t
all_but_last(const po_cdims *dims) {
  return (1u << (dims->n - 1)) - 1;
}

static uint32_t
all_of(const po_cdims *dims) {
  return (1u << dims->n) - 1;
}

/* Indices of the operand's own loops from the flat one in `from`; the last,
 * too, where asked. */
static void
put_split(const side *s, const char *from, bool last, uint32_t indent) {
  const po_cdims *dims = dims_of(s);
  bs_text *out = s->x->out;
  int64_t inner = 1;
  for (uint32_t k = dims->n; k-- > 0;) {
    if (k + 1 < dims->n || last) {
      cg_indent(out, indent);
      bs_putf(out, "const %s %c%u = ", s->x->e->index, letters[s->role], k);
      bs_putf(out, inner > 1 ? "%s / %lld" : "%s", from, (long long)inner);
      if (k)
        bs_putf(out, " %% %lld", (long long)dims->d[k].extent);
      bs_put(out, ";\n");
      cg_line(out, indent, "(void)%c%u;", letters[s->role], k);
    }
    inner *= dims->d[k].extent;
  }
}

/* Loops over those k that `which` has a bit of; the outermost from k_lo to
 * k_hi. */
static uint32_t
put_k_loops(const side *s, uint32_t which, uint32_t indent) {
  const po_cdims *k = &s->x->c->dims[PO_DIM_K];
  const char *index = s->x->e->index;
  for (uint32_t d = 0; d < k->n; d++) {
    if (!(which >> d & 1))
      continue;
    if (d)
      cg_line(s->x->out, indent, "for (%s k%u = 0; k%u < %lld; k%u++)", index,
              d, d, (long long)k->d[d].extent, d);
    else
      cg_line(s->x->out, indent, "for (%s k0 = k_lo; k0 < k_hi; k0++)", index);
    indent++;
  }
  return indent;
}

/* How many points of k in the block come before this one. */
static void
put_flat_k(const side *s, uint32_t which) {
  const po_cdims *k = &s->x->c->dims[PO_DIM_K];
  int64_t inner = s->x->inner;
  const char *plus = "";
  for (uint32_t d = 0; d < k->n; d++) {
    inner /= d ? k->d[d].extent : 1;
    if (!(which >> d & 1))
      continue;
    bs_putf(s->x->out, d ? "%s%lld * k%u" : "%s%lld * (k%u - k_lo)", plus,
            (long long)inner, d);
    plus = " + ";
  }
  if (!*plus)
    bs_put(s->x->out, "0");
}

/* The loops of k that guards name. */
static uint32_t
guarded_k(const side *s) {
  uint32_t which = 0;
  for (uint32_t g = 0; g < s->operand->n_guards; g++)
    for (uint32_t k = 0; k < PO_MAX_DIMS; k++)
      if (s->operand->guards[g].factor[PO_DIM_K][k])
        which |= 1u << k;
  return which;
}

/* ---- the function ---- */

static void
put_outer_parameters(const side *s) {
  const po_cdims *o = &s->x->c->dims[PO_DIM_O];
  for (uint32_t d = 0; d < o->n; d++)
    if (cg_names_outer(s->operand, d))
      bs_putf(s->x->out, ", %s o%u", s->x->e->index, d);
}

/* lo, hi: rows of x or columns of y. */
static void
put_head(const side *s) {
  const cg_contract *x = s->x;
  const char *index = x->e->index;
  bs_putf(x->out,
          "static void\n%s_pack_%c(const %s *restrict from, %s *restrict to,\n"
          "    %s k_lo, %s k_hi, %s first, %s last",
          x->name, s->of_x ? 'x' : 'y', x->type, x->type, index, index, index,
          index);
  put_outer_parameters(s);
  bs_put(x->out, ") {\n");
  cg_line(x->out, 1, "const %s kc = %lld * (k_hi - k_lo);", index,
          (long long)x->inner);
}

static void
put_panel_loop(const side *s) {
  const cg_contract *x = s->x;
  cg_line(x->out, 1, "for (%s p = first; p < last; p += %lld) {", x->e->index,
          (long long)s->width);
  cg_line(x->out, 2, "%s *const panel = to + kc * (p - first);", x->type);
}

static void
put_row_pointer(const side *s, const char *name, uint32_t k, uint32_t indent) {
  cg_indent(s->x->out, indent);
  bs_putf(s->x->out, "%s *const %s = panel + %lld * (", s->x->type, name,
          (long long)s->width);
  put_flat_k(s, k);
  bs_put(s->x->out, ");\n");
}

/* `text`: count * t behind it, or nothing. */
static void
put_declared_address(const side *s, const char *name, po_dim_role role,
                     uint32_t which, uint32_t indent) {
  cg_indent(s->x->out, indent);
  bs_putf(s->x->out, "const %s %s = ", s->x->e->index, name);
  put_address(s, role, which);
  bs_put(s->x->out, ";\n");
}

/* ---- runs ---- */

static int64_t
last_stride(const side *s) {
  const po_cdims *dims = dims_of(s);
  return stride_of(s, &dims->d[dims->n - 1]);
}

static bool
has_copy_function(const side *s) {
  return last_stride(s) == 1 || last_stride(s) == 2;
}

/* From and to: C expressions of pointers. */
static void
put_copy(const side *s, const char *from, const char *to, const char *n,
         uint32_t indent) {
  const cg_contract *x = s->x;
  long long stride = last_stride(s);
  if (has_copy_function(s)) {
    cg_line(x->out, indent, "%s_copy%lld(%s, %s, %s);", x->name, stride, from,
            to, n);
    return;
  }
  cg_line(x->out, indent, "for (%s t = 0; t < %s; t++)", x->e->index, n);
  cg_line(x->out, indent + 1, "(%s)[t] = (%s)[%lld * t];", to, from, stride);
}

/* Panels whose runs are found together. */
#define STRIP 16

#define LINE_BYTES 64
/* Rows of memory between asking for one and copying it. */
#define ROWS_AHEAD 4

/* Where the innermost k goes from line to line of memory, which hardware does
 * not foresee across pages. */
static void
put_runs_ahead(const side *s, uint32_t indent) {
  const cg_contract *x = s->x;
  const po_cdims *k = &x->c->dims[PO_DIM_K];
  int64_t bytes = gs_dtype_table[x->c->dtype].bytes;
  int64_t step = stride_of(s, &k->d[k->n - 1]) * bytes;
  if (last_stride(s) != 1 || llabs(step) < LINE_BYTES)
    return;
  for (int64_t at = 0; at < s->width * bytes; at += LINE_BYTES)
    cg_line(x->out, indent, "GLEN_AHEAD(from + (at + offset[r]), %lld);",
            (long long)(ROWS_AHEAD * step + at));
}

/* A run ends with its panel and where the innermost loop begins anew; before
 * and behind it guards may leave holes. */
static void
put_run(const side *s, uint32_t guarded, uint32_t indent) {
  const cg_contract *x = s->x;
  cg_line(x->out, indent, "const %s place = panel + i - p - begin;",
          x->e->index);
  if (s->operand->n_guards) {
    cg_line(x->out, indent, "if (begin < lo) {");
    cg_line(x->out, indent + 1, "hole[holes] = place + begin;");
    cg_line(x->out, indent + 1, "hole_length[holes++] = lo - begin;");
    cg_line(x->out, indent, "}");
    cg_line(x->out, indent, "if (hi < end) {");
    cg_line(x->out, indent + 1, "hole[holes] = place + hi;");
    cg_line(x->out, indent + 1, "hole_length[holes++] = end - hi;");
    cg_line(x->out, indent, "}");
  }
  cg_line(x->out, indent, "if (lo < hi) {");
  cg_line(x->out, indent + 1, "run[runs] = place + lo;");
  cg_line(x->out, indent + 1, "length[runs] = hi - lo;");
  cg_indent(x->out, indent + 1);
  bs_put(x->out, "offset[runs++] = ");
  put_address(s, s->role, all_but_last(dims_of(s)));
  bs_put(x->out, " + ");
  put_address(s, PO_DIM_K, guarded);
  bs_putf(x->out, " + %lld * lo;\n", (long long)last_stride(s));
  cg_line(x->out, indent, "}");
}

static void
put_find_runs(const side *s, uint32_t guarded, uint32_t indent) {
  const cg_contract *x = s->x;
  const po_cdims *dims = dims_of(s);
  const char *index = x->e->index, *min = cg_helper_used(x->e, CG_MIN_INDEX);
  uint32_t last = dims->n - 1;
  long long extent = dims->d[last].extent, width = s->width;
  long long most = STRIP * (width / extent + 2);
  cg_line(x->out, indent, "%s run[%lld], length[%lld], offset[%lld];", index,
          most, most, most);
  cg_line(x->out, indent, "%s hole[%lld], hole_length[%lld];", index,
          2 * most + 1, 2 * most + 1);
  cg_line(x->out, indent, "%s runs = 0, holes = 0;", index);
  cg_line(x->out, indent, "for (%s p = strip; p < end_strip; p += %lld) {",
          index, width);
  cg_line(x->out, indent + 1, "const %s end_p = %s(p + %lld, last);", index,
          min, width);
  cg_line(x->out, indent + 1, "const %s panel = kc * (p - first);", index);
  cg_line(x->out, indent + 1, "for (%s i = p; i < end_p;) {", index);
  put_split(s, "i", false, indent + 2);
  if (last)
    cg_line(x->out, indent + 2, "const %s begin = i %% %lld;", index, extent);
  else
    cg_line(x->out, indent + 2, "const %s begin = i;", index);
  cg_line(x->out, indent + 2, "const %s end = %s(%lld, begin + end_p - i);",
          index, min, extent);
  cg_line(x->out, indent + 2, "%s lo = begin, hi = end;", index);
  put_interval(s, s->role, last, indent + 2);
  put_run(s, guarded, indent + 2);
  cg_line(x->out, indent + 2, "i += end - begin;");
  cg_line(x->out, indent + 1, "}");
  cg_line(x->out, indent + 1, "if (end_p < p + %lld) {", width);
  cg_line(x->out, indent + 2, "hole[holes] = panel + end_p - p;");
  cg_line(x->out, indent + 2, "hole_length[holes++] = p + %lld - end_p;",
          width);
  cg_line(x->out, indent + 1, "}");
  cg_line(x->out, indent, "}");
}

static void
put_pack_runs(const side *s) {
  const cg_contract *x = s->x;
  const char *index = x->e->index;
  uint32_t guarded = guarded_k(s), every = all_of(&x->c->dims[PO_DIM_K]);
  long long strip = STRIP * s->width;
  put_head(s);
  cg_line(x->out, 1, "for (%s strip = first; strip < last; strip += %lld) {",
          index, strip);
  cg_line(x->out, 2, "const %s end_strip = %s(strip + %lld, last);", index,
          cg_helper_used(x->e, CG_MIN_INDEX), strip);
  uint32_t indent = put_k_loops(s, guarded, 2);
  cg_line(x->out, indent++, "{");
  put_find_runs(s, guarded, indent);
  indent = put_k_loops(s, every & ~guarded, indent);
  cg_line(x->out, indent++, "{");
  cg_indent(x->out, indent);
  bs_putf(x->out, "%s *const row = to + %lld * (", x->type,
          (long long)s->width);
  put_flat_k(s, every);
  bs_put(x->out, ");\n");
  put_declared_address(s, "at", PO_DIM_K, every & ~guarded, indent);
  cg_line(x->out, indent, "for (%s r = 0; r < holes; r++)", index);
  cg_line(x->out, indent + 1, "for (%s t = 0; t < hole_length[r]; t++)", index);
  cg_line(x->out, indent + 2, "row[hole[r] + t] = 0;");
  cg_line(x->out, indent, "for (%s r = 0; r < runs; r++) {", index);
  put_runs_ahead(s, indent + 1);
  put_copy(s, "from + (at + offset[r])", "row + run[r]", "length[r]",
           indent + 1);
  cg_line(x->out, indent, "}");
  cg_line(x->out, indent - 1, "}");
  cg_line(x->out, 2 + (uint32_t)__builtin_popcount(guarded), "}");
  bs_put(x->out, "  }\n}\n\n");
}

/* ---- rows ---- */

/* Pointers to the rows of the panel; those that a guard excludes point to one
 * that it does not, and are listed. */
static void
put_find_rows(const side *s, uint32_t guarded, uint32_t indent) {
  const cg_contract *x = s->x;
  const char *index = x->e->index;
  long long width = s->width;
  bool guards = s->operand->n_guards;
  cg_line(x->out, indent, "const %s *row[%lld];", x->type, width);
  if (guards) {
    cg_line(x->out, indent, "const %s *inside = NULL;", x->type);
    cg_line(x->out, indent, "%s outside[%lld], n_outside = 0;", index, width);
  }
  cg_line(x->out, indent, "for (%s r = 0; r < %lld; r++) {", index, width);
  cg_line(x->out, indent + 1, "const %s i = %s(p + r, last - 1);", index,
          cg_helper_used(x->e, CG_MIN_INDEX));
  put_split(s, "i", true, indent + 1);
  for (uint32_t g = 0; g < s->operand->n_guards; g++) {
    cg_indent(x->out, indent + 1);
    bs_putf(x->out, "%s", g ? "ok = ok && " : "int ok = ");
    put_linear(x, &s->operand->guards[g], 4, 0);
    bs_put(x->out, " >= 0;\n");
  }
  if (guards) {
    cg_line(x->out, indent + 1, "if (!ok) {");
    cg_line(x->out, indent + 2, "outside[n_outside++] = r;");
    cg_line(x->out, indent + 2, "continue;");
    cg_line(x->out, indent + 1, "}");
  }
  cg_indent(x->out, indent + 1);
  bs_putf(x->out, "%srow[r] = from + (", guards ? "inside = " : "");
  put_address(s, s->role, all_of(dims_of(s)));
  bs_put(x->out, " + ");
  put_address(s, PO_DIM_K, guarded);
  bs_put(x->out, ");\n");
  cg_line(x->out, indent, "}");
  if (guards) {
    cg_line(x->out, indent, "for (%s r = 0; r < n_outside; r++)", index);
    cg_line(x->out, indent + 1, "row[outside[r]] = inside;");
  }
}

/* The rows of the next panel, a line of each at a time. */
static void
put_rows_ahead(const side *s, uint32_t indent) {
  const cg_contract *x = s->x;
  int64_t bytes = gs_dtype_table[x->c->dtype].bytes;
  int64_t line = LINE_BYTES / bytes, next = s->width * last_stride(s) * bytes;
  if (line > x->c->lanes)
    cg_line(x->out, indent++, "if (t %% %lld == 0)", (long long)line);
  cg_line(x->out, indent, "for (int r = 0; r < %lld; r++)",
          (long long)s->width);
  cg_line(x->out, indent + 1, "GLEN_AHEAD(row[r] + (at + begin + t), %lld);",
          (long long)next);
}

/* Along the innermost k, from begin to end. */
static void
put_turned_line(const side *s, uint32_t indent) {
  const cg_contract *x = s->x;
  const po_cdims *k = &x->c->dims[PO_DIM_K];
  const char *index = x->e->index;
  long long width = s->width, step = stride_of(s, &k->d[k->n - 1]);
  uint32_t lanes = x->c->lanes;
  cg_line(x->out, indent, "const %s n = end - begin;", index);
  cg_line(x->out, indent, "%s t = 0;", index);
  if (step == 1 && cg_can_turn(lanes)) {
    cg_line(x->out, indent, "for (; t < n / %u * %u; t += %u) {", lanes, lanes,
            lanes);
    put_rows_ahead(s, indent + 1);
    cg_line(x->out, indent + 1,
            "%s_turn_%c(row, at + begin + t, line + %lld * t);", x->name,
            s->of_x ? 'x' : 'y', width);
    cg_line(x->out, indent, "}");
  }
  cg_line(x->out, indent, "for (; t < n; t++)");
  cg_line(x->out, indent + 1, "for (int r = 0; r < %lld; r++)", width);
  cg_line(x->out, indent + 2,
          "line[%lld * t + r] = row[r][at + %lld * (begin + t)];", width, step);
}

static void
put_pack_rows(const side *s) {
  const cg_contract *x = s->x;
  const po_cdims *k = &x->c->dims[PO_DIM_K];
  const char *index = x->e->index;
  uint32_t guarded = guarded_k(s), every = all_of(k), last = k->n - 1;
  long long width = s->width;
  bool guards = s->operand->n_guards;
  if (stride_of(s, &k->d[last]) == 1 && cg_can_turn(x->c->lanes))
    cg_put_turn_function(x, s->of_x ? 'x' : 'y', width);
  put_head(s);
  put_panel_loop(s);
  uint32_t indent = put_k_loops(s, guarded, 2);
  cg_line(x->out, indent++, "{");
  put_find_rows(s, guarded, indent);
  indent = put_k_loops(s, every & ~guarded & ~(1u << last), indent);
  cg_line(x->out, indent++, "{");
  put_row_pointer(s, "line", every & ~(1u << last), indent);
  put_declared_address(s, "at", PO_DIM_K, every & ~guarded & ~(1u << last),
                       indent);
  if (last)
    cg_line(x->out, indent, "const %s begin = 0, end = %lld;", index,
            (long long)k->d[last].extent);
  else
    cg_line(x->out, indent, "const %s begin = k_lo, end = k_hi;", index);
  if (guards) {
    cg_line(x->out, indent, "if (!inside) {");
    cg_line(x->out, indent + 1,
            "memset(line, 0, sizeof *line * %lld * "
            "(size_t)(end - begin));",
            width);
    cg_line(x->out, indent + 1, "continue;");
    cg_line(x->out, indent, "}");
  }
  put_turned_line(s, indent);
  if (guards) {
    cg_line(x->out, indent, "for (%s r = 0; r < n_outside; r++)", index);
    cg_line(x->out, indent + 1, "for (t = 0; t < n; t++)");
    cg_line(x->out, indent + 2, "line[%lld * t + outside[r]] = 0;", width);
  }
  cg_line(x->out, indent - 1, "}");
  cg_line(x->out, 2 + (uint32_t)__builtin_popcount(guarded), "}");
  bs_put(x->out, "  }\n}\n\n");
}

/* ---- lines ---- */

static void
put_pack_lines(const side *s) {
  const cg_contract *x = s->x;
  const po_cdims *k = &x->c->dims[PO_DIM_K];
  const char *index = x->e->index;
  uint32_t every = all_of(k), last = k->n - 1;
  long long width = s->width, step = stride_of(s, &k->d[last]);
  put_head(s);
  put_panel_loop(s);
  cg_line(x->out, 2, "for (%s r = 0; r < %lld; r++) {", index, width);
  cg_line(x->out, 3, "const %s i = %s(p + r, last - 1);", index,
          cg_helper_used(x->e, CG_MIN_INDEX));
  put_split(s, "i", true, 3);
  uint32_t indent = put_k_loops(s, every & ~(1u << last), 3);
  cg_line(x->out, indent++, "{");
  if (last)
    cg_line(x->out, indent, "const %s begin = 0, end = %lld;", index,
            (long long)k->d[last].extent);
  else
    cg_line(x->out, indent, "const %s begin = k_lo, end = k_hi;", index);
  cg_line(x->out, indent, "%s lo = begin, hi = end;", index);
  put_interval(s, PO_DIM_K, last, indent);
  put_row_pointer(s, "line", every & ~(1u << last), indent);
  put_declared_address(s, "row", s->role, all_of(dims_of(s)), indent);
  put_declared_address(s, "at", PO_DIM_K, every & ~(1u << last), indent);
  cg_line(x->out, indent, "for (%s t = begin; t < end; t++)", index);
  cg_line(x->out, indent + 1,
          "line[%lld * (t - begin) + r] = t < lo || t >= hi", width);
  cg_line(x->out, indent + 3, "? 0 : from[row + at + %lld * t];", step);
  cg_line(x->out, indent - 1, "}");
  bs_put(x->out, "    }\n  }\n}\n\n");
}

/* Whether elements lie closer along k than along the operand's own loops. */
static bool
lies_along_k(const side *s) {
  const po_cdims *k = &s->x->c->dims[PO_DIM_K];
  return llabs(stride_of(s, &k->d[k->n - 1])) < llabs(last_stride(s));
}

static void
put_pack(const side *s) {
  uint32_t last = s->x->c->dims[PO_DIM_K].n - 1;
  if (!lies_along_k(s))
    put_pack_runs(s);
  else if (!(guarded_k(s) >> last & 1))
    put_pack_rows(s);
  else
    put_pack_lines(s);
}

static bool
is_packed(const side *s) {
  return (s->of_x ? s->x->c->x_mode : s->x->c->y_mode) != PO_DIRECT;
}

void
cg_put_contract_packs(const cg_contract *x) {
  side sides[] = {side_of(x, true), side_of(x, false)};
  bool copies[3] = {false};
  for (uint32_t k = 0; k < 2; k++)
    if (is_packed(&sides[k]) && !lies_along_k(&sides[k]) &&
        has_copy_function(&sides[k]))
      copies[last_stride(&sides[k])] = true;
  for (int64_t stride = 1; stride <= 2; stride++)
    if (copies[stride])
      cg_put_copy_function(x, stride);
  for (uint32_t k = 0; k < 2; k++)
    if (is_packed(&sides[k]))
      put_pack(&sides[k]);
}
