/* SPDX-License-Identifier: MIT */
/* rule_shape.c - one shape of a rule: made, matched, judged.
 *
 * Terms are grown on memory of the attempt's own, and the rule is applied to
 * them as in a run; what stays are the answer's texts. */
#include "prove/rule/asking.h"
#include <assert.h>
#include <string.h>

/* Elements of terms whose sizes are near a number of the rule, for polynomials:
 * they are many, and relations do not mind. */
#define MOST_FOCUSED 6000
/* Elements of all terms from which on a shape that is not decided is passed
 * over: there are smaller ones. */
#define LARGE 500
/* Applications of one sample that say nothing new, after which it is left. */
#define MOST_REPEATED 4000
/* Samples with too many choices to look at each, after which there is no other:
 * each of them takes as long as thousands of small ones. */
#define MOST_CUT 16

/* One attempt, on memory of its own. */
typedef struct attempt {
  pv_asking *pr;
  bs_heap heap;
  gs_context ctx;
  gs_program *p;
  rl_sampler sampler;
  int64_t cost;
  pv_words judged;   /* equations of it */
  uint32_t repeated; /* applications that make one of these */
  uint32_t matches;
  bool fresh; /* a new shape was looked at */
} attempt;

/* --- shapes --------------------------------------------------------------- */

static bool
is_class(const pv_asking *pr, uint32_t slot) {
  assert(slot < pr->rule->scope.vars.len);
  return pr->rule->scope.vars.data[slot].sort == GS_SORT_CLASS;
}

/* A condition may give a name to a class that is no term of the sample. */
static bool
is_term(const attempt *a, uint32_t held) {
  return held < a->p->nodes.len;
}

/* Was the sequence that is open closed before? */
static bool
was_seen(bs_heap *heap, pv_words *w) {
  uint32_t *number = pv_words_close(heap, w);
  bool was = *number != BS_NO_ENTRY;
  *number = 1;
  return was;
}

static void
put_words(bs_heap *heap, pv_words *w, const uint32_t *words, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    pv_words_put(heap, w, words[k]);
}

/* What tells two shapes apart: types and kinds of terms, and attributes. */
static bool
shape_was_seen(const attempt *a, const uint32_t *slots) {
  bs_heap *heap = a->pr->ctx->heap;
  pv_words *w = &a->pr->seen;
  pv_words_open(w);
  pv_words_put(heap, w, a->sampler.dtype);
  for (uint32_t k = 0; k < a->sampler.parts->n_slots; k++) {
    uint32_t item[3] = {slots[k], 0, 0};
    if (is_class(a->pr, k) && is_term(a, slots[k])) {
      const gs_node *n = gs_at(a->p, (gs_term){slots[k]});
      item[0] = n->type.i;
      item[1] = n->op;
      item[2] = n->op == GS_TENSOR || n->op == GS_CONST ? 0 : n->attr.i;
    }
    put_words(heap, w, item, 3);
  }
  return was_seen(heap, w);
}

/* How often the rule applies to this sample; BS_NO_ENTRY where it is new.  Two
 * samples are told apart by all that the rule is applied to.  Values keep their
 * numbers while a rule is asked about, but for those of samples that failed. */
static uint32_t *
number_of_sample(const attempt *a, gs_term root) {
  bs_heap *heap = a->pr->ctx->heap;
  pv_words *w = &a->pr->samples;
  uint32_t whole[3] = {root.i, a->sampler.dtype, a->pr->setting};
  pv_words_open(w);
  put_words(heap, w, whole, 3);
  for (uint32_t k = 0; k < a->p->nodes.len; k++) {
    const gs_node *n = &a->p->nodes.data[k];
    uint32_t item[3] = {n->op, n->attr.i, n->n_kids};
    put_words(heap, w, item, 3);
    for (uint32_t j = 0; j < n->n_kids; j++)
      pv_words_put(heap, w, n->kids[j].i);
  }
  return pv_words_close(heap, w);
}

/* Variables of which the right side has nothing make the same equation of one
 * sample for each of their values, and there may be a hundred thousand.  Right
 * sides without a type have different faults. */
static bool
was_judged(attempt *a, const rl_equation *e, uint32_t n) {
  pv_words_open(&a->judged);
  for (uint32_t k = 0; k < n; k++) {
    if (!gs_term_ok(e[k].right))
      return false;
    pv_words_put(&a->heap, &a->judged, e[k].left.i);
    pv_words_put(&a->heap, &a->judged, e[k].right.i);
  }
  return was_seen(&a->heap, &a->judged);
}

static int64_t
cost_of(const gs_program *p) {
  int64_t sum = 0;
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    gs_type t;
    gs_type_at(p, (gs_term){k}, &t);
    sum += gs_elements(&t) + t.rank;
  }
  return sum;
}

