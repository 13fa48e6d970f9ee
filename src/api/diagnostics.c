/* SPDX-License-Identifier: MIT */
/* diagnostics.c - diagnostics as values. */
#include "api/api.h"

uint32_t
glen_diagnostics(const glen_context *ctx) {
  return ctx->diags.list.len;
}

static void
place(const bs_diags *d, bs_span span, glen_diagnostic *out) {
  bs_span end = {span.file, span.hi, span.hi};
  if (!span.file)
    return;
  out->file = d->sources.data[span.file - 1].path;
  out->begin = span.lo;
  out->end = span.hi;
  bs_position(d, span, &out->line, &out->column);
  bs_position(d, end, &out->end_line, &out->end_column);
}

bool
glen_diagnostic_at(const glen_context *ctx, uint32_t k, glen_diagnostic *out) {
  static const glen_severity severities[] = {[BS_ERROR] = GLEN_ERROR,
                                             [BS_WARNING] = GLEN_WARNING,
                                             [BS_NOTE] = GLEN_NOTE};
  *out = (glen_diagnostic){.size = sizeof *out};
  if (k >= ctx->diags.list.len)
    return false;
  const bs_diag *d = &ctx->diags.list.data[k];
  out->severity = severities[d->severity];
  out->code = d->code ? d->code : "";
  out->message = d->message;
  out->hint = d->hint ? d->hint : "";
  out->file = "";
  place(&ctx->diags, d->span, out);
  return true;
}

void
glen_clear_diagnostics(glen_context *ctx) {
  bs_diags *d = &ctx->diags;
  bs_diags_clear(d);
  ctx->shown = 0;
  bs_sources_forget(d);
}
