/* rule.c - a rule asked of many shapes; see rule.h.
 *
 * Sizes grow from one class to the next.  Once a shape refutes the rule only
 * smaller ones are looked at, so that the one reported is small. */
#include "prove/rule.h"
#include "base/hash.h"
#include "prove/sample.h"
#include "prove/symbolic.h"
#include <stdio.h>
#include <string.h>

#define FEW 6 /* shapes that prove nothing much */
/* Forms asked for all sizes, and operations of isl for each. */
#define MAX_FORMS          400
#define OPERATIONS_OF_FORM 40000
/* New shapes for each operator that is left free and for each dtype, and
 * attempts to find them. */
#define OF_EACH_OPERATOR 24
#define OF_EACH_DTYPE    12
#define TRIES_OF_EACH    600

static const struct {
  pv_sizes sizes;
  uint32_t share; /* of the shapes, in parts of 32 */
} classes[] = {
    {{2, 2, 512}, 6},   {{3, 2, 512}, 6},  {{3, 3, 1024}, 8},
    {{5, 3, 2048}, 6},  {{9, 4, 4096}, 3}, {{20, 2, 8192}, 2},
    {{48, 2, 8192}, 1},
};
#define CLASSES (sizeof classes / sizeof classes[0])

typedef struct prover {
  const gs_context *ctx;
  const rl_rules *rules;
  const rl_rule *rule;
  const pv_rule_options *options;
  pv_rule_answer *out;
  BS_VEC(uint64_t) seen;  /* shapes, hashed */
  BS_VEC(uint64_t) forms; /* those looked at, hashed */
  bool numbers;           /* a proof is for the numbers of its form alone */
  bool narrow;            /* no forms: the rule is none of those, or a form was
                             not proved */
  uint64_t random;
  uint32_t size_class;
  int64_t cost;     /* of the shape reported */
  bool turned_on;   /* the shapes are those of other parameters */
  gs_compute asked; /* of free operators: GS_COMPUTE_COUNT: any */
  gs_dtype dtype;   /* of most tensors: GS_DTYPE_COUNT: any */
  bool left_free;   /* the rule leaves an operator free */
} prover;

/* One attempt, on memory of its own. */
typedef struct attempt {
  prover *pr;
  bs_heap heap;
  gs_context ctx;
  gs_program *p;
  pv_sampler sampler;
  int64_t cost;
  bool fresh; /* a new shape was looked at */
} attempt;

void
pv_rule_defaults(pv_rule_options *o) {
  *o = (pv_rule_options){.seed = 1, .shapes = 224, .attempts = 1500};
  pv_defaults(&o->equal);
  o->equal.runs = 18;
  o->equal.max_elements = 100000;
  o->equal.max_work = 1500000;
  o->equal.max_operations = 500000;
  o->equal.max_run = 2000000;
  o->equal.max_bytes = (size_t)1 << 28;
}

/* --- shapes --------------------------------------------------------------- */

static bool
is_class(const prover *pr, uint32_t slot) {
  return pr->rule->scope.vars.data[slot].sort == GS_SORT_CLASS;
}

/* A condition may give a name to a class that is no term of the sample. */
static bool
is_term(const attempt *a, uint32_t held) {
  return held < a->p->nodes.len;
}

/* What tells two shapes apart: types and kinds of terms, and attributes. */
static uint64_t
shape_hash(const attempt *a, const uint32_t *slots) {
  uint64_t h = a->sampler.dtype;
  for (uint32_t k = 0; k < a->sampler.parts.n_slots; k++) {
    uint64_t item[4] = {h, slots[k], 0, 0};
    if (is_class(a->pr, k) && is_term(a, slots[k])) {
      const gs_node *n = gs_at(a->p, (gs_term){slots[k]});
      item[1] = n->type.i;
      item[2] = n->op;
      item[3] = n->op == GS_TENSOR || n->op == GS_CONST ? 0 : n->attr.i;
    }
    h = bs_hash(item, sizeof item);
  }
  return h;
}