/* --- texts ---------------------------------------------------------------- */

static void
put_variable(bs_text *out, const attempt *a, uint32_t slot, uint32_t held) {
  assert(slot < a->pr->rule->scope.vars.len);
  const gs_var *v = &a->pr->rule->scope.vars.data[slot];
  const bs_values *values = a->ctx.values;
  gs_type type;
  bs_putf(out, "%s?%s ", out->len ? ", " : "", v->name);
  if (!is_class(a->pr, slot)) {
    bs_put_value(out, values, (bs_value){held});
    return;
  }
  gs_type_at(a->p, (gs_term){held}, &type);
  gs_op op = gs_at(a->p, (gs_term){held})->op;
  gs_put_type(out, &type);
  if (op == GS_TENSOR || op == GS_ACCESS)
    return;
  bs_put(out, " = ");
  gs_print_term(a->p, (gs_term){held}, out);
}

static const char *
shape_text(attempt *a, const uint32_t *slots) {
  bs_text out;
  bs_text_init(&out, &a->heap);
  for (uint32_t k = 0; k < a->sampler.parts->n_slots; k++)
    if (slots[k] != UINT32_MAX &&
        a->pr->rule->scope.vars.data[k].name[0] != '(' &&
        (!is_class(a->pr, k) || is_term(a, slots[k])))
      put_variable(&out, a, k, slots[k]);
  return bs_arena_strdup(a->pr->ctx->arena, bs_text_str(&out));
}

static const char *
term_text(attempt *a, gs_term t) {
  bs_text out;
  if (!gs_term_ok(t))
    return NULL;
  bs_text_init(&out, &a->heap);
  gs_print_term(a->p, t, &out);
  return bs_arena_strdup(a->pr->ctx->arena, bs_text_str(&out));
}

/* --- one shape ------------------------------------------------------------ */

/* Reported: a refutation before all else, and of its kind the smallest. */
static bool
is_better(const pv_asking *pr, pv_verdict v, int64_t cost) {
  static const int weight[] = {
      [PV_PROVED] = 0, [PV_TESTED] = 1, [PV_UNKNOWN] = 2, [PV_REFUTED] = 3};
  int was = pr->out->shape ? weight[pr->out->answer.verdict] : 0;
  return weight[v] > was || (weight[v] == was && was && cost < pr->cost);
}

static void
report(attempt *a, const rl_equation *e, const uint32_t *slots,
       const pv_answer *answer) {
  pv_asking *pr = a->pr;
  if (!is_better(pr, answer->verdict, a->cost))
    return;
  pr->cost = a->cost;
  pr->out->answer = *answer;
  pr->out->shape = shape_text(a, slots);
  pr->out->left = term_text(a, e->left);
  pr->out->right = term_text(a, e->right);
}

static bool
is_limit(const gs_fault *f) {
  return f->code &&
         (!strcmp(f->code, "rank-limit") || !strcmp(f->code, "too-large"));
}

/* A few shapes beyond what a run may take are run once or twice: a rule may be
 * wrong from such a size on. */
static void
may_run_long(attempt *a, pv_options *options) {
  pv_asking *pr = a->pr;
  if (a->cost <= options->max_run || a->cost > pr->long_runs)
    return;
  pr->long_runs -= a->cost;
  options->max_run = 4 * a->cost;
}

static void
judge(attempt *a, const rl_equation *e, pv_answer *answer) {
  gs_context outer = a->ctx;
  outer.arena = a->pr->ctx->arena; /* for the texts that stay */
  if (gs_term_ok(e->right)) {
    pv_options options = a->pr->options->equal;
    if (a->pr->focus)
      options.max_elements = MOST_FOCUSED;
    may_run_long(a, &options);
    pv_equal_terms(&outer, a->p, e->left, e->right, &options, answer);
    return;
  }
  *answer = (pv_answer){.verdict = PV_REFUTED, .method = PV_BY_TYPES};
  answer->reason =
      bs_arena_printf(outer.arena, "the right side has no type: %s",
                      e->fault.code ? e->fault.message : "a term is missing");
}

/* What only size may keep from being proved. */
static bool
is_large(const attempt *a) {
  return a->pr->focus || a->cost > LARGE;
}

