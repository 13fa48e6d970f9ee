/* SPDX-License-Identifier: MIT */
/* poly_text.h - what the printing of loop programs shares (print*.c). */
#ifndef POLY_TEXT_H
#define POLY_TEXT_H

#include "poly/loops/loops.h"
#include "poly/loops/quasi.h"

/* Nested operators and parentheses that the text may have. */
#define PO_MAX_NESTING 64

typedef struct po_writer {
  const po_program *p;
  bs_text *out;
  po_pool pool;   /* what isl made, while it is written */
  bs_arena arena; /* texts and numbers, while a statement is written */
  bool origins;   /* comments say where statements come from */
} po_writer;

/* print_affine.c: a quasi-affine function of named indices, as text; the same
 * of an aff; the conditions of a set, sorted: `i >= 0 and 4 >= i or ...`. */
void po_write_quasi(bs_text *, const po_quasi *, const char *const *names);
void po_write_aff(po_writer *, __isl_keep isl_aff *, const char *const *names);
void po_write_set(po_writer *, __isl_keep isl_set *, const char *const *names);
/* Sorted by length and text, without duplicates; the number left. */
uint32_t po_sort_texts(const char **, uint32_t n);

/* print_bounds.c: the bounds of a loop `0..min(8, i + 1)`, in the names of the
 * loops around. around: what their bounds say, { [outer...] }; gives the same
 * with this loop, { [outer..., t] }.  Both are kept by the pool. */
isl_set *po_write_bounds(po_writer *, uint32_t loop,
                         __isl_keep isl_set *around);

/* print_body.c: what a statement does, without its name. */
void po_write_body(po_writer *, const po_stmt *, const char *const *names);

#endif
