/* SPDX-License-Identifier: MIT */
/* lint_grow.c - types of a left side that is grown so that its parts fit.
 *
 * Types that are drawn one by one fit together by chance, which gets less with
 * each variable: of sixteen operands of sums, all have to be the same.  Where
 * no such draw fits, the left side is grown as terms, as for proofs: one
 * operand of an operator is made, and says which type the other one has to
 * have, which goes down to its variables.  Only the types are taken of it. */
#include "rules/lint/lint_internal.h"

/* The variables of a concat of many have one dimension together. */
static const rl_sample_sizes small = {6, 4, (int64_t)1 << 30};

typedef struct growing {
  const rl_grown *to;
  bs_heap heap;
  uint64_t *random;
  gs_dtype dtype;
  gs_type *root;
  bool fits;
} growing;

static void
take_types(const rl_grown *to, const rl_sampler *s) {
  const gs_scope *scope = &to->rule->rule.scope;
  for (uint32_t k = 0; k < to->rule->n_bound; k++) {
    to->slots[k] = s->slots[k];
    if (s->slots[k] == UINT32_MAX || scope->vars.data[k].sort != GS_SORT_CLASS)
      continue;
    gs_type_at(s->p, (gs_term){s->slots[k]}, &to->types[k]);
    to->slots[k] = k;
  }
}

static void
grow(void *arg) {
  growing *g = arg;
  const rl_grown *to = g->to;
  bs_arena arena;
  bs_diags diags;
  bs_arena_init(&arena, &g->heap);
  bs_diags_init(&diags, &g->heap);
  gs_context ctx = {&g->heap, &arena, to->ctx->values, &diags};
  rl_sampler s = {.ctx = ctx,
                  .target = to->rules->target,
                  .parts = &to->parts,
                  .sizes = small,
                  .random = *g->random,
                  .dtype = g->dtype,
                  .asked = GS_COMPUTE_COUNT,
                  .numbers = &to->numbers,
                  .upward = *g->random % 2,
                  .p = gs_program_new(&ctx, to->rules->target)};
  s.slots = bs_calloc(&g->heap, s.parts->n_slots + (size_t)1, sizeof *s.slots);
  s.growing = bs_calloc(&g->heap, s.parts->n_parts + (size_t)1, 1);
  gs_term root = rl_sample_terms(&s);
  *g->random = s.random;
  g->fits = gs_term_ok(root);
  if (!g->fits)
    return;
  gs_type_at(s.p, root, g->root);
  take_types(to, &s);
}

void
rl_lint_grow_init(const gs_context *ctx, const rl_rules *rules,
                  const rl_compiled *rule, uint32_t *slots, gs_type *types,
                  rl_grown *to) {
  to->ctx = ctx;
  to->rules = rules;
  to->rule = rule;
  to->slots = slots;
  to->types = types;
  rl_parts_of(rules, &rule->rule, &to->parts);
  rl_numbers_of(ctx->values, &to->parts, &to->numbers);
}

bool
rl_lint_grow(const rl_grown *to, uint64_t *random, gs_dtype dtype,
             gs_type *root) {
  bs_heap *heap = to->ctx->heap;
  growing g = {.to = to, .random = random, .dtype = dtype, .root = root};
  bs_heap_init_child(&g.heap, heap, 0);
  bool enough = bs_protect(heap, grow, &g);
  bs_heap_done(&g.heap);
  if (!enough)
    bs_out_of_memory(heap);
  return g.fits;
}
