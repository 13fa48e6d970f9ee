/* SPDX-License-Identifier: MIT */
/* instr_trial.h - one call of an instruction (private to instr_*.c). */
#ifndef CODEGEN_INSTR_TRIAL_H
#define CODEGEN_INSTR_TRIAL_H

#include "codegen/run/instr_test.h"
#include "glenside/target/target_sample.h"

typedef struct cg_trial {
  gs_program *p;
  po_program *loops;
  gs_tensor *inputs, *expected, *bounds, *found;
  const char *sizes;
  int64_t cost; /* elements */
  uint32_t way, kind;
} cg_trial;

/* Ways in which what one call takes and gives may lie in dram; the two behind
 * them are two calls side by side in the memories of the target. */
enum { CG_TRIAL_WAYS = 4, CG_TRIAL_ALL_WAYS = CG_TRIAL_WAYS + 2 };

/* The program of the sizing's present choice: how its operands and its result
 * lie is number `way`.  mac: what it means runs on this one; NULL: it
 * is called.  False: it has no type, or is not lowered so. */
bool cg_trial_make(const gs_context *, const gs_target *, const gs_sizing *,
                   const gs_mac *mac, uint32_t way, cg_trial *);
/* Values of a kind, and what the interpreter makes of them. */
bool cg_trial_fill(cg_trial *, uint32_t kind, uint64_t seed);
/* Again, after an input was changed. */
bool cg_trial_expect(cg_trial *);
/* The first element that differs by more than rounding explains, or -1. */
int64_t cg_trial_difference(const cg_trial *);
/* instr_beside.c: of a program with two calls of the instruction that need
 * places in memories, one behind the other; turned: the second one runs first.
 * Where there is no room the program stays as it is. */
void cg_trial_beside(po_program *, const gs_instr *, bool turned);
void cg_trial_drop_found(cg_trial *);
void cg_trial_done(cg_trial *);

#endif
