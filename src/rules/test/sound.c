/* SPDX-License-Identifier: MIT */
/* sound.c - rules tried on random programs; see sound.h.
 *
 * A variant is the cheapest program under random prices of the nodes, in which
 * what a rule made is mostly cheaper than what was there, so that each variant
 * is acyclic and differs.  Each attempt has memory of its own. */
#include "rules/test/sound_testing.h"
#include "glenside/interpret/interpret.h"
#include "rules/explain/explain.h"
#include "rules/test/test_sample.h"
#include <assert.h>
#include <string.h>

void
rl_sound_defaults(rl_sound_options *o) {
  *o = (rl_sound_options){
      .seed = 1, .programs = 4, .attempts = 400, .variants = 4, .nodes = 2000};
}

enum { MOST_STEPS = 20000 };

typedef struct trial {
  const gs_context *outer;
  gs_context ctx;
  bs_heap heap;
  bs_arena arena;
  const rl_rules *rules;
  uint32_t rule; /* UINT32_MAX: all */
  const rl_sound_options *o;
  rl_sound_result *out;
  rl_sample sample;
  rl_run run;
  gs_tensor *inputs, *outputs;
  uint64_t seed;
} trial;

/* --- messages ------------------------------------------------------------- */

static void
say(trial *t, const char *what, const gs_program *variant, const char *detail) {
  bs_text text;
  if (t->out->message)
    return;
  bs_text_init(&text, t->outer->heap);
  bs_putf(&text, "%s%s%s\n", what, detail[0] ? ": " : "", detail);
  gs_print(t->sample.p, true, &text);
  if (variant) {
    bs_put(&text, "is not equal to\n");
    gs_print(variant, true, &text);
  }
  t->out->message = bs_arena_strdup(t->outer->arena, bs_text_str(&text));
  t->out->sound = false;
  bs_text_done(&text);
}

/* --- random extraction ---------------------------------------------------- */

static double
random_price(trial *t, eg_node node, uint32_t variant) {
  double x = 1 + (double)rl_random_below(&t->sample, 1000) / 100;
  bool made = eg_origin_of(t->run.graph, node).rule != EG_BY_CLIENT;
  return made && variant % 4 != 3 ? x / 1000 : x;
}

static double
term_price(const trial *t, eg_node node, double own, const double *best) {
  uint32_t n;
  const eg_class *kids = eg_kids(t->run.graph, node, &n);
  for (uint32_t k = 0; k < n; k++)
    own += best[eg_find(t->run.graph, kids[k]).i];
  return own;
}

static bool
relax(const trial *t, const double *price, double *best, eg_node *choice) {
  const eg_graph *g = t->run.graph;
  bool changed = false;
  for (eg_class c = eg_first_class(g); c.i != UINT32_MAX;
       c = eg_next_class(g, c)) {
    uint32_t n;
    const eg_node *nodes = eg_class_nodes(g, c, &n);
    for (uint32_t k = 0; k < n; k++) {
      double x = term_price(t, nodes[k], price[nodes[k].i], best);
      if (x >= best[c.i])
        continue;
      best[c.i] = x;
      choice[c.i] = nodes[k];
      changed = true;
    }
  }
  return changed;
}

static void
count_ids(const eg_graph *g, uint32_t *classes, uint32_t *nodes) {
  *classes = *nodes = 0;
  for (eg_class c = eg_first_class(g); c.i != UINT32_MAX;
       c = eg_next_class(g, c)) {
    uint32_t n;
    const eg_node *list = eg_class_nodes(g, c, &n);
    *classes = c.i + 1;
    for (uint32_t k = 0; k < n; k++)
      if (list[k].i >= *nodes)
        *nodes = list[k].i + 1;
  }
}

static gs_program *
random_variant(trial *t, uint32_t variant) {
  uint32_t classes, nodes;
  count_ids(t->run.graph, &classes, &nodes);
  double *best = BS_NEWS(&t->arena, double, classes + (size_t)1);
  double *price = BS_NEWS(&t->arena, double, nodes + (size_t)1);
  eg_node *choice = BS_NEWS(&t->arena, eg_node, classes + (size_t)1);
  for (uint32_t k = 0; k < classes; k++) {
    best[k] = 1e300;
    choice[k] = EG_NO_NODE;
  }
  for (uint32_t k = 0; k < nodes; k++)
    price[k] = random_price(t, (eg_node){k}, variant);
  while (relax(t, price, best, choice))
    continue;
  return rl_extracted(&t->ctx, t->sample.p, &t->run, choice);
}

