/* SPDX-License-Identifier: MIT */
/* api_onnx.c - models in the ONNX format. */
#include "api/api.h"
#include "onnx/onnx.h"

bool
glen_import(glen_context *ctx, const glen_import_options *o,
            glen_import_summary *out) {
  *out = (glen_import_summary){0};
  API_ENTER(ctx, false);
  on_options options = {o->path, o->dims, o->n_dims, o->output};
  on_summary s;
  bool ok = on_import_file(&ctx->gs, &options, &s);
  *out = (glen_import_summary){s.nodes,   s.dead,  s.folded,
                               s.weights, s.bytes, s.weights_file};
  return ok;
}

const char *
glen_model_open_dims(glen_context *ctx, const char *path) {
  API_ENTER(ctx, NULL);
  bs_text names;
  bs_text_init(&names, &ctx->heap);
  if (on_open_dims(&ctx->gs, path, &names))
    return api_string(ctx, &names);
  bs_text_done(&names);
  return NULL;
}

const char *
glen_import_operators(glen_context *ctx) {
  API_ENTER(ctx, "");
  bs_text text;
  bs_text_init(&text, &ctx->heap);
  on_list_operators(&text);
  return api_string(ctx, &text);
}
