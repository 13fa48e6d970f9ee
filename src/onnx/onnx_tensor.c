/* SPDX-License-Identifier: MIT */
/* onnx_tensor.c - the elements of a tensor as the format stores them: raw
 * bytes, a list of a type of its own, or a part of another file beside the
 * model. */
#include "base/file.h"
#include "onnx/sized.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXTERNAL = 1 };

static bool
complain(on_import *im, const Onnx__Tensor *t, const char *why) {
  on_wrong(im, "the tensor %.100s: %s", t->name ? t->name : "", why);
  bs_text shape;
  bs_text_init(&shape, im->ctx->heap);
  for (size_t k = 0; k < t->n_dims && k <= GS_MAX_RANK; k++)
    bs_putf(&shape, "%s%lld", k ? "x" : " ", (long long)t->dims[k]);
  on_hint(im, "the model says that it is %s%s", on_type_of(t->data_type)->name,
          bs_text_str(&shape));
  bs_text_done(&shape);
  im->failed = true;
  return false;
}

/* ---- beside the model ---- */

typedef struct place {
  const char *file;
  int64_t offset, length; /* -1: not said */
} place;

static bool
read_number(const char *s, int64_t *out) {
  char *end;
  errno = 0;
  long long v = strtoll(s, &end, 10);
  *out = v;
  return !errno && *s >= '0' && *s <= '9' && !*end;
}

/* NULL where it is not there, or would end before its end. */
static const char *
text_of(on_import *im, bool has, ProtobufCBinaryData bytes) {
  if (!has || (bytes.len && memchr(bytes.data, 0, bytes.len)))
    return NULL;
  return bs_arena_printf(im->ctx->arena, "%.*s", (int)bytes.len,
                         bytes.len ? (const char *)bytes.data : "");
}

static const char *
read_place(on_import *im, const Onnx__Tensor *t, place *out) {
  *out = (place){NULL, 0, -1};
  for (size_t k = 0; k < t->n_external_data; k++) {
    const Onnx__Entry *e = t->external_data[k];
    const char *key = text_of(im, e->has_key, e->key);
    const char *value = text_of(im, e->has_value, e->value);
    if (!key || !value)
      return "its place outside the model has no key or no value, or one with "
             "a zero byte";
    if (!strcmp(key, "location"))
      out->file = value;
    if (!strcmp(key, "offset") && !read_number(value, &out->offset))
      return "its offset is not a number";
    if (!strcmp(key, "length") && !read_number(value, &out->length))
      return "its length is not a number";
  }
  return out->file ? NULL : "it is outside of the model, but not said where";
}

static const char *
read_part(int file, const place *from, void *out, size_t n) {
  struct stat status;
  int64_t end;
  if (fstat(file, &status))
    return strerror(errno);
  if (__builtin_add_overflow(from->offset, (int64_t)n, &end) ||
      end > status.st_size)
    return "the file with its elements is too short";
  for (size_t got = 0; got < n;) {
    ssize_t more =
        pread(file, (char *)out + got, n - got, from->offset + (int64_t)got);
    if (more < 0 && errno == EINTR)
      continue;
    if (more <= 0)
      return "the file with its elements cannot be read";
    got += (size_t)more;
  }
  return NULL;
}

/* Why `found` bytes cannot be the elements of `a`.  Where another type would
 * take as many, that is the likely mistake. */
static const char *
wrong_length(on_import *im, const on_array *a, uint64_t found) {
  uint64_t bytes = on_type_of(a->type)->bytes, n = (uint64_t)a->n;
  uint64_t each = n && found % n == 0 ? found / n : 0;
  const char *why = bs_arena_printf(
      im->ctx->arena,
      "it has %llu bytes, and elements of its shape and type "
      "take %llu",
      (unsigned long long)found, (unsigned long long)(n * bytes));
  if (each == 1 || each == 2 || each == 4 || each == 8)
    return bs_arena_printf(
        im->ctx->arena, "%s: they may be of another type, one of %llu %s", why,
        (unsigned long long)each, each == 1 ? "byte" : "bytes");
  return why;
}

static const char *
load_external(on_import *im, const Onnx__Tensor *t, on_array *a, size_t n) {
  place from;
  const char *why = read_place(im, t, &from);
  if (why)
    return why;
  if (from.length >= 0 && from.length != (int64_t)n)
    return wrong_length(im, a, (uint64_t)from.length);
  int file = bs_open_within(im->options->path, from.file, &why);
  if (file < 0)
    return bs_arena_printf(
        im->ctx->arena, "cannot read its elements from %s: %s", from.file, why);
  why = read_part(file, &from, a->data, n);
  close(file);
  bs_note_file(im->ctx->diags, im->options->path, from.file);
  return why;
}

