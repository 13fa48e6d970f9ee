/* SPDX-License-Identifier: MIT */
/* memory_check.c - places of arrays in memories, whoever found them: within
 * their memory, and apart from whatever holds values at the same time.
 *
 * An array holds values from the first child of the root that names it to the
 * last one, whatever the order of instances within. */
#include "poly/loops/storage.h"
#include "poly/memory/memory.h"
#include <assert.h>

typedef struct lifetime {
  uint32_t first, last; /* children of the root; first > last: unused */
} lifetime;

static void
note(lifetime *l, uint32_t child) {
  l->first = child < l->first ? child : l->first;
  l->last = child > l->last ? child : l->last;
}

static void
note_leaf(const po_program *p, const po_stmt *s, uint32_t child,
          lifetime *lives) {
  for (uint32_t k = 0; s->kind == PO_CALL && k <= s->instr->n_operands; k++)
    if (p->arrays.data[s->operands[k].array].role == PO_MEMORY)
      note(&lives[s->operands[k].array], child);
}

static void
find_lifetimes(const po_program *p, lifetime *lives) {
  const po_nest_node *nodes = p->nest.nodes.data;
  uint32_t child = 0;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    lives[k] = (lifetime){UINT32_MAX, 0};
  for (uint32_t top = nodes[0].first; top != PO_NO_NODE;
       top = nodes[top].next, child++)
    for (uint32_t k = top; k != PO_NO_NODE; k = po_nest_next(p, k, top))
      if (nodes[k].kind == PO_LEAF)
        note_leaf(p, &p->stmts.data[nodes[k].stmt], child, lives);
}

static bool
overlap(const po_array *a, const po_array *b) {
  return a->memory == b->memory && a->offset < b->offset + po_bytes(b) &&
         b->offset < a->offset + po_bytes(a);
}

static bool
is_apart(const po_program *p, const lifetime *lives, uint32_t j, uint32_t k,
         bs_text *why) {
  assert(j < p->arrays.len && k < p->arrays.len);
  const po_array *a = &p->arrays.data[j], *b = &p->arrays.data[k];
  if (a->role != PO_MEMORY || !overlap(a, b) ||
      lives[j].last < lives[k].first || lives[k].last < lives[j].first)
    return true;
  bs_putf(why, "%s and %s hold values at one time, and overlap in %s", a->name,
          b->name, gs_memory_name(p->target, a->memory));
  return false;
}

static bool
is_within(const po_program *p, const po_array *a, bs_text *why) {
  const gs_memory *m = gs_memory_at(p->target, a->memory);
  if (a->offset >= 0 && a->offset + po_bytes(a) <= m->bytes)
    return true;
  bs_putf(why, "%s does not lie within %s", a->name, m->name);
  return false;
}

bool
po_check_places(const po_program *p, bs_text *why) {
  lifetime *lives = bs_calloc(p->ctx.heap, p->arrays.len + 1, sizeof *lives);
  bool ok = true;
  find_lifetimes(p, lives);
  for (uint32_t k = 0; k < p->arrays.len && ok; k++) {
    if (p->arrays.data[k].role != PO_MEMORY)
      continue;
    ok = is_within(p, &p->arrays.data[k], why);
    for (uint32_t j = 0; j < k && ok; j++)
      ok = is_apart(p, lives, j, k, why);
  }
  bs_free(p->ctx.heap, lives);
  return ok;
}
