/* SPDX-License-Identifier: MIT */
/* test_match.c - a side of a rule laid on a term by the proof checker: it
 * matches what it is written like, with its variables bound to one thing each,
 * and nothing else. */
#include "../context.h"
#include "check/check.h"

TestSuite(match, .init = fixture_start, .fini = fixture_stop);

#define TENSORS "(tensor a (shape 6 6) f32)(tensor b (shape 6 6) f32)"

typedef struct row {
  bool matches;
  const char *pattern, *term;
} row;

static const gs_skeleton *
skeleton_of(const char *text, gs_scope *scope) {
  bs_sexps sx = {0};
  uint32_t source = bs_source_add(&diags, "s", text, strlen(text));
  cr_assert(bs_sexp_read(&heap, ctx.values, &diags, source, &sx));
  const gs_skeleton *s =
      gs_skeleton_parse(&ctx, NULL, &sx, sx.roots.data[0], scope);
  cr_assert(s, "%s: %s", text, faults());
  return s;
}

static gs_program *
term_of(const char *text) {
  return program_over(NULL, bs_arena_printf(&arena,
                                            TENSORS "(let t %s)"
                                                    "(output t)",
                                            text));
}

static ck_env
env_of(gs_program *p, const gs_scope *scope) {
  uint32_t *slots = BS_NEWS(&arena, uint32_t, scope->vars.len + 1);
  for (uint32_t k = 0; k < scope->vars.len; k++)
    slots[k] = UINT32_MAX;
  return (ck_env){.ctx = &ctx, .p = p, .slots = slots, .scope = scope};
}

static void
expect_row(const row *x) {
  gs_scope scope = {.question_marks = true, .open = true, .ctx = &ctx};
  const gs_skeleton *s = skeleton_of(x->pattern, &scope);
  gs_program *p = term_of(x->term);
  ck_env e = env_of(p, &scope);
  gs_term t = p->outputs.data[0].term;
  cr_expect_eq(ck_match(&e, s, t, true), x->matches, "%s on %s", x->pattern,
               x->term);
  /* with what was bound, the side gives the term and no other */
  if (x->matches) {
    cr_expect(ck_match(&e, s, t, false), "%s gives %s", x->pattern, x->term);
    cr_expect_not(ck_match(&e, s, p->inputs.data[0].term, false), "%s",
                  x->pattern);
  }
}

Test(match, attributes) {
  static const row rows[] = {
      {true, "(transpose ?x ?p)", "(transpose a (list 1 0))"},
      {true, "(transpose ?x (list ?i ?j))", "(transpose a (list 1 0))"},
      {true, "(transpose ?x (list 1 ?j))", "(transpose a (list 1 0))"},
      {true, "(transpose ?x (list 1 0))", "(transpose a (list 1 0))"},
      {false, "(transpose ?x (list 0 1))", "(transpose a (list 1 0))"},
      {false, "(transpose ?x (list 0 ?j))", "(transpose a (list 1 0))"},
      {false, "(transpose ?x (list ?i 1))", "(transpose a (list 1 0))"},
      {false, "(transpose ?x (list ?i ?i))", "(transpose a (list 1 0))"},
      {false, "(transpose ?x (list ?i))", "(transpose a (list 1 0))"},
      {false, "(transpose ?x (list ?i ?j ?k))", "(transpose a (list 1 0))"},
      {true, "(slice ?x ?d ?l ?h)", "(slice a 0 1 3)"},
      {true, "(slice ?x 0 ?l 3)", "(slice a 0 1 3)"},
      {false, "(slice ?x ?d ?d ?h)", "(slice a 0 1 3)"},
      {true, "(slice ?x ?d ?d ?h)", "(slice a 1 1 3)"},
      {false, "(slice ?x 1 ?l ?h)", "(slice a 0 1 3)"},
      {true, "(compute (clip ?l ?h) ?x)", "(compute (clip 0 6) a)"},
      {false, "(compute (clip ?l ?l) ?x)", "(compute (clip 0 6) a)"},
      {false, "(compute (clip ?l 5) ?x)", "(compute (clip 0 6) a)"},
      {true, "(compute ?o ?x)", "(compute (clip 0 6) a)"},
      {false, "(compute relu ?x)", "(compute (clip 0 6) a)"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    expect_row(&rows[k]);
}

/* A dilation that is not written is one of ones. */
Test(match, windows) {
#define W "(windows (access a 1) (shape 2) (stride 2)"
#define V "(windows (access a 0) (shape 2 3) (stride 2 1)"
  static const row rows[] = {
      {true, "(windows ?x ?w ?s)", W ")"},
      {true, "(windows ?x (shape ?n) (stride ?n))", W ")"},
      {true, "(windows ?x ?w ?s (dilation 1))", W ")"},
      {true, "(windows ?x ?w ?s ?d)", W ")"},
      {true, "(windows ?x ?w ?s ?d)", W " (dilation 3))"},
      {false, "(windows ?x ?w ?s)", W " (dilation 3))"},
      {false, "(windows ?x ?w ?s (dilation 2))", W ")"},
      {false, "(windows ?x (shape 3) ?s)", W ")"},
      {true, "(windows ?x ?w ?s)", V ")"},
      {true, "(windows ?x ?w ?s (dilation 1 1))", V ")"},
      {false, "(windows ?x ?w ?s)", V " (dilation 1 2))"},
      {false, "(windows ?x (shape ?n ?n) ?s)", V ")"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    expect_row(&rows[k]);
}

Test(match, terms) {
  static const row rows[] = {
      {true, "(compute add (pair ?x ?y))", "(compute add (pair a b))"},
      {true, "(compute add (pair ?x ?y))", "(compute add (pair a a))"},
      {true, "(compute add (pair ?x ?x))", "(compute add (pair a a))"},
      {false, "(compute add (pair ?x ?x))", "(compute add (pair a b))"},
      {false, "(compute add (cartProd ?x ?y))", "(compute add (pair a b))"},
      {true, "(compute add (pair (compute relu ?x) ?x))",
       "(compute add (pair (compute relu a) a))"},
      {false, "(compute add (pair (compute relu ?x) ?x))",
       "(compute add (pair (compute relu a) b))"},
      {false, "(compute add (pair (compute relu ?x) ?y))",
       "(compute add (pair a (compute relu b)))"},
      {true, "(compute add (pair (compute relu ?x) (compute relu ?x)))",
       "(compute add (pair (compute relu a) (compute relu a)))"},
      {false, "(compute add (pair (compute relu ?x) (compute relu ?x)))",
       "(compute add (pair (compute relu a) (compute relu b)))"},
      {false, "(compute relu (transpose ?x ?p))", "(compute relu a)"},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    expect_row(&rows[k]);
}
