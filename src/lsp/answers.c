/* SPDX-License-Identifier: MIT */
/* answers.c - what the server answers to each request. */
#include "lsp/server.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static json_t *
position(const lsp_text *t, size_t offset) {
  lsp_position p = lsp_position_of(t, offset);
  return json_pack("{s:I, s:I}", "line", (json_int_t)p.line, "character",
                   (json_int_t)p.character);
}

json_t *
lsp_range(const lsp_text *t, size_t lo, size_t hi) {
  return json_pack("{s:o, s:o}", "start", position(t, lo), "end",
                   position(t, hi > lo ? hi : lo));
}

/* --- places in files ------------------------------------------------------ */

/* The lines of a file that is not open, read again. */
static bool
read_text(const char *path, lsp_text *out) {
  struct stat status;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  bool regular =
      descriptor >= 0 && !fstat(descriptor, &status) && S_ISREG(status.st_mode);
  FILE *f = regular ? fdopen(descriptor, "rb") : NULL;
  if (!f && descriptor >= 0)
    close(descriptor);
  char *data = f ? malloc(LSP_MAX_BODY) : NULL;
  size_t n = data ? fread(data, 1, LSP_MAX_BODY, f) : 0;
  bool ok = data && lsp_text_set(out, data, n);
  free(data);
  if (f)
    fclose(f);
  return ok;
}

static const lsp_document *
open_document(const lsp_server *s, const char *path) {
  for (size_t k = 0; k < s->n_documents; k++)
    if (!strcmp(s->documents[k]->path, path))
      return s->documents[k];
  return NULL;
}

json_t *
lsp_location(lsp_server *s, const glen_place *place) {
  char buffer[PATH_MAX];
  if (!place->path)
    return NULL;
  const lsp_document *d = open_document(s, place->path);
  const char *path = place->path;
  if (!d && realpath(path, buffer)) {
    path = buffer;
    d = open_document(s, path);
  }
  if (d)
    return json_pack("{s:s, s:o}", "uri", d->uri, "range",
                     lsp_range(&d->text, place->lo, place->hi));
  lsp_text text = {0};
  char *uri = lsp_uri_of(path);
  json_t *out = NULL;
  if (uri && read_text(path, &text))
    out = json_pack("{s:s, s:o}", "uri", uri, "range",
                    lsp_range(&text, place->lo, place->hi));
  lsp_text_done(&text);
  free(uri);
  return out;
}

/* --- questions about a place of a document -------------------------------- */

json_t *
lsp_fail(lsp_failure *f, int code, const char *message) {
  f->code = code;
  f->message = message;
  return NULL;
}

bool
lsp_ask_document(lsp_server *s, json_t *params, lsp_failure *f,
                 lsp_question *out) {
  const char *uri = json_string_value(
      json_object_get(json_object_get(params, "textDocument"), "uri"));
  out->document = uri ? lsp_find_document(s, uri) : NULL;
  if (!out->document) {
    lsp_fail(f, LSP_INVALID_PARAMS, "textDocument.uri names no open document");
    return false;
  }
  out->analysis = lsp_analysis(s, out->document);
  return true;
}

bool
lsp_take_position(const lsp_text *text, json_t *p, size_t *out) {
  json_t *line = json_object_get(p, "line");
  json_t *character = json_object_get(p, "character");
  json_int_t l = json_integer_value(line), c = json_integer_value(character);
  if (!json_is_integer(line) || !json_is_integer(character) || l < 0 || c < 0)
    return false;
  lsp_position where = {l > UINT32_MAX ? UINT32_MAX : (uint32_t)l,
                        c > UINT32_MAX ? UINT32_MAX : (uint32_t)c};
  *out = lsp_offset(text, where);
  return true;
}

bool
lsp_ask_place(lsp_server *s, json_t *params, lsp_failure *f,
              lsp_question *out) {
  if (!lsp_ask_document(s, params, f, out))
    return false;
  if (lsp_take_position(&out->document->text,
                        json_object_get(params, "position"), &out->at))
    return true;
  lsp_fail(f, LSP_INVALID_PARAMS, "the position is not a line and a character");
  return false;
}

