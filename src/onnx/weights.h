/* SPDX-License-Identifier: MIT */
/* weights.h - the arrays that go beside the program (private to src/onnx). */
#ifndef ONNX_WEIGHTS_H
#define ONNX_WEIGHTS_H

#include "onnx/onnx_import.h"

/* Writes the elements of a weight behind those of others, and says in the
 * program where they stand. */
void on_place_weight(on_import *, const on_weight *, const char *file,
                     bs_text *out);

#endif
