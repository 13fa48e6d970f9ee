/* SPDX-License-Identifier: MIT */
/* axes_kept.c - see axes_kept.h. */
#include "poly/loops/axes_kept.h"
#include <assert.h>

void
po_axes_begin(po_program *p) {
  if (p->axes)
    return;
  p->axes = BS_NEW(&p->arena, po_loop_axes);
  po_axes_init(&p->axes->table, &p->arena);
  p->axes->table.blocks_apart = true;
}

void
po_axes_copy_of(po_program *to, const po_program *from) {
  assert(to != from && !to->axes);
  if (!from->axes)
    return;
  po_axes_begin(to);
  po_axes_copy(&to->axes->table, &from->axes->table, &to->arena);
  to->axes->table.blocks_apart = true;
  po_axes_own_texts(&to->axes->table);
  for (uint32_t k = 0; k < from->axes->turns.len; k++)
    bs_push(to->ctx.heap, &to->axes->turns, from->axes->turns.data[k]);
}

void
po_axes_forget(po_program *p) {
  if (!p->axes)
    return;
  po_axes_done(&p->axes->table);
  bs_vec_done(p->ctx.heap, &p->axes->turns);
  p->axes = NULL;
}
