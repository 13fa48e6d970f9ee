/* SPDX-License-Identifier: MIT */
/* What the lint finds, and that it finds nothing in rules that are right. */
#include "lawful.h"
#include "rules/lint/lint.h"

TestSuite(lint, .init = fixture_start, .fini = fixture_stop);

static rl_lint_counts
lint(const char *text, bool remarks) {
  rl_lint_counts counts;
  rl_rules *rules = rl_new(&ctx, NULL);
  bool ok = rl_load_source(rules, source("r", text));
  cr_assert(rl_finish(rules) && ok, "%s", faults());
  rl_lint(&ctx, rules, remarks, &counts);
  return counts;
}

static bool
has(const char *code, const char *message) {
  for (uint32_t k = 0; k < diags.list.len; k++) {
    const bs_diag *d = &diags.list.data[k];
    if (d->code && !strcmp(d->code, code) && strstr(d->message, message))
      return true;
  }
  return false;
}

/* Exactly one finding, of this code, with this in its message. */
static void
expect(const char *text, const char *code, const char *message) {
  diags.list.len = diags.errors = diags.warnings = 0;
  lint(text, false);
  cr_expect_eq(diags.errors + diags.warnings, 1, "%s\n%s", text, faults());
  cr_expect(has(code, message), "%s\nno %s \"%s\" in\n%s", text, code, message,
            faults());
}

static void
expect_clean(const char *text) {
  diags.list.len = diags.errors = diags.warnings = 0;
  lint(text, false);
  cr_expect_eq(diags.errors + diags.warnings, 0, "%s\n%s", text, faults());
}

Test(lint, right_rules_are_clean) {
  expect_clean("(rule a \"x\" (access (access ?a ?j) ?k) => (access ?a ?k))");
  expect_clean("(rule a \"x\" (slice (concat ?a ?b ?d) ?d ?lo ?hi)"
               " => (slice ?b ?d (- ?lo ?n) (- ?hi ?n))"
               " :where (and (= ?n (dim ?a ?d)) (>= ?lo ?n)))");
  expect_clean("(rule a \"x\" (transpose (pad ?a ?k ?d ?lo ?hi) ?p)"
               " <=> (pad (transpose ?a ?p) ?k ?e ?lo ?hi)"
               " :where (and (= ?e (index-of ?p ?d)) (= ?d (nth ?p ?e))))");
  expect_clean("(rule a \"x\" ?a => (reshape (flatten ?a) ?s ?c)"
               " :where (and (= ?s (access-shape ?a)) (= ?c (compute-shape ?a))"
               "             (or (> (rank ?s) 1) (> (rank ?c) 1))))");
  expect_clean("(param q 0 \"unit\")"
               "(rule a \"x\" ?a => (concat (slice ?a ?d 0 ?m)"
               "   (slice ?a ?d ?m ?n) ?d)"
               " :for (?d (axes ?a)) :for (?m (cuts ?n $q))"
               " :where (= ?n (dim ?a ?d)))");
}

Test(lint, rules_are_tried_under_other_parameters) {
  rl_lint_counts c =
      lint("(param q 0 \"unit\")"
           "(rule a \"x\" (slice ?a ?d ?lo ?hi) => (slice ?a ?d ?lo ?n)"
           " :where (and (> $q 0) (= ?n (dim ?a ?d))))",
           false);
  cr_expect_eq(c.tried, 1);
  cr_expect(has("changes-type", "'a' changes the type when ?a : "), "%s",
            faults());
}

