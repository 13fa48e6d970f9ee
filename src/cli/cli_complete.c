/* SPDX-License-Identifier: MIT */
/* cli_complete.c - what may stand in place of the last word of a command line,
 * for the functions of shells (generated.c).
 *
 * A line a candidate, with a tab and what it is where that can be told; at the
 * end `:files .glen .onnx` where files with these ends are wanted (none: any),
 * and `:folders`.  Words that a shell cuts at `=` may come in three. */
#include "cli/cli_complete.h"
#include "cli/options_table.h"
#include "cli/cli_values.h"

#include <string.h>

typedef struct line {
  const char *const *words;
  uint32_t n;
  const cl_command *command;
  uint32_t first; /* the first word behind the command's */
  cl_offer offer;
} line;

/* ---- offers ---- */

/* The length of a summary: up to what goes into detail. */
static int
summary_of(const char *what) {
  size_t n = strcspn(what, ";:(\n");
  while (n && what[n - 1] == ' ')
    n--;
  return (int)n;
}

void
cl_offer_word(cl_offer *o, const char *word, const char *what) {
  size_t n = strlen(o->typed);
  if (strncmp(word, o->typed, n))
    return;
  fprintf(o->out, "%s%s%s", o->before, word, o->behind);
  if (what && *what)
    fprintf(o->out, "\t%.*s", summary_of(what), what);
  fputc('\n', o->out);
}

/* Words between spaces. */
static void
offer_choices(cl_offer *o, const char *choices) {
  char word[80];
  for (size_t n; *choices; choices += n + (choices[n] == ' ')) {
    n = strcspn(choices, " ");
    snprintf(word, sizeof word, "%.*s", (int)n, choices);
    cl_offer_word(o, word, NULL);
  }
}

/* One more word of a list that commas divide. */
static void
offer_more(cl_offer *o, const char *choices) {
  char before[256];
  const char *comma = strrchr(o->typed, ',');
  size_t n = comma ? (size_t)(comma + 1 - o->typed) : 0;
  cl_offer more = *o;
  snprintf(before, sizeof before, "%s%.*s", o->before, (int)n, o->typed);
  more.before = before;
  more.typed = o->typed + n;
  offer_choices(&more, choices);
}

static void
want_files(const cl_offer *o, const char *suffixes) {
  fprintf(o->out, ":files%s%s\n", *suffixes ? " " : "", suffixes);
}

/* ---- options ---- */

static const cl_row *
row_of(const line *l, const char *word) {
  int bit = cl_command_bit(l->command);
  if (word[0] != '-' || !word[1])
    return NULL;
  if (word[1] == '-')
    return cl_find_row(word + 2, strcspn(word + 2, "="), bit);
  for (size_t i = 0; i < cl_row_count; i++)
    if ((cl_rows[i].commands & bit) && cl_rows[i].letter == word[1] && !word[2])
      return &cl_rows[i];
  return NULL;
}

/* What was said of an option before the last word, or NULL. */
const char *
cl_said(const cl_words *w, const char *name, char letter) {
  const char *found = NULL;
  size_t n = strlen(name);
  for (uint32_t k = 0; k + 1 < w->n; k++) {
    const char *word = w->words[k];
    bool plain = !strncmp(word, "--", 2) && !strncmp(word + 2, name, n);
    uint32_t next = k + 1 + (k + 2 < w->n && !strcmp(w->words[k + 1], "="));
    if (plain && word[2 + n] == '=')
      found = word + 3 + n;
    else if (((plain && !word[2 + n]) ||
              (letter && word[0] == '-' && word[1] == letter && !word[2])) &&
             next + 1 < w->n)
      found = w->words[next];
  }
  return found;
}

static void
offer_options(line *l) {
  int bit = cl_command_bit(l->command);
  char name[80];
  for (size_t i = 0; i < cl_row_count; i++) {
    const cl_row *r = &cl_rows[i];
    if (!(r->commands & bit) || cl_find_row(r->name, strlen(r->name), bit) != r)
      continue;
    snprintf(name, sizeof name, "--%s", r->name);
    cl_offer_word(&l->offer, name, r->help);
  }
}

static void
offer_values(line *l, const cl_row *r) {
  const cl_words words = {l->words + l->first, l->n - l->first};
  const char *argument = r->argument ? r->argument : "";
  if (r->kind == WORDS)
    offer_more(&l->offer, r->choices);
  else if (r->choices)
    offer_choices(&l->offer, r->choices);
  else if (!cl_offer_names(&l->offer, l->command, r, &words) &&
           !strcmp(argument, "DIR"))
    fputs(":folders\n", l->offer.out);
  else if (!strncmp(argument, "FILE", 4) && !cl_has_names(r))
    want_files(&l->offer, strncmp(r->name, "sched", 5) ? "" : ".sched");
}

