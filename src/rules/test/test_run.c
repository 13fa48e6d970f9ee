/* SPDX-License-Identifier: MIT */
/* test_run.c - one test run on memory of its own.
 *
 * The program of a test is parsed from a copy of its file in which all else is
 * blank, so its diagnostics name the right lines.  The terms of `equal` and
 * `distinct` are put into the e-graph before the rules run.  What a run reports
 * becomes the message of the test. */
#include "rules/rule/rule_internal.h"
#include "base/file.h"
#include "base/places.h"
#include <assert.h>
#include <string.h>

#define MAX_TERMS 64 /* in one equal or distinct */

typedef struct tester {
  const gs_context *outer;
  gs_context ctx; /* of this test */
  bs_heap heap;
  bs_arena arena;
  const rl_rules *rules; /* as loaded */
  const rl_test *test;
  const rl_test_hooks *hooks;
  rl_test_result *out;
  const rl_rules *own; /* under the test's target and parameters */
  gs_program *program;
  rl_run run;
  bool ran; /* the run ended without a fault */
  uint32_t first_diag, errors;
  eg_class *terms; /* of the clauses, MAX_TERMS each */
} tester;

static const rl_file *
file_of(const tester *t) {
  return &t->rules->forms.files.data[t->test->file];
}

static const bs_sx *
at(const tester *t, uint32_t node) {
  return rl_sx(file_of(t), node);
}

/* --- failing -------------------------------------------------------------- */

