/* SPDX-License-Identifier: MIT */
/* Saturation: the term -> e-graph step, strategies, what comes out of it. */
#include "lawful.h"
#include "rules/rule/rule_internal.h"

TestSuite(run, .init = fixture_start, .fini = fixture_stop);

#define IM2COL                                                                 \
  "(rule flatten-access :kind exploratory \"Flatten and reshape back.\""       \
  "  ?a => (reshape (flatten ?a) ?s ?c)"                                       \
  "  :where (and (= ?s (access-shape ?a)) (= ?c (compute-shape ?a))"           \
  "              (or (> (rank ?s) 1) (> (rank ?c) 1))))"                       \
  "(rule cartProd-of-reshapes \"The product of reshapes is one.\""             \
  "  (cartProd (reshape ?a ?sa ?ca) (reshape ?b ?sb ?cb))"                     \
  "  => (reshape (cartProd ?a ?b) (append ?sa ?sb) (cons 2 ?ca))"              \
  "  :where (and (= ?ca ?cb) (= (compute-shape ?a) (compute-shape ?b))))"      \
  "(rule dotProd-of-reshape \"A sum takes its items in any shape.\""           \
  "  (compute dotProd (reshape ?a ?s ?c))"                                     \
  "  => (reshape (compute dotProd ?a) ?s (list))"                              \
  "  :where (= (nth ?c 0) (nth (compute-shape ?a) 0)))"

#define CONV                                                                   \
  "(tensor w (shape 8 3 3 3) f32)"                                             \
  "(tensor x (shape 3 32 32) f32)"                                             \
  "(let win (squeeze (windows (access x 0) (shape 3 3 3) (stride 1 1 1)) 0))"  \
  "(let out (compute dotProd (cartProd (access w 1) win)))"                    \
  "(output out)"

#define ARRAY                                                                  \
  "(target t) (instr mm (params r c)"                                          \
  " (operands (a ((b) (r)) f32) (w (() (r c)) f32)) (result ((b c) ()) f32)"   \
  " (semantics (compute dotProd (cartProd a"                                   \
  "   (access (transpose w (list 1 0)) 1)))) (emit \"mm();\"))"

#define CLEANUP                                                                \
  "(rule transpose-twice :kind cleanup \"Two transposes are one.\""            \
  "  (transpose (transpose ?a ?p) ?q) => (transpose ?a (compose ?p ?q)))"      \
  "(rule transpose-nothing :kind cleanup \"The identity.\""                    \
  "  (transpose ?a ?p) => ?a :where (= ?p (axes ?a)))"

Test(run, im2col_on_an_array_of_any_size) {
  const gs_target *t = target_of(ARRAY);
  rl_rules *rules = rules_over(
      t, IM2COL "(test conv (program " CONV ")"
                "  (finds (reshape (mm 27 900 (flatten (access w 1))"
                "      (access (transpose (flatten win) (list 1 0)) 0))"
                "    (list 8 30 30) (list)) :matches 1)"
                "  (never (mm ?r ?c ?a ?b) :where (!= ?r 27) :in anywhere)"
                "  (stops saturated))");
  all_pass(rules);
}

/* The same shapes in other sizes, strides and dtypes must do as well. */
Test(run, im2col_with_strides) {
  const gs_target *t = target_of(ARRAY);
  rl_rules *rules = rules_over(
      t, IM2COL
      "(test conv (program (tensor w (shape 5 2 3 2) f32)"
      "  (tensor x (shape 2 17 20) f32)"
      "  (let out (compute dotProd (cartProd (access w 1)"
      "    (squeeze (windows (access x 0) (shape 2 3 2) (stride 1 2 3)) 0))))"
      "  (output out))"
      "  (finds (reshape (mm 12 56 ?a ?b) (list 5 8 7) (list))))"
      "(test other-dtype (program (tensor w (shape 5 4) i32)"
      "  (tensor x (shape 3 4) i32)"
      "  (let out (compute dotProd (cartProd (access w 1) (access x 1))))"
      "  (output out))"
      "  (never (mm ?r ?c ?a ?b) :in anywhere))");
  all_pass(rules);
}

static eg_node *
smallest(const rl_run *run) {
  uint32_t n = 0, k;
  for (eg_class c = eg_first_class(run->graph); c.i != UINT32_MAX;
       c = eg_next_class(run->graph, c))
    n = c.i + 1;
  eg_node *choice = bs_alloc(&heap, n * sizeof *choice);
  double *size = bs_alloc(&heap, n * sizeof *size);
  for (k = 0; k < n; k++)
    size[k] = 1e9;
  for (bool more = true; more;) {
    more = false;
    for (eg_class c = eg_first_class(run->graph); c.i != UINT32_MAX;
         c = eg_next_class(run->graph, c)) {
      uint32_t nodes;
      const eg_node *list = eg_class_nodes(run->graph, c, &nodes);
      for (k = 0; k < nodes; k++) {
        uint32_t kids;
        const eg_class *kid = eg_kids(run->graph, list[k], &kids);
        double sum = 1;
        for (uint32_t j = 0; j < kids; j++)
          sum += size[eg_find(run->graph, kid[j]).i];
        if (sum < size[c.i]) {
          size[c.i] = sum;
          choice[c.i] = list[k];
          more = true;
        }
      }
    }
  }
  return choice;
}

