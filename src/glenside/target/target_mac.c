/* SPDX-License-Identifier: MIT */
/* target_mac.c - reads, and prints, one (mac ...) declaration.
 *
 * Its parts stand in any order.  A table says of each what it holds: numbers
 * are expressions over settings, so that the length of vectors may be one. */
#include "glenside/target/target_parse.h"
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct reader {
  target_parser *p;
  gs_mac *mac;
  uint32_t form;
  gs_scope scope; /* of no names: settings alone */
} reader;

typedef struct part_kind {
  const char *name;
  bool required;
  bool (*read)(reader *, uint32_t form, size_t offset);
  size_t offset;
} part_kind;

static const bs_sx *
at(const reader *r, uint32_t node) {
  return target_at(r->p, node);
}

static uint32_t
next(const reader *r, uint32_t node) {
  return target_next(r->p, node);
}

static uint32_t
items_of(const reader *r, uint32_t form) {
  return at(r, form)->count > 1 ? next(r, form + 1) : 0;
}

static bool
fail(const reader *r, uint32_t node, const char *code, const char *message) {
  return bs_error(r->p->ctx->diags, at(r, node)->span, code, "%s", message);
}

/* ---- numbers ---- */

static bool
is_number(const reader *r, bs_value v) {
  bs_kind kind = bs_kind_of(r->p->ctx->values, v);
  return kind == BS_KIND_INT || kind == BS_KIND_REAL;
}

/* An expression over settings, from `least` to `most`. */
static bool
read_number(reader *r, uint32_t node, double least, double most, double *out) {
  const gs_expr *e = gs_expr_parse(r->p->ctx, r->p->sexps, node, &r->scope);
  gs_env env = {.values = r->p->ctx->values};
  bs_value v;
  if (!e)
    return false;
  if (!gs_expr_eval(e, &env, &v) || !is_number(r, v))
    return fail(r, node, "bad-value", "a number is expected here");
  *out = bs_as_real(r->p->ctx->values, v);
  return (*out >= least && *out <= most) ||
         bs_error(r->p->ctx->diags, at(r, node)->span, "bad-value",
                  "%g is not between %g and %g", *out, least, most);
}

static bool
read_whole(reader *r, uint32_t node, double most, int64_t *out) {
  double v = 0;
  if (!read_number(r, node, 1, most, &v))
    return false;
  *out = (int64_t)v;
  return v == floor(v) || fail(r, node, "bad-value", "an integer is expected");
}

static bool
only_item(const reader *r, uint32_t form, uint32_t *item) {
  *item = items_of(r, form);
  return (*item && !next(r, *item)) ||
         bs_error(r->p->ctx->diags, at(r, form)->span, "wrong-arity",
                  "'%s' takes one item", target_head(r->p, form));
}

static bool
read_count(reader *r, uint32_t form, size_t offset) {
  uint32_t item;
  return only_item(r, form, &item) &&
         read_whole(r, item, 4096,
                    (int64_t *)(void *)((char *)r->mac + offset));
}

static bool
read_cycles(reader *r, uint32_t form, size_t offset) {
  uint32_t item;
  (void)offset;
  return only_item(r, form, &item) &&
         read_number(r, item, 1e-6, 1e9, &r->mac->cycles);
}

static bool
read_shape(reader *r, uint32_t form, size_t offset) {
  uint32_t m = items_of(r, form), n = m ? next(r, m) : 0;
  uint32_t k = n ? next(r, n) : 0;
  (void)offset;
  if (!k || next(r, k))
    return fail(r, form, "wrong-arity", "write (shape M N K)");
  return read_whole(r, m, GS_MAX_MAC_SIDE, &r->mac->m) &&
         read_whole(r, n, GS_MAX_MAC_SIDE, &r->mac->n) &&
         read_whole(r, k, GS_MAX_MAC_SIDE, &r->mac->k);
}

/* ---- operands ---- */

