/* SPDX-License-Identifier: MIT */
/* Texts, UTF-8, numbers as text, and values as they stand in a file. */
#include "counting.h"
#include "base/text.h"
#include "base/utf8.h"
#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static bs_heap heap;
static bs_text text;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_text_init(&text, &heap);
}

static void
stop(void) {
  bs_text_done(&text);
  bs_heap_done(&heap);
}

TestSuite(text, .init = start, .fini = stop);

Test(text, has_words_of_a_list) {
  cr_assert(bs_has_word("edge constant", "edge"));
  cr_assert(bs_has_word(" edge constant ", "constant"));
  cr_assert_not(bs_has_word("edge constant", "const"));
  cr_assert_not(bs_has_word("edge constant", "edge constant"));
  cr_assert_not(bs_has_word("edge constant", " edge"));
  cr_assert_not(bs_has_word("edge constant", ""));
}

Test(text, grows) {
  cr_assert_str_eq(bs_text_str(&text), "");
  for (int i = 0; i < 5000; i++) {
    bs_putc(&text, (char)('a' + i % 26));
    bs_putf(&text, "%d", i % 10);
  }
  cr_assert_eq(text.len, 10000);
  cr_assert_eq(strlen(text.data), 10000);
  bs_text_clear(&text);
  cr_assert_str_eq(bs_text_str(&text), "");
  bs_putf(&text, "%*d", 70000, 5);
  cr_assert_eq(text.len, 70000);
  cr_assert_eq(text.data[69999], '5');
  bs_putn(&text, "", 0);
  bs_put(&text, "end");
  cr_assert_str_eq(text.data + 70000, "end");
}

static const char *
real(double x) {
  bs_text_clear(&text);
  bs_put_real(&text, x);
  return text.data;
}

Test(text, reals_are_short) {
  cr_assert_str_eq(real(0.1), "0.1");
  cr_assert_str_eq(real(2), "2.0");
  cr_assert_str_eq(real(-0.0), "-0.0");
  cr_assert_str_eq(real(1.0 / 3), "0.3333333333333333");
  cr_assert_str_eq(real(0.1 + 0.2), "0.30000000000000004");
  cr_assert_str_eq(real(1e20), "1e+20");
  cr_assert_str_eq(real(123456789), "123456789.0");
  cr_assert_str_eq(real(5e-324), "5e-324");
  cr_assert_str_eq(real(1.7976931348623157e308), "1.7976931348623157e+308");
  cr_assert_str_eq(real(INFINITY), "inf");
  cr_assert_str_eq(real(-INFINITY), "-inf");
  cr_assert_str_eq(real(NAN), "nan");
}

static void
reads_back(double x) {
  const char *written = real(x);
  int64_t integer;
  double back = 0;
  cr_assert_eq(bs_read_number(written, strlen(written), &integer, &back),
               BS_REAL, "%s", written);
  cr_assert(!memcmp(&x, &back, sizeof x), "%a is not %s", x, written);
}

Test(text, reals_read_back_equal) {
  uint64_t bits = 88172645463325252u;
  for (int i = 0; i < 100000; i++) {
    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    uint64_t some = i % 4 ? bits : bits & 0x800fffffffffffffu;
    double x;
    memcpy(&x, &some, sizeof x);
    if (isfinite(x))
      reads_back(x);
  }
}

Test(text, numbers_do_not_know_the_locale) {
  const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"};
  for (int i = 0; i < 3; i++)
    setlocale(LC_ALL, commas[i]);
  cr_assert_str_eq(real(1.5), "1.5");
  reads_back(1234.5678);
}

typedef struct number_case {
  const char *s;
  bs_number kind;
  double value;
} number_case;

