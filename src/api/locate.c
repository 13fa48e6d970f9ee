/* SPDX-License-Identifier: MIT */
/* locate.c - names of rules and targets, and what is said of those that lead
 * nowhere (base/places.h). */
#include "api/api.h"
#include "api/locate.h"
#include "base/file.h"
#include "base/places.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SIZE = PATH_MAX };

static const bs_place *const kinds[] = {
    [GLEN_DATA_RULES] = &bs_rules_place,
    [GLEN_DATA_TARGET] = &bs_targets_place,
};

bool
glen_data_folder(char *path, size_t size) {
  return bs_data_folder(path, size);
}

bool
glen_find(glen_data what, const char *name, char *path, size_t size) {
  const bs_place *kind = kinds[what];
  return name ? bs_find(kind, name, path, size)
              : bs_find_by_name(kind, kind->folder, path, size);
}

const char *
api_find(glen_context *ctx, glen_data what, const char *name) {
  return bs_path_found(&ctx->arena, kinds[what], name);
}

/* ---- what there is ---- */

typedef BS_VEC(const char *) name_list;

/* "systolic16" of ".../targets/systolic16.target". */
static const char *
name_of(glen_context *ctx, const bs_place *kind, const char *path) {
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

/* The names of what lies in a folder, unless it cannot be read. */
static void
add_names(glen_context *ctx, const bs_place *kind, const char *folder,
          name_list *names) {
  const char *const *paths;
  uint32_t n;
  bs_moment before = bs_moment_of(&ctx->diags);
  if (!bs_dir_list(&ctx->diags, folder, kind->suffix, &paths, &n)) {
    bs_go_back(&ctx->diags, before);
    return;
  }
  for (uint32_t k = 0; k < n; k++)
    bs_push(&ctx->heap, names, name_of(ctx, kind, paths[k]));
}

static void
add_names_along(glen_context *ctx, const bs_place *kind, const char *folders,
                name_list *names) {
  const char *at;
  for (size_t n; (n = bs_next_place(&folders, &at));) {
    const char *folder = bs_arena_printf(&ctx->arena, "%.*s", (int)n, at);
    add_names(ctx, kind, folder, names);
    add_names(ctx, kind,
              bs_arena_printf(&ctx->arena, "%s/%s", folder, kind->folder),
              names);
  }
}

/* "systolic" of "targets/systolic.target". */
static const char *
stem_of(glen_context *ctx, const bs_place *kind, const char *name) {
  const char *slash = strrchr(name, '/');
  char *stem = bs_arena_strdup(&ctx->arena, slash ? slash + 1 : name);
  size_t n = strlen(stem), suffix = strlen(kind->suffix);
  if (n > suffix && !strcmp(stem + n - suffix, kind->suffix))
    stem[n - suffix] = '\0';
  return stem;
}

/* The first of several places that is no folder, as after a move; or NULL. */
static const char *
no_folder(glen_context *ctx, const char *folders) {
  const char *at;
  for (size_t n; (n = bs_next_place(&folders, &at));) {
    const char *path = bs_arena_printf(&ctx->arena, "%.*s", (int)n, at);
    struct stat st;
    if (stat(path, &st) || !S_ISDIR(st.st_mode))
      return path;
  }
  return NULL;
}

static void
list_names(glen_context *ctx, const name_list *names) {
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  for (uint32_t k = 0; k < names->len; k++)
    bs_putf(&text, "%s%s", k ? ", " : "", names->data[k]);
  const char *gone = no_folder(ctx, getenv("GLEN_PATH"));
  if (gone)
    bs_putf(&text, "; GLEN_PATH names %s, where no folder is", gone);
  bs_hint(&ctx->diags, "those that come with glen are: %s", bs_text_str(&text));
  bs_text_done(&text);
}

/* A path is not a name: whoever writes one has no use for a list of names. */
static void
hint_names(glen_context *ctx, const bs_place *kind, const char *wanted) {
  char data[SIZE];
  name_list names = {0}, shipped = {0};
  if (bs_data_folder(data, sizeof data))
    add_names(ctx, kind,
              bs_arena_printf(&ctx->arena, "%s/%s", data, kind->folder),
              &shipped);
  add_names_along(ctx, kind, getenv("GLEN_PATH"), &names);
  for (uint32_t k = 0; k < shipped.len; k++)
    bs_push(&ctx->heap, &names, shipped.data[k]);
  const char *near =
      bs_nearest(stem_of(ctx, kind, wanted), names.data, names.len);
  if (near)
    bs_meant(&ctx->diags, "", near);
  else if (shipped.len && !strchr(wanted, '/'))
    list_names(ctx, &shipped);
  bs_vec_done(&ctx->heap, &names);
  bs_vec_done(&ctx->heap, &shipped);
}

/* A file of the caller's is named whole. */
static bool
hint_file(glen_context *ctx, const bs_place *kind, const char *name) {
  const char *path = bs_arena_printf(&ctx->arena, "%s%s", name, kind->suffix);
  struct stat st;
  if (!*name || stat(path, &st))
    return false;
  bs_meant(&ctx->diags, "", path);
  return true;
}

void
api_hint_names(glen_context *ctx, glen_data what, const char *name) {
  const char *other = what == GLEN_DATA_TARGET ? no_target(name) : NULL;
  if (hint_file(ctx, kinds[what], name))
    return;
  if (other)
    bs_hint(&ctx->diags, "%s", other);
  else if (what == GLEN_DATA_RULES && strchr(name, ','))
    bs_hint(&ctx->diags, "name each of several by itself: --rules A --rules B");
  else
    hint_names(ctx, kinds[what], name);
}
