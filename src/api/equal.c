/* SPDX-License-Identifier: MIT */
/* equal.c - what the prover says of two programs. */
#include "api/api.h"
#include "api/object.h"
#include "prove/equal/equal_open.h"
#include <string.h>

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
        bs_arena_printf(&ctx->strings, "output %s: %s", name_output(p, answer),
                        answer->reason ? answer->reason : "");
  bs_text_init(&text, &ctx->heap);
  pv_put_answer(&text, &told);
  return api_string(ctx, &text);
}

static void
json_answer(bs_json *j, const gs_program *p, const pv_answer *answer) {
  bs_json_int(j, "schema", 1);
  bs_json_string(j, "answer", pv_verdict_name(answer->verdict));
  bs_json_string(j, "reason", answer->reason ? answer->reason : "");
  if (answer->verdict != PV_PROVED)
    bs_json_string(j, "output", name_output(p, answer));
  api_json_answer(j, answer);
}

static const char *
json_of(glen_context *ctx, const gs_program *p, const pv_answer *answer) {
  bs_text text;
  bs_json j;
  bs_text_init(&text, &ctx->heap);
  bs_json_init(&j, &text, 0);
  bs_json_object(&j, NULL);
  json_answer(&j, p, answer);
  bs_json_end(&j);
  bs_putc(&text, '\n');
  return api_string(ctx, &text);
}

/* ---- with open sizes ---- */

static void
json_sizes(bs_json *j, const gs_sizes *s, const pv_open_answer *a) {
  if (a->looked)
    bs_json_int(j, "looked", a->looked);
  if (!a->decided)
    return;
  bs_json_object(j, "sizes");
  for (uint32_t k = 0; k < s->n; k++)
    bs_json_int(j, s->list[k].name, a->at[k]);
  bs_json_end(j);
}

/* That at the sizes that decided, with what follows from it for all of them. */
static pv_answer
answer_for_all(const pv_open_answer *open) {
  pv_answer told = open->answer;
  told.verdict = open->verdict;
  told.reason = open->reason;
  if (!open->looked)
    told.method = open->verdict == PV_PROVED ? PV_BY_ELEMENTS : PV_BY_NOTHING;
  return told;
}

static bool
prove_open(glen_context *ctx, const gs_program *a, const gs_program *b,
           const pv_options *options, glen_equality *out) {
  pv_open_answer open;
  bs_text json;
  bs_json j;
  api_object *object = api_object_take(ctx);
  gs_program a_there = api_program_in(object, a),
             b_there = api_program_in(object, b);
  pv_equal_open(api_object_context(object), &a_there, &b_there, options, &open);
  pv_answer told = answer_for_all(&open);
  bs_text_init(&json, &ctx->heap);
  bs_json_init(&j, &json, 0);
  bs_json_object(&j, NULL);
  json_answer(&j, a, &told);
  json_sizes(&j, a->sizes, &open);
  bs_json_end(&j);
  bs_putc(&json, '\n');
  *out = (glen_equality){.proved = told.verdict == PV_PROVED,
                         .refuted = told.verdict == PV_REFUTED,
                         .open = true,
                         .checked = told.verdict == PV_CHECKED ||
                                    told.verdict == PV_TESTED,
                         .text = text_of(ctx, a, &told),
                         .json = api_string(ctx, &json)};
  api_object_free(object);
  return true;
}

bool
glen_programs_prove(glen_context *ctx, const glen_program *a,
                    const glen_program *b, glen_equality *out) {
  *out = (glen_equality){0};
  API_ENTER(ctx, false);
  const gs_program *p = a->program;
  pv_options options;
  pv_answer answer;
  pv_defaults(&options);
  if (p->sizes || b->program->sizes)
    return prove_open(ctx, p, b->program, &options, out);
  pv_equal_programs(&ctx->gs, p, b->program, &options, &answer);
  *out = (glen_equality){.proved = answer.verdict == PV_PROVED,
                         .refuted = answer.verdict == PV_REFUTED,
                         .text = text_of(ctx, p, &answer),
                         .json = json_of(ctx, p, &answer)};
  return true;
}
