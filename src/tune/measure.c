/* SPDX-License-Identifier: MIT */
/* measure.c - the search: candidates, rounds, the best.
 *
 *   strategies -> code -> what the file knows -> rounds of build and run
 *
 * Nothing that goes wrong with one candidate ends the search: its diagnostics
 * become its message.  Only the first candidate must run, for without its
 * output there is nothing to compare with. */
#include "tune/tune.h"
#include "base/hash.h"
#include "glenside/interpret/interpret.h"
#include "poly/schedule/primitive.h"
#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- diagnostics of one candidate ---- */

typedef struct moment {
  uint32_t len, errors, warnings;
  bool dropped;
} moment;

static moment
now(const bs_diags *d) {
  return (moment){d->list.len, d->errors, d->warnings, d->dropped};
}

/* The first error since; it and all others are forgotten. */
static const char *
forget(const tu_search *s, const moment *m) {
  bs_diags *d = s->ctx->diags;
  const char *first = NULL;
  for (uint32_t k = m->len; k < d->list.len && !first; k++)
    if (d->list.data[k].severity == BS_ERROR)
      first = bs_arena_strdup(s->ctx->arena, d->list.data[k].message);
  d->list.len = m->len;
  d->errors = m->errors;
  d->warnings = m->warnings;
  d->dropped = m->dropped;
  return first;
}

static bool
is_stopped(tu_search *s) {
  const volatile int *flag = s->options->build.interrupt;
  s->stopped |= flag && *flag;
  return s->stopped;
}

/* ---- candidates ---- */

static const char *
code_hash(const tu_search *s, const po_program *p) {
  cg_options options = {.name = "kernel", .header = "kernel.h", .openmp = true};
  bs_text c, h;
  bs_text_init(&c, s->ctx->heap);
  bs_text_init(&h, s->ctx->heap);
  const char *hash = NULL;
  if (cg_emit_c(p, &options, &c, &h))
    hash = bs_arena_printf(s->ctx->arena, "%016" PRIx64,
                           bs_hash(bs_text_str(&c), c.len));
  bs_text_done(&c);
  bs_text_done(&h);
  return hash;
}

static bool
is_known(const tu_search *s, const char *code) {
  for (uint32_t k = 0; k < s->list.len; k++)
    if (!strcmp(s->list.data[k].code, code))
      return true;
  return false;
}

/* Strategies whose code is that of an earlier one are left out. */
static void
add_candidate(tu_search *s, po_strategy *strategy) {
  moment m = now(s->ctx->diags);
  tu_candidate c = {.strategy = *strategy, .program = strategy->program};
  c.code = code_hash(s, c.program);
  forget(s, &m);
  if (!c.code || is_known(s, c.code))
    return;
  bs_push(s->ctx->heap, &s->list, c);
  strategy->program = NULL;
}

static bool
find_candidates(tu_search *s) {
  po_strategies strategies;
  po_make_strategies(s->program, s->options->candidates,
                     s->options->build.interrupt, s->ctx->arena, &strategies);
  for (uint32_t k = 0; k < strategies.list.len; k++)
    add_candidate(s, &strategies.list.data[k]);
  po_strategies_done(&strategies);
  return s->list.len > 0 || bs_error(s->ctx->diags, BS_NOWHERE, "tune",
                                     "no code could be made of the program");
}

/* All that a time depends on. */
static const char *
make_key(const tu_search *s) {
  const cg_build_options *b = &s->options->build;
  bs_text text;
  bs_text_init(&text, s->ctx->heap);
  bs_putf(&text, "glen %s\ncompiler %s\nthreads %d\nseed %" PRIu64 "\n",
          s->options->version, s->compiler, b->threads, s->options->seed);
  for (uint32_t k = 0; k < b->n_flags; k++)
    bs_putf(&text, "flag %s\n", b->flags[k]);
  bs_putf(&text, "strict %d\n", s->program->strict_fp);
  if (s->program->target)
    gs_target_print(s->program->target, s->ctx->values, &text);
  po_print(s->program, &text);
  const char *key = bs_arena_printf(s->ctx->arena, "%016" PRIx64,
                                    bs_hash(bs_text_str(&text), text.len));
  bs_text_done(&text);
  return key;
}

/* ---- runs ---- */

