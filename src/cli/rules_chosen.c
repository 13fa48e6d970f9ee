/* SPDX-License-Identifier: MIT */
/* rules_chosen.c - the rules that a command runs with: those of --rules, none,
 * or those that come with glen.
 *
 * Commands that are about rewriting always have some.  Where C is made of a
 * program, rules that nobody asked for would cost time and change what was
 * written, so that it is rewritten only where there is something to map it to,
 * or where the e-graph is to be shown. */
#include "cli/options_table.h"
#include "cli/cli_session.h"

#include <stdio.h>
#include <string.h>

/* Commands that rewrite a program only where there are rules. */
enum { REWRITES = COMPILE | RUN | SIMULATE };

static bool
says_none(const cl_list *rules) {
  for (uint32_t k = 0; k < rules->n; k++)
    if (!strcmp(rules->items[k], "none"))
      return true;
  return false;
}

bool
cl_without_rules(const cl_options *o) {
  return says_none(&o->rules);
}

/* An option that says how rules run, which is given; NULL: none. */
static const char *
word_on_rules(const cl_options *o) {
  return o->params.n     ? "--param"
         : o->disabled.n ? "--disable-rule"
         : o->strategy   ? "--strategy"
                         : NULL;
}

int
cl_refuse_rules(const cl_command *command, const cl_options *o) {
  const char *word = word_on_rules(o);
  (void)command;
  if (cl_without_rules(o) && o->rules.n > 1) {
    fputs(
        "glen: --rules none cannot be combined with other rules (write ./none "
        "for a file of that name)\n",
        stderr);
    return GLEN_USAGE;
  }
  if (!word || !(cl_command_bit(o->command) & REWRITES))
    return GLEN_OK;
  if (cl_is_loops(o->files.items[0])) {
    fprintf(stderr, "glen: %s needs a program of terms\n", word);
    return GLEN_USAGE;
  }
  if (!cl_without_rules(o))
    return GLEN_OK;
  fprintf(stderr, "glen: %s says how rules run, but --rules none runs none\n",
          word);
  return GLEN_USAGE;
}

bool
cl_refuse_idle_rules(cl_session *session) {
  const char *word = word_on_rules(session->options);
  if (!word)
    return false;
  fprintf(stderr,
          "glen: %s says how rules run, but none run: the target has no "
          "instructions\n"
          "hint: --rules PATH gives rules, and --rules default those that come "
          "with glen\n",
          word);
  session->refused = GLEN_USAGE;
  return true;
}

static bool
is_about_rules(const cl_options *o) {
  enum { ALWAYS = SATURATE | EXPLAIN | MAP | RULES_ABLATE };
  return cl_command_bit(o->command) & ALWAYS;
}

static bool
is_by_default(const cl_options *o, const glen_target *target) {
  return is_about_rules(o) ||
         ((cl_command_bit(o->command) & REWRITES) &&
          (glen_target_is_mapped_to(target) || cl_emits_egraph(o)));
}

/* Without rules, what is about them still has those of the instructions. */
bool
cl_uses_rules(const cl_options *o, const glen_target *target) {
  if (is_about_rules(o))
    return true;
  return o->rules.n ? !cl_without_rules(o) : is_by_default(o, target);
}

glen_rules *
cl_rules(cl_session *session, const glen_target *target) {
  const cl_options *o = session->options;
  const char *const *names = o->rules.items;
  uint32_t n = cl_without_rules(o) ? 0 : o->rules.n;
  char path[4096];
  const char *shipped = path;
  if (!o->rules.n && is_by_default(o, target)) {
    if (!glen_find(GLEN_DATA_RULES, NULL, path, sizeof path)) {
      fputs("glen: the rules that come with glen were not found; add --rules "
            "PATH, or add the folder that contains `rules` to GLEN_PATH\n",
            stderr);
      return NULL;
    }
    names = &shipped;
    n = 1;
  }
  return glen_rules_load(session->glen, target, names, n, o->params.items,
                         o->params.n);
}
