/* SPDX-License-Identifier: MIT */
/* weights.h - the arrays that go beside the program (private to src/onnx). */
#ifndef ONNX_WEIGHTS_H
#define ONNX_WEIGHTS_H

#include "onnx/onnx_import.h"

/* Writes the elements of the weights that are live one behind another, and
 * says in the program where they stand. */
void on_place_weights(on_import *, const uint8_t *live, const char *file,
                      bs_text *out);

#endif
