/* SPDX-License-Identifier: MIT */
/* The formatter on any bytes: it keeps the tokens, and formatting what it wrote
 * changes nothing; then all of it once more with half of the memory. */
#include "fuzz.h"
#include "base/tokens.h"
#include "rules/format/format.h"

/* The same tokens: kinds and bytes. */
static void
compare(const gs_context *ctx, uint32_t a, uint32_t b) {
  bs_tokens x, y;
  require(bs_tokens_read(ctx->heap, ctx->diags, a, &x));
  require(bs_tokens_read(ctx->heap, ctx->diags, b, &y));
  require(x.list.len == y.list.len);
  for (uint32_t k = 0; k < x.list.len; k++) {
    const bs_token *s = &x.list.data[k], *t = &y.list.data[k];
    require(s->kind == t->kind && s->hi - s->lo == t->hi - t->lo);
    require(!memcmp(ctx->diags->sources.data[a - 1].text + s->lo,
                    ctx->diags->sources.data[b - 1].text + t->lo,
                    s->hi - s->lo));
  }
  bs_tokens_done(ctx->heap, &x);
  bs_tokens_done(ctx->heap, &y);
}

static void
format(void *argument) {
  const input *in = argument;
  bs_arena arena;
  bs_diags diags;
  bs_text once, twice;
  bs_arena_init(&arena, in->heap);
  bs_diags_init(&diags, in->heap);
  gs_context ctx = {in->heap, &arena, bs_values_new(in->heap), &diags};
  uint32_t first = bs_source_add(&diags, "input", in->bytes, in->size);
  bs_text_init(&once, in->heap);
  bs_text_init(&twice, in->heap);
  if (!rl_format(&ctx, first, &once)) {
    require(diags.errors);
    return;
  }
  uint32_t second = bs_source_add(&diags, "once", bs_text_str(&once), once.len);
  require(rl_format(&ctx, second, &twice));
  compare(&ctx, first, second);
  require(once.len == twice.len &&
          !memcmp(bs_text_str(&once), bs_text_str(&twice), once.len));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  read_twice(format, bytes, size, 0);
  return 0;
}
