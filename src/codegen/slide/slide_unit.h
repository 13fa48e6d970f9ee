/* SPDX-License-Identifier: MIT */
/* slide_unit.h - a slide (poly/kernel/kernel_slide.h) as functions of a
 * file. */
#ifndef CODEGEN_SLIDE_UNIT_H
#define CODEGEN_SLIDE_UNIT_H

#include "codegen/unit/emit.h"

struct po_slide;

/* slide.c: the functions that its tiles are, and the body that calls them. */
void cg_put_slide_parts(cg_emitter *, const struct po_slide *,
                        const char *name);
cg_node *cg_make_slide_body(cg_emitter *, const struct po_slide *,
                            const char *name, const cg_scope *);

#endif
