/* SPDX-License-Identifier: MIT */
/* completions.c - `glen completions`: functions of shells and what they ask
 * for, the names of what comes with glen, and manual pages. */
#include "cli/commands.h"
#include "cli/cli_complete.h"
#include "cli/cli_session.h"
#include "cli/cli_values.h"

#include <string.h>

static void
print_name(void *arg, const char *name) {
  (void)arg;
  puts(name);
}

/* ---- pages ---- */

/* The name of a command may have two words. */
static bool
print_page(const cl_list *words) {
  char name[80] = "";
  for (uint32_t k = 1; k < words->n; k++)
    snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s",
             k > 1 ? " " : "", words->items[k]);
  return cl_print_man(stdout, name);
}

static bool
print(const cl_list *words) {
  const char *what = words->items[0];
  if (!strcmp(what, "man"))
    return print_page(words);
  if (!strcmp(what, "words")) {
    cl_complete(stdout, words->items + 1, words->n - 1);
    return true;
  }
  if (words->n > 1)
    return false;
  if (!strcmp(what, "targets"))
    return cl_data_names("targets", ".target", print_name, NULL);
  if (!strcmp(what, "rules"))
    return cl_data_names("rules", ".rules", print_name, NULL);
  return cl_print_generated(stdout, what);
}

int
cl_completions(const cl_options *options) {
  if (print(&options->files))
    return GLEN_OK;
  fputs("glen: completions needs one of bash, zsh, fish, targets, rules, man "
        "(which may be followed by a command) and words (followed by those of "
        "a command line)\n",
        stderr);
  return GLEN_USAGE;
}
