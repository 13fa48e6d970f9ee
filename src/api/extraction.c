/* SPDX-License-Identifier: MIT */
/* extraction.c - the cheapest program of a saturated e-graph, within what is
 * left of the limits.
 *
 * The method that was asked for stops at its share of the time with the best so
 * far.  Where it has no room even to begin, the cheapest tree is taken, and
 * where that has none the program as it was written, which is in the graph,
 * too: a warning says so. */
#include "api/api.h"
#include "base/file.h"
#include "extract/extract_egraph.h"
#include "extract/stranded.h"
#include <assert.h>

#include <math.h>

typedef struct extraction {
  glen_result *result;
  ex_options options;
  ex_method method;
  bs_heap heap; /* what is not kept */
  ex_solution solution;
  eg_node *choice; /* by class id; NULL: there is none */
} extraction;

/* Of what is left by the saturation: the rest is for lowering and code. */
static const double OF_TIME = 0.6, OF_MEMORY = 0.95;

static bs_value
type_of(void *ctx, const eg_graph *g, eg_class c) {
  (void)ctx;
  return rl_facts_of(g, c)->type;
}

ex_pricer
api_pricer_of(const glen_result *r) {
  return (ex_pricer){.target = r->target,
                     .limit = r->limit,
                     .once = r->once,
                     .kept = r->kept,
                     .stranded = r->stranded,
                     .values = r->gs.values,
                     .type_of = type_of};
}

/* ---- by a method ---- */

/* One more class at least is left out each time. */
#define MOST_CHOICES 64

/* A choice; NULL: there is none. */
static eg_node *
choose_once(extraction *x, ex_method method) {
  glen_result *r = x->result;
  ex_pricer pricer = api_pricer_of(r);
  ex_bridge bridge;
  eg_node *choice = NULL;
  ex_from_egraph(&x->heap, r->run.graph, r->run.outputs, r->run.n_outputs,
                 ex_price_enode, &pricer, &bridge);
  if (ex_solve(&bridge.problem, method, &x->options, &x->solution))
    choice = ex_chosen(&r->heap, &bridge, &x->solution);
  r->n_choice = bridge.n_ids;
  return choice;
}

static bool
finds_stranded(extraction *x) {
  assert(x->choice);
  glen_result *r = x->result;
  ex_choice choice = {.graph = r->run.graph,
                      .roots = r->run.outputs,
                      .n_roots = r->run.n_outputs,
                      .n_ids = r->n_choice,
                      .node = x->choice};
  if (r->part)
    return false;
  if (!r->stranded)
    r->stranded = bs_calloc(&r->heap, r->n_choice + (size_t)1, 1);
  return ex_find_stranded(&x->heap, r->target, r->gs.values, &choice,
                          r->stranded);
}

/* False where there was no room for it.  Where nothing but a stranded call
 * computes a term, it is kept: its place is in the error of lowering. */
static bool
solve(extraction *x, ex_method method) {
  bs_trap trap BS_TRAP_ENDS;
  bs_trap_set(&trap, &x->heap);
  if (setjmp(trap.place))
    return false;
  x->choice = choose_once(x, method);
  for (uint32_t k = 0; k < MOST_CHOICES && x->choice && finds_stranded(x);
       k++) {
    ex_solution before = x->solution;
    eg_node *other = choose_once(x, method);
    if (!other) {
      x->solution = before;
      break;
    }
    x->choice = other;
    x->solution.optimal = false;
    x->solution.bound = 0;
  }
  return true;
}

static bool
solve_by(extraction *x, ex_method method) {
  glen_result *r = x->result;
  size_t room = bs_stage_room(&r->ctx->governor, r->ctx->heap.used);
  x->method = method;
  bs_heap_init_child(&x->heap, &r->heap, room == SIZE_MAX ? 0 : room + 1);
  bool ok = solve(x, method);
  bs_heap_done(&x->heap);
  return ok;
}

/* ---- as it was written ---- */

