/* infix.h - fold operators that have a sign, in C as in the text of loops. */
#ifndef POLY_INFIX_H
#define POLY_INFIX_H

#include "glenside/op.h"
#include <stddef.h>

/* NULL: it has none. */
static inline const char *
po_infix_of(gs_compute op) {
  switch (op) {
  case GS_C_ADD:
    return "+";
  case GS_C_SUB:
    return "-";
  case GS_C_MUL:
    return "*";
  case GS_C_DIV:
    return "/";
  default:
    return NULL;
  }
}

#endif
