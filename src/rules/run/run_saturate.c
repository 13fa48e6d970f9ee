/* SPDX-License-Identifier: MIT */
/* run_saturate.c - the term -> e-graph step: a program becomes an e-graph and
 * the rules run on it.
 *
 * The compiled rules belong to the collection and are shared by all runs; what
 * changes while a run goes on (guards, facts) belongs to the run. */
#include "rules/rule/rule_internal.h"
#include <string.h>

/* --- the program ---------------------------------------------------------- */

static eg_class
add_node(eg_graph *g, const rl_session *s, const gs_node *n) {
  eg_class few[8], *kids = few, out;
  bs_heap *heap = s->ctx.heap;
  if (n->n_kids > 8)
    kids = bs_alloc(heap, n->n_kids * sizeof *kids);
  for (uint32_t k = 0; k < n->n_kids; k++)
    kids[k] = s->class_of[n->kids[k].i];
  out = eg_add(g, n->op, n->attr, kids, n->n_kids);
  if (kids != few)
    bs_free(heap, kids);
  return out;
}

/* Nodes are numbered in the order of their making while nothing is united. */
static void
note_place(eg_graph *g, rl_session *s, uint32_t before, bs_span span) {
  if (eg_count_nodes(g) > before)
    bs_push(s->ctx.heap, &s->places, span);
}

/* Terms stand after their children. */
static void
add_program(eg_graph *g, rl_session *s, bool all) {
  const gs_program *p = s->program;
  bs_heap *heap = s->ctx.heap;
  uint32_t n = p->nodes.len;
  uint8_t *live = bs_calloc(heap, n + (size_t)1, 1);
  s->class_of = bs_calloc(heap, n + (size_t)1, sizeof *s->class_of);
  gs_mark_live(p, live);
  for (uint32_t k = 0; k < n; k++) {
    uint32_t before = eg_count_nodes(g);
    s->class_of[k] =
        all || live[k] ? add_node(g, s, &p->nodes.data[k]) : EG_NO_CLASS;
    note_place(g, s, before, p->nodes.data[k].span);
  }
  bs_free(heap, live);
}

static void
find_outputs(rl_run *run) {
  const gs_program *p = run->session->program;
  run->n_outputs = p->outputs.len;
  run->outputs =
      bs_calloc(run->heap, p->outputs.len + (size_t)1, sizeof *run->outputs);
  for (uint32_t k = 0; k < p->outputs.len; k++)
    run->outputs[k] = run->session->class_of[p->outputs.data[k].term.i];
}

/* --- the rules ------------------------------------------------------------ */

static eg_rule
engine_rule(const rl_compiled *c, uint32_t id, rl_guard *guard) {
  eg_rule r = {.name = c->rule.name,
               .id = id,
               .pattern = c->pattern,
               .n_slots = c->n_slots,
               .results = c->results,
               .n_results = c->rule.n_right,
               .match_limit = c->match_limit};
  if (c->condition) {
    r.guard = rl_guard_ask;
    r.guard_ctx = guard;
    r.alternatives = c->condition->n_for > 0;
    r.steady = c->condition->steady;
  }
  return r;
}

/* The smaller of two limits, of which 0 is none. */
static uint64_t
tighter(uint64_t a, uint64_t b) {
  return a && (!b || a < b) ? a : b;
}

static void
make_rule(rl_run *run, const rl_compiled *c, uint32_t k, uint64_t match_limit) {
  if (c->condition)
    rl_guard_init(&run->guards[k], run->heap, run->session, c->condition, c);
  run->engine_rules[k] = engine_rule(c, k, &run->guards[k]);
  run->engine_rules[k].match_limit = tighter(c->match_limit, match_limit);
}

static void
make_rules(rl_run *run, const rl_rules *rules, const rl_options *options) {
  uint32_t n = rules->compiled.len;
  run->n_rules = n;
  run->engine_rules = bs_calloc(run->heap, n + (size_t)1, sizeof(eg_rule));
  run->guards = bs_calloc(run->heap, n + (size_t)1, sizeof(rl_guard));
  run->allowed = bs_calloc(run->heap, n + (size_t)1, 1);
  run->planned = bs_calloc(run->heap, n + (size_t)1, 1);
  for (uint32_t k = 0; k < n; k++) {
    const rl_compiled *c = rules->compiled.data[k];
    if (!options->only || options->only[k])
      make_rule(run, c, k, options->matches_a_rule);
    else
      run->engine_rules[k] =
          (eg_rule){.name = c->rule.name, .id = k, .pattern = c->pattern};
  }
}

/* --- from outside --------------------------------------------------------- */

bool
rl_start(const gs_context *ctx, const gs_program *program,
         const rl_rules *rules, const rl_options *options, bool all,
         rl_run *run) {
  eg_options o;
  *run = (rl_run){.rules = rules, .heap = ctx->heap};
  run->session = rl_session_new(ctx, rules->target, program);
  rl_session_options(run->session, &o);
  o.explain = options->explain;
  run->graph = eg_new(ctx->heap, ctx->values, &o);
  add_program(run->graph, run->session, all);
  find_outputs(run);
  make_rules(run, rules, options);
  run->runner = eg_runner_new(ctx->heap, run->graph, run->engine_rules,
                              run->n_rules, &options->run);
  if (eg_fault(run->graph) == EG_FINE)
    return true;
  run->stop = EG_STOP_FAULT;
  rl_report_fault(run);
  return false;
}

