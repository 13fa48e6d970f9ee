/* SPDX-License-Identifier: MIT */
/* contraction_taps.h - see contraction_taps.c. */
#ifndef POLY_CONTRACTION_TAPS_H
#define POLY_CONTRACTION_TAPS_H

#include "poly/kernel/contraction.h"

/* The part of all products that kernels of mr rows and nv vectors compute: 1
 * where they leave out none.  Whether those of the plan do. */
double po_part_inside(const po_contraction *, int64_t mr, int64_t nv);
bool po_leaves_out_padding(const po_contraction *);
/* Indices of a loop of m that a panel of mr rows has. */
int64_t po_span_of(const po_contraction *, uint32_t loop, int64_t mr);
/* The loop of k along the innermost axis, or UINT32_MAX. */
uint32_t po_written_taps(const po_contraction *);
/* A tap of an index is in the array, not in the padding. */
bool po_is_inside(const po_caxis *, int64_t index, int64_t tap);

#endif
