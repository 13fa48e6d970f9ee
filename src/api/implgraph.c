/* SPDX-License-Identifier: MIT */
/* implgraph.c - the axes of lowered loops and the ways to implement them. */
#include "api/api.h"
#include "poly/implgraph/hint.h"

typedef struct implgraph_args {
  glen_context *ctx;
  glen_loops *loops;
  bool json;
  const char *text;
} implgraph_args;

static void
implgraph_body(void *arg) {
  implgraph_args *a = arg;
  bs_text text;
  if (!api_knows_sizes(a->ctx, a->loops->loops, "the table of axes"))
    return;
  bs_text_init(&text, &a->ctx->heap);
  (a->json ? po_json_implgraphs : po_print_implgraphs)(a->loops->loops, &text);
  a->text = api_string(a->ctx, &text);
}

const char *
glen_loops_implgraph(glen_context *ctx, glen_loops *loops, bool json) {
  implgraph_args a = {.ctx = ctx, .loops = loops, .json = json, .text = ""};
  return api_enter(ctx, implgraph_body, &a) ? a.text : "";
}
