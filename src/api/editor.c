/* SPDX-License-Identifier: MIT */
/* editor.c - documents for editors: the public face of src/edit/. */
#include "glen/editor.h"
#include "api/api.h"
#include "edit/edit.h"
#include "rules/format/format.h"
#include <limits.h>
#include <string.h>
#include <unistd.h>

struct glen_document {
  glen_context *ctx;
  ed_document *document;
};

typedef struct editor_args {
  glen_context *ctx;
  glen_document *document;
  const glen_target *target;
  const char *path, *text;
  size_t size;
  uint32_t n;
  const void *out;
  glen_place *place;
  bool ok;
} editor_args;

static glen_place
place_of(const glen_context *ctx, bs_span span) {
  if (!span.file)
    return (glen_place){NULL, 0, 0};
  const char *path = ctx->diags.sources.data[span.file - 1].path;
  return (glen_place){path, span.lo, span.hi};
}

static uint32_t
offset_of(const glen_document *d, size_t at) {
  uint32_t size = d->ctx->diags.sources.data[d->document->raw - 1].size;
  return at < size ? (uint32_t)at : size;
}

bool
glen_is_source(const char *path) {
  return ed_language_of(path) != NULL;
}

static void
overlay_body(void *arg) {
  editor_args *a = arg;
  a->ok = bs_overlay_set(&a->ctx->diags, a->path, a->text, a->size);
}

bool
glen_overlay(glen_context *ctx, const char *path, const char *text,
             size_t size) {
  editor_args a = {.ctx = ctx, .path = path, .text = text, .size = size};
  return api_enter(ctx, overlay_body, &a) && a.ok;
}

static void
read_body(void *arg) {
  editor_args *a = arg;
  ed_document *d =
      ed_open(&a->ctx->gs, a->target ? a->target->target : NULL, a->path);
  if (!d)
    return;
  a->document = BS_NEW(&a->ctx->arena, glen_document);
  *a->document = (glen_document){a->ctx, d};
}

glen_document *
glen_document_read(glen_context *ctx, const glen_target *target,
                   const char *path) {
  editor_args a = {.ctx = ctx, .target = target, .path = path};
  return api_enter(ctx, read_body, &a) ? a.document : NULL;
}

/* --- lists ---------------------------------------------------------------- */

static void
findings_body(void *arg) {
  static const char *const words[] = {"error", "warning", "note"};
  editor_args *a = arg;
  const ed_document *d = a->document->document;
  a->n = d->findings.len;
  glen_finding *out = BS_NEWS(&a->ctx->arena, glen_finding, a->n + 1);
  for (uint32_t k = 0; k < a->n; k++) {
    const bs_diag *x = &d->findings.data[k];
    out[k] = (glen_finding){words[x->severity], x->code, x->message, x->hint,
                            place_of(a->ctx, x->span)};
  }
  a->out = out;
}

const glen_finding *
glen_document_findings(glen_document *d, uint32_t *n) {
  editor_args a = {.ctx = d->ctx, .document = d};
  bool ok = api_enter(d->ctx, findings_body, &a);
  *n = ok ? a.n : 0;
  return ok ? a.out : NULL;
}

static void
symbols_body(void *arg) {
  editor_args *a = arg;
  const ed_document *d = a->document->document;
  uint32_t first = 0;
  glen_symbol *out = BS_NEWS(&a->ctx->arena, glen_symbol, d->symbols.len + 1);
  for (uint32_t k = 0; k < d->symbols.len; k++) {
    const ed_symbol *s = &d->symbols.data[k];
    if (!ed_is_own(d, s->form))
      continue;
    if (!a->n)
      first = k;
    out[a->n++] = (glen_symbol){
        s->name, s->head, place_of(a->ctx, s->name_span),
        place_of(a->ctx, s->form), s->parent ? s->parent - first : 0};
  }
  a->out = out;
}

const glen_symbol *
glen_document_symbols(glen_document *d, uint32_t *n) {
  editor_args a = {.ctx = d->ctx, .document = d};
  bool ok = api_enter(d->ctx, symbols_body, &a);
  *n = ok ? a.n : 0;
  return ok ? a.out : NULL;
}

static void
complete_body(void *arg) {
  editor_args *a = arg;
  ed_completions found;
  ed_complete(a->document->document, offset_of(a->document, a->size), &found);
  a->n = found.list.len;
  glen_completion *out = BS_NEWS(&a->ctx->arena, glen_completion, a->n + 1);
  for (uint32_t k = 0; k < a->n; k++) {
    const ed_completion *c = &found.list.data[k];
    out[k] = (glen_completion){c->label, c->kind, c->detail, c->doc};
  }
  *a->place = place_of(a->ctx, found.replaced);
  a->out = out;
  bs_vec_done(&a->ctx->heap, &found.list);
}

const glen_completion *
glen_document_complete(glen_document *d, size_t at, uint32_t *n,
                       glen_place *replaced) {
  editor_args a = {.ctx = d->ctx, .document = d, .size = at, .place = replaced};
  bool ok = api_enter(d->ctx, complete_body, &a);
  *n = ok ? a.n : 0;
  return ok ? a.out : NULL;
}

/* --- at a place ----------------------------------------------------------- */

