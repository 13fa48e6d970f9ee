/* SPDX-License-Identifier: MIT */
/* test_proof.c - a small proof with each kind of lemma, and what is said of it
 * once one of its words is another one; and that to check it keeps nothing. */
#include "../context.h"
#include "../steady.h"
#include "check/check.h"
#include <stdio.h>
#include <unistd.h>

TestSuite(proof, .init = fixture_start, .fini = fixture_stop);

#define INPUTS "(tensor a (shape 2 3) f32)(tensor b (shape 2 3) f32)"

static const char rules_text[] =
    "(rule twice (compute neg (compute neg ?x)) => ?x)"
    "(rule turn (compute add (pair ?x ?y)) <=> (compute add (pair ?y ?x)))"
    "(rule cut (compute relu ?x) => (compute (clip 0 ?n) ?x)"
    " :for (?n (list 7 9)) :where (< ?n 9)"
    " :also (?x (compute abs ?x)))"
    "(rule of-turned (compute square ?x) => ?y"
    " :with (?x (compute add (pair ?y ?z))))"
    "(rule shorter (compute add (pair (compute relu ?x) ?y)) => ?y)";

static const char program_text[] =
    INPUTS "(let s (compute add (pair (compute neg (compute neg a)) b)))"
           "(let q (compute sub (pair a b)))"
           "(output s)(output q)";

/* s is turned below two signs; q is as it is. */
static const char terms_text[] =
    INPUTS "(let n (compute neg (compute neg a)))"
           "(let e (pair n b))(let g (pair a b))"
           "(let l (compute add e))"
           "(let m (compute add g))"
           "(let s (compute add (pair b a)))"
           "(let q (compute sub (pair a b)))"
           "(let w (compute relu a))(let c (compute (clip 0 7) a))"
           "(let c9 (compute (clip 0 9) a))(let d (compute abs a))"
           "(let f (compute relu (transpose a (list 1 0))))"
           "(let k (compute square s))"
           "(output s)(output q)";

static const char proof_text[] =
    "(proof"
    " (rule n a twice 0 (?x a))"                                 /* 1 */
    " (congruence n n 0)"                                        /* 2 */
    " (congruence e g 1 0)"                                      /* 3 */
    " (congruence l m 3)"                                        /* 4 */
    " (rule m s turn 0 (?x a) (?y b))"                           /* 5 */
    " (rule m s turn~rev 0 (?x b) (?y a))"                       /* 6 */
    " (chain l s 4 5)"                                           /* 7 */
    " (chain s m -6)"                                            /* 8 */
    " (rule w c cut 0 (?x a) (?n 7))"                            /* 9 */
    " (rule a d cut 1 (root w) (?x a) (?n 7))"                   /* 10 */
    " (rule k a of-turned 0 (?x s) (?y a) (?z b) (premises -5))" /* 11 */
    " (claim s l s 7)"
    " (claim q q q 0))";

typedef struct row {
  const char *old, *new; /* of the proof */
  const char *why;       /* NULL: accepted */
  uint32_t at;           /* the lemma, from 1; 0: a claim, or the whole */
} row;

static const char *
replaced(const row *x) {
  const char *at = strstr(proof_text, x->old);
  cr_assert(at && !strstr(at + 1, x->old), "%s stands there once", x->old);
  return bs_arena_printf(&arena, "%.*s%s%s", (int)(at - proof_text), proof_text,
                         x->new, at + strlen(x->old));
}

/* A file, as a proof is read from one. */
static const char *
file_of(const char *terms, const char *proof) {
  static char path[64];
  snprintf(path, sizeof path, "/tmp/glen-proof-XXXXXX");
  int fd = mkstemp(path);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
  cr_assert(f);
  fprintf(f, "%s\n%s\n", terms, proof);
  fclose(f);
  return path;
}

typedef struct asked {
  ck_rules rules;
  gs_program *program, *result;
  const char *path;
  ck_proof x;
  bool read;
} asked;

