/* SPDX-License-Identifier: MIT */
/* api_verify.c - is what was extracted equal to the input?
 *
 * The prover is asked about the programs as a whole, with little work; then
 * about the steps that led from one to the other, each for itself; then about
 * the whole and its outputs with all the work and memory allowed.  Of what is
 * refuted, the steps tell which rule is wrong. */
#include "api/api_verify.h"

enum { SHOWN = 16 };

typedef struct verifying {
  glen_context *ctx;
  glen_result *result;
} verifying;

/* The program with output k alone; it shares everything with the whole. */
static gs_program
with_output(const gs_program *p, uint32_t k) {
  gs_program out = *p;
  out.outputs.data += k;
  out.outputs.len = 1;
  return out;
}

/* ---- by the steps of the saturation ---- */

/* What the steps tell of an output.  A wrong step tells which rule is, but a
 * result that agreed on every input stays `tested`. */
static void
take_steps(verifying *a, const pv_answer *c, pv_answer *out) {
  glen_context *ctx = a->ctx;
  uint32_t output = out->output;
  const char *said = c->reason;
  bool wrong = c->verdict == PV_REFUTED;
  if (out->verdict == PV_REFUTED || (wrong && out->verdict == PV_TESTED)) {
    if (wrong)
      out->reason = bs_arena_printf(&ctx->arena, "%s; %s", out->reason, said);
    return;
  }
  if (wrong)
    said = bs_arena_printf(&ctx->arena, "too large to run; its derivation: %s",
                           said);
  if (wrong || pv_verdict_weight(c->verdict) < pv_verdict_weight(out->verdict))
    *out = *c;
  else if (c->verdict != out->verdict)
    return;
  else if (a->result->steps && !a->result->steps->count)
    said = bs_arena_printf(&ctx->arena, "%s; %s", out->reason, said);
  out->output = output;
  out->reason = said;
  if (wrong && out->method == PV_BY_RUNNING)
    out->method = PV_BY_STEPS;
}

static bool
all_proved(const pv_answer *c, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (c[k].verdict != PV_PROVED)
      return false;
  return true;
}

/* ---- the order of the questions ---- */

static void
ask_each(verifying *a, const pv_options *o, const pv_answer *steps,
         pv_answer *out) {
  const gs_program *from = a->result->input, *to = a->result->program.program;
  uint32_t n = from->outputs.len;
  pv_answer worst = {.verdict = PV_PROVED,
                     .method = PV_BY_RELATIONS,
                     .reason = "each output is equal"};
  for (uint32_t k = 0; k < n; k++) {
    gs_program x = with_output(from, k), y = with_output(to, k);
    pv_answer each = *out;
    if (n > 1)
      pv_equal_programs(&a->ctx->gs, &x, &y, o, &each);
    each.output = k;
    if (steps && each.verdict != PV_PROVED)
      take_steps(a, &steps[k], &each);
    if (pv_verdict_weight(each.verdict) > pv_verdict_weight(worst.verdict))
      worst = each;
  }
  *out = worst;
}

/* What little work decides is asked as a whole first: mostly that is all. */
static bool
ask_quickly(verifying *a, const pv_options *o, pv_answer *out) {
  pv_options quick = *o;
  quick.max_operations /= 400;
  quick.max_run /= 100;
  pv_equal_programs(&a->ctx->gs, a->result->input, a->result->program.program,
                    &quick, out);
  return out->verdict == PV_PROVED;
}

static void
ask(verifying *a, pv_answer *out) {
  const gs_program *from = a->result->input, *to = a->result->program.program;
  uint32_t n = from->outputs.len;
  pv_options o;
  pv_defaults(&o);
  if (ask_quickly(a, &o, out) || n != to->outputs.len)
    return;
  bool differ = out->verdict == PV_REFUTED;
  pv_answer *steps =
      a->result->run.graph ? api_ask_steps(a->ctx, a->result, &o, n) : NULL;
  /* steps take what they share for finite: a run knows better */
  if (steps && !differ && all_proved(steps, n)) {
    *out = (pv_answer){.verdict = PV_PROVED, .method = PV_BY_STEPS};
    out->reason = api_say_steps(a->ctx, a->result->steps);
    return;
  }
  pv_equal_programs(&a->ctx->gs, from, to, &o, out);
  if (out->verdict != PV_PROVED)
    ask_each(a, &o, steps, out);
}

/* ---- by its regions ---- */

static const char *
seam_of(const glen_result *r, uint32_t output) {
  return output < r->input->outputs.len ? r->input->outputs.data[output].name
                                        : "";
}

/* Regions that are alike are one question: what was found holds for all that a
 * region may read, and the program was put together from its regions by equals
 * alone. */
