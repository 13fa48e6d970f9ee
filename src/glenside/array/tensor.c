/* SPDX-License-Identifier: MIT */
/* tensor.c - dense arrays: storage, conversion, filling, comparison.
 *
 * Elements are kept in the C representation of their dtype, so an array is
 * what generated code sees.  Every element of every dtype is exact as f64.
 * The pointer that the heap gave stands in the word before the aligned data.
 *
 * Filling hashes (seed, salt, index) with SplitMix64's finaliser, one element
 * at a time, so a value depends on nothing else. */
#include "glenside/array/tensor.h"
#include "glenside/program/program.h"
#include "base/random.h"
#include <assert.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 64

/* --- storage -------------------------------------------------------------- */

void
gs_tensor_init(bs_heap *heap, gs_tensor *t, const gs_type *type) {
  assert(gs_is_type(type));
  size_t bytes = (size_t)gs_elements(type) * gs_dtype_table[type->dtype].bytes;
  size_t slack = sizeof(void *) + ALIGNMENT;
  *t = (gs_tensor){
      .dtype = type->dtype, .rank = type->rank, .elements = gs_elements(type)};
  memcpy(t->dim, type->dim, type->rank * sizeof *t->dim);
  char *block = bs_alloc(heap, bytes + slack);
  uintptr_t at = (uintptr_t)block + slack;
  char *data = block + slack - at % ALIGNMENT;
  memcpy(data - sizeof block, &block, sizeof block);
  memset(data, 0, bytes);
  t->data = data;
}

gs_tensor
gs_tensor_over(gs_dtype dtype, int64_t elements, const void *data) {
  assert(dtype < GS_DTYPE_COUNT && elements >= 0);
  return (gs_tensor){.dtype = dtype,
                     .rank = 1,
                     .dim = {elements},
                     .elements = elements,
                     .data = (void *)(uintptr_t)data};
}

gs_tensor
gs_tensor_of(const gs_constant *c) {
  assert(c->data && gs_is_type(&c->type));
  gs_tensor t = gs_tensor_over(c->type.dtype, gs_elements(&c->type), c->data);
  t.rank = c->type.rank;
  memcpy(t.dim, c->type.dim, c->type.rank * sizeof *t.dim);
  return t;
}

void
gs_tensor_done(bs_heap *heap, gs_tensor *t) {
  char *block;
  if (t->map) {
    munmap(t->map, t->map_bytes);
  } else if (t->data) {
    memcpy(&block, (char *)t->data - sizeof block, sizeof block);
    bs_free(heap, block);
  }
  t->data = t->map = NULL;
}

/* --- conversion ----------------------------------------------------------- */

