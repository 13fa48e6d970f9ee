/* SPDX-License-Identifier: MIT */
/* prepack.c - the function that packs constant inputs once for all calls.
 *
 * What is computed from them alone is computed here; operands of contractions
 * are packed as their kernels read them; an input that is read as it is gets
 * copied. */
#include "codegen/file/file.h"
#include "codegen/contract/unit.h"
#include "poly/kernel/contraction.h"

void
cg_put_prepack_signature(const po_program *p, const cg_options *options,
                         bs_text *out) {
  bs_putf(out, "%s_prepack(", options->name);
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].prepack)
      cg_put_item(out, "const %s *%s, ",
                  gs_dtype_table[p->arrays.data[k].dtype].c_type,
                  p->arrays.data[k].name);
  cg_put_item(out, "void *prepacked)");
}

static void
put_copy(cg_emitter *e, const po_array *array) {
  if (array->offset < 0)
    bs_putf(&e->body, "  (void)%s;\n", array->name);
  else
    bs_putf(&e->body,
            "  memcpy((unsigned char *)prepacked + %lld, %s, %lld);\n",
            (long long)array->offset, array->name,
            (long long)gs_prod(array->dim, array->rank) *
                gs_dtype_table[array->dtype].bytes);
}

void
cg_put_prepack(cg_emitter *e) {
  const po_program *p = e->p;
  bs_put(&e->body, e->is_variant ? "\nstatic void\n" : "\nvoid\n");
  cg_put_prepack_signature(p, e->options, &e->body);
  bs_put(&e->body, " {\n  (void)prepacked;\n");
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].prepack)
      put_copy(e, &p->arrays.data[k]);
  cg_put_steps_before(e);
  for (uint32_t k = 0; k < e->groups.list.len; k++) {
    const po_contraction *c =
        po_contraction_of(p, &e->groups, &e->groups.list.data[k]);
    if (c)
      cg_put_contract_before(e, c, e->kernels.data[e->uses[k].kernel].name);
  }
  bs_put(&e->body, "}\n");
  if (!e->is_variant)
    cg_put_prepacked_size(p, e->options, &e->body);
}

void
cg_put_prepacked_size(const po_program *p, const cg_options *options,
                      bs_text *out) {
  bs_putf(out, "\nsize_t\n%s_prepacked_size(void) {\n  return %lld;\n}\n",
          options->name, (long long)p->prepacked_bytes);
}