Test(run, an_extracted_program_keeps_names_and_data) {
  rl_rules *rules = rules_of(CLEANUP);
  gs_program *p = program_of(
      "(tensor unused (shape 2) f32)"
      "(tensor a (shape 2 3) i32) (const k (shape 2 3) i32 1 2 3 4 5 6)"
      "(let s (compute add (access (pair (access a 2) (access k 2)) 2)))"
      "(let t (transpose (transpose s (list 1 0)) (list 1 0)))"
      "(output t) (output a)");
  rl_run run = saturated(rules, p);
  gs_program *q = rl_extracted(&ctx, p, &run, smallest(&run));
  cr_assert(q, "%s", faults());
  const char *text = printed(q);
  cr_expect_null(strstr(text, "transpose"), "%s", text);
  cr_expect_eq(q->inputs.len, 2);
  cr_expect_str_eq(q->inputs.data[0].name, "unused");
  cr_expect_str_eq(q->outputs.data[0].name, "t");
  cr_expect_str_eq(q->outputs.data[1].name, "a");
  cr_expect_eq(q->constants.len, 1);
  cr_expect_eq(((const int32_t *)q->constants.data[0].data)[5], 6);
  gs_program *again =
      gs_parse(&ctx, NULL, bs_source_add(&diags, "q", text, strlen(text)));
  cr_expect(again, "%s\n%s", text, faults());
  rl_run_done(&run);
}

/* Terms over a and b, among which many are equal by the rules below: two forms
 * of one operator, sums in either order, and the same over these. */
static const char *
random_program(uint32_t seed) {
  bs_text out;
  bs_text_init(&out, &heap);
  bs_put(&out, "(tensor t0 (shape 4) i32) (tensor t1 (shape 4) i32)");
  for (uint32_t k = 2; k < 14; k++) {
    uint32_t draw[3];
    for (uint32_t i = 0; i < 3; i++)
      draw[i] = (seed = seed * 1664525 + 1013904223) >> 8;
    uint32_t a = draw[0] % k, b = draw[1] % k;
    if (draw[2] % 3)
      bs_putf(&out, "(let t%u (compute %s t%u))", k,
              draw[2] % 3 == 1 ? "neg" : "(scale -1)", a);
    else
      bs_putf(&out, "(let t%u (compute add (pair t%u t%u)))", k, a, b);
  }
  bs_put(&out, "(output t13) (output t12) (output t11)");
  return bs_text_str(&out);
}

static bool
is_node_of(const rl_run *run, eg_node node, const gs_node *n,
           const eg_class *class_of) {
  const eg_graph *g = run->graph;
  uint32_t n_kids;
  const eg_class *kids = eg_kids(g, node, &n_kids);
  bool is = eg_op(g, node) == n->op && bs_same(eg_attr(g, node), n->attr) &&
            n_kids == n->n_kids;
  for (uint32_t k = 0; is && k < n_kids; k++)
    is = eg_find(g, kids[k]).i == eg_find(g, class_of[n->kids[k].i]).i;
  return is;
}

/* By class, whether the chosen node is a term that the program has there; a
 * class of no term has none. */
static void
expect_own(const rl_run *run, const gs_program *p, uint32_t seed) {
  uint32_t n = eg_class_ids(run->graph);
  eg_node *choice = bs_calloc(&heap, n, sizeof *choice);
  eg_class *of = bs_calloc(&heap, p->nodes.len, sizeof *of);
  bool *has = bs_calloc(&heap, n, sizeof *has), *own = bs_calloc(&heap, n, 1);
  bool *needed = bs_calloc(&heap, p->nodes.len, sizeof *needed);
  for (uint32_t k = 0; k < p->outputs.len; k++)
    needed[p->outputs.data[k].term.i] = true;
  for (uint32_t k = p->nodes.len; k-- > 0;)
    for (uint32_t i = 0; needed[k] && i < p->nodes.data[k].n_kids; i++)
      needed[p->nodes.data[k].kids[i].i] = true;
  rl_choose_own(run, n, choice);
  rl_classes_of(run, p, of);
  for (uint32_t k = 0; k < p->nodes.len; k++) {
    if (!needed[k])
      continue;
    uint32_t c = eg_find(run->graph, of[k]).i;
    cr_assert_neq(choice[c].i, EG_NO_NODE.i, "seed %u, term %u", seed, k);
    has[c] = true;
    own[c] |= is_node_of(run, choice[c], &p->nodes.data[k], of);
  }
  for (uint32_t c = 0; c < n; c++) {
    cr_expect_eq(has[c], own[c], "seed %u, class %u", seed, c);
    cr_expect(has[c] || choice[c].i == EG_NO_NODE.i, "seed %u", seed);
  }
}

