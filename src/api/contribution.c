/* SPDX-License-Identifier: MIT */
/* contribution.c - what each rule did for the result.
 *
 * The explanation of the result is a chain of rule applications from the
 * input's outputs to the extracted ones.  The rules on it are those that led
 * there, and the number of their steps is their share.  Where there is no
 * chain, or it is too long, what provenance.c found by going back from the
 * chosen nodes stays. */
#include "api/api.h"
#include "rules/explain/explain.h"

enum { MOST_STEPS = 100000 };
#define MOST_BYTES ((size_t)1 << 30)

typedef struct count_args {
  glen_result *result;
  bs_heap heap; /* of the chain */
} count_args;

static uint32_t
index_of(const glen_result *r, const rl_rule *rule) {
  for (uint32_t k = 0; k < r->run.n_rules; k++)
    if (rl_at(r->run.rules, k) == rule)
      return k;
  return UINT32_MAX;
}

/* Steps come in runs of one rule. */
static void
count_chain(glen_result *r, const rl_chain *chain) {
  const rl_rule *last = NULL;
  uint32_t at = UINT32_MAX;
  for (uint32_t k = 0; k < chain->n; k++) {
    if (chain->links[k].rule != last)
      at = index_of(r, last = chain->links[k].rule);
    if (at == UINT32_MAX)
      continue;
    if (!r->steps_of[at]++ && r->n_used_rules < API_MAX_USED_RULES)
      r->used_rules[r->n_used_rules++] = last;
  }
}

static void
count(void *arg) {
  count_args *a = arg;
  glen_result *r = a->result;
  gs_context own = r->gs;
  bs_arena arena;
  rl_explanation x;
  bs_arena_init(&arena, &a->heap);
  own.heap = &a->heap;
  own.arena = &arena;
  if (!rl_explain(&own, &r->run, r->input, r->program.program, MOST_STEPS, &x))
    return;
  r->steps_of = BS_NEWS(&r->arena, uint32_t, r->run.n_rules + (size_t)1);
  r->n_used_rules = 0;
  for (uint32_t k = 0; k < x.n_chains; k++)
    count_chain(r, &x.chains[k]);
  for (uint32_t k = 0; k < x.n_lemmas; k++)
    count_chain(r, &x.lemmas[k]);
}

void
api_count_steps(glen_result *r) {
  count_args a = {.result = r};
  bs_heap_init_child(&a.heap, &r->heap, MOST_BYTES);
  bs_protect(&a.heap, count, &a);
  bs_heap_done(&a.heap);
}
