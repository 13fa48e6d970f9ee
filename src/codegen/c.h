/* SPDX-License-Identifier: MIT */
/* c.h - a scheduled loop program as C99 + OpenMP, and its header. */
#ifndef CODEGEN_C_H
#define CODEGEN_C_H

#include "poly/loops/loops.h"

/* A program lowered once more, for a processor that has more. */
typedef struct cg_variant {
  const gs_variant *of;
  const po_program *program;
} cg_variant;

typedef struct cg_options {
  const char *name;   /* the function; a C identifier */
  const char *header; /* file name for the #include, or NULL */
  bool openmp;
  const char *fused; /* the way that was chosen for the user, or NULL */
  /* Of which the function takes the last that the processor has (dispatch.c);
   * the workspace of the program itself is enough for all. */
  const cg_variant *variants;
  uint32_t n_variants;
} cg_options;

/* int NAME(const T *in..., T *out..., void *workspace), NAME_workspace_size,
 * one documented declaration in the header. False with diagnostics. */
bool cg_emit_c(const po_program *, const cg_options *, bs_text *c, bs_text *h);
/* Inputs and outputs with name, shape, dtype, bytes, alignment, as JSON. */
void cg_emit_manifest(const po_program *, const cg_options *, bs_text *out);
/* `name` made a C identifier that a function of the program can have: no
 * keyword, nothing of the C library or of the target's own text (in the
 * context's arena). */
const char *cg_identifier(const po_program *, const char *name);

#endif
