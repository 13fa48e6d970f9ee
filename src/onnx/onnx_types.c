/* SPDX-License-Identifier: MIT */
/* onnx_types.c - the element types that an operator takes.
 *
 * The table of operators has a word for each input, separated by blanks:
 *
 *   real           any of a set, which has a name, or is a single type
 *   byte+int32     any of several sets
 *   real+14:byte   from version 14 on, of the second set, too
 *   =  =2          the type of input 0, or of input 2
 *   ...            this input and all others have the type of input 0
 *
 * Where an operator took fewer types before version 13, that does not show.
 *
 * A type that is not allowed there is refused, also where elements of it could
 * be computed with: other programs do not read such a model, or read it
 * otherwise.  bfloat16 is taken wherever float16 is, because the standard adds
 * it to each operator in another version, and it always means the same. */
#include "base/text.h"
#include "onnx/onnx_graph.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name, *types;
} sets[] = {
    {"any", "float double float16 int8 int16 int32 int64 uint8 uint16 uint32 "
            "bool"},
    {"number", "float double float16 int8 int16 int32 int64 uint8 uint16 "
               "uint32"},
    {"wide", "float double float16 int32 int64 uint32"},
    {"real", "float double float16"},
    {"integer", "int8 int16 int32 int64 uint8 uint16 uint32"},
    {"index", "int32 int64"},
    {"byte", "int8 uint8"},
};

/* The types of a set; of a single type, its name. */
static const char *
types_of(const char *set) {
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
    if (!strcmp(sets[k].name, set))
      return sets[k].types;
  return set;
}

/* The types that the word allows in this version of the operators. */
static const char *
allowed(const on_import *im, const char *word, size_t n) {
  const char *out = "";
  for (size_t at = 0, len; at < n; at += len + 1) {
    len = strcspn(word + at, "+ ");
    char *set;
    int64_t since = strtoll(word + at, &set, 10);
    set += *set == ':';
    if (im->opset < since)
      continue;
    const char *name = bs_arena_printf(im->ctx->arena, "%.*s",
                                       (int)(word + at + len - set), set);
    out = bs_arena_printf(im->ctx->arena, "%s%s%s", out, *out ? " " : "",
                          types_of(name));
  }
  return out;
}

static bool
is_among(const char *types, int32_t type) {
  return bs_has_word(types,
                     on_type_of(type == ON_BFLOAT16 ? ON_FLOAT16 : type)->name);
}

static bool
check_set(on_import *im, uint32_t k, const char *word, size_t n) {
  const char *types = allowed(im, word, n);
  if (is_among(types, on_type_in(im, k)))
    return true;
  on_fail(im, "its input %u has elements of type %s, which it does not take", k,
          on_type_of(on_type_in(im, k))->name);
  on_hint(im, "version %lld of the operators has there: %s; a Cast converts it",
          (long long)im->opset, types);
  return false;
}

static bool
check_same(on_import *im, uint32_t k, uint32_t other) {
  if (!on_in(im, other) || on_type_in(im, k) == on_type_in(im, other))
    return true;
  on_fail(im, "its input %u has elements of type %s, not of %s as its input %u",
          k, on_type_of(on_type_in(im, k))->name,
          on_type_of(on_type_in(im, other))->name, other);
  on_hint(im, "%s takes both of one type; a Cast converts one of them",
          im->row->name);
  return false;
}

static bool
check_type(on_import *im, uint32_t k, const char *word, size_t n) {
  if (!on_in(im, k))
    return true;
  if (*word == '.')
    return check_same(im, k, 0);
  return *word == '=' ? check_same(im, k, (uint32_t)strtoul(word + 1, NULL, 10))
                      : check_set(im, k, word, n);
}

bool
on_check_types(on_import *im) {
  const char *word = im->row->types;
  for (uint32_t k = 0; k < on_inputs(im) && *word; k++) {
    size_t n = strcspn(word, " ");
    if (!check_type(im, k, word, n))
      return false;
    if (*word != '.')
      word += n + (word[n] == ' ');
  }
  return true;
}
