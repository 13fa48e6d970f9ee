/* SPDX-License-Identifier: MIT */
/* call_arrays.c - a kernel called with arrays of any strides: what the kernel
 * cannot read or write where it lies is copied. */
#include "api/api_kernel.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct call {
  glen_kernel *kernel;
  const glen_array *arrays;
  void **pointers; /* what the kernel gets */
  bool *copied;    /* the pointer is a block that was made for the call */
} call;

/* ---- what cannot be called ---- */

static bool
refuse(glen_context *ctx, const char *name, const char *why) {
  return bs_error(&ctx->diags, BS_NOWHERE, "wrong-array", "the array for %s %s",
                  name, why);
}

/* ---- elements that share a place ---- */

/* Dimensions of more than one element, the nearest neighbours first; a stride
 * backwards takes as much room as one forwards. */
typedef struct steps {
  uint64_t stride[GS_MAX_RANK];
  int64_t size[GS_MAX_RANK];
  uint32_t n;
} steps;

static void
add_step(steps *s, int64_t stride, int64_t size) {
  uint64_t width = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
  uint32_t k = s->n++;
  for (; k && s->stride[k - 1] > width; k--) {
    s->stride[k] = s->stride[k - 1];
    s->size[k] = s->size[k - 1];
  }
  s->stride[k] = width;
  s->size[k] = size;
}

/* Each step leads beyond all that the smaller ones reach. */
static bool
is_nested(const steps *s, uint64_t bytes) {
  uint64_t room = bytes, reached;
  for (uint32_t k = 0; k < s->n; k++) {
    if (s->stride[k] < room)
      return false;
    if (__builtin_mul_overflow(s->stride[k], (uint64_t)s->size[k] - 1,
                               &reached) ||
        __builtin_add_overflow(room, reached, &room))
      return false;
  }
  return true;
}

static int
compare_places(const void *a, const void *b) {
  uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
  return (p > q) - (p < q);
}

/* The place of each element, in order; the caller frees them. */
static uint64_t *
places_of(bs_heap *heap, const steps *s, size_t n) {
  uint64_t *places = bs_alloc(heap, n * sizeof *places);
  size_t made = 1;
  places[0] = 0;
  for (uint32_t k = 0; k < s->n; k++) {
    for (int64_t i = 1; i < s->size[k]; i++)
      for (size_t j = 0; j < made; j++)
        places[(size_t)i * made + j] = places[j] + (uint64_t)i * s->stride[k];
    made *= (size_t)s->size[k];
  }
  qsort(places, n, sizeof *places, compare_places);
  return places;
}

/* Such elements would keep whichever is written last. */
static bool
share_a_place(bs_heap *heap, const glen_array *a) {
  uint64_t bytes = glen_dtype_bytes(a->dtype);
  size_t n = api_array_bytes(a) / bytes;
  steps s = {.n = 0};
  for (uint32_t d = 0; a->strides && d < a->rank; d++)
    if (a->shape[d] > 1)
      add_step(&s, a->strides[d], a->shape[d]);
  if (is_nested(&s, bytes))
    return false;
  uint64_t *places = places_of(heap, &s, n);
  bool shared = false;
  for (size_t k = 1; k < n && !shared; k++)
    shared = places[k] - places[k - 1] < bytes;
  bs_free(heap, places);
  return shared;
}

static bool
fits(const glen_kernel *k, uint32_t j, const glen_array *array) {
  const glen_argument *to = &k->arguments[j];
  if (to->prepacked)
    return true;
  if (!api_array_fits(k->ctx, to->name, &to->type, array))
    return false;
  return !to->output || !share_a_place(&k->ctx->heap, array) ||
         refuse(k->ctx, to->name,
                "is an output, and its strides let elements overlap");
}

static bool
wrong_count(const glen_kernel *k, uint32_t n) {
  bs_text names;
  bs_text_init(&names, &k->ctx->heap);
  for (uint32_t j = 0; j < k->n; j++)
    bs_putf(&names, "%s%s", j ? ", " : "", k->arguments[j].name);
  bs_error(&k->ctx->diags, BS_NOWHERE, "wrong-array",
           "the kernel is called with %u %s (%s), not with %u",
           BS_COUNTED(k->n, "array"), bs_text_str(&names), n);
  bs_text_done(&names);
  return false;
}

