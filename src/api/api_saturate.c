/* SPDX-License-Identifier: MIT */
/* api_saturate.c - the main job, readable in `saturate`:
 * program -> e-graph -> cheapest choice -> program. */
#include "api/api_saturate.h"
#include "base/file.h"
#include "extract/extract_egraph.h"

#include <math.h>
#include <string.h>

enum { PROGRESS_NODES = 200000 };

void
glen_saturate_defaults_of(glen_saturate_options *out, size_t size) {
  static const glen_saturate_options own = {.size = sizeof own,
                                            .iterations = 1000,
                                            .nodes = 2000000,
                                            .bytes = (size_t)8 << 30,
                                            .work = (uint64_t)1 << 29,
                                            .extractor = GLEN_EXTRACT_DAG,
                                            .extract_seconds = 10};
  api_give_options(&own, sizeof own, out, size);
}

/* For callers that have no macros: the struct is that of this library. */
void(glen_saturate_defaults)(glen_saturate_options *out) {
  glen_saturate_defaults_of(out, sizeof *out);
}

bool
api_saturate_options(glen_context *ctx, const glen_saturate_options *given,
                     glen_saturate_options *own) {
  glen_saturate_defaults(own);
  return api_take_options(ctx, given, own, sizeof *own);
}

/* ---- progress ---- */

/* What the tree extractor would pay now; only shown. */
static double
best_cost(api_saturation *a, const eg_graph *g) {
  glen_result *r = a->result;
  ex_pricer pricer = api_pricer_of(r);
  ex_options options = {0};
  ex_bridge bridge;
  ex_solution s;
  double cost = NAN;
  if (!r->run.outputs)
    return cost;
  ex_from_egraph(&r->heap, g, r->run.outputs, r->run.n_outputs, ex_price_enode,
                 &pricer, &bridge);
  if (ex_solve(&bridge.problem, EX_TREE, &options, &s))
    cost = s.dag_cost;
  ex_solution_done(&bridge.problem, &s);
  ex_bridge_done(&bridge);
  return cost;
}

/* The e-nodes that each rule made since the iteration before. */
static void
note_growth(glen_result *r, const eg_iteration *it) {
  const eg_rule_stats *stats = eg_runner_stats(r->run.runner);
  if (!r->made)
    r->made = bs_calloc(&r->heap, r->run.n_rules + (size_t)1, sizeof *r->made);
  for (uint32_t k = 0; k < r->run.n_rules; k++) {
    if (stats[k].nodes != r->made[k])
      bs_push(&r->heap, &r->growth,
              (api_growth){it->index, k, stats[k].nodes - r->made[k]});
    r->made[k] = stats[k].nodes;
  }
}

static bool
on_iteration(void *ctx, const eg_graph *g, const eg_iteration *it) {
  api_saturation *a = ctx;
  if (a->options->growth)
    note_growth(a->result, it);
  if (a->options->progress) {
    glen_progress p = {.iteration = it->index + 1,
                       .nodes = it->nodes,
                       .classes = it->classes,
                       .seconds = bs_now() - a->started,
                       .best_cost = NAN};
    if (a->options->progress_cost && it->nodes <= PROGRESS_NODES)
      p.best_cost = best_cost(a, g);
    a->options->progress(a->options->progress_ctx, &p);
  }
  return true;
}

/* ---- the run ---- */

rl_options
api_run_options(glen_context *ctx, const glen_saturate_options *o, bool explain,
                api_after_iteration *progress, void *progress_ctx) {
  rl_options out = {.strategy = o->strategy,
                    .disabled = o->disabled,
                    .n_disabled = o->n_disabled,
                    .exact = o->strict_fp,
                    .matches_a_rule = o->matches_a_rule,
                    .explain = explain};
  eg_run_defaults(&out.run);
  out.run.iterations = o->iterations;
  out.run.nodes = o->nodes;
  out.run.bytes = o->bytes;
  out.run.seconds = o->seconds;
  out.run.work = o->work;
  out.run.scheduler = o->backoff ? EG_BACKOFF : EG_SIMPLE;
  out.run.interrupt = &ctx->interrupt;
  out.run.progress = progress;
  out.run.progress_ctx = progress_ctx;
  return out;
}

