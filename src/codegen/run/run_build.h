/* SPDX-License-Identifier: MIT */
/* run_build.h - the C compiler driver: text -> executable -> run. */
#ifndef CODEGEN_BUILD_H
#define CODEGEN_BUILD_H

#include "codegen/file/c.h"
#include "glenside/array/tensor.h"

typedef struct cg_build_options {
  const char *cc;           /* NULL: $CC, else cc; no shell is involved */
  const char *const *flags; /* added after the defaults */
  uint32_t n_flags;
  bool sanitize;     /* -fsanitize=address,undefined */
  bool keep;         /* keep the temporary directory and say where it is */
  int threads;       /* OMP_NUM_THREADS; 0: the system's choice */
  double time_limit; /* seconds for each of the two child processes; 0: none */
  const char *optimize; /* "-O2" when NULL */
  uint32_t repeats;     /* of cg_build: calls timed; 0: one */
  double call_seconds;  /* no further call after so long; 0: all of them */
  const cg_variant *variants; /* of cg_build_and_run: see cg_options */
  uint32_t n_variants;
  cg_keys keys;              /* the same */
  const po_program *general; /* of cg_build_and_run: see cg_job */
  const int64_t *sizes;
  struct cg_profile *profile;    /* of cg_build_and_run: filled; or NULL */
  const volatile int *interrupt; /* children end when not 0; NULL: never */
} cg_build_options;

/* Compiles the program with `cc -O2 -std=c99 -Wall -Wextra -Werror`, runs it in
 * a child process on the inputs and reads the outputs back; a crash of the
 * generated code is a diagnostic, not a crash of glen.  seconds: of the fastest
 * of `repeats` calls, or NULL. */
bool cg_build_and_run(const po_program *, const cg_build_options *,
                      const gs_tensor *inputs, gs_tensor *outputs,
                      uint32_t repeats, double *seconds);

/* Many programs of one context in one executable, one after the other. */
typedef struct cg_job {
  const po_program *program;
  /* The code is that of this program, for all sizes, at numbers for which it is
   * `program`, one for each of its sizes; NULL: of `program`. */
  const po_program *general;
  const int64_t *sizes;
  const gs_tensor *inputs;
  gs_tensor *outputs;
  double seconds; /* of the fastest call */
  /* Of a profiled build, or NULL: its steps, whose times stand in the data file
   * from `profile_at` on. */
  struct cg_profile *profile;
  int64_t profile_at;
} cg_job;

bool cg_build_and_run_all(cg_job *, uint32_t n, const cg_build_options *,
                          uint32_t repeats);

/* Built once, run many times; `program` must live as long. NULL with
 * diagnostics. */
typedef struct cg_built cg_built;
cg_built *cg_build(const po_program *, const cg_build_options *);
/* Outputs are made anew; seconds: of the fastest call. False with diagnostics;
 * it may be run again. */
bool cg_built_run(cg_built *, const gs_tensor *inputs, gs_tensor *outputs,
                  double *seconds);
void cg_built_free(cg_built *); /* NULL: nothing */
/* The first line that the compiler says of its version; NULL where it cannot
 * be run. */
const char *cg_compiler_version(const gs_context *, const cg_build_options *);

#endif