static void
start(asked *q, const char *terms, const char *proof) {
  uint32_t source = bs_source_add(&diags, "r", rules_text, strlen(rules_text));
  *q = (asked){.path = file_of(terms, proof)};
  ck_rules_init(&q->rules, &ctx, NULL);
  cr_assert(gs_forms_load_source(&q->rules.forms, source), "%s", faults());
  q->program = program_over(NULL, program_text);
  q->x = (ck_proof){.ctx = &ctx, .rules = &q->rules};
  q->read = ck_read_proof(&q->x, q->path);
  unlink(q->path);
}

static void
expect_row(const row *x, const char *terms) {
  asked q;
  start(&q, terms, replaced(x));
  cr_assert(q.read, "%s: %s", x->new, faults());
  ck_check_proof(&q.x, q.program, q.result);
  if (!x->why)
    cr_expect_null(q.x.why, "%s: %s", x->new, q.x.why);
  else
    cr_expect(q.x.why && !strcmp(q.x.why, x->why), "%s: %s", x->new,
              q.x.why ? q.x.why : "accepted");
  cr_expect_eq(q.x.at, x->at, "%s: lemma %u", x->new, q.x.at);
}

static void
expect_rows(const row *rows, size_t n) {
  for (size_t k = 0; k < n; k++)
    expect_row(&rows[k], terms_text);
}

Test(proof, lemmas_and_what_they_cite) {
  static const char no_term[] = "there is no such term",
                    other_type[] = "the terms do not have the same type",
                    other_op[] = "the terms do not have the same operator",
                    operands[] = "operands are not equal by what is cited",
                    broken[] = "the chain is broken",
                    elsewhere[] = "the chain ends elsewhere",
                    none[] = "this is not a lemma";
  static const row rows[] = {
      {"(proof", "(proof", NULL, 0},
      {"(congruence n n 0)", "(congruence n n 1)", operands, 2},
      {"(congruence n n 0)", "(congruence n no 0)", no_term, 2},
      {"(congruence n n 0)", "(congruence no n 0)", no_term, 2},
      {"(congruence n n 0)", "(congruence n 3 0)", no_term, 2},
      /* what has a name and is no term: operators, clauses, types, rules */
      {"(congruence n n 0)", "(congruence neg neg 0)", no_term, 2},
      {"(congruence n n 0)", "(congruence add add 0)", no_term, 2},
      {"(congruence n n 0)", "(congruence f32 f32 0)", no_term, 2},
      {"(congruence n n 0)", "(congruence twice twice 0)", no_term, 2},
      {"(congruence n n 0)", "(congruence claim claim 0)", no_term, 2},
      {"(congruence n n 0)", "(congruence n)", no_term, 2},
      {"(congruence n n 0)", "(congruence n n)", other_op, 2},
      {"(congruence n n 0)", "(congruence n n 0 0)", other_op, 2},
      {"(congruence n n 0)", "(congruence w f 0)", other_type, 2},
      {"(congruence n n 0)", "(congruence c c9 0)", other_op, 2},
      {"(congruence n n 0)", "(congruence w d 0)", other_op, 2},
      {"(congruence n n 0)", "(congruence m s 0)", operands, 2},
      {"(congruence n n 0)", "(congruences n n 0)", none, 2},
      {"(congruence n n 0)", "congruence", none, 2},
      {"(congruence n n 0)", "()", none, 2},
      {"(congruence n n 0)", "(1 n n)", none, 2},
      {"(congruence e g 1 0)", "(congruence g e -1 0) (congruence e g -3 0)",
       operands, 4},
      {"(congruence e g 1 0)", "(congruence e g 0 0)", operands, 3},
      {"(congruence e g 1 0)", "(congruence e g -1 0)", operands, 3},
      {"(congruence e g 1 0)", "(congruence e g 2 0)", operands, 3},
      {"(congruence e g 1 0)", "(congruence e g 3 0)", operands, 3},
      {"(congruence e g 1 0)", "(congruence e g a 0)", operands, 3},
      {"(congruence e g 1 0)", "(congruence e g 1 1)", operands, 3},
      {"(congruence e g 1 0)", "(congruence e g 1 0.0)", operands, 3},
      {"(congruence e g 1 0)", "(congruence e g 4294967297 0)", operands, 3},
      {"(chain l s 4 5)", "(chain l s 4 6)", NULL, 0},
      {"(chain l s 4 5)", "(chain l s 4 5 -5 5)", NULL, 0},
      {"(chain l s 4 5)", "(chain l s 5 4)", broken, 7},
      {"(chain l s 4 5)", "(chain l s 4)", elsewhere, 7},
      {"(chain l s 4 5)", "(chain l s 4 -5)", broken, 7},
      {"(chain l s 4 5)", "(chain l s 4 0 5)", broken, 7},
      {"(chain l s 4 5)", "(chain l s 4 7)", broken, 7},
      {"(chain l s 4 5)", "(chain l s)", elsewhere, 7},
      {"(chain s m -6)", "(chain s s)", NULL, 0},
  };
  expect_rows(rows, sizeof rows / sizeof *rows);
}

