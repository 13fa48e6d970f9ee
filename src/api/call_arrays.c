/* SPDX-License-Identifier: MIT */
/* call_arrays.c - a kernel called with arrays of any strides: what the kernel
 * cannot read or write where it lies is copied. */
#include "api/api_kernel.h"

#include <stdint.h>

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

/* Elements that share a place would keep whichever is written last. */
static bool
repeats(const glen_array *a) {
  for (uint32_t d = 0; a->strides && d < a->rank; d++)
    if (a->shape[d] > 1 && !a->strides[d])
      return true;
  return false;
}

static bool
fits(const glen_kernel *k, uint32_t j, const glen_array *array) {
  const glen_argument *to = &k->arguments[j];
  if (to->prepacked)
    return true;
  if (!api_array_fits(k->ctx, to->name, &to->type, array))
    return false;
  return !to->output || !repeats(array) ||
         refuse(k->ctx, to->name,
                "is an output, of which several elements lie at one place");
}

static bool
wrong_count(const glen_kernel *k, uint32_t n) {
  bs_text names;
  bs_text_init(&names, &k->ctx->heap);
  for (uint32_t j = 0; j < k->n; j++)
    bs_putf(&names, "%s%s", j ? ", " : "", k->arguments[j].name);
  bs_error(&k->ctx->diags, BS_NOWHERE, "wrong-array",
           "the kernel is called with %u arrays (%s), not with %u", k->n,
           bs_text_str(&names), n);
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
