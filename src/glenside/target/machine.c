/* SPDX-License-Identifier: MIT */
/* machine.c - the answers to what prices and plans ask of a machine. */
#include "glenside/target/machine.h"
#include "glenside/target/target_parse.h"
#include "glenside/target/tuned.h"
#include <assert.h>
#include <math.h>

/* The machine of gs_target_default. */
const gs_cache target_modest_caches[TARGET_MODEST_CACHES] = {
    {1, 32768, TARGET_MODEST_LINE, 8, 32},
    {2, 262144, TARGET_MODEST_LINE, 8, 16},
    {3, 4194304, TARGET_MODEST_LINE, 16, 8}};

/* Bytes of the largest element. */
enum { LEAST_LINE = 8 };

static int64_t
or_else(int64_t said, int64_t otherwise) {
  return said > 0 ? said : otherwise;
}

int64_t
gs_cores(const gs_target *t) {
  return or_else(t ? t->cores : 0, 1);
}

int64_t
gs_vector_bytes(const gs_target *t) {
  return or_else(t ? t->vector_bytes : 0, TARGET_MODEST_VECTOR);
}

int64_t
gs_vector_lanes(const gs_target *t, int64_t bytes) {
  assert(bytes >= 1);
  int64_t lanes = gs_vector_bytes(t) / bytes;
  return lanes > 1 ? lanes : 1;
}

int64_t
gs_vector_registers(const gs_target *t) {
  return or_else(t ? t->vector_registers : 0, TARGET_MODEST_REGISTERS);
}

bool
gs_has_half_vectors(const gs_target *t) {
  return t && t->flops_per_cycle < (double)t->vector_bytes;
}

/* ---- caches ---- */

gs_cache
gs_first_cache(const gs_target *t) {
  gs_cache c = t && t->caches.len ? t->caches.data[0] : target_modest_caches[0];
  c.line = c.line < LEAST_LINE ? LEAST_LINE : c.line;
  return c;
}

int64_t
gs_line_elements(const gs_target *t, int64_t bytes) {
  /* A line has room for an element of any type. */
  assert(bytes >= 1 && bytes <= LEAST_LINE);
  return gs_first_cache(t).line / bytes;
}

int64_t
gs_cache_bytes(const gs_target *t, uint32_t which) {
  assert(which == 1 || which == 2);
  return t && t->caches.len >= which ? t->caches.data[which - 1].bytes
                                     : target_modest_caches[which - 1].bytes;
}

int64_t
gs_third_cache_share(const gs_target *t) {
  assert(gs_cores(t) >= 1);
  return t && t->caches.len > 2 ? t->caches.data[2].bytes / gs_cores(t) : 0;
}

int64_t
gs_core_bytes(const gs_target *t) {
  return gs_cache_bytes(t, t && t->caches.len > 1 ? 2 : 1);
}

static int64_t
times(int64_t bytes, int64_t factor) {
  int64_t product;
  return __builtin_mul_overflow(bytes, factor, &product) ? INT64_MAX : product;
}

int64_t
gs_far_bytes(const gs_target *t) {
  int64_t most = INT64_MAX;
  for (uint32_t k = 0; t && k < t->caches.len; k++) {
    const gs_cache *c = &t->caches.data[k];
    int64_t bytes = times(c->bytes, c->level == 2 ? GS_FAR_TIMES : 1);
    if ((c->level == 2 || k + 1 == t->caches.len) && bytes < most)
      most = bytes;
  }
  return most;
}

int64_t
gs_near_bytes(const gs_target *t) {
  int64_t most = gs_far_bytes(t);
  for (uint32_t k = 0; t && k < t->caches.len; k++)
    if (t->caches.data[k].level == 2 && t->caches.data[k].bytes < most)
      most = t->caches.data[k].bytes;
  return most;
}

int64_t
gs_private_bytes(const gs_target *t) {
  return times(gs_cache_bytes(t, 2), GS_PRIVATE_TIMES);
}

bool
gs_stores_through_caches(const gs_target *t) {
  return t && t->stored_bytes_per_cycle > 0 &&
         t->stored_bytes_per_cycle < t->memory_bytes_per_cycle;
}

/* ---- rates ---- */

double
gs_bytes_a_cycle(const gs_target *t, double live) {
  assert(live >= 0);
  double rate = t->memory_bytes_per_cycle;
  for (uint32_t k = 0; k < t->caches.len; k++)
    if (live <= (double)t->caches.data[k].bytes)
      rate = fmax(t->caches.data[k].bytes_per_cycle, rate);
  return fmax(rate, GS_LEAST_RATE);
}

double
gs_share_of_memory(double cores, double all) {
  assert(cores >= 0 && all >= 0);
  return fmin(1, GS_CORES_OF_MEMORY * cores / fmax(all, 1));
}

/* Lanes of a vector relative to f32; floats of 16 bits are computed as f32. */
static double
lanes(gs_dtype d) {
  return gs_is_half(d) ? 1 : 4.0 / gs_dtype_table[d].bytes;
}

double
gs_operations_a_cycle(const gs_target *t, gs_rate rate, gs_dtype d) {
  assert(rate <= GS_RATE_SCALAR && d < GS_DTYPE_COUNT);
  double flops = t->flops_per_cycle, scalar = t->scalar_ops_per_cycle;
  switch (rate) {
  case GS_RATE_FUSED:
    return flops * lanes(gs_sum_dtype(d));
  case GS_RATE_VECTOR:
    return fmax(flops / 2 * lanes(d), scalar);
  case GS_RATE_SCALAR:
  default:
    return scalar;
  }
}

double
gs_multiply_add_cycles(const gs_target *t) {
  double operations = 2 * ((double)t->vector_bytes / 4);
  double cycles = t->flops_per_cycle > 0 ? operations / t->flops_per_cycle : 0;
  return fmin(fmax(cycles, GS_FMA_LEAST), GS_FMA_MOST);
}
