/* SPDX-License-Identifier: MIT */
/* test_steady.c - a context that answers the same question again holds no more
 * memory than before: what is forgotten to be freed shows nowhere else, since
 * the context gives back all it has when it is freed.
 *
 * Each question is asked of a context whose allocator counts.  The first
 * times may keep names and values; after these nothing may grow each time. */
#include "fixture.h"
#include <stddef.h>

enum { WARM = 2, TIMES = 3 };

/* ---- a count of the bytes that are held ---- */

typedef union head {
  size_t size;
  max_align_t align;
} head;

static size_t held;

static void *
counted(void *arg, void *block, size_t size) {
  (void)arg;
  head *old = block ? (head *)block - 1 : NULL;
  size_t had = old ? old->size : 0;
  if (!size) {
    held -= had;
    free(old);
    return NULL;
  }
  head *now = realloc(old, sizeof *now + size);
  if (!now)
    return NULL;
  held += size - had;
  now->size = size;
  return now + 1;
}

/* ---- the questions ---- */

#define CHAIN                                                                  \
  "(tensor x (shape 8 8) f32)\n"                                               \
  "(let n (compute neg (compute neg x)))\n"                                    \
  "(let y (compute reduceMax (windows (access n 1) (shape 2) (stride 2))))\n"  \
  "(output y)\n"
#define SHORT                                                                  \
  "(tensor x (shape 8 8) f32)\n"                                               \
  "(let y (compute reduceMax (windows (access x 1) (shape 2) (stride 2))))\n"  \
  "(output y)\n"
#define RULES                                                                  \
  "(rule twice \"Twice is not at all.\"\n"                                     \
  "  (compute neg (compute neg ?a)) => ?a)\n"                                  \
  "(rule fuse \"Of what is not below zero.\"\n"                                \
  "  (compute abs (compute relu ?a)) => (compute relu ?a)\n"                   \
  "  :where (= (rank ?a) 1))\n"

typedef struct asked {
  glen_context *glen;
  glen_target *target;
  glen_program *a, *b, *product;
  glen_rules *rules;
} asked;

static void
said(asked *q, const char *text) {
  cr_assert(text && *text, "%s", glen_take_diagnostics(q->glen, 0));
}

static glen_loops *
lowered(asked *q, const glen_program *p) {
  glen_loops *loops = glen_lower(q->glen, p, q->target, false);
  cr_assert_not_null(loops, "%s", glen_take_diagnostics(q->glen, 0));
  return loops;
}

static glen_result *
saturated(asked *q, glen_program *p) {
  glen_saturate_options o;
  glen_saturate_defaults(&o);
  o.explain = o.contribution = o.growth = true;
  o.regions = GLEN_REGIONS_WHOLE;
  glen_result *r = glen_saturate(q->glen, p, q->rules, q->target, &o);
  cr_assert_not_null(r, "%s", glen_take_diagnostics(q->glen, 0));
  return r;
}

static void
texts_of_a_program(asked *q) {
  glen_program *p = parse(q->glen, PRODUCT);
  said(q, glen_program_text(q->glen, p, true));
  said(q, glen_target_text(q->glen, q->target));
  glen_program *same = glen_program_canonical(q->glen, p);
  said(q, glen_program_text(q->glen, same, false));
  glen_program_free(same);
  glen_program_free(p);
}

static void
what_is_wrong_with_one(asked *q) {
  static const char text[] = "(tensor x (shape 4) f32)\n"
                             "(let y (compute relu z))\n(output y)\n";
  cr_assert_null(
      glen_program_parse(q->glen, NULL, "t.glen", text, sizeof text - 1));
  said(q, glen_take_diagnostics(q->glen, GLEN_DIAG_TEXT));
}

static void
rules_from_text(asked *q) {
  glen_rules_free(rules_of(q->glen, q->target, RULES));
}

static void
reports_of_a_result(asked *q) {
  glen_result *r = saturated(q, q->a);
  glen_report all = {.json = true, .stats = true};
  glen_html html = {"title", NULL, NULL};
  said(q, glen_result_verify(q->glen, r));
  said(q, glen_result_verified_text(q->glen, r, true));
  said(q, glen_result_text(q->glen, r, false));
  said(q, glen_result_report(q->glen, r, &all));
  said(q, glen_result_egraph_json(q->glen, r));
  said(q, glen_result_dot(q->glen, r, 20));
  said(q, glen_result_html(q->glen, r, &html));
  glen_result_free(r);
}