/* ---- in the model ---- */

/* float_data holds floats, double_data doubles, int64_data int64, uint64_data
 * uint32, int32_data all narrower types, bfloat16 by its bits. */
static size_t
listed(const Onnx__Tensor *t) {
  switch (t->data_type) {
  case ON_FLOAT:
    return t->n_float_data;
  case ON_DOUBLE:
    return t->n_double_data;
  case ON_INT64:
    return t->n_int64_data;
  case ON_UINT32:
    return t->n_uint64_data;
  default:
    return t->n_int32_data;
  }
}

static void
take_element(const Onnx__Tensor *t, on_array *a, int64_t k) {
  switch (t->data_type) {
  case ON_FLOAT:
    ((float *)a->data)[k] = t->float_data[k];
    break;
  case ON_DOUBLE:
    ((double *)a->data)[k] = t->double_data[k];
    break;
  case ON_INT64:
    ((int64_t *)a->data)[k] = t->int64_data[k];
    break;
  case ON_UINT32:
    on_set_int(a, k, (int64_t)t->uint64_data[k]);
    break;
  case ON_FLOAT16:
  case ON_BFLOAT16:
    ((uint16_t *)a->data)[k] = (uint16_t)(uint32_t)t->int32_data[k];
    break;
  default:
    on_set_int(a, k, t->int32_data[k]);
    break;
  }
}

/* In how many ways elements stand in the model. */
static int
ways(const Onnx__Tensor *t) {
  return !!t->has_raw_data + !!t->n_float_data + !!t->n_double_data +
         !!t->n_int32_data + !!t->n_int64_data + !!t->n_uint64_data;
}

/* Half floats are given by their bits. */
static bool
is_within(const Onnx__Tensor *t, const on_array *a, int64_t k) {
  switch (t->data_type) {
  case ON_FLOAT:
  case ON_DOUBLE:
  case ON_INT64:
    return true;
  case ON_UINT32:
    return t->uint64_data[k] <= UINT32_MAX;
  case ON_FLOAT16:
  case ON_BFLOAT16:
    return t->int32_data[k] >= 0 && t->int32_data[k] <= UINT16_MAX;
  case ON_BOOL:
    return t->int32_data[k] == 0 || t->int32_data[k] == 1;
  default:
    return on_int(a, k) == t->int32_data[k];
  }
}

static const char *
load_own(on_import *im, const Onnx__Tensor *t, on_array *a, size_t n) {
  if (ways(t) > 1)
    return "its elements are given in several ways";
  if (t->has_raw_data) {
    if (t->raw_data.len != n)
      return wrong_length(im, a, t->raw_data.len);
    if (n)
      memcpy(a->data, t->raw_data.data, n);
    return NULL;
  }
  if (listed(t) != (size_t)a->n)
    return "it has more or fewer elements than its shape says";
  for (int64_t k = 0; k < a->n; k++) {
    take_element(t, a, k);
    if (!is_within(t, a, k))
      return "an element is not one of its type";
  }
  return NULL;
}

/* A bool is 0 or 1, whatever its byte is. */
static void
normalize(on_array *a) {
  if (a->type == ON_BOOL)
    for (int64_t k = 0; k < a->n; k++)
      ((uint8_t *)a->data)[k] = ((uint8_t *)a->data)[k] != 0;
}

static const char *
load_elements(on_import *im, const Onnx__Tensor *t, on_array *a) {
  size_t n = (size_t)a->n * on_type_of(t->data_type)->bytes;
  bool outside = t->has_data_location && t->data_location == EXTERNAL;
  if (t->has_segment)
    return "it is a segment of another one, which is not supported";
  if (outside && ways(t))
    return "its elements are given in several ways";
  const char *why =
      outside ? load_external(im, t, a, n) : load_own(im, t, a, n);
  if (!why)
    normalize(a);
  return why;
}

on_array *
on_load(on_import *im, const Onnx__Tensor *t) {
  const on_type *type = on_type_of(t->has_data_type ? t->data_type : 0);
  if (!type->bytes) {
    complain(im, t,
             bs_arena_printf(im->ctx->arena,
                             "elements of type %s are not supported",
                             type->name));
    return NULL;
  }
  on_array *a =
      t->n_dims > GS_MAX_RANK
          ? NULL
          : on_array_stored(im, t->data_type, t->dims, (uint32_t)t->n_dims);
  if (!a) {
    if (!im->failed)
      complain(im, t, "it has too many dimensions");
    return NULL;
  }
  const char *why = load_elements(im, t, a);
  a->name = t->name;
  if (!why && on_holds_sizes(im, a))
    why = "an integer is too large where dimensions are open";
  if (why)
    complain(im, t, why);
  return why ? NULL : a;
}
