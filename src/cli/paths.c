/* SPDX-License-Identifier: MIT */
/* paths.c - the paths of outputs that the command line does not name whole. */
#include "cli/cli_session.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const char *
cl_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

const char *
cl_suffix_of(const char *path) {
  const char *base = cl_base_name(path), *dot = strrchr(base, '.');
  return dot && dot != base ? dot : base + strlen(base);
}

static bool
names_stdout(const char *path) {
  static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1",
                                      "/proc/self/fd/1"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (!strcmp(path, names[k]))
      return true;
  return false;
}

/* A place of an open file, which may be one that has a name elsewhere. */
static bool
names_open_file(const char *path) {
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  if (names_stdout(path) || !strcmp(path, "/dev/stderr"))
    return true;
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
    if (!strncmp(path, folders[k], strlen(folders[k])))
      return true;
  return false;
}

bool
cl_on_stdout(const cl_options *o) {
  return !o->output || names_stdout(o->output);
}

bool
cl_to_stream(const cl_options *o) {
  struct stat status;
  const char *path = o->output;
  if (!path || names_open_file(path))
    return true;
  return !stat(path, &status) && !S_ISREG(status.st_mode) &&
         !S_ISDIR(status.st_mode);
}

bool
cl_beside_output(const cl_options *o, const char *suffix, char *path,
                 size_t size) {
  if (cl_to_stream(o))
    return false;
  int stem = (int)(cl_suffix_of(o->output) - o->output);
  int length = snprintf(path, size, "%.*s%s", stem, o->output, suffix);
  return length > 0 && (size_t)length < size;
}

/* MODEL.glen in the current folder, where no output is named. */
static bool
output_of(const cl_options *o, char *path, size_t size) {
  const char *base = cl_base_name(o->files.items[0]);
  int stem = (int)(cl_suffix_of(base) - base);
  int written = o->output ? snprintf(path, size, "%s", o->output)
                          : snprintf(path, size, "%.*s.glen", stem, base);
  return written > 0 && (size_t)written < size;
}

bool
cl_import_output(const cl_options *o, uint32_t k, char *path, size_t size) {
  if (o->list_operators || !o->files.n || k > 1 || !output_of(o, path, size))
    return false;
  char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  size_t n = dot ? (size_t)(dot - path) : strlen(path);
  if (k == 0)
    return true;
  return (size_t)snprintf(path + n, size - n, ".weights") < size - n;
}
