/* SPDX-License-Identifier: MIT */
/* private.c - privatise: a loop that is reduced over, run by threads.
 *
 *   for k { B[w] += A[k] }
 *   parallel for t<N { P[t, w] = 0  for k in part t { P[t, w] += A[k] } }
 *   for t<N { B[w] += P[t, w] }
 *
 * Threads that update one element meet there.  Each part of the loop gets a
 * copy of the result, which only its thread updates, and the copies are added
 * up afterwards: split, rfactor and parallel as one command. */
#include "poly/schedule/change.h"

enum { MOST_COPIES = 1024 };

/* One statement alone runs inside, and it updates. */
static bool
is_sum(const po_program *p, uint32_t loop) {
  uint32_t leaf = po_nest_first_leaf(p, loop);
  return leaf != PO_NO_NODE && po_nest_next_leaf(p, leaf, loop) == PO_NO_NODE &&
         p->stmts.data[po_node(p, leaf)->stmt].kind == PO_UPDATE;
}

/* With two iterations that must stay in order, where there are some. */
static bool
refuse_loop(po_program *p, po_step_call *call, uint32_t loop) {
  const char *name = po_node(p, loop)->name;
  return po_apply_parallel(p, call) &&
         po_refuse(p, call, "no-reduction",
                   "iterations of loop %s update nothing together: parallel "
                   "needs no copies",
                   name);
}

/* The part of the loop that is told apart: all of it where it is short. */
static bool
cut(po_program *p, po_step_call *call, uint32_t loop, int64_t n,
    uint32_t *part) {
  int64_t min, count, factors[2] = {n, -1};
  const char *old = po_node(p, loop)->name, *names[2];
  uint32_t made[2];
  if (!po_value_range(p, loop, &min, &count))
    return po_refuse(p, call, "extent",
                     "the values of loop %s have no constant bounds", old);
  *part = loop;
  if (count <= n)
    return true;
  for (uint32_t k = 0; k < 2; k++)
    names[k] = po_nest_fresh(p, bs_arena_printf(&p->arena, "%s_%u", old, k));
  if (!po_split_loop(p, call, loop, factors, 2, names, made))
    return false;
  *part = made[0];
  return true;
}

/* A primitive on a loop, in the place of this one. */
static bool
go_on(po_program *p, const po_step_call *call, po_step_call *with,
      uint32_t loop, bool (*apply)(po_program *, po_step_call *)) {
  *with = (po_step_call){.primitive = call->primitive, .span = call->span};
  with->args[0] = (po_arg){.kind = PO_ARG_LOOP, .node = loop};
  return apply(p, with);
}

/* What rfactor made gets the names that the call gives. */
static bool
name_made(po_program *p, po_step_call *call, const po_step_call *factor) {
  for (uint32_t k = 0; k < factor->n_made; k++) {
    const char *wish = po_node(p, factor->made[k])->name;
    po_give_up_name(p, factor->made[k]);
    const char *name = po_result_name(p, call, k, wish);
    if (!name)
      return false;
    po_name_loop(p, factor->made[k], name);
    po_made(call, factor->made[k]);
  }
  return true;
}

bool
po_apply_privatise(po_program *p, po_step_call *call) {
  int64_t n = call->args[1].number;
  po_step_call factor, share;
  uint32_t loop = call->args[0].node, part = PO_NO_NODE;
  if (n < 2 || n > MOST_COPIES)
    return po_refuse(p, call, "copies",
                     "the number of copies must be from 2 to %d", MOST_COPIES);
  if (!po_needs_serial(p, call, loop))
    return false;
  if (!is_sum(p, loop))
    return refuse_loop(p, call, loop);
  return cut(p, call, loop, n, &part) &&
         go_on(p, call, &factor, part, po_apply_rfactor) &&
         go_on(p, call, &share, factor.made[0], po_apply_parallel) &&
         name_made(p, call, &factor);
}
