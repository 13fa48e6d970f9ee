/* SPDX-License-Identifier: MIT */
/* documents.c - open documents: texts, analyses, published findings.
 *
 * An analysis belongs to one state of a text and is thrown away with it.  All
 * open documents stand for their files in it, so that an unsaved include or
 * target counts as it looks in the editor. */
#include "lsp/server.h"
#include <stdlib.h>
#include <string.h>

lsp_document *
lsp_find_document(lsp_server *s, const char *uri) {
  for (size_t k = 0; k < s->n_documents; k++)
    if (!strcmp(s->documents[k]->uri, uri))
      return s->documents[k];
  return NULL;
}

static void
forget_analysis(lsp_document *d) {
  glen_context_free(d->glen);
  d->glen = NULL;
  d->analysis = NULL;
  d->queries = 0;
}

static void
free_document(lsp_document *d) {
  forget_analysis(d);
  lsp_text_done(&d->text);
  free(d->uri);
  free(d->path);
  free(d);
}

void
lsp_forget_all(lsp_server *s) {
  while (s->n_documents)
    free_document(s->documents[--s->n_documents]);
}

/* --- analysis ------------------------------------------------------------- */

static glen_target *
load_target(const lsp_server *s, glen_context *glen) {
  if (!s->target)
    return NULL;
  if (!strcmp(s->target, "native"))
    return glen_target_detect(glen);
  char *joined = NULL;
  if (s->root && s->target[0] != '/') {
    joined = malloc(strlen(s->root) + strlen(s->target) + 2);
    if (joined) {
      strcpy(joined, s->root);
      strcat(joined, "/");
      strcat(joined, s->target);
    }
  }
  glen_target *target = glen_target_load(glen, joined ? joined : s->target);
  free(joined);
  return target;
}

static void
analyse(lsp_server *s, lsp_document *d) {
  forget_analysis(d);
  if (!glen_is_source(d->path))
    return;
  d->glen = glen_context_new(NULL, LSP_MEMORY);
  if (!d->glen)
    return;
  glen_limit(d->glen, LSP_SECONDS, 0);
  for (size_t k = 0; k < s->n_documents; k++)
    glen_overlay(d->glen, s->documents[k]->path, s->documents[k]->text.data,
                 s->documents[k]->text.size);
  glen_target *target = load_target(s, d->glen);
  d->analysis = glen_document_read(d->glen, target, d->path);
}

/* What ended at a limit would end there again.  Each request has a time of its
 * own. */
glen_document *
lsp_analysis(lsp_server *s, lsp_document *d) {
  if (!d->glen || d->queries++ > LSP_MAX_QUERIES)
    analyse(s, d);
  else
    glen_limit(d->glen, LSP_SECONDS, 0);
  return d->analysis;
}

void
lsp_touch(lsp_server *s, const char *path) {
  for (size_t k = 0; k < s->n_documents; k++) {
    lsp_document *d = s->documents[k];
    for (uint32_t i = 0; d->glen && i < glen_files_read(d->glen); i++)
      if (!path || !strcmp(glen_file_read(d->glen, i), path))
        d->dirty = true;
  }
}

/* --- findings ------------------------------------------------------------- */

static json_t *
message_of(const glen_finding *f) {
  if (!f->hint || !*f->hint)
    return json_string(f->message);
  return json_sprintf("%s\n%s", f->message, f->hint);
}

json_t *
lsp_diagnostic(const lsp_document *d, const glen_finding *f) {
  int severity = f->severity[0] == 'e' ? 1 : f->severity[0] == 'w' ? 2 : 3;
  return json_pack("{s:o, s:i, s:s, s:s, s:o}", "range",
                   lsp_range(&d->text, f->place.lo, f->place.hi), "severity",
                   severity, "code", f->code ? f->code : "note", "source",
                   "glen", "message", message_of(f));
}

/* A note to a finding becomes information related to it. */
static void
add_related(lsp_server *s, json_t *finding, const glen_finding *note) {
  json_t *list = json_object_get(finding, "relatedInformation");
  json_t *location = lsp_location(s, &note->place);
  if (!location)
    return;
  if (!list) {
    list = json_array();
    json_object_set_new(finding, "relatedInformation", list);
  }
  json_array_append_new(list, json_pack("{s:o, s:s}", "location", location,
                                        "message", note->message));
}

/* An editor that shows nothing would say that all is well. */
static json_t *
unfinished(const lsp_document *d) {
  return json_pack("{s:o, s:i, s:s, s:s, s:s}", "range",
                   lsp_range(&d->text, 0, 0), "severity", 2, "code",
                   "too-large", "source", "glen", "message",
                   "this file is too large to be looked at while it is edited");
}

