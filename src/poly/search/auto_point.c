/* SPDX-License-Identifier: MIT */
/* auto_point.c - what joins its consumer point by point, before tiling.
 *
 * A nest whose values are read at one point of another nest only, each by the
 * iteration of the same place, moves into that iteration: its array becomes a
 * scalar.  Nothing is computed twice and no loop is added, so that tiling sees
 * the two as one. */
#include "glenside/target/tuned.h"
#include "poly/search/chooser.h"
#include <assert.h>

/* The loop right above all statements that read an array, none of which is in
 * the nest `own`; PO_NO_NODE where there is none, or several. */
static uint32_t
reading_loop(const po_program *p, uint32_t array, uint32_t own) {
  uint32_t loop = PO_NO_NODE;
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    bool calls = false;
    for (uint32_t j = 0; s->instr && j <= s->instr->n_operands; j++)
      calls |= s->operands[j].array == array;
    if (!calls && (s->array == array || !po_stmt_reads(s, array)))
      continue;
    uint32_t root = po_root_of(p, k), above = po_node(p, s->leaf)->parent;
    if (calls || root == own || !po_may_change(p, root) ||
        po_node(p, above)->kind != PO_LOOP || above == 0 ||
        (loop != PO_NO_NODE && above != loop))
      return PO_NO_NODE;
    loop = above;
  }
  return loop;
}

/* The nest has parallel loops that are worth it, its consumer has none. */
static bool
loses_threads(const po_program *p, uint32_t own, uint32_t consumer) {
  return !po_width_of(p, consumer) && po_threads_are_profitable(p, own) &&
         po_width_of(p, own);
}

/* Terms of the longest sum for each element of an array; 1: there is none. */
static double
terms_of(const po_program *p, uint32_t array) {
  po_arg writers = po_writers_arg(p, array);
  double elements = (double)po_instances_of(p, array), most = 1;
  uint32_t own = po_root_of(p, writers.stmt);
  for (uint32_t k = 0; k < p->stmts.len && elements > 0; k++) {
    double terms = po_estimate_instances(p, k) / elements;
    if (p->stmts.data[k].kind == PO_UPDATE && po_root_of(p, k) == own &&
        terms > most)
      most = terms;
  }
  return most;
}

/* In one iteration, a function of dozens of operations, each of which waits for
 * the one before it, would wait for a sum of many terms, too, and both want all
 * registers: a row of sums and then a row of functions overlap. */
static bool
waits_for_sum(const po_program *p, uint32_t array) {
  assert(array < p->arrays.len);
  bool waits = false;
  for (uint32_t k = 0; k < p->stmts.len && !waits; k++)
    waits = p->stmts.data[k].array != array &&
            po_stmt_reads(&p->stmts.data[k], array) &&
            po_calls(&p->stmts.data[k], true);
  return waits && terms_of(p, array) >= GS_POINT_TERMS;
}

static bool
join(po_chooser *c, uint32_t array) {
  const po_program *p = po_now(c);
  if (p->arrays.data[array].role != PO_WORKSPACE || po_is_in_parts(p, array) ||
      po_takes_vectors(p, array) || waits_for_sum(p, array))
    return false;
  po_arg writers = po_writers_arg(p, array);
  if (p->stmts.data[writers.stmt].array != array)
    return false;
  uint32_t own = po_root_of(p, writers.stmt);
  if (own == PO_NO_NODE || !po_may_change(p, own))
    return false;
  uint32_t loop = reading_loop(p, array, own);
  int64_t before = po_instances_of(p, array);
  po_program *old = NULL;
  po_step_call call = po_step("compute_at");
  if (loop == PO_NO_NODE || before < 1 ||
      loses_threads(p, own, po_nest_root(p, loop)))
    return false;
  po_make_serial(c, own);
  call.args[0] = po_writers_arg(po_now(c), array);
  call.args[1] = po_loop_arg(loop);
  if (!po_attempt(c, &call, &old))
    return false;
  int64_t after = po_instances_of(po_now(c), array);
  if (after > 0 && after == po_distinct_of(po_now(c), old, array)) {
    po_free(old);
    po_lay_out_now(c);
    return true;
  }
  po_restore(c, old);
  return false;
}

void
po_join_points(po_chooser *c) {
  for (uint32_t k = po_now(c)->arrays.len; k-- > 0 && !c->stopped;)
    join(c, k);
}