static json_t *
answer_hover(lsp_server *s, json_t *params, lsp_failure *f) {
  lsp_question q;
  glen_place what;
  if (!lsp_ask_place(s, params, f, &q))
    return NULL;
  const char *text =
      q.analysis ? glen_document_hover(q.analysis, q.at, &what) : NULL;
  if (!text)
    return json_null();
  return json_pack("{s:{s:s, s:s}, s:o}", "contents", "kind", "markdown",
                   "value", text, "range",
                   lsp_range(&q.document->text, what.lo, what.hi));
}

static json_t *
answer_definition(lsp_server *s, json_t *params, lsp_failure *f) {
  lsp_question q;
  glen_place place;
  if (!lsp_ask_place(s, params, f, &q))
    return NULL;
  json_t *out = NULL;
  if (q.analysis && glen_document_definition(q.analysis, q.at, &place))
    out = lsp_location(s, &place);
  return out ? out : json_null();
}

/* CompletionItemKind and SymbolKind of the protocol. */
static const struct {
  const char *word;
  int kind;
} completion_kinds[] = {
    {"operator", 24}, {"instruction", 3}, {"function", 3},  {"form", 14},
    {"name", 6},      {"variable", 6},    {"constant", 21},
};

static const struct {
  const char *head;
  int kind;
} symbol_kinds[] = {
    {"tensor", 13}, {"const", 14}, {"let", 13},    {"rule", 12},
    {"define", 12}, {"param", 14}, {"ruleset", 3}, {"strategy", 6},
    {"test", 24},   {"target", 2}, {"instr", 12},  {"set", 7},
    {"default", 7},
};

static int
completion_kind(const char *word) {
  size_t n = sizeof completion_kinds / sizeof *completion_kinds;
  for (size_t k = 0; k < n; k++)
    if (!strcmp(completion_kinds[k].word, word))
      return completion_kinds[k].kind;
  return 1;
}

static int
symbol_kind(const char *head) {
  size_t n = sizeof symbol_kinds / sizeof *symbol_kinds;
  for (size_t k = 0; k < n; k++)
    if (!strcmp(symbol_kinds[k].head, head))
      return symbol_kinds[k].kind;
  return 13;
}

static json_t *
completion_item(const glen_completion *c, json_t *range) {
  json_t *item =
      json_pack("{s:s, s:i, s:s, s:{s:O, s:s}}", "label", c->label, "kind",
                completion_kind(c->kind), "detail", c->detail, "textEdit",
                "range", range, "newText", c->label);
  if (*c->doc)
    json_object_set_new(item, "documentation", json_string(c->doc));
  return item;
}

static json_t *
answer_completion(lsp_server *s, json_t *params, lsp_failure *f) {
  lsp_question q;
  glen_place replaced;
  uint32_t n = 0;
  if (!lsp_ask_place(s, params, f, &q))
    return NULL;
  const glen_completion *list =
      q.analysis ? glen_document_complete(q.analysis, q.at, &n, &replaced)
                 : NULL;
  json_t *items = json_array();
  json_t *range =
      list ? lsp_range(&q.document->text, replaced.lo, replaced.hi) : NULL;
  for (uint32_t k = 0; k < n; k++)
    json_array_append_new(items, completion_item(&list[k], range));
  json_decref(range);
  return json_pack("{s:b, s:o}", "isIncomplete", 0, "items", items);
}

/* --- questions about a document ------------------------------------------- */

static json_t *
answer_formatting(lsp_server *s, json_t *params, lsp_failure *f) {
  lsp_question q;
  size_t size = 0;
  if (!lsp_ask_document(s, params, f, &q))
    return NULL;
  const char *text =
      q.analysis ? glen_document_format(q.analysis, &size) : NULL;
  if (!text)
    return json_null();
  const lsp_text *have = &q.document->text;
  if (size == have->size && !memcmp(text, have->data, size))
    return json_array();
  return json_pack("[{s:o, s:s%}]", "range", lsp_range(have, 0, have->size),
                   "newText", text, size);
}

