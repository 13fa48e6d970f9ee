/* SPDX-License-Identifier: MIT */
/* vectors.h - a formula of elements as arithmetic of whole vectors.
 *
 * A formula of sums, products, quotients and extremes is as well one of
 * vectors: each of its steps is a named vector, made of the ones before.  A
 * loop over the lanes of an array says the same, but not every compiler makes
 * vectors of it. */
#ifndef CODEGEN_VECTORS_H
#define CODEGEN_VECTORS_H

#include "codegen/quote/quote.h"
#include "codegen/unit/emit.h"

/* Where vectors of a type NAME_v are written. */
typedef struct cg_vectors {
  cg_emitter *e;
  cg_writer *w;
  const char *name;
  gs_dtype dtype; /* of elements */
  uint32_t lanes;
  uint32_t n; /* vectors named so far in the function: f0, f1, .. */
} cg_vectors;

/* Elements of so many bytes are lanes of vectors that processors have. */
static inline bool
cg_is_register(uint32_t lanes, gs_dtype dtype) {
  return lanes > 1 && lanes * gs_dtype_table[dtype].bytes <= 64;
}

/* Whether all that the formula, whose names are those of vectors, does to
 * elements of this type can be done to vectors. */
bool cg_is_of_vectors(cg_emitter *, gs_dtype, const cg_expr *formula);
/* Declares the steps of such a formula; the name of the last one. */
const char *cg_put_of_vectors(cg_vectors *, const cg_expr *formula);
/* Names the functions that the formula calls and its vectors do not: a compiler
 * may warn of those that none of what it sees calls. */
void cg_put_not_called(const cg_vectors *, const cg_expr *formula);

#endif
