/* SPDX-License-Identifier: MIT */
/* onnx_graph.h - values by name, and the nodes in their order (private). */
#ifndef ONNX_GRAPH_H
#define ONNX_GRAPH_H

#include "onnx/onnx_import.h"

/* A new value; NULL: there is one of that name, which may be an input that
 * repeats an initializer. */
on_value *on_define(on_import *, const char *name);
on_value *on_find(on_import *, const char *name);
/* Its term; poison after a fault. */
gs_term on_term_of(on_import *, on_value *);
/* Gives the last fault of the node a hint, if it has none (advice.c). */
void on_advise(on_import *);
/* Each attribute of the node is one of its operator, as the format has it; a
 * fault if not (onnx_attributes.c). */
bool on_check_attributes(on_import *);
/* Each input has elements of a type that its operator takes (onnx_types.c). */
bool on_check_types(on_import *);
/* What the model declares of a value is so; a fault if not (declared.c).  What:
 * an input, an output or a value. */
bool on_check_declared(on_import *, const char *what, const Onnx__ValueInfo *,
                       const on_value *);
/* What the model declares of the values between its nodes is so; a fault for
 * each that is not. */
void on_check_between(on_import *);
/* Folds or translates each node that an output needs. */
void on_walk(on_import *);

#endif
