/* SPDX-License-Identifier: MIT */
/* prepack.c - inputs that are the same for all calls.
 *
 * NAME_prepack runs the groups that read nothing else, constants apart, and
 * packs operands of contractions that are such inputs or were made so.  All
 * else reads a copy of the input, which lies beside what is packed. */
#include "poly/kernel/contraction.h"
#include "poly/loops/access.h"
#include "poly/loops/loops_sizes.h"
#include "poly/loops/storage.h"
#include <assert.h>
#include <string.h>

bool
po_prepack(po_program *p, const char *input) {
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    po_array *array = &p->arrays.data[k];
    if (array->role != PO_INPUT ||
        strcmp(p->source->inputs.data[array->number].name, input) != 0)
      continue;
    if (po_is_sized(array))
      return bs_error(p->ctx.diags, BS_NOWHERE, "open-size",
                      "prepacking %s needs numbers for the sizes in its shape",
                      input);
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

/* --- groups that read nothing else
 * ----------------------------------------- */

typedef bool visit(po_program *, uint32_t array, bool writes);

/* False as soon as one array that the statement reads or writes gives that. */
static bool
visit_stmt(po_program *p, const po_stmt *s, visit *f) {
  bool ok = f(p, s->array, true);
  for (uint32_t j = 0; ok && j < s->n_exprs; j++)
    if (s->exprs[j].kind == PO_READ || s->exprs[j].kind == PO_GATHER)
      ok = f(p, s->exprs[j].array, false);
  return ok;
}

static bool
visit_group(po_program *p, const po_groups *groups, const po_group *group,
            visit *f) {
  bool ok = true;
  for (uint32_t k = group->first; ok && k < group->first + group->n; k++)
    ok = visit_stmt(p, &p->stmts.data[groups->stmts.data[k]], f);
  return ok;
}

static bool
is_from_constants(po_program *p, uint32_t array, bool writes) {
  assert(array < p->arrays.len);
  const po_array *a = &p->arrays.data[array];
  if (a->role == PO_LOCAL)
    return !po_is_large(a);
  return a->before || (!writes && (a->prepack || a->role == PO_CONSTANT));
}

static bool
mark_written(po_program *p, uint32_t array, bool writes) {
  assert(array < p->arrays.len);
  po_array *a = &p->arrays.data[array];
  if (writes && a->role == PO_WORKSPACE)
    a->before = true;
  return true;
}

static bool
unmark_written(po_program *p, uint32_t array, bool writes) {
  if (writes)
    p->arrays.data[array].before = false;
  return true;
}

static uint32_t
count_before(const po_program *p) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    n += p->arrays.data[k].before;
  return n;
}

/* Calls and contractions stay where they are: they may need a workspace.
 * NAME_prepack is not told sizes. */
static bool
may_run_before(po_program *p, const po_groups *groups, const po_group *group) {
  if (po_contraction_of(p, groups, group))
    return false;
  for (uint32_t k = group->first; k < group->first + group->n; k++) {
    const po_stmt *s = &p->stmts.data[groups->stmts.data[k]];
    if (s->kind == PO_CALL || po_is_sized(&p->arrays.data[s->array]) ||
        po_stmt_needs_sizes(p, s))
      return false;
  }
  return visit_group(p, groups, group, is_from_constants);
}

bool
po_is_before(const po_program *p, const po_groups *groups,
             const po_group *group) {
  for (uint32_t k = group->first; k < group->first + group->n; k++) {
    const po_stmt *s = &p->stmts.data[groups->stmts.data[k]];
    if (p->arrays.data[s->array].role != PO_LOCAL)
      return p->arrays.data[s->array].before;
  }
  return false;
}

/* The greatest set: an array is made before as long as all that write it
 * are. */
bool
po_find_before(po_program *p, const po_groups *groups) {
  bool changed = true;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    p->arrays.data[k].before = false;
  if (!po_has_prepacked(p))
    return false;
  for (uint32_t g = 0; g < groups->list.len; g++)
    visit_group(p, groups, &groups->list.data[g], mark_written);
  while (changed) {
    changed = false;
    for (uint32_t g = 0; g < groups->list.len; g++) {
      const po_group *group = &groups->list.data[g];
      if (may_run_before(p, groups, group))
        continue;
      uint32_t before = count_before(p);
      visit_group(p, groups, group, unmark_written);
      changed |= count_before(p) != before;
    }
  }
  return count_before(p) > 0;
}

/* --- places
 * ---------------------------------------------------------------- */

/* The statement is a contraction's, and finds the array packed. */
static bool
reads_packed(const po_contraction *c, uint32_t stmt, uint32_t array) {
  return c && c->update == stmt &&
         (c->x.array != array || c->x_mode == PO_BEFORE) &&
         (c->y.array != array || c->y_mode == PO_BEFORE);
}

/* By what calls of the program run. */
static bool
is_read_as_it_is(const po_program *p, const po_groups *groups, uint32_t array) {
  for (uint32_t g = 0; g < groups->list.len; g++) {
    const po_group *group = &groups->list.data[g];
    const po_contraction *c = po_contraction_of(p, groups, group);
    if (po_is_before(p, groups, group))
      continue;
    for (uint32_t k = group->first; k < group->first + group->n; k++) {
      uint32_t stmt = groups->stmts.data[k];
      if (po_stmt_reads(&p->stmts.data[stmt], array) &&
          !reads_packed(c, stmt, array))
        return true;
    }
  }
  return false;
}

void
po_lay_out_prepacked(po_program *p, const po_groups *groups) {
  p->prepacked_bytes = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    po_array *array = &p->arrays.data[k];
    array->offset = array->prepack ? -1 : array->offset;
    if (array->role != PO_PREPACKED &&
        !((array->prepack || array->before) && is_read_as_it_is(p, groups, k)))
      continue;
    array->offset = p->prepacked_bytes;
    p->prepacked_bytes += (po_bytes(array) + 63) / 64 * 64;
  }
}
