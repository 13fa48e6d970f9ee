/* SPDX-License-Identifier: MIT */
/* text.c - strings that grow, and how values are written.
 *
 * Invariant: once anything was written, data[len] is NUL and len < cap. */
#include "base/text.h"
#include "base/typographic.h"
#include "base/utf8.h"
#include "base/vec.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

void
bs_text_init(bs_text *text, bs_heap *heap) {
  *text = (bs_text){.heap = heap};
}

void
bs_text_done(bs_text *text) {
  bs_free(text->heap, text->data);
  bs_text_init(text, text->heap);
}

void
bs_text_clear(bs_text *text) {
  text->len = 0;
  if (text->data)
    text->data[0] = '\0';
}

const char *
bs_text_str(bs_text *text) {
  return text->data ? text->data : "";
}

/* Room for n more bytes and the NUL. */
static void
make_room(bs_text *text, size_t n) {
  assert(text->len <= text->cap);
  size_t need;
  if (__builtin_add_overflow(text->len, n, &need) || need == SIZE_MAX)
    bs_out_of_memory(text->heap);
  if (++need <= text->cap)
    return;
  size_t cap = text->cap + text->cap / 2;
  if (cap < need)
    cap = need < 64 ? 64 : need;
  text->data = bs_realloc(text->heap, text->data, cap);
  text->cap = cap;
}

void
bs_putn(bs_text *text, const char *s, size_t n) {
  assert(s || !n);
  make_room(text, n);
  if (n)
    memcpy(text->data + text->len, s, n);
  text->len += n;
  assert(text->len < text->cap);
  text->data[text->len] = '\0';
}

void
bs_put(bs_text *text, const char *s) {
  bs_putn(text, s, strlen(s));
}

void
bs_putc(bs_text *text, char c) {
  bs_putn(text, &c, 1);
}

void
bs_putv(bs_text *text, const char *format, va_list args) {
  make_room(text, 0);
  va_list again;
  va_copy(again, args);
  int n =
      vsnprintf(text->data + text->len, text->cap - text->len, format, args);
  if (n > 0 && (size_t)n >= text->cap - text->len) {
    text->data[text->len] = '\0';
    make_room(text, (size_t)n);
    vsnprintf(text->data + text->len, text->cap - text->len, format, again);
  }
  va_end(again);
  if (n > 0)
    text->len += (size_t)n;
}

void
bs_putf(bs_text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  bs_putv(text, format, args);
  va_end(args);
}

static void
put_json_char(bs_text *text, unsigned char c) {
  static const char escapes[128] = {
      ['"'] = '"',  ['\\'] = '\\', ['\n'] = 'n', ['\t'] = 't',
      ['\r'] = 'r', ['\b'] = 'b',  ['\f'] = 'f'};
  if (escapes[c])
    bs_putf(text, "\\%c", escapes[c]);
  else if (c < 0x20 || c == 0x7f)
    bs_putf(text, "\\u%04x", c);
  else
    bs_putc(text, (char)c);
}

/* s in quotes; ASCII as put_char has it, what is no UTF-8 replaced. */
static void
put_quoted(bs_text *text, const char *s, size_t n,
           void (*put_char)(bs_text *, unsigned char)) {
  bs_putc(text, '"');
  for (size_t at = 0; at < n;) {
    unsigned length = bs_utf8_length(s + at, n - at);
    if (length == 1)
      put_char(text, (unsigned char)s[at]);
    else if (length)
      bs_putn(text, s + at, length);
    else
      bs_put(text, BS_REPLACEMENT);
    at += length ? length : 1;
  }
  bs_putc(text, '"');
}

void
bs_put_json_string(bs_text *text, const char *s) {
  put_quoted(text, s, strlen(s), put_json_char);
}

static bool
is_delimiter(unsigned char c) {
  return c <= ' ' || c == 0x7f || strchr("()\";", c);
}

/* At the start of a file a byte order mark would be taken for the file's;
 * elsewhere it is an error outside of quotes, as characters are that word
 * processors write. */
static bool
needs_quotes_at(const char *s, size_t n) {
  if ((unsigned char)*s < 0x80)
    return is_delimiter((unsigned char)*s);
  return (n >= 3 && !memcmp(s, "\xef\xbb\xbf", 3)) || bs_typographic(s, n);
}

bool
bs_has_word(const char *words, const char *word) {
  size_t n = strlen(word);
  bool one = n && !strchr(word, ' '); /* two neighbours are no word */
  const char *at = words && one ? strstr(words, word) : NULL;
  for (; at; at = strstr(at + n, word))
    if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
      return true;
  return false;
}

bool
bs_is_symbol(const char *s, size_t n) {
  assert(s || !n);
  int64_t integer;
  double real;
  if (!n || bs_read_number(s, n, &integer, &real) != BS_NO_NUMBER)
    return false;
  for (size_t i = 0; i < n; i++)
    if (needs_quotes_at(s + i, n - i))
      return false;
  bool boolean =
      (n == 4 && !memcmp(s, "true", 4)) || (n == 5 && !memcmp(s, "false", 5));
  return !boolean && bs_utf8_fault(s, n) == n;
}

static void
put_quoted_char(bs_text *text, unsigned char c) {
  if (c == '"' || c == '\\')
    bs_putf(text, "\\%c", c);
  else if (c == '\n' || c == '\t')
    bs_put(text, c == '\n' ? "\\n" : "\\t");
  else if (c < 0x20 || c == 0x7f)
    bs_putf(text, "\\x%02x", c);
  else
    bs_putc(text, (char)c);
}

static void
put_symbol(bs_text *text, const char *s, size_t n) {
  if (bs_is_symbol(s, n)) {
    bs_putn(text, s, n);
    return;
  }
  put_quoted(text, s, n, put_quoted_char);
}

static void
put_atom(bs_text *text, const bs_values *values, bs_value v) {
  switch (bs_kind_of(values, v)) {
  case BS_KIND_INT:
    bs_putf(text, "%lld", (long long)bs_as_int(values, v));
    break;
  case BS_KIND_REAL:
    bs_put_real(text, bs_as_real(values, v));
    break;
  case BS_KIND_BOOL:
    bs_put(text, bs_as_bool(values, v) ? "true" : "false");
    break;
  case BS_KIND_SYM:
    put_symbol(text, bs_as_sym(values, v), bs_sym_len(values, v));
    break;
  case BS_KIND_NIL:
  case BS_KIND_LIST:
    bs_put(text, "()");
    break;
  }
}

typedef struct open_list {
  bs_value list;
  uint32_t next;
} open_list;

void
bs_put_value(bs_text *text, const bs_values *values, bs_value v) {
  BS_VEC(open_list) open = {0};
  for (;;) {
    if (bs_len(values, v)) {
      bs_putc(text, '(');
      bs_push(text->heap, &open, (open_list){v, 0});
    } else {
      put_atom(text, values, v);
    }
    while (open.len &&
           bs_last(&open).next == bs_len(values, bs_last(&open).list)) {
      bs_putc(text, ')');
      open.len--;
    }
    if (!open.len)
      break;
    open_list *last = &bs_last(&open);
    if (last->next)
      bs_putc(text, ' ');
    v = bs_item(values, last->list, last->next++);
  }
  bs_vec_done(text->heap, &open);
}
