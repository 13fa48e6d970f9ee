/* SPDX-License-Identifier: MIT */
/* completions.c - `glen completions`: what shells complete, the names of what
 * comes with glen, and manual pages. */
#include "cli/commands.h"
#include "cli/session.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, MOST_NAMES = 1000 };

/* ---- names ---- */

static int
by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

/* Names of the files in a folder of data, without their suffix. */
static bool
print_names(const char *folder, const char *suffix) {
  char data[PATH_SIZE], path[PATH_SIZE + 16];
  struct dirent **files;
  if (!glen_data_folder(data, sizeof data))
    return false;
  snprintf(path, sizeof path, "%s/%s", data, folder);
  int n = scandir(path, &files, NULL, by_name);
  for (int k = 0; k < n; k++) {
    const char *name = files[k]->d_name;
    size_t length = strlen(name), end = strlen(suffix);
    if (length > end && !strcmp(name + length - end, suffix))
      printf("%.*s\n", (int)(length - end), name);
    free(files[k]);
  }
  if (n >= 0)
    free(files);
  return n >= 0;
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
  if (words->n > 1)
    return false;
  if (!strcmp(what, "targets"))
    return print_names("targets", ".target");
  if (!strcmp(what, "rules"))
    return print_names("rules", ".rules");
  return cl_print_generated(stdout, what);
}

int
cl_completions(const cl_options *options) {
  if (print(&options->files))
    return GLEN_OK;
  fputs("glen: completions: one of bash, zsh, fish; man, with a command or "
        "without; targets, rules\n",
        stderr);
  return GLEN_USAGE;
}
