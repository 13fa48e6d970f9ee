/* SPDX-License-Identifier: MIT */
/* rules_check.c - what is wrong in rule files; the functions of expressions. */
#include "api/api.h"
#include "glenside/expr.h"
#include "rules/lint/lint.h"

enum { MAX_FINDINGS = 1000 }; /* of each severity; later ones are counted */

typedef struct check_args {
  glen_context *ctx;
  const glen_target *target;
  const glen_check_options *options;
  glen_check_counts *out;
  bool json;
  const char *text;
} check_args;

static void
check_body(void *arg) {
  check_args *a = arg;
  const glen_check_options *o = a->options;
  bs_diags *diags = &a->ctx->diags;
  rl_lint_counts counts;
  uint32_t errors = diags->errors, warnings = diags->warnings;
  uint32_t first = diags->list.len;
  diags->limit = MAX_FINDINGS;
  rl_rules *rules = rl_new(&a->ctx->gs, a->target ? a->target->target : NULL);
  bool ok = api_load_rules(a->ctx, rules, o->paths, o->n_paths);
  for (uint32_t k = 0; ok && k < o->n_params; k++)
    ok = api_set_param(a->ctx, rules, o->params[k]);
  if (ok)
    rl_finish(rules);
  rl_lint(&a->ctx->gs, rules, o->remarks, &counts);
  *a->out = (glen_check_counts){.files = counts.files,
                                .rules = counts.rules,
                                .tried = counts.tried,
                                .errors = diags->errors - errors,
                                .warnings = diags->warnings - warnings};
  for (uint32_t k = first; k < diags->list.len; k++)
    a->out->remarks += diags->list.data[k].severity == BS_NOTE &&
                       diags->list.data[k].code != NULL;
}

bool
glen_rules_check(glen_context *ctx, const glen_target *target,
                 const glen_check_options *options, glen_check_counts *out) {
  check_args a = {.ctx = ctx, .target = target, .options = options, .out = out};
  *out = (glen_check_counts){0};
  return api_enter(ctx, check_body, &a) && !out->errors;
}

/* ---- the functions of expressions ---- */

static void
json_function(bs_json *j, const gs_function_info *f) {
  bs_json_object(j, NULL);
  bs_json_string(j, "name", f->name);
  bs_json_array(j, "arguments");
  for (const char *at = f->args; *at; at++)
    if (*at != '|')
      bs_json_string(j, NULL, gs_letter_word(*at));
  bs_json_end(j);
  bs_json_int(j, "least", f->min_args);
  if (f->max_args == GS_MAX_ARGUMENTS)
    bs_json_null(j, "most");
  else
    bs_json_int(j, "most", f->max_args);
  bs_json_string(j, "result", gs_letter_word(f->result));
  bs_json_string(j, "doc", f->doc);
  bs_json_end(j);
}

static void
json_functions(bs_text *text) {
  bs_json j;
  bs_json_init(&j, text, 2);
  bs_json_object(&j, NULL);
  bs_json_int(&j, "schema", 1);
  bs_json_array(&j, "functions");
  for (uint16_t k = 0; k < gs_function_count(); k++)
    json_function(&j, gs_function_at(k));
  bs_json_end(&j);
  bs_json_end(&j);
  bs_putc(text, '\n');
}

static void
functions_body(void *arg) {
  check_args *a = arg;
  bs_text text;
  bs_text_init(&text, &a->ctx->heap);
  if (a->json)
    json_functions(&text);
  else
    gs_put_functions(&text);
  a->text = api_string(a->ctx, &text);
}

const char *
glen_rules_functions(glen_context *ctx, bool json) {
  check_args a = {.ctx = ctx, .json = json, .text = ""};
  api_enter(ctx, functions_body, &a);
  return a.text;
}
