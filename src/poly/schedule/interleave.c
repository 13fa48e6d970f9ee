/* SPDX-License-Identifier: MIT */
/* interleave.c - loops that follow each other, some iterations of each in turn.
 *
 *   for x { A }  for y { B }
 *   for c { for x of part c { A }  for y of part c { B } }
 *
 * What A makes is used by B while it is near.  Where iteration y needs what
 * those up to y + d made, parts of y's begin `skew` >= d iterations further
 * down: value t of a loop belongs to part (t - min + skew) / N, where min is
 * the least value of all of the loops, so that parts lie on one grid.  Whether
 * the skews are enough is asked by the gate afterwards. */
#include "poly/loops/affine.h"
#include "poly/schedule/change.h"
#include <isl/val.h>

enum { MOST_SKEW = 1 << 20, MOST_FAR = 1 << 30 };

/* Each stands right after the one before it. */
static bool
check_loops(const po_program *p, const po_step_call *call,
            const po_arg *loops) {
  if (loops->n < 2)
    return po_refuse(p, call, "loops", "it takes two loops or more");
  for (uint32_t k = 0; k < loops->n; k++) {
    if (!po_needs_serial(p, call, loops->nodes[k]))
      return false;
    if (k && po_node(p, loops->nodes[k - 1])->next != loops->nodes[k])
      return po_refuse(p, call, "not-neighbours",
                       "loop %s does not stand right after loop %s",
                       po_node(p, loops->nodes[k])->name,
                       po_node(p, loops->nodes[k - 1])->name);
  }
  if (po_nest_depth(p, loops->nodes[0]) + 2 > PO_MAX_DEPTH / 2)
    return po_refuse(p, call, "too-deep", "more than %d loops around another",
                     PO_MAX_DEPTH / 2);
  return true;
}

static bool
check_parts(const po_program *p, const po_step_call *call, uint32_t n) {
  int64_t size = call->args[1].number;
  const po_arg *skews = &call->args[2];
  if (size < 1 || size > INT32_MAX)
    return po_refuse(p, call, "parts", "a part cannot have %lld %s",
                     BS_COUNTED((long long)size, "iteration"));
  if (skews->kind != PO_ARG_INTS)
    return true;
  if (skews->n != n)
    return po_refuse(
        p, call, "skews", "%u %s for %u %s",
        BS_COUNTED_AS(skews->n, "skew is given", "skews are given"),
        BS_COUNTED(n, "loop"));
  for (uint32_t k = 0; k < n; k++)
    if (skews->numbers[k] < 0 || skews->numbers[k] > MOST_SKEW)
      return po_refuse(p, call, "skews", "skews are 0 to 2^20 iterations");
  return true;
}

/* The least value of any of the loops. */
static bool
least_value(const po_program *p, const po_step_call *call, const po_arg *loops,
            int64_t *least) {
  *least = INT64_MAX;
  for (uint32_t k = 0; k < loops->n; k++) {
    int64_t min, count;
    if (!po_value_range(p, loops->nodes[k], &min, &count))
      return po_refuse(p, call, "extent",
                       "the values of loop %s have no bounds",
                       po_node(p, loops->nodes[k])->name);
    *least = min < *least ? min : *least;
  }
  if (*least < -MOST_FAR || *least > MOST_FAR)
    return po_refuse(p, call, "extent", "the loops begin at %lld",
                     (long long)*least);
  return true;
}

/* { [t] -> [(t + offset) / size, t] } */
static __isl_give isl_multi_aff *
in_parts(isl_ctx *isl, int64_t offset, int64_t size) {
  isl_multi_aff *made = isl_multi_aff_zero(po_map_space(isl, 1, 2));
  isl_aff *part = po_index(isl, 1, 0, 1, offset);
  part = isl_aff_scale_down_val(part, isl_val_int_from_si(isl, (long)size));
  made = isl_multi_aff_set_aff(made, 0, isl_aff_floor(part));
  return isl_multi_aff_set_aff(made, 1, po_index(isl, 1, 0, 1, 0));
}

static void
put_below(po_program *p, uint32_t loop, uint32_t around,
          __isl_take isl_multi_aff *times) {
  po_nest_retime(p, loop, po_nest_depth(p, loop), 1, times);
  po_nest_detach(p, loop);
  po_nest_attach(p, loop, around, PO_NO_NODE);
}

bool
po_apply_interleave(po_program *p, po_step_call *call) {
  const po_arg *loops = &call->args[0], *skews = &call->args[2];
  int64_t size = call->args[1].number, least;
  if (!check_loops(p, call, loops) || !check_parts(p, call, loops->n) ||
      !least_value(p, call, loops, &least))
    return false;
  uint32_t first = loops->nodes[0];
  const char *wish =
      bs_arena_printf(&p->arena, "%s_parts", po_node(p, first)->name);
  const char *name = po_result_name(p, call, 0, wish);
  if (!name)
    return false;
  uint32_t around = po_nest_add_loop(p, po_node(p, first)->parent, first, name);
  for (uint32_t k = 0; k < loops->n; k++) {
    int64_t skew = skews->kind == PO_ARG_INTS ? skews->numbers[k] : 0;
    put_below(p, loops->nodes[k], around, in_parts(p->isl, skew - least, size));
  }
  po_made(call, around);
  return true;
}
