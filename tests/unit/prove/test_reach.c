/* SPDX-License-Identifier: MIT */
/* test_reach.c - what is found out of a rule before it is proved, and of rules
 * made at random what is proved of them.
 *
 * Of each rule of the project: the rank up to which it tells ranks apart, the
 * numbers that it may tell apart, and its forms.  Rules made at random have
 * conditions of every function of the language, typed, and right sides in which
 * one amount is written in another way, which is right or wrong.  What is
 * proved of these for all sizes is refuted at no shape; and a condition over
 * the rank alone says the same of all ranks from the reach on. */
#include "trail.h"
#include "random_expr.h"
#include "base/hash.h"
#include "rules/sample/sample.h"
#include "prove/symbolic/symbolic_forms.h"
#include "prove/symbolic/symbolic.h"
#include <dirent.h>

enum { RULES = SANITIZED ? 30 : 300, CONDITIONS = SANITIZED ? 60 : 600 };

static rl_rules *
rules_of(const char *text) {
  rl_rules *rules = rl_new(&ctx, NULL);
  uint32_t source = bs_source_add(&diags, "test.rules", text, strlen(text));
  return rl_load_source(rules, source) && rl_finish(rules) && rl_count(rules)
             ? rules
             : NULL;
}

/* ---- forms ---- */

typedef struct listed {
  uint64_t digest, any;
  uint32_t ranks; /* bits: of the first variable */
  const rl_rule *rule;
} listed;

static bool
on_form(void *arg, const gs_program *p, const uint32_t *slots, uint64_t any) {
  listed *l = arg;
  gs_type t;
  for (uint32_t k = 0; k < l->rule->scope.vars.len; k++) {
    bs_text text;
    bs_text_init(&text, &heap);
    bool is_term = l->rule->scope.vars.data[k].sort == GS_SORT_CLASS;
    if (slots[k] == UINT32_MAX) {
      bs_put(&text, "free");
    } else if (is_term) {
      gs_type_at(p, (gs_term){slots[k]}, &t);
      bs_putf(&text, "%u %u %s", t.access, t.rank,
              gs_dtype_table[t.dtype].name);
      if (!k)
        l->ranks |= 1u << t.rank;
    } else {
      bs_put_value(&text, ctx.values, (bs_value){slots[k]});
    }
    uint64_t item[3] = {l->digest, k, bs_hash(text.data, text.len)};
    l->digest = bs_hash(item, sizeof item);
    bs_text_done(&text);
  }
  l->digest ^= any;
  l->any |= any;
  return true;
}

static listed
list(const rl_rules *rules, const rl_rule *rule, uint32_t rank, bool alike,
     uint32_t tries, uint32_t *n, bool *whole) {
  listed l = {.digest = 1, .rule = rule};
  pv_listing of = {.ctx = &ctx,
                   .rules = rules,
                   .rule = rule,
                   .rank = rank,
                   .max_tries = tries,
                   .max_forms = tries,
                   .alike = alike,
                   .found = on_form,
                   .arg = &l};
  *whole = pv_list_forms(&of, n);
  return l;
}

static uint64_t
put_forms(const rl_rules *rules, const rl_rule *rule, uint32_t rank,
          bool alike) {
  uint32_t n;
  bool whole;
  listed l = list(rules, rule, rank, alike, 400, &n, &whole);
  bs_putf(trail_text(), " %u%s", n, whole ? "" : "+");
  return l.digest;
}

static uint64_t
put_numbers(const rl_rules *rules, const rl_rule *rule) {
  rl_parts parts;
  rl_numbers n;
  rl_parts_of(rules, rule, &parts);
  rl_numbers_of(ctx.values, &parts, &n);
  bs_putf(trail_text(), "; numbers %u/%u/%u", n.n_written, n.n_ints, n.n_reals);
  return bs_hash(n.ints, n.n_ints * sizeof(int64_t)) ^
         bs_hash(n.reals, n.n_reals * sizeof(double));
}

/* Up to which rank, and how its lists and axes move. */
static uint32_t
put_reach(const rl_rule *rule) {
  static const uint8_t none[PV_RULE_SLOTS];
  uint32_t reach = pv_rank_reach(&ctx, rule);
  pv_reach of;
  if (!pv_reach_of(&ctx, rule, &of))
    bs_put(trail_text(), "no reach");
  else
    bs_putf(trail_text(), "reach %u (%u %u %u %u %u %u %u %u %u %u %u %u)",
            reach, (unsigned)of.numbers, (unsigned)of.strict,
            (unsigned)of.longest, (unsigned)of.most, (unsigned)of.axes,
            (unsigned)of.others, (unsigned)of.composed, (unsigned)of.word,
            (unsigned)of.multiple, (unsigned)of.between, of.moves.units,
            of.moves.turns);
  /* as if all numbers were places */
  pv_moves moves = pv_moves_of_places(&ctx, rule, none);
  bs_putf(trail_text(), ", %u %u %u %d%d%d", (unsigned)moves.units, moves.turns,
          (unsigned)pv_rank_multiple(&ctx, rule, none),
          pv_lists_tell_ranks(&ctx, rule, none), pv_asks_dtype(rule),
          pv_tells_dtypes(rule));
  return reach;
}

