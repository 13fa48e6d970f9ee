/* SPDX-License-Identifier: MIT */
/* cli_options.c - the command line, parsed by the table of options.
 *
 * Values are checked for range here, so that commands can trust them. */
#include "cli/other_tools.h"
#include "cli/options_table.h"
#include <assert.h>

#include "glen/glen.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
fail_usage(const cl_command *command, const char *what, const char *value) {
  fprintf(stderr, "glen: %s%s%s\n", what, value ? " " : "", value ? value : "");
  if (command)
    fprintf(stderr, "try: glen %s --help\n", command->name);
  else
    fprintf(stderr, "try: glen --help\n");
  return 2;
}

/* ---- values ---- */

static bool
read_count(const char *text, uint64_t *out) {
  if (*text < '0' || *text > '9')
    return false;
  char *end;
  errno = 0;
  unsigned long long n = strtoull(text, &end, 10);
  if (errno || *end)
    return false;
  *out = n;
  return true;
}

static bool
read_up_to(const char *text, const char *most, uint64_t *out) {
  uint64_t bound;
  return read_count(text, out) && read_count(most, &bound) && *out <= bound;
}

static bool
read_bytes(const char *text, uint64_t *out) {
  size_t len = strlen(text);
  char digits[32];
  if (!strcmp(text, "auto")) {
    *out = CL_AUTO;
    return true;
  }
  static const char units[] = "KMGT";
  const char *unit = len ? strchr(units, text[len - 1]) : NULL;
  if (len >= sizeof digits)
    return false;
  memcpy(digits, text, len + 1);
  unsigned shift = 0;
  if (unit && *unit) {
    digits[len - 1] = '\0';
    shift = 10 * (unsigned)(unit - units + 1);
  }
  if (!read_count(digits, out) || *out > UINT64_MAX >> shift)
    return false;
  *out <<= shift;
  return true;
}

static bool
read_seconds(const char *text, double *out) {
  char *end;
  errno = 0;
  double x = strtod(text, &end);
  if (end == text || *end || !isfinite(x) || x < 0)
    return false;
  *out = x;
  return true;
}

bool
cl_is_choice(const char *words, const char *word) {
  size_t n = strchr(word, ' ') ? 0 : strlen(word);
  for (const char *at = words; n && (at = strstr(at, word)); at += n)
    if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
      return true;
  return false;
}

static bool
set_value(cl_options *options, const cl_row *r, const char *text) {
  assert(r->offset < sizeof *options);
  void *field = (char *)options + r->offset;
  switch (r->kind) {
  case FLAG:
    *(bool *)field = true;
    return true;
  case WORDS: /* who takes them tells which is none of the choices */
    *(const char **)field = text;
    return true;
  case MAYBE:
  case TEXT:
    *(const char **)field = text;
    return !r->choices || cl_is_choice(r->choices, text);
  case LIST: {
    cl_list *list = field;
    if (list->n == CL_MAX_LIST)
      return false;
    list->items[list->n++] = text;
    return true;
  }
  case COUNT:
    return read_count(text, field);
  case FROM_1:
    return read_count(text, field) && *(uint64_t *)field;
  case UP_TO:
    return read_up_to(text, r->preset, field);
  case BYTES:
    return read_bytes(text, field);
  case SECONDS:
    return read_seconds(text, field);
  }
  return false;
}

static void
set_alone(cl_options *options, const cl_row *r) {
  const char **field = (const char **)((char *)options + r->offset);
  *field = "";
}

/* A command's own defaults go before those of commands that have the same
 * field. */
static void
set_presets(cl_options *options, int bit) {
  memset(options, 0, sizeof *options);
  for (int own = 0; own < 2; own++)
    for (size_t i = 0; i < cl_row_count; i++)
      if (cl_rows[i].preset && !!(cl_rows[i].commands & bit) == own)
        set_value(options, &cl_rows[i], cl_rows[i].preset);
}

/* ---- parsing ---- */

static const cl_row *
find_letter(char letter, int bit) {
  for (size_t i = 0; i < cl_row_count; i++)
    if ((cl_rows[i].commands & bit) && cl_rows[i].letter == letter)
      return &cl_rows[i];
  return NULL;
}

typedef struct cursor {
  int argc, at;
  char **argv;
  const cl_command *command;
  int exit_code;
} cursor;

static bool
refuse(cursor *c, const char *what, const char *value) {
  c->exit_code = fail_usage(c->command, what, value);
  return false;
}

