/* SPDX-License-Identifier: MIT */
/* equal.c - what the prover says of two programs. */
#include "api/api.h"

static const char *
name_output(const gs_program *p, const pv_answer *answer) {
  return answer->output < p->outputs.len ? p->outputs.data[answer->output].name
                                         : "";
}

static const char *
text_of(glen_context *ctx, const gs_program *p, const pv_answer *answer) {
  bs_text text;
  pv_answer told = *answer;
  if (answer->verdict != PV_PROVED)
    told.reason =
        bs_arena_printf(&ctx->arena, "output %s: %s", name_output(p, answer),
                        answer->reason ? answer->reason : "");
  bs_text_init(&text, &ctx->heap);
  pv_put_answer(&text, &told);
  return api_string(ctx, &text);
}

static const char *
json_of(glen_context *ctx, const gs_program *p, const pv_answer *answer) {
  bs_text text;
  bs_json j;
  bs_text_init(&text, &ctx->heap);
  bs_json_init(&j, &text, 0);
  bs_json_object(&j, NULL);
  bs_json_int(&j, "schema", 1);
  bs_json_string(&j, "answer", pv_verdict_name(answer->verdict));
  bs_json_string(&j, "reason", answer->reason ? answer->reason : "");
  if (answer->verdict != PV_PROVED)
    bs_json_string(&j, "output", name_output(p, answer));
  api_json_answer(&j, answer);
  bs_json_end(&j);
  bs_putc(&text, '\n');
  return api_string(ctx, &text);
}

bool
glen_programs_prove(glen_context *ctx, const glen_program *a,
                    const glen_program *b, glen_equality *out) {
  *out = (glen_equality){0};
  API_ENTER(ctx, false);
  const gs_program *p = a->program;
  if (!api_has_numbers(ctx, p, "a check") ||
      !api_has_numbers(ctx, b->program, "a check"))
    return false;
  pv_options options;
  pv_answer answer;
  pv_defaults(&options);
  pv_equal_programs(&ctx->gs, p, b->program, &options, &answer);
  *out = (glen_equality){.proved = answer.verdict == PV_PROVED,
                         .refuted = answer.verdict == PV_REFUTED,
                         .text = text_of(ctx, p, &answer),
                         .json = json_of(ctx, p, &answer)};
  return true;
}