static bool
not_prepared(const glen_kernel *k) {
  uint32_t j = 0;
  while (!k->arguments[j].prepacked)
    j++;
  bs_error(&k->ctx->diags, BS_NOWHERE, "not-prepared",
           "the input %s is packed before the first call",
           k->arguments[j].name);
  bs_hint(&k->ctx->diags, "give it to glen_kernel_prepare");
  return false;
}

static bool
is_callable(const glen_kernel *k, const glen_array *arrays, uint32_t n) {
  if (n != k->n)
    return wrong_count(k, n);
  bool ok = true;
  for (uint32_t j = 0; j < n; j++)
    ok = fits(k, j, &arrays[j]) && ok;
  return ok && (!k->unprepared || not_prepared(k));
}

/* ---- what is copied ---- */

typedef struct extent {
  uintptr_t from, until;
} extent;

static extent
extent_of(const glen_array *a) {
  uintptr_t first = (uintptr_t)a->data;
  if (api_is_dense(a))
    return (extent){first, first + api_array_bytes(a)};
  extent out = {first, first + glen_dtype_bytes(a->dtype)};
  for (uint32_t d = 0; d < a->rank; d++) {
    int64_t last = a->strides[d] * (a->shape[d] - 1);
    if (last < 0)
      out.from -= (uintptr_t)-last;
    else
      out.until += (uintptr_t)last;
  }
  return out;
}

/* The kernel may read an input after it wrote an output at the same place. */
static bool
meets_another(const call *c, uint32_t j) {
  extent own = extent_of(&c->arrays[j]);
  for (uint32_t i = 0; i < j; i++) {
    if (c->kernel->arguments[i].prepacked)
      continue;
    extent other = extent_of(&c->arrays[i]);
    if (own.from < other.until && other.from < own.until)
      return true;
  }
  return false;
}

static bool
is_taken_as_it_is(const call *c, uint32_t j) {
  const glen_array *a = &c->arrays[j];
  return api_is_dense(a) &&
         (uintptr_t)a->data % glen_dtype_bytes(a->dtype) == 0 &&
         !(c->kernel->arguments[j].output && meets_another(c, j));
}

static void
copy_in(call *c, uint32_t j) {
  const glen_array *a = &c->arrays[j];
  c->copied[j] = true;
  c->pointers[j] = bs_alloc(&c->kernel->ctx->heap, api_array_bytes(a));
  if (!c->kernel->arguments[j].output)
    api_gather(a, c->pointers[j]);
}

static void
begin(call *c) {
  const glen_kernel *k = c->kernel;
  c->pointers = bs_calloc(&k->ctx->heap, k->n + 1u, sizeof *c->pointers);
  c->copied = bs_calloc(&k->ctx->heap, k->n + 1u, sizeof *c->copied);
  for (uint32_t j = 0; j < k->n; j++) {
    if (k->arguments[j].prepacked)
      continue;
    c->pointers[j] = c->arrays[j].data;
    if (!is_taken_as_it_is(c, j))
      copy_in(c, j);
  }
}

/* done: outputs have their elements. */
static void
end(call *c, bool done) {
  const glen_kernel *k = c->kernel;
  for (uint32_t j = 0; j < k->n; j++) {
    if (!c->copied[j])
      continue;
    if (done && k->arguments[j].output)
      api_scatter(c->pointers[j], &c->arrays[j]);
    bs_free(&k->ctx->heap, c->pointers[j]);
  }
  bs_free(&k->ctx->heap, c->copied);
  bs_free(&k->ctx->heap, c->pointers);
}

bool
glen_kernel_call_arrays(glen_kernel *k, const glen_array *arrays, uint32_t n) {
  API_ENTER(k->ctx, false);
  if (!is_callable(k, arrays, n))
    return false;
  call c = {.kernel = k, .arrays = arrays};
  begin(&c);
  int failed = glen_kernel_call(k, c.pointers, NULL);
  end(&c, !failed);
  if (failed == GLEN_KERNEL_NO_MEMORY)
    bs_error(&k->ctx->diags, BS_NOWHERE, "call-failed",
             "there is no memory for the kernel's workspace");
  else if (failed)
    bs_error(&k->ctx->diags, BS_NOWHERE, "call-failed", "the kernel failed: %d",
             failed);
  return !failed;
}