static bool
refuse_with(cursor *c, const char *what, const char *value, const char *hint) {
  char all[240];
  snprintf(all, sizeof all, "%s %.60s: %s", what, value, hint);
  return refuse(c, all, NULL);
}

/* A long option, with what stands behind it cut off. */
static const char *
nearest_option(const cl_command *command, const char *text, size_t n) {
  const char *names[cl_row_count];
  size_t count = 0;
  char word[64];
  for (size_t i = 0; i < cl_row_count; i++)
    if (cl_rows[i].commands & cl_command_bit(command))
      names[count++] = cl_rows[i].name;
  snprintf(word, sizeof word, "%.*s", n > 63 ? 63 : (int)n, text);
  return glen_nearest(word, names, count);
}

/* What such an option of other tools is here, without its value. */
static const char *
said_of_option(const char *text) {
  char word[64];
  snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "="), text);
  return cl_other_option(word);
}

/* An option of other commands, with the first that has it. */
static bool
foreign_option(cursor *c, const char *text, const cl_row *row) {
  char what[160];
  size_t k = 0;
  while (!(row->commands & cl_command_bit(&cl_commands[k])))
    k++;
  snprintf(what, sizeof what,
           "this command has no option %.60s; glen %s has it", text,
           cl_commands[k].name);
  return refuse(c, what, NULL);
}

static bool
unknown_option(cursor *c, const char *text) {
  size_t n = strcspn(text + 2, "=");
  const cl_row *row = text[1] == '-' ? cl_find_row(text + 2, n, EVERY) : NULL;
  if (row)
    return foreign_option(c, text, row);
  const char *other = said_of_option(text);
  if (other)
    return refuse_with(c, "unknown option", text, other);
  const char *near =
      text[1] == '-' ? nearest_option(c->command, text + 2, n) : NULL;
  char what[160];
  snprintf(what, sizeof what, "unknown option %.60s; did you mean --%s?", text,
           near ? near : "");
  if (text[1] == 'O' || text[1] == 'g' || !strncmp(text, "-m", 2) ||
      !strncmp(text, "-f", 2))
    return refuse(c,
                  "this option belongs to the C compiler, which compiles what "
                  "glen writes:",
                  text);
  return near ? refuse(c, what, NULL) : refuse(c, "unknown option", text);
}

/* The nearest command, or the first word of commands that have two. */
static const char *
nearest_command(const char *word) {
  static char first[64][24];
  const char *names[128];
  size_t n = 0;
  for (size_t k = 0; k < cl_command_count && k < 64; k++) {
    const char *name = cl_commands[k].name;
    snprintf(first[k], sizeof first[k], "%.*s", (int)strcspn(name, " "), name);
    names[n++] = name;
    names[n++] = first[k];
  }
  return glen_nearest(word, names, n);
}

static int
unknown_command(const char *word) {
  char what[240];
  const char *near = nearest_command(word);
  const char *other = cl_other_command(word);
  if (other) {
    snprintf(what, sizeof what, "unknown command %.60s: %s", word, other);
    return fail_usage(NULL, what, NULL);
  }
  snprintf(what, sizeof what, "unknown command %.60s; did you mean %s?", word,
           near ? near : "");
  return near ? fail_usage(NULL, what, NULL)
              : fail_usage(NULL, "unknown command", word);
}

/* What a value of the option looks like, where its argument does not tell. */
static const char *
form_of(const cl_row *r) {
  return r->kind == BYTES     ? " (a number, perhaps with K, M, G or T)"
         : r->kind == COUNT   ? " (a whole number)"
         : r->kind == FROM_1  ? " (a whole number from 1)"
         : r->kind == SECONDS ? " (a number from 0)"
         : r->kind == UP_TO   ? " (a whole number up to "
                              : "";
}

/* A value that the option would take, in place of one that it does not. */
static bool
value_meant(const cl_row *r, const char *value, char *meant, size_t size) {
  static cl_options tried;
  bool is_number = r->kind == COUNT || r->kind == FROM_1 || r->kind == UP_TO ||
                   r->kind == BYTES || r->kind == SECONDS;
  return is_number && cl_number_meant(r->kind, value, meant, size) &&
         set_value(&tried, r, meant);
}