Test(proof, steps_of_rules) {
  static const char no_rule[] = "no rule has this name",
                    needs[] = "a step needs a rule and a result",
                    left[] = "the left side does not match",
                    another[] = "the rule gives something else",
                    no_result[] = "the rule has no such result",
                    condition[] = "the condition does not hold",
                    value[] = "a value that the loop of the condition does "
                              "not take",
                    unbound[] = "a binding of a variable that the rule does "
                                "not have",
                    clause[] = "a step cannot have this clause",
                    twice[] = "a variable is bound twice",
                    premise[] = "a premise cites no lemma about its variable";
  static const row rows[] = {
      {"n a twice 0", "n a twices 0", no_rule, 1},
      {"n a twice 0", "n a twice -1", no_rule, 1},
      {"n a twice 0", "n a twice 1", no_result, 1},
      {"n a twice 0", "n a twice", needs, 1},
      {"n a twice 0", "n a twice x", needs, 1},
      {"n a twice 0", "n a 0 twice", needs, 1},
      {"n a twice 0", "a n twice 0", left, 1},
      {"n a twice 0", "n n twice 0", another, 1},
      {"n a twice 0", "n b twice 0", another, 1},
      {"n a twice 0 (?x a)", "n a twice 0", NULL, 0},
      {"n a twice 0 (?x a)", "n a twice 0 (?x b)", left, 1},
      {"n a twice 0 (?x a)", "n a twice 0 (?x no)", "there is no such term", 1},
      {"n a twice 0 (?x a)", "n a twice 0 (?x a) (?x a)", twice, 1},
      {"n a twice 0 (?x a)", "n a twice 0 (?x)", unbound, 1},
      {"n a twice 0 (?x a)", "n a twice 0 (?x a a)", unbound, 1},
      {"n a twice 0 (?x a)", "n a twice 0 (?y a)", unbound, 1},
      {"n a twice 0 (?x a)", "n a twice 0 ?x", clause, 1},
      {"n a twice 0 (?x a)", "n a twice 0 (x a)", clause, 1},
      {"n a twice 0 (?x a)", "n a twice 0 (root)", clause, 1},
      {"n a twice 0 (?x a)", "n a twice 0 (root a b)", clause, 1},
      {"n a twice 0 (?x a)", "n a twice 0 (premises) (premises)", clause, 1},
      {"n a twice 0 (?x a)", "n a twice 0 (premises 0)",
       "there are too many premises", 1},
      {"n a twice 0 (?x a)", "n a twice 0 (facts)", NULL, 0},
      {"n a twice 0 (?x a)", "n a twice 0 (facts 1)",
       "a fact cites no earlier lemma", 1},
      {"n a twice 0 (?x a)", "n a twice 0 (facts 0)",
       "a fact cites no earlier lemma", 1},
      {"(congruence n n 0)",
       "(rule n a twice 0 (facts 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1))", NULL, 0},
      {"(congruence n n 0)",
       "(rule n a twice 0 (facts 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1))",
       "a fact cites no earlier lemma", 2},
      {"turn 0 (?x a)", "turn 0 (?x b)", left, 5},
      {"m s turn~rev 0", "s m turn~rev 0", left, 6},
      {"w c cut 0 (?x a) (?n 7)", "w c cut 0 (?x a) (?n 8)", value, 9},
      {"w c cut 0 (?x a) (?n 7)", "w c9 cut 0 (?x a) (?n 9)", condition, 9},
      {"w c cut 0 (?x a) (?n 7)", "w c9 cut 0 (?x a) (?n 7)", another, 9},
      {"w c cut 0 (?x a) (?n 7)", "w c cut 0 (?x a)", condition, 9},
      {"a d cut 1 (root w)", "a d cut 1", left, 10},
      {"a d cut 1 (root w)", "a d cut 1 (root d)", left, 10},
      {"a d cut 1 (root w)", "a d cut 2 (root w)", no_result, 10},
      {"a d cut 1 (root w)", "a w cut 1 (root w)", another, 10},
      {"a d cut 1 (root w)", "b d cut 1 (root w)",
       "the result is about something else", 10},
      {"(?z b) (premises -5)", "(premises -5)", NULL, 0},
      {"(?z b) (premises -5)", "(?z b) (premises -6)", NULL, 0},
      {"(?z b) (premises -5)", "(?z b) (premises 0)",
       "a premise is about something else", 11},
      {"(?z b) (premises -5)", "(?z b) (premises 5)", premise, 11},
      {"(?z b) (premises -5)", "(?z b) (premises 11)", premise, 11},
      {"(?z b) (premises -5)", "(?z b)", "a premise is missing", 11},
      {"(?z b) (premises -5)", "(?z b) (premises)", "a premise is missing", 11},
      {"(?z b) (premises -5)", "(?z b) (premises -5 -5)",
       "there are too many premises", 11},
  };
  expect_rows(rows, sizeof rows / sizeof *rows);
}

