/* SPDX-License-Identifier: MIT */
/* render.h - what the files behind diag.h share. */
#ifndef BASE_RENDER_H
#define BASE_RENDER_H

#include "base/diag.h"

/* The source of a span, or NULL when it has no place. */
const bs_source *bs_source_of(const bs_diags *, bs_span);
/* Line and column of a byte offset; one past the end is that of the end. */
void bs_offset_position(const bs_source *, uint32_t offset, uint32_t *line,
                        uint32_t *column);
/* Whether a source is UTF-8 without NUL; else false with "not-text". */
bool bs_source_check(bs_diags *, uint32_t source);

#endif
