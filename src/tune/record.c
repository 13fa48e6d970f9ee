/* SPDX-License-Identifier: MIT */
/* record.c - the file of results: JSON, read and written whole.
 *
 *   {"schema": 1, "kind": "glen-tune", "entries": [
 *     {"key": "...", "program": "...", "glen": "...", "target": "...",
 *      "compiler": "...", "chosen": "...", "candidates": [
 *        {"name": "...", "code": "...", "status": "ok", "seconds": 0.001,
 *         "rounds": 3, "message": "...", "script": "..."}]}]}
 *
 * One entry a key; entries of other keys stay as they are.  A candidate is
 * known again by its name and the hash of its code, so that what a newer glen
 * writes otherwise is measured anew.  A file that is not of this form is an
 * error and is left as it is. */
#include "tune/tune.h"
#include "base/file.h"
#include "glen-features.h"
#include <assert.h>
#include <string.h>

#if GLEN_HAVE_JANSSON
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <unistd.h>

static bool
fault(const tu_search *s, const char *what) {
  bs_error(s->ctx->diags, BS_NOWHERE, "tune-file", "%s: %s", s->options->file,
           what);
  bs_hint(s->ctx->diags, "results of --tune are read from it; name another "
                         "file, or none, to begin anew");
  return false;
}

static const char *
text_of(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

/* -1 for a word that is none. */
static int
status_of(const char *word) {
  for (int k = 0; word && k < TU_STATUSES; k++)
    if (!strcmp(word, tu_status_names[k]))
      return k;
  return -1;
}

static bool
is_candidate(const json_t *c) {
  int status = status_of(text_of(c, "status"));
  const json_t *seconds = json_object_get(c, "seconds");
  const json_t *rounds = json_object_get(c, "rounds");
  if (!json_is_object(c) || !text_of(c, "name") || !text_of(c, "code") ||
      status < 0 || !json_is_integer(rounds) ||
      json_integer_value(rounds) < 0 || json_integer_value(rounds) > INT32_MAX)
    return false;
  return status != TU_OK ||
         (json_is_number(seconds) && isfinite(json_number_value(seconds)) &&
          json_number_value(seconds) > 0);
}

static bool
is_entry(const json_t *e) {
  const json_t *list = json_object_get(e, "candidates");
  if (!json_is_object(e) || !text_of(e, "key") || !json_is_array(list))
    return false;
  for (size_t k = 0; k < json_array_size(list); k++)
    if (!is_candidate(json_array_get(list, k)))
      return false;
  return true;
}

static bool
check(const tu_search *s, const json_t *root) {
  const json_t *entries = json_object_get(root, "entries");
  const char *kind = text_of(root, "kind");
  char what[80];
  if (!json_is_object(root) || !kind || strcmp(kind, "glen-tune") != 0)
    return fault(s, "this is not a file of tuning results");
  if (json_integer_value(json_object_get(root, "schema")) != 1)
    return fault(s, "its schema is not 1: another version wrote it");
  if (!json_is_array(entries))
    return fault(s, "\"entries\" is not a list");
  for (size_t k = 0; k < json_array_size(entries); k++) {
    if (is_entry(json_array_get(entries, k)))
      continue;
    snprintf(what, sizeof what, "entry %zu is malformed", k + 1);
    return fault(s, what);
  }
  return true;
}

/* An empty record where there is no file; NULL with a diagnostic. */
static json_t *
load(const tu_search *s) {
  json_error_t e;
  if (access(s->options->file, F_OK) && errno == ENOENT)
    return json_pack("{s:i, s:s, s:[]}", "schema", 1, "kind", "glen-tune",
                     "entries");
  const char *why;
  int descriptor = bs_open_input(s->options->file, &why);
  if (descriptor < 0) {
    fault(s, why);
    return NULL;
  }
  json_t *root = json_loadfd(descriptor, JSON_REJECT_DUPLICATES, &e);
  close(descriptor);
  if (!root) {
    char what[JSON_ERROR_TEXT_LENGTH + 64];
    snprintf(what, sizeof what, "line %d, column %d: %s", e.line, e.column,
             e.text);
    fault(s, what);
    return NULL;
  }
  if (check(s, root))
    return root;
  json_decref(root);
  return NULL;
}

static json_t *
find(const json_t *list, const char *key, const char *value) {
  for (size_t k = 0; k < json_array_size(list); k++) {
    json_t *one = json_array_get(list, k);
    if (!strcmp(text_of(one, key), value))
      return one;
  }
  return NULL;
}

static void
take(tu_search *s, tu_candidate *c, const json_t *known) {
  const char *message = text_of(known, "message");
  int word = status_of(text_of(known, "status"));
  assert(word >= 0); /* is_candidate has seen to it */
  tu_status status = (tu_status)word;
  if (strcmp(text_of(known, "code"), c->code) != 0 || status == TU_NEW)
    return;
  c->status = status;
  c->rounds = (uint32_t)json_integer_value(json_object_get(known, "rounds"));
  c->seconds = json_number_value(json_object_get(known, "seconds"));
  c->message = message ? bs_arena_strdup(s->ctx->arena, message) : NULL;
  s->resumed++;
}

bool
tu_read_record(tu_search *s) {
  if (!s->options->file)
    return true;
  json_t *root = load(s);
  if (!root)
    return false;
  json_t *entry = find(json_object_get(root, "entries"), "key", s->key);
  for (uint32_t k = 0; entry && k < s->list.len; k++) {
    json_t *known = find(json_object_get(entry, "candidates"), "name",
                         s->list.data[k].strategy.name);
    if (known)
      take(s, &s->list.data[k], known);
  }
  json_decref(root);
  return true;
}

/* ---- writing ---- */

static json_t *
candidate_json(const tu_candidate *c) {
  json_t *o = json_pack("{s:s, s:s, s:s, s:i, s:f, s:s}", "name",
                        c->strategy.name, "code", c->code, "status",
                        tu_status_names[c->status], "rounds", (int)c->rounds,
                        "cost", c->strategy.cost, "script", c->strategy.script);
  if (o && c->status == TU_OK)
    json_object_set_new(o, "seconds", json_real(c->seconds));
  if (o && c->message)
    json_object_set_new(o, "message", json_string(c->message));
  return o;
}

/* Candidates of the file that this search did not look at stay known. */
static void
keep_others(const tu_search *s, json_t *list, const json_t *old) {
  const json_t *known = json_object_get(old, "candidates");
  for (size_t k = 0; k < json_array_size(known); k++) {
    json_t *c = json_array_get(known, k);
    if (!find(list, "name", text_of(c, "name")))
      json_array_append(list, c);
  }
  (void)s;
}

static json_t *
entry_json(const tu_search *s, const json_t *old) {
  const gs_target *target = s->program->target;
  json_t *list = json_array();
  for (uint32_t k = 0; list && k < s->list.len; k++)
    json_array_append_new(list, candidate_json(&s->list.data[k]));
  if (list && old)
    keep_others(s, list, old);
  return json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "key", s->key, "program",
      s->options->program_name, "glen", s->options->version, "target",
      target ? target->name : "default", "compiler", s->compiler, "chosen",
      s->list.data[s->best].strategy.name, "candidates", list);
}