/* --- comparing ------------------------------------------------------------ */

static gs_tensor *
make_inputs(trial *t) {
  const gs_program *p = t->sample.p;
  gs_tensor *in = BS_NEWS(&t->arena, gs_tensor, p->inputs.len + (size_t)1);
  for (uint32_t k = 0; k < p->inputs.len; k++) {
    gs_type type;
    gs_type_at(p, p->inputs.data[k].term, &type);
    gs_tensor_init(&t->heap, &in[k], &type);
    gs_tensor_fill(&in[k], t->seed, p->inputs.data[k].name);
  }
  return in;
}

static gs_tensor *
interpret(trial *t, const gs_program *p) {
  gs_tensor *out = BS_NEWS(&t->arena, gs_tensor, p->outputs.len + (size_t)1);
  return gs_interpret(p, t->inputs, out) ? out : NULL;
}

/* The first element of an output that differs, as text; NULL: none does. */
static const char *
difference(trial *t, const gs_tensor *out) {
  const gs_program *p = t->sample.p;
  for (uint32_t k = 0; k < p->outputs.len; k++) {
    gs_difference d;
    if (!gs_tensor_compare(&t->outputs[k], &out[k], 1e-3, 1e-3, &d))
      return bs_arena_printf(&t->arena, "%s[%lld] is %g and %g",
                             p->outputs.data[k].name, (long long)d.first, d.a,
                             d.b);
  }
  return NULL;
}

static const char *
rule_name(const trial *t) {
  return t->rule == UINT32_MAX ? "the rules" : rl_at(t->rules, t->rule)->name;
}

static void
explain_variant(trial *t, const gs_program *variant) {
  rl_explanation x;
  const char *wrong = "a variant has no explanation";
  if (rl_explain(&t->ctx, &t->run, t->sample.p, variant, MOST_STEPS, &x))
    wrong = rl_check_explanation(&t->ctx, t->rules, &x);
  if (wrong)
    say(t, bs_arena_printf(&t->arena, "%s: %s", rule_name(t), wrong), variant,
        "");
  t->out->explained++;
  t->out->lemmas += x.n_lemmas;
  for (uint32_t k = 0; k < x.n_chains; k++)
    t->out->steps += x.chains[k].n;
}

static void
compare_variant(trial *t, uint32_t k) {
  gs_program *variant = random_variant(t, k);
  gs_tensor *out = variant ? interpret(t, variant) : NULL;
  if (!out)
    return;
  t->out->compared++;
  const char *d = difference(t, out);
  if (d)
    say(t, bs_arena_printf(&t->arena, "%s: %s", rule_name(t), d), variant, "");
  else if (t->o->explain)
    explain_variant(t, variant);
}

/* --- one program ---------------------------------------------------------- */

static uint64_t
applied(const trial *t) {
  const eg_rule_stats *stats = eg_runner_stats(t->run.runner);
  uint64_t sum = 0;
  for (uint32_t k = 0; k < rl_count(t->rules); k++)
    sum += stats[k].applied;
  return sum;
}

static void
run_program(trial *t, uint32_t iterations) {
  rl_options o = {0};
  uint32_t n = rl_count(t->rules);
  uint8_t *allowed = BS_NEWS(&t->arena, uint8_t, n + (size_t)1);
  memset(allowed, t->rule == UINT32_MAX, n);
  if (t->rule != UINT32_MAX)
    allowed[t->rule] = 1;
  o.only = allowed;
  eg_run_defaults(&o.run);
  o.run.iterations = iterations;
  o.run.nodes = t->o->nodes;
  o.explain = t->o->explain;
  uint32_t before = t->ctx.diags->list.len;
  bool ran = rl_start(&t->ctx, t->sample.p, t->rules, &o, false, &t->run) &&
             rl_go(&t->run, &o, allowed, true);
  if (!ran && t->ctx.diags->list.len > before)
    say(t, t->ctx.diags->list.data[before].message, NULL, "");
  if (!ran || !applied(t))
    return;
  t->out->fired++;
  t->inputs = make_inputs(t);
  t->outputs = interpret(t, t->sample.p);
  for (uint32_t k = 0; t->outputs && k < t->o->variants && t->out->sound; k++)
    compare_variant(t, k);
}

