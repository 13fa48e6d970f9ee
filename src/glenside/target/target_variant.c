/* SPDX-License-Identifier: MIT */
/* target_variant.c - what processors of one family add to the least of them.
 *
 * A variant of a target differs in its vectors alone: caches, cores and
 * memory are those of the machine that the target describes. */
#include "glenside/target/target.h"
#include <assert.h>
#include <string.h>

/* The least first, each next one wider. */
static const gs_variant variants[] = {
    {"base", "", 16, 16, 8},
    {"avx2", "avx2,fma", 32, 16, 32},
    {"avx512", "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl", 64, 32, 64},
};

const gs_variant *
gs_find_variant(const char *name) {
  for (size_t k = 0; k < sizeof variants / sizeof *variants; k++)
    if (!strcmp(variants[k].name, name))
      return &variants[k];
  return NULL;
}

const gs_variant *
gs_variant_of_vectors(int64_t bytes) {
  assert(bytes > 0);
  size_t k = sizeof variants / sizeof *variants - 1;
  while (k > 0 && variants[k].vector_bytes > bytes)
    k--;
  return &variants[k];
}

const gs_target *
gs_target_variant(const gs_context *ctx, const gs_target *of,
                  const gs_variant *v) {
  assert(of && v);
  assert(v->vector_bytes > 0 && v->vector_registers > 0);
  gs_target *t = bs_arena_copy(ctx->arena, of, sizeof *of);
  t->vector_bytes = v->vector_bytes;
  t->vector_registers = v->vector_registers;
  t->flops_per_cycle = v->flops_per_cycle;
  t->march = NULL;
  return t;
}
