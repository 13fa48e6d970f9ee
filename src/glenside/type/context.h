/* SPDX-License-Identifier: MIT */
/* context.h - what every pass over the language needs, in one bundle. */
#ifndef GLENSIDE_CONTEXT_H
#define GLENSIDE_CONTEXT_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/value.h"
#include "base/vec.h"

typedef struct gs_context {
  bs_heap *heap;
  bs_arena *arena; /* lives as long as the context */
  bs_values *values;
  bs_diags *diags;
} gs_context;

#endif
