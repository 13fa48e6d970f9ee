/* SPDX-License-Identifier: MIT */
/* fixes.c - code actions: what a finding says was perhaps meant takes the place
 * of what stands there. */
#include "lsp/server.h"
#include <string.h>

/* The range of the request, as bytes of the text. */
static bool
take_range(const lsp_text *text, json_t *range, size_t *lo, size_t *hi) {
  return lsp_take_position(text, json_object_get(range, "start"), lo) &&
         lsp_take_position(text, json_object_get(range, "end"), hi);
}

/* Clients may ask for some kinds alone; "" is all. */
static bool
wants_fixes(json_t *params) {
  json_t *only = json_object_get(json_object_get(params, "context"), "only");
  bool wanted = !json_is_array(only);
  for (size_t k = 0; k < json_array_size(only); k++) {
    const char *kind = json_string_value(json_array_get(only, k));
    wanted |= kind && (!*kind || !strcmp(kind, "quickfix"));
  }
  return wanted;
}

static json_t *
action(const lsp_document *d, const glen_fix *fix,
       const glen_finding *finding) {
  const lsp_text *t = &d->text;
  json_t *edit = json_pack("{s:{s:[{s:o, s:s}]}}", "changes", d->uri, "range",
                           lsp_range(t, fix->place.lo, fix->place.hi),
                           "newText", fix->text);
  json_t *title = json_sprintf("Replace `%.*s` by `%s`",
                               (int)(fix->place.hi - fix->place.lo),
                               t->data + fix->place.lo, fix->text);
  return json_pack("{s:o, s:s, s:[o], s:b, s:o}", "title", title, "kind",
                   "quickfix", "diagnostics", lsp_diagnostic(d, finding),
                   "isPreferred", 1, "edit", edit);
}

json_t *
lsp_answer_actions(lsp_server *s, json_t *params, lsp_failure *f) {
  lsp_question q;
  size_t lo, hi;
  uint32_t n = 0, findings = 0;
  if (!lsp_ask_document(s, params, f, &q))
    return NULL;
  if (!take_range(&q.document->text, json_object_get(params, "range"), &lo,
                  &hi))
    return lsp_fail(f, LSP_INVALID_PARAMS, "the range is not two positions");
  json_t *out = json_array();
  if (!q.analysis || !wants_fixes(params))
    return out;
  const glen_finding *found = glen_document_findings(q.analysis, &findings);
  const glen_fix *fixes = glen_document_fixes(q.analysis, &n);
  for (uint32_t k = 0; k < n && fixes[k].finding < findings; k++) {
    const glen_finding *x = &found[fixes[k].finding];
    if (x->place.lo <= hi && lo <= x->place.hi)
      json_array_append_new(out, action(q.document, &fixes[k], x));
  }
  return out;
}
