/* layout.h - index maps of arrays. */
#ifndef POLY_SCHEDULE_LAYOUT_H
#define POLY_SCHEDULE_LAYOUT_H

#include "poly/schedule/primitive.h"

/* Refuses for arrays of the caller and those that calls and look-ups use. */
bool po_layout_is_ours(const po_program *, const po_step_call *,
                       uint32_t array);
/* Element x of an array lies at text's function of x from now on, as in
 * "[i, j] -> [floor(j / 16), i, j mod 16]"; leading folded dimensions stay and
 * are not part of it.  False with a diagnostic. */
bool po_change_layout(po_program *, const po_step_call *, uint32_t array,
                      const char *text);

#endif
