/* SPDX-License-Identifier: MIT */
/* tokens.c - a source cut into tokens, one pass.
 *
 * The same bytes end a token here as in the reader (characters.h); what a
 * number or an escape means is not asked.  A byte order mark is white space. */
#include "base/tokens.h"
#include "base/balance.h"
#include "base/characters.h"
#include "base/utf8.h"
#include <assert.h>
#include <string.h>

typedef struct scan {
  const char *text;
  uint32_t size, at;
  uint32_t lines, column;
} scan;

/* Moves on to `to`, counting lines and columns. */
static void
move(scan *s, uint32_t to) {
  const char *from = s->text + s->at, *end = s->text + to;
  for (const char *line; (line = memchr(from, '\n', (size_t)(end - from)));) {
    from = line + 1;
    s->lines++;
    s->column = 0;
  }
  s->column += (uint32_t)bs_utf8_count(from, (size_t)(end - from));
  s->at = to;
}

static void
skip_space(scan *s) {
  uint32_t to = s->at;
  while (to < s->size && (bs_class_of(s->text[to]) == BS_SPACE ||
                          bs_class_of(s->text[to]) == BS_CONTROL))
    to++;
  move(s, to);
}

static uint32_t
comment_end(const scan *s) {
  const char *from = s->text + s->at;
  const char *end = memchr(from, '\n', s->size - s->at);
  return end ? (uint32_t)(end - s->text) : s->size;
}

static uint32_t
atom_end(const scan *s) {
  uint32_t to = s->at;
  while (to < s->size && bs_class_of(s->text[to]) == BS_TOKEN)
    to++;
  return to;
}

static bs_token_kind
next_kind(const scan *s, uint32_t *end) {
  bool closed;
  switch (bs_class_of(s->text[s->at])) {
  case BS_OPEN:
    *end = s->at + 1;
    return BS_T_OPEN;
  case BS_CLOSE:
    *end = s->at + 1;
    return BS_T_CLOSE;
  case BS_QUOTE:
    *end = bs_string_end(s->text, s->size, s->at, &closed);
    return BS_T_STRING;
  case BS_COMMENT:
    *end = comment_end(s);
    return BS_T_COMMENT;
  case BS_TOKEN:
  case BS_SPACE:
  case BS_CONTROL:
  default:
    *end = atom_end(s);
    return BS_T_ATOM;
  }
}

static uint32_t
without_space(const scan *s, uint32_t lo, uint32_t hi) {
  while (hi > lo && bs_class_of(s->text[hi - 1]) == BS_SPACE)
    hi--;
  return hi;
}

bool
bs_tokens_read(bs_heap *heap, bs_diags *diags, uint32_t source,
               bs_tokens *out) {
  assert(source <= diags->sources.len);
  *out = (bs_tokens){0};
  if (!source || !bs_balanced(diags, source))
    return false;
  const bs_source *from = &diags->sources.data[source - 1];
  scan s = {.text = from->text,
            .size = from->size,
            .at = bs_utf8_begin(from->text, from->size)};
  for (skip_space(&s); s.at < s.size; skip_space(&s)) {
    uint32_t end;
    bs_token t = {.lo = s.at, .lines = s.lines, .column = s.column};
    t.kind = next_kind(&s, &end);
    t.hi = t.kind == BS_T_COMMENT ? without_space(&s, t.lo, end) : end;
    move(&s, end);
    s.lines = 0;
    bs_push(heap, &out->list, t);
  }
  return true;
}

void
bs_tokens_done(bs_heap *heap, bs_tokens *tokens) {
  bs_vec_done(heap, &tokens->list);
}
