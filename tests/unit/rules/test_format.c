/* SPDX-License-Identifier: MIT */
/* The one form of source files: what it looks like, that it keeps all tokens,
 * and that formatting twice is formatting once. */
#include "lawful.h"
#include "base/file.h"
#include "base/tokens.h"
#include "rules/format/format.h"

TestSuite(format, .init = fixture_start, .fini = fixture_stop);

static const char *
formatted(const char *path, const char *text, size_t size) {
  bs_text out;
  bs_text_init(&out, &heap);
  uint32_t from = bs_source_add(&diags, path, text, size);
  cr_assert(rl_format(&ctx, from, &out), "%s", faults());
  const char *s = bs_arena_strdup(&arena, bs_text_str(&out));
  bs_text_done(&out);
  return s;
}

static bool
same_tokens(const char *a, const char *b) {
  bs_tokens x, y;
  cr_assert(bs_tokens_read(&heap, &diags, source("a", a), &x));
  cr_assert(bs_tokens_read(&heap, &diags, source("b", b), &y));
  bool same = x.list.len == y.list.len;
  for (uint32_t k = 0; same && k < x.list.len; k++) {
    const bs_token *s = &x.list.data[k], *t = &y.list.data[k];
    same = s->kind == t->kind && s->hi - s->lo == t->hi - t->lo &&
           !memcmp(a + s->lo, b + t->lo, s->hi - s->lo);
  }
  bs_tokens_done(&heap, &x);
  bs_tokens_done(&heap, &y);
  return same;
}

static void
check(const char *path, const char *text) {
  const char *once = formatted(path, text, strlen(text));
  const char *twice = formatted(path, once, strlen(once));
  cr_expect(same_tokens(text, once), "%s lost something:\n%s\n->\n%s", path,
            text, once);
  cr_expect_str_eq(twice, once, "%s is not stable:\n%s->\n%s->\n%s", path, text,
                   once, twice);
}

static void
expect(const char *text, const char *expected) {
  const char *got = formatted("x", text, strlen(text));
  cr_expect_str_eq(got, expected, "%s\n->\n%s\nexpected\n%s", text, got,
                   expected);
  check("x", text);
}

Test(format, white_space) {
  expect("", "");
  expect(" \r\n\t\n", "");
  expect("( a\n\n b )\t(c)", "(a b)\n(c)\n");
  expect("(a)\n\n\n\n(b)", "(a)\n\n(b)\n");
  expect("\xef\xbb\xbf(a)", "(a)\n");
  expect("(a\"b\"c)\r\n", "(a \"b\" c)\n");
  expect("()", "()\n");
}

Test(format, comments) {
  expect(";a  \n", ";a\n");
  expect("(a) ; b\n;c\n(d)", "(a) ; b\n;c\n(d)\n");
  expect("(a);b", "(a) ;b\n");
  expect("(a ; b\n)", "(a ; b\n )\n");
  expect("(a\n; b\n c)", "(a\n  ; b\n  c)\n");
  expect("(;b\na)", "( ;b\n a)\n");
}

Test(format, rules) {
  expect(
      "(rule r :kind cleanup \"why\" (flatten (flatten ?a)) => (flatten ?a))",
      "(rule r :kind cleanup\n"
      "  \"why\"\n"
      "  (flatten (flatten ?a)) => (flatten ?a))\n");
  expect("(rule r \"why\" ?a\n=>\n?a :for (?d (axes ?a)) ; each\n"
         ":where (= ?d 0))(rule s \"x\" ?a => ?a)",
         "(rule r\n"
         "  \"why\"\n"
         "  ?a => ?a\n"
         "  :for (?d (axes ?a)) ; each\n"
         "  :where (= ?d 0))\n"
         "\n"
         "(rule s\n"
         "  \"x\"\n"
         "  ?a => ?a)\n");
}

Test(format, long_sides_are_broken) {
  expect(
      "(rule r \"why\" (compute dotProd (cartProd (slice ?a ?d 0 ?m) ?b)) => "
      "(slice (compute dotProd (cartProd ?a ?b)) ?d 0 ?m) :where (and (= ?n "
      "(dim ?a ?d)) (= ?m (/ ?n 2)) (= (mod ?n 2) 0) (> ?n $some-limit)))",
      "(rule r\n"
      "  \"why\"\n"
      "  (compute dotProd (cartProd (slice ?a ?d 0 ?m) ?b))\n"
      "  => (slice (compute dotProd (cartProd ?a ?b)) ?d 0 ?m)\n"
      "  :where (and (= ?n (dim ?a ?d)) (= ?m (/ ?n 2)) (= (mod ?n 2) 0)\n"
      "              (> ?n $some-limit)))\n");
}

Test(format, both_ways_of_breaking_a_term_stay) {
  const char *hanging = "(let x\n"
                        "  (transpose\n"
                        "    (squeeze\n"
                        "      (compute dotProd\n"
                        "        (cartProd\n"
                        "          (windows (access activations 1)\n"
                        "                   (shape 64 3 3 64 3 3 64 3 3)\n"
                        "                   (stride 1 1 1 1 1 1 1 1 1))\n"
                        "          (access weights 1)))\n"
                        "      1)\n"
                        "    (list 0 3 1 2)))\n";
  const char *aligned =
      "(let scores\n"
      "  (concat (slice (compute dotProd (cartProd ?a ?b)) ?some 0 ?middle)\n"
      "          (slice (compute dotProd (cartProd ?a ?b)) ?some ?middle ?n)\n"
      "          ?some))\n";
  expect(hanging, hanging);
  expect(aligned, aligned);
}

