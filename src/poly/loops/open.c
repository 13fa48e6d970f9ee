/* SPDX-License-Identifier: MIT */
/* open.c - see open.h. */
#include "poly/loops/open.h"
#include "poly/loops/affine.h"
#include "poly/loops/loops_number.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>

static _Thread_local po_program *open;

gs_sizes *
po_open_in(isl_ctx *isl) {
  return open && open->isl == isl ? open->source->sizes : NULL;
}

void
po_open_sizes(po_program *p, const char *const *names) {
  assert(p->source && p->source->sizes);
  const gs_sizes *s = p->source->sizes;
  for (uint32_t k = 0; k < s->n; k++)
    po_add_size(p, &(po_size){names[k], s->list[k].least, s->list[k].most,
                              s->list[k].multiple});
  open = p;
}

void
po_close_sizes(void) {
  open = NULL;
}

isl_space *
po_with_open(isl_space *space) {
  return space && po_open_in(isl_space_get_ctx(space))
             ? po_space_with_sizes(open, space)
             : space;
}

isl_set *
po_within_open(isl_set *set) {
  return set && po_open_in(isl_set_get_ctx(set)) ? po_within_sizes(open, set)
                                                 : set;
}

int64_t
po_most_in(isl_ctx *isl, gs_number x) {
  const gs_sizes *s = gs_is_sized(x) ? po_open_in(isl) : NULL;
  return s ? gs_most_of(s, x) : x;
}

/* ---- numbers as functions ---- */

isl_aff *
po_open_aff(isl_ctx *isl, uint32_t n, gs_number x) {
  return gs_is_sized(x) && po_open_in(isl)
             ? po_aff_of_number(open, open->source->sizes, n, x)
             : po_index(isl, n, n, 0, x);
}

isl_set *
po_between(isl_ctx *isl, uint32_t n, uint32_t d, gs_number from, gs_number to) {
  assert(d < n);
  isl_aff *index = po_index(isl, n, d, 1, 0);
  isl_set *above =
      isl_aff_ge_set(isl_aff_copy(index), po_open_aff(isl, n, from));
  return isl_set_intersect(above,
                           isl_aff_lt_set(index, po_open_aff(isl, n, to)));
}

isl_set *
po_range_in(isl_ctx *isl, const int64_t *dim, uint32_t n, uint32_t d,
            gs_number from, gs_number to) {
  assert(d < n && n <= GS_MAX_RANK);
  return po_open_in(isl) ? po_between(isl, n, d, from, to)
                         : po_slab_in(isl, dim, n, d, from, to - 1);
}