static void
chains_of_a_result(asked *q) {
  glen_result *r = saturated(q, q->a);
  glen_explain_options o;
  glen_explained e;
  glen_explain_defaults(&o);
  cr_assert(glen_result_explain(q->glen, r, &o, &e) && e.equal);
  said(q, glen_result_proof(q->glen, r));
  glen_result_free(r);
}

static void
chains_between_programs(asked *q) {
  glen_saturate_options s;
  glen_explain_options o;
  glen_explained e;
  glen_saturate_defaults(&s);
  glen_explain_defaults(&o);
  cr_assert(glen_explain(q->glen, q->a, q->b, q->rules, q->target, &s, &o, &e));
  cr_expect(e.equal);
}

static void
maps_of_a_result(asked *q) {
  static const char *const layers[] = {"y"};
  glen_mapped m;
  glen_result *r = saturated(q, q->a);
  cr_assert(glen_map(q->glen, r, NULL, &m) && m.text);
  cr_assert(glen_map(q->glen, r, "fuse", &m) && m.known);
  cr_assert(glen_map_all(q->glen, r, &m) && m.text);
  glen_map_require(q->glen, r, layers, 1);
  glen_result_free(r);
}

static void
layers_of_a_program(asked *q) {
  glen_layers *l = glen_layers_new(q->glen, q->product);
  cr_assert_not_null(l);
  for (uint32_t k = 0; k < glen_layers_count(l); k++) {
    glen_program *p = glen_layer_program(q->glen, l, k);
    cr_assert_not_null(p);
    glen_program_free(p);
  }
  glen_layers_free(l);
}

static void
saturation_by_layers(asked *q) {
  glen_saturate_options o;
  glen_saturate_defaults(&o);
  o.regions = GLEN_REGIONS_LAYERS;
  glen_result *r = glen_saturate(q->glen, q->product, q->rules, q->target, &o);
  cr_assert_not_null(r);
  said(q, glen_result_text(q->glen, r, false));
  glen_result_free(r);
}

static void
equality_of_programs(asked *q) {
  glen_equality e;
  cr_assert(glen_programs_agree(q->glen, q->a, q->b));
  cr_assert(glen_programs_prove(q->glen, q->a, q->b, &e) && e.proved);
}

static void
soundness_of_a_rule(asked *q) {
  glen_prove_options o;
  glen_proof p;
  glen_prove_defaults(&o);
  o.shapes = 3;
  cr_assert(glen_rule_prove(q->glen, q->rules, 0, &o, &p));
  said(q, p.json);
}

static void
ablation_of_rules(asked *q) {
  uint32_t n;
  glen_saturate_options o;
  glen_saturate_defaults(&o);
  cr_assert_not_null(glen_rules_ablate(q->glen, q->a, q->rules, q->target, &o,
                                       NULL, NULL, NULL, &n));
}

static void
texts_of_loops(asked *q) {
  const char *c, *h;
  glen_loops *l = lowered(q, q->product);
  glen_loops *copy = glen_loops_copy(q->glen, l);
  said(q, glen_loops_text(q->glen, l));
  said(q, glen_loops_tree(q->glen, copy));
  cr_assert(glen_emit_c(q->glen, l, "f", "f.h", &c, &h));
  said(q, glen_manifest(q->glen, l, "f"));
  said(q, glen_schedule_print(q->glen, l, GLEN_PRINT_DEPS));
  glen_loops_free(copy);
  glen_loops_free(l);
}

