/* SPDX-License-Identifier: MIT */
/* instr_test.h - is an instruction's C template what its semantics say?
 *
 * Calls of it over generated sizes, places of the operands in memory and values
 * are lowered and compiled as in any program, run with the sanitizers, and held
 * against the interpreter.  That is a test and never a proof. */
#ifndef CODEGEN_INSTR_TEST_H
#define CODEGEN_INSTR_TEST_H

#include "codegen/run/run_build.h"
#include "glenside/target/target.h"

typedef enum cg_instr_verdict {
  CG_INSTR_TESTED,  /* every call agreed */
  CG_INSTR_REFUTED, /* one did not, or went wrong */
  CG_INSTR_UNTESTED /* none could be run here */
} cg_instr_verdict;

typedef struct cg_instr_options {
  cg_build_options build; /* `sanitize` is not read */
  uint64_t seed;
  uint32_t calls; /* wanted */
} cg_instr_options;

typedef struct cg_instr_input {
  const char *name;
  gs_tensor tensor;
} cg_instr_input;

/* Texts and tensors are in the context. */
typedef struct cg_instr_answer {
  cg_instr_verdict verdict;
  const char *reason; /* one line */
  uint32_t calls, shapes;
  bool sanitized;
  /* Refuted: */
  const char *sizes;   /* "n = 16, m = 3" */
  const char *program; /* the call and what is around it */
  const cg_instr_input *inputs;
  uint32_t n_inputs;
  bool differs; /* in an element; else it did not end well */
  uint32_t rank;
  int64_t index[GS_MAX_RANK];
  double expected, found;
} cg_instr_answer;

void cg_instr_defaults(cg_instr_options *);
/* False with diagnostics when nothing can be tested at all: no compiler, or an
 * interrupt. */
bool cg_test_instr(const gs_context *, const gs_target *, const gs_instr *,
                   const cg_instr_options *, cg_instr_answer *);
/* Tests a multiply-accumulate instruction by products of matrices on it, with
 * answers as of cg_test_instr. */
bool cg_test_mac(const gs_context *, const gs_target *, const gs_mac *,
                 const cg_instr_options *, cg_instr_answer *);

#endif
