/* SPDX-License-Identifier: MIT */
/* api_near_text.c - nearest misses written out. */
#include "api/api_explain.h"

/* Derived rules are no file. */
static void
put_place(glen_context *ctx, bs_span span, bs_text *out) {
  if (!span.file || ctx->diags.sources.data[span.file - 1].path[0] == '<')
    return;
  bs_put(out, "  (");
  bs_put_place(&ctx->diags, span, out);
  bs_putc(out, ')');
}

static void
put_need(glen_context *ctx, const rl_need *need, bs_text *out) {
  bs_putf(out, "    needs %s", need->wanted);
  if (need->have[0])
    bs_putf(out, "; %s", need->have);
  put_place(ctx, need->span, out);
  bs_putc(out, '\n');
  if (need->hint)
    bs_putf(out, "    hint: %s\n", need->hint);
}

void
api_put_near(glen_context *ctx, const rl_near *near, bs_text *out) {
  bs_putf(out, "  %s at %s%s", near->applies ? "applies" : "nearest",
          near->given ? "" : "a term that rules made: ", near->text);
  put_place(ctx, near->span, out);
  bs_putc(out, '\n');
  if (near->expected)
    bs_putf(out,
            "    matched %u of %u %s of the pattern\n    needs %s\n    "
            "found %s\n",
            near->matched, BS_COUNTED(near->total, "part"), near->expected,
            near->found);
  for (uint32_t k = 0; k < near->n_needs; k++)
    put_need(ctx, &near->needs[k], out);
}