float
gs_bf16_to_f32(uint16_t b) {
  uint32_t bits = (uint32_t)b << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

uint16_t
gs_f32_to_bf16(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  if (isnan(f))
    return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double
gs_f16_to_f64(uint16_t b) {
  int exponent = b >> 10 & 31;
  double fraction = b & 1023, v;
  if (exponent == 31)
    v = fraction > 0 ? (double)NAN : INFINITY;
  else
    v = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
  return b >> 15 ? -v : v;
}

/* The spacing is that of the exponent, or below 2^-14 that of 2^-14. */
uint16_t
gs_f64_to_f16(double v) {
  uint16_t sign = signbit(v) ? 0x8000 : 0;
  double size = fabs(v);
  if (isnan(v))
    return sign | 0x7e00;
  if (size >= 65520)
    return sign | 0x7c00;
  int exponent = size < 0x1p-14 ? -14 : ilogb(size);
  unsigned digits = (unsigned)rint(ldexp(size, 10 - exponent));
  unsigned bits = ((unsigned)(exponent + 14) << 10) + digits;
  return sign | (uint16_t)bits;
}

static double
saturate(gs_dtype dtype, double v) {
  double least = (double)gs_dtype_least(dtype);
  double most = (double)gs_dtype_most(dtype);
  if (isnan(v))
    return 0;
  v = trunc(v);
  return v < least ? least : v > most ? most : v;
}

/* The nearest float; beyond their range, infinity. */
static float
to_f32(double v) {
  if (isnan(v))
    return (float)NAN;
  if (fabs(v) >= 0x1.ffffffp127)
    return v < 0 ? -INFINITY : INFINITY;
  return (float)v;
}

double
gs_convert(gs_dtype dtype, double v) {
  assert(dtype < GS_DTYPE_COUNT);
  switch (dtype) {
  case GS_F32:
    return to_f32(v);
  case GS_BF16:
    return gs_bf16_to_f32(gs_f32_to_bf16(to_f32(v)));
  case GS_F16:
    return gs_f16_to_f64(gs_f64_to_f16(v));
  case GS_BOOL:
    return v != 0;
  case GS_I8:
  case GS_U8:
  case GS_I16:
  case GS_U16:
  case GS_I32:
  case GS_I64:
  case GS_U32:
    return saturate(dtype, v);
  case GS_F64:
  case GS_DTYPE_COUNT:
  default:
    return v;
  }
}

double
gs_literal_value(gs_dtype dtype, double literal) {
  assert(dtype < GS_DTYPE_COUNT);
  return gs_is_half(dtype) ? gs_convert(GS_F32, literal)
         : dtype == GS_F32 ? gs_convert(dtype, literal)
                           : literal;
}

double
gs_parameter_value(const bs_values *values, bs_value o, uint32_t k,
                   gs_dtype dtype) {
  assert(dtype < GS_DTYPE_COUNT);
  bs_value v = gs_compute_param(values, o, k);
  bs_kind kind = bs_kind_of(values, v);
  return kind == BS_KIND_INT || kind == BS_KIND_REAL
             ? gs_literal_value(dtype, bs_as_real(values, v))
             : 0;
}

int64_t
gs_wrap(gs_dtype dtype, int64_t v) {
  assert(gs_dtype_table[dtype].integer);
  if (dtype == GS_BOOL)
    return v != 0;
  if (dtype == GS_I64) /* which holds all that others hold */
    return v;
  uint64_t bits = 8 * gs_dtype_table[dtype].bytes;
  uint64_t mask = ((uint64_t)1 << bits) - 1, u = (uint64_t)v & mask;
  bool negative = gs_dtype_table[dtype].is_signed && u >> (bits - 1);
  return negative ? (int64_t)(u | ~mask) : (int64_t)u;
}

int64_t
gs_any_whole(gs_dtype dtype, uint64_t bits) {
  assert(gs_dtype_table[dtype].integer);
  if (dtype != GS_I64)
    return gs_wrap(dtype, (int64_t)bits);
  uint64_t values =
      (uint64_t)(gs_dtype_most(dtype) - gs_dtype_least(dtype)) + 1;
  return gs_dtype_least(dtype) + (int64_t)(bits % values);
}

double
gs_tensor_get(const gs_tensor *t, int64_t i) {
  assert(i >= 0 && i < t->elements);
  switch (t->dtype) {
  case GS_F32:
    return ((const float *)t->data)[i];
  case GS_F64:
    return ((const double *)t->data)[i];
  case GS_BF16:
    return gs_bf16_to_f32(((const uint16_t *)t->data)[i]);
  case GS_F16:
    return gs_f16_to_f64(((const uint16_t *)t->data)[i]);
  case GS_I8:
    return ((const int8_t *)t->data)[i];
  case GS_U8:
  case GS_BOOL:
    return ((const uint8_t *)t->data)[i];
  case GS_I16:
    return ((const int16_t *)t->data)[i];
  case GS_U16:
    return ((const uint16_t *)t->data)[i];
  case GS_I32:
    return ((const int32_t *)t->data)[i];
  case GS_I64:
    return (double)((const int64_t *)t->data)[i];
  case GS_U32:
    return ((const uint32_t *)t->data)[i];
  case GS_DTYPE_COUNT:
  default:
    return 0;
  }
}

void
gs_tensor_get_many(const gs_tensor *t, int64_t first, int64_t n, double *out) {
  assert(first >= 0 && n >= 0 && n <= t->elements - first);
  const float *f32 = t->data;
  if (t->dtype == GS_F32)
    for (int64_t k = 0; k < n; k++)
      out[k] = f32[first + k];
  else
    for (int64_t k = 0; k < n; k++)
      out[k] = gs_tensor_get(t, first + k);
}

void
gs_tensor_set(gs_tensor *t, int64_t i, double v) {
  assert(i >= 0 && i < t->elements);
  v = gs_convert(t->dtype, v);
  switch (t->dtype) {
  case GS_F32:
    ((float *)t->data)[i] = (float)v;
    break;
  case GS_F64:
    ((double *)t->data)[i] = v;
    break;
  case GS_BF16:
    ((uint16_t *)t->data)[i] = gs_f32_to_bf16((float)v);
    break;
  case GS_I8:
    ((int8_t *)t->data)[i] = (int8_t)v;
    break;
  case GS_U8:
  case GS_BOOL:
    ((uint8_t *)t->data)[i] = (uint8_t)v;
    break;
  case GS_F16:
    ((uint16_t *)t->data)[i] = gs_f64_to_f16(v);
    break;
  case GS_I16:
    ((int16_t *)t->data)[i] = (int16_t)v;
    break;
  case GS_U16:
    ((uint16_t *)t->data)[i] = (uint16_t)v;
    break;
  case GS_I32:
    ((int32_t *)t->data)[i] = (int32_t)v;
    break;
  case GS_I64:
    ((int64_t *)t->data)[i] = (int64_t)v;
    break;
  case GS_U32:
    ((uint32_t *)t->data)[i] = (uint32_t)v;
    break;
  case GS_DTYPE_COUNT:
  default:
    break;
  }
}

int64_t
gs_tensor_normalise(gs_tensor *t) {
  assert(t->data || !t->elements);
  uint8_t *bytes = t->data;
  const int64_t *wide = t->data;
  for (int64_t k = 0; t->dtype == GS_BOOL && k < t->elements; k++)
    if (bytes[k] > 1) /* pages of a file that hold none stay as they are */
      bytes[k] = 1;
  for (int64_t k = 0; t->dtype == GS_I64 && k < t->elements; k++)
    if (wide[k] < gs_dtype_least(GS_I64) || wide[k] > gs_dtype_most(GS_I64))
      return k;
  return -1;
}

/* --- filling -------------------------------------------------------------- */

static uint64_t
mix_text(uint64_t h, const char *s) {
  for (; *s; s++)
    h = bs_random_of(h ^ (unsigned char)*s);
  return h;
}

/* 9 bits of hash as an element: a multiple of 1/256, or a small integer. */
static double
value_of(gs_dtype dtype, uint64_t bits) {
  switch (dtype) {
  case GS_I8:
    return (double)(bits % 16) - 8;
  case GS_U8:
  case GS_U16:
  case GS_U32:
    return (double)(bits % 16);
  case GS_BOOL:
    return (double)(bits % 2);
  case GS_I16:
  case GS_I32:
  case GS_I64:
    return (double)(bits % 128) - 64;
  case GS_F32:
  case GS_F64:
  case GS_BF16:
  case GS_F16:
  case GS_DTYPE_COUNT:
  default:
    return ((double)(bits % 512) - 256) / 256;
  }
}

void
gs_tensor_fill(gs_tensor *t, uint64_t seed, const char *salt) {
  assert(t->data || !t->elements);
  uint64_t start = mix_text(bs_random_of(seed), salt);
  for (int64_t i = 0; i < t->elements; i++)
    gs_tensor_set(t, i,
                  value_of(t->dtype, bs_random_of(start + (uint64_t)i) >> 20));
}

/* --- comparison ----------------------------------------------------------- */

static bool
close_enough(double a, double b, double rel, double abs) {
  if (a == b || (isnan(a) && isnan(b)))
    return true;
  return fabs(a - b) <= abs + rel * fmax(fabs(a), fabs(b)) && isfinite(a) &&
         isfinite(b);
}

static void
note_distance(gs_difference *out, double a, double b) {
  double d = fabs(a - b), size = fmax(fabs(a), fabs(b));
  if (!isfinite(d))
    return;
  out->max_abs = fmax(out->max_abs, d);
  if (size > 0)
    out->max_rel = fmax(out->max_rel, d / size);
}

static bool
same_shape(const gs_tensor *a, const gs_tensor *b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         (!a->rank || !memcmp(a->dim, b->dim, a->rank * sizeof *a->dim));
}

static bool
is_rounding(double x, double y, const gs_tensor *bound_a,
            const gs_tensor *bound_b, int64_t i) {
  double bound = (bound_a ? gs_tensor_get(bound_a, i) : 0) +
                 (bound_b ? gs_tensor_get(bound_b, i) : 0);
  return fabs(x - y) <= bound || (isinf(bound) && isnan(x - y));
}

bool
gs_tensor_compare(const gs_tensor *a, const gs_tensor *b, double rel,
                  double abs, gs_difference *out) {
  return gs_tensor_compare_within(a, b, rel, abs, NULL, NULL, out);
}

bool
gs_tensor_compare_within(const gs_tensor *a, const gs_tensor *b, double rel,
                         double abs, const gs_tensor *bound_a,
                         const gs_tensor *bound_b, gs_difference *out) {
  assert(rel >= 0 && abs >= 0 && a->dtype < GS_DTYPE_COUNT);
  bool exact = gs_dtype_table[a->dtype].integer;
  *out = (gs_difference){.first = -1};
  if (!same_shape(a, b)) {
    out->count = a->elements > b->elements ? a->elements : b->elements;
    return false;
  }
  for (int64_t i = 0; i < a->elements; i++) {
    double x = gs_tensor_get(a, i), y = gs_tensor_get(b, i);
    note_distance(out, x, y);
    if (close_enough(x, y, exact ? 0 : rel, exact ? 0 : abs))
      continue;
    if (is_rounding(x, y, bound_a, bound_b, i)) {
      out->rounding++;
      continue;
    }
    if (!out->count++) {
      out->first = i;
      out->a = x;
      out->b = y;
    }
  }
  return !out->count;
}