static void
keep_input(extraction *x) {
  glen_result *r = x->result;
  r->n_choice = eg_class_ids(r->run.graph);
  x->choice = bs_alloc(&r->heap, (r->n_choice + (size_t)1) * sizeof *x->choice);
  rl_choose_own(&r->run, r->n_choice, x->choice);
  x->solution = (ex_solution){.bound = 0};
}

static void
warn(extraction *x, const char *instead) {
  bs_governor *g = &x->result->ctx->governor;
  bs_reason why = g->refused ? g->refused : g->stage.over;
  why = why ? why : BS_OUT_OF_MEMORY;
  if (x->result->part)
    return;
  bs_warning(&x->result->ctx->diags, BS_NOWHERE, bs_reason_code(why),
             "%s: the extraction was stopped, %s", bs_reason_name(why),
             instead);
}

static void
choose(extraction *x, ex_method method) {
  bs_stage *stage = &x->result->ctx->governor.stage;
  if (solve_by(x, method)) {
    if (stage->over)
      warn(x, "the best so far was taken");
    return;
  }
  if (method != EX_TREE && !bs_stage_late(&x->result->ctx->governor) &&
      solve_by(x, EX_TREE)) {
    warn(x, "the cheapest tree was taken");
    return;
  }
  keep_input(x);
  warn(x, "the program was left as it is");
}

/* ---- the result ---- */

static double
cost_of(const glen_result *r, const gs_program *p) {
  glen_context *ctx = r->ctx;
  double total = 0;
  ex_line *lines = bs_alloc(&ctx->heap, p->nodes.len * sizeof *lines + 1);
  ex_breakdown(p, r->target, r->limit, &r->prepacked, lines, &total);
  bs_free(&ctx->heap, lines);
  return total;
}

static void
summarize(glen_result *r, const ex_solution *s) {
  r->summary.cost_before = cost_of(r, r->input);
  r->summary.cost_after = cost_of(r, r->program.program);
  /* A bound is one for what was explored in one e-graph. */
  r->summary.bound = r->regions ? 0 : s->bound;
  r->summary.optimal = s->optimal && !r->regions;
}

static bool
found_nothing(const glen_result *r) {
  bs_error(&r->ctx->diags, BS_NOWHERE, "no-program",
           "nothing that the target can run was found");
  bs_hint(&r->ctx->diags, "does an instruction refuse its own operands?");
  return false;
}

static bool
take(extraction *x) {
  glen_result *r = x->result;
  if (!x->choice)
    return found_nothing(r);
  r->choice = x->choice;
  r->extracted = rl_extracted(&r->gs, r->input, &r->run, x->choice);
  r->program.program = r->extracted;
  if (!r->regions) {
    r->used_rules =
        bs_arena_alloc(&r->arena, API_MAX_USED_RULES * sizeof *r->used_rules);
    r->n_used_rules =
        rl_rules_used(&r->run, x->choice, r->used_rules, API_MAX_USED_RULES);
  }
  if (r->extracted)
    summarize(r, &x->solution);
  return r->extracted != NULL;
}

bool
api_extract(glen_result *r, ex_method method, double seconds) {
  glen_context *ctx = r->ctx;
  extraction x = {
      .result = r,
      .options = {.seconds = seconds, .interrupt = &ctx->interrupt}};
  double start = bs_now();
  bs_stage before =
      bs_stage_begin(&ctx->governor, "extraction", OF_TIME, OF_MEMORY);
  /* The interrupt that stopped the saturation must not stop this, too. */
  ctx->interrupt = 0;
  r->once =
      ex_once_classes(&r->heap, r->gs.values, r->run.graph, &r->prepacked);
  r->kept = ex_resident_classes(&r->heap, r->gs.values, r->run.graph, r->once,
                                type_of, NULL);
  choose(&x, method);
  bs_stage_end(&ctx->governor, before);
  bool ok = take(&x);
  r->summary.extract_s = bs_now() - start;
  return ok;
}