static void
give_up(tu_candidate *c, tu_status status, const char *message) {
  c->status = status;
  c->message = message;
  cg_built_free(c->built);
  c->built = NULL;
}

/* Notes have no code. */
static bool
is_code(const bs_diags *d, const moment *m, const char *code) {
  for (uint32_t k = m->len; k < d->list.len; k++)
    if (d->list.data[k].code && !strcmp(d->list.data[k].code, code))
      return true;
  return false;
}

/* What went wrong becomes the candidate's status, unless it is the interrupt
 * that did. */
static void
note_failure(tu_search *s, tu_candidate *c, const moment *m) {
  const bs_diags *d = s->ctx->diags;
  bool slow = is_code(d, m, "run-time") || is_code(d, m, "compile-time");
  const char *message = forget(s, m);
  if (!is_stopped(s))
    give_up(c, slow ? TU_SLOW : TU_FAILED, message);
}

static void
free_outputs(const tu_search *s, gs_tensor *outputs) {
  for (uint32_t k = 0; k < s->program->source->outputs.len; k++)
    gs_tensor_done(s->ctx->heap, &outputs[k]);
}

/* How far rounding can move the outputs, once something differs; nothing is
 * excused where the program is no term, or too large for the interpreter. */
static void
find_bounds(tu_search *s) {
  uint32_t n = s->program->source->outputs.len;
  moment m = now(s->ctx->diags);
  gs_tensor *outputs = BS_NEWS(s->ctx->arena, gs_tensor, n);
  if (s->bounds)
    return;
  s->bounds = BS_NEWS(s->ctx->arena, gs_tensor, n);
  gs_interpret_bounded(s->program->source, s->inputs, outputs, s->bounds);
  free_outputs(s, outputs);
  forget(s, &m);
}

static bool
is_same(tu_search *s, uint32_t k, const gs_tensor *output, gs_difference *d) {
  assert(k < s->program->source->outputs.len);
  const gs_tensor *expected = &s->expected[k];
  double tolerance = s->options->tolerance;
  if (gs_tensor_compare(expected, output, tolerance, tolerance, d))
    return true;
  find_bounds(s);
  const gs_tensor *bound = s->bounds[k].data ? &s->bounds[k] : NULL;
  return gs_tensor_compare_within(expected, output, tolerance, tolerance, bound,
                                  bound, d);
}

/* Against those of the first candidate, which become what is expected. */
static void
compare(tu_search *s, tu_candidate *c, gs_tensor *outputs) {
  for (uint32_t k = 0; k < s->program->source->outputs.len; k++) {
    gs_difference d;
    if (is_same(s, k, &outputs[k], &d))
      continue;
    s->wrong = true;
    give_up(c, TU_MISMATCH,
            bs_arena_printf(s->ctx->arena,
                            "element %" PRId64 " of %s is %.9g, the first "
                            "candidate says %.9g",
                            d.first, s->program->source->outputs.data[k].name,
                            d.b, d.a));
    bs_error(s->ctx->diags, BS_NOWHERE, "tune-mismatch",
             "the strategy \"%s\" gives another result: %s", c->strategy.name,
             c->message);
    bs_hint(s->ctx->diags, "this is a fault of glen, or of the tolerance");
    return;
  }
}

static void
take_outputs(tu_search *s, tu_candidate *c, gs_tensor *outputs) {
  if (s->expected) {
    compare(s, c, outputs);
    free_outputs(s, outputs);
  } else {
    s->expected = outputs;
  }
}

static void
show(const tu_search *s, uint32_t round, uint32_t k, const char *doing) {
  assert(k < s->list.len);
  const tu_options *o = s->options;
  if (!o->progress)
    return;
  tu_progress p = {round,
                   o->rounds,
                   k,
                   s->list.len,
                   s->list.data[k].strategy.name,
                   doing,
                   s->list.data[s->best].seconds};
  o->progress(o->progress_ctx, &p);
}

static void
choose(tu_search *s) {
  for (uint32_t k = 0; k < s->list.len; k++) {
    const tu_candidate *c = &s->list.data[k], *b = &s->list.data[s->best];
    if (c->status == TU_OK && (b->status != TU_OK || c->seconds < b->seconds))
      s->best = k;
  }
  assert(s->best < s->list.len);
}

