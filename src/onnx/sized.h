/* SPDX-License-Identifier: MIT */
/* sized.h - dimensions that stay open while a model is imported (private to
 * src/onnx). */
#ifndef ONNX_SIZED_H
#define ONNX_SIZED_H

#include "glenside/type/sizes.h"
#include "onnx/onnx_import.h"

/* NAME=SIZE, NAME=LEAST..MOST or NAME=LEAST..MOST:MULTIPLE, without a name. */
bool on_read_dim(const char *text, gs_size *out);
/* open_dims.c: warns of names that --dim gives and no input has. */
void on_warn_of_dims(const on_import *);
/* The size of the program that a symbolic dimension becomes. */
gs_number on_open_size(on_import *, const char *symbol, gs_size);

/* What the program's dimensions are computed in: NULL for integers. */
const gs_numbers *on_over(const on_import *);
bool on_is_sized(const on_import *, gs_number);
/* Whether x >= 0, or x = 0: for all sizes (1), for none (0), or else -1. */
int on_ask(on_import *, gs_number x, bool zero);
/* A result of arithmetic on sizes: a fault where it is too large to be told. */
gs_number on_told(on_import *, gs_number);
gs_number on_product(on_import *, const gs_number *dim, uint32_t n);
/* The product of `dim` by that of `by`; false where that is no whole number for
 * all sizes, or none that is found. */
bool on_divide(on_import *, const gs_number *dim, uint32_t n,
               const gs_number *by, uint32_t n_by, gs_number *out);
/* For messages. */
const char *on_number(const on_import *, gs_number);
/* Some element is a number of sizes. */
bool on_holds_sizes(const on_import *, const on_array *);
/* Whether the node may read what it reads, of sizes or not; clears `folds`
 * where it cannot be computed while importing.  False after a fault. */
bool on_take_sizes(on_import *, bool *folds);

#endif
