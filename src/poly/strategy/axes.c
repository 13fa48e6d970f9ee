/* SPDX-License-Identifier: MIT */
/* axes.c - the impl graph that the cost model chose, done to the loops.
 *
 * The transforms of its axes (candidates.h) are commands one to one: a split
 * is a split, a merge a fuse, an order a reorder, and the block-outer axis a
 * parallel loop.  A choice of two phases is a loop of the reduction in parts
 * with a result each (`privatise`).  A nest stays as it was where an axis
 * stands for several loops, or where a command is refused. */
#include "poly/implgraph/hint.h"
#include "poly/search/chooser.h"
#include "poly/strategy/strategy.h"
#include <string.h>

typedef struct names {
  const char *of[PO_MAX_AXES]; /* of loops, by axis; NULL: none */
} names;

static uint32_t
loop_of(const po_chooser *c, const names *n, uint32_t axis) {
  return n->of[axis] ? po_nest_find(po_now(c), n->of[axis]) : PO_NO_NODE;
}

static const char *
name_of(const po_chooser *c, uint32_t loop) {
  return bs_arena_strdup(po_now(c)->ctx.arena, po_node(po_now(c), loop)->name);
}

/* False where some axis has several loops. */
static bool
find_names(const po_chooser *c, const po_program *p, const po_hint *h,
           names *out) {
  memset(out, 0, sizeof *out);
  for (uint32_t k = h->root; k != PO_NO_NODE; k = po_nest_next(p, k, h->root)) {
    uint32_t axis = h->axis_of.data[k];
    if (po_node(p, k)->kind != PO_LOOP)
      continue;
    if (axis == PO_NO_AXIS || out->of[axis])
      return false;
    out->of[axis] = bs_arena_strdup(po_now(c)->ctx.arena, po_node(p, k)->name);
  }
  return true;
}

static bool
do_loop(po_chooser *c, const char *how, uint32_t loop) {
  po_step_call call = po_step(how);
  call.args[0] = po_loop_arg(loop);
  return loop != PO_NO_NODE && po_attempt(c, &call, NULL);
}

static bool
do_split(po_chooser *c, const po_graph *g, const po_transform *t, names *n) {
  int64_t factors[2] = {-1, po_axis_at(&g->axes, t->to[1])->value};
  uint32_t loop = loop_of(c, n, t->from[0]);
  po_step_call call = po_step("split");
  if (loop == PO_NO_NODE)
    return false;
  call.args[0] = po_loop_arg(loop);
  call.args[1] = (po_arg){.kind = PO_ARG_INTS, .numbers = factors, .n = 2};
  if (!po_attempt(c, &call, NULL) || call.n_made != 2)
    return false;
  n->of[t->to[0]] = name_of(c, call.made[0]);
  n->of[t->to[1]] = name_of(c, call.made[1]);
  return true;
}

static bool
do_list(po_chooser *c, const char *how, const uint32_t *axes, uint32_t n_axes,
        const names *n, uint32_t *made) {
  uint32_t loops[PO_MAX_DEPTH];
  po_step_call call = po_step(how);
  for (uint32_t k = 0; k < n_axes; k++) {
    if (k == PO_MAX_DEPTH || loop_of(c, n, axes[k]) == PO_NO_NODE)
      return false;
    loops[k] = loop_of(c, n, axes[k]);
  }
  call.args[0] = (po_arg){.kind = PO_ARG_LOOPS, .nodes = loops, .n = n_axes};
  if (!po_attempt(c, &call, NULL))
    return false;
  *made = call.n_made ? call.made[0] : PO_NO_NODE;
  return true;
}

