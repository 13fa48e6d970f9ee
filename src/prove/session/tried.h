/* SPDX-License-Identifier: MIT */
/* tried.h - the inputs that a pair of terms is run on (private to session_run.c
 * and tried.c). */
#ifndef PROVE_TRIED_H
#define PROVE_TRIED_H

#include "prove/session/session_landmark.h"
#include "prove/session/session.h"

typedef struct pv_tried {
  uint64_t seed;
  bool to_whole; /* floats become integers, */
  bool narrows;  /* or narrower floats */
  pv_landmarks landmarks;
} pv_tried;

/* Looks at a program without calls. */
void pv_tried_init(pv_tried *, const gs_program *, uint64_t seed);
/* Runs after which every value near a landmark was in each input. */
uint32_t pv_tried_near(const pv_tried *, const gs_tensor *inputs, uint32_t n);
void pv_tried_fill_near(const pv_tried *, uint32_t run, gs_tensor *inputs,
                        uint32_t n);
/* The inputs of a run, of its kind. */
void pv_tried_fill(const pv_tried *, uint32_t run, gs_tensor *inputs,
                   uint32_t n);

#endif
