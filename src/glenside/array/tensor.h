/* SPDX-License-Identifier: MIT */
/* tensor.h - dense arrays in C order, and .npy files. */
#ifndef GLENSIDE_TENSOR_H
#define GLENSIDE_TENSOR_H

#include "glenside/type/context.h"
#include "glenside/type/type.h"

typedef struct gs_tensor {
  gs_dtype dtype;
  uint32_t rank;
  int64_t dim[GS_MAX_RANK];
  int64_t elements;
  void *data; /* on the heap it was made with, 64-byte aligned, or mapped */
  void *map;  /* what to unmap, of so many bytes, or NULL */
  size_t map_bytes;
} gs_tensor;

struct gs_constant;
/* The elements of a constant, which keeps them: not to be given back. */
gs_tensor gs_tensor_of(const struct gs_constant *);
/* One dimension of elements that are somebody else's, and are only read. */
gs_tensor gs_tensor_over(gs_dtype, int64_t elements, const void *data);
/* Throws when out of memory; zeroed. */
void gs_tensor_init(bs_heap *, gs_tensor *, const gs_type *);
void gs_tensor_done(bs_heap *, gs_tensor *);
/* Reproducible values: floats in [-1, 1) on a grid of 1/256, integers small
 * enough that sums stay exact in the interpreter.  `salt` tells inputs apart */
void gs_tensor_fill(gs_tensor *, uint64_t seed, const char *salt);
/* Element i (C order) as f64, exact for every dtype; and stored back with the
 * conversion of `cast` (saturating, NaN to 0, bf16 to nearest even). */
double gs_tensor_get(const gs_tensor *, int64_t i);
void gs_tensor_set(gs_tensor *, int64_t i, double);
/* Elements from elsewhere: a truth value that is not 0 becomes 1.  Returns the
 * first that the dtype has no value for, or -1. */
int64_t gs_tensor_normalise(gs_tensor *);
#define GS_BEYOND_I64 "is beyond 2^53, where an i64 ends"
/* v as an element of the dtype, saturating; and wrapping. */
double gs_convert(gs_dtype, double v);
/* What a parameter of an operator is: a literal's value in the dtype that
 * narrow floats compute in, and in its own for all others; parameter k of an
 * `o` attribute item, 0 if that is no number. */
double gs_literal_value(gs_dtype, double literal);
double gs_parameter_value(const bs_values *, bs_value o, uint32_t k, gs_dtype);
int64_t gs_wrap(gs_dtype, int64_t v);
/* Some integer of the dtype, of all of them, for some bits. */
int64_t gs_any_whole(gs_dtype, uint64_t bits);
/* Elements first .. first + n - 1. */
void gs_tensor_get_many(const gs_tensor *, int64_t first, int64_t n,
                        double *out);
float gs_bf16_to_f32(uint16_t);
uint16_t gs_f32_to_bf16(float);
double gs_f16_to_f64(uint16_t);
uint16_t gs_f64_to_f16(double); /* to nearest even, once */

/* bf16 is stored as dtype '<V2' (and '<u2' is accepted for it when expected).
 * The type wanted by `expect` (NULL: any) is checked. */
bool gs_npy_read(const gs_context *, const char *path, const gs_type *expect,
                 gs_tensor *out);
/* Where the elements begin in a whole file that is in memory, whose type must
 * be the one expected; diagnostics stand at the span. */
bool gs_npy_locate(const gs_context *, bs_span, const char *name,
                   const void *bytes, size_t n, const gs_type *expect,
                   int64_t *offset);
bool gs_npy_write(const gs_context *, const char *path, const gs_tensor *);

typedef struct gs_difference {
  int64_t rounding; /* elements beyond the tolerance, but within their bounds */
  int64_t count;    /* elements that differ beyond the tolerance */
  int64_t first;    /* index of the first one */
  double max_abs, max_rel, a, b; /* a, b: the values there */
} gs_difference;
/* Exact for integers; |a-b| <= abs + rel*max(|a|,|b|) for floats; NaN = NaN. */
bool gs_tensor_compare(const gs_tensor *, const gs_tensor *, double rel,
                       double abs, gs_difference *out);
/* Compares where elements beyond the tolerance may still differ by the sum of
 * these bounds (f64; NULL: 0); how many do. */
bool gs_tensor_compare_within(const gs_tensor *, const gs_tensor *, double rel,
                              double abs, const gs_tensor *bound_a,
                              const gs_tensor *bound_b, gs_difference *out);

#endif
