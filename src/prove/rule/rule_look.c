/* SPDX-License-Identifier: MIT */
/* rule_look.c - which shapes of a rule are looked at.
 *
 * Sizes grow from one class to the next; dtypes and operators that are left
 * free get shapes of their own, and so do values of parameters.  Once a shape
 * refutes the rule only smaller ones are looked at, so that the one reported is
 * small. */
#include "prove/rule/asking.h"

/* New shapes for each operator that is left free and for each dtype, and
 * attempts to find them. */
#define OF_EACH_OPERATOR 24
#define OF_EACH_DTYPE    12
#define TRIES_OF_EACH    600
/* New shapes of each high rank, and for numbers that the rule may tell apart:
 * those below LEAST_FOCUSED are among the sizes anyway. */
#define OF_EACH_RANK    12
#define TRIES_OF_RANK   200
#define MOST_OF_RANKS   4096 /* elements */
#define OF_NUMBERS      400  /* for all of them */
#define MOST_OF_NUMBER  64
#define TRIES_OF_NUMBER 250
#define LEAST_FOCUSED   5
#define OF_EACH_REAL    3
#define TRIES_OF_REAL   40
#define MAX_FOCUSED     24
#define MAX_SETTINGS    48 /* of parameters */

static const struct {
  rl_sample_sizes sizes;
  uint32_t share; /* of the shapes, in parts of 32 */
} classes[] = {
    {{2, 2, 512}, 6},   {{3, 2, 512}, 6},  {{3, 3, 1024}, 8},
    {{5, 3, 2048}, 6},  {{9, 4, 4096}, 3}, {{20, 2, 8192}, 2},
    {{48, 2, 8192}, 1},
};
#define CLASSES (sizeof classes / sizeof classes[0])

/* --- classes of sizes
 * ----------------------------------------------------------- */

static bool
try_class(pv_asking *pr, uint32_t k) {
  pr->size_class = k;
  pr->sizes = classes[k].sizes;
  return pv_try_shape(pr);
}

static void
look_at_class(pv_asking *pr, uint32_t class) {
  uint32_t wanted = (pr->options->shapes * classes[class].share + 31) / 32;
  for (uint32_t tries = 0; wanted && tries < pr->options->attempts; tries++)
    if (try_class(pr, class)) {
      wanted--;
      tries = 0;
      if (pv_is_refuted(pr))
        return;
    }
}

static void
look_for_smaller(pv_asking *pr) {
  uint32_t last = pr->size_class;
  for (uint32_t k = 0; k < pr->options->attempts; k++)
    try_class(pr, k % (last + 1));
}

/* Shapes of each operator that a rule leaves free, each with all dtypes in
 * turn, so that none which its condition allows is missed by chance. */
static void
look_at_operators(pv_asking *pr) {
  for (int op = 0; op < GS_COMPUTE_COUNT && !pv_is_refuted(pr); op++) {
    uint32_t wanted = OF_EACH_OPERATOR;
    pr->asked = (gs_compute)op;
    for (uint32_t k = 0; wanted && k < TRIES_OF_EACH && !pv_is_refuted(pr);
         k++) {
      pr->dtype = (gs_dtype)(k % GS_DTYPE_COUNT);
      wanted -= try_class(pr, k / GS_DTYPE_COUNT % 4);
    }
  }
  pr->asked = GS_COMPUTE_COUNT;
  pr->dtype = GS_DTYPE_COUNT;
}

/* New shapes of each dtype. */
static void
look_at_dtypes(pv_asking *pr) {
  for (int d = 0; d < GS_DTYPE_COUNT && !pv_is_refuted(pr); d++) {
    uint32_t wanted = OF_EACH_DTYPE;
    pr->dtype = (gs_dtype)d;
    for (uint32_t k = 0; wanted && k < TRIES_OF_EACH && !pv_is_refuted(pr);
         k++) {
      wanted -= try_class(pr, k % 4);
    }
  }
  pr->dtype = GS_DTYPE_COUNT;
}

static void
look_at_rank(pv_asking *pr, uint32_t rank) {
  uint32_t wanted = OF_EACH_RANK;
  pr->rank = rank;
  pr->sizes = (rl_sample_sizes){2, rank, MOST_OF_RANKS};
  for (uint32_t k = 0; wanted && k < TRIES_OF_RANK && !pv_is_refuted(pr); k++)
    wanted -= pv_try_shape(pr);
}

/* Ranks beyond those that are likely, up to the language's limit, and those
 * that the rule's numbers may be. */
static void
look_at_ranks(pv_asking *pr) {
  static const uint32_t ranks[] = {5, 6, 7, 8, 9, 10, 12, 16, GS_MAX_RANK};
  for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++)
    look_at_rank(pr, ranks[r]);
  for (uint32_t k = 0; k < pr->numbers.n_ints; k++)
    if (pr->numbers.ints[k] > 10 && pr->numbers.ints[k] < GS_MAX_RANK)
      look_at_rank(pr, (uint32_t)pr->numbers.ints[k]);
  pr->rank = 0;
}

static void
look_at_number(pv_asking *pr, int64_t number, uint32_t wanted) {
  pr->focus = number;
  pr->sizes = (rl_sample_sizes){4, 3, 4 * number + 512};
  for (uint32_t k = 0; wanted && k < TRIES_OF_NUMBER && !pv_is_refuted(pr); k++)
    wanted -= pv_try_shape(pr);
  pr->focus = 0;
}

/* Sizes and amounts on both sides of what the rule may tell apart; the fewer
 * numbers there are, the more shapes of each. */
