/* SPDX-License-Identifier: MIT */
/* The S-expression reader: structure, atoms, errors, extremes. */
#include "counting.h"
#include "base/sexp.h"
#include <criterion/criterion.h>
#include <string.h>

static bs_heap heap;
static bs_diags diags;
static bs_values *values;
static bs_sexps sexps;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_diags_init(&diags, &heap);
  values = bs_values_new(&heap);
}

static void
stop(void) {
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

TestSuite(sexp, .init = start, .fini = stop);

static bool
read_n(const char *text, size_t n) {
  uint32_t source = bs_source_add(&diags, "f", text, n);
  return bs_sexp_read(&heap, values, &diags, source, &sexps);
}

static bool
read_text(const char *text) {
  return read_n(text, strlen(text));
}

/* The whole file, each form as a value, one behind another. */
static const char *
echo(const char *text) {
  cr_assert(read_text(text), "%s", text);
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t i = 0; i < sexps.roots.len; i++) {
    bs_put(&out, i ? " | " : "");
    bs_put_value(&out, values,
                 bs_sx_value(&heap, values, &sexps, sexps.roots.data[i]));
  }
  return bs_text_str(&out);
}

Test(sexp, forms) {
  cr_assert_str_eq(echo(""), "");
  cr_assert_str_eq(echo(" ; only a comment"), "");
  cr_assert_str_eq(echo("()"), "()");
  cr_assert_str_eq(echo("(a (b c) () ((d)))x(y)"),
                   "(a (b c) () ((d))) | x | (y)");
  cr_assert_str_eq(echo("(a;b)\r\n\tc ;\n)"), "(a c)");
  cr_assert_str_eq(echo("\xef\xbb\xbf(a)"), "(a)");
}

Test(sexp, atoms) {
  cr_assert_str_eq(echo("=> <=> ?x :where $x + - <= * / % ' a.b [x] `,@#{}"),
                   "=> | <=> | ?x | :where | $x | + | - | <= | * | / | % | ' "
                   "| a.b | [x] | `,@#{}");
  cr_assert_str_eq(echo("1 -1 -0 1.5 1e3 inf -inf nan true false .5 2."),
                   "1 | -1 | 0 | 1.5 | 1000.0 | inf | -inf | nan | true | "
                   "false | 0.5 | 2.0");
  cr_assert_str_eq(echo("\"a b\" \"\" \"\\\"\\\\\\n\\t\\x01\\x7F\" \"x\ny\""),
                   "\"a b\" | \"\" | \"\\\"\\\\\\n\\t\\x01\\x7f\" | "
                   "\"x\\ny\"");
  cr_assert_str_eq(echo("gr\xc3\xbc\xc3\x9f\"s\"a"),
                   "gr\xc3\xbc\xc3\x9f | s | a");
}

static const bs_sx *
node(uint32_t index) {
  cr_assert(index && index < sexps.nodes.len);
  return &sexps.nodes.data[index];
}

Test(sexp, kinds_spans_and_links) {
  cr_assert(read_text("(f 12 \"s\" (g 1.0) true)\nz"));
  cr_assert_eq(sexps.roots.len, 2);
  uint32_t list = sexps.roots.data[0];
  static const bs_sx_kind kinds[] = {BS_SX_SYM, BS_SX_INT, BS_SX_STRING,
                                     BS_SX_LIST, BS_SX_BOOL};
  static const uint32_t spans[][2] = {
      {1, 2}, {3, 5}, {6, 9}, {10, 17}, {18, 22}};
  cr_assert_eq(node(list)->count, 5);
  cr_assert_eq(node(list)->next, 0);
  cr_assert_eq(node(list)->value.i, 0);
  cr_assert_eq(node(list)->span.lo, 0);
  cr_assert_eq(node(list)->span.hi, 23);
  uint32_t item = bs_sx_first(&sexps, list);
  for (uint32_t i = 0; i < 5; i++) {
    cr_assert_eq(item, bs_sx_item(&sexps, list, i));
    cr_assert_eq(node(item)->kind, kinds[i]);
    cr_assert_eq(node(item)->span.lo, spans[i][0]);
    cr_assert_eq(node(item)->span.hi, spans[i][1]);
    item = node(item)->next;
  }
  cr_assert_eq(item, 0);
  cr_assert_eq(bs_sx_item(&sexps, list, 5), 0);
  cr_assert_str_eq(bs_sx_head(&sexps, values, list), "f");
  cr_assert_null(bs_sx_head(&sexps, values, bs_sx_first(&sexps, list)));
  bs_value two = node(bs_sx_item(&sexps, list, 2))->value;
  cr_assert(bs_same(two, bs_sym(values, "s")));
}

