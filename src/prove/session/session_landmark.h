/* SPDX-License-Identifier: MIT */
/* session_landmark.h - values at which a program may change its mind
 * (private). */
#ifndef PROVE_LANDMARK_H
#define PROVE_LANDMARK_H

#include "base/vec.h"
#include "glenside/program/program.h"
#include "glenside/array/tensor.h"

#define PV_MOST_LANDMARKS 192

typedef struct pv_landmarks {
  BS_VEC(double) at; /* distinct; of any input */
} pv_landmarks;

/* A program without calls. */
void pv_landmarks_find(pv_landmarks *, const gs_program *);
/* Values near them: landmark after landmark, each with its neighbours and
 * their negatives.  `k` below pv_landmarks_count. */
uint32_t pv_landmarks_count(const pv_landmarks *);
double pv_landmark_near(const pv_landmarks *, gs_dtype, uint32_t k);

#endif
