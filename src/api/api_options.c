/* SPDX-License-Identifier: MIT */
/* api_options.c - options of callers that were compiled with other headers:
 * what both know is taken, by the size that stands first. */
#include "api/api.h"

#include <string.h>

static bool
refuse(glen_context *ctx) {
  API_ENTER(ctx, false);
  bs_error(&ctx->diags, BS_NOWHERE, "options-size",
           "the size of the options is not set");
  bs_hint(&ctx->diags,
          "fill them in first with the function that sets their defaults");
  ctx->failure = GLEN_USAGE;
  return false;
}

bool
api_take_options(glen_context *ctx, const void *given, void *own, size_t size) {
  size_t known;
  memcpy(&known, given, sizeof known);
  if (known < sizeof known)
    return refuse(ctx);
  memcpy(own, given, known < size ? known : size);
  memcpy(own, &size, sizeof size);
  return true;
}

void
api_give_options(const void *own, size_t own_size, void *out, size_t size) {
  memset(out, 0, size);
  memcpy(out, own, own_size < size ? own_size : size);
  if (size >= sizeof size)
    memcpy(out, &size, sizeof size);
}
