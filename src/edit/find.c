/* SPDX-License-Identifier: MIT */
/* find.c - where what is named at a place is defined.
 *
 * A string behind include or prelude-file is a file, unless it is empty; for a
 * word it is asked what it names there (edit_uses.c).  Where parentheses do not
 * match that is not known: then a variable is defined where its form has it
 * first, and all else is a symbol. */
#include "base/file.h"
#include "base/places.h"
#include "edit/edit.h"
#include <string.h>
#include <unistd.h>

static bool
names_file(const char *head) {
  return !strcmp(head, "include") || !strcmp(head, "prelude-file");
}

static bool
find_file(const ed_document *d, const ed_cursor *c, const char **path,
          bs_span *out) {
  const bs_source *s = &d->ctx->diags->sources.data[d->raw - 1];
  if (!c->string || !names_file(ed_head(d, c, 0)) || c->hi < c->lo + 3)
    return false;
  const char *name = bs_arena_printf(
      d->ctx->arena, "%.*s", (int)(c->hi - c->lo - 2), s->text + c->lo + 1);
  const bs_place *kind = !strcmp(d->language->suffix, ".rules")
                             ? &bs_rules_place
                             : &bs_targets_place;
  *path = bs_path_included(d->ctx->arena, kind, d->path, name);
  *out = BS_NOWHERE;
  return !access(*path, R_OK);
}

/* Of a head that the language defines. */
static bool
find_definition(const ed_document *d, const ed_cursor *c, const char *word,
                const char **path, bs_span *out) {
  bool head = c->frames.len && bs_last(&c->frames).lo == c->lo;
  const gs_definition *x =
      head ? gs_find_definition(&d->definitions, word) : NULL;
  if (!x)
    return false;
  *out = x->name_span;
  *path = d->ctx->diags->sources.data[x->name_span.file - 1].path;
  return true;
}

static bool
find_symbol(const ed_document *d, const char *word, uint32_t at,
            const char **path, bs_span *out) {
  const ed_symbol *s = ed_resolve(d, word, at);
  if (!s)
    return false;
  *out = s->name_span;
  *path = d->ctx->diags->sources.data[s->name_span.file - 1].path;
  return true;
}

/* One in the document itself goes first. */
static bool
find_use(const ed_document *d, uint32_t at, const char **path, bs_span *out) {
  ed_use use;
  ed_references all;
  bool found = false;
  if (!ed_use_at(d, NULL, at, &use) || !ed_references_to(d, &use, &all))
    return false;
  for (uint32_t k = 0; k < all.len; k++) {
    const ed_use *x = &all.data[k];
    if (!x->definition || (found && !ed_is_own(d, x->span)))
      continue;
    found = true;
    *out = x->span;
    *path = d->ctx->diags->sources.data[x->span.file - 1].path;
    if (ed_is_own(d, x->span))
      break;
  }
  bs_vec_done(d->ctx->heap, &all);
  return found;
}

bool
ed_definition(const ed_document *d, uint32_t at, const char **path,
              bs_span *out) {
  ed_cursor c;
  if (d->language->questions)
    return d->language->questions->definition(d, at, path, out);
  ed_look(d, at, &c);
  const char *word = ed_word(d, &c);
  bool local = *word && c.frames.len &&
               (word[0] == '?' || (d->described && !gs_is_reserved(word)));
  bool found = find_file(d, &c, path, out) || find_use(d, at, path, out) ||
               find_definition(d, &c, word, path, out) ||
               (*word && find_symbol(d, word, at, path, out));
  if (!found && local) {
    *path = d->path;
    found = ed_first_in_form(d, &c, word, out);
  }
  ed_cursor_done(d, &c);
  return found;
}
