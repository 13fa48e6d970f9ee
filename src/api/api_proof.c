/* SPDX-License-Identifier: MIT */
/* api_proof.c - the proof of a result as text. */
#include "api/api.h"
#include "rules/explain/explain_proof.h"

enum { MOST_LEMMAS = 4000000 };
#define MOST_BYTES ((size_t)4 << 30)

static const char *
why_not(eg_explained why) {
  return why == EG_NOT_RECORDED ? "the run kept no record of its steps"
         : why == EG_NOT_EQUAL  ? "an output was not derived from that of "
                                  "the input"
                                : "a step rests on something that cannot be "
                                  "shown";
}

static const char *
no_proof(glen_context *ctx, const char *why) {
  bs_error(&ctx->diags, BS_NOWHERE, "no-proof", "there is no proof: %s", why);
  return NULL;
}

/* On a heap of its own, which has a limit. */
static const char *
write_proof(glen_context *ctx, const glen_result *r, bs_heap *heap) {
  gs_context own = ctx->gs;
  bs_arena arena;
  rl_proof x;
  bs_text text;
  bs_trap trap BS_TRAP_ENDS;
  bs_trap_set(&trap, heap);
  if (setjmp(trap.place))
    return no_proof(ctx, "out of memory");
  bs_arena_init(&arena, heap);
  own.heap = heap;
  own.arena = &arena;
  if (!rl_prove(&own, &r->run, r->input, r->program.program, MOST_LEMMAS, true,
                &x))
    return no_proof(ctx, why_not(x.why));
  bs_text_init(&text, &ctx->heap);
  rl_put_proof(&own, &x, r->program.program, &text);
  return api_string(ctx, &text);
}

typedef struct writing {
  glen_context *ctx;
  const glen_result *result;
  bs_heap heap;
  const char *text;
} writing;

static void
write_job(void *arg) {
  writing *w = arg;
  w->text = write_proof(w->ctx, w->result, &w->heap);
}

/* The text is the context's: where there is no memory for that, the proof's
 * heap ends before control goes on to who called. */
const char *
glen_result_proof(glen_context *ctx, const glen_result *result) {
  API_ENTER(ctx, NULL);
  writing w = {.ctx = ctx, .result = result};
  bs_heap_init_child(&w.heap, &ctx->heap, MOST_BYTES);
  bool memory = bs_protect(&ctx->heap, write_job, &w);
  bs_heap_done(&w.heap);
  if (!memory)
    bs_out_of_memory(&ctx->heap);
  return w.text;
}
