/* SPDX-License-Identifier: MIT */
/* balance.c - does every parenthesis and every string of a source end?
 *
 * One pass that counts depth.  When a parenthesis stays open the outermost
 * one is named; and since forms start in the first column by custom, one
 * that does so inside another is named as the likely place of the slip. */
#include "base/balance.h"
#include "base/characters.h"
#include "base/foreign_bytes.h"
#include "base/render.h"
#include "base/typographic.h"
#include "base/utf8.h"
#include <assert.h>
#include <string.h>

typedef struct scan {
  bs_diags *diags;
  const char *text;
  uint32_t source, size, at;
  uint32_t depth;
  uint32_t outermost; /* where depth last became 1 */
  uint32_t suspect;   /* a '(' in the first column with depth > 0 */
  bool have_suspect;
} scan;

uint32_t
bs_string_end(const char *text, uint32_t size, uint32_t at, bool *closed) {
  assert(at < size);
  *closed = false;
  for (at++; at < size && !*closed; at++) {
    *closed = text[at] == '"';
    at += text[at] == '\\';
  }
  return at < size ? at : size;
}

static bs_span
span_at(const scan *s, uint32_t at) {
  return (bs_span){s->source, at, at + 1};
}

static void
open_list(scan *s) {
  bool first_column = s->at == 0 || s->text[s->at - 1] == '\n';
  if (!s->depth) {
    s->outermost = s->at;
    s->have_suspect = false;
  } else if (first_column && !s->have_suspect) {
    s->suspect = s->at;
    s->have_suspect = true;
  }
  s->depth++;
  s->at++;
}

static bool
close_list(scan *s) {
  if (!s->depth) {
    bs_error(s->diags, span_at(s, s->at), "unexpected-paren",
             "this ')' closes nothing");
    bs_hint(s->diags, "delete it, or put a '(' where its form begins");
    return false;
  }
  s->depth--;
  s->at++;
  return true;
}

static bool
skip_string(scan *s) {
  bool closed;
  uint32_t start = s->at;
  s->at = bs_string_end(s->text, s->size, start, &closed);
  if (closed)
    return true;
  bs_error(s->diags, span_at(s, start), "unclosed-string",
           "this string is never closed");
  bs_hint(s->diags, "a string ends with '\"'; inside one write '\\\"'");
  return false;
}

static void
skip_comment(scan *s) {
  const char *from = s->text + s->at;
  const char *end = memchr(from, '\n', s->size - s->at);
  s->at = end ? (uint32_t)(end - s->text) : s->size;
}

/* No name has such a character, so it can only be a slip. */
static bool
skip_foreign(const scan *s) {
  const char *at = s->text + s->at;
  const char *hint = bs_typographic(at, s->size - s->at);
  if (!hint)
    return true;
  uint32_t n = bs_utf8_length(at, s->size - s->at);
  bs_error(s->diags, (bs_span){s->source, s->at, s->at + n}, "bad-character",
           "the character `%.*s` is not allowed here", (int)n, at);
  return bs_hint(s->diags, "%s", hint), false;
}

/* The mark that may start a file is invisible anywhere else. */
static bool
skip_token_byte(scan *s) {
  static const char mark[] = "\xef\xbb\xbf";
  if (s->at && s->size - s->at >= 3 && !memcmp(s->text + s->at, mark, 3)) {
    bs_error(s->diags, (bs_span){s->source, s->at, s->at + 3}, "bad-character",
             "a byte order mark (U+FEFF) inside the file");
    return bs_hint(s->diags, "it is invisible; delete it"), false;
  }
  if ((unsigned char)s->text[s->at] >= 0x80 && !skip_foreign(s))
    return false;
  s->at++;
  return true;
}

static bool
step(scan *s) {
  switch (bs_class_of(s->text[s->at])) {
  case BS_OPEN:
    open_list(s);
    return true;
  case BS_CLOSE:
    return close_list(s);
  case BS_QUOTE:
    return skip_string(s);
  case BS_COMMENT:
    skip_comment(s);
    return true;
  case BS_TOKEN:
  case BS_SPACE:
  case BS_CONTROL:
  default:
    return skip_token_byte(s);
  }
}

/* What precedes a parenthesis in a call of other languages: name(...). */
static uint32_t
name_length_before(const scan *s, uint32_t at) {
  uint32_t begin = at;
  while (begin && bs_class_of(s->text[begin - 1]) == BS_TOKEN)
    begin--;
  return at - begin;
}

/* A call that another language writes over several parts loses what follows
 * a semicolon, which is how its parenthesis comes to stay open. */
static bool
report_unclosed(scan *s) {
  uint32_t name = name_length_before(s, s->outermost);
  bs_error(s->diags, span_at(s, s->outermost), "unclosed-paren",
           "this '(' is never closed");
  if (name && name < 64)
    bs_hint(
        s->diags,
        "a name is written inside its parentheses, (%.*s ...), and ';' begins "
        "a comment",
        (int)name, s->text + s->outermost - name);
  else
    bs_hint(s->diags, "the file ends with %u parenthes%s open", s->depth,
            s->depth == 1 ? "is" : "es");
  if (s->have_suspect)
    bs_note(s->diags, span_at(s, s->suspect),
            "this form starts a line inside it; perhaps a ')' is missing "
            "before");
  return false;
}

static bool
free_of_controls(const scan *s) {
  for (uint32_t at = 0; at < s->size; at++)
    if (bs_class_of(s->text[at]) == BS_CONTROL) {
      bs_error(s->diags, span_at(s, at), "bad-character",
               "the control character 0x%02x is not allowed here",
               (unsigned char)s->text[at]);
      bs_hint_bytes(s->diags, s->text, s->size);
      return false;
    }
  return true;
}

bool
bs_balanced(bs_diags *diags, uint32_t source) {
  assert(source > 0 && source <= diags->sources.len);
  const bs_source *from = &diags->sources.data[source - 1];
  scan s = {
      .diags = diags, .source = source, .text = from->text, .size = from->size};
  if (!bs_source_check(diags, source) || !free_of_controls(&s))
    return false;
  while (s.at < s.size)
    if (!step(&s))
      return false;
  return !s.depth || report_unclosed(&s);
}