static void
look_at_numbers(pv_asking *pr) {
  const rl_numbers *n = &pr->numbers;
  int64_t number[MAX_FOCUSED];
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->n_ints && count < MAX_FOCUSED; i++)
    if (n->ints[i] >= LEAST_FOCUSED)
      number[count++] = n->ints[i];
  uint32_t each = OF_NUMBERS / (count ? count : 1);
  each = each < MOST_OF_NUMBER ? each : MOST_OF_NUMBER;
  for (uint32_t i = 0; i < count && !pv_is_refuted(pr); i++)
    look_at_number(pr, number[i], each);
}

/* Parameters of operators that the rule may tell apart. */
static void
look_at_reals(pv_asking *pr) {
  const rl_numbers *n = &pr->numbers;
  for (uint32_t i = 0; i < n->n_reals && !pv_is_refuted(pr); i++) {
    uint32_t wanted = OF_EACH_REAL;
    pr->real = &n->reals[i];
    for (uint32_t k = 0; wanted && k < TRIES_OF_REAL && !pv_is_refuted(pr); k++)
      wanted -= try_class(pr, k % 2);
  }
  pr->real = NULL;
}

static void
look_at_classes(pv_asking *pr) {
  for (uint32_t k = 0; k < CLASSES && !pv_is_refuted(pr); k++)
    look_at_class(pr, k);
}

static void
look_at_all(pv_asking *pr) {
  look_at_classes(pr);
  if (!pv_is_refuted(pr))
    look_at_dtypes(pr);
  if (!pv_is_refuted(pr))
    look_at_ranks(pr);
  if (!pv_is_refuted(pr))
    look_at_numbers(pr);
  if (pr->asks_numbers && !pv_is_refuted(pr))
    look_at_reals(pr);
  if (pr->left_free && !pv_is_refuted(pr))
    look_at_operators(pr);
  if (pv_is_refuted(pr))
    look_for_smaller(pr);
}

/* --- parameters ---------------------------------------------------------- */

typedef struct variant {
  pv_asking *pr;
  bs_heap heap;
  int64_t value;
} variant;

static void
look_turned_on(void *arg) {
  variant *v = arg;
  pv_asking *pr = v->pr;
  const rl_rules *rules = pr->rules;
  const rl_rule *rule = pr->rule;
  const rl_parts *parts = pr->parts;
  bs_arena arena;
  bs_diags diags;
  bs_arena_init(&arena, &v->heap);
  bs_diags_init(&diags, &v->heap);
  gs_context ctx = {&v->heap, &arena, pr->ctx->values, &diags};
  uint32_t before = pr->out->shapes;
  pr->setting++;
  pr->rules = rl_under(&ctx, rules, rule, v->value);
  pr->rule = pr->rules ? rl_find(pr->rules, rule->name) : NULL;
  if (pr->rule) {
    pr->parts = pv_parts_of(&ctx, pr->rules, pr->rule);
    look_at_classes(pr);
  }
  if (pr->rule && !before)
    look_at_all(pr);
  if (pv_is_refuted(pr))
    look_for_smaller(pr);
  if (pr->out->shapes > before)
    pv_looked_setting(&pr->out->looked, v->value);
  pr->rules = rules;
  pr->rule = rule;
  pr->parts = parts;
}

static void
look_under(pv_asking *pr, int64_t value) {
  const rl_rules *rules = pr->rules;
  const rl_rule *rule = pr->rule;
  const rl_parts *parts = pr->parts;
  variant v = {.pr = pr, .value = value};
  bs_heap_init_child(&v.heap, pr->ctx->heap, (size_t)1 << 29);
  bs_protect(&v.heap, look_turned_on, &v);
  bs_heap_done(&v.heap);
  pr->rules = rules;
  pr->rule = rule;
  pr->parts = parts;
}

/* Small numbers, which turn on what 0 turns off by custom; both sides of those
 * that are written; what two of these give, such as their sum or difference. */
static uint32_t
settings_of(const rl_numbers *n, int64_t *out) {
  uint32_t count = 0;
  for (int64_t k = 1; k <= 3; k++)
    out[count++] = k;
  for (uint32_t i = 0; i < n->n_ints && count + 4 <= MAX_SETTINGS; i++) {
    int64_t x = n->ints[i];
    out[count++] = x;
    out[count++] = i < n->n_written ? -x - 1 : -x;
    if (i < n->n_written) {
      out[count++] = x - 1;
      out[count++] = x + 1;
    }
  }
  return count;
}

/* Under other values of the rule's parameters; with more shapes when it
 * applies nowhere as it stands. */
static void
look_with_parameters(pv_asking *pr) {
  const pv_rule_options *options = pr->options;
  pv_rule_options fewer = *options;
  int64_t settings[MAX_SETTINGS];
  uint32_t n = settings_of(&pr->numbers, settings);
  bool nowhere = !pr->out->shapes;
  fewer.shapes = options->shapes / (nowhere ? 4 : 12) + 1;
  fewer.attempts = options->attempts / (nowhere ? 1 : 4) + 1;
  pr->options = &fewer;
  for (uint32_t k = 0; k < n && !pv_is_refuted(pr); k++)
    look_under(pr, settings[k]);
  pr->options = options;
  pr->turned_on = nowhere && pr->out->shapes > 0;
}

void
pv_look_at_shapes(pv_asking *pr) {
  if (!pr->options->shapes)
    return;
  look_at_all(pr);
  if (pr->params && !pv_is_refuted(pr))
    look_with_parameters(pr);
}
