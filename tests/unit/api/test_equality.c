/* SPDX-License-Identifier: MIT */
/* test_equality.c - what is said of two programs: flags, text and JSON say the
 * same, and no more than was shown, with sizes that are numbers and open ones.
 */
#include "fixture.h"

#define SIZES   "(size n 2 5000)"
#define FEW     "(size n 2 9)"
#define TENSORS "(tensor a (shape n 3) f32)(tensor b (shape n 3) f32)"
#define STEPS   "(size n 16 8000 8)(tensor a (shape n) f32)"
#define OUT(x)  "(let y " x ")(output y)"

typedef struct row {
  const char *head, *left, *right, *word;
} row;

/* By what is known of the pair: a word of `pv_verdict`. */
static const row rows[] = {
    /* at given sizes */
    {"(tensor a (shape 4 3) f32)(tensor b (shape 4 3) f32)",
     OUT("(compute add (pair (access a 2) (access b 2)))"),
     OUT("(compute add (pair (access b 2) (access a 2)))"), "proved"},
    {"(tensor a (shape 4 3) f32)(tensor b (shape 4 3) f32)",
     OUT("(compute sub (pair (access a 2) (access b 2)))"),
     OUT("(compute sub (pair (access b 2) (access a 2)))"), "refuted"},
    {"(tensor a (shape 4) f32)",
     OUT("(compute sqrt (compute square (access a 1)))"),
     OUT("(compute abs (access a 1))"), "tested"},
    /* for all sizes, at all of few, and at some of many */
    {SIZES TENSORS, OUT("(concat a b 0)"), OUT("(concat a b 0)"), "proved"},
    {SIZES TENSORS, OUT("(compute reduceSum (access (concat a b 0) 0))"),
     OUT("(compute reduceSum (access (concat b a 0) 0))"), "proved"},
    {FEW "(tensor a (shape n) f32)",
     OUT("(compute reduceSum (windows (access a 0) (shape 2) (stride 1)))"),
     OUT("(add (slice a 0 0 (- n 1)) (slice a 0 1 n))"), "proved"},
    {SIZES "(tensor a (shape n) f32)",
     OUT("(compute reduceSum (windows (access a 0) (shape 2) (stride 1)))"),
     OUT("(add (slice a 0 0 (- n 1)) (slice a 0 1 n))"), "checked"},
    {SIZES TENSORS, OUT("(compute reduceMax (access a 0))"),
     OUT("(compute reduceMax (access (slice a 0 0 (- n 1)) 0))"), "refuted"},
    {SIZES "(tensor a (shape n) f32)",
     OUT("(compute sqrt (compute square (access a 1)))"),
     OUT("(compute abs (access a 1))"), "tested"},
    /* a size that goes by steps */
    {STEPS, OUT("(slice a 0 0 n)"), OUT("(slice a 0 0 (* 8 (/ n 8)))"),
     "proved"},
    /* too large to be compared anywhere */
    {"(size n 40000 80000)(tensor a (shape n 4000) f32)",
     OUT("(compute sqrt (compute square (access a 1)))"),
     OUT("(compute abs (access a 1))"), "unknown"},
};

static bool
begins_with(const char *text, const char *word) {
  size_t n = strlen(word);
  return !strncmp(text, word, n) && strchr(":\n ", text[n]);
}

static glen_program *
program_of(glen_context *glen, const row *r, const char *side) {
  char text[1024];
  snprintf(text, sizeof text, "%s%s", r->head, side);
  put("p.glen", text);
  glen_program *p = glen_program_load_at(glen, NULL, "p.glen", NULL, 0);
  cr_assert_not_null(p, "%s", glen_take_diagnostics(glen, GLEN_DIAG_TEXT));
  return p;
}

static void
expect_word(const row *r, const glen_equality *e) {
  char answer[64];
  const char *open = strstr(r->head, "(size ") ? r->word : "";
  snprintf(answer, sizeof answer, "\"answer\": \"%s\"", r->word);
  cr_expect(begins_with(e->text, r->word), "%s is said of %s and %s", e->text,
            r->left, r->right);
  cr_expect(strstr(e->json, answer), "%s", e->json);
  cr_expect_eq(strstr(e->json, "\"by\": \"nothing\"") != NULL,
               !strcmp(r->word, "unknown"), "%s", e->json);
  cr_expect_eq(e->proved, !strcmp(r->word, "proved"), "%s", e->text);
  cr_expect_eq(e->refuted, !strcmp(r->word, "refuted"), "%s", e->text);
  cr_expect_eq(e->open, *open != '\0', "%s", e->text);
  cr_expect_eq(e->checked, !strcmp(open, "checked") || !strcmp(open, "tested"),
               "%s", e->text);
}

Test(equality, flags_and_words_agree) {
  use_folder();
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    glen_context *glen = begin();
    glen_program *a = program_of(glen, &rows[k], rows[k].left);
    glen_program *b = program_of(glen, &rows[k], rows[k].right);
    glen_equality e, back;
    cr_assert(glen_programs_agree(glen, a, b));
    cr_assert(glen_programs_prove(glen, a, b, &e));
    expect_word(&rows[k], &e);
    cr_assert(glen_programs_prove(glen, b, a, &back));
    expect_word(&rows[k], &back);
    glen_context_free(glen);
  }
}

/* Programs whose sizes differ in a name, an end or the step have no sizes in
 * common to be compared at. */
Test(equality, open_sizes_must_be_the_same) {
  static const char *const sizes[] = {"(size n 8 64 8)", "(size n 16 64 8)",
                                      "(size n 8 56 8)", "(size n 8 64 4)",
                                      "(size n 8 64)"};
  use_folder();
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    glen_context *glen = begin();
    const row left = {sizes[0], "", "", ""}, right = {sizes[k], "", "", ""};
    const char *rest = "(tensor a (shape n) f32)" OUT("(relu a)");
    glen_program *a = program_of(glen, &left, rest);
    glen_program *b = program_of(glen, &right, rest);
    cr_expect_eq(glen_programs_agree(glen, a, b), !k, "%s", sizes[k]);
    if (k)
      expect_code(glen, "different-programs");
    glen_context_free(glen);
  }
}