static void
list_strategies(const rl_rules *rules, const char *const *names, uint32_t n) {
  bs_text list;
  bs_text_init(&list, rules->ctx.heap);
  for (uint32_t k = 0; k < n; k++)
    bs_putf(&list, "%s%s", k ? ", " : "", names[k]);
  bs_hint(rules->ctx.diags, "strategies here: %s", bs_text_str(&list));
  bs_text_done(&list);
}

static bool
unknown_strategy(const rl_rules *rules, const char *name) {
  uint32_t n = rules->strategies.len;
  const char **names = BS_NEWS(rules->ctx.arena, const char *, n + (size_t)1);
  for (uint32_t k = 0; k < n; k++)
    names[k] = rules->strategies.data[k].name;
  bs_error(rules->ctx.diags, BS_NOWHERE, "unknown-strategy",
           "no rule file has a strategy named '%s'", name);
  if (n && !bs_nearest(name, names, n))
    list_strategies(rules, names, n);
  else
    rl_suggest(rules, name, names, n);
  return false;
}

static bool
find_strategy(const rl_rules *rules, const char *name,
              const rl_strategy **out) {
  *out = rl_find_strategy(rules, name ? name : "main");
  return *out || !name || unknown_strategy(rules, name);
}

static bool
plan_run(rl_run *run, const rl_options *options, const uint8_t *allowed,
         bool plain) {
  const rl_strategy *strategy = NULL;
  if (!plain && !find_strategy(run->rules, options->strategy, &strategy))
    return false;
  for (uint32_t k = 0; k < run->n_rules; k++)
    run->allowed[k] = run->planned[k] = !allowed || allowed[k];
  run->exact = options->exact;
  if (strategy) {
    memset(run->planned, 0, run->n_rules);
    rl_list_phases(run, strategy, options->alone, options->quiet);
  }
  return true;
}

bool
rl_go(rl_run *run, const rl_options *options, const uint8_t *allowed,
      bool plain) {
  if (!plan_run(run, options, allowed, plain))
    return false;
  rl_run_phases(run, &options->run);
  run->session->finished = true;
  for (uint32_t k = 0; k < run->n_outputs; k++)
    run->outputs[k] = eg_find(run->graph, run->outputs[k]);
  if (run->stop != EG_STOP_FAULT)
    return true;
  rl_report_fault(run);
  return false;
}

/* All rules but the disabled ones, and those that may change a float. */
static bool
allow(const rl_rules *rules, const gs_program *program, const rl_options *o,
      uint8_t *allowed) {
  bool ok = true;
  memset(allowed, 1, rules->compiled.len);
  for (uint32_t k = 0; k < o->n_disabled; k++) {
    const uint8_t *mask = rl_mask_find(rules, o->disabled[k]);
    if (!mask)
      ok = rl_unknown_set(rules, BS_NOWHERE, o->disabled[k]);
    for (uint32_t i = 0; mask && i < rules->compiled.len; i++)
      allowed[i] &= !mask[i];
  }
  for (uint32_t i = 0; o->only && i < rules->compiled.len; i++)
    allowed[i] &= o->only[i];
  bool exact = o->exact && rl_has_floats(program);
  for (uint32_t i = 0; exact && i < rules->compiled.len; i++)
    allowed[i] &= rl_is_exact(rules, i);
  return ok;
}

static bool
start(const gs_context *ctx, const gs_program *program, const rl_rules *rules,
      const rl_options *options, rl_run *run,
      bool (*then)(rl_run *, const rl_options *, const uint8_t *, bool)) {
  *run = (rl_run){0};
  uint8_t *allowed = bs_alloc(ctx->heap, rules->compiled.len + (size_t)1);
  bool ok = allow(rules, program, options, allowed) &&
            rl_start(ctx, program, rules, options, false, run) &&
            then(run, options, allowed, false);
  bs_free(ctx->heap, allowed);
  return ok;
}

bool
rl_saturate(const gs_context *ctx, const gs_program *program,
            const rl_rules *rules, const rl_options *options, rl_run *run) {
  return start(ctx, program, rules, options, run, rl_go);
}

bool
rl_begin(const gs_context *ctx, const gs_program *program,
         const rl_rules *rules, const rl_options *options, rl_run *run) {
  return start(ctx, program, rules, options, run, plan_run);
}

void
rl_run_done(rl_run *run) {
  if (!run->heap)
    return;
  eg_runner_free(run->runner);
  for (uint32_t k = 0; run->guards && k < run->n_rules; k++)
    rl_guard_done(&run->guards[k], run->heap);
  bs_free(run->heap, run->guards);
  bs_free(run->heap, run->allowed);
  bs_free(run->heap, run->planned);
  bs_free(run->heap, run->phases);
  bs_free(run->heap, run->engine_rules);
  bs_free(run->heap, run->outputs);
  eg_free(run->graph);
  rl_session_free(run->session);
  *run = (rl_run){0};
}
