/* SPDX-License-Identifier: MIT */
/* bounds.h - the least and the most of an index in a set.
 *
 * Most domains are boxes, or unions of some, whose bounds stand in their
 * constraints; what is no box is asked of isl, which solves a program for each
 * bound. */
#ifndef POLY_BOUNDS_H
#define POLY_BOUNDS_H

#include <isl/aff_type.h>
#include <isl/set.h>
#include <stdbool.h>
#include <stdint.h>

/* False where an index of the set has no such bounds, or there is no point. */
bool po_bounds(__isl_keep isl_set *, uint32_t d, int64_t *lo, int64_t *hi);
/* The least and the most value of a function, likewise. isl has a call of its
 * own for each since 0.25, which Ubuntu 22.04 does not have. */
bool po_bounds_of_values(__isl_take isl_pw_aff *, int64_t *lo, int64_t *hi);

#endif
