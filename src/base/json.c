/* SPDX-License-Identifier: MIT */
/* json.c - a JSON writer without memory of its own.
 *
 * It keeps one bit a level (object or array), which decides what closes it,
 * and whether the innermost container is still empty, which decides where a
 * comma stands.  Keys are written in the order of the calls. */
#include "base/json.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum { DEEPEST = 63 };

void
bs_json_init(bs_json *json, bs_text *out, int indent) {
  *json = (bs_json){.out = out, .indent = indent, .first = true};
}

static bool
in_object(const bs_json *json) {
  return json->depth && json->objects >> (json->depth - 1) & 1;
}

static void
new_line(bs_json *json) {
  if (!json->indent)
    return;
  bs_putc(json->out, '\n');
  for (uint32_t i = 0; i < json->depth * (uint32_t)json->indent; i++)
    bs_putc(json->out, ' ');
}

/* What stands before a value: a comma, a line of its own, its key. */
static void
begin(bs_json *json, const char *key) {
  assert(in_object(json) == (key != NULL));
  if (json->depth) {
    if (!json->first)
      bs_put(json->out, json->indent ? "," : ", ");
    new_line(json);
  }
  if (key) {
    bs_put_json_string(json->out, key);
    bs_put(json->out, ": ");
  }
  json->first = false;
}

static void
open(bs_json *json, const char *key, bool object) {
  assert(json->depth < DEEPEST);
  begin(json, key);
  bs_putc(json->out, object ? '{' : '[');
  uint64_t bit = (uint64_t)1 << json->depth++;
  json->objects = object ? json->objects | bit : json->objects & ~bit;
  json->first = true;
}

void
bs_json_object(bs_json *json, const char *key) {
  open(json, key, true);
}

void
bs_json_array(bs_json *json, const char *key) {
  open(json, key, false);
}

void
bs_json_end(bs_json *json) {
  assert(json->depth);
  char closing = in_object(json) ? '}' : ']';
  json->depth--;
  if (!json->first)
    new_line(json);
  bs_putc(json->out, closing);
  json->first = false;
}

void
bs_json_int(bs_json *json, const char *key, int64_t integer) {
  begin(json, key);
  bs_putf(json->out, "%lld", (long long)integer);
}

void
bs_json_real(bs_json *json, const char *key, double real) {
  begin(json, key);
  if (isfinite(real))
    bs_put_real(json->out, real);
  else
    bs_put(json->out, "null");
}

void
bs_json_bool(bs_json *json, const char *key, bool boolean) {
  begin(json, key);
  bs_put(json->out, boolean ? "true" : "false");
}

void
bs_json_string(bs_json *json, const char *key, const char *s) {
  begin(json, key);
  bs_put_json_string(json->out, s);
}

void
bs_json_null(bs_json *json, const char *key) {
  begin(json, key);
  bs_put(json->out, "null");
}
