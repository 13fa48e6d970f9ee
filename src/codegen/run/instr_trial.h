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

/* The program of the sizing's present choice: how its operands and its result
 * lie in memory is number `way`.  mac: what it means runs on this one; NULL: it
 * is called.  False: it has no type, or is not lowered so. */
bool cg_trial_make(const gs_context *, const gs_target *, const gs_sizing *,
                   const gs_mac *mac, uint32_t way, cg_trial *);
/* Values of a kind, and what the interpreter makes of them. */
bool cg_trial_fill(cg_trial *, uint32_t kind, uint64_t seed);
/* Again, after an input was changed. */
bool cg_trial_expect(cg_trial *);
/* The first element that differs by more than rounding explains, or -1. */
int64_t cg_trial_difference(const cg_trial *);
void cg_trial_drop_found(cg_trial *);
void cg_trial_done(cg_trial *);

#endif