Test(text, forms_of_numbers) {
  static const number_case cases[] = {
      {"0", BS_INTEGER, 0},
      {"-12", BS_INTEGER, -12},
      {"007", BS_INTEGER, 7},
      {"-0", BS_INTEGER, 0},
      {"9223372036854775807", BS_INTEGER, 9223372036854775807.0},
      {"-9223372036854775808", BS_INTEGER, -9223372036854775808.0},
      {"9223372036854775808", BS_TOO_LARGE, 0},
      {"-9223372036854775809", BS_TOO_LARGE, 0},
      {"99999999999999999999999999", BS_TOO_LARGE, 0},
      {"1.5", BS_REAL, 1.5},
      {"1.", BS_REAL, 1},
      {".5", BS_REAL, .5},
      {"-.5e-1", BS_REAL, -.05},
      {"1e3", BS_REAL, 1000},
      {"1E+3", BS_REAL, 1000},
      {"1e-400", BS_REAL, 0},
      {"1e400", BS_TOO_LARGE, 0},
      {"inf", BS_REAL, INFINITY},
      {"-inf", BS_REAL, -INFINITY},
      {"", BS_NO_NUMBER, 0},
      {"-", BS_NO_NUMBER, 0},
      {".", BS_NO_NUMBER, 0},
      {"-.", BS_NO_NUMBER, 0},
      {"+1", BS_NO_NUMBER, 0},
      {"1e", BS_NO_NUMBER, 0},
      {"1e+", BS_NO_NUMBER, 0},
      {"e1", BS_NO_NUMBER, 0},
      {".e1", BS_NO_NUMBER, 0},
      {"1.2.3", BS_NO_NUMBER, 0},
      {"3x3", BS_NO_NUMBER, 0},
      {"0x10", BS_NO_NUMBER, 0},
      {"infinity", BS_NO_NUMBER, 0},
      {"1_000", BS_NO_NUMBER, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const number_case *c = &cases[i];
    int64_t integer = 0;
    double x = 0;
    cr_assert_eq(bs_read_number(c->s, strlen(c->s), &integer, &x), c->kind,
                 "%s", c->s);
    if (c->kind == BS_INTEGER)
      cr_assert_eq((double)integer, c->value, "%s", c->s);
    if (c->kind == BS_REAL)
      cr_assert_eq(x, c->value, "%s", c->s);
  }
  double x = 0;
  cr_assert_eq(bs_read_number("nanny", 3, NULL, &x), BS_REAL);
  cr_assert(isnan(x));
}

Test(text, numbers_take_only_their_bytes) {
  int64_t integer;
  double x;
  cr_assert_eq(bs_read_number("12345", 2, &integer, &x), BS_INTEGER);
  cr_assert_eq(integer, 12);
  cr_assert_eq(bs_read_number("1.25e7", 4, &integer, &x), BS_REAL);
  cr_assert_eq(x, 1.25);
  char zeros[5000];
  memset(zeros, '0', sizeof zeros);
  cr_assert_eq(bs_read_number(zeros, sizeof zeros, &integer, &x), BS_INTEGER);
  zeros[1] = '.';
  cr_assert_eq(bs_read_number(zeros, sizeof zeros, &integer, &x), BS_TOO_LARGE);
  cr_assert_eq(bs_read_number(zeros, 900, &integer, &x), BS_REAL);
}

static const char *
shown(const bs_values *values, bs_value v) {
  bs_text_clear(&text);
  bs_put_value(&text, values, v);
  return bs_text_str(&text);
}

Test(text, values_as_in_a_file) {
  bs_values *values = bs_values_new(&heap);
  cr_assert_str_eq(shown(values, bs_int(values, INT64_MIN)),
                   "-9223372036854775808");
  cr_assert_str_eq(shown(values, bs_real(values, 3)), "3.0");
  cr_assert_str_eq(shown(values, bs_bool(values, true)), "true");
  cr_assert_str_eq(shown(values, bs_sym(values, "relu")), "relu");
  bs_value empty = bs_list(values, NULL, 0);
  cr_assert_str_eq(shown(values, empty), "()");
  const int64_t shape[] = {1, 2, 3};
  bs_value ints = bs_ints(values, shape, 3);
  bs_value items[] = {bs_sym(values, "list"), ints, empty, ints,
                      bs_bool(values, false)};
  cr_assert_str_eq(shown(values, bs_list(values, items, 5)),
                   "(list (1 2 3) () (1 2 3) false)");
  bs_value nested = bs_list(values, items, 2);
  cr_assert_str_eq(shown(values, bs_list(values, &nested, 1)),
                   "((list (1 2 3)))");
}

Test(text, symbols_are_quoted_when_they_must) {
  static const char *const cases[][2] = {
      {"?x", "?x"},
      {":where", ":where"},
      {"<=>", "<=>"},
      {"3x3", "3x3"},
      {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
      {"", "\"\""},
      {"a b", "\"a b\""},
      {"12", "\"12\""},
      {"-1.5", "\"-1.5\""},
      {"inf", "\"inf\""},
      {"true", "\"true\""},
      {"false", "\"false\""},
      {"truer", "truer"},
      {"a(", "\"a(\""},
      {"a;b", "\"a;b\""},
      {"\"", "\"\\\"\""},
      {"a\\b", "a\\b"},
      {"a \\", "\"a \\\\\""},
      {"1\n2\t3", "\"1\\n2\\t3\""},
      {"\x01\x7f", "\"\\x01\\x7f\""},
      {"\xff", "\"\xef\xbf\xbd\""},
      {"\xef\xbb\xbfz", "\"\xef\xbb\xbfz\""},
      {"t\xef\xbb\xbfz", "\"t\xef\xbb\xbfz\""},
      {"x\xe2\x80\x92", "\"x\xe2\x80\x92\""},
      {"\xc2\xa0", "\"\xc2\xa0\""},
  };
  bs_values *values = bs_values_new(&heap);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_assert_str_eq(shown(values, bs_sym(values, cases[i][0])), cases[i][1]);
}

Test(text, values_of_any_depth) {
  bs_values *values = bs_values_new(&heap);
  bs_value v = bs_list(values, NULL, 0);
  for (int i = 1; i < 200000; i++)
    v = bs_list(values, &v, 1);
  shown(values, v);
  cr_assert_eq(text.len, 400000);
  cr_assert_eq(text.data[199999], '(');
  cr_assert_eq(text.data[200000], ')');
}

Test(text, json_strings) {
  bs_put_json_string(&text, "a\"\\\n\t\r\b\f\x01\x7f/\xc3\xa9\xff\xc3");
  cr_assert_str_eq(text.data,
                   "\"a\\\"\\\\\\n\\t\\r\\b\\f\\u0001\\u007f/\xc3\xa9"
                   "\xef\xbf\xbd\xef\xbf\xbd\"");
}

typedef struct utf8_case {
  const char *s;
  unsigned length;
} utf8_case;

Test(text, utf8_is_strict) {
  static const utf8_case cases[] = {
      {"a", 1},
      {"\x7f", 1},
      {"\xc2\x80", 2},
      {"\xdf\xbf", 2},
      {"\xe0\xa0\x80", 3},
      {"\xef\xbf\xbf", 3},
      {"\xf0\x90\x80\x80", 4},
      {"\xf4\x8f\xbf\xbf", 4},
      {"\x80", 0},
      {"\xbf", 0},
      {"\xc0\x80", 0},
      {"\xc1\xbf", 0},
      {"\xe0\x9f\xbf", 0},
      {"\xed\xa0\x80", 0},
      {"\xf0\x8f\xbf\xbf", 0},
      {"\xf4\x90\x80\x80", 0},
      {"\xf5\x80\x80\x80", 0},
      {"\xff", 0},
      {"\xc3", 0},
      {"\xe2\x82", 0},
      {"\xe2\x82z", 0},
      {"\xf0\x9f\x98", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_assert_eq(bs_utf8_length(cases[i].s, strlen(cases[i].s)),
                 cases[i].length, "case %zu", i);
}

Test(text, utf8_faults_are_found_anywhere) {
  char line[64];
  for (size_t at = 0; at < 40; at++) {
    memset(line, 'x', 40);
    cr_assert_eq(bs_utf8_fault(line, 40), 40);
    line[at] = '\0';
    cr_assert_eq(bs_utf8_fault(line, 40), at);
    line[at] = '\x80';
    cr_assert_eq(bs_utf8_fault(line, 40), at);
    line[at] = '\xc3';
    cr_assert_eq(bs_utf8_fault(line, 40), at);
  }
  cr_assert_eq(bs_utf8_count("a\xc3\xa9\xff\xe2\x82\xac", 7), 4);
}

static void
write_some(bs_heap *h, void *argument) {
  (void)argument;
  bs_values *values = bs_values_new(h);
  bs_value v = bs_sym(values, "leaf");
  for (int i = 0; i < 40; i++)
    v = bs_list(values, (bs_value[]){v, bs_int(values, i)}, 2);
  bs_text out;
  bs_text_init(&out, h);
  bs_put_value(&out, values, v);
  bs_putf(&out, "%*d", 3000, 1);
  bs_put_real(&out, 1.25);
}

Test(text, every_refusal_is_survived_without_a_leak) {
  cr_assert_gt(sweep(write_some, NULL), 5);
}