static void
open_trial(trial *t) {
  static const gs_dtype dtypes[] = {GS_I32, GS_I32, GS_F32, GS_F32, GS_I8};
  bs_arena_init(&t->arena, &t->heap);
  t->ctx = *t->outer;
  t->ctx.heap = &t->heap;
  t->ctx.arena = &t->arena;
  t->sample = (rl_sample){.ctx = &t->ctx,
                          .p = gs_program_new(&t->ctx, t->rules->target),
                          .state = t->seed,
                          .max_elements = 20000};
  t->sample.dtype = dtypes[rl_random_below(&t->sample, 5)];
}

static void
rule_trial(void *arg) {
  trial *t = arg;
  gs_term root;
  open_trial(t);
  if (!rl_sample_left(&t->sample, t->rules->compiled.data[t->rule], &root))
    return;
  gs_add_output(t->sample.p, "out", root, BS_NOWHERE);
  run_program(t, 2);
}

/* A random program: operators over what is there, the last terms live. */
static void
together_trial(void *arg) {
  trial *t = arg;
  BS_VEC(gs_term) pool = {0};
  open_trial(t);
  rl_sample *s = &t->sample;
  for (uint32_t k = 0; k < 3; k++)
    bs_push(&t->heap, &pool, rl_random_leaf(s));
  for (uint32_t k = 0; k < 60 && pool.len < 12; k++) {
    gs_op op = (gs_op)(GS_ACCESS + rl_random_below(s, GS_CALL - GS_ACCESS));
    uint32_t n = (uint32_t)gs_op_table[op].kids;
    gs_term kids[2];
    gs_type types[2];
    const gs_type *list[2] = {&types[0], &types[1]};
    for (uint32_t j = 0; j < n; j++) {
      uint32_t back = (uint32_t)rl_random_below(s, pool.len < 4 ? pool.len : 4);
      kids[j] = pool.data[pool.len - 1 - back];
      gs_type_at(s->p, kids[j], &types[j]);
    }
    gs_term made =
        rl_sample_add(s, op, rl_random_attr(s, op, list, n), kids, n);
    if (gs_term_ok(made))
      bs_push(&t->heap, &pool, made);
  }
  gs_add_output(s->p, "out", bs_last(&pool), BS_NOWHERE);
  run_program(t, 6);
}

/* --- from outside --------------------------------------------------------- */

/* Each attempt has its own seed, so one can be looked at alone. */
static void
attempt(trial *t, void (*body)(void *)) {
  bs_diags *d = t->outer->diags;
  uint32_t diags = d->list.len, errors = d->errors;
  bs_heap_init_child(&t->heap, t->outer->heap, 0);
  if (!bs_protect(t->outer->heap, body, t))
    t->out->attempts = t->o->attempts;
  bs_heap_done(&t->heap);
  d->list.len = diags;
  d->errors = errors;
}

static bool
check(const gs_context *ctx, const rl_rules *rules, uint32_t rule,
      const rl_sound_options *o, rl_sound_result *out, void (*body)(void *)) {
  trial *t = bs_calloc(ctx->heap, 1, sizeof *t);
  *out = (rl_sound_result){.sound = true};
  while (out->sound && out->fired < o->programs &&
         out->attempts < o->attempts) {
    uint64_t seed = o->seed * 1000003 + rule * (uint64_t)7919;
    *t = (trial){.outer = ctx,
                 .rules = rules,
                 .rule = rule,
                 .o = o,
                 .out = out,
                 .seed = seed + out->attempts++};
    attempt(t, body);
  }
  bs_free(ctx->heap, t);
  return out->sound;
}

bool
rl_check_sound(const gs_context *ctx, const rl_rules *rules, uint32_t rule,
               const rl_sound_options *o, rl_sound_result *out) {
  assert(rule < rules->compiled.len);
  return check(ctx, rules, rule, o, out, rule_trial);
}

bool
rl_check_sound_together(const gs_context *ctx, const rl_rules *rules,
                        const rl_sound_options *o, rl_sound_result *out) {
  return check(ctx, rules, UINT32_MAX, o, out, together_trial);
}
