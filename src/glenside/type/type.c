/* SPDX-License-Identifier: MIT */
/* type.c - types as values: interning, comparison, sizes, text.
 *
 * A type is interned as the list ((S) (C) dtype), so equal types have equal
 * ids wherever they came from. */
#include "glenside/type/sizes.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

bool
gs_fail(gs_fault *fault, const char *code, int child, int attr,
        const char *format, ...) {
  assert(code && format);
  if (!fault)
    return false;
  va_list args;
  va_start(args, format);
  vsnprintf(fault->message, sizeof fault->message, format, args);
  va_end(args);
  fault->code = code;
  fault->hint[0] = '\0';
  fault->child = child;
  fault->attr = attr;
  return false;
}

bs_value
gs_type_intern(bs_values *values, const gs_type *t) {
  assert(gs_is_type(t));
  bs_value items[3];
  items[0] = bs_ints(values, t->dim, t->access);
  items[1] = bs_ints(values, t->dim + t->access, t->rank - t->access);
  items[2] = bs_sym(values, gs_dtype_table[t->dtype].name);
  return bs_list(values, items, 3);
}

void
gs_type_read(const bs_values *values, bs_value type, gs_type *out) {
  assert(bs_kind_of(values, type) == BS_KIND_LIST && bs_len(values, type) == 3);
  const bs_value *items = bs_items(values, type);
  uint32_t s = 0, c = 0;
  bs_to_ints(values, items[0], out->dim, GS_MAX_RANK, &s);
  bs_to_ints(values, items[1], out->dim + s, GS_MAX_RANK - s, &c);
  out->access = (uint8_t)s;
  assert(s + c <= GS_MAX_RANK);
  out->rank = (uint8_t)(s + c);
  gs_dtype_find(bs_as_sym(values, items[2]), &out->dtype);
}

bool
gs_type_equal(const gs_type *a, const gs_type *b) {
  assert(gs_is_type(a) && gs_is_type(b));
  if (a->access != b->access || a->rank != b->rank || a->dtype != b->dtype)
    return false;
  for (uint32_t k = 0; k < a->rank; k++)
    if (a->dim[k] != b->dim[k])
      return false;
  return true;
}

int64_t
gs_prod(const int64_t *dims, uint32_t n) {
  assert(dims || !n);
  uint64_t product = 1;
  for (uint32_t k = 0; k < n; k++)
    product *= (uint64_t)dims[k];
  return (int64_t)product;
}

bool
gs_checked_prod(const int64_t *dims, uint32_t n, int64_t *out) {
  assert(dims || !n);
  int64_t product = 1;
  for (uint32_t k = 0; k < n; k++)
    if (__builtin_mul_overflow(product, dims[k], &product))
      return false;
  *out = product;
  return true;
}

int64_t
gs_elements(const gs_type *t) {
  return gs_prod(t->dim, t->rank);
}

void
gs_put_type(bs_text *out, const gs_type *t) {
  gs_put_type_of(out, NULL, t);
}
