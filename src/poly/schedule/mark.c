/* SPDX-License-Identifier: MIT */
/* mark.c - how loops are run: serial, unroll, parallel, vectorize, bind,
 * separate, and barriers.
 *
 * A loop may be run by threads or lanes when no dependence goes from one of
 * its iterations to another, those of the loops around it being equal; in a
 * vector, only iterations of the same vector count. */
#include "poly/schedule/change.h"
#include <assert.h>
#include <string.h>

enum { MOST_UNROLLED = 1024, MOST_LANES = 64 };

bool
po_apply_serial(po_program *p, po_step_call *call) {
  assert(call->args[0].kind == PO_ARG_LOOP);
  po_nest_node *loop = po_node(p, call->args[0].node);
  loop->mark = PO_SERIAL;
  loop->lanes = 0;
  return true;
}

bool
po_apply_unroll(po_program *p, po_step_call *call) {
  assert(call->args[0].kind == PO_ARG_LOOP);
  uint32_t loop = call->args[0].node;
  if (!po_needs_serial(p, call, loop))
    return false;
  int64_t n = po_most_iterations(p, loop);
  if (n < 0 || n > MOST_UNROLLED)
    return po_refuse(p, call, "too-long",
                     "loop %s has %lld iterations, more than the %d that may "
                     "be written out",
                     po_node(p, loop)->name, (long long)n, MOST_UNROLLED);
  po_node(p, loop)->mark = PO_UNROLL;
  return true;
}

/* A violation between iterations of a loop, or isl's failure. */
static bool
refuse_mark(po_program *p, const po_step_call *call, uint32_t loop,
            po_violation *v) {
  if (!v->source)
    return po_refuse(p, call, "too-complex", "loop %s could not be examined",
                     po_node(p, loop)->name);
  v->loop = po_node(p, loop)->name;
  po_refuse_violation(p, call, v);
  if (v->kind == PO_REDUCTION)
    bs_hint(p->ctx.diags, "it is a reduction: rfactor gives each iteration a "
                          "result of its own");
  return false;
}

bool
po_apply_parallel(po_program *p, po_step_call *call) {
  assert(call->args[0].kind == PO_ARG_LOOP);
  uint32_t loop = call->args[0].node;
  po_violation v;
  if (!po_needs_serial(p, call, loop))
    return false;
  po_node(p, loop)->mark = PO_PARALLEL;
  return po_binding_holds(p, call, loop) &&
         (po_loop_is_parallel(p, loop, true, &v) ||
          refuse_mark(p, call, loop, &v));
}

static bool
check_lanes(const po_program *p, const po_step_call *call, int64_t lanes,
            const char *tail) {
  if (lanes <= 0)
    return po_refuse(p, call, "factors", "factor %lld is not positive",
                     (long long)lanes);
  if (lanes > MOST_LANES || (lanes & (lanes - 1)))
    return po_refuse(p, call, "factors",
                     "a vector has 1, 2, 4, ... or %d lanes, not %lld",
                     MOST_LANES, (long long)lanes);
  return !tail || !strcmp(tail, "peel") || !strcmp(tail, "mask") ||
         po_refuse(p, call, "option", "tail must be peel or mask, not %s",
                   tail);
}

bool
po_apply_vectorize(po_program *p, po_step_call *call) {
  uint32_t loop = call->args[0].node;
  int64_t lanes = call->args[1].number;
  const char *tail = call->options[0];
  po_violation v;
  if (!check_lanes(p, call, lanes, tail) || !po_needs_serial(p, call, loop))
    return false;
  if (lanes == 1)
    return true;
  po_nest_node *node = po_node(p, loop);
  node->mark = PO_VECTORIZE;
  node->lanes = (uint32_t)lanes;
  node->tail = tail && !strcmp(tail, "mask") ? PO_TAIL_MASK : PO_TAIL_PEEL;
  return po_loop_is_vector(p, loop, (uint32_t)lanes, &v) ||
         refuse_mark(p, call, loop, &v);
}

/* ---- bind ---- */

static bool
find_axis(const po_program *p, const po_step_call *call, const char *word,
          uint32_t *axis) {
  *axis = 0;
  while (*axis <= PO_THREAD_Z && strcmp(po_bind_names[*axis], word) != 0)
    ++*axis;
  if (*axis <= PO_THREAD_Z)
    return true;
  po_refuse(p, call, "axis", "there is no axis %s", word);
  bs_hint(p->ctx.diags, "blockIdx.x, .y, .z and threadIdx.x, .y, .z");
  return false;
}

bool
po_apply_bind(po_program *p, po_step_call *call) {
  uint32_t loop = call->args[0].node, axis;
  int64_t min, count;
  po_violation v;
  if (!find_axis(p, call, call->args[1].word, &axis) ||
      !po_needs_serial(p, call, loop))
    return false;
  if (!po_value_range(p, loop, &min, &count))
    return po_refuse(p, call, "extent", "loop %s has no constant bounds",
                     po_node(p, loop)->name);
  po_node(p, loop)->mark = PO_BIND;
  po_node(p, loop)->bind = (po_bind_axis)axis;
  return po_binding_holds(p, call, loop) &&
         (po_loop_is_parallel(p, loop, true, &v) ||
          refuse_mark(p, call, loop, &v));
}

/* ---- others ---- */

bool
po_apply_sync_threads(po_program *p, po_step_call *call) {
  assert(call->args[0].kind == PO_ARG_NODE);
  uint32_t node = call->args[0].node;
  const char *after = call->options[0];
  if (after && strcmp(after, "true") && strcmp(after, "false"))
    return po_refuse(p, call, "option", "after must be true or false, not %s",
                     after);
  bool behind = !after || !strcmp(after, "true");
  po_nest_add_sync(p, po_node(p, node)->parent,
                   behind ? po_node(p, node)->next : node);
  return true;
}

bool
po_apply_separate(po_program *p, po_step_call *call) {
  po_node(p, call->args[0].node)->separate = true;
  return true;
}
