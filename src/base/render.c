/* SPDX-License-Identifier: MIT */
/* render.c - diagnostics as text for a terminal and as JSON.
 *
 * What comes from the input never reaches the terminal raw: control
 * characters and ill-formed bytes are shown as U+FFFD, and a long line is cut
 * to a window around the caret.  The caret line repeats the tabs of the source
 * line, so that both stay aligned whatever the tab width. */
#include "base/render.h"
#include "base/json.h"
#include "base/utf8.h"
#include <string.h>

enum { WINDOW = 100, BEFORE_CARET = 60 }; /* columns */

static const char plain[] = "\033[0m", bold[] = "\033[1m";

typedef struct look {
  const char *word, *color;
} look;

static const look looks[] = {
    [BS_ERROR] = {"error", "\033[1;31m"},
    [BS_WARNING] = {"warning", "\033[1;35m"},
    [BS_NOTE] = {"note", "\033[1;36m"},
};
static const look hint_look = {"hint", "\033[1;32m"};

static void
put_styled(bs_text *out, bool color, const char *style, const char *s) {
  if (color)
    bs_put(out, style);
  bs_put(out, s);
  if (color)
    bs_put(out, plain);
}

/* The length of the character at `s`; *shown: whether it is put as it is. */
static size_t
next_character(const char *s, size_t n, bool *shown) {
  unsigned length = bs_utf8_length(s, n);
  unsigned char c = (unsigned char)s[0];
  bool c1 = length == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0;
  *shown = length > 1 ? !c1 : length && c >= ' ' && c != 0x7f;
  return length ? length : 1;
}

static void
put_clean(bs_text *out, const char *s) {
  for (size_t n = strlen(s); n;) {
    bool shown;
    size_t length = next_character(s, n, &shown);
    if (shown)
      bs_putn(out, s, length);
    else
      bs_put(out, BS_REPLACEMENT);
    s += length;
    n -= length;
  }
}

/* The line of a place: its bytes, and the columns (from 0) to underline. */
typedef struct line_view {
  const char *text;
  size_t size;
  size_t columns;
  size_t lo, hi;
} line_view;

static line_view
view_line(const bs_source *source, bs_span span) {
  size_t lo = span.lo < source->size ? span.lo : source->size;
  size_t hi = span.hi < source->size ? span.hi : source->size;
  const char *text = source->text;
  size_t start = lo;
  while (start && text[start - 1] != '\n')
    start--;
  const char *after = memchr(text + lo, '\n', source->size - lo);
  size_t end = after ? (size_t)(after - text) : source->size;
  if (end > start && text[end - 1] == '\r')
    end--;
  if (lo > end)
    lo = end;
  hi = hi < lo ? lo : hi > end ? end : hi;
  line_view view = {.text = text + start, .size = end - start};
  view.lo = bs_utf8_count(text + start, lo - start);
  view.hi = view.lo + bs_utf8_count(text + lo, hi - lo);
  view.columns = view.hi + bs_utf8_count(text + hi, end - hi);
  return view;
}

/* Puts the columns [from, to) of the line; `blank`: only as much space. */
static void
put_columns(bs_text *out, const line_view *view, size_t from, size_t to,
            bool blank) {
  const char *s = view->text;
  size_t n = view->size;
  for (size_t column = 0; n && column < to; column++) {
    bool shown;
    size_t length = next_character(s, n, &shown);
    if (column >= from) {
      if (*s == '\t')
        bs_putc(out, '\t');
      else if (blank)
        bs_putc(out, ' ');
      else if (shown)
        bs_putn(out, s, length);
      else
        bs_put(out, BS_REPLACEMENT);
    }
    s += length;
    n -= length;
  }
}

static void
put_snippet(bs_text *out, const bs_source *source, bs_span span, bool color,
            const char *style) {
  line_view view = view_line(source, span);
  if (!view.size)
    return;
  size_t from = 0, to = view.columns;
  if (view.columns > WINDOW) {
    from = view.lo > BEFORE_CARET ? view.lo - BEFORE_CARET : 0;
    to = from + WINDOW < view.columns ? from + WINDOW : view.columns;
  }
  const char *dots = from ? "..." : "";
  bs_putf(out, "  %s", dots);
  put_columns(out, &view, from, to, false);
  bs_put(out, to < view.columns ? "...\n  " : "\n  ");
  bs_put(out, from ? "   " : "");
  put_columns(out, &view, from, view.lo, true);
  if (color)
    bs_put(out, style);
  bs_putc(out, '^');
  for (size_t column = view.lo + 1; column < view.hi && column < to; column++)
    bs_putc(out, '~');
  if (color)
    bs_put(out, plain);
  bs_putc(out, '\n');
}

static void
put_heading(bs_text *out, const bs_diags *diags, const bs_diag *diag,
            bool color) {
  const bs_source *source = bs_source_of(diags, diag->span);
  if (color)
    bs_put(out, bold);
  if (source) {
    uint32_t line, column;
    bs_position(diags, diag->span, &line, &column);
    put_clean(out, source->path);
    bs_putf(out, ":%u:%u: ", line, column);
  }
  if (color)
    bs_put(out, plain);
  const look *l = &looks[diag->severity];
  put_styled(out, color, l->color, l->word);
  put_styled(out, color, l->color, ": ");
  put_clean(out, diag->message);
  if (diag->code)
    bs_putf(out, " [%s]", diag->code);
  bs_putc(out, '\n');
}

void
bs_render(const bs_diags *diags, const bs_diag *diag, bool color,
          bs_text *out) {
  put_heading(out, diags, diag, color);
  const bs_source *source = bs_source_of(diags, diag->span);
  if (source)
    put_snippet(out, source, diag->span, color, looks[diag->severity].color);
  if (!diag->hint)
    return;
  put_styled(out, color, hint_look.color, hint_look.word);
  put_styled(out, color, hint_look.color, ": ");
  put_clean(out, diag->hint);
  bs_putc(out, '\n');
}

static void
json_text(bs_json *json, const char *key, const char *s) {
  if (s)
    bs_json_string(json, key, s);
  else
    bs_json_null(json, key);
}

static void
json_position(bs_json *json, const bs_source *source, uint32_t offset,
              const char *line_key, const char *column_key) {
  if (!source) {
    bs_json_null(json, line_key);
    bs_json_null(json, column_key);
    return;
  }
  uint32_t line, column;
  bs_offset_position(source, offset, &line, &column);
  bs_json_int(json, line_key, line);
  bs_json_int(json, column_key, column);
}

void
bs_render_json(const bs_diags *diags, const bs_diag *diag, bs_text *out) {
  const bs_source *source = bs_source_of(diags, diag->span);
  bs_span span = diag->span;
  bs_json json;
  bs_json_init(&json, out, 0);
  bs_json_object(&json, NULL);
  bs_json_string(&json, "severity", looks[diag->severity].word);
  json_text(&json, "code", diag->code);
  json_text(&json, "file", source ? source->path : NULL);
  json_position(&json, source, span.lo, "line", "column");
  json_position(&json, source, span.hi > span.lo ? span.hi : span.lo,
                "end_line", "end_column");
  bs_json_string(&json, "message", diag->message);
  json_text(&json, "hint", diag->hint);
  bs_json_end(&json);
  bs_putc(out, '\n');
}
