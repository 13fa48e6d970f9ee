/* SPDX-License-Identifier: MIT */
/* help.c - the overview, and a command explained with its options. */
#include "cli/options_table.h"

#include <string.h>

static void
print_wrapped(FILE *out, const char *text, int column, int at) {
  while (*text) {
    int n = (int)strcspn(text, " ");
    if (at + n > 79) {
      fprintf(out, "\n%*s", column, "");
      at = column;
    }
    fprintf(out, "%.*s", n, text);
    at += n;
    text += n;
    if (*text == ' ') {
      text++;
      if (*text) {
        fputc(' ', out);
        at++;
      }
    }
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

static void
print_overview(FILE *out) {
  fputs("glen - equality saturation for tensor kernels\n\n"
        "usage: glen COMMAND [OPTION...] FILE...\n\n",
        out);
  for (size_t i = 0; i < cl_command_count; i++)
    fprintf(out, "  %-12s %s\n", cl_commands[i].name, cl_commands[i].summary);
  fputs("\n  glen COMMAND --help        explains a command, with examples\n"
        "  glen --version --verbose   features and libraries\n\n"
        "first steps:\n"
        "  glen saturate examples/conv.glen\n"
        "  glen compile examples/conv.glen -o conv.c\n"
        "  glen run examples/matmul.glen --check\n\n"
        "exit codes: 0 done; 1 the input is wrong; 2 usage; 3 a limit was hit "
        "under\n--require-saturation; 4 mismatch or unsound rule; 70 "
        "internal\n",
        out);
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
  fputs("options (with [defaults]):\n", out);
  for (size_t i = 0; i < cl_row_count; i++)
    if (cl_rows[i].commands & cl_command_bit(command))
      print_option(out, &cl_rows[i]);
}
