/* SPDX-License-Identifier: MIT */
/* within.c - files that another file names, held to that file's folder.
 *
 * The name comes from the other file's content, which may be hostile: it is
 * relative, has no step up, and what it leads to once links are followed lies
 * in the folder, too. */
#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool
steps_up(const char *name) {
  for (const char *at = name; at; at = strchr(at, '/')) {
    at += *at == '/';
    if (at[0] == '.' && at[1] == '.' && (at[2] == '/' || !at[2]))
      return true;
  }
  return false;
}

const char *
bs_why_not_within(const char *name) {
  if (!*name)
    return "the name of the file is empty";
  if (*name == '/')
    return "the name of the file is absolute";
  if (steps_up(name))
    return "the name of the file leaves the folder by `..`";
  for (const char *c = name; *c; c++)
    if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\' || *c == 127)
      return "the name of the file has a character that is not allowed";
  return NULL;
}

/* The folder of a path, resolved; it ends with a slash. */
static bool
folder_of(const char *base, char *out) {
  char folder[PATH_MAX];
  const char *slash = strrchr(base, '/');
  size_t n = slash ? (size_t)(slash - base) + 1 : 0;
  if (n >= sizeof folder)
    return false;
  memcpy(folder, base, n);
  folder[n] = 0;
  if (!realpath(n ? folder : ".", out))
    return false;
  n = strlen(out);
  if (n + 1 >= PATH_MAX)
    return false;
  if (out[n - 1] != '/')
    memcpy(out + n, "/", 2);
  return true;
}

int
bs_open_within(const char *base, const char *name, const char **why) {
  char folder[PATH_MAX], joined[PATH_MAX], real[PATH_MAX];
  if ((*why = bs_why_not_within(name)))
    return -1;
  *why = "its folder cannot be found";
  if (!folder_of(base, folder))
    return -1;
  size_t n = strlen(folder), more = strlen(name);
  *why = "the path is too long";
  if (n + more >= sizeof joined)
    return -1;
  memcpy(joined, folder, n);
  memcpy(joined + n, name, more + 1);
  if (!realpath(joined, real)) {
    *why = strerror(errno);
    return -1;
  }
  *why = "a link leads out of the folder";
  if (strncmp(real, folder, n) != 0)
    return -1;
  return bs_open_input(real, why);
}
