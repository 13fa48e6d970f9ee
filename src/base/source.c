/* SPDX-License-Identifier: MIT */
/* source.c - texts to read: from files, pipes, and memory.
 *
 * A descriptor is never open across an allocation that may unwind. */
#include "base/file.h"
#include "base/foreign_bytes.h"
#include "base/render.h"
#include "base/utf8.h"
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BUFFER = 1 << 16 };
#define LARGEST ((size_t)INT32_MAX)
/* Of a pipe, which does not say how much will come. */
#define LARGEST_STREAM ((size_t)1 << 28)

typedef enum outcome { READ, FAILED, TOO_LARGE, NO_MEMORY } outcome;

typedef struct buffer {
  bs_heap *heap;
  char *data;
  size_t len, cap, most;
  const char *why; /* it cannot be read */
} buffer;

static bool
double_buffer(buffer *b) {
  size_t cap = b->cap ? 2 * b->cap : FIRST_BUFFER;
  char *data = bs_try_realloc(b->heap, b->data, cap);
  if (!data)
    return false;
  b->data = data;
  b->cap = cap;
  return true;
}

/* Reads to the end; a NUL is put behind the bytes. */
static outcome
read_all(int descriptor, buffer *b) {
  assert(b->len <= b->cap);
  for (;;) {
    if (b->cap - b->len < 2 && !double_buffer(b))
      return NO_MEMORY;
    ssize_t n = read(descriptor, b->data + b->len, b->cap - b->len - 1);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      b->why = strerror(errno);
      return FAILED;
    }
    b->len += (size_t)n;
    if (b->len > b->most)
      return TOO_LARGE;
    if (!n) {
      b->data[b->len] = '\0';
      return READ;
    }
  }
}

/* As much as a regular file says it has, so that it is read in one piece. */
static outcome
size_buffer(int descriptor, buffer *b) {
  struct stat status;
  b->most = LARGEST_STREAM;
  if (fstat(descriptor, &status) || !S_ISREG(status.st_mode))
    return READ;
  b->most = LARGEST;
  if ((uint64_t)status.st_size > LARGEST)
    return TOO_LARGE;
  size_t cap = (size_t)status.st_size + 2;
  b->data = bs_try_realloc(b->heap, NULL, cap);
  b->cap = b->data ? cap : 0;
  return b->data ? READ : NO_MEMORY;
}

static outcome
read_path(const char *path, buffer *b) {
  int descriptor = bs_open_input(path, &b->why);
  if (descriptor < 0)
    return FAILED;
  outcome result = size_buffer(descriptor, b);
  if (result == READ)
    result = read_all(descriptor, b);
  if (strcmp(path, "-"))
    close(descriptor);
  return result;
}

/* So that a line's number is found without reading all before it. */
static uint32_t *
count_lines(bs_diags *diags, const char *text, size_t size) {
  size_t blocks = size / BS_SOURCE_BLOCK + 1, block = 0;
  uint32_t *lines = bs_calloc(diags->heap, blocks, sizeof *lines);
  uint32_t n = 0;
  for (const char *at = text, *end = text + size;
       at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++) {
    while (block < (size_t)(at - text) / BS_SOURCE_BLOCK)
      lines[++block] = n;
    n++;
  }
  while (block + 1 < blocks)
    lines[++block] = n;
  assert(block + 1 == blocks);
  return lines;
}

static char *
copy_text(bs_heap *heap, const char *text, size_t size) {
  char *copy = bs_alloc(heap, size + 1);
  if (size)
    memcpy(copy, text, size);
  copy[size] = '\0';
  return copy;
}

/* `own` is the text itself where the source is to own it, else NULL. */
static uint32_t
add_source(bs_diags *diags, const char *path, const char *text, size_t size,
           char *own) {
  assert(size <= LARGEST && !text[size]);
  char *own_path = copy_text(diags->heap, path, strlen(path));
  bs_source source = {.path = own_path,
                      .text = text,
                      .size = (uint32_t)size,
                      .lines = count_lines(diags, text, size),
                      .own_path = own_path,
                      .own_text = own};
  bs_push(diags->heap, &diags->sources, source);
  return diags->sources.len;
}

bool
bs_source_check(bs_diags *diags, uint32_t index) {
  assert(index && index <= diags->sources.len);
  const bs_source *source = &diags->sources.data[index - 1];
  size_t at = bs_utf8_fault(source->text, source->size);
  if (at == source->size)
    return true;
  bs_span span = {index, (uint32_t)at, (uint32_t)at + 1};
  if (!source->text[at])
    bs_error(diags, span, "not-text", "this is not text: a NUL byte");
  else
    bs_error(diags, span, "not-text", "this is not UTF-8 text: byte 0x%02x",
             (unsigned char)source->text[at]);
  bs_hint_bytes(diags, source->text, source->size);
  return false;
}