/* The option whose value the last word is, or NULL. */
static const cl_row *
row_wanted(line *l) {
  static char before[256];
  const char *last = l->offer.typed, *equals = strchr(last, '=');
  const char *prev = l->n > l->first + 1 ? l->words[l->n - 2] : "";
  const cl_row *r;
  if (last[0] == '-' && equals && equals > last + 1) {
    r = row_of(l, last);
    snprintf(before, sizeof before, "%.*s", (int)(equals + 1 - last), last);
    l->offer.before = before;
    l->offer.typed = equals + 1;
    return r && r->kind != FLAG ? r : NULL;
  }
  if (!strcmp(last, "=")) {
    l->offer.typed = "";
    r = row_of(l, prev);
    return r && r->kind != FLAG ? r : NULL;
  }
  if (!strcmp(prev, "=") && l->n > l->first + 2) {
    r = row_of(l, l->words[l->n - 3]);
    return r && r->kind != FLAG ? r : NULL;
  }
  r = row_of(l, prev);
  return r && !cl_stands_alone(r) ? r : NULL;
}

/* ---- commands ---- */

static void
offer_commands(cl_offer *o) {
  for (size_t i = 0; i < cl_command_count; i++) {
    const char *name = cl_commands[i].name;
    size_t n = strcspn(name, " ");
    bool again = false;
    for (size_t k = 0; k < i; k++)
      again |= !strncmp(cl_commands[k].name, name, n) &&
               strcspn(cl_commands[k].name, " ") == n;
    char word[80];
    snprintf(word, sizeof word, "%.*s", (int)n, name);
    if (!again)
      cl_offer_word(o, word, name[n] ? "" : cl_commands[i].summary);
  }
  cl_offer_word(o, "help", "explains a command");
}

static void
offer_second_words(cl_offer *o, const char *first) {
  size_t n = strlen(first);
  for (size_t i = 0; i < cl_command_count; i++)
    if (!strncmp(cl_commands[i].name, first, n) &&
        cl_commands[i].name[n] == ' ')
      cl_offer_word(o, cl_commands[i].name + n + 1, cl_commands[i].summary);
}

/* The command that the words name, of two words before one. */
static void
find_command(line *l) {
  char both[160];
  for (size_t i = 0; i < cl_command_count; i++)
    if (l->n > 1 && !strcmp(cl_commands[i].name, l->words[0])) {
      l->command = &cl_commands[i];
      l->first = 1;
    }
  snprintf(both, sizeof both, "%s %s", l->words[0],
           l->n > 1 ? l->words[1] : "");
  for (size_t i = 0; i < cl_command_count; i++)
    if (l->n > 2 && !strcmp(cl_commands[i].name, both)) {
      l->command = &cl_commands[i];
      l->first = 2;
    }
}

/* What the command works on, by how its usage names it. */
static void
offer_operands(line *l) {
  const char *operands = l->command->operands;
  static const struct {
    const char *operand, *suffixes;
  } kinds[] = {
      {"F.glen", ".glen .onnx"},
      {"A.glen", ".glen .onnx"},
      {"PROGRAM", ".glen .loops"},
      {"MODEL.onnx", ".onnx"},
      {"F.json", ".json"},
      {"PATH", ".glen .rules .target"},
      {"SHELL", NULL},
  };
  int bit = cl_command_bit(l->command);
  if (strstr(operands, "F.target"))
    cl_offer_shipped(&l->offer, "targets", ".target");
  if (bit & (RULES_TEST | RULES_CHECK | RULES_PROVE))
    cl_offer_shipped(&l->offer, "rules", ".rules");
  if (bit & (TARGET | TARGET_TEST | RULES_TEST | RULES_CHECK | RULES_PROVE))
    return;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (strstr(operands, kinds[k].operand)) {
      if (kinds[k].suffixes)
        want_files(&l->offer, kinds[k].suffixes);
      else
        offer_choices(&l->offer, "bash zsh fish man targets rules");
      return;
    }
}

void
cl_complete(FILE *out, const char *const *words, uint32_t n) {
  line l = {
      .words = words, .n = n, .offer = {out, n ? words[n - 1] : "", "", ""}};
  if (n <= 1 || (n == 2 && !strcmp(words[0], "help"))) {
    offer_commands(&l.offer);
    return;
  }
  find_command(&l);
  if (n == 2 || (n == 3 && !strcmp(words[0], "help")))
    offer_second_words(&l.offer, words[n - 2]);
  if (!l.command)
    return;
  const cl_row *r = row_wanted(&l);
  if (r)
    offer_values(&l, r);
  else if (l.offer.typed[0] == '-')
    offer_options(&l);
  else
    offer_operands(&l);
}