Test(run, the_program_itself_is_made_of_its_own_terms) {
  rl_rules *rules = rules_of(
      "(rule signs \"One operator.\" (compute neg ?a) <=> "
      "(compute (scale -1) ?a))"
      "(rule turned \"In any order.\" (compute add (pair ?a ?b)) => "
      "(compute add (pair ?b ?a)))"
      "(rule apart \"Each for itself.\" "
      "(compute (scale -1) (compute add (pair ?a ?b))) <=> "
      "(compute add (pair (compute neg ?a) (compute neg ?b))))"
      "(rule twice \"Nothing.\" (compute neg (compute neg ?a)) => ?a)");
  for (uint32_t seed = 1; seed <= 60; seed++) {
    gs_program *p = program_of(random_program(seed * 7919));
    rl_run run = saturated(rules, p);
    expect_own(&run, p, seed);
    rl_run_done(&run);
  }
}

static bool
is_one_call(const eg_graph *g, eg_node node) {
  return eg_op(g, node) == GS_CALL && bs_len(ctx.values, eg_attr(g, node)) == 3;
}

/* The smallest terms but for the call, which shall be taken, and the reshape of
 * the output that is over one. */
static eg_node *
with_the_call(const rl_run *run) {
  eg_node *choice = smallest(run);
  const eg_graph *g = run->graph;
  uint32_t n, n_kids;
  for (eg_class c = eg_first_class(g); c.i != UINT32_MAX;
       c = eg_next_class(g, c)) {
    const eg_node *nodes = eg_class_nodes(g, c, &n);
    for (uint32_t k = n; k-- > 0;)
      if (is_one_call(g, nodes[k]))
        choice[c.i] = nodes[k];
  }
  const eg_node *nodes = eg_class_nodes(g, run->outputs[0], &n);
  for (uint32_t k = 0; k < n; k++)
    if (eg_op(g, nodes[k]) == GS_RESHAPE &&
        is_one_call(g, choice[eg_find(g, eg_kids(g, nodes[k], &n_kids)[0]).i]))
      choice[run->outputs[0].i] = nodes[k];
  return choice;
}

Test(run, the_rules_that_led_there) {
  const gs_target *t = target_of(ARRAY);
  rl_rules *rules = rules_over(t, IM2COL CLEANUP);
  gs_program *p = program_over(t, CONV);
  rl_run run = saturated(rules, p);
  eg_node *choice = with_the_call(&run);
  const rl_rule *led[10];
  uint32_t n = rl_rules_used(&run, choice, led, 10);
  uint32_t found = 0;
  for (uint32_t k = 0; k < n; k++) {
    found |= !strcmp(led[k]->name, "mm") ? 1 : 0;
    found |= !strcmp(led[k]->name, "dotProd-of-reshape") ? 2 : 0;
    found |= !strcmp(led[k]->name, "cartProd-of-reshapes") ? 4 : 0;
    found |= !strcmp(led[k]->name, "flatten-access") ? 8 : 0;
    found |= !strcmp(led[k]->name, "transpose-twice") ? 16 : 0;
  }
  cr_expect_eq(found, 15, "%u: %s", found,
               printed(rl_extracted(&ctx, p, &run, choice)));
  cr_expect_eq(rl_rules_used(&run, choice, led, 2), 2);
  gs_program *q = rl_extracted(&ctx, p, &run, choice);
  cr_assert(q, "%s", faults());
  cr_expect(strstr(printed(q), "(mm 27 900"), "%s", printed(q));
  rl_run_done(&run);
}

/* Of the matches of a rule only that counts whose condition holds, and what
 * that one was matched on. */
Test(run, the_rules_that_led_there_by_their_conditions) {
  rl_rules *rules = rules_of(
      "(rule two \"d\" (compute (scale 1) ?a) => (compute (scale 2) ?a))"
      "(rule three \"d\" (compute (scale ?k) ?a)"
      "  => (compute (scale ?m) (compute relu ?a))"
      "  :where (and (= ?k 2) (= ?m 3)))"
      "(rule four \"d\" (compute (scale ?k) ?a)"
      "  => (compute (scale ?m) (compute abs ?a))"
      "  :for (?n (list 1 2 3)) :where (and (= ?k 1) (= ?n 3) (= ?m 4)))");
  gs_program *p = program_of("(tensor a (shape 4) f32)"
                             "(let x (compute (scale 1) a))(output x)");
  static const struct {
    uint32_t op, n;
    const char *names[2];
  } rows[] = {{GS_C_RELU, 2, {"two", "three"}}, {GS_C_ABS, 1, {"four"}}};
  rl_run run = saturated(rules, p);
  const eg_graph *g = run.graph;
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
    eg_node *choice = smallest(&run);
    uint32_t n, n_kids, used = 0;
    const eg_node *nodes = eg_class_nodes(g, run.outputs[0], &n);
    for (uint32_t k = 0; k < n; k++) {
      eg_node kid = choice[eg_find(g, eg_kids(g, nodes[k], &n_kids)[0]).i];
      gs_compute op;
      if (eg_op(g, kid) == GS_COMPUTE &&
          gs_compute_of(ctx.values, bs_item(ctx.values, eg_attr(g, kid), 0),
                        &op) &&
          op == rows[row].op)
        choice[run.outputs[0].i] = nodes[k];
    }
    const rl_rule *led[4];
    used = rl_rules_used(&run, choice, led, 4);
    cr_expect_eq(used, rows[row].n, "%u", used);
    for (uint32_t k = 0; k < used; k++) {
      bool found = false;
      for (uint32_t j = 0; j < rows[row].n; j++)
        found |= !strcmp(led[k]->name, rows[row].names[j]);
      cr_expect(found, "%s", led[k]->name);
    }
  }
  rl_run_done(&run);
}