static bool
read_detail(reader *r, uint32_t form, gs_mac_operand *operand) {
  const char *head = target_head(r->p, form);
  uint32_t item;
  int64_t *to = !head                         ? NULL
                : !strcmp(head, "interleave") ? &operand->interleave
                : !strcmp(head, "held")       ? &operand->held
                                              : NULL;
  if (!to)
    return fail(
        r, form, "unknown-item",
        "only (interleave Q) and (held N) can follow the type of an operand");
  return only_item(r, form, &item) && read_whole(r, item, GS_MAX_MAC_SIDE, to);
}

static bool
read_operand(reader *r, uint32_t form, size_t offset) {
  gs_mac_operand *operand = (gs_mac_operand *)(void *)((char *)r->mac + offset);
  uint32_t type = items_of(r, form), lane = 0;
  if (!type || at(r, type)->kind != BS_SX_SYM)
    return fail(r, form, "wrong-arity", "write (x TYPE) or (y TYPE)");
  while (lane < GS_LANE_COUNT &&
         strcmp(gs_lane_table[lane].name, target_sym(r->p, type)) != 0)
    lane++;
  if (lane == GS_LANE_COUNT)
    return fail(r, type, "unknown-dtype",
                "i8, u8, i16, i32, bf16, f32 or f64 is expected here");
  operand->lane = (gs_lane)lane;
  for (uint32_t d = next(r, type); d; d = next(r, d))
    if (!read_detail(r, d, operand))
      return false;
  return true;
}

static bool
read_sum(reader *r, uint32_t form, size_t offset) {
  uint32_t item;
  (void)offset;
  if (!only_item(r, form, &item))
    return false;
  bool known = at(r, item)->kind == BS_SX_SYM &&
               gs_dtype_find(target_sym(r->p, item), &r->mac->sum);
  bool wide = known && (r->mac->sum == GS_I32 || r->mac->sum == GS_F32 ||
                        r->mac->sum == GS_F64);
  return wide || fail(r, item, "unknown-dtype", "sums are i32, f32 or f64");
}

/* ---- texts ---- */

