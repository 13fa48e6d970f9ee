/* SPDX-License-Identifier: MIT */
/* contract_part.c - the first lanes of a vector, to memory and from there.
 *
 * See above/parts.c. */
#include "codegen/contract/contract.h"
#include <assert.h>

static cg_helper
parts_of(const cg_contract *x, int64_t width) {
  assert(width >= 1 && width <= x->c->lanes);
  bool one_move = !(width & (width - 1));
  return one_move ? CG_NO_HELPER : cg_parts_of(x->c->dtype, x->c->lanes);
}

void
cg_put_part(const cg_contract *x, const char *sum, const char *to,
            cg_transfer way, int64_t width) {
  assert(width > 0 && *sum && *to);
  long long bytes = width * gs_dtype_table[x->c->dtype].bytes;
  cg_helper parts = parts_of(x, width);
  cg_emitter *e = x->e;
  const char *get, *put;
  if (parts) {
    const char *name = cg_name_of_parts(&e->arena, parts);
    get = bs_arena_printf(&e->arena, "GLEN_GET_%s(%s, %s, %lld);", name,
                          way == CG_SUMS_ADD ? "part" : sum, to,
                          (long long)width);
    put = bs_arena_printf(&e->arena, "GLEN_PUT_%s(%s, %s, %lld);", name, to,
                          sum, (long long)width);
  } else {
    get = bs_arena_printf(&e->arena, "memcpy(&%s, %s, %lld);",
                          way == CG_SUMS_ADD ? "part" : sum, to, bytes);
    put = bs_arena_printf(&e->arena, "memcpy(%s, &%s, %lld);", to, sum, bytes);
  }
  if (way == CG_SUMS_ADD)
    cg_write(x->w, "{ %s_v part = {0}; %s %s += part; %s }", x->name, get, sum,
             put);
  else
    cg_write(x->w, "%s", way == CG_SUMS_LOAD ? get : put);
}
