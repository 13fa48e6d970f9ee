/* SPDX-License-Identifier: MIT */
/* axes_kept.h - the table of axes that a program carries: its data alone.
 *
 * The primitives keep it true (schedule/loop_axes.h, where it is described);
 * a program only has to copy it and to give it back. */
#ifndef POLY_AXES_KEPT_H
#define POLY_AXES_KEPT_H

#include "poly/axis/axis.h"
#include "poly/loops/loops.h"

typedef struct po_turn {
  uint32_t a, b; /* axes that a reorder put the other way round */
} po_turn;

typedef struct po_loop_axes {
  po_axes table; /* its `order` means nothing here */
  BS_VEC(po_turn) turns;
} po_loop_axes;

/* Makes an empty table, where the program has none. */
void po_axes_begin(po_program *);
/* For po_copy; for po_free. */
void po_axes_copy_of(po_program *to, const po_program *from);
void po_axes_forget(po_program *);

#endif