static bool fail(tester *, bs_span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool
fail(tester *t, bs_span span, const char *format, ...) {
  bs_text text;
  va_list args;
  if (t->out->message)
    return false;
  bs_text_init(&text, t->outer->heap);
  va_start(args, format);
  bs_putv(&text, format, args);
  va_end(args);
  t->out->message = bs_arena_strdup(t->outer->arena, bs_text_str(&text));
  t->out->span = span;
  bs_text_done(&text);
  return false;
}

/* The first error since the test began, or NULL. */
static const bs_diag *
first_error(const tester *t) {
  const bs_diags *d = t->ctx.diags;
  for (uint32_t k = t->first_diag; k < d->list.len; k++)
    if (d->list.data[k].severity == BS_ERROR)
      return &d->list.data[k];
  return NULL;
}

static bool
fail_by_diag(tester *t, const char *what) {
  const bs_diag *d = first_error(t);
  if (!d)
    return fail(t, t->test->span, "%s", what);
  return fail(t, d->span.file ? d->span : t->test->span, "%s: %s", what,
              d->message);
}

/* The diagnostics of a test have become its message. */
static void
forget_diags(tester *t) {
  bs_diags *d = t->ctx.diags;
  d->list.len = t->first_diag;
  d->errors = t->errors;
}

/* --- setting up ----------------------------------------------------------- */

/* The file with all but the forms of the program blank. */
static uint32_t
program_source(tester *t) {
  bs_diags *d = t->ctx.diags;
  const bs_source *s = &d->sources.data[file_of(t)->source - 1];
  uint32_t first = bs_sx_item(&file_of(t)->sx, t->test->program, 1);
  uint32_t lo = first ? at(t, first)->span.lo : 0;
  uint32_t hi = at(t, t->test->program)->span.hi - 1;
  if (!first)
    return bs_source_add(d, s->path, "", 0);
  char *text = bs_alloc(&t->heap, hi + (size_t)1);
  memcpy(text, s->text, hi);
  text[hi] = '\0';
  for (uint32_t k = 0; k < lo; k++)
    if (text[k] != '\n')
      text[k] = ' ';
  return bs_source_add(d, s->path, text, hi);
}

static bool
parse_program(tester *t) {
  uint32_t source = program_source(t);
  t->program = source ? gs_parse(&t->ctx, t->own->target, source) : NULL;
  return t->program || fail_by_diag(t, "the program is wrong");
}

static bool
set_params(tester *t, rl_rules *own) {
  const rl_file *f = file_of(t);
  bool ok = true;
  for (uint32_t x = bs_sx_first(&f->sx, t->test->params); x;
       x = at(t, x)->next) {
    const char *name = rl_symbol(t->rules, f, x + 1);
    if (!rl_set_param(
            own, name,
            gs_data_value(&t->rules->ctx, &f->sx, bs_sx_item(&f->sx, x, 1))))
      ok = fail(t, at(t, x)->span, "no rule file has a parameter named %s",
                name);
  }
  return ok;
}

static bool
make_rules(tester *t) {
  const gs_target *target = NULL;
  t->own = t->rules;
  if (!t->test->target && !t->test->params)
    return true;
  if (t->test->target) {
    target = gs_target_parse_file(
        &t->ctx, bs_path_included(&t->arena, &bs_targets_place,
                                  file_of(t)->path, t->test->target));
    if (!target)
      return fail_by_diag(t, "the target is wrong");
  }
  rl_rules *own = rl_copy(t->rules, &t->ctx, target);
  t->own = own;
  if (t->test->params && !set_params(t, own))
    return false;
  return rl_finish(own) || fail_by_diag(t, "the rules are wrong");
}

static double
number_at(const tester *t, uint32_t node) {
  return bs_as_real(t->ctx.values, at(t, node)->value);
}

static void
set_limits(const tester *t, eg_run_options *o) {
  const rl_file *f = file_of(t);
  eg_run_defaults(o);
  o->iterations = 30;
  o->nodes = 10000;
  o->seconds = 5;
  if (!t->test->limits)
    return;
  for (uint32_t x = bs_sx_first(&f->sx, t->test->limits); x;
       x = at(t, x)->next) {
    const char *name = rl_symbol(t->rules, f, x + 1);
    double value = number_at(t, bs_sx_item(&f->sx, x, 1));
    value = value < 0 ? 0 : value > 4e9 ? 4e9 : value;
    if (!strcmp(name, "iterations"))
      o->iterations = (uint32_t)value;
    else if (!strcmp(name, "nodes"))
      o->nodes = (uint32_t)value;
    else if (!strcmp(name, "bytes"))
      o->bytes = (size_t)value;
    else
      o->seconds = value;
  }
}

static bool
allow_rules(tester *t, uint8_t *allowed) {
  const rl_file *f = file_of(t);
  bool ok = true;
  memset(allowed, t->test->rules ? 0 : 1, t->own->compiled.len);
  if (!t->test->rules)
    return true;
  for (uint32_t x = bs_sx_first(&f->sx, t->test->rules); x;
       x = at(t, x)->next) {
    const char *name = rl_symbol(t->rules, f, x);
    const uint8_t *mask = rl_mask_find(t->own, name);
    if (!mask)
      ok = fail(t, at(t, x)->span, "there is no rule or ruleset named '%s'",
                name);
    for (uint32_t k = 0; mask && k < t->own->compiled.len; k++)
      allowed[k] |= mask[k];
  }
  return ok;
}

/* --- clauses -------------------------------------------------------------- */

static bool
has_terms(const rl_clause *c) {
  return c->kind == RL_EQUAL || c->kind == RL_DISTINCT;
}

static bool
add_clause_terms(tester *t, uint32_t k) {
  const rl_clause *c = &t->test->clauses[k];
  uint32_t n = 0;
  for (uint32_t x = c->term; x; x = at(t, x)->next) {
    if (n == MAX_TERMS)
      return fail(t, c->span, "at most %d terms are compared", MAX_TERMS);
    eg_class added = rl_add_term(&t->run, t->own, file_of(t), x);
    if (added.i == UINT32_MAX)
      return fail_by_diag(t, "a term is wrong");
    t->terms[(size_t)k * MAX_TERMS + n++] = added;
  }
  return true;
}

static bool
add_terms(tester *t) {
  uint32_t n = t->test->n_clauses;
  t->terms = bs_calloc(&t->heap, n * (size_t)MAX_TERMS, sizeof *t->terms);
  for (uint32_t k = 0; k < n; k++)
    if (has_terms(&t->test->clauses[k]) && !add_clause_terms(t, k))
      return false;
  return true;
}

static bool
check_terms(tester *t, uint32_t k) {
  const rl_clause *c = &t->test->clauses[k];
  const eg_class *terms = t->terms + (size_t)k * MAX_TERMS;
  bool equal = c->kind == RL_EQUAL;
  uint32_t n = at(t, c->node)->count - 1;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = i + 1; j < n; j++) {
      bool same = eg_find(t->run.graph, terms[i]).i ==
                  eg_find(t->run.graph, terms[j]).i;
      if (same != equal)
        return fail(t, c->span, "terms %u and %u are %s", i + 1, j + 1,
                    same ? "equal" : "not equal");
    }
  return true;
}

