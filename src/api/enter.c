/* SPDX-License-Identifier: MIT */
/* enter.c - how a public function begins and ends: the one place where running
 * out of memory is turned into a failure. */
#include "api/api.h"

#include <stdio.h>

/* There is no memory to make a diagnostic with. */
static void
lacked(glen_context *ctx) {
  bs_governor *g = &ctx->governor;
  if (ctx->out_of_memory)
    return;
  ctx->out_of_memory = true;
  if (!g->refused && g->stage.over) { /* a loop gave up before the heap did */
    g->refused = g->stage.over;
    g->refused_in = g->stage.name;
  }
  if (g->refused)
    snprintf(ctx->failed, sizeof ctx->failed,
             "%s: stopped in %s, and nothing was made",
             bs_reason_name(g->refused), g->refused_in);
}

/* What numbers look like does not depend on the host's locale: where a comma
 * divides them there, C text would be no C. */
static bool
open_frame(api_frame *frame, glen_context *ctx) {
  *frame = (api_frame){.ctx = NULL};
  if (ctx->out_of_memory)
    return false;
  frame->ctx = ctx;
  ctx->failure = GLEN_BAD_INPUT;
  frame->hosts = uselocale(ctx->locale);
  bs_trap_set(&frame->trap, &ctx->heap);
  return true;
}

bool
api_open(api_frame *frame, glen_context *ctx) {
  bool open = open_frame(frame, ctx);
  frame->before = ctx->governor.stage;
  return open;
}

bool
api_open_stage(api_frame *frame, glen_context *ctx, const char *name,
               double of_time) {
  bool open = open_frame(frame, ctx);
  if (open)
    frame->before = bs_stage_begin(&ctx->governor, name, of_time, 1);
  return open;
}

bool
api_open_listening(api_frame *frame, glen_context *ctx) {
  bool open = api_open(frame, ctx);
  frame->listens = open;
  ctx->listens = open;
  return open;
}

void
api_blame_limit(api_frame *frame) {
  glen_context *ctx = frame->ctx;
  const char *name = ctx->governor.stage.name;
  bs_reason cut = bs_stage_end(&ctx->governor, frame->before);
  if (!cut)
    return;
  bs_error(&ctx->diags, BS_NOWHERE, bs_reason_code(cut),
           "%s: stopped in %s, and nothing was made", bs_reason_name(cut),
           name);
  ctx->failure = GLEN_LIMIT;
}

void
api_close(api_frame *frame) {
  glen_context *ctx = frame->ctx;
  if (!ctx)
    return;
  bs_trap_end(&frame->trap);
  uselocale(frame->hosts);
  if (frame->trap.sprung)
    lacked(ctx);
  bs_stage_end(&ctx->governor, frame->before);
  if (frame->listens)
    ctx->listens = 0;
}
