/* SPDX-License-Identifier: MIT */
/* Command lines, read by the table of options. */
#include "cli/options_table.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A command line, its words divided by spaces. */
typedef struct line {
  char text[400];
  char *words[40];
  int n;
  cl_options options;
  int exit_code;
} line;

static const cl_command *
read_line(line *l, const char *text) {
  l->n = 0;
  l->exit_code = -1;
  snprintf(l->text, sizeof l->text, "glen %s", text);
  for (char *at = strtok(l->text, " "); at; at = strtok(NULL, " "))
    l->words[l->n++] = at;
  l->words[l->n] = NULL;
  return cl_parse(l->n, l->words, &l->options, &l->exit_code);
}

/* What is told of a wrong line is not read here. */
static void
be_quiet(void) {
  cr_assert(freopen("/dev/null", "w", stderr));
  cr_assert(freopen("/dev/null", "w", stdout));
}

/* The command with as many operands as it needs, and an option. */
static void
write_line(char *out, size_t size, const cl_command *c, const char *option) {
  int n = snprintf(out, size, "%s %s", c->name, option);
  for (uint32_t k = 0; k < c->min_operands; k++)
    n += snprintf(out + n, size - (size_t)n, " f%u.glen", k);
}

static const void *
field_of(const line *l, const cl_row *r) {
  return (const char *)&l->options + r->offset;
}

/* A word that a row takes, and whether the field then holds it. */
static const char *
word_for(const cl_row *r, char *room, size_t size) {
  switch (r->kind) {
  case COUNT:
  case FROM_1:
    return "7";
  case UP_TO:
    return "1";
  case BYTES:
    return "3K";
  case SECONDS:
    return "2.5";
  case FLAG:
    return NULL;
  case TEXT:
  case WORDS:
  case LIST:
  case MAYBE:
    break;
  }
  if (!r->choices)
    return "word";
  snprintf(room, size, "%.*s", (int)strcspn(r->choices, " "), r->choices);
  return room;
}

static bool
holds(const line *l, const cl_row *r, const char *word) {
  const void *field = field_of(l, r);
  switch (r->kind) {
  case COUNT:
  case FROM_1:
    return *(const uint64_t *)field == 7;
  case UP_TO:
    return *(const uint64_t *)field == 1;
  case BYTES:
    return *(const uint64_t *)field == 3 << 10;
  case SECONDS:
    return *(const double *)field == 2.5;
  case FLAG:
    return *(const bool *)field;
  case LIST: {
    const cl_list *list = field;
    return list->n && !strcmp(list->items[list->n - 1], word);
  }
  case TEXT:
  case WORDS:
  case MAYBE:
    break;
  }
  return !strcmp(*(const char *const *)field, word);
}

static bool
ends_the_program(const cl_row *r) {
  return !strcmp(r->name, "help") || !strcmp(r->name, "version");
}

static void
try_row(const cl_command *c, const cl_row *r) {
  char room[64], option[120], text[300];
  line l;
  const char *word = word_for(r, room, sizeof room);
  snprintf(option, sizeof option, word ? "--%s=%s" : "--%s", r->name, word);
  write_line(text, sizeof text, c, option);
  const cl_command *found = read_line(&l, text);
  if (ends_the_program(r)) {
    cr_expect_null(found, "%s", text);
    return;
  }
  cr_expect_eq(found, c, "%s", text);
  cr_expect(holds(&l, r, word), "%s", text);
}

Test(options, each_command_takes_each_of_its_options) {
  be_quiet();
  for (size_t k = 0; k < cl_command_count; k++)
    for (size_t i = 0; i < cl_row_count; i++)
      if (cl_rows[i].commands & cl_command_bit(&cl_commands[k]))
        try_row(&cl_commands[k], &cl_rows[i]);
}

Test(options, what_a_command_has_not_is_refused) {
  be_quiet();
  for (size_t k = 0; k < cl_command_count; k++)
    for (size_t i = 0; i < cl_row_count; i++) {
      char option[80], text[300];
      line l;
      int bit = cl_command_bit(&cl_commands[k]);
      if (cl_find_row(cl_rows[i].name, strlen(cl_rows[i].name), bit))
        continue;
      snprintf(option, sizeof option, "--%s", cl_rows[i].name);
      write_line(text, sizeof text, &cl_commands[k], option);
      cr_expect_null(read_line(&l, text), "%s", text);
      cr_expect_eq(l.exit_code, 2, "%s", text);
    }
}

