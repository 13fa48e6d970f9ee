/* SPDX-License-Identifier: MIT */
/* generated.c - the man page and the completions of shells, made from the table
 * of options. */
#include "cli/options_table.h"

#include <string.h>

static void
put_names(FILE *out, int bits, const char *prefix) {
  for (size_t i = 0; i < cl_row_count; i++)
    if ((cl_rows[i].commands & bits) &&
        cl_find_row(cl_rows[i].name, strlen(cl_rows[i].name), bits) ==
            &cl_rows[i])
      fprintf(out, "%s--%s", prefix, cl_rows[i].name);
}

/* The first command of those that share the first word of command i. */
static size_t
group_start(size_t i) {
  const char *name = cl_commands[i].name;
  size_t n = strcspn(name, " ");
  for (size_t k = 0; k < i; k++)
    if (strcspn(cl_commands[k].name, " ") == n &&
        !memcmp(cl_commands[k].name, name, n))
      return k;
  return i;
}

static bool
starts_group(size_t i) {
  return group_start(i) == i;
}

/* The second words of a group, then the options of all its commands. */
static void
put_group(FILE *out, size_t first) {
  int bits = 0;
  for (size_t i = first; i < cl_command_count; i++) {
    const char *second = strchr(cl_commands[i].name, ' ');
    if (group_start(i) != first)
      continue;
    if (second)
      fprintf(out, " %s", second + 1);
    bits |= 1 << i;
  }
  put_names(out, bits, " ");
}

static void
print_bash(FILE *out) {
  fputs("_glen() {\n  local words=\n  case \"${COMP_WORDS[1]}\" in\n", out);
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name;
    if (!starts_group(i))
      continue;
    fprintf(out, "  %.*s) words=\"", (int)strcspn(name, " "), name);
    put_group(out, i);
    fputs("\" ;;\n", out);
  }
  fputs("  esac\n  if [ \"$COMP_CWORD\" = 1 ]; then words=\"", out);
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name;
    if (starts_group(i))
      fprintf(out, " %.*s", (int)strcspn(name, " "), name);
  }
  fputs("\"; fi\n  COMPREPLY=($(compgen -f -W \"$words\" -- "
        "\"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"
        "complete -o filenames -F _glen glen\n",
        out);
}

static void
print_zsh(FILE *out) {
  fputs("#compdef glen\n_glen() {\n  local -a words\n  if (( CURRENT == 2 )); "
        "then\n    words=(",
        out);
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name;
    if (starts_group(i))
      fprintf(out, " '%.*s:%s'", (int)strcspn(name, " "), name,
              cl_commands[i].summary);
  }
  fputs(" )\n    _describe command words\n    return\n  fi\n  case "
        "$words[2] in\n",
        out);
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name;
    if (!starts_group(i))
      continue;
    fprintf(out, "  %.*s) compadd --", (int)strcspn(name, " "), name);
    put_group(out, i);
    fputs(" ;;\n", out);
  }
  fputs("  esac\n  _files\n}\n_glen \"$@\"\n", out);
}

static void
print_fish(FILE *out) {
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name;
    int n = (int)strcspn(name, " ");
    if (starts_group(i))
      fprintf(out,
              "complete -c glen -n __fish_use_subcommand -a %.*s -d '%s'\n", n,
              name, cl_commands[i].summary);
    if (name[n])
      fprintf(out,
              "complete -c glen -n '__fish_seen_subcommand_from %.*s' -a %s "
              "-d '%s'\n",
              n, name, name + n + 1, cl_commands[i].summary);
    for (size_t k = 0; k < cl_row_count; k++)
      if (cl_rows[k].commands & (1 << i))
        fprintf(out,
                "complete -c glen -n '__fish_seen_subcommand_from %.*s' -l %s "
                "%s\n",
                n, name, cl_rows[k].name,
                cl_stands_alone(&cl_rows[k]) ? "" : "-r");
  }
}

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

static void
print_man(FILE *out) {
  fputs(".TH GLEN 1\n.SH NAME\nglen \\- equality saturation for tensor "
        "kernels\n.SH SYNOPSIS\n.B glen\nCOMMAND [OPTION...] FILE...\n"
        ".SH COMMANDS\n",
        out);
  for (size_t i = 0; i < cl_command_count; i++) {
    const cl_command *c = &cl_commands[i];
    fprintf(out, ".SS glen %s %s\n", c->name, c->operands);
    fputs(".nf\n", out);
    put_roff(out, c->teach);
    fputs(".fi\nOptions:", out);
    put_names(out, 1 << i, " ");
    fputs("\n", out);
  }
  fputs(".SH OPTIONS\n", out);
  for (size_t i = 0; i < cl_row_count; i++) {
    fprintf(out, ".TP\n.B \\-\\-%s%s%s%s\n", cl_rows[i].name,
            cl_before_argument(&cl_rows[i]),
            cl_rows[i].argument ? cl_rows[i].argument : "",
            cl_rows[i].kind == MAYBE ? "]" : "");
    put_roff(out, cl_rows[i].help);
    if (cl_rows[i].preset)
      fprintf(out, " [%s]", cl_rows[i].preset);
    fputc('\n', out);
  }
}

bool
cl_print_generated(FILE *out, const char *what) {
  static const struct {
    const char *name;
    void (*print)(FILE *);
  } forms[] = {{"bash", print_bash},
               {"zsh", print_zsh},
               {"fish", print_fish},
               {"man", print_man}};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (!strcmp(what, forms[i].name)) {
      forms[i].print(out);
      return true;
    }
  return false;
}