static bool
refuse_value(cursor *c, const cl_row *r, const char *value) {
  char what[160], meant[40], all[300];
  bool bounded = r->kind == UP_TO;
  snprintf(what, sizeof what, "--%s=", r->name);
  if (!*value)
    return refuse(c, "a value is missing after", what);
  snprintf(what, sizeof what, "--%s takes %s%s%s%s%s, not", r->name,
           r->choices ? "one of: " : "", r->choices ? r->choices : r->argument,
           form_of(r), bounded ? r->preset : "", bounded ? ")" : "");
  if (!value_meant(r, value, meant, sizeof meant))
    return refuse(c, what, value);
  snprintf(all, sizeof all, "%s %.60s; did you mean %s?", what, value, meant);
  return refuse(c, all, NULL);
}

/* The name of a long option behind a single hyphen. */
static bool
one_hyphen(cursor *c, const char *text) {
  char what[160];
  snprintf(what, sizeof what, "unknown option %.60s; did you mean -%.*s?", text,
           (int)strcspn(text, "=") < 60 ? (int)strcspn(text, "=") : 60, text);
  return refuse(c, what, NULL);
}

static bool
take_option(cursor *c, cl_options *options) {
  const char *text = c->argv[c->at++], *value = NULL;
  int bit = cl_command_bit(c->command);
  const cl_row *r;
  if (text[1] == '-') {
    size_t n = strcspn(text + 2, "=");
    r = cl_find_row(text + 2, n, bit);
    if (text[2 + n] == '=')
      value = text + 2 + n + 1;
  } else {
    r = find_letter(text[1], bit);
    if (text[2])
      value = text + 2;
    if (value && cl_find_row(text + 1, strcspn(text + 1, "="), bit))
      return one_hyphen(c, text);
  }
  if (!r)
    return unknown_option(c, text);
  if (r->kind == FLAG && value)
    return refuse(c, "this option takes no value:", text);
  if (r->kind == MAYBE && !value) {
    set_alone(options, r);
    return true;
  }
  if (!cl_stands_alone(r) && !value) {
    if (c->at == c->argc)
      return refuse(c, "a value is missing after", text);
    value = c->argv[c->at++];
  }
  return set_value(options, r, value) || refuse_value(c, r, value);
}

/* A file of the kind that the command itself takes, behind a word that is no
 * such file. */
static bool
is_behind_word(const cursor *c, const cl_options *options, const char *text) {
  const char *dot = strrchr(text, '.');
  return dot && c->command && options->files.n == 1 &&
         strstr(c->command->operands, dot) &&
         !strchr(options->files.items[0], '.');
}

/* A number behind `--size n`, which is one word here: --size n=4. */
static const cl_row *
row_of_name_before(const cursor *c) {
  const char *option = c->at > 2 ? c->argv[c->at - 3] : "";
  if (strncmp(option, "--", 2) || strchr(c->argv[c->at - 2], '='))
    return NULL;
  const cl_row *r =
      cl_find_row(option + 2, strlen(option + 2), cl_command_bit(c->command));
  return r && r->argument && strstr(r->argument, "NAME=") ? r : NULL;
}

/* A command, or the first word of one. */
static bool
is_command(const char *word) {
  size_t n = strlen(word);
  for (size_t i = 0; i < cl_command_count; i++)
    if (strcspn(cl_commands[i].name, " ") == n &&
        !memcmp(word, cl_commands[i].name, n))
      return true;
  return false;
}

static bool
refuse_operand(cursor *c, const cl_options *options, const char *text) {
  const char *option = cl_option_of_file(text),
             *what = "one argument too many:";
  char hint[120];
  const cl_row *named = row_of_name_before(c);
  if (!c->command && is_command(text)) {
    snprintf(hint, sizeof hint, "the command comes first: glen %.20s", text);
    return refuse(c, hint, "...");
  }
  if (named) {
    snprintf(hint, sizeof hint, "--%s %.40s=%.40s is one argument", named->name,
             c->argv[c->at - 2], text);
    return refuse_with(c, what, text, hint);
  }
  if (is_behind_word(c, options, text)) {
    snprintf(hint, sizeof hint, "glen %.20s %.60s is enough", c->command->name,
             text);
    return refuse_with(c, "one argument too many:", options->files.items[0],
                       hint);
  }
  if (!option ||
      !cl_find_row(option + 2, strlen(option + 2), cl_command_bit(c->command)))
    return refuse(c, what, text);
  snprintf(hint, sizeof hint, "one argument too many; use %s for", option);
  return refuse(c, hint, text);
}

