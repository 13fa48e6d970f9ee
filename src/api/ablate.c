/* SPDX-License-Identifier: MIT */
/* ablate.c - what each rule is worth: a program saturated with all rules, then
 * without each of those that fired.
 *
 * A rule that did not fire with all the others could not be missed.  Each run
 * lives in a result of its own, which is freed before the next. */
#include "api/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef void (*on_rule)(void *ctx, uint32_t done, uint32_t of,
                        const char *rule);

typedef struct ablate_args {
  glen_context *ctx;
  const glen_program *program;
  const glen_rules *rules;
  const glen_target *target;
  glen_saturate_options options;
  const char *filter;
  on_rule progress;
  void *progress_ctx;
  glen_ablation *out;
  uint32_t n;
} ablate_args;

static void
note(glen_ablation *to, const glen_result *result) {
  glen_summary s;
  glen_result_summary(result, &s);
  to->stop = s.stop;
  to->iterations = s.iterations;
  to->nodes = s.nodes;
  to->classes = s.classes;
  to->cost = s.cost_after;
  to->seconds = s.seconds;
}

static bool
is_reverse(const char *name) {
  size_t n = strlen(name);
  return n > 4 && !strcmp(name + n - 4, "~rev");
}

/* Rules in the order of the files, one for both directions. */
static void
choose_rules(ablate_args *a, const glen_result *all) {
  const eg_rule_stats *stats = eg_runner_stats(all->run.runner);
  for (uint32_t k = 0; k < all->run.n_rules; k++) {
    const rl_rule *rule = rl_at(all->run.rules, k);
    bool twice = rule->both_ways && k + 1 < all->run.n_rules &&
                 is_reverse(rl_at(all->run.rules, k + 1)->name);
    bool fired = stats[k].applied || (twice && stats[k + 1].applied);
    if (!fired || is_reverse(rule->name) ||
        (a->filter && !strstr(rule->name, a->filter)))
      continue;
    glen_ablation *to = &a->out[a->n++];
    *to = (glen_ablation){.rule = rule->name, .cost = NAN, .stop = "failed"};
    for (uint32_t i = 0; i < all->n_used_rules; i++)
      to->led |= all->used_rules[i] == rule ||
                 (twice && all->used_rules[i] == rl_at(all->run.rules, k + 1));
  }
}

/* Diagnostics of a run without a rule are of no interest. */
static void
run_without(ablate_args *a, glen_ablation *to) {
  glen_saturate_options o = a->options;
  uint32_t shown = a->ctx->diags.list.len, errors = a->ctx->diags.errors;
  const char **disabled =
      bs_alloc(&a->ctx->heap, (o.n_disabled + (size_t)1) * sizeof *disabled);
  if (o.n_disabled)
    memcpy(disabled, o.disabled, o.n_disabled * sizeof *disabled);
  disabled[o.n_disabled++] = to->rule;
  o.disabled = disabled;
  glen_result *r = glen_saturate(a->ctx, a->program, a->rules, a->target, &o);
  if (r)
    note(to, r);
  glen_result_free(r);
  bs_free(&a->ctx->heap, disabled);
  a->ctx->diags.list.len = shown;
  a->ctx->diags.errors = errors;
}

/* What makes the result worse most stands first, then what costs most. */
static int
by_effect(const void *x, const void *y) {
  const glen_ablation *a = x, *b = y;
  double first = isnan(a->cost) ? INFINITY : a->cost;
  double second = isnan(b->cost) ? INFINITY : b->cost;
  if (first != second)
    return first > second ? -1 : 1;
  if (a->nodes != b->nodes)
    return a->nodes < b->nodes ? -1 : 1;
  return strcmp(a->rule, b->rule);
}

/* With all rules, and then without each that fired, until somebody interrupts.
 */
static bool
ablate(ablate_args *a) {
  glen_result *all =
      glen_saturate(a->ctx, a->program, a->rules, a->target, &a->options);
  if (!all)
    return false;
  a->out = BS_NEWS(&a->ctx->arena, glen_ablation, all->run.n_rules + (size_t)1);
  note(&a->out[a->n++], all);
  choose_rules(a, all);
  glen_result_free(all);
  bool stopped = a->ctx->interrupt != 0;
  for (uint32_t k = 1; k < a->n && !stopped; k++) {
    if (a->progress)
      a->progress(a->progress_ctx, k - 1, a->n - 1, a->out[k].rule);
    run_without(a, &a->out[k]);
    stopped = !strcmp(a->out[k].stop, eg_stop_name(EG_STOP_INTERRUPT));
    if (stopped)
      a->n = k;
  }
  qsort(a->out + 1, a->n - 1, sizeof *a->out, by_effect);
  return true;
}

const glen_ablation *
glen_rules_ablate(glen_context *ctx, const glen_program *program,
                  const glen_rules *rules, const glen_target *target,
                  const glen_saturate_options *options, const char *filter,
                  on_rule progress, void *progress_ctx, uint32_t *n) {
  ablate_args a = {.ctx = ctx,
                   .program = program,
                   .rules = rules,
                   .target = target,
                   .filter = filter,
                   .progress = progress,
                   .progress_ctx = progress_ctx};
  *n = 0;
  if (!api_saturate_options(ctx, options, &a.options))
    return NULL;
  a.options.progress = NULL;
  API_ENTER_LISTENING(ctx, NULL);
  if (!ablate(&a))
    return NULL;
  *n = a.n;
  return a.out;
}
