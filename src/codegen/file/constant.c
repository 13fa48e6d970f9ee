/* SPDX-License-Identifier: MIT */
/* constant.c - constants as arrays of the file. */
#include "codegen/build/build.h"
#include "codegen/file/codegen_file.h"
#include <math.h>

static void
put_constant(cg_emitter *e, const po_array *array, const char *storage,
             const char *attribute) {
  int64_t n = gs_prod(array->dim, array->rank);
  bs_putf(&e->body, "%s const %s %s[%lld]%s = {", storage,
          gs_dtype_table[array->dtype].c_type, array->name, (long long)n,
          attribute);
  for (int64_t i = 0; i < n; i++) {
    bs_put(&e->body, i % 8 ? " " : "\n  ");
    if (gs_is_half(array->dtype))
      bs_putf(&e->body, "0x%04x", (unsigned)cg_element_at(array, i));
    else
      cg_put_literal(&e->body, array->dtype, cg_element_at(array, i));
    if (!isfinite(cg_element_at(array, i)))
      cg_need(&e->needs, CG_MATH);
    bs_putc(&e->body, ',');
  }
  bs_put(&e->body, "\n};\n\n");
}

uint32_t
cg_put_constants(cg_emitter *e, const char *storage, const char *attribute) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < e->p->arrays.len; k++) {
    const po_array *array = &e->p->arrays.data[k];
    if (array->role != PO_CONSTANT || (e->mentioned && !e->mentioned[k]))
      continue;
    put_constant(e, array, storage, attribute);
    n++;
  }
  return n;
}
