/* SPDX-License-Identifier: MIT */
/* seeded.h - tensors for the inputs and outputs of a loop program. */
#ifndef TESTS_UNIT_SEEDED_H
#define TESTS_UNIT_SEEDED_H

#include "poly/loops/execute.h"
#include <string.h>

/* Makes them, filled from a seed. */
static inline void
seed_tensors(const po_program *p, uint64_t seed, gs_tensor *inputs,
             gs_tensor *outputs) {
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *array = &p->arrays.data[k];
    if (array->role != PO_INPUT && array->role != PO_OUTPUT)
      continue;
    gs_tensor *t = (array->role == PO_INPUT ? inputs : outputs) + array->number;
    gs_type type = {.access = (uint8_t)array->rank,
                    .rank = (uint8_t)array->rank,
                    .dtype = array->dtype};
    memcpy(type.dim, array->dim, sizeof type.dim);
    gs_tensor_init(p->ctx.heap, t, &type);
    gs_tensor_fill(t, seed, array->name);
  }
}

#endif
