/* SPDX-License-Identifier: MIT */
/* locate.c - where a name of rules or of a target leads: as it is given, along
 * GLEN_PATH, in the folder of data.
 *
 * That folder is looked for beside the library or the program first, so that an
 * installation may be moved, and where it was configured to be last.  In a
 * build folder a file tells where the sources are. */
#include "api/api.h"
#include "api/locate.h"
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

static const struct kind {
  const char *folder, *suffix;
  bool folders; /* may it be a folder? */
} kinds[] = {
    [GLEN_DATA_RULES] = {"rules", ".rules", true},
    [GLEN_DATA_TARGET] = {"targets", ".target", false},
};

__attribute__((format(printf, 3, 4))) static bool
join(char *out, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(out, size, format, args);
  va_end(args);
  return n >= 0 && (size_t)n < size;
}

static bool
is_there(const struct kind *kind, const char *path) {
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
glen_data_folder(char *path, size_t size) {
  return find_own(path, size) || take_if_data(GLEN_DATA_DIR, path, size);
}

/* ---- names ---- */

/* With its suffix or without, in the folder or in that of its kind. */
static bool
find_in(const char *folder, const struct kind *kind, const char *name,
        char *path, size_t size) {
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

static bool
find_along(const char *folders, const struct kind *kind, const char *name,
           char *path, size_t size) {
  char folder[SIZE];
  for (size_t n; folders && *folders; folders += n + (folders[n] == ':')) {
    n = strcspn(folders, ":");
    if (n && join(folder, sizeof folder, "%.*s", (int)n, folders) &&
        find_in(folder, kind, name, path, size))
      return true;
  }
  return false;
}

/* Of a name that says where it is nothing else is meant. */
static bool
is_place(const char *name) {
  return name[0] == '/' || !strncmp(name, "./", 2) || !strncmp(name, "../", 3);
}

static bool
find_by_name(const struct kind *kind, const char *name, char *path,
             size_t size) {
  char data[SIZE];
  return find_along(getenv("GLEN_PATH"), kind, name, path, size) ||
         (glen_data_folder(data, sizeof data) &&
          find_in(data, kind, name, path, size));
}

bool
glen_find(glen_data what, const char *name, char *path, size_t size) {
  const struct kind *kind = &kinds[what];
  if (!name)
    return find_by_name(kind, kind->folder, path, size);
  if (!is_there(kind, name) && *name && !is_place(name) &&
      find_by_name(kind, name, path, size))
    return true;
  return join(path, size, "%s", name) && is_there(kind, name);
}

const char *
api_find(glen_context *ctx, glen_data what, const char *name) {
  char path[SIZE];
  return glen_find(what, name, path, sizeof path)
             ? bs_arena_strdup(&ctx->arena, path)
             : name;
}

/* ---- what there is ---- */

/* "systolic16" of ".../targets/systolic16.target". */
static const char *
name_of(glen_context *ctx, const struct kind *kind, const char *path) {
  const char *slash = strrchr(path, '/');
  char *name = bs_arena_strdup(&ctx->arena, slash ? slash + 1 : path);
  name[strlen(name) - strlen(kind->suffix)] = '\0';
  return name;
}

/* What newcomers take for a target. */
static const char *
no_target(const char *name) {
  static const char device[] = "a target is a processor or an accelerator; "
                               "glen compile --emit cuda, or "
                               "opencl,opencl-host, writes code for a GPU";
  static const char processor[] =
      "native describes this machine; --dispatch avx2,avx512 adds code for "
      "such processors to that for any";
  static const struct {
    const char *name, *hint;
  } table[] = {{"cuda", device},   {"gpu", device},       {"nvidia", device},
               {"opencl", device}, {"metal", device},     {"rocm", device},
               {"avx", processor}, {"avx2", processor},   {"avx512", processor},
               {"x86", processor}, {"x86_64", processor}, {"x86-64", processor},
               {"host", processor}};
  for (size_t k = 0; k < sizeof table / sizeof *table; k++)
    if (!strcmp(table[k].name, name))
      return table[k].hint;
  return NULL;
}

static void
hint_names(glen_context *ctx, const char *wanted, const char **names,
           uint32_t n) {
  const char *near = bs_nearest(wanted, names, n);
  bs_text text;
  if (near) {
    bs_meant(&ctx->diags, "", near);
    return;
  }
  bs_text_init(&text, &ctx->heap);
  for (uint32_t k = 0; k < n; k++)
    bs_putf(&text, "%s%s", k ? ", " : "", names[k]);
  bs_hint(&ctx->diags, "those that come with glen are: %s", bs_text_str(&text));
  bs_text_done(&text);
}

void
api_hint_names(glen_context *ctx, glen_data what, const char *name) {
  const struct kind *kind = &kinds[what];
  char folder[SIZE], data[SIZE];
  const char *const *paths;
  uint32_t n;
  if (!glen_data_folder(data, sizeof data) ||
      !join(folder, sizeof folder, "%s/%s", data, kind->folder))
    return;
  bs_moment before = bs_moment_of(&ctx->diags);
  if (!bs_dir_list(&ctx->diags, folder, kind->suffix, &paths, &n)) {
    bs_go_back(&ctx->diags, before);
    return;
  }
  const char *other = what == GLEN_DATA_TARGET ? no_target(name) : NULL;
  if (other) {
    bs_hint(&ctx->diags, "%s", other);
    return;
  }
  const char **names = BS_NEWS(&ctx->arena, const char *, n);
  for (uint32_t k = 0; k < n; k++)
    names[k] = name_of(ctx, kind, paths[k]);
  hint_names(ctx, name, names, n);
}
