/* SPDX-License-Identifier: MIT */
/* ordered.h - the program in an order of its own (private to src/onnx). */
#ifndef ONNX_ORDERED_H
#define ONNX_ORDERED_H

#include "onnx/onnx_import.h"

/* After the last node: replaces the program by one with the same inputs and
 * outputs, without what no output needs, whose terms stand in the order of
 * their first use.  The list of weights then has those that are needed, in that
 * order.  Terms of values are not those of the new program. */
void on_put_in_order(on_import *);

#endif
