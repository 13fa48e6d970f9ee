/* SPDX-License-Identifier: MIT */
/* The reader of loop programs on any bytes: a program, or diagnostics.
 *
 * A program is printed; what was printed must read back and print the same.
 * Then all of it is done once more with half of the memory. */
#include "fuzz.h"
#include "poly/loops/loops.h"

static po_program *
read_text(const gs_context *ctx, const char *text, size_t size) {
  uint32_t before = ctx->diags->errors;
  uint32_t source = bs_source_add(ctx->diags, "f", text, size);
  po_program *p =
      source ? po_read_loops(ctx, gs_target_default(ctx), source, NULL, 0)
             : NULL;
  require((p != NULL) == (ctx->diags->errors == before));
  return p;
}

static void
read_input(void *argument) {
  const input *in = argument;
  bs_arena arena;
  bs_diags diags;
  bs_text first, second, out;
  bs_arena_init(&arena, in->heap);
  bs_diags_init(&diags, in->heap);
  bs_text_init(&first, in->heap);
  bs_text_init(&second, in->heap);
  bs_text_init(&out, in->heap);
  gs_context ctx = {in->heap, &arena, bs_values_new(in->heap), &diags};
  po_program *p = read_text(&ctx, in->bytes, in->size);
  if (p) {
    po_print(p, &first);
    po_program *again = read_text(&ctx, bs_text_str(&first), first.len);
    require(again != NULL);
    po_print(again, &second);
    require(!strcmp(bs_text_str(&first), bs_text_str(&second)));
    po_free(again);
  }
  po_free(p);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  read_twice(read_input, bytes, size, (size_t)1 << 30);
  return 0;
}
