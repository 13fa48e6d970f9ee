/* storage.c - see storage.h. */
#include "poly/storage.h"
#include <isl/space.h>

void
po_places(const po_array *array, int64_t *place) {
  for (uint32_t d = 0; d < array->rank; d++) {
    int64_t fold = array->fold[d];
    place[d] = fold && fold < array->dim[d] ? fold : array->dim[d];
    if (place[d] > 1)
      place[d] += array->pad[d];
  }
}

int64_t
po_elements(const po_array *array) {
  int64_t place[GS_MAX_RANK], n = 1;
  po_places(array, place);
  for (uint32_t d = 0; d < array->rank; d++)
    if (__builtin_mul_overflow(n, place[d], &n))
      return INT64_MAX;
  return n;
}

int64_t
po_bytes(const po_array *array) {
  int64_t n;
  if (__builtin_mul_overflow(po_elements(array),
                             (int64_t)gs_dtype_table[array->dtype].bytes, &n))
    return INT64_MAX;
  return n;
}

static __isl_give isl_pw_aff *
folded(const po_array *array, uint32_t d, __isl_take isl_pw_aff *index) {
  int64_t fold = array->fold[d];
  if (!fold || fold >= array->dim[d])
    return index;
  isl_ctx *isl = isl_pw_aff_get_ctx(index);
  return isl_pw_aff_mod_val(index, isl_val_int_from_si(isl, fold));
}

isl_pw_aff *
po_address(const po_array *array, isl_pw_multi_aff *index) {
  isl_ctx *isl = isl_pw_multi_aff_get_ctx(index);
  isl_space *space = isl_space_domain(isl_pw_multi_aff_get_space(index));
  isl_pw_aff *sum = isl_pw_aff_from_aff(
      isl_aff_zero_on_domain(isl_local_space_from_space(space)));
  int64_t place[GS_MAX_RANK], step = 1;
  po_places(array, place);
  for (uint32_t d = array->rank; d-- > 0;) {
    if (array->fold[d] != 1) {
      isl_pw_aff *at =
          folded(array, d, isl_pw_multi_aff_get_pw_aff(index, (int)d));
      at = isl_pw_aff_scale_val(at, isl_val_int_from_si(isl, step));
      sum = isl_pw_aff_add(sum, at);
    }
    step *= place[d];
  }
  return sum;
}

/* ---- locals ---- */

static void
join(const po_program *p, uint32_t array, uint32_t leaf, uint32_t *node) {
  if (p->arrays.data[array].role != PO_LOCAL)
    return;
  uint32_t here = p->nest.nodes.data[leaf].parent;
  node[array] =
      node[array] == PO_NO_NODE ? here : po_nest_common(p, node[array], here);
}

void
po_find_local_nodes(const po_program *p, uint32_t *node) {
  for (uint32_t k = 0; k < p->arrays.len; k++)
    node[k] = PO_NO_NODE;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *stmt = &p->stmts.data[k];
    join(p, stmt->array, stmt->leaf, node);
    for (uint32_t j = 0; j < stmt->n_exprs; j++)
      if (stmt->exprs[j].kind == PO_READ || stmt->exprs[j].kind == PO_GATHER)
        join(p, stmt->exprs[j].array, stmt->leaf, node);
    for (uint32_t j = 0; stmt->instr && j < stmt->instr->n_operands; j++)
      join(p, stmt->operands[j].array, stmt->leaf, node);
  }
}

bool
po_is_in_parallel(const po_program *p, uint32_t loop) {
  const po_nest_node *nodes = p->nest.nodes.data;
  for (; loop != PO_NO_NODE; loop = nodes[loop].parent)
    if (nodes[loop].kind == PO_LOOP && nodes[loop].mark == PO_PARALLEL)
      return true;
  return false;
}
