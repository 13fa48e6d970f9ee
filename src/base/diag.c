/* SPDX-License-Identifier: MIT */
/* diag.c - collecting diagnostics, and where a span stands.
 *
 * Memory is bounded whatever the input: a message is cut at a fixed length,
 * only `limit` errors and `limit` warnings are kept until they are taken, and
 * what belongs to one that was not kept (notes, a hint) goes with it. */
#include "base/render.h"
#include "base/utf8.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_MESSAGE = 2000, USUAL_LIMIT = 20 };

void
bs_diags_init(bs_diags *diags, bs_heap *heap) {
  *diags = (bs_diags){.heap = heap, .limit = USUAL_LIMIT};
  bs_arena_init(&diags->arena, heap);
  bs_arena_init(&diags->messages, heap);
}

void
bs_diags_init_within(bs_diags *diags, bs_heap *heap, bs_diags *outer) {
  assert(outer && outer != diags);
  bs_diags_init(diags, heap);
  diags->outer = outer;
  diags->no_children = outer->no_children;
}

void
bs_diags_clear(bs_diags *diags) {
  bs_go_back(diags, (bs_moment){0});
  bs_arena_reset(&diags->messages);
}

/* Cuts a text that filled the buffer at the end of a character. */
static void
cut(char *text, size_t size) {
  static const char dots[] = "...";
  assert(size > sizeof dots);
  size_t end = size - sizeof dots;
  while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
    end--;
  memcpy(text + end, dots, sizeof dots);
}

static const char *
format_line(bs_diags *diags, const char *format, va_list args) {
  char line[LONGEST_MESSAGE];
  int n = vsnprintf(line, sizeof line, format, args);
  if (n < 0)
    return "";
  if ((size_t)n >= sizeof line)
    cut(line, sizeof line);
  return bs_arena_strdup(&diags->messages, line);
}

/* Code for several processors is made of one program: each would say the same
 * of it. */
static bool
was_said(const bs_diags *diags, bs_span span, const char *code,
         const char *message) {
  for (uint32_t k = 0; k < diags->list.len; k++) {
    const bs_diag *d = &diags->list.data[k];
    if (d->severity == BS_WARNING && d->span.file == span.file &&
        d->span.lo == span.lo && !strcmp(d->code, code) &&
        !strcmp(d->message, message))
      return true;
  }
  return false;
}

static void
add(bs_diags *diags, bs_severity severity, bs_span span, const char *code,
    const char *format, va_list args) {
  if (diags->dropped)
    return;
  const char *message = format_line(diags, format, args);
  diags->dropped =
      severity == BS_WARNING && was_said(diags, span, code, message);
  if (diags->dropped) {
    diags->warnings--;
    return;
  }
  bs_push(diags->heap, &diags->list,
          (bs_diag){severity, code, span, message, NULL, NULL});
}

bool
bs_error(bs_diags *diags, bs_span span, const char *code, const char *format,
         ...) {
  assert(code && *code);
  va_list args;
  va_start(args, format);
  diags->dropped = diags->errors++ - diags->errors_taken >= diags->limit;
  add(diags, BS_ERROR, span, code, format, args);
  va_end(args);
  return false;
}

void
bs_warning(bs_diags *diags, bs_span span, const char *code, const char *format,
           ...) {
  assert(code && *code);
  va_list args;
  va_start(args, format);
  diags->dropped = diags->warnings++ - diags->warnings_taken >= diags->limit;
  add(diags, BS_WARNING, span, code, format, args);
  va_end(args);
}

void
bs_note(bs_diags *diags, bs_span span, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add(diags, BS_NOTE, span, NULL, format, args);
  va_end(args);
}

void
bs_hint(bs_diags *diags, const char *format, ...) {
  if (diags->dropped || !diags->list.len)
    return;
  va_list args;
  va_start(args, format);
  const char *hint = format_line(diags, format, args);
  va_end(args);
  bs_last(&diags->list).hint = hint;
}

void
bs_fix(bs_diags *diags, const char *text) {
  if (!diags->dropped && diags->list.len)
    bs_last(&diags->list).fix = bs_arena_strdup(&diags->messages, text);
}

void
bs_meant(bs_diags *diags, const char *quote, const char *text) {
  bs_hint(diags, "did you mean %s%s%s?", quote, text, quote);
  bs_fix(diags, text);
}

const bs_source *
bs_source_of(const bs_diags *diags, bs_span span) {
  return span.file && span.file <= diags->sources.len
             ? &diags->sources.data[span.file - 1]
             : NULL;
}

/* Counted from 1, up to an offset within the text. */
static uint32_t
line_of(const bs_source *source, uint32_t offset) {
  uint32_t block = offset / BS_SOURCE_BLOCK;
  uint32_t line = source->lines[block] + 1;
  const char *end = source->text + offset;
  const char *at = source->text + (size_t)block * BS_SOURCE_BLOCK;
  while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
    line++;
    at++;
  }
  return line;
}

void
bs_offset_position(const bs_source *source, uint32_t offset, uint32_t *line,
                   uint32_t *column) {
  const char *end =
      source->text + (offset < source->size ? offset : source->size);
  const char *start = end;
  while (start > source->text && start[-1] != '\n')
    start--;
  *line = line_of(source, (uint32_t)(end - source->text));
  *column = (uint32_t)bs_utf8_count(start, (size_t)(end - start)) + 1;
}

void
bs_position(const bs_diags *diags, bs_span span, uint32_t *line,
            uint32_t *column) {
  const bs_source *source = bs_source_of(diags, span);
  *line = *column = 0;
  if (source)
    bs_offset_position(source, span.lo, line, column);
}

void
bs_put_place(const bs_diags *diags, bs_span span, bs_text *out) {
  const bs_source *source = bs_source_of(diags, span);
  if (!source)
    return;
  bs_putf(out, "%s:%u", source->path, line_of(source, span.lo));
}
