/* SPDX-License-Identifier: MIT */
/* unit_constant.c - what is in the arrays of constants. */
#include "glenside/target/tuned.h"
#include "codegen/unit/emit.h"
#include <assert.h>

double
cg_element_at(const po_array *array, int64_t i) {
  assert(array->data && i >= 0 && i < po_elements(array));
  switch (array->dtype) {
  case GS_F32:
    return (double)((const float *)array->data)[i];
  case GS_F64:
    return ((const double *)array->data)[i];
  case GS_BF16:
  case GS_F16:
  case GS_U16:
    return ((const uint16_t *)array->data)[i];
  case GS_I16:
    return ((const int16_t *)array->data)[i];
  case GS_I8:
    return ((const int8_t *)array->data)[i];
  case GS_U8:
  case GS_BOOL:
    return ((const uint8_t *)array->data)[i];
  case GS_I64:
    return (double)((const int64_t *)array->data)[i];
  case GS_U32:
    return ((const uint32_t *)array->data)[i];
  case GS_I32:
  case GS_DTYPE_COUNT:
  default:
    return ((const int32_t *)array->data)[i];
  }
}

bool
cg_is_small_constant(const po_array *array) {
  return array->role == PO_CONSTANT &&
         po_elements(array) <= GS_CONSTANT_WEIGHTS;
}