Test(sexp, heads) {
  cr_assert(read_text("() ((a)) (\"a\" 1) (1)"));
  for (uint32_t i = 0; i < sexps.roots.len; i++)
    cr_assert_null(bs_sx_head(&sexps, values, sexps.roots.data[i]));
}

typedef struct fault {
  const char *text;
  const char *code;
  uint32_t line, column;
} fault;

Test(sexp, faults) {
  static const fault faults[] = {
      {"(a", "unclosed-paren", 1, 1},
      {"(a)\n(b (c)\n", "unclosed-paren", 2, 1},
      {"a)", "unexpected-paren", 1, 2},
      {"(a)\n)", "unexpected-paren", 2, 1},
      {"(a \"b)", "unclosed-string", 1, 4},
      {"\"abc\\\"", "unclosed-string", 1, 1},
      {"\"abc\\", "unclosed-string", 1, 1},
      {"\"", "unclosed-string", 1, 1},
      {"\"a\\q\"", "bad-escape", 1, 3},
      {"\"\\\xe2\x82\xac\"", "bad-escape", 1, 2},
      {"\"\\x\"", "bad-escape", 1, 2},
      {"\"\\x1\"", "bad-escape", 1, 2},
      {"\"\\x00\"", "bad-escape", 1, 2},
      {"\"\\x80\"", "bad-escape", 1, 2},
      {"(a 99999999999999999999)", "number-range", 1, 4},
      {"1e999", "number-range", 1, 1},
      {"(a \x01)", "bad-character", 1, 4},
      {"\"\x1b\"", "bad-character", 1, 2},
      {"; \x7f", "bad-character", 1, 3},
      {"(a\f)", "bad-character", 1, 3},
      {"(a)\n\xef\xbb\xbf"
       "b",
       "bad-character", 2, 1},
      {"(\xc3)", "not-text", 1, 2},
      {"; \xed\xa0\x80", "not-text", 1, 3},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    bs_clear(&diags.list);
    diags.errors = 0;
    const fault *f = &faults[i];
    cr_assert_not(read_text(f->text), "%s", f->text);
    cr_assert_eq(diags.errors, 1, "%s", f->text);
    const bs_diag *d = &diags.list.data[0];
    cr_assert_str_eq(d->code, f->code);
    uint32_t line, column;
    bs_position(&diags, d->span, &line, &column);
    cr_assert(line == f->line && column == f->column, "%s: %u:%u", f->text,
              line, column);
    cr_assert_eq(sexps.nodes.len, 0);
    cr_assert_null(sexps.nodes.data);
  }
}

Test(sexp, a_nul_byte) {
  cr_assert_not(read_n("(a\0b)", 5));
  cr_assert_str_eq(diags.list.data[0].code, "not-text");
  cr_assert_eq(diags.list.data[0].span.lo, 2);
}

Test(sexp, several_faults_in_one_reading) {
  cr_assert_not(read_text("(\"\\q\\r\" 1e999 \"\\w\")"));
  cr_assert_eq(diags.errors, 4);
}

Test(sexp, the_likely_place_of_a_missing_parenthesis) {
  cr_assert_not(
      read_text("(let a x)\n(let b (f x)\n(let c\n  y)\n(output c)\n"));
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t i = 0; i < diags.list.len; i++)
    bs_render(&diags, &diags.list.data[i], false, &out);
  cr_assert_str_eq(out.data,
                   "f:2:1: error: this '(' is never closed [unclosed-paren]\n"
                   "  (let b (f x)\n"
                   "  ^\n"
                   "hint: the file ends with 1 parenthesis open\n"
                   "f:3:1: note: this form starts a line inside it; perhaps a "
                   "')' is missing before\n"
                   "  (let c\n"
                   "  ^\n");
}