static void
schedules_of_loops(asked *q) {
  const char *name;
  glen_loops *l = lowered(q, q->product);
  said(q, glen_strategies(q->glen, l, 4));
  cr_assert(glen_choose(q->glen, l, 4, &name));
  said(q, glen_schedule_print(q->glen, l, GLEN_PRINT_SCRIPT));
  glen_loops_free(l);
  l = lowered(q, q->product);
  cr_assert(glen_schedule_auto(q->glen, l, GLEN_FUSE_SMART, NULL, 0));
  said(q, glen_loops_text(q->glen, l));
  glen_loops_free(l);
  l = lowered(q, q->product);
  cr_assert(glen_bind(q->glen, l));
  said(q, glen_emit_cuda(q->glen, l, "f"));
  const char *kernels, *host;
  cr_assert(glen_emit_opencl(q->glen, l, "f", &kernels, &host));
  said(q, kernels);
  said(q, host);
  glen_loops_free(l);
}

static void
layouts_of_arrays(asked *q) {
  static const int64_t widths[] = {4};
  glen_loops *l = lowered(q, q->a);
  said(q, glen_layout(q->glen, l, GLEN_LAYOUT_DOC, widths, 1, false));
  cr_assert(glen_give_layouts(q->glen, l, GLEN_LAYOUT_LINES, widths, 1));
  glen_loops_free(l);
}

static void
runs_of_the_interpreters(asked *q) {
  glen_loops *l = lowered(q, q->a);
  glen_tensors *in = glen_inputs_new(q->glen, q->a, 1);
  glen_tensors *out = glen_interpret(q->glen, q->a, in);
  glen_tensors *again = glen_loops_interpret(q->glen, l, in);
  glen_tensors *bounds = glen_rounding_bounds(q->glen, q->a, in);
  glen_comparison c;
  cr_assert(out && again && bounds);
  cr_expect(glen_tensors_compare_within(out, again, 0, bounds, bounds, &c));
  said(q, glen_tensor_text(q->glen, out, 0, 4));
  glen_tensors_free(bounds);
  glen_tensors_free(again);
  glen_tensors_free(out);
  glen_tensors_free(in);
  glen_loops_free(l);
}

#define QUESTION(f)                                                            \
  { #f, f }
static const struct {
  const char *name;
  void (*ask)(asked *);
} questions[] = {
    QUESTION(texts_of_a_program),   QUESTION(what_is_wrong_with_one),
    QUESTION(rules_from_text),      QUESTION(reports_of_a_result),
    QUESTION(chains_of_a_result),   QUESTION(chains_between_programs),
    QUESTION(maps_of_a_result),     QUESTION(layers_of_a_program),
    QUESTION(saturation_by_layers), QUESTION(equality_of_programs),
    QUESTION(soundness_of_a_rule),  QUESTION(ablation_of_rules),
    QUESTION(texts_of_loops),       QUESTION(schedules_of_loops),
    QUESTION(layouts_of_arrays),    QUESTION(runs_of_the_interpreters),
};

static void
ask(asked *q, void (*question)(asked *)) {
  question(q);
  glen_free_strings(q->glen);
  glen_clear_diagnostics(q->glen);
}

/* The least that one of the further times keeps.  A name is kept now and then,
 * in a block that has room for many; what is forgotten is kept each time. */
static ptrdiff_t
kept_each_time(asked *q, void (*question)(asked *)) {
  ptrdiff_t least = PTRDIFF_MAX;
  for (int k = 0; k < WARM; k++)
    ask(q, question);
  for (int k = 0; k < TIMES; k++) {
    size_t before = held;
    ask(q, question);
    ptrdiff_t more = (ptrdiff_t)held - (ptrdiff_t)before;
    least = more < least ? more : least;
  }
  return least;
}

Test(steady, a_question_that_is_asked_again_keeps_nothing) {
  glen_allocator allocator = {counted, NULL};
  asked q = {.glen = glen_context_new(&allocator, 0)};
  cr_assert_not_null(q.glen);
  q.target = glen_target_load(q.glen, NULL);
  q.a = parse(q.glen, CHAIN);
  q.b = parse(q.glen, SHORT);
  q.product = parse(q.glen, PRODUCT);
  q.rules = rules_of(q.glen, q.target, RULES);
  for (size_t k = 0; k < sizeof questions / sizeof *questions; k++) {
    ptrdiff_t kept = kept_each_time(&q, questions[k].ask);
    cr_expect_eq(kept, 0, "%s keeps %td bytes", questions[k].name, kept);
  }
  glen_context_free(q.glen);
  cr_expect_eq(held, 0, "the context keeps %zu bytes", held);
}