static bool
seen_before(prover *pr, uint64_t hash) {
  for (uint32_t k = 0; k < pr->seen.len; k++)
    if (pr->seen.data[k] == hash)
      return true;
  bs_push(pr->ctx->heap, &pr->seen, hash);
  return false;
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
shape_text(const attempt *a, const uint32_t *slots) {
  bs_text out;
  bs_text_init(&out, (bs_heap *)&a->heap);
  for (uint32_t k = 0; k < a->sampler.parts.n_slots; k++)
    if (slots[k] != UINT32_MAX &&
        a->pr->rule->scope.vars.data[k].name[0] != '(' &&
        (!is_class(a->pr, k) || is_term(a, slots[k])))
      put_variable(&out, a, k, slots[k]);
  return bs_arena_strdup(a->pr->ctx->arena, bs_text_str(&out));
}

static const char *
term_text(const attempt *a, gs_term t) {
  bs_text out;
  if (!gs_term_ok(t))
    return NULL;
  bs_text_init(&out, (bs_heap *)&a->heap);
  gs_print_term(a->p, t, &out);
  return bs_arena_strdup(a->pr->ctx->arena, bs_text_str(&out));
}

/* --- one shape ------------------------------------------------------------ */

/* Reported: a refutation before all else, and of its kind the smallest. */
static bool
is_better(const prover *pr, pv_verdict v, int64_t cost) {
  static const int weight[] = {
      [PV_PROVED] = 0, [PV_TESTED] = 1, [PV_UNKNOWN] = 2, [PV_REFUTED] = 3};
  int was = pr->out->shape ? weight[pr->out->answer.verdict] : 0;
  return weight[v] > was || (weight[v] == was && was && cost < pr->cost);
}

static void
report(attempt *a, const rl_equation *e, const uint32_t *slots,
       const pv_answer *answer) {
  prover *pr = a->pr;
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

static void
judge(attempt *a, const rl_equation *e, pv_answer *answer) {
  gs_context outer = a->ctx;
  outer.arena = a->pr->ctx->arena; /* for the texts that stay */
  if (gs_term_ok(e->right)) {
    pv_equal_terms(&outer, a->p, e->left, e->right, &a->pr->options->equal,
                   answer);
    return;
  }
  *answer = (pv_answer){.verdict = PV_REFUTED, .method = PV_BY_TYPES};
  answer->reason =
      bs_arena_printf(outer.arena, "the right side has no type: %s",
                      e->fault.code ? e->fault.message : "a term is missing");
}

/* --- all sizes ------------------------------------------------------------ */

/* A form that was not looked at before is asked for all sizes; after the first
 * that is not proved there is nothing to claim, and no more are asked. */
static void
look_at_form(attempt *a, const uint32_t *slots) {
  prover *pr = a->pr;
  pv_form form = {pr->rules, pr->rule, a->p, slots, OPERATIONS_OF_FORM};
  uint64_t key;
  bool numbers = false;
  pr->narrow |= pr->turned_on || !pv_form_key(&form, a->ctx.heap, &key);
  if (pr->narrow)
    return;
  for (uint32_t k = 0; k < pr->forms.len; k++)
    if (pr->forms.data[k] == key)
      return;
  bs_push(pr->ctx->heap, &pr->forms, key);
  pr->out->forms++;
  bool ok =
      pr->forms.len <= MAX_FORMS && pv_prove_form(&form, a->ctx.heap, &numbers);
  pr->out->general_forms += ok;
  pr->numbers |= numbers;
  pr->narrow = !ok;
}

static bool
on_application(void *ctx, const rl_equation *e, uint32_t n,
               const uint32_t *slots) {
  attempt *a = ctx;
  prover *pr = a->pr;
  pv_verdict worst = PV_PROVED;
  if (seen_before(pr, shape_hash(a, slots)))
    return true;
  for (uint32_t k = 0; k < n; k++) {
    pv_answer answer;
    if (!gs_term_ok(e[k].right) && is_limit(&e[k].fault))
      return true;
    judge(a, &e[k], &answer);
    if (answer.verdict != PV_PROVED)
      report(a, &e[k], slots, &answer);
    if (worst != PV_REFUTED && answer.verdict != PV_PROVED)
      worst = answer.verdict;
  }
  if (worst == PV_PROVED)
    look_at_form(a, slots);
  else
    pr->narrow = true;
  a->fresh = true;
  pr->out->shapes++;
  pr->out->proved += worst == PV_PROVED;
  pr->out->tested += worst == PV_TESTED;
  pr->out->unknown += worst == PV_UNKNOWN;
  return worst != PV_REFUTED;
}

static gs_dtype
random_dtype(pv_sampler *s) {
  static const gs_dtype likely[] = {GS_F32, GS_F32, GS_F32, GS_I32, GS_I32,
                                    GS_F64, GS_I8,  GS_I8,  GS_U8,  GS_BF16};
  return likely[pv_random(s, sizeof likely / sizeof likely[0])];
}

static void
try_shape(void *arg) {
  attempt *a = arg;
  prover *pr = a->pr;
  bs_arena arena;
  bs_diags diags;
  bs_arena_init(&arena, &a->heap);
  bs_diags_init(&diags, &a->heap);
  a->ctx = (gs_context){&a->heap, &arena, pr->ctx->values, &diags};
  a->p = gs_program_new(&a->ctx, rl_target(pr->rules));
  pv_sampler *s = &a->sampler;
  *s = (pv_sampler){.ctx = a->ctx,
                    .target = a->p->target,
                    .sizes = classes[pr->size_class].sizes,
                    .random = pr->random,
                    .asked = pr->asked,
                    .p = a->p};
  rl_parts_of(pr->rules, pr->rule, &s->parts);
  s->dtype = pr->dtype == GS_DTYPE_COUNT ? random_dtype(s) : pr->dtype;
  s->slots = bs_calloc(&a->heap, s->parts.n_slots + (size_t)1, 4);
  s->growing = bs_calloc(&a->heap, s->parts.n_parts + (size_t)1, 1);
  gs_term root = pv_sample(s);
  pr->random = s->random;
  pr->left_free |= s->left_free;
  if (!gs_term_ok(root))
    return;
  a->cost = cost_of(a->p);
  if (pr->out->answer.verdict == PV_REFUTED && a->cost >= pr->cost)
    return;
  rl_each_application(&a->ctx, pr->rules, pr->rule, a->p, root, on_application,
                      a);
}

/* True when a new shape was looked at. */
static bool
attempt_once(prover *pr) {
  attempt a = {.pr = pr};
  bs_heap_init_child(&a.heap, pr->ctx->heap, (size_t)1 << 28);
  bool ok = bs_protect(&a.heap, try_shape, &a);
  bs_heap_done(&a.heap);
  if (!ok)
    pr->random++;
  return ok && a.fresh;
}

/* --- all shapes ----------------------------------------------------------- */

static bool
is_refuted(const prover *pr) {
  return pr->out->shape && pr->out->answer.verdict == PV_REFUTED;
}

static void
look_at_class(prover *pr) {
  uint32_t wanted =
      (pr->options->shapes * classes[pr->size_class].share + 31) / 32;
  for (uint32_t tries = 0; wanted && tries < pr->options->attempts; tries++)
    if (attempt_once(pr)) {
      wanted--;
      tries = 0;
      if (is_refuted(pr))
        return;
    }
}

static void
look_for_smaller(prover *pr) {
  uint32_t last = pr->size_class;
  for (uint32_t k = 0; k < pr->options->attempts; k++) {
    pr->size_class = k % (last + 1);
    attempt_once(pr);
  }
}

/* Shapes of each operator that a rule leaves free, each with all dtypes in
 * turn, so that none which its condition allows is missed by chance. */
static void
look_at_operators(prover *pr) {
  for (int op = 0; op < GS_COMPUTE_COUNT && !is_refuted(pr); op++) {
    uint32_t wanted = OF_EACH_OPERATOR;
    pr->asked = (gs_compute)op;
    for (uint32_t k = 0; wanted && k < TRIES_OF_EACH && !is_refuted(pr); k++) {
      pr->dtype = (gs_dtype)(k % GS_DTYPE_COUNT);
      pr->size_class = k / GS_DTYPE_COUNT % 4;
      wanted -= attempt_once(pr);
    }
  }
  pr->asked = GS_COMPUTE_COUNT;
  pr->dtype = GS_DTYPE_COUNT;
}

/* Likewise of each dtype. */
static void
look_at_dtypes(prover *pr) {
  for (int d = 0; d < GS_DTYPE_COUNT && !is_refuted(pr); d++) {
    uint32_t wanted = OF_EACH_DTYPE;
    pr->dtype = (gs_dtype)d;
    for (uint32_t k = 0; wanted && k < TRIES_OF_EACH && !is_refuted(pr); k++) {
      pr->size_class = k % 4;
      wanted -= attempt_once(pr);
    }
  }
  pr->dtype = GS_DTYPE_COUNT;
}

static void
look_at_all(prover *pr) {
  for (pr->size_class = 0; pr->size_class < CLASSES && !is_refuted(pr);
       pr->size_class++)
    look_at_class(pr);
  pr->size_class--;
  if (!is_refuted(pr))
    look_at_dtypes(pr);
  if (pr->left_free && !is_refuted(pr))
    look_at_operators(pr);
  if (is_refuted(pr))
    look_for_smaller(pr);
}

/* --- parameters ------------------------------------------------------------
 */

typedef struct variant {
  prover *pr;
  bs_heap heap;
  int64_t value;
} variant;

static void
look_turned_on(void *arg) {
  variant *v = arg;
  prover *pr = v->pr;
  const rl_rules *rules = pr->rules;
  const rl_rule *rule = pr->rule;
  bs_arena arena;
  bs_diags diags;
  bs_arena_init(&arena, &v->heap);
  bs_diags_init(&diags, &v->heap);
  gs_context ctx = {&v->heap, &arena, pr->ctx->values, &diags};
  pr->rules = rl_turned_on(&ctx, rules, v->value);
  pr->rule = pr->rules ? rl_find(pr->rules, rule->name) : NULL;
  if (pr->rule)
    look_at_all(pr);
  pr->rules = rules;
  pr->rule = rule;
}

/* A rule that applies nowhere may wait for a parameter. */
static void
look_with_parameters(prover *pr) {
  const rl_rules *rules = pr->rules;
  const rl_rule *rule = pr->rule;
  const pv_rule_options *options = pr->options;
  pr->narrow = true;
  pv_rule_options fewer = *options;
  fewer.shapes = (options->shapes + 1) / 2;
  pr->options = &fewer;
  for (int64_t value = 1; value <= 3 && !is_refuted(pr); value++) {
    variant v = {.pr = pr, .value = value};
    bs_heap_init_child(&v.heap, pr->ctx->heap, (size_t)1 << 29);
    bs_protect(&v.heap, look_turned_on, &v);
    bs_heap_done(&v.heap);
    pr->rules = rules;
    pr->rule = rule;
  }
  pr->options = options;
  pr->turned_on = pr->out->shapes > 0;
}

/* --- terms that nothing matches --------------------------------------------
 */

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
unmatched_term(const prover *pr) {
  rl_parts *parts = BS_NEW(pr->ctx->arena, rl_parts);
  rl_parts_of(pr->rules, pr->rule, parts);
  for (uint32_t k = 0; k < parts->n_slots; k++)
    if (is_class(pr, k) && !is_matched(parts, k))
      return pr->rule->scope.vars.data[k].name;
  return NULL;
}

/* --- the verdict ---------------------------------------------------------- */

static const char *
say(const prover *pr, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return bs_arena_printf(
      pr->ctx->arena, "%s%s", text,
      pr->turned_on ? " (with parameters that are 0 set to 1, 2, 3)" : "");
}

/* On every shape; perhaps for all sizes, too. */
static void
conclude_proved(prover *pr) {
  pv_rule_answer *out = pr->out;
  bool general = !pr->narrow && out->forms && out->forms == out->general_forms;
  out->verdict = PV_PROVED;
  out->all_sizes = general && !pr->numbers;
  if (!general)
    out->reason = say(pr, "proved on %u shapes", out->shapes);
  else
    out->reason = say(
        pr, "proved on %u shapes, and for all sizes%s (%u of %u forms)",
        out->shapes, pr->numbers ? " with the strides and factors seen" : "",
        out->general_forms, out->forms);
}

static void
conclude(prover *pr) {
  pv_rule_answer *out = pr->out;
  if (is_refuted(pr)) {
    out->verdict = PV_REFUTED;
    out->reason = say(pr, "%s", out->answer.reason);
  } else if (!out->shapes) {
    out->verdict = PV_UNKNOWN;
    out->reason = "no shape was found on which it applies";
  } else if (out->unknown) {
    out->verdict = PV_UNKNOWN;
    out->reason = say(pr, "%u of %u shapes undecided: %s", out->unknown,
                      out->shapes, out->answer.reason);
  } else if (out->tested) {
    out->verdict = PV_TESTED;
    out->reason =
        say(pr, "proved on %u shapes, tested on %u", out->proved, out->tested);
  } else if (out->shapes < FEW) {
    out->verdict = PV_TESTED;
    out->reason =
        say(pr, "proved on %u shapes; too few were found", out->shapes);
  } else {
    conclude_proved(pr);
  }
}

void
pv_prove_rule(const gs_context *ctx, const rl_rules *rules, const rl_rule *rule,
              const pv_rule_options *options, pv_rule_answer *out) {
  prover pr = {.ctx = ctx,
               .rules = rules,
               .rule = rule,
               .options = options,
               .out = out,
               .asked = GS_COMPUTE_COUNT,
               .dtype = GS_DTYPE_COUNT,
               .random = options->seed * 0x9e3779b97f4a7c15 + 1};
  *out = (pv_rule_answer){.verdict = PV_UNKNOWN};
  const char *name = unmatched_term(&pr);
  if (name) {
    out->reason =
        say(&pr, "?%s stands for a term, but no pattern binds it", name);
    return;
  }
  look_at_all(&pr);
  if (!out->shapes)
    look_with_parameters(&pr);
  conclude(&pr);
  bs_vec_done(ctx->heap, &pr.forms);
  bs_vec_done(ctx->heap, &pr.seen);
}

void
pv_put_shape(bs_text *out, const pv_rule_answer *a) {
  bs_putf(out, "  on %s\n  left  %s\n", a->shape, a->left);
  if (a->right)
    bs_putf(out, "  right %s\n", a->right);
  bs_put(out, "  ");
  pv_put_answer(out, &a->answer);
}

void
pv_put_rule_answer(bs_text *out, const rl_rule *rule, const pv_rule_answer *a) {
  bs_putf(out, "%s %s: %s\n", pv_verdict_name(a->verdict), rule->name,
          a->reason);
  if (a->shape)
    pv_put_shape(out, a);
}
