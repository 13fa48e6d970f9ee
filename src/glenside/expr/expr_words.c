/* SPDX-License-Identifier: MIT */
/* expr_words.c - words that a comparison can never meet.
 *
 * What some functions return is one of a closed set of words.  A literal that
 * such a call is compared with, or looked for in a list of literals, must be
 * one of them: else the condition could never hold, or always. */
#include "glenside/expr/expr_functions.h"
#include <assert.h>
#include <string.h>

enum { MOST_WORDS = 64 };

typedef struct words {
  const char *of; /* the function */
  const char *name[MOST_WORDS];
  uint32_t n;
} words;

_Static_assert((int)GS_COMPUTE_COUNT <= (int)MOST_WORDS, "room for operators");

/* The words that an expression may be; false: it may be anything. */
static bool
words_of(const gs_expr *e, words *out) {
  *out = (words){0};
  if (e->kind != GS_X_CALL)
    return false;
  out->of = gs_function_name(e->function);
  if (e->function == GS_F_OP_KIND)
    for (int k = 0; k < GS_COMPUTE_KINDS; k++)
      out->name[out->n++] = gs_kind_words[k];
  else if (e->function == GS_F_OP_NAME)
    for (int k = 0; k < GS_COMPUTE_COUNT; k++)
      out->name[out->n++] = gs_compute_table[k].name;
  return out->n > 0;
}

static bool
check_word(const gs_context *ctx, const words *w, bs_value v, bs_span span) {
  bool symbol = bs_kind_of(ctx->values, v) == BS_KIND_SYM;
  const char *word = symbol ? bs_as_sym(ctx->values, v) : NULL;
  for (uint32_t k = 0; k < w->n && word; k++)
    if (!strcmp(w->name[k], word))
      return true;
  bs_error(ctx->diags, span, "unknown-word", "%s%s%s is nothing that '%s' says",
           word ? "'" : "this", word ? word : "", word ? "'" : "", w->of);
  const char *near = word ? bs_nearest(word, w->name, w->n) : NULL;
  if (near)
    bs_meant(ctx->diags, "'", near);
  return false;
}

/* A literal that a parameter set is what the user wants, word or not. */
static bool
check_literal(const gs_context *ctx, const words *w, const gs_expr *e) {
  return e->kind != GS_X_LITERAL || e->settable ||
         check_word(ctx, w, e->literal, e->span);
}

/* A list as a literal, or as a call with literals in it. */
static bool
check_list(const gs_context *ctx, const words *w, const gs_expr *e) {
  bool ok = true;
  bool literal = e->kind == GS_X_LITERAL && !e->settable &&
                 bs_kind_of(ctx->values, e->literal) == BS_KIND_LIST;
  for (uint32_t k = 0; literal && k < bs_len(ctx->values, e->literal); k++)
    ok &= check_word(ctx, w, bs_item(ctx->values, e->literal, k), e->span);
  if (e->kind == GS_X_CALL && e->function == GS_F_LIST)
    for (uint32_t k = 0; k < e->n_args; k++)
      ok &= check_literal(ctx, w, e->args[k]);
  return ok;
}

bool
gs_check_words(const gs_context *ctx, int function, const gs_expr *const *args,
               uint32_t n) {
  assert(function >= 0 && function < GS_FUNCTION_COUNT);
  words w;
  bool ok = true;
  if (function == GS_F_MEMBER && n == 2)
    return !words_of(args[1], &w) || check_list(ctx, &w, args[0]);
  if (function != GS_F_EQ && function != GS_F_NE)
    return true;
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < n && words_of(args[k], &w); i++)
      ok &= i == k || check_literal(ctx, &w, args[i]);
  return ok;
}
