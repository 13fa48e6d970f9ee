/* simd.h - loops that run in the lanes of vectors (simd.c). */
#ifndef CODEGEN_SIMD_H
#define CODEGEN_SIMD_H

#include "codegen/loop.h"

/* NULL where all iterations of a loop may run at once in lanes; else why they
 * may not, or why that is not seen. */
const char *cg_why_not_simd(cg_emitter *, const cg_loop *);
/* A line that says so to the C compiler, before the loop; a note where a
 * schedule asks for vectors in vain. */
void cg_put_simd(cg_emitter *, const cg_loop *, uint32_t indent);

#endif
