/* SPDX-License-Identifier: MIT */
/* moving.h - what goes where an array goes: those who make it, and the locals
 * that only they use, with those who make them. */
#ifndef POLY_SCHEDULE_MOVING_H
#define POLY_SCHEDULE_MOVING_H

#include "poly/schedule/change.h"

typedef struct po_moving {
  po_block all;       /* every statement that moves */
  uint32_t arrays[8]; /* the array, then locals, readers before writers */
  po_block writers[8];
  uint32_t n;
} po_moving;

/* block: all who write the array.  False where there are too many. */
bool po_find_moving(const po_program *, uint32_t array, const po_block *block,
                    po_moving *);

#endif
