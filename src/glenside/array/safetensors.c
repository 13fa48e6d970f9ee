/* SPDX-License-Identifier: MIT */
/* safetensors.c - where an array stands in a .safetensors file.
 *
 * Eight bytes say how long the header is: an object of JSON with a member for
 * each array, of its dtype, its shape, and the bytes that it has behind the
 * header.  Nothing in it is believed: only the member asked for is looked at,
 * by a scanner that never recurses, and what it says is checked against the
 * type that the program declares and against the bytes that are there. */
#include "base/text.h"
#include "glenside/program/program.h"
#include "glenside/array/tensor.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

enum { LENGTH_BYTES = 8, MOST_HEADER = 100000000, MOST_DEPTH = 64 };

typedef struct scan {
  const gs_context *ctx;
  const gs_data *data;
  const char *at, *end;
  bs_text word; /* of the last string */
} scan;

typedef struct entry {
  bool found, has_dtype, has_shape, has_place;
  char dtype[16];
  uint32_t rank, n_place;
  int64_t dim[GS_MAX_RANK], place[2];
} entry;

static bool
fail(const scan *s, const char *code, const char *what) {
  return bs_error(s->ctx->diags, s->data->span, code, "%s: %s", s->data->file,
                  what);
}

static bool
malformed(const scan *s, const char *what) {
  return fail(s, "not-safetensors", what);
}

/* ---- words of JSON ---- */

static char
peek(scan *s) {
  while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
    s->at++;
  return s->at < s->end ? *s->at : '\0';
}

static bool
next_is(scan *s, char c) {
  bool is = peek(s) == c && s->at < s->end;
  s->at += is;
  return is;
}