static bool
blames_rule(const char *code) {
  return code &&
         (!strcmp(code, "unsound-rule") || !strcmp(code, "ill-typed-rule"));
}

static void
note_fault(glen_context *ctx) {
  for (uint32_t k = 0; k < ctx->diags.list.len; k++)
    if (blames_rule(ctx->diags.list.data[k].code))
      ctx->failure = GLEN_REFUTED;
}

/* The parts of the time and of the memory that a saturation may take, so that
 * a program can be extracted and compiled within the rest: an extraction takes
 * up to twice the memory of the graph it is from. */
static const double OF_TIME = 0.5, OF_MEMORY = 0.4;

/* The phases share out somewhat less than the stage has, so that none of them
 * meets its end, which would be the end of those behind it, too. */
static double
seconds_of_rules(const bs_governor *g, double most) {
  double left = 0.95 * bs_stage_seconds(g);
  if (isinf(left))
    return most;
  return most > 0 && most < left ? most : left;
}

static bool
run_rules(api_saturation *a) {
  glen_result *r = a->result;
  const glen_saturate_options *o = a->options;
  bs_governor *g = &a->ctx->governor;
  rl_options options = api_run_options(a->ctx, o, o->explain || o->contribution,
                                       on_iteration, a);
  bs_stage before = bs_stage_begin(g, "saturation", OF_TIME, OF_MEMORY);
  size_t room = bs_stage_room(g, a->ctx->heap.used);
  if (room != SIZE_MAX) {
    options.run.bytes = o->bytes && o->bytes < room ? o->bytes : room;
    r->heap.limit = room + room / 4;
  }
  options.run.seconds = seconds_of_rules(g, o->seconds);
  options.quiet = a->quiet;
  bool ok = rl_saturate(&r->gs, r->input, a->rules->rules, &options, &r->run);
  r->heap.limit = 0;
  bs_stage_end(g, before);
  return ok;
}

/* The rule that took too much. */
static void
warn_of_work(api_saturation *a) {
  uint32_t k = eg_runner_fault_rule(a->result->run.runner);
  const rl_rules *rules = a->rules->rules;
  if (k >= rl_count(rules))
    return;
  const rl_rule *rule = rl_at(rules, k);
  bs_warning(&a->ctx->diags, rule->span, "work-limit",
             "work limit: the search for '%s' was stopped, and the saturation "
             "with it",
             rule->name);
  bs_hint(&a->ctx->diags, "parts of a pattern that share no variable match in "
                          "all combinations; --work-limit allows for more");
}

bool
api_explore(api_saturation *a) {
  glen_result *r = a->result;
  if (!run_rules(a)) {
    note_fault(a->ctx);
    return false;
  }
  if (r->run.stop == EG_STOP_WORK && !a->quiet)
    warn_of_work(a);
  api_note_stop(r);
  r->summary.nodes = eg_count_nodes(r->run.graph);
  r->summary.classes = eg_count_classes(r->run.graph);
  r->summary.bytes = eg_bytes(r->run.graph);
  const eg_iteration *its =
      eg_runner_iterations(r->run.runner, &r->summary.iterations);
  for (uint32_t k = 0; k < r->summary.iterations; k++) {
    r->summary.search_s += its[k].search_s;
    r->summary.apply_s += its[k].apply_s;
    r->summary.rebuild_s += its[k].rebuild_s;
    r->matches += its[k].matches;
  }
  return true;
}

static bool
know_inputs(api_saturation *a) {
  for (uint32_t k = 0; k < a->options->n_prepack; k++)
    if (!api_know_input(a->ctx, a->result->input, a->options->prepack[k]))
      return false;
  return true;
}