static void
hover_body(void *arg) {
  editor_args *a = arg;
  bs_text text;
  bs_span what;
  bs_text_init(&text, &a->ctx->heap);
  if (!ed_hover(a->document->document, offset_of(a->document, a->size), &text,
                &what)) {
    bs_text_done(&text);
    return;
  }
  *a->place = place_of(a->ctx, what);
  a->out = api_string(a->ctx, &text);
}

const char *
glen_document_hover(glen_document *d, size_t at, glen_place *what) {
  editor_args a = {.ctx = d->ctx, .document = d, .size = at, .place = what};
  return api_enter(d->ctx, hover_body, &a) ? a.out : NULL;
}

/* The definitions that come with the language are part of the library; a copy
 * to look at stands in the folder of data, or in the sources. */
static const char *
copy_of_definitions(glen_context *ctx) {
  static const char *const at[] = {"definitions.glen",
                                   "src/glenside/definitions.glen"};
  char folder[PATH_MAX];
  bool known = glen_data_folder(folder, sizeof folder);
  for (int k = 0; known && k < 2; k++) {
    const char *path = bs_arena_printf(&ctx->arena, "%s/%s", folder, at[k]);
    if (!access(path, R_OK))
      return path;
  }
  return NULL;
}

static void
definition_body(void *arg) {
  editor_args *a = arg;
  bs_span span;
  a->ok = ed_definition(a->document->document, offset_of(a->document, a->size),
                        &a->path, &span);
  if (a->ok && !strcmp(a->path, GS_DEFINITIONS_PATH))
    a->ok = (a->path = copy_of_definitions(a->ctx)) != NULL;
  if (a->ok)
    *a->place = (glen_place){a->path, span.lo, span.hi};
}

bool
glen_document_definition(glen_document *d, size_t at, glen_place *out) {
  editor_args a = {.ctx = d->ctx, .document = d, .size = at, .place = out};
  return api_enter(d->ctx, definition_body, &a) && a.ok;
}

/* --- names ---------------------------------------------------------------- */

static glen_use
use_of(const glen_context *ctx, const ed_use *use) {
  return (glen_use){place_of(ctx, use->span), place_of(ctx, use->name),
                    use->definition};
}

static void
uses_body(void *arg) {
  editor_args *a = arg;
  const ed_document *d = a->document->document;
  ed_use use;
  ed_references all;
  if (!ed_use_at(d, a->path, (uint32_t)a->size, &use) ||
      !ed_references_to(d, &use, &all))
    return;
  a->n = all.len;
  glen_use *out = BS_NEWS(&a->ctx->arena, glen_use, all.len);
  for (uint32_t k = 0; k < all.len; k++)
    out[k] = use_of(a->ctx, &all.data[k]);
  a->out = out;
  bs_vec_done(&a->ctx->heap, &all);
}

const glen_use *
glen_document_uses(glen_document *d, const char *path, size_t at, uint32_t *n) {
  size_t most = path ? UINT32_MAX : offset_of(d, at);
  editor_args a = {.ctx = d->ctx,
                   .document = d,
                   .path = path,
                   .size = at < most ? at : most};
  bool ok = api_enter(d->ctx, uses_body, &a);
  *n = ok ? a.n : 0;
  return ok ? a.out : NULL;
}

static void
refuses_body(void *arg) {
  editor_args *a = arg;
  const ed_document *d = a->document->document;
  ed_use use;
  ed_references all;
  if (!ed_use_at(d, NULL, (uint32_t)a->size, &use) ||
      !ed_references_to(d, &use, &all)) {
    a->out = "nothing here has a definition";
    return;
  }
  bs_vec_done(&a->ctx->heap, &all);
  a->out = ed_refuses(d, &use, a->text);
}

const char *
glen_document_refuses(glen_document *d, size_t at, const char *name) {
  editor_args a = {
      .ctx = d->ctx, .document = d, .text = name, .size = offset_of(d, at)};
  return api_enter(d->ctx, refuses_body, &a) ? a.out
                                             : "there is no memory for this";
}

static void
fixes_body(void *arg) {
  editor_args *a = arg;
  const ed_document *d = a->document->document;
  glen_fix *out = BS_NEWS(&a->ctx->arena, glen_fix, d->findings.len + 1);
  for (uint32_t k = 0; k < d->findings.len; k++) {
    bs_span place;
    if (ed_fix_place(d, &d->findings.data[k], &place))
      out[a->n++] =
          (glen_fix){k, place_of(a->ctx, place), d->findings.data[k].fix};
  }
  a->out = out;
}

const glen_fix *
glen_document_fixes(glen_document *d, uint32_t *n) {
  editor_args a = {.ctx = d->ctx, .document = d};
  bool ok = api_enter(d->ctx, fixes_body, &a);
  *n = ok ? a.n : 0;
  return ok ? a.out : NULL;
}

/* --- the whole text ------------------------------------------------------- */

static void
format_body(void *arg) {
  editor_args *a = arg;
  bs_text text;
  bs_text_init(&text, &a->ctx->heap);
  a->ok = !a->document->document->language->questions &&
          rl_format(&a->ctx->gs, a->document->document->raw, &text);
  a->size = text.len;
  if (a->ok)
    a->out = api_string(a->ctx, &text);
  else
    bs_text_done(&text);
}

const char *
glen_document_format(glen_document *d, size_t *size) {
  editor_args a = {.ctx = d->ctx, .document = d};
  if (!api_enter(d->ctx, format_body, &a) || !a.ok)
    return NULL;
  *size = a.size;
  return a.out;
}
