/* SPDX-License-Identifier: MIT */
/* api_kernel.h - a shared object of glen_jit: what it tells of itself, and
 * what it is once it is loaded. */
#ifndef API_KERNEL_H
#define API_KERNEL_H

#include "api/api.h"

#include <stdatomic.h>

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

typedef int api_entry_point(void *const *arrays, const void *prepacked,
                            void *workspace, int threads);
typedef void api_prepare_point(void *const *arrays, void *prepacked);

struct glen_kernel {
  glen_context *ctx;
  void *library;
  api_entry_point *entry;
  api_prepare_point *prepare;
  size_t workspace_bytes, prepacked_bytes;
  void *prepacked; /* of inputs that are the same for all calls */
  bool unprepared; /* there are such, and they were not given yet */
  int threads;
  uint32_t n;
  glen_argument *arguments;
  char *path; /* NULL: the file is gone */
  bool cached;
  /* Of the last call that is over; a call that finds none makes its own. */
  _Atomic(void *) spare;
};

/* Loads the file; NULL with a diagnostic.  kept: it stays at its place. */
glen_kernel *api_kernel_open(glen_context *, const char *path, uint32_t threads,
                             bool cached, bool kept);
/* What another user may write is not executed. */
bool api_is_own(const char *path);

#endif
