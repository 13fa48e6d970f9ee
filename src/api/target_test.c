/* SPDX-License-Identifier: MIT */
/* target_test.c - an instruction's template held against its semantics, as
 * texts. */
#include "api/api.h"
#include "codegen/run/instr_test.h"

enum { SHOWN_VALUES = 24 }; /* of an input */

uint32_t
glen_target_instrs(const glen_target *target) {
  return target->target->instrs.len + target->target->macs.len;
}

bool
glen_target_is_mapped_to(const glen_target *target) {
  return target->target->instrs.len > 0;
}

/* The k-th where it is one that multiplies and accumulates, which stand behind
 * the others; or NULL. */
static const gs_mac *
mac_of(const gs_target *t, uint32_t k) {
  return k < t->instrs.len ? NULL : t->macs.data[k - t->instrs.len];
}

const char *
glen_target_instr(const glen_target *target, uint32_t k) {
  const gs_mac *mac = mac_of(target->target, k);
  return mac ? mac->name : target->target->instrs.data[k]->name;
}

static const char *
verdict_name(cg_instr_verdict v) {
  static const char *const names[] = {"tested", "refuted", "untested"};
  return names[v];
}

static const char *
place_of(glen_context *ctx, bs_span span) {
  uint32_t line, column;
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  bs_put_place(&ctx->diags, span, &text);
  if (text.len) {
    bs_position(&ctx->diags, span, &line, &column);
    bs_putf(&text, ":%u", column);
  }
  return api_string(ctx, &text);
}

/* ---- lines ---- */

static void
put_index(bs_text *out, const cg_instr_answer *a) {
  bs_put(out, "  at [");
  for (uint32_t d = 0; d < a->rank; d++)
    bs_putf(out, "%s%lld", d ? ", " : "", (long long)a->index[d]);
  bs_put(out, "] of the result\n");
}

static void
put_input(bs_text *out, const cg_instr_input *in) {
  const gs_tensor *t = &in->tensor;
  bs_putf(out, "  %s =", in->name);
  for (int64_t k = 0; k < t->elements && k < SHOWN_VALUES; k++)
    bs_putf(out, " %.*g", gs_digits_shown(t->dtype), gs_tensor_get(t, k));
  bs_put(out, t->elements > SHOWN_VALUES ? " ...\n" : "\n");
}

static const char *
detail_of(glen_context *ctx, const cg_instr_answer *a) {
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  if (a->verdict == CG_INSTR_REFUTED) {
    bs_putf(&text, "  for %s\n  %s\n", a->sizes, a->program);
    if (a->differs)
      put_index(&text, a);
    for (uint32_t k = 0; k < a->n_inputs; k++)
      put_input(&text, &a->inputs[k]);
  }
  return api_string(ctx, &text);
}

/* ---- JSON ---- */

static void
json_difference(bs_json *j, const cg_instr_answer *a) {
  bs_json_string(j, "sizes", a->sizes);
  bs_json_string(j, "call", a->program);
  if (a->differs) {
    bs_json_array(j, "index");
    for (uint32_t d = 0; d < a->rank; d++)
      bs_json_int(j, NULL, a->index[d]);
    bs_json_end(j);
    bs_json_real(j, "expected", a->expected);
    bs_json_real(j, "found", a->found);
  }
  bs_json_array(j, "inputs");
  for (uint32_t k = 0; k < a->n_inputs; k++)
    api_json_input(j, a->inputs[k].name, &a->inputs[k].tensor);
  bs_json_end(j);
}

static const char *
json_of(glen_context *ctx, const glen_instr_test *t, const cg_instr_answer *a) {
  bs_text text;
  bs_json j;
  bs_text_init(&text, &ctx->heap);
  bs_json_init(&j, &text, 0);
  bs_json_object(&j, NULL);
  bs_json_string(&j, "instruction", t->instr);
  bs_json_string(&j, "place", t->place);
  bs_json_string(&j, "verdict", t->verdict);
  bs_json_string(&j, "reason", t->reason);
  bs_json_int(&j, "calls", a->calls);
  bs_json_int(&j, "shapes", a->shapes);
  bs_json_bool(&j, "sanitized", a->sanitized);
  if (a->verdict == CG_INSTR_REFUTED)
    json_difference(&j, a);
  bs_json_end(&j);
  return api_string(ctx, &text);
}

/* ---- the question ---- */

bool
glen_target_test(glen_context *ctx, const glen_target *tested, uint32_t k,
                 const glen_instr_options *o, glen_instr_test *out) {
  ctx->interrupt = 0;
  API_ENTER_LISTENING(ctx, false);
  const gs_target *target = tested->target;
  const gs_mac *mac = mac_of(target, k);
  const gs_instr *instr = mac ? NULL : target->instrs.data[k];
  cg_instr_options options;
  cg_instr_answer answer;
  cg_instr_defaults(&options);
  options.seed = o->seed;
  options.build.cc = o->cc;
  options.build.flags = o->flags;
  options.build.n_flags = o->n_flags;
  options.build.interrupt = &ctx->interrupt;
  if (mac ? !cg_test_mac(&ctx->gs, target, mac, &options, &answer)
          : !cg_test_instr(&ctx->gs, target, instr, &options, &answer))
    return false;
  *out =
      (glen_instr_test){.instr = mac ? mac->name : instr->name,
                        .place = place_of(ctx, mac ? mac->span : instr->span),
                        .verdict = verdict_name(answer.verdict),
                        .reason = answer.reason,
                        .detail = detail_of(ctx, &answer)};
  out->json = json_of(ctx, out, &answer);
  return true;
}
