/* SPDX-License-Identifier: MIT */
/* file_prepack.c - the function that packs constant inputs once for all calls.
 *
 * What is computed from them alone is computed here; operands of contractions
 * are packed as their kernels read them; an input that is read as it is gets
 * copied. */
#include "codegen/file/codegen_file.h"
#include "codegen/contract/contract_unit.h"
#include "poly/kernel/contraction.h"

/* memcpy((unsigned char *)prepacked + offset, array, bytes) */
static cg_node *
make_copy(cg_emitter *e, const po_array *array) {
  bs_arena *arena = &e->arena;
  if (array->offset < 0)
    return cg_make_void(arena, array->name);
  int64_t bytes =
      gs_prod(array->dim, array->rank) * gs_dtype_table[array->dtype].bytes;
  const cg_expr *to =
      cg_cast(arena, "unsigned char *", cg_name(arena, "prepacked"));
  to = cg_infix(arena, CG_OP_ADD, to, cg_number(arena, array->offset));
  const cg_expr *args[] = {to, cg_name(arena, array->name),
                           cg_number(arena, bytes)};
  return cg_make_do(arena, cg_called(arena, "memcpy", 3, args));
}

/* The operands that kernels read packed. */
static void
add_packs(cg_emitter *e, cg_list *to) {
  for (uint32_t k = 0; k < e->groups.list.len; k++) {
    const po_contraction *c =
        po_contraction_of(e->p, &e->groups, &e->groups.list.data[k]);
    if (c)
      cg_append(to, cg_make_contract_before(
                        e, c, e->kernels.data[e->uses[k].kernel].name));
  }
}

void
cg_put_prepack(cg_emitter *e) {
  const po_program *p = e->p;
  cg_list body;
  cg_list_init(&body);
  cg_append(&body, cg_make_void(&e->arena, "prepacked"));
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].prepack)
      cg_append(&body, make_copy(e, &p->arrays.data[k]));
  cg_add_steps_before(e, &body);
  add_packs(e, &body);
  cg_function f = cg_prepack_signature(p, e->options, &e->arena);
  f.head = e->is_variant ? "\nstatic void" : "\nvoid";
  cg_put_function(e, &f, body.first);
  if (!e->is_variant)
    e->failed |= !cg_put_prepacked_size(p, e->options, &e->arena, &e->body);
}