static void
ask_regions(verifying *a, pv_answer *out) {
  api_regions *regions = a->result->regions;
  *out = (pv_answer){.verdict = PV_PROVED, .method = PV_BY_STEPS};
  out->reason =
      bs_arena_printf(&a->ctx->arena, "region by region, %u of them different",
                      regions->different);
  for (uint32_t k = 0; k < regions->different; k++) {
    verifying part = {a->ctx, regions->list[k].result};
    pv_answer one = {0};
    if (!part.result)
      continue;
    ask(&part, &one);
    if (pv_verdict_weight(one.verdict) <= pv_verdict_weight(out->verdict))
      continue;
    *out = one;
    regions->open = seam_of(part.result, one.output);
    a->result->steps = part.result->steps;
  }
}

/* The output that is not proved, or what a region gives that is not. */
static const char *
output_of(const glen_result *r) {
  return r->regions && r->regions->open ? r->regions->open
                                        : seam_of(r, r->verified->output);
}

static void
tell_refuted(glen_context *ctx, const glen_result *r, const pv_answer *answer) {
  ctx->failure = GLEN_REFUTED;
  bs_error(&ctx->diags, BS_NOWHERE, "unsound-result", "%s: %s %s: %s",
           answer->method == PV_BY_STEPS
               ? "the result does not follow from the input"
               : "the result is not equal to the input",
           r->regions ? "region" : "output", output_of(r), answer->reason);
  bs_hint(&ctx->diags, "glen rules prove tells which rule is wrong");
}

const char *
glen_result_verify(glen_context *ctx, glen_result *result) {
  API_ENTER(ctx, NULL);
  verifying a = {ctx, result};
  pv_answer *answer = BS_NEW(&ctx->arena, pv_answer);
  if (result->regions)
    ask_regions(&a, answer);
  else
    ask(&a, answer);
  result->verified = answer;
  if (answer->verdict == PV_REFUTED)
    tell_refuted(ctx, result, answer);
  return pv_verdict_name(answer->verdict);
}

/* ---- in reports ---- */

static void
put_difference(const pv_answer *a, bs_text *out) {
  bs_putf(out, ";          %sat [",
          a->method == PV_BY_STEPS ? "of the step, " : "");
  for (uint32_t d = 0; d < a->rank; d++)
    bs_putf(out, "%s%lld", d ? ", " : "", (long long)a->index[d]);
  bs_putf(out, "]: %.10g and %.10g\n", a->left, a->right);
  for (uint32_t k = 0; k < a->n_inputs; k++) {
    const gs_tensor *t = &a->inputs[k].tensor;
    bs_putf(out, ";          %s =", a->inputs[k].name);
    for (int64_t i = 0; i < t->elements && i < SHOWN; i++)
      bs_putf(out, " %.*g", gs_digits_shown(t->dtype), gs_tensor_get(t, i));
    bs_put(out, t->elements > SHOWN ? " ...\n" : "\n");
  }
}

void
api_put_verified(const glen_result *r, bs_text *out) {
  const pv_answer *a = r->verified;
  if (!a)
    return;
  bs_putf(out, "; verify   %s: ", pv_verdict_name(a->verdict));
  if (a->verdict != PV_PROVED)
    bs_putf(out, "%s %s: ", r->regions ? "region" : "output", output_of(r));
  bs_putf(out, "%s\n", a->reason ? a->reason : "");
  if (pv_has_difference(a))
    put_difference(a, out);
  if (a->verdict != PV_PROVED && r->steps)
    api_put_open_steps(r->steps, out);
}

void
api_json_verified(const glen_result *r, bs_json *j) {
  const pv_answer *a = r->verified;
  if (!a)
    return;
  bs_json_object(j, "verify");
  bs_json_string(j, "verdict", pv_verdict_name(a->verdict));
  bs_json_string(j, "reason", a->reason ? a->reason : "");
  if (a->verdict != PV_PROVED)
    bs_json_string(j, r->regions ? "region" : "output", output_of(r));
  api_json_answer(j, a);
  if (r->steps)
    api_json_steps(r->steps, j);
  bs_json_end(j);
}

const char *
glen_result_verified_text(glen_context *ctx, const glen_result *result,
                          bool json) {
  API_ENTER(ctx, "");
  bs_text text;
  bs_json j;
  bs_text_init(&text, &ctx->heap);
  bs_json_init(&j, &text, 0);
  if (json) {
    bs_json_object(&j, NULL);
    bs_json_int(&j, "schema", 1);
    api_json_verified(result, &j);
    bs_json_end(&j);
    bs_putc(&text, '\n');
  } else {
    api_put_verified(result, &text);
  }
  return api_string(ctx, &text);
}
