/* SPDX-License-Identifier: MIT */
/* read_token.c - tokens and names of loop programs. */
#include "poly/text/text_read.h"
#include "base/hash.h"
#include <assert.h>
#include <string.h>

static bool
is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_digit(char c) {
  return c >= '0' && c <= '9';
}

bs_span
po_span_from(const po_reader *r, uint32_t lo) {
  assert(lo <= r->size);
  return (bs_span){r->file, lo, r->taken > lo ? r->taken : lo + 1};
}

bs_span
po_span_here(const po_reader *r) {
  uint32_t hi = r->now.hi > r->now.lo ? r->now.hi : r->now.lo + 1;
  return (bs_span){r->file, r->now.lo, hi};
}

bool
po_syntax(po_reader *r, const char *expected) {
  if (r->now.kind == PO_T_END)
    return bs_error(r->ctx.diags, po_span_here(r), "syntax",
                    "expected %s, but the text ends", expected);
  bs_error(r->ctx.diags, po_span_here(r), "syntax", "expected %s, not `%.*s`",
           expected,
           (int)(r->now.hi - r->now.lo < 40 ? r->now.hi - r->now.lo : 40),
           r->text + r->now.lo);
  return po_hint_syntax(r, expected);
}

static void
skip_space(const po_reader *r, uint32_t *at) {
  while (*at < r->size) {
    char c = r->text[*at];
    if (c == '#')
      while (*at < r->size && r->text[*at] != '\n')
        ++*at;
    else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
      ++*at;
    else
      return;
  }
}

static char
peek(const po_reader *r, uint32_t at) {
  return at < r->size ? r->text[at] : '\0';
}

/* Digits, and a fraction unless two points follow, and an exponent. */
static bool
number(po_reader *r, uint32_t at) {
  while (is_digit(peek(r, at)))
    at++;
  if (peek(r, at) == '.' && is_digit(peek(r, at + 1)))
    for (at++; is_digit(peek(r, at));)
      at++;
  if (peek(r, at) == 'e' || peek(r, at) == 'E') {
    uint32_t sign = peek(r, at + 1) == '-' || peek(r, at + 1) == '+';
    if (is_digit(peek(r, at + 1 + sign)))
      for (at += 1 + sign; is_digit(peek(r, at));)
        at++;
  }
  r->now.hi = at;
  bs_number kind = bs_read_number(r->text + r->now.lo, at - r->now.lo,
                                  &r->now.number, &r->now.real);
  if (kind == BS_INTEGER)
    r->now.real = (double)r->now.number;
  r->now.kind = kind == BS_INTEGER ? PO_T_INT : PO_T_REAL;
  return kind == BS_INTEGER || kind == BS_REAL ||
         bs_error(r->ctx.diags, po_span_here(r), "number-range",
                  "the number is too large");
}

static bool
symbol(po_reader *r) {
  static const char *const two[] = {
      "..", "<=", ">=", "==", "+=", "-=", "*=", "/="};
  static const char one[] = "[](){},:=+-*/%<>.";
  const char *at = r->text + r->now.lo;
  r->now.kind = PO_T_SYMBOL;
  r->now.hi = r->now.lo + 1;
  for (size_t k = 0; k < sizeof two / sizeof *two; k++)
    if (at[0] == two[k][0] && peek(r, r->now.lo + 1) == two[k][1])
      r->now.hi = r->now.lo + 2;
  if (strchr(one, *at))
    return true;
  bs_error(r->ctx.diags, po_span_here(r), "syntax",
           "this character has no meaning here");
  return po_hint_character(r, *at);
}

bool
po_next_token(po_reader *r) {
  uint32_t at = r->now.hi;
  r->taken = at;
  skip_space(r, &at);
  r->now = (po_token){.lo = at, .hi = at};
  if (at >= r->size) {
    r->now.kind = PO_T_END;
    return true;
  }
  if (is_digit(r->text[at]))
    return number(r, at);
  if (!is_letter(r->text[at]))
    return r->text[at] ? symbol(r)
                       : bs_error(r->ctx.diags, po_span_here(r), "syntax",
                                  "a zero byte");
  while (is_letter(peek(r, at)) || is_digit(peek(r, at)))
    at++;
  r->now.hi = at;
  r->now.kind = PO_T_NAME;
  return true;
}

/* ---- expectations ---- */

static bool
is_text(const po_reader *r, const char *text) {
  size_t n = strlen(text);
  return r->now.hi - r->now.lo == n && !memcmp(r->text + r->now.lo, text, n);
}

bool
po_is_symbol(const po_reader *r, const char *text) {
  return r->now.kind == PO_T_SYMBOL && is_text(r, text);
}

bool
po_is_word(const po_reader *r, const char *word) {
  return r->now.kind == PO_T_NAME && is_text(r, word);
}

bool
po_take_symbol(po_reader *r, const char *text, bool *taken) {
  *taken = po_is_symbol(r, text);
  return !*taken || po_next_token(r);
}

bool
po_take_word(po_reader *r, const char *word, bool *taken) {
  *taken = po_is_word(r, word);
  return !*taken || po_next_token(r);
}

