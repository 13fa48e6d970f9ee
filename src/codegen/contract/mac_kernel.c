/* SPDX-License-Identifier: MIT */
/* mac_kernel.c - accumulators of an instruction of the target.
 *
 * The texts of the target's declaration are put together: accumulators that
 * are zero, fragments loaded and multiplied group by group of k, sums stored
 * side by side in an array of the panel's size.  Where the condition that the
 * declaration names does not hold, plain C does what it means. */
#include "codegen/contract/mac.h"

typedef struct kernel {
  const cg_contract *x;
  const gs_mac *mac;
  cg_mac_side sx, sy;
  int64_t rows, columns; /* fragments */
} kernel;

/* What a template's names stand for. */
typedef struct names {
  int64_t x, y;
  const char *from, *to;
  const char *stride; /* of rows of sums */
} names;

/* Accumulators are numbered from 0 on as they are used; fragments of x and y
 * behind all that there may be. */
static void
put_name(const kernel *k, gs_mac_name name, const names *of) {
  bs_text *out = k->x->out;
  const gs_mac *mac = k->mac;
  long long x = of->x, y = of->y;
  switch (name) {
  case GS_MAC_TEXT:
  case GS_MAC_NAMES:
    break;
  case GS_MAC_X:
    bs_putf(out, "x%lld", x);
    break;
  case GS_MAC_X_NUMBER:
    bs_putf(out, "%lld", mac->accumulators + x);
    break;
  case GS_MAC_Y:
    bs_putf(out, "y%lld", y);
    break;
  case GS_MAC_Y_NUMBER:
    bs_putf(out, "%lld", mac->accumulators + mac->x.held + y);
    break;
  case GS_MAC_SUM:
    bs_putf(out, "s%lld_%lld", x, y);
    break;
  case GS_MAC_SUM_NUMBER:
    bs_putf(out, "%lld", x * k->columns + y);
    break;
  case GS_MAC_FROM:
    bs_putf(out, "(%s)", of->from);
    break;
  case GS_MAC_TO:
    bs_putf(out, "(%s)", of->to);
    break;
  case GS_MAC_STRIDE:
    bs_put(out, of->stride);
    break;
  case GS_MAC_M:
    bs_putf(out, "%lld", (long long)mac->m);
    break;
  case GS_MAC_N:
    bs_putf(out, "%lld", (long long)mac->n);
    break;
  case GS_MAC_K:
    bs_putf(out, "%lld", (long long)mac->k);
    break;
  }
}

static void
put_lines(bs_text *out, const char *text, size_t len, uint32_t indent) {
  for (size_t k = 0; k < len; k++) {
    bs_putc(out, text[k]);
    if (text[k] == '\n')
      cg_indent(out, indent);
  }
}

static void
put_part(const kernel *k, gs_mac_part part, const names *of, uint32_t indent) {
  const char *text = k->mac->text[part];
  gs_mac_piece piece;
  if (!text)
    return;
  cg_indent(k->x->out, indent);
  while (gs_mac_next(&text, &piece)) {
    if (piece.name == GS_MAC_TEXT)
      put_lines(k->x->out, piece.text, piece.len, indent);
    else
      put_name(k, piece.name, of);
  }
  bs_putc(k->x->out, '\n');
}

/* What sums of these columns begin with, for each row. */
static const char *
begin_of(const kernel *k, int64_t v) {
  const char *type = gs_dtype_table[k->mac->sum].c_type;
  return bs_arena_printf(&k->x->e->arena,
                         "(const %s *)(const void *)(y + %lld) + %lld", type,
                         (long long)k->sy.sums, (long long)(v * k->mac->n));
}

static const char *
place_of(const kernel *k, int64_t r, int64_t v) {
  return bs_arena_printf(&k->x->e->arena, "to + %lld * apart + %lld",
                         (long long)(r * k->mac->m),
                         (long long)(v * k->mac->n));
}

/* Once for each accumulator. */
static void
put_each(const kernel *k, gs_mac_part part, uint32_t indent) {
  for (int64_t r = 0; r < k->rows; r++)
    for (int64_t v = 0; v < k->columns; v++) {
      put_part(k, part,
               &(names){r, v, begin_of(k, v), place_of(k, r, v),
                        part == GS_MAC_LOAD ? "0" : "apart"},
               indent);
    }
}

