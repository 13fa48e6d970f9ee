/* SPDX-License-Identifier: MIT */
/* Diagnostics: what is kept, where it stands, how it looks. */
#include "counting.h"
#include "base/diag.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bs_heap heap;
static bs_diags diags;
static bs_text out;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_diags_init(&diags, &heap);
  bs_text_init(&out, &heap);
}

static void
stop(void) {
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

TestSuite(diag, .init = start, .fini = stop);

static uint32_t
source(const char *text) {
  return bs_source_add(&diags, "conv.glen", text, strlen(text));
}

/* The span of the first `word` of the source added last. */
static bs_span
span_of(const char *word) {
  const bs_source *last = &bs_last(&diags.sources);
  const char *at = strstr(last->text, word);
  cr_assert(at, "%s", word);
  uint32_t lo = (uint32_t)(at - last->text);
  return (bs_span){diags.sources.len, lo, lo + (uint32_t)strlen(word)};
}

static const char *
rendered(bool color) {
  bs_text_clear(&out);
  for (uint32_t i = 0; i < diags.list.len; i++)
    bs_render(&diags, &diags.list.data[i], color, &out);
  return bs_text_str(&out);
}

static const char *
as_json(void) {
  bs_text_clear(&out);
  for (uint32_t i = 0; i < diags.list.len; i++)
    bs_render_json(&diags, &diags.list.data[i], &out);
  return bs_text_str(&out);
}

Test(diag, an_error_with_its_line) {
  source("(let a\n  (transpose x (list 1 1)))\n(output a)\n");
  cr_assert_not(bs_error(&diags, span_of("(list 1 1)"), "not-permutation",
                         "(%d %d) is no permutation", 1, 1));
  bs_hint(&diags, "each of 0..%d stands once", 1);
  cr_assert_str_eq(rendered(false),
                   "conv.glen:2:16: error: (1 1) is no permutation "
                   "[not-permutation]\n"
                   "    (transpose x (list 1 1)))\n"
                   "                 ^~~~~~~~~~\n"
                   "hint: each of 0..1 stands once\n");
  cr_assert_eq(diags.errors, 1);
}

Test(diag, severities_and_no_place) {
  source("(a)");
  bs_error(&diags, BS_NOWHERE, "no-file", "cannot read");
  bs_note(&diags, span_of("a"), "needed here");
  bs_warning(&diags, span_of("(a)"), "unused", "never used");
  cr_assert_str_eq(rendered(false), "error: cannot read [no-file]\n"
                                    "conv.glen:1:2: note: needed here\n"
                                    "  (a)\n"
                                    "   ^\n"
                                    "conv.glen:1:1: warning: never used "
                                    "[unused]\n"
                                    "  (a)\n"
                                    "  ^~~\n");
  cr_assert_eq(diags.errors, 1);
  cr_assert_eq(diags.warnings, 1);
}

Test(diag, colors) {
  source("x");
  bs_error(&diags, span_of("x"), "c", "m");
  bs_hint(&diags, "h");
  cr_assert_str_eq(rendered(true),
                   "\033[1mconv.glen:1:1: \033[0m\033[1;31merror\033[0m"
                   "\033[1;31m: \033[0mm [c]\n"
                   "  x\n"
                   "  \033[1;31m^\033[0m\n"
                   "\033[1;32mhint\033[0m\033[1;32m: \033[0mh\n");
}

Test(diag, tabs_and_wide_text_stay_aligned) {
  source("\t\xc3\xa9\xc3\xa9\tbad\r\nnext");
  bs_error(&diags, span_of("bad"), "c", "m");
  cr_assert_str_eq(rendered(false), "conv.glen:1:5: error: m [c]\n"
                                    "  \t\xc3\xa9\xc3\xa9\tbad\n"
                                    "  \t  \t^~~\n");
}

Test(diag, a_span_of_several_lines_ends_with_its_first) {
  source("  (a\n b)\n");
  bs_error(&diags, span_of("(a\n b)"), "c", "m");
  cr_assert_str_eq(rendered(false), "conv.glen:1:3: error: m [c]\n"
                                    "    (a\n"
                                    "    ^~\n");
}

Test(diag, the_end_of_a_file) {
  uint32_t s = source("(a)");
  bs_error(&diags, (bs_span){s, 3, 3}, "c", "at the end");
  bs_error(&diags, (bs_span){s, 90, 99}, "c", "behind the end");
  s = source("(a)\n");
  bs_error(&diags, (bs_span){s, 4, 4}, "c", "on a new line");
  s = source("");
  bs_error(&diags, (bs_span){s, 0, 0}, "c", "empty");
  cr_assert_str_eq(rendered(false), "conv.glen:1:4: error: at the end [c]\n"
                                    "  (a)\n"
                                    "     ^\n"
                                    "conv.glen:1:4: error: behind the end "
                                    "[c]\n"
                                    "  (a)\n"
                                    "     ^\n"
                                    "conv.glen:2:1: error: on a new line [c]\n"
                                    "conv.glen:1:1: error: empty [c]\n");
}

Test(diag, long_lines_are_cut_around_the_caret) {
  char line[1001], expected[1000], before[61], after[40];
  memset(line, '.', 1000);
  line[1000] = '\0';
  memcpy(line + 500, "word", 4);
  source(line);
  bs_error(&diags, span_of("word"), "c", "m");
  memset(before, '.', 60);
  memset(after, '.', 36);
  before[60] = after[36] = '\0';
  snprintf(expected, sizeof expected,
           "conv.glen:1:501: error: m [c]\n  ...%sword%s...\n  %63s^~~~\n",
           before, after, "");
  cr_assert_str_eq(rendered(false), expected);
}

Test(diag, the_underline_ends_with_the_cut) {
  char line[1001];
  memset(line, '.', 1000);
  line[1000] = '\0';
  uint32_t s = source(line);
  bs_error(&diags, (bs_span){s, 0, 1000}, "c", "m");
  rendered(false);
  cr_assert_lt(out.len, 300);
  const char *caret = strchr(out.data, '^');
  cr_assert_eq(strlen(caret), 100 + 1);
}

Test(diag, control_characters_do_not_reach_the_terminal) {
  source("a\033[31mb\x7f\xc2\x9b\xff");
  bs_error(&diags, span_of("b"), "c", "say \033]0;x\a \xff\nmore");
  const char *shown = rendered(true);
  cr_assert_null(strstr(shown, "\033]0"));
  cr_assert_null(strstr(shown, "\033[31mb"));
  cr_assert_str_eq(rendered(false),
                   "conv.glen:1:7: error: say \xef\xbf\xbd]0;x\xef\xbf\xbd "
                   "\xef\xbf\xbd\xef\xbf\xbdmore [c]\n"
                   "  a\xef\xbf\xbd[31mb\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\n"
                   "        ^\n");
}

Test(diag, json_form) {
  source("(a\n  \xc3\xa9 b)\n");
  bs_error(&diags, span_of("b)"), "type-mismatch", "found \"x\"");
  bs_hint(&diags, "try\ty");
  bs_note(&diags, BS_NOWHERE, "nowhere");
  cr_assert_str_eq(
      as_json(),
      "{\"severity\": \"error\", \"code\": \"type-mismatch\", "
      "\"file\": \"conv.glen\", \"line\": 2, \"column\": 5, "
      "\"end_line\": 2, \"end_column\": 7, \"message\": \"found \\\"x\\\"\", "
      "\"hint\": \"try\\ty\"}\n"
      "{\"severity\": \"note\", \"code\": null, \"file\": null, "
      "\"line\": null, \"column\": null, \"end_line\": null, "
      "\"end_column\": null, \"message\": \"nowhere\", \"hint\": null}\n");
}

Test(diag, only_the_first_errors_are_kept) {
  diags.limit = 3;
  for (int i = 0; i < 10; i++) {
    bs_error(&diags, BS_NOWHERE, "c", "error %d", i);
    bs_note(&diags, BS_NOWHERE, "note %d", i);
    bs_hint(&diags, "hint %d", i);
  }
  cr_assert_eq(diags.errors, 10);
  cr_assert_eq(diags.list.len, 6);
  cr_assert_str_eq(diags.list.data[5].message, "note 2");
  cr_assert_str_eq(diags.list.data[5].hint, "hint 2");
  bs_warning(&diags, BS_NOWHERE, "c", "a warning");
  bs_note(&diags, BS_NOWHERE, "its note");
  cr_assert_eq(diags.list.len, 8);
}

Test(diag, a_hint_needs_a_diagnostic) {
  bs_hint(&diags, "to nothing");
  cr_assert_eq(diags.list.len, 0);
}

Test(diag, messages_are_bounded_at_a_character) {
  for (int shift = 0; shift < 4; shift++) {
    char *name = bs_alloc(&heap, 9001);
    memset(name, 'x', (size_t)shift);
    for (int i = shift; i + 3 <= 9000; i += 3)
      memcpy(name + i, "\xe2\x82\xac", 4);
    bs_error(&diags, BS_NOWHERE, "c", "%s", name);
    const char *message = bs_last(&diags.list).message;
    size_t n = strlen(message);
    cr_assert(n > 1900 && n < 2000);
    cr_assert_str_eq(message + n - 6, "\xe2\x82\xac...");
  }
}

Test(diag, positions) {
  uint32_t s = source("a\nb\xc3\xa9g\n");
  uint32_t line, column;
  bs_position(&diags, (bs_span){s, 5, 6}, &line, &column);
  cr_assert(line == 2 && column == 3);
  bs_position(&diags, BS_NOWHERE, &line, &column);
  cr_assert(line == 0 && column == 0);
  bs_put_place(&diags, (bs_span){s, 5, 6}, &out);
  bs_put_place(&diags, BS_NOWHERE, &out);
  cr_assert_str_eq(out.data, "conv.glen:2");
}

/* Lines are counted by blocks of the text. */
Test(diag, positions_in_a_long_text) {
  enum { SIZE = 5 * BS_SOURCE_BLOCK + 7 };
  static char text[SIZE + 1];
  for (uint32_t i = 0; i < SIZE; i++)
    text[i] = i % 61 == 7 || i % BS_SOURCE_BLOCK < 2 ? '\n' : 'x';
  uint32_t s = source(text);
  uint32_t wanted = 1, start = 0;
  for (uint32_t i = 0; i <= SIZE; i++) {
    uint32_t line, column;
    bs_position(&diags, (bs_span){s, i, i}, &line, &column);
    cr_assert(line == wanted && column == i - start + 1, "byte %u", i);
    if (text[i] == '\n') {
      wanted++;
      start = i + 1;
    }
  }
}

Test(diag, nearest_names) {
  const char *const names[] = {"transpose", "windows", "reshape", "pad",
                               "repeat",    "a",       "compute"};
  size_t n = sizeof names / sizeof *names;
  cr_assert_str_eq(bs_nearest("tranpose", names, n), "transpose");
  cr_assert_str_eq(bs_nearest("trasnpsoe", names, n), "transpose");
  cr_assert_str_eq(bs_nearest("window", names, n), "windows");
  cr_assert_str_eq(bs_nearest("reshpae", names, n), "reshape");
  cr_assert_str_eq(bs_nearest("repaet", names, n), "repeat");
  cr_assert_str_eq(bs_nearest("pda", names, n), "pad");
  cr_assert_str_eq(bs_nearest("pad", names, n), "pad");
  cr_assert_null(bs_nearest("xyzzyx", names, n));
  cr_assert_null(bs_nearest("convolution", names, n));
  cr_assert_null(bs_nearest("relu", NULL, 0));
  char lengthy[300];
  memset(lengthy, 'a', 299);
  lengthy[299] = '\0';
  cr_assert_null(bs_nearest(lengthy, names, n));
  const char *const tie[] = {"aXc", "abX"};
  cr_assert_str_eq(bs_nearest("abc", tie, 2), "aXc");
}

/* Names and words of up to 63 bytes are compared, longer ones never. */
Test(diag, nearest_names_of_any_length) {
  for (size_t n = 1; n < 70; n++)
    for (size_t m = n - 1; m <= n + 1; m++) {
      char name[80] = {0}, word[80] = {0};
      const char *const names[] = {name};
      memset(name, 'a', n);
      memset(word, 'a', m);
      bool near = m && n < 64 && m < 64 && (n == m || m > 2);
      cr_expect_eq(bs_nearest(word, names, 1), near ? name : NULL,
                   "a name of %zu bytes, a word of %zu", n, m);
    }
}

static void
complain(bs_heap *h, void *argument) {
  (void)argument;
  bs_diags own;
  bs_diags_init(&own, h);
  uint32_t s = bs_source_add(&own, "p", "(a b c)", 7);
  for (int i = 0; i < 30; i++) {
    bs_error(&own, (bs_span){s, 1, 2}, "c", "error %d", i);
    bs_hint(&own, "hint %d", i);
  }
  bs_text text;
  bs_text_init(&text, h);
  for (uint32_t i = 0; i < own.list.len; i++) {
    bs_render(&own, &own.list.data[i], true, &text);
    bs_render_json(&own, &own.list.data[i], &text);
  }
}

Test(diag, every_refusal_is_survived_without_a_leak) {
  cr_assert_gt(sweep(complain, NULL), 5);
}

/* ---- the nearest name against the whole table of distances ---- */

enum { WORD = 70, BOUND = 63 };

static unsigned
smaller(unsigned a, unsigned b) {
  return a < b ? a : b;
}

static unsigned
distance(const char *a, const char *b) {
  static unsigned d[WORD + 1][WORD + 1];
  size_t n = strlen(a), m = strlen(b);
  for (size_t i = 0; i <= n; i++)
    for (size_t j = 0; j <= m; j++) {
      d[i][j] = (unsigned)(i ? i : j);
      if (!i || !j)
        continue;
      d[i][j] = smaller(smaller(d[i - 1][j], d[i][j - 1]) + 1,
                        d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[n][m];
}

static uint32_t
dice(uint32_t n) {
  static uint64_t state = 17;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % n;
}

/* A word of so many letters, and one that some slips make of it. */
static void
two_words(char a[WORD + 8], char b[WORD + 8], size_t n) {
  for (size_t k = 0; k < n; k++)
    a[k] = "abc"[dice(3)];
  a[n] = '\0';
  strcpy(b, a);
  for (uint32_t k = dice(n / 3 + 3); k; k--) {
    size_t len = strlen(b), at = dice((uint32_t)len + 1);
    if (dice(2) && at < len)
      memmove(b + at, b + at + 1, len - at);
    else if (len < WORD)
      memmove(b + at + 1, b + at, len - at + 1);
    if (b[at])
      b[at] = "abc"[dice(3)];
  }
}

Test(diag, a_name_is_near_by_its_distance_up_to_a_bound) {
  char a[WORD + 8] = "", b[WORD + 8] = "";
  for (size_t n = 0; n <= WORD - 3; n++)
    for (int times = 0; times < 40; times++) {
      two_words(a, b, n);
      unsigned most = (unsigned)(n < 3 ? 0 : (n + 2) / 3);
      bool near = n <= BOUND && strlen(b) <= BOUND && distance(a, b) <= most;
      const char *const names[] = {b};
      cr_assert_eq(bs_nearest(a, names, 1) != NULL, near, "%s %s", a, b);
    }
}