Test(proof, claims) {
  static const char needs[] = "a claim needs an output, two terms and a lemma",
                    shown[] = "the claim is not what its lemma says",
                    outputs[] = "the proof must claim exactly one term for "
                                "each output of the program",
                    ends[] = "the claims do not lead to the outputs of the "
                             "proof";
  static const row rows[] = {
      {"(claim s l s 7)", "(claim s l s 4)", shown, 0},
      {"(claim s l s 7)", "(claim s l s -7)", shown, 0},
      {"(claim s l s 7)", "(claim s l s 0)", shown, 0},
      {"(claim s l s 7)", "(claim s l s 12)", shown, 0},
      {"(claim s l s 7)", "(claim s l s x)", shown, 0},
      {"(claim s l s 7)", "(claim s l s)", needs, 0},
      {"(claim s l s 7)", "(claim s l s 7 7)", needs, 0},
      {"(claim s l s 7)", "(claim s no s 7)", needs, 0},
      {"(claim s l s 7)", "(claim 3 l s 7)", needs, 0},
      {"(claim s l s 7)", "(claim (s) l s 7)", needs, 0},
      {"(claim s l s 7)", "(claim s l no 7)", shown, 0},
      {"(claim s l s 7)", "(claim s l m 4)", ends, 0},
      {"(claim s l s 7)", "(claim s m s 5)", outputs, 0},
      {"(claim s l s 7)", "(claim t l s 7)", outputs, 0},
      {"(claim s l s 7)", "", outputs, 0},
      {"(claim s l s 7)", "(claim s l s 7) (claim s l s 7)",
       "an output is claimed twice", 0},
      {"(claim s l s 7)", "(claim s l s 7) (claim t l s 7)", outputs, 0},
      {"(claim q q q 0)", "(claim s q q 0)", "an output is claimed twice", 0},
      {"(claim q q q 0)", "(claim q q m 0)", shown, 0},
      {"(claim q q q 0)", "(claim q w w 0)", outputs, 0},
  };
  expect_rows(rows, sizeof rows / sizeof *rows);
}