static const char *
fragment(const kernel *k, const cg_mac_side *s, int64_t number) {
  if (s->row)
    return bs_arena_printf(&k->x->e->arena, "x + g * %lld + %lld",
                           (long long)k->mac->k, (long long)(number * s->row));
  return bs_arena_printf(&k->x->e->arena, "%c + g * %lld + %lld",
                         s->side.of_x ? 'x' : 'y',
                         (long long)(s->side.width * k->mac->k),
                         (long long)(number * s->rows * k->mac->k));
}

static void
put_products(const kernel *k) {
  cg_line(k->x->out, 1, "for (%s g = 0; g < %lld; g++) {", k->x->e->index,
          (long long)(k->sx.depth / k->mac->k));
  for (int64_t v = 0; v < k->columns; v++)
    put_part(k, GS_MAC_LOAD_Y, &(names){0, v, fragment(k, &k->sy, v), "", ""},
             2);
  for (int64_t r = 0; r < k->rows; r++) {
    put_part(k, GS_MAC_LOAD_X, &(names){r, 0, fragment(k, &k->sx, r), "", ""},
             2);
    for (int64_t v = 0; v < k->columns; v++)
      put_part(k, GS_MAC_ACCUMULATE, &(names){r, v, "", "", ""}, 2);
  }
  cg_line(k->x->out, 1, "}");
}

static void
put_instructions(const kernel *k) {
  const names none = {0, 0, "", "", ""};
  put_part(k, GS_MAC_BEGIN, &none, 1);
  put_each(k, po_mac_begins_with_sums(k->x->c) ? GS_MAC_LOAD : GS_MAC_ZERO, 1);
  put_products(k);
  put_each(k, GS_MAC_STORE, 1);
  put_part(k, GS_MAC_END, &none, 1);
}

/* ---- plain C ---- */

/* Element t of a row in its fragment; `row` is an expression. */
static const char *
plain_place(const kernel *k, const cg_mac_side *s, const char *row) {
  long long q = s->operand->interleave, depth = k->mac->k;
  if (s->row)
    return bs_arena_printf(&k->x->e->arena, "x[g * %lld + %s * %lld + t]",
                           depth, row, (long long)s->row);
  return bs_arena_printf(
      &k->x->e->arena,
      "%c[g * %lld + %s / %lld * %lld + t / %lld * %lld + %s %% %lld * %lld + "
      "t %% %lld]",
      s->side.of_x ? 'x' : 'y', (long long)s->side.width * depth, row,
      (long long)s->rows, (long long)s->rows * depth, q, (long long)s->rows * q,
      row, (long long)s->rows, q, q);
}

/* A bf16 is the upper half of a float. */
static void
put_plain_halves(const kernel *k, uint32_t indent) {
  bs_text *out = k->x->out;
  const cg_mac_side *sides[] = {&k->sx, &k->sy};
  const char *const rows[] = {"i", "j"};
  cg_line(out, indent, "float a[2];");
  cg_line(out, indent, "uint32_t bits[2];");
  for (uint32_t o = 0; o < 2; o++)
    cg_line(out, indent, "bits[%u] = (uint32_t)%s << 16;", o,
            plain_place(k, sides[o], rows[o]));
  cg_line(out, indent, "memcpy(a, bits, sizeof a);");
  cg_line(out, indent, "sum += a[0] * a[1];");
}

static void
put_plain_product(const kernel *k, uint32_t indent) {
  const char *type = k->mac->sum == GS_I32 ? "unsigned" : k->x->type;
  if (k->mac->x.lane == GS_LANE_BF16) {
    put_plain_halves(k, indent);
    return;
  }
  cg_line(k->x->out, indent, "sum += (%s)%s *", type,
          plain_place(k, &k->sx, "i"));
  cg_line(k->x->out, indent + 2, "(%s)%s;", type, plain_place(k, &k->sy, "j"));
}