Test(lint, types) {
  expect("(rule a \"x\" (concat ?a ?b ?d) => (slice ?a ?d 0 (dim ?b ?d)))",
         "changes-type", "'a' changes the type when ?a : ((");
  expect("(rule a \"x\" (cartProd ?a ?b) => (cartProd ?b ?a))", "changes-type",
         "?b : ((");
  expect("(rule a \"x\" (cartProd (slice ?a ?d ?lo ?hi) ?b)"
         " => (slice (cartProd ?a ?b) (+ ?d 20) ?lo ?hi))",
         "ill-typed-right", "builds an ill-typed term when ?a : ");
  expect("(rule a \"x\" (flatten ?a) => (squeeze ?a 0))", "ill-typed-right",
         "'a'");
  /* Only from right to left. */
  expect("(rule a \"x\" (flatten (squeeze ?a 0)) <=> (flatten ?a)"
         " :where (> (access-rank ?a) 1))",
         "ill-typed-right", "'a~rev' builds an ill-typed term");
  expect("(rule a \"x\" (flatten ?a) => (flatten ?a)"
         " :also (?a (flatten ?a)) :where (> (rank ?a) 2))",
         "changes-type", "'a'");
}

Test(lint, written_twice) {
  const char *one = "(rule a \"x\" (pad ?a ?k ?d 0 ?n)"
                    " => (materialize (pad ?a ?k ?d 0 ?n))"
                    " :match-limit 9"
                    " :where (and (> ?n 3) (< ?d (access-rank ?a))))";
  expect(bs_arena_printf(&arena, "%s%s", one,
                         "(rule b \"y\" (pad ?x ?y ?z 0 ?m)"
                         " => (materialize (pad ?x ?y ?z 0 ?m))"
                         " :where (and (= ?r (access-rank ?x)) (> ?r ?z))"
                         " :where (< 3 ?m) :match-limit 9)"),
         "duplicate-rule", "'b' is the rule 'a' under another name");
  expect_clean(
      bs_arena_printf(&arena, "%s%s", one,
                      "(rule b \"y\" (pad ?x ?y ?z 0 ?m)"
                      " => (materialize (pad ?x ?y ?z 0 ?m))"
                      " :match-limit 9"
                      " :where (and (< 3 ?m) (>= ?z (access-rank ?x))))"));
}

/* A list has one meaning, whichever word it begins with. */
Test(lint, written_twice_with_other_words_for_lists) {
  static const char *const lists[] = {"(stride 1 2)", "(dilation 1 2)",
                                      "(shape 1 2)", "(list 1 2)"};
  for (size_t k = 0; k < 4; k++)
    expect(bs_arena_printf(&arena,
                           "(rule a \"x\" (windows ?a ?w ?s) => (materialize"
                           " (windows ?a ?w ?s)) :where (= ?s (list 1 2)))"
                           "(rule b \"y\" (windows ?x ?y ?z) => (materialize"
                           " (windows ?x ?y ?z)) :where (= ?z %s))",
                           lists[k]),
           "duplicate-rule", "'b' is the rule 'a' under another name");
}

Test(lint, covered) {
  const char *general = "(rule g \"x\" (slice (slice ?a ?d ?l ?h) ?d ?f ?t)"
                        " => (slice ?a ?d (+ ?l ?f) (+ ?l ?t))"
                        " :where (> ?t 2))";
  expect(bs_arena_printf(&arena, "%s%s", general,
                         "(rule s \"y\" (slice (slice ?a 0 ?l ?h) 0 ?f ?t)"
                         " => (slice ?a 0 (+ ?l ?f) (+ ?t ?l))"
                         " :where (and (>= ?t 5) (> ?l 0)))"),
         "subsumed-rule", "'s' adds nothing: 'g'");
  expect_clean(
      bs_arena_printf(&arena, "%s%s", general,
                      "(rule s \"y\" (slice (slice ?a 0 ?l ?h) 0 ?f ?t)"
                      " => (slice ?a 0 (+ ?l ?f) (+ ?t ?l))"
                      " :where (> ?t 1))"));
}

