/* SPDX-License-Identifier: MIT */
/* rules_prove.c - one rule proved, checked, tested or refuted, as texts.
 *
 * Only the texts of the answer stay in the context: the shapes and terms of the
 * question are on heaps of the prover's own. */
#include "api/api.h"
#include "prove/rule/prove_rule.h"

enum { MAX_VALUES = 256 }; /* of an input, as JSON */

void
glen_prove_defaults_of(glen_prove_options *out, size_t size) {
  pv_rule_options o;
  pv_rule_defaults(&o);
  const glen_prove_options own = {
      .size = sizeof own, .seed = o.seed, .shapes = o.shapes};
  api_give_options(&own, sizeof own, out, size);
}

/* For callers that have no macros: the struct is that of this library. */
void(glen_prove_defaults)(glen_prove_options *out) {
  glen_prove_defaults_of(out, sizeof *out);
}

const char *
glen_rule_name(const glen_rules *rules, uint32_t k) {
  return rl_at(rules->rules, k)->name;
}

/* ---- JSON ---- */

void
api_json_input(bs_json *j, const char *name, const gs_tensor *t) {
  bs_json_object(j, NULL);
  bs_json_string(j, "name", name);
  bs_json_string(j, "dtype", gs_dtype_table[t->dtype].name);
  bs_json_array(j, "shape");
  for (uint32_t d = 0; d < t->rank; d++)
    bs_json_int(j, NULL, t->dim[d]);
  bs_json_end(j);
  bs_json_array(j, "values");
  for (int64_t k = 0; k < t->elements && k < MAX_VALUES; k++)
    bs_json_real(j, NULL, gs_tensor_get(t, k));
  bs_json_end(j);
  bs_json_end(j);
}

static void
json_difference(bs_json *j, const pv_answer *a) {
  bs_json_array(j, "index");
  for (uint32_t d = 0; d < a->rank; d++)
    bs_json_int(j, NULL, a->index[d]);
  bs_json_end(j);
  bs_json_real(j, "left_value", a->left);
  bs_json_real(j, "right_value", a->right);
  bs_json_array(j, "inputs");
  for (uint32_t k = 0; k < a->n_inputs; k++)
    api_json_input(j, a->inputs[k].name, &a->inputs[k].tensor);
  bs_json_end(j);
}

void
api_json_answer(bs_json *j, const pv_answer *a) {
  bs_json_string(j, "by", pv_method_name(a->method));
  if (pv_has_difference(a))
    json_difference(j, a);
}

static void
json_shape(bs_json *j, const pv_rule_answer *a) {
  bs_json_object(j, "decided_by");
  bs_json_string(j, "verdict", pv_verdict_name(a->answer.verdict));
  bs_json_string(j, "variables", a->shape);
  bs_json_string(j, "left", a->left);
  if (a->right)
    bs_json_string(j, "right", a->right);
  else
    bs_json_null(j, "right");
  bs_json_string(j, "reason", a->answer.reason ? a->answer.reason : "");
  api_json_answer(j, &a->answer);
  bs_json_end(j);
}

static const char *
json_of(glen_context *ctx, const glen_proof *p, const pv_rule_answer *a) {
  bs_text text;
  bs_json j;
  bs_text_init(&text, &ctx->heap);
  bs_json_init(&j, &text, 0);
  bs_json_object(&j, NULL);
  bs_json_string(&j, "rule", p->rule);
  bs_json_string(&j, "place", p->place);
  bs_json_string(&j, "verdict", p->verdict);
  bs_json_bool(&j, "all_sizes", p->all_sizes);
  bs_json_string(&j, "reason", p->reason);
  if (a->why)
    bs_json_string(&j, "not_for_all_sizes", a->why);
  bs_json_object(&j, "shapes");
  bs_json_int(&j, "looked_at", a->shapes);
  bs_json_int(&j, "proved", a->proved);
  bs_json_int(&j, "tested", a->tested);
  bs_json_int(&j, "unknown", a->unknown);
  bs_json_int(&j, "too_large", a->too_large);
  pv_json_looked(&j, &a->looked);
  bs_json_end(&j);
  bs_json_object(&j, "forms");
  bs_json_int(&j, "looked_at", a->forms);
  bs_json_int(&j, "for_all_sizes", a->general_forms);
  bs_json_end(&j);
  pv_json_counts(&j, "work", &a->work);
  if (a->shape && a->verdict != PV_PROVED)
    json_shape(&j, a);
  bs_json_end(&j);
  return api_string(ctx, &text);
}

/* ---- lines ---- */

static const char *
detail_of(glen_context *ctx, const pv_rule_answer *a) {
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  if (a->shape && a->verdict != PV_PROVED)
    pv_put_shape(&text, a);
  if (a->shapes && a->verdict != PV_PROVED && a->verdict != PV_REFUTED) {
    bs_put(&text, "  ");
    pv_put_looked(&text, &a->looked);
    bs_put(&text, "\n");
  }
  return api_string(ctx, &text);
}

static const char *
place_of(glen_context *ctx, const rl_rule *rule) {
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  bs_put_place(&ctx->diags, rule->span, &text);
  return api_string(ctx, &text);
}

bool
glen_rule_prove(glen_context *ctx, const glen_rules *rules, uint32_t k,
                const glen_prove_options *options, glen_proof *out) {
  glen_prove_options own;
  glen_prove_defaults(&own);
  if (!api_take_options(ctx, options, &own, sizeof own))
    return false;
  API_ENTER_STAGE(ctx, "the proof of a rule", 1, false);
  pv_rule_options how;
  pv_rule_answer answer;
  const rl_rule *rule = rl_at(rules->rules, k);
  pv_rule_defaults(&how);
  how.seed = own.seed;
  how.shapes = own.shapes;
  pv_prove_rule(&ctx->gs, rules->rules, rule, &how, &answer);
  *out = (glen_proof){.rule = rule->name,
                      .place = place_of(ctx, rule),
                      .verdict = pv_verdict_name(answer.verdict),
                      .reason = answer.reason,
                      .all_sizes = answer.verdict == PV_PROVED,
                      .shapes = answer.shapes,
                      .detail = detail_of(ctx, &answer)};
  out->json = json_of(ctx, out, &answer);
  return true;
}