static json_t *
symbol_item(const lsp_text *t, const glen_symbol *x) {
  return json_pack("{s:s, s:s, s:i, s:o, s:o}", "name", x->name, "detail",
                   x->head, "kind", symbol_kind(x->head), "range",
                   lsp_range(t, x->form.lo, x->form.hi), "selectionRange",
                   lsp_range(t, x->name_place.lo, x->name_place.hi));
}

static json_t *
answer_symbols(lsp_server *s, json_t *params, lsp_failure *f) {
  lsp_question q;
  uint32_t n = 0;
  if (!lsp_ask_document(s, params, f, &q))
    return NULL;
  const glen_symbol *list =
      q.analysis ? glen_document_symbols(q.analysis, &n) : NULL;
  json_t *out = json_array();
  json_t **items = calloc(n + 1, sizeof *items);
  for (uint32_t k = 0; items && k < n; k++) {
    json_t *around = list[k].parent ? items[list[k].parent - 1] : NULL;
    json_t *to = out;
    items[k] = symbol_item(&q.document->text, &list[k]);
    if (around) {
      to = json_object_get(around, "children");
      if (!to) {
        to = json_array();
        json_object_set_new(around, "children", to);
      }
    }
    json_array_append_new(to, items[k]);
  }
  free(items);
  return out;
}

/* --- the session ---------------------------------------------------------- */

static json_t *
capabilities(void) {
  return json_pack(
      "{s:s, s:{s:b, s:i}, s:b, s:b, s:b, s:b, s:{s:[s,s,s]}, s:b, s:b, "
      "s:{s:b}, s:{s:[s]}}",
      "positionEncoding", "utf-16", "textDocumentSync", "openClose", 1,
      "change", 2, "hoverProvider", 1, "definitionProvider", 1,
      "documentSymbolProvider", 1, "documentFormattingProvider", 1,
      "completionProvider", "triggerCharacters", "(", "?", "$",
      "referencesProvider", 1, "documentHighlightProvider", 1, "renameProvider",
      "prepareProvider", 1, "codeActionProvider", "codeActionKinds",
      "quickfix");
}

static void
take_string(char **into, const char *from) {
  char *copy = from ? strdup(from) : NULL;
  if (!copy)
    return;
  free(*into);
  *into = copy;
}

static json_t *
answer_initialize(lsp_server *s, json_t *params, lsp_failure *f) {
  if (s->phase != LSP_NEW)
    return lsp_fail(f, LSP_INVALID_REQUEST, "initialize may be sent only once");
  json_t *options = json_object_get(params, "initializationOptions");
  const char *root = json_string_value(json_object_get(params, "rootUri"));
  free(s->root);
  s->root = root ? lsp_path_of(root, "") : NULL;
  take_string(&s->target,
              json_string_value(json_object_get(options, "target")));
  s->phase = LSP_RUNNING;
  return json_pack("{s:o, s:{s:s, s:s}}", "capabilities", capabilities(),
                   "serverInfo", "name", "glen", "version", glen_version());
}

static json_t *
answer_shutdown(lsp_server *s, json_t *params, lsp_failure *f) {
  (void)params;
  (void)f;
  s->phase = LSP_SHUT_DOWN;
  return json_null();
}

static const struct {
  const char *method;
  lsp_answer answer;
} answers[] = {
    {"initialize", answer_initialize},
    {"shutdown", answer_shutdown},
    {"textDocument/hover", answer_hover},
    {"textDocument/definition", answer_definition},
    {"textDocument/completion", answer_completion},
    {"textDocument/formatting", answer_formatting},
    {"textDocument/documentSymbol", answer_symbols},
    {"textDocument/codeAction", lsp_answer_actions},
    {"textDocument/references", lsp_answer_references},
    {"textDocument/documentHighlight", lsp_answer_highlights},
    {"textDocument/prepareRename", lsp_answer_prepare},
    {"textDocument/rename", lsp_answer_rename},
};

lsp_answer
lsp_find_answer(const char *method) {
  for (size_t k = 0; k < sizeof answers / sizeof *answers; k++)
    if (!strcmp(answers[k].method, method))
      return answers[k].answer;
  return NULL;
}
