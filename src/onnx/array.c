/* SPDX-License-Identifier: MIT */
/* array.c - arrays that are known while a model is imported. */
#include "glenside/array/tensor.h"
#include "onnx/onnx_import.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Elements of an array: of one that the model holds, and of one that is
 * computed, for which a few bytes may ask. */
enum { MOST_STORED = 1 << 30, MOST_COMPUTED = 1 << 28 };

static const on_type types[ON_TYPES] = {
    [ON_FLOAT] = {"float", 4, true, true, GS_F32},
    [ON_UINT8] = {"uint8", 1, false, true, GS_U8},
    [ON_INT8] = {"int8", 1, false, true, GS_I8},
    [ON_INT32] = {"int32", 4, false, true, GS_I32},
    [ON_INT64] = {"int64", 8, false, true, GS_I64},
    [ON_UINT32] = {"uint32", 4, false, true, GS_U32},
    [ON_BOOL] = {"bool", 1, false, true, GS_BOOL},
    [ON_DOUBLE] = {"double", 8, true, true, GS_F64},
    [ON_BFLOAT16] = {"bfloat16", 2, true, true, GS_BF16},
    [ON_UINT16] = {"uint16", 2, false, true, GS_U16},
    [ON_INT16] = {"int16", 2, false, true, GS_I16},
    [ON_FLOAT16] = {"float16", 2, true, true, GS_F16},
    [8] = {"string", 0, false, false, GS_I32},
    [13] = {"uint64", 0, false, false, GS_I32},
    [14] = {"complex64", 0, false, false, GS_F32},
    [15] = {"complex128", 0, false, false, GS_F32},
};

const on_type *
on_type_of(int32_t type) {
  static const on_type unknown = {"unknown", 0, false, false, GS_F32};
  bool known = type > 0 && type < ON_TYPES && types[type].name;
  return known ? &types[type] : &unknown;
}

/* False with a fault.  Beside a size of 0 the others are bounded, too, so that
 * no product of sizes overflows. */
static bool
count(on_import *im, const int64_t *dim, uint32_t rank, int64_t most,
      int64_t *out) {
  assert(dim || !rank);
  int64_t bound = 1;
  *out = 1;
  for (uint32_t k = 0; k < rank; k++) {
    if (dim[k] < 0 ||
        __builtin_mul_overflow(bound, dim[k] ? dim[k] : 1, &bound) ||
        bound > most)
      return on_fail(im,
                     "an array has a size below 0, or more than %lld elements, "
                     "which is the most that can be %s",
                     (long long)most,
                     most == MOST_STORED ? "stored" : "computed here");
    *out *= dim[k];
  }
  return true;
}

static on_array *
new_array(on_import *im, int32_t type, const int64_t *dim, uint32_t rank,
          int64_t most) {
  const on_type *info = on_type_of(type);
  int64_t n;
  if (!info->bytes) {
    on_fail(im, "elements of type %s are not supported", info->name);
    return NULL;
  }
  if (rank > GS_MAX_RANK) {
    on_fail(im, "an array has more than %d dimensions", GS_MAX_RANK);
    return NULL;
  }
  if (!count(im, dim, rank, most, &n))
    return NULL;
  on_array *a = BS_NEW(im->ctx->arena, on_array);
  a->type = type;
  a->rank = rank;
  if (rank)
    memcpy(a->dim, dim, rank * sizeof *dim);
  a->n = n;
  a->term = GS_NO_TERM;
  a->data = bs_alloc(im->ctx->heap, (size_t)n * info->bytes + 1);
  return a;
}

on_array *
on_array_new(on_import *im, int32_t type, const int64_t *dim, uint32_t rank) {
  assert(dim || !rank);
  return new_array(im, type, dim, rank, MOST_COMPUTED);
}

on_array *
on_array_stored(on_import *im, int32_t type, const int64_t *dim,
                uint32_t rank) {
  assert(dim || !rank);
  return new_array(im, type, dim, rank, MOST_STORED);
}

bool
on_is_real(const on_array *a) {
  return on_type_of(a->type)->real;
}

static int64_t
whole_of(double v) {
  return !(v == v)      ? 0
         : v >= 0x1p63  ? INT64_MAX
         : v <= -0x1p63 ? INT64_MIN
                        : (int64_t)v;
}

double
on_real(const on_array *a, int64_t i) {
  assert(i >= 0 && i < a->n);
  switch (a->type) {
  case ON_FLOAT:
    return (double)((const float *)a->data)[i];
  case ON_DOUBLE:
    return ((const double *)a->data)[i];
  case ON_FLOAT16:
    return gs_f16_to_f64(((const uint16_t *)a->data)[i]);
  case ON_BFLOAT16:
    return (double)gs_bf16_to_f32(((const uint16_t *)a->data)[i]);
  default:
    return (double)on_int(a, i);
  }
}

int64_t
on_int(const on_array *a, int64_t i) {
  assert(i >= 0 && i < a->n);
  switch (a->type) {
  case ON_INT64:
    return ((const int64_t *)a->data)[i];
  case ON_INT32:
    return ((const int32_t *)a->data)[i];
  case ON_UINT32:
    return ((const uint32_t *)a->data)[i];
  case ON_INT16:
    return ((const int16_t *)a->data)[i];
  case ON_UINT16:
    return ((const uint16_t *)a->data)[i];
  case ON_INT8:
    return ((const int8_t *)a->data)[i];
  case ON_UINT8:
    return ((const uint8_t *)a->data)[i];
  case ON_BOOL:
    return ((const uint8_t *)a->data)[i] != 0;
  default:
    return whole_of(on_real(a, i));
  }
}