static json_t *
findings_of(lsp_server *s, lsp_document *d) {
  json_t *out = json_array(), *last = NULL;
  uint32_t n = 0;
  if (d->glen && !d->analysis)
    json_array_append_new(out, unfinished(d));
  const glen_finding *list =
      d->analysis ? glen_document_findings(d->analysis, &n) : NULL;
  for (uint32_t k = 0; k < n; k++) {
    if (!list[k].code && last) {
      add_related(s, last, &list[k]);
      continue;
    }
    last = lsp_diagnostic(d, &list[k]);
    json_array_append_new(out, last);
  }
  return out;
}

static void
publish(lsp_server *s, lsp_document *d) {
  d->dirty = false;
  analyse(s, d);
  lsp_notify(s, "textDocument/publishDiagnostics",
             json_pack("{s:s, s:I, s:o}", "uri", d->uri, "version",
                       (json_int_t)d->version, "diagnostics",
                       findings_of(s, d)));
}

void
lsp_publish_changed(lsp_server *s) {
  for (size_t k = 0; k < s->n_documents; k++)
    if (s->documents[k]->dirty)
      publish(s, s->documents[k]);
}

/* --- notifications -------------------------------------------------------- */

static lsp_document *
document_of(lsp_server *s, json_t *params) {
  const char *uri = json_string_value(
      json_object_get(json_object_get(params, "textDocument"), "uri"));
  return uri ? lsp_find_document(s, uri) : NULL;
}

static void
set_version(lsp_document *d, json_t *params) {
  json_t *version =
      json_object_get(json_object_get(params, "textDocument"), "version");
  if (json_is_integer(version))
    d->version = json_integer_value(version);
}

static void
changed(lsp_server *s, lsp_document *d) {
  lsp_touch(s, d->path);
  d->dirty = true;
}

void
lsp_did_open(lsp_server *s, json_t *params) {
  json_t *item = json_object_get(params, "textDocument");
  json_t *text = json_object_get(item, "text");
  const char *uri = json_string_value(json_object_get(item, "uri"));
  const char *language = json_string_value(json_object_get(item, "languageId"));
  if (!uri || !json_is_string(text))
    return;
  lsp_document *d = lsp_find_document(s, uri);
  if (!d && s->n_documents == LSP_MAX_DOCUMENTS)
    return;
  if (!d) {
    d = calloc(1, sizeof *d);
    if (!d)
      return;
    d->uri = strdup(uri);
    d->path = lsp_path_of(uri, language ? language : "");
    if (!d->uri || !d->path || !lsp_text_set(&d->text, "", 0)) {
      free_document(d);
      return;
    }
    s->documents[s->n_documents++] = d;
  }
  lsp_text_set(&d->text, json_string_value(text), json_string_length(text));
  set_version(d, params);
  changed(s, d);
}

static uint32_t
natural(json_t *value) {
  json_int_t n = json_integer_value(value);
  return n < 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static size_t
offset_of(const lsp_document *d, json_t *position) {
  lsp_position p = {natural(json_object_get(position, "line")),
                    natural(json_object_get(position, "character"))};
  return lsp_offset(&d->text, p);
}

static void
apply_change(lsp_document *d, json_t *change) {
  json_t *text = json_object_get(change, "text");
  json_t *range = json_object_get(change, "range");
  if (!json_is_string(text))
    return;
  size_t lo = 0, hi = d->text.size;
  if (json_is_object(range)) {
    lo = offset_of(d, json_object_get(range, "start"));
    hi = offset_of(d, json_object_get(range, "end"));
  }
  if (hi < lo)
    hi = lo;
  if (d->text.size - (hi - lo) + json_string_length(text) <= LSP_MAX_BODY)
    lsp_text_splice(&d->text, lo, hi, json_string_value(text),
                    json_string_length(text));
}

void
lsp_did_change(lsp_server *s, json_t *params) {
  lsp_document *d = document_of(s, params);
  json_t *changes = json_object_get(params, "contentChanges");
  if (!d)
    return;
  for (size_t k = 0; k < json_array_size(changes); k++)
    apply_change(d, json_array_get(changes, k));
  set_version(d, params);
  changed(s, d);
}

/* The findings of a document that is closed are taken back. */
void
lsp_did_close(lsp_server *s, json_t *params) {
  lsp_document *d = document_of(s, params);
  if (!d)
    return;
  size_t k = 0;
  while (s->documents[k] != d)
    k++;
  memmove(s->documents + k, s->documents + k + 1,
          (--s->n_documents - k) * sizeof *s->documents);
  lsp_notify(s, "textDocument/publishDiagnostics",
             json_pack("{s:s, s:[]}", "uri", d->uri, "diagnostics"));
  lsp_touch(s, d->path);
  free_document(d);
}
