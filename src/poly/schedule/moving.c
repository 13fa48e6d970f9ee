/* SPDX-License-Identifier: MIT */
/* moving.c - what goes where an array goes; see moving.h. */
#include "poly/schedule/moving.h"
#include <assert.h>

static bool
writes(const po_program *p, uint32_t stmt, uint32_t array) {
  assert(stmt < p->stmts.len);
  return p->stmts.data[stmt].array == array;
}

/* All who read a local but do not make it move already. */
static bool
is_ready(const po_program *p, const po_moving *m, uint32_t array) {
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (po_stmt_reads(&p->stmts.data[k], array) && !writes(p, k, array) &&
        !po_in_block(&m->all, k))
      return false;
  return true;
}

static bool
is_wanted(const po_program *p, const po_moving *m, uint32_t array) {
  assert(array < p->arrays.len);
  if (p->arrays.data[array].role != PO_LOCAL)
    return false;
  for (uint32_t k = 0; k < m->n; k++)
    if (m->arrays[k] == array)
      return false;
  for (uint32_t k = 0; k < m->all.n; k++)
    if (po_stmt_reads(&p->stmts.data[m->all.stmts[k]], array))
      return true;
  return false;
}

/* False where there are too many statements. */
static bool
add_writers(const po_program *p, po_moving *m, uint32_t array) {
  po_block *own = &m->writers[m->n];
  const uint32_t most = sizeof own->stmts / sizeof *own->stmts;
  own->n = 0;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    if (!writes(p, k, array))
      continue;
    if (m->all.n == most)
      return false;
    own->stmts[own->n++] = k;
    m->all.stmts[m->all.n++] = k;
  }
  m->arrays[m->n++] = array;
  return true;
}

bool
po_find_moving(const po_program *p, uint32_t array, const po_block *block,
               po_moving *m) {
  assert(array < p->arrays.len && block->n);
  const uint32_t most = sizeof m->arrays / sizeof *m->arrays;
  *m = (po_moving){
      .all = *block, .arrays = {array}, .writers = {*block}, .n = 1};
  for (uint32_t k = 0; k < p->arrays.len; k++)
    if (is_wanted(p, m, k) && is_ready(p, m, k)) {
      if (m->n == most || !add_writers(p, m, k))
        return false;
      k = UINT32_MAX; /* those writers may read others */
    }
  return true;
}
