/* SPDX-License-Identifier: MIT */
/* lsp_names.c - places that mean the same, in all open documents and the files
 * that they read: references, highlights, renaming. */
#include "lsp/server.h"
#include <stdlib.h>
#include <string.h>

/* What a document says of the place of a request, then what other documents say
 * of its definition. */
typedef struct places {
  lsp_server *server;
  json_t *seen; /* keys "uri:lo" */
  bool declarations;
  void (*take)(struct places *, const glen_use *, json_t *location);
  json_t *out;
} places;

static bool
is_new(places *p, json_t *location, size_t lo) {
  const char *uri = json_string_value(json_object_get(location, "uri"));
  json_t *key = json_sprintf("%s:%zu", uri, lo);
  bool fresh = key && !json_object_get(p->seen, json_string_value(key));
  if (fresh)
    json_object_set_new(p->seen, json_string_value(key), json_true());
  json_decref(key);
  return fresh;
}

static void
take_uses(places *p, const glen_use *uses, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    if (uses[k].definition && !p->declarations)
      continue;
    json_t *location = lsp_location(p->server, &uses[k].place);
    if (location && is_new(p, location, uses[k].place.lo))
      p->take(p, &uses[k], location);
    json_decref(location);
  }
}

/* The path by which another document has read a file, or NULL. */
static const char *
path_in(const lsp_document *d, const char *path) {
  for (uint32_t k = 0; d->glen && k < glen_files_read(d->glen); k++) {
    const char *read = glen_file_read(d->glen, k);
    if (!strcmp(read, path) || glen_same_file(read, path))
      return read;
  }
  return NULL;
}

static void
take_others(places *p, const lsp_question *q, const glen_use *definition) {
  lsp_server *s = p->server;
  for (size_t k = 0; k < s->n_documents; k++) {
    uint32_t n = 0;
    lsp_document *d = s->documents[k];
    const char *path =
        d == q->document ? NULL : path_in(d, definition->place.path);
    glen_document *analysis = path ? lsp_analysis(s, d) : NULL;
    const glen_use *uses =
        analysis ? glen_document_uses(analysis, path, definition->place.lo, &n)
                 : NULL;
    take_uses(p, uses, uses ? n : 0);
  }
}

static const glen_use *
definition_of(const glen_use *uses, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (uses[k].definition)
      return &uses[k];
  return NULL;
}

static json_t *
gather(places *p, const lsp_question *q) {
  uint32_t n = 0;
  const glen_use *uses =
      q->analysis ? glen_document_uses(q->analysis, NULL, q->at, &n) : NULL;
  const glen_use *definition = definition_of(uses, uses ? n : 0);
  p->seen = json_object();
  take_uses(p, uses, uses ? n : 0);
  if (definition)
    take_others(p, q, definition);
  json_decref(p->seen);
  return p->out;
}

/* ---- references ---- */

static void
take_reference(places *p, const glen_use *use, json_t *location) {
  (void)use;
  json_array_append(p->out, location);
}

json_t *
lsp_answer_references(lsp_server *s, json_t *params, lsp_failure *f) {
  lsp_question q;
  if (!lsp_ask_place(s, params, f, &q))
    return NULL;
  json_t *context = json_object_get(params, "context");
  places p = {.server = s,
              .declarations =
                  json_is_true(json_object_get(context, "includeDeclaration")),
              .take = take_reference,
              .out = json_array()};
  return gather(&p, &q);
}

json_t *
lsp_answer_highlights(lsp_server *s, json_t *params, lsp_failure *f) {
  enum { READ = 2, WRITE = 3 }; /* DocumentHighlightKind */
  lsp_question q;
  uint32_t n = 0;
  if (!lsp_ask_place(s, params, f, &q))
    return NULL;
  const glen_use *uses =
      q.analysis ? glen_document_uses(q.analysis, NULL, q.at, &n) : NULL;
  json_t *out = json_array();
  for (uint32_t k = 0; uses && k < n; k++)
    if (!strcmp(uses[k].place.path, q.document->path))
      json_array_append_new(
          out, json_pack("{s:o, s:i}", "range",
                         lsp_range(&q.document->text, uses[k].place.lo,
                                   uses[k].place.hi),
                         "kind", uses[k].definition ? WRITE : READ));
  return out;
}

/* ---- renaming ---- */

/* Rules and targets that are installed stay as they are. */
static bool
is_of_workspace(const lsp_server *s, const char *path) {
  size_t n = s->root ? strlen(s->root) : 0;
  for (size_t k = 0; k < s->n_documents; k++)
    if (!strcmp(s->documents[k]->path, path))
      return true;
  return n && !strncmp(path, s->root, n) && path[n] == '/';
}

static const char *
refusal(lsp_server *s, const lsp_question *q, const char *name) {
  uint32_t n = 0;
  const glen_use *uses =
      q->analysis ? glen_document_uses(q->analysis, NULL, q->at, &n) : NULL;
  if (!uses || !n)
    return "nothing here has a definition";
  for (uint32_t k = 0; k < n; k++)
    if (!is_of_workspace(s, uses[k].place.path))
      return "a file outside of the open folder has this name, too";
  return name ? glen_document_refuses(q->analysis, q->at, name) : NULL;
}

json_t *
lsp_answer_prepare(lsp_server *s, json_t *params, lsp_failure *f) {
  lsp_question q;
  uint32_t n = 0;
  if (!lsp_ask_place(s, params, f, &q))
    return NULL;
  const char *why = refusal(s, &q, NULL);
  if (why)
    return lsp_fail(f, LSP_REQUEST_FAILED, why);
  const lsp_text *t = &q.document->text;
  const glen_use *uses = glen_document_uses(q.analysis, NULL, q.at, &n);
  for (uint32_t k = 0; uses && k < n; k++) {
    const glen_place *name = &uses[k].name;
    if (!strcmp(name->path, q.document->path) && uses[k].place.lo <= q.at &&
        q.at <= uses[k].place.hi)
      return json_pack("{s:o, s:s%}", "range", lsp_range(t, name->lo, name->hi),
                       "placeholder", t->data + name->lo, name->hi - name->lo);
  }
  return json_null();
}

/* Collects {uri: [edit...]} under "changes"; the new name is kept beside. */
static void
take_edit(places *p, const glen_use *use, json_t *location) {
  json_t *changes = json_object_get(p->out, "changes");
  const char *uri = json_string_value(json_object_get(location, "uri"));
  json_t *edits = json_object_get(changes, uri);
  json_t *place = lsp_location(p->server, &use->name);
  if (!edits) {
    edits = json_array();
    json_object_set_new(changes, uri, edits);
  }
  if (place)
    json_array_append_new(
        edits, json_pack("{s:O, s:O}", "range", json_object_get(place, "range"),
                         "newText", json_object_get(p->out, "newText")));
  json_decref(place);
}

json_t *
lsp_answer_rename(lsp_server *s, json_t *params, lsp_failure *f) {
  lsp_question q;
  const char *name = json_string_value(json_object_get(params, "newName"));
  if (!lsp_ask_place(s, params, f, &q))
    return NULL;
  if (!name)
    return lsp_fail(f, LSP_INVALID_PARAMS, "newName is missing");
  name += name[0] && strchr("?$:", name[0]); /* the mark stays where it is */
  const char *why = refusal(s, &q, name);
  if (why)
    return lsp_fail(f, LSP_REQUEST_FAILED, why);
  places p = {.server = s,
              .declarations = true,
              .take = take_edit,
              .out = json_pack("{s:{}, s:s}", "changes", "newText", name)};
  json_t *out = gather(&p, &q);
  json_object_del(out, "newText");
  return out;
}