void
bs_hint_address(bs_diags *diags, const char *path) {
  const char *rest = strstr(path, "://");
  if (!strncmp(path, "file://", 7))
    bs_meant(diags, "", path + 7);
  else if (rest && rest > path && rest - path < 6)
    bs_hint(diags,
            "glen reads files only: download it first, for example with "
            "curl -LO %.200s",
            path);
}

static uint32_t
refuse(bs_diags *diags, bs_span from, buffer *b, const char *code,
       const char *path, const char *why) {
  bs_free(b->heap, b->data);
  bs_error(diags, from, code, "cannot read '%s': %s", path, why);
  if (!strcmp(why, BS_IS_FOLDER))
    bs_hint(diags, "name a file in it");
  else
    bs_hint_address(diags, path);
  return 0;
}

/* Overlays ------------------------------------------------------------------
 */

static const char *
resolve(const char *path, char *path_buffer) {
  return realpath(path, path_buffer) ? path_buffer : path;
}

static bs_overlay *
find_overlay(const bs_diags *diags, const char *path) {
  char path_buffer[PATH_MAX];
  const char *real = diags->overlays.len ? resolve(path, path_buffer) : path;
  for (uint32_t k = 0; k < diags->overlays.len; k++) {
    bs_overlay *o = &diags->overlays.data[k];
    if (!strcmp(o->path, path) || !strcmp(o->real, real))
      return o;
  }
  return NULL;
}

bool
bs_overlay_set(bs_diags *diags, const char *path, const char *text,
               size_t size) {
  assert(text || !size);
  char path_buffer[PATH_MAX];
  if (size > LARGEST)
    return bs_error(diags, BS_NOWHERE, "too-large", "'%s' has 2 GiB or more",
                    path);
  char *copy = bs_arena_alloc(&diags->arena, size + 1);
  if (size)
    memcpy(copy, text, size);
  copy[size] = '\0';
  bs_overlay *have = find_overlay(diags, path);
  if (have) {
    have->text = copy;
    have->size = (uint32_t)size;
    return true;
  }
  bs_overlay o = {bs_arena_strdup(&diags->arena, path),
                  bs_arena_strdup(&diags->arena, resolve(path, path_buffer)),
                  copy, (uint32_t)size};
  bs_push(diags->heap, &diags->overlays, o);
  return true;
}

/* Reading -------------------------------------------------------------------
 */

uint32_t
bs_source_read(bs_diags *diags, const char *path, bs_span from) {
  buffer b = {.heap = diags->heap};
  const bs_overlay *overlay = find_overlay(diags, path);
  if (overlay) {
    uint32_t index =
        add_source(diags, path, overlay->text, overlay->size, NULL);
    return bs_source_check(diags, index) ? index : 0;
  }
  switch (read_path(path, &b)) {
  case FAILED:
    return refuse(diags, from, &b, "no-file", path, b.why);
  case TOO_LARGE:
    return refuse(diags, from, &b, "too-large", path,
                  b.most == LARGEST ? "it is 2 GiB or larger"
                                    : "more than 256 MiB came through a pipe");
  case NO_MEMORY:
    bs_free(b.heap, b.data);
    bs_out_of_memory(diags->heap);
  case READ:
    break;
  }
  uint32_t index = add_source(diags, path, b.data, b.len, b.data);
  return bs_source_check(diags, index) ? index : 0;
}

uint32_t
bs_source_add(bs_diags *diags, const char *path, const char *text,
              size_t size) {
  assert(text || !size);
  if (size > LARGEST) {
    bs_error(diags, BS_NOWHERE, "too-large", "'%s' has 2 GiB or more", path);
    return 0;
  }
  char *copy = copy_text(diags->heap, text, size);
  return add_source(diags, path, copy, size, copy);
}

void
bs_source_unused(bs_diags *diags, uint32_t index) {
  assert(index && index <= diags->sources.len);
  diags->sources.data[index - 1].unused = true;
}

static void
free_source(bs_heap *heap, bs_source *source) {
  if (!source->lines)
    return;
  bs_free(heap, source->own_path);
  bs_free(heap, source->own_text);
  bs_free(heap, source->lines);
  *source = (bs_source){.path = "<gone>", .text = "", .unused = true};
}

/* Others are known by their numbers: only the last ones give theirs back. */
void
bs_sources_forget(bs_diags *diags) {
  uint32_t n = diags->sources.len;
  for (uint32_t k = 0; k < n; k++)
    if (diags->sources.data[k].unused)
      free_source(diags->heap, &diags->sources.data[k]);
  while (n && diags->sources.data[n - 1].unused)
    n--;
  diags->sources.len = n;
}
