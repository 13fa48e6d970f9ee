/* SPDX-License-Identifier: MIT */
/* help.c - the overview, and a command explained with its options. */
#include "cli/options_table.h"

#include <string.h>

static void
print_wrapped(FILE *out, const char *text, int column, int at) {
  bool first = true;
  while (*text) {
    int n = (int)strcspn(text, " ");
    bool fits = first || at + 1 + n <= 79;
    if (!fits)
      fprintf(out, "\n%*s", column, "");
    at = fits ? at + !first : column;
    fprintf(out, "%s%.*s", fits && !first ? " " : "", n, text);
    at += n;
    text += n + strspn(text + n, " ");
    first = false;
  }
  fputc('\n', out);
}

static void
print_option(FILE *out, const cl_row *r) {
  enum { COLUMN = 30 };
  char head[80], text[400];
  int n = snprintf(head, sizeof head, "  %c%c%s --%s%s%s%s",
                   r->letter ? '-' : ' ', r->letter ? r->letter : ' ',
                   r->letter ? "," : " ", r->name, cl_before_argument(r),
                   r->argument ? r->argument : "", r->kind == MAYBE ? "]" : "");
  snprintf(text, sizeof text, "%s%s%s%s%s%s%s", r->help, r->choices ? " (" : "",
           r->choices ? r->choices : "", r->choices ? ")" : "",
           r->preset ? " [" : "", r->preset ? r->preset : "",
           r->preset ? "]" : "");
  fputs(head, out);
  if (n >= COLUMN)
    fprintf(out, "\n%*s", COLUMN, "");
  else
    fprintf(out, "%*s", COLUMN - n, "");
  print_wrapped(out, text, COLUMN, COLUMN);
}

/* ---- commands by topic ---- */

enum {
  PROGRAM_TOPIC = SATURATE | EXPLAIN | MAP | CHECK | FMT,
  CODE_TOPIC = COMPILE | RUN | SCHEDULE | LAYOUT | TILING,
  RULES_TOPIC =
      RULES_TEST | RULES_CHECK | RULES_PROVE | RULES_FMT | RULES_ABLATE,
  MACHINES_TOPIC = TARGET | TARGET_TEST | SIMULATE,
  OTHERS_TOPIC = IMPORT | EXTRACT | LSP | COMPLETIONS
};

_Static_assert((PROGRAM_TOPIC | CODE_TOPIC | RULES_TOPIC | MACHINES_TOPIC |
                OTHERS_TOPIC) == (LAST << 1) - 1,
               "each command stands below a topic");

static const struct {
  const char *title;
  int commands;
} topics[] = {
    {"a program", PROGRAM_TOPIC},
    {"its code", CODE_TOPIC},
    {"rules", RULES_TOPIC},
    {"machines", MACHINES_TOPIC},
    {"other formats, other programs", OTHERS_TOPIC},
};

static void
print_commands(FILE *out, int commands) {
  enum { COLUMN = 16 };
  for (size_t i = 0; i < cl_command_count; i++)
    if (commands & (1 << i)) {
      fprintf(out, "  %-*s", COLUMN - 2, cl_commands[i].name);
      print_wrapped(out, cl_commands[i].summary, COLUMN, COLUMN);
    }
}

static void
print_overview(FILE *out) {
  fputs("glen - equality saturation for tensor kernels\n\n"
        "usage: glen COMMAND [OPTION...] FILE...\n",
        out);
  for (size_t k = 0; k < sizeof topics / sizeof *topics; k++) {
    fprintf(out, "\n%s:\n", topics[k].title);
    print_commands(out, topics[k].commands);
  }
  fputs("\n  glen COMMAND --help        explains a command, with examples\n"
        "  glen --version --verbose   features and libraries\n\n"
        "first steps:\n"
        "  glen saturate examples/conv.glen\n"
        "  glen compile examples/conv.glen -o conv.c\n"
        "  glen run examples/matmul.glen --check\n\n"
        "exit codes:\n"
        "  0   done\n"
        "  1   the input is wrong\n"
        "  2   the command line is wrong\n"
        "  3   a limit was hit, or a requested proof or mapping failed\n"
        "  4   a mismatch, or an unsound rule\n"
        "  70  an internal error\n",
        out);
}

void
cl_print_group(FILE *out, const char *word) {
  size_t n = strlen(word);
  int commands = 0;
  for (size_t i = 0; i < cl_command_count; i++)
    if (strcspn(cl_commands[i].name, " ") == n &&
        !memcmp(cl_commands[i].name, word, n))
      commands |= 1 << i;
  fprintf(out, "usage: glen %s COMMAND [OPTION...] FILE...\n\n", word);
  print_commands(out, commands);
  fprintf(out, "\n  glen %s COMMAND --help   explains a command\n", word);
}

/* ---- options by topic ---- */

/* A topic has the options that it names; the last one all that are left. */
static const struct {
  const char *title, *options; /* between spaces */
} subjects[] = {
    {"rules", " rules param disable-rule strategy scheduler "},
    {"the machine", " target "},
    {"limits", " iter-limit node-limit time-limit memory-limit work-limit "
               "match-limit rule-limit require-saturation max-steps "},
    {"what is chosen",
     " extractor extract-time regions verify require why-not "},
    {"code", " name emit strict-fp prepack weights dispatch dim size keys "
             "omp-threads "},
    {"loops", " sched schedule fuse tile recompute layout layout-cost "
              "keep-order widths choose "
              "dry-run explain "},
    {"measuring",
     " tune tune-file tune-rounds tune-time repeat profile flame cc cc-flag "
     "sanitize keep no-native "},
    {"inputs and comparisons", " input seed samples shapes random tolerance "
                               "check interpret "},
    {"outputs", " output json print stats timings dump-phases all trace expand "
                "list list-operators "},
    {"build systems", " depfile depfile-format stamp touch "},
    {"other", NULL},
};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static size_t
subject_of(const cl_row *r) {
  for (size_t k = 0; k + 1 < SUBJECTS; k++)
    if (cl_is_choice(subjects[k].options, r->name))
      return k;
  return SUBJECTS - 1;
}

static void
print_options(FILE *out, const cl_command *command) {
  fputs("options (with [defaults]):\n", out);
  for (size_t k = 0; k < SUBJECTS; k++) {
    bool any = false;
    for (size_t i = 0; i < cl_row_count; i++) {
      const cl_row *r = &cl_rows[i];
      if (!(r->commands & cl_command_bit(command)) || subject_of(r) != k)
        continue;
      if (!any)
        fprintf(out, "\n%s:\n", subjects[k].title);
      any = true;
      print_option(out, r);
    }
  }
}

void
cl_print_help(FILE *out, const cl_command *command) {
  if (!command) {
    print_overview(out);
    return;
  }
  fprintf(out, "glen %s - %s\n\nusage: glen %s [OPTION...]%s%s\n\n%s\n",
          command->name, command->summary, command->name,
          *command->operands ? " " : "", command->operands, command->teach);
  print_options(out, command);
}