static void
put_rule(const rl_rules *rules, const rl_rule *rule) {
  bs_putf(trail_text(), "%s: ", rule->name);
  put_reach(rule);
  uint64_t digest[5] = {put_numbers(rules, rule)};
  bs_put(trail_text(), "; forms");
  for (uint32_t k = 1; k < 5; k++)
    digest[k] = put_forms(rules, rule, k < 4 ? k : 3, k == 4);
  bs_putf(trail_text(), "; %08x\n", (uint32_t)bs_hash(digest, sizeof digest));
}

static void
put_file(const char *path) {
  fixture_start();
  rl_rules *rules = rl_new(&ctx, NULL);
  if (rl_load(rules, path) && rl_finish(rules))
    for (uint32_t k = 0; k < rl_count(rules); k += SANITIZED ? 9 : 1)
      put_rule(rules, rl_at(rules, k));
  fixture_stop();
}

static int
by_name(const void *a, const void *b) {
  return strcmp(a, b);
}

/* All files of rules in a folder, by name. */
static void
put_folder(const char *folder) {
  enum { MOST = 100, LONG = 64 };
  static char names[MOST][LONG];
  char path[500];
  uint32_t n = 0;
  snprintf(path, sizeof path, GLEN_SOURCE_DIR "/%s", folder);
  DIR *d = opendir(path);
  cr_assert(d);
  for (struct dirent *e; (e = readdir(d)) && n < MOST;)
    if (strstr(e->d_name, ".rules") && strlen(e->d_name) < LONG)
      strcpy(names[n++], e->d_name);
  closedir(d);
  qsort(names, n, LONG, by_name);
  for (uint32_t k = 0; k < n; k++) {
    snprintf(path, sizeof path, GLEN_SOURCE_DIR "/%s/%s", folder, names[k]);
    bs_putf(trail_text(), "(%s)\n", names[k]);
    put_file(path);
  }
}

Test(reach, of_all_rules) {
  put_folder("rules");
  put_folder("tests/prove");
  put_folder("tests/unit/prove");
  trail_end("reach");
}

/* ---- conditions over the rank alone ---- */

/* Forms up to a rank beyond the reach: from there on all ranks are told alike,
 * and one that is not would not have been looked at. */
static void
check_condition(uint64_t seed) {
  enum { LEAST = 2, HIGHEST = 22 }; /* ranks; the least is always listed */
  scope s = {.ints = {"(rank ?a)", "(rank ?a)", "1", "2", "5"},
             .rank_alone = true};
  bs_text text;
  uint32_t n;
  bool whole;
  bs_text_init(&text, &heap);
  state = seed * 77;
  bs_put(&text, "(rule r \"x\" (compute relu ?a) => ?a :where (and "
                "(= (access-rank ?a) 0) (= (dtype ?a) f32) ");
  put_expr(&text, &s, 'b', 3);
  bs_put(&text, "))");
  rl_rules *rules = rules_of(bs_text_str(&text));
  if (!rules)
    return;
  const rl_rule *rule = rl_at(rules, 0);
  bs_putf(trail_text(), "%s: ", bs_text_str(&text) + 90);
  uint32_t reach = put_reach(rule);
  listed l = list(rules, rule, HIGHEST, false, 100000, &n, &whole);
  uint32_t from = reach < LEAST ? LEAST : reach;
  uint32_t above = from < HIGHEST ? l.ranks >> from : 0;
  uint32_t all = from < HIGHEST ? (2u << (HIGHEST - from)) - 1 : 0;
  bs_putf(trail_text(), "; %s%06x\n", whole ? "" : "+", l.ranks);
  cr_expect(!whole || !above || above == all, "%s: reach %u, of ranks %x",
            bs_text_str(&text), reach, l.ranks);
}

Test(reach, ranks_beyond_it_are_alike) {
  for (uint64_t seed = 1; seed <= CONDITIONS; seed++) {
    fixture_start();
    check_condition(seed);
    fixture_stop();
  }
  trail_end("reach-ranks");
}

/* ---- rules ---- */

/* A left side, the amount in it that the right side writes in another way, and
 * what else it has. */