static const char *
quoted(po_reader *r, const char *text) {
  return bs_arena_printf(&r->arena, "`%s`", text);
}

bool
po_need_symbol(po_reader *r, const char *text) {
  return po_is_symbol(r, text) ? po_next_token(r)
                               : po_syntax(r, quoted(r, text));
}

bool
po_need_word(po_reader *r, const char *word) {
  return po_is_word(r, word) ? po_next_token(r) : po_syntax(r, quoted(r, word));
}

bool
po_need_name(po_reader *r, const char *what, const char **out) {
  if (r->now.kind != PO_T_NAME)
    return po_syntax(r, what);
  if (r->now.hi - r->now.lo > 200)
    return bs_error(r->ctx.diags, po_span_here(r), "name-length",
                    "the name is longer than 200 letters");
  *out = bs_arena_printf(&r->p->arena, "%.*s", (int)(r->now.hi - r->now.lo),
                         r->text + r->now.lo);
  return po_next_token(r);
}

bool
po_need_int(po_reader *r, int64_t lo, int64_t hi, int64_t *out) {
  assert(lo <= hi);
  bool negative = false;
  uint32_t from = r->now.lo;
  if (!po_take_symbol(r, "-", &negative))
    return false;
  if (r->now.kind != PO_T_INT)
    return po_syntax(r, "an integer");
  *out = negative ? -r->now.number : r->now.number;
  if (!po_next_token(r))
    return false;
  return (*out >= lo && *out <= hi) ||
         bs_error(r->ctx.diags, po_span_from(r, from), "number-range",
                  "expected an integer from %lld to %lld", (long long)lo,
                  (long long)hi);
}

bool
po_need_dtype(po_reader *r, gs_dtype *out) {
  char name[8] = "";
  uint32_t n = r->now.hi - r->now.lo;
  if (r->now.kind == PO_T_NAME && n < sizeof name)
    memcpy(name, r->text + r->now.lo, n);
  if (gs_dtype_find(name, out))
    return po_next_token(r);
  po_syntax(r, "a dtype");
  return po_hint_dtype(r);
}

bool
po_go_deeper(po_reader *r) {
  if (++r->nesting <= PO_MAX_NESTING)
    return true;
  return bs_error(r->ctx.diags, po_span_here(r), "too-deep",
                  "expressions nest deeper than %d levels", PO_MAX_NESTING);
}

/* ---- names ---- */

static const char *
name_of(const po_reader *r, po_entry_kind kind, uint32_t k) {
  switch (kind) {
  case PO_E_ARRAY:
    return r->p->arrays.data[k].name;
  case PO_E_LOOP:
    return r->p->nest.nodes.data[k].name;
  case PO_E_STMT:
  case PO_E_KINDS:
  default:
    return r->p->stmts.data[k].name;
  }
}

/* The place of a name in its table: where it is or would be. */
static uint32_t
slot_of(const po_reader *r, po_entry_kind kind, const char *name, size_t n) {
  const po_entries *t = &r->entries[kind];
  uint32_t at = (uint32_t)bs_hash(name, n) & (t->size - 1);
  for (; t->at[at]; at = (at + 1) & (t->size - 1)) {
    const char *other = name_of(r, kind, t->at[at] - 1);
    if (strlen(other) == n && !memcmp(other, name, n))
      break;
  }
  return at;
}

uint32_t
po_find_entry(const po_reader *r, po_entry_kind kind, const char *name,
              size_t n) {
  assert(kind < PO_E_KINDS);
  const po_entries *t = &r->entries[kind];
  return t->size ? t->at[slot_of(r, kind, name, n)] - 1u : UINT32_MAX;
}

static void
grow(po_reader *r, po_entry_kind kind) {
  po_entries *t = &r->entries[kind], old = *t;
  t->size = old.size ? 2 * old.size : 64;
  t->at = bs_arena_calloc(&r->arena, t->size, sizeof *t->at);
  for (uint32_t k = 0; k < old.size; k++)
    if (old.at[k]) {
      const char *name = name_of(r, kind, old.at[k] - 1);
      t->at[slot_of(r, kind, name, strlen(name))] = old.at[k];
    }
}

void
po_add_entry(po_reader *r, po_entry_kind kind, uint32_t thing) {
  assert(kind < PO_E_KINDS);
  po_entries *t = &r->entries[kind];
  if (2 * t->n >= t->size)
    grow(r, kind);
  const char *name = name_of(r, kind, thing);
  t->at[slot_of(r, kind, name, strlen(name))] = thing + 1;
  t->n++;
}

bool
po_need_array(po_reader *r, uint32_t *array) {
  if (r->now.kind != PO_T_NAME)
    return po_syntax(r, "an array");
  *array =
      po_find_entry(r, PO_E_ARRAY, r->text + r->now.lo, r->now.hi - r->now.lo);
  if (*array != UINT32_MAX)
    return po_next_token(r);
  bs_error(r->ctx.diags, po_span_here(r), "unknown-name",
           "no array is named `%.*s`", (int)(r->now.hi - r->now.lo),
           r->text + r->now.lo);
  return po_hint_array(r);
}
