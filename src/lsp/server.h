/* SPDX-License-Identifier: MIT */
/* server.h - the state of a server (private to src/lsp/). */
#ifndef LSP_SERVER_H
#define LSP_SERVER_H

#include "glen/editor.h"
#include "lsp/lsp.h"
#include "lsp/message.h"
#include "lsp/lsp_text.h"
#include <jansson.h>

enum { /* JSON-RPC and LSP error codes */
       LSP_PARSE_ERROR = -32700,
       LSP_INVALID_REQUEST = -32600,
       LSP_METHOD_NOT_FOUND = -32601,
       LSP_INVALID_PARAMS = -32602,
       LSP_REQUEST_FAILED = -32803,
       LSP_NOT_INITIALIZED = -32002
};

enum { LSP_MAX_DOCUMENTS = 1000, LSP_MAX_QUERIES = 5000 };
#define LSP_MEMORY  ((size_t)1 << 30) /* of one analysis */
#define LSP_SECONDS 10.               /* of an analysis, and of a request */

/* An open document and the analysis of its present text. */
typedef struct lsp_document {
  char *uri, *path;
  lsp_text text;
  int64_t version;
  bool dirty; /* changed since its findings were published */
  glen_context *glen;
  glen_document *analysis; /* NULL: none of our languages, or a limit */
  uint32_t queries;        /* made of this analysis */
} lsp_document;

typedef enum lsp_phase {
  LSP_NEW,
  LSP_RUNNING,
  LSP_SHUT_DOWN,
  LSP_EXITED
} lsp_phase;

typedef struct lsp_server {
  int in, out;
  lsp_phase phase;
  bool broken;  /* the client does not read any more, or memory is out */
  bool orderly; /* exit came after shutdown */
  char *target;
  char *root; /* of the workspace, for a relative target; or NULL */
  lsp_reader reader;
  lsp_document *documents[LSP_MAX_DOCUMENTS];
  size_t n_documents;
} lsp_server;

/* server.c */
void lsp_notify(lsp_server *, const char *method, json_t *params); /* takes */

/* uri.c.  Malloced; NULL when there is no memory. */
char *lsp_path_of(const char *uri, const char *language);
char *lsp_uri_of(const char *path);

/* documents.c */
lsp_document *lsp_find_document(lsp_server *, const char *uri);
void lsp_did_open(lsp_server *, json_t *params);
void lsp_did_change(lsp_server *, json_t *params);
void lsp_did_close(lsp_server *, json_t *params);
void lsp_forget_all(lsp_server *);
/* Marks documents that read this file for a new analysis. */
void lsp_touch(lsp_server *, const char *path);
/* Analyses what changed and publishes its findings. */
void lsp_publish_changed(lsp_server *);
/* The analysis that answers a question, or NULL. */
glen_document *lsp_analysis(lsp_server *, lsp_document *);

/* answers.c: one function a request; NULL with *error set for a failure. */
typedef struct lsp_failure {
  int code;
  const char *message;
} lsp_failure;
typedef json_t *(*lsp_answer)(lsp_server *, json_t *params, lsp_failure *);
/* NULL: no such request. */
lsp_answer lsp_find_answer(const char *method);
/* The document that a request is about, and a place in it. */
typedef struct lsp_question {
  lsp_document *document;
  glen_document *analysis; /* may be NULL */
  size_t at;
} lsp_question;
bool lsp_ask_document(lsp_server *, json_t *params, lsp_failure *,
                      lsp_question *out);
bool lsp_ask_place(lsp_server *, json_t *params, lsp_failure *,
                   lsp_question *out);
json_t *lsp_fail(lsp_failure *, int code, const char *message); /* NULL */
/* A position that was sent; false: it is none. */
bool lsp_take_position(const lsp_text *, json_t *, size_t *out);
/* documents.c: what was published of a finding, without its notes. */
json_t *lsp_diagnostic(const lsp_document *, const glen_finding *);
/* fixes.c and lsp_names.c */
json_t *lsp_answer_actions(lsp_server *, json_t *params, lsp_failure *);
json_t *lsp_answer_references(lsp_server *, json_t *params, lsp_failure *);
json_t *lsp_answer_highlights(lsp_server *, json_t *params, lsp_failure *);
json_t *lsp_answer_prepare(lsp_server *, json_t *params, lsp_failure *);
json_t *lsp_answer_rename(lsp_server *, json_t *params, lsp_failure *);
json_t *lsp_range(const lsp_text *, size_t lo, size_t hi);
/* {uri, range} of a place in any file. */
json_t *lsp_location(lsp_server *, const glen_place *);

#endif
