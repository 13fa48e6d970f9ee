/* SPDX-License-Identifier: MIT */
/* symbols.c - what the forms of a document and of the files behind it define.
 *
 * The language's table of forms tells which forms give their second item a
 * meaning; they are looked for in the tree of every source that was read.  A
 * form of the top is seen everywhere; what stands within another is seen in
 * that one only, but for rules of a ruleset and settings of a target. */
#include "edit/edit.h"
#include <assert.h>
#include <string.h>

typedef struct collector {
  ed_document *document;
  const ed_language *language; /* of this source */
  bs_sexps tree;
} collector;

static const bs_sx *
at(const collector *c, uint32_t node) {
  assert(node < c->tree.nodes.len);
  return &c->tree.nodes.data[node];
}

static const char *
head_of(const collector *c, uint32_t node) {
  return node ? bs_sx_head(&c->tree, c->document->ctx->values, node) : NULL;
}

static bool
is_global(const ed_form *form) {
  return !form->within || strcmp(form->within, "program");
}

static uint32_t
add_symbol(collector *c, const ed_form *form, uint32_t node, uint32_t root,
           uint32_t parent) {
  ed_document *d = c->document;
  uint32_t name = bs_sx_item(&c->tree, node, 1);
  if (name && at(c, name)->kind == BS_SX_LIST && !strcmp(form->head, "define"))
    name = bs_sx_item(&c->tree, name, 0);
  if (!name || at(c, name)->kind != BS_SX_SYM)
    return parent;
  ed_symbol s = {.name = bs_as_sym(d->ctx->values, at(c, name)->value),
                 .head = form->head,
                 .name_span = at(c, name)->span,
                 .form = at(c, node)->span,
                 .parent = parent,
                 .n_items = at(c, node)->count};
  if (!is_global(form))
    s.scope = at(c, root)->span;
  bs_push(d->ctx->heap, &d->symbols, s);
  return d->symbols.len;
}

/* The forms within one of the top, at most two lists further in. */
static void
collect_within(collector *c, uint32_t list, uint32_t root, uint32_t parent,
               int depth) {
  const char *around = head_of(c, list);
  if (!around)
    return;
  for (uint32_t x = bs_sx_first(&c->tree, list); x; x = at(c, x)->next) {
    const char *head = head_of(c, x);
    const ed_form *f = head ? ed_find_form(c->language, head, around) : NULL;
    if (f)
      add_symbol(c, f, x, root, parent);
    else if (depth && head)
      collect_within(c, x, root, parent, depth - 1);
  }
}

static void
collect_form(collector *c, uint32_t root) {
  const char *head = head_of(c, root);
  const ed_form *f = head ? ed_find_form(c->language, head, NULL) : NULL;
  uint32_t parent = f ? add_symbol(c, f, root, root, 0) : 0;
  collect_within(c, root, root, parent, 1);
}

/* The last source of a path is what was read of it. */
static bool
is_last(const bs_diags *diags, uint32_t source) {
  for (uint32_t k = source; k < diags->sources.len; k++)
    if (!strcmp(diags->sources.data[k].path,
                diags->sources.data[source - 1].path))
      return false;
  return true;
}

void
ed_collect_symbols(ed_document *d) {
  const gs_context *ctx = d->ctx;
  for (uint32_t k = 1; k <= ctx->diags->sources.len; k++) {
    const bs_source *s = &ctx->diags->sources.data[k - 1];
    collector c = {.document = d, .language = ed_language_of(s->path)};
    if (!c.language || c.language->questions || !is_last(ctx->diags, k))
      continue;
    if (bs_sexp_read(ctx->heap, ctx->values, ctx->diags, k, &c.tree))
      for (uint32_t i = 0; i < c.tree.roots.len; i++)
        collect_form(&c, c.tree.roots.data[i]);
    bs_sexps_done(ctx->heap, &c.tree);
  }
}

/* --- names ---------------------------------------------------------------- */

/* `transpose-twice~rev` is of the rule `transpose-twice`. */
static bool
is_named(const ed_symbol *s, const char *name, size_t n) {
  const char *tail = name + n;
  return strlen(s->name) == n && !memcmp(s->name, name, n) &&
         (!*tail || !strcmp(tail, "~fwd") || !strcmp(tail, "~rev"));
}

static bool
is_seen(const ed_document *d, const ed_symbol *s, uint32_t at) {
  return !s->scope.file ||
         (ed_is_own(d, s->scope) && s->scope.lo <= at && at <= s->scope.hi);
}

/* `$quantum` is a parameter or a setting, never a rule. */
static bool
fits(const ed_symbol *s, bool parameter) {
  bool value = !strcmp(s->head, "param") || !strcmp(s->head, "set") ||
               !strcmp(s->head, "default");
  return value || !parameter;
}

const ed_symbol *
ed_resolve(const ed_document *d, const char *name, uint32_t at) {
  bool parameter = name[0] == '$';
  name += parameter;
  size_t n = strcspn(name, "~");
  const ed_symbol *found = NULL;
  for (uint32_t k = 0; k < d->symbols.len; k++) {
    const ed_symbol *s = &d->symbols.data[k];
    if (!fits(s, parameter) || !is_named(s, name, n) || !is_seen(d, s, at))
      continue;
    if (!found || (ed_is_own(d, s->form) && !ed_is_own(d, found->form)))
      found = s;
  }
  return found;
}