/* A number up to another one may be that one, and no more. */
Test(options, numbers_up_to_a_bound_end_with_it) {
  uint32_t tried = 0;
  be_quiet();
  for (size_t k = 0; k < cl_command_count; k++)
    for (size_t i = 0; i < cl_row_count; i++) {
      const cl_row *r = &cl_rows[i];
      if (r->kind != UP_TO || !(r->commands & cl_command_bit(&cl_commands[k])))
        continue;
      uint64_t most = strtoull(r->preset, NULL, 10);
      for (uint64_t n = most - 1; n <= most + 1; n++) {
        char option[80], text[300];
        line l;
        snprintf(option, sizeof option, "--%s=%llu", r->name,
                 (unsigned long long)n);
        write_line(text, sizeof text, &cl_commands[k], option);
        const cl_command *found = read_line(&l, text);
        cr_expect_eq(found != NULL, n <= most, "%s", text);
        if (found)
          cr_expect_eq(*(const uint64_t *)field_of(&l, r), n, "%s", text);
        tried++;
      }
    }
  cr_expect_gt(tried, 0);
}

/* One hyphen before a word is a slip, and no letter with a value: -output=F is
 * not -o utput=F. */
Test(options, words_have_two_hyphens) {
  be_quiet();
  for (size_t k = 0; k < cl_command_count; k++)
    for (size_t i = 0; i < cl_row_count; i++) {
      char option[80], text[300];
      line l;
      if (!(cl_rows[i].commands & cl_command_bit(&cl_commands[k])))
        continue;
      for (int with = 0; with < 2; with++) {
        snprintf(option, sizeof option, with ? "-%s=4" : "-%s",
                 cl_rows[i].name);
        write_line(text, sizeof text, &cl_commands[k], option);
        cr_expect_null(read_line(&l, text), "%s", text);
        cr_expect_eq(l.exit_code, 2, "%s", text);
      }
    }
}

Test(options, presets_are_those_of_the_table) {
  for (size_t k = 0; k < cl_command_count; k++) {
    char text[300];
    line l;
    write_line(text, sizeof text, &cl_commands[k], "");
    cr_assert_eq(read_line(&l, text), &cl_commands[k], "%s", text);
    for (size_t i = 0; i < cl_row_count; i++) {
      const cl_row *r = &cl_rows[i];
      bool own = r->commands & cl_command_bit(&cl_commands[k]);
      if (own && r->preset && r->kind == COUNT)
        cr_expect_eq(*(const uint64_t *)field_of(&l, r),
                     strtoull(r->preset, NULL, 10), "%s --%s", text, r->name);
    }
  }
}

Test(options, numbers_that_are_none_are_refused) {
  static const char *const lines[] = {
      "saturate a.glen --iter-limit=",
      "saturate a.glen --iter-limit=-1",
      "saturate a.glen --iter-limit=1x",
      "saturate a.glen --time-limit=nan",
      "saturate a.glen --time-limit=-2",
      "saturate a.glen --time-limit=inf",
      "saturate a.glen --memory-limit=K",
      "saturate a.glen --memory-limit=2Q",
      "saturate a.glen --memory-limit=99999999999T",
      "saturate a.glen --iter-limit=18446744073709551616",
      "compile a.glen --keys=17",
      "compile a.glen --fuse=much",
      "compile a.glen --strict-fp=yes",
      "compile a.glen --fuse"};
  be_quiet();
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
    line l;
    cr_expect_null(read_line(&l, lines[k]), "%s", lines[k]);
    cr_expect_eq(l.exit_code, 2, "%s", lines[k]);
  }
}

