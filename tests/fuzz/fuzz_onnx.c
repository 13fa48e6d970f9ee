/* SPDX-License-Identifier: MIT */
/* The importer of ONNX models on any bytes: a program, or a diagnostic.
 *
 * A program that was made prints as text that reads back and prints the same;
 * the elements that it refers to lie within its weights. */
#include "fuzz.h"
#include "onnx/onnx.h"

static void
check_weights(const gs_program *p, const bs_text *weights) {
  for (uint32_t k = 0; k < p->data.len; k++)
    require(p->data.data[k].offset >= 0 &&
            (size_t)p->data.data[k].offset < weights->len);
}

static void
check_text(const gs_context *ctx, const gs_program *p) {
  bs_text text, again;
  bs_text_init(&text, ctx->heap);
  bs_text_init(&again, ctx->heap);
  gs_print(p, false, &text);
  uint32_t source = bs_source_add(ctx->diags, "f", text.data, text.len);
  require(source != 0);
  const gs_program *q = gs_parse(ctx, NULL, source);
  require(q != NULL);
  gs_print(q, false, &again);
  require(!strcmp(bs_text_str(&text), bs_text_str(&again)));
}

static void
read_input(void *argument) {
  const input *in = argument;
  bs_arena arena;
  bs_diags diags;
  bs_text weights;
  on_summary summary;
  on_options options = {.path = "/nowhere/f.onnx", .output = "f.glen"};
  bs_arena_init(&arena, in->heap);
  bs_diags_init(&diags, in->heap);
  bs_text_init(&weights, in->heap);
  gs_context ctx = {in->heap, &arena, bs_values_new(in->heap), &diags};
  const gs_program *p = on_program_of(
      &ctx, &options, (const uint8_t *)in->bytes, in->size, &summary, &weights);
  require((p != NULL) == (diags.errors == 0));
  if (!p)
    return;
  check_weights(p, &weights);
  check_text(&ctx, p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  read_twice(read_input, bytes, size, (size_t)1 << 26);
  return 0;
}
