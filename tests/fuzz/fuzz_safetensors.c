/* SPDX-License-Identifier: MIT */
/* Where an array stands in a .safetensors file of any bytes: within them, or a
 * diagnostic. */
#include "fuzz.h"
#include "glenside/program/program.h"

static void
locate(void *argument) {
  const input *in = argument;
  bs_arena arena;
  bs_diags diags;
  gs_type type = {1, 1, GS_F32, {4}};
  gs_data data = {.name = "w", .file = "f", .key = "w"};
  gs_data_site site = {0};
  bs_arena_init(&arena, in->heap);
  bs_diags_init(&diags, in->heap);
  gs_context ctx = {in->heap, &arena, NULL, &diags};
  bool ok =
      gs_safetensors_locate(&ctx, &data, in->bytes, in->size, &type, &site);
  require(ok == (diags.errors == 0));
  if (!ok)
    return;
  require(site.bytes == 16 && site.offset >= site.header && site.header >= 8);
  require(site.offset + site.bytes <= (int64_t)in->size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  read_twice(locate, bytes, size, (size_t)1 << 26);
  return 0;
}