/* A number by itself is one of bytes; a unit is the last letter. */
Test(options, bytes_have_units) {
  static const struct {
    const char *text;
    bool taken;
    uint64_t bytes;
  } rows[] = {
      {"0", true, 0},
      {"1", true, 1},
      {"1000", true, 1000},
      {"4097", true, 4097},
      {"18446744073709551615", true, UINT64_MAX},
      {"0K", true, 0},
      {"1K", true, 1024},
      {"7K", true, 7 << 10},
      {"1M", true, 1 << 20},
      {"3M", true, 3 << 20},
      {"1G", true, 1 << 30},
      {"1T", true, UINT64_C(1) << 40},
      {"16777215T", true, UINT64_C(16777215) << 40},
      {"18014398509481983K", true, UINT64_MAX - 1023},
      {"auto", true, CL_AUTO},
      {"16777216T", false, 0},
      {"18014398509481984K", false, 0},
      {"18446744073709551616", false, 0},
      {"K", false, 0},
      {"1k", false, 0},
      {"1KB", false, 0},
      {"1KK", false, 0},
      {"K1", false, 0},
      {"1B", false, 0},
      {"-1K", false, 0},
      {"0000000000000000000000000000001K", false, 0},
      {"000000000000000000000000000001K", true, 1024},
  };
  be_quiet();
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    char text[120];
    line l;
    snprintf(text, sizeof text, "saturate a.glen --memory-limit=%s",
             rows[k].text);
    cr_expect_eq(read_line(&l, text) != NULL, rows[k].taken, "%s", text);
    if (rows[k].taken)
      cr_expect_eq(l.options.memory_limit, rows[k].bytes, "%s: %llu", text,
                   (unsigned long long)l.options.memory_limit);
  }
}

Test(options, seconds_are_finite_and_not_below_zero) {
  static const struct {
    const char *text;
    bool taken;
    double seconds;
  } rows[] = {
      {"0", true, 0},      {"-0", true, 0},      {"0.5", true, 0.5},
      {"2", true, 2},      {"1e3", true, 1000},  {".25", true, 0.25},
      {"1e400", false, 0}, {"inf", false, 0},    {"nan", false, 0},
      {"-1", false, 0},    {"-0.001", false, 0}, {"5s", false, 0},
      {"s", false, 0},     {"1e", false, 0},     {"0x", false, 0},
      {"1,5", false, 0},
  };
  be_quiet();
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    char text[120];
    line l;
    snprintf(text, sizeof text, "saturate a.glen --time-limit=%s",
             rows[k].text);
    cr_expect_eq(read_line(&l, text) != NULL, rows[k].taken, "%s", text);
    if (rows[k].taken)
      cr_expect_eq(l.options.time_limit, rows[k].seconds, "%s", text);
  }
}

Test(options, words_behind_two_dashes_are_operands) {
  line l;
  cr_assert_not_null(read_line(&l, "saturate -- --json"));
  cr_expect_eq(l.options.files.n, 1);
  cr_expect_str_eq(l.options.files.items[0], "--json");
  cr_expect_not(l.options.json);
  cr_assert_not_null(read_line(&l, "saturate -"));
  cr_expect_str_eq(l.options.files.items[0], "-");
}

Test(options, letters_take_values_with_and_without_a_space) {
  line l;
  cr_assert_not_null(read_line(&l, "compile a.glen -ob.c"));
  cr_expect_str_eq(l.options.output, "b.c");
  cr_assert_not_null(read_line(&l, "compile a.glen -o c.c"));
  cr_expect_str_eq(l.options.output, "c.c");
}

Test(options, operands_are_counted) {
  line l;
  be_quiet();
  cr_expect_null(read_line(&l, "saturate"));
  cr_expect_eq(l.exit_code, 2);
  cr_expect_null(read_line(&l, "saturate a.glen b.glen"));
  cr_expect_eq(l.exit_code, 2);
  cr_expect_null(read_line(&l, "staurate a.glen"));
  cr_expect_eq(l.exit_code, 2);
}

Test(options, a_list_has_an_end) {
  line l;
  static char text[CL_MAX_LIST + 2][12];
  static char *words[CL_MAX_LIST + 5] = {"glen", "saturate", "a.glen"};
  for (int k = 0; k <= CL_MAX_LIST; k++) {
    snprintf(text[k], sizeof text[k], "-r%d", k);
    words[3 + k] = text[k];
  }
  be_quiet();
  cr_assert_not_null(
      cl_parse(3 + CL_MAX_LIST, words, &l.options, &l.exit_code));
  cr_expect_eq(l.options.rules.n, CL_MAX_LIST);
  cr_expect_null(cl_parse(4 + CL_MAX_LIST, words, &l.options, &l.exit_code));
}

Test(options, a_choice_is_a_whole_word) {
  cr_expect(cl_is_choice("one two", "two"));
  cr_expect(cl_is_choice("twofold two", "two"));
  cr_expect_not(cl_is_choice("twofold", "two"));
  cr_expect_not(cl_is_choice("one two", "one two"));
  cr_expect_not(cl_is_choice("one", ""));
}
