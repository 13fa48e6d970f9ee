/* SPDX-License-Identifier: MIT */
/* onnx.c - models in the ONNX format. */
#include "api/api.h"
#include "onnx/onnx.h"

typedef struct import_args {
  glen_context *ctx;
  const glen_import_options *options;
  glen_import_summary *out;
  const char *text;
  bool ok;
} import_args;

static void
import_body(void *arg) {
  import_args *a = arg;
  const glen_import_options *o = a->options;
  on_options options = {o->path, o->dims, o->n_dims, o->output};
  on_summary s;
  a->ok = on_import_file(&a->ctx->gs, &options, &s);
  *a->out = (glen_import_summary){s.nodes,   s.dead,  s.folded,
                                  s.weights, s.bytes, s.weights_file};
}

bool
glen_import(glen_context *ctx, const glen_import_options *options,
            glen_import_summary *out) {
  import_args a = {.ctx = ctx, .options = options, .out = out};
  *out = (glen_import_summary){0};
  return api_enter(ctx, import_body, &a) && a.ok;
}

static void
list_body(void *arg) {
  import_args *a = arg;
  bs_text text;
  bs_text_init(&text, &a->ctx->heap);
  on_list_operators(&text);
  a->text = api_string(a->ctx, &text);
}

const char *
glen_import_operators(glen_context *ctx) {
  import_args a = {.ctx = ctx, .text = ""};
  api_enter(ctx, list_body, &a);
  return a.text;
}
