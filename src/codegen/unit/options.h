/* SPDX-License-Identifier: MIT */
/* options.h - what is asked of the code of a program. */
#ifndef CODEGEN_UNIT_OPTIONS_H
#define CODEGEN_UNIT_OPTIONS_H

#include "poly/loops/loops.h"

/* A program lowered once more, for sizes between narrower bounds: those of the
 * program, in their order. */
typedef struct cg_key {
  const po_size *part;
  const po_program *program;
} cg_key;

/* Calls take the first that holds their sizes, or else the program itself. */
typedef struct cg_keys {
  uint32_t n;
  const cg_key *list;
} cg_keys;

/* A program lowered once more, for a processor that has more. */
typedef struct cg_variant {
  const gs_variant *of;
  const po_program *program;
  cg_keys keys;
} cg_variant;

typedef struct cg_options {
  const char *name;   /* the function; a C identifier */
  const char *header; /* file name for the #include, or NULL */
  bool openmp;
  struct cg_profile *profile; /* steps are timed and told; or NULL */
  const char *fused; /* the way that was chosen for the user, or NULL */
  /* Of which the function takes the last that the processor has (dispatch.c);
   * the workspace of the program itself is enough for all. */
  const cg_variant *variants;
  uint32_t n_variants;
  cg_keys keys; /* of the program itself (keys.c) */
} cg_options;

#endif
