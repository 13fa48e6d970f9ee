/* SPDX-License-Identifier: MIT */
/* instr_beside.c - two calls of an instruction whose values lie side by side in
 * the memories of the target.
 *
 * A template that writes beside its tile shows where something of value lies
 * there.  So what the second call needs gets places right behind those of the
 * first, all is loaded before both calls, and stored after them.  Whichever of
 * the two is run last would spoil what the other one left. */
#include "codegen/run/instr_trial.h"
#include "poly/loops/storage.h"
#include "poly/memory/memory.h"
#include <assert.h>

typedef struct pairing {
  po_program *p;
  const gs_instr *instr;
  uint8_t *owner;   /* by array: of which call, 1 or 2; 0: in no memory */
  uint32_t call[2]; /* statements */
} pairing;

static bool
is_in_memory(const pairing *x, uint32_t array) {
  assert(array < x->p->arrays.len);
  return x->p->arrays.data[array].role == PO_MEMORY;
}

/* The array of the statement that lies in a memory and has the owner, or any
 * for 0; UINT32_MAX: none. */
static uint32_t
array_of(const pairing *x, const po_stmt *s, uint8_t owner) {
  for (uint32_t k = 0; s->kind == PO_CALL && k <= s->instr->n_operands; k++) {
    uint32_t array = s->operands[k].array;
    if (is_in_memory(x, array) && (!owner || x->owner[array] == owner))
      return array;
  }
  return UINT32_MAX;
}

static bool
own(pairing *x, const po_stmt *s, uint8_t owner) {
  bool more = false;
  for (uint32_t k = 0; k <= s->instr->n_operands; k++) {
    uint32_t array = s->operands[k].array;
    more |= is_in_memory(x, array) && x->owner[array] != owner;
    if (is_in_memory(x, array))
      x->owner[array] = owner;
  }
  return more;
}

/* Of the first call, and whatever shares a statement with that; the rest is
 * the second one's. */
static bool
find_owners(pairing *x) {
  bool more = own(x, &x->p->stmts.data[x->call[0]], 1);
  while (more) {
    more = false;
    for (uint32_t k = 0; k < x->p->stmts.len; k++)
      if (array_of(x, &x->p->stmts.data[k], 1) != UINT32_MAX)
        more |= own(x, &x->p->stmts.data[k], 1);
  }
  for (uint32_t k = 0; k < x->p->arrays.len; k++)
    if (is_in_memory(x, k) && !x->owner[k])
      x->owner[k] = 2;
  return array_of(x, &x->p->stmts.data[x->call[1]], 1) == UINT32_MAX;
}

static bool
find_calls(pairing *x) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < x->p->stmts.len; k++) {
    const po_stmt *s = &x->p->stmts.data[k];
    if (s->kind != PO_CALL || s->instr != x->instr)
      continue;
    if (n < 2)
      x->call[n] = k;
    n++;
  }
  return n == 2;
}

/* ---- places ---- */

static int64_t
end_of(const pairing *x, uint32_t memory) {
  int64_t end = 0;
  for (uint32_t k = 0; k < x->p->arrays.len; k++) {
    const po_array *a = &x->p->arrays.data[k];
    if (x->owner[k] == 1 && a->memory == memory &&
        a->offset + po_bytes(a) > end)
      end = a->offset + po_bytes(a);
  }
  return end;
}

/* Where the second call's places begin; -1: they are not one memory's. */
static int64_t
shift_of(const pairing *x, uint32_t memory) {
  const gs_memory *m = gs_memory_at(x->p->target, memory);
  return m->banks > 1 ? -1 : bs_round_up(end_of(x, memory), gs_memory_unit(m));
}

static bool
has_room(const pairing *x) {
  for (uint32_t k = 0; k < x->p->arrays.len; k++) {
    const po_array *a = &x->p->arrays.data[k];
    if (x->owner[k] != 2)
      continue;
    int64_t shift = shift_of(x, a->memory);
    if (shift < 0 || a->offset + shift + po_bytes(a) >
                         gs_memory_at(x->p->target, a->memory)->bytes)
      return false;
  }
  return true;
}

static void
move_second(pairing *x) {
  for (uint32_t k = 0; k < x->p->arrays.len; k++) {
    po_array *a = &x->p->arrays.data[k];
    if (x->owner[k] == 2)
      a->offset += shift_of(x, a->memory);
  }
}

/* ---- order ---- */

enum { BEFORE, CALL, BEHIND, STEPS };

/* Of a child of the root: the call that it belongs to; 0: none. */
static uint8_t
owner_of(const pairing *x, uint32_t top) {
  const po_nest_node *nodes = x->p->nest.nodes.data;
  uint32_t array = array_of(
      x, &x->p->stmts.data[nodes[po_nest_first_leaf(x->p, top)].stmt], 0);
  return array == UINT32_MAX ? 0 : x->owner[array];
}

static uint32_t
call_node(const pairing *x, uint8_t owner) {
  return po_nest_root(x->p, x->p->stmts.data[x->call[owner - 1]].leaf);
}

static uint32_t
count_tops(const pairing *x) {
  const po_nest_node *nodes = x->p->nest.nodes.data;
  uint32_t n = 0;
  for (uint32_t top = nodes[0].first; top != PO_NO_NODE; top = nodes[top].next)
    n++;
  return n;
}

/* The children of the root, and by child which step of which call it is; false
 * where one belongs to none. */
static bool
list_tops(const pairing *x, uint32_t *tops, uint8_t *owner, uint8_t *step) {
  const po_nest_node *nodes = x->p->nest.nodes.data;
  uint8_t now[3] = {BEFORE, BEFORE, BEFORE};
  uint32_t n = 0;
  for (uint32_t top = nodes[0].first; top != PO_NO_NODE;
       top = nodes[top].next, n++) {
    uint8_t of = owner_of(x, top);
    if (!of)
      return false;
    bool calls = top == call_node(x, of);
    tops[n] = top;
    owner[n] = of;
    step[n] = calls ? CALL : now[of];
    now[of] = calls ? BEHIND : now[of];
  }
  return true;
}

static bool
interleave(const pairing *x, bool turned) {
  uint32_t n = count_tops(x);
  uint32_t *tops = bs_calloc(x->p->ctx.heap, n + 1, sizeof *tops);
  uint8_t *owner = bs_calloc(x->p->ctx.heap, n + 1, 1);
  uint8_t *step = bs_calloc(x->p->ctx.heap, n + 1, 1);
  bool ok = list_tops(x, tops, owner, step);
  for (uint8_t s = BEFORE; s < STEPS && ok; s++)
    for (uint8_t of = 1; of <= 2; of++)
      for (uint32_t k = 0; k < n; k++)
        if (step[k] == s && owner[k] == (turned ? 3 - of : of)) {
          po_nest_detach(x->p, tops[k]);
          po_nest_attach(x->p, tops[k], 0, PO_NO_NODE);
        }
  bs_free(x->p->ctx.heap, tops);
  bs_free(x->p->ctx.heap, owner);
  bs_free(x->p->ctx.heap, step);
  return ok;
}

void
cg_trial_beside(po_program *p, const gs_instr *instr, bool turned) {
  pairing x = {.p = p, .instr = instr};
  x.owner = bs_calloc(p->ctx.heap, p->arrays.len + (size_t)1, 1);
  if (find_calls(&x) && find_owners(&x) && has_room(&x) &&
      interleave(&x, turned))
    move_second(&x);
  bs_free(p->ctx.heap, x.owner);
}
