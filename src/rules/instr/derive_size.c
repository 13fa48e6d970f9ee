/* SPDX-License-Identifier: MIT */
/* derive_size.c - sizes of dimensions and expressions as text, with what they
 * take. */
#include "rules/instr/derive.h"
#include <assert.h>
#include <string.h>

const char *
rl_keep_text(const deriver *d, bs_text *t) {
  const char *s = bs_arena_strdup(d->ctx->arena, bs_text_str(t));
  bs_text_done(t);
  return s;
}

const char *
rl_expr_text(const deriver *d, const gs_expr *e) {
  bs_text t;
  bs_text_init(&t, d->ctx->heap);
  gs_put_expr(&t, d->ctx->values, &d->scope, e);
  return rl_keep_text(d, &t);
}

static void
note_use(void *uses, uint32_t slot, bs_span span) {
  (void)span;
  ((uint8_t *)uses)[slot] = 1;
}

const uint8_t *
rl_uses_of(const deriver *d, const gs_expr *e) {
  uint8_t *uses = BS_NEWS(d->ctx->arena, uint8_t, d->scope.vars.len + 1u);
  gs_expr_vars(e, note_use, uses);
  return uses;
}

size
rl_size_of(const deriver *d, const gs_expr *e) {
  size out = {.text = rl_expr_text(d, e),
              .uses = rl_uses_of(d, e),
              .plain = e->kind == GS_X_VAR ? (int)e->slot : -1};
  if (e->kind != GS_X_CALL || strcmp(gs_function_name(e->function), "*"))
    return out;
  size *factors = BS_NEWS(d->ctx->arena, size, e->n_args);
  for (uint32_t k = 0; k < e->n_args; k++)
    factors[k] = rl_size_of(d, e->args[k]);
  out.factors = factors;
  out.n_factors = e->n_args;
  return out;
}

size
rl_size_literal(const deriver *d, int64_t x) {
  const char *text = bs_arena_printf(d->ctx->arena, "%lld", (long long)x);
  return (size){.text = text, .plain = -1};
}

size
rl_size_product(const deriver *d, const size *s, uint32_t n) {
  assert(s && n);
  bs_text t;
  uint8_t *uses = BS_NEWS(d->ctx->arena, uint8_t, d->scope.vars.len + 1u);
  if (n == 1)
    return s[0];
  bs_text_init(&t, d->ctx->heap);
  bs_put(&t, "(*");
  for (uint32_t k = 0; k < n; k++) {
    bs_putf(&t, " %s", s[k].text);
    for (uint32_t v = 0; s[k].uses && v < d->scope.vars.len; v++)
      uses[v] |= s[k].uses[v];
  }
  bs_putc(&t, ')');
  return (size){.text = rl_keep_text(d, &t),
                .uses = uses,
                .plain = -1,
                .factors = bs_arena_copy(d->ctx->arena, s, n * sizeof *s),
                .n_factors = n};
}
