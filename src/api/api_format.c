/* SPDX-License-Identifier: MIT */
/* api_format.c - source files in their one form. */
#include "api/api.h"
#include "base/file.h"
#include "rules/format/format.h"

#include <string.h>

typedef struct format_args {
  glen_context *ctx;
  const char *path;
  void (*each)(void *ctx, const glen_formatted *);
  void *each_ctx;
  bool ok;
} format_args;

static const char *const suffixes[] = {".glen", ".rules", ".target"};
#define SUFFIXES (sizeof suffixes / sizeof suffixes[0])

/* Another kind of file would be rewritten as if it were one of these. */
static bool
has_form(format_args *a, const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *dot = strrchr(name, '.');
  bool known = !dot || dot == name;
  for (size_t k = 0; k < SUFFIXES && !known; k++)
    known = !strcmp(dot, suffixes[k]);
  if (known)
    return true;
  a->ok = bs_error(&a->ctx->diags, BS_NOWHERE, "no-form",
                   "'%s' cannot be formatted", path);
  bs_hint(&a->ctx->diags, "glen formats .glen, .rules and .target files");
  return false;
}

static void
format_file(format_args *a, const char *path) {
  glen_context *ctx = a->ctx;
  bs_text out;
  if (!has_form(a, path))
    return;
  uint32_t source = bs_source_read(&ctx->diags, path, BS_NOWHERE);
  bs_text_init(&out, &ctx->heap);
  if (source && rl_format(&ctx->gs, source, &out)) {
    const bs_source *s = &ctx->diags.sources.data[source - 1];
    glen_formatted f = {.path = path, .size = out.len};
    f.differs =
        s->size != out.len || memcmp(s->text, bs_text_str(&out), out.len);
    f.text = bs_text_str(&out);
    a->each(a->each_ctx, &f);
  } else {
    a->ok = false;
  }
  bs_text_done(&out);
}

static void
format_directory(format_args *a) {
  for (size_t k = 0; k < SUFFIXES; k++) {
    const char *const *names;
    uint32_t n;
    if (!bs_dir_list(&a->ctx->diags, a->path, suffixes[k], &names, &n)) {
      a->ok = false;
      return;
    }
    for (uint32_t i = 0; i < n; i++)
      format_file(a, names[i]);
  }
}

bool
glen_format(glen_context *ctx, const char *path,
            void (*each)(void *ctx, const glen_formatted *), void *each_ctx) {
  format_args a = {ctx, path, each, each_ctx, true};
  API_ENTER(ctx, false);
  if (bs_is_dir(path))
    format_directory(&a);
  else
    format_file(&a, path);
  return a.ok;
}
