/* SPDX-License-Identifier: MIT */
/* uses.c - see uses.h: counted first, then put in their places. */
#include "poly/loops/uses.h"

typedef struct listing {
  uint32_t *next;  /* by array: its place in `stmts`, or how many so far */
  uint32_t *seen;  /* by array: the last statement that names it, + 1 */
  uint32_t *stmts; /* NULL while they are counted */
} listing;

static void
note(listing *l, uint32_t array, uint32_t stmt) {
  if (l->seen[array] == stmt + 1)
    return;
  l->seen[array] = stmt + 1;
  if (l->stmts)
    l->stmts[l->next[array]] = stmt;
  l->next[array]++;
}

static void
note_all(listing *l, const po_program *p) {
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    note(l, s->array, k);
    for (uint32_t j = 0; s->instr && j <= s->instr->n_operands; j++)
      note(l, s->operands[j].array, k);
    for (uint32_t j = 0; j < s->n_exprs; j++)
      if (s->exprs[j].kind == PO_READ || s->exprs[j].kind == PO_GATHER)
        note(l, s->exprs[j].array, k);
  }
}

void
po_find_uses(const po_program *p, po_uses *out) {
  bs_heap *heap = p->ctx.heap;
  uint32_t n = p->arrays.len;
  listing l = {.next = bs_calloc(heap, n + (size_t)1, sizeof *l.next),
               .seen = bs_calloc(heap, n + (size_t)1, sizeof *l.seen)};
  note_all(&l, p);
  out->from = bs_calloc(heap, n + (size_t)1, sizeof *out->from);
  for (uint32_t k = 0; k < n; k++) {
    out->from[k + 1] = out->from[k] + l.next[k];
    l.next[k] = out->from[k];
    l.seen[k] = 0;
  }
  l.stmts = bs_calloc(heap, out->from[n] + (size_t)1, sizeof *l.stmts);
  note_all(&l, p);
  out->stmts = l.stmts;
  bs_free(heap, l.next);
  bs_free(heap, l.seen);
}

void
po_uses_done(const po_program *p, po_uses *uses) {
  bs_free(p->ctx.heap, uses->from);
  bs_free(p->ctx.heap, uses->stmts);
}
