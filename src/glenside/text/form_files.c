/* SPDX-License-Identifier: MIT */
/* form_files.c - see form_files.h.  Includes are followed by recursion, at most
 * MOST_INCLUDES deep. */
#include "glenside/text/form_files.h"
#include "base/file.h"
#include "base/places.h"
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INCLUDES = 64 };

/* --- values --------------------------------------------------------------- */

static bool
is_list_head(const char *s) {
  return !strcmp(s, "list") || !strcmp(s, "shape") || !strcmp(s, "stride") ||
         !strcmp(s, "dilation");
}

bs_value
gs_data_value(const gs_context *ctx, const bs_sexps *sx, uint32_t node) {
  bs_value v = bs_sx_value(ctx->heap, ctx->values, sx, node);
  const char *head = bs_sx_head(sx, ctx->values, node);
  if (!head || !is_list_head(head))
    return v;
  uint32_t n = bs_len(ctx->values, v) - 1;
  bs_value *items = BS_NEWS(ctx->arena, bs_value, n + 1);
  for (uint32_t k = 0; k < n; k++)
    items[k] = bs_item(ctx->values, v, k + 1);
  return bs_list(ctx->values, items, n);
}

bool
gs_read_setting(const gs_context *ctx, const char *text, const char **name,
                bs_value *out) {
  const char *equals = strchr(text, '=');
  bs_sexps sx = {0};
  if (!equals || equals == text)
    return false;
  uint32_t source = bs_source_add(ctx->diags, "<command line>", equals + 1,
                                  strlen(equals + 1));
  bool ok = source &&
            bs_sexp_read(ctx->heap, ctx->values, ctx->diags, source, &sx) &&
            sx.roots.len == 1;
  if (ok)
    *out = gs_data_value(ctx, &sx, sx.roots.data[0]);
  bs_sexps_done(ctx->heap, &sx);
  *name = bs_arena_printf(ctx->arena, "%.*s", (int)(equals - text), text);
  return ok;
}

/* --- forms ---------------------------------------------------------------- */

static bool load_path(gs_form_files *, const char *path, bs_span from);

static bool
read_include(gs_form_files *f, uint32_t file, uint32_t node) {
  assert(file < f->files.len);
  const bs_sexps *sx = &f->files.data[file].sx;
  const bs_sx *name = bs_sx_at(sx, bs_sx_item(sx, node, 1));
  if (bs_sx_at(sx, node)->count == 2 && name->kind == BS_SX_STRING)
    return load_path(f,
                     bs_path_included(f->ctx->arena, &bs_rules_place,
                                      f->files.data[file].path,
                                      bs_as_sym(f->ctx->values, name->value)),
                     name->span);
  bs_error(f->ctx->diags, bs_sx_at(sx, node)->span, "bad-form",
           "'include' takes one file name");
  bs_hint(f->ctx->diags, "(include \"cleanup.rules\")");
  return false;
}

static bool
read_forms(gs_form_files *f, uint32_t file) {
  bool ok = true;
  bs_push(f->ctx->heap, &f->loading, file);
  for (uint32_t k = 0; k < f->files.data[file].sx.roots.len; k++) {
    const bs_sexps *sx = &f->files.data[file].sx;
    uint32_t node = sx->roots.data[k];
    const char *head = bs_sx_head(sx, f->ctx->values, node);
    bool list = bs_sx_at(sx, node)->kind == BS_SX_LIST;
    bool taken = head && !strcmp(head, "include") ? read_include(f, file, node)
                                                  : f->take(f->arg, file, node);
    ok &= taken;
    if (!taken && !list && !k)
      break; /* something else altogether, of which the rest says no more */
  }
  f->loading.len--;
  return ok;
}

/* --- files ---------------------------------------------------------------- */

/* One name a file, whatever the way to it. */
static const char *
real_path(const gs_form_files *f, const char *path) {
  char buffer[PATH_MAX];
  return bs_arena_strdup(f->ctx->arena, realpath(path, buffer) ? buffer : path);
}

static bool
is_loading(const gs_form_files *f, uint32_t file) {
  for (uint32_t k = 0; k < f->loading.len; k++)
    if (f->loading.data[k] == file)
      return true;
  return false;
}

/* The file that is being read includes another one. */
static void
note_include(gs_form_files *f, uint32_t to) {
  if (f->loading.len)
    bs_push(f->ctx->heap, &f->includes, (gs_include){bs_last(&f->loading), to});
}

static bool
load_source(gs_form_files *f, uint32_t source, const char *real) {
  const gs_context *ctx = f->ctx;
  gs_form_file file = {.source = source,
                       .path = ctx->diags->sources.data[source - 1].path,
                       .real = real};
  if (!bs_sexp_read(ctx->heap, ctx->values, ctx->diags, source, &file.sx)) {
    bs_sexps_done(ctx->heap, &file.sx);
    return false;
  }
  note_include(f, f->files.len);
  bs_push(ctx->heap, &f->files, file);
  return read_forms(f, f->files.len - 1);
}

static bool
load_path(gs_form_files *f, const char *path, bs_span from) {
  bs_diags *d = f->ctx->diags;
  const char *real = real_path(f, path);
  for (uint32_t k = 0; k < f->files.len; k++)
    if (f->files.data[k].real && !strcmp(f->files.data[k].real, real)) {
      note_include(f, k);
      return !is_loading(f, k) ||
             bs_error(d, from, "include-cycle", "%s includes itself", path);
    }
  if (f->loading.len >= MOST_INCLUDES)
    return bs_error(d, from, "include-depth",
                    "files include each other more than %d deep",
                    MOST_INCLUDES);
  uint32_t source = bs_source_read(d, path, from);
  return source && load_source(f, source, real);
}

static bool
load_directory(gs_form_files *f, const char *path) {
  const char *const *names;
  uint32_t n;
  bool ok = true;
  if (!bs_dir_list(f->ctx->diags, path, ".rules", &names, &n))
    return false;
  bs_note_folder(f->ctx->diags, path);
  if (!n) {
    bs_error(f->ctx->diags, BS_NOWHERE, "no-rules",
             "there is no rule file in the directory %s", path);
    bs_hint(f->ctx->diags, "rule files are named *.rules");
    return false;
  }
  for (uint32_t k = 0; k < n; k++)
    ok &= load_path(f, names[k], BS_NOWHERE);
  return ok;
}

bool
gs_forms_load(gs_form_files *f, const char *path) {
  return bs_is_dir(path) ? load_directory(f, path)
                         : load_path(f, path, BS_NOWHERE);
}

bool
gs_forms_load_source(gs_form_files *f, uint32_t source) {
  return load_source(f, source, NULL);
}