Test(run, terms_keep_the_place_they_come_from) {
  rl_rules *rules = rules_of(CLEANUP);
  gs_program *p = program_of("(tensor a (shape 2 3) f32)\n"
                             "(let t\n"
                             "  (transpose (transpose (access a 1)\n"
                             "    (list 1 0)) (list 1 0)))\n"
                             "(let u (compute relu t))\n"
                             "(output u)\n");
  rl_run run = saturated(rules, p);
  gs_program *q = rl_extracted(&ctx, p, &run, smallest(&run));
  uint32_t line, column;
  gs_term root = q->outputs.data[0].term;
  bs_position(&diags, gs_at(q, root)->span, &line, &column);
  cr_expect_eq(line, 5);
  bs_position(&diags, gs_at(q, gs_at(q, root)->kids[0])->span, &line, &column);
  cr_expect_eq(line, 3);
  rl_run_done(&run);
}

/* --- strategies ----------------------------------------------------------- */

#define SPLIT                                                                  \
  "(rule split :kind exploratory \"Halve.\""                                   \
  "  ?a => (concat (slice ?a 0 0 ?m) (slice ?a 0 ?m ?n) 0)"                    \
  "  :where (and (= ?n (dim ?a 0)) (= (mod ?n 2) 0) (= ?m (/ ?n 2))))"         \
  "(rule slice-twice :kind cleanup \"Two slices are one.\""                    \
  "  (slice (slice ?a ?d ?x ?y) ?d ?u ?v)"                                     \
  "  => (slice ?a ?d (+ ?x ?u) (+ ?x ?v)))"

static rl_run
strategy_run(const char *rules, const char *strategy, uint32_t iterations) {
  rl_options o = options();
  rl_run run;
  o.strategy = strategy;
  o.run.iterations = iterations;
  gs_program *p = program_of("(tensor a (shape 64) f32) (let out (access a 1))"
                             "(output out)");
  cr_assert(rl_saturate(&ctx, p, rules_of(rules), &o, &run), "%s", faults());
  return run;
}

/* The sizes that slices have after a run. */
static uint32_t
slices(const rl_run *run) {
  uint32_t n = 0;
  for (eg_class c = eg_first_class(run->graph); c.i != UINT32_MAX;
       c = eg_next_class(run->graph, c)) {
    uint32_t k;
    const eg_node *nodes = eg_class_nodes(run->graph, c, &k);
    while (k-- > 0)
      n += eg_op(run->graph, nodes[k]) == GS_SLICE;
  }
  return n;
}

Test(run, a_strategy_phases_the_rules) {
  rl_run one =
      strategy_run(SPLIT "(run (seq exploratory (saturate cleanup)))", NULL, 0);
  cr_expect_eq(slices(&one), 4); /* of a tensor and of its access */
  cr_expect_eq(one.stop, EG_STOP_ITERATIONS, "split has more to add");
  cr_expect(one.finished);
  rl_run two = strategy_run(
      SPLIT "(run (repeat 2 split (saturate slice-twice)))", NULL, 0);
  cr_expect_gt(slices(&two), slices(&one));
  rl_run all =
      strategy_run(SPLIT "(run (saturate split slice-twice))", NULL, 0);
  cr_expect_eq(all.stop, EG_STOP_SATURATED);
  cr_expect_gt(slices(&all), slices(&two));
  rl_run plain = strategy_run(SPLIT, NULL, 0);
  cr_expect_eq(eg_count_nodes(plain.graph), eg_count_nodes(all.graph));
  cr_expect_eq(eg_count_classes(plain.graph), eg_count_classes(all.graph));
  rl_run_done(&one);
  rl_run_done(&two);
  rl_run_done(&all);
  rl_run_done(&plain);
}

