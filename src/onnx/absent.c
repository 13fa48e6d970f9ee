/* SPDX-License-Identifier: MIT */
/* absent.c - what stands for the importer in a build without protobuf-c. */
#include "onnx/onnx.h"

static void
tell(const gs_context *ctx) {
  bs_error(ctx->diags, BS_NOWHERE, "no-onnx",
           "this build of glen has no importer for ONNX models");
  bs_hint(ctx->diags, "it needs protobuf-c and its compiler; Debian calls "
                      "them libprotobuf-c-dev and protobuf-c-compiler");
}

bool
on_import_file(const gs_context *ctx, const on_options *options,
               on_summary *out) {
  (void)options;
  *out = (on_summary){0};
  tell(ctx);
  return false;
}

gs_program *
on_load_file(const gs_context *ctx, const on_options *options) {
  (void)options;
  tell(ctx);
  return NULL;
}

bool
on_open_dims(const gs_context *ctx, const char *path, bs_text *names) {
  (void)path;
  (void)names;
  tell(ctx);
  return false;
}

void
on_list_operators(bs_text *out) {
  (void)out;
}