/* What strictness costs is said once, and not region by region. */
static void
warn_left_out(const api_saturation *a) {
  const rl_rules *rules = a->rules->rules;
  if (!a->options->strict_fp || !rl_has_floats(a->result->input))
    return;
  uint32_t n = rl_count_inexact(rules);
  if (n)
    bs_warning(&a->ctx->diags, BS_NOWHERE, "strict-fp",
               "%u of %u %s left out: they may round floats in another "
               "way",
               n, BS_COUNTED_AS(rl_count(rules), "rule is", "rules are"));
}

/* As one program, or region by region. */
static bool
explore(api_saturation *a) {
  rg_cut cut;
  warn_left_out(a);
  bool regions = api_wants_regions(a, &cut);
  bool ok = regions ? api_explore_regions(a, &cut) : api_explore(a);
  rg_cut_done(&cut);
  if (ok)
    api_warn_cut(a->result);
  return ok;
}

/* The result is the caller's whether this succeeds or not. */
static bool
saturate(api_saturation *a) {
  glen_result *r = a->result;
  API_ENTER_LISTENING(a->ctx, false);
  bs_arena_init(&r->arena, &r->heap);
  r->gs = a->ctx->gs;
  r->gs.heap = &r->heap;
  r->gs.arena = &r->arena;
  r->limit = ex_limit_of(r->input, r->target);
  r->prepacked = (ex_names){a->options->prepack, a->options->n_prepack};
  bool ok = api_find_method(a->ctx, a->options->extractor, &a->method) &&
            know_inputs(a) && explore(a) &&
            api_extract(r, a->method, a->options->extract_seconds);
  if (ok)
    api_keep_names(r);
  if (ok && a->options->contribution && !r->regions)
    api_count_steps(r);
  r->summary.seconds = bs_now() - a->started;
  return ok;
}

static void
done_heap(void *heap) {
  bs_heap_done(heap);
}

/* A result that is not freed goes with who has it. */
void
api_result_init(glen_result *r, glen_context *ctx, bs_heap *parent,
                const gs_target *target, const gs_program *input) {
  *r = (glen_result){.ctx = ctx, .target = target, .input = input};
  bs_heap_init_child(&r->heap, parent, 0);
  bs_defer(parent, done_heap, &r->heap);
}

static glen_result *
new_result(glen_context *ctx, const glen_target *target,
           const glen_program *program) {
  API_ENTER(ctx, NULL);
  if (!api_has_numbers(ctx, program->program, "rewriting"))
    return NULL;
  glen_result *result = BS_NEW(&ctx->arena, glen_result);
  api_result_init(result, ctx, &ctx->heap, target->target, program->program);
  return result;
}

glen_result *
glen_saturate(glen_context *ctx, const glen_program *program,
              const glen_rules *rules, const glen_target *target,
              const glen_saturate_options *options) {
  glen_saturate_options own;
  api_saturation a = {.ctx = ctx,
                      .program = program,
                      .rules = rules,
                      .target = target,
                      .options = &own,
                      .started = bs_now()};
  ctx->interrupt = 0;
  if (!api_saturate_options(ctx, options, &own))
    return NULL;
  a.result = new_result(ctx, target, program);
  if (a.result && saturate(&a))
    return a.result;
  glen_result_free(a.result);
  return NULL;
}

void
glen_result_free(glen_result *result) {
  if (!result)
    return;
  bs_undefer(result->heap.parent, done_heap, &result->heap);
  bs_heap_done(&result->heap);
}

const glen_program *
glen_result_program(const glen_result *result) {
  return &result->program;
}

bool
glen_result_saturated(const glen_result *result) {
  return (result->run.stop == EG_STOP_SATURATED || result->run.finished) &&
         !result->limited;
}

void
glen_result_summary(const glen_result *result, glen_summary *out) {
  *out = result->summary;
}
