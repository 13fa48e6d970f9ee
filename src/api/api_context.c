/* SPDX-License-Identifier: MIT */
/* api_context.c - the context: memory, diagnostics, versions, files.
 *
 * Every public function that may allocate begins as enter.h says. */
#include "api/api.h"
#include "base/file.h"
#include "base/output.h"
#include "glen-features.h"

#include <isl/version.h>
#include <stdio.h>
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

/* Unless it is told otherwise, a context is bound by nothing. */
static void
start_governor(glen_context *ctx) {
  bs_governor_init(&ctx->governor);
  ctx->heap.governor = &ctx->governor;
}

/* What of it needs memory. */
static bool
fill(glen_context *ctx) {
  API_ENTER(ctx, false);
  bs_arena_init(&ctx->arena, &ctx->heap);
  bs_arena_init(&ctx->strings, &ctx->heap);
  bs_diags_init(&ctx->diags, &ctx->heap);
  ctx->gs = (gs_context){.heap = &ctx->heap,
                         .arena = &ctx->arena,
                         .values = bs_values_new(&ctx->heap),
                         .diags = &ctx->diags};
  return true;
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
  ctx->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  bs_hooks hooks = {a.realloc, a.ctx};
  bs_heap_init(&ctx->heap, &hooks, memory_limit);
  start_governor(ctx);
  if (ctx->locale && fill(ctx))
    return ctx;
  glen_context_free(ctx);
  return NULL;
}

void
glen_context_free(glen_context *ctx) {
  if (!ctx)
    return;
  glen_allocator a = ctx->allocator;
  bs_remove_temporaries(&ctx->diags);
  bs_heap_done(&ctx->heap);
  bs_governor_done(&ctx->governor);
  if (ctx->locale)
    freelocale(ctx->locale);
  a.realloc(a.ctx, ctx, 0);
}

bool
glen_interrupt(glen_context *ctx) {
  ctx->interrupt = ctx->interrupt ? 2 : 1;
  return ctx->listens;
}

void
glen_limit(glen_context *ctx, double seconds, size_t bytes) {
  bs_govern(&ctx->governor, seconds, bytes);
}

size_t
glen_default_memory_limit(void) {
  size_t all = bs_memory_there_is();
  return all ? all / 4 * 3 : (size_t)8 << 30;
}

const char *
api_string(glen_context *ctx, bs_text *text) {
  char *s = bs_arena_copy(&ctx->strings, bs_text_str(text), text->len + 1);
  bs_text_done(text);
  return s;
}

void
glen_free_strings(glen_context *ctx) {
  if (!ctx->out_of_memory)
    bs_arena_reset(&ctx->strings);
}

/* ---- diagnostics ---- */

static void
put_count(const bs_diags *d, uint32_t shown, bs_text *text) {
  uint32_t all = d->errors - d->errors_taken;
  if (all > shown)
    bs_putf(text, "%u more %s not shown\n", BS_COUNTED(all - shown, "error"));
}

static const char *
render(glen_context *ctx, glen_diag_format format) {
  API_ENTER(ctx, NULL);
  bs_text text;
  uint32_t errors = 0;
  bs_text_init(&text, &ctx->heap);
  for (uint32_t k = ctx->shown; k < ctx->diags.list.len; k++) {
    const bs_diag *d = &ctx->diags.list.data[k];
    errors += d->severity == BS_ERROR;
    if (format == GLEN_DIAG_JSON)
      bs_render_json(&ctx->diags, d, &text);
    else
      bs_render(&ctx->diags, d, format == GLEN_DIAG_COLOR, &text);
  }
  if (format != GLEN_DIAG_JSON && ctx->shown < ctx->diags.list.len)
    put_count(&ctx->diags, errors, &text);
  ctx->shown = ctx->diags.list.len;
  bs_diags_taken(&ctx->diags);
  return api_string(ctx, &text);
}

/* What is said once nothing can be allocated any more. */
static const char *
lack(glen_context *ctx, glen_diag_format format) {
  const char *code = "out-of-memory", *message = "out of memory";
  if (*ctx->said)
    return "";
  if (*ctx->failed) {
    code = bs_reason_code(ctx->governor.refused);
    message = ctx->failed;
  }
  if (format == GLEN_DIAG_JSON)
    snprintf(ctx->said, sizeof ctx->said,
             "{\"severity\":\"error\",\"code\":\"%s\","
             "\"message\":\"%s\"}\n",
             code, message);
  else
    snprintf(ctx->said, sizeof ctx->said, "glen: error: %s [%s]\n", message,
             code);
  return ctx->said;
}

