/* SPDX-License-Identifier: MIT */
/* array_testing.h - what tests and fuzzers ask of the reader of NPY files, and
 * no pass does. */
#ifndef GLENSIDE_ARRAY_TESTING_H
#define GLENSIDE_ARRAY_TESTING_H

#include "glenside/array/tensor.h"

/* Reads an .npy file that is in memory; `name` stands in diagnostics. */
bool gs_npy_parse(const gs_context *, const char *name, const void *bytes,
                  size_t n, const gs_type *expect, gs_tensor *out);

#endif
