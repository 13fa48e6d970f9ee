/* SPDX-License-Identifier: MIT */
/* near_size.c - up to which sizes a condition would hold.
 *
 * Of a bound on several sizes, such as the bytes of two operands, each size by
 * itself may be the one to be smaller. */
#include "rules/explain/near_text.h"
#include <assert.h>
#include <string.h>

enum { MOST_SIZES = 4 };

typedef struct sizes {
  uint32_t n, slot[MOST_SIZES];
} sizes;

static void
note(void *arg, uint32_t slot, bs_span span) {
  sizes *s = arg;
  (void)span;
  for (uint32_t k = 0; k < s->n; k++)
    if (s->slot[k] == slot)
      return;
  if (s->n < MOST_SIZES)
    s->slot[s->n++] = slot;
}

static bool
is_size(const gs_scope *scope, const gs_env *env, uint32_t slot, int64_t *out) {
  assert(slot < scope->vars.len);
  if (scope->vars.data[slot].sort != GS_SORT_INT ||
      env->slots[slot] == UINT32_MAX)
    return false;
  bs_value v = {env->slots[slot]};
  if (bs_kind_of(env->values, v) != BS_KIND_INT)
    return false;
  *out = bs_as_int(env->values, v);
  return *out > 1;
}

/* The largest one below `have` of which the condition holds, if it holds of all
 * below that; 0: none. */
static int64_t
largest(const gs_env *env, const gs_expr *e, uint32_t *slots, uint32_t slot,
        int64_t have) {
  gs_env at = *env;
  uint32_t was = slots[slot];
  int64_t low = 0, high = have;
  at.slots = slots;
  while (high - low > 1) {
    int64_t v = low + (high - low) / 2;
    slots[slot] = bs_int(env->values, v).i;
    if (gs_expr_test(e, &at))
      low = v;
    else
      high = v;
  }
  slots[slot] = was;
  return low;
}

const char *
rl_hint_sizes(const gs_context *ctx, const gs_scope *scope, const gs_env *env,
              const gs_expr *e) {
  sizes s = {0};
  bs_text text;
  uint32_t *slots = bs_arena_copy(ctx->arena, env->slots,
                                  (env->n_slots + 1u) * sizeof *slots);
  gs_expr_vars(e, note, &s);
  bs_text_init(&text, ctx->heap);
  for (uint32_t k = 0; k < s.n; k++) {
    int64_t have, most = is_size(scope, env, s.slot[k], &have)
                             ? largest(env, e, slots, s.slot[k], have)
                             : 0;
    if (!most)
      continue;
    bs_putf(&text, "%s ?%s = %lld into parts of %s%lld",
            text.len ? ", or" : "split", scope->vars.data[s.slot[k]].name,
            (long long)have, have % most ? "at most " : "", (long long)most);
  }
  const char *hint =
      text.len ? bs_arena_strdup(ctx->arena, bs_text_str(&text)) : NULL;
  bs_text_done(&text);
  return hint;
}