Test(run, limits_hold_over_a_strategy) {
  rl_run run = strategy_run(
      SPLIT "(strategy s (seq (repeat 9 all) (repeat 9 all)))", "s", 3);
  uint32_t n;
  eg_runner_iterations(run.runner, &n);
  cr_expect_eq(n, 3);
  cr_expect_eq(run.stop, EG_STOP_ITERATIONS);
  rl_run_done(&run);
}

/* ---- phases ---- */

/* A program that `grow` never ends on, with a strategy of these steps. */
#define GROW                                                                   \
  "(rule grow :kind exploratory \"No end, and no law either.\""                \
  "  (compute (scale ?k) ?a) => (compute (scale ?m) ?a)"                       \
  "  :where (= ?m (+ ?k 1)))"                                                  \
  "(rule lower :kind lowering \"A buffer.\""                                   \
  "  (compute (scale ?k) ?a) => (compute (scale ?k) (materialize ?a)))"

static rl_run
grown(const char *strategy, const eg_run_options *limits) {
  rl_options o = options();
  rl_run run;
  char text[1024];
  snprintf(text, sizeof text, "%s%s", GROW, strategy);
  o.run.iterations = limits->iterations;
  o.run.nodes = limits->nodes;
  o.run.bytes = limits->bytes;
  o.run.seconds = limits->seconds;
  gs_program *p = program_of("(tensor a (shape 64) f32)"
                             "(let out (compute (scale 2) (access a 1)))"
                             "(output out)");
  cr_assert(rl_saturate(&ctx, p, rules_of(text), &o, &run), "%s", faults());
  return run;
}

static uint32_t
buffers(const rl_run *run) {
  uint32_t n = 0;
  for (eg_class c = eg_first_class(run->graph); c.i != UINT32_MAX;
       c = eg_next_class(run->graph, c)) {
    uint32_t k;
    const eg_node *nodes = eg_class_nodes(run->graph, c, &k);
    while (k-- > 0)
      n += eg_op(run->graph, nodes[k]) == GS_MATERIALIZE;
  }
  return n;
}

Test(run, each_limit_leaves_a_share_to_what_lowers) {
  static const eg_run_options limits[] = {
      {.iterations = 8}, {.nodes = 400}, {.seconds = 0.2}};
  static const eg_stop stops[] = {EG_STOP_ITERATIONS, EG_STOP_NODES,
                                  EG_STOP_TIME};
  for (size_t k = 0; k < 3; k++) {
    rl_run run = grown("(run (seq (saturate grow) lowering))", &limits[k]);
    cr_assert_eq(run.n_phases, 2);
    cr_expect_eq(run.stop, stops[k], "%s", eg_stop_name(run.stop));
    cr_expect(!run.finished);
    cr_expect_eq(run.phases[0].cut, stops[k]);
    cr_expect(run.phases[1].ran);
    cr_expect_gt(buffers(&run), 0);
    rl_run_done(&run);
  }
}

Test(run, a_limit_that_cuts_nothing_is_not_told) {
  const eg_run_options o = {.nodes = 400};
  rl_run run = grown("(run (seq (repeat 3 grow) lowering))", &o);
  cr_expect_eq(run.stop, EG_STOP_ITERATIONS);
  cr_expect(run.finished);
  cr_expect_eq(run.phases[0].cut, EG_STOP_SATURATED);
  cr_expect_eq(run.n_never_ran, 0);
  rl_run_done(&run);
}

/* What a phase does not use, those behind it may have. */
Test(run, shares_that_are_not_used_go_on) {
  const eg_run_options o = {.nodes = 400};
  rl_run run = grown("(run (seq lowering (saturate grow)))", &o);
  cr_expect_gt(eg_count_nodes(run.graph), 350);
  rl_run_done(&run);
  run = grown("(run (seq (saturate grow) lowering (repeat 1 lowering)))", &o);
  cr_expect_gt(eg_count_nodes(run.graph), 350, "there are further passes");
  rl_run_done(&run);
}

/* Rules of files that no strategy knows are a phase of their own, but for those
 * that the strategy runs by their kind. */
Test(run, others_are_what_no_phase_runs) {
  rl_rules *rules = rl_new(&ctx, NULL);
  bool ok = rl_load_source(
      rules, source("s", "(strategy main (saturate cleanup))"
                         "(rule own :kind cleanup \"d\" (compute neg (compute"
                         " neg ?a)) => ?a)"));
  ok &= rl_load_source(
      rules, source("r", "(rule clean :kind cleanup \"d\" (compute relu"
                         " (compute relu ?a)) => (compute relu ?a))"
                         "(rule turn :kind composition \"d\" (compute add"
                         " (pair ?a ?b)) => (compute add (pair ?b ?a)))"));
  cr_assert(rl_finish(rules) && ok, "%s", faults());
  gs_program *p = program_of("(tensor a (shape 4) f32)"
                             "(let x (compute relu a))(output x)");
  static const struct {
    const char *phase, *rule;
    bool has;
  } rows[] = {{"others", "own", false},   {"others", "clean", false},
              {"others", "turn", true},   {"cleanup", "own", true},
              {"cleanup", "clean", true}, {"cleanup", "turn", false}};
  rl_run run = saturated(rules, p);
  cr_assert_eq(run.n_phases, 2);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    bool has = false, found = false;
    for (uint32_t i = 0; i < run.n_phases; i++)
      if (!strcmp(run.phases[i].name, rows[k].phase)) {
        found = true;
        has = rl_phase_has(&run, &run.phases[i],
                           (uint32_t)rl_index_of(rules, rows[k].rule));
      }
    cr_assert(found, "%s", rows[k].phase);
    cr_expect_eq(has, rows[k].has, "%s of %s", rows[k].rule, rows[k].phase);
  }
  rl_run_done(&run);
}

