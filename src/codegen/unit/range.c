/* SPDX-License-Identifier: MIT */
/* range.c - the values that a loop of the nest ever takes. */
#include "codegen/unit/emit.h"
#include "poly/loops/affine.h"
#include <assert.h>
#include <isl/ilp.h>

/* Values of loops that are reckoned with. */
#define LARGEST (INT64_C(1) << 40)

bool
cg_range(const po_program *p, uint32_t loop, int64_t *lo, int64_t *hi) {
  assert(p->nest.nodes.data[loop].kind == PO_LOOP);
  isl_set *range = po_nest_range(p, loop);
  bool is = po_int(isl_set_dim_max_val(isl_set_copy(range), 0), hi);
  is = po_int(isl_set_dim_min_val(range, 0), lo) && is;
  return is && *lo >= -LARGEST && *hi <= LARGEST;
}

int64_t
cg_range_size(const po_program *p, uint32_t loop) {
  assert(po_node(p, loop)->kind == PO_LOOP);
  int64_t lo, hi;
  return cg_range(p, loop, &lo, &hi) && hi - lo < INT32_MAX ? hi - lo + 1 : 0;
}
