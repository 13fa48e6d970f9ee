/* SPDX-License-Identifier: MIT */
/* tune.c - whole schedules of a program: listed, chosen by cost, measured. */
#include "api/api.h"
#include "glen-features.h"

typedef struct tune_args {
  glen_context *ctx;
  glen_loops *loops;
  const glen_tensors *inputs;
  const glen_tune_options *options;
  glen_tuned *out;
  uint32_t most;
  const char *text;
  bool ok;
} tune_args;

/* ---- by cost ---- */

static void
strategies_body(void *arg) {
  tune_args *a = arg;
  po_strategies list;
  bs_text text;
  if (!api_knows_sizes(a->ctx, a->loops->loops, "a chosen schedule"))
    return;
  po_make_strategies(a->loops->loops, a->most, &a->ctx->interrupt,
                     &a->ctx->arena, &list);
  bs_text_init(&text, &a->ctx->heap);
  po_print_strategies(&list, &text);
  po_strategies_done(&list);
  a->text = api_string(a->ctx, &text);
}

const char *
glen_strategies(glen_context *ctx, const glen_loops *loops, uint32_t most) {
  tune_args a = {
      .ctx = ctx, .loops = (glen_loops *)loops, .most = most, .text = ""};
  api_enter_listening(ctx, strategies_body, &a);
  return a.text;
}

static void
take(glen_loops *loops, po_program **program) {
  po_free(loops->loops);
  loops->loops = *program;
  *program = NULL;
}

static void
choose_body(void *arg) {
  tune_args *a = arg;
  po_strategies list;
  if (!api_knows_sizes(a->ctx, a->loops->loops, "a chosen schedule"))
    return;
  po_make_strategies(a->loops->loops, a->most ? a->most : 1, &a->ctx->interrupt,
                     &a->ctx->arena, &list);
  po_strategy *best = &list.list.data[list.cheapest];
  a->text = best->name;
  take(a->loops, &best->program);
  po_strategies_done(&list);
  a->ok = true;
}

bool
glen_choose(glen_context *ctx, glen_loops *loops, uint32_t most,
            const char **name) {
  tune_args a = {.ctx = ctx, .loops = loops, .most = most, .text = ""};
  bool ok = api_enter_listening(ctx, choose_body, &a) && a.ok;
  *name = a.text;
  return ok;
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
show(void *ctx, const tu_progress *p) {
  const glen_tune_options *o = ctx;
  glen_tune_progress shown = {p->round, p->rounds, p->candidate, p->candidates,
                              p->name,  p->doing,  p->best};
  o->progress(o->progress_ctx, &shown);
}

static tu_options
options_of(const tune_args *a) {
  const glen_tune_options *o = a->options;
  return (tu_options){.build = {.cc = o->build.cc,
                                .flags = o->build.flags,
                                .n_flags = o->build.n_flags,
                                .keep = o->build.keep,
                                .threads = (int)o->build.threads,
                                .time_limit = o->seconds,
                                .repeats = CALLS,
                                .call_seconds = CALL_SECONDS,
                                .interrupt = &a->ctx->interrupt},
                      .candidates = o->candidates ? o->candidates : 1,
                      .rounds = o->rounds ? o->rounds : 1,
                      .seconds = o->seconds,
                      .tolerance = o->tolerance,
                      .file = o->file,
                      .version = GLEN_VERSION,
                      .program_name = o->program,
                      .seed = o->seed,
                      .progress = o->progress ? show : NULL,
                      .progress_ctx = (void *)o};
}

static void
report(tune_args *a, const tu_search *s) {
  bs_text text, json;
  bs_text_init(&text, &a->ctx->heap);
  bs_text_init(&json, &a->ctx->heap);
  tu_put_report(s, &text);
  tu_json_report(s, &json);
  *a->out = (glen_tuned){.stopped = s->stopped,
                         .wrong = s->wrong,
                         .candidates = s->list.len,
                         .resumed = s->resumed,
                         .chosen = s->list.data[s->best].strategy.name,
                         .script = s->list.data[s->best].strategy.script,
                         .text = api_string(a->ctx, &text),
                         .json = api_string(a->ctx, &json)};
}

static void
tune_body(void *arg) {
  tune_args *a = arg;
  tu_search search;
  tu_options options = options_of(a);
  po_program *best = NULL;
  if (!api_knows_sizes(a->ctx, a->loops->loops, "a measured schedule"))
    return;
  a->ok = tu_measure(&search, a->loops->loops, a->inputs->data, &options);
  if (a->ok) {
    report(a, &search);
    best = search.list.data[search.best].program;
    search.list.data[search.best].program = NULL;
  }
  tu_done(&search); /* it looks at the program: before that is replaced */
  if (best)
    take(a->loops, &best);
}

bool
glen_tune(glen_context *ctx, glen_loops *loops, const glen_tensors *inputs,
          const glen_tune_options *options, glen_tuned *out) {
  glen_tune_options own;
  tune_args a = {.ctx = ctx,
                 .loops = loops,
                 .inputs = inputs,
                 .options = &own,
                 .out = out};
  *out = (glen_tuned){.chosen = "", .script = "", .text = "", .json = ""};
  glen_tune_defaults(&own);
  return api_take_options(ctx, options, &own, sizeof own) &&
         api_enter_listening(ctx, tune_body, &a) && a.ok;
}