Test(run, strategies_name_strategies) {
  const eg_run_options o = {.nodes = 4000};
  rl_run run = grown("(strategy twice (seq (repeat 2 grow) lower))"
                     "(run (seq grow twice))",
                     &o);
  cr_assert_eq(run.n_phases, 3);
  cr_expect_str_eq(run.phases[0].name, "grow");
  cr_expect_str_eq(run.phases[1].name, "grow");
  cr_expect_str_eq(run.phases[2].name, "lower");
  rl_run_done(&run);
}

Test(run, a_strategy_that_runs_itself_is_refused) {
  rl_rules *rules = rl_new(&ctx, NULL);
  uint32_t source = bs_source_add(
      &diags, "cycle.rules",
      GROW "(strategy a (seq grow b)) (strategy b (repeat 2 a))",
      strlen(GROW "(strategy a (seq grow b)) (strategy b (repeat 2 a))"));
  rl_load_source(rules, source);
  cr_expect(!rl_finish(rules));
  cr_expect(strstr(faults(), "runs itself"), "%s", faults());
}

Test(run, sets_of_sets_and_kinds) {
  rl_rules *rules =
      rules_of(SPLIT CLEANUP "(ruleset a b split) (ruleset b a cleanup)"
                             "(ruleset algebra (rule drop \"A buffer.\""
                             "  (materialize ?a) => ?a))");
  const char *off[] = {"a"};
  gs_program *p = program_of(
      "(tensor t (shape 64) f32)"
      "(let out (access (materialize (access t 1)) 1)) (output out)");
  rl_options o = options();
  rl_run run;
  o.disabled = off;
  o.n_disabled = 1;
  cr_assert(rl_saturate(&ctx, p, rules, &o, &run));
  cr_expect_eq(slices(&run), 0);
  cr_expect_gt(eg_runner_stats(run.runner)[4].applied, 0);
  cr_expect_eq(rl_find(rules, "drop")->set, rl_at(rules, 4)->set,
               "a rule in a set");
  cr_expect(rl_find(rules, "drop")->set);
  cr_expect_null(rl_find(rules, "split")->set);
  rl_run_done(&run);
}

/* --- conditions ----------------------------------------------------------- */

Test(run, loops_are_an_odometer) {
  all_pass(rules_of(
      "(rule cut \"Every slice between two cuts of every axis.\""
      "  (materialize ?a) => (concat (concat"
      "    (slice ?a ?d 0 ?lo) (slice ?a ?d ?lo ?hi) ?d)"
      "    (slice ?a ?d ?hi ?n) ?d)"
      "  :for (?d (axes ?a)) :for (?hi (range 1 ?n)) :for (?lo (range 1 ?hi))"
      "  :where (and (= ?n (dim ?a ?d)) (= 1 1)))"
      "(test cuts (program (tensor t (shape 4 3) f32)"
      "  (let out (materialize (access t 1))) (output out))"
      "  (finds (concat (concat ?x ?y ?d) ?z ?d) :matches 4)"
      "  (finds (concat (concat (slice (access t 1) 0 0 1) ?y 0)"
      "    (slice (access t 1) 0 3 4) 0) :matches 1))"));
}

Test(run, both_ways) {
  all_pass(rules_of(
      "(rule transpose-of-pad \"A transpose and a pad commute.\""
      "  (transpose (pad ?a ?k ?d ?lo ?hi) ?p)"
      "  <=> (pad (transpose ?a ?p) ?k ?e ?lo ?hi)"
      "  :where (and (= ?e (index-of ?p ?d)) (= ?d (nth ?p ?e))))"
      "(test there (program (tensor t (shape 4 3 2) f32)"
      "  (let out (transpose (pad (access t 1) zero 2 1 3) (list 2 0 1)))"
      "  (output out))"
      "  (finds (pad (transpose (access t 1) (list 2 0 1)) zero 0 1 3)))"
      "(test back (program (tensor t (shape 4 3 2) f32)"
      "  (let out (pad (transpose (access t 1) (list 2 0 1)) zero 0 1 3))"
      "  (output out))"
      "  (finds (transpose (pad (access t 1) zero 2 1 3) (list 2 0 1)))"
      "  (equal out (transpose (pad (access t 1) zero 2 1 3) (list 2 0 1)))"
      "  (distinct out (pad (access t 1) zero 2 1 3)))"
      "(test neither :rules () (program (tensor t (shape 4 3 2) f32)"
      "  (let out (pad (transpose (access t 1) (list 2 0 1)) zero 0 1 3))"
      "  (output out))"
      "  (never (transpose ?a ?p)))"));
}