static void
put_plain(const kernel *k) {
  const cg_contract *x = k->x;
  const char *index = x->e->index;
  bool ints = k->mac->sum == GS_I32;
  cg_line(x->out, 1, "for (%s i = 0; i < %lld; i++)", index,
          (long long)(k->rows * k->mac->m));
  cg_line(x->out, 2, "for (%s j = 0; j < %lld; j++) {", index,
          (long long)(k->columns * k->mac->n));
  cg_line(
      x->out, 3, "%s sum = %s;", ints ? "unsigned" : x->type,
      po_mac_begins_with_sums(x->c)
          ? bs_arena_printf(&x->e->arena, "(unsigned)(%s)[j]", begin_of(k, 0))
          : "0");
  cg_line(x->out, 3, "for (%s g = 0; g < %lld; g++)", index,
          (long long)(k->sx.depth / k->mac->k));
  cg_line(x->out, 4, "for (%s t = 0; t < %lld; t++) {", index,
          (long long)k->mac->k);
  put_plain_product(k, 5);
  cg_line(x->out, 4, "}");
  cg_line(x->out, 3, "to[i * apart + j] = %ssum;", ints ? "(int32_t)" : "");
  cg_line(x->out, 2, "}");
}

/* ---- functions ---- */

static void
put_parameters(const kernel *k) {
  bs_putf(k->x->out,
          "(const %s *restrict x, const %s *restrict y,\n    %s *restrict to, "
          "const %s apart",
          k->sx.lane, k->sy.lane, k->x->type, k->x->e->index);
}

/* A function of its own, so that nothing else wants its registers. */
static void
put_kernel(const kernel *k) {
  const gs_mac *mac = k->mac;
  bs_text *out = k->x->out;
  if (mac->attributes && mac->when)
    bs_putf(out, "#if %s\n%s\n#endif\n", mac->when, mac->attributes);
  else if (mac->attributes)
    bs_putf(out, "%s\n", mac->attributes);
  bs_putf(out, "GLEN_NOINLINE static void\n%s_%lldx%lld", k->x->name,
          (long long)k->rows, (long long)k->columns);
  put_parameters(k);
  bs_put(out, ") {\n");
  if (mac->when)
    bs_putf(out, "#if %s\n", mac->when);
  put_instructions(k);
  if (mac->when) {
    bs_putf(out,
            "#elif defined(GLEN_INSTRUCTIONS)\n"
            "#error \"the compiler does not have %s\"\n#else\n",
            mac->name);
    put_plain(k);
    bs_put(out, "#endif\n");
  }
  bs_put(out, "}\n\n");
}

/* Fragments of the last panels, where it is not a whole one; or 0. */
static int64_t
rest_of(const cg_mac_side *s, int64_t size) {
  int64_t rest = size % s->side.width;
  int64_t fragments = cg_mac_fragments(s, rest);
  return fragments * s->rows == s->side.width ? 0 : fragments;
}

/* The kernel for one size of panel, and its call, which returns. */
static void
put_size(const kernel *full, int64_t rows, int64_t columns, bs_text *calls) {
  kernel k = *full;
  bool fewer_rows = rows < full->rows, fewer = columns < full->columns;
  k.rows = rows;
  k.columns = columns;
  put_kernel(&k);
  bs_put(calls, "  ");
  if (fewer_rows || fewer)
    bs_put(calls, "if (");
  if (fewer_rows)
    bs_putf(calls, "m <= %lld%s", (long long)(rows * full->mac->m),
            fewer ? " && " : "");
  if (fewer)
    bs_putf(calls, "n <= %lld", (long long)(columns * full->mac->n));
  if (fewer_rows || fewer)
    bs_put(calls, ") {\n    ");
  bs_putf(calls, "%s_%lldx%lld(x, y, to, apart);\n", k.x->name, (long long)rows,
          (long long)columns);
  if (fewer_rows || fewer)
    bs_put(calls, "    return;\n  }\n");
}

void
cg_put_mac_kernels(const cg_contract *x) {
  kernel k = {x,
              x->c->mac.mac,
              cg_mac_side_of(x, true),
              cg_mac_side_of(x, false),
              x->c->mr,
              x->c->nv};
  int64_t rows = rest_of(&k.sx, x->m), columns = rest_of(&k.sy, x->n);
  bs_text calls;
  bs_text_init(&calls, x->e->heap);
  if (rows && columns)
    put_size(&k, rows, columns, &calls);
  if (rows)
    put_size(&k, rows, k.columns, &calls);
  if (columns)
    put_size(&k, k.rows, columns, &calls);
  put_size(&k, k.rows, k.columns, &calls);
  bs_putf(x->out, "static void\n%s_panel", x->name);
  put_parameters(&k);
  bs_putf(x->out, ", %s m, %s n) {\n  (void)m;\n  (void)n;\n", x->e->index,
          x->e->index);
  bs_putn(x->out, calls.data, calls.len);
  bs_put(x->out, "}\n\n");
  bs_text_done(&calls);
}
