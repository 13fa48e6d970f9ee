/* SPDX-License-Identifier: MIT */
/* lint_remark.c - remarks, and the variables and rules that they are about. */
#include "rules/lint/lint_internal.h"
#include <assert.h>
#include <stdarg.h>

const char *
rl_variable_at(const rl_linter *l, const rl_file *f, uint32_t node) {
  const char *name = node ? rl_symbol(l->rules, f, node) : NULL;
  return rl_is_variable(name) ? name : NULL;
}

void
rl_remark(const rl_linter *l, bs_span span, const char *code,
          const char *format, ...) {
  bs_diags *d = l->ctx->diags;
  uint32_t before = d->list.len;
  va_list args;
  if (!l->remarks)
    return;
  va_start(args, format);
  bs_text text;
  bs_text_init(&text, l->ctx->heap);
  bs_putv(&text, format, args);
  va_end(args);
  d->dropped = false;
  bs_note(d, span, "%s", bs_text_str(&text));
  if (d->list.len > before)
    bs_last(&d->list).code = code;
  bs_text_done(&text);
}

static rl_compiled *
compiled_named(const rl_rules *rules, const char *name) {
  uint32_t k = rl_index_of(rules, name);
  return k == BS_NO_ENTRY ? NULL : rules->compiled.data[k];
}

rl_compiled *
rl_variant_of(const rl_linter *l, const rl_written *w, int k, int way) {
  assert(k >= 0 && k < RL_VARIANTS && (way == 0 || way == 1));
  if (!k || !w->compiled[way])
    return w->compiled[way];
  return compiled_named(l->variants[k], w->compiled[way]->rule.name);
}
