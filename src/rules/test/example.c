/* SPDX-License-Identifier: MIT */
/* example.c - a small instance of a rule; see example.h.
 *
 * The terms are those of test_sample.c; that the condition holds is told by
 * running the rule on them for one iteration. */
#include "rules/test/example.h"
#include "rules/test/test_sample.h"
#include <string.h>

enum { ATTEMPTS = 60, SMALL = 64 };

typedef struct finder {
  const gs_context *outer;
  gs_context ctx;
  bs_heap heap;
  bs_arena arena;
  const rl_rules *rules;
  const rl_rule *rule;
  uint32_t index;
  uint64_t seed;
  rl_sample sample;
  rl_example *out;
  bool found;
} finder;

typedef struct pair {
  uint32_t node;
  gs_term term;
} pair;

/* The pattern and the term, side by side. */
static void
note_types(finder *f, gs_term root) {
  const gs_skeleton *left = f->rule->left;
  const gs_program *p = f->sample.p;
  BS_VEC(pair) stack = {0};
  bs_push(&f->heap, &stack, (pair){left->n - 1, root});
  while (stack.len) {
    pair at = bs_pop(&stack);
    const gs_sk_node *s = &left->nodes[at.node];
    const gs_node *node = gs_at(p, at.term);
    gs_type_at(p, at.term, &f->out->types[at.node]);
    f->out->known[at.node] = 1;
    bool alike = !s->hole && s->op == node->op && s->n_kids == node->n_kids;
    for (uint32_t k = 0; alike && k < s->n_kids; k++)
      bs_push(&f->heap, &stack, (pair){s->kids[k], node->kids[k]});
  }
}

static bool
applies(finder *f) {
  rl_options o = {0};
  rl_run run;
  uint8_t *allowed = BS_NEWS(&f->arena, uint8_t, rl_count(f->rules));
  allowed[f->index] = 1;
  o.only = allowed;
  eg_run_defaults(&o.run);
  o.run.iterations = 1;
  o.run.nodes = 1000;
  return rl_start(&f->ctx, f->sample.p, f->rules, &o, false, &run) &&
         rl_go(&run, &o, allowed, true) &&
         eg_runner_stats(run.runner)[f->index].applied;
}

static void
try_once(void *arg) {
  finder *f = arg;
  gs_term root;
  bs_arena_init(&f->arena, &f->heap);
  f->ctx = *f->outer;
  f->ctx.heap = &f->heap;
  f->ctx.arena = &f->arena;
  f->sample =
      (rl_sample){.ctx = &f->ctx,
                  .p = gs_program_new(&f->ctx, f->rules->target),
                  .state = f->seed,
                  .dtype = f->seed % 4 ? GS_F32 : GS_I32,
                  .max_elements = f->seed < ATTEMPTS / 2 ? SMALL : 64 * SMALL};
  if (!rl_sample_left(&f->sample, f->rules->compiled.data[f->index], &root))
    return;
  gs_add_output(f->sample.p, "out", root, BS_NOWHERE);
  f->found = applies(f);
  if (f->found)
    note_types(f, root);
}

/* Each attempt has memory of its own; nobody sees its diagnostics. */
static void
attempt(finder *f) {
  bs_diags *d = f->outer->diags;
  uint32_t diags = d->list.len, errors = d->errors;
  bs_heap_init_child(&f->heap, f->outer->heap, 0);
  bool ok = bs_protect(f->outer->heap, try_once, f);
  bs_heap_done(&f->heap);
  d->list.len = diags;
  d->errors = errors;
  if (!ok)
    bs_out_of_memory(f->outer->heap);
}

static bool
index_of(const rl_rules *rules, const rl_rule *rule, uint32_t *out) {
  for (*out = 0; *out < rl_count(rules); ++*out)
    if (rl_at(rules, *out) == rule)
      return true;
  return false;
}

bool
rl_find_example(const gs_context *ctx, const rl_rules *rules,
                const rl_rule *rule, rl_example *out) {
  finder *f = bs_calloc(ctx->heap, 1, sizeof *f);
  *f = (finder){.outer = ctx, .rules = rules, .rule = rule, .out = out};
  out->types = BS_NEWS(ctx->arena, gs_type, rule->left->n + (size_t)1);
  out->known = BS_NEWS(ctx->arena, uint8_t, rule->left->n + (size_t)1);
  bool found = false;
  if (rules->finished && index_of(rules, rule, &f->index))
    for (f->seed = 1; !found && f->seed <= ATTEMPTS; f->seed++) {
      attempt(f);
      found = f->found;
    }
  bs_free(ctx->heap, f);
  return found;
}