Test(run, several_patterns_and_results) {
  all_pass(rules_of(
      "(rule share \"Products with one left factor are slices of one.\""
      "  (compute dotProd (cartProd ?x ?a))"
      "  => (slice (compute dotProd (cartProd ?x (concat ?a ?b 0))) ?d 0 ?n)"
      "  :with (?y (compute dotProd (cartProd ?x ?b)))"
      "  :also (?y (slice (compute dotProd (cartProd ?x (concat ?a ?b 0)))"
      "               ?d ?n ?m))"
      "  :where (and (!= ?a ?b) (= (access-rank ?a) 1) (= (access-rank ?b) 1)"
      "              (= ?d (access-rank ?x)) (= ?n (dim ?a 0))"
      "              (= ?m (+ ?n (dim ?b 0)))) :match-limit 1)"
      "(test qk (program (tensor x (shape 5 8) f32) (tensor q (shape 3 8) f32)"
      "  (tensor k (shape 4 8) f32)"
      "  (let a (compute dotProd (cartProd (access x 1) (access q 1))))"
      "  (let b (compute dotProd (cartProd (access x 1) (access k 1))))"
      "  (output a) (output b))"
      "  (finds (slice ?y 1 0 ?n) :matches 1)"
      "  (finds (slice ?y 1 ?n 7) :matches 1 :where (> ?n 0))"
      "  (finds (concat ?a ?b 0) :in anywhere :matches 1))"));
}

Test(run, windows_without_a_dilation) {
  all_pass(rules_of(
      "(rule whole \"A window over everything is everything.\""
      "  (windows ?a ?k ?s) => (reshape ?a (append (access-shape ?a)"
      "    (fill (len ?k) 1)) ?k)"
      "  :where (= ?k (compute-shape ?a)))"
      "(rule again \"Windows, written anew.\""
      "  (reshape ?a ?s ?c) => (windows ?a ?c (fill (len ?c) 7))"
      "  :where (and (= ?c (compute-shape ?a)) (> (len ?c) 0)))"
      "(test ones (program (tensor t (shape 4 3) f32)"
      "  (let out (windows (access t 1) (shape 3) (stride 2))) (output out))"
      "  (finds (reshape (access t 1) (list 4 1) (list 3)))"
      "  (finds (windows ?a ?k (list 7) (list 1)))"
      "  (finds (windows ?a ?k (list 7))))"
      "(test twos (program (tensor t (shape 4 3) f32)"
      "  (let out (windows (access t 1) (shape 2) (stride 1) (dilation 2)))"
      "  (output out))"
      "  (never (reshape ?a ?s ?c)))"));
}

/* A rule that could go on for ever is stopped by the limits of the language,
 * which are nobody's fault. */
Test(run, limits_of_the_language_are_no_faults) {
  all_pass(rules_of(
      "(rule deeper \"Another axis of one.\""
      "  (insertAxis ?a 0) => (squeeze (insertAxis (insertAxis ?a 0) 0) 0))"
      "(rule larger \"A pad cut away.\""
      "  (repeat ?a 0 ?f) => (slice (repeat ?a 0 ?g) 0 0 ?n)"
      "  :where (and (= ?g (* ?f 1000)) (= ?n (* (dim ?a 0) ?f))))"
      "(test rank (program (tensor t (shape 2) f32)"
      "  (let out (insertAxis (access t 1) 0)) (output out))"
      "  (stops saturated))"
      "(test size (program (tensor t (shape 2) f32)"
      "  (let out (repeat (access t 1) 0 2)) (output out))"
      "  (stops saturated))"));
}

Test(run, parameters_of_files_targets_and_tests) {
  const char *text =
      "(param unit 16 \"cut at this\")"
      "(rule cut \"Cut at the unit.\" (materialize ?a)"
      "  => (concat (slice ?a 0 0 $unit) (slice ?a 0 $unit ?n) 0)"
      "  :where (and (= ?n (dim ?a 0)) (> ?n $unit)))"
      "(test sixteen (program (tensor t (shape 64) f32)"
      "  (let out (materialize (access t 1))) (output out))"
      "  (finds (concat (slice ?a 0 0 ?u) ?b 0) :where (= ?u $unit)))"
      "(test four :params ((unit 4)) (program (tensor t (shape 64) f32)"
      "  (let out (materialize (access t 1))) (output out))"
      "  (finds (concat (slice ?a 0 0 4) ?b 0) :matches 1))";
  all_pass(rules_of(text));
  all_pass(rules_over(target_of("(target t (set unit 8))"), text));
  rl_rules *rules = rl_new(&ctx, NULL);
  cr_assert(rl_load_source(rules, source("r", text)));
  cr_assert(rl_set_param(rules, "unit", bs_int(ctx.values, 32)));
  cr_assert(rl_finish(rules));
  all_pass(rules);
}

