/* SPDX-License-Identifier: MIT */
/* mac_kernel.c - accumulators of an instruction of the target.
 *
 * The texts of the target's declaration are put together: accumulators that
 * are zero, or begin with what offsets add; fragments loaded and multiplied
 * group by group of k; sums stored in place, or in an array of the panel's
 * size; and around all panels of a tile what is done once for them.  Where the
 * condition that the declaration names does not hold, plain C does what it
 * means. */
#include "codegen/contract/contract_mac.h"
#include <assert.h>

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

static const cg_expr *
number(const kernel *k, int64_t n) {
  return cg_number(&k->x->e->arena, n);
}

/* Accumulators are numbered from 0 on as they are used; fragments of x and y
 * behind all that there may be. */
static const cg_expr *
named(const kernel *k, gs_mac_name name, const names *of) {
  bs_arena *arena = &k->x->e->arena;
  const gs_mac *mac = k->mac;
  long long x = of->x, y = of->y;
  switch (name) {
  case GS_MAC_TEXT:
  case GS_MAC_NAMES:
    break;
  case GS_MAC_X:
    return cg_literal(arena, bs_arena_printf(arena, "x%lld", x));
  case GS_MAC_X_NUMBER:
    return number(k, mac->accumulators + x);
  case GS_MAC_Y:
    return cg_literal(arena, bs_arena_printf(arena, "y%lld", y));
  case GS_MAC_Y_NUMBER:
    return number(k, mac->accumulators + mac->x.held + y);
  case GS_MAC_SUM:
    return cg_literal(arena, bs_arena_printf(arena, "s%lld_%lld", x, y));
  case GS_MAC_SUM_NUMBER:
    return number(k, x * k->columns + y);
  case GS_MAC_FROM:
    return cg_quote(arena, "(%s)", of->from);
  case GS_MAC_TO:
    return cg_quote(arena, "(%s)", of->to);
  case GS_MAC_STRIDE:
    return cg_literal(arena, of->stride);
  case GS_MAC_M:
    return number(k, mac->m);
  case GS_MAC_N:
    return number(k, mac->n);
  case GS_MAC_K:
    return number(k, mac->k);
  }
  return NULL;
}

static const cg_expr *
piece_of(const kernel *k, const gs_mac_piece *piece, const names *of) {
  bs_arena *arena = &k->x->e->arena;
  if (piece->name != GS_MAC_TEXT)
    return named(k, piece->name, of);
  return cg_literal(
      arena, bs_arena_printf(arena, "%.*s", (int)piece->len, piece->text));
}

static uint32_t
count_pieces(const char *text) {
  gs_mac_piece piece;
  uint32_t n = 0;
  while (gs_mac_next(&text, &piece))
    n++;
  return n;
}

