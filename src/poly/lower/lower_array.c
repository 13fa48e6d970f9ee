/* SPDX-License-Identifier: MIT */
/* lower_array.c - arrays and their names.
 *
 * A name is made from the source's so that it is an identifier in C and in
 * C++, no keyword, no macro of the headers that generated code includes, no
 * word of a target's own C text, and not taken yet. */
#include "poly/lower/lower.h"
#include "poly/loops/names.h"
#include "poly/loops/open.h"
#include <assert.h>
#include <string.h>

/* Of a name: 0 where it is free, else the number to try behind it next. */
static uint32_t *
number_behind(po_lowering *low, const char *name) {
  uint32_t at = bs_sym(low->out->ctx.values, name).i;
  while (low->named.len <= at)
    bs_push(low->heap, &low->named, 0);
  return &low->named.data[at];
}

static bool
is_free(po_lowering *low, const char *name) {
  return !*number_behind(low, name) && !po_name_is_reserved(name) &&
         !po_name_is_of_target(low->out->target, name);
}

/* A number behind a name may make a reserved one of it, as of SIZE. */
const char *
po_fresh_name(po_lowering *low, const char *prefix, const char *name) {
  bs_arena *arena = &low->out->arena;
  const char *base =
      bs_arena_printf(arena, "%s%s", prefix, po_sanitize(arena, name));
  const char *fresh = base;
  uint32_t k = *number_behind(low, base);
  for (k = k ? k : 2; !is_free(low, fresh); k++)
    fresh = po_sanitize(arena, bs_arena_printf(arena, "%s_%u", base, k));
  *number_behind(low, base) = k;
  *number_behind(low, fresh) = 2;
  return fresh;
}

uint32_t
po_new_array(po_lowering *low, po_role role, const char *name, gs_dtype dtype,
             const int64_t *dim, uint32_t rank, gs_term term) {
  assert(rank <= GS_MAX_RANK && dtype < GS_DTYPE_COUNT);
  po_array array = {
      .name = name, .role = role, .dtype = dtype, .rank = rank, .term = term};
  for (uint32_t d = 0; d < rank; d++)
    array.dim[d] = po_most_in(low->isl, dim[d]);
  for (uint32_t d = 0; d < rank; d++)
    if (gs_is_sized(dim[d])) {
      po_pool_reserve(&low->out->pool, 1);
      array.extent[d] =
          po_keep_aff(&low->out->pool, po_open_aff(low->isl, 0, dim[d]));
    }
  for (uint32_t d = 0; role == PO_LOCAL && d < rank; d++)
    array.fold[d] = 1; /* by the loops around it */
  bs_push(low->heap, &low->out->arrays, array);
  return low->out->arrays.len - 1;
}

uint32_t
po_new_temporary(po_lowering *low, po_role role, gs_dtype dtype,
                 const int64_t *dim, uint32_t rank, gs_term term) {
  assert(role == PO_LOCAL || role == PO_WORKSPACE);
  const char *letter = role == PO_LOCAL ? "acc" : "t";
  const char *name =
      bs_arena_printf(&low->out->arena, "%s%u", letter, low->n_temporaries++);
  return po_new_array(low, role, name, dtype, dim, rank, term);
}

static void
declare(po_lowering *low, po_role role, const gs_named *named, uint32_t k) {
  gs_type type;
  gs_type_at(low->source, named->term, &type);
  const char *name = po_fresh_name(low, "", named->name);
  uint32_t array = po_new_array(low, role, name, type.dtype, type.dim,
                                type.rank, named->term);
  low->out->arrays.data[array].number = k;
}

void
po_declare_arrays(po_lowering *low) {
  const gs_program *source = low->source;
  for (uint32_t k = 0; k < source->inputs.len; k++)
    declare(low, PO_INPUT, &source->inputs.data[k], k);
  for (uint32_t k = 0; k < source->outputs.len; k++)
    declare(low, PO_OUTPUT, &source->outputs.data[k], k);
}