static bool
do_transform(po_chooser *c, const po_graph *g, const po_transform *t,
             names *n) {
  uint32_t made;
  switch (t->kind) {
  case PO_SPLIT_AXIS:
    return do_split(c, g, t, n);
  case PO_MERGE_AXES:
    if (!do_list(c, "fuse", t->from, t->n_from, n, &made))
      return false;
    n->of[t->to[0]] = name_of(c, made);
    return true;
  case PO_REORDER_AXES:
    return do_list(c, "reorder", t->to, t->n_to, n, &made);
  }
  return false;
}

static bool
do_graph(po_chooser *c, const po_graph *g, names *n) {
  for (uint32_t k = 0; k < PO_MAX_AXES; k++) {
    uint32_t loop = loop_of(c, n, k);
    if (loop != PO_NO_NODE && po_node(po_now(c), loop)->mark != PO_SERIAL &&
        !do_loop(c, "serial", loop))
      return false;
  }
  for (uint32_t k = 0; k < g->axes.log.len; k++)
    if (!do_transform(c, g, &g->axes.log.data[k], n))
      return false;
  for (uint32_t k = 0; k < g->axes.order.len; k++) {
    const po_axis *a = po_axis_at(&g->axes, g->axes.order.data[k]);
    if (a->type == PO_AXIS_BLOCK_OUTER && a->value > 1 &&
        !do_loop(c, "parallel", loop_of(c, n, a->id)))
      return false;
  }
  return true;
}

/* The impl graph that a group of the chosen result is done by; NULL: there is
 * no such group. */
static const po_impl *
chosen_of(const po_impl_plan *plan, uint32_t group) {
  uint32_t result;
  int64_t rest;
  if (plan->chosen < 0 || !po_key_result(plan, plan->chosen, &result, &rest))
    return NULL;
  const po_impl_result *r = &plan->results.data[result];
  if (group >= r->groups.len)
    return NULL;
  return &r->groups.data[group].impls.data[po_key_impl(r, rest, group)];
}

static int64_t
parts_of(const po_graph *g) {
  int64_t most = 1;
  for (uint32_t k = 0; k < g->nodes.len; k++)
    most = po_graph_blocks(g, k) > most ? po_graph_blocks(g, k) : most;
  return most;
}

/* The reduction's parts are made by a core each, and added up by one. */
static bool
do_phases(po_chooser *c, const po_impl *first, const names *n) {
  uint32_t axis = first->tiling.axis[PO_CASE_R];
  uint32_t loop = axis == PO_NO_AXIS ? PO_NO_NODE : loop_of(c, n, axis);
  po_step_call call = po_step("privatise");
  call.args[0] = po_loop_arg(loop);
  call.args[1] = (po_arg){.kind = PO_ARG_INT, .number = parts_of(first->graph)};
  return loop != PO_NO_NODE && po_attempt(c, &call, NULL);
}

static bool
do_choice(po_chooser *c, const po_impl_plan *plan, names *n) {
  const po_impl *first = chosen_of(plan, 0);
  if (!first)
    return false;
  return chosen_of(plan, 1) ? do_phases(c, first, n)
                            : do_graph(c, first->graph, n);
}

static void
do_nest(po_chooser *c, po_program *p, const po_hint *h,
        const po_graph_machine *m) {
  po_impl_plan plan;
  names n;
  po_program *before = po_copy(po_now(c));
  po_plan_graph(&plan, h, m, &p->arena);
  if (find_names(c, p, h, &n) && do_choice(c, &plan, &n))
    po_free(before);
  else
    po_restore(c, before);
  po_impl_plan_done(&plan);
}

void
po_apply_axes(po_chooser *c) {
  /* Hints look at a copy while loops change. */
  po_program *p = po_without_blocks(po_now(c));
  po_hints hints;
  const gs_target *t = p->target ? p->target : gs_target_default(&p->ctx);
  po_graph_machine m = po_machine_of(t);
  po_make_hints(p, &hints);
  for (uint32_t k = 0; k < hints.list.len && !c->stopped; k++)
    do_nest(c, p, hints.list.data[k], &m);
  po_hints_done(p, &hints);
  po_free(p);
}
