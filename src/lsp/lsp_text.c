/* SPDX-License-Identifier: MIT */
/* lsp_text.c - lines and positions.  The text is UTF-8 that was checked before;
 * an ill-formed byte would count for one unit. */
#include "lsp/lsp_text.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool
ends_line(const char *s, size_t size, size_t at) {
  assert(at < size);
  return s[at] == '\n' ||
         (s[at] == '\r' && (at + 1 == size || s[at + 1] != '\n'));
}

static bool
index_lines(lsp_text *t) {
  size_t n = 1;
  for (size_t at = 0; at < t->size; at++)
    n += ends_line(t->data, t->size, at);
  size_t *lines = realloc(t->lines, n * sizeof *lines);
  if (!lines)
    return false;
  t->lines = lines;
  t->n_lines = 0;
  lines[t->n_lines++] = 0;
  for (size_t at = 0; at < t->size; at++)
    if (ends_line(t->data, t->size, at))
      lines[t->n_lines++] = at + 1;
  return true;
}

static bool
take(lsp_text *t, char *data, size_t size) {
  lsp_text made = {.data = data, .size = size};
  data[size] = '\0';
  if (!index_lines(&made)) {
    free(data);
    return false;
  }
  lsp_text_done(t);
  *t = made;
  return true;
}

bool
lsp_text_set(lsp_text *t, const char *from, size_t size) {
  assert(from || !size);
  char *data = malloc(size + 1);
  if (!data)
    return false;
  if (size)
    memcpy(data, from, size);
  return take(t, data, size);
}

bool
lsp_text_splice(lsp_text *t, size_t lo, size_t hi, const char *with,
                size_t size) {
  assert(lo <= hi && hi <= t->size);
  size_t total = lo + size + (t->size - hi);
  char *data = malloc(total + 1);
  if (!data)
    return false;
  if (lo)
    memcpy(data, t->data, lo);
  if (size)
    memcpy(data + lo, with, size);
  memcpy(data + lo + size, t->data + hi, t->size - hi);
  return take(t, data, total);
}

void
lsp_text_done(lsp_text *t) {
  free(t->data);
  free(t->lines);
  *t = (lsp_text){0};
}

/* --- positions ------------------------------------------------------------ */

static size_t
bytes_of(unsigned char first) {
  return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Where the line's characters end, its line end left out. */
static size_t
line_end(const lsp_text *t, size_t line) {
  assert(line < t->n_lines);
  size_t end = line + 1 < t->n_lines ? t->lines[line + 1] : t->size;
  size_t start = t->lines[line];
  if (end > start && t->data[end - 1] == '\n')
    end--;
  if (end > start && t->data[end - 1] == '\r')
    end--;
  return end;
}

size_t
lsp_offset(const lsp_text *t, lsp_position p) {
  if (p.line >= t->n_lines)
    return t->size;
  size_t at = t->lines[p.line], end = line_end(t, p.line);
  for (uint32_t unit = 0; at < end && unit < p.character;) {
    size_t n = bytes_of((unsigned char)t->data[at]);
    unit += n == 4 ? 2 : 1;
    at += n;
  }
  return at < end ? at : end;
}

static size_t
line_of(const lsp_text *t, size_t offset) {
  assert(t->n_lines > 0);
  size_t lo = 0, hi = t->n_lines;
  while (hi - lo > 1) {
    size_t middle = lo + (hi - lo) / 2;
    if (t->lines[middle] <= offset)
      lo = middle;
    else
      hi = middle;
  }
  return lo;
}

lsp_position
lsp_position_of(const lsp_text *t, size_t offset) {
  if (offset > t->size)
    offset = t->size;
  size_t line = line_of(t, offset), at = t->lines[line];
  lsp_position p = {(uint32_t)line, 0};
  while (at < offset) {
    size_t n = bytes_of((unsigned char)t->data[at]);
    p.character += n == 4 ? 2 : 1;
    at += n;
  }
  return p;
}
