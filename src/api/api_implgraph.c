/* SPDX-License-Identifier: MIT */
/* api_implgraph.c - the axes of lowered loops and the ways to implement
 * them. */
#include "api/api.h"
#include "poly/implgraph/hint.h"

const char *
glen_loops_implgraph(glen_context *ctx, glen_loops *loops, bool json) {
  API_ENTER(ctx, "");
  bs_text text;
  if (!api_knows_sizes(ctx, loops->loops, "the table of axes"))
    return "";
  bs_text_init(&text, &ctx->heap);
  (json ? po_json_implgraphs : po_print_implgraphs)(loops->loops, &text);
  return api_string(ctx, &text);
}