/* Strings, a line each. */
static bool
read_text(reader *r, uint32_t form, size_t offset) {
  bs_text text;
  bs_text_init(&text, r->p->ctx->heap);
  for (uint32_t x = items_of(r, form); x; x = next(r, x)) {
    if (at(r, x)->kind != BS_SX_STRING) {
      bs_text_done(&text);
      return fail(r, x, "bad-value", "expected a text in quotes");
    }
    bs_putf(&text, "%s%s", text.len ? "\n" : "", target_sym(r->p, x));
  }
  *(const char **)(void *)((char *)r->mac + offset) =
      bs_arena_strdup(r->p->ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return true;
}

#define TEXT(name, required, part)                                             \
  {                                                                            \
    name, required, read_text,                                                 \
        offsetof(gs_mac, text) + GS_MAC_##part * sizeof(const char *)          \
  }

static const part_kind PARTS[] = {
    {"shape", true, read_shape, 0},
    {"x", true, read_operand, offsetof(gs_mac, x)},
    {"y", true, read_operand, offsetof(gs_mac, y)},
    {"sum", true, read_sum, 0},
    {"accumulators", true, read_count, offsetof(gs_mac, accumulators)},
    {"cycles", false, read_cycles, 0},
    {"when", false, read_text, offsetof(gs_mac, when)},
    {"needs", false, read_text, offsetof(gs_mac, needs)},
    {"processor", false, read_text, offsetof(gs_mac, processor)},
    {"headers", false, read_text, offsetof(gs_mac, headers)},
    {"attributes", false, read_text, offsetof(gs_mac, attributes)},
    TEXT("enter", false, ENTER),
    TEXT("begin", false, BEGIN),
    TEXT("zero", true, ZERO),
    TEXT("load", false, LOAD),
    TEXT("load-x", true, LOAD_X),
    TEXT("load-y", true, LOAD_Y),
    TEXT("accumulate", true, ACCUMULATE),
    TEXT("store", true, STORE),
    TEXT("end", false, END),
    TEXT("leave", false, LEAVE),
};

enum { PART_COUNT = sizeof PARTS / sizeof *PARTS };

/* ---- what is read ---- */

/* A brace before a lower-case name that means nothing here. */
static bool
looks_like_name(const gs_mac_piece *piece) {
  size_t n = 1;
  while (n < piece->len &&
         (islower((unsigned char)piece->text[n]) || piece->text[n] == '.'))
    n++;
  return piece->text[0] == '{' && n > 1 && n < piece->len &&
         piece->text[n] == '}';
}

static bool
check_text(const reader *r, gs_mac_part part, uint32_t form) {
  const char *text = r->mac->text[part];
  gs_mac_piece piece;
  while (text && gs_mac_next(&text, &piece)) {
    if (piece.name == GS_MAC_TEXT ? !looks_like_name(&piece)
                                  : gs_mac_may_name(part, piece.name))
      continue;
    if (piece.name == GS_MAC_TEXT)
      piece.len = strcspn(piece.text, "}") + 1;
    bs_error(r->p->ctx->diags, at(r, form)->span, "bad-emit",
             "'%.*s' means nothing in '%s'", (int)piece.len, piece.text,
             gs_mac_part_names[part]);
    bs_hint(r->p->ctx->diags,
            "{x} {y} {sum}, {x.number} {y.number} {sum.number}, {from} of a "
            "load, {to} of a store, {stride} of sums or of x, {m} {n} {k}");
    return false;
  }
  return true;
}

static bool
check_operand(const reader *r, gs_mac_operand *operand, uint32_t form) {
  int64_t k = r->mac->k;
  operand->interleave = operand->interleave ? operand->interleave : k;
  operand->held = operand->held ? operand->held : r->mac->accumulators;
  return k % operand->interleave == 0 ||
         fail(r, form, "bad-value",
              "the number of interleaved elements must "
              "divide k");
}

static bool
is_float_lane(gs_lane lane) {
  return lane == GS_LANE_BF16 || lane == GS_LANE_F32 || lane == GS_LANE_F64;
}

static bool
check_types(const reader *r, uint32_t form) {
  bool floats = r->mac->sum != GS_I32;
  return (is_float_lane(r->mac->x.lane) == floats &&
          is_float_lane(r->mac->y.lane) == floats) ||
         fail(r, form, "type-mismatch",
              "integers are multiplied into i32, floats into f32 or f64");
}

static uint32_t
find_part(const char *head) {
  uint32_t k = 0;
  while (k < PART_COUNT && (!head || strcmp(PARTS[k].name, head) != 0))
    k++;
  return k;
}

static bool
unknown_part(const reader *r, uint32_t node) {
  const char *names[PART_COUNT], *head = target_head(r->p, node);
  for (uint32_t k = 0; k < PART_COUNT; k++)
    names[k] = PARTS[k].name;
  const char *near = head ? bs_nearest(head, names, PART_COUNT) : NULL;
  bs_error(r->p->ctx->diags, at(r, node)->span, "unknown-item",
           "'%s' is not a part of a multiply-accumulate instruction",
           head ? head : "(...)");
  if (near)
    bs_meant(r->p->ctx->diags, "'", near);
  return false;
}

static bool
read_parts(reader *r, uint32_t first, uint32_t *forms) {
  bool ok = true;
  for (uint32_t x = first; x; x = next(r, x)) {
    uint32_t k = find_part(target_head(r->p, x));
    if (k == PART_COUNT) {
      ok = unknown_part(r, x);
    } else if (forms[k]) {
      ok = bs_error(r->p->ctx->diags, at(r, x)->span, "duplicate-name",
                    "'%s' is given twice", PARTS[k].name);
    } else {
      forms[k] = x;
      ok &= PARTS[k].read(r, x, PARTS[k].offset);
    }
  }
  for (uint32_t k = 0; k < PART_COUNT; k++)
    if (PARTS[k].required && !forms[k])
      ok = bs_error(r->p->ctx->diags, at(r, r->form)->span, "missing-part",
                    "the instruction has no (%s ...)", PARTS[k].name);
  return ok;
}

static bool
check_parts(const reader *r, const uint32_t *forms) {
  bool ok = check_operand(r, &r->mac->x, forms[find_part("x")]) &&
            check_operand(r, &r->mac->y, forms[find_part("y")]) &&
            check_types(r, forms[find_part("sum")]);
  for (uint32_t k = 0; k < GS_MAC_PARTS; k++)
    ok &= check_text(r, (gs_mac_part)k, forms[find_part(gs_mac_part_names[k])]);
  return ok;
}

static const gs_mac *
find_mac(const gs_target *t, const char *name) {
  for (uint32_t k = 0; k < t->macs.len; k++)
    if (!strcmp(t->macs.data[k]->name, name))
      return t->macs.data[k];
  return NULL;
}

double
gs_multiplies(const gs_target *t, gs_dtype x, gs_dtype y, gs_dtype sum) {
  assert(x < GS_DTYPE_COUNT && y < GS_DTYPE_COUNT && sum < GS_DTYPE_COUNT);
  int64_t offset[2];
  double most = 0;
  for (uint32_t k = 0; k < t->macs.len; k++) {
    const gs_mac *mac = t->macs.data[k];
    if (gs_mac_takes(mac, x, y, sum, offset))
      most = fmax(most, (double)(mac->m * mac->n * mac->k) / mac->cycles);
  }
  return most;
}

static bool
read_name(reader *r, uint32_t node) {
  if (!node || at(r, node)->kind != BS_SX_SYM)
    return fail(r, r->form, "missing-part",
                "an instruction needs a name: (mac NAME ...)");
  r->mac->name = target_sym(r->p, node);
  r->mac->span = at(r, node)->span;
  if (r->p->target->macs.len == GS_MAX_MACS)
    return fail(r, node, "too-large",
                "a target has at most 64 such instructions");
  if (find_mac(r->p->target, r->mac->name))
    return fail(r, node, "duplicate-name", "it is declared twice");
  return true;
}

bool
target_parse_mac(target_parser *p, uint32_t form) {
  assert(target_at(p, form)->kind == BS_SX_LIST);
  uint32_t forms[PART_COUNT] = {0};
  reader r = {.p = p, .mac = BS_NEW(p->ctx->arena, gs_mac), .form = form};
  r.scope.param = target_setting;
  r.scope.ctx = p->target;
  r.mac->cycles = 1;
  uint32_t name = items_of(&r, form);
  if (!read_name(&r, name))
    return false;
  uint32_t first = next(&r, name);
  if (first && at(&r, first)->kind == BS_SX_STRING) {
    r.mac->intent = target_sym(p, first);
    first = next(&r, first);
  }
  if (!read_parts(&r, first, forms) || !check_parts(&r, forms))
    return false;
  bs_push(p->ctx->heap, &p->target->macs, r.mac);
  return true;
}

/* ---- printed ---- */

static void
put_operand(bs_text *out, const char *name, const gs_mac *mac,
            const gs_mac_operand *operand) {
  bs_putf(out, "\n  (%s %s", name, gs_lane_table[operand->lane].name);
  if (operand->interleave != mac->k)
    bs_putf(out, " (interleave %lld)", (long long)operand->interleave);
  if (operand->held != mac->accumulators)
    bs_putf(out, " (held %lld)", (long long)operand->held);
  bs_putc(out, ')');
}

static void
put_text(bs_text *out, const part_kind *part, const gs_mac *mac) {
  const char *text =
      *(const char *const *)(const void *)((const char *)mac + part->offset);
  if (!text)
    return;
  bs_putf(out, "\n  (%s ", part->name);
  gs_put_quoted(out, text);
  bs_putc(out, ')');
}

void
target_print_mac(const gs_mac *mac, bs_text *out) {
  bs_putf(out, "\n(mac %s", mac->name);
  if (mac->intent) {
    bs_put(out, "\n  ");
    gs_put_quoted(out, mac->intent);
  }
  bs_putf(out, "\n  (shape %lld %lld %lld)", (long long)mac->m,
          (long long)mac->n, (long long)mac->k);
  put_operand(out, "x", mac, &mac->x);
  put_operand(out, "y", mac, &mac->y);
  bs_putf(out, "\n  (sum %s)\n  (accumulators %lld)\n  (cycles ",
          gs_dtype_table[mac->sum].name, (long long)mac->accumulators);
  bs_put_real(out, mac->cycles);
  bs_putc(out, ')');
  for (uint32_t k = 0; k < PART_COUNT; k++)
    if (PARTS[k].read == read_text)
      put_text(out, &PARTS[k], mac);
  bs_put(out, ")\n");
}
