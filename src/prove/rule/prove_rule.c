/* SPDX-License-Identifier: MIT */
/* prove_rule.c - a rule asked of many shapes, and what follows; see
 * prove_rule.h. */
#include "prove/rule/prove_rule.h"
#include "prove/rule/asking.h"
#include "base/random.h"
#include <stdio.h>

void
pv_rule_defaults(pv_rule_options *o) {
  *o = (pv_rule_options){.seed = 1, .shapes = 224, .attempts = 1500};
  pv_defaults(&o->equal);
  o->equal.runs = 18;
  o->equal.max_elements = 100000;
  o->equal.max_work = 4000000;
  o->equal.max_operations = 500000;
  o->equal.max_run = 2000000;
  o->equal.max_bytes = (size_t)1 << 28;
}

const rl_parts *
pv_parts_of(const gs_context *ctx, const rl_rules *rules, const rl_rule *rule) {
  rl_parts *parts = BS_NEW(ctx->arena, rl_parts);
  rl_parts_of(rules, rule, parts);
  return parts;
}

/* --- terms that nothing matches
 * -------------------------------------------- */

static bool
is_matched(const rl_parts *parts, uint32_t slot) {
  for (uint32_t k = 0; k < parts->n_parts; k++) {
    if (parts->root_slots[k] == slot)
      return true;
    for (uint32_t i = 0; i < parts->parts[k].n; i++)
      if (parts->parts[k].nodes[i].is_slot &&
          parts->parts[k].nodes[i].slot == slot)
        return true;
  }
  return false;
}

/* A name that stands for a term, but is given to what a condition computes:
 * NULL when there is none. */
static const char *
unmatched_term(const pv_asking *pr) {
  const rl_parts *parts = pr->parts;
  for (uint32_t k = 0; k < parts->n_slots; k++)
    if (pr->rule->scope.vars.data[k].sort == GS_SORT_CLASS &&
        !is_matched(parts, k))
      return pr->rule->scope.vars.data[k].name;
  return NULL;
}

/* --- the verdict ---------------------------------------------------------- */

static const char *
say(const pv_asking *pr, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return bs_arena_printf(
      pr->ctx->arena, "%s%s", text,
      pr->turned_on ? " (with parameters that are 0 set to 1, 2, 3)" : "");
}

/* What follows where shapes are all there is to go by. */
static const char *
left_out(const pv_asking *pr) {
  return pr->out->cut
             ? bs_arena_printf(
                   pr->ctx->arena,
                   "; %u %s more than %llu choices for "
                   "its patterns and conditions, and the rest of "
                   "these was left out",
                   BS_COUNTED_AS(pr->out->cut, "sample has", "samples have"),
                   (unsigned long long)RL_MOST_CHOICES)
             : "";
}

void
pv_not_general(pv_asking *pr, const char *format, ...) {
  char text[400];
  va_list args;
  if (pr->narrow)
    return;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  pr->narrow = true;
  pr->out->why = bs_arena_strdup(pr->ctx->arena, text);
}

/* What follows the reason where floats are near to what a rule computes. */
#define ROUNDED ", up to the rounding of the numbers that it computes"

/* What follows it where the condition contradicts itself, or the types. */
#define NOWHERE ", and applies to none of them"

/* On every shape; perhaps for all sizes, too. */
static void
conclude_proved(pv_asking *pr) {
  pv_rule_answer *out = pr->out;
  const char *order = pr->any_order ? PV_ANY_ORDER : "";
  if (!pr->narrow && out->forms) {
    out->verdict = PV_PROVED;
    out->reason =
        say(pr, "for all sizes at ranks up to %u (%u %s)%s%s%s%s", out->rank,
            BS_COUNTED(out->forms, "form"), pr->applies ? "" : NOWHERE,
            out->shapes ? "" : ", at no shape besides", order,
            pr->rounded ? ROUNDED : "");
    return;
  }
  out->verdict = PV_CHECKED;
  if (out->too_large)
    out->reason =
        say(pr, "at %u %s, %u larger %s undecided%s: %s%s",
            BS_COUNTED(out->shapes, "shape"), BS_COUNTED(out->too_large, "one"),
            order, out->why, left_out(pr));
  else
    out->reason = say(pr, "at %u %s%s: %s%s", BS_COUNTED(out->shapes, "shape"),
                      order, out->why, left_out(pr));
}