static void
replace(json_t *entries, json_t *entry, const char *key) {
  for (size_t k = 0; k < json_array_size(entries); k++)
    if (!strcmp(text_of(json_array_get(entries, k), "key"), key)) {
      json_array_set_new(entries, k, entry);
      return;
    }
  json_array_append_new(entries, entry);
}

bool
tu_write_record(const tu_search *s) {
  if (!s->options->file)
    return true;
  json_t *root = load(s);
  if (!root)
    return false;
  json_t *entries = json_object_get(root, "entries");
  json_t *entry = entry_json(s, find(entries, "key", s->key));
  if (entry)
    replace(entries, entry, s->key);
  char *text = entry ? json_dumps(root, JSON_INDENT(1)) : NULL;
  bool ok = text && bs_file_write_now(s->ctx->diags, s->options->file, text,
                                      strlen(text));
  if (!text)
    fault(s, "out of memory");
  free(text);
  json_decref(root);
  return ok;
}

#else

bool
tu_read_record(tu_search *s) {
  if (!s->options->file)
    return true;
  bs_error(s->ctx->diags, BS_NOWHERE, "no-jansson",
           "results of tuning cannot be kept: this glen was built without "
           "jansson");
  bs_hint(s->ctx->diags, "build with jansson (-Djansson=enabled)");
  return false;
}

bool
tu_write_record(const tu_search *s) {
  return !s->options->file;
}

#endif
