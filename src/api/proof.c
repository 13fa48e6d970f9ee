/* SPDX-License-Identifier: MIT */
/* proof.c - the proof of a result as text. */
#include "api/api.h"
#include "rules/explain/proof.h"

enum { MOST_LEMMAS = 4000000 };
#define MOST_BYTES ((size_t)4 << 30)

typedef struct proof_args {
  glen_context *ctx;
  const glen_result *result;
  bs_heap heap; /* of the proof */
  const char *out;
} proof_args;

static const char *
why_not(eg_explained why) {
  return why == EG_NOT_RECORDED ? "the run kept no record of its steps"
         : why == EG_NOT_EQUAL  ? "an output did not come from the input's"
                                : "a step rests on what cannot be shown";
}

static void
write_proof(void *arg) {
  proof_args *a = arg;
  const glen_result *r = a->result;
  gs_context own = a->ctx->gs;
  bs_arena arena;
  rl_proof x;
  bs_text text;
  bs_arena_init(&arena, &a->heap);
  own.heap = &a->heap;
  own.arena = &arena;
  if (!rl_prove(&own, &r->run, r->input, r->program.program, MOST_LEMMAS, true,
                &x)) {
    bs_error(&a->ctx->diags, BS_NOWHERE, "no-proof", "there is no proof: %s",
             why_not(x.why));
    return;
  }
  bs_text_init(&text, &a->ctx->heap);
  rl_put_proof(&own, &x, r->program.program, &text);
  a->out = api_string(a->ctx, &text);
}

static void
proof_body(void *arg) {
  proof_args *a = arg;
  bs_heap_init_child(&a->heap, &a->ctx->heap, MOST_BYTES);
  if (!bs_protect(&a->heap, write_proof, a))
    bs_error(&a->ctx->diags, BS_NOWHERE, "no-proof",
             "there is no proof: out of memory");
  bs_heap_done(&a->heap);
}

const char *
glen_result_proof(glen_context *ctx, const glen_result *result) {
  proof_args a = {.ctx = ctx, .result = result};
  return api_enter(ctx, proof_body, &a) ? a.out : NULL;
}