static void
conclude(pv_asking *pr) {
  pv_rule_answer *out = pr->out;
  if (pv_is_refuted(pr)) {
    out->verdict = PV_REFUTED;
    out->reason = say(pr, "%s", out->answer.reason);
  } else if (!pr->options->shapes && !pr->narrow && out->forms) {
    conclude_proved(pr);
  } else if (!pr->options->shapes) {
    out->verdict = PV_UNKNOWN;
    out->reason = say(pr, "no shape was looked at: %s",
                      out->why ? out->why : "it has no form");
  } else if (!out->shapes) {
    out->verdict = PV_UNKNOWN;
    out->reason =
        say(pr, "%s%s",
            out->too_large ? "the shapes on which it applies are too large"
                           : "no shape was found on which it applies",
            left_out(pr));
  } else if (out->unknown) {
    out->verdict = PV_UNKNOWN;
    out->reason = say(pr, "%u of %u %s undecided: %s", out->unknown,
                      BS_COUNTED(out->shapes, "shape"), out->answer.reason);
  } else if (out->tested) {
    out->verdict = PV_TESTED;
    out->reason =
        say(pr, "checked at %u %s, tested at %u%s",
            BS_COUNTED(out->proved, "shape"), out->tested, left_out(pr));
  } else {
    conclude_proved(pr);
  }
}

static void
start_looking(pv_asking *pr) {
  const rl_parts *parts = pr->parts;
  pv_looked_start(&pr->out->looked, pr->ctx->values, parts);
  rl_numbers_of(pr->ctx->values, parts, &pr->numbers);
  pr->params = parts->asks_params;
}

static void
forget(void *heap) {
  bs_heap_done(heap);
}

/* What is decided of integers stays for all shapes, on a heap of its own. */
static bs_heap *
remember(const gs_context *ctx, pv_rule_options *options) {
  bs_heap *heap = bs_calloc(ctx->heap, 1, sizeof *heap);
  bs_heap_init_child(heap, ctx->heap, 0);
  bs_defer(ctx->heap, forget, heap);
  options->equal.memo = pv_memo_new(heap);
  return heap;
}

static void
prove(const gs_context *ctx, const rl_rules *rules, const rl_rule *rule,
      const pv_rule_options *options, pv_rule_answer *out) {
  pv_rule_options own = *options;
  pv_asking pr = {.ctx = ctx,
                  .rules = rules,
                  .rule = rule,
                  .parts = pv_parts_of(ctx, rules, rule),
                  .options = &own,
                  .out = out,
                  .asked = GS_COMPUTE_COUNT,
                  .dtype = GS_DTYPE_COUNT,
                  .long_runs = PV_LONG_RUNS,
                  .random = options->seed * BS_RANDOM_STEP + 1};
  *out = (pv_rule_answer){.verdict = PV_UNKNOWN};
  const char *name = unmatched_term(&pr);
  if (rl_makes_right_side(rule)) {
    out->reason = "it makes its right side for each term that it finds; "
                  "--verify asks about these";
    return;
  }
  if (name) {
    out->reason =
        say(&pr, "?%s stands for a term, but no pattern binds it", name);
    return;
  }
  bs_heap *known = remember(ctx, &own);
  own.equal.counts = &out->work;
  start_looking(&pr);
  pv_prove_generally(&pr);
  pv_look_at_shapes(&pr);
  conclude(&pr);
  bs_undefer(ctx->heap, forget, known);
  bs_heap_done(known);
  bs_free(ctx->heap, known);
  pv_words_done(ctx->heap, &pr.seen);
  pv_words_done(ctx->heap, &pr.samples);
}

/* Types and attributes of thousands of samples are of no use to the next rule:
 * an answer has none of them. */
void
pv_prove_rule(const gs_context *ctx, const rl_rules *rules, const rl_rule *rule,
              const pv_rule_options *options, pv_rule_answer *out) {
  uint32_t before = bs_values_count(ctx->values);
  prove(ctx, rules, rule, options, out);
  bs_values_forget(ctx->values, before);
}

void
pv_put_shape(bs_text *out, const pv_rule_answer *a) {
  bs_putf(out, "  on %s\n  left  %s\n", a->shape, a->left);
  if (a->right)
    bs_putf(out, "  right %s\n", a->right);
  bs_put(out, "  ");
  pv_put_answer(out, &a->answer);
}
