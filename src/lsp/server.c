/* SPDX-License-Identifier: MIT */
/* server.c - the loop: messages in, answers and notifications out.
 *
 * Findings are published when the client has nothing more to say, and before
 * any request is answered: so a burst of keystrokes is analysed once, and an
 * answer never speaks of an older text than the client's. */
#include "lsp/server.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- writing -------------------------------------------------------------- */

static void
write_all(lsp_server *s, const char *data, size_t n) {
  while (n && !s->broken) {
    ssize_t k = write(s->out, data, n);
    if (k > 0) {
      data += k;
      n -= (size_t)k;
    } else if (k < 0 && errno != EINTR) {
      s->broken = true;
    }
  }
}

/* Takes the message. */
static void
send_message(lsp_server *s, json_t *message) {
  char *text =
      message ? json_dumps(message, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
  char header[64];
  json_decref(message);
  if (!text) {
    s->broken = true;
    return;
  }
  size_t n = strlen(text);
  int h = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", n);
  write_all(s, header, (size_t)h);
  write_all(s, text, n);
  free(text);
}

void
lsp_notify(lsp_server *s, const char *method, json_t *params) {
  send_message(s, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method",
                            method, "params", params));
}

static void
send_error(lsp_server *s, json_t *id, int code, const char *message) {
  send_message(s, json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id",
                            id ? id : json_null(), "error", "code", code,
                            "message", message));
}

static void
send_result(lsp_server *s, json_t *id, json_t *result) {
  send_message(s, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id,
                            "result", result));
}

/* --- requests ------------------------------------------------------------- */

static void
handle_request(lsp_server *s, json_t *id, const char *method, json_t *params) {
  lsp_answer answer = lsp_find_answer(method);
  lsp_failure failure = {0, NULL};
  if (s->phase == LSP_NEW && strcmp(method, "initialize")) {
    send_error(s, id, LSP_NOT_INITIALIZED, "initialize comes first");
    return;
  }
  if (s->phase == LSP_SHUT_DOWN) {
    send_error(s, id, LSP_INVALID_REQUEST, "the server is shut down");
    return;
  }
  lsp_publish_changed(s);
  if (!answer) {
    send_error(s, id, LSP_METHOD_NOT_FOUND, "no such method");
    return;
  }
  json_t *result = answer(s, params, &failure);
  if (result)
    send_result(s, id, result);
  else if (failure.message)
    send_error(s, id, failure.code, failure.message);
  else
    send_error(s, id, LSP_REQUEST_FAILED, "out of memory");
}

/* --- notifications -------------------------------------------------------- */

static void
did_exit(lsp_server *s, json_t *params) {
  (void)params;
  s->orderly = s->phase == LSP_SHUT_DOWN;
  s->phase = LSP_EXITED;
}

/* {"settings": {"glen": {"target": PATH or null}}} */
static void
did_configure(lsp_server *s, json_t *params) {
  json_t *target = json_object_get(
      json_object_get(json_object_get(params, "settings"), "glen"), "target");
  if (!json_is_string(target) && !json_is_null(target))
    return;
  free(s->target);
  s->target = NULL;
  if (json_string_length(target))
    s->target = strdup(json_string_value(target));
  lsp_touch(s, NULL);
}

/* Files that changed on the disk. */
static void
did_change_files(lsp_server *s, json_t *params) {
  json_t *changes = json_object_get(params, "changes");
  for (size_t k = 0; k < json_array_size(changes); k++) {
    const char *uri =
        json_string_value(json_object_get(json_array_get(changes, k), "uri"));
    char *path = uri ? lsp_path_of(uri, "") : NULL;
    if (path)
      lsp_touch(s, path);
    free(path);
  }
}

static const struct {
  const char *method;
  void (*take)(lsp_server *, json_t *params);
} notifications[] = {
    {"exit", did_exit},
    {"textDocument/didOpen", lsp_did_open},
    {"textDocument/didChange", lsp_did_change},
    {"textDocument/didClose", lsp_did_close},
    {"workspace/didChangeConfiguration", did_configure},
    {"workspace/didChangeWatchedFiles", did_change_files},
};

static void
handle_notification(lsp_server *s, const char *method, json_t *params) {
  bool exits = !strcmp(method, "exit");
  for (size_t k = 0; k < sizeof notifications / sizeof *notifications; k++)
    if (!strcmp(notifications[k].method, method) &&
        (exits || s->phase == LSP_RUNNING))
      notifications[k].take(s, params);
}

/* --- messages ------------------------------------------------------------- */

static void
handle_message(lsp_server *s, json_t *message) {
  json_t *id = json_object_get(message, "id");
  json_t *method = json_object_get(message, "method");
  json_t *params = json_object_get(message, "params");
  bool fine = json_is_object(message) &&
              (!id || json_is_integer(id) || json_is_string(id));
  if (fine && !method && id &&
      (json_object_get(message, "result") || json_object_get(message, "error")))
    return; /* a response; the server asks nothing */
  if (!fine || !json_is_string(method))
    send_error(s, fine ? id : NULL, LSP_INVALID_REQUEST,
               "this is not a valid request");
  else if (id)
    handle_request(s, id, json_string_value(method), params);
  else
    handle_notification(s, json_string_value(method), params);
}

static void
handle_body(lsp_server *s, const char *body, size_t size) {
  json_error_t error;
  json_t *message = json_loadb(body, size, 0, &error);
  if (message)
    handle_message(s, message);
  else
    send_error(s, NULL, LSP_PARSE_ERROR, "this is not JSON");
  json_decref(message);
}

static void
handle_input(lsp_server *s) {
  const char *body;
  size_t size;
  while (s->phase != LSP_EXITED && !s->broken)
    switch (lsp_reader_next(&s->reader, &body, &size)) {
    case LSP_MORE:
      return;
    case LSP_BODY:
      handle_body(s, body, size);
      break;
    case LSP_TOO_LARGE:
      send_error(s, NULL, LSP_INVALID_REQUEST, "this message is too large");
      break;
    case LSP_BAD_HEADER:
      send_error(s, NULL, LSP_PARSE_ERROR,
                 "expected a header with Content-Length");
      break;
    }
}

static bool
has_input(const lsp_server *s) {
  struct pollfd p = {.fd = s->in, .events = POLLIN};
  return poll(&p, 1, 0) > 0;
}

static bool
read_some(lsp_server *s) {
  char buffer[1 << 14];
  ssize_t n;
  do
    n = read(s->in, buffer, sizeof buffer);
  while (n < 0 && errno == EINTR);
  return n > 0 && lsp_reader_feed(&s->reader, buffer, (size_t)n);
}

int
lsp_serve(int in, int out, const lsp_options *options) {
  lsp_server *s = calloc(1, sizeof *s);
  if (!s)
    return 1;
  s->in = in;
  s->out = out;
  if (options->target)
    s->target = strdup(options->target);
  signal(SIGPIPE, SIG_IGN);
  while (s->phase != LSP_EXITED && !s->broken) {
    if (!has_input(s))
      lsp_publish_changed(s);
    if (!read_some(s))
      break;
    handle_input(s);
  }
  bool orderly = s->orderly;
  lsp_forget_all(s);
  lsp_reader_done(&s->reader);
  free(s->target);
  free(s->root);
  free(s);
  return orderly ? 0 : 1;
}
