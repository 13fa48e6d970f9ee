/* SPDX-License-Identifier: MIT */
/* api_array.c - arrays of the caller: pointers with shape, strides and
 * dtype. */
#include "api/api.h"
#include <assert.h>

#include <string.h>

/* By number of glen_dtype; its order is part of the interface. */
static const gs_dtype dtypes[] = {
#define X(id, ...) [GLEN_##id] = GS_##id,
    GS_DTYPES(X)
#undef X
};

enum { N_DTYPES = sizeof dtypes / sizeof *dtypes };

static glen_dtype
dtype_of(gs_dtype dtype) {
  uint32_t k = 0;
  while (k < N_DTYPES && dtypes[k] != dtype)
    k++;
  return (glen_dtype)k;
}

const char *
glen_dtype_name(glen_dtype dtype) {
  return (unsigned)dtype < N_DTYPES ? gs_dtype_table[dtypes[dtype]].name : "";
}

size_t
glen_dtype_bytes(glen_dtype dtype) {
  return (unsigned)dtype < N_DTYPES ? gs_dtype_table[dtypes[dtype]].bytes : 0;
}

void
api_describe_array(gs_dtype dtype, uint32_t rank, const int64_t *dim,
                   glen_array *out) {
  assert(dtype < GS_DTYPE_COUNT && rank <= GS_MAX_RANK);
  *out = (glen_array){.size = sizeof *out,
                      .dtype = dtype_of(dtype),
                      .rank = rank,
                      .shape = dim};
}

/* ---- what does not fit ---- */

static void
put_shape(bs_text *text, glen_dtype dtype, uint32_t rank, const int64_t *dim) {
  bs_putf(text, "%s(", glen_dtype_name(dtype));
  for (uint32_t d = 0; d < rank; d++)
    bs_putf(text, "%s%lld", d ? ", " : "", (long long)dim[d]);
  bs_put(text, ")");
}

static bool
refuse(glen_context *ctx, const char *name, const glen_array *wanted,
       const glen_array *given) {
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  bs_putf(&text, "%s is ", name);
  put_shape(&text, wanted->dtype, wanted->rank, wanted->shape);
  bs_put(&text, ", the array ");
  put_shape(&text, given->dtype, given->rank < 64 ? given->rank : 64,
            given->shape);
  bs_error(&ctx->diags, BS_NOWHERE, "wrong-array", "%s", bs_text_str(&text));
  bs_text_done(&text);
  return false;
}

static bool
same_shape(const glen_array *a, const glen_array *b) {
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (uint32_t d = 0; same && d < a->rank; d++)
    same = a->shape[d] == b->shape[d];
  return same;
}

bool
api_array_fits(glen_context *ctx, const char *name, const glen_array *wanted,
               const glen_array *given) {
  if (given->size < sizeof *given || !given->data ||
      (given->rank && !given->shape))
    return bs_error(&ctx->diags, BS_NOWHERE, "wrong-array",
                    "the array for %s lacks its size, its data or its shape",
                    name);
  return same_shape(wanted, given) || refuse(ctx, name, wanted, given);
}

bool
api_is_dense(const glen_array *a) {
  int64_t stride = (int64_t)glen_dtype_bytes(a->dtype);
  for (uint32_t d = a->rank; a->strides && d-- > 0; stride *= a->shape[d])
    if (a->shape[d] > 1 && a->strides[d] != stride)
      return false;
  return true;
}

/* ---- elements ---- */

size_t
api_array_bytes(const glen_array *a) {
  size_t bytes = glen_dtype_bytes(a->dtype);
  for (uint32_t d = 0; d < a->rank; d++)
    bytes *= (size_t)a->shape[d];
  return bytes;
}

/* The place, in bytes, of the element after that at `index`, in C order. */
static int64_t
step(const glen_array *a, int64_t *index, int64_t at) {
  for (uint32_t d = a->rank; d-- > 0;) {
    at += a->strides[d];
    if (++index[d] < a->shape[d])
      break;
    at -= a->strides[d] * a->shape[d];
    index[d] = 0;
  }
  return at;
}

void
api_gather(const glen_array *from, void *to) {
  size_t bytes = glen_dtype_bytes(from->dtype), all = api_array_bytes(from);
  int64_t index[GS_MAX_RANK] = {0}, at = 0;
  if (api_is_dense(from)) {
    memcpy(to, from->data, all);
    return;
  }
  for (size_t k = 0; k < all; k += bytes, at = step(from, index, at))
    memcpy((char *)to + k, (char *)from->data + at, bytes);
}

void
api_scatter(const void *from, const glen_array *to) {
  size_t bytes = glen_dtype_bytes(to->dtype), all = api_array_bytes(to);
  int64_t index[GS_MAX_RANK] = {0}, at = 0;
  if (api_is_dense(to)) {
    memcpy(to->data, from, all);
    return;
  }
  for (size_t k = 0; k < all; k += bytes, at = step(to, index, at))
    memcpy((char *)to->data + at, (const char *)from + k, bytes);
}

static void
describe(const gs_tensor *t, glen_array *out) {
  api_describe_array(t->dtype, t->rank, t->dim, out);
  out->data = t->data;
}

bool
glen_input_set(glen_context *ctx, glen_tensors *inputs, const char *name,
               const glen_array *array) {
  API_ENTER(ctx, false);
  glen_array own;
  uint32_t k;
  if (!api_find_input(ctx, inputs, name, "the array", &k))
    return false;
  gs_tensor *t = &inputs->data[k];
  describe(t, &own);
  if (!api_array_fits(ctx, glen_tensor_name(inputs, k), &own, array))
    return false;
  api_gather(array, t->data);
  return true;
}

void
glen_tensor_array(const glen_tensors *tensors, uint32_t k, glen_array *out) {
  assert(k < tensors->n);
  describe(&tensors->data[k], out);
}
