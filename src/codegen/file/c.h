/* SPDX-License-Identifier: MIT */
/* c.h - a scheduled loop program as C99 + OpenMP, and its header. */
#ifndef CODEGEN_FILE_C_H
#define CODEGEN_FILE_C_H

#include "codegen/unit/options.h"

/* int NAME(const T *in..., T *out..., void *workspace), NAME_workspace_size,
 * one documented declaration in the header. False with diagnostics. */
bool cg_emit_c(const po_program *, const cg_options *, bs_text *c, bs_text *h);
/* The flag that keeps code for the target within what this processor has; NULL
 * where it has the target's vectors. */
const char *cg_narrow_flag(const gs_target *);
/* Inputs and outputs with name, shape, dtype, bytes, alignment, as JSON. */
void cg_emit_manifest(const po_program *, const cg_options *, bs_text *out);
/* `name` made a C identifier that a function of the program can have: no
 * keyword, nothing of the C library or of the target's own text (in the
 * context's arena). */
const char *cg_identifier(const po_program *, const char *name);

#endif
