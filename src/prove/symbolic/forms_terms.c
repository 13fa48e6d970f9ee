/* SPDX-License-Identifier: MIT */
/* forms_terms.c - the terms that variables stand for while forms are listed. */
#include "prove/symbolic/listing.h"
#include "glenside/array/tensor.h"
#include <assert.h>
#include <stdio.h>

/* A tensor of that rank; its sizes mean nothing. */
static gs_term
tensor_of(ls_walk *w, uint32_t rank, gs_dtype dtype) {
  assert(rank <= GS_MAX_RANK && dtype < GS_DTYPE_COUNT);
  gs_type type = {
      .access = (uint8_t)rank, .rank = (uint8_t)rank, .dtype = dtype};
  char name[32];
  for (uint32_t d = 0; d < rank; d++)
    type.dim[d] = 2;
  snprintf(name, sizeof name, "f%u_%d", rank, dtype);
  return gs_add_tensor(w->p, bs_arena_strdup(w->p->ctx.arena, name), &type,
                       BS_NOWHERE);
}

gs_term
ls_term_of(ls_walk *w, const ls_shape *t) {
  gs_term *x = &w->term[t->rank][t->access][t->dtype];
  bool *made = &w->made[t->rank][t->access][t->dtype];
  if (*made)
    return *x;
  *made = true;
  if (t->access == t->rank) {
    *x = tensor_of(w, t->rank, t->dtype);
    return *x;
  }
  ls_shape whole = {t->rank, t->rank, t->dtype};
  bs_value split = bs_int(w->values, t->access);
  gs_term tensor = ls_term_of(w, &whole);
  gs_fault fault;
  *x = gs_term_ok(tensor)
           ? gs_add(w->p, GS_ACCESS, bs_list(w->values, &split, 1), &tensor, 1,
                    BS_NOWHERE, &fault)
           : tensor;
  return *x;
}