static const struct {
  const char *left, *right, *amount, *where;
  scope s;
} shapes[] = {
    {"(slice ?a ?d ?lo ?hi)",
     "(slice ?a ?d ?lo ?x)",
     "?hi",
     "(< ?d 2)",
     {{"?d", "?lo", "?hi", "(dim ?a ?d)"}, {"(shape ?a)"}, false}},
    {"(slice (slice ?a 0 ?lo ?hi) 0 ?m ?n)",
     "(slice ?a 0 (+ ?lo ?m) (+ ?lo ?x))",
     "?n",
     "(> ?hi ?lo)",
     {{"?lo", "?hi", "?m", "?n"}, {"(shape ?a)"}, false}},
    {"(repeat (repeat ?a 0 ?n) 0 ?m)",
     "(repeat ?a 0 ?x)",
     "(* ?n ?m)",
     "(> ?n 0)",
     {{"?n", "?m"}, {"(shape ?a)"}, false}},
    {"(pad (pad ?a zero 0 ?n ?m) zero 0 ?k ?l)",
     "(pad ?a zero 0 (+ ?k ?n) ?x)",
     "(+ ?m ?l)",
     "(>= ?k 0)",
     {{"?n", "?m", "?k", "?l"}, {"(shape ?a)"}, false}},
    {"(slice (transpose ?a ?p) ?d ?lo ?hi)",
     "(transpose (slice ?a (nth ?p ?d) ?lo ?x) ?p)",
     "?hi",
     "(< ?d 3)",
     {{"?d", "?lo", "?hi", "(len ?p)"}, {"?p", "(shape ?a)"}, false}},
    {"(slice (concat ?a ?b 0) 0 ?lo ?hi)",
     "(slice ?b 0 (- ?lo (dim ?a 0)) (- ?x (dim ?a 0)))",
     "?hi",
     "(>= ?lo (dim ?a 0))",
     {{"?lo", "?hi", "(dim ?a 0)"}, {"(shape ?a)"}, false}},
    {"(reshape (reshape ?a ?s ?c) ?t ?u)",
     "(reshape ?a ?t ?x)",
     "?u",
     "(= (len ?c) 1)",
     {{"(len ?s)", "(dim ?a 0)"}, {"?s", "?t", "?u"}, false}},
    {"(compute reduceSum (slice (access ?a 0) 0 ?lo ?hi))",
     "(compute reduceSum (slice (access ?a 0) 0 ?lo ?x))",
     "?hi",
     "(= (rank ?a) 1)",
     {{"?lo", "?hi", "(dim ?a 0)"}, {"(shape ?a)"}, false}},
    {"(compute (scale ?u) (compute (scale ?v) ?a))",
     "(compute (scale ?x) ?a)",
     "(* ?u ?v)",
     "(= (dtype ?a) f32)",
     {{"?u", "?v", "0.5"}, {"(shape ?a)"}, false}},
    {"(compute (offset ?u) (compute (offset ?v) ?a))",
     "(compute (offset ?x) ?a)",
     "(+ ?u ?v)",
     "(= (dtype ?a) i8)",
     {{"?u", "?v", "100"}, {"(shape ?a)"}, false}},
    {"(compute (scale 0.5) (transpose ?a ?p))",
     "(transpose (compute (scale ?x) ?a) ?p)",
     "0.5",
     "(= (dtype ?a) f64)",
     {{"(len ?p)", "(rank ?a)"}, {"?p", "(shape ?a)"}, false}},
    {"(compute (clip -2.5 ?v) (slice ?a 0 0 ?n))",
     "(slice (compute (clip ?x ?v) ?a) 0 0 ?n)",
     "-2.5",
     "(> ?v 0)",
     {{"?n", "(dim ?a 0)"}, {"(shape ?a)"}, false}},
    {"(compute (clip ?u ?v) (compute relu ?a))",
     "(compute (clip ?x ?v) ?a)",
     "(max ?u 0)",
     "(<= 0 ?v)",
     {{"?u", "?v", "3"}, {"(shape ?a)"}, false}},
    {"(compute (scale ?u) (compute (offset ?v) ?a))",
     "(compute (offset ?x) (compute (scale ?u) ?a))",
     "(* ?u ?v)",
     "(and (= (dtype ?a) i32) (<= (abs ?u) 100) (<= (abs ?v) 100))",
     {{"?u", "?v", "(abs ?u)"}, {"(shape ?a)"}, false}},
};

/* The amount, written as what it is, or nearly is.  Lists as they are. */
static const char *const writings[] = {
    "%s", "(+ %s 0)", "(- (+ %s 3) 3)", "(/ (* 2 %s) 2)", "(max 0 %s)",
    "(if C %s %s)", "(min %s (+ %s 1))", "(ceil-div (* 3 %s) 3)",
    "(+ %s (mod 6 3))", "(sum (list %s))", "(last (list 1 %s))",
    /* wrong, or sometimes */
    "(+ %s 1)", "(if C %s (+ %s 1))", "(round-up %s 2)", "(min %s 3)",
    "(abs (- %s 1))", "(* %s 2)", "(+ %s (mod %s 2))"};