static void
put_part(const kernel *k, gs_mac_part part, const names *of) {
  bs_arena *arena = &k->x->e->arena;
  const char *text = k->mac->text[part];
  gs_mac_piece piece;
  uint32_t n = 0;
  if (!text)
    return;
  const cg_expr **parts = BS_NEWS(arena, const cg_expr *, count_pieces(text));
  while (gs_mac_next(&text, &piece))
    parts[n++] = piece_of(k, &piece, of);
  cg_node *node = cg_node_new(arena, CG_TEMPLATE);
  node->text = (cg_template){.n = n, .parts = parts};
  cg_write_nodes(k->x->w, node);
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
put_each(const kernel *k, gs_mac_part part) {
  for (int64_t r = 0; r < k->rows; r++)
    for (int64_t v = 0; v < k->columns; v++)
      put_part(k, part,
               &(names){r, v, begin_of(k, v), place_of(k, r, v),
                        part == GS_MAC_LOAD ? "0" : "apart"});
}

static const char *
fragment(const kernel *k, const cg_mac_side *s, int64_t number) {
  if (s->row)
    return bs_arena_printf(&k->x->e->arena, "x + g * %lld + %lld",
                           (long long)k->mac->k,
                           (long long)(number * s->rows * s->row));
  return bs_arena_printf(&k->x->e->arena, "%c + g * %lld + %lld",
                         s->side.of_x ? 'x' : 'y',
                         (long long)(s->side.width * k->mac->k),
                         (long long)(number * s->rows * k->mac->k));
}

/* From a row of a fragment of x to the next. */
static const char *
row_stride(const kernel *k) {
  int64_t side_by_side = k->sx.operand->interleave;
  return bs_arena_printf(&k->x->e->arena, "%lld",
                         (long long)(k->sx.row ? k->sx.row : side_by_side));
}

static void
put_products(const kernel *k) {
  cg_write(k->x->w, "for (%s g = 0; g < %lld; g++) {", k->x->e->index,
           (long long)(k->sx.depth / k->mac->k));
  for (int64_t v = 0; v < k->columns; v++)
    put_part(k, GS_MAC_LOAD_Y, &(names){0, v, fragment(k, &k->sy, v), "", ""});
  for (int64_t r = 0; r < k->rows; r++) {
    put_part(k, GS_MAC_LOAD_X,
             &(names){r, 0, fragment(k, &k->sx, r), "", row_stride(k)});
    for (int64_t v = 0; v < k->columns; v++)
      put_part(k, GS_MAC_ACCUMULATE, &(names){r, v, "", "", ""});
  }
  cg_write(k->x->w, "}");
}

static void
put_instructions(const kernel *k) {
  const names none = {0, 0, "", "", ""};
  put_part(k, GS_MAC_BEGIN, &none);
  put_each(k, po_mac_begins_with_sums(k->x->c) ? GS_MAC_LOAD : GS_MAC_ZERO);
  put_products(k);
  put_each(k, GS_MAC_STORE);
  put_part(k, GS_MAC_END, &none);
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
put_plain_halves(const kernel *k) {
  const cg_mac_side *sides[] = {&k->sx, &k->sy};
  const char *const rows[] = {"i", "j"};
  cg_writer *w = k->x->w;
  cg_write(w, "float a[2];");
  cg_write(w, "uint32_t bits[2];");
  for (uint32_t o = 0; o < 2; o++)
    cg_write(w, "bits[%u] = (uint32_t)%s << 16;", o,
             plain_place(k, sides[o], rows[o]));
  cg_write(w, "memcpy(a, bits, sizeof a);");
  cg_write(w, "sum += a[0] * a[1];");
}

static void
put_plain_product(const kernel *k) {
  const char *type = k->mac->sum == GS_I32 ? "unsigned" : k->x->type;
  if (k->mac->x.lane == GS_LANE_BF16) {
    put_plain_halves(k);
    return;
  }
  cg_add(k->x->w, "sum += (%s)%s *\n", type, plain_place(k, &k->sx, "i"));
  cg_write(k->x->w, "(%s)%s;", type, plain_place(k, &k->sy, "j"));
}

static void
put_plain(const kernel *k) {
  const cg_contract *x = k->x;
  const char *index = x->e->index;
  bool ints = k->mac->sum == GS_I32;
  cg_write(x->w, "for (%s i = 0; i < %lld; i++)", index,
           (long long)(k->rows * k->mac->m));
  cg_write(x->w, "for (%s j = 0; j < %lld; j++) {", index,
           (long long)(k->columns * k->mac->n));
  cg_write(
      x->w, "%s sum = %s;", ints ? "unsigned" : x->type,
      po_mac_begins_with_sums(x->c)
          ? bs_arena_printf(&x->e->arena, "(unsigned)(%s)[j]", begin_of(k, 0))
          : "0");
  cg_write(x->w, "for (%s g = 0; g < %lld; g++)", index,
           (long long)(k->sx.depth / k->mac->k));
  cg_write(x->w, "for (%s t = 0; t < %lld; t++) {", index,
           (long long)k->mac->k);
  put_plain_product(k);
  cg_write(x->w, "}");
  cg_write(x->w, "to[i * apart + j] = %ssum;", ints ? "(int32_t)" : "");
  cg_write(x->w, "}");
}

/* ---- functions ---- */

static void
put_parameters(const kernel *k) {
  cg_add(k->x->w,
         "(const %s *restrict x, const %s *restrict y,\n    %s *restrict to, "
         "const %s apart",
         k->sx.lane, k->sy.lane, k->x->type, k->x->e->index);
}

/* What the declaration says before its functions. */
static void
put_attributes(const kernel *k) {
  const gs_mac *mac = k->mac;
  bs_text *out = &k->x->e->body;
  if (mac->attributes && mac->when)
    bs_putf(out, "#if %s\n%s\n#endif\n", mac->when, mac->attributes);
  else if (mac->attributes)
    bs_putf(out, "%s\n", mac->attributes);
}

/* NAME_enter() and NAME_leave(): what the declaration says around all panels of
 * a tile.  They are functions because of the attributes. */
static void
put_around(const kernel *k, gs_mac_part part) {
  const names none = {0, 0, "", "", ""};
  cg_writer *w = k->x->w;
  if (!k->mac->text[part])
    return;
  put_attributes(k);
  cg_write(w, "static void\n%s_%s(void) {", k->x->name,
           gs_mac_part_names[part]);
  if (k->mac->when)
    cg_write(w, "#if %s", k->mac->when);
  put_part(k, part, &none);
  if (k->mac->when)
    cg_write(w, "#endif");
  cg_close_function(k->x->e, w);
}

void
cg_put_mac_around(const cg_contract *x, gs_mac_part part) {
  assert(part == GS_MAC_ENTER || part == GS_MAC_LEAVE);
  if (x->c->mac.mac->text[part])
    cg_write(x->w, "%s_%s();", x->name, gs_mac_part_names[part]);
}

/* A function of its own, so that nothing else wants its registers. */
static void
put_kernel(const kernel *k) {
  const gs_mac *mac = k->mac;
  cg_writer *w = k->x->w;
  put_attributes(k);
  cg_add(w, "GLEN_NOINLINE static void\n%s_%lldx%lld", k->x->name,
         (long long)k->rows, (long long)k->columns);
  put_parameters(k);
  cg_write(w, ") {");
  if (mac->when)
    cg_write(w, "#if %s", mac->when);
  put_instructions(k);
  if (mac->when) {
    cg_write(w, "#elif defined(GLEN_INSTRUCTIONS)");
    cg_write(w, "#error \"the compiler does not have %s\"", mac->name);
    cg_write(w, "#else");
    put_plain(k);
    cg_write(w, "#endif");
  }
  cg_close_function(k->x->e, w);
}

/* Fragments of the last panels, where it is not a whole one; or 0. */
static int64_t
rest_of(const cg_mac_side *s, int64_t size) {
  assert(size >= 1);
  int64_t rest = size % s->side.width;
  int64_t fragments = cg_mac_fragments(s, rest);
  return fragments * s->rows == s->side.width ? 0 : fragments;
}

/* The sizes of panels that there are: of fewer rows, of fewer columns, and the
 * full one last. */
static uint32_t
list_sizes(const kernel *full, kernel sizes[4]) {
  int64_t rows[] = {rest_of(&full->sx, full->x->m), full->rows};
  int64_t columns[] = {rest_of(&full->sy, full->x->n), full->columns};
  uint32_t n = 0;
  for (uint32_t k = 0; k < 4; k++) {
    int64_t r = rows[k >> 1], c = columns[k & 1];
    if (!r || !c)
      continue;
    sizes[n] = *full;
    sizes[n].rows = r;
    sizes[n++].columns = c;
  }
  return n;
}

/* The call for one size, unless one before it was for what is left. */
static void
put_call(const kernel *full, const kernel *k) {
  cg_writer *w = k->x->w;
  bool rows = k->rows < full->rows, columns = k->columns < full->columns;
  if (rows || columns)
    cg_add(w, "if (");
  if (rows)
    cg_add(w, "m <= %lld%s", (long long)(k->rows * k->mac->m),
           columns ? " && " : "");
  if (columns)
    cg_add(w, "n <= %lld", (long long)(k->columns * k->mac->n));
  if (rows || columns)
    cg_write(w, ") {");
  cg_write(w, "%s_%lldx%lld(x, y, to, apart);", k->x->name, (long long)k->rows,
           (long long)k->columns);
  if (rows || columns)
    cg_write(w, "return; }");
}

void
cg_put_mac_kernels(const cg_contract *x) {
  kernel k = {x,
              x->c->mac.mac,
              cg_mac_side_of(x, true),
              cg_mac_side_of(x, false),
              x->c->mr,
              x->c->nv};
  kernel sizes[4];
  uint32_t n = list_sizes(&k, sizes);
  put_around(&k, GS_MAC_ENTER);
  put_around(&k, GS_MAC_LEAVE);
  for (uint32_t j = 0; j < n; j++)
    put_kernel(&sizes[j]);
  cg_add(x->w, "static void\n%s_panel", x->name);
  put_parameters(&k);
  cg_write(x->w, ", %s m, %s n) {", x->e->index, x->e->index);
  cg_write(x->w, "(void)m; (void)n;");
  for (uint32_t j = 0; j < n; j++)
    put_call(&k, &sizes[j]);
  cg_close_function(x->e, x->w);
}