Test(sexp, no_source_no_forms) {
  cr_assert_not(bs_sexp_read(&heap, values, &diags, 0, &sexps));
  cr_assert_eq(sexps.roots.len, 0);
}

Test(sexp, ten_megabytes_of_open_parentheses) {
  size_t n = 10 << 20;
  char *text = memset(bs_alloc(&heap, n), '(', n);
  size_t before = heap.used;
  cr_assert_not(read_n(text, n));
  cr_assert_lt(heap.used - before, n + 100000);
  cr_assert_eq(diags.errors, 1);
  cr_assert_eq(diags.list.len, 1);
  bs_text out;
  bs_text_init(&out, &heap);
  bs_render(&diags, &diags.list.data[0], false, &out);
  cr_assert_lt(out.len, 400);
  cr_assert(strstr(out.data, "f:1:1: error: this '(' is never closed"));
  cr_assert(strstr(out.data, "10485760 parentheses open"));
}

Test(sexp, five_million_levels) {
  size_t n = 5000000;
  char *text = bs_alloc(&heap, 2 * n);
  memset(text, '(', n);
  memset(text + n, ')', n);
  cr_assert(read_n(text, 2 * n));
  cr_assert_eq(sexps.nodes.len, n + 1);
  bs_value v = bs_sx_value(&heap, values, &sexps, sexps.roots.data[0]);
  size_t depth = 1;
  for (; bs_len(values, v); depth++)
    v = bs_item(values, v, 0);
  cr_assert_eq(depth, n);
}

Test(sexp, a_wide_list) {
  size_t n = 1000000;
  char *text = bs_alloc(&heap, 2 * n + 2);
  for (size_t i = 0; i < n; i++)
    memcpy(text + 1 + 2 * i, "x ", 2);
  text[0] = '(';
  text[2 * n + 1] = ')';
  cr_assert(read_n(text, 2 * n + 2));
  bs_value v = bs_sx_value(&heap, values, &sexps, sexps.roots.data[0]);
  cr_assert_eq(bs_len(values, v), n);
  cr_assert(bs_same(bs_item(values, v, (uint32_t)n - 1), bs_sym(values, "x")));
}

/* What is written of a value reads back as the same value. */
Test(sexp, round_trip) {
  const char *text = "(a \"1\" \"x y\" \"\\x01\" 1.0 -3 (inf (true \"true\")) "
                     "() 1e-300 0.30000000000000004 \"nan\" \"\")";
  cr_assert_str_eq(echo(text), text);
}

static void
read_some(bs_heap *h, void *argument) {
  bs_diags own;
  bs_diags_init(&own, h);
  bs_values *table = bs_values_new(h);
  const char *text = argument;
  uint32_t source = bs_source_add(&own, "f", text, strlen(text));
  bs_sexps read;
  if (!bs_sexp_read(h, table, &own, source, &read))
    return;
  for (uint32_t i = 0; i < read.roots.len; i++)
    bs_sx_value(h, table, &read, read.roots.data[i]);
  bs_sexps_done(h, &read);
}

Test(sexp, every_refusal_is_survived_without_a_leak) {
  cr_assert_gt(sweep(read_some, "(a (b 1 2.5 \"s\\n\") ((c)) d e f g) (h)"), 5);
  cr_assert_gt(sweep(read_some, "(a \"\\q\" 1e999)"), 5);
  cr_assert_gt(sweep(read_some, "(a (b)"), 3);
}

static void
read_body(void *text) {
  read_text(text);
}

Test(sexp, a_memory_limit_is_kept) {
  char text[4001];
  for (int i = 0; i < 1000; i++)
    memcpy(text + 4 * i, "(a) ", 5);
  heap.limit = heap.used + 20000;
  cr_assert_not(bs_protect(&heap, read_body, text));
  heap.limit = 0;
  cr_assert(read_text(text));
}