/* The matches in a class, anywhere, or in the outputs (each class once). */
static bool
count_in(tester *t, const rl_clause *c, const rl_query *q, uint64_t max,
         uint64_t *count) {
  const rl_run *run = &t->run;
  *count = 0;
  if (c->in && !strcmp(c->in, "anywhere")) {
    *count = rl_query_count(run, q, EG_NO_CLASS, max);
    return true;
  }
  if (c->in && strcmp(c->in, "outputs")) {
    eg_class in = rl_class_named(run, c->in);
    if (in.i == UINT32_MAX)
      return fail(t, c->span, "the program has no '%s'", c->in);
    *count = rl_query_count(run, q, eg_find(run->graph, in), max);
    return true;
  }
  for (uint32_t k = 0; k < run->n_outputs; k++) {
    bool again = false;
    for (uint32_t j = 0; j < k; j++)
      again |= run->outputs[j].i == run->outputs[k].i;
    if (!again)
      *count += rl_query_count(run, q, run->outputs[k], max);
  }
  return true;
}

static bool
check_pattern(tester *t, uint32_t k) {
  const rl_clause *c = &t->test->clauses[k];
  uint64_t count, max = c->matches < 0 ? 1 : (uint64_t)c->matches + 1000;
  rl_query q;
  bool ok = rl_query_parse(&t->run, t->own, file_of(t), c->term, c->where, &q);
  if (!ok)
    fail_by_diag(t, "the pattern is wrong");
  ok = ok && count_in(t, c, &q, max, &count);
  rl_query_done(&t->run, &q);
  if (!ok)
    return false;
  if (c->kind == RL_NEVER)
    return !count || fail(t, c->span, "the pattern was found");
  if (c->matches >= 0)
    return count == (uint64_t)c->matches ||
           fail(t, c->span, "the pattern was found %llu %s, not %lld",
                BS_COUNTED((unsigned long long)count, "time"),
                (long long)c->matches);
  return count || fail(t, c->span, "the pattern was not found");
}

static bool
check_stops(tester *t, uint32_t k) {
  const rl_clause *c = &t->test->clauses[k];
  const char *word = rl_stop_word(t->run.stop);
  return !strcmp(word, c->word) ||
         fail(t, c->span, "the run stopped with '%s', not '%s'", word, c->word);
}

static bool
holds(double x, const char *word, double y) {
  if (word[0] == '=')
    return x == y;
  bool strict = !word[1];
  return word[0] == '<' ? (strict ? x < y : x <= y) : (strict ? x > y : x >= y);
}

static bool
check_cost(tester *t, uint32_t k) {
  const rl_clause *c = &t->test->clauses[k];
  double cost;
  if (!t->hooks || !t->hooks->cost)
    return fail(t, c->span, "costs are not computed here");
  if (!t->hooks->cost(t->hooks->ctx, &t->ctx, t->own->target, t->program,
                      &t->run, &cost))
    return fail_by_diag(t, "no program was extracted");
  return holds(cost, c->word, c->number) ||
         fail(t, c->span, "the cost is %g", cost);
}

/* Holds when the run stopped with a fault of this code. */
static bool
check_refused(tester *t, uint32_t k) {
  const rl_clause *c = &t->test->clauses[k];
  const bs_diag *d = first_error(t);
  if (t->ran || !d)
    return fail(t, c->span, "no rule was refused");
  return !strcmp(d->code, c->word) ||
         fail(t, c->span, "the run was stopped by '%s': %s", d->code,
              d->message);
}

