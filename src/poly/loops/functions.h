/* SPDX-License-Identifier: MIT */
/* functions.h - functions of the C library that generated code has of its own.
 *
 * Of these a C compiler makes vectors, and of no other: a loop with a call, or
 * with one that may set errno, runs element by element. */
#ifndef POLY_FUNCTIONS_H
#define POLY_FUNCTIONS_H

#include "glenside/type/op.h"
#include <string.h>

/* X(id, name), for f32. */
#define PO_OWN_FUNCTIONS(X)                                                    \
  X(EXP, "exp")                                                                \
  X(ERF, "erf")                                                                \
  X(TANH, "tanh")

/* The function that an operator calls, "exp(" or longer; NULL: none. */
static inline const char *
po_function_of(gs_compute op) {
  const char *call = gs_compute_table[op].c;
  call = call ? strchr(call, '@') : NULL;
  return call ? call + 1 : NULL;
}

static inline bool
po_is_own_function(const char *call) {
  static const char *const names[] = {
#define NAME(id, name) name,
      PO_OWN_FUNCTIONS(NAME)
#undef NAME
  };
  size_t n = strcspn(call, "(");
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (strlen(names[k]) == n && !strncmp(names[k], call, n))
      return true;
  return false;
}

/* An operator that takes so long, by its price, that a value of it is computed
 * once and not again for each use. */
static inline bool
po_is_costly(gs_compute op) {
  return gs_compute_table[op].rate == GS_RATE_SCALAR;
}

#endif
