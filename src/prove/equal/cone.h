/* SPDX-License-Identifier: MIT */
/* cone.h - two terms of a large program as a small program of their own. */
#ifndef PROVE_CONE_H
#define PROVE_CONE_H

#include "glenside/program/program.h"

/* Scratch that is used again: a cone costs what it holds, not what the program
 * that it is cut out of does. */
typedef struct pv_cutter {
  const gs_context *ctx;
  uint32_t cut;
  BS_VEC(uint32_t) when; /* by term: the cut that it was met in */
  BS_VEC(gs_term) to;
  BS_VEC(uint32_t) stack, body;
} pv_cutter;

/* The program that holds what *a and *b are made of; they become its terms.
 * NULL when it cannot be built. */
gs_program *pv_cut_out(pv_cutter *, const gs_program *, gs_term *a, gs_term *b);
void pv_cutter_done(pv_cutter *);

#endif
