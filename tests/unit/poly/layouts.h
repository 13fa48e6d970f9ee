/* SPDX-License-Identifier: MIT */
/* layouts.h - where a layout puts elements, for tests. */
#ifndef TEST_LAYOUTS_H
#define TEST_LAYOUTS_H

#include "poly/datalayout/datalayout.h"
#include "poly/loops/affine.h"

/* { [element] -> [place in memory] }, on the array's elements. */
static inline isl_map *
address_of_layout(const po_layout_model *m, const po_layout_array *a,
                  const po_layout *l) {
  isl_map *map = isl_map_from_aff(po_linear(l->map, l->dim));
  return isl_map_intersect_domain(map, po_box(m->isl, a->dim, a->rank));
}

#endif
