/* context.c - the context: memory, diagnostics, versions, files.
 *
 * Every public function that may allocate runs its body under api_enter, the
 * one place where running out of memory is turned into a failure. */
#include "api/api.h"
#include "base/file.h"
#include "glen-features.h"

#include <isl/version.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void *
libc_realloc(void *ctx, void *block, size_t size) {
  (void)ctx;
  if (!size) {
    free(block);
    return NULL;
  }
  return realloc(block, size);
}

static void
init_body(void *arg) {
  glen_context *ctx = arg;
  bs_arena_init(&ctx->arena, &ctx->heap);
  bs_diags_init(&ctx->diags, &ctx->heap);
  ctx->gs = (gs_context){.heap = &ctx->heap,
                         .arena = &ctx->arena,
                         .values = bs_values_new(&ctx->heap),
                         .diags = &ctx->diags};
}

glen_context *
glen_context_new(const glen_allocator *allocator, size_t memory_limit) {
  glen_allocator a = {libc_realloc, NULL};
  if (allocator)
    a = *allocator;
  glen_context *ctx = a.realloc(a.ctx, NULL, sizeof *ctx);
  if (!ctx)
    return NULL;
  memset(ctx, 0, sizeof *ctx);
  ctx->allocator = a;
  bs_hooks hooks = {a.realloc, a.ctx};
  bs_heap_init(&ctx->heap, &hooks, memory_limit);
  if (bs_protect(&ctx->heap, init_body, ctx))
    return ctx;
  glen_context_free(ctx);
  return NULL;
}

void
glen_context_free(glen_context *ctx) {
  if (!ctx)
    return;
  glen_allocator a = ctx->allocator;
  bs_heap_done(&ctx->heap);
  a.realloc(a.ctx, ctx, 0);
}

bool
glen_interrupt(glen_context *ctx) {
  ctx->interrupt = ctx->interrupt ? 2 : 1;
  return ctx->listens;
}

bool
api_enter(glen_context *ctx, void (*body)(void *), void *arg) {
  if (ctx->out_of_memory)
    return false;
  ctx->failure = GLEN_BAD_INPUT;
  if (bs_protect(&ctx->heap, body, arg))
    return true;
  ctx->out_of_memory = true;
  return false;
}

bool
api_enter_listening(glen_context *ctx, void (*body)(void *), void *arg) {
  ctx->listens = 1;
  bool ok = api_enter(ctx, body, arg);
  ctx->listens = 0;
  return ok;
}

const char *
api_string(glen_context *ctx, bs_text *text) {
  char *s = bs_arena_copy(&ctx->arena, bs_text_str(text), text->len + 1);
  bs_text_done(text);
  return s;
}

/* ---- diagnostics ---- */

typedef struct render_args {
  glen_context *ctx;
  glen_diag_format format;
  const char *out;
} render_args;

static void
put_count(const bs_diags *d, uint32_t shown, bs_text *text) {
  if (d->errors > shown)
    bs_putf(text, "%u more error%s not shown\n", d->errors - shown,
            d->errors - shown == 1 ? "" : "s");
}

static void
render_body(void *arg) {
  render_args *a = arg;
  glen_context *ctx = a->ctx;
  bs_text text;
  uint32_t errors = 0;
  bs_text_init(&text, &ctx->heap);
  for (uint32_t k = 0; k < ctx->diags.list.len; k++) {
    const bs_diag *d = &ctx->diags.list.data[k];
    errors += d->severity == BS_ERROR;
    if (k < ctx->shown)
      continue;
    if (a->format == GLEN_DIAG_JSON)
      bs_render_json(&ctx->diags, d, &text);
    else
      bs_render(&ctx->diags, d, a->format == GLEN_DIAG_COLOR, &text);
  }
  if (a->format != GLEN_DIAG_JSON && ctx->shown < ctx->diags.list.len)
    put_count(&ctx->diags, errors, &text);
  ctx->shown = ctx->diags.list.len;
  a->out = api_string(ctx, &text);
}

const char *
glen_take_diagnostics(glen_context *ctx, glen_diag_format format) {
  render_args a = {ctx, format, ""};
  if (ctx->out_of_memory || !bs_protect(&ctx->heap, render_body, &a))
    return format == GLEN_DIAG_JSON
               ? "{\"severity\":\"error\",\"code\":\"out-of-memory\","
                 "\"message\":\"out of memory\"}\n"
               : "glen: error: out of memory [out-of-memory]\n";
  return a.out;
}

uint32_t
glen_error_count(const glen_context *ctx) {
  return ctx->diags.errors + ctx->out_of_memory;
}

glen_status
glen_failure(const glen_context *ctx) {
  return ctx->out_of_memory ? GLEN_BAD_INPUT : ctx->failure;
}

/* ---- versions ---- */

const char *
glen_version(void) {
  return GLEN_VERSION;
}

const char *
glen_nearest(const char *word, const char *const *names, size_t n) {
  return bs_nearest(word, names, n);
}

static void
put_feature(bs_text *text, const char *name, bool have, const char *version,
            const char *use, const char *package) {
  if (have)
    bs_putf(text, "%-9s %s  (%s)\n", name, version, use);
  else
    bs_putf(text, "%-9s no  (%s; install %s and build again)\n", name, use,
            package);
}

static void
version_body(void *arg) {
  render_args *a = arg;
  bs_text text;
  bs_text_init(&text, &a->ctx->heap);
  put_feature(&text, "isl", true, GLEN_ISL_VERSION, "polyhedral sets",
              "libisl-dev");
  put_feature(&text, "xxHash", true, GLEN_XXHASH_VERSION, "hashing",
              "libxxhash-dev");
  put_feature(&text, "jansson", GLEN_HAVE_JANSSON, GLEN_JANSSON_VERSION,
              "glen extract, glen lsp", "libjansson-dev");
  put_feature(&text, "cbc", GLEN_HAVE_CBC, GLEN_CBC_VERSION, "--extractor ilp",
              "coinor-libcbc-dev");
  a->out = api_string(a->ctx, &text);
}

const char *
glen_version_details(glen_context *ctx) {
  render_args a = {ctx, GLEN_DIAG_TEXT, ""};
  api_enter(ctx, version_body, &a);
  return a.out;
}

/* ---- files ---- */

/* Sources that are no files have names in angle brackets. */
static bool
is_file(const bs_source *s) {
  return s->path[0] != '<' && strcmp(s->path, "-");
}

uint32_t
glen_files_read(const glen_context *ctx) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < ctx->diags.sources.len; k++)
    n += is_file(&ctx->diags.sources.data[k]);
  return n;
}

const char *
glen_file_read(const glen_context *ctx, uint32_t wanted) {
  for (uint32_t k = 0; k < ctx->diags.sources.len; k++)
    if (is_file(&ctx->diags.sources.data[k]) && !wanted--)
      return ctx->diags.sources.data[k].path;
  return NULL;
}

typedef struct write_args {
  glen_context *ctx;
  const char *path;
  const void *data;
  size_t size;
  bool ok;
} write_args;

static void
write_body(void *arg) {
  write_args *a = arg;
  a->ok = bs_file_write(&a->ctx->diags, a->path, a->data, a->size);
}

bool
glen_write_file(glen_context *ctx, const char *path, const void *data,
                size_t size) {
  write_args a = {ctx, path, data, size, false};
  return api_enter(ctx, write_body, &a) && a.ok;
}
