/* SPDX-License-Identifier: MIT */
/* simd.h - loops that run in the lanes of vectors (simd.c). */
#ifndef CODEGEN_SIMD_H
#define CODEGEN_SIMD_H

#include "codegen/loop.h"

/* Around a pragma that asks for lanes alone.  A compiler that reads these but
 * has no OpenMP (clang without its library, by -fopenmp-simd) does not define
 * _OPENMP; who compiles says it by GLEN_SIMD. */
#define CG_IF_SIMD "#if defined(_OPENMP) || defined(GLEN_SIMD)\n"

/* NULL where all iterations of a loop may run at once in lanes; else why they
 * may not, or why that is not seen. */
const char *cg_why_not_simd(cg_emitter *, const cg_loop *);
/* For a loop that a schedule wants in vectors: a note where that may be in
 * vain. */
bool cg_explain_lanes(cg_emitter *, const cg_loop *);
/* A line that says so to the C compiler, before a serial loop. */
void cg_put_simd(cg_emitter *, const cg_loop *, uint32_t indent);

/* What the C compiler is given for this expression: a call, or a helper with
 * branches. */
bool cg_has_branch_or_call(const cg_emitter *, const po_stmt *,
                           const po_expr *);

#endif
