/* SPDX-License-Identifier: MIT */
/* verify_steps.c - a result proved by the rule applications that led to it.
 *
 * The proof lives on a heap of its own, which is bounded and given back; what
 * is told of it is copied. */
#include "api/api_verify.h"
#include "prove/equal/equal_steps.h"

enum { MOST_LEMMAS = 4000000 };
#define MOST_BYTES ((size_t)4 << 30) /* of the proof */

typedef struct steps_args {
  glen_context *ctx;
  glen_result *result;
  const pv_options *options;
  bs_heap heap;   /* of the proof */
  bs_heap asked;  /* of the questions about its steps */
  pv_answer *out; /* by output */
  uint32_t n;
  bool recorded;
} steps_args;

/* ---- what is told ---- */

/* FILE:LINE:COLUMN; nothing for a rule that the tool made itself. */
static const char *
place_of(glen_context *ctx, const rl_rule *rule) {
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  if (rule && rule->span.file)
    bs_put_place(&ctx->diags, rule->span, &text);
  /* As long as the result. */
  const char *place = bs_arena_strdup(&ctx->arena, bs_text_str(&text));
  bs_text_done(&text);
  return place;
}

const char *
api_say_steps(glen_context *ctx, const api_steps *s) {
  return bs_arena_printf(
      &ctx->arena, "by %u %s, %u %s%s", BS_COUNTED(s->count, "step"),
      BS_COUNTED(s->questions, "question"), s->any_order ? PV_ANY_ORDER : "");
}

static const char *
say_step(glen_context *ctx, const api_open_step *o, uint32_t count) {
  const char *reason = o->reason ? o->reason : "";
  if (!o->rule)
    return reason;
  const char *what = o->verdict == PV_REFUTED ? "is wrong" : "is not proved";
  return *o->place
             ? bs_arena_printf(&ctx->arena, "step %u of %u, by %s (%s), %s: %s",
                               o->step + 1, count, o->rule->name, o->place,
                               what, reason)
             : bs_arena_printf(&ctx->arena, "step %u of %u, by %s, %s: %s",
                               o->step + 1, count, o->rule->name, what, reason);
}

static void
take_open(steps_args *a, const rl_proof *x, const pv_proof_answer *found) {
  glen_context *ctx = a->ctx;
  api_steps *s = BS_NEW(&ctx->arena, api_steps);
  *s = (api_steps){.count = found->steps,
                   .proved = found->proved,
                   .questions = found->questions,
                   .any_order = found->any_order,
                   .left_out = found->left_out,
                   .n_open = found->n_open};
  s->open = BS_NEWS(&ctx->arena, api_open_step, found->n_open + 1);
  for (uint32_t k = 0; k < found->n_open; k++) {
    const pv_step_answer *one = &found->open[k];
    const rl_rule *rule = x->lemmas[one->lemma].rule;
    s->open[k] = (api_open_step){.rule = rule,
                                 .place = place_of(ctx, rule),
                                 .step = one->step,
                                 .verdict = one->answer.verdict,
                                 .reason = one->answer.reason};
  }
  a->result->steps = s;
}

/* ---- the proof ---- */

static const char *
no_proof(eg_explained why) {
  return why == EG_TOO_LONG ? "no proof of it by steps was found"
                            : "no steps lead there";
}

static void
answer_claim(steps_args *a, pv_stepper *stepper, const rl_proof *x,
             const pv_proof_answer *found, uint32_t k) {
  const pv_step_answer *worst = pv_worst_step(stepper, x, found, k);
  pv_answer *out = &a->out[k];
  *out = (pv_answer){.verdict = PV_PROVED, .method = PV_BY_STEPS};
  if (!worst) {
    out->reason = api_say_steps(a->ctx, a->result->steps);
    return;
  }
  *out = worst->answer;
  for (uint32_t j = 0; j < found->n_open; j++)
    if (worst == &found->open[j])
      out->reason = say_step(a->ctx, &a->result->steps->open[j], found->steps);
}