static bool (*const check_table[])(tester *, uint32_t clause) = {
    [RL_FINDS] = check_pattern,   [RL_NEVER] = check_pattern,
    [RL_EQUAL] = check_terms,     [RL_DISTINCT] = check_terms,
    [RL_STOPS] = check_stops,     [RL_COST] = check_cost,
    [RL_REFUSED] = check_refused,
};

static bool
wants_refusal(const tester *t) {
  for (uint32_t k = 0; k < t->test->n_clauses; k++)
    if (t->test->clauses[k].kind == RL_REFUSED)
      return true;
  return false;
}

static bool
check_clauses(tester *t) {
  if (!t->ran && !wants_refusal(t))
    return fail_by_diag(t, "the run was stopped");
  for (uint32_t k = 0; k < t->test->n_clauses; k++) {
    const rl_clause *c = &t->test->clauses[k];
    bool can = t->ran || c->kind == RL_REFUSED;
    if (can && !check_table[c->kind](t, k))
      return false;
  }
  return true;
}

/* --- running -------------------------------------------------------------- */

/* Without a strategy of its own a test runs all its rules, also where the
 * files have a strategy `main`. */
static bool
run_rules(tester *t) {
  rl_options o = {.strategy = t->test->strategy, .alone = true};
  uint8_t *allowed = bs_alloc(&t->heap, t->own->compiled.len + (size_t)1);
  set_limits(t, &o.run);
  if (!allow_rules(t, allowed))
    return false;
  if (o.strategy && !rl_find_strategy(t->own, o.strategy))
    return fail(t, t->test->span, "there is no strategy named '%s'",
                o.strategy);
  if (!rl_start(&t->ctx, t->program, t->own, &o, true, &t->run))
    return fail_by_diag(t, "the program cannot be run");
  if (!add_terms(t))
    return false;
  t->ran = rl_go(&t->run, &o, allowed, !o.strategy);
  return true;
}

static void
note_run(const tester *t) {
  uint32_t n = 0;
  t->out->stop = t->run.stop;
  eg_runner_iterations(t->run.runner, &n);
  t->out->iterations = n;
  t->out->nodes = eg_count_nodes(t->run.graph);
  t->out->classes = eg_count_classes(t->run.graph);
}

static void
test_job(void *arg) {
  tester *t = arg;
  bs_arena_init(&t->arena, &t->heap);
  t->ctx = *t->outer;
  t->ctx.heap = &t->heap;
  t->ctx.arena = &t->arena;
  if (!make_rules(t) || !parse_program(t) || !run_rules(t))
    return;
  note_run(t);
  t->out->passed = check_clauses(t);
}

bool
rl_run_test(const gs_context *ctx, const rl_rules *rules, const rl_test *test,
            const rl_test_hooks *hooks, rl_test_result *out) {
  tester *t = bs_calloc(ctx->heap, 1, sizeof *t);
  double begun = bs_now();
  *t = (tester){.outer = ctx,
                .rules = rules,
                .test = test,
                .hooks = hooks,
                .out = out,
                .first_diag = ctx->diags->list.len,
                .errors = ctx->diags->errors};
  *out = (rl_test_result){0};
  t->ctx.diags = ctx->diags;
  bs_heap_init_child(&t->heap, ctx->heap, 0);
  if (!bs_protect(ctx->heap, test_job, t))
    fail(t, test->span, "memory ran out");
  bs_heap_done(&t->heap);
  forget_diags(t);
  bs_free(ctx->heap, t);
  out->seconds = bs_now() - begun;
  return out->passed;
}

uint32_t
rl_count_tests(const rl_rules *rules) {
  return rules->tests.len;
}

const rl_test *
rl_test_at(const rl_rules *rules, uint32_t index) {
  assert(index < rules->tests.len);
  return &rules->tests.data[index];
}