static void
put_written(bs_text *out, const scope *s, const char *amount) {
  const char *w = writings[draw(sizeof writings / sizeof *writings)];
  for (; *w; w++)
    if (*w == '%') {
      bs_put(out, amount);
      w++;
    } else if (*w == 'C') {
      put_expr(out, s, 'b', 2);
    } else {
      bs_putc(out, *w);
    }
}

static const char *
random_rule(void) {
  uint32_t k = draw(sizeof shapes / sizeof *shapes);
  bs_text text;
  bs_text_init(&text, &heap);
  bs_putf(&text, "(rule r \"x\" %s => %s :where (and %s ", shapes[k].left,
          shapes[k].right, shapes[k].where);
  bs_put(&text, "(<= (rank ?a) 2) ");
  for (uint32_t n = draw(3); n; n--) {
    put_expr(&text, &shapes[k].s, 'b', 2);
    bs_put(&text, " ");
  }
  bs_put(&text, "(= ?x ");
  if (!strcmp(shapes[k].amount, "?u"))
    put_expr(&text, &shapes[k].s, 'l', 2);
  else
    put_written(&text, &shapes[k].s, shapes[k].amount);
  bs_put(&text, ")))");
  return bs_text_str(&text);
}

static pv_verdict
verdict_on_shapes(const rl_rules *rules) {
  pv_rule_options o;
  pv_rule_answer a;
  pv_rule_defaults(&o);
  o.shapes = 6;
  o.attempts = 60;
  pv_prove_rule(&ctx, rules, rl_at(rules, 0), &o, &a);
  return a.verdict;
}

typedef struct proofs {
  const rl_rules *rules;
  sy_memo *systems;
  pv_counts work;
  uint64_t digest;
  uint32_t n, proved;
  const char *why; /* the first that is not */
  bool any_order, rounded, applies;
} proofs;

static bool
prove_form(void *arg, const gs_program *p, const uint32_t *slots,
           uint64_t any) {
  proofs *of = arg;
  pv_form form = {.rules = of->rules,
                  .rule = rl_at(of->rules, 0),
                  .p = p,
                  .slots = slots,
                  .max_operations = 1000000,
                  .any = any,
                  .systems = of->systems,
                  .counts = &of->work,
                  .any_order = &of->any_order,
                  .rounded = &of->rounded,
                  .applies = &of->applies};
  bs_heap own;
  bool numbers;
  const char *why;
  bs_heap_init_child(&own, &heap, (size_t)1 << 28);
  bool proved = pv_prove_form(&form, &own, &numbers, &why) && !numbers;
  bs_heap_done(&own);
  why = proved ? "proved" : why ? why : "numbers";
  uint64_t item[2] = {of->digest, bs_hash(why, strlen(why))};
  of->digest = bs_hash(item, sizeof item);
  of->n++;
  of->proved += proved;
  if (!proved && !of->why)
    of->why = why;
  return true;
}

static uint32_t n_proved, n_refuted;

/* Its forms, each by itself, be its reach what it may: its terms are of few
 * ranks. */
static void
check_rule(uint64_t seed) {
  state = seed * 131;
  const char *text = random_rule();
  rl_rules *rules = rules_of(text);
  if (!rules)
    return;
  proofs of = {.rules = rules, .systems = sy_memo_new(&heap), .digest = 1};
  pv_listing l = {.ctx = &ctx,
                  .rules = rules,
                  .rule = rl_at(rules, 0),
                  .rank = 2,
                  .max_tries = 3000,
                  .max_forms = 60,
                  .found = prove_form,
                  .arg = &of};
  uint32_t n;
  bs_putf(trail_text(), "%s: ", text + 11);
  put_reach(rl_at(rules, 0));
  bool whole = pv_list_forms(&l, &n);
  bool all = whole && of.n && of.proved == of.n;
  pv_verdict at = all || !draw(4) ? verdict_on_shapes(rules) : PV_UNKNOWN;
  cr_expect(!all || at != PV_REFUTED, "%s", text);
  bs_putf(trail_text(), "; %u of %u%s proved: %s; %s %d%d %08x; ", of.proved,
          of.n, whole ? "" : "+", of.why ? of.why : "all", pv_verdict_name(at),
          of.rounded, of.applies, (uint32_t)of.digest);
  pv_put_counts(trail_text(), &of.work);
  bs_putc(trail_text(), '\n');
  n_proved += all;
  n_refuted += at == PV_REFUTED;
}

Test(reach, rules_made_at_random) {
  for (uint64_t seed = 1; seed <= RULES; seed++) {
    fixture_start();
    check_rule(seed);
    fixture_stop();
  }
  trail_end("rules-random");
  cr_expect(n_proved > RULES / 10 && n_refuted > RULES / 40, "%u, %u", n_proved,
            n_refuted);
}
