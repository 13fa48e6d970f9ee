/* prepack.c - inputs that are the same for all calls.
 *
 * An operand of a contraction that is such an input is packed once, by a
 * function of its own.  All else reads a copy of the input, which lies beside
 * what is packed. */
#include "poly/contraction.h"
#include "poly/storage.h"
#include <string.h>

bool
po_prepack(po_program *p, const char *input) {
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    po_array *array = &p->arrays.data[k];
    if (array->role != PO_INPUT ||
        strcmp(p->source->inputs.data[array->number].name, input) != 0)
      continue;
    array->prepack = true;
    array->offset = -1;
    return true;
  }
  return false;
}

bool
po_has_prepacked(const po_program *p) {
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (p->arrays.data[k].prepack)
      return true;
  return false;
}

/* The statement is a contraction's, and finds the array packed. */
static bool
reads_packed(const po_program *p, uint32_t stmt, uint32_t array) {
  for (uint32_t k = 0; k < p->contractions.len; k++) {
    const po_contraction *c = p->contractions.data[k];
    if (c->update != stmt)
      continue;
    return (c->x.array != array || c->x_mode == PO_BEFORE) &&
           (c->y.array != array || c->y_mode == PO_BEFORE);
  }
  return false;
}

static bool
is_read_as_it_is(const po_program *p, uint32_t array) {
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    for (uint32_t j = 0; s->instr && j < s->instr->n_operands; j++)
      if (s->operands[j].array == array)
        return true;
    for (uint32_t j = 0; j < s->n_exprs; j++)
      if ((s->exprs[j].kind == PO_READ || s->exprs[j].kind == PO_GATHER) &&
          s->exprs[j].array == array && !reads_packed(p, k, array))
        return true;
  }
  return false;
}

void
po_lay_out_prepacked(po_program *p) {
  p->prepacked_bytes = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    po_array *array = &p->arrays.data[k];
    array->offset = array->prepack ? -1 : array->offset;
    if (array->role != PO_PREPACKED &&
        !(array->prepack && is_read_as_it_is(p, k)))
      continue;
    array->offset = p->prepacked_bytes;
    p->prepacked_bytes += (po_bytes(array) + 63) / 64 * 64;
  }
}
