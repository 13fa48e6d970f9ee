/* SPDX-License-Identifier: MIT */
/* onnx_range.h - how large the elements of terms can be (private). */
#ifndef ONNX_RANGE_H
#define ONNX_RANGE_H

#include "onnx/onnx_import.h"

/* Of a constant: its one value, or the elements of an array. */
void on_set_number(on_import *, gs_term, double v);
void on_set_elements(on_import *, gs_term, const on_array *);
/* Of a term that was made of others. */
void on_note_range(on_import *, gs_term);
/* An f64 that becomes an int64 is the integer that is meant; a fault of the
 * node if it may not be. */
bool on_is_exact(on_import *, gs_term);
/* A warning where that holds for some elements of inputs only. */
void on_tell_of_ranges(const on_import *);

#endif
