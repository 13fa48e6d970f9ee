/* SPDX-License-Identifier: MIT */
/* The reader of NPY files on any bytes: an array, or a diagnostic.
 *
 * An array that was read is read again where it is expected, and refused where
 * another one is. */
#include "fuzz.h"
#include "glenside/array/array_testing.h"

static void
check_again(const gs_context *ctx, const input *in, const gs_tensor *found) {
  gs_type type = {
      (uint8_t)found->rank, (uint8_t)found->rank, found->dtype, {0}};
  gs_tensor again;
  gs_difference difference;
  memcpy(type.dim, found->dim, sizeof type.dim);
  require(gs_npy_parse(ctx, "f", in->bytes, in->size, &type, &again));
  require(gs_tensor_compare(found, &again, 0, 0, &difference));
  type.dtype = type.dtype == GS_F32 ? GS_F64 : GS_F32;
  require(!gs_npy_parse(ctx, "f", in->bytes, in->size, &type, &again));
}

static void
read_input(void *argument) {
  const input *in = argument;
  bs_arena arena;
  bs_diags diags;
  gs_tensor found;
  bs_arena_init(&arena, in->heap);
  bs_diags_init(&diags, in->heap);
  gs_context ctx = {in->heap, &arena, NULL, &diags};
  bool ok = gs_npy_parse(&ctx, "f", in->bytes, in->size, NULL, &found);
  require(ok == (diags.errors == 0));
  if (!ok)
    return;
  require(found.elements >= 1 && found.elements <= (int64_t)in->size);
  check_again(&ctx, in, &found);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  read_twice(read_input, bytes, size, (size_t)1 << 26);
  return 0;
}