const char *
glen_take_diagnostics(glen_context *ctx, glen_diag_format format) {
  glen_status failure = ctx->failure;
  const char *all = render(ctx, format);
  ctx->failure = failure;
  return all ? all : lack(ctx, format);
}

uint32_t
glen_error_count(const glen_context *ctx) {
  return ctx->diags.errors + ctx->out_of_memory;
}

glen_status
glen_failure(const glen_context *ctx) {
  if (ctx->out_of_memory)
    return *ctx->failed ? GLEN_LIMIT : GLEN_BAD_INPUT;
  /* Notes have no code. */
  for (uint32_t k = 0; k < ctx->diags.list.len; k++) {
    const char *code = ctx->diags.list.data[k].code;
    if (code && (!strcmp(code, "overwritten") || !strcmp(code, "no-native")))
      return GLEN_USAGE;
    if (code && !strcmp(code, "not-mapped"))
      return GLEN_LIMIT;
    if (code && !strcmp(code, "code-tree"))
      return GLEN_INTERNAL;
  }
  return ctx->failure;
}

/* ---- versions ---- */

const char *
glen_version(void) {
  return GLEN_VERSION;
}

int
glen_version_number(void) {
  return GLEN_VERSION_NUMBER;
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

const char *
glen_version_details(glen_context *ctx) {
  API_ENTER(ctx, "");
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  put_feature(&text, "isl", true, GLEN_ISL_VERSION, "polyhedral sets",
              "libisl-dev");
  put_feature(&text, "xxHash", true, GLEN_XXHASH_VERSION, "hashing",
              "libxxhash-dev");
  put_feature(&text, "jansson", GLEN_HAVE_JANSSON, GLEN_JANSSON_VERSION,
              "glen extract, glen lsp", "libjansson-dev");
  put_feature(&text, "cbc", GLEN_HAVE_CBC, GLEN_CBC_VERSION, "--extractor ilp",
              "coinor-libcbc-dev");
  put_feature(&text, "z3", GLEN_HAVE_Z3, GLEN_Z3_VERSION,
              "integers as bit-vectors", "libz3-dev");
  return api_string(ctx, &text);
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

uint32_t
glen_files_named(const glen_context *ctx) {
  return ctx->diags.named.len;
}

const char *
glen_file_named(const glen_context *ctx, uint32_t k) {
  return k < ctx->diags.named.len ? ctx->diags.named.data[k] : NULL;
}

uint32_t
glen_folders_read(const glen_context *ctx) {
  return ctx->diags.folders.len;
}

const char *
glen_folder_read(const glen_context *ctx, uint32_t k) {
  return k < ctx->diags.folders.len ? ctx->diags.folders.data[k] : NULL;
}

bool
glen_write_file(glen_context *ctx, const char *path, const void *data,
                size_t size) {
  API_ENTER(ctx, false);
  return bs_file_write(&ctx->diags, path, data, size);
}

bool
glen_replace_file(glen_context *ctx, const char *path, const void *data,
                  size_t size) {
  API_ENTER(ctx, false);
  return bs_file_write_now(&ctx->diags, path, data, size);
}

bool
glen_same_file(const char *a, const char *b) {
  return bs_same_file(a, b);
}

bool
glen_outputs_begin(glen_context *ctx) {
  API_ENTER(ctx, false);
  bs_outputs_begin(&ctx->diags);
  return true;
}

bool
glen_outputs_commit(glen_context *ctx) {
  API_ENTER(ctx, false);
  return bs_outputs_commit(&ctx->diags);
}

bool
glen_outputs_touch(glen_context *ctx, const char *path) {
  API_ENTER(ctx, false);
  bs_outputs *outputs = ctx->diags.outputs;
  if (outputs && path)
    outputs->touch_one = bs_arena_strdup(&ctx->diags.arena, path);
  else if (outputs)
    outputs->touch_all = true;
  return true;
}

void
glen_abandon(const glen_context *ctx) {
  bs_remove_temporaries(&ctx->diags);
}

void
glen_forbid_native(glen_context *ctx) {
  ctx->diags.no_children = true;
}