Test(lint, undone_and_idle_rules) {
  expect(
      "(rule a \"x\" (flatten (materialize ?a)) => (materialize (flatten ?a)))"
      "(rule b \"x\" (materialize (flatten ?x)) => (flatten (materialize ?x)))",
      "inverse-rule", "'b' is 'a' from right to left");
  expect("(rule a \"x\" (compute add (pair ?a ?b))"
         " <=> (compute add (pair ?b ?a)))",
         "same-both-ways", "'a'");
  expect("(rule a \"x\" (flatten ?a) => (flatten ?a))", "no-effect", "'a'");
}

Test(lint, growth) {
  expect("(rule a \"x\" ?a => (squeeze (insertAxis ?a 0) 0))", "feeds-itself",
         "'a' still grows");
  expect("(rule a \"x\" ?a => (slice (pad ?a zero 0 0 1) 0 0 ?n)"
         " :where (= ?n (dim ?a 0)))",
         "feeds-itself", "'a'");
  expect("(rule a \"x\" (compute relu ?a) => (compute relu (compute neg"
         " (compute neg ?a))))",
         "feeds-itself", "'a'");
  /* What it makes is there already. */
  expect_clean("(rule a \"x\" ?a => (transpose (transpose ?a ?p) ?p)"
               " :where (= ?p (reverse (iota (rank ?a)))))");
  expect_clean("(rule a \"x\" ?a => (squeeze (insertAxis ?a 0) 0)"
               " :match-limit 5)");
}

Test(lint, conditions) {
  static const char *const never[] = {
      "(and (> ?lo 4) (< ?lo 3))",
      "(and (> ?lo 4) (= ?hi 2) (= ?lo ?hi) (< ?hi ?lo))",
      "(< (rank ?a) 0)",
      "(= (dim ?a ?d) 0)",
      "(= (mod ?lo 4) 4)",
      "(and (= (dtype ?a) f32) (= (dtype ?a) i8))",
      "(and (divides 2 ?lo) (not (divides 2 ?lo)))",
      "(= 1 2)",
      "(< ?lo ?lo)",
      "(and (!= ?d 0) (or (= ?d 0) (< ?lo 0)))",
      "(and (= ?n (dim ?a ?d)) (> ?n 8) (< (dim ?a ?d) 9))",
  };
  for (size_t k = 0; k < sizeof never / sizeof *never; k++)
    expect(bs_arena_printf(&arena,
                           "(rule a \"x\" (slice ?a ?d ?lo ?hi)"
                           " => (access (slice ?a ?d ?lo ?hi) (access-rank ?a))"
                           " :match-limit 3 :where %s)",
                           never[k]),
           "never-true", "the rule 'a' never applies");
  expect("(rule a \"x\" (slice ?a ?d ?lo ?hi) => (slice (slice ?a ?d ?lo ?hi)"
         " ?d 0 (- ?hi ?lo)) :match-limit 3 :where (>= ?lo 0))",
         "always-true", "always holds");
  expect("(rule a \"x\" (slice ?a ?d ?lo ?hi) => (slice (slice ?a ?d ?lo ?hi)"
         " ?d 0 (- ?hi ?lo)) :match-limit 3"
         " :where (or (> ?lo 3) (< (rank ?a) 0)))",
         "never-true-part", "1 of these 2 alternatives");
}

