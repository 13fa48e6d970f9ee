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

bool
glen_overlay(glen_context *ctx, const char *path, const char *text,
             size_t size) {
  API_ENTER(ctx, false);
  return bs_overlay_set(&ctx->diags, path, text, size);
}

glen_document *
glen_document_read(glen_context *ctx, const glen_target *target,
                   const char *path) {
  API_ENTER(ctx, NULL);
  ed_document *d = ed_open(&ctx->gs, target ? target->target : NULL, path);
  if (!d)
    return NULL;
  glen_document *document = BS_NEW(&ctx->arena, glen_document);
  *document = (glen_document){ctx, d};
  return document;
}

/* --- lists ---------------------------------------------------------------- */

const glen_finding *
glen_document_findings(glen_document *document, uint32_t *n) {
  static const char *const words[] = {"error", "warning", "note"};
  glen_context *ctx = document->ctx;
  const ed_document *d = document->document;
  *n = 0;
  API_ENTER(ctx, NULL);
  glen_finding *out = BS_NEWS(&ctx->arena, glen_finding, d->findings.len + 1);
  for (uint32_t k = 0; k < d->findings.len; k++) {
    const bs_diag *x = &d->findings.data[k];
    out[k] = (glen_finding){words[x->severity], x->code, x->message, x->hint,
                            place_of(ctx, x->span)};
  }
  *n = d->findings.len;
  return out;
}

const glen_symbol *
glen_document_symbols(glen_document *document, uint32_t *n) {
  glen_context *ctx = document->ctx;
  const ed_document *d = document->document;
  *n = 0;
  API_ENTER(ctx, NULL);
  uint32_t first = 0;
  glen_symbol *out = BS_NEWS(&ctx->arena, glen_symbol, d->symbols.len + 1);
  for (uint32_t k = 0; k < d->symbols.len; k++) {
    const ed_symbol *s = &d->symbols.data[k];
    if (!ed_is_own(d, s->form))
      continue;
    if (!*n)
      first = k;
    out[(*n)++] = (glen_symbol){s->name, s->head, place_of(ctx, s->name_span),
                                place_of(ctx, s->form),
                                s->parent ? s->parent - first : 0};
  }
  return out;
}

const glen_completion *
glen_document_complete(glen_document *d, size_t at, uint32_t *n,
                       glen_place *replaced) {
  glen_context *ctx = d->ctx;
  *n = 0;
  API_ENTER(ctx, NULL);
  ed_completions found;
  ed_complete(d->document, offset_of(d, at), &found);
  glen_completion *out =
      BS_NEWS(&ctx->arena, glen_completion, found.list.len + 1);
  for (uint32_t k = 0; k < found.list.len; k++) {
    const ed_completion *c = &found.list.data[k];
    out[k] = (glen_completion){c->label, c->kind, c->detail, c->doc};
  }
  *replaced = place_of(ctx, found.replaced);
  *n = found.list.len;
  bs_vec_done(&ctx->heap, &found.list);
  return out;
}

/* --- at a place ----------------------------------------------------------- */

const char *
glen_document_hover(glen_document *d, size_t at, glen_place *what) {
  API_ENTER(d->ctx, NULL);
  bs_text text;
  bs_span span;
  bs_text_init(&text, &d->ctx->heap);
  if (!ed_hover(d->document, offset_of(d, at), &text, &span)) {
    bs_text_done(&text);
    return NULL;
  }
  *what = place_of(d->ctx, span);
  return api_string(d->ctx, &text);
}

/* The definitions that come with the language are part of the library; a copy
 * to look at stands in the folder of data, or in the sources. */
static const char *
copy_of_definitions(glen_context *ctx) {
  static const char *const at[] = {"definitions.glen",
                                   "src/glenside/text/definitions.glen"};
  char folder[PATH_MAX];
  bool known = glen_data_folder(folder, sizeof folder);
  for (int k = 0; known && k < 2; k++) {
    const char *path = bs_arena_printf(&ctx->arena, "%s/%s", folder, at[k]);
    if (!access(path, R_OK))
      return path;
  }
  return NULL;
}

bool
glen_document_definition(glen_document *d, size_t at, glen_place *out) {
  API_ENTER(d->ctx, false);
  const char *path;
  bs_span span;
  if (!ed_definition(d->document, offset_of(d, at), &path, &span))
    return false;
  if (!strcmp(path, GS_DEFINITIONS_PATH))
    path = copy_of_definitions(d->ctx);
  if (path)
    *out = (glen_place){path, span.lo, span.hi};
  return path != NULL;
}

/* --- names ---------------------------------------------------------------- */

static glen_use
use_of(const glen_context *ctx, const ed_use *use) {
  return (glen_use){place_of(ctx, use->span), place_of(ctx, use->name),
                    use->definition};
}

const glen_use *
glen_document_uses(glen_document *document, const char *path, size_t at,
                   uint32_t *n) {
  glen_context *ctx = document->ctx;
  const ed_document *d = document->document;
  *n = 0;
  API_ENTER(ctx, NULL);
  size_t most = path ? UINT32_MAX : offset_of(document, at);
  ed_use use;
  ed_references all;
  if (!ed_use_at(d, path, (uint32_t)(at < most ? at : most), &use) ||
      !ed_references_to(d, &use, &all))
    return NULL;
  glen_use *out = BS_NEWS(&ctx->arena, glen_use, all.len);
  for (uint32_t k = 0; k < all.len; k++)
    out[k] = use_of(ctx, &all.data[k]);
  *n = all.len;
  bs_vec_done(&ctx->heap, &all);
  return out;
}

const char *
glen_document_refuses(glen_document *document, size_t at, const char *name) {
  const ed_document *d = document->document;
  API_ENTER(document->ctx, "there is no memory for this");
  ed_use use;
  ed_references all;
  if (!ed_use_at(d, NULL, offset_of(document, at), &use) ||
      !ed_references_to(d, &use, &all))
    return "nothing here has a definition";
  bs_vec_done(&document->ctx->heap, &all);
  return ed_refuses(d, &use, name);
}

const glen_fix *
glen_document_fixes(glen_document *document, uint32_t *n) {
  glen_context *ctx = document->ctx;
  const ed_document *d = document->document;
  *n = 0;
  API_ENTER(ctx, NULL);
  glen_fix *out = BS_NEWS(&ctx->arena, glen_fix, d->findings.len + 1);
  for (uint32_t k = 0; k < d->findings.len; k++) {
    bs_span place;
    if (ed_fix_place(d, &d->findings.data[k], &place))
      out[(*n)++] =
          (glen_fix){k, place_of(ctx, place), d->findings.data[k].fix};
  }
  return out;
}

/* --- the whole text ------------------------------------------------------- */

const char *
glen_document_format(glen_document *d, size_t *size) {
  API_ENTER(d->ctx, NULL);
  bs_text text;
  bs_text_init(&text, &d->ctx->heap);
  if (d->document->language->questions ||
      !rl_format(&d->ctx->gs, d->document->raw, &text)) {
    bs_text_done(&text);
    return NULL;
  }
  *size = text.len;
  return api_string(d->ctx, &text);
}
