/* SPDX-License-Identifier: MIT */
/* api_kernel.h - a shared object of glen_jit: what it tells of itself. */
#ifndef API_KERNEL_H
#define API_KERNEL_H

#include "api/api.h"

/* What the shared object says of an argument, in its own static memory; its C
 * is written by jit.c, so both change together, and API_KERNEL_FORMAT with
 * them. */
#define API_KERNEL_FORMAT 2
typedef struct api_kernel_argument {
  const char *name;
  const int64_t *shape;
  int output, prepacked, dtype; /* glen_dtype */
  unsigned rank;
} api_kernel_argument;

/* Loads the file; NULL with a diagnostic.  kept: it stays at its place. */
glen_kernel *api_kernel_open(glen_context *, const char *path, uint32_t threads,
                             bool cached, bool kept);
/* What another user may write is not executed. */
bool api_is_own(const char *path);

#endif
