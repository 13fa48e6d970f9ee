/* SPDX-License-Identifier: MIT */
/* man.c - a manual page a command, and one of all, made from the tables of
 * commands and options. */
#include "cli/options_table.h"
#include "glen/version.h"

#include <string.h>

static void
put_roff(FILE *out, const char *text) {
  for (bool start = true; *text; start = *text++ == '\n') {
    if (start && (*text == '.' || *text == '\''))
      fputs("\\&", out);
    if (*text == '\\')
      fputs("\\e", out);
    else if (*text == '-')
      fputs("\\-", out);
    else
      fputc(*text, out);
  }
}

/* The page of "rules test" is glen-rules-test. */
static void
put_page_name(FILE *out, const char *command) {
  fputs("glen\\-", out);
  for (; *command; command++)
    fputs(*command == ' ' ? "\\-" : (char[]){*command, 0}, out);
}

/* In capitals; the empty name: of the page of all. */
static void
put_title(FILE *out, const char *command) {
  fputs(*command ? ".TH \"GLEN-" : ".TH \"GLEN", out);
  for (const char *at = command; *at; at++)
    fputc(*at == ' ' ? '-' : *at - 'a' + 'A', out);
  fprintf(out, "\" 1 \"\" \"glen %s\" \"glen manual\"\n.SH NAME\n",
          GLEN_VERSION);
}

static void
put_option(FILE *out, const cl_row *r) {
  fputs(".TP\n.B ", out);
  if (r->letter)
    fprintf(out, "\\-%c, ", r->letter);
  fputs("\\-\\-", out);
  put_roff(out, r->name);
  put_roff(out, cl_before_argument(r));
  put_roff(out, r->argument ? r->argument : "");
  fputs(r->kind == MAYBE ? "]\n" : "\n", out);
  put_roff(out, r->help);
  if (r->choices)
    fprintf(out, " (%s: %s)", r->kind == WORDS ? "of" : "one of", r->choices);
  if (r->preset) {
    fputs(" [", out);
    put_roff(out, r->preset);
    fputs("]", out);
  }
  fputc('\n', out);
}

static void
put_exit_codes(FILE *out) {
  fputs(".SH EXIT STATUS\n"
        "0: done.  1: the input is wrong.  2: the command line is wrong.\n"
        "3: a limit was hit where that matters, or the result is not proved.\n"
        "4: a mismatch, or an unsound rule.  70: an internal error.\n",
        out);
}

static void
put_environment(FILE *out) {
  fputs(
      ".SH ENVIRONMENT\n"
      ".TP\n.B GLEN_PATH\n"
      "Folders, separated by colons, that are searched for rules and targets\n"
      "by name before those that come with glen.\n"
      ".TP\n.B GLEN_NO_NATIVE\n"
      "With any value but 0, no C compiler is called and no generated code\n"
      "is executed.\n"
      ".TP\n.B CC\nThe C compiler.\n"
      ".TP\n.B NO_COLOR, CLICOLOR_FORCE\nWhether the output is coloured.\n",
      out);
}

/* Indented lines are examples and stand as they are. */
static void
put_paragraphs(FILE *out, const char *text) {
  bool inside = false;
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    bool example = n > 1 && text[0] == ' ';
    if (example != inside)
      fputs(example ? ".PP\n.nf\n" : ".fi\n.PP\n", out);
    inside = example;
    char line[200];
    snprintf(line, sizeof line, "%.*s", (int)n, text);
    put_roff(out, line);
    fputc('\n', out);
  }
  if (inside)
    fputs(".fi\n", out);
}

static void
print_page(FILE *out, const cl_command *c) {
  put_title(out, c->name);
  put_page_name(out, c->name);
  fputs(" \\- ", out);
  put_roff(out, c->summary);
  fprintf(out, "\n.SH SYNOPSIS\n.B glen %s\n[OPTION...] ", c->name);
  put_roff(out, c->operands);
  fputs("\n.SH DESCRIPTION\n", out);
  put_paragraphs(out, c->teach);
  fputs(".SH OPTIONS\nDefaults are in brackets.\n", out);
  for (size_t i = 0; i < cl_row_count; i++)
    if (cl_rows[i].commands & cl_command_bit(c))
      put_option(out, &cl_rows[i]);
  put_exit_codes(out);
  fputs(".SH SEE ALSO\n.BR glen (1)\n", out);
}

static void
print_overview(FILE *out) {
  put_title(out, "");
  fputs("glen \\- equality saturation for tensor kernels\n.SH SYNOPSIS\n"
        ".B glen\nCOMMAND [OPTION...] FILE...\n.SH COMMANDS\n",
        out);
  for (size_t i = 0; i < cl_command_count; i++) {
    fputs(".TP\n.BR ", out);
    put_page_name(out, cl_commands[i].name);
    fputs(" (1)\n", out);
    put_roff(out, cl_commands[i].summary);
    fputc('\n', out);
  }
  put_environment(out);
  put_exit_codes(out);
  fputs(".SH SEE ALSO\n.BR glen\\-check\\-proof (1)\n", out);
}

bool
cl_print_man(FILE *out, const char *name) {
  if (!*name) {
    print_overview(out);
    return true;
  }
  for (size_t i = 0; i < cl_command_count; i++)
    if (!strcmp(cl_commands[i].name, name)) {
      print_page(out, &cl_commands[i]);
      return true;
    }
  return false;
}