/* --- tests beside the rules ----------------------------------------------- */

static const char *
message_of(const char *rules, const char *clauses) {
  const char *text = bs_arena_printf(
      &arena,
      "%s(test t (program\n (tensor a (shape 4 3) f32)\n"
      "(let out (transpose (transpose a (list 1 0)) (list 1 0)))\n"
      "(output out)) %s)",
      rules, clauses);
  rl_rules *r = rules_of(text);
  rl_test_result result;
  uint32_t before = diags.list.len;
  bool passed = rl_run_test(&ctx, r, rl_test_at(r, 0), NULL, &result);
  cr_expect_eq(passed, result.message == NULL);
  cr_expect_eq(diags.list.len, before);
  return result.message ? result.message : "passed";
}

Test(run, what_a_failed_test_says) {
  static const struct {
    const char *clauses, *message;
  } rows[] = {
      {"(finds a)", "passed"},
      {"(finds (flatten ?a))", "the pattern was not found"},
      {"(finds (transpose ?a ?p) :matches 9)",
       "the pattern was found 2 times, not 9"},
      {"(never a)", "the pattern was found"},
      {"(equal out a)", "passed"},
      {"(equal out a (transpose a (list 1 0)))", "terms 1 and 3 are not equal"},
      {"(distinct out a)", "terms 1 and 2 are equal"},
      {"(stops nodes)", "the run stopped with 'saturated', not 'nodes'"},
      {"(cost <= 3)", "costs are not computed here"},
      {"(refused \"unsound-rule\")", "no rule was refused"},
      {"(finds a :in nowhere)", "the program has no 'nowhere'"},
      {"(finds (slice a 0 0 9))", "the pattern was not found"},
      {"(finds (flat ?a))",
       "the pattern is wrong: there is no operator or instruction 'flat'"},
      {"(equal out (slice a 0 0 9))",
       "a term is wrong: slice 0 to 9 leaves dimension 0 of size 4"},
      {":rules (none) (finds a)", "there is no rule or ruleset named 'none'"},
      {":strategy none (finds a)", "there is no strategy named 'none'"},
      {":target \"/none\" (finds a)",
       "the target is wrong: cannot read '/none': No such file or directory"},
      {":params ((none 1)) (finds a)",
       "no rule file has a parameter named none"},
      {"(stops saturated) :limits ((iterations 1))",
       "the run stopped with 'iterations', not 'saturated'"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
    cr_expect_str_eq(message_of(CLEANUP, rows[k].clauses), rows[k].message,
                     "%s: %s", rows[k].clauses,
                     message_of(CLEANUP, rows[k].clauses));
}

Test(run, tests_of_rules_that_break_the_law) {
#define WRONG "(rule wrong \"Not so.\" (transpose ?a ?p) => ?a)"
  cr_expect_str_eq(message_of(WRONG, "(refused \"unsound-rule\")"), "passed");
  static const char equated[] = "the run was stopped: rule wrong equated ((";
  cr_expect(
      !strncmp(message_of(WRONG, "(finds a)"), equated, sizeof equated - 1),
      "%s", message_of(WRONG, "(finds a)"));
  cr_expect_str_eq(
      message_of("(rule far \"Not so.\" (transpose ?a ?p) => (access ?a 9))",
                 "(refused \"ill-typed-rule\")"),
      "passed");
}

Test(run, the_program_of_a_test_has_places_of_its_file) {
  rl_rules *r = rules_of("(test t\n  (finds a)\n  (program\n"
                         "    (tensor a (shape 4 3) f32)\n"
                         "    (let b (access a 9))\n    (output b)))");
  rl_test_result result;
  uint32_t line, column;
  cr_expect(!rl_run_test(&ctx, r, rl_test_at(r, 0), NULL, &result));
  bs_position(&diags, result.span, &line, &column);
  cr_expect_eq(line, 5);
}

/* Memory that runs out in a test fails the test and nothing else. */
Test(run, memory_that_runs_out) {
  rl_rules *r =
      rules_of(SPLIT "(test t :limits ((iterations 100) (nodes 0) (seconds 60))"
                     "  (program (tensor a (shape 4096 4096) f32) (output a))"
                     "  (stops saturated))");
  rl_test_result result;
  heap.limit = heap.used + 300000;
  cr_expect(!rl_run_test(&ctx, r, rl_test_at(r, 0), NULL, &result));
  heap.limit = 0;
  cr_expect(rl_run_test(&ctx, r, rl_test_at(r, 0), NULL, &result), "%s",
            result.message);
}
