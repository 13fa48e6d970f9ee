/* SPDX-License-Identifier: MIT */
/* infix.h - fold operators that have a sign, in C as in the text of loops. */
#ifndef POLY_INFIX_H
#define POLY_INFIX_H

#include "glenside/type/op.h"
#include <stddef.h>

/* NULL: it has none. */
static inline const char *
po_infix_of(gs_compute op) {
  return gs_fold_table[gs_compute_table[op].fold].infix;
}

#endif
