/* SPDX-License-Identifier: MIT */
/* datalayout_price.h - what the costs of layouts share (datalayout_cost.c,
 * lines.c). */
#ifndef POLY_DATALAYOUT_PRICE_H
#define POLY_DATALAYOUT_PRICE_H

#include "poly/datalayout/datalayout.h"

#define PO_EVERY_ARRAY UINT32_MAX

/* { [loops] -> [element where it lies now] } */
__isl_give isl_map *po_layout_read_through(const po_layout_read *,
                                           const po_layout *);
/* Lines that a definition brings in for one array, or for all it reads. */
double po_lines_of_definition(po_layout_model *, const po_definition *,
                              const po_layout *layouts, uint32_t of);
/* All definitions and copies. */
double po_lines_of_program(po_layout_model *, const po_layout *layouts);
/* Lines that making a copy brings in, in the order of the input's elements. */
double po_lines_of_copy(po_layout_model *, const po_layout_array *,
                        const po_layout *);

#endif