static bool
on_application(void *ctx, const rl_equation *e, uint32_t n,
               const uint32_t *slots) {
  attempt *a = ctx;
  pv_asking *pr = a->pr;
  pv_verdict worst = PV_PROVED;
  pv_count(&pr->out->work, PV_W_MATCHES, 1);
  a->matches++;
  if (was_judged(a, e, n))
    return ++a->repeated < MOST_REPEATED;
  if (shape_was_seen(a, slots))
    return true;
  for (uint32_t k = 0; k < n; k++) {
    pv_answer answer;
    if (!gs_term_ok(e[k].right) && is_limit(&e[k].fault))
      return true;
    judge(a, &e[k], &answer);
    pr->any_order |= answer.any_order;
    if (answer.verdict != PV_PROVED &&
        (answer.verdict == PV_REFUTED || !is_large(a)))
      report(a, &e[k], slots, &answer);
    if (worst != PV_REFUTED && answer.verdict != PV_PROVED)
      worst = answer.verdict;
  }
  if (is_large(a) && (worst == PV_UNKNOWN || worst == PV_TESTED)) {
    pr->out->too_large++;
    return true;
  }
  if (worst != PV_PROVED)
    pv_not_general(pr, "some shape is not proved");
  pv_looked_at(&pr->out->looked, a->p, &pr->rule->scope, slots,
               a->sampler.parts->n_slots);
  a->fresh = true;
  pr->out->shapes++;
  pr->out->proved += worst == PV_PROVED;
  pr->out->tested += worst == PV_TESTED;
  pr->out->unknown += worst == PV_UNKNOWN;
  return worst != PV_REFUTED;
}

static gs_dtype
random_dtype(rl_sampler *s) {
  static const gs_dtype likely[] = {GS_F32, GS_F32, GS_F32, GS_I32, GS_I32,
                                    GS_F64, GS_I8,  GS_I8,  GS_U8,  GS_BF16};
  return likely[rl_draw(s, sizeof likely / sizeof likely[0])];
}

/* A sample that was drawn before has no shape that is new; where the rule
 * applies is counted as if it had been looked at again.  Elements of constants,
 * which a condition may ask for, do not tell samples apart. */
static void
apply_rule(attempt *a, gs_term root) {
  pv_asking *pr = a->pr;
  uint32_t *before = a->p->constants.len ? NULL : number_of_sample(a, root);
  if (before && *before != BS_NO_ENTRY) {
    pv_count(&pr->out->work, PV_W_MATCHES, *before);
    return;
  }
  if (!rl_each_application(&a->ctx, pr->rules, pr->rule, a->p, root,
                           on_application, a))
    pr->out->cut++;
  else if (before)
    *before = a->matches;
}

static void
try_shape(void *arg) {
  attempt *a = arg;
  pv_asking *pr = a->pr;
  bs_arena arena;
  bs_diags diags;
  bs_arena_init(&arena, &a->heap);
  bs_diags_init(&diags, &a->heap);
  a->ctx = (gs_context){&a->heap, &arena, pr->ctx->values, &diags};
  a->p = gs_program_new(&a->ctx, rl_target(pr->rules));
  rl_sampler *s = &a->sampler;
  *s = (rl_sampler){.ctx = a->ctx,
                    .target = a->p->target,
                    .parts = pr->parts,
                    .sizes = pr->sizes,
                    .random = pr->random,
                    .asked = pr->asked,
                    .numbers = &pr->numbers,
                    .focus = pr->focus,
                    .real = pr->real,
                    .rank = pr->rank,
                    .p = a->p};
  s->dtype = pr->dtype == GS_DTYPE_COUNT ? random_dtype(s) : pr->dtype;
  s->slots = bs_calloc(&a->heap, s->parts->n_slots + (size_t)1, 4);
  s->growing = bs_calloc(&a->heap, s->parts->n_parts + (size_t)1, 1);
  uint32_t values = bs_values_count(pr->ctx->values);
  gs_term root = rl_sample_terms(s);
  pv_count(&pr->out->work, PV_W_SAMPLES, 1);
  pr->random = s->random;
  pr->left_free |= s->left_free;
  pr->asks_numbers |= s->asks_numbers;
  if (!gs_term_ok(root)) {
    bs_values_forget(pr->ctx->values, values);
    return;
  }
  a->cost = cost_of(a->p);
  pv_count(&pr->out->work, PV_W_ELEMENTS, (uint64_t)a->cost);
  if (pr->out->answer.verdict == PV_REFUTED && a->cost >= pr->cost)
    return;
  apply_rule(a, root);
}

/* True when a new shape was looked at. */
bool
pv_try_shape(pv_asking *pr) {
  if (pr->out->cut >= MOST_CUT)
    return false;
  attempt a = {.pr = pr};
  bs_heap_init_child(&a.heap, pr->ctx->heap, (size_t)1 << 28);
  bool ok = bs_protect(&a.heap, try_shape, &a);
  bs_heap_done(&a.heap);
  if (!ok)
    pr->random++;
  return ok && a.fresh;
}
