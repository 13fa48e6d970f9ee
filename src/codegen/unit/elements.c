/* SPDX-License-Identifier: MIT */
/* elements.c - locals of loops, and those that are scalars for each element. */
#include "codegen/unit/emit.h"
#include <assert.h>
#include <string.h>

static bool
is_mentioned(const po_stmt *stmt, uint32_t array) {
  bool is = stmt->array == array;
  for (uint32_t j = 0; j < stmt->n_exprs && !is; j++)
    is = (stmt->exprs[j].kind == PO_READ || stmt->exprs[j].kind == PO_GATHER) &&
         stmt->exprs[j].array == array;
  for (uint32_t j = 0; stmt->instr && j < stmt->instr->n_operands && !is; j++)
    is = stmt->operands[j].array == array;
  return is;
}

/* The root has the locals of all groups. */
bool
cg_is_local_of(const cg_emitter *e, const po_group *group, uint32_t loop,
               uint32_t array) {
  assert(array < e->p->arrays.len && loop < e->p->nest.nodes.len);
  if (e->p->arrays.data[array].role != PO_LOCAL || e->local_node[array] != loop)
    return false;
  if (loop)
    return true;
  for (uint32_t k = 0; k < group->n; k++)
    if (is_mentioned(cg_stmt(e, group, k), array))
      return true;
  return false;
}

bool
cg_has_locals(const cg_emitter *e, const po_group *group, uint32_t loop) {
  assert(loop < e->p->nest.nodes.len);
  for (uint32_t k = 0; k < e->p->arrays.len; k++)
    if (cg_is_local_of(e, group, loop, k))
      return true;
  return false;
}

/* ---- elements with names ---- */

/* Another array is named NAME_3. */
static bool
is_prefix_of_another(const po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  const char *name = p->arrays.data[array].name;
  size_t n = strlen(name);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const char *other = p->arrays.data[k].name;
    if (!strncmp(other, name, n) && other[n] == '_')
      return true;
  }
  return false;
}

/* Calls and look-ups need an address. */
static void
exclude_addressed(cg_emitter *e, const po_stmt *stmt) {
  for (uint32_t j = 0; j < stmt->n_exprs; j++)
    if (stmt->exprs[j].kind == PO_GATHER)
      e->elements[stmt->exprs[j].array].by_name = false;
  for (uint32_t j = 0; stmt->instr && j <= stmt->instr->n_operands; j++)
    e->elements[stmt->operands[j].array].by_name = false;
}

void
cg_find_elements(cg_emitter *e) {
  const po_program *p = e->p;
  e->elements = bs_calloc(e->heap, p->arrays.len, sizeof *e->elements);
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const po_array *a = &p->arrays.data[k];
    int64_t n = po_elements(a);
    e->elements[k].by_name = a->role == PO_LOCAL && a->scope == PO_REGISTER &&
                             n > 1 && n <= 64 && !is_prefix_of_another(p, k);
  }
  for (uint32_t k = 0; k < p->stmts.len; k++)
    exclude_addressed(e, &p->stmts.data[k]);
}
