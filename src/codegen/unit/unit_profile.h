/* SPDX-License-Identifier: MIT */
/* unit_profile.h - the steps of a program, as a build that is profiled tells
 * them apart: C that calls NAME_profile(k) behind step k, and NAME_profile(-1)
 * before the first. */
#ifndef CODEGEN_UNIT_PROFILE_H
#define CODEGEN_UNIT_PROFILE_H

#include "base/vec.h"

typedef struct cg_step {
  const char *layer;  /* the name in the program, or "" */
  const char *kernel; /* the C function, or the instruction */
  const char *kind;   /* "contraction", "loops" or "call" */
  double operations;  /* arithmetic ones; of a call not known: -1 */
  double bytes;       /* of the arrays that it reads or writes, each once */
  double seconds;     /* of the fastest call of the program */
} cg_step;

typedef struct cg_profile {
  BS_VEC(cg_step) steps; /* on the heap of the program's context */
} cg_profile;

#endif