Test(format, strategies_and_tests) {
  expect("(run (seq (saturate cleanup) (repeat 2 fusion cleanup) (repeat 2 "
         "plain-windows cleanup)))",
         "(run\n"
         "  (seq\n"
         "    (saturate cleanup)\n"
         "    (repeat 2 fusion cleanup)\n"
         "    (repeat 2 plain-windows cleanup)))\n");
  expect("(test t :rules (a) (program (tensor a (shape 2) f32) (output a)) "
         "(finds a :matches 1))",
         "(test t\n"
         "  :rules (a)\n"
         "  (program\n"
         "    (tensor a (shape 2) f32)\n"
         "    (output a))\n"
         "  (finds a :matches 1))\n");
}

Test(format, strings_of_several_lines) {
  expect("(emit \"a\n  b\"   c)", "(emit\n  \"a\n  b\"\n  c)\n");
}

Test(format, refuses) {
  bs_text out;
  bs_text_init(&out, &heap);
  cr_expect_not(rl_format(&ctx, source("x", "(a"), &out));
  cr_expect_str_eq(bs_last(&diags.list).code, "unclosed-paren");
  cr_expect_not(rl_format(&ctx, source("x", "a)"), &out));
  cr_expect_not(rl_format(&ctx, source("x", "\"a"), &out));
  char deep[2 * (RL_MAX_NESTING + 1) + 1] = {0};
  memset(deep, '(', RL_MAX_NESTING + 1);
  memset(deep + RL_MAX_NESTING + 1, ')', RL_MAX_NESTING + 1);
  cr_expect_not(rl_format(&ctx, source("x", deep), &out));
  cr_expect_str_eq(bs_last(&diags.list).code, "too-deep");
  bs_text_done(&out);
}

/* --- random files --------------------------------------------------------- */

static uint64_t state;

static uint32_t
below(uint32_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % n;
}

static void
put_gap(bs_text *out) {
  static const char *const gaps[] = {
      " ",   " ",  " ",      " ",         " ",
      " ",   "\n", "\n  ",   "\n   ",     "\n\n",
      "\t",  "",   " ; c\n", "\n; d\n  ", "\n          ",
      "\r\n"};
  bs_put(out, gaps[below(sizeof gaps / sizeof *gaps)]);
}

static void
put_random_atom(bs_text *out) {
  static const char *const words[] = {"rule",
                                      "test",
                                      "program",
                                      "ruleset",
                                      "run",
                                      "seq",
                                      "let",
                                      "compute",
                                      "pair",
                                      "concat",
                                      "?a",
                                      "?long-name",
                                      "=>",
                                      "<=>",
                                      ":where",
                                      ":rules",
                                      ":for",
                                      "and",
                                      "=",
                                      "0",
                                      "-12.5",
                                      "\"text\"",
                                      "\"a\nb\"",
                                      "finds",
                                      "param",
                                      "target",
                                      "\xc3\xa9t\xc3\xa9",
                                      ":",
                                      "reshape-of-something-rather-long",
                                      "dotProd",
                                      "$q"};
  bs_put(out, words[below(sizeof words / sizeof *words)]);
  bs_putc(out, ' ');
}

static const char *
random_text(uint32_t tokens) {
  bs_text out;
  uint32_t depth = 0;
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < tokens; k++) {
    uint32_t what = below(10);
    if (what < 3) {
      bs_putc(&out, '(');
      depth++;
    } else if (what < 5 && depth) {
      bs_putc(&out, ')');
      depth--;
    } else {
      put_random_atom(&out);
    }
    put_gap(&out);
  }
  while (depth--)
    bs_putc(&out, ')');
  const char *s = bs_arena_strdup(&arena, bs_text_str(&out));
  bs_text_done(&out);
  return s;
}

Test(format, random_files) {
  for (state = 1; state < 600; state++) {
    uint64_t seed = state;
    const char *text = random_text(10 + 3 * (uint32_t)(seed % 60));
    check("random", text);
    state = seed;
  }
}

/* --- the files of the project --------------------------------------------- */

Test(format, shipped_files) {
  static const struct {
    const char *folder, *suffix;
  } places[] = {{"rules", ".rules"},
                {"tests/rules", ".rules"},
                {"examples", ".glen"},
                {"targets", ".target"}};
  for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
    const char *const *names;
    uint32_t n;
    const char *folder =
        bs_arena_printf(&arena, "%s/%s", GLEN_SOURCE_DIR, places[p].folder);
    cr_assert(bs_dir_list(&diags, folder, places[p].suffix, &names, &n));
    cr_expect_gt(n, 0);
    for (uint32_t k = 0; k < n; k++) {
      uint32_t s = bs_source_read(&diags, names[k], BS_NOWHERE);
      cr_assert(s);
      check(names[k], diags.sources.data[s - 1].text);
    }
  }
}