static int
hex4(const scan *s) {
  int v = 0;
  for (int k = 0; k < 4; k++) {
    char c = s->at + k < s->end ? s->at[k] : '\0';
    if (!isxdigit((unsigned char)c))
      return -1;
    v = 16 * v + (isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return v;
}

static void
put_utf8(bs_text *out, uint32_t c) {
  static const struct {
    uint32_t below;
    uint8_t first;
  } lengths[] = {{0x80, 0}, {0x800, 0xc0}, {0x10000, 0xe0}, {0x110000, 0xf0}};
  int n = 0;
  while (c >= lengths[n].below)
    n++;
  bs_putc(out, (char)(lengths[n].first | c >> 6 * n));
  while (n-- > 0)
    bs_putc(out, (char)(0x80 | (c >> 6 * n & 0x3f)));
}

/* Of `\u` the digits; two halves are one character. */
static bool
read_unicode(scan *s) {
  int high = hex4(s);
  if (high < 0)
    return malformed(s, "an escape in the header is wrong");
  s->at += 4;
  if (high >= 0xd800 && high < 0xdc00 && s->end - s->at >= 6 &&
      !memcmp(s->at, "\\u", 2)) {
    s->at += 2;
    int low = hex4(s);
    if (low >= 0xdc00 && low < 0xe000) {
      s->at += 4;
      put_utf8(&s->word, 0x10000u + ((uint32_t)(high - 0xd800) << 10) +
                             (uint32_t)(low - 0xdc00));
      return true;
    }
    s->at -= 2;
  }
  put_utf8(&s->word, (uint32_t)high);
  return true;
}

static bool
read_escape(scan *s) {
  static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  char c = s->at < s->end ? *s->at++ : '\0';
  const char *known = c ? strchr(names, c) : NULL;
  if (c == 'u')
    return read_unicode(s);
  if (!known)
    return malformed(s, "an escape in the header is wrong");
  bs_putc(&s->word, meanings[known - names]);
  return true;
}

static bool
read_string(scan *s) {
  bs_text_clear(&s->word);
  if (!next_is(s, '"'))
    return malformed(s, "a string is expected in the header");
  while (s->at < s->end && *s->at != '"') {
    char c = *s->at++;
    if (c != '\\')
      bs_putc(&s->word, c);
    else if (!read_escape(s))
      return false;
  }
  return next_is(s, '"') || malformed(s, "a string in the header does not end");
}

static bool
read_count(scan *s, int64_t *out) {
  int64_t v = 0;
  if (!isdigit((unsigned char)peek(s)))
    return malformed(s, "a number in the header is not a count");
  for (; s->at < s->end && isdigit((unsigned char)*s->at); s->at++)
    if (__builtin_mul_overflow(v, 10, &v) ||
        __builtin_add_overflow(v, *s->at - '0', &v))
      return malformed(s, "a number in the header is too large");
  *out = v;
  return true;
}

/* A list of at most so many numbers. */
static bool
read_counts(scan *s, int64_t *out, uint32_t most, uint32_t *n) {
  *n = 0;
  if (!next_is(s, '['))
    return malformed(s, "a list is expected in the header");
  if (next_is(s, ']'))
    return true;
  do {
    if (*n == most)
      return malformed(s, "a list in the header is too long");
    if (!read_count(s, &out[(*n)++]))
      return false;
  } while (next_is(s, ','));
  return next_is(s, ']') || malformed(s, "a list in the header does not end");
}

/* Any value, which nobody asked for. */
static bool
skip_value(scan *s) {
  int depth = 0;
  do {
    char c = peek(s);
    if (c == '"') {
      if (!read_string(s))
        return false;
    } else if (c) {
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
      s->at++;
      while (!depth && s->at < s->end && !strchr(",}] \t\r\n", *s->at))
        s->at++;
    }
    if (!c || depth < 0 || depth > MOST_DEPTH)
      return malformed(s, "a value in the header does not end");
  } while (depth);
  return true;
}

/* ---- members ---- */

typedef bool member(scan *, entry *);

/* An object whose members are read by `read`, after their names in s->word. */
static bool
each_member(scan *s, entry *e, member *read) {
  if (!next_is(s, '{'))
    return malformed(s, "an object is expected in the header");
  if (next_is(s, '}'))
    return true;
  do {
    if (!read_string(s))
      return false;
    if (!next_is(s, ':'))
      return malformed(s, "a ':' is expected in the header");
    if (!read(s, e))
      return false;
  } while (next_is(s, ','));
  return next_is(s, '}') || malformed(s, "the header does not end");
}

static bool
read_dtype(scan *s, entry *e) {
  if (!read_string(s))
    return false;
  size_t n = s->word.len < sizeof e->dtype ? s->word.len : sizeof e->dtype - 1;
  memcpy(e->dtype, bs_text_str(&s->word), n);
  e->dtype[n] = '\0';
  return e->has_dtype = true;
}

static bool
read_property(scan *s, entry *e) {
  const char *word = bs_text_str(&s->word);
  if (!strcmp(word, "dtype") && !e->has_dtype)
    return read_dtype(s, e);
  if (!strcmp(word, "shape") && !e->has_shape)
    return e->has_shape = read_counts(s, e->dim, GS_MAX_RANK, &e->rank);
  if (!strcmp(word, "data_offsets") && !e->has_place)
    return e->has_place = read_counts(s, e->place, 2, &e->n_place);
  return malformed(s, "an array has an unknown or repeated property");
}

static bool
read_array(scan *s, entry *e) {
  const char *key = s->data->key;
  if (strlen(key) != s->word.len || memcmp(key, s->word.data, s->word.len) != 0)
    return skip_value(s);
  if (e->found)
    return malformed(s, "two arrays have this key");
  e->found = true;
  if (!each_member(s, e, read_property))
    return false;
  return (e->has_dtype && e->has_shape && e->has_place && e->n_place == 2) ||
         malformed(s, "the array lacks its dtype, shape or data_offsets");
}

/* ---- what it says against what is declared ---- */

/* The format's names are those of the language in capitals. */
static bool
is_dtype(const char *word, gs_dtype dtype) {
  const char *name = gs_dtype_table[dtype].name;
  size_t k = 0;
  while (name[k] && word[k] == toupper((unsigned char)name[k]))
    k++;
  return !name[k] && !word[k];
}

static bool
has_type(const scan *s, const entry *e, const gs_type *expect) {
  bs_text text;
  if (is_dtype(e->dtype, expect->dtype) && e->rank == expect->rank &&
      !memcmp(e->dim, expect->dim, e->rank * sizeof *e->dim))
    return true;
  bs_text_init(&text, s->ctx->heap);
  bs_putf(&text, "%s is %s (", s->data->key, e->dtype);
  for (uint32_t d = 0; d < e->rank; d++)
    bs_putf(&text, "%s%lld", d ? ", " : "", (long long)e->dim[d]);
  bs_putf(&text, "), expected %s (", gs_dtype_table[expect->dtype].name);
  for (uint32_t d = 0; d < expect->rank; d++)
    bs_putf(&text, "%s%lld", d ? ", " : "", (long long)expect->dim[d]);
  bs_putc(&text, ')');
  fail(s, "type-mismatch", bs_text_str(&text));
  bs_text_done(&text);
  return false;
}

static bool
has_bytes(const scan *s, const entry *e, const gs_type *expect, int64_t behind,
          gs_data_site *out) {
  out->bytes = gs_elements(expect) * gs_dtype_table[expect->dtype].bytes;
  if (e->place[0] > e->place[1] || e->place[1] - e->place[0] != out->bytes)
    return malformed(s, "data_offsets are not those of the array's shape");
  if (e->place[1] > behind)
    return fail(s, "bad-data", "the file ends before the array does");
  out->offset = out->header + e->place[0];
  return true;
}

static bool
find(scan *s, const gs_type *expect, int64_t behind, gs_data_site *out) {
  entry e = {0};
  if (!each_member(s, &e, read_array))
    return false;
  if (peek(s))
    return malformed(s, "there is something after the header");
  if (!e.found) {
    bs_error(s->ctx->diags, s->data->span, "bad-data",
             "%s has no array with the key %s", s->data->file, s->data->key);
    return false;
  }
  return has_type(s, &e, expect) && has_bytes(s, &e, expect, behind, out);
}

bool
gs_safetensors_locate(const gs_context *ctx, const gs_data *data,
                      const void *bytes, size_t n, const gs_type *expect,
                      gs_data_site *out) {
  assert(bytes || !n);
  assert(!expect || gs_is_type(expect));
  scan s = {.ctx = ctx, .data = data};
  uint64_t length = 0;
  if (n >= LENGTH_BYTES)
    memcpy(&length, bytes, LENGTH_BYTES);
  if (n < LENGTH_BYTES || length > n - LENGTH_BYTES || length > MOST_HEADER)
    return malformed(&s, "this is not a .safetensors file, or it ends in its "
                         "header");
  s.at = (const char *)bytes + LENGTH_BYTES;
  s.end = s.at + length;
  out->header = (int64_t)(LENGTH_BYTES + length);
  bs_text_init(&s.word, ctx->heap);
  bool ok = find(&s, expect, (int64_t)n - out->header, out);
  bs_text_done(&s.word);
  return ok;
}