/* One build where it is needed, and one run. */
static void
run_once(tu_search *s, uint32_t k, uint32_t round, const gs_tensor *inputs) {
  assert(k < s->list.len);
  tu_candidate *c = &s->list.data[k];
  moment m = now(s->ctx->diags);
  double seconds = 0;
  if (!c->built) {
    show(s, round, k, "build");
    c->built = cg_build(c->program, &s->options->build);
  }
  show(s, round, k, "run");
  gs_tensor *outputs =
      BS_NEWS(s->ctx->arena, gs_tensor, s->program->source->outputs.len);
  if (!c->built || !cg_built_run(c->built, inputs, outputs, &seconds)) {
    note_failure(s, c, &m);
    return;
  }
  take_outputs(s, c, outputs);
  if (c->status == TU_MISMATCH)
    return;
  /* A call shorter than the clock's step took some time all the same. */
  seconds = seconds > 1e-9 ? seconds : 1e-9;
  c->seconds = c->rounds && c->seconds < seconds ? c->seconds : seconds;
  c->status = TU_OK;
  c->rounds++;
  assert(c->seconds > 0);
}

/* The first candidate is run in any case: its output is what is right. */
static bool
is_wanted(const tu_search *s, uint32_t k, uint32_t round) {
  assert(k < s->list.len);
  const tu_candidate *c = &s->list.data[k];
  if (k == 0 && !s->expected)
    return true;
  return c->status == TU_NEW || (c->status == TU_OK && c->rounds < round);
}

static bool
all_known(const tu_search *s) {
  for (uint32_t k = 0; k < s->list.len; k++)
    if (s->list.data[k].status == TU_NEW ||
        (s->list.data[k].status == TU_OK &&
         s->list.data[k].rounds < s->options->rounds))
      return false;
  return true;
}

static bool
first_failed(tu_search *s) {
  assert(s->list.len > 0);
  const tu_candidate *first = &s->list.data[0];
  if (first->status != TU_FAILED && first->status != TU_SLOW)
    return false;
  bs_error(s->ctx->diags, BS_NOWHERE, "tune",
           "the program as it stands does not run: %s",
           first->message ? first->message : "no reason is known");
  return true;
}

static bool
run_rounds(tu_search *s, const gs_tensor *inputs) {
  for (uint32_t round = 1; round <= s->options->rounds; round++)
    for (uint32_t k = 0; k < s->list.len; k++) {
      if (is_stopped(s))
        return true;
      if (!is_wanted(s, k, round))
        continue;
      run_once(s, k, round, inputs);
      if (first_failed(s))
        return false;
      choose(s);
      if (!tu_write_record(s))
        return false;
    }
  return true;
}

/* Of an earlier run with this program, in its own words. */
static void
repeat_mismatches(tu_search *s) {
  for (uint32_t k = 0; k < s->list.len; k++) {
    const tu_candidate *c = &s->list.data[k];
    if (c->status != TU_MISMATCH)
      continue;
    s->wrong = true;
    bs_error(s->ctx->diags, BS_NOWHERE, "tune-mismatch",
             "the strategy \"%s\" gives another result: %s", c->strategy.name,
             c->message ? c->message : "as was found before");
  }
}

bool
tu_measure(tu_search *s, const po_program *program, const gs_tensor *inputs,
           const tu_options *options) {
  *s = (tu_search){.ctx = &program->ctx,
                   .program = program,
                   .options = options,
                   .inputs = inputs};
  s->compiler = cg_compiler_version(s->ctx, &options->build);
  if (!s->compiler)
    s->compiler = "unknown";
  s->key = make_key(s);
  if (!find_candidates(s) || !tu_read_record(s))
    return false;
  repeat_mismatches(s);
  choose(s);
  return all_known(s) || run_rounds(s, inputs);
}

void
tu_done(tu_search *s) {
  for (uint32_t k = 0; k < s->list.len; k++) {
    tu_candidate *c = &s->list.data[k];
    cg_built_free(c->built);
    if (c->program)
      po_free(c->program);
  }
  if (s->expected)
    free_outputs(s, s->expected);
  if (s->bounds)
    free_outputs(s, s->bounds);
  s->expected = s->bounds = NULL;
  bs_vec_done(s->ctx->heap, &s->list);
}
