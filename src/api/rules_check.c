/* SPDX-License-Identifier: MIT */
/* rules_check.c - what is wrong in rule files; the functions of expressions. */
#include "api/api.h"
#include "glenside/expr/expr.h"
#include "rules/lint/lint.h"

enum { MAX_FINDINGS = 1000 }; /* of each severity; later ones are counted */

static uint32_t
count_remarks(const bs_diags *diags, uint32_t first) {
  uint32_t n = 0;
  for (uint32_t k = first; k < diags->list.len; k++)
    n += diags->list.data[k].severity == BS_NOTE &&
         diags->list.data[k].code != NULL;
  return n;
}

bool
glen_rules_check(glen_context *ctx, const glen_target *target,
                 const glen_check_options *o, glen_check_counts *out) {
  *out = (glen_check_counts){0};
  API_ENTER(ctx, false);
  bs_diags *diags = &ctx->diags;
  rl_lint_counts counts;
  uint32_t errors = diags->errors, warnings = diags->warnings;
  uint32_t first = diags->list.len;
  diags->limit = MAX_FINDINGS;
  rl_rules *rules = rl_new(&ctx->gs, target ? target->target : NULL);
  bool ok = api_load_rules(ctx, rules, o->paths, o->n_paths);
  for (uint32_t k = 0; ok && k < o->n_params; k++)
    ok = api_set_param(ctx, rules, o->params[k]);
  if (ok)
    rl_finish(rules);
  rl_lint(&ctx->gs, rules, o->remarks, &counts);
  *out = (glen_check_counts){.files = counts.files,
                             .rules = counts.rules,
                             .tried = counts.tried,
                             .errors = diags->errors - errors,
                             .warnings = diags->warnings - warnings,
                             .remarks = count_remarks(diags, first)};
  return !out->errors;
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

const char *
glen_rules_functions(glen_context *ctx, bool json) {
  API_ENTER(ctx, "");
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  if (json)
    json_functions(&text);
  else
    gs_put_functions(&text);
  return api_string(ctx, &text);
}
