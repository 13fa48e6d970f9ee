/* SPDX-License-Identifier: MIT */
/* large.c - arrays larger than the caches: those whose stores go past them or
 * that are fetched ahead (pass/stream.c). */
#include "glenside/target/machine.h"
#include "codegen/unit/emit.h"
#include "poly/loops/loops_sizes.h"
#include <assert.h>

static void
exclude_read(const po_stmt *stmt, bool *streamed) {
  for (uint32_t j = 0; j < stmt->n_exprs; j++)
    if (stmt->exprs[j].kind == PO_READ || stmt->exprs[j].kind == PO_GATHER)
      streamed[stmt->exprs[j].array] = false;
  for (uint32_t j = 0; stmt->instr && j <= stmt->instr->n_operands; j++)
    streamed[stmt->operands[j].array] = false;
  if (stmt->kind != PO_ASSIGN)
    streamed[stmt->array] = false;
}

void
cg_find_streamed(cg_emitter *e) {
  const po_program *p = e->p;
  int64_t cached = gs_far_bytes(p->target);
  int64_t least =
      gs_stores_through_caches(p->target) ? gs_near_bytes(p->target) : cached;
  e->streamed = bs_calloc(e->heap, p->arrays.len + 1, sizeof *e->streamed);
  e->fetched = bs_calloc(e->heap, p->arrays.len + 1, sizeof *e->fetched);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    int64_t bytes = po_bytes(&p->arrays.data[k]);
    if (po_has_sizes(p)) /* whether one is large is not known yet */
      continue;
    e->fetched[k] = p->arrays.data[k].role != PO_LOCAL && bytes > cached;
    e->streamed[k] = p->arrays.data[k].role == PO_OUTPUT && bytes > least;
  }
  for (uint32_t k = 0; k < p->stmts.len; k++)
    exclude_read(&p->stmts.data[k], e->streamed);
}

bool
cg_may_stream(const cg_emitter *e, const cg_use *use) {
  if (gs_stores_through_caches(e->p->target))
    return false;
  for (uint32_t k = 0; k < use->n_slots; k++)
    if (e->streamed[use->slots[k].array])
      return true;
  return false;
}

int64_t
cg_element_bytes(const cg_emitter *e, uint32_t array) {
  assert(array < e->p->arrays.len);
  return gs_dtype_table[e->p->arrays.data[array].dtype].bytes;
}