/* Terms of the proof that are no terms of the program or the result. */
Test(proof, of_another_program) {
  static const char *const rows[][2] = {
      {INPUTS, "(tensor a (shape 2 3) f64)(tensor b (shape 2 3) f64)"},
      {INPUTS, "(tensor a (shape 3 2) f32)(tensor b (shape 3 2) f32)"},
      {INPUTS,
       "(tensor a (shape 2 3) f32)(const b (shape 2 3) f32 1 2 3 4 5 6)"},
      {"(output q)", ""},
      {"(output q)", "(output q)(output a)"},
      {"sub", "add"},
      {"(compute sub (pair a b))", "(compute sub (pair b a))"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const char *at = strstr(program_text, rows[k][0]);
    cr_assert(at, "%s", rows[k][0]);
    const char *text =
        bs_arena_printf(&arena, "%.*s%s%s", (int)(at - program_text),
                        program_text, rows[k][1], at + strlen(rows[k][0]));
    gs_program *other = program_over(NULL, text);
    asked q;
    start(&q, terms_text, proof_text);
    cr_assert(q.read, "%s", faults());
    ck_check_proof(&q.x, other, NULL);
    cr_expect_not_null(q.x.why, "%s", rows[k][1]);
  }
}

Test(proof, leads_to_the_result) {
  static const struct {
    const char *s, *q;
    bool leads;
  } rows[] = {
      {"(compute add (pair b a))", "(compute sub (pair a b))", true},
      {"(compute add (pair a b))", "(compute sub (pair a b))", false},
      {"(compute add (pair b a))", "(compute sub (pair b a))", false},
      {"(compute sub (pair a b))", "(compute add (pair b a))", false},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    asked q;
    start(&q, terms_text, proof_text);
    q.result = program_over(
        NULL, bs_arena_printf(&arena,
                              INPUTS "(let s %s)(let q %s)(output s)(output q)",
                              rows[k].s, rows[k].q));
    ck_check_proof(&q.x, q.program, q.result);
    cr_expect_eq(!q.x.why, rows[k].leads, "%zu: %s", k, q.x.why);
    if (!rows[k].leads)
      cr_expect_str_eq(q.x.why,
                       "the claims do not lead to the outputs of the result");
  }
}

Test(proof, what_is_none_is_not_read) {
  static const char *const rows[] = {
      "",
      "(prove)",
      "proof",
      "(proof) (let e a)",
      "(proof",
      "3",
      "(let e no) (proof)",
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    uint32_t before = diags.errors;
    asked q;
    start(&q, INPUTS "(let t (compute neg a))(output t)", rows[k]);
    cr_expect_not(q.read, "%s", rows[k]);
    cr_expect_gt(diags.errors, before, "%s", rows[k]);
  }
}

/* A reading of one proof, checked again and again: all but the terms of the
 * result, which stay, is given back. */
static void
check_once(void *argument) {
  asked *q = argument;
  bs_clear(&q->x.lemmas);
  bs_map_done(&heap, &q->x.claims);
  q->x.claims = (bs_map){0};
  bs_arena own;
  bs_arena_init(&own, &heap);
  ctx.arena = &own;
  ck_check_proof(&q->x, q->program, q->result);
  ctx.arena = &arena;
  bs_arena_done(&own);
  cr_expect_null(q->x.why, "%s", q->x.why);
}

Test(proof, keeps_nothing) {
  asked q;
  start(&q, terms_text, proof_text);
  ck_check_proof(&q.x, q.program, q.result); /* which reads the rules */
  expect_steady(&heap, check_once, &q, "a proof that is checked");
}
