/* SPDX-License-Identifier: MIT */
/* generated.c - the completions of shells, made from the table of options. */
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

/* The words that may stand behind an option, where they can be told: those of
 * targets are asked for when they are wanted. */
static const char *
values_of(const cl_row *r) {
  if (!strcmp(r->name, "target"))
    return "native $(glen completions targets)";
  if (!strcmp(r->name, "rules"))
    return "none $(glen completions rules)";
  return r->kind == MAYBE ? NULL : r->choices;
}

static void
put_bash_values(FILE *out, int bits) {
  for (size_t i = 0; i < cl_row_count; i++) {
    const cl_row *r = &cl_rows[i];
    if (!(r->commands & bits) || cl_stands_alone(r))
      continue;
    fprintf(out, "    --%s", r->name);
    if (r->letter)
      fprintf(out, "|-%c", r->letter);
    fprintf(out, ") words=\"%s\" options= ;;\n",
            values_of(r) ? values_of(r) : "");
  }
}

/* A command of two words is told by both. */
static void
put_bash_command(FILE *out, size_t i) {
  fprintf(out, "  '%s') options=\"", cl_commands[i].name);
  put_names(out, 1 << i, " ");
  fputs("\"\n    case \"$prev\" in\n", out);
  put_bash_values(out, 1 << i);
  fputs("    esac ;;\n", out);
}

static void
put_bash_words(FILE *out, size_t first) {
  for (size_t i = first; i < cl_command_count; i++)
    if (group_start(i) == first && strchr(cl_commands[i].name, ' '))
      fprintf(out, " %s", strchr(cl_commands[i].name, ' ') + 1);
}

static void
put_bash_groups(FILE *out) {
  fputs("  [ \"$COMP_CWORD\" = 2 ] && case \"$command\" in\n", out);
  for (size_t i = 0; i < cl_command_count; i++)
    if (starts_group(i) && strchr(cl_commands[i].name, ' ')) {
      fprintf(out, "  %.*s) words=\"", (int)strcspn(cl_commands[i].name, " "),
              cl_commands[i].name);
      put_bash_words(out, i);
      fputs("\" ;;\n", out);
    }
  fputs("  esac\n", out);
}

static void
put_first_words(FILE *out) {
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name;
    if (starts_group(i))
      fprintf(out, " %.*s", (int)strcspn(name, " "), name);
  }
}

static void
print_bash(FILE *out) {
  fputs("_glen() {\n"
        "  local words= options= command=${COMP_WORDS[1]}\n"
        "  local now=${COMP_WORDS[COMP_CWORD]}\n"
        "  local prev=${COMP_WORDS[COMP_CWORD-1]}\n"
        "  [ \"$now\" = = ] && now=\n"
        "  [ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}\n",
        out);
  put_bash_groups(out);
  fputs("  case \"$command ${COMP_WORDS[2]}\" in\n", out);
  for (size_t i = 0; i < cl_command_count; i++)
    if (strchr(cl_commands[i].name, ' '))
      fprintf(out, "  '%s') command='%s' ;;\n", cl_commands[i].name,
              cl_commands[i].name);
  fputs("  esac\n  case \"$command\" in\n", out);
  for (size_t i = 0; i < cl_command_count; i++)
    put_bash_command(out, i);
  fputs("  esac\n  if [ \"$COMP_CWORD\" = 1 ]; then words=\"", out);
  put_first_words(out);
  fputs("\"; fi\n  case \"$now\" in -*) words=$options ;; esac\n"
        "  COMPREPLY=($(compgen -f -W \"$words\" -- \"$now\"))\n}\n"
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
put_fish_option(FILE *out, const cl_row *r, int n, const char *command) {
  const char *values = values_of(r);
  fprintf(out, "complete -c glen -n '__fish_seen_subcommand_from %.*s' -l %s",
          n, command, r->name);
  if (r->letter)
    fprintf(out, " -s %c", r->letter);
  if (!cl_stands_alone(r))
    fputs(" -r", out);
  if (values && !cl_stands_alone(r))
    fprintf(out, " -a '%s'", values);
  fputc('\n', out);
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
        put_fish_option(out, &cl_rows[k], n, name);
  }
}

bool
cl_print_generated(FILE *out, const char *shell) {
  static const struct {
    const char *name;
    void (*print)(FILE *);
  } forms[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (!strcmp(shell, forms[i].name)) {
      forms[i].print(out);
      return true;
    }
  return false;
}
