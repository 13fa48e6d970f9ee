/* SPDX-License-Identifier: MIT */
/* api_tune.c - whole schedules of a program: listed, chosen by cost,
 * measured. */
#include "api/api.h"
#include "glen-features.h"

/* ---- by cost ---- */

typedef void printing(const po_strategies *, bs_text *);

static const char *
list_strategies(glen_context *ctx, const glen_loops *loops, uint32_t most,
                printing *print) {
  po_strategies list;
  bs_text text;
  if (!api_knows_sizes(ctx, loops->loops, "a chosen schedule"))
    return "";
  po_make_strategies(loops->loops, most, &ctx->interrupt, &ctx->arena, &list);
  bs_text_init(&text, &ctx->heap);
  print(&list, &text);
  po_strategies_done(&list);
  return api_string(ctx, &text);
}

const char *
glen_strategies(glen_context *ctx, const glen_loops *loops, uint32_t most) {
  API_ENTER_LISTENING(ctx, "");
  return list_strategies(ctx, loops, most, po_print_strategies);
}

const char *
glen_results(glen_context *ctx, const glen_loops *loops, uint32_t most) {
  API_ENTER_LISTENING(ctx, "");
  return list_strategies(ctx, loops, most, po_json_strategies);
}

static void
take(glen_loops *loops, po_program **program) {
  po_free(loops->loops);
  loops->loops = *program;
  *program = NULL;
}

bool
glen_choose(glen_context *ctx, glen_loops *loops, uint32_t most,
            const char **name) {
  *name = "";
  API_ENTER_LISTENING(ctx, false);
  po_strategies list;
  if (!api_knows_sizes(ctx, loops->loops, "a chosen schedule"))
    return false;
  po_make_strategies(loops->loops, most ? most : 1, &ctx->interrupt,
                     &ctx->arena, &list);
  po_strategy *best = &list.list.data[list.cheapest];
  *name = best->name;
  take(loops, &best->program);
  po_strategies_done(&list);
  return true;
}

/* ---- by measuring ---- */

/* Calls of one run: so many, unless they take this long together. */
enum { CALLS = 50 };
static const double CALL_SECONDS = 0.1;

void
glen_tune_defaults_of(glen_tune_options *out, size_t size) {
  static const glen_tune_options own = {.size = sizeof own,
                                        .candidates = 12,
                                        .rounds = 3,
                                        .seconds = 30,
                                        .tolerance = 1e-4,
                                        .program = "program"};
  api_give_options(&own, sizeof own, out, size);
}

/* For callers that have no macros: the struct is that of this library. */
void(glen_tune_defaults)(glen_tune_options *out) {
  glen_tune_defaults_of(out, sizeof *out);
}

static void
show(const void *ctx, const tu_progress *p) {
  const glen_tune_options *o = ctx;
  glen_tune_progress shown = {p->round, p->rounds, p->candidate, p->candidates,
                              p->name,  p->doing,  p->best};
  o->progress(o->progress_ctx, &shown);
}

static tu_options
options_of(glen_context *ctx, const glen_tune_options *o) {
  return (tu_options){.build = {.cc = o->build.cc,
                                .flags = o->build.flags,
                                .n_flags = o->build.n_flags,
                                .keep = o->build.keep,
                                .threads = (int)o->build.threads,
                                .time_limit = o->seconds,
                                .repeats = CALLS,
                                .call_seconds = CALL_SECONDS,
                                .interrupt = &ctx->interrupt},
                      .candidates = o->candidates ? o->candidates : 1,
                      .rounds = o->rounds ? o->rounds : 1,
                      .seconds = o->seconds,
                      .tolerance = o->tolerance,
                      .file = o->file,
                      .version = GLEN_VERSION,
                      .program_name = o->program,
                      .seed = o->seed,
                      .progress = o->progress ? show : NULL,
                      .progress_ctx = o};
}

static void
report(glen_context *ctx, const tu_search *s, glen_tuned *out) {
  bs_text text, json;
  bs_text_init(&text, &ctx->heap);
  bs_text_init(&json, &ctx->heap);
  tu_put_report(s, &text);
  tu_json_report(s, &json);
  *out = (glen_tuned){.stopped = s->stopped,
                      .wrong = s->wrong,
                      .candidates = s->list.len,
                      .resumed = s->resumed,
                      .chosen = s->list.data[s->best].strategy.name,
                      .script = s->list.data[s->best].strategy.script,
                      .text = api_string(ctx, &text),
                      .json = api_string(ctx, &json)};
}

bool
glen_tune(glen_context *ctx, glen_loops *loops, const glen_tensors *inputs,
          const glen_tune_options *given, glen_tuned *out) {
  glen_tune_options own;
  *out = (glen_tuned){.chosen = "", .script = "", .text = "", .json = ""};
  glen_tune_defaults(&own);
  if (!api_take_options(ctx, given, &own, sizeof own))
    return false;
  API_ENTER_LISTENING(ctx, false);
  tu_search search;
  tu_options options = options_of(ctx, &own);
  po_program *best = NULL;
  if (!api_knows_sizes(ctx, loops->loops, "a measured schedule"))
    return false;
  bool ok = tu_measure(&search, loops->loops, inputs->data, &options);
  if (ok) {
    report(ctx, &search, out);
    best = search.list.data[search.best].program;
    search.list.data[search.best].program = NULL;
  }
  tu_done(&search); /* it looks at the program: before that is replaced */
  if (best)
    take(loops, &best);
  return ok;
}