static bool
take_operand(cursor *c, cl_options *options, const char *text) {
  uint32_t most = c->command ? c->command->max_operands : 0;
  if (options->files.n >= most)
    return refuse_operand(c, options, text);
  options->files.items[options->files.n++] = text;
  return true;
}

/* The command that argv[1] (and argv[2]) name; *used words. */
static const cl_command *
find_command(int argc, char **argv, int *used) {
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name, *space = strchr(name, ' ');
    size_t n = space ? (size_t)(space - name) : strlen(name);
    if (argc < 2 || strlen(argv[1]) != n || memcmp(argv[1], name, n))
      continue;
    if (space && (argc < 3 || strcmp(argv[2], space + 1)))
      continue;
    *used = space ? 3 : 2;
    return &cl_commands[i];
  }
  return NULL;
}

static bool
parse_words(cursor *c, cl_options *options) {
  bool options_end = false;
  while (c->at < c->argc) {
    const char *text = c->argv[c->at];
    if (!options_end && !strcmp(text, "--")) {
      options_end = true;
      c->at++;
    } else if (!options_end && text[0] == '-' && text[1]) {
      if (!take_option(c, options))
        return false;
    } else {
      c->at++;
      if (!take_operand(c, options, text))
        return false;
    }
  }
  return true;
}

static bool
is_group(const char *word) {
  size_t n = strlen(word);
  for (size_t i = 0; i < cl_command_count; i++)
    if (strcspn(cl_commands[i].name, " ") == n && cl_commands[i].name[n] &&
        !memcmp(word, cl_commands[i].name, n))
      return true;
  return false;
}

static bool
asks_for_help(const char *word) {
  return !strcmp(word, "help") || !strcmp(word, "--help") ||
         !strcmp(word, "-h");
}

/* `glen help WORD...`, of a command, of a group of them, or of all. */
static int
help_about(int argc, char **argv) {
  int used;
  const cl_command *about = find_command(argc - 1, argv + 1, &used);
  if (!about && argc > 2 && !is_group(argv[2]))
    return unknown_command(argv[2]);
  if (about || argc < 3)
    cl_print_help(stdout, about);
  else
    cl_print_group(stdout, argv[2]);
  return 0;
}

/* The second word of a group is missing, or is none of its own. */
static int
answer_group(int argc, char **argv) {
  bool help = argc > 2 && asks_for_help(argv[2]);
  if (argc > 2 && !help)
    fprintf(stderr, "glen: %s has no command %s\n", argv[1], argv[2]);
  cl_print_group(help ? stdout : stderr, argv[1]);
  return help ? 0 : 2;
}

static int
answer_without_command(int argc, char **argv) {
  const char *word = argv[1], *dot = strrchr(word, '.');
  char what[160];
  if (asks_for_help(word))
    return help_about(argc, argv);
  if (is_group(word))
    return answer_group(argc, argv);
  if (!dot || (strcmp(dot, ".glen") && strcmp(dot, ".onnx")))
    return unknown_command(word);
  snprintf(what, sizeof what,
           "a command is missing before the program; did you mean glen run "
           "%.60s?",
           word);
  return fail_usage(NULL, what, NULL);
}

/* Who names one program to a command that compares two may want to know whether
 * that one is right. */
static int
too_few(const cl_command *command, uint32_t n) {
  char what[160];
  snprintf(what, sizeof what, "an argument is missing: %s%s", command->operands,
           n && command->min_operands == 2
               ? "; glen run --check compares the code of one program with "
                 "the interpreter"
               : "");
  return fail_usage(command, what, NULL);
}

const cl_command *
cl_parse(int argc, char **argv, cl_options *options, int *exit_code) {
  cursor c = {argc, 1, argv, NULL, 0};
  c.command = find_command(argc, argv, &c.at);
  set_presets(options, cl_command_bit(c.command));
  options->command = c.command;
  if (argc < 2) {
    cl_print_help(stderr, NULL);
    *exit_code = 2;
    return NULL;
  }
  if (!c.command && (argv[1][0] != '-' || asks_for_help(argv[1]))) {
    *exit_code = answer_without_command(argc, argv);
    return NULL;
  }
  if (!parse_words(&c, options)) {
    *exit_code = c.exit_code;
    return NULL;
  }
  if (options->help) {
    cl_print_help(stdout, c.command);
    *exit_code = 0;
    return NULL;
  }
  if (options->version || !c.command)
    return NULL;
  if (options->files.n < c.command->min_operands) {
    *exit_code = too_few(c.command, options->files.n);
    return NULL;
  }
  return c.command;
}
