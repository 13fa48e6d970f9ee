/* SPDX-License-Identifier: MIT */
/* references.c - all places that mean what is named at a place, whether that
 * may have another name, and what words were perhaps meant to be. */
#include "base/characters.h"
#include "edit/edit.h"
#include <stdlib.h>
#include <string.h>

static const bs_source *
source_at(const ed_document *d, uint32_t source) {
  return &d->ctx->diags->sources.data[source - 1];
}

/* The last source that was read of a path, or 0. */
static uint32_t
source_of(const ed_document *d, const char *path) {
  const bs_diags *diags = d->ctx->diags;
  for (uint32_t k = diags->sources.len; k > 0; k--)
    if (!strcmp(diags->sources.data[k - 1].path, path))
      return k;
  return 0;
}

/* ---- what is meant ---- */

typedef struct finder {
  const ed_document *document;
  uint32_t at;
  bool found;
  ed_use *use;
} finder;

static void
find_here(void *arg, const ed_use *use) {
  finder *f = arg;
  if (f->found || f->at < use->span.lo || f->at > use->span.hi)
    return;
  *f->use = *use;
  f->found = true;
}

bool
ed_use_at(const ed_document *d, const char *path, uint32_t at, ed_use *out) {
  uint32_t source = source_of(d, path ? path : d->path);
  finder f = {.document = d, .at = at, .use = out};
  if (source)
    ed_uses(d, source, find_here, &f);
  return f.found;
}

typedef struct gatherer {
  const ed_document *document;
  const ed_use *meant;
  const char *name;
  uint32_t size;
  ed_references *out;
} gatherer;

static bool
is_same(const gatherer *g, const ed_use *use) {
  const ed_use *meant = g->meant;
  const char *text = source_at(g->document, use->name.file)->text;
  return use->role == meant->role && use->scope.file == meant->scope.file &&
         use->scope.lo == meant->scope.lo && use->scope.hi == meant->scope.hi &&
         use->name.hi - use->name.lo == g->size &&
         !memcmp(text + use->name.lo, g->name, g->size);
}

static void
gather(void *arg, const ed_use *use) {
  gatherer *g = arg;
  if (is_same(g, use))
    bs_push(g->document->ctx->heap, g->out, *use);
}

/* A word that nothing defines is an operator or a function; variables and
 * names within a declaration are defined where they stand first. */
static bool
are_defined(ed_references *all) {
  for (uint32_t k = 0; k < all->len; k++)
    if (all->data[k].definition)
      return true;
  if (!all->len ||
      (all->data[0].role != ED_VARIABLE && all->data[0].role != ED_LOCAL))
    return false;
  all->data[0].definition = true;
  return true;
}

bool
ed_references_to(const ed_document *d, const ed_use *meant,
                 ed_references *out) {
  gatherer g = {.document = d,
                .meant = meant,
                .name = source_at(d, meant->name.file)->text + meant->name.lo,
                .size = meant->name.hi - meant->name.lo,
                .out = out};
  *out = (ed_references){0};
  uint32_t n = d->ctx->diags->sources.len;
  for (uint32_t k = 1; k <= n; k++)
    if (source_of(d, source_at(d, k)->path) == k)
      ed_uses(d, k, gather, &g);
  if (are_defined(out))
    return true;
  bs_vec_done(d->ctx->heap, out);
  return false;
}

/* ---- another name ---- */

static bool
is_word(const char *name) {
  for (const char *at = name; *at; at++)
    if (bs_class_of(*at) != BS_TOKEN)
      return false;
  return *name != '\0';
}

static bool
is_number(const char *name) {
  char *end;
  strtod(name, &end);
  return !*end;
}

static bool
is_reserved_for(ed_role role, const char *name) {
  gs_op op;
  bool number =
      is_number(name) || !strcmp(name, "true") || !strcmp(name, "false");
  return number || strchr("?$:", name[0]) ||
         ((role == ED_INSTR || role == ED_DEFINITION) &&
          (gs_op_find(name, &op) || gs_is_reserved(name))) ||
         (role == ED_LOCAL &&
          (gs_is_reserved(name) || !strcmp(name, "result"))) ||
         (role == ED_VARIABLE && !strcmp(name, "_")) ||
         (role == ED_RULE && strchr(name, '~'));
}

typedef struct clash {
  const ed_document *document;
  const ed_use *meant;
  const char *name;
  bool found;
} clash;

static void
find_clash(void *arg, const ed_use *use) {
  clash *c = arg;
  gatherer g = {.document = c->document,
                .meant = c->meant,
                .name = c->name,
                .size = (uint32_t)strlen(c->name)};
  bool defines =
      use->definition || use->role == ED_VARIABLE || use->role == ED_LOCAL;
  c->found |= defines && is_same(&g, use);
}

static bool
is_taken(const ed_document *d, const ed_use *meant, const char *name) {
  clash c = {.document = d, .meant = meant, .name = name};
  uint32_t n = d->ctx->diags->sources.len;
  for (uint32_t k = 1; k <= n; k++)
    if (source_of(d, source_at(d, k)->path) == k)
      ed_uses(d, k, find_clash, &c);
  return c.found;
}

const char *
ed_refuses(const ed_document *d, const ed_use *meant, const char *name) {
  if (d->damaged.len)
    return "the parentheses here do not match, so some places cannot be seen";
  if (!is_word(name))
    return "a name has no spaces, parentheses, quotes or semicolons";
  if (is_reserved_for(meant->role, name))
    return "this word means something else and cannot be a name";
  return is_taken(d, meant, name) ? "something already has this name" : NULL;
}

/* ---- what was meant ---- */

/* The word at the place of a finding, or the head of the list there. */
bool
ed_fix_place(const ed_document *d, const bs_diag *finding, bs_span *out) {
  const bs_source *s = source_at(d, d->raw);
  uint32_t at = finding->span.lo;
  if (!finding->fix || !ed_is_own(d, finding->span))
    return false;
  at += at < s->size && s->text[at] == '(';
  *out = (bs_span){d->raw, at, at};
  while (out->hi < s->size && bs_class_of(s->text[out->hi]) == BS_TOKEN)
    out->hi++;
  if (d->language->questions) /* scripts have words of other characters */
    out->hi = finding->span.hi;
  return out->hi > out->lo;
}