void
on_set_real(on_array *a, int64_t i, double v) {
  assert(i >= 0 && i < a->n);
  switch (a->type) {
  case ON_FLOAT:
    ((float *)a->data)[i] = (float)v;
    break;
  case ON_DOUBLE:
    ((double *)a->data)[i] = v;
    break;
  case ON_FLOAT16:
    ((uint16_t *)a->data)[i] = gs_f64_to_f16(v);
    break;
  case ON_BFLOAT16:
    ((uint16_t *)a->data)[i] = gs_f32_to_bf16((float)v);
    break;
  case ON_BOOL:
    ((uint8_t *)a->data)[i] = v != 0;
    break;
  default:
    on_set_int(a, i, whole_of(v));
    break;
  }
}

void
on_set_int(on_array *a, int64_t i, int64_t v) {
  assert(i >= 0 && i < a->n);
  switch (a->type) {
  case ON_INT64:
    ((int64_t *)a->data)[i] = v;
    break;
  case ON_INT32:
    ((int32_t *)a->data)[i] = (int32_t)(uint32_t)(uint64_t)v;
    break;
  case ON_UINT32:
    ((uint32_t *)a->data)[i] = (uint32_t)(uint64_t)v;
    break;
  case ON_INT16:
    ((int16_t *)a->data)[i] = (int16_t)(uint16_t)(uint64_t)v;
    break;
  case ON_UINT16:
    ((uint16_t *)a->data)[i] = (uint16_t)(uint64_t)v;
    break;
  case ON_INT8:
    ((int8_t *)a->data)[i] = (int8_t)(uint8_t)(uint64_t)v;
    break;
  case ON_UINT8:
    ((uint8_t *)a->data)[i] = (uint8_t)(uint64_t)v;
    break;
  case ON_BOOL:
    ((uint8_t *)a->data)[i] = v != 0;
    break;
  default:
    on_set_real(a, i, (double)v);
    break;
  }
}

bool
on_is_splat(const on_array *a) {
  size_t bytes = on_type_of(a->type)->bytes;
  return a->n > 0 && !memcmp(a->data, (const char *)a->data + bytes,
                             (size_t)(a->n - 1) * bytes);
}

void
on_strides(const on_array *a, int64_t *stride) {
  assert(a->rank <= GS_MAX_RANK);
  int64_t step = 1;
  for (uint32_t k = a->rank; k-- > 0; step *= a->dim[k])
    stride[k] = step;
}

/* The index after this one; the position in the other array moves along. */
static int64_t
step_on(int64_t *index, const int64_t *dim, const int64_t *stride,
        uint32_t rank, int64_t at) {
  assert(rank <= GS_MAX_RANK);
  for (uint32_t k = rank; k-- > 0;) {
    at += stride[k];
    if (++index[k] < dim[k])
      break;
    at -= stride[k] * dim[k];
    index[k] = 0;
  }
  return at;
}

on_array *
on_view(on_import *im, const on_array *a, const int64_t *dim,
        const int64_t *stride, uint32_t rank, int64_t offset) {
  assert(rank <= GS_MAX_RANK && offset >= 0);
  on_array *out = on_array_new(im, a->type, dim, rank);
  size_t bytes = on_type_of(a->type)->bytes;
  int64_t index[GS_MAX_RANK] = {0}, at = offset;
  for (int64_t i = 0; out && i < out->n; i++) {
    memcpy((char *)out->data + (size_t)i * bytes,
           (const char *)a->data + (size_t)at * bytes, bytes);
    at = step_on(index, dim, stride, rank, at);
  }
  return out;
}

on_array *
on_reshaped(on_import *im, const on_array *a, const int64_t *dim,
            uint32_t rank) {
  on_array *out = on_array_new(im, a->type, dim, rank);
  if (!out)
    return NULL;
  if (out->n != a->n) {
    on_fail(im, "%lld elements do not fit in a shape of %lld", (long long)a->n,
            (long long)out->n);
    return NULL;
  }
  memcpy(out->data, a->data, (size_t)a->n * on_type_of(a->type)->bytes);
  return out;
}

on_array *
on_expanded(on_import *im, const on_array *a, const int64_t *dim,
            uint32_t rank) {
  assert(dim || !rank);
  int64_t own[GS_MAX_RANK], stride[GS_MAX_RANK] = {0};
  on_strides(a, own);
  if (a->rank > rank) {
    on_fail(im, "its inputs have shapes that do not match");
    return NULL;
  }
  for (uint32_t k = 0; k < a->rank; k++) {
    uint32_t at = rank - a->rank + k;
    if (a->dim[k] != dim[at] && a->dim[k] != 1) {
      on_fail(im, "its inputs have shapes that do not match");
      return NULL;
    }
    stride[at] = a->dim[k] == 1 ? 0 : own[k];
  }
  return on_view(im, a, dim, stride, rank, 0);
}

on_array *
on_ints(on_import *im, const int64_t *list, uint32_t n) {
  assert(list || !n);
  int64_t dim = n;
  on_array *a = on_array_new(im, ON_INT64, &dim, 1);
  for (uint32_t k = 0; a && k < n; k++)
    on_set_int(a, k, list[k]);
  return a;
}

on_array *
on_reals(on_import *im, int32_t type, const double *list, const int64_t *dim,
         uint32_t rank) {
  assert(dim || !rank);
  on_array *a = on_array_new(im, type, dim, rank);
  for (int64_t k = 0; a && k < a->n; k++)
    on_set_real(a, k, list[k]);
  return a;
}
