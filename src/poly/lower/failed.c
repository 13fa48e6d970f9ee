/* SPDX-License-Identifier: MIT */
/* failed.c - whether a lowering can go on. */
#include "poly/lower/lower.h"

bool
po_has_failed(const po_lowering *low) {
  return low->failed || low->scratch.failed || low->out->pool.failed ||
         low->views.pool.failed || low->views.scratch.failed ||
         low->layout.pool.failed ||
         isl_ctx_last_error(low->isl) != isl_error_none;
}
