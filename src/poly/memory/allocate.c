/* SPDX-License-Identifier: MIT */
/* allocate.c - see memory.h: part by part. */
#include "poly/memory/memory_part.h"

static void
does_not_fit(const po_calls *x) {
  po_program *p = x->p;
  const po_stmt *s = &p->stmts.data[x->stmts[0]];
  po_plan plan = {0};
  po_room room;
  for (uint32_t d = 0; d < x->n; d++) {
    plan.block[d] = 1;
    plan.order[d] = d;
  }
  po_plan_loops(x, &plan);
  for (uint32_t v = 0; v < x->n_values; v++)
    plan.level[v] = plan.n_loops;
  po_find_room(x, &plan, &room);
  const gs_memory *m = gs_memory_at(p->target, room.full);
  bs_error(p->ctx.diags, s->span, "no-room",
           "one call of %s needs %lld bytes of '%s' and what is around it, "
           "which has %lld",
           s->instr->name, (long long)room.needed, m ? m->name : "dram",
           (long long)(m ? m->bytes : 0));
}

typedef BS_VEC(uint32_t) nodes;

static bool
is_taken(const nodes *taken, uint32_t top) {
  for (uint32_t k = 0; k < taken->len; k++)
    if (taken->data[k] == top)
      return true;
  return false;
}

/* The nests whose work is done on the way out. */
static void
note_taken(const po_calls *x, nodes *taken) {
  for (uint32_t v = 0; v < x->n_values; v++)
    if (x->value[v].converted && !is_taken(taken, x->value[v].taker))
      bs_push(x->p->ctx.heap, taken, x->value[v].taker);
}

/* A nest with its one statement. */
static void
drop(po_program *p, uint32_t top) {
  uint32_t stmt = p->nest.nodes.data[po_nest_first_leaf(p, top)].stmt;
  po_nest_detach(p, top);
  po_nest_remove(p, top);
  for (uint32_t k = stmt; k + 1 < p->stmts.len; k++) {
    p->stmts.data[k] = p->stmts.data[k + 1];
    p->nest.nodes.data[p->stmts.data[k].leaf].stmt = k;
  }
  p->stmts.len--;
}

static bool
allocate(po_program *p, uint32_t top, nodes *taken) {
  po_calls *x = BS_NEW(&p->arena, po_calls);
  po_plan *plan = BS_NEW(&p->arena, po_plan);
  po_room room;
  bool failed = false;
  if (!po_find_calls(p, top, x, &failed))
    return !failed;
  if (!po_find_plan(x, plan) || !po_find_room(x, plan, &room)) {
    does_not_fit(x);
    return false;
  }
  po_build_calls(x, plan, &room);
  note_taken(x, taken);
  return true;
}

/* What was found is not believed. */
static bool
is_right(const po_program *p) {
  bs_text why;
  bs_text_init(&why, p->ctx.heap);
  bool ok = po_check_places(p, &why);
  if (!ok)
    bs_error(p->ctx.diags, BS_NOWHERE, "wrong-places", "%s", bs_text_str(&why));
  bs_text_done(&why);
  return ok;
}

bool
po_allocate(po_program *p) {
  if (!p->target || !p->target->memories.len)
    return true;
  po_join_sums(p);
  uint32_t next, top = p->nest.nodes.data[0].first;
  nodes taken = {0};
  bool ok = true;
  for (; top != PO_NO_NODE && ok; top = next) {
    next = p->nest.nodes.data[top].next;
    ok = is_taken(&taken, top) || allocate(p, top, &taken);
  }
  for (uint32_t k = 0; k < taken.len && ok; k++)
    drop(p, taken.data[k]);
  bs_vec_done(p->ctx.heap, &taken);
  return ok && is_right(p);
}