static void
ask_proof(void *arg) {
  steps_args *a = arg;
  glen_result *r = a->result;
  gs_context own = a->ctx->gs;
  bs_arena arena;
  rl_proof x;
  pv_proof_answer found;
  bs_arena_init(&arena, &a->heap);
  own.heap = &a->heap;
  own.arena = &arena;
  rl_prove(&own, &r->run, r->input, r->program.program, MOST_LEMMAS, false, &x);
  a->recorded = x.why != EG_NOT_RECORDED;
  if (!a->recorded)
    return;
  gs_context asked = a->ctx->gs;
  asked.heap = &a->asked;
  pv_stepper *stepper =
      pv_stepper_new(&asked, r->run.rules, x.program, a->options);
  pv_prove_steps(stepper, &x, &found);
  take_open(a, &x, &found);
  for (uint32_t k = 0; k < a->n; k++) {
    a->out[k].reason = no_proof(x.why);
    if (k < x.n_claims && x.claims[k].found)
      answer_claim(a, stepper, &x, &found, k);
  }
  pv_stepper_free(stepper);
}

pv_answer *
api_ask_steps(glen_context *ctx, glen_result *result, const pv_options *o,
              uint32_t n) {
  steps_args a = {
      .ctx = ctx, .result = result, .options = o, .n = n, .recorded = true};
  a.out = BS_NEWS(&ctx->arena, pv_answer, n + 1);
  for (uint32_t k = 0; k < n; k++)
    a.out[k] = (pv_answer){.verdict = PV_UNKNOWN,
                           .reason = "out of memory for the steps"};
  bs_heap_init_child(&a.heap, &ctx->heap, MOST_BYTES);
  bs_heap_init_child(&a.asked, &ctx->heap, 0);
  bs_protect(&a.heap, ask_proof, &a);
  bs_heap_done(&a.asked);
  bs_heap_done(&a.heap);
  return a.recorded ? a.out : NULL;
}

/* ---- in reports ---- */

void
api_put_open_steps(const api_steps *s, bs_text *out) {
  for (uint32_t k = 0; k < s->n_open; k++) {
    const api_open_step *o = &s->open[k];
    bs_putf(out, ";          step %u of %u: %s: %s", o->step + 1, s->count,
            o->rule ? o->rule->name : "no rule", pv_verdict_name(o->verdict));
    if (*o->place)
      bs_putf(out, ", %s", o->place);
    bs_putf(out, "%s%s\n", o->reason ? ": " : "", o->reason ? o->reason : "");
  }
  if (s->left_out)
    bs_putf(out, ";          %u more %s not checked\n",
            BS_COUNTED_AS(s->left_out, "step was", "steps were"));
}

static void
json_open(const api_open_step *o, bs_json *j) {
  bs_json_object(j, NULL);
  bs_json_int(j, "step", o->step + 1);
  if (o->rule) {
    bs_json_string(j, "rule", o->rule->name);
    bs_json_string(j, "place", o->place);
  }
  bs_json_string(j, "verdict", pv_verdict_name(o->verdict));
  bs_json_string(j, "reason", o->reason ? o->reason : "");
  bs_json_end(j);
}

/* The rule and the place of the first step that is open stand by themselves. */
void
api_json_steps(const api_steps *s, bs_json *j) {
  bs_json_object(j, "steps");
  bs_json_int(j, "count", s->count);
  bs_json_int(j, "proved", s->proved);
  bs_json_int(j, "questions", s->questions);
  bs_json_int(j, "left_out", s->left_out);
  for (uint32_t k = 0; k < s->n_open; k++)
    if (s->open[k].rule) {
      bs_json_string(j, "rule", s->open[k].rule->name);
      bs_json_string(j, "place", s->open[k].place);
      break;
    }
  bs_json_array(j, "not_proved");
  for (uint32_t k = 0; k < s->n_open; k++)
    json_open(&s->open[k], j);
  bs_json_end(j);
  bs_json_end(j);
}
