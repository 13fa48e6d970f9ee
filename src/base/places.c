/* SPDX-License-Identifier: MIT */
/* places.c - where rule files and targets lie that come with glen.
 *
 * The folder of data is looked for beside the library or the program first, so
 * that an installation may be moved, and where it was configured to be last.
 * In a build folder a file tells where the sources are. */
#include "base/places.h"
#include "base/file.h"
#include "glen-features.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

enum { SIZE = PATH_MAX };

const bs_place bs_rules_place = {"rules", ".rules", true};
const bs_place bs_targets_place = {"targets", ".target", false};

__attribute__((format(printf, 3, 4))) static bool
join(char *out, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(out, size, format, args);
  va_end(args);
  return n >= 0 && (size_t)n < size;
}

static bool
is_there(const bs_place *kind, const char *path) {
  struct stat s;
  return !stat(path, &s) && (kind->folders || !S_ISDIR(s.st_mode));
}

/* ---- the folder of data ---- */

static bool
is_data(const char *folder) {
  char file[SIZE];
  return join(file, sizeof file, "%s/rules/default.rules", folder) &&
         !access(file, R_OK);
}

static bool
take_if_data(const char *folder, char *out, size_t size) {
  char real[SIZE];
  return is_data(folder) && realpath(folder, real) &&
         join(out, size, "%s", real);
}

/* The first line of a file in the build folder. */
static bool
read_line(const char *path, char *line, int size) {
  FILE *file = fopen(path, "r");
  bool ok = file && fgets(line, size, file);
  if (file)
    fclose(file);
  if (ok)
    line[strcspn(line, "\n")] = '\0';
  return ok;
}

/* What lies beside `object`, in a tree that is installed, in a package that
 * carries its own, or in a build folder. */
static bool
find_beside(const char *object, char *out, size_t size) {
  static const char *const places[] = {"../share/glen", "../../share/glen",
                                       "share/glen"};
  char real[SIZE], folder[SIZE], line[SIZE];
  if (!realpath(object, real) || !strrchr(real, '/'))
    return false;
  *strrchr(real, '/') = '\0';
  for (size_t k = 0; k < sizeof places / sizeof *places; k++)
    if (join(folder, sizeof folder, "%s/%s", real, places[k]) &&
        take_if_data(folder, out, size))
      return true;
  return join(folder, sizeof folder, "%s/../../glen-data-folder", real) &&
         read_line(folder, line, sizeof line) && take_if_data(line, out, size);
}

static bool
find_beside_program(char *out, size_t size) {
#ifdef __APPLE__
  char path[SIZE];
  uint32_t room = sizeof path;
  return !_NSGetExecutablePath(path, &room) && find_beside(path, out, size);
#else
  return find_beside("/proc/self/exe", out, size);
#endif
}

/* What this function stands in: the library, or a program.  A program may have
 * been found along PATH, and its name then says nothing. */
static bool
find_own(char *out, size_t size) {
  static const char here;
  Dl_info info;
  return (dladdr(&here, &info) && info.dli_fname &&
          strchr(info.dli_fname, '/') &&
          find_beside(info.dli_fname, out, size)) ||
         find_beside_program(out, size);
}

bool
bs_data_folder(char *path, size_t size) {
  return find_own(path, size) || take_if_data(GLEN_DATA_DIR, path, size);
}

/* ---- names ---- */

/* With its suffix or without, in the folder or in that of its kind. */
static bool
find_in(const char *folder, const bs_place *kind, const char *name, char *path,
        size_t size) {
  const char *const suffixes[] = {"", kind->suffix};
  for (size_t k = 0; k < 2; k++)
    if (join(path, size, "%s/%s%s", folder, name, suffixes[k]) &&
        is_there(kind, path))
      return true;
  for (size_t k = 0; k < 2; k++)
    if (join(path, size, "%s/%s/%s%s", folder, kind->folder, name,
             suffixes[k]) &&
        is_there(kind, path))
      return true;
  return false;
}

size_t
bs_next_place(const char **rest, const char **folder) {
  size_t n = 0;
  while (*rest && **rest && !n) {
    n = strcspn(*rest, ":");
    *folder = *rest;
    *rest += n + ((*rest)[n] == ':');
  }
  return n;
}

static bool
find_along(const char *folders, const bs_place *kind, const char *name,
           char *path, size_t size) {
  char folder[SIZE];
  const char *at;
  for (size_t n; (n = bs_next_place(&folders, &at));)
    if (join(folder, sizeof folder, "%.*s", (int)n, at) &&
        find_in(folder, kind, name, path, size))
      return true;
  return false;
}

/* Of a name that says where it is nothing else is meant. */
static bool
says_where(const char *name) {
  return name[0] == '/' || !strncmp(name, "./", 2) || !strncmp(name, "../", 3);
}

bool
bs_find_by_name(const bs_place *kind, const char *name, char *path,
                size_t size) {
  char data[SIZE];
  return find_along(getenv("GLEN_PATH"), kind, name, path, size) ||
         (bs_data_folder(data, sizeof data) &&
          find_in(data, kind, name, path, size));
}

bool
bs_find(const bs_place *kind, const char *name, char *path, size_t size) {
  if (!is_there(kind, name) && *name && !says_where(name) &&
      bs_find_by_name(kind, name, path, size))
    return true;
  return join(path, size, "%s", name) && is_there(kind, name);
}

const char *
bs_path_found(bs_arena *arena, const bs_place *kind, const char *name) {
  char path[SIZE];
  return bs_find(kind, name, path, sizeof path) ? bs_arena_strdup(arena, path)
                                                : name;
}

const char *
bs_path_included(bs_arena *arena, const bs_place *kind, const char *base,
                 const char *name) {
  char path[SIZE];
  const char *beside = bs_path_beside(arena, base, name);
  if (is_there(kind, beside) || !*name || says_where(name) ||
      !bs_find_by_name(kind, name, path, sizeof path))
    return beside;
  return bs_arena_strdup(arena, path);
}