Test(lint, names) {
  const char *slice = "(rule a \"x\" (slice ?a ?d ?lo ?hi) =>"
                      " (slice (slice ?a ?d ?lo ?hi) ?d 0 (- ?hi ?lo))"
                      " :match-limit 3 %s)";
  static const struct {
    const char *clause, *code, *message;
  } cases[] = {
      {":where (= ?n (dim ?a ?d))", "unused-variable", "'?n' is defined"},
      {":for (?i (axes ?a))", "unused-variable", "'?i' is never used"},
      {":with (?q (flatten ?_))", "unused-variable", "nothing ties this"},
      {":for (?i (axes ?a)) :for (?i (iota ?i))", "shadowed-variable", "'?i'"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    bs_text text;
    bs_text_init(&text, &heap);
    const char *at = strstr(slice, "%s");
    bs_putn(&text, slice, (size_t)(at - slice));
    bs_put(&text, cases[k].clause);
    bs_put(&text, at + 2);
    expect(bs_text_str(&text), cases[k].code, cases[k].message);
    bs_text_done(&text);
  }
  expect("(param p 3 \"x\")", "unused-param", "$p");
  expect("(rule cleanup \"x\" (access (access ?a ?j) ?k) => (access ?a ?k))",
         "shadowed-name", "'cleanup'");
  expect("(rule big :kind cleanup \"x\" (transpose (flatten ?z) ?p)"
         " => (materialize (transpose (flatten ?z) ?p)))",
         "cleanup-grows", "'big'");
}

Test(lint, unused_on_purpose) {
  expect_clean("(rule a \"x\" (slice ?a ?d ?lo ?hi) =>"
               " (slice (slice ?a ?d ?lo ?hi) ?d 0 (- ?hi ?lo))"
               " :match-limit 3 :where (= ?_n (nth (shape ?a) 3)))");
}

Test(lint, rules_that_no_strategy_runs) {
  expect("(rule a \"x\" (access (access ?a ?j) ?k) => (access ?a ?k))"
         "(rule b \"x\" (flatten (flatten ?a)) => (flatten ?a))"
         "(ruleset s a) (run (saturate s))",
         "never-run", "no strategy runs 'b'");
  expect_clean("(rule a \"x\" (access (access ?a ?j) ?k) => (access ?a ?k))"
               "(rule b \"x\" (flatten (flatten ?a)) => (flatten ?a))"
               "(ruleset s a) (run (saturate s)) (strategy other b)");
}

Test(lint, remarks) {
  lint("(rule a \"x\" (access (access ?a ?j) ?k) => (access ?a ?k))", true);
  cr_expect_eq(diags.errors + diags.warnings, 0);
  cr_expect(has("unused-variable", "'?j' is used nowhere else"), "%s",
            faults());
}

Test(lint, findings_stand_in_order) {
  lint("(param p 3 \"x\")\n"
       "(rule a \"x\" (slice ?a ?d ?lo ?hi) => ?a :where (= 1 2))\n"
       "(param q 3 \"x\")\n"
       "(rule b \"x\" (flatten ?a) => (squeeze ?a 0))\n",
       false);
  uint32_t last = 0;
  cr_expect_eq(diags.list.len, 4, "%s", faults());
  for (uint32_t k = 0; k < diags.list.len; k++) {
    cr_expect_geq(diags.list.data[k].span.lo, last);
    last = diags.list.data[k].span.lo;
  }
}

Test(lint, same_answer_twice) {
  const char *text = "(rule a \"x\" (concat ?a ?b ?d) =>"
                     " (slice ?a ?d 0 (dim ?b ?d)))";
  lint(text, true);
  const char *first = faults();
  diags.list.len = diags.errors = diags.warnings = 0;
  diags.sources.len = 0;
  lint(text, true);
  cr_expect_str_eq(first, faults());
}

/* --- too little memory ---------------------------------------------------- */

static const char few_rules[] =
    "(param q 0 \"x\")"
    "(rule a \"x\" ?a => (squeeze (insertAxis ?a 0) 0))"
    "(rule b \"x\" (concat ?a ?b ?d) => (slice ?a ?d $q (dim ?b ?d)))"
    "(rule c \"x\" (flatten (flatten ?a)) <=> (flatten ?a)"
    " :where (and (> (rank ?a) 2) (or (< (rank ?a) 2) (= ?n 1) (= ?n 2))"
    "             (= ?n (len (shape ?a)))))";

/* Most of what their lint takes is for programs that they are tried on. */
static const char growing_rules[] =
    "(rule a \"x\" (compute add (pair ?a ?b)) => (compute add (pair (compute "
    "neg "
    "?b) (compute neg ?a))))"
    "(rule b \"x\" (compute neg ?a) => (compute neg (compute neg (compute neg "
    "?a))))";

typedef struct linted {
  bs_heap *own;
  const char *text;
} linted;

static void
lint_on(void *arg) {
  const linted *l = arg;
  bs_heap *own = l->own;
  bs_arena a;
  bs_diags d;
  rl_lint_counts counts;
  bs_arena_init(&a, own);
  bs_diags_init(&d, own);
  gs_context c = {own, &a, bs_values_new(own), &d};
  rl_rules *rules = rl_new(&c, NULL);
  uint32_t s = bs_source_add(&d, "r", l->text, strlen(l->text));
  if (rl_load_source(rules, s))
    rl_finish(rules);
  rl_lint(&c, rules, true, &counts);
}

static void
expect_whole_or_nothing(const char *text) {
  bs_heap own;
  linted l = {&own, text};
  bs_heap_init(&own, NULL, 0);
  cr_assert(bs_protect(&own, lint_on, &l));
  size_t peak = own.peak;
  bs_heap_done(&own);
  for (uint32_t k = 1; k < 40; k++) {
    bs_heap_init(&own, NULL, peak * k / 40);
    cr_expect_not(bs_protect(&own, lint_on, &l), "%u of 40 parts", k);
    bs_heap_done(&own);
    cr_expect_eq(own.used, 0);
  }
}

Test(lint, memory_that_runs_out_is_given_back) {
  expect_whole_or_nothing(few_rules);
  expect_whole_or_nothing(growing_rules);
}

Test(lint, shipped_rules_have_no_errors) {
  rl_lint_counts counts;
  rl_rules *rules = rl_new(&ctx, NULL);
  cr_assert(rl_load(rules, GLEN_SOURCE_DIR "/rules"));
  cr_assert(rl_finish(rules), "%s", faults());
  rl_lint(&ctx, rules, false, &counts);
  cr_expect_eq(diags.errors, 0, "%s", faults());
  cr_expect_gt(counts.tried * 10, counts.rules * 9);
}

/* --- many rules ----------------------------------------------------------- */

/* A rule with a number where another has a variable adds nothing wherever the
 * condition of the other is known to hold at that number, and only there. */
Test(lint, a_rule_for_a_number_adds_nothing_where_the_condition_holds) {
  static const struct {
    const char *where;
    bool holds; /* at 2 */
  } rows[] = {
      {"(> ?k 1)", true},
      {"(> ?k 2)", false},
      {"(>= ?k 2)", true},
      {"(>= ?k 3)", false},
      {"(< ?k 3)", true},
      {"(< ?k 2)", false},
      {"(<= ?k 2)", true},
      {"(<= ?k 1)", false},
      {"(= ?k 2)", true},
      {"(= ?k 3)", false},
      {"(!= ?k 3)", true},
      {"(!= ?k 2)", false},
      {"(not (= ?k 3))", true},
      {"(not (= ?k 2))", false},
      {"(member (list 1 2) ?k)", true},
      {"(member (list 2) ?k)", true},
      {"(member (list 1 3) ?k)", false},
      {"(not (member (list 1 2) ?k))", false},
      {"(and (> ?k 1) (member (list 2 9) ?k))", true},
      {"(and (> ?k 1) (member (list 3 9) ?k))", false},
      {"(or (> ?k 7) (member (list 2 5) ?k))", true},
      {"(or (> ?k 7) (member (list 3 5) ?k))", false},
      {"(or (= ?k 5) (and (> ?k 1) (< ?k 4)))", true},
      {"(or (< ?k 2) (> ?k 2))", false},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    diags.list.len = diags.errors = diags.warnings = 0;
    lint(bs_arena_printf(&arena,
                         "(rule g \"x\" (pad ?a zero 0 0 ?k)"
                         " => (materialize (pad ?a zero 0 0 ?k)) :where %s)"
                         "(rule s \"y\" (pad ?a zero 0 0 2)"
                         " => (materialize (pad ?a zero 0 0 2)))",
                         rows[k].where),
         false);
    cr_expect_eq(has("subsumed-rule", "'s' adds nothing: 'g'"), rows[k].holds,
                 "%s\n%s", rows[k].where, faults());
  }
}

/* What covers a rule is found among many that only begin like it: above or
 * below its node, with a variable twice, behind all others. */
Test(lint, what_covers_a_rule_is_found_among_many) {
  bs_text text;
  bs_text_init(&text, ctx.heap);
  for (int k = 1; k <= 300; k++)
    bs_putf(&text,
            "(rule clip%d \"d\" (compute (clip 0 %d) (compute neg ?a)) => "
            "(compute neg (compute (clip -%d 0) ?a)))\n",
            k, k, k);
  bs_put(&text, "(rule twice \"d\" (compute add (pair ?a ?a)) => "
                "(compute add (pair ?a ?a)))\n"
                "(rule special \"d\" (compute add (pair (compute exp ?a) "
                "(compute neg ?b))) => (compute add (pair (compute neg ?b) "
                "(compute exp ?a))))\n"
                "(rule general \"d\" (compute add (pair ?a ?b)) => "
                "(compute add (pair ?b ?a)))\n");
  lint(bs_text_str(&text), false);
  cr_assert(has("subsumed-rule", "'special' adds nothing: 'general'"));
  uint32_t covered = 0;
  for (uint32_t k = 0; k < diags.list.len; k++)
    covered += diags.list.data[k].code &&
               !strcmp(diags.list.data[k].code, "subsumed-rule");
  cr_assert_eq(covered, 1, "%u", covered);
  bs_text_done(&text);
}

Test(lint, sets_may_list_rules_by_name_and_by_direction) {
  rl_rules *rules = rl_new(&ctx, NULL);
  bool ok = rl_load_source(
      rules, source("r", "(rule a \"d\" (compute exp ?x) <=> "
                         "(compute exp (compute neg (compute neg ?x))))"
                         "(rule b \"d\" (compute neg (compute neg ?x)) => ?x)"
                         "(ruleset both a b)(ruleset one a~fwd)"
                         "(ruleset back a~rev)"));
  cr_assert(rl_finish(rules) && ok, "%s", faults());
  cr_assert_eq(rl_count(rules), 3);
  cr_assert_not_null(rl_find(rules, "a~rev"));
  cr_assert_not_null(rl_find(rules, "b"));
  cr_assert_null(rl_find(rules, "c"));
}

/* A sum of 2^n variables, from number `from` on. */
static void
put_tree(bs_text *out, uint32_t n, uint32_t from) {
  static const char open[] = "(compute add (pair ";
  for (uint32_t k = 0; k < 1u << n; k++) {
    uint32_t ones = k ? (uint32_t)__builtin_ctz(k) : n;
    for (uint32_t i = 0; i < ones; i++)
      bs_put(out, open);
    bs_putf(out, "?x%u", from + k);
    uint32_t closed = (uint32_t)__builtin_ctz(k + 1);
    for (uint32_t i = 0; i < closed; i++)
      bs_put(out, "))");
    bs_put(out, " ");
  }
}

/* Sides that are too large to be tried are left alone, whatever their size. */
Test(lint, sides_of_any_size) {
  for (uint32_t n = 3; n < 8; n++) {
    bs_text text;
    bs_text_init(&text, ctx.heap);
    bs_put(&text, "(rule large \"d\" (compute add (pair ");
    put_tree(&text, n, 0);
    put_tree(&text, n, 1u << n);
    bs_put(&text, ")) => (compute add (pair ");
    put_tree(&text, n, 1u << n);
    put_tree(&text, n, 0);
    bs_put(&text, ")))");
    diags.list.len = diags.errors = diags.warnings = 0;
    lint(bs_text_str(&text), false);
    cr_expect_eq(diags.errors, 0, "2^%u: %s", n, faults());
    bs_text_done(&text);
  }
}
